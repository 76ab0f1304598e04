"""Makes a failing random program small while it keeps failing in the same way."""
import os
import shutil
import time

import toolchain


class Shrinker:
    def __init__(self, tools, program, cls, budget=45.0):
        self.tools, self.best, self.cls = tools, program, cls
        self.end = time.monotonic() + budget
        self.tries = 0

    def fails(self, prog):
        if time.monotonic() > self.end:
            return False
        self.tries += 1
        try:
            inputs = prog.inputs(self.tools)
        except toolchain.ToolError:
            return False
        v = prog.judge(self.tools, prog.args(), inputs)
        return v.grade != "same" and v.cls == self.cls

    def attempt(self, change):
        cand = self.best.copy()
        if change(cand) is False:
            return False
        if self.fails(cand):
            self.best = cand
            return True
        return False

    def chunks(self, get):
        """Removes runs of the list GET(program) returns, long ones first."""
        size = max(len(get(self.best)) // 2, 1)
        while True:
            i = 0
            while i < len(get(self.best)):
                def cut(p, i=i):
                    lst = get(p)
                    del lst[i:i + size]
                if not self.attempt(cut):
                    i += size
            if size == 1:
                return
            size //= 2

    def run(self):
        while True:
            before = self.best_text()
            if len(self.best.modules) > 1:
                self.chunks(lambda p: p.modules)
            for m in range(len(self.best.modules)):
                self.chunks(lambda p, m=m: p.modules[m].items)
                self.chunks(lambda p, m=m: p.modules[m].flags)
                for k in range(len(self.best.modules[m].items)):
                    it = lambda p, m=m, k=k: p.modules[m].items[k]
                    if it(self.best).stmts is not None:
                        self.chunks(lambda p, it=it: it(p).stmts)
                    self.chunks(lambda p, it=it: it(p).attrs)
            for s in range(len(self.best.steps)):
                self.chunks(lambda p, s=s: p.steps[s])
            if self.best_text() == before or time.monotonic() > self.end:
                return self.best

    def best_text(self):
        return "\0".join(m.text() + repr(m.flags) for m in self.best.modules) + \
            repr(self.best.steps)


def write_case(tools, prog, folder, verdict, note=""):
    """Leaves everything needed to look at a failure by hand in FOLDER."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    cmd = ["#!/bin/sh", "# Rebuilds the inputs and runs both linkers on them.",
           'cd "$(dirname "$0")" || exit 1', 'CUBIND=${CUBIND:-cubind}', "mkdir -p n c"]
    for i, m in enumerate(prog.modules):
        with open(os.path.join(folder, "m%d.%s" % (i, m.language)), "w") as f:
            f.write(m.text())
        if m.language == "cu":
            cmd.append("# nvcc -rdc=true -std=c++17 -arch=sm_%s %s m%d.cu, as %s" % (m.arch, " ".join(m.flags), i, m.kind))
            continue
        ready = prog.patch or prog.host
        cmd.append("%sptxas -c -arch=sm_%s %s m%d.ptx -o m%d.cubin" %
                   ("# use what is here, changed after: " if ready else "", m.arch,
                    " ".join(m.flags), i, i))
    try:
        for name, data in prog.inputs(tools):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
    except toolchain.ToolError:
        pass
    write_steps(cmd, prog.args(), " ".join(prog.file(i) for i in range(len(prog.modules))))
    with open(os.path.join(folder, "cmd"), "w") as f:
        f.write("\n".join(cmd) + "\n")
    with open(os.path.join(folder, "explain"), "w") as f:
        f.write("%s%s\n%s\n" % (note, verdict.cls, verdict.text))


def write_steps(cmd, steps, files):
    for i, args in enumerate(steps):
        text = " ".join(args)
        cmd.append("nvlink %s %s -o n/out.cubin; echo nvlink: $?" % (text, files))
        cmd.append('"$CUBIND" link --emulate %s %s %s -o c/out.cubin; echo cubind: $?' %
                   (toolchain.EMULATE, text, files))
        if i + 1 < len(steps):
            files = "step%d.cubin" % (i + 1)
            cmd.append("cp n/out.cubin " + files)
    cmd.append("cmp n/out.cubin c/out.cubin && echo identical")
