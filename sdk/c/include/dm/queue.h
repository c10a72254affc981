/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A work queue of keys after client-go's rules, as a pure state machine: time comes in as `now_ms`.
 *
 *            add                pop                 done
 *   (absent) ---> ready (FIFO) ----> running ------------------> (absent)
 *                  ^   ^              | add while running: again  |
 *             add, |   '--------------'                           | again later, or failed
 *             due  '------------------ waiting (by time) <--------'
 *
 * A key is in the queue once, however often it was added, and runs once at a time. Failures of a
 * key are counted until it is done without one; each doubles the delay.
 */
#pragma once

#include "dm/text.h"

#include <stdbool.h>
#include <stdint.h>

struct dm_queue_limits {
    uint32_t backoff_min_ms; /* after the first failure */
    uint32_t backoff_max_ms;
};
#define DM_QUEUE_LIMITS ((struct dm_queue_limits){ 100, 300000 })

struct dm_queue;

/* A key that is running. Borrowed from the queue until dm_queue_done(). */
struct dm_key {
    const char *ns; /* "" for cluster-scoped objects */
    const char *name;
    uint32_t failures; /* in a row, before this run */
};

struct dm_queue *dm_queue_new(struct dm_queue_limits limits);
void dm_queue_free(struct dm_queue *q); /* borrowed keys die with it */

void dm_queue_add(struct dm_queue *q, const char *ns, const char *name);

/* The key that is ready for longest, or NULL. */
const struct dm_key *dm_queue_pop(struct dm_queue *q, uint64_t now_ms);

enum dm_outcome { DM_DONE, DM_AGAIN, DM_FAILED };
/* after_ms counts for DM_AGAIN only. A key added while it ran is ready at once, whatever the
 * outcome. */
void dm_queue_done(struct dm_queue *q, const struct dm_key *key, enum dm_outcome outcome,
                   uint64_t after_ms, uint64_t now_ms);

/* When the next waiting key becomes ready; UINT64_MAX when none waits. */
uint64_t dm_queue_due(const struct dm_queue *q);
size_t dm_queue_length(const struct dm_queue *q); /* ready, waiting and running */
