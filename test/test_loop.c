/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: deferred calls, timers against a naive twin, jobs, posts, signals. */
#include "io/loop.h"

#include "base/clock.h"
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>

static struct loop loop;

static void setup(void)
{
    struct err err = { 0 };
    CHECK_OK(loop_init(&loop, &err));
}

/* ------------------------------------------------------------------ deferred calls */

struct step {
    struct defer defer;
    struct step *cancel, *again;
    unsigned runs, at;
    unsigned repeat;
};
static unsigned order;

static void on_step(struct defer *d)
{
    struct step *s = container_of(d, struct step, defer);
    s->runs++;
    s->at = ++order;
    if (s->cancel)
        defer_cancel(&s->cancel->defer);
    if (s->again)
        defer_start(&loop, &s->again->defer, on_step);
    if (s->repeat && s->repeat--)
        defer_start(&loop, d, on_step);
}

TEST(deferred_calls_run_in_order_once_each)
{
    setup();
    struct step a = { 0 }, b = { 0 }, c = { 0 };
    order = 0;
    defer_start(&loop, &a.defer, on_step);
    defer_start(&loop, &b.defer, on_step);
    defer_start(&loop, &a.defer, on_step);
    defer_start(&loop, &c.defer, on_step);
    defer_cancel(&b.defer);
    CHECK_INT(order, 0);
    loop_run(&loop);
    CHECK_INT(a.at, 1);
    CHECK_INT(b.runs, 0);
    CHECK_INT(c.at, 2);
    loop_fini(&loop);
}

TEST(a_deferred_call_can_cancel_a_later_one_of_its_batch)
{
    setup();
    struct step b = { 0 }, a = { .cancel = &b };
    defer_start(&loop, &a.defer, on_step);
    defer_start(&loop, &b.defer, on_step);
    loop_run(&loop);
    CHECK_INT(a.runs, 1);
    CHECK_INT(b.runs, 0);
    loop_fini(&loop);
}

TEST(a_call_that_defers_itself_again_runs_once_a_turn)
{
    setup();
    struct step a = { .repeat = 3 };
    defer_start(&loop, &a.defer, on_step);
    for (unsigned i = 1; i <= 4; i++) {
        (void)loop_turn(&loop, false);
        CHECK_INT(a.runs, i);
    }
    CHECK(!loop_turn(&loop, false));
    CHECK_INT(a.runs, 4);
    loop_fini(&loop);
}

TEST(deferred_calls_of_one_turn_are_bounded_and_keep_their_order)
{
    setup();
    enum { N = LOOP_DEFER_PER_TURN * 2 + 10 };
    struct step *all = xnew_n(struct step, N), extra = { 0 };
    all[0].again = &extra; /* comes after everybody who already waits */
    order = 0;
    for (unsigned i = 0; i < N; i++)
        defer_start(&loop, &all[i].defer, on_step);
    (void)loop_turn(&loop, false);
    CHECK_INT(order, LOOP_DEFER_PER_TURN);
    loop_run(&loop);
    for (unsigned i = 0; i < N; i++)
        CHECK_INT(all[i].at, i + 1);
    CHECK_INT(extra.at, N + 1);
    free(all);
    loop_fini(&loop);
}

/* ------------------------------------------------------------------ timers */

struct tick {
    struct timer timer;
    uint64_t want_ms; /* UINT64_MAX: must not run */
    unsigned runs;
    bool rearm;
};
static uint64_t last_due;

static void on_tick(struct timer *t)
{
    struct tick *k = container_of(t, struct tick, timer);
    k->runs++;
    CHECK(!timer_is_armed(t));
    CHECK(loop_now_ms(&loop) >= t->due_ms);
    CHECK(t->due_ms >= last_due);
    last_due = t->due_ms;
    if (k->rearm) {
        k->rearm = false;
        timer_start(&loop, t, 0, on_tick);
    }
}

