/* Names of the demangler: encodings, nested and local names, template arguments. */
#include "demangle/demangle.h"
#include "demangle/demangle_parse.h"

/* cbi_dm_enter() bounds every recursion.  NOLINTBEGIN(misc-no-recursion) */

/* A name nested deeper than this is given up. */
#define DEPTH_LIMIT 500

/* Substitutions can make a short name expand without end.  What names may cost a job in bytes of
 * text: so many for each byte of a name (ordinary ones need 20, those of templates up to 160), and
 * what goes beyond that in all. */
#define TEXT_LIMIT ((size_t)64 << 20)
enum { NAME_MULTIPLE = 256, NAME_LEAST = 4096, SHOWN_MULTIPLE = 16, SHOWN_LEAST = 256 };

void cbi_dm_bad(dm *d)
{
    cbi_fail(d->ctx, CB_ERR_FORMAT);
}

void cbi_dm_enter(dm *d)
{
    if (++d->depth > DEPTH_LIMIT)
        cbi_dm_bad(d);
}

void cbi_dm_leave(dm *d)
{
    d->depth--;
}

bool cbi_dm_eat(dm *d, const char *text)
{
    size_t len = strlen(text);
    if (strncmp(d->p, text, len) != 0)
        return false;
    d->p += len;
    return true;
}

