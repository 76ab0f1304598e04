/* Small device objects from a line of text each, linked through the public interface.
 *
 * A module is a list of symbols, separated by ';':
 *
 *   [weak|static|common|extern] kernel|func|global|init|const|shared NAME [KEY=VALUE]...
 *
 * Functions: size= (bytes of code), regs=, stack= (frame), maxregs=, maxstack= (the kernel's
 * limits), calls=F,G, uses=V,W (a relocation against each variable), tables=N (bytes of optimizer
 * constants, from tableat= on), params=N (bytes of parameters), rel=TYPE:SYMBOL[+ADDEND] (or
 * TYPE:.SECTION, or TYPE:- without a symbol), fill= (each byte of the constants or, without any,
 * of the code). Variables: size=, align=, fill= (each byte), rel=, type= (of the section).  What is
 * called or used and has no definition in the module is declared by a line of its own with
 * `extern`.
 *
 * A text that begins with "@cudadevrt " is an input by such a name; with "@toolkit=VERSION " it
 * says that such a compiler made it, with "@note=VERSION " it has a note of that layout, "@nonote "
 * none, with "@sm=NUMBER " it is for that chip, and with "@virtual=NUMBER " its PTX was for that
 * one.
 *
 * With CUBIND_MODULES set to a folder, each link leaves its inputs, options and result there, and
 * tests/cases/modules.py compares them with nvlink's. */
#ifndef CBI_UNIT_MODULES_H
#define CBI_UNIT_MODULES_H

#include "unit.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/cuda_elf.h"
#include "format/eiattr.h"
#include "object/object.h"
#include "input/input.h"
#include "link/link.h"
#include "mercury/operations.h"

typedef struct module_symbol {
    char kind[8], link[8], name[32];
    unsigned size, align, fill, regs, stack, maxregs, maxstack, tables, table_at, params, flags,
        type;
    const char *calls, *uses, *rel, *attr;
    uint32_t section, index, bank_section, bank, table_section, table;
} module_symbol;

typedef struct module_section {
    Elf64_Shdr header;
    char name[48];
    cbi_buf bytes;
} module_section;

typedef struct module {
    cbi_ctx *ctx;
    unsigned sm, virtual_sm, toolkit, note; /* note: its version, 0: none */
    module_symbol symbols[24];
    size_t symbol_count;
    module_section sections[64];
    uint32_t section_count;
    cbi_buf strings, table; /* .strtab, .symtab */
} module;

/* ---- reading the text ---------------------------------------------------------------------- */

static inline void module_key(module_symbol *s, const char *word)
{
    static const struct {
        const char *key;
        size_t member;
    } numbers[] = {
        {"size=", offsetof(module_symbol, size)},
        {"align=", offsetof(module_symbol, align)},
        {"fill=", offsetof(module_symbol, fill)},
        {"regs=", offsetof(module_symbol, regs)},
        {"stack=", offsetof(module_symbol, stack)},
        {"maxregs=", offsetof(module_symbol, maxregs)},
        {"maxstack=", offsetof(module_symbol, maxstack)},
        {"tables=", offsetof(module_symbol, tables)},
        {"tableat=", offsetof(module_symbol, table_at)},
        {"params=", offsetof(module_symbol, params)},
        {"flags=", offsetof(module_symbol, flags)},
        {"type=", offsetof(module_symbol, type)},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        size_t len = strlen(numbers[i].key);
        if (strncmp(word, numbers[i].key, len) == 0) {
            *(unsigned *)((char *)s + numbers[i].member) = (unsigned)strtoul(word + len, NULL, 0);
            return;
        }
    }
    if (strncmp(word, "calls=", 6) == 0)
        s->calls = word + 6;
    else if (strncmp(word, "uses=", 5) == 0)
        s->uses = word + 5;
    else if (strncmp(word, "rel=", 4) == 0)
        s->rel = word + 4;
    else if (strncmp(word, "attr=", 5) == 0)
        s->attr = word + 5;
    else
        fail_msg("module: what is %s?", word);
}

static inline bool module_is_link(const char *word)
{
    return !strcmp(word, "weak") || !strcmp(word, "static") || !strcmp(word, "common") ||
           !strcmp(word, "extern");
}

