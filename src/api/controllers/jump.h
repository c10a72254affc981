/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the wall clock is put forward (a machine without a battery begins in 1970, until it has
 * asked somebody), what was stamped before seems to be as old as the step was long. Here is how
 * much has to be added to such stamps. A clock that was put back makes stamps of the future; that
 * is the reader's to see.
 */
#pragma once

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { JUMP_MIN_MS = 1000 }; /* less is a clock that is being tuned */

struct jump {
    bool known;
    int64_t offset_ms;  /* wall less monotonic clock, when last looked at */
    int64_t forward_ms; /* how far it went forward, */
    uint64_t below_rev; /* for what was written before this revision, */
    uint64_t at_ms;     /* at this time of the monotonic clock */
};

/* Look at the clocks. What is written now gets next_rev. keep_ms: a step is forgotten after that.
 */
static inline void jump_note(struct jump *j, int64_t wall_ms, uint64_t mono_ms, uint64_t next_rev,
                             uint64_t keep_ms)
{
    int64_t offset_ms = wall_ms - (int64_t)mono_ms, step_ms = offset_ms - j->offset_ms;
    if (j->forward_ms && mono_ms - j->at_ms > keep_ms)
        j->forward_ms = 0;
    if (!j->known || step_ms <= -JUMP_MIN_MS || step_ms >= JUMP_MIN_MS)
        j->offset_ms = offset_ms;
    if (j->known && step_ms >= JUMP_MIN_MS) {
        j->forward_ms += step_ms;
        j->below_rev = next_rev;
        j->at_ms = mono_ms;
    }
    j->known = true;
}

/* The stamp, of what was written in rev, by the clock of now. */
static inline int64_t jump_stamp(const struct jump *j, int64_t stamp_ms, uint64_t rev,
                                 int64_t now_ms)
{
    bool before = j->forward_ms && rev < j->below_rev;
    return before && stamp_ms <= now_ms - j->forward_ms ? stamp_ms + j->forward_ms : stamp_ms;
}
