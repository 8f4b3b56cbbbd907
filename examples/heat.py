#!/usr/bin/env python3
"""The heat equation of heat.cpp in Python, in blocks of rows.

    mpirun -n 4 python3 heat.py heat.h5 [synchronous|servers|thread]
"""

import sys

import numpy
from mpi4py import MPI

import weir

ROWS, COLUMNS, STEPS, EVERY = 200, 150, 100, 20


def main(path="heat.h5", mode=None):
    with weir.Session(MPI.COMM_WORLD, mode=mode) as io:  # I/O servers stay inside; compute ranks go on
        comm = io.compute  # used in place of MPI.COMM_WORLD
        rank, ranks = comm.rank, comm.size
        above = rank - 1 if rank > 0 else MPI.PROC_NULL
        below = rank + 1 if rank + 1 < ranks else MPI.PROC_NULL
        first, end = ROWS * rank // ranks, ROWS * (rank + 1) // ranks
        now = numpy.zeros((end - first + 2, COLUMNS))
        if first == 0 and end > 0:
            now[1] = 100.0  # the top edge is hot
        fixed = [row - first + 1 for row in (0, ROWS - 1) if first <= row < end]
        snapshot = io.allocate((end - first, COLUMNS))  # written without a copy

        with io.create(path, checksums=True) as out:
            for step in range(STEPS + 1):
                if step % EVERY == 0:
                    snapshot = io.fresh(snapshot)  # instead of waiting for the last ticket
                    snapshot[:] = now[1:-1]
                    ticket = out.write("temperature", snapshot, shape=(ROWS, COLUMNS), offset=(first, 0), step=step)
                comm.Sendrecv(now[1], above, 0, now[-1], below, 0)
                comm.Sendrecv(now[-2], below, 1, now[0], above, 1)
                following = now.copy()
                following[1:-1, 1:-1] = 0.25 * (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:])
                following[fixed] = now[fixed]
                now = following
            ticket.wait_stored()
            out.set_attribute("unit", "degree Celsius", variable="temperature")

        with io.open(path) as source:
            assert source.variables["temperature"].shape == (ROWS, COLUMNS)
            back = source.read("temperature", offset=(first, 0), count=snapshot.shape, step=STEPS)
        assert (back == snapshot).all(), "the last step came back differently"
        if rank == 0:
            print(f"wrote and read {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
