/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's cache: nodes with their pods, assumed pods, order, images, claims. */
#include "sched_objects_kit.h"

#include <errno.h>

static const struct sched_pod *get_pod(struct kit *k, const char *name)
{
    return sched_cache_get(k->cache, SCHED_POD, STR("default"), str_of(name));
}

static void del(struct kit *k, enum sched_kind kind, const char *name)
{
    sched_cache_del(k->cache, kind, STR("default"), str_of(name), NULL);
}

/* A pod of one container with a request, a uid, and a node ("" none). */
static const struct sched_pod *pod_with(struct kit *k, const char *name, const char *uid,
                                        const char *node, const char *requests)
{
    return kit_pod(k, arena_printf(&k->arena,
                                   "{metadata: {name: %s, uid: %s}, spec: {nodeName: '%s', "
                                   "containers: [{resources: {requests: {%s}}}]}}",
                                   name, uid, node, requests));
}

static int assume(struct kit *k, const struct sched_pod *pod, const char *node)
{
    struct intern *name = intern_get(k->words, str_of(node));
    int r = sched_cache_assume(k->cache, pod, name, NULL);
    intern_unref(k->words, name);
    return r;
}

TEST(a_bound_pod_counts_on_its_node)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    (void)pod_with(&k, "p", "u1", "a", "cpu: 1, memory: 5, x.io/g: 2");
    (void)pod_with(&k, "q", "u2", "a", "cpu: 500m, x.io/g: 1");
    CHECK_INT(a->n_pods, 2);
    CHECK_INT(a->requested.milli_cpu, 1500);
    CHECK_INT(a->requested.memory, 5);
    CHECK_INT(a->nonzero_memory, 5 + (200 << 20));
    CHECK_INT(sched_amounts_scalar(&a->requested, intern_find(k.words, STR("x.io/g"))), 3);
    CHECK(get_pod(&k, "p") && str_is(get_pod(&k, "q")->o.uid, "u2"));
    del(&k, SCHED_POD, "p");
    CHECK_INT(a->n_pods, 1);
    CHECK_INT(a->requested.milli_cpu, 500);
    del(&k, SCHED_POD, "p");
    del(&k, SCHED_POD, "q");
    CHECK(a->n_pods == 0 && a->requested.milli_cpu == 0 && a->requested.n_scalars == 0);
    kit_fini(&k);
}

TEST(a_pod_that_is_done_or_unbound_does_not_count)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    (void)pod_with(&k, "p", "u1", "a", "cpu: 1");
    struct sched_object *done =
        kit_read(&k, SCHED_POD,
                 "{metadata: {name: p, uid: u1}, spec: {nodeName: a}, status: {phase: "
                 "Succeeded}}");
    struct sched_object *old;
    CHECK_OK(sched_cache_put(k.cache, done, &old, NULL));
    CHECK(old && str_is(old->uid, "u1") && a->n_pods == 0 && !get_pod(&k, "p"));
    sched_object_unref(k.words, old);
    CHECK_OK(sched_cache_put(k.cache, done, &old, NULL));
    CHECK(!old && a->n_pods == 0);
    const struct sched_pod *pending = pod_with(&k, "q", "u2", "", "cpu: 1");
    CHECK_OK(sched_cache_put(k.cache, &pending->o, &old, NULL));
    CHECK(!old && !get_pod(&k, "q"));
    sched_object_unref(k.words, done);
    kit_fini(&k);
}

TEST(a_name_that_is_used_again_is_another_pod)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    const struct sched_node_info *b = kit_node_with(&k, "b", "cpu: 4", "");
    (void)pod_with(&k, "p", "u1", "a", "cpu: 1");
    (void)pod_with(&k, "p", "u2", "b", "cpu: 2");
    CHECK(a->n_pods == 0 && b->n_pods == 1 && b->requested.milli_cpu == 2000);
    /* Its successor waits: the one we had is no more. */
    const struct sched_pod *pending = pod_with(&k, "p", "u3", "", "cpu: 1");
    CHECK_OK(sched_cache_put(k.cache, &pending->o, NULL, NULL));
    CHECK(b->n_pods == 0 && !get_pod(&k, "p"));
    kit_fini(&k);
}

