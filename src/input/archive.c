#include "input/archive.h"

enum {
    MAGIC_SIZE = 8,
    HEADER_SIZE = 60,
    NAME_SIZE = 16,
    SIZE_OFFSET = 48,
    SIZE_SIZE = 10,
    END_OFFSET = 58 /* of the marks that end a header */
};

static bool has_magic(cbi_span bytes, const char *magic)
{
    return bytes.size >= MAGIC_SIZE && memcmp(bytes.data, magic, MAGIC_SIZE) == 0;
}

bool cbi_is_archive(cbi_span bytes)
{
    return has_magic(bytes, "!<arch>\n") || has_magic(bytes, "!<thin>\n");
}

cbi_archive cbi_archive_open(cbi_span bytes)
{
    return (cbi_archive){.bytes = bytes, .thin = has_magic(bytes, "!<thin>\n"), .pos = MAGIC_SIZE};
}

/* A decimal field: digits, then anything.  *ret_rest is the first byte after the digits. */
static uint64_t decimal(const char *field, size_t size, size_t *ret_digits)
{
    uint64_t value = 0;
    size_t i = 0;
    while (i < size && field[i] >= '0' && field[i] <= '9')
        value = value * 10 + (uint64_t)(field[i++] - '0');
    *ret_digits = i;
    return value;
}

/* Length of the text before the first stop byte, size if there is none. */
static size_t length_before(const char *s, size_t size, char stop)
{
    size_t length = 0;
    while (length < size && s[length] != stop)
        length++;
    return length;
}

static bool long_name(cbi_ctx *ctx, const cbi_archive *archive, uint64_t offset, const char **ret)
{
    if (offset >= archive->long_names.size)
        return false;
    const char *s = (const char *)archive->long_names.data + offset;
    size_t size = archive->long_names.size - (size_t)offset;
    /* Names end with "/\n"; a thin archive's names are paths and have slashes inside. */
    size_t len = length_before(s, size, '\n');
    if (len && s[len - 1] == '/')
        len--;
    *ret = cbi_strndup(ctx, s, len);
    return true;
}

/* Moves past the member's data, which is padded to an even offset. */
static void step_over(cbi_archive *archive, uint64_t data, uint64_t size)
{
    uint64_t end;
    if (!cbi_add(data, size, &end) || end >= archive->bytes.size)
        end = archive->bytes.size;
    else
        end += end & 1;
    archive->pos = (size_t)end;
}

/* What all members have, whatever their name says of them. */
typedef struct header {
    const char *name; /* NAME_SIZE bytes */
    size_t name_len;  /* of them before the first slash */
    uint64_t data;    /* where the data start ... */
    uint64_t size;    /* ... and how many bytes the header says that they are */
} header;

/* How a member is named decides what it is. */
typedef enum member_kind {
    SYMBOL_TABLE,    /* "/" or "/SYM64/" */
    LONG_NAME_TABLE, /* "//" */
    LONG_NAME,       /* "/123": an offset in that table */
    BSD_NAME,        /* "#1/123": the name stands before the data, and is part of their size */
    SHORT_NAME       /* ended by a slash, or padded with blanks */
} member_kind;

static cbi_archive_step read_header(const cbi_archive *archive, bool lenient, header *ret)
{
    const char *h = (const char *)archive->bytes.data + archive->pos;
    const size_t left = archive->bytes.size - archive->pos;
    const size_t name_size = left < NAME_SIZE ? left : NAME_SIZE;
    const size_t name_len = length_before(h, name_size, '/');
    if (lenient && name_len == name_size)
        return CBI_ARCHIVE_BAD_HEADER;
    if (left < HEADER_SIZE)
        return lenient ? CBI_ARCHIVE_END : CBI_ARCHIVE_BAD_HEADER;
    size_t digits;
    const uint64_t size = decimal(h + SIZE_OFFSET, SIZE_SIZE, &digits);
    if (!lenient && (memcmp(h + END_OFFSET, "`\n", 2) != 0 || digits == 0))
        return CBI_ARCHIVE_BAD_HEADER;
    *ret = (header){h, name_len, archive->pos + HEADER_SIZE, size};
    return CBI_ARCHIVE_MEMBER;
}

