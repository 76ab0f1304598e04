/* Command lines in the manner of the toolkit: options as tables, and the parser that fills values.
 * The table of a link is nvlink's. */
#ifndef CUBIND_OPTIONS_H
#define CUBIND_OPTIONS_H

#include "base/base.h"

typedef enum cbi_opt {
    OPT_OFAST_COMPILE,
    OPT_XNVVM,
    OPT_XPTXAS,
    OPT_ALLOW_UNDEFINED_GLOBALS,
    OPT_ARCH,
    OPT_CPU_ARCH,
    OPT_CUDA_API_VERSION,
    OPT_DEBUG,
    OPT_DEVICE_STACK_PROTECTOR,
    OPT_DEVICE_STACK_PROTECTOR_THRESHOLD,
    OPT_DISABLE_INFOS,
    OPT_DISABLE_SMEM_RESERVATION,
    OPT_DISABLE_WARNINGS,
    OPT_DLTO,
    OPT_DONT_RESERVE_NULL_POINTER,
    OPT_DOT_FILE,
    OPT_DUMP_CALLGRAPH,
    OPT_DUMP_CALLGRAPH_NO_DEMANGLE,
    OPT_DURABLE,
    OPT_ELF32,
    OPT_EMIT_PTX,
    OPT_EMULATE,
    OPT_ENABLE_EXTENDED_SMEM,
    OPT_EXTRA_WARNINGS,
    OPT_FDCMPT,
    OPT_FORCE_PARTIAL_LTO,
    OPT_FORCE_RELA,
    OPT_FORCE_WHOLE_LTO,
    OPT_GEN_HOST_LINKER_SCRIPT,
    OPT_HELP,
    OPT_HOST_CCBIN,
    OPT_HOST_LINKER_OPTIONS,
    OPT_IGNORE_HOST_INFO,
    OPT_KEEP_SYSTEM_LIBRARIES,
    OPT_KERNELS_USED,
    OPT_LIBRARY,
    OPT_LIBRARY_PATH,
    OPT_LINK_TIME_OPT,
    OPT_LTO_MEMORY_LIMIT,
    OPT_LTO_TIME_LIMIT,
    OPT_MACHINE,
    OPT_MAP,
    OPT_MAXRREGCOUNT,
    OPT_MEMORY_LIMIT,
    OPT_NV_HOST,
    OPT_NVJITLINK,
    OPT_NVVMPATH,
    OPT_OPTIONS_FILE,
    OPT_OUTPUT_FILE,
    OPT_PRESERVE_RELOCS,
    OPT_PTXAS,
    OPT_REGISTER_LINK_BINARIES,
    OPT_RELOCATABLE_LINK,
    OPT_REPORT_ARCH,
    OPT_REPRO,
    OPT_REQUIRE_KERNEL,
    OPT_RESERVE_NULL_POINTER,
    OPT_SHARED,
    OPT_SPLIT_COMPILE,
    OPT_SPLIT_COMPILE_EXTENDED,
    OPT_STRICT,
    OPT_SUMMARIZE_WARNINGS,
    OPT_SUPPRESS_ARCH_WARNING,
    OPT_SUPPRESS_DEBUG_INFO,
    OPT_SUPPRESS_STACK_SIZE_WARNING,
    OPT_SYSCALL_CONST_OFFSET,
    OPT_THREADS,
    OPT_TIME,
    OPT_TOOL_NAME,
    OPT_TRACE_SYMBOL,
    OPT_UIDX_FILE,
    OPT_USE_HOST_INFO,
    OPT_UUMN,
    OPT_VARIABLES_USED,
    OPT_VERBOSE,
    OPT_VERBOSE_TKINFO,
    OPT_VERSION,
    OPT_WARNING_AS_ERROR,
    OPT_WHY_LIVE,
    OPT_COUNT
} cbi_opt;

typedef enum cbi_opt_kind {
    OPT_KIND_FLAG,
    OPT_KIND_STRING,
    OPT_KIND_INT,
    OPT_KIND_BOOL,    /* the word true or false must follow */
    OPT_KIND_KEYWORD, /* one of a list of words */
    OPT_KIND_LIST,    /* comma-separated, every occurrence appends */
    OPT_KIND_EACH,    /* every occurrence is an item of the list, as it is */
} cbi_opt_kind;

/* How an option enters the command string of the tkinfo record. */
typedef enum cbi_opt_record {
    OPT_RECORD_NEVER,
    OPT_RECORD_ALWAYS,
    OPT_RECORD_VERBOSE,          /* only in verbose mode, as given */
    OPT_RECORD_VERBOSE_BASENAME, /* only in verbose mode, last path component */
    OPT_RECORD_VERBOSE_EMPTY,    /* only in verbose mode, without its value */
} cbi_opt_record;

