/* SPDX-License-Identifier: Apache-2.0 */
/* Work queues and their timers, in virtual time; a naive twin checks random histories. */
#include "client/work_queue.h"
#include "test.h"

#include <errno.h>

enum { MS = 1000, SECOND = 1000000 };

static struct work_queues *queues;
static uint64_t now = 1000 * (uint64_t)SECOND;
static unsigned n_ready_calls;

static void count_ready(struct work_queue *q, void *arg)
{
    n_ready_calls++;
}

static struct work_queue *make(struct work_queue_opts opts)
{
    if (!queues)
        queues = work_queues_new();
    opts.name = "test";
    opts.on_ready = count_ready;
    n_ready_calls = 0;
    return work_queue_new(queues, &opts);
}

static void unmake(struct work_queue *q)
{
    work_queue_free(q);
    CHECK_INT(work_queues_n_keys(queues), 0);
    CHECK(work_timers_due_us(work_queues_timers(queues)) == WORK_NEVER);
    work_queues_free(queues);
    queues = NULL;
}

static struct work_key key(const char *name)
{
    return (struct work_key){ STR("ns"), str_of(name) };
}

static void add(struct work_queue *q, const char *name, enum work_reason reason,
                enum work_priority priority)
{
    CHECK_OK(work_queue_add(q, key(name), reason, priority, now, NULL));
}

/* Let the time pass to each wake-up that is due within us; returns how many there were. */
static unsigned pass(uint64_t us)
{
    struct work_timers *ts = work_queues_timers(queues);
    unsigned n = 0;
    uint64_t end = now + us;
    for (; work_timers_due_us(ts) <= end; n++) {
        now = work_timers_due_us(ts);
        CHECK(work_timers_run(ts, now) > 0);
    }
    now = end;
    return n;
}

static struct work_item *take(struct work_queue *q, const char *name)
{
    struct work_item *item = work_queue_take(q, now, NULL);
    CHECK(item);
    struct work_task task;
    work_item_get(item, &task);
    CHECK_STR(task.key.name, name);
    CHECK_STR(task.key.namespace, "ns");
    return item;
}

static uint32_t reasons_of(const struct work_item *item)
{
    struct work_task task;
    work_item_get(item, &task);
    return task.reasons;
}

static uint32_t attempt_of(const struct work_item *item)
{
    struct work_task task;
    work_item_get(item, &task);
    return task.attempt;
}

static void done(struct work_queue *q, struct work_item *item)
{
    CHECK_INT(work_queue_finish(q, item, WORK_DONE, 0, now), 0);
}

TEST(keys_come_once_and_in_order)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    add(q, "b", WORK_CREATE, WORK_NORMAL);
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    CHECK_INT(work_queue_depth(q), 2);
    CHECK_INT(n_ready_calls, 2);
    struct work_item *a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_CREATE | 1u << WORK_UPDATE);
    done(q, a);
    done(q, take(q, "b"));
    CHECK(!work_queue_take(q, now, NULL));
    CHECK(!work_queue_has(q, key("a")));
    unmake(q);
}

TEST(the_same_name_in_two_namespaces_is_two_keys)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    CHECK_OK(work_queue_add(q, (struct work_key){ STR(""), STR("x") }, WORK_CREATE, WORK_NORMAL,
                            now, NULL));
    CHECK_OK(work_queue_add(q, (struct work_key){ STR("x"), STR("x") }, WORK_CREATE, WORK_NORMAL,
                            now, NULL));
    CHECK_INT(work_queue_depth(q), 2);
    CHECK(!work_queue_has(q, (struct work_key){ STR("y"), STR("x") }));
    unmake(q);
}

TEST(a_key_that_runs_is_handed_to_nobody_else)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    struct work_item *a = take(q, "a");
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    add(q, "a", WORK_OWNED, WORK_NORMAL);
    CHECK(!work_queue_take(q, now, NULL));
    CHECK_INT(work_queue_running(q), 1);
    done(q, a);
    a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_UPDATE | 1u << WORK_OWNED);
    done(q, a);
    CHECK(!work_queue_take(q, now, NULL));
    unmake(q);
}

