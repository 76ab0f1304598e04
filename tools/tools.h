/* The subcommands, and the options of each as its help and the shell completions show them. */
#ifndef CUBIND_TOOLS_H
#define CUBIND_TOOLS_H

#include <stdbool.h>
#include <stdio.h>

/* Each takes its own argv (argv[0] = its name) and returns the exit code. */
int cbi_tool_link(int argc, char **argv);
/* Runs `nvlink` and a link beside it, and reports where the results differ; nvlink's exit code. */
int cbi_tool_compare(int argc, char **argv, const char *nvlink);
int cbi_tool_bundle(int argc, char **argv);
int cbi_tool_dlink(int argc, char **argv);
int cbi_tool_dump(int argc, char **argv);
int cbi_tool_extract(int argc, char **argv);
int cbi_tool_diff(int argc, char **argv);
int cbi_tool_check(int argc, char **argv);
int cbi_tool_size(int argc, char **argv);
int cbi_tool_prune(int argc, char **argv);
/* The program under the name cuobjdump. */
int cbi_tool_cuobjdump(int argc, char **argv);
int cbi_tool_finalize(int argc, char **argv);
int cbi_tool_completion(int argc, char **argv);

/* One row of a command's help; tables end with a NULL name. */
typedef struct cbi_tool_option {
    const char *name;  /* with its dashes */
    const char *other; /* another spelling, NULL: none */
    const char *value; /* what its value is called, NULL: it has none */
    const char *words; /* values that it takes, separated by blanks; "@arch": those of
                          cbi_keyword_each, "@mercury": targets from sm_100 on; NULL: not listed */
    const char *help;
} cbi_tool_option;

extern const cbi_tool_option cbi_options_check[];
extern const cbi_tool_option cbi_options_diff[];
extern const cbi_tool_option cbi_options_dump[];
extern const cbi_tool_option cbi_options_extract[];
extern const cbi_tool_option cbi_options_size[];
extern const cbi_tool_option cbi_options_cuobjdump[];
extern const cbi_tool_option cbi_options_finalize[]; /* those of the engine come besides */

/* Is the variable of the environment set to another number than 0? */
bool cbi_is_set(const char *variable);

/* Asks for the pages of the stack and of the heap that a small link needs. */
void cbi_touch_pages(void);

/* A line on standard error; no user. */
void cbi_print_trace(void *user, const char *line);

/* Prints the rows as aligned lines. */
void cbi_print_options(FILE *out, const cbi_tool_option *options);

typedef struct cbi_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
    const cbi_tool_option *options; /* NULL: none, or a table of its own */
    const char *arguments;          /* words that are its arguments, NULL: files are */
} cbi_command;

/* In the order of `cubind help`; the last one has a NULL name. */
extern const cbi_command cbi_commands[];

/* Calls fn for every option of a command, wherever its table is. */
void cbi_each_option(const cbi_command *command,
                     void (*fn)(void *user, const cbi_tool_option *option), void *user);

#endif
