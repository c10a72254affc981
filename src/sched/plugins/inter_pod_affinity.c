/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InterPodAffinity: places pods near to or away from other pods, by their own terms and by the
 * terms of existing pods.
 *
 * Counts come from tallies (tally.h), one for each topology key involved; changes of a dry run are
 * a short list beside them.
 */
#include "sched/plugins/registry.h"

#include "sched/plugins/alike.h"
#include "sched/plugins/tally.h"
#include "sched/plugins/terms.h"

struct affinity_plugin {
    struct sched_plugin p;
    struct intern_table *words;
    struct census *census; /* set by the first cycle */
    uint64_t began;
    int32_t hard_weight;
    bool ignores_preferred; /* those of existing pods, if the pod itself has none */
};

enum inter_pod_affinity_part { PART_AFFINITY, PART_ANTI, PART_EXISTING };

/* Tallies with one topology key each. */
struct asked_counts {
    const struct tally **p;
    uint32_t n;
};
struct inter_pod_affinity_change { /* a change of a dry run */
    enum inter_pod_affinity_part part;
    const struct intern *key, *value;
    int64_t before; /* the sum without it; PART_AFFINITY only */
    int64_t delta;
};
struct affinity_state {
    struct asked_counts affinity, anti, existing; /* existing: only those that are not all 0 */
    bool matches_self;
    struct inter_pod_affinity_change *changes;
    uint32_t n_changes, cap_changes;
    struct asked_counts prefers, about; /* for scores */
};

static const struct sched_status skip = { .code = SCHED_SKIP };
SCHED_STATUS_CONST(refuses_affinity, SCHED_UNRESOLVABLE, "node(s) didn't match pod affinity rules");
SCHED_STATUS_CONST(refuses_anti, SCHED_UNSCHEDULABLE,
                   "node(s) didn't match pod anti-affinity rules");
SCHED_STATUS_CONST(refuses_existing, SCHED_UNSCHEDULABLE,
                   "node(s) didn't satisfy existing pods anti-affinity rules");

static struct affinity_plugin *plugin_of(struct sched_plugin *p)
{
    return container_of(p, struct affinity_plugin, p);
}

static struct census *census_of(struct affinity_plugin *p)
{
    if (!p->census)
        p->census = census_ref(p->p.framework->cache, p->words);
    return p->census;
}

/* ---- counts ---- */

struct inter_pod_affinity_asked {
    struct arena *a;
    struct census *census;
    struct tally_key key; /* without the topology key, which is set for each call */
    bool wants_zero;      /* keep tallies that are all 0 */
    struct asked_counts got;
    const struct intern **keys; /* the keys so far */
    uint32_t n_keys, cap;
};

static void ask(struct inter_pod_affinity_asked *q, const struct intern *topology_key)
{
    if (q->key.kind != TALLY_AFFINITY && !census_has_label(q->census, topology_key))
        return; /* always all 0 */
    for (uint32_t i = 0; i < q->n_keys; i++)
        if (q->keys[i] == topology_key)
            return;
    if (q->n_keys == q->cap) {
        uint32_t cap = q->cap ? q->cap * 2 : 4;
        const struct intern **keys = arena_new_n(q->a, const struct intern *, cap);
        const struct tally **got = arena_new_n(q->a, const struct tally *, cap);
        if (q->n_keys)
            memcpy(keys, q->keys, q->n_keys * sizeof(*keys));
        if (q->got.n)
            memcpy(got, q->got.p, q->got.n * sizeof(*got));
        q->keys = keys;
        q->got.p = got;
        q->cap = cap;
    }
    q->keys[q->n_keys++] = topology_key;
    q->key.topology_key = topology_key;
    const struct tally *t = tally_get(q->census, &q->key);
    if (t && (q->wants_zero || t->n_nonzero > 0))
        q->got.p[q->got.n++] = t;
}

static void ask_terms(struct inter_pod_affinity_asked *q, const struct sched_affinity_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++)
        ask(q, terms->p[i].topology_key);
}

static void ask_keys(struct inter_pod_affinity_asked *q, const struct census_keys *keys)
{
    for (uint32_t i = 0; i < keys->n; i++)
        ask(q, keys->p[i].key);
}

