/* The finalizer's engine: its phases, one function each. */
#include "finalize/fnlzr_engine.h"

#include "format/eicompat.h"
#include "format/reloc.h"
#include "mercury/mercury.h"
#include "mercury/pace.h"
#include "object/rules.h"

/* nvlink leaves symbols of constants that it dropped behind the end of their bank. */
static bool is_left_constant(const cbi_object *object, const cbi_finding *finding)
{
    return object->type == ET_EXEC && finding->section &&
           strstr(finding->section, ".nv.constant") &&
           strcmp(finding->rule, cbi_object_rules[CBI_RULE_SYMBOL_RANGE].id) == 0;
}

bool cbi_fnlzr_read(const cbi_fnlzr_state *f, cbi_span image, cbi_object *ret_object,
                    const char **ret_why)
{
    cbi_findings findings = {0};
    cbi_object_kind kind = cbi_object_read(f->ctx, f->name, image, ret_object, &findings);
    bool sound = kind == CBI_OBJECT_OK || (kind == CBI_OBJECT_DAMAGED && findings.len);
    const char *why = "not a device ELF";
    for (size_t i = 0; i < findings.len && sound; i++)
        if (!is_left_constant(ret_object, &findings.items[i])) {
            sound = false;
            why = findings.items[i].message;
        }
    if (sound && ret_object->doubts.len) {
        sound = false;
        why = ret_object->doubts.items[0].message;
    }
    if (!sound && ret_why)
        *ret_why = why;
    return sound;
}

bool cbi_fnlzr_reread(const cbi_fnlzr_state *f, cbi_object *ret_object)
{
    const cbi_span image = {f->out.items, f->out.len};
    return cbi_fnlzr_read(f, image, ret_object, NULL);
}

/* ---- validation ---- */

/* Jump slots have no code of their own; capsules of early compilers lack the mark of the others. */
static bool can_read_capsule(const cbi_section *s)
{
    return cbi_after(s->name, ".nv.capmerc.text.") &&
           (s->data.size < 8 || cbi_ld32(s->data.data + 4) >> 30 == 3);
}

/* What is wrong with a section of the Mercury view that the link, which reads it, refuses and that
 * here would be passed on; or NULL.  The self check says more of capsules, with a code of its own.
 */
static const char *mercury_problem(const cbi_fnlzr_state *f, const cbi_section *s)
{
    if (s->type == SHT_CUDA_CAPMERC)
        return !f->config.self_check && can_read_capsule(s)
                   ? cbi_fnlzr_capsule_problem(&f->object, s)
                   : NULL;
    bool named = cbi_after(s->name, ".nv.merc") != NULL;
    return (s->flags & SHF_CUDA_MERCURY) && !named ? "it is no Mercury section" : NULL;
}

static cbi_fnlzr_code check_mercury(cbi_fnlzr_state *f)
{
    for (uint32_t i = 1; i < f->object.section_count; i++) {
        const cbi_section *s = &f->object.sections[i];
        const char *problem = mercury_problem(f, s);
        if (problem)
            return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID,
                                  cbi_printf(f->ctx, "section '%s': %s", s->name, problem));
    }
    return CBI_FNLZR_OK;
}

static cbi_fnlzr_code validate(cbi_fnlzr_state *f)
{
    const uint8_t *ident = f->image.data;
    if (ident[EI_OSABI] != ELFOSABI_CUDA || ident[EI_ABIVERSION] != CUDA_ABI_VERSION)
        return cbi_fnlzr_fail(f, CBI_FNLZR_UNKNOWN_ABI, "OSABI or ABI version is unknown");
    const char *why;
    if (!cbi_fnlzr_read(f, f->image, &f->object, &why))
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, why);
    uint16_t type = f->object.type;
    if (type != ET_EXEC && type != ET_REL && type != ET_CUDA_EWP)
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "the ELF type is none that is finalized");
    if (f->config.post_link && type != ET_EXEC)
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "an executable is expected after the link");
    if (!(f->object.kind & (EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC)) || !f->object.merc_symtab)
        return cbi_fnlzr_fail(f, CBI_FNLZR_NOT_CAPMERC, cbi_fnlzr_code_text(CBI_FNLZR_NOT_CAPMERC));
    return check_mercury(f);
}

