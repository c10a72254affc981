/* SPDX-License-Identifier: Apache-2.0 */
/* BREAK's plugins on a cluster whose nodes tell of themselves (docs/internals/scheduler.md). */
#include "base/clock.h"
#include "sched/object/node_image_state.h"
#include "sched_kit.h"
#include "test.h"

#define MIB ((int64_t)1 << 20)

static void check_text(const char *what, const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        TEST_FAIL("%s: \"%s\", expected \"%s\"", what, got, want);
}

#define WITH_KIT(k)                                                                                \
    scoped(kit_fini) struct kit k;                                                                 \
    kit_init(&k)

/* How long ago, as a time of the kit's clock. */
static const char *ago(struct kit *k, int64_t ms)
{
    char text[RFC3339_MAX];
    rfc3339_format((k->wall_ms - ms) / 1000, text);
    return arena_strndup(&k->arena, text, strlen(text));
}

static void put_state(struct kit *k, const char *node, const char *spec)
{
    kit_put(k, SCHED_NODE_IMAGE_STATE,
            "{'metadata': {'name': '%s'}, 'spec': {'reportedAt': '%s', %s}}", node, ago(k, 1000),
            spec);
}

static void put_network(struct kit *k, const char *node, int64_t uplink, int64_t rtt_us,
                        int64_t age_ms)
{
    const char *text = arena_printf(&k->arena,
                                    "'network': {'measuredAt': '%s', 'uplinkBitsPerSecond': %lld, "
                                    "'rttMicroseconds': %lld}",
                                    ago(k, age_ms), (long long)uplink, (long long)rtt_us);
    put_state(k, node, text);
}

/* ---- the object ---- */

TEST(a_set_of_layers_is_read_and_asked)
{
    WITH_KIT(k);
    struct sched_object *o =
        kit_read(&k, SCHED_NODE_IMAGE_STATE,
                 "{'metadata': {'name': 'n'}, 'spec': {'layers': "
                 "{'generation': 7, 'prefixes': 'AAAAAAABAAAAAAAC//8AAAAA'}}}");
    const struct sched_node_image_state *s = sched_node_image_state_of(o);
    CHECK_INT(s->n_layers, 3);
    CHECK_INT(s->layers_generation, 7);
    CHECK(sched_node_image_state_has(s, 1));
    CHECK(sched_node_image_state_has(s, 2));
    CHECK(sched_node_image_state_has(s, 0xffff00000000));
    CHECK(!sched_node_image_state_has(s, 3));
    CHECK(!sched_node_image_state_has(s, 0));
    uint64_t prefix;
    CHECK_OK(sched_layer_prefix(STR("sha256:ffff00000000"), &prefix, NULL));
    CHECK(prefix == 0xffff00000000);
    CHECK_ERR(sched_layer_prefix(STR("sha256:ffff0000"), &prefix, NULL), E_INVALID);
    CHECK_ERR(sched_layer_prefix(STR("ffff00000000"), &prefix, NULL), E_INVALID);
    CHECK_ERR(sched_layer_prefix(STR("sha256:gfff00000000"), &prefix, NULL), E_INVALID);
}

TEST(sets_of_any_kind_are_searched_right)
{
    enum { N = 3000 };
    uint64_t *prefixes = xnew_n(uint64_t, N);
    for (int kind = 0; kind < 3; kind++) {
        for (uint64_t i = 0; i < N; i++) /* even, crowded at an end, at the other */
            prefixes[i] = kind == 0   ? i * 90000000000
                          : kind == 1 ? i * 2
                                      : 0xffffffffffff - 2 * N + i * 2;
        struct sched_node_image_state s = { .layers = prefixes, .n_layers = N };
        for (uint32_t i = 0; i < N; i++) {
            CHECK(sched_node_image_state_has(&s, prefixes[i]));
            CHECK(!sched_node_image_state_has(&s, prefixes[i] + 1));
        }
    }
    free(prefixes);
}

