/* Changing the tool record of a freshly assembled cubin. */
#ifndef CBI_INPUT_TKINFO_H
#define CBI_INPUT_TKINFO_H

#include "base/base.h"

/* Takes two texts out of the recorded command lines of .note.nv.tkinfo: names of temporary files,
 * which an assembler inside the linker would not have. The section shrinks in place. */
void cbi_tkinfo_forget_names(uint8_t *cubin, size_t size, const char *first, const char *second);

#endif
