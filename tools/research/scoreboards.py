#!/usr/bin/env python3
"""Model of the scoreboard numbers that a final link for sm_100 and later assigns (docs/mercury.md).

usage: scoreboards.py OBJECT LINKED

For each call-free entry whose unused R1 load has a scoreboard: does the model reproduce the input, and the linked code?
"""
import bisect
import sys
from collections import defaultdict

from mercury_elf import (CALLS, Elf, bits, drop_dummies, instructions, parse_attributes, relative_target)
import struct

LONG = {0x981, 0x980, 0x983, 0x98a, 0x9a8, 0x9a3, 0x3a9, 0x38b, 0x3a3, 0x3a8, 0x38a, 0x98b, 0xf60}
BRANCHES = {0x947, 0x547, 0x94d, 0x941, 0x949, 0x958, 0x950}
BLOCK_END_ONLY = BRANCHES | {0x945, 0x918}
NEVER = 1 << 30
EVERYTHING = 0x3f                                 # this mask names no producer and ends none: it stays as it is
SIZES = {4: 1, 5: 2, 6: 4, 7: 8}
CONVERSIONS = {0x110, 0x111, 0x112, 0x113}       # with 64 bits on at least one side
CONTROL = ~(0x3f << 116 | 7 << 110 | 7 << 113)


# ---- registers ---------------------------------------------------------------------------------------------------

def operands(w):
    """-> (general written, general read, uniform written, uniform read), register numbers"""
    def general(low, count=1):
        r = bits(w, low, 8)
        return set() if r == 255 else set(range(r, r + count))

    def uniform(low, count=1):
        r = bits(w, low, 8)
        return set() if r == 255 or r & 63 == 63 else set(range(r, r + count))

    none = set()
    op, base, form = w & 0xfff, w & 0x1ff, bits(w, 9, 3)
    size = SIZES.get(bits(w, 73, 3), 1)
    if op in (0x918, 0x947, 0x94d, 0x941, 0x945, 0x950, 0xb1d, 0x992, 0x9ab, 0x5ab, 0x948):
        return none, none, none, none
    if op == 0x547:
        return none, none, none, uniform(24)
    if op == 0x949:
        return none, general(24, 2), none, none
    if op == 0x958:
        return none, none, none, uniform(24, 2)
    if op == 0xb82:
        return general(16, size), general(24), none, none
    if op == 0x7ac:
        return none, none, uniform(16, size), uniform(24)
    if op == 0x919:
        return general(16), none, none, none
    if op == 0x9c3:
        return none, none, uniform(16), none
    if op == 0x805:
        return general(16, 2), none, none, none
    if base in (0x181, 0x180):
        return general(16, size), general(24, 2), none, uniform(32, 2)
    if base in (0x183, 0x184):
        return general(16, size), general(24), none, uniform(32)
    if base in (0x186, 0x185):
        return none, general(24, 2) | general(32, size), none, uniform(64, 2)
    if base in (0x187, 0x188):
        return none, general(24) | general(32, size), none, uniform(64)
    if base in (0x1a8, 0x1a3, 0x18a, 0x1a9, 0x18b, 0x18e, 0x18c, 0x18d):
        n = 2 if bits(w, 73, 3) in (2, 5) else 1
        compare = base in (0x1a9, 0x18b, 0x18d)
        return (general(16, n), general(24, 2) | general(32, n) | (general(64) if compare else none), none,
                uniform(24, 2) | uniform(64, 2) if compare else uniform(64, 2))
    if op in (0x2ca, 0x3c4):
        return none, general(24), uniform(16), none
    if op == 0x886:
        return none, none, uniform(16), none
    if op == 0x2bd:
        return none, none, uniform(16), uniform(24) | uniform(32)
    if op in (0x2cc, 0xc82, 0x882) or (0x80 <= op & 0xff < 0xc0 and not op & 0x100 and form in (1, 4)):
        if not base & 0x100:
            return (none, none, uniform(16, 2 if base == 0xa5 else 1),
                    uniform(24) | (uniform(32) if form == 1 else none) | uniform(64))
    wide = base in (0x28, 0x29, 0x2a, 0x2b, 0x35)
    n = 2 if wide else 1
    unary = base in (0x02, 0x13, 0x45, 0x100, 0x101, 0x104, 0x105, 0x106, 0x107, 0x108, 0x109, 0x110, 0x111, 0x112,
                     0x113)
    third = 2 if base == 0x25 else n
    to, come_from = (2 if bits(w, low, 2) == 3 else 1 for low in (75, 84))
    if base in (0x0b, 0x0c, 0x2a, 0x1c, 0x1b):
        written = none
    else:
        written = general(16, to if base in CONVERSIONS else 2 if base in (0x25, 0x28, 0x29, 0x2b, 0x35) else 1)
    read = none if unary else general(24, n)
    from_uniform = none
    if form == 1:
        read = read | general(32, (come_from if base in CONVERSIONS else 1) if unary else n)
        if not unary:
            read = read | general(64, third)
    elif form in (2, 3):
        read = read | general(64, n)
    elif form in (4, 5, 6) and not unary:
        read = read | general(64, third)
    elif form == 7:
        read = read | general(64)
    if form in (3, 7):
        from_uniform = uniform(32)
    elif form == 6:
        from_uniform = uniform(32, 2 if wide else 1)
    return written, read, none, from_uniform


