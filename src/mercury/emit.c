/* The final file: SASS sections, parameter banks, capsules and the Mercury mirror. */
#include "mercury/emit.h"

#include "format/reloc.h"
#include "link/loops.h"
#include "mercury/rewrite.h"

static const struct {
    uint32_t type;
    uint32_t plain;
    const char *old_name;
    const char *new_name;
} renames[] = {
    {SHT_CUDA_MERC_CONSTANT_USER, SHT_CUDA_CONSTANT_B0 + 3, ".nv.constant.user", ".nv.constant3"},
    {SHT_CUDA_MERC_CONSTANT_PIC, SHT_CUDA_CONSTANT_B0 + 4, ".nv.constant.pic", ".nv.constant4"},
    {SHT_CUDA_MERC_IMAGE_INDICES, SHT_CUDA_CONSTANT_B0, ".nv.constant.entry_image_header_indices",
     ".nv.constant0"},
    {SHT_CUDA_MERC_CONSTANT_OPT, SHT_CUDA_CONSTANT_B0 + 2, ".nv.constant.optimizer",
     ".nv.constant2"},
};

/* The name on the SASS side; NULL when it is the same. */
static const cbi_name *sass_name(const cbi_linker *lk, const cbi_osec *sec)
{
    for (size_t i = 0; i < CBI_COUNT(renames); i++) {
        const char *owner =
            sec->type == renames[i].type ? cbi_after(sec->name->s, renames[i].old_name) : NULL;
        if (owner)
            return cbi_intern_join(lk->ctx, renames[i].new_name, owner);
    }
    return NULL;
}

static uint32_t final_type(const cbi_linker *lk, uint32_t type)
{
    for (size_t i = 0; i < CBI_COUNT(renames); i++)
        if (type == renames[i].type)
            type = renames[i].plain;
    if (!lk->exec)
        return type;
    if (cbi_is_constant_type(type) || type == SHT_CUDA_GLOBAL_INIT)
        return SHT_PROGBITS;
    if (type == SHT_CUDA_GLOBAL || type == SHT_CUDA_SHARED || type == SHT_CUDA_SHARED_RESERVED)
        return SHT_NOBITS;
    return type;
}

/* ---- sections ---- */

static cbi_emit_sec *add_section(cbi_emit *em, uint32_t type, uint64_t flags, uint64_t align,
                                 uint64_t entsize)
{
    cbi_emit_sec *s = cbi_vec_add(em->lk->ctx, &em->secs);
    s->type = type;
    s->flags = flags;
    s->align = align;
    s->entsize = entsize;
    s->stored = true;
    return s;
}

static void set_name(cbi_emit_sec *s, const char *prefix, const char *name)
{
    s->prefix = prefix;
    s->name = name;
}

static void set_bytes(cbi_emit_sec *s, const uint8_t *bytes, uint64_t size)
{
    s->bytes = bytes;
    s->size = size;
}

/* Data that is the same on both sides for the most part, and is stored once then. */
static bool is_aliased(const cbi_osec *sec)
{
    return sec->type == SHT_CUDA_MERC_CONSTANT_USER || sec->type == SHT_CUDA_MERC_CONSTANT_PIC ||
           sec->type == SHT_CUDA_GLOBAL_INIT;
}

/* A list that does not ask functions where their instructions are, which they find out when first
 * asked: neither that of debug data nor one for the driver.  Such lists are made in threads. */
static bool is_list_of_code(const cbi_osec *sec)
{
    return (sec->type == SHT_REL || sec->type == SHT_RELA) && !cbi_is_debug(sec->target);
}

/* Contents of the SASS side that wait for no others. */
static void fill_apart(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    cbi_emit *em = arg;
    for (size_t i = share->first; i < share->end; i++) {
        const cbi_osec *sec = em->secs.items[i].src;
        if (!sec)
            continue;
        cbi_buf bytes;
        if (sec == lk->records->compat)
            bytes = cbi_mercury_compat(lk, sec);
        else if (is_list_of_code(sec))
            bytes = cbi_mercury_sass_relocs(lk, sec);
        else
            continue;
        set_bytes(&em->secs.items[i], bytes.items, bytes.len);
    }
}

