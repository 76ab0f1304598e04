"""Kernels that keep values in registers around divergent branches and loops: doubles, products of
matrices, shuffles, conversions, special functions, halves, loads, stores and asynchronous copies,
of which few kinds meet in each.  What code of sm_100 becomes for sm_103 depends on all that is
pending where blocks begin and end."""
import random
import re

import toolchain
from generate import Item, Module, Program

OLDEST = 80                     # the products are not older
FLAGS = [["-O3"], ["-O3"], ["-O3"], ["-O2"], ["-O1"], ["-lineinfo"]]
STEPS = [[[]], [[]], [["-g"]], [["-r"], []]]
REGISTERS = [".reg .b32 %r<20>;", ".reg .f32 %f<8>;", ".reg .f64 %d<8>;", ".reg .b64 %a<6>;",
             ".reg .pred %p<8>;"]
SHAPES = ["branch", "loop", "loop behind branch", "branch in loop"]
# Of statements: R, F and D stand for a register of the class, P for a predicate, g for a guard or
# nothing, N for a distance of 8 bytes times up to 7.
KINDS = [
    ["setp.lt.f64 P, D, D;", "setp.eq.f64 P, D, D;"],
    ["g add.f64 D, D, D;", "g fma.rn.f64 D, D, D, D;", "g mul.f64 D, D, D;"],
    ["g cvt.rzi.s32.f64 R, D;", "g cvt.rn.f64.s32 D, R;"],
    ["g cvt.f64.f32 D, F;", "g cvt.rn.f32.f64 F, D;"],
    ["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {R, R, R, R}, {R, R}, "
     "{%f0, %f1, %f2, %f3};"],
    ["mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {R, R, R, R}, {R, R}, "
     "{%r0, %r1, %r2, %r3};"],
    ["mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {D}, {D}, {%d0, %d1};"],
    ["shfl.sync.bfly.b32 R, R, 2, 31, 0xffffffff;", "shfl.sync.down.b32 R, R, 1, 31, 0xffffffff;"],
    ["bar.warp.sync 0xffffffff;"], ["bar.sync 0;"],
    ["g ld.global.u32 R, [%a0+N];", "g ld.global.f64 D, [%a0+N];"],
    ["g st.global.u32 [%a1+N], R;", "g st.global.f64 [%a1+N], D;"],
    ["g ld.shared.f64 D, [sh+N];", "g st.shared.f64 [sh+N], D;"],
    ["g atom.global.add.f64 D, [%a1+N], D;", "g red.global.add.u32 [%a1+N], R;"],
    ["g add.u32 R, R, R;", "g mad.lo.u32 R, R, R, R;", "g popc.b32 R, R;"],
    ["g fma.rn.f32 F, F, F, F;", "g ex2.approx.f32 F, F;", "g rsqrt.approx.f32 F, F;"],
    ["g selp.f64 D, D, D, P;", "g min.f64 D, D, D;"], ["g div.rn.f64 D, D, D;"],
    ["g ex2.approx.ftz.f32 F, F;", "g rcp.approx.ftz.f32 F, F;", "g add.f32 F, F, F;"],
    ["g cp.async.ca.shared.global [sh+N], [%a0+N], 8;", "cp.async.commit_group;",
     "cp.async.wait_group 1;"],
    ["ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [sh+N];",
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r7}, [sh+N];"],
    ["{ .reg .b16 lo, hi; mov.b32 {lo, hi}, R; cvt.f32.f16 F, hi; }",
     "g fma.rn.f16x2 R, R, R, R;", "cvt.rn.f16x2.f32 R, F, F;"],
    ["mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000;",
     "mov.f64 D, 0d0000000000000000;"],
]
WIDTH = {"R": 12, "F": 8, "D": 8, "P": 4}


class Kernel:
    def __init__(self, rng):
        self.rng = rng
        self.kinds = rng.sample(KINDS, rng.choice([4, 7, len(KINDS)]))

    def guard(self):
        guard = self.rng.choice(["", "", "", "@%%p%d ", "@!%%p%d "])
        return guard % self.rng.randrange(4) if guard else guard

    def fill(self, text):
        text = re.sub("^g ", lambda _: self.guard(), text)
        for cls, count in WIDTH.items():
            for end in ",;}":
                text = re.sub("(?<=[ {])%s(?=%s)" % (cls, end),
                              lambda _: "%%%s%d" % (cls.lower(), self.rng.randrange(count)), text)
        return text.replace("+N]", "+%d]" % (8 * self.rng.randrange(8)))

    def body(self, count):
        return [self.fill(self.rng.choice(self.rng.choice(self.kinds))) for _ in range(count)]

    @staticmethod
    def loop(body):
        return ["L:", *body, "add.u32 %r12, %r12, 32;", "setp.lt.u32 %p4, %r12, %r13;", "@%p4 bra L;"]

    def statements(self):
        count, shape = self.rng.choice([2, 4, 8, 14]), self.rng.choice(SHAPES)
        first, second, third = self.body(count), self.body(count), self.body(count)
        if shape == "branch":
            return [*first, "@%p5 bra X;", *second, "X:", *third]
        if shape == "loop":
            return self.loop(first) + second
        if shape == "loop behind branch":
            return ["@%p5 bra X;", *self.loop(first), "X:", *second]
        return self.loop([*first, "setp.eq.u32 %p6, %r12, %r1;", "@%p6 bra M;", *second, "M:",
                          *self.body(count // 2)]) + third

    def item(self, name):
        begin = [*REGISTERS, "ld.param.u64 %a0, [a];", "ld.param.u64 %a1, [b];",
                 "ld.param.u32 %r13, [n];", "mov.u32 %r14, %tid.x;", "mov.u32 %r12, %r14;",
                 "mul.wide.u32 %a2, %r14, 256;", "add.u64 %a0, %a0, %a2;", "add.u64 %a1, %a1, %a2;"]
        begin += ["ld.global.f64 %%d%d, [%%a0+%d];" % (i, 8 * i) for i in range(8)]
        begin += ["ld.global.f32 %%f%d, [%%a0+%d];" % (i, 64 + 4 * i) for i in range(8)]
        begin += ["ld.global.u32 %%r%d, [%%a0+%d];" % (i, 96 + 4 * i) for i in range(12)]
        begin += ["setp.lt.u32 %%p%d, %%r%d, %%r13;" % (i, i) for i in range(4)]
        begin.append("setp.lt.u32 %p5, %r14, %r13;")
        end = ["st.global.f64 [%%a1+%d], %%d%d;" % (64 + 8 * i, i) for i in range(8)]
        end += ["st.global.f32 [%%a1+%d], %%f%d;" % (128 + 4 * i, i) for i in range(8)]
        end += ["st.global.u32 [%%a1+%d], %%r%d;" % (160 + 4 * i, i) for i in range(12)]
        return Item(".visible .entry %s (.param .u64 a, .param .u64 b, .param .u32 n)" % name, (),
                    [*begin, *self.statements(), *end, "ret;"])


def archs(of):
    return [a for a in of if toolchain.sm_number(a) >= OLDEST]


def make(seed, job, known_archs):
    rng = random.Random("loops/%s/%d" % (seed, job))
    arch = rng.choice(archs(known_archs))
    header = ".version 9.0\n.target sm_%s\n.address_size 64\n" % arch
    module = Module(header, arch, list(rng.choice(FLAGS)))
    module.items = [Item(".shared .align 16 .b8 sh[512]")]
    module.items += [Kernel(rng).item("k%d" % k) for k in range(rng.randint(1, 3))]
    return Program(arch, [module], [list(s) for s in rng.choice(STEPS)])
