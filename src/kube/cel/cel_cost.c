/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the maximal cost of an expression, on upstream's scale and with upstream's assumptions
 * about sizes: definitions are accepted or refused by the result, so it must be the same number.
 *
 * One walk. Each node gets its cost, its size if known, the sizes of its elements if known, and the
 * path to its declaration.
 */
#include "kube/cel/cel_core.h"

#include <math.h>

enum {
    COST_LIST = 10,
    COST_MAP = 30,
    COST_STRUCT = 40,
    COST_ACCESS_CHECK = 350000,
    FORMAT_REGEX_BYTES = 128, /* assumed pattern length of a named format */
    FORMAT_BYTES = 64         /* assumed length of a named format */
};
#define TRAVERSAL  0.1  /* per character */
#define REGEX_BYTE 0.25 /* per byte of a pattern */

/* ------------------------------------------------------------------ ranges */

static const struct cel_size unknown_size = { 0, UINT64_MAX };

static uint64_t plus(uint64_t x, uint64_t y)
{
    uint64_t r;
    return __builtin_add_overflow(x, y, &r) ? UINT64_MAX : r;
}

static uint64_t times(uint64_t x, uint64_t y)
{
    uint64_t r;
    return __builtin_mul_overflow(x, y, &r) ? UINT64_MAX : r;
}

static uint64_t scaled(uint64_t x, double factor)
{
    double r = ceil((double)x * factor);
    return r >= 0x1p64 ? UINT64_MAX : (uint64_t)r;
}

static struct cel_size range(uint64_t min, uint64_t max)
{
    return (struct cel_size){ min, max };
}

static struct cel_size fixed(uint64_t n)
{
    return range(n, n);
}

static struct cel_size add(struct cel_size x, struct cel_size y)
{
    return range(plus(x.min, y.min), plus(x.max, y.max));
}

static struct cel_size multiply(struct cel_size x, struct cel_size y)
{
    return range(times(x.min, y.min), times(x.max, y.max));
}

static struct cel_size scale(struct cel_size x, double factor)
{
    return range(scaled(x.min, factor), scaled(x.max, factor));
}

static struct cel_size both(struct cel_size x, struct cel_size y)
{
    return range(MIN(x.min, y.min), MAX(x.max, y.max));
}

static struct cel_entry both_entries(struct cel_entry x, struct cel_entry y)
{
    if (!x.known || !y.known)
        return (struct cel_entry){ .known = false };
    return (struct cel_entry){ true, x.is_list, both(x.key, y.key), both(x.value, y.value) };
}

/* ------------------------------------------------------------------ sizes */

/* A variable of a loop or a binding. */
struct cel_cost_local {
    struct str name;
    struct cel_steps path;
    bool has_size;
    struct cel_size size;
    struct cel_entry entry;
    const struct cel_cost_local *next;
};

struct coster {
    struct arena *a;
    struct cel_checked *checked;
    const struct cel_decl *root;
};

static const struct cel_static *type_of(const struct coster *c, struct core *x)
{
    return x->type = cel_static_final(c->a, c->checked, x->type);
}

static const struct cel_cost_local *find_local(const struct cel_cost_local *vars, struct str name)
{
    for (; vars; vars = vars->next)
        if (str_eq(vars->name, name))
            return vars;
    return NULL;
}

static struct cel_steps path_of(const struct core *x, const struct cel_cost_local *vars)
{
    const struct cel_cost_local *v = x->kind == CORE_NAME ? find_local(vars, x->name) : NULL;
    return v ? v->path : x->path;
}

static struct cel_steps append(const struct coster *c, struct cel_steps p, struct str step)
{
    if (p.n == p.cap) {
        uint32_t cap = p.cap ? p.cap * 2 : 1;
        struct str *grown = arena_new_n(c->a, struct str, cap);
        if (p.n)
            memcpy(grown, p.steps, p.n * sizeof(grown[0]));
        p.steps = grown;
        p.cap = cap;
    }
    p.steps[p.n++] = step;
    return p;
}

