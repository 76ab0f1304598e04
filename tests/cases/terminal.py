#!/usr/bin/env python3
"""Inspectors on a terminal: colour unless NO_COLOR or TERM=dumb, bars, progress for long work; none of it in pipes."""

import os
import pty
import subprocess

from _checks import expect, finish
from _containers import BITS64, ELF, LZ4, entry, fatbin

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
TMP = os.environ.get("TMPDIR", "/tmp")
SAMPLE = os.path.join(ROOT, "samples/reduce.cubin")


def on_terminal(*args, **env):
    """What is shown when stdout and stderr are one terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([CUBIND, *args], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                             env={"TERM": "xterm", "PATH": os.environ["PATH"], **env})
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:
            break
        if not block:
            break
        shown += block
    os.close(ours)
    child.wait()
    return shown.decode(errors="replace")


def in_pipe(*args):
    return subprocess.run([CUBIND, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, text=True).stdout


for args in (["dump", "--summary", SAMPLE], ["size", SAMPLE], ["diff", SAMPLE, os.path.join(ROOT, "samples/mathlib.cubin")]):
    expect("%s: colour" % args[0], "\x1b[" in on_terminal(*args))
    expect("%s: NO_COLOR" % args[0], "\x1b[" not in on_terminal(*args, NO_COLOR="1"))
    expect("%s: TERM=dumb" % args[0], "\x1b[" not in on_terminal(*args, TERM="dumb"))
    expect("%s: pipe" % args[0], "\x1b[" not in in_pipe(*args))
    plain = on_terminal(*args, NO_COLOR="1").replace("\r\n", "\n")
    expect("%s: the same text" % args[0], plain == in_pipe(*args), plain)
expect("JSON has no colour", "\x1b[" not in on_terminal("dump", "--json", SAMPLE))
expect("size: bars", "####" in on_terminal("size", SAMPLE) and "####" not in in_pipe("size", SAMPLE))
shown = on_terminal("dump", "--summary", SAMPLE)
expect("short work shows no progress", " images" not in shown, shown)



def with_zeros(data, zeros):
    """The data and so many zeros behind it, as a small LZ4 block."""
    def rest(n):
        return b"\xff" * (n // 255) + bytes([n % 255])
    block = b"\xff" + rest(len(data) + 1 - 15) + data + b"\0" + b"\1\0" + rest(zeros - 6 - 4 - 15) + b"\x50" + bytes(5)
    return entry(ELF, "90", block, flags=BITS64 | LZ4, packed=len(block), size=len(data) + zeros)


# long work: large images until two seconds are over
with open(SAMPLE, "rb") as f:
    image = with_zeros(f.read(), 32 << 20)
path = os.path.join(TMP, "many.fatbin")
count = 100
while True:
    with open(path, "wb") as f:
        f.write(fatbin(*[image] * count))
    begin = os.times().elapsed
    shown = on_terminal("check", "--threads", "1", path)
    seconds = os.times().elapsed - begin
    if seconds > 2.5 or count > 10000:
        break
    count = int(count * max(1.5, 3.5 / max(seconds, 0.01)))
expect("long work shows how far it is", "\r%d of %d images" % (0, count) not in shown and " of %d images\x1b[K" % count in shown, shown[-300:])
expect("progress is wiped out", shown.replace("\r\n", "\n").endswith("\r\x1b[K%d images, 0 findings\n" % count), shown[-300:])
expect("no progress in a pipe", in_pipe("check", path) == "%d images, 0 findings\n" % count)
finish()
