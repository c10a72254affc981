/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When work that failed is tried again: each key waits for itself, twice as long after each failure
 * in a row. Pure; one thread.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    IMAGE_RETRIES_MAX = 1024, /* keys that wait; of more, those that end first are forgotten */
    IMAGE_RETRIES_FIRST_MS = 5000,
    IMAGE_RETRIES_LAST_MS = 300000,
};

struct image_retry {
    char *key;
    unsigned n_failures;
    uint64_t end_ms;
};

/* Zeroed is empty. Times are of a monotonic clock. */
struct image_retries {
    uint64_t max_ms; /* of a wait; IMAGE_RETRIES_LAST_MS at most */
    VEC(struct image_retry) all;
};

void image_retries_fini(struct image_retries *r);
/* Does the key wait no more, or has it not failed? */
bool image_retries_is_due(const struct image_retries *r, const char *key, uint64_t now_ms);
/* Returns for how long it waits now, in ms. */
uint64_t image_retries_failed(struct image_retries *r, const char *key, uint64_t now_ms);
/* Its failures are forgotten. */
void image_retries_done(struct image_retries *r, const char *key);
