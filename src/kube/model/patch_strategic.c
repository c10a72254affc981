/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strategic merge patch: maps merge by key; lists are replaced, or merged where the schema says so:
 * scalars as sets, objects by their merge key. Directives in the patch:
 *
 *     $patch: replace | delete              for the enclosing map, or an element of a list
 *     $retainKeys: [keys]                   of a map; all other keys are removed
 *     $deleteFromPrimitiveList/LIST: [..]   elements to remove
 *     $setElementOrder/LIST: [..]           order of the elements that the client knows
 *
 * The order of merged lists follows upstream: the patch's elements in its order; elements that only
 * the server has stay before the elements that they preceded.
 */
#include "kube/model/patch.h"

static const struct str delete_prefix = { "$deleteFromPrimitiveList/", 25 };
static const struct str order_prefix = { "$setElementOrder/", 17 };

struct smp {
    struct arena *a;
    struct budget *budget;
    struct err *err;
};

/* Elements detached from a list, to be sorted and put back. */
struct patch_strategic_items {
    struct json **p;
    size_t n;
};

static int merge_map(struct smp *m, const struct schema *s, struct json *doc, struct json *patch);

static int count_work(struct smp *m, size_t n)
{
    return patch_spend(m->budget, n) ? 0 : err_set(m->err, E_LIMIT, "the patch is too much work");
}

/* ---- cleaning values set unmerged ---- */

static void discard_nulls(struct json *v)
{
    struct json *next;
    for (struct json *c = v->type >= JSON_ARRAY ? v->first : NULL; c; c = next) {
        next = c->next;
        if (c->type == JSON_NULL && v->type == JSON_OBJECT)
            (void)json_remove(v, c);
        else
            discard_nulls(c);
    }
}

/* false: the value is itself a directive and must be removed. */
static bool remove_directives(struct json *v)
{
    struct json *next;
    if (v->type == JSON_OBJECT && json_getc(v, "$patch"))
        return false;
    for (struct json *c = v->type >= JSON_ARRAY ? v->first : NULL; c; c = next) {
        next = c->next;
        if (!remove_directives(c))
            (void)json_remove(v, c);
    }
    return true;
}

/* Detach all elements. */
static struct patch_strategic_items take_items(struct smp *m, struct json *list)
{
    struct patch_strategic_items out = { .p = arena_new_n(m->a, struct json *, MAX(list->n, 1)) };
    while (list->first) {
        struct json *c = list->first;
        (void)json_remove(list, c);
        out.p[out.n++] = c;
    }
    return out;
}

static struct patch_strategic_items borrow_items(struct smp *m, const struct json *list)
{
    struct patch_strategic_items out = { .p = arena_new_n(m->a, struct json *,
                                                          MAX(list ? list->n : 0, 1)) };
    json_each (c, list) {
        out.p[out.n++] = c;
    }
    return out;
}

/* ---- order ---- */

/* Equal as elements: by merge key, or as scalars. */
static bool same_item(const struct json *x, const struct json *y, struct str key)
{
    if (key.n == 0)
        return json_equal(x, y);
    const struct json *a = json_get(x, key), *b = json_get(y, key);
    return a && b && json_equal(a, b);
}

/* Also -1 when the work is used up, which patch_strategic() checks at its end. */
static ptrdiff_t index_of(struct smp *m, struct patch_strategic_items list, const struct json *v,
                          struct str key)
{
    if (!patch_spend(m->budget, list.n))
        return -1;
    for (size_t i = 0; i < list.n; i++)
        if (same_item(list.p[i], v, key))
            return (ptrdiff_t)i;
    return -1;
}

/*
 * Stable; elements that the order does not contain keep their place relative to their neighbours.
 */
static void sort_by(struct smp *m, struct patch_strategic_items *list,
                    struct patch_strategic_items order, struct str key)
{
    ptrdiff_t *at = arena_new_n(m->a, ptrdiff_t, MAX(list->n, 1));
    for (size_t i = 0; i < list->n; i++) {
        struct json *v = list->p[i];
        ptrdiff_t own = index_of(m, order, v, key);
        size_t j = i;
        for (; own >= 0 && j > 0 && at[j - 1] > own; j--) {
            list->p[j] = list->p[j - 1];
            at[j] = at[j - 1];
        }
        list->p[j] = v;
        at[j] = own;
    }
}

