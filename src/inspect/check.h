/* check: the rules of the device ELF ABI, on top of the structure that the object model verifies.
 */
#ifndef CBI_CHECK_H
#define CBI_CHECK_H

#include "inspect/inspect.h"

/* Who wrote a file: a rule is certain for the files of some, and for others only a note.
 * docs/format.md tells them apart. */
enum {
    CBI_MADE_CURRENT = 1,   /* compilers and linkers of 12.8 and later, and all older ones */
    CBI_MADE_EARLY = 2,     /* compilers of pre-releases, the first that knew sm_100 */
    CBI_MADE_ASSEMBLED = 4, /* the assembler of hand-written kernels */
    CBI_MADE_COMPILED = CBI_MADE_CURRENT | CBI_MADE_EARLY,
    CBI_MADE_RELEASED = CBI_MADE_CURRENT | CBI_MADE_ASSEMBLED,
    CBI_MADE_ALL = CBI_MADE_CURRENT | CBI_MADE_EARLY | CBI_MADE_ASSEMBLED,
    CBI_MADE_NONE = 0, /* a rule of experience */
};

/* clang-format off */
#define CBI_CHECK_RULES(X)                                                                                                                             \
    X(OSABI,             "abi-osabi",         ALL,      "OSABI and ABI version are 0x41 and 8, or 0x33 and 7")                                         \
    X(FILE_TYPE,         "abi-type",          ALL,      "e_type is relocatable, executable or extensible whole program")                               \
    X(TARGET,            "abi-target",        ALL,      "the header names a known target")                                                             \
    X(KIND,              "abi-kind",          ALL,      "e_flags says plain SASS, from sm_100 on also with capsules")                                  \
    X(CUINFO_INDEX,      "cuinfo-index",      RELEASED, "e_flags gives the index of .note.nv.cuinfo")                                                  \
    X(CUINFO,            "cuinfo-note",       COMPILED, ".note.nv.cuinfo holds one note of version 2 with target and toolkit")                         \
    X(TKINFO,            "tkinfo-note",       RELEASED, ".note.nv.tkinfo holds whole tool notes of version 2")                                         \
    X(FIXED_SECTIONS,    "fixed-sections",    COMPILED, "sections 1 to 3 are .shstrtab, .strtab and .symtab")                                          \
    X(NEEDED_SECTION,    "needed-section",    CURRENT,  "notes, call graph and, with code, module attributes are there")                               \
    X(SEGMENTS,          "segments",          ALL,      "executables have a program header table behind the section table, others none")               \
    X(SEGMENT_COVER,     "segment-cover",     ALL,      "every allocated section of an executable lies in a segment")                                  \
    X(SECTION_KNOWN,     "section-known",     CURRENT,  "the section name is one of the ABI")                                                          \
    X(SECTION_TYPE,      "section-type",      COMPILED, "the section type suits the name and the kind of file")                                        \
    X(SECTION_FLAGS,     "section-flags",     COMPILED, "the section flags suit the name")                                                             \
    X(SECTION_LINKS,     "section-links",     COMPILED, "sh_link is what the name asks for")                                                           \
    X(SECTION_OWNER,     "section-owner",     COMPILED, "sh_info is what the name asks for")                                                           \
    X(SECTION_ALIGN,     "section-align",     COMPILED, "alignment is a power of two that offset and name satisfy")                                    \
    X(SECTION_ENTRIES,   "section-entries",   COMPILED, "sh_entsize is what the name asks for")                                                        \
    X(SECTION_TARGET,    "section-target",    ALL,      "the target has sections of this name")                                                        \
    X(SECTION_TWICE,     "section-twice",     ALL,      "sections that are not of a function or variable are unique")                                  \
    X(SYMBOL_TYPE,       "symbol-type",       ALL,      "the symbol type suits the table and the section")                                             \
    X(SYMBOL_SPACE,      "symbol-space",      ALL,      "the memory space in st_other suits the section")                                              \
    X(SYMBOL_LOCALS,     "symbol-locals",     RELEASED, "sh_info follows the last symbol that is not global")                                          \
    X(SYMBOL_OF_SECTION, "symbol-of-section", ALL,      "a section symbol is local, empty and named as its section")                                   \
    X(MERC_SYMBOLS,      "merc-symbols",      ALL,      "both symbol tables agree on names and bindings")                                              \
    X(FUNCTION,          "function",          ALL,      "a code section belongs to one function symbol of its name and size")                          \
    X(FUNCTION_INFO,     "function-info",     ALL,      "every function with code has an attribute section")                                           \
    X(FUNCTION_CAPSULE,  "function-capsule",  ALL,      "from sm_100 on every function with code has a capsule")                                       \
    X(ENTRY_PARAMS,      "entry-params",      ALL,      "an entry has a constant bank 0 that holds its parameters")                                    \
    X(CODE_SIZE,         "code-size",         ALL,      "code consists of 16-byte instructions")                                                       \
    X(ATTR_FORMAT,       "attr-format",       ALL,      "an attribute has the format and size of its code")                                            \
    X(ATTR_SCOPE,        "attr-scope",        ALL,      "an attribute stands in the module's or a function's section, as its code asks")               \
    X(ATTR_TWICE,        "attr-twice",        ALL,      "per function there is one register count, frame size and stack size")                         \
    X(ATTR_FUNCTION,     "attr-function",     ALL,      "a register count or stack size names a function")                                             \
    X(ATTR_OFFSET,       "attr-offset",       ALL,      "code offsets in attributes are instructions of the function")                                 \
    X(ATTR_PARAMS,       "attr-params",       ALL,      "parameter records agree with each other and with bank 0")                                     \
    X(ATTR_STACK,        "attr-stack",        COMPILED, "executables have no maximum stack sizes, relocatables no minimum ones")                       \
    X(COMPAT,            "compat-format",     ALL,      "a compatibility attribute has the format of its id")                                          \
    X(CALLGRAPH,         "callgraph-lists",   COMPILED, "the call graph has its four lists in order")                                                  \
    X(CALLGRAPH_SYMBOL,  "callgraph-symbol",  ALL,      "the call graph names functions")                                                              \
    X(PROTOTYPE,         "prototype",         ALL,      "prototype strings are empty or start with '#'")                                               \
    X(RELOC_TYPE,        "reloc-type",        ALL,      "relocation types are known and of the section's view")                                        \
    X(RELOC_NAME,        "reloc-name",        ALL,      "a relocation section is named after its target")                                              \
    X(RELOC_FIELD,       "reloc-field",       ALL,      "the patched bits lie inside the target")                                                      \
    X(REL_ACTION,        "rel-action",        ALL,      ".nv.rel.action has its fixed contents")                                                       \
    X(CAPSULE,           "capsule",           RELEASED, "a capsule follows its grammar and covers its code exactly")                                   \
    X(CAPSULE_TEXT,      "capsule-text",      ALL,      "a capsule names its code section")                                                            \
    X(CAPSULE_TAIL,      "capsule-tail",      ALL,      "the last run of a capsule is a branch to itself and NOPs")                                    \
    X(CAPSULE_FIELDS,    "capsule-fields",    ALL,      "guards and registers of the records are those of the code")                                   \
    X(CAPSULE_KINDS,     "capsule-kinds",     NONE,     "a record is of a class, length and form that were seen with its opcode")                      \
    X(CAPSULE_LENGTH,    "capsule-length",    ALL,      "the entries of a capsule make the Mercury start and length of its functions")                 \
    X(INFO_TWINS,        "info-twins",        ALL,      "both attribute streams of a function count the same exits and name the same Mercury version") \
    X(RELOC_TWINS,       "reloc-twins",       RELEASED, "relocations of code correspond one to one in both views")                                     \
    X(SHARED_BYTES,      "shared-bytes",      RELEASED, "both views name the same bytes of initialised data")                                          \
    X(UNIFIED,           "unified-table",     ALL,      "unified table records name symbols of the table")