/* Debug data, and the lists that are not of code. */
static void fill_debug(const cbi_linker *lk, void *arg)
{
    cbi_emit *em = arg;
    cbi_mercury_debug_build(lk);
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (cbi_is_debug(sec)) {
            const cbi_mercury_debug *d = cbi_mercury_debug_of(lk, sec);
            set_bytes(&em->secs.items[i], d ? d->sass.items : NULL, d ? d->sass.len : 0);
        } else if (cbi_is_reloc_list(sec) && !is_list_of_code(sec)) {
            cbi_buf list = cbi_mercury_sass_relocs(lk, sec);
            set_bytes(&em->secs.items[i], list.items, list.len);
        }
    }
}

static void fill_attributes(const cbi_linker *lk, void *arg)
{
    cbi_emit *em = arg;
    cbi_mercury_infos(lk, em->bank_symbols);
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        const cbi_buf *info = &lk->merc->infos[sec->number];
        /* of the whole module both sides have the same bytes, but for frames of ptxas -ewp */
        if (sec->type == SHT_CUDA_INFO && (sec != lk->records->info || info->len))
            set_bytes(&em->secs.items[i], info->items, info->len);
    }
}

static void add_sass_sections(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    cbi_vec_push(lk->ctx, &em->secs, ((cbi_emit_sec){0}));
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        uint8_t h[sizeof(Elf64_Shdr)];
        cbi_link_section_header(lk, sec, h);
        cbi_emit_sec *s =
            add_section(em, final_type(lk, sec->type), cbi_ld64(h + 8), sec->align, sec->entsize);
        s->name_offset = cbi_ld32(h);
        s->link = cbi_ld32(h + 40);
        s->info = cbi_ld32(h + 44);
        s->stored = cbi_section_has_data(sec->type);
        s->src = sec;
        set_bytes(s, cbi_out_of(lk, sec)->bytes, cbi_out_of(lk, sec)->size);
        const cbi_rewrite *rw = sec->func ? cbi_rewrite_of(lk, sec->func) : NULL;
        if (rw && sec == sec->func->text) {
            set_bytes(s, rw->text, rw->size);
        } else if (cbi_is_text(sec)) {
            set_bytes(s, cbi_mercury_code(lk, sec), sec->size);
        } else if (sec->type == SHT_CUDA_MERC_IMAGE_INDICES) {
            uint64_t size = lk->layout->images_start + sec->size;
            set_bytes(s, cbi_alloc(lk->ctx, size), size);
        } else if (sec->type == SHT_CUDA_MERC_CONSTANT_OPT) {
            set_bytes(s, cbi_mercury_tables(lk, sec), sec->size);
        } else if (is_aliased(sec)) {
            set_bytes(s, cbi_mercury_data(lk, sec), sec->size);
        } else if (sec->type == SHT_CUDA_SHARED && lk->exec && !lk->opt->disable_smem_reservation) {
            s->size += lk->chip->reserved_shared;
        } else if (sec->type == SHT_CUDA_SHARED_RESERVED && lk->exec) {
            s->size += CUDA_RESERVED_SHARED_OWN;
        }
    }
}

enum {
    IMAGE_TABLE_ALIGN = 16,
    PARAMETERS_START = 0x380, /* in bank 0 */
};

uint64_t cbi_mercury_banks_end(const cbi_linker *lk)
{
    uint64_t end = PARAMETERS_START;
    for (size_t i = 0; i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!f->obj || !f->obj->mercury || cbi_is_removed(lk, f->sym))
            continue;
        uint32_t bank = f->obj->mercury->constant0[f->in_sec];
        if (bank && f->obj->mercury->file.sections[bank].size > end)
            end = f->obj->mercury->file.sections[bank].size;
    }
    return cbi_align_up(end, IMAGE_TABLE_ALIGN);
}

/* The parameter bank that the function of a text brings; NULL: none, or one with image tables. */
static const cbi_section *bank_of(const cbi_linker *lk, const cbi_osec *sec)
{
    const cbi_func *f = cbi_is_text(sec) ? sec->func : NULL;
    if (!f || !f->obj || !f->obj->mercury || cbi_func_layout_of(lk, f)->image_table)
        return NULL;
    const cbi_mercury_view *view = f->obj->mercury;
    uint32_t bank = view->constant0[f->in_sec];
    return bank ? &view->file.sections[bank] : NULL;
}

