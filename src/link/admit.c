/* Reading the inputs: what is no relocatable device ELF for this target is refused or skipped. */
#include "base/parallel.h"
#include "format/section.h"
#include "link/inputs.h"
#include "link/view.h"

static cbi_span section_bytes(const cbi_object *object, const char *name)
{
    uint32_t index = cbi_object_find(object, name);
    return index ? object->sections[index].data : (cbi_span){NULL, 0};
}

static void refuse_damaged(const cbi_linker *lk, const cbi_link_input *in,
                           const cbi_findings *findings)
{
    if (!findings->len)
        return;
    const cbi_finding *f = &findings->items[0];
    cbi_fatal(lk->ctx, f->rule,
              &(cbi_place){.file = in->file,
                           .section = f->section,
                           .symbol = f->symbol,
                           .offset = f->offset,
                           .has_offset = true},
              "`cubind check` lists everything that is wrong with the file",
              "Input file '%s' is damaged: %s", in->file, f->message);
}

static void check_abi(const cbi_linker *lk, const cbi_object *object)
{
    uint8_t osabi = object->ident[EI_OSABI];
    bool legacy = osabi != ELFOSABI_CUDA; /* the input stage has warned */
    uint8_t want = osabi == ELFOSABI_CUDA_LEGACY ? CUDA_ABI_VERSION_LEGACY : CUDA_ABI_VERSION;
    if ((legacy && osabi != ELFOSABI_CUDA_LEGACY) || object->ident[EI_ABIVERSION] != want)
        cbi_fatal(lk->ctx, "abi-mismatch", &(cbi_place){.file = object->file}, NULL,
                  "Input file '%s' abi does not match", object->file);
}

/* What was met so far decides about later inputs. */
typedef struct admitted_so_far {
    bool plain;           /* an input without a Mercury view */
    bool mercury;         /* one with it */
    bool ewp;             /* one of ptxas -ewp; later ones must be new */
    const char *unmarked; /* the first whose e_flags name no kind, or NULL */
} admitted_so_far;

/* What e_flags says of the code: SASS, capsules beside it, or Mercury alone. */
static void check_kind(const cbi_linker *lk, const cbi_lobj *obj, admitted_so_far *met)
{
    const cbi_object *object = &obj->object;
    cbi_place place = {.file = obj->file};
    uint32_t kind = object->kind;
    bool mercury = kind & EF_CUDA_KIND_MERCURY, capsules = kind & EF_CUDA_KIND_CAPMERC;
    bool target = cbi_arch_is_mercury(lk->opt->arch);
    if (target ? capsules && (kind & EF_CUDA_KIND_SASS) : capsules)
        cbi_fatal(lk->ctx, "kind-mismatch", &place,
                  "e_flags claims Mercury code and SASS only at the same time", "Internal error");
    if (target && mercury && !capsules)
        cbi_fatal(lk->ctx, "kind-mismatch", &place,
                  "e_flags claims Mercury code alone, of which no compiler makes objects",
                  "Internal error: unexpected reloc");
    if (!target)
        return;
    /* beside Mercury code nvlink finalizes everything that does not say that it is SASS */
    if (!kind && !met->unmarked)
        met->unmarked = obj->file;
    if (met->unmarked && met->mercury)
        cbi_fatal(lk->ctx, "finalizer", &(cbi_place){.file = met->unmarked},
                  "e_flags does not say of what kind the code is", "Internal FNLZR error '%s'",
                  met->unmarked);
}

