/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers whose store fails for a while: they do what is left once it works again, without a
 * further event, and then no timer is left.
 */
#include "api_fixture.h"
#include "fault_store.h"

#include "api/admit/admit.h"
#include "api/auth/auth.h"
#include "api/controllers/controllers.h"
#include "base/mem.h"

#include <errno.h>

#define SPACES "/api/v1/namespaces"
#define CRDS   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define MICE   "/apis/zoo.io/v1/mice"
#define NS     "/api/v1/namespaces/default/"

static void on_opened(struct fixture *f)
{
    store_made_faulty(&f->loop, f->store);
}

static size_t start(struct fixture *f)
{
    fixture_init(f);
    close_server(f);
    f->opened = on_opened;
    open_server(f);
    settle(f);
    return f->loop.timers.n;
}

static void stop(struct fixture *f)
{
    store_works();
    fixture_fini(f);
    faulty_forget();
}

/* Until something has failed and a controller waits to try again. */
static void until_retry(struct fixture *f, size_t timers)
{
    while (faulty.n_struck == 0 || f->loop.timers.n == timers || api_parts_busy(f->api))
        (void)loop_turn(&f->loop, true);
}

static void until_gone(struct fixture *f, const char *path)
{
    while (there(f, path))
        (void)loop_turn(&f->loop, true);
}

static void until_quiet(struct fixture *f, size_t timers)
{
    while (api_parts_busy(f->api) || f->loop.timers.n > timers)
        (void)loop_turn(&f->loop, true);
}

/* ------------------------------------------------------------------ the start */

static void on_closed(void *arg)
{
    *(bool *)arg = true;
}

/* The part that failed was started: its start function has returned. */
static void on_not_ready(void *arg, int r, const struct err *err)
{
    struct fixture *f = arg;
    CHECK(!f->api->in_part_start && f->api->controllers->crds);
    CHECK(!f->rbac || f->api->auth->authz);
    CHECK(f->rbac || f->api->n_started < f->api->n_parts || f->api->admit->policies);
    on_ready(f, r, err);
}

/* A part of the server cannot begin its first read: those below this prefix. */
static void start_fails(const char *prefix, bool rbac)
{
    struct fixture f;
    struct err err = { 0 };
    fixture_init(&f);
    close_server(&f);
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f.dir);
    CHECK_OK(store_open(&f.loop, &(struct store_opts){ .path = path }, &f.store, &err));
    store_made_faulty(&f.loop, f.store);
    store_fails(FAULT_RANGE_STARTS, prefix);
    f.rbac = rbac;
    CHECK_OK(api_new(
        &(struct api_opts){
            .loop = &f.loop, .store = f.store, .admin_token = STR("secret"), .rbac = rbac },
        &f.api, &err));
    api_start(f.api, on_not_ready, &f);
    CHECK(!f.done);
    wait_done(&f);
    CHECK_INT(f.r, -ENOSPC);
    stop(&f);
}

TEST(definitions_that_cannot_be_read_are_reported_from_the_loop)
{
    start_fails("/registry/apiextensions.k8s.io/", false);
}

TEST(roles_that_cannot_be_read_are_reported_from_the_loop)
{
    start_fails("/registry/rbac.authorization.k8s.io/", true);
}

TEST(policies_that_cannot_be_read_are_reported_from_the_loop)
{
    start_fails("/registry/admissionregistration.k8s.io/validating", false);
}

TEST(a_server_that_is_closed_before_its_first_turn_starts_no_part)
{
    struct fixture f;
    struct err err = { 0 };
    bool closed = false;
    fixture_init(&f);
    close_server(&f);
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f.dir);
    CHECK_OK(store_open(&f.loop, &(struct store_opts){ .path = path }, &f.store, &err));
    CHECK_OK(api_new(&(struct api_opts){ .loop = &f.loop, .store = f.store }, &f.api, &err));
    api_start(f.api, on_ready, &f);
    api_close(f.api, 1000, on_closed, &closed);
    wait_done(&f);
    CHECK_INT(f.r, -ECANCELED);
    while (!closed)
        (void)loop_turn(&f.loop, true);
    store_close(f.store, on_done, &f);
    wait_done(&f);
    f.opened = NULL;
    open_server(&f);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ namespaces */