/* Parameter banks: zeros, in the order of the texts; behind the symbols of the link are theirs. */
static void add_banks(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (sec->type == SHT_CUDA_MERC_IMAGE_INDICES)
            em->bank_symbols[sec->func->number] = cbi_symbol_index(lk, sec->symbol);
        const cbi_section *in = bank_of(lk, sec);
        if (!in)
            continue;
        cbi_emit_sec *s =
            add_section(em, final_type(lk, in->type), in->flags, in->align, in->entsize);
        set_name(s, "", in->name);
        s->info = cbi_section_index(lk, sec);
        set_bytes(s, cbi_alloc(lk->ctx, in->data.size), in->data.size);
        em->bank_symbols[sec->func->number] =
            (uint32_t)(lk->tables->symbols.len + em->bank_count++);
    }
}

static cbi_emit_sec *add_mirror(cbi_emit *em, const cbi_osec *sec, uint32_t type, uint64_t flags)
{
    const cbi_linker *lk = em->lk;
    em->partner[cbi_section_index(lk, sec)] = (uint32_t)em->secs.len;
    cbi_emit_sec *s = add_section(em, type, flags, sec->align, sec->entsize);
    set_name(s, ".nv.merc", sec->name->s);
    s->src = sec;
    set_bytes(s, cbi_out_of(lk, sec)->bytes, cbi_out_of(lk, sec)->size);
    return s;
}

/* Of sections from the first capsule on. */
static void fill_capsules(const cbi_linker *lk, void *arg, const cbi_share *share)
{
    cbi_emit_sec *capsules = arg;
    for (size_t i = share->first; i < share->end; i++) {
        const cbi_func *func = capsules[i].src->func;
        cbi_buf capsule = cbi_rewrite_capsule(lk, func);
        set_bytes(&capsules[i], capsule.items, capsule.len);
    }
}

static void add_capsules(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    const size_t first = em->secs.len;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (!cbi_is_text(sec) || !sec->func)
            continue;
        em->partner[i] = (uint32_t)em->secs.len;
        cbi_emit_sec *s = add_section(em, SHT_CUDA_CAPMERC, SHF_CUDA_MERCURY, 16, sec->entsize);
        set_name(s, ".nv.capmerc", sec->name->s);
        s->src = sec;
        s->info = cbi_symbol_index(em->lk, sec->func->sym);
    }
    cbi_link_in_shares(lk, em->secs.len - first, fill_capsules, em->secs.items + first);
}

/* Does the SASS side have a value where the Mercury side keeps a relocation and zeros? */
static bool has_program_places(const cbi_osec *sec)
{
    for (size_t i = 0; sec->rela && i < sec->rela->relocs.len; i++)
        if (cbi_is_prog_rel(sec->rela->relocs.items[i]->type))
            return true;
    return false;
}

/* A debug section that is the same on both sides is stored once, unless places in line programs
 * are filled in on one of them, even if with zeros. */
static bool equals_mirror(const cbi_emit_sec *s, const cbi_osec *sec)
{
    return !has_program_places(sec) && s->size == sec->size &&
           (!s->size || memcmp(s->bytes, sec->bytes, s->size) == 0);
}

static void alias_to(cbi_emit *em, cbi_emit_sec *s, const cbi_osec *sec)
{
    s->alias = cbi_section_index(em->lk, sec);
    s->size = em->secs.items[s->alias].size;
}

/* Jump tables are zeros: their entries are relocations. */
static const uint8_t *without_tables(const cbi_linker *lk, const cbi_osec *sec)
{
    uint8_t *bytes = cbi_memdup(lk->ctx, sec->bytes, sec->size);
    if (sec->rela)
        for (size_t i = 0; i < sec->rela->relocs.len; i++) {
            const cbi_lrel *r = sec->rela->relocs.items[i];
            if (cbi_fits(r->offset, 4, sec->size))
                cbi_st32(bytes + r->offset, 0);
        }
    return bytes;
}

/* Reserved shared memory has no bytes, but nvlink copies them from the file that it finalizes: what
 * is there are its section headers. */
