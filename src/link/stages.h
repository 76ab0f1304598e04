/* Until which stage something may be written, said in front of its name:
 *
 *     typedef struct cbi_lsym TILL_SYMBOLS cbi_lsym;    a whole record
 *     uint64_t TILL_LAYOUT size;                        a member
 *     CBI_VEC(cbi_placement TILL_LAYOUT) placements;    what a list holds
 *     void cbi_sec_add(...) NOT_AFTER_LAYOUT;           a function that writes
 *
 * In the files of later stages it is const, and such a function cannot be called.  `./dev lint`
 * compiles each file with CBI_STAGE set to its stage to see that; a build has no stage, since all
 * files of it share one type.
 */
#ifndef CBI_LINK_STAGES_H
#define CBI_LINK_STAGES_H

#define CBI_STAGE_INPUTS      1
#define CBI_STAGE_SYMBOLS     2
#define CBI_STAGE_GRAPH       3
#define CBI_STAGE_LAYOUT      4
#define CBI_STAGE_PATCHES     5
#define CBI_STAGE_PROPAGATION 6
#define CBI_STAGE_TABLES      7
#define CBI_STAGE_BYTES       8
#define CBI_STAGE_REPORTS     9 /* write nothing */

#ifndef CBI_STAGE
#define CBI_STAGE 0
#endif

#define CBI_TOO_LATE __attribute__((deprecated("what it writes is fixed by now")))

#if CBI_STAGE > CBI_STAGE_SYMBOLS
#define TILL_SYMBOLS      const
#define NOT_AFTER_SYMBOLS CBI_TOO_LATE
#else
#define TILL_SYMBOLS
#define NOT_AFTER_SYMBOLS
#endif
#if CBI_STAGE > CBI_STAGE_GRAPH
#define TILL_GRAPH const
#else
#define TILL_GRAPH
#endif
#if CBI_STAGE > CBI_STAGE_LAYOUT
#define TILL_LAYOUT      const
#define NOT_AFTER_LAYOUT CBI_TOO_LATE
#else
#define TILL_LAYOUT
#define NOT_AFTER_LAYOUT
#endif
#if CBI_STAGE > CBI_STAGE_PATCHES
#define TILL_PATCHES      const
#define NOT_AFTER_PATCHES CBI_TOO_LATE
#else
#define TILL_PATCHES
#define NOT_AFTER_PATCHES
#endif
#if CBI_STAGE > CBI_STAGE_PROPAGATION
#define TILL_PROPAGATION const
#else
#define TILL_PROPAGATION
#endif
#if CBI_STAGE > CBI_STAGE_TABLES
#define TILL_TABLES const
#else
#define TILL_TABLES
#endif

#endif