# ---- control flow ------------------------------------------------------------------------------------------------

def successors(words, tables):
    """tables: {index of an indexed branch: [target indices]}; -> per instruction a list, the taken side first"""
    n, out = len(words), []
    for i, w in enumerate(words):
        op = w & 0xfff
        conditional = bits(w, 12, 4) != 7 or bits(w, 87, 4) != 7
        after = [i + 1] if i + 1 < n else []
        if op in (0x947, 0x547):
            target = i + 1 + relative_target(w) // 16
            out.append([target] + (after if conditional or op == 0x547 or bits(w, 32, 2) else []))
        elif op in (0x949, 0x958):
            out.append(list(tables.get(i, [])))
        elif op in (0x94d, 0x950, 0x94e):
            out.append(after if conditional else [])
        else:
            out.append(after)
    return out


class Function:
    """Producers and consumers of a function, read off its control bits and, where numbers were merged, its registers"""

    def __init__(self, words, tables):
        self.words, self.n = words, len(words)
        self.succ = successors(words, tables)
        self.pred = [[] for _ in words]
        for i, targets in enumerate(self.succ):
            for t in targets:
                self.pred[t].append(i)
        self.find_blocks()
        self.all = [bits(w, 116, 6) == EVERYTHING for w in words]
        self.wait = [0 if a else bits(w, 116, 6) for w, a in zip(words, self.all)]
        self.producers = []                       # (instruction, 'r' or 'w', number in the input)
        self.at = defaultdict(list)
        for i, w in enumerate(words):
            for side, low in (('r', 113), ('w', 110)):
                if bits(w, low, 3) < 6:
                    self.at[i].append(len(self.producers))
                    self.producers.append((i, side, bits(w, low, 3)))
        self.long = [side == 'w' and words[i] & 0xfff in LONG for i, side, _ in self.producers]
        self.stack_load = next((q for q in self.at[0] if self.producers[q][1] == 'w'), None)
        self.registers = [operands(w) for w in words]
        self.groups = {}                          # first to last instruction of the warp-collective sequences
        for i, w in enumerate(words):
            if w & 0xfff in (0x348, 0x948):
                for j in range(i + 1, min(i + 12, self.n)):
                    if words[j] & 0xfff == 0x91b:
                        self.groups[i] = j
                    if words[j] & 0xfff == 0x91b or words[j] & 0xfff in BRANCHES:
                        break
        self.pending_in_input()
        self.find_consumers()

    def find_blocks(self):
        leaders = {0}
        for i, targets in enumerate(self.succ):
            if self.words[i] & 0xfff in BRANCHES or not targets or targets != [i + 1]:
                leaders |= set(targets) | {i + 1}
        starts = sorted(x for x in leaders if x < self.n)
        self.starts = starts
        self.blocks = list(zip(starts, starts[1:] + [self.n]))
        index = {s: b for b, s in enumerate(starts)}
        self.block_succ = [[index[t] for t in self.succ[e - 1] if t in index] for _, e in self.blocks]

    def block(self, i):
        return bisect.bisect_right(self.starts, i) - 1

    def pending_in_input(self):
        """self.pending[i]: producers that may be unfinished before instruction i; self.consumers: waits that end them"""
        out = [set() for _ in self.words]
        self.pending = [set() for _ in self.words]
        changed = True
        while changed:
            changed = False
            for i in range(self.n):
                before = set().union(*(out[p] for p in self.pred[i])) if self.pred[i] else set()
                after = {q for q in before if not self.wait[i] >> self.producers[q][2] & 1} | set(self.at[i])
                self.pending[i] = before
                if after != out[i]:
                    out[i], changed = after, True
        self.consumers = defaultdict(set)
        for i in range(self.n):
            for q in self.pending[i]:
                if self.wait[i] >> self.producers[q][2] & 1:
                    self.consumers[q].add(i)

    def touches(self, q, i):
        """does instruction i depend on producer q by its registers"""
        p, side, _ = self.producers[q]
        gw, gr, uw, ur = self.registers[p]
        iw, ir, ivw, ivr = self.registers[i]
        if side == 'w':
            return bool(gw & (iw | ir) or uw & (ivw | ivr))
        return bool(gr & iw or ur & ivw)

    def names_registers(self, q):
        p, side, _ = self.producers[q]
        gw, gr, uw, ur = self.registers[p]
        return self.long[q] or bool(gw or uw if side == 'w' else gr or ur)

    def register_consumer(self, q):
        p = self.producers[q][0]
        for i in range(p + 1, self.blocks[self.block(p)][1]):
            if self.words[p] & 0xfff == 0x389 and self.words[i] & 0xfff == 0x91b or self.touches(q, i):
                return i
        return None

    def find_consumers(self):
        """self.local[q]: the consumer if it is in the producer's block; self.flush: waited for only because the block ends"""
        self.local, self.flush = {}, {}
        for q, (p, side, number) in enumerate(self.producers):
            end = self.blocks[self.block(p)][1]
            seen = min((c for c in self.consumers[q] if p < c < end), default=None)
            found = self.register_consumer(q)
            merged = any(
                k == number and r != q and r != self.stack_load and
                (i == p or r in self.pending[p] and not self.wait[p] >> number & 1 or seen is not None and p < i < seen)
                for r, (i, _, k) in enumerate(self.producers))
            local, flush = seen, False
            if seen is not None:
                last = self.words[seen] & 0xfff
                if seen == end - 1 and (found != seen if last in BLOCK_END_ONLY else found is None):
                    local, flush = None, True
                elif merged and self.names_registers(q) and (found is None or found > seen):
                    local = found
            self.local[q], self.flush[q] = local, flush
        for q, (p, side, number) in enumerate(self.producers):
            if self.local[q] is None and q != self.stack_load and side == 'w' and not self.long[q]:
                self.uncover(q)

    def uncover(self, q):
        """A wait for another producer of the same number may have hidden the real consumer of a crossing result"""
        p, _, number = self.producers[q]

        def others(i):
            return any(r != q and self.producers[r][2] == number and self.touches(r, i) for r in self.pending[i])

        found, seen, todo = set(), set(), list(self.succ[p])
        while todo:
            i = todo.pop()
            if i in seen:
                continue
            seen.add(i)
            if self.touches(q, i):
                found.add(i)
            elif self.wait[i] >> number & 1 and q in self.pending[i] and (
                    self.flush[q] and self.block(i) == self.block(p) and i > p or not others(i)):
                return
            else:
                todo += self.succ[i]
        waits = self.consumers[q]
        if found and all(x in found or others(x) for x in waits) and any(x not in found for x in waits):
            self.consumers[q] = found


