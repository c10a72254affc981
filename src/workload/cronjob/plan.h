/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CronJob does at a moment: a pure function of its object and its Jobs. The rules are
 * upstream's (pkg/controller/cronjob).
 */
#pragma once

#include "base/zone.h"
#include "workload/frame/controller.h"

enum {
    CRONJOB_SLACK_MS = 100,   /* after a scheduled time, so that it has passed */
    CRONJOB_MISSED_MANY = 100 /* starts; more are reported */
};

struct cronjob_event {
    bool is_warning;
    const char *reason;
    struct str note;
};

/* A Job of the CronJob. */
struct cronjob_child {
    const struct workload_claim *claim;
    int64_t started_s; /* status.startTime, else its creation */
    bool is_complete, has_failed;
    bool is_removed; /* to be deleted: replaced, or beyond the history's limits */
};

struct cronjob_plan {
    struct cronjob_child *jobs;
    size_t n;
    struct json *status; /* without the Job that is to be made */
    struct json *create; /* without an owner; NULL: none */
    int64_t scheduled_s; /* of that Job */
    uint64_t again_ms;   /* until the next scheduled time; 0: none */
    struct cronjob_event *events;
    size_t n_events;
};

/*
 * jobs: with bodies. zone: of spec.timeZone; zone_error: why there is none ("": fine). Everything
 * is in the arena.
 */
struct cronjob_plan *cronjob_decide(struct arena *a, const struct json *object,
                                    const struct workload_claims *jobs, const struct zone *zone,
                                    const char *zone_error, int64_t now_ms);
/*
 * The Job of this time was made, or existed: it is active, and its time was the last one. job NULL:
 * it has ended already.
 */
void cronjob_started(struct arena *a, struct json *status, const struct json *job,
                     int64_t scheduled_s);
