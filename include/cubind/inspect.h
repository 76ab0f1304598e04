/* inspect.h: looking into device code.  Plain C99, usable from C++.
 *
 * A container is any file that holds device code: a cubin, a fatbin, a host object, program or
 * library, an archive of those, PTX, LTO-IR.  It lists its images; one of them is opened and asked
 * for its tables:
 *
 *     cb_container *file;
 *     if (cb_container_open(NULL, "libx.so", &file) == CB_OK) {
 *         for (size_t i = 0; i < cb_container_count(file); i++) {
 *             cb_image *image;
 *             if (cb_image_open(file, i, &image) != CB_OK)
 *                 continue;
 *             for (size_t k = 0; k < cb_image_function_count(image); k++)
 *                 puts(cb_image_function(image, k)->name);
 *             cb_image_close(image);
 *         }
 *         cb_container_close(file);
 *     }
 *
 * Besides the rules of cubind.h:
 *   - Life.  Everything that a handle gives (records, strings, bytes) belongs to it, must not be
 *     changed, and lives until the handle is closed.  An image lives on when its container is
 *     closed; a diff keeps nothing of its images.
 *   - Tables are made when they are first asked for.  cb_image_X_count says how many records there
 *     are, cb_image_X gives one, NULL past the end.  If a table cannot be made (out of memory, or
 *     the file shrank) it is empty, and cb_image_status, CB_OK until then, says why.
 *   - Memory.  A container keeps a list of its images and maps its file.  An image from a file
 *     keeps a copy of its bytes (decompressed where they were compressed) and the tables that were
 *     asked for; the pages of the file are given back.  So the images that are open at one time are
 *     what costs.
 *   - Threads.  One handle is used by one thread at a time.  cb_image_open only reads its
 *     container: any number of threads may open images of one container at the same time.  The
 *     allocator and the diagnostic callback are then called from all of these.
 *   - Damage.  Every table is as long as what could be read; no index in a record is out of range
 *     unless its comment says so.
 *   - Names come from the file and are any bytes but NUL.
 *   - Handles are what an open function gave and nobody has closed.  NULL is none, but for the
 *     functions that close.
 *
 * What is stable: [stable] keeps its meaning and its binary form through all versions of one major
 * number (from 1.0 on; before, of one minor number).  Records grow at their end only.  [unstable]
 * follows what is known of the format and may change with any version.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CUBIND_INSPECT_H
#define CUBIND_INSPECT_H

#include <cubind/cubind.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: grows by one when something is added. */
#define CB_INSPECT_VERSION 1

/* No such section, symbol, function or fatbin. */
#define CB_NONE UINT32_MAX

/* ---- containers [stable] ---- */

typedef struct cb_inspect_options {
    size_t struct_size;             /* sizeof(cb_inspect_options) of the caller */
    cb_diagnostic_fn on_diagnostic; /* NULL drops diagnostics */
    void *on_diagnostic_user;
    cb_allocator allocator;
    size_t memory_limit; /* most bytes of each handle; 0 = no limit.  Mapped files do not count */
} cb_inspect_options;

/* What a file is.  The numbers never change. */
typedef enum cb_content {
    CB_CONTENT_EMPTY = 0,
    CB_CONTENT_UNKNOWN = 1,
    CB_CONTENT_CUBIN = 2,
    CB_CONTENT_HOST_OBJECT = 3, /* relocatable ELF of a host */
    CB_CONTENT_HOST_LINKED = 4, /* shared library or program of a host */
    CB_CONTENT_ARCHIVE = 5,
    CB_CONTENT_FATBIN = 6,
    CB_CONTENT_PTX = 7,
    CB_CONTENT_LTOIR = 8,
    CB_CONTENT_BITCODE = 9 /* LLVM bitcode */
} cb_content;

/* With an article, for messages: "a cubin".  Static storage, never NULL. */
CB_API const char *cb_content_text(cb_content content);

