/* The assembler's record in what nvJitLink returns. */
#include "format/cuda_elf.h"
#include "input/elf.h"
#include "lto/lto.h"

/* A record: a version, the offsets of five strings, the strings. */
enum { STRINGS = 5, BUILD = 3, OPTIONS = 4, FIXED = 24 };

/* What stands for the build number in the library's own assembler. */
static const char no_build[] = "Build system must define TOOLS_VERSION_EXTENDED";

/* nvlink tells its assembler the address size, nvJitLink does not.  These come after it, in the
 * assembler's order of options. */
static bool comes_after_machine(const char *word, size_t len)
{
    static const char *const later[] = {"-allow-expensive-optimizations",
                                        "-annotate",
                                        "-c",
                                        "-ewp",
                                        "-fmad",
                                        "-g-tmem-access-check",
                                        "-gno-tmem-access-check",
                                        "-legacy-bar-warp-wide-behavior",
                                        "-make-errors-visible-at-exit",
                                        "-opt-fp-atomics",
                                        "-pic",
                                        "-preserve-relocs",
                                        "-split-compile",
                                        "-suppress-async-bulk-multicast-advisory-warning",
                                        "-suppress-sparse-mma-advisory-info",
                                        "-w",
                                        "-Werror"};
    for (size_t i = 0; i < CBI_COUNT(later); i++)
        if (strlen(later[i]) == len && memcmp(later[i], word, len) == 0)
            return true;
    return false;
}

/* Where "-m 64 " belongs in the text. */
static size_t machine_place(const char *text)
{
    size_t pos = 0;
    while (text[pos]) {
        size_t len = strcspn(text + pos, " ");
        if (comes_after_machine(text + pos, len))
            break;
        pos += len;
        pos += strspn(text + pos, " ");
    }
    return pos;
}

/* The strings of a record, one behind the other; NULL if an offset is bad. */
static bool read_strings(cbi_span record, const char *ret_strings[STRINGS])
{
    cbi_span text;
    if (!cbi_subspan(record, FIXED, record.size - FIXED, &text))
        return false;
    for (size_t i = 0; i < STRINGS; i++) {
        ret_strings[i] = cbi_span_string(text, cbi_ld32(record.data + 4 + 4 * i));
        if (!ret_strings[i])
            return false;
    }
    return true;
}

/* Replaces the strings of a record by others that fill the same room. */
static bool rewrite(uint8_t *record, size_t size, const char *build)
{
    static const char machine[] = "-m 64 ";
    const char *old[STRINGS];
    uint8_t text[4096] = {0};
    uint32_t offsets[STRINGS];
    size_t room = size - FIXED, at = 0;
    if (room > sizeof text || !read_strings((cbi_span){record, size}, old) ||
        strcmp(old[BUILD], no_build) != 0)
        return false;
    size_t place = machine_place(old[OPTIONS]);
    for (size_t i = 0; i < STRINGS; i++) {
        const char *s = i == BUILD ? build : old[i];
        size_t len = strlen(s), extra = i == OPTIONS ? strlen(machine) : 0;
        size_t before = extra ? place : len;
        if (len + extra + 1 > room - at)
            return false;
        offsets[i] = (uint32_t)at;
        memcpy(text + at, s, before);
        memcpy(text + at + before, machine, extra);
        memcpy(text + at + before + extra, s + before, len - before);
        at += len + extra + 1;
    }
    if (room - at >= 4) /* the assembler would have left less behind it */
        return false;
    for (size_t i = 0; i < STRINGS; i++)
        cbi_st32(record + 4 + 4 * i, offsets[i]);
    memcpy(record + FIXED, text, room);
    return true;
}

bool cbi_lto_settle_record(uint8_t *cubin, size_t size, const char *build)
{
    cbi_elf elf;
    if (!cbi_elf_open((cbi_span){cubin, size}, &elf))
        return false;
    for (uint32_t i = 1; i < elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&elf, i);
        if (strcmp(s.name, ".note.nv.tkinfo") != 0 || s.data.size < CUDA_NOTE_HEADER + FIXED)
            continue;
        /* One record: this is the work of one run of the assembler. */
        uint64_t record_size = cbi_ld32(s.data.data + 4);
        if (record_size < FIXED || CUDA_NOTE_HEADER + record_size > s.data.size)
            return false;
        return rewrite(cubin + (s.data.data - elf.bytes.data) + CUDA_NOTE_HEADER,
                       (size_t)record_size, build);
    }
    return false;
}
