/* Lists the kernels in any file that holds device code.
 *
 *     cc list_kernels.c $(pkg-config --cflags --libs cubind) -o list_kernels && ./list_kernels
 * a.out
 */
#include <cubind/inspect.h>

#include <stdio.h>

int main(int argc, char **argv)
{
    cb_container *file;
    if (argc != 2 || cb_container_open(NULL, argv[1], &file) != CB_OK) {
        fprintf(stderr, "usage: list_kernels FILE (which can be read)\n");
        return 2;
    }
    for (size_t i = 0; i < cb_container_count(file); i++) {
        cb_image *image;
        if (cb_image_open(file, i, &image) != CB_OK)
            continue;
        for (size_t k = 0; k < cb_image_function_count(image); k++) {
            const cb_function *f = cb_image_function(image, k);
            if (f->kernel)
                printf("%s  %ld registers, %lu bytes shared  %s\n", cb_image_get_info(image)->arch,
                       (long)f->registers, (unsigned long)f->shared,
                       cb_image_demangle(image, f->name));
        }
        cb_image_close(image);
    }
    cb_container_close(file);
    return 0;
}
