/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CustomResourceDefinitions: the stored definitions are served.
 *
 * Each stored definition has an entry here with its compiled form. A change reaches the registry
 * through crds_written(), which the commit path calls before the client gets its answer, and again
 * through the store's watch, which also delivers changes by other processes. The revision makes the
 * second call a no-op.
 *
 * A definition that is being deleted stays served until its instances are gone:
 *
 *     none -> sweep (deletecollection) -> look (any left?) -> read <-> release -> done
 *               ^                          ^  |                |         |
 *               |         instance deleted |  v                |         |
 *               +------------------------ wait <---------------+---------+
 *                 retry after a failure
 *
 * read and release remove our finalizer; after a conflict the definition is read again. A
 * definition that has no instances of its own is neither swept nor searched: sweep and look lead to
 * read.
 */
#include "api/admission.h"
#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "kube/rules/crd_status.h"
#include "kube/rules/rules.h"

#include <assert.h>
#include <errno.h>

#define CRD_PREFIX "/registry/apiextensions.k8s.io/customresourcedefinitions/"
#define CRD_PATH   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

enum cleanup {
    CLEANUP_NONE,
    CLEANUP_SWEEP,
    CLEANUP_LOOK,
    CLEANUP_WAIT,
    CLEANUP_READ, /* read the definition, to write it back without our finalizer */
    CLEANUP_RELEASE,
    CLEANUP_DONE /* it is gone, or other finalizers hold it */
};

static const struct sm_state cleanup_table[] = {
    [CLEANUP_NONE] = { "none", EDGE(CLEANUP_SWEEP) },
    [CLEANUP_SWEEP] = { "sweep", EDGE(CLEANUP_LOOK) | EDGE(CLEANUP_READ) },
    [CLEANUP_LOOK] = { "look", EDGE(CLEANUP_WAIT) | EDGE(CLEANUP_READ) },
    [CLEANUP_WAIT] = { "wait", EDGE(CLEANUP_SWEEP) | EDGE(CLEANUP_LOOK) },
    [CLEANUP_READ] = { "read", EDGE(CLEANUP_RELEASE) | EDGE(CLEANUP_WAIT) },
    [CLEANUP_RELEASE] = { "release", EDGE(CLEANUP_READ) | EDGE(CLEANUP_WAIT) | EDGE(CLEANUP_DONE) },
    [CLEANUP_DONE] = { "done", 0 },
};

struct crds_entry {
    struct crds *owner;
    char *name;
    struct crd *crd; /* NULL: it does not compile */
    bool served;     /* its resources are in the registry */
    bool accepted;   /* condition NamesAccepted */
    bool terminating;
    uint64_t rev;       /* of the stored definition */
    uint64_t shape_rev; /* last revision that may have changed the schema */
    int64_t generation;
    struct buf names;  /* {metadata, spec.group, status.acceptedNames}: to detect name conflicts */
    bool seen;         /* in the current list of all definitions */
    struct sm cleanup; /* enum cleanup */
    bool failed;       /* a step since the sweep has failed */
    uint64_t look_rev; /* the watch for deleted instances starts after this revision */
    struct store_watch *watch; /* in CLEANUP_WAIT */
    struct retry retry;        /* in CLEANUP_WAIT after a failure */
};

struct crds {
    struct api *api;
    struct map entries;
    struct kube_registry builtin; /* built-in kinds only: names that no definition may take */
    struct store_watch *watch;
    struct defer begin; /* the first read of the definitions */
    struct buf after;   /* while loading */
    uint64_t loaded_rev;
    bool loading, stopped;
    struct retry retry; /* of the read of the definitions */
    size_t n_calls;
    controller_ready_cb ready; /* NULL once it was called */
    void *ready_arg;
};

/* ------------------------------------------------------------------ entries and the registry */

static void unserve(struct crds_entry *e)
{
    assert(!e->served || e->crd);
    const struct kube_resource *const *res;
    size_t n = e->served ? crd_resources(e->crd, &res) : 0;
    for (size_t i = 0; i < n; i++)
        (void)kube_registry_remove(&e->owner->api->reg, res[i]);
    e->served = false;
}

