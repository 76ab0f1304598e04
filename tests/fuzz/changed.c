/* What links of changed copies of sound objects give, in digests: a change of a rule that no sound
 * object needs shows, too.
 *
 *     changed [-n COUNT] [-1 NUMBER] [-c NUMBER,...] FILE[@NUMBER,...]...
 *
 * Prints "NAME DIGEST" for each file that is a device ELF.  Copy NUMBER depends on its number and
 * the file alone.  Half of the copies are made as for the fuzz targets (mutant_make.c), in the
 * others instructions get other registers, scoreboards, waits, or places.  A copy is linked, alone
 * or with another, with all that a link can tell; one of an executable is finalized.  -1 writes one
 * copy to stdout.  Behind @ are the numbers of the copies that are looked at instead of the first
 * COUNT.  -c: random code of these numbers (changed_code.h) through the models. */
#include "changed_code.h"

#include "mercury/pace.h"
#include "sass/opcodes.h"
#include "sass/pace_code.h"

#include "fuzz_told.h"
#include "mutant_parts.h"

#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

enum { COPIES = 12, MAX_CHANGES = 6, MAX_CODE = 400 };

typedef struct copy {
    uint8_t *data;
    size_t size;
    uint64_t number;
    uint64_t digest;
    uint64_t code; /* the instructions that were changed, 0 of them: none */
    size_t code_count;
} copy;

static void take(copy *c, const void *data, size_t size)
{
    c->digest = XXH3_64bits_withSeed(data, size, c->digest);
}

static void take_line(void *user, const char *text)
{
    take(user, text, strlen(text));
}

static void take_diagnostic(void *user, const cb_diagnostic *d)
{
    take_line(user, d->message);
    if (d->help)
        take_line(user, d->help);
}

static int take_bytes(void *user, const void *data, size_t size)
{
    take(user, data, size);
    return 0;
}

static bool is_executable(cbi_span object)
{
    return cbi_ld16(object.data + offsetof(Elf64_Ehdr, e_type)) == ET_EXEC;
}

/* ---- changed code ---- */

static cbi_sass changed_instruction(cbi_sass w, uint64_t *state)
{
    static const uint8_t registers[] = {16, 24, 32, 64};
    static const uint8_t predicates[] = {12, 68, 77, 81, 84, 87};
    uint64_t value = next(state);
    unsigned at;
    switch (below(state, 11)) {
    case 10: /* another operation */
        w.lo = (w.lo & ~UINT64_C(0xfff)) | cbi_instructions[value % cbi_instruction_count].opcode;
        return w;
    case 5:
    case 6: /* a modifier: width, form, function, or a predicate */
        w.hi ^= UINT64_C(1) << (8 + value % 20);
        return w;
    case 0:
        cbi_sass_set_stall(&w, value & 15);
        return w;
    case 1:
        cbi_sass_set_write(&w, value & 7);
        return w;
    case 2:
        cbi_sass_set_read(&w, value & 7);
        return w;
    case 3:
        cbi_sass_set_wait(&w, cbi_sass_wait(w) ^ 1u << value % CBI_SB_NUMBERS);
        return w;
    case 4:
        at = predicates[below(state, CBI_COUNT(predicates))];
        break;
    default: /* a register near by */
        at = registers[below(state, CBI_COUNT(registers))];
        value = cbi_sass_bits(w, at, 8) + (value & 3);
    }
    uint64_t mask = at % 8 ? 7 : 0xff;
    uint64_t *half = at < 64 ? &w.lo : &w.hi;
    *half = (*half & ~(mask << at % 64)) | (value & mask) << at % 64;
    return w;
}

/* Where the instructions of a section of code are; 0: there are none. */
static size_t draw_code(const elf *e, uint64_t *state, uint64_t *ret_offset)
{
    size_t start = below(state, e->count);
    for (size_t i = 0; i < e->count; i++) {
        shdr s = section(e, (start + i) % e->count);
        const uint8_t *h = e->data + s.place;
        if (s.type != SHT_PROGBITS || !(cbi_ld64(h + 8) & SHF_EXECINSTR) || s.size < 2 * 16)
            continue;
        *ret_offset = s.offset;
        return s.size / 16;
    }
    return 0;
}

