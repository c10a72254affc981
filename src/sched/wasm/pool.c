/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instance serves which pod.
 *
 *     free  --hook of a pod's cycle-->  called, bound  --the call ends-->  bound
 *     free  --another hook, fork---->  called         --the call ends-->  free
 *     bound --the pod's next hook, fork-->  called, bound
 *
 * When the attempt of the pod is over (end, unreserve, postbind), bound becomes free, and called,
 * bound becomes called.
 *
 * After a trap, exit or time limit the instance is freed at the end of the call, and a pod to which
 * it was bound is "lost".
 *
 * A free instance remembers the pod that it served last, and serves further hooks of that pod. A
 * pod that arrives without prefilter at a guest that has that hook gets an unused instance, since a
 * used one would show it the state of another pod.
 */
#include "sched/wasm/internal.h"

#include "base/sm.h"

enum { LOST_MAX = 1024 };

/* A hook that is not part of a pod's cycle. */
static bool is_apart(enum wplugin_hook hook)
{
    return hook == WPLUGIN_HOOK_ENQUEUE || hook == WPLUGIN_HOOK_QUEUEINGHINT;
}

static const struct sm_state instance_table[] = {
    [WINSTANCE_FREE] = { "free", EDGE(WINSTANCE_CALLED) | EDGE(WINSTANCE_CALLED_BOUND) },
    [WINSTANCE_BOUND] = { "bound", EDGE(WINSTANCE_CALLED_BOUND) | EDGE(WINSTANCE_FREE) },
    [WINSTANCE_CALLED] = { "called", EDGE(WINSTANCE_FREE) },
    [WINSTANCE_CALLED_BOUND] = { "called, bound", EDGE(WINSTANCE_BOUND) | EDGE(WINSTANCE_CALLED) },
};

/* The only place that changes the state. The caller holds the lock. */
static void move(struct winstance *in, enum winstance_at to)
{
    assert(sm_is_edge(instance_table, in->at, to));
    assert(to != WINSTANCE_BOUND || in->key);
    in->at = to;
}

static bool is_in_call(const struct winstance *in)
{
    return in->at == WINSTANCE_CALLED || in->at == WINSTANCE_CALLED_BOUND;
}

static bool is_bound(const struct winstance *in)
{
    return in->at == WINSTANCE_BOUND || in->at == WINSTANCE_CALLED_BOUND;
}

/* The attempt of its pod is over. */
static void unbind(struct winstance *in)
{
    if (is_bound(in))
        move(in, is_in_call(in) ? WINSTANCE_CALLED : WINSTANCE_FREE);
}

static bool key_is(const struct winstance *in, struct str key)
{
    return in->key && str_is(key, in->key);
}

static struct str cut_key(struct str key)
{
    return str_slice(key, 0, WPLUGIN_KEY_MAX_BYTES);
}

/* Searches from the most recently used: a filter uses the same one hundreds of times. */
static struct winstance *find(struct wplugin *p, struct str key)
{
    for (struct list *node = p->instances.prev; node != &p->instances; node = node->prev) {
        struct winstance *in = list_entry(node, struct winstance, node);
        if (key_is(in, key))
            return in;
    }
    return NULL;
}

/*
 * The least recently used instance that is neither in a call nor bound; is_unused: one that no pod
 * has used.
 */
static struct winstance *find_free(struct wplugin *p, bool is_unused)
{
    list_each (node, &p->instances) {
        struct winstance *in = list_entry(node, struct winstance, node);
        if (in->at == WINSTANCE_FREE && !(is_unused && in->is_used))
            return in;
    }
    return NULL;
}

/* The least recently used instance that is not in a call, bound or not. */
static struct winstance *find_resting(struct wplugin *p)
{
    list_each (node, &p->instances) {
        struct winstance *in = list_entry(node, struct winstance, node);
        if (!is_in_call(in))
            return in;
    }
    return NULL;
}

/* ---- pods whose instance was lost ---- */

static void forget_lost(struct wplugin *p, struct str key)
{
    free(map_del(&p->lost, key));
}

static void forget_all_lost(struct wplugin *p)
{
    map_each (e, &p->lost)
        free(e->value);
    map_fini(&p->lost);
}

static void lose(struct wplugin *p, const struct winstance *in)
{
    if (!is_bound(in))
        return;
    assert(in->key);
    if (p->lost.n >= LOST_MAX)
        forget_all_lost(p);
    free(map_put(&p->lost, str_of(in->key), xalloc(1)));
}

/* ---- taking ---- */

static void bind_to(struct winstance *in, struct str key, enum wplugin_hook hook)
{
    list_remove(&in->node);
    list_push_back(&in->plugin->instances, &in->node);
    if (is_apart(hook)) {
        move(in, WINSTANCE_CALLED);
        return;
    }
    if (!key_is(in, key)) {
        assert(in->at == WINSTANCE_FREE);
        free(in->key);
        in->key = str_dup(key);
    }
    move(in, WINSTANCE_CALLED_BOUND);
}

static void retire(struct wplugin *p, struct winstance *in)
{
    assert(p->n_instances > 0);
    p->n_instances--;
    p->n_retired++;
    winstance_free(in);
}

