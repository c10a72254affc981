/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/daemonset/node_fit.h"

/* ---------------------------------------------------------------- taints */

static bool tolerates(const struct json *toleration, const struct json *taint)
{
    struct str effect = json_get_str(toleration, "effect"), key = json_get_str(toleration, "key");
    if (effect.n && !str_eq(effect, json_get_str(taint, "effect")))
        return false;
    if (key.n && !str_eq(key, json_get_str(taint, "key")))
        return false;
    if (str_is(json_get_str(toleration, "operator"), "Exists"))
        return true;
    return key.n && str_eq(json_get_str(toleration, "value"), json_get_str(taint, "value"));
}

static bool is_tolerated(const struct json *tolerations, const struct json *taint)
{
    json_each (t, tolerations)
        if (tolerates(t, taint))
            return true;
    return false;
}

/* Whether a taint with this effect keeps the pod away. */
static bool is_kept_away(const struct json *tolerations, const struct json *taints,
                         const char *effect)
{
    json_each (taint, taints)
        if (str_is(json_get_str(taint, "effect"), effect) && !is_tolerated(tolerations, taint))
            return true;
    return false;
}

static void add_toleration(struct arena *a, struct json *list, const char *key, const char *effect)
{
    struct json *t = json_new_object(a);
    json_set_str(a, t, "key", str_of(key));
    json_set_str(a, t, "operator", STR("Exists"));
    json_set_str(a, t, "effect", str_of(effect));
    json_add(list, t);
}

void daemonset_add_tolerations(struct arena *a, struct json *pod_spec)
{
    static const struct {
        const char *key, *effect;
    } rows[] = { { "node.kubernetes.io/not-ready", "NoExecute" },
                 { "node.kubernetes.io/unreachable", "NoExecute" },
                 { "node.kubernetes.io/disk-pressure", "NoSchedule" },
                 { "node.kubernetes.io/memory-pressure", "NoSchedule" },
                 { "node.kubernetes.io/pid-pressure", "NoSchedule" },
                 { "node.kubernetes.io/unschedulable", "NoSchedule" } };
    struct json *list = json_getc(pod_spec, "tolerations");
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, pod_spec, "tolerations", list);
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        add_toleration(a, list, rows[i].key, rows[i].effect);
    if (json_bool(json_getc(pod_spec, "hostNetwork")))
        add_toleration(a, list, "node.kubernetes.io/network-unavailable", "NoSchedule");
}

/* ---------------------------------------------------------------- affinity */

static bool op_of(struct str text, enum selector_op *ret)
{
    static const struct {
        const char *text;
        enum selector_op op;
    } rows[] = { { "In", SELECTOR_IN },         { "NotIn", SELECTOR_NOT_IN },
                 { "Exists", SELECTOR_EXISTS }, { "DoesNotExist", SELECTOR_NOT_EXISTS },
                 { "Gt", SELECTOR_GREATER },    { "Lt", SELECTOR_LESS } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (str_is(text, rows[i].text)) {
            *ret = rows[i].op;
            return true;
        }
    return false;
}

static int compare_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* value NULL: the node has no such label or field. */
static bool matches(struct arena *a, const struct json *expression, const struct str *value)
{
    const struct json *values = json_getc(expression, "values");
    struct selector_req req = { .key = json_get_str(expression, "key"),
                                .values = arena_new_n(a, struct str, values ? values->n + 1 : 1) };
    if (!op_of(json_get_str(expression, "operator"), &req.op))
        return false;
    json_each (v, values)
        req.values[req.n_values++] = json_str(v);
    qsort(req.values, req.n_values, sizeof *req.values, compare_str);
    return selector_req_matches(&req, value);
}

static bool matches_term(struct arena *a, const struct json *term,
                         const struct workload_claim *node)
{
    const struct json *labels = json_getc(term, "matchExpressions");
    const struct json *fields = json_getc(term, "matchFields");
    if (!json_first(labels) && !json_first(fields))
        return false; /* an empty term selects nothing */
    json_each (e, labels) {
        const struct json *label = json_get(node->labels, json_get_str(e, "key"));
        struct str value = json_str(label);
        if (!matches(a, e, label ? &value : NULL))
            return false;
    }
    json_each (e, fields)
        if (!str_is(json_get_str(e, "key"), "metadata.name") || !matches(a, e, &node->name))
            return false;
    return true;
}

static bool matches_affinity(struct arena *a, const struct json *spec,
                             const struct workload_claim *node)
{
    const struct json *required = json_path(spec, "affinity", "nodeAffinity",
                                            "requiredDuringSchedulingIgnoredDuringExecution", NULL);
    json_each (want, json_getc(spec, "nodeSelector")) {
        const struct json *have = json_get(node->labels, want->key);
        if (!have || !str_eq(json_str(have), json_str(want)))
            return false;
    }
    if (!required)
        return true;
    json_each (term, json_getc(required, "nodeSelectorTerms"))
        if (matches_term(a, term, node))
            return true;
    return false;
}

struct daemon_fit daemonset_node_fit(struct arena *a, const struct json *pod_spec,
                                     const struct workload_claim *node)
{
    const struct json *tolerations = json_getc(pod_spec, "tolerations");
    struct str only = json_get_str(pod_spec, "nodeName");
    if ((only.n && !str_eq(only, node->name)) || !matches_affinity(a, pod_spec, node))
        return (struct daemon_fit){ false, false };
    bool may_stay = !is_kept_away(tolerations, node->detail, "NoExecute");
    return (struct daemon_fit){ may_stay && !is_kept_away(tolerations, node->detail, "NoSchedule"),
                                may_stay };
}
