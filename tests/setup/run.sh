#!/usr/bin/env bash
# Tests of ./weir, ./check and tools/setup, without network, root or compiler: what they call is faked.
#   run.sh               runs all
#   run.sh --list        names them
#   run.sh NAME...       runs these
# Each test is a function test_NAME in one of the *.test.sh files, run in a process of its own in an empty folder of its own.
set -uo pipefail

here=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd -P -- "$here/../.." && pwd)
export LC_ALL=C
unset WEIR_CACHE WEIR_RETRY WEIR_INSTALL XDG_CACHE_HOME CXX CXXFLAGS CI

# shellcheck source=tests/setup/support.sh
source "$here/support.sh"
for file in "$here"/*.test.sh; do
  # shellcheck source=/dev/null
  source "$file"
done

all_tests() { declare -F | sed -n 's/^declare -f test_//p'; }

if [[ ${1:-} == --list ]]; then all_tests; exit; fi
if (( $# == 0 )); then mapfile -t chosen < <(all_tests); else chosen=("$@"); fi

top=$(mktemp -d)
trap 'rm -rf -- "$top"' EXIT
failed=0
for name in "${chosen[@]}"; do
  mkdir -- "$top/$name"
  start=${EPOCHREALTIME/./}
  if (set -euo pipefail; SECONDS=0; work=$top/$name; cd -- "$work"; "test_$name") >"$top/output" 2>&1 </dev/null; then
    printf 'ok      %s (%d ms)\n' "$name" $(((${EPOCHREALTIME/./} - start) / 1000))
  else
    printf 'FAILED  %s\n' "$name"
    sed 's/^/        /' "$top/output"
    (( ++failed ))
  fi
done
printf 'setup: %d passed, %d failed\n' $((${#chosen[@]} - failed)) "$failed"
(( failed == 0 ))
