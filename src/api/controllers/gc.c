/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage collection: the queue, its sources, and its turn; see gc.h. */
#include "api/controllers/gc.h"

#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

/* ------------------------------------------------------------------ the queue */

/* Queued jobs are known by a letter for their type followed by their name. */
enum { KNOWN_MAX_BYTES = STORE_KEY_MAX_BYTES + 2 };

static struct str known(char text[KNOWN_MAX_BYTES], char letter, const char *name)
{
    int n = snprintf(text, KNOWN_MAX_BYTES, "%c%s", letter, name);
    return str_n(text, MIN((size_t)n, KNOWN_MAX_BYTES - 1));
}

/* false: already queued, or no room. */
static bool queue_note(struct gc *gc, char letter, const char *name)
{
    char text[KNOWN_MAX_BYTES];
    struct str id = known(text, letter, name);
    if (map_has(&gc->known, id))
        return false;
    assert(gc->known.n <= GC_QUEUE_MAX);
    if (gc->known.n == GC_QUEUE_MAX) {
        gc->overflown = true;
        return false;
    }
    (void)map_put(&gc->known, id, gc);
    return true;
}

void gc_queue_forget(struct gc *gc, char letter, const char *name)
{
    char text[KNOWN_MAX_BYTES];
    const void *was = map_del(&gc->known, known(text, letter, name));
    assert(was == gc); /* a job in the queue is known */
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
    assert(!list_is_linked(&p->node) && p != p->gc->active);
    assert(!p->waiting && p->n_out == 0);
    free(p->subject);
    free(p->uid);
    buf_fini(&p->prefix);
    buf_fini(&p->after);
    free(p);
}

static const char pass_letter[] = {
    [PASS_ABSENT] = 'a', [PASS_LEAVING] = 'l', [PASS_SCAN] = 's', [PASS_BUILD] = 'b'
};

void gc_queue_pass(struct gc *gc, enum pass_kind kind, struct str subject, bool flag)
{
    if (gc->stopped)
        return;
    if (kind == PASS_LEAVING && flag) {
        /* a queued pass that would only check is turned into a fresh one */
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
    gc_kick(gc);
}

void gc_queue_work(struct gc *gc, struct pass *pass, enum gc_work_kind kind, struct str key)
{
    char *name = str_dup(key);
    /* the works of a pass are bounded by its page, and the pass waits for each of them */
    if (gc->stopped || (!pass && !queue_note(gc, 'o', name))) {
        free(name);
        return;
    }
    assert(!pass || (pass == gc->active && pass->at == PASS_PAGES));
    struct gc_work *w = xnew(struct gc_work);
    *w = (struct gc_work){ .gc = gc, .pass = pass, .kind = kind, .key = name };
    if (pass)
        pass->n_out++;
    list_push_back(&gc->works, &w->node);
    gc_kick(gc);
}

void gc_failed(struct gc *gc, const char *what, const char *key)
{
    log_warn("garbage collection has to be repeated", "step=%s key=%s", what, key);
    gc->failed = true;
}

void gc_tell_ready(struct gc *gc, int r, const struct err *err)
{
    controller_ready_cb ready = gc->ready;
    gc->ready = NULL;
    if (ready)
        ready(gc->ready_arg, gc->stopped ? -ECANCELED : r, err);
}

/* ------------------------------------------------------------------ the turn */

static void on_retry(struct timer *t)
{
    struct gc *gc = container_of(t, struct gc, retry.timer);
    gc_queue_pass(gc, PASS_SCAN, STR(""), false);
}

/*
 * The queue is empty: start a pass over everything if a job was dropped, or arm the retry timer if
 * one has failed.
 */
static void rest(struct gc *gc)
{
    assert(gc->known.n == 0); /* it names the jobs of the two queues */
    map_fini(&gc->known);
    if (take_flag(&gc->overflown))
        gc_queue_pass(gc, PASS_SCAN, STR(""), false);
    else if (!take_flag(&gc->failed))
        retry_settle(&gc->retry);
    else
        retry_arm(gc->api->loop, &gc->retry, on_retry);
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
        gc_tell_ready(gc, 0, NULL); /* without the marker the next start builds the indices again */
}

static void on_turn(struct defer *d)
{
    struct gc *gc = container_of(d, struct gc, turn);
    if (gc->stopped) {
        end_pass(gc);
        api_part_idle(gc->api);
        return;
    }
    while (gc->n_running < GC_PARALLEL && !list_is_empty(&gc->works))
        gc_work_start(container_of(gc->works.next, struct gc_work, node));
    end_pass(gc);
    if (!gc->active && !list_is_empty(&gc->passes)) {
        gc->active = container_of(list_pop_front(&gc->passes), struct pass, node);
        assert(gc->active->at == PASS_START && gc->active->n_out == 0);
        gc_queue_forget(gc, pass_letter[gc->active->kind], gc->active->subject);
        gc_pass_run(gc->active);
    } else if (gc->active && !gc->active->waiting && gc->active->at != PASS_END) {
        bool pages = gc->active->at == PASS_PAGES && gc->active->n_out < GC_PARALLEL;
        bool checks = gc->active->at == PASS_CHECK && gc->active->n_out == 0;
        if (pages || checks)
            gc_pass_run(gc->active);
    }
    if (!gc->active && gc->n_running == 0 && list_is_empty(&gc->works) &&
        list_is_empty(&gc->passes))
        rest(gc);
}

void gc_kick(struct gc *gc)
{
    defer_start(gc->api->loop, &gc->turn, on_turn);
}

/* ------------------------------------------------------------------ notifications of writes */

/*
 * If the owner of `ref` waits for its dependents, and this one may have been the last, queue the
 * owner.
 */
static void owner_may_go(struct gc *gc, const struct json *dependent, const struct json *ref)
{
    struct arena a = { 0 };
    const struct kube_resource *res =
        gc_find_kind(gc->api, json_get_str(ref, "apiVersion"), json_get_str(ref, "kind"));
    if (res && json_bool(json_getc(ref, "blockOwnerDeletion")))
        gc_queue_pass(gc, PASS_LEAVING, gc_owner_key(&a, res, dependent, ref), false);
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
        gc_queue_pass(gc, PASS_ABSENT, meta_uid(w->old), true);
        return;
    }
    if (is && (!was || !json_equal(was, is)))
        gc_queue_work(gc, NULL, WORK_CHECK, w->key);
    if (owners_is_leaving(w->obj) &&
        (!owners_is_leaving(w->old) ||
         !json_equal(json_path(w->old, "metadata", "finalizers", NULL),
                     json_path(w->obj, "metadata", "finalizers", NULL))))
        gc_queue_pass(gc, PASS_LEAVING, w->key, true);
}

