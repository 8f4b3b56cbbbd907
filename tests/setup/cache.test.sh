# shellcheck shell=bash
# The cache folder, locks, and the ADIOS2 builder: interrupted, doubled, failing.
# shellcheck disable=SC2154,SC2034,SC2317 # set by run.sh; used and called by the functions under test

cache_chosen() { (choose_cache && printf '%s\n' "$weir_cache"); }

test_cache_follows_the_environment() {
  load_setup
  is "$(HOME=$work/h cache_chosen)" "$work/h/.cache/weir"
  is "$(HOME=$work/h XDG_CACHE_HOME="$work/x y" cache_chosen)" "$work/x y/weir"
  is "$(WEIR_CACHE=rel cache_chosen)" "$work/rel"
  is "$(HOME=$work/h cache_chosen 2>&1 >/dev/null)" ''
}

# Below /dev/null nothing can be made, not even by root.
test_cache_with_a_read_only_home() {
  load_setup
  weir_root=$work/repo
  is "$(HOME=/dev/null/home cache_chosen 2>/dev/null)" "$work/repo/.cache"
  has "$(HOME=/dev/null/home cache_chosen 2>&1)" 'is not writable; using'
  is "$(unset HOME; cache_chosen 2>/dev/null)" "$work/repo/.cache"
}

test_cache_with_nothing_writable_but_tmp() {
  load_setup
  weir_root=/dev/null/repo
  export HOME=/dev/null/home TMPDIR=$work
  is "$(cache_chosen 2>/dev/null)" "$work/weir-cache-$(id -u)"
  is "$(stat -c %a "$work/weir-cache-$(id -u)")" 700
  is "$(cache_chosen 2>/dev/null)" "$work/weir-cache-$(id -u)"
  rmdir "$work/weir-cache-$(id -u)"
  ln -s /etc "$work/weir-cache-$(id -u)" # somebody else's trap
  cache_chosen && fail 'took a folder that is a link'
  true
}

test_lock_makes_the_second_wait() {
  load_setup
  hold() { touch first; wait_for 10 test -e go; echo first >>order; }
  with_lock "$work/lock" hold &
  wait_for 10 test -e first
  (with_lock "$work/lock" eval 'echo second >>order' 2>said) &
  wait_for 10 grep -q 'setting up; waiting' said
  touch go
  wait
  is "$(cat order)" $'first\nsecond'
}

test_lock_ends_with_a_killed_holder() {
  load_setup
  fake sleeper <<<'exec sleep 30'
  hold() { touch held; mortal sleeper; }
  with_lock "$work/lock" hold &
  holder=$!
  wait_for 10 test -e held -a -e calls/sleeper
  kill -9 "$holder"
  with_lock "$work/lock" touch mine
  [[ -e mine ]] || fail 'never got the lock'
  (( SECONDS < 20 )) || fail 'the killed holder kept its child'
}

test_lock_is_not_kept_by_a_service_that_stays() {
  load_setup
  leave_service() { without_locks sh -c 'sleep 20 >/dev/null 2>&1 & echo $! >service'; }
  with_lock "$work/lock" leave_service
  with_lock "$work/lock" touch mine 2>said
  kill "$(cat service)"
  lacks "$(cat said)" waiting
}

test_adios2_prefix_tells_its_makers_apart() {
  load_setup
  fake_dpkg libadios2-mpi-c++11-dev
  is "$(adios2_prefix openmpi)" "$weir_cache/adios2-2.10.2-r$adios2_recipe-openmpi1.2.3-hdf5_1.2.3-gcc1.2.3-$(uname -m)"
  [[ $(adios2_prefix openmpi) != $(adios2_prefix mpich) ]] || fail 'one prefix for two MPIs'
}

test_adios2_package_serves_where_there_is_one() {
  load_setup
  fake_dpkg
  adios2_oldest=1.0
  get_tarball() { :; }
  build_adios2() { fail 'built it'; }
  ensure_adios2 openmpi
  is "$adios2_root" ''
}

