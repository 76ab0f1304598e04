/* The device images of the files on a command line: looked at by several threads, told in order. */
#ifndef CUBIND_IMAGES_H
#define CUBIND_IMAGES_H

#include "cubind/inspect.h"

#include "out.h"
#include "tree.h"

/* Exit codes of the inspectors. */
enum { CBI_EXIT_CLEAN = 0, CBI_EXIT_FINDINGS = 1, CBI_EXIT_UNREADABLE = 2 };

/* The exit code is the gravest of everything found. */
static inline void cbi_raise_exit(int *exit_code, int code)
{
    if (code > *exit_code)
        *exit_code = code;
}

/* What became of one image. */
typedef struct cbi_seen {
    const cb_image_info *info;
    size_t number;  /* of the image in its file */
    cbi_out out;    /* for stdout */
    cbi_out errors; /* for stderr */
    int exit_code;
    size_t counts[2]; /* for the command's own use */
    void *data;       /* likewise */
} cbi_seen;

typedef struct cbi_viewer {
    const char *command; /* "dump" */
    bool every_kind;     /* PTX, LTO-IR and others as well as machine code */
    int damage_exit;     /* exit code of images that cannot be opened; 0: CBI_EXIT_UNREADABLE */
    unsigned threads;    /* 0: as many as there are cores */
    /* NULL: all.  Is it to be looked at? */
    bool (*wants)(const cb_image_info *info, size_t number, void *user);
    /* Looks at an image and keeps what is to be told; may run in several threads at once. */
    void (*look)(cb_image *image, cbi_seen *seen, void *user);
    /* In the order of the file, in one thread, before out and errors are written; may be NULL. */
    void (*tell)(cbi_seen *seen, void *user);
    void *user;
} cbi_viewer;

/* Shows the images of a file; "-" is the standard input.  What cannot be opened, is no device ELF
 * where machine code is wanted, or ran out of memory is said on stderr as "cubind COMMAND: ..." and
 * makes the result CBI_EXIT_UNREADABLE; else it is the gravest of the images'.  A file without
 * machine code is said, too. */
int cbi_view_file(const cbi_viewer *viewer, const char *path);

/* The same for a container that is open: nothing is said of what it is. */
int cbi_view_container(const cbi_viewer *viewer, const char *path, cb_container *container);

/* Opens a container, "-" from standard input; NULL after a message.  ret_damaged: damage was
 * said. */
cb_container *cbi_open_container(const char *command, const char *path, bool *ret_damaged);

/* Says that a file holds no machine code, and what instead.  False: it is of no known kind. */
bool cbi_say_contents(const char *command, const char *path, const cb_container *container);

/* Is an image for "sm_90", or for "90" whatever its kind? */
bool cbi_is_arch(const cb_image_info *info, const char *arch);

/* Does it name targets like that, known ones or not? */
bool cbi_is_arch_text(const char *text);

/* A file name for an image of the file `path`, without folder: "libx.a.m.o.3.sm_90.cubin". */
const char *cbi_image_file_name(cbi_store *store, const cb_image_info *info, size_t number,
                                const char *path);

/* Why a handle could not be had. */
const char *cbi_status_reason(cb_status status);

/* A number of threads from an option; false if it is none. */
bool cbi_read_threads(const char *text, unsigned *ret_threads);

/* Puts findings into a document, each as an object; notes only if asked for. */
void cbi_put_damage(cbi_store *store, cbi_node *document, cb_image *image);
void cbi_put_finding(cbi_store *store, cbi_node *list, const cb_finding *finding);

/* Writes a buffer to stdout; exits with CBI_EXIT_UNREADABLE if stdout fails. */
void cbi_flush_text(const char *command, cbi_out *out);

#endif
