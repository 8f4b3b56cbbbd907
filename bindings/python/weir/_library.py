"""libweir.so as ctypes sees it: where it is, its functions, its structs, its errors. Not for programs."""

import ctypes
import ctypes.util
import os
import pathlib

from mpi4py import MPI

CODES = {"invalid_argument": 1, "not_found": 2, "unsupported": 3, "io": 4, "corrupt": 5, "disagreement": 6, "state": 7,
         "no_memory": 8}
_NAMES = {code: name for name, code in CODES.items()}


class Error(RuntimeError):
    """What failed, where and why, and what to do. name: "not_found", "io" and so on; code: its number."""

    __module__ = "weir"

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.name = _NAMES.get(code, str(code))


class SessionOptions(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_char_p), ("mapping", ctypes.c_char_p), ("compute_per_server", ctypes.c_uint32),
                ("node_size", ctypes.c_uint32), ("budget", ctypes.c_uint64)]


class FileOptions(ctypes.Structure):
    _fields_ = [("backend", ctypes.c_char_p), ("options", ctypes.c_char_p), ("checksums", ctypes.c_int),
                ("fsync", ctypes.c_int), ("policy", ctypes.c_int), ("in_flight", ctypes.c_uint32)]


class ReductionStruct(ctypes.Structure):
    _fields_ = [("operation", ctypes.c_char_p), ("steps", ctypes.c_uint64), ("every", ctypes.POINTER(ctypes.c_uint64))]


class SummaryStruct(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("writes", ctypes.c_uint64), ("bytes", ctypes.c_uint64),
                ("storing_seconds", ctypes.c_double), ("sending_seconds", ctypes.c_double),
                ("waiting_seconds", ctypes.c_double), ("closing_seconds", ctypes.c_double),
                ("peak_memory", ctypes.c_uint64), ("transport_bytes", ctypes.c_uint64),
                ("transport_seconds", ctypes.c_double), ("stored_bytes", ctypes.c_uint64)]


_pointer, _text, _int = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
_u64, _i64, _lengths = ctypes.c_uint64, ctypes.c_int64, ctypes.POINTER(ctypes.c_uint64)
_SIGNATURES = {
    "weir_init_f": (_int, _pointer, _pointer),
    "weir_compute_comm_f": (_pointer, _pointer),
    "weir_finalize_with": (_pointer, _pointer, _pointer),
    "weir_get_summary": (_pointer, _pointer),
    "weir_summary_text": (_pointer, _pointer),
    "weir_allocate": (_pointer, _u64, _pointer, _pointer),
    "weir_fresh": (_pointer, _pointer),
    "weir_free": (_pointer,),
    "weir_create": (_pointer, _text, _pointer, _pointer),
    "weir_write_reduced": (_pointer, _text, _int, _pointer, _int, _lengths, _lengths, _lengths, _i64, _pointer, _pointer),
    "weir_test": (_pointer, _pointer),
    "weir_stored": (_pointer, _pointer),
    "weir_wait": (_pointer,),
    "weir_wait_stored": (_pointer,),
    "weir_copy_ticket": (_pointer, _pointer),
    "weir_drop": (_pointer,),
    "weir_set_text": (_pointer, _text, _text, _text),
    "weir_set_numbers": (_pointer, _text, _text, _int, _pointer, _u64),
    "weir_close": (_pointer,),
    "weir_close_later": (_pointer, _pointer),
    "weir_give_up": (_pointer,),
    "weir_open": (_pointer, _text, _pointer, _pointer),
    "weir_inquire": (_pointer, _text, _pointer, _pointer, _pointer, _pointer),
    "weir_variable_name": (_pointer, _u64, _pointer),
    "weir_steps": (_pointer, _text, _pointer, _u64),
    "weir_attribute_name": (_pointer, _u64, _pointer, _pointer),
    "weir_inquire_attribute": (_pointer, _text, _text, _pointer, _pointer, _pointer),
    "weir_get_text": (_pointer, _text, _text, _pointer),
    "weir_get_numbers": (_pointer, _text, _text, _int, _pointer, _u64),
    "weir_read": (_pointer, _text, _int, _pointer, _int, _lengths, _lengths, _i64),
    "weir_close_reader": (_pointer,),
}


def _load():
    said = os.environ.get("WEIR_LIBRARY")
    installed = pathlib.Path(__file__).resolve().parents[3] / "libweir.so"  # PREFIX/lib/weir/python/weir/_library.py
    places = [said] if said else [str(installed)] if installed.exists() else ["libweir.so.0", "libweir.so"]
    complaints = []
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            complaints.append(str(error))
    raise ImportError(f"weir: the library is not there ({'; '.join(complaints)}); set WEIR_LIBRARY to the path of libweir.so")


def _check_mpi(loaded):
    """A communicator of one MPI library means nothing to another one."""
    text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
    loaded.MPI_Get_library_version(text, ctypes.byref(length))  # of the MPI that libweir.so is linked with
    ours, theirs = text.value.decode().split("\n")[0], MPI.Get_library_version().rstrip("\0").split("\n")[0]
    if ours.strip() != theirs.strip():
        raise ImportError(f"weir: libweir.so was built with another MPI ({ours.strip()[:60]}) than mpi4py ({theirs.strip()[:60]})")


library = _load()
_check_mpi(library)
library.weir_message.restype = ctypes.c_char_p
library.weir_version.restype = ctypes.c_char_p
for _name, _arguments in _SIGNATURES.items():
    getattr(library, _name).argtypes = _arguments


def call(function, *arguments):
    """Calls a function of weir.h; what it complains of becomes an exception."""
    status = function(*arguments)
    if status != 0:
        raise Error(status, library.weir_message().decode(errors="replace"))


def encode(text):
    return None if text is None else os.fsencode(text)


def dimensions(lengths):
    return (ctypes.c_uint64 * len(lengths))(*(int(length) for length in lengths))
