#!/usr/bin/env bash
# same.sh WEIR FILE FILE...: the heat example's arrays are the same, byte for byte, whichever language wrote them.
set -uo pipefail
weir=$1
shift
for file in "$@"; do
  [ -e "$file" ] || continue
  for step in 0 20 100; do "$weir" cat "$file" temperature --step "$step" --raw || exit 1; done | sha256sum
done | sort | uniq -c | tee /dev/stderr | awk '{ n++; count += $1 } END { exit !(n == 1 && count >= 2) }'
