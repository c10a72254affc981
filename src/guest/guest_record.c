/* SPDX-License-Identifier: Apache-2.0 */
/* The record of a guest: state, outstanding operations, swap file; see guest_impl.h. */
#include "guest/guest_impl.h"

#include "base/slab.h"
#include "base/sm.h"

#include <assert.h>

enum { INSTANCE_BYTES = 14 << 10 }; /* memory of an awake guest in addition to its linear memory */

static const struct sm_state guest_table[] = {
    [GUEST_COLD] = { "Cold", EDGE(GUEST_RUNNING) | EDGE(GUEST_FAILED) | EDGE(GUEST_ASLEEP) },
    [GUEST_RUNNING] = { "Running", EDGE(GUEST_AWAKE) | EDGE(GUEST_ASLEEP) | EDGE(GUEST_FAILED) |
                                       EDGE(GUEST_COLD) },
    [GUEST_AWAKE] = { "Awake", EDGE(GUEST_RUNNING) | EDGE(GUEST_ASLEEP) | EDGE(GUEST_FAILED) |
                                   EDGE(GUEST_COLD) },
    [GUEST_ASLEEP] = { "Asleep", EDGE(GUEST_RUNNING) | EDGE(GUEST_FAILED) | EDGE(GUEST_COLD) },
    [GUEST_FAILED] = { "Failed", EDGE(GUEST_COLD) },
};

const char *guest_state_name(enum guest_state state)
{
    return guest_table[state].name;
}

enum guest_state guest_state(const struct guest *g)
{
    return (enum guest_state)g->state;
}

void guest_report(struct guest *g, const struct err *why)
{
    if (!g->is_dead && g->ops->on_state)
        g->ops->on_state(g, (enum guest_state)g->state, why, g->arg);
}

bool guest_is_awake(unsigned state)
{
    return state == GUEST_AWAKE || state == GUEST_RUNNING;
}

void guest_move(struct guest *g, enum guest_state to, const struct err *why)
{
    assert(guest_table[g->state].next & EDGE(to));
    assert(to != GUEST_ASLEEP || g->rest != GUEST_REST_NONE);
    g->host->n_awake += (unsigned)guest_is_awake(to) - (unsigned)guest_is_awake(g->state);
    g->state = (uint8_t)to;
    guest_report(g, why);
}

struct active *guest_get_active(struct guest *g)
{
    if (g->active)
        return g->active;
    struct active *a = g->active = xnew(struct active);
    a->guest = g;
    guest_queue_init(&a->queue);
    list_init(&a->sent);
    return a;
}

void guest_make_ready(struct guest *g)
{
    struct active *a = guest_get_active(g);
    if (list_is_linked(&a->ready))
        return;
    list_push_back(&g->host->ready, &a->ready);
    defer_start(g->host->loop, &g->host->pump, guest_host_pump);
}

void guest_free_sent(struct active *a)
{
    while (!list_is_empty(&a->sent))
        free(list_entry(list_pop_front(&a->sent), struct delivery, node));
}

/* Keep only the record of a guest at rest. */
void guest_deactivate(struct guest *g)
{
    struct active *a = g->active;
    if (!a)
        return;
    assert(!a->tenant.runner);
    guest_release_swap(g);
    timer_stop(g->host->loop, &a->timer);
    timer_stop(g->host->loop, &a->parked);
    list_remove(&a->ready);
    list_remove(&a->idle);
    list_remove(&a->short_of_swap);
    guest_queue_fini(&a->queue);
    guest_free_sent(a);
    free(a);
    g->active = NULL;
}

void guest_swap_name(const struct guest *g, char out[SWAP_NAME_MAX])
{
    swap_name(out, g->name + g->uid_at, g->generation, g->module->hash, g->serial,
              guest_has_record(g));
}

void guest_remove_swap(struct guest *g)
{
    char name[SWAP_NAME_MAX];
    guest_swap_name(g, name);
    if (g->has_file)
        swap_remove(&g->host->swap, name);
    g->has_file = g->has_image = false;
    guest_set_swap_bytes(g, 0);
}

uint64_t guest_resident_bytes(const struct guest *g)
{
    if (!g->active || !g->active->tenant.runner)
        return 0;
    return (g->rest == GUEST_REST_KEPT ? 0 : (uint64_t)g->active->dirty_pages * 4096) +
           INSTANCE_BYTES;
}

void guest_set_error(struct guest *g, const struct err *why)
{
    free(g->last_error);
    g->last_error = xstrdup(err_text(why));
}

void guest_destroy(struct guest *g)
{
    if (!g)
        return;
    module_unref(g->module);
    slab_free(g->name);
    slab_free(g->setup);
    slab_free(g->outstanding);
    slab_free(g->globals);
    free(g->latency);
    free(g->last_error);
    slab_free(g);
}

/* ---- outstanding operations, sorted by id ---- */

uint32_t *guest_find_op(const struct guest *g, uint64_t id, uint32_t *at)
{
    uint32_t lo = 0, hi = g->n_outstanding;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (g->outstanding[mid] >> 1 < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    *at = lo;
    return lo < g->n_outstanding && g->outstanding[lo] >> 1 == id ? at : NULL;
}

void guest_add_op(struct guest *g, uint64_t id, bool is_stream)
{
    if (g->n_outstanding == g->outstanding_cap) {
        g->outstanding_cap += g->outstanding_cap < 4 ? 2 : g->outstanding_cap / 2;
        uint64_t *before = g->outstanding;
        g->outstanding = slab_alloc(g->outstanding_cap * sizeof *g->outstanding);
        if (g->n_outstanding)
            memcpy(g->outstanding, before, g->n_outstanding * sizeof *before);
        slab_free(before);
    }
    g->outstanding[g->n_outstanding++] = id << 1 | is_stream; /* ids only grow */
}

void guest_remove_op(struct guest *g, uint32_t at)
{
    g->n_outstanding--;
    memmove(g->outstanding + at, g->outstanding + at + 1,
            (g->n_outstanding - at) * sizeof *g->outstanding);
}
