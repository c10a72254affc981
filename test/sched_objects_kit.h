/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of objects and of the cache: both, filled from short texts. (Plugins: sched_kit.h.)
 *
 * Texts are YAML 1.1, so JSON as well, and a node called n is called false. What they leave out:
 * namespace is "default", uid is the name. What is returned is borrowed until kit_fini(), unless it
 * says otherwise. What goes wrong ends the test.
 */
#pragma once

#include "sched/cache/cache.h"

#include "codec/yaml.h"
#include "test.h"

enum { KIT_PODS_MAX = 512 };

struct kit {
    struct intern_table *words;
    struct sched_cache *cache;
    struct arena arena; /* of texts */
    struct sched_object *pending[KIT_PODS_MAX];
    size_t n_pending;
};

static inline void kit_init(struct kit *k)
{
    *k = (struct kit){ .words = intern_table_new() };
    k->cache = sched_cache_new(k->words);
}

static inline void kit_fini(struct kit *k)
{
    for (size_t i = 0; i < k->n_pending; i++)
        sched_object_unref(k->words, k->pending[i]);
    sched_cache_free(k->cache);
    intern_table_free(k->words); /* aborts if a word is still held */
    arena_fini(&k->arena);
}

static inline struct json *kit_json(struct kit *k, const char *text)
{
    struct json *ret;
    struct err err = { 0 };
    if (yaml_parse(&k->arena, str_of(text), NULL, &ret, &err) < 0)
        TEST_FAIL("%s: %s", err.text, text);
    return ret;
}

static inline struct json *kit_defaulted(struct kit *k, enum sched_kind kind, const char *text)
{
    struct json *o = kit_json(k, text), *meta = json_obj(&k->arena, o, "metadata");
    if (!json_getc(meta, "namespace") && sched_kind_is_namespaced(kind))
        json_set_str(&k->arena, meta, "namespace", STR("default"));
    if (!json_getc(meta, "uid"))
        json_set_str(&k->arena, meta, "uid", json_get_str(meta, "name"));
    return o;
}

/* Given: sched_object_unref(k->words, ...). */
static inline struct sched_object *kit_read(struct kit *k, enum sched_kind kind, const char *text)
{
    struct sched_object *ret;
    struct err err = { 0 };
    if (sched_object_read(k->words, kind, kit_defaulted(k, kind, text), true, &ret, &err) < 0)
        TEST_FAIL("%s: %s", err.text, text);
    return ret;
}

/* The error's text. */
static inline const char *kit_read_error(struct kit *k, enum sched_kind kind, const char *text)
{
    struct sched_object *ret;
    struct err err = { 0 };
    CHECK_ERR(sched_object_read(k->words, kind, kit_defaulted(k, kind, text), true, &ret, &err),
              E_INVALID);
    return arena_strndup(&k->arena, err.text, strlen(err.text));
}

/* Into the cache. */
static inline const void *kit_put(struct kit *k, enum sched_kind kind, const char *text)
{
    struct err err = { 0 };
    struct sched_object *o = kit_read(k, kind, text);
    if (sched_cache_put(k->cache, o, NULL, &err) < 0)
        TEST_FAIL("%s: %s", err.text, text);
    sched_object_unref(k->words, o);
    return o;
}

static inline const struct sched_node_info *kit_node(struct kit *k, const char *text)
{
    const struct sched_node *node = kit_put(k, SCHED_NODE, text);
    return sched_cache_node(k->cache, node->name);
}

/* One of "cpu: 4, memory: 8Gi, pods: 110" with labels "zone: a, disk: ssd" (or ""). */
static inline const struct sched_node_info *kit_node_with(struct kit *k, const char *name,
                                                          const char *allocatable,
                                                          const char *labels)
{
    return kit_node(k, arena_printf(&k->arena,
                                    "{metadata: {name: %s, labels: {%s}}, "
                                    "status: {allocatable: {%s}}}",
                                    name, labels, allocatable));
}

/* A pod that has a nodeName goes into the cache; one that has none is pending. */
static inline const struct sched_pod *kit_pod(struct kit *k, const char *text)
{
    struct sched_object *o = kit_read(k, SCHED_POD, text);
    if (!sched_pod_of(o)->node_name) {
        CHECK(k->n_pending < KIT_PODS_MAX);
        k->pending[k->n_pending++] = o;
        return sched_pod_of(o);
    }
    CHECK_OK(sched_cache_put(k->cache, o, NULL, NULL));
    sched_object_unref(k->words, o);
    return sched_pod_of(o);
}

/* NULL: it is not there. */
static inline const struct sched_node_info *kit_info(struct kit *k, const char *node)
{
    const struct intern *name = intern_find(k->words, str_of(node));
    return name ? sched_cache_node(k->cache, name) : NULL;
}
