#!/usr/bin/env bash
# weir record as a user meets it when things go wrong: command.sh WEIR CALLS. Needs $MPIEXEC.
set -uo pipefail
weir=$1 calls=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export XDG_DATA_HOME=$work/data
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
expect 0 'Examples' "$weir" record --help
expect 2 'no program' "$weir" record
expect 2 'runs no program' "$weir" record --show a -- true
expect 1 'No such file' "$weir" record --show absent
echo garbage >garbage
expect 1 'garbage' "$weir" record --show garbage
expect 1 'no MPI_Finalize' "$weir" record -o none -- true
expect 3 'code 3' "$weir" record -o none -- sh -c 'exit 3'
expect 127 'cannot start' "$weir" record -o none -- /no/such/launcher
expect 1 'No such file' "$weir" record -o no/such/folder/recording -- true
expect 1 'Is a directory' "$weir" record -o . -- true
expect 1 'not beside|No such file' env WEIR_MPIIO_LIBRARY=/no/such/library.so "$weir" record -o none -- true
expect 1 'no recording|absent' "$weir" record -o none -- "$MPIEXEC" -n 2 "$calls" /no/such/folder
[ ! -e none ] || failed 'a recording of nothing is there'
mkdir files
expect 0 '"recording": "good"' "$weir" record -o good --json -- "$MPIEXEC" -n 2 "$calls" files
expect 0 'type-darray_block' "$weir" record --show good
expect 0 '"pieces"' "$weir" record --show good --json
# Calls are counted, and taken for what they are: three like parts in three calls; halves of split calls are one.
expect 0 'form-at_all_split +written .* 3$' "$weir" record --show good
expect 0 'form-ordered +read .* 3$' "$weir" record --show good
expect 0 'form-at +written .* 0$' "$weir" record --show good
expect 0 'like parts that 3 collective calls share' "$weir" plan --pattern good --file files/steps --platform 2x2
expect 0 'cross' "$weir" plan --pattern good --file files/steps --platform 2x2 --calls 1
mkfifo pipe
expect 2 'device or a pipe' "$weir" record -o pipe -- "$MPIEXEC" -n 2 "$calls" files
[ -p pipe ] || failed 'a pipe was replaced by a recording'
head -c 100 good >short
expect 1 'short' "$weir" record --show short
# What is cut off, spoilt or of another job makes no plan, and writes nothing.
size=$(stat -c %s good)
for part in 0 7 12 $((size / 2)) $((size - 1)); do
  head -c "$part" good >short
  expect 1 'short' "$weir" plan --pattern short --platform 2x2 --emit openmpi-rankfile -o never --json never --svg never
done
{ head -c 8 good; printf '\7'; tail -c +10 good; } >newer
expect 1 'newer.*version 7' "$weir" plan --pattern newer --platform 2x2 -o never
expect 2 'grid has 9 places, the pattern 2 ranks' "$weir" plan --pattern good --grid 3x3 --platform 2x8 --emit cray -o never
expect 2 'do not fit' "$weir" plan --pattern good --platform 1x1 --emit cray -o never
expect 1 "did you mean 'files/loop'" "$weir" plan --pattern good --file files/lop --platform 2x2 --emit cray -o never
[ ! -e never ] || failed 'something was written'
# weir run --collective
expect 2 'no program' "$weir" run --collective
expect 2 '--collective' "$weir" run --collective=Q:agg -- "$MPIEXEC" true
expect 0 'LD_PRELOAD.*libweir-mpiio.so.*WEIR_COLLECTIVE' "$weir" run --collective --dry-run -- "$MPIEXEC" -n 2 "$calls"
expect 0 'WEIR_REQ.4.*WEIR_RR.1.*WEIR_TWO_PHASE.T' "$weir" run --collective=T:rr=1,req=4 --dry-run -- "$MPIEXEC" true
expect 0 'WEIR_CB_BUFFER.64KiB.*WEIR_DOMAINS.cyclic' "$weir" run --collective=T:buffer=64KiB,domains=cyclic --dry-run -- "$MPIEXEC" true
expect 0 'where the time went' "$weir" run --collective -- "$MPIEXEC" -n 2 "$calls" files
expect 0 'note: req=2 changes nothing: 2 ranks' env WEIR_REQ=2 WEIR_TWO_PHASE=N "$weir" run --collective -- "$MPIEXEC" -n 2 "$calls" files
echo '{"weir_plan": 1, "ranks": 2, "aggregators": {"ranks": "1"}, "throttle": {"requests_per_target": 1}}' >plan.json
expect 0 'where the time went' env WEIR_PLAN="$PWD/plan.json" "$weir" run --collective -- "$MPIEXEC" -n 2 "$calls" files
expect 1 'plan.json.*WEIR_PLAN.*2 ranks|WEIR_PLAN.*plan.json' env WEIR_PLAN="$PWD/plan.json" "$weir" run --collective -- "$MPIEXEC" -n 3 "$calls" files
expect 5 '' "$weir" run --collective -- sh -c 'exit 5'

[ -z "$(find . -name '*.partial.*')" ] || { echo "FAILED: left behind: $(find . -name '*.partial.*')"; failures=$((failures + 1)); }

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