#define STEP_ITEMS STR("@items")
#define STEP_KEYS  STR("@keys")

/* The declaration at a path; NULL: none. The first step is the root, whatever its name. */
static const struct cel_decl *declared(const struct coster *c, struct cel_steps p)
{
    static const struct cel_decl key = { .type = &cel_static_string };
    const struct cel_decl *d = p.n ? c->root : NULL;
    for (uint32_t i = 1; i < p.n && d; i++) {
        if (str_eq(p.steps[i], STEP_ITEMS))
            d = d->items;
        else if (str_eq(p.steps[i], STEP_KEYS))
            d = d->type->kind == CEL_KIND_MAP ? &key : NULL;
        else
            d = d->type->kind == CEL_KIND_OBJECT ? cel_decl_field(d, p.steps[i]) : NULL;
    }
    return d;
}

static bool is_scalar(const struct cel_static *t)
{
    if (t->kind == CEL_KIND_OPAQUE)
        return t->n == 1 && is_scalar(t->params[0]);
    return t->kind == CEL_KIND_BOOL || t->kind == CEL_KIND_DOUBLE || t->kind == CEL_KIND_DURATION ||
           t->kind == CEL_KIND_INT || t->kind == CEL_KIND_TIMESTAMP || t->kind == CEL_KIND_UINT;
}

static uint64_t literal_size(const struct cel_value *v)
{
    if (v->type == CEL_STRING)
        return cel_runes(v->s);
    return v->type == CEL_BYTES ? v->s.n : 1;
}

/* false: the size is unknown. */
static bool size_of(const struct coster *c, struct core *x, const struct cel_cost_local *vars,
                    struct cel_size *ret)
{
    const struct cel_decl *d;
    const struct cel_cost_local *v;
    if (x->has_size) {
        *ret = x->size;
    } else if (x->kind == CORE_LITERAL) {
        *ret = fixed(literal_size(x->value));
    } else if (x->kind == CORE_LIST || x->kind == CORE_MAP) {
        *ret = fixed(x->kind == CORE_LIST ? x->n : x->n / 2);
    } else if ((d = declared(c, path_of(x, vars)))) {
        x->has_size = true;
        *ret = x->size = range(0, d->max_elements);
    } else if (is_scalar(type_of(c, x))) {
        *ret = fixed(1);
    } else {
        v = x->kind == CORE_NAME ? find_local(vars, x->name) : NULL;
        if (!v || !v->has_size)
            return false;
        *ret = v->size;
    }
    return true;
}

static struct cel_size size_or_any(const struct coster *c, struct core *x,
                                   const struct cel_cost_local *vars)
{
    struct cel_size s;
    return size_of(c, x, vars, &s) ? s : unknown_size;
}

static struct cel_entry entry_of(const struct core *x, const struct cel_cost_local *vars)
{
    const struct cel_cost_local *v = x->kind == CORE_NAME ? find_local(vars, x->name) : NULL;
    return x->entry.known || !v ? x->entry : v->entry;
}

/* ------------------------------------------------------------------ calls */

/* A call whose arguments have been estimated. */
struct cel_cost_call {
    const struct coster *c;
    struct core *x;
    const struct cel_cost_local *vars;
    struct cel_size args; /* cost of evaluating them */
    struct cel_size sizes[6], target;
    size_t n;
};

struct estimate {
    struct cel_size cost;
    bool has_size;
    struct cel_size size;
};

static struct estimate costs(struct cel_size cost)
{
    return (struct estimate){ .cost = cost };
}

static struct estimate makes(struct cel_size cost, struct cel_size size)
{
    return (struct estimate){ cost, true, size };
}

static bool is_one_of(struct str name, const char *const *names)
{
    for (; *names; names++)
        if (str_is(name, *names))
            return true;
    return false;
}

