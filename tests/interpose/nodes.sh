#!/usr/bin/env bash
# nodes.sh WEIR CHECKER RANDOM CALLS: recording and collective I/O across two nodes with a network between them. 77 where no nodes can be made.
set -uo pipefail
weir=$1 checker=$2 random=$3 calls=$4
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
echo 'all as expected'
