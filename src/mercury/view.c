/* Builds the Mercury view: each Mercury section takes the name and type that a link knows, the SASS
 * sections that mirror it are hidden.  Text stays visible as SASS, since that is what is patched.
 */
#include "mercury/mercury.h"

#include "capsule/early.h"
#include "format/eiattr.h"
#include "format/reloc.h"
#include "mercury/labels.h"
#include "sass/instruction.h"
#include "sass/opcodes.h"

static CBI_NORETURN void incomplete(const cbi_linker *lk, const cbi_lobj *obj, const char *what)
{
    cbi_fatal(lk->ctx, "finalizer", &(cbi_place){.file = obj->file}, what,
              "Internal FNLZR error '%s'", obj->file);
}

static bool is_capsule(const cbi_section *s)
{
    return s->type == SHT_CUDA_CAPMERC;
}

static bool is_code(const cbi_section *s)
{
    return (s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR)) || s->type == SHT_CUDA_UFT;
}

/* Capsules and texts name the same symbol. */
static void pair_capsules(const cbi_linker *lk, cbi_lobj *obj, cbi_mercury_view *view,
                          uint32_t *text_of)
{
    const cbi_object *file = &view->file;
    uint32_t *by_symbol = CBI_NEW_ARRAY(lk->ctx, file->symbol_count, uint32_t);
    for (uint32_t i = 1; i < file->section_count; i++) {
        uint32_t symbol = CUDA_TEXT_SYMBOL(file->sections[i].info);
        if (is_code(&file->sections[i]) && symbol < file->symbol_count)
            by_symbol[symbol] = i;
    }
    for (uint32_t i = 1; i < file->section_count; i++) {
        const cbi_section *s = &file->sections[i];
        if (!is_capsule(s))
            continue;
        uint32_t text = s->info < file->symbol_count ? by_symbol[s->info] : 0;
        if (!text)
            incomplete(lk, obj, "a capsule belongs to no function");
        view->capsule[text] = i;
        text_of[i] = text;
    }
    for (uint32_t i = 1; i < file->section_count; i++)
        if (is_code(&file->sections[i]) && !view->capsule[i])
            incomplete(lk, obj,
                       cbi_printf(lk->ctx, "section '%s' has no capsule", file->sections[i].name));
}

static bool has_version(cbi_span info)
{
    cbi_attr attr;
    size_t pos = 0;
    while (cbi_attr_next(info, &pos, &attr))
        if (attr.code == EIATTR_MERCURY_ISA_VERSION)
            return true;
    return false;
}

/* Functions of compilers up to 13.0.17 do not say which version of Mercury they are of; their
 * object does, or it is the first. */
static void add_versions(cbi_ctx *ctx, const cbi_lobj *obj, cbi_object *file)
{
    cbi_arch_facts facts = cbi_arch_read_facts(file->ident[EI_OSABI], file->flags,
                                               obj->has_compat ? &obj->compat : NULL);
    const uint8_t version[] = {CBI_ATTR_HALF, EIATTR_MERCURY_ISA_VERSION, facts.isa & 0xff,
                               (uint8_t)(facts.isa >> 8)};
    for (uint32_t i = 1; i < file->section_count; i++) {
        cbi_section *s = &file->sections[i];
        if ((s->type != SHT_CUDA_INFO && s->type != SHT_CUDA_MERC_INFO) ||
            !(s->flags & SHF_INFO_LINK) || has_version(s->data))
            continue;
        uint8_t *data = cbi_alloc(ctx, s->data.size + sizeof version);
        if (s->data.size)
            memcpy(data, s->data.data, s->data.size);
        memcpy(data + s->data.size, version, sizeof version);
        s->data = (cbi_span){data, s->data.size + sizeof version};
        s->size = s->data.size;
    }
}

