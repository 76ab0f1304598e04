/* Which function an address belongs to, and which source lines.  An address is an offset in the
 * file of a cubin, or SYMBOL+OFFSET as tools print it.
 *
 *     cc which_kernel.c $(pkg-config --cflags --libs cubind) -o which_kernel
 *     ./which_kernel a.cubin 0x1f40
 *     ./which_kernel a.cubin _Z4kernPii+0xa0
 */
#include <cubind/inspect.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the address is; CB_NONE: nowhere. */
static uint32_t find(cb_image *image, char *address, uint64_t *ret_offset)
{
    char *plus = strchr(address, '+');
    if (!plus)
        return cb_image_section_at(image, strtoull(address, NULL, 0), ret_offset);
    *plus = 0;
    const cb_function *f = cb_image_find_function(image, address);
    if (!f)
        return CB_NONE;
    *ret_offset = f->offset + strtoull(plus + 1, NULL, 0);
    return f->section;
}

int main(int argc, char **argv)
{
    cb_container *file;
    cb_image *image;
    if (argc != 3 || cb_container_open(NULL, argv[1], &file) != CB_OK)
        return 2;
    if (cb_image_open(file, 0, &image) != CB_OK)
        return 2;
    uint64_t offset = 0;
    uint32_t section = find(image, argv[2], &offset);
    const cb_function *f = section == CB_NONE ? NULL : cb_image_function_at(image, section, offset);
    if (f)
        printf("%s+0x%lx\n", cb_image_demangle(image, f->name),
               (unsigned long)(offset - f->offset));
    const cb_frame *frame;
    for (unsigned depth = 0; f && (frame = cb_image_frame(image, section, offset, depth)); depth++)
        printf("%s %s:%u in %s\n", depth ? "  inlined at" : "  at", frame->file, frame->line,
               frame->function ? cb_image_demangle(image, frame->function) : "?");
    cb_image_close(image);
    cb_container_close(file);
    return f ? 0 : 1;
}
