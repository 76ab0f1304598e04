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


def patch(blob, seed):
    """BLOB with some MERCURY_ISA_VERSION (0x5f) and SW_WAR (0x36) records of its
    functions changed. What happens to a function depends on SEED and its name alone."""
    elf, out = cubin.Cubin(blob), bytearray(blob)
    for sec in elf.sections:
        if sec.sh_type != 0x70000000 or sec.name == ".nv.info":
            continue
        rng = random.Random("%s/%s" % (seed, sec.name))
        if rng.random() < 0.5:
            continue
        pos = sec.sh_offset
        end = pos + sec.sh_size
        while pos + 4 <= end:
            fmt, code, val = struct.unpack_from("<BBH", out, pos)
            size = 4 + (val if fmt == 4 else 0)
            if code == 0x5F and fmt == 3 and rng.random() < 0.7:
                f, c, top = rng.choice(SHORT)
                struct.pack_into("<BBH", out, pos, f, c, rng.randint(0, top))
            elif code == 0x36 and size == 8 and rng.random() < 0.4:
                struct.pack_into("<BBHI", out, pos, 4, rng.choice(LONG), 4,
                                 rng.choice([0, 4, 8, 16, 40, 7]))
            pos += size
    return bytes(out)
