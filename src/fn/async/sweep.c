/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes results that have expired, with all their rows. */
#include "fn/async/async_int.h"

#include "base/log.h"

enum {
    SWEEP_MIN_MS = 1000, /* results that expire close together go together */
    SWEEP_PAGE = 64,
    SWEEP_OPS = 100,
    RETRY_MS = 1000 /* after the store has failed */
};

static void on_sweep_due(struct timer *t)
{
    async_sweep(container_of(t, struct async, sweep_timer));
}

static void sweep_later(struct async *a, uint64_t wall_ms)
{
    uint64_t now = async_wall_ms(a);
    a->wall_expires_ms = wall_ms;
    if (wall_ms == UINT64_MAX || async_is_closing(a))
        timer_stop(a->loop, &a->sweep_timer);
    else
        timer_start(a->loop, &a->sweep_timer,
                    MAX(wall_ms > now ? wall_ms - now : 0, (uint64_t)SWEEP_MIN_MS), on_sweep_due);
}

void async_finished(struct async *a, uint64_t wall_expires_ms)
{
    if (!a->is_sweeping && wall_expires_ms < a->wall_expires_ms)
        sweep_later(a, wall_expires_ms);
    else if (a->is_sweeping)
        a->wall_expires_ms = MIN(a->wall_expires_ms, wall_expires_ms);
}

struct async_sweep {
    struct async *a;
    size_t n;
};

static void on_swept(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct async_sweep *s = arg;
    struct async *a = s->a;
    a->is_sweeping = false;
    if (res->r >= 0)
        a->stats.results_deleted += s->n;
    else
        log_error("results cannot be deleted, trying again", "err=\"%s\"", err_text(err));
    free(s);
    if (res->r >= 0)
        async_sweep(a);
    else
        sweep_later(a, async_wall_ms(a) + RETRY_MS);
}

static void add_leftover(struct async_batch *b, const struct store_kv *kv,
                         const struct async_id *id)
{
    struct async_leftover left;
    struct async_key k;
    if (async_leftover_read(kv->value, &left, NULL) < 0)
        left = (struct async_leftover){ .n_pieces = 0 };
    async_key_call(&k, id);
    batch_delete(b, &k);
    batch_delete_pieces(b, 'a', id, left.n_pieces);
    if (left.by_key.n && left.by_key.n < sizeof k.p) {
        memcpy(k.p, left.by_key.p, left.by_key.n);
        k.n = left.by_key.n;
        batch_delete(b, &k);
    }
}

static void on_expired(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct async *a = arg;
    a->is_sweeping = false;
    if (r < 0) {
        sweep_later(a, async_wall_ms(a) + RETRY_MS);
        return;
    }
    uint64_t now = async_wall_ms(a), next = UINT64_MAX;
    struct async_batch b = { .n = 0 };
    size_t n = 0;
    for (size_t i = 0; i < page->n && b.n < SWEEP_OPS; i++) {
        uint64_t at = 0;
        struct async_id id;
        bool is_row = async_key_expires_parse(page->kv[i].key, &at, &id);
        if (is_row && at > now) {
            next = at;
            break;
        }
        if (is_row)
            add_leftover(&b, &page->kv[i], &id);
        struct async_key k = { .n = MIN(page->kv[i].key.n, sizeof k.p) };
        memcpy(k.p, page->kv[i].key.p, k.n);
        batch_delete(&b, &k);
        n++;
    }
    struct async_sweep *s = xnew(struct async_sweep);
    *s = (struct async_sweep){ a, n };
    if (n == 0) {
        free(s);
        sweep_later(a, MIN(next, a->wall_expires_ms));
    } else if (store_txn(a->store, b.ops, b.n, on_swept, s, NULL) < 0) {
        free(s);
        sweep_later(a, now + RETRY_MS);
    } else {
        a->is_sweeping = true;
    }
    batch_fini(&b);
}

void async_sweep(struct async *a)
{
    if (a->is_sweeping || async_is_closing(a) || !a->store)
        return;
    struct store_range range = { .prefix = STR("x/"), .limit = SWEEP_PAGE };
    a->wall_expires_ms = UINT64_MAX; /* calls that finish during the sweep lower it again */
    if (store_range(a->store, &range, on_expired, a, NULL) < 0)
        sweep_later(a, async_wall_ms(a) + RETRY_MS);
    else
        a->is_sweeping = true;
}
