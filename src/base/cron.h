/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of five fields, in the syntax of Kubernetes' CronJob, and the times at which they fire.
 * Pure.
 *
 *     minute (0-59)  hour (0-23)  day of month (1-31)  month (1-12, jan-dec)
 *     day of week (0-7, sun-sat; 0 and 7 are Sunday)
 *
 * In each: "*" or "?", numbers, ranges a-b, lists with commas, and a step with "/n" after "*", a-b
 * or a (from a to the end). If both days are restricted, one that matches is enough; "*" restricts
 * nothing, but with a step it does. Also @yearly, @annually, @monthly, @weekly, @daily, @midnight,
 * @hourly, and @every with a duration ("90s", "1h30m"), which fires at multiples of it since 1970.
 *
 * The fields are those of a clock in the time zone. Times that the clock skips when it is put
 * forward do not fire; times that it repeats when it is put back fire twice.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "base/zone.h"

enum { CRON_TEXT_MAX = 256, CRON_HORIZON_YEARS = 8 };

struct cron {
    uint64_t minutes; /* bit n: fires at n */
    uint32_t hours, days, months, weekdays;
    bool any_day, any_weekday; /* "*" */
    uint64_t every_s;          /* 0: the fields */
};

/* E_INVALID with what is wrong. */
int cron_parse(struct str text, struct cron *ret, struct err *err);
/* The first time after `after_s` (seconds since 1970); 0: none within CRON_HORIZON_YEARS. */
int64_t cron_next(const struct cron *c, const struct zone *z, int64_t after_s);
/* The last one in (after_s, until_s]; 0: none. *ret_n: their number, counted up to 100000. */
int64_t cron_last(const struct cron *c, const struct zone *z, int64_t after_s, int64_t until_s,
                  uint64_t *ret_n);
