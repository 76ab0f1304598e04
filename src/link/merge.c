/* Merging one object: functions, other symbols, section symbols (passes A, B, C).
 *
 * Everything appears in the output in the order in which these passes meet it.
 */
#include "link/state.h"

/* ---- skeleton ---- */

void cbi_link_skeleton(cbi_linker *lk)
{
    cbi_ctx *ctx = lk->ctx;
#define SECTION(name, type, flags, align, ent)                                                     \
    cbi_sec_create(lk, cbi_intern(ctx, name), (type), (flags), (align), (ent))
    lk->shstrtab = SECTION(".shstrtab", SHT_STRTAB, 0, 1, 0);
    lk->strtab = SECTION(".strtab", SHT_STRTAB, 0, 1, 0);
    lk->symtab = SECTION(".symtab", SHT_SYMTAB, 0, 8, 24);
    SECTION(".symtab_shndx", SHT_SYMTAB_SHNDX, 0, 4, 4);
    lk->tkinfo = SECTION(".note.nv.tkinfo", SHT_NOTE, SHF_CUDA_TKINFO, 4, 0);
    lk->cuinfo = SECTION(".note.nv.cuinfo", SHT_NOTE, SHF_CUDA_CUINFO, 4, 0);
    lk->info = SECTION(".nv.info", SHT_CUDA_INFO, 0, 4, 0);
    if (lk->sm90plus)
        lk->compat = SECTION(".nv.compat", SHT_CUDA_COMPAT, 0, 4, 0);
    if (lk->opt->has_nv_host) {
        lk->host = SECTION(".nv.host", SHT_CUDA_HOST, 0, 8, 0);
        cbi_sec_append(lk, lk->host, lk->opt->nv_host, lk->opt->nv_host.size, 8);
    }
    if (lk->opt->has_uidx)
        lk->uidx = SECTION(".nv.uidx", SHT_CUDA_UIDX, 0, 1, 0);
#undef SECTION
    lk->fixed_secs = lk->secs.len;
}

/* ---- sections ---- */

static bool is_shared(uint32_t type)
{
    return type == SHT_CUDA_SHARED;
}

static bool is_weak(const cbi_lsym *sym)
{
    return CBI_ST_BIND(sym->info) == STB_WEAK;
}

/* Does section i belong to a function copy of this object that lost or was pruned? */
bool cbi_belongs_to_lost(const cbi_lobj *obj, uint32_t i)
{
    const cbi_section *sec = &obj->object.sections[i];
    return (sec->flags & SHF_INFO_LINK) && sec->info < obj->object.section_count &&
           obj->sections[sec->info].lost;
}

/* The text that the section's sh_info names, or NULL.  For a copy that lost, the winner's. */
static cbi_osec *section_target(const cbi_lobj *obj, const cbi_section *sec)
{
    if (!(sec->flags & SHF_INFO_LINK) || sec->info >= obj->object.section_count)
        return NULL;
    if (!obj->sections[sec->info].lost)
        return obj->sections[sec->info].out;
    uint32_t index = obj->object.sections[sec->info].info & 0xffffff;
    const cbi_lsym *winner = index < obj->object.symbol_count ? obj->symbols[index] : NULL;
    return winner && winner->func ? winner->func->text : NULL;
}