/* What fails while a namespace goes. */
static void namespace_goes_despite(unsigned kinds, const char *prefix)
{
    struct fixture f;
    size_t timers = start(&f);
    (void)want(&f, 201, "POST", SPACES, "{\"metadata\":{\"name\":\"n\"}}");
    (void)want(&f, 201, "POST", SPACES "/n/configmaps", "{\"metadata\":{\"name\":\"a\"}}");
    settle(&f);
    (void)want(&f, 200, "DELETE", SPACES "/n", NULL);
    store_fails(kinds, prefix);
    until_retry(&f, timers);
    size_t struck = faulty.n_struck;
    while (faulty.n_struck == struck) /* tried again, in vain */
        (void)loop_turn(&f.loop, true);
    store_works();
    CHECK(there(&f, SPACES "/n"));
    until_gone(&f, SPACES "/n");
    until_quiet(&f, timers);
    stop(&f);
}

TEST(a_namespace_goes_although_its_contents_could_not_be_deleted)
{
    namespace_goes_despite(FAULT_WRITES, "/registry/configmaps/n/");
}

TEST(a_namespace_goes_although_nothing_could_be_written)
{
    namespace_goes_despite(FAULT_WRITES, "/");
}

TEST(a_namespace_goes_although_it_could_not_be_finalized)
{
    namespace_goes_despite(FAULT_WRITES, "/registry/namespaces/n");
}

TEST(a_namespace_goes_although_it_could_not_be_read)
{
    namespace_goes_despite(FAULT_READS, "/registry/namespaces/n");
}

