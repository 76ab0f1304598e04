/* What a mutant is made of.  Each kind of change is one function on the bytes of one ELF, of a
 * pair, or of a container; all choices come from one stream of numbers. */
#include "mutant_parts.h"
#include "walk.h"

#include "container/bundle.h"
#include "format/fatbin.h"

#include <stdio.h>

enum { MAX_FILE = 256 * 1024, MAX_NESTING = 4 };

/* ---- files ---- */

static void load_file(mutant_seeds *seeds, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return;
    uint8_t *data = malloc(MAX_FILE);
    size_t size = data ? fread(data, 1, MAX_FILE, f) : 0;
    fclose(f);
    if (!size || size == MAX_FILE) {
        free(data);
        return;
    }
    uint8_t *exact = realloc(data, size);
    data = exact ? exact : data;
    seeds->files = realloc(seeds->files, (seeds->count + 1) * sizeof *seeds->files);
    seeds->objects = realloc(seeds->objects, (seeds->count + 1) * sizeof *seeds->objects);
    if (!seeds->files || !seeds->objects)
        abort();
    if (size > sizeof(Elf64_Ehdr) && memcmp(data, ELFMAG, SELFMAG) == 0 &&
        cbi_ld16(data + offsetof(Elf64_Ehdr, e_machine)) == EM_CUDA)
        seeds->objects[seeds->object_count++] = seeds->count;
    seeds->files[seeds->count++] = (cbi_span){data, size};
}

void mutant_unload(mutant_seeds *seeds)
{
    for (size_t i = 0; i < seeds->count; i++)
        free((void *)seeds->files[i].data);
    free(seeds->files);
    free(seeds->objects);
}

static void load_one(void *user, const char *path)
{
    load_file(user, path);
}

void mutant_load(mutant_seeds *seeds, char **paths, int count)
{
    fuzz_each_file(paths, count, load_one, seeds);
}

static const field entry_fields[] = {{0, 2},  {2, 2},  {4, 4},  {8, 8},  {16, 4}, {20, 4}, {24, 4},
                                     {28, 4}, {32, 4}, {36, 4}, {40, 8}, {48, 8}, {56, 8}};

/* ---- an ELF ---- */

static void change_header(elf *e, uint64_t *state)
{
    if (below(state, 12) == 0) {
        poke_one_of(e->data, e->size, 0, ehdr_fields, CBI_COUNT(ehdr_fields), state);
        return;
    }
    shdr s = section(e, below(state, e->count));
    poke_one_of(e->data, e->size, s.place, shdr_fields, CBI_COUNT(shdr_fields), state);
}

/* Whole headers trade places, or one takes fields of another. */
static void trade_headers(elf *e, uint64_t *state)
{
    uint8_t *a = e->data + section(e, below(state, e->count)).place;
    uint8_t *b = e->data + section(e, below(state, e->count)).place;
    uint8_t copy[sizeof(Elf64_Shdr)];
    memcpy(copy, a, sizeof copy);
    const field *f = &shdr_fields[below(state, CBI_COUNT(shdr_fields))];
    switch (below(state, 4)) {
    case 0:
        memmove(a, b, sizeof copy);
        memcpy(b, copy, sizeof copy);
        break;
    case 1: /* the name stays */
        memmove(a + 4, b + 4, sizeof copy - 4);
        break;
    default:
        memmove(a + f->offset, b + f->offset, f->width);
    }
}

static void change_symbol(elf *e, uint64_t *state)
{
    shdr s;
    if (!draw_section(e, is_symbols, state, &s))
        return;
    size_t count = s.size / sizeof(Elf64_Sym);
    uint64_t at = s.offset + below(state, count) * sizeof(Elf64_Sym);
    uint64_t other = s.offset + below(state, count) * sizeof(Elf64_Sym);
    switch (below(state, 6)) {
    case 0: /* the name of another */
        if (cbi_fits(at, 24, e->size) && cbi_fits(other, 24, e->size))
            memmove(e->data + at, e->data + other, 4);
        break;
    case 1: /* everything but the name of another */
        if (cbi_fits(at, 24, e->size) && cbi_fits(other, 24, e->size))
            memmove(e->data + at + 4, e->data + other + 4, 20);
        break;
    case 2: /* a kind and binding that exist */
        if (cbi_fits(at, 24, e->size)) {
            const uint64_t binding = below(state, 3), type = below(state, 14);
            e->data[at + 4] = (uint8_t)(binding << 4 | type);
        }
        break;
    default:
        poke_one_of(e->data, e->size, at, sym_fields, CBI_COUNT(sym_fields), state);
    }
}

