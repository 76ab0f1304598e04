#!/usr/bin/env python3
"""The inspectors are users of the public headers like others: they include no private header and call no private function."""
import glob
import os
import re
import subprocess
import sys

root, build = os.environ["CUBIND_ROOT"], os.environ["CUBIND_BUILD"]
INSPECTORS = ["check", "cuobjdump", "diff", "dump", "dump_capsule", "dump_functions", "dump_info", "dump_tables", "extract",
              "images", "size", "size_image", "size_print", "size_rows"]
# what these use of the program: arguments, printing, messages
HELPERS = ["arguments", "out", "print_options", "say", "suggest", "tree"]
failed = count = 0


def say(ok, what, *lines):
    global failed, count
    count += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", count, what))
    for line in lines:
        print("# " + line)


def includes(path, seen):
    """Files of the project that a file includes, and those that they include."""
    for name in re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', open(path).read(), re.M):
        for folder in (os.path.dirname(path), os.path.join(root, "src"), os.path.join(root, "include")):
            found = os.path.join(folder, name)
            if os.path.exists(found) and found not in seen:
                seen.add(found)
                includes(found, seen)
    return seen


def names(objects, kinds):
    listed = subprocess.run(["nm", "-A", *objects], check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.split()[-2] in kinds}


present = [n for n in INSPECTORS if os.path.exists(os.path.join(root, "tools", n + ".c"))]
say(len(present) >= 8, "the list of inspectors is that of the program")
for name in present:
    private = [os.path.relpath(p, root) for p in includes(os.path.join(root, "tools", name + ".c"), set())
               if not p.startswith((os.path.join(root, "include/"), os.path.join(root, "tools/")))]
    say(not private, "%s.c includes public headers only" % name, *private)

library = glob.glob(os.path.join(build, "libcubind.a.p/*.o"))


def object_of(name):
    """The object file of tools/NAME.c: what tests link, too, is in a library."""
    shared = os.path.join(build, "tools/libinspectors.a.p", name + ".c.o")
    return shared if os.path.exists(shared) else os.path.join(build, "cubind.p/tools_%s.c.o" % name)


objects = [object_of(n) for n in present]
if not library or not all(map(os.path.exists, objects)):
    print("no object files in this build")
    sys.exit(77)
private = {n for n in names(library, "TDRBV") if not n.startswith("cb_")}
for name, path in zip(present, objects):
    used = sorted(names([path], "U") & private)
    say(not used, "%s.c calls public functions only" % name, *used)
helpers = {n for n in names([object_of(h) for h in HELPERS], "TDRBV")}
elsewhere = {n for p in objects for n in names([p], "U") if n.startswith("cbi_")}
elsewhere -= helpers | names(objects, "TDRBV")
say(not elsewhere, "they use nothing else of the program", *sorted(elsewhere))
sys.exit(1 if failed else 0)
