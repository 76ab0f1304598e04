/* Tables of inspect.h: header, segments, sections, symbols, relocations. */
#include "inspect/image.h"

#include "format/reloc.h"
#include "format/section.h"

static const char *type_name(uint16_t type)
{
    switch (type) {
    case ET_REL:
        return "relocatable";
    case ET_EXEC:
        return "executable";
    case ET_CUDA_EWP:
        return "extensible-whole-program";
    default:
        return NULL;
    }
}

static const char *kind_name(const cbi_object *o)
{
    if (o->ident[EI_OSABI] == ELFOSABI_CUDA_LEGACY)
        return NULL;
    switch (o->flags & 0xff) {
    case EF_CUDA_KIND_SASS:
        return "sass";
    case EF_CUDA_KIND_CAPMERC:
        return "sass+capsule";
    case EF_CUDA_KIND_MERCURY:
        return "mercury";
    default:
        return "unknown";
    }
}

static void make_header(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    cb_header *h = CBI_NEW(&image->ctx, cb_header);
    cbi_cuinfo cuinfo = cbi_object_cuinfo(o);
    *h = (cb_header){
        .type = o->type,
        .type_name = type_name(o->type),
        .sm = o->sm,
        .osabi = o->ident[EI_OSABI],
        .abi_version = o->ident[EI_ABIVERSION],
        .version = o->version,
        .flags = o->flags,
        .kind = kind_name(o),
        .cuinfo_section = EF_CUDA_CUINFO(o->flags),
        .entry = o->entry,
        .section_table = o->shoff,
        .section_count = o->section_count,
        .name_table = o->shstrndx,
        .program_table = o->phoff,
        .program_entry_size = o->phentsize,
        .program_count = o->phnum,
        .file_size = o->bytes.size,
        .toolkit = cuinfo.present ? cuinfo.toolkit : 0,
        .virtual_sm = cuinfo.present ? cuinfo.virtual_sm : 0,
        .elf_class = o->class && o->class->narrow ? 32 : 64,
    };
    table->rows = h;
    table->count = 1;
}

const cb_header *cb_image_header(cb_image *image)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_HEADER, make_header), cb_header, 0);
}

static void make_segments(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    const size_t size = o->class ? o->class->size[CBI_ELF_PHDR] : 0;
    if (size == 0 || o->phentsize != size)
        return;
    cb_segment *rows = CBI_NEW_ARRAY(&image->ctx, o->phnum, cb_segment);
    table->rows = rows;
    for (size_t i = 0; i < o->phnum && cbi_fits(o->phoff, (i + 1) * size, o->bytes.size); i++) {
        cbi_program_header h = cbi_object_segment(o, i);
        rows[table->count++] = (cb_segment){.type = h.type,
                                            .flags = h.flags,
                                            .offset = h.offset,
                                            .address = h.address,
                                            .file_size = h.file_size,
                                            .memory_size = h.memory_size,
                                            .align = h.align};
    }
}

size_t cb_image_segment_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_SEGMENTS, make_segments)->count;
}

const cb_segment *cb_image_segment(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_SEGMENTS, make_segments), cb_segment,
                         index);
}

static void make_sections(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    cb_section *rows = CBI_NEW_ARRAY(&image->ctx, o->section_count, cb_section);
    for (uint32_t i = 0; i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        rows[i] = (cb_section){
            .name = s->name ? s->name : "",
            .type = s->type,
            .type_name = cbi_section_type_name(s->type),
            .flags = s->flags,
            .offset = s->offset,
            .size = s->size,
            .link = s->link,
            .info = s->info,
            .align = s->align,
            .entsize = s->entsize,
            .data = s->data.size ? s->data.data : NULL,
            .data_size = s->data.size,
            .view = cbi_section_is_mercury(s) ? CB_VIEW_MERCURY : CB_VIEW_SASS,
        };
    }
    table->rows = rows;
    table->count = o->section_count;
}

size_t cb_image_section_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_SECTIONS, make_sections)->count;
}

const cb_section *cb_image_section(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_SECTIONS, make_sections), cb_section,
                         index);
}

uint32_t cb_image_find_section(cb_image *image, const char *name)
{
    uint32_t index = image->object.sections ? cbi_object_find(&image->object, name) : 0;
    return index ? index : CB_NONE;
}

uint32_t cb_image_section_at(cb_image *image, uint64_t file_offset, uint64_t *ret_offset)
{
    const cbi_object *o = &image->object;
    for (uint32_t i = 1; o->sections && i < o->section_count; i++) {
        const cbi_section *s = &o->sections[i];
        if (s->data.size && file_offset >= s->offset && file_offset - s->offset < s->size) {
            *ret_offset = file_offset - s->offset;
            return i;
        }
    }
    return CB_NONE;
}

