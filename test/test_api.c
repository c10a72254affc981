/* SPDX-License-Identifier: Apache-2.0 */
/* The API server through its in-process transport, on a store in a temporary directory. */
#include "api_fixture.h"

#include "api/encode.h"
#include "api/negotiate.h"
#include "api/route.h"
#include "base/mem.h"
#include "base/vec.h"
#include "client/leader.h"

#include <errno.h>

/* ------------------------------------------------------------------ routes */

static struct route parsed(struct arena *a, const char *method, const char *target)
{
    struct route rt;
    struct err err = { 0 };
    CHECK_OK(route_parse(a, str_of(method), str_of(target), &rt, &err));
    return rt;
}

TEST(paths_name_what_they_mean_upstream)
{
    struct arena a = { 0 };
    struct route rt = parsed(&a, "GET", "/api/v1/namespaces/x/configmaps/y");
    CHECK_INT(rt.kind, ROUTE_RESOURCE);
    CHECK_INT(rt.verb, KUBE_GET);
    CHECK_STR(rt.ns, "x");
    CHECK_STR(rt.resource, "configmaps");
    CHECK_STR(rt.name, "y");
    rt = parsed(&a, "PUT", "/api/v1/namespaces/x/status");
    CHECK_STR(rt.resource, "namespaces");
    CHECK_STR(rt.name, "x");
    CHECK_STR(rt.subresource, "status");
    rt = parsed(&a, "PATCH", "/apis/g.io/v1/namespaces/x/things/y/status");
    CHECK_STR(rt.group, "g.io");
    CHECK_STR(rt.subresource, "status");
    CHECK_INT(rt.verb, KUBE_PATCH);
    rt = parsed(&a, "GET", "/apis/g.io/v1/watch/namespaces/x/things");
    CHECK_INT(rt.verb, KUBE_WATCH);
    CHECK_STR(rt.ns, "x");
    rt = parsed(&a, "GET", "/api/v1/configmaps?watch=1&limit=5&labelSelector=a%3Db%2Cc");
    CHECK_INT(rt.verb, KUBE_WATCH);
    CHECK_STR(route_query(&rt, "labelSelector"), "a=b,c");
    CHECK_INT(parsed(&a, "GET", "/api/v1/configmaps?watch=false").verb, KUBE_LIST);
    CHECK_INT(parsed(&a, "DELETE", "/api/v1/namespaces/x/secrets").verb, KUBE_DELETECOLLECTION);
    CHECK_INT(parsed(&a, "PUT", "/api/v1/namespaces/x/secrets").verb, 0);
    CHECK_INT(parsed(&a, "GET", "/api").kind, ROUTE_LEGACY);
    CHECK_INT(parsed(&a, "GET", "/apis/").kind, ROUTE_GROUPS);
    CHECK_INT(parsed(&a, "GET", "/apis/apps").kind, ROUTE_GROUP);
    CHECK_INT(parsed(&a, "GET", "/apis/apps/v1").kind, ROUTE_VERSION);
    CHECK_INT(parsed(&a, "GET", "/readyz?verbose").kind, ROUTE_HEALTH);
    CHECK_STR(parsed(&a, "GET", "/openapi/v3/apis/apps/v1?hash=x").rest, "apis/apps/v1");
    CHECK_INT(parsed(&a, "GET", "/nothing/here").kind, ROUTE_UNKNOWN);
    arena_fini(&a);
}

TEST(accept_headers_choose_a_representation)
{
    enum { BUILTIN = ALLOW_PLAIN | ALLOW_PROTOBUF | ALLOW_TRANSFORMS | ALLOW_TABLE };
    struct rep rep;
    CHECK(negotiate_accept(STR(""), BUILTIN, &rep));
    CHECK_INT(rep.kind, REP_OBJECT);
    CHECK_INT(rep.format, FORMAT_JSON);
    CHECK(negotiate_accept(STR("application/json;as=Table;v=v1;g=meta.k8s.io,application/"
                               "json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"),
                           BUILTIN, &rep));
    CHECK_INT(rep.kind, REP_TABLE);
    CHECK(!rep.v1beta1);
    CHECK(negotiate_accept(STR("*/*"), BUILTIN, &rep));
    CHECK_INT(rep.format, FORMAT_JSON);
    CHECK(negotiate_accept(STR("application/json;stream=watch"), BUILTIN, &rep));
    CHECK(negotiate_accept(STR("application/json;q=0"), BUILTIN, &rep)); /* as upstream */
    CHECK(!negotiate_accept(STR("text/plain"), BUILTIN, &rep));
    CHECK(!negotiate_accept(STR("application/json;as=Pod;g=;v=v1"), BUILTIN, &rep));
}

TEST(protobuf_is_for_built_in_kinds_and_metadata)
{
    enum {
        CUSTOM = ALLOW_PLAIN | ALLOW_TRANSFORMS | ALLOW_TABLE,
        BUILTIN = CUSTOM | ALLOW_PROTOBUF
    };
    struct str usual = STR("application/vnd.kubernetes.protobuf,application/json");
    struct str partial = STR("application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;"
                             "g=meta.k8s.io;v=v1,application/json");
    struct str table =
        STR("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/yaml");
    struct rep rep;
    CHECK(negotiate_accept(usual, BUILTIN, &rep));
    CHECK_INT(rep.format, FORMAT_PROTOBUF);
    CHECK(negotiate_accept(usual, CUSTOM, &rep));
    CHECK_INT(rep.format, FORMAT_JSON);
    CHECK(!negotiate_accept(STR("application/vnd.kubernetes.protobuf"), CUSTOM, &rep));
    CHECK(negotiate_accept(partial, CUSTOM, &rep));
    CHECK_INT(rep.kind, REP_PARTIAL_LIST);
    CHECK_INT(rep.format, FORMAT_PROTOBUF);
    CHECK(negotiate_accept(table, BUILTIN, &rep));
    CHECK_INT(rep.kind, REP_OBJECT);
    CHECK_INT(rep.format, FORMAT_YAML);
    CHECK(!negotiate_accept(usual, ALLOW_AGGREGATED, &rep));
    CHECK(negotiate_accept(STR("application/json,application/json;as=APIGroupDiscoveryList;"
                               "g=apidiscovery.k8s.io;v=v2"),
                           ALLOW_AGGREGATED, &rep));
    CHECK_INT(rep.kind, REP_AGGREGATED);
}

/* ------------------------------------------------------------------ one object */

