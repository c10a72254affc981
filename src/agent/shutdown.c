/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/shutdown.h"

#include "agent/agent_impl.h"

#include <inttypes.h>

struct agent_shutdown {
    struct agent *a;
    struct pod_shutdown_plan plan;
    size_t at; /* the group that ends now; plan.n: all have */
    bool has_begun;
    size_t n_ended; /* that were asked to */
    struct timer timer;
    struct defer turn;
    void (*done)(void *arg, size_t n_ended, size_t n_left);
    void *arg;
};

static size_t group_of(const struct agent_shutdown *s, const struct agent_pod *p)
{
    return pod_shutdown_find(&s->plan, p->spec->priority);
}

static void end_pod(struct agent_shutdown *s, struct agent_pod *p)
{
    const struct pod_now now = agent_now(s->a);
    uint64_t own_ms = (uint64_t)MIN(MAX(p->spec->grace_s, (int64_t)0), (int64_t)INT32_MAX) * 1000;
    pod_life_evict(&p->life, "Terminated",
                   "Pod was terminated in response to imminent node shutdown.",
                   MIN(own_ms, s->plan.groups[s->at].grace_ms), &now);
    s->n_ended++;
    agent_pod_look(p);
}

static void begin_group(struct agent_shutdown *s)
{
    map_each (e, &s->a->pods) {
        struct agent_pod *p = e->value;
        if (group_of(s, p) == s->at && pod_at(&p->life) <= POD_ACTIVE)
            end_pod(s, p);
    }
}

/* Its containers and volumes, and the server knows. */
static bool has_ended(const struct agent_pod *p)
{
    return pod_at(&p->life) >= POD_FINISHED && !p->ask && !timer_is_armed(&p->report_timer);
}

/* Of the groups from `from` to `to`. */
static size_t count_left(const struct agent_shutdown *s, size_t from, size_t to)
{
    size_t n = 0;
    map_each (e, &s->a->pods) {
        const struct agent_pod *p = e->value;
        size_t i = group_of(s, p);
        n += i >= from && i <= to && !has_ended(p);
    }
    return n;
}

static void finish(struct agent_shutdown *s)
{
    void (*done)(void *arg, size_t n_ended, size_t n_left) = s->done;
    size_t n_left = count_left(s, 0, s->plan.n);
    log_info("pods have ended for the shutdown", "pods=%zu left=%zu", s->n_ended, n_left);
    s->done = NULL;
    if (done)
        done(s->arg, s->n_ended, n_left);
}

static void on_turn(struct defer *d);

static void on_late(struct timer *t)
{
    struct agent_shutdown *s = container_of(t, struct agent_shutdown, timer);
    log_warn("pods have not ended in time", "priority=%d pods=%zu", s->plan.groups[s->at].priority,
             count_left(s, s->at, s->at));
    s->at++;
    s->has_begun = false;
    defer_start(s->a->loop, &s->turn, on_turn);
}

static void on_turn(struct defer *d)
{
    struct agent_shutdown *s = container_of(d, struct agent_shutdown, turn);
    while (s->at < s->plan.n) {
        if (!s->has_begun)
            begin_group(s);
        if (count_left(s, s->at, s->at) > 0) {
            if (!s->has_begun)
                timer_start(s->a->loop, &s->timer,
                            s->plan.groups[s->at].grace_ms + AGENT_SHUTDOWN_REST_MS, on_late);
            s->has_begun = true;
            return;
        }
        timer_stop(s->a->loop, &s->timer);
        s->has_begun = false;
        s->at++;
    }
    finish(s);
}

void agent_shutdown_look(struct agent *a)
{
    struct agent_shutdown *s = a->shutdown;
    if (s && s->at < s->plan.n)
        defer_start(a->loop, &s->turn, on_turn);
}

int agent_shut_down(struct agent *a, const struct pod_shutdown_plan *plan,
                    void (*done)(void *arg, size_t n_ended, size_t n_left), void *arg,
                    struct err *err)
{
    if (a->shutdown)
        return err_set(err, E_CONFLICT, "the node is shutting down already");
    struct agent_shutdown *s = xnew(struct agent_shutdown);
    *s = (struct agent_shutdown){ .a = a, .plan = *plan, .done = done, .arg = arg };
    a->shutdown = s;
    log_info("the node is shutting down", "pods=%zu", a->pods.n);
    defer_start(a->loop, &s->turn, on_turn);
    return 0;
}

void agent_shut_down_forget(struct agent *a)
{
    if (a->shutdown)
        a->shutdown->done = NULL;
}

bool agent_is_shutting_down(const struct agent *a)
{
    return a->shutdown != NULL;
}

void agent_shutdown_free(struct agent_shutdown *s)
{
    if (!s)
        return;
    timer_stop(s->a->loop, &s->timer);
    defer_cancel(&s->turn);
    free(s);
}