static void change_reloc(elf *e, uint64_t *state)
{
    shdr s;
    if (!draw_section(e, is_relocs, state, &s))
        return;
    size_t stride = s.type == SHT_REL ? 16 : 24;
    uint64_t at = s.offset + below(state, s.size / stride) * stride;
    if (below(state, 3) == 0) /* a type that exists */
        poke(e->data, e->size, at + 8, 1, state);
    else
        poke_one_of(e->data, e->size, at, rela_fields, CBI_COUNT(rela_fields) - (stride == 16),
                    state);
}

/* A record: its code, format, size, or a word of it; or it comes twice. */
static void change_attribute(elf *e, uint64_t *state)
{
    shdr s;
    if (!draw_section(e, is_attributes, state, &s))
        return;
    size_t records[256], n = 0;
    for (uint64_t at = 0; at + 4 <= s.size && n < CBI_COUNT(records);) {
        const uint8_t *p = e->data + s.offset + at;
        records[n++] = at;
        at += 4 + (p[0] == 4 ? cbi_ld16(p + 2) : 0u);
    }
    if (!n)
        return;
    uint64_t at = s.offset + records[below(state, n)], other = s.offset + records[below(state, n)];
    uint64_t end = s.offset + s.size;
    switch (below(state, 6)) {
    case 0:
        poke(e->data, end, at, 1, state);
        break;
    case 1:
        poke(e->data, end, at + 1, 1, state);
        break;
    case 2:
        poke(e->data, end, at + 2, 2, state);
        break;
    case 3:
        if (cbi_fits(at, 12, end) && cbi_fits(other, 12, end))
            memmove(e->data + at, e->data + other, 12);
        break;
    default:
        poke(e->data, end, at + 4 + 4 * below(state, 4), 4, state);
    }
}

static void change_words(elf *e, bool (*fits)(uint32_t type), unsigned width, uint64_t *state)
{
    shdr s;
    if (!draw_section(e, fits, state, &s))
        return;
    uint64_t at = s.offset + below(state, s.size / width + 1) * width;
    if (below(state, 4) == 0 && s.size >= width) { /* what stands elsewhere in the section */
        uint64_t from = s.offset + below(state, s.size / width) * width;
        if (cbi_fits(at, width, s.offset + s.size))
            memmove(e->data + at, e->data + from, width);
        return;
    }
    poke(e->data, s.offset + s.size, at, width, state);
}

/* A name gets longer, shorter, or another's beginning. */
static void change_name(elf *e, uint64_t *state)
{
    shdr s;
    if (!draw_section(e, is_strings, state, &s))
        return;
    uint8_t *text = e->data + s.offset;
    size_t at = below(state, s.size), from = below(state, s.size);
    switch (below(state, 4)) {
    case 0:
        text[at] = 0;
        break;
    case 1:
        text[s.size - 1] = 'x';
        break;
    case 2: {
        size_t n = below(state, 24);
        if (cbi_fits(at, n, s.size) && cbi_fits(from, n, s.size))
            memmove(text + at, text + from, n);
        break;
    }
    default:
        text[at] = ".nv_$"[below(state, 5)];
    }
}

/* An ELF of class 32: its headers, or any word. */
static void change_narrow(uint8_t *data, size_t size, uint64_t *state)
{
    uint64_t shoff = cbi_ld32(data + offsetof(Elf32_Ehdr, e_shoff));
    size_t count = cbi_ld16(data + offsetof(Elf32_Ehdr, e_shnum));
    uint64_t table = shoff + below(state, count * sizeof(Elf32_Shdr) / 4) * 4;
    switch (below(state, 4)) {
    case 0:
        poke(data, size, below(state, sizeof(Elf32_Ehdr) / 2) * 2, 2, state);
        break;
    case 1:
        poke(data, size, table, 4, state);
        break;
    default: {
        const unsigned width = 1u << below(state, 3);
        poke(data, size, below(state, size / 4) * 4, width, state);
    }
    }
}

static void change_elf(uint8_t *data, size_t size, uint64_t *state)
{
    elf e;
    if (size >= sizeof(Elf32_Ehdr) && data[EI_CLASS] == ELFCLASS32) {
        change_narrow(data, size, state);
        return;
    }
    if (!open_elf(data, size, &e))
        return;
    switch (below(state, 16)) {
    case 0:
    case 1:
    case 2:
        change_header(&e, state);
        break;
    case 3:
        trade_headers(&e, state);
        break;
    case 4:
    case 5:
    case 6:
        change_symbol(&e, state);
        break;
    case 7:
    case 8:
        change_reloc(&e, state);
        break;
    case 9:
    case 10:
        change_attribute(&e, state);
        break;
    case 11:
        change_words(&e, is_note, 4, state);
        break;
    case 12:
        change_words(&e, is_graph, 4, state);
        break;
    case 13:
        change_words(&e, is_capsule, 1u << below(state, 3), state);
        break;
    case 14:
        change_name(&e, state);
        break;
    default:
        change_words(&e, is_bytes, 1u << below(state, 4), state);
    }
}