TEST(sets_that_are_none_are_refused)
{
    static const char *const bad[] = { "not base64!", "AAAA", "AAAAAAACAAAAAAAB",
                                       "AAAAAAABAAAAAAAB" };
    WITH_KIT(k);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        char text[200];
        (void)snprintf(text, sizeof text,
                       "{\"metadata\": {\"name\": \"n\"}, \"spec\": {\"layers\": {\"prefixes\": "
                       "\"%s\"}}}",
                       bad[i]);
        struct json *json;
        struct sched_object *o = NULL;
        struct err err = { 0 };
        CHECK_OK(json_parse(&k.arena, str_of(text), NULL, &json, NULL));
        CHECK_ERR(sched_object_read(k.words, SCHED_NODE_IMAGE_STATE, json, false, &o, &err),
                  E_INVALID);
        CHECK(strstr(err.text, "spec.layers.prefixes") != NULL);
    }
}

TEST(the_definition_of_the_kind_is_json)
{
    struct arena a = { 0 };
    struct json *crd;
    CHECK_OK(json_parse(&a, sched_crd(), NULL, &crd, NULL));
    CHECK(
        str_is(json_str(json_path(crd, "metadata", "name", NULL)), "nodeimagestates.dormouse.dev"));
    arena_fini(&a);
}

/* ---- BreakNetwork ---- */

TEST(networks_are_ranked_by_bandwidth_and_round_trip)
{
    WITH_KIT(k);
    kit_plugin(&k, "BreakNetwork", NULL);
    for (int i = 0; i < 4; i++)
        kit_node(&k, (const char *[]){ "a", "b", "c", "d" }[i], "", NULL, NULL);
    const struct sched_pod *pod = kit_pod(&k, "{}");
    check_text("nobody has measured", kit_score(&k, pod), "a=100 b=100 c=100 d=100");
    put_network(&k, "a", 500, 10000, 0);
    put_network(&k, "b", 100, 10000, 0);
    put_network(&k, "c", 50, 50000, 0);
    put_network(&k, "d", 10, 200000, 0);
    /* ranks (1,1) (2,1) (3,3) (4,4) */
    check_text("norm", kit_score(&k, pod), "a=100 b=88 c=50 d=25");
    kit_plugin(&k, "BreakNetwork", "{'reading': 'paper'}");
    check_text("paper, in its range", kit_score(&k, pod), "a=100 b=88 c=50 d=25");
    put_network(&k, "a", 500, 10000, 61000);
    check_text("old", kit_score(&k, pod), "a=50 b=88 c=50 d=25");
    put_network(&k, "a", 500, 10000, -SCHED_NODE_STATE_SKEW_MS);
    check_text("clocks that differ", kit_score(&k, pod), "a=100 b=88 c=50 d=25");
    put_network(&k, "a", 500, 10000, -SCHED_NODE_STATE_SKEW_MS - 2000);
    check_text("of the future", kit_score(&k, pod), "a=50 b=88 c=50 d=25");
}

TEST(ranks_are_those_among_all_nodes_and_follow_what_comes_and_goes)
{
    WITH_KIT(k);
    kit_plugin(&k, "BreakNetwork", NULL);
    for (int i = 0; i < 4; i++)
        kit_node(&k, (const char *[]){ "a", "b", "c", "d" }[i], "", NULL, NULL);
    put_network(&k, "a", 500, 10000, 0);
    put_network(&k, "b", 100, 20000, 0);
    put_network(&k, "c", 50, 50000, 0);
    put_network(&k, "d", 10, 200000, 0);
    put_network(&k, "away", 1000, 10, 0); /* of a node that is not there */
    const struct sched_pod *pod = kit_pod(&k, "{}");
    check_text("all", kit_score(&k, pod), "a=100 b=75 c=50 d=25");
    check_text("of some that fit", kit_score_some(&k, pod, "c d"), "c=50 d=25");
    put_network(&k, "d", 200, 15000, 0);
    check_text("one has measured again", kit_score_some(&k, pod, "c d"), "c=25 d=75");
    kit_del(&k, SCHED_NODE, "a");
    check_text("a node has gone", kit_score(&k, pod), "b=67 c=33 d=100");
    kit_node(&k, "away", "", NULL, NULL);
    check_text("one has come, whose state was there", kit_score(&k, pod),
               "away=100 b=50 c=25 d=75");
    kit_del(&k, SCHED_NODE_IMAGE_STATE, "away");
    check_text("it tells nothing any more, and is in the middle", kit_score(&k, pod),
               "away=75 b=75 c=25 d=100");
}