/* Output section for an input data section; created when missing. */
static cbi_osec *open_section(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_section *in = &obj->object.sections[i];
    cbi_osec *target = section_target(obj, in);
    cbi_func *func = target ? target->func : NULL;
    cbi_osec *sec = NULL;
    if (func && in->type == SHT_CUDA_CONSTANT_B0)
        sec = func->constant0;
    else if (func && cbi_is_constant_type(in->type))
        sec = func->constant2;
    else if (func && is_shared(in->type))
        sec = func->shared;
    /* Entries of one name, static ones of several files, share their sections. */
    if (!sec && (!func || (func->entry && in->type == SHT_CUDA_CONSTANT_B0)))
        sec = cbi_sec_find(lk, cbi_intern(lk->ctx, in->name));
    if (sec) {
        if (func && in->type == SHT_CUDA_CONSTANT_B0)
            func->constant0 = sec;
        return sec;
    }
    const cbi_name *name = cbi_intern(lk->ctx, in->name);
    sec = cbi_sec_create_bare(lk, name, in->type, in->flags, is_shared(in->type) ? 0 : in->align,
                              in->entsize);
    sec->target = target;
    sec->func = func;
    if (func && in->type == SHT_CUDA_CONSTANT_B0) {
        func->constant0 = sec;
        /* The companion for texture tables: its symbol comes before the bank's own. */
        if (lk->exec && !lk->mercury) {
            cbi_osec *companion = cbi_sec_rel(lk, sec, lk->opt->force_rela);
            if (!lk->opt->force_rela)
                companion->flags = 0;
        }
    } else if (func && cbi_is_constant_type(in->type)) {
        func->constant2 = sec;
    } else if (func && is_shared(in->type)) {
        func->shared = sec;
    }
    cbi_sec_add_symbol(lk, sec);
    if (in->type == SHT_CUDA_GLOBAL)
        lk->global = sec;
    if (is_shared(in->type) && !func)
        lk->debug_shared = sec;
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

static uint64_t merge_constant_bank(cbi_linker *lk, cbi_osec *out, const cbi_section *in)
{
    uint64_t base = cbi_align_up(out->unshared_size, in->align);
    out->unshared_size = base + in->size;
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
    cbi_piece *kept = is_zero_scalar(in) ? NULL : cbi_map_get(&lk->constant_pieces, CBI_KEY(key));
    if (!kept) {
        kept = CBI_NEW(lk->ctx, cbi_piece);
        kept->offset = cbi_sec_append(lk, out, in->data, in->size, in->align);
        cbi_map_put(lk->ctx, &lk->constant_pieces, CBI_KEY(key), kept);
        lk->last_shared_constant = kept;
    }
    return base;
}

/* Merge a whole input section once; later calls return what happened then. */
cbi_secmap *cbi_merge_section(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    cbi_secmap *map = &obj->sections[i];
    if (map->out)
        return map;
    const cbi_section *in = &obj->object.sections[i];
    map->out = open_section(lk, obj, i);
    if (is_shared(in->type))
        return map; /* laid out variable by variable */
    if (in->type == SHT_CUDA_CONSTANT_B0 && map->out->contributed && map->out->func &&
        map->out->target == section_target(obj, in) && is_weak(map->out->func->sym))
        return map; /* the first copy stays */
    if (lk->merge_constants && cbi_is_user_constants(map->out))
        map->base = merge_constant_bank(lk, map->out, in);
    else
        map->base = cbi_sec_append(lk, map->out, in->data, in->size, in->align);
    return map;
}

/* ---- pass A: functions ---- */

static cbi_func *alias_owner(cbi_linker *lk, cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    if (in->shndx == SHN_UNDEF || in->shndx >= obj->object.section_count)
        return NULL;
    uint32_t owner = obj->object.sections[in->shndx].info & 0xffffff;
    (void)lk;
    if (owner == index || owner >= obj->object.symbol_count || !obj->symbols[owner])
        return NULL;
    return obj->symbols[owner]->func;
}

/* Take over the text of this object's copy. */
static void adopt_text(cbi_func *func, cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    const cbi_section *text = &obj->object.sections[in->shndx];
    func->obj = obj;
    func->in_sec = in->shndx;
    func->in_sym = index;
    if (func->sym->state == CBI_SYM_UNDEF)
        func->sym->named_obj = obj;
    func->sym->state = CBI_SYM_DEFINED;
    func->sym->def_obj = obj;
    func->sym->value = in->value;
    func->sym->size = in->size;
    func->sym->other = in->other;
    func->sym->info = in->info;
    func->sym->sec = func->text;
    func->text->pieces.len = 0;
    func->text->size = 0;
    func->text->info_top = text->info & 0xff000000u;
    func->text->flags = text->flags;
    func->text->align = text->align;
    func->text->contributed = true;
    obj->sections[in->shndx].out = func->text;
}

/* Entries of one name, static ones of several files, share this section. */
void cbi_open_shared(cbi_linker *lk, cbi_func *func)
{
    if (func->shared)
        return;
    const cbi_name *name = cbi_intern_printf(lk->ctx, ".nv.shared.%s", func->sym->name->s);
    func->shared = cbi_sec_find(lk, name);
    if (func->shared)
        return;
    func->shared =
        cbi_sec_create(lk, name, SHT_CUDA_SHARED, SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK, 0, 0);
    func->shared->target = func->text;
    func->shared->func = func;
}

/* '*' in an item matches any run; the item may stand anywhere in the name. */
bool cbi_item_matches(const char *item, const char *name)
{
    /* Greedy leftmost matching of the parts between stars. */
    const char *at = name;
    while (*item) {
        size_t len = strcspn(item, "*");
        const char *hit = len ? memmem(at, strlen(at), item, len) : at;
        if (!hit)
            return false;
        at = hit + len;
        item += len;
        if (*item == '*')
            item++;
    }
    return true;
}

static bool kernel_wanted(const cbi_linker *lk, const char *name)
{
    for (size_t i = 0; i < lk->opt->kernels_used_count; i++)
        if (cbi_item_matches(lk->opt->kernels_used[i], name))
            return true;
    return false;
}

/* Kernels that -kernels-used does not name are linked like device functions: they stay if their
 * address is taken. */
static bool is_entry(const cbi_linker *lk, const cbi_symbol *s)
{
    return (s->other & STO_CUDA_ENTRY) && (!lk->prune || kernel_wanted(lk, s->name));
}

static void define_function(cbi_linker *lk, cbi_lobj *obj, uint32_t index, cbi_func *func)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    const cbi_section *text = &obj->object.sections[in->shndx];
    func->alias_of = alias_owner(lk, obj, index);
    func->first_virtual_sm = obj->cuinfo.virtual_sm;
    if (func->alias_of) {
        func->sym->named_obj = obj;
        func->sym->state = CBI_SYM_DEFINED;
        func->sym->def_obj = obj;
        func->sym->sec = func->alias_of->text;
        func->sym->other = in->other;
        func->sym->info = in->info;
        func->obj = obj;
        func->in_sec = in->shndx;
        func->in_sym = index;
        return;
    }
    const cbi_name *name = cbi_intern(lk->ctx, text->name);
    func->entry = is_entry(lk, in);
    func->text = cbi_sec_create(lk, name, text->type, text->flags, text->align, text->entsize);
    func->text->func = func;
    func->text->owner = func->sym;
    adopt_text(func, obj, index);
    cbi_sec_append(lk, func->text, text->data, text->size, text->align);
    /* Also for unwanted kernels that another object mentioned before. */
    if (func->entry || (func->sym->first_obj != obj && (in->other & STO_CUDA_ENTRY))) {
        func->info =
            cbi_sec_create(lk, cbi_intern_printf(lk->ctx, ".nv.info.%s", func->sym->name->s),
                           SHT_CUDA_INFO, SHF_INFO_LINK, 4, 0);
        func->info->target = func->text;
        func->info->func = func;
        cbi_open_shared(lk, func);
    }
}

