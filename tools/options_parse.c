/* The parser of the command line.  Token shapes, quoting and error texts follow nvlink. */
#include "arguments.h"
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/files.h"
#include "format/arch.h"

/* More files than this open at once is a mistake such as a file that names itself. */
#define MAX_OPEN_OPTION_FILES 15

typedef cbi_words string_list;

/* A run of tokens: the command line itself or the contents of one option file. */
typedef struct token_source {
    char *const *tokens;
    size_t count;
    size_t next;
} token_source;

typedef struct parser {
    cbi_ctx *ctx;
    const cbi_option *options; /* the table */
    int option_count;
    cbi_parsed parsed;
    cbi_buf words;    /* that an option allows */
    const char *near; /* what may have been meant; NULL: not known */
    size_t prefix;    /* of that, up to the line under it: others are not listed */
    token_source open[MAX_OPEN_OPTION_FILES + 1];
    size_t open_count;
    /* option files of the innermost list still to be read */
    struct {
        const char *const *items;
        size_t count;
        size_t next;
    } pending[MAX_OPEN_OPTION_FILES + 1];
} parser;

#define MISTAKE(p, ...) cbi_fatal((p)->ctx, "command-line", NULL, NULL, __VA_ARGS__)

/* ---- keywords ---- */

static const char *const arch_prefixes[] = {"compute_", "lto_", "sm_"};

static int by_text(const void *a, const void *b)
{
    return strcmp((*(const cbi_arch *const *)a)->name, (*(const cbi_arch *const *)b)->name);
}

void cbi_keyword_each(const cbi_option *option,
                      void (*fn)(void *user, const char *word, size_t len), void *user)
{
    const char *words = option->keywords;
    if (strcmp(words, "@arch") != 0) {
        while (*words) {
            size_t len = strcspn(words, " ");
            fn(user, words, len);
            words += len + (words[len] == ' ');
        }
        return;
    }
    const cbi_arch *sorted[64];
    size_t count = cbi_arch_count < CBI_COUNT(sorted) ? cbi_arch_count : CBI_COUNT(sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &cbi_archs[i];
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t p = 0; p < CBI_COUNT(arch_prefixes); p++)
        for (size_t i = 0; i < count; i++) {
            char word[32];
            int len = snprintf(word, sizeof word, "%s%s", arch_prefixes[p],
                               sorted[i]->name + strlen("sm_"));
            fn(user, word, (size_t)len);
        }
}

typedef struct keyword_search {
    const char *word;
    size_t len;
    bool found;
} keyword_search;

static void compare_keyword(void *user, const char *word, size_t len)
{
    keyword_search *search = user;
    if (len == search->len && memcmp(word, search->word, len) == 0)
        search->found = true;
}

/* Without making the words: this one is asked for in every link. */
static bool is_arch_word(const char *word, size_t len)
{
    for (size_t p = 0; p < CBI_COUNT(arch_prefixes); p++) {
        size_t skip = strlen(arch_prefixes[p]);
        for (size_t i = 0; i < cbi_arch_count && strncmp(word, arch_prefixes[p], skip) == 0; i++) {
            const char *number = cbi_archs[i].name + strlen("sm_");
            if (strlen(number) + skip == len && memcmp(word + skip, number, len - skip) == 0)
                return true;
        }
    }
    return false;
}

bool cbi_keyword_known(const cbi_option *option, const char *word, size_t len)
{
    if (strcmp(option->keywords, "@arch") == 0)
        return is_arch_word(word, len);
    keyword_search search = {word, len, false};
    cbi_keyword_each(option, compare_keyword, &search);
    return search.found;
}

/* ---- values ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void end_item(cbi_ctx *ctx, const char *item, size_t len, cbi_words *items)
{
    while (len && is_blank(item[len - 1]))
        len--;
    if (len)
        cbi_vec_push(ctx, items, cbi_strndup(ctx, item, len));
}

/* '"' switches quoting and goes away, except inside quotes behind a backslash; backslashes stay;
 * blanks around items go away, quoted or not, and so do empty items. */
void cbi_split_list(cbi_ctx *ctx, const char *text, cbi_words *items)
{
    char *item = cbi_alloc(ctx, strlen(text) + 1);
    size_t len = 0;
    bool quoted = false;
    for (const char *s = text; *s; s++) {
        if (*s == '"' && !(quoted && s[-1] == '\\')) {
            quoted = !quoted;
        } else if (*s == ',' && !quoted) {
            end_item(ctx, item, len, items);
            len = 0;
        } else if (len || !is_blank(*s)) {
            item[len++] = *s;
        }
    }
    if (quoted)
        cbi_fatal(ctx, "command-line", NULL, NULL, "Stray '\"' character");
    end_item(ctx, item, len, items);
}

