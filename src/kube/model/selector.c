/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors; see selector.h. The grammar and its errors are those of upstream's labels and fields.
 */
#include "kube/model/selector.h"

#include "kube/model/jsonpath.h"
#include "kube/model/meta.h"

#include <assert.h>

/* ---- requirements ---- */

static int cmp_str(const void *x, const void *y)
{
    const struct str *a = x, *b = y;
    return str_cmp(*a, *b);
}

static void sort_values(struct selector_req *r)
{
    if (r->n_values < 2)
        return;
    qsort(r->values, r->n_values, sizeof *r->values, cmp_str);
    size_t n = 1;
    for (size_t i = 1; i < r->n_values; i++)
        if (!str_eq(r->values[i], r->values[n - 1]))
            r->values[n++] = r->values[i];
    r->n_values = n;
}

static int cmp_req(const void *x, const void *y)
{
    const struct selector_req *a = x, *b = y;
    int r = str_cmp(a->key, b->key);
    if (r || a->op != b->op)
        return r ? r : (int)a->op - (int)b->op;
    for (size_t i = 0; i < a->n_values && i < b->n_values; i++) {
        r = str_cmp(a->values[i], b->values[i]);
        if (r)
            return r;
    }
    return (a->n_values > b->n_values) - (a->n_values < b->n_values);
}

static const char *joined(struct arena *a, struct meta_problems p)
{
    const char *text = p.text[0];
    for (size_t i = 1; i < p.n; i++)
        text = arena_printf(a, "%s; %s", text, p.text[i]);
    return text;
}

static int check_key(struct arena *a, struct str key, const char *at, struct err *err)
{
    struct meta_problems p = meta_check_qualified_name(key);
    if (p.n == 0)
        return 0;
    return err_set(err, E_INVALID, "%s: Invalid value: \"" STR_FMT "\": %s", at, STR_ARG(key),
                   joined(a, p));
}

static int check_req(struct arena *a, const struct selector_req *r, struct err *err)
{
    int64_t number;
    int result = check_key(a, r->key, "key", err);
    if (result < 0)
        return result;
    for (size_t i = 0; i < r->n_values; i++) {
        struct str v = r->values[i];
        struct meta_problems p = meta_check_label_value(v);
        bool compares = r->op == SELECTOR_GREATER || r->op == SELECTOR_LESS;
        if (compares && parse_i64(v, INT64_MIN, INT64_MAX, &number) < 0)
            return err_set(err, E_INVALID,
                           "values[%zu]: Invalid value: \"" STR_FMT
                           "\": for 'Gt', 'Lt' operators, the value must be an integer",
                           i, STR_ARG(v));
        if (p.n)
            return err_set(err, E_INVALID,
                           "values[%zu][" STR_FMT "]: Invalid value: \"" STR_FMT "\": %s", i,
                           STR_ARG(r->key), STR_ARG(v), joined(a, p));
    }
    return 0;
}

/* ---- label selector text ---- */

enum selector_token {
    T_END,
    T_WORD,
    T_COMMA,
    T_OPEN,
    T_CLOSE,
    T_NOT,
    T_EQ,
    T_EQ_EQ,
    T_NE,
    T_GT,
    T_LT,
    T_IN,
    T_NOT_IN,
    T_BAD
};

