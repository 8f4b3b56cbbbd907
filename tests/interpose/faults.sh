#!/usr/bin/env bash
# faults.sh WEIR FAULTS OPENING: the cases of faults.cpp and opening.cpp. Needs $MPIEXEC.
set -uo pipefail
weir=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
# run CASE RANKS CODE [VARIABLE...]
run() {
  local case=$1 ranks=$2 code=$3 actual
  shift 3
  rm -rf "$work/files"
  mkdir "$work/files"
  output=$(timeout -k 5 60 env "$@" "$weir" run --no-record --collective -- "$MPIEXEC" -n "$ranks" "$program" "$case" "$work/files" 2>&1 </dev/null)
  actual=$?
  if [ "$code" = 0 ] && [ "$actual" = 0 ] && grep -q 'as expected' <<<"$output"; then return; fi
  if [ "$code" != 0 ] && [ "$actual" != 0 ] && [ "$actual" != 124 ] && ! grep -q 'came to an end' <<<"$output"; then return; fi
  failures=$((failures + 1))
  printf 'FAILED: %s on %s ranks, code %s:\n%s\n' "$case" "$ranks" "$actual" "$output" | head -40
}
run full 3 0
run full 1 0
run begun_twice 2 0
run throws 2 0
run threads_full 3 0
run threads_wrong_argument 3 0
run threads_deep_type 3 0
run read_only 2 0
run wrong_hint 2 0
run useless_hint 2 0
[ "$(grep -c "libweir-mpiio: hint cb_nodes: '-1' .*(the hint is ignored)" <<<"$output")" = 1 ] ||
  { printf 'FAILED: the useless hint is not named once:\n%s\n' "$output" | head -40; failures=$((failures + 1)); }
run wrong_environment 2 0 WEIR_REQ=lots
run wrong_argument 3 0
run short_read 3 0
run named_driver 2 0
run many_files 7 0
run left_alone 2 0
run odd_view 3 0
run odd_view 3 0 OMPI_MCA_io=^ompio
run waits 2 0
run dies 3 1
# needs WORDS: in what the last one said
needs() { grep -q "$1" <<<"$output" || { printf "FAILED: nobody said '%s':\n%s\n" "$1" "$output" | head -40; failures=$((failures + 1)); }; }
run stops 3 1 WEIR_TIMEOUT=1s
needs "collective write of '$work/files/stops': rank 2 (process [0-9]*) is stopped"
run stops 3 1 WEIR_TIMEOUT=1s WEIR_TEAM=1
needs "collective write of '$work/files/stops': the node of rank 2 does not answer"
output=$(env WEIR_COLLECTIVE=perhaps LD_PRELOAD="$(dirname "$weir")/../lib/libweir-mpiio.so" "$program" wrong_hint "$work/files" 2>&1 </dev/null)
grep -q "WEIR_COLLECTIVE is 'perhaps'" <<<"$output" || { echo "FAILED: WEIR_COLLECTIVE=perhaps: $output"; failures=$((failures + 1)); }
program=$3
run between_groups 3 0
run device 2 0
run aggregators 2 0
run wrong_aggregators 2 0 WEIR_AGGREGATORS=0,99
run in_use 2 0 WEIR_REQ=4 WEIR_CB_NODES=1 WEIR_AGG=1 WEIR_STRIPING_UNIT=65536 WEIR_STRIPING_FACTOR=2 WEIR_CB_BUFFER=64KiB
# once WORDS: said by one rank, one time
once() { [ "$(grep -c "$1" <<<"$output")" = 1 ] || { printf "FAILED: not said once: '%s':\n%s\n" "$1" "$output" | head -40; failures=$((failures + 1)); }; }
once 'libweir-mpiio: hint weir_two_phase=nonsense of MPI_File_set_info: .*(the hint is ignored)'
run hints_of_one 3 0 OMPI_MCA_io=^ompio
run hints_of_one 3 0
once 'libweir-mpiio: hint cb_nodes of MPI_File_open differs between ranks'
run without_first 4 0 WEIR_TEAM=1 WEIR_TWO_PHASE=T WEIR_CB_NODES=1
once 'collective I/O of 1 file: 24 B in 3 calls of 4 ranks; .*; 16 B between nodes (16 B by the file domains)'
run striped_exclusively 1 0
run striped_exclusively 3 0
run striped_exclusively 3 0 OMPI_MCA_io=^ompio
run returns_at_once 3 0
once '3 non-blocking calls were left to the MPI library, .*(WEIR_NONBLOCKING=on '
needs 'collective I/O of 1 file: 9 B in 3 calls'
run returns_at_once 3 0 WEIR_NONBLOCKING=on
needs 'collective I/O of 1 file: 12 B in 6 calls'
run wrong_nonblocking 2 0 WEIR_NONBLOCKING=perhaps
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
