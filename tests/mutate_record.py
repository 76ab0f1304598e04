#!/usr/bin/env python3
"""Stands in for the program while a case runs: keeps each command line with its files, then runs it.

CBI_RECORD is the folder for what is kept, a folder each: `in` with the files, `words` with what the driver of
mutate_all.py wants to run it again (results, whether it traces, words).  CBI_REAL is the program.
"""
import os
import shutil
import sys
import tempfile

LARGEST = 16 << 20


def kept(folder, number, word):
    """What stands for a word: a copy of its file or folder, or a name for a result."""
    name = "in/%d-%s" % (number, os.path.basename(word.rstrip("/")))
    if os.path.isfile(word) and os.path.getsize(word) <= LARGEST:
        shutil.copyfile(word, os.path.join(folder, name))
        return name
    if os.path.isdir(word) and "/" in word:
        shutil.copytree(word, os.path.join(folder, name), symlinks=True)
        return name
    return word


def record(words, folder):
    os.makedirs(os.path.join(folder, "in"))
    results, said = [], []
    for number, word in enumerate(words):
        if said and said[-1] in ("-o", "--output-file", "--map", "--dot-file"):
            results.append("c/out%d" % number)
            said.append(results[-1])
        elif word.startswith("-L") and os.path.isdir(word[2:]):
            said.append("-L" + kept(folder, number, word[2:]))
        else:
            said.append(kept(folder, number, word))
    traces = "1" if "CUBIND_EDBG" in os.environ or "CAN_FINALIZE_DEBUG" in os.environ else "0"
    with open(os.path.join(folder, "words"), "w") as f:
        f.write("\t".join([",".join(results) or "-", traces, *said]))


# the program does other things under other names
called = {"nvlink": ["link"], "cubind": [], "mutate_record.py": []}.get(os.path.basename(sys.argv[0]))
try:
    if called is not None and not any("\t" in w or "\n" in w for w in sys.argv):
        record(called + sys.argv[1:], tempfile.mkdtemp(dir=os.environ["CBI_RECORD"]))
except OSError:
    pass
os.execv(os.environ["CBI_REAL"], [sys.argv[0], *sys.argv[1:]])
