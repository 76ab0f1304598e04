/* Changed copies of sound files; see mutants.c. */
#ifndef CBI_MUTANTS_H
#define CBI_MUTANTS_H

#include "base/base.h"

/* What a target takes. */
typedef enum mutant_kind {
    MUTANT_OBJECT,    /* a device ELF */
    MUTANT_PAIR,      /* two of them, see fuzz_split() */
    MUTANT_CONTAINER, /* an archive, host object or fatbin, with such in it */
} mutant_kind;

typedef struct mutant_seeds {
    cbi_span *files;
    size_t count;
    size_t *objects; /* those that are device ELFs */
    size_t object_count;
} mutant_seeds;

/* Reads files and folders of them. */
void mutant_load(mutant_seeds *seeds, char **paths, int count);
void mutant_unload(mutant_seeds *seeds);

/* The input of that number; for free(). */
uint8_t *mutant_make(const mutant_seeds *seeds, uint64_t seed, uint64_t number, mutant_kind kind,
                     size_t *ret_size);

/* The targets, each an LLVMFuzzerTestOneInput() of its own. */
int fuzz_check(const uint8_t *data, size_t size);
int fuzz_container(const uint8_t *data, size_t size);
int fuzz_diff(const uint8_t *data, size_t size);
int fuzz_dump(const uint8_t *data, size_t size);
int fuzz_finalize(const uint8_t *data, size_t size);
int fuzz_input(const uint8_t *data, size_t size);
int fuzz_link(const uint8_t *data, size_t size);
int fuzz_object(const uint8_t *data, size_t size);
int fuzz_report(const uint8_t *data, size_t size);
int fuzz_size(const uint8_t *data, size_t size);
int fuzz_slices(const uint8_t *data, size_t size);

#endif
