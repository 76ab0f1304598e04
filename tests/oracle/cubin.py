"""Reads device ELF files and says in terms of the format where two of them differ.

Written independently of the linker, so that a mistake in one does not hide in the other.
"""
import struct

SHT = {0: "NULL", 1: "PROGBITS", 2: "SYMTAB", 3: "STRTAB", 4: "RELA", 7: "NOTE", 8: "NOBITS",
       9: "REL"}
NOBITS_LIKE = (8, 0x70000007, 0x7000000A, 0x70000015)
INFO_TYPES = (0x70000000, 0x70000083)
RELA_TYPES = (4, 0x70000003, 0x70000082)
SYM_TYPES = (2, 0x70000085)
MARK_NAMES = {-1: "call", -2: "taken", -3: "indirect", -4: "takes"}
# EIATTR codes whose first payload word is a symbol index (0x0f: every word).
SYM_WORD = {0x02, 0x06, 0x07, 0x08, 0x09, 0x0A, 0x11, 0x12, 0x13, 0x14, 0x17, 0x23, 0x26, 0x2F,
            0x3B, 0x45}
EIATTR = {
    0x00: "ERROR", 0x01: "PAD", 0x02: "IMAGE_SLOT", 0x03: "JUMPTABLE_RELOCS", 0x04: "CTAIDZ_USED",
    0x05: "MAX_THREADS", 0x06: "IMAGE_OFFSET", 0x07: "IMAGE_SIZE", 0x08: "TEXTURE_NORMALIZED",
    0x09: "SAMPLER_INIT", 0x0a: "PARAM_CBANK", 0x0b: "SMEM_PARAM_OFFSETS",
    0x0c: "CBANK_PARAM_OFFSETS", 0x0d: "SYNC_STACK", 0x0e: "TEXID_SAMPID_MAP", 0x0f: "EXTERNS",
    0x10: "REQNTID", 0x11: "FRAME_SIZE", 0x12: "MIN_STACK_SIZE",
    0x13: "SAMPLER_FORCE_UNNORMALIZED", 0x14: "BINDLESS_IMAGE_OFFSETS",
    0x15: "BINDLESS_TEXTURE_BANK", 0x16: "BINDLESS_SURFACE_BANK", 0x17: "KPARAM_INFO",
    0x18: "SMEM_PARAM_SIZE", 0x19: "CBANK_PARAM_SIZE", 0x1a: "QUERY_NUMATTRIB",
    0x1b: "MAXREG_COUNT", 0x1c: "EXIT_INSTR_OFFSETS", 0x1d: "S2RCTAID_INSTR_OFFSETS",
    0x1e: "CRS_STACK_SIZE", 0x1f: "NEED_CNP_WRAPPER", 0x20: "NEED_CNP_PATCH",
    0x21: "EXPLICIT_CACHING", 0x22: "ISTYPEP_USED", 0x23: "MAX_STACK_SIZE", 0x24: "SUQ_USED",
    0x25: "LD_CACHEMOD_INSTR_OFFSETS", 0x26: "LOAD_CACHE_REQUEST", 0x27: "ATOM_SYS_INSTR_OFFSETS",
    0x28: "COOP_GROUP_INSTR_OFFSETS", 0x29: "COOP_GROUP_MASK_REGIDS", 0x2a: "SW1850030_WAR",
    0x2b: "WMMA_USED", 0x2c: "HAS_PRE_V10_OBJECT", 0x2d: "ATOMF16_EMUL_INSTR_OFFSETS",
    0x2e: "ATOM16_EMUL_INSTR_REG_MAP", 0x2f: "REGCOUNT", 0x30: "SW2393858_WAR",
    0x31: "INT_WARP_WIDE_INSTR_OFFSETS", 0x32: "SHARED_SCRATCH", 0x33: "STATISTICS",
    0x34: "INDIRECT_BRANCH_TARGETS", 0x35: "SW2861232_WAR", 0x36: "SW_WAR",
    0x37: "CUDA_API_VERSION", 0x38: "NUM_MBARRIERS", 0x39: "MBARRIER_INSTR_OFFSETS",
    0x3a: "COROUTINE_RESUME_OFFSETS", 0x3b: "SAM_REGION_STACK_SIZE",
    0x3c: "PER_REG_TARGET_PERF_STATS", 0x3d: "CTA_PER_CLUSTER", 0x3e: "EXPLICIT_CLUSTER",
    0x3f: "MAX_CLUSTER_RANK", 0x40: "INSTR_REG_MAP", 0x41: "RESERVED_SMEM_USED",
    0x42: "RESERVED_SMEM_0_SIZE", 0x43: "UCODE_SECTION_DATA", 0x44: "UNUSED_LOAD_BYTE_OFFSET",
    0x45: "KPARAM_INFO_V2", 0x46: "SYSCALL_OFFSETS", 0x47: "SW_WAR_MEMBAR_SYS_INSTR_OFFSETS",
    0x48: "GRAPHICS_GLOBAL_CBANK", 0x49: "SHADER_TYPE", 0x4a: "VRC_CTA_INIT_COUNT",
    0x4b: "TOOLS_PATCH_FUNC", 0x4c: "NUM_BARRIERS", 0x4d: "TEXMODE_INDEPENDENT",
    0x4e: "PERF_STATISTICS", 0x4f: "AT_ENTRY_FRAGEMENTS", 0x50: "SPARSE_MMA_MASK",
    0x51: "TCGEN05_1CTA_USED", 0x52: "TCGEN05_2CTA_USED", 0x53: "GEN_ERRBAR_AT_EXIT",
    0x54: "REG_RECONFIG", 0x55: "ANNOTATIONS", 0x57: "STACK_CANARY_TRAP_OFFSETS",
    0x58: "STUB_FUNCTION_KIND", 0x59: "LOCAL_CTA_ASYNC_STORE_OFFSETS",
    0x5a: "MERCURY_FINALIZER_OPTIONS", 0x5b: "BLOCKS_ARE_CLUSTERS", 0x5c: "SANITIZE",
    0x5d: "SYSCALLS_FALLBACK", 0x5e: "CUDA_REQ", 0x5f: "MERCURY_ISA_VERSION", 0x60: "ERROR_LAST",
}
EHDR = ("e_ident", "e_type", "e_machine", "e_version", "e_entry", "e_phoff", "e_shoff",
        "e_flags", "e_ehsize", "e_phentsize", "e_phnum", "e_shentsize", "e_shnum", "e_shstrndx")