TEST(an_object_can_be_made_read_changed_and_removed)
{
    struct fixture f;
    fixture_init(&f);
    struct json *made = make_map(&f, "a", "1");
    CHECK_STR(text_at(made, "metadata", "namespace"), "default");
    CHECK(text_at(made, "metadata", "uid").n == 36);
    CHECK(text_at(made, "metadata", "creationTimestamp").n > 0);
    struct json *got = want(&f, 200, "GET", MAPS "/a", NULL);
    CHECK(json_equal(made, got));
    struct json *again = want(&f, 409, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    CHECK_STR(json_get_str(again, "reason"), "AlreadyExists");
    CHECK_STR(json_get_str(again, "message"), "configmaps \"a\" already exists");

    struct json *patched = want(&f, 200, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"2\"}}");
    CHECK(rev_of(patched) > rev_of(made));
    struct json *same = want(&f, 200, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"2\"}}");
    CHECK_INT(rev_of(same), rev_of(patched));

    scoped(buf_fini_scoped) struct buf old = BUF_INIT(1 << 20);
    CHECK_OK(json_write(&old, made));
    struct json *conflict = want(&f, 409, "PUT", MAPS "/a", buf_cstr(&old));
    CHECK_STR(json_get_str(conflict, "reason"), "Conflict");
    struct json *put =
        want(&f, 200, "PUT", MAPS "/a", "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"3\"}}");
    CHECK_STR(text_at(put, "data", "k"), "3");
    CHECK(str_eq(text_at(put, "metadata", "uid"), text_at(made, "metadata", "uid")));

    struct json *gone = want(&f, 200, "DELETE", MAPS "/a", NULL);
    CHECK_STR(json_get_str(gone, "status"), "Success");
    CHECK_STR(json_get_str(want(&f, 404, "GET", MAPS "/a", NULL), "message"),
              "configmaps \"a\" not found");
    (void)want(&f, 404, "DELETE", MAPS "/a", NULL);
    (void)want(&f, 404, "PATCH", MAPS "/a", "{}");
    (void)want(&f, 404, "PUT", MAPS "/a", "{\"metadata\":{\"name\":\"a\"}}");
    fixture_fini(&f);
}

TEST(requests_that_make_no_sense_get_a_status)
{
    struct fixture f;
    fixture_init(&f);
    struct answer none = ask(&f, "GET", "/apis/none.io/v1/things", NULL, NULL, NULL);
    CHECK_INT(none.status, 404);
    CHECK_STR(buf_str(&none.body), "404 page not found\n");
    answer_fini(&none);
    (void)want(&f, 404, "GET", "/api/v1/configmaps/x", NULL);
    (void)want(&f, 405, "POST", "/api/v1/configmaps", "{}");
    (void)want(&f, 405, "PUT", MAPS, "{}");
    (void)want(&f, 405, "POST", MAPS "/x", "{}");
    (void)want(&f, 400, "POST", MAPS, "{");
    (void)want(&f, 400, "POST", MAPS, "[]");
    (void)want(&f, 400, "GET", MAPS "?labelSelector=a%3D%3D%3Db", NULL);
    (void)want(&f, 400, "GET", MAPS "?fieldSelector=spec.x%3Db", NULL);
    (void)want(&f, 400, "GET", MAPS "?resourceVersion=x", NULL);
    (void)want(&f, 400, "GET", MAPS "?continue=nonsense", NULL);
    (void)want(&f, 422, "GET", MAPS "?resourceVersionMatch=Exact", NULL);
    (void)want(&f, 504, "GET", MAPS "?resourceVersion=999999", NULL);
    (void)want(&f, 400, "POST", MAPS,
               "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"x\"}}");
    struct json *bad = want(&f, 422, "POST", MAPS, "{\"metadata\":{\"name\":\"Not Valid\"}}");
    CHECK_STR(json_get_str(bad, "reason"), "Invalid");
    CHECK(json_path(bad, "details", "causes", NULL) != NULL);
    CHECK_STR(json_get_str(want(&f, 404, "POST", "/api/v1/namespaces/none/configmaps",
                                "{\"metadata\":{\"name\":\"x\"}}"),
                           "message"),
              "namespaces \"none\" not found");
    struct answer a = ask(&f, "POST", MAPS, "application/vnd.kubernetes.protobuf", NULL, "k8s");
    CHECK_INT(a.status, 400);
    answer_fini(&a);
    a = ask(&f, "POST", MAPS, "text/plain", NULL, "{}");
    CHECK_INT(a.status, 415);
    answer_fini(&a);
    a = ask(&f, "PATCH", MAPS "/x", "application/apply-patch+cbor", NULL, "a: b");
    CHECK_INT(a.status, 415);
    answer_fini(&a);
    a = ask(&f, "GET", MAPS, NULL, "text/html", NULL);
    CHECK_INT(a.status, 406);
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(a_volumes_phase_has_the_time_of_its_change)
{
#define VOLUMES "/api/v1/persistentvolumes"
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", VOLUMES,
               "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},"
               "\"accessModes\":[\"ReadWriteOnce\"],\"hostPath\":{\"path\":\"/x\"}}}");
    static const char old[] = "2020-01-01T00:00:00Z";
    static const struct {
        const char *status;
        bool is_old;
    } rows[] = {
        /* Told by the client; kept while the phase stays; made anew when it changes. */
        { "{\"phase\":\"Available\",\"lastPhaseTransitionTime\":\"2020-01-01T00:00:00Z\"}", true },
        { "{\"message\":\"m\"}", true },
        { "{\"lastPhaseTransitionTime\":null}", true },
        { "{\"phase\":\"Bound\"}", false },
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char body[256];
        (void)snprintf(body, sizeof(body), "{\"status\":%s}", rows[i].status);
        struct json *pv = want(&f, 200, "PATCH", VOLUMES "/v/status", body);
        struct str time = json_str(json_path(pv, "status", "lastPhaseTransitionTime", NULL));
        CHECK(time.n > 0);
        CHECK_INT(str_is(time, old), rows[i].is_old);
    }
    fixture_fini(&f);
}

TEST(unknown_fields_follow_field_validation)
{
    struct fixture f;
    fixture_init(&f);
    static const char body[] = "{\"metadata\":{\"name\":\"a\"},\"dta\":{}}";
    (void)want(&f, 400, "POST", MAPS "?fieldValidation=Strict", body);
    struct answer a =
        ask(&f, "POST", MAPS "?fieldValidation=Warn&dryRun=All", "application/json", NULL, body);
    CHECK_INT(a.status, 201);
    CHECK_STR(headers_get(&a.headers, "warning"), "299 - \"unknown field \\\"dta\\\"\"");
    answer_fini(&a);
    a = ask(&f, "POST", MAPS "?fieldValidation=Ignore", "application/json", NULL, body);
    CHECK_INT(a.status, 201);
    CHECK(headers_get(&a.headers, "warning").n == 0);
    CHECK(!json_getc(a.json, "dta"));
    answer_fini(&a);
    fixture_fini(&f);
}

TEST(a_dry_run_changes_nothing)
{
    struct fixture f;
    fixture_init(&f);
    uint64_t before = store_revision(f.store);
    (void)want(&f, 201, "POST", MAPS "?dryRun=All", "{\"metadata\":{\"name\":\"a\"}}");
    (void)want(&f, 404, "GET", MAPS "/a", NULL);
    CHECK_INT(store_revision(f.store), before);
    (void)make_map(&f, "a", "1");
    (void)want(&f, 409, "POST", MAPS "?dryRun=All", "{\"metadata\":{\"name\":\"a\"}}");
    (void)want(&f, 200, "PATCH", MAPS "/a?dryRun=All", "{\"data\":{\"k\":\"2\"}}");
    (void)want(&f, 200, "DELETE", MAPS "/a?dryRun=All", NULL);
    CHECK_STR(text_at(want(&f, 200, "GET", MAPS "/a", NULL), "data", "k"), "1");
    fixture_fini(&f);
}

TEST(generated_names_are_unique)
{
    struct fixture f;
    fixture_init(&f);
    struct json *a = want(&f, 201, "POST", MAPS, "{\"metadata\":{\"generateName\":\"x-\"}}");
    struct json *b = want(&f, 201, "POST", MAPS, "{\"metadata\":{\"generateName\":\"x-\"}}");
    CHECK(text_at(a, "metadata", "name").n == 7);
    CHECK(!str_eq(text_at(a, "metadata", "name"), text_at(b, "metadata", "name")));
    fixture_fini(&f);
}

TEST(finalizers_hold_a_deleted_object)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", MAPS,
               "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x.io/y\"]}}");
    struct json *marked = want(&f, 200, "DELETE", MAPS "/a", NULL);
    CHECK(text_at(marked, "metadata", "deletionTimestamp").n > 0);
    struct json *again = want(&f, 200, "DELETE", MAPS "/a", NULL);
    CHECK_INT(rev_of(again), rev_of(marked));
    (void)want(&f, 200, "PATCH", MAPS "/a", "{\"metadata\":{\"finalizers\":null}}");
    (void)want(&f, 404, "GET", MAPS "/a", NULL);
    fixture_fini(&f);
}

