/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop: deferred calls on an idle handle, a timer heap on one uv_timer_t, jobs, posts; see
 * loop.h.
 */
#include "io/loop.h"

#include "base/clock.h"
#include "base/heap.h"
#include "io/work_pool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* ------------------------------------------------------------------ deferred calls */

/*
 * libuv runs idle handles before it polls, and polls without blocking while one is active. Calls
 * deferred by the batch itself wait for the next turn, so that a call that defers itself again does
 * not starve other work.
 */
static void on_idle(uv_idle_t *idle)
{
    struct loop *loop = idle->data;
    struct list batch;
    list_move_all(&loop->deferred, &batch);
    struct list *node;
    for (unsigned n = 0; n < LOOP_DEFER_PER_TURN && (node = list_pop_front(&batch)); n++) {
        struct defer *d = list_entry(node, struct defer, node);
        d->run(d);
    }
    while ((node = list_pop_front(&loop->deferred)))
        list_push_back(&batch, node);
    list_move_all(&batch, &loop->deferred);
    if (list_is_empty(&loop->deferred))
        (void)uv_idle_stop(&loop->idle);
}

void defer_start(struct loop *loop, struct defer *d, void (*run)(struct defer *d))
{
    assert(run);
    if (list_is_linked(&d->node))
        return;
    d->run = run;
    list_push_back(&loop->deferred, &d->node);
    (void)uv_idle_start(&loop->idle, on_idle); /* fails only without a callback */
}

void defer_cancel(struct defer *d)
{
    list_remove(&d->node);
}

/* ------------------------------------------------------------------ timers */

static bool timer_before(const void *a, const void *b, const void *arg)
{
    return (*(struct timer *const *)a)->due_ms < (*(struct timer *const *)b)->due_ms;
}

static void timer_placed(void *entry, size_t place)
{
    (*(struct timer **)entry)->heap_at = place;
}

static const struct heap_kind by_due = { sizeof(struct timer *), timer_before, timer_placed };

static void on_uv_timer(uv_timer_t *uv);

/*
 * at_least_ms: 1 from the uv timer's own callback, which libuv before 1.45 would call again at
 * once.
 */
static void arm(struct loop *loop, uint64_t at_least_ms)
{
    if (loop->in_timers)
        return;
    if (loop->timers.n == 0) {
        (void)uv_timer_stop(&loop->uv_timer);
        return;
    }
    uint64_t now = loop_now_ms(loop), due = loop->timers.p[0]->due_ms;
    assert(loop->timers.p[0]->heap_at == 1);
    uint64_t after = due > now ? due - now : 0;
    (void)uv_timer_start(&loop->uv_timer, on_uv_timer, MAX(after, at_least_ms), 0);
}

/* Runs at most as many timers as there were at the start, so that one that arms itself for "now"
 * waits for the next turn. */
static void on_uv_timer(uv_timer_t *uv)
{
    struct loop *loop = uv->data;
    uint64_t now = loop_now_ms(loop);
    size_t left = MIN(loop->timers.n, (size_t)LOOP_TIMERS_PER_TURN);
    assert(!loop->in_timers); /* a callback must not run the loop */
    loop->in_timers = true;
    for (; left && loop->timers.n && loop->timers.p[0]->due_ms <= now; left--) {
        struct timer *t = loop->timers.p[0];
        assert(t->run && t->heap_at == 1);
        heap_remove(&by_due, NULL, &loop->timers, 1);
        t->run(t);
    }
    loop->in_timers = false;
    arm(loop, 1);
    if (loop->single_turn)
        uv_stop(&loop->uv); /* libuv may run timers before polling, and would then block for one
                               more event */
}

void timer_start(struct loop *loop, struct timer *t, uint64_t after_ms,
                 void (*run)(struct timer *t))
{
    uint64_t due;
    assert(run && t->heap_at <= loop->timers.n); /* else the timer is another loop's */
    if (__builtin_add_overflow(loop_now_ms(loop), after_ms, &due))
        due = UINT64_MAX;
    struct timer *first = loop->timers.n ? loop->timers.p[0] : NULL;
    uint64_t first_due = first ? first->due_ms : 0;
    t->run = run;
    t->due_ms = due;
    if (t->heap_at)
        heap_fix(&by_due, NULL, &loop->timers, t->heap_at);
    else
        heap_push(&by_due, NULL, &loop->timers, t);
    if (loop->timers.p[0] != first || first->due_ms != first_due)
        arm(loop, 0);
}

