/* A link of one device ELF for its own target, or of two, through the public interface.  The
 * size of the whole chooses the kind of link, so that every input keeps its kind when it is
 * replayed. */
#include "fuzz.h"

#include "format/arch.h"
#include "format/cuda_elf.h"

/* The target of the object's chip; from sm_90 on there are several, of which `choice` picks one. */
static const char *target_of(const uint8_t *data, size_t size, size_t choice)
{
    if (size >= sizeof(Elf64_Ehdr)) {
        uint32_t sm = EF_CUDA_SM(cbi_ld32(data + offsetof(Elf64_Ehdr, e_flags)));
        size_t first = 0, count = 0;
        for (size_t i = 0; i < cbi_arch_count; i++)
            if (cbi_archs[i].sm == sm && !count++)
                first = i;
        if (count)
            return cbi_archs[first + choice % count].name;
    }
    return "sm_90";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint64_t kinds[] = {
        0,
        CB_LINK_RELOCATABLE,
        CB_LINK_DEBUG,
        CB_LINK_PRESERVE_RELOCS | CB_LINK_VERBOSE,
        CB_LINK_RELOCATABLE | CB_LINK_DEBUG,
        CB_LINK_EXTRA_WARNINGS | CB_LINK_VERBOSE,
        CB_LINK_FORCE_RELA,
    };
    static const char *const some[] = {"k"};
    cbi_span first, second;
    fuzz_split((cbi_span){data, size}, &first, &second);
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    size_t choice = size / CBI_COUNT(kinds);
    options.arch = target_of(first.data, first.size, choice);
    options.flags = kinds[size % CBI_COUNT(kinds)];
    if (choice % 2)
        options.flags |= CB_LINK_EMULATE_NVLINK;
    if (choice / 4 % 4 == 1) {
        options.kernels_used = some;
        options.kernels_used_count = 1;
    }
    options.memory_limit = FUZZ_MEMORY_LIMIT;
    cb_link *link;
    if (cb_link_create(&options, &link) != CB_OK)
        abort();
    cb_status status = cb_link_add_memory(link, "first", first.data, first.size);
    if (status == CB_OK && second.size)
        status = cb_link_add_memory(link, "second", second.data, second.size);
    if (status == CB_OK && cb_link_run(link) == CB_OK) {
        const void *image;
        size_t image_size;
        if (cb_link_get_image(link, &image, &image_size) != CB_OK)
            abort();
        if (image_size > 64 * size + FUZZ_OUTPUT_FLOOR)
            abort();
    }
    cb_link_free(link);
    return 0;
}
