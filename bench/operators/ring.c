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
#include "base/clock.h"
#include "base/map.h"
#include "base/sys.h"
#include "base/vec.h"
#include "cmd/cmd.h"
#include "codec/json.h"
#include "kube/http_transport.h"
#include "node/admin_client.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { WINDOW = 16, ROUND_TIMEOUT_MS = 120000, ASLEEP_TIMEOUT_MS = 120000 };

#define RESOURCES "/apis/amurant.io/v1"

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
    struct loop loop;
    struct http_transport *transport;
    size_t in_flight;
    unsigned refused;
    char first_refusal[400];
    /* watch */
    struct kube_call *watch;
    struct buf line;
    uint64_t *arrived_ns; /* per operator, of the running round */
    uint64_t nonce;
    size_t left; /* arrivals of the running round that are missing */
    bool watch_ended;
};

static _Noreturn void die(const char *what, const struct err *err)
{
    (void)fprintf(stderr, "ring: %s: %s\n", what, err ? err_text(err) : "");
    exit(1);
}

/* ---------------------------------------------------------------- requests */

struct request {
    struct ring *ring;
    int status;
    struct buf body;
    bool done;
    int accept_also; /* a status that is fine, too: 409 when creating what exists, 404 when deleting
                      */
    bool is_own;     /* allocated by start_request(); freed at its end */
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct request *)arg)->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    (void)buf_add_str(&((struct request *)arg)->body, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct request *q = arg;
    struct ring *ring = q->ring;
    q->done = true;
    ring->in_flight--;
    bool ok = r >= 0 && (q->status / 100 == 2 || q->status == q->accept_also);
    if (!ok && ring->refused++ == 0)
        (void)snprintf(ring->first_refusal, sizeof ring->first_refusal, "%d %s" STR_FMT, q->status,
                       r < 0 ? err_text(err) : "", STR_ARG(str_slice(buf_str(&q->body), 0, 300)));
    if (q->is_own) {
        buf_fini(&q->body);
        free(q);
    }
}

static const struct kube_call_ops request_ops = { .on_head = on_head,
                                                  .on_data = on_data,
                                                  .on_end = on_end };

static void send_request(struct request *q, const char *method, const char *target,
                         const char *type, struct str body)
{
    struct headers h = { 0 };
    struct kube_call *call;
    struct err err = { 0 };
    (void)headers_addc(&h, "accept", "application/json");
    if (body.n)
        (void)headers_addc(&h, "content-type", type);
    struct kube_request req = {
        .method = str_of(method), .target = str_of(target), .headers = &h, .body = body
    };
    if (transport_start(http_transport_base(q->ring->transport), &req, &request_ops, q, &call,
                        &err) < 0)
        die(target, &err);
    q->ring->in_flight++;
    headers_fini(&h);
}

/* Without waiting for the answer, at most WINDOW at once. */
static void start_request(struct ring *ring, const char *method, const char *target,
                          struct str body, int accept_also)
{
    while (ring->in_flight >= WINDOW)
        (void)loop_turn(&ring->loop, true);
    struct request *q = xnew(struct request);
    q->ring = ring;
    q->accept_also = accept_also;
    q->is_own = true;
    buf_init(&q->body, BUF_MAX_DEFAULT);
    send_request(q, method, target, "application/json", body);
}

static void wait_all(struct ring *ring, const char *what)
{
    while (ring->in_flight)
        (void)loop_turn(&ring->loop, true);
    if (!ring->refused)
        return;
    (void)fprintf(stderr, "ring: %s: %u requests were refused, the first with: %s\n", what,
                  ring->refused, ring->first_refusal);
    exit(1);
}

/* One request and its answer; returns the status. */
static int ask(struct ring *ring, const char *method, const char *target, const char *type,
               struct str body, struct buf *ret)
{
    struct request q = { .ring = ring, .body = BUF_INIT(BUF_MAX_DEFAULT), .accept_also = 0 };
    unsigned refused = ring->refused;
    send_request(&q, method, target, type, body);
    while (!q.done)
        (void)loop_turn(&ring->loop, true);
    ring->refused = refused; /* the caller judges */
    if (ret)
        (void)buf_add_str(ret, buf_str(&q.body));
    buf_fini(&q.body);
    return q.status;
}