TEST(first_lists_come_last_unless_something_happens_to_the_key)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "low1", WORK_INITIAL, WORK_LOW);
    add(q, "low2", WORK_INITIAL, WORK_LOW);
    add(q, "normal", WORK_UPDATE, WORK_NORMAL);
    add(q, "high", WORK_ENQUEUE, WORK_HIGH);
    add(q, "low2", WORK_UPDATE, WORK_NORMAL);
    CHECK_INT(work_queue_depth_of(q, WORK_NORMAL), 3);
    add(q, "low2", WORK_RESYNC, WORK_LOW); /* does not lower it again */
    done(q, take(q, "high"));
    done(q, take(q, "normal"));
    struct work_item *item = take(q, "low2");
    CHECK_INT(reasons_of(item), 1u << WORK_INITIAL | 1u << WORK_UPDATE | 1u << WORK_RESYNC);
    /* A failure keeps its priority, and so does what is added while it runs. */
    CHECK(work_queue_finish(q, item, WORK_FAILED, 0, now) > 0);
    pass(10 * MS);
    done(q, take(q, "low2"));
    done(q, take(q, "low1"));
    unmake(q);
}

TEST(failures_wait_twice_as_long_each_time_up_to_a_maximum)
{
    struct work_queue *q = make((struct work_queue_opts){ .rate_per_second = 1e6 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    uint64_t expected = 5 * MS;
    for (unsigned i = 0; i < 30; i++) {
        struct work_item *a = take(q, "a");
        CHECK_INT(attempt_of(a), i);
        CHECK_INT(reasons_of(a), 1u << (i ? WORK_RETRY : WORK_CREATE));
        CHECK_INT(work_queue_finish(q, a, WORK_FAILED, 0, now), expected);
        CHECK_INT(work_queue_next_due_us(q), now + expected);
        CHECK_INT(pass(expected - 1), 0);
        CHECK(!work_queue_take(q, now, NULL));
        CHECK_INT(pass(1), 1);
        expected = MIN(expected * 2, (uint64_t)1000 * SECOND);
    }
    done(q, take(q, "a")); /* forgets them */
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    CHECK_INT(work_queue_finish(q, take(q, "a"), WORK_FAILED, 0, now), 5 * MS);
    unmake(q);
}

TEST(an_event_comes_before_the_back_off_and_keeps_the_failures)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    for (int i = 0; i < 3; i++) {
        work_queue_finish(q, take(q, "a"), WORK_FAILED, 0, now);
        add(q, "a", WORK_UPDATE, WORK_NORMAL);
    }
    struct work_item *a = take(q, "a");
    CHECK_INT(attempt_of(a), 3);
    CHECK_INT(reasons_of(a), 1u << WORK_UPDATE);
    CHECK_INT(work_queue_waiting(q), 0); /* the retry was for what this run does */
    /* For good: nothing is left, not even the failures. */
    work_queue_finish(q, a, WORK_REFUSED, 0, now);
    CHECK(!work_queue_has(q, key("a")));
    unmake(q);
}

TEST(all_failures_together_go_through_one_bucket)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    char name[16];
    /* The burst costs nothing, then a tenth of a second each. */
    for (int i = 0; i < 120; i++) {
        (void)snprintf(name, sizeof name, "k%d", i);
        add(q, name, WORK_CREATE, WORK_NORMAL);
        uint64_t delay = work_queue_finish(q, take(q, name), WORK_FAILED, 0, now);
        CHECK_INT(delay, i < 100 ? 5 * MS : (unsigned)(i - 99) * 100 * MS);
    }
    work_queue_clear(q);
    pass(60 * (uint64_t)SECOND);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "k%d", i);
        add(q, name, WORK_CREATE, WORK_NORMAL);
        CHECK_INT(work_queue_finish(q, take(q, name), WORK_FAILED, 0, now), 5 * MS);
    }
    unmake(q);
}

