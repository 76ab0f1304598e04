/* Stage 8, bytes: the file, from what lies in the inputs and in the tables. */
#ifndef CBI_LINK_BYTES_H
#define CBI_LINK_BYTES_H

#include "link/state.h"

/* The tables of an output file: section headers at shoff, program headers behind them. */
typedef struct cbi_segment {
    uint32_t type, flags;
    uint64_t offset, filesz, memsz;
} cbi_segment;
typedef struct cbi_headers cbi_headers; /* section headers that are being made */
/* What a round puts there: any headers but that of the null section. */
typedef void (*cbi_section_header_fn)(const void *user, size_t round, const cbi_headers *headers);
typedef struct cbi_file_tables {
    uint32_t kind;        /* EF_CUDA_KIND_SASS or EF_CUDA_KIND_CAPMERC */
    size_t section_count; /* the null section included */
    uint64_t shoff;
    cbi_section_header_fn section_header;
    size_t header_rounds; /* in threads */
    const void *user;     /* of theirs */
    const cbi_segment *segments;
    size_t segment_count;
} cbi_file_tables;
void cbi_link_write_header(const cbi_linker *lk, const cbi_file_tables *tables, cbi_sink *sink);
/* The i-th of them, zero so far. */
uint8_t *cbi_link_header_at(const cbi_headers *headers, size_t i);
void cbi_link_write_tables(const cbi_linker *lk, const cbi_file_tables *tables, cbi_sink *sink);
/* A section's header; the string offset, types and links are those of the link's own tables. */
void cbi_link_section_header(const cbi_linker *lk, const cbi_osec *sec, uint8_t *ret_header);

/* The file of a link below sm_100. */
void cbi_link_write(const cbi_linker *lk, cbi_sink *sink);

/* Where nvlink stops at code of no size (quirk aliases_emptied), fatally. */
void cbi_link_check_emptied(const cbi_linker *lk);

/* That file in class 32; fatal if a number in it is too large. */
cbi_span cbi_link_write_elf32(cbi_ctx *ctx, cbi_span image);

#endif
