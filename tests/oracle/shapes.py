"""Random programs with more of what compilers make of C++ and of newer instructions."""
import tensor
from generate import Function, Generator, Item, Var

# Least sm, weight, variants. '@N@' becomes a fresh number; the registers are those of
# Generator.body.
PLAIN = [
    # Subroutines that ptxas brings along.
    (75, 3, ["div.u64 %rd3, %rd2, %rd1; st.global.u64 [%rd1], %rd3;",
             "rem.s64 %rd3, %rd1, %rd2; st.global.u64 [%rd1+8], %rd3;",
             "div.rn.f64 %fd1, %fd1, 0d4008000000000001; st.global.f64 [%rd1], %fd1;",
             "sqrt.rn.f64 %fd1, %fd1; st.global.f64 [%rd1], %fd1;",
             "rcp.rn.f64 %fd1, %fd1; st.global.f64 [%rd1], %fd1;",
             "div.rn.f32 %f1, %f1, 0f40400001; st.global.f32 [%rd1], %f1;",
             "sqrt.rn.f32 %f1, %f1; st.global.f32 [%rd1], %f1;",
             "rcp.rn.f32 %f1, %f1; st.global.f32 [%rd1], %f1;",
             "{ .reg .u64 q; cvt.u64.u32 q, %r1; div.s64 %rd3, %rd2, q; rem.u64 q, %rd3, %rd1; "
             "div.rn.f64 %fd1, %fd1, %fd1; st.global.u64 [%rd1], q; st.global.f64 [%rd1+8], %fd1; }",
             "rsqrt.approx.f64 %fd1, %fd1; st.global.f64 [%rd1], %fd1;"]),
    (75, 1, ["div.u32 %r3, %r1, 7; st.global.u32 [%rd1], %r3;",
             "rem.s32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3;",
             "sin.approx.f32 %f1, %f1; ex2.approx.f32 %f1, %f1; st.global.f32 [%rd1], %f1;",
             "tanh.approx.f32 %f1, %f1; st.global.f32 [%rd1], %f1;",
             "cvt.rni.s64.f64 %rd3, %fd1; st.global.u64 [%rd1], %rd3;",
             "cvt.rn.f64.u64 %fd1, %rd2; st.global.f64 [%rd1], %fd1;",
             "mul.hi.u64 %rd3, %rd2, %rd1; st.global.u64 [%rd1], %rd3;"]),
    (75, 1.5, ["lop3.b32 %r3, %r1, %r3, %r1, 0x96; prmt.b32 %r3, %r3, %r1, 0x5410;",
               "bfe.s32 %r3, %r1, 3, 9; bfi.b32 %r3, %r3, %r1, 5, 7; brev.b32 %r3, %r3;",
               "popc.b64 %r3, %rd2; clz.b32 %r3, %r3; st.global.u32 [%rd1], %r3;",
               "shf.l.wrap.b32 %r3, %r1, %r3, 9; mad.wide.u32 %rd3, %r3, %r1, %rd2;",
               "fns.b32 %r3, %r1, 2, 3; st.global.u32 [%rd1+4], %r3;",
               "dp4a.s32.u32 %r3, %r1, %r1, %r3; st.global.u32 [%rd1+4], %r3;",
               "vadd.u32.u32.u32.sat %r3, %r1, %r3; sad.u32 %r3, %r3, %r1, %r1;",
               "{ .reg .b32 h; mov.b32 h, %r1; fma.rn.f16x2 h, h, h, h; st.global.b32 [%rd1], h; }",
               "{ .reg .b16 h, g; mov.b32 {h, g}, %r1; add.f16 h, h, g; cvt.f32.f16 %f1, h; "
               "st.global.f32 [%rd1], %f1; }"]),
    (80, 0.7, ["{ .reg .b32 h; mov.b32 h, %r1; fma.rn.bf16x2 h, h, h, h; st.global.b32 [%rd1], h; }",
               "{ .reg .b32 h; cvt.rn.bf16x2.f32 h, %f1, %f1; st.global.b32 [%rd1], h; }",
               "redux.sync.add.s32 %r3, %r1, -1; st.global.u32 [%rd1], %r3;",
               "{ .reg .b64 pol; createpolicy.fractional.L2::evict_last.b64 pol, 1.0; "
               "ld.global.L2::cache_hint.u32 %r3, [%rd1], pol; st.global.u32 [%rd1+4], %r3; }",
               "discard.global.L2 [%rd1], 128;",
               "{ .reg .b32 a<4>, b<2>, c<4>; mov.b32 a0, %r1; mov.b32 a1, %r1; mov.b32 a2, %r1; "
               "mov.b32 a3, %r3; mov.b32 b0, %r1; mov.b32 b1, %r3; mov.b32 c0, 0; mov.b32 c1, 0; "
               "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {c2,c3}, {a0,a1,a2,a3}, {b0,b1}, "
               "{c0,c1}; st.global.b32 [%rd1], c2; }",
               "{ .reg .f64 a, b, c<4>; mov.f64 a, %fd1; mov.f64 b, %fd1; mov.f64 c0, %fd1; mov.f64 "
               "c1, %fd1; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {c2,c3}, {a}, {b}, "
               "{c0,c1}; st.global.f64 [%rd1], c2; }"]),
    (75, 1.5, ["ld.global.nc.u32 %r3, [%rd1+16]; st.global.wt.u32 [%rd1], %r3;",
               "{ .reg .u32 q<4>; ld.global.v4.u32 {q0,q1,q2,q3}, [%rd1]; st.global.v4.u32 [%rd1+16], "
               "{q3,q2,q1,q0}; }",
               "prefetch.global.L2 [%rd1]; prefetchu.L1 [%rd1];",
               "ld.acquire.gpu.u32 %r3, [%rd1]; st.release.sys.global.u32 [%rd1+4], %r3;",
               "{ .reg .u64 q; atom.acq_rel.gpu.global.cas.b64 q, [%rd1], %rd2, %rd3; "
               "st.global.u64 [%rd1+8], q; }",
               "atom.global.add.f64 %fd1, [%rd1], %fd1; red.global.add.f32 [%rd1+8], %f1;",
               "{ .reg .pred q; isspacep.shared q, %rd1; @q st.global.u32 [%rd1], %r1; }",
               "fence.proxy.alias; membar.gl;", "atom.exch.b64 %rd3, [%rd1], %rd2;",
               "ld.u32 %r3, [%rd1]; st.u16 [%rd1+2], %r3; ld.volatile.u8 %r3, [%rd1+9];"]),
    (90, 1, ["{ .reg .b128 v, w; mov.b128 v, {%rd2, %rd3}; atom.global.cas.b128 w, [%rd1], v, v; "
             "mov.b128 {%rd2, %rd3}, w; st.global.u64 [%rd1], %rd2; }",
             "fence.proxy.async; fence.mbarrier_init.release.cluster;",
             "red.global.add.v4.f32 [%rd1], {%f1, %f1, %f1, %f1};",
             "{ .reg .pred q; elect.sync %r3|q, -1; @q st.global.u32 [%rd1], %r3; }",
             "griddepcontrol.launch_dependents;",
             "mov.u32 %r3, %cluster_ctaid.x; st.global.u32 [%rd1], %r3;",
             "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;",
             "{ .shared .align 8 .b64 mb@N@; .shared .align 128 .b8 buf@N@[256]; .reg .pred q; "
             ".reg .u32 a, b; mov.u32 a, mb@N@; mov.u32 b, buf@N@; mbarrier.init.shared.b64 [a], 1; "
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [b], [%rd1], 128, "
             "[a]; mbarrier.try_wait.shared.b64 q, [a], %rd2; @q ld.shared.u32 %r3, [b]; "
             "st.global.u32 [%rd1], %r3; }",
             "{ .shared .align 16 .b8 cb@N@[64]; .reg .u32 a; mov.u32 a, cb@N@; st.shared.u32 [a], "
             "%r1; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [a], 64; "
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; }",
             "{ .shared .align 8 .b64 cl@N@; .reg .u32 a, b; mov.u32 a, cl@N@; "
             "mapa.shared::cluster.u32 b, a, %r1; st.shared::cluster.u32 [b], %r3; "
             "getctarank.shared::cluster.u32 %r3, b; st.global.u32 [%rd1], %r3; }"]),
    # Local memory, loops, divergence.
    (75, 1.5, ["{ .local .align 16 .b8 la@N@[4000]; .reg .u64 t; mov.u64 t, la@N@; add.u64 t, t, %rd2; "
               "st.local.v2.u32 [t], {%r1, %r3}; ld.local.u8 %r3, [t+77]; st.global.u32 [%rd1], %r3; }",
               "{ .reg .u64 t, s; stacksave.u64 s; alloca.u64 t, %rd2, 8; st.local.u32 [t], %r1; "
               "stackrestore.u64 s; }"]),
    (75, 2, ["{ .reg .pred q; .reg .u32 i; mov.u32 i, 0; .pragma \"nounroll\"; B@N@: ld.volatile.global"
             ".u32 %r3, [%rd1]; add.u32 i, i, 1; setp.lt.u32 q, i, %r1; @q bra B@N@; }",
             "{ .reg .pred q; .reg .u32 i; mov.u32 i, 0; C@N@: bar.sync 1; st.volatile.global.u32 "
             "[%rd1], i; add.u32 i, i, 3; setp.lt.u32 q, i, 60; @q bra C@N@; }",
             "{ .reg .pred q; setp.gt.s32 q, %r1, 5; @q bra D@N@; ld.global.f32 %f1, [%rd1]; "
             "mul.f32 %f1, %f1, %f1; st.global.f32 [%rd1+4], %f1; bra E@N@; D@N@: atom.global.add.u32 "
             "%r3, [%rd1], 9; E@N@: st.global.u32 [%rd1+8], %r3; }",
             "{ .reg .pred q; setp.eq.s32 q, %r1, 900; @q ret; }"]),
    (75, 1, ["mov.u64 %rd3, %globaltimer; st.global.u64 [%rd1], %rd3;",
             "mov.u64 %rd3, %clock64; st.global.u64 [%rd1], %rd3;",
             "mov.u32 %r3, %laneid; st.global.u32 [%rd1], %r3;",
             "mov.u32 %r3, %warpid; st.global.u32 [%rd1], %r3;",
             "mov.u64 %rd3, %gridid; st.global.u64 [%rd1], %rd3;",
             "mov.u32 %r3, %nsmid; st.global.u32 [%rd1], %r3;",
             "pmevent 3;", "brkpt;", "exit;", "bar.warp.sync -1;",
             "{ .reg .pred q; barrier.red.and.pred q, 2, !q; @q st.global.u32 [%rd1], 1; }"]),
]

