#!/usr/bin/env python3
"""Every JSON that the inspectors print is valid by its schema in docs/schema, and every member of a schema occurs."""

import glob
import json
import os
import subprocess
import sys

from _checks import expect, finish
from _containers import ELF, LTOIR, PTX, elf, entry, fatbin
from _elf32 import narrow
from _files import read, write

try:
    import jsonschema
except ImportError:
    print("jsonschema (python3-jsonschema) is not installed")
    sys.exit(77)

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
PART = ["--all", "--capsule", "--kernels", "--lines", "--section", ".nv.info"]

schemas, seen = {}, {}
for path in sorted(glob.glob(os.path.join(ROOT, "docs/schema/*.schema.json"))):
    with open(path) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    schemas[schema["properties"]["schema"]["const"]] = jsonschema.Draft202012Validator(schema)


def mark(document, path, found):
    """The members of a document, as paths."""
    if isinstance(document, dict):
        for key, value in document.items():
            found.add(path + "." + key)
            mark(value, path + "." + key, found)
    elif isinstance(document, list):
        for value in document:
            mark(value, path, found)


def members(schema, whole, path):
    """The members that a schema knows, in the same way."""
    schema = whole["$defs"][schema["$ref"].split("/")[-1]] if "$ref" in schema else schema
    for key, value in schema.get("properties", {}).items():
        yield path + "." + key
        yield from members(value, whole, path + "." + key)
    if "items" in schema:
        yield from members(schema["items"], whole, path)


def run(*args):
    done = subprocess.run([CUBIND, *args], capture_output=True, check=False)
    document = json.loads(done.stdout)
    name = document["schema"]
    problem = jsonschema.exceptions.best_match(schemas[name].iter_errors(document))
    expect(" ".join(os.path.relpath(a, ROOT) if a.startswith("/") else a for a in args), problem is None,
           problem and (list(problem.absolute_path), problem.message))
    mark(document, "", seen.setdefault(name, set()))


goldens = sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/expected.cubin")))
inputs = sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/in/*.cubin")))[:60]
inputs += sorted(glob.glob(os.path.join(ROOT, "tests/golden/*/in/*.o")))[:10]
first = read(goldens[0])
container = write("all.o", elf([("__nv_relfatbin", fatbin(
    entry(ELF, "90", first, "zstd"), entry(PTX, "90", b".version 9.0\n.target sm_90\n", "lz4"), entry(LTOIR, "90", b"lto"),
    entry(99, "90a", b"?", options=b"-g")))]))
damaged = bytearray(first)
damaged[int.from_bytes(first[40:48], "little") + 64 + 24] ^= 0xff  # offset of the first section
odd = [container, write("damaged.cubin", bytes(damaged)), write("cut.cubin", first[:len(first) // 2]), write("no.cubin", b"x"),
       write("narrow.cubin", narrow(read("tests/cases/inputs/a75.cubin"))),
       os.path.join(ROOT, "tests/cases/inputs/host.o"), *sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/corpus/dump/*")))[:40]]
run("dump", "--json", *PART, *goldens)
run("dump", "--json", *PART, *inputs)
run("dump", "--json", "--demangle", "--sort", "size", "--filter", "a", *goldens)
for path in odd:
    run("dump", "--json", *PART, path)
    run("check", "--json", "--pedantic", path)
    run("extract", "--json", path)
    run("size", "--json", path)
run("check", "--json", *goldens, *inputs)
run("extract", "--json", *goldens, *odd)
run("size", "--json", *goldens)
run("size", "--json", "--by", "target", *goldens)
run("size", "--json", "--diff", goldens[0], os.path.join(ROOT, "tests/golden/lineinfo-90-default/expected.cubin"))
run("diff", "--json", goldens[0], goldens[0])
run("diff", "--json", goldens[0], container)
for a, b in zip(goldens, goldens[1:]):
    run("diff", "--json", a, b)
    run("diff", "--json", "--semantic", a, b)

# what no program in the collection has
RARE = {".images.info.attributes.value." + name for name in ("kind", "text", "pairs")}
RARE |= {".images.unified." + name for name in ("id_high", "id_low", "kind", "offset", "section", "symbol")}
RARE |= {".images.notes.value.bytes"}
for name, validator in schemas.items():
    schema = validator.schema
    missing = set(members(schema, schema, "")) - seen.get(name, set()) - RARE
    expect("%s: every member occurs" % name, not missing, sorted(missing))
finish()