/* ---------------------------------------------------------------- setup */

static const char crd[] = "{\"apiVersion\":\"apiextensions.k8s.io/"
                          "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":"
                          "\"testresources.amurant.io\"},\"spec\":{\"group\":\"amurant.io\","
                          "\"scope\":\"Namespaced\",\"names\":{\"plural\":"
                          "\"testresources\",\"singular\":\"testresource\",\"kind\":"
                          "\"TestResource\"},\"versions\":[{\"name\":\"v1\",\"served\":true,"
                          "\"storage\":true,\"additionalPrinterColumns\":[{\"name\":\"Nonce\","
                          "\"type\":\"integer\",\"jsonPath\":\".spec.nonce\"}],"
                          "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{"
                          "\"spec\":{\"type\":\"object\","
                          "\"properties\":{\"nonce\":{\"type\":\"integer\"},\"updated_at\":{"
                          "\"type\":\"string\"}}}}}}}]}}";

/* As guests/ring/rbac.yaml: the paper's, of the verbs that are used. */
#define RBAC                                                                                       \
    "\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"metadata\":{\"name\":\"ring-operator\"},"
static const char role[] =
    "{" RBAC "\"kind\":\"ClusterRole\",\"rules\":[{\"apiGroups\":[\"amurant.io\"],"
    "\"resources\":[\"testresources\"],"
    "\"verbs\":[\"get\",\"list\",\"watch\",\"create\",\"update\"]}]}";
static const char binding[] =
    "{" RBAC "\"kind\":\"ClusterRoleBinding\",\"roleRef\":{\"apiGroup\":"
    "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"ring-operator\"},"
    "\"subjects\":[{\"kind\":\"Group\",\"apiGroup\":\"rbac.authorization.k8s.io\","
    "\"name\":\"system:serviceaccounts:operators\"}]}";

static void wait_for_resource(struct ring *ring)
{
    uint64_t until = clock_mono_ms() + 30000;
    while (ask(ring, "GET", RESOURCES "/testresources?limit=1", NULL, STR(""), NULL) != 200) {
        if (clock_mono_ms() > until)
            die("the CRD is not served", NULL);
        usleep(5000);
    }
}

static void create_namespace(struct ring *ring, const char *name)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"}}", name);
    start_request(ring, "POST", "/api/v1/namespaces", str_of(body), 409);
}

static void setup(struct ring *ring)
{
    start_request(ring, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                  str_of(crd), 409);
    wait_all(ring, "create the CRD");
    create_namespace(ring, "operators");
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *name = xasprintf("%s%" PRIu64, base, i);
        create_namespace(ring, name);
    }
    start_request(ring, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", str_of(role),
                  409);
    start_request(ring, "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                  str_of(binding), 409);
    wait_all(ring, "create namespaces and rights");
    wait_for_resource(ring);
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
        start_request(ring, "POST", "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators",
                      str_of(body), 409);
    }
    wait_all(ring, "create operators");
    (void)printf("{\"operators\":%" PRIu64 "}\n", operators);
}

static void delete_all(struct ring *ring)
{
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *o = xasprintf(
            "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators/ring-%" PRIu64, i);
        scoped(free_scoped) char *t =
            xasprintf(RESOURCES "/namespaces/%s%" PRIu64 "/testresources/run0", base, i);
        if (!no_operators)
            start_request(ring, "DELETE", o, STR(""), 404);
        start_request(ring, "DELETE", t, STR(""), 404);
    }
    wait_all(ring, "delete");
}

/* ---------------------------------------------------------------- rounds */

static void on_line(struct ring *ring, struct str line, uint64_t now_ns)
{
    struct arena a = { 0 };
    struct json *event;
    struct err err = { 0 };
    if (json_parse(&a, line, NULL, &event, &err) < 0)
        die("watch", &err);
    const struct json *object = json_getc(event, "object");
    struct str ns = json_get_str(json_getc(object, "metadata"), "namespace"),
               prefix_ns = str_of(base);
    uint64_t i;
    if (str_is(json_get_str(event, "type"), "ERROR"))
        die("the watch ended with an error", NULL);
    if (str_has_prefix(ns, prefix_ns) &&
        parse_u64(str_slice(ns, prefix_ns.n, ns.n), 0, operators - 1, &i) >= 0 &&
        json_int_or(json_path(object, "spec", "nonce", NULL), -1) == (int64_t)ring->nonce &&
        !ring->arrived_ns[i]) {
        ring->arrived_ns[i] = now_ns;
        ring->left--;
    }
    arena_fini(&a);
}

