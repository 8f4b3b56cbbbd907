// The page of a report: draws what the JSON in #data says. Texts only ever become text nodes; where ECharts wants HTML (tooltips)
// they are escaped. Nothing is fetched.
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const page = document.getElementById('page');
  const interactive = typeof echarts !== 'undefined';
  const several = data.jobs.length > 1;
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
  const letter = (index) => letters[index] || String(index + 1);
  let selected = several ? -1 : 0;  // -1: all runs
  let charts = [];

  // ---- small tools -----------------------------------------------------------------------------------------------------------

  const el = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === 'class') node.className = value;
      else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    for (const child of children.flat(9)) {
      if (child === undefined || child === null || child === false || child === '') continue;
      node.append(child.nodeType ? child : document.createTextNode(String(child)));
    }
    return node;
  };
  const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const unitOf = (label) => { const m = /\(([^()]*)\)\s*$/.exec(label || ''); return m ? m[1] : ''; };
  const number = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    const size = Math.abs(value);
    if (size === 0) return '0';
    if (size >= 1e6 || size < 1e-3) return value.toExponential(2).replace(/e\+?(-?\d+)/, '×10^$1');
    return Number(value.toPrecision(size >= 1000 ? 4 : 3)).toLocaleString('en', { maximumFractionDigits: 6 });
  };
  const clock = (seconds) => {
    if (seconds < 0) return '−' + clock(-seconds);
    if (seconds < 120) return `${Number(seconds.toFixed(seconds < 10 ? 2 : 1))} s`;
    const s = Math.round(seconds), h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60);
    const two = (n) => String(n).padStart(2, '0');
    return h > 0 ? `${h}:${two(m)}:${two(s % 60)} h` : `${m}:${two(s % 60)} min`;
  };
  const shortened = (text, most) => text.length > most ? text.slice(0, most - 1) + '…' : text;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const isDark = () => document.documentElement.dataset.theme === 'dark';
  const palette = () => isDark()
    ? ['#5db4f0', '#f0ad2e', '#35c79b', '#e08cbd', '#f27f45', '#9ad0f5', '#e9e05f', '#a9b3c1']
    : ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9', '#b8a900', '#5a5a5a'];
  const heat = ['#440154', '#472d7b', '#3b528b', '#2c728e', '#21918c', '#28ae80', '#5ec962', '#addc30', '#fde725'];
  const runName = (index) => `${letter(index)} · ${data.jobs[index].configuration || data.jobs[index].name || data.jobs[index].id}`;

  // ---- charts ----------------------------------------------------------------------------------------------------------------

  const base = () => ({
    animation: false,
    aria: { enabled: true },
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
    color: palette(),
  });
  const tooltipStyle = () => ({
    backgroundColor: colour('surface'), borderColor: colour('line-strong'), borderWidth: 1, padding: [8, 12], confine: true,
    textStyle: { color: colour('ink'), fontSize: 13 }, extraCssText: 'border-radius:10px;box-shadow:0 6px 24px rgba(0,0,0,.18);max-width:340px;white-space:normal',
  });
  const axisStyle = () => ({
    axisLine: { lineStyle: { color: colour('line-strong') } }, axisTick: { show: false },
    axisLabel: { color: colour('soft'), fontSize: 12, hideOverlap: true }, splitLine: { lineStyle: { color: colour('line') } },
    nameTextStyle: { color: colour('soft'), fontSize: 12 },
  });
  const legendStyle = (names) => ({
    type: 'scroll', data: names, top: 0, left: 0, icon: 'roundRect', itemWidth: 12, itemHeight: 12, itemGap: 16,
    textStyle: { color: colour('soft'), fontSize: 12.5 }, inactiveColor: colour('line-strong'),
    pageTextStyle: { color: colour('soft') }, pageIconColor: colour('soft'), pageIconInactiveColor: colour('line-strong'),
    formatter: (name) => shortened(name, 36),
  });
  const row = (mark, name, value) => `<div style="display:flex;gap:14px;justify-content:space-between"><span>${mark}${escape(name)}</span><b>${escape(value)}</b></div>`;

  // Ticks where clocks have them, for the stretch of time in view.
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  const timeStep = (span) => steps.find((step) => span / step <= (window.innerWidth < 640 ? 4 : 9)) || undefined;

  const spanOf = (chart) => {
    const all = chart.series.flatMap((s) => s.x || chart.x);
    return all.reduce((a, b) => Math.max(a, b), -Infinity) - all.reduce((a, b) => Math.min(a, b), Infinity);
  };

  const lines = (chart, isTime) => {
    const unit = unitOf(chart.y_label);
    const small = window.innerWidth < 640;
    const many = chart.series.length > 1;
    const series = chart.series.map((one, index) => ({
      name: one.name, type: 'line', showSymbol: one.values.filter((v) => v !== null).length < 3, symbolSize: 6, sampling: 'lttb',
      lineStyle: { width: 2, type: one.dashed ? [5, 4] : 'solid' }, connectNulls: false,
      areaStyle: chart.series.length <= 2 ? { opacity: isDark() ? 0.16 : 0.1 } : undefined,
      itemStyle: one.colour !== undefined ? { color: palette()[one.colour % palette().length] } : undefined,
      data: (one.x || chart.x).map((x, i) => [x, one.values[i]]),
      markLine: index === 0 && chart.references.length ? {
        symbol: 'none', silent: true, lineStyle: { color: colour('faint'), type: 'dashed' },
        label: { formatter: (p) => p.name, color: colour('soft'), position: 'insideEndTop' },
        data: chart.references.map((r) => ({ yAxis: r.value, name: shortened(r.name, 40) })),
      } : undefined,
    }));
    return {
      ...base(),
      grid: { left: 8, right: 34, top: many ? 36 : 12, bottom: 4, containLabel: true },
      legend: many ? legendStyle(chart.series.map((s) => s.name)) : { show: false },
      tooltip: {
        ...tooltipStyle(), trigger: 'axis', axisPointer: { type: 'line', lineStyle: { color: colour('faint') } },
        formatter: (points) => {
          const x = points[0].axisValue;
          const start = isTime && selected >= 0 && data.jobs[selected].start_ms;
          const when = start ? ` <span style="opacity:.65">${escape(new Date(start + x * 1000).toISOString().slice(11, 19))} UTC</span>` : '';
          return `<div style="margin-bottom:4px">${escape(isTime ? clock(x) : number(x))}${when}</div>` +
            points.map((p) => row(p.marker, p.seriesName, `${number(p.value[1])} ${unit}`)).join('');
        },
      },
      xAxis: { ...axisStyle(), type: 'value', min: 'dataMin', max: 'dataMax', interval: isTime ? timeStep(spanOf(chart)) : undefined, splitLine: { show: false }, splitNumber: small ? 3 : 8,
        axisLabel: { ...axisStyle().axisLabel, formatter: (x) => isTime ? clock(x) : number(x), showMinLabel: true, showMaxLabel: !isTime } },
      yAxis: { ...axisStyle(), type: 'value', min: 0, splitNumber: 4, axisLine: { show: false },
        axisLabel: { ...axisStyle().axisLabel, formatter: number } },
      toolbox: { show: true, itemSize: 0, feature: { dataZoom: { yAxisIndex: 'none', iconStyle: { opacity: 0 }, title: { zoom: '', back: '' } } } },
      dataZoom: [{ type: 'inside', filterMode: 'none', zoomOnMouseWheel: 'ctrl', moveOnMouseMove: 'shift', preventDefaultMouseMove: false }],
      series,
    };
  };

  const bars = (chart) => {
    const unit = unitOf(chart.y_label);
    const horizontal = window.innerWidth < 640 || chart.categories.some((c) => c.length > 12) || chart.categories.length > 24;
    const labels = { ...axisStyle().axisLabel, interval: horizontal ? undefined : 0, width: window.innerWidth < 640 ? 104 : 190, overflow: 'truncate' };
    const names = { ...axisStyle(), type: 'category', data: chart.categories, inverse: horizontal, axisLabel: labels, splitLine: { show: false } };
    const values = { ...axisStyle(), type: 'value', axisLine: { show: false }, splitNumber: 4, axisLabel: { ...axisStyle().axisLabel, formatter: number } };
    const many = chart.series.length > 1;
    const series = chart.series.map((one) => ({
      name: one.name, type: 'bar', data: one.values, barMaxWidth: 26, barGap: '12%',
      itemStyle: { borderRadius: horizontal ? [0, 3, 3, 0] : [3, 3, 0, 0], ...(one.colour !== undefined ? { color: palette()[one.colour % palette().length] } : {}) },
    }));
    if (chart.references.length) {
      series[0].markLine = {
        symbol: 'none', silent: true, lineStyle: { color: colour('soft'), type: 'dashed' }, label: { formatter: (p) => p.name, color: colour('soft'), position: horizontal ? 'start' : 'end' },
        data: chart.references.map((r) => ({ [horizontal ? 'xAxis' : 'yAxis']: r.value, name: shortened(r.name, 24) })),
      };
    }
    chart.series.forEach((one, index) => {
      if (!one.low) return;
      series.push({
        name: one.name, type: 'custom', z: 5, silent: true, tooltip: { show: false },
        data: one.values.map((v, i) => [i, one.low[i], one.high[i]]),
        renderItem: (params, api) => {
          const low = api.value(1), high = api.value(2);
          if (!isFinite(low) || !isFinite(high) || low === null) return undefined;
          const layout = api.barLayout({ barMaxWidth: 26, barGap: '12%', count: chart.series.length });
          const at = layout[index].offsetCenter;
          const from = horizontal ? api.coord([low, api.value(0)]) : api.coord([api.value(0), low]);
          const to = horizontal ? api.coord([high, api.value(0)]) : api.coord([api.value(0), high]);
          const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 }, style: { stroke: colour('ink'), lineWidth: 1.4 } });
          return { type: 'group', children: horizontal
            ? [line(from[0], from[1] + at, to[0], to[1] + at), line(from[0], from[1] + at - 4, from[0], from[1] + at + 4), line(to[0], to[1] + at - 4, to[0], to[1] + at + 4)]
            : [line(from[0] + at, from[1], to[0] + at, to[1]), line(from[0] + at - 4, from[1], from[0] + at + 4, from[1]), line(to[0] + at - 4, to[1], to[0] + at + 4, to[1])] };
        },
        encode: horizontal ? { x: [1, 2], y: 0 } : { x: 0, y: [1, 2] },
      });
    });
    return {
      ...base(),
      grid: { left: 16, right: chart.references.length ? 56 : 18, top: many ? 36 : 20, bottom: 8, containLabel: true },
      legend: many ? legendStyle(chart.series.map((s) => s.name)) : { show: false },
      tooltip: {
        ...tooltipStyle(), trigger: 'axis', axisPointer: { type: 'shadow', shadowStyle: { color: isDark() ? 'rgba(255,255,255,.05)' : 'rgba(0,0,0,.04)' } },
        formatter: (points) => `<div style="margin-bottom:4px">${escape(points[0].name)}</div>` + points.filter((p) => p.seriesType === 'bar').map((p) => {
          const one = chart.series[p.seriesIndex];
          const range = one && one.low && one.low[p.dataIndex] !== null ? ` (${number(one.low[p.dataIndex])} to ${number(one.high[p.dataIndex])})` : '';
          return row(p.marker, p.seriesName, `${number(p.value)} ${unit}${range}`);
        }).join(''),
      },
      xAxis: horizontal ? values : names,
      yAxis: horizontal ? names : values,
      dataZoom: horizontal && chart.categories.length > 40 ? [{ type: 'slider', yAxisIndex: 0, right: 0, width: 14, startValue: 0, endValue: 30, brushSelect: false, showDetail: false }] : [],
      series,
    };
  };

  const heatMap = (map) => {
    const unit = unitOf(map.value_label) || map.value_label;
    const small = window.innerWidth < 640;
    const cells = [];
    map.values.forEach((value, i) => {
      if (value !== null) cells.push([i % map.columns.length, Math.floor(i / map.columns.length), value]);
    });
    const axis = (labels, name) => ({
      ...axisStyle(), type: 'category', data: labels, name, nameLocation: 'middle', splitLine: { show: false }, axisLine: { show: false },
      axisLabel: { ...axisStyle().axisLabel, width: small ? 64 : 120, overflow: 'truncate' },
    });
    const gaps = map.rows.length <= 40 && map.columns.length <= 60;
    return {
      ...base(),
      grid: { left: map.y_label ? 32 : 4, right: 20, top: 6, bottom: 56, containLabel: true, show: true, backgroundColor: colour('missing'), borderWidth: 0 },
      tooltip: {
        ...tooltipStyle(), trigger: 'item',
        formatter: (p) => `<div style="margin-bottom:4px">${map.cells ? escape(map.cells[p.value[1] * map.columns.length + p.value[0]]) + ' · ' : ''}${escape(map.y_label ? map.y_label + ' ' : '')}${escape(map.rows[p.value[1]])}, ${escape(map.x_label ? map.x_label + ' ' : '')}${escape(map.columns[p.value[0]])}</div><b>${escape(number(p.value[2]))} ${escape(unit)}</b>`,
      },
      xAxis: { ...axis(map.columns, map.x_label), nameGap: 26 },
      yAxis: { ...axis(map.rows, map.y_label), inverse: !map.upward, axisLabel: { ...axis(map.rows).axisLabel, interval: Math.max(0, Math.ceil(map.rows.length * 17 / (heatHeight(map) - 90)) - 1) }, nameGap: small ? 70 : undefined, nameLocation: 'middle',
        name: small ? '' : map.y_label, nameRotate: 90, ...(small ? {} : { nameGap: 18 + Math.min(120, 6.8 * Math.max(...map.rows.map((r) => r.length))) }) },
      visualMap: {
        min: map.low, max: map.high, orient: 'horizontal', left: 'center', bottom: 0, itemWidth: 12, itemHeight: small ? 130 : 200,
        inRange: { color: heat }, textStyle: { color: colour('soft'), fontSize: 12 }, text: [`${number(map.high)} ${unit}`, number(map.low)], formatter: number, precision: 3,
        hoverLink: false,
      },
      series: [{ type: 'heatmap', data: cells, progressive: 20000, itemStyle: gaps ? { borderWidth: 1, borderColor: colour('surface') } : {},
        emphasis: { itemStyle: { borderColor: colour('ink'), borderWidth: 1.5 } } }],
    };
  };

  // A card with a chart in it. `group`: charts that zoom and point together.
  const card = (title, hint, height, option, svg, group, span) => {
    const holder = interactive ? el('div', { class: 'chart', style: `height:${height}px`, role: 'img', 'aria-label': title }) : el('div', { class: 'picture' });
    const box = el('div', { class: 'card' }, el('div', { class: 'head' }, el('h3', {}, title)), hint && el('div', { class: 'hint' }, hint), holder);
    if (interactive) charts.push({ holder, option, group, span });
    else if (svg) holder.innerHTML = svg;  // made by us: every text in it is escaped
    return box;
  };
  const start = () => {
    for (const chart of charts) {
      chart.instance = echarts.init(chart.holder, null, { renderer: 'canvas' });
      chart.instance.setOption(chart.option());
      if (!chart.group) continue;
      chart.instance.group = chart.group;
      chart.instance.on('datazoom', () => {
        const zoom = chart.instance.getOption().dataZoom[0];
        chart.instance.setOption({ xAxis: { interval: timeStep(chart.span * (zoom.end - zoom.start) / 100) } });
      });
      if (window.matchMedia('(pointer: fine)').matches)
        chart.instance.dispatchAction({ type: 'takeGlobalCursor', key: 'dataZoomSelect', dataZoomSelectActive: true });
      chart.instance.getZr().on('dblclick', () => chart.instance.dispatchAction({ type: 'dataZoom', start: 0, end: 100 }));
    }
    if (charts.some((c) => c.group)) echarts.connect('time');
  };
  const stop = () => { for (const chart of charts) if (chart.instance) chart.instance.dispose(); charts = []; };

  // ---- parts -----------------------------------------------------------------------------------------------------------------

  const grid = (table, most) => {
    const cell = (tag, text, index) => el(tag, { class: table.numbers[index] ? 'number' : null }, text);
    const body = el('tbody');
    const add = (from, to) => table.rows.slice(from, to).forEach((line) => body.append(el('tr', {}, line.map((text, i) => cell('td', text, i)))));
    const limit = most || 12;
    add(0, limit);
    const whole = el('div', {}, el('div', { class: 'scroll' }, el('table', {}, el('thead', {}, el('tr', {}, table.columns.map((text, i) => cell('th', text, i)))), body)));
    if (table.rows.length > limit) {
      const more = el('button', { class: 'more', onclick: () => { add(limit); more.remove(); } }, `Show all ${table.rows.length}`);
      whole.append(more);
    }
    return whole;
  };
  const tableCard = (table) => el('div', { class: 'card' }, el('h3', {}, table.title), table.note && el('div', { class: 'hint' }, table.note), grid(table));

  const tile = (fact) => {
    const parts = /^([<>≈]?\s?[\d.,]+(?:×10\S+)?)\s+(\S+)$/.exec(fact.value);
    return el('div', { class: `tile ${fact.tone}` }, el('div', { class: 'label' }, fact.label),
      el('div', { class: 'value' }, parts ? [parts[1], el('small', {}, parts[2])] : fact.value), fact.note && el('div', { class: 'note' }, fact.note));
  };
  // As many columns as leave the last row full, or nearly.
  const tileColumns = (count) => count <= 6 ? Math.max(count, 3) : [6, 5, 4].reduce((best, n) => (n - count % n) % n < (best - count % best) % best ? n : best);
  const marks = { bad: '!', caution: '!', good: '✓', plain: 'i' };
  const finding = (one, run) => el('div', { class: `card finding ${one.tone}` }, el('div', { class: 'mark', 'aria-hidden': 'true' }, marks[one.tone]),
    el('div', { class: 'text' }, run !== undefined && `${run}: `, one.text, one.code && el('span', { class: 'code' }, one.code)),
    one.evidence && el('div', { class: 'evidence' }, one.evidence), one.advice && el('div', { class: 'advice' }, el('b', {}, 'Try: '), one.advice));

  const section = (id, title, lead, ...content) => el('section', { id }, el('h2', {}, title), lead && el('p', { class: 'lead' }, lead), content);

  // Charts of the same title in all runs, drawn over each other: a colour per run, dashes for its second, third, ... series.
  const overlaid = (kind) => {
    const titles = [...new Set(data.jobs.flatMap((job) => job[kind].map((c) => c.title)))];
    return titles.map((title) => {
      const parts = data.jobs.flatMap((job, run) => job[kind].filter((c) => c.title === title).map((chart) => ({ chart, run })));
      const first = parts[0].chart;
      const all = { ...first, series: parts.flatMap(({ chart, run }) => chart.series.map((s, i) => ({
        ...s, name: `${letter(run)}${chart.series.length > 1 ? ' ' + s.name : ''}`, x: chart.x, colour: run, dashed: i > 0 }))) };
      if (first.kind === 'bars') {
        all.categories = [...new Set(parts.flatMap(({ chart }) => chart.categories))];
        all.series = parts.flatMap(({ chart, run }) => chart.series.map((s) => {
          const values = all.categories.map((c) => { const i = chart.categories.indexOf(c); return i < 0 ? null : s.values[i]; });
          return { name: `${letter(run)}${chart.series.length > 1 ? ' ' + s.name : ''}`, values, colour: run };
        }));
        all.references = [];
      }
      return { chart: all, svgs: parts.map(({ chart }) => chart.svg).filter(Boolean) };
    });
  };
  const barHeight = (chart) => {
    const horizontal = window.innerWidth < 640 || chart.categories.some((c) => c.length > 12) || chart.categories.length > 24;
    return horizontal ? Math.min(620, 60 + Math.min(chart.categories.length, 31) * Math.max(20, 9 + 12 * chart.series.length)) : 280;
  };
  const hintOf = (chart) => chart.y_label.toLowerCase() === `${chart.title} (${unitOf(chart.y_label)})`.toLowerCase() ? unitOf(chart.y_label) : chart.y_label;
  const chartCard = (chart, svg, isTime) => card(chart.title, hintOf(chart), chart.kind === 'lines' ? 230 : barHeight(chart),
    () => chart.kind === 'lines' ? lines(chart, isTime) : bars(chart), svg, isTime ? 'time' : undefined, isTime ? spanOf(chart) : undefined);
  const heatHeight = (map) => Math.max(210, Math.min(560, 100 + map.rows.length * (map.rows.length <= 16 ? 22 : 12)));
  const heatCard = (map, run) => card(run === undefined ? map.title : `${letter(run)}: ${map.title}`,
    [map.value_label, map.values.some((v) => v === null) && 'grey: not measured'].filter(Boolean).join(' · '), heatHeight(map), () => heatMap(map), map.svg);

  // ---- the page --------------------------------------------------------------------------------------------------------------

  const logo = () => {
    const box = el('span', { 'aria-hidden': 'true' });
    box.innerHTML = '<svg width="28" height="28" viewBox="0 0 28 28"><rect width="28" height="28" rx="8" fill="#0a6cbd"/><path d="M5 9.5c2 0 2 1.6 4 1.6s2-1.6 4-1.6" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round"/><path d="M13 9.5c3 0 2.5 9 5.5 9" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round"/><path d="M5 18.5c1.6 0 1.6 1.6 3.2 1.6s1.7-1.6 3.3-1.6M18.5 18.5c1.6 0 1.6 1.6 3.2 1.6" fill="none" stroke="#9fd0f7" stroke-width="2.2" stroke-linecap="round"/></svg>';
    return box;
  };
  const toggle = () => {
    const button = el('button', { class: 'icon', type: 'button', id: 'theme', title: 'Light or dark', 'aria-label': 'Switch between light and dark', onclick: () => {
      setTheme(isDark() ? 'light' : 'dark', true);
      render();
    } });
    button.innerHTML = '<svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true"><circle cx="9" cy="9" r="6.2" fill="none" stroke="currentColor" stroke-width="1.6"/><path d="M9 2.8a6.2 6.2 0 0 1 0 12.4z" fill="currentColor"/></svg>';
    return button;
  };
  const setTheme = (theme, keep) => {
    document.documentElement.dataset.theme = theme;
    if (keep) try { localStorage.setItem('weir-theme', theme); } catch (e) { /* a page from a file may not keep anything */ }
  };

  const hero = () => {
    if (selected < 0) {
      return el('div', { class: 'hero' }, el('div', {}, el('div', { class: 'kicker' }, 'I/O report'), el('h1', {}, data.title),
        el('div', { class: 'who' }, `${data.jobs.length} runs side by side: `, data.jobs.map((job, i) => runName(i)).slice(0, 4).join(', '), data.jobs.length > 4 && ', …')));
    }
    const job = data.jobs[selected];
    return el('div', { class: 'hero' }, el('div', {}, el('div', { class: 'kicker' }, `I/O report · job ${job.id}`),
      el('h1', {}, job.name || job.id, ' ', el('span', { class: `badge ${job.tone}` }, job.state)), el('div', { class: 'who' }, job.line)));
  };
  const tabs = () => several && el('div', { class: 'tabs', role: 'tablist' },
    [-1, ...data.jobs.keys()].map((index) => el('button', { role: 'tab', type: 'button', 'aria-selected': String(index === selected), onclick: () => { selected = index; render(); } },
      index >= 0 && el('span', { class: 'dot', style: `background:${palette()[index % palette().length]}` }), index < 0 ? 'All runs' : shortened(runName(index), 34))));

  const comparison = () => {
    const all = data.comparison;
    if (!all || selected >= 0) return [];
    // A configuration of one run has that run's colour.
    const runOf = (name) => data.jobs.findIndex((job) => job.configuration === name || job.id === name);
    const chart = all.chart && { ...all.chart, series: all.chart.series.map((one) => runOf(one.name) < 0 ? one : { ...one, colour: runOf(one.name) }) };
    return [el('section', { id: 'comparison' }, el('div', { class: 'cards' },
      el('div', { class: 'card verdict' }, el('div', { class: 'kicker' }, 'Verdict'), el('div', { class: 'say' }, all.verdict), all.sure && el('div', { class: 'sure' }, all.sure),
        grid(all.table, 30)),
      chart && chartCard(chart, chart.svg, false), all.details.length && el('div', { class: 'cards two flush' }, all.details.map(tableCard))))];
  };
  const factsOfAll = () => {
    const labels = [...new Set(data.jobs.flatMap((job) => job.facts.map((f) => f.label)))];
    return { title: 'Key figures', note: '', columns: ['', ...data.jobs.map((job, i) => shortened(runName(i), 26))], numbers: [false, ...data.jobs.map(() => true)],
      rows: labels.map((label) => [label, ...data.jobs.map((job) => (job.facts.find((f) => f.label === label) || { value: '–' }).value)]) };
  };

  const sections = () => {
    const all = selected < 0;
    const jobs = all ? data.jobs : [data.jobs[selected]];
    const list = [...comparison()];
    if (all) list.push(el('section', { id: 'figures' }, el('div', { class: 'cards' }, el('div', { class: 'card' }, el('h3', {}, 'Key figures'), grid(factsOfAll(), 40)))));
    const findings = all ? data.findings.map((one) => finding(one, one.runs)) : jobs[0].findings.map((one) => finding(one));
    const none = jobs.every((job) => job.findings.length === 0) && [el('div', { class: 'card finding good' }, el('div', { class: 'mark' }, '✓'),
      el('div', { class: 'text' }, 'Nothing stands out.'), el('div', { class: 'evidence' }, 'No rule found a bottleneck in the counters of this run.'))];
    list.push(section('findings', 'Findings', null, el('div', { class: 'cards' }, none || findings)));
    const timelines = all ? overlaid('timelines') : jobs[0].timelines.map((chart) => ({ chart, svgs: [chart.svg] }));
    if (timelines.length) {
      list.push(section('timeline', 'Timeline', interactive && (window.matchMedia('(pointer: fine)').matches
        ? 'Drag over a stretch of time to zoom into all charts at once; double-click to see all of it.' : 'Pinch a chart to zoom into all of them at once.'),
        el('div', { class: 'cards two first-wide' }, timelines.map(({ chart, svgs }) => chartCard(chart, svgs.join(''), true)))));
    }
    const maps = jobs.flatMap((job, run) => job.heat_maps.map((map) => ({ map, run })));
    if (maps.length) {
      const order = [...new Set(maps.map(({ map }) => map.title))];
      maps.sort((a, b) => order.indexOf(a.map.title) - order.indexOf(b.map.title) || a.run - b.run);
      list.push(section('where', 'Where', 'Each cell is one place; maps of a kind share one scale.',
        el('div', { class: 'cards two' }, maps.map(({ map, run }) => heatCard(map, all ? run : undefined)))));
    }
    const more = all ? overlaid('charts') : jobs[0].charts.map((chart) => ({ chart, svgs: [chart.svg] }));
    if (more.length) list.push(section('balance', 'Balance', null, el('div', { class: 'cards two' }, more.map(({ chart, svgs }) => chartCard(chart, svgs.join(''), false)))));
    const tables = jobs.flatMap((job, run) => job.tables.map((table) => all ? { ...table, title: `${letter(run)}: ${table.title}` } : table));
    if (tables.length) list.push(section('details', 'Details', null, el('div', { class: 'cards two' }, tables.map(tableCard))));
    return list;
  };

  const render = () => {
    const at = window.scrollY;
    stop();
    page.replaceChildren();
    const parts = sections();
    const names = { comparison: 'Comparison', figures: 'Figures', findings: 'Findings', timeline: 'Timeline', where: 'Where', balance: 'Balance', details: 'Details' };
    page.append(
      el('header', { class: 'bar' }, el('div', {}, el('div', { class: 'brand' }, logo(), 'Weir'),
        el('nav', { 'aria-label': 'Sections' }, parts.map((part) => el('a', { href: '#' + part.id }, names[part.id]))), toggle())),
      el('main', {}, hero(), tabs(), selected >= 0 && el('div', { class: 'tiles', style: `--columns:${tileColumns(data.jobs[selected].facts.length)}` }, data.jobs[selected].facts.map(tile)), parts,
        el('footer', {}, el('span', {}, `Made by ${data.made_by}`, data.made_at && `, ${data.made_at}`), el('span', {}, 'One file, no network: keep it, send it, open it anywhere.'))));
    if (interactive) start();
    window.scrollTo(0, at);
    document.documentElement.dataset.ready = 'yes';
  };

  let wanted = null;
  try { wanted = localStorage.getItem('weir-theme'); } catch (e) { /* as above */ }
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const asked = new URLSearchParams(location.search).get('theme');
  setTheme(asked === 'dark' || asked === 'light' ? asked : wanted || (system.matches ? 'dark' : 'light'), false);
  system.addEventListener('change', () => { setTheme(system.matches ? 'dark' : 'light', false); render(); });
  render();
  let width = window.innerWidth, waiting = 0;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(render, 120);
  });
})();
