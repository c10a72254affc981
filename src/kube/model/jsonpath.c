/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSONPath subset; see jsonpath.h. A path is a list of steps; finding walks the object by step
 * numbers.
 */
#include "kube/model/jsonpath.h"

#include <assert.h>

enum step_kind { STEP_NAME, STEP_INDEX, STEP_SLICE, STEP_ALL, STEP_DESCEND, STEP_FILTER };
enum filter_op { OP_EXISTS, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE };

struct jsonpath_step {
    enum step_kind kind;
    struct str name;  /* STEP_NAME, STEP_DESCEND */
    int64_t from, to; /* STEP_INDEX: from; STEP_SLICE: [from, to), negative counts from the end */
    bool has_from, has_to;
    struct jsonpath *operand; /* STEP_FILTER: path after @ */
    enum filter_op op;
    struct json value; /* the value to compare with */
};

struct jsonpath {
    struct arena *a;
    struct jsonpath_step *steps;
    size_t n, cap;
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '/' || c == '$';
}

static struct jsonpath_step *add(struct jsonpath *p, enum step_kind kind)
{
    if (p->n == JSONPATH_MAX_STEPS)
        return NULL;
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 4;
        struct jsonpath_step *more = arena_new_n(p->a, struct jsonpath_step, cap);
        if (p->n)
            memcpy(more, p->steps, p->n * sizeof *more);
        p->steps = more;
        p->cap = cap;
    }
    assert(p->n < p->cap && p->n < JSONPATH_MAX_STEPS);
    p->steps[p->n] = (struct jsonpath_step){ .kind = kind };
    return &p->steps[p->n++];
}

/* name, with \. for a dot inside it */
static struct str take_word(struct arena *a, struct str *at)
{
    char *out = arena_alloc(a, at->n + 1);
    size_t n = 0, i = 0;
    while (i < at->n) {
        if (at->p[i] == '\\' && i + 1 < at->n)
            out[n++] = at->p[++i];
        else if (is_word(at->p[i]))
            out[n++] = at->p[i];
        else
            break;
        i++;
    }
    *at = str_slice(*at, i, at->n);
    return str_n(out, n);
}

/* 'text' or "text"; *at is at the quote. */
static int take_quoted(struct str *at, struct str *ret)
{
    char quote = at->p[0];
    for (size_t i = 1; i < at->n; i++)
        if (at->p[i] == quote) {
            *ret = str_slice(*at, 1, i);
            *at = str_slice(*at, i + 1, at->n);
            return 0;
        }
    return E_INVALID;
}

static int take_operator(struct str *at, enum filter_op *ret)
{
    static const struct {
        const char *text;
        enum filter_op op;
    } ops[] = { { "==", OP_EQ }, { "!=", OP_NE }, { "<=", OP_LE },
                { ">=", OP_GE }, { "<", OP_LT },  { ">", OP_GT } };
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (str_has_prefix(*at, str_of(ops[i].text))) {
            *at = str_trim(str_slice(*at, strlen(ops[i].text), at->n));
            *ret = ops[i].op;
            return 0;
        }
    return E_INVALID;
}

static int parse_steps(struct arena *a, struct jsonpath *p, struct str *at, struct err *err);

/* ?(@.type=="Ready"); `inner` is the text between the parentheses. */
static int parse_filter(struct arena *a, struct jsonpath *p, struct str inner, struct err *err)
{
    struct jsonpath_step *s = add(p, STEP_FILTER);
    inner = str_trim(inner);
    if (!s)
        return err_set(err, E_INVALID, "path is too long");
    if (!str_has_prefix(inner, STR("@")))
        return err_set(err, E_INVALID, "unrecognized filter '" STR_FMT "'", STR_ARG(inner));
    inner = str_slice(inner, 1, inner.n);
    struct jsonpath *operand = arena_new(a, struct jsonpath);
    operand->a = a;
    int r = parse_steps(a, operand, &inner, err);
    if (r < 0)
        return r;
    s->operand = operand;
    inner = str_trim(inner);
    if (inner.n == 0)
        return 0; /* OP_EXISTS */
    if (take_operator(&inner, &s->op) < 0 || inner.n == 0)
        return err_set(err, E_INVALID, "unrecognized filter operator at '" STR_FMT "'",
                       STR_ARG(inner));
    if (inner.p[0] == '"' || inner.p[0] == '\'') {
        s->value.type = JSON_STRING;
        return take_quoted(&inner, &s->value.s) < 0 || str_trim(inner).n
                   ? err_set(err, E_INVALID, "unterminated string in filter")
                   : 0;
    }
    struct json *value;
    if (json_parse(a, inner, NULL, &value, NULL) < 0 ||
        (value->type != JSON_NUMBER && !json_is_bool(value)))
        return err_set(err, E_INVALID, "unrecognized value '" STR_FMT "' in filter",
                       STR_ARG(inner));
    s->value = *value;
    return 0;
}

