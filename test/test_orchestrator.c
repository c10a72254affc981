/* SPDX-License-Identifier: Apache-2.0 */
/* What nodes' states make of an image, and which pods get a plan: without a cluster, which is away.
 */
#include "base/clock.h"
#include "base/log.h"
#include "fake_transport.h"
#include "image/node_state.h"
#include "image/orchestrate.h"
#include "io/http.h"
#include "io/tls.h"
#include "node/image_states.h"
#include "node/node_networks.h"
#include "node/orchestrator.h"
#include "node/prefetcher.h"
#include "sched/object/node_image_state.h"
#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- states of nodes ---- */

static struct oci_digest digest_of(uint8_t first)
{
    struct oci_digest d = { 0 };
    d.bytes[0] = first;
    return d;
}

static void put_at(struct image_states *s, const char *name, const char *url, uint8_t holds,
                   bool is_sendable)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    const struct oci_store_layer layer = { .diff_id = digest_of(holds), .has_blob = is_sendable };
    scoped(buf_fini_scoped) struct buf prefixes = BUF_INIT(1 << 10), unsendable = BUF_INIT(1 << 10);
    node_state_prefixes(&layer, 1, &prefixes);
    node_state_unsendable(&layer, 1, &unsendable);
    const struct node_state n = { .node = str_of(name),
                                  .url = str_of(url),
                                  .reported_wall_s = 1700000000,
                                  .upload_slots = 3,
                                  .prefixes = buf_str(&prefixes),
                                  .unsendable = buf_str(&unsendable) };
    if (image_states_put(s, node_state_object(&a, &n), &err) < 0)
        TEST_FAIL("%s", err_text(&err));
    arena_fini(&a);
}

static void put(struct image_states *s, const char *name, uint8_t holds, bool is_sendable)
{
    put_at(s, name, "http://10.0.0.1:5000", holds, is_sendable);
}

TEST(an_image_and_the_states_of_nodes_are_what_a_plan_is_made_of)
{
    struct arena a = { 0 };
    struct image_cluster_file f;
    struct image_tasks tasks;
    const struct oci_lookup_layer layers[] = { { digest_of(1), digest_of(101), 1000 },
                                               { digest_of(2), digest_of(102), 2000 },
                                               { digest_of(1), digest_of(101), 1000 } };
    const struct oci_lookup_image image = { .layers = layers, .n = ARRAY_LEN(layers) };
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    put(s, "n2", 2, true);
    put(s, "n3", 1, false); /* which others cannot have from there */
    put(s, "n1", 9, true);
    put(s, "n2", 2, true);
    CHECK_INT(image_states_count(s), 3);
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000005000, &a, &f, NULL));
    CHECK_INT(f.o.n_layers, 2); /* the same layer twice is one */
    CHECK_INT(f.o.n_nodes, 3);
    CHECK_STR(f.node_names[0], "n1");
    CHECK_STR(f.node_names[2], "n3");
    CHECK_INT(f.o.nodes[0].silent_ms, 5000);
    CHECK(place_break_in(&f.o.nodes[1].holds, 1) && !place_break_in(&f.o.nodes[1].holds, 0));
    CHECK(place_break_in(&f.o.nodes[2].unsendable, 0));
    image_cluster_file_deploy_on(&f, 0);
    CHECK(image_orchestrate(&f.o, &tasks));
    CHECK_INT(tasks.all.n, 2);
    for (size_t i = 0; i < tasks.all.n; i++)
        for (uint32_t k = 0; k < tasks.all.p[i].n_alternatives; k++)
            CHECK(tasks.all.p[i].source != 2 && tasks.all.p[i].alternatives[k] != 2);
    image_tasks_fini(&tasks);

    image_states_del(s, STR("n2"));
    image_states_del(s, STR("n2"));
    CHECK_INT(image_states_count(s), 2);
    arena_fini(&a);
}

static void put_arriving(struct image_states *s, const char *name, const char *url, uint8_t layer)
{
    struct arena a = { 0 };
    struct err err = { 0 };
    const struct oci_digest diff = digest_of(layer);
    scoped(buf_fini_scoped) struct buf arriving = BUF_INIT(4096);
    node_state_incoming(&diff, 1, STR(""), &arriving);
    const struct node_state n = { .node = str_of(name),
                                  .url = str_of(url),
                                  .reported_wall_s = 1700000000,
                                  .upload_slots = 3,
                                  .arriving = buf_str(&arriving) };
    CHECK(image_states_put(s, node_state_object(&a, &n), &err) >= 0);
    arena_fini(&a);
}

