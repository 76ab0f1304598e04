#!/usr/bin/env python3
"""The Python package: installed by pip, typed, and its tests pass.  Skips without pytest or the shared library."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

from _checks import expect, finish, skip

ROOT = os.environ["CUBIND_ROOT"]
LIBRARY = os.path.join(os.environ.get("CUBIND_BUILD", os.path.join(ROOT, "build")), "package", "libcubind.so.0")


def interpreter(*modules):
    """A Python that has these modules."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import sys, importlib.util as u; sys.exit(not all(map(u.find_spec, sys.argv[1:])))", *modules],
                stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def run(*argv, **env):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **env))
    return done.returncode, done.stdout


def tests(name, python, path):
    """Runs pytest against the package in a folder, and takes its counts."""
    code, text = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(ROOT, "python", "tests"),
                     PYTHONPATH=path, CUBIND_LIBRARY=LIBRARY)
    passed = re.search(r"(\d+) passed", text)
    expect(name, code == 0 and passed, text)
    for _ in range(int(passed.group(1)) if passed else 0):
        expect(name, True)


def install(python, name, what, site, whole=True):
    """Installs with nothing but what is there; whole: the modules are copied, and the tests take them from there."""
    code, text = run(python, "-m", "pip", "install", "--quiet", "--no-index", "--target", site, what)
    expect(name, code == 0, text)
    if whole:
        tests(name + ": tests", python, site)
        expect(name + ": it says that it is typed", os.path.exists(os.path.join(site, "cubind", "py.typed")))


def main():
    if not os.path.exists(LIBRARY):
        print("this build has no shared library")
        sys.exit(77)
    python = interpreter("pytest")
    if not python:
        print("pytest is not installed")
        sys.exit(77)
    tests("as it lies", python, os.path.join(ROOT, "python", "src"))
    code, text = run(python, "-c", "import cubind", PYTHONPATH=os.path.join(ROOT, "python", "src"), CUBIND_LIBRARY="/nowhere/libcubind.so")
    expect("without the library", code == 1 and "CUBIND_LIBRARY" in text, text)
    with tempfile.TemporaryDirectory() as folder:
        builder = interpreter("pip", "pytest")
        if builder:
            # a copy: nothing but what is in the folder may count
            source = os.path.join(folder, "python")
            shutil.copytree(os.path.join(ROOT, "python"), source)
            install(builder, "installed", source, os.path.join(folder, "site"))
            code, text = run(builder, "-c", "import sys, cubind_build as b; print(b.build_sdist(sys.argv[1]), b.build_editable(sys.argv[1]))",
                             folder, PYTHONPATH=os.path.join(source, "backend"))
            expect("archive of the sources", code == 0, text)
            archive, editable = text.split()
            install(builder, "installed from the archive", os.path.join(folder, archive), os.path.join(folder, "again"))
            install(builder, "installed to be edited", os.path.join(folder, editable), os.path.join(folder, "edited"), whole=False)
            with open(os.path.join(folder, "edited", "cubind.pth")) as f:
                expect("the path to the sources", os.path.samefile(f.read().strip(), os.path.join(source, "src")))
        else:
            skip("pip install", "pip or pytest is not installed")
        mypy = interpreter("mypy")
        if mypy:
            code, text = run(mypy, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", folder,
                             os.path.join(ROOT, "python", "src", "cubind"))
            expect("types", code == 0, text)
        else:
            skip("types", "mypy is not installed")
    finish()


main()
