/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse replay: recorded load against policies of functions, in virtual time. */
#include "lab/cmd/commands.h"

#include "base/buf.h"
#include "base/mem.h"
#include "cmd/lab.h"
#include "codec/json.h"
#include "lab/fn/sim.h"

#include <inttypes.h>
#include <stdio.h>

enum { POLICIES_MAX = 16, OUTPUT_MAX_BYTES = 64 << 10 };

static struct cmd_list policies, places;
static const char *evict = "idlest", *arrivals = "exponential", *factor = "1", *output = "table";
static bool is_virtual, shift, dirigent_sweep;
static uint64_t nodes, node_cpu, node_memory, sandbox_cpu, from_minute, to_minute, warmup,
    cold_start, image_pull, seed, concurrency, utilization, stable, min_scale, max_scale;

static const struct cmd_opt opts[] = {
    { "policy", 'p', "NAME", "kpa, dirigent, mu, escargot, hybrid or all; may be repeated (kpa)",
      CMD_LIST, &policies, 0, 0 },
    { "place", 0, "NAME",
      "warm-first, kubernetes, power-of-d, image-locality, hermod, ch-rlu, round-robin, random or "
      "all; may be repeated (warm-first)",
      CMD_LIST, &places, 0, 0 },
    { "evict", 0, "NAME", "idlest or random (idlest)", CMD_STRING, &evict, 0, 0 },
    { "virtual", 0, NULL, "in virtual time; there is no other yet", CMD_FLAG, &is_virtual, 0, 0 },
    { "nodes", 'n', "N", "workers (93)", CMD_U64, &nodes, 1, SIM_NODES_MAX },
    { "node-cpu", 0, "MILLI", "CPU of each, in thousandths of a core (10000)", CMD_U64, &node_cpu,
      1, 1000000000 },
    { "node-memory", 0, "SIZE", "memory of each (64Gi)", CMD_SIZE, &node_memory, 0, 0 },
    { "sandbox-cpu", 0, "MILLI", "what a sandbox reserves; its memory is the function's mean (100)",
      CMD_U64, &sandbox_cpu, 0, 1000000000 },
    { "from-minute", 0, "N", "of the trace (0)", CMD_U64, &from_minute, 0, TRACE_MINUTES_MAX },
    { "to-minute", 0, "N", "before this one (its end)", CMD_U64, &to_minute, 0, TRACE_MINUTES_MAX },
    { "warmup", 0, "N", "minutes that are replayed and not counted (0)", CMD_U64, &warmup, 0,
      TRACE_MINUTES_MAX },
    { "scale", 0, "F", "times as many calls (1)", CMD_STRING, &factor, 0, 0 },
    { "arrivals", 0, "KIND", "exponential, equidistant or uniform in a minute (exponential)",
      CMD_STRING, &arrivals, 0, 0 },
    { "shift", 0, NULL, "turn each minute, so that it does not begin with a burst", CMD_FLAG,
      &shift, 0, 0 },
    { "cold-start-ms", 0, "N", "from decision to ready (40)", CMD_U64, &cold_start, 0, 3600000 },
    { "image-pull-ms", 0, "N", "beside it, where the image is not (0)", CMD_U64, &image_pull, 0,
      3600000 },
    { "concurrency", 0, "N", "calls that a sandbox takes at a time; 0: any number (1)", CMD_U64,
      &concurrency, 0, 1000 },
    { "utilization", 0, "PERCENT", "of the concurrency that is aimed at (the policy's)", CMD_U64,
      &utilization, 0, 100 },
    { "stable", 0, "TIME", "window (60s)", CMD_DURATION, &stable, 0, 0 },
    { "min", 0, "N", "sandboxes of each function at least (0)", CMD_U64, &min_scale, 0, 1000000 },
    { "max", 0, "N", "sandboxes of each function at most (no limit)", CMD_U64, &max_scale, 0,
      1000000 },
    { "sweep", 0, NULL, "policy dirigent: its preset for cold start sweeps", CMD_FLAG,
      &dirigent_sweep, 0, 0 },
    { "seed", 0, "N", "of everything that is drawn (42)", CMD_U64, &seed, 0, UINT64_MAX },
    { "output", 'o', "FORMAT", "table or json (table)", CMD_STRING, &output, 0, 0 },
    { .name = NULL },
};

static const struct cmd_opt *replay_opts(void)
{
    return opts;
}

static void set_defaults(const struct sim_options *o)
{
    nodes = o->n_nodes;
    node_cpu = (uint64_t)o->node.at[PLACE_CPU_MILLI];
    node_memory = (uint64_t)o->node.at[PLACE_MEMORY_BYTES];
    sandbox_cpu = (uint64_t)o->sandbox_cpu_milli;
    cold_start = o->cold_start_ms;
    seed = o->draw.seed;
    to_minute = o->to_minute;
    concurrency = 1;
    stable = 60000;
}

/* ---- options ---- */

