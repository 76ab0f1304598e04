#!/usr/bin/env python3
"""Who calls whom: arrows between folders and files of src/ and tools/, from the symbols of the object files (`nm`).

usage: layers.py --build FOLDER [--files FOLDER] [--dot | --mermaid] [--check]

  --files F   arrows between the files of that folder (src/link) and to those of others
  --stages    arrows between the stages of a link
  --dot       for graphviz
  --mermaid   for documents
  --check     print what goes against the order of the layers or of the stages, and circles between folders;
              exit status 1 if any

An arrow goes from the user to what it uses: a function, a table, or a type's header without either."""

import argparse
import collections
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

import lint  # noqa: E402

DEFINED = "TDRBCVW"
# of the static program, which not every system can link
STATIC = ("tools/static_worker.c", "tools/nvjitlink_worker.c")


def sources():
    return [p for p in lint.tracked(".c") if p.startswith(("src/", "tools/"))]


def symbols(build):
    """File -> names that it defines for others, file -> names that it wants."""
    defines, wants = {}, {}
    for path in sources():
        inner = path.replace("/", "_") + ".o"
        objects = [os.path.join(build, folder, inner) for folder in ("libcubind.a.p", "cubind.p")]
        objects.append(os.path.join(build, "package", "libcubind-nvjitlink.so.p", ".._" + inner))
        objects += [os.path.join(build, "tests/static", folder, ".._.._" + inner)
                    for folder in ("cubind.p", "cubind-nvjitlink.p")]
        objects.append(os.path.join(build, "tools", "libinspectors.a.p", os.path.basename(path) + ".o"))
        found = next((o for o in objects if os.path.exists(o)), None)
        if not found and path in STATIC:
            continue
        if not found:
            sys.exit("%s was not compiled in %s" % (path, build))
        listed = subprocess.run(["nm", found], check=True, stdout=subprocess.PIPE, text=True).stdout
        rows = [line.split()[-2:] for line in listed.splitlines()]
        defines[path] = {name for kind, name in rows if kind in DEFINED}
        wants[path] = {name for kind, name in rows if kind == "U"}
    return defines, wants


def arrows(build):
    """(user, used) -> names, for files."""
    defines, wants = symbols(build)
    owner = {}
    for path in sorted(defines):  # of two, the library's: the static program has a worker of its own
        for name in defines[path]:
            owner.setdefault(name, path)
    found = collections.defaultdict(set)
    for path, names in wants.items():
        for name in names:
            used = owner.get(name)
            if used and used != path:
                found[path, used].add(name)
    return found


def includes():
    """(user, header) of files that use a header of another folder."""
    found = set()
    for path in lint.tracked(".c", ".h"):
        if path.startswith(("src/", "tools/")):
            for line in lint.lines_of(path):
                match = re.match(r'\s*#\s*include\s+"([^"]+/[^"]+)"', line)
                if match and os.path.exists(os.path.join(ROOT, "src", match.group(1))):
                    found.add((path, "src/" + match.group(1)))
    return found


def folders(edges, headers):
    """(user, used) -> number of arrows, for folders."""
    count = collections.Counter()
    for user, used in list(edges) + list(headers):
        pair = lint.layer_of(user), lint.layer_of(used)
        if pair[0] != pair[1]:
            count[pair] += 1
    return count


def upward(edges, headers):
    """Arrows against the order of the layers, as `user -> used: names`."""
    found = []
    for pair in sorted(set(edges) | headers):
        here, there = (lint.layer_of(p) for p in pair)
        if here in lint.LAYERS and there in lint.LAYERS and lint.LAYERS.index(there) > lint.LAYERS.index(here):
            found.append("%s -> %s: %s" % (*pair, ", ".join(sorted(edges.get(pair, ["#include"])))))
    return found


def stage_of(path):
    """The stage, or the room beside the stages, that a file of src/link belongs to; None elsewhere."""
    folder, name = os.path.split(os.path.splitext(path)[0])
    for stage, files in lint.STAGES + list(lint.ROOMS.items()):
        if folder == "src/link" and (name in files.split() or name == stage):
            return stage
    return None


def stages(edges):
    """(user, used) -> number of arrows, for the stages of a link."""
    count = collections.Counter()
    for pair in edges:
        pair = tuple(stage_of(path) for path in pair)
        if all(pair) and pair[0] != pair[1]:
            count[pair] += 1
    return count


def backward(edges):
    """Arrows from a stage to a later one.  Every stage uses the records and may ask for a report, only the list
    of passes uses all."""
    order = {stage: i for i, (stage, _) in enumerate(lint.STAGES)}
    order.update({"records": -1, "passes": len(order)})
    found = []
    for user, used in sorted(edges):
        here, there = stage_of(user), stage_of(used)
        if here in order and there in order and order[there] > order[here]:
            found.append("%s -> %s: %s" % (user, used, ", ".join(sorted(edges[user, used]))))
        elif user.startswith("src/link/") and not here:
            found.append("%s belongs to no stage" % user)
    return found


def circles(pairs):
    """Groups of nodes that reach each other."""
    below = collections.defaultdict(set)
    for user, used in pairs:
        below[user].add(used)
    reach = {}
    for start in list(below):
        seen, todo = set(), [start]
        while todo:
            for node in below.get(todo.pop(), ()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        reach[start] = seen
    groups = {frozenset(b for b in reach[a] if a in reach.get(b, ())) | {a} for a in reach if a in reach[a]}
    return sorted(sorted(g) for g in groups)


def draw(pairs, style):
    if style == "dot":
        print("digraph cubind {\n  rankdir = BT;\n  node [shape = box];")
        for (user, used), count in sorted(pairs.items()):
            print('  "%s" -> "%s" [label = %d];' % (user, used, count))
        print("}")
    elif style == "mermaid":
        print("graph BT")
        for user, used in sorted(pairs):
            print("  %s --> %s" % (user, used))
    else:
        for (user, used), count in sorted(pairs.items()):
            print("%-28s -> %-28s %4d" % (user, used, count))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True)
    p.add_argument("--files")
    p.add_argument("--stages", action="store_true")
    p.add_argument("--dot", action="store_const", dest="style", const="dot")
    p.add_argument("--mermaid", action="store_const", dest="style", const="mermaid")
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    edges, headers = arrows(args.build), includes()
    if args.check:
        found = upward(edges, headers) + backward(edges)
        found += ["circle: " + " ".join(c) for c in circles(folders(edges, headers))]
        print("\n".join(found))
        sys.exit(1 if found else 0)
    if args.stages:
        draw(stages(edges), args.style)
        return
    if args.files:
        top = args.files.rstrip("/") + "/"
        pairs = {}
        for (user, used), names in edges.items():
            if user.startswith(top):
                short = used[len(top):] if used.startswith(top) else used
                pairs[user[len(top):], short] = len(names)
        draw(pairs, args.style)
        return
    draw(folders(edges, headers), args.style)


if __name__ == "__main__":
    main()
