"""Replaces attribute records of compiled objects by others of the same length, to reach what the
compiler does not write for small programs: attributes that callers take over from callees."""
import random
import struct

import cubin

# Replacements for a four-byte record: format, code, largest value.
SHORT = [(1, 0x04, 0), (1, 0x41, 0), (2, 0x4A, 0x80), (2, 0x4C, 16), (3, 0x38, 9), (3, 0x50, 0x7F),
         (1, 0x21, 0), (1, 0x2B, 0)]
# Replacements for an eight-byte record: codes with one word.
LONG = [0x1E, 0x4F]


# What may go: MERCURY_ISA_VERSION; in Mercury's own records, which need that, two that say little.
SPARE = {0x70000000: {0x5F}, 0x70000083: {0x4A, 0x50}}


def records(data, pos, end):
    """Place, format, code, value of each record."""
    while pos + 4 <= end:
        fmt, code, val = struct.unpack_from("<BBH", data, pos)
        yield pos, fmt, code, val
        pos += 4 + (val if fmt == 4 else 0)


def patch(blob, seed):
    """BLOB with some records of its functions changed; for sm_100 and later only on the Mercury
    side, from which nvlink makes the other one. What happens to a function depends on SEED and its
    name alone. No function gets two records of a code."""
    elf, out = cubin.Cubin(blob), bytearray(blob)
    mercury = elf.find(".nv.merc.symtab") is not None
    for sec in elf.sections:
        if sec.sh_type != (0x70000083 if mercury else 0x70000000) or sec.name.endswith(".nv.info"):
            continue
        rng = random.Random("%s/%s" % (seed, sec.name.replace(".nv.merc", "")))
        if rng.random() < 0.5:
            continue
        found = list(records(out, sec.sh_offset, sec.sh_offset + sec.sh_size))
        have = {code for _, _, code, _ in found}
        for pos, fmt, code, val in found:
            if code in SPARE[sec.sh_type] and fmt != 4 and rng.random() < 0.7:
                f, c, top = rng.choice(SHORT)
                top = rng.randint(0, top)
                if c not in have:
                    struct.pack_into("<BBH", out, pos, f, c, top)
                have.add(c)
            elif code == 0x36 and val == 4 and rng.random() < 0.4:
                c, top = rng.choice(LONG), rng.choice([0, 4, 8, 16, 40, 7])
                if c not in have:
                    struct.pack_into("<BBHI", out, pos, 4, c, 4, top)
                have.add(c)
    return bytes(out)
