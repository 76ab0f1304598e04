/* Merging one object, pass D: attributes, call graph, prototypes, relocations.
 *
 * All of them enter lists that are walked backwards afterwards: nvlink prepends.
 */
#include "base/fetch.h"
#include "format/driver.h"
#include "format/eiattr.h"
#include "format/reloc.h"
#include "link/merge_work.h"
#include "link/view.h"

#include <stdlib.h>

/* ---- attributes ---- */

/* Says the record what one copy of a function is like? */
static bool is_of_copy(cbi_attr_link link)
{
    switch (link) {
    case CBI_LINK_FRAME:
    case CBI_LINK_STACK_LIMIT:
    case CBI_LINK_REGISTERS:
        return true;
    default:
        return false;
    }
}

/* Which toolkits number them alike: lk->merging->tcgen05_toolkits. */
enum { UNSEEN, BEFORE_13, SINCE_13 };

/* Code with tcgen05 names what runs at the kernel's entry, and 13.0 gave that other numbers than
 * the toolkits before: of a record the last of these counts.  The first record that has any says
 * which are right. */
static void check_fragments(const cbi_linker *lk, const cbi_lobj *obj, const cbi_rec *rec)
{
    uint32_t toolkits = UNSEEN;
    for (uint32_t i = 0; i + 4 <= rec->size; i += 4) {
        uint32_t fragment = cbi_ld32(cbi_payload_of(rec) + i);
        if (fragment >= 4 && fragment <= 7)
            toolkits = fragment < 6 ? BEFORE_13 : SINCE_13;
    }
    if (lk->merging->tcgen05_toolkits == UNSEEN)
        lk->merging->tcgen05_toolkits = toolkits;
    if (toolkits != UNSEEN && lk->merging->tcgen05_toolkits != toolkits)
        cbi_error(lk->ctx, "tcgen05-toolkits",
                  &(cbi_place){.file = obj->file, .symbol = cbi_rec_func(lk, rec)->sym->name->s},
                  NULL,
                  "Object '%s' cannot be linked due to version mismatch. Objects using tcgen05 "
                  "in 12.x cannot be linked with 13.0 or later, they must be rebuilt with "
                  "latest compiler",
                  obj->file);
}

/* A final link drops limits of stacks; those that limit nothing, all of today's compilers, at once.
 */
static bool is_no_limit(const cbi_linker *lk, cbi_attr_link link, const cbi_attr *attr)
{
    return link == CBI_LINK_STACK_LIMIT && lk->exec &&
           (attr->payload.size < 8 || !cbi_ld32(attr->payload.data + 4));
}

static void read_symbols(const cbi_linker *lk, const cbi_lobj *obj, cbi_span words, cbi_rec *rec)
{
    rec->has_symbols = true;
    rec->symbols = cbi_pool_alloc(lk->ctx, &lk->merging->payload_pool,
                                  words.size / 4 * sizeof(const cbi_lsym *));
    rec->symbol_count = 0;
    for (size_t i = 0; i + 4 <= words.size; i += 4) {
        uint32_t index = cbi_ld32(words.data + i);
        if (index < obj->object.symbol_count && obj->symbols[index])
            rec->symbols[rec->symbol_count++] = obj->symbols[index];
    }
}

/* What records of a section have in common: their object, and the function about which they are. */
typedef struct record_source {
    const cbi_lobj *obj;
    const cbi_func *func; /* NULL: .nv.info */
    uint32_t obj_id, func_id;
} record_source;

/* The symbol that the record names; false where the record goes with it. */
static inline bool find_named(const cbi_lobj *obj, const cbi_attr *attr, cbi_attr_link link,
                              const cbi_lsym **ret_symbol)
{
    const uint32_t index = cbi_ld32(attr->payload.data);
    *ret_symbol = NULL;
    if (index && index < obj->object.symbol_count) {
        if (obj->symbol_lost[index] && is_of_copy(link))
            return false;
        *ret_symbol = obj->symbols[index];
    }
    return *ret_symbol || link == CBI_LINK_REMAP_OR_ZERO;
}

