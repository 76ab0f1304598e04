/* What the files of stage 6 work on; no other stage includes this. */
#ifndef CBI_LINK_PROPAGATE_WORK_H
#define CBI_LINK_PROPAGATE_WORK_H

#include "link/propagate.h"

typedef struct cbi_propagate_work {
    cbi_attributes attributes;
    bool met[256];          /* codes of records that count */
    cbi_rec_list handed_on; /* records of the inputs that entries may take over, in order */
    cbi_rec_list externs;   /* of the inputs' records those that list symbols */
} cbi_propagate_work;

/* What the function's own records say, for changing. */
cbi_properties *cbi_properties_in(const cbi_linker *lk, const cbi_func *f);
/* The function's record of that code, of those that are handed on; or NULL. */
cbi_rec *cbi_find_record(const cbi_linker *lk, const cbi_func *f, uint8_t code);
/* A new record of format 4 of the function, whose payload the caller gives. */
cbi_rec *cbi_add_payload(const cbi_linker *lk, const cbi_func *f, uint8_t code);
/* One of another format. */
cbi_rec *cbi_add_record(const cbi_linker *lk, const cbi_func *f, uint8_t format, uint8_t code,
                        uint16_t value);

#endif
