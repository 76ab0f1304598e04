/* PTX as words.  docs/lto.md, "Parts of programs". */
#include "lto/ptx_words.h"

static bool is_word(uint8_t c)
{
    return cbi_ptx_is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

bool cbi_ptx_is(cbi_ptx_word t, const char *word)
{
    return t.len == strlen(word) && memcmp(t.at, word, t.len) == 0;
}

bool cbi_ptx_is_shown(cbi_ptx_word word)
{
    return cbi_ptx_is(word, ".visible") || cbi_ptx_is(word, ".weak") || cbi_ptx_is(word, ".common");
}

static size_t skip_line(cbi_span text, size_t at)
{
    while (at < text.size && text.data[at] != '\n')
        at++;
    return at;
}

/* Behind blanks and comments. */
static size_t skip_space(cbi_span text, size_t at)
{
    while (at < text.size) {
        uint8_t c = text.data[at], next = at + 1 < text.size ? text.data[at + 1] : 0;
        if (c == '/' && next == '/') {
            at = skip_line(text, at);
        } else if (c == '/' && next == '*') {
            for (at += 2; at < text.size && !(text.data[at - 1] == '*' && text.data[at] == '/');)
                at++;
            at += at < text.size;
        } else if (c <= ' ') {
            at++;
        } else {
            break;
        }
    }
    return at;
}

static cbi_ptx_word word_at(cbi_span text, size_t at)
{
    size_t end = at;
    if (end < text.size && text.data[end] == '"') {
        end++;
        while (end < text.size && text.data[end] != '"' && text.data[end] != '\n')
            end++;
        end += end < text.size;
    } else {
        while (end < text.size && is_word(text.data[end]))
            end++;
        end += end == at && end < text.size;
    }
    return (cbi_ptx_word){text.data + at, end - at};
}

cbi_ptx_word cbi_ptx_next(cbi_span text, size_t *at)
{
    for (;;) {
        *at = skip_space(text, *at);
        cbi_ptx_word t = word_at(text, *at);
        if (cbi_ptx_is(t, ".loc") || cbi_ptx_is(t, ".file")) {
            *at = skip_line(text, *at);
        } else if (cbi_ptx_is(t, ".section")) {
            while (*at < text.size && text.data[*at] != '}')
                ++*at;
            *at += *at < text.size;
        } else {
            *at += t.len;
            return t;
        }
    }
}

cbi_ptx_word cbi_ptx_name(cbi_span ptx, size_t *at, cbi_ptx_word *ret_type)
{
    cbi_ptx_word t;
    *ret_type = (cbi_ptx_word){NULL, 0};
    while ((t = cbi_ptx_next(ptx, at)).len) {
        if (cbi_ptx_is(t, ".align")) {
            cbi_ptx_next(ptx, at);
        } else if (cbi_ptx_is(t, "(")) {
            unsigned depth = 1;
            while (depth && (t = cbi_ptx_next(ptx, at)).len)
                depth += cbi_ptx_is(t, "(") ? 1U : cbi_ptx_is(t, ")") ? -1U : 0U;
        } else if (*t.at == '.') {
            *ret_type = t;
        } else {
            break;
        }
    }
    return t;
}

size_t cbi_ptx_stem(cbi_ptx_word name)
{
    size_t end = name.len;
    while (end && cbi_ptx_is_digit(name.at[end - 1]))
        end--;
    return end && end < name.len && name.at[end - 1] == '$' ? end : 0;
}
