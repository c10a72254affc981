/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods a term of pod affinity matches, by labels and namespace. Pure. */
#pragma once

#include "sched/cache/cache.h"

/* Labels of a namespace; empty if it is unknown. Borrowed until namespaces change. */
const struct sched_labels *terms_namespace_labels(const struct sched_cache *cache,
                                                  const struct intern *name);
/* Does a term of the pod to be placed match an existing pod? */
bool term_matches(const struct sched_cache *cache, const struct sched_affinity_term *t,
                  const struct sched_pod *other);
/* Do all terms match? false without terms. */
bool terms_match(const struct sched_cache *cache, const struct sched_affinity_terms *terms,
                 const struct sched_pod *other);
/* Does a term of an existing pod match a pod whose namespace has these labels (NULL: no labels)? */
bool term_matches_with(const struct sched_affinity_term *t, const struct sched_pod *other,
                       const struct sched_labels *terms_namespace_labels);