TEST(delete_honours_preconditions)
{
    struct fixture f;
    fixture_init(&f);
    struct json *made = make_map(&f, "a", "1");
    (void)want(&f, 409, "DELETE", MAPS "/a",
               "{\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"other\"}}");
    scoped(free_scoped) char *body = xasprintf(
        "{\"preconditions\":{\"uid\":\"" STR_FMT "\",\"resourceVersion\":\"" STR_FMT "\"}}",
        STR_ARG(text_at(made, "metadata", "uid")),
        STR_ARG(text_at(made, "metadata", "resourceVersion")));
    (void)want(&f, 200, "DELETE", MAPS "/a", body);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ lists */

TEST(a_list_continues_on_its_snapshot)
{
    struct fixture f;
    fixture_init(&f);
    for (int i = 0; i < 5; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%d", i);
        (void)make_map(&f, name, "1");
    }
    struct json *page = want(&f, 200, "GET", MAPS "?limit=2", NULL);
    CHECK_INT(json_getc(page, "items")->n, 2);
    int64_t left = json_int_or(json_path(page, "metadata", "remainingItemCount", NULL), -1);
    CHECK_INT(left, 3);
    struct str token = text_at(page, "metadata", "continue");
    CHECK(token.n > 0);
    (void)want(&f, 200, "DELETE", MAPS "/m3", NULL);
    (void)make_map(&f, "m9", "1");
    scoped(free_scoped) char *target =
        xasprintf(MAPS "?limit=10&continue=" STR_FMT, STR_ARG(token));
    struct json *rest = want(&f, 200, "GET", target, NULL);
    CHECK_INT(json_getc(rest, "items")->n, 3);
    CHECK_STR(text_at(json_getc(rest, "items")->first->next, "metadata", "name"), "m3");
    CHECK_STR(text_at(rest, "metadata", "continue"), "");
    CHECK(str_eq(text_at(rest, "metadata", "resourceVersion"),
                 text_at(page, "metadata", "resourceVersion")));
    fixture_fini(&f);
}

TEST(selectors_choose)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}}}");
    (void)want(&f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"x\":\"2\"}}}");
    (void)want(&f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS "?labelSelector=x", NULL), "items")->n, 2);
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS "?labelSelector=x%3D2", NULL), "items")->n, 1);
    CHECK_INT(
        json_getc(want(&f, 200, "GET", MAPS "?fieldSelector=metadata.name%3Dc", NULL), "items")->n,
        1);
    CHECK_INT(
        json_getc(want(&f, 200, "GET", MAPS "?fieldSelector=metadata.name!%3Dc", NULL), "items")->n,
        2);
    CHECK_INT(
        json_getc(want(&f, 200, "GET",
                       "/api/v1/configmaps?fieldSelector=metadata.namespace%3Dkube-system", NULL),
                  "items")
            ->n,
        0);
    struct json *swept = want(&f, 200, "DELETE", MAPS "?labelSelector=x", NULL);
    CHECK_INT(json_getc(swept, "items")->n, 2);
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS, NULL), "items")->n, 1);
    fixture_fini(&f);
}

TEST(a_long_list_is_whole)
{
    struct fixture f;
    fixture_init(&f);
    enum { N = 1203 }; /* three pages of the store */
    for (int i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "m%05d", i);
        (void)make_map(&f, name, "1");
    }
    struct json *all = want(&f, 200, "GET", MAPS, NULL);
    CHECK_INT(json_getc(all, "items")->n, N);
    struct json *some = want(&f, 200, "GET", MAPS "?limit=700", NULL);
    CHECK_INT(json_getc(some, "items")->n, 700);
    CHECK_INT(json_int_or(json_path(some, "metadata", "remainingItemCount", NULL), -1), N - 700);
    struct answer t =
        ask(&f, "GET", MAPS, NULL, "application/json;as=Table;v=v1;g=meta.k8s.io", NULL);
    CHECK_INT(t.status, 200);
    CHECK_STR(json_get_str(t.json, "kind"), "Table");
    CHECK_INT(json_getc(t.json, "rows")->n, N);
    answer_fini(&t);
    struct json *swept = want(&f, 200, "DELETE", MAPS, NULL);
    CHECK_INT(json_getc(swept, "items")->n, N);
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS, NULL), "items")->n, 0);
    fixture_fini(&f);
}