TEST(of_two_waits_the_earlier_stays)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_ENQUEUE, WORK_NORMAL, 50 * MS, now, NULL));
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_ENQUEUE, WORK_HIGH, 20 * MS, now, NULL));
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_ENQUEUE, WORK_NORMAL, 90 * MS, now, NULL));
    CHECK_INT(work_queue_waiting(q), 1);
    CHECK_INT(work_queue_next_due_us(q), now + 20 * MS);
    CHECK_INT(pass(20 * MS), 1);
    CHECK_INT(work_queue_depth_of(q, WORK_HIGH), 1);
    done(q, take(q, "a"));
    CHECK_INT(pass(100 * MS), 0);
    CHECK(!work_queue_has(q, key("a")));
    unmake(q);
}

TEST(a_result_replaces_the_requeue_of_an_earlier_one)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    work_queue_finish(q, take(q, "a"), WORK_AGAIN, 60 * (uint64_t)SECOND, now);
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    done(q, take(q, "a"));
    CHECK_INT(pass(100 * (uint64_t)SECOND), 0);
    CHECK(!work_queue_has(q, key("a")));

    /* What was asked for apart from results stays. */
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_ENQUEUE, WORK_NORMAL, 60 * (uint64_t)SECOND,
                                  now, NULL));
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    done(q, take(q, "a"));
    CHECK_INT(pass(60 * (uint64_t)SECOND), 1);
    struct work_item *a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_ENQUEUE);
    done(q, a);
    unmake(q);
}

TEST(a_wait_that_ends_while_the_key_runs_comes_afterwards)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_ENQUEUE, WORK_NORMAL, 5 * MS, now, NULL));
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    struct work_item *a = take(q, "a");
    CHECK_INT(pass(5 * MS), 1);
    CHECK(!work_queue_take(q, now, NULL));
    done(q, a);
    a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_ENQUEUE);
    done(q, a);
    unmake(q);
}

TEST(what_was_not_worked_on_goes_back_to_the_front)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    add(q, "b", WORK_CREATE, WORK_NORMAL);
    struct work_item *a = take(q, "a");
    add(q, "a", WORK_UPDATE, WORK_LOW);
    work_queue_finish(q, a, WORK_BACK, 0, now);
    a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_CREATE | 1u << WORK_UPDATE);
    CHECK_INT(attempt_of(a), 0);
    done(q, a);
    done(q, take(q, "b"));
    unmake(q);
}

TEST(requeues_within_slack_share_a_wake_up)
{
    struct work_queue *q = make((struct work_queue_opts){ .slack_percent = 5 });
    char name[16];
    /* A hundred keys, each again a minute after a time of its own within two seconds. */
    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "k%d", i);
        CHECK_OK(work_queue_add_after(q, key(name), WORK_REQUEUE, WORK_NORMAL,
                                      60 * (uint64_t)SECOND, now, NULL));
        now += 20 * MS;
    }
    CHECK_INT(pass(70 * (uint64_t)SECOND), 1);
    CHECK_INT(work_queue_depth(q), 100);
    unmake(q);
}

TEST(slack_of_a_long_wait_is_a_minute)
{
    struct work_queue *q = make((struct work_queue_opts){ .slack_percent = 5 });
    const uint64_t day = 86400 * (uint64_t)SECOND;
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_REQUEUE, WORK_NORMAL, 60 * day, now, NULL));
    (void)pass(60 * day);
    CHECK_INT(work_queue_depth(q), 0);
    (void)pass(61 * (uint64_t)SECOND);
    CHECK_INT(work_queue_depth(q), 1);
    unmake(q);
}

TEST(several_queues_share_a_wake_up_and_none_comes_early)
{
    struct work_queue *one = make((struct work_queue_opts){ .slack_percent = 10 });
    struct work_queue *two = make((struct work_queue_opts){ .slack_percent = 10 });
    uint64_t second = SECOND;
    CHECK_OK(
        work_queue_add_after(one, key("a"), WORK_REQUEUE, WORK_NORMAL, 100 * second, now, NULL));
    CHECK_OK(
        work_queue_add_after(two, key("b"), WORK_REQUEUE, WORK_NORMAL, 108 * second, now, NULL));
    CHECK_OK(
        work_queue_add_after(two, key("c"), WORK_REQUEUE, WORK_NORMAL, 111 * second, now, NULL));
    CHECK_INT(pass(110 * second), 1);
    CHECK_INT(work_queue_depth(one), 1);
    CHECK_INT(work_queue_depth(two), 1);
    CHECK_INT(pass(13 * second), 1);
    CHECK_INT(work_queue_depth(two), 2);
    work_queue_free(one);
    unmake(two);
}

