#!/usr/bin/env bash
# How sessions begin: starts.sh PROGRAM WEIR. Needs $MPIEXEC and $MPI_FAMILY (openmpi or mpich).
set -uo pipefail
program=$1 weir=$2
# shellcheck source=tests/expect.sh
source "${BASH_SOURCE[0]%/*}/../expect.sh"
enter_empty_folder

# fails WHAT RANKS OPTION...: soon, on every rank, with these words.
fails() {
  local what=$1 ranks=$2 output code
  shift 2
  output=$(timeout -k 5 30 "$MPIEXEC" -n "$ranks" "$program" "$work" "$@" 2>&1 < /dev/null)
  code=$?
  if [ $code != 3 ] || [ "$(grep -cE "^rank [0-9]+: .*$what" <<< "$output")" != "$ranks" ]; then
    failed "$ranks ranks, $*: code $code, wanted $ranks times /$what/"
    echo "$output"
  fi
}

# says EXPECTED COMMAND...: what the ranks say, in order; "c0/2" for the first of two compute ranks, "s" for a server, each with
# its hardware threads if those are not all.
says() {
  local wanted=$1 output got
  shift
  output=$(timeout -k 5 60 "$@" 2> stderr < /dev/null) || failed "$*: code $?"
  got=$(sort -s -n -k2,2 <<< "$output" | sed -nE 's|^rank [0-9]+: computes as ([0-9]+) of ([0-9]+) |c\1/\2 |p; s|^rank [0-9]+: serves |s |p' |
    sed -E 's/ on cpus all//; s/ on cpus /@/' | tr '\n' ' ')
  if [ "${got% }" != "$wanted" ]; then
    failed "$*: wanted '$wanted', got '$got'"
    echo "$output"
    cat stderr
  fi
}
# started EXPECTED RANKS OPTION...: the same, by the launcher as it is.
started() { says "$1" "$MPIEXEC" -n "$2" "$program" "$work" "${@:3}"; }
export MPIEXEC weir program work

# Options that differ between ranks are named, with both values and a rank; nobody waits for ever.
fails "compute_per_server differs between ranks: 3 here, 1 on rank 0" 4 mode=servers compute_per_server=3 compute_per_server@0=1
fails "mode differs between ranks: 'servers' here, 'synchronous' on rank 0" 3 mode=servers mode@0=synchronous
fails "\(rank 2\): the session's mode differs between ranks: 'thread' here, left out on rank 0" 3 mode@2=thread
fails "mapping differs between ranks: 'oversubscribe' here, 'consecutive' on rank 0" 2 mapping=consecutive mapping@1=oversubscribe
fails "node_size differs between ranks: left out here, 2 on rank 0" 4 mode=servers node_size@0=2
fails "unknown mapping 'hypertread'" 3 mapping@1=hypertread
echo '{"weir_plan": 1, "mode": "servers"}' > any.json
cat > with_plan_on_rank_0 <<'APP'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != 0 ] || export WEIR_PLAN=any.json
exec "$program" "$work"
APP
chmod +x with_plan_on_rank_0
expect 3 'plan of WEIR_PLAN differs between ranks: none here, mode servers.* on rank 0; hand the same plan to all ranks' \
  timeout -k 5 30 "$MPIEXEC" -n 3 ./with_plan_on_rank_0

fails "mode 'servers' contradicts mapping 'sequential'" 2 mode=servers mapping=sequential

# How many serve: of n ranks with k compute ranks per server, ceil(n / (1 + k)), but no more than compute.
started 'c0/1 s' 2 mode=servers
started 'c0/2 c1/2 s' 3 mode=servers compute_per_server=1
started 'c0/3 c1/3 c2/3 s s' 5 mode=servers compute_per_server=2
started 'c0/3 c1/3 c2/3 s s' 5 mode=servers compute_per_server=3
started 'c0/4 c1/4 c2/4 c3/4 s s s' 7 mode=servers compute_per_server=2
started 'c0/3 c1/3 c2/3 s' 4 mode=servers compute_per_server=3
# Blocks of the node size, whatever node they are on; a last rank joins the block before it.
started 'c0/3 c1/3 s s c2/3 s' 6 mode=servers node_size=2
started 'c0/3 s c1/3 s c2/3' 5 mode=servers node_size=1
started 'c0/4 c1/4 c2/4 s c3/4 s' 6 mode=servers node_size=3 compute_per_server=3

# A second session: the servers of the first are gone.
fails_again() {
  local output code
  output=$(timeout -k 5 30 "$@" second=world 2>&1 < /dev/null)
  code=$?
  if [ $code = 0 ] || [ $code = 124 ] || ! grep -qE '1 of the communicator.s 2 ranks takes part in an earlier session as an I/O server' <<< "$output"; then
    failed "$* second=world: code $code"
    echo "$output"
  fi
}
fails_again "$MPIEXEC" -n 2 "$program" "$work" mode=servers
fails_again "$weir" run --no-record --mapping consecutive -n 1 -- "$program" "$work"
started 'c0/2 c0/2 c1/2 c1/2 s s' 4 mode=servers second=compute
started 'c0/2 c0/1 c1/2 s s' 4 mode=servers second=compute-servers
started 'c0/2 c0/2 c1/2 c1/2' 2 second=world
says 'c0/1 c0/1 s' env WEIR_PLAN=any.json "$MPIEXEC" -n 2 "$program" "$work" second=compute
grep -q 'the I/O servers of WEIR_PLAN ended with the first session: the ranks of this one write synchronously' stderr ||
  failed "a session without the plan's servers says nothing: $(cat stderr)"

