#!/usr/bin/env bash
# `weir bench` as a user runs it, small: bench.sh PATH-OF-WEIR. Needs /usr/bin/python3.
set -uo pipefail
weir=$1
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

nothing_left() { [ -z "$(ls -A tmp)" ] || failed "$1 left behind: $(find tmp)"; }

has() { "$weir" version --json | grep -A3 "\"name\": \"$1\"" | grep -q '"available": true'; }

# check_json FILE CODE: Python code over `report` and `rows`; what it asserts must hold.
check_json() {
  /usr/bin/python3 - "$1" <<PYTHON || failed "$1 is not as it should be"
import json, sys
report = json.load(open(sys.argv[1]))
rows = report["rows"]
$2
PYTHON
}

expect 0 'stream.*hpcg|hpcg' "$weir" bench --help
expect 0 'Examples' "$weir" bench stream --help
expect 0 'Examples' "$weir" bench hpcg --help
expect 2 'subcommand' "$weir" bench

# Every backend, the example of the documents in small. In the sequential mapping nothing is hidden.
expect 0 'posix +sequential .*yes' "$weir" bench stream --mapping sequential --backend all --compare --verify \
  --size 100KiB --repeats 2 --json out.json --csv out.csv
check_json out.json '
import math
assert report["weir_bench"] == 1 and report["workload"] == "stream"
assert report["parameters"]["write_every_calibrated"] and report["parameters"]["compute_ranks"] == 1
names = [row["backend"] for row in rows]
assert "posix" in names and "mpiio" in names and len(names) == len(set(names))
for row in rows:
    assert row["mapping"] == "sequential" and row["verified"] is True and "failure" not in row
    assert row["wall_ratio"] == 1 and 0 < row["visible_io_ratio"] <= 1 and 0 < row["wall_ratio_ideal"] <= 1
    assert row["visible_io_with_close_ratio"] == 1
    assert row["compute_slowdown"] > 0 and row["transport_vs_memcpy"] is None
    assert row["parameters"]["loops"] == 4 * row["parameters"]["write_every"]
    for name in ("compute", "send", "wait", "open_close", "wall", "plain_triad", "memcpy_bytes_per_second"):
        low, high = row["quartiles"][name]
        assert low <= row["median"][name] <= high and len(row["samples"][name]) == 2
        assert min(row["samples"][name]) <= low and high <= max(row["samples"][name])
    assert math.isclose(row["median"]["compute"], sum(row["samples"]["compute"]) / 2)
    assert all(w >= s for w, s in zip(row["samples"]["wall"], row["samples"]["send"]))'
[ "$(wc -l < out.csv)" = $((1 + 2 * $(grep -c '"mapping"' out.json))) ] || failed "out.csv has $(wc -l < out.csv) lines"
head -1 out.csv | grep -q '^workload,mapping,backend,arrays,tests,round,verified,failure,.*,wall,wall_ratio,wall_ratio_ideal$' || failed "header of out.csv"
nothing_left 'a run of all backends'

# Mappings with servers and with threads: each asked for by its plan.
for mapping in consecutive oversubscribe thread; do
  expect 0 "posix +$mapping +weir +on .*yes" "$weir" bench stream --mapping "$mapping" --compare --verify --size 64KiB \
    --repeats 1 --tests both --json "$mapping.json"
  check_json "$mapping.json" "
assert report['parameters']['storage'] == 'cache'
assert [row['mapping'] for row in rows].count('sequential') == 1
assert sorted((row['arrays'], row['tests']) for row in rows if row['mapping'] == '$mapping') == [
    ('user', False), ('user', True), ('weir', False), ('weir', True)]
for row in rows:
    assert row['verified'] is True and row['visible_io_ratio'] > 0 and row['wall_ratio'] > 0 and row['compute_slowdown'] > 0"
done
# Data that is moved is measured; what the server reads where it lies, is not.
check_json consecutive.json '
for row in rows:
    moves = row["mapping"] == "consecutive" and row["arrays"] == "user"
    assert (row["transport_vs_memcpy"] or 0) > 0 if moves else row["transport_vs_memcpy"] is None
    floor = row["compute_slowdown_floor"]
    assert floor is None or floor > 0 and row["compute_over_floor"] > 0 and row["mapping"] == "consecutive"
    distance = row["core_distance_ns"]
    assert distance is None or distance > 1 and row["mapping"] == "consecutive"'
