#!/usr/bin/env bash
# The I/O workloads of `weir bench` as a user runs them, small: bench_io.sh PATH-OF-WEIR. Needs python3.
set -uo pipefail
weir=$1
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

# check_json FILE CODE: Python code over `report` and `rows`; what it asserts must hold.
check_json() {
  python3 - "$1" <<PYTHON || failed "$1 is not as it should be"
import json, sys
report = json.load(open(sys.argv[1]))
rows = report["rows"]
$2
PYTHON
}

nothing_left() { [ -z "$(ls -A tmp)" ] || failed "$1 left behind: $(find tmp)"; }

for workload in tile tile-modified btio ior hpio; do expect 0 'Examples' "$weir" bench "$workload" --help; done

# Every workload once, written and read and compared byte by byte.
expect 0 'original +write .* yes' "$weir" bench tile -n 4 --tile 9x7 --element 33 --repeats 1 --samples 1 --json tile.json --csv tile.csv
check_json tile.json '
assert report["workload"] == "tile" and report["parameters"]["processes"] == [2, 2] and report["parameters"]["block"] == [9, 7]
assert [(row["config"], row["direction"]) for row in rows] == [("original", "write"), ("original", "read")]
for row in rows:
    assert row["verified"] is True and row["mb_per_s"] > 0 and row["speedup_vs_best_mpiio"] == 1
    assert row["cross_node_bytes"] is None and row["cross_node_bytes_model"] is None
    assert row["samples"]["bytes"] == [4 * 9 * 7 * 33]'
[ "$(wc -l <tile.csv)" = 3 ] || failed "tile.csv has $(wc -l <tile.csv) lines"
expect 0 'read .* yes' "$weir" bench btio -n 4 --points 7 --steps 2 --repeats 1 --samples 1
expect 0 'strided.*' "$weir" bench ior -c -n 3 -t 1000 -b 3000 -s 2 --strided --repeats 1 --samples 1
expect 0 'read .* - *$' "$weir" bench hpio -n 2 --regions 9 --repeats 1 --samples 1 --no-verify
if "$weir" bench tile-modified -n 3 --tile 5x5 --element 10 --permute 3 --repeats 1 --samples 1 --plot figure >plot.txt 2>&1; then
  grep -qE 'read .* yes' plot.txt || failed "tile-modified: $(cat plot.txt)"
  [ -s figure.png ] && [ -s figure.svg ] || failed 'no pictures'
else
  grep -q 'this build draws no charts' plot.txt || failed "plot: $(cat plot.txt)"
fi
nothing_left 'workloads'

# The MPI library's own implementations beside each other.
if [ "${MPI_FAMILY:-openmpi}" = openmpi ]; then
  expect 0 'romio +read .* yes' "$weir" bench tile -n 2 --tile 8x8 --repeats 1 --samples 1 --against ompio,romio --json against.json
  check_json against.json '
assert [row["config"] for row in rows] == ["ompio", "ompio", "romio", "romio"]
for direction in ("write", "read"):
    assert max(row["speedup_vs_best_mpiio"] for row in rows if row["direction"] == direction) == 1'
fi
# Weir's own, left to itself and as said.
expect 0 'T:req=1,cb_nodes=1 +read .* yes' "$weir" bench hpio -n 3 --regions 9 --repeats 1 --samples 1 --configs original,weir,T:req=1,cb_nodes=1 \
  --json configs.json
check_json configs.json '
assert [row["config"] for row in rows][::2] == ["original", "weir", "T:req=1,cb_nodes=1"]
assert all(row["verified"] is True and row["speedup_vs_best_mpiio"] > 0 for row in rows)
said = "T:req=1,cb_nodes=1: req=1 changes nothing: 1 aggregator cannot make more requests to 1 storage target at a time."
assert said in report["notes"] and sum("changes nothing" in note for note in report["notes"]) == 1, report["notes"]'

# What a user can get wrong is told before anything runs.
expect 2 'on one node every mapping is the same' "$weir" bench tile --mappings all
expect 2 "is no size" "$weir" bench tile --tile big
expect 2 "6 tiles|for 4 ranks" "$weir" bench tile -n 4 --grid 2x3
expect 2 'no square' "$weir" bench btio -n 3
expect 2 'no multiple' "$weir" bench ior -t 7 -b 10
expect 2 'is not above 0' "$weir" bench hpio --regions 0
expect 2 "is no configuration" "$weir" bench hpio --configs fast
expect 2 "no 'reqq'.*did you mean 'req'" "$weir" bench hpio --configs T:reqq=4
expect 2 "requests|req|WEIR_REQ" "$weir" bench hpio --configs T:req=many
expect 2 "unknown 'nonsense'|no 'nonsense'" "$weir" bench hpio --against nonsense
expect 2 'is no cluster|is no size' "$weir" bench tile --vcluster many
expect 2 "joint" "$weir" bench tile --vcluster 2x2 --mappings joimt
expect 1 'No such file' "$weir" bench tile -n 2 --json /no/such/folder/out.json
expect 1 'No such file' "$weir" bench tile -n 2 --folder /no/such/folder
expect 1 'files need about' "$weir" bench tile -n 1 --tile 1000000x1000000 --element 1MiB
nothing_left 'wrong arguments'

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