struct selector_parser {
    struct arena *a;
    struct str rest;
    enum selector_token token; /* the current token */
    struct str text;
    struct err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_symbol(char c)
{
    return c != 0 && strchr("=!(),><", c);
}

static void take(struct selector_parser *p, enum selector_token token, size_t n)
{
    p->token = token;
    p->text = str_slice(p->rest, 0, n);
    p->rest = str_slice(p->rest, n, p->rest.n);
}

static void next(struct selector_parser *p)
{
    static const struct {
        const char *text;
        enum selector_token token;
    } symbols[] = { { "==", T_EQ_EQ }, { "!=", T_NE },   { "=", T_EQ },
                    { "!", T_NOT },    { ">", T_GT },    { "<", T_LT },
                    { "(", T_OPEN },   { ")", T_CLOSE }, { ",", T_COMMA } };
    while (p->rest.n && is_blank(p->rest.p[0]))
        p->rest = str_slice(p->rest, 1, p->rest.n);
    if (p->rest.n == 0 || p->rest.p[0] == 0) {
        take(p, T_END, 0);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++)
        if (str_has_prefix(p->rest, str_of(symbols[i].text))) {
            take(p, symbols[i].token, strlen(symbols[i].text));
            return;
        }
    size_t n = 0;
    while (n < p->rest.n && p->rest.p[n] != 0 && !is_symbol(p->rest.p[n]) &&
           !is_blank(p->rest.p[n]))
        n++;
    take(p, T_WORD, n);
    if (str_is(p->text, "in"))
        p->token = T_IN;
    else if (str_is(p->text, "notin"))
        p->token = T_NOT_IN;
}

/* "in" and "notin" are operators only after a key. */
static bool at_word(const struct selector_parser *p)
{
    return p->token == T_WORD || p->token == T_IN || p->token == T_NOT_IN;
}

static int unexpected(struct selector_parser *p, const char *expected)
{
    return err_set(p->err, E_INVALID, "found '" STR_FMT "', expected: %s", STR_ARG(p->text),
                   expected);
}

static void add_value(struct selector_parser *p, struct selector_req *r, size_t *cap, struct str v)
{
    if (r->n_values == *cap) {
        size_t want = *cap ? *cap * 2 : 4;
        struct str *grown = arena_new_n(p->a, struct str, want);
        if (r->n_values)
            memcpy(grown, r->values, r->n_values * sizeof *grown);
        r->values = grown;
        *cap = want;
    }
    assert(r->n_values < *cap);
    r->values[r->n_values++] = str_copy_arena(p->a, v);
}

/* (x,,y): an empty position is the empty value. */
static int parse_values(struct selector_parser *p, struct selector_req *r)
{
    size_t cap = 0;
    if (p->token != T_OPEN)
        return err_set(p->err, E_INVALID, "found '" STR_FMT "' expected: '('", STR_ARG(p->text));
    next(p);
    if (!at_word(p) && p->token != T_COMMA && p->token != T_CLOSE)
        return unexpected(p, "',', ')' or identifier");
    bool want_value = true;
    for (;; next(p)) {
        if (at_word(p)) {
            if (!want_value)
                return unexpected(p, "',' or ')'");
            add_value(p, r, &cap, p->text);
            want_value = false;
        } else if (p->token == T_COMMA || p->token == T_CLOSE) {
            if (want_value)
                add_value(p, r, &cap, STR(""));
            want_value = true;
            if (p->token == T_CLOSE)
                break;
        } else {
            return unexpected(p, want_value ? "',', or identifier" : "',' or ')'");
        }
    }
    next(p);
    return 0;
}

static int parse_exact(struct selector_parser *p, struct selector_req *r)
{
    size_t cap = 0;
    if (p->token == T_END || p->token == T_COMMA) {
        add_value(p, r, &cap, STR(""));
        return 0;
    }
    if (!at_word(p))
        return unexpected(p, "identifier");
    add_value(p, r, &cap, p->text);
    next(p);
    return 0;
}

static int parse_operator(struct selector_parser *p, enum selector_op *ret)
{
    switch (p->token) {
    case T_EQ:
        *ret = SELECTOR_EQUALS;
        break;
    case T_EQ_EQ:
        *ret = SELECTOR_DOUBLE_EQUALS;
        break;
    case T_NE:
        *ret = SELECTOR_NOT_EQUALS;
        break;
    case T_GT:
        *ret = SELECTOR_GREATER;
        break;
    case T_LT:
        *ret = SELECTOR_LESS;
        break;
    case T_IN:
        *ret = SELECTOR_IN;
        break;
    case T_NOT_IN:
        *ret = SELECTOR_NOT_IN;
        break;
    case T_END:
    case T_WORD:
    case T_COMMA:
    case T_OPEN:
    case T_CLOSE:
    case T_NOT:
    case T_BAD:
        return unexpected(p, "in, notin, =, ==, !=, gt, lt");
    }
    next(p);
    return 0;
}

static int parse_requirement(struct selector_parser *p, struct selector_req *r)
{
    bool negated = p->token == T_NOT;
    if (negated)
        next(p);
    if (!at_word(p))
        return unexpected(p, "identifier");
    r->key = str_copy_arena(p->a, p->text);
    int result = check_key(p->a, r->key, "<nil>", p->err);
    if (result < 0)
        return result;
    next(p);
    if (negated || p->token == T_END || p->token == T_COMMA) {
        r->op = negated ? SELECTOR_NOT_EXISTS : SELECTOR_EXISTS;
        return 0;
    }
    result = parse_operator(p, &r->op);
    if (result == 0)
        result = r->op == SELECTOR_IN || r->op == SELECTOR_NOT_IN ? parse_values(p, r)
                                                                  : parse_exact(p, r);
    if (result < 0)
        return result;
    sort_values(r);
    return check_req(p->a, r, p->err);
}

static size_t count_char(struct str s, char c)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += s.p[i] == c;
    return n;
}

