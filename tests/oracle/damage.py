"""Damaged copies of valid inputs: whatever is in them, every command ends in good order."""
import glob
import os
import random
import shutil
import struct
import subprocess
import time

import toolchain

LIMIT = 5.0
VALUES = [0, 1, 2, 3, 4, 7, 8, 0xFF, 0x100, 0xFF00, 0xFFF1, 0xFFF2, 0xFFFF, 0x10000, 0x7FFFFFFF,
          0x80000000, 0xFFFFFFF0, 0xFFFFFFFF, 1 << 32, 1 << 40, (1 << 63) - 1, 1 << 63,
          (1 << 64) - 8, (1 << 64) - 1]
MODES = [[], [], [], ["-r"], ["-r", "-g"], ["-g"], ["-kernels-used=k"], ["-preserve-relocs"],
         ["-v"], ["-dump-callgraph"], ["-force-rela"]]
INSPECT = [["check"], ["dump", "--all"], ["dump", "--all", "--json"], ["dump", "--capsule"],
           ["diff", "--full"]]
OUT = "final.out"
# Chips that code of another one may be meant for.
FAMILY = {"100": ["103", "110"], "103": ["100"], "110": ["100"], "120": ["121"], "121": ["120"]}


def put(blob, off, size, value):
    if off + size <= len(blob):
        blob[off:off + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def get(blob, off, size):
    return int.from_bytes(blob[off:off + size], "little")


def poke(rng, blob, off, size):
    """Gives one field another value: a special one, a near one or any."""
    old = get(blob, off, size)
    kind = rng.random()
    if kind < 0.4:
        new = rng.choice(VALUES + [len(blob), len(blob) - 1, len(blob) + 1])
    elif kind < 0.8:
        new = old + rng.choice([-16, -8, -4, -1, 1, 2, 4, 8, 16, 24, 64])
    else:
        new = rng.getrandbits(8 * size)
    put(blob, off, size, new)
    return "field 0x%x/%d: 0x%x -> 0x%x" % (off, size, old, new & ((1 << 8 * size) - 1))


def sections(blob):
    if len(blob) < 64:
        return []
    off, num = get(blob, 40, 8), get(blob, 60, 2)
    return [(off + 64 * i, struct.unpack_from("<IIQQQQIIQQ", blob, off + 64 * i))
            for i in range(num) if off + 64 * i + 64 <= len(blob)]


SHDR_FIELDS = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8),
               (56, 8)]
EHDR_FIELDS = [(4, 1), (5, 1), (7, 1), (8, 1), (16, 2), (18, 2), (20, 4), (24, 8), (32, 8), (40, 8),
               (48, 4), (52, 2), (54, 2), (56, 2), (58, 2), (60, 2), (62, 2)]
SYM_FIELDS = [(0, 4), (4, 1), (5, 1), (6, 2), (8, 8), (16, 8)]


TABLES = {"sym": (2, 0x70000085), "rel": (4, 9, 0x70000003, 0x70000082, 0x70000088),
          "info": (0x70000000, 0x70000083, 0x70000086), "graph": (0x70000001, 0x70000002),
          "note": (7,), "capsule": (0x70000016,), "action": (0x7000000b,),
          "unified": (0x70000010, 0x70000011, 0x70000012, 0x70000014), "debug": (1,)}
MERCURY_TABLES = ["capsule", "capsule", "debug", "action", "unified"]