static cbi_fnlzr_code read_compat(cbi_fnlzr_state *f)
{
    f->compat = cbi_object_find(&f->object, ".nv.compat");
    const cbi_span *bytes = f->compat ? &f->object.sections[f->compat].data : NULL;
    f->facts = cbi_arch_read_facts(f->object.ident[EI_OSABI], f->object.flags, bytes);
    f->source = cbi_arch_renumbered(f->facts.sm);
    if (bytes)
        f->mask = cbi_mercury_compat_mask(*bytes, f->mask);
    if (f->facts.isa > CBI_MERCURY_ISA_MAX)
        return cbi_fnlzr_fail(f, CBI_FNLZR_ISA_VERSION,
                              cbi_printf(f->ctx, "Mercury version 0x%x is newer than 0x%x",
                                         f->facts.isa, CBI_MERCURY_ISA_MAX));
    return CBI_FNLZR_OK;
}

static void trace_eligibility(const cbi_fnlzr_state *f, bool accepted)
{
    if (!f->config.trace || !f->config.trace_eligibility)
        return;
    f->config.trace(
        f->config.trace_user,
        cbi_mercury_eligibility(f->ctx, &f->facts, f->source, f->mask, f->config.target, accepted));
}

static cbi_fnlzr_code check_target(cbi_fnlzr_state *f)
{
    const cbi_arch *target = f->config.target;
    bool accepted = cbi_arch_accepts_cubin(&f->facts, true, target);
    trace_eligibility(f, accepted);
    if (accepted)
        return CBI_FNLZR_OK;
    return cbi_fnlzr_fail(f, CBI_FNLZR_NOT_ELIGIBLE,
                          cbi_printf(f->ctx, "code for sm_%u%s is not accepted for %s", f->facts.sm,
                                     f->facts.specific ? "a" : "", target->name));
}

/* ---- intake ---- */

static bool is_code(const cbi_section *s)
{
    return s->type == SHT_PROGBITS && (s->flags & SHF_EXECINSTR);
}

static bool runs_unchanged(const cbi_fnlzr_state *f, const cbi_section *text)
{
    uint32_t target = f->config.target->sm;
    return f->source == target ||
           (cbi_mercury_text_mask(f->source, text->data.data, text->data.size) &
            cbi_mercury_target_bit(target));
}

static const char *function_name(const cbi_section *text)
{
    return strncmp(text->name, ".text.", 6) == 0 ? text->name + 6 : text->name;
}

/* What belongs to the code of a section: numbers of sections, 0 where there is none. */
typedef struct beside {
    uint32_t capsule, info;
} beside;

static beside *find_beside(const cbi_fnlzr_state *f)
{
    const cbi_object *object = &f->object;
    beside *list = CBI_NEW_ARRAY(f->ctx, object->section_count, beside);
    for (uint32_t i = 1; i < object->section_count; i++) {
        const cbi_section *s = &object->sections[i];
        cbi_capsule capsule;
        if (s->type == SHT_CUDA_CAPMERC && cbi_capsule_open(s->data, &capsule) &&
            capsule.text_index < object->section_count)
            list[capsule.text_index].capsule = i;
        else if (s->type == SHT_CUDA_INFO && s->info < object->section_count)
            list[s->info].info = i;
    }
    return list;
}

/* The code at the target's pace where only its scheduling bits differ, or NULL. */
static uint8_t *at_other_pace(const cbi_fnlzr_state *f, const cbi_section *text, beside own)
{
    const cbi_section *sections = f->object.sections;
    const uint32_t target = f->config.target->sm;
    if (!own.capsule || !cbi_pace_differs(f->source, target, text->data.data, text->data.size) ||
        cbi_capsule_verify(sections[own.capsule].data, text->size))
        return NULL;
    cbi_scoreboard_text code = {.bytes = cbi_alloc(f->ctx, text->data.size),
                                .size = text->data.size,
                                .chip = f->source,
                                .target = target,
                                .holds_loops = cbi_pace_holds_loops(function_name(text))};
    if (own.info)
        code.info = sections[own.info].data;
    memcpy(code.bytes, text->data.data, text->data.size);
    return cbi_pace_in_place(f->ctx, &code, sections[own.capsule].data) ? code.bytes : NULL;
}

