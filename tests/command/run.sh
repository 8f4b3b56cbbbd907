#!/usr/bin/env bash
# The command as a user runs it: run.sh PATH-OF-WEIR FOLDER-OF-EXAMPLES. Needs $MPIEXEC.
set -uo pipefail
weir=$1
examples=$2
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

has() { "$weir" version --json | grep -A3 "\"name\": \"$1\"" | grep -q '"available": true'; }

expect 0 'Start here' "$weir" --help
expect 0 'weir 0\.' "$weir" --version
expect 0 'posix +yes' "$weir" version
expect 0 'options of hdf5|deflate|alignment' "$weir" version --backends
expect 2 'nosuch' "$weir" nosuch
expect 2 'Start here' "$weir"
expect 0 'complete -F _weir weir' "$weir" completion
bash -c "source <('$weir' completion); COMP_WORDS=(weir plat); COMP_CWORD=1; _weir; [ \"\${COMPREPLY[*]}\" = platform ]" || {
  echo 'FAILED: completion of "weir plat"'
  failures=$((failures + 1))
}
"$weir" completion | grep -q -- --as-rank && { echo 'FAILED: completion offers what is not for people'; failures=$((failures + 1)); }
for command in demo ls cat verify plan platform run version completion; do expect 0 'Usage|Options' "$weir" "$command" --help; done

# The examples, and their files through every reading command.
files=(wave.dat)
has hdf5 && files+=(wave.h5)
has adios2-bp5 && files+=(wave.bp)
for file in "${files[@]}"; do
  expect 0 "wrote and read $file" "$MPIEXEC" -n 3 "$examples/wave" "$file"
  expect 0 'wave +float64 +\[1000\] +3 \(0,1,2\) +23\.4 KiB +xxh3' "$weir" ls "$file"
  expect 0 '"steps"' "$weir" ls "$file" --json
  expect 0 '^0\.01|^0 0\.0099' "$weir" cat "$file" wave --step 0 --offset 0 --count 5
  expect 0 'ok +wave: 9 blocks, 23\.4 KiB' "$weir" verify "$file"
  expect 2 'say which step' "$weir" cat "$file" wave
  expect 1 "no step 7" "$weir" cat "$file" wave --step 7
  expect 2 'lies outside' "$weir" cat "$file" wave --step 0 --offset 999 --count 5
  expect 1 "did you mean 'wave'" "$weir" cat "$file" wav
  expect 0 '"type":"float64","step":2,"offset":\[1\],"count":\[3\],' "$weir" cat "$file" wave --step 2 --offset 1 --count 3 --json
  "$weir" cat "$file" wave --step 2 --json | python3 -c 'import json, sys; assert len(json.load(sys.stdin)["values"]) == 1000' ||
    { echo "FAILED: cat --json of $file is no JSON"; failures=$((failures + 1)); }
  size=$("$weir" cat "$file" wave --step 1 --raw | wc -c)
  [ "$size" = 8000 ] || { echo "FAILED: cat --raw of $file gave $size bytes"; failures=$((failures + 1)); }
done
expect 0 'wrote heat.dat' "$MPIEXEC" -n 4 "$examples/heat" heat.dat
expect 0 '6 \(0\.\.100 by 20\)' "$weir" ls heat.dat
expect 1 'No such file' "$MPIEXEC" -n 2 "$examples/heat" no/such/folder/heat.dat
expect 1 'No such file' "$weir" ls absent.h5
expect 1 'no backend recognises' "$weir" ls "$weir"
expect 1 'No space left' bash -c "'$weir' version --backends > /dev/full"

# A flipped byte is found, and named.
printf 'x' | dd of=wave.dat bs=1 seek=100 conv=notrunc status=none
expect 1 "DAMAGED|variable 'wave', step 0" "$weir" verify wave.dat