static inline void read_record(const cbi_linker *lk, const record_source *from,
                               const cbi_attr *attr)
{
    const cbi_eiattr *row = cbi_eiattr_row(attr->code);
    const cbi_attr_link link = row->link;
    if (link == CBI_LINK_DELETE || is_no_limit(lk, link, attr))
        return;
    const bool sized = attr->format == CBI_ATTR_SIZED;
    const bool named =
        sized && row->symbols == CBI_SYMBOLS_WORD0 && attr->payload.size >= sizeof(uint32_t);
    const cbi_lsym *symbol = NULL;
    if (named && !find_named(from->obj, attr, link, &symbol))
        return;
    cbi_rec_table *recs = &lk->merging->recs;
    cbi_vec_reserve(lk->ctx, recs, 1);
    cbi_rec *read = &recs->items[recs->len++];
    *read = (cbi_rec){.obj = from->obj_id,
                      .func = from->func_id,
                      .symbol = symbol,
                      .has_symbol = named,
                      .format = attr->format & 7,
                      .code = attr->code,
                      /* Bytes without a meaning stay what they are. */
                      .value = sized ? 0 : cbi_ld16(attr->raw.data + 2)};
    if (lk->mercury) { /* the second view knows it by its place */
        read->payload = attr->payload.data;
        read->size = (uint32_t)attr->payload.size;
    } else {
        cbi_set_payload(read, attr->payload.data, (uint32_t)attr->payload.size);
    }
    if (sized && row->symbols == CBI_SYMBOLS_EVERY_WORD)
        read_symbols(lk, from->obj, attr->payload, read);
    if (link == CBI_LINK_MOVE && from->func)
        check_fragments(lk, from->obj, read);
}

static void read_attributes(const cbi_linker *lk, cbi_lobj *obj, const cbi_section *sec)
{
    record_source from = {.obj = obj, .obj_id = cbi_obj_id(obj)};
    if (sec->flags & SHF_INFO_LINK) {
        if (sec->info >= obj->object.section_count || obj->sections[sec->info].lost)
            return;
        cbi_osec *text = obj->sections[sec->info].out;
        if (!text || !text->func)
            return;
        cbi_func *func = cbi_func_in(text->func);
        if (!func->info) {
            func->info = cbi_sec_create(
                lk, cbi_section_name(lk, obj, (uint32_t)(sec - obj->object.sections)),
                SHT_CUDA_INFO, SHF_INFO_LINK, 4, 0);
            func->info->target = text;
            func->info->func = func;
        }
        from.func = func;
        from.func_id = func->number + 1;
    }
    size_t pos = 0;
    cbi_attr attr;
    while (cbi_attr_next(sec->data, &pos, &attr))
        read_record(lk, &from, &attr);
}

/* ---- call graph ---- */

static const cbi_name *intern_prototype(const cbi_linker *lk, const cbi_lobj *obj, uint32_t offset)
{
    cbi_merge_work *work = lk->merging;
    if (work->proto_obj == obj && work->proto_offset == offset)
        return work->proto;
    const char *s = cbi_span_string(obj->object.sections[obj->object.strtab].data, offset);
    const cbi_name *name = cbi_intern(lk->ctx, s ? s : "");
    if (!cbi_map_get(&work->proto_seen, CBI_KEY(name))) {
        cbi_map_add(lk->ctx, &work->proto_seen, CBI_KEY(name));
        cbi_vec_push(lk->ctx, &work->symbols.protos, name);
    }
    work->proto_obj = obj;
    work->proto_offset = offset;
    work->proto = name;
    return name;
}

/* NULL: no function of the link.  A function whose name is a variable in another object has been
 * reported, and ends the link where the graph needs it. */
static cbi_func *input_func(const cbi_linker *lk, const cbi_lobj *obj, uint32_t index)
{
    if (index < obj->object.symbol_count && obj->symbols[index] && !obj->symbols[index]->func &&
        CBI_ST_TYPE(obj->object.symbols[index].info) == STT_FUNC)
        cbi_fatal(lk->ctx, "no-callgraph-node",
                  &(cbi_place){.file = obj->file, .symbol = obj->symbols[index]->name->s}, NULL,
                  "Internal error: no callgraph node");
    return index < obj->object.symbol_count && obj->symbols[index] ? obj->symbols[index]->func
                                                                   : NULL;
}

static void add_call(const cbi_linker *lk, cbi_func *caller, cbi_func *callee)
{
    if (!lk->exec)
        for (size_t i = 0; i < caller->calls.len; i++)
            if (caller->calls.items[i] == callee)
                return;
    cbi_list_first(lk->ctx, lk->lists, &caller->calls, 2);
    cbi_vec_push(lk->ctx, &caller->calls, callee);
}

