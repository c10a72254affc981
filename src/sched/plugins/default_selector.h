/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The selector of a pod and its siblings, for constraints that are not the pod's own: from the
 * services that select it, and its controller. Upstream: helper.DefaultSelector.
 *
 * Services are looked up by namespace, and the result for a pod's labels is cached until a service
 * changes. Zero-initialised except for `words` is valid.
 */
#pragma once

#include "base/map.h"
#include "sched/cache/cache.h"

enum { DEFAULT_MEMO = 256 };

struct default_memo {
    struct intern *namespace; /* a reference; NULL: free */
    struct sched_labels labels;
    struct sched_selector selector;
};
struct default_selectors {
    struct intern_table *words;
    struct map services; /* by namespace; its borrowed pointers are valid at services_generation */
    uint64_t services_generation;
    struct default_memo memo[DEFAULT_MEMO]; /* by a hash of namespace and labels */
};
void default_selectors_fini(struct default_selectors *d);
/*
 * In the arena; what it points to is borrowed until services or controllers change. Without
 * requirements: nothing selects the pod.
 */
struct sched_selector *default_selector(struct default_selectors *d,
                                        const struct sched_cache *cache, struct arena *a,
                                        const struct sched_pod *pod);
