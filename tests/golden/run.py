#!/usr/bin/env python3
"""Links again what is stored and compares with what nvlink made; `cubind check` and `dump` look
at all of it, and changed copies of it are linked (changed.py). Needs no CUDA toolkit.

usage: run.py [--cubind PROGRAM] [-j N] [--stop] [--every N] [--threads N] [--timeout SECONDS]
              [--extract FOLDER] [NAME...]

NAME: only the links whose name has NAME in it.  --stop: at the first difference, the links in an order
that mixes their kinds.  --every N: of each archive only every Nth link.  --threads N: link with so many,
and look at no image.  --extract: write the folders of these links, and run nothing.
"""
import argparse
import collections
import hashlib
import os
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "oracle")]
sys.dont_write_bytecode = True
import changed  # noqa: E402
import reports  # noqa: E402
import store  # noqa: E402
import toolchain  # noqa: E402


DUMPS = os.path.join(HERE, "dumps.txt")
FINDINGS = os.path.join(HERE, "findings.txt")


def stored(every):
    """The links of the folders, then those of the archives."""
    folders = [os.path.join(HERE, n) for n in sorted(os.listdir(HERE))]
    for folder in folders:
        if os.path.exists(os.path.join(folder, "cmd")):
            yield store.read_folder(folder)
    for archive in folders:
        if archive.endswith(".tar.xz"):
            for i, link in enumerate(store.read_archive(archive)):
                if i % every == 0:
                    yield link


def check(tools, link, before=(), timeout=toolchain.TIMEOUT, options=()):
    """Links it again; BEFORE: words in front of the command; OPTIONS: for `cubind link`."""
    want = toolchain.Run(link.status, link.stderr, link.out, link.stdout)
    if link.args[0] == "finalize":
        argv = [tools.cubind, *link.args]
    else:
        argv = [tools.cubind, "link", "--emulate", toolchain.EMULATE, *options, *link.args]
    got = tools.exec_link([*before, *argv, *[n for n, _ in link.inputs]], link.inputs, "c",
                          timeout)
    return toolchain.compare(tools, want, got, link.args, link.inputs)


def extract(links, folder):
    for link in links:
        for inner, data in link.files().items():
            path = os.path.join(folder, link.name, inner)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
        print(os.path.join(folder, link.name))


def run(tools, links, jobs, stop, timeout, options=()):
    """Counts of the grades of the links."""
    grades = collections.Counter()
    with ThreadPoolExecutor(jobs) as pool:
        verdicts = [(link, pool.submit(check, tools, link, (), timeout, options)) for link in links]
        for link, verdict in verdicts:
            v = verdict.result()
            grades[v.grade] += 1
            if v.grade == "same":
                continue
            print("FAIL %s\n    %s" % (link.name, (v.text or v.grade).replace("\n", "\n    ")))
            sys.stdout.flush()
            if stop:
                pool.shutdown(cancel_futures=True)
                break
    return grades


def device_images(links):
    """Digest -> (a name, bytes) of each device ELF among inputs and outputs."""
    found = {}
    for link in links:
        for name, data in [*link.inputs, ("expected.cubin", link.out)]:
            if data and data[:4] == b"\x7fELF" and data[18:20] == b"\xbe\0":
                key = hashlib.sha256(data).hexdigest()[:16]
                found.setdefault(key, (link.name + "/" + name, data))
    return found


def findings(tools, images, jobs):
    """Digest -> what `cubind check --pedantic` says of that image, line by line."""
    keys = sorted(images)

    def batch(part):
        argv = [tools.cubind, "check", "--pedantic", *part]
        done = tools.run_beside(argv, [(key, images[key][1]) for key in part])
        lines = [x for x in done.stdout.splitlines() if x[16:17] == ":"]
        if done.returncode not in (0, 1):
            lines += ["%s: exit status %d %s" % (part[0], done.returncode, done.stderr[-300:])]
        return lines
    said = {}
    with ThreadPoolExecutor(jobs) as pool:
        for lines in pool.map(batch, [keys[i:i + 100] for i in range(0, len(keys), 100)]):
            for line in lines:
                said.setdefault(line[:16], []).append(line[16:])
    return said


def dumps(tools, images, jobs):
    """Group of images (the first digits of their digests) -> digest of what `cubind dump` shows."""
    groups = {}
    for key in sorted(images):
        groups.setdefault(key[:2], []).append(key)

    def group(part):
        files = [(key, images[key][1]) for key in part]
        text = "".join(tools.run_beside([tools.cubind, "dump", how, *part], files).stdout
                       for how in ("--all", "--capsule"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]
    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(groups, pool.map(group, groups.values())))


def check_dumps(tools, links, jobs):
    """Whether all images are shown as they were when dumps.txt was made.  Returns (passed, failed)."""
    with open(DUMPS) as f:
        want = dict(line.split() for line in f)
    got, failed = dumps(tools, device_images(links), jobs), 0
    for group in sorted(set(want) | set(got)):
        if want.get(group) != got.get(group):
            failed += 1
            print("FAIL dump of the images whose digest starts with " + group)
    return len(got) - failed, failed


def check_images(tools, links, jobs):
    """Whether `cubind check` says of all images what findings.txt has: next to nothing, since
    compiler and nvlink made them.  Returns (passed, failed)."""
    images = device_images(links)
    want = {}
    with open(FINDINGS) as f:
        for line in f:
            want.setdefault(line[:16], []).append(line[16:].rstrip("\n"))
    said, failed = findings(tools, images, jobs), 0
    for key, (name, _) in images.items():
        if said.get(key, []) != want.get(key, []):
            failed += 1
            print("FAIL check of %s\n    %s" % (name, "\n    ".join(said.get(key, ["nothing said"])[:5])))
    return len(images) - failed, failed


def main(argv):
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--cubind")
    p.add_argument("-j", type=int, default=os.cpu_count() or 2)
    p.add_argument("--stop", action="store_true")
    p.add_argument("--every", type=int, default=1)
    p.add_argument("--threads")
    p.add_argument("--timeout", type=float, default=toolchain.TIMEOUT)
    p.add_argument("--extract")
    p.add_argument("names", nargs="*")
    opts = p.parse_args(argv)
    links = [x for x in stored(opts.every)
             if not opts.names or any(n in x.name for n in opts.names)]
    if opts.extract:
        return extract(links, opts.extract)
    if opts.stop:
        links.sort(key=lambda link: zlib.crc32(link.name.encode()))
    tools = toolchain.Tools(opts.cubind, tempfile.gettempdir())
    try:
        options = ["--threads", opts.threads] if opts.threads else []
        grades = run(tools, links, opts.j, opts.stop, opts.timeout, options)
        passed, failed = grades["same"], sum(grades.values()) - grades["same"]
        if not opts.threads and not (failed and opts.stop):
            for look in (check_images, reports.check):
                good, bad = look(tools, links, opts.j)
                passed, failed = passed + good, failed + bad
        if opts.every == 1 and not opts.names and not opts.threads and not (failed and opts.stop):
            for look in (lambda: check_dumps(tools, links, opts.j),
                         lambda: changed.check(tools, device_images(links), opts.j)):
                good, bad = look()
                passed, failed = passed + good, failed + bad
    finally:
        tools.close()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
