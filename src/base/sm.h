/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State machines: named states, declared edges, one function that moves.
 *
 *     static const struct sm_state pull_table[] = {
 *         [PULL_RESOLVE] = { "resolve", EDGE(PULL_MANIFEST) | EDGE(PULL_DONE) },
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
    return (sm->table[sm->at].next & EDGE(to)) != 0;
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
