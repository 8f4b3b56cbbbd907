#!/usr/bin/env bash
# mpi4py_own.sh PYTHON WEIR RANKS: mpi4py's own tests of files, which Debian's package of it leaves out, end alike with Weir and without. They are
# those of $WEIR_MPI4PY_TESTS, the folder `test` of mpi4py's source in the version that is installed; 77 where it is not given. Needs $MPIEXEC.
set -uo pipefail
python=$1 weir=$2 ranks=$3
: "${WEIR_MPI4PY_TESTS:=}"
[ -n "$WEIR_MPI4PY_TESTS" ] || { echo "skipped: WEIR_MPI4PY_TESTS names no folder with mpi4py's tests"; exit 77; }
[ -f "$WEIR_MPI4PY_TESTS/test_io.py" ] || { echo "FAILED: WEIR_MPI4PY_TESTS: no test_io.py in '$WEIR_MPI4PY_TESTS'"; exit 1; }
program=("$MPIEXEC" -n "$ranks" "$python" "$WEIR_MPI4PY_TESTS/runtests.py" -i test_io -i test_file)

# ran: of one run's output, how many tests each rank ran; lines of ranks may be mixed
ran() { grep -oE 'Ran [1-9][0-9]* tests' | sort | uniq -c; }

theirs=$("${program[@]}" 2>&1 </dev/null) || { echo "FAILED without Weir:"; head -c 3000 <<<"$theirs"; exit 1; }
wanted=$(ran <<<"$theirs")
[[ $wanted =~ ^\ *$ranks\ Ran ]] || { echo "FAILED: not all ranks ran as many tests: $wanted"; exit 1; }
failures=0
for configuration in auto T: N: T:rr=1,req=1; do
  output=$("$weir" run --no-record --collective="$configuration" -- "${program[@]}" 2>&1 </dev/null)
  code=$?
  if [ "$code" != 0 ] || [ "$(ran <<<"$output")" != "$wanted" ] || ! grep -Eq 'collective I/O of [1-9]' <<<"$output"; then
    echo "FAILED with $configuration: code $code"; head -c 3000 <<<"$output"; failures=$((failures + 1))
  fi
done
[ "$failures" = 0 ] || exit 1
echo "all as without Weir: $wanted"
