/* SPDX-License-Identifier: Apache-2.0 */
/* Labels, selectors, tolerations; see match.h. Errors are found before a word is interned. */
#include "sched/object/match.h"

#include "sched/object/node.h"
#include "sched/object/pack.h"

/* ---- labels ---- */

static bool is_absent(const struct json *v)
{
    return !v || v->type == JSON_NULL;
}

static int compare_labels(const void *a, const void *b)
{
    const struct sched_label *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static int check_map(const struct json *map, const char *what, struct err *err)
{
    if (is_absent(map))
        return 0;
    if (map->type != JSON_OBJECT)
        return err_set(err, E_INVALID, "%s: not an object", what);
    json_each (m, map)
        if (m->type != JSON_STRING && m->type != JSON_NULL)
            return err_set(err, E_INVALID, "%s[" STR_FMT "]: not a string", what, STR_ARG(m->key));
    return 0;
}

int sched_labels_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                         struct sched_labels *ret, struct err *err)
{
    int r = check_map(json, "labels", err);
    if (r < 0)
        return r;
    *ret = (struct sched_labels){ 0 };
    if (is_absent(json))
        return 0;
    ret->p = SCHED_ARRAY(a, struct sched_label, json->n);
    json_each (m, json)
        ret->p[ret->n++] =
            (struct sched_label){ intern_get(w, m->key), intern_get(w, json_str(m)) };
    if (ret->n > 1)
        qsort(ret->p, ret->n, sizeof(*ret->p), compare_labels);
    return 0;
}

int sched_labels_read(struct intern_table *w, const struct json *labels, struct sched_labels *ret,
                      struct err *err)
{
    return sched_labels_read_in(w, NULL, labels, ret, err);
}

void sched_labels_fini(struct intern_table *w, struct sched_labels *labels)
{
    sched_walk_labels(&(struct sched_walk){ .mode = SCHED_WALK_UNREF, .words = w }, labels);
    free(labels->p);
    *labels = (struct sched_labels){ 0 };
}

struct intern *sched_label_get(const struct sched_labels *labels, const struct intern *key)
{
    enum { FEW = 8 };
    uint32_t from = 0, to = labels->n;
    while (to - from > FEW) {
        uint32_t mid = from + (to - from) / 2;
        if (labels->p[mid].key > key)
            to = mid;
        else
            from = mid;
    }
    for (; from < to; from++)
        if (labels->p[from].key == key)
            return labels->p[from].value;
    return NULL;
}

bool sched_labels_equal(const struct sched_labels *a, const struct sched_labels *b)
{
    return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n * sizeof(*a->p)) == 0);
}

/* ---- requirements ---- */

static const struct {
    const char *name;
    enum sched_selector_op op;
} op_names[] = {
    { "In", SCHED_IN },         { "NotIn", SCHED_NOT_IN },
    { "Exists", SCHED_EXISTS }, { "DoesNotExist", SCHED_NOT_EXISTS },
    { "Gt", SCHED_GREATER }, /* these two: node selectors only */
    { "Lt", SCHED_LESS },
};
enum { N_LABEL_OPS = 4 };

/* Go's ParseInt with base 10. */
static bool to_int(struct str s, int64_t *ret)
{
    if (s.n > 1 && s.p[0] == '+' && s.p[1] != '-')
        s = str_slice(s, 1, s.n);
    return parse_i64(s, INT64_MIN, INT64_MAX, ret) >= 0;
}

/* A checked requirement, still as JSON. */
struct expression {
    struct str key;
    enum sched_selector_op op;
    const struct json *values; /* NULL: none */
    int64_t bound;
};

static int read_expression(const struct json *e, size_t n_ops, struct expression *ret,
                           struct err *err)
{
    struct str op = json_get_str(e, "operator"), key = json_get_str(e, "key");
    size_t i = 0;
    while (i < n_ops && !str_is(op, op_names[i].name))
        i++;
    if (i == n_ops)
        return err_set(err, E_INVALID, "\"" STR_FMT "\" is not a valid label selector operator",
                       STR_ARG(op));
    const struct json *values = json_getc(e, "values");
    json_each (v, values)
        if (v->type != JSON_STRING)
            return err_set(err, E_INVALID, "values: not a string");
    *ret = (struct expression){ .key = key, .op = op_names[i].op };
    size_t n = json_is(values, JSON_ARRAY) ? values->n : 0;
    if (n > 0)
        ret->values = values;
    switch (ret->op) {
    case SCHED_IN:
    case SCHED_NOT_IN:
        if (n == 0)
            return err_set(err, E_INVALID,
                           "values: for 'in', 'notin' operators, values set can't be empty");
        break;
    case SCHED_EXISTS:
    case SCHED_NOT_EXISTS:
        if (n != 0)
            return err_set(err, E_INVALID,
                           "values: values set must be empty for exists and does not exist");
        break;
    case SCHED_GREATER:
    case SCHED_LESS:
        if (n != 1)
            return err_set(err, E_INVALID,
                           "values: for 'Gt', 'Lt' operators, exactly one value is required");
        if (!to_int(json_str(json_first(values)), &ret->bound))
            return err_set(err, E_INVALID,
                           "values[0]: for 'Gt', 'Lt' operators, the value must be an integer");
        break;
    }
    return 0;
}

