"""Random programs at PTX level: whole link jobs, the same for the same seed and number.

A program keeps its parts apart (modules, items, statements, attributes, options), so that the
shrinker can take any of them away; whatever no longer compiles after that is put back.
"""
import random

import hosts
import patch
import tensor
import toolchain
from toolchain import sm_number

# Signature: (return type or None, parameter types). 'bN' is an N byte aggregate.
SIGS = [
    (None, ()), (None, ("u64",)), (None, ("u32", "u32")), ("u32", ("u32",)), ("f32", ("f32",)),
    (None, ("b24",)), ("u64", ("u64",)), ("u32", ("u64", "f64")), (None, ("u64", "u32", "u32")),
]
TYPES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "f32": 4, "f64": 8, "b8": 1, "s32": 4, "b64": 8}
REG = {"u32": "%r", "u64": "%rd", "f32": "%f", "f64": "%fd"}
SYSCALLS = {
    "vprintf": ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b)",
    "malloc": ".extern .func (.param .b64 r) malloc (.param .b64 a)",
    "free": ".extern .func free (.param .b64 a)",
    "__assertfail": ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, "
                    ".param .b64 d, .param .b64 e)",
}


class Item:
    """One declaration or definition. Text: head, attributes, then {statements} or nothing."""

    def __init__(self, head, attrs=(), stmts=None, tail=";"):
        self.head, self.attrs, self.stmts, self.tail = head, list(attrs), stmts, tail

    def text(self):
        s = self.head + "".join(self.attrs)
        if self.stmts is None:
            return s + self.tail + "\n"
        return s + "\n{\n" + "".join("    " + x + "\n" for x in self.stmts) + "}\n"

    def copy(self):
        return Item(self.head, self.attrs, None if self.stmts is None else list(self.stmts),
                    self.tail)


class Module:
    language = "ptx"

    def __init__(self, header, arch, flags):
        self.header, self.arch, self.flags, self.items = header, arch, flags, []

    def text(self):
        return self.header + "".join(i.text() for i in self.items)

    def copy(self):
        m = Module(self.header, self.arch, list(self.flags))
        m.items = [i.copy() for i in self.items]
        return m


class Program:
    def __init__(self, arch, modules, steps):
        self.arch, self.modules, self.steps = arch, modules, steps
        self.patch = None       # seed of changes to the attributes of the compiled modules
        self.judge = toolchain.run_steps
        self.host = None        # seed of what the host refers to, when modules are host objects

    def copy(self):
        p = Program(self.arch, [m.copy() for m in self.modules], [list(s) for s in self.steps])
        p.patch, p.host, p.judge = self.patch, self.host, self.judge
        return p

    def inputs(self, tools):
        out = []
        for i, m in enumerate(self.modules):
            blob = tools.assemble(m.text(), m.arch, m.flags)
            if self.patch:
                blob = patch.patch(blob, self.patch)
            if self.host:
                blob = hosts.pack(blob, m.arch, m.text(), self.host, i)
            out.append((self.file(i), blob))
        return out

    def file(self, i):
        return "m%d.%s" % (i, "o" if self.host else "cubin")

    def args(self):
        return [["-arch=sm_" + self.arch, *s] for s in self.steps]


def param_text(types, names=None):
    out = []
    for i, t in enumerate(types):
        n = (names or "p") + str(i)
        if t.startswith("b") and t not in TYPES:
            out.append(".param .align 8 .b8 %s[%s]" % (n, t[1:]))
        else:
            out.append(".param .%s %s" % (t, n))
    return ", ".join(out)


def ret_param(typ, name):
    """The declaration of a return value: of a type or of N bytes."""
    return ".param .%s %s" % (typ, name) if typ in TYPES \
        else ".param .align 8 .b8 %s[%s]" % (name, typ[1:])


def func_head(link, name, sig):
    ret = "(%s) " % ret_param(sig[0], "ret") if sig[0] else ""
    return "%s.func %s%s (%s)" % (link and "." + link + " ", ret, name, param_text(sig[1]))


class Function:
    def __init__(self, name, link, sig, homes, kernel=False):
        self.name, self.link, self.sig, self.homes = name, link, sig, homes
        self.kernel = kernel
        self.params = []
        self.strong = None      # the module where a weak function is global instead

    def link_in(self, index):
        if index not in self.homes:
            return "extern"
        return "visible" if self.strong == index else self.link


class Var:
    def __init__(self, name, link, space, typ, count, align, homes):
        self.name, self.link, self.space, self.typ = name, link, space, typ
        self.count, self.align, self.homes = count, align, homes
        self.managed = False
        self.strong = None      # the module where a weak or common variable is global instead
        self.open = False       # declared elsewhere without a size
        self.table = None       # list of function names when it holds function pointers

    def size(self):
        return TYPES[self.typ] * max(self.count, 1)

    def decl(self, link):
        dim = "" if self.count == 0 else "[%d]" % self.count
        if self.link == "dynamic" or (link == "extern" and self.open and self.count):
            dim = "[]"
        al = ".align %d " % self.align if self.align else ""
        space = self.space + (" .attribute(.managed)" if self.managed else "")
        return "%s.%s %s.%s %s%s" % (link and "." + link + " ", space, al, self.typ, self.name,
                                     dim)


