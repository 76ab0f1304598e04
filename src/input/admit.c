/* The checks that a cubin passes before it is linked, in nvlink's order and words. */
#include "format/cuda_elf.h"
#include "input/collect.h"
#include "input/elf.h"

enum {
    CUINFO_DESCRIPTOR = 24, /* after the note header */
};

typedef struct cuinfo {
    bool present;
    uint16_t version;
    uint32_t toolkit;
} cuinfo;

static bool is_legacy(const cbi_elf *elf)
{
    return elf->bytes.data[EI_OSABI] != ELFOSABI_CUDA;
}

static cuinfo read_cuinfo(const cbi_elf *elf)
{
    cuinfo info = {0};
    cbi_span note = {NULL, 0};
    if (is_legacy(elf)) /* before the note there was e_version */
        return (cuinfo){.present = true, .version = 2, .toolkit = cbi_ld32(elf->bytes.data + 20)};
    uint32_t index = EF_CUDA_CUINFO(elf->flags);
    if (index == EF_CUDA_CUINFO_BY_NAME) {
        cbi_elf_find(elf, ".note.nv.cuinfo", &note);
    } else if (index && index < elf->section_count) {
        cbi_elf_section s = cbi_elf_section_at(elf, index);
        if (s.type == SHT_NOTE)
            note = s.data;
    }
    cbi_reader r = cbi_reader_at(note, CUINFO_DESCRIPTOR);
    info.version = cbi_read16(&r);
    cbi_read16(&r); /* virtual architecture */
    info.toolkit = cbi_read16(&r);
    info.present = !r.bad;
    return info;
}

static void check_abi(cbi_ctx *ctx, const char *file, const cbi_elf *elf)
{
    const cbi_place place = {.file = file};
    uint8_t osabi = elf->bytes.data[EI_OSABI];
    uint8_t version = elf->bytes.data[EI_ABIVERSION];
    if (osabi == ELFOSABI_CUDA && version == CUDA_ABI_VERSION)
        return;
    if (is_legacy(elf) && !elf->class->narrow && !(elf->flags & EF_CUDA_LEGACY_64BIT_ADDRESS))
        cbi_warning(ctx, "input-no-64bit-flag", &place, NULL,
                    "expected 64bit object '%s' to have EF_CUDA_64BIT_ADDRESS set", file);
    if (osabi == ELFOSABI_CUDA_LEGACY && version == CUDA_ABI_VERSION_LEGACY &&
        !(elf->flags & EF_CUDA_LEGACY_REFUSED))
        return;
    cbi_fatal(ctx, "input-abi", &place,
              "it was made by a toolkit whose device ABI this link cannot read; compile it again "
              "with CUDA 13",
              "Input file '%s' abi does not match", file);
}

void cbi_inputs_check_virtual_name(cbi_inputs *in, uint32_t sm)
{
    if (in->options.exact && cbi_sm_is_mercury(sm)) /* a number of three digits */
        cbi_fatal(in->ctx, "input-arch-name", NULL, NULL, "specified arch exceeds buffer length");
}

/* A virtual target is for PTX; machine code counts as what it could have been compiled from. */
static bool accepts_virtual(const cbi_arch_facts *facts, const cbi_arch *target)
{
    bool specific = facts->specific && facts->sm != target->sm;
    return cbi_chip_find(facts->sm) &&
           cbi_arch_accepts_ptx_entry(facts->sm, specific ? 'a' : 0, target);
}

static bool accepts(const cbi_inputs *in, const cbi_arch_facts *facts)
{
    const cbi_arch *target = in->options.arch;
    return in->options.virtual_target ? accepts_virtual(facts, target)
                                      : cbi_arch_accepts_cubin(facts, in->seen_mercury, target);
}

bool cbi_cubin_fits(const cbi_inputs *in, cbi_span bytes)
{
    cbi_elf elf;
    if (!cbi_elf_open(bytes, &elf))
        return true; /* left to the checks that name the damage */
    cbi_arch_facts facts = cbi_elf_facts(&elf);
    return accepts(in, &facts);
}

static void check_arch(cbi_inputs *in, const char *file, const cbi_arch_facts *facts)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_arch *target = in->options.arch;
    const cbi_place place = {.file = file};
    if (facts->sm == 0)
        cbi_fatal(ctx, "input-arch-unknown", &place, NULL, "Unknown arch name '%s_0'",
                  in->options.virtual_target ? "compute" : "sm");
    if (in->options.virtual_target)
        cbi_inputs_check_virtual_name(in, facts->sm);
    if (cbi_arch_is_mercury(target) && !facts->mercury && !in->warned_limit) {
        in->warned_limit = true;
        cbi_warning(ctx, "output-limited", &place, NULL,
                    "Output is limited to run on SM Arch '%u' only due to limitations in input "
                    "file %s",
                    target->sm, file);
    }
    if (!accepts(in, facts)) {
        const char *help = cbi_printf(
            ctx, "'%s' was compiled for sm_%u%s; link for that target, or compile it for %s", file,
            facts->sm, facts->specific && facts->has_compat ? "a" : "", target->name);
        cbi_fatal(ctx, "input-arch", &place, help,
                  "Input file '%s' arch does not match target '%s'", file, in->options.arch_text);
    }
    in->seen_mercury |= facts->mercury;
}

