/* Prints docs/format-tables.md from the tables of src/format, so that the document says what the
 * program does.  `./dev docs` writes it; a test compares. */
#include <stdio.h>

#include "format/arch.h"
#include "format/cuda_elf.h"
#include "format/eiattr.h"
#include "format/eicompat.h"
#include "format/reloc.h"
#include "format/section.h"
#include "sass/opcodes.h"

#define NAME(names, value) ((value) < CBI_COUNT(names) ? (names)[value] : "?")

static const char *const formats[] = {"", "none", "byte", "half", "sized"};

static void print_targets(void)
{
    printf("## Targets\n\n");
    for (size_t i = 0; i < cbi_arch_count; i++)
        printf("%s%s", cbi_archs[i].name,
               i + 1 == cbi_arch_count ? "\n\n"
               : i % 12 == 11          ? ",\n"
                                       : ", ");
}

static void print_sections(void)
{
    static const char *const links[] = {"",        ".symtab",         ".nv.merc.symtab",
                                        ".strtab", ".note.nv.tkinfo", "any"};
    static const char *const infos[] = {"",
                                        "code section",
                                        "function symbol",
                                        "capsule",
                                        "function symbol",
                                        "patched section",
                                        "first global",
                                        ".nv.compat",
                                        "any"};
    printf("## Sections\n\n`NAME.*` stands for the name with a dot and a function, variable or "
           "section after it.\nTypes and flags are hexadecimal; an empty type means that such "
           "files do not have the section.\n\n"
           "| name | type, relocatable | type, executable | flags | sh_link | sh_info | align | "
           "entry | targets |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < cbi_section_rule_count; i++) {
        const cbi_section_rule *s = &cbi_section_rules[i];
        printf("| `%s%s` | ", s->name, s->suffix ? ".*" : "");
        if (s->type)
            printf("%x", s->type);
        printf(" | ");
        if (s->exec_type)
            printf("%x", s->exec_type);
        printf(" | %x | %s | %s | %u | %u | ", s->flags, NAME(links, s->link), NAME(infos, s->info),
               s->align, s->entsize);
        if (s->first_sm && s->last_sm < 255)
            printf("%u..%u |\n", s->first_sm, s->last_sm);
        else if (s->first_sm)
            printf("from %u |\n", s->first_sm);
        else if (s->last_sm < 255)
            printf("up to %u |\n", s->last_sm);
        else
            printf("all |\n");
    }
    printf("\n");
}

static void print_reloc_rows(const cbi_reloc_type *rows, size_t count)
{
    static const char *const classes[] = {"", "linker", "either", "driver", "finalizer"};
    static const char *const actions[] = {"dropped",
                                          "patched",
                                          "kept",
                                          "made plain",
                                          "zeroed if unused",
                                          "patched or error",
                                          "kept, patched",
                                          "error",
                                          "patched for threads in step"};
    printf("| type | name | for | final link | fields | slot |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        const cbi_reloc_type *t = &rows[i];
        printf(t->type < R_MERCURY_FIRST ? "| %u | `%s` | %s | %s | "
                                         : "| 0x%x | `%s` | %s | %s | ",
               t->type, t->name, NAME(classes, t->klass), NAME(actions, t->action));
        for (size_t k = 0; k < t->field_count; k++) {
            const cbi_reloc_field *f = &t->fields[k];
            printf("%s%u..%u = %s", k ? "; " : "", f->start, f->start + f->width - 1,
                   cbi_reloc_source_name(f->source));
            if (f->shift)
                printf(" >> %u", f->shift);
        }
        if (t->plain)
            printf(" as `%s`", cbi_reloc_find(t->plain)->name);
        printf(" |%s |\n", t->texture_slot ? " yes" : "");
    }
    printf("\n");
}

