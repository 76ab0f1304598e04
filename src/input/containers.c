/* From each kind of input to modules. */
#include "input/collect.h"

#include "base/files.h"
#include "format/cuda_elf.h"
#include "input/elf.h"
#include "input/fatbin.h"
#include "input/recognise.h"

static const char *lto_help(const cbi_inputs *in)
{
    return cbi_printf(in->ctx,
                      "%s, or compile to machine code as well, e.g. "
                      "nvcc -rdc=true -gencode arch=compute_90,code=sm_90",
                      in->options.names_fields ? "set CB_LINK_LTO in cb_link_options.flags"
                                               : "give -dlto (nvcc -dlto does)");
}

/* An input that is no host object may be used from anywhere, so the host references of the others
 * say nothing.  When modules are registered, nvlink forgets those without an image early enough. */
static void forbid_patterns(cbi_inputs *in, const cbi_origin *origin, bool kept)
{
    if (!origin->host && (kept || !in->options.register_names))
        in->forbid_patterns = true;
}

/* Admits an image and adds the module. */
static void add_image(cbi_inputs *in, const cbi_origin *origin, cbi_span image, bool embedded)
{
    switch (cbi_admit_cubin(in, origin, image, embedded)) {
    case CBI_ADMITTED:
        forbid_patterns(in, origin, true);
        cbi_inputs_add_module(in, origin, &image);
        break;
    case CBI_DROPPED_DAMAGED:
        /* nvlink still registers a container whose image it drops. */
        forbid_patterns(in, origin, embedded);
        if (embedded)
            cbi_inputs_add_module(in, origin, NULL);
        break;
    case CBI_DROPPED_LINKED:
        break;
    }
}

void cbi_inputs_add_compiled(cbi_inputs *in, const cbi_origin *origin, cbi_span image, size_t place)
{
    size_t count = in->modules.len;
    add_image(in, origin, image, true);
    if (in->modules.len > count) /* not dropped */
        in->modules.items[place] = in->modules.items[--in->modules.len];
}

void cbi_inputs_add_cubin(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes)
{
    add_image(in, origin, bytes, false);
}

CBI_NORETURN static void fatbin_error(cbi_ctx *ctx)
{
    cbi_fatal(ctx, "fatbin-error", NULL, NULL, "elfLink fatbinary error");
}

CBI_NORETURN static void fatbin_unknown(cbi_ctx *ctx, const char *file, const char *why)
{
    cbi_error(ctx, "fatbin-unknown", &(cbi_place){.file = file},
              why ? cbi_printf(ctx, "'%s': %s", file, why) : NULL,
              "Binary format for key='0', ident='' is not recognized");
    fatbin_error(ctx);
}

/* False if nvlink goes on without the image. */
static bool load_entry(cbi_inputs *in, const cbi_origin *origin, const cbi_fatbin_entry *entry,
                       cbi_span *ret_image)
{
    cbi_ctx *ctx = in->ctx;
    cbi_load load = cbi_fatbin_load(ctx, entry, NULL, ret_image);
    if (load == CBI_LOAD_OK)
        return true;
    const char *help =
        cbi_printf(ctx, "the entry for sm_%u at offset 0x%llx of the fatbin in '%s': %s", entry->sm,
                   (unsigned long long)entry->offset, origin->file, cbi_load_text(load));
    const cbi_place place = {.file = origin->file, .offset = entry->offset, .has_offset = true};
    cbi_error(ctx, "fatbin-uncompress", &place, help, "Uncompress failed");
    if (in->options.exact && entry->compression == CBI_LZ4) {
        /* nvlink prints the error but does not count it. */
        ctx->error_count--;
        return false;
    }
    if (in->options.exact && entry->compression == CBI_ZSTD && load == CBI_LOAD_DATA)
        cbi_error(ctx, "fatbin-uncompress", &place, help, "Uncompress failed");
    fatbin_error(ctx);
}

/* Architecture numbers that cannot be named stop nvlink. */
static void check_entries(cbi_inputs *in, cbi_fatbin fatbin)
{
    cbi_fatbin_entry entry;
    while (cbi_fatbin_next(&fatbin, &entry)) {
        bool known = cbi_fatbin_is_elf(&entry) || entry.kind == FATBIN_KIND_PTX ||
                     entry.kind == FATBIN_KIND_LTOIR;
        if (known && (entry.sm == 0 || entry.sm > 999)) {
            cbi_inputs_fatal_pair(in->ctx, "fatbin-arch", NULL, NULL, "Unknown arch name ''",
                                  "elfLink fatbinary error");
        }
    }
}