IMAGES = ["tex.2d.v4.f32.f32 {w0,w1,w2,w3}, [@TX@, {%f1,%f1}];",
          "tex.3d.v4.f32.f32 {w0,w1,w2,w3}, [@TX@, {%f1,%f1,%f1,%f1}];",
          "tex.a2d.v4.f32.f32 {w0,w1,w2,w3}, [@TX@, {%r1,%f1,%f1,%f1}];",
          "tex.cube.v4.f32.f32 {w0,w1,w2,w3}, [@TX@, {%f1,%f1,%f1,%f1}];",
          "tex.level.2d.v4.f32.f32 {w0,w1,w2,w3}, [@TX@, {%f1,%f1}], %f1;",
          "tld4.r.2d.v4.f32.f32 {w0,w1,w2,w3}, [@TX@, {%f1,%f1}];",
          "txq.width.b32 %r3, [@T@]; mov.b32 w0, %r3;",
          "sust.b.1d.b32.trap [@S@, {%r1}], {%r1}; mov.f32 w0, %f1;",
          "suld.b.2d.b32.clamp {%r3}, [@S@, {%r1,%r1}]; mov.b32 w0, %r3;",
          "suq.width.b32 %r3, [@S@]; mov.b32 w0, %r3;",
          "sured.b.add.1d.u32.trap [@S@, {%r1}], %r1; mov.f32 w0, %f1;",
          "sust.p.1d.b32.trap [@S@, {%r1}], {%r1}; mov.f32 w0, %f1;"]