/* merged := known (in known_order) and rest (in server_order), interleaved by server_order. */
static void weave(struct smp *m, struct json *merged, struct patch_strategic_items known,
                  struct patch_strategic_items rest, struct patch_strategic_items known_order,
                  struct patch_strategic_items server_order, struct str key)
{
    sort_by(m, &known, known_order, key);
    sort_by(m, &rest, server_order, key);
    size_t i = 0, j = 0;
    while (i < rest.n || j < known.n) {
        bool take_rest = j == known.n;
        if (i < rest.n && j < known.n) {
            ptrdiff_t l = index_of(m, server_order, rest.p[i], key);
            ptrdiff_t r = index_of(m, server_order, known.p[j], key);
            take_rest = l >= 0 && r >= 0 && l < r;
        }
        json_add(merged, take_rest ? rest.p[i++] : known.p[j++]);
    }
}

/* Reorder the elements of `list`; order: elements (or keys) of the patch; server: the old list. */
static void reorder(struct smp *m, struct json *list, struct patch_strategic_items order,
                    struct patch_strategic_items server, struct str key)
{
    struct patch_strategic_items all = take_items(m, list), known = { 0 }, rest = { 0 };
    known.p = arena_new_n(m->a, struct json *, MAX(all.n, 1));
    rest.p = arena_new_n(m->a, struct json *, MAX(all.n, 1));
    for (size_t i = 0; i < all.n; i++) {
        if (index_of(m, order, all.p[i], key) >= 0)
            known.p[known.n++] = all.p[i];
        else
            rest.p[rest.n++] = all.p[i];
    }
    weave(m, list, known, rest, order, server, key);
}

/* ---- lists ---- */

static int bad_directive(struct smp *m, struct str what, const struct json *map)
{
    struct buf b = BUF_INIT(4096);
    field_go_print(&b, map, false);
    int r = err_set(m->err, E_INVALID, "unknown patch type: " STR_FMT " in map: %s", STR_ARG(what),
                    buf_cstr(&b));
    buf_fini(&b);
    return r;
}

static int no_merge_key(struct smp *m, const struct json *v, struct str key)
{
    struct buf b = BUF_INIT(4096);
    field_go_print(&b, v, false);
    int r = err_set(m->err, E_INVALID, "map: %s does not contain declared merge key: " STR_FMT,
                    buf_cstr(&b), STR_ARG(key));
    buf_fini(&b);
    return r;
}

/*
 * The old elements before merging, to restore their order. Later they are only detached, not freed.
 */
static struct patch_strategic_items snapshot(struct smp *m, const struct json *list)
{
    struct patch_strategic_items own = borrow_items(m, list);
    for (size_t i = 0; i < own.n; i++)
        if (own.p[i]->type == JSON_OBJECT)
            own.p[i] = json_clone(m->a, own.p[i]);
    return own;
}

static int merge_scalars(struct smp *m, struct json *doc, struct json *patch)
{
    struct patch_strategic_items server = snapshot(m, doc), order = borrow_items(m, patch);
    struct patch_strategic_items both = { .p = arena_new_n(m->a, struct json *,
                                                           (size_t)doc->n + patch->n + 1) };
    struct patch_strategic_items old = take_items(m, doc);
    for (size_t i = 0; i < old.n + order.n; i++) {
        struct json *v = i < old.n ? old.p[i] : json_clone(m->a, order.p[i - old.n]);
        if (index_of(m, both, v, STR("")) < 0)
            both.p[both.n++] = v;
    }
    for (size_t i = 0; i < both.n; i++)
        json_add(doc, both.p[i]);
    reorder(m, doc, order, server, STR(""));
    return 0;
}

static void delete_scalars(struct smp *m, struct json *doc, const struct json *patch)
{
    struct patch_strategic_items gone = borrow_items(m, patch), old = take_items(m, doc);
    for (size_t i = 0; i < old.n; i++)
        if (index_of(m, gone, old.p[i], STR("")) < 0)
            json_add(doc, old.p[i]);
}

/*
 * Applies the elements of the patch that are directives, and removes them from the patch.
 * *ret_replace: the list is replaced.
 */
