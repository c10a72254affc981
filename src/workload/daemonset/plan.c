/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/daemonset/plan.h"

#include "workload/frame/condition.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- reading */

/* Both round up, as upstream has it for DaemonSets. */
static int64_t amount_of(const struct json *v, int64_t of)
{
    struct str text = json_str(v);
    uint64_t percent = 0;
    if (!text.n)
        return json_int_or(v, 0);
    if (parse_u64(str_slice(text, 0, text.n - 1), 0, INT32_MAX, &percent) < 0)
        return 0;
    return ((int64_t)percent * of + 99) / 100;
}

static uint64_t node_of(const struct workload_pod *pod)
{
    return pod->node ? pod->node : pod->node_wanted;
}

static int oldest_first(const void *va, const void *vb)
{
    const struct daemon_pod *a = *(struct daemon_pod *const *)va;
    const struct daemon_pod *b = *(struct daemon_pod *const *)vb;
    if (a->facts->created_s != b->facts->created_s)
        return a->facts->created_s < b->facts->created_s ? -1 : 1;
    return str_cmp(a->claim->name, b->claim->name);
}

static void read_pod(struct daemon_plan *p, struct daemon_pod *pod, struct str hash,
                     int64_t min_ready_s, int64_t now_ms)
{
    int64_t left_ms = (pod->facts->ready_since_s + min_ready_s) * 1000 - now_ms;
    pod->is_updated = str_eq(json_get_str(pod->claim->labels, DAEMON_HASH_LABEL), hash);
    pod->is_available = pod->facts->is_ready && (min_ready_s == 0 || left_ms <= 0);
    if (pod->facts->is_ready && !pod->is_available &&
        (!p->again_ms || (uint64_t)left_ms < p->again_ms))
        p->again_ms = (uint64_t)left_ms;
}

static int by_node(const void *va, const void *vb)
{
    uint64_t a = node_of((*(struct daemon_pod *const *)va)->facts);
    uint64_t b = node_of((*(struct daemon_pod *const *)vb)->facts);
    return a != b ? (a < b ? -1 : 1) : oldest_first(va, vb);
}

/* All pods, those of a node together and the oldest of them first. */
static struct daemon_pod **sort_pods(struct arena *a, struct daemon_plan *p)
{
    struct daemon_pod **sorted = arena_new_n(a, struct daemon_pod *, p->n_pods + 1);
    for (size_t i = 0; i < p->n_pods; i++)
        sorted[i] = &p->pods[i];
    qsort(sorted, p->n_pods, sizeof *sorted, by_node);
    return sorted;
}

static void read_node(struct arena *a, struct daemon_plan *p, struct daemon_node *node,
                      struct daemon_pod **sorted, const struct json *spec)
{
    uint64_t hash = workload_node_hash(node->claim->name);
    size_t low = 0, high = p->n_pods;
    node->fit = daemonset_node_fit(a, spec, node->claim);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node_of(sorted[middle]->facts) < hash)
            low = middle + 1;
        else
            high = middle;
    }
    node->pods = sorted + low;
    while (low + node->n < p->n_pods && node_of(node->pods[node->n]->facts) == hash)
        node->pods[node->n++]->has_node = true;
}

