"""Random programs as builds make them: C++ in several files with flags of their own, in cubins, host
objects, fatbins and archives, linked at once or in chains; whole programs of `ptxas -ewp`.

The parts of a header that all files include (classes, lambdas, templates, inline variables) are compiled
in each of them anew, so that copies of one function differ where the flags do.
"""
import os
import random
import subprocess
import tempfile

import generate
import hosts
import toolchain
from generate import Item

HEADER = [
    ("vec", "template <class T, int N> struct Vec {{ T v[N]; __device__ __noinline__ T dot(const Vec &o) const "
            "{{ T s = 0; for (int i = 0; i < N; i++) s += v[i] * o.v[i]; return s; }} }};",
     "{{ Vec<{type}, {small}> a, b; for (int i = 0; i < {small}; i++) {{ a.v[i] = p[i]; b.v[i] = p[i + n]; }} "
     "p[{at}] += a.dot(b); }}"),
    ("shape", "struct Shape {{ float w; __device__ Shape(float x) : w(x) {{}} __device__ virtual float area() const "
              "{{ return w * {small}.0f; }} }};\nstruct Disc : Shape {{ __device__ Disc(float x) : Shape(x) {{}} "
              "__device__ float area() const override {{ return w * w; }} }};",
     "{{ Disc d(p[{at}]); Shape s(p[1]); const Shape *q = n > {small} ? &s : (const Shape *)&d; p[{at}] = q->area(); }}"),
    ("apply", "template <class F> __device__ __noinline__ int apply(F f, int x) {{ return f(x) + f(x + {small}); }}",
     "p[{at}] += apply([=](int x) {{ return x * n + {number}; }}, n);"),
    ("poly", "template <class T> __device__ __noinline__ T poly(T x) {{ T s = {number}; for (int i = 0; i < {small}; "
             "i++) s = s * x + (T)i; return s; }}", "p[{at}] = poly<{type}>(p[{small}]);"),
    ("divide", "template <class T> __device__ T divide(T a, T b) {{ return a / (b + (T){small}); }}",
     "p[{at}] = divide<{type}>(p[1], p[2]);"),
    ("tile", "template <class T> __device__ __noinline__ T tile(T x) {{ __shared__ T t[{number}]; t[threadIdx.x % "
             "{number}] = x; __syncthreads(); return t[(threadIdx.x + {small}) % {number}]; }}",
     "p[{at}] += tile<{type}>(p[3]);"),
    ("fill", "template <class T> __global__ void fill(T *p, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; "
             "if (i >= n) return; p[i] = (T)({number} + i) / p[n]; }}\n",
     None),
    ("count", "inline __device__ int count = {number};", "count += n; p[{at}] = count;"),
    ("bias", "template <class T> __constant__ T bias[{small}] = {{ 1, 2 }};", "p[{at}] += bias<{type}>[n & 1];"),
    ("local", "static __device__ __noinline__ float local(float x) {{ return sqrtf(x) + {small}.5f; }}",
     "p[{at}] = local(p[{small}]);"),
    ("math", "inline __device__ double math(double x) {{ return sin(x) * exp(x + {small}); }}",
     "p[{at}] = math(p[{small}]);"),
    ("recurse", "inline __device__ __noinline__ int recurse(int n) {{ return n < {small} ? n : recurse(n / 2) + "
                "recurse(n - {small}); }}", "p[{at}] += recurse(n);"),
    ("atomic", "template <class T> __device__ void atomic(T *q, T x) {{ atomicAdd(q, x); }}",
     "atomic<float>((float *)p + {small}, {small}.5f);"),
    ("print", "inline __device__ void print(int n) {{ if (n == {number}) printf(\"%d\\n\", n); }}", "print(n);"),
]
TYPES = ["int", "float", "double", "unsigned", "long long"]
FLAGS = [[], [], [], ["-Xptxas=-O1"], ["-Xptxas=-O0"], ["-G"], ["-lineinfo"], ["-lineinfo", "-Xptxas=-O1"],
         ["-maxrregcount=40"]]
CHAINS = [[[]], [[]], [["-g"]], [["-r"], []], [["-r", "-g"], ["-g"]], [["-r", "-g"], []], [["-r"], ["-g"]],
          [["-r", "-g"], ["-r"]], [["-r"], ["-r"]], [["-r", "-g"], ["-r", "-g"], ["-g"]]]
EXTRAS = [["-kernels-used=NAMES"], ["-variables-used=count"], ["-preserve-relocs"], ["-use-host-info"],
          ["-ignore-host-info"], ["-dump-callgraph"], ["-v"], ["-suppress-stack-size-warning"],
          ["-suppress-debug-info"], ["-extrawarn"], ["-L=LIBDIR", "-lcudadevrt"]]


class Source(generate.Module):
    """One .cu file; flags are those of nvcc, `kind` the file that the link gets."""
    language = "cu"

    def __init__(self, arch, flags, kind):
        super().__init__("#include <cstdio>\n", arch, flags)
        self.kind = kind

    def copy(self):
        m = Source(self.arch, list(self.flags), self.kind)
        m.items = [i.copy() for i in self.items]
        return m