SIGS = [(None, ("u64",) * 12), ("b16", ("u64", "b40")), ("b72", ("b16", "u32", "f64", "f32", "u64")),
        ("u32", ("b200", "b200", "u64")), ("b400", ("u64",)),
        ("u64", ("f32", "f64", "u64", "u32", "u32", "b13"))]

NAMES = ["_ZN4base%dfEv", "_ZNK2ns%dIiLi3EE3getEPKcj", "_ZN6thrust%d6detail3fooIfJNS_3barEEEEvT_DpT0_",
         "_ZZN1A%dfEvENKUlvE_clEv", "_ZN37_INTERNAL_0a1b2c3d_%d_x_cu_1234_5678E1gEi", "_Zdl%dPv",
         "$odd$name%d"]

FLAGS = ["-annotate", "-dlcm=cg", "-flcm=cv", "-func-maxrregcount=40", "-device-stack-protector=true",
         "-no-bb-merge", "-fmad=false", "-make-errors-visible-at-exit", "-opt-fp-atomics",
         "-pic=true", "-regUsageLevel=8", "-ret-end", "-sanitize=memcheck", "-sanitize=threadsteer",
         "-sp-bounds-check", "-split-compile=2", "-maxntid=64", "-dscm=wt", "-Ofc=max"]