TEST(a_burst_of_events_becomes_one_run)
{
    struct work_queue *q = make((struct work_queue_opts){ .debounce_us = 50 * MS });
    for (int i = 0; i < 10; i++) {
        add(q, "a", WORK_OWNED, WORK_NORMAL);
        pass(4 * MS);
    }
    CHECK_INT(work_queue_depth(q), 0);
    CHECK_INT(pass(10 * MS), 1); /* 50 ms after the first, however many follow */
    struct work_item *a = take(q, "a");
    add(q, "a", WORK_OWNED, WORK_NORMAL); /* while it runs */
    done(q, a);
    CHECK(!work_queue_take(q, now, NULL));
    CHECK_INT(pass(50 * MS), 1);
    a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_OWNED);
    done(q, a);
    /* Urgent work does not wait for others. */
    add(q, "a", WORK_ENQUEUE, WORK_HIGH);
    done(q, take(q, "a"));
    /* An event shortens a back-off. */
    add(q, "a", WORK_ENQUEUE, WORK_HIGH);
    work_queue_finish(q, take(q, "a"), WORK_AGAIN, 60 * (uint64_t)SECOND, now);
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    CHECK_INT(pass(50 * MS), 1);
    a = take(q, "a");
    CHECK_INT(reasons_of(a), 1u << WORK_UPDATE);
    done(q, a);
    unmake(q);
}

TEST(a_full_queue_says_so_and_takes_what_it_knows)
{
    struct work_queue *q = make((struct work_queue_opts){ .max_keys = 2 });
    struct err err = { 0 };
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    add(q, "b", WORK_CREATE, WORK_NORMAL);
    CHECK_INT(work_queue_add(q, key("c"), WORK_CREATE, WORK_NORMAL, now, &err), E_LIMIT);
    CHECK(strstr(err.text, "queue 'test' is full: 2 keys"));
    CHECK_INT(work_queue_add_after(q, key("c"), WORK_CREATE, WORK_NORMAL, 1, now, NULL), E_LIMIT);
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    struct work_queue_stats stats;
    work_queue_get_stats(q, now, &stats);
    CHECK_INT(stats.dropped, 2);
    done(q, take(q, "a"));
    add(q, "c", WORK_CREATE, WORK_NORMAL);
    unmake(q);
}

TEST(a_full_queue_takes_what_cannot_be_listed_again)
{
    struct work_queue *q = make((struct work_queue_opts){ .max_keys = 1 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    add(q, "gone", WORK_DELETE, WORK_NORMAL);
    add(q, "also", WORK_DELETE, WORK_NORMAL);
    CHECK_INT(work_queue_add(q, key("b"), WORK_UPDATE, WORK_NORMAL, now, NULL), E_LIMIT);
    done(q, take(q, "a"));
    done(q, take(q, "gone"));
    done(q, take(q, "also"));
    add(q, "b", WORK_UPDATE, WORK_NORMAL);
    unmake(q);
}

TEST(names_that_no_object_has_are_refused)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    char name[WORK_NAME_MAX + 2];
    memset(name, 'x', sizeof name);
    name[WORK_NAME_MAX + 1] = '\0';
    CHECK_INT(work_queue_add(q, key(name), WORK_ENQUEUE, WORK_NORMAL, now, NULL), -EINVAL);
    CHECK_INT(work_queue_add(q, key(""), WORK_ENQUEUE, WORK_NORMAL, now, NULL), -EINVAL);
    name[WORK_NAME_MAX] = '\0';
    CHECK_OK(work_queue_add(q, key(name), WORK_ENQUEUE, WORK_NORMAL, now, NULL));
    unmake(q);
}

TEST(counters_are_client_gos)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    add(q, "a", WORK_UPDATE, WORK_NORMAL); /* merged: not counted */
    now += 7 * MS;
    uint64_t waited = 0;
    struct work_item *a = work_queue_take(q, now, &waited);
    CHECK_INT(waited, 7 * MS);
    add(q, "a", WORK_UPDATE, WORK_NORMAL); /* to come afterwards: counted */
    now += 3 * MS;
    struct work_queue_stats stats;
    work_queue_get_stats(q, now, &stats);
    CHECK_INT(stats.adds, 2);
    CHECK_INT(stats.depth, 1);
    CHECK_INT(stats.running, 1);
    CHECK_INT(stats.unfinished_us, 3 * MS);
    CHECK_INT(stats.longest_running_us, 3 * MS);
    work_queue_finish(q, a, WORK_FAILED, 0, now);
    work_queue_get_stats(q, now, &stats);
    CHECK_INT(stats.retries, 1);
    a = work_queue_take(q, now + 2 * MS, &waited);
    CHECK_INT(waited, 5 * MS);
    done(q, a);
    unmake(q);
}

