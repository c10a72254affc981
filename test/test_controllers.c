/* SPDX-License-Identifier: Apache-2.0 */
/* What the server keeps by itself: accounts of namespaces, aggregated roles, the end of Events. */
#include "api_fixture.h"

#include "api/controllers/controllers.h"
#include "api/controllers/jump.h"
#include "base/clock.h"
#include "base/mem.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define NS     "/api/v1/namespaces/default/"
#define CA_MAP "/configmaps/kube-root-ca.crt"
#define ROLES  "/apis/rbac.authorization.k8s.io/v1/clusterroles"

/* ------------------------------------------------------------------ namespaces */

static void start_with_ca(struct fixture *f, const char *ca)
{
    fixture_init(f);
    close_server(f);
    f->ca_cert = str_of(ca);
    open_server(f);
}

TEST(every_namespace_has_an_account_and_the_authority)
{
    static const char *const names[] = { "default", "kube-system", "kube-public",
                                         "kube-node-lease" };
    struct fixture f;
    start_with_ca(&f, "PEM");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) { /* at once, nothing is waited for */
        scoped(free_scoped) char *account =
            xasprintf("/api/v1/namespaces/%s/serviceaccounts/default", names[i]);
        scoped(free_scoped) char *map = xasprintf("/api/v1/namespaces/%s" CA_MAP, names[i]);
        CHECK(there(&f, account));
        CHECK_STR(text_at(want(&f, 200, "GET", map, NULL), "data", "ca.crt"), "PEM");
    }
    (void)want(&f, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"more\"}}");
    settle(&f);
    CHECK(there(&f, "/api/v1/namespaces/more/serviceaccounts/default"));
    CHECK(there(&f, "/api/v1/namespaces/more" CA_MAP));
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/more", NULL);
    settle(&f);
    CHECK(!there(&f, "/api/v1/namespaces/more"));
    fixture_fini(&f);
}

TEST(what_is_deleted_or_changed_comes_back)
{
    struct fixture f;
    start_with_ca(&f, "PEM");
    struct json *before = want(&f, 200, "GET", NS "serviceaccounts/default", NULL);
    (void)want(&f, 200, "DELETE", NS "serviceaccounts/default", NULL);
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/default" CA_MAP, NULL);
    settle(&f);
    struct json *after = want(&f, 200, "GET", NS "serviceaccounts/default", NULL);
    CHECK(!str_eq(text_at(before, "metadata", "uid"), text_at(after, "metadata", "uid")));
    (void)want(&f, 200, "PATCH", "/api/v1/namespaces/default" CA_MAP,
               "{\"data\":{\"ca.crt\":\"mine\",\"more\":\"x\"}}");
    settle(&f);
    struct json *data =
        json_getc(want(&f, 200, "GET", "/api/v1/namespaces/default" CA_MAP, NULL), "data");
    CHECK_INT(data->n, 1);
    CHECK_STR(json_get_str(data, "ca.crt"), "PEM");
    fixture_fini(&f);
}

TEST(a_new_authority_is_published_at_the_next_start)
{
    struct fixture f;
    start_with_ca(&f, "old");
    uint64_t rev = store_revision(f.store);
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK_INT(store_revision(f.store), rev); /* a start that finds all well writes nothing */
    close_server(&f);
    f.ca_cert = STR("new");
    open_server(&f);
    CHECK_STR(
        text_at(want(&f, 200, "GET", "/api/v1/namespaces/default" CA_MAP, NULL), "data", "ca.crt"),
        "new");
    fixture_fini(&f);
}

TEST(many_namespaces_at_once_all_get_theirs)
{
    enum { N = 300 }; /* ACCOUNTS_WAITING is 256 */
    struct fixture f;
    start_with_ca(&f, "PEM");
    for (int i = 0; i < N; i++) {
        scoped(free_scoped) char *body = xasprintf("{\"metadata\":{\"name\":\"n%d\"}}", i);
        (void)want(&f, 201, "POST", "/api/v1/namespaces", body);
        arena_reset(&f.arena);
    }
    settle(&f);
    struct json *maps = want(&f, 200, "GET", "/api/v1/configmaps", NULL);
    struct json *accounts = want(&f, 200, "GET", "/api/v1/serviceaccounts", NULL);
    CHECK_INT(json_getc(maps, "items")->n, N + 4);
    CHECK_INT(json_getc(accounts, "items")->n, N + 4);
    fixture_fini(&f);
}

