/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PodTopologySpread: no domain has over maxSkew more matching pods than the emptiest one.
 *
 * Counts come from tallies (tally.h); changes of a dry run are a short list beside them.
 */
#include "sched/plugins/registry.h"

#include "sched/plugins/alike.h"
#include "sched/plugins/default_selector.h"
#include "sched/plugins/tally.h"

#include <math.h>

enum { DEFAULT_CONSTRAINTS_MAX = 64 };

struct spread_plugin {
    struct sched_plugin p;
    struct intern_table *words;
    struct census *census; /* set by the first cycle */
    uint64_t began;
    struct intern *hostname;
    struct sched_spread *defaults; /* their selectors are unused */
    uint32_t n_defaults;
    bool is_system_defaulted;
    struct default_selectors selectors; /* for default constraints */
};

/* One constraint of the pod, or a default one with the selector derived for the pod. */
struct pod_topology_spread_rule {
    const struct sched_spread *spread;
    const struct sched_selector *selector;
    const struct tally *tally;
    bool matches_self;
    /* soft */
    bool is_hostname;
    double weight;
};
struct pod_topology_spread_rules {
    struct pod_topology_spread_rule *p;
    uint32_t n;
};
struct pod_topology_spread_change { /* a change of a dry run */
    uint32_t rule, domain;
    int64_t delta;
};
struct spread_state {
    struct pod_topology_spread_rules hard, soft;
    bool refuses_all;  /* a label of the hard constraints is on no node */
    bool requires_all; /* soft: nodes without one of the labels are not scored */
    bool ignores_all;  /* soft: all nodes lack one, so none is scored */
    struct pod_topology_spread_change *changes;
    uint32_t n_changes, cap_changes;
};

static const struct sched_status skip = { .code = SCHED_SKIP };
SCHED_STATUS_CONST(no_match, SCHED_UNSCHEDULABLE,
                   "node(s) didn't match pod topology spread constraints");
SCHED_STATUS_CONST(no_label, SCHED_UNRESOLVABLE,
                   "node(s) didn't match pod topology spread constraints (missing required label)");

static struct spread_plugin *plugin_of(struct sched_plugin *p)
{
    return container_of(p, struct spread_plugin, p);
}

static struct census *census_of(struct spread_plugin *p)
{
    if (!p->census)
        p->census = census_ref(p->p.framework->cache, p->words);
    return p->census;
}

/* ---- constraints of a pod ---- */

/* The hard or the soft constraints of a list. */
struct constraints {
    const struct sched_spread *p;
    uint32_t n;
    bool hard;
    const struct sched_selector *selector; /* for defaults; NULL: each has its own */
};
/* The constraint after `at` (NULL: the first); NULL: no more. */
static const struct sched_spread *next_of(const struct constraints *c,
                                          const struct sched_spread *at)
{
    at = at ? at + 1 : c->p;
    while (at && at < c->p + c->n && at->do_not_schedule != c->hard)
        at++;
    return at && at < c->p + c->n ? at : NULL;
}

static const struct sched_selector *selector_of(const struct constraints *c,
                                                const struct sched_spread *s)
{
    return c->selector ? c->selector : &s->selector;
}

/* The pod's own constraints, else the defaults, if something selects the pod. */
static struct constraints constraints_of(struct spread_plugin *p, struct arena *a,
                                         const struct sched_pod *pod, bool hard)
{
    struct constraints c = { .p = pod->spreads, .n = pod->n_spreads, .hard = hard };

    if (c.n > 0)
        return c;
    c.p = p->defaults;
    for (uint32_t i = 0; i < p->n_defaults && c.n == 0; i++)
        if (p->defaults[i].do_not_schedule == hard)
            c.n = p->n_defaults;
    if (c.n == 0)
        return c;
    c.selector = default_selector(&p->selectors, p->p.framework->cache, a, pod);
    if (c.selector->n == 0)
        c.n = 0;
    return c;
}