static int compare_words(const void *a, const void *b)
{
    return str_cmp(intern_str(*(struct intern *const *)a), intern_str(*(struct intern *const *)b));
}

static struct sched_requirement take_expression(struct intern_table *w, struct arena *a,
                                                const struct expression *e)
{
    struct sched_requirement r = { .key = intern_get(w, e->key), .op = e->op, .bound = e->bound };
    if (!e->values)
        return r;
    r.values = SCHED_ARRAY(a, struct intern *, e->values->n);
    json_each (v, e->values)
        r.values[r.n_values++] = intern_get(w, json_str(v));
    if (r.n_values > 1)
        qsort(r.values, r.n_values, sizeof(*r.values), compare_words);
    return r;
}

static struct sched_requirement take_equality(struct intern_table *w, struct arena *a,
                                              struct str key, struct str value)
{
    struct sched_requirement r = { .key = intern_get(w, key), .op = SCHED_IN, .n_values = 1 };
    r.is_equality = true;
    r.values = SCHED_ARRAY(a, struct intern *, 1);
    r.values[0] = intern_get(w, value);
    return r;
}

static bool has_value(const struct sched_requirement *r, const struct intern *value)
{
    for (uint32_t i = 0; i < r->n_values; i++)
        if (r->values[i] == value)
            return true;
    return false;
}

static bool requirement_matches(const struct sched_requirement *r,
                                const struct sched_labels *labels)
{
    const struct intern *value = sched_label_get(labels, r->key);
    int64_t n;
    switch (r->op) {
    case SCHED_IN:
        return value && has_value(r, value);
    case SCHED_NOT_IN:
        return !value || !has_value(r, value);
    case SCHED_EXISTS:
        return value != NULL;
    case SCHED_NOT_EXISTS:
        return value == NULL;
    case SCHED_GREATER:
        return value && to_int(intern_str(value), &n) && n > r->bound;
    case SCHED_LESS:
        return value && to_int(intern_str(value), &n) && n < r->bound;
    }
    return false;
}

/* ---- label selectors ---- */

static int compare_requirements(const void *a, const void *b)
{
    const struct sched_requirement *x = a, *y = b;
    int r = str_cmp(intern_str(x->key), intern_str(y->key));
    return r ? r : (int)x->op - (int)y->op;
}

static void sort_requirements(struct sched_selector *s)
{
    if (s->n > 1)
        qsort(s->p, s->n, sizeof(*s->p), compare_requirements);
}

int sched_selector_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                           struct sched_selector *ret, struct err *err)
{
    if (is_absent(json)) {
        *ret = (struct sched_selector){ .nothing = true };
        return 0;
    }
    const struct json *map = json_getc(json, "matchLabels");
    const struct json *list = json_getc(json, "matchExpressions");
    struct expression e;
    if (json->type != JSON_OBJECT || (!is_absent(list) && list->type != JSON_ARRAY))
        return err_set(err, E_INVALID, "label selector: wrong type");
    int r = check_map(map, "matchLabels", err);
    if (r < 0)
        return r;
    json_each (m, list) {
        r = read_expression(m, N_LABEL_OPS, &e, err);
        if (r < 0)
            return err_ctx(err, r, "matchExpressions");
    }
    *ret = (struct sched_selector){ 0 };
    ret->p = SCHED_ARRAY(a, struct sched_requirement,
                         (map ? (size_t)map->n : 0) + (list ? (size_t)list->n : 0));
    json_each (m, map)
        ret->p[ret->n++] = take_equality(w, a, m->key, json_str(m));
    json_each (m, list) {
        (void)read_expression(m, N_LABEL_OPS, &e, NULL);
        ret->p[ret->n++] = take_expression(w, a, &e);
    }
    sort_requirements(ret);
    return 0;
}

int sched_selector_read_map_in(struct intern_table *w, struct arena *a, const struct json *json,
                               struct sched_selector *ret, struct err *err)
{
    int r = check_map(json, "selector", err);
    if (r < 0)
        return r;
    *ret = (struct sched_selector){ 0 };
    if (is_absent(json))
        return 0;
    ret->p = SCHED_ARRAY(a, struct sched_requirement, json->n);
    json_each (m, json)
        ret->p[ret->n++] = take_equality(w, a, m->key, json_str(m));
    sort_requirements(ret);
    return 0;
}