static const uint8_t *bytes_of_memory(const cbi_linker *lk, const cbi_osec *sec)
{
    cbi_buf headers = {0};
    uint64_t offset = cbi_out_of(lk, sec)->offset;
    if (lk->tables->shoff > offset)
        cbi_buf_append(lk->ctx, &headers, NULL, lk->tables->shoff - offset);
    for (size_t i = 0; headers.len < sec->size; i++) {
        uint8_t *p = cbi_buf_append(lk->ctx, &headers, NULL, sizeof(Elf64_Shdr));
        if (i && i < lk->tables->out.len)
            cbi_link_section_header(lk, lk->tables->out.items[i], p);
    }
    return headers.items;
}

/* Debug sections; those that are alike on both sides are stored once. */
static void mirror_debug(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (!cbi_is_debug(sec))
            continue;
        cbi_emit_sec *s = add_mirror(em, sec, SHT_PROGBITS, SHF_CUDA_MERCURY);
        if (equals_mirror(&em->secs.items[i], sec))
            alias_to(em, s, sec);
    }
}

static void mirror_infos(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (sec->type == SHT_CUDA_INFO)
            add_mirror(em, sec, SHT_CUDA_MERC_INFO, SHF_CUDA_MERCURY | sec->flags);
        else if (sec->type == SHT_CUDA_UDT_ENTRY || sec->type == SHT_CUDA_UFT_ENTRY)
            add_mirror(em, sec, sec->type, SHF_CUDA_MERCURY | sec->flags);
    }
}

static void mirror_relocs(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        if (cbi_is_reloc_list(sec))
            add_mirror(em, sec,
                       sec->type == SHT_CUDA_RESOLVED_RELA ? SHT_CUDA_MERC_RESOLVED_RELA
                                                           : SHT_CUDA_MERC_RELA,
                       SHF_CUDA_MERCURY | sec->flags);
    }
}

/* Data that both sides have. */
static void mirror_data(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        switch (sec->type) {
        case SHT_CUDA_MERC_CONSTANT_USER:
        case SHT_CUDA_MERC_CONSTANT_PIC:
        case SHT_CUDA_MERC_CONSTANT_OPT:
        case SHT_CUDA_MERC_IMAGE_INDICES:
        case SHT_CUDA_GLOBAL_INIT:
        case SHT_CUDA_SHARED_RESERVED:
        case SHT_CUDA_UDT:
            break;
        default:
            continue;
        }
        cbi_emit_sec *s = add_mirror(em, sec, sec->type, SHF_CUDA_MERCURY | sec->flags);
        if (is_aliased(sec) && em->secs.items[i].bytes == sec->bytes)
            alias_to(em, s, sec);
        else if (sec->type == SHT_CUDA_MERC_CONSTANT_OPT)
            s->bytes = without_tables(lk, sec);
        else if (sec->type == SHT_CUDA_SHARED_RESERVED)
            s->bytes = bytes_of_memory(lk, sec);
    }
}

/* sh_link and sh_info name sections of the same side. */
static void link_mirrors(cbi_emit *em)
{
    for (size_t i = em->first_mirror; i < em->merc_symtab; i++) {
        cbi_emit_sec *s = &em->secs.items[i];
        bool linked = s->type == SHT_CUDA_CAPMERC || s->type == SHT_CUDA_MERC_INFO ||
                      s->type == SHT_CUDA_MERC_RELA || s->type == SHT_CUDA_MERC_RESOLVED_RELA ||
                      s->type == SHT_CUDA_UFT_ENTRY || s->type == SHT_CUDA_UDT_ENTRY;
        if (linked)
            s->link = em->merc_symtab;
        if (s->src->target && s->type != SHT_CUDA_CAPMERC) {
            uint32_t target = cbi_section_index(em->lk, s->src->target);
            s->info = em->partner[target] ? em->partner[target] : target;
        }
    }
}

