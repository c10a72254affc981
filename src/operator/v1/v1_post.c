/* SPDX-License-Identifier: Apache-2.0 */
/* What guests of ABI v1 post: log lines, events, metrics, keys; see v1_impl.h. */
#include "operator/v1/v1_impl.h"

#include "base/log.h"
#include "guest/guest_log.h"

#include <stdio.h>

static int read_enqueue(const struct v1 *v, const struct json *o, unsigned *ret_controller,
                        enum work_priority *ret_priority, int64_t *ret_after_ms, struct err *err)
{
    static const char *const members[] = { "controller", "namespace", "name", "afterMs",
                                           "priority" };
    static const char *const priorities[] = { "low", "normal", "high" };
    static const enum work_priority values[] = { WORK_LOW, WORK_NORMAL, WORK_HIGH };
    if (!json_is(o, JSON_OBJECT))
        return err_set(err, E_INVALID, "it must be an object");
    json_each (m, o) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            known |= str_is(m->key, members[i]);
        if (!known || (!str_is(m->key, "afterMs") && !json_is(m, JSON_STRING)))
            return err_set(err, E_INVALID, "member '%.*s' is not known, or no string",
                           (int)MIN(m->key.n, (size_t)64), m->key.p);
    }
    struct str name = json_get_str(o, "controller");
    const struct declaration_controller *c = declaration_controller(v->declaration, name);
    if (!c)
        return err_set(err, E_INVALID, "no controller '%.*s' is declared",
                       (int)MIN(name.n, (size_t)64), name.p);
    *ret_controller = (unsigned)(c - v->declaration->controllers);
    *ret_after_ms = 0;
    const struct json *after = json_getc(o, "afterMs");
    if (after && (!json_is(after, JSON_NUMBER) || json_int(after, ret_after_ms) < 0 ||
                  *ret_after_ms < 0 || *ret_after_ms > INT64_C(1) << GUEST_V1_REQUEUE_MS_BITS))
        return err_set(err, E_INVALID, "'afterMs' must be from 0 to 2^40");
    *ret_priority = WORK_NORMAL;
    const struct json *priority = json_getc(o, "priority");
    for (size_t i = 0; priority; i++) {
        if (i == ARRAY_LEN(priorities))
            return err_set(err, E_INVALID, "'priority' must be 'low', 'normal' or 'high'");
        if (str_is(json_str(priority), priorities[i])) {
            *ret_priority = values[i];
            break;
        }
    }
    return 0;
}

static int on_enqueue(struct v1 *v, struct str text, struct err *err)
{
    struct arena a = { .max_bytes = 256 << 10 };
    struct json_parse_opts opts = { .max_depth = 4 };
    struct json *o;
    unsigned controller = 0;
    enum work_priority priority = WORK_NORMAL;
    int64_t after_ms = 0;
    int r = json_parse(&a, text, &opts, &o, err);
    if (r >= 0)
        r = read_enqueue(v, o, &controller, &priority, &after_ms, err);
    if (r >= 0) {
        struct work_key key = { json_get_str(o, "namespace"), json_get_str(o, "name") };
        r = dispatch_add_after(v->dispatch, controller, key, WORK_ENQUEUE, priority,
                               (uint64_t)after_ms, err);
        if (r == E_LIMIT)
            r = 0; /* handled by the queue, which lists again */
    }
    arena_fini(&a);
    return r;
}

static int on_event(struct v1 *v, struct str text, struct err *err)
{
    if (!v->events) {
        struct events_opts opts = { .loop = v->host->opts.loop,
                                    .transport = v->calls.transport,
                                    .allow = v->calls.allow,
                                    .operator_name = v->full_name,
                                    .default_namespace = "default" };
        v->events = events_new(&opts);
    }
    return events_report(v->events, text, err);
}

/* Only letters, digits and '_' of a guest's key are kept, so that the line can be parsed. */
static void add_pair(struct buf *to, struct str key, struct str value)
{
    char text[LOG_QUOTE_MAX];
    (void)buf_add_char(to, ' ');
    for (size_t i = 0; i < key.n && i < 64; i++) {
        char c = key.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        (void)buf_add_char(to, plain || c == '_' || c == '-' || c == '.' ? c : '_');
    }
    (void)buf_printf(to, "=\"%s\"", log_quote(text, value));
}

