/* Diagnostics as lines on stderr. */
#ifndef CUBIND_MESSAGES_H
#define CUBIND_MESSAGES_H

#include "base/base.h"

typedef struct cbi_messages {
    const char *tool_name; /* before every line */
    bool plain;            /* print what nvlink prints and no more: no help lines */
    bool summarize;        /* count warnings of one cause instead of printing each */
    struct cbi_warning_count {
        const char *id;
        char *help;  /* the cause; "" if there is none */
        char *first; /* text of the first one */
        size_t count;
    } * counts;
    size_t count_len;
} cbi_messages;

/* Makes the context print its diagnostics.  messages must outlive the context's jobs. */
void cbi_messages_attach(cbi_messages *messages, cbi_ctx *ctx);

/* What the context then does with each. */
void cbi_messages_print(cbi_messages *messages, const cb_diagnostic *diagnostic);

/* Says why a job ended for which there was no diagnostic: memory, its limit, or a file that shrank
 * while it was read. */
void cbi_messages_end(const cbi_messages *messages, const cbi_ctx *ctx, cb_status status);
/* A fatal diagnostic if an input has changed since it was opened.  Runs inside cbi_run(). */
void cbi_refuse_changed(cbi_ctx *ctx);

/* Ends the job with a fatal error if one of the results, of which NULL are none, would replace a
 * file that the job has read, or another result.  Devices and pipes are exempt. */
void cbi_refuse_replacing(cbi_ctx *ctx, const char *const *paths, size_t count);

/* With summarize: prints one warning for each kind and cause.  Frees what messages owns. */
void cbi_messages_finish(cbi_messages *messages);

#endif
