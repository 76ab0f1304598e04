"""Small reader for device ELFs and capsules, shared by the scripts of this folder."""
import struct


class Section:
    def __init__(self, fields, index, image):
        (self.name_offset, self.type, self.flags, self.addr, self.offset, self.size,
         self.link, self.info, self.align, self.entsize) = fields
        self.index = index
        self.data = b'' if self.type == 8 else image[self.offset:self.offset + self.size]


class Elf:
    def __init__(self, path):
        with open(path, 'rb') as f:
            image = f.read()
        shoff, = struct.unpack_from('<Q', image, 40)
        count, names = struct.unpack_from('<HH', image, 60)
        self.sections = [Section(struct.unpack_from('<IIQQQQIIQQ', image, shoff + 64 * i), i, image)
                         for i in range(count)]
        text = self.sections[names].data
        self.by_name = {}
        for s in self.sections:
            s.name = text[s.name_offset:text.index(b'\0', s.name_offset)].decode()
            self.by_name[s.name] = s
        self.symbols = self.read_symbols('.symtab')

    def read_symbols(self, name):
        """[(name, info, other, shndx, value, size)]"""
        table = self.by_name[name]
        text = self.sections[table.link].data
        out = []
        for at in range(0, table.size, 24):
            n, info, other, shndx, value, size = struct.unpack_from('<IBBHQQ', table.data, at)
            out.append((text[n:text.index(b'\0', n)].decode(), info, other, shndx, value, size))
        return out

    def relocations(self, name):
        """[(offset, type, symbol index, addend)], empty if there is no such section"""
        if name not in self.by_name:
            return []
        data = self.by_name[name].data
        out = []
        for at in range(0, len(data), 24):
            offset, info, addend = struct.unpack_from('<QQq', data, at)
            out.append((offset, info & 0xffffffff, info >> 32, addend))
        return out

    def functions(self):
        """{name: text section}"""
        return {s.name[6:]: s for s in self.sections if s.name.startswith('.text.')}

    def entries(self):
        return {s[0] for s in self.symbols if s[2] & 0x10}


def instructions(data):
    return [int.from_bytes(data[i:i + 16], 'little') for i in range(0, len(data), 16)]


def bits(word, low, count):
    return word >> low & ((1 << count) - 1)


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) & 1 else value


class BadCapsule(Exception):
    pass


