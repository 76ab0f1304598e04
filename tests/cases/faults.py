#!/usr/bin/env python3
"""A part of the points at which something can fail; `./dev faults` does all."""
import os
import sys

from _nvlink import ROOT

SHORT = ["--every", "5"]
program = os.path.join(ROOT, "tests", "faults", "faults.py")
sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, program, *SHORT]))
