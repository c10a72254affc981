/* SPDX-License-Identifier: Apache-2.0 */
/* Status and `describe` output of an operator of ABI v1; see v1.h. */
#include "operator/v1/v1_impl.h"

#include "base/clock.h"

#include <stdio.h>

/* Describe the first thing that is missing. */
static void say_what_waits(const struct v1 *v, char text[V1_SUMMARY_MAX])
{
    char config[CONFIG_TEXT_MAX];
    text[0] = 0;
    if (!v->declaration) {
        (void)snprintf(text, V1_SUMMARY_MAX, "the guest has not declared yet");
        return;
    }
    if (!v->is_watching) {
        (void)snprintf(text, V1_SUMMARY_MAX, "%s",
                       v->trouble ? v->trouble : "its identity is being fetched");
        return;
    }
    const char *missing = configs_missing(v->calls.configs, config);
    if (missing) {
        (void)snprintf(text, V1_SUMMARY_MAX, "%s", missing);
        return;
    }
    for (size_t i = 0; i < v->declaration->n_watches; i++) {
        const struct declaration_watch *w = &v->declaration->watches[i];
        struct watch_view view;
        interests_watch_view(v->calls.interests, i, &view);
        if (view.state == WATCH_SYNCED)
            continue;
        (void)snprintf(text, V1_SUMMARY_MAX,
                       "watch '" STR_FMT "' of " STR_FMT " " STR_FMT ": %s%s%s", STR_ARG(w->id),
                       STR_ARG(w->api_version), STR_ARG(w->kind), v1_watch_state_name(view.state),
                       view.why[0] ? ": " : "", view.why);
        return;
    }
}

void v1_get_summary(const struct v1 *v, struct v1_summary *ret)
{
    *ret = (struct v1_summary){ .declared = v->declaration != NULL,
                                .reconciles = v->reconciles,
                                .failures = v->failures };
    say_what_waits(v, ret->waits);
    if (!v->declaration)
        return;
    ret->n_controllers = v->declaration->n_controllers;
    ret->n_watches = v->declaration->n_watches;
    for (size_t i = 0; v->is_watching && i < ret->n_watches; i++) {
        struct watch_view view;
        interests_watch_view(v->calls.interests, i, &view);
        ret->n_synced += view.state == WATCH_SYNCED;
    }
    char text[CONFIG_TEXT_MAX];
    ret->synced = v->is_watching && interests_synced(v->calls.interests) &&
                  !configs_missing(v->calls.configs, text);
}

static void write_watches(const struct v1 *v, struct buf *to)
{
    static const char *const roles[] = { "for", "owns", "watches", "caches" };
    for (size_t i = 0; i < v->declaration->n_watches; i++) {
        const struct declaration_watch *w = &v->declaration->watches[i];
        struct watch_view view = { .state = WATCH_FINDING, .why = "" };
        if (v->is_watching)
            interests_watch_view(v->calls.interests, i, &view);
        (void)buf_printf(to, "%s{\"id\":", i ? "," : "");
        (void)json_write_str(to, w->id);
        (void)buf_add_cstr(to, ",\"apiVersion\":");
        (void)json_write_str(to, w->api_version);
        (void)buf_add_cstr(to, ",\"kind\":");
        (void)json_write_str(to, w->kind);
        (void)buf_printf(to, ",\"role\":\"%s\",\"state\":\"%s\"", roles[w->role],
                         v1_watch_state_name(view.state));
        if (w->role != WATCH_CACHE) {
            (void)buf_add_cstr(to, ",\"controller\":");
            (void)json_write_str(to, v->declaration->controllers[w->controller].name);
        }
        if (view.why[0]) {
            (void)buf_add_cstr(to, ",\"message\":");
            (void)json_write_str(to, str_of(view.why));
        }
        (void)buf_add_char(to, '}');
    }
}