static inline void module_read(module *m, const char *text)
{
    char *line_end, *word_end, *copy = cbi_printf(m->ctx, "%s", text);
    for (char *line = strtok_r(copy, ";", &line_end); line; line = strtok_r(NULL, ";", &line_end)) {
        char *word = strtok_r(line, " ", &word_end);
        if (!word)
            continue;
        assert_true(m->symbol_count < 24);
        module_symbol *s = &m->symbols[m->symbol_count++];
        *s = (module_symbol){.regs = 16, .align = 4, .link = "global"};
        if (module_is_link(word)) {
            snprintf(s->link, sizeof s->link, "%s", word);
            word = strtok_r(NULL, " ", &word_end);
        }
        snprintf(s->kind, sizeof s->kind, "%s", word);
        snprintf(s->name, sizeof s->name, "%s", strtok_r(NULL, " ", &word_end));
        while ((word = strtok_r(NULL, " ", &word_end)))
            module_key(s, word);
    }
}

static inline bool module_is_function(const module_symbol *s)
{
    return !strcmp(s->kind, "kernel") || !strcmp(s->kind, "func");
}

static inline bool module_is_here(const module_symbol *s)
{
    return strcmp(s->kind, "compat") != 0 && strcmp(s->link, "extern") != 0;
}

static inline module_symbol *module_find(module *m, const char *name)
{
    for (size_t i = 0; i < m->symbol_count; i++)
        if (strcmp(m->symbols[i].name, name) == 0)
            return &m->symbols[i];
    fail_msg("module: no symbol %s", name);
    return NULL;
}

/* ---- sections and symbols ------------------------------------------------------------------- */

static inline module_section *module_section_of(module *m, const char *name)
{
    for (uint32_t i = 1; i <= m->section_count; i++)
        if (strcmp(m->sections[i].name, name) == 0)
            return &m->sections[i];
    return NULL;
}

static inline module_section *module_add_section(module *m, const char *name, uint32_t type,
                                                 uint64_t flags, uint64_t align)
{
    module_section *found = module_section_of(m, name);
    if (found)
        return found;
    assert_true(m->section_count < 62);
    module_section *s = &m->sections[++m->section_count];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->header = (Elf64_Shdr){.sh_type = type, .sh_flags = flags, .sh_addralign = align};
    return s;
}

static inline uint32_t module_index(const module *m, const module_section *s)
{
    return (uint32_t)(s - m->sections);
}

static inline uint32_t module_string(module *m, const char *s)
{
    uint32_t at = (uint32_t)m->strings.len;
    cbi_buf_append(m->ctx, &m->strings, s, strlen(s) + 1);
    return at;
}

static inline uint32_t module_add_symbol(module *m, const char *name, uint8_t info, uint8_t other,
                                         uint32_t section, uint64_t value, uint64_t size)
{
    Elf64_Sym s = {.st_name = *name ? module_string(m, name) : 0,
                   .st_info = info,
                   .st_other = other,
                   .st_shndx = (uint16_t)section,
                   .st_value = value,
                   .st_size = size};
    cbi_buf_append(m->ctx, &m->table, &s, sizeof s);
    return (uint32_t)(m->table.len / sizeof s - 1);
}

/* The bytes of a section grow by those, aligned; returns where they lie. */
static inline uint64_t module_put(module *m, module_section *sec, unsigned size, unsigned align,
                                  unsigned fill)
{
    if (sec->header.sh_addralign < align)
        sec->header.sh_addralign = align;
    uint64_t at = cbi_align_up(sec->header.sh_size, align);
    sec->header.sh_size = at + size;
    if (cbi_section_has_data(sec->header.sh_type)) {
        cbi_buf_append(m->ctx, &sec->bytes, NULL, at + size - sec->bytes.len);
        if (size)
            memset((uint8_t *)sec->bytes.items + at, (int)fill, size);
    }
    return at;
}

static inline void module_attr(module *m, module_section *sec, uint8_t code, const uint32_t *words,
                               unsigned count)
{
    uint8_t head[4] = {4, code, (uint8_t)(4 * count), 0};
    cbi_buf_append(m->ctx, &sec->bytes, head, 4);
    cbi_buf_append(m->ctx, &sec->bytes, words, 4 * count);
    sec->header.sh_size = sec->bytes.len;
}

static inline void module_half(module *m, module_section *sec, uint8_t code, unsigned value)
{
    uint8_t record[4] = {3, code, (uint8_t)value, (uint8_t)(value >> 8)};
    cbi_buf_append(m->ctx, &sec->bytes, record, 4);
    sec->header.sh_size = sec->bytes.len;
}