static void close_watches(struct crds_entry *e)
{
    if (!e->crd)
        return;
    struct arena a = { 0 };
    watch_close_resource(e->owner->api, kube_storage_name(&a, crd_storage(e->crd)));
    arena_fini(&a);
}

static void serve(struct crds_entry *e)
{
    assert(e->crd && !e->served);
    const struct kube_resource *const *res;
    size_t n = crd_resources(e->crd, &res);
    for (size_t i = 0; i < n; i++) {
        struct err err = { 0 };
        if (kube_registry_add(&e->owner->api->reg, res[i], &err) < 0)
            log_error("resource not served", "crd=%s error=\"%s\"", e->name, err_text(&err));
    }
    e->served = true;
}

static void entry_free(struct crds_entry *e)
{
    if (e->watch)
        store_watch_cancel(e->watch);
    timer_stop(e->owner->api->loop, &e->retry.timer);
    crd_unref(e->crd);
    buf_fini(&e->names);
    free(e->name);
    free(e);
}

static void keep_names(struct crds_entry *e, struct arena *a, const struct json *obj)
{
    struct json *v = json_new_object(a);
    const struct json *accepted = json_path(obj, "status", "acceptedNames", NULL);
    json_set_str(a, json_obj(a, v, "metadata"), "name", meta_name(obj));
    json_set_str(a, json_obj(a, v, "spec"), "group", json_get_str(json_getc(obj, "spec"), "group"));
    if (accepted)
        json_setc(a, json_obj(a, v, "status"), "acceptedNames", json_clone(a, accepted));
    buf_reset(&e->names);
    (void)json_write(&e->names, v);
}

static void recheck_conflicts(struct crds *c, struct str group);

static void entry_remove(struct crds_entry *e)
{
    struct crds *c = e->owner;
    struct arena a = { 0 };
    struct json *names = NULL;
    close_watches(e);
    unserve(e);
    struct str text = str_copy_arena(&a, buf_str(&e->names));
    (void)map_del(&c->entries, str_of(e->name));
    entry_free(e);
    if (json_parse(&a, text, NULL, &names, NULL) >= 0)
        recheck_conflicts(c, json_get_str(json_getc(names, "spec"), "group"));
    arena_fini(&a);
}

static void compile(struct crds_entry *e, const struct json *obj)
{
    struct err err = { 0 };
    struct crd *crd = NULL;
    close_watches(e);
    unserve(e);
    crd_unref(e->crd);
    e->crd = NULL;
    if (crd_new(obj, &crd, &err) < 0) {
        log_error("stored definition does not compile, not served", "crd=%s error=\"%s\"", e->name,
                  err_text(&err));
        return;
    }
    if (crd_doubt(crd))
        log_warn("stored definition would be refused today, served as far as it goes",
                 "crd=%s error=\"%s\"", e->name, crd_doubt(crd));
    e->crd = crd;
    e->shape_rev = e->rev;
}

static void cleanup_at(struct crds_entry *e, enum cleanup at);

static struct crds_entry *entry_of(struct crds *c, struct str name)
{
    struct crds_entry *e = map_get(&c->entries, name);
    if (e)
        return e;
    e = xnew(struct crds_entry);
    e->owner = c;
    e->name = str_dup(name);
    e->names = BUF_INIT(1 << 20);
    e->generation = -1;
    sm_init(&e->cleanup, cleanup_table, CLEANUP_NONE);
    (void)map_put(&c->entries, name, e);
    return e;
}

static void entry_update(struct crds_entry *e, struct arena *a, const struct json *obj,
                         uint64_t rev)
{
    bool established = crd_has_condition(obj, "Established");
    int64_t generation = json_int_or(json_path(obj, "metadata", "generation", NULL), 0);
    e->rev = rev;
    e->accepted = crd_has_condition(obj, "NamesAccepted");
    e->terminating = meta_is_deleting(obj);
    keep_names(e, a, obj);
    if (generation != e->generation || !e->crd)
        compile(e, obj);
    e->generation = generation;
    if (e->crd && established && !e->served)
        serve(e);
    else if (e->served && !established)
        unserve(e);
    if (e->terminating && e->cleanup.at == CLEANUP_NONE && !e->owner->loading)
        cleanup_at(e, CLEANUP_SWEEP);
}

