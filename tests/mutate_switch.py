"""The sources of a link with all places that mutate.py changes as switches of one program.

Each comparison and each number of a function asks at run time whether it is the one that is changed
(mutate_switch.h), so that thousands of changes need one build.  Where that cannot be, in tables, enumerations and
labels of cases, the places are left as they are.
"""
import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = os.path.join(ROOT, "tests", "mutate_switch.h")
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}


def commands(build):
    """Source -> words that compile it, without those that say where to."""
    with open(os.path.join(build, "compile_commands.json")) as f:
        entries = json.load(f)
    found = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        if "libcubind.a.p" in entry["output"]:
            path = os.path.relpath(os.path.join(entry["directory"], entry["file"]), ROOT)
            words = [w for w in words if w.startswith(("-I", "-D", "-std", "-f")) and "diagnostics" not in w]
            found[path] = [w if not w.startswith("-I") else
                           "-I" + os.path.join(entry["directory"], w[2:]) for w in words]
    return found


def spelled(loc):
    """Offset in the file itself of what is written there, or None: it is from a header."""
    loc = loc.get("spellingLoc", loc)
    return None if "includedFrom" in loc or "offset" not in loc else loc["offset"]


def closed(text, at):
    """The end of the parenthesis that opens at AT, or AT."""
    depth = 0
    for m in re.compile(r"[()]").finditer(text, at) if text[at:at + 1] == "(" else ():
        depth += 1 if m.group() == "(" else -1
        if not depth:
            return m.end()
    return at


def edge(loc, text, end):
    """Where an expression starts or ends in the file."""
    if "expansionLoc" in loc:
        macro = not loc["expansionLoc"].get("isMacroArgExpansion")
        loc = loc["expansionLoc"] if macro else loc["spellingLoc"]
    else:
        macro = False
    if "includedFrom" in loc or "offset" not in loc:
        return None
    at = loc["offset"] + (loc["tokLen"] if end else 0)
    return closed(text, at) if end and macro else at


def walk(node, text, numbers, compares):
    """Collects what code computes: offsets of numbers, operands of comparisons."""
    stack = [node]
    while stack:
        node = stack.pop()
        kind = node.get("kind")
        if kind == "ConstantExpr" or kind == "VarDecl" and node.get("storageClass") == "static":
            continue
        if kind == "IntegerLiteral":
            numbers.add(spelled(node["range"]["begin"]))
        inner = [n for n in node.get("inner", ()) if n]
        if kind == "BinaryOperator" and node["opcode"] in COMPARISONS:
            left, right = (n["range"] for n in inner)
            compares.append((node["opcode"], edge(left["begin"], text, False), edge(left["end"], text, True),
                             edge(right["begin"], text, False), edge(right["end"], text, True)))
        stack += inner


def computed(path, words, text):
    """(offsets of numbers, operands of comparisons) in the functions of a file."""
    tree = subprocess.run(["clang", "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json", *words,
                           os.path.join(ROOT, path)], check=True, stdout=subprocess.PIPE).stdout
    numbers, compares = set(), []
    for decl in json.loads(tree)["inner"]:
        if decl["kind"] == "FunctionDecl" and "includedFrom" not in decl["loc"].get("expansionLoc", decl["loc"]):
            for part in decl.get("inner", ()):
                if part.get("kind") == "CompoundStmt":
                    walk(part, text, numbers, compares)
    return numbers, compares


def edits(places, numbers, compares, text):
    """Number of a place -> its edits, each (offset, end, order, text)."""
    found = {}
    for n, m in places.items():
        if m.old not in COMPARISONS:
            if m.at in numbers:
                found[n] = [(m.at, m.at + len(m.old), 0, "(cbi_changed(%d) ? %s : %s)" % (n, m.new, m.old))]
            continue
        for op, begin, end, after, last in compares:
            if op == m.old and None not in (begin, end, after, last) and end <= m.at < after:
                size = last - begin
                found[n] = [
                    (begin, begin, (1, -size), "({ __auto_type l%d_ = (" % n),
                    (m.at, m.at + len(m.old), (0, 0), ") + 0; __auto_type r%d_ = (" % n),
                    (last, last, (-1, size), ") + 0; cbi_compared(%d, l%d_ %s r%d_, l%d_ %s r%d_); })" % (
                        n, n, m.old, n, n, m.new, n))]
    return found


def edited(text, all_edits):
    flat = []
    for at, end, order, new in (e for es in all_edits for e in es):
        flat.append((at, order if isinstance(order, tuple) else (0, 0), end, new))
    out, last = [], 0
    # at one offset what ends comes first, then what is replaced or starts, the larger before the smaller
    for at, _, end, new in sorted(flat, key=lambda e: (e[0], -1 if e[1][0] < 0 else 0 if e[1][0] else 1, e[1][1])):
        out += [text[last:at], new]
        last = end
    return "".join(out) + text[last:]


def compile_file(path, words, places, folder):
    """Compiles a file with switches; returns the numbers of the places that are switched."""
    with open(os.path.join(ROOT, path)) as f:
        text = f.read()
    assert text.isascii(), path
    wanted = edits(places, *computed(path, words, text), text)
    target = os.path.join(folder, path.replace("/", "_"))
    while True:
        with open(target, "w") as f:
            f.write('#line 1 "%s"\n' % path + edited(text, wanted.values()))
        done = subprocess.run(["gcc", *words, "-w", "-O1", "-g0", "-include", HEADER, "-I" + os.path.dirname(
            os.path.join(ROOT, path)), "-c", target, "-o", target[:-2] + ".o"], stderr=subprocess.PIPE, text=True)
        if not done.returncode:
            return set(wanted)
        bad = {int(m) for m in re.findall(r"^%s:(\d+):\d+: error" % re.escape(path), done.stderr, re.M)}
        wrong = [n for n in wanted if text.count("\n", 0, places[n].at) + 1 in bad]
        if not wrong:
            raise RuntimeError(done.stderr[:2000])
        for n in wrong:
            del wanted[n]


def compile_all(build, places, folder, jobs):
    """Compiles all files that have places.  Returns (objects, numbers of those that are switched)."""
    os.makedirs(folder, exist_ok=True)
    words, files = commands(build), {}
    for n, m in places.items():
        files.setdefault(m.path, {})[n] = m
    with ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(lambda f: compile_file(f, words[f], files[f], folder), files))
    return ([os.path.join(folder, f.replace("/", "_")[:-2] + ".o") for f in files], set().union(*done))
