/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of trigger/ share. Private to src/fn/trigger/. */
#pragma once

#include "base/clock.h"
#include "base/cron.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "fn/trigger/trigger.h"
#include "io/http.h"

struct trigger_watch;

/* One function that has triggers. */
struct trigger_followed {
    char *namespace, *name;
    struct list triggers; /* struct trigger.node */
};

/*
 * One trigger. It is freed when it is `gone` and no callback is pending (`busy`); every callback
 * checks `gone` first.
 */
struct trigger {
    struct triggers *t;
    struct list node;
    struct list by_kind; /* schedules, or the event triggers of a namespace, or watches */
    struct arena arena;
    struct fn_trigger spec; /* in the arena, as are the names */
    struct str namespace, name;
    struct str note;
    unsigned busy;
    bool gone;

    /* CRON. Seconds since 1970; 0: none. */
    struct cron cron;
    struct zone *zone;
    enum { SCHEDULE_READING, SCHEDULE_WAITING, SCHEDULE_FIRING } at;
    int64_t last_s; /* fired, or since when it counts */
    int64_t next_s;
    int64_t firing_s;
    int64_t not_before_s; /* after a failure */

    struct trigger_watch *watch; /* NULL: another gateway owns the function */
};

struct triggers {
    struct loop *loop;
    struct async *async;
    struct trigger_functions functions;
    struct transport *transport;
    struct watch_hub *hub;
    char *zoneinfo;
    struct map by_function;  /* struct trigger_followed, by "namespace/name" */
    struct map by_namespace; /* struct list of event triggers */
    struct list schedules, watches;
    size_t n_triggers, n_schedules, n_watches;
    size_t busy; /* triggers, posts of events and handles that are not released yet */
    size_t posts_bytes;
    bool closing;
    void (*done)(void *arg);
    void *done_arg;

    /* schedule.c */
    struct timer timer;
    uv_poll_t clock; /* readable when the wall clock has been set */
    int clock_fd;    /* -1: not made yet */
    struct defer turn;
    struct trigger_stats stats;
};

static inline int64_t trigger_now_s(void)
{
    return clock_wall_ms() / 1000;
}

void trigger_hold(struct trigger *tr);
/* May release it. */
void trigger_release(struct trigger *tr);
void triggers_release(struct triggers *t);

/* ---- schedule.c ---- */

int schedule_init(struct trigger *tr, struct err *err);
void schedule_start(struct trigger *tr);
/* On the next turn: fire what is due, wait for the next one. */
void schedules_arm(struct triggers *t);
void schedules_stop(struct triggers *t); /* the caller holds `t` around it */

/* ---- events.c ---- */

bool events_serve(void *arg, struct http_exchange *x, const struct http_request *req);
/* As async_events.publish. */
int events_publish(void *arg, struct str namespace, const struct headers *headers, struct str body,
                   async_published_cb cb, void *cb_arg, struct err *err);

/* ---- watch.c ---- */

/* Start or stop it according to the ownership. */
void watch_check(struct trigger *tr);
void watch_stop(struct trigger *tr);
