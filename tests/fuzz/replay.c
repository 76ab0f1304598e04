/* Runs stored inputs through a fuzz target, without a fuzzer: files and folders on the command
 * line.  Prints what it runs, so that a crash names its input. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

static int replayed;

static void replay_file(const char *path)
{
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
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0)
            continue;
        if (!S_ISDIR(st.st_mode)) {
            replay_file(argv[i]);
            continue;
        }
        struct dirent **entries;
        int count = scandir(argv[i], &entries, NULL, alphasort);
        for (int k = 0; k < count; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], entries[k]->d_name);
            if (entries[k]->d_name[0] != '.')
                replay_file(path);
            free(entries[k]);
        }
        if (count >= 0)
            free(entries);
    }
    printf("%d passed, 0 failed\n", replayed);
    return 0;
}