TEST(a_node_far_from_the_registry_ranks_lower)
{
    WITH_KIT(k);
    static const char *const far[] = { "1000", "200000", "50000" };
    for (int i = 0; i < 3; i++) {
        char name[] = { (char)('a' + i), '\0' };
        kit_node(&k, name, "", NULL, NULL);
        put_state(&k, name,
                  arena_printf(&k.arena,
                               "'network': {'measuredAt': '%s', 'uplinkBitsPerSecond': 5, "
                               "'rttMicroseconds': 900, 'registryRttMicroseconds': %s}",
                               ago(&k, 0), far[i]));
    }
    kit_plugin(&k, "BreakNetwork", NULL);
    check_text("by the registry", kit_score(&k, kit_pod(&k, "{}")), "a=100 b=67 c=83");
}

/* ---- BreakBalance, BreakLeastRequested ---- */

#define ASKS(requests)                                                                             \
    "'containers': [{'name': 'c', 'image': 'i', 'resources': {'requests': {" requests "}}}]"

TEST(fractions_in_use_are_scored_with_the_pod_on_the_node)
{
    WITH_KIT(k);
    kit_node(&k, "n", "'cpu': '1', 'memory': '1000', 'ephemeral-storage': '1000'", NULL, NULL);
    kit_put(
        &k, SCHED_POD,
        "{'metadata': {'name': 'q', 'namespace': 'd', 'uid': 'q'}, 'spec': {'nodeName': 'n', " ASKS(
            "'cpu': '400m', 'memory': '50', 'ephemeral-storage': '500'") "}}");
    /* (0.9, 0.1, 0.5) */
    const struct sched_pod *pod = kit_pod(&k, "{" ASKS("'cpu': '500m', 'memory': '50'") "}");
    static const struct {
        const char *plugin, *args, *want;
    } t[] = {
        { "BreakBalance", NULL, "n=20" },
        { "BreakBalance", "{'reading': 'norm'}", "n=20" },
        { "BreakBalance", "{'reading': 'intended'}", "n=47" },
        { "BreakBalance", "{'reading': 'paper'}", "n=67" }, /* 133.3 of 200 */
        { "BreakLeastRequested", NULL, "n=38" },
        { "BreakLeastRequested", "{'reading': 'paper'}", "n=38" }, /* 6 of 16 */
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        kit_plugin(&k, t[i].plugin, t[i].args);
        check_text(t[i].plugin, kit_score(&k, pod), t[i].want);
    }
}

TEST(arguments_of_breaks_plugins_are_checked)
{
    static const struct {
        const char *plugin, *args, *want;
    } t[] = {
        { "BreakNetwork", "{'reading': 'intended'}",
          "reading: Unsupported value: \"intended\": supported values: \"norm\", \"paper\"" },
        { "BreakBalance", "{'reading': 'x'}",
          "reading: Unsupported value: \"x\": supported values: \"intended\", \"norm\", "
          "\"paper\"" },
        { "BreakLayerLocality", "{'thresholds': 'x'}",
          "thresholds: Unsupported value: \"x\": supported values: \"k8s\", \"norm\"" },
        { "BreakLayerLocality", "{'eta': -1}", "eta: Invalid value: not in valid range [0, 10]" },
        { "BreakDeployTime", "{'registryBitsPerSecond': 0}",
          "registryBitsPerSecond: Invalid value: must be positive" },
    };
    WITH_KIT(k);
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        check_text(t[i].args, kit_plugin_error(&k, t[i].plugin, t[i].args), t[i].want);
}

