#!/usr/bin/env bash
# python.sh FAMILY MODULES SCRIPT ARGUMENT...: runs the script with its arguments, in which PYTHON stands for Python; 77 where Python or one of the
# MODULES (a,b) is missing, or speaks to another MPI.
set -uo pipefail
family=$1 modules=$2 script=$3
shift 3
python=/usr/bin/python3
command -v "$python" >/dev/null || { echo "skipped: no $python"; exit 77; }
for module in ${modules//,/ }; do
  "$python" -c "import mpi4py; mpi4py.rc.initialize = False; import $module" 2>/dev/null ||
    { echo "skipped: Python has no $module"; exit 77; }
done
"$python" -c "
import sys, mpi4py
mpi4py.rc.initialize = False
from mpi4py import MPI
sys.exit(0 if ('Open MPI' in MPI.Get_library_version()) == (sys.argv[1] == 'openmpi') else 1)" "$family" ||
  { echo "skipped: mpi4py uses another MPI"; exit 77; }
arguments=()
for argument in "$@"; do arguments+=("${argument/#PYTHON/$python}"); done
exec "$script" "${arguments[@]}"