/* 100,000,000 bytes take 8 s at what is assumed of a registry. */
TEST(what_nodes_fetch_as_they_tell_is_under_way)
{
    struct arena a = { 0 };
    struct image_cluster_file f;
    char name[16];
    const struct oci_lookup_layer layers[] = { { digest_of(1), digest_of(101), 100000000 },
                                               { digest_of(2), digest_of(102), 1000 } };
    const struct oci_lookup_image image = { .layers = layers, .n = 2 };
    const char *url = "http://10.0.0.1:5000";
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    put_arriving(s, "n1", url, 1);
    put_arriving(s, "n2", url, 3); /* of another image */
    put_arriving(s, "n3", "", 1);  /* which nobody can ask */
    put_arriving(s, "n4", url, 1);
    (void)image_states_refuse(s, STR("n4"));
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000003000, &a, &f, NULL));
    CHECK_INT(f.o.n_flights, 1);
    CHECK_INT(f.o.flights[0].layer, 0);
    CHECK_INT(f.o.flights[0].to, 0);
    CHECK_INT(f.o.flights[0].from, PLACE_BREAK_REGISTRY);
    CHECK_INT(f.o.flights[0].left_ms, 5000);
    CHECK(f.o.flights[0].is_reported);
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000029000, &a, &f, NULL));
    CHECK_INT(f.o.flights[0].left_ms, 0);
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000031000, &a, &f, NULL));
    CHECK_INT(f.o.n_flights, 0); /* silent */
    for (int i = 0; i < 2 * IMAGE_STATES_ARRIVALS_MAX; i++) {
        (void)snprintf(name, sizeof name, "m%d", i);
        put_arriving(s, name, url, 2);
    }
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000003000, &a, &f, NULL));
    CHECK_INT(f.o.n_flights, 1 + IMAGE_STATES_ARRIVALS_MAX);
    arena_fini(&a);
}

static void count_one(void *arg, const struct sched_node_image_state *s)
{
    (void)s;
    ++*(unsigned *)arg;
}

TEST(a_report_of_the_future_is_fresh_as_far_as_clocks_differ)
{
    static const struct {
        int64_t ago_ms;
        bool is_fresh;
    } reports[] = { { 0, true },
                    { IMAGE_ORCHESTRATE_FRESH_MS, true },
                    { IMAGE_ORCHESTRATE_FRESH_MS + 1, false },
                    { -SCHED_NODE_STATE_SKEW_MS, true },
                    { -SCHED_NODE_STATE_SKEW_MS - 1, false },
                    { INT64_C(-100) * 365 * 86400000, false } };
    struct arena a = { 0 };
    struct image_cluster_file f;
    const struct oci_lookup_layer layer = { digest_of(1), digest_of(101), 1000 };
    const struct oci_lookup_image image = { .layers = &layer, .n = 1 };
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    put(s, "n1", 1, true);
    for (size_t i = 0; i < ARRAY_LEN(reports); i++) {
        int64_t wall_ms = INT64_C(1700000000000) + reports[i].ago_ms;
        unsigned n = 0;
        image_states_each_fresh(s, wall_ms, count_one, &n);
        CHECK_INT(n, reports[i].is_fresh);
        CHECK_OK(image_states_describe(s, STR("app:v1"), &image, wall_ms, &a, &f, NULL));
        CHECK_INT(f.o.nodes[0].silent_ms <= IMAGE_ORCHESTRATE_FRESH_MS, reports[i].is_fresh);
    }
    arena_fini(&a);
}

TEST(a_state_that_cannot_be_read_changes_nothing)
{
    struct arena a = { 0 };
    struct json *v;
    struct str url;
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    put(s, "n1", 1, true);
    CHECK_OK(json_parse(&a,
                        STR("{\"metadata\":{\"name\":\"n1\"},\"spec\":{\"layers\":{\"prefixes\":"
                            "\"AAAA\"}}}"),
                        NULL, &v, NULL));
    CHECK_ERR(image_states_put(s, v, NULL), E_INVALID);
    CHECK_INT(image_states_reported_ms(s, STR("n1"), &url), 1700000000000);
    CHECK_STR(url, "http://10.0.0.1:5000");
    CHECK_INT(image_states_reported_ms(s, STR("n2"), &url), 0);
    CHECK_INT(url.n, 0);
    arena_fini(&a);
}

