/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounting of swap space: the size of all files, including those of awake guests, plus what
 * suspends under way may add. The sum never exceeds the quota. Each suspend reserves space
 * beforehand; if that is too little, its runner writes nothing; unused space is released with the
 * answer.
 *
 * A guest that gets no space waits on host->short_of_swap until some is released, and also retries
 * after SUSPEND_RETRY_MS. See guest_impl.h.
 */
#include "guest/guest_impl.h"

#include "base/clock.h"
#include "wasm/snapshot.h"

#include <assert.h>
#include <errno.h>

static uint64_t used_bytes(const struct guest_host *h)
{
    return h->swap_total + h->swap_reserved + h->swap.left_bytes;
}

static uint64_t left_bytes(const struct guest_host *h)
{
    uint64_t quota = h->opts.swap_quota_bytes, used = used_bytes(h);
    return quota > used ? quota - used : 0;
}

/* ---- releasing ---- */

/* Whether the guest could sleep now. *ret: the part of `left` that it would take. */
static bool fits(const struct active *a, uint64_t left, uint64_t *ret)
{
    const struct guest_host *h = a->guest->host;
    *ret = MIN(a->swap_needs, left);
    if (a->swap_needs <= left)
        return true;
    return !a->swap_needs_exactly && h->swap_reserved == 0 && left == left_bytes(h);
}

static void on_room(struct defer *d)
{
    struct guest_host *h = container_of(d, struct guest_host, swap_room);
    uint64_t left = left_bytes(h), takes;
    list_each_safe (node, &h->short_of_swap) {
        struct active *a = list_entry(node, struct active, short_of_swap);
        struct guest *g = a->guest;
        bool is_idle = g->state == GUEST_AWAKE && !a->tenant.sent && a->queue.n == 0;
        if (is_idle && !fits(a, left, &takes))
            continue;
        list_remove(&a->short_of_swap);
        a->no_sleep_until_ms = 0;
        if (!is_idle)
            continue; /* it makes a new plan when it is idle again */
        left -= takes;
        guest_want(g, GUEST_WANT_SLEEP);
    }
}

void guest_swap_has_room(struct guest_host *h)
{
    if (!list_is_empty(&h->short_of_swap) && !h->is_closing)
        defer_start(h->loop, &h->swap_room, on_room);
}

void guest_set_swap_bytes(struct guest *g, uint64_t bytes)
{
    bool is_less = bytes < g->swap_bytes;
    assert(g->host->swap_total >= g->swap_bytes);
    g->host->swap_total += bytes - g->swap_bytes;
    g->swap_bytes = bytes;
    if (is_less)
        guest_swap_has_room(g->host);
}

void guest_release_swap(struct guest *g)
{
    struct active *a = g->active;
    if (!a || !a->swap_reserved)
        return;
    assert(g->host->swap_reserved >= a->swap_reserved);
    g->host->swap_reserved -= a->swap_reserved;
    a->swap_reserved = 0;
    guest_swap_has_room(g->host);
}

/* ---- reserving ---- */

static void wait_for_room(struct guest *g, uint64_t needs, bool is_exact)
{
    struct active *a = g->active;
    a->swap_needs = needs;
    a->swap_needs_exactly = is_exact;
    a->no_sleep_until_ms = clock_mono_ms() + SUSPEND_RETRY_MS;
    list_remove(&a->short_of_swap);
    list_push_back(&g->host->short_of_swap, &a->short_of_swap);
}

bool guest_reserve_swap(struct guest *g)
{
    struct guest_host *h = g->host;
    struct active *a = g->active;
    bool is_at_rest = g->state == GUEST_AWAKE && a->queue.n == 0;
    assert(a->swap_reserved == 0 && !a->tenant.sent);
    uint64_t memory =
        (uint64_t)MAX(g->memory_pages, g->module->info->memory_min_pages) * MODULE_PAGE_BYTES;
    if (!is_at_rest) /* an estimate, which its runner checks */
        memory = MIN(2 * memory + (1 << 20), g->memory_max);
    uint64_t most = snapshot_growth_max(memory, g->memory_max, guest_has_record(g));
    uint64_t own = g->swap_max > g->swap_bytes ? g->swap_max - g->swap_bytes : 0;
    uint64_t room = left_bytes(h);
    most = g->swap_max ? MIN(most, own) : most;
    /* Other suspends will release most of their reservation: wait until they have ended. */
    if (most > room && h->swap_reserved) {
        wait_for_room(g, most, false);
        return false;
    }
    list_remove(&a->short_of_swap);
    a->swap_reserved = MIN(most, room);
    h->swap_reserved += a->swap_reserved;
    return true;
}

/* ---- awake against its plan ---- */

void guest_note_kept_awake(struct guest *g, const struct err *why)
{
    int code = why ? why->code : 0;
    if (g->kept_awake == code)
        return;
    g->kept_awake = code;
    if (!g->is_dead && g->ops->on_kept_awake)
        g->ops->on_kept_awake(g, why, g->arg);
}

/* The runner wrote nothing, or could not write. */
void guest_suspend_failed(struct guest *g, const struct proto_answer *a)
{
    struct guest_host *h = g->host;
    struct err why = { 0 };
    uint64_t skipped, file = g->swap_bytes + a->swap_needs_bytes;
    guest_set_swap_bytes(g, a->swap_bytes);
    g->active->no_sleep_until_ms = clock_mono_ms() + SUSPEND_RETRY_MS;
    if (a->code == E_LIMIT && g->swap_max && file > g->swap_max) {
        if (!g->is_dead && g->ops->on_limit)
            g->ops->on_limit(g, GUEST_LIMIT_SWAP, file, g->arg);
        return;
    }
    if (a->code == E_LIMIT) {
        wait_for_room(g, a->swap_needs_bytes, true);
        if (a->swap_needs_bytes <= left_bytes(h)) { /* the reservation was too small */
            guest_swap_has_room(h);
            return;
        }
        (void)err_set(&why, E_LIMIT, "%llu KiB do not fit into what is left of %llu KiB of swap",
                      (unsigned long long)(a->swap_needs_bytes >> 10),
                      (unsigned long long)(h->opts.swap_quota_bytes >> 10));
        guest_note_kept_awake(g, &why);
        if (log_rate_ok(&h->disk_rate, 60000, &skipped))
            log_warn("swap quota used up, guests stay awake", "quota_bytes=%llu",
                     (unsigned long long)h->opts.swap_quota_bytes);
        return;
    }
    (void)err_set(&why, a->code < 0 ? a->code : -EIO, STR_FMT, STR_ARG(a->text));
    guest_note_kept_awake(g, &why);
    if (log_rate_ok(&h->disk_rate, 60000, &skipped))
        log_warn("cannot suspend a guest, it stays awake", "guest=%s/%s reason=\"%s\"", g->name,
                 g->name + g->name_at, err_text(&why));
}