#define SECRETS NS "secrets"

static void make_token_secret(struct fixture *f, const char *name, const char *account,
                              struct str uid)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"metadata\":{\"name\":\"%s\",\"annotations\":{\"kubernetes.io/service-account.name\":"
        "\"%s\",\"kubernetes.io/service-account.uid\":\"" STR_FMT
        "\"}},\"type\":\"kubernetes.io/service-account-token\"}",
        name, account, STR_ARG(uid));
    (void)want(f, 201, "POST", SECRETS, body);
}

TEST(secrets_of_an_account_go_with_it)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = want(&f, 201, "POST", NS "serviceaccounts", "{\"metadata\":{\"name\":\"a\"}}");
    struct json *b = want(&f, 201, "POST", NS "serviceaccounts", "{\"metadata\":{\"name\":\"b\"}}");
    for (int i = 0; i < 70; i++) { /* more than a page */
        scoped(free_scoped) char *name = xasprintf("a%d", i);
        make_token_secret(&f, name, "a", text_at(a, "metadata", "uid"));
    }
    make_token_secret(&f, "of-b", "b", text_at(b, "metadata", "uid"));
    (void)want(&f, 201, "POST", SECRETS, "{\"metadata\":{\"name\":\"plain\"}}");
    (void)want(&f, 200, "DELETE", NS "serviceaccounts/a", NULL);
    settle(&f);
    CHECK_INT(json_getc(want(&f, 200, "GET", SECRETS, NULL), "items")->n, 2);
    CHECK(there(&f, SECRETS "/of-b") && there(&f, SECRETS "/plain"));
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ what waits to go */

static void until_gone(struct fixture *f, const char *path)
{
    while (there(f, path))
        (void)loop_turn(&f->loop, true);
}

enum { MOMENTS = 24 }; /* of the loop, at which the last finalizer may go */

TEST(a_namespace_goes_whenever_the_last_finalizer_in_it_does)
{
    struct fixture f;
    fixture_init(&f);
    for (int turns = 0; turns < MOMENTS; turns++) {
        (void)want(&f, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");
        (void)want(&f, 201, "POST", "/api/v1/namespaces/n/configmaps",
                   "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/y\"]}}");
        (void)want(&f, 200, "DELETE", "/api/v1/namespaces/n", NULL);
        for (int i = 0; i < turns * 8; i++)
            (void)loop_turn(&f.loop, false);
        (void)want(&f, 200, "PATCH", "/api/v1/namespaces/n/configmaps/a",
                   "{\"metadata\":{\"finalizers\":null}}");
        until_gone(&f, "/api/v1/namespaces/n");
    }
    fixture_fini(&f);
}

static const struct json *condition(const struct json *obj, const char *type)
{
    json_each (c, json_path(obj, "status", "conditions", NULL)) {
        if (str_is(json_get_str(c, "type"), type))
            return c;
    }
    TEST_FAIL("no condition %s", type);
}

static uint64_t n_requests(const struct fixture *f)
{
    uint64_t n = 0;
    map_each (e, &f->api->metrics.series)
        n += ((const struct metrics_series *)e->value)->us.n;
    return n;
}

TEST(a_namespace_that_waits_is_not_woken_by_others)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");
    (void)want(&f, 201, "POST", "/api/v1/namespaces/n/configmaps",
               "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"example.com/x\"]}}");
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/n", NULL);
    settle(&f);
    (void)make_map(&f, "other", "x");
    uint64_t before = n_requests(&f);
    (void)want(&f, 200, "DELETE", MAPS "/other", NULL);
    settle(&f);
    CHECK(n_requests(&f) - before < 20); /* a look at each kind takes more */
    (void)want(&f, 200, "PATCH", "/api/v1/namespaces/n/configmaps/held",
               "{\"metadata\":{\"finalizers\":null}}");
    settle(&f);
    CHECK(!there(&f, "/api/v1/namespaces/n"));
    fixture_fini(&f);
}

