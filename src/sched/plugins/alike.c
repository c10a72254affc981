/* SPDX-License-Identifier: Apache-2.0 */
/* Equality of pods' constraints; the contract is in alike.h. */
#include "sched/plugins/alike.h"

uint64_t alike_hash_labels(uint64_t h, const struct sched_labels *l)
{
    h = alike_mix(h, l->n);
    for (uint32_t i = 0; i < l->n; i++)
        h = alike_word(alike_word(h, l->p[i].key), l->p[i].value);
    return h;
}

static uint64_t hash_requirements(uint64_t h, const struct sched_requirement *p, uint32_t n)
{
    h = alike_mix(h, n);
    for (uint32_t i = 0; i < n; i++) {
        h = alike_mix(alike_word(h, p[i].key), p[i].op);
        h = alike_mix(alike_mix(h, p[i].n_values), (uint64_t)p[i].bound);
        for (uint32_t j = 0; j < p[i].n_values; j++)
            h = alike_word(h, p[i].values[j]);
    }
    return h;
}

uint64_t alike_hash_selector(uint64_t h, const struct sched_selector *s)
{
    return hash_requirements(alike_mix(h, s->nothing), s->p, s->n);
}

uint64_t alike_hash_affinity(uint64_t h, const struct sched_affinity_terms *terms)
{
    h = alike_mix(h, terms->n);
    for (uint32_t i = 0; i < terms->n; i++) {
        const struct sched_affinity_term *t = &terms->p[i];
        h = alike_hash_selector(h, &t->selector);
        h = alike_hash_selector(h, &t->namespace_selector);
        for (uint32_t j = 0; j < t->n_namespaces; j++)
            h = alike_word(h, t->namespaces[j]);
        h = alike_mix(alike_word(h, t->topology_key), (uint64_t)t->weight);
    }
    return h;
}

uint64_t alike_hash_required_node(uint64_t h, const struct sched_pod *p)
{
    h = alike_hash_selector(h, &p->node_selector);
    h = alike_mix(h, p->has_required_node_affinity);
    for (uint32_t i = 0; i < p->required_node.n; i++) {
        const struct sched_node_term *t = &p->required_node.p[i];
        h = alike_hash_selector(alike_mix(h, t->matches_nothing), &t->labels);
        h = hash_requirements(h, t->fields, t->n_fields);
    }
    return h;
}

uint64_t alike_hash_tolerations(uint64_t h, const struct sched_pod *p)
{
    h = alike_mix(h, p->n_tolerations);
    for (uint32_t i = 0; i < p->n_tolerations; i++) {
        const struct sched_toleration *t = &p->tolerations[i];
        h = alike_word(alike_word(h, t->key), t->value);
        h = alike_mix(h, (uint64_t)t->op << 8 | (t->all_effects ? 0x10u : (unsigned)t->effect));
    }
    return h;
}

static bool alike_requirements(const struct sched_requirement *a, const struct sched_requirement *b,
                               uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].key != b[i].key || a[i].op != b[i].op || a[i].bound != b[i].bound ||
            a[i].n_values != b[i].n_values)
            return false;
        for (uint32_t j = 0; j < a[i].n_values; j++)
            if (a[i].values[j] != b[i].values[j])
                return false;
    }
    return true;
}

bool alike_selectors(const struct sched_selector *a, const struct sched_selector *b)
{
    return a->n == b->n && a->nothing == b->nothing && alike_requirements(a->p, b->p, a->n);
}

static bool alike_terms(const struct sched_affinity_term *a, const struct sched_affinity_term *b)
{
    if (a->topology_key != b->topology_key || a->weight != b->weight ||
        a->n_namespaces != b->n_namespaces)
        return false;
    for (uint32_t i = 0; i < a->n_namespaces; i++)
        if (a->namespaces[i] != b->namespaces[i])
            return false;
    return alike_selectors(&a->selector, &b->selector) &&
           alike_selectors(&a->namespace_selector, &b->namespace_selector);
}

