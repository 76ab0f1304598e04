#!/usr/bin/env python3
"""Typical mistakes and what is said about them: docs/messages.md is this test's output, read as a page of documentation.

usage: messages.py [--write]    --write makes the page anew; without, the page must be what would be written"""

import os
import shlex
import subprocess
import sys

from _checks import expect, finish

ROOT = os.environ.get("CUBIND_ROOT") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CUBIND = os.environ.get("CUBIND") or os.path.join(ROOT, "build/cubind")
PAGE = os.path.join(ROOT, "docs/messages.md")
HEAD = """# Messages

Typical mistakes, and what cubind says. Made by tests/cases/messages.py (`--write`), which also checks that this page
is true; do not edit.

The text of a message is nvlink's where nvlink reports the same thing; what comes after `help:` is cubind's own. Under
the name `nvlink`, and with `--emulate`, there is no help, only what nvlink prints. `app.cubin` needs a function of
`math.cubin`; both are those of the demo.
"""

# (heading, command, what to learn from it)
ROWS = [
    ("A function is missing", "link -arch=sm_90 app.cubin -o out.cubin",
     "Every undefined name is listed, with who refers to it. Here the file that has them was forgotten."),
    ("A name is defined twice", "link -arch=sm_90 app.cubin math.cubin again.cubin -o out.cubin",
     "All of them are listed, each with both files and the sections that hold it."),
    ("A name that is misspelt, or has other parameters", "link -arch=sm_90 app.cubin other.cubin -o out.cubin",
     "Names that look like the missing one are shown, and where they are."),
    ("A file is given twice", "link -arch=sm_90 app.cubin math.cubin copy.cubin -o out.cubin", "Equal contents are told from equal names."),
    ("The wrong target", "link -arch=sm_80 app.cubin math.cubin -o out.cubin", "Machine code runs on the chips of its own generation only."),
    ("A target that is misspelt", "link -arch=sm90 app.cubin math.cubin -o out.cubin", ""),
    ("No target", "link app.cubin math.cubin -o out.cubin", ""),
    ("An option that is misspelt", "link -arch=sm_90 --preserve-reloc app.cubin math.cubin -o out.cubin", ""),
    ("An option without its value", "link -arch=sm_90 app.cubin math.cubin -o", ""),
    ("A number that is none", "link -arch=sm_90 -maxrregcount=many app.cubin math.cubin -o out.cubin", ""),
    ("Options that exclude each other", "link -arch=sm_90 -suppress-debug-info app.cubin math.cubin -o out.cubin", ""),
    ("A file that is not there", "link -arch=sm_90 ap.cubin math.cubin -o out.cubin", "Whatever file cannot be read or written, the system's reason is given."),
    ("An output that cannot be written", "link -arch=sm_90 app.cubin math.cubin -o no/such/folder/out.cubin", ""),
    ("Source code instead of an object", "link -arch=sm_90 app.cubin math.cubin kernel.cu -o out.cubin", "A warning, since nvlink is silent about such files."),
    ("Code that is linked already", "link -arch=sm_90 linked.cubin -o out.cubin", ""),
    ("A damaged file", "link -arch=sm_90 app.cubin cut.cubin -o out.cubin", "`cubind check` says where the damage is."),
    ("... as `check` sees it", "check cut.cubin", ""),
    ("A kernel that must be there and is not", "link -arch=sm_90 app.cubin math.cubin --require-kernel block_sums -o out.cubin", ""),
    ("A symbol that is misspelt", "link -arch=sm_90 app.cubin math.cubin --why-live block_sun --trace-symbol helpr -o out.cubin", ""),
    ("A kernel that was dropped", "link -arch=sm_90 app.cubin math.cubin -kernels-used nothing --why-live block_sum -o out.cubin", ""),
    ("Links in two steps", "link -arch=sm_90 -r app.cubin math.cubin -o part.cubin",
     "What `-r` writes, nvlink's too, does not say any more where code reads a constant or a function its shared memory."),
    ("A command that is misspelt", "lnik app.cubin", ""),
    ("An option of an inspector", "dump --sumary app.cubin", ""),
    ("A section that is misspelt", "dump --section .nv.inof app.cubin", ""),
    ("A wrong value", "extract --kind cubn app.cubin", ""),
    ("A file without device code", "dump kernel.cu", ""),
]


def prepare(folder):
    def read(name):
        with open(os.path.join(ROOT, name), "rb") as f:
            return f.read()

    def write(name, data):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)

    app, math = read("samples/reduce.cubin"), read("samples/mathlib.cubin")
    write("app.cubin", app)
    write("math.cubin", math)
    write("copy.cubin", math)
    write("other.cubin", math.replace(b"_Z5weighfi", b"_Z5weighff").replace(b"_Z6smoothPKfi", b"_Z6smoothPKdi"))
    write("again.cubin", math + b"\0")
    write("cut.cubin", math[:len(math) // 2])
    write("linked.cubin", read("tests/golden/fnptr-global-90-default/expected.cubin"))
    write("kernel.cu", b"__global__ void kernel(float *values)\n{\n    values[threadIdx.x] *= 2;\n}\n")


def run(folder, command):
    done = subprocess.run([CUBIND, *shlex.split(command)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, env={"LC_ALL": "C", "PATH": os.environ.get("PATH", "")})
    return done.returncode, done.stdout


def page(folder):
    text = HEAD
    for heading, command, lesson in ROWS:
        code, out = run(folder, command)
        text += "\n## %s\n\n" % heading
        text += lesson + "\n\n" if lesson else ""
        text += "    $ cubind %s\n" % command
        text += "".join("    %s\n" % line if line else "\n" for line in out.splitlines())
        text += "\nExit status %d.\n" % code
        expect("%s: says something" % heading, out.strip())
    return text


tmp = os.environ.get("TMPDIR") or os.path.join(ROOT, "build")
prepare(tmp)
made = page(tmp)
if sys.argv[1:] == ["--write"]:
    with open(PAGE, "w") as f:
        f.write(made)
with open(PAGE) as f:
    stored = f.read()
for old, new in zip(stored.split("\n## "), made.split("\n## ")):
    expect("docs/messages.md: " + new.split("\n")[0], old == new, "written: %s\nnow: %s\n(messages.py --write)" % (old, new))
expect("docs/messages.md: all", stored == made)

# under nvlink's name there is no word more
os.symlink(CUBIND, os.path.join(tmp, "nvlink"))
done = subprocess.run(["./nvlink", "-arch=sm_90", "app.cubin", "math.cubin", "again.cubin", "-o", "out.cubin"], cwd=tmp,
                      capture_output=True, text=True, check=False)
expect("nvlink's own words", "help:" not in done.stderr and "nvlink error   : Multiple definition of" in done.stderr, done.stderr)
finish()