static int apply_element_directives(struct smp *m, struct json *doc, struct json *patch,
                                    struct str key, bool *ret_replace)
{
    struct json *next;
    for (struct json *v = patch->first; v; v = next) {
        next = v->next;
        const struct json *directive = json_getc(v, "$patch");
        if (!directive)
            continue;
        if (str_is(json_str(directive), "delete")) {
            const struct json *id = json_get(v, key);
            if (!id)
                return no_merge_key(m, v, key);
            struct json *after;
            int r = count_work(m, (size_t)doc->n * 4);
            if (r < 0)
                return r;
            for (struct json *d = doc->first; d; d = after) {
                after = d->next;
                if (same_item(d, v, key))
                    (void)json_remove(doc, d);
            }
        } else if (str_is(json_str(directive), "replace")) {
            *ret_replace = true;
        } else if (str_is(json_str(directive), "merge")) {
            return err_set(m->err, E_INVALID, "merging lists cannot yet be specified in the patch");
        } else {
            return bad_directive(m, json_str(directive), v);
        }
        (void)json_remove(patch, v);
    }
    return 0;
}

static int check_maps(struct smp *m, const struct json *list)
{
    json_each (v, list) {
        if (v->type != JSON_OBJECT)
            return err_set(m->err, E_INVALID, "expected a map, but received a %s",
                           v->type == JSON_ARRAY ? "slice" : "scalar");
    }
    return 0;
}

static int merge_objects(struct smp *m, const struct schema *s, struct json *doc,
                         struct json *patch)
{
    struct str key = s->patch_key;
    if (key.n == 0)
        return err_set(m->err, E_INVALID, "cannot merge lists without merge key");
    int r = check_maps(m, doc);
    if (r == 0)
        r = check_maps(m, patch);
    bool replace = false;
    if (r == 0)
        r = apply_element_directives(m, doc, patch, key, &replace);
    if (r < 0)
        return r;
    if (replace) {
        (void)take_items(m, doc);
        struct patch_strategic_items own = take_items(m, patch);
        for (size_t i = 0; i < own.n; i++)
            json_add(doc, own.p[i]);
        return 0;
    }
    struct patch_strategic_items server = snapshot(m, doc), order = snapshot(m, patch);
    struct patch_strategic_items own = take_items(m, patch);
    for (size_t i = 0; i < own.n; i++) {
        struct json *found = NULL;
        if (!json_get(own.p[i], key))
            return no_merge_key(m, own.p[i], key);
        r = count_work(m, doc->n);
        if (r < 0)
            return r;
        json_each (d, doc) {
            if (!found && same_item(d, own.p[i], key))
                found = d;
        }
        if (!found) {
            json_add(doc, own.p[i]);
            continue;
        }
        r = merge_map(m, s->items, found, own.p[i]);
        if (r < 0)
            return r;
    }
    json_each (d, doc) {
        if (!json_get(d, key))
            return no_merge_key(m, d, key);
    }
    reorder(m, doc, order, server, key);
    return 0;
}

static bool is_map_list(const struct json *a, const struct json *b)
{
    const struct json *first = a->first ? a->first : b->first;
    return first && first->type == JSON_OBJECT;
}

static int merge_list(struct smp *m, const struct schema *s, struct json *doc, struct json *patch,
                      bool deletes)
{
    bool merges = s && (s->flags & SCHEMA_PATCH_MERGE);
    if (!merges && !deletes) {
        json_replace(doc, patch);
        return 0;
    }
    if (doc->n == 0 && patch->n == 0)
        return 0;
    if ((size_t)doc->n + patch->n > PATCH_MAX_MERGED_ITEMS)
        return err_set(m->err, E_LIMIT, "lists with more than %d elements cannot be merged",
                       PATCH_MAX_MERGED_ITEMS);
    const struct json *first = doc->first ? doc->first : patch->first;
    if (first->type == JSON_ARRAY)
        return err_set(m->err, E_INVALID, "lists of lists are not supported");
    if (is_map_list(doc, patch))
        return s ? merge_objects(m, s, doc, patch)
                 : err_set(m->err, E_INVALID, "cannot merge lists without merge key");
    if (deletes) {
        delete_scalars(m, doc, patch);
        return 0;
    }
    return merge_scalars(m, doc, patch);
}

