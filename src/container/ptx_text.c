/* PTX text on its way into a fatbin. */
#include "container/bundle.h"

static bool is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Behind a comment that begins at `at`, whose end may be missing.  The end of a line stays.  As
 * with fatbinary three bytes are a whole comment, too: slash, star, slash. */
static size_t skip_comment(cbi_span text, size_t at)
{
    size_t i = at + 1;
    if (text.data[i] == '/') {
        while (i < text.size && text.data[i] != '\n' && text.data[i] != '\r')
            i++;
        return i;
    }
    const uint8_t *end = memmem(text.data + i, text.size - i, "*/", 2);
    return end ? (size_t)(end - text.data) + 2 : text.size;
}

cbi_span cbi_ptx_squeeze(cbi_ctx *ctx, cbi_span text)
{
    uint8_t *out = cbi_alloc(ctx, text.size + 1);
    size_t len = 0;
    bool quoted = false;
    uint8_t before = 0;
    for (size_t i = 0; i < text.size;) {
        uint8_t c = text.data[i];
        if (!quoted && c == '/' && i + 1 < text.size &&
            (text.data[i + 1] == '/' || text.data[i + 1] == '*')) {
            i = skip_comment(text, i);
            before = '/';
            continue;
        }
        if (c == '"' && before != '\\')
            quoted = !quoted;
        if (quoted || (c != ' ' && c != '\t') || !is_blank(before))
            out[len++] = c;
        before = c;
        i++;
    }
    return (cbi_span){out, len + 1};
}

bool cbi_ptx_version(cbi_span text, uint16_t *ret_major, uint16_t *ret_minor)
{
    static const char directive[] = ".version";
    size_t size = strnlen((const char *)text.data, text.size);
    const char *s = memmem(text.data, size, directive, sizeof directive - 1);
    const char *end = (const char *)text.data + size;
    if (!s)
        return false;
    for (s += sizeof directive - 1; s < end && is_blank((uint8_t)*s); s++)
        ;
    const char *digits = s;
    uint32_t major = 0;
    for (; s < end && *s >= '0' && *s <= '9'; s++)
        major = major * 10 + (uint32_t)(*s - '0');
    if (s == digits || end - s < 2 || s[0] != '.' || s[1] < '0' || s[1] > '9')
        return false;
    *ret_major = (uint16_t)major;
    *ret_minor = (uint16_t)(s[1] - '0');
    return true;
}