static void on_watch_head(void *arg, int status, const struct headers *headers)
{
    if (status != 200)
        die("watch refused", NULL);
}

static void on_watch_data(void *arg, struct str chunk)
{
    struct ring *ring = arg;
    uint64_t now = clock_mono_ns();
    struct str line;
    while (str_find_char(chunk, '\n') >= 0) {
        (void)str_cut(chunk, '\n', &line, &chunk);
        (void)buf_add_str(&ring->line, line);
        if (ring->line.n)
            on_line(ring, buf_str(&ring->line), now);
        buf_reset(&ring->line);
    }
    (void)buf_add_str(&ring->line, chunk);
}

static void on_watch_end(void *arg, int r, const struct err *err)
{
    ((struct ring *)arg)->watch_ended = true;
}

static const struct kube_call_ops watch_ops = { .on_head = on_watch_head,
                                                .on_data = on_watch_data,
                                                .on_end = on_watch_end };

static void start_watch(struct ring *ring)
{
    scoped(buf_fini_scoped) struct buf list = BUF_INIT(BUF_MAX_DEFAULT);
    struct arena a = { 0 };
    struct json *v;
    struct err err = { 0 };
    if (ask(ring, "GET", RESOURCES "/testresources?limit=1", NULL, STR(""), &list) != 200 ||
        json_parse(&a, buf_str(&list), NULL, &v, &err) < 0)
        die("list", &err);
    scoped(free_scoped) char *target = xasprintf(
        RESOURCES "/testresources?watch=true&timeoutSeconds=86400&resourceVersion=" STR_FMT,
        STR_ARG(json_get_str(json_getc(v, "metadata"), "resourceVersion")));
    arena_fini(&a);
    struct kube_request req = { .method = STR("GET"), .target = str_of(target) };
    if (transport_start(http_transport_base(ring->transport), &req, &watch_ops, ring, &ring->watch,
                        &err) < 0)
        die("watch", &err);
}

