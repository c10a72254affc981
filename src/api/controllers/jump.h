/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrects timestamps after the wall clock was set forward. A machine without a battery starts in
 * 1970 until it has synchronized its clock; earlier stamps then seem to be as old as the step. This
 * file computes how much has to be added to such stamps. A clock that was set back leaves stamps in
 * the future; the reader has to handle those.
 */
#pragma once

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { JUMP_MIN_MS = 1000 }; /* less is a clock being adjusted */

struct jump {
    bool known;
    int64_t offset_ms;  /* wall minus monotonic clock at the last look */
    int64_t forward_ms; /* size of the forward step; applies to */
    uint64_t below_rev; /* stamps written before this revision */
    uint64_t at_ms;     /* monotonic time of the step */
};

/* Look at the clocks. The next write gets next_rev. keep_ms: forget a step after this time. */
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

/* The stamp that was written in revision rev, in terms of the current clock. */
static inline int64_t jump_stamp(const struct jump *j, int64_t stamp_ms, uint64_t rev,
                                 int64_t now_ms)
{
    bool before = j->forward_ms && rev < j->below_rev;
    return before && stamp_ms <= now_ms - j->forward_ms ? stamp_ms + j->forward_ms : stamp_ms;
}
