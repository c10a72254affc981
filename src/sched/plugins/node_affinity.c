/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeAffinity: a pod's nodeSelector and node affinity, and the affinity that the configuration
 * adds to every pod (addedAffinity).
 */
#include "sched/plugins/native.h"

#define NAME "NodeAffinity"

SCHED_REFUSAL(no_match, NAME, SCHED_UNRESOLVABLE,
              "node(s) didn't match Pod's node affinity/selector");
SCHED_REFUSAL(not_enforced, NAME, SCHED_UNRESOLVABLE,
              "node(s) didn't match scheduler-enforced node affinity");
SCHED_REFUSAL(conflict, NAME, SCHED_UNRESOLVABLE, "pod affinity terms conflict");

struct node_affinity {
    struct sched_plugin plugin;
    bool has_added;
    struct sched_node_terms added, added_preferred;
};
static const struct node_affinity *affinity_of(const struct sched_plugin *p)
{
    return container_of(p, struct node_affinity, plugin);
}

/* ---- filter ---- */

static bool is_required(const struct sched_requirement *r)
{
    return r->op == SCHED_IN;
}

static bool has_word(const struct sched_requirement *r, const struct intern *word)
{
    for (uint32_t i = 0; i < r->n_values; i++)
        if (r->values[i] == word)
            return true;
    return false;
}

/* Does a term name nodes by its fields? It allows the nodes that all of these requirements name. */
static bool names_nodes(const struct sched_node_term *t, const struct sched_requirement **ret_first)
{
    for (uint32_t i = 0; i < t->n_fields; i++)
        if (is_required(&t->fields[i])) {
            *ret_first = &t->fields[i];
            return true;
        }
    return false;
}

static bool all_name(const struct sched_node_term *t, const struct intern *word)
{
    for (uint32_t i = 0; i < t->n_fields; i++)
        if (is_required(&t->fields[i]) && !has_word(&t->fields[i], word))
            return false;
    return true;
}

static bool is_in_set(const struct sched_node_set *set, struct str name)
{
    for (uint32_t i = 0; i < set->n; i++)
        if (str_eq(set->names[i], name))
            return true;
    return false;
}

/* The nodes that the terms name, if every term names some. */
static const struct sched_status *named_nodes(struct arena *a, const struct sched_node_terms *terms,
                                              struct sched_node_set *ret)
{
    size_t most = 0;
    const struct sched_requirement *first;
    for (uint32_t i = 0; i < terms->n; i++) {
        if (!names_nodes(&terms->p[i], &first))
            return NULL;
        most += first->n_values;
    }
    struct sched_node_set set = { .names = arena_new_n(a, struct str, most) };
    for (uint32_t i = 0; i < terms->n; i++) {
        (void)names_nodes(&terms->p[i], &first);
        for (uint32_t v = 0; v < first->n_values; v++) {
            struct str name = intern_str(first->values[v]);
            if (all_name(&terms->p[i], first->values[v]) && !is_in_set(&set, name))
                set.names[set.n++] = name;
        }
    }
    if (set.n == 0)
        return &conflict;
    *ret = set;
    return NULL;
}

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    const struct sched_pod *pod = cycle->pod;
    if (!pod->has_required_node_affinity && !affinity_of(p)->has_added && pod->node_selector.n == 0)
        return &sched_skip;
    if (!pod->has_required_node_affinity || pod->required_node.n == 0)
        return NULL;
    return named_nodes(cycle->arena, &pod->required_node, ret);
}

static bool matches(const struct sched_pod *pod, const struct sched_node *node)
{
    return sched_selector_matches(&pod->node_selector, &node->labels) &&
           (!pod->has_required_node_affinity || sched_node_terms_match(&pod->required_node, node));
}

static bool is_enforced(const struct sched_plugin *p, const struct sched_node *node)
{
    const struct node_affinity *a = affinity_of(p);
    return !a->has_added || sched_node_terms_match(&a->added, node);
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    if (!is_enforced(p, node->node))
        return &not_enforced;
    return matches(cycle->pod, node->node) ? NULL : &no_match;
}

/* ---- score ---- */

static const struct sched_status *pre_score(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n)
{
    return cycle->pod->preferred_node.n == 0 && affinity_of(p)->added_preferred.n == 0 ? &sched_skip
                                                                                       : NULL;
}

static void add_weights(const struct sched_node_terms *terms,
                        const struct sched_node_info *const *nodes, size_t n, int64_t *sums)
{
    for (uint32_t t = 0; t < terms->n; t++) {
        if (terms->p[t].weight == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            if (sched_node_term_matches(&terms->p[t], nodes[i]->node))
                sums[i] += terms->p[t].weight;
    }
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    memset(ret, 0, n * sizeof *ret);
    add_weights(&affinity_of(p)->added_preferred, nodes, n, ret);
    add_weights(&cycle->pod->preferred_node, nodes, n, ret);
    return NULL;
}

static const struct sched_status *normalize(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n,
                                            int64_t *scores)
{
    sched_normalize(scores, n, false);
    return NULL;
}

/* ---- events ---- */

static enum sched_hint on_node(struct sched_plugin *p, const struct sched_pod *pod,
                               const struct sched_event *event)
{
    const struct sched_node *before = sched_event_node(event->before);
    const struct sched_node *after = sched_event_node(event->after);
    if (!after)
        return SCHED_HINT_QUEUE;
    if (!is_enforced(p, after) || !matches(pod, after))
        return SCHED_HINT_SKIP;
    return before && matches(pod, before) ? SCHED_HINT_SKIP : SCHED_HINT_QUEUE;
}

SCHED_EVENTS(events, { SCHED_ON_NODE, SCHED_ADD | SCHED_UPDATE_NODE_LABEL, on_node })

/* ---- life ---- */

static void destroy(struct sched_plugin *p)
{
    struct node_affinity *a = container_of(p, struct node_affinity, plugin);
    sched_node_terms_fini(p->framework->words, &a->added);
    sched_node_terms_fini(p->framework->words, &a->added_preferred);
    free(a);
}

static int read_args(struct node_affinity *a, const struct json *args, struct err *err)
{
    struct intern_table *w = a->plugin.framework->words;
    const struct json *added = json_getc(args, "addedAffinity");
    const struct json *required =
        json_getc(added, "requiredDuringSchedulingIgnoredDuringExecution");
    a->has_added = json_is(required, JSON_OBJECT);
    int r = 0;
    if (a->has_added)
        r = sched_node_terms_read(w, json_getc(required, "nodeSelectorTerms"), &a->added, err);
    if (r < 0)
        return err_ctx(err, r,
                       "parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution");
    const struct json *preferred =
        json_getc(added, "preferredDuringSchedulingIgnoredDuringExecution");
    if (json_is(preferred, JSON_ARRAY))
        r = sched_node_terms_read(w, preferred, &a->added_preferred, err);
    if (r < 0)
        return err_ctx(err, r,
                       "parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution");
    return 0;
}

static int create(const struct sched_plugin_env *env, struct sched_plugin **ret, struct err *err)
{
    struct node_affinity *a = xnew(struct node_affinity);
    a->plugin.framework = env->framework;
    int r = read_args(a, env->args, err);
    if (r < 0) {
        destroy(&a->plugin);
        return r;
    }
    *ret = &a->plugin;
    return 0;
}

const struct sched_plugin_ops sched_node_affinity_ops = {
    .name = NAME,
    .create = create,
    .destroy = destroy,
    .events = events,
    .pre_filter = pre_filter,
    .filter = filter,
    .pre_score = pre_score,
    .score = score,
    .normalize = normalize,
};