void crds_written(struct crds *c, struct str name, struct str value, uint64_t rev)
{
    struct arena a = { 0 };
    struct crds_entry *e = map_get(&c->entries, name);
    struct json *obj;
    struct err err = { 0 };
    if ((e && e->rev >= rev) || c->stopped)
        return;
    if (value.n == 0) {
        if (e)
            entry_remove(e);
    } else if (json_parse(&a, value, NULL, &obj, &err) < 0) {
        log_error("stored definition does not parse", "crd=" STR_FMT " error=\"%s\"", STR_ARG(name),
                  err_text(&err));
    } else {
        entry_update(entry_of(c, name), &a, obj, rev);
    }
    arena_fini(&a);
}

/* ------------------------------------------------------------------ names */

/* Before a definition is written: set the conditions that depend on its names. */
static void prepare(struct crds *c, struct arena *a, struct json *obj)
{
    struct json *others = json_new_array(a), *other;
    struct str group = json_get_str(json_getc(obj, "spec"), "group");
    char now[RFC3339_MAX];
    rfc3339_format(clock_wall_ms() / 1000, now);
    map_each (m, &c->entries) {
        const struct crds_entry *e = m->value;
        if (json_parse(a, buf_str(&e->names), NULL, &other, NULL) >= 0 &&
            str_eq(json_get_str(json_getc(other, "spec"), "group"), group))
            json_add(others, json_clone(a, other));
    }
    (void)crd_update_status(a, obj, others, &c->builtin, str_of(now));
}

static void on_rechecked(void *arg, int r, struct str body)
{
    struct crds *c = arg;
    (void)r;
    (void)body;
    assert(c->n_calls > 0);
    c->n_calls--;
    api_part_idle(c->api);
}

/*
 * Names became free: write the definitions of the group that wanted some again, which reevaluates
 * their conditions.
 */
static void recheck_conflicts(struct crds *c, struct str group)
{
    map_each (m, &c->entries) {
        const struct crds_entry *e = m->value;
        struct arena a = { 0 };
        struct json *v;
        if (!e->accepted && !e->terminating &&
            json_parse(&a, buf_str(&e->names), NULL, &v, NULL) >= 0 &&
            str_eq(json_get_str(json_getc(v, "spec"), "group"), group)) {
            const struct inner_request req = { .method = "PATCH",
                                               .target = str_of(
                                                   arena_printf(&a, CRD_PATH "%s/status", e->name)),
                                               .content_type = "application/merge-patch+json",
                                               .body = STR("{}") };
            if (inner_call(c->api, &req, on_rechecked, c) >= 0)
                c->n_calls++;
        }
        arena_fini(&a);
    }
}

/* ------------------------------------------------------------------ deletion */

/* The continuation of one step of a cleanup; the entry may be gone by then. */
struct crds_step {
    struct crds *c;
    char *name;
};

static void on_step(void *arg, int r, struct str body);
static void cleanup_run(struct crds_entry *e);

static bool call(struct crds_entry *e, const struct inner_request *req)
{
    struct crds_step *s = xnew(struct crds_step);
    *s = (struct crds_step){ .c = e->owner, .name = xstrdup(e->name) };
    if (inner_call(e->owner->api, req, on_step, s) >= 0) {
        e->owner->n_calls++;
        return true;
    }
    free(s->name);
    free(s);
    return false;
}

/* Continue with this step. */
static void cleanup_at(struct crds_entry *e, enum cleanup at)
{
    sm_move(&e->cleanup, at);
    cleanup_run(e);
}