/* ---- two objects that disagree ---- */

/* Symbols of the first get a kind, size or section that the second, which has the same names, does
 * not expect. */
static void disagree(uint8_t *data, size_t size, uint64_t *state)
{
    elf e;
    shdr s;
    if (!open_elf(data, size, &e) || !draw_section(&e, is_symbols, state, &s))
        return;
    size_t count = s.size / sizeof(Elf64_Sym);
    for (size_t i = 1; i < count; i++) {
        uint8_t *p = data + s.offset + i * sizeof(Elf64_Sym);
        if (p[4] >> 4 == 0 || below(state, 3))
            continue;
        switch (below(state, 6)) {
        case 0: /* another kind */
            p[4] = (uint8_t)((p[4] & 0xf0) | below(state, 14));
            break;
        case 1: /* undefined */
            p[6] = p[7] = 0;
            break;
        case 2: /* weak or global */
            p[4] = (uint8_t)((p[4] & 15) | (1 + below(state, 2)) << 4);
            break;
        case 3: /* another space or visibility */
            p[5] = (uint8_t)next(state);
            break;
        case 4: /* common */
            p[6] = 0xf2;
            p[7] = 0xff;
            break;
        default:
            poke(data, size, s.offset + i * sizeof(Elf64_Sym) + 16, 8, state);
        }
    }
}

/* ---- containers ---- */

/* A payload and the two sizes in its entry's header. */
static void compress(cbi_ctx *ctx, cbi_pack pack, cbi_span *payload, uint8_t *header)
{
    cbi_span packed;
    if (!payload->size || !cbi_compress(ctx, pack, *payload, &packed))
        return;
    uint64_t size = payload->size;
    uint32_t less = (uint32_t)packed.size;
    memcpy(header + FATBIN_ENTRY_COMPRESSED_SIZE, &less, 4);
    memcpy(header + FATBIN_ENTRY_UNCOMPRESSED_SIZE, &size, 8);
    *payload = packed;
}

static bytes make_fatbin(const bytes *inner, size_t count, uint64_t *state)
{
    bytes out = {0}, entries = {0};
    for (size_t i = 0; i < count; i++) {
        uint8_t header[FATBIN_ENTRY_SIZE] = {0};
        uint16_t kinds[] = {FATBIN_KIND_ELF, FATBIN_KIND_ELF, FATBIN_KIND_PTX, FATBIN_KIND_LTOIR,
                            FATBIN_KIND_CAPSULE};
        header[FATBIN_ENTRY_KIND] = (uint8_t)kinds[below(state, CBI_COUNT(kinds))];
        header[FATBIN_ENTRY_MARK] = header[FATBIN_ENTRY_MARK + 1] = 1;
        header[FATBIN_ENTRY_HEADER_SIZE] = FATBIN_ENTRY_SIZE;
        uint64_t padded = (inner[i].size + 7) & ~(uint64_t)7, flags = 0x11;
        uint32_t sm = (const uint8_t[]){75, 80, 90, 90, 100, 120}[below(state, 6)];
        if (below(state, 4) == 0)
            flags |= below(state, 2) ? FATBIN_FLAG_LZ4 : FATBIN_FLAG_ZSTD;
        cbi_ctx ctx; /* owns what is compressed */
        cbi_ctx_init(&ctx);
        cbi_span payload = {inner[i].data, inner[i].size};
        if (below(state, 4) == 0) {
            bool zstd = below(state, 2);
            compress(&ctx, zstd ? CBI_PACK_BALANCE : CBI_PACK_SPEED, &payload, header);
            padded = (payload.size + 7) & ~(uint64_t)7;
            /* seldom the other compression, or none, is claimed */
            if (below(state, 8))
                flags = 0x11 | (zstd ? FATBIN_FLAG_ZSTD : FATBIN_FLAG_LZ4);
        }
        memcpy(header + FATBIN_ENTRY_PAYLOAD_SIZE, &padded, 8);
        memcpy(header + FATBIN_ENTRY_SM, &sm, 4);
        memcpy(header + FATBIN_ENTRY_FLAGS, &flags, 8);
        uint64_t at = entries.size;
        append(&entries, header, sizeof header);
        append(&entries, payload.data, payload.size);
        pad(&entries, 8, 0);
        cbi_ctx_fini(&ctx);
        if (below(state, 3) == 0)
            poke_one_of(entries.data, entries.size, at, entry_fields, CBI_COUNT(entry_fields),
                        state);
    }
    uint8_t head[FATBIN_HEADER_SIZE] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    memcpy(head + FATBIN_HEADER_ENTRIES, &entries.size, 8);
    if (below(state, 8) == 0)
        poke(head, sizeof head, below(state, 4) * 4, 4, state);
    append(&out, head, sizeof head);
    append(&out, entries.data, entries.size);
    free(entries.data);
    return out;
}