/* ---- directives of maps ---- */

/* Apply and remove $retainKeys. */
static int retain_keys(struct smp *m, struct json *doc, struct json *patch)
{
    struct json *keys = json_getc(patch, "$retainKeys");
    if (!keys)
        return 0;
    if (keys->type != JSON_ARRAY)
        return err_set(m->err, E_PARSE, "invalid patch format of retainKeys");
    struct patch_strategic_items list = take_items(m, keys);
    (void)json_del(patch, STR("$retainKeys"));
    struct json *next;
    int r = count_work(m, list.n * ((size_t)patch->n + doc->n));
    if (r < 0)
        return r;
    json_each (p, patch) {
        struct json name = { .type = JSON_STRING, .s = p->key };
        bool exempt = p->type == JSON_NULL || str_has_prefix(p->key, delete_prefix) ||
                      str_has_prefix(p->key, order_prefix);
        if (!exempt && index_of(m, list, &name, STR("")) < 0)
            return err_set(m->err, E_PARSE, "invalid patch format of retainKeys");
    }
    for (struct json *d = doc->first; d; d = next) {
        next = d->next;
        struct json name = { .type = JSON_STRING, .s = d->key };
        if (index_of(m, list, &name, STR("")) < 0)
            (void)json_remove(doc, d);
    }
    return 0;
}

static int wrong_order(struct smp *m, const struct json *patch, struct patch_strategic_items order)
{
    struct buf b = BUF_INIT(4096);
    (void)buf_add_cstr(&b, "The order in patch list:\n");
    field_go_print(&b, patch, false);
    (void)buf_add_cstr(&b, "\n doesn't match $setElementOrder list:\n[");
    for (size_t i = 0; i < order.n; i++) {
        (void)buf_add_cstr(&b, i ? " " : "");
        field_go_print(&b, order.p[i], false);
    }
    (void)buf_add_cstr(&b, "]\n");
    int r = err_set(m->err, E_INVALID, "%s", buf_cstr(&b));
    buf_fini(&b);
    return r;
}

/* The elements of the patch must be in the order that the directive gives. */
static int check_order(struct smp *m, const struct json *patch, struct patch_strategic_items order,
                       struct str key)
{
    size_t at = 0;
    json_each (v, patch) {
        if (json_getc(v, "$patch"))
            continue;
        while (at < order.n && !same_item(order.p[at], v, key))
            at++;
        if (at == order.n)
            return wrong_order(m, patch, order);
        at++;
    }
    return 0;
}

static bool is_list_or_absent(const struct json *v)
{
    return !v || v->type == JSON_ARRAY;
}

static int check_order_size(struct smp *m, size_t n)
{
    if (n <= 2 * (size_t)PATCH_MAX_MERGED_ITEMS)
        return 0;
    return err_set(m->err, E_LIMIT, "lists with more than %d elements cannot be merged",
                   PATCH_MAX_MERGED_ITEMS);
}

/*
 * Merge `list` (NULL: no new elements) into the member `name` of doc; *ret: the member afterwards.
 */
static int merge_named_list(struct smp *m, const struct schema *field, struct json *doc,
                            struct str name, struct json *list, struct json **ret)
{
    struct json *own = json_get(doc, name);
    *ret = own ? own : list;
    if (!list)
        return 0;
    if (own)
        return merge_list(m, field, own, list, false);
    (void)remove_directives(list);
    json_set(m->a, doc, name, list);
    return 0;
}

/* Apply one $setElementOrder/LIST together with LIST itself; both are removed from the patch. */
static int set_order(struct smp *m, const struct schema *s, struct json *doc, struct json *patch,
                     struct json *directive)
{
    struct str name = str_slice(directive->key, order_prefix.n, directive->key.n);
    const struct schema *field = schema_child(s, name);
    struct str key = field ? field->patch_key : STR("");
    (void)json_remove(patch, directive);
    struct json *list = json_get(patch, name), *own = json_get(doc, name);
    if (directive->type != JSON_ARRAY || !is_list_or_absent(own) || !is_list_or_absent(list))
        return err_set(m->err, E_PARSE, "invalid patch format of setElementOrder list");
    int r = check_order_size(m, (size_t)directive->n + (own ? own->n : 0) + (list ? list->n : 0));
    struct patch_strategic_items order = borrow_items(m, directive);
    if (r == 0 && list && order.n)
        r = check_order(m, list, order, key);
    if (r < 0)
        return r;
    if (list)
        (void)json_remove(patch, list);
    struct json *none = json_new_array(m->a);
    struct patch_strategic_items server = snapshot(m, own ? own : none);
    r = merge_named_list(m, field, doc, name, list, &own);
    if (r == 0 && own)
        reorder(m, own, order, server, key);
    return r;
}