static void change_code(copy *c, uint64_t *state)
{
    elf e;
    c->code_count = open_elf(c->data, c->size, &e) ? draw_code(&e, state, &c->code) : 0;
    for (size_t n = c->code_count ? 1 + below(state, MAX_CHANGES) : 0; n; n--) {
        uint8_t *a = c->data + c->code + 16 * below(state, c->code_count);
        uint8_t *b = c->data + c->code + 16 * below(state, c->code_count);
        cbi_sass w = cbi_sass_load(a);
        switch (below(state, 12)) {
        case 0: /* trades places with another */
            cbi_sass_store(a, cbi_sass_load(b));
            cbi_sass_store(b, w);
            break;
        case 1: /* comes twice */
            cbi_sass_store(b, w);
            break;
        default:
            cbi_sass_store(a, changed_instruction(w, state));
        }
    }
}

static copy make(const mutant_seeds *seed, uint64_t number)
{
    const bool executable = is_executable(seed->files[0]);
    copy c = {.number = number};
    uint64_t state = number;
    if (number % 2) {
        c.data = mutant_make(seed, 1, number,
                             number % 4 == 1 && !executable ? MUTANT_PAIR : MUTANT_OBJECT, &c.size);
        return c;
    }
    cbi_span sound = seed->files[0];
    c.size = sound.size;
    c.data = malloc(c.size);
    if (!c.data)
        abort();
    memcpy(c.data, sound.data, c.size);
    change_code(&c, &state);
    return c;
}

/* ---- what is made of them ---- */

/* A target of the object's chip, or of the next one of its family. */
static const cbi_arch *target_of(cbi_span object, uint64_t choice)
{
    uint32_t sm = object.size >= sizeof(Elf64_Ehdr)
                      ? EF_CUDA_SM(cbi_ld32(object.data + offsetof(Elf64_Ehdr, e_flags)))
                      : 0;
    if (choice % 4 == 3 && (sm == 100 || sm == 120))
        return cbi_arch_find(sm == 100 ? "sm_103" : "sm_121");
    size_t first = 0, count = 0;
    for (size_t i = 0; i < cbi_arch_count; i++)
        if (cbi_archs[i].sm == sm && !count++)
            first = i;
    return count ? &cbi_archs[first + choice % count] : cbi_arch_find("sm_90");
}

static cb_status link_copy(cbi_ctx *ctx, void *arg)
{
    copy *c = arg;
    cbi_span first, second;
    fuzz_split((cbi_span){c->data, c->size}, &first, &second);
    uint64_t choice = c->number / 2;
    const cbi_arch *arch = target_of(first, choice);
    const cbi_input_options how = {
        .arch = arch, .arch_text = arch->name, .exact = choice & 1, .register_names = true};
    cbi_inputs_result inputs;
    fuzz_add_both(ctx, &how, first, second, &inputs);
    cbi_link_options options = fuzz_telling(&how, &inputs, choice, take_line, c);
    options.relocatable = choice % 5 == 1;
    options.debug = choice % 3 == 1;
    options.preserve_relocs = choice % 7 == 1;
    options.extra_warnings = choice & 2;
    options.trace_eligibility = choice & 4;
    options.traced_count = choice % 8 == 7 ? CBI_COUNT(fuzz_names) : 0;
    options.why_live_count = choice % 8 == 5 ? CBI_COUNT(fuzz_names) : 0;
    cbi_link_result result = {0};
    cb_status status = cbi_link(ctx, &options, inputs.inputs, inputs.input_count, &result);
    take(c, result.dot.items, result.dot.len);
    take(c, result.map.items, result.map.len);
    cbi_span image = cbi_rope_flatten(ctx, &result.image);
    take(c, image.data, image.size);
    return status;
}

static void link_it(copy *c)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    ctx.memory_limit = FUZZ_MEMORY_LIMIT;
    ctx.on_diagnostic = take_diagnostic;
    ctx.on_diagnostic_user = c;
    cb_status status = cbi_run(&ctx, link_copy, c);
    take(c, &status, sizeof status);
    cbi_ctx_fini(&ctx);
}

