/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds that may be defined later; see kinds.h. */
#include "operator/v1/kinds.h"

#include "base/backoff.h"

#include <errno.h>

/* One query to discovery; its callback also runs for a cancelled query. */
struct kind_lookup {
    struct kinds *kinds;
    struct kind_query *q; /* NULL: cancelled */
};

struct kinds {
    struct loop *loop;
    struct discovery *discovery;
    struct object_cache *cache;
    struct list waiting;
    size_t n_waiting;
    struct object_sub *definitions; /* NULL: no query waits, or they cannot be watched */
    struct timer retry;
    uint64_t retry_ms;
};

static void look_up(struct kinds *k, struct kind_query *q);

/* ---------------------------------------------------------------- retries */

static void ask_all(struct kinds *k)
{
    struct list round;
    list_move_all(&k->waiting, &round);
    struct list *node;
    while ((node = list_pop_front(&round))) {
        list_push_back(&k->waiting, node);
        struct kind_query *q = list_entry(node, struct kind_query, node);
        if (!q->lookup)
            look_up(k, q);
    }
}

static void on_retry(struct timer *t)
{
    struct kinds *k = container_of(t, struct kinds, retry);
    if (k->n_waiting == 0)
        return;
    ask_all(k);
    timer_start(k->loop, &k->retry, k->retry_ms, on_retry);
    k->retry_ms = backoff_next(k->retry_ms, KINDS_RETRY_FIRST_MS, KINDS_RETRY_MAX_MS);
}

static void retry_soon(struct kinds *k)
{
    k->retry_ms = KINDS_RETRY_FIRST_MS;
    timer_start(k->loop, &k->retry, KINDS_SETTLE_MS, on_retry);
}

static void on_definition(void *arg, enum object_event type, const struct cached_object *now,
                          const struct cached_object *before, bool initial)
{
    if (!initial && type != OBJECT_DELETED)
        retry_soon(arg);
}

/* From now on every definition is seen; earlier ones may have been missed. */
static void on_definitions_synced(void *arg, uint64_t rv)
{
    retry_soon(arg);
}

/* Without the watch, the timer repeats the queries. */
static void on_definitions_error(void *arg, int r, const struct err *err)
{
}

static void watch_definitions(struct kinds *k)
{
    static const struct object_sub_ops ops = { .on_event = on_definition,
                                               .on_synced = on_definitions_synced,
                                               .on_error = on_definitions_error };
    struct object_sub_opts opts = { .group_version = STR("apiextensions.k8s.io/v1"),
                                    .plural = STR("customresourcedefinitions"),
                                    .metadata_only = true,
                                    .ops = &ops,
                                    .arg = k };
    if (!k->definitions)
        (void)object_cache_subscribe(k->cache, &opts, &k->definitions, NULL);
}

static void begin_waiting(struct kinds *k, struct kind_query *q)
{
    if (list_is_linked(&q->node))
        return;
    list_push_back(&k->waiting, &q->node);
    if (k->n_waiting++ > 0)
        return;
    k->retry_ms = KINDS_RETRY_FIRST_MS;
    timer_start(k->loop, &k->retry, k->retry_ms, on_retry);
    watch_definitions(k);
}

static void end_waiting(struct kinds *k, struct kind_query *q)
{
    if (!list_is_linked(&q->node))
        return;
    list_remove(&q->node);
    if (--k->n_waiting > 0)
        return;
    timer_stop(k->loop, &k->retry);
    object_sub_cancel(take_ptr(&k->definitions));
}

/* ---------------------------------------------------------------- one query */

static void on_answer(void *arg, int r, const struct discovery_kind *kind, const struct err *err)
{
    scoped(free_scoped) struct kind_lookup *l = arg;
    struct kind_query *q = l->q;
    if (!q)
        return;
    q->lookup = NULL;
    if (r >= 0) {
        end_waiting(l->kinds, q);
        q->on_found(q, kind);
        return;
    }
    begin_waiting(l->kinds, q);
    bool first = !q->is_reported;
    q->is_reported = true;
    if (first)
        q->on_missing(q, err);
}

static void look_up(struct kinds *k, struct kind_query *q)
{
    struct kind_lookup *l = xnew(struct kind_lookup);
    l->kinds = k;
    l->q = q;
    q->lookup = l;
    discovery_ask(k->discovery, q->group_version, q->kind, on_answer, l);
}

/* ---------------------------------------------------------------- public */

struct kinds *kinds_new(struct loop *loop, struct discovery *discovery, struct object_cache *cache)
{
    struct kinds *k = xnew(struct kinds);
    k->loop = loop;
    k->discovery = discovery;
    k->cache = cache;
    list_init(&k->waiting);
    return k;
}

void kinds_free(struct kinds *k)
{
    if (!k)
        return;
    assert(k->n_waiting == 0);
    free(k);
}

void kinds_ask(struct kinds *k, struct kind_query *q)
{
    q->is_reported = false;
    look_up(k, q);
}

void kinds_ask_later(struct kinds *k, struct kind_query *q)
{
    q->is_reported = true;
    discovery_forget(k->discovery, q->group_version);
    begin_waiting(k, q);
}

void kinds_cancel(struct kinds *k, struct kind_query *q)
{
    if (q->lookup)
        q->lookup->q = NULL;
    q->lookup = NULL;
    end_waiting(k, q);
}