/* The sections of variables: name, type, flags, st_other. */
static inline const struct module_space {
    const char *kind, *section;
    uint32_t type;
    uint64_t flags;
    uint8_t other;
    uint32_t reloc;
} * module_space(const char *kind)
{
    static const struct module_space spaces[] = {
        {"global", ".nv.global", SHT_CUDA_GLOBAL, 3, 0x20, 56},
        {"init", ".nv.global.init", SHT_CUDA_GLOBAL_INIT, 3, 0x20, 56},
        {"const", ".nv.constant3", SHT_CUDA_CONSTANT_B0 + 3, 2, 0x80, 64},
        {"shared", ".nv_debug.shared", SHT_CUDA_SHARED, 3, 0x40, 74},
        {"func", "", 0, 0, 0, 58},
        {"kernel", "", 0, 0, 0x10, 56},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (strcmp(spaces[i].kind, kind) == 0)
            return &spaces[i];
    fail_msg("module: no kind %s", kind);
    return NULL;
}

/* ---- the object ----------------------------------------------------------------------------- */

static inline void module_place(module *m, module_symbol *s)
{
    const struct module_space *space = module_space(s->kind);
    uint8_t bind = !strcmp(s->link, "weak")     ? STB_WEAK
                   : !strcmp(s->link, "static") ? STB_LOCAL
                                                : STB_GLOBAL;
    uint8_t type = module_is_function(s) ? STT_FUNC : 13;
    uint64_t value = 0, size = s->size;
    if (!module_is_here(s)) {
        s->section = 0;
    } else if (!strcmp(s->link, "common")) {
        s->section = SHN_COMMON;
        value = s->align;
    } else if (module_is_function(s)) {
        size = s->size ? s->size : 128;
        module_put(m, &m->sections[s->section], (unsigned)size, 1, s->tables ? 0 : s->fill);
    } else {
        value = module_put(m, &m->sections[s->section], s->size, s->align, s->fill);
        if (!strcmp(s->kind, "shared")) /* laid out by the link */
            value = s->align;
    }
    s->index = module_add_symbol(m, s->name, (uint8_t)(bind << 4 | type), space->other, s->section,
                                 value, size);
}

static inline void module_relocate(module *m, module_section *target, uint64_t offset,
                                   uint32_t type, uint32_t symbol, int64_t addend, bool rela)
{
    const char *name = cbi_printf(m->ctx, "%s%s", rela ? ".rela" : ".rel", target->name);
    module_section *sec = module_add_section(m, name, rela ? SHT_RELA : SHT_REL, 0x40, 8);
    Elf64_Rela r = {offset, ELF64_R_INFO(symbol, type), addend};
    sec->header.sh_entsize = rela ? 24 : 16;
    sec->header.sh_info = module_index(m, target);
    cbi_buf_append(m->ctx, &sec->bytes, &r, sec->header.sh_entsize);
    sec->header.sh_size = sec->bytes.len;
}

static inline uint32_t module_section_symbol(module *m, const char *name)
{
    const Elf64_Sym *symbols = (const Elf64_Sym *)m->table.items;
    for (uint32_t i = 1; i < m->table.len / sizeof *symbols; i++)
        if (symbols[i].st_info == STT_SECTION &&
            strcmp(m->sections[symbols[i].st_shndx].name, name) == 0)
            return i;
    fail_msg("module: no section %s", name);
    return 0;
}

/* rel=TYPE:SYMBOL[+ADDEND] at a place in the symbol's section. */
static inline void module_explicit(module *m, const module_symbol *s, uint64_t offset)
{
    char name[32];
    unsigned type = 0, addend = 0;
    int got = sscanf(s->rel, "%u:%31[^+]+%u", &type, name, &addend);
    assert_true(got >= 2);
    uint32_t symbol = *name == '-'   ? 0
                      : *name == '.' ? module_section_symbol(m, name)
                                     : module_find(m, name)->index;
    module_relocate(m, &m->sections[s->section], offset, type, symbol, addend, got == 3);
}

static inline void module_names(module *m, const module_symbol *s, const char *names,
                                uint64_t *offset, cbi_buf *calls)
{
    char *end, *copy = cbi_printf(m->ctx, "%s", names);
    for (char *name = strtok_r(copy, ",", &end); name; name = strtok_r(NULL, ",", &end)) {
        module_symbol *to = module_find(m, name);
        module_relocate(m, &m->sections[s->section], *offset, module_space(to->kind)->reloc,
                        to->index, 0, false);
        *offset += 16;
        uint32_t edge[2] = {s->index, to->index};
        if (calls)
            cbi_buf_append(m->ctx, calls, edge, 8);
    }
}

/* The last such letter of so many. */
static inline const char *module_last(const char *text, char letter, size_t count)
{
    const char *found = memrchr(text, letter, count);
    assert_non_null(found);
    return found;
}

/* attr=FORMAT.CODE.VALUE,...; of format 4 VALUE/VALUE/... */
static inline void module_attributes(module *m, const module_symbol *s, module_section *own)
{
    for (const char *at = s->attr; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        unsigned format, code, value;
        assert_int_equal(sscanf(at, "%u.%x.%u", &format, &code, &value), 3);
        uint8_t record[32] = {(uint8_t)format, (uint8_t)code, (uint8_t)value,
                              (uint8_t)(value >> 8)};
        size_t size = 4, words = strcspn(at, ",");
        for (const char *word = module_last(at, '.', words); format == 4 && word < at + words;
             word += 1 + strcspn(word + 1, "/,")) {
            assert_true(size < sizeof record);
            cbi_st32(record + size, (uint32_t)strtoul(word + 1, NULL, 10));
            size += 4;
        }
        if (format == 4)
            cbi_st16(record + 2, (uint16_t)(size - 4));
        cbi_buf_append(m->ctx, &own->bytes, record, size);
        own->header.sh_size = own->bytes.len;
    }
}

/* compat NAME attr=...: the records of .nv.compat. */
static inline void module_compat(module *m, const module_symbol *s)
{
    module_section *sec = module_add_section(m, ".nv.compat", SHT_CUDA_COMPAT, 0, 4);
    module_attributes(m, s, sec);
}

static inline void module_function(module *m, module_symbol *s, module_section *info,
                                   cbi_buf *calls)
{
    module_section *text = &m->sections[s->section];
    text->header.sh_info = s->regs << 24 | s->index;
    text->header.sh_flags |= s->flags;
    uint64_t offset = 0;
    if (s->calls)
        module_names(m, s, s->calls, &offset, calls);
    if (s->uses)
        module_names(m, s, s->uses, &offset, NULL);
    if (s->rel) {
        module_explicit(m, s, offset);
        offset += 16;
    }
    module_attr(m, info, EIATTR_REGCOUNT, (uint32_t[]){s->index, s->regs}, 2);
    module_attr(m, info, EIATTR_MAX_STACK_SIZE, (uint32_t[]){s->index, s->maxstack}, 2);
    module_attr(m, info, EIATTR_FRAME_SIZE, (uint32_t[]){s->index, s->stack}, 2);
    module_section *own =
        module_add_section(m, cbi_printf(m->ctx, ".nv.info.%s", s->name), SHT_CUDA_INFO, 0x40, 4);
    own->header.sh_info = s->section;
    module_attr(m, own, EIATTR_CUDA_API_VERSION, (uint32_t[]){130}, 1);
    if (!strcmp(s->kind, "kernel"))
        module_half(m, own, EIATTR_MAXREG_COUNT, s->maxregs ? s->maxregs : 255);
    module_attributes(m, s, own);
    if (s->tables) {
        m->sections[s->table_section].header.sh_info = s->section;
        module_relocate(m, text, offset, module_space("const")->reloc, s->table, 0, false);
    }
    if (s->bank) {
        uint32_t start = m->sm < 90 ? 0x160 : 0x210;
        m->sections[s->bank_section].header.sh_info = s->section;
        module_attr(m, own, EIATTR_PARAM_CBANK, (uint32_t[]){s->bank, start}, 2);
        module_half(m, own, EIATTR_CBANK_PARAM_SIZE, 0);
    }
}

/* The section that a symbol lies in, and a kernel's bank of parameters, with their symbols. */
static inline void module_open(module *m, module_symbol *s)
{
    if (!module_is_here(s) || !strcmp(s->link, "common"))
        return;
    const struct module_space *space = module_space(s->kind);
    uint32_t before = m->section_count;
    module_section *sec =
        module_is_function(s)
            ? module_add_section(m, cbi_printf(m->ctx, ".text.%s", s->name), SHT_PROGBITS, 6, 128)
            : module_add_section(m, space->section, s->type ? s->type : space->type, space->flags,
                                 1);
    s->section = module_index(m, sec);
    if (m->section_count > before)
        module_add_symbol(m, sec->name, STT_SECTION, 0, s->section, 0, 0);
    if (s->tables) {
        sec = module_add_section(m, cbi_printf(m->ctx, ".nv.constant2.%s", s->name),
                                 SHT_CUDA_CONSTANT_B0 + 2, 0x42, 4);
        module_put(m, sec, s->table_at, 4, 0);
        module_put(m, sec, s->tables, 1, s->fill);
        s->table_section = module_index(m, sec);
        module_add_symbol(m, sec->name, STT_SECTION, 0, s->table_section, 0, 0);
        s->table = module_add_symbol(m, cbi_printf(m->ctx, "%s.const_opt.0.%u", s->name, s->tables),
                                     13, 0x81, s->table_section, s->table_at, s->tables);
    }
    if (strcmp(s->kind, "kernel") != 0)
        return;
    sec = module_add_section(m, cbi_printf(m->ctx, ".nv.constant0.%s", s->name),
                             SHT_CUDA_CONSTANT_B0, 0x42, 4);
    module_put(m, sec, (m->sm < 90 ? 0x160 : 0x210) + s->params, 4, 0);
    s->bank_section = module_index(m, sec);
    s->bank = module_add_symbol(m, sec->name, STT_SECTION, 0, s->bank_section, 0, 0);
}

/* Symbols in the compiler's order: static ones, weak definitions, the others. */
static inline int module_rank(const module_symbol *s)
{
    return !strcmp(s->link, "static") ? 0 : !strcmp(s->link, "weak") ? 1 : 2;
}

static inline cbi_span module_write(module *m)
{
    cbi_buf out = {0}, names = {0}, headers = {0};
    Elf64_Ehdr header = {.e_type = ET_REL,
                         .e_machine = 190,
                         .e_version = 1,
                         .e_flags = 0x4000004 | m->sm << 8,
                         .e_ehsize = 64,
                         .e_shentsize = 64,
                         .e_shnum = (uint16_t)(m->section_count + 1),
                         .e_shstrndx = 1,
                         .e_ident = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8}};
    cbi_buf_append(m->ctx, &names, "", 1);
    for (uint32_t i = 1; i <= m->section_count; i++) {
        m->sections[i].header.sh_name = (uint32_t)names.len;
        cbi_buf_append(m->ctx, &names, m->sections[i].name, strlen(m->sections[i].name) + 1);
    }
    m->sections[1].bytes = names;
    m->sections[2].bytes = m->strings;
    m->sections[3].bytes = m->table;
    cbi_buf_append(m->ctx, &out, NULL, 64);
    cbi_buf_append(m->ctx, &headers, NULL, 64);
    for (uint32_t i = 1; i <= m->section_count; i++) {
        module_section *s = &m->sections[i];
        uint64_t align = s->header.sh_addralign ? s->header.sh_addralign : 1;
        cbi_buf_append(m->ctx, &out, NULL, (size_t)((align - out.len % align) % align));
        s->header.sh_offset = out.len;
        if (s->bytes.len) {
            s->header.sh_size = s->bytes.len;
            cbi_buf_append(m->ctx, &out, s->bytes.items, s->bytes.len);
        }
        cbi_buf_append(m->ctx, &headers, &s->header, 64);
    }
    cbi_buf_append(m->ctx, &out, NULL, (8 - out.len % 8) % 8);
    header.e_shoff = out.len;
    cbi_buf_append(m->ctx, &out, headers.items, headers.len);
    memcpy(out.items, &header, sizeof header);
    return (cbi_span){(const uint8_t *)out.items, out.len};
}