static int read_arrivals(enum trace_arrivals *ret)
{
    static const char *const kinds[] = { [TRACE_EXPONENTIAL] = "exponential",
                                         [TRACE_EQUIDISTANT] = "equidistant",
                                         [TRACE_UNIFORM] = "uniform" };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(arrivals, kinds[i]) != 0)
            continue;
        *ret = (enum trace_arrivals)i;
        return 0;
    }
    return cmd_failf(CMD_USAGE, "--arrivals is exponential, equidistant or uniform, not '%s'",
                     arrivals);
}

static int read_factor(double *ret)
{
    struct arena a = { 0 };
    struct json *number;
    struct err ignored;
    int r = json_parse(&a, str_of(factor), NULL, &number, &ignored);
    if (r >= 0)
        r = json_float(number, ret);
    arena_fini(&a);
    if (r < 0 || *ret <= 0 || *ret > 10000)
        return cmd_failf(CMD_USAGE, "--scale is a number above 0, at most 10000, not '%s'", factor);
    return 0;
}

static int read_options(struct sim_options *o)
{
    if (strcmp(evict, "random") == 0)
        o->evict = PLACE_EVICT_RANDOM;
    else if (strcmp(evict, "idlest") != 0)
        return cmd_failf(CMD_USAGE, "--evict is idlest or random, not '%s'", evict);
    if (strcmp(output, "table") != 0 && strcmp(output, "json") != 0)
        return cmd_failf(CMD_USAGE, "--output is table or json, not '%s'", output);
    o->n_nodes = (uint32_t)nodes;
    o->node.at[PLACE_CPU_MILLI] = (int64_t)node_cpu;
    o->node.at[PLACE_MEMORY_BYTES] = (int64_t)MIN(node_memory, (uint64_t)INT64_MAX);
    o->sandbox_cpu_milli = (int64_t)sandbox_cpu;
    o->from_minute = (uint32_t)from_minute;
    o->to_minute = (uint32_t)to_minute;
    o->warmup_minutes = (uint32_t)warmup;
    o->cold_start_ms = (uint32_t)cold_start;
    o->image_ms = (uint32_t)image_pull;
    o->draw.seed = o->place.seed = seed;
    o->draw.shift = shift;
    int r = read_arrivals(&o->draw.arrivals);
    return r ? r : read_factor(&o->draw.scale);
}

static void policy_config(enum scale_policy policy, struct scale_config *c)
{
    scale_config_default(c, policy);
    if (policy == SCALE_DIRIGENT && dirigent_sweep)
        scale_config_sweep(c);
    else
        c->stable_ms = stable;
    c->concurrency = (uint32_t)concurrency;
    c->start_ms = cold_start;
    c->min = (uint32_t)min_scale;
    if (utilization)
        c->utilization = (double)utilization / 100;
    if (max_scale)
        c->max = (uint32_t)max_scale;
}

/* Parse a list of policy names; "all" means each of the n. Returns a cmd_exit. */
static int read_list(const struct cmd_list *words, const char *option, int n,
                     int (*find)(struct str word), int *ret, size_t *ret_n)
{
    *ret_n = 0;
    if (words->n == 0)
        ret[(*ret_n)++] = 0;
    for (size_t i = 0; i < words->n; i++) {
        if (strcmp(words->at[i], "all") == 0) {
            *ret_n = 0;
            while (*ret_n < (size_t)n) {
                ret[*ret_n] = (int)*ret_n;
                (*ret_n)++;
            }
            return 0;
        }
        int at = find(str_of(words->at[i]));
        if (at == n || *ret_n == POLICIES_MAX)
            return cmd_failf(CMD_USAGE, "--%s does not know '%s'", option, words->at[i]);
        ret[(*ret_n)++] = at;
    }
    return 0;
}

static int find_scale(struct str word)
{
    return (int)scale_policy_of(word);
}

static int find_place(struct str word)
{
    return (int)place_policy_of(word);
}

/* ---- results ---- */

#define GIB_S(mib_s) ((mib_s) / 1024)

static void add_head(struct buf *to)
{
    (void)buf_printf(to, "%-9s %-14s %9s %8s %6s %8s %9s %8s %9s %9s %8s %6s %10s %10s\n", "POLICY",
                     "PLACE", "CALLS", "COLD", "LOST", "SLOW-P50", "SLOW-P99", "WAIT-P50",
                     "WAIT-P99", "SANDBOXES", "AT-ONCE", "UNFIT", "GiB*s", "IDLE-GiB*s");
}

static void add_row(struct buf *to, const char *policy, const char *place,
                    const struct sim_result *r)
{
    (void)buf_printf(to,
                     "%-9s %-14s %9" PRIu64 " %8" PRIu64 " %6" PRIu64
                     " %8.3f %9.2f %8.2f %9.2f %9" PRIu64 " %8u %6" PRIu64 " %10.1f %10.1f\n",
                     policy, place, r->calls, r->cold_starts, r->unanswered, r->slowdown_p50,
                     r->slowdown_p99, r->function_wait_p50_ms, r->wait_p99_ms, r->sandboxes_created,
                     r->sandboxes_most, r->placements_failed, GIB_S(r->memory_mib_s),
                     GIB_S(r->idle_memory_mib_s));
}