/* ---- BreakLayerLocality ---- */

/* Layers 1, 2, 3: of 10, 30 and 60 MB. */
#define LAYER_1 "sha256:000000000001"
#define LAYER_2 "sha256:000000000002"
#define LAYER_3 "sha256:000000000003"
#define LAYERED(more)                                                                              \
    "{'metadata': {'annotations': {'image.dormouse.dev/layers': '" LAYER_1 "=10000000/20000000,"   \
    " " LAYER_2 "=30000000/70000000, " LAYER_3 "=60000000," LAYER_1 "=10000000, rubbish" more      \
    "'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}"
#define HOLDS(generation, prefixes)                                                                \
    "'layers': {'generation': " generation ", 'prefixes': '" prefixes "'}"
#define HOLDS_1   HOLDS("1", "AAAAAAAB")
#define HOLDS_1_3 HOLDS("2", "AAAAAAABAAAAAAAD")
#define CACHE(capacity, used, pinned)                                                              \
    "'cache': {'capacityBytes': " capacity ", 'usedBytes': " used ", 'pinnedBytes': " pinned "}"

TEST(locality_is_the_part_of_the_bytes_that_is_there_and_a_little_for_free_cache)
{
    WITH_KIT(k);
    for (int i = 0; i < 4; i++)
        kit_node(&k, (const char *[]){ "a", "b", "c", "d" }[i], "", NULL, NULL);
    put_state(&k, "a", HOLDS_1_3);
    put_state(&k, "b", HOLDS_1 ", " CACHE("1000", "1000", "200"));
    put_state(&k, "c", CACHE("1000", "1000", "200"));
    const struct sched_pod *pod = kit_pod(&k, LAYERED(""));
    kit_plugin(&k, "BreakLayerLocality", NULL);
    /* 7 of 11; 1 + 0.8; 0.8; nothing */
    check_text("norm", kit_score(&k, pod), "a=64 b=16 c=7 d=0");
    kit_plugin(&k, "BreakLayerLocality", "{'eta': 0}");
    check_text("eta 0", kit_score(&k, pod), "a=70 b=10 c=0 d=0");
    kit_plugin(&k, "BreakLayerLocality", "{'reading': 'paper'}"); /* thresholds k8s, cache full */
    check_text("paper", kit_score(&k, pod), "a=4 b=0 c=0 d=0");
    kit_plugin(&k, "BreakLayerLocality", NULL);
    k.wall_ms += 70000;
    check_text("old", kit_score(&k, pod), "a=32 b=8 c=4 d=0");
    k.wall_ms -= 110000;
    check_text("of the future", kit_score(&k, pod), "a=32 b=8 c=4 d=0");
}

