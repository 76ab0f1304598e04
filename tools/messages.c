/* Diagnostics as lines on stderr: "cubind warning : text", then help lines. */
#include "messages.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "limits.h"
#include "say.h"

static const char *const severity_words[] = {
    [CB_SEV_INFO] = "info    : ",
    [CB_SEV_WARNING] = "warning : ",
    [CB_SEV_ERROR] = "error   : ",
    [CB_SEV_FATAL] = "fatal   : ",
};

static void print_line(const cbi_messages *m, cb_severity severity, const char *text)
{
    /* as nvlink names stay as they are: its bytes win there */
    if (m->plain)
        fprintf(stderr, "%s %s%s\n", m->tool_name, severity_words[severity], text);
    else
        cbi_say_lines("%s %s%s", m->tool_name, severity_words[severity], text);
}

/* Each line of help, indented, the first one marked. */
static void print_help(const char *help)
{
    const char *lead = "  help: ";
    while (*help) {
        int len = (int)strcspn(help, "\n");
        cbi_say("%s%.*s", lead, len, help);
        lead = "        ";
        help += len + (help[len] == '\n');
    }
}

/* True if the warning was only counted. */
static bool count_warning(cbi_messages *m, const cb_diagnostic *d)
{
    const char *help = d->help ? d->help : "";
    for (size_t i = 0; i < m->count_len; i++)
        if (strcmp(m->counts[i].id, d->id) == 0 && strcmp(m->counts[i].help, help) == 0) {
            m->counts[i].count++;
            return true;
        }
    struct cbi_warning_count *grown = realloc(m->counts, (m->count_len + 1) * sizeof *m->counts);
    if (!grown)
        return false;
    m->counts = grown;
    char *first = strdup(d->message);
    char *cause = strdup(help);
    if (!first || !cause) {
        free(first);
        free(cause);
        return false;
    }
    m->counts[m->count_len++] = (struct cbi_warning_count){d->id, cause, first, 1};
    return true;
}

void cbi_messages_print(cbi_messages *m, const cb_diagnostic *d)
{
    if (m->summarize && d->severity == CB_SEV_WARNING && d->id && count_warning(m, d))
        return;
    print_line(m, d->severity, d->message);
    if (d->help && !m->plain)
        print_help(d->help);
}

static void on_diagnostic(void *user, const cb_diagnostic *d)
{
    cbi_messages_print(user, d);
}

void cbi_messages_attach(cbi_messages *messages, cbi_ctx *ctx)
{
    ctx->on_diagnostic = on_diagnostic;
    ctx->on_diagnostic_user = messages;
}

void cbi_messages_end(const cbi_messages *messages, const cbi_ctx *ctx, cb_status status)
{
    const char *changed = cbi_changed_file();
    if (status == CB_ERR_NOMEM)
        print_line(messages, CB_SEV_FATAL, cbi_memory_reason(ctx, "Memory allocation failure"));
    else if (status == CB_ERR_IO && changed)
        cbi_say("%s fatal   : '%s' was changed while it was read", messages->tool_name, changed);
    else if (status == CB_ERR_IO)
        print_line(messages, CB_SEV_FATAL, "a file cannot be read");
}

void cbi_refuse_changed(cbi_ctx *ctx)
{
    const char *changed = cbi_changed_file();
    if (!changed)
        changed = cbi_find_changed(ctx);
    if (changed)
        cbi_fatal(ctx, "input-changed", &(cbi_place){.file = changed}, "no result was written",
                  "'%s' was changed while it was read", changed);
}

void cbi_messages_finish(cbi_messages *messages)
{
    for (size_t i = 0; i < messages->count_len; i++) {
        struct cbi_warning_count *c = &messages->counts[i];
        print_line(messages, CB_SEV_WARNING, c->first);
        if (c->count > 1)
            fprintf(stderr, "  and %zu more of this kind and cause (%s)\n", c->count - 1, c->id);
        if (c->help[0] && !messages->plain)
            print_help(c->help);
        free(c->first);
        free(c->help);
    }
    free(messages->counts);
    messages->counts = NULL;
    messages->count_len = 0;
}
