/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes; see node.h. An invalid value in a node's status counts as absent. */
#include "sched/object/node.h"

#include "base/slab.h"
#include "kube/model/quantity.h"
#include "sched/object/pack.h"

static void node_walk(struct sched_walk *k, struct sched_node *n)
{
    sched_walk_word(k, n->name);
    sched_walk_word(k, n->zone);
    sched_walk_labels(k, &n->labels);
    sched_walk_amounts(k, &n->allocatable);
    sched_walk_array(k, &n->taints, n->n_taints, sizeof(*n->taints));
    for (uint32_t i = 0; i < n->n_taints; i++) {
        sched_walk_word(k, n->taints[i].key);
        sched_walk_word(k, n->taints[i].value);
    }
    sched_walk_array(k, &n->images, n->n_images, sizeof(*n->images));
    for (uint32_t i = 0; i < n->n_images; i++)
        sched_walk_word(k, n->images[i].name);
}

static void node_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_node *n = (struct sched_node *)o;
    node_walk(&(struct sched_walk){ .mode = SCHED_WALK_UNREF, .words = w }, n);
    slab_free(n->block);
}

static void read_taints(struct intern_table *w, struct arena *a, const struct json *list,
                        struct sched_node *n)
{
    static const char *const effects[] = { [SCHED_NO_SCHEDULE] = "NoSchedule",
                                           [SCHED_PREFER_NO_SCHEDULE] = "PreferNoSchedule",
                                           [SCHED_NO_EXECUTE] = "NoExecute" };
    n->taints = SCHED_ARRAY(a, struct sched_taint, json_is(list, JSON_ARRAY) ? list->n : 0);
    json_each (m, list) {
        struct str value = json_get_str(m, "value"), effect = json_get_str(m, "effect");
        size_t i = 0;
        while (i < ARRAY_LEN(effects) && !str_is(effect, effects[i]))
            i++;
        if (i == ARRAY_LEN(effects))
            continue;
        n->taints[n->n_taints++] = (struct sched_taint){
            .key = intern_get(w, json_get_str(m, "key")),
            .value = value.n > 0 ? intern_get(w, value) : NULL,
            .effect = (enum sched_taint_effect)i,
        };
    }
}

static void read_allocatable(struct intern_table *w, struct arena *a, const struct json *list,
                             struct sched_node *n)
{
    struct sched_amounts *to = &n->allocatable;
    to->scalars = SCHED_ARRAY(a, struct sched_scalar, json_is(list, JSON_OBJECT) ? list->n : 0);
    json_each (m, list) {
        struct quantity q;
        if (sched_quantity_nano(sched_quantity_text(m), &q.nano, NULL) < 0 || q.nano < 0)
            q.nano = 0;
        if (str_eq(m->key, STR("cpu")))
            to->milli_cpu = quantity_milli(q);
        else if (str_eq(m->key, STR("memory")))
            to->memory = quantity_value(q);
        else if (str_eq(m->key, STR("ephemeral-storage")))
            to->ephemeral = quantity_value(q);
        else if (str_eq(m->key, STR("pods")))
            n->allowed_pods = (int32_t)MIN(quantity_value(q), INT32_MAX);
        else if (sched_is_scalar(m->key))
            to->scalars[to->n_scalars++] =
                (struct sched_scalar){ intern_get(w, m->key), quantity_value(q) };
    }
    sched_amounts_sort(to);
}

/* An image with its position, so that of two with the same name the first is kept. */
struct placed_image {
    struct sched_image image;
    uint32_t at;
};

static int compare_images(const void *a, const void *b)
{
    const struct placed_image *x = a, *y = b;
    if (x->image.name != y->image.name)
        return x->image.name < y->image.name ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static void read_images(struct intern_table *w, struct arena *a, const struct json *list,
                        struct sched_node *n)
{
    size_t max = 0;
    uint32_t count = 0;
    json_each (m, list) {
        const struct json *names = json_getc(m, "names");
        max += json_is(names, JSON_ARRAY) ? names->n : 0;
    }
    if (max == 0)
        return;
    struct placed_image *all = SCHED_ARRAY(a, struct placed_image, max);
    json_each (m, list) {
        int64_t size = json_int_or(json_getc(m, "sizeBytes"), 0);
        json_each (name, json_getc(m, "names")) {
            all[count].image = (struct sched_image){ intern_get(w, json_str(name)), MAX(size, 0) };
            all[count].at = count;
            count++;
        }
    }
    qsort(all, count, sizeof(*all), compare_images);
    n->images = SCHED_ARRAY(a, struct sched_image, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && all[i].image.name == all[i - 1].image.name)
            intern_unref(w, all[i].image.name);
        else
            n->images[n->n_images++] = all[i].image;
    }
}

