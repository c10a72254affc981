/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled policy rules; see rbac_rules.h. */
#include "api/auth/rbac_rules.h"

#include "kube/model/field.h"

#include <assert.h>

/* ------------------------------------------------------------------ the compiled form */

static void add_varint(struct buf *to, size_t v)
{
    for (; v >= 0x80; v >>= 7)
        (void)buf_add_u8(to, (uint8_t)(v | 0x80));
    (void)buf_add_u8(to, (uint8_t)v);
}

static size_t take_varint(struct rbac_rules *r)
{
    size_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        assert(r->n > 0 && shift < 35);
        uint8_t b = *r->p++;
        r->n--;
        v |= (size_t)(b & 0x7f) << shift;
        if (!(b & 0x80))
            return v;
    }
}

static void add_list(struct buf *to, const struct json *array)
{
    add_varint(to, json_is(array, JSON_ARRAY) ? array->n : 0);
    if (!json_is(array, JSON_ARRAY))
        return;
    json_each (v, array) {
        add_varint(to, json_str(v).n);
        (void)buf_add_str(to, json_str(v));
    }
}

static const char *const members[RBAC_LISTS] = { "verbs", "apiGroups", "resources", "resourceNames",
                                                 "nonResourceURLs" };

int rbac_rules_compile(struct buf *to, const struct json *array)
{
    json_each (rule, array) {
        size_t at = to->n;
        (void)buf_add_le32(to, 0);
        for (size_t i = 0; i < RBAC_LISTS; i++)
            add_list(to, json_getc(rule, members[i]));
        if (!buf_ok(to))
            return to->failed;
        uint32_t size = (uint32_t)(to->n - at - sizeof size);
        memcpy(to->p + at, &size, sizeof size);
    }
    return to->failed;
}

bool rbac_rule_string(struct rbac_rules *left, struct str *ret)
{
    if (left->n == 0)
        return false;
    size_t n = take_varint(left);
    assert(n <= left->n);
    *ret = str_n(left->p, n);
    left->p += n;
    left->n -= n;
    return true;
}

/* Read a list from `r`: its count and strings. */
static struct rbac_rules take_list(struct rbac_rules *r)
{
    const uint8_t *start = r->p;
    for (size_t count = take_varint(r); count > 0; count--) {
        size_t n = take_varint(r);
        assert(n <= r->n);
        r->p += n;
        r->n -= n;
    }
    return (struct rbac_rules){ start, (size_t)(r->p - start) };
}

bool rbac_rule_next(struct rbac_rules *at, struct rbac_rule *ret)
{
    uint32_t size;
    if (at->n == 0)
        return false;
    assert(at->n >= sizeof size);
    memcpy(&size, at->p, sizeof size);
    struct rbac_rules body = { at->p + sizeof size, size };
    assert(size <= at->n - sizeof size);
    at->p += sizeof size + size;
    at->n -= sizeof size + size;
    for (size_t i = 0; i < RBAC_LISTS; i++)
        ret->list[i] = take_list(&body);
    return true;
}

size_t rbac_rule_list(const struct rbac_rule *rule, enum rbac_rule_list which,
                      struct rbac_rules *ret_left)
{
    *ret_left = rule->list[which];
    return take_varint(ret_left);
}

size_t rbac_rule_count(const struct rbac_rule *rule, enum rbac_rule_list which)
{
    struct rbac_rules left;
    return rbac_rule_list(rule, which, &left);
}

struct json *rbac_rule_to_json(struct arena *a, const struct rbac_rule *rule)
{
    struct json *v = json_new_object(a);
    for (size_t i = 0; i < RBAC_LISTS; i++) {
        struct rbac_rules left;
        struct str s;
        if (rbac_rule_list(rule, (enum rbac_rule_list)i, &left) == 0)
            continue;
        struct json *array = json_new_array(a);
        while (rbac_rule_string(&left, &s))
            json_add(array, json_new_str(a, s));
        json_setc(a, v, members[i], array);
    }
    return v;
}

/* ------------------------------------------------------------------ matching */

static bool has(const struct rbac_rule *rule, enum rbac_rule_list which, struct str s)
{
    struct rbac_rules left;
    struct str one;
    (void)rbac_rule_list(rule, which, &left);
    while (rbac_rule_string(&left, &one))
        if (str_eq(one, s))
            return true;
    return false;
}