static void replace_function(cbi_linker *lk, cbi_func *func, cbi_lobj *obj, uint32_t index)
{
    const cbi_section *text = &obj->object.sections[obj->object.symbols[index].shndx];
    /* Entries that describe the old copies go only if a copy's text had relocations itself. */
    cbi_vec_push(lk->ctx, &func->replaced, ((cbi_copy){func->obj, func->in_sym}));
    if (func->text->rel || func->text->rela) {
        for (size_t i = 0; i < func->replaced.len; i++)
            func->replaced.items[i].obj->symbol_lost[func->replaced.items[i].sym] = CBI_REPLACED;
        func->replaced.len = 0;
    }
    /* Old relocations and records are told from new ones by the object they came from. */
    adopt_text(func, obj, index);
    cbi_sec_append(lk, func->text, text->data, text->size, text->align);
    cbi_osec *constants = func->constant2;
    if (!constants)
        return;
    constants->lost.len = 0;
    constants->pieces.len = 0;
    constants->size = 0;
    constants->used_size = 0;
    if (!constants->own_contents && !constants->emptied) {
        /* Only copies that lost had any: the new copy's come anew, and -r keeps the old name.
         * nvlink puts the constants of callees into the old section, beside the new one. */
        constants->contributed = false;
        constants->func = NULL;
        if (lk->exec)
            cbi_sec_kill(constants);
        constants->orphan = true;
        func->constant2 = NULL;
        if (lk->opt->exact && lk->exec)
            func->old_constants = constants;
        return;
    }
    constants->emptied = true;
    if (constants->own_contents)
        constants->emptied_by = obj;
    constants->own_contents = false;
}