/* What early compilers wrote is read as if it were of today. */
static void renew(const cbi_linker *lk, cbi_lobj *obj, cbi_mercury_view *view,
                  const uint32_t *text_of)
{
    cbi_object *file = &view->file;
    bool any = false;
    for (uint32_t i = 1; i < file->section_count; i++) {
        cbi_section *s = &file->sections[i];
        if (!text_of[i] || !cbi_capsule_renew(lk->ctx, &s->data, &file->sections[text_of[i]].data))
            continue;
        s->size = s->data.size;
        any = true;
    }
    if (!any)
        return;
    obj->cuinfo.version = 2;
    obj->cuinfo.toolkit = CUDA_TOOLKIT;
}

static void index_per_function(cbi_mercury_view *view)
{
    const cbi_object *file = &view->file;
    for (uint32_t i = 1; i < file->section_count; i++) {
        const cbi_section *s = &file->sections[i];
        if (!(s->flags & SHF_INFO_LINK) || s->info >= file->section_count)
            continue;
        if (s->type == SHT_CUDA_INFO)
            view->info[s->info] = view->own_info[s->info] = i;
        else if (s->type == SHT_CUDA_CONSTANT_B0)
            view->constant0[s->info] = i;
        else if (s->type == SHT_CUDA_CONSTANT_B0 + 2)
            view->constant2[s->info] = i;
    }
}

/* ---- sections ---- */

/* Mercury sections that are called differently on the SASS side. */
static uint32_t renamed_type(uint32_t type)
{
    switch (type) {
    case SHT_CUDA_MERC_CONSTANT_USER:
        return SHT_CUDA_CONSTANT_B0 + 3;
    case SHT_CUDA_MERC_CONSTANT_PIC:
        return SHT_CUDA_CONSTANT_B0 + 4;
    default:
        return 0;
    }
}

static uint32_t find_partner(const cbi_mercury_view *view, uint32_t index, const uint32_t *text_of)
{
    const cbi_object *file = &view->file;
    const cbi_section *s = &file->sections[index];
    if (s->type == SHT_CUDA_MERC_CONSTANT_OPT)
        return s->info < file->section_count ? view->constant2[text_of[s->info]] : 0;
    uint32_t type = renamed_type(s->type);
    for (uint32_t i = 1; i < file->section_count; i++) {
        const cbi_section *t = &file->sections[i];
        if (t->flags & SHF_CUDA_MERCURY)
            continue;
        if (type ? t->type == type : t->type == s->type && strcmp(t->name, s->name + 8) == 0)
            return i;
    }
    return 0;
}

static void hide(cbi_section *s)
{
    *s = (cbi_section){.name = ""};
}

static void map_sections(const cbi_linker *lk, cbi_lobj *obj, cbi_mercury_view *view,
                         const uint32_t *text_of)
{
    const cbi_object *file = &view->file;
    cbi_object *out = &obj->object;
    for (uint32_t i = 1; i < file->section_count; i++) {
        const cbi_section *s = &file->sections[i];
        cbi_section *v = &out->sections[i];
        switch (s->type) {
        case SHT_REL:
        case SHT_RELA:
        case SHT_CUDA_INFO:
        case SHT_CUDA_CAPMERC:
        case SHT_CUDA_MERC_SYMTAB:
        case SHT_CUDA_RESOLVED_RELA:
        case SHT_CUDA_MERC_RESOLVED_RELA:
            hide(v);
            continue;
        default:
            break;
        }
        if (cbi_is_constant_type(s->type) && !(s->flags & SHF_CUDA_MERCURY))
            hide(v);
        if (!(s->flags & SHF_CUDA_MERCURY))
            continue;
        v->name = cbi_after(s->name, ".nv.merc");
        if (!v->name)
            incomplete(lk, obj, cbi_printf(lk->ctx, "section '%s' is no Mercury section", s->name));
        v->flags &= ~(uint64_t)SHF_CUDA_MERCURY;
        if ((s->flags & SHF_INFO_LINK) && s->info < file->section_count && text_of[s->info])
            v->info = text_of[s->info];
        if (s->type == SHT_CUDA_MERC_RELA) {
            v->type = SHT_RELA;
        } else if (s->type == SHT_CUDA_MERC_INFO) {
            v->type = SHT_CUDA_INFO;
        } else {
            view->sass[i] = find_partner(view, i, text_of);
            if (view->sass[i])
                hide(&out->sections[view->sass[i]]);
            /* Jump tables: zeros on the Mercury side. */
            if (s->type == SHT_CUDA_MERC_CONSTANT_OPT && view->sass[i] &&
                file->sections[view->sass[i]].data.size == s->data.size)
                v->data = file->sections[view->sass[i]].data;
        }
    }
}

