/* The PTX of a part with comments and places in the source, as nvlink has it.
 *
 * With -ptx the library takes its input for a whole program, and then functions and variables that
 * only others refer to are no longer visible, or gone.  A module in whose llvm.used they are keeps
 * them; their names are in the PTX that an assembler kept (CBI_LTO_PART_PTX).  That PTX also says
 * whether the new one is the same program, and which numbers renamed static functions have. */
#include "lto/lto.h"
#include "lto/worker.h"

typedef struct token {
    const uint8_t *at;
    size_t len; /* 0: none is left */
} token;

static bool is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '$' || c == '%' || c == '.';
}

static bool is(token t, const char *word)
{
    return t.len == strlen(word) && memcmp(t.at, word, t.len) == 0;
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

static token word_at(cbi_span text, size_t at)
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
    return (token){text.data + at, end - at};
}

/* The next word that is code, from *at on, which moves behind it. */
static token next_token(cbi_span text, size_t *at)
{
    for (;;) {
        *at = skip_space(text, *at);
        token t = word_at(text, *at);
        if (is(t, ".loc") || is(t, ".file")) {
            *at = skip_line(text, *at);
        } else if (is(t, ".section")) {
            while (*at < text.size && text.data[*at] != '}')
                ++*at;
            *at += *at < text.size;
        } else {
            *at += t.len;
            return t;
        }
    }
}

/* ---- names ---- */

static const struct {
    const char *word;
    int number; /* NVVM's address space */
} spaces[] = {{".func", 0}, {".global", 1}, {".const", 4}, {".shared", 3}};

/* The name behind the space: words with a dot, what is in brackets and alignments come before.
 * The last of the words is the type. */
static token name_of(cbi_span ptx, size_t *at, token *ret_type)
{
    token t;
    *ret_type = (token){NULL, 0};
    while ((t = next_token(ptx, at)).len) {
        if (is(t, ".align")) {
            next_token(ptx, at);
        } else if (is(t, "(")) {
            unsigned depth = 1;
            while (depth && (t = next_token(ptx, at)).len)
                depth += is(t, "(") ? 1U : is(t, ")") ? -1U : 0U;
        } else if (*t.at == '.') {
            *ret_type = t;
        } else {
            break;
        }
    }
    return t;
}

static uint64_t number_of(token t)
{
    uint64_t number = 0;
    for (size_t i = 0; i < t.len && t.at[i] >= '0' && t.at[i] <= '9' && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(t.at[i] - '0');
    return number;
}

/* Of the variable whose name ends at `at`: a number of elements may follow.  Textures and the like
 * are handles. */
static uint64_t size_of(cbi_span ptx, size_t at, token type)
{
    size_t digits = type.len;
    while (digits && type.at[digits - 1] >= '0' && type.at[digits - 1] <= '9')
        digits--;
    uint64_t bits = number_of((token){type.at + digits, type.len - digits});
    uint64_t count = is(next_token(ptx, &at), "[") ? number_of(next_token(ptx, &at)) : 1;
    return count * (bits ? bits / 8 : 8);
}

typedef struct keeping {
    cbi_ctx *ctx;
    cbi_map seen;
    cbi_buf declarations, list;
    size_t count;
} keeping;

/* Sizes must be those of the definitions. */
static void keep(keeping *k, const char *name, int space, uint64_t size)
{
    const char *comma = k->count++ ? ", " : "";
    if (space == 0) {
        cbi_buf_printf(k->ctx, &k->declarations, "declare void @%s()\n", name);
        cbi_buf_printf(k->ctx, &k->list, "%si8* bitcast (void ()* @%s to i8*)", comma, name);
    } else {
        const char *type = cbi_printf(k->ctx, "[%llu x i8]", (unsigned long long)size);
        cbi_buf_printf(k->ctx, &k->declarations, "@%s = external addrspace(%d) global %s\n", name,
                       space, type);
        cbi_buf_printf(k->ctx, &k->list,
                       "%si8* bitcast (%s* addrspacecast (%s addrspace(%d)* @%s to %s*) to i8*)",
                       comma, type, type, space, name, type);
    }
}

/* NVVM IR with everything in llvm.used that the PTX shows to others; kernels stay anyway. */
static const char *keeping_module(cbi_ctx *ctx, cbi_span ptx)
{
    keeping k = {.ctx = ctx};
    size_t at = 0;
    for (token t; (t = next_token(ptx, &at)).len;) {
        if (!is(t, ".visible") && !is(t, ".weak") && !is(t, ".common"))
            continue;
        t = next_token(ptx, &at);
        size_t space = 0;
        while (space < CBI_COUNT(spaces) && !is(t, spaces[space].word))
            space++;
        if (space == CBI_COUNT(spaces))
            continue;
        token type;
        t = name_of(ptx, &at, &type);
        const cbi_name *name = cbi_intern_len(ctx, (const char *)t.at, t.len);
        if (!t.len || cbi_map_get(&k.seen, CBI_KEY(name)))
            continue;
        cbi_map_put(ctx, &k.seen, CBI_KEY(name), (void *)name);
        keep(&k, name->s, spaces[space].number, size_of(ptx, at, type));
    }
    if (!k.count)
        return NULL;
    return cbi_printf(ctx,
                      CBI_LTO_IR_HEAD "%.*s@llvm.used = appending global [%zu x i8*] [%.*s], "
                                      "section \"llvm.metadata\"\n" CBI_LTO_IR_TAIL,
                      (int)k.declarations.len, (const char *)k.declarations.items, k.count,
                      (int)k.list.len, (const char *)k.list.items);
}

/* ---- are they the same program? ---- */

/* The part of a name before the number that tells it from others of the name: "f$5". */
static size_t stem_of(token t)
{
    size_t end = t.len;
    while (end && t.at[end - 1] >= '0' && t.at[end - 1] <= '9')
        end--;
    return end && end < t.len && t.at[end - 1] == '$' ? end : 0;
}

static bool is_renamed(token a, token b)
{
    size_t stem = stem_of(a);
    return stem && stem == stem_of(b) && memcmp(a.at, b.at, stem) == 0;
}

/* The text with the names that are kept.  False if the code is another. */
static bool merge(cbi_ctx *ctx, cbi_span text, cbi_span kept, cbi_span *ret_text)
{
    cbi_buf out = {0};
    size_t at = 0, copied = 0, kept_at = 0;
    for (;;) {
        token a = next_token(text, &at);
        token b = next_token(kept, &kept_at);
        bool same = a.len == b.len && (!a.len || memcmp(a.at, b.at, a.len) == 0);
        if (!same && !is_renamed(a, b))
            return false;
        if (!a.len)
            break;
        if (same)
            continue;
        size_t start = (size_t)(a.at - text.data);
        cbi_buf_append(ctx, &out, text.data + copied, start - copied);
        cbi_buf_append(ctx, &out, b.at, b.len);
        copied = at;
    }
    cbi_buf_append(ctx, &out, text.data + copied, text.size - copied);
    *ret_text = (cbi_span){out.items, out.len};
    return true;
}

bool cbi_lto_full_text(cbi_ctx *ctx, const cbi_lto_options *o, const cbi_lto_input *inputs,
                       size_t count, cbi_span kept, cbi_span *ret_text)
{
    cbi_span text;
    const char *module = keeping_module(ctx, kept);
    /* Behind the others it moves static variables from sm_100 on, before them functions. */
    for (int first = 0; first < 2; first++)
        if (cbi_lto_compile_text(ctx, o, inputs, count, module, first, &text) &&
            merge(ctx, text, kept, ret_text))
            return true;
    return false;
}
