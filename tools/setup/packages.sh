# shellcheck shell=bash
# Debian packages: which are missing, and how they come. Sourced after common.sh. The names are in packages.txt.
# shellcheck disable=SC2154 # weir_cache comes from choose_cache

package_list=${BASH_SOURCE[0]%/*}/packages.txt

is_debian() { command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; }
may_install() { [[ $(id -u) == 0 && ${WEIR_INSTALL:-yes} != no ]]; }

# listed_packages GROUP...: "NEED PACKAGE" lines of these groups
listed_packages() {
  awk -v groups=" $* " '!/^[ \t]*(#|$)/ && index(groups, " " $1 " ") { print $2, $3 }' "$package_list"
}

# missing_packages GROUP...: "NEED PACKAGE" for each that is not installed; dpkg-query is asked once for all
missing_packages() {
  local wanted installed need package choice
  wanted=$(listed_packages "$@")
  # shellcheck disable=SC2046 # a list of words is meant. dpkg-query fails when it does not know one: that is an answer too
  installed=" $({ dpkg-query -W -f '${db:Status-Status}=${Package}\n' \
    $(awk '{ gsub(/\|/, " ", $2); print $2 }' <<<"$wanted") 2>/dev/null || true; } | sed -n 's/^installed=//p' | tr '\n' ' ') "
  while read -r need package; do
    for choice in ${package//|/ }; do
      if [[ $installed == *" $choice "* ]]; then continue 2; fi
    done
    printf '%s %s\n' "$need" "$package"
  done <<<"$wanted"
}

# known_choice a|b: the first that apt can install; the first of all when apt knows none
known_choice() {
  local choice
  for choice in ${1//|/ }; do
    if apt_knows "$choice"; then printf '%s\n' "$choice"; return; fi
  done
  printf '%s\n' "${1%%|*}"
}

# Purely virtual packages have no candidate either, and cannot be asked for by name.
apt_knows() { apt-cache policy "$1" 2>/dev/null | grep -q '^ *Candidate: [^(]'; }

# run_apt LOG ARGUMENT...: apt-get that waits for its locks, mends an interrupted dpkg, and tries a second time.
# Its output goes to stdout; LOG is where that ends up, to see why it failed.
run_apt() {
  local log=$1 deadline=$((SECONDS + 900)) tries=2 seen
  shift
  export DEBIAN_FRONTEND=noninteractive
  while :; do
    seen=$(wc -c <"$log")
    if without_locks apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 -o Acquire::Retries=2 \
      -o Acquire::http::Timeout=30 "$@"; then return 0; fi
    # DPkg::Lock::Timeout covers dpkg's lock only, not that of the package lists
    if tail -c +$((seen + 1)) -- "$log" | grep -qE 'Could not get lock|Unable to lock' && (( SECONDS < deadline )); then
      sleep 2
      continue
    fi
    if tail -c +$((seen + 1)) -- "$log" | grep -q 'dpkg --configure -a'; then without_locks dpkg --configure -a || true; fi
    if (( --tries == 0 )); then return 1; fi
    sleep 3
  done
}

# install_packages LOG PACKAGE...: the whole list at once; if that fails, one by one, so that one unknown name costs only itself
install_packages() {
  local log=$1 package status=0 names=()
  shift
  run_apt "$log" update || echo "apt-get update failed; trying with the lists that are there"
  for package in "$@"; do names+=("$(known_choice "$package")"); done
  if run_apt "$log" install "${names[@]}"; then return 0; fi
  for package in "${names[@]}"; do
    apt_knows "$package" && run_apt "$log" install "$package" || status=1
  done
  return "$status"
}

install_missing_locked() {
  local log=$weir_cache/logs/packages.log missing
  mapfile -t missing < <(missing_packages "$@" | awk '{ print $2 }') # again: another one may have installed them meanwhile
  if (( ${#missing[@]} == 0 )); then return 0; fi
  stage "installing ${#missing[@]} Debian packages (${missing[*]:0:3}$( ((${#missing[@]} > 3)) && echo ', ...'))" "$log" \
    install_packages "$log" "${missing[@]}"
}

# install_command GROUP...: the line for an administrator; empty when nothing is missing
install_command() {
  local names
  names=$(missing_packages "$@" | awk '{ sub(/\|.*/, "", $2); printf " %s", $2 }')
  if [[ -n $names ]]; then printf 'apt-get install --no-install-recommends%s\n' "$names"; fi
}

# ensure_packages GROUP...: installs what is missing if it may; else says what to install. Goes on in any case:
# require_tools below and CMake decide whether what is there is enough.
ensure_packages() {
  local advice
  if ! is_debian; then
    say "not a Debian system; going on with what is there. Needed (under their Debian names):" \
      "$(listed_packages "$@" | awk '{ sub(/\|.*/, "", $2); printf "%s ", $2 }')"
    return 0
  fi
  if [[ -z $(missing_packages "$@") ]]; then return 0; fi
  if may_install && ! failed_lately packages; then
    if with_lock "$weir_cache/lock" install_missing_locked "$@"; then forget_failure packages
    else remember_failure packages "see $weir_cache/logs/packages.log"
    fi
  fi
  advice=$(install_command "$@")
  if [[ -n $advice ]]; then
    say "going on without some packages. To have all, an administrator gives:"
    say "    $advice"
  fi
}

# require_tools MPI: the things without which nothing can be built. MPI: openmpi, mpich or none
require_tools() {
  local lacking=() compiler
  for compiler in "${CXX:-}" c++ g++ clang++ ''; do
    if [[ -n $compiler ]] && command -v "${compiler%% *}" >/dev/null; then break; fi
  done
  if [[ -z $compiler ]]; then lacking+=("a C++ compiler (g++)"); fi
  command -v cmake >/dev/null || lacking+=("cmake")
  command -v ninja >/dev/null || lacking+=("ninja (ninja-build)")
  if [[ $1 != none ]]; then
    command -v "mpicxx.$1" >/dev/null || command -v mpicxx >/dev/null || lacking+=("MPI (lib$1-dev)")
  fi
  if (( ${#lacking[@]} )); then
    local text
    text=$(printf ', %s' "${lacking[@]}")
    say "cannot build without ${text:2}"
    return 1
  fi
}
