#!/usr/bin/env python3
"""Every option that a command's help names is in its man page, and every page's command exists."""
import glob
import os
import re
import subprocess
import sys

root, cubind = os.environ["CUBIND_ROOT"], os.environ["CUBIND"]
number = failed = 0


def result(ok, text):
    global number, failed
    number += 1
    failed += not ok
    print("%sok %d - %s" % ("" if ok else "not ", number, text))


def output(*argv):
    done = subprocess.run([cubind, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    return done.returncode, done.stdout


_, commands = output("help")
listed = re.findall(r"^  (\w+) {2,}", commands, re.M)
with open(os.path.join(root, "man/cubind.1.scd")) as f:
    overview = f.read()
for name in listed:
    result("*%s*\n" % name in overview, "cubind(1) lists %s" % name)
for page in sorted(glob.glob(os.path.join(root, "man/cubind-*.1.scd"))):
    name = re.search(r"cubind-(\w+)\.1", page).group(1)
    code, text = output(name, "--help")
    result(code == 0 and name in listed, "%s has help" % name)
    with open(page) as f:
        described = f.read().replace("\\", "")
    for option in sorted(set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))):
        if not re.search(re.escape(option) + r"(?![\w-])", described):
            result(False, "%s is in %s" % (option, os.path.basename(page)))
for name in listed:
    if name not in ("help", "version"):
        result(os.path.exists(os.path.join(root, "man/cubind-%s.1.scd" % name)),
               "%s has a page" % name)
sys.exit(1 if failed else 0)
