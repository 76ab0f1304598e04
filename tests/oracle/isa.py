"""Kernels drawn over the whole PTX instruction set (forms.txt): few forms each, so that these meet
each other often, in branches, loops and calls."""
import os
import random
import re

import toolchain
from generate import Item, Module, Program

FORMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forms.txt")
OLDEST = 90                     # some forms are newer than that, none older
# class of a register: type, how many there are
CLASSES = {"h": ("b16", 6), "r": ("b32", 14), "f": ("f32", 10), "d": ("b64", 8), "g": ("f64", 6),
           "p": ("pred", 5)}
STORED = {"h": "b16", "r": "b32", "f": "f32", "d": "b64", "g": "f64"}
START = {"h": "mov.b16 %%h%d, 5;", "r": "mov.u32 %%r%d, %%tid.x;", "f": "mov.f32 %%f%d, 0f3F800000;",
         "d": "mov.u64 %%d%d, 77;", "g": "mov.f64 %%g%d, 0d4000000000000000;"}
# kind of an address: bases, distances
ADDRESSES = {"Ad": (["%P0", "%P1", "%P2"], [0, 32, 64, 128, 1024]),
             "AS": (["sh", "%S", "dy"], [0, 16, 256]),
             "AQ": (["loc"], [0, 16, 32]),
             "AK": (["kon", "%K"], [0, 16, 32])}
FLAGS = [["-O3"], ["-O3"], ["-O3"], ["-O2"], ["-O1"], ["-O0"], ["-O3", "-lineinfo"]]
STEPS = [[[]], [[]], [["-g"]], [["-r"]], [["-r"], []]]
VARIABLES = [".shared .align 16 .b8 sh[512]", ".extern .shared .align 16 .b8 dy[]",
             ".const .align 16 .b8 kon[64] = {1, 2, 3}"]
SIGNATURE = ".func (.reg .b32 o) %s (.reg .b32 i)"
FUNCTIONS = {"near": ["mad.lo.s32 o, i, i, 3;", "ret;"],
             "further": [".reg .pred p;", "setp.gt.s32 p, i, 10;", "@p bra X;", "call (i), near, (i);",
                         "X: mov.u32 o, %laneid;", "add.u32 o, o, i;", "ret;"]}
OUTSIDE = [".reg .f64 d;", "cvt.rn.f64.s32 d, i;", "mul.f64 d, d, d;", "cvt.rzi.s32.f64 o, d;", "ret;"]


def is_known(where, arch):
    """Has ARCH the forms that are marked so?"""
    number, special = toolchain.sm_number(arch), not arch.isdigit()
    return {"-": True, "100": number >= 100, "100a": special,
            "100a0": arch in ("100a", "103a"), "120a": special and number >= 120,
            "tensor": special and 100 <= number < 120}[where]


def archs(of):
    return [a for a in of if toolchain.sm_number(a) >= OLDEST]


def forms(arch):
    with open(FORMS) as f:
        rows = [line.rstrip("\n").split(" ", 1) for line in f if not line.startswith("#")]
    return [text for where, text in rows if is_known(where, arch)]