cbi_words cbi_split_blanks(cbi_ctx *ctx, const cbi_words *items)
{
    static const char blanks[] = " \t";
    cbi_words words = {0};
    for (size_t i = 0; i < items->len; i++)
        for (const char *s = items->items[i]; *(s += strspn(s, blanks));) {
            size_t len = strcspn(s, blanks);
            cbi_vec_push(ctx, &words, cbi_strndup(ctx, s, len));
            s += len;
        }
    return words;
}

cbi_gencode cbi_gencode_read(cbi_ctx *ctx, const char *text)
{
    cbi_gencode gencode = {0};
    cbi_words parts = {0};
    cbi_split_list(ctx, text, &parts);
    for (size_t i = 0; i < parts.len; i++) /* code="sm_80,sm_90" is a list, too */
        cbi_split_list(ctx, parts.items[i], &gencode.items);
    return gencode;
}

cbi_gencode_part cbi_gencode_next(cbi_ctx *ctx, cbi_gencode *gencode, const char **ret_word)
{
    if (gencode->next == gencode->items.len)
        return GENCODE_END;
    const char *word = gencode->items.items[gencode->next++];
    *ret_word = word;
    if (strncmp(word, "arch=", 5) == 0) {
        gencode->in_code = false;
        *ret_word = word + 5;
        return GENCODE_ARCH;
    }
    if (strncmp(word, "code=", 5) == 0) {
        gencode->in_code = true;
        word += 5;
    }
    if (!gencode->in_code)
        return GENCODE_UNKNOWN;
    word += *word == '[';
    *ret_word = cbi_strndup(ctx, word, strcspn(word, "]"));
    return GENCODE_CODE;
}

static void add_word(void *user, const char *word, size_t len)
{
    parser *p = user;
    if (p->near && p->near[p->prefix - 1] && strncmp(p->near, word, p->prefix) != 0)
        return;
    cbi_buf_printf(p->ctx, &p->words, "%s%.*s", p->words.len ? ", " : "", (int)len, word);
}

static void offer_word(void *user, const char *word, size_t len)
{
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)len, word);
    cbi_suggestion_offer(user, text);
}

CBI_NORETURN static void unknown_word(parser *p, const cbi_option *option, const char *text)
{
    cbi_suggestion near = {.word = text};
    if (strcmp(option->keywords, "@arch") == 0)
        cbi_suggest_target(&near, false, NULL);
    else
        cbi_keyword_each(option, offer_word, &near);
    const char *best = cbi_suggestion_text(&near);
    p->words = (cbi_buf){0};
    p->prefix = best ? strcspn(best, "_") + 1 : 0; /* sm_90 was meant: no virtual target */
    p->near = best;
    cbi_keyword_each(option, add_word, p);
    cbi_fatal(p->ctx, "command-line", NULL,
              cbi_printf(p->ctx, "%s%s%sit takes %.*s", best ? "did you mean " : "",
                         best ? best : "", best ? "?\n" : "", (int)p->words.len,
                         (const char *)p->words.items),
              "Value '%s' is not defined for option '%s'", text, option->long_name);
}

/* The row of --help. */
static const char *option_help(const parser *p, const cbi_option *option)
{
    return cbi_printf(p->ctx, "--%s%s%s: %s", option->long_name, option->value ? " " : "",
                      option->value ? option->value : "", option->help);
}

static int32_t parse_int(parser *p, const cbi_option *option, const char *text)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 0);
    if (*end)
        cbi_fatal(p->ctx, "command-line", NULL, option_help(p, option), "'%s': expected a number",
                  text);
    if (errno == ERANGE || number < INT32_MIN || number > INT32_MAX)
        MISTAKE(p, "32-bit integer value (%s) out of range", text);
    return (int32_t)number;
}