TEST(what_a_node_holds_is_remembered_until_its_generation_changes)
{
    WITH_KIT(k);
    kit_node(&k, "n", "", NULL, NULL);
    kit_plugin(&k, "BreakLayerLocality", "{'eta': 0}");
    static const struct {
        const char *state, *want;
    } t[] = {
        { HOLDS_1, "n=10" },
        { HOLDS_1 ", 'freeUploadSlots': 1", "n=10" },
        { HOLDS_1_3, "n=70" },
        { HOLDS("3", ""), "n=0" },
        { HOLDS("0", "AAAAAAAB"), "n=10" }, /* no generation: nothing is remembered */
        { HOLDS("0", "AAAAAAABAAAAAAAD"), "n=70" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        put_state(&k, "n", t[i].state);
        check_text(t[i].state, kit_score(&k, kit_pod(&k, LAYERED(""))), t[i].want);
    }
    /* More sets of layers than are kept, again and again. */
    for (int i = 0; i < 12; i++) {
        const char *spec = arena_printf(
            &k.arena,
            "{'metadata': {'annotations': {'image.dormouse.dev/layers': 'sha256:000000000001=1, "
            "sha256:0000000000f%x=%d'}}, 'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}",
            i % 6, i % 6);
        const char *want = arena_printf(&k.arena, "n=%d", (int)(100.0 / (1 + i % 6) + 0.5));
        put_state(&k, "n", HOLDS_1);
        check_text(spec, kit_score(&k, kit_pod(&k, "%s", spec)), want);
    }
}

TEST(a_node_that_takes_the_place_of_another_is_asked_anew)
{
    WITH_KIT(k);
    kit_plugin(&k, "BreakLayerLocality", "{'eta': 0}");
    const struct sched_pod *pod = kit_pod(&k, LAYERED(""));
    put_state(&k, "a", HOLDS_1_3);
    put_state(&k, "b", HOLDS("2", "AAAAAAAB")); /* the same generation, other layers */
    kit_node(&k, "a", "", NULL, NULL);
    check_text("a", kit_score(&k, pod), "a=70");
    sched_cache_del(k.cache, SCHED_NODE, STR(""), STR("a"), NULL);
    kit_node(&k, "b", "", NULL, NULL);
    check_text("b", kit_score(&k, pod), "b=10");
}

TEST(without_the_annotation_whole_images_count)
{
    WITH_KIT(k);
    kit_put(&k, SCHED_NODE,
            "{'metadata': {'name': 'a'}, 'status': {'images': [{'names': ['x:1'], 'sizeBytes': "
            "3000}]}}");
    kit_put(&k, SCHED_NODE,
            "{'metadata': {'name': 'b'}, 'status': {'images': [{'names': ['y:latest'], "
            "'sizeBytes': 1000}]}}");
    kit_plugin(&k, "BreakLayerLocality", "{'eta': 0}");
    check_text("two images",
               kit_score(&k, kit_pod(&k, "{'containers': [{'name': 'c', 'image': 'x:1'}, {'name': "
                                         "'d', 'image': 'y'}, {'name': 'e', 'image': 'y'}, "
                                         "{'name': 'f', 'image': 'z'}]}")),
               "a=75 b=25");
}

#define DISK(capacity, used) "'disk': {'capacityBytes': " capacity ", 'usedBytes': " used "}"

TEST(a_node_has_room_for_what_is_missing)
{
    static const char full[] = "n: UnschedulableAndUnresolvable: node(s) had more than 90% of "
                               "their image disk in use";
    static const char no_room[] = "n: UnschedulableAndUnresolvable: node(s) had no room for the "
                                  "missing image layers";
    static const struct {
        const char *state, *want;
    } t[] = {
        { "'freeUploadSlots': 1", "n: ok" }, /* nothing is known of its disk */
        { DISK("1000000000", "800000000"), "n: ok" },
        { DISK("1000000000", "850000000"), no_room },                /* 150 MB and a tenth */
        { DISK("1000000000", "850000000") ", " HOLDS_1_3, "n: ok" }, /* 70 MB are missing */
        { DISK("1000000000", "850000000") ", " CACHE("500000000", "300000000", "200000000"),
          "n: ok" },
        { DISK("1000000000", "850000000") ", " CACHE("500000000", "300000000", "300000000"),
          no_room },
        { DISK("1000000000", "900000001"), full },
    };
    const char *pod = LAYERED("");
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        WITH_KIT(k);
        kit_plugin(&k, "BreakLayerLocality", NULL);
        kit_node(&k, "n", "", NULL, NULL);
        put_state(&k, "n", t[i].state);
        check_text(t[i].state, kit_filter(&k, kit_pod(&k, "%s", pod)), t[i].want);
    }
}

