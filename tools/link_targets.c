/* cubind link for several targets: one link after the other, over inputs that are read once. */
#include <stdio.h>

#include "limits.h"
#include "link_run.h"

/* Results that every target has for itself. */
static const cbi_opt own_results[] = {OPT_OUTPUT_FILE, OPT_DOT_FILE, OPT_MAP, OPT_REPRO};

typedef struct several {
    int argc;
    char *const *argv;
    int at;             /* the argument with the targets */
    const char *before; /* them in that argument: "-arch=", or "" */
    cbi_words targets;
    cbi_link_targets results;
    int code;
} several;

/* The list in an argument, where -arch has one; NULL: none. */
static const char *find_list(int argc, char *const *argv, int *ret_at)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];
        if (strncmp(name, "--arch", 6) == 0)
            name++;
        if (strncmp(name, "-arch", 5) != 0 || (name[5] && name[5] != '='))
            continue;
        const char *list = name[5] ? name + 6 : i + 1 < argc ? argv[i + 1] : "";
        *ret_at = i + !name[5];
        if (strchr(list, ','))
            return list;
    }
    return NULL;
}

void cbi_name_results(cbi_link_run *run)
{
    for (size_t i = 0; run->several && i < CBI_COUNT(own_results); i++) {
        cbi_opt_value *value = &run->line.values[own_results[i]];
        const char *place = value->given ? strchr(value->text, '%') : NULL;
        if (value->given && !place)
            cbi_fatal(run->ctx, "several-targets", NULL,
                      "a '%' in it becomes the target: -o out.%.cubin",
                      "the targets would all write '%s'", value->text);
        if (place)
            value->text = cbi_printf(run->ctx, "%.*s%s%s", (int)(place - value->text), value->text,
                                     run->several, place + 1);
    }
}

static int link_one(several *s, cbi_ctx *files, const char *target)
{
    char **argv = CBI_NEW_ARRAY(files, (size_t)s->argc + 1, char *);
    memcpy(argv, s->argv, (size_t)s->argc * sizeof *argv);
    argv[s->at] = cbi_printf(files, "%s%s", s->before, target);
    bool plain = cbi_wants_emulation(s->argc, s->argv);
    cbi_link_run run = {
        .argc = s->argc,
        .argv = argv,
        .messages = {.tool_name = plain ? "nvlink" : "cubind", .plain = plain},
        .several = target,
        .files = files,
        .targets = &s->results,
    };
    return cbi_link_perform(&run);
}

static cb_status link_all(cbi_ctx *files, void *arg)
{
    several *s = arg;
    const char *list = find_list(s->argc, s->argv, &s->at);
    s->before = cbi_strndup(files, s->argv[s->at], (size_t)(list - s->argv[s->at]));
    cbi_split_list(files, list, &s->targets);
    for (size_t i = 0; i < s->targets.len && s->code == 0; i++)
        s->code = link_one(s, files, s->targets.items[i]);
    cbi_put_in_place(files, &s->results.results);
    return CB_OK;
}

bool cbi_link_several(int argc, char *const *argv, int *ret_code)
{
    several s = {.argc = argc, .argv = argv};
    if (!find_list(argc, argv, &s.at))
        return false;
    cbi_ctx files;
    cbi_ctx_init(&files);
    cbi_limit_memory(&files, -1);
    cbi_messages messages = {.tool_name = "cubind"};
    cbi_messages_attach(&messages, &files);
    cb_status status = cbi_run(&files, link_all, &s);
    cbi_messages_end(&messages, &files, status);
    cbi_outputs_drop(&s.results.results);
    cbi_ctx_fini(&files);
    *ret_code = status == CB_OK ? s.code : 1;
    return true;
}