/* The size of an element of a list. */
static struct cel_size item_size(const struct cel_cost_call *k, struct core *list)
{
    struct cel_steps p = path_of(list, k->vars), of = { 0 };
    for (uint32_t i = 0; i < p.n; i++)
        of = append(k->c, of, p.steps[i]);
    const struct cel_decl *d = p.n ? declared(k->c, append(k->c, of, STEP_ITEMS)) : NULL;
    return d ? range(0, d->max_elements) : unknown_size;
}

/* isSorted(), sum(), max(), min(), indexOf(): one visit of each element. */
static struct estimate traverse(const struct cel_cost_call *k)
{
    const struct cel_static *t = type_of(k->c, k->x->target);
    struct cel_size each = fixed(1);
    if (t->n == 0)
        return costs(scale(k->target, TRAVERSAL));
    if (t->params[0]->kind == CEL_KIND_STRING || t->params[0]->kind == CEL_KIND_BYTES)
        each = add(each, scale(item_size(k, k->x->target), TRAVERSAL));
    return costs(multiply(k->target, each));
}

static struct estimate replace(const struct cel_cost_call *k)
{
    struct cel_size text = k->target, from = k->sizes[0], to = k->sizes[1];
    struct cel_size n = { 0 }, kept = { 0 };
    if (from.min == 0) { /* `to` is inserted between all characters */
        n.max = plus(text.max, 1);
        kept.max = text.max;
    } else if (to.max <= from.min) {
        kept.max = text.max;
    } else {
        n.max = scaled(1, (double)text.max / (double)from.min);
    }
    if (from.max == 0) {
        n.min = plus(text.min, 1);
        kept.min = text.min;
    } else if (from.max <= to.min) {
        kept.min = text.min;
    } else {
        n.min = scaled(1, (double)text.min / (double)from.max);
    }
    return makes(scale(text, 2 * TRAVERSAL), add(multiply(n, to), kept));
}

static struct estimate split(const struct cel_cost_call *k)
{
    const struct core *limit = k->n > 1 ? k->x->args[1] : NULL;
    uint64_t max = k->target.max;
    if (limit && limit->kind == CORE_LITERAL && limit->value->type == CEL_INT)
        max = (uint64_t)limit->value->i;
    return makes(scale(k->target, 2 * TRAVERSAL), range(0, max));
}

static struct estimate join(const struct cel_cost_call *k)
{
    struct cel_size list = k->target, size = { 0 };
    if (type_of(k->c, k->x->target)->n > 0)
        size = multiply(list, item_size(k, k->x->target));
    if (k->n > 0)
        size = add(size, multiply(k->sizes[0],
                                  range(list.min ? list.min - 1 : 0, list.max ? list.max - 1 : 0)));
    return makes(scale(size, TRAVERSAL), size);
}

static struct estimate find(const struct cel_cost_call *k)
{
    struct cel_size text = scale(add(k->target, fixed(1)), TRAVERSAL);
    return makes(multiply(text, scale(k->sizes[0], REGEX_BYTE)), range(0, k->target.max));
}

/* containsIP() and containsCIDR() */
static struct estimate contains_address(const struct cel_cost_call *k, bool is_cidr, bool is_text)
{
    const struct cel_size address = { 4, 16 };
    struct cel_size cost = scale(add(address, address), TRAVERSAL);
    if (is_cidr)
        cost = add(add(cost, scale(address, TRAVERSAL)), fixed(1));
    if (is_text)
        cost = add(cost, scale(k->sizes[0], TRAVERSAL));
    return costs(cost);
}

static struct estimate selector(const struct cel_cost_call *k)
{
    struct cel_size n = scale(k->sizes[0], 0.5); /* number of requirements: "a," at least */
    struct cel_size cost = add(scale(k->sizes[0], TRAVERSAL), scale(n, COST_LIST + COST_STRUCT));
    return costs(add(fixed(COST_LIST), cost));
}