LAUNCHES = {
    "cnpGetParameterBufferV2":
        ".extern .func (.param .b64 r) cnpGetParameterBufferV2 (.param .b64 f, .param .align 4 .b8 "
        "g[12], .param .align 4 .b8 b[12], .param .b32 s)",
    "cnpLaunchDeviceV2":
        ".extern .func (.param .b32 r) cnpLaunchDeviceV2 (.param .b64 b, .param .b64 s)",
    "cudaGraphSetConditional":
        ".extern .func cudaGraphSetConditional (.param .b64 h, .param .b32 v)",
}


class ShapedGenerator(Generator):
    def plan(self):
        super().plan()
        r = self.rng
        self.variadic = Function("variadic", r.choice(["visible", "weak"]), None, [0])
        if r.random() < 0.4:
            stem = r.choice(NAMES)
            for i, f in enumerate(self.funcs):
                f.name = stem % (10 + i)
        for f in self.funcs:
            if r.random() < 0.3:
                f.sig = r.choice(SIGS)
        for k in self.kernels:
            if k.link != "weak" and r.random() < 0.05:
                k.params.append(".param .texref image_of_" + k.name)
        for i in range(r.choice([0, 0, 1, 2])):     # virtual tables
            link = r.choice(["weak", "weak", "visible"])
            v = Var("_ZTV%dA" % i, link, "global", "u64", r.randint(3, 9), 8, self.homes(link))
            v.initialised, v.table = True, []
            self.tables.append(v)
        self.images = r.random() < 0.15
        self.image_home = r.randrange(self.nmod)

    def kernel_params(self):
        out, r = super().kernel_params(), self.rng
        if r.random() < 0.15 and "big" not in out[-1]:
            out.append(r.choice([".param .u64 .ptr .global .align 16 kq", ".param .u64 .ptr kq",
                                 ".param .align 64 .b8 kq[128]", ".param .align 2 .b8 kq[6]"]))
        return out

    def kinds(self):
        out = super().kinds()
        for sm, weight, variants in PLAIN:
            if self.sm >= sm:
                out.append((lambda m, f, v=variants: self.st_plain(m, v), 0.7 * weight))
        return out + [(self.st_string, 1), (self.st_launch, 0.5), (self.st_variadic, 0.5),
                      (self.st_targets, 0.7), (self.st_virtual, 1.5), (self.st_parameter, 1),
                      (self.st_image, 5 if self.images else 0)]

    def st_plain(self, m, variants):
        return self.rng.choice(variants).replace("@N@", m.fresh("x"))

    def st_string(self, m, f):
        """printf or assert with constant strings."""
        r = self.rng
        name = m.fresh("$str")
        text = [r.randrange(1, 128) for _ in range(r.choice([1, 4, 11, 30]))] + [0]
        m.vardecl[name] = Item(".global .align 1 .b8 %s[%d]" % (name, len(text)),
                               [" = {%s}" % ", ".join(map(str, text))])
        get = "{ .reg .u64 t; mov.u64 t, %s; cvta.global.u64 t, t; " % name
        if r.random() < 0.5:
            m.use_sys("__assertfail")
            return get + ".param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; " \
                "st.param.b64 [a], t; st.param.b64 [b], t; st.param.b32 [c], 9; st.param.b64 [d], " \
                "t; st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); }"
        m.use_sys("vprintf")
        return get + ".local .align 8 .b8 %s[16]; .reg .u64 s; mov.u64 s, %s; cvta.local.u64 s, s; " \
            "st.u32 [s], %%r1; .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], t; " \
            "st.param.b64 [b], s; call (r), vprintf, (a, b); ld.param.b32 %%r3, [r]; }" % (
                name + "d", name + "d")

    def st_launch(self, m, f):
        kind = self.rng.choice(list(LAUNCHES))
        m.fdecl.setdefault(kind, Item(LAUNCHES[kind]))
        if kind == "cudaGraphSetConditional":
            return "{ .param .b64 h; .param .b32 v; st.param.b64 [h], %rd1; st.param.b32 [v], %r1; " \
                   "call cudaGraphSetConditional, (h, v); }"
        if kind == "cnpLaunchDeviceV2":
            return "{ .param .b64 b; .param .b64 s; .param .b32 r; st.param.b64 [b], %rd1; " \
                   "st.param.b64 [s], 0; call (r), cnpLaunchDeviceV2, (b, s); }"
        pool = [k for k in self.kernels if m.index in k.homes]
        if not pool:
            return None
        k = self.rng.choice(pool)
        m.use_func(k)
        return "{ .reg .u64 t; mov.u64 t, %s; .param .b64 f; .param .align 4 .b8 g[12]; .param " \
               ".align 4 .b8 b[12]; .param .b32 s; .param .b64 r; st.param.b64 [f], t; st.param.b32 " \
               "[g], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0; call (r), " \
               "cnpGetParameterBufferV2, (f, g, b, s); ld.param.b64 %%rd3, [r]; " \
               "st.global.u64 [%%rd1], %%rd3; }" % k.name

    def st_variadic(self, m, f):
        link = self.variadic.link if m.index == 0 else "extern"
        head = ".%s .func variadic (.param .u32 n, .param .align 8 .b8 list[])" % link
        if "variadic" not in m.fdecl:
            m.fdecl["variadic"] = Item(head)
            if m.index == 0:
                m.bodies.insert(0, Item(head, [], [
                    ".reg .u64 a; ld.param.u64 a, [list+8]; st.global.u64 [a], a;", "ret;"]))
        n = self.rng.choice([16, 24, 80])
        return "{ .param .u32 n; .param .align 8 .b8 l[%d]; st.param.u32 [n], 2; st.param.u64 [l+8], " \
               "%%rd1; call variadic, (n, l); }" % n

    def st_targets(self, m, f):
        """An indirect call that names its candidates."""
        pool = self.usable(m, self.funcs)
        if not pool:
            return None
        g = self.rng.choice(pool)
        same = [h for h in pool if h.sig == g.sig]
        for h in same:
            m.use_func(h)
        name = m.fresh("T")
        return "{ .reg .u64 fp; mov.u64 fp, %s; st.global.u64 [%%rd1+8], fp; ld.global.u64 fp, " \
               "[%%rd1+24]; %s: .calltargets %s; %s }" % (
                   g.name, name, ", ".join(h.name for h in same), self.call("fp", g.sig, name))

    def st_virtual(self, m, f):
        """A call through the table of an object that is made here or comes from memory."""
        pool = [v for v in self.usable(m, self.tables) if v.name.startswith("_ZTV")]
        if not pool:
            return None
        r = self.rng
        v = r.choice(pool)
        m.use_var(v)
        sig = r.choice(v.table).sig if v.table else (None, ("u64",))
        name, text = self.proto(m, sig)
        made = "mov.u64 o, %s; cvta.global.u64 o, o; st.global.u64 [%%rd1+40], o; " % v.name \
            if r.random() < 0.6 else ""
        return "{ .reg .u64 o, fp; %s %sld.u64 o, [%%rd1+40]; ld.u64 fp, [o+%d]; %s }" % (
            text, made, 8 * r.randrange(v.count), self.call("fp", sig, name))

    def st_parameter(self, m, f):
        """The address of a kernel parameter."""
        pool = [p.split()[-1].split("[")[0] for p in f.params if "texref" not in p]
        if not f.kernel or not pool:
            return None
        return "{ .reg .u64 t; mov.b64 t, %s; cvta.param.u64 t, t; add.u64 t, t, %%rd2; ld.u8 %%r3, " \
               "[t]; st.global.u32 [%%rd1], %%r3; }" % self.rng.choice(pool)

    def st_image(self, m, f):
        own = m.index == self.image_home
        link = ".visible" if own else ".extern"
        text = self.rng.choice(IMAGES)
        if "@S@" in text:
            name = "surf%d" % self.rng.randrange(2)
            m.vardecl.setdefault(name, Item("%s .global .surfref %s" % (link, name)))
            text = text.replace("@S@", name)
        else:
            name = "img%d" % self.rng.randrange(3)
            m.vardecl.setdefault(name, Item("%s .global .texref %s" % (link, name)))
            both = name
            if self.independent_mode():
                m.vardecl.setdefault("imgsmp", Item("%s .global .samplerref imgsmp" % link))
                both = name + ", imgsmp"
            text = text.replace("@TX@", both).replace("@T@", name)
        return "{ .reg .f32 w<4>; %s st.global.f32 [%%rd1], w0; }" % text

    def independent_mode(self):
        return bool(self.tex) and self.independent

    def kernel_attrs(self):
        out, r = super().kernel_attrs(), self.rng
        text = "".join(out)
        if self.sm >= 90 and not text and r.random() < 0.05:
            out.append("\n.reqntid 32, 2\n.reqnctapercluster 2\n.blocksareclusters")
        elif not text and r.random() < 0.1:
            out.append(r.choice(["\n.maxntid 1024", "\n.maxntid 8, 8, 8\n.minnctapersm 3",
                                 "\n.reqntid 64\n.minnctapersm 4", "\n.reqntid 5, 3"]))
        return out

    def module_flags(self):
        out, r = super().module_flags(), self.rng
        if r.random() < 0.15:
            out.append(r.choice(FLAGS))
        return out

    def options(self):
        steps, r = super().options(), self.rng
        names = [k.name for k in self.kernels] or ["none"]
        more = ["-preserve-relocs", "-g", "-kernels-used=" + r.choice(names), "-kernels-used=*",
                "-variables-used=" + r.choice([v.name for v in self.vars] or ["v"]),
                "-use-host-info", "-keep-system-libraries", "-dump-callgraph-no-demangle",
                "--dont-reserve-null-pointer", "-maxrregcount=32"]
        if r.random() < 0.2:
            opt = r.choice(more)
            step = r.choice(steps)
            if opt not in step:
                step.append(opt)
        return steps


def make(seed, job, archs, newest=False):
    return ShapedGenerator("shapes/%s" % seed, job, tensor.archs(archs) if newest else archs,
                           newest).program()