class ModuleBuilder:
    """Collects what one module declares and defines, in an order PTX accepts."""

    def __init__(self, gen, index):
        self.gen, self.index = gen, index
        self.vardecl, self.fdecl, self.tables, self.bodies = {}, {}, {}, []
        self.label = 0

    def use_var(self, v):
        if v.name in self.vardecl or v.name in self.tables:
            return
        if self.index in v.homes:
            self.gen.define_var(self, v)
        elif v.link == "common":
            self.vardecl[v.name] = Item(v.decl("common"))
        else:
            self.vardecl[v.name] = Item(v.decl("extern"))

    def use_func(self, f):
        if f.name in self.fdecl:
            return
        if f.kernel:
            link = f.link_in(self.index)
            head = "%s.entry %s (%s)" % (link and "." + link + " ", f.name, ", ".join(f.params))
        else:
            head = func_head(f.link_in(self.index), f.name, f.sig)
        self.fdecl[f.name] = Item(head)

    def use_sys(self, name):
        self.fdecl.setdefault(name, Item(SYSCALLS[name]))

    def fresh(self, stem):
        self.label += 1
        return "%s_%d" % (stem, self.label)

    def items(self):
        out = list(self.vardecl.values()) + list(self.fdecl.values())
        return out + list(self.tables.values()) + self.bodies


