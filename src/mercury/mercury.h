/* What the parts of the post-link finalizer share. */
#ifndef CBI_MERCURY_H
#define CBI_MERCURY_H

#include "capsule/capsule.h"
#include "link/bytes.h"
#include "link/layout.h"
#include "link/patches.h"
#include "link/tables.h"
#include "mercury/view.h"

#include <stdlib.h>

/* A relocation that the link resolved, kept for the SASS side or the capsule. */
typedef struct cbi_mercury_fixup {
    cbi_lrel rel;
    uint64_t value; /* of the symbol, without addend */
    uint32_t bank;
} cbi_mercury_fixup;
typedef CBI_VEC(cbi_mercury_fixup) cbi_mercury_fixup_list;

/* Where a piece of an input section went on the SASS side. */
typedef struct cbi_mercury_move {
    uint64_t start, end; /* in the input's SASS section */
    uint64_t out;        /* in the output's SASS section */
    bool cie;            /* the part of frame descriptions that several could share */
} cbi_mercury_move;

typedef struct cbi_mercury_part {
    const cbi_lobj *obj;
    uint32_t section; /* of the view */
    uint64_t merc_base;
    uint64_t sass_base;
    CBI_VEC(cbi_mercury_move) moves; /* by start */
} cbi_mercury_part;

/* A debug section: its bytes on the SASS side. */
typedef struct cbi_mercury_debug {
    const cbi_osec *sec;
    CBI_VEC(cbi_mercury_part) parts; /* input order */
    cbi_buf sass;
    bool has_names;
    cbi_map names;  /* of registers: name -> the first function so called */
    cbi_map frames; /* .debug_frame: function -> its descriptions on the Mercury side */
} cbi_mercury_debug;

/* An instruction, or a run of them, in both forms. */
typedef struct cbi_mercury_place {
    uint64_t mercury, sass;
    uint64_t frame; /* sass, but for what was put behind the instruction before */
    uint64_t main;  /* of a run: the instruction that it is about */
    uint64_t own;   /* ... or what synchronizes the warp or the view of memory for it */
    bool made;      /* the finalizer makes it anew from its record */
    uint8_t klass;  /* of its record, or CBI_CLASS_NONE */
} cbi_mercury_place;
typedef CBI_VEC(cbi_mercury_place) cbi_mercury_places; /* in order; the last is the tail */

struct cbi_mercury_state {
    cbi_map names;      /* text -> number of its first symbol; empty until needed */
    bool exit_barriers; /* in front of exits: -g, or an input asks for them */
    /* Loops over functions write each its own slot. */
    const cbi_mercury_places **places; /* by function; NULL: nobody has asked */
    uint8_t **lent;    /* by function: whose row .nv_debug_line_sass tells of each instruction */
    cbi_buf *capsules; /* by function: that of code that was looked at and stays, or empty */
    const struct cbi_rewrite **rewrites; /* by function; NULL: its code stays */
    uint8_t **codes;                     /* by section: code that differs from the patches' */
    cbi_map fixups;                      /* osec -> cbi_mercury_fixup_list, order of application */
    CBI_VEC(cbi_mercury_debug *) debug;  /* order of sections */
    cbi_map debug_of;                    /* osec -> cbi_mercury_debug */
    cbi_buf *infos;                      /* by number of the section: attributes on the SASS side */
};

static inline bool cbi_is_text(const cbi_osec *sec)
{
    return (sec->flags & SHF_EXECINSTR) || sec->type == SHT_CUDA_UFT;
}

static inline bool cbi_is_debug(const cbi_osec *sec)
{
    return sec->type == SHT_PROGBITS && !(sec->flags & SHF_ALLOC);
}

/* ---- view.c ---- */
/* The SASS side of a relocation, `present` or not. */
const cbi_sass_reloc *cbi_sass_of(const cbi_lrel *rel);

/* ---- trace.c ---- */
/* A line of the trace of the run; nothing unless it was asked for. */
void cbi_mercury_trace(const cbi_linker *lk, const char *format, ...) CBI_PRINTF(2, 3);
/* What became of the functions. */
void cbi_mercury_trace_code(const cbi_linker *lk);
/* Whether an image can become one of the target, and from what that follows, as a line of text. */
const char *cbi_mercury_eligibility(cbi_ctx *ctx, const cbi_arch_facts *facts, uint32_t source,
                                    uint64_t mask, const cbi_arch *target, bool accepted);
/* The targets in the records of .nv.compat; `otherwise` if it does not say. */
uint64_t cbi_mercury_compat_mask(cbi_span compat, uint64_t otherwise);

/* ---- debug.c ---- */
/* Builds the SASS side of every debug section. */
void cbi_mercury_debug_build(const cbi_linker *lk);
/* Offset on the SASS side for a relocation of a debug section; false if the place is gone. */
bool cbi_mercury_debug_place(const cbi_mercury_debug *debug, const cbi_lrel *rel,
                             uint64_t *ret_offset);
/* Does it lie in the part of a frame description that several could share? */
bool cbi_mercury_is_in_cie(const cbi_mercury_debug *debug, const cbi_lrel *rel);
/* Where a place in the section that the relocation's symbol names, of its own object, went.  Line
 * programs change their lengths. */