void cbi_dm_expect(dm *d, const char *text)
{
    if (!cbi_dm_eat(d, text))
        cbi_dm_bad(d);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

uint64_t cbi_dm_number(dm *d)
{
    if (!is_digit(*d->p))
        cbi_dm_bad(d);
    uint64_t number = 0;
    for (; is_digit(*d->p); d->p++) {
        if (number > UINT32_MAX)
            cbi_dm_bad(d);
        number = number * 10 + (uint64_t)(*d->p - '0');
    }
    return number;
}

uint64_t cbi_dm_sequence(dm *d)
{
    uint64_t number = *d->p == '_' ? 0 : cbi_dm_number(d) + 1;
    cbi_dm_expect(d, "_");
    return number;
}

void cbi_dm_add_subst(dm *d, const dm_type *type, const char *text, const char *last)
{
    cbi_vec_push(d->ctx, &d->substs, ((dm_subst){type, text, last}));
}

dm_subst cbi_dm_substitution(dm *d)
{
#define CHARS "char, std::char_traits<char>"
    static const struct {
        char code;
        const char *text, *last;
    } standard[] = {
        {'a', "std::allocator", "allocator"},
        {'b', "std::basic_string", "basic_string"},
        {'s', "std::basic_string<" CHARS ", std::allocator<char>>", "basic_string"},
        {'i', "std::basic_istream<" CHARS ">", "basic_istream"},
        {'o', "std::basic_ostream<" CHARS ">", "basic_ostream"},
        {'d', "std::basic_iostream<" CHARS ">", "basic_iostream"},
    };
    for (size_t i = 0; i < CBI_COUNT(standard); i++)
        if (*d->p == standard[i].code) {
            d->p++;
            return (dm_subst){NULL, standard[i].text, standard[i].last};
        }
    uint64_t index = 0;
    if (!cbi_dm_eat(d, "_")) {
        for (; *d->p != '_'; d->p++) {
            uint64_t digit;
            if (is_digit(*d->p))
                digit = (uint64_t)(*d->p - '0');
            else if (*d->p >= 'A' && *d->p <= 'Z')
                digit = (uint64_t)(*d->p - 'A') + 10;
            else
                cbi_dm_bad(d);
            index = index * 36 + digit;
            if (index > UINT32_MAX)
                cbi_dm_bad(d);
        }
        d->p++;
        index++;
    }
    if (index >= d->substs.len)
        cbi_dm_bad(d);
    return d->substs.items[index];
}

/* length text; some names stand for something unnamed. */
const char *cbi_dm_source_name(dm *d)
{
    static const char unnamed[] = "_GLOBAL__N_";
    static const char internal[] = "_INTERNAL";
    uint64_t len = cbi_dm_number(d);
    if (len == 0 || strnlen(d->p, len) < len)
        cbi_dm_bad(d);
    const char *name = d->p;
    d->p += len;
    const char *text = cbi_strndup(d->ctx, name, len);
    if (strncmp(text, unnamed, strlen(unnamed)) == 0)
        text = "<unnamed>";
    else if (strncmp(text, internal, strlen(internal)) == 0)
        text = ""; /* the compiler's scope for names of one translation unit */
    while (cbi_dm_eat(d, "B"))
        text = DM_TEXT(d, "%s[abi:%s]", text, cbi_dm_source_name(d));
    return text;
}

const char *cbi_dm_template_param(dm *d)
{
    cbi_dm_expect(d, "T");
    return DM_TEXT(d, "T%llu", (unsigned long long)cbi_dm_sequence(d) + 1);
}

static const char *template_arg(dm *d)
{
    cbi_dm_enter(d);
    const char *text;
    if (cbi_dm_eat(d, "L")) {
        text = cbi_dm_literal(d);
    } else if (cbi_dm_eat(d, "X")) {
        text = cbi_dm_expression(d);
        cbi_dm_expect(d, "E");
    } else if (cbi_dm_eat(d, "J")) {
        text = "";
        for (bool first = true; !cbi_dm_eat(d, "E"); first = false)
            text = DM_TEXT(d, "%s%s%s", text, first ? "" : ", ", template_arg(d));
    } else {
        text = cbi_dm_type_text(d, cbi_dm_parse_type(d));
    }
    cbi_dm_leave(d);
    return text;
}

const char *cbi_dm_template_args(dm *d)
{
    bool in_conversion = d->in_conversion;
    d->in_conversion = false;
    cbi_dm_expect(d, "I");
    const char *text = "<";
    for (bool first = true; !cbi_dm_eat(d, "E"); first = false)
        text = DM_TEXT(d, "%s%s%s", text, first ? "" : ", ", template_arg(d));
    d->in_conversion = in_conversion;
    return DM_TEXT(d, "%s>", text);
}

const char *cbi_dm_operator_name(dm *d, bool *ret_conversion)
{
    static const struct {
        char code[3];
        const char *text;
    } named[] = {{"nw", "new "},      {"na", "new[] "}, {"dl", "delete "},
                 {"da", "delete[] "}, {"cl", "()"},     {"ix", "[]"},
                 {"pt", "->"},        {"qu", "?"},      {"aw", "co_await"}};
    *ret_conversion = false;
    if (cbi_dm_eat(d, "cv")) {
        bool outer = d->in_conversion;
        d->in_conversion = true;
        const char *type = cbi_dm_type_text(d, cbi_dm_parse_type(d));
        d->in_conversion = outer;
        *ret_conversion = true;
        return DM_TEXT(d, "operator %s", type);
    }
    if (cbi_dm_eat(d, "li"))
        return DM_TEXT(d, "operator \"\"%s", cbi_dm_source_name(d));
    for (size_t i = 0; i < CBI_COUNT(named); i++)
        if (cbi_dm_eat(d, named[i].code))
            return DM_TEXT(d, "operator %s", named[i].text);
    const char *text = *d->p && d->p[1] ? cbi_dm_operator_text(d->p) : NULL;
    if (!text)
        return NULL;
    d->p += 2;
    return DM_TEXT(d, "operator %s", text);
}

/* Ul: a lambda, Ut: a type without a name. */
static const char *unnamed_entity(dm *d)
{
    if (cbi_dm_eat(d, "Ul")) {
        const char *parameters = cbi_dm_parameters(d);
        cbi_dm_expect(d, "E");
        return DM_TEXT(d, "[lambda(%s) (instance %llu)]", parameters,
                       (unsigned long long)cbi_dm_sequence(d) + 1);
    }
    cbi_dm_expect(d, "Ut");
    return DM_TEXT(d, "[unnamed type (instance %llu)]", (unsigned long long)cbi_dm_sequence(d) + 1);
}

static const char *structured_binding(dm *d)
{
    const char *text = cbi_dm_source_name(d);
    while (!cbi_dm_eat(d, "E"))
        text = DM_TEXT(d, "%s,%s", text, cbi_dm_source_name(d));
    return DM_TEXT(d, "[structured binding for %s]", text);
}

/* One component of a name.  enclosing_last names the class of a constructor. */
static void unqualified_name(dm *d, dm_name *name, const char *enclosing_last)
{
    static const char *const structor_marks[] = {" [deleting]", "", " [subobject]",
                                                 " [allocating]"};
    name->no_result = false;
    name->end_marker = "";
    if (is_digit(*d->p)) {
        name->last = name->text = cbi_dm_source_name(d);
        return;
    }
    if (*d->p == 'U') {
        name->last = name->text = unnamed_entity(d);
        return;
    }
    if (cbi_dm_eat(d, "DC")) {
        name->last = name->text = structured_binding(d);
        return;
    }
    bool inherits = enclosing_last && strncmp(d->p, "CI", 2) == 0;
    char kind = *d->p;
    char number = kind ? d->p[inherits ? 2 : 1] : 0;
    if (inherits && (number == '1' || number == '2')) {
        d->p += 3;
        name->text =
            cbi_dm_type_text(d, cbi_dm_parse_type(d)); /* where the constructor comes from */
        name->end_marker = number == '1' ? " [complete inheriting]" : " [base inheriting]";
        name->no_result = true;
    } else if (enclosing_last && ((kind == 'C' && number >= '1' && number <= '3') ||
                                  (kind == 'D' && number >= '0' && number <= '2'))) {
        d->p += 2;
        name->text = DM_TEXT(d, "%s%s", kind == 'D' ? "~" : "", enclosing_last);
        name->end_marker = structor_marks[number - '0'];
        name->no_result = true;
    } else {
        name->text = cbi_dm_operator_name(d, &name->no_result);
        if (!name->text)
            cbi_dm_bad(d);
    }
    while (cbi_dm_eat(d, "B"))
        name->text = DM_TEXT(d, "%s[abi:%s]", name->text, cbi_dm_source_name(d));
    name->last = name->text;
}

static const char *join(dm *d, const char *scope, const char *name)
{
    return *scope ? DM_TEXT(d, "%s::%s", scope, name) : name;
}

/* The part of a nested name that a single code stands for; false if the next component is an
 * unqualified name. */
static bool prefix_code(dm *d, dm_name *name)
{
    if (*d->p == 'S' && d->p[1] == 't') {
        d->p += 2;
        *name = (dm_name){.text = "std", .last = "std"};
        return true;
    }
    if (cbi_dm_eat(d, "S")) {
        dm_subst subst = cbi_dm_substitution(d);
        *name = (dm_name){.text = subst.type ? cbi_dm_type_text(d, subst.type) : subst.text,
                          .last = subst.last};
        return true;
    }
    if (*d->p == 'T') {
        *name = (dm_name){.text = cbi_dm_template_param(d)};
    } else if (cbi_dm_eat(d, "Dt") || cbi_dm_eat(d, "DT")) {
        *name = (dm_name){.text = DM_TEXT(d, "decltype((%s))", cbi_dm_expression(d))};
        cbi_dm_expect(d, "E");
    } else {
        return false;
    }
    if (*d->p != 'E')
        cbi_dm_add_subst(d, NULL, name->text, NULL);
    return true;
}

/* The N is eaten. */
static dm_name nested_name(dm *d)
{
    dm_name name = {.text = "", .end_marker = ""};
    unsigned cv = cbi_dm_parse_cv(d);
    const char *ref = cbi_dm_eat(d, "R") ? " &" : cbi_dm_eat(d, "O") ? " &&" : "";
    bool started = prefix_code(d, &name);
    while (!cbi_dm_eat(d, "E")) {
        if (*d->p == 'I') {
            if (!started || name.template_args)
                cbi_dm_bad(d);
            name.text = DM_TEXT(d, "%s%s", name.text, cbi_dm_template_args(d));
            name.template_args = true;
        } else {
            dm_name part = {.text = ""};
            unqualified_name(d, &part, name.last);
            part.text = join(d, name.text, part.text);
            name = part;
        }
        cbi_dm_eat(d, "M"); /* a lambda in the initializer of this member follows */
        started = true;
        if (*d->p != 'E')
            cbi_dm_add_subst(d, NULL, name.text, name.last);
    }
    name.cv = DM_TEXT(d, "%s%s%s", cv ? " " : "", cbi_dm_cv_text(cv), ref);
    return name;
}

/* _n or __nn_: which of several entities of the same name in one function. */
static const char *discriminator(dm *d, const char *text)
{
    uint64_t number;
    if (cbi_dm_eat(d, "__")) {
        number = cbi_dm_number(d);
        cbi_dm_expect(d, "_");
    } else if (*d->p == '_' && is_digit(d->p[1])) {
        number = (uint64_t)(d->p[1] - '0');
        d->p += 2;
    } else {
        return text;
    }
    return DM_TEXT(d, "%s (instance %llu)", text, (unsigned long long)number + 2);
}

/* The Z is eaten. */
static dm_name local_name(dm *d)
{
    const char *function = cbi_dm_encoding(d, false);
    cbi_dm_expect(d, "E");
    dm_name name;
    if (cbi_dm_eat(d, "s")) {
        name = (dm_name){.text = "string", .last = "string", .end_marker = "", .cv = ""};
    } else if (cbi_dm_eat(d, "d")) {
        uint64_t number = cbi_dm_sequence(d) + 1;
        name = cbi_dm_parse_name(d);
        name.text = DM_TEXT(d, "[default argument %llu (from end)]::%s", (unsigned long long)number,
                            name.text);
    } else {
        name = cbi_dm_parse_name(d);
    }
    name.text = discriminator(d, DM_TEXT(d, "%s::%s", function, name.text));
    return name;
}

dm_name cbi_dm_parse_name(dm *d)
{
    cbi_dm_enter(d);
    dm_name name = {.text = "", .end_marker = "", .cv = ""};
    if (cbi_dm_eat(d, "N")) {
        name = nested_name(d);
    } else if (cbi_dm_eat(d, "Z")) {
        name = local_name(d);
    } else {
        if (cbi_dm_eat(d, "St")) {
            unqualified_name(d, &name, NULL);
            name.text = DM_TEXT(d, "std::%s", name.text);
        } else if (cbi_dm_eat(d, "S")) {
            dm_subst subst = cbi_dm_substitution(d);
            name.text = subst.type ? cbi_dm_type_text(d, subst.type) : subst.text;
            name.last = subst.last;
            if (*d->p != 'I')
                cbi_dm_bad(d);
        } else {
            unqualified_name(d, &name, NULL);
        }
        name.cv = "";
        if (*d->p == 'I') {
            cbi_dm_add_subst(d, NULL, name.text, name.last);
            name.text = DM_TEXT(d, "%s%s", name.text, cbi_dm_template_args(d));
            name.template_args = true;
        }
    }
    cbi_dm_leave(d);
    return name;
}

/* True at the end of a parameter list: end of the text, or E behind an optional ref-qualifier. */
static bool at_list_end(const char *p)
{
    return *p == 0 || *p == 'E' || ((*p == 'R' || *p == 'O') && p[1] == 'E');
}

const char *cbi_dm_parameters(dm *d)
{
    if (*d->p == 'v' && at_list_end(d->p + 1)) {
        d->p++;
        return "";
    }
    const char *text = cbi_dm_type_text(d, cbi_dm_parse_type(d));
    while (!at_list_end(d->p))
        text = DM_TEXT(d, "%s, %s", text, cbi_dm_type_text(d, cbi_dm_parse_type(d)));
    return text;
}

static const char *signed_number(dm *d)
{
    const char *sign = cbi_dm_eat(d, "n") ? "-" : "";
    return DM_TEXT(d, "%s%llu", sign, (unsigned long long)cbi_dm_number(d));
}

/* h<n>_ or v<n>_<n>_ */
static const char *call_offset(dm *d)
{
    bool is_virtual = cbi_dm_eat(d, "v");
    if (!is_virtual)
        cbi_dm_expect(d, "h");
    const char *text = DM_TEXT(d, "(offset %s", signed_number(d));
    cbi_dm_expect(d, "_");
    if (is_virtual) {
        text = DM_TEXT(d, "%s, virtual offset %s", text, signed_number(d));
        cbi_dm_expect(d, "_");
    }
    return DM_TEXT(d, "%s)", text);
}

/* Tables, guards and thunks; NULL if the cursor is at a plain name. */
static const char *special_name(dm *d)
{
    static const struct {
        char code[3];
        bool type;
        const char *text;
    } kinds[] = {
        {"TV", true, "Virtual function table for "},
        {"TT", true, "Virtual table table for "},
        {"TI", true, "Typeinfo for "},
        {"TS", true, "Typeinfo name for "},
        {"GV", false, "Initialization guard variable for "},
        {"TW", false, "Thread-local wrapper routine for "},
        {"TH", false, "Thread-local initialization routine for "},
    };
    for (size_t i = 0; i < CBI_COUNT(kinds); i++) {
        if (!cbi_dm_eat(d, kinds[i].code))
            continue;
        const char *what =
            kinds[i].type ? cbi_dm_type_text(d, cbi_dm_parse_type(d)) : cbi_dm_parse_name(d).text;
        d->has_parameters = false;
        return DM_TEXT(d, "%s%s", kinds[i].text, what);
    }
    if (strncmp(d->p, "Th", 2) == 0 || strncmp(d->p, "Tv", 2) == 0) {
        d->p++;
        const char *offset = call_offset(d);
        return DM_TEXT(d, "Thunk for %s %s", offset, cbi_dm_encoding(d, false));
    }
    if (cbi_dm_eat(d, "Tc")) {
        const char *first = call_offset(d);
        const char *second = call_offset(d);
        return DM_TEXT(d, "Covariant thunk for %s %s %s", first, second, cbi_dm_encoding(d, false));
    }
    return NULL;
}

const char *cbi_dm_encoding(dm *d, bool name_only)
{
    cbi_dm_enter(d);
    const char *text = special_name(d);
    if (!text) {
        dm_name name = cbi_dm_parse_name(d);
        bool is_data = *d->p == 0 || *d->p == 'E';
        const char *result = "";
        if (!is_data && name.template_args && !name.no_result)
            result = DM_TEXT(d, "%s ", cbi_dm_type_text(d, cbi_dm_parse_type(d)));
        const char *parameters = is_data ? "" : cbi_dm_parameters(d);
        d->has_parameters = !is_data;
        if (is_data || name_only)
            text = DM_TEXT(d, "%s%s", name.text, name.cv);
        else
            text =
                DM_TEXT(d, "%s%s(%s)%s%s", result, name.text, parameters, name.cv, name.end_marker);
    }
    cbi_dm_leave(d);
    return text;
}

typedef struct demangle_job {
    const char *name;
    bool functions_only;
} demangle_job;

static cb_status demangle(cbi_ctx *scratch, void *arg)
{
    demangle_job *j = arg;
    dm d = {.ctx = scratch, .p = j->name + strlen("_Z")};
    const char *text = cbi_dm_encoding(&d, false);
    if (*d.p || (j->functions_only && !d.has_parameters))
        return CB_ERR_FORMAT;
    j->name = text;
    return CB_OK;
}

/* How many '$' of a name are tried as the mark that ends its mangled part. */
#define MARKS_TRIED 32

static size_t text_left(const cbi_ctx *ctx)
{
    return ctx->text_spent < TEXT_LIMIT ? TEXT_LIMIT - ctx->text_spent : 0;
}

typedef struct copy_job {
    const char *from;
    char *to;
} copy_job;

static cb_status copy_text(cbi_ctx *ctx, void *arg)
{
    copy_job *j = arg;
    j->to = cbi_strndup(ctx, j->from, strlen(j->from));
    return CB_OK;
}

/* The text of a mangled name, or NULL when it is none. */
static const char *demangle_whole(cbi_ctx *ctx, const char *name, bool functions_only)
{
    if (strncmp(name, "_Z", 2) != 0)
        return NULL;
    /* everything on the way is dropped at the end */
    cbi_ctx scratch;
    cbi_ctx_init(&scratch);
    scratch.allocator = ctx->allocator;
    size_t free_of_charge = strlen(name) * NAME_MULTIPLE + NAME_LEAST;
    scratch.memory_limit = free_of_charge + text_left(ctx);
    demangle_job job = {.name = name, .functions_only = functions_only};
    cb_status status = cbi_run(&scratch, demangle, &job);
    copy_job copy = {.from = job.name};
    if (status == CB_OK && strcmp(copy.from, name) != 0)
        status = cbi_run(ctx, copy_text, &copy);
    else if (status == CB_ERR_NOMEM && scratch.over_limit)
        status = CB_ERR_FORMAT;
    size_t spent = cbi_arena_used(&scratch);
    cbi_ctx_fini(&scratch);
    if (status == CB_ERR_NOMEM)
        cbi_fail(ctx, status);
    if (spent > free_of_charge)
        ctx->text_spent += spent - free_of_charge;
    return copy.to;
}

bool cbi_demangle_again(cbi_ctx *ctx, const char *name, const char *text)
{
    size_t size = strlen(text);
    if (size <= strlen(name) * SHOWN_MULTIPLE + SHOWN_LEAST)
        return true;
    if (size > text_left(ctx))
        return false;
    ctx->text_spent += size;
    return true;
}

/* Where the mangled part of a name begins. Functions that the compiler had to make unique are
 * called
 * __nv_static_LENGTH_MODULE_MANGLED, with so many characters of MODULE. */
static const char *mangled_part(const char *name)
{
    static const char prefix[] = "__nv_static_";
    if (strncmp(name, "$_Z", 3) == 0)
        return name + 1;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return name;
    const char *p = name + sizeof prefix - 1;
    size_t length = 0, rest;
    for (; *p >= '0' && *p <= '9' && length < 1000; p++)
        length = length * 10 + (size_t)(*p - '0');
    rest = strlen(p);
    bool fits = *p == '_' && rest > length + 2 && p[1 + length] == '_';
    return fits ? p + length + 2 : name;
}

static const char *name_clone(cbi_ctx *ctx, const char *before, const char *text)
{
    return before ? cbi_printf(ctx, "[clone %s] %s", before, text) : text;
}

/* The first '$' behind the text of a function, which goes to *ret_text; NULL if there is none. */
static const char *mark_behind(cbi_ctx *ctx, const char *mangled, unsigned *tries,
                               const char **ret_text)
{
    for (const char *end = strchr(mangled, '$'); end && (*tries)++ < MARKS_TRIED;
         end = strchr(end + 1, '$')) {
        *ret_text = demangle_whole(ctx, cbi_strndup(ctx, mangled, (size_t)(end - mangled)), true);
        if (*ret_text)
            return end;
    }
    return NULL;
}

const char *cbi_demangle(cbi_ctx *ctx, const char *name)
{
    const char *mangled = mangled_part(name), *before = NULL, *text;
    unsigned tries = 0;
    /* Local functions may end in "$NUMBER", which is not shown; other ends name a clone, and if
     * such a name is a mangled one, it has the same ends.  What has no parameters has no end. */
    while (strncmp(mangled, "_Z", 2) == 0) {
        text = demangle_whole(ctx, mangled, false);
        if (text)
            return name_clone(ctx, before, text);
        const char *end = mark_behind(ctx, mangled, &tries, &text);
        if (!end)
            return name;
        before = name_clone(ctx, before, text);
        mangled = end + 1;
    }
    if (!before)
        return name;
    size_t digits = strspn(mangled, "0123456789");
    if (digits)
        return mangled[digits] ? name : before;
    return name_clone(ctx, before, mangled);
}

/* NOLINTEND(misc-no-recursion) */