typedef enum cb_image_kind {
    CB_IMAGE_CUBIN = 0,
    CB_IMAGE_PTX = 1,
    CB_IMAGE_LTOIR = 2,
    CB_IMAGE_OTHER = 3 /* an entry of a kind that is not known */
} cb_image_kind;

/* "cubin", "ptx", "ltoir", "other".  Static storage, never NULL. */
CB_API const char *cb_image_kind_name(cb_image_kind kind);

typedef enum cb_compression {
    CB_COMPRESSION_NONE = 0,
    CB_COMPRESSION_LZ4 = 1,
    CB_COMPRESSION_ZSTD = 2,
    CB_COMPRESSION_UNKNOWN = 3
} cb_compression;

/* "none", "lz4", "zstd", "unknown".  Static storage, never NULL. */
CB_API const char *cb_compression_text(cb_compression compression);

/* One image in the list of a container. */
typedef struct cb_image_info {
    cb_image_kind kind;
    cb_compression compression;
    const char *file;       /* the path as given, ":" and the member behind it in an archive */
    const char *section;    /* of the host file that it lies in, or NULL */
    uint32_t fatbin;        /* number of its fatbin in the container; CB_NONE: it is in no fatbin */
    uint32_t sm;            /* 90; 0: not known */
    char suffix;            /* 'a', 'f' or 0 */
    const char *arch;       /* "sm_90a", "compute_90", "lto_90"; "" if not known */
    uint64_t offset;        /* of the entry, or of an image in no fatbin, in the file */
    uint64_t stored;        /* bytes as stored */
    uint64_t size;          /* bytes once decompressed, as the entry says */
    uint64_t flags;         /* of the fatbin entry */
    uint16_t version_major; /* of the contents, as the fatbin entry or they themselves say: ... */
    uint16_t version_minor; /* ... ELF's own, PTX's language (9.0), LTO-IR's form (1.65) */
    const char *identifier; /* name of the source that the compiler recorded, or NULL */
    int obfuscated;         /* LTO-IR that its maker hides: opened as it is stored */
} cb_image_info;

typedef struct cb_container cb_container;

/* Opens a file and lists its images.  options may be NULL.  A file of any kind will do: what holds
 * no device code has no images, and cb_container_content says what it is.  Damage is reported as
 * diagnostics, and what lies behind it is listed as far as possible.  CB_ERR_IO: the file cannot be
 * read; errno says why.  CB_ERR_USAGE: struct_size of no known version.  CB_ERR_NOMEM. */
CB_API cb_status cb_container_open(const cb_inspect_options *options, const char *path,
                                   cb_container **ret_container);

/* The same for bytes, which are borrowed and must live as long as the container and its images.
 * `name` takes the place of the path and is copied. */
CB_API cb_status cb_container_open_memory(const cb_inspect_options *options, const char *name,
                                          const void *data, size_t size,
                                          cb_container **ret_container);

/* NULL is fine. */
CB_API void cb_container_close(cb_container *container);

CB_API cb_content cb_container_content(const cb_container *container);

/* How often damage was reported while the images were listed. */
CB_API size_t cb_container_error_count(const cb_container *container);

/* The bytes of the whole file. */
CB_API void cb_container_bytes(const cb_container *container, const void **ret_data,
                               size_t *ret_size);

CB_API size_t cb_container_count(const cb_container *container);
CB_API const cb_image_info *cb_container_info(const cb_container *container, size_t index);

/* ---- images [stable] ---- */

typedef struct cb_image cb_image;

/* What could be read of an image. */
typedef enum cb_image_state {
    CB_STATE_SOUND = 0,      /* a device ELF whose structure holds */
    CB_STATE_DAMAGED = 1,    /* a device ELF with findings; tables hold what could be read */
    CB_STATE_UNREADABLE = 2, /* a device ELF without a usable section table: no tables */
    CB_STATE_NOT_ELF = 3,    /* bytes only: PTX, LTO-IR, or what calls itself a cubin and is none */
    CB_STATE_NOT_DEVICE = 4  /* an ELF file of another machine: bytes only */
} cb_image_state;

