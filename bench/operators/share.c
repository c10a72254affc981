/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives operators that all watch the same pods (cache-bench fill makes these):
 *
 *     share setup   --kubeconfig F --operators N --teams T
 *     share forget  --kubeconfig F --operators N
 *     share create  --kubeconfig F --operators N --teams T
 *     share synced  --kubeconfig F --operators N
 *     share changes --kubeconfig F --operators N --teams T --rounds R --first J --asleep DATA_DIR
 *
 * Operator i (namespace "operators", object "share-i", module share_guest.c) watches every pod,
 * works for those of team i mod T, of which setup makes one for each team, and writes the pod's
 * nonce into a TestResource of its namespace "share<i>"; `forget` deletes these. `create` makes
 * Operator objects, and what else runs operators needs none. `synced` ends when each has written
 * for the first time. A round of `changes` waits until all sleep, raises the nonce of one team's
 * pod and ends when each operator of that team has written it; the second half of the teams is left
 * alone. Results are JSON on stdout.
 */
#include "driver.h"

#include "cmd/cmd.h"

static const char *kubeconfig, *asleep_dir;
static uint64_t operators = 100, teams = 10, rounds = 10, first_nonce = 2;

static const struct cmd_opt opts[] = {
    { "kubeconfig", 0, "FILE", "the cluster", CMD_STRING, &kubeconfig, 0, 0 },
    { "operators", 0, "N", "how many (100)", CMD_U64, &operators, 2, 20000 },
    { "teams", 0, "T", "that share a pod (10)", CMD_U64, &teams, 2, 1000 },
    { "rounds", 0, "R", "changes to make (10)", CMD_U64, &rounds, 1, 100000 },
    { "first", 0, "J", "nonce of the first change (2); later ones must go up", CMD_U64,
      &first_nonce, 2, UINT32_MAX },
    { "asleep", 0, "DIR", "data directory of the server that runs the operators", CMD_STRING,
      &asleep_dir, 0, 0 },
    { .name = NULL },
};

static const struct cmd share_cmd = { .name = "share",
                                      .args = "setup|forget|create|synced|changes",
                                      .doc = "drive operators that watch the same pods" };

struct share {
    struct driver driver;
    uint64_t *arrived_ns; /* per operator, of the running round */
    int64_t nonce;
    uint64_t team; /* that is waited for; UINT64_MAX: all */
    size_t left;
};

static const char rules[] =
    "{\"apiGroups\":[\"\"],\"resources\":[\"pods\"],\"verbs\":[\"get\",\"list\",\"watch\"]},"
    "{\"apiGroups\":[\"amurant.io\"],\"resources\":[\"testresources\"],"
    "\"verbs\":[\"get\",\"create\",\"patch\"]}";

#define PODS "/api/v1/namespaces/default/pods"

static void on_object(void *arg, struct str ns, int64_t nonce, uint64_t now_ns)
{
    struct share *s = arg;
    uint64_t i;
    bool is_it = s->team == UINT64_MAX ? nonce >= s->nonce : nonce == s->nonce;
    if (!s->left || !is_it || !str_has_prefix(ns, STR("share")) ||
        parse_u64(str_slice(ns, 5, ns.n), 0, operators - 1, &i) < 0 || s->arrived_ns[i] ||
        (s->team != UINT64_MAX && i % teams != s->team))
        return;
    s->arrived_ns[i] = now_ns;
    s->left--;
}

static void setup(struct driver *d)
{
    driver_create_crd(d);
    driver_create_namespace(d, "operators");
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *name = xasprintf("share%" PRIu64, i);
        driver_create_namespace(d, name);
    }
    driver_wait_all(d, "create namespaces");
    driver_allow_operators(d, "share-operator", rules);
    for (uint64_t t = 0; t < teams; t++) {
        scoped(free_scoped) char *pod = xasprintf(
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"team-%" PRIu64
            "\",\"labels\":{\"team\":\"team-%" PRIu64 "\"},\"annotations\":{\"nonce\":\"1\"}},"
            "\"spec\":{\"automountServiceAccountToken\":false,\"containers\":[{\"name\":\"web\","
            "\"image\":\"registry.example.com/shop/web:1.4.0\"}]}}",
            t, t);
        driver_start(d, "POST", PODS, str_of(pod), 409);
    }
    driver_wait_all(d, "create the teams' pods");
    (void)printf("{}\n");
}