int sched_selector_read(struct intern_table *w, const struct json *json, struct sched_selector *ret,
                        struct err *err)
{
    return sched_selector_read_in(w, NULL, json, ret, err);
}

int sched_selector_read_map(struct intern_table *w, const struct json *json,
                            struct sched_selector *ret, struct err *err)
{
    return sched_selector_read_map_in(w, NULL, json, ret, err);
}

static void requirements_fini(struct intern_table *w, struct sched_requirement *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        intern_unref(w, p[i].key);
        for (uint32_t k = 0; k < p[i].n_values; k++)
            intern_unref(w, p[i].values[k]);
        free(p[i].values);
    }
    free(p);
}

void sched_selector_fini(struct intern_table *w, struct sched_selector *s)
{
    requirements_fini(w, s->p, s->n);
    *s = (struct sched_selector){ 0 };
}

bool sched_selector_matches(const struct sched_selector *s, const struct sched_labels *labels)
{
    if (s->nothing)
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (!requirement_matches(&s->p[i], labels))
            return false;
    return true;
}

static void requirement_text(const struct sched_requirement *r, struct buf *out)
{
    if (r->op == SCHED_NOT_EXISTS)
        (void)buf_add_char(out, '!');
    (void)buf_add_str(out, intern_str(r->key));
    switch (r->op) {
    case SCHED_IN:
        (void)buf_add_cstr(out, r->is_equality ? "=" : " in (");
        break;
    case SCHED_NOT_IN:
        (void)buf_add_cstr(out, " notin (");
        break;
    case SCHED_GREATER:
        (void)buf_add_char(out, '>');
        break;
    case SCHED_LESS:
        (void)buf_add_char(out, '<');
        break;
    case SCHED_EXISTS:
    case SCHED_NOT_EXISTS:
        return;
    }
    for (uint32_t i = 0; i < r->n_values; i++) {
        if (i > 0)
            (void)buf_add_char(out, ',');
        (void)buf_add_str(out, intern_str(r->values[i]));
    }
    if ((r->op == SCHED_IN && !r->is_equality) || r->op == SCHED_NOT_IN)
        (void)buf_add_char(out, ')');
}

void sched_selector_text(const struct sched_selector *s, struct buf *out)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (i > 0)
            (void)buf_add_char(out, ',');
        requirement_text(&s->p[i], out);
    }
}

static bool has_requirement(const struct sched_selector *s, const struct intern *key,
                            enum sched_selector_op op, const struct intern *value)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct sched_requirement *r = &s->p[i];
        if (r->key == key && r->op == op && r->n_values == 1 && r->values[0] == value)
            return true;
    }
    return false;
}

void sched_selector_merge_keys(struct intern_table *w, struct arena *a, struct sched_selector *s,
                               const struct json *keys, enum sched_selector_op op,
                               const struct sched_labels *labels)
{
    if (s->nothing || !json_is(keys, JSON_ARRAY) || keys->n == 0)
        return;
    struct sched_requirement *p = SCHED_ARRAY(a, struct sched_requirement, s->n + keys->n);
    if (s->n > 0)
        memcpy(p, s->p, s->n * sizeof(*p));
    s->p = p;
    json_each (m, keys) {
        struct intern *key = intern_find(w, json_str(m)), *value;
        value = key ? sched_label_get(labels, key) : NULL;
        if (!value || has_requirement(s, key, op, value))
            continue;
        struct sched_requirement *r = &s->p[s->n++];
        *r = (struct sched_requirement){ .key = intern_ref(key), .op = op, .n_values = 1 };
        r->values = SCHED_ARRAY(a, struct intern *, 1);
        r->values[0] = intern_ref(value);
    }
    sort_requirements(s);
}

/* ---- node selectors ---- */

/* matchFields supports only metadata.name, with In and NotIn and one value. */
static bool is_field_valid(const struct json *e, struct expression *ret)
{
    return read_expression(e, N_LABEL_OPS, ret, NULL) >= 0 && ret->values && ret->values->n == 1 &&
           str_eq(ret->key, STR("metadata.name"));
}

static bool is_term_valid(const struct json *labels, const struct json *fields)
{
    struct expression e;
    if (!json_first(labels) && !json_first(fields))
        return false;
    json_each (m, labels)
        if (read_expression(m, ARRAY_LEN(op_names), &e, NULL) < 0)
            return false;
    json_each (m, fields)
        if (!is_field_valid(m, &e))
            return false;
    return true;
}