/* The Mercury side, in the order in which it stands in the file. */
static void add_mirrors(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    add_capsules(em);
    mirror_debug(em);
    mirror_infos(em);
    mirror_relocs(em);
    mirror_data(em);
    em->merc_symtab = (uint32_t)em->secs.len;
    cbi_emit_sec *symtab = add_section(em, SHT_CUDA_MERC_SYMTAB, SHF_CUDA_MERCURY, 8, 24);
    set_name(symtab, "", ".nv.merc.symtab");
    symtab->link = cbi_section_index(lk, lk->records->strtab);
    link_mirrors(em);
}

/* ---- names ---- */

/* The names of renamed sections are written over the old ones.  Static functions of one name share
 * the string: nvlink renames it once for each, and the second time takes what is left where the
 * function's name was. */
static void rename_in_place(cbi_emit *em, const cbi_emit_sec *s)
{
    const cbi_linker *lk = em->lk;
    const cbi_osec *sec = s->src;
    const cbi_osec *constant = sec->target && cbi_is_reloc_list(sec) ? sec->target : sec;
    const cbi_name *renamed = sass_name(lk, constant);
    size_t length = constant->name->len;
    /* New names are shorter, and relocations are named after what they patch: the reader looked. */
    if (!renamed || renamed->len > length || sec->name->len < length)
        return;
    size_t prefix = constant == sec ? 0 : sec->name->len - length;
    char *at = (char *)em->shstr.items + s->name_offset + prefix;
    const char *name = renamed->s;
    const char *function = strchr(name + strlen(".nv."), '.');
    if (lk->quirks.namesakes_renamed && function && memcmp(at, constant->name->s, length) != 0)
        name = cbi_printf(lk->ctx, "%.*s%s", (int)(function + 1 - name), name,
                          at + length - strlen(function + 1));
    memmove(at, name, strlen(name));
    memset(at + strlen(name), 0, length - strlen(name));
    em->strtab_extra += constant == sec ? length - renamed->len - 1 : sec->name->len;
}

static uint32_t add_name(const cbi_emit *em, cbi_buf *strings, const cbi_emit_sec *s)
{
    const uint32_t place = (uint32_t)strings->len;
    cbi_buf_append(em->lk->ctx, strings, s->prefix, strlen(s->prefix));
    cbi_buf_append(em->lk->ctx, strings, s->name, strlen(s->name) + 1);
    return place;
}

static void build_names(cbi_emit *em)
{
    const cbi_linker *lk = em->lk;
    cbi_buf_append(lk->ctx, &em->shstr, lk->tables->shstr.data, lk->tables->shstr.size);
    cbi_buf_append(lk->ctx, &em->str, lk->tables->str.data, lk->tables->str.size);
    for (size_t i = 1; i < lk->tables->out.len; i++)
        rename_in_place(em, &em->secs.items[i]);
    for (size_t i = lk->tables->out.len; i < em->secs.len; i++) {
        cbi_emit_sec *s = &em->secs.items[i];
        s->name_offset = add_name(em, &em->shstr, s);
    }
    for (size_t i = 1; i < lk->tables->out.len; i++) {
        const cbi_osec *sec = lk->tables->out.items[i];
        const cbi_name *renamed = sass_name(lk, sec);
        if (!renamed)
            continue;
        em->symbol_name[i] = (uint32_t)em->str.len;
        cbi_buf_append(lk->ctx, &em->str, renamed->s, renamed->len + 1);
    }
    for (size_t i = lk->tables->out.len; i < em->first_mirror; i++) {
        em->bank_names[i - lk->tables->out.len] = add_name(em, &em->str, &em->secs.items[i]);
    }
}

/* ---- offsets ---- */

enum { STRTAB_GAP = 36 };

static void place(cbi_emit *em)
{
    uint64_t cur = sizeof(Elf64_Ehdr);
    for (size_t i = 1; i < em->secs.len; i++) {
        cbi_emit_sec *s = &em->secs.items[i];
        if (s->src == em->lk->records->strtab && s->src)
            cur += STRTAB_GAP;
        if (s->src == em->lk->records->symtab && s->src)
            cur += em->strtab_extra;
        if (s->alias) {
            s->offset = em->secs.items[s->alias].offset;
            continue;
        }
        s->offset = cur = cbi_align_up(cur, s->align);
        if (s->stored)
            cur += s->size;
    }
    em->shoff = cbi_align_up(cur, 8);
}