/* The content of [...]: a name, an index, a slice, * or a filter. */
static int parse_bracket(struct arena *a, struct jsonpath *p, struct str inner, struct err *err)
{
    inner = str_trim(inner);
    if (str_is(inner, "*"))
        return add(p, STEP_ALL) ? 0 : err_set(err, E_INVALID, "path is too long");
    if (str_has_prefix(inner, STR("?(")) && str_has_suffix(inner, STR(")")))
        return parse_filter(a, p, str_slice(inner, 2, inner.n - 1), err);
    struct jsonpath_step *s = add(p, STEP_NAME);
    if (!s)
        return err_set(err, E_INVALID, "path is too long");
    if (inner.n && (inner.p[0] == '\'' || inner.p[0] == '"')) {
        struct str rest = inner;
        if (take_quoted(&rest, &s->name) < 0 || rest.n)
            return err_set(err, E_INVALID, "invalid array index " STR_FMT, STR_ARG(inner));
        return 0;
    }
    struct str from, to;
    s->kind = str_cut(inner, ':', &from, &to) ? STEP_SLICE : STEP_INDEX;
    from = str_trim(from);
    to = str_trim(to);
    s->has_from = from.n > 0;
    s->has_to = to.n > 0;
    if ((s->kind == STEP_INDEX && !s->has_from) ||
        (s->has_from && parse_i64(from, INT32_MIN, INT32_MAX, &s->from) < 0) ||
        (s->has_to && parse_i64(to, INT32_MIN, INT32_MAX, &s->to) < 0))
        return err_set(err, E_INVALID, "invalid array index " STR_FMT, STR_ARG(inner));
    return 0;
}

/* Position of the bracket that closes the one at 0, honouring quotes and nesting; 0: none. */
static size_t closing_bracket(struct str s)
{
    char quote = 0;
    size_t depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[') {
            depth++;
        } else if (c == ']' && --depth == 0) {
            return i;
        }
    }
    return 0;
}

/* Stops at text that is not a step; the caller decides whether that is an error. */
static int parse_steps(struct arena *a, struct jsonpath *p, struct str *at, struct err *err)
{
    while (at->n > 0) {
        if (at->p[0] == '[') {
            size_t end = closing_bracket(*at);
            if (end == 0)
                return err_set(err, E_INVALID, "unterminated array");
            int r = parse_bracket(a, p, str_slice(*at, 1, end), err);
            if (r < 0)
                return r;
            *at = str_slice(*at, end + 1, at->n);
            continue;
        }
        if (at->p[0] != '.')
            return 0;
        bool descend = str_has_prefix(*at, STR(".."));
        *at = str_slice(*at, descend ? 2 : 1, at->n);
        if (!descend && at->n && at->p[0] == '[')
            continue;
        if (str_has_prefix(*at, STR("*"))) {
            *at = str_slice(*at, 1, at->n);
            if (!add(p, STEP_ALL))
                return err_set(err, E_INVALID, "path is too long");
            continue;
        }
        struct str word = take_word(a, at);
        if (word.n == 0 && at->n == 0 && p->n == 0)
            return 0; /* "." is the root */
        if (word.n == 0)
            return err_set(err, E_INVALID, "unexpected '" STR_FMT "'", STR_ARG(*at));
        struct jsonpath_step *s = add(p, descend ? STEP_DESCEND : STEP_NAME);
        if (!s)
            return err_set(err, E_INVALID, "path is too long");
        s->name = word;
    }
    return 0;
}

int jsonpath_parse(struct arena *a, struct str text, struct jsonpath **ret, struct err *err)
{
    if (text.n > JSONPATH_MAX_BYTES)
        return err_set(err, E_INVALID, "path is too long");
    struct jsonpath *p = arena_new(a, struct jsonpath);
    p->a = a;
    struct str at = str_trim(text);
    if (str_has_prefix(at, STR("{")) && str_has_suffix(at, STR("}")))
        at = str_slice(at, 1, at.n - 1);
    if (str_has_prefix(at, STR("$")) || str_has_prefix(at, STR("@")))
        at = str_slice(at, 1, at.n);
    int r = parse_steps(a, p, &at, err);
    if (r < 0)
        return r;
    if (at.n)
        return err_set(err, E_INVALID, "unexpected '" STR_FMT "'", STR_ARG(at));
    *ret = p;
    return 0;
}

