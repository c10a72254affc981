/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of requests for images, what they find in caches of a cluster, and prefetch. */
#include "base/buf.h"
#include "base/mem.h"
#include "image/prefetch.h"
#include "lab/image/replay.h"
#include "test.h"

#include <math.h>

static int read_trace(const char *text, struct image_trace *ret, struct err *err)
{
    *ret = (struct image_trace){ 0 };
    return image_trace_read(str_of(text), ret, err);
}

TEST(a_file_may_name_layers_and_requests_in_any_order)
{
    struct image_trace t;
    struct err err;
    CHECK_OK(read_trace("request,2000,b,3\r\n# comment\n\nlayer,a,base,100\nlayer,a,\"top,a\",7\n"
                        "layer,b,base,100\nlayer,a,base,100\nrequest,1000,a\n",
                        &t, &err));
    CHECK_INT(t.layers.n, 2);
    CHECK_INT(t.images.n, 2);
    CHECK_INT(t.requests.n, 2);
    CHECK_INT(t.n_sites, 4);
    CHECK_INT(t.requests.p[0].at_ms, 1000);
    CHECK_INT(t.images.p[t.requests.p[0].image].n, 2);
    CHECK_INT(t.images.p[t.requests.p[1].image].n, 1);
    CHECK_INT(image_trace_bytes(&t), 107);
    image_trace_fini(&t);
}

TEST(a_malformed_file_is_refused_with_its_line)
{
    static const struct {
        const char *text, *want;
    } t[] = {
        { "layer,a,base,100\n", "there is no request in it" },
        { "request,1,a\n", "an image is requested of which no row names a layer" },
        { "layer,a,base,100\nlayer,b,base,101\n", "line 2: the layer has had another size before" },
        { "layer,a,base,-1\n", "line 1: the size of a layer is a number of bytes, at most 1 TiB" },
        { "layer,a,base\n", "line 1: expected layer,IMAGE,LAYER,BYTES" },
        { "request,1,a,64\n", "line 1: a site is a number from 0 to 63" },
        { "request,x,a\n", "line 1: the time of a request is a number of milliseconds" },
        { "pull,1,a\n", "line 1: a row begins with layer or request" },
        { "layer,\"a\n", "line 1: malformed row" },
    };
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        struct image_trace got;
        struct err err = { 0 };
        CHECK(read_trace(t[i].text, &got, &err) < 0);
        if (strcmp(err_text(&err), t[i].want) != 0)
            TEST_FAIL("'%s', expected '%s'", err_text(&err), t[i].want);
    }
}

static void draw(uint64_t seed, struct image_trace *ret)
{
    struct image_trace_draw d;
    struct err err;
    image_trace_draw_default(&d);
    d.seed = seed;
    *ret = (struct image_trace){ 0 };
    CHECK_OK(image_trace_draw(&d, ret, &err));
}

TEST(the_seed_decides_a_drawn_trace)
{
    struct image_trace a, b, c;
    draw(1, &a);
    draw(1, &b);
    draw(2, &c);
    CHECK_INT(a.requests.n, b.requests.n);
    CHECK(memcmp(a.requests.p, b.requests.p, a.requests.n * sizeof *a.requests.p) == 0);
    CHECK(a.requests.n != c.requests.n ||
          memcmp(a.requests.p, c.requests.p, a.requests.n * sizeof *a.requests.p) != 0);
    image_trace_fini(&a);
    image_trace_fini(&b);
    image_trace_fini(&c);
}

TEST(own_layers_of_a_second_version_know_those_of_the_first)
{
    struct image_trace t;
    unsigned n = 0;
    draw(4, &t);
    for (uint32_t i = 0; i < t.images.n; i++)
        for (uint32_t k = 0; k < t.images.p[i].n; k++) {
            uint32_t of = t.layers.p[t.refs.p[t.images.p[i].first + k]].version_of;
            if (of == 0)
                continue;
            CHECK(i % 2 == 1 && k > 0);
            CHECK_INT(t.refs.p[t.images.p[i - 1].first + k], of - 1);
            n++;
        }
    CHECK(n >= 2 * t.images.n / 2); /* two of its own at least */
    image_trace_fini(&t);
}

enum { FAVOURITES = 10, SITES = 5 };