# ---- the assignment ----------------------------------------------------------------------------------------------

def bucket(block):
    """FNV-1a of the block's position as four bytes, in a table of eight: the order in which successors are visited"""
    h = 0x811c9dc5
    for i in range(4):
        h = (h ^ block >> 8 * i & 255) * 0x01000193 & 0xffffffff
    return h & 7


def block_order(f):
    """reverse post-order of the blocks"""
    def visit(b):
        return iter(sorted(dict.fromkeys(f.block_succ[b]), key=bucket))

    seen, post, stack = {0}, [], [(0, visit(0))]
    while stack:
        for s in stack[-1][1]:
            if s not in seen:
                seen.add(s)
                stack.append((s, visit(s)))
                break
        else:
            post.append(stack.pop()[0])
    return post[::-1] + [b for b in range(len(f.blocks)) if b not in seen]


def assign(f, keep_stack_load):
    """-> instruction words with new scoreboard numbers and wait masks"""
    producers, local = f.producers, f.local
    skip = set() if keep_stack_load else {f.stack_load}
    at = {i: [q for q in qs if q not in skip] for i, qs in f.at.items()}
    reserved = (any(f.long[q] and local[q] is None for q in range(len(producers))) and
                any(w & 0xfff in LONG and bits(w, 16, 8) != 255 and bits(w, 110, 3) != 7 for w in f.words))
    block_pred = defaultdict(set)
    for b, targets in enumerate(f.block_succ):
        for t in targets:
            block_pred[t].add(b)
    number, leaving = {}, {}
    for b in block_order(f):
        start, end = f.blocks[b]
        entering = set().union(*(leaving.get(p, set()) for p in block_pred[b])) if block_pred[b] else set()
        five_taken = reserved and (
            any(number[q] == 5 and any(start <= x < end for x in f.consumers[q]) for q in entering) or
            any(f.long[q] and local[q] is None for i in range(start, end) for q in at.get(i, ())))
        pending = list(entering)
        group_held, group_end = set(), -1

        def here(q):
            return start <= producers[q][0] < end

        def next_consumer(q, i):
            if here(q) and q not in entering:
                return NEVER if local[q] is None else local[q]
            return min((x for x in f.consumers[q] if i < x < end and x >= start), default=NEVER)

        def consumed_at(q, i):
            if here(q):
                return local[q] == i
            return local[q] == i or local[q] is None and i in f.consumers[q]

        for i in range(start, end):
            cleared = {number[q] for q in pending if consumed_at(q, i)}
            if i in f.groups:
                group_held, group_end = {number[q] for q in pending if number[q] in cleared}, f.groups[i]
            elif i > group_end:
                group_held = set()
            pending = [q for q in pending if number[q] not in cleared]
            for q in at.get(i, ()):
                number[q] = choose(f, q, b, pending, group_held, entering, number, leaving, reserved, five_taken,
                                   next_consumer)
                pending.append(q)
        flushed = {number[q] for q in pending
                   if here(q) and local[q] is None and f.flush[q] and end - 1 in f.consumers[q]}
        leaving[b] = {q for q in pending if number[q] not in flushed}
    return rewrite(f, number, at, reserved)


