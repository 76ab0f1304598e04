/* Help for undefined references. */
#include "demangle/demangle.h"
#include "link/report.h"
#include "link/similar.h"

/* More than this helps nobody. */
enum { MAX_REFERRERS = 4, MAX_SIMILAR = 3, MAX_SEARCHES = 20 };

/* The function or variable whose bytes a relocation patches. */
static const char *referrer(const cbi_linker *lk, const cbi_lrel *r)
{
    const char *owner =
        r->target->func ? cbi_demangle(lk->ctx, r->target->func->sym->name->s) : r->target->name->s;
    return cbi_printf(lk->ctx, "%s in %s", owner, r->obj->file);
}

static void add_referrers(const cbi_linker *lk, const cbi_lsym *sym, cbi_buf *help)
{
    size_t shown = 0, more = 0;
    const cbi_osec *last_target = NULL;
    const cbi_lobj *last_obj = NULL;
    const cbi_rel_span *moved = &lk->layout->moved, *rels = &lk->layout->rels;
    for (size_t i = 0; i < moved->len + rels->len; i++) {
        const cbi_lrel *r = i < moved->len ? &moved->items[i] : &rels->items[i - moved->len];
        /* calls of one function lie together */
        if (r->sym != sym || cbi_is_dead(lk, r->target) ||
            (r->target == last_target && r->obj == last_obj))
            continue;
        last_target = r->target;
        last_obj = r->obj;
        if (strncmp(r->target->name->s, ".debug", 6) == 0)
            continue;
        if (shown == MAX_REFERRERS) {
            more++;
            continue;
        }
        cbi_buf_printf(lk->ctx, help, "\nused by %s", referrer(lk, r));
        shown++;
    }
    if (more)
        cbi_buf_printf(lk->ctx, help, "\nand by %zu more", more);
}

static void add_similar(const cbi_linker *lk, const cbi_lsym *sym, cbi_buf *help)
{
    if (lk->told->searches++ >= MAX_SEARCHES)
        return;
    const char *wanted = sym->name->s;
    size_t shown = 0;
    for (size_t i = 0; i < lk->records->globals.len && shown < MAX_SIMILAR; i++) {
        const cbi_lsym *have = lk->records->globals.items[i];
        if (have == sym || have->state == CBI_SYM_UNDEF || have->is_section || !have->def_obj ||
            !cbi_is_similar(wanted, have->name->s))
            continue;
        cbi_buf_printf(lk->ctx, help, "\nsimilar: %s in %s", cbi_shown_name(lk, have->name->s),
                       cbi_obj_file(lk, have->def_obj));
        shown++;
    }
    for (size_t i = 0; i < lk->records->locals.len && shown < MAX_SIMILAR; i++) {
        const cbi_lsym *have = lk->records->locals.items[i];
        if (have->is_section || have->name != sym->name || !have->def_obj)
            continue;
        cbi_buf_printf(lk->ctx, help, "\n%s has one of that name, but it is static there",
                       cbi_obj_file(lk, have->def_obj));
        shown++;
    }
}

const char *cbi_explain_undefined(const cbi_linker *lk, const cbi_lsym *sym)
{
    if (lk->terse)
        return NULL; /* nobody would see it */
    cbi_buf help = {0};
    const char *readable = cbi_demangle(lk->ctx, sym->name->s);
    if (readable != sym->name->s)
        cbi_buf_printf(lk->ctx, &help, "\nthat is %s", readable);
    add_referrers(lk, sym, &help);
    const char *elsewhere =
        lk->opt->find_elsewhere ? lk->opt->find_elsewhere(lk->opt->find_user, sym->name->s) : NULL;
    if (elsewhere)
        cbi_buf_printf(lk->ctx, &help, "\n%s", elsewhere);
    add_similar(lk, sym, &help);
    if (!help.len)
        return NULL;
    return cbi_buf_text(lk->ctx, &help) + 1;
}

/* ---- names given twice ---- */

