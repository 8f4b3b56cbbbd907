#!/usr/bin/env bash
# weir run and weir report, as a user runs them: report.sh PATH-OF-WEIR FOLDER-OF-EXAMPLES
set -uo pipefail
weir=$1
examples=$2
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder
unset WEIR_STORE NO_COLOR

# state_of JOB: the state that a report gives
state_of() { "$weir" report "$1" --json - 2>/dev/null | sed -n 's/^      "state": "\(.*\)",$/\1/p' | head -1; }

# await SECONDS COMMAND...: until the command succeeds
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}

# With nothing set up.
expect 1 'no jobs yet.*weir run' "$weir" report last
expect 0 'job .* completed in .*weir report last shows more' "$weir" run -- sh -c 'dd if=/dev/zero of=file bs=1M count=20 conv=fsync 2>/dev/null'
[ -s data/weir/jobs.db ] || failed 'the store is not in the data folder'
expect 0 '^Job .* sh +completed$' "$weir" report last
expect 0 'Data +100 %' "$weir" report last
expect 0 'completed' "$weir" report
expect 0 '"weir_jobs": 1' "$weir" report --json -
id=$("$weir" report --json - | sed -n 's/^      "id": "\(.*\)",$/\1/p' | head -1)
expect 0 "Job $id " "$weir" report "$id"
expect 0 "Job $id " "$weir" report sh
expect 1 "there is no job '${id}9'; did you mean '$id'.*the latest are $id" "$weir" report "${id}9"
expect 2 'last~1' "$weir" report last~x
expect 1 "no job 'last~7'" "$weir" report last~7

# The exit code is the program's, and the job failed.
expect 3 'failed in' "$weir" run --name 'three <b>' -- sh -c 'exit 3'
[ "$(state_of last)" = failed ] || failed "the state of a program that ended with 3: $(state_of last)"
expect 127 'cannot start' "$weir" run -- "$work/no-such-program"
[ "$(state_of last)" = failed ] || failed 'a program that could not be started'

# What is not to be recorded, or cannot be, still runs.
before=$("$weir" report --json - | grep -c '"id"')
expect 5 '^$' "$weir" run --no-record -- sh -c 'exit 5'
expect 0 'not recorded.*no home folder' env -u XDG_DATA_HOME -u HOME "$weir" run -- true
echo 'not a store' > text
expect 4 'not recorded' "$weir" run --store text -- sh -c 'exit 4'
[ "$(cat text)" = 'not a store' ] || failed 'a file that is no store was changed'
[ "$("$weir" report --json - | grep -c '"id"')" = "$before" ] || failed 'something was recorded after all'
expect 2 'only one' "$weir" run --no-record --store x.db -- true
expect 2 '10ms' "$weir" run --interval 1ms -- true
expect 2 'weir run -- mpirun' "$weir" run -n 4 -- true
expect 2 'no program' "$weir" run
expect 0 'true' "$weir" run --dry-run -- true
expect 0 'completed' "$weir" run --store other.db --report -- sleep 0.5
expect 0 'sleep' "$weir" report --store other.db
expect 0 'sleep' env WEIR_STORE=other.db "$weir" report last

# Interrupted: the program ends, and the job is marked. (A shell's background job ignores SIGINT, so SIGTERM.)
"$weir" run --name interrupted -- sleep 300 2>/dev/null &
run=$!
await 60 sh -c "'$weir' report interrupted --json - | grep -q '\"state\": \"running\"'" || failed 'the job is not there while it runs'
kill -TERM $run
wait $run && failed 'an interrupted run ends with 0'
[ "$(state_of interrupted)" = cancelled ] || failed "the state of an interrupted job: $(state_of interrupted)"

# Killed: nobody could write its end, and yet it is not said to run.
"$weir" run --name killed -- sleep 300 2>/dev/null &
run=$!
await 60 sh -c "'$weir' report killed --json - | grep -q '\"state\": \"running\"'" || failed 'the job is not there while it runs'
child=$(pgrep -P $run -x sleep)
kill -KILL $run
wait $run 2>/dev/null
[ -n "$child" ] && kill "$child" 2>/dev/null
rm -rf "$TMPDIR"/weir-run-*  # which nobody could remove
[ "$(state_of killed)" = lost ] || failed "the state of a killed job: $(state_of killed)"

# Sessions of Weir leave their figures with the job.
if [ -x "$examples/heat" ]; then
  expect 0 'completed in .* written.* in I/O' "$weir" run -- "$MPIEXEC" -n 2 "$examples/heat" heat.dat
  expect 0 'heat +completed' "$weir" report last
  expect 0 'I/O time' "$weir" report last
  expect 0 'completed in .* written' "$weir" run --mapping consecutive -n 1 -- "$examples/heat" heat.dat
  "$weir" run --mapping consecutive -n 1 --no-record -- "$examples/heat" heat.dat > session.txt 2>&1
  ! grep 'no Weir session' session.txt || failed 'a program with a session is said to have none'
  expect 0 'consecutive' "$weir" report last --json -
fi

# Several jobs, and every way out.
for _ in 1 2; do
  for configuration in small large; do
    size=$([ $configuration = small ] && echo 64k || echo 4M)
    expect 0 'completed' "$weir" run --interval 50ms --configuration $configuration --name "dd </script>" -- \
      dd if=/dev/zero of=file bs="$size" count=8 oflag=dsync status=none
  done
done
expect 0 'rank score' "$weir" report last last~1 last~2 last~3 --html several.html --csv csv --png png --json several.json
expect 0 'A +Job' "$weir" report last last~1 --baseline small
expect 2 'baseline' "$weir" report last last~1 --baseline nonesuch
grep -q '<script>document\|dd </script>' several.html && failed 'a name got out of the data of the page'
grep -q 'id="data"' several.html || failed 'the page has no data'
[ "$(tail -c 8 several.html)" = '</html>' ] || failed 'the page is not whole'
[ "$(find csv -name '*-figures.csv' | wc -l)" = 4 ] || failed "CSV files: $(ls csv)"
[ -s csv/comparison-scores.csv ] || failed 'no scores as CSV'
[ -n "$(find png -name '*-time-*.png' -size +3k)" ] || failed "pictures: $(ls png)"
if command -v jq >/dev/null; then
  [ "$(jq '.jobs | length' several.json)" = 4 ] || failed 'jobs in the JSON'
  jq -e '.jobs[0].analysis.job.id == .jobs[0].id and (.comparison.analysis.evaluation | length > 0)' several.json >/dev/null ||
    failed 'the analysis is not in the JSON'
fi
expect 2 'about a job' "$weir" report --html page.html
expect 2 "unknown command 'sho' of store.*show" "$weir" store sho
expect 2 "'0': give a number above 0" "$weir" ingest --store k.db --listen 127.0.0.1:0 --for 0
expect 1 'nosuch/page.html' "$weir" report last --html nosuch/page.html
expect 1 'No such file|nosuch.json' "$weir" report last --thresholds nosuch.json
chmod -R a-w data/weir
expect 0 'completed' "$weir" report last
chmod -R u+w data/weir

# Nothing is left behind.
[ -z "$(find . -name 'weir-run-*')" ] || failed "left behind: $(find . -name 'weir-run-*')"

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
