#!/usr/bin/env python3
"""The page of a report in a real browser: test_page.py SAMPLE_PAGE [FOLDER FOR SCREENSHOTS]"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Browser  # noqa: E402

sample, pictures = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
PAINTED = '''[...document.querySelectorAll('.chart')].map(holder => {
  const canvas = holder.querySelector('canvas');
  if (!canvas || !canvas.width) return 0;
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let i = 0; i < pixels.length; i += 16) seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  return seen.size;
})'''


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix='weir-page-')
        cls.interactive = subprocess.run([sample, cls.folder.name], check=True, capture_output=True, text=True).stdout == 'interactive\n'
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def show(self, name, picture=None, **how):
        self.browser.open(os.path.join(self.folder.name, name), **how)
        if pictures and picture:
            self.browser.screenshot(os.path.join(pictures, picture + '.png'))
        self.assertEqual(self.browser.complaints(), [])

    def ask(self, expression):
        return self.browser.evaluate(expression)

    def drawn(self, expected):
        if self.interactive:
            colours = self.ask(PAINTED)
            self.assertEqual(len(colours), expected)
            self.assertTrue(all(c > 3 for c in colours), colours)
        else:
            self.assertGreaterEqual(self.ask("document.querySelectorAll('.picture svg').length"), expected)

    def test_one_run(self):
        self.show('one.html', 'one-light')
        self.drawn(5)
        self.assertEqual(self.ask("document.querySelectorAll('.tile').length"), 8)
        self.assertEqual(self.ask("document.querySelectorAll('.finding').length"), 2)
        self.assertIn('completed', self.ask("document.querySelector('h1').textContent"))

    def test_dark_by_the_systems_wish_and_by_the_button(self):
        self.show('one.html', 'one-dark', dark=True)
        ground = "getComputedStyle(document.body).backgroundColor"
        dark = self.ask(ground)
        self.ask("document.getElementById('theme').click()")
        self.assertNotEqual(self.ask(ground), dark)
        self.assertEqual(self.ask("document.documentElement.dataset.theme"), 'light')
        self.drawn(5)
        self.assertEqual(self.browser.complaints(), [])
        self.ask("localStorage.clear()")

    def test_text_can_be_read_in_both_themes(self):
        contrast = '''(() => {
          const light = (c) => { const m = c.match(/[\\d.]+/g).map(Number).slice(0, 3).map(v => v / 255)
            .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4); return .2126 * m[0] + .7152 * m[1] + .0722 * m[2]; };
          const ground = (node) => { for (; node; node = node.parentElement) { const c = getComputedStyle(node).backgroundColor;
            if (!/rgba\\(.*, 0\\)|transparent/.test(c) && c.startsWith('rgb')) return c; } return 'rgb(255,255,255)'; };
          return [...document.querySelectorAll('h1,h2,h3,.who,.label,.value,.note,.text,.evidence,.advice,th,td,.hint')].map(node => {
            const a = light(getComputedStyle(node).color), b = light(ground(node));
            return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), node.className || node.tagName]; }).sort((x, y) => x[0] - y[0])[0];
        })()'''
        for dark in (False, True):
            self.show('one.html', dark=dark)
            worst = self.ask(contrast)
            self.assertGreater(worst[0], 3.5, (dark, worst))

    def test_several_runs(self):
        self.show('several.html', 'several-light')
        self.assertEqual(self.ask("document.querySelectorAll('.tabs button').length"), 4)
        self.assertIn('A is best', self.ask("document.querySelector('.verdict').textContent"))
        if self.interactive:
            self.drawn(1 + 2 + 6 + 1)
        self.ask("document.querySelectorAll('.tabs button')[2].click()")
        self.assertIn('4712', self.ask("document.querySelector('.kicker').textContent"))
        self.drawn(5)
        self.assertEqual(self.browser.complaints(), [])

    def test_names_stay_text(self):
        self.show('several.html')
        for tab in range(4):
            self.ask(f"document.querySelectorAll('.tabs button')[{tab}].click()")
            self.assertEqual(self.ask("document.title"), 'IOR, three ways')
            self.assertEqual(self.ask("document.querySelectorAll('main img, main script').length"), 0)

    def test_tooltips_keep_names_text(self):
        if not self.interactive:
            self.skipTest('built without ECharts')
        self.show('several.html')
        for index in range(10):
            self.ask(f'''(() => {{ const holder = document.querySelectorAll('.chart')[{index}];
              echarts.getInstanceByDom(holder).dispatchAction({{type: 'showTip', seriesIndex: 0, dataIndex: 3}}); }})()''')
            self.assertEqual(self.ask("document.title + document.querySelectorAll('main img').length"), 'IOR, three ways0')
        self.assertEqual(self.browser.complaints(), [])

    def test_zoom_of_one_chart_is_that_of_all(self):
        if not self.interactive:
            self.skipTest('built without ECharts')
        self.show('one.html')
        range_of = '''(i => { const o = echarts.getInstanceByDom(document.querySelectorAll('.chart')[i]).getOption().dataZoom[0];
          return [Math.round(o.start), Math.round(o.end)]; })'''
        self.ask("echarts.getInstanceByDom(document.querySelectorAll('.chart')[0]).dispatchAction({type: 'dataZoom', start: 20, end: 40})")
        end = time.monotonic() + 60
        while self.ask(range_of + '(1)') != [20, 40]:
            self.assertLess(time.monotonic(), end, 'the second chart does not follow')
            time.sleep(0.1)
        self.assertEqual(self.ask(range_of + '(0)'), [20, 40])

    def test_phone(self):
        for name in ('one', 'several'):
            for dark in (False, True):
                self.show(name + '.html', f'{name}-phone-{"dark" if dark else "light"}', width=390, height=844, mobile=True, dark=dark)
                self.assertLessEqual(self.ask('document.documentElement.scrollWidth'), 390)
                wide = self.ask('''[...document.querySelectorAll('main *')].filter(n => !n.closest('.scroll, .tabs, .chart, .picture, nav') &&
                  n.getBoundingClientRect().right > 391).map(n => n.className || n.tagName).slice(0, 5)''')
                self.assertEqual(wide, [])


if __name__ == '__main__':
    if Browser.program() is None:
        print('SKIP: there is no Chromium')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