TEST(a_refused_node_is_no_place_to_send_to_and_no_source_until_it_moves)
{
    struct arena a = { 0 };
    struct str url;
    struct image_cluster_file f;
    const struct oci_lookup_layer layer = { digest_of(1), digest_of(101), 1000 };
    const struct oci_lookup_image image = { .layers = &layer, .n = 1 };
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    put_at(s, "n1", "http://169.254.169.254/", 1, true);
    CHECK(!image_states_refuse(s, STR("n2")));
    CHECK(image_states_refuse(s, STR("n1")));
    CHECK(!image_states_refuse(s, STR("n1"))); /* which was told */
    put_at(s, "n1", "http://169.254.169.254/", 1, true);
    CHECK_INT(image_states_reported_ms(s, STR("n1"), &url), 1700000000000);
    CHECK_INT(url.n, 0);
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000005000, &a, &f, NULL));
    CHECK(!place_break_in(&f.o.nodes[0].holds, 0));
    CHECK_INT(f.node_urls[0].n, 0);
    put(s, "n1", 1, true);
    (void)image_states_reported_ms(s, STR("n1"), &url);
    CHECK_STR(url, "http://10.0.0.1:5000");
    CHECK_OK(image_states_describe(s, STR("app:v1"), &image, 1700000005000, &a, &f, NULL));
    CHECK(place_break_in(&f.o.nodes[0].holds, 0));
    CHECK(!image_states_refuse(s, STR("n1")));
    arena_fini(&a);
}

TEST(nodes_may_be_in_networks_that_are_named_and_else_anywhere_but_here)
{
    static const char *const here[] = { "127.0.0.0/8", "10.0.0.0/8", "169.254.0.0/16" };
    const struct node_networks any = { 0 }, named = { here, ARRAY_LEN(here) };
    CHECK(node_networks_may_have(&any, STR("http://10.0.0.1:5000")));
    CHECK(node_networks_may_have(&any, STR("https://[fd00::1]:5000/x")));
    CHECK(!node_networks_may_have(&any, STR("http://127.0.0.1:6443")));
    CHECK(!node_networks_may_have(&any, STR("http://[::1]:6443")));
    CHECK(!node_networks_may_have(&any, STR("http://[::ffff:127.0.0.1]:6443")));
    CHECK(!node_networks_may_have(&any, STR("http://0.0.0.0:6443")));
    CHECK(!node_networks_may_have(&any, STR("http://169.254.169.254/latest/meta-data")));
    CHECK(node_networks_may_have(&any, STR("http://n1.example:5000"))); /* until it is connected */
    CHECK(node_networks_may_have(&named, STR("http://127.0.0.1:5000")));
    CHECK(node_networks_may_have(&named, STR("http://10.0.0.1:5000")));
    CHECK(!node_networks_may_have(&named, STR("http://192.168.0.1:5000")));
    CHECK(!node_networks_may_have(&named, STR("http://[::1]:5000")));
    CHECK(!node_networks_may_have(&named, STR("http://169.254.169.254/")));
}

/* ---- what is asked for often ---- */

static void note_often(struct prefetcher *p, const char *zone, const char *node,
                       const struct oci_lookup_image *image, const char *name, size_t n)
{
    while (n--)
        prefetcher_note(p, str_of(zone), str_of(node), str_of(name), image, 1000);
}

static void put_cache(struct image_states *s, const char *name, uint8_t holds, uint64_t capacity,
                      uint64_t used)
{
    struct arena a = { 0 };
    const struct oci_store_layer layer = { .diff_id = digest_of(holds), .has_blob = true };
    scoped(buf_fini_scoped) struct buf prefixes = BUF_INIT(1 << 10);
    node_state_prefixes(&layer, 1, &prefixes);
    const struct node_state n = { .node = str_of(name),
                                  .reported_wall_s = 1700000000,
                                  .cache_capacity = capacity,
                                  .cache_used = used,
                                  .prefixes = buf_str(&prefixes) };
    CHECK_OK(image_states_put(s, node_state_object(&a, &n), NULL));
    arena_fini(&a);
}

TEST(an_idle_node_is_sent_what_its_zone_asks_for_often_and_it_lacks)
{
    enum { WALL_MS = 500 };
    struct arena a = { 0 };
    struct str name;
    struct oci_lookup_image got;
    const struct oci_lookup_layer layers[] = { { digest_of(1), digest_of(101), 1000 },
                                               { digest_of(2), digest_of(102), 2000 } };
    const struct oci_lookup_layer other[] = { { digest_of(3), digest_of(103), 10 } };
    const struct oci_lookup_image image = { .layers = layers, .n = 2, .manifest = digest_of(50) };
    const struct oci_lookup_image side = { .layers = other, .n = 1, .manifest = digest_of(51) };
    int64_t wall_ms = 1700000000 * INT64_C(1000) + WALL_MS;
    struct prefetcher *p = prefetcher_new();
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    put_cache(s, "n1", 1, 100000, 0); /* holds a layer of it */
    put_cache(s, "far", 9, 100000, 0);
    put_cache(s, "small", 9, 100000, 97000);
    put_cache(s, "tiny", 9, 9000, 0);

    note_often(p, "a", "n1", &image, "app:v1", 3);
    CHECK(!prefetcher_look(p, s, 1000, wall_ms)); /* three times in six hours is not often */
    note_often(p, "a", "n1", &image, "app:v1", 30);
    note_often(p, "b", "far", &side, "side:v1", 1);
    CHECK(prefetcher_look(p, s, 1000, wall_ms));

    CHECK(prefetcher_choose(p, s, STR("n1"), &a, &name, &got));
    CHECK_STR(name, "app:v1");
    CHECK_INT(got.n, 1);
    CHECK(oci_digest_equal(&got.layers[0].diff_id, &layers[1].diff_id));
    CHECK(oci_digest_equal(&got.manifest, &image.manifest));
    CHECK(!prefetcher_choose(p, s, STR("far"), &a, &name, &got)); /* another zone */
    CHECK(!prefetcher_choose(p, s, STR("gone"), &a, &name, &got));
    /* Nodes without a pod yet are in the zone that came first. A tenth of 9,000 bytes has no room
     * for either layer, and what is free in the other has it for both. */
    CHECK(!prefetcher_choose(p, s, STR("tiny"), &a, &name, &got));
    CHECK(prefetcher_choose(p, s, STR("small"), &a, &name, &got));
    CHECK_INT(got.n, 2);
    CHECK(!prefetcher_look(p, s, 24 * 3600 * 1000, wall_ms)); /* a day later no one asks */
    prefetcher_free(p);
    arena_fini(&a);
}

