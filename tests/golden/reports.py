"""What cubind tells on request about the stored links, and what `finalize` makes of their outputs.

nvlink has nothing to compare that with, so reports.txt has digests of what was said when it was made
(`make.py --look`): a change that was not meant shows.
"""
import hashlib
import os
import re
import shutil
import subprocess
import zlib
from concurrent.futures import ThreadPoolExecutor

import toolchain

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reports.txt")
# Which chip the code of another is moved to: the next of its family, where there is one.
NEXT = {"sm_80": "sm_86", "sm_86": "sm_89", "sm_100": "sm_103", "sm_103": "sm_103f", "sm_110": "sm_110f",
        "sm_120": "sm_121", "sm_121": "sm_121f"}
EVERYTHING = ["-v", "-dump-callgraph", "--map", "map", "--dot-file", "dot"]
TRACES = {"CUBIND_EDBG": "1", "CAN_FINALIZE_DEBUG": "1"}


def functions(link):
    """Names of functions of the inputs."""
    found = set()
    for _, data in link.inputs:
        found.update(n.decode() for n in re.findall(rb"\0\.text\.([\w$]+)\0", data))
    return sorted(found)


def said(tools, argv, files, results):
    """Digest of exit status, messages and result files of a run beside FILES."""
    folder = tools.workdir()
    try:
        for name, data in files:
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
        done = subprocess.run([tools.cubind, *argv], cwd=folder, capture_output=True,
                              timeout=toolchain.TIMEOUT, env=dict(os.environ, **TRACES))
        digest = hashlib.sha256(b"%d\n%s\n%s\n" % (done.returncode, done.stdout, done.stderr))
        for name in results:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path, "rb") as f:
                    digest.update(f.read())
        return digest.hexdigest()[:12]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def told(tools, link):
    """Map, graph, traces of a link and why its functions are there."""
    names = functions(link)[:3]
    asked = [word for n in names for word in ("--why-live", n, "--trace-symbol", n)]
    return said(tools, ["link", *link.args, *EVERYTHING, *asked, *[n for n, _ in link.inputs],
                        "-o", "out"], link.inputs, ["map", "dot"])


def misspelt(tools, link):
    """What is near a name that no input has."""
    asked = [word for n in functions(link)[-2:] for word in ("--require-kernel", n[:-1] + "_Q")]
    return said(tools, ["link", *link.args, *asked, *[n for n, _ in link.inputs], "-o", "out"],
                link.inputs, [])


def retargeted(tools, link, arch):
    """The same link for the next chip of the family."""
    words = [w.replace(arch, NEXT[arch]) if w == "-arch=" + arch else w for w in link.args]
    return said(tools, ["link", "--emulate", toolchain.EMULATE, *words, *[n for n, _ in link.inputs],
                        "-o", "out"], link.inputs, ["out"])


# Each output is finalized in one of these ways.
WAYS = [["--opportunistic-finalization-lvl", "1"], ["--verbose-tkinfo"], ["--out-sass"]]


def finalized(tools, link, arch, way):
    """The output for the next chip of the family, and how that was done."""
    return said(tools, ["finalize", "-arch", NEXT[arch], *way, "--edbg", "in.cubin", "-o", "out"],
                [("in.cubin", link.out)], ["out"])


def of(tools, link):
    """Kind of report -> digest, for a part of the links."""
    if link.args[0] == "finalize":
        return {}
    number, found = zlib.crc32(link.name.encode()), {}
    arch = next((w[6:] for w in link.args if w.startswith("-arch=")), "")
    if number % 4 == 0:
        found["told"] = told(tools, link)
    if number % 16 == 1:
        found["misspelt"] = misspelt(tools, link)
    if arch in NEXT and (number % 4 == 2 or arch == "sm_100"):
        found["retargeted"] = retargeted(tools, link, arch)
    if number % 4 == 3 and arch in NEXT and link.out and link.out[49] >= 100:
        found["finalized"] = finalized(tools, link, arch, WAYS[number // 4 % 3])
    return found


def of_all(tools, links, jobs):
    """(name of a link, kind, digest); a folder and an archive may have links of one name."""
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda link: of(tools, link), links))
    return sorted({(link.name, *report) for link, kinds in zip(links, found) for report in kinds.items()})


def write(tools, links, jobs):
    with open(PATH, "w") as f:
        f.writelines("%s %s %s\n" % report for report in of_all(tools, links, jobs))


def check(tools, links, jobs):
    """Whether all is said as it was when reports.txt was made.  Returns (passed, failed)."""
    with open(PATH) as f:
        want = {tuple(line.split()) for line in f}
    got = of_all(tools, links, jobs)
    wrong = [report for report in got if report not in want]
    for name, kind, _ in wrong:
        print("FAIL report of %s, %s" % (name, kind))
    return len(got) - len(wrong), len(wrong)