def structured(rng, blob):
    secs = sections(blob)
    kind = rng.choice(["ehdr", "shdr", "shdr", "shdr", "sym", "sym", "rel", "rel", "info", "graph",
                       "note", "swap", "any"] +
                      (MERCURY_TABLES if is_mercury(blob) else []))
    if kind == "ehdr" or not secs:
        off, size = rng.choice(EHDR_FIELDS)
        return "ehdr " + poke(rng, blob, off, size)
    if kind == "shdr":
        off, size = rng.choice(SHDR_FIELDS)
        return "shdr " + poke(rng, blob, rng.choice(secs)[0] + off, size)
    if kind == "swap":
        (a, _), (b, _) = rng.choice(secs), rng.choice(secs)
        blob[a:a + 64], blob[b:b + 64] = blob[b:b + 64], blob[a:a + 64]
        return "section headers swapped"
    types = TABLES.get(kind)
    pool = [s for _, s in secs if s[5] and (types is None or s[1] in types)]
    if not pool:
        return "nothing"
    s = rng.choice(pool)
    off, size, ent = s[4], s[5], s[9]
    if kind == "sym":
        f, n = rng.choice(SYM_FIELDS)
        return "sym " + poke(rng, blob, off + 24 * rng.randrange(max(size // 24, 1)) + f, n)
    if kind == "rel" and ent:
        f, n = rng.choice([(0, 8), (8, 4), (12, 4)] + ([(16, 8)] if ent >= 24 else []))
        return "rel " + poke(rng, blob, off + ent * rng.randrange(max(size // ent, 1)) + f, n)
    n = rng.choice([1, 2, 4])
    return kind + " " + poke(rng, blob, off + rng.randrange(max(size // n, 1)) * n, n)


def damaged(rng, blob):
    blob = bytearray(blob)
    kind = rng.random()
    if kind < 0.25:
        marks = [0, 1, 4, 16, 63, 64, 65] + [x for _, s in sections(blob)
                                             for x in (s[4], s[4] + s[5])] + [get(blob, 40, 8)]
        at = rng.choice(marks) + rng.choice([0, 0, -1, 1]) if rng.random() < 0.5 \
            else rng.randrange(len(blob))
        at = max(0, min(at, len(blob) - 1))
        del blob[at:]
        return bytes(blob), "cut at %d" % at
    if kind < 0.45:
        what = []
        for _ in range(rng.choice([1, 1, 2, 8, 40])):
            at = rng.randrange(len(blob))
            blob[at] = rng.choice([blob[at] ^ (1 << rng.randrange(8)), 0, 0xFF,
                                   rng.getrandbits(8)])
            what.append(hex(at))
        return bytes(blob), "bytes at " + " ".join(what[:4])
    what = [structured(rng, blob) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    return bytes(blob), "; ".join(what)


def arch_of(blob):
    return str(get(blob, 48, 4) >> 8 & 0xFFFF)


def is_mercury(blob):
    return get(blob, 49, 2) >= 100


def groups(files):
    """Sets of inputs that link with each other: the files given, or every golden fixture."""
    if files:
        return [[(os.path.basename(f), open(f, "rb").read()) for f in files]]
    out = []
    for d in sorted(glob.glob(os.path.join(toolchain.ROOT, "tests", "golden", "*", "in"))):
        out.append([(f, open(os.path.join(d, f), "rb").read()) for f in sorted(os.listdir(d))])
        result = os.path.join(os.path.dirname(d), "expected.cubin")
        if os.path.exists(result):
            out.append([("expected.cubin", open(result, "rb").read())])
    return out


def commands(rng, arch, names, bad):
    """Steps that read the damaged file; a second step reads the result of the first."""
    target = "-arch=sm_" + arch + rng.choice(["", "a"] if int(arch) >= 90 else [""])
    if rng.random() < 0.2 and arch in FAMILY:
        target = "-arch=sm_" + rng.choice(FAMILY[arch])
    link = ["link", "--emulate", toolchain.EMULATE, target, "-o"]
    kind = rng.random()
    if kind < 0.7:
        return [[*link, OUT, *rng.choice(MODES), *names]]
    if kind < 0.8:
        return [[*link, "half.out", "-r", *names], [*link, OUT, *rng.choice(MODES), "half.out"]]
    if kind < 0.9 and int(arch) >= 100:
        return [["finalize", *rng.choice([[], ["--self-check"]]), target, bad, "-o", OUT]]
    inspect = rng.choice(INSPECT)
    return [[*inspect, bad, names[0]] if inspect[0] == "diff" else [*inspect, bad]]


def perform(tools, steps, files):
    """Runs the steps up to the first that fails."""
    d = tools.workdir()
    for name, data in files:
        with open(os.path.join(d, name), "wb") as f:
            f.write(data)
    for step in steps:
        try:
            p = subprocess.run([tools.cubind, *step], cwd=d, capture_output=True, timeout=LIMIT)
            rc, err = p.returncode, p.stderr.decode("latin1")
        except subprocess.TimeoutExpired:
            rc, err = -9999, ""
        if rc:
            break
    out = os.path.exists(os.path.join(d, step[step.index("-o") + 1])) if "-o" in step else None
    shutil.rmtree(d, ignore_errors=True)
    return rc, err, out


def problem(rc, err, out):
    if rc == -9999:
        return "took longer than %g s" % LIMIT
    if rc < 0 or rc in (134, 136, 139):
        return "died with signal %d" % (-rc if rc < 0 else rc - 128)
    for mark in ("AddressSanitizer", "runtime error:", "LeakSanitizer", "Assertion"):
        if mark in err:
            return next(x for x in err.splitlines() if mark in x)
    if out is None:  # a command that only looks
        return None
    if rc and out:
        return "left an output file with exit status %d" % rc
    if rc == 0 and not out:
        return "exit status 0 without an output file"
    if rc and not err:
        return "failed without a message"
    return None


def run(opts, tools, pooled):
    sets = groups(opts.damage)
    if opts.group == "mercury":
        sets = [s for s in sets if is_mercury(s[0][1])]
    if not sets:
        print("oracle: no files to damage\n0 passed, 0 failed, 1 skipped")
        return 0
    start = time.monotonic()

    def work(k):
        rng = random.Random("damage/%s/%d" % (opts.seed, k))
        files = list(sets[k % len(sets)])
        i = rng.randrange(len(files))
        name, blob = files[i]
        bad, what = damaged(rng, blob)
        steps = commands(rng, arch_of(files[0][1]), [n for n, _ in files], name)
        files[i] = (name, bad)
        return perform(tools, steps, files), steps, files, name, what

    good = failed = accepted = 0
    for k, (result, steps, files, name, what) in pooled(opts, range(opts.n), work):
        why = problem(*result)
        if not why:
            good += 1
            accepted += result[0] == 0
            continue
        failed += 1
        if failed > opts.show:
            continue
        folder = os.path.join(opts.keep or os.path.join(toolchain.ROOT, "build", "oracle-fail"),
                              "damage-%s-%d" % (opts.seed, k))
        os.makedirs(folder, exist_ok=True)
        for n, d in files:
            with open(os.path.join(folder, n), "wb") as f:
                f.write(d)
        print("FAIL damage seed %s job %d: %s\n    %s: %s; %s; files in %s" % (
            opts.seed, k, why, name, what, " && ".join(" ".join(s) for s in steps),
            os.path.relpath(folder)))
    print("%d damaged files in %.0f s, %d accepted, %d refused" % (
        opts.n, time.monotonic() - start, accepted, good - accepted))
    print("%d passed, %d failed" % (good, failed))
    return 1 if failed else 0
