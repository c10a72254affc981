/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and watches to the letter: resourceVersion, resourceVersionMatch, limit, continue. */
#include "api_fixture.h"

#include "api/list_options.h"

#include <errno.h>

/* The answer's code and message. */
static void refused(struct fixture *f, const char *query, int code, const char *message)
{
    scoped(free_scoped) char *target = xasprintf(MAPS "?%s", query);
    struct answer a = ask(f, "GET", target, NULL, NULL, NULL);
    if (a.status != code || !str_is(json_get_str(a.json, "message"), message))
        TEST_FAIL("%s: %d " STR_FMT ", expected %d %s", query, a.status,
                  STR_ARG(json_get_str(a.json, "message")), code, message);
    answer_fini(&a);
}

static struct json *list(struct fixture *f, const char *query)
{
    scoped(free_scoped) char *target = xasprintf(MAPS "?%s", query);
    return want(f, 200, "GET", target, NULL);
}

static size_t count(const struct json *l)
{
    return json_getc(l, "items")->n;
}

static void make_maps(struct fixture *f, int n)
{
    for (int i = 0; i < n; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%d", i);
        (void)make_map(f, name, "v");
    }
}

static void on_compacted(void *arg, int r, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    f->r = r;
    f->done = true;
}

#define INVALID "ListOptions.meta.k8s.io \"\" is invalid: "

/* ------------------------------------------------------------------ refusals */

TEST(options_of_lists_that_do_not_go_together)
{
    struct fixture f;
    fixture_init(&f);
    refused(&f, "limit=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax");
    refused(&f, "limit=", 400, "strconv.ParseInt: parsing \"\": invalid syntax");
    refused(&f, "timeoutSeconds=99999999999999999999", 400,
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
    refused(&f, "resourceVersion=x", 400,
            "invalid resource version: resourceVersion: Invalid value: \"x\": strconv.ParseUint: "
            "parsing \"x\": invalid syntax");
    refused(&f, "resourceVersionMatch=Exact", 422,
            INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                    "resourceVersion is provided");
    refused(&f, "resourceVersionMatch=Exact&resourceVersion=0", 422,
            INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden "
                    "for resourceVersion \"0\"");
    refused(&f, "resourceVersionMatch=x&resourceVersion=1", 422,
            INVALID "resourceVersionMatch: Unsupported value: \"x\": supported values: \"Exact\", "
                    "\"NotOlderThan\", \"\"");
    refused(&f, "resourceVersionMatch=Exact&resourceVersion=1&continue=abc", 422,
            INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
                    "continue is provided");
    refused(&f, "resourceVersionMatch=x&sendInitialEvents=false", 422,
            INVALID "[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                    "resourceVersion is provided, resourceVersionMatch: Unsupported value: \"x\": "
                    "supported values: \"Exact\", \"NotOlderThan\", \"\", sendInitialEvents: "
                    "Forbidden: sendInitialEvents is forbidden for list]");
    refused(&f, "fieldSelector=a.b%3Dc", 400,
            "\"a.b\" is not a known field selector: only \"metadata.name\", "
            "\"metadata.namespace\"");
    fixture_fini(&f);
}

TEST(options_of_watches_that_do_not_go_together)
{
    struct fixture f;
    fixture_init(&f);
    refused(&f, "watch=1&sendInitialEvents=true", 422,
            INVALID "resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                    "resourceVersionMatch to NotOlderThan");
    refused(&f, "watch=1&resourceVersionMatch=NotOlderThan", 422,
            INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
                    "unless sendInitialEvents is provided");
    refused(&f, "watch=1&resourceVersionMatch=Exact&sendInitialEvents=1", 422,
            INVALID "[resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
                    "resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported "
                    "value: \"Exact\": supported values: \"NotOlderThan\"]");
    refused(&f, "watch=1&resourceVersionMatch=NotOlderThan&sendInitialEvents=false&continue=abc",
            422,
            INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
                    "continue is provided");
    refused(&f, "watch=1&continue=abc", 422,
            INVALID "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when "
                    "continue is provided");
    refused(&f, "watch=1&resourceVersion=x", 500,
            "resourceVersion: Invalid value: \"x\": strconv.ParseUint: parsing \"x\": invalid "
            "syntax");
    fixture_fini(&f);
}

static void token_refused(struct fixture *f, const char *text, const char *message)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1000);
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    (void)buf_add_cstr(&b, "continue=");
    for (size_t i = 0, n = strlen(text); i < n; i += 3) {
        uint32_t v = 0;
        size_t have = MIN(n - i, (size_t)3);
        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < have ? (unsigned char)text[i + k] : 0);
        for (size_t k = 0; k <= have; k++)
            (void)buf_add_char(&b, alphabet[v >> (18 - 6 * k) & 63]);
    }
    refused(f, buf_cstr(&b), 400, message);
}