TEST(clearing_leaves_only_what_runs)
{
    struct work_queue *q = make((struct work_queue_opts){ 0 });
    add(q, "a", WORK_CREATE, WORK_NORMAL);
    struct work_item *a = take(q, "a");
    add(q, "a", WORK_UPDATE, WORK_NORMAL);
    add(q, "b", WORK_UPDATE, WORK_NORMAL);
    CHECK_OK(work_queue_add_after(q, key("a"), WORK_ENQUEUE, WORK_LOW, 5, now, NULL));
    CHECK_OK(work_queue_add_after(q, key("c"), WORK_ENQUEUE, WORK_LOW, 5, now, NULL));
    work_queue_clear(q);
    CHECK_INT(work_queue_depth(q) + work_queue_waiting(q), 0);
    CHECK(work_timers_due_us(work_queues_timers(queues)) == WORK_NEVER);
    done(q, a);
    CHECK(!work_queue_has(q, key("a")));
    unmake(q);
}

TEST(a_hundred_thousand_keys_are_fine)
{
    enum { N = 100000 };
    struct work_queue *q = make((struct work_queue_opts){ .slack_percent = 5 });
    char name[24];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++) {
            (void)snprintf(name, sizeof name, "object-%d", i);
            add(q, name, round ? WORK_UPDATE : WORK_INITIAL, round ? WORK_NORMAL : WORK_LOW);
        }
    }
    CHECK_INT(work_queue_depth_of(q, WORK_NORMAL), N);
    struct work_item *item;
    uint64_t n = 0;
    while ((item = work_queue_take(q, now, NULL))) {
        work_queue_finish(q, item, WORK_AGAIN, (uint64_t)(1 + n % 1000) * SECOND, now);
        n++;
    }
    CHECK_INT(n, N);
    CHECK_INT(work_queue_waiting(q), N);
    /* 1,000 different times cost a few dozen wake-ups: one for each twentieth of what has passed.
     */
    CHECK(pass(1100 * (uint64_t)SECOND) < 100);
    CHECK_INT(work_queue_depth(q), N);
    unmake(q);
}

/* ---- a naive twin under random histories ---- */

enum { TWIN_KEYS = 12, NO_WAIT = 0 };

struct twin {
    bool is_ready, is_running, is_again, is_result;
    uint32_t reasons, taken, wait_reasons, failures;
    int priority, taken_priority, wait_priority;
    uint64_t due, order;
};
static struct twin twins[TWIN_KEYS];
static struct work_item *twin_items[TWIN_KEYS];
static uint64_t twin_order;

static void twin_add(struct twin *t, uint32_t reasons, int priority)
{
    t->reasons |= reasons;
    if (t->is_ready || t->is_again) {
        if (priority > t->priority) {
            t->priority = priority;
            t->order = ++twin_order;
        }
        return;
    }
    t->priority = priority;
    if (t->is_running) {
        t->is_again = true;
        return;
    }
    t->is_ready = true;
    t->order = ++twin_order;
}