/* Opens image `index` of a container: takes a copy of it, decompressed.  CB_ERR_FORMAT: it cannot
 * be decompressed; a diagnostic ("image-damaged") says why.  CB_ERR_USAGE: no such image.
 * CB_ERR_NOMEM; CB_ERR_IO: the file became shorter. */
CB_API cb_status cb_image_open(const cb_container *container, size_t index, cb_image **ret_image);

/* Opens bytes as one image, without a container.  They are borrowed. */
CB_API cb_status cb_image_open_memory(const cb_inspect_options *options, const char *name,
                                      const void *data, size_t size, cb_image **ret_image);

/* NULL is fine. */
CB_API void cb_image_close(cb_image *image);

CB_API cb_image_state cb_image_get_state(const cb_image *image);

/* The file, and within a fatbin also the number of the image and its target: "libx.so:3.sm_90". */
CB_API const char *cb_image_name(const cb_image *image);

/* The row of the container's list; of cb_image_open_memory one made up. */
CB_API const cb_image_info *cb_image_get_info(const cb_image *image);

CB_API void cb_image_bytes(const cb_image *image, const void **ret_data, size_t *ret_size);

/* Writes the bytes to a file, all or nothing.  CB_ERR_IO, with errno. */
CB_API cb_status cb_image_write_file(const cb_image *image, const char *path);

/* CB_OK, or why a table could not be made or a name not be shown. */
CB_API cb_status cb_image_status(const cb_image *image);

/* The readable form of a mangled C++ name, in the style of the CUDA tools; `name` itself, or a
 * copy, if it is none.  Belongs to the image.  What cannot be had for want of memory is as it was.
 */
CB_API const char *cb_image_demangle(cb_image *image, const char *name);

/* ---- header, segments, sections, symbols [stable] ---- */

/* From sm_100 on code is there twice: as SASS, and as the Mercury form that it was made from. */
typedef enum cb_view { CB_VIEW_SASS = 0, CB_VIEW_MERCURY = 1 } cb_view;

typedef struct cb_header {
    uint16_t type;         /* e_type */
    const char *type_name; /* "relocatable", "executable", "extensible-whole-program", or NULL */
    uint32_t sm;           /* 90 */
    uint8_t osabi;         /* 0x41, or 0x33 before toolkit 12.8 */
    uint8_t abi_version;
    uint32_t version;        /* e_version */
    uint32_t flags;          /* e_flags */
    const char *kind;        /* "sass", "sass+capsule", "mercury", "unknown"; NULL for osabi 0x33 */
    uint32_t cuinfo_section; /* the section that e_flags name; may be out of range */
    uint64_t entry;
    uint64_t section_table; /* file offset */
    uint32_t section_count;
    uint32_t name_table; /* index of .shstrtab; may be out of range */
    uint64_t program_table;
    uint16_t program_entry_size;
    uint16_t program_count;
    uint64_t file_size;
    uint16_t toolkit;    /* times ten: 130 = 13.0; 0: not recorded */
    uint16_t virtual_sm; /* compute_NN that the code was compiled for; 0: not recorded */
    uint8_t elf_class;   /* bits of the ELF format: 64, or 32 in files for 32-bit hosts */
} cb_header;

/* NULL for what is no device ELF. */
CB_API const cb_header *cb_image_header(cb_image *image);

typedef struct cb_segment {
    uint32_t type, flags;
    uint64_t offset, address, file_size, memory_size, align;
} cb_segment;

CB_API size_t cb_image_segment_count(cb_image *image);
CB_API const cb_segment *cb_image_segment(cb_image *image, size_t index);

