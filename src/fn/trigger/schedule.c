/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules: READING (the stored progress) -> WAITING <-> FIRING (the call is written to disk).
 *
 * A note holds the last time that fired and a hash of the schedule. Times that were missed since
 * then, because no process ran, the machine was suspended or its clock was put forward, lead to one
 * firing at the latest missed time. After a start this happens only if no other gateway is alive
 * that may have fired. A changed schedule counts from the change on.
 *
 * A timer of the loop waits for the next time. A timerfd on the wall clock reports when that clock
 * has been set, and times that passed while the machine was suspended.
 */
#include "fn/trigger/trigger_int.h"

#include "base/log.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { RETRY_S = 5 };

static uint64_t hash_of(const struct trigger *tr)
{
    return str_hash(tr->spec.cron, str_hash(tr->spec.time_zone, 0));
}

int schedule_init(struct trigger *tr, struct err *err)
{
    int r = cron_parse(tr->spec.cron, &tr->cron, err);
    return r < 0 ? r : zone_load(tr->t->zoneinfo, tr->spec.time_zone, &tr->zone, err);
}

static bool owns(struct trigger *tr)
{
    struct triggers *t = tr->t;
    return t->functions.ops->owns(t->functions.arg, tr->namespace, tr->name);
}

static void note_format(const struct trigger *tr, int64_t last_s, char ret[48])
{
    (void)snprintf(ret, 48, "%lld %016llx", (long long)last_s, (unsigned long long)hash_of(tr));
}

/* ------------------------------------------------------------------ firing */

static void fired(struct trigger *tr, int r, bool is_repeat, const struct err *err)
{
    struct triggers *t = tr->t;
    assert(tr->at == SCHEDULE_FIRING);
    tr->at = SCHEDULE_WAITING;
    if (r >= 0) {
        t->stats.fired += !is_repeat;
        tr->last_s = tr->firing_s;
        tr->next_s = cron_next(&tr->cron, tr->zone, tr->last_s);
    } else {
        t->stats.failures++;
        tr->not_before_s = trigger_now_s() + RETRY_S; /* the same time again */
        log_warn("schedule could not fire, trying again",
                 "function=" STR_FMT "/" STR_FMT " trigger=" STR_FMT " err=\"%s\"",
                 STR_ARG(tr->namespace), STR_ARG(tr->name), STR_ARG(tr->spec.name), err_text(err));
    }
    if (!tr->gone && !t->closing)
        schedules_arm(t);
    trigger_release(tr);
}

static void on_submitted(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                         const struct err *err)
{
    fired(arg, r, is_repeat, err);
}

static void add_fields(struct headers *h, const struct trigger *tr, int64_t at_s)
{
    char text[192], time[RFC3339_MAX];
    bool is_json = tr->spec.body.n && (tr->spec.body.p[0] == '{' || tr->spec.body.p[0] == '[');
    (void)headers_addc(h, "ce-specversion", "1.0");
    (void)headers_addc(h, "ce-type", "dev.dormouse.cron");
    (void)snprintf(text, sizeof text, "/functions/" STR_FMT "/" STR_FMT, STR_ARG(tr->namespace),
                   STR_ARG(tr->name));
    (void)headers_addc(h, "ce-source", text);
    (void)snprintf(text, sizeof text, STR_FMT "-%lld", STR_ARG(tr->spec.name), (long long)at_s);
    (void)headers_addc(h, "ce-id", text);
    (void)headers_add(h, STR("ce-subject"), tr->spec.name);
    rfc3339_format(at_s, time);
    (void)headers_addc(h, "ce-time", time);
    if (tr->spec.body.n)
        (void)headers_addc(h, "content-type",
                           is_json ? "application/json" : "text/plain; charset=utf-8");
}

static void fire(struct trigger *tr, int64_t at_s)
{
    struct headers h = { 0 };
    struct err err = { 0 };
    char key[128], note[48];
    (void)snprintf(key, sizeof key, "cron/" STR_FMT "/%lld", STR_ARG(tr->spec.name),
                   (long long)at_s);
    note_format(tr, at_s, note);
    add_fields(&h, tr, at_s);
    struct async_call call = { .namespace = tr->namespace,
                               .name = tr->name,
                               .method = STR("POST"),
                               .target = tr->spec.path,
                               .headers = &h,
                               .body = tr->spec.body,
                               .key = str_of(key),
                               .publishes = true,
                               .note = tr->note,
                               .note_value = str_of(note) };
    assert(tr->at == SCHEDULE_WAITING && !tr->gone);
    tr->at = SCHEDULE_FIRING;
    tr->firing_s = at_s;
    trigger_hold(tr);
    int r = async_submit(tr->t->async, &call, on_submitted, tr, &err);
    headers_fini(&h);
    if (r < 0)
        fired(tr, r, false, &err);
}

static void look(struct trigger *tr, int64_t now_s)
{
    struct triggers *t = tr->t;
    uint64_t n;
    if (tr->at != SCHEDULE_WAITING || tr->next_s == 0 || tr->next_s > now_s ||
        tr->not_before_s > now_s)
        return;
    if (!owns(tr)) { /* fired where it is owned */
        tr->last_s = now_s;
        tr->next_s = cron_next(&tr->cron, tr->zone, now_s);
        return;
    }
    int64_t from = MAX(tr->last_s, now_s - TRIGGER_CATCH_UP_MS / 1000);
    int64_t at = cron_last(&tr->cron, tr->zone, from, now_s, &n);
    if (at == 0) { /* missed too long ago */
        t->stats.missed++;
        tr->last_s = now_s;
        tr->next_s = cron_next(&tr->cron, tr->zone, now_s);
        return;
    }
    t->stats.missed += n - 1;
    fire(tr, at);
}