/* Bytes after the fatbin that hold another one are never looked at: say so. */
static void report_second_fatbin(cbi_inputs *in, const cbi_origin *origin, const cbi_fatbin *fatbin)
{
    cbi_span rest;
    uint64_t end = cbi_align_up(cbi_fatbin_size(fatbin), 8);
    if (!in->options.exact && cbi_subspan(fatbin->bytes, end, fatbin->bytes.size - end, &rest) &&
        cbi_is_fatbin(rest))
        cbi_warning(in->ctx, "fatbin-second", &(cbi_place){.file = origin->file},
                    "objects joined with `ld -r` lose the device code of all but the first; pass "
                    "them one by one, or join them after the device link",
                    "'%s' holds more than one fatbin: only the first is linked", origin->file);
}

/* "it has sm_80, sm_90a, compute_90" */
static const char *list_entries(cbi_ctx *ctx, cbi_span bytes)
{
    cbi_fatbin fatbin;
    cbi_fatbin_entry entry;
    cbi_buf text = {0};
    if (!cbi_fatbin_open(bytes, &fatbin))
        return NULL;
    for (size_t i = 0; cbi_fatbin_next(&fatbin, &entry); i++) {
        if (i == 32) {
            cbi_buf_printf(ctx, &text, ", ...");
            break;
        }
        const char *kind = cbi_fatbin_is_elf(&entry)         ? "sm"
                           : entry.kind == FATBIN_KIND_PTX   ? "compute"
                           : entry.kind == FATBIN_KIND_LTOIR ? "lto"
                                                             : "unknown";
        cbi_buf_printf(ctx, &text, "%s %s_%u%.1s", text.len ? "," : "it has", kind, entry.sm,
                       (const char[2]){entry.suffix, 0});
    }
    return text.len ? cbi_buf_text(ctx, &text) : "it has no image at all";
}

static void warn_not_found(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes)
{
    if (!origin->member && !cbi_names_device_runtime(origin->file) &&
        !in->options.suppress_arch_warning)
        cbi_warning(in->ctx, "arch-not-found", &(cbi_place){.file = origin->file},
                    list_entries(in->ctx, bytes), "SM Arch ('%s') not found in '%s'",
                    in->options.arch_text, origin->file);
}

/* For a virtual target nvlink takes text alone, but code, too, where its number has three digits.
 */
static bool takes_text_alone(const cbi_inputs *in)
{
    return in->options.virtual_target && !cbi_arch_is_mercury(in->options.arch);
}

/* Nothing in the container is linked. */
static void add_nothing(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes)
{
    warn_not_found(in, origin, bytes);
    in->any_module = true;
    forbid_patterns(in, origin, false);
    if (origin->host)
        cbi_inputs_add_module(in, origin, NULL);
}

/* A virtual target: the assembler is asked, for the chip of that number, and its result forgotten.
 */
static void try_virtual(cbi_inputs *in, const cbi_origin *origin, cbi_span text, cbi_span options)
{
    cbi_inputs_try_ptx(in, origin, text, options);
    cbi_inputs_check_virtual_name(in, in->options.arch->sm);
    cbi_inputs_add_module(in, origin, NULL);
}

/* What was decompressed nobody else looks at. */
static void add_entry_image(cbi_inputs *in, const cbi_origin *origin, cbi_span image,
                            const cbi_fatbin_entry *entry)
{
    size_t count = in->modules.len;
    add_image(in, origin, image, true);
    if (in->modules.len > count && in->modules.items[count].has_image &&
        entry->compression != CBI_STORED)
        in->modules.items[count].own = cbi_own_memory(in->ctx, image);
}

static void add_entry(cbi_inputs *in, const cbi_origin *origin, cbi_span fatbin,
                      const cbi_fatbin_entry *entry)
{
    cbi_span image;
    if (!load_entry(in, origin, entry, &image)) {
        add_nothing(in, origin, fatbin);
    } else if (entry->cut) {
        cbi_fatal(in->ctx, "fatbin-cut", &(cbi_place){.file = origin->file},
                  cbi_printf(in->ctx, "the fatbin in '%s' is cut off", origin->file),
                  "Internal error: symsec not found");
    } else if (entry->kind != FATBIN_KIND_PTX) {
        add_entry_image(in, origin, image, entry);
    } else if (in->options.virtual_target) {
        try_virtual(in, origin, image, entry->options);
    } else {
        cbi_inputs_queue_ptx(in, origin, image, entry->options, true);
    }
}

