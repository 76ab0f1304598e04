/* Types of the demangler: parsing, and printing around a declarator. */
#include "demangle/demangle_parse.h"

/* cbi_dm_enter() bounds every recursion.  NOLINTBEGIN(misc-no-recursion) */

static const char *const builtins[26] = {
    ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
    ['b' - 'a'] = "bool",        ['c' - 'a'] = "char",
    ['a' - 'a'] = "signed char", ['h' - 'a'] = "unsigned char",
    ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
    ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
    ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
    ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
    ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
    ['f' - 'a'] = "float",       ['d' - 'a'] = "double",
    ['e' - 'a'] = "long double", ['g' - 'a'] = "__float128",
    ['z' - 'a'] = "...",
};

static const struct {
    char code;
    const char *text;
} d_builtins[] = {
    {'n', "std::nullptr_t"}, {'i', "char32_t"}, {'s', "char16_t"},       {'u', "char8_t"},
    {'a', "auto"},           {'h', "__fp16"},   {'c', "decltype(auto)"},
};

static dm_type *new_type(dm *d, dm_kind kind, const char *text, const dm_type *inner)
{
    dm_type *type = CBI_NEW(d->ctx, dm_type);
    type->kind = kind;
    type->text = text;
    type->inner = inner;
    return type;
}

static dm_type *name_type(dm *d, const char *text, bool bare)
{
    dm_type *type = new_type(d, DM_NAME, text, NULL);
    type->bare = bare;
    return type;
}

unsigned cbi_dm_parse_cv(dm *d)
{
    unsigned cv = 0;
    for (;; d->p++) {
        if (*d->p == 'r')
            cv |= DM_RESTRICT;
        else if (*d->p == 'V')
            cv |= DM_VOLATILE;
        else if (*d->p == 'K')
            cv |= DM_CONST;
        else
            return cv;
    }
}

const char *cbi_dm_cv_text(unsigned cv)
{
    static const char *const texts[] = {
        "",         "const",          "volatile",          "const volatile",
        "restrict", "const restrict", "volatile restrict", "const volatile restrict",
    };
    return texts[cv & 7];
}

/* F [Y] result parameters [ref] E, the F is eaten. */
static const dm_type *parse_function(dm *d, bool is_noexcept)
{
    cbi_dm_eat(d, "Y");
    const dm_type *result = cbi_dm_parse_type(d);
    dm_type *type = new_type(d, DM_FUNCTION, cbi_dm_parameters(d), result);
    const char *ref = cbi_dm_eat(d, "R") ? " &" : cbi_dm_eat(d, "O") ? " &&" : "";
    cbi_dm_expect(d, "E");
    type->suffix = DM_TEXT(d, "%s%s", ref, is_noexcept ? " noexcept" : "");
    return type;
}

static const dm_type *parse_array(dm *d)
{
    const char *dimension = "";
    if (*d->p >= '0' && *d->p <= '9')
        dimension = DM_TEXT(d, "%llu", (unsigned long long)cbi_dm_number(d));
    else if (*d->p != '_')
        dimension = cbi_dm_expression(d);
    cbi_dm_expect(d, "_");
    return new_type(d, DM_ARRAY, dimension, cbi_dm_parse_type(d));
}

static const dm_type *parse_vector(dm *d)
{
    const char *count;
    if (cbi_dm_eat(d, "_"))
        count = cbi_dm_expression(d);
    else
        count = DM_TEXT(d, "%llu", (unsigned long long)cbi_dm_number(d));
    cbi_dm_expect(d, "_");
    const char *element = cbi_dm_type_text(d, cbi_dm_parse_type(d));
    return name_type(
        d, DM_TEXT(d, "%s __attribute((vector_size(%s*sizeof(%s)))) ", element, count, element),
        false);
}

