/* Runs stored inputs through a fuzz target, without a fuzzer: files and folders on the command
 * line.  Prints what it runs, so that a crash names its input. */
#include "fuzz.h"
#include "walk.h"

static int replayed;

static void replay_file(void *user, const char *path)
{
    (void)user;
    FILE *f = fopen(path, "rb");
    if (!f) {
        fprintf(stderr, "cannot open %s\n", path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    /* a block of the exact size lets the sanitizer see a read past the end */
    uint8_t *data = malloc(size ? size : 1);
    size = fread(data, 1, size, f);
    fclose(f);
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    replayed++;
}

int main(int argc, char **argv)
{
    fuzz_each_file(argv + 1, argc - 1, replay_file, NULL);
    printf("%d passed, 0 failed\n", replayed);
    return 0;
}
