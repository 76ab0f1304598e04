#!/usr/bin/env python3
"""The examples of inspect.h do what they say, and are as short as they say."""
import os
import re
import subprocess
import sys

root, build = os.environ["CUBIND_ROOT"], os.environ["CUBIND_BUILD"]
if not os.path.exists(os.path.join(build, "examples/list_kernels")):
    print("no examples in this build")
    sys.exit(77)
failed = count = 0


def say(ok, what, text=""):
    global failed, count
    count += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", count, what))
    if not ok:
        print("# " + repr(text))


def run(name, *args):
    done = subprocess.run([os.path.join(build, "examples", name), *args], cwd=root, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def length(name):
    """Lines behind the comment that says how to build it."""
    return open(os.path.join(root, "examples", name + ".c")).read().split("*/\n", 1)[1].count("\n")


code, text = run("list_kernels", "samples/reduce.cubin")
say(code == 0 and re.fullmatch(r"(sm_90  \d+ registers, \d+ bytes shared  \S.*\n)+", text), "list_kernels", text)
say(length("list_kernels") <= 30, "list_kernels is short", length("list_kernels"))
say(run("list_kernels", "README.md") == (0, ""), "a file without device code has no kernels")
say(run("list_kernels", "missing")[0] == 2, "a missing file")
code, text = run("size_report", "samples/reduce.cubin")
sizes = [int(line.split()[0]) for line in text.splitlines()]
say(code == 0 and sizes[-1] == sum(sizes[:-1]) > 0 and sizes[:-1] == sorted(sizes[:-1], reverse=True), "size_report", text)
say(length("size_report") <= 60, "size_report is short", length("size_report"))
lines = "tests/golden/lineinfo-90-default/expected.cubin"
listing = subprocess.run([os.path.join(build, "cubind"), "dump", "--sections", "--lines", lines], cwd=root, check=True,
                         stdout=subprocess.PIPE, text=True).stdout
section = re.search(r"0x6 +0x([0-9a-f]+) +0x[0-9a-f]+ .* \.text\.(\S+)\n", listing)
rows = re.search(r"function  %s\n  rows:\n.*\n +0x([0-9a-f]+) +0x[0-9a-f]+  (\S+) +(\d+)" % section.group(2), listing)
address = int(section.group(1), 16) + int(rows.group(1), 16)
code, text = run("which_kernel", lines, hex(address))
say(code == 0 and "+0x%s\n" % rows.group(1) in text and "at %s:%s in" % rows.groups()[1:] in text, "which_kernel", text)
say(run("which_kernel", lines, "%s+0x%s" % (section.group(2), rows.group(1)))[1] == text, "which_kernel by symbol")
say(run("which_kernel", lines, "0x4") == (1, ""), "an address without code")
sys.exit(1 if failed else 0)
