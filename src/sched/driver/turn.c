/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that can be lent; see turn.h. */
#include "sched/driver/turn.h"

#include <assert.h>
#include <stdlib.h>

void turn_init(struct turn *t)
{
    *t = (struct turn){ 0 };
    if (uv_mutex_init(&t->lock) < 0 || uv_cond_init(&t->moved) < 0)
        abort();
}

void turn_fini(struct turn *t)
{
    assert(t->next == t->serving && atomic_load(&t->lent_by) == 0);
    uv_mutex_destroy(&t->lock);
    uv_cond_destroy(&t->moved);
}

/* Called with the lock held. The owner, which is in a call, notices in turn_reclaim(). */
static bool take_lent(struct turn *t)
{
    return atomic_exchange(&t->lent_by, 0) != 0;
}

void turn_take(struct turn *t)
{
    uv_mutex_lock(&t->lock);
    uint64_t mine = t->next++;
    bool has_waited = false;
    while (t->serving != mine) {
        assert(t->serving < mine); /* no other thread can serve this ticket */
        if (t->serving + 1 != mine) {
            uv_cond_wait(&t->moved, &t->lock);
        } else if (has_waited && take_lent(t)) {
            t->serving = mine;
            if (t->next > mine + 1)
                uv_cond_broadcast(&t->moved); /* wakes the next one: this turn may be lent too */
        } else {
            uint64_t ns = (uint64_t)TURN_LENT_MS * 1000000;
            has_waited = uv_cond_timedwait(&t->moved, &t->lock, ns) == UV_ETIMEDOUT || has_waited;
        }
    }
    uv_mutex_unlock(&t->lock);
}

bool turn_try(struct turn *t)
{
    uv_mutex_lock(&t->lock);
    assert(t->serving <= t->next);
    bool mine = t->next == t->serving;
    if (!mine && t->next == t->serving + 1 && take_lent(t)) {
        t->serving++;
        mine = true;
    }
    t->next += mine;
    uv_mutex_unlock(&t->lock);
    return mine;
}

void turn_give(struct turn *t)
{
    uv_mutex_lock(&t->lock);
    assert(t->serving < t->next && atomic_load(&t->lent_by) == 0); /* held, and not lent */
    t->serving++;
    bool is_wanted = t->next != t->serving;
    uv_mutex_unlock(&t->lock);
    if (is_wanted) /* after the unlock, since the thread that wakes up takes the lock first */
        uv_cond_broadcast(&t->moved);
}

bool turn_is_wanted(struct turn *t)
{
    uv_mutex_lock(&t->lock);
    assert(t->serving < t->next);
    bool wanted = t->next > t->serving + 1;
    uv_mutex_unlock(&t->lock);
    return wanted;
}

void turn_lend(struct turn *t)
{
    uintptr_t before = atomic_exchange(&t->lent_by, (uintptr_t)uv_thread_self());
    assert(before == 0); /* only the holder lends, and once */
}

bool turn_reclaim(struct turn *t)
{
    /* The thread that took it may have lent it again; this thread cannot take back that loan. */
    uintptr_t self = (uintptr_t)uv_thread_self();
    if (atomic_compare_exchange_strong(&t->lent_by, &self, 0))
        return false;
    turn_take(t);
    return true;
}
