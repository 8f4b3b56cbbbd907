# shellcheck shell=bash
# What all the set-up scripts share: messages, stages with their times, the cache folder, locks.
# Sourced, never run. Everything said here goes to stderr: the command's own stdout stays clean.
# REQUIRES: weir_root is the root of the repository.
# shellcheck disable=SC2154 # weir_root comes from the script that sources this

say() { printf 'weir: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# elapsed_text SECONDS: "7 s" or "3 min 05 s"
elapsed_text() {
  if (( $1 < 60 )); then printf '%d s' "$1"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# ---- The cache folder -------------------------------------------------------------------------------------------------------

# can_write_folder DIR: true when DIR can be made and written. Permission bits do not tell (root on a read-only disk), so try.
can_write_folder() {
  local probe
  mkdir -p -- "$1" 2>/dev/null || return 1
  probe=$(mktemp -- "$1/.probe.XXXXXX" 2>/dev/null) || return 1
  rm -f -- "$probe"
}

# A folder under /tmp that someone else made in advance could be used against us: take it only if it is ours alone.
private_tmp_folder() {
  local folder
  folder=${TMPDIR:-/tmp}/weir-cache-$(id -u)
  mkdir -m 700 -- "$folder" 2>/dev/null || [[ -d $folder && ! -L $folder && -O $folder ]] || return 1
  chmod 700 -- "$folder" && printf '%s\n' "$folder"
}

# Sets weir_cache, saying so once when it is not the usual place.
choose_cache() {
  local usual='' folder
  if [[ -n ${WEIR_CACHE:-} ]]; then usual=$WEIR_CACHE
  elif [[ -n ${XDG_CACHE_HOME:-} ]]; then usual=$XDG_CACHE_HOME/weir
  elif [[ -n ${HOME:-} ]]; then usual=$HOME/.cache/weir
  fi
  [[ -z $usual || $usual == /* ]] || usual=$PWD/$usual
  if [[ -n $usual ]] && can_write_folder "$usual"; then weir_cache=$usual; return; fi
  if can_write_folder "$weir_root/.cache"; then weir_cache=$weir_root/.cache
  elif folder=$(private_tmp_folder); then weir_cache=$folder
  else die "no folder to keep things in: ${usual:-HOME} is not writable; set WEIR_CACHE to one that is"
  fi
  say "the cache folder ${usual:-(no HOME)} is not writable; using $weir_cache"
}

# ---- Locks ------------------------------------------------------------------------------------------------------------------

# with_lock FILE COMMAND...: runs COMMAND while holding FILE, waiting for another holder with a message.
# The lock belongs to an open file, so it ends with its holder, however that ends.
with_lock() {
  local file=$1 fd status=0
  shift
  mkdir -p -- "${file%/*}"
  exec {fd}>>"$file" || die "cannot write $file"
  if command -v flock >/dev/null && ! flock --nonblock "$fd"; then
    say "another ./weir or ./check is setting up; waiting"
    flock "$fd" || die "cannot lock $file"
  fi
  lock_fds+=("$fd")
  "$@" || status=$?
  unset 'lock_fds[-1]'
  exec {fd}>&-
  return "$status"
}
lock_fds=()

# without_locks COMMAND...: for commands that may leave a service running; it would keep our lock for ever.
without_locks() (
  for fd in ${lock_fds[@]+"${lock_fds[@]}"}; do exec {fd}>&-; done
  exec "$@"
)

# mortal [--kill] COMMAND...: a command that is ended (--kill: by force) when this script is, even by kill -9.
mortal() {
  local signal=TERM
  if [[ $1 == --kill ]]; then signal=KILL; shift; fi
  if command -v setpriv >/dev/null && setpriv --pdeathsig "$signal" true 2>/dev/null; then setpriv --pdeathsig "$signal" "$@"
  else "$@"
  fi
}

# clean_up: what an ending script leaves undone; a killed one leaves it to the next, which finds it under the lock
clean_up() {
  if [[ -n ${stage_ticker_pid:-} ]]; then kill "$stage_ticker_pid" 2>/dev/null || true; fi
  if [[ -n ${scratch_folder:-} ]]; then rm -rf --one-file-system -- "$scratch_folder"; fi
}

# Programs like ninja answer Ctrl-C with an ordinary exit, after which bash would go on: make it stop here too.
handle_signals() {
  trap clean_up EXIT
  trap 'echo >&2; say "interrupted"; exit 130' INT
  trap 'say "terminated"; exit 143' TERM HUP
}

# ---- Stages -----------------------------------------------------------------------------------------------------------------

# last_progress LOG: the newest "[12/345]" that ninja left there
last_progress() { tail -c 4000 -- "$1" 2>/dev/null | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1 || true; }

# Redraws the line of a running stage each second; ends with the script it belongs to.
stage_ticker() {
  local title=$1 log=$2 start=$3 owner=$$
  while sleep 1 && kill -0 "$owner" 2>/dev/null; do
    printf '\r\033[Kweir: %s %s %s' "$title" "$(elapsed_text $((SECONDS - start)))" "$(last_progress "$log")" >&2
  done
}

# stage TITLE LOG COMMAND...: one line on stderr with the time it took; the command's words go to LOG (anew).
# Upon failure the end of LOG is shown, and its path. Returns the command's status.
stage() {
  local title=$1 log=$2 start=$SECONDS status=0
  shift 2
  mkdir -p -- "${log%/*}" && : >"$log"
  printf 'weir: %s ... ' "$title" >&2
  if [[ -t 2 ]]; then stage_ticker "$title" "$log" "$start" & stage_ticker_pid=$!; fi
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  if [[ -n ${stage_ticker_pid:-} ]]; then
    kill "$stage_ticker_pid" 2>/dev/null; wait "$stage_ticker_pid" 2>/dev/null || true
    stage_ticker_pid=
    printf '\r\033[Kweir: %s ... ' "$title" >&2
  fi
  if (( status == 0 )); then printf '%s\n' "$(elapsed_text $((SECONDS - start)))" >&2
  else
    printf 'failed after %s\n' "$(elapsed_text $((SECONDS - start)))" >&2
    show_log_end "$log"
  fi
  return "$status"
}

show_log_end() {
  { printf -- '---- the end of %s\n' "$1"; tail -n "${2:-30}" -- "$1"; printf -- '----\n'; } >&2
}

# ---- Failures that are not tried again at once ------------------------------------------------------------------------------

# A step that failed for want of a network would otherwise delay each ./weir. ./check always tries (WEIR_RETRY=1).
failed_lately() {
  [[ ${WEIR_RETRY:-0} != 1 && -n $(find "$weir_cache/failed/$1" -mmin -60 2>/dev/null) ]]
}
remember_failure() { mkdir -p -- "$weir_cache/failed" && printf '%s\n' "$2" >"$weir_cache/failed/$1"; }
forget_failure() { rm -f -- "$weir_cache/failed/$1"; }
