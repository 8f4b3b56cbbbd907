#!/usr/bin/env bash
# python.sh RANKS PROGRAM ARGUMENT...: a Python program under $MPIEXEC with Weir's package. 77 (skipped), with the reason, where
# Python, NumPy or mpi4py are missing or mpi4py speaks to another MPI than Weir.
set -uo pipefail
python=${PYTHON:-/usr/bin/python3}
ranks=$1
shift
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
for module in numpy mpi4py; do
  "$python" -c "import $module" 2>/dev/null || { echo "skipped: python3-$module is not installed"; exit 77; }
done
reason=$("$python" -c 'import mpi4py; mpi4py.rc.initialize = False; import weir' 2>&1) || {
  printf '%s\n' "$reason"
  grep -q 'built with another MPI' <<<"$reason" && { echo "skipped: mpi4py uses another MPI"; exit 77; }
  exit 1
}
exec "$MPIEXEC" -n "$ranks" "$python" "$@"