/* The section that an object defines a name in; NULL if it cannot be told. */
static const char *defining_section(const cbi_lobj *obj, const char *name)
{
    const cbi_object *in = &obj->object;
    for (uint32_t i = 1; i < in->symbol_count; i++) {
        const cbi_symbol *s = &in->symbols[i];
        if (CBI_ST_BIND(s->info) != STB_LOCAL && s->shndx != SHN_UNDEF &&
            s->shndx < in->section_count && strcmp(s->name, name) == 0)
            return in->sections[s->shndx].name;
    }
    return NULL;
}

/* An input that is spent (spend.c) has given its section's name to that of the output. */
static void add_definition(const cbi_linker *lk, const cbi_lobj *obj, const cbi_lsym *sym,
                           cbi_buf *help)
{
    const char *section = NULL;
    if (lk->told->searches++ < MAX_SEARCHES)
        section = obj->object.symbols ? defining_section(obj, sym->name->s)
                  : sym->sec          ? sym->sec->name->s
                                      : NULL;
    if (section)
        cbi_buf_printf(lk->ctx, help, "\n%s: in %s", obj->file, section);
}

/* One that is spent is read again. */
static bool have_same_contents(const cbi_linker *lk, const cbi_lobj *first, const cbi_lobj *second)
{
    cbi_span a = first->object.bytes, b = second->object.bytes;
    if (a.size != b.size || (!a.data && cbi_map_file(lk->ctx, first->file, &a) != CB_OK))
        return false;
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

const char *cbi_explain_multiple(const cbi_linker *lk, const cbi_lobj *obj, const cbi_lsym *sym)
{
    if (lk->terse)
        return NULL; /* nobody would see it */
    const cbi_lobj *first = cbi_obj_at(lk, sym->def_obj);
    if (first && first != obj && have_same_contents(lk, first, obj))
        return "both inputs have the same contents: is one file given twice?";
    cbi_buf help = {0};
    const char *readable = cbi_demangle(lk->ctx, sym->name->s);
    if (readable != sym->name->s)
        cbi_buf_printf(lk->ctx, &help, "\nthat is %s", readable);
    if (first)
        add_definition(lk, first, sym, &help);
    add_definition(lk, obj, sym, &help);
    if (!lk->ctx->error_count) /* once is enough */
        cbi_buf_printf(lk->ctx, &help, "\ndefine it in one of them, or make it static or inline");
    if (!help.len)
        return NULL;
    return cbi_buf_text(lk->ctx, &help) + 1;
}

/* ---- names given on the command line ---- */

/* Near the mangled name, the readable one, or that without parameters? */
static bool is_near(const cbi_linker *lk, const char *given, const char *name)
{
    const char *readable = cbi_demangle(lk->ctx, name);
    const cbi_span shown[] = {{(const uint8_t *)name, strlen(name)},
                              {(const uint8_t *)readable, strlen(readable)},
                              {(const uint8_t *)readable, strcspn(readable, "(")}};
    const cbi_span typed = {(const uint8_t *)given, strlen(given)};
    bool near = false;
    for (size_t i = 0; i < CBI_COUNT(shown); i++)
        near |= cbi_edit_distance(typed, shown[i]) <= CBI_NEAR;
    return near && typed.size > CBI_NEAR + 1;
}

const char *cbi_explain_name(const cbi_linker *lk, const char *given, bool kernels)
{
    if (lk->told->searches++ >= MAX_SEARCHES)
        return NULL;
    const cbi_obj_list *objs = lk->symbols ? &lk->symbols->objs : &lk->inputs->objs;
    for (size_t i = 0; i < objs->len; i++) {
        const cbi_object *in = &objs->items[i]->object;
        for (uint32_t k = 1; k < in->symbol_count; k++) {
            const cbi_symbol *s = &in->symbols[k];
            bool kernel = CBI_ST_TYPE(s->info) == STT_FUNC && (s->other & STO_CUDA_ENTRY);
            if (CBI_ST_TYPE(s->info) != STT_SECTION && (kernel || !kernels) &&
                is_near(lk, given, s->name))
                return cbi_shown_name(lk, s->name);
        }
    }
    return NULL;
}
