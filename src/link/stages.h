/* Until which stage something may be written, said in front of its name:
 *
 *     typedef struct cbi_lsym TILL_SYMBOLS cbi_lsym;    a whole record
 *     uint64_t TILL_LAYOUT size;                        a member
 *     void cbi_sec_add(...) NOT_AFTER(LAYOUT);          a function that writes
 *
 * In the files of later stages it is const, and such a function cannot be called.  `./dev lint`
 * compiles each file with CBI_STAGE set to its stage to see that (layers.py --stages); a build has
 * no stage, since all files of it share one type.
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

#if CBI_STAGE > CBI_STAGE_INPUTS
#define TILL_INPUTS const
#else
#define TILL_INPUTS
#endif
#if CBI_STAGE > CBI_STAGE_SYMBOLS
#define TILL_SYMBOLS const
#else
#define TILL_SYMBOLS
#endif
#if CBI_STAGE > CBI_STAGE_GRAPH
#define TILL_GRAPH const
#else
#define TILL_GRAPH
#endif
#if CBI_STAGE > CBI_STAGE_LAYOUT
#define TILL_LAYOUT const
#else
#define TILL_LAYOUT
#endif
#if CBI_STAGE > CBI_STAGE_PATCHES
#define TILL_PATCHES const
#else
#define TILL_PATCHES
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

#if CBI_STAGE && defined __GNUC__
#define NOT_AFTER(stage)  NOT_AFTER_(CBI_STAGE_##stage)
#define NOT_AFTER_(stage) __attribute__((deprecated("stage " #stage)))
#else
#define NOT_AFTER(stage)
#endif

#endif
