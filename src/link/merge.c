/* Merging one object: functions (merge_functions.c), other symbols (merge_objects.c), sections
 * (here), then what describes them (metadata.c): passes A to D.
 *
 * Everything appears in the output in the order in which these passes meet it.
 */
#include "format/eicompat.h"
#include "link/merge_work.h"

/* ---- the lists ---- */

typedef struct room {
    size_t relocs, records;
} room;

static size_t count_records(cbi_span attributes)
{
    size_t pos = 0, count = 0;
    cbi_attr attr;
    while (cbi_attr_next(attributes, &pos, &attr))
        count++;
    return count;
}

/* What the relocation sections of an object have, and its .nv.info and .nv.info.F. */
static void add_room(const cbi_object *object, room *all)
{
    for (uint32_t i = 1; i < object->section_count; i++) {
        const cbi_section *sec = &object->sections[i];
        switch (sec->type) {
        case SHT_REL:
        case SHT_RELA:
            all->relocs += cbi_rela_count(sec);
            break;
        case SHT_CUDA_INFO:
            all->records += count_records(sec->data);
            break;
        default:
            break;
        }
    }
}

/* Of all inputs, where those so far have so many. */
static size_t of_all(const cbi_linker *lk, size_t count)
{
    const cbi_inputs *inputs = lk->inputs;
    if (inputs->read == inputs->bytes || !inputs->read)
        return count;
    return (size_t)((double)count * ((double)inputs->bytes / (double)inputs->read) * 1.03);
}

/* The lists have room for about all that the inputs have.  A second view has other sections than
 * the file, whose entries were counted when it was read. */
static void reserve(const cbi_linker *lk, cbi_merge_work *work)
{
    room all = {0};
    for (size_t i = 0; i < lk->inputs->objs.len; i++) {
        const cbi_object *object = &lk->inputs->objs.items[i]->object;
        if (lk->mercury) {
            add_room(object, &all);
        } else {
            all.relocs += object->reloc_entries;
            all.records += object->info_records;
        }
    }
    cbi_vec_reserve(lk->ctx, &work->symbols.rels, of_all(lk, all.relocs));
    cbi_vec_reserve(lk->ctx, &work->recs, of_all(lk, all.records));
}

/* About how many sections and global symbols there will be: lists that grow leave their old places
 * behind. */
static void expect(const cbi_linker *lk, cbi_merge_work *work)
{
    size_t sections = 0, globals = 0;
    for (size_t i = 0; i < lk->inputs->objs.len; i++) {
        const cbi_object *object = &lk->inputs->objs.items[i]->object;
        uint32_t locals = object->symtab ? object->sections[object->symtab].info : 0;
        sections += object->section_count;
        globals += object->symbol_count > locals ? object->symbol_count - locals : 0;
    }
    sections = of_all(lk, sections);
    globals = of_all(lk, globals);
    cbi_vec_reserve(lk->ctx, &lk->records->secs, sections);
    cbi_vec_reserve(lk->ctx, &lk->records->locals, sections);
    cbi_vec_reserve(lk->ctx, &lk->records->globals, globals);
    cbi_names_reserve(lk->ctx, sections + globals);
    cbi_name_table_reserve(lk->ctx, &lk->records->sec_by_name, sections + globals);
    cbi_name_table_reserve(lk->ctx, &work->sym_by_name, sections + globals);
}

const cbi_symbols *cbi_symbols_begin(const cbi_linker *lk, cbi_merge_work **ret_work)
{
    cbi_merge_work *work = *ret_work = CBI_NEW(lk->ctx, cbi_merge_work);
    cbi_vec_reserve(lk->ctx, &work->symbols.objs, lk->inputs->count);
    reserve(lk, work);
    expect(lk, work);
    return &work->symbols;
}

void cbi_link_merge_end(const cbi_linker *lk)
{
    cbi_name_table *names = &lk->merging->sym_by_name;
    if (names->items)
        cbi_large_free(lk->ctx, names->items);
    *names = (cbi_name_table){0};
}

void cbi_link_leave_out(const cbi_linker *lk, const cbi_lobj *obj)
{
    cbi_vec_push(lk->ctx, &lk->merging->symbols.unused, obj);
}

cbi_rec_table cbi_link_hand_over_records(const cbi_linker *lk)
{
    cbi_rec_table recs = lk->merging->recs;
    lk->merging->recs = (cbi_rec_table){0};
    return recs;
}

void cbi_link_merge_forget(const cbi_linker *lk)
{
    cbi_vec_free(lk->ctx, &lk->merging->symbols.rels);
}