/* ---- finding ---- */

struct find {
    const struct json **out;
    size_t n, max, visits;
};

static bool is_done(const struct find *f)
{
    return f->n == f->max || f->visits >= JSONPATH_MAX_VISITS;
}

static void walk(struct find *f, const struct jsonpath *p, size_t step, const struct json *v);

static bool compare(const struct json *v, enum filter_op op, const struct json *with)
{
    double x, y;
    int order;
    if (json_float(v, &x) == 0 && json_float(with, &y) == 0)
        order = (x > y) - (x < y);
    else if (json_is(v, JSON_STRING) && json_is(with, JSON_STRING))
        order = str_cmp(v->s, with->s);
    else if (op == OP_EQ || op == OP_NE)
        return json_equal(v, with) == (op == OP_EQ);
    else
        return false;
    switch (op) {
    case OP_EXISTS:
        return true;
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LT:
        return order < 0;
    case OP_LE:
        return order <= 0;
    case OP_GT:
        return order > 0;
    case OP_GE:
        return order >= 0;
    }
    return false;
}

/* Values that the operand visits count too: it may walk the whole subtree. */
static bool passes(struct find *f, const struct jsonpath_step *s, const struct json *v)
{
    const struct json *found[1];
    struct find below = { .out = found, .max = 1, .visits = f->visits };
    walk(&below, s->operand, 0, v);
    f->visits = below.visits;
    if (below.n == 0)
        return false;
    return s->op == OP_EXISTS || compare(found[0], s->op, &s->value);
}

static void walk_slice(struct find *f, const struct jsonpath *p, size_t step, const struct json *v)
{
    const struct jsonpath_step *s = &p->steps[step];
    int64_t n = v->n, from = s->has_from ? s->from : 0, to = s->has_to ? s->to : n, i = 0;
    if (s->kind == STEP_INDEX)
        to = from == -1 ? n : from + (from < 0 ? n : 0) + 1;
    from += from < 0 ? n : 0;
    to += to < 0 ? n : 0;
    json_each (item, v) {
        if (i >= to || is_done(f))
            return;
        if (i >= from)
            walk(f, p, step + 1, item);
        i++;
    }
}

static void descend(struct find *f, const struct jsonpath *p, size_t step, const struct json *v)
{
    if (is_done(f))
        return;
    f->visits++;
    const struct json *m = json_get(v, p->steps[step].name);
    if (m)
        walk(f, p, step + 1, m);
    json_each (child, v) {
        if (is_done(f))
            return;
        descend(f, p, step, child);
    }
}

static void walk(struct find *f, const struct jsonpath *p, size_t step, const struct json *v)
{
    if (is_done(f))
        return;
    f->visits++;
    if (step == p->n) {
        f->out[f->n++] = v;
        return;
    }
    const struct jsonpath_step *s = &p->steps[step];
    switch (s->kind) {
    case STEP_NAME: {
        const struct json *m = json_get(v, s->name);
        if (m)
            walk(f, p, step + 1, m);
        break;
    }
    case STEP_INDEX:
    case STEP_SLICE:
        if (v->type == JSON_ARRAY)
            walk_slice(f, p, step, v);
        break;
    case STEP_ALL:
        json_each (child, v) {
            if (is_done(f))
                return;
            walk(f, p, step + 1, child);
        }
        break;
    case STEP_DESCEND:
        descend(f, p, step, v);
        break;
    case STEP_FILTER:
        json_each (child, v) {
            if (is_done(f))
                return;
            if (passes(f, s, child))
                walk(f, p, step + 1, child);
        }
        break;
    }
}

size_t jsonpath_find(const struct jsonpath *p, const struct json *root, const struct json **ret,
                     size_t max, struct budget *budget)
{
    struct find f = { .out = ret, .max = MIN(max, (size_t)JSONPATH_MAX_RESULTS) };
    if (root && !budget_is_over(budget))
        walk(&f, p, 0, root);
    (void)budget_spend(budget, f.visits * 2, "evaluating the JSONPath of columns or fields");
    return f.n;
}