/* Values of Kubernetes' own types. false: another type. */
static bool equal_objects(const struct cel_cost_call *k, struct estimate *ret)
{
    const struct cel_static *x = type_of(k->c, k->x->args[0]), *y = type_of(k->c, k->x->args[1]);
    struct cel_size size = { 1, 1 };
    if (!x->name || !y->name || strcmp(x->name, y->name) != 0 || x->n)
        return false;
    *ret = costs(fixed(1));
    if (strcmp(x->name, "kubernetes.NamedFormat") == 0)
        *ret = costs(scale(range(1, FORMAT_BYTES), TRAVERSAL));
    if (strcmp(x->name, "kubernetes.URL") == 0) {
        if (size_of(k->c, k->x->args[1], k->vars, &size))
            size.min = 1;
        *ret = costs(scale(range(1, size.max), TRAVERSAL));
    }
    return true;
}

/* A call that makes a list of this size. */
static struct estimate makes_list(struct cel_size size, double factor)
{
    return makes(add(scale(size, factor), fixed(1 + COST_LIST)), size);
}

static uint64_t literal_int(const struct core *x, uint64_t otherwise)
{
    if (x->kind != CORE_LITERAL || x->value->type != CEL_INT)
        return otherwise;
    return x->value->i < 0 ? 0 : (uint64_t)x->value->i;
}

/* Each element is compared with each other element. */
static struct estimate sort(const struct cel_cost_call *k, struct core *keys, struct cel_size size)
{
    const struct cel_static *t = type_of(k->c, keys);
    bool text =
        t->n && (t->params[0]->kind == CEL_KIND_STRING || t->params[0]->kind == CEL_KIND_BYTES);
    return makes_list(multiply(size, size), text ? 2 + TRAVERSAL : 2);
}

/* cel-go's estimates for its list functions. false: not one of them. */
static bool estimate_lists(const struct cel_cost_call *k, struct estimate *ret)
{
    struct str name = k->x->name;
    struct core *x = k->x;
    if (str_is(name, "lists.range") && !x->target && k->n == 1)
        *ret = makes_list(fixed(literal_int(x->args[0], UINT64_MAX)), 1);
    else if (!x->target)
        return false;
    else if (str_is(name, "distinct") && k->n == 0)
        *ret = makes_list(multiply(k->target, k->target), 2);
    else if (str_is(name, "sort") && k->n == 0)
        *ret = sort(k, x->target, k->target);
    else if (str_is(name, CEL_SORT_BY) && k->n == 1)
        *ret = sort(k, x->args[0], k->sizes[0]);
    else if (str_is(name, "flatten") && k->n <= 1)
        *ret = makes_list(k->target, k->n ? (double)literal_int(x->args[0], UINT64_MAX) : 1);
    else if (str_is(name, "slice") && k->n == 2) {
        uint64_t from = literal_int(x->args[0], 0), to = literal_int(x->args[1], k->target.max);
        *ret = makes_list(fixed(to - from), 1);
    } else
        return false;
    return true;
}

/*
 * Upstream's estimates for the functions of its Kubernetes libraries, by name. false: not one of
 * them.
 */