static struct pod_topology_spread_rules rules_of(struct spread_plugin *p, struct arena *a,
                                                 const struct sched_pod *pod, bool hard)
{
    struct constraints c = constraints_of(p, a, pod, hard);
    struct pod_topology_spread_rules rules = { 0 };

    for (const struct sched_spread *s = next_of(&c, NULL); s; s = next_of(&c, s))
        rules.n++;
    if (rules.n == 0)
        return rules;
    rules.p = arena_new_n(a, struct pod_topology_spread_rule, rules.n);
    struct pod_topology_spread_rule *r = rules.p;
    for (const struct sched_spread *s = next_of(&c, NULL); s; s = next_of(&c, s))
        *r++ = (struct pod_topology_spread_rule){ .spread = s, .selector = selector_of(&c, s) };
    return rules;
}

static void count_rules(struct spread_plugin *p, struct arena *a, const struct sched_pod *pod,
                        struct pod_topology_spread_rules *rules, bool requires_all)
{
    struct intern **keys = arena_new_n(a, struct intern *, rules->n);
    for (uint32_t i = 0; i < rules->n; i++)
        keys[i] = rules->p[i].spread->topology_key;
    for (uint32_t i = 0; i < rules->n; i++) {
        struct pod_topology_spread_rule *r = &rules->p[i];
        struct tally_key key = {
            .kind = TALLY_SPREAD,
            .topology_key = keys[i],
            .nodes = { .pod = pod,
                       .keys = keys,
                       .n_keys = requires_all ? rules->n : 0,
                       .honors_affinity = r->spread->honors_affinity,
                       .honors_taints = r->spread->honors_taints },
            .selector = r->selector,
            .wants_min = r->spread->do_not_schedule,
            .wants_nodes_alone = !r->spread->do_not_schedule && keys[i] == p->hostname,
        };
        r->tally = tally_get(census_of(p), &key);
        r->matches_self = sched_selector_matches(r->selector, &pod->labels);
    }
}

/* Is there a label that no node has? */
static bool lacks_label(const struct census *c, const struct pod_topology_spread_rules *rules)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (!census_has_label(c, rules->p[i].spread->topology_key))
            return true;
    return false;
}

static bool has_all_labels(const struct pod_topology_spread_rules *rules,
                           const struct sched_node_info *node)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (tally_domain(rules->p[i].tally, node) == 0)
            return false;
    return true;
}

/* ---- filter ---- */

static const struct sched_status *spread_pre_filter(struct sched_plugin *sp,
                                                    struct sched_cycle *cycle,
                                                    struct sched_node_set *ret)
{
    struct spread_plugin *p = plugin_of(sp);
    struct spread_state *s = arena_new(cycle->arena, struct spread_state);

    sched_cycle_set_state(cycle, sp, s);
    tally_begin(census_of(p), &p->began);
    s->hard = rules_of(p, cycle->arena, cycle->pod, true);
    if (s->hard.n == 0)
        return &skip;
    s->refuses_all = lacks_label(p->census, &s->hard);
    if (!s->refuses_all)
        count_rules(p, cycle->arena, cycle->pod, &s->hard, true);
    return NULL;
}

static int64_t changed_by(const struct spread_state *s, uint32_t rule, uint32_t domain)
{
    for (uint32_t i = 0; i < s->n_changes; i++)
        if (s->changes[i].rule == rule && s->changes[i].domain == domain)
            return s->changes[i].delta;
    return 0;
}

/* The smallest count of a domain, including the changes of a dry run. */
static int64_t min_of(const struct spread_state *s, uint32_t rule)
{
    const struct tally *t = s->hard.p[rule].tally;
    uint32_t changed_at_min = 0;
    int64_t min = t->min, changed_min = INT64_MAX;

    for (uint32_t i = 0; i < s->n_changes; i++) {
        const struct pod_topology_spread_change *c = &s->changes[i];
        if (c->rule != rule)
            continue;
        changed_at_min += t->sums[c->domain] == min;
        changed_min = MIN(changed_min, t->sums[c->domain] + c->delta);
    }
    if (changed_at_min < t->n_at_min) /* one unchanged domain is left */
        return MIN(min, changed_min);
    min = changed_min;
    for (uint32_t d = 1; d < t->topology->n_domains; d++)
        if (t->population->nodes[d] != 0 && t->sums[d] < min && changed_by(s, rule, d) == 0)
            min = t->sums[d];
    return min;
}