static void lose_function(cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    obj->symbol_lost[index] = CBI_LOST;
    if (in->shndx != SHN_UNDEF && in->shndx < obj->object.section_count)
        obj->sections[in->shndx].lost = true;
}

static cbi_lsym *new_function(cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *s)
{
    uint8_t bind = CBI_ST_BIND(s->info);
    bool defined = s->shndx != SHN_UNDEF;
    bool local_list = bind == STB_LOCAL || (bind == STB_WEAK && defined);
    uint8_t info = s->info;
    if (!defined && bind == STB_WEAK)
        info = (uint8_t)(STB_GLOBAL << 4 | CBI_ST_TYPE(s->info));
    cbi_lsym *sym = cbi_sym_create(lk, cbi_intern(lk->ctx, s->name), info, s->other, local_list);
    sym->first_obj = obj;
    if (bind != STB_LOCAL)
        cbi_name_put(lk->ctx, &lk->sym_by_name, sym->name, sym);
    cbi_func *func = CBI_POOL_NEW(lk->ctx, &lk->func_pool, cbi_func);
    func->sym = sym;
    func->number = (uint32_t)lk->funcs.len;
    func->entry = is_entry(lk, s);
    sym->func = func;
    cbi_vec_push(lk->ctx, &lk->funcs, func);
    return sym;
}

static void pass_functions(cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        if (CBI_ST_TYPE(s->info) != STT_FUNC || (s->other & STO_CUDA_VISIBILITY) == STV_INTERNAL)
            continue;
        bool defined = s->shndx != SHN_UNDEF;
        cbi_lsym *sym;
        cbi_verdict verdict = cbi_resolve_function(lk, obj, i, &sym);
        if (verdict == CBI_NEW)
            sym = new_function(lk, obj, s);
        obj->symbols[i] = sym;
        if (verdict == CBI_LOSES)
            lose_function(obj, i);
        else if (!defined)
            continue;
        else if (sym->state == CBI_SYM_DEFINED)
            replace_function(lk, sym->func, obj, i);
        else
            define_function(lk, obj, i, sym->func);
    }
}

/* ---- pass B: other symbols ---- */

static void lose_bytes(cbi_linker *lk, cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *s = &obj->object.symbols[index];
    if (!obj->lost)
        obj->lost = CBI_NEW_ARRAY(lk->ctx, obj->object.symbol_count, cbi_lost);
    obj->lost[obj->lost_count++] = (cbi_lost){s->shndx, s->value, s->value + s->size};
}

static cbi_lsym *new_object_symbol(cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *s)
{
    uint8_t bind = CBI_ST_BIND(s->info);
    bool defined = s->shndx != SHN_UNDEF && s->shndx != SHN_COMMON;
    /* The dynamic variables of an earlier -r link hide from other files. */
    bool internal = (s->other & STO_CUDA_VISIBILITY) == STV_INTERNAL;
    bool local_list = bind == STB_LOCAL || (bind == STB_WEAK && defined) || internal;
    uint8_t info = s->info;
    if (!defined && bind == STB_WEAK && !internal)
        info = (uint8_t)(STB_GLOBAL << 4 | CBI_ST_TYPE(s->info));
    cbi_lsym *sym = cbi_sym_create(lk, cbi_intern(lk->ctx, s->name), info, s->other, local_list);
    sym->first_obj = obj;
    sym->size = s->size;
    sym->value = s->value;
    if (bind != STB_LOCAL)
        cbi_name_put(lk->ctx, &lk->sym_by_name, sym->name, sym);
    return sym;
}