static void finalize_it(copy *c)
{
    const cbi_arch *arch = target_of((cbi_span){c->data, c->size}, c->number / 2);
    const cb_finalize_options options = {
        .struct_size = sizeof options,
        .arch = arch->name,
        .flags = CB_FINALIZE_TRACE | (c->number % 16 ? CB_FINALIZE_SELF_CHECK : 0),
        .memory_limit = FUZZ_MEMORY_LIMIT,
        .options = c->number % 3 ? "--verbose-tkinfo --opportunistic-finalization-lvl=1" : NULL,
        .output_name = "out.cubin",
        .on_diagnostic = take_diagnostic,
        .on_diagnostic_user = c,
    };
    cb_finalize_result result;
    cb_finalize(&options, "input", c->data, c->size, take_bytes, c, &result);
    take(c, &result, sizeof result);
}

/* ---- the models of code ---- */

/* The code with some of its exits behind a barrier, or its first instructions gone. */
static cbi_scoreboard_text moved_code(cbi_ctx *ctx, const copy *c, uint64_t *state)
{
    enum { FENCE = 2 };
    size_t count = c->code_count;
    uint32_t *place = CBI_NEW_ARRAY(ctx, count + 1, uint32_t);
    uint32_t *self = CBI_NEW_ARRAY(ctx, count + 1, uint32_t);
    cbi_buf out = {0};
    uint64_t how = below(state, 3);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *from = c->data + c->code + 16 * i;
        uint32_t op = cbi_sass_opcode(from);
        place[i] = (uint32_t)out.len;
        for (size_t k = 0; how == 1 && op == CBI_OP_EXIT && k < FENCE; k++) {
            cbi_sass w = {(k ? CBI_OP_ERRBAR : CBI_OP_MEMBAR) | 0x7000, UINT64_C(3) << 8};
            cbi_sass_set_stall(&w, 4);
            cbi_sass_set_scoreboards(&w, CBI_SB_EVERYTHING);
            if (!k)
                cbi_sass_set_read(&w, below(state, CBI_SB_NUMBERS));
            uint8_t fence[CBI_SASS_INSTRUCTION];
            cbi_sass_store(fence, w);
            cbi_buf_append(ctx, &out, fence, sizeof fence);
        }
        self[i] = (uint32_t)out.len;
        bool goes = how == 2 && (op == CBI_OP_ERRBAR || op == CBI_OP_MEMBAR);
        if (!goes)
            cbi_buf_append(ctx, &out, from, 16);
    }
    place[count] = self[count] = (uint32_t)out.len;
    return (cbi_scoreboard_text){.bytes = (uint8_t *)out.items,
                                 .size = out.len,
                                 .place = how ? place : NULL,
                                 .self = how ? self : NULL,
                                 .places = how ? count + 1 : 0,
                                 .chip = 100,
                                 .target = 103};
}

static void take_pace(copy *c, const cbi_pace *pace)
{
    take(c, pace->words, pace->count * sizeof *pace->words);
    take(c, pace->cycles, pace->count * sizeof *pace->cycles);
}

/* Is code of the copy good for code of a sound file? */
static void compare_code(cbi_ctx *ctx, copy *c, const cbi_scoreboard_text *text, cbi_span sound)
{
    cbi_sb_code code = {.ctx = ctx, .calls_apart = c->number & 2, .chip = text->chip}, was = code;
    if (!cbi_sb_read_words(&code, text->bytes, text->size) ||
        !cbi_sb_read_words(&was, sound.data, sound.size) || was.n != code.n ||
        !cbi_sb_read(&was, text->info, NULL, 0))
        return;
    bool kept = cbi_pace_keeps_waits(&was, code.words);
    take(c, &kept, sizeof kept);
}

