/* Does the model of scoreboards give the numbers that code has?  Over all inputs of tests/golden
 * from sm_100 on; scoreboards.txt lists the functions in which it decides otherwise somewhere, or
 * in which not the first reading of hidden sources is the best: decisions, and the reading.
 * After a change that was meant: UNIT_WRITE=1 build/tests/unit/test_scoreboards.  With files: says
 * the same of these. */
#include "unit.h"

#include "sass/scoreboard_assign.h"

#include <elf.h>
#include <glob.h>

enum { FIRST_CHIP = 100, LINE = 512 };

/* The section of a name; an empty span if there is none. */
static cbi_span section_named(cbi_span file, const char *prefix, const char *name)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)file.data;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(file.data + e->e_shoff);
    const char *names = (const char *)file.data + s[e->e_shstrndx].sh_offset;
    for (unsigned i = 0; i < e->e_shnum; i++) {
        const char *own = names + s[i].sh_name;
        if (strncmp(own, prefix, strlen(prefix)) == 0 && strcmp(own + strlen(prefix), name) == 0)
            return (cbi_span){file.data + s[i].sh_offset, s[i].sh_size};
    }
    return (cbi_span){0};
}

/* By how many decisions the model differs from the code, in the best reading; 0 where it does not
 * apply. */
typedef struct misfit {
    uint32_t decisions;
    cbi_sb_reading reading;
} misfit;

static misfit find_misfit(cbi_span code, cbi_span info, uint32_t chip)
{
    cbi_ctx ctx;
    unit_heap heap = {0};
    unit_ctx_init(&ctx, &heap);
    cbi_scoreboard_text text = {.size = code.size, .info = info, .chip = chip};
    text.bytes = cbi_memdup(&ctx, code.data, code.size);
    cbi_sb_code read = {.ctx = &ctx, .chip = chip}, best;
    cbi_sb_guide guide;
    misfit found = {0};
    if (cbi_sb_read_words(&read, text.bytes, text.size) && cbi_sb_qualifies(&read)) {
        read.calls_apart = cbi_sb_has_call(&read);
        if (cbi_sb_read_best(&read, &text, &best, &guide))
            found = (misfit){guide.count, best.reading};
    }
    cbi_ctx_fini(&ctx);
    assert_int_equal(heap.live, 0);
    return found;
}

typedef struct tally {
    unsigned functions, differ;
} tally;

/* A line for each function in which decisions differ. */
static void look_into(const char *path, const char *shown, tally *count, FILE *out)
{
    static const char text[] = ".text.";
    cbi_span file = unit_read_file(path);
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)file.data;
    uint32_t chip = file.size > sizeof *e ? e->e_flags >> 8 & 0xff : 0;
    const Elf64_Shdr *s = (const Elf64_Shdr *)(file.data + e->e_shoff);
    const char *names = (const char *)file.data + s[e->e_shstrndx].sh_offset;
    for (unsigned i = 0; chip >= FIRST_CHIP && i < e->e_shnum; i++) {
        const char *name = names + s[i].sh_name;
        if (s[i].sh_type != SHT_PROGBITS || strncmp(name, text, sizeof text - 1) != 0)
            continue;
        name += sizeof text - 1;
        misfit found = find_misfit((cbi_span){file.data + s[i].sh_offset, s[i].sh_size},
                                   section_named(file, ".nv.info.", name), chip);
        count->functions++;
        bool differs = found.decisions || found.reading != CBI_SB_READ_BY_REGISTERS;
        count->differ += differs;
        if (differs)
            fprintf(out, "%s %s %u %u\n", shown, name, found.decisions, (unsigned)found.reading);
    }
    free((void *)file.data);
}

static void code_is_reproduced(void **state)
{
    (void)state;
    const char *list = SOURCE_ROOT "/tests/unit/scoreboards.txt";
    char *found = NULL, *line = NULL;
    size_t size = 0, room = 0;
    glob_t inputs;
    FILE *out = open_memstream(&found, &size);
    tally count = {0};
    assert_int_equal(glob(unit_path("tests/golden/*/in/*.cubin"), 0, NULL, &inputs), 0);
    size_t root = strlen(unit_path("tests/golden/"));
    for (size_t i = 0; i < inputs.gl_pathc; i++)
        look_into(inputs.gl_pathv[i], inputs.gl_pathv[i] + root, &count, out);
    globfree(&inputs);
    fclose(out);
    assert_true(count.functions > 100);
    FILE *file = fopen(list, getenv("UNIT_WRITE") ? "w+" : "r");
    assert_non_null(file);
    if (getenv("UNIT_WRITE")) {
        fputs(found, file);
        rewind(file);
    }
    const char *at = found;
    while (getline(&line, &room, file) > 0) {
        if (strncmp(at, line, strlen(line)) != 0)
            fail_msg("expected: %sfound: %.*s", line, LINE, at);
        at += strlen(line);
    }
    assert_string_equal(at, "");
    fclose(file);
    free(line);
    free(found);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(code_is_reproduced)};
    tally count = {0};
    if (argc == 1)
        return cmocka_run_group_tests(tests, NULL, NULL);
    for (int i = 1; i < argc; i++)
        look_into(argv[i], argv[i], &count, stdout);
    printf("%u of %u functions differ\n", count.differ, count.functions);
    return 0;
}
