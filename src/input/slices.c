#include "input/slices.h"

#include "base/files.h"
#include "format/cuda_elf.h"
#include "input/archive.h"
#include "input/elf.h"
#include "input/recognise.h"

enum {
    ARCHIVE_DEPTH = 16,              /* archives inside archives */
    SCANNED_BYTES = 8 * 1024 * 1024, /* of data that is looked through for fatbins, at a time */
};

typedef struct walk {
    cbi_ctx *ctx;
    cbi_slice_fn fn;
    void *user;
    const uint8_t *base; /* first byte of the opened file */
    cbi_slice slice;     /* of the image at hand: provenance is filled in on the way down */
    size_t images;
    size_t fatbins;
    bool stopped;
} walk;

/* One open archive of the nest. */
typedef struct level {
    cbi_archive archive;
    const char *path;
    const uint8_t *base;
} level;

static void complain(walk *w, const char *what)
{
    cbi_error(w->ctx, "input-damaged", &(cbi_place){.file = w->slice.file}, NULL, "'%s': %s",
              w->slice.file, what);
}

static void yield(walk *w, const uint8_t *at)
{
    w->slice.index = w->images++;
    w->slice.offset = (uint64_t)(at - w->base);
    if (!w->fn(&w->slice, w->user))
        w->stopped = true;
}

static void walk_bare(walk *w, cbi_span bytes, cbi_slice_kind kind)
{
    cbi_fatbin_entry entry = {.payload = bytes, .size = bytes.size};
    cbi_elf elf;
    cbi_ltoir_facts ltoir;
    switch (kind) {
    case CBI_SLICE_CUBIN:
        entry.kind = FATBIN_KIND_ELF;
        if (cbi_elf_open(bytes, &elf)) {
            cbi_arch_facts facts = cbi_elf_facts(&elf);
            entry.sm = facts.sm;
            entry.suffix = facts.has_compat && facts.specific ? 'a' : 0;
        }
        if (bytes.size > EI_ABIVERSION) {
            entry.major = bytes.data[EI_VERSION];
            entry.minor = bytes.data[EI_ABIVERSION];
        }
        break;
    case CBI_SLICE_PTX:
        entry.kind = FATBIN_KIND_PTX;
        cbi_ptx_target(bytes, &entry.sm, &entry.suffix);
        break;
    case CBI_SLICE_LTOIR:
        entry.kind = FATBIN_KIND_LTOIR;
        if (cbi_ltoir_read(bytes, &ltoir)) {
            entry.sm = ltoir.sm;
            entry.suffix = ltoir.suffix;
            entry.major = ltoir.major;
            entry.minor = ltoir.minor;
        }
        break;
    case CBI_SLICE_OTHER:
        break;
    }
    w->slice.kind = kind;
    w->slice.bare = true;
    w->slice.entry = entry;
    yield(w, bytes.data);
}

cbi_slice_kind cbi_slice_kind_of(const cbi_fatbin_entry *entry)
{
    switch (entry->kind) {
    case FATBIN_KIND_ELF:
    case FATBIN_KIND_CAPSULE:
        return CBI_SLICE_CUBIN;
    case FATBIN_KIND_PTX:
        return CBI_SLICE_PTX;
    case FATBIN_KIND_LTOIR:
        return CBI_SLICE_LTOIR;
    default:
        return CBI_SLICE_OTHER;
    }
}

/* One fatbin; returns its size, 0 if there is none. */
static uint64_t walk_fatbin(walk *w, cbi_span bytes)
{
    cbi_fatbin fatbin;
    cbi_fatbin_entry entry;
    if (!cbi_fatbin_open(bytes, &fatbin)) {
        complain(w, cbi_printf(w->ctx, "the fatbin at offset 0x%llx is damaged: %s",
                               (unsigned long long)(bytes.data - w->base), fatbin.damage));
        return 0;
    }
    w->slice.bare = false;
    w->slice.fatbin = w->fatbins++;
    while (!w->stopped && cbi_fatbin_next(&fatbin, &entry)) {
        w->slice.entry = entry;
        w->slice.kind = cbi_slice_kind_of(&entry);
        yield(w, bytes.data + entry.offset);
    }
    if (fatbin.damage)
        complain(w, cbi_printf(w->ctx, "the fatbin at offset 0x%llx is damaged: %s",
                               (unsigned long long)(bytes.data - w->base), fatbin.damage));
    return cbi_fatbin_size(&fatbin);
}

