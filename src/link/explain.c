/* Help for undefined references. */
#include "demangle/demangle.h"
#include "link/report.h"

/* More than this helps nobody. */
enum { MAX_REFERRERS = 4, MAX_SIMILAR = 3, MAX_SEARCHES = 20, MAX_DISTANCE = 2 };

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

/* Edit distance, cut off above MAX_DISTANCE. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    enum { WIDTH = 2 * MAX_DISTANCE + 1 };
    if (a_len > b_len ? a_len - b_len > MAX_DISTANCE : b_len - a_len > MAX_DISTANCE)
        return MAX_DISTANCE + 1;
    /* only the diagonal band matters; band[d] is the cell at column row + d - MAX_DISTANCE */
    unsigned band[WIDTH + 2], next[WIDTH + 2];
    for (int d = 0; d < WIDTH + 2; d++)
        band[d] = d >= MAX_DISTANCE ? (unsigned)(d - MAX_DISTANCE) : 99;
    for (size_t row = 1; row <= a_len; row++) {
        unsigned best = 99;
        for (int d = 0; d < WIDTH; d++) {
            long column = (long)row + d - MAX_DISTANCE;
            next[d] = 99;
            if (column < 0 || column > (long)b_len)
                continue;
            if (column == 0) {
                next[d] = (unsigned)row;
            } else {
                next[d] = band[d] + (a[row - 1] != b[column - 1]);
                if (d > 0 && next[d - 1] + 1 < next[d])
                    next[d] = next[d - 1] + 1;
                if (d + 1 < WIDTH && band[d + 1] + 1 < next[d])
                    next[d] = band[d + 1] + 1;
            }
            best = next[d] < best ? next[d] : best;
        }
        if (best > MAX_DISTANCE)
            return MAX_DISTANCE + 1;
        memcpy(band, next, sizeof band);
    }
    long last = (long)b_len - (long)a_len + MAX_DISTANCE;
    return band[last];
}

/* Length of the identifier part that overloads share: "_Z3foo" of "_Z3fooi"; 0 if there is none. */
static size_t mangled_base(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0 || name[2] < '1' || name[2] > '9')
        return 0;
    size_t len = 0, i = 2;
    for (; name[i] >= '0' && name[i] <= '9' && len < 10000; i++)
        len = len * 10 + (size_t)(name[i] - '0');
    return strnlen(name + i, len) == len ? i + len : 0;
}

static bool is_similar(const char *wanted, size_t base, const cbi_name *have)
{
    if (base && strncmp(wanted, have->s, base) == 0)
        return true; /* same name, other parameters */
    const char *plain = strncmp(wanted, "_Z", 2) == 0 ? NULL : wanted;
    if (plain && mangled_base(have->s)) {
        /* extern "C" on one side only */
        size_t len = mangled_base(have->s);
        size_t want = strlen(plain);
        return len > want && memcmp(have->s + len - want, plain, want) == 0 &&
               have->s[len - want - 1] >= '0' && have->s[len - want - 1] <= '9';
    }
    if (base && strncmp(have->s, "_Z", 2) != 0)
        return have->len < base && memcmp(wanted + base - have->len, have->s, have->len) == 0 &&
               wanted[base - have->len - 1] >= '0' && wanted[base - have->len - 1] <= '9';
    size_t len = strlen(wanted);
    return len > 4 && distance(wanted, len, have->s, have->len) <= MAX_DISTANCE;
}

static void add_similar(const cbi_linker *lk, const cbi_lsym *sym, cbi_buf *help)
{
    if (lk->told->searches++ >= MAX_SEARCHES)
        return;
    const char *wanted = sym->name->s;
    size_t base = mangled_base(wanted);
    size_t shown = 0;
    for (size_t i = 0; i < lk->globals.len && shown < MAX_SIMILAR; i++) {
        const cbi_lsym *have = lk->globals.items[i];
        if (have == sym || have->state == CBI_SYM_UNDEF || have->is_section || !have->def_obj ||
            !is_similar(wanted, base, have->name))
            continue;
        cbi_buf_printf(lk->ctx, help, "\nsimilar: %s in %s", cbi_shown_name(lk, have->name->s),
                       have->def_obj->file);
        shown++;
    }
    for (size_t i = 0; i < lk->locals.len && shown < MAX_SIMILAR; i++) {
        const cbi_lsym *have = lk->locals.items[i];
        if (have->is_section || have->name != sym->name || !have->def_obj)
            continue;
        cbi_buf_printf(lk->ctx, help, "\n%s has one of that name, but it is static there",
                       have->def_obj->file);
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
    const cbi_lobj *first = sym->def_obj;
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
    size_t len = strlen(given), bare = strcspn(readable, "(");
    return len > MAX_DISTANCE + 1 &&
           (distance(given, len, name, strlen(name)) <= MAX_DISTANCE ||
            distance(given, len, readable, strlen(readable)) <= MAX_DISTANCE ||
            distance(given, len, readable, bare) <= MAX_DISTANCE);
}

const char *cbi_explain_name(const cbi_linker *lk, const char *given, bool kernels)
{
    if (lk->told->searches++ >= MAX_SEARCHES)
        return NULL;
    for (size_t i = 0; i < lk->obj_count; i++) {
        const cbi_object *in = &lk->objs[i]->object;
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
