#include "input/archive.h"

enum { HEADER_SIZE = 60, NAME_SIZE = 16, SIZE_OFFSET = 48, SIZE_SIZE = 10, MAGIC_SIZE = 8 };

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
    const char *end = memchr(s, stop, size);
    return end ? (size_t)(end - s) : size;
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

cbi_archive_step cbi_archive_next(cbi_ctx *ctx, cbi_archive *archive, bool lenient,
                                  cbi_member *ret_member)
{
    while (archive->pos < archive->bytes.size) {
        const char *h = (const char *)archive->bytes.data + archive->pos;
        size_t left = archive->bytes.size - archive->pos;
        bool whole = left >= HEADER_SIZE;
        size_t name_size = left < NAME_SIZE ? left : NAME_SIZE;
        size_t name_len = length_before(h, name_size, '/');
        bool bsd = memcmp(h, "#1/", left < 3 ? left : 3) == 0;

        if (lenient) {
            if (name_len == name_size)
                return CBI_ARCHIVE_BAD_HEADER;
            if (!whole)
                return CBI_ARCHIVE_END;
        } else if (!whole || memcmp(h + 58, "`\n", 2) != 0) {
            return CBI_ARCHIVE_BAD_HEADER;
        }
        size_t digits;
        uint64_t size = decimal(h + SIZE_OFFSET, SIZE_SIZE, &digits);
        if (!lenient && digits == 0)
            return CBI_ARCHIVE_BAD_HEADER;
        uint64_t data = archive->pos + HEADER_SIZE;

        bool table = name_len == 0; /* "/", "//", "/SYM64/", "/123" */
        size_t name_digits = 0;
        uint64_t name_number = decimal(h + 1, NAME_SIZE - 1, &name_digits);
        if (table && h[1] == '/') {
            cbi_span names = {NULL, 0};
            cbi_subspan(archive->bytes, data, size, &names);
            archive->long_names = names;
            archive->has_long_names = true;
            step_over(archive, data, size);
            continue;
        }
        if (table && name_digits == 0) {
            step_over(archive, data, size);
            continue;
        }

        cbi_member member = {.header = archive->pos};
        cbi_span rest = {NULL, 0};
        cbi_subspan(archive->bytes, data, archive->bytes.size - data, &rest);
        if (table) {
            if (!long_name(ctx, archive, name_number, &member.name))
                return CBI_ARCHIVE_NO_LONG_NAMES;
        } else if (bsd && !lenient) {
            uint64_t len = decimal(h + 3, NAME_SIZE - 3, &digits);
            if (digits == 0 || len > size || len > rest.size)
                return CBI_ARCHIVE_BAD_HEADER;
            const char *s = (const char *)rest.data;
            member.name = cbi_strndup(ctx, s, length_before(s, (size_t)len, 0));
            cbi_subspan(rest, len, rest.size - len, &rest);
            step_over(archive, data, size);
            size -= len;
            if (strncmp(member.name, "__.SYMDEF", 9) == 0)
                continue;
        } else {
            size_t len = name_len;
            if (len == name_size) /* BSD short name: padded with blanks */
                while (len && h[len - 1] == ' ')
                    len--;
            member.name = cbi_strndup(ctx, h, len);
        }
        if (!(bsd && !lenient))
            step_over(archive, data, archive->thin ? 0 : size);
        if (!lenient && strcmp(member.name, "__.SYMDEF") == 0)
            continue;
        if (!archive->thin) {
            member.rest = rest;
            member.cut_off = !cbi_subspan(rest, 0, size, &member.bytes);
            if (member.cut_off)
                member.bytes = rest;
        }
        *ret_member = member;
        return CBI_ARCHIVE_MEMBER;
    }
    return CBI_ARCHIVE_END;
}
