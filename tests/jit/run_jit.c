/* Calls nvJitLink as its arguments say and prints what comes back, so that the same program can be
 * run with NVIDIA's library and with cubind's in its place.
 *
 * Arguments are calls, parted by "/":  create OPTION...   data KIND FILE [NAME]   file KIND FILE
 * complete   cubin FILE   ptx FILE   logs   nulls   destroy   version
 * use N: the calls that follow are for handle N
 * threads ARCH OUTPUT KIND FILE...: six links at the same time, the last image into OUTPUT
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<nvJitLink.h>)
#include <nvJitLink.h>
#else
#define HEADER_OF_CUBIND 1
#include "cubind/nvJitLink.h"
#endif

enum { MAX_WORDS = 64, HANDLES = 4, THREADS = 6 };

static nvJitLinkHandle handles[HANDLES];
static nvJitLinkHandle *current = handles;
#define handle (*current)

typedef struct contents {
    char *data;
    size_t size;
} contents;

/* Lives to the end: some libraries keep pointers to names and bytes. */
static contents read_file(const char *path)
{
    contents c = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "run_jit: cannot open %s\n", path);
        exit(2);
    }
    fseek(f, 0, SEEK_END);
    c.size = (size_t)ftell(f);
    rewind(f);
    c.data = calloc(1, c.size + 1);
    if (!c.data || fread(c.data, 1, c.size, f) != c.size)
        exit(2);
    fclose(f);
    return c;
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        exit(2);
}

