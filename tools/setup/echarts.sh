# shellcheck shell=bash
# ECharts for HTML reports: fetched once with npm, kept in the cache folder. Sourced after common.sh.
# It is there only when it is whole and has the known sum: fetched aside, then renamed into place.
# shellcheck disable=SC2154,SC2034 # weir_cache comes from choose_cache; echarts_file is for others

echarts_version=5.6.0
echarts_sha256=bf4a223524e40b77c304bec67e1222cf551f14880cf42c69dc046558e11c07b1

echarts_is_good() { [[ -f $1 ]] && printf '%s  %s\n' "$echarts_sha256" "$1" | sha256sum --check --status; }

# fetch_echarts FOLDER WORK_FOLDER: FOLDER/echarts.min.js, and its licence
fetch_echarts() {
  local folder=$1 work=$2
  mkdir -p -- "$work/stage"
  # A home and a cache of its own: no setting of the user's has a part in this, and nothing is left in them.
  (cd -- "$work" && HOME=$work npm pack --silent --cache "$work/npm" --fetch-retries 1 --fetch-timeout 30000 \
    "echarts@$echarts_version") || return 1
  tar -xf "$work/echarts-$echarts_version.tgz" -C "$work" || return 1
  mv -- "$work/package/dist/echarts.min.js" "$work/package/LICENSE" "$work/package/NOTICE" "$work/stage/" || return 1
  echarts_is_good "$work/stage/echarts.min.js" || { echo "echarts $echarts_version has another sum than expected"; return 1; }
  rm -rf -- "$folder" && mv -T -- "$work/stage" "$folder"
}

ensure_echarts_locked() {
  local folder=$1 work=$weir_cache/work/echarts status=0
  if echarts_is_good "$folder/echarts.min.js"; then return 0; fi
  scratch_folder=$work
  rm -rf -- "$work" && mkdir -p -- "$work"
  stage "fetching ECharts $echarts_version for HTML reports (once)" "$weir_cache/logs/echarts.log" \
    fetch_echarts "$folder" "$work" || status=$?
  rm -rf -- "$work"
  scratch_folder=
  return "$status"
}

# ensure_echarts: sets echarts_file to its path, or to "off". Never fails: without it reports have SVG charts.
ensure_echarts() {
  local folder=$weir_cache/echarts-$echarts_version
  echarts_file=off
  if [[ ! -f $folder/echarts.min.js ]] && command -v npm >/dev/null && ! failed_lately echarts; then
    if with_lock "$weir_cache/lock" ensure_echarts_locked "$folder"; then forget_failure echarts
    else
      remember_failure echarts "see $weir_cache/logs/echarts.log"
      say "going on without ECharts: reports have SVG charts (tried again by ./check, with WEIR_RETRY=1, or after an hour)"
    fi
  fi
  if [[ -f $folder/echarts.min.js ]]; then echarts_file=$folder/echarts.min.js; fi
}
