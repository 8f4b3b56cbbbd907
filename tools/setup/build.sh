# shellcheck shell=bash
# Configures and builds a preset of CMakePresets.json. Sourced after common.sh, packages.sh, adios2.sh and uptodate.sh.
# shellcheck disable=SC2154 # weir_root and weir_cache come from the script that sources this

preset_folder() { if [[ $1 == release ]]; then printf '%s/build\n' "$weir_root"; else printf '%s/build-%s\n' "$weir_root" "$1"; fi; }
preset_mpi() { case $1 in mpich) echo mpich ;; no-mpi) echo none ;; *) echo openmpi ;; esac; }

# cached_value BUILD_FOLDER NAME: a variable of CMake's cache
cached_value() { sed -n "s/^$2:[A-Z]*=//p" "$1/CMakeCache.txt" 2>/dev/null || true; }

# A build folder that came along with a moved or copied repository cannot be used: CMake refuses it.
drop_foreign_cache() {
  local home
  home=$(cached_value "$1" CMAKE_HOME_DIRECTORY)
  if [[ -n $home && $home != "$weir_root" ]]; then rm -rf -- "$1/CMakeCache.txt" "$1/CMakeFiles" "$1/.weir-configured"; fi
}

# configure PRESET FOLDER TESTS: runs CMake when its inputs from outside the tree changed; ninja sees to those inside.
configure() {
  local preset=$1 folder=$2 tests=$3 wanted adios2=auto
  # Tests once turned on stay on: ./weir after ./check must not configure everything anew.
  if [[ $tests == OFF && $(cached_value "$folder" WEIR_BUILD_TESTS) == ON ]]; then tests=ON; fi
  # Debian's own ADIOS2 is Open MPI's; with another MPI it would be found all the same, and crash.
  if [[ -z ${adios2_root:-} && $(preset_mpi "$preset") != openmpi ]]; then adios2=off; fi
  local arguments=(--preset "$preset" "-DWEIR_BUILD_TESTS=$tests" "-DWEIR_ADIOS2=$adios2" -Uadios2_DIR "-Dadios2_ROOT=${adios2_root:-}"
    "-DWEIR_ECHARTS=${echarts_file:-auto}")
  if command -v ccache >/dev/null; then arguments+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  wanted="${arguments[*]} ${CXX:-} ${CXXFLAGS:-} lacking: $(is_debian && missing_packages build test | tr '\n' ' ')"
  if [[ -f $folder/build.ninja && $(cat "$folder/.weir-configured" 2>/dev/null) == "$wanted" ]]; then return 0; fi
  rm -f -- "$folder/.weir-configured"
  stage "configuring ($preset)" "$folder/configure.log" run_in_root mortal cmake "${arguments[@]}" || return 1
  printf '%s\n' "$wanted" >"$folder/.weir-configured"
}

run_in_root() {
  local back=$PWD status=0
  cd -- "$weir_root" || return 1
  "$@" || status=$?
  cd -- "$back" 2>/dev/null || cd / || true
  return "$status"
}

# A second clone, or a second preset, compiles only what differs. A cache of the user's own is respected.
use_compiler_cache() {
  export CCACHE_DIR=${CCACHE_DIR:-$weir_cache/ccache} CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-2G}
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$weir_root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
  export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-locale} # the language of messages is no reason to compile again
}

# build_locked PRESET FOLDER TESTS TARGET
build_locked() {
  local preset=$1 folder=$2 tests=$3 target=$4
  # Another ./weir may have done it while we waited for the lock.
  if [[ $target == weir-cli && $(sed -n 2p "$folder/.weir-built" 2>/dev/null) == "${adios2_root:-none}" ]] &&
    is_up_to_date "$weir_root" "$folder"; then return 0; fi
  begin_stamp "$folder"
  drop_foreign_cache "$folder"
  configure "$preset" "$folder" "$tests" || return 1
  use_compiler_cache
  stage "building ($preset)" "$folder/build.log" mortal ninja -C "$folder" -j "${jobs:-$(nproc)}" "$target" || return 1
  finish_stamp "$weir_root" "$folder" "${adios2_root:-}"
}

# build_preset PRESET TESTS TARGET: TESTS is ON or OFF. Sets adios2_root.
build_preset() {
  local preset=$1 folder mpi
  folder=$(preset_folder "$preset")
  mpi=$(preset_mpi "$preset")
  if ! can_write_folder "$folder"; then say "cannot write to the build folder $folder"; return 1; fi
  require_tools "$mpi" || return 1
  adios2_root=
  if [[ $mpi != none ]] && is_debian; then ensure_adios2 "$mpi"; fi
  ensure_echarts
  with_lock "$folder/.weir-lock" build_locked "$preset" "$folder" "$2" "$3"
}
