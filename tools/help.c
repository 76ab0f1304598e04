/* --help of the commands that have a table of options in the manner of the toolkit. */
#include "options.h"

#include <stdio.h>

#define HELP_WIDTH  88
#define HELP_INDENT 8

/* Prints text in lines of at most HELP_WIDTH columns. */
static void print_wrapped(const char *text)
{
    int column = 0;
    while (*text) {
        int len = (int)strcspn(text, " ");
        if (column && column + 1 + len > HELP_WIDTH) {
            putchar('\n');
            column = 0;
        }
        if (!column)
            column = printf("%*s", HELP_INDENT, "");
        else
            column += printf(" ");
        column += printf("%.*s", len, text);
        text += len;
        text += strspn(text, " ");
    }
    putchar('\n');
}

typedef struct keyword_text {
    char text[2048];
    size_t len;
} keyword_text;

static void add_keyword(void *user, const char *word, size_t len)
{
    keyword_text *all = user;
    if (all->len + len + 3 < sizeof all->text)
        all->len += (size_t)snprintf(all->text + all->len, sizeof all->text - all->len, "%s%.*s",
                                     all->len ? ", " : "Allowed: ", (int)len, word);
}

static void print_option(const cbi_option *option)
{
    char left[128];
    snprintf(left, sizeof left, "--%s%s%s", option->long_name, option->value ? " " : "",
             option->value ? option->value : "");
    if (option->short_name)
        printf("%-52s(-%s)\n", left, option->short_name);
    else
        printf("%s\n", left);
    print_wrapped(option->help);
    if (option->keywords) {
        keyword_text all = {.len = 0};
        cbi_keyword_each(option, add_keyword, &all);
        print_wrapped(all.text);
    }
    if (option->initial)
        printf("%*sDefault: %s\n", HELP_INDENT, "", option->initial);
    if (option->flags & OPT_NO_EFFECT)
        printf("%*sHas no effect in cubind.\n", HELP_INDENT, "");
    putchar('\n');
}

void cbi_print_link_help(const char *program, bool ours)
{
    printf("\nUsage: %s [options] <inputs>\n\n"
           "Links device code: cubins, fat binaries, host objects, libraries.\n\n"
           "Options\n=======\n\n",
           program);
    for (int i = 0; i < OPT_COUNT; i++)
        if (!(cbi_options[i].flags & OPT_HIDDEN) && (ours || !(cbi_options[i].flags & OPT_OURS)))
            print_option(&cbi_options[i]);
}

void cbi_print_option_table(const cbi_option *options, int count)
{
    for (int i = 0; i < count; i++)
        if (!(options[i].flags & OPT_HIDDEN))
            print_option(&options[i]);
}