static void fill_symbols(cb_image *image, cbi_table *table, bool mercury)
{
    cbi_ctx *ctx = &image->ctx;
    const cbi_object *o = &image->object;
    const cbi_symbol *symbols = mercury ? o->merc_symbols : o->symbols;
    uint32_t count = mercury ? o->merc_symbol_count : o->symbol_count;
    cb_symbol *rows = CBI_NEW_ARRAY(ctx, count, cb_symbol);
    for (uint32_t i = 0; i < count; i++) {
        const cbi_symbol *s = &symbols[i];
        bool real = s->shndx != SHN_UNDEF && s->shndx < o->section_count;
        rows[i] = (cb_symbol){
            .name = s->name ? s->name : "",
            .shown = i ? cbi_show_symbol(ctx, o, mercury, i) : "0",
            .value = s->value,
            .size = s->size,
            .info = s->info,
            .other = s->other,
            .bind = cbi_show_bind(ctx, s->info),
            .type = cbi_show_symbol_type(ctx, s->info),
            .attributes = cbi_show_other(ctx, s),
            .section = real ? s->shndx : CB_NONE,
            .section_name = cbi_show_section(ctx, o, s->shndx),
        };
    }
    table->rows = rows;
    table->count = count;
}

static void make_symbols(cb_image *image, cbi_table *table)
{
    fill_symbols(image, table, false);
}

static void make_mercury_symbols(cb_image *image, cbi_table *table)
{
    if (image->object.merc_symtab)
        fill_symbols(image, table, true);
}

static const cbi_table *symbol_table(cb_image *image, cb_view view)
{
    return view == CB_VIEW_MERCURY
               ? cbi_image_table(image, CBI_TABLE_MERC_SYMBOLS, make_mercury_symbols)
               : cbi_image_table(image, CBI_TABLE_SYMBOLS, make_symbols);
}

size_t cb_image_symbol_count(cb_image *image, cb_view view)
{
    return symbol_table(image, view)->count;
}

const cb_symbol *cb_image_symbol(cb_image *image, cb_view view, size_t index)
{
    return CBI_TABLE_ROW(symbol_table(image, view), cb_symbol, index);
}

/* ---- relocations ---- */

static const char *resolver_name(const cbi_reloc_type *type)
{
    static const char *const names[] = {"none", "linker", "either", "driver", "finalizer"};
    return type && type->klass < CBI_COUNT(names) ? names[type->klass] : "none";
}

/* The fields of a type, made once per type and image. */
static const cb_reloc_field *fields_of(cbi_ctx *ctx, cbi_map *made, const cbi_reloc_type *type)
{
    if (!type || !type->field_count)
        return NULL;
    cb_reloc_field *fields = cbi_map_get(made, CBI_KEY(type));
    if (fields)
        return fields;
    fields = CBI_NEW_ARRAY(ctx, type->field_count, cb_reloc_field);
    for (size_t i = 0; i < type->field_count; i++) {
        const cbi_reloc_field *f = &type->fields[i];
        fields[i] =
            (cb_reloc_field){f->start, f->width, f->shift, cbi_reloc_source_name(f->source)};
    }
    cbi_map_put(ctx, made, CBI_KEY(type), fields);
    return fields;
}

static void fill_relocations(cb_image *image, uint32_t section, cbi_map *made, cb_relocation *rows)
{
    const cbi_object *o = &image->object;
    const cbi_section *s = &o->sections[section];
    bool mercury = cbi_section_is_mercury(s);
    uint32_t symbols = mercury ? o->merc_symbol_count : o->symbol_count;
    size_t count = cbi_rela_count(s);
    for (size_t i = 0; i < count; i++) {
        cbi_rela rela = cbi_rela_at(s, i);
        const cbi_reloc_type *type = cbi_reloc_find(rela.type);
        rows[i] = (cb_relocation){
            .section = section,
            .target = s->info < o->section_count ? s->info : CB_NONE,
            .offset = rela.offset,
            .type = rela.type,
            .name = type ? type->name : NULL,
            .symbol = rela.symbol < symbols ? rela.symbol : CB_NONE,
            .symbol_name = cbi_show_symbol(&image->ctx, o, mercury, rela.symbol),
            .addend = rela.addend,
            .has_addend = s->type != SHT_REL,
            .resolved = cbi_is_resolved_type(s->type),
            .view = mercury ? CB_VIEW_MERCURY : CB_VIEW_SASS,
            .resolver = resolver_name(type),
            .field_count = type ? type->field_count : 0,
            .fields = fields_of(&image->ctx, made, type),
        };
    }
}

static void make_relocations(cb_image *image, cbi_table *table)
{
    const cbi_object *o = &image->object;
    size_t count = 0;
    for (uint32_t i = 1; i < o->section_count; i++)
        if (cbi_is_reloc_type(o->sections[i].type))
            count += cbi_rela_count(&o->sections[i]);
    cb_relocation *rows = CBI_NEW_ARRAY(&image->ctx, count, cb_relocation);
    cbi_map made = {0};
    size_t at = 0;
    for (uint32_t i = 1; i < o->section_count; i++) {
        if (!cbi_is_reloc_type(o->sections[i].type))
            continue;
        fill_relocations(image, i, &made, rows + at);
        at += cbi_rela_count(&o->sections[i]);
    }
    table->rows = rows;
    table->count = count;
}

size_t cb_image_relocation_count(cb_image *image)
{
    return cbi_image_table(image, CBI_TABLE_RELOCATIONS, make_relocations)->count;
}

const cb_relocation *cb_image_relocation(cb_image *image, size_t index)
{
    return CBI_TABLE_ROW(cbi_image_table(image, CBI_TABLE_RELOCATIONS, make_relocations),
                         cb_relocation, index);
}
