/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events (events.k8s.io/v1) as client-go's recorder writes them: the first of a kind is created;
 * the second makes it a series; further ones are counted here and written when the series was quiet
 * for six minutes, or every half hour. Events are of one kind if type, action, reason and the
 * object with its resourceVersion are equal; the note does not matter.
 *
 * Only warnings are remembered, since a success happens once to a pod. No timer runs while nothing
 * is remembered. If the API cannot keep up, Events are dropped, never pods.
 */
#include "sched/core/internal.h"

#include "base/clock.h"

enum { EVENT_MAX_BYTES = 16 << 10 };

struct recorder_series {
    struct list node;           /* of by_age, by their last occurrence */
    struct str key;             /* owned by the map */
    struct str namespace, name; /* of the Event; in strings */
    char *strings;
    char *created; /* the object without a series, in case the Event is gone when the series is
                      written */
    size_t n_created;
    uint64_t last_ms; /* monotonic */
    int64_t last_wall_us;
    uint64_t written_ms;
    uint32_t count;
};

struct recorder_note { /* a request that waits to be sent */
    struct list node;
    struct sched *s;
    char *target, *body;
    size_t n_body;
    bool is_patch;
    char *fallback; /* POST this if the Event to patch is gone; NULL: nothing */
    size_t n_fallback;
};

static void note_free(struct recorder_note *n)
{
    free(n->target);
    free(n->body);
    free(n->fallback);
    free(n);
}

/* ---- sending ---- */

static void send_next(struct sched *s);

static void on_sent(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct recorder_note *n = arg;
    struct sched *s = n->s;
    assert(s->recorder.n_in_flight > 0);
    s->recorder.n_in_flight--;
    if (s->is_ending) {
        note_free(n);
        return;
    }
    if (r >= 0 && status == 404 && n->fallback) {
        free(n->body);
        n->body = n->fallback;
        n->n_body = n->n_fallback;
        n->fallback = NULL;
        n->is_patch = false;
        char *slash = strrchr(n->target, '/');
        *slash = '\0';
        list_push_front(&s->recorder.queue, &n->node);
        s->recorder.n_queue++;
    } else {
        note_free(n);
    }
    send_next(s);
}

static void send_next(struct sched *s)
{
    struct recorder *rec = &s->recorder;
    while (rec->n_in_flight < RECORDER_IN_FLIGHT_MAX && !list_is_empty(&rec->queue)) {
        struct recorder_note *n =
            list_entry(list_pop_front(&rec->queue), struct recorder_note, node);
        assert(rec->n_queue > 0);
        rec->n_queue--;
        rec->n_in_flight++;
        struct sched_api_request rq = {
            .method = n->is_patch ? "PATCH" : "POST",
            .target = str_of(n->target),
            .body = str_n(n->body, n->n_body),
            .patch_type = n->is_patch ? "application/strategic-merge-patch+json" : NULL,
        };
        sched_call(s, &rq, on_sent, n);
    }
}

static void enqueue(struct sched *s, struct str namespace, struct str name, struct str body,
                    struct str fallback)
{
    struct recorder *rec = &s->recorder;
    if (rec->n_queue >= RECORDER_QUEUE_MAX || !s->leads) {
        rec->dropped++;
        return;
    }
    struct recorder_note *n = xnew(struct recorder_note);
    n->s = s;
    n->target =
        name.n > 0
            ? xasprintf("/apis/events.k8s.io/v1/namespaces/" STR_FMT "/events/" STR_FMT,
                        STR_ARG(namespace), STR_ARG(name))
            : xasprintf("/apis/events.k8s.io/v1/namespaces/" STR_FMT "/events", STR_ARG(namespace));
    n->body = str_dup(body);
    n->n_body = body.n;
    n->is_patch = name.n > 0;
    if (fallback.n > 0) {
        n->fallback = str_dup(fallback);
        n->n_fallback = fallback.n;
    }
    list_push_back(&rec->queue, &n->node);
    rec->n_queue++;
    send_next(s);
}

/* ---- series ---- */

static void series_free(struct sched *s, struct recorder_series *e)
{
    list_remove(&e->node);
    map_del(&s->recorder.series, e->key);
    free(e->strings);
    free(e->created);
    free(e);
}