/*
 * Called with the lock held, which is released during the creation: the caller has to check the
 * pool again. Errors as winstance_new().
 */
static int make(struct wplugin *p, struct buf *error)
{
    struct winstance *in;
    p->n_instances++;
    (void)pthread_mutex_unlock(&p->lock);
    int r = winstance_new(p, p->image, &in, error);
    (void)pthread_mutex_lock(&p->lock);
    if (r < 0)
        p->n_instances--;
    else
        list_push_back(&p->instances, &in->node);
    (void)pthread_cond_broadcast(&p->freed);
    return r;
}

/* Makes room for a free instance, or waits for one. */
static int make_or_wait(struct wplugin *p, bool may_be_used, struct buf *error)
{
    if (p->n_instances < p->config.instances_max)
        return make(p, error);
    struct winstance *in = find_free(p, false);
    in = in ? in : find_resting(p);
    if (!in)
        return -pthread_cond_wait(&p->freed, &p->lock);
    lose(p, in);
    unbind(in);
    if (!may_be_used)
        retire(p, in);
    return 0;
}

int wpool_take(struct wplugin *p, struct str key, enum wplugin_hook hook, struct winstance **ret,
               bool *ret_is_lost, struct buf *error)
{
    bool may_be_used = is_apart(hook) || hook == WPLUGIN_HOOK_PREFILTER ||
                       !wplugin_exports(p, WPLUGIN_HOOK_PREFILTER);
    struct winstance *in = NULL;
    int r = 0;
    key = cut_key(key);
    (void)pthread_mutex_lock(&p->lock);
    while (r == 0) {
        in = is_apart(hook) ? NULL : find(p, key);
        if (in && is_in_call(in)) {
            (void)pthread_cond_wait(&p->freed, &p->lock);
            continue;
        }
        in = in ? in : find_free(p, !may_be_used);
        if (in)
            break;
        r = make_or_wait(p, may_be_used, error);
    }
    if (r == 0) {
        bind_to(in, key, hook);
        *ret_is_lost = !in->is_used && map_has(&p->lost, key);
        forget_lost(p, key);
        *ret = in;
    }
    (void)pthread_mutex_unlock(&p->lock);
    return r;
}

void wpool_give(struct winstance *in, enum wplugin_hook hook)
{
    struct wplugin *p = in->plugin;
    (void)pthread_mutex_lock(&p->lock);
    assert(is_in_call(in));
    if (hook == WPLUGIN_HOOK_UNRESERVE || hook == WPLUGIN_HOOK_POSTBIND)
        unbind(in);
    if (in->outcome != WINSTANCE_RETURNED) {
        lose(p, in);
        retire(p, in);
    } else {
        move(in, is_bound(in) ? WINSTANCE_BOUND : WINSTANCE_FREE);
    }
    (void)pthread_cond_broadcast(&p->freed);
    (void)pthread_mutex_unlock(&p->lock);
}

struct winstance *wpool_borrow(struct wplugin *p, struct str key)
{
    struct winstance *in;
    (void)pthread_mutex_lock(&p->lock);
    while ((in = find(p, cut_key(key))) && is_in_call(in))
        (void)pthread_cond_wait(&p->freed, &p->lock);
    if (in)
        move(in, is_bound(in) ? WINSTANCE_CALLED_BOUND : WINSTANCE_CALLED);
    (void)pthread_mutex_unlock(&p->lock);
    return in;
}

void wpool_put_back(struct winstance *in)
{
    struct wplugin *p = in->plugin;
    (void)pthread_mutex_lock(&p->lock);
    move(in, is_bound(in) ? WINSTANCE_BOUND : WINSTANCE_FREE);
    (void)pthread_cond_broadcast(&p->freed);
    (void)pthread_mutex_unlock(&p->lock);
}

void wplugin_end(struct wplugin *p, struct str key)
{
    key = cut_key(key);
    (void)pthread_mutex_lock(&p->lock);
    struct winstance *in = find(p, key);
    if (in)
        unbind(in);
    forget_lost(p, key);
    (void)pthread_cond_broadcast(&p->freed);
    (void)pthread_mutex_unlock(&p->lock);
}

/* ---- life ---- */

int wpool_fill(struct wplugin *p, struct buf *error)
{
    struct winstance *in;
    int r = winstance_new(p, NULL, &in, error);
    if (r < 0)
        return r;
    p->image = wstate_new(in);
    p->n_instances = 1;
    list_push_back(&p->instances, &in->node);
    return 0;
}

void wpool_drain(struct wplugin *p)
{
    list_each_safe (node, &p->instances) {
        struct winstance *in = list_entry(node, struct winstance, node);
        assert(!is_in_call(in));
        winstance_free(in);
    }
    forget_all_lost(p);
    wstate_free(p->image);
    p->image = NULL;
}

void wplugin_stats(struct wplugin *p, struct wplugin_stats *ret)
{
    (void)pthread_mutex_lock(&p->lock);
    *ret = (struct wplugin_stats){ .instances = p->n_instances,
                                   .created = p->n_created,
                                   .retired = p->n_retired };
    list_each (node, &p->instances)
        ret->bound += is_bound(list_entry(node, struct winstance, node));
    (void)pthread_mutex_unlock(&p->lock);
}
