/* SPDX-License-Identifier: Apache-2.0 */
/* The index of pods by node; see placed.h. */
#include "api/placed.h"

#include "base/buf.h"

#include <assert.h>

#define PODS "/registry/pods/"

enum { DEDUP_BYTES = 1024 }; /* of a value: only this much is searched for duplicates */

/* ------------------------------------------------------------------ values */

static bool next_reference(struct str *left, enum pod_reference *ret_what, struct str *ret_name)
{
    const unsigned char *p = (const unsigned char *)left->p;
    if (left->n < 3)
        return false;
    size_t n = (size_t)p[1] | (size_t)p[2] << 8;
    if (left->n < 3 + n)
        return false;
    *ret_what = (enum pod_reference)p[0];
    *ret_name = str_slice(*left, 3, 3 + n);
    *left = str_slice(*left, 3 + n, left->n);
    return true;
}

void placed_each(struct str value, pod_reference_fn fn, void *arg)
{
    struct str left = str_slice(value, 1, value.n), name;
    enum pod_reference what;
    while (next_reference(&left, &what, &name))
        fn(arg, what, name);
}

bool placed_refers(struct str value, enum pod_reference what, struct str name)
{
    struct str left = str_slice(value, 1, value.n), other;
    enum pod_reference is;
    while (next_reference(&left, &is, &other))
        if (is == what && str_eq(other, name))
            return true;
    return false;
}

static void add_reference(void *arg, enum pod_reference what, struct str name)
{
    struct buf *value = arg;
    if (name.n > PLACED_NAME_MAX || value->n + 3 + name.n > PLACED_VALUE_MAX)
        return;
    if (value->n <= DEDUP_BYTES && placed_refers(buf_str(value), what, name))
        return;
    (void)buf_add_char(value, (char)what);
    (void)buf_add_le16(value, (uint16_t)name.n);
    (void)buf_add_str(value, name);
}

/* ------------------------------------------------------------------ keys */

bool placed_is_node(struct str node)
{
    for (size_t i = 0; i < node.n; i++) {
        char c = node.p[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
            return false;
    }
    return node.n > 0 && node.n <= PLACED_NAME_MAX;
}

struct str placed_prefix(struct arena *a, struct str node, struct str ns)
{
    return str_of(arena_printf(a, PLACED_PREFIX STR_FMT "/" STR_FMT "%s", STR_ARG(node),
                               STR_ARG(ns), ns.n ? "/" : ""));
}

struct str placed_namespace(struct str key, struct str node)
{
    struct str rest = str_slice(key, sizeof PLACED_PREFIX + node.n, key.n), ns, name;
    (void)str_cut(rest, '/', &ns, &name);
    return ns;
}

/* ------------------------------------------------------------------ writes */

/* The entry of a pod; false: no entry. */
static bool entry_of(struct arena *a, struct str key, const struct json *pod, struct str *ret_key,
                     struct str *ret_value)
{
    struct str node = json_str(json_path(pod, "spec", "nodeName", NULL));
    if (!placed_is_node(node))
        return false;
    scoped(buf_fini_scoped) struct buf value = BUF_INIT(PLACED_VALUE_MAX);
    (void)buf_add_char(&value, '1');
    if (!kind_pod_is_mirror(pod))
        kind_pod_references(a, pod, add_reference, &value);
    *ret_key = str_of(arena_printf(a, PLACED_PREFIX STR_FMT "/" STR_FMT, STR_ARG(node),
                                   STR_ARG(str_slice(key, sizeof PODS - 1, key.n))));
    assert(value.n <= PLACED_VALUE_MAX && buf_ok(&value));
    *ret_value = str_copy_arena(a, buf_str(&value));
    return true;
}

void placed_ops(struct arena *a, struct str key, const struct json *old, const struct json *obj,
                struct store_op *ops, size_t *n)
{
    struct str was, was_value, is, is_value;
    if (!str_has_prefix(key, STR(PODS)))
        return;
    bool had = entry_of(a, key, old, &was, &was_value);
    bool has = entry_of(a, key, obj, &is, &is_value);
    bool moved = had && has && !str_eq(was, is);
    assert(*n + PLACED_OPS_MAX <= STORE_TXN_MAX_OPS);
    if (had && (!has || moved))
        ops[(*n)++] = (struct store_op){ .kind = STORE_DELETE, .key = was };
    if (has && (!had || moved || !str_eq(was_value, is_value)))
        ops[(*n)++] = (struct store_op){ .kind = STORE_PUT, .key = is, .value = is_value };
}