static int set_orders(struct smp *m, const struct schema *s, struct json *doc, struct json *patch)
{
    for (struct json *p = patch->first; p;) {
        if (!str_has_prefix(p->key, order_prefix)) {
            p = p->next;
            continue;
        }
        struct str name = str_slice(p->key, order_prefix.n, p->key.n);
        struct json *next = p->next;
        if (next && str_eq(next->key, name))
            next = next->next; /* LIST itself is removed from the patch as well */
        int r = set_order(m, s, doc, patch, p);
        if (r < 0)
            return r;
        p = next;
    }
    return 0;
}

/* $patch in a map: the result is the patch itself, or nothing. */
static int apply_directive(struct smp *m, struct json *doc, struct json *patch)
{
    struct str what = json_get_str(patch, "$patch");
    if (str_is(what, "delete")) {
        json_replace(doc, json_new_object(m->a));
        return 0;
    }
    if (!str_is(what, "replace"))
        return bad_directive(m, what, patch);
    (void)json_del(patch, STR("$patch"));
    json_replace(doc, patch);
    return 0;
}

/* Set the patch's value unmerged. */
static void take_over(struct smp *m, struct json *doc, struct str name, struct json *v)
{
    discard_nulls(v);
    if (remove_directives(v))
        json_set(m->a, doc, name, v);
    else
        (void)json_del(doc, name);
}

static int merge_member(struct smp *m, const struct schema *s, struct json *doc, struct json *p)
{
    bool deletes = str_has_prefix(p->key, delete_prefix);
    struct str name = deletes ? str_slice(p->key, delete_prefix.n, p->key.n) : p->key;
    const struct schema *field = schema_child(s, name);
    if (p->type == JSON_NULL) {
        (void)json_del(doc, name);
        return 0;
    }
    struct json *d = json_get(doc, name);
    bool both_maps = d && d->type == JSON_OBJECT && p->type == JSON_OBJECT;
    bool both_lists = d && d->type == JSON_ARRAY && p->type == JSON_ARRAY;
    if (both_maps && field && (field->flags & SCHEMA_PATCH_REPLACE))
        json_replace(d, p);
    else if (both_maps)
        return merge_map(m, field, d, p);
    else if (both_lists)
        return merge_list(m, field, d, p, deletes);
    else if (!deletes)
        take_over(m, doc, name, p);
    return 0;
}

static int merge_map(struct smp *m, const struct schema *s, struct json *doc, struct json *patch)
{
    if (json_getc(patch, "$patch"))
        return apply_directive(m, doc, patch);
    int r = retain_keys(m, doc, patch);
    if (r == 0)
        r = set_orders(m, s, doc, patch);
    if (r < 0)
        return r;
    while (patch->first) {
        struct json *p = patch->first;
        r = count_work(m, 1);
        if (r < 0)
            return r;
        (void)json_remove(patch, p);
        r = merge_member(m, s, doc, p);
        if (r < 0)
            return r;
    }
    return 0;
}

int patch_strategic(struct arena *a, const struct schema *s, struct json *doc,
                    const struct json *patch, struct json **ret, struct err *err)
{
    struct budget own = BUDGET_INIT;
    struct smp m = { .a = a, .budget = a->budget ? a->budget : &own, .err = err };
    if (!json_is(patch, JSON_OBJECT) || !json_is(doc, JSON_OBJECT))
        return err_set(err, E_PARSE, "invalid JSON document");
    int r = merge_map(&m, s, doc, json_clone(a, patch));
    if (r >= 0)
        r = count_work(&m, 0);
    if (r < 0)
        return r;
    *ret = doc;
    return 0;
}
