/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection: compares one object with its owners; see gc.h. */
#include "api/controllers/gc.h"

#include "base/clock.h"
#include "base/sys.h"
#include "codec/url.h"

/* ------------------------------------------------------------------ objects and resources */

const struct kube_resource *gc_find_kind(const struct api *api, struct str api_version,
                                         struct str kind)
{
    struct str group, version;
    if (!str_cut(api_version, '/', &group, &version)) {
        group = STR("");
        version = api_version;
    }
    const struct kube_resource *res = kube_registry_find_kind(&api->reg, group, version, kind);
    if (res)
        return res;
    kube_registry_each(r, &api->reg)
    {
        if (str_eq((*r)->group, group) && str_eq((*r)->kind, kind))
            return *r;
    }
    return NULL;
}

const struct kube_resource *gc_resource_of(const struct api *api, const struct json *obj)
{
    return gc_find_kind(api, json_get_str(obj, "apiVersion"), json_get_str(obj, "kind"));
}

struct str gc_owner_key(struct arena *a, const struct kube_resource *res,
                        const struct json *dependent, const struct json *ref)
{
    return key_object(a, res, res->namespaced ? meta_namespace(dependent) : STR(""),
                      json_get_str(ref, "name"));
}

struct str gc_path_of(struct arena *a, const struct kube_resource *res, const struct json *obj)
{
    struct buf name = BUF_INIT(4096);
    (void)url_encode(&name, meta_name(obj)); /* names of roles may contain spaces */
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

static void work_read(struct gc_work *w);

static void work_end(struct gc_work *w, bool ok)
{
    struct gc *gc = w->gc;
    struct pass *p = w->pass;
    if (!ok)
        gc_failed(gc, "object", w->key);
    assert(gc->n_running > 0 && !list_is_linked(&w->node));
    if (p) {
        assert(p == gc->active && p->n_out > 0);
        p->n_out--;
        p->failed = p->failed || !ok;
    }
    gc->n_running--;
    arena_fini(&w->arena);
    free(w->key);
    free(w);
    gc_kick(gc);
    api_part_idle(gc->api);
}

/* Conflict: read the object again. */
static void work_again(struct gc_work *w)
{
    if (++w->attempt >= GC_ATTEMPTS)
        work_end(w, false);
    else
        work_read(w);
}

static void on_wrote(void *arg, int r, struct str body)
{
    struct gc_work *w = arg;
    (void)body;
    if (r == 409)
        work_again(w);
    else
        work_end(w, r == 200 || r == 202 || r == 404 || w->gc->stopped);
}

static void work_call(struct gc_work *w, const char *method, const char *type,
                      const struct json *body, inner_cb cb)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    (void)json_write(&text, body);
    const struct inner_request req = { .method = method,
                                       .target = gc_path_of(&w->arena, w->res, w->obj),
                                       .content_type = type,
                                       .body = buf_str(&text) };
    if (inner_call(w->gc->api, &req, cb, w) < 0)
        work_end(w, w->gc->stopped);
}

static void patch_references(struct gc_work *w, struct json *refs, inner_cb cb)
{
    struct arena *a = &w->arena;
    struct json *patch = json_new_object(a), *meta = json_obj(a, patch, "metadata");
    json_set_str(a, meta, "uid", meta_uid(w->obj));
    meta_set_resource_version(a, patch, w->rev);
    json_setc(a, meta, "ownerReferences", refs->n ? refs : json_new_null(a));
    work_call(w, "PATCH", "application/merge-patch+json", patch, cb);
}

/* policy NULL: according to the finalizers on the object. */
static void work_delete(struct gc_work *w, const char *policy, bool as_it_is)
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

/* ---- dependents that have dependents and block an owner ---- */

static void on_unblocked(void *arg, int r, struct str body)
{
    struct gc_work *w = arg;
    if (r == 200)
        work_delete(w, "Foreground", false);
    else
        on_wrote(w, r, body);
}

