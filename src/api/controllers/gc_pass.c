/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection: passes over many objects, one page at a time; see gc.h. */
#include "api/controllers/gc.h"

#include "base/sm.h"

/* ------------------------------------------------------------------ a pass */

/* Drawn in gc.h. */
static const struct sm_state pass_table[] = {
    [PASS_START] = { "start", EDGE(PASS_OWNER) | EDGE(PASS_PAGES) },
    [PASS_OWNER] = { "owner", EDGE(PASS_PAGES) | EDGE(PASS_CHECK) | EDGE(PASS_END) },
    [PASS_PAGES] = { "pages", EDGE(PASS_CHECK) | EDGE(PASS_END) },
    [PASS_CHECK] = { "check", EDGE(PASS_PAGES) | EDGE(PASS_FINALIZE) | EDGE(PASS_END) },
    [PASS_FINALIZE] = { "finalize", EDGE(PASS_FINALIZE) | EDGE(PASS_END) },
    [PASS_END] = { "end", 0 },
};

void gc_pass_move(struct pass *p, enum pass_at to)
{
    assert(sm_is_edge(pass_table, p->at, to) && !p->waiting);
    assert(to != PASS_FINALIZE || p->kind == PASS_LEAVING);
    p->at = to;
}

/* The caller starts an operation that calls back. */
static void pass_wait(struct pass *p)
{
    assert(!p->waiting && p == p->gc->active);
    p->waiting = true;
}

static void pass_fail(struct pass *p)
{
    if (!p->gc->stopped)
        gc_failed(p->gc, "pass", p->subject);
    gc_pass_move(p, PASS_END);
}

/* A store operation of the pass has called back. true: the server stops, the pass has ended. */
static bool pass_resumed(struct pass *p)
{
    assert(p->waiting && p == p->gc->active);
    p->waiting = false;
    if (!p->gc->stopped)
        return false;
    gc_pass_move(p, PASS_END);
    gc_pass_run(p);
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
        gc_pass_move(p, PASS_END);
    if (p->at == PASS_OWNER) {
        struct str prefix = owners_prefix(&a, meta_uid(obj));
        p->uid = str_dup(meta_uid(obj));
        p->orphan = owners_has_finalizer(obj, FINALIZER_ORPHAN);
        (void)buf_add_str(&p->prefix, prefix);
        gc_pass_move(p, p->fresh || p->orphan ? PASS_PAGES : PASS_CHECK);
    }
    arena_fini(&a);
    gc_pass_run(p);
}

/* Turn the rows of the page into works. The pass over all owners takes one dependent of each. */
static void take_rows(struct pass *p, const struct store_page *page)
{
    for (size_t i = 0; i < page->n; i++) {
        struct str key = page->kv[i].key;
        if (p->kind == PASS_BUILD) {
            bool may = str_find(page->kv[i].value, STR("\"ownerReferences\"")) >= 0 ||
                       str_find(page->kv[i].value, STR("\"deletionTimestamp\"")) >= 0 ||
                       (str_has_prefix(key, STR(REGISTRY "pods/")) &&
                        str_find(page->kv[i].value, STR("\"nodeName\"")) >= 0);
            if (may)
                gc_queue_work(p->gc, p, WORK_INDEX, key);
        } else if (str_has_prefix(key, STR(LEAVING_PREFIX "/"))) {
            gc_queue_pass(p->gc, PASS_LEAVING, owners_dependent(key), true);
        } else {
            gc_queue_work(p->gc, p, p->orphan ? WORK_ORPHAN : WORK_CHECK, owners_dependent(key));
        }
    }
    p->more = page->more;
    if (page->n == 0)
        return;
    buf_reset(&p->after);
    if (p->kind == PASS_SCAN && str_has_prefix(page->kv[0].key, STR(OWNED_PREFIX)))
        (void)buf_printf(&p->after, OWNED_PREFIX STR_FMT "0", /* '0' follows '/' */
                         STR_ARG(owners_uid(page->kv[0].key)));
    else
        (void)buf_add_str(&p->after, page->kv[page->n - 1].key);
}

/* All pages of one prefix were read; true: there is another prefix. */
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
        p->left_out = p->left_out || page->left_out;
        take_rows(p, page);
        if (!p->more && !next_prefix(p))
            gc_pass_move(p, PASS_CHECK);
    }
    gc_pass_run(p);
}

static void on_marked(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct pass *p = arg;
    (void)err;
    if (res->r >= 0)
        p->gc->built_rev = res->rev;
    if (pass_resumed(p))
        return;
    if (res->r < 0) {
        pass_fail(p);
    } else {
        gc_queue_pass(p->gc, PASS_SCAN, STR(""), false);
        gc_pass_move(p, PASS_END);
    }
    gc_pass_run(p);
}

