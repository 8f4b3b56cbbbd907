#!/usr/bin/env bash
# Programs that end badly: endings.sh PROGRAM MODE RANKS. Needs $MPIEXEC. In every case the job ends soon, says why,
# and leaves what was closed before; its status is not 0 where something was lost.
set -uo pipefail
program=$1 mode=$2 ranks=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
  failures=$((failures + 1))
  printf 'FAILED: %s (%s, %s ranks): %s\n%s\n' "$scenario" "$mode" "$ranks" "$1" "${output:0:3000}"
}

# ticks NAME: the processor time that each process has used so far, in $folder/NAME.
ticks() {
  for note in "$folder"/rank* "$folder"/client*; do
    awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$(cat "$note")/stat"
  done > "$folder/$1"
}

# run SCENARIO fails|succeeds PATTERN clean|any: how it ends, what it says, and whether anything unfinished may be left.
run() {
  scenario=$1
  local wanted=$2 pattern=$3 left=$4 code sign
  local folder=$work/$scenario
  mkdir "$folder"
  case $scenario in
    server-killed) sign=KILL ;;
    server-stopped) sign=STOP ;;
    *) sign= ;;
  esac
  if [ -n "$sign" ]; then
    ( for _ in $(seq 200); do [ -e "$folder/ready" ] && break; sleep 0.1; done
      for note in "$folder"/rank*; do kill -"$sign" "$(cat "$note")"; done ) 2> "$work/kill.log" &
  fi
  if [ "$scenario" = idle ]; then
    ( for _ in $(seq 200); do [ -e "$folder/ready" ] && break; sleep 0.1; done
      sleep 0.5
      for note in "$folder"/rank*; do sed -n 's/^RssShmem:[^0-9]*\([0-9]*\) kB$/\1/p' "/proc/$(cat "$note")/status"; done > "$folder/held"
      touch "$folder/seen"
      for _ in $(seq 200); do [ -e "$folder/waiting" ] && break; sleep 0.1; done
      sleep 0.5
      ticks before
      sleep 2
      ticks after ) &
  fi
  local begin=$SECONDS
  output=$(timeout -k 5 30 "$MPIEXEC" -n "$ranks" "$program" "$scenario" "$mode" "$folder" 2>&1)
  code=$?
  [ $((SECONDS - begin)) -lt 30 ] || complain 'did not end within 30 s'
  case $wanted in
    fails)
      [ "$code" != 0 ] || complain 'status 0'
      if [ "$left" = clean ] && [ "$code" -ge 128 ]; then complain "the launcher crashed: status $code"; fi ;;
    succeeds) [ "$code" = 0 ] || complain "status $code" ;;
  esac
  grep -qiE -- "$pattern" <<< "$output" || complain "does not say '$pattern'"
  [ "$(stat -c %s "$folder/whole.dat" 2> /dev/null || echo 0)" -gt 100000 ] || complain 'the file that was closed is not there'
  if [ "$left" = clean ] && [ -n "$(find "$folder" -name '*.partial.*')" ]; then complain "left: $(ls "$folder")"; fi
  if [ "$scenario" = idle ]; then
    [ -s "$folder/held" ] || complain 'nobody saw a server'
    # Of a core, in 2 s: a fifth would be 40 ticks; who waits busily uses 200.
    [ "$(wc -l < "$folder/after")" = "$ranks" ] || complain "not all were seen: $(cat "$folder/after")"
    while read -r before after; do
      [ $((after - before)) -lt $((2 * $(getconf CLK_TCK) / 5)) ] || complain "a process that waits used $((after - before)) ticks in 2 s"
    done < <(paste "$folder/before" "$folder/after")
    while read -r held; do [ "$held" -lt 32768 ] || complain "a server without a file holds $held KiB"; done < "$folder/held"
  fi
  if [ "$scenario" != end-of-scope ] && [ -e "$folder/lost.dat" ]; then complain 'lost.dat has its name'; fi
  if [ "$scenario" = end-of-scope ] && [ ! -e "$folder/lost.dat" ]; then complain 'lost.dat is lost'; fi
}

run nothing succeeds '' clean
run missing-folder fails 'No such file or directory' clean
run end-of-scope succeeds '' clean
run lost-in-scope fails 'No such file or directory' clean
run compute-after-end succeeds '' clean
run end-unclosed fails 'not closed' clean
run after-end succeeds 'the session has ended' clean
run exceptions fails 'all ranks have had enough' clean
run exception-data fails 'all ranks have had enough' clean
run finalize fails 'not closed' clean
run client-killed fails 'signal 9|Killed|has ended' any
if [ "$mode" = servers ]; then
  run exit fails 'exit code|non-zero|has ended|terminated' any
else  # the launcher's word alone, and MPICH's may have none for it
  run exit fails '' any
fi
if [ "$mode" = synchronous ]; then  # nobody answers for a rank that has left
  run exception fails 'left its session by an exception' any
  run exception-between fails 'left its session by an exception' any
else
  run exception fails 'has left the session|differs between ranks|given up by the program' clean
  run exception-between fails 'rank [0-9]+\): this rank has left the session' clean
fi
if [ "$mode" = thread ]; then
  WEIR_SHARING_TRAP=yes run exception-late fails 'has left the session|differs between ranks' clean
fi
if [ "$mode" = servers ]; then
  run own-messages fails 'left its session by an exception' any
  run idle succeeds '' clean
  run server-killed fails 'signal 9|Killed|has ended' any
  run server-stopped fails "lost\.dat: write variable 'T', step [0-9]+: the I/O server \(rank [0-9]+ of the job\) is lost: .* 5 s" any
fi
[ "$failures" = 0 ] || exit 1
echo 'all as expected'
