/* SPDX-License-Identifier: Apache-2.0 */
/* JSON patch (RFC 6902) and merge patch (RFC 7386); see patch.h. */
#include "kube/model/patch.h"

#include "codec/json_sort.h"

#include <errno.h>

/* ---- size: a patch may copy, and copy what it copied ---- */

static size_t count_nodes(const struct json *v)
{
    size_t n = 1;
    json_each (child, v) {
        n += count_nodes(child);
    }
    return n;
}

static size_t depth_of(const struct json *v)
{
    size_t deepest = 0;
    json_each (child, v) {
        size_t depth = depth_of(child);
        deepest = MAX(deepest, depth);
    }
    return deepest + 1;
}

/* ---- pointers (RFC 6901) ---- */

struct patch_doc {
    struct arena *a;
    struct json *root;
    size_t n_nodes;
    struct budget *budget;
    struct err *err;
};

/* The next token of a pointer, unescaped; *at is at its slash. */
static struct str take_token(struct arena *a, struct str *at)
{
    size_t end = 1;
    while (end < at->n && at->p[end] != '/')
        end++;
    char *out = arena_alloc(a, end);
    size_t n = 0;
    for (size_t i = 1; i < end; i++) {
        char c = at->p[i];
        if (c == '~' && i + 1 < end && (at->p[i + 1] == '0' || at->p[i + 1] == '1'))
            c = at->p[++i] == '0' ? '~' : '/';
        out[n++] = c;
    }
    *at = str_slice(*at, end, at->n);
    return str_n(out, n);
}

/* Negative indexes count from the end, as upstream does; for_add: from one past the end. */
static int array_index(const struct json *array, struct str token, bool for_add, size_t *ret)
{
    int64_t i, n = (int64_t)array->n + for_add;
    if (for_add && str_is(token, "-")) {
        *ret = array->n;
        return 0;
    }
    if (parse_i64(token, -n, n - 1, &i) < 0)
        return -EINVAL;
    *ret = (size_t)(i < 0 ? i + n : i);
    return 0;
}

static struct json *element(const struct json *array, size_t i)
{
    struct json *v = array->first;
    while (v && i-- > 0)
        v = v->next;
    return v;
}

static struct json *child_of(struct patch_doc *d, const struct json *parent, struct str token)
{
    size_t i;
    (void)patch_spend(d->budget, parent->type == JSON_ARRAY ? parent->n : 1);
    if (json_is(parent, JSON_OBJECT))
        return json_get(parent, token);
    if (json_is(parent, JSON_ARRAY) && array_index(parent, token, false, &i) == 0)
        return element(parent, i);
    return NULL;
}

/*
 * The parent of the addressed value, and the last token. NULL: a part is missing. Text before the
 * first slash is ignored, and a pointer without a slash addresses nothing, not even the root.
 */
static struct json *resolve(struct patch_doc *d, struct str pointer, struct str *ret_last)
{
    ptrdiff_t slash = str_find_char(pointer, '/');
    struct json *v = slash < 0 ? NULL : d->root;
    for (struct str at = str_slice(pointer, slash < 0 ? 0 : (size_t)slash, pointer.n); v;) {
        struct str token = take_token(d->a, &at);
        if (at.n == 0) {
            *ret_last = token;
            return v->type >= JSON_ARRAY ? v : NULL;
        }
        v = child_of(d, v, token);
    }
    return NULL;
}

/* ---- operations ---- */

static int missing(struct patch_doc *d, const char *op, struct str path)
{
    return err_set(d->err, E_INVALID,
                   "%s operation does not apply: doc is missing path: \"" STR_FMT
                   "\": missing value",
                   op, STR_ARG(path));
}

/* Walkers recurse, so a value must not be placed deeper than the parser allows. */
static int check_depth(struct patch_doc *d, struct str path, const struct json *value)
{
    size_t depth = depth_of(value);
    for (size_t i = 0; i < path.n; i++)
        depth += path.p[i] == '/';
    if (depth > JSON_MAX_DEPTH)
        return err_set(d->err, E_LIMIT, "the patched document would be nested too deeply");
    return 0;
}

