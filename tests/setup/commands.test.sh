# shellcheck shell=bash
# ./weir and ./check as a user calls them, in a miniature repository whose compiler is a stand-in; and what decides for them.
# shellcheck disable=SC2154,SC2034,SC2317

up_to_date() { is_up_to_date "$work/repo" "$work/repo/build"; }

test_uptodate_notices_every_kind_of_change() {
  load_setup
  mkdir -p repo/src/deep repo/build/bin repo/tools
  echo x >repo/src/deep/a.cpp
  echo old >kept.cpp && touch -d '2001-01-01' kept.cpp
  printf '#!/bin/sh\n' >repo/build/bin/weir && chmod +x repo/build/bin/weir
  built() { sleep 0.02; begin_stamp repo/build; finish_stamp "$work/repo" repo/build "$1"; sleep 0.02; }
  up_to_date && fail 'without a stamp'
  built none; up_to_date || fail 'just built'
  echo y >repo/src/deep/a.cpp; up_to_date && fail 'a changed file'
  built none; up_to_date || fail 'built again'
  cp -p kept.cpp repo/src/deep/; up_to_date && fail 'a new file with an old time'
  built none; rm repo/src/deep/kept.cpp; up_to_date && fail 'a removed file'
  built none; echo >repo/build/other; up_to_date || fail 'a change in the build folder does not count'
  is_up_to_date "$work/elsewhere" repo/build && fail 'a moved repository'
  built "$work/gone"; up_to_date && fail 'its ADIOS2 is gone'
  built none; rm repo/build/bin/weir; up_to_date && fail 'no command'
  true
}

test_uptodate_change_during_the_build_counts() {
  load_setup
  mkdir -p repo/src repo/build/bin
  printf '#!/bin/sh\n' >repo/build/bin/weir && chmod +x repo/build/bin/weir
  begin_stamp repo/build; sleep 0.02
  echo late >repo/src/a.cpp; sleep 0.02
  finish_stamp "$work/repo" repo/build none
  up_to_date && fail 'missed it'
  true
}

test_weir_builds_once_and_keeps_stdout_clean() {
  miniature_repository "$work/my repo"
  is "$("my repo/weir" show 'two words' 2>said)" '<show><two words>'
  has "$(cat said)" 'weir: building (release) ... '
  is "$("my repo/weir" again 2>said)" '<again>'
  is "$(cat said)" ''
  is "$(call_count ninja)" 1
  has "$(calls ninja)" weir-cli
}

test_weir_from_elsewhere_and_through_links() {
  miniature_repository "$work/my repo"
  mkdir -p links
  ln -s '../my repo/weir' links/w1
  ln -s w1 links/w2
  is "$(cd / && "$work/links/w2" x 2>/dev/null)" '<x>'
  is "$(cd links && ./w2 x)" '<x>'
  is "$(cd "my repo/src" && ../weir x)" '<x>'
  is "$(PATH=$work/links:$PATH w2 x)" '<x>'
  is "$(call_count ninja)" 1
}

test_weir_failed_build_shows_the_log_and_is_tried_again() {
  miniature_repository "$work/repo"
  touch repo/src/broken
  repo/weir x 2>said && fail 'succeeded'
  has "$(cat said)" 'broken on purpose'
  has "$(cat said)" "$work/repo/build/build.log"
  repo/weir x 2>/dev/null && fail 'succeeded the second time'
  rm repo/src/broken
  is "$(repo/weir x 2>/dev/null)" '<x>'
}

test_weir_two_at_once_build_once() {
  miniature_repository "$work/repo"
  sed -i '3i sleep 1' fakes/ninja
  repo/weir a >out1 2>&1 &
  repo/weir b >out2 2>&1
  wait
  has "$(tail -n 1 out1)" '<a>'
  has "$(tail -n 1 out2)" '<b>'
  is "$(call_count ninja)" 1
  has "$(cat out1 out2)" 'waiting'
}

test_weir_killed_in_the_first_build_then_run_again() {
  miniature_repository "$work/repo"
  cp fakes/ninja good-ninja
  fake ninja <<<'exec sleep 30'
  repo/weir x >/dev/null 2>&1 &
  wait_for 10 test -e calls/ninja
  kill -9 $!
  cp good-ninja fakes/ninja
  is "$(repo/weir x 2>/dev/null)" '<x>'
  (( SECONDS < 20 )) || fail 'waited for the killed one'
}

test_weir_takes_up_adios2_when_told_to_try_again() {
  miniature_repository "$work/repo"
  fake_dpkg libadios2-mpi-c++11-dev
  fake_user 1000
  is "$(repo/weir x 2>said)" '<x>'
  has "$(cat said)" 'going on without ADIOS2'
  # shellcheck disable=SC2016
  sed -i 's/^get_tarball() {/get_tarball() { return 0/; s/^build_adios2() {/build_adios2() { mkdir "$2"; return 0/' repo/tools/setup/adios2.sh
  sleep 0.02
  touch repo/build/.weir-built # as if the scripts had been so from the start
  is "$(repo/weir x 2>said)" '<x>'
  is "$(cat said)" ''
  WEIR_RETRY=1 repo/weir x 2>/dev/null
  has "$(tail -n 1 calls/cmake)" "-Dadios2_ROOT=$HOME/.cache/weir/adios2-"
}