TEST(demand_for_more_layers_than_fit_forgets_the_oldest)
{
    struct prefetcher *p = prefetcher_new();
    scoped(image_states_free_scoped) struct image_states *s = image_states_new();
    struct oci_lookup_layer layer = { .size = 10 };
    const struct oci_lookup_image image = { .layers = &layer, .n = 1 };
    note_often(p, "a", "n1", &image, "app:v0", 30);
    CHECK(prefetcher_look(p, s, 1000, 0));
    for (uint32_t i = 1; i <= PREFETCHER_LAYERS_MAX; i++) {
        memcpy(layer.diff_id.bytes, &i, sizeof i);
        note_often(p, "a", "n1", &image, "app:v1", 1);
    }
    CHECK(!prefetcher_look(p, s, 1000, 0));
    char zone[8];
    for (int i = 0; i < 2 * PREFETCHER_ZONES_MAX; i++) {
        (void)snprintf(zone, sizeof zone, "z%d", i);
        note_often(p, zone, "n1", &image, "app:v1", 1);
    }
    CHECK(prefetcher_look(p, s, 1000, 0)); /* those that have no number share one */
    prefetcher_free(p);
}

/* ---- pods ---- */

enum { ASKED_MAX = ORCHESTRATOR_PLANS_MAX + 8 };

static struct {
    struct loop loop;
    struct transport transport;
    struct fake cluster;
    struct http_server *nodes; /* all of them */
    struct http_exchange *reported[ASKED_MAX];
    size_t n_reported;
    struct http_server *pusher; /* with TLS; NULL: none */
    struct tls_ctx *pusher_tls;
    bool is_pusher_reported;
    bool is_push;
    struct str ca;
    struct watch_hub *hub;
    struct orchestrator *o;
    sched_image_cb cb[ASKED_MAX];
    void *arg[ASKED_MAX];
    size_t n_asked;
} t;

static int start_nothing(struct transport *transport, const struct kube_request *req,
                         const struct exchange_events *events, void *arg, struct exchange **ret,
                         struct err *err)
{
    (void)transport;
    (void)req;
    (void)events;
    (void)arg;
    (void)ret;
    return err_set(err, -ECONNREFUSED, "the cluster is away");
}

static int ask(void *arg, struct str image, sched_image_cb cb, void *cb_arg, struct err *err)
{
    (void)arg;
    if (str_is(image, "wrong"))
        return err_set(err, E_INVALID, "no reference");
    CHECK(t.n_asked < ASKED_MAX);
    t.cb[t.n_asked] = cb;
    t.arg[t.n_asked++] = cb_arg;
    return 0;
}

static void begin_on(struct transport *transport, struct node_networks networks,
                     uint64_t prefetch_ms)
{
    CHECK_OK(loop_init(&t.loop, NULL));
    const struct watch_hub_opts hub = { .transport = transport };
    CHECK_OK(watch_hub_new(&t.loop, &hub, &t.hub, NULL));
    const struct orchestrator_opts o = { .loop = &t.loop,
                                         .transport = transport,
                                         .hub = t.hub,
                                         .key = STR("the key of a cluster of tests, long enough"),
                                         .networks = networks,
                                         .ca_pem = t.ca,
                                         .is_push = t.is_push,
                                         .prefetch_ms = prefetch_ms,
                                         .ask = ask };
    t.o = orchestrator_new(&o);
}

static void begin(void)
{
    memset(&t, 0, sizeof t);
    t.transport.start = start_nothing;
    begin_on(&t.transport, (struct node_networks){ 0 }, 0);
}