static bool estimate_library(const struct cel_cost_call *k, uint8_t kind, struct estimate *ret)
{
    static const char *const accessors[] = { "serviceAccount",
                                             "path",
                                             "group",
                                             "resource",
                                             "subresource",
                                             "namespace",
                                             "name",
                                             "allowed",
                                             "reason",
                                             "error",
                                             "errored",
                                             "masked",
                                             "prefixLength",
                                             "family",
                                             "isUnspecified",
                                             "isLoopback",
                                             "isLinkLocalMulticast",
                                             "isLinkLocalUnicast",
                                             "isGlobalUnicast",
                                             "format.named",
                                             "sign",
                                             "asInteger",
                                             "isInteger",
                                             "asApproximateFloat",
                                             "isGreaterThan",
                                             "isLessThan",
                                             "compareTo",
                                             "add",
                                             "sub",
                                             "major",
                                             "minor",
                                             "patch",
                                             "getScheme",
                                             "getHostname",
                                             "getHost",
                                             "getPort",
                                             "getEscapedPath",
                                             "getQuery",
                                             NULL };
    static const char *const traversals[] = { "isSorted", "sum",         "max", "min",
                                              "indexOf",  "lastIndexOf", NULL };
    static const char *const readers[] = { "cidr",       "isIP",   "isCIDR",   "ip", "quantity",
                                           "isQuantity", "semver", "isSemver", NULL };
    static const char *const copiers[] = { "lowerAscii", "upperAscii", "substring", "trim", NULL };
    struct str name = k->x->name;
    bool method = k->x->target;
    if (kind == SIGNATURE_CIDR_IP || is_one_of(name, accessors))
        *ret = costs(fixed(1));
    else if (str_is(name, "check"))
        *ret = costs(fixed(COST_ACCESS_CHECK));
    else if ((str_is(name, "fieldSelector") || str_is(name, "labelSelector")) && k->n == 1)
        *ret = selector(k);
    else if (method && is_one_of(name, traversals))
        *ret = traverse(k);
    else if (str_is(name, "url") && k->n == 1)
        *ret = makes(scale(k->sizes[0], TRAVERSAL), k->sizes[0]);
    else if (method && is_one_of(name, copiers))
        *ret = makes(scale(k->target, TRAVERSAL), k->target);
    else if (method && str_is(name, "replace") && k->n >= 2)
        *ret = replace(k);
    else if (method && str_is(name, "split"))
        *ret = split(k);
    else if (method && str_is(name, "join"))
        *ret = join(k);
    else if (method && (str_is(name, "find") || str_is(name, "findAll")) && k->n)
        *ret = find(k);
    else if (k->n && is_one_of(name, readers))
        *ret = costs(scale(k->sizes[0], TRAVERSAL));
    else if (k->n && str_is(name, "ip.isCanonical"))
        *ret = costs(scale(k->sizes[0], 2 * TRAVERSAL));
    else if (k->n && (str_is(name, "containsIP") || str_is(name, "containsCIDR")))
        *ret = contains_address(k, str_is(name, "containsCIDR"), kind == SIGNATURE_CONTAINS_TEXT);
    else if (k->n && str_is(name, "validate"))
        *ret = costs(scale(scale(k->sizes[0], TRAVERSAL), FORMAT_REGEX_BYTES * REGEX_BYTE));
    else
        return kind == SIGNATURE_EQUALS && k->n == 2 && equal_objects(k, ret);
    return true;
}

static struct estimate compare(const struct cel_cost_call *k)
{
    uint64_t shorter = MIN(k->sizes[0].max, k->sizes[1].max);
    return costs(scale(range(shorter ? 1 : 0, shorter), TRAVERSAL));
}