static cb_status model_copy(cbi_ctx *ctx, void *arg)
{
    copy *c = arg;
    uint64_t state = c->number;
    cbi_scoreboard_text text = moved_code(ctx, c, &state), again = text;
    cbi_span changed = {cbi_memdup(ctx, text.bytes, text.size), text.size};
    bool done = cbi_scoreboard_assign(ctx, &text);
    if (text.places)
        cbi_scoreboard_meet_exits(ctx, &text, c->number & 2);
    take(c, &done, sizeof done);
    take(c, text.bytes, text.size);
    compare_code(ctx, c, &text, changed);
    compare_code(ctx, c,
                 &(cbi_scoreboard_text){.bytes = (uint8_t *)changed.data, .size = changed.size},
                 (cbi_span){text.bytes, text.size});
    again.bytes = cbi_memdup(ctx, changed.data, changed.size);
    again.chip = c->number & 4 ? 100 : 120;
    static const cbi_schedule schedules[] = {CBI_SCHEDULE_KEPT, CBI_SCHEDULE_MADE,
                                             CBI_SCHEDULE_LOST};
    cbi_schedule schedule = schedules[c->number / 8 % CBI_COUNT(schedules)];
    cbi_pace pace;
    if (cbi_pace_code(ctx, &again, schedule, c->number & 2,
                      CBI_NEW_ARRAY(ctx, text.size / 16 + 1, bool), &pace))
        take_pace(c, &pace);
    return CB_OK;
}

static void model_it(copy *c)
{
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    if (c->code_count && c->code_count < MAX_CODE)
        cbi_run(&ctx, model_copy, c);
    cbi_ctx_fini(&ctx);
}

static uint64_t digest_of_copy(const mutant_seeds *seed, uint64_t number)
{
    copy c = make(seed, number);
    model_it(&c);
    if (is_executable(seed->files[0]))
        finalize_it(&c);
    else
        link_it(&c);
    free(c.data);
    return c.digest;
}

static cb_status model_random(cbi_ctx *ctx, void *arg)
{
    copy *c = arg;
    cbi_span code = changed_random_code(ctx, c->number, &c->digest);
    c->data = (uint8_t *)code.data;
    c->code_count = code.size / CBI_SASS_INSTRUCTION;
    return model_copy(ctx, c);
}

static uint64_t digest_of_code(uint64_t number)
{
    copy c = {.number = number};
    cbi_ctx ctx;
    cbi_ctx_init(&ctx);
    cbi_run(&ctx, model_random, &c);
    cbi_ctx_fini(&ctx);
    return c.digest;
}

/* The next number of a list, apart by commas, or false. */
static bool next_number(char **list, uint64_t *ret_number)
{
    char *word = strsep(list, ",");
    *ret_number = word ? strtoull(word, NULL, 0) : 0;
    return word;
}

static uint64_t digest_of(const mutant_seeds *seed, uint64_t copies, char *chosen)
{
    uint64_t digest = 0, number;
    if (chosen)
        while (next_number(&chosen, &number))
            digest = digest * 31 + digest_of_copy(seed, number);
    else
        for (number = 0; number < copies; number++)
            digest = digest * 31 + digest_of_copy(seed, number);
    return digest;
}

static void print_codes(char *numbers)
{
    uint64_t digest = 0, number;
    while (next_number(&numbers, &number))
        digest = digest * 31 + digest_of_code(number);
    printf("code %016llx\n", (unsigned long long)digest);
}

static int write_one(const mutant_seeds *seed, uint64_t number)
{
    copy c = make(seed, number);
    bool written = fwrite(c.data, 1, c.size, stdout) == c.size;
    free(c.data);
    return written ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t copies = COPIES, only = UINT64_MAX;
    for (int option; (option = getopt(argc, argv, "n:1:c:")) != -1;)
        if (option == 'n')
            copies = strtoull(optarg, NULL, 0);
        else if (option == '1')
            only = strtoull(optarg, NULL, 0);
        else if (option == 'c')
            print_codes(optarg);
        else
            return 2;
    for (int i = optind; i < argc; i++) {
        mutant_seeds seed = {0};
        char *chosen = argv[i];
        strsep(&chosen, "@");
        mutant_load(&seed, argv + i, 1);
        if (seed.object_count && only != UINT64_MAX)
            return write_one(&seed, only);
        if (seed.object_count)
            printf("%s %016llx\n", cbi_base_name(argv[i]),
                   (unsigned long long)digest_of(&seed, copies, chosen));
        mutant_unload(&seed);
    }
    return 0;
}
