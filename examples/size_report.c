/* Bytes of device code per target and per kernel, the largest kernels first.
 *
 *     cc size_report.c $(pkg-config --cflags --libs cubind) -o size_report && ./size_report a.out
 */
#include <cubind/inspect.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
    char *name;
    char arch[16];
    uint64_t code;
} row;

static int by_size(const void *a, const void *b)
{
    const row *x = a, *y = b;
    return x->code > y->code ? -1 : x->code < y->code ? 1 : strcmp(x->name, y->name);
}

/* Names live as long as their image, so they are copied. */
static size_t add_functions(cb_image *image, row **rows, size_t count)
{
    size_t functions = cb_image_function_count(image);
    row *grown = realloc(*rows, (count + functions + 1) * sizeof **rows);
    for (size_t k = 0; grown && k < functions; k++) {
        const cb_function *f = cb_image_function(image, k);
        row *r = &grown[count++];
        r->name = strdup(cb_image_demangle(image, f->name));
        r->code = f->code_size;
        snprintf(r->arch, sizeof r->arch, "%s", cb_image_get_info(image)->arch);
    }
    *rows = grown ? grown : *rows;
    return count;
}

int main(int argc, char **argv)
{
    cb_container *file;
    row *rows = NULL;
    size_t count = 0;
    uint64_t total = 0;
    if (argc != 2 || cb_container_open(NULL, argv[1], &file) != CB_OK)
        return 2;
    for (size_t i = 0; i < cb_container_count(file); i++) {
        cb_image *image;
        if (cb_image_open(file, i, &image) != CB_OK)
            continue;
        count = add_functions(image, &rows, count);
        cb_image_close(image);
    }
    cb_container_close(file);
    if (count)
        qsort(rows, count, sizeof *rows, by_size);
    for (size_t k = 0; k < count; k++) {
        printf("%10lu  %-8s  %s\n", (unsigned long)rows[k].code, rows[k].arch, rows[k].name);
        total += rows[k].code;
        free(rows[k].name);
    }
    printf("%10lu  in %lu functions\n", (unsigned long)total, (unsigned long)count);
    free(rows);
}