static void set_value(parser *p, int opt, const char *text)
{
    const cbi_option *option = &p->options[opt];
    cbi_opt_value *value = &p->parsed.values[opt];
    int32_t number = 0;
    switch (option->kind) {
    case OPT_KIND_FLAG:
        value->given = true;
        return;
    case OPT_KIND_LIST:
        value->given = true;
        value->text = text;
        cbi_split_list(p->ctx, text, &value->list);
        return;
    case OPT_KIND_EACH:
        value->given = true;
        cbi_vec_push(p->ctx, &value->list, text);
        return;
    case OPT_KIND_INT:
        number = parse_int(p, option, text);
        if (option->keywords) {
            char decimal[16];
            int len = snprintf(decimal, sizeof decimal, "%d", number);
            if (!cbi_keyword_known(option, decimal, (size_t)len))
                unknown_word(p, option, text);
        }
        break;
    case OPT_KIND_BOOL:
        number = strcmp(text, "true") == 0;
        if (!number && strcmp(text, "false") != 0)
            cbi_fatal(p->ctx, "command-line", NULL, option_help(p, option),
                      "'%s': expected true or false", text);
        break;
    case OPT_KIND_KEYWORD:
        if (!cbi_keyword_known(option, text, strlen(text)))
            unknown_word(p, option, text);
        break;
    case OPT_KIND_STRING:
        break;
    }
    bool differs = option->kind == OPT_KIND_INT ? value->number != number
                                                : value->given && strcmp(value->text, text) != 0;
    if (value->given && differs)
        cbi_warning(p->ctx, "option-redefined", NULL, NULL,
                    "incompatible redefinition for option '%s', the last value of this option "
                    "was used",
                    option->long_name);
    value->given = true;
    value->text = text;
    value->number = number;
}

/* ---- option files ---- */

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Splits the text of an option file into tokens: '"' quotes anywhere and goes away, even behind a
 * backslash; a backslash takes any other character as it is. */
static void split_tokens(parser *p, cbi_span text, string_list *tokens)
{
    if (!text.size)
        return;
    const char *s = (const char *)text.data;
    const char *end = s + text.size;
    char *token = cbi_alloc(p->ctx, text.size + 1);
    while (s < end) {
        if (is_separator(*s)) {
            s++;
            continue;
        }
        size_t len = 0;
        bool quoted = false;
        for (; s < end && (quoted || !is_separator(*s)); s++) {
            if (*s == '"') {
                quoted = !quoted;
            } else if (*s != '\\') {
                token[len++] = *s;
            } else if (++s == end) {
                MISTAKE(p, "Stray '' character");
            } else if (*s != '"') {
                token[len++] = *s;
            }
        }
        if (quoted)
            MISTAKE(p, "Stray '\"' character");
        cbi_vec_push(p->ctx, tokens, cbi_strndup(p->ctx, token, len));
    }
}

/* Pipes work too; a folder and /dev/null read as empty.  False with errno. */
static bool read_option_file(cbi_ctx *ctx, const char *path, cbi_span *ret_text)
{
    *ret_text = (cbi_span){NULL, 0};
    if (cbi_map_file(ctx, path, ret_text) == CB_OK)
        return true;
    int why = errno;
    bool empty = why == EISDIR || cbi_is_null_device(path);
    errno = why;
    return empty;
}

static void open_option_file(parser *p, const char *path)
{
    if (p->open_count > MAX_OPEN_OPTION_FILES)
        MISTAKE(p, "Too many options file opened '%s'", path);
    cbi_span text;
    errno = 0;
    if (!read_option_file(p->ctx, path, &text))
        cbi_fatal(p->ctx, "command-line", NULL, errno ? strerror(errno) : NULL,
                  "Could not open options file '%s'", path);
    cbi_vec_push(p->ctx, p->parsed.option_files, path);
    string_list tokens = {0};
    split_tokens(p, text, &tokens);
    token_source *source = &p->open[p->open_count];
    *source = (token_source){(char *const *)tokens.items, tokens.len, 0};
    p->pending[p->open_count].count = p->pending[p->open_count].next = 0;
    p->open_count++;
}

/* ---- tokens ---- */

/* The next token of the innermost source, NULL at its end.  An option's value never comes from
 * another source than the option. */
static char *next_here(parser *p)
{
    token_source *source = &p->open[p->open_count - 1];
    return source->next < source->count ? source->tokens[source->next++] : NULL;
}

static const char *peek_here(const parser *p)
{
    const token_source *source = &p->open[p->open_count - 1];
    return source->next < source->count ? source->tokens[source->next] : NULL;
}

/* The next token overall: opens pending option files and leaves finished ones. */
static char *next_token(parser *p)
{
    for (;;) {
        size_t top = p->open_count - 1;
        if (p->pending[top].next < p->pending[top].count) {
            open_option_file(p, p->pending[top].items[p->pending[top].next++]);
            continue;
        }
        char *token = next_here(p);
        if (token || top == 0)
            return token;
        p->open_count--;
    }
}

static int find_option(const parser *p, const char *name, size_t len, bool long_form)
{
    for (int i = 0; i < p->option_count; i++) {
        const char *have = long_form ? p->options[i].long_name : p->options[i].short_name;
        if (have && strlen(have) == len && memcmp(have, name, len) == 0)
            return i;
    }
    return -1;
}

