/* Merging one object, pass A: functions. */
#include "format/driver.h"
#include "link/merge_work.h"

static cbi_func *alias_owner(const cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    if (in->shndx == SHN_UNDEF || in->shndx >= obj->object.section_count)
        return NULL;
    uint32_t owner = CUDA_TEXT_SYMBOL(obj->object.sections[in->shndx].info);
    if (owner == index || owner >= obj->object.symbol_count || !obj->symbols[owner])
        return NULL;
    return obj->symbols[owner]->func;
}

/* Take over the text of this object's copy. */
static void adopt_text(cbi_met *met, cbi_func *func, cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    const cbi_section *text = &obj->object.sections[in->shndx];
    func->obj = obj;
    func->in_sec = in->shndx;
    func->in_sym = index;
    if (func->sym->state == CBI_SYM_UNDEF)
        func->sym->named_obj = cbi_obj_id(obj);
    func->sym->state = CBI_SYM_DEFINED;
    func->sym->def_obj = cbi_obj_id(obj);
    func->sym->value = in->value;
    func->sym->size = in->size;
    func->sym->other = in->other;
    func->sym->info = in->info;
    func->sym->sec = func->text;
    func->text->pieces.len = 0;
    func->text->size = 0;
    func->text->info_registers = (uint8_t)(CUDA_TEXT_REGISTERS(text->info));
    func->text->flags = text->flags;
    met->barriers = met->barriers || SHF_CUDA_BARRIERS(text->flags);
    func->text->align = text->align;
    func->text->contributed = true;
    obj->sections[in->shndx].out = func->text;
}

/* Entries of one name, static ones of several files, share this section. */
cbi_osec *cbi_open_shared(const cbi_linker *lk, const cbi_func *func)
{
    const cbi_name *name = cbi_intern_join(lk->ctx, ".nv.shared.", func->sym->name->s);
    cbi_osec *sec = cbi_sec_find(lk, name);
    if (sec)
        return sec;
    sec = cbi_sec_create(lk, name, SHT_CUDA_SHARED, SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK, 0, 0);
    sec->target = func->text;
    sec->func = func;
    return sec;
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

bool cbi_items_match(const char *const *items, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (cbi_item_matches(items[i], name))
            return true;
    return false;
}

/* Kernels that -kernels-used does not name are linked like device functions: they stay if their
 * address is taken. */
static bool is_entry(const cbi_linker *lk, const cbi_symbol *s)
{
    return (s->other & STO_CUDA_ENTRY) &&
           (!lk->prune ||
            cbi_items_match(lk->opt->kernels_used, lk->opt->kernels_used_count, s->name));
}

static void define_function(const cbi_linker *lk, cbi_lobj *obj, uint32_t index, cbi_func *func)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    const cbi_section *text = &obj->object.sections[in->shndx];
    func->alias_of = alias_owner(obj, index);
    func->first_virtual_sm = obj->cuinfo.virtual_sm;
    if (func->alias_of) {
        lk->merging->symbols.met.aliases = true;
        func->sym->named_obj = cbi_obj_id(obj);
        func->sym->state = CBI_SYM_DEFINED;
        func->sym->def_obj = cbi_obj_id(obj);
        func->sym->sec = func->alias_of->text;
        func->sym->value = in->value;
        func->sym->size = in->size;
        func->sym->other = in->other;
        func->sym->info = in->info;
        func->obj = obj;
        func->in_sec = in->shndx;
        func->in_sym = index;
        return;
    }
    const cbi_name *name = cbi_section_name(lk, obj, in->shndx);
    func->entry = is_entry(lk, in);
    func->text = cbi_sec_create(lk, name, text->type, text->flags, text->align, text->entsize);
    func->text->func = func;
    func->text->code = true;
    adopt_text(&lk->merging->symbols.met, func, obj, index);
    cbi_sec_append(lk, func->text, text->data, text->size, text->align);
    func->for_driver = cbi_driver_supplies(in->name);
    lk->merging->symbols.met.for_driver |= func->for_driver;
    /* Also for unwanted kernels that another object mentioned before. */
    if (func->entry || func->for_driver ||
        (func->sym->first_obj != cbi_obj_id(obj) && (in->other & STO_CUDA_ENTRY))) {
        func->info = cbi_sec_create(lk, cbi_intern_join(lk->ctx, ".nv.info.", func->sym->name->s),
                                    SHT_CUDA_INFO, SHF_INFO_LINK, 4, 0);
        func->info->target = func->text;
        func->info->func = func;
        if (!func->shared)
            func->shared = cbi_open_shared(lk, func);
    }
}

/* With its relocations; what --preserve-relocs records keeps its name. */
static void mark_dead(cbi_osec *sec, bool dead)
{
    cbi_osec *all[] = {sec, sec->rel, sec->rela};
    for (size_t i = 0; i < CBI_COUNT(all); i++)
        if (all[i])
            all[i]->dead = dead;
}

/* Optimizer constants of the copies so far.  Where only copies that lost had any, the new copy's
 * come anew, and -r keeps the old section's name.  nvlink finds the old section by its name all the
 * same: it takes the constants of callees and of copies that lose from now on, and is the one that
 * further replacements empty, while the new one is written again from its start. */