/* The images that are asked for most at a site on one day. */
static void favourites(const struct image_trace *t, uint32_t site, uint32_t day, uint32_t *ret)
{
    uint32_t *n = xnew_n(uint32_t, t->images.n);
    for (size_t i = 0; i < t->requests.n; i++) {
        const struct image_trace_request *q = &t->requests.p[i];
        n[q->image] += q->site == site && q->at_ms / 86400000 == day;
    }
    for (int k = 0; k < FAVOURITES; k++) {
        ret[k] = 0;
        for (uint32_t i = 0; i < t->images.n; i++)
            if (n[i] > n[ret[k]])
                ret[k] = i;
        n[ret[k]] = 0;
    }
    free(n);
}

static unsigned n_common(const uint32_t *a, const uint32_t *b)
{
    unsigned n = 0;
    for (int i = 0; i < FAVOURITES; i++)
        for (int k = 0; k < FAVOURITES; k++)
            n += a[i] == b[k];
    return n;
}

TEST(favourites_overlap_between_sites_and_drift_over_days)
{
    struct image_trace t = { 0 };
    struct image_trace_draw d;
    struct err err;
    image_trace_draw_default(&d);
    d.seed = 7;
    d.requests_per_day = 20000;
    d.days = 30;
    d.burst = 0;
    CHECK_OK(image_trace_draw(&d, &t, &err));
    uint32_t at[SITES][FAVOURITES], later[FAVOURITES];
    unsigned overlap = 0;
    for (uint32_t s = 0; s < SITES; s++)
        favourites(&t, s, 0, at[s]);
    for (uint32_t a = 0; a < SITES; a++)
        for (uint32_t b = 0; b < a; b++)
            overlap += n_common(at[a], at[b]);
    double mean = overlap / 10.0 / FAVOURITES; /* ten pairs of sites */
    CHECK(mean > 0.5 && mean < 0.75);
    favourites(&t, 0, 29, later);
    CHECK(n_common(at[0], later) < FAVOURITES);
    image_trace_fini(&t);
}

TEST(a_draw_out_of_range_is_refused)
{
    struct image_trace_draw d;
    struct image_trace t;
    struct err err;
    image_trace_draw_default(&d);
    d.overlap = 1.5;
    CHECK_ERR(image_trace_draw(&d, &t, &err), E_INVALID);
    image_trace_draw_default(&d);
    d.zipf = NAN;
    CHECK_ERR(image_trace_draw(&d, &t, &err), E_INVALID);
    image_trace_draw_default(&d);
    d.requests_per_day = 1000000;
    CHECK_ERR(image_trace_draw(&d, &t, &err), E_INVALID);
}

/* ---- replay ---- */

static struct image_replay_result replay(const struct image_trace *t,
                                         const struct image_replay_options *o)
{
    struct image_replay_result r;
    struct err err;
    CHECK_OK(image_replay_run(t, o, &r, &err));
    return r;
}

TEST(layers_come_from_the_node_from_a_peer_or_over_the_wide_link)
{
    struct image_trace t;
    struct err err;
    CHECK_OK(read_trace("layer,a,base,1000000\nlayer,a,app,500000\nlayer,b,base,1000000\n"
                        "request,0,a,0\nrequest,1,b,0\nrequest,2,a,1\n",
                        &t, &err));
    struct image_replay_options o;
    image_replay_options_default(&o);
    o.n_nodes = 2;
    o.cache.capacity = 3000000;
    struct image_replay_result r = replay(&t, &o);
    CHECK_INT(r.deployments, 3);
    CHECK_INT(r.all_local, 1);
    CHECK_INT(r.sum.miss.n, 2);
    CHECK_INT(r.sum.local.n, 1);
    CHECK_INT(r.sum.edge.n, 2);
    CHECK_INT(r.sum.edge.bytes, 1500000);
    CHECK_INT(r.wan_bytes, 1500000);
    CHECK(fabs(r.fetch_s - (1.5 * 8 / 100 + 1.5 * 8 / 500) / 3) < 1e-9);
    image_trace_fini(&t);
}

TEST(each_request_is_counted_once_whatever_the_policy)
{
    struct image_trace t;
    draw(3, &t);
    for (int policy = 0; policy < IMAGE_CACHE_POLICIES; policy++)
        for (int place = 0; place < IMAGE_REPLAY_PLACES; place++) {
            struct image_replay_options o;
            uint64_t asked = 0;
            image_replay_options_default(&o);
            o.cache.policy = (enum image_cache_policy)policy;
            o.place = (enum image_replay_place)place;
            o.n_nodes = 7;
            o.drawn_sizes = true;
            o.cache.capacity = UINT64_C(700) << 20;
            o.cluster_aware = place == 1;
            struct image_replay_result r = replay(&t, &o), again = replay(&t, &o);
            for (size_t i = 0; i < t.requests.n; i++)
                asked += t.images.p[t.requests.p[i].image].n;
            CHECK_INT(r.sum.local.n + r.sum.edge.n + r.sum.miss.n, asked);
            CHECK_INT(r.wan_bytes, r.sum.miss.bytes);
            CHECK(memcmp(&r, &again, sizeof r) == 0);
            CHECK(r.capacity_min < o.cache.capacity && r.capacity_max > o.cache.capacity);
        }
    image_trace_fini(&t);
}