/* Which functions there are, which of them the target cannot run, and who linked the image. */
static cbi_fnlzr_code take_in(cbi_fnlzr_state *f)
{
    const beside *own = find_beside(f);
    bool any_paced = false;
    f->paced = CBI_NEW_ARRAY(f->ctx, f->object.section_count, uint8_t *);
    for (uint32_t i = 1; i < f->object.section_count; i++) {
        const cbi_section *s = &f->object.sections[i];
        if (!is_code(s))
            continue;
        f->functions++;
        f->paced[i] = at_other_pace(f, s, own[i]);
        any_paced |= f->paced[i] != NULL;
        bool runs = f->paced[i] || runs_unchanged(f, s);
        if (!f->excluded && (f->config.fast_path_off || !runs))
            f->excluded = function_name(s);
    }
    /* What the mask of the whole image excludes is in no single function.  Where all
     * code runs (cbi_chip.runs_all) a link does not ask. */
    uint32_t target = f->config.target->sm;
    const cbi_chip *chip = cbi_chip_find(target);
    bool always = chip && chip->runs_all && chip->finalized_from == f->source;
    if (f->functions && !f->excluded && !any_paced && f->source != target && !always &&
        !(f->mask & cbi_mercury_target_bit(target)))
        f->excluded = "(all)";
    f->linked = cbi_fnlzr_is_linked(&f->object);
    cbi_fnlzr_trace(f, "FNLZR: %u functions, mask 0x%llx, %s", f->functions,
                    (unsigned long long)f->mask, f->linked ? "linked before" : "not linked");
    return CBI_FNLZR_OK;
}

/* ---- code ---- */

static cbi_fnlzr_code ask_back_end(cbi_fnlzr_state *f)
{
    const cbi_fnlzr_backend *b = f->config.backend;
    const cbi_arch *target = f->config.target;
    bool able = b && b->finalize && b->supports && b->supports(b->user, f->facts.sm, target);
    if (f->config.needs_compiler && !able)
        return cbi_fnlzr_fail(
            f, CBI_FNLZR_NOT_ELIGIBLE,
            cbi_printf(f->ctx, "%s needs a compiler back end", f->config.needs_compiler));
    if (f->excluded && !able)
        return cbi_fnlzr_fail(f, CBI_FNLZR_NOT_ELIGIBLE,
                              cbi_printf(f->ctx,
                                         "kernel '%s' is compiled for sm_%u and must be compiled "
                                         "for %s, which needs a compiler back end",
                                         f->excluded, f->facts.sm, target->name));
    return CBI_FNLZR_OK;
}

/* The image for the target, its code as it is. */
static cbi_fnlzr_code copy_image(cbi_fnlzr_state *f)
{
    const cbi_arch *target = f->config.target;
    cbi_fnlzr_code code = ask_back_end(f);
    if (code)
        return code;
    if (!f->excluded)
        cbi_fnlzr_trace(f, "FNLZR: fast path, sm_%u -> %s", f->facts.sm, target->name);
    if (!f->excluded && f->config.opportunistic_level > 0 && f->facts.sm != target->sm)
        cbi_info(f->ctx, "fast-path", &(cbi_place){.file = f->name}, NULL,
                 "[Finalizer] fastpath optimization applied for off-target %u -> %u finalization",
                 f->facts.sm, target->sm);
    cbi_buf_append(f->ctx, &f->out, f->image.data, f->image.size);
    uint32_t flags = (f->object.flags & ~UINT32_C(0xffff00)) | target->sm << 8;
    cbi_st32(f->out.items + offsetof(Elf64_Ehdr, e_flags), flags);
    size_t pos = 0;
    cbi_attr attr;
    const cbi_span compat = f->object.sections[f->compat].data;
    while (f->compat && cbi_attr_next(compat, &pos, &attr)) {
        uint8_t *record = f->out.items + (attr.raw.data - f->image.data);
        if (attr.code == EICOMPAT_CUDA_ACCELERATOR_TARGET)
            record[2] = target->suffix == 'a';
        else if (attr.code == EICOMPAT_CAN_FASTPATH_FINALIZE && attr.payload.size >= 8 &&
                 target->sm != f->facts.sm)
            cbi_st64(record + 4, 0); /* as a link for that target writes it */
    }
    return CBI_FNLZR_OK;
}