def parse_capsule(data):
    """-> (header dict, [(offset, count, kind, record)]), kind: 'derived' (bit 1), 'record', 'run' (no Mercury code)"""
    if len(data) < 12:
        raise BadCapsule('shorter than its header')
    section, word1, n = struct.unpack_from('<III', data, 0)
    if word1 >> 30 != 3 or word1 & 0xff > 1:
        raise BadCapsule('format word %#x' % word1)
    at = 12 + 4 * ((n + 31) // 32)
    if at > len(data):
        raise BadCapsule('bitmap runs past the end')
    entries = []
    for i in range(n):
        if data[12 + i // 8] >> (i % 8) & 1:
            entries.append((at, 1, 'derived', b''))
            continue
        start, count = at, 1
        if at + 2 > len(data):
            raise BadCapsule('entry %d past the end' % i)
        head = data[at] | data[at + 1] << 8
        if head & 0x70 == 0x50:
            count = head >> 7
            at += 2
            if head & 15 == 0:
                entries.append((start, count, 'run', b''))
                continue
            if head & 15 != 1:
                raise BadCapsule('run prefix %#x' % head)
        if at + 2 > len(data):
            raise BadCapsule('entry %d past the end' % i)
        units, form = data[at] & 15, data[at] >> 4 & 7
        size = {0: 16 * units, 4: 4, 1: 8}.get(form)
        if not size:
            raise BadCapsule('storage form %#x at %#x' % (data[at], at))
        if at + size > len(data):
            raise BadCapsule('record at %#x past the end' % at)
        entries.append((start, count, 'record', data[at:at + size]))
        at += size
    if at != len(data):
        raise BadCapsule('%d bytes left' % (len(data) - at))
    return dict(section=section, word1=word1, entries=n), entries


def parse_attributes(data):
    """.nv.info contents -> [(format, attribute, value or bytes)]"""
    out, at = [], 0
    while at < len(data):
        form, attr, value = data[at], data[at + 1], data[at + 2] | data[at + 3] << 8
        if form == 4:
            out.append((form, attr, data[at + 4:at + 4 + value]))
            at += value
        else:
            out.append((form, attr, value))
        at += 4
    return out


def capsule_problems(capsule, text_section):
    """The identities every capsule keeps; -> list of strings, empty if all hold"""
    try:
        header, entries = parse_capsule(capsule)
    except BadCapsule as e:
        return [str(e)]
    out = []
    words = instructions(text_section.data)
    if header['section'] != text_section.index:
        out.append('names section %d, the code is in %d' % (header['section'], text_section.index))
    covered = sum(e[1] for e in entries)
    if covered * 16 != text_section.size:
        out.append('covers %d instructions of %d' % (covered, len(words)))
    elif not entries or entries[-1][2] != 'run':
        out.append('does not end with a run')
    else:
        tail = words[covered - entries[-1][1]:]
        if tail[0] & 0xfff != 0x947 or any(w & 0xfff != 0x918 for w in tail[1:]):
            out.append('last run is not a branch and NOPs')
        k = covered - entries[-1][1] + 1
        if covered != 8 * ((k + 15) // 8):
            out.append('%d instructions padded to %d' % (k, covered))
    return out


CALLS = {0x943, 0x944, 0x343}
WITHOUT_CONTROL = (1 << 105) - 1
DUMMY_LOAD = 0x80000000000fffff984
MEMBAR, ERRBAR = 0x992, 0x9ab
FAR = {0x947, 0x547, 0x948, 0x949, 0x958, 0x944}
NEAR = {0x945}


def relative_target(word):
    """byte distance from the next instruction, None if the instruction has none"""
    op = word & 0xfff
    if op in FAR:
        return 4 * signed(bits(word, 16, 8) | bits(word, 34, 48) << 8, 56)
    if op in NEAR:
        return 4 * signed(bits(word, 34, 30), 30)
    return None


def with_relative_target(word, distance):
    value = distance // 4
    if word & 0xfff in FAR:
        value &= (1 << 56) - 1
        word &= ~(0xff << 16 | ((1 << 48) - 1) << 34)
        return word | (value & 0xff) << 16 | value >> 8 << 34
    return word & ~(((1 << 30) - 1) << 34) | (value & ((1 << 30) - 1)) << 34


def drop_dummies(words, capsule):
    """Removes the dummy instructions before fences from the code of a call-free entry.
    -> (words, capsule bytes, map from old to new instruction index); the inputs themselves if there is nothing to drop"""
    header, entries = parse_capsule(capsule)
    drop, counts, first = set(), [], 0
    for _, count, kind, _ in entries:
        gone = set()
        if kind == 'record' and count > 1:
            run = words[first:first + count]
            for i, w in enumerate(run):
                if i + 4 < count and all(v & WITHOUT_CONTROL == DUMMY_LOAD for v in run[i:i + 4]) \
                        and run[i + 4] & 0xfff == MEMBAR:
                    gone |= {first + i + j for j in range(4)}
                if w & 0xfff == MEMBAR and bits(w, 72, 8) in (0x80, 0x50) and i + 1 < count \
                        and run[i + 1] & 0xfff in (MEMBAR, ERRBAR):
                    gone.add(first + i)
        drop |= gone
        counts.append(count - len(gone))
        first += count
    if not drop:
        return words, capsule, list(range(len(words) + 1))
    last = len(words) - entries[-1][1]
    place, at = [], 0
    for i in range(len(words) + 1):
        place.append(at)
        at += i not in drop
    out = []
    for i in range(last + 1):
        if i in drop:
            continue
        w, distance = words[i], relative_target(words[i])
        if distance is not None and 0 <= i + 1 + distance // 16 <= len(words):
            w = with_relative_target(w, 16 * (place[i + 1 + distance // 16] - place[i] - 1))
        out.append(w)
    total = 8 * ((len(out) + 15) // 8)
    counts[-1] = total - len(out) + 1
    out += [words[last + 1]] * (total - len(out))
    place[len(words)] = total
    body = bytearray(capsule[:12 + 4 * ((header['entries'] + 31) // 32)])
    for (offset, count, kind, record), new in zip(entries, counts):
        if kind == 'run':
            body += struct.pack('<H', 0x50 | new << 7)
        elif kind == 'record':
            if capsule[offset] & 0x70 == 0x50:
                body += struct.pack('<H', 0x51 | new << 7)
            body += record
    return out, bytes(body), place
