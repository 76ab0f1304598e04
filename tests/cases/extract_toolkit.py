#!/usr/bin/env python3
"""`cubind extract` on the toolkit's own libraries: every image is found, counted independently.

The count here knows nothing of sections or archives: it looks for fatbin headers anywhere in the
file and walks their entries.  Skipped where there is no toolkit.
"""

import collections
import json
import mmap
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import _toolkit

ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
KINDS = {1: "ptx", 2: "cubin", 8: "ltoir", 16: "cubin"}
NAMES = ["libcudadevrt.a", "libcudart_static.a", "libculibos.a", "libcudart.so", "libnvJitLink.so",
         "libcufft.so", "libnccl.so", "libcublas.so", "libcublasLt.so", "libcusparse.so",
         "libcurand.so", "libcudnn_ops.so", "libnvrtc.so"]
MAGIC = struct.pack("<IHH", 0xBA55ED50, 1, 16)


def count(path):
    """Images by kind and architecture, and the first zstd or stored cubin as (number, entry)."""
    found = collections.Counter()
    with open(path, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(MAGIC)
        while at >= 0:
            size = struct.unpack_from("<Q", data, at + 8)[0]
            pos, end = at + 16, at + 16 + size
            if end > len(data) or size < 64:
                at = data.find(MAGIC, at + 4)
                continue
            while pos < end:
                kind, _, header, payload = struct.unpack_from("<HHIQ", data, pos)
                sm, = struct.unpack_from("<I", data, pos + 28)
                flags, = struct.unpack_from("<Q", data, pos + 40)
                suffix = "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""
                found[KINDS.get(kind, "other"), "%d%s" % (sm, suffix)] += 1
                pos += header + payload
            at = data.find(MAGIC, end)
    return found


def listed(path):
    done = subprocess.run([CUBIND, "extract", "--json", path], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    images = json.loads(done.stdout)["images"]
    found = collections.Counter((i["kind"], i["arch"].split("_")[-1]) for i in images)
    return done, images, found


def check_written(path, images):
    """Every image of a small library, written and looked at."""
    folder = tempfile.mkdtemp(prefix="extract-")
    try:
        done = subprocess.run([CUBIND, "extract", path, "-o", folder], stdout=subprocess.PIPE,
                              text=True)
        files = sorted(os.listdir(folder))
        problems = [] if done.returncode == 0 else ["exit %d" % done.returncode]
        if len(files) != len(images):
            problems.append("%d files for %d images" % (len(files), len(images)))
        for name in files:
            number = int(re.search(r"\.(\d+)\.(sm|compute|lto)_", name).group(1))
            with open(os.path.join(folder, name), "rb") as f:
                data = f.read()
            image = images[number]
            if len(data) != image["size"]:
                problems.append("%s has %d bytes, not %d" % (name, len(data), image["size"]))
            start = b"\x7fELF" if image["kind"] == "cubin" else b""
            if not data.startswith(start) or (image["kind"] == "ptx" and b".version" not in data):
                problems.append("%s is no %s" % (name, image["kind"]))
        return problems
    finally:
        shutil.rmtree(folder)


def main():
    folder = _toolkit.library_folder()
    if not folder:
        print("no toolkit with libraries (nvcc on PATH)")
        return 77
    passed = failed = skipped = 0
    for name in NAMES:
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            skipped += 1
            print("skip %s: the toolkit does not have it" % name)
            continue
        done, images, found = listed(path)
        expected = count(path)
        problems = []
        said = "" if images else "cubind extract: %s: no device code: it is %s\n" % (
            path, "an archive" if name.endswith(".a") else "a host library or program")
        if done.returncode != 0 or done.stderr != said:
            problems.append("exit %d, %s" % (done.returncode, done.stderr[:300]))
        if found != expected:
            problems.append("lists %s, expected %s" % (found - expected, expected - found))
        if 0 < len(images) <= 300:
            problems += check_written(path, images)
        if problems:
            failed += 1
            print("FAIL %s: %s" % (name, "; ".join(problems)))
        else:
            passed += 1
            print("%s: %d images" % (name, len(images)))
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


sys.exit(main())