static bool is_unscheduled(const cbi_section *text)
{
    return text->data.size >= CBI_SASS_INSTRUCTION &&
           cbi_sass_is_unscheduled(cbi_sass_load(text->data.data));
}

/* What becomes of the schedule of a function that has an earlier one's options, relocations and
 * attributes. */
static cbi_schedule schedule_like(const cbi_section *text, const cbi_section *like, bool foreign)
{
    bool own = is_unscheduled(text), bare = is_unscheduled(like);
    if (bare != own)
        return bare ? CBI_SCHEDULE_LOST : CBI_SCHEDULE_MADE;
    return foreign && !own ? CBI_SCHEDULE_FOLLOWS : CBI_SCHEDULE_KEPT;
}

/* nvlink finds the contents of Mercury sections by name: of the sections of static functions with
 * one name, which only relocatable outputs have several of, it reads the first every time. */
static void confuse_namesakes(const cbi_linker *lk, cbi_lobj *obj, cbi_mercury_view *view)
{
    const cbi_object *file = &view->file;
    bool *foreign = CBI_NEW_ARRAY(lk->ctx, file->section_count, bool); /* text: not its own */
    uint32_t *first_text = CBI_NEW_ARRAY(lk->ctx, file->section_count, uint32_t);
    cbi_map first = {0};
    for (uint32_t i = 1; i < file->section_count; i++) {
        cbi_section *v = &obj->object.sections[i];
        if (!(file->sections[i].flags & SHF_CUDA_MERCURY) || is_capsule(&file->sections[i]))
            continue;
        uint64_t key = CBI_KEY(cbi_intern(lk->ctx, file->sections[i].name));
        uint32_t known = (uint32_t)(uintptr_t)cbi_map_get(&first, key);
        if (!known) {
            cbi_map_put(lk->ctx, &first, key, (void *)(uintptr_t)i);
            continue;
        }
        if (file->sections[i].type == SHT_CUDA_MERC_CONSTANT_OPT)
            incomplete(lk, obj,
                       cbi_printf(lk->ctx, "there are two sections '%s', on which nvlink crashes",
                                  file->sections[i].name));
        view->like[i] = known;
        const cbi_section *like = &obj->object.sections[known];
        if ((v->type == SHT_RELA || v->type == SHT_CUDA_INFO) && v->info < file->section_count)
            foreign[v->info] |= !cbi_same_bytes(v->data, like->data);
        /* records are known by their address, so each section needs its own */
        v->data.data =
            like->data.size ? cbi_memdup(lk->ctx, like->data.data, like->data.size) : NULL;
        v->data.size = like->data.size;
        v->size = like->size;
        if (v->type == SHT_CUDA_INFO && v->info && like->info) {
            view->borrowed[v->info] = true;
            first_text[v->info] = like->info;
            view->info[v->info] = view->info[like->info];
            view->constant0[v->info] = view->constant0[like->info];
        }
    }
    for (uint32_t i = 1; i < file->section_count; i++)
        if (first_text[i])
            view->schedule[i] = (uint8_t)schedule_like(&file->sections[i],
                                                       &file->sections[first_text[i]], foreign[i]);
}

