/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of activations; see trace.h. */
#include "operator/v1/trace.h"

#include "base/clock.h"
#include "base/mem.h"
#include "codec/json.h"

#include <inttypes.h>

enum { STEP_MAX_BYTES = 16 << 10 };

void trace_init(struct v1_trace *t)
{
    list_init(&t->tracers);
}

void trace_fini(struct v1_trace *t)
{
    struct list *node;
    while ((node = list_pop_front(&t->tracers))) {
        struct tracer *tracer = list_entry(node, struct tracer, node);
        tracer->on_gone(tracer);
    }
}

void trace_listen(struct v1_trace *t, struct tracer *tracer)
{
    list_push_back(&t->tracers, &tracer->node);
}

void trace_unlisten(struct tracer *tracer)
{
    list_remove(&tracer->node);
}

size_t trace_listeners(const struct v1_trace *t)
{
    size_t n = 0;
    list_each (node, &t->tracers)
        n++;
    return n;
}

void trace_clock_fini(struct trace_clock *clock)
{
    free(take_ptr(&clock->call));
}

static bool is_on(const struct v1_trace *t)
{
    return !list_is_empty(&t->tracers);
}

static uint64_t now_us(void)
{
    return clock_mono_ns() / 1000;
}

static void emit(struct v1_trace *t, struct buf *step, bool is_end)
{
    (void)buf_add_cstr(step, "}\n");
    if (!buf_ok(step))
        return;
    list_each_safe (node, &t->tracers) {
        struct tracer *tracer = list_entry(node, struct tracer, node);
        tracer->on_step(tracer, buf_str(step), is_end);
    }
}

static void add_text(struct buf *to, const char *key, struct str value)
{
    if (value.n == 0)
        return;
    (void)buf_printf(to, ",\"%s\":", key);
    (void)json_write_str(to, str_slice(value, 0, TRACE_WHAT_MAX));
}

static void add_task(struct buf *to, const struct work_task *task)
{
    const char *comma = "";
    struct buf key = BUF_INIT(1024);
    (void)buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(task->key.namespace),
                     STR_ARG(task->key.name));
    add_text(to, "key", buf_str(&key));
    buf_fini(&key);
    (void)buf_add_cstr(to, ",\"reasons\":[");
    for (unsigned i = 0; i < WORK_REASON_COUNT; i++)
        if (task->reasons & 1u << i) {
            (void)buf_printf(to, "%s\"%s\"", comma, work_reason_name((enum work_reason)i));
            comma = ",";
        }
    (void)buf_printf(to, "],\"attempt\":%u", task->attempt);
}

void trace_begin(struct v1_trace *t, struct trace_clock *clock, const struct trace_activation *a)
{
    if (!is_on(t))
        return;
    clock->began_us = now_us();
    scoped(buf_fini_scoped) struct buf step = BUF_INIT(STEP_MAX_BYTES);
    (void)buf_printf(&step, "{\"event\":\"activation\",\"instance\":%u", a->instance);
    add_text(&step, "controller", a->controller);
    add_task(&step, a->task);
    (void)buf_printf(&step, ",\"state\":\"%s\",\"payloadBytes\":%zu", guest_state_name(a->state),
                     a->payload_bytes);
    emit(t, &step, false);
}

/* "GET /api/v1/...", or the call's name and its target. */
static char *name_call(const struct guest_call *call)
{
    static const char *const names[] = { [GUEST_CALL_DECLARE] = "declare ",
                                         [GUEST_CALL_API_REQUEST] = "",
                                         [GUEST_CALL_CACHE_GET] = "cache_get ",
                                         [GUEST_CALL_CACHE_LIST] = "cache_list ",
                                         [GUEST_CALL_CONFIG_GET] = "config_get " };
    struct str line, rest;
    (void)str_cut(call->head, '\n', &line, &rest);
    return xasprintf("%s" STR_FMT, names[call->kind], STR_ARG(str_slice(line, 0, TRACE_WHAT_MAX)));
}

void trace_call_begin(struct v1_trace *t, struct trace_clock *clock, const struct guest_call *call)
{
    if (!is_on(t))
        return;
    clock->call_us = now_us();
    free(clock->call);
    clock->call = name_call(call);
}

/* A tracer that was attached during an activation has not seen its beginning. */
static bool has_begun(const struct v1_trace *t, const struct trace_clock *clock)
{
    return is_on(t) && clock->began_us;
}

void trace_call_end(struct v1_trace *t, const struct trace_clock *clock, int64_t value,
                    size_t bytes)
{
    if (!has_begun(t, clock))
        return;
    scoped(buf_fini_scoped) struct buf step = BUF_INIT(STEP_MAX_BYTES);
    (void)buf_printf(&step, "{\"event\":\"call\",\"atUs\":%" PRIu64,
                     clock->call_us - clock->began_us);
    add_text(&step, "call", str_of(clock->call ? clock->call : ""));
    (void)buf_printf(&step, ",\"tookUs\":%" PRIu64 ",\"value\":%" PRId64 ",\"bytes\":%zu",
                     now_us() - clock->call_us, value, bytes);
    emit(t, &step, false);
}

void trace_post(struct v1_trace *t, const struct trace_clock *clock, const char *call,
                struct str what)
{
    if (!has_begun(t, clock))
        return;
    scoped(buf_fini_scoped) struct buf step = BUF_INIT(STEP_MAX_BYTES);
    (void)buf_printf(&step, "{\"event\":\"post\",\"atUs\":%" PRIu64, now_us() - clock->began_us);
    add_text(&step, "call", str_of(call));
    add_text(&step, "what", what);
    emit(t, &step, false);
}

void trace_end(struct v1_trace *t, struct trace_clock *clock, const struct dispatch_result *r)
{
    if (!has_begun(t, clock)) {
        clock->began_us = 0;
        return;
    }
    scoped(buf_fini_scoped) struct buf step = BUF_INIT(STEP_MAX_BYTES);
    (void)buf_printf(&step, "{\"event\":\"end\",\"atUs\":%" PRIu64 ",\"result\":\"%s\"",
                     now_us() - clock->began_us, work_end_name(r->end));
    if (r->delay_ms)
        (void)buf_printf(&step, ",\"delayMs\":%" PRIu64, r->delay_ms);
    add_text(&step, "message", r->message);
    (void)buf_printf(&step, ",\"trapped\":%s,\"workUs\":%" PRIu64 ",\"busyUs\":%" PRIu64,
                     r->trapped ? "true" : "false", r->work_us, r->busy_us);
    clock->began_us = 0;
    emit(t, &step, true);
}
