#include "input/tkinfo.h"

#include "format/cuda_elf.h"
#include "input/elf.h"

enum { SHDR_SIZE = 64, SHDR_BYTES = 32, FIXED_WORDS = 24, COMMAND_WORD = 20 };

static size_t cut(char *text, size_t len, const char *part)
{
    char *at = memmem(text, len, part, strlen(part));
    if (!at)
        return len;
    size_t n = strlen(part);
    memmove(at, at + n, len - (size_t)(at - text) - n);
    return len - n;
}

void cbi_tkinfo_forget_names(uint8_t *cubin, size_t size, const char *first, const char *second)
{
    cbi_elf elf;
    if (!cbi_elf_open((cbi_span){cubin, size}, &elf) || elf.class->narrow)
        return;
    for (uint32_t i = 1; i < elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&elf, i);
        if (strcmp(s.name, ".note.nv.tkinfo") != 0 || s.data.size < CUDA_NOTE_HEADER + FIXED_WORDS)
            continue;
        uint8_t *note = cubin + (s.data.data - elf.bytes.data);
        uint64_t desc_size = cbi_ld32(note + 4);
        uint64_t command_at = CUDA_NOTE_HEADER + FIXED_WORDS +
                              (uint64_t)cbi_ld32(note + CUDA_NOTE_HEADER + COMMAND_WORD);
        /* One record, as an assembler writes it; anything else is left alone. */
        if (CUDA_NOTE_HEADER + desc_size != s.data.size || command_at >= s.data.size)
            return;
        char *command = (char *)note + command_at;
        size_t len = strnlen(command, s.data.size - command_at);
        size_t kept = cut(command, len, first);
        kept = cut(command, kept, second);
        uint64_t end = cbi_align_up(command_at + kept + 1, 4);
        if (kept == len || end > s.data.size)
            return;
        memset(command + kept, 0, s.data.size - command_at - kept);
        cbi_st32(note + 4, (uint32_t)(end - CUDA_NOTE_HEADER));
        uint8_t *header = cubin + elf.shoff + (uint64_t)i * SHDR_SIZE;
        cbi_st64(header + SHDR_BYTES, end);
        return;
    }
}