TEST(a_namespace_stays_while_a_kind_cannot_be_listed)
{
    struct fixture f;
    size_t timers = start(&f);
    (void)want(&f, 201, "POST", SPACES, "{\"metadata\":{\"name\":\"n\"}}");
    (void)want(&f, 201, "POST", SPACES "/n/configmaps", "{\"metadata\":{\"name\":\"a\"}}");
    settle(&f);
    (void)want(&f, 200, "DELETE", SPACES "/n", NULL);
    store_fails(FAULT_READS, "/registry/configmaps/");
    until_retry(&f, timers);
    const struct json *ns = want(&f, 200, "GET", SPACES "/n", NULL), *left = NULL;
    json_each (c, json_path(ns, "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), "NamespaceContentRemaining"))
            left = c;
    CHECK_STR(json_get_str(left, "message"),
              "Some resources are remaining: configmaps. cannot be listed");
    store_works();
    until_gone(&f, SPACES "/n");
    until_quiet(&f, timers);
    stop(&f);
}

TEST(a_namespace_whose_contents_are_not_followed_any_more_goes_with_the_last_of_them)
{
    struct fixture f;
    size_t timers = start(&f);
    (void)want(&f, 201, "POST", SPACES, "{\"metadata\":{\"name\":\"n\"}}");
    (void)want(&f, 201, "POST", SPACES "/n/configmaps",
               "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/y\"]}}");
    (void)want(&f, 200, "DELETE", SPACES "/n", NULL);
    settle(&f);
    CHECK_INT(f.loop.timers.n, timers); /* it waits, and nothing has failed */
    CHECK_INT(store_ends_watches("/registry/"), 1);
    (void)want(&f, 200, "PATCH", SPACES "/n/configmaps/a", "{\"metadata\":{\"finalizers\":null}}");
    until_gone(&f, SPACES "/n");
    until_quiet(&f, timers);
    stop(&f);
}

TEST(namespaces_are_read_again_when_their_watch_has_ended)
{
    struct fixture f;
    size_t timers = start(&f);
    (void)want(&f, 201, "POST", SPACES, "{\"metadata\":{\"name\":\"missed\"}}");
    (void)want(&f, 201, "POST", SPACES, "{\"metadata\":{\"name\":\"seen\"}}");
    settle(&f);
    store_fails(FAULT_READS, "/registry/namespaces/");
    CHECK(store_ends_watches("/registry/namespaces/") > 0);
    until_retry(&f, timers);
    store_works();
    (void)want(&f, 200, "DELETE", SPACES "/missed", NULL); /* while nobody watches */
    until_gone(&f, SPACES "/missed");
    (void)want(&f, 200, "DELETE", SPACES "/seen", NULL);
    until_gone(&f, SPACES "/seen");
    until_quiet(&f, timers);
    stop(&f);
}

/* ------------------------------------------------------------------ definitions */

static void make_mice(struct fixture *f, const char *finalizers)
{
    scoped(free_scoped) char *crd =
        xasprintf("{\"metadata\":{\"name\":\"mice.zoo.io\",\"finalizers\":%s},\"spec\":{\"group\":"
                  "\"zoo.io\",\"names\":{\"kind\":\"Mouse\",\"plural\":\"mice\"},\"scope\":"
                  "\"Cluster\",\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
                  "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}",
                  finalizers);
    (void)want(f, 201, "POST", CRDS, crd);
    (void)want(f, 201, "POST", MICE,
               "{\"apiVersion\":\"zoo.io/v1\",\"kind\":\"Mouse\",\"metadata\":{\"name\":\"a\"}}");
    settle(f);
}

static void definition_goes_despite(unsigned kinds, const char *prefix)
{
    struct fixture f;
    size_t timers = start(&f);
    make_mice(&f, "null");
    (void)want(&f, 200, "DELETE", CRDS "/mice.zoo.io", NULL);
    store_fails(kinds, prefix);
    until_retry(&f, timers);
    size_t struck = faulty.n_struck;
    while (faulty.n_struck == struck)
        (void)loop_turn(&f.loop, true);
    store_works();
    CHECK(there(&f, CRDS "/mice.zoo.io"));
    until_gone(&f, CRDS "/mice.zoo.io");
    until_quiet(&f, timers);
    stop(&f);
}

TEST(a_definition_goes_although_its_instances_could_not_be_deleted)
{
    definition_goes_despite(FAULT_WRITES, "/registry/zoo.io/mice/");
}

TEST(a_definition_goes_although_its_instances_could_not_be_listed)
{
    definition_goes_despite(FAULT_READS, "/registry/zoo.io/mice/");
}

TEST(a_definition_goes_although_it_could_not_be_written)
{
    definition_goes_despite(FAULT_WRITES, "/registry/apiextensions.k8s.io/");
}

static uint64_t n_requests(const struct fixture *f)
{
    uint64_t n = 0;
    map_each (e, &f->api->metrics.series)
        n += ((const struct metrics_series *)e->value)->us.n;
    return n;
}

TEST(a_definition_that_others_hold_is_released_once)
{
    struct fixture f;
    size_t timers = start(&f);
    make_mice(&f, "[\"x.io/y\"]");
    (void)want(&f, 200, "DELETE", CRDS "/mice.zoo.io", NULL);
    settle(&f);
    CHECK_INT(f.loop.timers.n, timers);
    uint64_t before = n_requests(&f);
    const struct json *crd = want(&f, 200, "GET", CRDS "/mice.zoo.io", NULL);
    CHECK_INT(n_requests(&f) - before, 1); /* nobody else asked anything */
    CHECK_INT(json_path(crd, "metadata", "finalizers", NULL)->n, 1);
    CHECK(!there(&f, MICE "/a"));
    (void)want(&f, 200, "PATCH", CRDS "/mice.zoo.io", "{\"metadata\":{\"finalizers\":null}}");
    CHECK(!there(&f, CRDS "/mice.zoo.io"));
    stop(&f);
}

static void on_txn(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

TEST(definitions_are_read_again_when_their_watch_has_ended)
{
    static const char key[] =
        "/registry/apiextensions.k8s.io/customresourcedefinitions/mice.zoo.io";
    struct fixture f;
    size_t timers = start(&f);
    make_mice(&f, "null");
    store_fails(FAULT_READS, "/registry/apiextensions.k8s.io/");
    CHECK(store_ends_watches("/registry/apiextensions.k8s.io/customresourcedefinitions/") > 0);
    until_retry(&f, timers);
    store_works();
    CHECK(there(&f, MICE "/a")); /* what is known stays in force */
    const struct store_op gone = { .kind = STORE_DELETE, .key = str_of(key) };
    CHECK_OK(store_txn(f.store, &gone, 1, on_txn, &f, NULL)); /* another process did */
    wait_done(&f);
    until_quiet(&f, timers);
    (void)want(&f, 404, "GET", MICE, NULL);
    stop(&f);
}

static char *stored_text;

static void take_text(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                      const struct err *err)
{
    struct fixture *f = arg;
    (void)rev;
    (void)err;
    CHECK_OK(r);
    stored_text = xstrndup(kv->value.p, kv->value.n);
    f->done = true;
}

/* Replaces the one occurrence of `old` in stored_text. */
static void replace_text(const char *old, const char *new)
{
    char *at = strstr(stored_text, old);
    CHECK(at && !strstr(at + 1, old));
    char *text = xasprintf("%.*s%s%s", (int)(at - stored_text), stored_text, new, at + strlen(old));
    free(stored_text);
    stored_text = text;
}

static void put_text(struct fixture *f, const char *key)
{
    const struct store_op put = { .kind = STORE_PUT,
                                  .key = str_of(key),
                                  .value = str_of(stored_text) };
    CHECK_OK(store_txn(f->store, &put, 1, on_txn, f, NULL));
    wait_done(f);
}

/* Until a controller's request whose target contains this has arrived and has not begun. */
static void until_asked(struct fixture *f, const char *part)
{
    for (;;) {
        list_each (node, &f->api->requests)
            if (str_find(list_entry(node, struct request, node)->target, str_of(part)) >= 0)
                return;
        (void)loop_turn(&f->loop, true);
    }
}

TEST(a_definition_that_does_not_compile_while_its_instances_are_listed_goes_when_it_does_again)
{
    static const char key[] =
        "/registry/apiextensions.k8s.io/customresourcedefinitions/mice.zoo.io";
    struct fixture f;
    size_t timers = start(&f);
    make_mice(&f, "null");
    (void)want(&f, 200, "PATCH", MICE "/a", "{\"metadata\":{\"finalizers\":[\"x.io/y\"]}}");
    (void)want(&f, 200, "DELETE", CRDS "/mice.zoo.io", NULL);
    until_asked(&f, "limit=1");
    store_fails(FAULT_READS, "/registry/zoo.io/mice/");
    faulty.holds = true;
    CHECK_OK(store_get(f.store, str_of(key), 0, take_text, &f, NULL));
    wait_done(&f);
    replace_text("\"generation\":1", "\"generation\":2");
    replace_text("\"group\":\"zoo.io\"", "\"group\":\"\"");
    put_text(&f, key); /* another process did */
    while (crds_find_stored(f.api->controllers->crds, STR("zoo.io"), STR("v1"), STR("mice")))
        (void)loop_turn(&f.loop, true);
    faulty.holds = false;
    store_works();
    until_retry(&f, timers);
    replace_text("\"generation\":2", "\"generation\":3");
    replace_text("\"group\":\"\"", "\"group\":\"zoo.io\"");
    put_text(&f, key);
    (void)want(&f, 200, "PATCH", MICE "/a", "{\"metadata\":{\"finalizers\":null}}");
    until_gone(&f, CRDS "/mice.zoo.io");
    until_quiet(&f, timers);
    free(stored_text);
    stop(&f);
}

/* ------------------------------------------------------------------ accounts */

static void on_opened_without_scan(struct fixture *f)
{
    store_made_faulty(&f->loop, f->store);
    store_fails(FAULT_RANGE_STARTS, "/registry/namespaces/");
    faulty.n_spared = 1; /* the read of the controller of namespaces */
}

TEST(namespaces_get_their_objects_although_the_first_scan_could_not_start)
{
    struct fixture f;
    size_t timers = start(&f);
    close_server(&f);
    f.ca_cert = STR("certificate");
    f.opened = on_opened_without_scan;
    open_server(&f);
    until_retry(&f, timers);
    CHECK(!there(&f, NS "configmaps/kube-root-ca.crt"));
    store_works();
    while (!there(&f, NS "configmaps/kube-root-ca.crt"))
        (void)loop_turn(&f.loop, true);
    until_quiet(&f, timers);
    stop(&f);
}

/* ------------------------------------------------------------------ quotas */

#define QUOTA NS "resourcequotas/q"

static void make_quota(struct fixture *f, int n)
{
    scoped(free_scoped) char *body = xasprintf(
        "{\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"count/secrets\":\"%d\"}}}", n);
    (void)want(f, 201, "POST", NS "resourcequotas", body);
    settle(f);
}

static struct str used(struct fixture *f)
{
    const struct json *q = want(f, 200, "GET", QUOTA, NULL);
    return json_str(json_path(q, "status", "used", "count/secrets", NULL));
}

TEST(quotas_that_could_not_be_read_at_the_start_hold)
{
    struct fixture f;
    size_t timers = start(&f);
    make_quota(&f, 1);
    (void)want(&f, 201, "POST", NS "secrets", "{\"metadata\":{\"name\":\"a\"}}");
    close_server(&f);
    store_fails(FAULT_READS, "/registry/resourcequotas/");
    open_server(&f);
    until_retry(&f, timers);
    store_works();
    CHECK(quotas_in(f.api->controllers->quotas, STR("kube-system"))); /* for all it knows */
    (void)want(&f, 403, "POST", NS "secrets", "{\"metadata\":{\"name\":\"b\"}}");
    until_quiet(&f, timers);
    CHECK(!quotas_in(f.api->controllers->quotas, STR("kube-system")));
    (void)want(&f, 403, "POST", NS "secrets", "{\"metadata\":{\"name\":\"b\"}}");
    stop(&f);
}

TEST(a_count_that_failed_is_repeated)
{
    static const struct {
        unsigned kinds;
        const char *prefix;
        size_t n_spared; /* by the deletion itself */
    } faults[] = { { FAULT_READS, "/registry/resourcequotas/", 0 },
                   { FAULT_READS, "/registry/secrets/default/", 1 },
                   { FAULT_WRITES, "/registry/resourcequotas/", 0 } };
    struct fixture f;
    size_t timers = start(&f);
    make_quota(&f, 5);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        (void)want(&f, 201, "POST", NS "secrets", "{\"metadata\":{\"name\":\"a\"}}");
        CHECK_STR(used(&f), "1");
        store_fails(faults[i].kinds, faults[i].prefix);
        faulty.n_spared = faults[i].n_spared;
        (void)want(&f, 200, "DELETE", NS "secrets/a", NULL);
        until_retry(&f, timers);
        store_works();
        until_quiet(&f, timers);
        CHECK_STR(used(&f), "0");
    }
    stop(&f);
}

TEST(a_status_that_somebody_else_wrote_is_put_right)
{
    struct fixture f;
    (void)start(&f);
    make_quota(&f, 5);
    (void)want(&f, 200, "PATCH", QUOTA "/status",
               "{\"status\":{\"used\":{\"count/secrets\":\"4\"}}}");
    settle(&f);
    CHECK_STR(used(&f), "0");
    CHECK(quotas_in(f.api->controllers->quotas, STR("default")));
    (void)want(&f, 200, "DELETE", QUOTA, NULL);
    settle(&f);
    CHECK(!quotas_in(f.api->controllers->quotas, STR("default"))); /* nothing is kept of it */
    stop(&f);
}

TEST_MAIN
