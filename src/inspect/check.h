/* check: the rules of the device ELF ABI, on top of the structure that the object model verifies.
 */
#ifndef CBI_CHECK_H
#define CBI_CHECK_H

#include "inspect/inspect.h"

/* clang-format off */
#define CBI_CHECK_RULES(X)                                                                                 \
    X(OSABI,            "abi-osabi",        "OSABI and ABI version are 0x41 and 8, or 0x33 and 7")          \
    X(FILE_TYPE,        "abi-type",         "e_type is relocatable, executable or extensible whole program") \
    X(TARGET,           "abi-target",       "the header names a known target")                              \
    X(KIND,             "abi-kind",         "e_flags says plain SASS, from sm_100 on also with capsules")    \
    X(CUINFO_INDEX,     "cuinfo-index",     "e_flags gives the index of .note.nv.cuinfo")                   \
    X(CUINFO,           "cuinfo-note",      ".note.nv.cuinfo holds one note of version 2 with target and toolkit") \
    X(TKINFO,           "tkinfo-note",      ".note.nv.tkinfo holds whole tool notes of version 2")          \
    X(FIXED_SECTIONS,   "fixed-sections",   "sections 1 to 3 are .shstrtab, .strtab and .symtab")           \
    X(NEEDED_SECTION,   "needed-section",   "notes, call graph and, with code, module attributes are there")            \
    X(SEGMENTS,         "segments",         "executables have a program header table behind the section table, others none") \
    X(SEGMENT_COVER,    "segment-cover",    "every allocated section of an executable lies in a segment")   \
    X(SECTION_KNOWN,    "section-known",    "the section name is one of the ABI")                           \
    X(SECTION_TYPE,     "section-type",     "the section type suits the name and the kind of file")         \
    X(SECTION_FLAGS,    "section-flags",    "the section flags suit the name")                              \
    X(SECTION_LINKS,    "section-links",    "sh_link is what the name asks for")                            \
    X(SECTION_OWNER,    "section-owner",    "sh_info is what the name asks for")                            \
    X(SECTION_ALIGN,    "section-align",    "alignment is a power of two that offset and name satisfy")     \
    X(SECTION_ENTRIES,  "section-entries",  "sh_entsize is what the name asks for")                         \
    X(SECTION_TARGET,   "section-target",   "the target has sections of this name")                         \
    X(SECTION_OVERLAP,  "section-overlap",  "sections share bytes only with their Mercury counterparts")    \
    X(SECTION_TWICE,    "section-twice",    "sections that are not of a function or variable are unique")                                     \
    X(SYMBOL_TYPE,      "symbol-type",      "the symbol type suits the table and the section")              \
    X(SYMBOL_SPACE,     "symbol-space",     "the memory space in st_other suits the section")               \
    X(SYMBOL_LOCALS,    "symbol-locals",    "sh_info follows the last symbol that is not global")           \
    X(SYMBOL_OF_SECTION, "symbol-of-section", "a section symbol is local, empty and named as its section")  \
    X(MERC_SYMBOLS,     "merc-symbols",     "both symbol tables agree on names and bindings")               \
    X(FUNCTION,         "function",         "a code section belongs to one function symbol of its name and size") \
    X(FUNCTION_INFO,    "function-info",    "every function with code has an attribute section")            \
    X(FUNCTION_CAPSULE, "function-capsule", "from sm_100 on every function with code has a capsule")        \
    X(ENTRY_PARAMS,     "entry-params",     "an entry has a constant bank 0 that holds its parameters")     \
    X(CODE_SIZE,        "code-size",        "code consists of 16-byte instructions")                        \
    X(ATTR_FORMAT,      "attr-format",      "an attribute has the format and size of its code")             \
    X(ATTR_SCOPE,       "attr-scope",       "an attribute stands in the module's or a function's section, as its code asks") \
    X(ATTR_TWICE,       "attr-twice",       "per function there is one register count, frame size and stack size") \
    X(ATTR_FUNCTION,    "attr-function",    "a register count or stack size names a function")              \
    X(ATTR_OFFSET,      "attr-offset",      "code offsets in attributes are instructions of the function")  \
    X(ATTR_PARAMS,      "attr-params",      "parameter records agree with each other and with bank 0")      \
    X(ATTR_STACK,       "attr-stack",       "executables have no maximum stack sizes, relocatables no minimum ones")    \
    X(COMPAT,           "compat-format",    "a compatibility attribute has the format of its id")           \
    X(CALLGRAPH,        "callgraph-lists",  "the call graph has its four lists in order")                   \
    X(CALLGRAPH_SYMBOL, "callgraph-symbol", "the call graph names functions")                               \
    X(PROTOTYPE,        "prototype",        "prototype strings are empty or start with '#'")                             \
    X(RELOC_TYPE,       "reloc-type",       "relocation types are known and of the section's view")         \
    X(RELOC_NAME,       "reloc-name",       "a relocation section is named after its target")               \
    X(RELOC_FIELD,      "reloc-field",      "the patched bits lie inside the target")                       \
    X(REL_ACTION,       "rel-action",       ".nv.rel.action has its fixed contents")                        \
    X(CAPSULE,          "capsule",          "a capsule follows its grammar and covers its code exactly")    \
    X(CAPSULE_TEXT,     "capsule-text",     "a capsule names its code section")                             \
    X(CAPSULE_TAIL,     "capsule-tail",     "the last run of a capsule is a branch to itself and NOPs")     \
    X(CAPSULE_FIELDS,   "capsule-fields",   "guards and registers of the records are those of the code")    \
    X(CAPSULE_LENGTH,   "capsule-length",   "the entries of a capsule make the Mercury length of the function") \
    X(INFO_TWINS,       "info-twins",       "both attribute streams of a function count the same exits and name the same Mercury version") \
    X(RELOC_TWINS,      "reloc-twins",      "relocations of code correspond one to one in both views")      \
    X(SHARED_BYTES,     "shared-bytes",     "both views name the same bytes of initialised data")           \
    X(UNIFIED,          "unified-table",    "unified table records name symbols of the table")
/* clang-format on */

typedef enum cbi_check_rule {
#define CBI_CHECK_ENUM(name, id, text) CBI_CHECK_##name,
    CBI_CHECK_RULES(CBI_CHECK_ENUM)
#undef CBI_CHECK_ENUM
} cbi_check_rule;

extern const cbi_rule cbi_check_rules[];
extern const size_t cbi_check_rule_count;

/* Checks an object that was read without findings and appends what is wrong. */
void cbi_check(cbi_ctx *ctx, const cbi_object *object, cbi_findings *findings);

/* ---- for the parts ---- */

typedef struct cbi_checker {
    cbi_ctx *ctx;
    const cbi_object *o;
    cbi_findings *findings;
    size_t count;
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
    return c->o->shoff + (uint64_t)section * sizeof(Elf64_Shdr);
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
