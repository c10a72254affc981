/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plugins/volume_book.h"

#include "sched/object/keep.h"

#include <assert.h>

struct promise {
    uint64_t rv; /* of the object that it is based on */
    const void *owner;
    struct sched_claim_ref claim; /* of a volume */
    struct str volume;            /* its name */
    struct str node;              /* of a claim */
};

struct book_class {
    struct pin_index unclaimed;  /* of struct sched_pv */
    struct pin_index capacities; /* of struct sched_csi_capacity */
};

struct volume_book {
    struct sched_framework *f;
    struct map volume_promises; /* by name */
    struct map promised_to;     /* the same by NAMESPACE/NAME of the claim */
    struct map claim_promises;  /* by NAMESPACE/NAME */

    struct map classes; /* by name: struct book_class */
    struct map volumes; /* those in the indexes, by name; references */
    struct map claimed; /* by NAMESPACE/NAME of the claim: struct pin_list */
    bool has_volumes;
    uint64_t volumes_generation;
    struct map capacities; /* by NAMESPACE/NAME; references */
    bool has_capacities;
    uint64_t capacities_generation;
};

enum { KEY_MAX_BYTES = 1024 }; /* names are at most 253 bytes, namespaces 63 */

struct key {
    char text[KEY_MAX_BYTES];
    size_t n;
};
static struct str claim_key(struct key *k, struct str namespace, struct str name)
{
    size_t ns = MIN(namespace.n, (size_t)KEY_MAX_BYTES / 2 - 1),
           n = MIN(name.n, (size_t)KEY_MAX_BYTES / 2);
    memcpy(k->text, namespace.p, ns);
    k->text[ns] = '/';
    memcpy(k->text + ns + 1, name.p, n);
    k->n = ns + 1 + n;
    return str_n(k->text, k->n);
}
static struct str object_key(struct key *k, const struct sched_object *o)
{
    return claim_key(k, o->namespace, o->name);
}

/* ---- promises ---- */

static void promise_free(struct promise *p)
{
    sched_drop(p->claim.namespace);
    sched_drop(p->claim.name);
    sched_drop(p->claim.uid);
    sched_drop(p->volume);
    sched_drop(p->node);
    free(p);
}

static void forget_volume(struct volume_book *b, struct str name)
{
    struct promise *p = map_del(&b->volume_promises, name);
    if (!p)
        return;
    struct key k;
    struct str key = claim_key(&k, p->claim.namespace, p->claim.name);
    if (map_get(&b->promised_to, key) == p)
        map_del(&b->promised_to, key);
    promise_free(p);
}

static void forget_claim(struct volume_book *b, struct str key)
{
    struct promise *p = map_del(&b->claim_promises, key);
    if (p)
        promise_free(p);
}

static const struct promise *volume_promise(const struct volume_book *b, const struct sched_pv *pv)
{
    if (b->volume_promises.n == 0)
        return NULL;
    const struct promise *p = map_get(&b->volume_promises, pv->o.name);
    return p && p->rv == pv->o.rv ? p : NULL;
}

struct sched_claim_ref volume_book_claim(const struct volume_book *b, const struct sched_pv *pv)
{
    const struct promise *p = volume_promise(b, pv);
    return p ? p->claim : pv->claim;
}

bool volume_book_selected_node(const struct volume_book *b, const struct sched_pvc *pvc,
                               struct str *ret)
{
    struct key k;
    const struct promise *p =
        b->claim_promises.n > 0 ? map_get(&b->claim_promises, object_key(&k, &pvc->o)) : NULL;
    bool is_promised = p && p->rv == pvc->o.rv;
    *ret = is_promised ? p->node : pvc->selected_node;
    return is_promised || pvc->has_selected_node;
}

void volume_book_promise_volume(struct volume_book *b, const struct sched_pv *pv,
                                const struct sched_pvc *pvc, const void *owner)
{
    forget_volume(b, pv->o.name);
    struct promise *p = xnew(struct promise);
    *p = (struct promise){
        .rv = pv->o.rv,
        .owner = owner,
        .volume = sched_keep(pv->o.name),
        .claim = { .is_set = true,
                   .namespace = sched_keep(pvc->o.namespace),
                   .name = sched_keep(pvc->o.name),
                   .uid = sched_keep(pvc->o.uid) },
    };
    struct key k;
    map_put(&b->volume_promises, pv->o.name, p);
    map_put(&b->promised_to, object_key(&k, &pvc->o), p);
}

