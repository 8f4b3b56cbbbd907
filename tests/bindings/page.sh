#!/usr/bin/env bash
# page.sh WEIR COMMAND...: runs a program of docs/languages.md in the folder where it is, and looks at the array it leaves.
set -uo pipefail
weir=$1
shift
rm -rf ./run*.h5
"$@" || exit $?
if [ -e run.h5 ]; then
  "$weir" ls run.h5 | grep -E 'x +float64 +\[[1-3]000\] +10 ' || exit 1
  last=$("$weir" cat run.h5 x --step 9 --raw | od -An -v -w8 -tf8 | sort -g | head -1)
else
  files=(run_?.h5)
  [ "${#files[@]}" = 10 ] || exit 1
  last=$("$weir" cat run_9.h5 IntArray --raw | od -An -v -w8 -tf8 | sort -g | head -1)
fi
[ "$(tr -d ' ' <<<"$last")" = 9 ] || { echo "the least value of the last step is $last, not 9"; exit 1; }
