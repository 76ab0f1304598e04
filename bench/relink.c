/* Times links of the same files: from nothing, of inputs that were read before, and with one of
 * them read again.  usage: relink ARCH FILE...  Prints medians in milliseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cubind/cubind.h"

enum { ROUNDS = 21 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void complain(void *user, const cb_diagnostic *d)
{
    (void)user;
    if (d->severity >= CB_SEV_ERROR)
        fprintf(stderr, "relink: %s\n", d->message);
}

static void check(cb_status status, const char *what)
{
    if (status == CB_OK)
        return;
    fprintf(stderr, "relink: %s: %s\n", what, cb_status_string(status));
    exit(1);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, ROUNDS, sizeof *times, compare);
    return times[ROUNDS / 2];
}

/* Keeps a copy of the first image, and compares the others with it. */
static void compare_image(const cb_link *link)
{
    static void *first;
    static size_t first_size;
    const void *data;
    size_t size;
    check(cb_link_get_image(link, &data, &size), "image");
    if (!first && (first = malloc(size)) != NULL) {
        memcpy(first, data, size);
        first_size = size;
    }
    if (!first || size != first_size || memcmp(first, data, size) != 0) {
        fprintf(stderr, "relink: the images differ\n");
        exit(1);
    }
}

static void link_files(const cb_link_options *options, char *const *files, int count)
{
    cb_link *link;
    check(cb_link_create(options, &link), "create");
    for (int i = 0; i < count; i++)
        check(cb_link_add_file(link, files[i]), files[i]);
    check(cb_link_run(link), "link");
    compare_image(link);
    cb_link_free(link);
}

static void link_inputs(cb_link *link, const cb_link_options *options, cb_input *const *inputs,
                        int count)
{
    check(cb_link_reset(link, options), "reset");
    for (int i = 0; i < count; i++)
        check(cb_link_add_input(link, inputs[i]), "add");
    check(cb_link_run(link), "link");
    compare_image(link);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: relink ARCH FILE...\n");
        return 2;
    }
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = argv[1];
    options.on_diagnostic = complain;
    options.ptxas_path = getenv("CUBIND_PTXAS");
    char **files = argv + 2;
    int count = argc - 2;
    double whole[ROUNDS], again[ROUNDS], exchanged[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ms();
        link_files(&options, files, count);
        whole[r] = now_ms() - start;
    }
    cb_input **inputs = calloc((size_t)count, sizeof(*inputs));
    if (!inputs)
        return 1;
    for (int i = 0; i < count; i++)
        check(cb_input_open(&options, files[i], &inputs[i]), files[i]);
    cb_link *link;
    check(cb_link_create(&options, &link), "create");
    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ms();
        link_inputs(link, &options, inputs, count);
        again[r] = now_ms() - start;
        start = now_ms();
        cb_input_free(inputs[count / 2]);
        check(cb_input_open(&options, files[count / 2], &inputs[count / 2]), files[count / 2]);
        link_inputs(link, &options, inputs, count);
        exchanged[r] = now_ms() - start;
    }
    printf("from nothing %.3f ms, of read inputs %.3f ms, one exchanged %.3f ms\n", median(whole),
           median(again), median(exchanged));
    cb_link_free(link);
    for (int i = 0; i < count; i++)
        cb_input_free(inputs[i]);
    free((void *)inputs);
    return 0;
}
