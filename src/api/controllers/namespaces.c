/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Namespaces: creates the four that every cluster has at start, and removes the contents of a
 * namespace that is being deleted.
 *
 *     sweep each kind in turn (deletecollection) -> look at each kind in turn
 *        ^                                             | none left        | some left (finalizers)
 *        |                                             v                  v
 *        |                                          finalize     tell (conditions of the status)
 *        |                                             | failed           v
 *        +---------------------------------------------+-------- wait for a deletion in it
 *
 * A round in which something failed (e.g. the disk was full) is also repeated by a timer.
 */
#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>

#define NS_PREFIX "/registry/namespaces/"
#define NS_PATH   "/api/v1/namespaces/"

#define AS_METADATA "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

enum doom_at {
    DOOM_SWEEP,
    DOOM_LOOK,
    DOOM_TELL, /* read the namespace, then write the remaining contents into its status */
    DOOM_REPORTED,
    DOOM_WAIT,
    DOOM_READ,
    DOOM_FINALIZE
};

enum { DOOM_LOOK_ROWS = 100 }; /* objects of each kind whose finalizers are counted */

/* A namespace that is being deleted. */
struct doom {
    struct namespaces *owner;
    char *name;
    enum doom_at at;
    size_t next;         /* position in the registry, while sweeping and looking */
    uint64_t generation; /* of the registry at the start of the round */
    uint64_t look_rev; /* of the store at the start of the look; deletions are watched from there */
    bool again;        /* an object in it was deleted during the look or the status update */
    bool failed;       /* a step of the round has failed */
    struct retry retry; /* in DOOM_WAIT */
    struct arena arena; /* holds the fields below */
    struct json *left;  /* "configmaps. has 2 resource instances" */
    struct json *held;  /* number of objects for each finalizer */
};

struct namespaces {
    struct api *api;
    struct map doomed;
    struct store_watch *watch;    /* of the namespaces */
    struct store_watch *contents; /* of everything, while a namespace is in DOOM_WAIT */
    uint64_t contents_from;
    struct buf after;
    uint64_t loaded_rev;
    size_t n_calls, n_to_make;
    bool loading, stopped, ready_reported;
    struct retry retry; /* of the read of the namespaces */
    controller_ready_cb ready;
    void *ready_arg;
};

static void doom_run(struct doom *d);
static void load_start(struct namespaces *n);

/* ------------------------------------------------------------------ deletion */

struct namespaces_step {
    struct namespaces *n;
    char *name;
};

static void step_free(struct namespaces_step *s)
{
    free(s->name);
    free(s);
}

static void on_step(void *arg, int r, struct str body);

static void call(struct doom *d, const struct inner_request *req)
{
    struct namespaces_step *s = xnew(struct namespaces_step);
    *s = (struct namespaces_step){ .n = d->owner, .name = xstrdup(d->name) };
    if (inner_call(d->owner->api, req, on_step, s) < 0) {
        step_free(s);
        return;
    }
    d->owner->n_calls++;
}

/*
 * The next kind that can have objects in a namespace: one version of each, in the order of the
 * registry.
 */
static const struct kube_resource *next_kind(struct doom *d)
{
    const struct kube_registry *reg = &d->owner->api->reg;
    if (d->generation != reg->generation) {
        d->generation = reg->generation;
        d->next = 0;
    }
    while (d->next < reg->n) {
        const struct kube_resource *res = reg->all[d->next++];
        if (res->namespaced && (res->verbs & KUBE_DELETECOLLECTION) &&
            (res->storage == res || res->crd))
            return res;
    }
    return NULL;
}

/* Whether one of these deletions was in the namespace: "/registry/KIND/NAMESPACE/...". */
static bool concerns(const struct doom *d, const struct store_event *ev, size_t n)
{
    scoped(free_scoped) char *part = xasprintf("/%s/", d->name);
    for (size_t i = 0; i < n; i++)
        if (ev[i].kind == STORE_EV_DELETE && str_find(ev[i].kv.key, str_of(part)) >= 0)
            return true;
    return false;
}

/* Start another round. */
static void doom_wake(struct doom *d)
{
    timer_stop(d->owner->api->loop, &d->retry.timer);
    d->at = DOOM_SWEEP;
    d->next = 0;
    d->failed = false;
    doom_run(d);
}

static void on_doom_retry(struct timer *t)
{
    doom_wake(container_of(t, struct doom, retry.timer));
}

