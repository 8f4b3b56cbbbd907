"""Weir's programming interface in Python, for NumPy arrays and mpi4py communicators.

    import weir
    with weir.Session() as io:                       # of MPI.COMM_WORLD; I/O servers stay inside
        comm = io.compute                            # used in place of MPI.COMM_WORLD, nothing else changes
        with io.create("run.h5") as out:
            ticket = out.write("T", field, shape=(NX, NY), offset=(x0, y0), step=0)
            ticket.wait()                            # errors arrive here, as weir.Error
        with io.open("run.h5") as source:
            field = source.read("T", offset=(x0, y0), count=(nx, ny), step=0)

Calls are COLLECTIVE over the session's communicator unless they say LOCAL; a weir.Error is the same on every rank.
A file stands under its name only once close() returned. An array that is being written stays alive until it is, also
if nobody keeps it or its ticket; do not change it before ticket.wait() returned.

The library is libweir.so, found beside this package, in the paths of the system, or where WEIR_LIBRARY says.
Threads: one at a time per session.
"""

import atexit
import sys
from ctypes import byref, c_char_p, c_int, c_int64, c_uint64, c_void_p, string_at
from dataclasses import dataclass

import numpy
from mpi4py import MPI

from ._library import CODES, FileOptions, ReductionStruct, SessionOptions, SummaryStruct, call, dimensions, encode, library
from ._library import Error as Error

__all__ = ["Error", "File", "Reader", "Reduction", "Session", "Ticket", "Variable", "version"]

_NO_STEP = -(2**63)
_POLICIES = {"automatic": 0, "synchronous": 1, "asynchronous": 2, "throttled": 3}
_DTYPES = {numpy.dtype(name): code for code, name in enumerate(
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 longdouble complex64 complex128 "
    "clongdouble".split())}
_DTYPE_OF = {code: dtype for dtype, code in _DTYPES.items()}
_sessions = set()  # that have not ended: they, and the arrays they write, outlive the program's references


def version():
    """LOCAL. "weir 0.1.0"."""
    return library.weir_version().decode()


def _type_code(dtype):
    native = numpy.dtype(dtype).newbyteorder("=")
    if native not in _DTYPES:
        raise Error(CODES["invalid_argument"], f"Weir stores integers, floats and complex numbers, not {dtype}")
    return native, _DTYPES[native]


def _file_options(backend, options, checksums, fsync, policy, in_flight):
    if policy not in _POLICIES:
        raise Error(CODES["invalid_argument"], f"policy '{policy}' is not one of {', '.join(_POLICIES)}")
    words = ",".join(f"{name}={value}" for name, value in (options or {}).items())
    return FileOptions(encode(backend), encode(words or None), bool(checksums), bool(fsync), _POLICIES[policy], in_flight)


class _Memory:
    """Memory that Weir allocated. Lives as long as an array that shows it."""

    def __init__(self, session, size):
        self._handle = c_void_p()
        self._address = c_void_p()
        self.session = session
        call(library.weir_allocate, session._handle, size, byref(self._handle), byref(self._address))

    def fresh(self):
        call(library.weir_fresh, self._handle, byref(self._address))

    def address(self):
        return self._address.value or 0

    def __del__(self):
        if self._handle:
            library.weir_free(byref(self._handle))


class _Place:
    """Where an array lies in such memory; NumPy keeps it as the base of the array."""

    def __init__(self, memory, shape, dtype):
        self.memory = memory
        self.__array_interface__ = {
            "version": 3, "shape": shape, "typestr": dtype.str, "data": (memory.address(), False)}


class Ticket:
    """One write under way. LOCAL, in any order, as often as you like; it may be dropped."""

    def __init__(self, handle, array):
        self._handle = handle
        self._array = array  # the very bytes that are written

    def test(self):
        """May the array be changed?"""
        return self._ask(library.weir_test)

    def stored(self):
        """Is the data in the file, or has it failed?"""
        return self._ask(library.weir_stored)

    def wait(self):
        """Until the array may be changed; raises weir.Error if the write is known to have failed."""
        self._wait(library.weir_wait)

    def wait_stored(self):
        """Until the data is in the file; raises weir.Error if it failed."""
        self._wait(library.weir_wait_stored)

    def _ask(self, function):
        answer = c_int()
        call(function, self._handle, byref(answer))
        return bool(answer.value)

    def _wait(self, function):
        copy = c_void_p()  # waiting ends a ticket; this one goes on
        call(library.weir_copy_ticket, self._handle, byref(copy))
        call(function, byref(copy))
        self._array = None

    def __del__(self):
        if self._handle:
            library.weir_drop(byref(self._handle))