static void write_last(const struct v1 *v, const struct v1_last *last, struct buf *to)
{
    const char *comma = "";
    (void)buf_add_cstr(to, ",\"last\":{\"key\":");
    (void)json_write_str(to, str_of(last->key));
    (void)buf_add_cstr(to, ",\"reasons\":[");
    for (unsigned i = 0; i < WORK_REASON_COUNT; i++)
        if (last->reasons & 1u << i) {
            (void)buf_printf(to, "%s\"%s\"", comma, work_reason_name((enum work_reason)i));
            comma = ",";
        }
    (void)buf_printf(to,
                     "],\"attempt\":%u,\"result\":\"%s\",\"trapped\":%s,\"delayMs\":%llu,"
                     "\"durationUs\":%llu,\"busyUs\":%llu,\"agoMs\":%llu",
                     last->attempt, work_end_name(last->end), last->trapped ? "true" : "false",
                     (unsigned long long)last->delay_ms, (unsigned long long)last->work_us,
                     (unsigned long long)last->busy_us,
                     (unsigned long long)(loop_now_ms(v->host->opts.loop) - last->ended_ms));
    if (last->message) {
        (void)buf_add_cstr(to, ",\"message\":");
        (void)json_write_str(to, str_of(last->message));
    }
    (void)buf_add_char(to, '}');
}

static void write_controllers(const struct v1 *v, struct buf *to)
{
    uint64_t now_us = clock_mono_ns() / 1000;
    for (size_t i = 0; i < v->declaration->n_controllers; i++) {
        const struct work_queue *q = dispatch_queue(v->dispatch, (unsigned)i);
        uint64_t due_us = work_queue_next_due_us(q);
        (void)buf_printf(to, "%s{\"name\":", i ? "," : "");
        (void)json_write_str(to, v->declaration->controllers[i].name);
        (void)buf_printf(to, ",\"ready\":%zu,\"waiting\":%zu,\"running\":%zu", work_queue_depth(q),
                         work_queue_waiting(q), work_queue_running(q));
        if (due_us != WORK_NEVER)
            (void)buf_printf(to, ",\"nextInMs\":%llu",
                             (unsigned long long)(due_us > now_us ? (due_us - now_us) / 1000 : 0));
        if (v->last && v->last[i].key)
            write_last(v, &v->last[i], to);
        (void)buf_add_char(to, '}');
    }
}

bool v1_is_busy(const struct v1 *v)
{
    struct dispatch_view view;
    dispatch_get_view(v->dispatch, &view);
    return view.active || (view.ready && view.holds == 0);
}

struct v1_trace *v1_trace(struct v1 *v)
{
    return &v->trace;
}

/* Describe the calls in which instances are parked. */
static void write_calls(const struct v1 *v, struct buf *to)
{
    const char *comma = "";
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(16 << 10);
    for (unsigned i = 0; i == 0 || (v->more && i < v->declaration->instances); i++) {
        const struct v1_instance *in = i == 0 ? &v->first : v->more[i - 1];
        if (!in || !in->call)
            continue;
        (void)buf_printf(&all, "%s%s", comma, host_call_what(in->call));
        comma = ", ";
    }
    if (!all.n)
        return;
    (void)buf_add_cstr(to, ",\"call\":");
    (void)json_write_str(to, buf_str(&all));
}

void v1_describe(const struct v1 *v, struct buf *to)
{
    struct v1_summary summary;
    v1_get_summary(v, &summary);
    (void)buf_printf(to,
                     "{\"declared\":%s,\"synced\":%s,\"reconciles\":%llu,\"failures\":%llu,"
                     "\"tracers\":%zu",
                     summary.declared ? "true" : "false", summary.synced ? "true" : "false",
                     (unsigned long long)summary.reconciles, (unsigned long long)summary.failures,
                     trace_listeners(&v->trace));
    if (summary.waits[0]) {
        (void)buf_add_cstr(to, ",\"waitsFor\":");
        (void)json_write_str(to, str_of(summary.waits));
    }
    write_calls(v, to);
    if (v->declaration) {
        (void)buf_add_cstr(to, ",\"name\":");
        (void)json_write_str(to, v->declaration->name);
        (void)buf_add_cstr(to, ",\"version\":");
        (void)json_write_str(to, v->declaration->version);
        (void)buf_add_cstr(to, ",\"watches\":[");
        write_watches(v, to);
        (void)buf_add_cstr(to, "],\"controllers\":[");
        write_controllers(v, to);
        (void)buf_add_char(to, ']');
    }
    (void)buf_add_char(to, '}');
}