class Generator:
    def __init__(self, seed, job, archs, newest=False):
        self.rng = r = random.Random("%s/%d" % (seed, job))
        self.arch = archs[job % len(archs)]
        self.sm = sm_number(self.arch)
        self.nmod = r.choice([1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 8])
        self.independent = r.random() < 0.5
        self.debug = r.choices(["", "-lineinfo", "-g"], [80, 12, 8])[0]
        self.textures = r.random() < 0.12
        self.heavy = r.random() < 0.2       # larger functions, many registers
        self.error = r.random() < 0.08
        self.newest = newest                # with statements of tensor.py
        # kernels that use tensor memory alone and in pairs are an error
        self.group = r.choices([1, 2, None], [6, 3, 2])[0] if newest else None

    # -- plan --------------------------------------------------------------------------------

    def homes(self, link):
        r = self.rng
        if link in ("weak", "common", ""):
            k = r.randint(1, min(3, self.nmod))
            return sorted(r.sample(range(self.nmod), k))
        return [r.randrange(self.nmod)]

    def plan(self):
        r = self.rng
        nf = r.choice([0, 1, 2, 3, 4, 5, 6, 8, 12])
        nk = r.choice([0, 1, 1, 1, 2, 2, 3, 4])
        nv = r.choice([0, 1, 2, 3, 4, 6, 8, 12])
        if nf + nk == 0:
            nk = 1
        stem = r.choice(["f", "fn", "_Z3foo", "dev_"])
        self.funcs = []
        for i in range(nf):
            link = r.choices(["visible", "weak", ""], [6, 3, 2])[0]
            f = Function("%s%d" % (stem, i), link, r.choice(SIGS), self.homes(link))
            if link == "weak" and r.random() < 0.2:
                f.strong = r.choice(f.homes)
            self.funcs.append(f)
        self.kernels = []
        for i in range(nk):
            link = r.choices(["visible", "weak", ""], [10, 1, 1])[0]
            homes = self.homes(link) if link == "weak" else [r.randrange(self.nmod)]
            k = Function("k%d" % i, link, None, homes, True)
            k.params = self.kernel_params()
            self.kernels.append(k)
        self.vars = []
        for i in range(nv):
            space = r.choices(["global", "const", "shared"], [5, 3, 3])[0]
            links = {"global": ["visible", "weak", "common", ""],
                     "const": ["visible", "weak", ""],
                     "shared": ["visible", "weak", "", "dynamic"]}[space]
            link = r.choices(links, [6, 2, 2, 2][:len(links)])[0]
            typ = r.choice(list(TYPES))
            count = r.choice([0, 0, 1, 2, 3, 5, 8, 17, 40, 129])
            align = r.choice([0, 0, 0, 4, 8, 16, 32, 128, 256])
            if align and align < TYPES[typ]:
                align = TYPES[typ]
            homes = list(range(self.nmod)) if link == "dynamic" else self.homes(link)
            v = Var("v%d" % i, link, space, typ, count, align, homes)
            v.initialised = space == "const" or (space == "global" and r.random() < 0.5)
            if link == "common":
                v.initialised = False
            if link in ("weak", "common") and r.random() < 0.15:
                v.strong = r.choice(homes)
            v.open = r.random() < 0.1
            v.managed = space == "global" and link == "visible" and r.random() < 0.08
            self.vars.append(v)
        self.tables = []
        for i in range(r.choice([0, 0, 0, 1, 1, 2])):
            link = r.choice(["visible", "weak", ""])
            v = Var("tab%d" % i, link, r.choice(["global", "const"]), "u64", r.randint(1, 4), 8,
                    self.homes(link))
            v.initialised = True
            v.table = []
            self.tables.append(v)
        self.tex = ["tx%d" % i for i in range(r.randint(1, 4))] if self.textures else []

    def kernel_params(self):
        r, out = self.rng, []
        out.append(".param .u64 kp0")
        for i in range(r.choice([0, 0, 0, 1, 2, 4])):
            kind = r.random()
            if kind < 0.5:
                out.append(".param .%s kp%d" % (r.choice(["u32", "u64", "f32", "u8"]), i + 1))
            elif kind < 0.9:
                out.append(".param .align %d .b8 kp%d[%d]" % (r.choice([1, 4, 8, 16]), i + 1,
                                                             r.randint(1, 200)))
            else:
                out.append(".param .align 4 .b8 kp%d[%d]" % (i + 1, r.choice([1000, 3000, 4000])))
        if r.random() < 0.03:
            out.append(".param .align 8 .b8 big[%d]" % r.choice([5000, 8000, 20000]))
        size = sum(int(p.split("[")[1][:-1]) if "[" in p else 8 for p in out)
        return out if size < 4000 or (self.sm >= 75 and "big[" in out[-1] and size < 32000) \
            else out[:1]

    # -- definitions -------------------------------------------------------------------------

    def scalar(self, typ):
        r = self.rng
        if typ == "f32":
            return "0f%08X" % r.getrandbits(30)
        if typ == "f64":
            return "0d%016X" % r.getrandbits(62)
        return str(r.getrandbits(min(8 * TYPES[typ], 31) - 1) if r.random() < 0.7 else 0)

    def define_var(self, m, v):
        r = self.rng
        if v.link == "dynamic":
            m.vardecl[v.name] = Item(v.decl("extern"))
            return
        attrs, where = [], m.vardecl
        if v.table is not None:
            pool = [f for f in self.funcs if f.link or m.index in f.homes]
            elems = []
            for _ in range(v.count):
                if pool and r.random() < 0.85:
                    f = r.choice(pool)
                    m.use_func(f)
                    v.table.append(f)
                    elems.append(f.name)
                else:
                    elems.append("0")
            attrs, where = [" = {%s}" % ", ".join(elems)], m.tables
        elif (v.initialised or (v.strong == m.index and r.random() < 0.7)) and v.space != "shared":
            if v.typ == "u64" and r.random() < 0.5:
                attrs, where = [" = {%s}" % ", ".join(
                    self.pointer(m, v) for _ in range(max(v.count, 1)))], m.tables
                if v.count == 0:
                    attrs = [attrs[0].replace("{", "").replace("}", "")]
            elif v.typ == "u8" and v.count >= 8 and r.random() < 0.5:
                p = self.plain_symbol(m, v)
                if p:
                    attrs, where = [" = {%s}" % ", ".join(
                        "0x%x(%s)" % (0xFF << (8 * k), p) for k in range(8))], m.tables
            elif r.random() < 0.9:
                n = max(v.count, 1)
                k = n if r.random() < 0.6 else r.randint(1, n)
                vals = ", ".join(self.scalar(v.typ) for _ in range(k))
                attrs = [" = {%s}" % vals if v.count else " = " + vals.split(",")[0]]
        head = v.decl("visible" if v.strong == m.index else v.link)
        m.vardecl.pop(v.name, None)
        where[v.name] = Item(head, attrs)

    def plain_symbol(self, m, v):
        r = self.rng
        pool = [x for x in self.vars if x is not v and x.space == "global" and
                (x.link or m.index in x.homes) and x.name < v.name]
        fpool = [f for f in self.funcs if f.link or m.index in f.homes]
        if fpool and (not pool or r.random() < 0.3):
            f = r.choice(fpool)
            m.use_func(f)
            return f.name
        if not pool:
            return None
        x = r.choice(pool)
        m.use_var(x)
        return x.name

    def pointer(self, m, v):
        """An initialiser element that names another symbol."""
        r = self.rng
        kind = r.random()
        if kind < 0.2:
            return "0"
        if kind < 0.45 and self.funcs:
            pool = [f for f in self.funcs + self.kernels if f.link or m.index in f.homes]
            if pool:
                f = r.choice(pool)
                m.use_func(f)
                return f.name
        pool = [x for x in self.vars if x.space in ("global", "const") and x.name < v.name and
                (x.link or m.index in x.homes)]
        if not pool:
            return "0"
        x = r.choice(pool)
        m.use_var(x)
        off = "" if r.random() < 0.6 or x.size() < 4 else "+%d" % r.randrange(x.size())
        if r.random() < 0.5:
            return "generic(%s)%s" % (x.name, off)
        return x.name + off

    def usable(self, m, pool):
        return [x for x in pool if x.link or m.index in x.homes]

    # -- statements --------------------------------------------------------------------------

    def access(self, v):
        """Type and offset of a memory access inside V."""
        width = self.rng.choice([w for w in (1, 2, 4, 8) if w <= TYPES[v.typ]])
        n = v.size() // width
        off = 0 if self.rng.random() < 0.5 else width * self.rng.randrange(n)
        return "u%d" % (8 * width), off

    def st_var(self, m, f):
        pool = self.usable(m, self.vars)
        if not pool:
            return None
        r = self.rng
        v = r.choice(pool)
        m.use_var(v)
        if v.link == "dynamic":
            v = Var(v.name, v.link, v.space, v.typ, 8, v.align, v.homes)
        typ, off = self.access(v)
        reg = "%rd3" if typ == "u64" else "%r3"
        at = "[%s+%d]" % (v.name, off) if off else "[%s]" % v.name
        kind = r.random()
        if v.space == "const":
            if kind < 0.7:
                return "ld.const.%s %s, %s; st.global.%s [%%rd1], %s;" % (typ, reg, at, typ, reg)
            if kind < 0.85:
                return "{ .reg .u64 t; mov.u64 t, %s; st.global.u64 [%%rd1+8], t; }" % v.name
            return "{ .reg .u64 t; cvta.const.u64 t, %s; add.u64 t, t, %%rd2; ld.u8 %%r3, [t]; " \
                   "st.global.u32 [%%rd1], %%r3; }" % v.name
        if kind < 0.35:
            return "ld.%s.%s %s, %s; st.global.%s [%%rd1+16], %s;" % (v.space, typ, reg, at, typ,
                                                                     reg)
        if kind < 0.6:
            return "st.%s.%s %s, %s;" % (v.space, typ, at, reg)
        if kind < 0.7:
            return "{ .reg .u64 t; mov.u64 t, %s; st.global.u64 [%%rd1+8], t; }" % v.name
        if kind < 0.85:
            return "{ .reg .u64 t; cvta.%s.u64 t, %s; add.u64 t, t, %%rd2; st.u8 [t+%d], %%r3; }" \
                   % (v.space, v.name, r.choice([0, 0, 1, 4]))
        if kind < 0.95 and v.size() >= 4 and (v.align >= 4 or TYPES[v.typ] >= 4):
            return "atom.%s.add.u32 %%r3, [%s], 3; st.global.u32 [%%rd1], %%r3;" % (v.space,
                                                                                 v.name)
        return "{ .reg .u64 t; .reg .u32 u; mov.u64 t, %s; cvt.u32.u64 u, t; st.global.u32 " \
               "[%%rd1+4], u; }" % v.name

    def call_args(self, sig):
        """Parameter set-up for a call: (declarations, argument list, return argument, use)."""
        lines, args = [], []
        for i, t in enumerate(sig[1]):
            if t in TYPES:
                reg = {"u64": "%rd1", "f32": "%f1", "f64": "%fd1"}.get(t, "%r1")
                lines.append(".param .%s a%d; st.param.%s [a%d], %s;" % (t, i, t, i, reg))
            else:
                lines.append(".param .align 8 .b8 a%d[%s]; st.param.u64 [a%d], %%rd1; "
                             "st.param.u32 [a%d+8], %%r1;" % (i, t[1:], i, i))
            args.append("a%d" % i)
        ret = use = ""
        if sig[0]:
            lines.append(ret_param(sig[0], "rv") + ";")
            ret = "(rv), "
            typ, reg, at = self.returned(sig)
            use = " ld.param.%s %s, [rv%s]; st.global.%s [%%rd1], %s;" % (typ, reg, at, typ, reg)
        return " ".join(lines), ", ".join(args), ret, use

    def returned(self, sig):
        """Type, register and place of what a function returns, or of a part of it."""
        if sig[0] not in TYPES:
            return "u64", "%rd3", "+8"
        return sig[0], {"u64": "%rd3", "u32": "%r3", "f32": "%f1"}[sig[0]], ""

    def call(self, target, sig, proto=""):
        setup, args, ret, use = self.call_args(sig)
        tail = ", (%s)" % args if args else (", ()" if proto else "")
        tail += ", " + proto if proto else ""
        return "%s call %s%s%s;%s" % (setup, ret, target, tail, use)

    def st_call(self, m, f):
        pool = self.usable(m, self.funcs)
        if not f.kernel and self.rng.random() > 0.08:       # else a back edge: recursion
            pool = [g for g in pool if g.name > f.name and len(g.name) >= len(f.name)]
        if not pool:
            return None
        g = self.rng.choice(pool)
        m.use_func(g)
        return "{ %s }" % self.call(g.name, g.sig)

    def proto(self, m, sig):
        name = m.fresh("P")
        ret = "(%s) " % ret_param(sig[0], "_") if sig[0] else ""
        pars = ", ".join(".param .%s _" % t if t in TYPES else ".param .align 8 .b8 _[%s]" % t[1:]
                         for t in sig[1])
        return name, "%s: .callprototype %s_ (%s);" % (name, ret, pars)

    def st_indirect(self, m, f):
        r = self.rng
        sig, load = r.choice(SIGS), None
        if self.tables and r.random() < 0.6:
            pool = self.usable(m, self.tables)
            if not pool:
                return None
            v = r.choice(pool)
            m.use_var(v)
            if v.table:
                sig = r.choice(v.table).sig
            load = "ld.%s.u64 fp, [%s+%d];" % (v.space, v.name, 8 * r.randrange(v.count))
        elif self.usable(m, self.funcs) and r.random() < 0.6:
            g = r.choice(self.usable(m, self.funcs))
            m.use_func(g)
            sig = g.sig
            load = "mov.u64 fp, %s; st.global.u64 [%%rd1+8], fp; ld.global.u64 fp, [%%rd1+24];" \
                % g.name
        else:
            load = "ld.global.u64 fp, [%rd1+32];"
        name, text = self.proto(m, sig)
        return "{ .reg .u64 fp; %s %s %s }" % (text, load, self.call("fp", sig, name))

    def st_address(self, m, f):
        pool = self.usable(m, self.funcs + (self.kernels if self.rng.random() < 0.3 else []))
        pool = [g for g in pool if not g.kernel or m.index in g.homes]
        if not pool:
            return None
        g = self.rng.choice(pool)
        m.use_func(g)
        return "{ .reg .u64 t; mov.u64 t, %s; st.global.u64 [%%rd1+8], t; }" % g.name

    def st_barrier(self, m, f):
        r = self.rng
        return r.choice(["bar.sync %d;" % r.randrange(16), "barrier.sync %d, 64;" % r.randrange(16),
                         "bar.arrive %d, 128;" % r.randrange(16), "bar.sync %r1;",
                         "{ .reg .pred q; setp.ne.u32 q, %%r1, 0; bar.red.popc.u32 %%r3, %d, q; "
                         "st.global.u32 [%%rd1], %%r3; }" % r.randrange(8)])

    def st_mbarrier(self, m, f):
        if self.sm < 80:
            return None
        n = m.fresh("mb")
        return "{ .shared .align 8 .b64 %s; mbarrier.init.shared.b64 [%s], 32; " \
               "mbarrier.arrive.shared.b64 %%rd3, [%s]; st.global.u64 [%%rd1], %%rd3; }" % (n, n, n)

    def st_double(self, m, f):
        r = self.rng
        ops = []
        for _ in range(r.randint(1, 5)):
            ops.append("fma.rn.f64 %%fd1, %%fd1, 0d%016X, 0d%016X;" % (
                0x3FF0000000000000 + r.getrandbits(50), 0x4000000000000000 + r.getrandbits(48)))
        return " ".join(ops) + " st.global.f64 [%rd1], %fd1;"

    def st_jump(self, m, f):
        n = self.rng.randint(4, 9)
        p = m.fresh("L")
        arms = " ".join("%s_%d: st.global.u32 [%%rd1+%d], %d; bra %s_e;" %
                        (p, i, 4 * i, self.rng.getrandbits(20), p) for i in range(n))
        names = ", ".join("%s_%d" % (p, i) for i in range(n))
        return "{ .reg .u32 ix; rem.u32 ix, %%r1, %d; %s_t: .branchtargets %s; brx.idx ix, %s_t; " \
               "%s %s_e: }" % (n, p, names, p, arms, p)

    def st_syscall(self, m, f):
        name = self.rng.choice(list(SYSCALLS))
        m.use_sys(name)
        if name == "vprintf":
            return "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1; " \
                   "st.param.b64 [b], 0; call (r), vprintf, (a, b); }"
        if name == "malloc":
            return "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 64; call (r), malloc, (a); " \
                   "ld.param.b64 %rd3, [r]; st.global.u64 [%rd1], %rd3; }"
        if name == "free":
            return "{ .param .b64 a; st.param.b64 [a], %rd1; call free, (a); }"
        return "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 d; .param .b64 e; " \
               "st.param.b64 [a], %rd1; st.param.b64 [b], %rd1; st.param.b32 [c], 7; " \
               "st.param.b64 [d], %rd1; st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); }"

    def st_local(self, m, f):
        n = self.rng.choice([16, 40, 64, 200, 1000])
        a = m.fresh("loc")
        return "{ .local .align 8 .b8 %s[%d]; .reg .u64 t; mov.u64 t, %s; add.u64 t, t, %%rd2; " \
               "st.local.u32 [t], %%r1; ld.local.u32 %%r3, [t+4]; st.global.u32 [%%rd1], %%r3; }" \
            % (a, n, a)

    def st_registers(self, m, f):
        n = self.rng.choice([8, 20, 40, 80] if self.heavy else [6, 12, 20])
        lo = " ".join("ld.volatile.global.u32 q%d, [%%rd1+%d];" % (i, 4 * i) for i in range(n))
        hi = " ".join("st.volatile.global.u32 [%%rd1+%d], q%d;" % (4 * i, n - 1 - i)
                      for i in range(n))
        return "{ .reg .u32 q<%d>; %s %s }" % (n, lo, hi)

    def st_special(self, m, f):
        s = self.rng.choice(["%ctaid.z", "%ctaid.x", "%clock", "%nctaid.y", "%smid", "%tid.x",
                             "%lanemask_lt", "%dynamic_smem_size", "%total_smem_size"])
        return "mov.u32 %%r3, %s; st.global.u32 [%%rd1+4], %%r3;" % s

    def st_spin(self, m, f):
        p = m.fresh("S")
        return "{ .reg .pred q; %s: atom.global.cas.b32 %%r3, [%%rd1], 0, 1; setp.ne.u32 q, " \
               "%%r3, 0; @q bra %s; }" % (p, p)

    def st_warp(self, m, f):
        return self.rng.choice([
            "{ .reg .pred q; shfl.sync.idx.b32 %r3|q, %r1, 3, 31, -1; st.global.u32 [%rd1], %r3; }",
            "{ .reg .pred q; setp.ne.u32 q, %r1, 3; vote.sync.ballot.b32 %r3, q, -1; "
            "st.global.u32 [%rd1], %r3; }",
            "match.any.sync.b32 %r3, %r1, -1; st.global.u32 [%rd1], %r3;",
            "activemask.b32 %r3; bar.warp.sync %r3;",
            "{ .reg .b16 h; mov.b16 h, 0x3c00; atom.add.noftz.global.f16 h, [%rd1], h; "
            "st.global.b16 [%rd1+2], h; }"])

    def st_async(self, m, f):
        pool = [v for v in self.usable(m, self.vars) if v.space == "shared" and v.align >= 16 and
                v.size() >= 16 and v.link != "dynamic"]
        if self.sm < 80 or not pool:
            return None
        v = self.rng.choice(pool)
        m.use_var(v)
        return "cp.async.ca.shared.global [%s], [%%rd1], 16; cp.async.commit_group; " \
               "cp.async.wait_group 0;" % v.name

    def st_sparse(self, m, f):
        if self.sm < 80:
            return None
        return "{ .reg .b32 a<4>, b<4>, e; .reg .f32 c<4>; mov.b32 e, %r1; mov.b32 a0, %r1; " \
               "mov.b32 a1, %r1; mov.b32 a2, %r1; mov.b32 a3, %r1; mov.b32 b0, %r1; mov.b32 b1, " \
               "%r1; mov.b32 b2, %r1; mov.b32 b3, %r1; mov.f32 c0, %f1; mov.f32 c1, %f1; " \
               "mov.f32 c2, %f1; mov.f32 c3, %f1; " \
               "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {c0,c1,c2,c3}, " \
               "{a0,a1,a2,a3}, {b0,b1,b2,b3}, {c0,c1,c2,c3}, e, 0x0; st.global.f32 [%rd1], c0; }"

    def st_cluster(self, m, f):
        if self.sm < 90:
            return None
        return self.rng.choice(["barrier.cluster.arrive; barrier.cluster.wait;",
                                "mov.u32 %r3, %cluster_ctarank; st.global.u32 [%rd1], %r3;",
                                "griddepcontrol.wait;"])

    def st_texture(self, m, f):
        if not self.tex:
            return None
        t = self.rng.choice(self.tex)
        for n in self.tex if self.rng.random() < 0.2 else [t]:
            m.vardecl.setdefault(n, Item(".visible .global .texref %s" % n
                                         if self.tex_home[n] == m.index
                                         else ".extern .global .texref %s" % n))
        if self.independent:
            m.vardecl.setdefault("smp", Item((".visible" if self.tex_home[self.tex[0]] == m.index
                                              else ".extern") + " .global .samplerref smp"))
            return "{ .reg .f32 w<4>; tex.1d.v4.f32.s32 {w0,w1,w2,w3}, [%s, smp, {%%r1}]; " \
                   "st.global.f32 [%%rd1], w0; }" % t
        return "{ .reg .f32 w<4>; tex.1d.v4.f32.s32 {w0,w1,w2,w3}, [%s, {%%r1}]; " \
               "st.global.f32 [%%rd1], w0; }" % t

    def st_shared_local(self, m, f):
        r = self.rng
        n, a = m.fresh("sl"), r.choice([1, 2, 4, 8, 16, 64, 128])
        size = r.choice([1, 3, 8, 24, 100, 512])
        return "{ .shared .align %d .b8 %s[%d]; .reg .u32 t; mov.u32 t, %s; add.u32 t, t, %%r1; " \
               "st.shared.u8 [t], %%r1; bar.sync 0; ld.shared.u8 %%r3, [%s]; st.global.u32 " \
               "[%%rd1], %%r3; }" % (a, n, size, n, n)

    def st_alloca(self, m, f):
        return "{ .reg .u64 t; alloca.u64 t, %rd2, 16; st.local.u32 [t], %r1; ld.local.u32 %r3, " \
               "[t+4]; st.global.u32 [%rd1], %r3; }"

    def st_trap(self, m, f):
        return self.rng.choice(["{ .reg .pred q; setp.eq.u32 q, %r1, 77; @q trap; }",
                                "{ .reg .pred q; setp.eq.u32 q, %r1, 78; @q exit; }",
                                "membar.sys;", "fence.acq_rel.gpu;", "nanosleep.u32 20;"])

    def st_newest(self, m, f):
        return tensor.statement(self.rng, self.arch, self.group)

    def body(self, m, f):
        r = self.rng
        out = [".reg .u64 %rd<8>; .reg .u32 %r<8>; .reg .f32 %f<4>; .reg .f64 %fd<4>;"]
        if f.kernel:
            out.append("ld.param.u64 %rd1, [kp0];")
        else:
            ptr = [i for i, t in enumerate(f.sig[1]) if t == "u64"]
            agg = [i for i, t in enumerate(f.sig[1]) if t not in TYPES]
            if ptr:
                out.append("ld.param.u64 %%rd1, [p%d];" % ptr[0])
            elif agg:
                out.append("ld.param.u64 %%rd1, [p%d+8];" % agg[0])
            else:
                out.append("mov.u64 %%rd1, %d;" % r.choice([4096, 8192]))
        out.append("ld.global.u32 %r1, [%rd1+64]; cvt.u64.u32 %rd2, %r1; "
                   "ld.global.f32 %f1, [%rd1+68]; ld.global.f64 %fd1, [%rd1+72]; "
                   "mov.u32 %r3, %r1; mov.u64 %rd3, %rd2;")
        kinds = self.kinds()
        n = r.choice([0, 1, 2, 3, 4, 6, 9]) * (2 if self.heavy else 1)
        for i in range(n):
            fn = r.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
            s = fn(m, f)
            if not s:
                continue
            if self.debug:
                out.append(".loc 1 %d 0" % (m.index * 100 + len(out)))
            out.append(s)
        if not f.kernel and f.sig[0]:
            typ, reg, at = self.returned(f.sig)
            out.append("st.param.%s [ret%s], %s;" % (typ, at, reg))
        out.append("ret;")
        return out

    def kinds(self):
        """Kinds of statements and their weights."""
        return [(self.st_var, 10), (self.st_call, 8), (self.st_indirect, 2), (self.st_address, 1),
                (self.st_barrier, 1.5), (self.st_mbarrier, 0.7), (self.st_double, 1.2),
                (self.st_jump, 0.8), (self.st_syscall, 1), (self.st_local, 1.2),
                (self.st_registers, 1.5), (self.st_special, 1), (self.st_spin, 0.4),
                (self.st_warp, 0.8), (self.st_async, 0.6), (self.st_sparse, 0.25),
                (self.st_cluster, 0.4), (self.st_texture, 6 if self.tex else 0),
                (self.st_shared_local, 1.5), (self.st_alloca, 0.05), (self.st_trap, 0.5),
                (self.st_newest, 15 if self.newest else 0)]

    def kernel_attrs(self):
        r, out = self.rng, []
        if r.random() < 0.25:
            out.append("\n.maxntid %d, %d, 1" % (r.choice([32, 64, 128]), r.choice([1, 2])))
            if r.random() < 0.4:
                out.append("\n.minnctapersm %d" % r.choice([1, 2]))
        elif r.random() < 0.1:
            out.append("\n.reqntid %d, 1, 1" % r.choice([32, 96, 256]))
        if r.random() < 0.08 and ".minnctapersm" not in "".join(out):
            out.append("\n.maxnreg %d" % r.choice([32, 64, 128, 255]))
        if self.sm >= 90 and r.random() < 0.08:
            out.append(r.choice(["\n.reqnctapercluster 2, 1, 1", "\n.maxclusterrank 4",
                                 "\n.explicitcluster"]))
        return out

    # -- whole program -----------------------------------------------------------------------

    def header(self, debug):
        r = self.rng
        targets = [s for s in (75, 80, 86, 89, 90, 100, 120) if s <= self.sm and
                   (s // 10 >= 8 or True)]
        need = 75
        if self.sm >= 80:
            need = 80
        if self.sm >= 90:
            need = 90
        pick = [t for t in targets if t >= need]
        sm = r.choice(pick) if r.random() < 0.4 else max(pick)
        tgt = "sm_%d" % sm
        if self.newest or self.arch[-1] in "af" and r.random() < 0.5:
            tgt = "sm_" + self.arch
        h = ".version 9.0\n.target %s%s\n.address_size 64\n" % (
            tgt, ", texmode_independent" if self.tex and self.independent else "")
        if debug:
            h += '.file 1 "src.cu"\n'
        return h

    def module_flags(self):
        r, out = self.rng, []
        if self.debug:
            out.append(self.debug)
        elif self.newest and r.random() < 0.08:
            out.append(r.choice(["-g", "-lineinfo"]))
        if "-g" not in out and r.random() < 0.15:
            out.append(r.choice(["-O0", "-O1", "-O2"]))
        if r.random() < 0.06:
            out.append("-maxrregcount=%d" % r.choice([24, 32, 40, 64]))
        if r.random() < 0.03:
            out.append("-preserve-relocs")
        if r.random() < 0.02:
            out.append("-disable-optimizer-consts")
        return out

    def program(self):
        r = self.rng
        self.plan()
        self.tex_home = {n: r.randrange(self.nmod) for n in self.tex}
        mods = []
        for i in range(self.nmod):
            m = ModuleBuilder(self, i)
            todo = [f for f in self.kernels + self.funcs if i in f.homes]
            r.shuffle(todo)
            for v in self.vars + self.tables:
                if i in v.homes and r.random() < 0.85 or (v.homes == [i] and v.link):
                    m.use_var(v)
            for f in todo:
                m.use_func(f)
                body = self.body(m, f)
                if f.kernel:
                    link = f.link_in(i)
                    head = "%s.entry %s (%s)" % (link and "." + link + " ", f.name,
                                                 ", ".join(f.params))
                    item = Item(head, self.kernel_attrs(), body)
                    # ptxas wants the definition to be the first mention unless it is used before.
                    m.bodies.append(item)
                else:
                    m.bodies.append(Item(func_head(f.link_in(i), f.name, f.sig), [], body))
                    entry = any(g.kernel for g in todo[:todo.index(f)])
                    if f.link != "weak" and r.random() < (0.08 if entry else 0.01):
                        alias = "al_%s_%d" % (f.name, i)
                        m.fdecl[alias] = Item(func_head(f.link, alias, f.sig))
                        m.bodies.append(Item(".alias %s, %s" % (alias, f.name)))
                        if r.random() < 0.9:
                            self.alias_call(m, alias, f)
            arch = self.arch
            if arch[-1] in "af" and r.random() < 0.04 and not self.newest:
                arch = arch[:-1]
            mod = Module(self.header(self.debug), arch, self.module_flags())
            if arch != self.arch:
                mod.header = mod.header.replace("sm_" + self.arch, "sm_" + arch)
            mod.items = m.items()
            mods.append(mod)
        prog = Program(self.arch, mods, self.options())
        if self.error:
            self.spoil(prog)
        return prog

    def alias_call(self, m, alias, f):
        for item in m.bodies:
            if item.stmts and ".entry" in item.head:
                item.stmts.insert(len(item.stmts) - 1, "{ %s }" % self.call(alias, f.sig))
                return

    def options(self):
        r = self.rng
        steps = []
        mode = r.choices(["", "-r", "relink", "-g", "-kernels-used", "-variables-used",
                          "-preserve-relocs"], [38, 10, 9, 10, 8, 4, 8])[0]
        names = [k.name for k in self.kernels] or ["none"]
        if mode == "-kernels-used":
            some = r.sample(names, r.randint(1, min(2, len(names))))
            if r.random() < 0.2:
                some = [r.choice(["k*", "*1", "*", "*0*", "nothing", "k"])]
            steps = [["-kernels-used=" + ",".join(some)]]
        elif mode == "-variables-used":
            steps = [["-variables-used=" + r.choice([v.name for v in self.vars] or ["v"])]]
            if r.random() < 0.7:
                steps[0].append("-kernels-used=" + r.choice(names + ["*"]))
        elif mode == "relink":
            steps = [["-r"], r.choice([[], [], ["-g"], ["-r"], ["-kernels-used=" + names[0]]])]
        else:
            steps = [[mode] if mode else []]
        extras = [("-v", 5), ("-extrawarn", 4), ("-dump-callgraph", 4), ("--force-rela", 4),
                  ("--reserve-null-pointer", 3), ("--disable-smem-reservation=true", 3),
                  ("--enable-extended-smem=true", 2), ("--verbose-tkinfo=true", 3),
                  ("--tool-name=mylinker", 2), ("-report-arch", 2), ("-w", 1), ("-Werror", 2),
                  ("-disable-infos", 1), ("-suppress-stack-size-warning", 2),
                  ("--allow-undefined-globals", 2), ("-ignore-host-info", 1), ("-m64", 1),
                  ("-suppress-arch-warning", 1), ("-cpu-arch=X86_64", 1)]
        for opt, w in extras:
            if r.random() * 100 < w:
                steps[r.randrange(len(steps))].append(opt)
        return steps

    def spoil(self, prog):
        """Makes the program wrong in one of the ways a linker has to report."""
        r = self.rng
        kind = r.choice(["drop", "drop", "twice", "undef", "undefvar", "size", "proto", "space",
                         "kernel", "shared", "const", "arch", "noarch"])
        mods = prog.modules
        m = r.choice(mods)
        if kind == "drop" and len(mods) > 1:
            mods.remove(m)
        elif kind == "twice":
            mods.append(m.copy())
        elif kind == "undef":
            m.items.append(Item(".extern .func nowhere ()"))
            m.items.append(Item(".visible .entry kx ()", [], ["call nowhere;", "ret;"]))
        elif kind == "undefvar":
            sp = r.choice(["global", "const"])
            m.items.append(Item(".extern .%s .u32 novar" % sp))
            m.items.append(Item(".visible .entry kx (.param .u64 p)", [],
                                [".reg .u32 a; .reg .u64 d; ld.param.u64 d, [p]; "
                                 "ld.%s.u32 a, [novar]; st.global.u32 [d], a;" % sp, "ret;"]))
        elif kind in ("size", "space"):
            o = mods[0].copy()
            other = ".extern .global .u32 zz[9]" if kind == "size" else ".extern .const .u32 zz[8]"
            sp = "global" if kind == "size" else "const"
            o.items = [Item(other), Item(".visible .entry kz (.param .u64 p)", [], [
                ".reg .u32 a; .reg .u64 d; ld.param.u64 d, [p]; ld.%s.u32 a, [zz]; "
                "st.global.u32 [d], a;" % sp, "ret;"])]
            m.items.insert(0, Item(".visible .global .u32 zz[8]"))
            mods.insert(r.randrange(len(mods) + 1), o)
        elif kind in ("proto", "kernel"):
            o = mods[0].copy()
            o.items = [Item(".visible .func pz (.param .u32 a)" if kind == "proto" else
                            ".visible .entry pz (.param .u64 a)", [], ["ret;"])]
            m.items.append(Item(".extern .func pz (.param .u64 a)"))
            m.items.append(Item(".visible .entry ky ()", [], [
                "{ .param .u64 a; st.param.u64 [a], 0; call pz, (a); }", "ret;"]))
            mods.insert(r.randrange(len(mods) + 1), o)
        elif kind == "shared":
            m.items.append(Item(".visible .shared .b8 hugesh[%d]" % r.choice([40000, 60000])))
            m.items.append(Item(".visible .entry ks (.param .u64 p)", [], [
                ".shared .b8 mine[%d]; .reg .u32 a, b; .reg .u64 d; ld.param.u64 d, [p]; "
                "ld.shared.u8 a, [hugesh+3]; ld.shared.u8 b, [mine]; st.global.u32 [d], a; "
                "st.global.u32 [d+4], b;" % r.choice([4000, 20000]), "ret;"]))
        elif kind == "const":
            m.items.append(Item(".visible .const .b8 hugec[%d]" % r.choice([65280, 65500])))
            mods[0].items.append(Item(".visible .const .b8 hugec2[%d]" % r.choice([8, 400])))
        elif kind == "arch":
            others = [a for a in ("75", "80", "90", "100") if int(a) != self.sm]
            m.arch = r.choice([a for a in others if int(a) > self.sm] or others)
            need = min(int(m.arch), self.sm)
            m.header = m.header.split(".target")[0] + ".target sm_%d\n.address_size 64\n" % need
            m.items = [Item(".visible .func other ()", [], ["ret;"])]
            m.flags = []
        elif kind == "noarch":
            prog.steps[0].append("-kernels-used=")


def make(seed, job, archs, newest=False):
    return Generator(seed, job, tensor.archs(archs) if newest else archs, newest).program()