TEST(an_assumed_pod_is_confirmed_where_it_was_assumed)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    const struct sched_pod *p = pod_with(&k, "p", "u1", "", "cpu: 1");
    CHECK_OK(assume(&k, p, "a"));
    CHECK_ERR(assume(&k, p, "a"), -EEXIST);
    CHECK(sched_cache_is_assumed(k.cache, STR("u1")) && sched_cache_n_assumed(k.cache) == 1);
    CHECK(a->n_pods == 1 && a->requested.milli_cpu == 1000 && a->pods[0] != p);
    CHECK(str_is(intern_str(get_pod(&k, "p")->node_name), "a"));
    /* An update of the pod, sent before it was bound, changes nothing. */
    CHECK_OK(sched_cache_put(k.cache, &p->o, NULL, NULL));
    CHECK(sched_cache_is_assumed(k.cache, STR("u1")) && a->n_pods == 1);
    const struct sched_pod *bound = pod_with(&k, "p", "u1", "a", "cpu: 1");
    CHECK(!sched_cache_is_assumed(k.cache, STR("u1")) && a->n_pods == 1 && a->pods[0] == bound);
    sched_cache_forget(k.cache, STR("u1")); /* too late: it is there */
    CHECK_INT(a->n_pods, 1);
    CHECK_ERR(assume(&k, p, "a"), -EEXIST);
    kit_fini(&k);
}

TEST(an_assumed_pod_may_turn_up_elsewhere)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    const struct sched_node_info *b = kit_node_with(&k, "b", "cpu: 4", "");
    CHECK_OK(assume(&k, pod_with(&k, "p", "u1", "", "cpu: 1"), "a"));
    (void)pod_with(&k, "p", "u1", "b", "cpu: 1");
    CHECK(a->n_pods == 0 && b->n_pods == 1 && sched_cache_n_assumed(k.cache) == 0);
    kit_fini(&k);
}

TEST(a_forgotten_pod_may_be_confirmed_after_all)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    const struct sched_pod *p = pod_with(&k, "p", "u1", "", "cpu: 1");
    CHECK_OK(assume(&k, p, "a"));
    sched_cache_forget(k.cache, STR("u1"));
    sched_cache_forget(k.cache, STR("u1"));
    CHECK(a->n_pods == 0 && !get_pod(&k, "p"));
    /* The answer to the binding was lost, and it was done. */
    (void)pod_with(&k, "p", "u1", "a", "cpu: 1");
    CHECK_INT(a->n_pods, 1);
    kit_fini(&k);
}

TEST(a_binding_that_was_acknowledged_is_not_forgotten)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    CHECK_OK(assume(&k, pod_with(&k, "p", "u1", "", "cpu: 1"), "a"));
    sched_cache_binding_done(k.cache, STR("u1"));
    sched_cache_forget(k.cache, STR("u1"));
    CHECK_INT(a->n_pods, 1);
    sched_cache_binding_done(k.cache, STR("u2")); /* nobody */
    kit_fini(&k);
}

TEST(a_pod_that_is_deleted_while_assumed_is_gone)
{
    struct kit k;
    kit_init(&k);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    const struct sched_pod *p = pod_with(&k, "p", "u1", "", "cpu: 1");
    CHECK_OK(assume(&k, p, "a"));
    del(&k, SCHED_POD, "p");
    CHECK(a->n_pods == 0 && sched_cache_n_assumed(k.cache) == 0);
    sched_cache_binding_done(k.cache, STR("u1"));
    sched_cache_forget(k.cache, STR("u1"));
    /* And again under its name. */
    CHECK_OK(assume(&k, pod_with(&k, "p", "u2", "", "cpu: 2"), "a"));
    CHECK_INT(a->requested.milli_cpu, 2000);
    kit_fini(&k);
}

