#!/usr/bin/env bash
# weir ingest and weir store as a user runs them: ingest.sh PATH-OF-WEIR FOLDER-OF-TEST-DATA
# shellcheck disable=SC2317 # functions are called by name, through expect and trap
set -uo pipefail
weir=$1
data=$2/store
work=$(mktemp -d)
listener=
end() {
  [ -n "$listener" ] && kill -9 "$listener" 2>/dev/null
  rm -rf "$work"
}
trap end EXIT
cd "$work" || exit 1
unset WEIR_STORE
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"

expect 0 'Examples' "$weir" ingest --help
for command in show jobs check compact export; do expect 0 'Examples' "$weir" store "$command" --help; done
expect 2 'nothing to take in' "$weir" ingest --store a.db
expect 2 'store' "$weir" ingest some.log
expect 1 'No such file' "$weir" store show absent.db

# Files of fluentd: what is wrong is told with its line, the rest is kept.
expect 0 'fluentd.log:3: ' "$weir" ingest --store a.db "$data/fluentd.log"
expect 0 '3 records.*6 samples.*2 rejected|6 samples' "$weir" ingest --store a.db "$data/fluentd.log"
expect 0 '"rejected": 2' "$weir" ingest --store a.db --json --quiet "$data/fluentd.log"
expect 1 'No such file' "$weir" ingest --store a.db absent.log
printf '{{{\n???\n' >garbled
expect 1 'garbled: nothing in it could be taken in, 2 lines are wrong' "$weir" ingest --store a.db garbled
expect 1 'garbled: nothing in it could be taken in, 2 lines are wrong' "$weir" ingest --store a.db --prometheus garbled
expect 0 'link.wait_cycles +1' "$weir" store show a.db

# Jobs, nodes, topology.
expect 0 'sacct.txt:5: ' "$weir" ingest --store a.db --sacct "$data/sacct.txt" --time-zone +09:00
expect 0 "nodes.csv:5: 'server' is no role" "$weir" ingest --store a.db --nodes "$data/nodes.csv" --topology "$data/topology.json" --jobs "$data/jobs.csv"
expect 0 '3 jobs, 3 nodes, topology small' "$weir" store show a.db
expect 0 '4711 +ada +wave +completed +4 +2019-08-01T03:00:00Z +0:10:00' "$weir" store jobs a.db
expect 0 '"configuration": "T:agg=1,rr=1,req=8"' "$weir" store jobs a.db --json
expect 0 'ada' env WEIR_STORE=a.db "$weir" store jobs --user ada
expect 1 'mine/weir/jobs.db' env -u WEIR_STORE XDG_DATA_HOME="$PWD/mine" "$weir" store jobs

# Prometheus: a file, a page of this machine, and no other machine's.
expect 0 'metrics.txt:4: ' "$weir" ingest --store a.db --prometheus "$data/metrics.txt"
expect 2 'asks only this one' "$weir" ingest --store a.db --prometheus http://192.0.2.1:9/metrics
expect 2 'only http://' "$weir" ingest --store a.db --prometheus https://localhost/metrics
if command -v python3 >/dev/null; then
  python3 - "$data" "$work/port" <<'PY' &
import http.server, os, sys, functools
http.server.SimpleHTTPRequestHandler.log_message = lambda *a: None
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[1])

server = http.server.HTTPServer(("127.0.0.1", 0), handler)
open(sys.argv[2] + ".part", "w").write(str(server.server_port))
os.rename(sys.argv[2] + ".part", sys.argv[2])
server.timeout = 60
server.handle_request()
server.handle_request()
PY
  http=$!
  for _ in $(seq 600); do [ -s port ] && break; sleep 0.1; done
  expect 0 'samples' "$weir" ingest --store a.db --prometheus "http://127.0.0.1:$(cat port)/metrics.txt"
  expect 1 '404' "$weir" ingest --store a.db --prometheus "http://127.0.0.1:$(cat port)/absent"
  kill "$http" 2>/dev/null
  wait "$http" 2>/dev/null
fi

