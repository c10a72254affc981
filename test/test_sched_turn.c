/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that is lent: more than one thread lends it, and more than one waits. */
#include "test.h"

#include "sched/driver/turn.h"

#include <sched.h>

struct other {
    struct turn *turn;
    uv_thread_t thread;
    uv_sem_t lends, goes_on; /* it is in its call; the call ends */
    bool was_taken;
};

/* Takes the turn, and lends it during a call that ends when the test says so. */
static void lend_it(void *arg)
{
    struct other *o = arg;
    turn_take(o->turn);
    turn_lend(o->turn);
    uv_sem_post(&o->lends);
    uv_sem_wait(&o->goes_on);
    o->was_taken = turn_reclaim(o->turn);
    turn_give(o->turn);
}

static void start(struct other *o, struct turn *t, void (*run)(void *arg))
{
    *o = (struct other){ .turn = t };
    CHECK_INT(uv_sem_init(&o->lends, 0), 0);
    CHECK_INT(uv_sem_init(&o->goes_on, 0), 0);
    CHECK_INT(uv_thread_create(&o->thread, run, o), 0);
}

static void end(struct other *o)
{
    CHECK_INT(uv_thread_join(&o->thread), 0);
    uv_sem_destroy(&o->lends);
    uv_sem_destroy(&o->goes_on);
}

/* Until so many threads have asked for it, in all. */
static void wait_asked(struct turn *t, uint64_t n)
{
    for (;;) {
        uv_mutex_lock(&t->lock);
        bool have = t->next >= n;
        uv_mutex_unlock(&t->lock);
        if (have)
            return;
        (void)sched_yield();
    }
}

TEST(nobody_reclaims_what_another_thread_lends)
{
    struct turn t;
    struct other b;
    turn_init(&t);
    turn_take(&t);
    start(&b, &t, lend_it);
    turn_lend(&t);
    uv_sem_wait(&b.lends); /* it has the turn, and lends it as well */
    CHECK(turn_reclaim(&t));
    uv_sem_post(&b.goes_on);
    wait_asked(&t, 4); /* it waits for its turn now: the test has it */
    CHECK(turn_is_wanted(&t));
    turn_give(&t);
    end(&b);
    CHECK(b.was_taken);
    turn_fini(&t);
}

TEST(who_waits_for_one_that_waited_gets_what_that_one_lends)
{
    struct turn t;
    struct other b, c;
    turn_init(&t);
    turn_take(&t);
    start(&b, &t, lend_it);
    wait_asked(&t, 2);
    start(&c, &t, lend_it);
    wait_asked(&t, 3);
    turn_lend(&t);
    uv_sem_wait(&b.lends);
    uv_sem_wait(&c.lends); /* though b does not give it */
    uv_sem_post(&b.goes_on);
    uv_sem_post(&c.goes_on);
    CHECK(turn_reclaim(&t));
    turn_give(&t);
    end(&b);
    end(&c);
    CHECK(turn_try(&t));
    CHECK(!turn_try(&t));
    turn_give(&t);
    turn_fini(&t);
}

TEST(nobody_tries_in_vain_for_a_lent_turn)
{
    struct turn t;
    turn_init(&t);
    turn_take(&t);
    CHECK(!turn_try(&t));
    turn_lend(&t);
    CHECK(turn_try(&t));
    turn_give(&t);
    CHECK(turn_reclaim(&t));
    turn_lend(&t);
    CHECK(!turn_reclaim(&t));
    turn_give(&t);
    turn_fini(&t);
}

TEST_MAIN
