/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which requests compute; see wasm_impl.h.
 *
 * When other requests wait in the runner, a request is interrupted after a slice and continues
 * after pool_reply(). A runner's turns are one queue, so a namespace with more requests in it would
 * get more of its time. Hence most computing requests are parked here, and only WASM_TURNS of a
 * namespace are in a runner's queue: one that runs, and one that waits, so that the first one is
 * interrupted.
 *
 *     runner --> namespaces (a share each) --> functions (bases) in turn --> requests in turn
 */
#include "fn/worker/wasm_impl.h"

#include <assert.h>

enum { WASM_TURNS = 2 };

struct wasm_share {
    struct list node; /* on rt->shares */
    const struct pool_runner *runner;
    char *namespace;
    struct list bases; /* with requests that wait, the next one first */
    unsigned n_turns;
};

static struct wasm_share *share_new(struct wasm_base *b)
{
    struct wasm_rt *rt = b->rev->rt;
    const struct pool_runner *runner = b->seat.tenant.runner;
    const char *namespace = b->rev->r->namespace; /* set while the revision has requests */
    list_each (node, &rt->shares) {
        struct wasm_share *s = list_entry(node, struct wasm_share, node);
        if (s->runner == runner && strcmp(s->namespace, namespace) == 0)
            return s;
    }
    struct wasm_share *s = xnew(struct wasm_share);
    s->runner = runner;
    s->namespace = xstrdup(namespace);
    list_init(&s->bases);
    list_push_back(&rt->shares, &s->node);
    return s;
}

static void share_free_if_empty(struct wasm_share *s)
{
    if (s->n_turns || !list_is_empty(&s->bases))
        return;
    list_remove(&s->node);
    free(s->namespace);
    free(s);
}

static void give_turns(struct wasm_share *s)
{
    while (s->n_turns < WASM_TURNS && !list_is_empty(&s->bases)) {
        struct wasm_base *b = list_entry(list_pop_front(&s->bases), struct wasm_base, sliced_node);
        struct wasm_seat *seat = list_entry(list_pop_front(&b->sliced), struct wasm_seat, sliced);
        if (!list_is_empty(&b->sliced))
            list_push_back(&s->bases, &b->sliced_node);
        seat->has_turn = true;
        s->n_turns++;
        pool_reply(&seat->tenant, seat->x->call, 0, STR(""));
    }
    share_free_if_empty(s);
}

void wasm_slice(struct wasm_seat *seat)
{
    struct wasm_base *b = seat->base;
    assert(seat->x && !list_is_linked(&seat->sliced));
    if (!b->share)
        b->share = share_new(b);
    b->n_computing += !seat->is_computing;
    seat->is_computing = true;
    b->share->n_turns -= seat->has_turn;
    seat->has_turn = false;
    list_push_back(&b->sliced, &seat->sliced);
    if (!list_is_linked(&b->sliced_node))
        list_push_back(&b->share->bases, &b->sliced_node);
    give_turns(b->share);
}

/* NULL: it had none. */
static struct wasm_share *leave(struct wasm_seat *seat)
{
    struct wasm_base *b = seat->base;
    struct wasm_share *s = b->share;
    if (!seat->is_computing)
        return NULL;
    seat->is_computing = false;
    s->n_turns -= seat->has_turn;
    seat->has_turn = false;
    list_remove(&seat->sliced);
    if (list_is_empty(&b->sliced))
        list_remove(&b->sliced_node);
    if (--b->n_computing == 0)
        b->share = NULL;
    return s;
}

void wasm_slice_over(struct wasm_seat *seat)
{
    struct wasm_share *s = leave(seat);
    if (s)
        give_turns(s);
}

void wasm_slice_lost(struct wasm_seat *seat)
{
    struct wasm_share *s = leave(seat);
    if (s)
        share_free_if_empty(s);
}
