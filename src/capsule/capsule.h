/* The capsule of a function: what must be stored beside SASS to get its Mercury form back.
 *
 * A header, one bit per entry, then the bytes of the entries whose bit is clear.  Entries cover the
 * SASS instructions in order.  docs/capsule.md has the grammar and how it was found.
 */
#ifndef CBI_CAPSULE_H
#define CBI_CAPSULE_H

#include "sass/operands.h"

enum {
    CBI_CAPSULE_VERSION_MAX = 1,
    CBI_CAPSULE_HEADER = 12,       /* bytes in front of the bits */
    CBI_CAPSULE_NO_PREDICATE = 31, /* in records */
    CBI_CAPSULE_FORM_NOTE = 3,     /* records about the code, which cover no instruction */
    CBI_CAPSULE_FORM_SHORT = 4,    /* records of four bytes */
};

/* The mark in front of a run: its kind, and above it how many instructions it covers. */
enum {
    CBI_CAPSULE_RUN_MARK = 0x50,   /* no record follows; ... */
    CBI_CAPSULE_RUN_LISTED = 0x51, /* ... one does */
    CBI_CAPSULE_MARK_MASK = 0x70,  /* what tells a mark from a record */
    CBI_CAPSULE_RUN_SHIFT = 7,
};

static inline uint16_t cbi_capsule_run_mark(uint32_t mark, uint64_t count)
{
    return (uint16_t)(mark | count << CBI_CAPSULE_RUN_SHIFT);
}

/* Classes of instructions (byte 1 of a record) that code asks for; fields.c knows more of them. */
enum {
    CBI_CLASS_MOVE = 0x00,
    CBI_CLASS_BREAK = 0x05,
    CBI_CLASS_BSSY = 0x08,
    CBI_CLASS_BSYNC = 0x09,
    CBI_CLASS_SPECIAL = 0x0b, /* special registers, constants of the system, moves of pairs */
    CBI_CLASS_BARRIER_OBJECT = 0x1b,
    CBI_CLASS_LOAD_CONSTANT = 0x22,
    CBI_CLASS_COPY = 0x23,    /* asynchronous, and waits for them */
    CBI_CLASS_CONTROL = 0x47, /* numbers of registers, waits for clusters */
    CBI_CLASS_FENCE = 0x49,
    CBI_CLASS_ELECT = 0x5f,
    CBI_CLASS_NONE = 0xff, /* no record */
};

/* How an entry is stored. */
typedef enum cbi_capsule_kind {
    CBI_CAPSULE_DERIVED,    /* nothing: the Mercury form follows from SASS */
    CBI_CAPSULE_RUN,        /* scheduling NOPs and the tail: no Mercury instruction */
    CBI_CAPSULE_RECORD,     /* one instruction with a record */
    CBI_CAPSULE_RUN_RECORD, /* a record that became several SASS instructions */
} cbi_capsule_kind;

typedef struct cbi_capsule_entry {
    uint8_t kind;    /* cbi_capsule_kind */
    uint32_t index;  /* of the entry */
    uint32_t first;  /* first SASS instruction */
    uint32_t count;  /* SASS instructions covered */
    size_t offset;   /* of its bytes in the capsule (records: after the run prefix) */
    cbi_span record; /* stored bytes of the record */
    uint8_t units;   /* records: Mercury length in 16-byte units */
    uint8_t form;    /* records: 4 first 4 bytes only, else stored whole; 3 a note */
    uint8_t klass;   /* records: instruction class */
} cbi_capsule_entry;

/* A walk over a capsule. */
typedef struct cbi_capsule {
    cbi_span bytes;
    uint32_t text_index; /* section index of its text */
    uint8_t version;
    uint32_t entries;
    uint32_t next;     /* entry */
    uint32_t first;    /* SASS instructions covered so far */
    size_t pos;        /* in bytes */
    const char *error; /* why the walk ended early; static text */
} cbi_capsule;

/* Starts a walk; false with ret_capsule->error when the header does not fit or is of an unknown
 * version. */
bool cbi_capsule_open(cbi_span bytes, cbi_capsule *ret_capsule);

/* The next entry; false at the end, and then error tells whether the capsule is sound so far. */
bool cbi_capsule_next(cbi_capsule *capsule, cbi_capsule_entry *ret_entry);

/* What is wrong with a capsule whose walk has ended, with its last entry (zeroed if it has none),
 * as below. */
const char *cbi_capsule_finish(const cbi_capsule *capsule, const cbi_capsule_entry *last,
                               uint64_t text_size);

/* Checks a capsule against its text: the grammar, that all bytes are used, that it covers the text
 * exactly, and that the last entry is the tail.  NULL, or what is wrong (static text). */
const char *cbi_capsule_verify(cbi_span capsule, uint64_t text_size);

#endif