@dataclass(frozen=True)
class Reduction:
    """What is stored of the steps and points that are written; the work is done by whoever writes the file.

        Reduction("mean", steps=10)      one mean for every 10 steps, with the number of the last of them
        Reduction(every=(2, 2))          every second point along both dimensions: 0, 2, 4, ...

    operation: "mean", "min", "max", "sum", or "instant", the last step; None: all steps are stored. Steps that are left over
    when the file is closed give one more result.
    """

    operation: str = None
    steps: int = 1
    every: tuple = None

    def _as_struct(self, name, rank):
        if self.every is not None and len(self.every) != rank:
            raise Error(CODES["invalid_argument"], f"write {name}: every {tuple(self.every)} and a block with {rank} dimensions do "
                        "not fit together")
        return ReductionStruct(encode(self.operation), self.steps, None if self.every is None else dimensions(self.every))


class File:
    """A file being written; made by Session.create. Close it, or use it in a with statement."""

    def __init__(self, session, handle, path):
        self._session = session
        self._handle = handle
        self.path = path

    def write(self, name, array, shape=None, offset=None, step=None, reduce=None):
        """This rank's block of an array of `shape` (left out: its own), at `offset` (left out: zeros).

        reduce: a Reduction, the same in every write of the variable; left out: everything is stored.
        """
        block = numpy.asarray(array)
        dtype, code = _type_code(block.dtype)
        block = numpy.ascontiguousarray(block, dtype=dtype)  # a copy only if it has gaps or foreign byte order
        whole = block.shape if shape is None else shape
        first = (0,) * block.ndim if offset is None else offset
        if not len(whole) == len(first) == block.ndim:
            raise Error(CODES["invalid_argument"], f"write {name}: shape {tuple(whole)}, offset {tuple(first)} and a block "
                        f"with {block.ndim} dimensions do not fit together")
        handle = c_void_p()
        less = None if reduce is None else byref(reduce._as_struct(name, block.ndim))
        call(library.weir_write_reduced, self._handle, encode(name), code, block.ctypes.data, block.ndim, dimensions(whole),
             dimensions(first), dimensions(block.shape), _NO_STEP if step is None else step, less, byref(handle))
        ticket = Ticket(handle, block)
        self._session._keep(_follow(handle), block)
        return ticket

    def set_attribute(self, name, value, variable=None):
        """A text, or numbers, as an attribute of the file or of a variable."""
        if isinstance(value, str):
            call(library.weir_set_text, self._handle, encode(variable), encode(name), encode(value))
            return
        numbers = numpy.ravel(numpy.asarray(value))
        dtype, code = _type_code(numbers.dtype)
        numbers = numpy.ascontiguousarray(numbers, dtype=dtype)
        call(library.weir_set_numbers, self._handle, encode(variable), encode(name), code, numbers.ctypes.data, numbers.size)

    def close(self):
        """The file gets its name, or, on failure, is removed."""
        call(library.weir_close, byref(self._handle))

    def close_later(self):
        """The same, but returns at once: the ticket's wait_stored() tells how it ended, and Session.end() if nobody asked.
        A file of which any write failed does not get its name."""
        handle = c_void_p()
        call(library.weir_close_later, byref(self._handle), byref(handle))
        return Ticket(handle, None)

    def give_up(self):
        """LOCAL. The file gets no name; what other ranks still do to it fails."""
        call(library.weir_give_up, byref(self._handle))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        # After an exception other ranks may be elsewhere, and the file is not whole.
        if kind is None:
            self.close()
        else:
            self.give_up()

    def __del__(self):
        if self._handle:
            self._session._take_over(self._handle)