int selector_parse_labels(struct arena *a, struct str text, struct selector *ret, struct err *err)
{
    struct selector_parser p = { .a = a, .rest = text, .err = err };
    struct selector s = { 0 };
    if (text.n > SELECTOR_MAX_BYTES)
        return err_set(err, E_INVALID, "selector is longer than %d bytes", SELECTOR_MAX_BYTES);
    s.reqs = arena_new_n(a, struct selector_req, MIN(count_char(text, ',') + 1, SELECTOR_MAX_REQS));
    next(&p);
    while (p.token != T_END) {
        if (!at_word(&p) && p.token != T_NOT)
            return unexpected(&p, "!, identifier, or 'end of string'");
        if (s.n == SELECTOR_MAX_REQS)
            return err_set(err, E_INVALID, "more than %d requirements", SELECTOR_MAX_REQS);
        int r = parse_requirement(&p, &s.reqs[s.n]);
        if (r < 0)
            return err_ctx(err, r, "unable to parse requirement");
        s.n++;
        if (p.token == T_END)
            break;
        if (p.token != T_COMMA)
            return unexpected(&p, "',' or 'end of string'");
        next(&p);
        if (!at_word(&p) && p.token != T_NOT)
            return unexpected(&p, "identifier after ','");
    }
    qsort(s.reqs, s.n, sizeof *s.reqs, cmp_req);
    *ret = s;
    return 0;
}

/* ---- LabelSelector objects ---- */

static int req_from_expression(struct arena *a, const struct json *e, struct selector_req *r,
                               struct err *err)
{
    static const struct {
        const char *name;
        enum selector_op op;
        bool values;
    } ops[] = { { "In", SELECTOR_IN, true },
                { "NotIn", SELECTOR_NOT_IN, true },
                { "Exists", SELECTOR_EXISTS, false },
                { "DoesNotExist", SELECTOR_NOT_EXISTS, false } };
    struct str op = json_get_str(e, "operator");
    const struct json *values = json_getc(e, "values");
    size_t k = 0;
    while (k < ARRAY_LEN(ops) && !str_is(op, ops[k].name))
        k++;
    if (k == ARRAY_LEN(ops))
        return err_set(err, E_INVALID, "\"" STR_FMT "\" is not a valid label selector operator",
                       STR_ARG(op));
    bool some = json_is(values, JSON_ARRAY) && values->n > 0;
    if (ops[k].values && !some)
        return err_set(
            err, E_INVALID,
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be "
            "empty");
    if (!ops[k].values && some)
        return err_set(err, E_INVALID,
                       "values: Invalid value: values set must be empty for exists and "
                       "does not exist");
    r->key = str_copy_arena(a, json_get_str(e, "key"));
    r->op = ops[k].op;
    if (some) {
        r->values = arena_new_n(a, struct str, values->n);
        json_each (v, values) {
            r->values[r->n_values++] = str_copy_arena(a, json_str(v));
        }
        sort_values(r);
    }
    return check_req(a, r, err);
}