static void print_relocs(void)
{
    printf("## Relocations\n\nFields are bit ranges of the little-endian number at the place, and "
           "what they get.  V is symbol plus addend.\nSlot: an image can be meant by its slot in "
           "bank 0.\n\n### R_CUDA\n\n");
    print_reloc_rows(cbi_reloc_cuda, CBI_RELOC_CUDA_TYPES);
    printf("### R_MERCURY\n\n");
    print_reloc_rows(cbi_reloc_mercury, CBI_RELOC_MERCURY_TYPES);
}

static void print_attributes(void)
{
    static const char *const payloads[] = {"",
                                           "nothing",
                                           "number",
                                           "words",
                                           "x, y, z",
                                           "symbol, value",
                                           "symbols",
                                           "code offsets",
                                           "(offset, value)...",
                                           "section, offset, size",
                                           "parameter",
                                           "parameter",
                                           "branch, 0, n, targets",
                                           "(offset, 3 words)...",
                                           "(offset, registers, mask)...",
                                           "kind, length, text"};
    static const char *const scopes[] = {"either", "module", "function"};
    static const char *const links[] = {"copied",
                                        "deleted",
                                        "bound of the stack; deleted, kept by -r",
                                        "index translated",
                                        "index translated",
                                        "set if any",
                                        "set if any; one of two",
                                        "last value",
                                        "maximum",
                                        "sum",
                                        "bitwise or",
                                        "moved to entries",
                                        "undefined ones, union",
                                        "largest path",
                                        "counts as CRS stack",
                                        "source of MIN_STACK_SIZE",
                                        "computed",
                                        "maximum",
                                        "maximum, bounded",
                                        "bound of REGCOUNT",
                                        "turns into EXPLICIT_CACHING"};
    static const char *const finals[] = {"", "dropped", "from the SASS side, at the end"};
    printf(
        "## Attributes of .nv.info (EIATTR)\n\nThe column \"final link\" says what becomes of the "
        "record, or what an entry gets from the functions that it reaches;\n\"finalizer\", how "
        "the record for SASS follows from the Mercury one (sm_100 and later).\nCodes without a "
        "format have a public name only.\n\n"
        "| code | name | format | payload | where | final link | finalizer |\n"
        "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < CBI_EIATTR_CODES; i++) {
        const cbi_eiattr *a = &cbi_eiattrs[i];
        if (a->format)
            printf("| 0x%02x | `%s` | %s | %s | %s | %s | %s |\n", a->code, a->name,
                   NAME(formats, a->format), NAME(payloads, a->payload), NAME(scopes, a->scope),
                   NAME(links, a->link), NAME(finals, a->finalize));
        else
            printf("| 0x%02x | `%s` | | | | %s | |\n", a->code, a->name, NAME(links, a->link));
    }
    printf("\n");
}

static void print_chips(void)
{
    printf("## Targets\n\nShared memory in bytes: the most a kernel may have (`a` targets, and "
           "with --enable-extended-smem;\n0x%x otherwise), and what the system takes of it.\n"
           "\"runs\": other chips whose machine code it runs unchanged.\n\"made from\": the chip "
           "whose "
           "fatbin entries a finalizer turns into code for it.\nThe next two: its bit in "
           "CAN_FASTPATH_FINALIZE, and the bits of its own code.\n\n"
           "| sm | shared | reserved | runs | made from | bit | code | notes "
           "|\n|---|---|---|---|---|---|---|---|\n",
           CBI_SHARED_MAX);
    for (size_t i = 0; i < cbi_chip_count; i++) {
        const cbi_chip *c = &cbi_chips[i];
        printf("| %u | 0x%x | 0x%x |", c->sm, c->shared_max, c->reserved_shared);
        for (size_t k = 0; k < CBI_COUNT(c->same_code); k++)
            if (c->same_code[k])
                printf(" %u", c->same_code[k]);
        printf(" |");
        if (c->finalized_from)
            printf(" %u", c->finalized_from);
        printf(" | 0x%02x | 0x%02x |", c->fast_bit, c->fast_mask);
        const struct {
            bool holds;
            const char *text;
        } notes[] = {{c->fence_reads, "fences at exits have a read scoreboard"},
                     {c->quick, "quick results a cycle sooner"},
                     {c->other_pace, "made code changes its pace"},
                     {c->runs_all, "runs all code it is made from"}};
        const char *separator = " ";
        for (size_t k = 0; k < CBI_COUNT(notes); k++) {
            if (notes[k].holds)
                printf("%s%s", separator, notes[k].text);
            separator = notes[k].holds ? ", " : separator;
        }
        printf(" |\n");
    }
    printf("\n");
}

