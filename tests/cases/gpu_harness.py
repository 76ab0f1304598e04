#!/usr/bin/env python3
"""What runs linked code on a GPU, with a driver that does nothing in the real one's place."""

import os
import re
import subprocess
import sys

from _checks import expect, finish, skip

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
BUILD = os.environ.get("CUBIND_BUILD", os.path.dirname(CUBIND))
FAKE = os.path.join(BUILD, "tests", "gpu")
NAMES = ["golden-deep-chain-75", "golden-double-const-75", "golden-init-pointers-75", "golden-templates-75"]


def gpu(*argv, **env):
    p = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "gpu", "gpu.py"), "--build", BUILD, *argv],
                       capture_output=True, text=True,
                       env={**os.environ, "LD_LIBRARY_PATH": FAKE, "FAKE_CUDA_ARCH": "75",
                            "ASAN_OPTIONS": "detect_leaks=0", **env})
    return p.returncode, p.stdout + p.stderr


def count(text, word):
    return len(re.findall(r"(?m)^%s" % word, text))


def main():
    if not os.path.exists(os.path.join(FAKE, "gpu_run")):
        skip("the harness is not built")
    code, text = gpu(*NAMES)
    images = count(text, "ok +golden")
    inside = count(text, "ok +bundle") + count(text, "ok +prune")
    expect("images and their fatbins run", code == 0 and images > 1 and inside == images and
           " 0 failed" in text.split("\n")[-2], text)
    code, text = gpu(*NAMES, FAKE_CUDA_MARK="1")
    expect("other memory is noticed", code == 1 and count(text, "ok +golden") == images and
           count(text, "FAIL (bundle|prune)") == inside, text)
    code, text = gpu(*NAMES, FAKE_CUDA_BAD="_Z1kPii")
    expect("an error is told, and what is behind it runs", code == 0 and
           "CUDA_ERROR_LAUNCH_FAILED" in text and "kernels ran, identical images" in text, text)
    code, text = gpu("samples", FAKE_CUDA_ARCH="90")
    expect("wrong results are noticed", code == 1 and "should be" in text, text)
    finish()


if __name__ == "__main__":
    main()