/* The standard functions. The caller adds the cost of the arguments. */
static struct estimate estimate_standard(const struct cel_cost_call *k, uint8_t kind)
{
    const struct cel_size *s = k->sizes;
    struct core *x = k->x;
    switch ((enum cel_signature_kind)kind) {
    case SIGNATURE_FORMAT:
        return costs(scale(k->target, TRAVERSAL));
    case SIGNATURE_TO_BYTES:
        return makes(scale(s[0], TRAVERSAL), range(s[0].min, s[0].max * 4));
    case SIGNATURE_FROM_BYTES:
        return makes(scale(s[0], TRAVERSAL), range(s[0].min / 4, s[0].max));
    case SIGNATURE_QUOTE:
        return makes(scale(s[0], TRAVERSAL), range(s[0].min + 2, s[0].max * 2 + 2));
    case SIGNATURE_PREFIX:
        return costs(scale(s[0], TRAVERSAL));
    case SIGNATURE_IN_LIST:
        return costs(scale(s[1], 1));
    case SIGNATURE_MATCHES:
        return costs(multiply(scale(add(k->target, fixed(1)), TRAVERSAL), scale(s[0], REGEX_BYTE)));
    case SIGNATURE_CONTAINS:
        return costs(multiply(scale(k->target, TRAVERSAL), scale(s[0], TRAVERSAL)));
    case SIGNATURE_ADD_LIST:
    case SIGNATURE_ADD_TEXT: {
        struct cel_size size = add(s[0], s[1]);
        struct cel_entry entry =
            both_entries(entry_of(x->args[0], k->vars), entry_of(x->args[1], k->vars));
        if (entry.known)
            x->entry = entry;
        return makes(kind == SIGNATURE_ADD_LIST ? fixed(1) : scale(size, TRAVERSAL), size);
    }
    case SIGNATURE_COMPARE_TEXT:
    case SIGNATURE_EQUALS:
        return compare(k);
    case SIGNATURE_SETS:
        return costs(add(multiply(s[0], s[1]), fixed(1)));
    case SIGNATURE_SETS_EQUIVALENT:
        return costs(add(scale(multiply(s[0], s[1]), 2), fixed(1)));
    case SIGNATURE_REVERSE:
        return makes(add(scale(k->target, 1), fixed(1 + COST_LIST)), k->target);
    case SIGNATURE_CIDR_IP:
    case SIGNATURE_COND:
    case SIGNATURE_CONTAINS_TEXT:
    case SIGNATURE_INDEX_LIST:
    case SIGNATURE_INDEX_MAP:
    case SIGNATURE_LOGICAL:
    case SIGNATURE_PLAIN:
        return costs(fixed(1));
    }
    return costs(fixed(1));
}

static struct cel_size cost_of(const struct coster *c, struct core *x,
                               const struct cel_cost_local *vars);

static struct estimate estimate(const struct cel_cost_call *k, uint8_t kind,
                                const struct cel_size *costs_of)
{
    struct estimate e;
    struct core *x = k->x;
    if (kind == SIGNATURE_LOGICAL) /* the second is skipped if the first decides */
        return costs(range(costs_of[0].min, plus(costs_of[0].max, costs_of[1].max)));
    if (kind == SIGNATURE_COND) {
        struct cel_entry entry =
            both_entries(entry_of(x->args[1], k->vars), entry_of(x->args[2], k->vars));
        if (entry.known)
            x->entry = entry;
        return makes(add(costs_of[0], both(costs_of[1], costs_of[2])),
                     both(k->sizes[1], k->sizes[2]));
    }
    if (kind == SIGNATURE_SETS || kind == SIGNATURE_SETS_EQUIVALENT || kind == SIGNATURE_REVERSE ||
        (!estimate_library(k, kind, &e) && !estimate_lists(k, &e)))
        e = estimate_standard(k, kind);
    e.cost = add(e.cost, k->args);
    return e;
}

/* Indexing a list or map: the size and the path of the element. */
static void note_index(const struct cel_cost_call *k, uint8_t kind, struct estimate *all)
{
    if (kind != SIGNATURE_INDEX_LIST && kind != SIGNATURE_INDEX_MAP)
        return;
    struct core *of = k->x->args[0];
    struct cel_entry entry = entry_of(of, k->vars);
    all->has_size = entry.known;
    all->size = entry.value;
    k->x->path = append(k->c, path_of(of, k->vars), STEP_ITEMS);
}

