/* Shared by the files of the input stage that add things to the collection. */
#ifndef CBI_COLLECT_H
#define CBI_COLLECT_H

#include <sys/types.h>

#include "input/host.h"
#include "input/input.h"

/* A unit of the link: a bare cubin, a fatbin, or a host object with relocatable device code. */
typedef struct cbi_module {
    const char *file;
    const char *const *ids;
    size_t id_count;
    bool device_runtime;
    bool has_image;
    bool is_lto;    /* the image is LTO-IR */
    bool is_fatbin; /* ... in a fatbin of one entry */
    cbi_span image;
    const cbi_object *object; /* its model if it has been read, or NULL */
    struct cbi_mapping *own;  /* see cbi_link_input */
    bool absent;              /* a place kept for what may come */
} cbi_module;

typedef struct cbi_library {
    const char *path;
    cbi_span bytes;
    dev_t device;
    ino_t inode;
} cbi_library;

/* Where a device image comes from. */
typedef struct cbi_origin {
    const char *file; /* as named in messages */
    bool member;      /* of an archive */
    const cbi_host_object *host;
} cbi_origin;

struct cbi_member;

struct cbi_inputs {
    cbi_ctx *ctx;
    cbi_input_options options;
    CBI_VEC(cbi_module) modules;
    CBI_VEC(cbi_library) libraries;     /* found for -l, in order */
    CBI_VEC(cbi_library) seen_archives; /* an archive is read once */
    CBI_VEC(cbi_ptx_run) ptx_runs;
    CBI_VEC(struct cbi_ptx_job *) queue; /* PTX to be compiled */
    size_t library_searches;             /* -l so far */
    bool folders_indexed;
    cbi_name_table library_index; /* file name -> folders; search.c */
    CBI_VEC(uint32_t) unlisted_folders;
    cbi_strings linked_ids; /* "def ID": modules of an earlier device link */
    cbi_strings external_kernels;
    cbi_strings internal_kernels;
    cbi_strings host_variables;
    bool has_kernel_pattern; /* of an input other than libcudadevrt */
    bool forbid_patterns;    /* an input whose host references are not known */
    bool any_module;         /* libcudadevrt counts only after one */
    size_t fatbins;          /* looked at so far */
    bool seen_mercury;
    bool seen_ewp; /* a cubin of ptxas -ewp: later ones must be of this toolkit */
    bool warned_limit;
    bool lacks_compiler;
    bool lto_lines;              /* LTO-IR with line information is among the modules */
    bool lto_no_lines;           /* and LTO-IR of a fatbin without it */
    const char *const *streamed; /* paths of cbi_inputs_stream() */
};

bool cbi_names_device_runtime(const char *file);

struct stat;
/* The path of the next folder's file of that name, from folder *next on, which moves behind it;
 * NULL when there is no more. */
const char *cbi_find_in_folders(cbi_inputs *in, const char *file, size_t *next,
                                struct stat *ret_st);

/* nvlink stops at the next container once something was reported as an error. */
void cbi_inputs_stop_after_errors(cbi_inputs *in, const char *text);

/* Two fatal lines, as nvlink prints them when one of its layers gives up on another. */
CBI_NORETURN void cbi_inputs_fatal_pair(cbi_ctx *ctx, const char *id, const char *file,
                                        const char *help, const char *first, const char *second);

/* nvlink has no room for the name of a virtual architecture with three digits. */
void cbi_inputs_check_virtual_name(cbi_inputs *in, uint32_t sm);

/* Adds a module; image NULL if nothing of it is linked. */
void cbi_inputs_add_module(cbi_inputs *in, const cbi_origin *origin, const cbi_span *image);

/* nvlink passes over such an input in silence. */
void cbi_inputs_report_nothing(cbi_inputs *in, const char *file, const char *why);

/* A bare cubin: checks, then a module. */
void cbi_inputs_add_cubin(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes);
/* A fatbin: choice of the image, then as above. */
void cbi_inputs_add_fatbin(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes);
/* A file ending in .ptx, or PTX text. */
void cbi_inputs_add_ptx_file(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes);
void cbi_inputs_add_host_object(cbi_inputs *in, const char *file, cbi_span bytes, bool member);
/* False if there is a reason not to look at all of it; messages have told more. */
bool cbi_inputs_add_archive(cbi_inputs *in, const char *path, cbi_span bytes);
void cbi_inputs_add_ltoir(cbi_inputs *in, const char *file, cbi_span bytes);
/* Adds a module of LTO-IR. */
void cbi_inputs_add_lto_module(cbi_inputs *in, const cbi_origin *origin, cbi_span image,
                               bool is_fatbin);

/* May the image be linked?  Reports and does not return if nvlink would stop; false if the image
 * is to be dropped. */
typedef enum cbi_admission {
    CBI_ADMITTED,
    CBI_DROPPED_LINKED, /* an executable device ELF */
    CBI_DROPPED_DAMAGED
} cbi_admission;
cbi_admission cbi_admit_cubin(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes,
                              bool embedded);

/* Is the cubin's architecture right for the target?  Reports nothing. */
bool cbi_cubin_fits(const cbi_inputs *in, cbi_span bytes);

/* PTX text to be compiled for the target and added in this place.  What it lacks is reported. */
void cbi_inputs_queue_ptx(cbi_inputs *in, const cbi_origin *origin, cbi_span text,
                          cbi_span entry_options, bool from_entry);

/* PTX text to be compiled of which only the assembler's messages are wanted: errors end the link.
 * Nothing happens where there is no assembler. */
void cbi_inputs_try_ptx(cbi_inputs *in, const cbi_origin *origin, cbi_span text,
                        cbi_span entry_options);
/* Compiles what is in the queue. */
void cbi_inputs_compile(cbi_inputs *in);
/* Admits a compiled image and fills the place that was kept for it. */
void cbi_inputs_add_compiled(cbi_inputs *in, const cbi_origin *origin, cbi_span image,
                             size_t place);

/* The bytes of an archive member; in a thin archive those of the file that it names. */
cbi_span cbi_member_bytes(cbi_inputs *in, const char *archive, bool thin,
                          const struct cbi_member *member);

/* The first word of a PTX input's own options that is not known to be harmless; NULL: none. */
const char *cbi_refused_ptx_option(const cbi_strings *words);

#endif
