/* Mutations that know the format: a byte changed anywhere mostly hits code, a field of a table
 * changes what the tables say about each other.  For the targets that take device ELFs. */
#include "fuzz.h"

#include "format/cuda_elf.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Gives the field at the offset, if it is inside, another value: a special one or a near one. */
static void poke(uint8_t *data, size_t size, uint64_t offset, unsigned width, uint64_t *state)
{
    static const uint64_t special[] = {0,          1,          2,          7,          0xff,
                                       0xfff1,     0xfff2,     0xffff,     0x7fffffff, 0x80000000,
                                       0xfffffff0, 0xffffffff, UINT64_MAX, 1ull << 63, 1ull << 40};
    static const int64_t near[] = {-64, -16, -8, -4, -1, 1, 2, 4, 8, 16, 24, 64};
    if (!cbi_fits(offset, width, size))
        return;
    uint64_t value = 0;
    memcpy(&value, data + offset, width);
    switch (next(state) % 5) {
    case 0:
    case 1:
        value = special[next(state) % CBI_COUNT(special)];
        break;
    case 2:
    case 3:
        value += (uint64_t)near[next(state) % CBI_COUNT(near)];
        break;
    default:
        value = next(state);
    }
    memcpy(data + offset, &value, width);
}

typedef struct field {
    uint8_t offset, width;
} field;

static void poke_one_of(uint8_t *data, size_t size, uint64_t start, const field *fields,
                        size_t count, uint64_t *state)
{
    const field *f = &fields[next(state) % count];
    poke(data, size, start + f->offset, f->width, state);
}

static const field shdr_fields[] = {{0, 4},  {4, 4},  {8, 8},  {16, 8}, {24, 8},
                                    {32, 8}, {40, 4}, {44, 4}, {48, 8}, {56, 8}};
static const field sym_fields[] = {{0, 4}, {4, 1}, {5, 1}, {6, 2}, {8, 8}, {16, 8}};
static const field rela_fields[] = {{0, 8}, {8, 4}, {12, 4}, {16, 8}};
static const field ehdr_fields[] = {{16, 2}, {20, 4}, {32, 8}, {40, 8}, {48, 4},
                                    {54, 2}, {56, 2}, {58, 2}, {60, 2}, {62, 2}};

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