def compile_source(tools, m, kind):
    """The cubin, or the host object, of a module."""
    whole = kind == "ewp"
    flags = [*(["-ewp"] if whole else ["-rdc=true"]), "-std=c++17", "-w", "-arch=sm_" + m.arch,
             "-c" if kind in ("o", "a") else "-cubin", *m.flags]
    key = toolchain.digest("builds", tools.version, m.text(), "\0".join(flags))
    hit = tools.cache.get(key)
    if hit is None:
        # always the same folder and name: debug data and names of static things have them
        d = os.path.join(tempfile.gettempdir(), "cubind-oracle-src", key[:12])
        os.makedirs(d, exist_ok=True)
        with open(os.path.join(d, "x.cu"), "w") as f:
            f.write(m.text())
        os.utime(f.name, (10**9, 10**9))
        p = subprocess.run([tools.nvcc, *flags, "x.cu", "-o", "x.out"], cwd=d, capture_output=True, text=True)
        hit = (None, p.stderr)
        if p.returncode == 0:
            with open(os.path.join(d, "x.out"), "rb") as f:
                hit = (f.read(), "")
        subprocess.run(["rm", "-rf", d], check=True)
        tools.cache.put(key, hit)
    if hit[0] is None:
        raise toolchain.ToolError(hit[1])
    return hit[0]


class Build(generate.Program):
    def __init__(self, arch, modules, steps):
        super().__init__(arch, modules, steps)
        self.first = None   # how many modules are linked before, and the options of that

    def copy(self):
        p = Build(self.arch, [m.copy() for m in self.modules], [list(s) for s in self.steps])
        p.judge, p.first = self.judge, self.first
        return p

    def inputs(self, tools):
        out, members = [], []
        for i, m in enumerate(self.modules):
            blob = compile_source(tools, m, m.kind)
            if m.kind == "a":
                members.append(("m%d.o" % i, blob))
            else:
                if m.kind in ("host", "fatbin"):
                    blob = hosts.wrap(blob, m.arch, m.kind, i)
                out.append(("m%d.%s" % (i, {"host": "o", "ewp": "cubin"}.get(m.kind, m.kind)), blob))
        if members:
            out.append(("lib.a", hosts.archive(members)))
        if self.first and len(out) > self.first[0]:
            count, options = self.first
            r = tools.run_nvlink(["-arch=sm_" + self.arch, "-r", *options], out[:count])
            if r.out is None:
                raise toolchain.ToolError("-r of the first: " + r.err)
            out[:count] = [("first.cubin", r.out)]
        return out

    def file(self, i):
        return "m%d.%s" % (i, {"host": "o", "ewp": "cubin", "a": "o"}.get(self.modules[i].kind, self.modules[i].kind))

    def args(self):
        nvlink = toolchain.shutil.which("nvlink")
        lib = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(nvlink))), "lib64")
        return [["-arch=sm_" + self.arch, *[x.replace("LIBDIR", lib) for x in s]] for s in self.steps]


def source(r, arch, number, total, parts, kinds):
    m = Source(arch, list(r.choice(FLAGS)), r.choice(kinds))
    m.items = [Item(text, tail="") for _, text, _ in parts]
    for k in range(total):
        if k != number:
            m.items.append(Item("extern __device__ float f%d(float *p, int n)" % k))
    uses = [use for _, _, use in parts if use]

    def body(count):
        out = []
        for _ in range(count):
            use = r.choice(uses) if uses and r.random() < 0.8 else "p[{at}] = f%d((float *)p, n);" % r.randrange(total)
            if use.startswith("p[{at}] = f%d(" % number):
                continue
            out.append(use.format(at=r.randint(0, 40), small=r.choice([2, 3, 4, 7]), number=r.randint(8, 99),
                                  type=r.choice(TYPES)))
        return out

    m.items.append(Item("__device__ __noinline__ float f%d(float *p, int n)" % number, (),
                        body(r.randint(0, 2)) + ["return p[%d] + n;" % r.randint(0, 9)]))
    for k in range(r.randint(1, 2)):
        early = ["if (threadIdx.x >= n) return;"] if r.random() < 0.5 else []
        m.items.append(Item('extern "C" __global__ void k%d_%d(%s *p, int n)' % (number, k, r.choice(
            ["float", "float", "double", "int"])), (), early + body(r.randint(1, 4))))
    if any(name == "fill" for name, _, _ in parts):
        m.items.append(Item("template __global__ void fill<%s>(%s *, int)" % (("float",) * 2 if r.random() < 0.5
                                                                             else ("int",) * 2)))
    return m


def make(seed, job, archs, group):
    """A job of one of the groups `cxx` (cubins), `chain` (all kinds of files), `ewp`."""
    r = random.Random("%s/%s/%s" % (group, seed, job))
    arch = r.choice(archs)
    number, small = str(r.randint(8, 99)), str(r.choice([2, 3, 4, 7]))
    parts = [(name, text.format(number=number, small=small), use)
             for name, text, use in r.sample(HEADER, r.randint(2, 6))
             if group != "ewp" or name not in ("count", "bias")]  # not in whole programs
    kinds = {"cxx": ["cubin"], "ewp": ["ewp"], "chain": ["cubin", "o", "o", "a", "a", "host", "fatbin"]}[group]
    total = 1 if group == "ewp" else r.randint(2, 4)
    modules = [source(r, arch, i, total, parts, kinds) for i in range(total)]
    steps = [list(s) for s in r.choice(CHAINS)]
    names = "k%d_0" % r.randrange(total) + r.choice(["", "", ",k0_1", ",k*"])
    for extra in r.sample(EXTRAS, r.choice([0, 0, 1, 1, 2])):
        steps[r.randrange(len(steps))] += [x.replace("NAMES", names) for x in extra]
    build = Build(arch, modules, steps)
    if total > 2 and r.random() < 0.4:
        build.first = (2, r.choice([[], ["-g"]]))
    return build