/* The fatbins of a section lie one behind the other, with zeros between. */
static void walk_fatbins(walk *w, cbi_span section, const char *name)
{
    uint64_t pos = 0;
    bool told = false;
    while (!w->stopped && section.size - pos >= 8) {
        const uint8_t *at = section.data + pos;
        if (cbi_ld64(at) == 0) {
            pos += 8;
            continue;
        }
        uint64_t size = 0;
        if (cbi_ld32(at) == FATBIN_MAGIC) {
            size = walk_fatbin(w, (cbi_span){at, section.size - (size_t)pos});
        } else if (!told) {
            told = true;
            complain(w, cbi_printf(w->ctx, "%s has bytes that are no fatbin at offset 0x%llx", name,
                                   (unsigned long long)pos));
        }
        pos = cbi_align_up(pos + (size ? size : 8), 8);
        if (pos > section.size)
            break;
    }
}

/* Does a fatbin start here?  Stricter than reading one, as any data may hold the magic. */
static bool is_embedded_fatbin(cbi_span bytes)
{
    cbi_fatbin fatbin;
    cbi_fatbin_entry entry;
    return cbi_fatbin_open(bytes, &fatbin) && fatbin.entries == FATBIN_HEADER_SIZE &&
           fatbin.end <= bytes.size && cbi_fatbin_next(&fatbin, &entry) && fatbin.pos <= fatbin.end;
}

/* How many bytes can be passed over: there is no magic in them.  Most data is looked at here only,
 * many words at a time. */
static size_t without_magic(cbi_span bytes)
{
    enum { WORDS = 16 };
    size_t pos = 0;
    for (; bytes.size - pos >= 4 * WORDS; pos += 4 * WORDS) {
        unsigned found = 0;
        for (unsigned i = 0; i < WORDS; i++)
            found |= cbi_ld32(bytes.data + pos + 4 * i) == FATBIN_MAGIC;
        if (found)
            break;
    }
    return pos;
}

/* Some libraries keep fatbins in plain data and load them themselves. */
static void walk_embedded(walk *w, cbi_span section)
{
    uint64_t pos = 0, kept = 0;
    while (!w->stopped && section.size - pos >= FATBIN_HEADER_SIZE) {
        if (pos - kept >= SCANNED_BYTES) { /* they need not stay in memory */
            cbi_give_back_pages(w->ctx, (cbi_span){section.data + kept, (size_t)(pos - kept)});
            kept = pos;
        }
        cbi_span rest = {section.data + pos, section.size - (size_t)pos};
        size_t passed = without_magic(
            (cbi_span){rest.data, rest.size < SCANNED_BYTES ? rest.size : SCANNED_BYTES});
        if (passed) {
            pos += passed;
            continue;
        }
        if (cbi_ld32(rest.data) == FATBIN_MAGIC && is_embedded_fatbin(rest))
            pos = cbi_align_up(pos + walk_fatbin(w, rest), 4);
        else
            pos += 4; /* sections of data may start at any multiple of 4 */
        if (pos > section.size)
            break;
    }
}

static void walk_host(walk *w, cbi_span bytes)
{
    cbi_elf elf;
    if (!cbi_elf_open(bytes, &elf)) {
        complain(w, elf.damage);
        return;
    }
    for (uint32_t i = 1; i < elf.section_count && !w->stopped; i++) {
        cbi_elf_section s = cbi_elf_section_at(&elf, i);
        bool known = strcmp(s.name, ".nv_fatbin") == 0 || strcmp(s.name, "__nv_relfatbin") == 0;
        w->slice.section = s.name;
        if (known && s.damaged)
            complain(w, cbi_printf(w->ctx, "section %s is outside of the file", s.name));
        else if (known)
            walk_fatbins(w, s.data, s.name);
        else if (s.type == SHT_PROGBITS && !s.code)
            walk_embedded(w, s.data);
        w->slice.section = NULL;
    }
}