/* The model of a heap is the array itself: whatever is armed must come out, sorted. */
TEST(random_timers_run_sorted_and_stopped_ones_do_not)
{
    for (unsigned round = 0; round < 50; round++) {
        setup();
        last_due = 0;
        enum { N = 300 };
        struct tick *all = xnew_n(struct tick, N);
        for (unsigned step = 0; step < 1500; step++) {
            struct tick *k = &all[test_random_below(N)];
            if (test_random_below(3) == 0)
                timer_stop(&loop, &k->timer);
            else
                timer_start(&loop, &k->timer, test_random_below(12), on_tick);
        }
        size_t armed = 0;
        bool want[N];
        for (unsigned i = 0; i < N; i++) {
            want[i] = timer_is_armed(&all[i].timer);
            armed += want[i];
        }
        CHECK_INT(loop.timers.n, armed);
        loop_run(&loop);
        for (unsigned i = 0; i < N; i++)
            CHECK_INT(all[i].runs, want[i]);
        free(all);
        loop_fini(&loop);
    }
}

TEST(time_that_is_skipped_makes_timers_due_and_moves_every_clock)
{
    setup();
    last_due = 0;
    struct tick hour = { 0 }, day = { 0 };
    uint64_t mono = clock_mono_ms(), now = loop_now_ms(&loop);
    int64_t wall = clock_wall_ms();
    timer_start(&loop, &hour.timer, 3600000, on_tick);
    timer_start(&loop, &day.timer, 86400000, on_tick);
    CHECK(loop_next_timer_ms(&loop) == now + 3600000);
    loop_skip(&loop, 3600000);
    (void)loop_turn(&loop, true);
    CHECK_INT(hour.runs, 1);
    CHECK_INT(day.runs, 0);
    CHECK(clock_mono_ms() >= mono + 3600000 && clock_wall_ms() >= wall + 3600000);
    CHECK(loop_now_ms(&loop) >= now + 3600000 && loop_next_timer_ms(&loop) == now + 86400000);
    loop_skip(&loop, 86400000 - 3600000);
    loop_run(&loop);
    CHECK_INT(day.runs, 1);
    CHECK(loop_next_timer_ms(&loop) == UINT64_MAX && loop_is_idle(&loop));
    loop_fini(&loop);
}

TEST(a_timer_that_arms_itself_for_now_waits_for_the_next_turn)
{
    setup();
    last_due = 0;
    struct tick a = { .rearm = true };
    timer_start(&loop, &a.timer, 0, on_tick);
    (void)loop_turn(&loop, false);
    CHECK_INT(a.runs, 1);
    loop_run(&loop);
    CHECK_INT(a.runs, 2);
    loop_fini(&loop);
}

TEST(an_idle_loop_has_nothing_armed)
{
    setup();
    struct tick far = { 0 }, near = { 0 };
    timer_start(&loop, &far.timer, 1000000, on_tick);
    timer_start(&loop, &near.timer, 5, on_tick);
    CHECK(uv_timer_get_due_in(&loop.uv_timer) <= 5);
    timer_stop(&loop, &near.timer);
    CHECK(uv_timer_get_due_in(&loop.uv_timer) > 900000);
    timer_start(&loop, &far.timer, UINT64_MAX, on_tick); /* later, and no overflow */
    CHECK(uv_timer_get_due_in(&loop.uv_timer) > 1000000);
    timer_stop(&loop, &far.timer);
    CHECK(!uv_is_active((uv_handle_t *)&loop.uv_timer));
    CHECK(!uv_is_active((uv_handle_t *)&loop.idle));
    CHECK(!loop_turn(&loop, false));
    loop_run(&loop); /* returns at once */
    loop_fini(&loop);
}

/* ------------------------------------------------------------------ jobs */

struct square {
    struct job job;
    int in, out, result, done;
};

static void square_work(struct job *j)
{
    struct square *s = container_of(j, struct square, job);
    s->out = s->in * s->in;
}

static void square_done(struct job *j, int r)
{
    struct square *s = container_of(j, struct square, job);
    s->result = r;
    s->done++;
}

static sem_t gate;
static void gate_work(struct job *j)
{
    (void)sem_wait(&gate);
}

TEST(jobs_run_elsewhere_and_come_back_once)
{
    setup();
    struct square s[20] = { 0 };
    for (int i = 0; i < 20; i++) {
        s[i] = (struct square){ .job = { .work = square_work, .done = square_done }, .in = i };
        CHECK_OK(job_start(&loop, &s[i].job));
    }
    loop_run(&loop);
    for (int i = 0; i < 20; i++) {
        CHECK_INT(s[i].done, 1);
        CHECK_INT(s[i].out, i * i);
    }
    loop_fini(&loop);
}

struct masked {
    struct job job;
    sigset_t mask;
};

