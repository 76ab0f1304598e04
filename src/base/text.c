#include "base/text.h"

#include <stdio.h>

size_t cbi_utf8_len(const unsigned char *s)
{
    size_t len = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return len;
}

/* C1 controls, and marks that make text look other than it is. */
static bool is_deceptive(const unsigned char *s, size_t len)
{
    if (len == 2)
        return s[0] == 0xc2 && s[1] < 0xa0;
    if (len != 3 || s[0] != 0xe2)
        return false;
    return (s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
           (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
}

static size_t plain_len(const unsigned char *s, const char *keep)
{
    size_t len = 0;
    while ((s[len] >= 0x20 && s[len] < 0x7f) || (s[len] && s[len] < 0x20 && strchr(keep, s[len])))
        len++;
    return len;
}

void cbi_text_each(const char *s, const char *keep, cbi_text_fn fn, void *user)
{
    const unsigned char *p = (const unsigned char *)s;
    while (*p) {
        size_t len = plain_len(p, keep);
        if (!len && *p >= 0x80) {
            len = cbi_utf8_len(p);
            if (is_deceptive(p, len))
                len = 0;
        }
        if (len) {
            fn(user, (const char *)p, len);
        } else {
            char escape[8];
            fn(user, escape, (size_t)snprintf(escape, sizeof escape, "\\x%02x", *p));
            len = 1;
        }
        p += len;
    }
}

typedef struct text_buffer {
    cbi_ctx *ctx;
    cbi_buf *out;
} text_buffer;

static void append(void *user, const char *bytes, size_t size)
{
    text_buffer *b = user;
    cbi_buf_append(b->ctx, b->out, bytes, size);
}

void cbi_text_string(cbi_ctx *ctx, cbi_buf *out, const char *s)
{
    text_buffer b = {ctx, out};
    cbi_text_each(s, "", append, &b);
}

const char *cbi_text_shown(cbi_ctx *ctx, const char *s)
{
    const char *at = s;
    while (*at >= ' ' && *at < 0x7f)
        at++;
    if (!*at)
        return s;
    cbi_buf text = {0};
    cbi_text_string(ctx, &text, s);
    return cbi_buf_text(ctx, &text);
}