/* Sections have the numbers of the file: 0 is the null section. */
typedef struct cb_section {
    const char *name;
    uint32_t type;         /* sh_type */
    const char *type_name; /* "CUDA_INFO", or NULL */
    uint64_t flags;
    uint64_t offset, size;
    uint32_t link, info; /* as in the file; may be out of range */
    uint64_t align, entsize;
    const void *data; /* NULL if it has no bytes in the file */
    size_t data_size;
    cb_view view;
} cb_section;

CB_API size_t cb_image_section_count(cb_image *image);
CB_API const cb_section *cb_image_section(cb_image *image, size_t index);
/* The first section of that name; CB_NONE if there is none. */
CB_API uint32_t cb_image_find_section(cb_image *image, const char *name);

/* Symbols have the numbers of the file: 0 is the null symbol. */
typedef struct cb_symbol {
    const char *name;  /* "" if it has none */
    const char *shown; /* its name, that of its section, or "symbol N" */
    uint64_t value, size;
    uint8_t info, other;      /* st_info, st_other */
    const char *bind;         /* "local", "global", "weak", or a number */
    const char *type;         /* "none", "object", "function", "section", "texture", ... */
    const char *attributes;   /* memory space and flags of st_other, "global managed" */
    uint32_t section;         /* CB_NONE: undefined, absolute or common */
    const char *section_name; /* that of the section, "UNDEF", "ABS", "COMMON" */
} cb_symbol;

CB_API size_t cb_image_symbol_count(cb_image *image, cb_view view);
CB_API const cb_symbol *cb_image_symbol(cb_image *image, cb_view view, size_t index);

/* ---- relocations [stable] ---- */

/* Bits [first, first + width) of the little-endian number at the place get the source, shifted
 * right. */
typedef struct cb_reloc_field {
    uint8_t first, width, shift;
    const char *source; /* "V" is symbol plus addend; docs/format-tables.md has the others */
} cb_reloc_field;

typedef struct cb_relocation {
    uint32_t section; /* that holds the record */
    uint32_t target;  /* that is patched; CB_NONE if there is no such section */
    uint64_t offset;  /* in the target */
    uint32_t type;
    const char *name;        /* "R_CUDA_ABS32_LO_32"; NULL: not known */
    uint32_t symbol;         /* of the section's view; CB_NONE if there is no such symbol */
    const char *symbol_name; /* as cb_symbol.shown */
    int64_t addend;
    int has_addend; /* 0 in SHT_REL sections */
    int resolved;   /* a record of what a link did; nothing is left to do */
    cb_view view;
    const char *resolver; /* "linker", "either", "driver", "finalizer", "none" */
    size_t field_count;
    const cb_reloc_field *fields;
} cb_relocation;

/* In the order of the file. */
CB_API size_t cb_image_relocation_count(cb_image *image);
CB_API const cb_relocation *cb_image_relocation(cb_image *image, size_t index);

/* ---- attributes, notes [stable; layouts of single attributes unstable] ---- */

/* A parameter of a kernel. */
typedef struct cb_param {
    uint32_t ordinal;
    uint32_t offset; /* in the parameter area */
    uint32_t size;
    uint32_t log_align;
    const char *space;  /* "none", "global", "texture", ... */
    const char *symbol; /* of textures, samplers and surfaces; else NULL */
} cb_param;

/* How the contents of an attribute read. */
typedef enum cb_attr_layout {
    CB_ATTR_NOTHING = 0,         /* it is there */
    CB_ATTR_NUMBER = 1,          /* number */
    CB_ATTR_OPAQUE = 2,          /* data: no known layout */
    CB_ATTR_WORDS = 3,           /* words */
    CB_ATTR_DIM3 = 4,            /* words: x, y, z */
    CB_ATTR_SYMBOL_VALUE = 5,    /* symbols[0] and number */
    CB_ATTR_SYMBOLS = 6,         /* symbols */
    CB_ATTR_OFFSETS = 7,         /* words: offsets of instructions */
    CB_ATTR_OFFSET_PAIRS = 8,    /* words, two each: an offset and a value */
    CB_ATTR_PARAM_BANK = 9,      /* symbols[0], param.offset, param.size */
    CB_ATTR_PARAM = 10,          /* param */
    CB_ATTR_BRANCH_TARGETS = 11, /* number: the branch; words: its targets */
    CB_ATTR_REGISTER_MAPS = 12,  /* words, three each: offset, registers, mask */
    CB_ATTR_MBARRIERS = 13,      /* words, four each */
    CB_ATTR_ANNOTATION = 14      /* number: its kind; text */
} cb_attr_layout;