static member_kind kind_of(const header *h, bool lenient)
{
    if (h->name_len == 0) {
        if (h->name[1] == '/')
            return LONG_NAME_TABLE;
        return h->name[1] >= '0' && h->name[1] <= '9' ? LONG_NAME : SYMBOL_TABLE;
    }
    /* nvlink knows no BSD names: this is a member called "#1" to it */
    return !lenient && memcmp(h->name, "#1/", 3) == 0 ? BSD_NAME : SHORT_NAME;
}

/* rest: from the data on.  *ret_inside: bytes of the data that are the name. */
static cbi_archive_step read_name(cbi_ctx *ctx, const cbi_archive *archive, member_kind kind,
                                  const header *h, cbi_span rest, const char **ret_name,
                                  size_t *ret_inside)
{
    size_t digits;
    size_t len = h->name_len;
    *ret_inside = 0;
    switch (kind) {
    case LONG_NAME:
        if (!long_name(ctx, archive, decimal(h->name + 1, NAME_SIZE - 1, &digits), ret_name))
            return CBI_ARCHIVE_NO_LONG_NAMES;
        break;
    case BSD_NAME: {
        const uint64_t size = decimal(h->name + 3, NAME_SIZE - 3, &digits);
        if (digits == 0 || size > h->size || size > rest.size)
            return CBI_ARCHIVE_BAD_HEADER;
        const char *name = (const char *)rest.data;
        *ret_name = cbi_strndup(ctx, name, length_before(name, (size_t)size, 0));
        *ret_inside = (size_t)size;
        break;
    }
    default:
        if (len == NAME_SIZE)
            while (len && h->name[len - 1] == ' ')
                len--;
        *ret_name = cbi_strndup(ctx, h->name, len);
        break;
    }
    return CBI_ARCHIVE_MEMBER;
}

/* BSD's tables of symbols are members with a name like any other. */
static bool is_bsd_table(member_kind kind, const char *name)
{
    return strncmp(name, "__.SYMDEF", 9) == 0 && (kind == BSD_NAME || name[9] == 0);
}

cbi_archive_step cbi_archive_next(cbi_ctx *ctx, cbi_archive *archive, bool lenient,
                                  cbi_member *ret_member)
{
    while (archive->pos < archive->bytes.size) {
        header h;
        cbi_archive_step step = read_header(archive, lenient, &h);
        if (step != CBI_ARCHIVE_MEMBER)
            return step;
        const member_kind kind = kind_of(&h, lenient);
        cbi_member member = {.header = archive->pos};
        cbi_subspan(archive->bytes, h.data, archive->bytes.size - h.data, &member.rest);
        if (kind == LONG_NAME_TABLE) {
            archive->long_names = (cbi_span){NULL, 0};
            cbi_subspan(member.rest, 0, h.size, &archive->long_names);
            archive->has_long_names = true;
        }
        if (kind == LONG_NAME_TABLE || kind == SYMBOL_TABLE) {
            step_over(archive, h.data, h.size);
            continue;
        }

        size_t inside;
        step = read_name(ctx, archive, kind, &h, member.rest, &member.name, &inside);
        if (step != CBI_ARCHIVE_MEMBER)
            return step;
        step_over(archive, h.data, archive->thin && kind != BSD_NAME ? 0 : h.size);
        if (!lenient && is_bsd_table(kind, member.name))
            continue;
        cbi_subspan(member.rest, inside, member.rest.size - inside, &member.rest);
        member.cut_off = !cbi_subspan(member.rest, 0, h.size - inside, &member.bytes);
        if (member.cut_off)
            member.bytes = member.rest;
        if (archive->thin) {
            member.rest = member.bytes = (cbi_span){NULL, 0};
            member.cut_off = false;
        }
        *ret_member = member;
        return CBI_ARCHIVE_MEMBER;
    }
    return CBI_ARCHIVE_END;
}