/* End the wait. */
static void cleanup_wake(struct crds_entry *e, enum cleanup at)
{
    assert(e->cleanup.at == CLEANUP_WAIT);
    if (e->watch)
        store_watch_cancel(e->watch);
    e->watch = NULL;
    timer_stop(e->owner->api->loop, &e->retry.timer);
    cleanup_at(e, at);
}

static void on_cleanup_retry(struct timer *t)
{
    struct crds_entry *e = container_of(t, struct crds_entry, retry.timer);
    e->failed = false;
    cleanup_wake(e, CLEANUP_SWEEP);
}

static void on_instance_events(void *arg, const struct store_event *ev, size_t n,
                               uint64_t progress_rev)
{
    struct crds_entry *e = arg;
    (void)progress_rev;
    for (size_t i = 0; i < n; i++) {
        if (ev[i].kind != STORE_EV_DELETE)
            continue;
        cleanup_wake(e, CLEANUP_LOOK);
        return;
    }
}

static void on_instance_end(void *arg, int r, const struct err *err)
{
    struct crds_entry *e = arg;
    (void)err;
    assert(e->cleanup.at == CLEANUP_WAIT);
    e->watch = NULL;
    if (r != -ECANCELED && !e->owner->stopped)
        retry_arm(e->owner->api->loop, &e->retry, on_cleanup_retry);
}

static const struct store_watch_ops instance_ops = { .on_events = on_instance_events,
                                                     .on_end = on_instance_end };

static int follow_instances(struct crds_entry *e)
{
    struct arena a = { 0 };
    assert(e->crd && !e->watch && e->cleanup.at == CLEANUP_WAIT);
    struct str prefix = key_prefix(&a, crd_storage(e->crd));
    struct err err = { 0 };
    int r = store_watch_start(e->owner->api->store, prefix, e->look_rev + 1, &instance_ops, e,
                              &e->watch, &err);
    if (r < 0)
        log_warn("cannot follow the removal of instances", "crd=%s error=\"%s\"", e->name,
                 err_text(&err));
    arena_fini(&a);
    return r;
}

/*
 * Instances are left: wait until one is deleted. After a failure also retry by a timer. The same if
 * the definition was changed after the lookup and does not compile any more: where its instances
 * are stored is not known.
 */
static void cleanup_wait(struct crds_entry *e)
{
    struct loop *loop = e->owner->api->loop;
    sm_move(&e->cleanup, CLEANUP_WAIT);
    if (!e->crd || follow_instances(e) < 0 || e->failed)
        retry_arm(loop, &e->retry, on_cleanup_retry);
    else
        retry_stop(loop, &e->retry);
}

static void cleanup_fail(struct crds_entry *e)
{
    sm_move(&e->cleanup, CLEANUP_WAIT);
    retry_arm(e->owner->api->loop, &e->retry, on_cleanup_retry);
}

/*
 * A definition that takes the names of a built-in kind is never accepted, but it is kept. The keys
 * of its instances would be those of the built-in kind's objects, which are not its own.
 */
static bool has_place(const struct crds *c, const struct kube_resource *res)
{
    kube_registry_each(r, &c->api->reg)
    {
        if (!(*r)->crd && str_eq((*r)->group, res->group) && str_eq((*r)->plural, res->plural))
            return false;
    }
    return true;
}

static void cleanup_run(struct crds_entry *e)
{
    struct arena a = { 0 };
    const struct kube_resource *res = e->crd ? crd_storage(e->crd) : NULL;
    if (res && !has_place(e->owner, res))
        res = NULL;
    if (!res && (e->cleanup.at == CLEANUP_SWEEP || e->cleanup.at == CLEANUP_LOOK))
        sm_move(&e->cleanup, CLEANUP_READ);
    switch ((enum cleanup)e->cleanup.at) {
    case CLEANUP_SWEEP:
        (void)call(e, &(struct inner_request){ .method = "DELETE",
                                               .target = inner_path(&a, res, STR(""), STR("")),
                                               .only_status = true });
        break;
    case CLEANUP_LOOK: {
        struct str path = inner_path(&a, res, STR(""), STR(""));
        e->look_rev = store_revision(e->owner->api->store);
        (void)call(e, &(struct inner_request){
                          .method = "GET",
                          .target = str_of(arena_printf(&a, STR_FMT "?limit=1", STR_ARG(path))) });
        break;
    }
    case CLEANUP_READ:
        (void)call(
            e, &(struct inner_request){
                   .method = "GET", .target = str_of(arena_printf(&a, CRD_PATH "%s", e->name)) });
        break;
    case CLEANUP_WAIT:
    case CLEANUP_RELEASE:
    case CLEANUP_DONE:
    case CLEANUP_NONE:
        break;
    }
    arena_fini(&a);
}