static void add_taken(const cbi_linker *lk, cbi_func *user, cbi_func *taken)
{
    if (!lk->exec)
        for (size_t i = 0; i < user->takes.len; i++)
            if (user->takes.items[i] == taken)
                return;
    cbi_vec_push(lk->ctx, &user->takes, taken);
    lk->merging->symbols.met.takes = true;
}

static void read_callgraph(const cbi_linker *lk, cbi_lobj *obj, const cbi_section *sec)
{
    int32_t list = 0;
    for (size_t at = 0; at + 8 <= sec->data.size; at += 8) {
        uint32_t first = cbi_ld32(sec->data.data + at);
        int32_t second = (int32_t)cbi_ld32(sec->data.data + at + 4);
        if (first == 0 && second < 0) {
            list = second;
            continue;
        }
        if (first < obj->object.symbol_count && obj->symbol_lost[first])
            continue;
        cbi_func *func = input_func(lk, obj, first);
        if (!func)
            continue;
        cbi_func *other = NULL;
        if (list == -1 || list == -4) {
            other = input_func(lk, obj, (uint32_t)second);
            if (!other)
                continue;
        }
        switch (list) {
        case -1:
            add_call(lk, func, other);
            break;
        case -2:
            cbi_vec_push(lk->ctx, &func->taken, intern_prototype(lk, obj, (uint32_t)second));
            break;
        case -3:
            cbi_vec_push(lk->ctx, &func->indirect, intern_prototype(lk, obj, (uint32_t)second));
            break;
        case -4:
            add_taken(lk, func, other);
            break;
        default:
            break;
        }
    }
}

static void read_prototypes(const cbi_linker *lk, cbi_lobj *obj, const cbi_section *sec)
{
    for (size_t at = 0; at + 8 <= sec->data.size; at += 8) {
        uint32_t symbol = cbi_ld32(sec->data.data + at);
        uint32_t offset = cbi_ld32(sec->data.data + at + 4);
        const cbi_name *text = intern_prototype(lk, obj, offset);
        cbi_func *func = input_func(lk, obj, symbol);
        if (!func)
            continue;
        if (!func->prototype) {
            func->prototype = text;
        } else if (func->prototype != text && cbi_driver_supplies(func->sym->name->s)) {
            /* Calls name the registers that the driver's function leaves alone, a program's own
             * definition does not: the last one counts. */
            func->prototype = text;
        } else if (func->prototype != text) {
            uint32_t first = func->sym->def_obj ? func->sym->def_obj : func->sym->first_obj;
            cbi_error(lk->ctx, "prototype-mismatch",
                      &(cbi_place){.file = obj->file, .symbol = func->sym->name->s}, NULL,
                      "Prototype doesn't match for '%s' in '%s', first defined in '%s'",
                      func->sym->name->s, obj->file, cbi_obj_file(lk, first));
        }
    }
}

/* ---- relocations ---- */

static int compare_lost(const void *a, const void *b)
{
    const cbi_lost *x = a, *y = b;
    if (x->section != y->section)
        return cbi_order(x->section, y->section);
    return cbi_order(x->start, y->start);
}

static bool ends_until(const void *lost, const void *place)
{
    const cbi_lost *x = lost, *y = place;
    return x->section < y->section || (x->section == y->section && x->end <= y->start);
}

/* Is the place inside the bytes of a weak object that lost? */
static bool in_lost_bytes(const cbi_lobj *obj, uint32_t section, uint64_t offset)
{
    const cbi_lost place = {section, offset, offset};
    size_t i = cbi_search(obj->lost, obj->lost_count, sizeof *obj->lost, ends_until, &place);
    return i < obj->lost_count && obj->lost[i].section == section && obj->lost[i].start <= offset;
}

/* Sections in which entries about a definition that lost are not entered.  That is right for tables
 * that describe the code; for constants it leaves pointers unrelocated, which nvlink does too. */
static bool forgets_losers(const cbi_section *target)
{
    return strcmp(target->name, ".debug_line") == 0 ||
           strcmp(target->name, ".nv_debug_line_sass") == 0 ||
           strcmp(target->name, ".debug_frame") == 0 ||
           (cbi_is_constant_type(target->type) && target->type != SHT_CUDA_MERC_CONSTANT_OPT);
}