static void check_toolkit(cbi_inputs *in, const char *file, const cbi_elf *elf,
                          const cbi_arch_facts *facts)
{
    cbi_ctx *ctx = in->ctx;
    const cbi_place place = {.file = file};
    cuinfo info = read_cuinfo(elf);
    if (info.present && info.toolkit > CUDA_TOOLKIT)
        cbi_fatal(ctx, "input-newer", &place, NULL, "Input file '%s' newer than toolkit (%d vs %d)",
                  file, info.toolkit, CUDA_TOOLKIT);
    if (cbi_sm_has_old_objects(facts->sm) &&
        (!info.present || info.version < 2 || info.toolkit < CUDA_TOOLKIT_MIN))
        cbi_fatal(ctx, "input-older", &place, NULL,
                  "Input file '%s' must be recompiled with toolkit >= Cuda 12.0", file);
    in->seen_ewp |= elf->type == ET_CUDA_EWP;
    if (in->seen_ewp && info.toolkit != CUDA_TOOLKIT)
        cbi_fatal(ctx, "input-ewp", &place, NULL,
                  "linking with -ewp objects requires using current toolkit");
}

/* What the finalizer asks of an input with a Mercury view. */
static void check_mercury(cbi_ctx *ctx, const char *file, const cbi_elf *elf,
                          const cbi_arch_facts *facts)
{
    const char *why = NULL;
    if (facts->isa > CBI_MERCURY_ISA_MAX)
        why = cbi_printf(ctx, "its Mercury version 0x%x is newer than 0x%x", facts->isa,
                         CBI_MERCURY_ISA_MAX);
    else if (elf->type != ET_REL && elf->type != ET_CUDA_EWP)
        why = cbi_printf(ctx, "its e_type 0x%x is none that is finalized", elf->type);
    else if (!cbi_arch_has_finalizer(facts->sm))
        why = cbi_printf(ctx, "there is no compiler of Mercury code for sm_%u", facts->sm);
    if (why)
        cbi_fatal(ctx, "finalizer", &(cbi_place){.file = file}, why, "Internal FNLZR error '%s'",
                  file);
}

CBI_NORETURN static void wrong_size(const cbi_inputs *in, const cbi_place *place)
{
    cbi_fatal(in->ctx, "input-size", place,
              in->options.elf32 ? "--elf32 takes ELF32 files only"
                                : "code for 32-bit host programs; --elf32 links such files",
              "Input file '%s' size does not match target '-m%s'", place->file,
              in->options.elf32 ? "32" : "64");
}

cbi_admission cbi_admit_cubin(cbi_inputs *in, const cbi_origin *origin, cbi_span bytes,
                              bool embedded)
{
    cbi_ctx *ctx = in->ctx;
    const char *file = origin->file;
    const uint8_t class = in->options.elf32 ? ELFCLASS32 : ELFCLASS64;
    const cbi_place place = {.file = file};
    /* From sm_100 on what may be linked depends on what came before. */
    if (cbi_arch_is_mercury(in->options.arch))
        cbi_inputs_compile(in);
    if (cbi_elf_type(bytes) == ET_EXEC) {
        if (!in->options.exact)
            cbi_warning(ctx, "input-already-linked", &place,
                        "compile with -rdc=true (nvcc) or --compile-only (ptxas) to get code that "
                        "can be linked",
                        "'%s' is ignored: it is an executable device image, already linked", file);
        return CBI_DROPPED_LINKED;
    }
    /* From here on it counts as an input, even if it turns out damaged. */
    in->any_module = true;
    if (embedded && (bytes.size < EI_NIDENT || !cbi_is_elf(bytes) || bytes.data[EI_CLASS] != class))
        wrong_size(in, &place);
    cbi_elf elf;
    const char *damage = NULL;
    if (!cbi_elf_open(bytes, &elf))
        damage = elf.damage;
    else if (elf.class->narrow != in->options.elf32) {
        if (in->options.elf32 || (elf.type == ET_REL && cbi_elf_is_whole(&elf)))
            wrong_size(in, &place);
        damage = "it is a 32-bit ELF";
    } else if (elf.names.size == 0 && !in->options.exact)
        damage = "it has no section names";
    else if (elf.machine != EM_CUDA)
        damage = "it is no device ELF";
    if (damage) {
        if (!in->options.exact)
            cbi_error(ctx, "input-damaged", &place, NULL, "'%s' is damaged: %s", file, damage);
        return CBI_DROPPED_DAMAGED;
    }
    check_abi(ctx, file, &elf);
    cbi_arch_facts facts = cbi_elf_facts(&elf);
    check_arch(in, file, &facts);
    check_toolkit(in, file, &elf, &facts);
    if (cbi_arch_is_mercury(in->options.arch) && (elf.kind & EF_CUDA_KIND_CAPMERC) &&
        (elf.kind & EF_CUDA_KIND_SASS))
        cbi_fatal(ctx, "input-kind", &place,
                  "its e_flags claim Mercury code and SASS only at the same time",
                  "Internal error");
    if (cbi_arch_is_mercury(in->options.arch) && (elf.kind & EF_CUDA_KIND_CAPMERC))
        check_mercury(ctx, file, &elf, &facts);
    if (!cbi_sm_is_mercury(facts.sm) && (elf.kind & EF_CUDA_KIND_CAPMERC))
        cbi_fatal(ctx, "input-kind", &place,
                  "its e_flags name a Mercury capsule, which its architecture does not have",
                  "Internal error");
    if (elf.names.size == 0)
        cbi_fatal(ctx, "input-damaged", &place, NULL, "Internal error: symsec not found");
    return CBI_ADMITTED;
}
