/* Where -l looks.
 *
 * A few libraries are looked for folder by folder.  From then on one index says which folders have
 * a file of that name, so that many libraries in many folders do not cost their product. */
#include "input/collect.h"

#include <sys/stat.h>

#include "base/files.h"

enum { DIRECT_SEARCHES = 8 };

typedef struct folder_list {
    CBI_VEC(uint32_t) items; /* numbers of folders, ascending */
} folder_list;

static bool is_library_name(const char *name)
{
    size_t len = strlen(name);
    return strncmp(name, "lib", 3) == 0 && ((len > 3 && strcmp(name + len - 3, ".so") == 0) ||
                                            (len > 2 && strcmp(name + len - 2, ".a") == 0));
}

static void index_folder(cbi_inputs *in, uint32_t number)
{
    cbi_ctx *ctx = in->ctx;
    cbi_strings names = {0};
    if (!cbi_list_folder(ctx, in->options.library_paths[number], is_library_name, &names)) {
        /* one that cannot be listed may still be searched */
        cbi_vec_push(ctx, &in->unlisted_folders, number);
        return;
    }
    for (size_t i = 0; i < names.len; i++) {
        const cbi_name *name = cbi_intern(ctx, names.items[i]);
        folder_list *list = cbi_name_get(&in->library_index, name);
        if (!list) {
            list = CBI_NEW(ctx, folder_list);
            cbi_name_put(ctx, &in->library_index, name, list);
        }
        cbi_vec_push(ctx, &list->items, number);
    }
}

static bool at(cbi_inputs *in, uint32_t number, const char *file, struct stat *st,
               const char **ret_path)
{
    *ret_path = cbi_printf(in->ctx, "%s/%s", in->options.library_paths[number], file);
    return stat(*ret_path, st) == 0;
}

const char *cbi_find_in_folders(cbi_inputs *in, const char *file, size_t *next, struct stat *ret_st)
{
    const char *path;
    size_t count = in->options.library_path_count;
    if (in->library_searches < DIRECT_SEARCHES || strchr(file, '/')) {
        while (*next < count)
            if (at(in, (uint32_t)(*next)++, file, ret_st, &path))
                return path;
        return NULL;
    }
    if (!in->folders_indexed) {
        in->folders_indexed = true;
        for (uint32_t i = 0; i < count; i++)
            index_folder(in, i);
    }
    const folder_list *list = cbi_name_get(&in->library_index, cbi_intern(in->ctx, file));
    size_t a = 0, b = 0, listed = list ? list->items.len : 0;
    while (a < listed || b < in->unlisted_folders.len) {
        bool other = a == listed || (b < in->unlisted_folders.len &&
                                     in->unlisted_folders.items[b] < list->items.items[a]);
        uint32_t number = other ? in->unlisted_folders.items[b++] : list->items.items[a++];
        if (number < *next)
            continue;
        *next = (size_t)number + 1;
        if (at(in, number, file, ret_st, &path))
            return path;
    }
    *next = count;
    return NULL;
}