/* A trace of one site with two nodes whose links differ; a node has one slot, for a second. */
static struct image_replay_result replay_pair(const char *rows, enum image_replay_place place)
{
    struct image_trace t;
    struct image_replay_options o;
    struct err err;
    CHECK_OK(read_trace(rows, &t, &err));
    image_replay_options_default(&o);
    o.n_nodes = 2;
    o.cache.policy = IMAGE_CACHE_LRU;
    o.drawn_rates = true;
    o.place = place;
    o.slots = 1;
    o.run_ms = 1000;
    o.hold_ms = 1;
    o.registry_bps = 8000000; /* a byte in a microsecond */
    o.peer_bps = 80000000;
    struct image_replay_result r = replay(&t, &o);
    CHECK(r.rate_min >= 0.5 && r.rate_min < 1 && fabs(r.rate_min + r.rate_max - 2) < 1e-9);
    image_trace_fini(&t);
    return r;
}

static void check_seconds(struct image_replay_result r, double sum)
{
    if (fabs(r.fetch_s * (double)r.deployments - sum) > 1e-9)
        TEST_FAIL("%.9f s, expected %.9f", r.fetch_s * (double)r.deployments, sum);
}

TEST(netmarks_takes_the_fastest_node_that_has_a_slot_whatever_it_holds)
{
    struct image_replay_result r = replay_pair("layer,a,base,4000000\nrequest,0,a\nrequest,5000,a\n"
                                               "request,10000,a\nrequest,15000,a\n",
                                               IMAGE_REPLAY_NETMARKS);
    CHECK_INT(r.all_local, 3);
    check_seconds(r, 4 / r.rate_max);

    /* The second finds the fast node taken, the third both. */
    r = replay_pair("layer,a,base,4000000\nrequest,0,a\nrequest,1,a\nrequest,2,a\n",
                    IMAGE_REPLAY_NETMARKS);
    CHECK_INT(r.crowded, 1);
    CHECK_INT(r.all_local, 1);
    check_seconds(r, 4 / r.rate_max + 0.4 / r.rate_min);

    /* The slow node gets b while the fast one is taken, which has to fetch it later. */
    static const char b_on_slow[] = "layer,a,x,100\nlayer,b,y,4000000\nrequest,0,a\nrequest,1,b\n"
                                    "request,5000,b\n";
    r = replay_pair(b_on_slow, IMAGE_REPLAY_NETMARKS);
    CHECK_INT(r.all_local, 0);
    check_seconds(r, 1e-4 / r.rate_max + 4 / r.rate_min + 0.4 / r.rate_min);
    r = replay_pair(b_on_slow, IMAGE_REPLAY_PREDICTED);
    CHECK_INT(r.all_local, 1);
    check_seconds(r, 1e-4 / r.rate_max + 4 / r.rate_min);
}

/* The fast node has q and the slow one p, which is larger. */
#define P_AND_Q                                                                                    \
    "layer,q,q,1000000\nlayer,p,p,2000000\nrequest,0,q\nrequest,1,p\n"                             \
    "layer,all,q,1000000\nlayer,all,p,2000000\nrequest,5000,all\n"

TEST(predicted_weighs_what_a_node_holds_against_its_link)
{
    struct image_replay_result r =
        replay_pair(P_AND_Q "layer,all,z,9000000\n", IMAGE_REPLAY_PREDICTED);
    double before = 1 / r.rate_max + 2 / r.rate_min;
    check_seconds(r, before + 0.2 / r.rate_min + 9 / r.rate_max);
    r = replay_pair(P_AND_Q "layer,all,z,1000\n", IMAGE_REPLAY_PREDICTED);
    check_seconds(r, before + 0.1 / r.rate_min + 0.001 / r.rate_min);
}

