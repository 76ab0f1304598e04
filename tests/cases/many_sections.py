#!/usr/bin/env python3
"""Links of so many kernels that section numbers need extended fields, as with nvlink.

nvlink writes .symtab_shndx as soon as it has created more than 0xff00 sections, written or not, and puts the
number of sections into the first header only above 0xff00.  The objects are made here; where the toolkit is
found, nvlink must link them to the same bytes."""

import os
import struct
import subprocess
import tempfile

from _checks import expect, finish
from _nvlink import CUBIND, EMULATE, real_nvlink

SHT_SYMTAB_SHNDX = 18
SHT_INFO, SHT_CONSTANT0 = 0x70000000, 0x70000064
ALLOC, EXEC, INFO_LINK = 2, 4, 0x40


def device_object(first, count, sm=80):
    """A relocatable device ELF with COUNT kernels, from number FIRST on, that do nothing."""
    names, strings = bytearray(1), bytearray(1)
    headers, body = [], bytearray()

    def section(name, kind, flags, data, link=0, info=0, align=4, entry=0):
        nonlocal names, body    # bytearrays: they grow in place
        offset = len(names)
        names += name.encode() + b"\0"
        body += b"\0" * (-(64 + len(body)) % align)
        headers.append([offset, kind, flags, 0, 64 + len(body), len(data), link, info, align, entry])
        body += data

    registers = b"".join(struct.pack("<BBHII", 4, 0x2f, 8, count + 1 + i, 8) for i in range(count))
    note = struct.pack("<III12sHHI", 12, 8, 1000, b"NVIDIA Corp", 2, sm, 130)
    section(".note.nv.cuinfo", 7, 0x1000000, note)
    section(".nv.info", SHT_INFO, 0, registers, 3)
    parameters, functions = bytearray(24), bytearray()
    code = bytes.fromhex("4d7900000000000000000000000e0000")  # an instruction of any kind
    for i in range(count):
        text, name = 6 + 3 * i, "k%d" % (first + i)
        section(".text." + name, 1, ALLOC | EXEC, code, 3, 8 << 24 | count + 1 + i, 128)
        section(".nv.info." + name, SHT_INFO, INFO_LINK, struct.pack("<BBHI", 4, 0x37, 4, 130), 3, text)
        section(".nv.constant0." + name, SHT_CONSTANT0, ALLOC | INFO_LINK, b"\0" * 0x160, 0, text)
        parameters += struct.pack("<IBBHQQ", 0, 3, 0, text + 2, 0, 0)
        functions += struct.pack("<IBBHQQ", len(strings), 0x12, 0x10, text, 0, len(code))
        strings += name.encode() + b"\0"
    kernels, headers = headers, []
    section(".strtab", 3, 0, strings, align=1)
    section(".symtab", 2, 0, parameters + functions, 2, count + 1, 8, 24)
    offset = len(names)
    names += b".shstrtab\0"
    headers.insert(0, [offset, 3, 0, 0, 64 + len(body), len(names), 0, 0, 1, 0])
    body += names
    headers = [[0] * 10] + headers + kernels
    body += b"\0" * (-len(body) % 8)
    table = b"".join(struct.pack("<IIQQQQIIQQ", *h) for h in headers)
    ident = b"\x7fELF\2\1\1\x41\x08" + bytes(7)
    return struct.pack("<16sHHIQQQIHHHHHH", ident, 1, 190, 1, 0, 0, 64 + len(body), sm << 8 | 4 | 4 << 24,
                       64, 56, 0, 64, len(headers), 1) + body + table


def numbers(path):
    """(e_shnum, sh_size of the first header, is there a .symtab_shndx?)"""
    with open(path, "rb") as f:
        data = f.read()
    table, = struct.unpack_from("<Q", data, 40)
    stated, = struct.unpack_from("<H", data, 60)
    first, = struct.unpack_from("<Q", data, table + 32)
    kinds = {struct.unpack_from("<I", data, table + 64 * i + 4)[0] for i in range(stated or first)}
    return stated, first, SHT_SYMTAB_SHNDX in kinds


def run(program, folder, args, out):
    return subprocess.run([*program, "-arch=sm_80", *args, "-o", out], cwd=folder, capture_output=True,
                          text=True, check=False)


def write_objects(folder, count):
    """COUNT kernels in objects whose own section numbers are small."""
    names = []
    for first in range(0, count, PER_OBJECT):
        names.append("%d-%d.cubin" % (first, count))
        with open(os.path.join(folder, names[-1]), "wb") as f:
            f.write(device_object(first, min(PER_OBJECT, count - first)))
    return names


PER_OBJECT = 8000
# Kernels, options, (e_shnum, number in the first header, is there a .symtab_shndx?).  A final link creates
# five sections for a kernel and writes three, -r creates four.
ROWS = [
    (13053, [], (39168, 0, False)),
    (13054, [], (39172, 0, True)),
    (16317, ["-r"], (48959, 0, False)),
    (16318, ["-r"], (48963, 0, True)),
    (21757, ["-r"], (65280, 0, True)),
    (21758, ["-r"], (0, 65283, True)),
    (21900, ["-r"], (0, 65709, True)),     # one of the sections is number SHN_COMMON
]


def main():
    nvlink = real_nvlink()
    with tempfile.TemporaryDirectory() as folder:
        for count, option, want in ROWS:
            args = [*option, *write_objects(folder, count)]
            done = run([CUBIND, "link", EMULATE], folder, args, "c.out")
            name = " ".join(["%d kernels" % count, *option])
            expect(name, done.returncode == 0, done.stderr)
            got = numbers(os.path.join(folder, "c.out"))
            expect(name + ": numbers", got == want, "%s, not %s" % (got, want))
            if nvlink:
                run([nvlink], folder, args, "n.out")
                with open(os.path.join(folder, "c.out"), "rb") as c, open(os.path.join(folder, "n.out"), "rb") as n:
                    expect(name + ": bytes", c.read() == n.read())
    finish()


if __name__ == "__main__":
    main()