static void define_object(cbi_lobj *obj, const cbi_symbol *s, cbi_lsym *sym, const cbi_secmap *map)
{
    const cbi_section *in = &obj->object.sections[s->shndx];
    bool uninitialised = !cbi_section_has_data(in->type);
    if (sym->common_pending && !uninitialised)
        sym->common_pending = false;
    if (sym->state == CBI_SYM_COMMON && !uninitialised)
        sym->named_obj = obj;
    sym->state = CBI_SYM_DEFINED;
    if (!sym->common_pending)
        sym->def_obj = obj;
    sym->info = s->info;
    sym->other = s->other;
    sym->size = s->size;
    sym->sec = map->out;
    sym->value = s->value + map->base;
    sym->initialised = !uninitialised;
}

/* A shared variable goes to its entry's own list or to the module-wide one. */
static void list_shared(cbi_linker *lk, cbi_lsym *sym, cbi_osec *sec)
{
    sym->listed++;
    if (sec->func)
        cbi_vec_push(lk->ctx, &sec->variables, sym);
    else
        cbi_vec_push(lk->ctx, &lk->shared, sym);
}

static cbi_osec *debug_shared(cbi_linker *lk)
{
    if (!lk->debug_shared)
        lk->debug_shared = cbi_sec_create(lk, cbi_intern(lk->ctx, ".nv_debug.shared"),
                                          SHT_CUDA_SHARED, SHF_ALLOC | SHF_WRITE, 1, 0);
    return lk->debug_shared;
}

static void merge_common(cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *s, cbi_lsym *sym)
{
    if (sym->state != CBI_SYM_COMMON) {
        if (sym->state == CBI_SYM_UNDEF)
            sym->info = s->info; /* one that was weak stays so, although it is replaced */
        sym->state = CBI_SYM_COMMON;
        sym->def_obj = obj;
        sym->named_obj = obj;
        sym->other = s->other;
        sym->size = s->size;
        sym->value = s->value;
        sym->common_pending = true;
        sym->common_align = s->value;
        cbi_vec_push(lk->ctx, &lk->commons, sym);
        return;
    }
    if (s->size > sym->size) {
        sym->size = s->size;
        sym->def_obj = obj;
        sym->named_obj = obj;
    }
    /* The first one's alignment stays. */
}

/* A number that the link fills in, see cbi_layout_constant_size. */
static void merge_constant_size(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    uint8_t info = (uint8_t)((s->info & 0xf0) | STT_CUDA_OBJECT);
    cbi_lsym *sym = cbi_sym_create(lk, cbi_intern(lk->ctx, s->name), info, s->other, true);
    sym->internal = true;
    sym->first_obj = obj;
    sym->def_obj = obj;
    sym->state = CBI_SYM_DEFINED;
    sym->size = s->size;
    obj->symbols[i] = sym;
    cbi_vec_push(lk->ctx, &lk->constant_sizes, sym);
}

/* Optimizer constants go by symbol: what a section has behind the last one, dead space of an
 * earlier -r link, is left out. */
static cbi_secmap *merge_optimizer(cbi_linker *lk, cbi_lobj *obj, const cbi_symbol *s)
{
    const cbi_section *in = &obj->object.sections[s->shndx];
    cbi_secmap *map = &obj->sections[s->shndx];
    if (!map->out) {
        map->out = open_section(lk, obj, s->shndx);
        map->base = cbi_sec_append(lk, map->out, (cbi_span){0}, 0, in->align);
    }
    /* An earlier -r link also leaves symbols of a replaced copy, which may end behind the section:
     * nvlink takes what follows in the file for their bytes. */
    uint64_t have = map->out->size - map->base;
    uint64_t end = s->value + s->size;
    if (end > have) {
        const cbi_span *file = &obj->object.bytes;
        uint64_t at = (uint64_t)(in->data.data - file->data) + have;
        cbi_span bytes = {0};
        if (in->data.size && at < file->size)
            bytes = (cbi_span){file->data + at,
                               end - have < file->size - at ? end - have : file->size - at};
        cbi_sec_append(lk, map->out, bytes, end - have, 1);
    }
    map->out->own_contents = true;
    map->out->used_size = map->out->size;
    return map;
}

