# shellcheck shell=bash
# ECharts: fetched once, checked, and done without where it cannot be had. Sourced by run.sh.
# shellcheck disable=SC2154,SC2034 # what the functions under test set and read

# fake_npm CONTENT: packs an echarts whose script is CONTENT
fake_npm() {
  mkdir -p -- "$work/npm/package/dist"
  printf '%s' "$1" >"$work/npm/package/dist/echarts.min.js"
  : >"$work/npm/package/LICENSE"
  : >"$work/npm/package/NOTICE"
  fake npm <<SCRIPT
tar -czf "echarts-$echarts_version.tgz" -C "$work/npm" package
SCRIPT
}

test_echarts_is_fetched_once() {
  load_setup
  fake_npm 'charts'
  echarts_sha256=$(printf 'charts' | sha256sum | cut -d ' ' -f 1)
  ensure_echarts
  is "$echarts_file" "$weir_cache/echarts-$echarts_version/echarts.min.js"
  is "$(cat "$echarts_file")" 'charts'
  ensure_echarts
  is "$(call_count npm)" 1
  [[ -z $(ls -A "$weir_cache/work") ]] || fail 'the work folder was left'
}

test_echarts_with_another_sum_is_not_used() {
  load_setup
  fake_npm 'something else'
  ensure_echarts 2>said
  is "$echarts_file" off
  has "$(cat said)" 'reports have SVG charts'
  ensure_echarts
  is "$(call_count npm)" 1
  WEIR_RETRY=1 ensure_echarts 2>/dev/null
  is "$(call_count npm)" 2
}

test_echarts_without_network_goes_on() {
  load_setup
  fake npm <<<'exit 1'
  ensure_echarts 2>/dev/null
  is "$echarts_file" off
}