static void answer(size_t i, int r, const struct oci_lookup_image *image)
{
    struct err err = { 0 };
    if (r < 0)
        (void)err_set(&err, r, "no answer");
    t.cb[i](t.arg[i], r, image, &err);
}

static void end(size_t n_answered)
{
    for (size_t i = n_answered; i < t.n_asked; i++)
        answer(i, -ECANCELED, NULL);
    orchestrator_close(t.o);
    watch_hub_close(t.hub, NULL, NULL);
    if (t.pusher)
        http_server_close(t.pusher, 0, NULL, NULL);
    if (t.nodes) {
        http_server_close(t.nodes, 0, NULL, NULL);
        fake_settle(&t.cluster);
        fake_fini(&t.cluster);
    }
    loop_run(&t.loop);
    loop_fini(&t.loop);
    tls_ctx_free(t.pusher_tls);
}

static void bind_pod(const char *pod, const char *node, const char *images, const char *secrets)
{
    const struct sched_bound b = { .namespace = STR("default"),
                                   .name = str_of(pod),
                                   .node = str_of(node),
                                   .images = str_of(images),
                                   .secrets = str_of(secrets) };
    orchestrator_bound(t.o, &b);
}

static struct orchestrator_stats stats(void)
{
    struct orchestrator_stats s;
    orchestrator_stats(t.o, &s);
    return s;
}

TEST(pods_of_one_node_share_the_plan_of_an_image)
{
    begin();
    bind_pod("a", "n1", "app:v1\nside:v1\n", "");
    bind_pod("b", "n1", "app:v1\n", "");
    bind_pod("c", "n2", "app:v1\n", "");
    bind_pod("d", "n1", "app:v1\n", "secret\n"); /* of which no registry is told */
    CHECK_INT(t.n_asked, 3);
    CHECK_INT(stats().joined, 2);
    CHECK_INT(stats().waiting, 3);
    end(0);
}

TEST(an_image_that_only_secrets_show_gets_no_plan_and_is_no_failure)
{
    static const int not_public[] = { E_DENIED, -ENOENT };
    for (size_t i = 0; i < ARRAY_LEN(not_public); i++) {
        begin();
        bind_pod("a", "n1", "app:v1\n", "secret\n");
        answer(0, not_public[i], NULL);
        CHECK_INT(stats().skipped, 1);
        CHECK_INT(stats().failed, 0);
        CHECK_INT(stats().waiting, 0);
        bind_pod("a", "n1", "app:v1\n", "secret\n");
        bind_pod("b", "n1", "app:v1\n", ""); /* who has no other way to it */
        answer(1, not_public[i], NULL);
        CHECK_INT(stats().skipped, 1);
        CHECK_INT(stats().failed, 1);
        bind_pod("a", "n1", "app:v1\n", "secret\n");
        answer(2, -ETIMEDOUT, NULL);
        CHECK_INT(stats().failed, 2);
        end(3);
    }
}

TEST(an_image_that_needs_no_secrets_gets_a_plan_with_them)
{
    const struct oci_lookup_layer layer = { digest_of(1), digest_of(2), 10 };
    const struct oci_lookup_image image = { .layers = &layer, .n = 1 };
    begin();
    bind_pod("a", "n1", "app:v1\n", "secret\n");
    answer(0, 0, &image);
    CHECK_INT(stats().skipped, 0);
    CHECK_INT(stats().waiting, 1);
    end(1);
}

TEST(more_plans_than_fit_are_left_out_and_room_is_used_again)
{
    char node[32];
    begin();
    for (size_t i = 0; i < ORCHESTRATOR_PLANS_MAX + 3; i++) {
        (void)snprintf(node, sizeof node, "n%zu", i);
        bind_pod("a", node, "app:v1\n", "");
    }
    CHECK_INT(t.n_asked, ORCHESTRATOR_PLANS_MAX);
    CHECK_INT(stats().dropped, 3);
    answer(0, -ENOENT, NULL);
    CHECK_INT(stats().failed, 1);
    bind_pod("a", "again", "app:v1\n", "");
    CHECK_INT(t.n_asked, ORCHESTRATOR_PLANS_MAX + 1);
    end(1);
}

TEST(a_name_that_is_no_reference_fails_alone)
{
    begin();
    bind_pod("a", "n1", "wrong\napp:v1\n", "");
    CHECK_INT(stats().failed, 1);
    CHECK_INT(t.n_asked, 1);
    end(0);
}

TEST(nodes_of_another_architecture_get_no_plan)
{
    const struct sched_bound b = { .namespace = STR("default"),
                                   .name = STR("a"),
                                   .node = STR("n1"),
                                   .architecture = STR("none-such"),
                                   .images = STR("app:v1\n") };
    begin();
    orchestrator_bound(t.o, &b);
    CHECK_INT(t.n_asked, 0);
    CHECK_INT(stats().skipped, 1);
    end(0);
}

