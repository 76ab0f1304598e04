/* Eight threads with a hundred links each, every one another link: the results are those of one
 * thread.  With ThreadSanitizer this looks for shared state. */
#include "unit.h"

#include <elf.h>
#include <glob.h>
#include <pthread.h>

#include "format/arch.h"
#include "format/cuda_elf.h"

enum { THREADS = 8, LINKS = 100 };

static const uint64_t kinds[] = {
    0,
    CB_LINK_RELOCATABLE,
    CB_LINK_DEBUG,
    CB_LINK_PRESERVE_RELOCS | CB_LINK_VERBOSE,
    CB_LINK_RELOCATABLE | CB_LINK_DEBUG,
    CB_LINK_EXTRA_WARNINGS,
    CB_LINK_FORCE_RELA,
    CB_LINK_EMULATE_NVLINK,
    CB_LINK_EMULATE_NVLINK | CB_LINK_DEBUG,
    CB_LINK_ALLOW_UNDEFINED,
    CB_LINK_ALLOW_UNDEFINED | CB_LINK_RELOCATABLE,
    CB_LINK_EMULATE_NVLINK | CB_LINK_RELOCATABLE,
};

typedef struct outcome {
    cb_status status;
    uint64_t hash;
    size_t size, messages;
} outcome;

static cbi_span *files;
static size_t file_count;

static void hear(void *user, const cb_diagnostic *d)
{
    outcome *o = user;
    o->messages += strlen(d->message);
}

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ data[i]) * 0x100000001b3u;
    return hash;
}

static const char *target_of(cbi_span file)
{
    uint32_t sm = EF_CUDA_SM(cbi_ld32(file.data + offsetof(Elf64_Ehdr, e_flags)));
    for (size_t i = 0; i < cbi_arch_count; i++)
        if (cbi_archs[i].sm == sm)
            return cbi_archs[i].name;
    return "sm_90";
}

/* Number n: a file, or two that are neighbours, and a kind of link. */
static outcome link_number(size_t n)
{
    outcome o = {0};
    const cbi_span first = files[n % file_count], second = files[(n + 1) % file_count];
    size_t kind = n / file_count;
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = target_of(first);
    options.flags = kinds[kind % CBI_COUNT(kinds)];
    options.on_diagnostic = hear;
    options.on_diagnostic_user = &o;
    cb_link *link;
    o.status = cb_link_create(&options, &link);
    if (o.status != CB_OK)
        return o;
    o.status = cb_link_add_memory(link, "first", first.data, first.size);
    if (o.status == CB_OK && kind % 2)
        o.status = cb_link_add_memory(link, "second", second.data, second.size);
    if (o.status == CB_OK)
        o.status = cb_link_run(link);
    const void *image;
    if (o.status == CB_OK && cb_link_get_image(link, &image, &o.size) == CB_OK)
        o.hash = hash_of(image, o.size);
    cb_link_free(link);
    return o;
}

typedef struct worker {
    size_t first;
    outcome outcomes[LINKS];
} worker;

static void *work(void *arg)
{
    worker *w = arg;
    for (size_t i = 0; i < LINKS; i++)
        w->outcomes[i] = link_number(w->first + i);
    return NULL;
}

static int load(void **state)
{
    (void)state;
    glob_t found;
    if (glob(unit_path("tests/golden/*/in/*"), 0, NULL, &found) != 0)
        return -1;
    files = calloc(found.gl_pathc, sizeof *files);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        cbi_span file = unit_read_file(found.gl_pathv[i]);
        if (file.size > sizeof(Elf64_Ehdr) && memcmp(file.data, ELFMAG, SELFMAG) == 0 &&
            cbi_ld16(file.data + offsetof(Elf64_Ehdr, e_machine)) == EM_CUDA)
            files[file_count++] = file;
        else
            free((void *)file.data);
    }
    globfree(&found);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_count; i++)
        free((void *)files[i].data);
    free(files);
    return 0;
}

static void links_do_not_disturb_each_other(void **state)
{
    (void)state;
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    assert_in_range(file_count, 1 + THREADS * LINKS / CBI_COUNT(kinds), 10000);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].first = i * LINKS;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    size_t linked = 0;
    for (size_t n = 0; n < THREADS * LINKS; n++) {
        outcome alone = link_number(n), *in_thread = &workers[n / LINKS].outcomes[n % LINKS];
        linked += alone.status == CB_OK;
        assert_int_equal(alone.status, in_thread->status);
        assert_int_equal(alone.hash, in_thread->hash);
        assert_int_equal(alone.size, in_thread->size);
        assert_int_equal(alone.messages, in_thread->messages);
    }
    assert_in_range(linked, THREADS * LINKS / 4, THREADS * LINKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(links_do_not_disturb_each_other)};
    return cmocka_run_group_tests_name("threads", tests, load, unload);
}