uint64_t cbi_mercury_debug_target(const cbi_linker *lk, const cbi_lrel *rel, int64_t addend);
const cbi_mercury_debug *cbi_mercury_debug_of(const cbi_linker *lk, const cbi_osec *sec);

/* ---- frame.c ---- */
/* A description in two forms of .debug_frame. */
typedef struct cbi_frame_twin {
    uint64_t start, end, other_start;
} cbi_frame_twin;
typedef CBI_VEC(cbi_frame_twin) cbi_frame_twins; /* by place */
void cbi_mercury_frame_twins(cbi_ctx *ctx, cbi_span from, cbi_span to, cbi_frame_twins *ret_twins);
/* The place in the other form, within the same part of the same description; 0: there is none. */
uint64_t cbi_mercury_frame_twin(const cbi_frame_twins *twins, uint64_t place);

/* ---- info.c ---- */
/* Fills sass_info of every .nv.info.F; bank_symbols[function number] is the symbol index of its
 * .nv.constant0. */
void cbi_mercury_infos(const cbi_linker *lk, const uint32_t *bank_symbols);

/* ---- mask.c ---- */
/* What one function's code allows. */
uint64_t cbi_mercury_text_mask(uint32_t sm, const uint8_t *text, size_t size);
/* What the records of .nv.compat allow. */
uint64_t cbi_mercury_compat_chips(cbi_span compat);
/* Capability mask of everything in the output; compat: the merged records. */
uint64_t cbi_mercury_mask(const cbi_linker *lk, cbi_span compat);

/* The symbol that the finalizer knows a function by, which may be an alias: the first of its text
 * in the output. */
const cbi_lsym *cbi_mercury_name_of(const cbi_linker *lk, const cbi_func *func);

/* ---- places.c ---- */
/* Places in the text of an entry of its capsule. */
typedef struct cbi_mercury_run {
    uint64_t about; /* the instruction that a run is about */
    uint64_t own;   /* what synchronizes the warp or the view of memory for it, or itself */
    uint64_t end;   /* where frame descriptions see the next one start */
} cbi_mercury_run;
cbi_mercury_run cbi_mercury_run_of(cbi_span text, const cbi_capsule_entry *e);
/* The function's instructions in its input; NULL when their lengths are not all known. */
const cbi_mercury_places *cbi_mercury_places_of(const cbi_linker *lk, const cbi_func *func);
/* The same for a text of an object, empty when not known. */
cbi_mercury_places *cbi_mercury_places_in(const cbi_linker *lk, const cbi_mercury_view *view,
                                          uint32_t section);
/* The instruction that a Mercury offset lies in, or NULL. */
const cbi_mercury_place *cbi_mercury_place_of(const cbi_mercury_places *places, uint64_t mercury);
/* The instruction at a place, without the NOPs that pace what comes before: they have no Mercury
 * form, so their places are its own. */
const cbi_mercury_place *cbi_mercury_behind_pace(const cbi_mercury_places *places,
                                                 const cbi_mercury_place *place);
/* The instruction at a Mercury offset or first behind it; NULL for the tail. */
const cbi_mercury_place *cbi_mercury_place_from(const cbi_mercury_places *places, uint64_t mercury);
/* What starts at a Mercury offset, or NULL. */
const cbi_mercury_place *cbi_mercury_place_at(const cbi_mercury_places *places, uint64_t mercury);
/* What a 32-bit relocation at a Mercury offset patches in the function's code, and how; false when
 * the function's places are not known. */
bool cbi_mercury_patched_at(const cbi_linker *lk, const cbi_func *func, uint64_t mercury,
                            uint64_t *ret_offset, uint32_t *ret_type);

/* ---- targets.c ---- */
/* The chip's bit in capability masks, 0 for chips without one. */
uint64_t cbi_mercury_target_bit(uint32_t sm);
/* Reports that the function's code cannot be linked for the target. */
void cbi_mercury_refuse(const cbi_linker *lk, const cbi_func *func);

/* ---- text.c ---- */
/* Makes room for what is kept by function and by section, of which there will be no more. */
void cbi_mercury_open(const cbi_linker *lk);
const cbi_mercury_fixup_list *cbi_mercury_fixups_of(const cbi_linker *lk, const cbi_osec *sec);
/* The SASS code of a text: what the patches left, or a changed copy of it. */
const uint8_t *cbi_mercury_code(const cbi_linker *lk, const cbi_osec *text);
/* ... for changing. */
uint8_t *cbi_mercury_code_in(const cbi_linker *lk, const cbi_osec *text);
/* Makes code read its texture slots from behind the largest parameter bank. */
void cbi_mercury_place_images(const cbi_linker *lk);
/* Makes NOPs of YIELDs in a final link, if code comes from PTX whose threads go on together. */
void cbi_mercury_stop_yields(const cbi_linker *lk);
/* Appends what will do that in a later link to a list of relocations of the function's code. */
void cbi_mercury_keep_yields(const cbi_linker *lk, const cbi_func *f, cbi_buf *list);
/* The function's capsule as it goes into the output. */
cbi_buf cbi_mercury_capsule(const cbi_linker *lk, const cbi_func *func);

#endif