/* The compiler gets whole fatbins, since LTO-IR in them is scrambled, but no choice. */
static void add_lto_entry(cbi_inputs *in, const cbi_origin *origin, const cbi_fatbin *fatbin,
                          const cbi_fatbin_entry *entry)
{
    if (entry->cut)
        cbi_fatal(in->ctx, "fatbin-cut", &(cbi_place){.file = origin->file},
                  cbi_printf(in->ctx, "the fatbin in '%s' is cut off", origin->file),
                  "elfLink nvvm error");
    static const char lines[] = "-generate-line-info";
    bool has_lines = entry->has_options &&
                     memmem(entry->options.data, entry->options.size, lines, strlen(lines));
    in->lto_lines |= has_lines;
    in->lto_no_lines |= !has_lines;
    forbid_patterns(in, origin, true);
    cbi_inputs_add_lto_module(in, origin, cbi_fatbin_single(in->ctx, fatbin, entry), true);
}

void cbi_inputs_add_fatbin(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_place place = {.file = origin->file};
    cbi_fatbin fatbin;
    in->fatbins++;
    cbi_inputs_stop_after_errors(in, origin->host ? "elfLink internal error"
                                                  : "elfLink fatbinary error");
    if (!cbi_fatbin_open(bytes, &fatbin))
        fatbin_unknown(ctx, origin->file, fatbin.damage);
    fatbin.takes_cut = in->options.exact;
    check_entries(in, fatbin);

    cbi_fatbin_entry entry;
    const cbi_choice choice = {.target = in->options.arch,
                               .ptx_only = takes_text_alone(in),
                               .prefer_lto = in->options.lto};
    bool found = cbi_fatbin_choose(&fatbin, &choice, &entry);
    if (fatbin.damage && !in->options.exact)
        cbi_error(ctx, "input-damaged", &place, NULL, "the fatbin in '%s' is damaged: %s",
                  origin->file, fatbin.damage);
    report_second_fatbin(in, origin, &fatbin);
    if (!found) {
        add_nothing(in, origin, bytes);
        return;
    }
    if (entry.kind == FATBIN_KIND_LTOIR) {
        if (!in->options.lto)
            cbi_fatal_as(ctx, CB_ERR_UNSUPPORTED, "lto-needed", &place, lto_help(in),
                         "LTO objects found, use -dlto");
        add_lto_entry(in, origin, &fatbin, &entry);
        return;
    }
    add_entry(in, origin, bytes, &entry);
}

/* PTX text in a file of its own. */
static void add_ptx_text(cbi_inputs *in, const cbi_origin *origin, cbi_span text)
{
    if (in->options.virtual_target) {
        try_virtual(in, origin, text, (cbi_span){NULL, 0});
    } else {
        cbi_inputs_queue_ptx(in, origin, text, (cbi_span){NULL, 0}, false);
    }
}

/* For an older target nvlink assembles a .ptx file and then forgets the result; what the assembler
 * says and what is reported about the choice stays. */
static void forget_ptx_file(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes)
{
    cbi_fatbin fatbin;
    cbi_fatbin_entry entry;
    const cbi_choice choice = {.target = in->options.arch, .ptx_only = takes_text_alone(in)};
    bool found = true;
    if (cbi_is_fatbin(bytes))
        found = cbi_fatbin_open(bytes, &fatbin) && cbi_fatbin_choose(&fatbin, &choice, &entry);
    else if (cbi_elf_machine(bytes) == EM_CUDA)
        found = cbi_cubin_fits(in, bytes);
    if (!found)
        warn_not_found(in, origin, bytes);
    if (cbi_recognise(bytes) == CBI_CONTENT_PTX)
        cbi_inputs_try_ptx(in, origin, bytes, (cbi_span){NULL, 0});
}

void cbi_inputs_add_ptx_file(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes)
{
    cbi_ctx *ctx = in->ctx;
    cbi_inputs_stop_after_errors(in, "elfLink fatbinary error");
    in->any_module = true;
    if (!cbi_sm_takes_ptx_files(in->options.arch->sm)) {
        if (in->options.exact) {
            forget_ptx_file(in, origin, bytes);
            return;
        }
        cbi_info(ctx, "ptx-old-target", &(cbi_place){.file = origin->file}, NULL,
                 "'%s' is linked; nvlink drops .ptx files for targets below sm_90", origin->file);
    }
    forbid_patterns(in, origin, false);
    switch (cbi_recognise(bytes)) {
    case CBI_CONTENT_PTX:
        add_ptx_text(in, origin, bytes);
        break;
    case CBI_CONTENT_CUBIN:
        if (in->options.exact && !cbi_cubin_fits(in, bytes))
            warn_not_found(in, origin, bytes);
        else
            cbi_inputs_add_cubin(in, origin, bytes);
        break;
    case CBI_CONTENT_FATBIN:
        cbi_inputs_add_fatbin(in, origin, bytes);
        break;
    default:
        fatbin_unknown(ctx, origin->file, NULL);
    }
}