TEST(pods_wait_for_a_node_that_nobody_knows)
{
    struct kit k;
    kit_init(&k);
    size_t n;
    (void)pod_with(&k, "p", "u1", "a", "cpu: 1");
    CHECK(!kit_info(&k, "a") && sched_cache_nodes_end(k.cache) == 0);
    (void)sched_cache_nodes(k.cache, &n);
    CHECK_INT(n, 0);
    const struct sched_node_info *a = kit_node_with(&k, "a", "cpu: 4", "");
    CHECK(a->n_pods == 1 && a->index == 0);
    del(&k, SCHED_NODE, "a");
    CHECK(!kit_info(&k, "a") && sched_cache_newest(k.cache) == a && !a->node);
    CHECK_INT(a->index, UINT32_MAX);
    CHECK(get_pod(&k, "p"));
    CHECK(kit_node_with(&k, "a", "cpu: 2", "") == a);
    CHECK_INT(a->n_pods, 1);
    del(&k, SCHED_NODE, "a");
    del(&k, SCHED_POD, "p");
    CHECK(!sched_cache_newest(k.cache));
    kit_fini(&k);
}

static const char *order_of(struct kit *k)
{
    size_t n;
    const struct sched_node_info *const *nodes = sched_cache_nodes(k->cache, &n);
    const char *text = "";
    for (size_t i = 0; i < n; i++)
        text = arena_printf(&k->arena, "%s%s%s", text, i ? " " : "", nodes[i]->node->name->text);
    return text;
}
#define CHECK_ORDER(k, want)                                                                       \
    do {                                                                                           \
        if (strcmp(order_of(k), (want)) != 0)                                                      \
            TEST_FAIL("order \"%s\", expected \"%s\"", order_of(k), (want));                       \
    } while (0)

static void node_in(struct kit *k, const char *name, const char *zone)
{
    (void)kit_node_with(
        k, name, "cpu: 1",
        arena_printf(&k->arena, "%s%s", *zone ? "topology.kubernetes.io/zone: " : "", zone));
}

TEST(nodes_stand_zone_by_zone_in_turns)
{
    struct kit k;
    kit_init(&k);
    CHECK_ORDER(&k, "");
    node_in(&k, "a1", "a");
    node_in(&k, "a2", "a");
    node_in(&k, "a3", "a");
    node_in(&k, "b1", "b");
    node_in(&k, "x1", "");
    node_in(&k, "b2", "b");
    CHECK_ORDER(&k, "a1 b1 x1 a2 b2 a3");
    size_t n;
    const void *list = sched_cache_nodes(k.cache, &n);
    node_in(&k, "a2", "a"); /* a heartbeat */
    CHECK(sched_cache_nodes(k.cache, &n) == list);
    CHECK_ORDER(&k, "a1 b1 x1 a2 b2 a3");
    node_in(&k, "a1", "b");
    CHECK_ORDER(&k, "a2 b1 x1 a3 b2 a1");
    del(&k, SCHED_NODE, "x1");
    CHECK_ORDER(&k, "a2 b1 a3 b2 a1");
    node_in(&k, "x1", "");
    node_in(&k, "c1", "c");
    CHECK_ORDER(&k, "a2 b1 x1 c1 a3 b2 a1");
    kit_fini(&k);
}

TEST(an_index_is_used_again_after_its_node_has_gone)
{
    struct kit k;
    kit_init(&k);
    node_in(&k, "a", "");
    node_in(&k, "b", "");
    CHECK_INT(kit_info(&k, "b")->index, 1);
    del(&k, SCHED_NODE, "a");
    node_in(&k, "c", "");
    CHECK_INT(kit_info(&k, "c")->index, 0);
    CHECK_INT(sched_cache_nodes_end(k.cache), 2);
    kit_fini(&k);
}

TEST(what_changed_last_stands_in_front)
{
    struct kit k;
    kit_init(&k);
    node_in(&k, "a", "");
    node_in(&k, "b", "");
    node_in(&k, "c", "");
    const struct sched_node_info *a = kit_info(&k, "a"), *c = kit_info(&k, "c");
    CHECK(sched_cache_newest(k.cache) == c && !c->newer && c->older->older == a && !a->older);
    uint64_t before = c->generation;
    (void)pod_with(&k, "p", "u1", "a", "cpu: 1");
    CHECK(sched_cache_newest(k.cache) == a && a->older == c && c->newer == a);
    CHECK(a->generation > before && c->generation == before);
    uint64_t nodes = sched_cache_kind_generation(k.cache, SCHED_NODE);
    del(&k, SCHED_NODE, "c");
    CHECK(sched_cache_kind_generation(k.cache, SCHED_NODE) > nodes);
    CHECK(str_is(intern_str(a->older->node->name), "b"));
    kit_fini(&k);
}

