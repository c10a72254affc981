/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage collection by owner references.
 *
 * Whoever commits a write tells gc_written(); what may have become garbage goes into a queue and is
 * looked at with fresh reads. There is no graph of objects: dependents are found by the index of
 * owners.h. Two things wait in the queue:
 *
 *   a work   one object: compare its owners with what is there, then leave it, cut its references,
 *            or delete it. Up to GC_PARALLEL at a time, so that the store commits them together.
 *   a pass   many objects, one page at a time: the dependents of an owner that is gone or leaving,
 *            all owners (after a start), all objects (to build the index of an older store).
 *
 *            start ---> owner ---> pages ---> check ---> finalize ---> end
 *              |          |  (leaving)          |  blocked, or done      ^
 *              +----------+---> pages ----------+------------------------+
 *                 (others)
 *
 * The queue is bounded: what does not fit is found again by a pass over all owners. The same pass
 * follows a failure, after a pause that doubles; with nothing to do there is no timer.
 */
#include "api/controllers.h"
#include "api/inner.h"
#include "api/owners.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "codec/url.h"

#include <assert.h>
#include <errno.h>

enum {
    GC_PARALLEL = 32,    /* works at a time */
    GC_PAGE_ROWS = 64,   /* dependents taken from the index at a time */
    GC_QUEUE_MAX = 512,  /* works and passes that wait */
    GC_ATTEMPTS = 16,    /* of a work that loses against other writers */
    GC_RETRY_MS = 1000,  /* after a failure, doubled each time */
    GC_RETRIES = 8,      /* in a row; the next write that concerns us begins anew */
    GC_CYCLE_ROWS = 500, /* leaving objects that are looked at for a circle of owners */
    GC_STRAY_ROWS = 64 /* namespaces in which an owner is looked for that is not where it must be */
};

#define REGISTRY   "/registry/"
#define NAMESPACES "/registry/namespaces/"
#define BUILT_KEY  "/owned.built" /* there: the index covers all objects */

enum pass_kind { PASS_ABSENT, PASS_LEAVING, PASS_SCAN, PASS_BUILD };
enum pass_at { PASS_START, PASS_OWNER, PASS_PAGES, PASS_CHECK, PASS_FINALIZE, PASS_END };

struct pass {
    struct list node;
    struct gc *gc;
    enum pass_kind kind;
    enum pass_at at;
    char *subject; /* the owner's uid (ABSENT) or key (LEAVING) */
    bool certain;  /* ABSENT: the owner was seen to go */
    bool fresh;    /* LEAVING: look at all dependents, not only whether one still blocks */
    bool orphan, waiting, more, failed;
    unsigned rounds;
    char *uid;
    struct buf prefix, after;
    size_t n_out; /* works of this pass that are queued or run */
};

enum work_kind { WORK_CHECK, WORK_ORPHAN, WORK_INDEX };
enum verdict { OWNER_SOLID, OWNER_DANGLING, OWNER_WAITING, OWNER_NOT_ALLOWED, OWNER_ASK };

struct work {
    struct list node;
    struct gc *gc;
    struct pass *pass; /* whose, or NULL */
    enum work_kind kind;
    char *key;
    unsigned attempt;
    struct arena arena; /* of one attempt */
    struct json *obj;
    uint64_t rev;
    const struct kube_resource *res;
    struct json *ref;   /* the owner that is being looked at */
    struct json *solid; /* references that stay */
    size_t n_dangling, n_waiting;
    struct json *not_allowed;
    struct json *leaving; /* keys, while a circle is looked for */
    /* owners that were not found, and the namespaces where they may be instead */
    struct json *strays, *stray, *spaces, *space;
};

struct gc {
    struct api *api;
    struct list works, passes; /* that wait */
    struct map known;          /* "o<key>", "a<uid>", "l<key>": waits already */
    size_t n_waiting, n_running;
    struct pass *active;
    bool reading_marker, stopped;
    bool overflown;            /* something did not fit the queue */
    bool failed;               /* something went wrong */
    bool unresolved;           /* an owner is of a kind that nobody knows */
    controller_ready_cb ready; /* until it has been called */
    void *ready_arg;
    unsigned retries;
    struct timer retry;
    struct defer turn;
};

static void kick(struct gc *gc);