static void add_series(struct buf *out, const struct recorder_series *e)
{
    char at[RFC3339_MAX];
    rfc3339_format_us(e->last_wall_us, at);
    (void)buf_printf(out, "\"series\":{\"count\":%u,\"lastObservedTime\":\"%s\"}}", e->count, at);
}

static void write_series(struct sched *s, struct recorder_series *e)
{
    scoped(buf_fini_scoped) struct buf patch = BUF_INIT(512), whole = BUF_INIT(EVENT_MAX_BYTES);
    (void)buf_add_char(&patch, '{');
    add_series(&patch, e);
    (void)buf_add(&whole, e->created, e->n_created - 1); /* without its closing brace */
    (void)buf_add_char(&whole, ',');
    add_series(&whole, e);
    e->written_ms = s->now_ms;
    if (buf_ok(&patch) && buf_ok(&whole))
        enqueue(s, e->namespace, e->name, buf_str(&patch), buf_str(&whole));
}

static void on_timer(void *arg)
{
    struct sched *s = arg;
    struct recorder *rec = &s->recorder;
    rec->timer_runs = false;
    list_each_safe (node, &rec->by_age) {
        struct recorder_series *e = list_entry(node, struct recorder_series, node);
        bool has_ended = e->last_ms + RECORDER_FINISH_MS <= s->now_ms;
        if (e->count > 1 && (has_ended || e->written_ms + RECORDER_REFRESH_MS <= s->now_ms))
            write_series(s, e);
        if (has_ended)
            series_free(s, e);
    }
    if (list_is_empty(&rec->by_age))
        return;
    rec->timer_runs = true;
    sched_after(s, RECORDER_FINISH_MS, on_timer, s);
}

static void series_add(struct sched *s, struct str key, struct str namespace, struct str name,
                       struct str created)
{
    struct recorder *rec = &s->recorder;
    if (rec->series.n >= RECORDER_SERIES_MAX)
        series_free(s, list_first(&rec->by_age, struct recorder_series, node));
    struct recorder_series *e = xnew(struct recorder_series);
    e->strings = xalloc(namespace.n + name.n + 2);
    memcpy(e->strings, namespace.p, namespace.n);
    memcpy(e->strings + namespace.n + 1, name.p, name.n);
    e->namespace = str_n(e->strings, namespace.n);
    e->name = str_n(e->strings + namespace.n + 1, name.n);
    e->created = str_dup(created);
    e->n_created = created.n;
    e->count = 1;
    e->last_ms = s->now_ms;
    (void)map_put(&rec->series, key, e);
    e->key = map_find(&rec->series, key)->key;
    list_push_back(&rec->by_age, &e->node);
    if (!rec->timer_runs) {
        rec->timer_runs = true;
        sched_after(s, RECORDER_FINISH_MS, on_timer, s);
    }
}

/* Returns false for the first of its kind. */
static bool series_count(struct sched *s, struct str key, int64_t wall_us)
{
    struct recorder_series *e = map_get(&s->recorder.series, key);
    if (!e)
        return false;
    e->count++;
    e->last_ms = s->now_ms;
    e->last_wall_us = wall_us;
    list_remove(&e->node);
    list_push_back(&s->recorder.by_age, &e->node);
    if (e->count == 2)
        write_series(s, e);
    return true;
}

/* ---- creation ---- */

struct about {
    struct str controller, type, reason, action, note;
    const struct sched_reference *regarding, *related; /* NULL: none */
    struct str namespace, name;
    int64_t wall_us;
};

static void member(struct buf *out, const char *key, struct str value)
{
    (void)buf_printf(out, ",\"%s\":", key);
    (void)json_write_str(out, value);
}

static void write_reference(struct buf *out, const char *key, const struct sched_reference *r)
{
    if (!r)
        return;
    const struct {
        const char *key;
        struct str value;
    } members[] = {
        { "apiVersion", r->api_version },
        { "namespace", r->namespace },
        { "name", r->name },
        { "uid", r->uid },
        { "resourceVersion", r->resource_version },
    };
    (void)buf_printf(out, ",\"%s\":{\"kind\":", key);
    (void)json_write_str(out, r->kind);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (members[i].value.n > 0)
            member(out, members[i].key, members[i].value);
    (void)buf_add_char(out, '}');
}