/* ------------------------------------------------------------------ timer */

static void arm(struct triggers *t);

/* All schedules are checked once in a turn of the loop, however many have changed in it. */
static void on_turn(struct defer *d)
{
    struct triggers *t = container_of(d, struct triggers, turn);
    int64_t now_s = trigger_now_s();
    list_each (node, &t->schedules)
        look(list_entry(node, struct trigger, by_kind), now_s);
    arm(t);
}

void schedules_arm(struct triggers *t)
{
    if (!t->closing)
        defer_start(t->loop, &t->turn, on_turn);
}

static void on_timer(struct timer *tm)
{
    schedules_arm(container_of(tm, struct triggers, timer));
}

static void on_clock(uv_poll_t *p, int status, int events)
{
    struct triggers *t = p->data;
    uint64_t n;
    ssize_t got = read(t->clock_fd, &n, sizeof n); /* -ECANCELED: the clock was set */
    (void)got;
    schedules_arm(t);
}

static void arm_clock(struct triggers *t, int64_t wall_s)
{
    if (t->clock_fd < 0 && wall_s) {
        int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
        if (fd < 0 || uv_poll_init(&t->loop->uv, &t->clock, fd) < 0) {
            if (fd >= 0)
                (void)close(fd);
            return; /* without it, a clock that is set is noticed at the next time */
        }
        t->clock_fd = fd;
        t->clock.data = t;
        t->busy++;
    }
    if (t->clock_fd < 0)
        return;
    struct itimerspec when = { .it_value.tv_sec = wall_s };
    (void)timerfd_settime(t->clock_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL);
    if (wall_s)
        (void)uv_poll_start(&t->clock, UV_READABLE, on_clock);
    else
        (void)uv_poll_stop(&t->clock);
}

static void arm(struct triggers *t)
{
    int64_t first = INT64_MAX, now_ms = clock_wall_ms();
    list_each (node, &t->schedules) {
        const struct trigger *tr = list_entry(node, struct trigger, by_kind);
        if (tr->at == SCHEDULE_WAITING && tr->next_s)
            first = MIN(first, MAX(tr->next_s, tr->not_before_s));
    }
    if (first == INT64_MAX) {
        timer_stop(t->loop, &t->timer);
        arm_clock(t, 0);
        return;
    }
    timer_start(t->loop, &t->timer, first * 1000 > now_ms ? (uint64_t)(first * 1000 - now_ms) : 0,
                on_timer);
    arm_clock(t, first);
}

static void on_clock_closed(uv_handle_t *h)
{
    struct triggers *t = h->data;
    (void)close(t->clock_fd);
    triggers_release(t);
}

static void on_stopped(struct defer *d)
{
    triggers_release(container_of(d, struct triggers, turn));
}

void schedules_stop(struct triggers *t)
{
    timer_stop(t->loop, &t->timer);
    defer_cancel(&t->turn);
    if (t->clock_fd >= 0)
        uv_close((uv_handle_t *)&t->clock, on_clock_closed);
    defer_start(t->loop, &t->turn, on_stopped); /* the first reference, on a later turn */
}

/* ------------------------------------------------------------------ progress */

static bool note_parse(const struct trigger *tr, struct str note, int64_t *ret_last_s)
{
    struct str last, hash;
    char want[48];
    note_format(tr, 0, want);
    return str_cut(note, ' ', &last, &hash) && str_eq(hash, str_of(want + 2)) &&
           parse_i64(last, 0, INT64_MAX, ret_last_s) >= 0;
}

static void on_note(void *arg, int r, struct str value, const struct err *err)
{
    struct trigger *tr = arg;
    struct triggers *t = tr->t;
    int64_t now_s = trigger_now_s(), last_s = now_s;
    if (tr->gone || t->closing || r < 0) {
        if (!tr->gone && !t->closing) { /* from now on, then */
            tr->at = SCHEDULE_WAITING;
            tr->last_s = now_s;
            tr->next_s = cron_next(&tr->cron, tr->zone, now_s);
            schedules_arm(t);
        }
        trigger_release(tr);
        return;
    }
    bool is_known = note_parse(tr, value, &last_s);
    bool is_past = last_s <= now_s, is_near = last_s - now_s < TRIGGER_CATCH_UP_MS / 1000;
    bool may_catch_up =
        is_known && is_past && owns(tr) && t->functions.ops->is_alone(t->functions.arg);
    /*
     * A clock that was put back does not repeat firings; the future time of a wrong clock is
     * discarded.
     */
    bool went_back = is_known && !is_past && is_near;
    tr->last_s = may_catch_up || went_back ? last_s : now_s;
    tr->next_s = cron_next(&tr->cron, tr->zone, tr->last_s);
    tr->at = SCHEDULE_WAITING;
    if (!is_known && owns(tr)) {
        char note[48];
        note_format(tr, now_s, note);
        (void)async_note_put(t->async, tr->note, str_of(note), NULL, NULL, NULL);
    }
    schedules_arm(t);
    trigger_release(tr);
}

void schedule_start(struct trigger *tr)
{
    struct err err = { 0 };
    tr->at = SCHEDULE_READING;
    trigger_hold(tr);
    int r = async_note_get(tr->t->async, tr->note, on_note, tr, &err);
    if (r < 0)
        on_note(tr, r, STR_NULL, &err);
}
