/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods a term of pod affinity matches, by labels and namespace. Pure. */
#pragma once

#include "sched/cache/cache.h"

/* Labels of a namespace; empty where it is unknown. Borrowed until namespaces change. */
const struct sched_labels *terms_namespace_labels(const struct sched_cache *cache,
                                                  const struct intern *name);
/* A term of the pod that is to be placed, about one that is there. */
bool term_matches(const struct sched_cache *cache, const struct sched_affinity_term *t,
                  const struct sched_pod *other);
/* All of them do; of none: false. */
bool terms_match(const struct sched_cache *cache, const struct sched_affinity_terms *terms,
                 const struct sched_pod *other);
/* A term of a pod that is there, about one of a namespace with these labels; NULL: without any. */
bool term_matches_with(const struct sched_affinity_term *t, const struct sched_pod *other,
                       const struct sched_labels *terms_namespace_labels);
