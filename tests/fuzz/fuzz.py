#!/usr/bin/env python3
"""Fuzzing with libFuzzer.  See README.md.

usage: fuzz.py [--short] [--replay FOLDER] [--tally FILE] [TARGET] [SECONDS]

Without arguments every target runs for a minute.  --short: a few seconds each, for `./dev test`.
--replay BUILD: no fuzzing, only the stored inputs, with the replay programs of that build.
"""

import argparse
import concurrent.futures
import glob
import hashlib
import os
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.join(ROOT, "build-asan")
SHORT_SECONDS = 8
MAX_SEED = 64 * 1024
SLOW_INPUT_SECONDS = 20


def fatbin(images):
    """A fatbin that stores these (sm, cubin) pairs."""
    body = b""
    for sm, image in images:
        padded = image + b"\0" * (-len(image) % 8)
        body += struct.pack("<HHIQIIHHIIIQQQ", 2, 0x101, 64, len(padded), 0, 0, 8, 1, sm, 0, 0,
                            0x11, 0, 0) + padded
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def archive(members):
    """An ar file of (name, bytes) pairs."""
    out = b"!<arch>\n"
    for name, data in members:
        out += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % ((name + "/").encode(), 0, 0, 0, b"644",
                                                     len(data))
        out += data + b"\n" * (len(data) % 2)
    return out


def host_object(sections):
    """A relocatable x86-64 ELF with these (name, bytes) sections."""
    names = b"\0"
    headers = [struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)]
    data = b""
    offsets = []
    sections = sections + [(".shstrtab", None)]
    for name, _ in sections:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    for (name, content), at in zip(sections, offsets):
        content = names if content is None else content
        data += b"\0" * (-len(data) % 8)
        kind = 3 if name == ".shstrtab" else 1
        headers.append(struct.pack("<IIQQQQIIQQ", at, kind, 2, 0, 64 + len(data), len(content),
                                   0, 0, 8, 0))
        data += content
    data += b"\0" * (-len(data) % 8)
    ident = b"\x7fELF\2\1\1" + b"\0" * 9
    header = ident + struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(data), 0, 64, 0, 0, 64,
                                 len(headers), len(headers) - 1)
    return header + data + b"".join(headers)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def seeds(target):
    """Starting inputs: the samples and the golden fixtures, in containers where that is the point."""
    found = sorted(glob.glob(os.path.join(ROOT, "samples/*.cubin")))
    found += sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/in/*")))
    if target in ("dump", "check", "object", "finalize", "diff", "size"):
        found += sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/expected.cubin")))
    blobs = [read(f) for f in found]
    if target in ("link", "diff", "report"):
        for folder in sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/in"))):
            parts = [read(f) for f in sorted(glob.glob(os.path.join(folder, "*")))][:2]
            if len(parts) == 2:
                blobs.append(b"2LNK" + struct.pack("<I", len(parts[0])) + parts[0] + parts[1])
    if target in ("container", "input", "slices"):
        a, b = (read(os.path.join(ROOT, "samples", n)) for n in ("reduce.cubin", "mathlib.cubin"))
        fat = fatbin([(90, a), (80, b)])
        host = host_object([("__nv_relfatbin", fat), (".nvFatBinSegment", b"\0" * 24),
                            ("__nv_module_id", b"abc\0"), (".nvHRKE", b"block_sum\0")])
        blobs = [a, fat, host, archive([("a.o", host), ("b.o", host_object([]))]),
                 archive([("//", b"a_rather_long_name.o/\n"), ("/0", host)]),
                 b"//\n.version 9.0\n.target sm_90\n.address_size 64\n"]
        blobs += [read(f) for f in found if not read(f).startswith(b"\x7fELF")]
    return [b for b in blobs if len(b) <= MAX_SEED]


def stored(target):
    return sorted(glob.glob(os.path.join(HERE, "corpus", target, "*")))


def all_targets():
    names = glob.glob(os.path.join(HERE, "fuzz_*.c"))
    return sorted(os.path.basename(n)[len("fuzz_"):-2] for n in names)


def write_seeds(target):
    folder = os.path.join(BUILD, "seeds", target)
    os.makedirs(folder, exist_ok=True)
    for blob in seeds(target):
        path = os.path.join(folder, hashlib.sha1(blob).hexdigest()[:16])
        if not os.path.exists(path):
            with open(path, "wb") as f:
                f.write(blob)
    return folder


def fuzz_one(target, seconds, fixed):
    """(target, ok, text)"""
    program = os.path.join(BUILD, "tests/fuzz/fuzz_" + target)
    if not os.path.exists(program):
        return target, None, "not built"
    corpus = os.path.join(BUILD, "corpus", target)
    finds = os.path.join(BUILD, "finds", target)
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(finds, exist_ok=True)
    folders = [corpus, write_seeds(target)]
    if stored(target):
        folders.append(os.path.join(HERE, "corpus", target))
    command = [program, "-max_total_time=%d" % seconds, "-max_len=%d" % MAX_SEED,
               "-timeout=%d" % SLOW_INPUT_SECONDS, "-rss_limit_mb=4096", "-use_value_profile=0",
               "-artifact_prefix=%s/" % finds, "-print_final_stats=1", "-verbosity=1", *folders]
    if fixed:
        # a test run must not depend on luck; the long runs look for news
        command.insert(1, "-seed=1")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          errors="replace")
    return target, done.returncode == 0, done.stdout


def replay(build, targets):
    passed = failed = 0
    for target in targets:
        program = os.path.join(build, "tests/fuzz/replay_" + target)
        if not os.path.exists(program):
            continue
        folder = os.path.join(HERE, "corpus", target)
        inputs = sorted(glob.glob(os.path.join(folder, "*")))
        inputs += sorted(glob.glob(os.path.join(ROOT, "samples/*.cubin")))
        done = subprocess.run([program, *inputs], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, errors="replace")
        if done.returncode:
            print(done.stdout[-6000:])
            print("FAIL %s (exit %d)" % (target, done.returncode))
            failed += 1
        else:
            passed += len(inputs)
    print("%d passed, %d failed" % (passed, failed))
    return passed, failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--replay", metavar="BUILD")
    parser.add_argument("--tally")
    parser.add_argument("target", nargs="?")
    parser.add_argument("seconds", nargs="?", type=int)
    args = parser.parse_args()
    targets = [args.target] if args.target else all_targets()
    if args.replay:
        return 1 if replay(args.replay, targets)[1] else 0
    if not os.path.exists(os.path.join(BUILD, "tests/fuzz/fuzz_link")):
        sys.exit("%s has no fuzzers: ./dev fuzz builds them" % os.path.relpath(BUILD, ROOT))
    seconds = args.seconds or (SHORT_SECONDS if args.short else 60)
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for target, ok, text in pool.map(lambda t: fuzz_one(t, seconds, args.short), targets):
            if ok is None:
                continue
            stats = dict(l.split(":")[0:2] for l in text.split("\n") if l.startswith("stat::")
                         for l in [l[len("stat::"):]])
            runs = stats.get("number_of_executed_units", "?").strip()
            if ok:
                passed += 1
                print("ok   %s: %s inputs in %d s" % (target, runs, seconds))
            else:
                failed += 1
                print("FAIL %s, see %s" % (target, os.path.relpath(
                    os.path.join(BUILD, "finds", target), ROOT)))
                print("\n".join("    " + l for l in text.split("\n")[-60:]))
            sys.stdout.flush()
    if args.tally:
        with open(args.tally, "a") as tally:
            tally.write("fuzz %d %d 0\n" % (passed, failed))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
