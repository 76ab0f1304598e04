/* The words of PTX, as the compiler writes it: comments, places in the source (.loc, .file) and
 * debugging sections are no words. */
#ifndef CBI_LTO_PTX_WORDS_H
#define CBI_LTO_PTX_WORDS_H

#include "base/base.h"

typedef struct cbi_ptx_word {
    const uint8_t *at; /* in the text */
    size_t len;        /* 0: none is left */
} cbi_ptx_word;

bool cbi_ptx_is(cbi_ptx_word word, const char *text);

/* Is it a linkage by which others can refer to what follows? */
bool cbi_ptx_is_shown(cbi_ptx_word word);

static inline bool cbi_ptx_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The next word from *at on, which moves behind it. */
cbi_ptx_word cbi_ptx_next(cbi_span text, size_t *at);

/* Length of the part of a name before the number that tells it from others of the name ("f$5"),
 * with the dollar sign; 0 if it has none. */
size_t cbi_ptx_stem(cbi_ptx_word name);

/* The name of what is declared or defined from *at on, which moves behind it: words with a dot,
 * what is in brackets and alignments come before.  The last of the words is the type. */
cbi_ptx_word cbi_ptx_name(cbi_span text, size_t *at, cbi_ptx_word *ret_type);

#endif