static void add_json(struct buf *to, const char *policy, const char *place,
                     const struct sim_result *r)
{
    (void)buf_printf(to,
                     "{\"policy\":\"%s\",\"place\":\"%s\",\"calls\":%" PRIu64 ",\"functions\":%u,"
                     "\"coldStarts\":%" PRIu64 ",\"queued\":%" PRIu64 ",\"unanswered\":%" PRIu64
                     ",\"slowdown\":{\"p50\":%.6g,\"p90\":%.6g,\"p99\":%.6g},"
                     "\"waitMilliseconds\":{\"mean\":%.6g,\"p50\":%.6g,\"p99\":%.6g},"
                     "\"functionWaitMilliseconds\":{\"p50\":%.6g,\"p99\":%.6g},"
                     "\"sandboxesCreated\":%" PRIu64 ",\"sandboxesDeleted\":%" PRIu64
                     ",\"sandboxesAtOnce\":%u,\"placementsFailed\":%" PRIu64
                     ",\"memoryMiBSeconds\":%.6g,\"idleMemoryMiBSeconds\":%.6g,\"imageHits\":%.6g,"
                     "\"ticks\":%" PRIu64 ",\"reports\":%" PRIu64 "}",
                     policy, place, r->calls, r->functions, r->cold_starts, r->queued,
                     r->unanswered, r->slowdown_p50, r->slowdown_p90, r->slowdown_p99,
                     r->wait_mean_ms, r->wait_p50_ms, r->wait_p99_ms, r->function_wait_p50_ms,
                     r->function_wait_p99_ms, r->sandboxes_created, r->sandboxes_deleted,
                     r->sandboxes_most, r->placements_failed, r->memory_mib_s, r->idle_memory_mib_s,
                     r->image_hits, r->ticks, r->reports);
}

static int run_all(const struct trace *t, struct sim_options *o, const int *scales, size_t n_scales,
                   const int *spots, size_t n_spots)
{
    scoped(buf_fini_scoped) struct buf out = BUF_INIT(OUTPUT_MAX_BYTES);
    bool json = strcmp(output, "json") == 0;
    if (json)
        (void)buf_printf(&out, "{\"seed\":%" PRIu64 ",\"results\":[", o->draw.seed);
    else
        add_head(&out);
    for (size_t i = 0; i < n_scales * n_spots; i++) {
        struct err err = { 0 };
        struct sim_result r;
        o->place.policy = (enum place_policy)spots[i % n_spots];
        policy_config((enum scale_policy)scales[i / n_spots], &o->scale);
        if (sim_run(t, o, &r, &err) < 0)
            return cmd_fail(err.code == E_INVALID ? CMD_USAGE : CMD_FAILED, &err);
        const char *policy = scale_policy_name(o->scale.policy);
        const char *place = place_policy_name(o->place.policy);
        if (json && i)
            (void)buf_add_cstr(&out, ",\n ");
        if (json)
            add_json(&out, policy, place, &r);
        else
            add_row(&out, policy, place, &r);
    }
    if (json)
        (void)buf_add_cstr(&out, "]}\n");
    (void)fputs(buf_cstr(&out), stdout);
    return CMD_OK;
}

static int run(int argc, char **argv)
{
    struct sim_options o;
    int scales[POLICIES_MAX], spots[POLICIES_MAX];
    size_t n, n_scales, n_spots;
    sim_options_default(&o);
    set_defaults(&o);
    int r = cmd_parse(&replay_command, opts, argc, argv, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "name the directory of a trace");
    if ((r = read_options(&o)) ||
        (r = read_list(&policies, "policy", SCALE_POLICY_COUNT, find_scale, scales, &n_scales)) ||
        (r = read_list(&places, "place", PLACE_POLICY_COUNT, find_place, spots, &n_spots)))
        return r;
    struct err err = { 0 };
    struct trace *loaded;
    if (trace_load(argv[0], &loaded, &err) < 0)
        return cmd_fail(CMD_FAILED, &err);
    scoped(trace_free_scoped) struct trace *t = loaded;
    return run_all(t, &o, scales, n_scales, spots, n_spots);
}

const struct cmd replay_command = {
    LAB_REPLAY,
    .help =
        "Autoscaling and placement are decided by the code that the control plane runs; requests,\n"
        "sandboxes and time are simulated. Same trace, options and seed: same result.\n"
        "\n"
        "TRACE_DIR has invocations.csv, durations.csv and memory.csv (Azure Functions 2019 as\n"
        "InVitro samples it), Azure2021*.csv, or azure_spec*.csv (FaaSRail).\n"
        "\n"
        "  dormouse replay test/data/traces/azure2019-invitro-100 --policy all --to-minute 30 "
        "--warmup 10\n"
        "  dormouse replay test/data/traces/azure2019-invitro-100 --place all --nodes 20 "
        "--image-pull-ms 500 -o json\n"
        "\n"
        "SLOW is response time over run time: geometric mean of each function, percentiles over\n"
        "functions. WAIT is the rest of the response time in ms: P50 over the means of functions,\n"
        "P99 over calls. UNFIT counts sandboxes that no node had room for.\n",
    .run = run,
    .opts = replay_opts,
};