static void empty_constants(const cbi_linker *lk, cbi_func *func, const cbi_lobj *obj)
{
    cbi_osec *sec = func->old_constants ? func->old_constants : func->constant2;
    if (!sec)
        return;
    cbi_constants *constants = cbi_constants_in(lk, sec);
    constants->lost.len = 0;
    constants->covered.len = 0;
    sec->pieces.len = 0;
    sec->size = 0;
    constants->used_size = 0;
    if (sec == func->constant2 && (constants->own_contents || constants->emptied)) {
        constants->emptied = true;
        if (constants->own_contents)
            constants->emptied_by = obj;
        constants->own_contents = false;
        return;
    }
    sec->contributed = false;
    sec->func = NULL;
    if (lk->exec) {
        mark_dead(sec, true);
        lk->merging->symbols.met.dead = true;
    }
    constants->orphan = true;
    if (sec == func->constant2)
        func->constant2 = NULL;
    else if (func->constant2)
        cbi_constants_in(lk, func->constant2)->kept_contents = true;
    if (lk->quirks.replaced_constants_found)
        func->old_constants = sec;
}

void cbi_revive_constants(cbi_func *func)
{
    cbi_osec *sec = func->old_constants;
    mark_dead(sec, false);
    sec->constants->orphan = false;
    sec->func = func;
}

static void replace_function(const cbi_linker *lk, cbi_func *func, cbi_lobj *obj, uint32_t index)
{
    const cbi_section *text = &obj->object.sections[obj->object.symbols[index].shndx];
    lk->merging->symbols.met.copies = true;
    /* Entries that describe the old copies go only if a copy's text had relocations itself. */
    cbi_vec_push(lk->ctx, &func->replaced, ((cbi_copy){func->obj, func->in_sym}));
    if (func->text->rel || func->text->rela) {
        for (size_t i = 0; i < func->replaced.len; i++)
            func->replaced.items[i].obj->symbol_lost[func->replaced.items[i].sym] = CBI_REPLACED;
        lk->merging->symbols.met.replaced = true;
        func->replaced.len = 0;
    }
    /* nvlink's view of -r for sm_100 and later lacks the section; cubind has the code there. */
    bool alias =
        lk->quirks.aliases_emptied && alias_owner(obj, index) && (lk->exec || !lk->mercury);
    /* Old relocations and records are told from new ones by the object they came from. */
    adopt_text(&lk->merging->symbols.met, func, obj, index);
    if (alias)
        obj->sections[obj->object.symbols[index].shndx].lost = true;
    else
        cbi_sec_append(lk, func->text, text->data, text->size, text->align);
    empty_constants(lk, func, obj);
}

/* An alias has no text of its own that could be replaced, and no compiler makes weak ones. */
static void refuse_weak_alias(const cbi_linker *lk, const cbi_lobj *obj, const cbi_lsym *sym)
{
    cbi_fatal(lk->ctx, "weak-alias", &(cbi_place){.file = obj->file, .symbol = sym->name->s},
              "make the alias global, or leave out one of the two",
              "Weak alias '%s' in '%s' is defined again in '%s'", sym->name->s,
              cbi_obj_file(lk, sym->named_obj), obj->file);
}

static void lose_function(cbi_lobj *obj, uint32_t index)
{
    const cbi_symbol *in = &obj->object.symbols[index];
    obj->symbol_lost[index] = CBI_LOST;
    if (in->shndx != SHN_UNDEF && in->shndx < obj->object.section_count)
        obj->sections[in->shndx].lost = true;
}

static cbi_lsym *new_function(const cbi_linker *lk, const cbi_lobj *obj, const cbi_symbol *s,
                              const cbi_name *name)
{
    uint8_t bind = CBI_ST_BIND(s->info);
    cbi_lsym *sym = cbi_sym_create(lk, name, s->info, s->other, bind != STB_GLOBAL);
    sym->first_obj = cbi_obj_id(obj);
    if (bind != STB_LOCAL)
        cbi_name_put(lk->ctx, &lk->merging->sym_by_name, name, sym);
    cbi_func *func = CBI_POOL_NEW(lk->ctx, &lk->merging->func_pool, cbi_func);
    func->sym = sym;
    func->number = (uint32_t)lk->symbols->funcs.len;
    func->entry = is_entry(lk, s);
    sym->func = func;
    cbi_vec_push(lk->ctx, &lk->merging->symbols.funcs, func);
    return sym;
}

static void merge_function(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_symbol *s = &obj->object.symbols[i];
    if (obj->symbols[i] || CBI_ST_TYPE(s->info) != STT_FUNC || CUDA_IS_INTERNAL(s->other))
        return;
    bool defined = s->shndx != SHN_UNDEF;
    cbi_lsym *sym;
    const cbi_name *name = cbi_symbol_name(lk, s);
    cbi_verdict verdict = cbi_resolve_function(lk, obj, i, name, &sym);
    if (verdict == CBI_NEW)
        sym = new_function(lk, obj, s, name);
    obj->symbols[i] = sym;
    if (verdict == CBI_LOSES)
        lose_function(obj, i);
    else if (!defined)
        return;
    else if (sym->state == CBI_SYM_DEFINED && sym->func->alias_of)
        refuse_weak_alias(lk, obj, sym);
    else if (sym->state == CBI_SYM_DEFINED)
        replace_function(lk, sym->func, obj, i);
    else
        define_function(lk, obj, i, sym->func);
}

void cbi_merge_functions(const cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        if (CBI_ST_TYPE(s->info) != STT_FUNC)
            continue;
        if (s->shndx != SHN_UNDEF && s->shndx < in->section_count) {
            /* What a kernel contains comes behind it. */
            uint32_t owner = CUDA_TEXT_SYMBOL(in->sections[s->shndx].info);
            if (owner < in->symbol_count)
                merge_function(lk, obj, owner);
        }
        merge_function(lk, obj, i);
    }
}
