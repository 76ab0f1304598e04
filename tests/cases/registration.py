#!/usr/bin/env python3
"""The list of modules is shared by the links of all targets: what is left of one that is there."""

import os
import subprocess
import tempfile

from _containers import ELF, archive, entry, fatbin, host_object, member
from _checks import expect, finish

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))

# name, arguments, whether a list that is there stays as nvlink leaves it
CASES = (
    ("no device runtime", ["b.o"], False),
    ("not needed", ["b.o", "libcudadevrt.a"], True),
    ("not needed, in front", ["libcudadevrt.a", "b.o"], False),
    ("alone", ["libcudadevrt.a"], False),
    ("not needed, relocatable", ["-r", "b.o", "libcudadevrt.a"], True),
    ("needed", ["a.o", "libcudadevrt.a"], False),
)


def main():
    with tempfile.TemporaryDirectory() as folder:
        def write(name, data):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)

        objects = {}
        for name, source in (("a", "a"), ("b", "c1"), ("runtime", "b")):
            with open(os.path.join(HERE, "inputs", source + ".cubin"), "rb") as f:
                objects[name] = host_object(fatbin(entry(ELF, "90", f.read(), "zstd")), "_" + name)
            write(name + ".o", objects[name])
        write("libcudadevrt.a", archive(member(b"r.o/", objects["runtime"])))
        for name, args, stays in CASES:
            for text in (b"as before\n", b""):
                write("list", text)
                done = subprocess.run([CUBIND, "link", "-arch=sm_90", *args, "--register-link-binaries=list", "-o",
                                       "out"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                with open(os.path.join(folder, "list"), "rb") as f:
                    now = f.read()
                expect("%s, %d bytes before" % (name, len(text)), done.returncode == 0 and (now == text) == stays,
                       done.stdout + repr(now))
    finish()


if __name__ == "__main__":
    main()