SHDR = ("name", "sh_type", "sh_flags", "sh_addr", "sh_offset", "sh_size", "sh_link", "sh_info",
        "sh_addralign", "sh_entsize")
PHDR = ("p_type", "p_flags", "p_offset", "p_vaddr", "p_paddr", "p_filesz", "p_memsz", "p_align")
SYM = ("st_info", "st_other", "st_shndx", "st_value", "st_size")


class BadElf(Exception):
    pass


def cstr(table, off):
    end = table.find(b"\0", off)
    if off > len(table) or end < 0:
        return "<bad name 0x%x>" % off
    return table[off:end].decode("latin1")


class Section:
    def __init__(self, index, fields):
        self.index = index
        for key, val in zip(("name_off",) + SHDR[1:], fields):
            setattr(self, key, val)
        self.name = ""
        self.data = b""


class Cubin:
    def __init__(self, blob):
        self.blob = blob
        if len(blob) < 64 or blob[:4] != b"\x7fELF":
            raise BadElf("no ELF header")
        f = struct.unpack_from("<16sHHIQQQIHHHHHH", blob)
        self.ehdr = dict(zip(EHDR, f))
        h = self.ehdr
        num, shoff = h["e_shnum"], h["e_shoff"]
        self.sections = []
        if num == 0 and shoff and shoff + 64 <= len(blob):
            num = struct.unpack_from("<Q", blob, shoff + 32)[0]
        if num * 64 + shoff > len(blob):
            raise BadElf("section headers outside the file")
        for i in range(num):
            s = Section(i, struct.unpack_from("<IIQQQQIIQQ", blob, shoff + 64 * i))
            if s.sh_type not in NOBITS_LIKE and i:
                s.data = blob[s.sh_offset:s.sh_offset + s.sh_size]
            self.sections.append(s)
        strndx = h["e_shstrndx"]
        if strndx == 0xFFFF and self.sections:
            strndx = self.sections[0].sh_link
        shstr = self.sections[strndx].data if strndx < num else b""
        for s in self.sections:
            s.name = cstr(shstr, s.name_off) if s.index else ""
        self.phdrs = []
        for i in range(h["e_phnum"]):
            off = h["e_phoff"] + 56 * i
            if off + 56 > len(blob):
                break
            self.phdrs.append(struct.unpack_from("<IIQQQQQQ", blob, off))
        self.symbols = self.read_symbols(".symtab")

    def find(self, name):
        return next((s for s in self.sections if s.name == name), None)

    def read_symbols(self, name):
        sec = self.find(name)
        out = []
        if not sec:
            return out
        strs = self.sections[sec.sh_link].data if sec.sh_link < len(self.sections) else b""
        wide = self.find(".symtab_shndx")
        for off in range(0, len(sec.data) - 23, 24):
            n, info, other, shndx, value, size = struct.unpack_from("<IBBHQQ", sec.data, off)
            if shndx == 0xFFFF and wide and off // 24 * 4 + 4 <= len(wide.data):
                shndx = struct.unpack_from("<I", wide.data, off // 24 * 4)[0]
            out.append((cstr(strs, n), dict(zip(SYM, (info, other, shndx, value, size)))))
        return out

    def symname(self, i, table=None):
        syms = self.symbols if table is None else table
        if i >= len(syms):
            return "#%d?" % i
        name, f = syms[i]
        return "%s#%d" % (name, i)

    def secname(self, i):
        if i == 0xFFF2 and len(self.sections) < 0xFF00:
            return "COMMON"
        return self.sections[i].name if i < len(self.sections) else "#%d?" % i

    def strtab(self):
        sec = self.find(".strtab")
        return sec.data if sec else b""

    def section_syms(self, sec):
        """The symbol table that a section's indices refer to."""
        if sec.sh_link < len(self.sections) and self.sections[sec.sh_link].name == ".nv.merc.symtab":
            return self.read_symbols(".nv.merc.symtab")
        return self.symbols


def info_records(elf, sec, syms):
    """`.nv.info` stream as readable lines."""
    d, pos, out = sec.data, 0, []
    while pos + 4 <= len(d):
        fmt, code = d[pos], d[pos + 1]
        val = struct.unpack_from("<H", d, pos + 2)[0]
        name = EIATTR.get(code, "0x%02x" % code)
        pos += 4
        if fmt == 4:
            body = d[pos:pos + val]
            pos += val
            words = [struct.unpack_from("<I", body, i)[0] for i in range(0, len(body) - 3, 4)]
            text = ["0x%x" % w for w in words]
            if code == 0x0F:
                text = [elf.symname(w, syms) for w in words]
            elif code in SYM_WORD and words:
                text[0] = elf.symname(words[0], syms)
            if len(body) % 4:
                text.append(body[len(body) // 4 * 4:].hex())
            out.append("%s [%s]" % (name, " ".join(text)))
        else:
            out.append("%s %d:0x%x" % (name, fmt, val))
    if pos < len(d):
        out.append("tail " + d[pos:].hex())
    return out


def compat_records(sec):
    d, pos, out = sec.data, 0, []
    while pos + 4 <= len(d):
        fmt, code = d[pos], d[pos + 1]
        val = struct.unpack_from("<H", d, pos + 2)[0]
        pos += 4
        body = ""
        if fmt == 4:
            body = " " + d[pos:pos + val].hex()
            pos += val
        out.append("id 0x%02x fmt %d value 0x%x%s" % (code, fmt, val, body))
    return out


def rel_records(elf, sec, syms):
    rela = sec.sh_type in RELA_TYPES
    step = 24 if rela else 16
    out = []
    for off in range(0, len(sec.data) - step + 1, step):
        if rela:
            o, i, a = struct.unpack_from("<QQq", sec.data, off)
        else:
            (o, i), a = struct.unpack_from("<QQ", sec.data, off), 0
        sym = elf.symname(i >> 32, syms)
        if sym.startswith("#") or sym.startswith("<"):
            sym = "sym %d" % (i >> 32)
        out.append("offset 0x%x type %d sym %s addend 0x%x" % (o, i & 0xFFFFFFFF, sym, a))
    return out


def callgraph_records(elf, sec, syms):
    out, mark, strs = [], 0, elf.strtab()
    for off in range(0, len(sec.data) - 7, 8):
        a, b = struct.unpack_from("<Ii", sec.data, off)
        if a == 0 and b < 0:
            mark = b
            out.append("list %s" % MARK_NAMES.get(b, b))
        elif mark in (-2, -3):
            out.append("%s: %s proto '%s'" % (MARK_NAMES[mark], elf.symname(a, syms), cstr(strs, b)))
        else:
            out.append("%s: %s -> %s" % (MARK_NAMES.get(mark, mark), elf.symname(a, syms),
                                         elf.symname(b, syms)))
    return out


def note_records(sec):
    d, pos, out = sec.data, 0, []
    while pos + 24 <= len(d):
        nsz, dsz, typ = struct.unpack_from("<III", d, pos)
        desc = d[pos + 12 + nsz:pos + 12 + nsz + dsz]
        if typ == 2000 and len(desc) >= 24:
            offs = struct.unpack_from("<5I", desc, 4)
            out.append("tkinfo " + " | ".join(repr(cstr(desc[24:], o)) for o in offs))
        else:
            out.append("type %d desc %s" % (typ, desc.hex()))
        pos += 12 + nsz + (dsz + 3) // 4 * 4
        if dsz > len(d):
            break
    return out


def symbol_lines(elf, name):
    return ["%s info 0x%02x other 0x%02x shndx %s value 0x%x size 0x%x" %
            (n or "''", f["st_info"], f["st_other"], elf.secname(f["st_shndx"]), f["st_value"],
             f["st_size"]) for n, f in elf.read_symbols(name)]


def proto_lines(elf, sec):
    out, strs = [], elf.strtab()
    for off in range(0, len(sec.data) - 7, 8):
        a, b = struct.unpack_from("<II", sec.data, off)
        out.append("%s '%s'" % (elf.symname(a), cstr(strs, b)))
    return out


def decode(elf, sec):
    """Content of a section as lines, or None for raw data."""
    syms = elf.section_syms(sec)
    if sec.sh_type in INFO_TYPES:
        return info_records(elf, sec, syms)
    if sec.sh_type in RELA_TYPES or sec.sh_type == 9:
        return rel_records(elf, sec, syms)
    if sec.sh_type == 0x70000001:
        return callgraph_records(elf, sec, syms)
    if sec.sh_type == 0x70000002:
        return proto_lines(elf, sec)
    if sec.sh_type == 0x70000086:
        return compat_records(sec)
    if sec.sh_type == 7:
        return note_records(sec)
    if sec.sh_type in SYM_TYPES:
        return symbol_lines(elf, sec.name)
    if sec.sh_type == 3:
        return [x.decode("latin1") for x in sec.data.split(b"\0")]
    return None


def list_diff(what, a, b, limit=2):
    """First differences of two lists of lines, naming what is missing, extra or moved."""
    out = []
    n = min(len(a), len(b))
    i = next((k for k in range(n) if a[k] != b[k]), n)
    if i == len(a) and i == len(b):
        return out
    show = lambda l, k: l[k] if k < len(l) else "(end)"
    out.append("%s[%d]: nvlink %s | cubind %s" % (what, i, show(a, i), show(b, i)))
    count = {}
    for x in a:
        count[x] = count.get(x, 0) + 1
    for x in b:
        count[x] = count.get(x, 0) - 1
    miss = [x for x in count if count[x] > 0]
    extra = [x for x in count if count[x] < 0]
    if miss and len(a) != len(b):
        out.append("%s: missing %s" % (what, "; ".join(miss[:limit])))
    if extra and len(a) != len(b):
        out.append("%s: extra %s" % (what, "; ".join(extra[:limit])))
    if not miss and not extra:
        out.append("%s: same entries in another order" % what)
    return out


def text_diff(name, a, b):
    out = []
    words = [k for k in range(0, min(len(a), len(b)), 16) if a[k:k + 16] != b[k:k + 16]]
    for k in words[:2]:
        x = int.from_bytes(a[k:k + 16], "little")
        y = int.from_bytes(b[k:k + 16], "little")
        d = x ^ y
        bits = [i for i in range(128) if d >> i & 1]
        lo, hi = bits[0], bits[-1]
        mask = (1 << (hi - lo + 1)) - 1
        out.append("%s: instruction 0x%x (%d of %d) opcode 0x%x bits %d..%d: nvlink 0x%x | "
                   "cubind 0x%x" % (name, k, k // 16, len(a) // 16, x & 0xFFF, lo, hi,
                                    x >> lo & mask, y >> lo & mask))
    if len(words) > 2:
        out.append("%s: %d instructions differ in all" % (name, len(words)))
    return out


def data_diff(name, a, b):
    k = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), None)
    if k is None:
        return []
    lo = k // 8 * 8
    return ["%s: byte 0x%x: nvlink %s | cubind %s" % (name, k, a[lo:lo + 16].hex(" "),
                                                      b[lo:lo + 16].hex(" "))]


PREFIXES = (".rela.nv.constant0.", ".rel.nv.constant0.", ".rela.nv.constant2.",
            ".rel.nv.constant2.", ".rela.text.", ".rel.text.", ".text.", ".nv.info.",
            ".nv.shared.", ".nv.constant0.", ".nv.constant2.", ".nv.capmerc.text.",
            ".nv.merc.rela.text.", ".nv.merc.nv.info.", ".nv_debug_ptx_txt.",
            ".nv.merc.nv.constant.optimizer.")


def pattern(name):
    """A name without what differs from program to program."""
    for pre in PREFIXES:
        if name.startswith(pre):
            return pre + "*"
    if name.startswith(".") or name in ("(end)", ""):
        return name or "''"
    return "name" if not name.startswith("#") else "prototype"


def klass(line):
    """Key of a difference: stable while a case shrinks, so names and numbers are cut."""
    head, _, rest = line.partition(":")
    what = head.split("[")[0]
    sec, _, field = what.partition(" ")
    if what in ("section list", ".shstrtab", ".strtab") and "[" in head and " | cubind " in rest:
        x, y = rest.replace(" nvlink ", "", 1).split(" | cubind ", 1)
        return "%s: %s / %s" % (what, pattern(x.split(" ")[0]), pattern(y.split(" ")[0]))
    if sec.startswith("."):
        return pattern(sec) + (" " + field if field else "")
    return what


def diff_lines(ab, bb):
    """Ordered list of differences; causes come before what follows from them."""
    try:
        a = Cubin(ab)
    except (BadElf, struct.error) as e:
        return ["nvlink output unreadable: %s" % e]
    try:
        b = Cubin(bb)
    except (BadElf, struct.error) as e:
        return ["cubind output unreadable: %s" % e]
    out = []
    for key in ("e_ident", "e_type", "e_machine", "e_version", "e_entry", "e_ehsize",
                "e_phentsize", "e_shentsize", "e_shstrndx"):
        if a.ehdr[key] != b.ehdr[key]:
            out.append("header %s: nvlink %r | cubind %r" % (key, a.ehdr[key], b.ehdr[key]))
    na, nb = [s.name for s in a.sections], [s.name for s in b.sections]
    out += list_diff("section list", na, nb)
    sa, sb = a.find(".symtab"), b.find(".symtab")
    for tab in (".shstrtab", ".strtab"):
        x, y = a.find(tab), b.find(tab)
        if x and y and x.data != y.data:
            out += list_diff(tab, decode(a, x), decode(b, y))
    by_name = {}
    for s in b.sections:
        by_name.setdefault(s.name, []).append(s)
    pairs = []
    for s in a.sections:
        if by_name.get(s.name):
            pairs.append((s, by_name[s.name].pop(0)))
    for tab in (".symtab", ".nv.merc.symtab"):
        x, y = symbol_lines(a, tab), symbol_lines(b, tab)
        out += list_diff(tab, x, y)
    for s, t in pairs:
        for key in ("sh_type", "sh_flags", "sh_addr", "sh_size", "sh_addralign", "sh_entsize"):
            if getattr(s, key) != getattr(t, key):
                out.append("%s %s: nvlink 0x%x | cubind 0x%x" % (s.name, key, getattr(s, key),
                                                                 getattr(t, key)))
        if a.secname(s.sh_link) != b.secname(t.sh_link):
            out.append("%s sh_link: nvlink %s | cubind %s" % (s.name, a.secname(s.sh_link),
                                                              b.secname(t.sh_link)))
        x, y = s.sh_info, t.sh_info
        if s.sh_flags & 0x40:
            x, y = a.secname(x), b.secname(y)
        elif s.name.startswith((".text.", ".nv.capmerc.")):
            x = (a.symname(x & 0xFFFFFF), x >> 24)
            y = (b.symname(y & 0xFFFFFF), y >> 24)
        if x != y:
            out.append("%s sh_info: nvlink %s | cubind %s" % (s.name, x, y))
    late = []
    for s, t in pairs:
        if s.data == t.data or s.name in (".shstrtab", ".strtab", ".symtab", ".nv.merc.symtab"):
            continue
        x, y = decode(a, s), decode(b, t)
        if x is not None:
            got = list_diff(s.name, x, y)
            if got:
                out += got
                continue
        if s.sh_flags & 4 and len(s.data) == len(t.data):
            late += text_diff(s.name, s.data, t.data)
        else:
            late += data_diff(s.name, s.data, t.data)
    out += late
    if a.ehdr["e_flags"] != b.ehdr["e_flags"]:
        out.append("header e_flags: nvlink 0x%x | cubind 0x%x" % (a.ehdr["e_flags"],
                                                                  b.ehdr["e_flags"]))
    if len(a.phdrs) != len(b.phdrs):
        out.append("program headers: nvlink %d | cubind %d" % (len(a.phdrs), len(b.phdrs)))
    for i, (p, q) in enumerate(zip(a.phdrs, b.phdrs)):
        for key, x, y in zip(PHDR, p, q):
            if x != y:
                out.append("program header %s: #%d nvlink 0x%x | cubind 0x%x" % (key, i, x, y))
    for s, t in pairs:
        if s.sh_offset != t.sh_offset:
            out.append("%s sh_offset: nvlink 0x%x | cubind 0x%x" % (s.name, s.sh_offset,
                                                                    t.sh_offset))
            break
        if s.name_off != t.name_off:
            out.append("%s sh_name: nvlink 0x%x | cubind 0x%x" % (s.name, s.name_off, t.name_off))
            break
    for key in ("e_phoff", "e_shoff", "e_phnum", "e_shnum"):
        if a.ehdr[key] != b.ehdr[key]:
            out.append("header %s: nvlink 0x%x | cubind 0x%x" % (key, a.ehdr[key], b.ehdr[key]))
    if not out and ab != bb:
        k = next((i for i in range(min(len(ab), len(bb))) if ab[i] != bb[i]), min(len(ab), len(bb)))
        out.append("bytes between sections: offset 0x%x of %d/%d" % (k, len(ab), len(bb)))
    return out


def explain(ab, bb, limit=8):
    """(class, text) of the difference of two files; ('', '') when they are the same."""
    if ab == bb:
        return "", ""
    lines = diff_lines(ab, bb)
    text = "\n".join(x if len(x) < 400 else x[:400] + "..." for x in lines[:limit])
    if len(lines) > limit:
        text += "\n... %d more" % (len(lines) - limit)
    return klass(lines[0]), text


def grade(ab, bb):
    """('same', []), ('sched', functions) when only bits >= 105 of instructions differ, or
    ('diff', [])."""
    if ab == bb:
        return "same", []
    if len(ab) != len(bb):
        return "diff", []
    try:
        a = Cubin(ab)
    except (BadElf, struct.error):
        return "diff", []
    rest, funcs = bytearray(bb), []
    for s in a.sections:
        if not (s.name.startswith(".text.") and s.sh_flags & 4 and s.data):
            continue
        lo, hi = s.sh_offset, s.sh_offset + s.sh_size
        if ab[lo:hi] == bb[lo:hi]:
            continue
        funcs.append(s.name[6:])
        for k in range(lo, hi - 15, 16):
            rest[k + 13] = (rest[k + 13] & 1) | (ab[k + 13] & 0xFE)
            rest[k + 14:k + 16] = ab[k + 14:k + 16]
    return ("sched", funcs) if bytes(rest) == ab else ("diff", [])


if __name__ == "__main__":
    import sys
    if len(sys.argv) == 3:
        x, y = (open(p, "rb").read() for p in sys.argv[1:])
        print(explain(x, y, 40)[1] or "identical")
    else:
        e = Cubin(open(sys.argv[1], "rb").read())
        for s in e.sections:
            print("[%d] %s type 0x%x flags 0x%x off 0x%x size 0x%x link %d info 0x%x align %d ent %d"
                  % (s.index, s.name, s.sh_type, s.sh_flags, s.sh_offset, s.sh_size, s.sh_link,
                     s.sh_info, s.sh_addralign, s.sh_entsize))
            for line in decode(e, s) or []:
                print("     ", line)