static void write_event(const struct sched *s, const struct about *e, struct buf *out)
{
    char at[RFC3339_MAX];
    rfc3339_format_us(e->wall_us, at);
    (void)buf_add_cstr(out, "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\","
                            "\"metadata\":{\"name\":");
    (void)json_write_str(out, e->name);
    member(out, "namespace", e->namespace);
    (void)buf_printf(out, "},\"eventTime\":\"%s\"", at);
    member(out, "reportingController", e->controller);
    (void)buf_printf(out, ",\"reportingInstance\":\"" STR_FMT "-%s\"", STR_ARG(e->controller),
                     s->host);
    member(out, "action", e->action);
    member(out, "reason", e->reason);
    write_reference(out, "regarding", e->regarding);
    write_reference(out, "related", e->related);
    member(out, "note", e->note);
    member(out, "type", e->type);
    (void)buf_add_char(out, '}');
}

static void add_key(struct buf *key, const struct sched_reference *r)
{
    if (r)
        (void)buf_printf(key,
                         "/" STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT "/" STR_FMT,
                         STR_ARG(r->kind), STR_ARG(r->api_version), STR_ARG(r->namespace),
                         STR_ARG(r->name), STR_ARG(r->uid), STR_ARG(r->resource_version));
}

static void record_event(struct sched *s, struct about *e)
{
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(8192), body = BUF_INIT(EVENT_MAX_BYTES),
                                       name = BUF_INIT(512);
    const struct sched_framework *fw = &s->set->profiles[0].framework;
    bool remembers = e->regarding && str_is(e->type, "Warning");
    e->wall_us = fw->wall_ms(fw->arg) * 1000;
    e->note = str_slice(e->note, 0, NOTE_MAX_BYTES);
    if (remembers) {
        (void)buf_printf(&key, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(e->action),
                         STR_ARG(e->reason), STR_ARG(e->controller));
        add_key(&key, e->regarding);
        add_key(&key, e->related);
        remembers = buf_ok(&key);
        if (remembers && series_count(s, buf_str(&key), e->wall_us))
            return;
    }
    e->namespace =
        e->regarding && e->regarding->namespace.n > 0 ? e->regarding->namespace : STR("default");
    s->recorder.last_nano = MAX(s->recorder.last_nano + 1, (uint64_t)e->wall_us * 1000);
    (void)buf_printf(&name, STR_FMT ".%llx",
                     STR_ARG(e->regarding ? e->regarding->name : e->controller),
                     (unsigned long long)s->recorder.last_nano);
    e->name = buf_str(&name);
    write_event(s, e, &body);
    if (!buf_ok(&body) || !buf_ok(&name))
        return;
    if (remembers)
        series_add(s, buf_str(&key), e->namespace, e->name, buf_str(&body));
    enqueue(s, e->namespace, STR(""), buf_str(&body), STR(""));
}

void recorder_add_about(struct sched *s, const struct sched_profile *profile,
                        const struct sched_reference *regarding,
                        const struct sched_reference *related, struct str type, struct str reason,
                        struct str action, struct str note)
{
    if (!str_is(type, "Normal") && !str_is(type, "Warning"))
        return;
    struct about e = {
        profile->scheduler_name, type, reason, action, note, regarding, related, STR(""), STR(""), 0
    };
    record_event(s, &e);
}

void recorder_add(struct sched *s, const struct sched_profile *profile, const struct sched_pod *pod,
                  const char *type, const char *reason, const char *action, struct str note)
{
    struct sched_reference regarding = { .kind = STR("Pod"), .api_version = STR("v1") };
    char rv[24];
    if (pod) {
        regarding.namespace = pod->o.namespace;
        regarding.name = pod->o.name;
        regarding.uid = pod->o.uid;
        int n = snprintf(rv, sizeof(rv), "%llu", (unsigned long long)pod->o.rv);
        regarding.resource_version = str_n(rv, (size_t)n);
    }
    recorder_add_about(s, profile, pod ? &regarding : NULL, NULL, str_of(type), str_of(reason),
                       str_of(action), note);
}

void recorder_fini(struct sched *s)
{
    struct recorder *rec = &s->recorder;
    while (!list_is_empty(&rec->queue))
        note_free(list_entry(list_pop_front(&rec->queue), struct recorder_note, node));
    while (!list_is_empty(&rec->by_age))
        series_free(s, list_first(&rec->by_age, struct recorder_series, node));
    map_fini(&rec->series);
}