TEST(plans_do_not_wait_for_ever_for_what_nodes_tell)
{
    const struct oci_lookup_layer layer = { digest_of(1), digest_of(2), 10 };
    const struct oci_lookup_image image = { .layers = &layer, .n = 1 };
    begin();
    bind_pod("a", "n1", "app:v1\n", "");
    answer(0, 0, &image);
    CHECK_INT(stats().waiting, 1);
    loop_skip(&t.loop, ORCHESTRATOR_STATES_MS);
    bind_pod("b", "n1", "other:v1\n", "");
    CHECK_INT(stats().failed, 1);
    CHECK_INT(stats().waiting, 1);
    end(1);
}
/* ---- pods of a cluster that is there ---- */

static const char *const loopback[] = { "127.0.0.0/8" };

static void on_reported_gone(struct http_exchange *x, int r)
{
    (void)r;
    *(struct http_exchange **)http_exchange_data(x) = NULL;
}

static void on_reported(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { .on_gone = on_reported_gone };
    (void)req;
    (void)arg;
    CHECK(t.n_reported < ASKED_MAX);
    t.reported[t.n_reported] = x;
    http_exchange_set(x, &ops, &t.reported[t.n_reported++]);
}

static void begin_cluster_with(size_t n_networks, uint64_t prefetch_ms)
{
    const struct http_server_opts nodes = { .on_request = on_reported };
    fake_init(&t.cluster);
    begin_on(&t.cluster.base, (struct node_networks){ loopback, n_networks }, prefetch_ms);
    CHECK_OK(http_server_start(&t.loop, &nodes, &t.nodes, NULL));
}

static void begin_cluster(size_t n_networks, uint64_t prefetch_ms)
{
    memset(&t, 0, sizeof t);
    begin_cluster_with(n_networks, prefetch_ms);
}

static void on_deadline(struct timer *timer)
{
    (void)timer;
    TEST_FAIL("what should happen does not");
}

#define RUN_UNTIL(is)                                                                              \
    do {                                                                                           \
        struct timer deadline = { 0 };                                                             \
        timer_start(&t.loop, &deadline, 60000, on_deadline);                                       \
        while (!(is))                                                                              \
            (void)loop_turn(&t.loop, true);                                                        \
        timer_stop(&t.loop, &deadline);                                                            \
    } while (0)

/* The list that the orchestrator asks for after the first pod. */
static void send_list(const struct buf *items)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1 << 20);
    (void)buf_printf(&text,
                     "{\"kind\":\"NodeImageStateList\",\"apiVersion\":\"dormouse.dev/v1alpha1\","
                     "\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%s]}",
                     buf_cstr(items));
    CHECK(buf_ok(&text));
    RUN_UNTIL(t.cluster.n > 0);
    fake_head(&t.cluster.call[0], 200);
    fake_data(&t.cluster.call[0], buf_cstr(&text));
    fake_end(&t.cluster.call[0], 0);
}

static void add_item(struct buf *items, const struct node_state *s)
{
    struct arena a = { 0 };
    (void)buf_add_cstr(items, items->n ? "," : "");
    CHECK_OK(json_write(items, node_state_object(&a, s)));
    arena_fini(&a);
}

/* What n nodes "n00", "n01", ... at that host tell, skew_s from now; after the first pod. */
static void list_nodes(size_t n, const char *host, int64_t skew_s)
{
    char name[8], url[64];
    scoped(buf_fini_scoped) struct buf items = BUF_INIT(1 << 20);
    (void)snprintf(url, sizeof url, "http://%s:%u", host, http_server_port(t.nodes));
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "n%02zu", i);
        const struct node_state s = { .node = str_of(name),
                                      .url = str_of(url),
                                      .reported_wall_s = clock_wall_ms() / 1000 + skew_s,
                                      .upload_slots = 3,
                                      .cache_capacity = 100000 };
        add_item(&items, &s);
    }
    send_list(&items);
}

static const struct oci_lookup_layer one_layer = { { { 1 } }, { { 2 } }, 1000 };
static const struct oci_lookup_image one_image = {
    .layers = &one_layer, .n = 1, .manifest = { { 3 } }, .config = { { 4 } }
};

