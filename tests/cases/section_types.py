#!/usr/bin/env python3
"""Memory sections with the types of an executable are what their names say, as with nvlink."""
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NOBITS, PROGBITS = 8, 1
KINDS = {".nv.global": NOBITS, ".nv.global.init": PROGBITS, ".nv_debug.shared": NOBITS}
PREFIXES = {".nv.shared.k": NOBITS, ".nv.constant": PROGBITS}


def retype(blob):
    """A copy with plain types, and how many sections changed."""
    out, changed = bytearray(blob), 0
    table, = struct.unpack_from("<Q", blob, 40)
    count, names = struct.unpack_from("<H", blob, 60)[0], struct.unpack_from("<H", blob, 62)[0]
    start, = struct.unpack_from("<Q", blob, table + 64 * names + 24)
    for at in range(table, table + 64 * count, 64):
        first = start + struct.unpack_from("<I", blob, at)[0]
        name = blob[first:blob.index(0, first)].decode()
        kind = KINDS.get(name) or next((k for p, k in PREFIXES.items() if name.startswith(p)), 0)
        if kind:
            struct.pack_into("<I", out, at + 4, kind)
            changed += 1
    return bytes(out), changed


def link(folder, name, blob, args):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(blob)
    run = subprocess.run([os.environ["CUBIND"], "link", "-arch=sm_90", *args, name, "-o", "out"],
                         cwd=folder, capture_output=True, text=True)
    if run.returncode:
        return run.stderr
    with open(os.path.join(folder, "out"), "rb") as f:
        return f.read()


def main():
    failed = passed = changes = 0
    top = tempfile.mkdtemp()
    for name in ("vc.cubin", "v8.cubin", "sh1.cubin", "c1.cubin", "b.cubin"):
        with open(os.path.join(HERE, "inputs", name), "rb") as f:
            blob = f.read()
        plain, changed = retype(blob)
        changes += changed
        for args in ([], ["-r"], ["-g"]):
            same = [link(os.path.join(top, x), name, b, args) for x, b in (("t", blob), ("p", plain))]
            ok = same[0] == same[1]
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print("FAIL", name, *args)
    print("%d sections" % changes)
    failed += changes < 7
    print("%d passed, %d failed" % (passed, failed))
    return failed != 0


sys.exit(main())
