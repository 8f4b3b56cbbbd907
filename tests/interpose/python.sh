#!/usr/bin/env bash
# python.sh WEIR CHECKER RANKS FAMILY PROGRAM MODULE...: record.sh with a Python program; 77 where Python or a module is missing or speaks to another MPI.
set -uo pipefail
here=$(dirname "$0")
weir=$1 checker=$2 ranks=$3 family=$4 program=$5
shift 5
python=/usr/bin/python3
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
for module in mpi4py "$@"; do
  "$python" -c "import mpi4py; mpi4py.rc.initialize = False; import $module" 2>/dev/null ||
    { echo "skipped: Python has no $module"; exit 77; }
done
"$python" -c "
import sys, mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
sys.exit(0 if ('Open MPI' in MPI.Get_library_version()) == (sys.argv[1] == 'openmpi') else 1)" "$family" ||
  { echo "skipped: mpi4py uses another MPI"; exit 77; }
exec "$here/record.sh" "$weir" "$checker" "$ranks" "$python" "$program"