/* ---- affinity ---- */

static const char term[] =
    "IgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}, weight: 1, podAffinityTerm: "
    "{topologyKey: zone}}]";

static void pod_with_affinity(struct kit *k, const char *name, const char *kind, const char *when,
                              const char *node)
{
    (void)kit_pod(k, arena_printf(&k->arena,
                                  "{metadata: {name: %s}, spec: {nodeName: %s, affinity: {%s: "
                                  "{%sDuringScheduling%s}}}}",
                                  name, node, kind, when, term));
}

static void check_parts(const struct sched_node_info *n)
{
    CHECK(n->n_with_required_anti <= n->n_with_affinity && n->n_with_affinity <= n->n_pods);
    for (uint32_t i = 0; i < n->n_pods; i++) {
        const struct sched_pod *p = n->pods[i];
        bool any = p->required_anti.n + p->preferred_anti.n + p->required_affinity.n +
                       p->preferred_affinity.n >
                   0;
        CHECK_INT(p->required_anti.n > 0, i < n->n_with_required_anti);
        CHECK_INT(any, i < n->n_with_affinity);
    }
}

TEST(pods_with_affinity_stand_in_front_and_their_nodes_in_lists)
{
    struct kit k;
    kit_init(&k);
    size_t n;
    node_in(&k, "a", "");
    node_in(&k, "b", "");
    const struct sched_node_info *a = kit_info(&k, "a"), *b = kit_info(&k, "b");
    (void)pod_with(&k, "p1", "u1", "a", "");
    (void)pod_with(&k, "p2", "u2", "a", "");
    pod_with_affinity(&k, "f1", "podAffinity", "preferred", "a");
    pod_with_affinity(&k, "r1", "podAntiAffinity", "required", "a");
    pod_with_affinity(&k, "f2", "podAffinity", "required", "b");
    CHECK(a->n_pods == 4 && a->n_with_affinity == 2 && a->n_with_required_anti == 1);
    check_parts(a);
    (void)sched_cache_nodes_with_affinity(k.cache, &n);
    CHECK_INT(n, 2);
    CHECK(sched_cache_nodes_with_required_anti(k.cache, &n)[0] == a && n == 1);
    del(&k, SCHED_POD, "r1");
    check_parts(a);
    (void)sched_cache_nodes_with_required_anti(k.cache, &n);
    CHECK_INT(n, 0);
    del(&k, SCHED_POD, "f1");
    CHECK(sched_cache_nodes_with_affinity(k.cache, &n)[0] == b && n == 1);
    del(&k, SCHED_NODE, "b"); /* pods on it wait, and are nobody's neighbours */
    (void)sched_cache_nodes_with_affinity(k.cache, &n);
    CHECK_INT(n, 0);
    node_in(&k, "b", "");
    (void)sched_cache_nodes_with_affinity(k.cache, &n);
    CHECK_INT(n, 1);
    kit_fini(&k);
}

/* ---- ports, images, claims ---- */

static void pod_with_port(struct kit *k, const char *name, const char *port)
{
    (void)kit_pod(k, arena_printf(&k->arena,
                                  "{metadata: {name: %s}, spec: {nodeName: a, containers: "
                                  "[{ports: [{%s}]}]}}",
                                  name, port));
}

static bool is_used(struct kit *k, const char *port)
{
    const struct sched_pod *p = kit_pod(
        k, arena_printf(&k->arena, "{metadata: {name: q}, spec: {containers: [{ports: [{%s}]}]}}",
                        port));
    return sched_node_info_port_is_used(kit_info(k, "a"), &p->ports[0]);
}