/* ---- skeleton ---- */

void cbi_link_skeleton(const cbi_linker *lk)
{
    cbi_ctx *ctx = lk->ctx;
#define SECTION(name, type, flags, align, ent)                                                     \
    cbi_sec_create(lk, cbi_intern(ctx, name), (type), (flags), (align), (ent))
    lk->records->shstrtab = SECTION(".shstrtab", SHT_STRTAB, 0, 1, 0);
    lk->records->strtab = SECTION(".strtab", SHT_STRTAB, 0, 1, 0);
    lk->records->symtab = SECTION(".symtab", SHT_SYMTAB, 0, 8, 24);
    SECTION(".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 4, 4);
    lk->records->tkinfo = SECTION(".note.nv.tkinfo", SHT_NOTE, SHF_CUDA_TKINFO, 4, 0);
    lk->records->cuinfo = SECTION(".note.nv.cuinfo", SHT_NOTE, SHF_CUDA_CUINFO, 4, 0);
    lk->records->info = SECTION(".nv.info", SHT_CUDA_INFO, 0, 4, 0);
    if (cbi_sm_has_compat(lk->opt->arch->sm))
        lk->records->compat = SECTION(".nv.compat", SHT_CUDA_COMPAT, 0, 4, 0);
    if (lk->opt->has_nv_host) {
        lk->records->host = SECTION(".nv.host", SHT_CUDA_HOST, 0, 8, 0);
        cbi_sec_append(lk, lk->records->host, lk->opt->nv_host, lk->opt->nv_host.size, 8);
    }
#undef SECTION
    lk->records->fixed_secs = lk->records->secs.len;
}

/* ---- sections ---- */

/* Does section i belong to a function copy of this object that lost or was pruned? */
bool cbi_belongs_to_lost(const cbi_lobj *obj, uint32_t i)
{
    const cbi_section *sec = &obj->object.sections[i];
    return (sec->flags & SHF_INFO_LINK) && sec->info < obj->object.section_count &&
           obj->sections[sec->info].lost;
}

cbi_osec *cbi_section_target(const cbi_lobj *obj, const cbi_section *sec)
{
    if (!(sec->flags & SHF_INFO_LINK) || sec->info >= obj->object.section_count)
        return NULL;
    if (!obj->sections[sec->info].lost)
        return obj->sections[sec->info].out;
    uint32_t index = CUDA_TEXT_SYMBOL(obj->object.sections[sec->info].info);
    const cbi_lsym *winner = index < obj->object.symbol_count ? obj->symbols[index] : NULL;
    return winner && winner->func ? winner->func->text : NULL;
}

/* Where a function keeps its section of this type; NULL: it has none of its own. */
static cbi_osec **section_of_function(cbi_func *func, uint32_t type)
{
    if (type == SHT_CUDA_CONSTANT_B0)
        return &func->constant0;
    if (cbi_is_constant_type(type))
        return &func->constant2;
    return type == SHT_CUDA_SHARED ? &func->shared : NULL;
}

/* The companion of a bank of parameters for texture tables: its symbol comes before the bank's own.
 */
static void add_companion(const cbi_linker *lk, cbi_osec *bank)
{
    cbi_osec *companion = cbi_sec_rel(lk, bank, lk->opt->force_rela);
    companion->companion = true;
    if (!lk->opt->force_rela)
        companion->flags = 0;
}

/* The output's section for one of an object.  Of a function: the one that it has, or that a lost
 * copy had.  Others, and banks of parameters of entries, which static ones of several files share:
 * the one of the same name.  If there is none, a new one. */
cbi_osec *cbi_open_section(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_section *in = &obj->object.sections[i];
    cbi_osec *target = cbi_section_target(obj, in);
    cbi_func *func = target ? cbi_func_in(target->func) : NULL;
    const bool parameters = func && in->type == SHT_CUDA_CONSTANT_B0;
    cbi_osec **own = func ? section_of_function(func, in->type) : NULL;
    cbi_osec *sec = own ? *own : NULL;
    if (func && func->old_constants && cbi_is_optimizer_type(in->type) &&
        cbi_belongs_to_lost(obj, i)) {
        cbi_revive_constants(func);
        sec = func->old_constants;
    }
    const cbi_name *name = sec ? NULL : cbi_section_name(lk, obj, i);
    if (!sec && (!func || (func->entry && parameters)))
        sec = cbi_sec_find(lk, name);
    if (sec) {
        if (parameters)
            *own = sec;
        return sec;
    }
    sec = cbi_sec_create_bare(lk, name, in->type, in->flags, 0, in->entsize);
    sec->target = target;
    sec->func = func;
    if (own)
        *own = sec;
    if (parameters && lk->exec && !lk->mercury)
        add_companion(lk, sec);
    cbi_sec_add_symbol(lk, sec);
    if (in->type == SHT_CUDA_GLOBAL)
        lk->records->global = sec;
    if (in->type == SHT_CUDA_SHARED && !func)
        lk->records->debug_shared = sec;
    return sec;
}

/* While kernels are removed, the constant banks of objects with equal contents are stored once, if
 * their size is one of these.  Symbols and code are not told: they get the places of an unshared
 * layout.  nvlink also writes the place of the last such bank to the null symbol. */
static bool is_shareable_constant(const cbi_section *in)
{
    switch (in->size) {
    case 4:
    case 8:
        return in->align == in->size;
    case 12:
    case 16:
    case 20:
    case 24:
    case 32:
    case 48:
    case 64:
        return true;
    default:
        return false;
    }
}

/* A zero of 4 or 8 bytes equals none before it. */
static bool is_zero_scalar(const cbi_section *in)
{
    static const uint8_t zeros[8];
    return in->size <= sizeof zeros && memcmp(in->data.data, zeros, in->size) == 0;
}

static uint64_t merge_constant_bank(const cbi_linker *lk, cbi_osec *out, const cbi_section *in)
{
    cbi_constants *constants = cbi_constants_in(lk, out);
    uint64_t base = cbi_align_up(constants->unshared_size, in->align);
    constants->unshared_size = base + in->size;
    if (!is_shareable_constant(in) || in->data.size != in->size) {
        cbi_sec_append(lk, out, in->data, in->size, in->align);
        return base;
    }
    cbi_buf text = {0};
    cbi_buf_printf(lk->ctx, &text, "%s:%llu:", out->name->s, (unsigned long long)in->align);
    for (size_t i = 0; i < in->data.size; i++)
        cbi_buf_printf(lk->ctx, &text, "%02x", in->data.data[i]);
    cbi_buf_append(lk->ctx, &text, NULL, 1);
    const cbi_name *key = cbi_intern(lk->ctx, (const char *)text.items);
    cbi_piece *kept =
        is_zero_scalar(in) ? NULL : cbi_map_get(&lk->merging->constant_pieces, CBI_KEY(key));
    if (!kept) {
        kept = CBI_NEW(lk->ctx, cbi_piece);
        kept->offset = cbi_sec_append(lk, out, in->data, in->size, in->align);
        cbi_map_put(lk->ctx, &lk->merging->constant_pieces, CBI_KEY(key), kept);
        lk->merging->symbols.last_shared_constant = kept;
    }
    return base;
}

/* A weak kernel shares the parameter bank that the first kernel of its name brought, be that a
 * static one. */
static bool shares_bank(const cbi_linker *lk, const cbi_lobj *obj, const cbi_osec *bank,
                        const cbi_section *in)
{
    const cbi_osec *text = cbi_section_target(obj, in);
    if (!bank->contributed || !bank->func || !text || !text->func || !cbi_is_weak(text->func->sym))
        return false;
    const cbi_name *name = text->func->sym->name;
    if (text->func != bank->func && bank->pieces.len &&
        bank->pieces.items[0].bytes.size != in->size)
        cbi_error(lk->ctx, "parameter-bank-mismatch",
                  &(cbi_place){.file = obj->file, .symbol = name->s}, NULL,
                  "Duplicate weak parameter bank for '%s' is not the same size", name->s);
    return true;
}

/* Merge a whole input section once; later calls return what happened then. */
cbi_secmap *cbi_merge_section(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    cbi_secmap *map = &obj->sections[i];
    if (map->out)
        return map;
    const cbi_section *in = &obj->object.sections[i];
    map->out = cbi_open_section(lk, obj, i);
    if (in->type == SHT_CUDA_SHARED || in->type == SHT_CUDA_SHARED_RESERVED)
        return map; /* laid out variable by variable */
    if (in->type == SHT_CUDA_CONSTANT_B0 && shares_bank(lk, obj, map->out, in))
        return map; /* the first copy stays */
    if (lk->merge_constants && cbi_is_user_constants(map->out))
        map->base = merge_constant_bank(lk, map->out, in);
    else
        map->base = cbi_sec_append(lk, map->out, in->data, in->size, in->align);
    return map;
}

/* ---- pass C: the remaining sections, in header order ---- */

static bool merged_elsewhere(const cbi_section *sec)
{
    return !cbi_section_has_data(sec->type) || sec->type == SHT_CUDA_CALLGRAPH ||
           sec->type == SHT_CUDA_PROTOTYPE || sec->type == SHT_NOTE || sec->type == SHT_CUDA_HOST;
}

/* Optimizer constants of a copy that lost stay as dead space; nvlink later writes their place to
 * the null symbol. */
static void keep_lost_constants(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_secmap *map = cbi_merge_section(lk, obj, i);
    if (!map->out->func)
        return;
    cbi_constants *constants = cbi_constants_in(lk, map->out);
    constants->used_size = map->out->size;
    cbi_vec_push(lk->ctx, &constants->lost, ((cbi_range){map->base, obj->object.sections[i].size}));
}

static void pass_sections(const cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    bool *has_symbol = CBI_NEW_ARRAY(lk->ctx, in->section_count, bool);
    for (uint32_t i = 1; i < in->symbol_count; i++)
        if (CBI_ST_TYPE(in->symbols[i].info) == STT_SECTION &&
            in->symbols[i].shndx < in->section_count)
            has_symbol[in->symbols[i].shndx] = true;
    for (uint32_t i = 1; i < in->section_count; i++) {
        const cbi_section *sec = &in->sections[i];
        if (obj->sections[i].out || obj->sections[i].lost || merged_elsewhere(sec))
            continue;
        /* An empty .debug_frame has no symbol. */
        if (!has_symbol[i] && sec->type != SHT_PROGBITS)
            continue;
        const cbi_osec *target = cbi_section_target(obj, sec);
        /* Of parameter banks only those of weak copies are shared. */
        bool bank = sec->type == SHT_CUDA_CONSTANT_B0 && target && target->func &&
                    !cbi_is_weak(target->func->sym);
        if (bank || !cbi_belongs_to_lost(obj, i))
            cbi_merge_section(lk, obj, i);
        else if (cbi_is_optimizer_type(sec->type) && cbi_section_target(obj, sec))
            keep_lost_constants(lk, obj, i);
    }
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        if (CBI_ST_TYPE(s->info) == STT_SECTION && s->shndx < in->section_count &&
            obj->sections[s->shndx].out)
            obj->symbols[i] = obj->sections[s->shndx].out->symbol;
    }
}

