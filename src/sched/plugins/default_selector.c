/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors of default spread constraints; the contract is in default_selector.h. */
#include "sched/plugins/default_selector.h"

#include "base/vec.h"
#include "sched/object/service.h"
#include "sched/object/workload.h"
#include "sched/plugins/alike.h"

struct services { /* the services of a namespace */
    VEC(const struct sched_service *) list;
};

static void memo_clear(struct default_selectors *d, struct default_memo *m)
{
    alike_selector_fini(d->words, &m->selector);
    alike_labels_fini(d->words, &m->labels);
    intern_unref(d->words, m->namespace);
    m->namespace = NULL;
}

static void services_reset(struct default_selectors *d)
{
    map_each (e, &d->services) {
        struct services *s = e->value;
        vec_fini(&s->list);
        free(s);
    }
    map_fini(&d->services);
    d->services = (struct map){ 0 };
    for (size_t i = 0; i < DEFAULT_MEMO; i++)
        memo_clear(d, &d->memo[i]);
}

static void services_sync(struct default_selectors *d, const struct sched_cache *cache)
{
    uint64_t generation = sched_cache_kind_generation(cache, SCHED_SERVICE);

    if (generation == d->services_generation)
        return;
    services_reset(d);
    d->services_generation = generation;
    map_each (e, sched_cache_all(cache, SCHED_SERVICE)) {
        const struct sched_service *service = e->value;
        if (!service->has_selector)
            continue;
        struct services *s = map_get(&d->services, service->o.namespace);
        if (!s) {
            s = xnew(struct services);
            (void)map_put(&d->services, service->o.namespace, s);
        }
        vec_push(&s->list, service);
    }
}

/* Requirements in an arena; one per key for those from maps. */
struct default_selector_wanted {
    struct arena *a;
    struct sched_requirement *p;
    uint32_t n, cap;
};

static void want(struct default_selector_wanted *w, const struct sched_requirement *r)
{
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 8;
        struct sched_requirement *p = arena_new_n(w->a, struct sched_requirement, w->cap);
        if (w->n)
            memcpy(p, w->p, w->n * sizeof(*p));
        w->p = p;
    }
    w->p[w->n++] = *r;
}

/* Merges a map: the value of an existing key is replaced. */
static void want_map(struct default_selector_wanted *w, const struct sched_selector *map)
{
    for (uint32_t i = 0; i < map->n; i++) {
        uint32_t j = 0;
        while (j < w->n && w->p[j].key != map->p[i].key)
            j++;
        if (j < w->n)
            w->p[j] = map->p[i];
        else
            want(w, &map->p[i]);
    }
}

static void want_services(struct default_selectors *d, const struct sched_cache *cache,
                          struct default_selector_wanted *w, const struct sched_pod *pod)
{
    services_sync(d, cache);
    const struct services *s = map_get(&d->services, pod->o.namespace);
    if (!s)
        return;
    uint64_t hash = alike_hash_labels(alike_word(0, pod->namespace_word), &pod->labels);
    struct default_memo *m = &d->memo[hash % DEFAULT_MEMO];
    if (!m->namespace || !alike_pod_labels(&m->labels, m->namespace, pod)) {
        struct default_selector_wanted all = { .a = w->a };
        for (size_t i = 0; i < s->list.n; i++)
            if (sched_selector_matches(&s->list.p[i]->selector, &pod->labels))
                want_map(&all, &s->list.p[i]->selector);
        memo_clear(d, m);
        m->namespace = intern_ref(pod->namespace_word);
        alike_labels_copy(&m->labels, &pod->labels);
        alike_selector_copy(&m->selector, &(struct sched_selector){ .p = all.p, .n = all.n });
    }
    want_map(w, &m->selector);
}

static void want_controller(const struct sched_cache *cache, struct default_selector_wanted *w,
                            const struct sched_pod *pod)
{
    const struct sched_owner *o = &pod->controller;
    bool is_apps = str_is(o->api_version, "apps/v1");
    enum sched_kind kind;

    if (str_is(o->api_version, "v1") && str_is(o->kind, "ReplicationController"))
        kind = SCHED_REPLICATION_CONTROLLER;
    else if (is_apps && str_is(o->kind, "ReplicaSet"))
        kind = SCHED_REPLICA_SET;
    else if (is_apps && str_is(o->kind, "StatefulSet"))
        kind = SCHED_STATEFUL_SET;
    else
        return;
    const struct sched_workload *l = sched_cache_get(cache, kind, pod->o.namespace, o->name);
    if (!l || l->selector.nothing)
        return;
    if (kind == SCHED_REPLICATION_CONTROLLER)
        want_map(w, &l->selector);
    else
        for (uint32_t i = 0; i < l->selector.n; i++)
            want(w, &l->selector.p[i]);
}

struct sched_selector *default_selector(struct default_selectors *d,
                                        const struct sched_cache *cache, struct arena *a,
                                        const struct sched_pod *pod)
{
    struct default_selector_wanted w = { .a = a };
    want_services(d, cache, &w, pod);
    want_controller(cache, &w, pod);
    struct sched_selector *s = arena_new(a, struct sched_selector);
    *s = (struct sched_selector){ .p = w.p, .n = w.n };
    return s;
}

void default_selectors_fini(struct default_selectors *d)
{
    services_reset(d);
}
