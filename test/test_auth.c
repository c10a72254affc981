/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Authorization, tokens and certificate requests of a whole server, in process. The wire and
 * kubectl are tried in test/behaviour/test_auth.py.
 */
#include "api/auth/authz.h"
#include "api/controllers/controllers.h"
#include "api_fixture.h"
#include "client/http_transport.h"
#include "client/kubeconfig.h"
#include "codec/base64.h"
#include "codec/jwt.h"
#include "fault_store.h"
#include "io/tls.h"

#define RBAC       "/apis/rbac.authorization.k8s.io/v1"
#define ROLES      RBAC "/namespaces/default/roles"
#define BINDINGS   RBAC "/namespaces/default/rolebindings"
#define NAMESPACES "/api/v1/namespaces"
#define ACCOUNTS   "/api/v1/namespaces/default/serviceaccounts"
#define CSRS       "/apis/certificates.k8s.io/v1/certificatesigningrequests"

/* ------------------------------------------------------------------ helpers */

static struct buf ca_cert, ca_key, sa_key;

static void start(struct fixture *f)
{
    struct err err = { 0 };
    scoped(jwt_key_free_scoped) struct jwt_key *key = NULL;
    ca_cert = ca_key = sa_key = BUF_INIT(1 << 16);
    CHECK_OK(x509_make_ca("test-ca", &ca_cert, &ca_key, &err));
    CHECK_OK(jwt_key_make(&key, &err));
    CHECK_OK(jwt_key_write(key, &sa_key, &err));
    fixture_init(f);
    close_server(f);
    f->ca_cert = buf_str(&ca_cert);
    f->ca_key = buf_str(&ca_key);
    f->sa_key = buf_str(&sa_key);
    f->rbac = true;
    open_server(f);
    settle(f);
}

static void stop(struct fixture *f)
{
    f->identity = NULL;
    fixture_fini(f);
    buf_fini(&ca_cert);
    buf_fini(&ca_key);
    buf_fini(&sa_key);
}

static const struct str authenticated[] = { { "system:authenticated", 20 } };

static struct json *want_as(struct fixture *f, const char *user, int status, const char *method,
                            const char *target, const char *body)
{
    const struct kube_identity who = { .user = str_of(user),
                                       .groups = authenticated,
                                       .n_groups = 1 };
    f->identity = &who;
    struct json *v = want(f, status, method, target, body);
    f->identity = NULL;
    return v;
}

static void grant(struct fixture *f, const char *name, const char *role, const char *user)
{
    (void)want(f, 201, "POST", BINDINGS,
               arena_printf(&f->arena,
                            "{\"metadata\":{\"name\":\"%s\"},\"roleRef\":{\"apiGroup\":"
                            "\"rbac.authorization.k8s.io\",\"kind\":\"Role\",\"name\":\"%s\"},"
                            "\"subjects\":[{\"kind\":\"User\",\"name\":\"%s\",\"apiGroup\":"
                            "\"rbac.authorization.k8s.io\"}]}",
                            name, role, user));
}