static void merge_internal(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    if (CBI_ST_TYPE(s->info) == STT_NOTYPE && !s->name[0])
        return;
    if (s->shndx == SHN_UNDEF && strcmp(s->name, ".nv.ptx.const0.size") == 0) {
        merge_constant_size(lk, obj, i);
        return;
    }
    if (s->shndx == SHN_UNDEF || s->shndx >= obj->object.section_count)
        return;
    if (cbi_belongs_to_lost(obj, s->shndx)) {
        obj->symbol_lost[i] = CBI_LOST;
        /* -r and --preserve-relocs show the parameter symbol of every copy. */
        cbi_osec *text = section_target(obj, &obj->object.sections[s->shndx]);
        if ((lk->exec && !lk->opt->preserve_relocs) || !text || !text->func ||
            obj->object.sections[s->shndx].type != SHT_CUDA_CONSTANT_B0)
            return;
        cbi_secmap winner = {.out = text->func->constant0};
        if (!is_weak(text->func->sym))
            winner = *cbi_merge_section(lk, obj, s->shndx);
        cbi_lsym *sym = cbi_sym_create(lk, cbi_intern(lk->ctx, s->name), s->info, s->other, true);
        sym->internal = true;
        define_object(obj, s, sym, &winner);
        return;
    }
    cbi_secmap *map = cbi_is_optimizer_type(obj->object.sections[s->shndx].type)
                          ? merge_optimizer(lk, obj, s)
                          : cbi_merge_section(lk, obj, s->shndx);
    cbi_lsym *sym = cbi_sym_create(lk, cbi_intern(lk->ctx, s->name), s->info, s->other, true);
    sym->internal = true;
    sym->first_obj = obj;
    define_object(obj, s, sym, map);
    obj->symbols[i] = sym;
}

static void merge_defined(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    const cbi_section *in = &obj->object.sections[s->shndx];
    /* The shared variables of a copy that lost join the winner's; of an unwanted kernel only the
     * section's name remains. */
    if (is_shared(in->type) && cbi_belongs_to_lost(obj, s->shndx) && !section_target(obj, in)) {
        const cbi_name *name = cbi_intern(lk->ctx, in->name);
        if (!cbi_sec_find(lk, name))
            cbi_sec_create(lk, name, in->type, in->flags, 0, 0);
        obj->symbol_lost[i] = CBI_LOST;
        return;
    }
    cbi_lsym *sym;
    cbi_verdict verdict = cbi_resolve_object(lk, obj, i, &sym);
    obj->symbols[i] = sym;
    if (verdict == CBI_LOSES) {
        obj->symbol_lost[i] = CBI_LOST;
        if (sym && CBI_ST_BIND(sym->info) == STB_WEAK && CBI_ST_BIND(s->info) == STB_WEAK &&
            in->type == SHT_CUDA_GLOBAL_INIT)
            lose_bytes(lk, obj, i);
        return;
    }
    /* The section comes before its first object, so its symbol precedes the object's. */
    cbi_secmap *map = cbi_merge_section(lk, obj, s->shndx);
    if (!sym)
        sym = new_object_symbol(lk, obj, s);
    obj->symbols[i] = sym;
    if (is_weak(sym) && (s->other & STO_CUDA_SPACE) == STO_CUDA_GLOBAL)
        sym->replaced_at = obj->number;
    define_object(obj, s, sym, map);
    if (is_shared(in->type)) {
        sym->shared_align = s->value;
        /* Not the header's alignment: -r raises that for dynamic variables. */
        if (!map->out->func && s->size && s->value > map->out->align)
            map->out->align = s->value;
        sym->dynamic |= !map->out->func && s->size == 0;
        /* A replaced weak variable is laid out twice; its later place counts.  One first met as
         * dynamic is not laid out at all, but stands twice in the order of the others. */
        list_shared(lk, sym, map->out);
    }
}

