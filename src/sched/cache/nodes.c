/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's nodes, and the lists that contain them. */
#include "sched/cache/internal.h"

#include <assert.h>

static struct node_entry *entry_of(const struct sched_node_info *n)
{
    return container_of((struct sched_node_info *)n, struct node_entry, info);
}

/* ---- by change ---- */

static void unlink_entry(struct sched_cache *c, struct sched_node_info *n)
{
    if (n->newer)
        n->newer->older = n->older;
    else if (c->newest == n)
        c->newest = n->older;
    if (n->older)
        n->older->newer = n->newer;
    else if (c->oldest == n)
        c->oldest = n->newer;
    n->newer = n->older = NULL;
    assert(!c->newest == !c->oldest && (!c->newest || !c->newest->newer));
}

/* Marks the node as changed just now. */
static void touch(struct sched_cache *c, struct sched_node_info *n)
{
    n->generation = ++c->generation;
    if (c->newest == n)
        return;
    unlink_entry(c, n);
    n->older = c->newest;
    if (c->newest)
        c->newest->newer = n;
    else
        c->oldest = n;
    c->newest = n;
    assert(!n->newer && !c->oldest->older);
    assert(!n->older || n->older->generation < n->generation);
}

const struct sched_node_info *sched_cache_newest(const struct sched_cache *c)
{
    return c->newest;
}

/* ---- lists of those with affinity ---- */

static void list_update(node_list *list, const struct sched_node_info *n, uint32_t *at,
                        bool belongs)
{
    if (belongs == (*at > 0))
        return;
    if (belongs) {
        vec_push(list, n);
        *at = (uint32_t)list->n;
    } else {
        assert(*at <= list->n && list->p[*at - 1] == n);
        const struct sched_node_info *last = list->p[--list->n];
        list->p[*at - 1] = last;
        struct node_entry *moved = entry_of(last);
        *(at == &entry_of(n)->in_affinity ? &moved->in_affinity : &moved->in_required_anti) = *at;
        *at = 0;
    }
}

static void lists_update(struct sched_cache *c, struct node_entry *e)
{
    const struct sched_node_info *n = &e->info;
    assert(n->n_with_required_anti <= n->n_with_affinity && n->n_with_affinity <= n->n_pods);
    list_update(&c->with_affinity, n, &e->in_affinity, n->node && n->n_with_affinity > 0);
    list_update(&c->with_required_anti, n, &e->in_required_anti,
                n->node && n->n_with_required_anti > 0);
}

const struct sched_node_info *const *sched_cache_nodes_with_affinity(const struct sched_cache *c,
                                                                     size_t *ret_n)
{
    *ret_n = c->with_affinity.n;
    return c->with_affinity.p;
}

const struct sched_node_info *const *sched_cache_nodes_with_required_anti(
    const struct sched_cache *c, size_t *ret_n)
{
    *ret_n = c->with_required_anti.n;
    return c->with_required_anti.p;
}

/* ---- order ---- */

static struct cache_zone *zone_find(struct node_order *o, const struct intern *key)
{
    vec_each (z, &o->zones)
        if (z->key == key)
            return z;
    return NULL;
}

static void order_add(struct sched_cache *c, struct node_entry *e)
{
    struct node_order *o = c->order;
    struct cache_zone *z = zone_find(o, e->info.node->zone);
    if (!z) {
        vec_push(&o->zones, ((struct cache_zone){ .key = e->info.node->zone }));
        z = &o->zones.p[o->zones.n - 1];
        if (z->key)
            (void)intern_ref(z->key);
    }
    e->zone = z->key;
    vec_push(&z->nodes, &e->info);
    o->is_stale = true;
}

static void order_remove(struct sched_cache *c, struct node_entry *e)
{
    struct node_order *o = c->order;
    struct cache_zone *z = zone_find(o, e->zone);
    size_t i = 0;
    assert(z);
    while (i < z->nodes.n && z->nodes.p[i] != &e->info)
        i++;
    assert(i < z->nodes.n);
    vec_remove(&z->nodes, i);
    if (z->nodes.n == 0) {
        vec_fini(&z->nodes);
        intern_unref(c->words, z->key);
        vec_remove(&o->zones, (size_t)(z - o->zones.p));
    }
    e->zone = NULL;
    o->is_stale = true;
}

static void order_make(struct node_order *o)
{
    size_t left = 0;
    o->nodes.n = 0;
    vec_each (z, &o->zones)
        left += z->nodes.n;
    for (size_t i = 0; left > 0; i++)
        vec_each (z, &o->zones)
            if (i < z->nodes.n) {
                assert(z->nodes.p[i]->node);
                vec_push(&o->nodes, z->nodes.p[i]);
                left--;
            }
    o->is_stale = false;
}

