/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread may run the scheduler: a fair lock (threads get it in the order in which they ask),
 * which its owner can lend during a call that may take long.
 *
 *     free --take--> held --lend--> lent --reclaim--> held --give--> free, or the next thread's
 *                                     \--- another thread has waited TURN_LENT_MS: its turn, which
 *                                          it may lend in turn; reclaim() waits as take() does
 *
 * As long as no other thread wants it, lend and reclaim are two atomic operations. Owners may lend
 * it thousands of times in a cycle (a filter for each node), so a waiting thread lets the owner
 * continue for TURN_LENT_MS, short calls included, before it takes a lent turn.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum { TURN_LENT_MS = 1 };

struct turn {
    uv_mutex_t lock;
    uv_cond_t moved;
    uint64_t next, serving;   /* tickets: the next to hand out, the one being served; equal: free */
    atomic_uintptr_t lent_by; /* the thread; 0: it is not lent */
};

void turn_init(struct turn *t);
/* No thread may hold it or wait for it. */
void turn_fini(struct turn *t);
void turn_take(struct turn *t);
/* Does not wait. Returns false if another thread holds it and has not lent it. */
bool turn_try(struct turn *t);
void turn_give(struct turn *t);
/* Is another thread waiting for it? Called by the owner. */
bool turn_is_wanted(struct turn *t);
/* Called by the owner; reclaim by the same thread. */
void turn_lend(struct turn *t);
/* Returns true if another thread had it meanwhile. */
bool turn_reclaim(struct turn *t);
