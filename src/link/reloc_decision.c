/* What becomes of a relocation.  Whether it counts at all depends on which copies are linked; the
 * decision then follows from its type and from what is known of its symbol; the
 * table is also in docs/link-semantics.md, "Relocations". */
#include "link/layout.h"
#include "link/reloc_decision.h"

/* What is known of the symbol, the first that applies. */
typedef enum standing {
    NO_SYMBOL,
    GONE_FUNCTION, /* removed */
    GONE_SECTION,
    DEAD_CODE, /* a function whose section is removed, but not the symbol */
    FUNCTION,
    UNPLACED, /* an image or an undefined symbol, where the field is only cleared at most */
    DYNAMIC,  /* dynamic shared memory in a function with an instance of its own (-r) */
    SLOT,     /* an image whose slot is a number of the link's */
    KEPT,     /* only the driver or a later link knows the place */
    NO_ENTRY, /* placed, but in no symbol table of the output */
    PLACED,
    STANDINGS,
} standing;

enum { ACTIONS = CBI_RELOC_YIELD }; /* what a type of that action gets is another's */
#define DROP      CBI_OUTCOME_DROP
#define CLEAR     CBI_OUTCOME_CLEAR
#define PATCH     CBI_OUTCOME_PATCH
#define KEEP      CBI_OUTCOME_KEEP
#define BLANK     CBI_OUTCOME_BLANK
#define INSTANCE  CBI_OUTCOME_INSTANCE
#define DELETED   CBI_OUTCOME_DELETED
#define ELSEWHERE CBI_OUTCOME_ELSEWHERE

/* clang-format off */
static const uint8_t outcomes[STANDINGS][ACTIONS] = {
    /*                  DROP      PATCH     KEEP      UNIFIED   CLEAR     PCREL      PROG_REL  INVALID */
    [NO_SYMBOL]     = { DROP,     PATCH,    KEEP,     KEEP,     DROP,     ELSEWHERE, KEEP,     PATCH },
    [GONE_FUNCTION] = { DROP,     DROP,     DROP,     DROP,     CLEAR,    DROP,      DROP,     DROP },
    [GONE_SECTION]  = { DROP,     DROP,     DROP,     DROP,     DROP,     DROP,      DROP,     DROP },
    [DEAD_CODE]     = { DELETED,  DELETED,  DELETED,  DELETED,  DELETED,  DELETED,   DELETED,  DELETED },
    [FUNCTION]      = { KEEP,     KEEP,     KEEP,     KEEP,     DROP,     KEEP,      KEEP,     KEEP },
    [UNPLACED]      = { BLANK,    BLANK,    BLANK,    BLANK,    BLANK,    BLANK,     BLANK,    BLANK },
    [DYNAMIC]       = { INSTANCE, INSTANCE, INSTANCE, INSTANCE, INSTANCE, INSTANCE,  INSTANCE, INSTANCE },
    [SLOT]          = { DROP,     PATCH,    KEEP,     KEEP,     DROP,     ELSEWHERE, KEEP,     PATCH },
    [KEPT]          = { KEEP,     KEEP,     KEEP,     KEEP,     KEEP,     KEEP,      KEEP,     KEEP },
    [NO_ENTRY]      = { DROP,     PATCH,    DELETED,  DELETED,  CLEAR,    ELSEWHERE, DELETED,  PATCH },
    [PLACED]        = { DROP,     PATCH,    KEEP,     KEEP,     DROP,     ELSEWHERE, KEEP,     PATCH },
};
/* clang-format on */

static bool is_func(const cbi_lsym *sym)
{
    return CBI_ST_TYPE(sym->info) == STT_FUNC;
}

bool cbi_keeps_symbol(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (is_func(sym) || cbi_is_image(sym))
        return true;
    if (!lk->exec && !sym->is_section && CBI_ST_BIND(sym->info) == STB_WEAK)
        return true;
    const cbi_placement place = cbi_placement_of(lk, sym);
    if (place.state == CBI_SYM_UNDEF) {
        uint8_t space = sym->other & STO_CUDA_SPACE;
        return space != STO_CUDA_CONSTANT && space != STO_CUDA_SHARED;
    }
    if (place.state == CBI_SYM_COMMON)
        return true;
    return place.sec &&
           (place.sec->type == SHT_CUDA_GLOBAL || place.sec->type == SHT_CUDA_GLOBAL_INIT);
}

