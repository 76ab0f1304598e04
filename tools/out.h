/* Text that is put together before it is printed, and memory that is freed at once.  When there is
 * none left the program says so and ends. */
#ifndef CUBIND_OUT_H
#define CUBIND_OUT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CBI_FORMAT(f, a) __attribute__((format(printf, f, a)))

/* Zero-initialise. */
typedef struct cbi_out {
    char *text; /* not terminated */
    size_t len;
    size_t cap;
    bool colour; /* escape sequences are wanted */
} cbi_out;

/* Says it and ends the program with status 2: temporary files are removed. */
__attribute__((noreturn)) void cbi_give_up(const char *why);

void cbi_out_put(cbi_out *out, const char *text);
void cbi_out_bytes(cbi_out *out, const void *bytes, size_t size);
void cbi_out_printf(cbi_out *out, const char *format, ...) CBI_FORMAT(2, 3);
void cbi_out_spaces(cbi_out *out, size_t count);
/* A stranger's string: nothing in it acts on a terminal. */
void cbi_out_string(cbi_out *out, const char *text);
/* Columns that a string takes, shown by cbi_out_string. */
size_t cbi_out_width(const char *text);

/* Begin or end a style; nothing without colour. */
typedef enum cbi_style { CBI_STYLE_OFF, CBI_STYLE_TITLE, CBI_STYLE_GOOD, CBI_STYLE_BAD } cbi_style;
void cbi_out_style(cbi_out *out, cbi_style style);
/* Do escape sequences belong on this stream?  It is a terminal and NO_COLOR is not set. */
bool cbi_is_colourful(FILE *stream);

/* The text as a string, which lives as long as the buffer is not added to. */
const char *cbi_out_text(cbi_out *out);
/* Writes everything and empties the buffer; false if that failed. */
bool cbi_out_flush(cbi_out *out, FILE *stream);
void cbi_out_free(cbi_out *out);

/* An arena.  Zero-initialise. */
typedef struct cbi_store {
    struct cbi_store_block *blocks;
    size_t used, size;
} cbi_store;

/* Zeroed. */
void *cbi_store_new(cbi_store *store, size_t size);
char *cbi_store_copy(cbi_store *store, const char *text);
char *cbi_store_printf(cbi_store *store, const char *format, ...) CBI_FORMAT(2, 3);
char *cbi_store_vprintf(cbi_store *store, const char *format, va_list args);
void cbi_store_free(cbi_store *store);

/* realloc() that does not fail. */
void *cbi_grow(void *block, size_t count, size_t size);

#endif
