/* Text buffers and the arena of the inspectors. */
#include "out.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "say.h"

/* Memory runs out in several threads at once; one ends the process. */
void cbi_give_up(const char *why)
{
    static atomic_flag given_up = ATOMIC_FLAG_INIT;
    while (atomic_flag_test_and_set(&given_up))
        pause();
    cbi_say("%s", why);
    cbi_cleanup_now();
    exit(2);
}

void *cbi_grow(void *block, size_t count, size_t size)
{
    size_t bytes;
    void *grown = NULL;
    if (!__builtin_mul_overflow(count ? count : 1, size, &bytes))
        grown = realloc(block, bytes);
    if (!grown)
        cbi_give_up("cubind: out of memory");
    return grown;
}

/* ---- text ---- */

void cbi_out_bytes(cbi_out *out, const void *bytes, size_t size)
{
    if (size > out->cap - out->len) {
        size_t need = out->len + size;
        out->cap = need > 2 * out->cap ? need : 2 * out->cap;
        out->text = cbi_grow(out->text, out->cap, 1);
    }
    if (size)
        memcpy(out->text + out->len, bytes, size);
    out->len += size;
}

void cbi_out_put(cbi_out *out, const char *text)
{
    cbi_out_bytes(out, text, strlen(text));
}

void cbi_out_printf(cbi_out *out, const char *format, ...)
{
    char small[512];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len < (int)sizeof small) {
        cbi_out_bytes(out, small, len > 0 ? (size_t)len : 0);
        return;
    }
    char *large = cbi_grow(NULL, (size_t)len + 1, 1);
    va_start(args, format);
    vsnprintf(large, (size_t)len + 1, format, args);
    va_end(args);
    cbi_out_bytes(out, large, (size_t)len);
    free(large);
}

void cbi_out_spaces(cbi_out *out, size_t count)
{
    static const char blanks[] = "                                ";
    for (; count >= sizeof blanks; count -= sizeof blanks - 1)
        cbi_out_bytes(out, blanks, sizeof blanks - 1);
    cbi_out_bytes(out, blanks, count);
}

static void add_piece(void *user, const char *bytes, size_t size)
{
    cbi_out_bytes(user, bytes, size);
}

void cbi_out_string(cbi_out *out, const char *text)
{
    cbi_text_each(text, "", add_piece, out);
}

/* Every character but the continuations of one. */
static void count_piece(void *user, const char *bytes, size_t size)
{
    size_t *width = user;
    for (size_t i = 0; i < size; i++)
        *width += ((unsigned char)bytes[i] & 0xc0) != 0x80;
}

size_t cbi_out_width(const char *text)
{
    size_t width = 0;
    cbi_text_each(text, "", count_piece, &width);
    return width;
}

void cbi_out_style(cbi_out *out, cbi_style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[32m", "\033[31m"};
    if (out->colour)
        cbi_out_put(out, codes[style]);
}

bool cbi_is_colourful(FILE *stream)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && *no) && !(term && strcmp(term, "dumb") == 0) && isatty(fileno(stream));
}

const char *cbi_out_text(cbi_out *out)
{
    cbi_out_bytes(out, "", 1);
    out->len--;
    return out->text;
}

bool cbi_out_flush(cbi_out *out, FILE *stream)
{
    bool done = out->len == 0 || fwrite(out->text, 1, out->len, stream) == out->len;
    out->len = 0;
    return done;
}

void cbi_out_free(cbi_out *out)
{
    free(out->text);
    *out = (cbi_out){.colour = out->colour};
}

/* ---- the arena ---- */

struct cbi_store_block {
    struct cbi_store_block *next;
    size_t pad; /* what follows is aligned for any type */
};

enum { STORE_BLOCK = 64 * 1024, STORE_ALIGN = 16 };

void *cbi_store_new(cbi_store *store, size_t size)
{
    size = (size + STORE_ALIGN - 1) & ~(size_t)(STORE_ALIGN - 1);
    if (!store->blocks || size > store->size - store->used) {
        size_t room = size > STORE_BLOCK ? size : STORE_BLOCK;
        struct cbi_store_block *block = cbi_grow(NULL, sizeof *block + room, 1);
        block->next = store->blocks;
        store->blocks = block;
        store->size = sizeof *block + room;
        store->used = sizeof *block;
    }
    void *place = (char *)store->blocks + store->used;
    store->used += size;
    return memset(place, 0, size);
}

char *cbi_store_copy(cbi_store *store, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(cbi_store_new(store, size), text, size);
}

char *cbi_store_vprintf(cbi_store *store, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = cbi_store_new(store, (size_t)(len > 0 ? len : 0) + 1);
    vsnprintf(text, (size_t)(len > 0 ? len : 0) + 1, format, again);
    va_end(again);
    return text;
}

char *cbi_store_printf(cbi_store *store, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = cbi_store_vprintf(store, format, args);
    va_end(args);
    return text;
}

void cbi_store_free(cbi_store *store)
{
    while (store->blocks) {
        struct cbi_store_block *next = store->blocks->next;
        free(store->blocks);
        store->blocks = next;
    }
    *store = (cbi_store){0};
}
