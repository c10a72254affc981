/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that claims to be an object the scheduler knows: the first byte says of which kind. */
#include "fuzz.h"

#include "sched/cache/cache.h"

/* What was read is put in, cloned, matched with itself, and taken out again. */
static void use(struct intern_table *w, struct sched_cache *c, struct sched_object *o)
{
    struct sched_object *old;
    FUZZ_CHECK(sched_cache_put(c, o, &old, NULL) >= 0 && !old);
    if (o->kind == SCHED_POD) {
        const struct sched_pod *p = sched_pod_of(o);
        struct intern *node = intern_get(w, STR("node"));
        struct sched_pod *clone = sched_pod_clone(w, p, node);
        FUZZ_CHECK(str_eq(sched_object_key(&clone->o), sched_object_key(o)));
        FUZZ_CHECK(sched_labels_equal(&clone->labels, &p->labels));
        FUZZ_CHECK(sched_selector_matches(&clone->node_selector, &clone->labels) ==
                   sched_selector_matches(&p->node_selector, &p->labels));
        FUZZ_CHECK(p->requests.milli_cpu >= 0 && p->nonzero_memory >= 0);
        if (!p->node_name || p->is_done)
            FUZZ_CHECK(sched_cache_assume(c, p, node, NULL) >= 0);
        sched_cache_forget(c, o->uid);
        sched_object_unref(w, clone);
        intern_unref(w, node);
    }
    sched_cache_del(c, o->kind, o->namespace, o->name, NULL);
    size_t nodes, pods;
    sched_cache_count(c, &nodes, &pods);
    FUZZ_CHECK(nodes == 0 && pods == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct arena a = { .max_bytes = 32 << 20 };
    struct json *json;
    struct sched_object *o;
    struct err err = { 0 };
    if (n == 0)
        return 0;
    struct intern_table *w = intern_table_new();
    struct sched_cache *c = sched_cache_new(w);
    if (json_parse(&a, str_n(data + 1, n - 1), NULL, &json, NULL) >= 0) {
        int r = sched_object_read(w, (enum sched_kind)(data[0] % SCHED_KIND_COUNT), json, true, &o,
                                  &err);
        if (r >= 0) {
            use(w, c, o);
            sched_object_unref(w, o);
        } else {
            FUZZ_CHECK(err.text[0]);
        }
    }
    sched_cache_free(c);
    intern_table_free(w); /* aborts if a word was left */
    arena_fini(&a);
    return 0;
}