static const struct sched_status *spread_filter(struct sched_plugin *sp, struct sched_cycle *cycle,
                                                const struct sched_node_info *node)
{
    const struct spread_state *s = sched_cycle_state(cycle, sp);

    /* If a label is on no node, no node counts, and no constraint before this one refuses. */
    if (s->refuses_all)
        return &no_label;
    for (uint32_t i = 0; i < s->hard.n; i++) {
        const struct pod_topology_spread_rule *r = &s->hard.p[i];
        const struct tally *t = r->tally;
        uint32_t domain = tally_domain(t, node);
        if (domain == 0)
            return &no_label;
        int64_t count = t->sums[domain], min = 0;
        if (t->population->n_domains >= (uint32_t)r->spread->min_domains)
            min = s->n_changes ? min_of(s, i) : t->min;
        if (s->n_changes)
            count += changed_by(s, i, domain);
        if (count + r->matches_self - min > r->spread->max_skew)
            return &no_match;
    }
    return NULL;
}

static void change(struct arena *a, struct spread_state *s, uint32_t rule, uint32_t domain,
                   int64_t delta)
{
    for (uint32_t i = 0; i < s->n_changes; i++) {
        struct pod_topology_spread_change *c = &s->changes[i];
        if (c->rule != rule || c->domain != domain)
            continue;
        c->delta += delta;
        if (c->delta == 0)
            *c = s->changes[--s->n_changes];
        return;
    }
    if (s->n_changes == s->cap_changes) {
        s->cap_changes = s->cap_changes ? s->cap_changes * 2 : 4;
        struct pod_topology_spread_change *p =
            arena_new_n(a, struct pod_topology_spread_change, s->cap_changes);
        if (s->n_changes)
            memcpy(p, s->changes, s->n_changes * sizeof(*p));
        s->changes = p;
    }
    s->changes[s->n_changes++] = (struct pod_topology_spread_change){ rule, domain, delta };
}

/* Like upstream, this ignores whether the pod is terminating and whether the selector is empty. */
static void update(struct sched_plugin *sp, struct sched_cycle *cycle,
                   const struct sched_pod *other, const struct sched_node_info *node, int64_t delta)
{
    struct spread_state *s = sched_cycle_state(cycle, sp);

    if (!s || s->refuses_all || !node->node ||
        other->namespace_word != cycle->pod->namespace_word || !has_all_labels(&s->hard, node))
        return;
    for (uint32_t i = 0; i < s->hard.n; i++) {
        const struct pod_topology_spread_rule *r = &s->hard.p[i];
        if (sched_selector_matches(r->selector, &other->labels) && tally_counts(r->tally, node))
            change(cycle->arena, s, i, tally_domain(r->tally, node), delta);
    }
}

static const struct sched_status *spread_add_pod(struct sched_plugin *sp, struct sched_cycle *cycle,
                                                 const struct sched_pod *other,
                                                 const struct sched_node_info *node)
{
    update(sp, cycle, other, node, 1);
    return NULL;
}

static const struct sched_status *spread_remove_pod(struct sched_plugin *sp,
                                                    struct sched_cycle *cycle,
                                                    const struct sched_pod *other,
                                                    const struct sched_node_info *node)
{
    update(sp, cycle, other, node, -1);
    return NULL;
}

static void *spread_clone_state(struct sched_plugin *sp, struct sched_cycle *cycle,
                                struct sched_cycle *copy)
{
    const struct spread_state *from = sched_cycle_state(cycle, sp);

    if (!from)
        return NULL;
    struct spread_state *to = arena_new(copy->arena, struct spread_state);
    *to = *from;
    to->changes = NULL;
    to->n_changes = to->cap_changes = 0;
    for (uint32_t i = 0; i < from->n_changes; i++)
        change(copy->arena, to, from->changes[i].rule, from->changes[i].domain,
               from->changes[i].delta);
    return to;
}

/* ---- score ---- */

/*
 * The number of values of the label on the nodes to be scored; a missing label counts as "".
 */
static uint32_t n_values(struct arena *a, const struct tally *t,
                         const struct sched_node_info *const *nodes, const bool *is_ignored,
                         size_t n)
{
    bool *has = arena_new_n(a, bool, t->topology->n_domains);
    uint32_t count = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t domain = tally_domain(t, nodes[i]);
        if (is_ignored[i])
            continue;
        if (domain == t->topology->empty)
            domain = 0;
        count += !has[domain];
        has[domain] = true;
    }
    return count;
}