TEST(a_port_is_taken_for_one_address_or_for_all)
{
    struct kit k;
    kit_init(&k);
    node_in(&k, "a", "");
    pod_with_port(&k, "p1", "hostPort: 80");
    pod_with_port(&k, "p2", "hostPort: 81, hostIP: 10.0.0.1, protocol: UDP");
    CHECK(is_used(&k, "hostPort: 80") && is_used(&k, "hostPort: 80, hostIP: 10.0.0.1"));
    CHECK(!is_used(&k, "hostPort: 80, protocol: UDP") && !is_used(&k, "hostPort: 82"));
    CHECK(is_used(&k, "hostPort: 81, protocol: UDP"));
    CHECK(is_used(&k, "hostPort: 81, protocol: UDP, hostIP: 10.0.0.1"));
    CHECK(!is_used(&k, "hostPort: 81, protocol: UDP, hostIP: 10.0.0.2"));
    pod_with_port(&k, "p3", "hostPort: 80");
    del(&k, SCHED_POD, "p1");
    CHECK(is_used(&k, "hostPort: 80"));
    del(&k, SCHED_POD, "p3");
    CHECK(!is_used(&k, "hostPort: 80"));
    kit_fini(&k);
}

static void node_with_images(struct kit *k, const char *name, const char *images)
{
    (void)kit_node(
        k, arena_printf(&k->arena, "{metadata: {name: %s}, status: {images: [%s]}}", name, images));
}

static uint32_t image_nodes(struct kit *k, const char *image, int64_t *ret_size)
{
    const struct intern *w = intern_find(k->words, str_of(image));
    return w ? sched_cache_image_nodes(k->cache, w, ret_size) : 0;
}

TEST(images_are_counted_by_node)
{
    struct kit k;
    kit_init(&k);
    int64_t size = 0;
    node_with_images(&k, "a", "{names: ['x:1', 'x@sha256:1', 'x:1'], sizeBytes: 10}");
    node_with_images(&k, "b", "{names: ['x:1'], sizeBytes: 20}, {names: ['z:1'], sizeBytes: 5}");
    CHECK_INT(image_nodes(&k, "x:1", &size), 2);
    CHECK_INT(size, 10); /* whoever told first */
    CHECK_INT(image_nodes(&k, "x@sha256:1", &size), 1);
    node_with_images(&k, "a", "");
    CHECK_INT(image_nodes(&k, "x:1", &size), 1);
    CHECK_INT(image_nodes(&k, "x@sha256:1", NULL), 0);
    del(&k, SCHED_NODE, "b");
    CHECK_INT(image_nodes(&k, "z:1", NULL), 0);
    kit_fini(&k);
}

TEST(claims_are_counted_by_pod)
{
    struct kit k;
    kit_init(&k);
    static const char with_claim[] =
        "{metadata: {name: %s}, spec: {nodeName: %s, volumes: [{name: v, persistentVolumeClaim: "
        "{claimName: data}}, {name: e, ephemeral: {}}]}}";
    (void)kit_pod(&k, arena_printf(&k.arena, with_claim, "p", "a"));
    CHECK_OK(assume(&k, kit_pod(&k, arena_printf(&k.arena, with_claim, "q", "''")), "b"));
    CHECK_INT(sched_cache_claim_pods(k.cache, STR("default/data")), 2);
    CHECK_INT(sched_cache_claim_pods(k.cache, STR("default/p-e")), 0);
    sched_cache_forget(k.cache, STR("q"));
    CHECK_INT(sched_cache_claim_pods(k.cache, STR("default/data")), 1);
    del(&k, SCHED_POD, "p");
    CHECK_INT(sched_cache_claim_pods(k.cache, STR("default/data")), 0);
    kit_fini(&k);
}