static void on_contents(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    struct namespaces *ns = arg;
    (void)progress_rev;
    bool waits = false;
    map_each (m, &ns->doomed) {
        struct doom *d = m->value;
        d->again = d->again || concerns(d, ev, n);
        if (d->at == DOOM_WAIT && d->again)
            doom_wake(d);
        waits = waits || d->at == DOOM_WAIT;
    }
    if (waits)
        return;
    store_watch_cancel(ns->contents);
    ns->contents = NULL;
}

/* Deletions may have been missed. */
static void on_contents_end(void *arg, int r, const struct err *err)
{
    struct namespaces *ns = arg;
    ns->contents = NULL;
    if (r == -ECANCELED || ns->stopped)
        return;
    log_warn("watch of the contents of namespaces ended, looking at them again", "error=\"%s\"",
             err_text(err));
    map_each (m, &ns->doomed) {
        struct doom *d = m->value;
        d->again = true;
        if (d->at == DOOM_WAIT)
            retry_arm(ns->api->loop, &d->retry, on_doom_retry);
    }
}

static const struct store_watch_ops contents_ops = { .on_events = on_contents,
                                                     .on_end = on_contents_end };

static int follow_contents(struct namespaces *n, uint64_t from_rev)
{
    struct err err = { 0 };
    if (n->contents && n->contents_from > from_rev) { /* it starts too late for this namespace */
        store_watch_cancel(n->contents);
        n->contents = NULL;
    }
    if (n->contents)
        return 0;
    n->contents_from = from_rev;
    int r = store_watch_start(n->api->store, STR("/registry/"), from_rev, &contents_ops, n,
                              &n->contents, &err);
    if (r < 0)
        log_warn("cannot follow the contents of namespaces", "error=\"%s\"", err_text(&err));
    return r;
}

/* Wait for a deletion; after a failure also retry by a timer. */
static void doom_wait(struct doom *d)
{
    struct loop *loop = d->owner->api->loop;
    d->at = DOOM_WAIT;
    if (follow_contents(d->owner, d->look_rev + 1) < 0 || d->failed)
        retry_arm(loop, &d->retry, on_doom_retry);
    else
        retry_stop(loop, &d->retry);
}

static void doom_fail(struct doom *d)
{
    d->failed = true;
    doom_wait(d);
}

/* Run until an answer is awaited. The only place that moves `at` forward. */
static void doom_run(struct doom *d)
{
    struct arena a = { 0 };
    const struct kube_resource *res = NULL;
    struct str name = str_of(d->name);
    if (d->at == DOOM_SWEEP && !(res = next_kind(d))) {
        d->at = DOOM_LOOK;
        d->next = 0;
        arena_reset(&d->arena);
        d->left = json_new_array(&d->arena);
        d->held = json_new_object(&d->arena);
        d->look_rev = store_revision(d->owner->api->store);
        d->again = false;
    }
    if (d->at == DOOM_LOOK && !(res = next_kind(d)))
        d->at = d->left->n ? DOOM_TELL : DOOM_READ;
    switch (d->at) {
    case DOOM_SWEEP:
        call(d, &(struct inner_request){ .method = "DELETE",
                                         .target = inner_path(&a, res, name, STR("")),
                                         .accept = AS_METADATA,
                                         .only_status = true });
        break;
    case DOOM_LOOK: {
        struct str path = inner_path(&a, res, name, STR(""));
        call(d,
             &(struct inner_request){ .method = "GET",
                                      .target = str_of(arena_printf(&a, STR_FMT "?limit=%d",
                                                                    STR_ARG(path), DOOM_LOOK_ROWS)),
                                      .accept = AS_METADATA });
        break;
    }
    case DOOM_TELL:
    case DOOM_READ:
        call(d, &(struct inner_request){
                    .method = "GET", .target = str_of(arena_printf(&a, NS_PATH "%s", d->name)) });
        break;
    case DOOM_WAIT:
    case DOOM_REPORTED:
    case DOOM_FINALIZE:
        break;
    }
    arena_fini(&a);
}

static void finalize(struct doom *d, struct str body)
{
    struct arena a = { 0 };
    struct json *obj;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    if (json_parse(&a, body, NULL, &obj, NULL) >= 0) {
        struct json *list = json_path(obj, "spec", "finalizers", NULL);
        for (struct json *f = json_is(list, JSON_ARRAY) ? list->first : NULL, *next; f; f = next) {
            next = f->next;
            if (str_is(json_str(f), "kubernetes"))
                (void)json_remove(list, f);
        }
        (void)json_write(&out, obj);
        d->at = DOOM_FINALIZE;
        call(d, &(struct inner_request){
                    .method = "PUT",
                    .target = str_of(arena_printf(&a, NS_PATH "%s/finalize", d->name)),
                    .content_type = "application/json",
                    .body = buf_str(&out) });
    } else {
        doom_fail(d);
    }
    arena_fini(&a);
}