static int op_add(struct patch_doc *d, const char *op, struct str path, struct json *value)
{
    struct str last;
    size_t i;
    int r = check_depth(d, path, value);
    if (r < 0)
        return r;
    struct json *parent = resolve(d, path, &last);
    if (!parent)
        return missing(d, op, path);
    if (parent->type == JSON_OBJECT) {
        json_set(d->a, parent, last, value);
        return 0;
    }
    if (array_index(parent, last, true, &i) < 0)
        return err_set(d->err, E_INVALID,
                       "%s operation does not apply: error in %s for path: '" STR_FMT
                       "': Unable to access invalid index: " STR_FMT ": invalid index referenced",
                       op, op, STR_ARG(path), STR_ARG(last));
    bool at_end = i == parent->n;
    (void)patch_spend(d->budget, at_end ? 1 : i);
    json_insert_before(parent, at_end ? NULL : element(parent, i), value);
    return 0;
}

static int op_remove(struct patch_doc *d, const char *op, struct str path)
{
    struct str last;
    struct json *parent = path.n ? resolve(d, path, &last) : NULL;
    struct json *v = parent ? child_of(d, parent, last) : NULL;
    if (!v)
        return missing(d, op, path);
    (void)json_remove(parent, v);
    return 0;
}

/* A missing member is added: upstream does not check. */
static int op_replace(struct patch_doc *d, struct str path, struct json *value)
{
    struct str last;
    if (path.n == 0 && value->type < JSON_ARRAY)
        return err_set(d->err, E_INVALID, "replace operation value must be object or array");
    struct json *parent = path.n ? resolve(d, path, &last) : NULL;
    if (path.n && !parent)
        return missing(d, "replace", path);
    int r = check_depth(d, path, value);
    if (r < 0)
        return r;
    if (!parent) {
        d->root = value;
        return 0;
    }
    struct json *v = child_of(d, parent, last);
    if (!v && parent->type == JSON_ARRAY)
        return missing(d, "replace", path);
    if (v)
        json_replace(v, value);
    else
        json_set(d->a, parent, last, value);
    return 0;
}

/* An absent value equals null. */
static int op_test(struct patch_doc *d, struct str path, const struct json *value)
{
    struct str last;
    struct json *parent = path.n ? resolve(d, path, &last) : NULL;
    const struct json *v = path.n == 0 ? d->root : parent ? child_of(d, parent, last) : NULL;
    if (path.n && (!parent || (!v && parent->type == JSON_ARRAY)))
        return missing(d, "test", path);
    bool same = v ? json_equal(v, value) : value->type == JSON_NULL;
    if (!same)
        return err_set(d->err, E_CONFLICT, "testing value " STR_FMT " failed: test failed",
                       STR_ARG(path));
    return 0;
}

static int count_values(struct patch_doc *d, const struct json *v)
{
    d->n_nodes += count_nodes(v);
    if (d->n_nodes > PATCH_MAX_NODES)
        return err_set(d->err, E_LIMIT, "the patched document would have more than %d values",
                       PATCH_MAX_NODES);
    return 0;
}

/* Copies a value that the result has once: the bytes of its strings are shared. */
static int take_value(struct patch_doc *d, const struct json *v, struct json **ret)
{
    int r = count_values(d, v);
    if (r < 0)
        return r;
    *ret = json_copy(d->a, v);
    return 0;
}

/*
 * Copies a value that the result has twice: its bytes count, or a few operations could make any
 * size.
 */
static int duplicate_value(struct patch_doc *d, const struct json *v, struct json **ret)
{
    int r = count_values(d, v);
    if (r < 0)
        return r;
    *ret = json_clone(d->a, v);
    return arena_is_full(d->a) ? err_set(d->err, E_LIMIT, "the patched document is too large") : 0;
}