static struct cel_size cost_call(const struct coster *c, struct core *x,
                                 const struct cel_cost_local *vars)
{
    struct cel_cost_call k = { .c = c, .x = x, .vars = vars, .n = x->n };
    struct cel_size costs_of[6] = { 0 }, sum = { 0 };
    struct estimate all = { .cost = { UINT64_MAX, 0 } };
    if (str_is(x->name, "dyn") && x->n == 1) {
        sum = cost_of(c, x->args[0], vars);
        x->has_size = size_of(c, x->args[0], vars, &x->size);
        x->entry = entry_of(x->args[0], vars);
        return add(fixed(1), sum);
    }
    for (size_t i = 0; i < x->n && i < ARRAY_LEN(costs_of); i++) {
        costs_of[i] = cost_of(c, x->args[i], vars);
        k.args = add(k.args, costs_of[i]);
        k.sizes[i] = size_or_any(c, x->args[i], vars);
    }
    if (!x->fitting) { /* access to an optional field */
        return str_is(x->name, "_?._") ? add(fixed(1), k.args) : range(0, 0);
    }
    if (x->target) {
        sum = cost_of(c, x->target, vars);
        k.target = size_or_any(c, x->target, vars);
    }
    for (uint32_t i = 0; i < 32; i++) {
        if (!(x->fitting & (1u << i)))
            continue;
        uint8_t kind = x->signatures[i].kind;
        struct estimate e = estimate(&k, kind, costs_of);
        all.cost = both(all.cost, e.cost);
        if (e.has_size) {
            all.size = all.has_size ? both(all.size, e.size) : e.size;
            all.has_size = true;
        }
        note_index(&k, kind, &all);
        if (!all.has_size)
            all.has_size = size_of(c, x, vars, &all.size);
    }
    x->has_size = all.has_size;
    x->size = all.size;
    return add(sum, all.cost);
}

/* ------------------------------------------------------------------ the rest */

static struct cel_size cost_name(const struct coster *c, struct core *x,
                                 const struct cel_cost_local *vars)
{
    const struct cel_cost_local *v = find_local(vars, x->name);
    x->path = v ? v->path : append(c, (struct cel_steps){ 0 }, x->name);
    return fixed(1);
}

static struct cel_size cost_select(const struct coster *c, struct core *x,
                                   const struct cel_cost_local *vars)
{
    struct cel_size cost = cost_of(c, x->target, vars);
    if (x->test)
        return cost;
    const struct cel_static *t = type_of(c, x->target);
    if (t->kind == CEL_KIND_MAP || t->kind == CEL_KIND_OBJECT || t->kind == CEL_KIND_PARAM)
        cost = add(cost, fixed(1));
    x->path = append(c, path_of(x->target, vars), x->name);
    return cost;
}

static struct cel_size cost_list(const struct coster *c, struct core *x,
                                 const struct cel_cost_local *vars)
{
    struct cel_size sum = { 0 }, item = { x->n ? UINT64_MAX : 0, 0 };
    for (size_t i = 0; i < x->n; i++) {
        sum = add(sum, cost_of(c, x->args[i], vars));
        item = both(item, size_or_any(c, x->args[i], vars));
    }
    x->entry = (struct cel_entry){ true, true, fixed(1), item };
    return add(sum, fixed(COST_LIST));
}

static struct cel_size cost_map(const struct coster *c, struct core *x,
                                const struct cel_cost_local *vars)
{
    struct cel_size sum = { 0 },
                    sizes[2] = { { x->n ? UINT64_MAX : 0, 0 }, { x->n ? UINT64_MAX : 0, 0 } };
    for (size_t i = 0; i < x->n; i++) {
        sum = add(sum, cost_of(c, x->args[i], vars));
        sizes[i % 2] = both(sizes[i % 2], size_or_any(c, x->args[i], vars));
    }
    x->entry = (struct cel_entry){ true, false, sizes[0], sizes[1] };
    return add(sum, fixed(COST_MAP));
}

static struct cel_cost_local bind_value(const struct coster *c, struct str name, struct core *x,
                                        const struct cel_cost_local *vars)
{
    struct cel_cost_local v = {
        .name = name, .path = path_of(x, vars), .entry = entry_of(x, vars), .next = vars
    };
    v.has_size = size_of(c, x, vars, &v.size);
    return v;
}

