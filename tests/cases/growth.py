#!/usr/bin/env python3
"""Large objects at a tenth of their size: nothing is quadratic.  `./dev scale` measures all of it."""
import os
import sys

from _nvlink import ROOT

program = os.path.join(ROOT, "tests", "scale", "scale.py")
shapes = ["sections", "symbols", "relocations", "relocatable", "chain", "ring", "names", "folders", "check", "map"]
sys.exit(os.spawnv(os.P_WAIT, sys.executable, [sys.executable, program, "--divide", "10", "--power", "1.7", "--no-count", *shapes]))
