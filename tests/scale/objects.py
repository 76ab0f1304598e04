"""Large device objects, made without a compiler."""

import struct

STRTAB, SYMTAB, REL, NOTE, PROGBITS = 3, 2, 9, 7, 1
INFO, CALLGRAPH, GLOBAL_INIT = 0x70000000, 0x70000001, 0x70000008
ALLOC, WRITE, EXEC, INFO_LINK = 2, 1, 4, 0x40
ABS64, CALL = 56, 58    # relocation types: an address of data, a function that is called
REGISTERS, FRAME, STACK, API = 0x2f, 0x11, 0x23, 0x37
HEADER = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
CODE = bytes.fromhex("4d7900000000000000000000000e0000")  # an instruction of any kind
SHN_XINDEX, SYMTAB_SHNDX = 0xffff, 18


class Object:
    """A relocatable device ELF.  Sections have numbers from 1 on; the first five are fixed."""

    def __init__(self, sm=80):
        self.sm = sm
        self.names, self.body, self.headers = [b""], [], []
        self.name_size, self.body_size = 1, 64
        self.strings, self.string_size = [b""], 1
        self.symbols = [SYMBOL.pack(0, 0, 0, 0, 0, 0)]
        self.places = [0]   # section of each symbol
        self.local = 1
        note = struct.pack("<III12sHHI", 12, 8, 1000, b"NVIDIA Corp", 2, sm, 130)
        self.fixed = {}
        self.section(b".note.nv.cuinfo", NOTE, 0x1000000, note)

    def section(self, name, kind, flags, data, link=0, info=0, align=4, entry=0):
        """Returns its number."""
        self.body_size += -self.body_size % align
        self.headers.append([self.name_size, kind, flags, self.body_size, len(data), link, info, align, entry])
        self.body.append((self.body_size, data))
        self.body_size += len(data)
        self.names.append(name)
        self.name_size += len(name) + 1
        return len(self.headers) + FIRST - 1

    def symbol(self, name, info, other, section, value, size):
        """Returns its number."""
        at = self.string_size if name else 0
        if name:
            self.strings.append(name)
            self.string_size += len(name) + 1
        number = section if section < 0xff00 else SHN_XINDEX
        self.symbols.append(SYMBOL.pack(at, info, other, number, value, size))
        self.places.append(section)
        return len(self.symbols) - 1

    def bytes(self):
        many = max(self.places) >= 0xff00
        strings = b"\0".join(self.strings) + b"\0"
        fixed = [(b".shstrtab", STRTAB, None, 0, 0, 1, 0), (b".strtab", STRTAB, strings, 0, 0, 1, 0),
                 (b".symtab", SYMTAB, b"".join(self.symbols), 2, self.local, 8, 24),
                 (b".symtab_shndx" if many else b".debug_str", SYMTAB_SHNDX, struct.pack("<%dI" % len(self.places), *self.places) if many else b"",
                  3, 0, 4, 4)]
        headers, names = [], []
        at = self.name_size
        for name, *_ in fixed:
            names.append((at, name))
            at += len(name) + 1
        table_of_names = b"\0".join(self.names) + b"\0" + b"".join(n + b"\0" for _, n in names)
        for (offset, _), (_, kind, data, link, info, align, entry) in zip(names, fixed):
            data = table_of_names if data is None else data
            self.body_size += -self.body_size % align
            if kind == SYMTAB_SHNDX and not many:
                kind, link, entry = PROGBITS, 0, 0
            headers.append(HEADER.pack(offset, kind, 0, 0, self.body_size, len(data), link, info, align, entry))
            self.body.append((self.body_size, data))
            self.body_size += len(data)
        count = len(self.headers) + FIRST
        headers += [HEADER.pack(n, k, f, 0, o, s, l, i, a, e) for n, k, f, o, s, l, i, a, e in self.headers]
        table = self.body_size + -self.body_size % 8
        extended = count >= 0xff00
        out = bytearray(table)
        out[:64] = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1\x41\x08" + bytes(7), 1, 190, 1, 0, 0, table,
                               self.sm << 8 | 4 | 5 << 24, 64, 56, 0, 64, 0 if extended else count, 1)
        for offset, data in self.body:
            out[offset:offset + len(data)] = data
        return bytes(out) + HEADER.pack(0, 0, 0, 0, 0, count if extended else 0, 0, 0, 0, 0) + b"".join(headers)


FIRST = 5  # sections 1 to 4 are the string tables and the symbol table