static bool runs_over_list(const struct coster *c, struct core *over,
                           const struct cel_cost_local *vars)
{
    struct cel_entry entry = entry_of(over, vars);
    return entry.known ? entry.is_list : type_of(c, over)->kind == CEL_KIND_LIST;
}

/* A loop variable: iterates over the keys, or the values, of `over`. */
static struct cel_cost_local bind_item(const struct coster *c, struct str name, struct core *over,
                                       bool keys, const struct cel_cost_local *vars,
                                       const struct cel_cost_local *next)
{
    struct cel_entry entry = entry_of(over, vars);
    return (struct cel_cost_local){
        .name = name,
        .path =
            append(c, path_of(over, vars),
                   keys ? runs_over_list(c, over, vars) ? STR("@indices") : STEP_KEYS : STEP_ITEMS),
        .has_size = entry.known,
        .size = keys ? entry.key : entry.value,
        .next = next
    };
}

static struct cel_size cost_bind(const struct coster *c, struct core *x,
                                 const struct cel_cost_local *vars)
{
    struct core_loop *l = x->loop;
    struct cel_size sum = add(cost_of(c, l->range, vars), cost_of(c, l->init, vars));
    struct cel_cost_local v = bind_value(c, l->accu, l->init, vars);
    sum = add(sum, cost_of(c, l->result, &v));
    x->has_size = size_of(c, l->result, &v, &x->size);
    x->entry = entry_of(l->result, &v);
    return sum;
}

static struct cel_size cost_loop(const struct coster *c, struct core *x,
                                 const struct cel_cost_local *vars)
{
    struct core_loop *l = x->loop;
    if (l->bind)
        return cost_bind(c, x, vars);
    struct cel_size sum = add(cost_of(c, l->range, vars), cost_of(c, l->init, vars));
    struct cel_cost_local accu = bind_value(c, l->accu, l->init, vars), first, second;
    const struct cel_cost_local *inner = &first;
    if (l->var2.n) {
        first = bind_item(c, l->var, l->range, true, vars, &accu);
        second = bind_item(c, l->var2, l->range, false, vars, &first);
        inner = &second;
    } else {
        first = bind_item(c, l->var, l->range, !runs_over_list(c, l->range, vars), vars, &accu);
    }
    struct cel_size round = add(cost_of(c, l->cond, inner), cost_of(c, l->step, inner));
    struct cel_entry made = entry_of(l->step, inner);
    sum = add(sum, cost_of(c, l->result, &accu));
    struct cel_size n = size_or_any(c, l->range, vars);
    if (l->init->kind == CORE_LITERAL) {
        x->has_size = size_of(c, l->init, vars, &x->size);
    } else {
        x->has_size = true;
        x->size = n;
        x->entry = made;
    }
    return add(sum, multiply(n, round));
}

static struct cel_size cost_of(const struct coster *c, struct core *x,
                               const struct cel_cost_local *vars)
{
    struct cel_size cost = { 0 };
    if (x->costed)
        return range(x->cost_min, x->cost_max);
    switch ((enum core_kind)x->kind) {
    case CORE_LITERAL:
        break;
    case CORE_NAME:
        cost = cost_name(c, x, vars);
        break;
    case CORE_SELECT:
        cost = cost_select(c, x, vars);
        break;
    case CORE_CALL:
        cost = cost_call(c, x, vars);
        break;
    case CORE_LIST:
        cost = cost_list(c, x, vars);
        break;
    case CORE_MAP:
        cost = cost_map(c, x, vars);
        break;
    case CORE_LOOP:
        cost = cost_loop(c, x, vars);
        break;
    }
    x->costed = true;
    x->cost_min = cost.min;
    x->cost_max = cost.max;
    return cost;
}

uint64_t cel_cost(struct arena *a, struct cel_checked *checked, const struct cel_decl *root)
{
    const struct coster c = { .a = a, .checked = checked, .root = root };
    return cost_of(&c, checked->root, NULL).max;
}
