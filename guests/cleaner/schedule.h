/* SPDX-License-Identifier: Apache-2.0 */
/* When something is due: cron schedules in UTC, and durations as people write them. Pure. */
#pragma once

#include "dm/text.h"

#include <stdbool.h>
#include <stdint.h>

/* Bit n: the value n is meant. */
struct schedule {
    uint64_t minutes;             /* 0 to 59 */
    uint32_t hours, days, months; /* 0 to 23, 1 to 31, 1 to 12 */
    uint32_t weekdays;            /* 0 to 6, Sunday is 0 */
    bool any_day, any_weekday;    /* written as '*': a day must match the other one */
    uint32_t every_s;             /* "@every 10m": the rest is unused */
};

/*
 * "M H DOM MON DOW" with '*', numbers, names (jan, mon), ranges, steps and lists; "@hourly",
 * "@daily",
 * "@weekly", "@monthly", "@yearly"; "@every 10m" (a minute at least). If both days are restricted,
 * either may match. Returns false, with *ret_why set to a sentence, and leaves *ret alone.
 */
bool schedule_parse(struct dm_str text, struct schedule *ret, const char **ret_why);

/* The first time behind `after_s`; 0: never (the 30th of February). */
uint64_t schedule_next(const struct schedule *s, uint64_t after_s);

/* "90s", "15m", "1h30m", "7d", "2w": seconds, up to 100 years. */
bool duration_parse(struct dm_str text, uint64_t *ret_s);