struct daemon_plan *daemonset_read(struct arena *a, const struct json *object,
                                   const struct json *template_spec,
                                   const struct workload_claims *nodes,
                                   const struct workload_claims *pods, struct str hash,
                                   int64_t now_ms)
{
    const struct json *spec = json_getc(object, "spec");
    const struct json *strategy = json_getc(spec, "updateStrategy");
    const struct json *rolling = json_getc(strategy, "rollingUpdate");
    int64_t n_wanted = 0, min_ready_s = json_int_or(json_getc(spec, "minReadySeconds"), 0);
    struct daemon_plan *p = arena_new(a, struct daemon_plan);
    p->pods = arena_new_n(a, struct daemon_pod, pods->n + 1);
    for (size_t i = 0; i < pods->n; i++) {
        struct daemon_pod *pod = &p->pods[p->n_pods++];
        *pod = (struct daemon_pod){ .claim = &pods->at[i], .facts = workload_pod_of(&pods->at[i]) };
        read_pod(p, pod, hash, min_ready_s, now_ms);
    }
    struct daemon_pod **sorted = sort_pods(a, p);
    p->nodes = arena_new_n(a, struct daemon_node, nodes->n + 1);
    for (size_t i = 0; i < nodes->n; i++) {
        struct daemon_node *node = &p->nodes[p->n++];
        node->claim = &nodes->at[i];
        read_node(a, p, node, sorted, template_spec);
        n_wanted += node->fit.should_run;
    }
    p->is_rolling = str_is(json_get_str(strategy, "type"), "RollingUpdate");
    p->surge = p->is_rolling ? amount_of(json_getc(rolling, "maxSurge"), n_wanted) : 0;
    p->unavailable = p->is_rolling ? amount_of(json_getc(rolling, "maxUnavailable"), n_wanted) : 0;
    if (p->surge == 0 && p->unavailable == 0)
        p->unavailable = 1;
    return p;
}

/* ---------------------------------------------------------------- manage */

static void remove_pod(struct daemon_plan *p, struct daemon_pod *pod)
{
    if (pod->is_removed || pod->claim->is_deleting || p->n_delete >= DAEMON_BURST)
        return;
    pod->is_removed = true;
    p->n_delete++;
}

static void add_pod(struct daemon_plan *p, struct daemon_node *node)
{
    if (node->needs_pod || p->n_create >= DAEMON_BURST)
        return;
    node->needs_pod = true;
    p->n_create++;
}

/* A pod that has ended is replaced, after a while if it failed. */
static void replace_ended(struct daemon_plan *p, struct daemon_pod *pod, int64_t now_ms)
{
    int64_t left_ms = pod->facts->finished_s * 1000 + DAEMON_FAILED_WAIT_MS - now_ms;
    if (left_ms <= 0 || pod->facts->phase == WORKLOAD_SUCCEEDED)
        remove_pod(p, pod);
    else if (!p->again_ms || (uint64_t)left_ms < p->again_ms)
        p->again_ms = (uint64_t)left_ms;
}

/* With a surge a node may have two pods: one of the template before, until the new one serves. */
static void keep_two(struct daemon_plan *p, struct daemon_pod *const *running, size_t n)
{
    struct daemon_pod *new = NULL, *old = NULL;
    for (size_t i = 0; i < n; i++) {
        struct daemon_pod **kept = running[i]->is_updated ? &new : &old;
        if (*kept)
            remove_pod(p, running[i]);
        else
            *kept = running[i];
    }
    if (new &&old && (!old->facts->is_ready || new->is_available))
        remove_pod(p, old);
}

static void manage_node(struct daemon_plan *p, struct daemon_node *node, int64_t now_ms)
{
    size_t n = 0;
    if (node->n == 0) {
        if (node->fit.should_run)
            add_pod(p, node);
        return;
    }
    struct daemon_pod *kept[DAEMON_BURST];
    for (size_t i = 0; i < node->n; i++) {
        struct daemon_pod *pod = node->pods[i];
        bool has_ended = pod->facts->phase >= WORKLOAD_SUCCEEDED;
        if (!node->fit.may_stay)
            remove_pod(p, pod);
        else if (has_ended && !pod->claim->is_deleting)
            replace_ended(p, pod, now_ms);
        else if (!has_ended && !pod->claim->is_deleting && n < ARRAY_LEN(kept))
            kept[n++] = pod;
    }
    if (p->surge > 0)
        keep_two(p, kept, n);
    for (size_t i = 1; p->surge == 0 && i < n; i++)
        remove_pod(p, kept[i]);
}

void daemonset_manage(struct daemon_plan *p, int64_t now_ms)
{
    for (size_t i = 0; i < p->n; i++)
        manage_node(p, &p->nodes[i], now_ms);
    for (size_t i = 0; i < p->n_pods; i++)
        if (!p->pods[i].has_node && !p->pods[i].facts->node && p->pods[i].facts->node_wanted)
            remove_pod(p, &p->pods[i]); /* it waits for a node that is gone */
}