# Until the data is on the disk: the user's own wish is no part of the measurement.
expect 0 'until the data is on the disk' env WEIR_FSYNC=nonsense "$weir" bench stream --mapping consecutive --compare \
  --verify --size 64KiB --repeats 1 --storage disk --json disk.json
check_json disk.json '
assert report["parameters"]["storage"] == "disk"
assert all(row["verified"] is True for row in rows)'
expect 2 'cache' "$weir" bench stream --storage tape
expect 0 'want cores of their own|posix +consecutive' "$weir" bench stream -n 3 --mapping consecutive --size 8KiB --repeats 1 --verify
expect 0 'thread +.*yes' "$weir" bench stream --mapping all --size 8KiB --repeats 1 --verify
nothing_left 'mappings'

# Pictures, where the build draws them; where not, that is said before anything runs.
if "$weir" bench stream --size 64KiB --repeats 1 --plot figure > plot.txt 2>&1; then
  for file in figure-wall.png figure-wall.svg figure-breakdown.png figure-breakdown.svg; do
    [ -s "$file" ] || failed "no $file"
  done
else
  grep -q 'this build draws no charts' plot.txt || failed "plot: $(cat plot.txt)"
fi

# Reports that could not be stored are noticed before anything runs.
expect 1 'x-breakdown.svg' bash -c "mkdir -p x-breakdown.svg && '$weir' bench stream --size 64KiB --plot x --mapping sequential"
expect 2 'the same file' "$weir" bench stream --size 64KiB --plot y --json y-wall.png --mapping sequential
expect 1 'create a file' "$weir" bench stream --size 64KiB --json /proc/y --mapping sequential

# Loops and writes as said; strong scaling shares the array.
expect 0 'shared by all' "$weir" bench stream -n 3 --strong --size 1000 --loops 7 --write-every 3 --mapping sequential \
  --repeats 1 --verify --json strong.json
check_json strong.json '
assert report["parameters"]["scaling"] == "strong" and report["parameters"]["array_bytes_of_all_ranks"] == 1000
assert rows[0]["parameters"] == {"loops": 7, "write_every": 3, "writes": 3, "spread": False}
assert rows[0]["verified"] is True and rows[0]["compute_slowdown"] is None'

# Writes that are spread over loops that do not hold all of them; two rhythms where none is asked for.
expect 0 'yes' "$weir" bench stream --order spread --loops 7 --write-every 5 --mapping sequential --size 8KiB --repeats 1 --verify
check_json consecutive.json '
assert report["parameters"]["slowdown_array_bytes_of_all_ranks"] == 65536, "as the user says"
for row in rows:
    assert row["parameters"]["slowdown_write_every"] == max(10, row["parameters"]["write_every"])
    assert row["compute_slowdown_busy"] > 0'

# Arrays that the loops do not come to are no error.
expect 0 'yes' "$weir" bench stream --order spread --loops 3 --write-every 10 --mapping sequential --size 8KiB --repeats 1 --verify

# Kept files are those that other commands read. Of a folder that the user named, only what is the benchmark's own is removed.
mkdir -p kept
touch kept/thesis.partial.tex kept/stream-sequential-posix.dat.partial.abcdefgh
expect 0 'verified' "$weir" bench stream --mapping sequential --size 8KiB --loops 4 --write-every 2 --repeats 1 --verify --keep \
  --folder kept
expect 0 'triad +float64 +\[1024\] +2 \(0,2\)' "$weir" ls kept/stream-sequential-posix.dat
rm kept/thesis.partial.tex || failed "kept: $(ls kept)"
[ -z "$(find kept -name '*warm-up*' -o -name '*.partial.*')" ] || failed "kept: $(ls kept)"
# So are those of a comparison, measured where they are to be, and nothing else.
expect 0 'verified' "$weir" bench stream --mapping consecutive --compare --arrays user --size 8KiB --repeats 1 --verify --keep --folder kept2
[ -z "$(find kept2 -mindepth 1 ! -name 'stream-*-posix.dat' ! -name 'stream-*-posix.dat.json')" ] || failed "kept2: $(ls -A kept2)"
nothing_left 'kept files'
# Numbers that become too small for the processor are solved, not wrong.
expect 0 'yes' "$weir" bench hpcg -n 1 --grid 8 --sets 2 --iterations 500 --repeats 1 --verify --mapping sequential

# HPCG: matrix and solution.
expect 0 'Valid: symmetry' "$weir" bench hpcg -n 2 --mapping sequential --grid 8 --sets 2 --repeats 1 --compare --verify \
  --keep --folder kept --json hpcg.json
