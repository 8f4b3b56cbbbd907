#!/usr/bin/env bash
# weir collect as a user runs it: collect.sh PATH-OF-WEIR FORWARD-SINK FOLDER-OF-DATA
set -uo pipefail
weir=$(realpath "$1")
sink=$(realpath "$2")
data=$(realpath "$3")
work=$(mktemp -d)
running=()
ended() { for pid in "${running[@]}"; do kill "$pid" 2> /dev/null; done; rm -rf "$work"; }
trap ended EXIT
cd "$work" || exit 1
unset WEIR_SHARED_KEY XDG_STATE_HOME
export HOME=$work
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"

# eventually COMMAND...: it succeeds within a minute
eventually() { for _ in $(seq 600); do "$@" && return 0; sleep 0.1; done; return 1; }
# start_sink FILE [KEY]: a receiver that writes to FILE; sets port and sink_pid
start_sink() {
  "$sink" "${@:2}" > "$1" 2> "$1.problems" &
  sink_pid=$!
  running+=("$sink_pid")
  eventually test -s "$1" || failed 'the receiver does not start'
  port=$(head -1 "$1")
}
# stop_sink: ends the receiver, which then has written what it counted
stop_sink() { kill "$sink_pid"; wait "$sink_pid" || failed 'the receiver failed'; }
has_chunks() { [ -n "$(find spool -name '*.chunk')" ]; }
samples() { grep -c '"counter"' "$1"; }

expect 0 'Examples' "$weir" collect --help
expect 0 'block +2' "$weir" collect --list --root "$data/telemetry/linux"
expect 0 '"source": "net"' "$weir" collect --list --json --root "$data/telemetry/linux"
expect 0 'host ' "$weir" collect --list
expect 0 '"core_share_percent"' "$weir" collect --overhead --json
expect 0 'us a counter' "$weir" collect --overhead --root "$data/telemetry/lustre-2.15"
expect 2 "did you mean 'block'" "$weir" collect --sources blok --for 0s
expect 1 "finds nothing" "$weir" collect --sources tofu --root "$data/telemetry/linux" --for 0s
expect 2 'interval' "$weir" collect --interval 0s --for 0s
expect 2 'HOST:PORT' "$weir" collect --forward host:port --for 0s
expect 2 "unknown compression 'lzma'" "$weir" collect --forward 127.0.0.1:1 --compress lzma --for 0s
expect 1 'nosuch' "$weir" collect --output nosuch/file --for 0s

# To the screen and to files.
expect 0 'weir.*"node":"oss1".*"component":"lfs-OST0000".*"ost.write_bytes":9437184000' \
  "$weir" collect --root "$data/telemetry/lustre-1.8" --node oss1 --for 0s
expect 0 '17 samples in 1 rounds' "$weir" collect --root "$data/telemetry/lustre-2.12" --sources lustre-server --for 0s --output log
[ "$(wc -l < log)" = 1 ] || failed 'lines of a round'
"$weir" collect --sources host --interval 10ms --for 100ms --output log2 2> /dev/null || failed 'a tenth of a second'
[ "$(wc -l < log2)" -ge 2 ] || failed 'several rounds'

# Into a store, and again: the same series, two times.
expect 0 '30 samples in 1 rounds' "$weir" collect --root "$data/telemetry/tofu" --node io1 --for 0s --store node.db
expect 0 '30 samples in 1 rounds' "$weir" collect --root "$data/telemetry/tofu" --node io1 --for 0s --store node.db
expect 0 '"samples": 60' "$weir" store show node.db --json

# Sent and acknowledged, in all forms.
printf 'secret\n' > key
start_sink received secret
for form in none gzip zstd; do
  expect 0 '30 sent, 0 kept in the spool, 0 dropped' "$weir" collect --root "$data/telemetry/tofu" --for 0s --drain 60s \
    --forward "127.0.0.1:$port" --shared-key-file key --compress "$form" --spool spool
done
WEIR_SHARED_KEY=wrong expect 0 'shared_key mismatch' "$weir" collect --root "$data/telemetry/tofu" --for 0s --drain 60s \
  --forward "127.0.0.1:$port" --spool spool
stop_sink
[ "$(samples received)" = 90 ] || failed "$(samples received) samples instead of 90"
grep -q '"refused":1' received || failed 'the wrong key is not counted'

# The receiver is away; the sender is killed; nothing is lost, and nothing is sent by two at a time.
"$weir" collect --root "$data/telemetry/tofu" --interval 20ms --forward "127.0.0.1:$port" --spool spool --json > killed.json 2> killed.problems &
collector=$!
running+=("$collector")
eventually grep -q 'samples are kept in spool' killed.problems || failed 'nobody is told that the receiver is away'
eventually has_chunks || failed 'the spool is empty'
expect 1 'another process uses it' "$weir" collect --root "$data/telemetry/tofu" --for 0s --forward "127.0.0.1:$port" --spool spool
kill -KILL "$collector"
wait "$collector" 2> /dev/null
waiting=$(find spool -name '*.chunk' | wc -l)
start_sink received2
expect 0 ' 0 kept in the spool, 0 dropped' "$weir" collect --root "$data/telemetry/tofu" --for 0s --drain 60s \
  --forward "127.0.0.1:$port" --spool spool
stop_sink
[ "$(samples received2)" = $(((waiting + 1) * 30)) ] || failed "$(samples received2) samples of $waiting chunks and one more"

# Ends in order at a signal, with a summary.
"$weir" collect --root "$data/telemetry/linux" --interval 20ms --output log3 --json > summary.json 2> /dev/null &
collector=$!
running+=("$collector")
eventually test -s log3 || failed 'nothing sampled'
kill -INT "$collector"
wait "$collector" || failed 'ended by a signal, it failed'
grep -q '"rounds"' summary.json || failed 'no summary'

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