/* How an attribute is stored. */
typedef enum cb_attr_format {
    CB_FORMAT_NONE = 1,
    CB_FORMAT_BYTE = 2,
    CB_FORMAT_HALF = 3,
    CB_FORMAT_SIZED = 4
} cb_attr_format;

typedef struct cb_attribute {
    uint32_t section;  /* .nv.info, .nv.info.FUNCTION, or a Mercury counterpart */
    uint32_t function; /* symbol of the section's view whose section it is; CB_NONE: the module's */
    uint64_t at;       /* offset in the section */
    uint8_t code;
    const char *name; /* "EIATTR_REGCOUNT"; NULL: not known */
    cb_attr_format format;
    cb_attr_layout layout;
    cb_view view;
    uint64_t number;
    const void *data; /* payload of CB_FORMAT_SIZED */
    size_t data_size;
    const uint32_t *words;
    size_t word_count;
    const char *const *symbols; /* as cb_symbol.shown */
    size_t symbol_count;
    const char *text;
    cb_param param;
} cb_attribute;

/* In the order of the file. */
CB_API size_t cb_image_attribute_count(cb_image *image);
CB_API const cb_attribute *cb_image_attribute(cb_image *image, size_t index);

/* A record of .nv.compat: what the code asks of a linker, a finalizer, a driver. */
typedef struct cb_compat {
    uint8_t id;
    const char *name; /* "EICOMPAT_ISA_CLASS"; NULL: not known */
    cb_attr_format format;
    uint64_t value;
} cb_compat;

CB_API size_t cb_image_compat_count(cb_image *image);
CB_API const cb_compat *cb_image_compat(cb_image *image, size_t index);

typedef enum cb_note_kind {
    CB_NOTE_OTHER = 0,
    CB_NOTE_TOOL = 1,  /* who made the file: the members from object on */
    CB_NOTE_TARGET = 2 /* for what: version, virtual_sm, toolkit */
} cb_note_kind;

typedef struct cb_note {
    uint32_t section;
    uint32_t type;
    const char *owner; /* NULL if it is no string */
    const void *data;
    size_t data_size;
    cb_note_kind kind;
    uint32_t version;
    uint32_t virtual_sm;
    uint32_t toolkit; /* times ten */
    const char *object, *tool, *tool_version, *build, *options;
} cb_note;

CB_API size_t cb_image_note_count(cb_image *image);
CB_API const cb_note *cb_image_note(cb_image *image, size_t index);

/* ---- call graph, unified tables [stable] ---- */

typedef enum cb_call_kind {
    CB_CALL_DIRECT = 0,   /* from calls to */
    CB_CALL_TAKEN = 1,    /* the address of from is taken; to is its prototype */
    CB_CALL_INDIRECT = 2, /* from calls a pointer of prototype to */
    CB_CALL_TAKER = 3,    /* from takes the address of to */
    CB_CALL_PROTOTYPE = 4 /* from has the prototype to */
} cb_call_kind;

typedef struct cb_call {
    cb_call_kind kind;
    uint32_t from_symbol; /* CB_NONE if there is no such symbol */
    uint32_t to_symbol;   /* CB_NONE if `to` is a prototype, or there is no such symbol */
    const char *from;     /* as cb_symbol.shown */
    const char *to;       /* likewise, or a prototype; NULL: a prototype out of range */
} cb_call;

