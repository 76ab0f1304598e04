/* Expressions of the demangler: template arguments, decltype, array bounds. */
#include "demangle/demangle_parse.h"

#include <stdio.h>

/* cbi_dm_enter() bounds every recursion.  NOLINTBEGIN(misc-no-recursion) */

typedef enum op_form { OP_PREFIX, OP_BINARY, OP_POSTFIX, OP_CAST, OP_OF_TYPE, OP_OF_VALUE } op_form;

static const struct expr_op {
    char code[3];
    op_form form;
    const char *text;
} ops[] = {
    {"ad", OP_PREFIX, "&"},
    {"de", OP_PREFIX, "*"},
    {"ng", OP_PREFIX, "-"},
    {"ps", OP_PREFIX, "+"},
    {"co", OP_PREFIX, "~"},
    {"nt", OP_PREFIX, "!"},
    {"pp", OP_POSTFIX, "++"},
    {"mm", OP_POSTFIX, "--"},
    {"pl", OP_BINARY, "+"},
    {"mi", OP_BINARY, "-"},
    {"ml", OP_BINARY, "*"},
    {"dv", OP_BINARY, "/"},
    {"rm", OP_BINARY, "%"},
    {"an", OP_BINARY, "&"},
    {"or", OP_BINARY, "|"},
    {"eo", OP_BINARY, "^"},
    {"ls", OP_BINARY, "<<"},
    {"rs", OP_BINARY, ">>"},
    {"eq", OP_BINARY, "=="},
    {"ne", OP_BINARY, "!="},
    {"lt", OP_BINARY, "<"},
    {"gt", OP_BINARY, ">"},
    {"le", OP_BINARY, "<="},
    {"ge", OP_BINARY, ">="},
    {"ss", OP_BINARY, "<=>"},
    {"aa", OP_BINARY, "&&"},
    {"oo", OP_BINARY, "||"},
    {"aS", OP_BINARY, "="},
    {"pL", OP_BINARY, "+="},
    {"mI", OP_BINARY, "-="},
    {"mL", OP_BINARY, "*="},
    {"dV", OP_BINARY, "/="},
    {"rM", OP_BINARY, "%="},
    {"aN", OP_BINARY, "&="},
    {"oR", OP_BINARY, "|="},
    {"eO", OP_BINARY, "^="},
    {"lS", OP_BINARY, "<<="},
    {"rS", OP_BINARY, ">>="},
    {"cm", OP_BINARY, ","},
    {"pm", OP_BINARY, "->*"},
    {"ds", OP_BINARY, ".*"},
    {"sc", OP_CAST, "static_cast"},
    {"rc", OP_CAST, "reinterpret_cast"},
    {"cc", OP_CAST, "const_cast"},
    {"dc", OP_CAST, "dynamic_cast"},
    {"st", OP_OF_TYPE, "sizeof"},
    {"at", OP_OF_TYPE, "alignof"},
    {"ti", OP_OF_TYPE, "typeid"},
    {"sz", OP_OF_VALUE, "sizeof"},
    {"az", OP_OF_VALUE, "alignof"},
    {"te", OP_OF_VALUE, "typeid"},
    {"nx", OP_OF_VALUE, "noexcept"},
};

const char *cbi_dm_operator_text(const char *code)
{
    for (size_t i = 0; i < CBI_COUNT(ops); i++)
        if (ops[i].form <= OP_POSTFIX && memcmp(ops[i].code, code, 2) == 0)
            return ops[i].text;
    return NULL;
}

/* The digits of a floating literal are its bytes, highest first. */
static const char *float_text(dm *d, const char *digits, size_t len, bool is_float)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < len; i++) {
        const char *at = strchr("0123456789abcdef", digits[i]);
        if (!at)
            cbi_dm_bad(d);
        bits = bits << 4 | (uint64_t)(at - "0123456789abcdef");
    }
    double value;
    if (is_float) {
        uint32_t word = (uint32_t)bits;
        float narrow;
        memcpy(&narrow, &word, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, &bits, sizeof value);
    }
    const char *text = DM_TEXT(d, "%.*g", is_float ? 6 : 15, value);
    return strpbrk(text, ".einf") ? text : DM_TEXT(d, "%s.0", text);
}

