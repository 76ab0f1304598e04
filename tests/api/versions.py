#!/usr/bin/env python3
"""The version stands in meson.build; where else it must be written it is the same."""
import json
import os
import re
import subprocess
import sys

ROOT = os.environ["CUBIND_ROOT"]
failed = count = 0


def text(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


def same(what, found):
    global failed, count
    count += 1
    failed += found != version
    print("%sok %d - %s says %s" % ("" if found == version else "not ", count, what, found))


def first(path, pattern):
    match = re.search(pattern, text(path), re.M)
    return match.group(1) if match else None


version = first("meson.build", r"^project\('cubind', 'c', version: '([^']+)'")
numbers = [first("include/cubind/cubind.h", r"CB_VERSION_%s (\d+)" % part) for part in ("MAJOR", "MINOR", "PATCH")]
same("cubind.h", ".".join(numbers))
same("the program", subprocess.run([os.environ["CUBIND"], "version"], stdout=subprocess.PIPE, text=True).stdout.split("\n")[0].split()[-1])
same("the Python package", first("python/src/cubind/_version.py", r'VERSION = "([^"]+)"'))
same("debian/changelog", first("debian/changelog", r"^cubind \(([^)]+)\)"))
same("the vcpkg port", json.loads(text("packaging/vcpkg/ports/cubind/vcpkg.json"))["version"])
same("CHANGELOG.md", first("CHANGELOG.md", r"^## (\d[\d.]+)"))
# the conda recipe reads it with this very pattern
recipe = re.search(r'regex_pattern="(.*?)", from', text("packaging/conda/meta.yaml")).group(1)
same("the conda recipe", first("meson.build", recipe))
sys.exit(1 if failed else 0)
