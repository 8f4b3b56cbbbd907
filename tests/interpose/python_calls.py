"""MPI-IO from Python: python_calls.py FOLDER. Rank r writes bytes of the value r + 1, then reads them."""
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()
mine = bytearray([rank + 1] * 24)

view = MPI.BYTE.Create_vector(1, 4, 4).Create_resized(0, 4 * ranks).Commit()
file = MPI.File.Open(comm, sys.argv[1] + "/python-view", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(8 + 4 * rank, MPI.BYTE, view)
file.Write_all([mine, MPI.BYTE])
file.Iwrite_at(32, [mine, 12, MPI.BYTE]).Wait()
comm.Barrier()
for offset, count in ((0, 24), (32, 12)):
    back = bytearray(count)
    file.Read_at_all(offset, [back, MPI.BYTE])
    assert back == mine[:count], back
file.Close()

file = MPI.File.Open(comm, sys.argv[1] + "/python-ordered", MPI.MODE_CREATE | MPI.MODE_WRONLY)
for _ in range(2):
    file.Write_ordered([mine, 2 + rank, MPI.BYTE])
file.Close()