const struct sched_node_info *const *sched_cache_nodes(const struct sched_cache *c, size_t *ret_n)
{
    if (c->order->is_stale)
        order_make(c->order);
    assert(c->order->nodes.n == c->objects[SCHED_NODE].n);
    *ret_n = c->order->nodes.n;
    return c->order->nodes.p;
}

/* ---- entries ---- */

static struct node_entry *entry_get(struct sched_cache *c, struct intern *name)
{
    struct node_entry *e = map_get(&c->entries, intern_str(name));
    if (e)
        return e;
    e = xnew(struct node_entry);
    e->name = intern_ref(name);
    e->info.index = UINT32_MAX;
    (void)map_put(&c->entries, intern_str(name), e);
    return e;
}

static void entry_free(struct sched_cache *c, struct node_entry *e)
{
    unlink_entry(c, &e->info);
    node_info_fini(c->words, &e->info);
    intern_unref(c->words, e->name);
    free(e);
}

/* No node and no pod uses the entry any more. */
static void entry_release(struct sched_cache *c, struct node_entry *e)
{
    if (e->info.node || e->info.n_pods > 0)
        return;
    assert(e->info.index == UINT32_MAX && !e->in_affinity && !e->in_required_anti);
    (void)map_del(&c->entries, intern_str(e->name));
    entry_free(c, e);
}

static void index_take(struct sched_cache *c, struct node_entry *e)
{
    assert(e->info.index == UINT32_MAX);
    if (c->free_indices.n > 0) {
        e->info.index = c->free_indices.p[--c->free_indices.n];
        assert(!c->by_index.p[e->info.index]);
        c->by_index.p[e->info.index] = e;
    } else {
        e->info.index = (uint32_t)c->by_index.n;
        vec_push(&c->by_index, e);
    }
}

static void index_give_back(struct sched_cache *c, struct node_entry *e)
{
    assert(e->info.index < c->by_index.n && c->by_index.p[e->info.index] == e);
    c->by_index.p[e->info.index] = NULL;
    vec_push(&c->free_indices, e->info.index);
    e->info.index = UINT32_MAX;
}

uint32_t sched_cache_nodes_end(const struct sched_cache *c)
{
    return (uint32_t)c->by_index.n;
}

const struct sched_node_info *sched_cache_node(const struct sched_cache *c,
                                               const struct intern *name)
{
    const struct node_entry *e = map_get(&c->entries, intern_str(name));
    return e && e->info.node ? &e->info : NULL;
}

/* ---- adding and removing ---- */

void nodes_add_pod(struct sched_cache *c, const struct sched_pod *pod)
{
    struct node_entry *e = entry_get(c, pod->node_name);
    sched_node_info_add(c->words, &e->info, pod);
    lists_update(c, e);
    touch(c, &e->info);
}

void nodes_remove_pod(struct sched_cache *c, const struct sched_pod *pod)
{
    struct node_entry *e = map_get(&c->entries, intern_str(pod->node_name));
    assert(e);
    bool was_there = node_info_remove_pod(c->words, &e->info, pod);
    assert(was_there);
    lists_update(c, e);
    touch(c, &e->info);
    entry_release(c, e);
}

void nodes_put(struct sched_cache *c, const struct sched_node *node)
{
    struct node_entry *e = entry_get(c, node->name);
    const struct sched_node *before = e->info.node;
    images_change(c, before, node);
    e->info.node = sched_object_ref((void *)node);
    assert(!before == (e->info.index == UINT32_MAX));
    if (!before) {
        index_take(c, e);
        order_add(c, e);
    } else if (e->zone != node->zone) {
        order_remove(c, e);
        order_add(c, e);
    }
    sched_object_unref(c->words, (void *)before);
    lists_update(c, e);
    touch(c, &e->info);
}

void nodes_del(struct sched_cache *c, const struct sched_node *node)
{
    struct node_entry *e = map_get(&c->entries, intern_str(node->name));
    assert(e && e->info.node);
    images_change(c, e->info.node, NULL);
    order_remove(c, e);
    index_give_back(c, e);
    sched_object_unref(c->words, (void *)e->info.node);
    e->info.node = NULL;
    lists_update(c, e);
    touch(c, &e->info);
    entry_release(c, e);
}

void nodes_init(struct sched_cache *c)
{
    c->entries.borrows_keys = true;
    c->order = xnew(struct node_order);
}

void nodes_fini(struct sched_cache *c)
{
    map_each (m, &c->entries)
        entry_free(c, m->value);
    map_fini(&c->entries);
    vec_fini(&c->by_index);
    vec_fini(&c->free_indices);
    vec_fini(&c->with_affinity);
    vec_fini(&c->with_required_anti);
    vec_each (z, &c->order->zones) {
        vec_fini(&z->nodes);
        intern_unref(c->words, z->key);
    }
    vec_fini(&c->order->zones);
    vec_fini(&c->order->nodes);
    free(c->order);
}