static bool has_or_star(const struct rbac_rule *rule, enum rbac_rule_list which, struct str s)
{
    struct rbac_rules left;
    struct str one;
    (void)rbac_rule_list(rule, which, &left);
    while (rbac_rule_string(&left, &one))
        if (str_is(one, "*") || str_eq(one, s))
            return true;
    return false;
}

/* "pods", "pods/log", "*", or a subresource of any resource: star, slash, name. */
static bool resource_matches(struct str pattern, struct str resource, struct str sub)
{
    if (str_is(pattern, "*"))
        return true;
    if (sub.n == 0)
        return str_eq(pattern, resource);
    if (pattern.n == resource.n + 1 + sub.n && str_has_prefix(pattern, resource) &&
        pattern.p[resource.n] == '/')
        return str_has_suffix(pattern, sub);
    return pattern.n == sub.n + 2 && str_has_prefix(pattern, STR("*/")) &&
           str_has_suffix(pattern, sub);
}

/* Only a star at the end is a wildcard; elsewhere it is literal. */
static bool url_matches(struct str pattern, struct str path)
{
    if (str_is(pattern, "*") || str_eq(pattern, path))
        return true;
    if (!str_has_suffix(pattern, STR("*")))
        return false;
    while (pattern.n && pattern.p[pattern.n - 1] == '*')
        pattern.n--;
    return str_has_prefix(path, pattern);
}

static bool allows_path(const struct rbac_rule *rule, struct str path)
{
    struct rbac_rules left;
    struct str one;
    (void)rbac_rule_list(rule, RBAC_URLS, &left);
    while (rbac_rule_string(&left, &one))
        if (url_matches(one, path))
            return true;
    return false;
}

bool rbac_rule_allows(const struct rbac_rule *rule, const struct rbac_rule_request *rq)
{
    if (!has_or_star(rule, RBAC_VERBS, rq->verb))
        return false;
    if (rq->is_path)
        return allows_path(rule, rq->path);
    if (!has_or_star(rule, RBAC_GROUPS, rq->group))
        return false;
    if (rbac_rule_count(rule, RBAC_NAMES) > 0 && !has(rule, RBAC_NAMES, rq->name))
        return false;
    struct rbac_rules left;
    struct str one;
    (void)rbac_rule_list(rule, RBAC_RESOURCES, &left);
    while (rbac_rule_string(&left, &one))
        if (resource_matches(one, rq->resource, rq->subresource))
            return true;
    return false;
}

/* ------------------------------------------------------------------ covering */

enum { RULE_WORK_RULE = 8 }; /* cost of looking at a rule, in string comparisons */

static bool covers_resource(const struct rbac_rule *rule, struct str resource)
{
    struct rbac_rules left;
    struct str one, head, sub;
    bool has_sub = str_cut(resource, '/', &head, &sub);
    (void)rbac_rule_list(rule, RBAC_RESOURCES, &left);
    while (rbac_rule_string(&left, &one))
        if (str_is(one, "*") || str_eq(one, resource) ||
            (has_sub && str_has_prefix(one, STR("*/")) && str_eq(str_slice(one, 2, one.n), sub)))
            return true;
    return false;
}

static bool covers_url(const struct rbac_rule *rule, struct str url)
{
    struct rbac_rules left;
    struct str one;
    (void)rbac_rule_list(rule, RBAC_URLS, &left);
    while (rbac_rule_string(&left, &one))
        if (url_matches(one, url))
            return true;
    return false;
}

static bool spend(struct budget *budget, uint64_t steps)
{
    return budget_spend(budget, steps, "comparing the rules of roles");
}

static bool covers(const struct rbac_rule *rule, const struct rbac_rule_atom *atom,
                   struct budget *budget)
{
    (void)spend(budget, RULE_WORK_RULE);
    if (!has_or_star(rule, RBAC_VERBS, atom->verb))
        return false;
    bool named = rbac_rule_count(rule, RBAC_NAMES) > 0;
    (void)spend(budget, rbac_rule_count(rule, RBAC_NAMES) + rbac_rule_count(rule, RBAC_RESOURCES) +
                            rbac_rule_count(rule, RBAC_URLS));
    if (atom->is_url)
        return !named && covers_url(rule, atom->url);
    if (named && !(atom->has_name && has(rule, RBAC_NAMES, atom->name)))
        return false;
    return has_or_star(rule, RBAC_GROUPS, atom->group) && covers_resource(rule, atom->resource);
}

