# shellcheck shell=bash
# ADIOS2 for releases of Debian that have no package of it: built once from Debian 13's source, kept in the cache folder.
# Sourced after common.sh, mirror.sh and packages.sh. A prefix exists only when it is whole: built aside, then renamed into place.
# shellcheck disable=SC2154,SC2034 # weir_cache comes from choose_cache; scratch_folder and adios2_root are for others

adios2_version=2.10.2
adios2_oldest=2.9 # what CMake asks for
adios2_recipe=1 # raise it when the options below change: the cached builds are then made anew
adios2_tarball=adios2_2.10.2+dfsg1.orig.tar.xz
adios2_sha256=b2ed2baeb589df71675f319e3179bcf518adaf1f09c95aa682e76bef7639139a
adios2_source_suite=trixie
adios2_package=libadios2-mpi-c++11-dev

# upstream_version PACKAGE: its installed version without epoch and Debian revision, "none" when absent
upstream_version() {
  local version
  version=$(dpkg-query -W -f '${Version}' "$1" 2>/dev/null) || true
  version=${version#*:}
  version=${version%%[-+~]*}
  printf '%s\n' "${version:-none}"
}

# adios2_prefix MPI: where the build for this compiler, MPI and HDF5 is or will be. A change of any of them gives another one.
adios2_prefix() {
  local mpi=$1
  printf '%s/adios2-%s-r%s-%s%s-hdf5_%s-gcc%s-%s\n' "$weir_cache" "$adios2_version" "$adios2_recipe" \
    "$mpi" "$(upstream_version "lib$mpi-dev")" "$(upstream_version "libhdf5-$mpi-dev")" "$(upstream_version g++)" "$(uname -m)"
}

# Debian's package is for Open MPI; an older release's would lack what Weir calls.
adios2_is_packaged_here() {
  local version
  [[ $1 == openmpi ]] || return 1
  version=$(upstream_version "$adios2_package")
  [[ $version != none && $(printf '%s\n' "$adios2_oldest" "$version" | sort -V | head -n 1) == "$adios2_oldest" ]]
}

# install_adios2_package LOG: succeeds only where this release of Debian has it, new enough
install_adios2_package() {
  local log=$1 candidate
  run_apt "$log" update || true
  candidate=$(apt-cache policy "$adios2_package" | sed -n 's/^ *Candidate: //p')
  case $candidate in '' | '('*) return 1 ;; esac
  dpkg --compare-versions "$candidate" ge "$adios2_oldest" && run_apt "$log" install "$adios2_package"
}

tarball_is_good() { [[ -f $1 ]] && printf '%s  %s\n' "$adios2_sha256" "$1" | sha256sum --check --status; }

# fetch_source_by_apt MIRROR FOLDER: apt with a private configuration: nothing of the machine's own is read, locked or changed.
# The tarball is checked by apt against the signed index, and by us against the known sum.
fetch_source_by_apt() {
  local mirror=$1 folder=$2 keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=''
  if [[ -r $keyring ]]; then signed="[signed-by=$keyring] "; fi
  mkdir -p -- "$folder/etc" "$folder/lists/partial" "$folder/cache/archives/partial"
  : >"$folder/status"
  printf 'deb-src %s%s %s main\n' "$signed" "$mirror" "$adios2_source_suite" >"$folder/etc/sources.list"
  local options=(-o "Dir::Etc::sourcelist=$folder/etc/sources.list" -o "Dir::Etc::sourceparts=/dev/null"
    -o "Dir::Etc::preferencesparts=/dev/null" -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=$folder/status"
    -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -q)
  # --tar-only: some mirrors do not carry the .dsc
  apt-get "${options[@]}" update &&
    (cd -- "$folder" && apt-get "${options[@]}" source --tar-only --download-only adios2)
}

# get_tarball WORK_FOLDER: makes sure that a good tarball is in the cache. One put there by hand serves a machine with no network.
get_tarball() {
  local work=$1 kept=$weir_cache/downloads/$adios2_tarball mirror
  if tarball_is_good "$kept"; then return; fi
  command -v apt-get >/dev/null || { echo "no apt-get to fetch the source with"; return 1; }
  while read -r mirror; do
    rm -rf -- "$work/apt"
    if fetch_source_by_apt "$mirror" "$work/apt" && tarball_is_good "$work/apt/$adios2_tarball"; then
      mkdir -p -- "$weir_cache/downloads"
      mv -f -- "$work/apt/$adios2_tarball" "$kept"
      return
    fi
  done < <(machine_mirrors)
  echo "no mirror in apt's configuration gave $adios2_tarball with the right sum"
  return 1
}

