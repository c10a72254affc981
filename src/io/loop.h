/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One libuv loop with deferred calls, timers, jobs on worker threads, messages from other threads,
 * and signals.
 *
 * An idle loop blocks in epoll: this module arms no timer that its user did not request. Everything
 * is loop-thread-only except loop_post(). Users may add their own uv handles to loop->uv;
 * loop->uv.data is the struct loop.
 */
#pragma once

#include "base/err.h"
#include "base/list.h"
#include "base/vec.h"

#include <stdatomic.h>
#include <uv.h>

enum {
    LOOP_DEFER_PER_TURN =
        256, /* deferred calls and posts run in one turn; the rest waits for the next */
    LOOP_TIMERS_PER_TURN = 4096,
    LOOP_SCRATCH_BYTES = 64 << 10
};

struct timer;

struct loop {
    uv_loop_t uv;
    struct list deferred;       /* struct defer */
    uv_idle_t idle;             /* active only while something is deferred */
    VEC(struct timer *) timers; /* a heap, the earliest first */
    uv_timer_t uv_timer;        /* armed for timers.p[0] */
    bool in_timers;             /* timers are running; the uv timer is armed once afterwards */
    bool single_turn;           /* loop_turn() is running */
    uv_mutex_t post_lock;
    struct list posted; /* struct post, guarded by post_lock */
    bool is_woken;      /* guarded too: wake_fd was written and not read since */
    atomic_uint wakers; /* threads that are about to write wake_fd */
    int wake_fd;        /* an eventfd */
    uv_poll_t wake_poll;
    struct list batch; /* struct post, run in this turn */
    unsigned holds;
    char *scratch;
};

/* Ignores SIGPIPE in the process: a lost peer is an error code. */
int loop_init(struct loop *loop, struct err *err);
/* All handles of users must be closed and their callbacks have run; asserted. */
void loop_fini(struct loop *loop);
/* All loops of the process have ended, and no job runs: the threads for jobs end, so that what
 * libraries keep for a thread is freed before these clean up at exit. */
void loop_end_threads(void);
/* Run until loop_stop(), or until no active handle, armed timer or deferred call is left. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
/* Run one turn; wait: block for the next event. For tests. Returns whether something is still
 * active. */
bool loop_turn(struct loop *loop, bool wait);
uint64_t loop_now_ms(const struct loop *loop); /* cached at the start of the turn */
/* Read the clock again in a long turn, so that later measurements and timers do not include the
 * time that the turn has already taken. */
void loop_update_now(struct loop *loop);
/* Virtual time: clock_skip(); timers that are due after it run on the next turn. */
void loop_skip(struct loop *loop, uint64_t ms);
/* When the earliest timer is due, by loop_now_ms(); UINT64_MAX: none is armed. */
uint64_t loop_next_timer_ms(const struct loop *loop);
/* Nothing is deferred, posted or held (loop_hold()). Sockets and children may have pending
 * events. */
bool loop_is_idle(struct loop *loop);
/*
 * LOOP_SCRATCH_BYTES that a callback may use until it returns to the loop; allocated by the first
 * call.
 */
char *loop_scratch(struct loop *loop);
/* Free the scratch memory until loop_scratch() is called again. No callback may be using it. */
void loop_trim(struct loop *loop);

/* ---- run a function on the next turn, before polling; each struct is queued at most once ---- */
struct defer {
    struct list node; /* zeroed: not pending */
    void (*run)(struct defer *d);
};
/* Deferred calls run in the order in which they were started. No-op if pending; the struct must
 * stay valid until it has run or was cancelled. */
void defer_start(struct loop *loop, struct defer *d, void (*run)(struct defer *d));
void defer_cancel(struct defer *d);

/* ---- timers: many, cheap; all share one uv_timer_t per loop, armed for the earliest ---- */
struct timer {
    uint64_t due_ms;
    size_t heap_at; /* 0: not armed */
    void (*run)(struct timer *t);
};
/*
 * (Re)arm for `after_ms` from now. The struct must stay valid until it has run or was stopped.
 * Timers due at the same millisecond run in any order.
 */
void timer_start(struct loop *loop, struct timer *t, uint64_t after_ms,
                 void (*run)(struct timer *t));
void timer_stop(struct loop *loop, struct timer *t); /* fine when not armed */
static inline bool timer_is_armed(const struct timer *t)
{
    return t->heap_at != 0;
}

/* ---- work on a libuv pool thread ---- */
struct job {
    uv_work_t uv;
    void (*work)(struct job *j);        /* pool thread; touches only what the job owns */
    void (*done)(struct job *j, int r); /* loop thread, exactly once; r 0 or -ECANCELED */
};
int job_start(struct loop *loop, struct job *j);
void job_cancel(struct job *j); /* a request; done() still runs */

/* ---- from any thread: run(post) on the loop thread ---- */
struct post {
    struct list node;
    void (*run)(struct post *p);
};
/*
 * p is kept until run(). Posts of one thread run in order. A pending post does not keep loop_run()
 * running, and none may be pending at loop_fini().
 */
void loop_post(struct loop *loop, struct post *p);
/* While the count of holds is not 0, loop_run() keeps waiting for posts. Called by code that
 * expects a post from another thread. */
void loop_hold(struct loop *loop);
void loop_release(struct loop *loop);

/* ---- signals; a watch does not keep loop_run() running ---- */
struct sig_watch {
    uv_signal_t uv;
    void (*run)(struct sig_watch *w, int signum);
    void (*closed)(struct sig_watch *w);
};
/*
 * once: restore the default action after the first signal, so that a second Ctrl-C ends the
 * process. On success the struct is kept until closed() of sig_watch_close() has run.
 */
int sig_watch_start(struct loop *loop, struct sig_watch *w, int signum, bool once,
                    void (*run)(struct sig_watch *w, int signum), struct err *err);
void sig_watch_close(struct sig_watch *w,
                     void (*closed)(struct sig_watch *w)); /* closed may be NULL */