struct cover {
    const struct rbac_rule *owned;
    size_t n;
    void (*missing)(void *arg, const struct rbac_rule_atom *atom);
    void *arg;
    size_t n_atoms;
    struct budget *budget;
    bool all;
};

static bool is_over(const struct cover *c)
{
    return c->n_atoms > RBAC_ATOMS_MAX || budget_is_over(c->budget);
}

static void check_atom(struct cover *c, const struct rbac_rule_atom *atom)
{
    c->n_atoms++;
    for (size_t i = 0; i < c->n && !is_over(c); i++)
        if (covers(&c->owned[i], atom, c->budget))
            return;
    if (budget_is_over(c->budget))
        return;
    c->all = false;
    if (c->missing)
        c->missing(c->arg, atom);
}

static void check_names(struct cover *c, const struct rbac_rule *rule, struct rbac_rule_atom atom)
{
    struct rbac_rules names;
    if (rbac_rule_list(rule, RBAC_NAMES, &names) == 0) {
        check_atom(c, &atom);
        return;
    }
    atom.has_name = true;
    while (!is_over(c) && rbac_rule_string(&names, &atom.name))
        check_atom(c, &atom);
}

static void check_resources(struct cover *c, const struct rbac_rule *rule)
{
    struct rbac_rules groups, resources, verbs;
    struct rbac_rule_atom atom = { .has_name = false };
    (void)rbac_rule_list(rule, RBAC_GROUPS, &groups);
    while (!is_over(c) && rbac_rule_string(&groups, &atom.group)) {
        (void)rbac_rule_list(rule, RBAC_RESOURCES, &resources);
        while (!is_over(c) && rbac_rule_string(&resources, &atom.resource)) {
            (void)rbac_rule_list(rule, RBAC_VERBS, &verbs);
            while (!is_over(c) && rbac_rule_string(&verbs, &atom.verb))
                check_names(c, rule, atom);
        }
    }
}

static void check_urls(struct cover *c, const struct rbac_rule *rule)
{
    struct rbac_rules urls, verbs;
    struct rbac_rule_atom atom = { .is_url = true };
    (void)rbac_rule_list(rule, RBAC_URLS, &urls);
    while (!is_over(c) && rbac_rule_string(&urls, &atom.url)) {
        (void)rbac_rule_list(rule, RBAC_VERBS, &verbs);
        while (!is_over(c) && rbac_rule_string(&verbs, &atom.verb))
            check_atom(c, &atom);
    }
}

static bool all_of(struct cover *c, const struct rbac_rule *rule, const struct rbac_rule *wanted,
                   enum rbac_rule_list which,
                   bool (*one)(const struct rbac_rule *rule, enum rbac_rule_list which,
                               struct str s))
{
    struct rbac_rules left;
    struct str s;
    size_t n = rbac_rule_count(rule, which);
    (void)rbac_rule_list(wanted, which, &left);
    while (rbac_rule_string(&left, &s)) {
        (void)spend(c->budget, n);
        if (is_over(c) || !one(rule, which, s))
            return false;
    }
    return true;
}

static bool covers_one_resource(const struct rbac_rule *rule, enum rbac_rule_list which,
                                struct str s)
{
    (void)which;
    return covers_resource(rule, s);
}

static bool covers_one_url(const struct rbac_rule *rule, enum rbac_rule_list which, struct str s)
{
    (void)which;
    return covers_url(rule, s);
}

/* Compares the lists without expanding their product, which may be very large. */
static bool covers_whole(struct cover *c, const struct rbac_rule *rule,
                         const struct rbac_rule *wanted)
{
    (void)spend(c->budget, RULE_WORK_RULE);
    bool named = rbac_rule_count(rule, RBAC_NAMES) > 0;
    if (named &&
        (rbac_rule_count(wanted, RBAC_NAMES) == 0 || rbac_rule_count(wanted, RBAC_URLS) > 0))
        return false;
    return all_of(c, rule, wanted, RBAC_VERBS, has_or_star) &&
           all_of(c, rule, wanted, RBAC_GROUPS, has_or_star) &&
           all_of(c, rule, wanted, RBAC_RESOURCES, covers_one_resource) &&
           (!named || all_of(c, rule, wanted, RBAC_NAMES, has)) &&
           all_of(c, rule, wanted, RBAC_URLS, covers_one_url);
}