# Most features default to "if found": state each, so that the result does not depend on what else the machine has.
# BZip2 is the one compressor, as Debian 13's package has it. The run path lets its tools (bpls) and libraries find each other.
# Its script adios2-config is left out: installing that configures a project with make, which need not be here.
# shellcheck disable=SC2016 # $ORIGIN is the loader's
adios2_options() {
  local mpi=$1 prefix=$2 shim=$3 feature hdf5=ON
  [[ $(upstream_version "libhdf5-$mpi-dev") != none ]] || hdf5=OFF
  printf '%s\n' -DCMAKE_BUILD_TYPE=Release "-DCMAKE_INSTALL_PREFIX=$prefix" '-DCMAKE_INSTALL_RPATH=$ORIGIN/../lib' \
    -DBUILD_SHARED_LIBS=ON -DBUILD_TESTING=OFF \
    -DADIOS2_BUILD_EXAMPLES=OFF -DADIOS2_RUN_INSTALL_TEST=OFF -DADIOS2_USE_MPI=ON "-DADIOS2_USE_HDF5=$hdf5" \
    -DADIOS2_USE_BZip2=AUTO -DADIOS2_USE_Endian_Reverse=ON -DADIOS2_INSTALL_GENERATE_CONFIG=OFF \
    -DHDF5_PREFER_PARALLEL=ON "-DHDF5_C_COMPILER_EXECUTABLE=$(command -v "h5pcc.$mpi" || echo "h5pcc.$mpi")" \
    "-DMPI_C_COMPILER=mpicc.$mpi" "-DMPI_CXX_COMPILER=mpicxx.$mpi" "-DMPIEXEC_EXECUTABLE=$(command -v "mpiexec.$mpi")"
  for feature in Blosc2 ZFP SZ LIBPRESSIO MGARD PNG CUDA Kokkos DAOS DataMan DataSpaces MHS SST SSC ZeroMQ HDF5_VOL IME Python \
    Fortran SysVShMem UCX Profiling Sodium Catalyst Campaign AWSSDK Derived_Variable PIP SQLite3; do
    printf '%s\n' "-DADIOS2_USE_$feature=OFF"
  done
  # Debian's tarball comes without the third-party folders. EVPath asks for enet even when SST, its only user, is off:
  # an empty package configuration satisfies it.
  printf '%s\n' -DADIOS2_USE_EXTERNAL_DEPENDENCIES=ON -DADIOS2_USE_EXTERNAL_ENET=ON "-Denet_DIR=$shim"
}

# build_adios2 MPI PREFIX WORK_FOLDER: the whole recipe, all of it in WORK_FOLDER but for the last rename.
# REQUIRES: get_tarball was successful.
build_adios2() {
  local mpi=$1 prefix=$2 work=$3 options
  mkdir -p -- "$work/source" "$work/shim/enet" "$work/stage"
  : >"$work/shim/enet/enet-config.cmake"
  tar -xf "$weir_cache/downloads/$adios2_tarball" -C "$work/source" --strip-components=1 || return 1
  mapfile -t options < <(adios2_options "$mpi" "$prefix" "$work/shim/enet")
  mortal cmake -S "$work/source" -B "$work/build" -G Ninja "${options[@]}" || return 1
  mortal ninja -C "$work/build" -j "$(nproc)" || return 1
  DESTDIR=$work/stage mortal cmake --install "$work/build" --strip || return 1
  mv -T -- "$work/stage$prefix" "$prefix"
}

# ensure_adios2_locked MPI PREFIX: REQUIRES the cache's lock; so whatever is left in the work folder is of a run that was killed
ensure_adios2_locked() {
  local mpi=$1 prefix=$2 work=$weir_cache/work/adios2-$1 status=0 log=$weir_cache/logs/adios2-$1.log
  if [[ -d $prefix ]] || adios2_is_packaged_here "$mpi"; then return 0; fi
  mkdir -p -- "${log%/*}"
  if [[ $mpi == openmpi ]] && may_install; then
    # shellcheck disable=SC2094 # it looks there for the reason of a failure
    if install_adios2_package "$log" >"$log" 2>&1 </dev/null; then return 0; fi
  fi
  scratch_folder=$work
  rm -rf -- "$work" && mkdir -p -- "$work"
  if ! get_tarball "$work" >"$weir_cache/logs/adios2-source.log" 2>&1 </dev/null; then
    say "cannot fetch the source of ADIOS2 (offline? then put $adios2_tarball into $weir_cache/downloads; see $weir_cache/logs)"
    status=1
  else
    stage "building ADIOS2 $adios2_version for $mpi (once; about 4 minutes on two cores)" "$log" \
      build_adios2 "$mpi" "$prefix" "$work" || status=$?
  fi
  rm -rf -- "$work"
  scratch_folder=
  return "$status"
}

# ensure_adios2 MPI: sets adios2_root to a prefix, or to nothing when Debian's package serves or ADIOS2 cannot be had.
# Never fails: without ADIOS2 the rest of Weir works.
ensure_adios2() {
  local mpi=$1 prefix
  adios2_root=
  if adios2_is_packaged_here "$mpi"; then return 0; fi
  prefix=$(adios2_prefix "$mpi")
  if [[ ! -d $prefix ]] && ! failed_lately "adios2-$mpi"; then
    if with_lock "$weir_cache/lock" ensure_adios2_locked "$mpi" "$prefix"; then forget_failure "adios2-$mpi"
    else
      remember_failure "adios2-$mpi" "see $weir_cache/logs/adios2-$mpi.log"
      say "going on without ADIOS2 (tried again by ./check, with WEIR_RETRY=1, or at a build after an hour)"
    fi
  fi
  if [[ -d $prefix ]]; then adios2_root=$prefix; fi
}