/* ---------------------------------------------------------------- roll */

struct daemon_pair {
    struct daemon_pod *new, *old;
    bool is_clear; /* at most one of each */
};

static struct daemon_pair pair_of(const struct daemon_node *node)
{
    struct daemon_pair pair = { .is_clear = true };
    for (size_t i = 0; i < node->n; i++) {
        struct daemon_pod *pod = node->pods[i];
        struct daemon_pod **at = pod->is_updated ? &pair.new : &pair.old;
        if (pod->claim->is_deleting || pod->is_removed)
            continue;
        pair.is_clear = pair.is_clear && !*at;
        *at = pod;
    }
    return pair;
}

/* First old pods that are not available, then others while not too many are missing. */
static void roll_by_deleting(struct arena *a, struct daemon_plan *p)
{
    struct daemon_pod **candidates = arena_new_n(a, struct daemon_pod *, p->n + 1);
    size_t n = 0;
    int64_t n_missing = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!p->nodes[i].fit.should_run)
            continue;
        struct daemon_pair pair = pair_of(&p->nodes[i]);
        bool serves = pair.new ? pair.new->is_available : pair.old &&pair.old->is_available;
        n_missing += !pair.is_clear || !serves;
        if (!pair.is_clear || pair.new || !pair.old)
            continue;
        if (serves)
            candidates[n++] = pair.old;
        else
            remove_pod(p, pair.old);
    }
    for (size_t i = 0; i < n && n_missing < p->unavailable; i++, n_missing++)
        remove_pod(p, candidates[i]);
}

static void roll_by_adding(struct arena *a, struct daemon_plan *p)
{
    struct daemon_node **candidates = arena_new_n(a, struct daemon_node *, p->n + 1);
    size_t n = 0;
    int64_t n_surging = 0;
    for (size_t i = 0; i < p->n; i++) {
        struct daemon_node *node = &p->nodes[i];
        struct daemon_pair pair = pair_of(node);
        if (!node->fit.should_run)
            continue;
        n_surging += !pair.is_clear || (pair.new &&pair.old);
        if (!pair.is_clear || pair.new || !pair.old)
            continue;
        if (pair.old->is_available)
            candidates[n++] = node;
        else
            add_pod(p, node);
    }
    for (size_t i = 0; i < n && n_surging < p->surge; i++, n_surging++)
        add_pod(p, candidates[i]);
}

void daemonset_roll(struct arena *a, struct daemon_plan *p)
{
    if (!p->is_rolling)
        return;
    if (p->surge > 0)
        roll_by_adding(a, p);
    else
        roll_by_deleting(a, p);
}

/* ---------------------------------------------------------------- status */

struct json *daemonset_status(struct arena *a, const struct json *object,
                              const struct daemon_plan *p)
{
    const struct json *old = json_getc(object, "status");
    struct json *status = old ? json_clone(a, old) : json_new_object(a);
    int64_t wanted = 0, current = 0, ready = 0, available = 0, updated = 0, misplaced = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct daemon_node *node = &p->nodes[i];
        const struct daemon_pod *first = node->n ? node->pods[0] : NULL;
        wanted += node->fit.should_run;
        misplaced += !node->fit.should_run && first;
        if (!node->fit.should_run || !first)
            continue;
        current++;
        ready += first->facts->is_ready;
        available += first->is_available;
        updated += first->is_updated;
    }
    json_set_int(a, status, "currentNumberScheduled", current);
    json_set_int(a, status, "numberMisscheduled", misplaced);
    json_set_int(a, status, "desiredNumberScheduled", wanted);
    json_set_int(a, status, "numberReady", ready);
    workload_status_count(a, status, "observedGeneration",
                          json_int_or(json_path(object, "metadata", "generation", NULL), 0));
    workload_status_count(a, status, "updatedNumberScheduled", updated);
    workload_status_count(a, status, "numberAvailable", available);
    workload_status_count(a, status, "numberUnavailable", wanted - available);
    return status;
}