def choose(f, q, b, pending, group_held, entering, number, leaving, reserved, five_taken, next_consumer):
    p, side, _ = f.producers[q]
    end = f.blocks[b][1]
    own = f.local[q]
    others = [r for r in pending if f.producers[r][0] != p]
    if own is not None:
        same = [number[r] for r in others if next_consumer(r, p) == own and not (reserved and number[r] == 5) and
                (side == 'w' or all(next_consumer(x, p) == own for x in others if number[x] == number[r]))]
        if same:
            return min(same)
    elif side == 'r':
        mine = [r for r in pending if f.block(f.producers[r][0]) == b]
        pure = [number[r] for r in mine if f.producers[r][1] == 'r' and f.local[r] is None and
                all(f.local[s] is None for s in mine if number[s] == number[r])]
        if pure:
            return pure[-1]
    elif f.long[q] and reserved:
        return 5
    busy = {number[r] for r in pending} | group_held
    if own is None:
        for t in f.succ[end - 1]:
            for x in f.pred[t]:
                y = f.block(x)
                if y != b and y in leaving:
                    busy |= {number[r] for r in leaving[y]}
        if b in f.block_succ[b]:
            busy |= {number[r] for r in entering}
    without_five = five_taken or own is None and not f.long[q]
    usable = [k for k in range(2 if f.long[q] else 0, 6) if k != 5 or not without_five]
    free = [k for k in usable if k not in busy]
    if free:
        return free[0]
    groups = {}
    for r in others:
        k = number[r]
        if k in usable:
            first, is_long = groups.get(k, (NEVER, False))
            groups[k] = (min(first, next_consumer(r, p)), is_long or f.long[r])
    held = [(first, k, is_long) for k, (first, is_long) in groups.items()]
    if not f.long[q] and any(not h[2] for h in held):
        held = [h for h in held if not h[2]]
    if own is None:
        return min((k for first, k, _ in held if first == NEVER), default=usable[0])
    later = [h for h in held if h[0] >= own]
    if later:
        return min(later)[1]
    return max(held)[1] if held else usable[-1]