static void forget(struct driver *d)
{
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *target =
            xasprintf(TEST_RESOURCES "/namespaces/share%" PRIu64 "/testresources/run0", i);
        driver_start(d, "DELETE", target, STR(""), 404);
    }
    driver_wait_all(d, "delete");
    (void)printf("{}\n");
}

static void create(struct driver *d)
{
    for (uint64_t i = 0; i < operators; i++) {
        scoped(free_scoped) char *body = xasprintf(
            "{\"apiVersion\":\"dormouse.dev/v1alpha1\",\"kind\":\"Operator\",\"metadata\":{"
            "\"name\":\"share-%" PRIu64 "\",\"namespace\":\"operators\"},\"spec\":{\"module\":{"
            "\"file\":\"share.wasm\"},\"abi\":\"v1\",\"env\":[{\"name\":\"TEAM\",\"value\":"
            "\"team-%" PRIu64 "\"},{\"name\":\"OUT_NAMESPACE\",\"value\":\"share%" PRIu64 "\"}]}}",
            i, i % teams, i);
        driver_start(d, "POST", "/apis/dormouse.dev/v1alpha1/namespaces/operators/operators",
                     str_of(body), 409);
    }
    driver_wait_all(d, "create operators");
    (void)printf("{}\n");
}

static void synced(struct share *s)
{
    s->nonce = 1;
    s->team = UINT64_MAX;
    s->left = operators;
    driver_watch(&s->driver);
    driver_wait_for(&s->driver, &s->left, "the watch ended");
    (void)printf("{}\n");
}

static uint64_t last_of(const struct share *s)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < operators; i++)
        last = MAX(last, s->arrived_ns[i]);
    return last;
}

static void change(struct share *s)
{
    scoped(free_scoped) char *target = xasprintf(PODS "/team-%" PRIu64, s->team);
    scoped(free_scoped) char *patch =
        xasprintf("{\"metadata\":{\"annotations\":{\"nonce\":\"%" PRId64 "\"}}}", s->nonce);
    if (driver_ask(&s->driver, "PATCH", target, "application/merge-patch+json", str_of(patch),
                   NULL) != 200)
        driver_die("a change was refused", NULL);
}

static void changes(struct share *s)
{
    VEC(uint64_t) each = { 0 };
    VEC(uint64_t) last = { 0 };
    driver_watch(&s->driver);
    for (uint64_t j = 0; j < rounds; j++) {
        if (asleep_dir)
            driver_wait_asleep(asleep_dir, 0);
        memset(s->arrived_ns, 0, operators * sizeof *s->arrived_ns);
        s->nonce = (int64_t)(first_nonce + j);
        s->team = j % (teams / 2);
        s->left = (operators - s->team + teams - 1) / teams;
        uint64_t begin = clock_mono_ns();
        change(s);
        driver_wait_for(&s->driver, &s->left, "the watch ended");
        for (uint64_t i = s->team; i < operators; i += teams)
            vec_push(&each, s->arrived_ns[i] - begin);
        vec_push(&last, last_of(s) - begin);
    }
    (void)printf("{");
    driver_print_us("each_us", each.p, each.n);
    (void)printf(",");
    driver_print_us("last_us", last.p, last.n);
    (void)printf("}\n");
    vec_fini(&each);
    vec_fini(&last);
}

int main(int argc, char **argv)
{
    struct share s = { .driver = { .on_object = on_object, .arg = &s } };
    size_t n;
    int r = cmd_parse(&share_cmd, opts, argc - 1, argv + 1, 1, &n);
    if (r)
        return r - 1;
    if (n != 1)
        return cmd_failf(CMD_USAGE, "share setup, forget, create, synced or changes");
    s.arrived_ns = xnew_n(uint64_t, operators);
    driver_open(&s.driver, kubeconfig);
    if (strcmp(argv[1], "setup") == 0)
        setup(&s.driver);
    else if (strcmp(argv[1], "forget") == 0)
        forget(&s.driver);
    else if (strcmp(argv[1], "create") == 0)
        create(&s.driver);
    else if (strcmp(argv[1], "synced") == 0)
        synced(&s);
    else if (strcmp(argv[1], "changes") == 0)
        changes(&s);
    else
        return cmd_failf(CMD_USAGE, "there is no 'share %s'", argv[1]);
    free(s.arrived_ns);
    return 0;
}