TEST(a_namespace_says_what_it_waits_for)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");
    for (int i = 0; i < 2; i++) {
        scoped(free_scoped) char *body =
            xasprintf("{\"metadata\":{\"name\":\"m%d\",\"finalizers\":[\"x.io/y\"]}}", i);
        (void)want(&f, 201, "POST", "/api/v1/namespaces/n/configmaps", body);
    }
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/n", NULL);
    struct json *ns = want(&f, 200, "GET", "/api/v1/namespaces/n", NULL);
    while (!json_path(ns, "status", "conditions", NULL))
        ns = want(&f, 200, "GET", "/api/v1/namespaces/n", NULL);
    const struct json *content = condition(ns, "NamespaceContentRemaining");
    const struct json *held = condition(ns, "NamespaceFinalizersRemaining");
    CHECK_STR(json_get_str(content, "status"), "True");
    CHECK_STR(json_get_str(content, "message"),
              "Some resources are remaining: configmaps. has 2 resource instances");
    CHECK_STR(json_get_str(held, "message"),
              "Some content in the namespace has finalizers remaining: x.io/y in 2 resource "
              "instances");
    CHECK_STR(json_get_str(condition(ns, "NamespaceDeletionContentFailure"), "status"), "False");
    (void)want(&f, 200, "PATCH", "/api/v1/namespaces/n/configmaps/m0",
               "{\"metadata\":{\"finalizers\":null}}");
    (void)want(&f, 200, "PATCH", "/api/v1/namespaces/n/configmaps/m1",
               "{\"metadata\":{\"finalizers\":null}}");
    until_gone(&f, "/api/v1/namespaces/n");
    fixture_fini(&f);
}

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define MICE "/apis/zoo.io/v1/mice"

static void make_mice(struct fixture *f)
{
    (void)want(f, 201, "POST", CRDS,
               "{\"metadata\":{\"name\":\"mice.zoo.io\"},\"spec\":{\"group\":\"zoo.io\","
               "\"names\":{\"kind\":\"Mouse\",\"plural\":\"mice\"},\"scope\":\"Cluster\","
               "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":"
               "{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}");
}

TEST(a_definition_goes_whenever_the_last_instance_does)
{
    struct fixture f;
    fixture_init(&f);
    for (int turns = 0; turns < MOMENTS; turns++) {
        make_mice(&f);
        (void)want(&f, 201, "POST", MICE,
                   "{\"apiVersion\":\"zoo.io/v1\",\"kind\":\"Mouse\",\"metadata\":{\"name\":"
                   "\"a\",\"finalizers\":[\"x.io/y\"]}}");
        (void)want(&f, 200, "DELETE", CRDS "/mice.zoo.io", NULL);
        for (int i = 0; i < turns; i++)
            (void)loop_turn(&f.loop, false);
        (void)want(&f, 200, "PATCH", MICE "/a", "{\"metadata\":{\"finalizers\":null}}");
        until_gone(&f, CRDS "/mice.zoo.io");
    }
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ roles */

static struct json *rules_of(struct fixture *f, const char *path)
{
    return json_getc(want(f, 200, "GET", path, NULL), "rules");
}

TEST(a_definition_with_the_names_of_a_built_in_kind_takes_nothing_with_it)
{
    static const char crd[] =
        "{\"metadata\":{\"name\":\"leases.coordination.k8s.io\",\"annotations\":{"
        "\"api-approved.kubernetes.io\":\"unapproved\"}},\"spec\":{"
        "\"group\":\"coordination.k8s.io\",\"scope\":\"Namespaced\",\"names\":{"
        "\"plural\":\"leases\",\"kind\":\"Lease\"},\"versions\":[{\"name\":\"v9\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
        "\"type\":\"object\"}}}]}}";
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", LEASES, "{\"metadata\":{\"name\":\"mine\"},\"spec\":{}}");
    (void)want(&f, 201, "POST", CRDS, crd);
    settle(&f);
    (void)want(&f, 200, "DELETE", CRDS "/leases.coordination.k8s.io", NULL);
    until_gone(&f, CRDS "/leases.coordination.k8s.io");
    CHECK(there(&f, LEASES "/mine"));
    fixture_fini(&f);
}

TEST(aggregated_roles_follow_those_that_their_selectors_find)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", ROLES,
               "{\"metadata\":{\"name\":\"b\",\"labels\":{\"to\":\"all\"}},\"rules\":[{\"verbs\":"
               "[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}");
    (void)want(&f, 201, "POST", ROLES,
               "{\"metadata\":{\"name\":\"all\",\"labels\":{\"to\":\"all\"}},\"aggregationRule\":"
               "{\"clusterRoleSelectors\":[{\"matchLabels\":{\"to\":\"all\"}},{\"matchLabels\":"
               "{\"also\":\"1\"}}]},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],"
               "\"resources\":[\"*\"]}]}");
    settle(&f);
    struct json *rules = rules_of(&f, ROLES "/all");
    CHECK_INT(rules->n, 1); /* what was written by hand is gone */
    CHECK_STR(json_str(json_first(json_getc(rules->first, "resources"))), "pods");
    (void)want(
        &f, 201, "POST", ROLES,
        "{\"metadata\":{\"name\":\"a\",\"labels\":{\"to\":\"all\",\"also\":\"1\"}},\"rules\":"
        "[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"nodes\"]},{\"verbs\":"
        "[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}");
    settle(&f);
    rules = rules_of(&f, ROLES "/all");
    CHECK_INT(rules->n, 2); /* each rule once, in the order of names */
    CHECK_STR(json_str(json_first(json_getc(rules->first, "resources"))), "nodes");
    (void)want(&f, 200, "DELETE", ROLES "/a", NULL);
    (void)want(&f, 200, "PATCH", ROLES "/b", "{\"metadata\":{\"labels\":null}}");
    settle(&f);
    CHECK(!json_first(rules_of(&f, ROLES "/all")));
    uint64_t rev = store_revision(f.store);
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK_INT(store_revision(f.store), rev);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ defaults */

