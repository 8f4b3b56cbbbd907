#!/usr/bin/env python3
"""The Python package: types, layouts, memory, errors, lives of arrays. test_python.py FOLDER [MODE], under mpiexec."""

import gc
import os
import sys

import numpy
from mpi4py import MPI

import weir

folder = sys.argv[1]
mode = sys.argv[2] if len(sys.argv) > 2 else None


def raises(name, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except weir.Error as error:
        assert error.name == name, (error.name, str(error))
        return str(error)
    raise AssertionError("no weir.Error")


def path(name):
    return os.path.join(folder, name)


with weir.Session(mode=mode) as io:
    comm = io.compute
    assert isinstance(comm, MPI.Intracomm)
    rank, ranks = comm.rank, comm.size
    comm.Barrier()
    assert weir.version().startswith("weir ")
    for name in ("bad.dat", "never.dat"):  # of an earlier run; what follows must not make them
        if rank == 0 and os.path.exists(path(name)):
            os.remove(path(name))
    comm.Barrier()

    # Every type; arrays with gaps, of Fortran order, of foreign byte order. Nobody keeps array or ticket.
    types = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 longdouble complex64 complex128".split()
    with io.create(path("types.dat")) as out:
        for name in types:
            out.write(name, numpy.arange(rank, rank + 4).astype(name), shape=(4 * ranks,), offset=(4 * rank,))
            gc.collect()
        matrix = numpy.arange(24.0).reshape(4, 6) + 100 * rank
        out.write("gaps", matrix[:, ::2], shape=(4 * ranks, 3), offset=(4 * rank, 0)).wait()
        out.write("turned", matrix.T, shape=(6, 4 * ranks), offset=(0, 4 * rank)).wait()
        out.write("swapped", matrix.astype(">f8"), shape=(4 * ranks, 6), offset=(4 * rank, 0)).wait()
        out.write("empty", matrix[:0], shape=(0, 6)).wait()
        out.set_attribute("title", "of the file")
        out.set_attribute("limits", [1.5, 2.5], variable="gaps")
        assert "dimensions" in raises("invalid_argument", out.write, "bad", matrix, shape=(4,))
        raises("invalid_argument", out.write, "bad", numpy.array(["text"]))
    with io.open(path("types.dat")) as source:
        assert set(types) <= set(source.variables)
        for name in types:
            found = source.variable(name)
            assert found.dtype == numpy.dtype(name) and found.shape == (4 * ranks,) and found.steps == ()
            back = source.read(name, offset=(4 * rank,), count=(4,))
            assert (back == numpy.arange(rank, rank + 4).astype(name)).all()
        assert (source.read("gaps")[4 * rank:4 * rank + 4] == matrix[:, ::2]).all()
        assert (source.read("turned", offset=(0, 4 * rank), count=(6, 4)) == matrix.T).all()
        out_array = numpy.empty((4, 6))
        assert source.read("swapped", offset=(4 * rank, 0), out=out_array) is out_array
        assert (out_array == matrix).all()
        assert "did you mean" in raises("not_found", source.read, "gap")
        assert source.attribute("title") == "of the file"
        limits = source.attribute("limits", variable="gaps")
        assert limits.dtype == numpy.float64 and limits.tolist() == [1.5, 2.5]
        assert set(source.attributes) == {(None, "title"), ("gaps", "limits")}
        assert "did you mean 'title'" in raises("not_found", source.attribute, "titl")

    # Weir's memory, overwritten without waiting, with all policies.
    for policy in ("automatic", "synchronous", "asynchronous", "throttled"):
        field = io.allocate((3, 5), numpy.float32)
        assert (field == 0).all() and field.dtype == numpy.float32
        with io.create(path(policy + ".dat"), policy=policy, in_flight=2) as out:
            for step in range(6):
                field = io.fresh(field)
                field[:] = 10 * step + rank
                ticket = out.write("f", field, shape=(3 * ranks, 5), offset=(3 * rank, 0), step=step)
            ticket.wait()
            ticket.wait_stored()
            ticket.wait()
            assert ticket.test() and ticket.stored()
        with io.open(path(policy + ".dat")) as source:
            assert source.variable("f").steps == tuple(range(6))
            for step in range(6):
                back = source.read("f", step=step)
                assert (back == 10 * step + numpy.repeat(numpy.arange(ranks), 3)[:, None]).all(), (policy, step)
    raises("invalid_argument", io.fresh, numpy.zeros(3))
    raises("invalid_argument", io.create, path("x.dat"), policy="sometimes")

    # Less is stored than is written; files are closed beside the program, their arrays kept by nobody.
    for number in range(3):
        out = io.create(path(f"reduced{number}.dat"))
        for step in range(5):
            block = numpy.full((4, 6), 10.0 * step + number) + numpy.arange(6)
            whole = {"shape": (4 * ranks, 6), "offset": (4 * rank, 0), "step": step}
            out.write("mean", block, reduce=weir.Reduction("mean", steps=2), **whole)
            out.write("thin", block, reduce=weir.Reduction(every=(2, 3)), **whole)
            del block
            gc.collect()
        assert "every" in raises("invalid_argument", out.write, "thin", numpy.zeros((4, 6)), reduce=weir.Reduction(every=(2,)))
        closing = out.close_later()
        out.close()  # nothing is left to close
    closing.wait_stored()
    assert closing.stored()
    for number in range(3):
        with io.open(path(f"reduced{number}.dat")) as source:
            assert source.variable("mean").steps == (1, 3, 4)
            assert (source.read("mean", step=3) == 25.0 + number + numpy.arange(6)).all()
            assert (source.read("mean", step=4) == 40.0 + number + numpy.arange(6)).all()
            assert source.variable("thin").shape == (2 * ranks, 2)
            assert (source.read("thin", step=2) == 20.0 + number + numpy.array([0, 3])).all()
    out = io.create(path("never.dat"))
    out.write("v", numpy.zeros(3), shape=(2,))
    closing = out.close_later()
    raises("invalid_argument", closing.wait_stored)
    comm.Barrier()
    assert not os.path.exists(path("never.dat"))

    # Errors arrive with the ticket, or, if nobody asks, with close().
    out = io.create(path("bad.dat"))
    ticket = out.write("v", numpy.zeros(3), shape=(2,))
    raises("invalid_argument", ticket.wait)
    out.write("v", numpy.zeros(3), shape=(2,))
    raises("invalid_argument", out.close)
    comm.Barrier()
    assert not os.path.exists(path("bad.dat"))

    # An exception, also one that is dealt with, gives the file up; arrays that nobody keeps stay until they are written.
    try:
        with io.create(path("lost.dat")) as out:
            for number in range(4):
                out.write(f"v{number}", numpy.full(1 << 20, 1.0), shape=(ranks << 20,), offset=(rank << 20,))
            raise ValueError("on all ranks")
    except ValueError:
        pass
    del out
    gc.collect()
    with io.create(path("next.dat")) as out:
        out.write("v", numpy.full(4, 2.0 + rank), shape=(4 * ranks,), offset=(4 * rank,))
    comm.Barrier()
    assert not [name for name in os.listdir(folder) if name.startswith("lost.dat")]
    with io.open(path("next.dat")) as source:
        assert (source.read("v") == numpy.repeat(2.0 + numpy.arange(ranks), 4)).all()

    # A file that the program loses is complained of at the end, and what is on its way into it stays until then.
    other = weir.Session(comm, mode="thread")
    other.create(path("lost.dat")).write("v", numpy.full(1 << 20, 1.0), shape=(ranks << 20,), offset=(rank << 20,))
    gc.collect()
    assert "not closed" in raises("state", other.end)
    comm.Barrier()
    assert not os.path.exists(path("lost.dat"))

    # Numbers that cannot be meant.
    assert "budget is -1" in raises("invalid_argument", weir.Session, comm, budget=-1)
    assert "node_size is -2" in raises("invalid_argument", weir.Session, comm, node_size=-2)

    def create_and_close():  # who writes a file creates it: where that is not the program, close() tells
        io.create(path("no/such/folder/x.dat")).close()
    assert "No such file" in raises("not_found", create_and_close)
    assert " writes " in io.summary_text and io.summary["files"] > 0
    before = io.summary["bytes"]
    assert (io.summary["transport_bytes"] > 0) == (io.summary["transport_seconds"] > 0)
    with io.create(path("counted.dat")) as out:
        out.write("v", numpy.zeros((3, 5), numpy.float32), shape=(3 * ranks, 5), offset=(3 * rank, 0))
    assert io.summary["bytes"] - before == 60
    mine = io.summary
    total = comm.allreduce(mine["writes"]), comm.allreduce(mine["bytes"])

# After the end: of all ranks.
assert (io.summary["writes"], io.summary["bytes"]) == total and io.summary["files"] == mine["files"]
assert io.summary["stored_bytes"] > 0 and "weir: " in io.summary_text
io.end()  # once is enough
assert io.summary["files"] == mine["files"]
if rank == 0:
    print("all right")