static void check_arch(const cbi_linker *lk, const cbi_lobj *obj, admitted_so_far *met)
{
    uint32_t sm = obj->object.sm;
    cbi_arch_facts facts = cbi_arch_read_facts(obj->object.ident[EI_OSABI], obj->object.flags,
                                               obj->has_compat ? &obj->compat : NULL);
    bool accepted = cbi_arch_accepts_cubin(&facts, met->mercury, lk->opt->arch);
    if (cbi_arch_is_mercury(lk->opt->arch))
        lk->opt->view->trace_admission(lk, obj, &facts, accepted);
    if (!accepted)
        cbi_fatal(lk->ctx, "arch-mismatch", &(cbi_place){.file = obj->file},
                  cbi_printf(lk->ctx, "the file holds code for sm_%u%s; compile it for %s", sm,
                             facts.specific ? "a" : "", lk->opt->arch->name),
                  "Input file '%s' arch does not match target '%s'", obj->file,
                  lk->opt->arch->name);
    met->mercury |= facts.mercury;
    check_kind(lk, obj, met);
    if (lk->mercury && (obj->object.kind & EF_CUDA_KIND_CAPMERC) && facts.isa > CBI_MERCURY_ISA_MAX)
        cbi_fatal(lk->ctx, "finalizer", &(cbi_place){.file = obj->file},
                  cbi_printf(lk->ctx, "its Mercury version 0x%x is newer than 0x%x", facts.isa,
                             CBI_MERCURY_ISA_MAX),
                  "Internal FNLZR error '%s'", obj->file);
}

static void check_toolkit(const cbi_linker *lk, const cbi_lobj *obj, admitted_so_far *met)
{
    const cbi_cuinfo *c = &obj->cuinfo;
    cbi_place place = {.file = obj->file};
    if (c->toolkit > CUDA_TOOLKIT)
        cbi_fatal(lk->ctx, "toolkit-too-new", &place, NULL,
                  "Input file '%s' newer than toolkit (%u vs %u)", obj->file, c->toolkit,
                  CUDA_TOOLKIT);
    met->ewp |= obj->ewp;
    if (met->ewp && c->toolkit != CUDA_TOOLKIT)
        cbi_fatal(lk->ctx, "ewp-toolkit", &place, NULL,
                  "linking with -ewp objects requires using current toolkit");
}

/* Is there an object without Mercury code?  Then the link is one of SASS. */
bool cbi_link_has_plain(const cbi_link_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = inputs[i].bytes.data;
        if (inputs[i].bytes.size < sizeof(Elf64_Ehdr) || memcmp(p, ELFMAG, SELFMAG) != 0 ||
            cbi_ld16(p + offsetof(Elf64_Ehdr, e_type)) == ET_EXEC)
            continue;
        uint32_t flags = cbi_ld32(p + offsetof(Elf64_Ehdr, e_flags));
        if (!(cbi_file_kind(p[EI_OSABI], flags) & (EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC)))
            return true;
    }
    return false;
}

static void retype(cbi_section *sec)
{
    const char *suffix;
    if (sec->flags & SHF_EXECINSTR)
        return; /* code, of one type everywhere */
    const cbi_section_rule *rule = cbi_section_rule_find(sec->name, &suffix);
    if (rule && rule->exec_type == sec->type)
        sec->type = rule->type;
}

/* Memory sections are known by their names where they have the types of an executable. */
static void retype_sections(cbi_object *object)
{
    for (uint32_t i = 1; i < object->section_count; i++) {
        cbi_section *sec = &object->sections[i];
        switch (sec->type) {
        case SHT_PROGBITS:
        case SHT_NOBITS:
            retype(sec);
            break;
        default:
            break;
        }
    }
}

/* What a file of a stream brings. */
typedef struct added {
    const cbi_link_input *items;
    size_t count;
} added;

/* An input, read and not yet admitted. */
typedef struct candidate {
    const cbi_link_input *in;
    cbi_lobj *obj;
    cbi_object_kind kind;
    cbi_findings findings;
    bool viewed; /* what is linked is made of it when it is admitted */
} candidate;

/* Inputs on their way into the link. */
typedef struct cbi_admission {
    const cbi_linker *lk;
    const cbi_input_stream *stream; /* or NULL */
    candidate *all;
    cbi_link_input *files; /* of a stream, as they were read */
    added *added;          /* ... and what they bring */
    cbi_ahead *reading;
    size_t taken; /* candidates that are read, and added where they are files of a stream */
    size_t next;  /* candidate */
    admitted_so_far met;
    cbi_inputs admitted;
    size_t handed_out; /* objects */
} cbi_admission;

