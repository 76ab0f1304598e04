"""Functions of one name, which nvlink mixes up when it reads its own relocatable output.

Static functions of several objects may share a name. From sm_100 on nvlink finds what belongs to a
function by that name: it applies the relocations of the first to the code of the others and compiles
them with the first one's options. If those differ, instructions have their operands overwritten and
are scheduled anew (docs/code-rewriting.md); where the lists of relocations differ, the code is wrong.
"""
import collections
import re
import struct

import cubin
import memory

CAPSULE = ".nv.capmerc.text."
# What in the output is about one function's code.
CODE = re.compile(r"\.(?:text|nv\.capmerc\.text|rela\.text|nv\.info)\.(.*)")
# Sections that change with the length of code.
LENGTHS = {".debug_frame", ".debug_line", ".nv_debug_line_sass", memory.REGISTERS}
NOP = 0x918
JUMPS = {0x943, 0x944, 0x945, 0x947, 0x948, 0x949, 0x950, 0x958, 0x547}
OPERANDS = (1 << 41) - 1        # of the upper half of an instruction
STALL = 15                      # in every instruction of code that was not scheduled
# Attributes that name places in code: distance in bytes from one to the next.
PLACES = {0x1c: 4, 0x28: 4, 0x2e: 8, 0x31: 4, 0x34: 4, 0x39: 16, 0x44: 8, 0x46: 4, 0x47: 4,
          0x57: 4}


def read(inputs):
    for _, blob in inputs:
        try:
            yield cubin.Cubin(blob)
        except (cubin.BadElf, struct.error):
            pass


def groups(elf):
    """Names that several functions have, with the indices of their capsules."""
    found = collections.defaultdict(list)
    for s in elf.sections:
        if s.name.startswith(CAPSULE):
            found[s.name[len(CAPSULE):]].append(s.index)
    return {name: where for name, where in found.items() if len(where) > 1}


def shared(inputs):
    return {name for elf in read(inputs) for name in groups(elf)}


def entries(elf, name):
    """By capsule: place, type and addend of each relocation."""
    return {s.sh_info: [e[:2] + e[3:] for e in struct.iter_unpack("<QIIq", s.data)]
            for s in elf.sections if s.name == ".nv.merc.rela.text." + name}


def scheduled(elf, capsule):
    """Was the code of that capsule scheduled? That of -O0 and -g is not."""
    code = elf.sections[struct.unpack_from("<I", elf.sections[capsule].data)[0]].data
    stalls = [high >> 41 & 15 for _, high in struct.iter_unpack("<QQ", code)]
    return stalls.count(STALL) * 2 < len(stalls) - stalls.count(0)


def mixed(inputs):
    """Names of functions that nvlink compiles with what belongs to another; and those of them that have
    the same relocations, so that only their schedule is not theirs."""
    names, wrong = set(), set()
    for elf in read(inputs):
        for name, where in groups(elf).items():
            lists = entries(elf, name)
            if len({repr((lists.get(i, []), scheduled(elf, i))) for i in where}) > 1:
                names.add(name)
            if len({repr(lists.get(i, [])) for i in where}) > 1:
                wrong.add(name)
    return names, names - wrong


def settle(ab, bb, names):
    """nvlink's output with the attributes of functions called NAMES as in cubind's where they are
    about places at which the code has no instruction (0 in cubind's): nvlink writes what its memory
    holds there."""
    out = bytearray(ab)
    for a, b in zip(cubin.Cubin(ab).sections, cubin.Cubin(bb).sections):
        code = CODE.fullmatch(a.name)
        if not code or code[1] not in names or not a.name.startswith(".nv.info") or \
                a.sh_offset != b.sh_offset or a.sh_size != b.sh_size:
            continue
        at = 0
        while at + 4 <= a.sh_size:
            form, kind, size = struct.unpack_from("<BBH", a.data, at)
            at += 4
            if form != 4:
                continue
            for k in range(at, at + size - 3, PLACES.get(kind, size)) if kind in PLACES else ():
                if not any(b.data[k:k + 4]):
                    out[a.sh_offset + k:a.sh_offset + k + 4] = bytes(4)
            at += size
    return bytes(out)


def without(elf, names, resized, unscheduled):
    """Per section: header and contents, but for what is about the code of functions in NAMES, and
    UNSCHEDULED: for control bits of any code."""
    for s in elf.sections:
        head = (s.name, s.sh_type, s.sh_flags, s.sh_link, s.sh_info, s.sh_entsize)
        code = CODE.fullmatch(s.name)
        if code and code[1] in names:
            yield head
        elif resized and s.name in LENGTHS:
            yield head
        elif unscheduled and s.name.startswith(".text."):
            yield head + (s.sh_size, [(word, high & OPERANDS)
                                      for word, high in struct.iter_unpack("<QQ", s.data)])
        elif s.name == ".symtab":
            yield head + tuple((name, repr(dict(sym, st_size=0) if name in names else sym))
                               for name, sym in elf.symbols)
        elif s.name == memory.REGISTERS:
            yield head + (len(s.data),) + tuple(
                (name, repr(ranges)) for name, ranges in memory.records(s.data)
                if name not in names)
        else:
            yield head + (s.sh_size, s.data)


def length(code):
    """Of code, in instructions, without what fills the section behind it."""
    words = [word for word, _ in struct.iter_unpack("<QQ", code.data)]
    while words and words[-1] & 0xfff == NOP:
        words.pop()
    return len(words)


def operations(code):
    """What the code does, whatever its schedule: its instructions without control bits and NOPs, of
    those that name places the opcode alone."""
    out = []
    for word, high in struct.iter_unpack("<QQ", code.data):
        if word & 0xfff in JUMPS:
            out.append((word & 0xfff, 0))
        elif word & 0xfff != NOP:
            out.append((word, high & OPERANDS))
    return out


def same_but(ab, bb, names, rescheduled, unscheduled=False):
    """Are the outputs the same but for the code of functions called NAMES, and that of those in
    RESCHEDULED but for its schedule? UNSCHEDULED: whatever the control bits of all code are."""
    a, b = cubin.Cubin(ab), cubin.Cubin(bb)
    if len(a.sections) != len(b.sections) or any(
            x.name[:6] == ".text." and x.name[6:] in rescheduled and operations(x) != operations(y)
            for x, y in zip(a.sections, b.sections)):
        return False
    resized = any(length(x) != length(y) for x, y in zip(a.sections, b.sections)
                  if x.name in (".text." + name for name in names))
    return all(x == y for x, y in zip(without(a, names, resized, unscheduled),
                                      without(b, names, resized, unscheduled)))
