/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order in which jobs compute; see template_impl.h.
 *
 * When other jobs wait in the runner, a job is interrupted after a slice and continues after
 * guest_seat_reply(). A runner's turns are one queue, so a namespace with more jobs in it would get
 * more of its time. Hence most computing jobs are parked here, and only SHARE_TURNS of a namespace
 * are in a runner's queue: one that runs, and one that waits, so that the first one is interrupted.
 *
 *     runner --> namespaces (a share each) --> programs (templates) in turn --> jobs in turn
 */
#include "guest/template_impl.h"

#include <assert.h>

enum { SHARE_TURNS = 2 };

static const struct sm_state turn_table[] = {
    [GUEST_TURN_NONE] = { "none", EDGE(GUEST_TURN_AWAITED) },
    [GUEST_TURN_AWAITED] = { "awaited", EDGE(GUEST_TURN_GIVEN) | EDGE(GUEST_TURN_NONE) },
    [GUEST_TURN_GIVEN] = { "given", EDGE(GUEST_TURN_AWAITED) | EDGE(GUEST_TURN_NONE) },
};

struct guest_share {
    struct list node; /* on all->shares */
    const struct pool_runner *runner;
    char *namespace;
    struct list templates; /* with jobs that wait for their turn, the next one first */
    unsigned n_turns;      /* given */
};

static void move(struct guest_seat *seat, enum guest_turn to)
{
    struct guest_share *s = seat->template->share;
    assert(turn_table[seat->turn].next & EDGE(to));
    assert(seat->turn != GUEST_TURN_GIVEN || s->n_turns > 0);
    s->n_turns += (unsigned)(to == GUEST_TURN_GIVEN) - (unsigned)(seat->turn == GUEST_TURN_GIVEN);
    seat->turn = to;
}

static struct guest_share *share_new(struct guest_template *t)
{
    struct guest_templates *all = t->program->all;
    const struct pool_runner *runner = t->seat.tenant.runner;
    const char *namespace = t->program->namespace;
    assert(runner && namespace);
    list_each (node, &all->shares) {
        struct guest_share *s = list_entry(node, struct guest_share, node);
        if (s->runner == runner && strcmp(s->namespace, namespace) == 0)
            return s;
    }
    struct guest_share *s = xnew(struct guest_share);
    s->runner = runner;
    s->namespace = xstrdup(namespace);
    list_init(&s->templates);
    list_push_back(&all->shares, &s->node);
    return s;
}

static void share_free_if_empty(struct guest_share *s)
{
    if (s->n_turns || !list_is_empty(&s->templates))
        return;
    list_remove(&s->node);
    free(s->namespace);
    free(s);
}

static void give_turns(struct guest_share *s)
{
    while (s->n_turns < SHARE_TURNS && !list_is_empty(&s->templates)) {
        struct guest_template *t =
            list_entry(list_pop_front(&s->templates), struct guest_template, in_share);
        assert(t->share == s && !list_is_empty(&t->sliced));
        struct guest_seat *seat = list_entry(list_pop_front(&t->sliced), struct guest_seat, sliced);
        if (!list_is_empty(&t->sliced))
            list_push_back(&s->templates, &t->in_share);
        move(seat, GUEST_TURN_GIVEN);
        guest_seat_reply(seat, 0, STR(""));
    }
    share_free_if_empty(s);
}

void guest_turn_wait(struct guest_seat *seat)
{
    struct guest_template *t = seat->template;
    assert(seat->job && !list_is_linked(&seat->sliced) && pool_is_parked(&seat->tenant));
    if (!t->share)
        t->share = share_new(t);
    t->n_computing += seat->turn == GUEST_TURN_NONE;
    move(seat, GUEST_TURN_AWAITED);
    list_push_back(&t->sliced, &seat->sliced);
    if (!list_is_linked(&t->in_share))
        list_push_back(&t->share->templates, &t->in_share);
    give_turns(t->share);
}

/* NULL: the seat had no part in one. */
static struct guest_share *leave(struct guest_seat *seat)
{
    struct guest_template *t = seat->template;
    struct guest_share *s = t->share;
    if (seat->turn == GUEST_TURN_NONE)
        return NULL;
    assert(s && t->n_computing > 0);
    assert((seat->turn == GUEST_TURN_AWAITED) == list_is_linked(&seat->sliced));
    move(seat, GUEST_TURN_NONE);
    list_remove(&seat->sliced);
    if (list_is_empty(&t->sliced))
        list_remove(&t->in_share);
    if (--t->n_computing == 0)
        t->share = NULL;
    return s;
}

void guest_turn_end(struct guest_seat *seat)
{
    struct guest_share *s = leave(seat);
    if (s)
        give_turns(s);
}

void guest_turn_lost(struct guest_seat *seat)
{
    struct guest_share *s = leave(seat);
    if (s)
        share_free_if_empty(s);
}