TEST(links_are_drawn_with_the_same_mean_and_change_nothing_else)
{
    struct image_trace t;
    struct image_replay_options o;
    draw(5, &t);
    image_replay_options_default(&o);
    o.no_peers = true; /* the fastest of them sends, so links decide which of them is recent */
    struct image_replay_result equal = replay(&t, &o);
    CHECK(equal.rate_min == 1 && equal.rate_max == 1);
    o.drawn_rates = true;
    struct image_replay_result drawn = replay(&t, &o);
    CHECK(drawn.rate_min >= 0.5 && drawn.rate_max <= 1.5);
    CHECK(fabs(drawn.rate_min + drawn.rate_max - 2) < 1e-9);
    CHECK_INT(drawn.sum.local.n, equal.sum.local.n);
    o.seed++;
    CHECK(replay(&t, &o).rate_max != drawn.rate_max);
    image_trace_fini(&t);
}

TEST(round_trips_are_those_of_the_farthest_source_that_is_asked)
{
    struct image_trace t;
    struct image_replay_options o;
    struct err err;
    CHECK_OK(read_trace("layer,a,base,1000000\nlayer,b,base,1000000\nlayer,b,top,500000\n"
                        "request,0,a,0\nrequest,1,a,1\nrequest,2,b,1\nrequest,3,b,1\n",
                        &t, &err));
    image_replay_options_default(&o);
    o.n_nodes = 2;
    o.registry_rtt_ms = 200;
    o.peer_rtt_ms = 15;
    struct image_replay_result r = replay(&t, &o);
    /* From the registry, from the peer, one layer more from the registry, nothing. */
    check_seconds(r, 0.4 + 0.08 + 0.03 + 0.016 + 0.4 + 0.04);
    CHECK_INT(r.sum.edge.n, 1);
    o.no_peers = true;
    r = replay(&t, &o);
    check_seconds(r, 0.4 + 0.08 + 0.4 + 0.08 + 0.4 + 0.04);
    CHECK_INT(r.sum.edge.n, 0);
    CHECK_INT(r.wan_bytes, 2500000);
    o.peer_rtt_ms = IMAGE_REPLAY_RTT_MAX_MS + 1;
    CHECK_ERR(image_replay_run(&t, &o, &r, &err), E_INVALID);
    image_trace_fini(&t);
}

TEST(a_cache_of_nothing_keeps_nothing_and_waits_are_told_as_quantiles)
{
    struct image_trace t;
    struct image_replay_options o;
    struct err err;
    struct buf rows = BUF_INIT(1 << 16);
    for (int i = 1; i <= 20; i++)
        CHECK_OK(buf_printf(&rows, "layer,i%d,l%d,%d000000\nrequest,%d,i%d\n", i, i, i, i, i));
    CHECK_OK(buf_printf(&rows, "request,100000,i1\n"));
    CHECK_OK(read_trace(rows.p, &t, &err));
    buf_fini(&rows);
    image_replay_options_default(&o);
    o.n_nodes = 1;
    o.registry_bps = 8000000;
    for (int policy = 0; policy < IMAGE_CACHE_POLICIES; policy++) {
        o.cache.policy = (enum image_cache_policy)policy;
        o.cache.capacity = 0;
        struct image_replay_result r = replay(&t, &o);
        CHECK_INT(r.sum.local.n, 0);
        CHECK_INT(r.sum.miss.n, 21);
        check_seconds(r, 211);
        CHECK(fabs(r.fetch_median_s - 10) < 1e-9); /* 1 twice, so the eleventh of 21 */
        CHECK(fabs(r.fetch_p95_s - 19) < 1e-9);
    }
    image_trace_fini(&t);
}

TEST(arc_finds_more_on_the_node_than_lru_on_drawn_traces)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct image_trace t;
        struct image_replay_options o;
        draw(seed, &t);
        image_replay_options_default(&o);
        struct image_replay_result arc = replay(&t, &o);
        o.cache.policy = IMAGE_CACHE_LRU;
        struct image_replay_result lru = replay(&t, &o);
        CHECK(arc.sum.local.bytes > lru.sum.local.bytes);
        image_trace_fini(&t);
    }
}

/* What the design demands of prefetch. */
TEST(prefetch_raises_local_bytes_at_a_tenth_more_on_the_wide_link_at_most)
{
    for (uint64_t seed = 42; seed <= 44; seed++) {
        struct image_trace t;
        struct image_replay_options o;
        draw(seed, &t);
        image_replay_options_default(&o);
        struct image_replay_result without = replay(&t, &o);
        o.prefetch = true;
        struct image_replay_result with = replay(&t, &o);
        CHECK(with.sum.prefetched.n > 0);
        CHECK(with.sum.local.bytes > without.sum.local.bytes);
        CHECK((double)with.wan_bytes <= 1.1 * (double)without.wan_bytes);
        CHECK(with.sum.prefetch_used.bytes + with.sum.prefetch_wasted.bytes <=
              with.sum.prefetched.bytes);
        image_trace_fini(&t);
    }
}