/* A topology key that no node has. */
static const struct intern *missing_label(const struct census *c,
                                          const struct sched_affinity_terms *terms)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (!census_has_label(c, terms->p[i].topology_key))
            return terms->p[i].topology_key;
    return NULL;
}

static struct inter_pod_affinity_asked asked_init(struct affinity_plugin *p,
                                                  struct sched_cycle *cycle, enum tally_kind kind)
{
    return (struct inter_pod_affinity_asked){
        .a = cycle->arena,
        .census = census_of(p),
        .key = { .kind = kind, .nodes.pod = cycle->pod },
        .wants_zero = kind == TALLY_AFFINITY || kind == TALLY_ANTI,
    };
}

static int64_t changed_by(const struct affinity_state *s, enum inter_pod_affinity_part part,
                          const struct intern *key, const struct intern *value)
{
    for (uint32_t i = 0; i < s->n_changes; i++)
        if (s->changes[i].part == part && s->changes[i].key == key && s->changes[i].value == value)
            return s->changes[i].delta;
    return 0;
}

static int64_t sum_in(const struct affinity_state *s, enum inter_pod_affinity_part part,
                      const struct tally *t, uint32_t domain)
{
    int64_t sum = tally_sum(t, domain);
    if (s->n_changes)
        sum += changed_by(s, part, t->topology->key, t->topology->values[domain]);
    return sum;
}

/* ---- filter ---- */

static const struct sched_status *affinity_pre_filter(struct sched_plugin *sp,
                                                      struct sched_cycle *cycle,
                                                      struct sched_node_set *ret)
{
    struct affinity_plugin *p = plugin_of(sp);
    const struct sched_pod *pod = cycle->pod;
    struct affinity_state *s = arena_new(cycle->arena, struct affinity_state);

    sched_cycle_set_state(cycle, sp, s);
    tally_begin(census_of(p), &p->began);
    struct inter_pod_affinity_asked existing = asked_init(p, cycle, TALLY_EXISTING);
    ask_keys(&existing, &p->census->anti_keys);
    s->existing = existing.got;
    if (s->existing.n == 0 && pod->required_affinity.n == 0 && pod->required_anti.n == 0)
        return &skip;
    struct inter_pod_affinity_asked affinity = asked_init(p, cycle, TALLY_AFFINITY);
    const struct intern *missing = missing_label(p->census, &pod->required_affinity);
    if (missing)
        ask(&affinity, missing); /* refuses every node, so the other tallies are not needed */
    else
        ask_terms(&affinity, &pod->required_affinity);
    s->affinity = affinity.got;
    struct inter_pod_affinity_asked anti = asked_init(p, cycle, TALLY_ANTI);
    ask_terms(&anti, &pod->required_anti);
    s->anti = anti.got;
    s->matches_self = terms_match(sp->framework->cache, &pod->required_affinity, pod);
    return NULL;
}

/* Does no pod match the pod's affinity on any node that has one of the labels? */
static bool has_no_match(const struct affinity_state *s)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < s->affinity.n; i++)
        n += s->affinity.p[i]->n_nonzero;
    for (uint32_t i = 0; i < s->n_changes; i++) {
        const struct inter_pod_affinity_change *c = &s->changes[i];
        if (c->part == PART_AFFINITY)
            n += (c->before + c->delta != 0) - (c->before != 0);
    }
    return n == 0;
}

static bool has_affinity(const struct affinity_state *s, const struct sched_node_info *node)
{
    bool is_near = true;

    for (uint32_t i = 0; i < s->affinity.n; i++) {
        uint32_t domain = tally_domain(s->affinity.p[i], node);
        if (domain == 0)
            return false;
        if (sum_in(s, PART_AFFINITY, s->affinity.p[i], domain) <= 0)
            is_near = false;
    }
    /* The first pod of a group with affinity to itself has no pod to be near to. */
    return is_near || (s->matches_self && has_no_match(s));
}

static bool has_any(const struct affinity_state *s, enum inter_pod_affinity_part part,
                    const struct asked_counts *counts, const struct sched_node_info *node)
{
    for (uint32_t i = 0; i < counts->n; i++) {
        uint32_t domain = tally_domain(counts->p[i], node);
        if (domain != 0 && sum_in(s, part, counts->p[i], domain) > 0)
            return true;
    }
    return false;
}

