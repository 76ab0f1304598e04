/* The commands, and the options of each from whatever table they stand in. */
#include "tools.h"

#include "base/base.h"
#include "bundle.h"
#include "dlink.h"
#include "finalize/fnlzr.h"
#include "options.h"

/* The value's name without the brackets around it. */
static const char *plain_value(const char *value, char *buffer, size_t size)
{
    if (!value)
        return NULL;
    size_t len = strcspn(value, ">");
    size_t skip = value[0] == '<';
    snprintf(buffer, size, "%.*s", (int)(len - skip), value + skip);
    return buffer;
}

/* Commands with a table of options in the manner of the toolkit. */
static const struct {
    int (*run)(int argc, char **argv);
    const cbi_option *options;
    int count;
} tables[] = {
    {cbi_tool_link, cbi_options, OPT_COUNT},
    {cbi_tool_dlink, cbi_dlink_options_table, DLINK_COUNT},
    {cbi_tool_bundle, cbi_bundle_options_table, BUNDLE_COUNT},
    {cbi_tool_prune, cbi_prune_options_table, PRUNE_COUNT},
};

static void each_table_option(const cbi_option *options, int count,
                              void (*fn)(void *user, const cbi_tool_option *option), void *user)
{
    for (int i = 0; i < count; i++) {
        const cbi_option *o = &options[i];
        if (o->flags & OPT_HIDDEN)
            continue;
        char name[64], other[64], value[64];
        snprintf(name, sizeof name, "--%s", o->long_name);
        snprintf(other, sizeof other, "-%s", o->short_name ? o->short_name : "");
        const cbi_tool_option row = {
            .name = name,
            .other = o->short_name ? other : NULL,
            .value = plain_value(o->value, value, sizeof value),
            .words = o->kind == OPT_KIND_BOOL ? "true false" : o->keywords,
            .help = o->help,
        };
        fn(user, &row);
    }
}

static void each_engine_option(void (*fn)(void *user, const cbi_tool_option *option), void *user)
{
    for (const cbi_fnlzr_option *o = cbi_fnlzr_options; o->name; o++)
        fn(user, &(cbi_tool_option){.name = o->name, .value = o->value, .help = o->help});
}

void cbi_each_option(const cbi_command *command,
                     void (*fn)(void *user, const cbi_tool_option *option), void *user)
{
    for (const cbi_tool_option *o = command->options; o && o->name; o++)
        fn(user, o);
    bool has_table = false;
    for (size_t i = 0; i < CBI_COUNT(tables); i++)
        if (tables[i].run == command->run) {
            has_table = true; /* --help is in it */
            each_table_option(tables[i].options, tables[i].count, fn, user);
        }
    if (!has_table && !command->arguments)
        fn(user, &(cbi_tool_option){.name = "--help", .help = "print a short description"});
    if (command->run == cbi_tool_finalize)
        each_engine_option(fn, user);
}