static cbi_fnlzr_code compile_one(cbi_fnlzr_state *f, uint32_t capsule_index,
                                  const cbi_section *text)
{
    const cbi_fnlzr_backend *b = f->config.backend;
    const cbi_section *s = &f->object.sections[capsule_index];
    cbi_fnlzr_function function = {.name = function_name(text),
                                   .sass = text->data,
                                   .capsule = s->data,
                                   .from_sm = f->facts.sm,
                                   .target = f->config.target,
                                   .opt_level = f->config.opt_level,
                                   .line_info = f->config.line_info};
    cbi_fnlzr_compiled made = {0};
    cbi_capsule capsule;
    cbi_object now;
    if (!b->finalize(b->user, &function, &made) || made.sass.size != text->size ||
        cbi_capsule_verify(made.capsule, text->size) || !cbi_capsule_open(made.capsule, &capsule))
        return cbi_fnlzr_fail(
            f, CBI_FNLZR_NOT_ELIGIBLE,
            cbi_printf(f->ctx, "back end %s gave no code that fits for kernel '%s', sm_%u to %s",
                       b->name, function.name, f->facts.sm, f->config.target->name));
    /* earlier capsules may have moved everything behind them */
    if (!cbi_fnlzr_reread(f, &now) ||
        !cbi_fnlzr_replace(f->ctx, &now, capsule_index, made.capsule, &f->out))
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "the image has no room for new code");
    cbi_capsule_open(s->data, &capsule);
    const uint8_t *headers = f->out.items + cbi_ld64(f->out.items + offsetof(Elf64_Ehdr, e_shoff));
    const uint8_t *header = headers + (size_t)capsule.text_index * sizeof(Elf64_Shdr);
    memcpy(f->out.items + cbi_ld64(header + offsetof(Elf64_Shdr, sh_offset)), made.sass.data,
           made.sass.size);
    header = headers + (size_t)capsule_index * sizeof(Elf64_Shdr);
    cbi_st32(f->out.items + cbi_ld64(header + offsetof(Elf64_Shdr, sh_offset)), capsule.text_index);
    return CBI_FNLZR_OK;
}

/* Code that the target cannot run as it is, or runs at another pace. */
static cbi_fnlzr_code generate(cbi_fnlzr_state *f)
{
    bool all = f->config.fast_path_off || f->config.needs_compiler;
    for (uint32_t i = 1; i < f->object.section_count; i++)
        if (f->paced[i])
            memcpy(f->out.items + (f->object.sections[i].data.data - f->image.data), f->paced[i],
                   f->object.sections[i].data.size);
    for (uint32_t i = 1; (f->excluded || all) && i < f->object.section_count; i++) {
        const cbi_section *s = &f->object.sections[i];
        cbi_capsule capsule;
        if (s->type != SHT_CUDA_CAPMERC || !cbi_capsule_open(s->data, &capsule) ||
            capsule.text_index >= f->object.section_count)
            continue;
        const cbi_section *text = &f->object.sections[capsule.text_index];
        if (!is_code(text) || (!all && (f->paced[capsule.text_index] || runs_unchanged(f, text))))
            continue;
        cbi_fnlzr_code code = compile_one(f, i, text);
        if (code)
            return code;
    }
    return CBI_FNLZR_OK;
}

/* ---- debug lines ---- */

/* The Mercury side's references into .debug_line (0x10008).  No phase before this one moves code or
 * rows of a line table, so each must still name the start of a unit that is there. */
static cbi_fnlzr_code check_line_references(cbi_fnlzr_state *f)
{
    uint32_t index = cbi_object_find(&f->object, ".nv.merc.rela.debug_info");
    uint32_t line = cbi_object_find(&f->object, ".nv.merc.debug_line");
    if (!index || !line)
        return CBI_FNLZR_OK;
    const cbi_section *s = &f->object.sections[index];
    uint64_t size = f->object.sections[line].size;
    for (size_t i = 0; i < cbi_rela_count(s); i++) {
        cbi_rela rela = cbi_rela_at(s, i);
        if (cbi_is_prog_rel(rela.type) && (uint64_t)rela.addend >= size)
            return cbi_fnlzr_fail(
                f, CBI_FNLZR_INVALID,
                cbi_printf(f->ctx, "line reference %zu names place 0x%llx of 0x%llx", i,
                           (unsigned long long)rela.addend, (unsigned long long)size));
    }
    return CBI_FNLZR_OK;
}

/* ---- tool note ---- */

