/* Strings of strangers, made safe for a terminal. */
#ifndef CBI_TEXT_H
#define CBI_TEXT_H

#include "base/base.h"

/* Length of the UTF-8 sequence at s, 0 if it is none. */
size_t cbi_utf8_len(const unsigned char *s);

/* Appends the string.  Control characters, what reverses the direction of writing, and bytes that
 * are no UTF-8 are shown as \xNN. */
void cbi_text_string(cbi_ctx *ctx, cbi_buf *out, const char *s);

/* The string shown so; itself if nothing in it needs it. */
const char *cbi_text_shown(cbi_ctx *ctx, const char *s);

/* The same through a callback; `keep` are control characters that pass. */
typedef void (*cbi_text_fn)(void *user, const char *bytes, size_t size);
void cbi_text_each(const char *s, const char *keep, cbi_text_fn fn, void *user);

#endif
