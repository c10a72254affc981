/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of requests for images, what they find in caches of a cluster, and prefetch. */
#include "base/mem.h"
#include "image/prefetch.h"
#include "image/replay.h"
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
        for (int place = 0; place < 3; place++) {
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
    struct image_prefetch_judge j = { 0 };
    const uint64_t day = IMAGE_PREFETCH_JUDGE_MS;
    CHECK(image_prefetch_is_on(&j, day - 1, 0, 1000));
    CHECK(!image_prefetch_is_on(&j, day, 40, 60));
    CHECK(!image_prefetch_is_on(&j, 2 * day - 1, 40, 60));
    CHECK(image_prefetch_is_on(&j, 2 * day, 40, 60)); /* nothing since: once more */
    CHECK(image_prefetch_is_on(&j, 3 * day, 90, 110));
}

TEST_MAIN