TEST(options_out_of_range_are_refused)
{
    struct image_trace t;
    struct image_replay_options o;
    struct image_replay_result r;
    struct err err;
    CHECK_OK(read_trace("layer,a,base,1\nrequest,0,a\n", &t, &err));
    image_replay_options_default(&o);
    o.n_nodes = 0;
    CHECK_ERR(image_replay_run(&t, &o, &r, &err), E_INVALID);
    image_replay_options_default(&o);
    o.peer_bps = 0;
    CHECK_ERR(image_replay_run(&t, &o, &r, &err), E_INVALID);
    image_trace_fini(&t);
}

/* ---- starts that read files ---- */

/* One node for each of two sites, a byte in a microsecond from the registry, ten from a peer. */
static struct image_replay_options of_files(enum image_replay_start start, uint32_t n_nodes)
{
    struct image_replay_options o;
    image_replay_options_default(&o);
    o.start = start;
    o.files = (struct image_replay_files){ 0.5, 0.5, 100, 10, 3 };
    o.n_nodes = n_nodes;
    o.registry_bps = 8000000;
    o.peer_bps = 80000000;
    o.registry_rtt_ms = 100;
    o.peer_rtt_ms = 10;
    return o;
}

static const char two_images[] =
    "layer,a,base,1000\nlayer,a,app,550\nlayer,b,base,1000\nlayer,b,other,400\n";

TEST(a_start_by_files_waits_for_the_index_and_batches_of_files_that_are_missing)
{
    struct image_trace t;
    struct err err;
    char rows[512];
    (void)snprintf(rows, sizeof rows, "%srequest,0,a\nrequest,1,b\nrequest,2,a\n", two_images);
    CHECK_OK(read_trace(rows, &t, &err));
    struct image_replay_options o = of_files(IMAGE_REPLAY_FILES, 1);
    struct image_replay_result r = replay(&t, &o);
    /* Index of 10 + 6 files, connection, index, 5 + 3 files in 3 batches; b: base is there. */
    check_seconds(r, 160e-6 + 500e-6 + 275e-6 + 0.5 + 140e-6 + 200e-6 + 0.3);
    CHECK_INT(r.wan_bytes, 160 + 500 + 275 + 140 + 200);
    CHECK_INT(r.all_local, 1);
    o.files.batch = 0;
    check_seconds(replay(&t, &o), 160e-6 + 500e-6 + 275e-6 + 0.3 + 140e-6 + 200e-6 + 0.3);
    o.files.batch = 1;
    check_seconds(replay(&t, &o), 160e-6 + 500e-6 + 275e-6 + 1.0 + 140e-6 + 200e-6 + 0.4);
    image_trace_fini(&t);
}

TEST(files_come_from_peers_and_the_index_from_the_registry)
{
    struct image_trace t;
    struct err err;
    char rows[512];
    (void)snprintf(rows, sizeof rows, "%srequest,0,a,0\nrequest,1,a,1\nrequest,2,b,1\n",
                   two_images);
    CHECK_OK(read_trace(rows, &t, &err));
    struct image_replay_options o = of_files(IMAGE_REPLAY_FILES, 2);
    struct image_replay_result r = replay(&t, &o);
    check_seconds(r, 160e-6 + 775e-6 + 0.5               /* as before */
                         + 160e-6 + 0.2 + 77.5e-6 + 0.04 /* the index; 8 files from the peer */
                         + 140e-6 + 200e-6 + 0.3 /* b */);
    CHECK_INT(r.sum.edge.bytes, 775);
    o.no_peers = true;
    CHECK_INT(replay(&t, &o).sum.edge.n, 0);
    image_trace_fini(&t);
}

