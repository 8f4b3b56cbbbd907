#!/usr/bin/env bash
# fails.sh PATTERN COMMAND...: the command ends with a failure, and says what the pattern asks for.
set -uo pipefail
pattern=$1
shift
output=$("$@" 2>&1)
status=$?
printf '%s\n' "$output"
[ "$status" != 0 ] || { echo "FAILED: it ended with status 0"; exit 1; }
grep -qE -- "$pattern" <<<"$output" || { echo "FAILED: it did not say /$pattern/"; exit 1; }
