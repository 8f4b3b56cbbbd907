#!/usr/bin/env bash
# record.sh WEIR CHECKER RANKS PROGRAM...: records a program that is given a folder as its last argument, and compares the recording with
# the files. Needs $MPIEXEC. A line "range FILE BEGIN END FIRST" that the program prints names the part of a file that is its data; without
# one, every file is data only. 77 if the program says "skipped".
set -uo pipefail
weir=$1 checker=$2 ranks=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
output=$("$weir" record -o "$work/recording" -- "$MPIEXEC" -n "$ranks" "$@" "$work" 2>&1)
code=$?
printf '%s\n' "$output"
if grep -q '^skipped' <<<"$output"; then exit 77; fi
[ "$code" = 0 ] || exit 1
"$weir" record --show "$work/recording" || exit 1
[ -z "$(find "$work" -name '*.partial.*')" ] || { echo "left behind: $(ls "$work")"; exit 1; }
ranges=$(grep '^range ' <<<"$output")
if [ -z "$ranges" ]; then exec "$checker" "$work/recording"; fi
while read -r _ file begin end first; do
  "$checker" "$work/recording" "$file" "$begin" "$end" "$first" || exit 1
done <<<"$ranges"