CB_API size_t cb_image_call_count(cb_image *image);
CB_API const cb_call *cb_image_call(cb_image *image, size_t index);

/* An entry of the tables of unified functions and variables. */
typedef struct cb_unified {
    uint32_t section;
    uint32_t kind;
    uint64_t offset;
    uint64_t id_low, id_high;
    const char *symbol; /* as cb_symbol.shown */
} cb_unified;

CB_API size_t cb_image_unified_count(cb_image *image);
CB_API const cb_unified *cb_image_unified(cb_image *image, size_t index);

/* ---- kernels and functions [stable] ---- */

typedef struct cb_function {
    const char *name; /* mangled; cb_image_demangle shows the other form */
    int kernel;       /* 1: can be launched; 0: a device function */
    uint32_t symbol;
    uint32_t section; /* of its code; CB_NONE if there is none */
    uint64_t offset;  /* of its code in the section */
    uint64_t code_size;
    const void *code;  /* NULL if the section has no bytes */
    int64_t registers; /* per thread; -1: not recorded */
    int64_t stack; /* bytes: of linked kernels along the deepest path of calls, else as `frame`; -1:
                      not known (recursion, indirect calls) */
    int64_t frame; /* bytes of its own frame; -1: not recorded */
    uint64_t shared;         /* bytes of static shared memory per block, alignment not counted */
    uint64_t local;          /* bytes of .nv.local */
    uint64_t constant;       /* bytes of its own constant banks, parameters among them */
    uint32_t barriers;       /* per block */
    uint32_t param_size;     /* bytes of all parameters */
    uint32_t param_base;     /* where the parameters start in constant bank 0 */
    uint32_t max_threads[3]; /* __launch_bounds__: x, y, z; 0: none */
    uint32_t required_threads[3]; /* threads per block, if fixed; 0: not */
    uint32_t max_registers;       /* limit that it was compiled with, all that is left of a bound on
                                     the blocks per SM; 0: none */
    uint32_t cluster[3];          /* blocks per cluster, if fixed; 0: not */
    int explicit_cluster;         /* it is to be launched with a cluster size */
    uint32_t max_cluster_rank;    /* __cluster_max__; 0: none */
    size_t param_count;
    const cb_param *params; /* by ordinal */
} cb_function;

/* Functions with code, in the order of the symbol table. */
CB_API size_t cb_image_function_count(cb_image *image);
CB_API const cb_function *cb_image_function(cb_image *image, size_t index);

/* The function of that name; NULL if there is none. */
CB_API const cb_function *cb_image_find_function(cb_image *image, const char *name);

/* The function whose code holds an offset of a section; NULL if none does. */
CB_API const cb_function *cb_image_function_at(cb_image *image, uint32_t section, uint64_t offset);

/* The section that a byte of the image lies in, and where; CB_NONE if it is in none. */
CB_API uint32_t cb_image_section_at(cb_image *image, uint64_t file_offset, uint64_t *ret_offset);

/* ---- source lines [stable] ---- */

typedef enum cb_line_table {
    CB_LINES_SOURCE = 0, /* .debug_line: lines of the program */
    CB_LINES_PTX = 1     /* .nv_debug_line_sass: lines of the PTX in .nv_debug_ptx_txt */
} cb_line_table;

/* A place in the source. */
typedef struct cb_frame {
    const char *function; /* mangled; NULL: not known */
    const char *file;     /* with its folder; "" if not known */
    uint32_t line;
} cb_frame;

/* A row of a line table: code from offset to end comes from this place. */
typedef struct cb_line {
    uint32_t section;
    uint32_t function; /* number of the function; CB_NONE: unknown */
    uint64_t offset, end;
    const char *file;
    uint32_t line;
    const char *inlined; /* the function that was inlined here, mangled; NULL: none was */
    uint32_t caller;     /* the row it was inlined at; CB_NONE: none */
} cb_line;