test_weir_without_root_goes_on() {
  miniature_repository "$work/repo"
  fake_dpkg libzstd-dev
  fake_user 1000
  is "$(repo/weir x 2>said)" '<x>'
  has "$(cat said)" 'apt-get install --no-install-recommends libzstd-dev'
}

# check_says STATUS LAST_LINE ARGUMENT...
check_says() {
  local status=0 wanted=$1 line=$2
  shift 2
  repo/check "$@" >out 2>&1 || status=$?
  is "$(tail -n 1 out)" "$line"
  is "$status" "$wanted"
}

test_check_ends_with_the_count() {
  miniature_repository "$work/repo"
  sed -i 's/^minimum_tests=.*/minimum_tests=3/' repo/check
  fake_ctest "$here/data/junit-good.xml" 0
  check_says 0 '3 passed, 0 failed'
  has "$(calls ctest)" '-LE ^slow$'
  has "$(calls ninja)" ' all'
  has "$(calls cmake)" '-DWEIR_BUILD_TESTS=ON'
  is "$(repo/.ci/run 2>/dev/null | tail -n 1)" '3 passed, 0 failed'
  is "$(call_count cmake)" 1
}

test_check_failures_and_reasons() {
  miniature_repository "$work/repo"
  fake_ctest "$here/data/junit-mixed.xml" 8
  check_says 1 '1 passed, 6 failed, 4 skipped'
  has "$(cat out)" 'check: skipped skip: skipped: no namespaces <here>'
  has "$(cat out)" 'check: skipped gtest: built without ADIOS2'
  has "$(cat out)" 'check: failed notrun: did not run: Unable to find executable'
}

test_check_tries_once_more_what_failed() {
  miniature_repository "$work/repo"
  sed -i 's/^minimum_tests=.*/minimum_tests=3/' repo/check
  fake_ctest "$here/data/junit-mixed.xml" 8 "$here/data/junit-good.xml"
  check_says 1 '4 passed, 3 failed, 4 skipped'
  has "$(cat out)" 'check: 3 of 6 failed tests passed when tried again'
  has "$(cat out)" 'check: failed bad'
  has "$(calls ctest)" '--rerun-failed -j 1'
}

test_check_too_few_tests_fail() {
  miniature_repository "$work/repo"
  sed -i 's/^minimum_tests=.*/minimum_tests=4/' repo/check
  fake_ctest "$here/data/junit-good.xml" 0
  check_says 1 '3 passed, 0 failed'
  has "$(cat out)" 'only 3 tests ran, at least 4 must'
  check_says 0 '3 passed, 0 failed' --filter a
  fake_ctest "$here/data/junit-none.xml" 0
  check_says 1 '0 passed, 0 failed' --filter a
}

test_check_broken_builds_and_lost_results_fail() {
  miniature_repository "$work/repo"
  fake_ctest "$here/data/junit-good.xml" 1
  check_says 1 '3 passed, 1 failed'
  fake ctest <<<'exit 139'
  check_says 1 '0 passed, 1 failed'
  touch repo/src/broken
  check_says 1 '0 passed, 1 failed'
  has "$(cat out)" 'broken on purpose'
}

test_check_adds_up_its_legs() {
  miniature_repository "$work/repo"
  fake_ctest "$here/data/junit-good.xml" 0
  fake_user 1000
  fake mpicxx.mpich <<<'exit 0'
  fake clang++ <<<'exit 0'
  sed -i 's/^minimum_tests=.*/minimum_tests=1/' repo/check
  check_says 0 '18 passed, 0 failed, 1 skipped' --full
  has "$(cat out)" 'debian13    0 passed, 0 failed, 1 skipped (0 s): skipped: making a chroot needs root'
  has "$(cat out)" 'going on without ADIOS2' # MPICH's has to be built, and cannot be here
  has "$(grep -e '--preset mpich' calls/cmake)" '-DWEIR_ADIOS2=off'
  is "$(grep -c -e '-LE' calls/ctest)" 5 # the slow tests run once, in the release leg
}

test_check_refuses_unknown_arguments() {
  miniature_repository "$work/repo"
  for arguments in '--fulll' '--preset nonsense' '-j 0' '-j' '--full --preset tsan' 'stray'; do
    status=0
    # shellcheck disable=SC2086
    repo/check $arguments >/dev/null 2>said || status=$?
    is "$status" 2
    has "$(cat said)" '--help'
  done
  has "$(repo/check --help)" 'usage: ./check'
}

test_junit_that_is_cut_short_or_absent() {
  load_setup
  head -n 20 "$here/data/junit-mixed.xml" >cut.xml
  read_junit cut.xml && fail 'took half a file'
  read_junit absent.xml && fail 'took no file'
  is "$(read_junit "$here/data/junit-none.xml")" '0 0 0'
  is "$(read_junit "$here/data/junit-mixed.xml" | head -n 1)" '1 6 4'
}