TEST(a_collection_too_large_to_tell_of_is_deleted_all_the_same)
{
    enum { N = 6, BIG = 1000000 }; /* SWEEP_ANSWER_MAX_BYTES is 4 MiB */
    struct fixture f;
    fixture_init(&f);
    scoped(free_scoped) char *big = xstrdup("");
    big = xrealloc(big, BIG + 1);
    memset(big, 'x', BIG);
    big[BIG] = 0;
    for (int i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "m%d", i);
        (void)make_map(&f, name, big);
        arena_reset(&f.arena);
    }
    struct json *swept = want(&f, 200, "DELETE", MAPS, NULL);
    CHECK_STR(json_get_str(swept, "kind"), "Status");
    CHECK_STR(json_get_str(swept, "status"), "Success");
    CHECK_INT(json_getc(want(&f, 200, "GET", MAPS, NULL), "items")->n, 0);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ watches */

TEST(a_watch_tells_every_change_in_order)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    (void)make_map(&f, "old", "1");
    struct json *list = want(&f, 200, "GET", MAPS, NULL);
    scoped(free_scoped) char *target =
        xasprintf(MAPS "?watch=1&resourceVersion=" STR_FMT,
                  STR_ARG(text_at(list, "metadata", "resourceVersion")));
    watch(&f, &w, target);
    struct json *made = make_map(&f, "a", "1");
    (void)want(&f, 200, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"2\"}}");
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    CHECK(json_equal(expect(&w, "ADDED", "a"), made));
    struct json *changed = expect(&w, "MODIFIED", "a");
    CHECK_STR(text_at(changed, "data", "k"), "2");
    struct json *gone = expect(&w, "DELETED", "a");
    CHECK(rev_of(gone) > rev_of(changed));
    CHECK_STR(text_at(gone, "data", "k"), "2");
    unwatch(&w);
    /* the same from history, and with two watchers at different places */
    struct watching late, live;
    watch(&f, &live, MAPS "?watch=1&resourceVersion=0");
    (void)expect(&live, "ADDED", "old");
    watch(&f, &late, target);
    (void)expect(&late, "ADDED", "a");
    (void)expect(&late, "MODIFIED", "a");
    (void)expect(&late, "DELETED", "a");
    (void)make_map(&f, "b", "1");
    (void)expect(&live, "ADDED", "b");
    (void)expect(&late, "ADDED", "b");
    unwatch(&live);
    unwatch(&late);
    fixture_fini(&f);
}

TEST(a_selector_is_a_view_on_a_watch)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    watch(&f, &w, MAPS "?watch=1&labelSelector=x%3D1");
    (void)make_map(&f, "a", "1");
    (void)want(&f, 200, "PATCH", MAPS "/a", "{\"metadata\":{\"labels\":{\"x\":\"1\"}}}");
    (void)want(&f, 200, "PATCH", MAPS "/a", "{\"data\":{\"k\":\"2\"}}");
    struct json *left =
        want(&f, 200, "PATCH", MAPS "/a", "{\"metadata\":{\"labels\":{\"x\":\"2\"}}}");
    (void)want(&f, 200, "DELETE", MAPS "/a", NULL);
    (void)want(&f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"end\",\"labels\":{\"x\":\"1\"}}}");
    (void)expect(&w, "ADDED", "a");
    (void)expect(&w, "MODIFIED", "a");
    struct json *deleted = expect(&w, "DELETED", "a");
    CHECK_INT(rev_of(deleted), rev_of(left));
    CHECK_STR(json_get_str(json_path(deleted, "metadata", "labels", NULL), "x"), "1");
    (void)expect(&w, "ADDED", "end");
    unwatch(&w);
    fixture_fini(&f);
}

TEST(a_streaming_list_ends_with_its_bookmark)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    (void)make_map(&f, "a", "1");
    watch(&f, &w,
          MAPS "?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
               "allowWatchBookmarks=true");
    (void)expect(&w, "ADDED", "a");
    struct json *mark = expect(&w, "BOOKMARK", NULL);
    CHECK_STR(
        json_get_str(json_path(mark, "metadata", "annotations", NULL), "k8s.io/initial-events-end"),
        "true");
    CHECK_STR(json_get_str(mark, "kind"), "ConfigMap");
    (void)make_map(&f, "b", "1");
    (void)expect(&w, "ADDED", "b");
    unwatch(&w);
    (void)want(&f, 422, "GET", MAPS "?watch=1&sendInitialEvents=true", NULL);
    fixture_fini(&f);
}

TEST(a_bookmark_tells_a_quiet_watcher_how_far_it_is)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    watch(&f, &w, MAPS "?watch=1&labelSelector=none&allowWatchBookmarks=true");
    (void)expect(&w, "BOOKMARK", NULL); /* the end of what was there */
    struct timer *t = &f.api->bookmark_timer;
    struct json *made = make_map(&f, "a", "1");
    CHECK(timer_is_armed(t));
    timer_stop(&f.loop, t);
    t->run(t); /* as if its minute were over */
    struct json *mark = expect(&w, "BOOKMARK", NULL);
    CHECK_INT(rev_of(mark), rev_of(made));
    t->run(t); /* nothing new, nothing said */
    (void)want(&f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"none\":\"\"}}}");
    (void)expect(&w, "ADDED", "b");
    unwatch(&w);
    fixture_fini(&f);
}

static void on_compacted(void *arg, int r, const struct err *err)
{
    struct fixture *f = arg;
    (void)err;
    f->r = r;
    f->done = true;
}

TEST(a_forgotten_revision_is_an_error_event)
{
    struct fixture f;
    struct watching w;
    struct err err = { 0 };
    fixture_init(&f);
    for (int i = 0; i < 10; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%d", i);
        (void)make_map(&f, name, "1");
    }
    struct json *page = want(&f, 200, "GET", MAPS "?limit=2", NULL);
    (void)make_map(&f, "x", "1");
    CHECK_OK(store_compact(f.store, store_revision(f.store), on_compacted, &f, &err));
    wait_done(&f);
    CHECK_OK(f.r);
    watch(&f, &w, MAPS "?watch=1&resourceVersion=2");
    CHECK_INT(w.status, 200);
    struct json *status = expect(&w, "ERROR", NULL);
    CHECK_INT(json_int_or(json_getc(status, "code"), 0), 410);
    CHECK_STR(json_get_str(status, "reason"), "Expired");
    wait_end(&w);
    CHECK_OK(w.end);
    scoped(free_scoped) char *target = xasprintf(MAPS "?limit=2&continue=" STR_FMT,
                                                 STR_ARG(text_at(page, "metadata", "continue")));
    struct json *expired = want(&f, 410, "GET", target, NULL);
    CHECK_STR(json_get_str(expired, "reason"), "Expired");
    struct str token = text_at(expired, "metadata", "continue");
    CHECK(token.n > 0);
    scoped(free_scoped) char *go_on = xasprintf(MAPS "?continue=" STR_FMT, STR_ARG(token));
    CHECK_INT(json_getc(want(&f, 200, "GET", go_on, NULL), "items")->n, 9);
    (void)want(&f, 410, "GET", MAPS "?resourceVersion=2&resourceVersionMatch=Exact", NULL);
    fixture_fini(&f);
}