int selector_from_object(struct arena *a, const struct json *obj, struct selector *ret,
                         struct err *err)
{
    if (!json_is(obj, JSON_OBJECT)) {
        *ret = (struct selector){ .nothing = true };
        return 0;
    }
    const struct json *labels = json_getc(obj, "matchLabels");
    const struct json *expressions = json_getc(obj, "matchExpressions");
    size_t n = (json_is(labels, JSON_OBJECT) ? labels->n : 0) +
               (json_is(expressions, JSON_ARRAY) ? expressions->n : 0);
    if (n > SELECTOR_MAX_REQS)
        return err_set(err, E_INVALID, "more than %d requirements", SELECTOR_MAX_REQS);
    struct selector s = { .reqs = arena_new_n(a, struct selector_req, MAX(n, 1)) };
    json_each (l, labels) {
        struct selector_req *r = &s.reqs[s.n++];
        r->key = str_copy_arena(a, l->key);
        r->op = SELECTOR_EQUALS;
        r->values = arena_new(a, struct str);
        r->values[r->n_values++] = str_copy_arena(a, json_str(l));
        int result = check_req(a, r, err);
        if (result < 0)
            return result;
    }
    json_each (e, expressions) {
        int result = req_from_expression(a, e, &s.reqs[s.n], err);
        if (result < 0)
            return result;
        s.n++;
    }
    qsort(s.reqs, s.n, sizeof *s.reqs, cmp_req);
    *ret = s;
    return 0;
}

/* ---- field selectors ---- */

/* Terms are separated by commas without a preceding backslash. */
static struct str take_term(struct str *rest)
{
    bool slash = false;
    for (size_t i = 0; i < rest->n; i++) {
        char c = rest->p[i];
        if (slash)
            slash = false;
        else if (c == '\\')
            slash = true;
        else if (c == ',') {
            struct str term = str_slice(*rest, 0, i);
            *rest = str_slice(*rest, i + 1, rest->n);
            return term;
        }
    }
    struct str term = *rest;
    *rest = STR("");
    return term;
}

static int unescape(struct arena *a, struct str s, struct str *ret, struct err *err)
{
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '\\') {
            char e = i + 1 < s.n ? s.p[++i] : 0;
            if (e != '\\' && e != ',' && e != '=')
                return err_set(err, E_INVALID,
                               "invalid field selector: invalid escape sequence: \\%.*s", e ? 1 : 0,
                               &e);
            c = e;
        } else if (c == ',' || c == '=') {
            return err_set(err, E_INVALID,
                           "invalid field selector: unescaped character in value: %d", c);
        }
        out[n++] = c;
    }
    *ret = str_n(out, n);
    return 0;
}

static int parse_term(struct arena *a, struct str whole, struct str term, struct selector_req *r,
                      struct err *err)
{
    static const struct {
        const char *text;
        enum selector_op op;
    } ops[] = { { "!=", SELECTOR_NOT_EQUALS },
                { "==", SELECTOR_EQUALS },
                { "=", SELECTOR_EQUALS } };
    for (size_t i = 0; i < term.n; i++)
        for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
            struct str rest = str_slice(term, i, term.n);
            if (!str_has_prefix(rest, str_of(ops[k].text)))
                continue;
            r->key = str_copy_arena(a, str_slice(term, 0, i));
            r->op = ops[k].op;
            r->values = arena_new(a, struct str);
            r->n_values = 1;
            return unescape(a, str_slice(rest, strlen(ops[k].text), rest.n), &r->values[0], err);
        }
    return err_set(err, E_INVALID,
                   "invalid selector: '" STR_FMT "'; can't understand '" STR_FMT "'",
                   STR_ARG(whole), STR_ARG(term));
}

int selector_parse_fields(struct arena *a, struct str text, struct selector *ret, struct err *err)
{
    struct selector s = { 0 };
    if (text.n > SELECTOR_MAX_BYTES)
        return err_set(err, E_INVALID, "selector is longer than %d bytes", SELECTOR_MAX_BYTES);
    s.reqs = arena_new_n(a, struct selector_req, MIN(count_char(text, ',') + 1, SELECTOR_MAX_REQS));
    for (struct str rest = text; rest.n > 0;) {
        struct str term = take_term(&rest);
        if (term.n == 0)
            continue;
        if (s.n == SELECTOR_MAX_REQS)
            return err_set(err, E_INVALID, "more than %d requirements", SELECTOR_MAX_REQS);
        int r = parse_term(a, text, term, &s.reqs[s.n], err);
        if (r < 0)
            return r;
        s.n++;
    }
    qsort(s.reqs, s.n, sizeof *s.reqs, cmp_req);
    *ret = s;
    return 0;
}