TEST(nodes_outside_the_networks_of_nodes_are_not_connected_to)
{
    static const char *const hosts[] = { "127.0.0.1", "localhost" }; /* known early, and late */
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        begin_cluster(0, 0);
        bind_pod("a", "n00", "app:v1\n", "");
        list_nodes(1, hosts[i], 0);
        answer(0, 0, &one_image);
        RUN_UNTIL(stats().skipped == 1);
        bind_pod("b", "n00", "app:v1\n", "");
        CHECK_INT(stats().skipped, 2);
        CHECK_INT(stats().failed, 0);
        CHECK_INT(t.n_reported, 0);
        CHECK_INT(t.n_asked, 1);
        end(1);
    }
    begin_cluster(1, 0);
    bind_pod("a", "n00", "app:v1\n", "");
    list_nodes(1, "127.0.0.1", 0);
    answer(0, 0, &one_image);
    RUN_UNTIL(t.n_reported == 1);
    end(1);
}
TEST(a_node_whose_clock_is_far_ahead_gets_no_plan)
{
    static const struct {
        int64_t skew_s;
        unsigned n_reported;
    } clocks[] = { { 20, 1 }, { 3600, 0 } };
    for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
        begin_cluster(1, 0);
        bind_pod("a", "n00", "app:v1\n", "");
        list_nodes(1, "127.0.0.1", clocks[i].skew_s);
        answer(0, 0, &one_image);
        RUN_UNTIL(t.n_reported + stats().skipped == 1);
        CHECK_INT(t.n_reported, clocks[i].n_reported);
        end(1);
    }
}

TEST(one_node_has_a_part_of_the_places)
{
    begin_cluster(1, 0);
    bind_pod("a", "n00", "a:v1\nb:v1\nc:v1\nd:v1\ne:v1\nf:v1\n", "");
    bind_pod("b", "n01", "a:v1\n", "");
    list_nodes(2, "127.0.0.1", 0);
    for (size_t i = 0; i < 6; i++)
        answer(i, 0, &one_image);
    RUN_UNTIL(t.n_reported == ORCHESTRATOR_NODE_MAX);
    CHECK_INT(stats().running, ORCHESTRATOR_NODE_MAX);
    CHECK_INT(stats().waiting, 3); /* one is asked for */
    answer(6, 0, &one_image);
    CHECK_INT(stats().running, ORCHESTRATOR_NODE_MAX + 1);
    RUN_UNTIL(t.n_reported == ORCHESTRATOR_NODE_MAX + 1);
    http_reply(t.reported[0], 403, NULL, STR("")); /* one of n00 */
    RUN_UNTIL(stats().failed == 1);
    CHECK_INT(stats().running, ORCHESTRATOR_NODE_MAX + 1);
    CHECK_INT(stats().waiting, 1);
    end(7);
}

TEST(a_node_that_answers_without_end_is_not_listened_to)
{
    enum { LONG = 100 << 10 };
    scoped(free_scoped) char *says =
        xasprintf("{\"state\":\"running\",\"more\":\"%0*d\"}", LONG, 0);
    begin_cluster(1, 0);
    bind_pod("a", "n00", "app:v1\n", "");
    list_nodes(1, "127.0.0.1", 0);
    answer(0, 0, &one_image);
    RUN_UNTIL(t.n_reported == 1);
    http_reply(t.reported[0], 202, NULL, str_of(says));
    RUN_UNTIL(stats().failed == 1 || t.n_reported == 2);
    CHECK_INT(stats().failed, 1);
    end(1);
}

/* ---- nodes that push ---- */

static void on_reported_to_push(struct http_exchange *x, const struct http_request *req, void *arg)
{
    (void)arg;
    t.is_pusher_reported = str_has_prefix(req->target, STR("/v1/bdm?digest="));
    http_reply(x, 202, NULL, STR(""));
}

/* t.ca, and a server at 127.0.0.1 whose certificate it has signed. */
static void make_tls(struct buf *ca)
{
    static const char *const names[] = { "127.0.0.1" };
    scoped(buf_fini_scoped) struct buf ca_key = BUF_INIT(1 << 16), cert = BUF_INIT(1 << 16);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(1 << 16);
    CHECK_OK(x509_make_ca("test", ca, &ca_key, NULL));
    CHECK_OK(
        x509_make_server(buf_str(ca), buf_str(&ca_key), "test", names, 1, 1, &cert, &key, NULL));
    CHECK_OK(tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), &t.pusher_tls, NULL));
    t.ca = buf_str(ca);
}

