/* SPDX-License-Identifier: Apache-2.0 */
/* Events reported by guests; see events.h. */
#include "operator/v1/events.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/token_bucket.h"
#include "codec/json.h"
#include "codec/url.h"
#include "kube/model/meta.h"
#include "operator/allow.h"

#include <errno.h>
#include <stdio.h>

enum { WORD_MAX = 128, PATH_PREFIX_MAX = 512 };

/* One Event object and its count. */
struct v1_events_series {
    struct list node; /* in ev->series, the most recent last */
    uint64_t hash;
    char *namespace, *name;
    uint64_t count, written; /* reported; as last written */
    bool is_busy;            /* a write of it is running */
    uint64_t first_ms, last_ms, written_ms;
    int64_t last_wall_us;
};

struct events {
    struct events_opts opts;
    struct list series;
    size_t n_series;
    struct timer timer;       /* for series whose count has grown; armed only then */
    struct token_bucket rate; /* of writes */
    struct list writes;
    size_t n_writes;
    struct events_stats stats;
};

struct v1_events_write {
    struct list node;  /* in ev->writes */
    struct events *ev; /* NULL: freed */
    struct exchange *call;
    uint64_t hash; /* of its series */
    int status;
};

/* ---------------------------------------------------------------- reading */

struct v1_events_report {
    struct str type, reason, action, note;
    const struct json *regarding, *related;
};

static bool is_camel_case(struct str s)
{
    if (s.n == 0 || s.n > WORD_MAX || s.p[0] < 'A' || s.p[0] > 'Z')
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
              (s.p[i] >= '0' && s.p[i] <= '9')))
            return false;
    return true;
}

static int check_reference(const struct json *ref, const char *what, struct err *err)
{
    static const char *const members[] = { "apiVersion", "kind",      "namespace",      "name",
                                           "uid",        "fieldPath", "resourceVersion" };
    if (!json_is(ref, JSON_OBJECT))
        return err_set(err, E_INVALID, "'%s' must be an object", what);
    json_each (v, ref) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            known |= str_is(v->key, members[i]);
        if (!known || !json_is(v, JSON_STRING))
            return err_set(err, E_INVALID, "'%s.%.*s' is not known, or no string", what,
                           (int)MIN(v->key.n, (size_t)64), v->key.p);
    }
    struct str namespace = json_get_str(ref, "namespace");
    if (!json_get_str(ref, "kind").n || !json_get_str(ref, "name").n)
        return err_set(err, E_INVALID, "'%s' needs 'kind' and 'name'", what);
    if (namespace.n && meta_check_dns1123_label(namespace).n)
        return err_set(err, E_INVALID, "'%s.namespace' is no name of a namespace", what);
    return 0;
}

/* Cut to EVENTS_NOTE_MAX bytes, never inside a character. */
static struct str cut_note(struct str note)
{
    if (note.n <= EVENTS_NOTE_MAX)
        return note;
    size_t n = EVENTS_NOTE_MAX;
    while (n > 0 && ((unsigned char)note.p[n] & 0xc0) == 0x80)
        n--;
    return str_slice(note, 0, n);
}

static int read_report(const struct json *v, struct v1_events_report *ret, struct err *err)
{
    static const char *const members[] = { "type", "reason",    "action",
                                           "note", "regarding", "related" };
    if (!json_is(v, JSON_OBJECT))
        return err_set(err, E_INVALID, "an event must be an object");
    json_each (m, v) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            known |= str_is(m->key, members[i]);
        if (!known)
            return err_set(err, E_INVALID, "an event has no member '%.*s'",
                           (int)MIN(m->key.n, (size_t)64), m->key.p);
    }
    *ret = (struct v1_events_report){ .type = json_get_str(v, "type"),
                                      .reason = json_get_str(v, "reason"),
                                      .action = json_get_str(v, "action"),
                                      .note = cut_note(json_get_str(v, "note")),
                                      .regarding = json_getc(v, "regarding"),
                                      .related = json_getc(v, "related") };
    if (!str_is(ret->type, "Normal") && !str_is(ret->type, "Warning"))
        return err_set(err, E_INVALID, "'type' must be 'Normal' or 'Warning'");
    if (!is_camel_case(ret->reason))
        return err_set(err, E_INVALID, "'reason' must be CamelCase of at most %d bytes", WORD_MAX);
    if (!is_camel_case(ret->action))
        return err_set(err, E_INVALID, "'action' must be CamelCase of at most %d bytes", WORD_MAX);
    int r = check_reference(ret->regarding, "regarding", err);
    return r < 0 || !ret->related ? r : check_reference(ret->related, "related", err);
}

static uint64_t hash_of(const struct v1_events_report *rep)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
    (void)json_write_str(&b, rep->type);
    (void)json_write_str(&b, rep->reason);
    (void)json_write_str(&b, rep->action);
    (void)json_write_str(&b, rep->note);
    (void)json_write_sorted(&b, rep->regarding);
    if (rep->related)
        (void)json_write_sorted(&b, rep->related);
    return str_hash(buf_str(&b), 0x6576656e7473);
}

/* ---------------------------------------------------------------- series */