/* Sections' symbols have no names. */
static void hash_names(cbi_lobj *obj)
{
    cbi_object *object = &obj->object;
    for (uint32_t i = 1; i < object->section_count; i++)
        obj->sections[i].name_hash =
            cbi_name_hash(object->sections[i].name, &obj->sections[i].name_len);
    for (uint32_t i = 1; i < object->symbol_count; i++)
        if (CBI_ST_TYPE(object->symbols[i].info) != STT_SECTION)
            object->symbols[i].name_hash =
                cbi_name_hash(object->symbols[i].name, &object->symbols[i].name_len);
}

/* What the merge writes for the object, and what it looks for there. */
static void open_maps(cbi_ctx *ctx, cbi_lobj *obj)
{
    const cbi_object *object = &obj->object;
    obj->symbols = CBI_NEW_ARRAY(ctx, object->symbol_count, const cbi_lsym *);
    obj->sections = CBI_NEW_ARRAY(ctx, object->section_count, cbi_secmap);
    obj->symbol_lost = CBI_NEW_ARRAY(ctx, object->symbol_count, uint8_t);
    hash_names(obj);
}

/* The model, which may have been read before, by a caller who links it more than once. */
static void read_model(cbi_ctx *ctx, candidate *c)
{
    const cbi_link_input *in = c->in;
    cbi_object *object = &c->obj->object;
    if (!in->object) {
        c->kind = cbi_object_read(ctx, in->file, in->bytes, object, &c->findings);
    } else {
        *object = *in->object;
        /* A link hides sections and renames symbols. */
        object->sections =
            cbi_memdup(ctx, in->object->sections, in->object->section_count * sizeof(cbi_section));
        object->symbols =
            cbi_memdup(ctx, in->object->symbols, in->object->symbol_count * sizeof(cbi_symbol));
    }
    if (object->sections)
        retype_sections(object);
}

/* While the model is in the caches, its names are hashed. */
static void read_input(cbi_ctx *ctx, candidate *c)
{
    c->kind = CBI_OBJECT_OK;
    if (!c->in->no_code)
        read_model(ctx, c);
    if (!c->viewed && c->kind == CBI_OBJECT_OK)
        open_maps(ctx, c->obj);
}

/* While the file is in the caches, its model is read. */
static void read_candidate(cbi_ctx *ctx, void *arg, size_t i)
{
    const cbi_admission *a = arg;
    if (a->stream)
        a->files[i].bytes = a->stream->read(ctx, a->stream->user, i);
    read_input(ctx, &a->all[i]);
}

/* Of the view that has taken the model's place. */
static void open_view(cbi_ctx *ctx, void *arg, size_t i)
{
    const candidate *c = &((const cbi_admission *)arg)->all[i];
    if (c->obj)
        open_maps(ctx, c->obj);
}