static const dm_type *parse_d_type(dm *d, bool *ret_substitutable)
{
    *ret_substitutable = true;
    if (cbi_dm_eat(d, "p"))
        return new_type(d, DM_PACK, NULL, cbi_dm_parse_type(d));
    if (cbi_dm_eat(d, "t") || cbi_dm_eat(d, "T")) {
        const char *expression = cbi_dm_expression(d);
        cbi_dm_expect(d, "E");
        return name_type(d, DM_TEXT(d, "decltype((%s))", expression), false);
    }
    if (cbi_dm_eat(d, "v"))
        return parse_vector(d);
    if (cbi_dm_eat(d, "oF"))
        return parse_function(d, true);
    *ret_substitutable = false;
    if (cbi_dm_eat(d, "F16b"))
        return name_type(d, "std::bfloat16_t", false);
    if (cbi_dm_eat(d, "F")) {
        uint64_t bits = cbi_dm_number(d);
        const char *x = cbi_dm_eat(d, "x") ? "x" : "";
        if (!*x)
            cbi_dm_expect(d, "_");
        return name_type(d, DM_TEXT(d, "_Float%llu%s", (unsigned long long)bits, x), false);
    }
    for (size_t i = 0; i < CBI_COUNT(d_builtins); i++)
        if (*d->p == d_builtins[i].code) {
            d->p++;
            return name_type(d, d_builtins[i].text, false);
        }
    cbi_dm_bad(d);
}

/* A class or enum name, or a template parameter with or without arguments. */
static const dm_type *parse_named(dm *d)
{
    if (*d->p == 'T' && strchr("_0123456789", d->p[1])) {
        const char *text = cbi_dm_template_param(d);
        if (*d->p != 'I' || d->in_conversion)
            return name_type(d, text, false);
        cbi_dm_add_subst(d, name_type(d, text, false), NULL, NULL);
        return name_type(d, DM_TEXT(d, "%s%s", text, cbi_dm_template_args(d)), false);
    }
    if (*d->p == 'S' && d->p[1] != 't') {
        d->p++;
        dm_subst subst = cbi_dm_substitution(d);
        if (*d->p == 'I' && !(subst.type && d->in_conversion)) {
            const char *name = subst.type ? cbi_dm_type_text(d, subst.type) : subst.text;
            return name_type(d, DM_TEXT(d, "%s%s", name, cbi_dm_template_args(d)), true);
        }
        return subst.type ? subst.type : name_type(d, subst.text, true);
    }
    return name_type(d, cbi_dm_parse_name(d).text, false);
}

static bool is_substitution(const char *p)
{
    return *p == 'S' && p[1] != 't';
}

static const dm_type *parse_plain(dm *d, bool *ret_substitutable)
{
    *ret_substitutable = true;
    char c = *d->p;
    switch (c) {
    case 'P':
    case 'R':
    case 'O':
        d->p++;
        return new_type(d, DM_POINTER,
                        c == 'P'   ? "*"
                        : c == 'R' ? "&"
                                   : "&&",
                        cbi_dm_parse_type(d));
    case 'C':
        d->p++;
        return new_type(d, DM_COMPLEX, "_Complex ", cbi_dm_parse_type(d));
    case 'G':
        d->p++;
        return new_type(d, DM_COMPLEX, "_Imaginary ", cbi_dm_parse_type(d));
    case 'F':
        d->p++;
        return parse_function(d, false);
    case 'A':
        d->p++;
        return parse_array(d);
    case 'M': {
        d->p++;
        const char *class_name = cbi_dm_type_text(d, cbi_dm_parse_type(d));
        return new_type(d, DM_MEMBER, class_name, cbi_dm_parse_type(d));
    }
    case 'U': {
        d->p++;
        const char *name = cbi_dm_source_name(d);
        if (*d->p == 'I')
            name = DM_TEXT(d, "%s%s", name, cbi_dm_template_args(d));
        return new_type(d, DM_VENDOR, name, cbi_dm_parse_type(d));
    }
    case 'D':
        d->p++;
        return parse_d_type(d, ret_substitutable);
    case 'u':
        d->p++;
        return name_type(d, cbi_dm_source_name(d), false);
    default:
        break;
    }
    if (c >= 'a' && c <= 'z' && builtins[c - 'a']) {
        d->p++;
        *ret_substitutable = false;
        return name_type(d, builtins[c - 'a'], false);
    }
    /* a substitution without arguments is no new candidate */
    size_t before = d->substs.len;
    bool substituted = is_substitution(d->p);
    const char *start = d->p;
    const dm_type *type = parse_named(d);
    if (substituted && d->substs.len == before && d->p[-1] != 'E' && start[0] == 'S')
        *ret_substitutable = false;
    return type;
}