/* ---- remaining contents ---- */

/* The answer to the look at the kind before d->next. */
static void note_left(struct doom *d, struct str body)
{
    const struct kube_registry *reg = &d->owner->api->reg;
    struct arena a = { 0 };
    struct json *list;
    if (d->next == 0 || d->next > reg->n || json_parse(&a, body, NULL, &list, NULL) < 0) {
        arena_fini(&a);
        return;
    }
    const struct kube_resource *res = reg->all[d->next - 1];
    const struct json *items = json_getc(list, "items");
    int64_t more = json_int_or(json_path(list, "metadata", "remainingItemCount", NULL), 0);
    if (json_first(items))
        json_add(d->left,
                 json_new_cstr(&d->arena,
                               arena_printf(&d->arena,
                                            STR_FMT "." STR_FMT " has %lld resource instances",
                                            STR_ARG(res->plural), STR_ARG(res->group),
                                            (long long)items->n + (long long)more)));
    json_each (item, items) {
        json_each (f, json_path(item, "metadata", "finalizers", NULL)) {
            int64_t n = json_int_or(json_get(d->held, json_str(f)), 0);
            json_set(&d->arena, d->held, json_str(f), json_new_int(&d->arena, n + 1));
        }
    }
    arena_fini(&a);
}

/* A kind that cannot be listed may have objects: the namespace stays. */
static void note_unseen(struct doom *d)
{
    const struct kube_registry *reg = &d->owner->api->reg;
    d->failed = true;
    if (d->next == 0 || d->next > reg->n)
        return;
    const struct kube_resource *res = reg->all[d->next - 1];
    json_add(d->left, json_new_cstr(&d->arena,
                                    arena_printf(&d->arena, STR_FMT "." STR_FMT " cannot be listed",
                                                 STR_ARG(res->plural), STR_ARG(res->group))));
}

static void add_condition(struct arena *a, struct json *list, const struct json *before,
                          const char *type, bool is, const char *reason, const char *message)
{
    char now[RFC3339_MAX];
    struct json *c = json_new_object(a);
    struct str since = STR(""), status = is ? STR("True") : STR("False");
    rfc3339_format((int64_t)clock_wall_ms() / 1000, now);
    json_each (b, before) {
        if (str_is(json_get_str(b, "type"), type) && str_eq(json_get_str(b, "status"), status))
            since = json_get_str(b, "lastTransitionTime");
    }
    json_set_str(a, c, "type", str_of(type));
    json_set_str(a, c, "status", status);
    json_set_str(a, c, "lastTransitionTime", since.n ? since : str_of(now));
    json_set_str(a, c, "reason", str_of(reason));
    json_set_str(a, c, "message", str_of(message));
    json_add(list, c);
}

/* "kind a, kind b", or "finalizer in 2 resource instances, ..." */
static const char *list_text(struct arena *a, const struct json *v)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(32 << 10);
    json_each (m, v) {
        if (b.n)
            (void)buf_add_cstr(&b, ", ");
        (void)buf_add_str(&b, v->type == JSON_ARRAY ? json_str(m) : m->key);
        if (v->type == JSON_OBJECT)
            (void)buf_printf(&b, " in " STR_FMT " resource instances", STR_ARG(m->s));
    }
    return str_dup_arena(a, buf_str(&b));
}

static void tell(struct doom *d, struct str body)
{
    struct arena a = { 0 };
    struct json *ns, *patch = json_new_object(&a), *list = json_new_array(&a);
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(API_BODY_MAX_BYTES);
    const struct json *before = json_parse(&a, body, NULL, &ns, NULL) < 0
                                    ? NULL
                                    : json_path(ns, "status", "conditions", NULL);
    bool held = d->held->n > 0;
    add_condition(&a, list, before, "NamespaceDeletionDiscoveryFailure", false,
                  "ResourcesDiscovered", "All resources successfully discovered");
    add_condition(&a, list, before, "NamespaceDeletionGroupVersionParsingFailure", false,
                  "ParsedGroupVersions", "All legacy kube types successfully parsed");
    add_condition(&a, list, before, "NamespaceDeletionContentFailure", false, "ContentDeleted",
                  "All content successfully deleted, may be waiting on finalization");
    add_condition(&a, list, before, "NamespaceContentRemaining", true, "SomeResourcesRemain",
                  arena_printf(&a, "Some resources are remaining: %s", list_text(&a, d->left)));
    add_condition(&a, list, before, "NamespaceFinalizersRemaining", held,
                  held ? "SomeFinalizersRemain" : "ContentHasNoFinalizers",
                  held ? arena_printf(&a,
                                      "Some content in the namespace has finalizers remaining: %s",
                                      list_text(&a, d->held))
                       : "All content-preserving finalizers finished");
    json_setc(&a, json_obj(&a, patch, "status"), "conditions", list);
    (void)json_write(&out, patch);
    d->at = DOOM_REPORTED;
    call(d,
         &(struct inner_request){ .method = "PATCH",
                                  .target = str_of(arena_printf(&a, NS_PATH "%s/status", d->name)),
                                  .content_type = "application/merge-patch+json",
                                  .body = buf_str(&out) });
    arena_fini(&a);
}