static bool is_ignored(const struct spread_state *s, const struct sched_node_info *node)
{
    return s->ignores_all || (s->requires_all && !has_all_labels(&s->soft, node));
}

static const struct sched_status *spread_pre_score(struct sched_plugin *sp,
                                                   struct sched_cycle *cycle,
                                                   const struct sched_node_info *const *nodes,
                                                   size_t n)
{
    struct spread_plugin *p = plugin_of(sp);
    struct spread_state *s = sched_cycle_state(cycle, sp);
    size_t n_all;

    (void)sched_cache_nodes(p->p.framework->cache, &n_all);
    if (n_all == 0)
        return &skip;
    if (!s) {
        s = arena_new(cycle->arena, struct spread_state);
        sched_cycle_set_state(cycle, sp, s);
        tally_begin(census_of(p), &p->began);
    }
    s->requires_all = cycle->pod->n_spreads > 0 || !p->is_system_defaulted;
    s->soft = rules_of(p, cycle->arena, cycle->pod, false);
    if (s->soft.n == 0)
        return &skip;
    s->ignores_all = s->requires_all && lacks_label(p->census, &s->soft);
    if (s->ignores_all)
        return NULL;
    count_rules(p, cycle->arena, cycle->pod, &s->soft, s->requires_all);

    bool *ignored = arena_new_n(cycle->arena, bool, n);
    size_t n_scored = n;
    for (size_t i = 0; i < n; i++) {
        ignored[i] = is_ignored(s, nodes[i]);
        n_scored -= ignored[i];
    }
    for (uint32_t i = 0; i < s->soft.n; i++) {
        struct pod_topology_spread_rule *r = &s->soft.p[i];
        r->is_hostname = r->spread->topology_key == p->hostname;
        size_t size =
            r->is_hostname ? n_scored : n_values(cycle->arena, r->tally, nodes, ignored, n);
        r->weight = log((double)(size + 2));
    }
    return NULL;
}

static int64_t count_for(const struct spread_state *s, const struct pod_topology_spread_rule *r,
                         const struct sched_node_info *node, uint32_t domain)
{
    const struct tally *t = r->tally;
    if (r->is_hostname)
        return tally_on_node(t, node);
    /* Nodes without the label count as "" if they are scored at all, as upstream. */
    bool is_empty = !s->requires_all && domain == t->topology->empty;
    return t->sums[domain] + (is_empty ? t->sums[0] : 0);
}

static const struct sched_status *spread_score(struct sched_plugin *sp, struct sched_cycle *cycle,
                                               const struct sched_node_info *const *nodes, size_t n,
                                               int64_t *ret)
{
    const struct spread_state *s = sched_cycle_state(cycle, sp);

    for (size_t i = 0; i < n; i++) {
        double score = 0;
        ret[i] = 0;
        if (is_ignored(s, nodes[i]))
            continue;
        for (uint32_t j = 0; j < s->soft.n; j++) {
            const struct pod_topology_spread_rule *r = &s->soft.p[j];
            uint32_t domain = tally_domain(r->tally, nodes[i]);
            if (domain != 0)
                score += (double)count_for(s, r, nodes[i], domain) * r->weight +
                         (double)(r->spread->max_skew - 1);
        }
        ret[i] = (int64_t)round(score);
    }
    return NULL;
}

static const struct sched_status *spread_normalize(struct sched_plugin *sp,
                                                   struct sched_cycle *cycle,
                                                   const struct sched_node_info *const *nodes,
                                                   size_t n, int64_t *scores)
{
    const struct spread_state *s = sched_cycle_state(cycle, sp);
    int64_t min = INT64_MAX, max = 0;

    for (size_t i = 0; i < n; i++)
        if (!is_ignored(s, nodes[i])) {
            min = MIN(min, scores[i]);
            max = MAX(max, scores[i]);
        }
    for (size_t i = 0; i < n; i++)
        if (is_ignored(s, nodes[i]))
            scores[i] = 0;
        else if (max == 0)
            scores[i] = SCHED_SCORE_MAX;
        else
            scores[i] = SCHED_SCORE_MAX * (max + min - scores[i]) / max;
    return NULL;
}

