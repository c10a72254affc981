/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prediction by harmonics: the calls of the last hour, minute by minute, without their trend and
 * reduced to the strongest components of their spectrum, are assumed to repeat in the next hour.
 * Pure functions on plain arrays.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    ESCARGOT_MINUTES = 60,
    ESCARGOT_HARMONICS = 10, /* pairs of components that are kept, besides the mean */
    ESCARGOT_EPOCH_MS = 2000,
    ESCARGOT_EPOCHS = ESCARGOT_MINUTES * 60000 / ESCARGOT_EPOCH_MS,
    ESCARGOT_SMOOTH = 3,     /* epochs */
    ESCARGOT_PER_EPOCH = 80, /* creations, and removals, of all functions together */
};

/* counts: the oldest first. Predictions below 0 are 0. */
void escargot_forecast(const float counts[ESCARGOT_MINUTES], float ret[ESCARGOT_MINUTES]);
/* How many sandboxes in a minute with p calls of duration_ms. */
uint32_t escargot_sandboxes(double p, double duration_ms);
/* For each epoch of the predicted hour, smoothed. Returns the largest. */
uint32_t escargot_plan(const float predicted[ESCARGOT_MINUTES], double duration_ms,
                       uint16_t ret[ESCARGOT_EPOCHS]);
/*
 * At most per_epoch sandboxes of all plans together are created in an epoch, and at most so many
 * removed: creations too many move one epoch earlier, removals one epoch later, one sandbox of each
 * function in turn. before[i]: what plan i has in the epoch before its first.
 */
void escargot_level(uint16_t *const *plans, const uint16_t *before, size_t n, uint32_t per_epoch);
