"""Judges of programs that look at more than the link: `cubind finalize` of linked files against
nvlink's own link of the same objects for another target; `cubind check` of what nvlink wrote."""
import random
import re

import namesakes
import toolchain

SELF_CHECK = (17, 18, 19)  # exit statuses of `cubind finalize`


def target_for(arch, seed):
    """Another target of ARCH's family, also one that may be refused; the same for the same SEED."""
    near = [t for t in toolchain.MERCURY if t[:2] == arch[:2] and t != arch]
    return random.Random("%s/%s" % (seed, arch)).choice(near) if near else arch


def chain(tools, steps, inputs, target=None):
    """nvlink's last result, which is for TARGET if there is one, or None if a link fails; and what
    it was made of."""
    for i, args in enumerate(steps):
        if target and i + 1 == len(steps):
            args = ["-arch=sm_" + target if a.startswith("-arch=") else a for a in args]
        last = inputs
        n = tools.run_nvlink(args, inputs)
        if n.rc or n.out is None:
            return None, inputs
        inputs = [("step.cubin", n.out)]
    return n.out, last


def check(tools, steps, inputs):
    """nvlink and ptxas write nothing that `cubind check` finds fault with."""
    files = list(inputs)
    for i, args in enumerate(steps):
        n = tools.run_nvlink(args, inputs)
        if n.rc or n.out is None:
            break
        inputs = [("step%d.cubin" % (i + 1), n.out)]
        files += inputs
    argv = [tools.cubind, "check", *[n for n, _ in files]]
    got = tools.run_beside(argv, files)
    if got.returncode == 0:
        return toolchain.Verdict("same")
    codes = re.findall(r"\[([a-z-]+)\]$", got.stdout, re.M)
    return toolchain.Verdict("diff", codes[0] if codes else "exit %d" % got.returncode,
                             got.stdout[:2000] + got.stderr[:300])


def finalize(target):
    """Judges a program: linked for its own chip, then finalized for TARGET."""
    def judge(tools, steps, inputs):
        linked, last = chain(tools, steps, inputs)
        if linked is None:
            return toolchain.Verdict("skip", "", "nvlink: no output to finalize")
        want, _ = chain(tools, steps, inputs, target)
        argv = [tools.cubind, "finalize", "-arch", "sm_" + target, "--self-check", "in.cubin"]
        got = tools.exec_link(argv, [("in.cubin", linked)], "f")
        names = namesakes.mixed(last)[0] if got.rc in SELF_CHECK else None
        if names and tools.check(linked):
            return toolchain.Verdict("mixed", "", "", names)
        if want is not None:
            return toolchain.compare(tools, toolchain.Run(0, "", want), got, (), inputs)
        if got.rc and got.out is None:
            return toolchain.Verdict("same")
        return toolchain.Verdict("diff", "not refused", "nvlink refuses, exit status %d" % got.rc)
    return judge
