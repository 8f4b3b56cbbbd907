#!/usr/bin/env bash
# Runs a command with a PostgreSQL server of its own, whose address is in $WEIR_TEST_POSTGRESQL: with_postgresql.sh COMMAND...
# The command may call with_postgresql.sh --control stop|start|database NAME: ends that server at once, starts it again, or
# makes a database in it. The server keeps its files in a new folder, listens on a socket there and nowhere else, and ends with the command.
# Ends with 77 (skipped) where PostgreSQL is not installed or root has no user to run it as.
set -uo pipefail
skip() {
  echo "SKIP: $1"
  exit 77
}

bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -1)
if ! [ -x "$bin/initdb" ] || ! [ -x "$bin/pg_ctl" ]; then skip 'PostgreSQL is not installed (package postgresql)'; fi
as_owner() { "$@"; }
control=
if [ "$1" = --control ]; then
  control=$2
  work=${WEIR_TEST_POSTGRESQL_FOLDER:?--control is for commands that this script runs}
else
  work=$(mktemp -d) || exit 1
  chmod 755 "$work"
fi
if [ "$(id -u)" = 0 ]; then
  # The server refuses to run as root.
  if ! id postgres >/dev/null 2>&1 || ! command -v runuser >/dev/null; then
    rmdir "$work"
    skip 'there is no user postgres to run a server as'
  fi
  as_owner() { (cd "$work" && runuser -u postgres -- "$@"); }
  [ -n "$control" ] || chown postgres "$work" || exit 1
fi
server() { as_owner env -i PATH="$PATH" LC_ALL=C "$bin/pg_ctl" -D "$work/data" -l "$work/log" -w -t 120 "$@" </dev/null; }
start() {
  server -o "-c listen_addresses= -c unix_socket_directories='$work' -c fsync=off -c max_connections=20 -c shared_buffers=16MB" \
    start >/dev/null
}
case $control in
  stop) server -m immediate stop >/dev/null; exit ;;
  start) start; exit ;;
  database) as_owner env -i PATH="$PATH" "$bin/createdb" -h "$work" -U weir "$3" </dev/null; exit ;;
esac
stop() {
  server -m immediate stop >/dev/null 2>&1
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

if ! as_owner env -i PATH="$PATH" LC_ALL=C "$bin/initdb" -D "$work/data" -A trust -U weir -E UTF8 --locale=C --no-sync \
  >"$work/initdb.out" 2>&1 </dev/null; then
  cat "$work/initdb.out"
  exit 1
fi
if ! start; then
  cat "$work/log"
  exit 1
fi
export WEIR_TEST_POSTGRESQL_FOLDER=$work
export WEIR_TEST_POSTGRESQL="postgresql:///postgres?host=$work&user=weir"
"$@"