/* Write the definition back without our finalizer; after a conflict read it again. */
static void put_released(struct crds_entry *e, struct str body)
{
    struct arena a = { 0 };
    struct json *obj;
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
    if (json_parse(&a, body, NULL, &obj, NULL) >= 0) {
        struct json *list = json_path(obj, "metadata", "finalizers", NULL);
        for (struct json *f = json_is(list, JSON_ARRAY) ? list->first : NULL, *next; f; f = next) {
            next = f->next;
            if (str_is(json_str(f), CRD_FINALIZER))
                (void)json_remove(list, f);
        }
        (void)json_write(&out, obj);
        sm_move(&e->cleanup, CLEANUP_RELEASE);
        (void)call(
            e, &(struct inner_request){ .method = "PUT",
                                        .target = str_of(arena_printf(&a, CRD_PATH "%s", e->name)),
                                        .content_type = "application/json",
                                        .body = buf_str(&out) });
    } else {
        cleanup_fail(e);
    }
    arena_fini(&a);
}

static bool list_is_short(struct str body)
{
    struct arena a = { 0 };
    struct json *v;
    bool empty = json_parse(&a, body, NULL, &v, NULL) >= 0 &&
                 json_is(json_getc(v, "items"), JSON_ARRAY) && json_getc(v, "items")->n == 0;
    arena_fini(&a);
    return empty;
}

static void step_done(struct crds_entry *e, int r, struct str body)
{
    switch ((enum cleanup)e->cleanup.at) {
    case CLEANUP_SWEEP:
        e->failed = !(r == 200 || r == 404);
        cleanup_at(e, CLEANUP_LOOK);
        return;
    case CLEANUP_LOOK:
        if (r == 404 || (r == 200 && list_is_short(body))) {
            cleanup_at(e, CLEANUP_READ);
        } else { /* instances may exist that cannot be listed */
            e->failed = e->failed || r != 200;
            cleanup_wait(e);
        }
        return;
    case CLEANUP_READ:
        if (r == 200)
            put_released(e, body);
        else if (r != 404)
            cleanup_fail(e);
        return;
    case CLEANUP_RELEASE:
        if (r == 409)
            cleanup_at(e, CLEANUP_READ);
        else if (r == 200 || r == 404)
            sm_move(&e->cleanup, CLEANUP_DONE);
        else
            cleanup_fail(e);
        return;
    case CLEANUP_WAIT:
    case CLEANUP_DONE:
    case CLEANUP_NONE:
        return;
    }
}

static void on_step(void *arg, int r, struct str body)
{
    struct crds_step *s = arg;
    struct crds *c = s->c;
    struct crds_entry *e = c->stopped ? NULL : map_get(&c->entries, str_of(s->name));
    assert(c->n_calls > 0);
    c->n_calls--;
    if (e)
        step_done(e, r, body);
    free(s->name);
    free(s);
    api_part_idle(c->api);
}

/* ------------------------------------------------------------------ lifecycle */

static void on_events(void *arg, const struct store_event *ev, size_t n, uint64_t progress_rev)
{
    struct crds *c = arg;
    (void)progress_rev;
    for (size_t i = 0; i < n; i++) {
        struct str name = str_slice(ev[i].kv.key, strlen(CRD_PREFIX), ev[i].kv.key.n);
        crds_written(c, name, ev[i].kind == STORE_EV_PUT ? ev[i].kv.value : STR(""),
                     ev[i].kv.mod_rev);
    }
}

