/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the leader writes: FunctionRevisions, status, Events. Writes are delayed for a moment, so
 * that a burst of changes is one write. One write of a function is in progress at a time, and a
 * limited number of all. A status is only written if it differs from the one in the API.
 */
#include "fn/control/catalog_impl.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "kube/model/meta.h"

#include <inttypes.h>

enum { WRITES_PER_TURN = 8 };

#define COMPILING         "Compiling"
#define COMPILING_MESSAGE "the module is being compiled"
#define PULLING           "ImagePulling"
#define PULLING_MESSAGE   "the image is being pulled"

static void write_next(struct catalog *c);

/* ---------------------------------------------------------------- status */

struct catalog_write_verdict {
    const char *ready; /* status of the condition */
    const char *reason, *message;
    struct plane_view view;
};

/* Ready is True only for the revision of the spec, whatever older revisions can serve. */
static void evaluate(const struct catalog_entry *e, struct catalog_write_verdict *ret)
{
    *ret = (struct catalog_write_verdict){ .ready = "True", .reason = "Deployed", .message = "" };
    if (e->number)
        (void)plane_view(e->c->opts.plane, e->number, &ret->view);
    if (ret->view.latest_ready < ret->view.latest)
        *ret = (struct catalog_write_verdict){ "Unknown", "RevisionNotReady",
                                               "the latest revision is not ready yet", ret->view };
    if (ret->view.latest_ready < ret->view.latest && ret->view.is_compiling)
        *ret = (struct catalog_write_verdict){ "Unknown", COMPILING, COMPILING_MESSAGE, ret->view };
    if (ret->view.latest_ready < ret->view.latest && ret->view.is_pulling)
        *ret = (struct catalog_write_verdict){ "Unknown", PULLING, PULLING_MESSAGE, ret->view };
    if (catalog_module_is_awaited(e))
        *ret = (struct catalog_write_verdict){ "Unknown", "ModuleAwaited",
                                               "the module is being looked for", ret->view };
    if (ret->view.reason)
        *ret = (struct catalog_write_verdict){ "False", ret->view.reason, ret->view.message,
                                               ret->view };
    if (e->reason)
        *ret = (struct catalog_write_verdict){ "False", e->reason, e->message, ret->view };
}

static struct json *add_condition(struct arena *a, struct json *conds,
                                  const struct catalog_entry *e, const char *type,
                                  const char *status, const char *reason, const char *message)
{
    struct json *cond = json_new_object(a);
    json_set_str(a, cond, "type", str_of(type));
    json_set_str(a, cond, "status", str_of(status));
    json_set_str(a, cond, "reason", str_of(reason));
    json_set_str(a, cond, "message", str_of(message));
    json_set_int(a, cond, "observedGeneration", (int64_t)e->generation);
    json_add(conds, cond);
    return cond;
}

/* Without the times of the conditions, which are not compared. */
static struct json *new_status(struct arena *a, struct catalog_entry *e,
                               const struct catalog_write_verdict *v)
{
    struct json *status = json_new_object(a), *conds = json_new_array(a), *list = json_new_array(a);
    if (e->number) {
        json_set_str(a, status, "url",
                     str_of(arena_printf(a, "%s/fn/%s/%s", e->c->opts.url, e->namespace, e->name)));
        json_set_int(a, status, "latestRevision", v->view.latest);
        json_set_int(a, status, "readyRevision", v->view.latest_ready);
    }
    json_set_int(a, status, "observedGeneration", (int64_t)e->generation);
    json_set_str(a, status, "message", str_of(v->message));
    vec_each (r, &e->revisions) {
        struct json *one = json_new_object(a);
        json_set_int(a, one, "revision", r->number);
        json_add(list, one);
    }
    json_setc(a, status, "revisions", list);
    (void)add_condition(a, conds, e, "Ready", v->ready, v->reason, v->message);
    if (v->view.is_compiling && !v->view.reason && !e->reason)
        (void)add_condition(a, conds, e, "Progressing", "True", COMPILING, COMPILING_MESSAGE);
    else if (v->view.is_pulling && !v->view.reason && !e->reason)
        (void)add_condition(a, conds, e, "Progressing", "True", PULLING, PULLING_MESSAGE);
    json_setc(a, status, "conditions", conds);
    return status;
}

static uint64_t hash_json(const struct json *v)
{
    struct buf text = BUF_INIT(1 << 20);
    (void)json_write_sorted(&text, v);
    uint64_t h = str_hash(buf_str(&text), 1);
    buf_fini(&text);
    return h;
}

