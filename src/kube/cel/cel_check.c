/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The type checker of expressions; see cel_static.h. It follows upstream's checker step by step,
 * because clients depend on its texts and on what it accepts.
 */
#include "kube/cel/cel_core.h"

#include "base/buf.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct cel_static type_error = { .kind = CEL_KIND_ERROR };
static const struct cel_static type_null = { .kind = CEL_KIND_NULL };
static const struct cel_static type_uint = { .kind = CEL_KIND_UINT };
static const struct cel_static type_double = { .kind = CEL_KIND_DOUBLE };
static const struct cel_static type_bytes = { .kind = CEL_KIND_BYTES };
static const struct cel_static type_duration = { .kind = CEL_KIND_DURATION };

struct mistake {
    uint32_t at;
    uint32_t order;
    const char *text;
};

struct changed {
    uint32_t id;
    const struct cel_static *was;
};

struct cel_check {
    struct arena *a;
    struct str text;
    struct cel_checked *out;
    size_t cap_bound;
    struct changed *trail; /* changes made by the binding that is being tried, to undo them */
    size_t n_trail, cap_trail;
    struct mistake *mistakes;
    size_t n_mistakes, n_more;
    uint64_t steps;
};

static bool is_spent(const struct cel_check *c)
{
    return c->steps > CEL_CHECK_STEPS || c->out->steps > CEL_CHECK_STEPS;
}