static void load_start(struct crds *c);

static void on_end(void *arg, int r, const struct err *err)
{
    struct crds *c = arg;
    c->watch = NULL;
    if (r == -ECANCELED || c->stopped)
        return;
    log_warn("watch of definitions ended, reading them again", "error=\"%s\"", err_text(err));
    load_start(c);
}

static const struct store_watch_ops watch_ops = { .on_events = on_events, .on_end = on_end };

/*
 * Remove the entries of definitions that were deleted while there was no watch: older than the
 * list, and not in it.
 */
static void remove_unseen(struct crds *c)
{
    struct crds_entry *gone;
    do {
        gone = NULL;
        map_each (m, &c->entries) {
            struct crds_entry *e = m->value;
            if (!e->seen && e->rev <= c->loaded_rev)
                gone = e;
        }
        if (gone)
            entry_remove(gone);
    } while (gone);
}

static void on_load_retry(struct timer *t)
{
    load_start(container_of(t, struct crds, retry.timer));
}

static void tell_ready(struct crds *c, int r, const struct err *err)
{
    controller_ready_cb ready = c->ready;
    c->ready = NULL;
    if (ready)
        ready(c->ready_arg, c->stopped ? -ECANCELED : r, err);
}

static void loaded(struct crds *c, int r, const struct err *err)
{
    struct err why = { 0 };
    assert(c->loading && !c->watch);
    c->loading = false;
    if (r >= 0 && !c->stopped) {
        remove_unseen(c);
        r = store_watch_start(c->api->store, STR(CRD_PREFIX), c->loaded_rev + 1, &watch_ops, c,
                              &c->watch, &why);
        err = &why;
    }
    if (r >= 0)
        retry_stop(c->api->loop, &c->retry);
    else if (!c->ready && !c->stopped)
        retry_arm(c->api->loop, &c->retry, on_load_retry);
    tell_ready(c, r, err);
    map_each (m, &c->entries) {
        struct crds_entry *e = m->value;
        if (e->terminating && e->cleanup.at == CLEANUP_NONE && !c->stopped)
            cleanup_at(e, CLEANUP_SWEEP);
    }
    api_part_idle(c->api);
}

static void load_next(struct crds *c);

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct crds *c = arg;
    for (size_t i = 0; r >= 0 && i < page->n; i++) {
        const struct store_kv *kv = &page->kv[i];
        struct str name = str_slice(kv->key, strlen(CRD_PREFIX), kv->key.n);
        struct crds_entry *e = map_get(&c->entries, name);
        if (e && kv->create_rev > e->rev) /* another definition of that name */
            entry_remove(e);
        crds_written(c, name, kv->value, kv->mod_rev);
        e = map_get(&c->entries, name);
        if (e)
            e->seen = true;
    }
    if (r >= 0)
        c->loaded_rev = page->rev;
    if (r < 0 || !page->more || c->stopped) {
        loaded(c, r, err);
        return;
    }
    buf_reset(&c->after);
    (void)buf_add_str(&c->after, page->kv[page->n - 1].key);
    load_next(c);
}

static void load_next(struct crds *c)
{
    struct err err = { 0 };
    const struct store_range range = { .prefix = STR(CRD_PREFIX),
                                       .after = buf_str(&c->after),
                                       .at_rev = c->loaded_rev,
                                       .skip_damaged = true };
    int r = store_range(c->api->store, &range, on_page, c, &err);
    if (r < 0)
        loaded(c, r, &err);
}

static void load_start(struct crds *c)
{
    assert(!c->loading && !c->watch);
    map_each (m, &c->entries)
        ((struct crds_entry *)m->value)->seen = false;
    c->loading = true;
    c->loaded_rev = 0;
    buf_reset(&c->after);
    load_next(c);
}

static void on_begin(struct defer *d)
{
    load_start(container_of(d, struct crds, begin));
}

