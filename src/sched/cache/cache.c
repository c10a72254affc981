/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of all kinds; adding, moving and removing pods; see cache.h. */
#include "sched/cache/internal.h"

#include <assert.h>

struct sched_cache *sched_cache_new(struct intern_table *w)
{
    struct sched_cache *c = xnew(struct sched_cache);
    c->words = w;
    c->limits = (struct sched_cache_limits){ SCHED_NODES_MAX, SCHED_PODS_MAX, SCHED_OBJECTS_MAX };
    for (size_t i = 0; i < SCHED_KIND_COUNT; i++)
        c->objects[i].borrows_keys = true;
    c->assumed.borrows_keys = true;
    c->images.borrows_keys = true;
    nodes_init(c);
    return c;
}

void sched_cache_limit(struct sched_cache *c, const struct sched_cache_limits *limits)
{
    c->limits = *limits;
}

int cache_check_room(const struct sched_cache *c, enum sched_kind kind, struct err *err)
{
    uint32_t max = kind == SCHED_POD    ? c->limits.pods
                   : kind == SCHED_NODE ? c->limits.nodes
                                        : c->limits.objects;
    if (c->objects[kind].n < max)
        return 0;
    return err_set(err, E_LIMIT, "more than %u %s", max, sched_kind_plural(kind));
}

void sched_cache_free(struct sched_cache *c)
{
    if (!c)
        return;
    assert(c->assumed.n <= c->objects[SCHED_POD].n);
    map_each (m, &c->assumed)
        free(m->value);
    map_fini(&c->assumed);
    nodes_fini(c);
    images_fini(c);
    map_fini(&c->claims);
    for (size_t i = 0; i < SCHED_KIND_COUNT; i++) {
        map_each (m, &c->objects[i])
            sched_object_unref(c->words, m->value);
        map_fini(&c->objects[i]);
    }
    free(c);
}

static void copy_pods(struct sched_cache *to, const struct sched_cache *from,
                      const struct sched_node_info *node)
{
    for (uint32_t i = 0; i < node->n_pods; i++) {
        struct sched_pod *pod = sched_object_ref((void *)node->pods[i]);
        const struct assumed_pod *assumed = map_get(&from->assumed, pod->o.uid);
        if (assumed)
            assumed_begin(to, pod, assumed->is_bound);
        else
            cache_take_pod(to, pod);
    }
}

struct sched_cache *sched_cache_copy(const struct sched_cache *c)
{
    struct sched_cache *copy = sched_cache_new(c->words);
    copy->limits = c->limits;
    for (size_t i = 0; i < c->by_index.n; i++)
        if (c->by_index.p[i])
            (void)sched_cache_put(copy, &c->by_index.p[i]->info.node->o, NULL, NULL);
    for (const struct sched_node_info *i = c->oldest; i; i = i->newer)
        copy_pods(copy, c, i);
    assert(copy->assumed.n == c->assumed.n);
    assert(copy->objects[SCHED_POD].n == c->objects[SCHED_POD].n);
    assert(copy->objects[SCHED_NODE].n == c->objects[SCHED_NODE].n);
    for (size_t kind = 0; kind < SCHED_KIND_COUNT; kind++) {
        if (kind == SCHED_POD || kind == SCHED_NODE)
            continue;
        map_each (m, &c->objects[kind])
            (void)sched_cache_put(copy, m->value, NULL, NULL);
    }
    return copy;
}

/* ---- objects ---- */

/* The map borrows its key from the object, so a new object needs a new entry. */
static struct sched_object *replace(struct map *m, struct sched_object *o)
{
    struct sched_object *old = map_del(m, sched_object_key(o));
    assert(!old || old->kind == o->kind);
    (void)map_put(m, sched_object_key(o), o);
    return old;
}

static void hand_over(struct sched_cache *c, struct sched_object *old, struct sched_object **ret)
{
    if (ret)
        *ret = old;
    else
        sched_object_unref(c->words, old);
}

static void *find(const struct sched_cache *c, enum sched_kind kind, struct str namespace,
                  struct str name)
{
    char few[512];
    bool is_namespaced = sched_kind_is_namespaced(kind);
    size_t ns = is_namespaced ? namespace.n : 0, n = ns + (is_namespaced ? 1 : 0) + name.n;
    char *key = n <= sizeof few ? few : xalloc(n);
    if (ns > 0)
        memcpy(key, namespace.p, ns);
    if (is_namespaced)
        key[ns] = '/';
    if (name.n > 0)
        memcpy(key + n - name.n, name.p, name.n);
    void *found = map_get(&c->objects[kind], str_n(key, n));
    if (key != few)
        free(key);
    return found;
}

const void *sched_cache_get(const struct sched_cache *c, enum sched_kind kind, struct str namespace,
                            struct str name)
{
    return find(c, kind, namespace, name);
}

const struct map *sched_cache_all(const struct sched_cache *c, enum sched_kind kind)
{
    return &c->objects[kind];
}

uint64_t sched_cache_kind_generation(const struct sched_cache *c, enum sched_kind kind)
{
    return c->kind_generation[kind];
}

struct sched_derived **sched_cache_derived(struct sched_cache *c)
{
    return &c->derived;
}