static bool label_of(struct intern_table *w, const struct sched_node *n, struct str key,
                     struct str *ret)
{
    const struct intern *word = intern_find(w, key), *value;
    value = word ? sched_label_get(&n->labels, word) : NULL;
    if (value)
        *ret = intern_str(value);
    return value != NULL;
}

/* The zone from the labels used before 1.17 if present, else from the new ones. */
static struct intern *zone_of(struct intern_table *w, struct arena *a, const struct sched_node *n)
{
    struct str zone = STR(""), region = STR("");
    if (!label_of(w, n, STR("failure-domain.beta.kubernetes.io/zone"), &zone))
        (void)label_of(w, n, STR("topology.kubernetes.io/zone"), &zone);
    if (!label_of(w, n, STR("failure-domain.beta.kubernetes.io/region"), &region))
        (void)label_of(w, n, STR("topology.kubernetes.io/region"), &region);
    if (zone.n + region.n == 0)
        return NULL;
    struct str between = STR(":\0:");
    char *text = arena_alloc(a, region.n + between.n + zone.n);
    memcpy(text, region.p, region.n);
    memcpy(text + region.n, between.p, between.n);
    memcpy(text + region.n + between.n, zone.p, zone.n);
    return intern_get(w, str_n(text, region.n + between.n + zone.n));
}

enum { HASH_SEED = 0x6e6f6465 }; /* any constant */

/* A sum of hashes, so that the order does not matter. */
static uint64_t hash_of_conditions(const struct json *conditions)
{
    uint64_t sum = 0;
    json_each (c, conditions)
        sum +=
            str_hash(json_get_str(c, "status"), str_hash(json_get_str(c, "type"), HASH_SEED) + 1);
    return sum;
}

static uint8_t features_of(const struct json *declared)
{
    static const char *const names[] = {
#define FEATURE_NAME(id, name) [SCHED_FEATURE_##id] = (name),
        SCHED_NODE_FEATURES(FEATURE_NAME)
#undef FEATURE_NAME
    };
    uint8_t found = 0;
    json_each (d, declared)
        for (unsigned i = 0; i < ARRAY_LEN(names); i++)
            if (str_is(json_str(d), names[i]))
                found |= (uint8_t)(1 << i);
    return found;
}

static uint64_t hash_of_list(const struct json *list)
{
    uint64_t hash = HASH_SEED;
    json_each (e, list)
        hash = str_hash(json_str(e), hash + 1);
    return hash;
}

static uint64_t hash_of_map(const struct json *map)
{
    uint64_t sum = 0;
    json_each (m, map)
        sum += str_hash(json_str(m), str_hash(m->key, HASH_SEED) + 1);
    return sum;
}

static int read_parts(struct intern_table *w, struct arena *a, const struct json *json,
                      struct sched_node *n, struct err *err)
{
    const struct json *spec = json_getc(json, "spec"), *status = json_getc(json, "status");
    const struct json *meta = json_getc(json, "metadata");
    const struct json *allocatable = json_getc(status, "allocatable");
    n->name = intern_get(w, n->o.name);
    int r = sched_labels_read_in(w, a, json_getc(meta, "labels"), &n->labels, err);
    if (r < 0)
        return r;
    n->zone = zone_of(w, a, n);
    n->is_unschedulable = json_bool(json_getc(spec, "unschedulable"));
    read_taints(w, a, json_getc(spec, "taints"), n);
    if (!json_is(allocatable, JSON_OBJECT)) /* the API server's default */
        allocatable = json_getc(status, "capacity");
    read_allocatable(w, a, allocatable, n);
    read_images(w, a, json_getc(status, "images"), n);
    n->declared_features = features_of(json_getc(status, "declaredFeatures"));
    n->conditions_hash = hash_of_conditions(json_getc(status, "conditions"));
    n->features_hash = hash_of_list(json_getc(status, "declaredFeatures"));
    n->annotations_hash = hash_of_map(json_getc(meta, "annotations"));
    return 0;
}

static int node_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                     struct err *err)
{
    struct sched_node *n = (struct sched_node *)o;
    struct arena a = { 0 };
    int r = read_parts(w, &a, json, n, err);
    if (r >= 0 && a.total_bytes > SCHED_OBJECT_MAX_BYTES)
        r = err_set(err, E_INVALID, "larger than %zu bytes", SCHED_OBJECT_MAX_BYTES);
    struct sched_walk k = { .mode = SCHED_WALK_MEASURE };
    node_walk(&k, n);
    k = (struct sched_walk){ .mode = SCHED_WALK_COPY, .block = slab_alloc(k.bytes + 1) };
    node_walk(&k, n);
    n->block = k.block;
    arena_fini(&a);
    return r;
}

const struct sched_kind_ops sched_node_ops = {
    .size = sizeof(struct sched_node),
    .read = node_read,
    .fini = node_fini,
};