static bytes make_archive(const bytes *inner, size_t count, uint64_t *state)
{
    static const char *const names[] = {
        "a.o/", "b.o/", "/", "//", "/0", "/9999999", "#1/20", "libcudadevrt.o/", "", "/SYM64/"};
    bytes out = {0};
    append(&out, below(state, 16) ? "!<arch>\n" : "!<thin>\n", 8);
    for (size_t i = 0; i < count; i++) {
        char header[61];
        const char *name = below(state, 3) ? "m.o/" : names[below(state, CBI_COUNT(names))];
        uint64_t size = inner[i].size;
        if (below(state, 8) == 0) {
            size = next(state);
            size >>= below(state, 64);
        }
        snprintf(header, sizeof header, "%-16s%-12d%-6d%-6d%-8s%-10llu`\n", name, 0, 0, 0, "644",
                 (unsigned long long)(size % 10000000000));
        append(&out, header, 60);
        append(&out, inner[i].data, inner[i].size);
        pad(&out, 2, '\n');
    }
    return out;
}

/* A relocatable ELF of x86-64 with the fatbin, and names of what the host uses. */
static bytes make_host(const bytes *inner, uint64_t *state)
{
    static const char names[] = "\0.shstrtab\0__nv_relfatbin\0.nvFatBinSegment\0__nv_module_id\0"
                                ".nvHRKE\0.nv_fatbin";
    static const uint8_t name_at[] = {1, 11, 26, 43, 58, 66};
    const char *const contents[] = {names, NULL, "", "module_id", "block_sum\0k", NULL};
    const size_t sizes[] = {sizeof names, inner->size, 24, 10, 12, inner->size};
    bytes out = {0};
    uint8_t header[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1}, table[7 * 64] = {0}, zero[24] = {0};
    append(&out, header, sizeof header);
    size_t count = 1;
    for (size_t i = 0; i < CBI_COUNT(name_at); i++) {
        if (i >= 4 && below(state, 2))
            continue;
        pad(&out, 8, 0);
        uint64_t offset = out.size, size = sizes[i];
        append(&out,
               contents[i] && *contents[i] | (i == 0) ? (const void *)contents[i]
               : contents[i]                          ? (const void *)zero
                                                      : (const void *)inner->data,
               size);
        uint8_t *h = table + 64 * count++;
        h[0] = name_at[i];
        h[4] = i == 0 ? SHT_STRTAB : SHT_PROGBITS;
        memcpy(h + 24, &offset, 8);
        memcpy(h + 32, &size, 8);
        if (below(state, 10) == 0)
            poke_one_of(table, sizeof table, 64 * (count - 1), shdr_fields, CBI_COUNT(shdr_fields),
                        state);
    }
    pad(&out, 8, 0);
    uint64_t shoff = out.size;
    append(&out, table, 64 * count);
    header[16] = 1;
    header[18] = 62;
    header[20] = 1;
    memcpy(header + 40, &shoff, 8);
    header[52] = 64;
    header[58] = 64;
    header[60] = (uint8_t)count;
    header[62] = 1;
    memcpy(out.data, header, sizeof header);
    return out;
}

/* What is no object at all: scripts of linkers, PTX, lists of options. */
static bytes make_text(uint64_t *state)
{
    static const char *const words[] = {"GROUP ( ",
                                        "INPUT(",
                                        ")",
                                        "-lx ",
                                        "AS_NEEDED ( ",
                                        "OUTPUT_FORMAT(elf64)",
                                        "libx.a ",
                                        "/* ",
                                        " */",
                                        "\n",
                                        ".version 9.0\n",
                                        ".target sm_90\n",
                                        ".address_size 64\n",
                                        ".visible .entry k() { ret; }",
                                        "-optf ",
                                        "\"",
                                        "!<arch>\n",
                                        "\xef\xbb\xbf",
                                        "#!/bin/sh\n",
                                        "BC\xc0\xde",
                                        "// ",
                                        "\177ELF",
                                        "\0"};
    bytes out = {0};
    for (size_t n = 1 + below(state, 40); n; n--) {
        const char *w = words[below(state, CBI_COUNT(words))];
        append(&out, w, *w ? strlen(w) : 1);
    }
    return out;
}

