#!/usr/bin/env bash
# weir plan and weir run as a user runs them: mapping.sh PATH-OF-WEIR FOLDER-OF-TEST-DATA. Needs $MPIEXEC and $MPI_FAMILY
# (openmpi or mpich), as which weir was built.
set -uo pipefail
weir=$1
data=$2
source_root=$(cd -- "${BASH_SOURCE[0]%/*}/../.." && pwd)
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

# Table V of the iocomp paper, as printed: with the paper's hosts the same rows, with made-up ones the same but for the names.
for mapping in consecutive hyperthread oversubscribe; do
  awk -F'\t' -v m=$mapping '$1 == m { print $2, $3, $4, $5, $6, $7 }' "$data/iocomp/table_v.tsv" > wanted
  "$weir" plan --mapping $mapping --hosts 'nid[004204,004206,004207,004248]' --node-size 16 --platform archer2 |
    awk 'NR > 1 { print $1, $2, $3, $4, $5, $6 }' > got
  [ "$(wc -l < wanted)" = 64 ] && diff wanted got > /dev/null || failed "Table V, $mapping"
  "$weir" plan --mapping $mapping --nodes 4 --node-size 16 --platform archer2 | awk 'NR > 1 { print $1, $2, $3, $4, $6 }' > got
  awk '{ print $1, $2, $3, $4, $6 }' wanted | diff - got > /dev/null || failed "Table V without names, $mapping"
done
expect 0 'TYPE +MPI RANK +MPI SIZE +CPU-ID +NODE-ID +PAIR' "$weir" plan --mapping sequential -n 1 --platform archer2
expect 0 'IO +4 +5 +4 +node1 +0-3' "$weir" plan --mapping consecutive -n 4 --ratio 4 --platform 1x8
expect 0 'map_cpu:0,1,128,129' "$weir" plan --mapping hyperthread -n 2 --platform archer2 --emit slurm
expect 0 'rank 1=\+n0 slot=128' "$weir" plan --mapping hyperthread -n 1 --platform archer2 --emit openmpi
expect 0 '"mode": "thread"' "$weir" plan --mapping thread -n 2 --platform 1x8 --json
# Nodes that are named are all used, whoever plans.
hosts=(--mapping consecutive -n 4 --hosts a,b --platform archer2)
expect 0 'COMP +4 +8 +0 +b +6' "$weir" plan "${hosts[@]}"
expect 0 'hosts +a,b' "$weir" run "${hosts[@]}" --dry-run -- ./app
expect 2 'room for 24' "$weir" run --mapping consecutive -n 1000 --nodes 1 --platform crill --dry-run -- ./app
expect 0 "^# weir plan --mapping consecutive -n 4 --ratio 2 --hosts 'n\[1-2\]' --platform archer2 --emit json -o plan.json\$" \
  "$weir" plan --mapping consecutive -n 4 --ratio 2 --hosts 'n[1-2]' --platform archer2 --emit openmpi
expect 2 "hyperthread.*one.*consecutive" "$weir" plan --mapping hyperthread -n 2 --platform k
expect 2 "mapping.*did you mean 'consecutive'" "$weir" plan --mapping consecutve -n 2
expect 2 'mapping is required' "$weir" plan
expect 2 'emit.*it can be table, json, slurm' "$weir" plan --mapping thread --emit slrum
expect 2 'ratio' "$weir" plan --mapping consecutive --ratio 0
expect 2 'room for 24' "$weir" plan --mapping consecutive -n 1000 --nodes 1 --platform crill
expect 1 'No such file' "$weir" plan --mapping consecutive -n 2 -o no/such/folder/plan.json --json

# Every rank says where it is.
cat > app <<'APP'
#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK-$PMI_RANK}
[ -r "$WEIR_PLAN" ] || exit 9
echo "rank $rank cpus $(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status) summary ${WEIR_SUMMARY-no} args $*"
sleep 0.5  # mpirun of Open MPI 4.1.4 may hang if programs without MPI end before the last of them has started
APP
chmod +x app
expect 0 'rank 1 .* summary no args -x -- y z' "$weir" run --mapping consecutive -n 1 -- ./app -x -- 'y z'
expect 0 'the program started no Weir session: all 2 ranks computed' "$weir" run --mapping consecutive -n 1 --no-record -- ./app
expect 0 'summary 1' "$weir" run --mapping sequential -n 1 --summary -- ./app
expect 7 '' "$weir" run --mapping sequential -n 1 -- sh -c 'sleep 0.5; exit 7'
many=$(($(nproc --all) + 1))
expect 0 "rank $((2 * many - 1)) " "$weir" run --mapping consecutive -n $many -- ./app
expect 0 "weir: $many compute ranks and $many I/O servers are more than there are cores" "$weir" run --mapping consecutive -n $many -- ./app
expect 0 'I/O servers, mapping consecutive|-n 6' "$weir" run --mapping consecutive -n 4 --ratio 2 --dry-run -- ./app
expect 2 'behind --' "$weir" run --mapping sequential
expect 1 'is for ranks that weir run launches' "$weir" run --as-rank -- true
expect 9 'failed in' "$weir" run -- ./app
expect 0 '' "$weir" plan --mapping consecutive -n 1 --json -o plan.json
expect 0 'rank 1 ' "$weir" run --plan plan.json -- ./app
expect 2 'plan.json is for 2 ranks' "$weir" run --plan plan.json -n 2 -- ./app
expect 2 'for --mapping' "$weir" run --plan plan.json --ratio 4 -- ./app
expect 2 'programs that Weir launches' "$weir" run --ratio 4 --own-nodes -- ./app
expect 2 'only placements for a pattern' "$weir" plan --mapping consecutive -n 2 --emit cray
expect 0 'WEIR_BUDGET' env WEIR_BUDGET=64MiB "$weir" run --mapping consecutive -n 4 --hosts a,b --dry-run -- ./app
expect 2 'only one of them' "$weir" run --plan plan.json --mapping thread -- ./app
expect 1 'absent.json' "$weir" run --plan absent.json -- ./app
echo '{"weir_plan": 1, "backend": {"name": "posix"}}' > any.json
expect 0 'rank 1 ' "$weir" run --plan any.json -n 2 -- ./app