static inline void module_note(module *m)
{
    uint8_t note[32] = {12, 0, 0, 0, 8, 0, 0, 0, 0xe8, 3};
    memcpy(note + 12, "NVIDIA Corp", 12);
    cbi_st16(note + 24, (uint16_t)m->note);
    cbi_st16(note + 26, (uint16_t)(m->virtual_sm ? m->virtual_sm : m->sm));
    cbi_st16(note + 28, (uint16_t)m->toolkit);
    module_section *s = module_add_section(m, ".note.nv.cuinfo", SHT_NOTE, 0x1000000, 4);
    cbi_buf_append(m->ctx, &s->bytes, note, sizeof note);
}

static inline cbi_span module_make(cbi_ctx *ctx, unsigned sm, const char *text)
{
    module *m = cbi_alloc(ctx, sizeof *m);
    memset(m, 0, sizeof *m);
    m->ctx = ctx;
    m->sm = sm;
    m->toolkit = 130;
    m->note = 2;
    if (text[0] == '@') {
        sscanf(text, "@toolkit=%u", &m->toolkit);
        sscanf(text, "@note=%u", &m->note);
        sscanf(text, "@sm=%u", &m->sm);
        sscanf(text, "@virtual=%u", &m->virtual_sm);
        m->note = strncmp(text, "@nonote", 7) == 0 ? 0 : m->note;
        text = strchr(text, ' ');
    }
    module_read(m, text);
    cbi_buf_append(ctx, &m->strings, "", 1);
    cbi_buf_append(ctx, &m->table, NULL, sizeof(Elf64_Sym));
    module_add_section(m, ".shstrtab", SHT_STRTAB, 0, 1);
    module_add_section(m, ".strtab", SHT_STRTAB, 0, 1);
    module_section *table = module_add_section(m, ".symtab", SHT_SYMTAB, 0, 8);
    if (m->note)
        module_note(m);
    module_section *info = module_add_section(m, ".nv.info", SHT_CUDA_INFO, 0, 4);
    module_section *graph = module_add_section(m, ".nv.callgraph", SHT_CUDA_CALLGRAPH, 0, 4);
    graph->header.sh_entsize = 8;
    for (size_t i = 0; i < m->symbol_count; i++)
        module_open(m, &m->symbols[i]);
    for (int rank = 0; rank < 3; rank++) {
        if (rank == 2)
            table->header.sh_info = (uint32_t)(m->table.len / sizeof(Elf64_Sym));
        for (size_t i = 0; i < m->symbol_count; i++)
            if (module_rank(&m->symbols[i]) == rank && strcmp(m->symbols[i].kind, "compat") != 0)
                module_place(m, &m->symbols[i]);
    }
    cbi_buf calls = {0};
    cbi_buf_append(ctx, &calls, (uint32_t[]){0, UINT32_MAX}, 8);
    for (size_t i = 0; i < m->symbol_count; i++) {
        module_symbol *s = &m->symbols[i];
        if (!strcmp(s->kind, "compat"))
            module_compat(m, s);
        else if (module_is_function(s) && module_is_here(s))
            module_function(m, s, info, &calls);
        else if (s->rel)
            module_explicit(m, s, cbi_ld64((uint8_t *)m->table.items + 24 * s->index + 8));
    }
    cbi_buf_append(ctx, &calls, (uint32_t[]){0, -2u, 0, -3u, 0, -4u}, 24);
    graph->bytes = calls;
    table->header.sh_link = 2;
    table->header.sh_entsize = 24;
    for (uint32_t i = 1; i <= m->section_count; i++) {
        uint32_t type = m->sections[i].header.sh_type;
        if (type == SHT_REL || type == SHT_RELA || type == SHT_CUDA_INFO ||
            type == SHT_CUDA_CALLGRAPH || m->sections[i].header.sh_flags == 6)
            m->sections[i].header.sh_link = 3;
    }
    return module_write(m);
}