/* Moving a value into itself would tear the tree. */
static bool is_below(struct str path, struct str prefix)
{
    return str_has_prefix(path, prefix) && path.n > prefix.n && path.p[prefix.n] == '/';
}

static int op_move(struct patch_doc *d, struct str from, struct str path)
{
    struct str last;
    struct json *parent = resolve(d, from, &last), *copy = NULL;
    struct json *v = parent ? child_of(d, parent, last) : NULL;
    if (!v || is_below(path, from))
        return missing(d, "move", from);
    int r = take_value(d, v, &copy);
    if (r == 0)
        r = op_remove(d, "move", from);
    return r < 0 ? r : op_add(d, "move", path, copy);
}

/* A missing member is copied as null. */
static int op_copy(struct patch_doc *d, struct str from, struct str path)
{
    struct str last;
    struct json *parent = resolve(d, from, &last), *copy = NULL;
    struct json *v = parent ? child_of(d, parent, last) : NULL;
    if (!parent || (!v && parent->type == JSON_ARRAY))
        return missing(d, "copy", from);
    int r = duplicate_value(d, v ? v : json_new_null(d->a), &copy);
    return r < 0 ? r : op_add(d, "copy", path, copy);
}

static int apply(struct patch_doc *d, const struct json *op)
{
    static const char *const names[] = { "add", "replace", "test", "remove", "move", "copy" };
    struct str name = json_get_str(op, "op"), path = json_get_str(op, "path");
    struct str from = json_get_str(op, "from");
    const struct json *value = json_getc(op, "value");
    struct json *copy = NULL;
    size_t kind = 0;
    while (kind < ARRAY_LEN(names) && !str_is(name, names[kind]))
        kind++;
    if (kind == ARRAY_LEN(names))
        return err_set(d->err, E_INVALID, "Unexpected kind: " STR_FMT, STR_ARG(name));
    if (!json_is(json_getc(op, "path"), JSON_STRING))
        return err_set(d->err, E_INVALID, "operation missing path field: missing value");
    if (!value)
        value = json_new_null(d->a);
    if (str_is(name, "test"))
        return op_test(d, path, value);
    if (str_is(name, "remove"))
        return op_remove(d, "remove", path);
    if (str_is(name, "move"))
        return op_move(d, from, path);
    if (str_is(name, "copy"))
        return op_copy(d, from, path);
    int r = take_value(d, value, &copy);
    if (r < 0)
        return r;
    return str_is(name, "add") ? op_add(d, "add", path, copy) : op_replace(d, path, copy);
}

int patch_json(struct arena *a, struct json *doc, const struct json *ops, struct json **ret,
               struct err *err)
{
    struct budget own = BUDGET_INIT;
    struct patch_doc d = { .a = a,
                           .root = doc,
                           .n_nodes = count_nodes(doc),
                           .budget = a->budget ? a->budget : &own,
                           .err = err };
    if (!json_is(ops, JSON_ARRAY))
        return err_set(err, E_PARSE, "a JSON patch has to be a list of operations");
    if (ops->n > PATCH_MAX_OPS)
        return err_set(err, E_LIMIT, "The allowed maximum operations in a JSON patch is %d, got %u",
                       PATCH_MAX_OPS, ops->n);
    json_each (op, ops) {
        int r = apply(&d, op);
        if (r < 0)
            return r;
        if (budget_is_over(d.budget))
            return err_set(err, E_LIMIT, "the patch is too much work");
    }
    *ret = d.root;
    return 0;
}

/* ---- merge patch ---- */

/*
 * Nulls in added values are dropped: they mean deletion. Objects in lists are cleaned too, as
 * upstream does; elements of lists may be null. Strings are shared with the patch.
 */