/* ---- matching ---- */

static bool has_value(const struct selector_req *r, struct str v)
{
    for (size_t i = 0; i < r->n_values; i++)
        if (str_eq(r->values[i], v))
            return true;
    return false;
}

static bool compares(const struct selector_req *r, struct str v)
{
    int64_t x, y;
    assert(r->n_values == 1);
    if (parse_i64(v, INT64_MIN, INT64_MAX, &x) < 0 ||
        parse_i64(r->values[0], INT64_MIN, INT64_MAX, &y) < 0)
        return false;
    return r->op == SELECTOR_GREATER ? x > y : x < y;
}

/* v: the value, NULL if there is none. */
bool selector_req_matches(const struct selector_req *r, const struct str *v)
{
    switch (r->op) {
    case SELECTOR_IN:
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
        return v && has_value(r, *v);
    case SELECTOR_NOT_IN:
    case SELECTOR_NOT_EQUALS:
        return !v || !has_value(r, *v);
    case SELECTOR_EXISTS:
        return v != NULL;
    case SELECTOR_NOT_EXISTS:
        return v == NULL;
    case SELECTOR_GREATER:
    case SELECTOR_LESS:
        return v && compares(r, *v);
    }
    return false;
}

/* Cost of one requirement: a member lookup, some 50 ns, and a comparison with each value. */
static bool spend(const struct selector_req *r, struct budget *budget)
{
    return budget_spend(budget, 5 + r->n_values / 2, "matching the selector");
}

bool selector_matches_labels(const struct selector *s, const struct json *labels)
{
    return selector_matches_labels_budget(s, labels, NULL);
}

bool selector_matches_labels_budget(const struct selector *s, const struct json *labels,
                                    struct budget *budget)
{
    if (s->nothing)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (!spend(&s->reqs[i], budget))
            return false;
        const struct json *l = json_get(labels, s->reqs[i].key);
        struct str v = json_str(l);
        if (!selector_req_matches(&s->reqs[i], l ? &v : NULL))
            return false;
    }
    return true;
}

static struct str scalar_text(struct arena *a, const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        return STR("");
    if (v->type == JSON_STRING)
        return v->s;
    /* An EventSource is selected by its component. */
    if (v->type == JSON_OBJECT)
        return json_get_str(v, "component");
    struct buf b = BUF_INIT(4096);
    (void)json_write(&b, v);
    struct str out = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return out;
}

/* Maps a name that exists only in selectors to its field. */
static struct str field_alias(struct str field)
{
    return str_is(field, "status.successful") ? STR("status.succeeded") : field; /* Job */
}

static struct str zero_text(const struct schema *s, struct str path)
{
    struct str name;
    while (s && path.n) {
        (void)str_cut(path, '.', &name, &path);
        s = schema_child(s, name);
    }
    if (!s)
        return STR("");
    return s->type == SCHEMA_BOOL                               ? STR("false")
           : s->type == SCHEMA_INT32 || s->type == SCHEMA_INT64 ? STR("0")
                                                                : STR("");
}

/*
 * An Event's source is selected by its component; newer Events have a reporting component instead.
 */
static struct str source_text(const struct json *obj)
{
    struct str component = json_get_str(json_getc(obj, "source"), "component");
    return component.n ? component : json_get_str(obj, "reportingComponent");
}

