"""Parallel HDF5 from Python: h5py_calls.py FOLDER. Collective writes and reads of interleaved blocks."""
import sys

from mpi4py import MPI
import h5py
import numpy

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
if not h5py.get_config().mpi:
    if rank == 0:
        print("skipped: this h5py knows no MPI")
    sys.exit(0)

path = sys.argv[1] + "/h5py.h5"
with h5py.File(path, "w", driver="mpio", comm=comm) as file:
    for step in range(3):
        data = file.create_dataset(f"step{step}", (40, 6 * ranks), dtype="f8")
        mine = numpy.arange(40 * 6, dtype="f8").reshape(40, 6) * (step + 1) + rank / 16
        with data.collective:
            data[:, 6 * rank : 6 * rank + 6] = mine
    chunked = file.create_dataset("chunked", (8 * ranks, 30), chunks=(4, 10), dtype="i4")
    with chunked.collective:
        chunked[8 * rank : 8 * rank + 8, :] = rank + 1

with h5py.File(path, "r", driver="mpio", comm=comm) as file:
    other = (rank + 1) % ranks
    data = file["step2"]
    with data.collective:
        back = data[::3, 6 * other : 6 * other + 6]
    wanted = numpy.arange(40 * 6, dtype="f8").reshape(40, 6)[::3] * 3 + other / 16
    assert (back == wanted).all(), back
    with file["chunked"].collective:
        assert (file["chunked"][8 * other : 8 * other + 8, :] == other + 1).all()
