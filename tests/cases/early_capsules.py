#!/usr/bin/env python3
"""Objects of the compilers before 12.8 that knew sm_100 first: libcusparse holds some that programs
extend at run time.  They link as with nvlink, but for scheduling bits: nvlink schedules them anew.
Needs nvlink and the library; without them it prints one line and is skipped.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import _toolkit

ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))
import cubin  # noqa: E402

EVERY = 4


def link(program, args, folder):
    done = subprocess.run([*program, *args, "-o", "out"], cwd=folder, capture_output=True, text=True)
    path = os.path.join(folder, "out")
    data = None
    if os.path.exists(path):
        with open(path, "rb") as f:
            data = f.read()
        os.unlink(path)
    return done.returncode, done.stderr, data


def main():
    nvlink, libraries = shutil.which("nvlink"), _toolkit.library_folder()
    library = [path for path in (_toolkit.libraries(libraries) if libraries else [])
               if os.path.basename(path).startswith("libcusparse.so")]
    if not nvlink or not library:
        print("no nvlink, or no libcusparse")
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([CUBIND, "extract", "--kind", "cubin", "--arch", "sm_100", "-o", folder, library[0]],
                       check=True, stdout=subprocess.DEVNULL)
        early = []
        for path in sorted(glob.glob(os.path.join(folder, "*.cubin"))):
            with open(path, "rb") as f:
                data = f.read()
            if data[16] == 1 and b".note.nv.cuver" in data:
                early.append(os.path.basename(path))
        for name in early[::EVERY]:
            for args in (["-r"], ["-r", "-g"], []):
                argv = ["-arch=sm_100", *args, name]
                a = link([nvlink], argv, folder)
                b = link([CUBIND, "link", "--emulate", "nvlink-13.0.88"], argv, folder)
                same = a[:2] == b[:2] and (a[2] is None) == (b[2] is None)
                if not same or (a[2] and cubin.grade(a[2], b[2])[0] == "diff"):
                    print("FAIL", name, *args, b[1])
                    failed += 1
                else:
                    passed += 1
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