/* An output of cubind or nvlink -r whose inputs did not say it. */
static void warn_of_isa_class(const cbi_linker *lk, const cbi_lobj *obj)
{
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(obj->compat, &pos, &attr))
        if (attr.code == EICOMPAT_ISA_CLASS)
            return;
    if (obj->has_compat && lk->records->compat)
        cbi_warning(lk->ctx, "missing-isa-class", &(cbi_place){.file = obj->file}, NULL,
                    "Output is limited to run on SM Arch '%u' only, due to missing attribute "
                    "'ISA_CLASS' in input file '%s'",
                    lk->opt->arch->sm, obj->file);
}

/* In a big link each search for a name misses the caches; these misses overlap. */
static void fetch_names(const cbi_linker *lk, const cbi_lobj *obj)
{
    for (uint32_t i = 1; i < obj->object.section_count; i++)
        cbi_name_fetch(lk->ctx, obj->sections[i].name_hash);
    for (uint32_t i = 1; i < obj->object.symbol_count; i++)
        cbi_name_fetch(lk->ctx, obj->object.symbols[i].name_hash);
}

void cbi_link_merge(const cbi_linker *lk, cbi_lobj *obj)
{
    size_t errors = lk->ctx->error_count, first_record = lk->merging->recs.len;
    obj->number = (uint32_t)lk->symbols->objs.len;
    cbi_vec_push(lk->ctx, &lk->merging->symbols.objs, obj);
    lk->merging->symbols.met.independent |= obj->cuinfo.virtual_sm >= CBI_SM_VOLTA;
    lk->merging->symbols.met.in_step |= obj->cuinfo.virtual_sm < CBI_SM_VOLTA;
    fetch_names(lk, obj);
    cbi_merge_functions(lk, obj);
    cbi_merge_objects(lk, obj);
    pass_sections(lk, obj);
    cbi_link_read_metadata(lk, obj);
    warn_of_isa_class(lk, obj);
    if (lk->ctx->error_count > errors && !lk->opt->forgives_merge_errors)
        cbi_fatal(lk->ctx, "merge-failed", &(cbi_place){.file = obj->file}, NULL,
                  "merge_elf failed");
    cbi_link_spend(lk, obj, first_record);
}
