#!/usr/bin/env bash
# The launch script for Slurm, run by a real Slurm of our own: slurm.sh PATH-OF-WEIR. A controller and two daemons on this
# machine, with files, ports and keys of their own; 77 where Slurm is not installed or cannot be started here.
set -uo pipefail
weir=$1
skip() { echo "skipped: $*"; exit 77; }
for tool in slurmctld slurmd srun sinfo munged python3; do command -v $tool > /dev/null || skip "$tool is not installed"; done
[ "$(id -u)" = 0 ] || skip 'slurmd needs root'
work=$(mktemp -d /tmp/weir-slurm-XXXXXX)
pids=()
# In the order daemons, controller, keys: a daemon that cannot reach its controller any more waits for it. What it
# started for a job is its child.
# shellcheck disable=SC2317 # called by trap
clean_up() {
  local i pid children
  for ((i = ${#pids[@]} - 1; i >= 0; --i)); do
    pid=${pids[i]}
    children=$(pgrep -P "$pid")
    kill "$pid" 2> /dev/null
    for _ in $(seq 50); do kill -0 "$pid" 2> /dev/null || break; sleep 0.1; done
    # shellcheck disable=SC2086 # several numbers
    kill -9 "$pid" $children 2> /dev/null
    wait "$pid" 2> /dev/null
  done
  rm -rf "$work"
}
trap clean_up EXIT
cd "$work" || exit 1
chmod 755 "$work"
mkdir -p munge state spool0 spool1
chmod 700 munge

head -c 128 /dev/urandom > munge/key
chmod 600 munge/key
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
  --log-file="$work/munge/log" --seed-file="$work/munge/seed" --num-threads=1 > munge.out 2>&1 &
pids+=($!)

read -r controller first second < <(python3 - <<'PY'
import socket
held = [socket.socket() for _ in range(3)]
for one in held: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in held])
PY
)
host=$(hostname)
cat > slurm.conf <<CONF
ClusterName=weir
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=$work/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool-%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd-%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
SlurmctldTimeout=120
SlurmdTimeout=120
NodeName=s0 NodeHostname=$host NodeAddr=127.0.0.1 Port=$first CPUs=2 State=UNKNOWN
NodeName=s1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$second CPUs=2 State=UNKNOWN
PartitionName=all Nodes=s[0-1] Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$work/slurm.conf
for _ in $(seq 300); do [ -S munge/socket ] && break; sleep 0.1; done
[ -S munge/socket ] || skip "munged did not start: $(tail -3 munge.out munge/log 2> /dev/null)"
slurmctld -D -f "$SLURM_CONF" > ctld.out 2>&1 &
pids+=($!)
for node in s0 s1; do
  slurmd -D -N $node -f "$SLURM_CONF" > $node.out 2>&1 &
  pids+=($!)
done
ready() { [ "$(timeout 10 sinfo -h -N -o '%T' 2> /dev/null | grep -c '^idle$')" = 2 ]; }
for _ in $(seq 120); do ready && break; sleep 0.5; done
ready || skip "the nodes did not come up: $(sinfo -h -N -o '%N %T' 2>&1; tail -3 slurmctld.log slurmd-s0.log ctld.out s0.out 2> /dev/null)"

cat > where <<'APP'
#!/bin/sh
echo "rank $SLURM_PROCID on $SLURMD_NODENAME"
APP
chmod +x where
plan=(plan --grid 2x2 --permute 4 --hosts 's[0-1]' --platform 2x2)
"$weir" "${plan[@]}" --emit slurm > launch.sh || { echo 'FAILED: no launch script'; exit 1; }
wanted=$("$weir" "${plan[@]}" --emit openmpi-seq | grep -v '#' | awk '{ print "rank " NR - 1 " on " $1 }')
timeout 100 sh launch.sh "$work/where" > srun.out 2> srun.err
[ $? != 124 ] || skip 'srun took too long'
got=$(sort srun.out)
if [ "$wanted" != "$got" ]; then
  printf 'FAILED: wanted\n%s\ngot\n%s\n' "$wanted" "$got"
  cat srun.err launch.sh
  tail -5 slurmctld.log slurmd-s0.log
  exit 1
fi
for _ in $(seq 60); do [ -z "$(timeout 10 squeue -h 2> /dev/null)" ] && break; sleep 0.5; done
sort -c -k4 <<< "$wanted" 2> /dev/null && { echo 'FAILED: the reordered ranks are in order: nothing was tried'; exit 1; }

# In an allocation the counters of its nodes are sampled without a word about them.
export XDG_DATA_HOME=$work/data
timeout 100 salloc --quiet -N 2 "$weir" run --name sampled --interval 100ms -- srun --overlap -N 2 -n 2 sleep 1 > salloc.out 2>&1
code=$?
[ $code != 124 ] || skip 'salloc took too long'
grep -q 'it gave no samples' salloc.out && skip 'srun takes too long to start'
[ $code = 0 ] || { echo "FAILED: weir run in an allocation ended with $code"; cat salloc.out; exit 1; }
"$weir" report last > summary.txt 2>&1
grep -q '3 nodes' summary.txt || { echo 'FAILED: the nodes of the allocation are not in the report'; cat salloc.out summary.txt; exit 1; }
"$weir" store export "$work/data/weir/jobs.db" --csv samples.csv > /dev/null || exit 1
for node in s0 s1; do
  [ "$(grep -c "host.cpu_busy_ms,$node," samples.csv)" -ge 3 ] || { echo "FAILED: $node was not sampled"; cat salloc.out; exit 1; }
done
echo 'all as expected'
