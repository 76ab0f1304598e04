"""The C library: its structures and functions, as include/cubind has them.

python/tests/test_layout.py holds every structure here against the headers.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)

OK = 0
ERR_USAGE = 1


class Diagnostic(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("severity", c_int),
        ("id", c_char_p),
        ("message", c_char_p),
        ("help", c_char_p),
        ("file", c_char_p),
        ("section", c_char_p),
        ("symbol", c_char_p),
        ("offset", c_uint64),
    ]


DIAGNOSTIC_FN = CFUNCTYPE(None, c_void_p, POINTER(Diagnostic))
WRITE_FN = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)


class Allocator(Structure):
    _fields_ = [("alloc", c_void_p), ("free", c_void_p), ("user", c_void_p)]


class LinkOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("arch", c_char_p),
        ("flags", c_uint64),
        ("on_diagnostic", DIAGNOSTIC_FN),
        ("on_diagnostic_user", c_void_p),
        ("allocator", Allocator),
        ("memory_limit", c_size_t),
        ("kernels_used", POINTER(c_char_p)),
        ("kernels_used_count", c_size_t),
        ("variables_used", POINTER(c_char_p)),
        ("variables_used_count", c_size_t),
        ("library_paths", POINTER(c_char_p)),
        ("library_path_count", c_size_t),
        ("ptxas_path", c_char_p),
        ("tool_name", c_char_p),
        ("tool_version", c_char_p),
        ("tool_build", c_char_p),
        ("command_line", c_char_p),
        ("ptxas_options", POINTER(c_char_p)),
        ("ptxas_option_count", c_size_t),
        ("max_registers", c_uint),
        ("nvjitlink_path", c_char_p),
        ("nvvm_path", c_char_p),
        ("compiler_seconds", c_uint),
        ("compiler_mebibytes", c_uint),
        ("ptxas_jobs", c_uint),
        ("cache_path", c_char_p),
        ("threads", c_uint),
    ]


class FinalizeOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("arch", c_char_p),
        ("flags", c_uint64),
        ("on_diagnostic", DIAGNOSTIC_FN),
        ("on_diagnostic_user", c_void_p),
        ("allocator", Allocator),
        ("memory_limit", c_size_t),
        ("options", c_char_p),
        ("output_name", c_char_p),
        ("backend", c_void_p),
    ]


class InspectOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("on_diagnostic", DIAGNOSTIC_FN),
        ("on_diagnostic_user", c_void_p),
        ("allocator", Allocator),
        ("memory_limit", c_size_t),
    ]


class ImageInfo(Structure):
    _fields_ = [
        ("kind", c_int),
        ("compression", c_int),
        ("file", c_char_p),
        ("section", c_char_p),
        ("fatbin", c_uint32),
        ("sm", c_uint32),
        ("suffix", c_char),
        ("arch", c_char_p),
        ("offset", c_uint64),
        ("stored", c_uint64),
        ("size", c_uint64),
        ("flags", c_uint64),
        ("version_major", c_uint16),
        ("version_minor", c_uint16),
        ("identifier", c_char_p),
        ("obfuscated", c_int),
    ]


class Param(Structure):
    _fields_ = [
        ("ordinal", c_uint32),
        ("offset", c_uint32),
        ("size", c_uint32),
        ("log_align", c_uint32),
        ("space", c_char_p),
        ("symbol", c_char_p),
    ]


class Function(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("kernel", c_int),
        ("symbol", c_uint32),
        ("section", c_uint32),
        ("offset", c_uint64),
        ("code_size", c_uint64),
        ("code", c_void_p),
        ("registers", c_int64),
        ("stack", c_int64),
        ("frame", c_int64),
        ("shared", c_uint64),
        ("local", c_uint64),
        ("constant", c_uint64),
        ("barriers", c_uint32),
        ("param_size", c_uint32),
        ("param_base", c_uint32),
        ("max_threads", c_uint32 * 3),
        ("required_threads", c_uint32 * 3),
        ("max_registers", c_uint32),
        ("cluster", c_uint32 * 3),
        ("explicit_cluster", c_int),
        ("max_cluster_rank", c_uint32),
        ("param_count", c_size_t),
        ("params", POINTER(Param)),
    ]


class Finding(Structure):
    _fields_ = [
        ("rule", c_char_p),
        ("message", c_char_p),
        ("section", c_char_p),
        ("symbol", c_char_p),
        ("offset", c_uint64),
        ("note", c_int),
    ]


# name -> what it returns, what it takes
_FUNCTIONS = {
    "cb_version_string": (c_char_p, []),
    "cb_status_string": (c_char_p, [c_int]),
    "cb_link_options_init": (None, [POINTER(LinkOptions), c_size_t]),
    "cb_link_create": (c_int, [POINTER(LinkOptions), POINTER(c_void_p)]),
    "cb_link_add_file": (c_int, [c_void_p, c_char_p]),
    "cb_link_add_memory": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t]),
    "cb_link_add_library": (c_int, [c_void_p, c_char_p]),
    "cb_link_run": (c_int, [c_void_p]),
    "cb_link_get_image": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "cb_link_free": (None, [c_void_p]),
    "cb_finalize": (
        c_int,
        [POINTER(FinalizeOptions), c_char_p, c_char_p, c_size_t, WRITE_FN, c_void_p, POINTER(c_int)],
    ),
    "cb_container_open": (c_int, [POINTER(InspectOptions), c_char_p, POINTER(c_void_p)]),
    "cb_container_open_memory": (
        c_int,
        [POINTER(InspectOptions), c_char_p, c_char_p, c_size_t, POINTER(c_void_p)],
    ),
    "cb_container_close": (None, [c_void_p]),
    "cb_container_content": (c_int, [c_void_p]),
    "cb_container_error_count": (c_size_t, [c_void_p]),
    "cb_container_count": (c_size_t, [c_void_p]),
    "cb_container_info": (POINTER(ImageInfo), [c_void_p, c_size_t]),
    "cb_content_text": (c_char_p, [c_int]),
    "cb_image_kind_name": (c_char_p, [c_int]),
    "cb_compression_text": (c_char_p, [c_int]),
    "cb_image_open": (c_int, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "cb_image_close": (None, [c_void_p]),
    "cb_image_status": (c_int, [c_void_p]),
    "cb_image_name": (c_char_p, [c_void_p]),
    "cb_image_bytes": (None, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "cb_image_demangle": (c_char_p, [c_void_p, c_char_p]),
    "cb_image_function_count": (c_size_t, [c_void_p]),
    "cb_image_function": (POINTER(Function), [c_void_p, c_size_t]),
    "cb_image_finding_count": (c_size_t, [c_void_p]),
    "cb_image_finding": (POINTER(Finding), [c_void_p, c_size_t]),
}


def _open() -> ctypes.CDLL:
    given = os.environ.get("CUBIND_LIBRARY")
    name = given or ctypes.util.find_library("cubind") or "libcubind.so.0"
    try:
        library = ctypes.CDLL(name)
    except OSError as e:
        raise ImportError(
            "%s; install cubind, or let CUBIND_LIBRARY name the shared library" % e
        ) from None
    for function, (result, arguments) in _FUNCTIONS.items():
        try:
            pointer = getattr(library, function)
        except AttributeError:
            raise ImportError("%s has no %s: it is too old for this package" % (name, function)) from None
        pointer.restype, pointer.argtypes = result, arguments
    return library


library = _open()