static void doom_free(struct doom *d)
{
    (void)map_del(&d->owner->doomed, str_of(d->name));
    timer_stop(d->owner->api->loop, &d->retry.timer);
    arena_fini(&d->arena);
    free(d->name);
    free(d);
}

/* The namespace is gone, or the request has failed. */
static void doom_end(struct doom *d, int r)
{
    if (r == 404)
        doom_free(d);
    else
        doom_fail(d);
}

static void step_done(struct doom *d, int r, struct str body)
{
    switch (d->at) {
    case DOOM_SWEEP:
        d->failed = d->failed || !(r == 200 || r == 404 || r == 405);
        doom_run(d);
        return;
    case DOOM_LOOK:
        if (r == 200)
            note_left(d, body);
        else if (r != 404 && r != 405)
            note_unseen(d);
        doom_run(d);
        return;
    case DOOM_TELL:
        if (r == 200)
            tell(d, body);
        else
            doom_end(d, r);
        return;
    case DOOM_REPORTED:
        if (r != 200)
            doom_end(d, r);
        else if (d->again)
            doom_wake(d);
        else
            doom_wait(d);
        return;
    case DOOM_READ:
        if (r == 200)
            finalize(d, body);
        else
            doom_end(d, r);
        return;
    case DOOM_FINALIZE:
        if (r == 409) {
            d->at = DOOM_READ;
            doom_run(d);
        } else if (r == 200) { /* gone, or held by finalizers of others */
            doom_free(d);
        } else {
            doom_end(d, r);
        }
        return;
    case DOOM_WAIT:
        return;
    }
}

static void on_step(void *arg, int r, struct str body)
{
    struct namespaces_step *s = arg;
    struct namespaces *n = s->n;
    struct doom *d = n->stopped ? NULL : map_get(&n->doomed, str_of(s->name));
    assert(n->n_calls > 0);
    n->n_calls--;
    if (d)
        step_done(d, r, body);
    step_free(s);
    api_part_idle(n->api);
}

static void doom(struct namespaces *n, struct str name)
{
    if (n->stopped || map_has(&n->doomed, name))
        return;
    struct doom *d = xnew(struct doom);
    *d = (struct doom){ .owner = n, .name = str_dup(name), .at = DOOM_SWEEP };
    (void)map_put(&n->doomed, name, d);
    doom_run(d);
}

/* A namespace that is being deleted and has the "kubernetes" finalizer must be emptied. */
static void consider(struct namespaces *n, const struct store_kv *kv)
{
    struct arena a = { 0 };
    struct json *obj;
    if (str_find(kv->value, STR("\"deletionTimestamp\"")) < 0)
        return;
    if (json_parse(&a, kv->value, NULL, &obj, NULL) >= 0 && meta_is_deleting(obj)) {
        bool held = false;
        json_each (f, json_path(obj, "spec", "finalizers", NULL))
            held = held || str_is(json_str(f), "kubernetes");
        if (held)
            doom(n, meta_name(obj));
    }
    arena_fini(&a);
}

/* ------------------------------------------------------------------ start */

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    (void)progress_rev;
    for (size_t i = 0; i < n; i++)
        if (ev[i].kind == STORE_EV_PUT)
            consider(arg, &ev[i].kv);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct namespaces *n = arg;
    n->watch = NULL;
    if (r == -ECANCELED || n->stopped)
        return;
    log_warn("watch of namespaces ended, reading them again", "error=\"%s\"", err_text(err));
    load_start(n);
}

static const struct store_watch_ops watch_ops = { .on_events = on_events, .on_end = on_end };

static void tell_ready(struct namespaces *n, int r, const struct err *err)
{
    if (n->ready_reported)
        return;
    n->ready_reported = true;
    n->ready(n->ready_arg, r, err);
}

static void on_load_retry(struct timer *t)
{
    load_start(container_of(t, struct namespaces, retry.timer));
}

