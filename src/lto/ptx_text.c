/* The assembler keeps its source in the cubin when it is told to make line information: without
 * comments and blanks at the beginnings of lines, and with a NUL for each end of a line. */
#include "format/cuda_elf.h"
#include "format/driver.h"
#include "input/elf.h"
#include "lto/lto.h"
#include "lto/worker.h"

static const char section_name[] = ".nv_debug_ptx_txt";

/* The end of the line, behind its newline. */
static size_t line_end(cbi_span text, size_t at)
{
    while (at < text.size && text.data[at] != '\n')
        at++;
    return at < text.size ? at + 1 : at;
}

/* The declaration of the anchor: from its line's start to the line with the semicolon. */
static bool find_anchor(cbi_span text, size_t *ret_start, size_t *ret_end)
{
    const uint8_t *at = memmem(text.data, text.size, CBI_LTO_ANCHOR, strlen(CBI_LTO_ANCHOR));
    if (!at)
        return false;
    size_t start = (size_t)(at - text.data);
    size_t end = start;
    while (start && text.data[start - 1] != '\n')
        start--;
    while (end < text.size && text.data[end] != ';')
        end++;
    *ret_start = start;
    *ret_end = line_end(text, end);
    return true;
}

static bool starts(cbi_span text, size_t at, const char *word)
{
    size_t len = strlen(word);
    return len <= text.size - at && memcmp(text.data + at, word, len) == 0;
}

static size_t skip_blanks(cbi_span text, size_t at)
{
    while (at < text.size && (text.data[at] == ' ' || text.data[at] == '\t'))
        at++;
    return at;
}

/* The function that is declared behind ".func", which may return something: "(...) name". */
static const char *declared_name(cbi_ctx *ctx, cbi_span text, size_t at)
{
    at = skip_blanks(text, at);
    if (at < text.size && text.data[at] == '(') {
        while (at < text.size && text.data[at] != ')' && text.data[at] != '\n')
            at++;
        at = skip_blanks(text, at < text.size ? at + 1 : at);
    }
    size_t start = at;
    while (at < text.size && text.data[at] > ' ' && text.data[at] != '(' && text.data[at] != ';')
        at++;
    return cbi_strndup(ctx, (const char *)text.data + start, at - start);
}

bool cbi_lto_is_closed(cbi_ctx *ctx, cbi_span ptx)
{
    static const char external[] = ".extern ";
    for (size_t at = 0; at < ptx.size; at = line_end(ptx, at)) {
        size_t word = skip_blanks(ptx, at);
        if (!starts(ptx, word, external))
            continue;
        word = skip_blanks(ptx, word + strlen(external));
        if (starts(ptx, word, ".global") || starts(ptx, word, ".const"))
            return false;
        if (starts(ptx, word, ".func") &&
            !cbi_driver_supplies(declared_name(ctx, ptx, word + strlen(".func"))))
            return false;
    }
    return true;
}

bool cbi_lto_find_ptx(cbi_ctx *ctx, cbi_span cubin, cbi_span *ret_text)
{
    cbi_elf elf;
    if (!cbi_elf_open(cubin, &elf))
        return false;
    for (uint32_t i = 1; i < elf.section_count; i++) {
        cbi_elf_section s = cbi_elf_section_at(&elf, i);
        if (strncmp(s.name, section_name, strlen(section_name)) != 0 || !s.data.size)
            continue;
        uint8_t *text = cbi_memdup(ctx, s.data.data, s.data.size);
        size_t size = s.data.size, start, end;
        while (size && !text[size - 1])
            size--;
        for (size_t k = 0; k < size; k++)
            if (!text[k])
                text[k] = '\n';
        if (!find_anchor((cbi_span){text, size}, &start, &end))
            continue;
        memmove(text + start, text + end, size - end);
        *ret_text = (cbi_span){text, size - (end - start)};
        return true;
    }
    return false;
}
