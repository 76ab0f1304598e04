/* What a file is, by its contents. */
#ifndef CBI_RECOGNISE_H
#define CBI_RECOGNISE_H

#include "base/base.h"

typedef enum cbi_content {
    CBI_CONTENT_EMPTY,
    CBI_CONTENT_UNKNOWN,
    CBI_CONTENT_CUBIN,       /* ELF for EM_CUDA */
    CBI_CONTENT_HOST_OBJECT, /* relocatable ELF of a host */
    CBI_CONTENT_HOST_LINKED, /* shared library or executable of a host */
    CBI_CONTENT_ARCHIVE,
    CBI_CONTENT_FATBIN,
    CBI_CONTENT_PTX,
    CBI_CONTENT_LTOIR,
    CBI_CONTENT_BITCODE /* LLVM bitcode */
} cbi_content;

cbi_content cbi_recognise(cbi_span bytes);
/* With an article, for messages: "a cubin". */
const char *cbi_content_text(cbi_content content);

/* What LTO-IR says of itself.  False if it is too short for that. */
typedef struct cbi_ltoir_facts {
    uint32_t sm;
    char suffix; /* 'a' or 0: nothing is known to tell an 'f' */
    uint8_t major, minor;
} cbi_ltoir_facts;
bool cbi_ltoir_read(cbi_span code, cbi_ltoir_facts *ret_facts);

/* The target that PTX text is for, from its first .target directive.  False, and both 0, if it has
 * none. */
bool cbi_ptx_target(cbi_span text, uint32_t *ret_sm, char *ret_suffix);

#endif
