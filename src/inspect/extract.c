#include "inspect/extract.h"

#include <errno.h>

#include "base/output_file.h"

bool cbi_extract_wants(cbi_ctx *ctx, const cbi_extract_filter *filter, const cbi_slice *slice,
                       size_t number)
{
    if (filter->has_number && number != filter->number)
        return false;
    if (filter->has_kind && slice->kind != filter->kind)
        return false;
    if (!filter->arch)
        return true;
    const char *arch = cbi_slice_arch(ctx, slice);
    const char *figures = strchr(arch, '_');
    return strcmp(arch, filter->arch) == 0 || (figures && strcmp(figures + 1, filter->arch) == 0);
}

cbi_node *cbi_extract_row(cbi_ctx *ctx, const cbi_slice *slice, size_t number)
{
    const cbi_fatbin_entry *entry = &slice->entry;
    cbi_node *row = cbi_node_object(ctx);
    cbi_node_uint(ctx, row, "number", number);
    cbi_node_string(ctx, row, "kind", cbi_slice_kind_name(slice->kind));
    cbi_node_string(ctx, row, "arch", cbi_slice_arch(ctx, slice));
    cbi_node_string(ctx, row, "compression", cbi_compression_name(entry->compression));
    cbi_node_uint(ctx, row, "stored", entry->payload.size);
    cbi_node_uint(ctx, row, "size", entry->size);
    cbi_node_hex(ctx, row, "offset", slice->offset);
    cbi_node_string(ctx, row, "file", slice->file);
    cbi_node_string(ctx, row, "section", slice->section);
    if (slice->bare)
        cbi_node_null(ctx, row, "fatbin");
    else
        cbi_node_uint(ctx, row, "fatbin", slice->fatbin);
    cbi_node_hex(ctx, row, "flags", entry->flags);
    if (entry->ident.size)
        cbi_node_string(ctx, row, "identifier",
                        cbi_strndup(ctx, (const char *)entry->ident.data, entry->ident.size));
    else
        cbi_node_null(ctx, row, "identifier");
    return row;
}

const char *cbi_extract_name(cbi_ctx *ctx, const cbi_slice *slice, size_t number)
{
    static const char *const endings[] = {"cubin", "ptx", "ltoir", "bin"};
    const char *colon = strchr(slice->file, ':');
    size_t path_len = colon ? (size_t)(colon - slice->file) : strlen(slice->file);
    size_t start = path_len;
    while (start && slice->file[start - 1] != '/')
        start--;
    const char *arch = cbi_slice_arch(ctx, slice);
    char *name = cbi_printf(ctx, "%s.%zu%s%s.%s", slice->file + start, number, *arch ? "." : "",
                            arch, endings[slice->kind]);
    /* Member names come from the input: nothing in them may lead elsewhere. */
    for (char *s = name; *s; s++)
        if (*s == '/' || *s == ':' || (unsigned char)*s < ' ' || *s == 0x7f)
            *s = '.';
    size_t dots = strspn(name, ".");
    return name + dots;
}

cbi_extract_result cbi_extract_write(cbi_ctx *ctx, const cbi_slice *slice, size_t number,
                                     const char *folder, cbi_scratch *scratch)
{
    cbi_span image = {NULL, 0};
    cbi_load load = cbi_slice_load(ctx, slice, scratch, &image);
    if (load == CBI_LOAD_OBFUSCATED) {
        image = slice->entry.payload;
    } else if (load != CBI_LOAD_OK) {
        cbi_error(ctx, "image-damaged", &(cbi_place){.file = slice->file}, NULL,
                  "'%s': image %zu cannot be taken out: %s", slice->file, number,
                  cbi_load_text(load));
        return CBI_EXTRACT_FAILED;
    }
    const char *path = cbi_printf(ctx, "%s/%s", folder, cbi_extract_name(ctx, slice, number));
    errno = 0;
    if (cbi_write_output(path, image.data, image.size) != CBI_OUTPUT_OK) {
        /* a name may be at fault, and other images have others */
        bool name = errno == ENAMETOOLONG || errno == EINVAL || errno == EILSEQ ||
                    errno == EISDIR || errno == ELOOP;
        cbi_report(ctx, name ? CB_SEV_ERROR : CB_SEV_FATAL, "output-file",
                   &(cbi_place){.file = path}, NULL, "Could not write output file '%s': %s", path,
                   errno ? strerror(errno) : "it could not be completed");
        return CBI_EXTRACT_FAILED;
    }
    return load == CBI_LOAD_OK ? CBI_EXTRACT_WRITTEN : CBI_EXTRACT_AS_STORED;
}
