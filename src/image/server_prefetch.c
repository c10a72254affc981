/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers that an orchestrator expects to be requested here: fetched while the node is idle, within
 * a part of its quota, and with a part of its link; ended by any other work. After a day in which
 * less than half of the prefetched bytes were used, a day without prefetching follows.
 */
#include "base/list.h"
#include "image/deploy.h"
#include "image/layer_cache.h"
#include "image/server_int.h"

static bool is_idle(const struct image_server *s)
{
    return s->n_deploying == 0 && s->n_pulls == 0 && s->n_uploads == 0;
}

static uint64_t bytes_of(const struct image_bdm *b)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < b->n_tasks; i++) /* at most 2^60 */
        sum += b->tasks[i].to - b->tasks[i].from;
    return sum;
}

/* The bytes that a prefetch may use now: a part of the quota, less the unused prefetched bytes. */
static uint64_t budget_of(const struct layer_cache_summary *c)
{
    const struct image_cache_stats *s = &c->stats;
    uint64_t gone = s->prefetch_used.bytes + s->prefetch_wasted.bytes;
    uint64_t waiting = s->prefetched.bytes - MIN(gone, s->prefetched.bytes);
    uint64_t most = c->capacity / 100 * IMAGE_PREFETCH_BUDGET_PERCENT;
    return most - MIN(waiting, most);
}

static int check(struct image_server *s, const struct image_bdm *b, struct err *err)
{
    struct layer_cache_summary c;
    if (!s->opts.prefetches || !layer_cache_summary(s->opts.store, &c) || !c.capacity)
        return err_set(err, E_DENIED, "this node prefetches nothing");
    if (!is_idle(s))
        return err_set(err, E_DENIED, "this node has something else to do");
    if (bytes_of(b) > budget_of(&c))
        return err_set(err, E_DENIED, "the layers have more bytes than may be prefetched");
    if (!image_prefetch_is_on(&s->judge, loop_now_ms(s->loop), c.stats.prefetch_used.bytes,
                              c.stats.prefetch_wasted.bytes))
        return err_set(err, E_DENIED, "too little of what was prefetched is used");
    return 0;
}

int image_server_prefetch_check(struct image_server *s, const struct image_bdm *b, struct err *err)
{
    int r = check(s, b, err);
    s->n_prefetches += r >= 0;
    s->n_prefetches_refused += r < 0;
    return r;
}

uint64_t image_server_prefetch_bps(const struct image_server *s)
{
    double bits = s->rates.downlink_bps > 0 ? s->rates.downlink_bps : s->rates.registry_bps;
    uint64_t bytes = bits > 0 ? (uint64_t)(bits / 8) : IMAGE_SERVER_PREFETCH_BPS;
    return MAX(bytes / IMAGE_PREFETCH_LINK_PART, (uint64_t)1);
}

void image_server_prefetch_stop(struct image_server *s)
{
    image_server_each_prefetch(s, image_deploy_stop);
}
