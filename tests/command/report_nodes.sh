#!/usr/bin/env bash
# weir run on a virtual cluster samples every node: report_nodes.sh PATH-OF-WEIR
set -uo pipefail
weir=$1
vcluster=$(cd -- "${BASH_SOURCE[0]%/*}/../../tools" && pwd)/vcluster
"$vcluster" check >/dev/null 2>&1 || { echo 'SKIP: no virtual cluster on this machine'; exit 77; }
work=$(mktemp -d)
export XDG_DATA_HOME=$work/data TMPDIR=$work WEIR_VCLUSTER_STATE=$work/state
cluster=r$$
trap '"$vcluster" down --name $cluster >/dev/null 2>&1; rm -rf "$work"' EXIT
cd "$work" || exit 1
"$vcluster" up 2x1 --name $cluster >up.log 2>&1 || { cat up.log; echo 'SKIP: the cluster cannot be made'; exit 77; }
nodes=$("$vcluster" status --name $cluster --json | sed -n 's/.*"name": "\(.*node[0-9]*\)".*/\1/p' | paste -sd,)
[ "$(tr ',' '\n' <<<"$nodes" | wc -l)" = 2 ] || { echo "FAILED: nodes '$nodes'"; "$vcluster" status --name $cluster --json; exit 1; }
first=${nodes%%,*} second=${nodes##*,}
# Traffic from one node to the other: ten packets that are answered.
"$weir" run --name traffic --interval 100ms --sample "$nodes" --reach "$vcluster exec --name $cluster {} --" --sample-sources net -- \
  "$vcluster" exec --name $cluster "$first" -- python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(50):
    s.sendto(b'x' * 1000, ('$second', 9))
    time.sleep(0.02)
" || { echo 'FAILED: the run'; exit 1; }
"$weir" report last --json report.json >summary.txt || exit 1
grep -q '3 nodes' summary.txt || { echo 'FAILED: the job has not all nodes:'; cat summary.txt; exit 1; }
jq -e '[.jobs[0].analysis.timelines[] | select(.id | test("net")) | .values[] | select(. != null)] | add > 10000' report.json >/dev/null || {
  echo 'FAILED: the traffic of the nodes is not in the report'
  cat summary.txt
  exit 1
}
left_behind() { pgrep -f "collect --node $second" >/dev/null && { echo 'FAILED: a collector was left behind'; exit 1; }; }
left_behind

# A job launched on the cluster: its nodes are found without being named.
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
  cat >sender <<APP
#!/bin/sh
[ -z "\$WEIR_NODES_FILE" ] || echo 'FAILED: the program sees what is between launchers'
[ "\$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
exec python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(40):
    s.sendto(b'x' * 1000, ('$second', 9))
    time.sleep(0.02)
"
APP
  chmod +x sender
  "$weir" run --interval 100ms -- "$vcluster" run --name $cluster --mpi openmpi -n 2 -- ./sender >run.log 2>&1 || {
    echo 'FAILED: the run on the cluster'
    cat run.log
    exit 1
  }
  grep FAILED run.log && exit 1
  "$weir" report last --json report.json >summary.txt || exit 1
  grep -q '3 nodes' summary.txt || { echo 'FAILED: the nodes of the cluster were not found:'; cat run.log summary.txt; exit 1; }
  grep -q 'sender' summary.txt || { echo 'FAILED: the job is not called by its program:'; cat summary.txt; exit 1; }
  jq -e '[.jobs[0].analysis.timelines[] | select(.id | test("net")) | .values[] | select(. != null)] | add > 10000' report.json >/dev/null || {
    echo 'FAILED: the traffic of the nodes that were found is not in the report'
    cat run.log summary.txt
    exit 1
  }
  left_behind
  "$weir" run --sample none -- "$vcluster" run --name $cluster --mpi openmpi -n 2 -- true >run.log 2>&1 || { cat run.log; exit 1; }
  "$weir" report last >summary.txt || exit 1
  grep -q '1 node' summary.txt || { echo 'FAILED: nodes were sampled that were not to be:'; cat summary.txt; exit 1; }
fi
echo 'all as expected'