const dm_type *cbi_dm_parse_type(dm *d)
{
    cbi_dm_enter(d);
    const dm_type *type;
    bool substitutable = true;
    if (*d->p == 'r' || *d->p == 'V' || *d->p == 'K') {
        unsigned cv = cbi_dm_parse_cv(d);
        dm_type *qualified = new_type(d, DM_QUALIFIED, NULL, cbi_dm_parse_type(d));
        qualified->cv = cv;
        type = qualified;
    } else {
        type = parse_plain(d, &substitutable);
    }
    if (substitutable)
        cbi_dm_add_subst(d, type, NULL, NULL);
    cbi_dm_leave(d);
    return type;
}

/* ---- printing ---- */

/* True if a pointer to the type needs parentheses around its declarator. */
static bool needs_parentheses(const dm_type *type)
{
    while (type->kind == DM_QUALIFIED)
        type = type->inner;
    return type->kind == DM_FUNCTION || type->kind == DM_ARRAY;
}

static const char *first_part(dm *d, const dm_type *type, bool trailing)
{
    cbi_dm_enter(d);
    const char *text = "";
    const char *open = type->inner && needs_parentheses(type->inner) ? "(" : "";
    switch (type->kind) {
    case DM_NAME:
        text = DM_TEXT(d, "%s%s", type->text, trailing && !type->bare ? " " : "");
        break;
    case DM_COMPLEX:
        text = DM_TEXT(d, "%s%s", type->text, first_part(d, type->inner, true));
        break;
    case DM_POINTER:
        text = DM_TEXT(d, "%s%s%s", first_part(d, type->inner, true), open, type->text);
        break;
    case DM_MEMBER:
        text = DM_TEXT(d, "%s%s :: %s::*", first_part(d, type->inner, true), open, type->text);
        break;
    case DM_VENDOR:
        text = DM_TEXT(d, "%s%s", first_part(d, type->inner, true), type->text);
        break;
    case DM_QUALIFIED:
        if (type->inner->kind == DM_NAME)
            text =
                DM_TEXT(d, "%s %s", cbi_dm_cv_text(type->cv), first_part(d, type->inner, trailing));
        else if (needs_parentheses(type->inner))
            text = first_part(d, type->inner, trailing);
        else
            text = DM_TEXT(d, "%s%s ", first_part(d, type->inner, true), cbi_dm_cv_text(type->cv));
        break;
    case DM_FUNCTION:
    case DM_ARRAY:
        text = first_part(d, type->inner, true);
        break;
    case DM_PACK:
        text = DM_TEXT(d, "%s...", first_part(d, type->inner, false));
        break;
    }
    cbi_dm_leave(d);
    return text;
}

static const char *second_part(dm *d, const dm_type *type, unsigned cv)
{
    cbi_dm_enter(d);
    const char *text = "";
    switch (type->kind) {
    case DM_NAME:
        break;
    case DM_POINTER:
    case DM_MEMBER:
        text = DM_TEXT(d, "%s%s", needs_parentheses(type->inner) ? ")" : "",
                       second_part(d, type->inner, 0));
        break;
    case DM_COMPLEX:
    case DM_VENDOR:
    case DM_PACK:
        text = second_part(d, type->inner, 0);
        break;
    case DM_QUALIFIED:
        text = second_part(d, type->inner, type->cv);
        break;
    case DM_FUNCTION:
        text = DM_TEXT(d, "(%s)%s%s%s%s", type->text, cv ? " " : "", cbi_dm_cv_text(cv),
                       type->suffix, second_part(d, type->inner, 0));
        break;
    case DM_ARRAY:
        text = DM_TEXT(d, "[%s]%s", type->text, second_part(d, type->inner, 0));
        break;
    }
    cbi_dm_leave(d);
    return text;
}

const char *cbi_dm_type_text(dm *d, const dm_type *type)
{
    return DM_TEXT(d, "%s%s", first_part(d, type, false), second_part(d, type, 0));
}

/* NOLINTEND(misc-no-recursion) */