static void mask_work(struct job *j)
{
    (void)pthread_sigmask(SIG_BLOCK, NULL, &container_of(j, struct masked, job)->mask);
}

static void mask_done(struct job *j, int r)
{
    CHECK_OK(r);
}

TEST(signals_of_the_process_are_not_for_the_threads_of_the_pool)
{
    sigset_t own;
    struct masked m = { .job = { .work = mask_work, .done = mask_done } };
    setup();
    CHECK_OK(job_start(&loop, &m.job));
    loop_run(&loop);
    CHECK(sigismember(&m.mask, SIGTERM) == 1 && sigismember(&m.mask, SIGINT) == 1);
    CHECK(sigismember(&m.mask, SIGRTMIN) == 1 && sigismember(&m.mask, SIGCHLD) == 1);
    CHECK(sigismember(&m.mask, SIGSEGV) == 0 && sigismember(&m.mask, SIGFPE) == 0);
    CHECK_OK(pthread_sigmask(SIG_BLOCK, NULL, &own));
    CHECK(sigismember(&own, SIGTERM) == 0);
    loop_fini(&loop);
}

TEST(a_cancelled_job_still_comes_back)
{
    setup();
    CHECK_OK(sem_init(&gate, 0, 0));
    enum { THREADS = 4 }; /* libuv's default pool: these fill it, the next one waits */
    struct square busy[THREADS] = { 0 }, last = { .in = 3 };
    for (int i = 0; i < THREADS; i++) {
        busy[i].job = (struct job){ .work = gate_work, .done = square_done };
        CHECK_OK(job_start(&loop, &busy[i].job));
    }
    last.job = (struct job){ .work = square_work, .done = square_done };
    CHECK_OK(job_start(&loop, &last.job));
    job_cancel(&last.job);
    CHECK_INT(last.done, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_OK(sem_post(&gate));
    loop_run(&loop);
    CHECK_INT(last.done, 1);
    CHECK_ERR(last.result, -ECANCELED);
    CHECK_INT(last.out, 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(busy[i].done, 1);
    (void)sem_destroy(&gate);
    loop_fini(&loop);
}

/* ------------------------------------------------------------------ posts */

enum { POSTS = 5000, POSTERS = 3 };
struct note {
    struct post post;
    unsigned from, seq;
};
static unsigned notes_seen, notes_next[POSTERS];

static void on_note(struct post *p)
{
    struct note *n = container_of(p, struct note, post);
    CHECK_INT(n->seq, notes_next[n->from]);
    notes_next[n->from]++;
    free(n);
    if (++notes_seen == POSTS * POSTERS)
        loop_stop(&loop);
}

static void *poster(void *arg)
{
    for (unsigned i = 0; i < POSTS; i++) {
        struct note *n = xnew(struct note);
        *n = (struct note){ .from = (unsigned)(uintptr_t)arg, .seq = i };
        n->post.run = on_note;
        loop_post(&loop, &n->post);
    }
    return NULL;
}

static void on_never(struct timer *t)
{
    TEST_FAIL("timed out");
}

TEST(posts_of_many_threads_arrive_in_order_per_thread)
{
    setup();
    notes_seen = 0;
    memset(notes_next, 0, sizeof notes_next);
    struct timer guard = { 0 };
    timer_start(&loop, &guard, 60000, on_never); /* posts alone do not keep the loop running */
    pthread_t threads[POSTERS];
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, poster, (void *)(uintptr_t)i), 0);
    loop_run(&loop);
    for (unsigned i = 0; i < POSTERS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(notes_seen, POSTS * POSTERS);
    timer_stop(&loop, &guard);
    loop_fini(&loop);
}

static void on_late_note(struct post *p)
{
    notes_seen++;
    loop_release(&loop);
}

static void *late_poster(void *arg)
{
    loop_post(&loop, arg);
    return NULL;
}

TEST(a_held_loop_waits_for_the_post_that_it_is_owed)
{
    setup();
    notes_seen = 0;
    struct post late = { .run = on_late_note };
    loop_hold(&loop);
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, late_poster, &late), 0);
    loop_run(&loop);
    CHECK_INT(notes_seen, 1);
    CHECK_INT(pthread_join(thread, NULL), 0);
    loop_fini(&loop);
}