#define READER                                                                                     \
    "{\"metadata\":{\"name\":\"reader\"},\"rules\":[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":"  \
    "[\"\"],\"resources\":[\"configmaps\"]}]}"
#define MANAGER                                                                                    \
    "{\"metadata\":{\"name\":\"manager\"},\"rules\":[{\"verbs\":[\"create\",\"update\",\"patch\"]" \
    ","                                                                                            \
    "\"apiGroups\":[\"rbac.authorization.k8s.io\"],\"resources\":[\"roles\"]}]}"

/* ------------------------------------------------------------------ RBAC */

TEST(bindings_hold_from_the_next_request_on_and_over_a_restart)
{
    struct fixture f;
    start(&f);
    (void)want_as(&f, "jane", 403, "GET", MAPS, NULL);
    (void)want(&f, 201, "POST", ROLES, READER);
    grant(&f, "jane", "reader", "jane");
    (void)want_as(&f, "jane", 200, "GET", MAPS, NULL);
    struct json *no = want_as(&f, "jane", 403, "DELETE", MAPS "/x", NULL);
    CHECK_STR(json_get_str(no, "message"),
              "configmaps \"x\" is forbidden: User \"jane\" cannot delete resource \"configmaps\" "
              "in API group \"\" in the namespace \"default\"");
    close_server(&f);
    open_server(&f);
    (void)want_as(&f, "jane", 200, "GET", MAPS, NULL);
    (void)want(&f, 200, "DELETE", BINDINGS "/jane", NULL);
    (void)want_as(&f, "jane", 403, "GET", MAPS, NULL);
    stop(&f);
}

TEST(whoever_rules_a_namespace_rules_no_other)
{
    struct fixture f;
    start(&f);
    (void)want(&f, 201, "POST", NAMESPACES, "{\"metadata\":{\"name\":\"victim\"}}");
    (void)want(&f, 201, "POST", ROLES,
               "{\"metadata\":{\"name\":\"all\"},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":"
               "[\"*\"],\"resources\":[\"*\"]}]}");
    grant(&f, "lead", "all", "lead");
    (void)want_as(&f, "lead", 200, "GET", NAMESPACES "/default", NULL);
    (void)want_as(&f, "lead", 403, "GET", NAMESPACES "/victim", NULL);
    (void)want_as(&f, "lead", 404, "GET", NAMESPACES "/default/namespaces", NULL);
    (void)want_as(&f, "lead", 404, "GET", NAMESPACES "/default/namespaces/victim", NULL);
    (void)want_as(&f, "lead", 404, "GET", NAMESPACES "/default/namespaces/victim/status", NULL);
    (void)want_as(&f, "lead", 404, "DELETE", NAMESPACES "/default/namespaces/victim", NULL);
    (void)want_as(&f, "lead", 404, "POST", NAMESPACES "/default/namespaces",
                  "{\"metadata\":{\"name\":\"mine\"}}");
    stop(&f);
}

TEST(defaults_are_made_once_and_again_when_they_are_missing)
{
    struct fixture f;
    start(&f);
    uint64_t rev = rev_of(want(&f, 200, "GET", RBAC "/clusterroles/system:node", NULL));
    (void)want(&f, 200, "DELETE", RBAC "/clusterrolebindings/system:discovery", NULL);
    (void)want_as(&f, "jane", 403, "GET", "/api", NULL);
    close_server(&f);
    open_server(&f);
    (void)want_as(&f, "jane", 200, "GET", "/api", NULL);
    CHECK_INT(rev_of(want(&f, 200, "GET", RBAC "/clusterroles/system:node", NULL)), rev);
    stop(&f);
}

TEST(nobody_grants_what_he_does_not_have)
{
    struct fixture f;
    start(&f);
    (void)want(&f, 201, "POST", ROLES, READER);
    (void)want(&f, 201, "POST", ROLES, MANAGER);
    grant(&f, "a", "reader", "joe");
    grant(&f, "b", "manager", "joe");
    (void)want_as(&f, "joe", 201, "POST", ROLES,
                  "{\"metadata\":{\"name\":\"less\"},\"rules\":[{\"verbs\":[\"get\"],\"apiGroups\":"
                  "[\"\"],\"resources\":[\"configmaps\"]}]}");
    struct json *no =
        want_as(&f, "joe", 403, "POST", ROLES,
                "{\"metadata\":{\"name\":\"more\"},\"rules\":[{\"verbs\":[\"get\",\"watch\"],"
                "\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]}");
    CHECK(str_has_suffix(json_get_str(no, "message"),
                         STR("not currently held:\n{APIGroups:[\"\"], Resources:[\"configmaps\"], "
                             "Verbs:[\"watch\"]}")));
    struct answer a = { 0 };
    const struct kube_identity joe = { .user = STR("joe"), .groups = authenticated, .n_groups = 1 };
    f.identity = &joe;
    a = ask(&f, "PATCH", ROLES "/less", "application/merge-patch+json", NULL,
            "{\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}]}");
    CHECK_INT(a.status, 403);
    answer_fini(&a);
    stop(&f);
}

/* ------------------------------------------------------------------ tokens */

static struct json *review(struct fixture *f, struct str token)
{
    struct json *v =
        want(f, 201, "POST", "/apis/authentication.k8s.io/v1/tokenreviews",
             arena_printf(&f->arena,
                          "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                          "\"spec\":{\"token\":\"" STR_FMT "\"}}",
                          STR_ARG(token)));
    return json_getc(v, "status");
}

static struct str new_token(struct fixture *f, const char *account, const char *spec)
{
    struct json *v =
        want(f, 201, "POST", arena_printf(&f->arena, ACCOUNTS "/%s/token", account), spec);
    return text_at(v, "status", "token");
}

TEST(nobody_stops_the_collecting_of_rules_who_could_not_begin_it)
{
    struct fixture f;
    start(&f);
    static const char *const path = RBAC "/clusterroles/collector";
    (void)want(&f, 201, "POST", RBAC "/clusterroles",
               "{\"metadata\":{\"name\":\"collector\"},\"aggregationRule\":"
               "{\"clusterRoleSelectors\":[{\"matchLabels\":{\"none\":\"none\"}}]}}");
    (void)want(&f, 201, "POST", RBAC "/clusterroles",
               "{\"metadata\":{\"name\":\"roles\"},\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":"
               "[\"rbac.authorization.k8s.io\"],\"resources\":[\"clusterroles\"],"
               "\"resourceNames\":[\"other\"]},{\"verbs\":[\"update\"],\"apiGroups\":"
               "[\"rbac.authorization.k8s.io\"],\"resources\":[\"clusterroles\"]}]}");
    (void)want(&f, 201, "POST", RBAC "/clusterrolebindings",
               "{\"metadata\":{\"name\":\"jane\"},\"roleRef\":{\"apiGroup\":"
               "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"roles\"},"
               "\"subjects\":[{\"kind\":\"User\",\"name\":\"jane\"}]}");
    struct json *no = want_as(&f, "jane", 403, "PUT", path,
                              "{\"metadata\":{\"name\":\"collector\"},\"rules\":[]}");
    CHECK_STR(json_get_str(no, "message"),
              "clusterroles.rbac.authorization.k8s.io \"collector\" is forbidden: must have "
              "cluster-admin privileges to use an aggregationRule");
    (void)want(&f, 200, "PUT", path, "{\"metadata\":{\"name\":\"collector\"},\"rules\":[]}");
    stop(&f);
}

TEST(a_token_is_good_while_its_account_is_there)
{
    struct fixture f;
    start(&f);
    (void)want(&f, 201, "POST", ACCOUNTS, "{\"metadata\":{\"name\":\"robot\"}}");
    struct str token = new_token(&f, "robot", "{\"spec\":{}}");
    for (int i = 0; i < 3; i++) {
        struct json *status = review(&f, token);
        CHECK(json_bool(json_getc(status, "authenticated")));
        CHECK_STR(json_str(json_path(status, "user", "username", NULL)),
                  "system:serviceaccount:default:robot");
        (void)make_map(&f, arena_printf(&f.arena, "map-%d", i), "x"); /* a write in between */
    }
    (void)want(&f, 200, "DELETE", ACCOUNTS "/robot", NULL);
    struct json *status = review(&f, token);
    CHECK(!json_bool(json_getc(status, "authenticated")));
    CHECK(json_get_str(status, "error").n > 0);
    (void)want(&f, 201, "POST", ACCOUNTS, "{\"metadata\":{\"name\":\"robot\"}}");
    CHECK(!json_bool(json_getc(review(&f, token), "authenticated")));
    CHECK_STR(json_get_str(review(&f, STR("x.y.z")), "error"), "invalid bearer token");
    stop(&f);
}

TEST(a_watch_ends_with_the_right_to_it)
{
    struct fixture f;
    start(&f);
    (void)want(&f, 201, "POST", ROLES,
               "{\"metadata\":{\"name\":\"watcher\"},\"rules\":[{\"verbs\":[\"list\",\"watch\"],"
               "\"apiGroups\":[\"\"],\"resources\":[\"configmaps\"]}]}");
    grant(&f, "jane", "watcher", "jane");
    grant(&f, "joe", "watcher", "joe");
    const struct kube_identity jane = { .user = STR("jane"),
                                        .groups = authenticated,
                                        .n_groups = 1 };
    const struct kube_identity joe = { .user = STR("joe"), .groups = authenticated, .n_groups = 1 };
    struct watching of_jane, of_joe;
    f.identity = &jane;
    watch(&f, &of_jane, MAPS "?watch=1&labelSelector=none");
    f.identity = &joe;
    watch(&f, &of_joe, MAPS "?watch=1&fieldSelector=metadata.name%3Dm");
    f.identity = NULL;
    (void)want(&f, 200, "DELETE", BINDINGS "/jane", NULL);
    wait_end(&of_jane);
    CHECK(!of_joe.ended);
    (void)make_map(&f, "m", "x"); /* the other watch continues */
    (void)expect(&of_joe, "ADDED", "m");
    (void)want(&f, 200, "PUT", ROLES "/watcher",
               "{\"metadata\":{\"name\":\"watcher\"},\"rules\":[]}");
    wait_end(&of_joe);
    stop(&f);
}

TEST(a_watch_over_http_without_a_timeout_ends_all_the_same)
{
    struct fixture f;
    struct http_transport *http;
    struct watching w;
    struct err err = { 0 };
    fixture_init(&f);
    close_server(&f);
    f.watch_min_ms = 20;
    open_server(&f);
    CHECK_OK(api_listen(f.api, "127.0.0.1", 0, NULL, &err));
    char *url = arena_printf(&f.arena, "http://127.0.0.1:%u", api_port(f.api));
    const struct kubeconfig config = { .server = url, .token = (char[]){ "secret" } };
    CHECK_OK(http_transport_new(&f.loop, &config, &http, &err));
    watch_through(&f, http_transport_base(http), &w, MAPS "?watch=1", NULL);
    CHECK_INT(w.status, 200);
    wait_end(&w);
    CHECK_INT(w.end, 0); /* a clean end: the client resumes from its last revision */
    http_transport_close(http, on_done, &f);
    wait_done(&f);
    fixture_fini(&f);
}

TEST(a_watch_of_this_process_stays_and_arms_no_timer)
{
    enum { BEYOND_MS = 4 * API_WATCH_MIN_MS };
    struct fixture f;
    struct watching w, timed;
    fixture_init(&f);
    settle(&f);
    watch(&f, &w, MAPS "?watch=1&allowWatchBookmarks=1");
    watch(&f, &timed, MAPS "?watch=1&timeoutSeconds=7");
    loop_skip(&f.loop, BEYOND_MS);
    wait_end(&timed); /* what the request itself asks for counts in process too */
    CHECK_INT(timed.end, 0);
    for (int i = 0; i < 3 && loop_next_timer_ms(&f.loop) != UINT64_MAX; i++) {
        loop_skip(&f.loop, BEYOND_MS); /* timers of the writes at the start run out */
        (void)loop_turn(&f.loop, true);
    }
    CHECK(loop_next_timer_ms(&f.loop) == UINT64_MAX);
    CHECK(!w.ended);
    unwatch(&w);
    fixture_fini(&f);
}

TEST(more_tokens_than_are_remembered)
{
    struct fixture f;
    start(&f);
    (void)want(&f, 201, "POST", ACCOUNTS, "{\"metadata\":{\"name\":\"robot\"}}");
    struct str tokens[40];
    for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
        tokens[i] = new_token(&f, "robot", "{\"spec\":{}}");
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
            CHECK(json_bool(json_getc(review(&f, tokens[i]), "authenticated")));
    stop(&f);
}

/* ------------------------------------------------------------------ certificate requests */

/* openssl req -new -subj /O=devs/CN=ursula */
static const char request_pem[] =
    "-----BEGIN CERTIFICATE REQUEST-----\n"
    "MIHbMIGCAgEAMCAxDTALBgNVBAoMBGRldnMxDzANBgNVBAMMBnVyc3VsYTBZMBMG\n"
    "ByqGSM49AgEGCCqGSM49AwEHA0IABG/o+yXjB6fvRw4HX9JVXHXzCFUScMO1dSek\n"
    "zf98tI+G1qLCOxAPcsA/0PinhK/xeFy66BY4jh5HiYEqKHIw61agADAKBggqhkjO\n"
    "PQQDAgNIADBFAiEAk4fUZe57sOuXyznoJC3N3zZZQA3abHieE4nO9n86zxECIB/y\n"
    "Lknjg8hBiM63PmAEVmYpEQF8y7nqh2otpbwK3wsY\n"
    "-----END CERTIFICATE REQUEST-----\n";

static void make_approved(struct fixture *f)
{
    struct buf b = BUF_INIT(1 << 16);
    CHECK_OK(base64_encode(&b, str_of(request_pem), BASE64_STD));
    struct json *csr = want(
        f, 201, "POST", CSRS,
        arena_printf(&f->arena,
                     "{\"metadata\":{\"name\":\"u\"},\"spec\":{\"request\":\"%s\",\"usages\":["
                     "\"client auth\"],\"signerName\":\"kubernetes.io/kube-apiserver-client\"}}",
                     buf_cstr(&b)));
    CHECK_STR(text_at(csr, "spec", "username"), "system:dormouse");
    struct answer a =
        ask(f, "PATCH", CSRS "/u/approval", "application/merge-patch+json", NULL,
            "{\"status\":{\"conditions\":[{\"type\":\"Approved\",\"status\":\"True\"}]}}");
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    settle(f);
    buf_fini(&b);
}

TEST(an_approved_request_is_signed)
{
    struct fixture f;
    start(&f);
    struct buf cert = BUF_INIT(1 << 16);
    make_approved(&f);
    struct json *csr = want(&f, 200, "GET", CSRS "/u", NULL);
    CHECK_OK(base64_decode(&cert, text_at(csr, "status", "certificate"), BASE64_STD));
    CHECK(str_has_prefix(buf_str(&cert), STR("-----BEGIN CERTIFICATE-----")));
    int64_t left = 0;
    CHECK_OK(x509_seconds_left(buf_str(&cert), &left, NULL));
    CHECK(left > 364 * 86400 && left <= 365 * 86400);
    buf_fini(&cert);
    stop(&f);
}

TEST(requests_for_certificates_are_checked)
{
    static const struct {
        const char *usages, *signer, *message;
    } bad[] = {
        { "\"client auth\",\"odd\",\"client auth\"", "a.io/b",
          "[spec.usages[1]: Unsupported value: \"odd\": supported values: \"any\", \"cert sign\", "
          "\"client auth\", \"code signing\", \"content commitment\", \"crl sign\", \"data "
          "encipherment\", \"decipher only\", \"digital signature\", \"email protection\", "
          "\"encipher only\", \"ipsec end system\", \"ipsec tunnel\", \"ipsec user\", \"key "
          "agreement\", \"key encipherment\", \"microsoft sgc\", \"netscape sgc\", \"ocsp "
          "signing\", \"s/mime\", \"server auth\", \"signing\", \"timestamping\", spec.usages[2]: "
          "Duplicate value: \"client auth\"]" },
        { "\"any\"", "", "spec.signerName: Required value" },
        { "\"any\"", "kubernetes.io/legacy-unknown",
          "spec.signerName: Invalid value: \"kubernetes.io/legacy-unknown\": the legacy signerName "
          "is not allowed via this API version" },
        { "\"any\"", "a.io/b/c",
          "spec.signerName: Invalid value: \"a.io/b/c\": must be a fully qualified domain and path "
          "of the form 'example.com/signer-name'" },
        { "\"any\"", "a/b",
          "spec.signerName: Invalid value: \"a\": should be a domain with at least two segments "
          "separated by dots" },
    };
    struct fixture f;
    start(&f);
    struct buf b = BUF_INIT(1 << 16);
    CHECK_OK(base64_encode(&b, str_of(request_pem), BASE64_STD));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct json *no =
            want(&f, 422, "POST", CSRS,
                 arena_printf(&f.arena,
                              "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"request\":\"%s\","
                              "\"usages\":[%s],\"signerName\":\"%s\"}}",
                              buf_cstr(&b), bad[i].usages, bad[i].signer));
        struct str head = STR("CertificateSigningRequest.certificates.k8s.io \"x\" is invalid: "),
                   message = json_get_str(no, "message");
        CHECK(str_has_prefix(message, head));
        CHECK_STR(str_slice(message, head.n, message.n), bad[i].message);
    }
    make_approved(&f);
    struct json *no = want(&f, 422, "PATCH", CSRS "/u/status",
                           "{\"status\":{\"certificate\":\"eA==\",\"conditions\":[{\"type\":\"A\","
                           "\"status\":\"odd\"}]}}");
    CHECK_STR(json_get_str(no, "message"),
              "CertificateSigningRequest.certificates.k8s.io \"u\" is invalid: "
              "[status.conditions[0].status: Unsupported value: \"odd\": supported values: "
              "\"False\", \"True\", \"Unknown\", status.certificate: Forbidden: updates may not "
              "modify existing certificate content]");
    buf_fini(&b);
    stop(&f);
}

