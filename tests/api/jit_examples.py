#!/usr/bin/env python3
"""The examples of docs/jit.md do what the page says."""
import os
import re
import subprocess
import sys

root, build = os.environ["CUBIND_ROOT"], os.environ["CUBIND_BUILD"]
folder = os.path.join(build, "package")
if not os.path.exists(os.path.join(folder, "libcubind.so.0")):
    print("no shared library in this build")
    sys.exit(77)
os.chdir(os.environ["TMPDIR"])
with open(os.path.join(root, "docs", "jit.md")) as f:
    page = f.read()
sample = [os.path.join(root, "samples", name) for name in ("reduce.cubin", "mathlib.cubin")]
env = dict(os.environ, LD_LIBRARY_PATH=folder)
program = os.environ["CUBIND"]
subprocess.run([program, "link", "-arch=sm_90", *sample, "-o", "linked"], check=True)
size = "%d bytes" % os.path.getsize("linked")
failed = 0


def check(number, name, count, argv):
    global failed
    done = subprocess.run(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    same = done.returncode == 0 and len(lines) == count and lines[0] == size
    failed += not same
    print("%s %d - %s" % ("ok" if same else "not ok", number, name))
    if not same:
        print("# " + done.stdout.replace("\n", "\n# "))


for language, name in (("c", "example.c"), ("python", "example.py")):
    with open(name, "w") as f:
        f.write(re.search(r"^```%s\n(.*?)^```" % language, page, re.M | re.S).group(1))
subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(root, "include"), "example.c",
                "-o", "example", "-L", folder, "-lcubind"], check=True)
check(1, "C", 4, ["./example", *sample])
check(2, "Python", 1, [sys.executable, "example.py", *sample])
sys.exit(1 if failed else 0)