/* NULL: the input takes no part. */
static cbi_lobj *admit_one(const cbi_linker *lk, const candidate *c, admitted_so_far *met)
{
    const cbi_link_input *in = c->in;
    cbi_lobj *obj = c->obj;
    obj->file = in->file;
    obj->device_runtime = in->device_runtime;
    obj->own = in->own;
    obj->no_code = in->no_code;
    if (in->no_code)
        return obj;
    cbi_place place = {.file = in->file};
    switch (c->kind) {
    case CBI_OBJECT_NOT_ELF:
        cbi_fatal(lk->ctx, "not-elf", &place, NULL, "cubin not an elf?");
    case CBI_OBJECT_NOT_DEVICE:
        cbi_fatal(lk->ctx, "not-device-elf", &place, NULL, "cubin not a device elf?");
    case CBI_OBJECT_DAMAGED:
        refuse_damaged(lk, in, &c->findings);
        break;
    case CBI_OBJECT_OK:
        break;
    }
    cbi_object *object = &obj->object;
    if (!lk->quirks.damage_unnoticed)
        refuse_damaged(lk, in, &object->doubts);
    if (object->type == ET_EXEC) {
        if (!lk->terse)
            cbi_warning(lk->ctx, "already-linked", &place,
                        "compile with -rdc=true (ptxas -c) to get a relocatable object",
                        "Input file '%s' is an executable cubin and takes no part in the link",
                        in->file);
        return NULL;
    }
    obj->ewp = object->type == ET_CUDA_EWP;
    check_abi(lk, object);
    obj->compat = section_bytes(object, ".nv.compat");
    obj->has_compat = cbi_object_find(object, ".nv.compat") != 0;
    check_arch(lk, obj, met);
    obj->cuinfo = cbi_object_cuinfo(object);
    check_toolkit(lk, obj, met);
    obj->tkinfo = section_bytes(object, ".note.nv.tkinfo");
    bool merc = object->kind & (EF_CUDA_KIND_MERCURY | EF_CUDA_KIND_CAPMERC);
    if (lk->mercury)
        lk->opt->view->make(lk, obj);
    else if (cbi_arch_is_mercury(lk->opt->arch) && merc)
        lk->opt->view->drop(lk, obj, !met->plain);
    met->plain |= !merc;
    return obj;
}

/* A whole program may have others beside it, and the device runtime, but no modules. */
static void warn_beside_ewp(const cbi_linker *lk, const cbi_obj_list *objs)
{
    bool whole = false;
    for (size_t i = 0; i < objs->len; i++)
        whole |= objs->items[i]->ewp;
    for (size_t i = 0; i < objs->len && whole; i++) {
        const cbi_lobj *obj = objs->items[i];
        if (!obj->ewp && !obj->device_runtime)
            cbi_warning(lk->ctx, "ewp-with-others", &(cbi_place){.file = obj->file}, NULL,
                        "'%s': -ewp compiled objects should only link with libcudadevrt",
                        obj->file);
    }
}

/* ---- one after the other ---- */

/* The next candidate is read.  What is to come of a stream is taken to be like what has. */
static void take_next(cbi_admission *a)
{
    cbi_ctx *ctx = a->lk->ctx;
    const size_t i = a->taken++;
    ctx->before_report = NULL;
    cbi_ahead_take(a->reading);
    if (!a->stream) {
        a->admitted.read += a->all[i].in->bytes.size;
        return;
    }
    a->added[i].items = a->stream->add(a->stream->user, i, &a->added[i].count);
    for (size_t k = 0; k < a->added[i].count; k++)
        a->admitted.read += a->added[i].items[k].bytes.size;
    a->admitted.bytes = a->admitted.read / a->taken * a->admitted.count;
    if (a->taken < a->admitted.count)
        return;
    a->admitted.bytes = a->admitted.read;
    a->stream->end(a->stream->end_user);
}

static void take_rest(void *user)
{
    cbi_admission *a = user;
    while (a->taken < a->admitted.count)
        take_next(a);
}

static void admit(cbi_admission *a, candidate *c)
{
    if (a->admitted.objs.len == CBI_OBJECTS_MAX)
        cbi_fail(a->lk->ctx, CB_ERR_NOMEM);
    c->obj = admit_one(a->lk, c, &a->met);
    if (c->obj)
        cbi_vec_push(a->lk->ctx, &a->admitted.objs, c->obj);
}

/* What a file has brought: itself, as a rule, whose model is there. */
static void admit_added(cbi_admission *a, candidate *c, const added *brought)
{
    for (size_t k = 0; k < brought->count; k++) {
        const cbi_link_input *in = &brought->items[k];
        if (in->bytes.data && in->bytes.data == c->in->bytes.data) {
            c->in = in;
            admit(a, c);
            continue;
        }
        candidate other = {.in = in, .obj = CBI_NEW(a->lk->ctx, cbi_lobj)};
        read_input(a->lk->ctx, &other);
        admit(a, &other);
    }
}

