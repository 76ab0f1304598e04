/* What the files of stage 4 work on; no other stage includes this. */
#ifndef CBI_LINK_LAYOUT_WORK_H
#define CBI_LINK_LAYOUT_WORK_H

#include "link/layout.h"

typedef struct cbi_layout_work {
    cbi_layout layout;
    CBI_VEC(bool) dead; /* by section */
    cbi_map users;      /* shared variable -> the functions whose text refers to it */
    bool culled;        /* constants were laid out anew */
} cbi_layout_work;

/* The symbol's place, for changing; valid until the next call. */
cbi_placement *cbi_layout_place(const cbi_linker *lk, const cbi_lsym *sym);
/* What the layout gives the function, for changing. */
cbi_func_layout *cbi_func_layout_in(const cbi_linker *lk, const cbi_func *f);
/* Removes the section with its relocations, or takes it back. */
void cbi_layout_remove(const cbi_linker *lk, const cbi_osec *sec);
void cbi_layout_restore(const cbi_linker *lk, const cbi_osec *sec);

#endif
