/* Creation of records: sections, symbols, attributes; what few of them have; contents. */
#include "format/eiattr.h"
#include "link/state.h"

bool cbi_is_constant_type(uint32_t type)
{
    return (type >= SHT_CUDA_CONSTANT_B0 &&
            type < SHT_CUDA_CONSTANT_B0 + SHT_CUDA_CONSTANT_BANKS) ||
           type == SHT_CUDA_MERC_CONSTANT_USER || type == SHT_CUDA_MERC_CONSTANT_OPT ||
           type == SHT_CUDA_MERC_CONSTANT_PIC;
}

bool cbi_is_address_bank(uint32_t type)
{
    return type == SHT_CUDA_CONSTANT_ADDRESSES || type == SHT_CUDA_MERC_CONSTANT_PIC;
}

bool cbi_is_user_constants(const cbi_osec *sec)
{
    return sec->type == SHT_CUDA_CONSTANT_USER || sec->type == SHT_CUDA_MERC_CONSTANT_USER;
}

bool cbi_is_optimizer_type(uint32_t type)
{
    return type == SHT_CUDA_CONSTANT_B0 + 2 || type == SHT_CUDA_MERC_CONSTANT_OPT;
}

cbi_osec *cbi_sec_find(const cbi_linker *lk, const cbi_name *name)
{
    return cbi_name_get(&lk->records->sec_by_name, name);
}

/* Most sections are code, attributes or relocations: who looks for others need not look at them. */
static void list_section(const cbi_linker *lk, cbi_osec *sec)
{
    cbi_vec_push(lk->ctx, &lk->records->secs, sec);
    switch (sec->type) {
    case SHT_PROGBITS:
        break;
    case SHT_CUDA_INFO:
        cbi_vec_push(lk->ctx, &lk->records->info_secs, sec);
        break;
    case SHT_REL:
    case SHT_RELA:
    case SHT_CUDA_RESOLVED_RELA:
        cbi_vec_push(lk->ctx, &lk->records->rel_secs, sec);
        break;
    default:
        cbi_vec_push(lk->ctx, &lk->records->few_secs, sec);
        lk->records->optimizer |= cbi_is_optimizer_type(sec->type);
        break;
    }
}

cbi_osec *cbi_sec_create_bare(const cbi_linker *lk, const cbi_name *name, uint32_t type,
                              uint64_t flags, uint64_t align, uint64_t entsize)
{
    cbi_osec *sec = CBI_POOL_NEW(lk->ctx, &lk->records->sec_pool, cbi_osec);
    sec->name = name;
    sec->type = type;
    sec->flags = flags;
    sec->align = align;
    sec->entsize = entsize;
    sec->number = (uint32_t)lk->records->secs.len;
    list_section(lk, sec);
    if (!cbi_sec_find(lk, name))
        cbi_name_put(lk->ctx, &lk->records->sec_by_name, name, sec);
    return sec;
}

void cbi_sec_add_symbol(const cbi_linker *lk, cbi_osec *sec)
{
    cbi_lsym *sym = cbi_sym_create(lk, sec->name, STT_SECTION, 0, true);
    sym->is_section = true;
    sym->state = CBI_SYM_DEFINED;
    sym->sec = sec;
    sec->symbol = sym;
}

cbi_osec *cbi_sec_create(const cbi_linker *lk, const cbi_name *name, uint32_t type, uint64_t flags,
                         uint64_t align, uint64_t entsize)
{
    cbi_osec *sec = cbi_sec_create_bare(lk, name, type, flags, align, entsize);
    cbi_sec_add_symbol(lk, sec);
    return sec;
}

uint64_t cbi_sec_append(const cbi_linker *lk, cbi_osec *sec, cbi_span bytes, uint64_t size,
                        uint64_t align)
{
    if (align > sec->align)
        sec->align = align;
    uint64_t base = cbi_align_up(sec->size, align);
    if (!cbi_fits(base, size, INT64_MAX))
        cbi_fatal(lk->ctx, "section-too-large", &(cbi_place){.section = sec->name->s}, NULL,
                  "Section '%s' is too large", sec->name->s);
    sec->size = base + size;
    sec->contributed = true;
    if (bytes.size) {
        cbi_list_first(lk->ctx, lk->lists, &sec->pieces, 1);
        cbi_vec_push(lk->ctx, &sec->pieces, ((cbi_piece){.bytes = bytes, .offset = base}));
    }
    return base;
}

/* ---- what few sections have ---- */

const cbi_constants cbi_no_constants;
const cbi_shared_section cbi_no_shared;

cbi_constants *cbi_constants_in(const cbi_linker *lk, cbi_osec *sec)
{
    if (!sec->constants)
        sec->constants = CBI_NEW(lk->ctx, cbi_constants);
    return sec->constants;
}

cbi_shared_section *cbi_shared_in(const cbi_linker *lk, cbi_osec *sec)
{
    if (!sec->shared)
        sec->shared = CBI_NEW(lk->ctx, cbi_shared_section);
    return sec->shared;
}

cbi_osec *cbi_resolved_of(const cbi_linker *lk, const cbi_osec *target)
{
    return cbi_map_get(&lk->records->resolved, CBI_KEY(target));
}

const cbi_variable *cbi_variable_of(const cbi_lsym *sym)
{
    static const cbi_variable none;
    return sym->variable ? sym->variable : &none;
}

cbi_variable *cbi_variable_in(const cbi_linker *lk, cbi_lsym *sym)
{
    if (!sym->variable)
        sym->variable = CBI_NEW(lk->ctx, cbi_variable);
    return sym->variable;
}

/* ---- contents ---- */