void volume_book_promise_claim(struct volume_book *b, const struct sched_pvc *pvc, struct str node,
                               const void *owner)
{
    struct key k;
    struct str key = object_key(&k, &pvc->o);
    forget_claim(b, key);
    struct promise *p = xnew(struct promise);
    *p = (struct promise){ .rv = pvc->o.rv, .owner = owner, .node = sched_keep(node) };
    map_put(&b->claim_promises, key, p);
}

void volume_book_take_back_volume(struct volume_book *b, const struct sched_pv *pv,
                                  const void *owner)
{
    const struct promise *p = map_get(&b->volume_promises, pv->o.name);
    if (p && p->owner == owner && p->rv == pv->o.rv)
        forget_volume(b, pv->o.name);
}

void volume_book_take_back_claim(struct volume_book *b, const struct sched_pvc *pvc,
                                 const void *owner)
{
    struct key k;
    struct str key = object_key(&k, &pvc->o);
    const struct promise *p = map_get(&b->claim_promises, key);
    if (p && p->owner == owner && p->rv == pvc->o.rv)
        forget_claim(b, key);
}

size_t volume_book_n_promises(const struct volume_book *b)
{
    return b->volume_promises.n + b->claim_promises.n;
}

/* ---- indexes ---- */

static int compare_volumes(const void *a, const void *b)
{
    const struct sched_pv *x = a, *y = b;
    int c = quantity_cmp(x->capacity, y->capacity);
    return c != 0 ? c : str_cmp(x->o.name, y->o.name);
}

static int compare_capacities(const void *a, const void *b)
{
    const struct sched_csi_capacity *x = a, *y = b;
    if (x->limit != y->limit)
        return x->limit > y->limit ? -1 : 1;
    int c = str_cmp(x->o.namespace, y->o.namespace);
    return c != 0 ? c : str_cmp(x->o.name, y->o.name);
}

static struct book_class *class_of(struct volume_book *b, const struct intern *class, bool make)
{
    struct book_class *c = map_get(&b->classes, intern_str(class));
    if (c || !make)
        return c;
    c = xnew(struct book_class);
    pin_index_init(&c->unclaimed, b->f->words, compare_volumes);
    pin_index_init(&c->capacities, b->f->words, compare_capacities);
    map_put(&b->classes, intern_str(class), c);
    return c;
}

static struct pins volume_pins(const struct sched_pv *pv)
{
    struct pins pins = { .everywhere = !pv->has_affinity };
    for (uint32_t i = 0; i < pv->affinity.n; i++) {
        if (!pv->affinity.p[i].matches_nothing)
            pins_add(&pins, &pv->affinity.p[i].labels);
    }
    return pins;
}

static struct pins capacity_pins(const struct sched_csi_capacity *c)
{
    struct pins pins = { 0 };
    pins_add(&pins, &c->nodes);
    return pins;
}

/* Adds a volume to the list of its claim. */
static void claimed_put(struct volume_book *b, const struct sched_pv *pv)
{
    struct key k;
    struct str key = claim_key(&k, pv->claim.namespace, pv->claim.name);
    struct pin_list *list = map_get(&b->claimed, key);
    if (!list) {
        list = xnew(struct pin_list);
        map_put(&b->claimed, key, list);
    }
    vec_push(list, pv);
}

static void claimed_del(struct volume_book *b, const struct sched_pv *pv)
{
    struct key k;
    struct str key = claim_key(&k, pv->claim.namespace, pv->claim.name);
    struct pin_list *list = map_get(&b->claimed, key);
    size_t i = 0;
    assert(list);
    while (i < list->n && list->p[i] != pv)
        i++;
    assert(i < list->n);
    vec_remove(list, i);
    if (list->n > 0)
        return;
    map_del(&b->claimed, key);
    free(list->p);
    free(list);
}