# weir run: as many compute ranks as asked for, and the servers that the ratio gives; what the program asks for comes first.
says 'c0/5 c1/5 c2/5 c3/5 c4/5 s s' "$weir" run --no-record --mapping consecutive -n 5 --ratio 3 -- "$program" "$work"
says 'c0/3 c1/3 c2/3 s s' "$weir" run --no-record --mapping consecutive -n 3 --ratio 2 -- "$program" "$work"
says 'c0/3 c1/3 c2/3 s s s' "$weir" run --no-record --mapping consecutive -n 5 --ratio 5 -- "$program" "$work" compute_per_server=1
says 'c0/3 s c1/3 s c2/3 s' "$weir" run --no-record --mapping consecutive -n 5 --ratio 5 -- "$program" "$work" node_size=1

# Where the launcher binds nothing, the library does if a mapping is asked for; where there are cores.
unbound=(env OMPI_MCA_hwloc_base_binding_policy=none "$MPIEXEC")
says 'c0/1 s' "${unbound[@]}" -n 2 "$program" "$work" mode=servers
says 'c0/1' "${unbound[@]}" -n 1 "$program" "$work"
many=$(($(nproc --all) + 1))
expect 0 'there are more ranks than cores: they are not bound' "${unbound[@]}" -n $many "$program" "$work" mapping=consecutive
if ! "$weir" plan --mapping hyperthread -n 1 > /dev/null 2>&1; then
  fails "mapping 'hyperthread' needs two hardware threads a core" 2 mapping=hyperthread
fi
if [ "$("$weir" plan --mapping consecutive 2> /dev/null | grep -c COMP)" -gt 0 ]; then
  # cpus MAPPING RANK: the hardware thread that a plan gives it.
  cpu() { "$weir" plan --mapping "$1" -n "${3-1}" | awk -v rank="$2" 'NR > 1 && $2 == rank { print $4 }'; }
  first=$(cpu consecutive 0) second=$(cpu consecutive 1)
  [ "$first" != "$second" ] || failed 'no two cores in the plan'
  says "c0/1@$first s@$second" "${unbound[@]}" -n 2 "$program" "$work" mapping=consecutive
  says "c0/1@$first s@$first" "${unbound[@]}" -n 2 "$program" "$work" mapping=oversubscribe
  says "c0/1@$first s@$second" "${unbound[@]}" -n 2 "$program" "$work" mode=servers mapping=consecutive
  says "c0/2@$first c1/2@$second" "${unbound[@]}" -n 2 "$program" "$work" mapping=sequential
  "$weir" plan --mapping consecutive -n 1 --json -o plan.json
  says "c0/1@$first s@$second" env WEIR_PLAN=plan.json "${unbound[@]}" -n 2 "$program" "$work"
  says "c0/1@$first s@$first" env WEIR_PLAN=plan.json "${unbound[@]}" -n 2 "$program" "$work" mapping=oversubscribe
  says "c0/1@$first s@$second" "$weir" run --no-record --mapping consecutive -n 1 -- "$program" "$work" mapping=oversubscribe

  # What is emitted for launchers starts servers, launched as its own first lines say.
  if [ "$MPI_FAMILY" = openmpi ] && "$MPIEXEC" --version | grep -q ' 4\.'; then
    rm -f plan.json
    "$weir" plan --mapping consecutive -n 1 --emit openmpi-rankfile -o ranks
    # shellcheck disable=SC2016 # the shell that runs it expands them
    { sed -n 's/^# weir /"$weir" /p' ranks; sed -n "s|^# mpirun \(.*\) THIS-FILE \(.*\) PROGRAM$|\"\$MPIEXEC\" \1 ranks \2 \"\$program\" \"\$work\"|p" ranks; } > launch
    says "c0/1@$first s@$second" sh launch
  fi
  # A script says what is missing, and takes the plan that lies beside it. Any launcher will do: MPICH's options are left out.
  cat > launcher <<'APP'
#!/bin/sh
while [ "$1" != -n ]; do shift; done
exec "$real" "$@"
APP
  chmod +x launcher
  rm -f plan.json
  "$weir" plan --mapping consecutive -n 1 --emit mpich -o launch.sh
  script=(env real="$MPIEXEC" MPIEXEC=./launcher OMPI_MCA_hwloc_base_binding_policy=none sh launch.sh "$program" "$work")
  expect 1 'no plan in .*/plan.json: see the beginning of launch.sh' "${script[@]}"
  # shellcheck disable=SC2016 # the shell that runs it expands it
  sed -n 's/^# weir /"$weir" /p' launch.sh | sh
  says "c0/1@$first s@$second" "${script[@]}"
fi

[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
echo 'all as expected'