TEST(a_node_with_https_is_told_to_push_at_one_without)
{
    const struct oci_lookup_layer large = { { { 1 } }, { { 2 } }, 100 << 20 };
    const struct oci_lookup_image has_large = {
        .layers = &large, .n = 1, .manifest = { { 3 } }, .config = { { 4 } }
    };
    const struct oci_store_layer held = { .diff_id = large.diff_id, .has_blob = true };
    char url[64], pusher_url[64];
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(1 << 16), items = BUF_INIT(1 << 16);
    scoped(buf_fini_scoped) struct buf prefixes = BUF_INIT(1 << 10);
    memset(&t, 0, sizeof t);
    make_tls(&ca);
    t.is_push = true;
    begin_cluster_with(1, 0);
    const struct http_server_opts pusher = { .tls = t.pusher_tls,
                                             .on_request = on_reported_to_push };
    CHECK_OK(http_server_start(&t.loop, &pusher, &t.pusher, NULL));
    node_state_prefixes(&held, 1, &prefixes);
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", http_server_port(t.nodes));
    (void)snprintf(pusher_url, sizeof pusher_url, "https://127.0.0.1:%u",
                   http_server_port(t.pusher));
    const struct node_state to = { .node = STR("n00"),
                                   .url = str_of(url),
                                   .reported_wall_s = clock_wall_ms() / 1000,
                                   .rates = { .registry_bps = 1e6 },
                                   .upload_slots = 3,
                                   .cache_capacity = 1 << 30 };
    struct node_state from = to;
    from.node = STR("n01");
    from.url = str_of(pusher_url);
    from.prefixes = buf_str(&prefixes);
    add_item(&items, &to);
    add_item(&items, &from);
    bind_pod("a", "n00", "app:v1\n", "");
    send_list(&items);
    answer(0, 0, &has_large);
    RUN_UNTIL(t.n_reported == 1);
    http_reply(t.reported[0], 202, NULL, STR("{\"state\":\"running\"}"));
    RUN_UNTIL(t.is_pusher_reported);
    end(1);
}

/* Pods' plan of n00, and then prefetches of the image to idle nodes; the number of both. */
static size_t begin_prefetches(size_t n_nodes)
{
    enum { OFTEN = 30, PREFETCH_MS = 1000 };
    begin_cluster(1, PREFETCH_MS);
    for (size_t i = 0; i < OFTEN; i++)
        bind_pod("a", "n00", "app:v1\n", "");
    list_nodes(n_nodes, "127.0.0.1", 0);
    answer(0, 0, &one_image);
    RUN_UNTIL(t.n_reported == 1);
    for (size_t rounds = 0; rounds < 3; rounds++) {
        size_t before = t.n_reported;
        loop_skip(&t.loop, PREFETCH_MS);
        (void)loop_turn(&t.loop, false);
        RUN_UNTIL(t.n_reported == stats().running);
        if (t.n_reported == before)
            break;
    }
    return t.n_reported;
}

TEST(prefetches_leave_half_of_the_places_to_pods)
{
    size_t n = begin_prefetches(2 * ORCHESTRATOR_RUNNING_MAX);
    CHECK_INT(n, 1 + ORCHESTRATOR_PREFETCHES_MAX);
    http_reply(t.reported[1], 409, NULL, STR(""));
    RUN_UNTIL(stats().unwanted == 1);
    loop_skip(&t.loop, 1000);
    RUN_UNTIL(t.n_reported == n + 1); /* whose place is used again */
    CHECK_INT(stats().running, 1 + ORCHESTRATOR_PREFETCHES_MAX);
    end(1);
}

TEST(a_prefetch_that_ends_makes_room_for_a_plan_that_waits)
{
    enum { NODES = 2 * ORCHESTRATOR_RUNNING_MAX };
    char node[8];
    size_t n = begin_prefetches(NODES), n_pods = 1;
    CHECK(n > 1);
    for (size_t i = n; i < ORCHESTRATOR_RUNNING_MAX + 1; i++, n_pods++) {
        (void)snprintf(node, sizeof node, "n%02zu", NODES - i);
        bind_pod("b", node, "app:v1\n", "");
        answer(n_pods, 0, &one_image);
    }
    CHECK_INT(stats().running, ORCHESTRATOR_RUNNING_MAX);
    CHECK_INT(stats().waiting, 1);
    http_reply(t.reported[1], 409, NULL, STR(""));
    RUN_UNTIL(stats().unwanted == 1);
    CHECK_INT(stats().waiting, 0);
    CHECK_INT(stats().running, ORCHESTRATOR_RUNNING_MAX);
    end(n_pods);
}
TEST(what_a_node_says_of_a_prefetch_forges_nothing_in_the_log)
{
    static const char says[] = "{\"state\":\"failed\",\"error\":\"x\\\" r=1 \\u000alevel=error\"}";
    char got[16384];
    int saved = dup(STDERR_FILENO), file = memfd_create("log", MFD_CLOEXEC);
    (void)begin_prefetches(2);
    CHECK_INT(t.n_reported, 2);
    CHECK(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    log_setup(LOG_DEBUG, LOG_TEXT);
    http_reply(t.reported[1], 202, NULL, str_of(says));
    RUN_UNTIL(stats().unwanted == 1);
    log_setup(LOG_INFO, LOG_TEXT);
    CHECK_OK(dup2(saved, STDERR_FILENO));
    ssize_t n = pread(file, got, sizeof got, 0);
    CHECK(n > 0);
    struct str log = str_n(got, (size_t)n);
    CHECK(str_find(log, STR("reason=\"x\\\" r=1  level=error\"\n")) >= 0);
    (void)close(file);
    (void)close(saved);
    end(1);
}
TEST_MAIN