/* Flags in the order of their bits. */
static void print_flags(unsigned bits, const char *const *names, size_t count)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (!(bits >> i & 1))
            continue;
        printf("%s%s", first ? "" : ", ", names[i]);
        first = false;
    }
}

static void print_instructions(void)
{
    static const char *const lengths[] = {
        "2?", "1?", "1", "2", "1 or 2", "1 or 2", "1 or 2", "1 or 2", "1 or 2", "1 or 2", "1 or 2"};
    static const char *const kinds[] = {
        "",         "ALU",     "multiply",   "wide",    "float",        "half",    "pair",
        "half ALU", "counter", "to uniform", "uniform", "uniform move", "memory",  "constant",
        "special",  "remote",  "late",       "convert", "slow",         "control", "call"};
    static const char *const predicates[] = {"w81", "w84", "r87", "r77", "r68", "r87 if bit 74"};
    static const char *const flags[] = {"long",     "branch",   "call",      "relative", "mbarrier",
                                        "texture",  "copy end", "companion", "fence",    "shared",
                                        "field 32", "field 20", "opaque",    "tested",   "quick"};
    printf("## Instructions\n\nOf sm_100 and later, by the low 12 bits; 1000 is added to those "
           "that have another meaning from sm_120 on (bit 91).\nLength: units of 16 bytes of the "
           "Mercury form "
           "without a record in the capsule, `?`: as far as seen.\nCycles where they are not as of "
           "most: result, sources (two more for each register that "
           "is read).\nPredicates beside the guard: first bits of the fields that "
           "are written or read.\n"
           "src/sass/opcodes.h says what kinds and flags mean.\n\n"
           "| opcode | mnemonic | length | kind | cycles | predicates | flags "
           "|\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < cbi_instruction_count; i++) {
        const cbi_instruction *row = &cbi_instructions[i];
        printf("| %03x | `%s` | %s | %s | ", row->opcode, row->mnemonic, NAME(lengths, row->length),
               NAME(kinds, row->kind));
        if (row->result || row->sources)
            printf("%u, %u", row->result, row->sources);
        printf(" | ");
        print_flags(row->predicates, predicates, CBI_COUNT(predicates));
        printf(" | ");
        print_flags(row->flags, flags, CBI_COUNT(flags));
        printf(" |\n");
    }
    printf("\n");
}

static void print_compat(void)
{
    static const char *const merges[] = {"dropped",
                                         "0 if either is 0, else maximum",
                                         "bitwise or",
                                         ("low nibble: per 2-bit field, 0 if either is 0, else "
                                          "maximum; high nibble of the first"),
                                         "kept if equal, else 1",
                                         "maximum",
                                         "1 for an `a` target, else 0",
                                         "computed by the finalizer"};
    printf("## Attributes of .nv.compat (EICOMPAT)\n\n"
           "| id | name | format | joined | default |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < cbi_eicompat_count; i++) {
        const cbi_eicompat *c = &cbi_eicompats[i];
        printf("| 0x%02x | `%s` | %s | %s | ", c->id, c->name, NAME(formats, c->format),
               NAME(merges, c->merge));
        if (c->has_default)
            printf("0x%x", c->default_value);
        printf(" |\n");
    }
}

int main(void)
{
    printf(
        "# Tables of the format\n\nPrinted from the tables in src/format by docs/tables.c; do not "
        "edit.  [format.md](format.md) explains.\n\n");
    print_targets();
    print_sections();
    print_relocs();
    print_attributes();
    print_chips();
    print_compat();
    print_instructions();
    return 0;
}
