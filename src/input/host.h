/* What a host object file carries for the device link. */
#ifndef CBI_HOST_H
#define CBI_HOST_H

#include "base/base.h"

/* What an identifier of a module begins with that a device link has linked. */
#define CBI_LINKED_ID "def "

typedef enum cbi_host_kind {
    CBI_HOST_PLAIN,  /* no device code to link, or already linked */
    CBI_HOST_RDC,    /* relocatable device code in `fatbin` */
    CBI_HOST_NO_CODE /* says that it has device code, but there is none */
} cbi_host_kind;

typedef struct cbi_host_object {
    cbi_host_kind kind;
    cbi_span fatbin;
    bool has_module_id;
    cbi_span module_id;        /* NUL-terminated strings of __nv_module_id */
    cbi_span external_kernels; /* .nvHRKE */
    cbi_span internal_kernels; /* .nvHRKI */
    cbi_span variables[4];     /* .nvHRDE, .nvHRDI, .nvHRCE, .nvHRCI: names of variables */
    bool has_device_code;      /* any of the sections for device code is there */
} cbi_host_object;

/* Reads the sections of a host ELF.  False, with *ret_damage set, if it is no readable ELF64. */
bool cbi_host_read(cbi_span bytes, cbi_host_object *ret_host, const char **ret_damage);

/* The next identifier of __nv_module_id at *pos; NULL at the end.  Zeros behind one, with which
 * `ld -r` aligns the next object's, do not count; the first may be empty. */
const char *cbi_next_module_id(cbi_ctx *ctx, cbi_span ids, size_t *pos);

/* Does it name the modules of an earlier device link, each with "def " before? */
bool cbi_host_is_linked(cbi_ctx *ctx, const cbi_host_object *host);

#endif