def _follow(handle):
    copy = c_void_p()
    call(library.weir_copy_ticket, handle, byref(copy))
    return Ticket(copy, None)


@dataclass(frozen=True)
class Variable:
    """An array in a file. steps: the numbers of its steps; empty when it has none."""

    name: str
    dtype: numpy.dtype
    shape: tuple
    steps: tuple


class Reader:
    """A file being read; made by Session.open."""

    def __init__(self, session, handle, path):
        self._session = session
        self._handle = handle
        self.path = path

    @property
    def variables(self):
        """LOCAL. Every Variable, by its name."""
        found = {}
        name = c_char_p()
        while library.weir_variable_name(self._handle, len(found), byref(name)) == 0:
            text = name.value.decode()
            found[text] = self.variable(text)
        return found

    def variable(self, name):
        """LOCAL."""
        code, rank, steps = c_int(), c_int(32), c_uint64()
        shape = (c_uint64 * 32)()
        call(library.weir_inquire, self._handle, encode(name), byref(code), byref(rank), shape,
             byref(steps))
        numbers = (c_int64 * steps.value)()
        call(library.weir_steps, self._handle, encode(name), numbers, steps.value)
        return Variable(name, _DTYPE_OF[code.value], tuple(shape[:rank.value]), tuple(numbers))

    @property
    def attributes(self):
        """LOCAL. Every attribute's value, by (variable, name); variable is None for those of the file."""
        variable, name, names = c_char_p(), c_char_p(), []
        while library.weir_attribute_name(self._handle, len(names), byref(variable), byref(name)) == 0:
            names.append((None if variable.value is None else variable.value.decode(), name.value.decode()))
        return {(owner, text): self.attribute(text, variable=owner) for owner, text in names}

    def attribute(self, name, variable=None):
        """LOCAL. The text, or array of numbers, of an attribute of the file or of a variable."""
        is_text, code, count = c_int(), c_int(), c_uint64()
        call(library.weir_inquire_attribute, self._handle, encode(variable), encode(name), byref(is_text), byref(code),
             byref(count))
        if is_text.value:
            text = c_void_p()
            call(library.weir_get_text, self._handle, encode(variable), encode(name), byref(text))
            return string_at(text.value, count.value).decode(errors="replace")
        numbers = numpy.empty(count.value, _DTYPE_OF[code.value])
        call(library.weir_get_numbers, self._handle, encode(variable), encode(name), code.value, numbers.ctypes.data,
             numbers.size)
        return numbers

    def read(self, name, offset=None, count=None, step=None, out=None):
        """A block of an array, by default all of it; into `out`, if given."""
        variable = self.variable(name)
        first = (0,) * len(variable.shape) if offset is None else tuple(offset)
        if count is None:
            count = out.shape if out is not None else tuple(n - o for n, o in zip(variable.shape, first))
        if out is None:
            out = numpy.empty(count, variable.dtype)
        dtype, code = _type_code(out.dtype)
        if not out.flags.c_contiguous or out.dtype != dtype or out.shape != tuple(count):
            raise Error(CODES["invalid_argument"], f"read {name}: out must be an array of shape {tuple(count)} in C order")
        if not len(first) == len(count) == len(variable.shape):
            raise Error(CODES["invalid_argument"], f"read {name}: the array has {len(variable.shape)} dimensions")
        call(library.weir_read, self._handle, encode(name), code, out.ctypes.data, out.ndim, dimensions(first),
             dimensions(count), _NO_STEP if step is None else step)
        return out

    def close(self):
        call(library.weir_close_reader, byref(self._handle))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.close()