/*
 * Ownership cycle, since a dependent of this object waits as well: clear blockOwnerDeletion so that
 * it can be resolved.
 */
static void unblock(struct gc_work *w)
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
    struct gc_work *w = arg;
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
    struct gc_work *w = arg;
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

static void delete_for_waiting_owner(struct gc_work *w)
{
    const struct store_range range = { .prefix = STR(LEAVING_PREFIX "/"),
                                       .limit = GC_CYCLE_ROWS,
                                       .keys_only = true };
    if (store_range(w->gc->api->store, &range, on_all_leaving, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

/* ---- invalid references ---- */

/*
 * Record an Event that an owner is not where it must be: in the object's namespace, or
 * cluster-scoped.
 */
static int tell_invalid(struct gc_work *w, const struct json *ref, inner_cb cb)
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

static void on_reported(void *arg, int r, struct str body)
{
    (void)r;
    (void)body;
    work_end(arg, true);
}

static void work_decide(struct gc_work *w);
static void search_on(struct gc_work *w);

static void on_stray_reported(void *arg, int r, struct str body)
{
    struct gc_work *w = arg;
    (void)r;
    (void)body;
    w->stray = w->stray->next;
    w->space = json_first(w->spaces);
    search_on(w);
}

static void on_stray(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct gc_work *w = arg;
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
    else if (tell_invalid(w, w->stray, on_stray_reported) < 0)
        work_end(w, w->gc->stopped);
}

/* Search the next namespace for an owner that was not found. */
static void search_on(struct gc_work *w)
{
    struct arena *a = &w->arena;
    for (; w->stray; w->stray = w->stray->next, w->space = json_first(w->spaces)) {
        const struct kube_resource *res = gc_find_kind(
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
    struct gc_work *w = arg;
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

/*
 * A reference to an absent owner was just written. If the owner exists in another namespace, record
 * an Event.
 */
static void search_strays(struct gc_work *w)
{
    const struct store_range range = { .prefix = STR(NAMESPACES),
                                       .limit = GC_STRAY_ROWS,
                                       .keys_only = true };
    if (store_range(w->gc->api->store, &range, on_spaces, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

/* ---- the verdict ---- */

/*
 * The object is being deleted, or its kind is no longer served and it is deleted with its
 * definition.
 */
static bool stays_as_it_is(const struct gc_work *w)
{
    return !w->res || meta_is_deleting(w->obj);
}

static void work_decide(struct gc_work *w)
{
    bool unwell = w->n_dangling + w->n_waiting > 0;
    if (stays_as_it_is(w)) {
        work_end(w, true);
    } else if (w->strays && w->strays->n > 0 && !w->pass) {
        search_strays(w);
    } else if (w->not_allowed) { /* the object is left as it is */
        if (tell_invalid(w, w->not_allowed, on_reported) < 0)
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

static enum gc_verdict judge(struct gc_work *w, const struct json *ref, struct str *ret_key)
{
    const struct pass *p = w->pass;
    const struct kube_resource *res =
        gc_find_kind(w->gc->api, json_get_str(ref, "apiVersion"), json_get_str(ref, "kind"));
    if (res && res->namespaced && meta_namespace(w->obj).n == 0)
        return OWNER_NOT_ALLOWED; /* whether it exists or not */
    if (p && p->kind == PASS_ABSENT && p->certain && str_is(json_get_str(ref, "uid"), p->subject))
        return OWNER_DANGLING;
    if (!res) { /* the kind is unknown, but may be defined later */
        w->gc->unresolved = true;
        return OWNER_SOLID;
    }
    *ret_key = gc_owner_key(&w->arena, res, w->obj, ref);
    return OWNER_ASK;
}

static void note_verdict(struct gc_work *w, enum gc_verdict v)
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
    /* This dependent represents all dependents of the owner: if the owner is gone or waits, queue a
     * pass over the others. */
    if (w->pass && w->pass->kind == PASS_SCAN && (v == OWNER_DANGLING || v == OWNER_WAITING))
        gc_queue_pass(w->gc, PASS_ABSENT, json_get_str(w->ref, "uid"), false);
    w->ref = w->ref->next;
}

static void work_owners(struct gc_work *w);

static void on_owner(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                     const struct err *err)
{
    struct gc_work *w = arg;
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

static void work_owners(struct gc_work *w)
{
    while (w->ref) {
        struct str key;
        enum gc_verdict v = judge(w, w->ref, &key);
        if (v == OWNER_ASK) {
            if (store_get(w->gc->api->store, key, 0, on_owner, w, NULL) < 0)
                work_end(w, w->gc->stopped);
            return;
        }
        note_verdict(w, v);
    }
    work_decide(w);
}

static void work_check(struct gc_work *w)
{
    w->ref = json_first(json_path(w->obj, "metadata", "ownerReferences", NULL));
    w->solid = json_new_array(&w->arena);
    w->strays = json_new_array(&w->arena);
    w->n_dangling = w->n_waiting = 0;
    w->not_allowed = NULL;
    /* in the pass over all owners it represents others, which may need more */
    bool stands_for_others = w->pass && w->pass->kind == PASS_SCAN;
    if (!w->ref || (stays_as_it_is(w) && !stands_for_others))
        work_end(w, true);
    else
        work_owners(w);
}

/* The owner is deleted and orphans this object. */
static void work_orphan(struct gc_work *w)
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
    struct gc_work *w = arg;
    (void)err;
    if (res->r == E_CONFLICT && !w->gc->stopped)
        work_again(w);
    else
        work_end(w, res->r >= 0 || w->gc->stopped);
}

/*
 * Add index entries for an object that was written before the index of owners or of nodes existed.
 */
static void work_index(struct gc_work *w)
{
    struct store_op ops[STORE_TXN_MAX_OPS];
    size_t n = 1;
    ops[0] = (struct store_op){
        .kind = STORE_CHECK, .key = str_of(w->key), .cmp = STORE_MOD_REV, .cmp_rev = w->rev
    };
    int r = owners_ops(&w->arena, str_of(w->key), NULL, w->obj, ops, &n, NULL);
    placed_ops(&w->arena, str_of(w->key), NULL, w->obj, ops, &n);
    if (r < 0 || n == 1)
        work_end(w, true);
    else if (store_txn(w->gc->api->store, ops, n, on_indexed, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

static void on_object(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct gc_work *w = arg;
    struct arena *a = &w->arena;
    (void)rev;
    (void)err;
    if (r < 0 || !kv || w->gc->stopped) {
        work_end(w, r >= 0 || w->gc->stopped);
        return;
    }
    w->rev = kv->mod_rev;
    if (json_parse(a, str_copy_arena(a, kv->value), NULL, &w->obj, NULL) < 0) {
        work_end(w, true); /* gc does not repair it */
        return;
    }
    w->res = gc_resource_of(w->gc->api, w->obj);
    if (w->kind == WORK_INDEX)
        work_index(w);
    else if (w->kind == WORK_CHECK)
        work_check(w);
    else if (w->res)
        work_orphan(w);
    else
        work_end(w, true); /* no longer served: the object is deleted with its definition */
}

static void work_read(struct gc_work *w)
{
    arena_reset(&w->arena);
    if (store_get(w->gc->api->store, str_of(w->key), 0, on_object, w, NULL) < 0)
        work_end(w, w->gc->stopped);
}

void gc_work_start(struct gc_work *w)
{
    struct gc *gc = w->gc;
    assert(list_is_linked(&w->node) && gc->n_running < GC_PARALLEL && !gc->stopped);
    list_remove(&w->node);
    if (!w->pass)
        gc_queue_forget(gc, 'o', w->key);
    gc->n_running++;
    work_read(w);
}