/* clang-format on */

typedef enum cbi_check_rule {
#define CBI_CHECK_ENUM(name, id, certain, text) CBI_CHECK_##name,
    CBI_CHECK_RULES(CBI_CHECK_ENUM)
#undef CBI_CHECK_ENUM
} cbi_check_rule;

typedef struct cbi_check_row {
    const char *id;
    uint8_t certain; /* for which files, CBI_MADE_ */
    const char *text;
} cbi_check_row;

extern const cbi_check_row cbi_check_rules[];
extern const size_t cbi_check_rule_count;

/* Checks an object that was read without findings and appends what is wrong, and as notes what
 * only departs from a rule that is not certain for the file. */
void cbi_check(cbi_ctx *ctx, const cbi_object *object, cbi_findings *findings);

/* ---- for the parts ---- */

typedef struct cbi_checker {
    cbi_ctx *ctx;
    const cbi_object *o;
    cbi_findings *findings;
    size_t count, notes; /* so far, kept or not */
    uint8_t made;        /* CBI_MADE_: who wrote the file */
    uint32_t sm;
    bool executable;
    bool legacy; /* the older ABI, OSABI 0x33: fewer sections and flags */
    bool mercury;
    cbi_map by_name;  /* interned section name -> first index, as a pointer */
    cbi_map repeated; /* names that come more than once */
} cbi_checker;

/* Adds a finding about a section (0 = the file); place is an offset in the file. */
void cbi_check_fail(cbi_checker *c, cbi_check_rule rule, uint32_t section, uint64_t place,
                    const char *symbol, const char *format, ...) CBI_PRINTF(6, 7);

/* The first section of that name, 0 = none. */
uint32_t cbi_check_find(const cbi_checker *c, const char *name);

/* Likewise, 0 also if there are several. */
uint32_t cbi_check_find_only(const cbi_checker *c, const char *name);

/* File offset of a section's header. */
static inline uint64_t cbi_check_header(const cbi_checker *c, uint32_t section)
{
    return cbi_object_header_place(c->o, section);
}

void cbi_check_file(cbi_checker *c);
void cbi_check_sections(cbi_checker *c);
void cbi_check_symbols(cbi_checker *c);
void cbi_check_functions(cbi_checker *c);
void cbi_check_attributes(cbi_checker *c);
void cbi_check_graph(cbi_checker *c);
void cbi_check_relocs(cbi_checker *c);
void cbi_check_mercury(cbi_checker *c);

#endif
