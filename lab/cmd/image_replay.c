/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image replay: requests for images against layer caches, in virtual time. */
#include "lab/cmd/commands.h"

#include "base/buf.h"
#include "cmd/lab.h"
#include "cmd/text_table.h"
#include "codec/json.h"
#include "lab/image/replay.h"

#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 16 << 20, RUNS_MAX = 64 };

static struct cmd_list policies, node_counts, cache_sizes;
static const char *place = "random", *output = "table", *zipf, *overlap, *drift, *burst;
static bool drawn, drawn_rates, no_peers, prefetch, best_fit, cluster_aware, by_refetch;
static uint64_t seed = 42, images, sites, days, requests, hold, registry, peer, bypass = 50;
static uint64_t slots, run_time, registry_rtt, peer_rtt, file_bytes, index_bytes = 52, batch = 16;
static const char *start = "whole", *read_part, *common;

static const struct cmd_opt opts[] = {
    CMD_SECTION("The cluster"),
    { "policy", 'p', "NAME", "arc, lru, lfu or all; may be repeated (all)", CMD_LIST, &policies, 0,
      0 },
    { "nodes", 'n', "N", "nodes; may be repeated (10)", CMD_LIST, &node_counts, 0, 0 },
    { "cache", 'c', "SIZE", "layer cache of a node; may be repeated (1000Mi)", CMD_LIST,
      &cache_sizes, 0, 0 },
    { "drawn-sizes", 0, NULL, "caches of different sizes with the same sum", CMD_FLAG, &drawn, 0,
      0 },
    { "place", 0, "HOW",
      "random, turn, locality, netmarks or predicted: the node of a site that a request goes to "
      "(random)",
      CMD_STRING, &place, 0, 0 },
    { "slots", 0, "N", "deployments that run on a node at a time (any number)", CMD_U64, &slots, 1,
      1000000 },
    { "run", 0, "TIME", "how long a deployment has its slot (1m)", CMD_DURATION, &run_time, 0, 0 },
    { "hold", 0, "TIME", "how long the layers of a request cannot be evicted (1m)", CMD_DURATION,
      &hold, 0, 0 },
    { "registry-mbit", 0, "N", "rate from the registry to a node (100)", CMD_U64, &registry, 1,
      1000000 },
    { "peer-mbit", 0, "N", "rate from a peer (500)", CMD_U64, &peer, 1, 1000000 },
    { "registry-rtt", 0, "TIME", "round trip to the registry (0)", CMD_DURATION, &registry_rtt, 0,
      0 },
    { "peer-rtt", 0, "TIME", "round trip to a peer (0)", CMD_DURATION, &peer_rtt, 0, 0 },
    { "drawn-rates", 0, NULL, "links of different rates with the same mean", CMD_FLAG, &drawn_rates,
      0, 0 },
    { "no-peers", 0, NULL, "all that is missing comes from the registry", CMD_FLAG, &no_peers, 0,
      0 },
    CMD_SECTION("Caches"),
    { "prefetch", 0, NULL, "fetch popular layers before they are asked for", CMD_FLAG, &prefetch, 0,
      0 },
    { "bypass-percent", 0, "N", "of the cache; larger layers are not kept (50)", CMD_U64, &bypass,
      1, 100 },
    { "best-fit", 0, NULL, "of the four least recent layers evict the smallest that is enough",
      CMD_FLAG, &best_fit, 0, 0 },
    { "cluster-aware", 0, NULL, "rather evict what two other nodes hold", CMD_FLAG, &cluster_aware,
      0, 0 },
    { "by-refetch", 0, NULL, "arc: adapt by the time of a fetch and not by bytes", CMD_FLAG,
      &by_refetch, 0, 0 },
    CMD_SECTION("Starts"),
    { "start", 0, "HOW",
      "what a deployment waits for: whole layers; what is read, and the rest follows; or files on "
      "first access, and nothing else is fetched: whole, rest or files (whole)",
      CMD_STRING, &start, 0, 0 },
    { "read", 0, "F", "part of each layer's bytes that a start reads (0.064)", CMD_STRING,
      &read_part, 0, 0 },
    { "common", 0, "F",
      "part of these that the same layer of an image's other version has: files (0.55)", CMD_STRING,
      &common, 0, 0 },
    { "file-bytes", 0, "N", "compressed bytes of a file in the mean (14500)", CMD_U64, &file_bytes,
      1, IMAGE_CACHE_SIZE_MAX },
    { "index-bytes", 0, "N", "of an index or tree for each file (52)", CMD_U64, &index_bytes, 0,
      IMAGE_REPLAY_INDEX_MAX_BYTES },
    { "batch", 0, "N", "files in a round trip; 0: all (16)", CMD_U64, &batch, 0, UINT64_MAX },
    CMD_SECTION("A trace that is drawn"),
    { "seed", 0, "N", "of all that is drawn (42)", CMD_U64, &seed, 0, UINT64_MAX },
    { "images", 0, "N", "images (200)", CMD_U64, &images, 1, IMAGE_TRACE_IMAGES_MAX },
    { "sites", 0, "N", "sites (5)", CMD_U64, &sites, 1, IMAGE_TRACE_SITES_MAX },
    { "days", 0, "N", "days (7)", CMD_U64, &days, 1, 3650 },
    { "requests", 0, "N", "requests of a site in a day (400)", CMD_U64, &requests, 1, 1000000 },
    { "zipf", 0, "S", "exponent of the popularity (1)", CMD_STRING, &zipf, 0, 0 },
    { "overlap", 0, "F", "part of the favourites that all sites share (0.6)", CMD_STRING, &overlap,
      0, 0 },
    { "drift", 0, "F", "part of the ranks that change in a day (0.1)", CMD_STRING, &drift, 0, 0 },
    { "burst", 0, "F", "part of the requests that begin a burst (0.05)", CMD_STRING, &burst, 0, 0 },
    { "output", 'o', "FORMAT", "table or json (table)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *image_replay_opts(void)
{
    return opts;
}

/* ---- options ---- */

struct image_replay_plan {
    enum image_cache_policy policies[IMAGE_CACHE_POLICIES];
    uint64_t nodes[RUNS_MAX], caches[RUNS_MAX];
    size_t n_policies, n_nodes, n_caches;
    struct image_replay_options o;
};

static int read_policies(struct image_replay_plan *p)
{
    bool all = policies.n == 0, wanted[IMAGE_CACHE_POLICIES] = { false };
    for (size_t i = 0; i < policies.n; i++) {
        enum image_cache_policy at = image_cache_policy_of(str_of(policies.at[i]));
        all = all || strcmp(policies.at[i], "all") == 0;
        if (at < IMAGE_CACHE_POLICIES)
            wanted[at] = true;
        else if (!all)
            return cmd_failf(CMD_USAGE, "--policy is arc, lru, lfu or all, not '%s'",
                             policies.at[i]);
    }
    for (int i = 0; i < IMAGE_CACHE_POLICIES; i++)
        if (all || wanted[i])
            p->policies[p->n_policies++] = (enum image_cache_policy)i;
    return 0;
}

/* Parse the values of a repeatable option as the parser parses a single value. */
static int read_list(const struct cmd_list *words, bool are_sizes, const char *name, uint64_t most,
                     uint64_t otherwise, uint64_t *ret, size_t *ret_n)
{
    for (size_t i = 0; i < words->n; i++) {
        int r = are_sizes ? cmd_parse_size(words->at[i], &ret[i])
                          : parse_u64(str_of(words->at[i]), 1, most, &ret[i]);
        if (r < 0 || ret[i] > most)
            return cmd_failf(CMD_USAGE, "--%s cannot be '%s'", name, words->at[i]);
    }
    *ret_n = words->n;
    if (words->n == 0) {
        ret[0] = otherwise;
        *ret_n = 1;
    }
    return 0;
}

static int read_place(enum image_replay_place *ret)
{
    *ret = image_replay_place_of(str_of(place));
    if (*ret < IMAGE_REPLAY_PLACES)
        return 0;
    return cmd_failf(CMD_USAGE,
                     "--place is random, turn, locality, netmarks or predicted, not '%s'", place);
}

static int read_number(const char *text, const char *name, double *ret)
{
    struct arena a = { 0 };
    struct json *number;
    struct err ignored;
    if (!text)
        return 0;
    int r = json_parse(&a, str_of(text), NULL, &number, &ignored);
    if (r >= 0)
        r = json_float(number, ret);
    arena_fini(&a);
    return r < 0 ? cmd_failf(CMD_USAGE, "--%s is a number, not '%s'", name, text) : 0;
}

static int read_start(struct image_replay_options *o)
{
    o->start = image_replay_start_of(str_of(start));
    if (o->start == IMAGE_REPLAY_STARTS)
        return cmd_failf(CMD_USAGE, "--start is whole, rest or files, not '%s'", start);
    if (file_bytes)
        o->files.file_bytes = file_bytes;
    o->files.index_bytes = index_bytes;
    o->files.batch = batch;
    int r = read_number(read_part, "read", &o->files.read);
    return r ? r : read_number(common, "common", &o->files.common);
}

static int read_plan(struct image_replay_plan *p)
{
    struct image_replay_options *o = &p->o;
    image_replay_options_default(o);
    if (strcmp(output, "table") != 0 && strcmp(output, "json") != 0)
        return cmd_failf(CMD_USAGE, "--output is table or json, not '%s'", output);
    o->drawn_sizes = drawn;
    o->drawn_rates = drawn_rates;
    o->no_peers = no_peers;
    o->prefetch = prefetch;
    o->cluster_aware = cluster_aware;
    o->seed = seed;
    o->cache.best_fit = best_fit;
    o->cache.by_refetch = by_refetch;
    o->cache.bypass_percent = (unsigned)bypass;
    if (hold)
        o->hold_ms = hold;
    if (registry)
        o->registry_bps = registry * 1000000;
    if (peer)
        o->peer_bps = peer * 1000000;
    o->slots = (uint32_t)slots;
    o->registry_rtt_ms = registry_rtt;
    o->peer_rtt_ms = peer_rtt;
    if (run_time)
        o->run_ms = run_time;
    int r = read_policies(p);
    if (r == 0)
        r = read_place(&o->place);
    if (r == 0)
        r = read_start(o);
    if (r == 0)
        r = read_list(&node_counts, false, "nodes", IMAGE_REPLAY_NODES_MAX, o->n_nodes, p->nodes,
                      &p->n_nodes);
    if (r == 0)
        r = read_list(&cache_sizes, true, "cache", IMAGE_CACHE_SIZE_MAX / 2, o->cache.capacity,
                      p->caches, &p->n_caches);
    return r;
}

/* Load the trace from a file, or draw it. Returns a cmd_exit. */
static int get_trace(const char *path, struct image_trace *ret)
{
    struct err err = { 0 };
    struct image_trace_draw d;
    image_trace_draw_default(&d);
    d.seed = seed;
    d.images = images ? (uint32_t)images : d.images;
    d.sites = sites ? (uint32_t)sites : d.sites;
    d.days = days ? (uint32_t)days : d.days;
    d.requests_per_day = requests ? (uint32_t)requests : d.requests_per_day;
    int r = read_number(zipf, "zipf", &d.zipf);
    if (r == 0)
        r = read_number(overlap, "overlap", &d.overlap);
    if (r == 0)
        r = read_number(drift, "drift", &d.drift);
    if (r == 0)
        r = read_number(burst, "burst", &d.burst);
    if (r)
        return r;
    r = path ? image_trace_load(path, ret, &err) : image_trace_draw(&d, ret, &err);
    return r < 0 ? cmd_fail(path ? CMD_FAILED : CMD_USAGE, &err) : 0;
}

/* ---- results ---- */

struct image_replay_run {
    enum image_cache_policy policy;
    uint64_t nodes, cache;
    struct image_replay_result r;
};

static double part(uint64_t of, uint64_t all)
{
    return all ? (double)of / (double)all : 0;
}

static struct image_cache_count asked(const struct image_replay_run *x)
{
    const struct image_cache_stats *s = &x->r.sum;
    return (struct image_cache_count){ s->local.n + s->edge.n + s->miss.n,
                                       s->local.bytes + s->edge.bytes + s->miss.bytes };
}

static void add_count(struct arena *a, struct json *to, const char *name,
                      struct image_cache_count c)
{
    struct json *v = json_obj(a, to, name);
    json_set_int(a, v, "layers", (int64_t)c.n);
    json_set_int(a, v, "bytes", (int64_t)c.bytes);
}

static void add_ratio(struct arena *a, struct json *to, const char *name,
                      struct image_cache_count c, struct image_cache_count all)
{
    struct json *v = json_obj(a, to, name);
    json_setc(a, v, "requests", json_new_float(a, part(c.n, all.n)));
    json_setc(a, v, "bytes", json_new_float(a, part(c.bytes, all.bytes)));
}

static struct json *run_json(struct arena *a, const struct image_replay_run *x)
{
    const struct image_cache_stats *s = &x->r.sum;
    struct json *v = json_new_object(a);
    json_set_str(a, v, "policy", str_of(image_cache_policy_name(x->policy)));
    json_set_int(a, v, "nodes", (int64_t)x->nodes);
    json_set_int(a, v, "cacheBytes", (int64_t)x->cache);
    json_set_int(a, v, "cacheBytesLeast", (int64_t)x->r.capacity_min);
    json_set_int(a, v, "cacheBytesMost", (int64_t)x->r.capacity_max);
    json_setc(a, v, "linkRateLeast", json_new_float(a, x->r.rate_min));
    json_setc(a, v, "linkRateMost", json_new_float(a, x->r.rate_max));
    json_set_int(a, v, "deployments", (int64_t)x->r.deployments);
    json_set_int(a, v, "deploymentsWithoutFetch", (int64_t)x->r.all_local);
    json_set_int(a, v, "deploymentsWithoutSlot", (int64_t)x->r.crowded);
    add_count(a, v, "requested", asked(x));
    add_ratio(a, v, "localHitRatio", s->local, asked(x));
    add_ratio(a, v, "edgeHitRatio", s->edge, asked(x));
    json_set_int(a, v, "wideAreaBytes", (int64_t)x->r.wan_bytes);
    json_setc(a, v, "fetchSeconds", json_new_float(a, x->r.fetch_s));
    json_setc(a, v, "fetchMedianSeconds", json_new_float(a, x->r.fetch_median_s));
    json_setc(a, v, "fetchP95Seconds", json_new_float(a, x->r.fetch_p95_s));
    add_count(a, v, "evicted", s->evicted);
    add_count(a, v, "bypassed", s->bypassed);
    add_count(a, v, "refused", s->refused);
    add_count(a, v, "prefetched", s->prefetched);
    add_count(a, v, "prefetchUsed", s->prefetch_used);
    add_count(a, v, "prefetchWasted", s->prefetch_wasted);
    json_set_int(a, v, "prefetchWideAreaBytes", (int64_t)x->r.prefetch_wan_bytes);
    return v;
}

static void print_json(struct arena *a, const struct image_trace *t,
                       const struct image_replay_run *runs, size_t n)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    struct json *v = json_new_object(a), *trace = json_obj(a, v, "trace");
    struct json *list = json_new_array(a);
    json_set_int(a, trace, "images", (int64_t)t->images.n);
    json_set_int(a, trace, "layers", (int64_t)t->layers.n);
    json_set_int(a, trace, "layerBytes", (int64_t)image_trace_bytes(t));
    json_set_int(a, trace, "requests", (int64_t)t->requests.n);
    json_set_int(a, trace, "sites", (int64_t)t->n_sites);
    for (size_t i = 0; i < n; i++)
        json_add(list, run_json(a, &runs[i]));
    json_setc(a, v, "results", list);
    (void)json_write_pretty(&out, v, 2);
    (void)printf(STR_FMT "\n", STR_ARG(buf_str(&out)));
}

static void cell(struct text_table *t, const char *fmt, double v)
{
    text_table_cell(t, str_of(v < 0           ? "-"
                              : fmt[0] == '3' ? arena_printf(t->a, "%.3f", v)
                                              : arena_printf(t->a, "%.1f", v)));
}

static void print_table(struct arena *a, const struct image_trace *trace,
                        const struct image_replay_run *runs, size_t n)
{
    static const char *const head[] = { "POLICY",     "NODES", "CACHE-MB",     "LOCAL",
                                        "LOCAL-BYTE", "EDGE",  "EDGE-BYTE",    "WAN-GB",
                                        "FETCH-S",    "P95-S", "PREFETCH-USED" };
    struct text_table t = { .a = a, .n_columns = ARRAY_LEN(head) };
    (void)printf("%zu requests for %zu images of %zu layers, %.2f GB\n\n", trace->requests.n,
                 trace->images.n, trace->layers.n, (double)image_trace_bytes(trace) / 1e9);
    text_table_head(&t, head);
    for (size_t i = 0; i < n; i++) {
        const struct image_replay_run *x = &runs[i];
        const struct image_cache_stats *s = &x->r.sum;
        struct image_cache_count all = asked(x);
        uint64_t done = s->prefetch_used.bytes + s->prefetch_wasted.bytes;
        text_table_cell(&t, str_of(image_cache_policy_name(x->policy)));
        text_table_cell(&t, str_of(arena_printf(a, "%llu", (unsigned long long)x->nodes)));
        cell(&t, "1", (double)x->cache / 1e6);
        cell(&t, "3", part(s->local.n, all.n));
        cell(&t, "3", part(s->local.bytes, all.bytes));
        cell(&t, "3", part(s->edge.n, all.n));
        cell(&t, "3", part(s->edge.bytes, all.bytes));
        cell(&t, "1", (double)x->r.wan_bytes / 1e9);
        cell(&t, "3", x->r.fetch_s);
        cell(&t, "3", x->r.fetch_p95_s);
        cell(&t, "3", done ? part(s->prefetch_used.bytes, done) : -1);
    }
    text_table_print(&t, stdout);
}

static int run_all(struct image_replay_plan *p, const struct image_trace *t,
                   struct image_replay_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct err err = { 0 };
        struct image_replay_run *x = &runs[i];
        x->policy = p->policies[i % p->n_policies];
        x->nodes = p->nodes[i / p->n_policies % p->n_nodes];
        x->cache = p->caches[i / p->n_policies / p->n_nodes];
        p->o.cache.policy = x->policy;
        p->o.cache.capacity = x->cache;
        p->o.n_nodes = (uint32_t)x->nodes;
        if (image_replay_run(t, &p->o, &x->r, &err) < 0)
            return cmd_fail(CMD_USAGE, &err);
    }
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    struct image_replay_plan p = { 0 };
    struct arena a = { 0 };
    size_t n;
    int r = cmd_parse(&image_replay_command, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    scoped(image_trace_fini_scoped) struct image_trace t = { 0 };
    if ((r = read_plan(&p)) || (r = get_trace(n ? argv[0] : NULL, &t)))
        return r;
    n = p.n_policies * p.n_nodes * p.n_caches;
    scoped(free_scoped) struct image_replay_run *runs = xnew_n(struct image_replay_run, n);
    r = run_all(&p, &t, runs, n);
    if (r == CMD_OK && strcmp(output, "json") == 0)
        print_json(&a, &t, runs, n);
    else if (r == CMD_OK)
        print_table(&a, &t, runs, n);
    arena_fini(&a);
    return r;
}

const struct cmd image_replay_command = {
    LAB_IMAGE_REPLAY,
    .help =
        "Replacement and prefetch are decided by the code that nodes run; requests and time are\n"
        "simulated. Same trace, options and seed: same result.\n"
        "\n"
        "Without a file a trace is drawn: Zipf over images, favourites that drift from day to day\n"
        "and are in part those of all sites, bursts of one image; two versions of an image share\n"
        "base and runtime layers. A file has rows of two kinds, in any order (RFC 4180; a row "
        "that\n"
        "begins with # is passed over):\n"
        "\n"
        "  layer,IMAGE,LAYER,BYTES             a layer of an image, the lowest first\n"
        "  request,MILLISECONDS,IMAGE[,SITE]   a request; sites count from 0\n"
        "\n"
        "  dormouse image replay --nodes 4 --nodes 10 --cache 500Mi --cache 1000Mi\n"
        "  dormouse image replay requests.csv --policy arc --prefetch -o json\n"
        "\n"
        "Places: netmarks is the node with the fastest link, whatever it holds; predicted the one\n"
        "where the deployment waits least; both, as locality, by turns among equals. With\n"
        "--drawn-rates links are between half and one and a half times as fast, and between two\n"
        "nodes the slower one counts.\n"
        "\n"
        "Starts: with rest a deployment waits for the trees of its layers and for what it reads "
        "of\n"
        "them, in four round trips. With files, as Gear does it, for the index of the image and\n"
        "then for files by digest, some in a round trip; a cache keeps of a layer the files that\n"
        "are read, as one. Two versions of a drawn image have files in common; images of a file\n"
        "have whole layers in common, and nothing else.\n"
        "\n"
        "LOCAL and EDGE are the parts of the layers that were on the node and at another node;\n"
        "LOCAL-BYTE and EDGE-BYTE the same by bytes. WAN-GB came from the registry, prefetches\n"
        "included. FETCH-S is the mean time that a deployment waits for its layers, which come "
        "one\n"
        "after the other at the full rate of the links, after two round trips; P95-S is the 95th\n"
        "percentile. PREFETCH-USED is the part of the prefetched bytes that was asked for before "
        "it\n"
        "was evicted.\n",
    .run = run,
    .opts = image_replay_opts,
};
