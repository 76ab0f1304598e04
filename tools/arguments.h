/* Command lines of the tools: options from a table, files between them. */
#ifndef CUBIND_ARGUMENTS_H
#define CUBIND_ARGUMENTS_H

#include "tools.h"

struct cbi_arch; /* format/arch.h */

typedef struct cbi_arguments {
    const char *program;            /* "cubind dump", for messages */
    const cbi_tool_option *options; /* ends with a NULL name */
    void (*usage)(FILE *out);
    /* An option of the table; value is NULL where it takes none.  False: a bad value. */
    bool (*take)(void *user, size_t option, const char *value);
    void *user;
    int least, most; /* files that there must be; most 0: any number */
    int files;       /* out: argv[0 .. files) are the files */
} cbi_arguments;

/* Reads argv[1 .. argc).  -1: go on; else the exit code to end with, after a message or the help.
 */
int cbi_take_arguments(cbi_arguments *arguments, int argc, char **argv);

/* What somebody who wrote `word` may have meant: the nearest of the words, NULL if none is near.
 * Give each word to `offer` in turn. */
typedef struct cbi_suggestion {
    const char *word;
    char best[128];
    unsigned distance; /* of the best; 0: there is none */
} cbi_suggestion;
void cbi_suggestion_offer(cbi_suggestion *suggestion, const char *candidate);
const char *cbi_suggestion_text(const cbi_suggestion *suggestion);

/* The same of the targets that `takes` is true of, NULL: of all; of sm_ names alone, or of compute_
 * and lto_ as well.  A bare number stands for an sm_ name. */
const char *cbi_suggest_target(cbi_suggestion *suggestion, bool only_real,
                               bool (*takes)(const struct cbi_arch *arch));

#endif
