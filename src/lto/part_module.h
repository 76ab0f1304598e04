/* A module that makes the compiler keep what a part shows to others.  docs/lto.md, "Parts of
 * programs". */
#ifndef CBI_LTO_PART_MODULE_H
#define CBI_LTO_PART_MODULE_H

#include "lto/ptx_items.h"

/* By name (interned) of a function: the cbi_ptx_item of a copy of it for calls from inside ("f$10"
 * of "f"). */
cbi_map cbi_lto_find_copied(cbi_ctx *ctx, const cbi_ptx_items *ptx);

/* NVVM IR with everything in llvm.used that the PTX shows to others; kernels stay anyway.  A
 * function of `called`, by name its copy, isn't there: the compiler copies none that is.  Instead
 * it is called with pointers as the copy expects them, and values of which nothing is known.  NULL
 * if there is nothing to keep. */
const char *cbi_lto_keeping_module(cbi_ctx *ctx, cbi_span ptx, const cbi_map *called);

#endif
