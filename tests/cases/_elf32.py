"""ELF files of class 64 as files of class 32: the same sections, records of the sizes in <elf.h>.

No tool of today writes device code of that class; fixtures are made of objects of class 64.
"""

import struct

HEADER = ("<16sHHIQQQIHHHHHH", "<16sHHIIIIIHHHHHH")
SECTION = ("<IIQQQQIIQQ", "<10I")
SEGMENT = ("<IIQQQQQQ", "<8I")
SYMTAB, RELA, REL, RESOLVED = 2, 4, 9, 0x70000003
WITHOUT_BYTES = (8, 0x70000007, 0x70000009, 0x7000000a, 0x70000015)
ALLOC, WRITE = 2, 1


def records(kind, data):
    """Contents of a table in class 32 and the size of its records, or None for other sections."""
    if kind == SYMTAB:
        return b"".join(struct.pack("<IIIBBH", name, value, size, info, other, section)
                        for name, info, other, section, value, size
                        in struct.iter_unpack("<IBBHQQ", data)), 16
    if kind in (RELA, RESOLVED):
        return b"".join(struct.pack("<IIi", place, symbol << 8 | of, addend)
                        for place, of, symbol, addend in struct.iter_unpack("<QIIq", data)), 12
    if kind == REL:
        return b"".join(struct.pack("<II", place, symbol << 8 | of)
                        for place, of, symbol in struct.iter_unpack("<QII", data)), 8
    return None


def sections(data):
    """The section headers, as lists."""
    header = struct.unpack_from(HEADER[0], data)
    return [list(struct.unpack_from(SECTION[0], data, header[6] + 64 * i))
            for i in range(header[12])]


def segments(data, old, new, phoff):
    """Program headers, for sections that moved."""
    header = struct.unpack_from(HEADER[0], data)
    count = header[10]
    for i in range(count):
        kind, flags, offset, _, _, size, memory, _ = struct.unpack_from(SEGMENT[0], data,
                                                                        header[5] + 56 * i)
        if offset == header[5]:
            offset, size, memory = phoff, 32 * count, 32 * count
        else:
            inside = [k for k, s in enumerate(old) if s[2] & ALLOC and
                      bool(s[2] & WRITE) == bool(flags & 2)]
            files = [k for k in inside if old[k][1] not in WITHOUT_BYTES]
            offset = new[inside[0]][4]
            end = max([offset] + [new[k][4] + new[k][5] for k in files])
            nobits = [k for k in inside if k not in files]
            if nobits:
                end = new[nobits[-1]][4]
            size, top = end - offset, end
            for k in nobits:
                top = -(-top // new[k][8]) * new[k][8] + new[k][5]
            memory = top - offset
        yield struct.pack(SEGMENT[1], kind, offset, 0, 0, size, memory, flags, 4)


def narrow(data, legacy=True):
    """DATA, of class 64, in class 32; LEGACY: a device file with the OSABI of that class."""
    (ident, kind, machine, version, entry, _, _, flags, _, _, phnum, _, shnum,
     shstrndx) = struct.unpack_from(HEADER[0], data)
    old, new, out = sections(data), [[0] * 10], bytearray(52)
    for name, of, sflags, address, offset, size, link, info, align, entsize in old[1:]:
        body = b"" if of in WITHOUT_BYTES else data[offset:offset + size]
        table = records(of, body)
        if table:
            (body, entsize), align = table, 4
        out += bytes(-len(out) % max(align, 1))
        new.append([name, of, sflags, address, len(out),
                    size if of in WITHOUT_BYTES else len(body), link, info, align, entsize])
        out += body
    out += bytes(-len(out) % 4)
    shoff = len(out)
    for section in new:
        out += struct.pack(SECTION[1], *section)
    phoff = len(out) if phnum else 0
    out += b"".join(segments(data, old, new, phoff))
    ident = ident[:4] + b"\1" + ident[5:]
    if legacy:
        ident = ident[:7] + b"\x33\7" + ident[9:]
        cuinfo = old[flags >> 24]
        virtual, toolkit = struct.unpack_from("<HH", data, cuinfo[4] + 26)
        flags, version = (flags >> 8 & 0xff) | virtual << 16, toolkit
    struct.pack_into(HEADER[1], out, 0, ident, kind, machine, version, entry, phoff, shoff, flags,
                     52, 32 if phnum else 0, phnum, 40, shnum, shstrndx)
    return bytes(out)