static void complain(struct cel_check *c, uint32_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static void complain(struct cel_check *c, uint32_t at, const char *fmt, ...)
{
    va_list ap;
    if (c->n_mistakes == CEL_CHECK_ERRORS) {
        c->n_more++;
        return;
    }
    if (!c->mistakes)
        c->mistakes = arena_new_n(c->a, struct mistake, CEL_CHECK_ERRORS);
    struct buf b = BUF_INIT(CEL_MAX_BYTES * 4);
    va_start(ap, fmt);
    (void)buf_vprintf(&b, fmt, ap);
    va_end(ap);
    c->mistakes[c->n_mistakes] = (struct mistake){ .at = at,
                                                   .order = (uint32_t)c->n_mistakes,
                                                   .text = str_dup_arena(c->a, buf_str(&b)) };
    c->n_mistakes++;
    buf_fini(&b);
}

/* ------------------------------------------------------------------ types as text */

enum { TEXT_MAX = 8 << 10 }; /* of one type, which can be deeply nested */

static void print_decl(struct buf *b, const struct cel_decl *d)
{
    if (d->up) {
        print_decl(b, d->up);
        (void)buf_printf(b, "." STR_FMT, STR_ARG(d->part));
    } else {
        (void)buf_add_str(b, str_of(d->name));
    }
}

static void print(struct buf *b, const struct cel_static *t)
{
    static const char *const names[] = {
        [CEL_KIND_ERROR] = "!error!",
        [CEL_KIND_DYN] = "dyn",
        [CEL_KIND_NULL] = "null",
        [CEL_KIND_BOOL] = "bool",
        [CEL_KIND_INT] = "int",
        [CEL_KIND_UINT] = "uint",
        [CEL_KIND_DOUBLE] = "double",
        [CEL_KIND_STRING] = "string",
        [CEL_KIND_BYTES] = "bytes",
        [CEL_KIND_DURATION] = "duration",
        [CEL_KIND_TIMESTAMP] = "timestamp",
        [CEL_KIND_TYPE] = "type",
        [CEL_KIND_LIST] = "list",
        [CEL_KIND_MAP] = "map",
    };
    if (b->n > TEXT_MAX)
        return;
    if (t->kind == CEL_KIND_PARAM)
        (void)buf_printf(b, "_var%u", t->id);
    else if (t->kind == CEL_KIND_OBJECT && t->decl)
        print_decl(b, t->decl);
    else
        (void)buf_add_str(b, str_of(t->name ? t->name : names[t->kind]));
    for (size_t i = 0; i < t->n; i++) {
        (void)buf_add_str(b, i ? STR(", ") : STR("("));
        print(b, t->params[i]);
    }
    if (t->n)
        (void)buf_add_char(b, ')');
}

const char *cel_static_text(struct arena *a, const struct cel_static *t)
{
    struct buf b = BUF_INIT(TEXT_MAX * 4);
    print(&b, t);
    const char *text = str_dup_arena(a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static const char *text_of(struct cel_check *c, const struct cel_static *t)
{
    return cel_static_text(c->a, t);
}

/* ------------------------------------------------------------------ types */

static bool is_dyn_or_error(const struct cel_static *t)
{
    return t->kind == CEL_KIND_DYN || t->kind == CEL_KIND_ERROR;
}

static bool is_optional(const struct cel_static *t)
{
    return t->kind == CEL_KIND_OPAQUE && t->n == 1;
}

static const struct cel_static *new_type(struct cel_check *c, enum cel_kind kind, const char *name,
                                         const struct cel_static *p0, const struct cel_static *p1)
{
    struct cel_static *t = arena_new(c->a, struct cel_static);
    *t = (struct cel_static){ .kind = (uint8_t)kind,
                              .n = (uint8_t)(!!p0 + !!p1),
                              .name = name,
                              .open = (p0 && p0->open) || (p1 && p1->open),
                              .params = { p0, p1 } };
    return t;
}

static const struct cel_static *new_list(struct cel_check *c, const struct cel_static *of)
{
    return new_type(c, CEL_KIND_LIST, NULL, of, NULL);
}

static const struct cel_static *new_optional(struct cel_check *c, const struct cel_static *of)
{
    return new_type(c, CEL_KIND_OPAQUE, "optional_type", of, NULL);
}

/* A new type parameter: a type that is not known yet. */
static const struct cel_static *new_param(struct cel_check *c)
{
    struct cel_checked *out = c->out;
    if (out->n_bound == c->cap_bound) {
        size_t cap = MAX((size_t)16, c->cap_bound * 2);
        const struct cel_static **grown = arena_new_n(c->a, const struct cel_static *, cap);
        if (out->n_bound)
            memcpy(grown, out->bound, out->n_bound * sizeof(grown[0]));
        out->bound = grown;
        c->cap_bound = cap;
    }
    struct cel_static *t = arena_new(c->a, struct cel_static);
    *t = (struct cel_static){ .kind = CEL_KIND_PARAM, .open = true, .id = (uint32_t)out->n_bound };
    out->bound[out->n_bound++] = NULL;
    return t;
}

static const struct cel_static *bound_to(const struct cel_check *c, const struct cel_static *t)
{
    assert(t->kind != CEL_KIND_PARAM || t->id < c->out->n_bound);
    return t->kind == CEL_KIND_PARAM ? c->out->bound[t->id] : NULL;
}

static void bind(struct cel_check *c, const struct cel_static *param, const struct cel_static *to)
{
    if (c->n_trail == c->cap_trail) {
        size_t cap = MAX((size_t)16, c->cap_trail * 2);
        struct changed *grown = arena_new_n(c->a, struct changed, cap);
        if (c->n_trail)
            memcpy(grown, c->trail, c->n_trail * sizeof(grown[0]));
        c->trail = grown;
        c->cap_trail = cap;
    }
    assert(param->kind == CEL_KIND_PARAM && param->id < c->out->n_bound);
    c->trail[c->n_trail++] = (struct changed){ param->id, c->out->bound[param->id] };
    c->out->bound[param->id] = to;
}

static bool same(struct cel_check *c, const struct cel_static *x, const struct cel_static *y)
{
    c->steps++;
    if (x == y)
        return true;
    if (x->kind != y->kind || x->n != y->n || is_spent(c))
        return false;
    if (x->kind == CEL_KIND_PARAM)
        return x->id == y->id;
    if (x->kind == CEL_KIND_OBJECT && (x->decl || y->decl))
        return x->decl == y->decl;
    if (x->name && y->name && strcmp(x->name, y->name) != 0)
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!same(c, x->params[i], y->params[i]))
            return false;
    return true;
}

static const struct cel_static *substitute(struct arena *a, const struct cel_checked *c,
                                           const struct cel_static *t, bool to_dyn, uint64_t *steps)
{
    if (!t->open || ++*steps > CEL_CHECK_STEPS)
        return t->open ? &cel_static_dyn : t;
    if (t->kind == CEL_KIND_PARAM) {
        const struct cel_static *b = c->bound[t->id];
        return b ? substitute(a, c, b, to_dyn, steps) : to_dyn ? &cel_static_dyn : t;
    }
    struct cel_static *s = arena_new(a, struct cel_static);
    *s = *t;
    s->open = false;
    for (size_t i = 0; i < t->n; i++) {
        s->params[i] = substitute(a, c, t->params[i], to_dyn, steps);
        s->open = s->open || s->params[i]->open;
    }
    return s;
}

static const struct cel_static *known(struct cel_check *c, const struct cel_static *t)
{
    return substitute(c->a, c->out, t, false, &c->out->steps);
}

const struct cel_static *cel_static_final(struct arena *a, struct cel_checked *c,
                                          const struct cel_static *t)
{
    return substitute(a, c, t, true, &c->steps);
}

/* The parameter does not occur in the type. */
static bool is_free_of(struct cel_check *c, const struct cel_static *param,
                       const struct cel_static *t)
{
    c->steps++;
    if (!t->open || is_spent(c))
        return true;
    if (t->kind == CEL_KIND_PARAM) {
        const struct cel_static *b = c->out->bound[t->id];
        return t->id != param->id && (!b || is_free_of(c, param, b));
    }
    for (size_t i = 0; i < t->n; i++)
        if (!is_free_of(c, param, t->params[i]))
            return false;
    return true;
}

static bool is_less_specific(struct cel_check *c, const struct cel_static *x,
                             const struct cel_static *y)
{
    c->steps++;
    if (x->kind == CEL_KIND_DYN || x->kind == CEL_KIND_PARAM)
        return true;
    if (y->kind == CEL_KIND_DYN || y->kind == CEL_KIND_PARAM || x->kind != y->kind || is_spent(c))
        return false;
    if (x->kind == CEL_KIND_TYPE)
        return true;
    if (x->kind != CEL_KIND_OPAQUE && x->kind != CEL_KIND_LIST && x->kind != CEL_KIND_MAP)
        return same(c, x, y);
    if (x->n != y->n || (x->name && strcmp(x->name, y->name) != 0))
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!is_less_specific(c, x->params[i], y->params[i]))
            return false;
    return true;
}

static const struct cel_static *more_general(struct cel_check *c, const struct cel_static *x,
                                             const struct cel_static *y)
{
    return is_less_specific(c, x, y) ? x : y;
}

static bool assignable(struct cel_check *c, const struct cel_static *x, const struct cel_static *y);

/* Binds the parameter to t if possible. *ret_bound: it was bound before. */
static bool stands_for(struct cel_check *c, const struct cel_static *t,
                       const struct cel_static *param, bool *ret_bound)
{
    const struct cel_static *b = bound_to(c, param);
    *ret_bound = true;
    if (t->kind == CEL_KIND_PARAM && t->id == param->id)
        return true;
    if (b) {
        if (same(c, t, b))
            return true;
        if (!assignable(c, t, b))
            return false;
        const struct cel_static *both = more_general(c, t, b);
        if (is_free_of(c, param, both))
            bind(c, param, both);
        return true;
    }
    *ret_bound = false;
    if (!is_free_of(c, param, t))
        return false;
    bind(c, param, t);
    return true;
}

static bool is_nullable(const struct cel_static *t)
{
    return t->kind == CEL_KIND_OPAQUE || t->kind == CEL_KIND_OBJECT ||
           t->kind == CEL_KIND_DURATION || t->kind == CEL_KIND_TIMESTAMP ||
           t->kind == CEL_KIND_NULL;
}

static bool assignable(struct cel_check *c, const struct cel_static *x, const struct cel_static *y)
{
    bool is_bound;
    c->steps++;
    if (is_spent(c))
        return false;
    if (y->kind == CEL_KIND_PARAM) {
        if (stands_for(c, x, y, &is_bound))
            return true;
        if (is_bound)
            return false;
    }
    if (x->kind == CEL_KIND_PARAM)
        return stands_for(c, y, x, &is_bound);
    if (is_dyn_or_error(x) || is_dyn_or_error(y))
        return true;
    if (x->kind == CEL_KIND_NULL)
        return is_nullable(y);
    if (y->kind == CEL_KIND_NULL)
        return is_nullable(x);
    if (x->kind != y->kind)
        return false;
    if (x->kind == CEL_KIND_TYPE)
        return true;
    if (x->kind != CEL_KIND_OPAQUE && x->kind != CEL_KIND_LIST && x->kind != CEL_KIND_MAP)
        return same(c, x, y);
    if (x->n != y->n || (x->name && strcmp(x->name, y->name) != 0))
        return false;
    for (size_t i = 0; i < x->n; i++)
        if (!assignable(c, x->params[i], y->params[i]))
            return false;
    return true;
}

/* If one is not assignable, all bindings are undone. */
static bool all_assignable(struct cel_check *c, const struct cel_static *const *x,
                           const struct cel_static *const *y, size_t n)
{
    bool fit = true;
    c->n_trail = 0;
    for (size_t i = 0; i < n && fit; i++)
        fit = assignable(c, x[i], y[i]);
    while (!fit && c->n_trail) {
        struct changed *last = &c->trail[--c->n_trail];
        c->out->bound[last->id] = last->was;
    }
    return fit;
}

static bool is_assignable(struct cel_check *c, const struct cel_static *x,
                          const struct cel_static *y)
{
    return all_assignable(c, &x, &y, 1);
}

/* ------------------------------------------------------------------ macro expansion */

static struct core *core(struct cel_check *c, enum core_kind kind, uint32_t at)
{
    struct core *x = arena_new(c->a, struct core);
    *x = (struct core){ .kind = (uint8_t)kind, .at = at };
    return x;
}

static struct core *core_name(struct cel_check *c, uint32_t at, struct str name)
{
    struct core *x = core(c, CORE_NAME, at);
    x->name = name;
    return x;
}

static struct core *core_value(struct cel_check *c, uint32_t at, struct cel_value v)
{
    struct core *x = core(c, CORE_LITERAL, at);
    struct cel_value *copy = arena_new(c->a, struct cel_value);
    *copy = v;
    x->value = copy;
    return x;
}

static struct core *core_call(struct cel_check *c, uint32_t at, const char *name, size_t n,
                              struct core *x0, struct core *x1, struct core *x2)
{
    struct core *x = core(c, CORE_CALL, at);
    struct core *args[] = { x0, x1, x2 };
    assert(n <= ARRAY_LEN(args));
    x->name = str_of(name);
    x->n = (uint32_t)n;
    x->args = arena_new_n(c->a, struct core *, n + 1);
    memcpy(x->args, args, n * sizeof(args[0]));
    return x;
}

static struct core *core_list(struct cel_check *c, uint32_t at, struct core *item)
{
    struct core *x = core(c, CORE_LIST, at);
    x->n = item ? 1 : 0;
    x->args = arena_new_n(c->a, struct core *, 1);
    x->args[0] = item;
    return x;
}

static struct core *expand(struct cel_check *c, const struct cel_expr *e);

#define ACCU STR("@result")

static struct core *accu(struct cel_check *c, const struct cel_expr *e)
{
    return core_name(c, e->at, ACCU);
}

static struct core *int_value(struct cel_check *c, const struct cel_expr *e, int64_t i)
{
    return core_value(c, e->at, cel_int(i));
}

static struct core *bool_value(struct cel_check *c, const struct cel_expr *e, bool b)
{
    return core_value(c, e->at, cel_bool(b));
}

/* target.optMap(x, f): target.hasValue() ? optional.of(f with x = target.value()) : none */
static struct core *expand_optional(struct cel_check *c, const struct cel_expr *e)
{
    struct core *target = expand(c, e->args[0]);
    struct core *has = core_call(c, e->at, "hasValue", 0, NULL, NULL, NULL);
    struct core *value = core_call(c, e->at, "value", 0, NULL, NULL, NULL);
    has->target = value->target = target;
    struct core *bound = core(c, CORE_LOOP, e->at);
    bound->loop = arena_new(c->a, struct core_loop);
    *bound->loop = (struct core_loop){ .range = core_list(c, e->at, NULL),
                                       .init = value,
                                       .cond = bool_value(c, e, false),
                                       .step = core_name(c, e->at, e->name),
                                       .result = expand(c, e->args[1]),
                                       .var = STR("#unused"),
                                       .accu = e->name,
                                       .bind = true };
    struct core *found =
        e->loop == LOOP_OPT_MAP ? core_call(c, e->at, "optional.of", 1, bound, NULL, NULL) : bound;
    return core_call(c, e->at, "_?_:_", 3, has, found,
                     core_call(c, e->at, "optional.none", 0, NULL, NULL, NULL));
}

static struct core *expand_loop(struct cel_check *c, const struct cel_expr *e)
{
    if (e->loop == LOOP_OPT_MAP || e->loop == LOOP_OPT_FLAT_MAP)
        return expand_optional(c, e);
    struct core_loop l = { .range = expand(c, e->args[0]),
                           .var = e->name,
                           .var2 = e->name2,
                           .accu = ACCU,
                           .cond = bool_value(c, e, true),
                           .result = accu(c, e) };
    struct core *body = expand(c, e->args[1]), *filter = NULL;
    if (e->n > 2) {
        filter = body;
        body = expand(c, e->args[2]);
    }
    switch ((enum cel_loop)e->loop) {
    case LOOP_ALL:
        l.init = bool_value(c, e, true);
        l.cond = core_call(c, e->at, "@not_strictly_false", 1, accu(c, e), NULL, NULL);
        l.step = core_call(c, e->at, "_&&_", 2, accu(c, e), body, NULL);
        break;
    case LOOP_EXISTS:
        l.init = bool_value(c, e, false);
        l.cond = core_call(c, e->at, "@not_strictly_false", 1,
                           core_call(c, e->at, "!_", 1, accu(c, e), NULL, NULL), NULL, NULL);
        l.step = core_call(c, e->at, "_||_", 2, accu(c, e), body, NULL);
        break;
    case LOOP_EXISTS_ONE:
        l.init = int_value(c, e, 0);
        l.step = core_call(c, e->at, "_?_:_", 3, body,
                           core_call(c, e->at, "_+_", 2, accu(c, e), int_value(c, e, 1), NULL),
                           accu(c, e));
        l.result = core_call(c, e->at, "_==_", 2, accu(c, e), int_value(c, e, 1), NULL);
        break;
    case LOOP_FILTER:
        filter = body;
        body = core_name(c, e->at, e->name);
        __attribute__((fallthrough));
    case LOOP_MAP:
    case LOOP_LIST:
        l.init = core_list(c, e->at, NULL);
        l.step = core_call(c, e->at, "_+_", 2, accu(c, e), core_list(c, e->at, body), NULL);
        break;
    case LOOP_VALUES:
        l.init = core(c, CORE_MAP, e->at);
        l.step = core_call(c, e->at, "cel.@mapInsert", 3, accu(c, e), core_name(c, e->at, e->name),
                           body);
        break;
    case LOOP_ENTRIES:
        l.init = core(c, CORE_MAP, e->at);
        l.step = core_call(c, e->at, "cel.@mapInsert", 2, accu(c, e), body, NULL);
        break;
    case LOOP_OPT_MAP:
    case LOOP_OPT_FLAT_MAP:
        break;
    }
    if (filter)
        l.step = core_call(c, e->at, "_?_:_", 3, filter, l.step, accu(c, e));
    struct core *x = core(c, CORE_LOOP, e->at);
    x->loop = arena_new(c->a, struct core_loop);
    *x->loop = l;
    return x;
}

static const char *operator_name(enum cel_op op)
{
    static const char *const names[] = {
#define CEL_OP_TEXT(name, text) [name] = text,
        CEL_OPS(CEL_OP_TEXT)
#undef CEL_OP_TEXT
    };
    if (op == CEL_OP_INDEX)
        return "_[_]";
    return op == CEL_OP_MAYBE_AT ? "_[?_]" : names[op];
}

static void expand_args(struct cel_check *c, struct core *x, const struct cel_expr *e, size_t from)
{
    assert(from <= e->n);
    x->n = (uint32_t)(e->n - from);
    x->args = arena_new_n(c->a, struct core *, x->n + 1);
    for (size_t i = 0; i < x->n; i++)
        x->args[i] = expand(c, e->args[from + i]);
}

static struct core *expand(struct cel_check *c, const struct cel_expr *e)
{
    struct core *x;
    switch ((enum cel_op)e->op) {
    case CEL_OP_LITERAL:
        return core_value(c, e->at, e->value);
    case CEL_OP_NAME:
        return core_name(c, e->at, e->name);
    case CEL_OP_SELECT:
    case CEL_OP_HAS:
        x = core(c, CORE_SELECT, e->at);
        x->name = e->name;
        x->test = e->op == CEL_OP_HAS;
        x->target = expand(c, e->args[0]);
        return x;
    case CEL_OP_MAYBE:
        return core_call(c, e->at, "_?._", 2, expand(c, e->args[0]),
                         core_value(c, e->at, cel_string(e->name)), NULL);
    case CEL_OP_LOOP:
        return expand_loop(c, e);
    case CEL_OP_LIST:
    case CEL_OP_MAP:
        x = core(c, e->op == CEL_OP_LIST ? CORE_LIST : CORE_MAP, e->at);
        x->is_optional = e->is_optional;
        expand_args(c, x, e, 0);
        return x;
    case CEL_OP_METHOD:
        x = core(c, CORE_CALL, e->at);
        x->name = e->name;
        x->target = expand(c, e->args[0]);
        expand_args(c, x, e, 1);
        return x;
    case CEL_OP_CALL:
        x = core(c, CORE_CALL, e->at);
        x->name = e->name;
        expand_args(c, x, e, 0);
        return x;
    default:
        x = core(c, CORE_CALL, e->at);
        x->name = str_of(operator_name((enum cel_op)e->op));
        expand_args(c, x, e, 0);
        return x;
    }
}

/* ------------------------------------------------------------------ names */

static const struct cel_static *find_name(const struct cel_name *names, struct str name)
{
    for (; names; names = names->next)
        if (str_eq(names->name, name))
            return names->type;
    return NULL;
}

/* Reads a type written in the letters of a signature. params: type parameters met so far. */
static const struct cel_static *read_type(struct cel_check *c, const char **at,
                                          const struct cel_static **params)
{
    static const struct cel_static address = { .kind = CEL_KIND_OPAQUE, .name = "net.IP" },
                                   cidr = { .kind = CEL_KIND_OPAQUE, .name = "net.CIDR" };
#define OBJECT(variable, text)                                                                     \
    static const struct cel_static variable = { .kind = CEL_KIND_OBJECT, .name = text }
    OBJECT(quantity, "kubernetes.Quantity");
    OBJECT(semver, "kubernetes.Semver");
    OBJECT(url, "kubernetes.URL");
    OBJECT(format, "kubernetes.NamedFormat");
    OBJECT(path_check, "kubernetes.authorization.PathCheck");
    OBJECT(group_check, "kubernetes.authorization.GroupCheck");
    OBJECT(decision, "kubernetes.authorization.Decision");
#undef OBJECT
    const struct cel_static *first;
    char letter = *(*at)++;
    switch (letter) {
    case 'b':
        return &cel_static_bool;
    case 'i':
        return &cel_static_int;
    case 'u':
        return &type_uint;
    case 'd':
        return &type_double;
    case 's':
        return &cel_static_string;
    case 'y':
        return &type_bytes;
    case 'D':
        return &type_duration;
    case 'T':
        return &cel_static_timestamp;
    case '*':
        return &cel_static_dyn;
    case 'I':
        return &address;
    case 'C':
        return &cidr;
    case 'Q':
        return &quantity;
    case 'S':
        return &semver;
    case 'U':
        return &url;
    case 'F':
        return &format;
    case 'Z':
        return &cel_static_authorizer;
    case 'P':
        return &path_check;
    case 'G':
        return &group_check;
    case 'R':
        return &cel_static_request_resource;
    case 'N':
        return &decision;
    case 'L':
        return new_list(c, read_type(c, at, params));
    case 'O':
        return new_optional(c, read_type(c, at, params));
    case 'Y':
        return new_type(c, CEL_KIND_TYPE, NULL, read_type(c, at, params), NULL);
    case 'M':
        first = read_type(c, at, params);
        return new_type(c, CEL_KIND_MAP, NULL, first, read_type(c, at, params));
    default:
        assert(letter >= '1' && letter <= '4');
        if (!params[letter - '1'])
            params[letter - '1'] = new_param(c);
        return params[letter - '1'];
    }
}

/* int, string, net.IP and so on, used as values. NULL: not a type's name. */
static const struct cel_static *type_name(struct cel_check *c, struct str name)
{
    static const char *const names[][2] = {
        { "bool", "b" },
        { "int", "i" },
        { "uint", "u" },
        { "double", "d" },
        { "string", "s" },
        { "bytes", "y" },
        { "list", "L*" },
        { "map", "M**" },
        { "google.protobuf.Duration", "D" },
        { "google.protobuf.Timestamp", "T" },
        { "optional_type", "O*" },
        { "net.IP", "I" },
        { "net.CIDR", "C" },
        { "kubernetes.Quantity", "Q" },
        { "kubernetes.Semver", "S" },
        { "kubernetes.URL", "U" },
        { "kubernetes.NamedFormat", "F" },
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *letters = names[i][1];
        if (str_is(name, names[i][0]))
            return new_type(c, CEL_KIND_TYPE, NULL, read_type(c, &letters, NULL), NULL);
    }
    if (str_is(name, "null_type"))
        return new_type(c, CEL_KIND_TYPE, NULL, &type_null, NULL);
    if (str_is(name, "type"))
        return new_type(c, CEL_KIND_TYPE, NULL, new_type(c, CEL_KIND_TYPE, NULL, NULL, NULL), NULL);
    return NULL;
}

/* a.b.c made of names only; "" for other expressions, or if longer than the name of any type. */
static struct str dotted(struct cel_check *c, const struct core *x)
{
    enum { PARTS_MAX = 4 };
    struct str parts[PARTS_MAX];
    size_t n = 0;
    for (; x->kind == CORE_SELECT && !x->test && n < PARTS_MAX - 1; x = x->target)
        parts[n++] = x->name;
    if (x->kind != CORE_NAME)
        return STR("");
    if (!str_is(x->name, "google") && !str_is(x->name, "net") && !str_is(x->name, "kubernetes"))
        return STR("");
    struct buf b = BUF_INIT(CEL_MAX_BYTES);
    (void)buf_add_str(&b, x->name);
    while (n) {
        (void)buf_add_char(&b, '.');
        (void)buf_add_str(&b, parts[--n]);
    }
    struct str s = str_copy_arena(c->a, buf_str(&b));
    buf_fini(&b);
    return s;
}

/* ------------------------------------------------------------------ checks */

static void check(struct cel_check *c, struct core *x, const struct cel_name *names);

static void check_name(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    x->type = find_name(names, x->name);
    if (!x->type)
        x->type = type_name(c, x->name);
    if (x->type)
        return;
    x->type = &type_error;
    complain(c, x->at, "undeclared reference to '" STR_FMT "' (in container '')", STR_ARG(x->name));
}

static const struct cel_static *check_field(struct cel_check *c, const struct core *x,
                                            struct core *operand, struct str name, bool optional,
                                            const struct cel_name *names)
{
    check(c, operand, names);
    const struct cel_static *of = known(c, operand->type), *t = &type_error;
    bool was_optional = is_optional(of);
    if (was_optional)
        of = of->params[0];
    if (of->kind == CEL_KIND_MAP) {
        t = of->params[1];
    } else if (of->kind == CEL_KIND_OBJECT) {
        const struct cel_decl *d = of->decl ? cel_decl_field(of->decl, name) : NULL;
        if (d)
            t = d->type;
        else if (!of->decl)
            complain(c, x->at, "unexpected failed resolution of '%s'", of->name);
        else
            complain(c, x->at, "undefined field '" STR_FMT "'", STR_ARG(name));
    } else if (of->kind == CEL_KIND_PARAM) {
        (void)is_assignable(c, &cel_static_dyn, of);
        t = &cel_static_dyn;
    } else {
        if (!is_dyn_or_error(of))
            complain(c, x->at, "type '%s' does not support field selection", text_of(c, of));
        t = &cel_static_dyn;
    }
    return was_optional || optional ? new_optional(c, t) : t;
}

/* A variable with a dotted name, "authorizer.requestResource". */
static const struct cel_static *find_dotted(const struct cel_name *names, const struct core *x)
{
    struct str first, second;
    if (x->test || x->target->kind != CORE_NAME)
        return NULL;
    for (; names; names = names->next)
        if (str_cut(names->name, '.', &first, &second) && str_eq(first, x->target->name) &&
            str_eq(second, x->name))
            return names->type;
    return NULL;
}

static void check_select(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    struct str whole = dotted(c, x);
    const struct cel_static *named = whole.n ? type_name(c, whole) : find_dotted(names, x);
    if (named) {
        x->kind = CORE_NAME;
        x->type = named;
        return;
    }
    const struct cel_static *t = check_field(c, x, x->target, x->name, false, names);
    x->type = x->test ? &cel_static_bool : known(c, t);
}

enum { ARGS_MAX = 6 };

static const char *signature_text(struct cel_check *c, const struct cel_static *const *types,
                                  size_t n, bool member)
{
    struct buf b = BUF_INIT(TEXT_MAX * 16);
    for (size_t i = 0; i < n; i++) {
        const struct cel_static *t = cel_static_final(c->a, c->out, types[i]);
        if (member && i == 0) {
            print(&b, t);
            (void)buf_add_str(&b, STR(".("));
            continue;
        }
        (void)buf_add_str(&b, i == (size_t)member ? (member ? STR("") : STR("(")) : STR(", "));
        print(&b, t);
    }
    (void)buf_add_str(&b, n ? STR(")") : STR("()"));
    const char *text = str_dup_arena(c->a, buf_str(&b));
    buf_fini(&b);
    return text;
}

static const char *skip_type(const char *at)
{
    char letter = *at++;
    if (letter == 'M')
        return skip_type(skip_type(at));
    return letter == 'L' || letter == 'O' || letter == 'Y' ? skip_type(at) : at;
}

static size_t count_args(const char *letters)
{
    size_t n = 0;
    for (; *letters; n++)
        letters = skip_type(letters);
    return n;
}

/* Find the overloads of the function that fit. */
static void resolve(struct cel_check *c, struct core *x, const struct cel_signature *s, size_t n)
{
    const struct cel_static *types[ARGS_MAX], *result = NULL;
    bool member = x->target, logical = str_is(x->name, "_&&_") || str_is(x->name, "_||_");
    size_t n_types = 0;
    x->signatures = s;
    x->type = &type_error;
    if (logical) {
        x->fitting = 1;
        x->type = &cel_static_bool;
        for (size_t i = 0; i < x->n; i++) {
            if (is_assignable(c, x->args[i]->type, &cel_static_bool))
                continue;
            complain(c, x->args[i]->at, "expected type 'bool' but found '%s'",
                     text_of(c, x->args[i]->type));
            x->type = &type_error;
        }
        return;
    }
    bool too_many = x->n + member > ARGS_MAX;
    if (member)
        types[n_types++] = x->target->type;
    for (size_t i = 0; i < x->n && n_types < ARGS_MAX; i++)
        types[n_types++] = x->args[i]->type;
    for (size_t i = 0; i < n && !too_many; i++) {
        const struct cel_static *wanted[ARGS_MAX], *params[4] = { NULL };
        const char *at = s[i].args;
        if (s[i].member != member || count_args(at) != n_types)
            continue;
        for (size_t k = 0; k < n_types; k++)
            wanted[k] = read_type(c, &at, params);
        if (!all_assignable(c, types, wanted, n_types))
            continue;
        at = s[i].result;
        const struct cel_static *t = known(c, read_type(c, &at, params));
        x->fitting |= 1u << i;
        if (!result)
            result = t;
        else if (result->kind != CEL_KIND_DYN && !same(c, t, result))
            result = &cel_static_dyn;
    }
    if (result)
        x->type = result;
    else
        complain(c, x->at, "found no matching overload for '" STR_FMT "' applied to '%s'",
                 STR_ARG(x->name), signature_text(c, types, n_types, member));
}

static void check_call(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    size_t n = 0;
    const struct cel_signature *s;
    if (str_is(x->name, "_?._")) {
        x->type = known(c, check_field(c, x, x->args[0], x->args[1]->value->s, true, names));
        return;
    }
    for (size_t i = 0; i < x->n; i++)
        check(c, x->args[i], names);
    if (x->target && x->target->kind == CORE_NAME && x->target->name.n + x->name.n < 64) {
        struct str whole = str_of(
            arena_printf(c->a, STR_FMT "." STR_FMT, STR_ARG(x->target->name), STR_ARG(x->name)));
        s = cel_signatures(whole, &n);
        if (s) {
            x->name = whole;
            x->target = NULL;
            resolve(c, x, s, n);
            return;
        }
    }
    if (x->target)
        check(c, x->target, names);
    s = cel_signatures(x->name, &n);
    if (s) {
        resolve(c, x, s, n);
        return;
    }
    x->type = &type_error;
    complain(c, x->at, "undeclared reference to '" STR_FMT "' (in container '')", STR_ARG(x->name));
}

/*
 * The common type of two elements; elements of different types give dyn here, judge() refuses them.
 */
static const struct cel_static *join(struct cel_check *c, const struct cel_static *before,
                                     const struct cel_static *t)
{
    if (!before)
        return t;
    return is_assignable(c, before, t) ? more_general(c, before, t) : &cel_static_dyn;
}

/* The type of an element of a literal; the element may be written with '?'. */
static const struct cel_static *element(struct cel_check *c, const struct core *of, size_t i)
{
    const struct core *x = of->args[i];
    const struct cel_static *t = x->type;
    if (!of->is_optional || !of->is_optional[of->kind == CORE_MAP ? i - 1 : i])
        return t;
    if (is_optional(t))
        return t->params[0];
    if (t->kind != CEL_KIND_DYN)
        complain(c, x->at, "expected type '%s' but found '%s'", text_of(c, new_optional(c, t)),
                 text_of(c, t));
    return t;
}

static void check_list(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    const struct cel_static *t = NULL;
    for (size_t i = 0; i < x->n; i++) {
        check(c, x->args[i], names);
        t = join(c, t, element(c, x, i));
    }
    x->type = new_list(c, t ? t : new_param(c));
}

static void check_map(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    const struct cel_static *key = NULL, *value = NULL;
    for (size_t i = 0; i + 1 < x->n; i += 2) {
        check(c, x->args[i], names);
        key = join(c, key, x->args[i]->type);
        check(c, x->args[i + 1], names);
        value = join(c, value, element(c, x, i + 1));
    }
    if (!key) {
        key = new_param(c);
        value = new_param(c);
    }
    x->type = new_type(c, CEL_KIND_MAP, NULL, key, value);
}

static void expect_type(struct cel_check *c, const struct core *x, const struct cel_static *t)
{
    if (!is_assignable(c, t, x->type))
        complain(c, x->at, "expected type '%s' but found '%s'", text_of(c, t), text_of(c, x->type));
}

static void check_loop(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    struct core_loop *l = x->loop;
    check(c, l->range, names);
    check(c, l->init, names);
    const struct cel_static *range = known(c, l->range->type);
    const struct cel_static *first = &type_error, *second = &type_error;
    bool two = l->var2.n > 0;
    if (range->kind == CEL_KIND_LIST) {
        second = range->params[0];
        first = two ? &cel_static_int : second;
    } else if (range->kind == CEL_KIND_MAP) {
        first = range->params[0];
        second = range->params[1];
    } else if (is_dyn_or_error(range) || range->kind == CEL_KIND_PARAM) {
        (void)is_assignable(c, &cel_static_dyn, range);
        first = second = &cel_static_dyn;
    } else {
        complain(c, l->range->at,
                 "expression of type '%s' cannot be range of a comprehension (must be list, map, "
                 "or dynamic)",
                 text_of(c, range));
    }
    const struct cel_name accu = { l->accu, l->init->type, names };
    const struct cel_name var = { l->var, first, &accu };
    const struct cel_name var2 = { l->var2, second, &var };
    const struct cel_name *inner = two ? &var2 : &var;
    check(c, l->cond, inner);
    expect_type(c, l->cond, &cel_static_bool);
    check(c, l->step, inner);
    expect_type(c, l->step, l->init->type);
    check(c, l->result, &accu);
    x->type = known(c, l->result->type);
}

static const struct cel_static *literal_type(const struct cel_value *v)
{
    switch ((enum cel_type)v->type) {
    case CEL_BOOL:
        return &cel_static_bool;
    case CEL_INT:
        return &cel_static_int;
    case CEL_UINT:
        return &type_uint;
    case CEL_DOUBLE:
        return &type_double;
    case CEL_STRING:
        return &cel_static_string;
    case CEL_BYTES:
        return &type_bytes;
    default:
        return &type_null;
    }
}

static void check(struct cel_check *c, struct core *x, const struct cel_name *names)
{
    if (x->checked)
        return;
    x->checked = true;
    c->steps++;
    switch ((enum core_kind)x->kind) {
    case CORE_LITERAL:
        x->type = literal_type(x->value);
        return;
    case CORE_NAME:
        check_name(c, x, names);
        return;
    case CORE_SELECT:
        check_select(c, x, names);
        return;
    case CORE_CALL:
        check_call(c, x, names);
        return;
    case CORE_LIST:
        check_list(c, x, names);
        return;
    case CORE_MAP:
        check_map(c, x, names);
        return;
    case CORE_LOOP:
        check_loop(c, x, names);
        return;
    }
}

/* ------------------------------------------------------------------ literals of one type */

static const struct cel_static *final_element(struct cel_check *c, const struct core *of, size_t i)
{
    const struct cel_static *t = cel_static_final(c->a, c->out, of->args[i]->type);
    bool optional = of->is_optional && of->is_optional[of->kind == CORE_MAP ? i - 1 : i];
    return optional && is_optional(t) ? t->params[0] : t;
}

/* Requires that the elements from `first` on, each `step`-th one, have the same type. */
static void judge_elements(struct cel_check *c, const struct core *x, size_t first, size_t step)
{
    const struct cel_static *wanted = NULL;
    for (size_t i = first; i < x->n; i += step) {
        const struct cel_static *t = step == 2 && first == 0
                                         ? cel_static_final(c->a, c->out, x->args[i]->type)
                                         : final_element(c, x, i);
        if (!wanted)
            wanted = t;
        else if (!same(c, wanted, t)) {
            complain(c, x->args[i]->at, "expected type '%s' but found '%s'", text_of(c, wanted),
                     text_of(c, t));
            if (step == 1)
                return;
        }
    }
}

/* Requires literals of one type, except in the arguments of format(). */
static void judge(struct cel_check *c, struct core *x, bool any)
{
    if (!x || x->judged)
        return;
    x->judged = true;
    if (x->kind == CORE_LIST && !any)
        judge_elements(c, x, 0, 1);
    if (x->kind == CORE_MAP && !any) {
        judge_elements(c, x, 0, 2);
        judge_elements(c, x, 1, 2);
    }
    any = any || (x->kind == CORE_CALL && str_is(x->name, "format"));
    judge(c, x->target, any);
    for (size_t i = 0; i < x->n; i++)
        judge(c, x->args[i], any);
    if (x->kind != CORE_LOOP)
        return;
    judge(c, x->loop->range, any);
    judge(c, x->loop->init, any);
    judge(c, x->loop->step, any);
    judge(c, x->loop->result, any);
}

static int by_place(const void *x, const void *y)
{
    const struct mistake *a = x, *b = y;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void tell(struct cel_check *c, struct cel_flaw *ret)
{
    struct buf b = BUF_INIT(CEL_MAX_BYTES * 8);
    qsort(c->mistakes, c->n_mistakes, sizeof(c->mistakes[0]), by_place);
    for (size_t i = 0; i < c->n_mistakes; i++) {
        struct cel_flaw one;
        cel_fail_at(c->a, &one, c->text, c->mistakes[i].at, "%s", c->mistakes[i].text);
        (void)buf_printf(&b, "%s%s", i ? "\n" : "", one.text);
    }
    if (c->n_more)
        (void)buf_printf(&b, "\n%zu more errors were truncated", c->n_more);
    ret->text = str_dup_arena(c->a, buf_str(&b));
    buf_fini(&b);
}

int cel_check(struct arena *a, const struct cel_expr *e, struct str text,
              const struct cel_name *names, struct cel_checked **ret,
              const struct cel_static **ret_type, struct cel_flaw *ret_flaw)
{
    struct cel_checked *out = arena_new(a, struct cel_checked);
    struct cel_check c = { .a = a, .text = text, .out = out };
    *out = (struct cel_checked){ .root = NULL };
    out->root = expand(&c, e);
    check(&c, out->root, names);
    if (c.n_mistakes == 0)
        judge(&c, out->root, false);
    if (is_spent(&c))
        complain(&c, 0, "expression is too complex to be checked");
    if (c.n_mistakes) {
        tell(&c, ret_flaw);
        return E_INVALID;
    }
    *ret = out;
    *ret_type = cel_static_final(a, out, out->root->type);
    return 0;
}
