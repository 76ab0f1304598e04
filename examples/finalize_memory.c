/* Makes a cubin in memory fit another chip of its family, with a compiler back end.
 *
 *     cc finalize_memory.c $(pkg-config --cflags --libs cubind) -o finalize_memory
 *     ./finalize_memory sm_103 out.cubin in.cubin [donor.cubin]
 *
 * Code that the target can run stays as it is.  A kernel that it cannot run goes to the back end.
 * A real one would compile; this one has nothing but a donor, the same program built for the
 * target, and takes the kernel from there.
 */
#include <cubind/cubind.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct file {
    unsigned char *data;
    size_t size;
} file;

static void print_diagnostic(void *user, const cb_diagnostic *d)
{
    (void)user;
    fprintf(stderr, "%s\n", d->message);
    if (d->help)
        fprintf(stderr, "    %s\n", d->help);
}

static int read_file(const char *path, file *ret_file)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    ret_file->data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    ret_file->size = ret_file->data ? fread(ret_file->data, 1, (size_t)size, f) : 0;
    fclose(f);
    return ret_file->data ? 0 : -1;
}

/* Sets where the section PREFIX NAME of a cubin lies; -1 if it has none. */
static int find_section(const file *f, const char *prefix, const char *name, const void **ret_data,
                        size_t *ret_size)
{
    Elf64_Ehdr h;
    if (f->size < sizeof h)
        return -1;
    memcpy(&h, f->data, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_shoff > f->size ||
        (f->size - h.e_shoff) / sizeof(Elf64_Shdr) < h.e_shnum || h.e_shstrndx >= h.e_shnum)
        return -1;
    const unsigned char *headers = f->data + h.e_shoff;
    Elf64_Shdr names, s;
    memcpy(&names, headers + h.e_shstrndx * sizeof s, sizeof names);
    size_t length = strlen(prefix) + strlen(name) + 1;
    for (size_t i = 1; i < h.e_shnum; i++) {
        memcpy(&s, headers + i * sizeof s, sizeof s);
        if (s.sh_offset > f->size || s.sh_size > f->size - s.sh_offset ||
            names.sh_offset > f->size || s.sh_name > f->size - names.sh_offset ||
            length > f->size - names.sh_offset - s.sh_name)
            continue;
        const char *at = (const char *)f->data + names.sh_offset + s.sh_name;
        if (strncmp(at, prefix, strlen(prefix)) != 0 || strcmp(at + strlen(prefix), name) != 0)
            continue;
        *ret_data = f->data + s.sh_offset;
        *ret_size = (size_t)s.sh_size;
        return 0;
    }
    return -1;
}

static int supports(void *user, unsigned from_sm, const char *target)
{
    (void)from_sm;
    (void)target;
    return ((const file *)user)->data != NULL;
}

/* The code must be as long as it was, for nothing else of the image moves. */
static int compile(void *user, const cb_finalize_function *function, cb_finalize_code *ret_code)
{
    const file *donor = user;
    if (find_section(donor, ".text.", function->name, &ret_code->sass, &ret_code->sass_size) != 0 ||
        find_section(donor, ".nv.capmerc.text.", function->name, &ret_code->capsule,
                     &ret_code->capsule_size) != 0)
        return -1;
    fprintf(stderr, "%s: %lu bytes for %s\n", function->name, (unsigned long)ret_code->sass_size,
            function->target);
    return 0;
}

static int write_file(void *user, const void *data, size_t size)
{
    FILE *f = fopen(user, "wb");
    if (!f)
        return -1;
    size_t written = fwrite(data, 1, size, f);
    return fclose(f) == 0 && written == size ? 0 : -1;
}

int main(int argc, char **argv)
{
    file image = {NULL, 0}, donor = {NULL, 0};
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: %s ARCH OUTPUT INPUT [DONOR]\n", argv[0]);
        return 2;
    }
    if (read_file(argv[3], &image) != 0 || (argc == 5 && read_file(argv[4], &donor) != 0)) {
        fprintf(stderr, "cannot read the input\n");
        return 1;
    }

    cb_finalize_backend backend;
    memset(&backend, 0, sizeof backend);
    backend.struct_size = sizeof backend;
    backend.name = "donor";
    backend.supports = supports;
    backend.compile = compile;
    backend.user = &donor;

    cb_finalize_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.arch = argv[1];
    options.flags = CB_FINALIZE_SELF_CHECK;
    options.on_diagnostic = print_diagnostic;
    options.backend = &backend;

    cb_finalize_result code = CB_FINALIZE_DONE;
    cb_status status =
        cb_finalize(&options, argv[3], image.data, image.size, write_file, argv[2], &code);
    if (status != CB_OK)
        fprintf(stderr, "failed: %s, finalizer's code %d\n", cb_status_string(status), code);
    free(image.data);
    free(donor.data);
    return status == CB_OK ? 0 : 1;
}