static void volume_del(struct volume_book *b, struct str name)
{
    struct sched_pv *pv = map_del(&b->volumes, name);
    if (!pv)
        return;
    struct pins pins = volume_pins(pv);
    struct book_class *c = class_of(b, pv->class, false);
    assert(c || pv->claim.is_set);
    if (pv->claim.is_set)
        claimed_del(b, pv);
    else
        pin_index_del(&c->unclaimed, &pins, pv);
    sched_object_unref(b->f->words, pv);
}

static void volume_put(struct volume_book *b, const struct sched_pv *pv)
{
    volume_del(b, pv->o.name);
    map_put(&b->volumes, pv->o.name, sched_object_ref((void *)pv));
    struct pins pins = volume_pins(pv);
    if (pv->claim.is_set)
        claimed_put(b, pv);
    else
        pin_index_put(&class_of(b, pv->class, true)->unclaimed, &pins, pv);
}

static void capacity_del(struct volume_book *b, const struct sched_object *o)
{
    struct key k;
    struct sched_csi_capacity *c = map_del(&b->capacities, object_key(&k, o));
    if (!c)
        return;
    struct pins pins = capacity_pins(c);
    struct book_class *class = class_of(b, c->class, false);
    assert(class);
    pin_index_del(&class->capacities, &pins, c);
    sched_object_unref(b->f->words, c);
}

static void capacity_put(struct volume_book *b, const struct sched_csi_capacity *c)
{
    struct key k;
    capacity_del(b, &c->o);
    map_put(&b->capacities, object_key(&k, &c->o), sched_object_ref((void *)c));
    struct pins pins = capacity_pins(c);
    pin_index_put(&class_of(b, c->class, true)->capacities, &pins, c);
}

static void drop_volumes(struct volume_book *b)
{
    map_each (e, &b->volumes)
        sched_object_unref(b->f->words, e->value);
    map_fini(&b->volumes);
    map_each (e, &b->claimed) {
        struct pin_list *list = e->value;
        free(list->p);
        free(list);
    }
    map_fini(&b->claimed);
    map_each (e, &b->classes) {
        struct book_class *c = e->value;
        pin_index_fini(&c->unclaimed);
        pin_index_init(&c->unclaimed, b->f->words, compare_volumes);
    }
    b->has_volumes = false;
}

static void drop_capacities(struct volume_book *b)
{
    map_each (e, &b->classes) {
        struct book_class *c = e->value;
        pin_index_fini(&c->capacities);
        pin_index_init(&c->capacities, b->f->words, compare_capacities);
    }
    map_each (e, &b->capacities)
        sched_object_unref(b->f->words, e->value);
    map_fini(&b->capacities);
    b->has_capacities = false;
}

static void load_volumes(struct volume_book *b)
{
    uint64_t now = sched_cache_kind_generation(b->f->cache, SCHED_PV);
    if (b->has_volumes && b->volumes_generation == now)
        return;
    drop_volumes(b);
    const struct map *all = sched_cache_all(b->f->cache, SCHED_PV);
    map_each (e, all)
        volume_put(b, e->value);
    b->has_volumes = true;
    b->volumes_generation = now;
}

static void load_capacities(struct volume_book *b)
{
    uint64_t now = sched_cache_kind_generation(b->f->cache, SCHED_CSI_CAPACITY);
    if (b->has_capacities && b->capacities_generation == now)
        return;
    drop_capacities(b);
    const struct map *all = sched_cache_all(b->f->cache, SCHED_CSI_CAPACITY);
    map_each (e, all)
        capacity_put(b, e->value);
    b->has_capacities = true;
    b->capacities_generation = now;
}

static void volume_changed(struct volume_book *b, const struct sched_event *event)
{
    const struct sched_object *o = event->after ? event->after : event->before;
    const struct promise *p = map_get(&b->volume_promises, o->name);
    if (p && (!event->after || p->rv != o->rv))
        forget_volume(b, o->name);
    /* Only if the index lacks exactly this one change. */
    uint64_t now = sched_cache_kind_generation(b->f->cache, SCHED_PV);
    if (!b->has_volumes || now != b->volumes_generation + 1)
        return;
    b->volumes_generation = now;
    if (event->after)
        volume_put(b, sched_pv_of(event->after));
    else
        volume_del(b, o->name);
}

