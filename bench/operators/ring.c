/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives the ring of the wasm-operator paper against any Kubernetes API:
 *
 *     ring setup   --kubeconfig F --operators N [--module-prefix controller] [--heap MIB]
 *     ring rounds  --kubeconfig F --operators N --rounds R [--first J] [--asleep DATA_DIR]
 *     ring wait    --operators N --asleep DATA_DIR
 *     ring delete  --kubeconfig F --operators N
 *
 * Operator i (namespace "operators", object "ring-i") watches namespace "ring<i>" and writes
 * "ring<i+1 mod N>". A round sets the nonce in ring0 and ends when it has arrived in ring<N-1>. All
 * arrivals are seen by one watch over all namespaces, so that the time of each hop is the distance
 * between two neighbouring arrivals: no process start, no polling. --asleep waits before each round
 * until the server of that data directory says that every guest sleeps. Results are JSON on stdout.
 */
#include "driver.h"

#include "cmd/cmd.h"

static const char *kubeconfig, *prefix = "controller", *asleep_dir, *abi = "g2", *base = "ring";
static uint64_t operators = 10, rounds = 10, first_nonce = 1, heap_mib;
static bool raw, no_operators;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE", "the cluster", CMD_STRING, &kubeconfig, 0, 0 },
    { "operators", 0, "N", "length of the ring (10)", CMD_U64, &operators, 2, 20000 },
    { "module-prefix", 0, "NAME", "modules are NAME<i>.wasm (controller)", CMD_STRING, &prefix, 0,
      0 },
    { "base", 0, "NAME", "work namespaces are NAME<i> (ring)", CMD_STRING, &base, 0, 0 },
    { "no-operators", 0, NULL,
      "setup: only the namespaces and the CRD; something else runs the operators", CMD_FLAG,
      &no_operators, 0, 0 },
    { "abi", 0, "ABI", "g1, g2 or v1 (g2)", CMD_STRING, &abi, 0, 0 },
    { "heap", 0, "MIB", "HEAP_MEM_SIZE of each operator (0)", CMD_U64, &heap_mib, 0, 1024 },
    { "rounds", 0, "R", "rounds to drive (10)", CMD_U64, &rounds, 1, 100000 },
    { "first", 0, "J", "nonce of the first round (1); later rounds must go up", CMD_U64,
      &first_nonce, 1, UINT32_MAX },
    { "asleep", 0, "DIR", "before each round wait until all guests of this data directory sleep",
      CMD_STRING, &asleep_dir, 0, 0 },
    { "raw", 0, NULL, "print every hop and round in microseconds, too", CMD_FLAG, &raw, 0, 0 },
    { .name = NULL },
};

static const struct cmd ring_cmd = { .name = "ring",
                                     .args = "setup|rounds|wait|delete",
                                     .doc = "drive the paper's ring" };

struct ring {
    struct driver driver;
    uint64_t *arrived_ns; /* per operator, of the running round */
    uint64_t nonce;
    size_t left; /* arrivals of the running round that are missing */
};

/* As guests/ring/rbac.yaml: the paper's, of the verbs that are used. */
static const char rules[] = "{\"apiGroups\":[\"amurant.io\"],\"resources\":[\"testresources\"],"
                            "\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"update\"]}";

static void setup(struct driver *d)
{
    driver_create_crd(d);
    driver_create_namespace(d, "operators");
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *name = xasprintf("%s%" PRIu64, base, i);
        driver_create_namespace(d, name);
    }
    driver_wait_all(d, "create namespaces");
    driver_allow_operators(d, "ring-operator", rules);
    for (uint64_t i = 0; i < operators && !no_operators; i++) {
        scoped(free_scoped) char *body =
            xasprintf("{\"apiVersion\":\"dormouse.dev/"
                      "v1alpha1\",\"kind\":\"Operator\",\"metadata\":{\"name\":\"ring-%" PRIu64
                      "\",\"namespace\":\"operators\"},\"spec\":{\"module\":{\"file\":\"%s%" PRIu64
                      ".wasm\"},\"abi\":\"%s\",\"env\":["
                      "{\"name\":\"IN_NAMESPACE\",\"value\":\"%s%" PRIu64
                      "\"},{\"name\":\"OUT_NAMESPACE\",\"value\":\"%s%" PRIu64 "\"},"
                      "{\"name\":\"HEAP_MEM_SIZE\",\"value\":\"%" PRIu64
                      "\"},{\"name\":\"DM_LOG\",\"value\":\"warn\"}]}}",
                      i, prefix, i, abi, base, i, base, (i + 1) % operators, heap_mib << 20);
        driver_start(d, "POST", "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators",
                     str_of(body), 409);
    }
    driver_wait_all(d, "create operators");
    (void)printf("{\"operators\":%" PRIu64 "}\n", operators);
}

static void delete_all(struct driver *d)
{
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *o = xasprintf(
            "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators/ring-%" PRIu64, i);
        scoped(free_scoped) char *t =
            xasprintf(TEST_RESOURCES "/namespaces/%s%" PRIu64 "/testresources/run0", base, i);
        if (!no_operators)
            driver_start(d, "DELETE", o, STR(""), 404);
        driver_start(d, "DELETE", t, STR(""), 404);
    }
    driver_wait_all(d, "delete");
}