static void admit_rest(void *user);

/* One more.  What is said of it is not preceded by what is said of later ones, but by what is said
 * of files when they are added. */
static void admit_next(cbi_admission *a)
{
    cbi_ctx *ctx = a->lk->ctx;
    if (a->taken == a->next)
        take_next(a);
    const size_t i = a->next++;
    candidate *c = &a->all[i];
    ctx->before_report = a->taken < a->admitted.count && a->stream ? take_rest : NULL;
    ctx->before_report_user = a;
    if (a->stream)
        admit_added(a, c, &a->added[i]);
    else
        admit(a, c);
    if (a->next < a->admitted.count) {
        ctx->before_report = admit_rest;
        return;
    }
    if (c->viewed)
        cbi_parallel(ctx, a->admitted.count, a->admitted.bytes, open_view, a);
    warn_beside_ewp(a->lk, &a->admitted.objs);
}

static void admit_rest(void *user)
{
    cbi_admission *a = user;
    while (a->next < a->admitted.count)
        admit_next(a);
}

/* Inputs that are there. */
static void list_inputs(cbi_admission *a, const cbi_link_input *inputs)
{
    for (size_t i = 0; i < a->admitted.count; i++) {
        a->all[i].in = &inputs[i];
        a->admitted.bytes += inputs[i].bytes.size;
    }
}

static void list_files(cbi_ctx *ctx, cbi_admission *a)
{
    a->files = CBI_NEW_ARRAY(ctx, a->admitted.count, cbi_link_input);
    a->added = CBI_NEW_ARRAY(ctx, a->admitted.count, added);
    for (size_t i = 0; i < a->admitted.count; i++) {
        a->files[i].file = a->stream->paths[i];
        a->all[i].in = &a->files[i];
    }
    a->admitted.bytes = a->stream->worth;
}

const cbi_inputs *cbi_link_admit(const cbi_linker *lk, const cbi_link_input *inputs, size_t count,
                                 cbi_admission **ret_work)
{
    enum { FIRST = 16 }; /* they say about what the rest is like */
    const cbi_input_stream *stream = lk->opt->stream;
    if (stream)
        count = stream->count;
    if (count > CBI_OBJECTS_MAX)
        cbi_fail(lk->ctx, CB_ERR_NOMEM);
    cbi_admission *a = *ret_work = CBI_NEW(lk->ctx, cbi_admission);
    *a = (cbi_admission){.lk = lk,
                         .stream = stream,
                         .all = CBI_NEW_ARRAY(lk->ctx, count, candidate),
                         .admitted = {.count = count}};
    cbi_lobj *objects = CBI_NEW_ARRAY(lk->ctx, count, cbi_lobj);
    const bool viewed = cbi_arch_is_mercury(lk->opt->arch);
    for (size_t i = 0; i < count; i++)
        a->all[i] = (candidate){.viewed = viewed, .obj = &objects[i]};
    if (stream)
        list_files(lk->ctx, a);
    else
        list_inputs(a, inputs);
    cbi_vec_reserve(lk->ctx, &a->admitted.objs, count);
    a->reading = cbi_ahead_begin(lk->ctx, count, a->admitted.bytes, read_candidate, a);
    /* The second view is made of all, and --trace-symbol looks at all. */
    const bool whole = viewed || lk->opt->traced_count;
    while (a->next < count && (whole || a->next < FIRST))
        admit_next(a);
    return &a->admitted;
}

cbi_lobj *cbi_link_next_object(const cbi_linker *lk)
{
    cbi_admission *a = lk->admitting;
    while (a->handed_out == a->admitted.objs.len && a->next < a->admitted.count)
        admit_next(a);
    return a->handed_out < a->admitted.objs.len ? a->admitted.objs.items[a->handed_out++] : NULL;
}
