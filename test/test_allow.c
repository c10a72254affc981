/* SPDX-License-Identifier: Apache-2.0 */
/* operator/allow: what an operator may ask of the API. */
#include "operator/allow.h"

#include "base/mem.h"
#include "test.h"

#include <errno.h>

static struct allow *list;

static void add(const char *verb, const char *path)
{
    struct err err = { 0 };
    struct str verbs[] = { str_of(verb) }, paths[] = { str_of(path) };
    CHECK_OK(allow_add(&list, verbs, 1, paths, 1, &err));
}

static bool may(enum kube_verb verb, const char *path)
{
    return allow_check(list, verb, str_of(path));
}

static void done(void)
{
    allow_free(list);
    list = NULL;
}

TEST(no_list_allows_everything_and_a_list_only_what_it_says)
{
    CHECK(may(KUBE_DELETECOLLECTION, "/api/v1/secrets"));
    add("get", "/api/v1/nodes");
    CHECK(may(KUBE_GET, "/api/v1/nodes"));
    CHECK(!may(KUBE_LIST, "/api/v1/nodes"));
    CHECK(!may(KUBE_GET, "/api/v1/secrets"));
    done();
}

TEST(any_is_one_segment_and_dots_are_the_rest)
{
    add("*", "/api/v1/namespaces/{any}/configmaps");
    CHECK(may(KUBE_LIST, "/api/v1/namespaces/a/configmaps"));
    CHECK(!may(KUBE_LIST, "/api/v1/namespaces/a/b/configmaps"));
    CHECK(!may(KUBE_LIST, "/api/v1/namespaces/configmaps"));
    CHECK(!may(KUBE_GET, "/api/v1/namespaces/a/configmaps/x"));
    add("*", "/apis/example.org/...");
    CHECK(may(KUBE_PATCH, "/apis/example.org/v1/namespaces/a/rings/r/status"));
    CHECK(may(KUBE_GET, "/apis/example.org/v1"));
    CHECK(!may(KUBE_GET, "/apis/example.org"));
    CHECK(!may(KUBE_GET, "/apis/example.orgs/v1"));
    done();
}

TEST(a_prefix_of_a_segment_is_not_that_segment)
{
    add("*", "/api/v1/namespaces/team/configmaps");
    CHECK(!may(KUBE_LIST, "/api/v1/namespaces/team-b/configmaps"));
    CHECK(!may(KUBE_LIST, "/api/v1/namespaces/team/configmapsx"));
    CHECK(!may(KUBE_LIST, "/api/v1/namespaces/team"));
    CHECK(!may(KUBE_LIST, "/api/v1/namespaces/team/configmaps/"));
    done();
}

TEST(verbs_of_one_rule_do_not_reach_into_another)
{
    add("get", "/a/...");
    add("delete", "/b/...");
    CHECK(may(KUBE_GET, "/a/x") && may(KUBE_DELETE, "/b/x"));
    CHECK(!may(KUBE_DELETE, "/a/x") && !may(KUBE_GET, "/b/x"));
    done();
}

TEST(every_verb_can_be_named)
{
    static const enum kube_verb verbs[] = {
#define TEST_VERB(id, bit, text) id,
        KUBE_VERBS(TEST_VERB)
#undef TEST_VERB
    };
    char path[32];
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        (void)snprintf(path, sizeof path, "/%zu", i);
        add(kube_verb_name(verbs[i]), path);
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        (void)snprintf(path, sizeof path, "/%zu", i);
        for (size_t j = 0; j < ARRAY_LEN(verbs); j++)
            CHECK(may(verbs[j], path) == (i == j));
    }
    done();
}

TEST(mistakes_are_named_and_leave_the_list_alone)
{
    struct err err = { 0 };
    struct str get[] = { STR("get") }, typo[] = { STR("get"), STR("gets") }, path[] = { STR("/a") },
               bare[] = { STR("a") };
    CHECK_ERR(allow_add(&list, typo, 2, path, 1, &err), E_INVALID);
    CHECK(strstr(err.text, "unknown verb 'gets'"));
    CHECK_ERR(allow_add(&list, get, 1, bare, 1, &err), E_INVALID);
    CHECK(strstr(err.text, "path 'a'"));
    CHECK_ERR(allow_add(&list, get, 0, path, 1, &err), E_INVALID);
    CHECK_ERR(allow_add(&list, get, 1, path, 0, &err), E_INVALID);
    CHECK(list == NULL); /* NULL would allow everything: the caller must see the error */
}

TEST(rules_words_and_bytes_are_limited)
{
    static char long_path[ALLOW_MAX_BYTES + 2];
    struct str verbs[ALLOW_MAX_WORDS + 1], paths[ALLOW_MAX_WORDS + 1], get[] = { STR("get") };
    struct err err = { 0 };
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        verbs[i] = STR("get");
        paths[i] = STR("/a");
    }
    CHECK_ERR(allow_add(&list, verbs, ARRAY_LEN(verbs), paths, 1, &err), -E2BIG);
    CHECK_ERR(allow_add(&list, verbs, 1, paths, ARRAY_LEN(paths), &err), -E2BIG);
    memset(long_path, '/', sizeof long_path - 1);
    struct str longest[] = { str_of(long_path) };
    CHECK_ERR(allow_add(&list, get, 1, longest, 1, &err), -E2BIG);
    for (int i = 0; i < ALLOW_MAX_RULES; i++)
        add("get", "/a");
    CHECK_ERR(allow_add(&list, get, 1, paths, 1, &err), -E2BIG);
    CHECK(may(KUBE_GET, "/a"));
    done();
}

TEST_MAIN
