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
ASKED = os.path.join(os.path.dirname(PATH), "asked.txt")
# Which chip the code of another is moved to: the next of its family, where there is one.
NEXT = {"sm_80": "sm_86", "sm_86": "sm_89", "sm_100": "sm_103", "sm_103": "sm_103f", "sm_110": "sm_110f",
        "sm_120": "sm_121", "sm_121": "sm_121f"}
EVERYTHING = ["-v", "-dump-callgraph", "--map", "map", "--dot-file", "dot"]
EMULATE = ["--emulate", toolchain.EMULATE]
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


def arch_of(link):
    return next((w[6:] for w in link.args if w.startswith("-arch=")), "")


def linked(link, before, words, behind, results):
    """A command line that links again, its files and results."""
    return ["link", *before, *words, *[n for n, _ in link.inputs], *behind, "-o", "out"], link.inputs, results


def told(link, _):
    """Map, graph, traces of a link and why its functions are there."""
    asked = [word for n in functions(link)[:3] for word in ("--why-live", n, "--trace-symbol", n)]
    return linked(link, [], [*link.args, *EVERYTHING, *asked], [], ["map", "dot"])


def misspelt(link, _):
    """What is near a name that no input has."""
    asked = [word for n in functions(link)[-2:] for word in ("--require-kernel", n[:-1] + "_Q")]
    return linked(link, [], [*link.args, *asked], [], [])


def retargeted(link, _):
    """The same link for the next chip of the family."""
    arch = arch_of(link)
    words = [w.replace(arch, NEXT[arch]) if w == "-arch=" + arch else w for w in link.args]
    return linked(link, EMULATE, words, [], ["out"])


def other(link, option):
    """The same link with an option that it has not, or without one that it has."""
    words = [w for w in link.args if w != option]
    return linked(link, EMULATE, words + [option] * (option not in link.args), [], ["out"])


def own(link, _):
    """The same link without the accidents of nvlink."""
    return linked(link, [], link.args, [], ["out"])


def finalized(link, way):
    """The output for the next chip of the family, and how that was done."""
    return (["finalize", "-arch", NEXT[arch_of(link)], *way.split(), "--edbg", "in/linked.cubin", "-o", "out"],
            [("in/linked.cubin", link.out)], ["out"])


# Kind of report -> how it is made: a function and what it is given.
KINDS = {
    "told": (told, None), "misspelt": (misspelt, None), "retargeted": (retargeted, None), "own": (own, None),
    "other-null": (other, "--reserve-null-pointer"), "other-g": (other, "-g"), "other-r": (other, "-r"), "other-kept": (other, "--preserve-relocs"),
    "finalized-0": (finalized, "--opportunistic-finalization-lvl 1"), "finalized-1": (finalized, "--verbose-tkinfo"),
    "finalized-2": (finalized, "--out-sass"),
}


def possible(link):
    """The kinds that there can be of a link."""
    if link.args[0] == "finalize":
        return []
    arch = arch_of(link)
    moves = arch in NEXT
    image = moves and link.out and link.out[49] >= 100
    return [kind for kind, (make, _) in KINDS.items()
            if (moves or make != retargeted) and (image or make != finalized)]


def command(link, kind):
    """(words, files, names of results) of a report."""
    make, with_what = KINDS[kind]
    return make(link, with_what)


def asked_for():
    """Name of a link -> kinds that notice what no other test does (mutate.py --all --search)."""
    found = {}
    if os.path.exists(ASKED):
        with open(ASKED) as f:
            for line in f:
                name, kind = line.split()
                found.setdefault(name, set()).add(kind)
    return found


def kinds(link, asked):
    """The kinds of reports of a link: a part of those that there can be, by its name, and what is asked for."""
    number = zlib.crc32(link.name.encode())
    wanted = {"other-null": number % 8 == 5 and link.args[0] != "finalize", "told": number % 4 == 0, "misspelt": number % 16 == 1,
              "retargeted": number % 4 == 2 or arch_of(link) == "sm_100",
              "finalized-%d" % (number // 4 % 3): number % 4 == 3}
    return [kind for kind in possible(link) if wanted.get(kind) or kind in asked.get(link.name, ())]


def of(tools, link, asked):
    """Kind of report -> digest."""
    return {kind: said(tools, *command(link, kind)) for kind in kinds(link, asked)}


def of_all(tools, links, jobs):
    """(name of a link, kind, digest); a folder and an archive may have links of one name."""
    asked = asked_for()
    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda link: of(tools, link, asked), links))
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