def rewrite(f, number, at, reserved):
    needs = defaultdict(set)
    for q in number:
        p = f.producers[q][0]
        if f.local[q] is None:
            where = f.consumers[q]
        else:
            where = {f.local[q]} | {x for x in f.consumers[q] if not (f.block(x) == f.block(p) and x > p)}
        for x in where:
            needs[x].add(q)
    wait, out = [0] * f.n, [set() for _ in f.words]
    for _ in range(60):
        changed = False
        for i in range(f.n):
            before = set().union(*(out[p] for p in f.pred[i])) if f.pred[i] else set()
            mask = 0
            for q in before & needs[i]:
                mask |= 1 << number[q]
            after = {q for q in before if not mask >> number[q] & 1} | set(at.get(i, ()))
            if after != out[i] or mask != wait[i]:
                out[i], wait[i], changed = after, mask, True
        if not changed:
            break
    if reserved and {q for q in number if f.producers[q][2] == 5} == {q for q in number if number[q] == 5}:
        wait = [m & ~32 | old & 32 for m, old in zip(wait, f.wait)]
    wait = [EVERYTHING if a else m for m, a in zip(wait, f.all)]
    for i, last in f.groups.items():
        wait[last] |= wait[i]
    write, read = [7] * f.n, [7] * f.n
    for q, k in number.items():
        (write if f.producers[q][1] == 'w' else read)[f.producers[q][0]] = k
    return [w & CONTROL | wait[i] << 116 | write[i] << 110 | read[i] << 113 for i, w in enumerate(f.words)]


def predict(words, tables):
    """-> (new words, whether the model reproduced the input)"""
    f = Function(words, tables)
    return assign(f, False), [w >> 105 for w in assign(f, True)] == [w >> 105 for w in words]


# ---- command -----------------------------------------------------------------------------------------------------

def reads_stack_pointer(words):
    """does a source register field name R1"""
    for w in words[1:]:
        if 1 in operands(w)[1]:
            if w & 0x1ff in CONVERSIONS:
                return True
            for low in (24, 32, 64):
                if bits(w, low, 8) == 1 and 200 in operands(w & ~(0xff << low) | 200 << low)[1]:
                    return True
    return False


def candidates(obj, linked):
    """yields (name, input words without dummies and padding, linked words, jump tables)"""
    entries, code = linked.entries(), linked.functions()
    for name, section in obj.functions().items():
        words = instructions(section.data)
        if name not in code or name not in entries or any(w & 0xfff in CALLS for w in words):
            continue
        if words[0] & 0xfff != 0xb82 or bits(words[0], 16, 8) != 1 or bits(words[0], 110, 3) == 7:
            continue
        if bits(words[0], 113, 3) != 7 or reads_stack_pointer(words):     # -O0 and -G; local memory
            continue
        new, _, place = drop_dummies(words, obj.by_name['.nv.capmerc.text.' + name].data)
        tables = {}
        for form, attr, value in parse_attributes(obj.by_name['.nv.info.' + name].data):
            if attr == 0x34:
                u = struct.unpack('<%dI' % (len(value) // 4), value)
                at = 0
                while at < len(u):
                    tables[place[u[at] // 16]] = [place[x // 16] for x in u[at + 3:at + 3 + u[at + 2]]]
                    at += 3 + u[at + 2]
        k = max(i for i, w in enumerate(new) if w & 0xfff != 0x918) + 1
        yield name, new[:k], instructions(code[name].data)[:k], tables


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    count = defaultdict(int)
    for name, words, real, tables in candidates(Elf(sys.argv[1]), Elf(sys.argv[2])):
        new, passed = predict(words, tables)
        exact = [w >> 105 for w in new] == [w >> 105 for w in real]
        count[passed, exact] += 1
        print('%-40s %s, %s' % (name, 'self-test passed' if passed else 'self-test failed', 'exact' if exact else 'differs'))
    print('%d functions; exact %d; self-test passed %d, of these exact %d' % (
        sum(count.values()), count[True, True] + count[False, True], count[True, True] + count[True, False],
        count[True, True]))


if __name__ == '__main__':
    main()