# Upkeep and ways out.
expect 0 'all is well' "$weir" store check a.db
expect 0 'blocks became' "$weir" store compact a.db
expect 0 'all is well' "$weir" store check a.db
expect 0 'gave out' "$weir" store export a.db --csv samples.csv --jobs jobs.csv --nodes nodes.csv
expect 0 'link.bytes,io0001,X\+,,1912380' cat samples.csv
expect 0 '^1564628520000000000,ost.write_bytes,oss1,lfs-OST0001,,1048576$' cat samples.csv
expect 0 '3 jobs.*3 nodes|3 nodes' "$weir" ingest --store b.db --jobs jobs.csv --nodes nodes.csv
expect 0 '5001' "$weir" store export b.db --jobs -
diff <("$weir" store export a.db --jobs - 2>/dev/null) <("$weir" store export b.db --jobs - 2>/dev/null) || {
  echo 'FAILED: jobs differ after export and import'
  failures=$((failures + 1))
}
expect 2 "no counter 'ost.write_byte'; did you mean" "$weir" store export a.db --csv x.csv --counters ost.write_byte
expect 1 "no job '47'; close to it are" "$weir" store export a.db --csv x.csv --job 47
expect 1 'No space left' "$weir" store export a.db --csv /dev/full
if "$weir" version --json | grep -A3 '"name": "hdf5"' | grep -q '"available": true'; then
  expect 0 'tokio_values' "$weir" store export a.db --tokio day.hdf5 --row 60
  expect 0 'series' "$weir" ingest --store c.db --tokio day.hdf5
  expect 1 'no HDF5 file' "$weir" ingest --store c.db --tokio "$data/nodes.csv"
fi

# A site that never was.
expect 0 '"samples"' "$weir" ingest --store k.db --synthetic k-computer --jobs-only --intervals 2 --answers answers.json --json
expect 0 'slow-target' cat answers.json
expect 0 '7001' "$weir" store jobs k.db
if grep -aqE 'slow.target|hot.link' k.db; then
  echo 'FAILED: the store tells what was planted'
  failures=$((failures + 1))
fi
expect 2 'no synthetic site' "$weir" ingest --store k.db --synthetic fugaku

# Listening: a message is acknowledged when it is stored, also if the listener is killed right then.
# listen STORE ARGUMENTS...: starts it, and waits until it listens; its address is in $address.
listen() {
  rm -f ready
  "$weir" ingest --store "$@" --listen 127.0.0.1:0 --ready-file ready >listen.log 2>&1 </dev/null &
  listener=$!
  for _ in $(seq 1200); do
    [ -s ready ] && break
    kill -0 "$listener" 2>/dev/null || break
    sleep 0.1
  done
  address=$(cat ready)
}
# One message in the forward protocol, with an acknowledgement asked for; prints what comes back.
send() {
  python3 - "$address" "$1" <<'PY'
import socket, struct, sys
host, port = sys.argv[1].rsplit(":", 1)
def text(s): return bytes([0xa0 | len(s)]) + s.encode()
value = int(sys.argv[2])
record = b"\x83" + text("node") + text("oss1") + text("ost") + text("A") + text("write_bytes") + b"\xce" + struct.pack(">I", value)
message = b"\x94" + text("ost") + b"\xce" + struct.pack(">I", 1564617600 + value) + record + b"\x81" + text("chunk") + text("c%d" % value)
with socket.create_connection((host, int(port)), timeout=120) as connection:
    connection.sendall(message)
    print(connection.recv(100))
PY
}
if command -v python3 >/dev/null; then
  listen l.db
  expect 0 'ack.*c1' send 1
  expect 0 'ack.*c2' send 2
  kill -9 "$listener"
  wait "$listener" 2>/dev/null
  expect 0 '2 samples of 1 series' "$weir" store show l.db
  listen l.db
  expect 0 'ack.*c3' send 3
  kill -TERM "$listener"
  wait "$listener"
  code=$?
  [ "$code" = 0 ] || { echo "FAILED: listener ended with $code"; cat listen.log; failures=$((failures + 1)); }
  expect 0 'took in .*1 records.*1 samples' cat listen.log
  expect 0 '3 samples of 1 series' "$weir" store show l.db

  # The store is away: spooled, acknowledged, and brought there later.
  listen away/l.db --spool spool.db
  expect 0 'ack.*c4' send 4
  kill -TERM "$listener"
  wait "$listener"
  expect 0 'store is away' cat listen.log
  mkdir away
  listen away/l.db --spool spool.db
  kill -TERM "$listener"
  wait "$listener"
  expect 0 '1 samples of 1 series' "$weir" store show away/l.db
  listener=
fi

[ "$failures" = 0 ] && echo 'all as expected'
exit $((failures > 0))
