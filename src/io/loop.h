/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One libuv loop and what every user of it needs: deferred calls, timers, jobs on worker threads,
 * messages from other threads, signals.
 *
 * Idle means blocked in epoll: nothing here arms a timer that its user did not ask for.
 * Everything is loop-thread-only except loop_post().
 */
#pragma once

#include "base/err.h"
#include "base/list.h"

#include <uv.h>

struct loop {
    uv_loop_t uv;
    struct list deferred; /* struct defer */
    uv_prepare_t prepare;
    uv_idle_t idle;       /* active only while something is deferred */
    uv_async_t async;
    uv_mutex_t post_lock;
    struct list posted;   /* struct post, guarded by post_lock */
    unsigned handles_own;
};

int loop_init(struct loop *loop, struct err *err);
/* All handles of users must have been closed and run; asserts otherwise. */
void loop_fini(struct loop *loop);
/* Until loop_stop(), or until no active handle is left. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* One turn; `wait`: block for the next event. For tests. Returns whether something is still active. */
bool loop_turn(struct loop *loop, bool wait);
uint64_t loop_now_ms(const struct loop *loop); /* cached at the start of the turn */

/* ---- run a function on the next turn, before polling; each struct at most once at a time ---- */
struct defer {
    struct list node; /* zeroed: not pending */
    void (*run)(struct defer *d);
};
void defer_start(struct loop *loop, struct defer *d, void (*run)(struct defer *d)); /* no-op if pending */
void defer_cancel(struct defer *d);

/* ---- timers: many, cheap; all share one uv_timer_t per loop, armed for the earliest ---- */
struct timer {
    uint64_t due_ms;
    size_t heap_at; /* 0: not armed */
    void (*run)(struct timer *t);
};
/* (Re)arm for `after_ms` from now. The struct must stay valid until it ran or was stopped. */
void timer_start(struct loop *loop, struct timer *t, uint64_t after_ms, void (*run)(struct timer *t));
void timer_stop(struct loop *loop, struct timer *t); /* fine when not armed */
static inline bool timer_is_armed(const struct timer *t)
{
    return t->heap_at != 0;
}

/* ---- work on a libuv pool thread ---- */
struct job {
    uv_work_t uv;
    void (*work)(struct job *j);         /* pool thread; touches only what the job owns */
    void (*done)(struct job *j, int r);  /* loop thread, exactly once; r 0 or -ECANCELED */
};
int job_start(struct loop *loop, struct job *j);
void job_cancel(struct job *j); /* asks; done() still comes */

/* ---- from any thread: run(post) on the loop thread ---- */
struct post {
    struct list node;
    void (*run)(struct post *p);
};
void loop_post(struct loop *loop, struct post *p); /* p is kept until run() */
