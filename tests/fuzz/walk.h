/* The files of a command line, and those in its folders. */
#ifndef CBI_FUZZ_WALK_H
#define CBI_FUZZ_WALK_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Calls fn for each, those of a folder in the order of their names; what is not there is passed
 * over, as are hidden files. */
static inline void fuzz_each_file(char **paths, int count, void (*fn)(void *user, const char *path),
                                  void *user)
{
    for (int i = 0; i < count; i++) {
        struct stat st;
        if (stat(paths[i], &st) != 0)
            continue;
        if (!S_ISDIR(st.st_mode)) {
            fn(user, paths[i]);
            continue;
        }
        struct dirent **entries;
        int n = scandir(paths[i], &entries, NULL, alphasort);
        for (int k = 0; k < n; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", paths[i], entries[k]->d_name);
            if (entries[k]->d_name[0] != '.')
                fn(user, path);
            free(entries[k]);
        }
        if (n >= 0)
            free(entries);
    }
}

#endif