static bytes draw_image(const mutant_seeds *seeds, uint64_t *state)
{
    if (below(state, 24) == 0)
        return make_text(state);
    bytes out = copy_of(below(state, 4) && seeds->object_count
                            ? seeds->files[seeds->objects[below(state, seeds->object_count)]]
                            : seeds->files[below(state, seeds->count)]);
    if (below(state, 6) == 0 && seeds->object_count)
        mutant_splice(&out, seeds, state);
    for (size_t n = below(state, 3); n; n--)
        change_elf(out.data, out.size, state);
    return out;
}

static bytes wrap(const bytes *inner, size_t count, uint64_t *state)
{
    switch (below(state, 3)) {
    case 0:
        return make_archive(inner, count, state);
    case 1:
        return make_host(inner, state);
    default:
        return make_fatbin(inner, count, state);
    }
}

static bytes make_container(const mutant_seeds *seeds, uint64_t *state)
{
    bytes out = draw_image(seeds, state);
    for (size_t depth = 1 + below(state, MAX_NESTING); depth; depth--) {
        bytes inner[3] = {out};
        size_t count = 1 + below(state, CBI_COUNT(inner));
        for (size_t i = 1; i < count; i++)
            inner[i] = below(state, 2) ? draw_image(seeds, state)
                                       : copy_of((cbi_span){out.data, out.size});
        out = wrap(inner, count, state);
        for (size_t i = 0; i < count; i++)
            free(inner[i].data);
        if (below(state, 12) == 0)
            out.size -= below(state, out.size);
    }
    for (size_t n = below(state, 4); n; n--) {
        const unsigned width = 1u << below(state, 4);
        poke(out.data, out.size, below(state, out.size), width, state);
    }
    return out;
}

/* ---- all of it ---- */

static cbi_span draw_object(const mutant_seeds *seeds, uint64_t *state)
{
    return seeds->files[seeds->objects[below(state, seeds->object_count)]];
}

static bytes make_pair(const mutant_seeds *seeds, uint64_t *state)
{
    cbi_span one = draw_object(seeds, state);
    bytes first = copy_of(one);
    bytes second = copy_of(below(state, 4) ? one : draw_object(seeds, state));
    if (below(state, 4) == 0)
        mutant_splice(&first, seeds, state);
    disagree(first.data, first.size, state);
    for (size_t n = below(state, 3); n; n--) {
        bytes *half = below(state, 2) ? &second : &first;
        change_elf(half->data, half->size, state);
    }
    bytes out = {0};
    uint32_t size = (uint32_t)first.size;
    append(&out, "2LNK", 4);
    append(&out, &size, 4);
    append(&out, first.data, first.size);
    append(&out, second.data, second.size);
    free(first.data);
    free(second.data);
    return out;
}

static bytes make_object(const mutant_seeds *seeds, uint64_t *state)
{
    bytes out = copy_of(draw_object(seeds, state));
    bool spliced = below(state, 3) == 0;
    if (spliced)
        mutant_splice(&out, seeds, state);
    for (size_t n = spliced ? below(state, 2) : 1 + below(state, 4); n; n--)
        change_elf(out.data, out.size, state);
    if (below(state, 12) == 0)
        out.size -= below(state, out.size);
    return out;
}

uint8_t *mutant_make(const mutant_seeds *seeds, uint64_t seed, uint64_t number, mutant_kind kind,
                     size_t *ret_size)
{
    uint64_t state = seed * 0x2545f4914f6cdd1du + number;
    bytes out;
    if (kind == MUTANT_CONTAINER || !seeds->object_count) {
        out = make_container(seeds, &state);
    } else if (kind == MUTANT_PAIR && below(&state, 2)) {
        out = make_pair(seeds, &state);
    } else {
        out = make_object(seeds, &state);
    }
    /* the size chooses what some targets do with the input */
    uint8_t zero[64] = {0};
    append(&out, zero, below(&state, sizeof zero));
    uint8_t *exact = malloc(out.size ? out.size : 1);
    if (!exact)
        abort();
    memcpy(exact, out.data, out.size);
    free(out.data);
    *ret_size = out.size;
    return exact;
}