static void map_symbols(const cbi_linker *lk, cbi_lobj *obj, const cbi_mercury_view *view,
                        const uint32_t *text_of)
{
    const cbi_object *file = &view->file;
    cbi_object *out = &obj->object;
    if (!file->merc_symtab || file->merc_symbol_count > file->symbol_count)
        incomplete(lk, obj, "the Mercury symbol table is missing or does not match .symtab");
    out->symbol_count = file->merc_symbol_count;
    out->symbols = cbi_memdup(lk->ctx, file->merc_symbols,
                              file->merc_symbol_count * sizeof *file->merc_symbols);
    uint32_t constants = 0;
    for (uint32_t i = 1; i < out->symbol_count; i++) {
        cbi_symbol *s = &out->symbols[i];
        uint8_t type = CBI_ST_TYPE(s->info);
        if (s->shndx == SHN_UNDEF && type == STT_OBJECT)
            s->info = CBI_ST_INFO(CBI_ST_BIND(s->info), STT_CUDA_OBJECT);
        if (s->shndx == SHN_UNDEF || s->shndx >= file->section_count)
            continue;
        const cbi_section *sec = &file->sections[s->shndx];
        if (text_of[s->shndx])
            s->shndx = text_of[s->shndx];
        /* Optimizer constants are named anew in each object. */
        if (sec->type == SHT_CUDA_MERC_CONSTANT_OPT && type != STT_SECTION)
            s->name = cbi_printf(lk->ctx, "%s.%u", sec->name + 8, ++constants);
    }
}

/* ---- relocations ---- */

/* Places in the system's reserved shared memory are in SASS from the start. */
static const struct {
    const char *name;
    uint32_t value;
} system_places[] = {
    {"begin", 0}, {"offset0", CUDA_RESERVED_SHARED_OWN}, {"cap", CUDA_RESERVED_SHARED}};

static const uint32_t *system_place(const cbi_object *file, uint32_t symbol)
{
    if (!symbol || symbol >= file->merc_symbol_count)
        return NULL;
    const char *name = cbi_after(file->merc_symbols[symbol].name, ".nv.reservedSmem.");
    if (!name)
        return NULL;
    for (size_t i = 0; i < CBI_COUNT(system_places); i++)
        if (strcmp(name, system_places[i].name) == 0)
            return &system_places[i].value;
    return NULL;
}

static void set_pair(cbi_sass_reloc *pair, cbi_rela entry)
{
    pair->present = true;
    pair->offset = entry.offset;
    pair->type = entry.type;
    pair->addend = entry.addend;
}

/* Line programs name each function once, not in the same order on both sides.  A reference to
 * strings has no counterpart. */
static void pair_by_symbol(const cbi_linker *lk, const cbi_object *file, const cbi_section *merc,
                           const cbi_section *sass, cbi_sass_reloc *pairs)
{
    size_t have = cbi_rela_count(sass), count = cbi_rela_count(merc);
    uint32_t *first = CBI_NEW_ARRAY(lk->ctx, file->symbol_count, uint32_t);
    uint32_t *next = CBI_NEW_ARRAY(lk->ctx, have + 1, uint32_t);
    for (size_t j = have; j-- > 0;) {
        uint32_t symbol = cbi_rela_at(sass, j).symbol;
        next[j + 1] = first[symbol];
        first[symbol] = (uint32_t)j + 1;
    }
    for (size_t k = 0; k < count; k++) {
        uint32_t symbol = cbi_rela_at(merc, k).symbol;
        uint32_t j = symbol < file->symbol_count ? first[symbol] : 0;
        if (!j)
            continue;
        first[symbol] = next[j];
        set_pair(&pairs[k], cbi_rela_at(sass, j - 1));
    }
}

/* Writes those places where a list of relocations wants them, or takes them back. */
static void write_system_places(const cbi_object *file, const cbi_section *list,
                                const cbi_mercury_places *places, uint8_t *text, bool take_back)
{
    enum { IMMEDIATE = 4 };
    for (size_t k = 0; k < cbi_rela_count(list); k++) {
        cbi_rela rela = cbi_rela_at(list, k);
        const cbi_mercury_place *place = cbi_mercury_place_of(places, rela.offset);
        const uint32_t *value = system_place(file, rela.symbol);
        if (place && value)
            cbi_st32(text + place->main + IMMEDIATE, take_back ? 0 : *value);
    }
}