/* Will the symbol be missing from the output's table? */
static bool leaves_no_entry(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (!lk->exec)
        return false;
    return sym->internal || (cbi_is_shared_var(sym) && !lk->shows_debug);
}

/* Is the image's slot, or with objects without Mercury its place, a number that the link knows? */
static bool has_slot(const cbi_linker *lk, const cbi_reloc_type *type, const cbi_lsym *sym)
{
    if (!cbi_is_image(sym))
        return false;
    if (lk->exec && cbi_placement_of(lk, sym).has_slot && type->texture_slot)
        return true;
    return (lk->exec || !lk->mercury) && type->action == CBI_RELOC_PATCH &&
           (type->texture_slot || type->klass == CBI_RELOC_CLASS_LINKER);
}

static standing of_symbol(const cbi_linker *lk, const cbi_reloc_type *type, const cbi_lrel *r)
{
    const cbi_lsym *sym = r->sym;
    const cbi_func *user = r->target->func;
    if (!sym)
        return NO_SYMBOL;
    const bool removed = cbi_is_removed(lk, sym);
    if (removed && is_func(sym))
        return GONE_FUNCTION;
    if (removed && sym->is_section)
        return GONE_SECTION;
    if (is_func(sym)) /* local ones are noticed only when the symbol table is written */
        return !sym->in_local_list && sym->sec && cbi_is_dead(lk, sym->sec) ? DEAD_CODE : FUNCTION;
    if (type->action == CBI_RELOC_CLEAR_UNUSED && (cbi_is_image(sym) || cbi_is_undefined(lk, sym)))
        return UNPLACED;
    if (!lk->exec && cbi_is_shared_var(sym) && sym->size == 0 && user &&
        cbi_func_layout_of(lk, user)->instance)
        return DYNAMIC;
    if (has_slot(lk, type, sym))
        return SLOT;
    if (cbi_keeps_symbol(lk, sym))
        return KEPT;
    return leaves_no_entry(lk, sym) ? NO_ENTRY : PLACED;
}

cbi_reloc_outcome cbi_reloc_decide(const cbi_linker *lk, const cbi_reloc_type *type,
                                   const cbi_lrel *r)
{
    cbi_reloc_action action = type->action;
    if (action == CBI_RELOC_YIELD)
        action = lk->symbols->met.independent ? CBI_RELOC_DROP : CBI_RELOC_PATCH;
    return outcomes[of_symbol(lk, type, r)][action];
}

/* ---- which ones count ---- */

bool cbi_reloc_in_replaced_code(const cbi_lrel *r)
{
    const cbi_func *owner = r->target->func;
    return r->obj && owner && r->target == owner->text && owner->obj != r->obj;
}

bool cbi_reloc_is_forgotten(const cbi_linker *lk, const cbi_lrel *r)
{
    return lk->quirks.pointers_forgotten && r->obj && r->sym && r->sym->variable &&
           r->obj->number < r->sym->variable->replaced_at &&
           (cbi_is_user_constants(r->target) || cbi_is_address_bank(r->target->type));
}

/* Is the entry about a copy of a function that was replaced later? */
static bool from_replaced_copy(const cbi_linker *lk, const cbi_lrel *r)
{
    if (cbi_reloc_in_replaced_code(r))
        return true;
    const cbi_lsym *sym = r->sym;
    if (!lk->symbols->met.replaced || !r->obj || !(r->is_rela || r->target->rela_first) || !sym ||
        !sym->func || r->obj->symbol_lost[r->in_sym] != CBI_REPLACED)
        return false;
    const char *name = r->target->name->s;
    return strcmp(name, ".debug_line") == 0 || strcmp(name, ".nv_debug_line_sass") == 0 ||
           strcmp(name, ".debug_frame") == 0;
}

bool cbi_reloc_is_outdated(const cbi_linker *lk, const cbi_lrel *r)
{
    return (!lk->exec && cbi_constants_of(r->target)->orphan) || from_replaced_copy(lk, r) ||
           cbi_reloc_is_forgotten(lk, r);
}
