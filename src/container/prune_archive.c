/* Archives whose members have fewer images.  The symbol table says where members begin, so it
 * changes; names and all other fields stay. */
#include <stdio.h>

#include "base/sink.h"
#include "container/prune.h"
#include "input/archive.h"
#include "input/recognise.h"

enum { HEADER_SIZE = 60, SIZE_FIELD = 48, SIZE_DIGITS = 10 };

/* A member, by the offset of its header. */
typedef struct member_place {
    uint64_t old_offset;
    uint64_t new_offset;
} member_place;

typedef struct job {
    cbi_ctx *ctx;
    cbi_prune *prune;
    const char *path;
    cbi_span bytes;
    cbi_sink out;
    CBI_VEC(member_place) places; /* in the order of the file */
} job;

CBI_NORETURN static void refuse(const job *j, const char *what)
{
    cbi_fatal(j->ctx, "input-damaged", &(cbi_place){.file = j->path}, "nothing was written",
              "'%s' cannot be pruned: %s", j->path, what);
}

/* The header of a member, with another size if that changed. */
static void put_header(job *j, const uint8_t *old, uint64_t old_size, uint64_t size)
{
    uint8_t *header = cbi_memdup(j->ctx, old, HEADER_SIZE);
    char text[24];
    if (size != old_size) {
        snprintf(text, sizeof text, "%-*llu", SIZE_DIGITS, (unsigned long long)size);
        memcpy(header + SIZE_FIELD, text, SIZE_DIGITS);
    }
    cbi_sink_write(&j->out, header, HEADER_SIZE);
}

static void put_member(job *j, const uint8_t *header, const cbi_member *m)
{
    cbi_rope data = {0};
    /* a name of the BSD kind stands between header and bytes */
    uint64_t prefix = (uint64_t)(m->bytes.data - (header + HEADER_SIZE));
    switch (cbi_recognise(m->bytes)) {
    case CBI_CONTENT_HOST_OBJECT:
    case CBI_CONTENT_HOST_LINKED:
        data = cbi_prune_elf(j->ctx, j->prune, cbi_printf(j->ctx, "%s:%s", j->path, m->name),
                             m->bytes);
        break;
    default:
        cbi_vec_push(j->ctx, &data.parts, m->bytes);
        data.size = m->bytes.size;
    }
    j->prune->holes.len = 0; /* a linked file in an archive is no file of its own */
    put_header(j, header, prefix + m->bytes.size, prefix + data.size);
    cbi_sink_write(&j->out, header + HEADER_SIZE, (size_t)prefix);
    for (size_t i = 0; i < data.parts.len; i++)
        cbi_sink_write(&j->out, data.parts.items[i].data, data.parts.items[i].size);
    if (j->out.written & 1)
        cbi_sink_write(&j->out, "\n", 1);
}

static uint64_t new_offset(const job *j, uint64_t old)
{
    size_t from = 0, to = j->places.len;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (j->places.items[middle].old_offset < old)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == j->places.len || j->places.items[from].old_offset != old)
        refuse(j, "its symbol table names no member");
    return j->places.items[from].new_offset;
}

static uint64_t load_big(const uint8_t *p, size_t width)
{
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value = value << 8 | p[i];
    return value;
}

static void store_big(uint8_t *p, size_t width, uint64_t value)
{
    for (size_t i = width; i-- > 0; value >>= 8)
        p[i] = (uint8_t)value;
}

/* System V's table: a count, offsets of members, names; numbers are big endian. */
static void fix_symbols(job *j, uint8_t *table, uint64_t size, size_t width)
{
    uint64_t count = size >= width ? load_big(table, width) : 0;
    uint64_t bytes;
    if (!cbi_mul(count, width, &bytes) || !cbi_fits(width, bytes, size))
        refuse(j, "its symbol table is damaged");
    for (uint64_t i = 0; i < count; i++) {
        uint8_t *entry = table + width + i * width;
        uint64_t place = new_offset(j, load_big(entry, width));
        if (width == 4 && place > UINT32_MAX)
            refuse(j, "its symbol table has no room for such offsets");
        store_big(entry, width, place);
    }
}

/* What stands before the members: the symbol table, whose copy is returned, and the long names. */
static uint8_t *put_tables(job *j, uint64_t *pos, uint64_t *ret_size, size_t *ret_width)
{
    uint8_t *table = NULL;
    for (;;) {
        cbi_span header, data;
        if (!cbi_subspan(j->bytes, *pos, HEADER_SIZE, &header) || header.data[0] != '/')
            return table;
        bool names = header.data[1] == '/';
        bool wide = memcmp(header.data, "/SYM64/ ", 8) == 0;
        if (!names && !wide && header.data[1] != ' ')
            return table;
        uint64_t size = 0;
        for (size_t i = 0; i < SIZE_DIGITS && header.data[SIZE_FIELD + i] >= '0' &&
                           header.data[SIZE_FIELD + i] <= '9';
             i++)
            size = size * 10 + header.data[SIZE_FIELD + i] - '0';
        if (!cbi_subspan(j->bytes, *pos + HEADER_SIZE, size, &data))
            refuse(j, "a table is cut off");
        uint8_t *copy = cbi_memdup(j->ctx, data.data, data.size);
        if (!names) {
            table = copy;
            *ret_size = size;
            *ret_width = wide ? 8 : 4;
        }
        cbi_sink_write(&j->out, header.data, HEADER_SIZE);
        cbi_sink_write(&j->out, copy, data.size);
        if (j->out.written & 1)
            cbi_sink_write(&j->out, "\n", 1);
        *pos += HEADER_SIZE + size + (size & 1);
    }
}

cbi_rope cbi_prune_archive(cbi_ctx *ctx, cbi_prune *prune, const char *path, cbi_span bytes)
{
    cbi_rope result = {0};
    job j = {.ctx = ctx, .prune = prune, .path = path, .bytes = bytes};
    j.out = cbi_sink_rope(ctx, &result);
    cbi_archive archive = cbi_archive_open(bytes);
    if (archive.thin)
        refuse(&j, "it is a thin archive, whose members are files of their own");
    cbi_sink_write(&j.out, bytes.data, archive.pos);
    uint64_t pos = archive.pos;
    uint64_t table_size = 0;
    size_t width = 4;
    uint8_t *table = put_tables(&j, &pos, &table_size, &width);
    for (;;) {
        cbi_member member;
        cbi_archive_step step = cbi_archive_next(ctx, &archive, false, &member);
        if (step == CBI_ARCHIVE_END)
            break;
        if (step != CBI_ARCHIVE_MEMBER || member.cut_off)
            refuse(&j, "it is damaged");
        if (member.header != pos)
            refuse(&j, "it has tables of another kind");
        cbi_vec_push(ctx, &j.places, ((member_place){pos, j.out.written}));
        put_member(&j, bytes.data + pos, &member);
        pos = archive.pos;
    }
    if (table)
        fix_symbols(&j, table, table_size, width);
    return result;
}
