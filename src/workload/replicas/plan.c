/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/replicas/plan.h"

#include "workload/frame/condition.h"

#include <stdlib.h>

struct replicas_need replicas_need(int64_t wanted, size_t n_active)
{
    int64_t missing = wanted - (int64_t)n_active;
    return (struct replicas_need){ .n_create = (size_t)MIN(MAX(missing, 0), REPLICAS_BURST),
                                   .n_delete = (size_t)MIN(MAX(-missing, 0), REPLICAS_BURST) };
}

/* ---------------------------------------------------------------- ranks */

struct ranked_pod {
    struct workload_claim claim;
    size_t n_beside; /* related pods on its node */
};

/* Like Go's comparison functions: whether a goes before b. */
enum ranked_order { RANKED_BEFORE = -1, RANKED_SAME, RANKED_AFTER };

static int lower_first(int64_t a, int64_t b)
{
    return a < b ? RANKED_BEFORE : a > b ? RANKED_AFTER : RANKED_SAME;
}

static int log2_of(int64_t from_s, int64_t now_ms)
{
    int64_t age_ms = now_ms - from_s * 1000;
    if (age_ms <= 0)
        return -1;
    return 63 - __builtin_clzll((uint64_t)age_ms * 1000000); /* in nanoseconds, as upstream's */
}

/* Later before earlier, unknown first; about the same age: by uid. */
static int younger_first(const struct ranked_pod *a, const struct ranked_pod *b, int64_t at_a,
                         int64_t at_b, int64_t now_ms)
{
    if (at_a == at_b)
        return RANKED_SAME;
    if (at_a == 0 || at_b == 0)
        return at_a == 0 ? RANKED_BEFORE : RANKED_AFTER;
    int by_age = lower_first(log2_of(at_a, now_ms), log2_of(at_b, now_ms));
    return by_age ? by_age : str_cmp(a->claim.uid, b->claim.uid);
}

static int compare_pods(const void *va, const void *vb, void *now)
{
    const struct ranked_pod *a = va, *b = vb;
    const struct workload_pod *p = workload_pod_of(&a->claim), *q = workload_pod_of(&b->claim);
    int64_t now_ms = *(const int64_t *)now;
    int r = lower_first(p->node != 0, q->node != 0);
    r = r ? r : lower_first(p->phase, q->phase);
    r = r ? r : lower_first(p->is_ready, q->is_ready);
    r = r ? r : lower_first(p->deletion_cost, q->deletion_cost);
    r = r ? r : lower_first((int64_t)b->n_beside, (int64_t)a->n_beside);
    if (!r && p->is_ready && q->is_ready)
        r = younger_first(a, b, p->ready_since_s, q->ready_since_s, now_ms);
    r = r ? r : lower_first(q->n_restarts, p->n_restarts);
    r = r ? r : younger_first(a, b, p->created_s, q->created_s, now_ms);
    return r ? r : str_cmp(a->claim.uid, b->claim.uid);
}

static int compare_nodes(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* Positions of the first node that is not below `node`, in a sorted array. */
static size_t lower_bound(const uint64_t *nodes, size_t n, uint64_t node)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = low + (n - low) / 2;
        if (nodes[middle] < node)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

static size_t count_node(const uint64_t *nodes, size_t n, uint64_t node)
{
    return node == UINT64_MAX ? 0 : lower_bound(nodes, n, node + 1) - lower_bound(nodes, n, node);
}

void replicas_rank(struct arena *a, struct workload_claim *active, size_t n, size_t n_delete,
                   const struct workload_claims *related, int64_t now_ms)
{
    if (n_delete == 0 || n_delete >= n)
        return;
    struct ranked_pod *pods = arena_new_n(a, struct ranked_pod, n);
    uint64_t *nodes = arena_new_n(a, uint64_t, related->n + 1);
    size_t n_nodes = 0;
    for (size_t i = 0; i < related->n; i++)
        if (workload_pod_is_active(&related->at[i]))
            nodes[n_nodes++] = workload_pod_of(&related->at[i])->node;
    qsort(nodes, n_nodes, sizeof *nodes, compare_nodes);
    for (size_t i = 0; i < n; i++)
        pods[i] = (struct ranked_pod){ active[i], count_node(nodes, n_nodes,
                                                             workload_pod_of(&active[i])->node) };
    qsort_r(pods, n, sizeof *pods, compare_pods, &now_ms);
    for (size_t i = 0; i < n; i++)
        active[i] = pods[i].claim;
}

/* ---------------------------------------------------------------- status */

static bool has_labels(const struct json *labels, const struct json *wanted)
{
    json_each (want, wanted) {
        const struct json *have = json_get(labels, want->key);
        if (!have || !str_eq(json_str(have), json_str(want)))
            return false;
    }
    return true;
}

static void count_ready(struct replicas_counts *c, const struct workload_pod *pod,
                        int64_t min_ready_s, int64_t now_ms)
{
    int64_t left_ms = (pod->ready_since_s + min_ready_s) * 1000 - now_ms;
    c->ready++;
    if (min_ready_s == 0 || (pod->ready_since_s && left_ms <= 0))
        c->available++;
    else if (left_ms > 0 && (!c->again_ms || (uint64_t)left_ms < c->again_ms))
        c->again_ms = (uint64_t)left_ms;
}

struct replicas_counts replicas_count(const struct workload_claims *pods,
                                      const struct json *template_labels, int64_t min_ready_s,
                                      int64_t now_ms)
{
    struct replicas_counts c = { 0 };
    for (size_t i = 0; i < pods->n; i++) {
        const struct workload_claim *claim = &pods->at[i];
        const struct workload_pod *pod = workload_pod_of(claim);
        if (claim->is_deleting && pod->phase != WORKLOAD_SUCCEEDED && pod->phase != WORKLOAD_FAILED)
            c.terminating++;
        if (!workload_pod_is_active(claim))
            continue;
        c.replicas++;
        c.fully_labeled += has_labels(claim->labels, template_labels);
        if (pod->is_ready)
            count_ready(&c, pod, min_ready_s, now_ms);
    }
    return c;
}

struct json *replicas_status(struct arena *a, const struct json *object,
                             const struct replicas_counts *counts, const char *reason,
                             struct str failure, int64_t now_ms)
{
    const struct json *old = json_getc(object, "status");
    struct json *status = old ? json_clone(a, old) : json_new_object(a);
    json_set_int(a, status, "replicas", counts->replicas);
    workload_status_count(a, status, "fullyLabeledReplicas", counts->fully_labeled);
    workload_status_count(a, status, "readyReplicas", counts->ready);
    workload_status_count(a, status, "availableReplicas", counts->available);
    if (str_is(json_get_str(object, "kind"), "ReplicaSet"))
        json_set_int(a, status, "terminatingReplicas", counts->terminating);
    workload_status_count(a, status, "observedGeneration",
                          json_int_or(json_path(object, "metadata", "generation", NULL), 0));
    if (!failure.n)
        workload_condition_remove(status, "ReplicaFailure");
    else if (!workload_condition_find(status, "ReplicaFailure"))
        workload_condition_set(a, status,
                               &(struct workload_condition){ .type = "ReplicaFailure",
                                                             .status = "True",
                                                             .reason = reason,
                                                             .message = failure,
                                                             .at_s = now_ms / 1000 });
    return status;
}