static nvJitLinkInputType kind_of(const char *name)
{
    static const char *const names[] = {"none",   "cubin",  "ptx",     "ltoir",
                                        "fatbin", "object", "library", "index"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return (nvJitLinkInputType)i;
    return strcmp(name, "any") == 0 ? NVJITLINK_INPUT_ANY : (nvJitLinkInputType)atoi(name);
}

typedef nvJitLinkResult (*size_fn)(nvJitLinkHandle, size_t *);
typedef nvJitLinkResult (*text_fn)(nvJitLinkHandle, char *);

static void print_log(const char *what, size_fn get_size, text_fn get)
{
    size_t size = 12345;
    nvJitLinkResult result = get_size(handle, &size);
    char *text = malloc(size + 1);
    memset(text, 'x', size + 1);
    nvJitLinkResult second = get(handle, text);
    printf("%s %d %d\n", what, (int)result, (int)second);
    if (result == NVJITLINK_SUCCESS && size != (*text ? strlen(text) + 1 : 0))
        printf("%s has %zu bytes and says %zu\n", what, strlen(text), size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        printf("%s: %s\n", what, line);
    free(text);
}

static nvJitLinkResult get_cubin(nvJitLinkHandle h, char *to)
{
    return nvJitLinkGetLinkedCubin(h, to);
}

static void print_output(const char *what, size_fn get_size, text_fn get, const char *path)
{
    size_t size = 12345;
    nvJitLinkResult result = get_size(handle, &size);
    printf("%s size %d\n", what, (int)result);
    char *data = calloc(1, result == NVJITLINK_SUCCESS ? size + 1 : 1);
    result = get(handle, data);
    printf("%s %d\n", what, (int)result);
    if (result == NVJITLINK_SUCCESS)
        write_file(path, data, size);
    free(data);
}

static void wrong_pointers(void)
{
    unsigned number;
    size_t size = 77;
    char text[8];
    nvJitLinkHandle none = NULL;
    printf("nulls %d %d %d %d", nvJitLinkCreate(NULL, 0, NULL), nvJitLinkCreate(&none, 1, NULL),
           nvJitLinkDestroy(NULL), nvJitLinkDestroy(&none));
    printf(" %d %d %d", nvJitLinkAddData(NULL, NVJITLINK_INPUT_ANY, text, 4, "x"),
           nvJitLinkAddFile(NULL, NVJITLINK_INPUT_ANY, "x"), nvJitLinkComplete(NULL));
    printf(" %d %d %d %d", nvJitLinkGetLinkedCubinSize(NULL, &size),
           nvJitLinkGetLinkedPtxSize(NULL, &size), nvJitLinkGetErrorLogSize(NULL, &size),
           nvJitLinkGetInfoLogSize(NULL, &size));
    printf(" %d %d %d %d", nvJitLinkGetLinkedCubin(NULL, text), nvJitLinkGetLinkedPtx(NULL, text),
           nvJitLinkGetErrorLog(NULL, text), nvJitLinkGetInfoLog(NULL, text));
    printf(" %d %d %zu\n", nvJitLinkVersion(NULL, &number), nvJitLinkVersion(&number, NULL), size);
    if (!handle)
        return;
    printf("null results %d %d %d %d", nvJitLinkGetLinkedCubinSize(handle, NULL),
           nvJitLinkGetLinkedPtxSize(handle, NULL), nvJitLinkGetErrorLogSize(handle, NULL),
           nvJitLinkGetInfoLogSize(handle, NULL));
    printf(" %d %d %d %d %d\n", nvJitLinkGetLinkedCubin(handle, NULL),
           nvJitLinkGetLinkedPtx(handle, NULL), nvJitLinkGetErrorLog(handle, NULL),
           nvJitLinkGetInfoLog(handle, NULL), nvJitLinkAddFile(handle, NVJITLINK_INPUT_ANY, NULL));
}

static void add(char **words, int count)
{
    if (strcmp(words[0], "file") == 0) {
        printf("file %d\n", nvJitLinkAddFile(handle, kind_of(words[1]), words[2]));
        return;
    }
    contents c = read_file(words[2]);
    const char *name = count > 3 ? words[3] : words[2];
    printf("data %d\n", nvJitLinkAddData(handle, kind_of(words[1]), c.data, c.size, name));
}

typedef struct one_link {
    pthread_t thread;
    const char *option;
    char **inputs;
    int count;
    nvJitLinkResult result; /* the first failure */
    char *image;
    size_t size;
} one_link;

static void *link_once(void *user)
{
    one_link *l = user;
    nvJitLinkHandle mine = NULL;
    l->result = nvJitLinkCreate(&mine, 1, &l->option);
    for (int i = 0; i + 1 < l->count && !l->result; i += 2) {
        contents c = read_file(l->inputs[i + 1]);
        l->result = nvJitLinkAddData(mine, kind_of(l->inputs[i]), c.data, c.size, l->inputs[i + 1]);
    }
    if (!l->result)
        l->result = nvJitLinkComplete(mine);
    if (!l->result)
        l->result = nvJitLinkGetLinkedCubinSize(mine, &l->size);
    l->image = calloc(1, l->size + 1);
    if (!l->result)
        l->result = nvJitLinkGetLinkedCubin(mine, l->image);
    nvJitLinkDestroy(&mine);
    return NULL;
}

static void link_in_threads(char **words, int count)
{
    one_link links[THREADS];
    char option[64];
    snprintf(option, sizeof option, "-arch=%s", words[0]);
    for (int i = 0; i < THREADS; i++) {
        links[i] = (one_link){.option = option, .inputs = words + 2, .count = count - 2};
        if (pthread_create(&links[i].thread, NULL, link_once, &links[i]) != 0)
            exit(2);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(links[i].thread, NULL);
        printf("thread %d %s\n", (int)links[i].result,
               links[i].size == links[0].size &&
                       memcmp(links[i].image, links[0].image, links[0].size) == 0
                   ? "same"
                   : "other");
    }
    write_file(words[1], links[THREADS - 1].image, links[THREADS - 1].size);
    printf("complete %d\n", (int)links[THREADS - 1].result);
}

static void call(char **words, int count)
{
    unsigned major = 0, minor = 0;
    if (strcmp(words[0], "create") == 0) {
        printf("create %d\n",
               nvJitLinkCreate(&handle, (uint32_t)count - 1, (const char **)words + 1));
    } else if ((strcmp(words[0], "data") == 0 || strcmp(words[0], "file") == 0) && count > 2) {
        add(words, count);
    } else if (strcmp(words[0], "complete") == 0) {
        printf("complete %d\n", nvJitLinkComplete(handle));
    } else if (strcmp(words[0], "cubin") == 0 && count == 2) {
        print_output("cubin", nvJitLinkGetLinkedCubinSize, get_cubin, words[1]);
    } else if (strcmp(words[0], "ptx") == 0 && count == 2) {
        print_output("ptx", nvJitLinkGetLinkedPtxSize, nvJitLinkGetLinkedPtx, words[1]);
    } else if (strcmp(words[0], "logs") == 0) {
        print_log("error", nvJitLinkGetErrorLogSize, nvJitLinkGetErrorLog);
        print_log("info", nvJitLinkGetInfoLogSize, nvJitLinkGetInfoLog);
    } else if (strcmp(words[0], "nulls") == 0) {
        wrong_pointers();
    } else if (strcmp(words[0], "use") == 0 && count == 2) {
        current = &handles[(unsigned)atoi(words[1]) % HANDLES];
    } else if (strcmp(words[0], "threads") == 0 && count > 3) {
        link_in_threads(words + 1, count - 1);
    } else if (strcmp(words[0], "destroy") == 0) {
        printf("destroy %d\n", nvJitLinkDestroy(&handle));
    } else if (strcmp(words[0], "version") == 0) {
        printf("version %d", nvJitLinkVersion(&major, &minor));
        printf(" %u %u\n", major, minor);
    } else {
        fprintf(stderr, "run_jit: '%s'?\n", words[0]);
        exit(2);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    char *words[MAX_WORDS];
    int count = 0;
    for (int i = 1; i <= argc; i++) {
        if (i < argc && strcmp(argv[i], "/") != 0) {
            if (count == MAX_WORDS)
                return 2;
            words[count++] = argv[i];
        } else if (count) {
            call(words, count);
            count = 0;
        }
    }
    return 0;
}