/* Check whether dependents are left that must be deleted or orphaned first. */
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
        gc_pass_move(p, PASS_PAGES); /* created during the pass */
    } else if (held) {
        gc_pass_move(p, PASS_END); /* its deletion queues the pass again */
    } else if (!p->more) {
        gc_pass_move(p, PASS_FINALIZE);
    }
    gc_pass_run(p);
}

static void on_finalized(void *arg, int r, struct str body)
{
    struct pass *p = arg;
    (void)body;
    assert(p->gc->n_running > 0);
    p->gc->n_running--;
    if (pass_resumed(p))
        return;
    if (r == 409 && ++p->rounds < GC_ATTEMPTS)
        gc_pass_move(p, PASS_FINALIZE);
    else if (r != 200 && r != 404)
        pass_fail(p);
    else
        gc_pass_move(p, PASS_END);
    gc_pass_run(p);
}

/* Remove our finalizer from the owner; with the last finalizer the object is removed. */
static bool let_go(struct pass *p, struct arena *a, const struct store_kv *kv)
{
    struct json *obj, *patch = json_new_object(a), *meta = json_obj(a, patch, "metadata");
    struct json *left = json_new_array(a);
    if (!kv || json_parse(a, kv->value, NULL, &obj, NULL) < 0 || !owners_is_leaving(obj))
        return false;
    const struct kube_resource *res = gc_resource_of(p->gc->api, obj);
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
                                       .target = gc_path_of(a, res, obj),
                                       .content_type = "application/merge-patch+json",
                                       .body = buf_str(&body) };
    if (inner_call(p->gc->api, &req, on_finalized, p) < 0)
        return false;
    p->gc->n_running++;
    pass_wait(p);
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
        gc_pass_move(p, PASS_END);
    arena_fini(&a);
    gc_pass_run(p);
}

static void begin_pages(struct pass *p)
{
    struct arena a = { 0 };
    struct str prefix = p->kind == PASS_BUILD  ? STR(REGISTRY)
                        : p->kind == PASS_SCAN ? STR(LEAVING_PREFIX "/")
                                               : owners_prefix(&a, str_of(p->subject));
    (void)buf_add_str(&p->prefix, prefix);
    gc_pass_move(p, PASS_PAGES);
    arena_fini(&a);
}

static int ask_page(struct pass *p, store_range_cb cb)
{
    bool at_start = p->kind == PASS_SCAN || p->kind == PASS_BUILD;
    bool one_each = p->kind == PASS_SCAN && str_is(buf_str(&p->prefix), OWNED_PREFIX);
    const struct store_range range = { .prefix = buf_str(&p->prefix),
                                       .after = buf_str(&p->after),
                                       .limit = one_each ? 1 : GC_PAGE_ROWS,
                                       .keys_only = p->at == PASS_PAGES && p->kind != PASS_BUILD,
                                       .skip_damaged = p->at == PASS_PAGES && at_start };
    return store_range(p->gc->api->store, &range, cb, p, NULL);
}

/* All works have ended: PASS_CHECK, or the end for passes without a check. */
static int check(struct pass *p)
{
    struct store *store = p->gc->api->store;
    switch (p->kind) {
    case PASS_ABSENT:
    case PASS_SCAN:
        gc_pass_move(p, PASS_END);
        return 0;
    case PASS_BUILD: {
        const struct store_op op = { .kind = STORE_PUT,
                                     .key = STR(BUILT_KEY),
                                     .value = STR(BUILT_VALUE) };
        if (!p->failed && p->left_out) /* build the indices again at the next start */
            gc_queue_pass(p->gc, PASS_SCAN, STR(""), false);
        if (p->failed || p->left_out) {
            gc_pass_move(p, PASS_END);
            return 0;
        }
        pass_wait(p);
        return store_txn(store, &op, 1, on_marked, p, NULL);
    }
    case PASS_LEAVING:
        if (!p->more)
            buf_reset(&p->after);
        pass_wait(p);
        return ask_page(p, on_check_page);
    }
    return 0;
}

/* The only function that starts store operations of a pass. */
void gc_pass_run(struct pass *p)
{
    struct gc *gc = p->gc;
    assert(p == gc->active);
    while (!p->waiting && p->at != PASS_END) {
        int r = 0;
        switch (p->at) {
        case PASS_START:
            if (p->kind == PASS_LEAVING)
                gc_pass_move(p, PASS_OWNER);
            else
                begin_pages(p);
            break;
        case PASS_OWNER:
            pass_wait(p);
            r = store_get(gc->api->store, str_of(p->subject), 0, on_pass_owner, p, NULL);
            break;
        case PASS_PAGES:
            if (p->n_out >= GC_PARALLEL)
                return; /* a finished work resumes the pass through the queue's turn */
            pass_wait(p);
            r = ask_page(p, on_pass_page);
            break;
        case PASS_CHECK:
            if (p->n_out > 0)
                return;
            r = check(p);
            break;
        case PASS_FINALIZE:
            pass_wait(p);
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
    gc_kick(gc);
}