/* ---- linking them --------------------------------------------------------------------------- */

typedef struct linked {
    cbi_ctx ctx;
    unit_heap heap;
    cb_status status;
    bool with_help;
    char messages[1024]; /* one per line, as nvlink prints them */
    cbi_span image;
    cbi_object object;
} linked;

static inline void linked_hear(void *user, const cb_diagnostic *d)
{
    linked *l = user;
    size_t len = strlen(l->messages);
    snprintf(l->messages + len, sizeof l->messages - len, "%s%s%s\n", d->message,
             l->with_help && d->help ? "\n" : "", l->with_help && d->help ? d->help : "");
}

static inline const char *linked_name(cbi_ctx *ctx, const char *text, size_t i)
{
    return cbi_printf(
        ctx, strncmp(text, "@cudadevrt", 10) == 0 ? "m%zu.cudadevrt.cubin" : "m%zu.cubin", i);
}

/* More flags: as cubind itself, which helps; options that the public interface does not have; a
 * link with -r whose result is linked again. */
#define LINKED_WITH_HELP     (UINT64_C(1) << 63)
#define LINKED_NULL_RESERVED (UINT64_C(1) << 62) /* --reserve-null-pointer */
#define LINKED_ONE_KERNEL    (UINT64_C(1) << 61) /* -kernels-used=k */
#define LINKED_TWICE         (UINT64_C(1) << 60)
#define LINKED_EXACT         (UINT64_C(1) << 59) /* with nvlink's accidents; so are all of these */
#define LINKED_BY_CORE       (LINKED_NULL_RESERVED | LINKED_ONE_KERNEL | LINKED_TWICE | LINKED_EXACT)

