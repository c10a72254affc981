/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose turn it is to run the scheduler: a lock that is taken in the order in which threads ask for
 * it, and that its owner can lend while it is in a call which may take long.
 *
 *     free --take--> held --lend--> lent --reclaim--> held --give--> free, or the next one's
 *                                     \--- another thread has waited TURN_LENT_MS: its turn, which
 *                                          it may lend in turn; reclaim() waits as take() does
 *
 * As long as no other thread wants it, lend and reclaim are two atomic operations. Owners may be
 * asked for it thousands of times in a cycle (a filter for each node), so a thread that waits lets
 * the owner continue for TURN_LENT_MS, short calls included, before it takes a lent turn.
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
    uint64_t next, serving;   /* tickets: who comes next, whose turn it is; equal: free */
    atomic_uintptr_t lent_by; /* the thread; 0: it is not lent */
};

void turn_init(struct turn *t);
/* No thread may hold it or wait for it. */
void turn_fini(struct turn *t);
void turn_take(struct turn *t);
/* Without waiting. false: another thread has it, and is not in a call. */
bool turn_try(struct turn *t);
void turn_give(struct turn *t);
/* Does another thread wait for it? By the owner. */
bool turn_is_wanted(struct turn *t);
/* By the owner; reclaim by the same thread. */
void turn_lend(struct turn *t);
/* true: another thread had it meanwhile. */
bool turn_reclaim(struct turn *t);
