/* Mutations that know the format: a byte changed anywhere mostly hits code, a field of a table
 * changes what the tables say about each other.  For the targets that take device ELFs. */
#include "fields.h"
#include "fuzz.h"

#include "format/cuda_elf.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static void mutate_elf(uint8_t *data, size_t size, uint64_t *state)
{
    if (size < sizeof(Elf64_Ehdr))
        return;
    uint64_t count = cbi_ld16(data + 60), shoff = cbi_ld64(data + 40);
    if (!count || next(state) % 16 == 0) {
        poke_one_of(data, size, 0, ehdr_fields, CBI_COUNT(ehdr_fields), state);
        return;
    }
    uint64_t at = next(state) % count * sizeof(Elf64_Shdr);
    if (!cbi_add(at, shoff, &at) || !cbi_fits(at, sizeof(Elf64_Shdr), size))
        return;
    uint64_t other = shoff + next(state) % count * sizeof(Elf64_Shdr);
    uint8_t header[sizeof(Elf64_Shdr)];
    memcpy(header, data + at, sizeof header);
    uint64_t offset = cbi_ld64(header + 24), length = cbi_ld64(header + 32);
    uint64_t entsize = cbi_ld64(header + 56);
    uint64_t kind = next(state) % 8;
    if (kind == 0 && cbi_fits(other, sizeof header, size)) {
        memmove(data + at, data + other, sizeof header);
        memcpy(data + other, header, sizeof header);
    } else if (kind < 3 || !cbi_fits(offset, length, size) || !length) {
        poke_one_of(data, size, at, shdr_fields, CBI_COUNT(shdr_fields), state);
    } else if (entsize == 24 || entsize == 16) {
        bool symbols =
            cbi_ld32(header + 4) == SHT_SYMTAB || cbi_ld32(header + 4) == SHT_CUDA_MERC_SYMTAB;
        poke_one_of(data, size, offset + next(state) % (length / entsize + 1) * entsize,
                    symbols ? sym_fields : rela_fields,
                    symbols ? CBI_COUNT(sym_fields) : CBI_COUNT(rela_fields) - (entsize == 16),
                    state);
    } else {
        unsigned width = 1u << next(state) % 3;
        poke(data, size, offset + next(state) % (length / width + 1) * width, width, state);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t state = seed;
    if (next(&state) % 4 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    cbi_span first, second;
    fuzz_split((cbi_span){data, size}, &first, &second);
    bool second_one = second.size && next(&state) % 2;
    uint8_t *elf = data + ((second_one ? second.data : first.data) - data);
    for (uint64_t n = next(&state) % 3 + 1; n; n--)
        mutate_elf(elf, second_one ? second.size : first.size, &state);
    /* the size chooses what some targets do with the input */
    size_t more = next(&state) % 4 == 0 ? next(&state) % 64 : 0;
    if (more > max_size - size)
        return size;
    memset(data + size, 0, more);
    return size + more;
}
