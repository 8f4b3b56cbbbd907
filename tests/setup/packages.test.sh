# shellcheck shell=bash
# Debian packages: what is missing, and what is said or done about it.
# shellcheck disable=SC2154,SC2317

test_packages_missing_are_found_with_one_query() {
  load_setup
  fake_dpkg libhwloc-dev libcairo2-dev libgtest-dev pkg-config
  is "$(missing_packages build)" $'must libhwloc-dev\npart libcairo2-dev' # pkgconf serves for pkg-config
  is "$(call_count dpkg-query)" 1
  has "$(missing_packages build test)" 'must libgtest-dev'
}

test_packages_all_there_calls_no_apt() {
  load_setup
  fake_dpkg
  fake apt-get <<<'exit 1'
  is "$(ensure_packages build test full 2>&1)" ''
  is "$(call_count apt-get)" 0
}

test_packages_without_root_says_the_line_and_goes_on() {
  load_setup
  fake_dpkg libcairo2-dev libhdf5-openmpi-dev
  fake_user 1000
  fake apt-get <<<'exit 1'
  said=$(ensure_packages build 2>&1)
  has "$said" 'apt-get install --no-install-recommends libhdf5-openmpi-dev libcairo2-dev'
  is "$(call_count apt-get)" 0
}

test_packages_are_installed_without_questions() {
  load_setup
  fake_dpkg libcairo2-dev libfmt-dev
  fake_user 0
  fake apt-cache <<<'echo "  Candidate: 1.0"'
  # shellcheck disable=SC2016
  fake apt-get <<<'echo "$DEBIAN_FRONTEND" >>'"$work/frontend"'; if [[ $* == *" install "* ]]; then : >'"$work/missing"'; fi'
  said=$(ensure_packages build 2>&1)
  has "$said" 'installing 2 Debian packages'
  lacks "$said" 'administrator'
  is "$(call_count apt-get)" 2
  has "$(calls apt-get)" '--no-install-recommends'
  has "$(calls apt-get)" 'install libfmt-dev libcairo2-dev'
  is "$(sort -u frontend)" noninteractive
}

test_packages_wait_for_apt_lock_and_try_again() {
  load_setup
  fake_dpkg libfmt-dev
  fake_user 0
  fake apt-cache <<<'echo "  Candidate: 1.0"'
  fake apt-get <<SCRIPT
if (( \$(wc -l <"$work/calls/apt-get") == 1 )); then echo "E: Could not get lock /var/lib/apt/lists/lock"; exit 100; fi
if [[ \$* == *" install "* ]]; then : >"$work/missing"; fi
SCRIPT
  ensure_packages build
  is "$(call_count apt-get)" 3
}

test_packages_mend_an_interrupted_dpkg() {
  load_setup
  sleep() { :; }
  fake_dpkg libfmt-dev
  fake_user 0
  fake apt-cache <<<'echo "  Candidate: 1.0"'
  fake dpkg <<<": >$work/mended"
  fake apt-get <<SCRIPT
[[ \$* == *" install "* ]] || exit 0
if [[ ! -e $work/mended ]]; then echo "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem."; exit 100; fi
: >"$work/missing"
SCRIPT
  said=$(ensure_packages build 2>&1)
  is "$(calls dpkg)" '--configure -a'
  lacks "$said" administrator
}

test_packages_one_unknown_name_costs_only_itself() {
  load_setup
  sleep() { :; }
  fake_dpkg libfmt-dev libcairo2-dev
  fake_user 0
  # shellcheck disable=SC2016
  fake apt-cache <<<'if [[ $* == *cairo* ]]; then echo "  Candidate: (none)"; else echo "  Candidate: 1.0"; fi'
  fake apt-get <<SCRIPT
if [[ \$* == *libcairo2-dev* ]]; then echo "E: Unable to locate package"; exit 100; fi
if [[ \$* == *" install "* ]]; then echo libcairo2-dev >"$work/missing"; fi
SCRIPT
  said=$(ensure_packages build 2>&1)
  has "$said" 'apt-get install --no-install-recommends libcairo2-dev'
  lacks "$(tail -n 1 <<<"$said")" libfmt-dev
}

test_packages_failure_is_not_repeated_at_once() {
  load_setup
  sleep() { :; }
  fake_dpkg libfmt-dev
  fake_user 0
  fake apt-cache <<<'echo "  Candidate: 1.0"'
  fake apt-get <<<'echo "E: no network"; exit 100'
  ensure_packages build
  tried=$(call_count apt-get)
  ensure_packages build
  is "$(call_count apt-get)" "$tried"
  WEIR_RETRY=1 ensure_packages build
  (( $(call_count apt-get) > tried )) || fail "WEIR_RETRY=1 did not try again"
}

# only_these PROGRAM...: a PATH with nothing else
only_these() {
  local program
  mkdir -p bin
  for program in "$@"; do ln -s "$(command -v "$program")" "bin/$program"; done
  PATH=$work/bin
}

test_packages_on_another_system() {
  load_setup
  only_these awk bash
  said=$(ensure_packages build 2>&1)
  has "$said" 'not a Debian system'
  has "$said" libcli11-dev
}

test_packages_nothing_can_be_built_without_a_compiler() {
  load_setup
  only_these bash
  said=$(require_tools openmpi 2>&1) && fail 'went on without a compiler'
  has "$said" 'cannot build without a C++ compiler (g++), cmake, ninja (ninja-build), MPI (libopenmpi-dev)'
  lacks "$(require_tools none 2>&1)" MPI
}
