/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that were placed while the API has not told so yet; states are drawn in cache.h. */
#include "sched/cache/internal.h"

#include <errno.h>

int sched_cache_assume(struct sched_cache *c, const struct sched_pod *pod, struct word *node,
                       struct err *err)
{
    struct str key = sched_object_key(&pod->o);
    if (map_has(&c->objects[SCHED_POD], key))
        return err_set(err, -EEXIST,
                       "pod " STR_FMT "(" STR_FMT ") is in the cache, so can't be assumed",
                       STR_ARG(pod->o.uid), STR_ARG(key));
    int r = cache_check_room(c, SCHED_POD, err);
    if (r < 0)
        return r;
    struct sched_pod *mine = sched_pod_clone(c->words, pod, node);
    struct assumed_pod *a = xnew(struct assumed_pod);
    a->pod = mine;
    (void)map_put(&c->assumed, mine->o.uid, a);
    cache_take_pod(c, mine);
    return 0;
}

void sched_cache_binding_done(struct sched_cache *c, struct str uid)
{
    struct assumed_pod *a = map_get(&c->assumed, uid);
    if (a)
        a->is_bound = true;
}

void assumed_end(struct sched_cache *c, struct str uid)
{
    free(map_del(&c->assumed, uid));
}

void sched_cache_forget(struct sched_cache *c, struct str uid)
{
    const struct assumed_pod *a = map_get(&c->assumed, uid);
    if (a && !a->is_bound)
        sched_object_unref(c->words, cache_drop_pod(c, a->pod));
}

bool sched_cache_is_assumed(const struct sched_cache *c, struct str uid)
{
    return map_has(&c->assumed, uid);
}

size_t sched_cache_n_assumed(const struct sched_cache *c)
{
    return c->assumed.n;
}