/* min_guests: so many must be there at all. Shows how far it is on a terminal. */
static void wait_asleep(uint64_t min_guests)
{
    uint64_t until = clock_mono_ms() + ASLEEP_TIMEOUT_MS + min_guests * 100;
    bool tell = min_guests && isatty(STDERR_FILENO);
    for (;;) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(65536);
        struct arena a = { 0 };
        struct json *v;
        struct err err = { 0 };
        if (admin_get(asleep_dir, "/status", &b, &err) < 0 ||
            json_parse(&a, buf_str(&b), NULL, &v, &err) < 0)
            die("status", &err);
        int64_t n = json_int_or(json_getc(v, "guests"), -1),
                asleep = json_int_or(json_getc(v, "asleep"), -2);
        int64_t runners = json_int_or(json_getc(v, "runners"), 0);
        arena_fini(&a);
        if (tell)
            (void)fprintf(stderr,
                          "\r\033[K%" PRId64 " of %" PRIu64
                          " operators compiled and started, %" PRId64 " asleep",
                          n, min_guests, asleep);
        /* Asked by a person or a measurement of memory: until the last runner has gone, too. */
        if (n == asleep && n >= (int64_t)min_guests && (min_guests == 0 || runners == 0)) {
            if (tell)
                (void)fprintf(stderr, "\n");
            return;
        }
        if (clock_mono_ms() > until)
            die("not all guests fell asleep", NULL);
        usleep(20000);
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void print_raw(const char *name, const uint64_t *ns, size_t n)
{
    (void)printf("\"%s\":[", name);
    for (size_t i = 0; i < n; i++)
        (void)printf("%s%" PRIu64, i ? "," : "", ns[i] / 1000);
    (void)printf("],");
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
    scoped(free_scoped) char *target = xasprintf(RESOURCES "/namespaces/%s0/testresources", base);
    scoped(free_scoped) char *object = xasprintf("%s/run0", target);
    scoped(free_scoped) char *patch =
        xasprintf("{\"spec\":{\"nonce\":%" PRIu64 ",\"updated_at\":\"%s\"}}", ring->nonce, now);
    scoped(buf_fini_scoped) struct buf answer = BUF_INIT(BUF_MAX_DEFAULT);
    int status = ask(ring, "PATCH", object, "application/merge-patch+json", str_of(patch), &answer);
    if (status == 404) {
        scoped(free_scoped) char *body =
            xasprintf("{\"apiVersion\":\"amurant.io/v1\",\"kind\":\"TestResource\",\"metadata\":{"
                      "\"name\":\"run0\"},\"spec\":{\"nonce\":%" PRIu64 ",\"updated_at\":\"%s\"}}",
                      ring->nonce, now);
        buf_reset(&answer);
        status = ask(ring, "POST", target, "application/json", str_of(body), &answer);
    }
    if (status / 100 != 2) {
        (void)fprintf(stderr, "ring: round %" PRIu64 ": %d %s\n", ring->nonce, status,
                      buf_cstr(&answer));
        exit(1);
    }
}

static void on_round_timeout(struct timer *t)
{
    die("a round did not finish in time", NULL);
}

static void drive(struct ring *ring)
{
    VEC(uint64_t) hops = { 0 };
    VEC(uint64_t) times = { 0 };
    ring->arrived_ns = xnew_n(uint64_t, operators);
    buf_init(&ring->line, BUF_MAX_DEFAULT);
    start_watch(ring);
    for (uint64_t j = 0; j < rounds; j++) {
        struct timer timeout = { 0 };
        if (asleep_dir) {
            wait_asleep(0);
            uv_update_time(&ring->loop.uv); /* time-outs count from now, not from before the wait */
        }
        memset(ring->arrived_ns, 0, operators * sizeof *ring->arrived_ns);
        ring->nonce = first_nonce + j;
        ring->left = operators;
        uint64_t begin = clock_mono_ns();
        timer_start(&ring->loop, &timeout, ROUND_TIMEOUT_MS, on_round_timeout);
        write_nonce(ring);
        while (ring->left && !ring->watch_ended)
            (void)loop_turn(&ring->loop, true);
        timer_stop(&ring->loop, &timeout);
        if (ring->left)
            die("the watch ended", NULL);
        vec_push(&times, ring->arrived_ns[operators - 1] - begin);
        for (uint64_t i = 1; i < operators; i++)
            vec_push(&hops,
                     ring->arrived_ns[i] - MIN(ring->arrived_ns[i - 1], ring->arrived_ns[i]));
    }
    (void)printf("{\"operators\":%" PRIu64 ",\"rounds\":%" PRIu64 ",", operators, rounds);
    if (raw) {
        print_raw("hop_us", hops.p, hops.n);
        print_raw("round_us", times.p, times.n);
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
    struct ring ring = { 0 };
    struct err err = { 0 };
    size_t n;
    int r = cmd_parse(&ring_cmd, opts, argc - 1, argv + 1, 1, &n);
    if (r)
        return r - 1;
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "ring setup, ring rounds, ring wait or ring delete");
    if (strcmp(argv[1], "wait") == 0) {
        if (!asleep_dir)
            return cmd_failf(CMD_USAGE, "ring wait needs --asleep DATA_DIR");
        wait_asleep(operators);
        return 0;
    }
    if (kubeconfig_load(kubeconfig, NULL, &config, &err) < 0 || loop_init(&ring.loop, &err) < 0 ||
        http_transport_new(&ring.loop, config, &ring.transport, &err) < 0)
        die("connect", &err);
    if (strcmp(argv[1], "setup") == 0)
        setup(&ring);
    else if (strcmp(argv[1], "rounds") == 0)
        drive(&ring);
    else if (strcmp(argv[1], "delete") == 0)
        delete_all(&ring);
    else
        return cmd_failf(CMD_USAGE, "ring setup, ring rounds, ring wait or ring delete, not '%s'",
                         argv[1]);
    return 0;
}
