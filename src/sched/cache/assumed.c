/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that were placed and that the API has not confirmed yet; cache.h has a drawing of the
 * states.
 */
#include "sched/cache/internal.h"

#include <assert.h>
#include <errno.h>

void assumed_begin(struct sched_cache *c, struct sched_pod *mine, bool is_bound)
{
    assert(mine->node_name && !map_has(&c->assumed, mine->o.uid));
    struct assumed_pod *a = xnew(struct assumed_pod);
    a->pod = mine;
    a->is_bound = is_bound;
    (void)map_put(&c->assumed, mine->o.uid, a);
    cache_take_pod(c, mine);
}

int sched_cache_assume(struct sched_cache *c, const struct sched_pod *pod, struct intern *node,
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
    assumed_begin(c, sched_pod_clone(c->words, pod, node), false);
    assert(c->assumed.n <= c->objects[SCHED_POD].n);
    return 0;
}

int sched_cache_assume_shared(struct sched_cache *c, const struct sched_pod *assumed)
{
    if (map_has(&c->objects[SCHED_POD], sched_object_key(&assumed->o)))
        return -EEXIST;
    assumed_begin(c, sched_object_ref((void *)assumed), false);
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