void sched_cache_count(const struct sched_cache *c, size_t *ret_nodes, size_t *ret_pods)
{
    *ret_nodes = c->objects[SCHED_NODE].n;
    *ret_pods = c->objects[SCHED_POD].n;
}

/* ---- claims that pods use ---- */

static void count_claims(struct sched_cache *c, const struct sched_pod *pod, intptr_t by)
{
    for (uint32_t i = 0; i < pod->n_volumes; i++) {
        if (pod->volumes[i].source != SCHED_VOLUME_CLAIM)
            continue;
        struct buf key = BUF_INIT(SCHED_OBJECT_MAX_BYTES * 2);
        (void)buf_add_str(&key, pod->o.namespace);
        (void)buf_add_char(&key, '/');
        (void)buf_add_str(&key, pod->volumes[i].claim);
        intptr_t n = (intptr_t)map_get(&c->claims, buf_str(&key)) + by;
        assert(n >= 0);
        if (n > 0)
            (void)map_put(&c->claims, buf_str(&key), (void *)n);
        else
            (void)map_del(&c->claims, buf_str(&key));
        buf_fini(&key);
    }
}

uint32_t sched_cache_claim_pods(const struct sched_cache *c, struct str key)
{
    return (uint32_t)(intptr_t)map_get(&c->claims, key);
}

/* ---- pods ---- */

void cache_take_pod(struct sched_cache *c, struct sched_pod *pod)
{
    assert(pod->node_name && !pod->is_done);
    struct sched_object *old = replace(&c->objects[SCHED_POD], &pod->o);
    assert(!old);
    nodes_add_pod(c, pod);
    count_claims(c, pod, 1);
    c->kind_generation[SCHED_POD]++;
}

struct sched_object *cache_drop_pod(struct sched_cache *c, const struct sched_pod *pod)
{
    struct sched_object *o = map_del(&c->objects[SCHED_POD], sched_object_key(&pod->o));
    assert(o == &pod->o);
    assumed_end(c, pod->o.uid);
    assert(c->assumed.n <= c->objects[SCHED_POD].n);
    nodes_remove_pod(c, pod);
    count_claims(c, pod, -1);
    c->kind_generation[SCHED_POD]++;
    return o;
}

/* Called at the end of a change: lets derived state follow now and then. */
static void derived_follow(struct sched_cache *c)
{
    if (!c->derived || ++c->derived_lag < SCHED_DERIVED_LAG)
        return;
    c->derived_lag = 0;
    c->derived->follow(c->derived);
}

/* Does this pod, which is not on a node (any more), end the entry that we have by its name? */
static bool ends(const struct sched_pod *pod, const struct sched_pod *ours)
{
    return pod->is_done || !str_eq(pod->o.uid, ours->o.uid);
}

static int put_pod(struct sched_cache *c, struct sched_pod *pod, struct sched_object **ret_old,
                   struct err *err)
{
    const struct map *pods = &c->objects[SCHED_POD];
    const struct sched_pod *ours = map_get(pods, sched_object_key(&pod->o));
    struct sched_object *old = NULL;
    bool is_on_node = pod->node_name && !pod->is_done;
    if (is_on_node && !ours) {
        int r = cache_check_room(c, SCHED_POD, err);
        if (r < 0)
            return r;
    }
    if (ours && (is_on_node || ends(pod, ours)))
        old = cache_drop_pod(c, ours);
    if (is_on_node)
        cache_take_pod(c, sched_object_ref(pod));
    hand_over(c, old, ret_old);
    derived_follow(c);
    return 0;
}

/* ---- objects from the watch ---- */

int sched_cache_put(struct sched_cache *c, const struct sched_object *o,
                    struct sched_object **ret_old, struct err *err)
{
    struct map *m = &c->objects[o->kind];
    if (o->kind == SCHED_POD)
        return put_pod(c, (struct sched_pod *)o, ret_old, err);
    if (!map_has(m, sched_object_key(o))) {
        int r = cache_check_room(c, o->kind, err);
        if (r < 0)
            return r;
    }
    struct sched_object *old = replace(m, sched_object_ref((void *)o));
    if (o->kind == SCHED_NODE)
        nodes_put(c, sched_node_of(o));
    c->kind_generation[o->kind]++;
    hand_over(c, old, ret_old);
    if (o->kind == SCHED_NODE)
        derived_follow(c);
    return 0;
}

void sched_cache_del(struct sched_cache *c, enum sched_kind kind, struct str namespace,
                     struct str name, struct sched_object **ret_old)
{
    struct sched_object *o = find(c, kind, namespace, name);
    if (ret_old)
        *ret_old = NULL;
    if (!o)
        return;
    if (kind == SCHED_POD) {
        hand_over(c, cache_drop_pod(c, (struct sched_pod *)o), ret_old);
        derived_follow(c);
        return;
    }
    (void)map_del(&c->objects[kind], sched_object_key(o));
    if (kind == SCHED_NODE)
        nodes_del(c, sched_node_of(o));
    c->kind_generation[kind]++;
    hand_over(c, o, ret_old);
    if (kind == SCHED_NODE)
        derived_follow(c);
}