static bool take_flag(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

/* ------------------------------------------------------------------ the queue */

/* false: it waits already, or there is no room for it. */
static bool queue_note(struct gc *gc, char kind, const char *what)
{
    char text[STORE_KEY_MAX_BYTES + 2];
    size_t n = strlen(what);
    if (n > STORE_KEY_MAX_BYTES)
        return false;
    text[0] = kind;
    memcpy(text + 1, what, n);
    struct str id = str_n(text, n + 1);
    if (map_has(&gc->known, id))
        return false;
    if (gc->n_waiting >= GC_QUEUE_MAX) {
        gc->overflown = true;
        return false;
    }
    (void)map_put(&gc->known, id, gc);
    gc->n_waiting++;
    return true;
}

static void queue_forget(struct gc *gc, char kind, const char *what)
{
    char text[STORE_KEY_MAX_BYTES + 2];
    size_t n = strlen(what);
    text[0] = kind;
    memcpy(text + 1, what, n);
    (void)map_del(&gc->known, str_n(text, n + 1));
    gc->n_waiting--;
}

static struct pass *pass_new(struct gc *gc, enum pass_kind kind, struct str subject)
{
    struct pass *p = xnew(struct pass);
    *p = (struct pass){ .gc = gc,
                        .kind = kind,
                        .subject = str_dup(subject),
                        .prefix = BUF_INIT(STORE_KEY_MAX_BYTES),
                        .after = BUF_INIT(STORE_KEY_MAX_BYTES) };
    return p;
}

static void pass_free(struct pass *p)
{
    free(p->subject);
    free(p->uid);
    buf_fini(&p->prefix);
    buf_fini(&p->after);
    free(p);
}

static const char pass_letter[] = {
    [PASS_ABSENT] = 'a', [PASS_LEAVING] = 'l', [PASS_SCAN] = 's', [PASS_BUILD] = 'b'
};

static void queue_pass(struct gc *gc, enum pass_kind kind, struct str subject, bool flag)
{
    if (gc->stopped)
        return;
    if (kind == PASS_LEAVING && flag) {
        /* one that waits and would only check is made to look at everything */
        for (struct list *l = gc->passes.next; l != &gc->passes; l = l->next) {
            struct pass *p = container_of(l, struct pass, node);
            if (p->kind == kind && str_is(subject, p->subject))
                p->fresh = true;
        }
    }
    struct pass *p = pass_new(gc, kind, subject);
    if (!queue_note(gc, pass_letter[kind], p->subject)) {
        pass_free(p);
        return;
    }
    p->certain = kind == PASS_ABSENT && flag;
    p->fresh = kind == PASS_LEAVING && flag;
    list_push_back(&gc->passes, &p->node);
    kick(gc);
}

static void queue_work(struct gc *gc, struct pass *pass, enum work_kind kind, struct str key)
{
    char *name = str_dup(key);
    /* those of a pass are bounded by its page, and it waits for each of them */
    if (gc->stopped || (!pass && !queue_note(gc, 'o', name))) {
        free(name);
        return;
    }
    struct work *w = xnew(struct work);
    *w = (struct work){ .gc = gc, .pass = pass, .kind = kind, .key = name };
    if (pass)
        pass->n_out++;
    list_push_back(&gc->works, &w->node);
    kick(gc);
}

static void failed(struct gc *gc, const char *what, const char *key)
{
    log_warn("garbage collection has to be repeated", "step=%s key=%s", what, key);
    gc->failed = true;
}

/* ------------------------------------------------------------------ objects and resources */

static const struct kube_resource *find_kind(const struct api *api, struct str api_version,
                                             struct str kind)
{
    struct str group, version;
    if (!str_cut(api_version, '/', &group, &version)) {
        group = STR("");
        version = api_version;
    }
    const struct kube_resource *res = registry_find_kind(&api->reg, group, version, kind);
    if (res)
        return res;
    registry_each(r, &api->reg)
    {
        if (str_eq((*r)->group, group) && str_eq((*r)->kind, kind))
            return *r;
    }
    return NULL;
}

static const struct kube_resource *resource_of(const struct api *api, const struct json *obj)
{
    return find_kind(api, json_get_str(obj, "apiVersion"), json_get_str(obj, "kind"));
}

/* Where an owner must lie: in the dependent's namespace, or in none. */
static struct str owner_key(struct arena *a, const struct kube_resource *res,
                            const struct json *dependent, const struct json *ref)
{
    return key_object(a, res, res->namespaced ? meta_namespace(dependent) : STR(""),
                      json_get_str(ref, "name"));
}

static struct str path_of(struct arena *a, const struct kube_resource *res, const struct json *obj)
{
    struct buf name = BUF_INIT(4096);
    (void)url_encode(&name, meta_name(obj)); /* names of roles may have blanks */
    struct str path =
        inner_path(a, res, res->namespaced ? meta_namespace(obj) : STR(""), buf_str(&name));
    buf_fini(&name);
    return path;
}

static bool waits_for_dependents(const struct json *obj)
{
    return meta_is_deleting(obj) && owners_has_finalizer(obj, FINALIZER_FOREGROUND);
}

/* ------------------------------------------------------------------ a work */

static void work_read(struct work *w);

static void work_end(struct work *w, bool ok)
{
    struct gc *gc = w->gc;
    struct pass *p = w->pass;
    if (!ok)
        failed(gc, "object", w->key);
    if (p) {
        p->n_out--;
        p->failed = p->failed || !ok;
    }
    gc->n_running--;
    arena_fini(&w->arena);
    free(w->key);
    free(w);
    kick(gc);
    controllers_idle(gc->api);
}

/* Somebody else wrote the object: look again. */
static void work_again(struct work *w)
{
    if (++w->attempt >= GC_ATTEMPTS)
        work_end(w, false);
    else
        work_read(w);
}

static void on_wrote(void *arg, int r, struct str body)
{
    struct work *w = arg;
    (void)body;
    if (r == 409)
        work_again(w);
    else
        work_end(w, r == 200 || r == 202 || r == 404 || w->gc->stopped);
}

static void work_call(struct work *w, const char *method, const char *type, const struct json *body,
                      inner_cb cb)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    (void)json_write(&text, body);
    const struct inner_request req = { .method = method,
                                       .target = path_of(&w->arena, w->res, w->obj),
                                       .content_type = type,
                                       .body = buf_str(&text) };
    if (inner_call(w->gc->api, &req, cb, w) < 0)
        work_end(w, w->gc->stopped);
}