TEST(a_paused_watcher_costs_bounded_memory_and_misses_nothing)
{
    struct fixture f;
    struct watching w;
    enum { N = 60, VALUE_BYTES = 30000 };
    fixture_init(&f);
    watch(&f, &w, MAPS "?watch=1&resourceVersion=0");
    exchange_pause(w.call);
    char *value = xalloc(VALUE_BYTES + 1);
    memset(value, 'v', VALUE_BYTES);
    for (int i = 0; i < N; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%02d", i);
        (void)make_map(&f, name, value);
    }
    CHECK(w.text.n == 0);
    exchange_resume(w.call);
    for (int i = 0; i < N; i++) {
        char name[8];
        (void)snprintf(name, sizeof name, "m%02d", i);
        (void)expect(&w, "ADDED", name);
    }
    unwatch(&w);
    free(value);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ namespaces */

static void until_gone(struct fixture *f, const char *target)
{
    for (;;) {
        struct answer a = ask(f, "GET", target, NULL, NULL, NULL);
        int status = a.status;
        answer_fini(&a);
        if (status == 404)
            return;
        CHECK_INT(status, 200);
        (void)loop_turn(&f->loop, false);
    }
}

TEST(a_namespace_takes_its_contents_with_it)
{
    struct fixture f;
    fixture_init(&f);
    struct json *ns =
        want(&f, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");
    CHECK_STR(text_at(ns, "status", "phase"), "Active");
    CHECK_STR(
        json_get_str(json_path(ns, "metadata", "labels", NULL), "kubernetes.io/metadata.name"),
        "n");
    (void)want(&f, 201, "POST", "/api/v1/namespaces/n/configmaps",
               "{\"metadata\":{\"name\":\"a\"}}");
    (void)want(&f, 201, "POST", "/api/v1/namespaces/n/secrets",
               "{\"metadata\":{\"name\":\"s\",\"finalizers\":[\"x.io/y\"]}}");
    struct json *marked = want(&f, 200, "DELETE", "/api/v1/namespaces/n", NULL);
    CHECK_STR(text_at(marked, "status", "phase"), "Terminating");
    struct json *no =
        want(&f, 403, "POST", "/api/v1/namespaces/n/configmaps", "{\"metadata\":{\"name\":\"b\"}}");
    CHECK_STR(json_get_str(no, "reason"), "Forbidden");
    until_gone(&f, "/api/v1/namespaces/n/configmaps/a");
    (void)want(&f, 200, "GET", "/api/v1/namespaces/n", NULL);
    (void)want(&f, 200, "PATCH", "/api/v1/namespaces/n/secrets/s",
               "{\"metadata\":{\"finalizers\":null}}");
    until_gone(&f, "/api/v1/namespaces/n");
    (void)want(&f, 403, "DELETE", "/api/v1/namespaces/default", NULL);
    fixture_fini(&f);
}

TEST(a_namespace_being_deleted_goes_on_after_a_restart)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"n\"}}");
    (void)want(&f, 201, "POST", "/api/v1/namespaces/n/secrets",
               "{\"metadata\":{\"name\":\"s\",\"finalizers\":[\"x.io/y\"]}}");
    (void)want(&f, 200, "DELETE", "/api/v1/namespaces/n", NULL);
    close_server(&f);
    open_server(&f);
    (void)want(&f, 200, "PATCH", "/api/v1/namespaces/n/secrets/s",
               "{\"metadata\":{\"finalizers\":null}}");
    until_gone(&f, "/api/v1/namespaces/n");
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ custom resources */

#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define MICE "/apis/zoo.io/v1/namespaces/default/mice"

static const char mice[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/"
    "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"mice.zoo.io\"},"
    "\"spec\":{\"group\":\"zoo.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"mice\","
    "\"singular\":\"mouse\",\"kind\":\"Mouse\","
    "\"shortNames\":[\"mo\"]},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"
    "\"subresources\":{\"status\":{}},"
    "\"additionalPrinterColumns\":[{\"name\":\"Nap\",\"type\":\"string\",\"jsonPath\":\".spec."
    "nap\"}],"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
    "\"object\",\"required\":[\"nap\"],"
    "\"properties\":{\"nap\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\",\"default\":3}}}"
    ","
    "\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"}}}}}}}]}}";

TEST(a_definition_brings_its_resource)
{
    struct fixture f;
    fixture_init(&f);
    struct json *crd = want(&f, 201, "POST", CRDS, mice);
    CHECK(json_path(crd, "status", "conditions", NULL) != NULL);
    struct json *doc = want(&f, 200, "GET", "/apis/zoo.io/v1", NULL);
    CHECK_INT(json_getc(doc, "resources")->n, 2);
    struct json *mouse =
        want(&f, 201, "POST", MICE,
             "{\"apiVersion\":\"zoo.io/v1\",\"kind\":\"Mouse\",\"metadata\":{\"name\":\"m\"},"
             "\"spec\":{\"nap\":\"long\",\"tail\":1},\"status\":{\"phase\":\"x\"}}");
    CHECK_INT(json_int_or(json_path(mouse, "spec", "count", NULL), 0), 3);
    CHECK(!json_path(mouse, "spec", "tail", NULL));
    CHECK(!json_getc(mouse, "status"));
    CHECK_INT(json_int_or(json_path(mouse, "metadata", "generation", NULL), 0), 1);
    struct json *st = want(&f, 200, "PATCH", MICE "/m/status",
                           "{\"status\":{\"phase\":\"asleep\"},\"spec\":{\"nap\":\"no\"}}");
    CHECK_STR(text_at(st, "status", "phase"), "asleep");
    CHECK_STR(text_at(st, "spec", "nap"), "long");
    CHECK_INT(json_int_or(json_path(st, "metadata", "generation", NULL), 0), 1);
    struct json *sp = want(&f, 200, "PATCH", MICE "/m",
                           "{\"status\":{\"phase\":\"no\"},\"spec\":{\"nap\":\"short\"}}");
    CHECK_STR(text_at(sp, "status", "phase"), "asleep");
    CHECK_INT(json_int_or(json_path(sp, "metadata", "generation", NULL), 0), 2);
    (void)want(&f, 422, "POST", MICE,
               "{\"apiVersion\":\"zoo.io/"
               "v1\",\"kind\":\"Mouse\",\"metadata\":{\"name\":\"n\"},\"spec\":{}}");
    struct answer a =
        ask(&f, "GET", MICE, NULL, "application/json;as=Table;v=v1;g=meta.k8s.io", NULL);
    struct json *row = json_getc(a.json, "rows")->first;
    CHECK_STR(json_str(json_getc(row, "cells")->first->next), "short");
    answer_fini(&a);
    a = ask(&f, "PATCH", MICE "/m", "application/strategic-merge-patch+json", NULL, "{}");
    CHECK_INT(a.status, 415);
    answer_fini(&a);
    close_server(&f);
    open_server(&f);
    CHECK(json_equal(want(&f, 200, "GET", MICE "/m", NULL), sp));
    fixture_fini(&f);
}