uint8_t *cbi_sec_copy(const cbi_linker *lk, const cbi_osec *sec)
{
    if (sec->bytes)
        return cbi_memdup(lk->ctx, sec->bytes, sec->size);
    uint8_t *bytes = cbi_alloc(lk->ctx, sec->size);
    for (size_t i = 0; i < sec->pieces.len; i++) {
        const cbi_piece *piece = &sec->pieces.items[i];
        if (piece->offset >= sec->size)
            continue;
        size_t room = sec->size - piece->offset;
        memcpy(bytes + piece->offset, piece->bytes.data,
               piece->bytes.size < room ? piece->bytes.size : room);
    }
    return bytes;
}

static void own_contents(const cbi_linker *lk, cbi_osec *sec)
{
    sec->bytes = cbi_sec_copy(lk, sec);
    sec->copied = true;
}

/* Can the pieces be written one after the other? */
static bool in_order(const cbi_osec *sec)
{
    uint64_t reached = 0;
    for (size_t i = 0; i < sec->pieces.len; i++) {
        const cbi_piece *piece = &sec->pieces.items[i];
        if (piece->offset < reached || piece->offset > sec->size ||
            piece->bytes.size > sec->size - piece->offset)
            return false;
        reached = piece->offset + piece->bytes.size;
    }
    return true;
}

void cbi_sec_settle(const cbi_linker *lk, cbi_osec *sec)
{
    if (sec->bytes || !cbi_section_has_data(sec->type))
        return;
    const cbi_piece *first = sec->pieces.len == 1 ? &sec->pieces.items[0] : NULL;
    if (first && first->offset == 0 && first->bytes.size >= sec->size) {
        sec->bytes = first->bytes.data;
        sec->copied = first->own;
    } else if (lk->mercury || !in_order(sec)) {
        own_contents(lk, sec); /* the second view reads all of them */
    }
}

const uint8_t *cbi_sec_bytes(const cbi_linker *lk, cbi_osec *sec)
{
    if (!sec->bytes)
        own_contents(lk, sec);
    return sec->bytes;
}

uint8_t *cbi_sec_writable(const cbi_linker *lk, cbi_osec *sec)
{
    if (!sec->copied)
        own_contents(lk, sec);
    return sec->writable;
}

cbi_osec *cbi_sec_rel(const cbi_linker *lk, cbi_osec *target, bool rela)
{
    return cbi_sec_rel_named(lk, target, rela, target->name->s);
}

cbi_osec *cbi_sec_rel_named(const cbi_linker *lk, cbi_osec *target, bool rela,
                            const char *target_name)
{
    cbi_osec **slot = rela ? &target->rela : &target->rel;
    if (!*slot) {
        const cbi_name *name = cbi_intern_join(lk->ctx, rela ? ".rela" : ".rel", target_name);
        *slot =
            cbi_sec_create(lk, name, rela ? SHT_RELA : SHT_REL, SHF_INFO_LINK, 8, rela ? 24 : 16);
        (*slot)->target = target;
        (*slot)->func = target->func;
        target->rela_first |= rela && !target->rel;
    }
    return *slot;
}

/* --preserve-relocs keeps what was resolved beside the first relocation section of the target.
 * Targets of the same name, static functions, share one. */
void cbi_sec_resolved(const cbi_linker *lk, cbi_osec *target)
{
    if (cbi_resolved_of(lk, target))
        return;
    const cbi_name *name = cbi_intern_join(lk->ctx, ".nv.resolvedrela", target->name->s);
    cbi_osec *sec = cbi_sec_find(lk, name);
    if (!sec) {
        sec = cbi_sec_create(lk, name, SHT_CUDA_RESOLVED_RELA, SHF_INFO_LINK, 8, 24);
        sec->target = target;
        sec->func = target->func;
    }
    cbi_map_put(lk->ctx, &lk->records->resolved, CBI_KEY(target), sec);
}

cbi_lsym *cbi_sym_create(const cbi_linker *lk, const cbi_name *name, uint8_t info, uint8_t other,
                         bool local_list)
{
    cbi_lsym *sym = CBI_POOL_NEW(lk->ctx, &lk->records->sym_pool, cbi_lsym);
    sym->name = name;
    sym->info = info;
    sym->other = other;
    sym->number = (uint32_t)(lk->records->locals.len + lk->records->globals.len);
    sym->in_local_list = local_list;
    if (local_list)
        cbi_vec_push(lk->ctx, &lk->records->locals, sym);
    else
        cbi_vec_push(lk->ctx, &lk->records->globals, sym);
    return sym;
}

cbi_lsym *cbi_sym_create_dynamic(const cbi_linker *lk, const char *name, uint64_t value)
{
    cbi_lsym *sym =
        cbi_sym_create(lk, cbi_intern(lk->ctx, name), CBI_ST_INFO(STB_WEAK, STT_CUDA_OBJECT),
                       STO_CUDA_SHARED | STV_INTERNAL, true);
    sym->value = value;
    sym->dynamic = true;
    return sym;
}

cbi_osec *cbi_rec_stream(const cbi_linker *lk, const cbi_rec *rec)
{
    return rec->func ? cbi_rec_func(lk, rec)->info : lk->records->info;
}

cbi_rec *cbi_rec_append(cbi_ctx *ctx, cbi_rec_list *list, const cbi_func *func, uint8_t format,
                        uint8_t code, uint16_t value)
{
    cbi_rec *rec = CBI_NEW(ctx, cbi_rec);
    rec->func = func ? func->number + 1 : 0;
    rec->format = format & 7;
    rec->code = code;
    rec->value = value;
    rec->has_symbols =
        format == CBI_ATTR_SIZED && cbi_eiattr_symbols(code) == CBI_SYMBOLS_EVERY_WORD;
    cbi_vec_push(ctx, list, rec);
    return rec;
}