# Bound where the machine has the cores, by the launcher and by the emitted files alike.
if [ "$("$weir" plan --mapping consecutive 2> /dev/null | grep -c COMP)" -gt 0 ]; then
  read -r first second < <("$weir" plan --mapping consecutive -n 1 | awk 'NR > 1 { printf "%s ", $4 }')
  expect 0 "rank 0 cpus $first " "$weir" run --mapping consecutive -n 1 -- ./app
  expect 0 "rank 1 cpus $second " "$weir" run --mapping consecutive -n 1 -- ./app
  expect 0 "rank 1 cpus $first " "$weir" run --mapping oversubscribe -n 1 -- ./app
  export WEIR_PLAN=$work/plan.json
  # Where the launcher cannot bind, ranks do so themselves.
  for name in OMPI_COMM_WORLD_RANK PMI_RANK; do
    expect 0 "Cpus_allowed_list:[^0-9]*$second\$" env -u OMPI_COMM_WORLD_RANK "$name=1" "$weir" run --as-rank -- grep Cpus_allowed_list /proc/self/status
  done
  if [ "$MPI_FAMILY" = openmpi ] && "$MPIEXEC" --version | grep -q ' 4\.'; then
    "$weir" plan --mapping consecutive -n 1 --emit openmpi > ranks
    expect 0 "rank 1 cpus $second " "$MPIEXEC" --mca rmaps_rank_file_physical 1 --use-hwthread-cpus --rankfile ranks -n 2 ./app
  fi
  if command -v mpiexec.mpich > /dev/null; then
    "$weir" plan --mapping consecutive -n 1 --emit mpich > launch.sh
    expect 0 "rank 0 cpus $first " env MPIEXEC=mpiexec.mpich sh launch.sh ./app
    expect 0 "rank 1 cpus $second " env MPIEXEC=mpiexec.mpich sh launch.sh ./app
  fi
  unset WEIR_PLAN
fi

# On several nodes, in the words of both launchers; each virtual node has the cores of this machine.
vcluster=$source_root/tools/vcluster
if [ "$MPI_FAMILY" = openmpi ] && "$MPIEXEC" --version | grep -q ' 4\.' && "$vcluster" check > /dev/null 2>&1; then
  export WEIR_VCLUSTER_STATE=$work/state
  cat > where <<'APP'
#!/bin/sh
echo "rank ${OMPI_COMM_WORLD_RANK-$PMI_RANK} on $(hostname) cpus $(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)"
sleep 0.5
APP
  chmod +x where
  "$vcluster" up 2x2 --name m$$ > /dev/null || failed 'vcluster up'
  hosts=m$$-node[0-1]
  "$weir" plan --mapping consecutive --own-nodes -n 1 --hosts "$hosts" --emit openmpi > ranks
  expect 0 "rank 1 on m$$-node1 cpus 0\$" "$vcluster" run --name m$$ --mpi openmpi -n 2 --mca rmaps_rank_file_physical 1 \
    --use-hwthread-cpus --rankfile "$PWD/ranks" -- "$PWD/where"
  if command -v mpiexec.mpich > /dev/null; then
    mapfile -t words < <("$weir" plan --mapping consecutive --own-nodes -n 1 --hosts "$hosts" --emit mpich |
      sed -n 's/^exec "[^"]*" \(.*\) "\$@"$/\1/p' | tr ' ' '\n')
    expect 0 "rank 1 on m$$-node1 cpus 0\$" "$vcluster" run --name m$$ --mpi mpich "${words[@]}" -- "$PWD/where"
  fi
  "$vcluster" down --name m$$ > /dev/null
else
  echo 'not tried on several nodes: no virtual cluster here, or not Open MPI 4'
fi

# Ended by a signal, it takes its ranks and its files with it.
"$weir" run --mapping consecutive -n 1 -- sleep 4242 > /dev/null 2>&1 &
run=$!
for _ in $(seq 100); do [ "$(pgrep -cf '^sleep 4242')" = 2 ] && break; sleep 0.1; done
[ -n "$(ls -A "$TMPDIR")" ] || failed 'no plan while it runs'
kill -TERM $run
wait $run && failed 'a run that was ended exits with 0'
for _ in $(seq 50); do [ "$(pgrep -cf '^sleep 4242')" = 0 ] && break; sleep 0.1; done
[ "$(pgrep -cf '^sleep 4242')" = 0 ] || failed 'ranks go on after their launcher was ended'
left=$(find "$TMPDIR" -maxdepth 1 -name 'weir-run-*')
[ -z "$left" ] || failed "left behind: $left"

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