uint64_t catalog_status_hash(const struct json *status)
{
    struct arena a = { 0 };
    if (!status)
        return 0;
    struct json *copy = json_clone(&a, status);
    json_each (cond, json_getc(copy, "conditions"))
        (void)json_del(cond, STR("lastTransitionTime"));
    uint64_t h = hash_json(copy);
    arena_fini(&a);
    return h;
}

/* ---------------------------------------------------------------- calls */

static struct str object_path(struct arena *a, const struct catalog_entry *e, const char *plural)
{
    return str_of(
        arena_printf(a, "/apis/" FN_GROUP_VERSION "/namespaces/%s/%s", e->namespace, plural));
}

static void on_write_timer(struct timer *t)
{
    write_next(container_of(t, struct catalog, write_timer));
}

static void on_written(void *arg, int status, struct str body, const struct json *json,
                       const struct err *err)
{
    struct catalog_entry *e = arg;
    struct catalog *c = e->c;
    e->write = NULL;
    c->n_writes--;
    bool ok = status >= 200 && status < 300;
    if (!ok && status != 404 && status != 409)
        log_debug("status of a function", "function=%s/%s status=%d reason=\"%s\"", e->namespace,
                  e->name, status, err_text(err));
    if (!ok && status != 404) { /* 404: it was deleted, and the watch will report it */
        timer_start(c->opts.loop, &c->write_timer, CATALOG_RETRY_MS, on_write_timer);
        catalog_entry_touch(e);
    }
    write_next(c);
}

static void on_revision_written(void *arg, int status, struct str body, const struct json *json,
                                const struct err *err)
{
    struct catalog_entry *e = arg;
    int64_t number = json_int_or(json_path(json, "spec", "revision", NULL), 0);
    if (status == 201)
        vec_each (r, &e->revisions)
            r->is_written |= r->number == number;
    on_written(arg, status == 201 ? 404 : status, body, json, err);
    if (status == 201 && e->generation)
        catalog_entry_touch(e);
}

static bool write_call(struct catalog_entry *e, const char *method, struct str target,
                       const char *type, const struct json *body, ask_cb cb)
{
    struct buf text = BUF_INIT(FN_SPEC_MAX_BYTES * 2);
    struct ask_request rq = { .method = method, .target = target, .content_type = type };
    if (body)
        (void)json_write(&text, body);
    rq.body = buf_str(&text);
    bool ok =
        ask_start(e->c->opts.transport, e->c->opts.identity, &rq, cb, e, &e->write, NULL) >= 0;
    buf_fini(&text);
    e->c->n_writes += ok;
    return ok;
}

static bool write_revision(struct catalog_entry *e, const struct known_revision *r)
{
    struct arena a = { 0 };
    struct json *o = json_new_object(&a), *meta = json_obj(&a, o, "metadata"),
                *spec = json_obj(&a, o, "spec"), *owners = json_new_array(&a),
                *owner = json_new_object(&a), *template;
    bool ok = json_parse(&a, str_of(r->template), NULL, &template, NULL) >= 0;
    json_set_str(&a, o, "apiVersion", STR(FN_GROUP_VERSION));
    json_set_str(&a, o, "kind", STR("FunctionRevision"));
    json_set_str(&a, meta, "name", str_of(arena_printf(&a, "%s-%05u", e->name, r->number)));
    json_set_str(&a, owner, "apiVersion", STR(FN_GROUP_VERSION));
    json_set_str(&a, owner, "kind", STR("Function"));
    json_set_str(&a, owner, "name", str_of(e->name));
    json_set_str(&a, owner, "uid", str_of(e->uid));
    json_add(owners, owner);
    json_setc(&a, meta, "ownerReferences", owners);
    json_set_str(&a, spec, "function", str_of(e->name));
    json_set_int(&a, spec, "revision", r->number);
    if (ok) {
        json_setc(&a, spec, "template", template);
        ok = write_call(e, "POST", object_path(&a, e, "functionrevisions"), "application/json", o,
                        on_revision_written);
    }
    arena_fini(&a);
    return ok;
}

/* There may be more to collect, and the status has not been checked. */
static void on_collected(void *arg, int status, struct str body, const struct json *json,
                         const struct err *err)
{
    struct catalog_entry *e = arg;
    on_written(arg, status, body, json, err);
    catalog_entry_touch(e);
}

