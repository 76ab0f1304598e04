/* Where serialized bytes go.  One interface, six back ends. */
#ifndef CBI_SINK_H
#define CBI_SINK_H

#include <stdio.h>

#include "base/base.h"

/* Write size bytes at the end.  False on failure; the sink then stays failed. */
typedef struct cbi_sink {
    bool (*write)(struct cbi_sink *sink, const void *data, size_t size);
    uint64_t written; /* bytes accepted so far */
    bool failed;
    union {
        struct {
            int (*fn)(void *user, const void *data, size_t size); /* nonzero = failure */
            void *user;
        } callback;
        struct {
            cbi_ctx *ctx;
            cbi_buf *buf;
        } buffer;
        struct {
            cbi_ctx *ctx;
            cbi_rope *rope;
            bool gathers;  /* small parts are copied together */
            uint8_t *room; /* for that */
            size_t left;   /* there */
        } rope;
        FILE *file;
        struct {
            uint8_t *data;
            size_t size;
        } fixed;
    } to;
} cbi_sink;

cbi_sink cbi_sink_callback(int (*fn)(void *user, const void *data, size_t size), void *user);
/* Counts only. */
cbi_sink cbi_sink_counter(void);
/* Appends to a growable buffer of the context. */
cbi_sink cbi_sink_buffer(cbi_ctx *ctx, cbi_buf *buf);
/* Lists what is written without copying it: the bytes must stay where they are while the rope is
 * used, and may still change until then. */
cbi_sink cbi_sink_rope(cbi_ctx *ctx, cbi_rope *rope);
/* The same, but small parts are copied together as soon as another one follows: their bytes must be
 * final when they are written. */
cbi_sink cbi_sink_gather(cbi_ctx *ctx, cbi_rope *rope);
/* The bytes of a rope in one piece. */
cbi_span cbi_rope_flatten(cbi_ctx *ctx, const cbi_rope *rope);
/* Writes to an open stream, which stays the caller's. */
cbi_sink cbi_sink_file(FILE *file);
/* Fills caller memory; fails when the next write does not fit, and writes nothing of it. */
cbi_sink cbi_sink_fixed(void *data, size_t size);

bool cbi_sink_write(cbi_sink *sink, const void *data, size_t size);
/* Zero bytes up to an absolute position in the sink; false if it is already past that. */
bool cbi_sink_pad_to(cbi_sink *sink, uint64_t position);

#endif
