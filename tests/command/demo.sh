#!/usr/bin/env bash
# The whole of `weir demo`, small: demo.sh PATH-OF-WEIR
set -uo pipefail
weir=$1
# shellcheck source=../expect.sh
. "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

# Both halves, over the same backends, with what they leave for the user to look at.
"$weir" demo -n 2 --size 1MiB --steps 1 --keep >demo.txt 2>&1 </dev/null || { failed 'weir demo --keep'; cat demo.txt; exit 1; }
stored=$(sed -nE 's/^([a-z0-9-]+) +demo[^ ]* +[0-9]+ +[0-9]+ +yes.*/\1/p' demo.txt | sort)
hidden=$(sed -nE 's/^([a-z0-9-]+) +the program saw +[0-9]+% of its I\/O time, and was done in [0-9.]+ of the time; the file is right$/\1/p' demo.txt | sort)
if [ -z "$stored" ] || [ "$stored" != "$hidden" ]; then
  failed "the halves have other backends: '${stored//$'\n'/ }' and '${hidden//$'\n'/ }'"
  cat demo.txt
fi
expect 0 '^  consecutive .*▓' cat demo.txt
expect 0 'What the machine did' cat demo.txt
for picture in wall breakdown; do
  expect 0 PNG head -c 4 weir-demo/demo-$picture.png
  expect 0 '<svg' cat weir-demo/demo-$picture.svg
done
expect 0 'completed' "$weir" report last --store weir-demo/jobs.db
expect 0 '</html>' tail -c 100 weir-demo/report.html

# Ended in the second half, it takes its ranks and its folder with it.
"$weir" demo -n 2 --size 1MiB --steps 1 --folder "$TMPDIR" >ended.txt 2>&1 </dev/null &
demo=$!
for _ in $(seq 600); do
  if find tmp -name 'stream-*' 2>/dev/null | grep -q . || ! kill -0 $demo 2>/dev/null; then break; fi
  sleep 0.05
done
kill -TERM $demo || failed 'the demo was over before it could be ended'
if wait $demo; then failed 'a demo that was ended exits with 0'; fi
[ -z "$(ls -A tmp)" ] || failed "left behind: $(ls -A tmp)"

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