static void free_series(struct events *ev, struct v1_events_series *s)
{
    assert(ev->n_series > 0);
    list_remove(&s->node);
    ev->n_series--;
    free(s->namespace);
    free(s->name);
    free(s);
}

static struct v1_events_series *find_series(struct events *ev, uint64_t hash)
{
    list_each (n, &ev->series) {
        struct v1_events_series *s = list_entry(n, struct v1_events_series, node);
        if (s->hash == hash)
            return s;
    }
    return NULL;
}

static void drop_old(struct events *ev, uint64_t now_ms)
{
    list_each_safe (n, &ev->series) {
        struct v1_events_series *s = list_entry(n, struct v1_events_series, node);
        if (now_ms - s->last_ms >= EVENTS_WINDOW_MS && s->count == s->written)
            free_series(ev, s);
    }
    while (ev->n_series >= EVENTS_KEPT)
        free_series(ev, list_first(&ev->series, struct v1_events_series, node));
}

/* ---------------------------------------------------------------- writing */

static bool take_token(struct events *ev, uint64_t now_ms)
{
    enum { FULL = EVENTS_BURST * EVENTS_REFILL_MS };
    return ev->n_writes < EVENTS_IN_FLIGHT_MAX &&
           token_bucket_take(&ev->rate, FULL, EVENTS_REFILL_MS, now_ms);
}

static void flush(struct events *ev);

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct v1_events_write *)arg)->status = status;
}

static void on_end(void *arg, int r, const struct err *err)
{
    scoped(free_scoped) struct v1_events_write *w = arg;
    struct events *ev = w->ev;
    if (!ev)
        return;
    assert(ev->n_writes > 0);
    list_remove(&w->node);
    ev->n_writes--;
    struct v1_events_series *s = find_series(ev, w->hash);
    if (s)
        s->is_busy = false;
    if (r >= 0 && w->status >= 200 && w->status < 300) {
        ev->stats.written++;
        flush(ev); /* write what arrived meanwhile */
        return;
    }
    ev->stats.failed++;
    /* The object could not be created, or was deleted: the next Event creates a new one. */
    if (s)
        free_series(ev, s);
}

static bool send_write(struct events *ev, const char *method, struct str target, struct str body,
                       const char *type, uint64_t hash)
{
    static const struct exchange_events events = { .on_head = on_head, .on_end = on_end };
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", type);
    (void)headers_addc(&h, "accept", "application/json");
    struct kube_request req = {
        .method = str_of(method), .target = target, .headers = &h, .body = body
    };
    enum kube_verb verb = req.method.p[1] == 'O' ? KUBE_CREATE : KUBE_PATCH;
    if (!allow_check(ev->opts.allow, verb, target)) {
        headers_fini(&h);
        ev->stats.failed++;
        return false;
    }
    assert(ev->n_writes < EVENTS_IN_FLIGHT_MAX); /* take_token() */
    struct v1_events_write *w = xnew(struct v1_events_write);
    w->ev = ev;
    w->hash = hash;
    int r = transport_start(ev->opts.transport, &req, &events, w, &w->call, NULL);
    headers_fini(&h);
    if (r < 0) {
        free(w);
        ev->stats.failed++;
        return false;
    }
    list_push_back(&ev->writes, &w->node);
    ev->n_writes++;
    return true;
}

static void add_member(struct buf *b, const char *name, struct str value)
{
    if (!value.n)
        return;
    (void)buf_printf(b, ",\"%s\":", name);
    (void)json_write_str(b, value);
}

static void write_times(struct buf *b, const struct v1_events_series *s)
{
    char time[RFC3339_MAX];
    rfc3339_format_us(s->last_wall_us, time);
    (void)buf_printf(b, "\"series\":{\"count\":%llu,\"lastObservedTime\":\"%s\"}",
                     (unsigned long long)s->count, time);
}

/* "namespace/name" with at most 63 bytes of name: a qualified name, as upstream requires. */
static struct str reporter(const struct events *ev)
{
    struct str all = str_of(ev->opts.operator_name);
    ptrdiff_t slash = str_find_char(all, '/');
    return str_slice(all, 0, (size_t)(slash + 1) + 63);
}

static bool create(struct events *ev, const struct v1_events_report *rep,
                   const struct v1_events_series *s)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(64 << 10), target = BUF_INIT(4096);
    char time[RFC3339_MAX];
    rfc3339_format_us(s->last_wall_us, time);
    (void)buf_printf(&target, "/apis/events.k8s.io/v1/namespaces/%s/events", s->namespace);
    (void)buf_printf(&body,
                     "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{"
                     "\"name\":\"%s\",\"namespace\":\"%s\"},\"eventTime\":\"%s\","
                     "\"reportingInstance\":\"dormouse\"",
                     s->name, s->namespace, time);
    add_member(&body, "reportingController", reporter(ev));
    add_member(&body, "type", rep->type);
    add_member(&body, "reason", rep->reason);
    add_member(&body, "action", rep->action);
    add_member(&body, "note", rep->note);
    (void)buf_add_cstr(&body, ",\"regarding\":");
    (void)json_write(&body, rep->regarding);
    if (rep->related) {
        (void)buf_add_cstr(&body, ",\"related\":");
        (void)json_write(&body, rep->related);
    }
    (void)buf_add_char(&body, '}');
    return send_write(ev, "POST", buf_str(&target), buf_str(&body), "application/json", s->hash);
}