TEST(sums_that_overflow_come_back)
{
    struct kit k;
    kit_init(&k);
    node_in(&k, "a", "");
    const struct sched_node_info *a = kit_info(&k, "a");
    (void)pod_with(&k, "p1", "u1", "a", "cpu: 1, memory: 7E, x.io/g: 7E");
    (void)pod_with(&k, "p2", "u2", "a", "cpu: 2, memory: 7E, x.io/g: 7E");
    (void)pod_with(&k, "p3", "u3", "a", "cpu: 3, memory: 3, x.io/g: 3");
    CHECK_INT(a->requested.memory, INT64_MAX);
    del(&k, SCHED_POD, "p1");
    del(&k, SCHED_POD, "p2");
    CHECK(a->requested.memory == 3 && a->requested.milli_cpu == 3000);
    CHECK_INT(sched_amounts_scalar(&a->requested, intern_find(k.words, STR("x.io/g"))), 3);
    kit_fini(&k);
}

/* ---- other kinds, limits, copies ---- */

TEST(objects_of_other_kinds_are_there_by_name)
{
    struct kit k;
    kit_init(&k);
    const void *s = kit_put(&k, SCHED_SERVICE, "{metadata: {name: s}, spec: {selector: {a: b}}}");
    CHECK(sched_cache_get(k.cache, SCHED_SERVICE, STR("default"), STR("s")) == s);
    CHECK(!sched_cache_get(k.cache, SCHED_SERVICE, STR("other"), STR("s")));
    uint64_t g = sched_cache_kind_generation(k.cache, SCHED_SERVICE);
    const void *newer = kit_put(&k, SCHED_SERVICE, "{metadata: {name: s}}");
    CHECK(newer != s && sched_cache_all(k.cache, SCHED_SERVICE)->n == 1);
    CHECK(sched_cache_kind_generation(k.cache, SCHED_SERVICE) > g);
    struct sched_object *old;
    sched_cache_del(k.cache, SCHED_SERVICE, STR("default"), STR("s"), &old);
    CHECK(old == newer && !sched_cache_get(k.cache, SCHED_SERVICE, STR("default"), STR("s")));
    sched_object_unref(k.words, old);
    sched_cache_del(k.cache, SCHED_SERVICE, STR("default"), STR("s"), &old);
    CHECK(!old);
    (void)kit_put(&k, SCHED_NAMESPACE, "{metadata: {name: ns}}");
    CHECK(sched_cache_get(k.cache, SCHED_NAMESPACE, STR(""), STR("ns")));
    CHECK(sched_cache_get(k.cache, SCHED_NAMESPACE, STR("ignored"), STR("ns")));
    kit_fini(&k);
}

static int put_text(struct kit *k, enum sched_kind kind, const char *text)
{
    struct sched_object *o = kit_read(k, kind, text);
    int r = sched_cache_put(k->cache, o, NULL, NULL);
    sched_object_unref(k->words, o);
    return r;
}

TEST(there_are_only_so_many)
{
    struct kit k;
    kit_init(&k);
    sched_cache_limit(k.cache, &(struct sched_cache_limits){ .nodes = 2, .pods = 3, .objects = 1 });
    node_in(&k, "a", "");
    node_in(&k, "b", "");
    CHECK_ERR(put_text(&k, SCHED_NODE, "{metadata: {name: c}}"), E_LIMIT);
    CHECK_OK(put_text(&k, SCHED_NODE, "{metadata: {name: b}}")); /* it may change */
    CHECK(!kit_info(&k, "c"));
    (void)pod_with(&k, "p1", "u1", "a", "");
    (void)pod_with(&k, "p2", "u2", "a", "");
    const struct sched_pod *waiting[] = { pod_with(&k, "p3", "u3", "", ""),
                                          pod_with(&k, "p4", "u4", "", "") };
    CHECK_OK(assume(&k, waiting[0], "a"));
    CHECK_ERR(assume(&k, waiting[1], "a"), E_LIMIT);
    CHECK_ERR(put_text(&k, SCHED_POD, "{metadata: {name: p5}, spec: {nodeName: a}}"), E_LIMIT);
    CHECK_OK(put_text(&k, SCHED_POD, "{metadata: {name: p1, uid: u1}, spec: {nodeName: b}}"));
    CHECK_OK(put_text(&k, SCHED_SERVICE, "{metadata: {name: s}}"));
    CHECK_ERR(put_text(&k, SCHED_SERVICE, "{metadata: {name: t}}"), E_LIMIT);
    del(&k, SCHED_POD, "p2");
    CHECK_OK(assume(&k, waiting[1], "a"));
    size_t n;
    (void)sched_cache_nodes(k.cache, &n);
    CHECK_INT(n, 2);
    kit_fini(&k);
}