struct crds *crds_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct crds *c = xnew(struct crds);
    *c = (struct crds){
        .api = api, .ready = ready, .ready_arg = arg, .after = BUF_INIT(STORE_KEY_MAX_BYTES)
    };
    kube_registry_init(&c->builtin);
    rules_register(&c->builtin);
    defer_start(api->loop, &c->begin, on_begin);
    return c;
}

void crds_stop(struct crds *c)
{
    if (!c)
        return;
    c->stopped = true;
    timer_stop(c->api->loop, &c->retry.timer);
    if (c->watch)
        store_watch_cancel(c->watch);
    c->watch = NULL;
    map_each (m, &c->entries) {
        struct crds_entry *e = m->value;
        timer_stop(c->api->loop, &e->retry.timer);
        if (e->watch)
            store_watch_cancel(e->watch);
        e->watch = NULL;
    }
}

bool crds_is_busy(const struct crds *c)
{
    return c && (list_is_linked(&c->begin.node) || c->loading || c->n_calls > 0);
}

void crds_free(struct crds *c)
{
    if (!c)
        return;
    assert(!crds_is_busy(c));
    map_each (m, &c->entries) {
        struct crds_entry *e = m->value;
        unserve(e);
        entry_free(e);
    }
    map_fini(&c->entries);
    kube_registry_fini(&c->builtin);
    buf_fini(&c->after);
    free(c);
}

static const struct crds_entry *entry_of_resource(const struct crds *c,
                                                  const struct kube_resource *res)
{
    return res->crd ? map_get(&c->entries, crd_name(res->crd)) : NULL;
}

uint64_t crds_revision(const struct crds *c, const struct kube_resource *res)
{
    const struct crds_entry *e = entry_of_resource(c, res);
    return e ? e->shape_rev : 0;
}

const struct kube_resource *crds_find_stored(const struct crds *c, struct str group,
                                             struct str version, struct str plural)
{
    map_each (m, &c->entries) {
        const struct crds_entry *e = m->value;
        const struct kube_resource *res = e->crd ? crd_storage(e->crd) : NULL;
        if (res && str_eq(res->group, group) && str_eq(res->version, version) &&
            str_eq(res->plural, plural))
            return has_place(c, res) ? res : NULL;
    }
    return NULL;
}

/* ------------------------------------------------------------------ stages of a write */

static bool definition_wanted(void *self, const struct admission *ad)
{
    (void)self;
    return api_is_definition(ad->rq->res);
}

static struct json *definition_apply(void *self, struct admission *ad, void *state)
{
    (void)self;
    (void)state;
    prepare(ad->rq->api->controllers->crds, &ad->rq->arena, ad->obj);
    return NULL;
}

static const struct admission_stage definition = { .name = "conditions of definitions",
                                                   .point = ADMISSION_VALIDATED,
                                                   .ops = ADMISSION_ON(ADMISSION_CREATE) |
                                                          ADMISSION_ON(ADMISSION_UPDATE),
                                                   .wanted = definition_wanted,
                                                   .apply = definition_apply };

static bool instance_wanted(void *self, const struct admission *ad)
{
    (void)self;
    return ad->rq->res->crd;
}

/* Refuse new instances of a definition that is being deleted. */
static struct json *instance_read(void *self, struct admission *ad, void *state)
{
    struct request *rq = ad->rq;
    const struct crds_entry *e = entry_of_resource(rq->api->controllers->crds, rq->res);
    (void)self;
    (void)state;
    if (!e || !e->terminating)
        return NULL;
    return status_method_not_allowed(
        &rq->arena, rq->route.group, rq->route.resource,
        "create not allowed while custom resource definition is terminating");
}

static const struct admission_stage instance = { .name = "definitions that end",
                                                 .point = ADMISSION_READ,
                                                 .ops = ADMISSION_ON(ADMISSION_CREATE),
                                                 .wanted = instance_wanted,
                                                 .read = instance_read };

void crds_register(struct admission_chain *c)
{
    admission_register(c, &definition, NULL);
    admission_register(c, &instance, NULL);
}