static void open_relocs(const cbi_linker *lk, cbi_osec *target, bool rela)
{
    /* Not the companion for texture tables: ptxas -ewp has made these itself. */
    if (target->rel && target->rel->companion)
        target->rel = NULL;
    if (target->rela && target->rela->companion)
        target->rela = NULL;
    cbi_sec_rel(lk, target, rela);
    if (lk->opt->force_rela)
        cbi_sec_rel(lk, target, true);
    if (lk->opt->preserve_relocs)
        cbi_sec_resolved(lk, target);
}

/* Entries of code that the link has thrown away (quirk aliases_emptied) are read and go nowhere;
 * the sections for them have the input's name. */
static void drop_relocs(const cbi_linker *lk, const cbi_lobj *obj, const cbi_section *sec)
{
    const char *name = obj->object.sections[sec->info].name;
    cbi_osec *target = obj->sections[sec->info].out;
    bool rela = sec->type == SHT_RELA;
    for (size_t i = 0; i < cbi_rela_count(sec); i++) {
        if (!i || !rela || cbi_rela_at(sec, i).addend == 0)
            cbi_sec_rel_named(lk, target, i ? false : rela, name);
    }
}

/* The entry as the link has it. */
static void convert(const cbi_linker *lk, cbi_lobj *obj, const cbi_secmap *map,
                    const cbi_rela *entry, bool rela, cbi_lrel *ret_read)
{
    *ret_read =
        (cbi_lrel){.obj = obj,
                   .in_sym = entry->symbol,
                   .target = map->out,
                   .offset = entry->offset + map->base,
                   .type = entry->type < CBI_NO_RELOC_TYPE ? entry->type : CBI_NO_RELOC_TYPE,
                   .addend = entry->addend,
                   .sym = entry->symbol ? obj->symbols[entry->symbol] : NULL,
                   .is_rela = rela};
    if (!ret_read->sym || !ret_read->sym->is_section)
        return;
    ret_read->in_sym = obj->object.symbols[entry->symbol].shndx;
    uint64_t base = obj->sections[ret_read->in_sym].base;
    if (!lk->mercury)
        ret_read->base = base;
    /* what names a part of a section that is not the first gets its place as an addend */
    ret_read->is_rela = rela || base;
}

static void read_entries(const cbi_linker *lk, cbi_lobj *obj, const cbi_section *sec)
{
    const cbi_object *in = &obj->object;
    const cbi_secmap *map = &obj->sections[sec->info];
    const bool rela = sec->type == SHT_RELA, forgets = forgets_losers(&in->sections[sec->info]);
    /* Of this one nvlink makes the section also for an entry that it drops. */
    const bool frame = strcmp(in->sections[sec->info].name, ".debug_frame") == 0;
    const size_t count = cbi_rela_count(sec);
    bool first = true;
    cbi_rels *rels = &lk->merging->symbols.rels;
    cbi_vec_reserve(lk->ctx, rels, count);
    for (size_t i = 0; i < count; i++) {
        const cbi_rela entry = cbi_rela_at(sec, i);
        if (entry.symbol >= in->symbol_count)
            cbi_fatal(lk->ctx, "reloc-symbol-range",
                      &(cbi_place){.file = obj->file, .section = sec->name}, NULL,
                      "Relocation in '%s' of '%s' names symbol %u of %u", sec->name, obj->file,
                      entry.symbol, in->symbol_count);
        const bool lost = (forgets && obj->symbol_lost[entry.symbol]) ||
                          (obj->lost_count && in_lost_bytes(obj, sec->info, entry.offset));
        cbi_lrel *read = &rels->items[rels->len]; /* stays unless it is lost */
        convert(lk, obj, map, &entry, rela, read);
        if (first && (!lost || frame))
            open_relocs(lk, map->out, read->is_rela);
        if (lost)
            continue;
        /* nvlink prepares the other form as soon as a later entry has no addend; the name stays
         * in the string tables even if nothing ever goes there. */
        const bool other = !rela && read->is_rela;
        if (!first && (!rela || entry.addend == 0) && !(other ? map->out->rela : map->out->rel))
            cbi_sec_rel(lk, map->out, other);
        first = false;
        lk->merging->symbols.met.descriptors |= cbi_keeps_function(read->type);
        if (obj->mercury)
            read->sass = lk->opt->view->pair(obj->mercury, (uint32_t)(sec - in->sections), i);
        rels->len++;
    }
}