static void merge_undefined(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    cbi_lsym *sym;
    cbi_verdict verdict = cbi_resolve_object(lk, obj, i, &sym);
    if (verdict == CBI_NEW) {
        bool shared = (s->other & STO_CUDA_SPACE) == STO_CUDA_SHARED;
        cbi_osec *section = shared && s->size == 0 ? debug_shared(lk) : NULL;
        sym = new_object_symbol(lk, obj, s);
        if (shared) {
            sym->dynamic = section != NULL;
            sym->shared_align = s->value;
            if (section)
                list_shared(lk, sym, section);
        } else if (cbi_is_image(sym)) {
            cbi_vec_push(lk->ctx, &lk->images, sym);
        }
    }
    obj->symbols[i] = sym;
}

static void pass_objects(cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        uint8_t type = CBI_ST_TYPE(s->info);
        if (type == STT_SECTION)
            continue;
        if ((s->other & STO_CUDA_VISIBILITY) == STV_INTERNAL &&
            !((s->other & STO_CUDA_SPACE) == STO_CUDA_SHARED)) {
            merge_internal(lk, obj, i);
            continue;
        }
        if (type == STT_FUNC)
            continue;
        if (s->shndx == SHN_UNDEF) {
            merge_undefined(lk, obj, i);
        } else if (s->shndx == SHN_COMMON) {
            cbi_lsym *sym;
            cbi_verdict verdict = cbi_resolve_object(lk, obj, i, &sym);
            if (verdict == CBI_NEW)
                sym = new_object_symbol(lk, obj, s);
            obj->symbols[i] = sym;
            if (verdict == CBI_NEW || verdict == CBI_WINS)
                merge_common(lk, obj, s, sym);
        } else if (s->shndx < in->section_count) {
            merge_defined(lk, obj, i);
        }
    }
}

/* ---- pass C: the remaining sections, in header order ---- */

static bool merged_elsewhere(const cbi_section *sec)
{
    return !cbi_section_has_data(sec->type) || sec->type == SHT_CUDA_CALLGRAPH ||
           sec->type == SHT_CUDA_PROTOTYPE || sec->type == SHT_NOTE || sec->type == SHT_CUDA_HOST;
}

/* Optimizer constants of a copy that lost stay as dead space; nvlink later writes their place to
 * the null symbol. */
static void keep_lost_constants(cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_secmap *map = cbi_merge_section(lk, obj, i);
    if (!map->out->func)
        return;
    map->out->used_size = map->out->size;
    cbi_vec_push(lk->ctx, &map->out->lost, ((cbi_range){map->base, obj->object.sections[i].size}));
}

static void pass_sections(cbi_linker *lk, cbi_lobj *obj)
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
        const cbi_osec *target = section_target(obj, sec);
        /* Of parameter banks only those of weak copies are shared. */
        bool bank = sec->type == SHT_CUDA_CONSTANT_B0 && target && target->func &&
                    !is_weak(target->func->sym);
        if (bank || !cbi_belongs_to_lost(obj, i))
            cbi_merge_section(lk, obj, i);
        else if (cbi_is_optimizer_type(sec->type) && section_target(obj, sec))
            keep_lost_constants(lk, obj, i);
    }
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        if (CBI_ST_TYPE(s->info) == STT_SECTION && s->shndx < in->section_count &&
            obj->sections[s->shndx].out)
            obj->symbols[i] = obj->sections[s->shndx].out->symbol;
    }
}

void cbi_link_merge(cbi_linker *lk, cbi_lobj *obj)
{
    size_t errors = lk->ctx->error_count;
    pass_functions(lk, obj);
    pass_objects(lk, obj);
    pass_sections(lk, obj);
    cbi_link_read_metadata(lk, obj);
    if (lk->ctx->error_count > errors)
        cbi_fatal(lk->ctx, "merge-failed", &(cbi_place){.file = obj->file}, NULL,
                  "merge_elf failed");
}
