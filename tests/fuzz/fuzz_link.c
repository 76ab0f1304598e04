/* A link of one device ELF for its own target, through the public interface.  The size chooses the
 * kind of link, so that every input keeps its kind when it is shrunk byte by byte or replayed. */
#include "fuzz.h"

#include "format/arch.h"
#include "format/cuda_elf.h"

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
    cb_link_options options;
    cb_link_options_init(&options, sizeof options);
    options.arch = "sm_90";
    if (size >= sizeof(Elf64_Ehdr)) {
        uint32_t sm = EF_CUDA_SM(cbi_ld32(data + offsetof(Elf64_Ehdr, e_flags)));
        for (size_t i = 0; i < cbi_arch_count; i++)
            if (cbi_archs[i].sm == sm) {
                options.arch = cbi_archs[i].name;
                break;
            }
    }
    options.flags = kinds[size % CBI_COUNT(kinds)];
    options.memory_limit = FUZZ_MEMORY_LIMIT;
    cb_link *link;
    if (cb_link_create(&options, &link) != CB_OK)
        abort();
    if (cb_link_add_memory(link, "input", data, size) == CB_OK && cb_link_run(link) == CB_OK) {
        const void *image;
        size_t image_size;
        if (cb_link_get_image(link, &image, &image_size) != CB_OK)
            abort();
    }
    cb_link_free(link);
    return 0;
}
