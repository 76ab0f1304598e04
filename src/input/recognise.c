#include "input/recognise.h"

#include "format/cuda_elf.h"
#include "input/archive.h"
#include "input/elf.h"
#include "input/fatbin.h"

#define LTOIR_MAGIC   0x7f4e43edu
#define BITCODE_MAGIC 0xdec04342u

/* PTX starts with a .version directive after blanks and comments. */
static bool is_ptx(cbi_span bytes)
{
    const char *s = (const char *)bytes.data;
    const char *end = s + bytes.size;
    while (s < end) {
        if (*s == ' ' || (*s >= '\t' && *s <= '\r')) {
            s++;
        } else if (end - s >= 2 && s[0] == '/' && s[1] == '/') {
            s = memchr(s, '\n', (size_t)(end - s));
            if (!s)
                return false;
        } else if (end - s >= 2 && s[0] == '/' && s[1] == '*') {
            s = memmem(s + 2, (size_t)(end - s - 2), "*/", 2);
            if (!s)
                return false;
            s += 2;
        } else {
            return end - s >= 8 && memcmp(s, ".version", 8) == 0;
        }
    }
    return false;
}

cbi_content cbi_recognise(cbi_span bytes)
{
    if (bytes.size == 0)
        return CBI_CONTENT_EMPTY;
    if (cbi_is_archive(bytes))
        return CBI_CONTENT_ARCHIVE;
    if (cbi_is_elf(bytes)) {
        if (cbi_elf_machine(bytes) == EM_CUDA)
            return CBI_CONTENT_CUBIN;
        uint16_t type = cbi_elf_type(bytes);
        if (type == ET_REL)
            return CBI_CONTENT_HOST_OBJECT;
        return type == ET_EXEC || type == ET_DYN ? CBI_CONTENT_HOST_LINKED : CBI_CONTENT_UNKNOWN;
    }
    if (cbi_is_fatbin(bytes))
        return CBI_CONTENT_FATBIN;
    if (bytes.size >= 4 && cbi_ld32(bytes.data) == LTOIR_MAGIC)
        return CBI_CONTENT_LTOIR;
    if (bytes.size >= 4 && cbi_ld32(bytes.data) == BITCODE_MAGIC)
        return CBI_CONTENT_BITCODE;
    return is_ptx(bytes) ? CBI_CONTENT_PTX : CBI_CONTENT_UNKNOWN;
}

const char *cbi_content_text(cbi_content content)
{
    static const char *const text[] = {
        [CBI_CONTENT_EMPTY] = "an empty file",
        [CBI_CONTENT_UNKNOWN] = "a file of no known kind",
        [CBI_CONTENT_CUBIN] = "a cubin",
        [CBI_CONTENT_HOST_OBJECT] = "a host object",
        [CBI_CONTENT_HOST_LINKED] = "a host library or program",
        [CBI_CONTENT_ARCHIVE] = "an archive",
        [CBI_CONTENT_FATBIN] = "a fatbin",
        [CBI_CONTENT_PTX] = "PTX",
        [CBI_CONTENT_LTOIR] = "LTO-IR",
        [CBI_CONTENT_BITCODE] = "LLVM bitcode",
    };
    return text[content];
}

enum {
    LTOIR_VERSION = 4,        /* offset of two bytes: major, minor */
    LTOIR_HEADER = 16,        /* offset of a u32: where a hash and the code follow */
    LTOIR_ARCH = 26,          /* offset of a u16: ten times the number */
    LTOIR_MORE = 32,          /* offset of a u32 that longer headers have */
    LTOIR_SPECIFIC = 0x10020, /* seen there in code for 'a' targets, and in no other */
};

bool cbi_ltoir_read(cbi_span code, cbi_ltoir_facts *ret_facts)
{
    if (code.size < LTOIR_MORE + 4)
        return false;
    bool specific = cbi_ld32(code.data + LTOIR_HEADER) >= LTOIR_MORE + 12 &&
                    cbi_ld32(code.data + LTOIR_MORE) == LTOIR_SPECIFIC;
    *ret_facts = (cbi_ltoir_facts){.sm = cbi_ld16(code.data + LTOIR_ARCH) / 10,
                                   .suffix = specific ? 'a' : 0,
                                   .major = code.data[LTOIR_VERSION],
                                   .minor = code.data[LTOIR_VERSION + 1]};
    return true;
}

bool cbi_ptx_target(cbi_span text, uint32_t *ret_sm, char *ret_suffix)
{
    static const char directive[] = ".target sm_";
    const char *at =
        text.size ? memmem(text.data, text.size, directive, sizeof directive - 1) : NULL;
    const char *end = (const char *)text.data + text.size;
    *ret_sm = 0;
    *ret_suffix = 0;
    if (!at)
        return false;
    for (at += sizeof directive - 1; at < end && *at >= '0' && *at <= '9' && *ret_sm < 1000; at++)
        *ret_sm = *ret_sm * 10 + (uint32_t)(*at - '0');
    if (at < end && (*at == 'a' || *at == 'f'))
        *ret_suffix = *at;
    return *ret_sm > 0;
}
