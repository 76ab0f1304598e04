/* cubind completion: prints what bash, zsh or fish need to complete the command line, from the same
 * tables as --help. */
#include "say.h"
#include "tools.h"

#include "base/base.h"
#include "format/arch.h"
#include "options.h"

typedef struct script {
    cbi_ctx *ctx;
    const cbi_command *command; /* whose options come */
    cbi_buf words;              /* of the option at hand */
} script;

static const char *text_of(script *s, const cbi_buf *buf)
{
    return buf->len ? cbi_strndup(s->ctx, (const char *)buf->items, buf->len) : "";
}

static void add_word(void *user, const char *word, size_t len)
{
    script *s = user;
    cbi_buf_printf(s->ctx, &s->words, "%s%.*s", s->words.len ? " " : "", (int)len, word);
}

/* The values that an option takes, separated by blanks; "" if they are not listed. */
static const char *words_of(script *s, const char *words)
{
    s->words.len = 0;
    if (words && strcmp(words, "@mercury") == 0) {
        for (size_t i = 0; i < cbi_arch_count; i++)
            if (cbi_arch_is_mercury(&cbi_archs[i]))
                add_word(s, cbi_archs[i].name, strlen(cbi_archs[i].name));
    } else if (words) {
        const cbi_option keywords = {.keywords = words};
        cbi_keyword_each(&keywords, add_word, s);
    }
    return text_of(s, &s->words);
}

/* What a command takes instead of files, "" if it takes files or nothing. */
static const char *arguments_of(script *s, const cbi_command *command)
{
    if (!command->arguments || strcmp(command->arguments, "@commands") != 0)
        return command->arguments ? command->arguments : "";
    s->words.len = 0;
    for (const cbi_command *c = cbi_commands; c->name; c++)
        add_word(s, c->name, strlen(c->name));
    return text_of(s, &s->words);
}

/* The first sentence, with a backslash before the characters that a shell minds inside of single
 * quotes; a single quote itself is left out. */
static const char *sentence(script *s, const char *help, const char *special)
{
    cbi_buf out = {0};
    for (const char *p = help; *p && *p != '\n'; p++) {
        if (*p == '.' && (p[1] == 0 || p[1] == ' ' || p[1] == '\n'))
            break;
        if (*p == '\'')
            continue;
        cbi_buf_printf(s->ctx, &out, "%s%c", strchr(special, *p) ? "\\" : "", *p);
    }
    return text_of(s, &out);
}

/* ---- bash ---- */

static void bash_name(void *user, const cbi_tool_option *o)
{
    (void)user;
    printf("%s%s%s ", o->name, o->other ? " " : "", o->other ? o->other : "");
}

static void bash_words(void *user, const cbi_tool_option *o)
{
    script *s = user;
    const char *words = words_of(s, o->words);
    if (*words)
        printf("        %s%s%s) words='%s' ;;\n", o->name, o->other ? " | " : "",
               o->other ? o->other : "", words);
}

static void print_bash(script *s)
{
    printf("# bash completion for cubind\n"
           "_cubind() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
           "    local options='' words=''\n"
           "    COMPREPLY=()\n"
           "    # \"=\" is a word of its own here\n"
           "    if [[ $cur == '=' ]]; then\n"
           "        cur=\n"
           "    elif [[ $prev == '=' && COMP_CWORD -ge 2 ]]; then\n"
           "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
           "    fi\n"
           "    if [[ COMP_CWORD -eq 1 ]]; then\n"
           "        COMPREPLY=($(compgen -W '");
    for (const cbi_command *c = cbi_commands; c->name; c++)
        printf("%s%s", c == cbi_commands ? "" : " ", c->name);
    printf("' -- \"$cur\"))\n"
           "        return\n"
           "    fi\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (s->command = cbi_commands; s->command->name; s->command++) {
        printf("    %s)\n        options='", s->command->name);
        cbi_each_option(s->command, bash_name, s);
        printf("'\n        words='%s'\n        case $prev in\n", arguments_of(s, s->command));
        cbi_each_option(s->command, bash_words, s);
        printf("        esac\n        ;;\n");
    }
    printf("    esac\n"
           "    [[ $cur != -* ]] || words=$options\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "}\n"
           "complete -o default -o bashdefault -F _cubind cubind\n");
}

/* ---- zsh ---- */