TEST(two_versions_of_a_layer_have_files_in_common)
{
    struct image_trace t;
    struct err err;
    CHECK_OK(read_trace("layer,a,x,1000\nlayer,b,y,600\nrequest,0,a\nrequest,1,b\n", &t, &err));
    struct image_replay_options o = of_files(IMAGE_REPLAY_FILES, 1);
    o.files.index_bytes = 0;
    CHECK_INT(replay(&t, &o).wan_bytes, 500 + 300);
    t.layers.p[1].version_of = 1;
    CHECK_INT(replay(&t, &o).wan_bytes, 500 + 300 - 150); /* a quarter of the smaller one, once */
    o.files.common = 0;
    CHECK_INT(replay(&t, &o).wan_bytes, 500 + 300);
    o.files.common = o.files.read = 1;
    CHECK_INT(replay(&t, &o).wan_bytes, 1000);
    t.requests.n = 1; /* a alone has all of x */
    CHECK_INT(replay(&t, &o).wan_bytes, 1000);
    t.requests.p[0].image = 1;
    CHECK_INT(replay(&t, &o).wan_bytes, 600);
    image_trace_fini(&t);
}

TEST(a_start_before_the_rest_waits_for_a_part_and_keeps_all)
{
    struct image_trace t;
    struct err err;
    char rows[512];
    (void)snprintf(rows, sizeof rows, "%srequest,0,a,0\nrequest,1,b,1\nrequest,2,b,1\n",
                   two_images);
    CHECK_OK(read_trace(rows, &t, &err));
    struct image_replay_options o = of_files(IMAGE_REPLAY_REST, 2);
    struct image_replay_result r = replay(&t, &o);
    check_seconds(r, 500e-6 + 275e-6 + 160e-6 + 0.4 /* four round trips to the registry */
                         + 60e-6 + 200e-6 + 40e-6 + 0.4 /* base and its tree from the peer */);
    CHECK_INT(r.wan_bytes, 1950);
    CHECK_INT(r.sum.edge.bytes, 1000);
    CHECK_INT(r.all_local, 1);
    image_trace_fini(&t);
}

TEST(parts_of_layers_out_of_range_are_refused)
{
    struct image_trace t;
    struct image_replay_result r;
    struct err err;
    CHECK_OK(read_trace("layer,a,base,1\nrequest,0,a\n", &t, &err));
    struct image_replay_options o = of_files(IMAGE_REPLAY_FILES, 1);
    o.files.read = 1.1;
    CHECK_ERR(image_replay_run(&t, &o, &r, &err), E_INVALID);
    o = of_files(IMAGE_REPLAY_FILES, 1);
    o.files.common = NAN;
    CHECK_ERR(image_replay_run(&t, &o, &r, &err), E_INVALID);
    o = of_files(IMAGE_REPLAY_FILES, 1);
    o.files.file_bytes = 0;
    CHECK_ERR(image_replay_run(&t, &o, &r, &err), E_INVALID);
    image_trace_fini(&t);
}

/* ---- prefetch ---- */

TEST(demand_halves_in_six_hours_and_reads_as_requests_per_hour)
{
    struct image_demand *d = image_demand_new(3, 2);
    uint64_t now = 0;
    for (int i = 0; i < 1000; i++) /* one in six minutes for 100 h */
        image_demand_add(d, 1, 2, now += 360000);
    double rate = image_demand_rate(d, 1, 2, now);
    CHECK(rate > 9.5 && rate < 10.5);
    CHECK(fabs(image_demand_rate(d, 1, 2, now + 6 * 3600000) - rate / 2) < 1e-6);
    CHECK(image_demand_rate(d, 0, 2, now) == 0);
    image_demand_free(d);
}

TEST(the_densest_layers_that_fit_are_chosen)
{
    struct image_prefetch_layer l[] = {
        { 0, 100, 10 }, { 1, 50, 50 }, { 2, 60, 30 }, { 3, 30, 1 }, { 4, 10, 0 }
    };
    size_t n = image_prefetch_choose(l, ARRAY_LEN(l), 90);
    CHECK_INT(n, 2);
    CHECK_INT(l[0].layer, 1);
    CHECK_INT(l[1].layer, 3); /* 2 is denser, and too large beside 1 */
    CHECK_INT(image_prefetch_choose(l, 0, 90), 0);
}

TEST(prefetch_pauses_for_a_day_when_less_than_half_was_used)
{
    struct image_prefetch_review j = { 0 };
    const uint64_t day = IMAGE_PREFETCH_JUDGE_MS;
    CHECK(image_prefetch_is_on(&j, day - 1, 0, 1000));
    CHECK(!image_prefetch_is_on(&j, day, 40, 60));
    CHECK(!image_prefetch_is_on(&j, 2 * day - 1, 40, 60));
    CHECK(image_prefetch_is_on(&j, 2 * day, 40, 60)); /* nothing since: once more */
    CHECK(image_prefetch_is_on(&j, 3 * day, 90, 110));
}

TEST_MAIN
