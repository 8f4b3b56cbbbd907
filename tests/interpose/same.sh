#!/usr/bin/env bash
# same.sh WEIR RANKS PROGRAM... -- CONFIGURATION...: a program that leaves files in the folder that is its last argument leaves the same
# ones when its collective calls are Weir's, in each configuration. Needs $MPIEXEC. A configuration may carry variables: WEIR_TEAM=2/T:rr=1.
# $SERVED=no: the program may have no call that Weir carries out.
set -uo pipefail
weir=$1 ranks=$2
shift 2
program=()
while [ "$1" != -- ]; do program+=("$1"); shift; done
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/theirs"
output=$("$MPIEXEC" -n "$ranks" "${program[@]}" "$work/theirs" 2>&1 </dev/null) || { echo "the program itself fails:"; echo "$output"; exit 1; }
grep -q '^skipped' <<<"$output" && { echo "$output"; exit 77; }
failures=0
for configuration in "$@"; do
  variables=()
  IFS=/ read -r -a parts <<<"$configuration"
  for part in "${parts[@]:0:${#parts[@]}-1}"; do variables+=("$part"); done
  mkdir "$work/ours"
  output=$(env "${variables[@]}" "$weir" run --no-record --collective="${parts[-1]}" -- "$MPIEXEC" -n "$ranks" "${program[@]}" "$work/ours" 2>&1 </dev/null)
  code=$?
  if [ "$code" != 0 ]; then
    echo "FAILED with $configuration: code $code"; head -c 3000 <<<"$output"; failures=$((failures + 1))
  elif ! diff -r "$work/theirs" "$work/ours" >"$work/differences" 2>&1; then
    echo "FAILED with $configuration: other files"; head -c 3000 "$work/differences"; failures=$((failures + 1))
  elif [ "${SERVED:-yes}" = yes ] && ! grep -Eq 'collective I/O of [1-9]' <<<"$output"; then
    echo "FAILED with $configuration: nothing was Weir's"; head -c 3000 <<<"$output"; failures=$((failures + 1))
  else
    grep 'collective I/O of' <<<"$output" | sed "s|^|$configuration: |"
  fi
  rm -rf "$work/ours"
done
[ "$failures" = 0 ] || exit 1
