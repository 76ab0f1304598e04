"""Containers of device code, built by hand: fatbins, host objects, archives."""

import struct

MAGIC = 0xBA55ED50
PTX, ELF, LTOIR, CAPSULE = 1, 2, 8, 16
BITS64, LZ4, ZSTD = 0x1, 0x2000, 0x8000
SUFFIX = {"": 0, "a": 0x100000, "f": 0x200000}


def lz4_block(data):
    """One raw LZ4 block that holds literals only."""
    n = len(data)
    if n < 15:
        return bytes([n << 4]) + data
    n -= 15
    return b"\xf0" + b"\xff" * (n // 255) + bytes([n % 255]) + data


def zstd_frame(data):
    """One zstd frame with the content size in its header and blocks that are not compressed."""
    out = struct.pack("<IBBQ", 0xFD2FB528, 0xC0, 0x38, len(data))
    blocks = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b""]
    for i, block in enumerate(blocks):
        head = len(block) << 3 | (i == len(blocks) - 1)
        out += struct.pack("<I", head)[:3] + block
    return out


PACK = {"": (0, None), "lz4": (LZ4, lz4_block), "zstd": (ZSTD, zstd_frame)}


def entry(kind, arch, payload, pack="", options=b"", flags=BITS64, **fields):
    """One entry; arch as "90a".  Fields: stored, packed, size, header override what is written."""
    flag, packer = PACK[pack]
    data = packer(payload) if packer else payload
    text = options + b"\0"
    text += b"\0" * (-len(text) % 8)
    number, suffix = (arch[:-1], arch[-1]) if arch[-1:] in ("a", "f") else (arch, "")
    header = fields.get("header", 72 + len(text))
    padded = data + b"\0" * (-len(data) % 8)
    out = struct.pack(
        "<HHIQIIHHIIIQQQ", kind, 0x101, header, fields.get("stored", len(padded)),
        fields.get("packed", len(data) if packer else 0), 64, 1, 8, int(number), 0, 0,
        flags | flag | SUFFIX[suffix], 0, fields.get("size", len(payload) if packer else 0),
    )
    return out + struct.pack("<II", 72, len(options)) + text + padded


def fatbin(*entries, version=1, header=16, size=None):
    body = b"".join(entries)
    head = struct.pack("<IHHQ", MAGIC, version, header, len(body) if size is None else size)
    return head + b"\0" * (header - 16) + body


def elf(sections, e_type=1, machine=62, flags=0):
    """An ELF64 with these (name, data) sections."""
    names, out, table = b"\0", b"\0" * 64, b"\0" * 64
    for name, data in list(sections) + [(".shstrtab", None)]:
        offset = len(names)
        names += name.encode() + b"\0"
        data = names if data is None else data
        out += b"\0" * (-len(out) % 16)
        kind = 3 if name == ".shstrtab" else 1
        table += struct.pack("<IIQQQQIIQQ", offset, kind, 2, 0, len(out), len(data), 0, 0, 16, 0)
        out += data
    out += b"\0" * (-len(out) % 8)
    count = len(sections) + 2
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", e_type, machine, 1, 0, 0, len(out),
                       flags, 64, 0, 0, 64, count, count - 1)
    return head + out[64:] + table


WRAPPER = struct.pack("<IIQQ", 0x466243B1, 1, 0, 0)


def host_object(code, ident="_id", kernels=None, internal=None, **kind):
    """A host object with relocatable device code."""
    sections = [(".text", b"\xc3"), ("__nv_relfatbin", code), (".nvFatBinSegment", WRAPPER)]
    if ident is not None:
        sections.append(("__nv_module_id", ident.encode() + b"\0"))
    if kernels is not None:
        sections.append((".nvHRKE", kernels))
    if internal is not None:
        sections.append((".nvHRKI", internal))
    return elf(sections, **kind)


def member(name, data, size=None, end=b"`\n"):
    """One member of an archive with this name field, e.g. b"m.o/"."""
    text = str(len(data)) if size is None else size
    out = b"%-16s%-12d%-6d%-6d%-8s%-10s" % (name, 0, 0, 0, b"644", text.encode()) + end + data
    return out + b"\n" * (len(out) % 2)


def archive(*members, thin=False):
    return (b"!<thin>\n" if thin else b"!<arch>\n") + b"".join(members)
