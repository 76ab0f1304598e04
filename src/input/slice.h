/* What the input stage hands to the link: device ELFs in link order, and the names the host uses.
 */
#ifndef CBI_SLICE_H
#define CBI_SLICE_H

#include "object/object.h"

/* One device ELF to link. */
typedef struct cbi_link_input {
    const char *file; /* as named in messages: path or "archive:member" */
    cbi_span bytes;
    bool device_runtime; /* comes from libcudadevrt: merged only if an earlier input needs it */
    const cbi_object *object; /* the model of the bytes if it has been read, or NULL */
    struct cbi_mapping *own;  /* the file that the bytes are all of, and nobody else's; or NULL */
    bool no_code; /* libcudadevrt without code for the target: no bytes, but it may be needed */
} cbi_link_input;

/* Files of which each is read when the link takes it: about what comes later nothing has to be
 * known before. */
typedef struct cbi_input_stream {
    const char *const *paths;
    size_t count;
    uint64_t worth; /* of reading them, to cbi_parallel() */
    void *user;
    /* Reads a file, in any thread and order; empty where that is left to `add`. */
    cbi_span (*read)(cbi_ctx *ctx, void *user, size_t i);
    /* Says what is to be said of the file and returns what it brings, as a rule itself: one after
     * the other, each when it was read. */
    const cbi_link_input *(*add)(void *user, size_t i, size_t *ret_count);
    /* All were added. */
    void (*end)(void *end_user);
    void *end_user;
} cbi_input_stream;

/* Name patterns ('*' matches any run) from the host objects' reference sections. */
typedef struct cbi_host_patterns {
    bool active; /* at least one kernel pattern and no input that forbids pruning */
    const char *const *external_kernels;
    size_t external_kernel_count;
    const char *const *internal_kernels;
    size_t internal_kernel_count;
} cbi_host_patterns;

#endif
