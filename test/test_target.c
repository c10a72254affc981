/* SPDX-License-Identifier: Apache-2.0 */
/* operator/target: what a guest's request means, by the rules of upstream's RequestInfo. */
#include "operator/target.h"

#include "test.h"

static struct arena arena;

static struct target parse(const char *method, const char *text)
{
    struct target t;
    struct err err = { 0 };
    arena_fini(&arena);
    CHECK_OK(target_parse(&arena, str_of(method), str_of(text), &t, &err));
    return t;
}

static void check(const char *method, const char *text, const char *verb, const char *group_version,
                  const char *namespace, const char *resource, const char *name,
                  const char *subresource)
{
    struct target t = parse(method, text);
    CHECK_STR(str_of(kube_verb_name(t.verb)), verb);
    CHECK(t.is_resource);
    CHECK_STR(t.group_version, group_version);
    CHECK_STR(t.namespace, namespace);
    CHECK_STR(t.resource, resource);
    CHECK_STR(t.name, name);
    CHECK_STR(t.subresource, subresource);
    arena_fini(&arena);
}

static void check_bad(const char *method, const char *text, int code)
{
    struct target t;
    struct err err = { 0 };
    CHECK_ERR(target_parse(&arena, str_of(method), str_of(text), &t, &err), code);
    CHECK(err.text[0]);
    arena_fini(&arena);
}

TEST(resources_of_the_core_and_of_groups)
{
    check("GET", "/api/v1/configmaps", "list", "v1", "", "configmaps", "", "");
    check("GET", "/api/v1/namespaces/a/configmaps", "list", "v1", "a", "configmaps", "", "");
    check("GET", "/api/v1/namespaces/a/configmaps/b", "get", "v1", "a", "configmaps", "b", "");
    check("PUT", "/apis/example.org/v1/namespaces/a/rings/b/status", "update", "example.org/v1",
          "a", "rings", "b", "status");
    check("GET", "/apis/example.org/v1/rings", "list", "example.org/v1", "", "rings", "", "");
    check("HEAD", "/api/v1/nodes/n", "get", "v1", "", "nodes", "n", "");
}

TEST(namespaces_are_a_resource_too)
{
    check("GET", "/api/v1/namespaces", "list", "v1", "", "namespaces", "", "");
    check("GET", "/api/v1/namespaces/a", "get", "v1", "", "namespaces", "a", "");
    check("PUT", "/api/v1/namespaces/a/finalize", "update", "v1", "", "namespaces", "a",
          "finalize");
    check("PATCH", "/api/v1/namespaces/a/status", "patch", "v1", "", "namespaces", "a", "status");
}

TEST(methods_are_verbs)
{
    check("POST", "/api/v1/namespaces/a/configmaps?", "create", "v1", "a", "configmaps", "", "");
    check("PATCH", "/api/v1/namespaces/a/configmaps/b", "patch", "v1", "a", "configmaps", "b", "");
    check("DELETE", "/api/v1/namespaces/a/configmaps/b", "delete", "v1", "a", "configmaps", "b",
          "");
    check("DELETE", "/api/v1/namespaces/a/configmaps", "deletecollection", "v1", "a", "configmaps",
          "", "");
    check_bad("CONNECT", "/api/v1/pods", E_INVALID);
    check_bad("get", "/api/v1/pods", E_INVALID);
    check_bad("", "/api/v1/pods", E_INVALID);
}

TEST(a_watch_is_a_list_that_asks_for_it)
{
    check("GET", "/api/v1/configmaps?watch=true", "watch", "v1", "", "configmaps", "", "");
    check("GET", "/api/v1/configmaps?watch=1", "watch", "v1", "", "configmaps", "", "");
    check("GET", "/api/v1/configmaps?watch", "watch", "v1", "", "configmaps", "", "");
    check("GET", "/api/v1/configmaps?watch=false", "list", "v1", "", "configmaps", "", "");
    check("GET", "/api/v1/configmaps?watch=0", "list", "v1", "", "configmaps", "", "");
    /* On a name and on other methods upstream ignores it. */
    check("GET", "/api/v1/namespaces/a/configmaps/b?watch=true", "get", "v1", "a", "configmaps",
          "b", "");
    check("POST", "/api/v1/namespaces/a/configmaps?watch=true", "create", "v1", "a", "configmaps",
          "", "");
    CHECK(!parse("GET", "/api/v1/namespaces/a/configmaps/b?watch=true").watch);
    arena_fini(&arena);
}