/* The SASS type follows from Mercury's and, where there are two, from the instruction. */
static uint32_t type_at(const cbi_rela *rela, uint32_t like, const uint8_t *instruction)
{
    const cbi_reloc_type *type = cbi_reloc_find(rela->type);
    uint32_t opcode = cbi_sass_opcode(instruction);
    if (rela->type == R_MERCURY_ABS32)
        return opcode == CBI_OP_LDCU ? type->sass_text_other : type->sass_text;
    if (rela->type == R_MERCURY_ABS16)
        return opcode == CBI_OP_LDC ? type->sass_text_other : type->sass_text;
    return like;
}

/* Relocations of another function's code, applied to this one's. */
static void pair_like(const cbi_linker *lk, cbi_object *out, cbi_mercury_view *view,
                      uint32_t section, uint32_t target)
{
    uint32_t first = view->like[section], count = view->pair_count[first];
    view->pair_count[section] = count;
    view->pairs[section] = CBI_NEW_ARRAY(lk->ctx, count, cbi_sass_reloc);
    if (!count)
        return;
    memcpy(view->pairs[section], view->pairs[first], count * sizeof **view->pairs);
    if (!view->capsule[target])
        return;
    const cbi_mercury_places *places = cbi_mercury_places_in(lk, view, target);
    for (uint32_t k = 0; k < count && places->len; k++) {
        cbi_sass_reloc *pair = &view->pairs[section][k];
        cbi_rela rela = cbi_rela_at(&out->sections[section], k);
        const cbi_mercury_place *place = cbi_mercury_place_of(places, rela.offset);
        pair->present |= !place; /* past the end on both sides */
        pair->offset = place ? place->sass : UINT64_MAX;
        if (place && cbi_is_return_address(rela.type))
            pair->addend = cbi_label_addend(&out->sections[section], k, places,
                                            out->sections[target].data.data);
        if (place && pair->present)
            pair->type = type_at(&rela, pair->type, out->sections[target].data.data + place->main);
    }
    if (!places->len)
        return;
    cbi_span *text = &out->sections[target].data;
    uint8_t *copy = cbi_memdup(lk->ctx, text->data, text->size);
    write_system_places(&view->file, &view->file.sections[section], places, copy, true);
    view->misplaced[target] = true;
    write_system_places(&view->file, &out->sections[section], places, copy, false);
    text->data = copy;
}

/* What nvlink -r forgot: relocations of rules for return addresses are at 0. */
static void find_return_rules(cbi_ctx *ctx, const cbi_object *file, const cbi_section *merc,
                              const cbi_section *sass, cbi_sass_reloc *pairs, size_t count)
{
    cbi_frame_twins twins = {0};
    for (size_t k = 0; k < count; k++) {
        if (!pairs[k].present || pairs[k].offset != 0)
            continue;
        if (!twins.len)
            cbi_mercury_frame_twins(ctx, file->sections[merc->info].data,
                                    file->sections[sass->info].data, &twins);
        pairs[k].offset = cbi_mercury_frame_twin(&twins, cbi_rela_at(merc, k).offset);
    }
}

/* The lists agree entry by entry but for what only Mercury has. */
static void pair_relocs(const cbi_linker *lk, cbi_object *out, cbi_mercury_view *view)
{
    const cbi_object *file = &view->file;
    const uint32_t *by_target = cbi_sections_about(lk->ctx, file, SHT_RELA);
    for (uint32_t i = 1; i < file->section_count; i++) {
        const cbi_section *merc = &file->sections[i];
        if (merc->type != SHT_CUDA_MERC_RELA || merc->info >= file->section_count)
            continue;
        uint32_t target = out->sections[i].info;
        uint32_t partner = by_target[view->sass[target] ? view->sass[target] : target];
        size_t count = cbi_rela_count(&out->sections[i]);
        if (!count)
            continue;
        if (view->like[i]) {
            pair_like(lk, out, view, i, target);
            continue;
        }
        view->pairs[i] = CBI_NEW_ARRAY(lk->ctx, count, cbi_sass_reloc);
        view->pair_count[i] = (uint32_t)count;
        if (!partner)
            continue;
        const cbi_section *sass = &file->sections[partner];
        if (cbi_is_line_section(out->sections[target].name)) {
            pair_by_symbol(lk, file, merc, sass, view->pairs[i]);
            continue;
        }
        const bool code = is_code(&file->sections[file->sections[partner].info]);
        size_t j = 0, have = cbi_rela_count(sass);
        for (size_t k = 0; k < count && j < have; k++) {
            const cbi_rela rela = cbi_rela_at(merc, k);
            /* return addresses within the code of ptxas -ewp are in SASS from the start */
            if (system_place(file, rela.symbol) || (code && cbi_is_prog_rel(rela.type)))
                continue;
            set_pair(&view->pairs[i][k], cbi_rela_at(sass, j++));
        }
        if (strcmp(out->sections[target].name, ".debug_frame") == 0)
            find_return_rules(lk->ctx, file, merc, sass, view->pairs[i], count);
    }
}