static void read_relocs(const cbi_linker *lk, cbi_lobj *obj, const cbi_section *sec)
{
    const cbi_object *in = &obj->object;
    if (sec->info == 0 || sec->info >= in->section_count)
        cbi_fatal(lk->ctx, "reloc-section-target",
                  &(cbi_place){.file = obj->file, .section = sec->name}, NULL,
                  "Internal error: unexpected reloc section");
    const cbi_secmap *map = &obj->sections[sec->info];
    bool keeps_tables = in->sections[sec->info].type == SHT_CUDA_MERC_CONSTANT_OPT;
    if (lk->quirks.aliases_emptied && map->lost && map->out)
        drop_relocs(lk, obj, sec);
    if (map->lost || !map->out || (cbi_belongs_to_lost(obj, sec->info) && !keeps_tables))
        return;
    read_entries(lk, obj, sec);
}

/* ---- shared memory that the compiler laid out ---- */

/* ptxas -ewp has laid out a kernel's shared memory itself and names no variables; for nvlink the
 * whole is the null symbol.  That of a kernel that is not wanted is not laid out at all. */
static void list_whole_shared(const cbi_linker *lk, cbi_lobj *obj, uint32_t i)
{
    const cbi_section *in = &obj->object.sections[i];
    cbi_osec *out = cbi_merge_section(lk, obj, i)->out;
    if (lk->exec && out->func && !out->func->entry) {
        cbi_shared_in(lk, out)->as_it_came = true;
        out->size = in->size;
        out->align = in->align;
        return;
    }
    if (!in->size)
        cbi_shared_in(lk, out)->whole_align = in->align;
    if (!in->size && (lk->exec || !out->func))
        return;
    cbi_lsym *sym = CBI_POOL_NEW(lk->ctx, &lk->records->sym_pool, cbi_lsym);
    sym->name = cbi_intern(lk->ctx, "");
    sym->info = CBI_ST_INFO(STB_LOCAL, STT_CUDA_OBJECT);
    sym->other = STO_CUDA_SHARED;
    sym->state = CBI_SYM_DEFINED;
    sym->sec = out;
    sym->size = in->size;
    cbi_list_shared(lk, sym, in->align, out);
    cbi_shared_in(lk, out)->whole = sym;
}

void cbi_link_read_metadata(const cbi_linker *lk, cbi_lobj *obj)
{
    const cbi_object *in = &obj->object;
    if (obj->lost_count)
        qsort(obj->lost, obj->lost_count, sizeof *obj->lost, compare_lost);
    for (uint32_t i = 1; i < in->section_count; i++) {
        const cbi_section *sec = &in->sections[i];
        switch (sec->type) {
        case SHT_CUDA_INFO:
            read_attributes(lk, obj, sec);
            break;
        case SHT_CUDA_CALLGRAPH:
            read_callgraph(lk, obj, sec);
            break;
        case SHT_CUDA_PROTOTYPE:
            read_prototypes(lk, obj, sec);
            break;
        case SHT_REL:
        case SHT_RELA:
            read_relocs(lk, obj, sec);
            break;
        default:
            break;
        }
    }
    for (uint32_t i = 1; obj->ewp && !lk->shows_debug && i < in->section_count; i++)
        if (in->sections[i].type == SHT_CUDA_SHARED && !cbi_belongs_to_lost(obj, i))
            list_whole_shared(lk, obj, i);
}

/* An address taken by a merged function counts when the prototype is known; entries have none. */
void cbi_link_complete_calls(const cbi_linker *lk)
{
    for (size_t i = 0; i < lk->symbols->funcs.len && lk->symbols->met.takes; i++) {
        cbi_fetch(CBI_LATER(lk->symbols->funcs.items, i, lk->symbols->funcs.len));
        const cbi_func *f = lk->symbols->funcs.items[i];
        for (size_t j = 0; j < f->takes.len; j++) {
            cbi_func *taken = f->takes.items[j];
            if (taken->taken.len == 0 && (taken->prototype || cbi_is_kernel(taken)))
                cbi_vec_push(lk->ctx, &taken->taken, taken->prototype);
        }
    }
}