class Session:
    """The way in. mode: "synchronous", "servers" or "thread"; what is left out is as the plan of WEIR_PLAN says.

    With I/O servers, the constructor does not return on them. End the session with end(), or use it in a with statement.
    """

    def __init__(self, comm=None, mode=None, mapping=None, compute_per_server=0, node_size=0, budget=0):
        comm = MPI.COMM_WORLD if comm is None else comm
        self._handle = c_void_p()
        self._under_way = []  # writes, and the arrays that they need
        self._unclosed = []  # files that the program has lost
        self._total = None  # the summary, after the end
        options = SessionOptions(encode(mode), encode(mapping), compute_per_server, node_size, budget)
        call(library.weir_init_f, comm.py2f(), byref(options), byref(self._handle))
        _sessions.add(self)

    def _keep(self, ticket, array):
        """The bytes live until they are no longer needed, whatever the program does with its references."""
        self._under_way = [write for write in self._under_way if not write[0].test()]
        self._under_way.append((ticket, array))

    def _take_over(self, file):
        """Garbage is collected when other ranks are elsewhere: such a file waits for end(), which complains of it."""
        if self._handle:
            self._unclosed.append(file)
        else:
            library.weir_give_up(byref(file))

    @property
    def compute(self):
        """LOCAL. The communicator of the compute ranks. It is the session's: do not free it."""
        handle = c_int()
        call(library.weir_compute_comm_f, self._handle, byref(handle))
        return MPI.Intracomm(MPI.Comm.f2py(handle.value))

    def create(self, path, backend=None, options=None, checksums=False, fsync=False, policy="automatic", in_flight=1):
        """A new file. options: of the backend, as a dict. policy: also "synchronous", "asynchronous", "throttled"."""
        wanted = _file_options(backend, options, checksums, fsync, policy, in_flight)
        handle = c_void_p()
        call(library.weir_create, self._handle, encode(path), byref(wanted), byref(handle))
        return File(self, handle, path)

    def open(self, path, backend=None, options=None):
        wanted = _file_options(backend, options, False, False, "automatic", 1)
        handle = c_void_p()
        call(library.weir_open, self._handle, encode(path), byref(wanted), byref(handle))
        return Reader(self, handle, path)

    def allocate(self, shape, dtype=numpy.float64):
        """LOCAL. An array of zeros that is written without a copy."""
        shape = (shape,) if numpy.isscalar(shape) else tuple(shape)
        dtype, _ = _type_code(dtype)
        size = dtype.itemsize
        for length in shape:
            size *= int(length)
        return numpy.asarray(_Place(_Memory(self, size), shape, dtype))

    def fresh(self, array):
        """LOCAL. The array to overwrite as a whole, without waiting for a ticket: the one that was given, or, if that is on
        its way into a file, another one in its place (its elements unspecified). `array` comes from allocate()."""
        place = array
        while place is not None and not isinstance(place, _Place):
            place = getattr(place, "base", None)
        if place is None or array.nbytes == 0:
            raise Error(CODES["invalid_argument"], "fresh: the array does not come from Session.allocate")
        before = place.memory.address()
        place.memory.fresh()
        if place.memory.address() == before == array.ctypes.data:
            return array
        return numpy.asarray(_Place(place.memory, array.shape, array.dtype))

    @property
    def summary(self):
        """LOCAL. What the I/O of this rank cost so far, as a dict. After end(): of all ranks, times are those of the slowest."""
        values = SummaryStruct()
        if self._total is not None:
            values = self._total[0]
        else:
            call(library.weir_get_summary, self._handle, byref(values))
        return {name: getattr(values, name) for name, _ in SummaryStruct._fields_}

    @property
    def summary_text(self):
        """LOCAL. The same as a few lines for a person."""
        if self._total is not None:
            return self._total[1]
        text = c_char_p()
        call(library.weir_summary_text, self._handle, byref(text))
        return text.value.decode()

    def end(self):
        """Everything is in the files, I/O servers end. Files must be closed before."""
        _sessions.discard(self)
        if not self._handle:
            return
        values, text = SummaryStruct(), c_char_p()
        try:
            call(library.weir_finalize_with, byref(self._handle), byref(values), byref(text))
        finally:
            self._total = (values, text.value.decode())
            self._under_way = []
            while self._unclosed:
                library.weir_give_up(byref(self._unclosed.pop()))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            self.end()


@atexit.register
def _end_sessions():
    """A program that ends without end(): the others must not wait for it for ever."""
    for session in list(_sessions):
        if MPI.Is_finalized() or not session._handle:
            continue
        if getattr(sys, "last_type", None) is not None:
            print("weir: the program failed with a session open; ending the job", file=sys.stderr, flush=True)
            MPI.COMM_WORLD.Abort(1)
        session.end()