/* Does a list name a return address at which the code has no instruction? */
static bool is_astray(const cbi_linker *lk, const cbi_osec *text)
{
    const cbi_mercury_places *places = cbi_mercury_places_of(lk, text->func);
    for (size_t i = 0; places && i < text->rela->relocs.len; i++) {
        const cbi_lrel *r = text->rela->relocs.items[i];
        if (cbi_is_return_address(r->type) && !cbi_mercury_place_at(places, (uint64_t)r->addend))
            return true;
    }
    return false;
}

/* nvlink dies when a return address of a function's namesake is none of its own. */
static void refuse_astray(const cbi_linker *lk)
{
    for (size_t i = 0; lk->quirks.namesakes_astray && i < lk->symbols->funcs.len; i++) {
        const cbi_func *f = lk->symbols->funcs.items[i];
        if (!f->obj || !f->obj->mercury || f->alias_of || !f->text ||
            !cbi_section_index(lk, f->text) || !f->text->rela ||
            !f->obj->mercury->borrowed[f->in_sec] || !is_astray(lk, f->text))
            continue;
        cbi_fatal(lk->ctx, "finalizer",
                  &(cbi_place){.file = f->obj->file, .symbol = f->sym->name->s},
                  cbi_printf(lk->ctx,
                             "there are several functions '%s', whose relocations nvlink mixes up "
                             "and crashes; without --emulate this links",
                             f->sym->name->s),
                  "Internal FNLZR error '%s'", f->obj->file);
    }
}

void cbi_mercury_emit(const cbi_linker *lk, cbi_sink *sink)
{
    const char *name = lk->opt->output_name;
    cbi_mercury_trace(lk, "FNLZR: Input ELF: %s", name);
    cbi_mercury_trace(lk, "FNLZR: %s Mode", lk->exec ? "Post-Link" : "Pre-Link");
    cbi_mercury_trace(lk, "FNLZR: Flags [ 1 | 0 ]");
    cbi_mercury_trace(lk, "FNLZR: Starting %s", name);
    cbi_mercury_open(lk);
    refuse_astray(lk);
    cbi_emit em = {.lk = lk};
    cbi_mercury_place_images(lk);
    cbi_mercury_stop_yields(lk);
    cbi_mercury_trace(lk, "FNLZR: phase 1: code");
    cbi_mercury_rewrite(lk);
    cbi_mercury_trace_code(lk);
    cbi_mercury_trace(lk, "FNLZR: phase 2: sections of the SASS side");
    /* both sides, the banks and .nv.merc.symtab */
    cbi_vec_reserve(lk->ctx, &em.secs, 2 * lk->tables->out.len + lk->symbols->funcs.len + 1);
    em.partner = CBI_NEW_ARRAY(lk->ctx, lk->tables->out.len, uint32_t);
    em.symbol_name = CBI_NEW_ARRAY(lk->ctx, lk->tables->out.len, uint32_t);
    em.bank_symbols = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len + 1, uint32_t);
    em.bank_names = CBI_NEW_ARRAY(lk->ctx, lk->symbols->funcs.len + 1, uint32_t);
    add_sass_sections(&em);
    add_banks(&em);
    cbi_mercury_trace(lk, "FNLZR: phase 3: debug data and attributes");
    cbi_link_both(lk, lk->symbols->funcs.len, fill_debug, fill_attributes, &em);
    cbi_link_in_shares(lk, lk->tables->out.len, fill_apart, &em);
    cbi_mercury_trace(lk, "FNLZR: phase 4: sections of the Mercury side");
    em.first_mirror = em.secs.len;
    add_mirrors(&em);
    build_names(&em);
    cbi_mercury_trace(lk, "FNLZR: phase 5: symbols");
    cbi_mercury_symtabs(&em);
    set_bytes(&em.secs.items[cbi_section_index(lk, lk->records->shstrtab)], em.shstr.items,
              em.shstr.len);
    set_bytes(&em.secs.items[cbi_section_index(lk, lk->records->strtab)], em.str.items, em.str.len);
    place(&em);
    cbi_mercury_write(&em, sink);
    cbi_mercury_trace(lk, "FNLZR: result 0");
    cbi_mercury_trace(lk, "FNLZR: Ending %s", name);
}