void timer_stop(struct loop *loop, struct timer *t)
{
    if (!t->heap_at)
        return;
    assert(t->heap_at <= loop->timers.n && loop->timers.p[t->heap_at - 1] == t);
    bool was_first = t->heap_at == 1;
    heap_remove(&by_due, NULL, &loop->timers, t->heap_at);
    if (was_first)
        arm(loop, 0);
}

/* ------------------------------------------------------------------ jobs */

static void on_work(uv_work_t *uv)
{
    struct job *j = uv->data;
    j->work(j);
}

static void on_work_done(uv_work_t *uv, int status)
{
    struct job *j = uv->data;
    j->done(j, status); /* 0 or UV_ECANCELED, which is -ECANCELED; may free j */
}

int job_start(struct loop *loop, struct job *j)
{
    assert(j->work && j->done);
    j->uv.data = j;
    return work_pool_queue(&loop->uv, &j->uv, on_work, on_work_done);
}

void job_cancel(struct job *j)
{
    (void)uv_cancel((uv_req_t *)&j->uv); /* UV_EBUSY: already running, done() runs with 0 */
}

/* ------------------------------------------------------------------ posts */

static void wake(struct loop *loop)
{
    static const uint64_t one = 1;
    ssize_t n = write(loop->wake_fd, &one, sizeof one);
    assert(n == sizeof one); /* at most one per read, so the counter never overflows */
}

static void on_wake(uv_poll_t *poll, int status, int events)
{
    struct loop *loop = poll->data;
    struct list *node;
    uint64_t count;
    assert(list_is_empty(&loop->batch)); /* a callback must not run the loop */
    (void)!read(loop->wake_fd, &count, sizeof count);
    uv_mutex_lock(&loop->post_lock);
    for (unsigned n = 0; n < LOOP_DEFER_PER_TURN && (node = list_pop_front(&loop->posted)); n++)
        list_push_back(&loop->batch, node);
    bool is_more = loop->is_woken = !list_is_empty(&loop->posted);
    uv_mutex_unlock(&loop->post_lock);
    if (is_more)
        wake(loop); /* the rest on the next turn */
    while ((node = list_pop_front(&loop->batch))) {
        struct post *p = list_entry(node, struct post, node);
        p->run(p);
    }
}

/*
 * This does not use uv_async_send(): its receiver spins until the sender has returned from it, and
 * the thread that the sender has just woken often preempts it at this very point. With libuv 1.44
 * that took 50 us per message if both threads share a core. For the same reason the lock is
 * released before the loop is woken; `wakers` keeps the descriptor open until then.
 */
void loop_post(struct loop *loop, struct post *p)
{
    assert(p->run);
    uv_mutex_lock(&loop->post_lock);
    list_push_back(&loop->posted, &p->node);
    bool is_first = !loop->is_woken;
    loop->is_woken = true;
    if (is_first)
        (void)atomic_fetch_add(&loop->wakers, 1);
    uv_mutex_unlock(&loop->post_lock);
    if (!is_first)
        return;
    wake(loop);
    (void)atomic_fetch_sub(&loop->wakers, 1);
}

void loop_hold(struct loop *loop)
{
    if (loop->holds++ == 0)
        uv_ref((uv_handle_t *)&loop->wake_poll);
}

void loop_release(struct loop *loop)
{
    assert(loop->holds > 0);
    if (--loop->holds == 0)
        uv_unref((uv_handle_t *)&loop->wake_poll);
}

/* ------------------------------------------------------------------ signals */

static void on_signal(uv_signal_t *uv, int signum)
{
    struct sig_watch *w = uv->data;
    assert(w->run && !uv_is_closing((uv_handle_t *)uv));
    w->run(w, signum);
}

static void on_signal_closed(uv_handle_t *h)
{
    struct sig_watch *w = h->data;
    if (w->closed)
        w->closed(w);
}

int sig_watch_start(struct loop *loop, struct sig_watch *w, int signum, bool once,
                    void (*run)(struct sig_watch *w, int signum), struct err *err)
{
    *w = (struct sig_watch){ .run = run };
    struct sigaction now;
    if (sigaction(signum, NULL, &now) <
        0) /* checked first, because an initialised handle must be closed */
        return err_sys(err, -errno, "watch signal %d", signum);
    int r = uv_signal_init(&loop->uv, &w->uv);
    if (r < 0)
        return err_sys(err, r, "watch signal %d", signum);
    w->uv.data = w;
    r = once ? uv_signal_start_oneshot(&w->uv, on_signal, signum)
             : uv_signal_start(&w->uv, on_signal, signum);
    assert(r == 0); /* the number is valid, and memory is reserved */
    uv_unref((uv_handle_t *)&w->uv);
    return 0;
}

