"""Times links of many modules at four sizes and compares with nvlink."""
import math
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import cubin
import toolchain

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
NVLINK_LIMIT = 120


def call(name):
    return "    { .param .u64 x; st.param.u64 [x], a; call %s, (x); }\n" % name


def func(name, body):
    return (".visible .func %s (.param .u64 p)\n{\n    .reg .u64 a;\n    ld.param.u64 a, [p];\n"
            "    st.global.u64 [a+8], a;\n%s    ret;\n}\n" % (name, body))


def kernel(name, body):
    return (".visible .entry %s (.param .u64 p)\n{\n    .reg .u64 a;\n    ld.param.u64 a, [p];\n"
            "%s    ret;\n}\n" % (name, body))


def decl(name):
    return ".extern .func %s (.param .u64 p);\n" % name


def module(shape, m, funcs):
    """PTX of module M: FUNCS functions; wide: a kernel calls them all, and each calls one of the
    next module's leaves; chain, deep and ring: each function calls the next one, and a kernel enters
    at every hundredth module, or at every one (deep).  many: kernels that all call one function;
    one: a kernel that calls all functions."""
    first = m * funcs
    if shape == "wide":
        leaf = "leaf%d" % (m + 1)
        s = HEAD + decl(leaf) + ".visible .global .u32 v%d = %d;\n" % (m, m)
        s += func("leaf%d" % m, "    st.global.u32 [v%d], 4;\n" % m)
        names = ["f%d" % (first + i) for i in range(funcs - 1)]
        s += "".join(func(n, call(leaf) if i == 0 else "") for i, n in enumerate(names))
        return s + kernel("k%d" % m, "".join(call(n) for n in names))
    if shape == "many":
        return HEAD + decl("f") + "".join(kernel("k%d" % (first + i), call("f"))
                                          for i in range(funcs))
    if shape == "one":
        return HEAD + "".join(func("f%d" % (first + i), "") for i in range(funcs))
    s = HEAD + decl("f%d" % (first + funcs))
    for i in reversed(range(funcs)):
        s += func("f%d" % (first + i), call("f%d" % (first + i + 1)))
    if m % 100 == 0 or shape == "deep":
        s += kernel("k%d" % m, call("f%d" % first))
    return s


def last_module(shape, n, funcs):
    """Closes a link of N modules: defines what the last of them calls."""
    if shape == "wide":
        return HEAD + func("leaf%d" % n, "")
    if shape == "many":
        return HEAD + func("f", "")
    if shape == "one":
        names = ["f%d" % i for i in range(n * funcs)]
        return HEAD + "".join(decl(x) for x in names) + kernel("k", "".join(call(x) for x in names))
    name = "f%d" % (n * funcs)
    if shape == "ring":
        return HEAD + decl("f0") + func(name, call("f0"))
    return HEAD + func(name, "")


def high_water(pid):
    """Peak resident KiB of a process so far. (What wait4 reports includes this one's own.)"""
    try:
        with open("/proc/%d/status" % pid) as f:
            return next((int(x.split()[1]) for x in f if x.startswith("VmHWM")), 0)
    except OSError:
        return 0


def timed(argv, cwd, limit):
    """(seconds, peak KiB, exit status) of a command; seconds is None past the limit."""
    start = time.monotonic()
    with open(os.path.join(cwd, "err"), "wb") as err:
        p = subprocess.Popen(argv, cwd=cwd, stdout=subprocess.DEVNULL, stderr=err)
        peak = 0
        while p.poll() is None:
            peak = max(peak, high_water(p.pid))
            if time.monotonic() > start + limit:
                p.kill()
                p.wait()
                return None, peak, -9
            time.sleep(0.002)
        return time.monotonic() - start, peak, p.returncode


def run(opts, tools, archs):
    shape, arch, total = opts.scale, archs[-1] if opts.arch else "90", opts.modules
    d = tools.workdir()
    start = time.monotonic()

    def build(m):
        with open(os.path.join(d, "m%d.cubin" % m), "wb") as f:
            f.write(tools.assemble(module(shape, m, opts.funcs), arch))

    with ThreadPoolExecutor(opts.j) as pool:
        list(pool.map(build, range(total)))
    print("%s: %d modules of %d functions for sm_%s, made in %.0f s" % (
        shape, total, opts.funcs, arch, time.monotonic() - start))
    sub = [] if tools.cubind_is_nvlink else ["link", "--emulate", toolchain.EMULATE]
    points, bad = [], 0
    for part in (8, 4, 2, 1):
        n = max(total // part, 1)
        end = "end%d.cubin" % n
        with open(os.path.join(d, end), "wb") as f:
            f.write(tools.assemble(last_module(shape, n, opts.funcs), arch))
        files = ["m%d.cubin" % i for i in range(n)] + [end]
        best, peak, rc = None, 0, 0
        for _ in range(3):
            t, mem, rc = timed([tools.cubind, *sub, "-arch=sm_" + arch, *files, "-o", "c.out"], d,
                               NVLINK_LIMIT)
            if t is None or rc:
                break
            best, peak = min(t, best or t), max(peak, mem)
        if best is None:
            print("  %5d modules: cubind failed (%s)" % (n, "time limit" if t is None else rc))
            return 1
        points.append((n, best))
        line = "  %5d modules: cubind %.3f s, %d MiB" % (n, best, peak // 1024)
        if part in (8, 1):
            t, mem, rc = timed([tools.nvlink, "-arch=sm_" + arch, *files, "-o", "n.out"], d,
                               NVLINK_LIMIT)
            if t is None:
                line += "; nvlink not finished after %d s (ratio > %.0f)" % (NVLINK_LIMIT,
                                                                          NVLINK_LIMIT / best)
            elif rc:
                line += "; nvlink exit %d after %.1f s" % (rc, t)
            else:
                line += "; nvlink %.3f s, %d MiB, ratio %.1f" % (t, mem // 1024, t / best)
                with open(os.path.join(d, "n.out"), "rb") as f, \
                        open(os.path.join(d, "c.out"), "rb") as g:
                    a, b = f.read(), g.read()
                line += ", " + {"same": "identical", "sched": "sched-only"}.get(
                    cubin.grade(a, b)[0], "DIFFERENT")
                if a != b:
                    bad = 1
                    line += "\n    " + cubin.explain(a, b)[1].replace("\n", "\n    ")
        print(line)
    (n0, t0), (n1, t1) = points[0], points[-1]
    if n1 > n0:
        print("  time exponent %.2f" % (math.log(t1 / t0) / math.log(n1 / n0)))
    return bad