static cbi_fnlzr_code write_tool_note(cbi_fnlzr_state *f)
{
    cbi_fnlzr_tkinfo(f);
    return CBI_FNLZR_OK;
}

/* ---- self-check ---- */

/* NOLINTNEXTLINE(misc-no-recursion): the second run has the check switched off */
static cbi_fnlzr_code self_check(cbi_fnlzr_state *f)
{
    if (!f->config.self_check)
        return CBI_FNLZR_OK;
    cbi_object a, b;
    const char *why = NULL;
    if (!cbi_fnlzr_reread(f, &a))
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "the result is not a sound device ELF");
    cbi_fnlzr_code code = cbi_fnlzr_verify(f->ctx, &a, &why);
    if (!code) {
        cbi_fnlzr_config again = f->config;
        again.self_check = false;
        again.options = NULL;
        again.kind = CBI_FNLZR_CAPMERC;
        again.opportunistic_level = 0;
        cbi_buf second = {0};
        code = cbi_fnlzr(f->ctx, &again, f->name, (cbi_span){f->out.items, f->out.len}, &second);
        if (code)
            return code;
        if (!cbi_fnlzr_read(f, (cbi_span){second.items, second.len}, &b, NULL))
            return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "the result is not a sound device ELF");
        code = cbi_fnlzr_compare(&a, &b);
    }
    cbi_fnlzr_trace(f, "FNLZR: self check: %s", code ? cbi_fnlzr_code_text(code) : "passed");
    if (!code)
        return CBI_FNLZR_OK;
    return cbi_fnlzr_fail(f, code,
                          why ? cbi_printf(f->ctx, "%s: %s", cbi_fnlzr_code_text(code), why)
                              : cbi_fnlzr_code_text(code));
}

/* ---- plain code ---- */

/* As nvlink lowers an object that it links with plain ones: no capsules, no Mercury view, and no
 * word about other chips. */
static cbi_fnlzr_code lower(cbi_fnlzr_state *f)
{
    if (f->config.kind != CBI_FNLZR_SASS)
        return CBI_FNLZR_OK;
    cbi_buf compat = {0};
    cbi_object now;
    size_t pos = 0;
    cbi_attr attr;
    bool sound = cbi_fnlzr_reread(f, &now);
    while (sound && f->compat && cbi_attr_next(now.sections[f->compat].data, &pos, &attr))
        if (attr.code != EICOMPAT_CAN_FASTPATH_FINALIZE)
            cbi_buf_append(f->ctx, &compat, attr.raw.data, attr.raw.size);
    const cbi_span kept = {compat.items, compat.len};
    if (!sound || (compat.len && !cbi_fnlzr_replace(f->ctx, &now, f->compat, kept, &f->out)) ||
        !cbi_fnlzr_reread(f, &now) || !cbi_fnlzr_drop_mercury(f->ctx, &now, &f->out))
        return cbi_fnlzr_fail(f, CBI_FNLZR_INVALID, "the Mercury sections cannot be taken out");
    uint8_t *flags = f->out.items + offsetof(Elf64_Ehdr, e_flags);
    cbi_st32(flags, (cbi_ld32(flags) & ~(uint32_t)(EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC)) |
                        EF_CUDA_KIND_SASS);
    return CBI_FNLZR_OK;
}

/* NOLINTNEXTLINE(misc-no-recursion) */
cbi_fnlzr_code cbi_fnlzr_engine(cbi_fnlzr_state *f)
{
    /* What a run takes from the arena is given back with its job; there is no phase to clean up. */
    static const struct {
        const char *name;
        cbi_fnlzr_code (*run)(cbi_fnlzr_state *f);
    } phases[] = {
        {"validation", validate},
        {"compatibility records", read_compat},
        {"eligibility", check_target},
        {"section intake", take_in},
        {"copy for the target", copy_image},
        {"code generation", generate},
        {"debug line references", check_line_references},
        {"tool note", write_tool_note},
        {"self check", self_check},
        {"plain code", lower},
    };
    for (size_t i = 0; i < CBI_COUNT(phases); i++) {
        cbi_fnlzr_trace(f, "FNLZR: phase %zu: %s", i + 1, phases[i].name);
        cbi_fnlzr_code code = phases[i].run(f);
        if (code)
            return code;
    }
    cbi_fnlzr_trace(f, "FNLZR: result 0");
    return CBI_FNLZR_OK;
}
