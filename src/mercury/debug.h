/* Debug sections of the SASS side: what their builders share. */
#ifndef CBI_MERCURY_DEBUG_H
#define CBI_MERCURY_DEBUG_H

#include "mercury/mercury.h"

/* The input's SASS bytes; empty when the object has none. */
cbi_span cbi_mercury_part_bytes(const cbi_mercury_part *part);
/* Appends bytes [start, end) of the part and records where they went. */
void cbi_mercury_copy(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part,
                      uint64_t start, uint64_t end);

/* Symbols by a place in a debug section. */
typedef struct cbi_symbol_map {
    cbi_map numbers; /* place -> position in the list, from 1 */
    CBI_VEC(const cbi_lsym *) list;
} cbi_symbol_map;
/* NULL: none. */
const cbi_lsym *cbi_symbol_map_get(const cbi_symbol_map *map, uint64_t key);

/* Symbols by the place, in the input's SASS section, where their address goes.  A function that is
 * not in the output is stood for by a symbol without a name.  ret_starts, unless NULL: by the same
 * place, as uint64_t *, where in the symbol's code the address is, if that is not its start. */
void cbi_mercury_described(const cbi_linker *lk, const cbi_mercury_part *part,
                           cbi_symbol_map *ret_symbols, cbi_map *ret_starts);

/* Functions that are in the output, by the place in the input's Mercury section. */
void cbi_mercury_symbols(const cbi_linker *lk, const cbi_mercury_part *part,
                         cbi_symbol_map *ret_symbols, cbi_map *ret_starts);

/* frame.c: .debug_frame without the entries of functions that are gone. */
void cbi_mercury_frame(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part);

/* line.c: .debug_line and .nv_debug_line_sass. */
void cbi_mercury_line(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part);

/* regs.c: .nv_debug_info_reg_sass. */
void cbi_mercury_registers(const cbi_linker *lk, cbi_mercury_debug *debug, cbi_mercury_part *part);

#endif
