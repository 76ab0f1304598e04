"""Counts device code in a file, by itself: fatbins, ELF files and compression are read here, with nothing of cubind."""

import ctypes
import ctypes.util
import struct

MAGIC = struct.pack("<I", 0xBA55ED50)
EXECINSTR, PROGBITS, NOBITS = 4, 1, 8


def load(name):
    path = ctypes.util.find_library(name)
    return ctypes.CDLL(path) if path else None


ZSTD, LZ4 = load("zstd"), load("lz4")
if ZSTD:
    ZSTD.ZSTD_decompress.restype = ctypes.c_size_t
    ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def sections(elf):
    """(name, type, flags, bytes) of each section; the size stands for the bytes of those without."""
    shoff, = struct.unpack_from("<Q", elf, 40)
    count, names = struct.unpack_from("<HH", elf, 60)
    rows = []
    first = struct.unpack_from("<IIQQQQII", elf, shoff)
    count = count or first[5]
    names = first[6] if names == 0xffff else names
    for i in range(count):
        rows.append(struct.unpack_from("<IIQQQQ", elf, shoff + 64 * i))
    base = rows[names][4]
    for name, kind, flags, _, offset, size in rows:
        text = elf[base + name:elf.index(b"\0", base + name)].decode(errors="replace")
        yield text, kind, flags, offset, size


def unpack(data, size, flags):
    if flags & 0x8000:
        out = ctypes.create_string_buffer(size)
        assert ZSTD.ZSTD_decompress(out, size, data, len(data)) == size
        return out.raw
    if flags & 0x2000:
        out = ctypes.create_string_buffer(size)
        assert LZ4.LZ4_decompress_safe(data, out, len(data), size) == size
        return out.raw
    return data


def entries(blob, at):
    """(kind, payload, size, flags) of the fatbin's entries, and where it ends; None if there is no fatbin."""
    version, header, size = struct.unpack_from("<HHQ", blob, at + 4)
    if version != 1 or header != 16 or at + header + size > len(blob):
        return None, at + 4
    end, found = at + header + size, []
    at += header
    while at + 64 <= end:
        kind, _, head, stored, packed = struct.unpack_from("<HHIQI", blob, at)
        flags, _, size = struct.unpack_from("<QQQ", blob, at + 40)
        length = packed or stored
        found.append((kind, blob[at + head:at + head + length], size if packed else stored, flags))
        at += head + stored
    return found, end


def members(blob):
    """The members of an archive, or the file itself."""
    if not blob.startswith(b"!<arch>\n"):
        yield blob
        return
    at = 8
    while at + 60 <= len(blob):
        size = int(blob[at + 48:at + 58])
        yield blob[at + 60:at + 60 + size]
        at += 60 + size + size % 2


def fatbins(blob):
    """Entries of all fatbins in a host file."""
    if not blob.startswith(b"\x7fELF"):
        return
    for _, kind, flags, offset, size in sections(blob):
        if kind != PROGBITS or flags & EXECINSTR:
            continue
        at, end = offset, offset + size
        while (at := blob.find(MAGIC, at, end)) >= 0:
            found, after = entries(blob, at) if at % 4 == 0 else (None, at + 1)
            yield from found or ()
            at = after


def count(path):
    """images, stored, size, code (of .text sections and table slots), functions with code; size and code of machine code alone, too."""
    with open(path, "rb") as f:
        blob = f.read()
    total = dict(images=0, stored=0, size=0, code=0)
    for kind, payload, size, flags in (found for member in members(blob) for found in fatbins(member)):
        total["images"] += 1
        total["stored"] += len(payload)
        total["size"] += size if not flags & 0x10000 else len(payload)
        if kind in (2, 16):
            image = unpack(payload, size, flags)
            for name, _, section_flags, _, length in sections(image):
                if section_flags & EXECINSTR and name.startswith((".text.", ".nv.uft.rel.")):
                    total["code"] += length
    return total
