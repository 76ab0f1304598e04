#!/usr/bin/env python3
"""The shared library exports exactly what the public headers declare, and the version script says the same; the
library in nvJitLink's place exports what nvJitLink.h declares, under both names and its version."""
import glob
import os
import re
import subprocess
import sys

root, build = os.environ["CUBIND_ROOT"], os.environ["CUBIND_BUILD"]
library = os.path.join(build, "package/libcubind.so")
if not os.path.exists(library):
    print("no shared library in this build")
    sys.exit(77)


def read(path):
    with open(os.path.join(root, path)) as f:
        return f.read()


header = set()
for path in glob.glob(os.path.join(root, "include/cubind/*.h")):
    header |= set(re.findall(r"^CB_API [^;(]*?\b(cb_\w+)\(", read(path), re.M))
script = set(re.findall(r"^\s+(cb_\w+);", read("package/cubind.map"), re.M))
listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                        stdout=subprocess.PIPE, text=True).stdout
exported = {line.split()[-1].split("@")[0] for line in listed.splitlines()
            if line.split()[-2] != "A"}
failed = 0
for what, names in (("version script", script), ("library", exported)):
    same = names == header
    failed += not same
    print("%s - %s matches the headers" % ("ok 1" if same else "not ok 1", what))
    for name in sorted(names ^ header):
        print("# %s is only in %s" % (name, what if name in names else "the headers"))

header = set(re.findall(r"^nvJitLinkResult (nvJitLink\w+)\(", read("include/cubind/nvJitLink.h"), re.M))
expected = header | {"__%s_13_0" % name for name in header - {"nvJitLinkVersion"}} | {"__cubind_nvJitLink"}
listed = subprocess.run(["nm", "-D", "--defined-only", os.path.join(build, "package/libcubind-nvjitlink.so")],
                        check=True, stdout=subprocess.PIPE, text=True).stdout
exported = {line.split()[-1] for line in listed.splitlines() if line.split()[-2] != "A"}
same = exported == {name + "@@libnvJitLink.so.13" for name in expected}
failed += not same
print("%s - nvJitLink's names and version" % ("ok 3" if same else "not ok 3"))
for name in sorted({name.split("@")[0] for name in exported} ^ expected):
    print("# %s" % name)
sys.exit(1 if failed else 0)