/* ---------------------------------------------------------------- rounds */

static void on_object(void *arg, struct str ns, int64_t nonce, uint64_t now_ns)
{
    struct ring *ring = arg;
    struct str prefix_ns = str_of(base);
    uint64_t i;
    if (!ring->left || nonce != (int64_t)ring->nonce || !str_has_prefix(ns, prefix_ns) ||
        parse_u64(str_slice(ns, prefix_ns.n, ns.n), 0, operators - 1, &i) < 0 ||
        ring->arrived_ns[i])
        return;
    ring->arrived_ns[i] = now_ns;
    ring->left--;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_stats(const char *name, uint64_t *ns, size_t n)
{
    qsort(ns, n, sizeof *ns, compare);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ns[i];
    (void)printf("\"%s\":{\"p50\":%.4f,\"p90\":%.4f,\"p99\":%.4f,\"mean\":%.4f,\"n\":%zu}", name,
                 (double)ns[n / 2] / 1e6, (double)ns[n * 9 / 10] / 1e6,
                 (double)ns[n * 99 / 100] / 1e6, (double)sum / 1e6 / (double)n, n);
}

/* Set the nonce in the first namespace; the object is made in the first round. */
static void write_nonce(struct ring *ring)
{
    char now[RFC3339_MAX];
    rfc3339_format_us(clock_wall_us(), now);
    scoped(free_scoped) char *target =
        xasprintf(TEST_RESOURCES "/namespaces/%s0/testresources", base);
    scoped(free_scoped) char *object = xasprintf("%s/run0", target);
    scoped(free_scoped) char *patch =
        xasprintf("{\"spec\":{\"nonce\":%" PRIu64 ",\"updated_at\":\"%s\"}}", ring->nonce, now);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(BUF_MAX_DEFAULT);
    int status = driver_ask(&ring->driver, "PATCH", object, "application/merge-patch+json",
                            str_of(patch), &answer);
    if (status == 404) {
        scoped(free_scoped) char *body =
            xasprintf("{\"apiVersion\":\"amurant.io/v1\",\"kind\":\"TestResource\",\"metadata\":{"
                      "\"name\":\"run0\"},\"spec\":{\"nonce\":%" PRIu64 ",\"updated_at\":\"%s\"}}",
                      ring->nonce, now);
        buf_reset(&answer);
        status =
            driver_ask(&ring->driver, "POST", target, "application/json", str_of(body), &answer);
    }
    if (status / 100 != 2) {
        (void)fprintf(stderr, "ring: round %" PRIu64 ": %d %s\n", ring->nonce, status,
                      buf_cstr(&answer));
        exit(1);
    }
}

static void drive(struct ring *ring)
{
    VEC(uint64_t) hops = { 0 };
    VEC(uint64_t) times = { 0 };
    ring->arrived_ns = xnew_n(uint64_t, operators);
    driver_watch(&ring->driver);
    for (uint64_t j = 0; j < rounds; j++) {
        if (asleep_dir)
            driver_wait_asleep(asleep_dir, 0);
        memset(ring->arrived_ns, 0, operators * sizeof *ring->arrived_ns);
        ring->nonce = first_nonce + j;
        ring->left = operators;
        uint64_t begin = clock_mono_ns();
        write_nonce(ring);
        driver_wait_for(&ring->driver, &ring->left, "the watch ended");
        vec_push(&times, ring->arrived_ns[operators - 1] - begin);
        for (uint64_t i = 1; i < operators; i++)
            vec_push(&hops,
                     ring->arrived_ns[i] - MIN(ring->arrived_ns[i - 1], ring->arrived_ns[i]));
    }
    (void)printf("{\"operators\":%" PRIu64 ",\"rounds\":%" PRIu64 ",", operators, rounds);
    if (raw) {
        driver_print_us("hop_us", hops.p, hops.n);
        (void)printf(",");
        driver_print_us("round_us", times.p, times.n);
        (void)printf(",");
    }
    print_stats("hop_ms", hops.p, hops.n);
    (void)printf(",");
    print_stats("round_ms", times.p, times.n);
    (void)printf("}\n");
    vec_fini(&hops);
    vec_fini(&times);
}

int main(int argc, char **argv)
{
    struct ring ring = { .driver = { .on_object = on_object, .arg = &ring } };
    size_t n;
    int r = cmd_parse(&ring_cmd, opts, argc - 1, argv + 1, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "ring setup, ring rounds, ring wait or ring delete");
    if (strcmp(argv[1], "wait") == 0) {
        if (!asleep_dir)
            return cmd_failf(CMD_USAGE, "ring wait needs --asleep DATA_DIR");
        driver_wait_asleep(asleep_dir, operators);
        return 0;
    }
    driver_open(&ring.driver, kubeconfig);
    if (strcmp(argv[1], "setup") == 0)
        setup(&ring.driver);
    else if (strcmp(argv[1], "rounds") == 0)
        drive(&ring);
    else if (strcmp(argv[1], "delete") == 0)
        delete_all(&ring.driver);
    else
        return cmd_failf(CMD_USAGE, "ring setup, ring rounds, ring wait or ring delete, not '%s'",
                         argv[1]);
    return 0;
}
