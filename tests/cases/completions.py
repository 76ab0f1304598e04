#!/usr/bin/env python3
"""Shell completions: they hold every option of every help, the shells complete with them, and what
they offer is accepted."""

import os
import re
import shutil
import subprocess

from _checks import expect, finish, skip

ROOT = os.environ["CUBIND_ROOT"]
CUBIND = os.environ["CUBIND"]
TMP = os.environ.get("TMPDIR", "/tmp")
SAMPLE = os.path.join(ROOT, "samples/reduce.cubin")

# what is typed, and what must be offered
LINES = [
    ("cubind ext", ["extract"]),
    ("cubind dump --su", ["--summary"]),
    ("cubind link -arch sm_9", ["sm_90", "sm_90a"]),
    ("cubind link --emulate ", ["nvlink-13.0.88"]),
    ("cubind finalize -arch sm_11", ["sm_110", "sm_110a", "sm_110f"]),
    ("cubind extract --kind lt", ["ltoir"]),
    ("cubind bundle --compress-mode s", ["size", "speed"]),
    ("cubind prune --no-re", ["--no-relocatable-elf"]),
    ("cubind dlink --gpu-a", ["--gpu-architecture"]),
    ("cubind completion f", ["fish"]),
    ("cubind help fin", ["finalize"]),
]


def run(*argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


def script(shell):
    path = os.path.join(TMP, "completion." + shell)
    code, text, err = run(CUBIND, "completion", shell)
    expect("completion " + shell, code == 0 and not err and "cubind" in text, err)
    with open(path, "w") as f:
        f.write(text)
    return path, text


def options_of(command):
    """The spellings of the options in a command's help."""
    _, text, _ = run(CUBIND, command, "--help")
    rows = [l for l in text.splitlines() if re.match(r" {0,2}--?\w", l)]
    found = set()
    for row in rows:
        left = re.split(r"  +(?=[^( -])", row.strip())[0]
        found |= set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", left))
    return found


def offered_by_bash(text, command):
    block = text[text.index("    %s)\n" % command):]
    return set(re.search(r"options='([^']*)'", block).group(1).split())


def test_bash():
    path, text = script("bash")
    for command in ("link", "finalize", "dump", "extract", "check", "diff"):
        missing = options_of(command) - offered_by_bash(text, command)
        expect("bash: all options of " + command, not missing, str(missing))
    for command in ("dump", "extract", "check", "diff"):
        for option in sorted(offered_by_bash(text, command)):
            _, _, err = run(CUBIND, command, option, *([SAMPLE] * 2), cwd=TMP)
            expect("%s takes %s" % (command, option), "unknown option" not in err or
                   "value" in err and option in ("-o", "--arch", "--kind", "--number"), err)
    if not shutil.which("bash"):
        skip("bash", "it is not installed")
        return
    lines = LINES + [("cubind link -arch = sm_9", ["sm_90", "sm_90a"]), ("cubind dump x", [])]
    for line, want in lines:
        words = line.split(" ")
        code, out, err = run("bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))\n'
                             '_cubind; printf "%s\\n" "${COMPREPLY[@]}"', path, *words)
        expect("bash: " + line, code == 0 and out.split() == want, out + err)


def test_fish():
    path, _ = script("fish")
    if not shutil.which("fish"):
        skip("fish completes", "it is not installed")
        return
    home = os.path.join(TMP, "home")
    os.makedirs(home, exist_ok=True)
    for line, want in LINES + [("cubind link --arch=sm_90", ["--arch=sm_90", "--arch=sm_90a"])]:
        code, out, err = run("fish", "--no-config", "-c", "source %s; complete -C '%s'" % (path, line),
                             env=dict(os.environ, HOME=home))
        got = [l.split("\t")[0] for l in out.splitlines()]
        expect("fish: " + line, code == 0 and got == want, out + err)


def test_zsh():
    path, _ = script("zsh")
    if not shutil.which("zsh"):
        skip("zsh reads it", "it is not installed")
        return
    code, out, err = run("zsh", "-n", path)
    expect("zsh reads it", code == 0 and not err, err)


def main():
    test_bash()
    test_fish()
    test_zsh()
    for args in ([], ["tcsh"]):
        code, _, err = run(CUBIND, "completion", *args)
        expect("completion %s" % args, code == 1 and "bash|zsh|fish" in err, err)
    finish()


if __name__ == "__main__":
    main()