static void on_opened(struct fixture *f)
{
    store_made_faulty(&f->loop, f->store);
}

TEST(a_certificate_that_could_not_be_written_is_written_later)
{
    struct fixture f;
    start(&f);
    close_server(&f);
    f.opened = on_opened;
    open_server(&f);
    settle(&f);
    size_t timers = f.loop.timers.n;
    store_fails(FAULT_WRITES, "/registry/certificates.k8s.io/");
    faulty.n_spared = 2; /* the request and its approval */
    make_approved(&f);
    CHECK_INT(f.loop.timers.n, timers + 2); /* it is written again; the request will be deleted */
    CHECK_STR(text_at(want(&f, 200, "GET", CSRS "/u", NULL), "status", "certificate"), "");
    store_works();
    while (f.loop.timers.n > timers + 1 || api_parts_busy(f.api))
        (void)loop_turn(&f.loop, true);
    CHECK(text_at(want(&f, 200, "GET", CSRS "/u", NULL), "status", "certificate").n > 0);
    stop(&f);
    faulty_forget();
}

TEST(what_was_approved_before_a_stop_is_signed_after_it)
{
    struct fixture f;
    start(&f);
    close_server(&f);
    f.ca_key = STR(""); /* one that cannot sign stands for one that did not get to it */
    open_server(&f);
    make_approved(&f);
    CHECK_STR(text_at(want(&f, 200, "GET", CSRS "/u", NULL), "status", "certificate"), "");
    close_server(&f);
    f.ca_key = buf_str(&ca_key);
    open_server(&f);
    settle(&f);
    CHECK(text_at(want(&f, 200, "GET", CSRS "/u", NULL), "status", "certificate").n > 0);
    stop(&f);
}

TEST_MAIN
