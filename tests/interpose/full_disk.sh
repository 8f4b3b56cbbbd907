#!/usr/bin/env bash
# full_disk.sh WEIR PROGRAM: collective writes to a disk that is really full, in each way. Needs $MPIEXEC; skips (77) where nothing can be mounted.
set -uo pipefail
weir=$1 program=$2
work=$(mktemp -d)
trap 'mountpoint -q "$work/small" && umount "$work/small"; rm -rf "$work"' EXIT
mkdir "$work/small"
mount -t tmpfs -o size=1m none "$work/small" 2>/dev/null || { echo 'skipped: needs the right to mount a small file system'; exit 77; }
failures=0
for way in auto T: N: S:; do
  rm -f "$work/small/file"
  output=$(timeout -k 5 100 "$weir" run --no-record --collective="$way" -- "$MPIEXEC" -n 3 "$program" "$work/small" 2>&1 </dev/null)
  code=$?
  if [ "$code" != 0 ] || ! grep -q 'as expected' <<<"$output" || ! grep -q 'collective I/O of 1 file' <<<"$output"; then
    printf 'FAILED: %s, code %s:\n%s\n' "$way" "$code" "$output" | head -40
    failures=$((failures + 1))
  fi
done
[ "$failures" = 0 ] || exit 1
echo 'all as expected'
