/* What is understood of the records in capsules: operands, and the same operands in SASS. */
#ifndef CBI_CAPSULE_FIELDS_H
#define CBI_CAPSULE_FIELDS_H

#include "capsule/capsule.h"

typedef struct cbi_capsule_field {
    const char *name; /* guard, d, a, b, c (registers), p, q, r (predicates), size, operation,
                         signs, barrier, immediate, offset, parameter, system, special */
    uint64_t value; /* in the record; guard: predicate, 8 added if negated; offset: sign extended */
    uint64_t sass;  /* the same in SASS */
    bool relocatable; /* a link may have filled in the value on one side only */
} cbi_capsule_field;

enum { CBI_CAPSULE_FIELDS = 12 };

/* The known fields of a record that stands for one instruction; instruction: its 16 bytes of SASS.
 * Returns how many there are. */
size_t cbi_capsule_fields(const cbi_capsule_entry *entry, const uint8_t *instruction,
                          cbi_capsule_field *ret_fields);

/* Checks guards and registers of every record of a sound capsule against its text.  NULL, or what
 * differs first. */
const char *cbi_capsule_check_fields(cbi_ctx *ctx, cbi_span capsule, cbi_span text);

/* The same for one entry, which lies inside of its text; instruction: the first that it covers. */
const char *cbi_capsule_fields_problem(cbi_ctx *ctx, const cbi_capsule_entry *entry,
                                       const uint8_t *instruction);

/* Likewise whether class, length and form of a record were seen with its opcode before.  Code with
 * records that are new here is no worse for that. */
const char *cbi_capsule_kind_problem(cbi_ctx *ctx, const cbi_capsule_entry *entry,
                                     const uint8_t *instruction);

#endif