static struct sched_node_term take_term(struct intern_table *w, struct arena *a,
                                        const struct json *term)
{
    struct sched_node_term t = { 0 };
    const struct json *labels = json_getc(term, "matchExpressions");
    const struct json *fields = json_getc(term, "matchFields");
    struct expression e;
    t.matches_nothing = !is_term_valid(labels, fields);
    if (t.matches_nothing)
        return t;
    t.labels.p = SCHED_ARRAY(a, struct sched_requirement, labels ? labels->n : 0);
    json_each (m, labels) {
        (void)read_expression(m, ARRAY_LEN(op_names), &e, NULL);
        t.labels.p[t.labels.n++] = take_expression(w, a, &e);
    }
    sort_requirements(&t.labels);
    t.fields = SCHED_ARRAY(a, struct sched_requirement, fields ? fields->n : 0);
    json_each (m, fields) {
        (void)is_field_valid(m, &e);
        t.fields[t.n_fields++] = take_expression(w, a, &e);
    }
    return t;
}

static int check_terms(const struct json *terms, struct err *err)
{
    if (terms->type != JSON_ARRAY)
        return err_set(err, E_INVALID, "node selector terms: not an array");
    json_each (m, terms) {
        int64_t weight;
        const struct json *w = json_getc(m, "weight");
        if (m->type != JSON_OBJECT)
            return err_set(err, E_INVALID, "node selector terms: not an object");
        if (w && (json_int(w, &weight) < 0 || weight < 0 || weight > 100))
            return err_set(err, E_INVALID, "weight: must be in the range 1-100");
    }
    return 0;
}

int sched_node_terms_read_in(struct intern_table *w, struct arena *a, const struct json *terms,
                             struct sched_node_terms *ret, struct err *err)
{
    int r = is_absent(terms) ? 0 : check_terms(terms, err);
    if (r < 0)
        return r;
    *ret = (struct sched_node_terms){ 0 };
    if (is_absent(terms))
        return 0;
    ret->p = SCHED_ARRAY(a, struct sched_node_term, terms->n);
    json_each (m, terms) {
        const struct json *preference = json_getc(m, "preference");
        if (!preference) {
            ret->p[ret->n++] = take_term(w, a, m);
            continue;
        }
        int32_t weight = (int32_t)json_int_or(json_getc(m, "weight"), 0);
        if (weight == 0)
            continue; /* upstream ignores it */
        ret->p[ret->n] = take_term(w, a, preference);
        ret->p[ret->n++].weight = weight;
    }
    return 0;
}

int sched_node_terms_read(struct intern_table *w, const struct json *terms,
                          struct sched_node_terms *ret, struct err *err)
{
    return sched_node_terms_read_in(w, NULL, terms, ret, err);
}

void sched_node_terms_fini(struct intern_table *w, struct sched_node_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++) {
        sched_selector_fini(w, &terms->p[i].labels);
        requirements_fini(w, terms->p[i].fields, terms->p[i].n_fields);
    }
    free(terms->p);
    *terms = (struct sched_node_terms){ 0 };
}

bool sched_node_term_matches(const struct sched_node_term *t, const struct sched_node *node)
{
    if (t->matches_nothing || !sched_selector_matches(&t->labels, &node->labels))
        return false;
    for (uint32_t i = 0; i < t->n_fields; i++)
        if ((t->fields[i].values[0] == node->name) != (t->fields[i].op == SCHED_IN))
            return false;
    return true;
}

bool sched_node_terms_match(const struct sched_node_terms *terms, const struct sched_node *node)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (sched_node_term_matches(&terms->p[i], node))
            return true;
    return false;
}

/* ---- tolerations ---- */

/* A decimal integer in canonical form, as upstream's comparison requires. */
static bool to_canonical_int(struct str s, int64_t *ret)
{
    size_t sign = s.n > 0 && s.p[0] == '-' ? 1 : 0;
    if (s.n > sign && s.p[sign] == '0' && s.n > 1)
        return false;
    return parse_i64(s, INT64_MIN, INT64_MAX, ret) >= 0;
}

static bool tolerates(const struct sched_toleration *t, const struct sched_taint *taint)
{
    int64_t mine, theirs;
    if ((!t->all_effects && t->effect != taint->effect) || (t->key && t->key != taint->key))
        return false;
    switch (t->op) {
    case SCHED_TOLERATES_EQUAL:
        return t->value == taint->value;
    case SCHED_TOLERATES_EXISTS:
        return true;
    case SCHED_TOLERATES_LT:
    case SCHED_TOLERATES_GT:
        if (!to_canonical_int(intern_str(t->value), &mine) ||
            !to_canonical_int(intern_str(taint->value), &theirs))
            return false;
        return t->op == SCHED_TOLERATES_LT ? theirs < mine : theirs > mine;
    }
    return false;
}

bool sched_tolerates(const struct sched_toleration *tolerations, uint32_t n,
                     const struct sched_taint *taint)
{
    for (uint32_t i = 0; i < n; i++)
        if (tolerates(&tolerations[i], taint))
            return true;
    return false;
}