void sig_watch_close(struct sig_watch *w, void (*closed)(struct sig_watch *w))
{
    assert(!uv_is_closing((uv_handle_t *)&w->uv));
    w->closed = closed;
    uv_close((uv_handle_t *)&w->uv, on_signal_closed);
}

/* ------------------------------------------------------------------ the loop */

static void ignore_sigpipe(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        (void)signal(SIGPIPE, SIG_IGN);
}

static void close_own(struct loop *loop)
{
    uv_close((uv_handle_t *)&loop->idle, NULL);
    uv_close((uv_handle_t *)&loop->uv_timer, NULL);
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
    int r = uv_loop_close(&loop->uv);
    assert(r == 0); /* fails if a user's handle is still open */
}

/* On failure nothing is open. */
static int open_wake(struct loop *loop)
{
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->wake_fd < 0)
        return -errno;
    int r = uv_poll_init(&loop->uv, &loop->wake_poll, loop->wake_fd);
    if (r < 0) {
        (void)close(loop->wake_fd);
        return r;
    }
    r = uv_poll_start(&loop->wake_poll, UV_READABLE, on_wake);
    assert(r == 0);
    uv_unref((uv_handle_t *)&loop->wake_poll);
    return 0;
}

int loop_init(struct loop *loop, struct err *err)
{
    *loop = (struct loop){ 0 };
    int r = uv_loop_init(&loop->uv);
    if (r < 0)
        return err_sys(err, r, "set up the event loop");
    ignore_sigpipe();
    loop->uv.data = loop;
    list_init(&loop->deferred);
    list_init(&loop->posted);
    list_init(&loop->batch);
    (void)uv_idle_init(&loop->uv, &loop->idle);
    (void)uv_timer_init(&loop->uv, &loop->uv_timer);
    loop->idle.data = loop->uv_timer.data = loop->wake_poll.data = loop;
    r = open_wake(loop);
    if (r < 0) {
        close_own(loop);
        return err_sys(err, r, "set up the event loop");
    }
    r = uv_mutex_init(&loop->post_lock);
    assert(r == 0);
    return 0;
}

void loop_fini(struct loop *loop)
{
    assert(list_is_empty(&loop->deferred) && list_is_empty(&loop->posted) &&
           list_is_empty(&loop->batch));
    assert(loop->timers.n == 0 && loop->holds == 0);
    /* A thread that has queued the last post may still be about to write to wake_fd. */
    while (atomic_load(&loop->wakers) > 0)
        (void)sched_yield();
    uv_close((uv_handle_t *)&loop->wake_poll, NULL);
    close_own(loop);
    (void)close(loop->wake_fd);
    uv_mutex_destroy(&loop->post_lock);
    vec_fini(&loop->timers);
    loop_trim(loop);
}

void loop_end_threads(void)
{
    uv_library_shutdown();
}

void loop_run(struct loop *loop)
{
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
    uv_stop(&loop->uv);
}

bool loop_turn(struct loop *loop, bool wait)
{
    assert(!loop->single_turn);
    loop->single_turn = true;
    bool alive = uv_run(&loop->uv, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT) != 0;
    loop->single_turn = false;
    return alive;
}

uint64_t loop_now_ms(const struct loop *loop)
{
    return uv_now(&loop->uv) + clock_skipped_ms();
}

void loop_update_now(struct loop *loop)
{
    uv_update_time(&loop->uv);
}

void loop_skip(struct loop *loop, uint64_t ms)
{
    clock_skip(ms);
    arm(loop, 0);
}

uint64_t loop_next_timer_ms(const struct loop *loop)
{
    return loop->timers.n ? loop->timers.p[0]->due_ms : UINT64_MAX;
}

bool loop_is_idle(struct loop *loop)
{
    uv_mutex_lock(&loop->post_lock);
    bool is_posted = !list_is_empty(&loop->posted) || !list_is_empty(&loop->batch);
    uv_mutex_unlock(&loop->post_lock);
    return !is_posted && loop->holds == 0 && list_is_empty(&loop->deferred);
}

char *loop_scratch(struct loop *loop)
{
    if (!loop->scratch)
        loop->scratch = xalloc(LOOP_SCRATCH_BYTES);
    return loop->scratch;
}

void loop_trim(struct loop *loop)
{
    free(loop->scratch);
    loop->scratch = NULL;
}