bool alike_affinity(const struct sched_affinity_terms *a, const struct sched_affinity_terms *b)
{
    if (a->n != b->n)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!alike_terms(&a->p[i], &b->p[i]))
            return false;
    return true;
}

bool alike_required_node(const struct sched_pod *a, const struct sched_pod *b)
{
    if (a->has_required_node_affinity != b->has_required_node_affinity ||
        a->required_node.n != b->required_node.n ||
        !alike_selectors(&a->node_selector, &b->node_selector))
        return false;
    for (uint32_t i = 0; i < a->required_node.n; i++) {
        const struct sched_node_term *s = &a->required_node.p[i], *t = &b->required_node.p[i];
        if (s->matches_nothing != t->matches_nothing || s->n_fields != t->n_fields ||
            !alike_selectors(&s->labels, &t->labels) ||
            !alike_requirements(s->fields, t->fields, s->n_fields))
            return false;
    }
    return true;
}

bool alike_tolerations(const struct sched_pod *a, const struct sched_pod *b)
{
    if (a->n_tolerations != b->n_tolerations)
        return false;
    for (uint32_t i = 0; i < a->n_tolerations; i++) {
        const struct sched_toleration *s = &a->tolerations[i], *t = &b->tolerations[i];
        if (s->key != t->key || s->value != t->value || s->op != t->op ||
            s->all_effects != t->all_effects || (!s->all_effects && s->effect != t->effect))
            return false;
    }
    return true;
}

bool alike_taints(const struct sched_node *a, const struct sched_node *b)
{
    if (a->n_taints != b->n_taints)
        return false;
    for (uint32_t i = 0; i < a->n_taints; i++)
        if (a->taints[i].key != b->taints[i].key || a->taints[i].value != b->taints[i].value ||
            a->taints[i].effect != b->taints[i].effect)
            return false;
    return true;
}

bool alike_pod_labels(const struct sched_labels *labels, const struct intern *namespace,
                      const struct sched_pod *pod)
{
    return namespace == pod->namespace_word && sched_labels_equal(labels, &pod->labels);
}

void alike_labels_copy(struct sched_labels *to, const struct sched_labels *from)
{
    *to = (struct sched_labels){ .n = from->n };
    if (from->n == 0)
        return;
    to->p = xnew_n(struct sched_label, from->n);
    for (uint32_t i = 0; i < from->n; i++)
        to->p[i] = (struct sched_label){ intern_ref(from->p[i].key), intern_ref(from->p[i].value) };
}

void alike_labels_fini(struct intern_table *w, struct sched_labels *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        intern_unref(w, l->p[i].key);
        intern_unref(w, l->p[i].value);
    }
    free(l->p);
    *l = (struct sched_labels){ 0 };
}

void alike_selector_copy(struct sched_selector *to, const struct sched_selector *from)
{
    *to = (struct sched_selector){ .n = from->n, .nothing = from->nothing };
    if (from->n == 0)
        return;
    to->p = xnew_n(struct sched_requirement, from->n);
    for (uint32_t i = 0; i < from->n; i++) {
        const struct sched_requirement *f = &from->p[i];
        struct sched_requirement *t = &to->p[i];
        *t = *f;
        (void)intern_ref(t->key);
        t->values = f->n_values ? xnew_n(struct intern *, f->n_values) : NULL;
        for (uint32_t j = 0; j < f->n_values; j++)
            t->values[j] = intern_ref(f->values[j]);
    }
}

void alike_selector_fini(struct intern_table *w, struct sched_selector *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        intern_unref(w, s->p[i].key);
        for (uint32_t j = 0; j < s->p[i].n_values; j++)
            intern_unref(w, s->p[i].values[j]);
        free(s->p[i].values);
    }
    free(s->p);
    *s = (struct sched_selector){ 0 };
}
