/* Accidents of nvlink that are reproduced on purpose, one row each: only where its bytes are asked
 * for (--emulate, or the name nvlink).  A rule asks for its row and for nothing else.
 *
 * A row: name, what nvlink does, where it is described, the experiment that showed it.
 */
#ifndef CBI_LINK_QUIRKS_H
#define CBI_LINK_QUIRKS_H

#include "base/base.h"

/* clang-format off */
#define CBI_QUIRKS(X) \
    X(damage_unnoticed, "objects with damage that does not reach a table that nvlink reads are linked",\
      "docs/robustness.md",\
      "each field of section headers, notes and attribute records changed in turn; robustness table")\
    X(graph_unquoted, "names in the file of -dot-file have no quotes, whatever characters they hold",\
      "docs/robustness.md",\
      "a function whose name was changed to blanks, quotes and control characters, -dot-file")\
    X(aliases_emptied, "a global alias that replaces a weak function leaves no code behind",\
      "docs/link-semantics.md, Weak functions",\
      ".weak f in a, .alias f, g in b, both orders; sm_80 to sm_120")\
    X(common_forgotten, "a common symbol that an initialised weak definition follows loses its place",\
      "docs/link-semantics.md, Symbols",\
      ".common, .weak with and without bytes, .visible, .extern of 1 to 4 words, two and three files")\
    X(symbols_lost, "sm_90+: a dead static function takes along the symbol with its section's number",\
      "docs/link-semantics.md, Dead code",\
      "in a fn, a static kernel, n static functions; in b fn with a jump table; n = 0..9")\
    X(alignment_lost, "a shared variable first met as dynamic has no alignment behind -r; nvlink may crash",\
      "docs/link-semantics.md, Shared memory",\
      ".extern .shared v[], .visible .shared v[8] in up to four files, through -r and again")\
    X(null_symbol_removed, "with unused shared memory of nvcc -G -ewp goes the null symbol, which stands for it",\
      "docs/link-semantics.md, Objects of ptxas -ewp",\
      "random programs of nvcc -G -ewp; sm_75 to sm_120, final links")\
    X(null_symbol_counts, "the null symbol's value is added where a relocation has no symbol: a YIELD becomes anything",\
      "docs/link-semantics.md, Optimizer constants",\
      "weak functions with tables of 1 to 9 entries in two files of PTX for sm_60, one with a loop of atomics")\
    X(removed_reported, "reserved shared memory is reported of removed functions, too, without a name",\
      "docs/link-semantics.md, Shared memory",\
      "a function and a kernel that read %reserved_smem_offset_0, dead, unwanted or live; sm_90 to 120, -r, -g")\
    X(replaced_constants_found, "optimizer constants of replaced copies are found by name and used again",\
      "docs/link-semantics.md, Optimizer constants",\
      "all sequences of three copies of a function with and without tables, sm_80 and sm_100")\
    X(constants_overlap, "of optimizer constants that overlap nvlink takes some and refuses some",\
      "docs/link-semantics.md, Optimizer constants",\
      "two copies of a function with constants of 12 kinds each, -r and again")\
    X(constants_shared, "where kernels are removed, equal constants are stored once and code is not told",\
      "docs/link-semantics.md, Kernels that are not wanted",\
      "one array of n bytes and alignment a in two files, n = 1..128, a = 1..32")\
    X(replaced_relocations_fail, "sm_100+: removing kernels fails if a replaced copy had relocations",\
      "docs/link-semantics.md, Kernels that are not wanted",\
      ".weak f that calls something, in a; .visible f in b; link a b, b a")\
    X(constants_culled, "more than 64 KiB of constants are laid out anew, unused ones dropped",\
      "docs/link-semantics.md, Too many constants",\
      "files with one array each, 65536 bytes and others of 1 to 100, and a kernel that reads some")\
    X(pointers_forgotten, "constant pointers read before a global definition replaced a weak one stay empty",\
      "docs/link-semantics.md, Relocations",\
      "undefined, weak and global v in three files, each with pointers to it")\
    X(namesakes_confused, "sm_100+: functions of one name get the first one's relocations and attributes",\
      "docs/mercury.md, Functions of one name",\
      "an -r output of two functions, the first one's list replaced by one entry, for every place")\
    X(namesakes_astray, "sm_100+: nvlink dies of a return address of theirs where no instruction starts",\
      "docs/mercury.md, Functions of one name",\
      "the same, ABS_PROG_REL32")\
    X(return_rules_forgotten, "sm_100+: -r, -g: code that the rules for return addresses name has its relocation at 0",\
      "docs/debug-data.md",\
      "features/ewp-recursion, ewp-functions with -r and -g")\
    X(namesakes_renamed, "sm_100+: their banks share a name, of which each renaming takes 9 bytes",\
      "docs/mercury.md, Functions of one name",\
      "two and three files with a static fn that has a jump table; sm_100 to 120, final, -r, -kernels-used")
/* clang-format on */

typedef struct cbi_quirks {
#define CBI_QUIRK_MEMBER(name, what, where, experiment) bool name : 1;
    CBI_QUIRKS(CBI_QUIRK_MEMBER)
#undef CBI_QUIRK_MEMBER
} cbi_quirks;

/* All of them, or none. */
cbi_quirks cbi_quirks_make(bool exact);

#endif
