/* What the folders above this one need beyond the public interface. */
#ifndef CBI_API_PRIVATE_H
#define CBI_API_PRIVATE_H

#include "input/input.h"

/* What a link is told beyond its options.  The strings are borrowed. */
typedef struct cbi_api_extras {
    const char *object_name;    /* in the note, or NULL */
    bool forgives_merge_errors; /* cbi_link_options */
    bool plain_runtime;         /* cbi_input_options */
} cbi_api_extras;

/* Before cb_link_run. */
void cbi_api_set_extras(cb_link *link, const cbi_api_extras *extras);

/* What an input that was read holds, and for which target. */
const cbi_inputs *cbi_api_collected(const cb_input *input);
const cbi_arch *cbi_api_input_arch(const cb_input *input);

#endif