#define SERVICES "/apis/apiregistration.k8s.io/v1/apiservices"
#define FLOW     "/apis/flowcontrol.apiserver.k8s.io/v1"

static size_t n_items(struct fixture *f, const char *path)
{
    return json_getc(want(f, 200, "GET", path, NULL), "items")->n;
}

TEST(what_every_cluster_has_is_there_and_comes_back)
{
    struct fixture f;
    fixture_init(&f);
    struct json *critical = want(
        &f, 200, "GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical", NULL);
    CHECK_INT(json_int_or(json_getc(critical, "value"), 0), 2000001000);
    (void)want(&f, 403, "DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
               NULL);
    CHECK_INT(n_items(&f, FLOW "/flowschemas"), 11);
    CHECK_INT(n_items(&f, FLOW "/prioritylevelconfigurations"), 8);
    (void)want(&f, 200, "DELETE", FLOW "/flowschemas/catch-all", NULL);
    (void)want(&f, 200, "DELETE", SERVICES "/v1.apps", NULL);
    settle(&f);
    CHECK(there(&f, FLOW "/flowschemas/catch-all"));
    struct json *apps = want(&f, 200, "GET", SERVICES "/v1.apps", NULL);
    CHECK_STR(json_get_str(json_first(json_path(apps, "status", "conditions", NULL)), "reason"),
              "Local");
    CHECK(there(&f, SERVICES "/v1.") && !there(&f, SERVICES "/v1.apiregistration.k8s.io"));
    uint64_t rev = store_revision(f.store);
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK_INT(store_revision(f.store), rev);
    fixture_fini(&f);
}

TEST(api_services_come_and_go_with_definitions)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", SERVICES,
               "{\"metadata\":{\"name\":\"v9.mine.io\"},\"spec\":{\"group\":\"mine.io\","
               "\"version\":\"v9\",\"groupPriorityMinimum\":1,\"versionPriority\":1,\"service\":"
               "{\"namespace\":\"default\",\"name\":\"s\"}}}");
    make_mice(&f);
    settle(&f);
    CHECK(there(&f, SERVICES "/v1.zoo.io"));
    (void)want(&f, 200, "DELETE", CRDS "/mice.zoo.io", NULL);
    settle(&f);
    CHECK(!there(&f, SERVICES "/v1.zoo.io"));
    CHECK(there(&f, SERVICES "/v9.mine.io")); /* somebody else's */
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ Events */

static void make_event(struct fixture *f, const char *name, int64_t age_s)
{
    char stamp[RFC3339_MAX];
    rfc3339_format((int64_t)clock_wall_ms() / 1000 - age_s, stamp);
    scoped(free_scoped) char *body =
        xasprintf("{\"metadata\":{\"name\":\"%s\"},\"involvedObject\":{\"namespace\":\"default\"},"
                  "\"lastTimestamp\":\"%s\"}",
                  name, stamp);
    (void)want(f, 201, "POST", NS "events", body);
}

static void open_with_ttl(struct fixture *f, uint64_t ttl_ms)
{
    close_server(f);
    f->event_ttl_ms = ttl_ms;
    open_server(f);
}