const char *cbi_dm_literal(dm *d)
{
    if (cbi_dm_eat(d, "_Z")) {
        const char *name = cbi_dm_encoding(d, true);
        cbi_dm_expect(d, "E");
        return name;
    }
    if (cbi_dm_eat(d, "DnE"))
        return "nullptr";
    char code = *d->p;
    const char *type = cbi_dm_type_text(d, cbi_dm_parse_type(d));
    size_t len = strcspn(d->p, "E");
    const char *digits = d->p;
    if (!digits[len])
        cbi_dm_bad(d);
    d->p += len + 1;
    if ((code == 'f' && len == 8) || (code == 'd' && len == 16))
        return DM_TEXT(d, "(%s)%s", type, float_text(d, digits, len, code == 'f'));
    const char *sign = "";
    if (len && *digits == 'n') {
        sign = "-";
        digits++;
        len--;
    }
    if (len == 0 && !*sign)
        return DM_TEXT(d, "(%s)\"...\"", type); /* a string */
    if (len == 0 || strspn(digits, "0123456789") < len)
        cbi_dm_bad(d);
    return DM_TEXT(d, "(%s)%s%.*s", type, sign, (int)len, digits);
}

/* Expressions up to an E, which is eaten. */
static const char *list_to_end(dm *d)
{
    const char *text = "";
    while (!cbi_dm_eat(d, "E"))
        text = DM_TEXT(d, "%s%s%s", text, *text ? ", " : "", cbi_dm_expression(d));
    return text;
}

static const char *with_arguments(dm *d, const char *name)
{
    return *d->p == 'I' ? DM_TEXT(d, "%s%s", name, cbi_dm_template_args(d)) : name;
}

/* The last part of an unresolved name. */
static const char *base_name(dm *d)
{
    if (cbi_dm_eat(d, "on")) {
        bool conversion;
        const char *name = cbi_dm_operator_name(d, &conversion);
        if (!name)
            cbi_dm_bad(d);
        return with_arguments(d, name);
    }
    if (cbi_dm_eat(d, "dn")) {
        const char *name = *d->p >= '0' && *d->p <= '9' ? cbi_dm_source_name(d)
                                                        : cbi_dm_type_text(d, cbi_dm_parse_type(d));
        return DM_TEXT(d, "~%s", with_arguments(d, name));
    }
    return with_arguments(d, cbi_dm_source_name(d));
}

/* sr: a name inside something that depends on a template parameter. */
static const char *scoped_name(dm *d)
{
    const char *scope;
    if (*d->p >= '0' && *d->p <= '9') {
        scope = with_arguments(d, cbi_dm_source_name(d));
        while (!cbi_dm_eat(d, "E"))
            scope = DM_TEXT(d, "%s::%s", scope, with_arguments(d, cbi_dm_source_name(d)));
    } else if (cbi_dm_eat(d, "N")) {
        scope = cbi_dm_type_text(d, cbi_dm_parse_type(d));
        while (!cbi_dm_eat(d, "E"))
            scope = DM_TEXT(d, "%s::%s", scope, with_arguments(d, cbi_dm_source_name(d)));
    } else {
        scope = cbi_dm_type_text(d, cbi_dm_parse_type(d));
    }
    return DM_TEXT(d, "%s::%s", scope, base_name(d));
}

/* fp_, fp0_, fpT */
static const char *parameter(dm *d)
{
    if (cbi_dm_eat(d, "fpT"))
        return "this";
    if (cbi_dm_eat(d, "fL"))
        cbi_dm_number(d);
    else
        cbi_dm_expect(d, "f");
    cbi_dm_expect(d, "p");
    cbi_dm_parse_cv(d);
    return DM_TEXT(d, "param#%llu", (unsigned long long)cbi_dm_sequence(d) + 1);
}

static const char *cast(dm *d)
{
    const char *type = cbi_dm_type_text(d, cbi_dm_parse_type(d));
    if (cbi_dm_eat(d, "_"))
        return DM_TEXT(d, "%s(%s)", type, list_to_end(d));
    return DM_TEXT(d, "(%s)%s", type, cbi_dm_expression(d));
}

static const char *apply(dm *d, const struct expr_op *op)
{
    const char *left;
    switch (op->form) {
    case OP_PREFIX:
        return DM_TEXT(d, "%s%s", op->text, cbi_dm_expression(d));
    case OP_POSTFIX:
        if (cbi_dm_eat(d, "_"))
            return DM_TEXT(d, "%s%s", op->text, cbi_dm_expression(d));
        return DM_TEXT(d, "%s%s", cbi_dm_expression(d), op->text);
    case OP_CAST:
        left = cbi_dm_type_text(d, cbi_dm_parse_type(d));
        return DM_TEXT(d, "%s<%s>(%s)", op->text, left, cbi_dm_expression(d));
    case OP_OF_TYPE:
        return DM_TEXT(d, "%s(%s)", op->text, cbi_dm_type_text(d, cbi_dm_parse_type(d)));
    case OP_OF_VALUE:
        return DM_TEXT(d, "%s(%s)", op->text, cbi_dm_expression(d));
    case OP_BINARY:
        left = cbi_dm_expression(d);
        return DM_TEXT(d, "%s%s%s", left, op->text, cbi_dm_expression(d));
    }
    cbi_dm_bad(d);
}

