#include "arguments.h"

#include <stdio.h>
#include <string.h>

#include "images.h"
#include "say.h"

/* Is it that option, and if its value stands in the same argument, which? */
static bool is_option(const cbi_tool_option *o, const char *arg, const char **ret_value)
{
    const char *names[] = {o->name, o->other};
    for (size_t i = 0; i < 2; i++) {
        size_t len = names[i] ? strlen(names[i]) : 0;
        if (!len || strncmp(arg, names[i], len) != 0)
            continue;
        if (arg[len] == 0 || (arg[len] == '=' && o->value)) {
            *ret_value = arg[len] ? arg + len + 1 : NULL;
            return true;
        }
    }
    return false;
}

static void unknown_option(const cbi_arguments *a, const char *arg)
{
    cbi_suggestion near = {.word = arg};
    for (const cbi_tool_option *o = a->options; o->name; o++) {
        cbi_suggestion_offer(&near, o->name);
        if (o->other)
            cbi_suggestion_offer(&near, o->other);
    }
    const char *best = cbi_suggestion_text(&near);
    cbi_say("%s: unknown option %s", a->program, arg);
    if (best)
        cbi_say("  help: did you mean %s?", best);
    else
        cbi_say("  help: `%s --help` lists the options", a->program);
}

/* Says what may have been meant by a value, where its words are known. */
static bool suggest_value(const cbi_tool_option *o, const char *value)
{
    cbi_suggestion near = {.word = value};
    const char *words = o->words ? o->words : "";
    if (strcmp(words, "@arch") == 0)
        cbi_suggest_target(&near, false, NULL);
    else
        while (*words) {
            char word[32];
            size_t len = strcspn(words, " ");
            snprintf(word, sizeof word, "%.*s", (int)len, words);
            cbi_suggestion_offer(&near, word);
            words += len + (words[len] == ' ');
        }
    if (cbi_suggestion_text(&near))
        cbi_say("  help: did you mean %s?", cbi_suggestion_text(&near));
    return near.distance != 0;
}

/* The option at argv[*i]; false after a message. */
static bool take_option(cbi_arguments *a, int argc, char **argv, int *i)
{
    const char *arg = argv[*i], *value = NULL;
    size_t k = 0;
    while (a->options[k].name && !is_option(&a->options[k], arg, &value))
        k++;
    const cbi_tool_option *o = &a->options[k];
    if (!o->name) {
        unknown_option(a, arg);
        return false;
    }
    if (o->value && !value) {
        if (*i + 1 == argc) {
            cbi_say("%s: missing value: %s needs one", a->program, arg);
            cbi_say("  help: %s %s: %s", o->name, o->value, o->help);
            return false;
        }
        value = argv[++*i];
    }
    if (a->take(a->user, k, value))
        return true;
    cbi_say("%s: bad value '%s' for %s", a->program, value ? value : "", o->name);
    bool near = suggest_value(o, value ? value : "");
    cbi_say("%s%s %s: %s", near ? "        " : "  help: ", o->name, o->value ? o->value : "",
            o->help);
    return false;
}

int cbi_take_arguments(cbi_arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            a->usage(stdout);
            return cbi_check_stdout(a->program, CBI_EXIT_CLEAN, CBI_EXIT_UNREADABLE);
        }
    }
    bool options = true;
    a->files = 0;
    for (int i = 1; i < argc; i++) {
        if (!options || argv[i][0] != '-' || argv[i][1] == 0)
            argv[a->files++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            options = false;
        else if (!take_option(a, argc, argv, &i))
            return CBI_EXIT_UNREADABLE;
    }
    if (a->files < a->least || (a->most && a->files > a->most)) {
        if (argc < 2) {
            a->usage(stderr);
        } else {
            if (a->files)
                cbi_say("%s: it takes %d files, not %d", a->program, a->least, a->files);
            else
                cbi_say("%s: no file given", a->program);
            cbi_say("  help: `%s --help` tells more", a->program);
        }
        return CBI_EXIT_UNREADABLE;
    }
    return -1;
}