static int add_pairs(struct buf *to, struct str json, struct err *err)
{
    struct arena a = { .max_bytes = 256 << 10 };
    struct json_parse_opts opts = { .max_depth = 16 };
    struct json *o;
    int r = json_parse(&a, json, &opts, &o, err);
    if (r >= 0 && !json_is(o, JSON_OBJECT))
        r = err_set(err, E_INVALID, "key-values must be an object");
    json_each (m, r >= 0 ? o : NULL) {
        struct buf value = BUF_INIT(GUEST_V1_LOG_MAX * 2);
        if (!json_is(m, JSON_STRING))
            (void)json_write(&value, m);
        add_pair(to, m->key, json_is(m, JSON_STRING) ? json_str(m) : buf_str(&value));
        buf_fini(&value);
    }
    arena_fini(&a);
    return r;
}

/* Key-values that were cut at their limit are no longer valid JSON: they are logged as text. */
static int on_log_line(struct v1_instance *in, const struct guest_post *p, struct err *err)
{
    static const enum log_level levels[] = { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
    struct v1 *v = in->v;
    char text[LOG_QUOTE_MAX];
    scoped(buf_fini_scoped) struct buf pairs = BUF_INIT(32 << 10);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(1024), id = BUF_INIT(32);
    struct guest_log_line line = { .level = levels[MIN(p->number, 3u)],
                                   .message = p->head,
                                   .fields = p->body };
    struct work_task task;
    unsigned controller;
    (void)buf_printf(&pairs, "operator=%s", v->full_name);
    if (v->declaration && dispatch_current(v->dispatch, in->number, &controller, &task)) {
        (void)buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(task.key.namespace),
                         STR_ARG(task.key.name));
        (void)buf_printf(&id, "%llx", (unsigned long long)p->token);
        line.controller = v->declaration->controllers[controller].name;
        line.key = buf_str(&key);
        line.reconcile = buf_str(&id);
        (void)buf_printf(&pairs, " controller=" STR_FMT " key=%s reconcile=%s",
                         STR_ARG(line.controller), buf_cstr(&key), buf_cstr(&id));
    }
    (void)buf_printf(&pairs, " line=\"%s\"", log_quote(text, p->head));
    if (p->body.n && add_pairs(&pairs, p->body, err) < 0) {
        if (p->head.n + p->body.n < GUEST_V1_LOG_MAX)
            return err->code;
        add_pair(&pairs, STR("cut"), p->body);
    }
    guest_log_add(v->host->opts.logs, v->calls.namespace, v->calls.name, &line);
    /* The operator's level enables the guest's debug lines, regardless of the host's level. */
    log_write(p->number == 0 ? LOG_INFO : levels[MIN(p->number, 3u)], "guest", "%s%s",
              p->number == 0 ? "level=debug " : "", buf_cstr(&pairs));
    return 0;
}

static int on_metric(struct v1 *v, const struct guest_post *p, struct err *err)
{
    if (!v->metrics)
        return err_set(err, E_INVALID, "no metrics are declared");
    int r = guest_metrics_observe(v->metrics, p->number, p->head, p->value, err);
    return r == E_LIMIT ? 0 : r; /* the drop is counted */
}

void v1_on_post(struct guest *g, const struct guest_post *p, void *arg)
{
    static const char *const names[] = { [GUEST_POST_LOG] = "log",
                                         [GUEST_POST_ENQUEUE] = "enqueue",
                                         [GUEST_POST_EVENT] = "event",
                                         [GUEST_POST_METRIC] = "metric" };
    struct v1_instance *in = arg;
    struct err err = { 0 };
    int r = 0;
    trace_post(&in->v->trace, &in->clock, names[p->kind], p->head);
    switch (p->kind) {
    case GUEST_POST_LOG:
        r = on_log_line(in, p, &err);
        break;
    case GUEST_POST_ENQUEUE:
        r = in->v->declaration ? on_enqueue(in->v, p->head, &err) : 0;
        break;
    case GUEST_POST_EVENT:
        r = on_event(in->v, p->head, &err);
        break;
    case GUEST_POST_METRIC:
        r = on_metric(in->v, p, &err);
        break;
    }
    if (r < 0)
        v1_broken(in, names[p->kind], "R-posted", "%s", err_text(&err));
}