/* The oldest one that no traffic reaches, if there are too many. */
static bool collect_revision(struct catalog_entry *e)
{
    struct arena a = { 0 };
    bool ok = false;
    if (e->revisions.n <= FN_REVISIONS_MAX)
        return false;
    for (size_t i = 0; i + FN_REVISIONS_MAX < e->revisions.n && !ok; i++) {
        struct known_revision *r = &e->revisions.p[i];
        if (!r->is_written || plane_has_revision(e->c->opts.plane, e->number, r->number))
            continue;
        struct str target = str_of(arena_printf(&a, STR_FMT "/%s-%05u",
                                                STR_ARG(object_path(&a, e, "functionrevisions")),
                                                e->name, r->number));
        ok = write_call(e, "DELETE", target, NULL, NULL, on_collected);
        if (ok) {
            free(r->template);
            vec_remove(&e->revisions, i);
        }
    }
    arena_fini(&a);
    return ok;
}

/* ---------------------------------------------------------------- events */

static void on_event(void *arg, int status, struct str body, const struct json *json,
                     const struct err *err)
{
}

/* An Event that is refused is not worth another try. */
static void write_event(struct catalog_entry *e, const struct catalog_write_verdict *v)
{
    struct arena a = { 0 };
    char now[RFC3339_MAX];
    uint64_t now_ms = loop_now_ms(e->c->opts.loop);
    if (e->event_at_ms && now_ms - e->event_at_ms < CATALOG_EVENT_GAP_MS)
        return;
    e->event_at_ms = now_ms;
    rfc3339_format(clock_wall_ms() / 1000, now);
    struct json *ev = json_new_object(&a), *meta = json_obj(&a, ev, "metadata"),
                *about = json_obj(&a, ev, "involvedObject"), *source = json_obj(&a, ev, "source");
    json_set_str(&a, ev, "apiVersion", STR("v1"));
    json_set_str(&a, ev, "kind", STR("Event"));
    json_set_str(&a, meta, "namespace", str_of(e->namespace));
    json_set_str(&a, meta, "name",
                 str_of(arena_printf(&a, "%.200s.%016" PRIx64, e->name, sys_random_u64())));
    json_set_str(&a, about, "apiVersion", STR(FN_GROUP_VERSION));
    json_set_str(&a, about, "kind", STR("Function"));
    json_set_str(&a, about, "namespace", str_of(e->namespace));
    json_set_str(&a, about, "name", str_of(e->name));
    json_set_str(&a, about, "uid", str_of(e->uid));
    json_set_str(&a, source, "component", STR("dormouse"));
    json_set_str(&a, ev, "type", STR("Warning"));
    json_set_str(&a, ev, "reason", str_of(v->reason));
    json_set_str(&a, ev, "message", str_of(v->message));
    json_set_str(&a, ev, "firstTimestamp", str_of(now));
    json_set_str(&a, ev, "lastTimestamp", str_of(now));
    json_set_int(&a, ev, "count", 1);
    struct buf text = BUF_INIT(64 << 10);
    (void)json_write(&text, ev);
    struct ask_request rq = {
        .method = "POST",
        .target = str_of(arena_printf(&a, "/api/v1/namespaces/%s/events", e->namespace)),
        .content_type = "application/json",
        .body = buf_str(&text),
    };
    struct client_ask *ask;
    (void)ask_start(e->c->opts.transport, e->c->opts.identity, &rq, on_event, NULL, &ask, NULL);
    buf_fini(&text);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- scheduling of writes */

static void write_status(struct catalog_entry *e)
{
    struct arena a = { 0 };
    struct catalog_write_verdict v;
    char since[RFC3339_MAX];
    evaluate(e, &v);
    struct json *status = new_status(&a, e, &v);
    uint64_t hash = hash_json(status);
    e->wanted_hash = hash;
    if (hash != e->status_hash) {
        if (v.ready[0] != e->was_ready || e->since_s == 0)
            e->since_s = clock_wall_ms() / 1000;
        if (strcmp(v.ready, "False") == 0)
            write_event(e, &v);
        e->was_ready = v.ready[0];
        json_each (cond, json_getc(status, "conditions")) {
            bool is_ready = str_is(json_get_str(cond, "type"), "Ready");
            rfc3339_format(is_ready ? e->since_s : clock_wall_ms() / 1000, since);
            json_set_str(&a, cond, "lastTransitionTime", str_of(since));
        }
        struct json *patch = json_new_object(&a), *meta = json_obj(&a, patch, "metadata");
        json_set_str(&a, meta, "uid", str_of(e->uid));
        json_set_str(&a, meta, "resourceVersion", str_of(arena_printf(&a, "%" PRIu64, e->version)));
        json_setc(&a, patch, "status", status);
        struct str target = str_of(arena_printf(&a, STR_FMT "/%s/status",
                                                STR_ARG(object_path(&a, e, "functions")), e->name));
        (void)write_call(e, "PATCH", target, "application/merge-patch+json", patch, on_written);
    }
    arena_fini(&a);
}

static void write_entry(struct catalog_entry *e)
{
    vec_each (r, &e->revisions)
        if (!r->is_written) {
            (void)write_revision(e, r);
            return; /* what is left when it has been written */
        }
    if (!collect_revision(e))
        write_status(e);
}

/*
 * While a client registers functions one after the other, status writes are delayed, so that it
 * waits only for its own transactions. The delay is bounded for clients that wait for a status.
 */
static bool should_wait(const struct catalog *c)
{
    uint64_t now_ms = loop_now_ms(c->opts.loop);
    return now_ms - c->news_ms < CATALOG_WRITE_DELAY_MS &&
           now_ms - c->dirty_ms < CATALOG_WRITE_LATEST_MS;
}

static void write_next(struct catalog *c)
{
    struct list skipped;
    if (c->leads && !c->closed && !list_is_empty(&c->dirty) && should_wait(c)) {
        if (!timer_is_armed(&c->write_timer))
            timer_start(c->opts.loop, &c->write_timer, CATALOG_WRITE_DELAY_MS, on_write_timer);
        return;
    }
    list_init(&skipped);
    for (int n = 0; c->leads && !c->closed && c->n_writes < CATALOG_WRITES_MAX; n++) {
        if (n == WRITES_PER_TURN) { /* thousands may be dirty after a change of leaders */
            timer_start(c->opts.loop, &c->write_timer, 1, on_write_timer);
            break;
        }
        struct list *node = list_pop_front(&c->dirty);
        if (!node)
            break;
        struct catalog_entry *e = list_entry(node, struct catalog_entry, dirty);
        if (e->write)
            list_push_back(&skipped, &e->dirty); /* on_written() continues here */
        else
            write_entry(e);
    }
    for (struct list *node; (node = list_pop_front(&skipped));)
        list_push_back(&c->dirty, node);
}

void catalog_entry_touch(struct catalog_entry *e)
{
    struct catalog *c = e->c;
    if (!c->leads || c->closed || !e->uid[0])
        return;
    if (list_is_empty(&c->dirty))
        c->dirty_ms = loop_now_ms(c->opts.loop);
    if (!list_is_linked(&e->dirty))
        list_push_back(&c->dirty, &e->dirty);
    if (!timer_is_armed(&c->write_timer))
        timer_start(c->opts.loop, &c->write_timer, CATALOG_WRITE_DELAY_MS, on_write_timer);
}

/* ---------------------------------------------------------------- sandboxes in the API */

struct persist {
    struct catalog *c;
    struct list node;
    struct client_ask *ask;
    uint64_t sandbox;
    bool is_gone;
};

static void on_persisted(void *arg, int status, struct str body, const struct json *json,
                         const struct err *err)
{
    struct persist *w = arg;
    list_remove(&w->node);
    if (!w->is_gone)
        plane_persisted(w->c->opts.plane, w->sandbox);
    free(w);
}

void catalog_persist(struct catalog *c, uint32_t function, uint64_t sandbox, bool is_gone)
{
    const struct catalog_entry *e = function < c->by_number.n ? c->by_number.p[function] : NULL;
    struct buf path = BUF_INIT(1024), body = BUF_INIT(4096);
    if (!e || c->closed)
        return;
    struct persist *w = xnew(struct persist);
    *w = (struct persist){ .c = c, .sandbox = sandbox, .is_gone = is_gone };
    buf_printf(&path, "/api/v1/namespaces/%s/configmaps", e->namespace);
    if (is_gone)
        buf_printf(&path, "/sandbox-%" PRIx64, sandbox);
    else
        buf_printf(&body,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                   "\"sandbox-%" PRIx64 "\"},\"data\":{\"function\":\"%s\"}}",
                   sandbox, e->name);
    struct ask_request rq = { .method = is_gone ? "DELETE" : "POST",
                              .target = buf_str(&path),
                              .content_type = is_gone ? NULL : "application/json",
                              .body = buf_str(&body) };
    list_push_back(&c->persists, &w->node);
    if (ask_start(c->opts.transport, c->opts.identity, &rq, on_persisted, w, &w->ask, NULL) < 0)
        on_persisted(w, 0, STR(""), NULL, NULL);
    buf_fini(&path);
    buf_fini(&body);
}

void catalog_end_persists(struct catalog *c)
{
    for (struct list *node; c->persists.next && (node = list_pop_front(&c->persists));) {
        struct persist *w = list_entry(node, struct persist, node);
        ask_cancel(w->ask);
        free(w);
    }
}