/* Those of one step of a link. */
static inline uint64_t linked_flags_of(uint64_t flags, bool first)
{
    return first ? (flags | CB_LINK_RELOCATABLE) & ~LINKED_ONE_KERNEL : flags;
}

static inline void linked_keep_options(FILE *f, unsigned sm, uint64_t flags)
{
    static const struct {
        uint64_t flag;
        const char *option;
    } options[] = {
        {CB_LINK_RELOCATABLE, "-r"},
        {CB_LINK_DEBUG, "-g"},
        {CB_LINK_PRESERVE_RELOCS, "-preserve-relocs"},
        {CB_LINK_ALLOW_UNDEFINED, "--allow-undefined-globals"},
        {CB_LINK_FORCE_RELA, "--force-rela"},
        {LINKED_NULL_RESERVED, "--reserve-null-pointer"},
        {LINKED_ONE_KERNEL, "-kernels-used=k"},
    };
    fprintf(f, "-arch=sm_%u", sm);
    for (size_t i = 0; i < CBI_COUNT(options); i++)
        if (flags & options[i].flag)
            fprintf(f, " %s", options[i].option);
    fprintf(f, "\n");
}

/* Leaves the link for a comparison with nvlink. */
static inline void linked_keep(linked *l, unsigned sm, uint64_t flags, const char *const *texts,
                               const cbi_span *inputs, size_t count)
{
    static int number;
    const char *root = getenv("CUBIND_MODULES");
    if (!root)
        return;
    char path[512];
    snprintf(path, sizeof path, "%s/%d-%d", root, (int)getpid(), number++);
    mkdir(path, 0777);
    size_t len = strlen(path);
    for (size_t i = 0; i <= count + 1; i++) {
        const bool twice = flags & LINKED_TWICE;
        snprintf(path + len, sizeof path - len, "/%s",
                 i < count    ? linked_name(&l->ctx, texts[i], i)
                 : i == count ? "out.cubin"
                              : "options");
        FILE *f = fopen(path, "wb");
        const void *data = i < count ? inputs[i].data : i == count ? l->image.data : NULL;
        size_t size = i < count ? inputs[i].size : l->image.size;
        if (i <= count && data)
            fwrite(data, 1, size, f);
        for (int step = !twice; i > count && step < 2; step++)
            linked_keep_options(f, sm, linked_flags_of(flags, !step));
        fclose(f);
    }
}