static bool count(struct events *ev, struct v1_events_series *s)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(4096), target = BUF_INIT(4096);
    (void)buf_printf(&target, "/apis/events.k8s.io/v1/namespaces/%s/events/%s", s->namespace,
                     s->name);
    (void)buf_add_char(&body, '{');
    write_times(&body, s);
    (void)buf_add_char(&body, '}');
    return send_write(ev, "PATCH", buf_str(&target), buf_str(&body), "application/merge-patch+json",
                      s->hash);
}

static void on_timer(struct timer *t);

/* Write series that have grown and are due; the timer is armed for the others. */
static void flush(struct events *ev)
{
    uint64_t now_ms = loop_now_ms(ev->opts.loop), next_ms = UINT64_MAX;
    list_each_safe (n, &ev->series) {
        struct v1_events_series *s = list_entry(n, struct v1_events_series, node);
        if (s->count == s->written || s->is_busy)
            continue;
        bool due = s->written <= 1 || now_ms - s->written_ms >= EVENTS_SERIES_MS;
        if (due && take_token(ev, now_ms)) {
            s->written = s->count;
            s->written_ms = now_ms;
            s->is_busy = count(ev, s);
        } else {
            uint64_t wait_ms = due ? EVENTS_REFILL_MS : EVENTS_SERIES_MS - (now_ms - s->written_ms);
            next_ms = MIN(next_ms, wait_ms);
        }
    }
    if (next_ms != UINT64_MAX)
        timer_start(ev->opts.loop, &ev->timer, next_ms, on_timer);
}

static void on_timer(struct timer *t)
{
    flush(container_of(t, struct events, timer));
}

/* ---------------------------------------------------------------- public */

static struct v1_events_series *new_series(struct events *ev, const struct v1_events_report *rep,
                                           uint64_t hash)
{
    struct v1_events_series *s = xnew(struct v1_events_series);
    struct str namespace = json_get_str(rep->regarding, "namespace");
    struct str name = str_slice(json_get_str(rep->regarding, "name"), 0, 200);
    s->hash = hash;
    s->namespace = namespace.n ? str_dup(namespace) : xstrdup(ev->opts.default_namespace);
    /* Names of some kinds are not valid in an Event's name; a cut name may end with a dot. */
    if (meta_check_dns1123_subdomain(name).n)
        name = STR("event");
    s->name = xasprintf(STR_FMT ".%016llx", STR_ARG(name),
                        (unsigned long long)clock_mono_ns() ^ (hash << 32));
    s->first_ms = loop_now_ms(ev->opts.loop);
    list_push_back(&ev->series, &s->node);
    ev->n_series++;
    return s;
}

static void add(struct events *ev, const struct v1_events_report *rep)
{
    uint64_t now_ms = loop_now_ms(ev->opts.loop), hash = hash_of(rep);
    struct v1_events_series *s = find_series(ev, hash);
    ev->stats.reported++;
    if (s && now_ms - s->last_ms < EVENTS_WINDOW_MS) {
        s->count++;
        s->last_ms = now_ms;
        s->last_wall_us = clock_wall_us();
        list_remove(&s->node);
        list_push_back(&ev->series, &s->node);
        flush(ev);
        return;
    }
    drop_old(ev, now_ms);
    if (!take_token(ev, now_ms)) {
        ev->stats.left_out++;
        return;
    }
    s = new_series(ev, rep, hash);
    s->count = s->written = 1;
    s->last_ms = s->written_ms = now_ms;
    s->last_wall_us = clock_wall_us();
    s->is_busy = create(ev, rep, s);
    if (!s->is_busy)
        free_series(ev, s);
}

int events_report(struct events *ev, struct str json, struct err *err)
{
    struct arena a = { .max_bytes = 1 << 20 };
    struct json_parse_opts opts = { .max_depth = 8 };
    struct json *v;
    struct v1_events_report rep;
    int r = json_parse(&a, json, &opts, &v, err);
    if (r >= 0)
        r = read_report(v, &rep, err);
    if (r >= 0)
        add(ev, &rep);
    arena_fini(&a);
    return r;
}

struct events *events_new(const struct events_opts *opts)
{
    struct events *ev = xnew(struct events);
    ev->opts = *opts;
    list_init(&ev->series);
    list_init(&ev->writes);
    return ev;
}

void events_free(struct events *ev)
{
    if (!ev)
        return;
    timer_stop(ev->opts.loop, &ev->timer);
    struct list *node;
    while ((node = list_pop_front(&ev->writes)))
        list_entry(node, struct v1_events_write, node)->ev = NULL; /* on_end() frees it */
    while (!list_is_empty(&ev->series))
        free_series(ev, list_first(&ev->series, struct v1_events_series, node));
    free(ev);
}

void events_get_stats(const struct events *ev, struct events_stats *ret)
{
    *ret = ev->stats;
    ret->series = ev->n_series;
}
