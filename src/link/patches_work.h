/* What the files of stage 5 work on; no other stage includes this. */
#ifndef CBI_LINK_PATCHES_WORK_H
#define CBI_LINK_PATCHES_WORK_H

#include "link/patches.h"

typedef struct cbi_patches_work {
    cbi_patches patches;
    uint8_t *packed; /* entries of all relocation sections in the form of the file, or NULL */
} cbi_patches_work;

#endif