expect 0 'matrix +float64 +\[16, 8, 8, 27\] +2' "$weir" ls kept/hpcg-sequential-posix.dat
expect 0 'x +float64 +\[16, 8, 8\] +2' "$weir" ls kept/hpcg-sequential-posix.dat
check_json hpcg.json '
row = rows[0]
assert report["parameters"]["levels"] == 4 and row["verified"] is True
assert row["median"]["memory_traffic_bytes"] > 0 and row["median"]["effective_bytes_per_second"] > 0
assert row["median"]["symmetry_matrix"] <= 1 and row["median"]["validation_residual"] < 1e-9
assert row["compute_slowdown"] > 0'
if has hdf5; then
  expect 0 'hdf5 +consecutive .*yes' "$weir" bench hpcg -n 2 --mapping consecutive --backend hdf5 --verify --grid 8 --repeats 1
fi
expect 0 '3 levels' "$weir" bench hpcg -n 3 --strong --grid 16,8,12 --mapping sequential --sets 1 --repeats 1 --verify
nothing_left 'hpcg'

# What a user can get wrong is told before anything runs.
expect 2 "did you mean 'consecutive'" "$weir" bench stream --mapping consecutiv
expect 2 "posix" "$weir" bench stream --backend posx
expect 2 "stores no files" "$weir" bench stream --backend null
expect 2 "neither 'auto', nor '1x'" "$weir" bench stream --write-every often
expect 2 "neither 'auto', nor '1x'" "$weir" bench stream --write-every 0x
expect 2 'not a quantity' "$weir" bench stream --size many
expect 2 'from 8 bytes' "$weir" bench stream --size 7
expect 2 'on off both|\{on,off,both\}|tests' "$weir" bench stream --tests maybe
expect 2 'contradicts' "$weir" bench stream --arrays user --weir-arrays
expect 2 'the same file' "$weir" bench stream --json both.txt --csv ./both.txt
expect 2 'is not a size' "$weir" bench hpcg --grid big
expect 2 'use one or three' "$weir" bench hpcg --grid 8,8
expect 2 'cannot be shared' "$weir" bench hpcg -n 7 --strong --grid 6 --mapping sequential
expect 1 'No such file' "$weir" bench stream --folder /no/such/folder --mapping sequential
expect 1 'No such file' "$weir" bench stream --json /no/such/folder/out.json --mapping sequential
expect 1 'files need about' "$weir" bench stream --size 32TiB --mapping sequential
if ! "$weir" bench stream --mapping hyperthread --size 8KiB --repeats 1 --verify > hyper.txt 2>&1; then
  grep -q 'needs two hardware threads a core' hyper.txt || failed "hyperthread: $(cat hyper.txt)"
fi
nothing_left 'wrong arguments'

# A full disk: an error that says so, and nothing stays.
if mkdir small && mount -t tmpfs -o size=3m tmpfs small 2> /dev/null; then
  expect 1 'has .* free' "$weir" bench stream --size 1MiB --mapping sequential --folder small --repeats 1
  # Room enough at first, but somebody else takes it meanwhile.
  "$weir" bench stream --size 32KiB --loops 8 --write-every 1 --mapping sequential --folder small --repeats 100 > full.txt 2>&1 &
  bench=$!
  # It looks at the free space between making its folder and the first file.
  for _ in $(seq 200); do [ -n "$(find small -type f 2> /dev/null)" ] && break; sleep 0.05; done
  # Again and again: what the benchmark removes after a round would be room for the next one.
  while kill -0 $bench 2> /dev/null; do cat /dev/zero >> small/other 2> /dev/null; sleep 0.02; done
  wait $bench && failed 'a full disk: the benchmark exits with 0'
  grep -q 'No space left' full.txt || failed "a full disk: $(cat full.txt)"
  rm -f small/other
  [ -z "$(ls -A small)" ] || failed "a full disk: left behind $(ls small)"
  umount small
fi

# Ended by a signal, it takes its ranks and its folders with it.
"$weir" bench stream --mapping sequential --size 32MiB --loops 40 --write-every 1 --repeats 99 > /dev/null 2>&1 &
bench=$!
for _ in $(seq 100); do [ -n "$(find tmp -name '*.partial.*')" ] && break; sleep 0.1; done
kill -TERM $bench || failed 'the benchmark ended before it could be ended'
wait $bench && failed 'a benchmark that was ended exits with 0'
nothing_left 'a benchmark that was ended'

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
