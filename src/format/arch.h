/* GPU targets: names, variants, which input may be linked for which target. */
#ifndef CBI_ARCH_H
#define CBI_ARCH_H

#include "base/base.h"

/* What the variants of a number have in common. */
typedef struct cbi_chip {
    uint32_t sm;
    uint32_t shared_max; /* bytes of shared memory of a kernel: with --enable-extended-smem, and
                            for 'a' targets; CBI_SHARED_MAX otherwise */
    uint32_t reserved_shared; /* of these, taken by the system in every kernel that has any */
    uint32_t same_code[2];    /* chips whose machine code runs on it unchanged */
    uint32_t finalized_from;  /* the chip whose fatbin entries a finalizer turns into code for it */
    uint8_t fast_bit;         /* its bit in CAN_FASTPATH_FINALIZE (.nv.compat) */
    uint8_t fast_mask;        /* bits that code for it has unless an instruction forbids it */
    uint8_t special_cycles;   /* for which most special functions occupy their unit; from sm_100 */
    bool fence_reads;         /* a fence at an exit has a read scoreboard */
    bool quick;               /* results of CBI_OPF_QUICK instructions come a cycle sooner */
    bool quick_power;         /* powers of two are there after 14 cycles, and read sources sooner */
    bool other_pace;          /* code of finalized_from changes its pace (docs/code-rewriting.md) */
    bool runs_all;            /* code of finalized_from runs on it, whatever its mask says */
    bool late_alu;            /* results of the ALU, predicates too, reach it a cycle later */
    bool slow_doubles;  /* doubles come from a slow unit: ends of blocks wait for them at once */
    bool slow_integers; /* integers that become doubles do not count as there at once */
} cbi_chip;

enum { CBI_SHARED_MAX = 0xc000 };

extern const cbi_chip cbi_chips[];
extern const size_t cbi_chip_count;

/* The row of a number, or NULL. */
const cbi_chip *cbi_chip_find(uint32_t sm);
/* The chip for which a finalizer makes code from that of the number, or NULL. */
const cbi_chip *cbi_chip_made_from(uint32_t sm);

typedef struct cbi_arch {
    const char *name; /* "sm_100a" */
    uint32_t sm;      /* 100 */
    char suffix;      /* 'a', 'f' or 0 */
} cbi_arch;

/* The real targets of the toolkit, by number then suffix (none, a, f). */
extern const cbi_arch cbi_archs[];
extern const size_t cbi_arch_count;

/* The target named "sm_NN[af]", or NULL. */
const cbi_arch *cbi_arch_find(const char *name);

/* Where generations start.  Files name numbers that no row has, too. */
enum { CBI_SM_VOLTA = 70, CBI_SM_HOPPER = 90, CBI_SM_BLACKWELL = 100 };

/* Targets from sm_100 on are linked through their Mercury view. */
static inline bool cbi_sm_is_mercury(uint32_t sm)
{
    return sm >= CBI_SM_BLACKWELL;
}

/* Objects from sm_90 on say in .nv.compat where they may run. */
static inline bool cbi_sm_has_compat(uint32_t sm)
{
    return sm >= CBI_SM_HOPPER;
}

/* The first toolkits that knew sm_90 wrote objects that nvlink does not take any more. */
static inline bool cbi_sm_has_old_objects(uint32_t sm)
{
    return sm == CBI_SM_HOPPER;
}

/* nvlink drops .ptx files for targets below sm_90. */
static inline bool cbi_sm_takes_ptx_files(uint32_t sm)
{
    return sm >= CBI_SM_HOPPER;
}

/* It warns of --preserve-relocs from there on. */
static inline bool cbi_sm_preserves_in_part(uint32_t sm)
{
    return sm >= CBI_SM_HOPPER;
}

static inline bool cbi_arch_is_mercury(const cbi_arch *arch)
{
    return cbi_sm_is_mercury(arch->sm);
}

/* ---- which input may be linked for which target ---- */

/* The newest version of Mercury code that is known. */
enum { CBI_MERCURY_ISA_MAX = 0x101 };

/* What a device ELF says about where it may run: e_flags, and .nv.compat when it has one. */
typedef struct cbi_arch_facts {
    uint32_t sm;
    bool mercury;        /* e_flags name a Mercury view (kind & 3) */
    bool has_compat;     /* a .nv.compat section that could be parsed */
    bool specific;       /* tag 9: an 'a' object */
    uint8_t portability; /* tag 2 */
    uint8_t level;       /* tag 6: how far finalization may take it */
    uint16_t isa;        /* tag 7: Mercury ISA version */
} cbi_arch_facts;

/* e_flags has two layouts: OSABI 0x41, and the older one of every other OSABI.  These read both. */
/* The SM number. */
uint32_t cbi_file_sm(uint8_t osabi, uint32_t e_flags);
/* What the code is: bits EF_CUDA_KIND_*.  The older layout says only whether there are capsules. */
uint32_t cbi_file_kind(uint8_t osabi, uint32_t e_flags);

/* The facts from e_flags and the bytes of .nv.compat; compat NULL when there is no such section.
 * Unknown tags are skipped; a damaged stream counts as no section.  In files of the older layout
 * the section means nothing. */
cbi_arch_facts cbi_arch_read_facts(uint8_t osabi, uint32_t e_flags, const cbi_span *compat);

/* The number that now stands for an architecture which was renumbered; others as they are. */
uint32_t cbi_arch_renumbered(uint32_t sm);

/* True if nvlink's finalizer takes Mercury code of that number. */
bool cbi_arch_has_finalizer(uint32_t sm);

/* May this device ELF be linked for the target?  seen_mercury: an earlier input of the same link
 * had a Mercury view, which lets a plain one through as well. */
bool cbi_arch_accepts_cubin(const cbi_arch_facts *in, bool seen_mercury, const cbi_arch *target);

/* May a fatbin's ELF entry labelled sm and suffix be chosen?  portable: the entry is flagged as
 * finalizable and its copy of .nv.compat says that it is no 'a' object. */
bool cbi_arch_accepts_elf_entry(uint32_t sm, char suffix, bool portable, const cbi_arch *target);

/* May a PTX or LTO-IR entry be compiled for the target? */
bool cbi_arch_accepts_ptx_entry(uint32_t sm, char suffix, const cbi_arch *target);

#endif
