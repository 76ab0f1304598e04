"""Packs compiled modules into host objects as nvcc makes them, with the names of some kernels as
those that the host refers to: nvlink then removes the other kernels."""
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases"))

import _containers  # noqa: E402


def pack(blob, arch, text, seed, number):
    """The host object for one module: its cubin, PTX text and number in the program.  Which
    kernels the host knows depends on SEED and their names alone."""
    names = re.findall(r"\.entry\s+([\w$]+)", text)
    known = [n for n in names if random.Random("%s/%s" % (seed, n)).random() < 0.6]
    if number == 0 and not known:
        known = ["nothing"]  # patterns at all are what turns the removal on
    patterns = b"".join(n.encode() + b"\0" for n in known) or None
    code = _containers.fatbin(_containers.entry(_containers.ELF, arch, blob))
    return _containers.host_object(code, "_m%d" % number, patterns)


def wrap(blob, arch, kind, number):
    """A cubin in a fatbin, or in a host object that launches nothing: without any pattern."""
    code = _containers.fatbin(_containers.entry(_containers.ELF, arch, blob))
    return code if kind == "fatbin" else _containers.host_object(code, "_m%d" % number, None)


def archive(members):
    """An archive of (name, bytes)."""
    return _containers.archive(*[_containers.member(n.encode() + b"/", d) for n, d in members])