TEST(events_go_when_their_time_has_come)
{
    struct fixture f;
    fixture_init(&f);
    size_t timers = f.loop.timers.n;
    open_with_ttl(&f, 1000);
    make_event(&f, "one", 0);
    CHECK_INT(f.loop.timers.n, timers + 1);
    make_event(&f, "two", 0);
    CHECK_INT(f.loop.timers.n, timers + 1); /* one for all */
    until_gone(&f, NS "events/one");
    until_gone(&f, NS "events/two");
    settle(&f);
    CHECK_INT(f.loop.timers.n, timers); /* and none when there are no Events */
    fixture_fini(&f);
}

#define SYSTEM_SECRETS "/api/v1/namespaces/kube-system/secrets"

static void make_token(struct fixture *f, const char *id, int64_t left_s)
{
    char stamp[RFC3339_MAX];
    rfc3339_format((int64_t)clock_wall_ms() / 1000 + left_s, stamp);
    scoped(free_scoped) char *body =
        xasprintf("{\"metadata\":{\"name\":\"bootstrap-token-%s\"},\"type\":"
                  "\"bootstrap.kubernetes.io/token\",\"stringData\":{\"expiration\":\"%s\"}}",
                  id, stamp);
    (void)want(f, 201, "POST", SYSTEM_SECRETS, body);
}

TEST(bootstrap_tokens_are_deleted_at_their_date)
{
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    size_t timers = f.loop.timers.n;
    make_token(&f, "late00", 7200);
    CHECK_INT(f.loop.timers.n, timers + 1);
    make_token(&f, "soon00", 1);
    CHECK_INT(f.loop.timers.n, timers + 1);
    until_gone(&f, SYSTEM_SECRETS "/bootstrap-token-soon00");
    settle(&f);
    CHECK(there(&f, SYSTEM_SECRETS "/bootstrap-token-late00"));
    CHECK_INT(f.loop.timers.n, timers + 1); /* for the other one, also after a restart */
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK_INT(f.loop.timers.n, timers + 1);
    (void)want(&f, 200, "DELETE", SYSTEM_SECRETS "/bootstrap-token-late00", NULL);
    fixture_fini(&f);
}

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    (void)err;
    CHECK_OK(res->r);
    on_done(arg);
}

#define CSRS     "/apis/certificates.k8s.io/v1/certificatesigningrequests"
#define HOURS(n) ((n)*3600)

/* condition: its type, or NULL; ago_s: of the request, or of its condition. */
static void put_request(struct fixture *f, const char *name, int64_t ago_s, const char *condition,
                        bool is_issued)
{
    char stamp[RFC3339_MAX];
    rfc3339_format((int64_t)clock_wall_ms() / 1000 - ago_s, stamp);
    scoped(free_scoped) char *key =
        xasprintf("/registry/certificates.k8s.io/certificatesigningrequests/%s", name);
    scoped(free_scoped) char *conditions = xasprintf(
        "\"conditions\":[{\"type\":\"%s\",\"status\":\"True\",\"lastUpdateTime\":\"%s\"}]",
        condition ? condition : "", stamp);
    scoped(free_scoped) char *value = xasprintf(
        "{\"apiVersion\":\"certificates.k8s.io/v1\",\"kind\":\"CertificateSigningRequest\","
        "\"metadata\":{\"name\":\"%s\",\"uid\":\"%s\",\"creationTimestamp\":\"%s\"},\"spec\":"
        "{\"signerName\":\"example.com/x\",\"request\":\"eA==\"},\"status\":{%s%s}}",
        name, name, stamp, condition ? conditions : "",
        is_issued ? ",\"certificate\":\"eA==\"" : "");
    const struct store_op put = { .kind = STORE_PUT, .key = str_of(key), .value = str_of(value) };
    CHECK_OK(store_txn(f->store, &put, 1, on_txn, f, NULL));
    wait_done(f);
}