enum {
    OPT_HIDDEN = 1,      /* not in --help */
    OPT_GLUED = 2,       /* -xVALUE works */
    OPT_OURS = 4,        /* nvlink does not have it; only the --long spelling exists */
    OPT_NO_EFFECT = 8,   /* accepted, but nothing here depends on it */
    OPT_LTO = 16,        /* matters with link-time optimization only */
    OPT_FILES = 32,      /* names option files */
    OPT_DEPRECATED = 64, /* warned of */
};

/* One row of the table. */
typedef struct cbi_option {
    const char *long_name;
    const char *short_name; /* NULL: only --long */
    cbi_opt_kind kind;
    unsigned flags;
    cbi_opt_record record;
    uint8_t rank;         /* place in the tkinfo command string */
    const char *keywords; /* legal values, separated by blanks; "@arch" = the target names */
    const char *implied;  /* value when none follows; NULL: a value must follow */
    const char *value;    /* name of the value in --help */
    const char *initial;  /* default named in --help, or NULL */
    const char *help;     /* newlines are kept */
} cbi_option;

extern const cbi_option cbi_options[OPT_COUNT];

typedef CBI_VEC(const char *) cbi_words;

typedef struct cbi_opt_value {
    bool given;
    const char *text; /* as given */
    int32_t number;   /* OPT_KIND_INT; OPT_KIND_BOOL: 0 or 1 */
    cbi_words list;
} cbi_opt_value;

typedef struct cbi_command_line {
    cbi_opt_value values[OPT_COUNT];
    cbi_words inputs;
    cbi_words option_files; /* every option file read, for --repro */
} cbi_command_line;

/* True if the option was given. */
static inline bool cbi_given(const cbi_command_line *line, cbi_opt opt)
{
    return line->values[opt].given;
}

/* True if the option was given as a flag or as `true`. */
static inline bool cbi_is_on(const cbi_command_line *line, cbi_opt opt)
{
    const cbi_opt_value *v = &line->values[opt];
    return v->given && (cbi_options[opt].kind != OPT_KIND_BOOL || v->number);
}

/* The value's text, or NULL when not given. */
static inline const char *cbi_text(const cbi_command_line *line, cbi_opt opt)
{
    return line->values[opt].given ? line->values[opt].text : NULL;
}

/* What a command line holds.  The lists are appended to. */
typedef struct cbi_parsed {
    cbi_opt_value *values;   /* one for each row of the table */
    cbi_words *inputs;       /* what is no option */
    cbi_words *option_files; /* that were read */
    cbi_words *unknown;      /* options that no row has; NULL: they are mistakes */
} cbi_parsed;

/* Parses argv[1..argc) by a table of `count` rows.  The first mistake is a fatal diagnostic.  Runs
 * inside cbi_run(). */
void cbi_parse_options(cbi_ctx *ctx, const cbi_option *options, int count, int argc,
                       char *const *argv, const cbi_parsed *parsed);

/* Says that no row of the table is that option, and which one may have been meant. */
CBI_NORETURN void cbi_unknown_option(cbi_ctx *ctx, const cbi_option *options, int count,
                                     const char *token);

/* Appends the items of a value that is separated by commas. */
void cbi_split_list(cbi_ctx *ctx, const char *text, cbi_words *items);

/* The same once more at blanks: nvcc hands all of -Xptxas over as one item, "-v -O1 ". */
cbi_words cbi_split_blanks(cbi_ctx *ctx, const cbi_words *items);

/* arch=compute_90,code=[sm_90,compute_90], word by word: the brackets may be missing, and what
 * stands between commas belongs to the key before it. */
typedef enum cbi_gencode_part {
    GENCODE_END,
    GENCODE_ARCH,
    GENCODE_CODE,
    GENCODE_UNKNOWN, /* another key, or code before any key; the word is the whole item */
} cbi_gencode_part;
typedef struct cbi_gencode {
    cbi_words items;
    size_t next;
    bool in_code;
} cbi_gencode;
cbi_gencode cbi_gencode_read(cbi_ctx *ctx, const char *text);
cbi_gencode_part cbi_gencode_next(cbi_ctx *ctx, cbi_gencode *gencode, const char **ret_word);

/* The same for the command line of a link. */
void cbi_parse_command_line(cbi_ctx *ctx, int argc, char *const *argv, cbi_command_line *ret_line);

/* True if word is among the legal values of a keyword option. */
bool cbi_keyword_known(const cbi_option *option, const char *word, size_t len);

/* Calls fn for each legal value of a keyword option, in the order of --help. */
void cbi_keyword_each(const cbi_option *option,
                      void (*fn)(void *user, const char *word, size_t len), void *user);

/* The command string of the tkinfo record.  verbose adds file names. */
const char *cbi_compose_tkinfo(cbi_ctx *ctx, const cbi_command_line *line, bool verbose);

/* Prints --help to stdout. */
void cbi_print_link_help(const char *program, bool ours);
/* The rows of another table as they stand in --help. */
void cbi_print_option_table(const cbi_option *options, int count);

#endif