static void patch_references(struct work *w, struct json *refs, inner_cb cb)
{
    struct arena *a = &w->arena;
    struct json *patch = json_new_object(a), *meta = json_obj(a, patch, "metadata");
    json_set_str(a, meta, "uid", meta_uid(w->obj));
    meta_set_resource_version(a, patch, w->rev);
    json_setc(a, meta, "ownerReferences", refs->n ? refs : json_new_null(a));
    work_call(w, "PATCH", "application/merge-patch+json", patch, cb);
}

/* policy NULL: as the finalizers that are on the object say. */
static void work_delete(struct work *w, const char *policy, bool as_it_is)
{
    struct arena *a = &w->arena;
    struct json *opts = json_new_object(a), *pre;
    if (!policy)
        policy = owners_has_finalizer(w->obj, FINALIZER_ORPHAN)       ? "Orphan"
                 : owners_has_finalizer(w->obj, FINALIZER_FOREGROUND) ? "Foreground"
                                                                      : "Background";
    json_set_str(a, opts, "kind", STR("DeleteOptions"));
    json_set_str(a, opts, "apiVersion", STR("v1"));
    pre = json_obj(a, opts, "preconditions");
    json_set_str(a, pre, "uid", meta_uid(w->obj));
    if (as_it_is)
        json_set_str(a, pre, "resourceVersion",
                     str_of(arena_printf(a, "%llu", (unsigned long long)w->rev)));
    json_set_str(a, opts, "propagationPolicy", str_of(policy));
    work_call(w, "DELETE", "application/json", opts, on_wrote);
}

/* ---- an owner that waits for this object, which has dependents of its own ---- */

static void on_unblocked(void *arg, int r, struct str body)
{
    struct work *w = arg;
    if (r == 200)
        work_delete(w, "Foreground", false);
    else
        on_wrote(w, r, body);
}

/* A dependent of this object waits as well: a circle. Who blocks nobody lets it come apart. */
static void unblock(struct work *w)
{
    struct arena *a = &w->arena;
    struct json *refs = json_new_array(a);
    json_each (ref, json_path(w->obj, "metadata", "ownerReferences", NULL)) {
        struct json *copy = json_clone(a, ref);
        json_set_bool(a, copy, "blockOwnerDeletion", false);
        json_add(refs, copy);
    }
    patch_references(w, refs, on_unblocked);
}

static void on_own_dependents(void *arg, int r, const struct store_page *page,
                              const struct err *err)
{
    struct work *w = arg;
    bool circle = false;
    (void)err;
    if (r < 0 || w->gc->stopped) {
        work_end(w, w->gc->stopped);
        return;
    }
    for (size_t i = 0; i < page->n; i++) {
        json_each (key, w->leaving)
            circle = circle || str_eq(json_str(key), owners_dependent(page->kv[i].key));
    }
    if (circle)
        unblock(w);
    else
        work_delete(w, page->n ? "Foreground" : NULL, true);
}