/* Anything but an archive.  False if it is of no known kind. */
static bool walk_plain(walk *w, cbi_span bytes, cbi_content content)
{
    switch (content) {
    case CBI_CONTENT_CUBIN:
        walk_bare(w, bytes, CBI_SLICE_CUBIN);
        return true;
    case CBI_CONTENT_PTX:
        walk_bare(w, bytes, CBI_SLICE_PTX);
        return true;
    case CBI_CONTENT_LTOIR:
        walk_bare(w, bytes, CBI_SLICE_LTOIR);
        return true;
    case CBI_CONTENT_FATBIN:
        /* A file may hold several as well. */
        walk_fatbins(w, bytes, "the file");
        return true;
    case CBI_CONTENT_HOST_OBJECT:
    case CBI_CONTENT_HOST_LINKED:
        walk_host(w, bytes);
        return true;
    default:
        return false;
    }
}

/* The member's bytes; of a thin archive's member, the file it names beside the archive. */
static bool open_member(walk *w, const level *in, const cbi_member *member, cbi_span *ret_bytes,
                        const uint8_t **ret_base)
{
    if (!in->archive.thin) {
        *ret_bytes = member->bytes;
        *ret_base = in->base;
        if (member->cut_off)
            complain(w, "the archive ends before the member does");
        return true;
    }
    const char *path = member->name;
    const char *slash = strrchr(in->path, '/');
    if (path[0] != '/' && slash)
        path = cbi_printf(w->ctx, "%.*s%s", (int)(slash + 1 - in->path), in->path, path);
    if (cbi_map_file(w->ctx, path, ret_bytes) != CB_OK) {
        complain(w, cbi_printf(w->ctx, "cannot open '%s'", path));
        return false;
    }
    *ret_base = ret_bytes->data;
    return true;
}

static void walk_archive(walk *w, const char *path, cbi_span bytes)
{
    level levels[ARCHIVE_DEPTH];
    size_t depth = 1;
    levels[0] = (level){cbi_archive_open(bytes), path, bytes.data};
    while (depth && !w->stopped) {
        level *top = &levels[depth - 1];
        cbi_member member;
        cbi_archive_step step = cbi_archive_next(w->ctx, &top->archive, false, &member);
        w->slice.file = top->path;
        w->base = top->base;
        if (step != CBI_ARCHIVE_MEMBER) {
            if (step != CBI_ARCHIVE_END)
                complain(w, cbi_printf(w->ctx, "the archive is damaged at offset 0x%zx",
                                       top->archive.pos));
            depth--;
            continue;
        }
        w->slice.file = cbi_printf(w->ctx, "%s:%s", top->path, member.name);
        cbi_span file = {NULL, 0};
        if (!open_member(w, top, &member, &file, &w->base))
            continue;
        cbi_content content = cbi_recognise(file);
        if (content != CBI_CONTENT_ARCHIVE)
            walk_plain(w, file, content);
        else if (depth == ARCHIVE_DEPTH)
            complain(w, "archives are nested too deeply");
        else
            levels[depth++] = (level){cbi_archive_open(file), w->slice.file, w->base};
    }
}

size_t cbi_each_slice(cbi_ctx *ctx, const char *path, cbi_span bytes, cbi_slice_fn fn, void *user)
{
    walk w = {.ctx = ctx, .fn = fn, .user = user, .base = bytes.data, .slice.file = path};
    cbi_content content = cbi_recognise(bytes);
    if (content == CBI_CONTENT_ARCHIVE)
        walk_archive(&w, path, bytes);
    else if (!walk_plain(&w, bytes, content))
        cbi_error(ctx, "input-unknown", &(cbi_place){.file = path}, NULL,
                  "'%s' holds no device code: it is %s", path, cbi_content_text(content));
    return w.images;
}

const char *cbi_slice_kind_name(cbi_slice_kind kind)
{
    static const char *const names[] = {"cubin", "ptx", "ltoir", "other"};
    return names[kind];
}

const char *cbi_slice_arch(cbi_ctx *ctx, const cbi_slice *slice)
{
    const char *kind = slice->kind == CBI_SLICE_PTX     ? "compute"
                       : slice->kind == CBI_SLICE_LTOIR ? "lto"
                                                        : "sm";
    char suffix[2] = {slice->entry.suffix, 0};
    return slice->entry.sm ? cbi_printf(ctx, "%s_%u%s", kind, slice->entry.sm, suffix) : "";
}

const char *cbi_compression_name(cbi_compression compression)
{
    static const char *const names[] = {"none", "lz4", "zstd", "unknown"};
    return names[compression];
}
