/* SPDX-License-Identifier: Apache-2.0 */
/* List functions that return lists: those of cel-go's extension, with its costs. */
#include "kube/cel/cel_int.h"

#include <stdlib.h>

enum { LIST_COST = 11, SELF_COMPARE = 2 }; /* of a call that makes a list; of each pair */

/* Spends the cost of a list made from n elements, before it is made. */
static int spend_list(struct cel_run *run, uint64_t n, uint64_t factor)
{
    uint64_t cost;
    if (__builtin_mul_overflow(n, factor, &cost) ||
        __builtin_add_overflow(cost, (uint64_t)LIST_COST, &cost))
        cost = INT64_MAX;
    return cel_spend(run, cost);
}

/* Each element may be compared with each other element. */
static int spend_pairs(struct cel_run *run, const struct cel_value *list)
{
    return spend_list(run, list->n, SELF_COMPARE * (uint64_t)list->n);
}

/* ------------------------------------------------------------------ order */

struct keyed {
    struct cel_run *run;
    struct cel_value value;
    const struct cel_value *key;
    uint32_t at;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = 0;
    (void)cel_compare(x->run, *x->key, *y->key, &order);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int sort_by(struct cel_run *run, const struct cel_value *list, const struct cel_value *keys,
                   struct cel_value *ret)
{
    int order;
    void *room;
    struct cel_items sorted = { 0 };
    int r = spend_pairs(run, keys);
    if (r >= 0 && list->n != keys->n)
        r = cel_error(run,
                      "@sortByAssociatedKeys() expected a list of the same size as the "
                      "associated keys list, but got %u and %u elements respectively",
                      list->n, keys->n);
    if (r >= 0)
        r = cel_take(run, list->n, sizeof(struct keyed), &room);
    if (r < 0)
        return r;
    struct keyed *all = room;
    for (uint32_t i = 0; i < list->n; i++) {
        if (!cel_compare(run, keys->list[0], keys->list[i], &order))
            return cel_error(run, "list elements must have the same type");
        all[i] = (struct keyed){ run, list->list[i], &keys->list[i], i };
    }
    if (list->n)
        qsort(all, list->n, sizeof all[0], by_key);
    for (uint32_t i = 0; i < list->n && r >= 0; i++)
        r = cel_push(run, &sorted, all[i].value);
    *ret = cel_list(sorted.p, sorted.n);
    return r;
}

static int fn_sort(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    return v->type == CEL_LIST ? sort_by(run, v, v, ret) : cel_no_overload(run);
}

/* The form into which the parser turns sortBy(). */
static int fn_sort_by(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    if (v[0].type != CEL_LIST || v[1].type != CEL_LIST)
        return cel_no_overload(run);
    return sort_by(run, &v[0], &v[1], ret);
}

static int fn_distinct(struct cel_run *run, const struct cel_value *v, size_t n,
                       struct cel_value *ret)
{
    struct cel_items kept = { 0 };
    if (v->type != CEL_LIST)
        return cel_no_overload(run);
    int r = spend_pairs(run, v);
    for (uint32_t i = 0; i < v->n && r >= 0; i++) {
        bool seen = false;
        for (size_t k = 0; k < kept.n && !seen; k++)
            seen = cel_equal(run, kept.p[k], v->list[i]);
        r = cel_spend(run, 0);
        if (!seen && r >= 0)
            r = cel_push(run, &kept, v->list[i]);
    }
    *ret = cel_list(kept.p, kept.n);
    return r;
}

/* ------------------------------------------------------------------ parts */

static int copy(struct cel_run *run, const struct cel_value *list, size_t from, size_t to,
                struct cel_value *ret)
{
    struct cel_items part = { 0 };
    int r = 0;
    for (size_t i = from; i < to && r >= 0; i++)
        r = cel_push(run, &part, list->list[i]);
    *ret = cel_list(part.p, part.n);
    return r;
}

static int fn_slice(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_LIST || v[1].type != CEL_INT || v[2].type != CEL_INT)
        return cel_no_overload(run);
    long long from = v[1].i, to = v[2].i;
    if (from < 0 || to < 0)
        return cel_error(run, "cannot slice(%lld, %lld), negative indexes not supported", from, to);
    if (from > to)
        return cel_error(run,
                         "cannot slice(%lld, %lld), start index must be less than or equal to end "
                         "index",
                         from, to);
    if (to > v->n)
        return cel_error(run, "cannot slice(%lld, %lld), list is length %u", from, to, v->n);
    int r = spend_list(run, (uint64_t)(to - from), 1);
    return r < 0 ? r : copy(run, v, (size_t)from, (size_t)to, ret);
}

