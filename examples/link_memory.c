/* Links device code from memory to memory, and writes the result.
 *
 *     cc link_memory.c $(pkg-config --cflags --libs cubind) -o link_memory
 *     ./link_memory sm_90 out.cubin a.cubin b.cubin...
 */
#include <cubind/cubind.h>

#include <stdio.h>
#include <stdlib.h>

static void print_diagnostic(void *user, const cb_diagnostic *d)
{
    static const char *const words[] = {"info", "warning", "error", "fatal"};
    (void)user;
    fprintf(stderr, "%s: %s\n", words[d->severity], d->message);
    if (d->help)
        fprintf(stderr, "    %s\n", d->help);
}

static void *read_file(const char *path, size_t *ret_size)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    void *data = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (data)
        *ret_size = fread(data, 1, (size_t)size, f);
    fclose(f);
    return data;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s ARCH OUTPUT INPUT...\n", argv[0]);
        return 2;
    }

    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = argv[1];
    options.on_diagnostic = print_diagnostic;

    cb_link *link;
    cb_status status = cb_link_create(&options, &link);
    if (status != CB_OK) {
        fprintf(stderr, "cannot link for %s: %s\n", argv[1], cb_status_string(status));
        return 1;
    }

    /* the bytes are borrowed: they stay until the link is freed */
    int count = argc - 3;
    void **inputs = calloc((size_t)count, sizeof *inputs);
    for (int i = 0; inputs && i < count && status == CB_OK; i++) {
        size_t size = 0;
        inputs[i] = read_file(argv[3 + i], &size);
        status = inputs[i] ? cb_link_add_memory(link, argv[3 + i], inputs[i], size) : CB_ERR_IO;
    }

    if (status == CB_OK)
        status = cb_link_run(link);

    const void *image;
    size_t size;
    if (status == CB_OK && cb_link_get_image(link, &image, &size) == CB_OK) {
        printf("cubind %s: %d inputs, %lu bytes\n", cb_version_string(), count,
               (unsigned long)size);
        status = cb_link_write_file(link, argv[2]);
    }
    if (status != CB_OK)
        fprintf(stderr, "failed: %s\n", cb_status_string(status));

    cb_link_free(link);
    for (int i = 0; inputs && i < count; i++)
        free(inputs[i]);
    free(inputs);
    return status == CB_OK ? 0 : 1;
}