TEST(scale_is_a_view_of_the_replicas)
{
    static const char herd[] =
        "{\"apiVersion\":\"apiextensions.k8s.io/"
        "v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"herds.zoo.io\"},"
        "\"spec\":{\"group\":\"zoo.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"herds\","
        "\"kind\":\"Herd\"},"
        "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{"
        "\"status\":{},\"scale\":{"
        "\"specReplicasPath\":\".spec.replicas\",\"statusReplicasPath\":\".status.replicas\"}},"
        "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":"
        "\"object\","
        "\"properties\":{\"replicas\":{\"type\":\"integer\"}}},\"status\":{\"type\":\"object\","
        "\"properties\":{\"replicas\":{\"type\":\"integer\"}}}}}}}]}}";
    static const char path[] = "/apis/zoo.io/v1/namespaces/default/herds";
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", CRDS, herd);
    (void)want(&f, 201, "POST", path,
               "{\"apiVersion\":\"zoo.io/"
               "v1\",\"kind\":\"Herd\",\"metadata\":{\"name\":\"h\"},\"spec\":{\"replicas\":2}}");
    scoped(free_scoped) char *scale = xasprintf("%s/h/scale", path),
                             *whole = xasprintf("%s/h", path);
    struct json *got = want(&f, 200, "GET", scale, NULL);
    CHECK_STR(json_get_str(got, "kind"), "Scale");
    CHECK_INT(json_int_or(json_path(got, "spec", "replicas", NULL), 0), 2);
    got = want(&f, 200, "PATCH", scale, "{\"spec\":{\"replicas\":5}}");
    CHECK_INT(json_int_or(json_path(got, "spec", "replicas", NULL), 0), 5);
    got = want(&f, 200, "PUT", scale, "{\"metadata\":{\"name\":\"h\"},\"spec\":{\"replicas\":7}}");
    CHECK_STR(json_get_str(got, "kind"), "Scale");
    got = want(&f, 200, "GET", whole, NULL);
    CHECK_INT(json_int_or(json_path(got, "spec", "replicas", NULL), 0), 7);
    CHECK_INT(json_int_or(json_path(got, "metadata", "generation", NULL), 0), 3);
    (void)want(&f, 422, "PATCH", scale, "{\"spec\":{\"replicas\":-1}}");
    (void)want(&f, 409, "PATCH", scale,
               "{\"metadata\":{\"resourceVersion\":\"1\"},\"spec\":{\"replicas\":1}}");
    fixture_fini(&f);
}

TEST(a_definition_goes_after_its_instances)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    (void)want(&f, 201, "POST", CRDS, mice);
    (void)want(&f, 201, "POST", MICE,
               "{\"metadata\":{\"name\":\"a\"},\"apiVersion\":\"zoo.io/"
               "v1\",\"kind\":\"Mouse\",\"spec\":{\"nap\":\"x\"}}");
    (void)want(&f, 201, "POST", MICE,
               "{\"metadata\":{\"name\":\"b\",\"finalizers\":[\"x.io/y\"]},\"apiVersion\":\"zoo.io/"
               "v1\",\"kind\":\"Mouse\",\"spec\":{\"nap\":\"x\"}}");
    watch(&f, &w, MICE "?watch=1&resourceVersion=0");
    (void)want(&f, 200, "DELETE", CRDS "/mice.zoo.io", NULL);
    until_gone(&f, MICE "/a");
    (void)want(&f, 405, "POST", MICE,
               "{\"metadata\":{\"name\":\"c\"},\"apiVersion\":\"zoo.io/"
               "v1\",\"kind\":\"Mouse\",\"spec\":{\"nap\":\"x\"}}");
    (void)want(&f, 200, "GET", CRDS "/mice.zoo.io", NULL);
    (void)want(&f, 200, "PATCH", MICE "/b", "{\"metadata\":{\"finalizers\":null}}");
    until_gone(&f, CRDS "/mice.zoo.io");
    wait_end(&w);
    (void)want(&f, 404, "GET", MICE, NULL);
    fixture_fini(&f);
}

static void on_ensured(void *arg, int r, const struct err *err)
{
    struct fixture *f = arg;
    if (r < 0)
        (void)fprintf(stderr, "# %s\n", err_text(err));
    f->r = r;
    f->done = true;
}