/* What the core of a link is given. */
typedef struct linked_job {
    const char *arch;
    uint64_t flags;
    const char *const *names;
    const cbi_span *inputs;
    size_t count;
    cbi_span image;
} linked_job;

static inline cb_status linked_core(cbi_ctx *ctx, void *arg)
{
    linked_job *job = arg;
    static const char *const kernels[] = {"k"};
    const cbi_arch *arch = cbi_arch_find(job->arch);
    const cbi_input_options how = {
        .arch = arch, .arch_text = job->arch, .exact = true, .register_names = true};
    cbi_inputs *in = cbi_inputs_create(ctx, &how);
    for (size_t i = 0; i < job->count; i++)
        cbi_inputs_add_memory(in, job->names[i], job->inputs[i]);
    cbi_inputs_result inputs;
    cbi_inputs_finish(in, &inputs);
    const cbi_link_options options = {
        .arch = arch,
        .exact = true,
        .relocatable = (job->flags & CB_LINK_RELOCATABLE) != 0,
        .debug = (job->flags & CB_LINK_DEBUG) != 0,
        .preserve_relocs = (job->flags & CB_LINK_PRESERVE_RELOCS) != 0,
        .force_rela = (job->flags & CB_LINK_FORCE_RELA) != 0,
        .allow_undefined_globals = (job->flags & CB_LINK_ALLOW_UNDEFINED) != 0,
        .reserve_null_pointer = (job->flags & LINKED_NULL_RESERVED) != 0,
        .kernels_used = kernels,
        .kernels_used_count = job->flags & LINKED_ONE_KERNEL ? CBI_COUNT(kernels) : 0,
        .tool_name = "nvlink",
        .tool_version = "",
        .tool_build = "",
        .object_name = "",
        .command_line = "",
        .output_name = "",
        .view = &cbi_mercury_operations,
    };
    cbi_link_result result = {0};
    cb_status status = cbi_link(ctx, &options, inputs.inputs, inputs.input_count, &result);
    if (status == CB_OK)
        job->image = cbi_rope_flatten(ctx, &result.image);
    return status;
}

/* Once or twice. */
static inline cb_status linked_by_core(linked *l, const char *arch, uint64_t flags,
                                       const char *const *texts, const cbi_span *inputs,
                                       size_t count, cbi_span *ret_image)
{
    static const char *const step[] = {"step.cubin"};
    const char *names[8];
    for (size_t i = 0; i < count; i++)
        names[i] = linked_name(&l->ctx, texts[i], i);
    linked_job job = {arch, linked_flags_of(flags, flags & LINKED_TWICE), names, inputs, count,
                      {0}};
    l->ctx.on_diagnostic = linked_hear;
    l->ctx.on_diagnostic_user = l;
    cb_status status = cbi_run(&l->ctx, linked_core, &job);
    const cbi_span made = job.image;
    if (status == CB_OK && flags & LINKED_TWICE) {
        job = (linked_job){arch, flags, step, &made, 1, {0}};
        status = cbi_run(&l->ctx, linked_core, &job);
    }
    *ret_image = job.image;
    return status;
}

