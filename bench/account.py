"""Where the memory of a link goes: runs the program with counters (bench/account.c) and adds up what
each place of the source took, by kind."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import scale  # noqa: E402

# What takes memory, by file and function; the first that matches.  Kinds are rows of the table.
KINDS = [
    (r"(files|collect|containers|slices|archive)\.c", "input files"),
    (r"names\.c:", "names"),
    (r":(read_symbols|read_record|cbi_rec_append|cbi_add_record|collect|"
     r"cbi_link_min_stack)$", "relocations and records"),
    (r"^(object|symbols|xref)\.c:", "object models"),
    (r"relocate\.c:|^merge\.c:reserve$|:(read_relocs|move_constant)$", "relocations and records"),
    (r":(copy_contents|cbi_sec_append)$|^spend\.c:", "contents"),
    (r"^(unified|number|fill_records|fill_symbols|pack_relocs)\.c:|^tables\.c:(cbi_out_open|fill_relocs)$",
     "output tables"),
    (r":(cbi_sec_\w+|cbi_constants_in|cbi_shared_in|list_section)$", "output sections"),
    (r":(cbi_sym_create|cbi_variable_in|list_symbol)$|^merge_objects\.c:", "symbols"),
    (r"^merge_functions\.c:|:cbi_dynamic_in$", "functions"),
    (r"^(graph|propagate|fold|old_objects)\.c:|:(add_call|add_taken|read_callgraph)$", "call graph"),
    (r"^(finalize|write|notes|sink|callgraph|emit|serialize)\.c:", "output tables"),
    (r"^(admit|merge)\.c:", "input to output maps"),
    (r"^(view|places|text|rewrite|pace\w*|tables|info|debug|line|frame)\.c:", "Mercury views"),
]


def kind_of(place):
    return next((kind for pattern, kind in KINDS if re.search(pattern, place)), "other")


def places(program, addresses):
    """file:function of the innermost call at each address, but for what base.h has for all."""
    out = subprocess.run(["addr2line", "-a", "-f", "-i", "-s", "-e", program], text=True, check=True,
                         input="".join("0x%x\n" % (a - 1) for a in addresses),
                         stdout=subprocess.PIPE).stdout.splitlines()
    found = []
    for i, line in enumerate(out):
        if line.startswith("0x"):
            at = i + 1
            while out[at + 1].startswith("base.h:") and at + 2 < len(out) and not out[at + 2].startswith("0x"):
                at += 2
            found.append(out[at + 1].split(":")[0] + ":" + out[at])
    return found


def account(program, argv, folder):
    """(bytes of the arena, peak resident bytes, {place: bytes}) of a link."""
    table = os.path.join(folder, "account.txt")
    subprocess.run([program, *argv], cwd=folder, check=True, env={**os.environ,
                                                                  "CUBIND_ACCOUNT": table})
    with open(table) as f:
        rows = [line.split() for line in f]
    taken = {}
    for place, row in zip(places(program, [int(r[0], 16) for r in rows[1:]]), rows[1:]):
        taken[place] = taken.get(place, 0) + int(row[2])
    return int(rows[0][2]), taken


def count_items(inputs):
    """How many sections, symbols, relocations and attribute records the inputs have."""
    import cubin
    counts = {"files": len(inputs), "bytes": 0, "sections": 0, "symbols": 0, "relocations": 0,
              "records": 0}
    for path in inputs:
        with open(path, "rb") as f:
            data = f.read()
        counts["bytes"] += len(data)
        for s in cubin.Cubin(data).sections:
            counts["sections"] += 1
            if s.sh_type == 2:
                counts["symbols"] += s.sh_size // 24
            elif s.sh_type in (4, 9):
                counts["relocations"] += s.sh_size // s.sh_entsize
            elif s.sh_type == 0x70000000:
                counts["records"] += records_in(s.data)
    return counts


def records_in(data):
    at = count = 0
    while at + 4 <= len(data):
        at += 4 + (int.from_bytes(data[at + 2:at + 4], "little") if data[at] == 4 else 0)
        count += 1
    return count


def report(program, release, arch, inputs, folder, places_too):
    argv = ["link", "--emulate", "nvlink-13.0.88", "-arch=sm_" + arch, *inputs, "-o", "account.out"]
    arena, taken = account(program, argv, folder)
    peak = scale.timed([release, *argv], folder, 100)[1] * 1024
    counts = count_items(inputs)
    kinds = {}
    for place, size in taken.items():
        kinds[kind_of(place)] = kinds.get(kind_of(place), 0) + size
    print("  inputs: %(files)d files, %(sections)d sections, %(symbols)d symbols, "
          "%(relocations)d relocations, %(records)d records" % counts)
    print("  %-22s %10s %8s" % ("kind", "bytes", "of input"))
    for kind, size in sorted(kinds.items(), key=lambda k: -k[1]):
        print("  %-22s %10d %7.1f%%" % (kind, size, 100 * size / counts["bytes"]))
        for place, one in sorted(taken.items(), key=lambda p: -p[1]) if places_too else []:
            if kind_of(place) == kind and one >= 4096:
                print("      %10d %s" % (one, place))
    total = sum(kinds.values())
    print("  %-22s %10d %7.1f%%" % ("all of these", total, 100 * total / counts["bytes"]))
    print("  %-22s %10d %7.1f%%" % ("arena", arena, 100 * arena / counts["bytes"]))
    print("  %-22s %10d %7.1f%%" % ("peak resident", peak, 100 * peak / counts["bytes"]))
