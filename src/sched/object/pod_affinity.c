/* SPDX-License-Identifier: Apache-2.0 */
/* Affinity and topology spread of a pod. */
#include "sched/object/pack.h"

static int read_namespaces(struct intern_table *w, struct arena *a, const struct json *term,
                           struct sched_pod *p, struct sched_affinity_term *t, struct err *err)
{
    const struct json *names = json_getc(term, "namespaces");
    json_each (m, names)
        if (m->type != JSON_STRING)
            return err_set(err, E_INVALID, "namespaces: not a string");
    if (!json_first(names) && !json_is(json_getc(term, "namespaceSelector"), JSON_OBJECT)) {
        t->namespaces = SCHED_ARRAY(a, struct intern *, 1);
        t->namespaces[t->n_namespaces++] = intern_ref(p->namespace_word);
        return 0;
    }
    t->namespaces = SCHED_ARRAY(a, struct intern *, names ? names->n : 0);
    json_each (m, names)
        t->namespaces[t->n_namespaces++] = intern_get(w, json_str(m));
    return 0;
}

static int read_term(struct intern_table *w, struct arena *a, const struct json *term,
                     struct sched_pod *p, struct sched_affinity_term *t, struct err *err)
{
    t->selector.nothing = t->namespace_selector.nothing = true;
    int r = sched_selector_read_in(w, a, json_getc(term, "labelSelector"), &t->selector, err);
    if (r < 0)
        return err_ctx(err, r, "labelSelector");
    sched_selector_merge_keys(w, a, &t->selector, json_getc(term, "matchLabelKeys"), SCHED_IN,
                              &p->labels);
    sched_selector_merge_keys(w, a, &t->selector, json_getc(term, "mismatchLabelKeys"),
                              SCHED_NOT_IN, &p->labels);
    r = sched_selector_read_in(w, a, json_getc(term, "namespaceSelector"), &t->namespace_selector,
                               err);
    if (r < 0)
        return err_ctx(err, r, "namespaceSelector");
    t->topology_key = intern_get(w, json_get_str(term, "topologyKey"));
    return read_namespaces(w, a, term, p, t, err);
}

static int read_weighted(struct intern_table *w, struct arena *a, const struct json *m,
                         struct sched_pod *p, struct sched_affinity_term *t, struct err *err)
{
    int64_t weight;
    if (json_int(json_getc(m, "weight"), &weight) < 0 || weight < 0 || weight > 100)
        return err_set(err, E_INVALID, "weight: must be in the range 1-100");
    t->weight = (int32_t)weight;
    return read_term(w, a, json_getc(m, "podAffinityTerm"), p, t, err);
}

static int read_terms(struct intern_table *w, struct arena *a, const struct json *list,
                      bool is_weighted, struct sched_pod *p, struct sched_affinity_terms *ret,
                      struct err *err)
{
    if (!json_first(list))
        return 0;
    ret->p = SCHED_ARRAY(a, struct sched_affinity_term, list->n);
    json_each (m, list) {
        struct sched_affinity_term *t = &ret->p[ret->n++];
        int r = is_weighted ? read_weighted(w, a, m, p, t, err) : read_term(w, a, m, p, t, err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int read_node_affinity(struct intern_table *w, struct arena *a, const struct json *node,
                              struct sched_pod *p, struct err *err)
{
    const struct json *required = json_getc(node, "requiredDuringSchedulingIgnoredDuringExecution");
    p->has_required_node_affinity = json_is(required, JSON_OBJECT);
    int r = sched_node_terms_read_in(w, a, json_getc(required, "nodeSelectorTerms"),
                                     &p->required_node, err);
    if (r >= 0)
        r = sched_node_terms_read_in(
            w, a, json_getc(node, "preferredDuringSchedulingIgnoredDuringExecution"),
            &p->preferred_node, err);
    return r < 0 ? err_ctx(err, r, "spec.affinity.nodeAffinity") : 0;
}

int sched_pod_read_affinity(struct intern_table *w, struct arena *a, const struct json *affinity,
                            struct sched_pod *p, struct err *err)
{
    if (!json_is(affinity, JSON_OBJECT))
        return 0;
    int r = read_node_affinity(w, a, json_getc(affinity, "nodeAffinity"), p, err);
    struct {
        const char *name;
        struct sched_affinity_terms *required, *preferred;
    } of[] = {
        { "podAffinity", &p->required_affinity, &p->preferred_affinity },
        { "podAntiAffinity", &p->required_anti, &p->preferred_anti },
    };
    for (size_t i = 0; r >= 0 && i < ARRAY_LEN(of); i++) {
        const struct json *kind = json_getc(affinity, of[i].name);
        r = read_terms(w, a, json_getc(kind, "requiredDuringSchedulingIgnoredDuringExecution"),
                       false, p, of[i].required, err);
        if (r >= 0)
            r = read_terms(w, a, json_getc(kind, "preferredDuringSchedulingIgnoredDuringExecution"),
                           true, p, of[i].preferred, err);
        if (r < 0)
            return err_ctx(err, r, "spec.affinity.%s", of[i].name);
    }
    return r;
}

static int read_spread(struct intern_table *w, struct arena *a, const struct json *m,
                       struct sched_pod *p, struct sched_spread *s, struct err *err)
{
    int64_t skew = json_int_or(json_getc(m, "maxSkew"), 0);
    int64_t domains = json_int_or(json_getc(m, "minDomains"), 1);
    s->selector.nothing = true;
    if (skew < 1 || skew > INT32_MAX)
        return err_set(err, E_INVALID, "maxSkew: must be greater than zero");
    if (domains < 1 || domains > INT32_MAX)
        return err_set(err, E_INVALID, "minDomains: must be greater than 0");
    s->max_skew = (int32_t)skew;
    s->min_domains = (int32_t)domains;
    s->do_not_schedule = !str_eq(json_get_str(m, "whenUnsatisfiable"), STR("ScheduleAnyway"));
    s->honors_affinity = !str_eq(json_get_str(m, "nodeAffinityPolicy"), STR("Ignore"));
    s->honors_taints = str_eq(json_get_str(m, "nodeTaintsPolicy"), STR("Honor"));
    s->topology_key = intern_get(w, json_get_str(m, "topologyKey"));
    int r = sched_selector_read_in(w, a, json_getc(m, "labelSelector"), &s->selector, err);
    if (r >= 0)
        sched_selector_merge_keys(w, a, &s->selector, json_getc(m, "matchLabelKeys"), SCHED_IN,
                                  &p->labels);
    return r;
}

int sched_pod_read_spreads(struct intern_table *w, struct arena *a, const struct json *spreads,
                           struct sched_pod *p, struct err *err)
{
    if (!json_first(spreads))
        return 0;
    p->spreads = SCHED_ARRAY(a, struct sched_spread, spreads->n);
    json_each (m, spreads) {
        int r = read_spread(w, a, m, p, &p->spreads[p->n_spreads++], err);
        if (r < 0)
            return err_ctx(err, r, "spec.topologySpreadConstraints[%u]", p->n_spreads - 1);
    }
    return 0;
}
