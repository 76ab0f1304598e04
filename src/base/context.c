/* The job context: life time, the trap for failures, diagnostics. */
#include "base/base.h"

#include <stdlib.h>

#include "base/files.h"
#include "base/parallel.h"

void cbi_arena_init(cbi_ctx *ctx);
void cbi_arena_fini(cbi_ctx *ctx);
void cbi_arena_reset(cbi_ctx *ctx);

void cbi_ctx_init(cbi_ctx *ctx)
{
    memset(ctx, 0, sizeof *ctx);
    cbi_arena_init(ctx);
}

void cbi_ctx_start(cbi_ctx *ctx)
{
    cbi_arena_init(ctx);
}

static void forget_names(cbi_ctx *ctx)
{
    ctx->names = NULL;
    ctx->name_pool = (cbi_pool){0};
    ctx->name_slots = NULL;
    ctx->name_cap = ctx->name_count = 0;
    ctx->files_by_name = (cbi_name_table){0};
}

/* What is not memory of the arena. */
static void release(cbi_ctx *ctx)
{
    cbi_parallel_end(ctx); /* of a job that failed, threads may still read its files */
    cbi_close_files(ctx);
    cbi_parallel_free(ctx);
    if (ctx->decompressor)
        ctx->free_decompressor(ctx->decompressor);
    ctx->decompressor = NULL;
}

void cbi_ctx_fini(cbi_ctx *ctx)
{
    release(ctx);
    cbi_arena_fini(ctx);
    forget_names(ctx);
}

void cbi_ctx_reset(cbi_ctx *ctx)
{
    release(ctx);
    cbi_arena_reset(ctx);
    forget_names(ctx);
    ctx->error_count = 0;
    ctx->before_report = NULL;
    ctx->text_spent = 0;
    ctx->over_limit = false;
}

static _Thread_local cbi_ctx *running; /* by the innermost job */

cbi_ctx *cbi_running(void)
{
    return running;
}

cb_status cbi_run(cbi_ctx *ctx, cbi_job_fn fn, void *arg)
{
    jmp_buf trap;
    jmp_buf *outer = ctx->trap;
    cbi_ctx *outer_running = running;
    volatile cb_status status = CB_OK;
    ctx->trap = &trap;
    running = ctx;
    if (setjmp(trap) == 0)
        status = fn(ctx, arg);
    else
        status = ctx->trap_status;
    ctx->trap = outer;
    running = outer_running;
    return status;
}

void cbi_run_aside(cbi_ctx *ctx, cbi_job_fn fn, void *arg)
{
    cbi_ctx aside = {.allocator = ctx->allocator};
    cbi_ctx_start(&aside);
    if (ctx->memory_limit)
        aside.memory_limit =
            ctx->memory_limit > ctx->memory_used ? ctx->memory_limit - ctx->memory_used : 1;
    cb_status status = cbi_run(&aside, fn, arg);
    bool over_limit = aside.over_limit;
    cbi_ctx_fini(&aside);
    if (status == CB_OK)
        return;
    ctx->over_limit |= over_limit;
    cbi_fail(ctx, status);
}

void cbi_fail(cbi_ctx *ctx, cb_status status)
{
    ctx->trap_status = status;
    if (!ctx->trap)
        abort(); /* a job was started without cbi_run: a bug in the caller, never an input */
    longjmp(*ctx->trap, 1);
}

static void announce(cbi_ctx *ctx, cb_severity severity)
{
    if (ctx->before_report) {
        void (*work)(void *user) = ctx->before_report;
        ctx->before_report = NULL;
        work(ctx->before_report_user);
    }
    if (severity >= CB_SEV_ERROR)
        ctx->error_count++;
}

static void deliver(cbi_ctx *ctx, cb_severity severity, const char *id, const cbi_place *place,
                    const char *help, const char *format, va_list args)
{
    if (severity == CB_SEV_WARNING) {
        if (ctx->diag.suppress_warnings)
            return;
        if (ctx->diag.warnings_as_errors)
            severity = CB_SEV_ERROR;
    }
    announce(ctx, severity);
    if (!ctx->on_diagnostic)
        return;
    const char *text = cbi_vprintf(ctx, format, args);
    if (ctx->diag.suffix)
        text = cbi_printf(ctx, "%s%s", text, ctx->diag.suffix);
    cb_diagnostic d = {
        .struct_size = sizeof d,
        .severity = severity,
        .id = id,
        .message = text,
        .help = help,
        .file = place ? place->file : NULL,
        .section = place ? place->section : NULL,
        .symbol = place ? place->symbol : NULL,
        .offset = place && place->has_offset ? place->offset : UINT64_MAX,
    };
    ctx->on_diagnostic(ctx->on_diagnostic_user, &d);
}

void cbi_forward(cbi_ctx *ctx, const cb_diagnostic *diagnostic)
{
    announce(ctx, diagnostic->severity);
    if (ctx->on_diagnostic)
        ctx->on_diagnostic(ctx->on_diagnostic_user, diagnostic);
}

void cbi_report(cbi_ctx *ctx, cb_severity severity, const char *id, const cbi_place *place,
                const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    deliver(ctx, severity, id, place, help, format, args);
    va_end(args);
    if (severity == CB_SEV_FATAL)
        cbi_fail(ctx, CB_ERR_FATAL);
}

void cbi_fatal_as(cbi_ctx *ctx, cb_status status, const char *id, const cbi_place *place,
                  const char *help, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    deliver(ctx, CB_SEV_FATAL, id, place, help, format, args);
    va_end(args);
    cbi_fail(ctx, status);
}
