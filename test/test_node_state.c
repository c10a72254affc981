/* SPDX-License-Identifier: Apache-2.0 */
/* The image state of a node, as the scheduler reads it. */
#include "base/buf.h"
#include "base/intern.h"
#include "image/node_state.h"
#include "sched/object/node_image_state.h"
#include "test.h"

static struct oci_store_layer layer(uint8_t first, uint8_t seventh)
{
    struct oci_store_layer l = { .n_bytes = 10 };
    l.diff_id.bytes[0] = first;
    l.diff_id.bytes[6] = seventh;
    return l;
}

static struct oci_store_layer blob_layer(uint8_t first)
{
    struct oci_store_layer l = layer(first, 0);
    l.has_blob = true;
    return l;
}

static struct sched_node_image_state *read_back(struct intern_table *w, const struct node_state *s)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    struct sched_object *o;
    if (sched_object_read(w, SCHED_NODE_IMAGE_STATE, node_state_object(&a, s), false, &o, &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    arena_fini(&a);
    return (struct sched_node_image_state *)o;
}

TEST(a_scheduler_reads_what_a_node_writes)
{
    const struct oci_store_layer layers[] = { layer(9, 0), layer(2, 0), layer(9, 1),
                                              layer(200, 0) };
    scoped(buf_fini_scoped) struct buf prefixes = BUF_INIT(1 << 20);
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    node_state_prefixes(layers, ARRAY_LEN(layers), &prefixes);
    const struct node_state s = { .node = STR("n1"),
                                  .reported_wall_s = 1700000000,
                                  .rates = { .uplink_bps = 5e6, .measured_wall_s = 1700000001 },
                                  .cache_capacity = 100,
                                  .cache_used = 90,
                                  .cache_pinned = 120, /* a quota that was made smaller */
                                  .disk_capacity = 1000,
                                  .disk_used = 10,
                                  .upload_slots = 2,
                                  .generation = 7,
                                  .prefixes = buf_str(&prefixes) };
    struct sched_node_image_state *got = read_back(w, &s);
    CHECK_INT(got->n_layers, 3); /* two have the same six bytes */
    CHECK(sched_node_image_state_has(got, (uint64_t)9 << 40));
    CHECK(sched_node_image_state_has(got, (uint64_t)200 << 40));
    CHECK(!sched_node_image_state_has(got, (uint64_t)3 << 40));
    CHECK_INT(got->layers_generation, 7);
    CHECK_INT(got->cache_pinned, 100);
    CHECK_INT(got->uplink_bps, 5000000);
    CHECK_INT(got->registry_bps, 0);
    CHECK_INT(got->measured_ms, 1700000001000);
    CHECK_INT(got->upload_slots, 2);
    sched_object_unref(w, got);
}

TEST(of_too_many_layers_those_that_were_used_last_are_told)
{
    enum { N = NODE_STATE_LAYERS_MAX + 5 };
    struct oci_store_layer *layers = xnew_n(struct oci_store_layer, N);
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf prefixes =
        BUF_INIT(NODE_STATE_LAYERS_MAX * NODE_STATE_PREFIX_BYTES);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(NODE_STATE_TEXT_MAX);
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    for (uint32_t i = 0; i < N; i++) {
        layers[i].diff_id.bytes[0] = (uint8_t)(i >> 16);
        layers[i].diff_id.bytes[1] = (uint8_t)(i >> 8);
        layers[i].diff_id.bytes[2] = (uint8_t)i;
    }
    node_state_prefixes(layers, N, &prefixes);
    free(layers);
    CHECK(buf_ok(&prefixes));
    const struct node_state s = { .node = STR("n1"), .prefixes = buf_str(&prefixes) };
    CHECK_OK(json_write(&text, node_state_object(&a, &s)));
    struct sched_node_image_state *got = read_back(w, &s);
    CHECK_INT(got->n_layers, NODE_STATE_LAYERS_MAX);
    CHECK(!sched_node_image_state_has(got, (uint64_t)4 << 24));
    CHECK(sched_node_image_state_has(got, (uint64_t)5 << 24));
    sched_object_unref(w, got);
    arena_fini(&a);
}

TEST(what_ages_is_written_without_the_layers)
{
    struct arena a = { 0 };
    /* Rates: in the whole object alone. Those that a merge patch wrote would stay without their
     * time. */
    const struct node_state s = { .node = STR("n1"),
                                  .reported_wall_s = 5,
                                  .upload_slots = 3,
                                  .rates = { .uplink_bps = 1e6, .measured_wall_s = 4 } };
    const struct json *spec = json_getc(node_state_beat(&a, &s), "spec");
    CHECK(json_getc(json_getc(node_state_object(&a, &s), "spec"), "network"));
    CHECK(!json_getc(json_getc(spec, "cache"), "usedBytes"));
    CHECK(json_getc(json_getc(spec, "cache"), "capacityBytes"));
    CHECK(json_getc(spec, "reportedAt") && json_getc(spec, "freeUploadSlots"));
    CHECK(!json_getc(spec, "layers") && !json_getc(spec, "network"));
    arena_fini(&a);
}

TEST(rates_are_averaged_and_small_transfers_say_nothing)
{
    struct node_state_rates r = { 0 };
    node_state_measure(&r, &r.uplink_bps, 1000, 1, 5);
    CHECK(r.uplink_bps == 0 && r.measured_wall_s == 0);
    node_state_measure(&r, &r.uplink_bps, 1000000, 1000, 5);
    CHECK(r.uplink_bps == 8e6 && r.measured_wall_s == 5);
    node_state_measure(&r, &r.uplink_bps, 2000000, 1000, 6);
    CHECK(r.uplink_bps == 8e6 + 0.2 * 8e6);
    node_state_measure(&r, &r.uplink_bps, 1000000, 0, 7); /* as if it had taken a millisecond */
    CHECK(r.uplink_bps > 1e9 && r.measured_wall_s == 7);
}

TEST(layers_that_are_kept_as_tars_alone_are_there_and_are_no_source)
{
    const struct oci_store_layer layers[] = { blob_layer(9), layer(2, 0), blob_layer(200),
                                              layer(1, 0) };
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf prefixes = BUF_INIT(1 << 20);
    scoped(buf_fini_scoped) struct buf unsendable = BUF_INIT(1 << 20);
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    node_state_prefixes(layers, ARRAY_LEN(layers), &prefixes);
    node_state_unsendable(layers, ARRAY_LEN(layers), &unsendable);
    struct node_state s = { .node = STR("n1"),
                            .reported_wall_s = 1700000000,
                            .generation = 7,
                            .prefixes = buf_str(&prefixes),
                            .unsendable = buf_str(&unsendable) };
    struct sched_node_image_state *got = read_back(w, &s);
    CHECK_INT(got->n_layers, 4);
    CHECK_INT(got->n_unsendable, 2);
    CHECK(sched_node_image_state_has(got, (uint64_t)2 << 40));
    CHECK(!sched_node_image_state_sends(got, (uint64_t)2 << 40));
    CHECK(!sched_node_image_state_sends(got, (uint64_t)1 << 40));
    CHECK(sched_node_image_state_sends(got, (uint64_t)9 << 40));
    CHECK(!sched_node_image_state_sends(got, (uint64_t)3 << 40));
    sched_object_unref(w, got);
    s.unsendable = STR("");
    const struct json *spec = json_getc(node_state_object(&a, &s), "spec");
    CHECK(!json_getc(json_getc(spec, "layers"), "unsendablePrefixes"));
    arena_fini(&a);
}

TEST(layers_that_are_on_their_way_are_told_until_they_are_there)
{
    const struct oci_store_layer here[] = { blob_layer(9), blob_layer(200) };
    const struct oci_digest coming[] = { { { 201 } }, { { 9 } }, { { 3 } }, { { 201 } } };
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf prefixes = BUF_INIT(1 << 20);
    scoped(buf_fini_scoped) struct buf arriving = BUF_INIT(1 << 20);
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    node_state_prefixes(here, ARRAY_LEN(here), &prefixes);
    node_state_incoming(coming, ARRAY_LEN(coming), buf_str(&prefixes), &arriving);
    struct node_state s = { .node = STR("n1"),
                            .reported_wall_s = 1700000000,
                            .generation = 7,
                            .prefixes = buf_str(&prefixes),
                            .arriving = buf_str(&arriving) };
    struct sched_node_image_state *got = read_back(w, &s);
    CHECK_INT(got->n_layers, 2);
    CHECK_INT(got->n_arriving, 2);
    CHECK(sched_node_image_state_awaits(got, (uint64_t)3 << 40));
    CHECK(sched_node_image_state_awaits(got, (uint64_t)201 << 40));
    CHECK(!sched_node_image_state_awaits(got, (uint64_t)9 << 40));
    CHECK(!sched_node_image_state_has(got, (uint64_t)3 << 40));
    sched_object_unref(w, got);
    buf_reset(&arriving);
    node_state_incoming(&coming[1], 1, buf_str(&prefixes), &arriving);
    s.arriving = buf_str(&arriving);
    const struct json *spec = json_getc(node_state_object(&a, &s), "spec");
    CHECK(!json_getc(json_getc(spec, "layers"), "arrivingPrefixes"));
    buf_reset(&arriving);
    node_state_incoming(&coming[1], 1, STR(""), &arriving); /* of an empty store */
    CHECK_INT(arriving.n, NODE_STATE_PREFIX_BYTES);
    arena_fini(&a);
}

TEST(round_trips_are_averaged_and_do_not_make_rates_look_fresh)
{
    struct arena a = { 0 };
    struct node_state s = { .node = STR("n1"), .reported_wall_s = 1700000000 };
    scoped(intern_table_free_scoped) struct intern_table *w = intern_table_new();
    node_state_measure(&s.rates, &s.rates.uplink_bps, 1 << 20, 100, 1000);
    node_state_round_trip(&s.rates, &s.rates.rtt_us, 1000, 2000);
    node_state_round_trip(&s.rates, &s.rates.rtt_us, 2000, 3000);
    CHECK_INT(s.rates.rates_wall_s, 1000);
    struct sched_node_image_state *got = read_back(w, &s);
    CHECK_INT(got->rtt_us, 1200);
    CHECK_INT(got->registry_rtt_us, 0);
    CHECK_INT(sched_node_image_state_way_us(got), 1200);
    CHECK_INT(got->measured_ms, 3000000);
    sched_object_unref(w, got);
    node_state_round_trip(&s.rates, &s.rates.registry_rtt_us, 50000, 4000);
    got = read_back(w, &s);
    CHECK_INT(got->rtt_us, 1200);
    CHECK_INT(got->registry_rtt_us, 50000);
    CHECK_INT(sched_node_image_state_way_us(got), 25600);
    sched_object_unref(w, got);
    s.rates.rtt_us = 0;
    got = read_back(w, &s);
    CHECK_INT(sched_node_image_state_way_us(got), 50000);
    sched_object_unref(w, got);
    arena_fini(&a);
}

TEST(a_cache_has_no_more_room_than_its_disk)
{
    struct node_state s = { .disk_capacity = 1000, .disk_used = 900, .cache_used = 300 };
    CHECK_INT(node_state_cache_capacity(&s, 0), 400);
    CHECK_INT(node_state_cache_capacity(&s, 350), 350);
    CHECK_INT(node_state_cache_capacity(&s, 5000), 400);
    s.disk_used = 1100; /* blocks that only root has */
    CHECK_INT(node_state_cache_capacity(&s, 0), 300);
    s.disk_capacity = 0;
    CHECK_INT(node_state_cache_capacity(&s, 0), 0);
    CHECK_INT(node_state_cache_capacity(&s, 70), 70);
}

TEST(blocks_for_root_are_no_use_of_the_disk)
{
    struct node_state s = { 0 };
    node_state_disk(&s, 1000, 750, 110, 4096);
    CHECK_INT(s.disk_used, 250 * 4096);
    CHECK_INT(s.disk_capacity, 360 * 4096);
    node_state_disk(&s, 1000, 100, 200, 1); /* a quota of a project may say this */
    CHECK_INT(s.disk_used, 900);
    CHECK_INT(s.disk_capacity, 1100);
    node_state_disk(&s, 0, 0, 0, 4096); /* some network file systems */
    CHECK_INT(s.disk_capacity, 0);
    node_state_disk(&s, 5, 7, 7, 1);
    CHECK_INT(s.disk_used, 0);
    CHECK_INT(s.disk_capacity, 7);
}

TEST_MAIN