const cbi_sass_reloc *cbi_mercury_pair(const cbi_mercury_view *view, uint32_t section, size_t i)
{
    return i < view->pair_count[section] ? &view->pairs[section][i] : NULL;
}

const cbi_sass_reloc *cbi_sass_of(const cbi_lrel *rel)
{
    static const cbi_sass_reloc none;
    return rel->sass ? rel->sass : &none;
}

void cbi_mercury_view_make(const cbi_linker *lk, cbi_lobj *obj)
{
    cbi_ctx *ctx = lk->ctx;
    cbi_mercury_view *view = CBI_NEW(ctx, cbi_mercury_view);
    uint32_t count = obj->object.section_count;
    view->file = obj->object;
    view->sass = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->capsule = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->info = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->own_info = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->constant0 = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->constant2 = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->like = CBI_NEW_ARRAY(ctx, count, uint32_t);
    view->borrowed = CBI_NEW_ARRAY(ctx, count, bool);
    view->schedule = CBI_NEW_ARRAY(ctx, count, uint8_t);
    view->misplaced = CBI_NEW_ARRAY(ctx, count, bool);
    view->pairs = CBI_NEW_ARRAY(ctx, count, cbi_sass_reloc *);
    view->pair_count = CBI_NEW_ARRAY(ctx, count, uint32_t);
    uint32_t *text_of = CBI_NEW_ARRAY(ctx, count, uint32_t); /* capsule -> text */
    pair_capsules(lk, obj, view, text_of);
    renew(lk, obj, view, text_of);
    add_versions(ctx, obj, &view->file);
    index_per_function(view);
    obj->object.sections =
        cbi_memdup(ctx, view->file.sections, count * sizeof *view->file.sections);
    map_sections(lk, obj, view, text_of);
    if (lk->quirks.namesakes_confused)
        confuse_namesakes(lk, obj, view);
    map_symbols(lk, obj, view, text_of);
    pair_relocs(lk, &obj->object, view);
    obj->mercury = view;
}

/* ---- objects that are linked as SASS ---- */

void cbi_mercury_drop(const cbi_linker *lk, cbi_lobj *obj, bool lifted)
{
    cbi_object *object = &obj->object;
    for (uint32_t i = 1; i < object->section_count; i++)
        if (object->sections[i].flags & SHF_CUDA_MERCURY)
            hide(&object->sections[i]);
    uint32_t constants = 0;
    for (uint32_t i = 1; i < object->symbol_count; i++) {
        cbi_symbol *s = &object->symbols[i];
        if (lifted && strcmp(s->name, ".nv.reservedSmem.cap") == 0) {
            *s = (cbi_symbol){.name = "", .other = STV_INTERNAL};
            continue;
        }
        if (!lifted || s->shndx >= object->section_count || CBI_ST_TYPE(s->info) == STT_SECTION)
            continue;
        const char *name = object->sections[s->shndx].name;
        if (strncmp(name, ".nv.constant2.", 14) == 0)
            s->name = cbi_printf(lk->ctx, ".nv.constant.optimizer.%s.%u", name + 14, ++constants);
    }
}