static int fn_first(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_LIST)
        return cel_no_overload(run);
    *ret = cel_optional(run->a, v->n ? &v->list[0] : NULL);
    return 0;
}

static int fn_last(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    if (v->type != CEL_LIST)
        return cel_no_overload(run);
    *ret = cel_optional(run->a, v->n ? &v->list[v->n - 1] : NULL);
    return 0;
}

int cel_reverse_list(struct cel_run *run, const struct cel_value *list, struct cel_value *ret)
{
    struct cel_items turned = { 0 };
    int r = spend_list(run, list->n, 1);
    for (uint32_t i = list->n; i > 0 && r >= 0; i--)
        r = cel_push(run, &turned, list->list[i - 1]);
    *ret = cel_list(turned.p, turned.n);
    return r;
}

static int fn_range(struct cel_run *run, const struct cel_value *v, size_t n, struct cel_value *ret)
{
    struct cel_items all = { 0 };
    if (v->type != CEL_INT)
        return cel_no_overload(run);
    int r = spend_list(run, v->i > 0 ? (uint64_t)v->i : 0, 1);
    for (int64_t i = 0; i < v->i && r >= 0; i++)
        r = cel_push(run, &all, cel_int(i));
    *ret = cel_list(all.p, all.n);
    return r;
}

/* ------------------------------------------------------------------ lists in lists */

static int flatten(struct cel_run *run, const struct cel_value *list, int64_t depth,
                   struct cel_items *to)
{
    int r = 0;
    for (uint32_t i = 0; i < list->n && r >= 0; i++) {
        struct cel_value item = cel_resolve(run, list->list[i]);
        r = cel_spend(run, 0);
        if (r >= 0 && item.type == CEL_LIST && depth > 0)
            r = flatten(run, &item, depth - 1, to); /* the depth of the value is bounded */
        else if (r >= 0)
            r = cel_push(run, to, item);
    }
    return r;
}

static int fn_flatten(struct cel_run *run, const struct cel_value *v, size_t n,
                      struct cel_value *ret)
{
    struct cel_items all = { 0 };
    if (v->type != CEL_LIST || (n == 2 && v[1].type != CEL_INT))
        return cel_no_overload(run);
    int64_t depth = n == 2 ? v[1].i : 1;
    if (depth < 0)
        return cel_error(run, "level must be non-negative");
    int r = spend_list(run, v->n, (uint64_t)depth);
    if (r >= 0)
        r = flatten(run, v, depth, &all);
    *ret = cel_list(all.p, all.n);
    return r;
}

/* ------------------------------------------------------------------ table of functions */

static const struct cel_function functions[] = {
    { CEL_SORT_BY, CEL_METHOD, 2, 2, fn_sort_by }, { "distinct", CEL_METHOD, 1, 1, fn_distinct },
    { "first", CEL_METHOD, 1, 1, fn_first },       { "flatten", CEL_METHOD, 1, 2, fn_flatten },
    { "last", CEL_METHOD, 1, 1, fn_last },         { "lists.range", CEL_FUNCTION, 1, 1, fn_range },
    { "slice", CEL_METHOD, 3, 3, fn_slice },       { "sort", CEL_METHOD, 1, 1, fn_sort },
};

int cel_call_lists(struct cel_run *run, struct str name, bool method, const struct cel_value *args,
                   size_t n, struct cel_value *ret)
{
    return cel_call_of(functions, ARRAY_LEN(functions), run, name, method, args, n, ret);
}