/* ---- events ---- */

static bool any_matches(const struct constraints *c, const struct sched_pod *pod)
{
    for (const struct sched_spread *s = next_of(c, NULL); s; s = next_of(c, s))
        if (sched_selector_matches(selector_of(c, s), &pod->labels))
            return true;
    return false;
}

/* Does the pod count, or will it after the change? */
static bool is_involved(const struct sched_pod *other, const struct sched_pod *pod)
{
    if ((other->node_name || other->nominated_node.n > 0) &&
        other->namespace_word == pod->namespace_word)
        return true;
    return str_eq(other->o.uid, pod->o.uid);
}

static bool update_helps(const struct constraints *c, const struct sched_pod *pod,
                         const struct sched_pod *before, const struct sched_pod *after)
{
    if (str_eq(pod->o.uid, after->o.uid) && !alike_tolerations(before, after))
        for (const struct sched_spread *s = next_of(c, NULL); s; s = next_of(c, s))
            if (s->honors_taints)
                return true;
    if (sched_labels_equal(&before->labels, &after->labels))
        return false;
    for (const struct sched_spread *s = next_of(c, NULL); s; s = next_of(c, s))
        if (sched_selector_matches(selector_of(c, s), &before->labels) !=
            sched_selector_matches(selector_of(c, s), &after->labels))
            return true;
    return false;
}