static void claim_changed(struct volume_book *b, const struct sched_event *event)
{
    const struct sched_object *o = event->after ? event->after : event->before;
    struct key k;
    struct str key = object_key(&k, o);
    const struct promise *p = map_get(&b->claim_promises, key);
    if (p && (!event->after || p->rv != o->rv))
        forget_claim(b, key);
}

static void capacity_changed(struct volume_book *b, const struct sched_event *event)
{
    uint64_t now = sched_cache_kind_generation(b->f->cache, SCHED_CSI_CAPACITY);
    if (!b->has_capacities || now != b->capacities_generation + 1)
        return;
    b->capacities_generation = now;
    if (event->after)
        capacity_put(b, sched_csi_capacity_of(event->after));
    else
        capacity_del(b, event->before);
}

void volume_book_changed(struct volume_book *b, const struct sched_event *event)
{
    if (!event->before && !event->after)
        return;
    if (event->resource == SCHED_ON_PERSISTENT_VOLUME)
        volume_changed(b, event);
    else if (event->resource == SCHED_ON_PERSISTENT_VOLUME_CLAIM)
        claim_changed(b, event);
    else if (event->resource == SCHED_ON_CSI_STORAGE_CAPACITY)
        capacity_changed(b, event);
}

const struct pin_index *volume_book_unclaimed(struct volume_book *b, const struct intern *class)
{
    load_volumes(b);
    const struct book_class *c = class_of(b, class, false);
    return c ? &c->unclaimed : NULL;
}

/* Compares name and namespace; a volume that names a uid belongs only to that claim. */
static bool is_of_claim(const struct sched_claim_ref *ref, const struct sched_pvc *pvc)
{
    return ref->is_set && str_eq(ref->name, pvc->o.name) &&
           str_eq(ref->namespace, pvc->o.namespace) &&
           (ref->uid.n == 0 || str_eq(ref->uid, pvc->o.uid));
}

const struct sched_pv **volume_book_own(struct volume_book *b, struct arena *a,
                                        const struct sched_pvc *pvc, size_t *ret_n)
{
    load_volumes(b);
    struct key k;
    struct str key = object_key(&k, &pvc->o);
    const struct pin_list *claimed = map_get(&b->claimed, key);
    const struct promise *promised = b->promised_to.n > 0 ? map_get(&b->promised_to, key) : NULL;
    size_t max = (claimed ? claimed->n : 0) + (promised ? 1 : 0), n = 0;
    *ret_n = 0;
    if (max == 0)
        return NULL;
    const struct sched_pv **ret = arena_new_n(a, const struct sched_pv *, max);
    for (size_t i = 0; claimed && i < claimed->n; i++) {
        const struct sched_pv *pv = claimed->p[i];
        struct sched_claim_ref ref = volume_book_claim(b, pv);
        if (pv->class == pvc->class && is_of_claim(&ref, pvc))
            ret[n++] = pv;
    }
    const struct sched_pv *pv = promised ? map_get(&b->volumes, promised->volume) : NULL;
    if (pv && !pv->claim.is_set && pv->class == pvc->class && volume_promise(b, pv) == promised &&
        is_of_claim(&promised->claim, pvc))
        ret[n++] = pv;
    *ret_n = n;
    return ret;
}

const struct pin_index *volume_book_capacities(struct volume_book *b, const struct intern *class)
{
    load_capacities(b);
    const struct book_class *c = class_of(b, class, false);
    return c ? &c->capacities : NULL;
}

struct volume_book *volume_book_new(struct sched_framework *f)
{
    struct volume_book *b = xnew(struct volume_book);
    b->f = f;
    return b;
}

void volume_book_free(struct volume_book *b)
{
    if (!b)
        return;
    drop_volumes(b);
    drop_capacities(b);
    map_each (e, &b->classes) {
        struct book_class *c = e->value;
        pin_index_fini(&c->unclaimed);
        pin_index_fini(&c->capacities);
        free(c);
    }
    map_fini(&b->classes);
    map_each (e, &b->volume_promises)
        promise_free(e->value);
    map_each (e, &b->claim_promises)
        promise_free(e->value);
    map_fini(&b->volume_promises);
    map_fini(&b->promised_to);
    map_fini(&b->claim_promises);
    free(b);
}