TEST(a_service_can_make_sure_of_its_objects)
{
    struct fixture f;
    struct err err = { 0 };
    fixture_init(&f);
    for (int i = 0; i < 2; i++) {
        scoped(free_scoped) char *list =
            xasprintf("{\"items\":[%s,{\"apiVersion\":\"zoo.io/v1\",\"kind\":\"Mouse\","
                      "\"metadata\":{\"name\":\"m\"},\"spec\":{\"nap\":\"%d\"}}]}",
                      mice, i);
        CHECK_OK(api_ensure_objects(f.api, str_of(list), on_ensured, &f, &err));
        wait_done(&f);
        CHECK_OK(f.r);
    }
    CHECK_STR(text_at(want(&f, 200, "GET", MICE "/m", NULL), "spec", "nap"), "1");
    CHECK_OK(api_ensure_objects(
        f.api,
        STR("{\"apiVersion\":\"zoo.io/"
            "v1\",\"kind\":\"Mouse\",\"metadata\":{\"name\":\"n\"},\"spec\":{}}"),
        on_ensured, &f, &err));
    wait_done(&f);
    CHECK_ERR(f.r, E_INVALID);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ versions, watches and servers
 * that end */

static const char voles[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
    "\"metadata\":{\"name\":\"voles.zoo.io\"},\"spec\":{\"group\":\"zoo.io\",\"scope\":\"Cluster\","
    "\"names\":{\"plural\":\"voles\",\"kind\":\"Vole\"},\"versions\":["
    "{\"name\":\"v1\",\"served\":true,\"storage\":%s,\"schema\":{\"openAPIV3Schema\":{\"type\":"
    "\"object\","
    "\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}}}}}"
    "},"
    "{\"name\":\"v2\",\"served\":true,\"storage\":%s,\"schema\":{\"openAPIV3Schema\":{\"type\":"
    "\"object\","
    "\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
    "\"b\":{\"type\":\"integer\",\"default\":4}}}}}},\"selectableFields\":[{\"jsonPath\":\".spec."
    "a\"}]}]}}";

TEST(an_object_is_seen_in_every_version)
{
    struct fixture f;
    struct watching w;
    fixture_init(&f);
    scoped(free_scoped) char *first = xasprintf(voles, "true", "false");
    scoped(free_scoped) char *second = xasprintf(voles, "false", "true");
    (void)want(&f, 201, "POST", CRDS, first);
    watch(&f, &w, "/apis/zoo.io/v2/voles?watch=1&resourceVersion=0");
    (void)want(&f, 201, "POST", "/apis/zoo.io/v1/voles",
               "{\"apiVersion\":\"zoo.io/"
               "v1\",\"kind\":\"Vole\",\"metadata\":{\"name\":\"v\"},\"spec\":{\"a\":\"x\"}}");
    struct json *seen = expect(&w, "ADDED", "v");
    CHECK_STR(json_get_str(seen, "apiVersion"), "zoo.io/v2");
    struct json *v1 = want(&f, 200, "GET", "/apis/zoo.io/v1/voles/v", NULL);
    struct json *v2 = want(&f, 200, "GET", "/apis/zoo.io/v2/voles/v", NULL);
    CHECK_STR(json_get_str(v1, "apiVersion"), "zoo.io/v1");
    CHECK_STR(json_get_str(v2, "apiVersion"), "zoo.io/v2");
    CHECK(str_eq(text_at(v1, "metadata", "uid"), text_at(v2, "metadata", "uid")));
    /* Another storage version: what is stored stays readable, and writes move it. */
    struct json *crd = want(&f, 200, "GET", CRDS "/voles.zoo.io", NULL);
    CHECK_INT(json_path(crd, "status", "storedVersions", NULL)->n, 1);
    (void)want(&f, 200, "PATCH", CRDS "/voles.zoo.io", second);
    wait_end(&w); /* the shape has changed: watchers come anew */
    v1 = want(&f, 200, "PATCH", "/apis/zoo.io/v1/voles/v",
              "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    CHECK_STR(json_get_str(v1, "apiVersion"), "zoo.io/v1");
    v2 = want(&f, 200, "GET", "/apis/zoo.io/v2/voles/v", NULL);
    CHECK_INT(json_int_or(json_path(v2, "spec", "b", NULL), 0), 4);
    CHECK_INT(
        json_getc(want(&f, 200, "GET", "/apis/zoo.io/v2/voles?fieldSelector=spec.a%3Dx", NULL),
                  "items")
            ->n,
        1);
    CHECK_INT(
        json_getc(want(&f, 200, "GET", "/apis/zoo.io/v2/voles?fieldSelector=spec.a%3Dy", NULL),
                  "items")
            ->n,
        0);
    (void)want(&f, 400, "GET", "/apis/zoo.io/v1/voles?fieldSelector=spec.a%3Dx", NULL);
    crd = want(&f, 200, "GET", CRDS "/voles.zoo.io", NULL);
    CHECK_INT(json_path(crd, "status", "storedVersions", NULL)->n, 2);
    fixture_fini(&f);
}

TEST(a_definition_whose_names_are_taken_waits_for_them)
{
    struct fixture f;
    fixture_init(&f);
    scoped(free_scoped) char *first = xasprintf(voles, "true", "false");
    (void)want(&f, 201, "POST", CRDS, first);
    static const char rival[] =
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"diggers.zoo.io\"},\"spec\":{\"group\":\"zoo.io\",\"scope\":"
        "\"Cluster\","
        "\"names\":{\"plural\":\"diggers\",\"kind\":\"Vole\"},\"versions\":[{\"name\":\"v1\","
        "\"served\":true,"
        "\"storage\":true,\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}";
    (void)want(&f, 201, "POST", CRDS, rival);
    (void)want(&f, 404, "GET", "/apis/zoo.io/v1/diggers", NULL);
    (void)want(&f, 200, "DELETE", CRDS "/voles.zoo.io", NULL);
    until_gone(&f, CRDS "/voles.zoo.io");
    for (;;) {
        struct answer a = ask(&f, "GET", "/apis/zoo.io/v1/diggers", NULL, NULL, NULL);
        int status = a.status;
        answer_fini(&a);
        if (status == 200)
            break;
        CHECK_INT(status, 404);
    }
    fixture_fini(&f);
}

TEST(instances_of_a_definition_that_serves_nothing_go_as_well)
{
    struct fixture f;
    fixture_init(&f);
    scoped(free_scoped) char *crd = xasprintf(voles, "true", "false");
    (void)want(&f, 201, "POST", CRDS, crd);
    (void)want(&f, 201, "POST", "/apis/zoo.io/v1/voles",
               "{\"apiVersion\":\"zoo.io/v1\",\"kind\":\"Vole\",\"metadata\":{\"name\":\"v\"}}");
    struct answer a =
        ask(&f, "PATCH", CRDS "/voles.zoo.io", "application/json-patch+json", NULL,
            "[{\"op\":\"replace\",\"path\":\"/spec/versions/0/served\",\"value\":false},"
            "{\"op\":\"replace\",\"path\":\"/spec/versions/1/served\",\"value\":false}]");
    CHECK_INT(a.status, 200);
    answer_fini(&a);
    (void)want(&f, 404, "GET", "/apis/zoo.io/v1/voles", NULL);
    (void)want(&f, 200, "DELETE", CRDS "/voles.zoo.io", NULL);
    until_gone(&f, CRDS "/voles.zoo.io");
    (void)want(&f, 201, "POST", CRDS, crd);
    CHECK_INT(json_getc(want(&f, 200, "GET", "/apis/zoo.io/v1/voles", NULL), "items")->n, 0);
    fixture_fini(&f);
}

TEST(a_server_that_closes_ends_its_watches)
{
    struct fixture f;
    struct watching w;
    struct err err = { 0 };
    fixture_init(&f);
    watch(&f, &w, MAPS "?watch=1&resourceVersion=0");
    api_close(f.api, 1000, on_done, &f);
    struct exchange *call;
    const struct kube_request late = { .method = STR("GET"), .target = STR("/version") };
    CHECK_ERR(transport_start(api_transport(f.api), &late, &watching_events, &w, &call, &err),
              -ECANCELED);
    wait_done(&f);
    CHECK(w.ended);
    CHECK_OK(w.end);
    buf_fini(&w.text);
    store_close(f.store, on_done, &f);
    wait_done(&f);
    open_server(&f);
    fixture_fini(&f);
}

static void on_ready_or_not(void *arg, int r, const struct err *err)
{
    int *reported = arg;
    (void)r;
    (void)err;
    ++*reported;
}

TEST(a_server_can_be_closed_at_any_moment_of_its_start)
{
    struct fixture f;
    fixture_init(&f);
    (void)want(&f, 201, "POST", CRDS, mice);
    close_server(&f);
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f.dir);
    for (int turns = 0; turns < 20; turns++) {
        struct err err = { 0 };
        int reported = 0;
        CHECK_OK(store_open(&f.loop, &(struct store_opts){ .path = path }, &f.store, &err));
        CHECK_OK(api_new(&(struct api_opts){ .loop = &f.loop, .store = f.store }, &f.api, &err));
        api_start(f.api, on_ready_or_not, &reported);
        for (int i = 0; i < turns; i++)
            (void)loop_turn(&f.loop, false);
        api_close(f.api, 1000, on_done, &f);
        wait_done(&f);
        CHECK_INT(reported, 1);
        store_close(f.store, on_done, &f);
        wait_done(&f);
    }
    open_server(&f);
    fixture_fini(&f);
}

static bool only_reads(void *arg, const struct api_attributes *at, struct buf *reason)
{
    (void)arg;
    if (str_has_prefix(at->identity->user, STR("system:dormouse")) || str_is(at->verb, "get"))
        return true;
    if (reason)
        (void)buf_add_cstr(reason, "only reading is allowed");
    return false;
}

TEST(an_authorizer_is_asked)
{
    struct fixture f;
    struct err err = { 0 };
    fixture_init(&f);
    close_server(&f);
    scoped(free_scoped) char *path = xasprintf("%s/store.db", f.dir);
    CHECK_OK(store_open(&f.loop, &(struct store_opts){ .path = path }, &f.store, &err));
    CHECK_OK(
        api_new(&(struct api_opts){ .loop = &f.loop, .store = f.store, .authorize = only_reads },
                &f.api, &err));
    api_start(f.api, on_ready, &f);
    wait_done(&f);
    CHECK_OK(f.r);
    const struct kube_identity somebody = { .user = STR("somebody") };
    struct watching w = { .f = &f, .text = BUF_INIT(1 << 20) };
    const struct kube_request req = { .identity = &somebody,
                                      .method = STR("GET"),
                                      .target = STR(MAPS) };
    CHECK_OK(transport_start(api_transport(f.api), &req, &watching_events, &w, &w.call, &err));
    while (!w.ended)
        (void)loop_turn(&f.loop, true);
    CHECK_INT(w.status, 403);
    CHECK(str_find(buf_str(&w.text), STR("only reading is allowed")) > 0);
    buf_fini(&w.text);
    (void)want(&f, 200, "GET", MAPS, NULL);
    fixture_fini(&f);
}

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"

TEST(a_lease_that_an_earlier_server_has_left_is_released)
{
    struct fixture f;
    struct err err = { 0 };
    fixture_init(&f);
    (void)want(&f, 201, "POST", LEASES,
               "{\"metadata\":{\"name\":\"l\",\"labels\":{\"" LEADER_LABEL
               "\":\"\"}},\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":"
               "2147483647,\"acquireTime\":\"2026-01-01T00:00:00.000000Z\",\"renewTime\":"
               "\"2026-01-01T00:00:00.000000Z\"}}");
    CHECK_OK(api_release_left_lease(f.api, "kube-system", "l", on_done, &f, &err));
    CHECK(!f.done);
    wait_done(&f);
    CHECK_STR(text_at(want(&f, 200, "GET", LEASES "/l", NULL), "spec", "holderIdentity"), "");
    CHECK_OK(api_release_left_lease(f.api, "kube-system", "absent", on_done, &f, &err));
    CHECK(!f.done);
    wait_done(&f);
    fixture_fini(&f);
}

static void on_never(void *arg)
{
    (void)arg;
    CHECK(false);
}

TEST(a_lease_is_not_released_while_the_server_closes)
{
    struct fixture f;
    struct err err = { 0 };
    fixture_init(&f);
    api_close(f.api, 1000, on_done, &f);
    CHECK_ERR(api_release_left_lease(f.api, "kube-system", "l", on_never, NULL, &err), -ECANCELED);
    CHECK_INT(err.code, -ECANCELED);
    wait_done(&f);
    store_close(f.store, on_done, &f);
    wait_done(&f);
    open_server(&f);
    fixture_fini(&f);
}

static int64_t renewed(void *arg)
{
    struct fixture *f = arg;
    f->r++;
    return INT64_MAX;
}

TEST(a_certificate_is_renewed_by_a_request_and_not_by_a_timer)
{
    struct fixture f;
    fixture_init(&f);
    f.r = 0;
    api_on_renewal(f.api, 1, renewed, &f);
    (void)want(&f, 200, "GET", "/version", NULL);
    (void)want(&f, 200, "GET", "/version", NULL);
    CHECK_INT(f.r, 1);
    fixture_fini(&f);
}

/* ------------------------------------------------------------------ other paths */

TEST(discovery_health_and_metrics_answer)
{
    struct fixture f;
    fixture_init(&f);
    CHECK_STR(json_get_str(want(&f, 200, "GET", "/api", NULL), "kind"), "APIVersions");
    CHECK_STR(json_get_str(want(&f, 200, "GET", "/apis", NULL), "kind"), "APIGroupList");
    CHECK_STR(json_get_str(want(&f, 200, "GET", "/api/v1", NULL), "kind"), "APIResourceList");
    const struct json *version = want(&f, 200, "GET", "/version", NULL);
    CHECK_STR(json_get_str(version, "major"), "1");
    CHECK_STR(json_get_str(version, "minor"), "36");
    CHECK(str_has_prefix(json_get_str(version, "gitVersion"), STR("v1.36.3+dormouse-")));
    struct answer metrics = ask(&f, "GET", "/metrics", NULL, NULL, NULL);
    scoped(free_scoped) char *build =
        xasprintf("kubernetes_build_info{major=\"1\",minor=\"36\",git_version=\"" STR_FMT "\"} 1\n",
                  STR_ARG(json_get_str(version, "gitVersion")));
    CHECK(str_find(buf_str(&metrics.body), str_of(build)) >= 0);
    answer_fini(&metrics);
    struct answer a =
        ask(&f, "GET", "/apis", NULL,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
            NULL);
    CHECK_STR(json_get_str(a.json, "kind"), "APIGroupDiscoveryList");
    CHECK(headers_get(&a.headers, "etag").n > 2);
    answer_fini(&a);
    static const char *const plain[] = { "/healthz",        "/livez",      "/readyz",
                                         "/readyz?verbose", "/livez/ping", "/metrics",
                                         "/openapi/v2",     "/openapi/v3", "/openapi/v3/api/v1" };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        a = ask(&f, "GET", plain[i], NULL, NULL, NULL);
        CHECK_INT(a.status, 200);
        CHECK(a.body.n > 0);
        answer_fini(&a);
    }
    (void)want(&f, 405, "POST", "/version", "{}");
    (void)want(&f, 404, "GET", "/livez/none", NULL);
    fixture_fini(&f);
}

TEST_MAIN
