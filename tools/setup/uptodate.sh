# shellcheck shell=bash
# The fast path of ./weir: is build/bin/weir newer than all it is made of? One find, no build tool. Sourced before all else.

# The stamp's time is that of the build's start; its first line is the repository's place, its second the ADIOS2 that was used.
# is_up_to_date ROOT BUILD_FOLDER
is_up_to_date() {
  local root=$1 stamp=$2/.weir-built built_at='' adios2='' input inputs=()
  [[ -x $2/bin/weir && -f $stamp ]] || return 1
  { read -r built_at && read -r adios2; } <"$stamp" || return 1
  [[ $built_at == "$root" && ( $adios2 == none || -d $adios2 ) ]] || return 1
  for input in CMakeLists.txt CMakePresets.json cmake include src tools/weir tools/setup; do
    if [[ -e $root/$input ]]; then inputs+=("$root/$input"); fi
  done
  # -cnewer, not -newer: a file put in place with an old modification time (cp -p, tar, mv) counts too
  [[ -z $(find "${inputs[@]}" -cnewer "$stamp" -print -quit) ]]
}

# begin_stamp BUILD_FOLDER, then finish_stamp ROOT BUILD_FOLDER ADIOS2: what changes while the build runs is newer than the stamp
begin_stamp() { rm -f -- "$1/.weir-built" && : >"$1/.weir-building"; }
finish_stamp() {
  printf '%s\n%s\n' "$1" "${3:-none}" >"$2/.weir-built.new"
  touch -r "$2/.weir-building" -- "$2/.weir-built.new"
  mv -f -- "$2/.weir-built.new" "$2/.weir-built"
}
