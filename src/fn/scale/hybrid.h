/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hybrid histogram policy (Shahrad et al., ATC 2020): the idle times of a function decide when
 * its sandbox is removed, created again, and removed for good.
 *
 *     end of the last request --(prewarm)--> sandbox again --(until keep)--> gone
 *
 * prewarm 0: the sandbox is kept. Pure.
 */
#pragma once

#include <stdint.h>

enum {
    HYBRID_BIN_MS = 60000,
    HYBRID_BINS = 240, /* 4 hours */
};

struct hybrid {
    uint16_t bins[HYBRID_BINS];
    uint32_t n, n_outside; /* idle times seen; of those, longer than the bins reach */
    float level, trend;    /* of idle times in ms, for when most lie outside */
};

/* An idle time ended with a request. */
void hybrid_add(struct hybrid *h, uint64_t idle_ms);
void hybrid_windows(const struct hybrid *h, uint64_t *ret_prewarm_ms, uint64_t *ret_keep_ms);
