"""Modules whose PTX was made for a chip that no toolkit compiles for any more: numba, Julia and old fatbins
have such.  What the link does may depend on it: threads of a warp were not independent before sm_70."""
import random
import re

import toolchain

TARGETS = ["30", "50", "52", "60", "61", "70", "72"]


def lower(tools, program, seed):
    """Changes the target of about half of a program's modules, where they can still be compiled."""
    rng = random.Random("older/" + seed)
    for m in program.modules:
        target = rng.choice(TARGETS)
        if m.language == "cu" or rng.random() < 0.4:
            continue
        before = m.header
        m.header = re.sub(r"\.target sm_\w+", ".target sm_" + target, before)
        try:
            tools.assemble(m.text(), m.arch, m.flags)
        except toolchain.ToolError:
            m.header = before