TEST(the_old_form_of_a_watch_is_one)
{
    check("GET", "/api/v1/watch/namespaces/a/configmaps", "watch", "v1", "a", "configmaps", "", "");
    check("GET", "/api/v1/watch/namespaces/a/configmaps/b", "watch", "v1", "a", "configmaps", "b",
          "");
    CHECK(parse("GET", "/api/v1/watch/configmaps").is_old_watch);
    CHECK(!parse("GET", "/api/v1/configmaps?watch=1").is_old_watch);
    arena_fini(&arena);
}

TEST(the_query_of_a_g2_guest_with_its_empty_first_parameter)
{
    struct target t = parse(
        "GET", "/apis/amurant.io/v1/namespaces/a/testresources?&watch=true&resourceVersion=42"
               "&timeoutSeconds=290&labelSelector=a%3Db%2Cc%21%3Dd&fieldSelector=metadata.name%3Dx"
               "&allowWatchBookmarks=true");
    CHECK(t.watch && t.bookmarks && !t.send_initial_events);
    CHECK_INT(t.rv, 42);
    CHECK_STR(t.label_selector, "a=b,c!=d");
    CHECK_STR(t.field_selector, "metadata.name=x");
    CHECK(parse("GET", "/api/v1/pods?watch=1&sendInitialEvents=true").send_initial_events);
    arena_fini(&arena);
}

TEST(a_version_that_is_no_number_counts_as_absent)
{
    CHECK_INT(parse("GET", "/api/v1/pods?watch=1&resourceVersion=0").rv, 0);
    CHECK_INT(parse("GET", "/api/v1/pods?watch=1&resourceVersion=x1").rv, 0);
    CHECK_INT(parse("GET", "/api/v1/pods?watch=1&resourceVersion=18446744073709551616").rv, 0);
    arena_fini(&arena);
}

TEST(what_goes_to_the_server_is_the_text_of_the_guest_without_an_authority)
{
    CHECK_STR(parse("GET", "https://user@evil.example:1/api/v1/pods?limit=1").origin,
              "/api/v1/pods?limit=1");
    CHECK_STR(parse("GET", "http://evil.example").origin, "/");
    CHECK_STR(parse("GET", "/api/v1/pods?").origin, "/api/v1/pods");
    CHECK_STR(parse("GET", "/api/v1/pods?a=%41#frag").origin, "/api/v1/pods?a=%41");
    check("GET", "http://evil.example/api/v1/namespaces/a/secrets", "list", "v1", "a", "secrets",
          "", "");
}

TEST(escapes_are_undone_before_anything_is_judged)
{
    check("GET", "/api/v1/namespaces/a/%73ecrets/x", "get", "v1", "a", "secrets", "x", "");
    CHECK_STR(parse("GET", "/api/v1/namespaces/a/%73ecrets").path, "/api/v1/namespaces/a/secrets");
    CHECK_STR(parse("GET", "//api///v1//pods/").path, "/api/v1/pods");
    arena_fini(&arena);
}

TEST(paths_that_servers_read_in_different_ways_are_refused)
{
    check_bad("GET", "/api/v1/namespaces/a/configmaps/../secrets", E_INVALID);
    check_bad("GET", "/api/v1/namespaces/a/configmaps/%2e%2e/secrets", E_INVALID);
    check_bad("GET", "/api/v1/namespaces/a/configmaps/x%2Fy", E_INVALID);
    check_bad("GET", "/api/v1/namespaces/a/configmaps/x%00", E_INVALID);
    check_bad("GET", "/api/v1/namespaces/a%zz", E_INVALID);
    check_bad("GET", "api/v1/pods", E_INVALID);
    char deep[256] = "";
    for (size_t i = 0; i + 2 < sizeof deep; i += 2)
        memcpy(deep + i, "/x", 3);
    check_bad("GET", deep, E_LIMIT);
}

TEST(what_is_no_resource_has_only_a_path)
{
    static const char *const paths[] = { "/",     "/version",   "/api",          "/api/v1",
                                         "/apis", "/apis/g/v1", "/healthz/ping", "/openapi/v3" };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct target t = parse("GET", paths[i]);
        CHECK(!t.is_resource && t.verb == KUBE_GET && t.resource.n == 0);
        CHECK_STR(t.path, paths[i]);
    }
    arena_fini(&arena);
}

TEST_MAIN