static void on_all_leaving(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct work *w = arg;
    (void)err;
    w->leaving = json_new_array(&w->arena);
    for (size_t i = 0; r >= 0 && i < page->n; i++)
        json_add(w->leaving, json_new_str(&w->arena, owners_dependent(page->kv[i].key)));
    const struct store_range range = { .prefix = owners_prefix(&w->arena, meta_uid(w->obj)),
                                       .limit = GC_CYCLE_ROWS,
                                       .keys_only = true };
    if (r < 0 || w->gc->stopped ||
        store_range(w->gc->api->store, &range, on_own_dependents, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

static void delete_for_waiting_owner(struct work *w)
{
    const struct store_range range = { .prefix = STR(LEAVING_PREFIX "/"),
                                       .limit = GC_CYCLE_ROWS,
                                       .keys_only = true };
    if (store_range(w->gc->api->store, &range, on_all_leaving, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

/* ---- a reference that cannot be right ---- */

/* Say that an owner is not where it is looked for: in the object's namespace, or in none. */
static int tell_invalid(struct work *w, const struct json *ref, inner_cb cb)
{
    struct arena *a = &w->arena;
    struct str ns = meta_namespace(w->obj);
    char now[RFC3339_MAX];
    rfc3339_format(clock_wall_ms() / 1000, now);
    if (ns.n == 0)
        ns = STR("default");
    const char *text =
        arena_printf(a,
                     "ownerRef [" STR_FMT "/" STR_FMT ", namespace: " STR_FMT ", name: " STR_FMT
                     ", uid: " STR_FMT "] does not exist in namespace \"" STR_FMT "\"",
                     STR_ARG(json_get_str(ref, "apiVersion")), STR_ARG(json_get_str(ref, "kind")),
                     STR_ARG(meta_namespace(w->obj)), STR_ARG(json_get_str(ref, "name")),
                     STR_ARG(json_get_str(ref, "uid")), STR_ARG(meta_namespace(w->obj)));
    struct json *event = json_new_object(a), *meta = json_obj(a, event, "metadata");
    struct json *about = json_obj(a, event, "involvedObject");
    json_set_str(a, meta, "name",
                 str_of(arena_printf(a, STR_FMT ".%016llx", STR_ARG(meta_name(w->obj)),
                                     (unsigned long long)sys_random_u64())));
    json_set_str(a, meta, "namespace", ns);
    json_set_str(a, about, "apiVersion", json_get_str(w->obj, "apiVersion"));
    json_set_str(a, about, "kind", json_get_str(w->obj, "kind"));
    json_set_str(a, about, "name", meta_name(w->obj));
    json_set_str(a, about, "namespace", meta_namespace(w->obj));
    json_set_str(a, about, "uid", meta_uid(w->obj));
    json_set_str(a, event, "type", STR("Warning"));
    json_set_str(a, event, "reason", STR("OwnerRefInvalidNamespace"));
    json_set_str(a, event, "message", str_of(text));
    json_set_str(a, event, "firstTimestamp", str_of(now));
    json_set_str(a, event, "lastTimestamp", str_of(now));
    json_set_int(a, event, "count", 1);
    json_set_str(a, json_obj(a, event, "source"), "component", STR("garbage-collector-controller"));
    json_set_str(a, event, "reportingComponent", STR("garbage-collector-controller"));
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES);
    (void)json_write(&body, event);
    const struct inner_request req = {
        .method = "POST",
        .target = str_of(arena_printf(a, "/api/v1/namespaces/" STR_FMT "/events", STR_ARG(ns))),
        .content_type = "application/json",
        .body = buf_str(&body)
    };
    return inner_call(w->gc->api, &req, cb, w);
}

static void on_told(void *arg, int r, struct str body)
{
    (void)r;
    (void)body;
    work_end(arg, true);
}

static void work_decide(struct work *w);
static void search_on(struct work *w);

static void on_stray_told(void *arg, int r, struct str body)
{
    struct work *w = arg;
    (void)r;
    (void)body;
    w->stray = w->stray->next;
    w->space = json_first(w->spaces);
    search_on(w);
}

static void on_stray(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct work *w = arg;
    struct json *owner = NULL;
    (void)rev;
    (void)err;
    if (r < 0 || w->gc->stopped) {
        work_end(w, w->gc->stopped);
        return;
    }
    w->space = w->space->next;
    bool found =
        kv && json_parse(&w->arena, str_copy_arena(&w->arena, kv->value), NULL, &owner, NULL) >= 0;
    if (!found || !str_eq(meta_uid(owner), json_get_str(w->stray, "uid")))
        search_on(w);
    else if (tell_invalid(w, w->stray, on_stray_told) < 0)
        work_end(w, w->gc->stopped);
}

/* The next namespace in which the owner that was not found may be. */
static void search_on(struct work *w)
{
    struct arena *a = &w->arena;
    for (; w->stray; w->stray = w->stray->next, w->space = json_first(w->spaces)) {
        const struct kube_resource *res = find_kind(
            w->gc->api, json_get_str(w->stray, "apiVersion"), json_get_str(w->stray, "kind"));
        while (w->space && str_eq(json_str(w->space), meta_namespace(w->obj)))
            w->space = w->space->next;
        if (!w->space || !res || !res->namespaced)
            continue;
        struct str key = key_object(a, res, json_str(w->space), json_get_str(w->stray, "name"));
        if (store_get(w->gc->api->store, key, 0, on_stray, w, NULL) < 0)
            work_end(w, w->gc->stopped);
        return;
    }
    w->strays = NULL;
    work_decide(w);
}

static void on_spaces(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct work *w = arg;
    (void)err;
    if (r < 0 || w->gc->stopped) {
        work_end(w, w->gc->stopped);
        return;
    }
    w->spaces = json_new_array(&w->arena);
    for (size_t i = 0; i < page->n; i++)
        json_add(w->spaces,
                 json_new_str(&w->arena, str_slice(page->kv[i].key, sizeof NAMESPACES - 1,
                                                   page->kv[i].key.n)));
    w->stray = json_first(w->strays);
    w->space = json_first(w->spaces);
    search_on(w);
}

/* Somebody just wrote a reference to nobody. Perhaps the owner is in another namespace: say so. */
static void search_strays(struct work *w)
{
    const struct store_range range = { .prefix = STR(NAMESPACES),
                                       .limit = GC_STRAY_ROWS,
                                       .keys_only = true };
    if (store_range(w->gc->api->store, &range, on_spaces, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

/* ---- what becomes of the object ---- */

static void work_decide(struct work *w)
{
    bool unwell = w->n_dangling + w->n_waiting > 0;
    if (w->strays && w->strays->n > 0 && !w->pass) {
        search_strays(w);
    } else if (w->not_allowed) { /* nothing is done to it */
        if (tell_invalid(w, w->not_allowed, on_told) < 0)
            work_end(w, true);
    } else if (w->solid->n > 0 && !unwell) {
        work_end(w, true);
    } else if (w->solid->n > 0) {
        patch_references(w, w->solid, on_wrote);
    } else if (w->n_waiting > 0) {
        delete_for_waiting_owner(w);
    } else {
        work_delete(w, NULL, true);
    }
}

static enum verdict judge(struct work *w, const struct json *ref, struct str *ret_key)
{
    const struct pass *p = w->pass;
    const struct kube_resource *res =
        find_kind(w->gc->api, json_get_str(ref, "apiVersion"), json_get_str(ref, "kind"));
    if (p && p->kind == PASS_ABSENT && p->certain && str_is(json_get_str(ref, "uid"), p->subject))
        return OWNER_DANGLING;
    if (!res) { /* of a kind that nobody knows: it may come */
        w->gc->unresolved = true;
        return OWNER_SOLID;
    }
    if (res->namespaced && !w->res->namespaced)
        return OWNER_NOT_ALLOWED;
    *ret_key = owner_key(&w->arena, res, w->obj, ref);
    return OWNER_ASK;
}

static void note_verdict(struct work *w, enum verdict v)
{
    switch (v) {
    case OWNER_SOLID:
        json_add(w->solid, json_clone(&w->arena, w->ref));
        break;
    case OWNER_DANGLING:
        w->n_dangling++;
        break;
    case OWNER_WAITING:
        w->n_waiting++;
        break;
    case OWNER_NOT_ALLOWED:
        w->not_allowed = w->ref;
        break;
    case OWNER_ASK:
        break;
    }
    /* One dependent stood for all of this owner's: if the owner is not well, see to the others. */
    if (w->pass && w->pass->kind == PASS_SCAN && (v == OWNER_DANGLING || v == OWNER_WAITING))
        queue_pass(w->gc, PASS_ABSENT, json_get_str(w->ref, "uid"), false);
    w->ref = w->ref->next;
}

static void work_owners(struct work *w);

static void on_owner(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct work *w = arg;
    struct json *owner = NULL;
    (void)rev;
    (void)err;
    if (r < 0 || w->gc->stopped) {
        work_end(w, w->gc->stopped);
        return;
    }
    if (kv && json_parse(&w->arena, str_copy_arena(&w->arena, kv->value), NULL, &owner, NULL) < 0) {
        work_end(w, false);
        return;
    }
    if (!owner || !str_eq(meta_uid(owner), json_get_str(w->ref, "uid"))) {
        json_add(w->strays, json_clone(&w->arena, w->ref));
        note_verdict(w, OWNER_DANGLING);
    } else
        note_verdict(w, waits_for_dependents(owner) ? OWNER_WAITING : OWNER_SOLID);
    work_owners(w);
}

static void work_owners(struct work *w)
{
    while (w->ref) {
        struct str key;
        enum verdict v = judge(w, w->ref, &key);
        if (v == OWNER_ASK) {
            if (store_get(w->gc->api->store, key, 0, on_owner, w, NULL) < 0)
                work_end(w, w->gc->stopped);
            return;
        }
        note_verdict(w, v);
    }
    work_decide(w);
}

static void work_check(struct work *w)
{
    w->ref = json_first(json_path(w->obj, "metadata", "ownerReferences", NULL));
    w->solid = json_new_array(&w->arena);
    w->strays = json_new_array(&w->arena);
    w->n_dangling = w->n_waiting = 0;
    w->not_allowed = NULL;
    if (!w->ref || meta_is_deleting(w->obj))
        work_end(w, true);
    else
        work_owners(w);
}

/* The owner goes and leaves this object behind. */
static void work_orphan(struct work *w)
{
    struct json *refs = json_new_array(&w->arena);
    const struct json *all = json_path(w->obj, "metadata", "ownerReferences", NULL);
    json_each (ref, all) {
        if (!str_is(json_get_str(ref, "uid"), w->pass->uid))
            json_add(refs, json_clone(&w->arena, ref));
    }
    if (!all || refs->n == all->n)
        work_end(w, true);
    else
        patch_references(w, refs, on_wrote);
}

static void on_indexed(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct work *w = arg;
    (void)err;
    if (res->r == E_CONFLICT && !w->gc->stopped)
        work_again(w);
    else
        work_end(w, res->r >= 0 || w->gc->stopped);
}

/* Entries for an object that was written before there was an index. */
static void work_index(struct work *w)
{
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n = 1;
    ops[0] = (struct store_op){
        .kind = STORE_CHECK, .key = str_of(w->key), .cmp = STORE_MOD_REV, .cmp_rev = w->rev
    };
    if (owners_ops(&w->arena, str_of(w->key), NULL, w->obj, ops, &n, NULL) < 0 || n == 1)
        work_end(w, true);
    else if (store_txn(w->gc->api->store, ops, n, on_indexed, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct work *w = arg;
    struct arena *a = &w->arena;
    (void)rev;
    (void)err;
    if (r < 0 || !kv || w->gc->stopped) {
        work_end(w, r >= 0 || w->gc->stopped);
        return;
    }
    w->rev = kv->mod_rev;
    if (json_parse(a, str_copy_arena(a, kv->value), NULL, &w->obj, NULL) < 0) {
        work_end(w, true); /* not ours to repair */
        return;
    }
    w->res = resource_of(w->gc->api, w->obj);
    if (w->kind == WORK_INDEX)
        work_index(w);
    else if (!w->res)
        work_end(w, true); /* served no more: its definition is going, and it with that */
    else if (w->kind == WORK_ORPHAN)
        work_orphan(w);
    else
        work_check(w);
}

static void work_read(struct work *w)
{
    arena_reset(&w->arena);
    if (store_get(w->gc->api->store, str_of(w->key), 0, on_object, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

static void work_start(struct work *w)
{
    struct gc *gc = w->gc;
    list_remove(&w->node);
    if (!w->pass)
        queue_forget(gc, 'o', w->key);
    gc->n_running++;
    work_read(w);
}

/* ------------------------------------------------------------------ a pass */

static void pass_run(struct pass *p);

static void pass_fail(struct pass *p)
{
    if (!p->gc->stopped)
        failed(p->gc, "pass", p->subject);
    p->at = PASS_END;
}

/* A store operation of the pass has called back. true: the server stops, the pass has ended. */
static bool pass_resumed(struct pass *p)
{
    p->waiting = false;
    if (!p->gc->stopped)
        return false;
    p->at = PASS_END;
    pass_run(p);
    return true;
}

static void on_pass_owner(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                          const struct err *err)
{
    struct pass *p = arg;
    struct arena a = { 0 };
    struct json *obj = NULL;
    (void)rev;
    (void)err;
    if (pass_resumed(p))
        return;
    if (r < 0)
        pass_fail(p);
    else if (!kv || json_parse(&a, kv->value, NULL, &obj, NULL) < 0 || !owners_is_leaving(obj))
        p->at = PASS_END;
    if (p->at == PASS_OWNER) {
        struct str prefix = owners_prefix(&a, meta_uid(obj));
        p->uid = str_dup(meta_uid(obj));
        p->orphan = owners_has_finalizer(obj, FINALIZER_ORPHAN);
        (void)buf_add_str(&p->prefix, prefix);
        p->at = p->fresh || p->orphan ? PASS_PAGES : PASS_CHECK;
    }
    arena_fini(&a);
    pass_run(p);
}

/* The next page's rows become works. The pass over all owners takes one dependent of each. */
static void take_rows(struct pass *p, const struct store_page *page)
{
    for (size_t i = 0; i < page->n; i++) {
        struct str key = page->kv[i].key;
        if (p->kind == PASS_BUILD) {
            bool may = str_find(page->kv[i].value, STR("\"ownerReferences\"")) >= 0 ||
                       str_find(page->kv[i].value, STR("\"deletionTimestamp\"")) >= 0;
            if (may)
                queue_work(p->gc, p, WORK_INDEX, key);
        } else if (str_has_prefix(key, STR(LEAVING_PREFIX "/"))) {
            queue_pass(p->gc, PASS_LEAVING, owners_dependent(key), true);
        } else {
            queue_work(p->gc, p, p->orphan ? WORK_ORPHAN : WORK_CHECK, owners_dependent(key));
        }
    }
    p->more = page->more;
    if (page->n == 0)
        return;
    buf_reset(&p->after);
    if (p->kind == PASS_SCAN && str_has_prefix(page->kv[0].key, STR(OWNED_PREFIX)))
        (void)buf_printf(&p->after, OWNED_PREFIX STR_FMT "0", /* '0' comes behind '/' */
                         STR_ARG(owners_uid(page->kv[0].key)));
    else
        (void)buf_add_str(&p->after, page->kv[page->n - 1].key);
}

/* All pages of one prefix have been seen; is there another one? */
static bool next_prefix(struct pass *p)
{
    if (p->kind != PASS_SCAN || !str_is(buf_str(&p->prefix), LEAVING_PREFIX "/"))
        return false;
    buf_reset(&p->prefix);
    buf_reset(&p->after);
    (void)buf_add_cstr(&p->prefix, OWNED_PREFIX);
    p->more = true;
    return true;
}

static void on_pass_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct pass *p = arg;
    (void)err;
    if (pass_resumed(p))
        return;
    if (r < 0) {
        pass_fail(p);
    } else {
        take_rows(p, page);
        if (!p->more && !next_prefix(p))
            p->at = PASS_CHECK;
    }
    pass_run(p);
}

static void tell_ready(struct gc *gc, int r, const struct err *err)
{
    controller_ready_cb ready = gc->ready;
    gc->ready = NULL;
    if (ready)
        ready(gc->ready_arg, gc->stopped ? -ECANCELED : r, err);
}

static void on_marked(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct pass *p = arg;
    (void)err;
    if (pass_resumed(p))
        return;
    if (res->r < 0)
        pass_fail(p);
    else
        queue_pass(p->gc, PASS_SCAN, STR(""), false);
    p->at = PASS_END;
    pass_run(p);
}

/* Is anybody left who must go first, or be let go? */
static void on_check_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct pass *p = arg;
    bool held = false;
    (void)err;
    if (pass_resumed(p))
        return;
    for (size_t i = 0; r >= 0 && i < page->n; i++)
        held = held || p->orphan || str_is(page->kv[i].value, "b");
    p->more = r >= 0 && page->more && !held;
    if (p->more) {
        buf_reset(&p->after);
        (void)buf_add_str(&p->after, page->kv[page->n - 1].key);
    }
    if (r < 0) {
        pass_fail(p);
    } else if (held && p->orphan && !p->failed && ++p->rounds < GC_ATTEMPTS) {
        buf_reset(&p->after);
        p->at = PASS_PAGES; /* made while we were looking */
    } else if (held) {
        p->at = PASS_END; /* told when it goes */
    } else if (!p->more) {
        p->at = PASS_FINALIZE;
    }
    pass_run(p);
}

static void on_finalized(void *arg, int r, struct str body)
{
    struct pass *p = arg;
    (void)body;
    p->gc->n_running--;
    if (pass_resumed(p))
        return;
    if (r == 409 && ++p->rounds < GC_ATTEMPTS)
        p->at = PASS_FINALIZE;
    else if (r != 200 && r != 404)
        pass_fail(p);
    else
        p->at = PASS_END;
    pass_run(p);
}

/* Take our finalizer from the owner; with the last one the object goes. */
static bool let_go(struct pass *p, struct arena *a, const struct store_kv *kv)
{
    struct json *obj, *patch = json_new_object(a), *meta = json_obj(a, patch, "metadata");
    struct json *left = json_new_array(a);
    if (!kv || json_parse(a, kv->value, NULL, &obj, NULL) < 0 || !owners_is_leaving(obj))
        return false;
    const struct kube_resource *res = resource_of(p->gc->api, obj);
    if (!res)
        return false;
    const char *ours = p->orphan ? FINALIZER_ORPHAN : FINALIZER_FOREGROUND;
    json_each (f, json_path(obj, "metadata", "finalizers", NULL)) {
        if (!str_is(json_str(f), ours))
            json_add(left, json_clone(a, f));
    }
    json_set_str(a, meta, "uid", meta_uid(obj));
    meta_set_resource_version(a, patch, kv->mod_rev);
    json_setc(a, meta, "finalizers", left->n ? left : json_new_null(a));
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(API_BODY_MAX_BYTES);
    (void)json_write(&body, patch);
    const struct inner_request req = { .method = "PATCH",
                                       .target = path_of(a, res, obj),
                                       .content_type = "application/merge-patch+json",
                                       .body = buf_str(&body) };
    if (inner_call(p->gc->api, &req, on_finalized, p) < 0)
        return false;
    p->gc->n_running++;
    p->waiting = true;
    return true;
}

static void on_final_owner(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                           const struct err *err)
{
    struct pass *p = arg;
    struct arena a = { 0 };
    (void)rev;
    (void)err;
    if (pass_resumed(p))
        return;
    if (r < 0)
        pass_fail(p);
    else if (!let_go(p, &a, kv))
        p->at = PASS_END;
    arena_fini(&a);
    pass_run(p);
}

static void begin_pages(struct pass *p)
{
    struct arena a = { 0 };
    struct str prefix = p->kind == PASS_BUILD  ? STR(REGISTRY)
                        : p->kind == PASS_SCAN ? STR(LEAVING_PREFIX "/")
                                               : owners_prefix(&a, str_of(p->subject));
    (void)buf_add_str(&p->prefix, prefix);
    p->at = PASS_PAGES;
    arena_fini(&a);
}

static int ask_page(struct pass *p, store_range_cb cb)
{
    bool one_each = p->kind == PASS_SCAN && str_is(buf_str(&p->prefix), OWNED_PREFIX);
    const struct store_range range = { .prefix = buf_str(&p->prefix),
                                       .after = buf_str(&p->after),
                                       .limit = one_each ? 1 : GC_PAGE_ROWS,
                                       .keys_only = p->at == PASS_PAGES && p->kind != PASS_BUILD };
    return store_range(p->gc->api->store, &range, cb, p, NULL);
}

/* All works are done: PASS_CHECK, or the end for those that have nothing to check. */
static int check(struct pass *p)
{
    struct store *store = p->gc->api->store;
    switch (p->kind) {
    case PASS_ABSENT:
    case PASS_SCAN:
        p->at = PASS_END;
        return 0;
    case PASS_BUILD: {
        const struct store_op op = { .kind = STORE_PUT, .key = STR(BUILT_KEY), .value = STR("1") };
        if (p->failed) {
            p->at = PASS_END;
            return 0;
        }
        p->waiting = true;
        return store_txn(store, &op, 1, on_marked, p, NULL);
    }
    case PASS_LEAVING:
        if (!p->more)
            buf_reset(&p->after);
        p->waiting = true;
        return ask_page(p, on_check_page);
    }
    return 0;
}

/* Go on until something has to be waited for. The only place that asks the store. */
static void pass_run(struct pass *p)
{
    struct gc *gc = p->gc;
    while (!p->waiting && p->at != PASS_END) {
        int r = 0;
        switch (p->at) {
        case PASS_START:
            if (p->kind == PASS_LEAVING)
                p->at = PASS_OWNER;
            else
                begin_pages(p);
            break;
        case PASS_OWNER:
            p->waiting = true;
            r = store_get(gc->api->store, str_of(p->subject), 0, on_pass_owner, p, NULL);
            break;
        case PASS_PAGES:
            if (p->n_out >= GC_PARALLEL)
                return; /* the works come back through the queue's turn */
            p->waiting = true;
            r = ask_page(p, on_pass_page);
            break;
        case PASS_CHECK:
            if (p->n_out > 0)
                return;
            r = check(p);
            break;
        case PASS_FINALIZE:
            p->waiting = true;
            r = store_get(gc->api->store, str_of(p->subject), 0, on_final_owner, p, NULL);
            break;
        case PASS_END:
            break;
        }
        if (r < 0) {
            p->waiting = false;
            pass_fail(p);
        }
    }
    kick(gc);
}

/* ------------------------------------------------------------------ the turn */

static void on_retry(struct timer *t)
{
    struct gc *gc = container_of(t, struct gc, retry);
    gc->retries++;
    queue_pass(gc, PASS_SCAN, STR(""), false);
}

/* Nothing is left to do, but perhaps all over again. */
static void rest(struct gc *gc)
{
    if (gc->known.n == 0)
        map_fini(&gc->known);
    if (take_flag(&gc->overflown))
        queue_pass(gc, PASS_SCAN, STR(""), false);
    else if (!take_flag(&gc->failed))
        gc->retries = 0;
    else if (gc->retries < GC_RETRIES)
        timer_start(gc->api->loop, &gc->retry, (uint64_t)GC_RETRY_MS << gc->retries, on_retry);
}

static void end_pass(struct gc *gc)
{
    struct pass *p = gc->active;
    if (!p || p->at != PASS_END || p->n_out > 0 || p->waiting)
        return;
    bool built = p->kind == PASS_BUILD;
    gc->active = NULL;
    pass_free(p);
    if (built)
        tell_ready(gc, 0, NULL); /* without the marker the next start builds it again */
}

static void on_turn(struct defer *d)
{
    struct gc *gc = container_of(d, struct gc, turn);
    if (gc->stopped) {
        end_pass(gc);
        controllers_idle(gc->api);
        return;
    }
    while (gc->n_running < GC_PARALLEL && !list_is_empty(&gc->works))
        work_start(container_of(gc->works.next, struct work, node));
    end_pass(gc);
    if (!gc->active && !list_is_empty(&gc->passes)) {
        gc->active = container_of(gc->passes.next, struct pass, node);
        list_remove(&gc->active->node);
        queue_forget(gc, pass_letter[gc->active->kind], gc->active->subject);
        pass_run(gc->active);
    } else if (gc->active && !gc->active->waiting && gc->active->at != PASS_END) {
        bool pages = gc->active->at == PASS_PAGES && gc->active->n_out < GC_PARALLEL;
        bool checks = gc->active->at == PASS_CHECK && gc->active->n_out == 0;
        if (pages || checks)
            pass_run(gc->active);
    }
    if (!gc->active && gc->n_running == 0 && list_is_empty(&gc->works) &&
        list_is_empty(&gc->passes))
        rest(gc);
}

static void kick(struct gc *gc)
{
    defer_start(gc->api->loop, &gc->turn, on_turn);
}

/* ------------------------------------------------------------------ what was written */

/* Does the owner of `ref` wait for its dependents, and was this the last one? */
static void owner_may_go(struct gc *gc, const struct json *dependent, const struct json *ref)
{
    struct arena a = { 0 };
    const struct kube_resource *res =
        find_kind(gc->api, json_get_str(ref, "apiVersion"), json_get_str(ref, "kind"));
    if (res && json_bool(json_getc(ref, "blockOwnerDeletion")))
        queue_pass(gc, PASS_LEAVING, owner_key(&a, res, dependent, ref), false);
    arena_fini(&a);
}

static bool still_blocks(const struct json *refs, const struct json *ref)
{
    json_each (r, refs) {
        if (str_eq(json_get_str(r, "uid"), json_get_str(ref, "uid")))
            return json_bool(json_getc(r, "blockOwnerDeletion"));
    }
    return false;
}

void gc_written(struct gc *gc, const struct written *w)
{
    if (!gc || gc->stopped)
        return;
    const struct json *was = json_path(w->old, "metadata", "ownerReferences", NULL);
    const struct json *is = json_path(w->obj, "metadata", "ownerReferences", NULL);
    json_each (ref, was) {
        if (!still_blocks(is, ref))
            owner_may_go(gc, w->old, ref);
    }
    if (!w->obj) {
        queue_pass(gc, PASS_ABSENT, meta_uid(w->old), true);
        return;
    }
    if (is && (!was || !json_equal(was, is)))
        queue_work(gc, NULL, WORK_CHECK, w->key);
    if (owners_is_leaving(w->obj) &&
        (!owners_is_leaving(w->old) ||
         !json_equal(json_path(w->old, "metadata", "finalizers", NULL),
                     json_path(w->obj, "metadata", "finalizers", NULL))))
        queue_pass(gc, PASS_LEAVING, w->key, true);
}

void gc_kinds_changed(struct gc *gc)
{
    if (!gc || gc->stopped || !take_flag(&gc->unresolved))
        return;
    queue_pass(gc, PASS_SCAN, STR(""), false);
}

/* ------------------------------------------------------------------ life */

static void on_marker(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct gc *gc = arg;
    (void)rev;
    gc->reading_marker = false;
    if (r >= 0)
        queue_pass(gc, kv ? PASS_SCAN : PASS_BUILD, STR(""), false);
    if (r < 0 || kv || gc->stopped)
        tell_ready(gc, r, err);
    controllers_idle(gc->api);
}

struct gc *gc_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct gc *gc = xnew(struct gc);
    *gc = (struct gc){ .api = api, .ready = ready, .ready_arg = arg };
    list_init(&gc->works);
    list_init(&gc->passes);
    int r = store_get(api->store, STR(BUILT_KEY), 0, on_marker, gc, NULL);
    assert(r >= 0); /* nobody closes the store while the server starts */
    gc->reading_marker = true;
    return gc;
}

void gc_stop(struct gc *gc)
{
    if (!gc)
        return;
    gc->stopped = true;
    timer_stop(gc->api->loop, &gc->retry);
    for (struct list *l; (l = list_pop_front(&gc->works));) {
        struct work *w = container_of(l, struct work, node);
        if (w->pass)
            w->pass->n_out--;
        free(w->key);
        free(w);
    }
    for (struct list *l; (l = list_pop_front(&gc->passes));) {
        struct pass *p = container_of(l, struct pass, node);
        bool built = p->kind == PASS_BUILD;
        pass_free(p);
        if (built)
            tell_ready(gc, -ECANCELED, NULL);
    }
    if (gc->active && !gc->active->waiting)
        gc->active->at = PASS_END;
    kick(gc);
}

bool gc_is_busy(const struct gc *gc)
{
    return gc && (gc->reading_marker || gc->active || gc->n_running > 0 ||
                  !list_is_empty(&gc->works) || !list_is_empty(&gc->passes));
}

void gc_free(struct gc *gc)
{
    if (!gc)
        return;
    assert(!gc_is_busy(gc));
    defer_cancel(&gc->turn);
    map_fini(&gc->known);
    free(gc);
}