def kernels(count, first=0):
    """Kernels that do nothing: three sections each, and no more."""
    o = Object()
    registers, texts = [], []
    info = o.section(b".nv.info", INFO, 0, b"", 3)
    for i in range(count):
        name = b"k%d" % (first + i)
        text = info + 1 + 3 * i
        o.section(b".text." + name, PROGBITS, ALLOC | EXEC, CODE, 3, 8 << 24 | count + 1 + i, 16)
        o.section(b".nv.info." + name, INFO, INFO_LINK, struct.pack("<BBHI", 4, API, 4, 130), 3, text)
        o.section(b".nv.constant0." + name, 0x70000064, ALLOC | INFO_LINK, bytes(0x160), 0, text)
        texts.append((name, text))
    for _, text in texts:
        o.symbol(b"", 3, 0, text + 2, 0, 0)
    o.local = count + 1
    for i, (name, text) in enumerate(texts):
        o.symbol(name, 0x12, 0x10, text, 0, len(CODE))
        registers.append(struct.pack("<BBHII", 4, REGISTERS, 8, count + 1 + i, 8))
    set_data(o, info, b"".join(registers))
    return o.bytes()


def set_data(o, number, data):
    """Contents of a section that were not known when it was made."""
    header = o.headers[number - FIRST]
    o.body_size += -o.body_size % header[7]
    header[3], header[4] = o.body_size, len(data)
    o.body.append((o.body_size, data))
    o.body_size += len(data)


def functions(count, ring):
    """f0 calls f1 and so on, the last one nobody, or f0; a kernel calls f0."""
    return call_graph(1, count, lambda i: [i + 1] if i < count else [1] if ring else [])


def reached_by_many(count):
    """As many kernels call one function."""
    return call_graph(count, 1, lambda i: [count] if i < count else [])


def reaches_many(count):
    """A kernel calls as many functions."""
    return call_graph(1, count, lambda i: [] if i else range(1, count + 1))


def call_graph(kernels, functions, calls):
    """Kernels, then functions; calls(i) are the numbers of those that one calls."""
    o = Object()
    info = o.section(b".nv.info", INFO, 0, b"", 3)
    graph = o.section(b".nv.callgraph", CALLGRAPH, 0, b"", 3, 0, 4, 8)
    first = graph + 1
    bank = first + 2 * (kernels + functions)
    records, edges = [], [struct.pack("<II", 0, 0xffffffff)]
    for k in range(kernels):
        o.symbol(b"", 3, 0, bank + 2 * k, 0, 0)
    o.local = 1 + kernels
    names = [b"kernel%d" % k for k in range(kernels)] + [b"f%d" % f for f in range(functions)]
    for i, name in enumerate(names):
        text, symbol = first + 2 * i, o.local + i
        code, callees = CODE, [o.local + c for c in calls(i)]
        code += CODE * (len(callees) - 1)
        o.section(b".text." + name, PROGBITS, ALLOC | EXEC, code, 3, 8 << 24 | symbol, 16)
        entries = b"".join(struct.pack("<QQ", len(CODE) * n, c << 32 | CALL) for n, c in enumerate(callees))
        o.section(b".rel.text." + name, REL, INFO_LINK, entries, 3, text, 8, 16)
        o.symbol(name, 0x12, 0x10 if i < kernels else 0, text, 0, len(code))
        edges += [struct.pack("<II", symbol, c) for c in callees]
        records.append(struct.pack("<BBHIIBBHIIBBHII", 4, REGISTERS, 8, symbol, 8, 4, STACK, 8, symbol, 0,
                                   4, FRAME, 8, symbol, 0))
    for k in range(kernels):
        o.section(b".nv.constant0." + names[k], 0x70000064, ALLOC | INFO_LINK, bytes(0x160), 0, first + 2 * k)
        o.section(b".nv.info." + names[k], INFO, INFO_LINK, struct.pack("<BBHI", 4, API, 4, 130), 3, first + 2 * k)
    set_data(o, info, b"".join(records))
    set_data(o, graph, b"".join(edges) + struct.pack("<6I", 0, 0xfffffffe, 0, 0xfffffffd, 0, 0xfffffffc))
    return o.bytes()


def variables(count, relocations=0, name_size=0):
    """Words of initialised memory; a number of them hold addresses."""
    o = Object()
    data = o.section(b".nv.global.init", GLOBAL_INIT, ALLOC | WRITE, bytes(8 * max(count, relocations)), 0, 0, 8)
    size = max(8, 8 * relocations // count)
    for i in range(count):
        name = b"v%d" % i
        o.symbol(name + b"_" * (name_size - len(name)), 0x1d, 0x20, data, size * i, size)
    if relocations:
        entries = b"".join(struct.pack("<QQ", 8 * i, (1 + i % count) << 32 | ABS64) for i in range(relocations))
        o.section(b".rel.nv.global.init", REL, INFO_LINK, entries, 3, data, 8, 16)
    return o.bytes()
