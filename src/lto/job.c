/* What the worker is told and what it says, as bytes. */
#include <string.h>

#include "lto/worker.h"

static bool put_number(int to, uint64_t number)
{
    return cbi_child_say(to, &number, sizeof number);
}

static bool put_bytes(int to, const void *data, size_t size)
{
    return put_number(to, size) && cbi_child_say(to, data, size);
}

/* ---- the reply ---- */

void cbi_lto_say(int to, cbi_lto_stage stage, int status, const char *error, const char *info,
                 cbi_span output)
{
    const uint32_t head[2] = {(uint32_t)stage, (uint32_t)status};
    cbi_child_say(to, head, sizeof head);
    put_bytes(to, error, strlen(error));
    put_bytes(to, info, strlen(info));
    put_bytes(to, output.data, output.size);
}

bool cbi_lto_read_reply(cbi_span said, cbi_lto_reply *ret_reply)
{
    cbi_reader r = cbi_reader_at(said, 0);
    cbi_lto_reply reply;
    uint32_t stage = cbi_read32(&r);
    reply.stage = (cbi_lto_stage)stage;
    reply.status = (int)cbi_read32(&r);
    reply.error = cbi_read_bytes(&r, cbi_read64(&r));
    reply.info = cbi_read_bytes(&r, cbi_read64(&r));
    reply.output = cbi_read_bytes(&r, cbi_read64(&r));
    if (r.bad || stage >= CBI_LTO_STAGES)
        return false;
    *ret_reply = reply;
    return true;
}

/* ---- the job, for a worker that is a program of its own ---- */

/* With its NUL; nothing at all for NULL. */
static bool put_text(int to, const char *text)
{
    return put_bytes(to, text, text ? strlen(text) + 1 : 0);
}

static bool put_texts(int to, const cbi_strings *texts)
{
    bool good = put_number(to, texts->len);
    for (size_t i = 0; i < texts->len && good; i++)
        good = put_text(to, texts->items[i]);
    return good;
}

bool cbi_lto_write_job(int to, const cbi_lto_job *job)
{
    bool good = put_texts(to, &job->libraries) && put_texts(to, &job->compilers) &&
                put_text(to, job->module) && put_number(to, job->module_first) &&
                put_texts(to, &job->options) && put_text(to, job->empty_ptx) &&
                put_number(to, job->wants_ptx) && put_number(to, job->goes_on) &&
                put_number(to, job->input_count);
    for (size_t i = 0; i < job->input_count && good; i++) {
        const cbi_lto_piece *in = &job->inputs[i];
        good = put_number(to, (uint64_t)in->type) && put_text(to, in->name) &&
               put_bytes(to, in->bytes.data, in->bytes.size);
    }
    return good;
}

static cbi_span get_bytes(cbi_reader *r)
{
    return cbi_read_bytes(r, cbi_read64(r));
}

static const char *get_text(cbi_reader *r)
{
    cbi_span text = get_bytes(r);
    r->bad |= text.size && text.data[text.size - 1];
    return text.size && !r->bad ? (const char *)text.data : NULL;
}

static void get_texts(cbi_ctx *ctx, cbi_reader *r, cbi_strings *texts)
{
    for (uint64_t left = cbi_read64(r); left && !r->bad; left--) {
        const char *text = get_text(r);
        r->bad |= !text;
        if (text)
            cbi_vec_push(ctx, texts, text);
    }
}

bool cbi_lto_read_job(cbi_ctx *ctx, cbi_span said, cbi_lto_job *ret_job)
{
    cbi_reader r = cbi_reader_at(said, 0);
    cbi_lto_job job = {0};
    get_texts(ctx, &r, &job.libraries);
    get_texts(ctx, &r, &job.compilers);
    job.module = get_text(&r);
    job.module_first = cbi_read64(&r);
    get_texts(ctx, &r, &job.options);
    job.empty_ptx = get_text(&r);
    job.wants_ptx = cbi_read64(&r);
    job.goes_on = cbi_read64(&r);
    uint64_t count = cbi_read64(&r);
    if (r.bad || count > said.size)
        return false;
    cbi_lto_piece *inputs = cbi_alloc_array(ctx, count, sizeof *inputs);
    for (uint64_t i = 0; i < count; i++) {
        inputs[i].type = (int)cbi_read64(&r);
        inputs[i].name = get_text(&r);
        inputs[i].bytes = get_bytes(&r);
    }
    job.inputs = inputs;
    job.input_count = count;
    if (!r.bad)
        *ret_job = job;
    return !r.bad;
}