TEST(certificate_requests_that_are_over_are_deleted)
{
    static const char *const stay[] = { "pending", "waits-for-a-signer", "issued-now", "other" };
    struct fixture f;
    fixture_init(&f);
    settle(&f);
    size_t timers = f.loop.timers.n;
    put_request(&f, "issued", HOURS(1) + 1, "Approved", true);
    put_request(&f, "denied", HOURS(1) + 1, "Denied", false);
    put_request(&f, "failed", HOURS(1) + 1, "Failed", false);
    put_request(&f, "forgotten", HOURS(24) + 1, NULL, false);
    put_request(&f, "pending", HOURS(23), NULL, false);
    put_request(&f, "waits-for-a-signer", HOURS(1000), "Approved", false);
    put_request(&f, "issued-now", HOURS(1) - 60, "Approved", true);
    put_request(&f, "other", -HOURS(10), NULL, false);
    close_server(&f);
    open_server(&f);
    until_gone(&f, CSRS "/issued");
    until_gone(&f, CSRS "/denied");
    until_gone(&f, CSRS "/failed");
    until_gone(&f, CSRS "/forgotten");
    settle(&f);
    for (size_t i = 0; i < ARRAY_LEN(stay); i++) {
        scoped(free_scoped) char *path = xasprintf(CSRS "/%s", stay[i]);
        CHECK(there(&f, path));
    }
    CHECK_INT(f.loop.timers.n, timers + 1); /* for the next that is due */
    loop_skip(&f.loop, 5 * 60000);
    until_gone(&f, CSRS "/issued-now");
    loop_skip(&f.loop, HOURS(1) * 1000);
    until_gone(&f, CSRS "/pending");
    CHECK(there(&f, CSRS "/other"));
    CHECK(there(&f, CSRS "/waits-for-a-signer"));
    (void)want(&f, 200, "DELETE", CSRS "/other", NULL);
    fixture_fini(&f);
}

TEST(events_that_a_clock_put_back_made_in_the_future_stay_their_time)
{
    static const char value[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"e\",\"namespace\":"
        "\"default\",\"uid\":\"u\",\"creationTimestamp\":\"2199-01-01T00:00:00Z\"},"
        "\"lastTimestamp\":\"2199-01-01T00:00:00Z\"}";
    const struct store_op put = { .kind = STORE_PUT,
                                  .key = STR("/registry/events/default/e"),
                                  .value = str_of(value) };
    struct fixture f;
    fixture_init(&f);
    CHECK_OK(store_txn(f.store, &put, 1, on_txn, &f, NULL));
    wait_done(&f);
    close_server(&f);
    open_server(&f);
    settle(&f);
    CHECK(there(&f, NS "events/e"));
    fixture_fini(&f);
}

TEST(a_clock_that_is_put_right_makes_nothing_older)
{
    enum { HOUR = 3600000 };
    const int64_t years = 56ll * 365 * 24 * HOUR;
    struct jump j = { 0 };
    jump_note(&j, 5000, 1000, 10, HOUR);
    jump_note(&j, 5900, 1100, 10, HOUR); /* tuned */
    CHECK_INT(jump_stamp(&j, 5000, 3, 6000), 5000);
    jump_note(&j, years + 6000, 2000, 20, HOUR);
    CHECK_INT(jump_stamp(&j, 5000, 3, years + 6000), 5000 + j.forward_ms);
    CHECK(j.forward_ms >= years && j.forward_ms <= years + 1000);
    CHECK_INT(jump_stamp(&j, years + 5000, 3, years + 6000), years + 5000); /* was right before */
    CHECK_INT(jump_stamp(&j, 5000, 20, years + 6000), 5000); /* by a client that has no clock */
    jump_note(&j, years + 7000 - HOUR, 3000, 30, HOUR);      /* back */
    jump_note(&j, years + 8000, 4000, 40, HOUR);             /* and forward: both steps count */
    CHECK(j.forward_ms >= years + HOUR - 2000);
    jump_note(&j, years + 9000 + HOUR, 5000 + HOUR, 50, HOUR);
    CHECK_INT(j.forward_ms, 0); /* whatever was stamped before is gone */
}

TEST(the_time_of_events_goes_on_while_the_server_is_down)
{
    struct fixture f;
    fixture_init(&f);
    make_event(&f, "old", 0);
    make_event(&f, "long", 0);
    close_server(&f);
    f.event_ttl_ms = 1000;
    open_server(&f);
    until_gone(&f, NS "events/old");
    close_server(&f);
    f.event_ttl_ms = 0;
    open_server(&f);
    make_event(&f, "new", 7200); /* happened long ago, but was told just now */
    settle(&f);
    CHECK(there(&f, NS "events/new"));
    fixture_fini(&f);
}

TEST_MAIN
