/* What the files of stage 2 work on; no other stage includes this. */
#ifndef CBI_LINK_MERGE_WORK_H
#define CBI_LINK_MERGE_WORK_H

#include "link/symbols.h"

typedef struct cbi_merge_work {
    cbi_symbols symbols;
    cbi_rec_table recs; /* attributes, reading order, until stage 6 takes them over */
    cbi_name_table sym_by_name;
    cbi_pool func_pool;
    cbi_pool payload_pool; /* of records whose input is spent */
    cbi_map proto_seen;
    const cbi_lobj
        *proto_obj; /* the latest, with its place in the object's strings: most are equal */
    uint32_t proto_offset;
    const cbi_name *proto;
    cbi_map constant_pieces; /* equal constants of objects are shared: contents -> the piece kept */
    uint32_t tcgen05_toolkits; /* see metadata.c, once code that uses tcgen05 was read */
} cbi_merge_work;

/* The name of an input's section, and of its symbol, interned. */
static inline const cbi_name *cbi_section_name(const cbi_linker *lk, const cbi_lobj *obj,
                                               uint32_t i)
{
    const cbi_secmap *map = &obj->sections[i];
    return cbi_intern_hashed(lk->ctx, obj->object.sections[i].name, map->name_len, map->name_hash);
}

static inline const cbi_name *cbi_symbol_name(const cbi_linker *lk, const cbi_symbol *symbol)
{
    return cbi_intern_hashed(lk->ctx, symbol->name, symbol->name_len, symbol->name_hash);
}

/* The function, for changing; NULL: NULL. */
static inline cbi_func *cbi_func_in(const cbi_func *f)
{
    return f ? f->sym->func : NULL;
}

#endif