void gc_kinds_changed(struct gc *gc)
{
    if (!gc || gc->stopped || !take_flag(&gc->unresolved))
        return;
    gc_queue_pass(gc, PASS_SCAN, STR(""), false);
}

/* ------------------------------------------------------------------ lifecycle */

static void on_marker(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct gc *gc = arg;
    (void)rev;
    bool built = kv && str_is(kv->value, BUILT_VALUE);
    assert(gc->reading_marker);
    gc->reading_marker = false;
    gc->built_rev = built ? kv->mod_rev : 0;
    if (r == E_DIGEST) {
        log_error("the marker of the index of owners is damaged, building it again", "error=\"%s\"",
                  err_text(err));
        r = 0;
    }
    if (r >= 0)
        gc_queue_pass(gc, built ? PASS_SCAN : PASS_BUILD, STR(""), false);
    if (r < 0 || built || gc->stopped)
        gc_tell_ready(gc, r, err);
    api_part_idle(gc->api);
}

bool gc_has_indices(const struct gc *gc, uint64_t at_rev)
{
    return gc && gc->built_rev && (at_rev == 0 || at_rev >= gc->built_rev);
}

struct gc *gc_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct gc *gc = xnew(struct gc);
    *gc = (struct gc){ .api = api, .ready = ready, .ready_arg = arg };
    list_init(&gc->works);
    list_init(&gc->passes);
    int r = store_get(api->store, STR(BUILT_KEY), 0, on_marker, gc, NULL);
    assert(r >= 0); /* the store is not closed while the server starts */
    gc->reading_marker = true;
    return gc;
}

void gc_stop(struct gc *gc)
{
    if (!gc)
        return;
    gc->stopped = true;
    timer_stop(gc->api->loop, &gc->retry.timer);
    for (struct list *l; (l = list_pop_front(&gc->works));) {
        struct gc_work *w = container_of(l, struct gc_work, node);
        if (w->pass) {
            assert(w->pass == gc->active && w->pass->n_out > 0);
            w->pass->n_out--;
        }
        free(w->key);
        free(w);
    }
    for (struct list *l; (l = list_pop_front(&gc->passes));) {
        struct pass *p = container_of(l, struct pass, node);
        bool built = p->kind == PASS_BUILD;
        pass_free(p);
        if (built)
            gc_tell_ready(gc, -ECANCELED, NULL);
    }
    if (gc->active && !gc->active->waiting && gc->active->at != PASS_END)
        gc_pass_move(gc->active, PASS_END);
    gc_kick(gc);
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