TEST(a_loop_can_end_right_after_the_last_post_of_a_thread)
{
    enum { ROUNDS = 500 };
    for (int i = 0; i < ROUNDS; i++) {
        setup();
        struct post late = { .run = on_late_note };
        loop_hold(&loop);
        pthread_t thread;
        CHECK_INT(pthread_create(&thread, NULL, late_poster, &late), 0);
        loop_run(&loop);
        loop_fini(&loop); /* the thread may not have returned from loop_post() */
        CHECK_INT(pthread_join(thread, NULL), 0);
    }
}

static unsigned n_run;
static void on_counted(struct post *p)
{
    n_run++;
}

TEST(posts_of_one_turn_are_bounded_and_wake_the_loop_once)
{
    enum { N = 2 * LOOP_DEFER_PER_TURN + 1 };
    setup();
    static struct post posts[N];
    n_run = 0;
    for (unsigned i = 0; i < N; i++) {
        posts[i].run = on_counted;
        loop_post(&loop, &posts[i]);
    }
    uint64_t written = 0;
    CHECK_INT(read(loop.wake_fd, &written, sizeof written), sizeof written);
    CHECK_INT(written, 1);
    CHECK_INT(write(loop.wake_fd, &written, sizeof written), sizeof written);
    loop_hold(&loop);
    for (unsigned turn = 1; turn <= 3; turn++) {
        (void)loop_turn(&loop, false);
        CHECK_INT(n_run, MIN(turn * LOOP_DEFER_PER_TURN, (unsigned)N));
    }
    loop_release(&loop);
    CHECK(loop_is_idle(&loop));
    loop_fini(&loop);
}

/* ------------------------------------------------------------------ signals */

static int signals_seen;
static void on_usr1(struct sig_watch *w, int signum)
{
    CHECK_INT(signum, SIGUSR1);
    signals_seen++;
    loop_stop(&loop);
}

TEST(a_signal_is_seen_once_and_then_has_its_default_action)
{
    setup();
    signals_seen = 0;
    struct sig_watch w;
    struct err err = { 0 };
    CHECK_OK(sig_watch_start(&loop, &w, SIGUSR1, true, on_usr1, &err));
    loop_run(&loop); /* a watch alone does not hold the loop */
    struct timer guard = { 0 };
    timer_start(&loop, &guard, 60000, on_never);
    CHECK_INT(raise(SIGUSR1), 0);
    loop_run(&loop);
    CHECK_INT(signals_seen, 1);
    struct sigaction now;
    CHECK_OK(sigaction(SIGUSR1, NULL, &now));
    CHECK(now.sa_handler == SIG_DFL);
    timer_stop(&loop, &guard);
    sig_watch_close(&w, NULL);
    loop_run(&loop);
    loop_fini(&loop);
}

TEST(a_signal_that_does_not_exist_is_an_error)
{
    setup();
    struct sig_watch w;
    struct err err = { 0 };
    CHECK_ERR(sig_watch_start(&loop, &w, 9999, false, on_usr1, &err), -EINVAL);
    CHECK_STR(str_of(err.text), "watch signal 9999: Invalid argument");
    loop_fini(&loop);
}

/* ------------------------------------------------------------------ torture */

TEST(no_file_descriptors_left_is_an_error_at_every_point)
{
    setup(); /* what libuv opens once per process is there from now on */
    loop_fini(&loop);
    struct rlimit old, none;
    CHECK_OK(getrlimit(RLIMIT_NOFILE, &old));
    int failed = 0;
    for (rlim_t extra = 0; extra < 16; extra++) {
        int first_free =
            dup(0); /* every time: a failed uv_loop_init() keeps its epoll descriptor */
        CHECK_OK(first_free);
        CHECK_OK(close(first_free));
        none = (struct rlimit){ (rlim_t)first_free + extra, old.rlim_max };
        CHECK_OK(setrlimit(RLIMIT_NOFILE, &none));
        struct err err = { 0 };
        int r = loop_init(&loop, &err);
        CHECK_OK(setrlimit(RLIMIT_NOFILE, &old));
        if (r == 0) {
            loop_fini(&loop);
            break;
        }
        CHECK_ERR(r, -EMFILE);
        CHECK_STR(str_of(err.text), "set up the event loop: Too many open files");
        failed++;
    }
    CHECK(failed > 0 && failed < 16);
}

TEST_MAIN
