/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keys and operators cost: time and heap of 100,000 keys in one queue, of 10,000 operators at
 * rest that have each done one reconcile. Prints results of ./dev bench isolation, one a line.
 */
#include "base/clock.h"
#include "operator/v1/dispatch.h"

#include <malloc.h>
#include <stdio.h>

enum { KEYS = 100000, OPERATORS = 10000 };

static bool has_printed;

static void result(const char *metric, const char *labels, const char *unit, double value)
{
    printf("%s  {\"metric\": \"%s\", \"labels\": {%s}, \"unit\": \"%s\", \"value\": %.1f}",
           has_printed ? ",\n" : "", metric, labels, unit, value);
    has_printed = true;
}

static size_t heap_bytes(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

static struct work_key key_of(char *space, char *name, size_t i)
{
    (void)snprintf(space, 32, "team-%zu", i % 100);
    (void)snprintf(name, 32, "web-frontend-%zu", i);
    return (struct work_key){ str_of(space), str_of(name) };
}

static uint64_t now_us(void)
{
    return clock_mono_ns() / 1000;
}

static void measure_queue(void)
{
    struct work_queues *qs = work_queues_new();
    struct work_queue *q =
        work_queue_new(qs, &(struct work_queue_opts){ .name = "bench", .slack_percent = 5 });
    char space[32], name[32];
    size_t before = heap_bytes();
    uint64_t t0 = clock_mono_ns();
    for (size_t i = 0; i < KEYS; i++)
        (void)work_queue_add(q, key_of(space, name, i), WORK_INITIAL, WORK_LOW, now_us(), NULL);
    uint64_t t1 = clock_mono_ns();
    result("key_bytes", "\"state\": \"ready\"", "B", (double)(heap_bytes() - before) / KEYS);
    for (size_t i = 0; i < KEYS; i++)
        (void)work_queue_add(q, key_of(space, name, i), WORK_UPDATE, WORK_NORMAL, now_us(), NULL);
    uint64_t t2 = clock_mono_ns();
    struct work_item *item;
    uint64_t n = 0;
    while ((item = work_queue_take(q, now_us(), NULL)))
        (void)work_queue_finish(q, item, WORK_AGAIN, 1000000 + n++ * 1000, now_us());
    uint64_t t3 = clock_mono_ns();
    result("key_bytes", "\"state\": \"waiting\"", "B", (double)(heap_bytes() - before) / KEYS);
    (void)work_timers_run(work_queues_timers(qs), now_us() + KEYS * UINT64_C(2000));
    uint64_t t4 = clock_mono_ns();
    while ((item = work_queue_take(q, now_us(), NULL)))
        (void)work_queue_finish(q, item, WORK_DONE, 0, now_us());
    uint64_t t5 = clock_mono_ns();
    static const char *const ops[] = { "add", "merge", "take, again later", "wake", "take, done" };
    uint64_t ns[] = { t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4 };
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        char labels[64];
        (void)snprintf(labels, sizeof labels, "\"op\": \"%s\"", ops[i]);
        result("key_ns", labels, "ns", (double)ns[i] / KEYS);
    }
    work_queue_free(q);
    work_queues_free(qs);
}

/* ---- operators whose guests answer at once ---- */

struct op {
    struct dispatch_operator *o;
    uint64_t token; /* to be answered */
};
static struct op ops[OPERATORS];
static size_t n_done;

static int no_object(void *arg, unsigned controller, struct work_key key, struct buf *to)
{
    return buf_add_str(to, STR("{}"));
}

static int activate(void *arg, unsigned instance, uint64_t token, struct str payload,
                    bool lacks_object, struct err *err)
{
    struct op *op = arg;
    op->token = token;
    return 0;
}

static const struct dispatch_ops dispatch_ops = { .object = no_object, .activate = activate };

static void measure_operators(void)
{
    struct loop loop;
    if (loop_init(&loop, NULL) < 0)
        abort();
    struct dispatch *d = dispatch_new(&loop, &(struct dispatch_opts){ .runners = 1 });
    const struct dispatch_controller_opts controller = { .name = "things", .concurrency = 1 };
    size_t before = heap_bytes();
    for (size_t i = 0; i < OPERATORS; i++) {
        ops[i].o = dispatch_operator_new(d, "default/op", &dispatch_ops, &ops[i]);
        (void)dispatch_declare(ops[i].o, &controller, 1, 1, NULL);
        dispatch_instance_ready(ops[i].o, 0);
        dispatch_release(ops[i].o, DISPATCH_HOLD_START);
    }
    size_t made = heap_bytes();
    uint64_t t0 = clock_mono_ns();
    for (size_t i = 0; i < OPERATORS; i++)
        (void)dispatch_add(ops[i].o, 0, (struct work_key){ STR("default"), STR("thing") },
                           WORK_INITIAL, WORK_NORMAL, NULL);
    while (n_done < OPERATORS) {
        (void)loop_turn(&loop, false);
        for (size_t i = 0; i < OPERATORS; i++) {
            uint64_t token = ops[i].token;
            if (token == 0)
                continue;
            ops[i].token = 0;
            n_done++;
            dispatch_activated(ops[i].o, 0, token, 0, STR(""));
        }
    }
    uint64_t t1 = clock_mono_ns();
    (void)loop_turn(&loop, false);
    result("operator_bytes", "\"reconciles\": 0", "B", (double)(made - before) / OPERATORS);
    result("operator_bytes", "\"reconciles\": 1", "B", (double)(heap_bytes() - before) / OPERATORS);
    result("dispatch_ns", "\"operators\": 10000", "ns", (double)(t1 - t0) / OPERATORS);
    for (size_t i = 0; i < OPERATORS; i++)
        dispatch_operator_free(ops[i].o);
    dispatch_free(d);
    (void)loop_turn(&loop, false);
    loop_fini(&loop);
}

int main(void)
{
    measure_queue();
    measure_operators();
    return 0;
}