static void twin_wait(struct twin *t, uint32_t reasons, int priority, uint64_t due, bool is_result)
{
    if (t->due == NO_WAIT) {
        t->due = due;
        t->wait_reasons = reasons;
        t->wait_priority = priority;
        t->is_result = is_result;
        return;
    }
    if (t->is_result && due < t->due)
        t->wait_reasons = 0;
    t->wait_reasons |= reasons;
    t->wait_priority = MAX(t->wait_priority, priority);
    t->is_result = t->is_result && is_result;
    t->due = MIN(t->due, due);
}

static void twin_finish(struct twin *t, enum work_end end, uint64_t delay)
{
    t->is_running = false;
    switch (end) {
    case WORK_DONE:
    case WORK_REFUSED:
        t->failures = 0;
        break;
    case WORK_AGAIN:
        t->failures = 0;
        twin_wait(t, 1u << WORK_REQUEUE, t->taken_priority, now + delay, true);
        break;
    case WORK_FAILED:
        twin_wait(t, 1u << WORK_RETRY, t->taken_priority, now + ((uint64_t)5 * MS << t->failures),
                  true);
        t->failures++;
        break;
    case WORK_BACK:
        t->reasons |= t->taken;
        t->priority = t->is_again ? MAX(t->priority, t->taken_priority) : t->taken_priority;
        t->is_again = true;
        break;
    }
    if (!t->is_again)
        return;
    t->is_again = false;
    t->is_ready = true;
    /* At the front: before everything of its priority. */
    t->order = ++twin_order;
    if (end == WORK_BACK) {
        for (int i = 0; i < TWIN_KEYS; i++)
            twins[i].order += 1;
        t->order = 0;
        for (int i = 0; i < TWIN_KEYS; i++)
            twins[i].order += 1;
        twin_order += 2;
    }
}

static int twin_next(void)
{
    int best = -1;
    for (int i = 0; i < TWIN_KEYS; i++) {
        if (!twins[i].is_ready)
            continue;
        if (best < 0 || twins[i].priority > twins[best].priority ||
            (twins[i].priority == twins[best].priority && twins[i].order < twins[best].order))
            best = i;
    }
    return best;
}

static void twin_pass(uint64_t us)
{
    for (uint64_t end = now + us; now < end;) {
        uint64_t next = end;
        for (int i = 0; i < TWIN_KEYS; i++) {
            if (twins[i].due != NO_WAIT)
                next = MIN(next, twins[i].due);
        }
        uint64_t step = next - now;
        (void)pass(step); /* moves `now` */
        for (int i = 0; i < TWIN_KEYS; i++) {
            struct twin *t = &twins[i];
            if (t->due == NO_WAIT || t->due > now)
                continue;
            t->due = NO_WAIT;
            t->is_result = false;
            twin_add(t, t->wait_reasons, t->wait_priority);
        }
    }
}

/* Waits that end in the same microsecond become ready in any order: the twin keeps them apart. */
static bool is_free(uint64_t due)
{
    for (int i = 0; i < TWIN_KEYS; i++) {
        if (twins[i].due == due)
            return false;
    }
    return true;
}

static uint64_t free_delay(void)
{
    uint64_t delay;
    do
        delay = 1 + test_random_below(20 * MS);
    while (!is_free(now + delay));
    return delay;
}