TEST(continue_tokens_are_looked_at_before_they_are_used)
{
#define BAD_TOKEN "invalid continue token: continue key is not valid"
    struct fixture f;
    fixture_init(&f);
    token_refused(&f, "x", BAD_TOKEN ": invalid character 'x' looking for beginning of value");
    token_refused(&f, "{\"v\":\"meta.k8s.io/v2\",\"rv\":1,\"start\":\"a\"}",
                  BAD_TOKEN ": server does not recognize this encoded version meta.k8s.io/v2");
    token_refused(&f, "{\"v\":\"meta.k8s.io/v1\",\"rv\":0,\"start\":\"a\"}",
                  BAD_TOKEN ": incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
    token_refused(&f, "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"\"}",
                  BAD_TOKEN ": encoded start key empty (version meta.k8s.io/v1)");
    token_refused(&f, "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"../../secrets/x\"}",
                  BAD_TOKEN);
    token_refused(&f, "{\"v\":\"meta.k8s.io/v1\",\"rv\":1,\"start\":\"kube-system/x\"}", BAD_TOKEN);
    make_maps(&f, 2);
    struct json *page = list(&f, "limit=1");
    struct str token = text_at(page, "metadata", "continue");
    scoped(free_scoped) char *both =
        xasprintf("continue=" STR_FMT "&resourceVersion=3", STR_ARG(token));
    refused(&f, both, 400, "specifying resource version is not allowed when using continue");
    scoped(free_scoped) char *zero =
        xasprintf("continue=" STR_FMT "&resourceVersion=0", STR_ARG(token));
    CHECK_INT(count(list(&f, zero)), 1);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ versions */

TEST(a_resource_version_means_at_least_or_exactly)
{
    struct fixture f;
    fixture_init(&f);
    make_maps(&f, 3);
    uint64_t now = rev_of(make_map(&f, "z", "v"));
    char query[128];
    (void)snprintf(query, sizeof query, "resourceVersion=%llu", (unsigned long long)now - 2);
    CHECK_INT(count(list(&f, query)), 4); /* at least: the newest */
    (void)snprintf(query, sizeof query, "resourceVersion=%llu&limit=10",
                   (unsigned long long)now - 2);
    CHECK_INT(count(list(&f, query)), 2); /* with a limit it is exact */
    (void)snprintf(query, sizeof query, "resourceVersion=%llu&resourceVersionMatch=Exact",
                   (unsigned long long)now - 1);
    CHECK_INT(count(list(&f, query)), 3);
    CHECK_INT(rev_of(list(&f, query)), now - 1);
    (void)snprintf(query, sizeof query,
                   "resourceVersion=%llu&limit=2&resourceVersionMatch=NotOlderThan",
                   (unsigned long long)now - 1);
    CHECK_INT(rev_of(list(&f, query)), now);
    CHECK_INT(count(list(&f, query)), 2);
    CHECK_INT(count(list(&f, "resourceVersion=0&limit=2")), 4); /* from the cache: all of it */
    CHECK_INT(count(list(&f, "limit=-1")), 4);
    fixture_fini(&f);
}

TEST(a_version_of_the_future_is_a_timeout)
{
    struct fixture f;
    fixture_init(&f);
    struct answer a = ask(&f, "GET", MAPS "?resourceVersion=1000", NULL, NULL, NULL);
    CHECK_INT(a.status, 504);
    CHECK_STR(json_get_str(a.json, "reason"), "Timeout");
    CHECK(str_has_prefix(json_get_str(a.json, "message"),
                         STR("Timeout: Too large resource version: 1000, current: ")));
    const struct json *details = json_getc(a.json, "details");
    CHECK_STR(json_get_str(json_getc(details, "causes")->first, "reason"),
              "ResourceVersionTooLarge");
    CHECK_STR(json_get_str(json_getc(details, "causes")->first, "message"),
              "Too large resource version");
    CHECK_INT(json_int_or(json_getc(details, "retryAfterSeconds"), 0), 1);
    CHECK_STR(headers_get(&a.headers, "retry-after"), "1");
    answer_fini(&a);
    a = ask(&f, "GET", MAPS "?resourceVersion=1000&resourceVersionMatch=Exact", NULL, NULL, NULL);
    CHECK_INT(a.status, 504);
    CHECK_INT(json_int_or(json_path(a.json, "details", "retryAfterSeconds", NULL), 0), 1);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(versions_that_are_gone_are_said_to_be)
{
    struct fixture f;
    struct watching w;
    struct err err = { 0 };
    fixture_init(&f);
    make_maps(&f, 4);
    struct str token =
        str_copy_arena(&f.arena, text_at(list(&f, "limit=2"), "metadata", "continue"));
    (void)make_map(&f, "m00", "late"); /* between m0 and m1: behind where the list stands */
    (void)make_map(&f, "m9", "late");
    CHECK_OK(store_compact(f.store, store_revision(f.store), on_compacted, &f, &err));
    wait_done(&f);
    CHECK_OK(f.r);
    refused(&f, "resourceVersion=3&resourceVersionMatch=Exact", 410,
            "The resourceVersion for the provided list is too old.");
    scoped(free_scoped) char *target = xasprintf(MAPS "?limit=1&continue=" STR_FMT, STR_ARG(token));
    struct json *no = want(&f, 410, "GET", target, NULL);
    CHECK_STR(json_get_str(no, "reason"), "Expired");
    scoped(free_scoped) char *on =
        xasprintf("limit=1&continue=" STR_FMT, STR_ARG(text_at(no, "metadata", "continue")));
    const struct json *page = list(&f, on);
    CHECK_STR(text_at(json_getc(page, "items")->first, "metadata", "name"), "m2");
    (void)make_map(&f, "m8", "later"); /* the list goes on at one revision again */
    scoped(free_scoped) char *rest =
        xasprintf("continue=" STR_FMT, STR_ARG(text_at(page, "metadata", "continue")));
    CHECK_INT(count(list(&f, rest)), 2);
    CHECK_INT(rev_of(list(&f, rest)), rev_of(page));

    watch(&f, &w, MAPS "?watch=1&resourceVersion=3");
    CHECK_INT(w.status, 200);
    const struct json *status = expect(&w, "ERROR", NULL);
    CHECK_INT(json_int_or(json_getc(status, "code"), 0), 410);
    CHECK(str_has_prefix(json_get_str(status, "message"), STR("too old resource version: 3 (")));
    wait_end(&w);
    fixture_fini(&f);
}

TEST(what_remains_is_counted_where_it_can_be)
{
    struct fixture f;
    fixture_init(&f);
    make_maps(&f, 5);
    const struct json *page = list(&f, "limit=2");
    CHECK_INT(json_int_or(json_path(page, "metadata", "remainingItemCount", NULL), -1), 3);
    page = list(&f, "limit=2&labelSelector=!none");
    CHECK(text_at(page, "metadata", "continue").n > 0);
    CHECK(!json_path(page, "metadata", "remainingItemCount", NULL));
    page = list(&f, "limit=2&fieldSelector=metadata.name!%3Dx");
    CHECK(!json_path(page, "metadata", "remainingItemCount", NULL));
    page = list(&f, "limit=5");
    CHECK(!json_path(page, "metadata", "continue", NULL));
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ watches */

TEST(how_a_watch_begins)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    (void)make_map(&f, "a", "v");
    watch(&f, &w, MAPS "?watch=1"); /* what there is, without a mark */
    (void)expect(&w, "ADDED", "a");
    (void)make_map(&f, "b", "v");
    (void)expect(&w, "ADDED", "b");
    unwatch(&w);
    watch(&f, &w, MAPS "?watch=1&resourceVersion=0&allowWatchBookmarks=true");
    (void)expect(&w, "ADDED", "a");
    (void)expect(&w, "ADDED", "b");
    const struct json *mark = expect(&w, "BOOKMARK", NULL);
    CHECK_STR(
        json_get_str(json_path(mark, "metadata", "annotations", NULL), "k8s.io/initial-events-end"),
        "true");
    unwatch(&w);
    watch(&f, &w,
          MAPS "?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&"
               "allowWatchBookmarks=true");
    (void)make_map(&f, "c", "v"); /* nothing of before */
    (void)expect(&w, "ADDED", "c");
    unwatch(&w);
    fixture_fini(&f);
}

TEST(a_watch_of_limited_time_ends_with_a_bookmark)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    watch(&f, &w, MAPS "?watch=1&labelSelector=none&allowWatchBookmarks=1&timeoutSeconds=1");
    (void)expect(&w, "BOOKMARK", NULL);
    uint64_t rev = rev_of(make_map(&f, "a", "v"));
    CHECK_INT(rev_of(expect(&w, "BOOKMARK", NULL)), rev);
    wait_end(&w);
    fixture_fini(&f);
}

TEST(a_get_of_one_object_is_no_watch)
{
    struct fixture f;
    fixture_init(&f);
    (void)make_map(&f, "a", "v");
    CHECK_STR(json_get_str(want(&f, 200, "GET", MAPS "/a?watch=true", NULL), "kind"), "ConfigMap");
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ more than one request may take
 */

TEST(a_collection_larger_than_what_a_request_may_take_goes)
{
    enum { N = 40, BYTES = 900000 };
    struct fixture f;
    fixture_init(&f);
    scoped(free_scoped) char *value = xalloc(BYTES + 1);
    memset(value, 'x', BYTES);
    for (int i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "big-%d", i);
        (void)make_map(&f, name, value);
    }
    struct answer a = ask(&f, "DELETE", MAPS "?labelSelector=none", NULL, NULL, NULL);
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    CHECK(there(&f, MAPS "/big-0"));
    a = ask(&f, "DELETE", MAPS "?fieldSelector=metadata.name!%3Dkube-root-ca.crt", NULL, NULL,
            NULL);
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    CHECK(!there(&f, MAPS "/big-0") && !there(&f, MAPS "/big-39"));
    fixture_fini(&f);
}

TEST(a_patch_whose_tree_is_too_large_is_refused)
{
    enum { N = 1500000 };
    struct fixture f;
    fixture_init(&f);
    static const char head[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":[1";
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4 << 20);
    (void)buf_add_cstr(&b, head);
    for (int i = 0; i < N; i++)
        (void)buf_add_cstr(&b, ",1");
    (void)buf_add_cstr(&b, "]}");
    static const char *const types[] = { "application/apply-patch+yaml",
                                         "application/merge-patch+json",
                                         "application/strategic-merge-patch+json",
                                         "application/json-patch+json" };
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct answer a =
            ask_bytes(&f, "PATCH", MAPS "/x?fieldManager=me", types[i], NULL, buf_str(&b));
        CHECK_INT(a.status, 413);
        answer_fini(&a);
    }
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ the pods of one node */

static void make_pod(struct fixture *f, const char *ns, const char *name, const char *node)
{
    scoped(free_scoped) char *path = xasprintf("/api/v1/namespaces/%s/pods", ns);
    scoped(free_scoped) char *body = xasprintf(
        "{\"metadata\":{\"name\":\"%s\"},\"spec\":{%s%s%s\"terminationGracePeriodSeconds\":0,"
        "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
        name, node ? "\"nodeName\":\"" : "", node ? node : "", node ? "\"," : "");
    (void)want(f, 201, "POST", path, body);
}

/* Names of the items, each with a space behind it. */
static struct str names_of(struct fixture *f, const char *target)
{
    struct str all = STR("");
    json_each (item, json_getc(want(f, 200, "GET", target, NULL), "items"))
        all = str_of(arena_printf(&f->arena, STR_FMT STR_FMT " ", STR_ARG(all),
                                  STR_ARG(text_at(item, "metadata", "name"))));
    return all;
}

static void on_put(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    CHECK_OK(res->r);
    f->done = true;
}

TEST(the_pods_of_a_node_are_found_by_their_index)
{
#define OF_NODE "fieldSelector=spec.nodeName%3Dn1"
    struct fixture f;
    fixture_init(&f);
    make_pod(&f, "default", "a", "n1");
    make_pod(&f, "default", "b", "n2");
    make_pod(&f, "default", "c", NULL);
    make_pod(&f, "default", "d", "n1");
    make_pod(&f, "kube-public", "e", "n1");
    make_pod(&f, "kube-public", "f", "n10");
    CHECK_STR(names_of(&f, "/api/v1/pods?" OF_NODE), "a d e ");
    CHECK_STR(names_of(&f, "/api/v1/namespaces/default/pods?" OF_NODE), "a d ");
    CHECK_STR(names_of(&f, "/api/v1/pods?" OF_NODE ",metadata.name%3De"), "e ");
    CHECK_STR(names_of(&f, "/api/v1/pods?" OF_NODE ",status.phase%3DRunning"), "");
    CHECK_STR(names_of(&f, "/api/v1/pods?fieldSelector=spec.nodeName!%3Dn1"), "b c f ");
    CHECK_STR(names_of(&f, "/api/v1/pods?fieldSelector=spec.nodeName%3D"), "c ");
    CHECK_STR(names_of(&f, "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1%2Fdefault"), "");

    struct json *page = want(&f, 200, "GET", "/api/v1/pods?limit=1&" OF_NODE, NULL);
    struct str token = text_at(page, "metadata", "continue");
    CHECK_INT(json_getc(page, "items")->n, 1);
    CHECK_STR(names_of(&f, arena_printf(&f.arena, "/api/v1/pods?%s&continue=" STR_FMT, OF_NODE,
                                        STR_ARG(token))),
              "d e ");

    /* One that the index does not name: only a read of all pods would find it. */
    unsigned long long rev = store_revision(f.store);
    const struct store_op put = {
        .kind = STORE_PUT,
        .key = STR("/registry/pods/default/odd"),
        .value = STR("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"odd\"},"
                     "\"spec\":{\"nodeName\":\"n1\"}}"),
    };
    CHECK_OK(store_txn(f.store, &put, 1, on_put, &f, NULL));
    wait_done(&f);
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/default/pods/a", NULL);
    make_pod(&f, "default", "a0", "n1");
    CHECK_STR(names_of(&f, "/api/v1/pods?" OF_NODE), "a0 d e ");
    CHECK_STR(
        names_of(&f, arena_printf(&f.arena,
                                  "/api/v1/pods?%s&resourceVersionMatch=Exact&resourceVersion=%llu",
                                  OF_NODE, rev)),
        "a d e ");

    struct watching w;
    watch(&f, &w, "/api/v1/pods?watch=true&" OF_NODE);
    (void)expect(&w, "ADDED", "a0");
    (void)expect(&w, "ADDED", "d");
    (void)expect(&w, "ADDED", "e");
    make_pod(&f, "default", "z", "n1");
    (void)expect(&w, "ADDED", "z");
    unwatch(&w);

    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/default/pods?" OF_NODE, NULL);
    CHECK_STR(names_of(&f, "/api/v1/namespaces/default/pods"), "b c odd ");
    fixture_fini(&f);
}

TEST_MAIN
