#!/usr/bin/env bash
# `weir bench` on a virtual cluster: bench_io_cluster.sh PATH-OF-WEIR PATH-OF-VCLUSTER. Skips (77) where none can be made.
set -uo pipefail
weir=$1
vcluster=$2
reason=$("$vcluster" check 2>&1) || { echo "SKIP: $reason"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir tmp state
export TMPDIR=$work/tmp
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
"$weir" bench tile-modified --vcluster 2x2 --mappings byslot,joint --tile 16x16 --element 256 --rate 400mbit --repeats 1 --samples 1 \
  --json out.json >out.txt 2>&1 </dev/null || failed "mappings: $(cat out.txt)"
python3 - <<'PYTHON' || failed 'out.json is not as it should be'
import json
rows = json.load(open("out.json"))["rows"]
assert [(row["mapping"], row["direction"]) for row in rows] == [
    ("byslot", "write"), ("byslot", "read"), ("joint", "write"), ("joint", "read")]
for row in rows:
    assert row["verified"] is True and row["communication_seconds"] > 0 and row["io_seconds"] > 0
    assert len(row["aggregators"]) == 2
    # The interfaces count headers and the barriers around the exchange, too.
    assert row["cross_node_bytes_model"] <= row["cross_node_bytes"] <= 1.05 * row["cross_node_bytes_model"] + 100_000, row
best = min(row["cross_node_bytes_model"] for row in rows)
assert all(row["cross_node_bytes_model"] == best for row in rows if row["mapping"] == "joint")
PYTHON
# Dynamic segmentation: with every group on one node nothing crosses.
"$weir" bench tile --vcluster 2x2 --mappings bynode,joint --algorithm segmented --tile 16x16 --rate 400mbit --repeats 1 --samples 1 \
  --json segmented.json >out.txt 2>&1 </dev/null || failed "segmented: $(cat out.txt)"
python3 - <<'PYTHON' || failed 'segmented.json is not as it should be'
import json
rows = json.load(open("segmented.json"))["rows"]
for row in rows:
    assert row["verified"] is True
    assert row["cross_node_bytes_model"] <= row["cross_node_bytes"] <= 1.05 * row["cross_node_bytes_model"] + 100_000, row
    assert (row["cross_node_bytes_model"] == 0) == (row["mapping"] == "joint"), row
PYTHON
# Configurations beside the MPI library's own: what crosses is what the model says, on the interfaces' own counters.
"$weir" bench hpio --vcluster 2x2 --configs T:,weir --against romio --regions 256 --rate 400mbit --repeats 1 --samples 1 \
  --json configs.json >out.txt 2>&1 </dev/null || failed "configurations: $(cat out.txt)"
python3 - <<'PYTHON' || failed 'configs.json is not as it should be'
import json
rows = json.load(open("configs.json"))["rows"]
assert [(row["config"], row["direction"]) for row in rows] == [
    (config, direction) for config in ("romio", "T:", "weir") for direction in ("write", "read")], rows
for row in rows:
    assert row["verified"] is True and row["mb_per_s"] > 0 and row["speedup_vs_best_mpiio"] > 0, row
    assert row["config"] == "romio" or row["cross_node_bytes_model"] is not None, row
    if row["config"] == "T:":  # enough of it that headers and the reductions around a call are within the 5%
        assert row["cross_node_bytes_model"] > 2_000_000, row
        assert row["cross_node_bytes_model"] <= row["cross_node_bytes"] <= 1.05 * row["cross_node_bytes_model"], row
    if row["config"] == "weir":
        assert row["cross_node_bytes"] <= 1.05 * row["cross_node_bytes_model"] + 100_000, row
PYTHON
"$vcluster" list | grep -q bench && failed "a cluster is left: $("$vcluster" list)"
[ -z "$(ls -A tmp)" ] || failed "left behind: $(find tmp)"
[ "$failures" = 0 ] || exit 1
echo 'all as expected'