# A plan in the environment chooses the backend; one that the job cannot follow is refused.
echo '{"weir_plan": 1, "backend": {"name": "posix", "options": {"alignment": "4096"}}}' > plan.json
expect 0 'wrote' env WEIR_PLAN=plan.json "$MPIEXEC" -n 2 "$examples/heat" planned.h5
expect 0 'planned.h5: posix' "$weir" ls planned.h5
echo '{"weir_plan": 1, "mode": "servers"}' > plan.json
# Of all ranks: six writes of 200 x 150 doubles, each by two ranks.
expect 0 '^weir: 1\.4 MiB in 12 writes to 1 file; writing took' env WEIR_PLAN=plan.json WEIR_SUMMARY=1 "$MPIEXEC" -n 3 "$examples/heat" planned.h5
expect 0 '[0-9]% was hidden$' env WEIR_PLAN=plan.json WEIR_SUMMARY=1 "$MPIEXEC" -n 3 "$examples/heat" planned.h5
expect 0 'planned.h5: hdf5' "$weir" ls planned.h5
expect 1 'rank' env WEIR_PLAN=plan.json "$MPIEXEC" -n 1 "$examples/heat" planned.h5
echo '{"weir_plan": 1, "mode": "thread"}' > plan.json
expect 0 'wrote' env WEIR_PLAN=plan.json "$MPIEXEC" -n 2 "$examples/heat" planned.h5

# The demo, small, with and without files left.
printf '{"weir_plan":1,"mode":"servers"}' > servers.json
expect 0 'posix +demo-posix.dat +[0-9]+ +[0-9]+ +yes' env WEIR_PLAN="$PWD/servers.json" "$weir" demo --storage-only -n 3 --size 1MiB
rm servers.json
expect 0 'posix +demo-posix.dat +[0-9]+ +[0-9]+ +yes' "$weir" demo --storage-only -n 3 --size 1MiB --keep
expect 0 'temperature +float64' "$weir" ls weir-demo/demo-posix.dat
expect 0 '"verified": true' "$weir" demo -n 2 --size 100KiB --steps 1 --json
expect 2 'not a quantity' "$weir" demo --size many
expect 1 'needs about' "$weir" demo --size 2305843009213693952 --steps 1
expect 1 'WEIR_TIMEOUT is .soon' env WEIR_TIMEOUT=soon "$weir" demo -n 1 --size 1KiB
expect 2 'offset' "$weir" cat heat.dat temperature --step 0 --offset -1,0

# Ended by a signal, the demo takes its ranks and its folder with it.
mkdir demo-tmp
TMPDIR=$PWD/demo-tmp "$weir" demo -n 2 --size 300MiB --steps 9 > /dev/null 2>&1 &
demo=$!
for _ in $(seq 100); do [ -n "$(find demo-tmp -name '*.partial.*')" ] && break; sleep 0.1; done
kill -TERM $demo
wait $demo && { echo 'FAILED: a demo that was ended exits with 0'; failures=$((failures + 1)); }
[ -z "$(ls -A demo-tmp)" ] || { echo "FAILED: left behind: $(ls -A demo-tmp)"; failures=$((failures + 1)); }
expect 1 'No such file' "$weir" demo --folder /no/such/folder

# Who reads no further leaves nothing behind either, and output can go to standard output by name.
mkdir run-tmp
TMPDIR=$PWD/run-tmp "$weir" run --store run-tmp-store -- sh -c 'yes | head -100000' 2>&1 | head -1 > /dev/null
[ -z "$(ls -A run-tmp)" ] || { echo "FAILED: left behind: $(ls -A run-tmp)"; failures=$((failures + 1)); }
expect 0 'MPI RANK' "$weir" plan --mapping consecutive -n 2 --platform 1x8 -o -
expect 0 'weir_plan' "$weir" plan --mapping consecutive -n 2 --platform 1x8 --json -
expect 2 'standard output has the table' "$weir" bench hpio -n 2 --json -
[ ! -e - ] || { echo "FAILED: a file named -"; failures=$((failures + 1)); }
if has hdf5 && command -v h5dump > /dev/null; then
  expect 0 'DATASET "temperature"' h5dump -H weir-demo/demo.h5
  expect 0 'True' /usr/bin/python3 -c 'import h5py; f = h5py.File("weir-demo/demo.h5"); d = f["temperature"]; print(d.shape[0] == 3 and d[2][0][1] == 1.002)'
fi
[ -z "$(find . -name '*.partial.*')" ] || { echo "FAILED: left behind: $(find . -name '*.partial.*')"; failures=$((failures + 1)); }

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