/* Has a dry run added pods with a topology key that no other pod has? */
static bool has_any_added(const struct affinity_state *s, const struct sched_node_info *node)
{
    for (uint32_t i = 0; i < s->n_changes; i++) {
        const struct inter_pod_affinity_change *c = &s->changes[i];
        if (c->part != PART_EXISTING || c->delta <= 0 ||
            sched_label_get(&node->node->labels, c->key) != c->value)
            continue;
        bool is_counted = false;
        for (uint32_t j = 0; j < s->existing.n; j++)
            is_counted = is_counted || s->existing.p[j]->topology->key == c->key;
        if (!is_counted)
            return true;
    }
    return false;
}

static const struct sched_status *affinity_filter(struct sched_plugin *sp,
                                                  struct sched_cycle *cycle,
                                                  const struct sched_node_info *node)
{
    const struct affinity_state *s = sched_cycle_state(cycle, sp);

    if (s->affinity.n > 0 && !has_affinity(s, node))
        return &refuses_affinity;
    if (has_any(s, PART_ANTI, &s->anti, node))
        return &refuses_anti;
    if (has_any(s, PART_EXISTING, &s->existing, node) || has_any_added(s, node))
        return &refuses_existing;
    return NULL;
}

static void change(struct arena *a, struct affinity_state *s,
                   const struct inter_pod_affinity_change *by)
{
    if (by->delta == 0 || !by->value)
        return;
    for (uint32_t i = 0; i < s->n_changes; i++) {
        struct inter_pod_affinity_change *c = &s->changes[i];
        if (c->part != by->part || c->key != by->key || c->value != by->value)
            continue;
        c->delta += by->delta;
        if (c->delta == 0)
            *c = s->changes[--s->n_changes];
        return;
    }
    if (s->n_changes == s->cap_changes) {
        s->cap_changes = s->cap_changes ? s->cap_changes * 2 : 4;
        struct inter_pod_affinity_change *p =
            arena_new_n(a, struct inter_pod_affinity_change, s->cap_changes);
        if (s->n_changes)
            memcpy(p, s->changes, s->n_changes * sizeof(*p));
        s->changes = p;
    }
    s->changes[s->n_changes++] = *by;
}

static void change_counts(struct affinity_plugin *p, struct sched_cycle *cycle,
                          enum inter_pod_affinity_part part, const struct asked_counts *counts,
                          const struct sched_pod *other, const struct sched_node_info *node,
                          int sign)
{
    for (uint32_t i = 0; i < counts->n; i++) {
        const struct tally *t = counts->p[i];
        const struct intern *key = t->topology->key;
        struct inter_pod_affinity_change by = { .part = part,
                                                .key = key,
                                                .value = sched_label_get(&node->node->labels, key),
                                                .before = tally_sum(t, tally_domain(t, node)),
                                                .delta = tally_weigh(p->census, t, other) * sign };
        change(cycle->arena, sched_cycle_state(cycle, &p->p), &by);
    }
}

static void update(struct sched_plugin *sp, struct sched_cycle *cycle,
                   const struct sched_pod *other, const struct sched_node_info *node, int sign)
{
    struct affinity_plugin *p = plugin_of(sp);
    struct affinity_state *s = sched_cycle_state(cycle, sp);

    if (!s || !node->node)
        return;
    const struct sched_labels *labels =
        terms_namespace_labels(p->p.framework->cache, cycle->pod->namespace_word);
    for (uint32_t i = 0; i < other->required_anti.n; i++) {
        const struct sched_affinity_term *t = &other->required_anti.p[i];
        if (!term_matches_with(t, cycle->pod, labels))
            continue;
        struct inter_pod_affinity_change by = { .part = PART_EXISTING,
                                                .key = t->topology_key,
                                                .value = sched_label_get(&node->node->labels,
                                                                         t->topology_key),
                                                .delta = sign };
        change(cycle->arena, s, &by);
    }
    change_counts(p, cycle, PART_AFFINITY, &s->affinity, other, node, sign);
    change_counts(p, cycle, PART_ANTI, &s->anti, other, node, sign);
}

static const struct sched_status *affinity_add_pod(struct sched_plugin *sp,
                                                   struct sched_cycle *cycle,
                                                   const struct sched_pod *other,
                                                   const struct sched_node_info *node)
{
    update(sp, cycle, other, node, 1);
    return NULL;
}