class Kernel:
    """Statements of one kernel."""

    def __init__(self, rng, known):
        self.rng, self.labels = rng, 0
        self.calls = rng.random() < 0.25
        self.pool = rng.sample(known, min(len(known), rng.choice([6, 12, 40, 200])))

    def register(self, cls):
        return "%%%s%d" % (cls, self.rng.randrange(CLASSES[cls][1]))

    def fill(self, form):
        """Draws what stands in braces; what an instruction writes is different registers."""
        written = set()

        def draw(match):
            what = match[0]
            if what in ("{{", "}}"):
                return what[0]
            name = match[1]
            if name in ADDRESSES:
                bases, distances = ADDRESSES[name]
                return "%s+%d" % (self.rng.choice(bases), self.rng.choice(distances))
            reg = self.register(name.lstrip(">"))
            while name[0] == ">" and reg in written and len(written) < CLASSES[name[1]][1]:
                reg = self.register(name[1])
            if name[0] == ">":
                written.add(reg)
            return reg

        return re.sub(r"\{\{|\}\}|\{(>?[hrfdgp]|A[dSQK])\}", draw, form)

    def line(self):
        text = self.fill(self.rng.choice(self.pool))
        if self.rng.random() < 0.15 and text[0] != "{" and text.count(";") == 1:
            text = "@%s%s %s" % (self.rng.choice(["", "!"]), self.register("p"), text)
        return text

    def store(self):
        cls = self.rng.choice("rrrfdgh")
        return "st.global.%s [%%P%d+%d], %s;" % (STORED[cls], self.rng.randrange(3), 8 * self.rng.randrange(200),
                                                 self.register(cls))

    def nested(self, depth, most):
        return " ".join(self.block(depth - 1, self.rng.randrange(1, most)))

    def branch(self, depth):
        self.labels += 1
        n, guard = self.labels, self.register("p")
        if self.rng.random() < 0.66:
            return "@%s bra E%d; %s E%d:" % (guard, n, self.nested(depth, 5), n)
        return "@%s bra T%d; %s bra E%d; T%d: %s E%d:" % (guard, n, self.nested(depth, 4), n, n,
                                                         self.nested(depth, 4), n)

    def loop(self, depth):
        self.labels += 1
        n, count, again = self.labels, self.labels % 8, self.labels % 4
        return ("mov.u32 %%c%d, 0; L%d: %s add.u32 %%c%d, %%c%d, 1; setp.lt.u32 %%q%d, %%c%d, %s; @%%q%d bra L%d;"
                % (count, n, self.nested(depth, 5), count, count, again, count, self.register("r"), again, n))

    def block(self, depth, count):
        """Statements, one string each, whatever is nested in them."""
        out = []
        for _ in range(count):
            kind = self.rng.random()
            if depth and kind < 0.12:
                out.append(self.branch(depth))
            elif depth and kind < 0.17:
                out.append(self.loop(depth))
            elif kind < 0.30:
                out.append(self.store())
            elif self.calls and kind < 0.32:
                callee = self.rng.choice(["near", "further", "outside"])
                out.append("call (%s), %s, (%s);" % (self.register("r"), callee, self.register("r")))
            else:
                out.append(self.line())
        return out

    def beginning(self):
        out = [".reg .%s %%%s<%d>;" % (typ, cls, n) for cls, (typ, n) in CLASSES.items()]
        out += [".reg .b32 %c<8>;", ".reg .pred %q<4>;", ".reg .b64 %P<3>;", ".reg .b32 %S;", ".reg .b64 %K;",
                ".local .align 16 .b8 loc[64];"]
        for i in range(3):
            out += ["ld.param.u64 %%P%d, [a%d];" % (i, i), "cvta.to.global.u64 %%P%d, %%P%d;" % (i, i)]
        out += ["ld.param.u32 %S, [s];", "mov.u64 %K, kon;"]
        for cls, typ in STORED.items():
            for i in range(CLASSES[cls][1]):
                loaded = "ld.global.%s %%%s%d, [%%P%d+%d];" % (typ, cls, i, i % 2, 2048 + 8 * i)
                out.append(loaded if self.rng.random() < 0.7 else START[cls] % i)
        for i in range(CLASSES["p"][1]):
            out.append("setp.%s.s32 %%p%d, %%r%d, %d;" % (self.rng.choice(["lt", "ne", "ge"]), i, i, i))
        return out

    def item(self, name, count):
        body = self.block(2, count) + [self.store() for _ in range(self.rng.randrange(2, 8))]
        params = ", ".join(".param .u64 a%d" % i for i in range(3)) + ", .param .u32 s"
        return Item(".visible .entry %s (%s)" % (name, params), (), self.beginning() + body + ["ret;"])


def make(seed, job, known_archs):
    rng = random.Random("isa/%s/%d" % (seed, job))
    arch = rng.choice(archs(known_archs))
    header = ".version 9.0\n.target sm_%s\n.address_size 64\n" % arch
    main, other = Module(header, arch, list(rng.choice(FLAGS))), Module(header, arch, [])
    main.items = [Item(v) for v in VARIABLES]
    main.items.append(Item(".extern " + SIGNATURE % "outside"))
    main.items += [Item(SIGNATURE % name, (), body) for name, body in FUNCTIONS.items()]
    known, size = forms(arch), rng.choice([4, 8, 16, 30, 60])
    main.items += [Kernel(rng, known).item("k%d" % k, size) for k in range(rng.randint(1, 3))]
    other.items = [Item(".visible " + SIGNATURE % "outside", (), OUTSIDE)]
    return Program(arch, [main, other], [list(s) for s in rng.choice(STEPS)])
