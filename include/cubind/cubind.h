/* cubind.h: the public interface of libcubind.  Plain C99, usable from C++.
 *
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#ifndef CUBIND_CUBIND_H
#define CUBIND_CUBIND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of every call that can fail.  The numbers never change. */
typedef enum cb_status {
    CB_OK = 0,
    CB_ERR_USAGE = 1,       /* an argument or option makes no sense */
    CB_ERR_NOMEM = 2,       /* allocation failed or the memory limit was reached */
    CB_ERR_IO = 3,          /* a file could not be opened, read or written */
    CB_ERR_FORMAT = 4,      /* damaged or unknown input */
    CB_ERR_LINK = 5,        /* the inputs do not link: errors were reported */
    CB_ERR_UNSUPPORTED = 6, /* needs something this build does not have, e.g. a compiler back end */
    CB_ERR_FATAL = 7        /* a fatal diagnostic stopped the work at once */
} cb_status;

/* How grave a diagnostic is.  The numbers never change. */
typedef enum cb_severity {
    CB_SEV_INFO = 0,
    CB_SEV_WARNING = 1,
    CB_SEV_ERROR = 2,
    CB_SEV_FATAL = 3
} cb_severity;

/* One diagnostic.  Strings are NULL when they do not apply and live only during the callback. */
typedef struct cb_diagnostic {
    size_t struct_size; /* sizeof(cb_diagnostic) of the library */
    cb_severity severity;
    const char *id;      /* stable identifier, e.g. "undefined-reference" */
    const char *message; /* the text without the program prefix */
    const char *help;    /* more help, possibly several lines; NULL if none */
    const char *file;    /* input as named by the user; archive members as "archive:member" */
    const char *section;
    const char *symbol;
    uint64_t offset; /* byte offset in the section or file; UINT64_MAX when it does not apply */
} cb_diagnostic;

/* Receives diagnostics in the order in which they are found. */
typedef void (*cb_diagnostic_fn)(void *user, const cb_diagnostic *diagnostic);

#ifdef __cplusplus
}
#endif
#endif
