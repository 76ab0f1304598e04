#include "input/host.h"

#include "input/elf.h"
#include "input/fatbin.h"

/* Names of variables that host code refers to. */
static void read_variables(cbi_host_object *host, const cbi_elf_section *s)
{
    static const char *const names[] = {".nvHRDE", ".nvHRDI", ".nvHRCE", ".nvHRCI"};
    for (size_t i = 0; i < CBI_COUNT(names); i++)
        if (strcmp(s->name, names[i]) == 0)
            host->variables[i] = s->data;
}

bool cbi_host_read(cbi_span bytes, cbi_host_object *ret_host, const char **ret_damage)
{
    cbi_elf elf;
    if (!cbi_elf_open(bytes, &elf)) {
        *ret_damage = elf.damage;
        return false;
    }
    if (elf.class->narrow && !cbi_elf_is_whole(&elf)) {
        *ret_damage = "a section is outside of the file";
        return false;
    }
    cbi_host_object host = {0};
    bool segment = false, rdc = false, linked = false;
    for (uint32_t i = 1; i < elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&elf, i);
        /* Most sections of a host object are not ours: look closer at .nv* and __nv* only. */
        if (strncmp(s.name, ".nv", 3) != 0 && strncmp(s.name, "__nv", 4) != 0)
            continue;
        if (strcmp(s.name, ".nvFatBinSegment") == 0) {
            segment = true;
        } else if (strcmp(s.name, "__nv_relfatbin") == 0 && !rdc) {
            rdc = true;
            host.fatbin = s.data;
        } else if (strcmp(s.name, ".nv_fatbin") == 0) {
            linked = true;
        } else if (strcmp(s.name, "__nv_module_id") == 0 && !host.has_module_id) {
            host.has_module_id = true;
            host.module_id = s.data;
        } else if (strcmp(s.name, ".nvHRKE") == 0) {
            host.external_kernels = s.data;
        } else if (strcmp(s.name, ".nvHRKI") == 0) {
            host.internal_kernels = s.data;
        } else {
            read_variables(&host, &s);
        }
    }
    host.has_device_code = rdc || linked;
    if (!segment)
        host.kind = CBI_HOST_PLAIN;
    else if (rdc)
        host.kind = cbi_is_fatbin(host.fatbin) ? CBI_HOST_RDC : CBI_HOST_NO_CODE;
    else
        host.kind = linked ? CBI_HOST_PLAIN : CBI_HOST_NO_CODE;
    *ret_host = host;
    return true;
}

const char *cbi_next_module_id(cbi_ctx *ctx, cbi_span ids, size_t *pos)
{
    if (*pos >= ids.size)
        return NULL;
    const char *id = (const char *)ids.data + *pos;
    size_t len = strnlen(id, ids.size - *pos);
    *pos += len;
    while (*pos < ids.size && ids.data[*pos] == 0)
        ++*pos;
    return cbi_strndup(ctx, id, len);
}

bool cbi_host_is_linked(cbi_ctx *ctx, const cbi_host_object *host)
{
    size_t pos = 0;
    const char *first = cbi_next_module_id(ctx, host->module_id, &pos);
    return first && cbi_after(first, CBI_LINKED_ID);
}
