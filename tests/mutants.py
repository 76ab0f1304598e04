"""What mutate.py changes on purpose, and what it cannot tell apart."""

# Rules: name, file, text that is there once, what comes instead.
RULES = [
    ("of weak copies the one with fewer registers wins", "src/link/resolve.c",
     "return new_regs < old_regs;", "return new_regs > old_regs;"),
    ("then the one for the newer PTX target", "src/link/resolve.c",
     "virtual_sm > held->first_virtual_sm", "virtual_sm < held->first_virtual_sm"),
    ("a weak variable gives way to a global one", "src/link/resolve.c",
     "return new_weak || sym->func ? CBI_LOSES : CBI_WINS;", "return CBI_LOSES;"),
    ("an undefined variable without size fits every size", "src/link/resolve.c",
     "!both_common && sym->size && (", "!both_common && ("),
    ("the list sort deals alternately", "src/link/list_sort.c", "i % 2 == 0", "i % 2 != 0"),
    ("of equal elements the first stays in front", "src/link/list_sort.c",
     "keep(a[i], b[j])", "!keep(b[j], a[i])"),
    ("a variable that one entry reaches lies with that entry's own", "src/link/layout_shared.c",
     "if (entries.len == 1) {", "if (entries.len == 2) {"),
    ("a group shares no entry with another", "src/link/layout_shared.c",
     "return false;\n    return true;\n}\n\nstatic void join_group",
     "return true;\n    return true;\n}\n\nstatic void join_group"),
    ("48 KB of shared memory", "src/link/layout_shared.c", "max = 0xc000;", "max = 0xc001;"),
    ("dynamic variables start at 16 bytes", "src/link/layout_shared.c",
     "DYNAMIC_ALIGN = 16", "DYNAMIC_ALIGN = 8"),
    ("sm_90 reserves 0x400 bytes of shared memory", "src/link/layout_shared.c",
     "RESERVED_BYTES = 0x400", "RESERVED_BYTES = 0x200"),
    ("registers are the maximum below", "src/link/propagate.c",
     "next->regs > node->regs ? next->regs", "next->regs < node->regs ? next->regs"),
    ("stack is the largest sum of a path", "src/link/propagate.c",
     "node->stack = stack + (", "node->stack = 0 * stack + ("),
    ("relocations that keep a function alive", "src/link/graph.c",
     "(type >= 47 && type <= 49)", "(type >= 47 && type <= 48)"),
    ("the bank of an undefined symbol", "src/link/relocate.c", "v.bank = 0x1c;", "v.bank = 0x1b;"),
    ("a slice of an address adds the old byte first", "src/link/relocate.c",
     "value = (value + olds[i]) >> f->shift;", "value = (value >> f->shift) + olds[i];"),
    ("optimizer constants lie at one offset in all banks", "src/link/layout_data.c",
     "off = bank->size > off ? bank->size : off;", "off = bank->size;"),
    ("of two texts sm_103 cannot take the first", "src/mercury/mask.c",
     "return MASK_100;", "return MASK_100 | MASK_103;"),
    ("latency of reads", "src/mercury/scoreboard_code.c",
     "op == 0x388 || op == 0x988             ? 9", "op == 0x388 || op == 0x988             ? 14"),
    ("numbers of scoreboards", "src/mercury/scoreboard_code.h",
     "CBI_SB_NUMBERS = 6", "CBI_SB_NUMBERS = 5"),
]

# Changes that no test can notice: file, a part of the line, what is there, what comes instead, why.
EQUIVALENT = [
]