static struct json *without_nulls(struct arena *a, const struct json *v)
{
    if (v->type < JSON_ARRAY)
        return json_copy(a, v);
    struct json *out = v->type == JSON_ARRAY ? json_new_array(a) : json_new_object(a);
    if (v->type == JSON_ARRAY) {
        json_each (item, v)
            json_add(out, without_nulls(a, item));
        return out;
    }
    json_each (m, v) {
        struct json *copy = m->type == JSON_NULL ? NULL : without_nulls(a, m);
        if (!copy)
            continue;
        json_add_member(out, m->key, copy);
    }
    json_index(a, out);
    return out;
}

struct merge {
    struct arena *a;
    struct budget *budget;
};

static int merge(struct merge *m, struct json *doc, const struct json *patch)
{
    json_each (p, patch) {
        struct json *own = json_get(doc, p->key);
        if (!patch_spend(m->budget, 1))
            return E_LIMIT;
        if (p->type == JSON_NULL) {
            (void)json_del(doc, p->key);
        } else if (own && own->type == JSON_OBJECT && p->type == JSON_OBJECT) {
            int r = merge(m, own, p);
            if (r < 0)
                return r;
        } else {
            json_set(m->a, doc, p->key, without_nulls(m->a, p));
        }
    }
    return 0;
}

int patch_merge(struct arena *a, struct json *doc, const struct json *patch, struct json **ret,
                struct err *err)
{
    struct budget own = BUDGET_INIT;
    struct merge m = { .a = a, .budget = a->budget ? a->budget : &own };
    if (patch->type != JSON_OBJECT || doc->type != JSON_OBJECT) {
        *ret = without_nulls(a, patch);
        return 0;
    }
    if (merge(&m, doc, patch) < 0)
        return err_set(err, E_LIMIT, "the patch is too much work");
    *ret = doc;
    return 0;
}

/* ---- member order as upstream leaves it ---- */

static bool is_sorted(const struct json *obj)
{
    const struct json *before = NULL;
    json_each (m, obj) {
        if (before && str_cmp(before->key, m->key) > 0)
            return false;
        before = m;
    }
    return true;
}

static void sort_members(struct arena *a, struct json *obj)
{
    if (is_sorted(obj))
        return;
    scoped(free_scoped) const struct json **sorted = json_sorted_members(obj);
    uint32_t n = obj->n;
    (void)json_take_children(obj);
    for (uint32_t i = 0; i < n; i++)
        json_add_member(obj, sorted[i]->key, (struct json *)sorted[i]);
    json_index(a, obj);
}

static void sort_all(struct arena *a, struct json *v)
{
    if (v->type == JSON_OBJECT)
        sort_members(a, v);
    json_each (child, v) {
        sort_all(a, child);
    }
}

static void sort_merged(struct arena *a, struct json *doc, const struct json *patch)
{
    sort_members(a, doc);
    json_each (p, patch) {
        struct json *own = json_get(doc, p->key);
        if (own && own->type == JSON_OBJECT && p->type == JSON_OBJECT)
            sort_merged(a, own, p);
        else if (own)
            sort_all(a, own);
    }
}

static void sort_on_the_way(struct patch_doc *d, struct str pointer)
{
    struct json *v = d->root;
    for (struct str at = pointer; v && at.n && at.p[0] == '/';) {
        struct str token = take_token(d->a, &at);
        if (v->type == JSON_OBJECT) {
            sort_members(d->a, v);
            (void)patch_spend(d->budget, v->n);
        }
        v = at.n ? child_of(d, v, token) : NULL;
    }
}

void patch_sort_touched(struct arena *a, struct json *doc, const struct json *patch)
{
    struct budget own = BUDGET_INIT;
    struct patch_doc d = { .a = a, .root = doc, .budget = a->budget ? a->budget : &own };
    if (doc->type != JSON_OBJECT)
        return;
    sort_members(a, doc);
    if (patch->type == JSON_OBJECT)
        sort_merged(a, doc, patch);
    json_each (op, patch->type == JSON_ARRAY ? patch : NULL) {
        sort_on_the_way(&d, json_get_str(op, "path"));
        sort_on_the_way(&d, json_get_str(op, "from"));
        if (budget_is_over(d.budget))
            return;
    }
}