/* Links modules (up to the first that is NULL or empty) as nvlink would. */
static inline void linked_run(linked *l, unsigned sm, uint64_t flags, const char *const *texts,
                              size_t most)
{
    memset(l, 0, sizeof *l);
    unit_ctx_init(&l->ctx, &l->heap);
    char arch[16];
    snprintf(arch, sizeof arch, "sm_%u", sm);
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = arch;
    l->with_help = flags & LINKED_WITH_HELP;
    options.flags = flags & ~(LINKED_WITH_HELP | LINKED_BY_CORE);
    if (!l->with_help)
        options.flags |= CB_LINK_EMULATE_NVLINK;
    options.on_diagnostic = linked_hear;
    options.on_diagnostic_user = l;
    cb_link *link;
    assert_int_equal(cb_link_create(&options, &link), CB_OK);
    cbi_span inputs[8];
    size_t count = 0;
    for (; count < most && texts[count] && *texts[count]; count++) {
        const char *text = texts[count];
        inputs[count] = module_make(&l->ctx, sm, text);
        assert_int_equal(cb_link_add_memory(link, linked_name(&l->ctx, text, count),
                                            inputs[count].data, inputs[count].size),
                         CB_OK);
    }
    cbi_span made = {0};
    l->status = flags & LINKED_BY_CORE ? linked_by_core(l, arch, flags, texts, inputs, count, &made)
                                       : cb_link_run(link);
    if (l->status == CB_OK) {
        const void *data = made.data;
        size_t size = made.size;
        if (!data)
            assert_int_equal(cb_link_get_image(link, &data, &size), CB_OK);
        uint8_t *copy = cbi_alloc(&l->ctx, size);
        memcpy(copy, data, size);
        l->image = (cbi_span){copy, size};
        const bool sound =
            cbi_object_read(&l->ctx, "out", l->image, &l->object, NULL) == CBI_OBJECT_OK;
        assert_true(sound || flags & LINKED_BY_CORE); /* some of nvlink's accidents are damage */
    }
    if (!l->with_help)
        linked_keep(l, sm, flags, texts, inputs, count);
    cb_link_free(link);
}

static inline void linked_free(linked *l)
{
    cbi_ctx_fini(&l->ctx);
}

/* ---- what is in the result ------------------------------------------------------------------ */

/* The symbol, or NULL. */
static inline const cbi_symbol *linked_symbol(const linked *l, const char *name)
{
    for (uint32_t i = 1; i < l->object.symbol_count; i++)
        if (strcmp(l->object.symbols[i].name, name) == 0)
            return &l->object.symbols[i];
    return NULL;
}

/* Word of a record of .nv.info for a function: registers, stack; UINT32_MAX without one. */
static inline uint32_t linked_info(const linked *l, uint8_t code, const char *name)
{
    uint32_t index = cbi_object_find(&l->object, ".nv.info");
    const cbi_symbol *sym = linked_symbol(l, name);
    cbi_attr attr;
    size_t pos = 0;
    while (index && sym && cbi_attr_next(l->object.sections[index].data, &pos, &attr))
        if (attr.code == code && cbi_ld32(attr.payload.data) == (uint32_t)(sym - l->object.symbols))
            return cbi_ld32(attr.payload.data + 4);
    return UINT32_MAX;
}

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct link_row {
    const char *rule;
    const char *modules[4];
    const char *want; /* what the table's function says about the result, or the messages */
    uint64_t flags;   /* of the link */
    unsigned sm;      /* 75 without one */
} link_row;

/* Links each row and compares what say() writes about the result. */
static inline void link_table(const link_row *rows, size_t count,
                              void (*say)(const linked *l, char *text, size_t room))
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        linked l;
        char got[1024] = "";
        linked_run(&l, rows[i].sm ? rows[i].sm : 75, rows[i].flags, rows[i].modules, 4);
        if (l.status == CB_OK)
            say(&l, got, sizeof got);
        else
            snprintf(got, sizeof got, "%s", l.messages);
        if (strcmp(got, rows[i].want) != 0) {
            print_error("%s: got \"%s\", want \"%s\"\n", rows[i].rule, got, rows[i].want);
            failed++;
        }
        linked_free(&l);
    }
    assert_int_equal(failed, 0);
}

/* Appends to a text of that size. */
CBI_PRINTF(3, 4)
static inline void say_more(char *text, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t len = strlen(text);
    vsnprintf(text + len, room - len, format, args);
    va_end(args);
}

#endif