TEST(a_disk_that_was_emptied_may_help)
{
    WITH_KIT(k);
    kit_plugin(&k, "BreakLayerLocality", NULL);
    const struct sched_pod *pod = kit_pod(&k, "{}");
    struct sched_object *full = kit_read(
        &k, SCHED_NODE_IMAGE_STATE, "{'metadata': {'name': 'n'}, 'spec': {" DISK("10", "10") "}}");
    struct sched_object *empty = kit_read(
        &k, SCHED_NODE_IMAGE_STATE, "{'metadata': {'name': 'n'}, 'spec': {" DISK("10", "1") "}}");
    struct sched_event e = { SCHED_ON_NODE_IMAGE_STATE, SCHED_UPDATE, full, empty };
    check_text("emptied", kit_hint(&k, pod, &e), "queue");
    e = (struct sched_event){ SCHED_ON_NODE_IMAGE_STATE, SCHED_UPDATE, empty, full };
    check_text("full", kit_hint(&k, pod, &e), "skip");
}

/* ---- BreakDeployTime ---- */

#define SENDS(bps)                                                                                 \
    "'freeUploadSlots': 3, 'network': {'measuredAt': '2026-09-21T14:13:00Z', "                     \
    "'uplinkBitsPerSecond': " bps "}"
#define TAKES(bps)                                                                                 \
    "'network': {'measuredAt': '2026-09-21T14:13:00Z', 'registryBitsPerSecond': " bps "}"

TEST(times_are_scored_between_the_slowest_and_the_fastest)
{
    WITH_KIT(k);
    kit_plugin(&k, "BreakDeployTime", "{'registryBitsPerSecond': 80000000}");
    for (int i = 0; i < 4; i++)
        kit_node(&k, (const char *[]){ "a", "b", "c", "d" }[i], "", NULL, NULL);
    const struct sched_pod *pod = kit_pod(&k, LAYERED(""));
    check_text("nobody has anything", kit_score(&k, pod), "a=100 b=100 c=100 d=100");
    put_state(&k, "a", HOLDS_1_3); /* 30 MB at 10 MB/s: 3 s; the others 10 s */
    put_state(&k, "b", HOLDS_1);   /* 9 s */
    check_text("registry alone", kit_score(&k, pod), "a=100 b=14 c=0 d=0");
    put_state(&k, "c", TAKES("800000000")); /* 1 s */
    check_text("near the registry", kit_score(&k, pod), "a=78 b=11 c=100 d=0");
    /* a sends 60 and 10 MB at 100 MB/s to others; 30 MB still come from the registry. */
    put_state(&k, "a", HOLDS_1_3 ", " SENDS("800000000"));
    put_state(&k, "c", TAKES("80000000"));
    check_text("a peer", kit_score(&k, pod), "a=100 b=100 c=100 d=100");
    k.wall_ms += 70000;
    put_state(&k, "a", HOLDS_1_3 ", " SENDS("800000000"));
    k.wall_ms -= 70000;
    check_text("a peer of the future", kit_score(&k, pod), "a=50 b=14 c=0 d=0");
}

TEST(the_shorter_time_breaks_ties_and_then_the_name)
{
    WITH_KIT(k);
    kit_plugin(&k, "BreakDeployTime", NULL);
    for (int i = 0; i < 3; i++)
        kit_node(&k, (const char *[]){ "a", "b", "c" }[i], "", NULL, NULL);
    put_state(&k, "c", HOLDS_1);
    (void)kit_score(&k, kit_pod(&k, LAYERED("")));
    const struct sched_node_info *node[3];
    for (int i = 0; i < 3; i++)
        node[i] = sched_cache_node(k.cache, intern_find(k.words, str_n(&"abc"[i], 1)));
    int (*tie)(struct sched_plugin *, struct sched_cycle *, const struct sched_node_info *,
               const struct sched_node_info *) = k.plugin->ops->tie;
    CHECK(tie(k.plugin, k.cycle, node[2], node[0]) < 0);
    CHECK(tie(k.plugin, k.cycle, node[0], node[2]) > 0);
    CHECK(tie(k.plugin, k.cycle, node[0], node[1]) < 0);
    CHECK(tie(k.plugin, k.cycle, node[1], node[0]) > 0);
    CHECK_INT(tie(k.plugin, k.cycle, node[1], node[1]), 0);
}

TEST_MAIN