static const struct sched_status *affinity_remove_pod(struct sched_plugin *sp,
                                                      struct sched_cycle *cycle,
                                                      const struct sched_pod *other,
                                                      const struct sched_node_info *node)
{
    update(sp, cycle, other, node, -1);
    return NULL;
}

static void *affinity_clone_state(struct sched_plugin *sp, struct sched_cycle *cycle,
                                  struct sched_cycle *copy)
{
    const struct affinity_state *from = sched_cycle_state(cycle, sp);

    if (!from)
        return NULL;
    struct affinity_state *to = arena_new(copy->arena, struct affinity_state);
    *to = *from;
    to->changes = NULL;
    to->n_changes = to->cap_changes = 0;
    for (uint32_t i = 0; i < from->n_changes; i++)
        change(copy->arena, to, &from->changes[i]);
    return to;
}

/* ---- score ---- */

static const struct sched_status *affinity_pre_score(struct sched_plugin *sp,
                                                     struct sched_cycle *cycle,
                                                     const struct sched_node_info *const *nodes,
                                                     size_t n)
{
    struct affinity_plugin *p = plugin_of(sp);
    const struct sched_pod *pod = cycle->pod;
    struct affinity_state *s = sched_cycle_state(cycle, sp);

    if (p->ignores_preferred && pod->preferred_affinity.n == 0 && pod->preferred_anti.n == 0)
        return &skip;
    if (!s) {
        s = arena_new(cycle->arena, struct affinity_state);
        sched_cycle_set_state(cycle, sp, s);
        tally_begin(census_of(p), &p->began);
    }
    struct inter_pod_affinity_asked prefers = asked_init(p, cycle, TALLY_PREFERS);
    ask_terms(&prefers, &pod->preferred_affinity);
    ask_terms(&prefers, &pod->preferred_anti);
    s->prefers = prefers.got;
    struct inter_pod_affinity_asked about = asked_init(p, cycle, TALLY_ABOUT);
    about.key.hard_weight = p->hard_weight;
    ask_keys(&about, &p->census->score_keys);
    s->about = about.got;
    return s->prefers.n + s->about.n == 0 ? &skip : NULL;
}

static void add_sums(const struct asked_counts *counts, const struct sched_node_info *const *nodes,
                     size_t n, int64_t *scores)
{
    for (uint32_t j = 0; j < counts->n; j++)
        for (size_t i = 0; i < n; i++) {
            uint32_t domain = tally_domain(counts->p[j], nodes[i]);
            if (domain != 0)
                scores[i] += tally_sum(counts->p[j], domain);
        }
}

static const struct sched_status *affinity_score(struct sched_plugin *sp, struct sched_cycle *cycle,
                                                 const struct sched_node_info *const *nodes,
                                                 size_t n, int64_t *ret)
{
    const struct affinity_state *s = sched_cycle_state(cycle, sp);

    memset(ret, 0, n * sizeof(*ret));
    add_sums(&s->prefers, nodes, n, ret);
    add_sums(&s->about, nodes, n, ret);
    return NULL;
}

static const struct sched_status *affinity_normalize(struct sched_plugin *sp,
                                                     struct sched_cycle *cycle,
                                                     const struct sched_node_info *const *nodes,
                                                     size_t n, int64_t *scores)
{
    int64_t min = INT64_MAX, max = INT64_MIN;

    for (size_t i = 0; i < n; i++) {
        min = MIN(min, scores[i]);
        max = MAX(max, scores[i]);
    }
    for (size_t i = 0; i < n; i++)
        scores[i] = max > min ? (int64_t)((double)SCHED_SCORE_MAX *
                                          ((double)(scores[i] - min) / (double)(max - min)))
                              : 0;
    return NULL;
}

/* ---- events ---- */

/* Treats namespaces as if they had no labels, as upstream. */
static bool matches_all(const struct sched_affinity_terms *terms, const struct sched_pod *other)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (!term_matches_with(&terms->p[i], other, NULL))
            return false;
    return terms->n > 0;
}

static bool is_placed(const struct sched_pod *p)
{
    return p->node_name || p->nominated_node.n > 0;
}

