#!/usr/bin/env python3
"""What is misspelt, or left out, is named, with what may have been meant: in every command."""

import os
import subprocess
import tempfile

from _checks import expect, finish

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("CUBIND_ROOT", os.path.dirname(os.path.dirname(HERE)))
CUBIND = os.environ.get("CUBIND", os.path.join(ROOT, "build", "cubind"))
SAMPLE = os.path.join(ROOT, "samples", "reduce.cubin")

# arguments, exit status, what standard error must say; F is a cubin for sm_90
CASES = [
    # targets
    ("link -arch=90 F -o out", 1, ["did you mean sm_90?", "it takes sm_100,"]),
    ("link -arch=100a F -o out", 1, ["did you mean sm_100a?"]),
    ("prune -arch=sm90 F -o out", 1, ["'sm90' is no target", "did you mean sm_90?"]),
    ("prune -arch=compute90 F -o out", 1, ["did you mean compute_90?"]),
    ("prune -arch=gpu F -o out", 1, ["help: targets are sm_90"]),
    ("dlink -arch=sm_91 F", 1, ["did you mean sm_90?"]),
    ("dlink -arch=all-mayor F", 1, ["did you mean all-major?"]),
    ("dlink -arch=gpu F", 1, ["help: targets are sm_90"]),
    ("finalize -arch sm103 F -o out", 1, ["did you mean sm_103?"]),
    ("finalize -arch 103 F -o out", 1, ["did you mean sm_103?"]),
    ("finalize -arch sm_80 F -o out", 1, ["'sm_80' is no target of sm_100 or later"]),
    ("extract --arch sm90 F", 2, ["bad value 'sm90' for --arch", "did you mean sm_90?"]),
    ("size --arch smm_90 F", 2, ["did you mean sm_90?"]),
    ("size --arch sm_80 F", 0, ["no image for sm_80"]),
    ("bundle --image=profile=sm90,file=F --create out", 1, ["profiles are sm_90"]),
    # words
    ("extract --kind cubn F", 2, ["did you mean cubin?", "        --kind KIND:"]),
    ("size --by functions F", 2, ["did you mean function?"]),
    ("size --by image --by functions F", 2, ["did you mean function?"]),
    ("finalize --opt-levl 3 -arch sm_103 F -o out", 1, ["unknown option --opt-levl", "did you mean --opt-level?"]),
    ("finalize --gpu-nam sm_103 F -o out", 1, ["did you mean --gpu-name?"]),
    ("finalize --nothing-like-it F -o out", 1, ["--help` lists the options"]),
    ("help dmp", 1, ["there is no command 'dmp'", "did you mean dump?"]),
    ("--versoin", 1, ["did you mean --version?"]),
    ("completion bsh", 1, ["no completions for 'bsh'"]),
    # what is missing, or too much
    ("diff F", 2, ["it takes 2 files, not 1"]),
    ("diff F F F", 2, ["it takes 2 files, not 3"]),
    ("dump --summary", 2, ["no file given", "`cubind dump --help` tells more"]),
    ("bundle F", 1, ["no output given: --create"]),
    ("bundle FAT --create out", 1, ["it is a fatbin; `cubind extract -o FOLDER` writes its images"]),
    ("bundle TEXT --create out", 1, ["give its kind and target"]),
]


def main():
    with tempfile.TemporaryDirectory() as folder:
        text, fat = os.path.join(folder, "TEXT"), os.path.join(folder, "FAT")
        with open(text, "w") as f:
            f.write("neither one nor the other\n")
        subprocess.run([CUBIND, "bundle", SAMPLE, "--create", fat], check=True)
        for line, status, words in CASES:
            args = [SAMPLE if word == "F" else word.replace("file=F", "file=" + SAMPLE) for word in line.split()]
            done = subprocess.run([CUBIND, *args], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            expect(line, done.returncode == status and all(word in done.stderr for word in words),
                   (done.returncode, done.stderr[:600]))
            expect("%s: nothing is written" % line, sorted(os.listdir(folder)) == ["FAT", "TEXT"], os.listdir(folder))
    finish()


main()