/* fl, fr: operator, pack.  fL, fR: operator, two operands.  The f is eaten. */
static const char *fold(dm *d)
{
    char form = *d->p++;
    const char *op = *d->p && d->p[1] ? cbi_dm_operator_text(d->p) : NULL;
    if (!op)
        cbi_dm_bad(d);
    d->p += 2;
    const char *left = cbi_dm_expression(d);
    if (form == 'l')
        return DM_TEXT(d, "(...%s%s)", op, left);
    if (form == 'r')
        return DM_TEXT(d, "(%s%s...)", left, op);
    return DM_TEXT(d, "(%s%s...%s%s)", left, op, op, cbi_dm_expression(d));
}

/* Forms that are no plain operator; NULL if the cursor is at none of them. */
static const char *special_form(dm *d)
{
    const char *a, *b;
    if (cbi_dm_eat(d, "cl")) {
        a = cbi_dm_expression(d);
        return DM_TEXT(d, "%s(%s)", a, list_to_end(d));
    }
    if (cbi_dm_eat(d, "cv"))
        return cast(d);
    if (cbi_dm_eat(d, "ix")) {
        a = cbi_dm_expression(d);
        return DM_TEXT(d, "%s[%s]", a, cbi_dm_expression(d));
    }
    if (cbi_dm_eat(d, "qu")) {
        a = cbi_dm_expression(d);
        b = cbi_dm_expression(d);
        return DM_TEXT(d, "%s?%s:%s", a, b, cbi_dm_expression(d));
    }
    if (cbi_dm_eat(d, "dt")) {
        a = cbi_dm_expression(d);
        return DM_TEXT(d, "(%s.%s)", a, cbi_dm_expression(d));
    }
    if (cbi_dm_eat(d, "pt")) {
        a = cbi_dm_expression(d);
        return DM_TEXT(d, "(%s->%s)", a, cbi_dm_expression(d));
    }
    if (cbi_dm_eat(d, "sp"))
        return DM_TEXT(d, "%s...", cbi_dm_expression(d));
    if (cbi_dm_eat(d, "sZ")) {
        a = *d->p == 'T' ? cbi_dm_template_param(d) : parameter(d);
        return DM_TEXT(d, "sizeof...(%s)", a);
    }
    if (cbi_dm_eat(d, "tl")) {
        a = cbi_dm_type_text(d, cbi_dm_parse_type(d));
        return DM_TEXT(d, "%s{%s}", a, list_to_end(d));
    }
    if (cbi_dm_eat(d, "il"))
        return DM_TEXT(d, "{%s}", list_to_end(d));
    if (cbi_dm_eat(d, "nw_")) {
        a = cbi_dm_type_text(d, cbi_dm_parse_type(d));
        cbi_dm_expect(d, "E");
        return DM_TEXT(d, "new %s", a);
    }
    if (cbi_dm_eat(d, "sr"))
        return scoped_name(d);
    if (cbi_dm_eat(d, "gs"))
        return DM_TEXT(d, "::%s", cbi_dm_expression(d));
    if (cbi_dm_eat(d, "dl"))
        return DM_TEXT(d, "delete %s", cbi_dm_expression(d));
    if (cbi_dm_eat(d, "da"))
        return DM_TEXT(d, "delete[] %s", cbi_dm_expression(d));
    if (cbi_dm_eat(d, "tw"))
        return DM_TEXT(d, "throw %s", cbi_dm_expression(d));
    if (cbi_dm_eat(d, "tr"))
        return "throw";
    return NULL;
}

const char *cbi_dm_expression(dm *d)
{
    cbi_dm_enter(d);
    const char *text = NULL;
    if (*d->p == 'T')
        text = cbi_dm_template_param(d);
    else if (cbi_dm_eat(d, "L"))
        text = cbi_dm_literal(d);
    else if (*d->p == 'f' && d->p[1] && strchr("lrR", d->p[1]))
        d->p++, text = fold(d);
    else if (strncmp(d->p, "fL", 2) == 0 && !(d->p[2] >= '0' && d->p[2] <= '9'))
        d->p++, text = fold(d);
    else if (*d->p == 'f')
        text = parameter(d);
    else if ((*d->p >= '0' && *d->p <= '9') || strncmp(d->p, "on", 2) == 0 ||
             strncmp(d->p, "dn", 2) == 0)
        text = base_name(d);
    else
        text = special_form(d);
    for (size_t i = 0; !text && i < CBI_COUNT(ops); i++)
        if (cbi_dm_eat(d, ops[i].code))
            text = apply(d, &ops[i]);
    if (!text)
        cbi_dm_bad(d);
    cbi_dm_leave(d);
    return text;
}

/* NOLINTEND(misc-no-recursion) */