static void zsh_spelling(script *s, const char *name, const cbi_tool_option *o)
{
    /* an option of link takes its value behind "=", too */
    bool equals = o->value && s->command->run == cbi_tool_link;
    const char *words = words_of(s, o->words);
    printf(" \\\n            '*%s%s[%s]", name, equals ? "=" : "", sentence(s, o->help, "[]:\\"));
    if (o->value && *words)
        printf(":%s:(%s)", sentence(s, o->value, "[]:\\"), words);
    else if (o->value)
        printf(":%s:_files", sentence(s, o->value, "[]:\\"));
    printf("'");
}

static void zsh_option(void *user, const cbi_tool_option *o)
{
    zsh_spelling(user, o->name, o);
    if (o->other)
        zsh_spelling(user, o->other, o);
}

static void print_zsh(script *s)
{
    printf("#compdef cubind\n"
           "_cubind() {\n"
           "    local -a commands\n"
           "    if (( CURRENT == 2 )); then\n"
           "        commands=(");
    for (const cbi_command *c = cbi_commands; c->name; c++)
        printf("\n            '%s:%s'", c->name, sentence(s, c->help, ":\\"));
    printf(")\n"
           "        _describe -t commands command commands\n"
           "        return\n"
           "    fi\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    case $words[1] in\n");
    for (s->command = cbi_commands; s->command->name; s->command++) {
        const char *arguments = arguments_of(s, s->command);
        printf("    %s)\n        _arguments", s->command->name);
        cbi_each_option(s->command, zsh_option, s);
        if (*arguments)
            printf(" \\\n            ':argument:(%s)'", arguments);
        else if (!s->command->arguments)
            printf(" \\\n            '*:file:_files'");
        printf("\n        ;;\n");
    }
    printf("    esac\n"
           "}\n"
           "_cubind \"$@\"\n");
}

/* ---- fish ---- */

static void fish_spelling(const char *name)
{
    if (strncmp(name, "--", 2) == 0)
        printf(" -l %s", name + 2);
    else
        printf(" -%c %s", name[2] ? 'o' : 's', name + 1);
}

static void fish_option(void *user, const cbi_tool_option *o)
{
    script *s = user;
    const char *words = words_of(s, o->words);
    printf("complete -c cubind -n '__fish_seen_subcommand_from %s'", s->command->name);
    fish_spelling(o->name);
    if (o->other)
        fish_spelling(o->other);
    if (*words)
        printf(" -x -a '%s'", words);
    else if (o->value)
        printf(" -r");
    printf(" -d '%s'\n", sentence(s, o->help, "\\"));
}

static void print_fish(script *s)
{
    printf("# fish completion for cubind\n");
    for (s->command = cbi_commands; s->command->name; s->command++) {
        const cbi_command *c = s->command;
        const char *arguments = arguments_of(s, c);
        printf("complete -c cubind -n __fish_use_subcommand -f -a %s -d '%s'\n", c->name,
               sentence(s, c->help, "\\"));
        if (c->arguments)
            printf("complete -c cubind -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", c->name,
                   arguments);
        cbi_each_option(c, fish_option, s);
    }
}

/* ---- the command ---- */

static const struct shell {
    const char *name;
    void (*print)(script *s);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

typedef struct job {
    const struct shell *shell;
} job;

static cb_status print_script(cbi_ctx *ctx, void *arg)
{
    const job *j = arg;
    script s = {.ctx = ctx};
    j->shell->print(&s);
    return CB_OK;
}

int cbi_tool_completion(int argc, char **argv)
{
    job j = {NULL};
    bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    for (size_t i = 0; argc == 2 && i < CBI_COUNT(shells); i++)
        if (strcmp(argv[1], shells[i].name) == 0)
            j.shell = &shells[i];
    if (argc == 2 && !help && !j.shell)
        cbi_say("cubind completion: no completions for '%s'", argv[1]);
    if (!j.shell) {
        fprintf(help ? stdout : stderr,
                "Usage: cubind completion bash|zsh|fish\n\n"
                "Prints the completions of cubind's command line for a shell.\n");
        return !help;
    }
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cb_status status = cbi_run(&ctx, print_script, &j);
    cbi_ctx_fini(&ctx);
    if (status != CB_OK)
        cbi_say("cubind completion: out of memory");
    return cbi_check_stdout("cubind completion", status != CB_OK, 1);
}
