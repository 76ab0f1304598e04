#include "base/sink.h"

static bool write_callback(cbi_sink *sink, const void *data, size_t size)
{
    return sink->to.callback.fn(sink->to.callback.user, data, size) == 0;
}

static bool write_counter(cbi_sink *sink, const void *data, size_t size)
{
    (void)sink;
    (void)data;
    (void)size;
    return true;
}

static bool write_buffer(cbi_sink *sink, const void *data, size_t size)
{
    cbi_buf_append(sink->to.buffer.ctx, sink->to.buffer.buf, data, size);
    return true;
}

enum { ROPE_COPIED = 256, ROPE_ROOM = 4096 };

/* The last part is complete.  To write a part of its own costs more than to copy so few bytes, and
 * copies are neighbours. */
static void settle_last(cbi_sink *sink)
{
    cbi_rope *rope = sink->to.rope.rope;
    cbi_span *last = &rope->parts.items[rope->parts.len - 1];
    if (last->size > ROPE_COPIED)
        return;
    if (last->size > sink->to.rope.left) {
        sink->to.rope.room = cbi_alloc(sink->to.rope.ctx, ROPE_ROOM);
        sink->to.rope.left = ROPE_ROOM;
    }
    uint8_t *copy = sink->to.rope.room;
    memcpy(copy, last->data, last->size);
    sink->to.rope.room += last->size;
    sink->to.rope.left -= last->size;
    cbi_span *before = rope->parts.len > 1 ? last - 1 : NULL;
    if (before && before->data + before->size == copy) {
        before->size += last->size;
        rope->parts.len--;
    } else {
        last->data = copy;
    }
}

static bool write_rope(cbi_sink *sink, const void *data, size_t size)
{
    cbi_rope *rope = sink->to.rope.rope;
    cbi_span *last = rope->parts.len ? &rope->parts.items[rope->parts.len - 1] : NULL;
    rope->size += size;
    if (last && last->data + last->size == data) {
        last->size += size; /* neighbours in the input stay so */
        return true;
    }
    if (last && sink->to.rope.gathers)
        settle_last(sink);
    cbi_vec_push(sink->to.rope.ctx, &rope->parts, ((cbi_span){data, size}));
    return true;
}

static bool write_file(cbi_sink *sink, const void *data, size_t size)
{
    return fwrite(data, 1, size, sink->to.file) == size;
}

static bool write_fixed(cbi_sink *sink, const void *data, size_t size)
{
    if (!cbi_fits(sink->written, size, sink->to.fixed.size))
        return false;
    memcpy(sink->to.fixed.data + sink->written, data, size);
    return true;
}

cbi_sink cbi_sink_callback(int (*fn)(void *user, const void *data, size_t size), void *user)
{
    return (cbi_sink){.write = write_callback, .to.callback = {fn, user}};
}

cbi_sink cbi_sink_counter(void)
{
    return (cbi_sink){.write = write_counter};
}

cbi_sink cbi_sink_buffer(cbi_ctx *ctx, cbi_buf *buf)
{
    return (cbi_sink){.write = write_buffer, .to.buffer = {ctx, buf}};
}

cbi_sink cbi_sink_rope(cbi_ctx *ctx, cbi_rope *rope)
{
    return (cbi_sink){.write = write_rope, .to.rope = {.ctx = ctx, .rope = rope}};
}

cbi_sink cbi_sink_gather(cbi_ctx *ctx, cbi_rope *rope)
{
    cbi_sink sink = cbi_sink_rope(ctx, rope);
    sink.to.rope.gathers = true;
    return sink;
}

cbi_span cbi_rope_flatten(cbi_ctx *ctx, const cbi_rope *rope)
{
    uint8_t *bytes = cbi_alloc(ctx, rope->size), *at = bytes;
    for (size_t i = 0; i < rope->parts.len; i++) {
        memcpy(at, rope->parts.items[i].data, rope->parts.items[i].size);
        at += rope->parts.items[i].size;
    }
    return (cbi_span){bytes, rope->size};
}

cbi_sink cbi_sink_file(FILE *file)
{
    return (cbi_sink){.write = write_file, .to.file = file};
}

cbi_sink cbi_sink_fixed(void *data, size_t size)
{
    return (cbi_sink){.write = write_fixed, .to.fixed = {data, size}};
}

bool cbi_sink_write(cbi_sink *sink, const void *data, size_t size)
{
    if (sink->failed)
        return false;
    if (size == 0)
        return true;
    uint64_t written;
    if (!cbi_add(sink->written, size, &written) || !sink->write(sink, data, size)) {
        sink->failed = true;
        return false;
    }
    sink->written = written;
    return true;
}

bool cbi_sink_pad_to(cbi_sink *sink, uint64_t position)
{
    static const uint8_t zeros[4096];
    if (sink->written > position)
        sink->failed = true;
    while (!sink->failed && sink->written < position) {
        uint64_t rest = position - sink->written;
        cbi_sink_write(sink, zeros, rest < sizeof zeros ? (size_t)rest : sizeof zeros);
    }
    return !sink->failed;
}