TEST(random_histories_are_those_of_a_naive_twin)
{
    struct work_queue *q = make((struct work_queue_opts){ .rate_per_second = 1e6 });
    memset(twins, 0, sizeof twins);
    static const char *const names[TWIN_KEYS] = { "a", "b", "c", "d", "e", "f",
                                                  "g", "h", "i", "j", "k", "l" };
    for (int step = 0; step < 50000; step++) {
        int k = (int)(test_random() % TWIN_KEYS);
        enum work_reason reason = (enum work_reason)(test_random() % WORK_REQUEUE);
        enum work_priority priority = (enum work_priority)(test_random() % WORK_PRIORITY_COUNT);
        uint64_t delay = free_delay();
        switch (test_random() % 5) {
        case 0:
            add(q, names[k], reason, priority);
            twin_add(&twins[k], 1u << reason, priority);
            break;
        case 1:
            CHECK_OK(work_queue_add_after(q, key(names[k]), reason, priority, delay, now, NULL));
            twin_wait(&twins[k], 1u << reason, priority, now + delay, false);
            break;
        case 2: {
            int next = twin_next();
            struct work_item *item = work_queue_take(q, now, NULL);
            CHECK_INT(item != NULL, next >= 0);
            if (!item)
                break;
            struct twin *t = &twins[next];
            struct work_task task;
            work_item_get(item, &task);
            CHECK_STR(task.key.name, names[next]);
            CHECK_INT(task.reasons, t->reasons);
            CHECK_INT(task.attempt, t->failures);
            twin_items[next] = item;
            t->is_ready = false;
            t->is_running = true;
            t->taken = t->reasons;
            t->taken_priority = t->priority;
            t->reasons = 0;
            if (t->is_result)
                t->due = NO_WAIT;
            t->is_result = t->due != NO_WAIT && t->is_result;
            break;
        }
        case 3:
            if (twins[k].is_running) {
                enum work_end end = (enum work_end)(test_random() % 5);
                if (end == WORK_FAILED &&
                    (twins[k].failures > 8 || !is_free(now + (5 * MS << twins[k].failures))))
                    end = WORK_DONE;
                (void)work_queue_finish(q, twin_items[k], end, delay, now);
                twin_finish(&twins[k], end, delay);
            }
            break;
        default:
            twin_pass(test_random() % 3000);
            break;
        }
        size_t ready = 0, waiting = 0, running = 0;
        for (int i = 0; i < TWIN_KEYS; i++) {
            ready += twins[i].is_ready;
            running += twins[i].is_running;
            waiting += twins[i].due != NO_WAIT;
            bool is_known = twins[i].is_ready || twins[i].is_running || twins[i].due != NO_WAIT;
            CHECK_INT(work_queue_has(q, key(names[i])), is_known);
            if (!is_known)
                twins[i].failures = 0;
        }
        CHECK_INT(work_queue_depth(q), ready);
        CHECK_INT(work_queue_running(q), running);
        CHECK_INT(work_queue_waiting(q), waiting);
    }
    unmake(q);
}

/* ---- timers ---- */

struct probe {
    struct work_timer t;
    unsigned n_runs;
};

static void on_probe(struct work_timer *t, uint64_t at)
{
    struct probe *p = container_of(t, struct probe, t);
    CHECK(at >= t->soft_us);
    p->n_runs++;
}

TEST(timers_run_within_their_range)
{
    struct work_timers ts = { 0 };
    struct probe probes[200] = { 0 };
    for (int round = 0; round < 2000; round++) {
        struct probe *p = &probes[test_random() % ARRAY_LEN(probes)];
        p->t.run = on_probe;
        uint64_t soft = now + test_random() % 1000;
        if (test_random() % 4 == 0)
            work_timers_clear(&ts, &p->t);
        else
            work_timers_set(&ts, &p->t, soft, soft + test_random() % 100);
        now += test_random() % 5;
        if (work_timers_due_us(&ts) <= now)
            CHECK(work_timers_run(&ts, now) > 0);
        for (size_t i = 0; i < ARRAY_LEN(probes); i++)
            CHECK(probes[i].t.heap_at == 0 || probes[i].t.hard_us > now);
    }
    for (size_t i = 0; i < ARRAY_LEN(probes); i++)
        work_timers_clear(&ts, &probes[i].t);
    work_timers_fini(&ts);
}

static struct work_timers again_timers;

static void on_rearm(struct work_timer *t, uint64_t at)
{
    struct probe *p = container_of(t, struct probe, t);
    p->n_runs++;
    work_timers_set(&again_timers, t, 0, 0);
}

TEST(a_timer_that_arms_itself_for_the_past_does_not_hold_up_the_loop)
{
    struct probe p = { .t.run = on_rearm };
    work_timers_set(&again_timers, &p.t, 0, 0);
    CHECK_INT(work_timers_run(&again_timers, 5), 1);
    CHECK_INT(work_timers_run(&again_timers, 5), 1);
    CHECK_INT(p.n_runs, 2);
    work_timers_clear(&again_timers, &p.t);
    work_timers_fini(&again_timers);
}

TEST_MAIN
