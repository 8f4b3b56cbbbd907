#!/usr/bin/env bash
# nodes.sh WEIR CHECKER RANDOM CALLS FAULTS: recording and collective I/O across two nodes with a network between them. 77 where no nodes can be made.
set -uo pipefail
weir=$1 checker=$2 random=$3 calls=$4 faults=$5
vcluster=$(dirname "$0")/../../tools/vcluster
work=$(mktemp -d)
export WEIR_VCLUSTER_STATE=$work/state
unset WEIR_VCLUSTER_NODE OMPI_MCA_btl OMPI_MCA_hwloc_base_binding_policy # the nodes talk by TCP
finish() {
  "$vcluster" down --name served >/dev/null 2>&1
  rm -rf "$work"
}
trap finish EXIT
reason=$("$vcluster" up 2x2 --name served 2>&1 </dev/null)
case $? in
  0) ;;
  77) echo "skipped: $reason"; exit 77 ;;
  *) echo "$reason"; exit 1 ;;
esac
run=("$vcluster" run --name served -n 4 --timeout 100 --)

mkdir "$work/theirs" "$work/ours" "$work/files"
"${run[@]}" "$random" 2 9 "$work/theirs" </dev/null || exit 1
output=$("$weir" run --no-record --collective=T:rr=1 -- "${run[@]}" "$random" 2 9 "$work/ours" 2>&1 </dev/null) || { echo "$output"; exit 1; }
diff -r "$work/theirs" "$work/ours" || exit 1
grep -E 'KiB between nodes|MiB between nodes' <<<"$output" || { echo "nothing went between nodes:"; echo "$output"; exit 1; }
"$weir" record -q -o "$work/recording" -- "${run[@]}" "$calls" "$work/files" </dev/null || exit 1
"$checker" "$work/recording" >/dev/null || { "$checker" "$work/recording" | tail -1; exit 1; }

# A node whose ranks are all stopped, or gone while the launcher is told not to mind: the other one ends the job.
misses_node() { # CASE VARIABLE...
  local case=$1
  shift
  output=$(env WEIR_TIMEOUT=1s "$@" "$weir" run --no-record --collective -- "${run[@]}" "$faults" "$case" "$work/files" 2>&1 </dev/null)
  code=$?
  grep -q "collective write of '$work/files/$case': the node of ranks 2, 3 does not answer" <<<"$output" && ! grep -q 'came to an end' <<<"$output" ||
    { echo "$case: nobody missed the node:"; echo "$output"; exit 1; }
}
misses_node half_stops
[ "$code" != 0 ] || { echo "a job without a node ended as if all were well"; exit 1; }
misses_node half_dies OMPI_MCA_orte_enable_recovery=1
echo 'all as expected'
