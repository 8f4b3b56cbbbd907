# shellcheck shell=bash
# The legs of ./check: each builds in one way, runs the tests, and adds to the totals. Sourced after all.sh.
# What tests say and the counts go to stdout; progress of the set-up to stderr.
# shellcheck disable=SC2154 # jobs, filter, minimum_tests and full come from ./check

# shellcheck source=tools/setup/count.sh
source "$setup_folder/count.sh"
# shellcheck source=tools/setup/debian13.sh
source "$setup_folder/debian13.sh"

total_passed=0 total_failed=0 total_skipped=0 too_few=0
leg_lines=()

# leg_result NAME PASSED FAILED SKIPPED SECONDS [REMARK]
leg_result() {
  local line
  (( total_passed += $2, total_failed += $3, total_skipped += $4 )) || true
  line=$(printf 'check: %-11s %s (%s)%s' "$1" "$(count_text "$2" "$3" "$4")" "$(elapsed_text "$5")" "${6:+: $6}")
  leg_lines+=("$line")
  printf '%s\n' "$line"
}

# why_not_leg NAME: prints why this leg cannot be run here; nothing when it can
why_not_leg() {
  case $1 in
    fuzz) command -v clang++ >/dev/null || echo "clang is not installed" ;;
    mpich) command -v mpicxx.mpich >/dev/null || echo "MPICH is not installed" ;;
    debian13) why_not_debian13 ;;
  esac
}

run_leg() {
  local name=$1 reason
  reason=$(why_not_leg "$name")
  if [[ -n $reason ]]; then leg_result "$name" 0 0 1 0 "skipped: $reason"
  elif [[ $name == debian13 ]]; then debian13_leg
  else preset_leg "$name"
  fi
}

# The tests labelled slow are run once in a full check, in the leg whose times mean something.
preset_leg() {
  local preset=$1 start=$SECONDS folder status=0
  folder=$(preset_folder "$preset")
  if ! build_preset "$preset" ON all; then
    leg_result "$preset" 0 1 0 $((SECONDS - start)) "did not build"
    return 0
  fi
  local arguments=(--test-dir "$folder" --output-on-failure --no-tests=ignore --timeout 600)
  local choice=(-j "$jobs")
  if [[ $full != yes || $preset != release ]]; then choice+=(-LE '^slow$'); fi
  if [[ -n $filter ]]; then choice+=(-R "$filter"); fi
  rm -f -- "$folder/junit.xml" "$folder/junit-again.xml"
  allow_mpi_as_root
  mortal ctest "${arguments[@]}" "${choice[@]}" --output-junit "$folder/junit.xml" </dev/null || status=$?
  if (( status != 0 )) && worth_a_second_try "$folder/junit.xml"; then
    printf 'check: what failed is tried once more, one test at a time\n'
    mortal ctest "${arguments[@]}" --rerun-failed -j 1 --output-junit "$folder/junit-again.xml" </dev/null || true
  fi
  report_leg "$preset" "$folder" "$status" $((SECONDS - start))
}

# A few failures may be a machine that others use as well; many are a fault, and would take long a second time.
worth_a_second_try() {
  local passed failed skipped
  read -r passed failed skipped < <(read_junit "$1") || return 1
  (( failed > 0 && failed <= 10 ))
}

# Open MPI refuses to start as root unless told twice. CI and chroots are root's.
allow_mpi_as_root() {
  if [[ $(id -u) == 0 ]]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi
}

# report_leg NAME FOLDER CTEST_STATUS SECONDS: a test failed if it failed whenever it was tried; one that did not is named all the same
report_leg() {
  local name=$1 folder=$2 status=$3 seconds=$4 notes passed failed skipped minimum
  if ! notes=$(read_junit "$folder/junit.xml"); then
    leg_result "$name" 0 1 0 "$seconds" "ctest ended with status $status and left no result"
    return 0
  fi
  read -r passed failed skipped <<<"${notes%%$'\n'*}"
  if (( status != 0 && failed == 0 )); then
    printf 'check: ctest ended with status %d although no test failed\n' "$status"
    failed=1
  fi
  if [[ $notes == *$'\n'* ]]; then printf '%s\n' "${notes#*$'\n'}" | sed 's/^/check: /'; fi
  count_second_tries "$folder/junit-again.xml"
  leg_result "$name" "$passed" "$failed" "$skipped" "$seconds"
  minimum=$(minimum_for "$name")
  enough_tests $((passed + failed)) "$minimum" || too_few=1
}

# count_second_tries JUNIT: moves tests from `failed` of the caller to its `passed` or `skipped`
count_second_tries() {
  local again more
  again=$(read_junit "$1") || return 0
  read -r more _ <<<"${again%%$'\n'*}"
  printf 'check: %d of %d failed tests passed when tried again\n' "$more" "$failed"
  (( passed += more, failed -= more )) || true
}

# minimum_for LEG: the whole set is expected of the ordinary builds only; a filter or builds of a part have fewer tests
minimum_for() {
  if [[ -n $filter || $1 == no-mpi || $1 == fuzz ]]; then echo 1; else echo "$minimum_tests"; fi
}

# finish_check: the legs once more if there were several, then the sum alone on the last line. Returns the verdict.
finish_check() {
  if (( ${#leg_lines[@]} > 1 )); then printf '\n'; printf '%s\n' "${leg_lines[@]}"; fi
  printf '%s\n' "$(count_text "$total_passed" "$total_failed" "$total_skipped")"
  (( total_failed == 0 && too_few == 0 ))
}
