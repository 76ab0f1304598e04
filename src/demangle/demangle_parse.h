/* Inside of the demangler: a recursive parser of the Itanium C++ ABI's mangling.  Names become text
 * at once; types stay a tree until printed, since a declarator is written around its name.  A
 * mistake in the input leaves the parser through cbi_fail(). */
#ifndef CBI_DEMANGLE_PARSE_H
#define CBI_DEMANGLE_PARSE_H

#include "base/base.h"

typedef enum dm_kind {
    DM_NAME,      /* text */
    DM_COMPLEX,   /* text, then inner */
    DM_POINTER,   /* text is *, & or && */
    DM_MEMBER,    /* pointer to member of class `text` */
    DM_QUALIFIED, /* cv */
    DM_VENDOR,    /* text behind inner */
    DM_FUNCTION,  /* inner = result, text = parameters, suffix behind them */
    DM_ARRAY,     /* text = dimension */
    DM_PACK,      /* inner... */
} dm_kind;

enum { DM_CONST = 1, DM_VOLATILE = 2, DM_RESTRICT = 4 };

typedef struct dm_type {
    dm_kind kind;
    unsigned cv;
    bool bare; /* DM_NAME: no blank between the name and a following * or & */
    const char *text;
    const char *suffix;
    const struct dm_type *inner;
} dm_type;

/* What a substitution stands for. */
typedef struct dm_subst {
    const dm_type *type; /* NULL: part of a name */
    const char *text;
    const char *last; /* last identifier of text, for constructors */
} dm_subst;

typedef struct dm {
    cbi_ctx *ctx;
    const char *p;
    unsigned depth;
    bool has_parameters; /* of the encoding that ended last */
    bool in_conversion;  /* a template parameter here does not take the arguments behind it */
    CBI_VEC(dm_subst) substs;
} dm;

/* A parsed name. */
typedef struct dm_name {
    const char *text;
    const char *last;       /* last identifier, for constructors */
    const char *end_marker; /* behind the parameters, e.g. " [subobject]" */
    const char *cv;         /* of a member function, e.g. " const &" */
    bool template_args;     /* ends with template arguments */
    bool no_result;         /* constructor, destructor, conversion */
} dm_name;

#define DM_TEXT(d, ...) cbi_printf((d)->ctx, __VA_ARGS__)

CBI_NORETURN void cbi_dm_bad(dm *d);
/* Guards every recursion. */
void cbi_dm_enter(dm *d);
void cbi_dm_leave(dm *d);
bool cbi_dm_eat(dm *d, const char *text);
void cbi_dm_expect(dm *d, const char *text);
/* Decimal digits; at least one. */
uint64_t cbi_dm_number(dm *d);
/* [number] '_': 0 for "_", n + 1 for "n_". */
uint64_t cbi_dm_sequence(dm *d);
void cbi_dm_add_subst(dm *d, const dm_type *type, const char *text, const char *last);

/* demangle.c */
const char *cbi_dm_encoding(dm *d, bool name_only);
dm_name cbi_dm_parse_name(dm *d);
const char *cbi_dm_source_name(dm *d);
const char *cbi_dm_template_args(dm *d);
const char *cbi_dm_template_param(dm *d);
/* "operator +", or NULL if no operator code is here. */
const char *cbi_dm_operator_name(dm *d, bool *ret_conversion);
/* S_, S0_, Sa, Ss, ...; the cursor is behind the S. */
dm_subst cbi_dm_substitution(dm *d);
/* Parameters up to the end of the name or an 'E', without parentheses. */
const char *cbi_dm_parameters(dm *d);

/* demangle_type.c */
const dm_type *cbi_dm_parse_type(dm *d);
const char *cbi_dm_type_text(dm *d, const dm_type *type);
const char *cbi_dm_cv_text(unsigned cv);
unsigned cbi_dm_parse_cv(dm *d);

/* demangle_expr.c */
const char *cbi_dm_expression(dm *d);
/* The cursor is behind the L. */
const char *cbi_dm_literal(dm *d);
/* Text of an operator with one or two operands, NULL if the code is none. */
const char *cbi_dm_operator_text(const char *code);

#endif