struct str selector_field_value(struct arena *a, const struct schema *schema,
                                const struct json *obj, struct str field)
{
    const struct json *found[1];
    struct jsonpath *path;
    bool builtin = schema && schema->flags & SCHEMA_BUILTIN;
    if (builtin)
        field = field_alias(field);
    if (str_is(field, "name"))
        return meta_name(obj);
    if (builtin && str_is(field, "source"))
        return source_text(obj);
    if (str_has_prefix(field, STR("metadata."))) { /* the usual fields, without compiling a path */
        struct str last = str_slice(field, sizeof "metadata." - 1, field.n);
        return json_str(json_get(json_getc(obj, "metadata"), last));
    }
    const char *dotted = arena_printf(a, "." STR_FMT, STR_ARG(field));
    if (jsonpath_parse(a, str_of(dotted), &path, NULL) < 0 ||
        jsonpath_find(path, obj, found, 1, a->budget) == 0)
        return builtin ? zero_text(schema, field) : STR("");
    return scalar_text(a, found[0]);
}

bool selector_matches_fields(struct arena *a, const struct selector *s, const struct schema *schema,
                             const struct json *obj)
{
    if (s->nothing)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        if (!spend(&s->reqs[i], a->budget))
            return false;
        struct str v = selector_field_value(a, schema, obj, s->reqs[i].key);
        if (!selector_req_matches(&s->reqs[i], &v))
            return false;
    }
    return true;
}

int selector_check_fields(const struct selector *s, const struct str *allowed, size_t n,
                          struct err *err)
{
    for (size_t i = 0; i < s->n; i++) {
        struct str key = s->reqs[i].key;
        bool known = str_is(key, "metadata.name") || str_is(key, "metadata.namespace");
        for (size_t k = 0; k < n && !known; k++)
            known = str_eq(key, allowed[k]);
        if (known)
            continue;
        if (!allowed)
            return err_set(err, E_INVALID,
                           "\"" STR_FMT "\" is not a known field selector: only \"metadata.name\", "
                           "\"metadata.namespace\"",
                           STR_ARG(key));
        return err_set(err, E_INVALID, "field label not supported: " STR_FMT, STR_ARG(key));
    }
    return 0;
}

struct str selector_required_value(const struct selector *s, const char *field)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct selector_req *r = &s->reqs[i];
        bool exact =
            r->op == SELECTOR_EQUALS || r->op == SELECTOR_DOUBLE_EQUALS || r->op == SELECTOR_IN;
        if (str_is(r->key, field) && exact && r->n_values == 1)
            return r->values[0];
    }
    return STR("");
}

/* ---- text ---- */

static const char *op_text(enum selector_op op)
{
    switch (op) {
    case SELECTOR_IN:
        return " in (";
    case SELECTOR_NOT_IN:
        return " notin (";
    case SELECTOR_EQUALS:
        return "=";
    case SELECTOR_DOUBLE_EQUALS:
        return "==";
    case SELECTOR_NOT_EQUALS:
        return "!=";
    case SELECTOR_GREATER:
        return ">";
    case SELECTOR_LESS:
        return "<";
    case SELECTOR_EXISTS:
    case SELECTOR_NOT_EXISTS:
        return "";
    }
    return "";
}

/* Label values need no escaping; field values may. */
static void add_escaped(struct buf *b, struct str v)
{
    for (size_t i = 0; i < v.n; i++) {
        if (strchr("\\,=", v.p[i]) && v.p[i])
            (void)buf_add_char(b, '\\');
        (void)buf_add_char(b, v.p[i]);
    }
}

struct str selector_text(struct arena *a, const struct selector *s)
{
    struct buf b = BUF_INIT(4 * SELECTOR_MAX_BYTES);
    for (size_t i = 0; i < s->n; i++) {
        const struct selector_req *r = &s->reqs[i];
        if (i)
            (void)buf_add_char(&b, ',');
        if (r->op == SELECTOR_NOT_EXISTS)
            (void)buf_add_char(&b, '!');
        (void)buf_add_str(&b, r->key);
        (void)buf_add_cstr(&b, op_text(r->op));
        for (size_t k = 0; k < r->n_values; k++) {
            if (k)
                (void)buf_add_char(&b, ',');
            add_escaped(&b, r->values[k]);
        }
        if (r->op == SELECTOR_IN || r->op == SELECTOR_NOT_IN)
            (void)buf_add_char(&b, ')');
    }
    struct str out = str_copy_arena(a, buf_str(&b));
    buf_fini(&b);
    return s->nothing ? STR("!nothing,nothing") : out;
}
