/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods a term of affinity matches; the contract is in terms.h. */
#include "sched/plugins/terms.h"

#include "sched/object/namespace.h"

const struct sched_labels *terms_namespace_labels(const struct sched_cache *cache,
                                                  const struct intern *name)
{
    static const struct sched_labels none;
    const struct sched_namespace *ns =
        sched_cache_get(cache, SCHED_NAMESPACE, STR(""), intern_str(name));
    return ns ? &ns->labels : &none;
}

static bool names_namespace(const struct sched_affinity_term *t, const struct intern *name)
{
    for (uint32_t i = 0; i < t->n_namespaces; i++)
        if (t->namespaces[i] == name)
            return true;
    return false;
}

/*
 * Upstream adds the namespaces that the selector matches to the named ones, and then also matches
 * the selector against empty labels: a selector that requires a label to be absent selects all
 * namespaces.
 */
static bool selects_namespace(const struct sched_cache *cache, const struct sched_affinity_term *t,
                              const struct intern *name)
{
    static const struct sched_labels none;
    const struct sched_selector *s = &t->namespace_selector;
    if (s->nothing || s->n == 0)
        return !s->nothing;
    return sched_selector_matches(s, terms_namespace_labels(cache, name)) ||
           sched_selector_matches(s, &none);
}

bool term_matches(const struct sched_cache *cache, const struct sched_affinity_term *t,
                  const struct sched_pod *other)
{
    return sched_selector_matches(&t->selector, &other->labels) &&
           (names_namespace(t, other->namespace_word) ||
            selects_namespace(cache, t, other->namespace_word));
}

bool term_matches_with(const struct sched_affinity_term *t, const struct sched_pod *other,
                       const struct sched_labels *labels)
{
    static const struct sched_labels none;
    return sched_selector_matches(&t->selector, &other->labels) &&
           (names_namespace(t, other->namespace_word) ||
            sched_selector_matches(&t->namespace_selector, labels ? labels : &none));
}

bool terms_match(const struct sched_cache *cache, const struct sched_affinity_terms *terms,
                 const struct sched_pod *other)
{
    for (uint32_t i = 0; i < terms->n; i++)
        if (!term_matches(cache, &terms->p[i], other))
            return false;
    return terms->n > 0;
}