test_adios2_package_is_installed_where_debian_has_it() {
  load_setup
  fake_dpkg libadios2-mpi-c++11-dev
  fake_user 0
  fake apt-cache <<<'echo "  Candidate: 2.10.2+dfsg1-2"'
  fake apt-get <<<'if [[ $* == *" install "* ]]; then : >'"$work/missing"'; fi'
  adios2_oldest=1.0 # the stand-in's version is 1.2.3
  get_tarball() { :; }
  build_adios2() { fail 'built it'; }
  ensure_adios2 openmpi
  is "$adios2_root" ''
  has "$(calls apt-get)" 'install libadios2-mpi-c++11-dev'
}

test_adios2_package_that_is_too_old_does_not_serve() {
  load_setup
  fake_dpkg
  fake_user 1000
  adios2_oldest=1.2.10 # the stand-in's version is 1.2.3
  get_tarball() { :; }
  build_adios2() { mkdir "$2"; }
  ensure_adios2 openmpi
  is "$adios2_root" "$(adios2_prefix openmpi)"
}

test_adios2_interrupted_build_leaves_nothing_in_the_way() {
  load_setup
  fake_dpkg libadios2-mpi-c++11-dev
  fake_user 1000
  fake compile <<<'exec sleep 30'
  (
    get_tarball() { :; }
    build_adios2() { mkdir -p "$3/half"; mortal compile; }
    ensure_adios2 openmpi
  ) &
  builder=$!
  wait_for 10 test -e calls/compile
  kill -9 "$builder"
  get_tarball() { :; }
  build_adios2() { [[ ! -e $3/half ]] || fail 'found the remains'; mkdir "$2"; }
  ensure_adios2 openmpi
  is "$adios2_root" "$(adios2_prefix openmpi)"
  [[ -d $adios2_root && -z $(ls -A "$weir_cache/work") ]] || fail 'the work folder was left'
  (( SECONDS < 20 )) || fail 'the killed build kept its child'
}

test_adios2_two_at_once_build_it_once() {
  load_setup
  fake_dpkg libadios2-mpi-c++11-dev
  fake_user 1000
  get_tarball() { :; }
  build_adios2() { echo built >>builds; sleep 1; mkdir "$2"; }
  ensure_adios2 openmpi 2>said1 &
  ensure_adios2 openmpi 2>said2
  wait
  is "$(cat builds)" built
  has "$(cat said1 said2)" 'another ./weir or ./check is setting up; waiting'
}

test_adios2_that_cannot_be_had_is_a_warning() {
  load_setup
  fake_dpkg libadios2-mpi-c++11-dev
  fake_user 1000
  get_tarball() { :; }
  build_adios2() { echo tried >>tries; echo 'no mirror answers'; return 1; }
  ensure_adios2 openmpi 2>said
  is "$adios2_root" ''
  has "$(cat said)" 'going on without ADIOS2'
  has "$(cat said)" 'no mirror answers'
  ensure_adios2 openmpi
  is "$(wc -l <tries)" 1
  WEIR_RETRY=1 ensure_adios2 openmpi
  is "$(wc -l <tries)" 2
}

test_adios2_without_a_network_is_one_reason_and_one_warning() {
  load_setup
  fake_dpkg libadios2-mpi-c++11-dev
  fake_user 1000
  get_tarball() { echo 'many lines of apt'; return 1; }
  ensure_adios2 openmpi 2>said
  is "$adios2_root" ''
  is "$(wc -l <said)" 2
  has "$(cat said)" 'cannot fetch the source of ADIOS2 (offline?'
  has "$(cat said)" 'going on without ADIOS2'
}

test_adios2_source_with_a_wrong_sum_is_refused() {
  load_setup
  mkdir -p "$weir_cache/downloads"
  echo 'not the source' >"$weir_cache/downloads/$adios2_tarball"
  machine_mirrors() { echo http://mirror.example/debian; }
  fetch_source_by_apt() { mkdir -p "$2"; echo 'not it either' >"$2/$adios2_tarball"; }
  said=$(get_tarball "$work/fetch") && fail 'accepted a wrong source'
  has "$said" 'with the right sum'
}