static void loaded(struct namespaces *n, int r, const struct err *err)
{
    struct err why = { 0 };
    assert(n->loading && !n->watch);
    n->loading = false;
    if (r >= 0 && !n->stopped) {
        r = store_watch_start(n->api->store, STR(NS_PREFIX), n->loaded_rev + 1, &watch_ops, n,
                              &n->watch, &why);
        err = &why;
    }
    if (r >= 0)
        retry_stop(n->api->loop, &n->retry);
    else if (n->ready_reported && !n->stopped)
        retry_arm(n->api->loop, &n->retry, on_load_retry);
    tell_ready(n, n->stopped ? -ECANCELED : r, err);
    api_part_idle(n->api);
}

static void load_next(struct namespaces *n);

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct namespaces *n = arg;
    for (size_t i = 0; r >= 0 && i < page->n; i++)
        consider(n, &page->kv[i]);
    if (r >= 0)
        n->loaded_rev = page->rev;
    if (r < 0 || !page->more || n->stopped) {
        loaded(n, r, err);
        return;
    }
    buf_reset(&n->after);
    (void)buf_add_str(&n->after, page->kv[page->n - 1].key);
    load_next(n);
}

static void load_next(struct namespaces *n)
{
    struct err err = { 0 };
    const struct store_range range = { .prefix = STR(NS_PREFIX),
                                       .after = buf_str(&n->after),
                                       .at_rev = n->loaded_rev,
                                       .skip_damaged = true };
    n->loading = true;
    int r = store_range(n->api->store, &range, on_page, n, &err);
    if (r < 0)
        loaded(n, r, &err);
}

static void load_start(struct namespaces *n)
{
    n->loaded_rev = 0;
    buf_reset(&n->after);
    load_next(n);
}

static void on_made(void *arg, int r, struct str body)
{
    struct namespaces *n = arg;
    assert(n->n_calls > 0);
    n->n_calls--;
    bool is_damaged = r == 500; /* the stored object cannot be read */
    if (is_damaged)
        log_error("a namespace was not made, going on without it", "answer=\"" STR_FMT "\"",
                  STR_ARG(str_slice(body, 0, 512)));
    if (r != 201 && r != 409 && !is_damaged && !n->stopped) {
        struct err err = { 0 };
        (void)err_set(&err, r < 0 ? r : E_INVALID, "make a namespace: " STR_FMT, STR_ARG(body));
        tell_ready(n, err.code, &err);
    } else if (--n->n_to_make == 0 && !n->stopped && !n->ready_reported) {
        load_start(n);
    } else if (n->stopped) {
        tell_ready(n, -ECANCELED, NULL);
    }
    api_part_idle(n->api);
}

struct namespaces *namespaces_start(struct api *api, controller_ready_cb ready, void *arg)
{
    static const char *const names[] = { "default", "kube-system", "kube-public",
                                         "kube-node-lease" };
    struct namespaces *n = xnew(struct namespaces);
    *n = (struct namespaces){
        .api = api, .ready = ready, .ready_arg = arg, .after = BUF_INIT(STORE_KEY_MAX_BYTES)
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct arena a = { 0 };
        const struct inner_request req = {
            .method = "POST",
            .target = STR("/api/v1/namespaces"),
            .content_type = "application/json",
            .body = str_of(arena_printf(
                &a, "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}",
                names[i]))
        };
        int r = inner_call(api, &req, on_made, n);
        assert(r >= 0); /* the server is not closed during its start */
        n->n_calls++;
        n->n_to_make++;
        arena_fini(&a);
    }
    return n;
}

void namespaces_stop(struct namespaces *n)
{
    if (!n)
        return;
    n->stopped = true;
    timer_stop(n->api->loop, &n->retry.timer);
    map_each (m, &n->doomed)
        timer_stop(n->api->loop, &((struct doom *)m->value)->retry.timer);
    if (n->watch)
        store_watch_cancel(n->watch);
    if (n->contents)
        store_watch_cancel(n->contents);
    n->watch = n->contents = NULL;
}

bool namespaces_is_busy(const struct namespaces *n)
{
    return n && (n->loading || n->n_calls > 0);
}

void namespaces_free(struct namespaces *n)
{
    if (!n)
        return;
    assert(!namespaces_is_busy(n) && !n->watch && !n->contents);
    map_each (m, &n->doomed) {
        struct doom *d = m->value;
        arena_fini(&d->arena);
        free(d->name);
        free(d);
    }
    map_fini(&n->doomed);
    buf_fini(&n->after);
    free(n);
}
