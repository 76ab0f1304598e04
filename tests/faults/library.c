/* The library from memory to memory, for allocations that fail: a link, a list of images with all
 * that is in them, a difference, a finalization.
 *
 *     fault_library ARCHIVE CUBIN SM_100_CUBIN [MEMORY_LIMIT]
 *
 * 0: all worked; 3: something had no memory and said so, or a file could not be read; 4: something
 * else went wrong. */
#include <stdio.h>
#include <stdlib.h>

#include <cubind/cubind.h>
#include <cubind/inspect.h>

enum { NO_MEMORY = 3, WRONG = 4 };

typedef struct bytes {
    void *data;
    size_t size;
} bytes;

static int outcome; /* the worst so far */
static size_t limit;
static cb_inspect_options looking = {.struct_size = sizeof looking};

static void note(cb_status status)
{
    if (status == CB_ERR_NOMEM && !outcome)
        outcome = NO_MEMORY;
    else if (status != CB_OK && status != CB_ERR_NOMEM)
        outcome = WRONG;
}

static bytes read_all(const char *path)
{
    static char room[1 << 20];
    bytes b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (f) {
        b.size = fread(room, 1, sizeof room, f);
        b.data = ferror(f) ? NULL : malloc(b.size + 1);
        fclose(f);
    }
    if (!b.data) {
        outcome = NO_MEMORY;
        b.size = 0;
        return b;
    }
    for (size_t i = 0; i < b.size; i++)
        ((char *)b.data)[i] = room[i];
    return b;
}

static int count(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

static void link_all(const bytes *archive, const bytes *cubin)
{
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = "sm_90";
    options.memory_limit = limit;
    cb_link *link;
    cb_status status = cb_link_create(&options, &link);
    note(status);
    if (status != CB_OK)
        return;
    status = cb_link_add_memory(link, "a.cubin", cubin->data, cubin->size);
    if (status == CB_OK)
        status = cb_link_add_memory(link, "b.a", archive->data, archive->size);
    if (status == CB_OK)
        status = cb_link_run(link);
    const void *image;
    size_t size;
    if (status == CB_OK)
        status = cb_link_get_image(link, &image, &size);
    note(status);
    cb_link_free(link);
}

static void walk(cb_image *image)
{
    size_t n = cb_image_symbol_count(image, CB_VIEW_SASS) + cb_image_function_count(image) +
               cb_image_relocation_count(image) + cb_image_finding_count(image);
    if (n > 1000000)
        outcome = WRONG;
    if (!cb_image_demangle(image, "_Z3fooi"))
        outcome = WRONG;
    note(cb_image_status(image));
}

static void inspect(const bytes *file)
{
    cb_container *container;
    cb_status status = cb_container_open_memory(&looking, "x", file->data, file->size, &container);
    note(status);
    if (status != CB_OK)
        return;
    for (size_t i = 0; i < cb_container_count(container); i++) {
        cb_image *image;
        status = cb_image_open(container, i, &image);
        note(status);
        if (status != CB_OK)
            continue;
        walk(image);
        cb_image_close(image);
    }
    cb_container_close(container);
}

static void compare(const bytes *a, const bytes *b)
{
    cb_image *first = NULL, *second = NULL;
    cb_diff *diff = NULL;
    cb_status status = cb_image_open_memory(&looking, "a", a->data, a->size, &first);
    if (status == CB_OK)
        status = cb_image_open_memory(&looking, "b", b->data, b->size, &second);
    if (status == CB_OK)
        status = cb_diff_create(first, second, 0, &diff);
    note(status);
    if (status == CB_OK && !cb_diff_count(diff))
        outcome = WRONG;
    cb_diff_free(diff);
    cb_image_close(first);
    cb_image_close(second);
}

static void finalize(const bytes *input)
{
    cb_finalize_options options = {
        .struct_size = sizeof options, .arch = "sm_103", .memory_limit = limit};
    size_t written = 0;
    note(cb_finalize(&options, "in", input->data, input->size, count, &written, NULL));
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5)
        return WRONG;
    limit = argc == 5 ? strtoul(argv[4], NULL, 10) : 0;
    looking.memory_limit = limit;
    bytes archive = read_all(argv[1]), cubin = read_all(argv[2]), new_cubin = read_all(argv[3]);
    if (!outcome) {
        link_all(&archive, &cubin);
        inspect(&archive);
        compare(&cubin, &new_cubin);
        finalize(&new_cubin);
    }
    free(archive.data);
    free(cubin.data);
    free(new_cubin.data);
    return outcome;
}
