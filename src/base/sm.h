/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State machines: named states, declared edges, one function that moves.
 *
 *     static const struct sm_state pull_table[] = {
 *         [PULL_RESOLVE] = { "resolve", EDGE(PULL_MANIFEST) | EDGE(PULL_DONE) },
 *
 * A struct of which there are many, or which has several machines, stores each state as a packed
 * enum of one byte instead of a struct sm. Its one function that moves asserts sm_is_edge().
 */
#pragma once

#include "base/log.h"

#include <assert.h>
#include <stdint.h>

#define EDGE(state) (UINT32_C(1) << (state))

struct sm_state {
    const char *name;
    uint32_t next; /* EDGE() bits */
};

/* Whether the table allows the move. */
static inline bool sm_is_edge(const struct sm_state *table, unsigned at, unsigned to)
{
    return (table[at].next & EDGE(to)) != 0;
}

struct sm {
    const struct sm_state *table;
    unsigned at;
};

static inline void sm_init(struct sm *sm, const struct sm_state *table, unsigned first)
{
    *sm = (struct sm){ .table = table, .at = first };
}
static inline bool sm_can_move(const struct sm *sm, unsigned to)
{
    return sm_is_edge(sm->table, sm->at, to);
}
static inline void sm_move(struct sm *sm, unsigned to)
{
    assert(sm_can_move(sm, to));
    sm->at = to;
}
static inline const char *sm_name(const struct sm *sm)
{
    return sm->table[sm->at].name;
}
