/* The rules that cbi_object_read() checks.  One row per rule drives the reader, `check
 * --list-rules` and the documents. */
#ifndef CBI_OBJECT_RULES_H
#define CBI_OBJECT_RULES_H

#include "object/object.h"

/* clang-format off */
#define CBI_OBJECT_RULES(X)                                                                              \
    X(HEADER_RANGE,      "header-range",      "the file is long enough for an ELF header")               \
    X(ELF_CLASS,         "elf-class",         "the ELF class is 32 or 64")                               \
    X(ELF_DATA,          "elf-data",          "device ELF files are little-endian")                      \
    X(ELF_VERSION,       "elf-version",       "e_ident says ELF version 1")                              \
    X(HEADER_SIZE,       "header-size",       "e_ehsize is 64, in class 32 it is 52")                    \
    X(SECTION_ENTSIZE,   "section-entsize",   "e_shentsize is 64, in class 32 it is 40")                 \
    X(SECTION_TABLE,     "section-table",     "the section header table lies inside the file")           \
    X(PROGRAM_ENTSIZE,   "program-entsize",   "e_phentsize is 56, in class 32 it is 32, when there are program headers") \
    X(PROGRAM_TABLE,     "program-table",     "the program header table lies inside the file")           \
    X(PROGRAM_RANGE,     "program-range",     "a segment's file bytes lie inside the file")              \
    X(NAME_TABLE,        "name-table",        "e_shstrndx names a string table")                         \
    X(SECTION_NAME,      "section-name",      "a section name ends inside the name table")               \
    X(SECTION_RANGE,     "section-range",     "a section's bytes lie inside the file")                   \
    X(SECTION_EXTENT,    "section-extent",    "sizes and alignments of sections are small enough to add") \
    X(SECTION_LINK,      "section-link",      "sh_link names a section of the right type")               \
    X(SECTION_INFO,      "section-info",      "sh_info names a section or symbol that exists")           \
    X(RECORD_SIZE,       "record-size",       "sh_entsize and sh_size suit the records of the type")     \
    X(SYMBOL_TABLES,     "symbol-tables",     "there is at most one symbol table of a kind")             \
    X(SYMBOL_NULL,       "symbol-null",       "symbol 0 has no name, type or section")                                       \
    X(SYMBOL_NAME,       "symbol-name",       "a symbol name ends inside the string table")              \
    X(SYMBOL_SECTION,    "symbol-section",    "st_shndx names a section or is a known special index")    \
    X(SYMBOL_RANGE,      "symbol-range",      "a symbol's value and size lie inside its section")        \
    X(SYMBOL_EXTENT,     "symbol-extent",     "sizes and alignments of symbols are small enough to add") \
    X(SYMBOL_ORDER,      "symbol-order",      "sh_info of a symbol table is at most its symbol count")   \
    X(RELOC_TARGET,      "reloc-target",      "sh_info of a relocation section names the patched section") \
    X(RELOC_SYMBOL,      "reloc-symbol",      "a relocation names a symbol that exists")                 \
    X(RELOC_OFFSET,      "reloc-offset",      "a relocation's place lies inside its target")             \
    X(ATTR_STREAM,       "attr-stream",       "an attribute stream consists of whole records")           \
    X(ATTR_SYMBOL,       "attr-symbol",       "an attribute that carries a symbol index names a symbol that exists") \
    X(CALLGRAPH_RECORD,  "callgraph-record",  "a call graph record names functions and prototypes that exist") \
    X(PROTOTYPE_RECORD,  "prototype-record",  "a prototype record names a function and a string that exist") \
    X(UNIFIED_RECORD,    "unified-record",    "a unified table record names a symbol that exists")       \
    X(SECTION_KIND,      "section-kind",      "a section has the flag of the side that its type belongs to, and a name of the type") \
    X(SECTION_NULL,      "section-null",      "section header 0 is empty but for extended counts")         \
    X(SECTION_OVERLAP,   "section-overlap",   "sections share bytes with no header, and with each other only as Mercury counterparts") \
    X(SECTION_ALIGNMENT, "section-alignment", "the alignment of a section is a power of two")              \
    X(SECTION_SELF,      "section-self",      "sh_link does not name the section itself")                  \
    X(SECTION_RECORDS,   "section-records",   "sh_entsize is the size of the type's records, or 0 where there are none") \
    X(SYMBOL_ALIGNMENT,  "symbol-alignment",  "the alignment of a common or shared variable is a power of two") \
    X(NOTE_RECORD,       "note-record",       "a note section consists of whole notes of their kinds")     \
    X(ATTR_SIZE,         "attr-size",         "an attribute has the format and payload size of its code")  \
    X(TOO_MANY_FINDINGS, "too-many-findings", "the list of findings was cut short")
/* clang-format on */

typedef enum cbi_object_rule {
#define CBI_RULE_ENUM(name, id, text) CBI_RULE_##name,
    CBI_OBJECT_RULES(CBI_RULE_ENUM)
#undef CBI_RULE_ENUM
} cbi_object_rule;

/* State of one read, shared by its steps. */
typedef struct cbi_object_reader {
    cbi_ctx *ctx;
    cbi_object *object;
    cbi_findings *findings; /* may be NULL */
    size_t count;           /* findings so far, kept or not */
} cbi_object_reader;

/* What both of the following add. */
cbi_finding cbi_object_finding_of(cbi_ctx *ctx, cbi_object_rule rule, uint64_t place,
                                  const char *section, const char *symbol, const char *format,
                                  va_list args) CBI_PRINTF(6, 0);

/* Adds a finding; place is a file offset, section and symbol may be NULL. */
void cbi_object_finding(cbi_object_reader *r, cbi_object_rule rule, uint64_t place,
                        const char *section, const char *symbol, const char *format, ...)
    CBI_PRINTF(6, 7);

/* Adds to the doubts of the object instead: damage that can be followed safely. */
void cbi_object_doubt(cbi_object_reader *r, cbi_object_rule rule, uint64_t place,
                      const char *section, const char *symbol, const char *format, ...)
    CBI_PRINTF(6, 7);

/* The strings of a table. */
typedef struct cbi_strings_table {
    cbi_span bytes;
    bool closed; /* they end in NUL: every offset inside starts one */
} cbi_strings_table;

static inline cbi_strings_table cbi_strings_in(cbi_span bytes)
{
    return (cbi_strings_table){bytes, bytes.size && bytes.data[bytes.size - 1] == 0};
}

/* NULL: the offset is outside, or the NUL is missing. */
static inline const char *cbi_string_at(const cbi_strings_table *table, uint64_t offset)
{
    if (table->closed && offset < table->bytes.size)
        return (const char *)table->bytes.data + offset;
    return cbi_span_string(table->bytes, offset);
}

/* True when nobody looks at further findings. */
static inline bool cbi_object_stop(const cbi_object_reader *r)
{
    return r->count > 0 && !r->findings;
}

/* The steps, in order; each trusts the ones before. */
void cbi_object_read_symbols(cbi_object_reader *r);
void cbi_object_check_sections(cbi_object_reader *r);
void cbi_object_doubt_sections(cbi_object_reader *r);

#endif