static bool covered_by_one(struct cover *c, const struct rbac_rule *wanted)
{
    for (size_t i = 0; i < c->n && !is_over(c); i++)
        if (covers_whole(c, &c->owned[i], wanted))
            return true;
    return false;
}

bool rbac_rules_cover(const struct rbac_rule *owned, size_t n, struct rbac_rules wanted,
                      struct budget *budget,
                      void (*missing)(void *arg, const struct rbac_rule_atom *atom), void *arg)
{
    struct budget own = BUDGET_INIT;
    struct cover c = { .owned = owned,
                       .n = n,
                       .missing = missing,
                       .arg = arg,
                       .budget = budget ? budget : &own,
                       .all = true };
    struct rbac_rule rule;
    while (rbac_rule_next(&wanted, &rule)) {
        if (covered_by_one(&c, &rule))
            continue;
        check_resources(&c, &rule);
        check_urls(&c, &rule);
    }
    return c.all && !is_over(&c);
}

/* ------------------------------------------------------------------ text of missing rules */

struct rbac_gap {
    struct rbac_gap *next;
    struct rbac_rule_atom atom; /* its verb is the first of `verbs` */
    struct str *verbs;
    size_t n_verbs, cap;
};

static bool same_but_verb(const struct rbac_rule_atom *a, const struct rbac_rule_atom *b)
{
    return !a->is_url && !b->is_url && a->has_name == b->has_name && str_eq(a->group, b->group) &&
           str_eq(a->resource, b->resource) && str_eq(a->name, b->name);
}

static void add_verb(struct arena *a, struct rbac_gap *g, struct str verb)
{
    for (size_t i = 0; i < g->n_verbs; i++)
        if (str_eq(g->verbs[i], verb))
            return;
    if (g->n_verbs == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 8;
        struct str *more = arena_new_n(a, struct str, cap);
        if (g->n_verbs)
            memcpy(more, g->verbs, g->n_verbs * sizeof *more);
        g->verbs = more;
        g->cap = cap;
    }
    g->verbs[g->n_verbs++] = verb;
}

void rbac_gaps_add(void *arg, const struct rbac_rule_atom *atom)
{
    struct rbac_gaps *gaps = arg;
    for (struct rbac_gap *g = gaps->first; g; g = g->next) {
        if (same_but_verb(&g->atom, atom)) {
            add_verb(gaps->a, g, atom->verb);
            return;
        }
    }
    if (gaps->n == RBAC_GAPS_MAX)
        return;
    struct rbac_gap *g = arena_new(gaps->a, struct rbac_gap);
    g->atom = *atom;
    add_verb(gaps->a, g, atom->verb);
    if (gaps->last)
        gaps->last->next = g;
    else
        gaps->first = g;
    gaps->last = g;
    gaps->n++;
}

static void add_part(struct buf *to, const char *name, const struct str *list, size_t n)
{
    (void)buf_printf(to, "%s%s:[", to->p[to->n - 1] == '{' ? "" : ", ", name);
    for (size_t i = 0; i < n; i++) {
        if (i)
            (void)buf_add_char(to, ' ');
        field_go_quote(to, list[i]);
    }
    (void)buf_add_char(to, ']');
}

static struct str gap_text(struct arena *a, const struct rbac_gap *g)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    const struct rbac_rule_atom *atom = &g->atom;
    (void)buf_add_char(&b, '{');
    if (atom->is_url) {
        add_part(&b, "NonResourceURLs", &atom->url, 1);
    } else {
        add_part(&b, "APIGroups", &atom->group, 1);
        add_part(&b, "Resources", &atom->resource, 1);
    }
    if (atom->has_name)
        add_part(&b, "ResourceNames", &atom->name, 1);
    add_part(&b, "Verbs", g->verbs, g->n_verbs);
    (void)buf_add_char(&b, '}');
    return str_copy_arena(a, buf_str(&b));
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

void rbac_gaps_write(const struct rbac_gaps *gaps, struct buf *to)
{
    struct str *lines = arena_new_n(gaps->a, struct str, gaps->n + 1);
    size_t n = 0;
    for (const struct rbac_gap *g = gaps->first; g; g = g->next)
        lines[n++] = gap_text(gaps->a, g);
    qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        if (i)
            (void)buf_add_char(to, '\n');
        (void)buf_add_str(to, lines[i]);
    }
}