/* -lNAME, -LDIR, -m64: any single-dash word that begins so and is no option itself.  Where unknown
 * options are somebody else's, -march is not -m. */
static int find_glued(const parser *p, const char *word)
{
    for (int i = 0; i < p->option_count; i++) {
        const cbi_option *o = &p->options[i];
        bool is_other =
            p->parsed.unknown && o->kind == OPT_KIND_INT && !(word[1] >= '0' && word[1] <= '9');
        if ((o->flags & OPT_GLUED) && word[0] == o->short_name[0] && !is_other)
            return i;
    }
    return -1;
}

CBI_NORETURN void cbi_unknown_option(cbi_ctx *ctx, const cbi_option *options, int count,
                                     const char *token)
{
    size_t dashes = token[1] == '-' ? 2 : 1;
    const char *given = cbi_strndup(ctx, token, dashes + strcspn(token + dashes, "="));
    cbi_suggestion near = {.word = given};
    for (int i = 0; i < count; i++) {
        const cbi_option *o = &options[i];
        if (o->flags & OPT_HIDDEN)
            continue;
        cbi_suggestion_offer(&near, cbi_printf(ctx, "--%s", o->long_name));
        if (o->short_name)
            cbi_suggestion_offer(&near, cbi_printf(ctx, "-%s", o->short_name));
    }
    const char *best = cbi_suggestion_text(&near);
    cbi_fatal(ctx, "command-line", NULL,
              best ? cbi_printf(ctx, "did you mean %s?", best) : "--help lists the options",
              "Unknown option '%s'", given + 1);
}

static void parse_option(parser *p, const char *token)
{
    const char *word = token + 1;
    bool long_form = *word == '-';
    const char *name = long_form ? word + 1 : word;
    size_t len = strcspn(name, "=");
    const char *value = name[len] == '=' ? name + len + 1 : NULL;
    int opt = find_option(p, name, len, long_form);
    if (opt < 0 && !long_form && (opt = find_glued(p, word)) >= 0)
        value = word + 1;
    if (opt < 0 && !p->parsed.unknown)
        cbi_unknown_option(p->ctx, p->options, p->option_count, token);
    if (opt < 0) {
        cbi_vec_push(p->ctx, p->parsed.unknown, token);
        return;
    }

    const cbi_option *option = &p->options[opt];
    int shown = (int)(name + len - token);
    if (option->flags & OPT_DEPRECATED)
        cbi_warning(p->ctx, "option-deprecated", NULL, NULL, "option '%s' has been deprecated",
                    option->long_name);
    if (option->kind == OPT_KIND_FLAG) {
        if (value)
            cbi_fatal(p->ctx, "command-line", NULL, option_help(p, option),
                      "no argument expected after '%.*s'", shown, token);
    } else if (!value) {
        const char *next = peek_here(p);
        if (option->implied && (!next || *next == '-'))
            value = option->implied;
        else if (!(value = next_here(p)))
            cbi_fatal(p->ctx, "command-line", NULL, option_help(p, option),
                      "argument expected after '%.*s'", shown, token);
    }
    cbi_opt_value *stored = &p->parsed.values[opt];
    size_t before = stored->list.len;
    set_value(p, opt, value);
    if (option->flags & OPT_FILES) {
        size_t top = p->open_count - 1, added = stored->list.len - before;
        p->pending[top].items = NULL;
        if (added)
            p->pending[top].items = (const char *const *)cbi_memdup(
                p->ctx, stored->list.items + before, added * sizeof(char *));
        p->pending[top].count = added;
        p->pending[top].next = 0;
    }
}

void cbi_parse_options(cbi_ctx *ctx, const cbi_option *options, int count, int argc,
                       char *const *argv, const cbi_parsed *parsed)
{
    parser p = {
        .ctx = ctx, .options = options, .option_count = count, .parsed = *parsed, .open_count = 1};
    p.open[0] = (token_source){argv + 1, argc > 0 ? (size_t)argc - 1 : 0, 0};
    for (char *token; (token = next_token(&p));) {
        if (token[0] == '-' && token[1])
            parse_option(&p, token);
        else
            cbi_vec_push(ctx, parsed->inputs, token);
    }
}

void cbi_parse_command_line(cbi_ctx *ctx, int argc, char *const *argv, cbi_command_line *ret_line)
{
    const cbi_parsed parsed = {.values = ret_line->values,
                               .inputs = &ret_line->inputs,
                               .option_files = &ret_line->option_files};
    cbi_parse_options(ctx, cbi_options, OPT_COUNT, argc, argv, &parsed);
}
