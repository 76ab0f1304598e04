/* Fatbins with fewer images. */
#include "container/prune.h"

#include <elf.h>

#include "base/sink.h"
#include "container/bundle.h"
#include "input/elf.h"
#include "input/recognise.h"

/* Zeros that a result needs, in pieces. */
static const uint8_t zeros[4096];

/* Smaller gaps are not worth a hole: file systems keep whole blocks. */
enum { HOLE_MIN = 8192, BLOCK = 4096 };

bool cbi_prune_target_parse(const char *text, cbi_prune_target *ret_target)
{
    static const struct {
        const char *prefix;
        cbi_slice_kind kind;
    } kinds[] = {{"sm_", CBI_SLICE_CUBIN}, {"compute_", CBI_SLICE_PTX}, {"lto_", CBI_SLICE_LTOIR}};
    for (size_t i = 0; i < CBI_COUNT(kinds); i++) {
        size_t len = strlen(kinds[i].prefix);
        cbi_prune_target target = {.kind = kinds[i].kind};
        if (strncmp(text, kinds[i].prefix, len) != 0 || text[len] < '0' || text[len] > '9' ||
            !cbi_arch_parse_number(text + len, &target.sm, &target.suffix))
            continue;
        *ret_target = target;
        return true;
    }
    return false;
}

static bool is_relocatable(cbi_ctx *ctx, cbi_prune *p, const cbi_fatbin_entry *entry)
{
    cbi_span image;
    return cbi_fatbin_load(ctx, entry, &p->scratch, &image) == CBI_LOAD_OK &&
           cbi_elf_type(image) == ET_REL;
}

static bool is_kept(cbi_ctx *ctx, cbi_prune *p, const cbi_fatbin_entry *entry)
{
    cbi_slice_kind kind = cbi_slice_kind_of(entry);
    bool kept = false;
    for (size_t i = 0; i < p->target_count; i++) {
        cbi_prune_target *t = &p->targets[i];
        if (t->kind != kind || t->sm != entry->sm || t->suffix != entry->suffix)
            continue;
        if (kind == CBI_SLICE_CUBIN && p->no_relocatable_elf && is_relocatable(ctx, p, entry))
            continue;
        kept = t->met = true;
    }
    if (kept)
        p->kept++;
    else
        p->dropped++;
    return kept;
}

CBI_NORETURN static void damaged(cbi_ctx *ctx, const char *path, const char *what)
{
    cbi_fatal(ctx, "input-damaged", &(cbi_place){.file = path}, "nothing was written",
              "'%s' is damaged: %s", path, what);
}

/* Appends the fatbin that begins the bytes, and returns its old size. */
static uint64_t prune_fatbin(cbi_ctx *ctx, cbi_prune *p, const char *path, cbi_span bytes,
                             cbi_sink *out)
{
    cbi_fatbin fatbin;
    cbi_fatbin_entry entry;
    if (!cbi_fatbin_open(bytes, &fatbin))
        damaged(ctx, path, fatbin.damage);
    uint64_t size = cbi_fatbin_size(&fatbin);
    cbi_span head;
    if (!cbi_subspan(bytes, 0, fatbin.entries, &head))
        damaged(ctx, path, "the header of a fatbin is cut off");
    uint8_t *header = cbi_memdup(ctx, head.data, head.size);
    uint64_t before = out->written;
    cbi_sink_write(out, header, head.size);
    while (cbi_fatbin_next(&fatbin, &entry))
        if (is_kept(ctx, p, &entry))
            cbi_sink_write(out, bytes.data + entry.offset, (size_t)(fatbin.pos - entry.offset));
    if (fatbin.damage)
        damaged(ctx, path, fatbin.damage);
    if (fatbin.pos > size)
        damaged(ctx, path, "an entry runs out of its fatbin");
    cbi_st64(header + FATBIN_HEADER_ENTRIES, out->written - before - head.size);
    return size;
}

static void append_zeros(cbi_sink *out, uint64_t count)
{
    while (count) {
        size_t part = count < sizeof zeros ? (size_t)count : sizeof zeros;
        cbi_sink_write(out, zeros, part);
        count -= part;
    }
}

static void note_hole(cbi_ctx *ctx, cbi_prune *p, uint64_t from, uint64_t to)
{
    if (to - from < HOLE_MIN)
        return;
    from = cbi_align_up(from, BLOCK);
    to -= to % BLOCK;
    cbi_vec_push(ctx, &p->holes, ((cbi_hole){from, to - from}));
}

cbi_pruned_section cbi_prune_section(cbi_ctx *ctx, cbi_prune *p, const char *path, cbi_span section,
                                     bool in_place, uint64_t offset)
{
    cbi_pruned_section result = {0};
    cbi_sink out = cbi_sink_rope(ctx, &result.data);
    uint64_t pos = 0;
    while (pos < section.size) {
        cbi_span rest = {section.data + pos, section.size - (size_t)pos};
        if (rest.size < 8 || cbi_ld64(rest.data) == 0) { /* between fatbins, and behind them */
            uint64_t step = rest.size < 8 ? rest.size : 8;
            if (in_place)
                append_zeros(&out, step);
            pos += step;
            continue;
        }
        if (!cbi_is_fatbin(rest))
            damaged(ctx, path, "a section of fatbins has other bytes in it");
        cbi_vec_push(ctx, &result.fatbins, ((cbi_pruned_fatbin){pos, out.written}));
        uint64_t end = pos + prune_fatbin(ctx, p, path, rest, &out);
        if (in_place) {
            note_hole(ctx, p, offset + out.written, offset + end);
            append_zeros(&out, end - out.written);
        } else {
            append_zeros(&out, cbi_align_up(out.written, 8) - out.written);
        }
        pos = end;
    }
    return result;
}

cbi_rope cbi_prune_file(cbi_ctx *ctx, cbi_prune *p, const char *path, cbi_span bytes)
{
    cbi_content content = cbi_recognise(bytes);
    cbi_rope out = {0};
    cbi_sink sink = cbi_sink_rope(ctx, &out);
    switch (content) {
    case CBI_CONTENT_ARCHIVE:
        return cbi_prune_archive(ctx, p, path, bytes);
    case CBI_CONTENT_HOST_OBJECT:
    case CBI_CONTENT_HOST_LINKED:
        return cbi_prune_elf(ctx, p, path, bytes);
    case CBI_CONTENT_FATBIN:
        prune_fatbin(ctx, p, path, bytes, &sink);
        return out;
    default:
        cbi_fatal(ctx, "input-unknown", &(cbi_place){.file = path},
                  "a fatbin, a host object, a library or a program can be pruned",
                  "'%s' holds no fatbin: it is %s", path, cbi_content_text(content));
    }
}