/* In the order of the file; rows that lead to no code are needed by others as callers. */
CB_API size_t cb_image_line_count(cb_image *image, cb_line_table table);
CB_API const cb_line *cb_image_line(cb_image *image, cb_line_table table, size_t index);

/* Where an instruction comes from: depth 0 is the innermost place, 1 the one it was inlined at, and
 * so on; NULL past the last, or if no line is recorded.  Belongs to the image until the next call.
 */
CB_API const cb_frame *cb_image_frame(cb_image *image, uint32_t section, uint64_t offset,
                                      unsigned depth);

/* ---- capsules [unstable] ---- */

/* What is stored beside the code from sm_100 on; docs/capsule.md. */
typedef struct cb_capsule_field {
    const char *name;
    uint64_t value; /* in the record */
    uint64_t sass;  /* the same in the code */
} cb_capsule_field;

typedef struct cb_capsule_entry {
    uint32_t index;
    uint64_t offset;  /* of the first instruction that it covers */
    uint32_t count;   /* instructions */
    const char *kind; /* "derived", "run", "record", "run-record" */
    int has_record;
    uint8_t record_class;
    uint8_t units;
    const void *record;
    size_t record_size;
    const cb_capsule_field *fields;
    size_t field_count;
} cb_capsule_entry;

typedef struct cb_capsule {
    uint32_t section;
    const char *function;
    uint32_t text; /* section of the code; CB_NONE if there is none */
    const char *text_name;
    unsigned version;
    uint32_t entry_count; /* as its header says */
    uint64_t bytes, text_bytes, mercury_bytes;
    uint64_t derived, runs, records;
    const char *error; /* what is wrong with it; NULL: nothing */
    const cb_capsule_entry *entries;
    size_t count; /* of entries that could be read */
} cb_capsule;

CB_API size_t cb_image_capsule_count(cb_image *image);
CB_API const cb_capsule *cb_image_capsule(cb_image *image, size_t index);

/* ---- check [stable; messages unstable] ---- */

typedef struct cb_rule {
    const char *id; /* never changes */
    const char *text;
    int note; /* what departs from it is no fault */
} cb_rule;

/* Every rule; NULL past the end.  Static storage. */
CB_API const cb_rule *cb_check_rule(size_t index);

typedef struct cb_finding {
    const char *rule;
    const char *message;
    const char *section; /* or NULL */
    const char *symbol;  /* or NULL */
    uint64_t offset;     /* in the image */
    int note;            /* departs from a rule that is not certain for this file; no fault */
} cb_finding;

/* What is wrong with the structure. */
CB_API size_t cb_image_damage_count(cb_image *image);
CB_API const cb_finding *cb_image_damage(cb_image *image, size_t index);

/* That, and if there is none, what is against the rules of the ABI. */
CB_API size_t cb_image_finding_count(cb_image *image);
CB_API const cb_finding *cb_image_finding(cb_image *image, size_t index);

/* ---- diff [stable; texts unstable] ---- */

#define CB_DIFF_SEMANTIC (UINT64_C(1) << 0) /* ignore the order of records and the layout */

/* docs/json.md explains the members; those that do not apply are NULL.  a or b is NULL for what
 * only the other side has. */
typedef struct cb_difference {
    const char *part, *section, *name, *field, *a, *b;
} cb_difference;

typedef struct cb_diff cb_diff;

/* Compares two images.  CB_ERR_FORMAT unless both are sound.  The diff is to be freed. */
CB_API cb_status cb_diff_create(cb_image *a, cb_image *b, uint64_t flags, cb_diff **ret_diff);
CB_API size_t cb_diff_count(const cb_diff *diff);
CB_API const cb_difference *cb_diff_get(const cb_diff *diff, size_t index);
/* NULL is fine. */
CB_API void cb_diff_free(cb_diff *diff);

#ifdef __cplusplus
}
#endif
#endif