static bool pod_helps(const struct sched_pod *pod, const struct sched_pod *before,
                      const struct sched_pod *after)
{
    if (before && after && str_eq(pod->o.uid, after->o.uid))
        return true; /* the pod's own labels have changed */
    if ((before && !is_placed(before)) || (after && !is_placed(after)))
        return false;
    if (before && after)
        return (!matches_all(&pod->required_affinity, before) &&
                matches_all(&pod->required_affinity, after)) ||
               (matches_all(&pod->required_anti, before) &&
                !matches_all(&pod->required_anti, after));
    if (after)
        return matches_all(&pod->required_affinity, after);
    return matches_all(&pod->required_anti, before) || matches_all(&before->required_anti, pod);
}

static enum sched_hint affinity_pod_hint(struct sched_plugin *sp, const struct sched_pod *pod,
                                         const struct sched_event *event)
{
    return pod_helps(pod, sched_pod_of(event->before), sched_pod_of(event->after))
               ? SCHED_HINT_QUEUE
               : SCHED_HINT_SKIP;
}

static bool node_helps(const struct sched_pod *pod, const struct sched_node *before,
                       const struct sched_node *after)
{
    for (uint32_t i = 0; i < pod->required_affinity.n; i++) {
        const struct intern *key = pod->required_affinity.p[i].topology_key;
        const struct intern *had = before ? sched_label_get(&before->labels, key) : NULL;
        const struct intern *has = sched_label_get(&after->labels, key);
        if (has && has != had)
            return true;
    }
    for (uint32_t i = 0; i < pod->required_anti.n; i++) {
        const struct intern *key = pod->required_anti.p[i].topology_key;
        const struct intern *had = before ? sched_label_get(&before->labels, key) : NULL;
        if (!before || (had && had != sched_label_get(&after->labels, key)))
            return true;
    }
    return false;
}

static enum sched_hint affinity_node_hint(struct sched_plugin *sp, const struct sched_pod *pod,
                                          const struct sched_event *event)
{
    if (!event->after)
        return SCHED_HINT_SKIP;
    return node_helps(pod, sched_node_of(event->before), sched_node_of(event->after))
               ? SCHED_HINT_QUEUE
               : SCHED_HINT_SKIP;
}

static const struct sched_event_reg *affinity_events(struct sched_plugin *sp, size_t *ret_n)
{
    static const struct sched_event_reg events[] = {
        { SCHED_ON_POD, SCHED_ADD | SCHED_DELETE | SCHED_UPDATE_POD_LABEL, affinity_pod_hint },
        { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_LABEL, affinity_node_hint },
    };
    *ret_n = ARRAY_LEN(events);
    return events;
}

/* ---- lifecycle ---- */

static void affinity_destroy(struct sched_plugin *sp)
{
    struct affinity_plugin *p = plugin_of(sp);
    census_unref(p->census);
    free(p);
}

static int affinity_create(const struct sched_plugin_env *env, struct sched_plugin **ret,
                           struct err *err)
{
    int64_t weight = json_int_or(json_getc(env->args, "hardPodAffinityWeight"), 1);
    if (weight < 0 || weight > 100)
        return err_set(err, E_INVALID, "hardPodAffinityWeight: not in valid range [0, 100]");
    struct affinity_plugin *p = xnew(struct affinity_plugin);
    p->p = (struct sched_plugin){ .ops = &sched_inter_pod_affinity_ops,
                                  .name = env->name,
                                  .position = env->position,
                                  .framework = env->framework };
    p->words = env->framework->words;
    p->hard_weight = (int32_t)weight;
    p->ignores_preferred = json_bool(json_getc(env->args, "ignorePreferredTermsOfExistingPods"));
    *ret = &p->p;
    return 0;
}

const struct sched_plugin_ops sched_inter_pod_affinity_ops = {
    .name = "InterPodAffinity",
    .create = affinity_create,
    .destroy = affinity_destroy,
    .events = affinity_events,
    .pre_filter = affinity_pre_filter,
    .add_pod = affinity_add_pod,
    .remove_pod = affinity_remove_pod,
    .filter = affinity_filter,
    .pre_score = affinity_pre_score,
    .score = affinity_score,
    .normalize = affinity_normalize,
    .clone_state = affinity_clone_state,
};