TEST(a_copy_of_a_node_may_be_changed)
{
    struct kit k;
    kit_init(&k);
    node_in(&k, "a", "");
    const struct sched_node_info *a = kit_info(&k, "a");
    (void)pod_with(&k, "p1", "u1", "a", "cpu: 1, x.io/g: 1");
    pod_with_affinity(&k, "f1", "podAntiAffinity", "required", "a");
    pod_with_port(&k, "p2", "hostPort: 80");
    struct sched_node_info *c = sched_node_info_clone(k.words, a);
    CHECK(sched_node_info_remove(k.words, c, STR("u1")));
    CHECK(!sched_node_info_remove(k.words, c, STR("u1")));
    CHECK(sched_node_info_remove(k.words, c, STR("p2")));
    sched_node_info_add(k.words, c, pod_with(&k, "p3", "u3", "", "cpu: 5"));
    check_parts(c);
    CHECK(c->n_pods == 2 && c->requested.milli_cpu == 5000 && c->n_ports == 0);
    CHECK(a->n_pods == 3 && a->requested.milli_cpu == 1000 && a->n_ports == 1);
    del(&k, SCHED_NODE, "a");
    del(&k, SCHED_POD, "f1");
    CHECK(c->node && str_is(c->pods[0]->o.name, "f1"));
    sched_node_info_free(k.words, c);
    kit_fini(&k);
}

/* ---- all together, beside sums made anew ---- */

static void check_sums(struct kit *k)
{
    size_t n_nodes, n_pods, seen = 0;
    sched_cache_count(k->cache, &n_nodes, &n_pods);
    uint64_t last = UINT64_MAX;
    for (const struct sched_node_info *n = sched_cache_newest(k->cache); n; n = n->older) {
        int64_t cpu = 0;
        for (uint32_t i = 0; i < n->n_pods; i++)
            cpu += n->pods[i]->requests.milli_cpu;
        CHECK_INT(cpu, n->requested.milli_cpu);
        CHECK(n->generation < last && (n->node || n->n_pods > 0));
        check_parts(n);
        last = n->generation;
        seen += n->n_pods;
    }
    CHECK_INT(seen, n_pods);
    (void)sched_cache_nodes(k->cache, &seen);
    CHECK_INT(seen, n_nodes);
}

TEST(sums_hold_whatever_happens)
{
    struct kit k;
    kit_init(&k);
    char name[8], uid[8], node[8], cpu[24];
    for (int step = 0; step < 4000; step++) {
        unsigned i = (unsigned)test_random_below(40);
        (void)snprintf(name, sizeof name, "p%u", i);
        (void)snprintf(uid, sizeof uid, "u%u%c", i, test_random_below(8) ? 'a' : 'b');
        (void)snprintf(node, sizeof node, "m%u", (unsigned)test_random_below(6));
        (void)snprintf(cpu, sizeof cpu, "cpu: %um", (unsigned)test_random_below(900));
        switch (test_random_below(8)) {
        case 0:
            node_in(&k, node, test_random_below(2) ? "a" : "b");
            break;
        case 1:
            if (test_random_below(3) == 0)
                del(&k, SCHED_NODE, node);
            break;
        case 2:
            del(&k, SCHED_POD, name);
            break;
        case 3:
            sched_cache_forget(k.cache, str_of(uid));
            break;
        case 4:
            if (k.n_pending < KIT_PODS_MAX)
                (void)assume(&k, pod_with(&k, name, uid, "", cpu), node);
            break;
        case 5:
            pod_with_affinity(&k, name, "podAntiAffinity",
                              test_random_below(2) ? "required" : "preferred", node);
            break;
        default:
            (void)pod_with(&k, name, uid, node, cpu);
        }
        if (step % 16 == 0)
            check_sums(&k);
    }
    check_sums(&k);
    kit_fini(&k);
}

TEST_MAIN