void cbi_inputs_add_ltoir(cbi_inputs *in, const char *file, cbi_span bytes)
{
    const cbi_origin origin = {.file = file};
    if (!in->options.lto)
        cbi_fatal_as(in->ctx, CB_ERR_UNSUPPORTED, "lto-file", &(cbi_place){.file = file},
                     lto_help(in), "should only see nvvm files when -lto");
    forbid_patterns(in, &origin, true);
    cbi_inputs_add_lto_module(in, &origin, bytes, false);
}

CBI_NORETURN static void no_fatbin(cbi_ctx *ctx, const char *file, const char *why)
{
    cbi_inputs_fatal_pair(ctx, "host-no-fatbin", file, why,
                          cbi_printf(ctx, "Could not find fatbin in '%s'", file),
                          "elfLink internal error");
}

/* Empty strings count, but for the single one that nvcc writes for "nothing of this kind". */
static void add_patterns(cbi_inputs *in, cbi_span section, cbi_strings *patterns)
{
    size_t pos = 0;
    if (section.size < 2)
        return;
    while (pos < section.size) {
        const char *s = (const char *)section.data + pos;
        size_t len = strnlen(s, section.size - pos);
        cbi_vec_push(in->ctx, patterns, cbi_strndup(in->ctx, s, len));
        pos += len + 1;
    }
}

/* What the host's code says about the kernels that it names.  That libcudadevrt names its own does
 * not mean that the program's are known. */
static void add_host_references(cbi_inputs *in, const char *file, const cbi_host_object *host)
{
    const size_t known = in->external_kernels.len + in->internal_kernels.len;
    if (host->external_kernels.size == 0) {
        in->forbid_patterns = true; /* made by something that does not record them */
        return;
    }
    add_patterns(in, host->external_kernels, &in->external_kernels);
    add_patterns(in, host->internal_kernels, &in->internal_kernels);
    for (size_t i = 0; i < CBI_COUNT(host->variables); i++)
        add_patterns(in, host->variables[i], &in->host_variables);
    if (in->external_kernels.len + in->internal_kernels.len > known &&
        !cbi_names_device_runtime(file))
        in->has_kernel_pattern = true;
}

/* What an earlier device link made names the modules in it, and is right here. */
static void report_plain(cbi_inputs *in, const char *file, const cbi_host_object *host)
{
    if (!host->has_device_code)
        cbi_inputs_report_nothing(in, file, "it is a host object without device code");
    else if (!cbi_host_is_linked(in->ctx, host))
        cbi_inputs_report_nothing(in, file,
                                  "its device code is linked already; nvcc -rdc=true makes code "
                                  "that can be linked");
}

/* The modules of an earlier device link. */
static void add_linked_ids(cbi_inputs *in, const char *file, const cbi_host_object *host)
{
    size_t pos = 0;
    const char *id;
    while ((id = cbi_next_module_id(in->ctx, host->module_id, &pos)) != NULL) {
        const char *linked = cbi_after(id, CBI_LINKED_ID);
        if (!linked)
            cbi_fatal(in->ctx, "module-ids", &(cbi_place){.file = file},
                      "it holds a device link's result and modules that are not linked; link those "
                      "as files of their own",
                      "unexpected data in module_ids");
        cbi_vec_push(in->ctx, &in->linked_ids, linked);
    }
}

void cbi_inputs_add_host_object(cbi_inputs *in, const char *file, cbi_span bytes, bool member)
{
    cbi_ctx *ctx = in->ctx;
    cbi_host_object host;
    const char *damage = NULL;
    if (!member)
        cbi_inputs_stop_after_errors(in, "elfLink internal error");
    if (!cbi_host_read(bytes, &host, &damage)) {
        if (!member)
            no_fatbin(ctx, file, damage);
        if (!in->options.exact)
            cbi_error(ctx, "input-damaged", &(cbi_place){.file = file}, NULL, "'%s' is damaged: %s",
                      file, damage);
        return;
    }
    if (in->options.register_names && cbi_host_is_linked(ctx, &host)) {
        in->forbid_patterns = true; /* whether that code names kernels of others is not known */
        add_linked_ids(in, file, &host);
        return;
    }
    switch (host.kind) {
    case CBI_HOST_PLAIN:
        in->forbid_patterns = true;
        if (!member)
            report_plain(in, file, &host);
        return;
    case CBI_HOST_NO_CODE:
        no_fatbin(ctx, file, "it has .nvFatBinSegment but no fatbin");
    case CBI_HOST_RDC:
        break;
    }
    add_host_references(in, file, &host);
    /* The origin is only looked at during the call. */
    const cbi_origin origin = {.file = file, .member = member, .host = &host};
    cbi_inputs_add_fatbin(in, &origin, host.fatbin);
}