static enum sched_hint spread_pod_hint(struct sched_plugin *sp, const struct sched_pod *pod,
                                       const struct sched_event *event)
{
    const struct sched_pod *before = sched_pod_of(event->before),
                           *after = sched_pod_of(event->after);
    struct arena a = { 0 };
    bool helps;

    if ((after && !is_involved(after, pod)) || (before && !is_involved(before, pod)))
        return SCHED_HINT_SKIP;
    struct constraints c = constraints_of(plugin_of(sp), &a, pod, true);
    if (before && after)
        helps = update_helps(&c, pod, before, after);
    else
        helps = any_matches(&c, before ? before : after);
    arena_fini(&a);
    return helps ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static bool node_has_keys(const struct constraints *c, const struct sched_node *node)
{
    for (const struct sched_spread *s = next_of(c, NULL); s; s = next_of(c, s))
        if (!sched_label_get(&node->labels, s->topology_key))
            return false;
    return true;
}

static bool keys_changed(const struct constraints *c, const struct sched_node *before,
                         const struct sched_node *after)
{
    for (const struct sched_spread *s = next_of(c, NULL); s; s = next_of(c, s)) {
        const struct intern *x = sched_label_get(&before->labels, s->topology_key);
        const struct intern *y = sched_label_get(&after->labels, s->topology_key);
        if (x != y && (intern_str(x).n > 0 || intern_str(y).n > 0))
            return true;
    }
    return false;
}

static enum sched_hint spread_node_hint(struct sched_plugin *sp, const struct sched_pod *pod,
                                        const struct sched_event *event)
{
    const struct sched_node *before = sched_node_of(event->before),
                            *after = sched_node_of(event->after);
    struct arena a = { 0 };
    struct constraints c = constraints_of(plugin_of(sp), &a, pod, true);
    bool had = before && node_has_keys(&c, before), has = after && node_has_keys(&c, after);
    bool helps = had || has;

    if (before && after)
        helps = had != has ||
                (has && (keys_changed(&c, before, after) || !alike_taints(before, after)));
    arena_fini(&a);
    return helps ? SCHED_HINT_QUEUE : SCHED_HINT_SKIP;
}

static const struct sched_event_reg *spread_events(struct sched_plugin *sp, size_t *ret_n)
{
    static const struct sched_event_reg events[] = {
        { SCHED_ON_POD,
          SCHED_ADD | SCHED_DELETE | SCHED_UPDATE_POD_LABEL | SCHED_UPDATE_POD_TOLERATION,
          spread_pod_hint },
        { SCHED_ON_NODE,
          SCHED_ADD | SCHED_DELETE | SCHED_UPDATE_NODE_LABEL | SCHED_UPDATE_NODE_TAINT,
          spread_node_hint },
    };
    *ret_n = ARRAY_LEN(events);
    return events;
}

/* ---- lifecycle ---- */

static void spread_destroy(struct sched_plugin *sp)
{
    struct spread_plugin *p = plugin_of(sp);

    default_selectors_fini(&p->selectors);
    census_unref(p->census);
    for (uint32_t i = 0; i < p->n_defaults; i++)
        intern_unref(p->words, p->defaults[i].topology_key);
    free(p->defaults);
    intern_unref(p->words, p->hostname);
    free(p);
}

static void default_to(struct spread_plugin *p, struct str key, int32_t max_skew)
{
    p->defaults[p->n_defaults++] = (struct sched_spread){
        .topology_key = intern_get(p->words, key),
        .max_skew = max_skew,
        .min_domains = 1,
        .honors_affinity = true,
    };
}

static int read_default(struct spread_plugin *p, const struct json *json, struct err *err)
{
    int64_t skew = json_int_or(json_getc(json, "maxSkew"), 0);
    int64_t min_domains = json_int_or(json_getc(json, "minDomains"), 1);
    if (skew < 1 || skew > INT32_MAX)
        return err_set(err, E_INVALID, "maxSkew: must be greater than zero");
    if (min_domains < 1 || min_domains > INT32_MAX)
        return err_set(err, E_INVALID, "minDomains: must be greater than zero");
    default_to(p, json_get_str(json, "topologyKey"), (int32_t)skew);
    struct sched_spread *s = &p->defaults[p->n_defaults - 1];
    s->min_domains = (int32_t)min_domains;
    s->do_not_schedule = str_is(json_get_str(json, "whenUnsatisfiable"), "DoNotSchedule");
    s->honors_affinity = !str_is(json_get_str(json, "nodeAffinityPolicy"), "Ignore");
    s->honors_taints = str_is(json_get_str(json, "nodeTaintsPolicy"), "Honor");
    return 0;
}

static int read_args(struct spread_plugin *p, const struct json *args, struct err *err)
{
    const struct json *list = json_getc(args, "defaultConstraints");

    p->is_system_defaulted = !str_is(json_get_str(args, "defaultingType"), "List");
    if (p->is_system_defaulted) {
        p->defaults = xnew_n(struct sched_spread, 2);
        default_to(p, STR("kubernetes.io/hostname"), 3);
        default_to(p, STR("topology.kubernetes.io/zone"), 5);
        return 0;
    }
    if (!json_is(list, JSON_ARRAY) || list->n == 0)
        return 0;
    if (list->n > DEFAULT_CONSTRAINTS_MAX)
        return err_set(err, E_INVALID, "defaultConstraints: more than %d", DEFAULT_CONSTRAINTS_MAX);
    p->defaults = xnew_n(struct sched_spread, list->n);
    json_each (constraint, list) {
        int r = read_default(p, constraint, err);
        if (r < 0)
            return err_ctx(err, r, "defaultConstraints[%u]", p->n_defaults);
    }
    return 0;
}

static int spread_create(const struct sched_plugin_env *env, struct sched_plugin **ret,
                         struct err *err)
{
    struct spread_plugin *p = xnew(struct spread_plugin);

    p->p = (struct sched_plugin){ .ops = &sched_pod_topology_spread_ops,
                                  .name = env->name,
                                  .position = env->position,
                                  .framework = env->framework };
    p->words = p->selectors.words = env->framework->words;
    p->hostname = intern_get(p->words, STR("kubernetes.io/hostname"));
    int r = read_args(p, env->args, err);
    if (r < 0) {
        spread_destroy(&p->p);
        return r;
    }
    *ret = &p->p;
    return 0;
}

const struct sched_plugin_ops sched_pod_topology_spread_ops = {
    .name = "PodTopologySpread",
    .create = spread_create,
    .destroy = spread_destroy,
    .events = spread_events,
    .pre_filter = spread_pre_filter,
    .add_pod = spread_add_pod,
    .remove_pod = spread_remove_pod,
    .filter = spread_filter,
    .pre_score = spread_pre_score,
    .score = spread_score,
    .normalize = spread_normalize,
    .clone_state = spread_clone_state,
};
