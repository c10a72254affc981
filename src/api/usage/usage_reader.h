/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what nodes use from their agents when somebody asks, and only then: a reading is good for
 * USAGE_FRESH_MS, and everything is forgotten USAGE_KEEP_MS after the last question.
 *
 *     idle ---> queued ---> address ---> reading ---> idle
 *                  ^                        |
 *                  +------- pausing <-------+        the first reading of a while
 *
 * A node that was not read for a while is read twice, USAGE_PAUSE_MS apart, since its counters of
 * CPU time say nothing alone. A kubelet measures every ten seconds or so: it is read again, after
 * longer pauses, until it has newer counters. A node that cannot be read is not tried again for
 * USAGE_FRESH_MS.
 */
#pragma once

#include "api/usage/usage.h"

struct api;

enum {
    USAGE_FRESH_MS = 15000, /* metrics-server's resolution */
    USAGE_KEEP_MS = USAGE_WINDOW_MAX_MS,
    USAGE_PAUSE_MS = 1000, /* and twice as long each time */
    USAGE_PAUSES_MAX = 4,
    USAGE_READ_TIMEOUT_MS = 5000,
    USAGE_READS_MAX = 16,  /* at a time */
    USAGE_NODES_MAX = 5000 /* further ones are not read: names of Nodes in Pods may be any */
};

struct usage_reader;

struct usage_reader *usage_reader_new(struct api *api);
/* Only when it is not busy. */
void usage_reader_free(struct usage_reader *r);
/* Ends all reading; the callbacks of questions still run. Later questions are answered without
 * reading. */
void usage_reader_stop(struct usage_reader *r);
bool usage_reader_is_busy(const struct usage_reader *r);

/* ready: once, from the loop, when each of these nodes was read or could not be. */
void usage_reader_ask(struct usage_reader *r, const struct str *nodes, size_t n,
                      void (*ready)(void *arg), void *arg);
/* What is known of a node: borrowed for the callback; NULL: nothing, or too old. */
const struct usage_node *usage_reader_get(const struct usage_reader *r, struct str node);
