/* SPDX-License-Identifier: Apache-2.0 */
/* The mirror operator, from a rule's first copy to its last, against an API in memory. */
#include "fake_kube.h"

const char *dm_host_env(const char *name)
{
    return strcmp(name, "DM_LOG") == 0 ? "error" : NULL;
}

#define RULE(ns, name)   "/apis/sync.dormouse.dev/v1alpha1/namespaces/" ns "/mirrorrules" name
#define MAP(ns, name)    "/api/v1/namespaces/" ns "/configmaps" name
#define SECRET(ns, name) "/api/v1/namespaces/" ns "/secrets" name
#define NAMESPACE(name)  "/api/v1/namespaces" name
#define SOURCE(name, data)                                                                         \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\",\"labels\":{\"sync.dormouse.dev/mirror\":\"true\"}},\"data\":" data "}"

static void make_namespace(const char *name, const char *team)
{
    char body[256];
    (void)snprintf(body, sizeof(body),
                   "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"team\":\"%s\"}}}", name, team);
    fake_do("POST", NAMESPACE(""), body);
}

/* An API with namespaces hub, web1, web2 and other, a rule from hub to team=web, and the operator.
 */
static void start(void)
{
    static bool started;
    if (started)
        return;
    started = true;
    CHECK_INT(dm_start(), 0);
    fake_settle();
    make_namespace("hub", "none");
    make_namespace("web1", "web");
    make_namespace("web2", "web");
    make_namespace("other", "none");
    fake_do("POST", RULE("hub", ""),
            "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"namespaceSelector\":{\"matchLabels\":{"
            "\"team\":\"web\"}}}}");
}

static struct dm_json status_of(const char *rule)
{
    return dm_json_member(fake_get("mirrorrules", "hub", rule), "status");
}

static bool is_ready(const char *rule)
{
    struct dm_json_iter it = dm_json_iter(dm_json_member(status_of(rule), "conditions"));
    CHECK(dm_json_next(&it));
    return dm_json_is(dm_json_member(it.value, "status"), "True");
}

static bool has(const char *res, const char *ns, const char *name)
{
    return dm_json_has(fake_get(res, ns, name));
}

static struct str value(const char *ns, const char *name)
{
    struct dm_str s = dm_json_plain(dm_json_at(fake_get("configmaps", ns, name), "data.v"));
    return (struct str){ s.p, s.n };
}

TEST(sources_are_copied_and_followed)
{
    start();
    fake_do("POST", MAP("hub", ""), SOURCE("a", "{\"v\":\"1\"}"));
    fake_do("POST", SECRET("hub", ""), SOURCE("a", "{\"v\":\"MQ==\"}"));
    CHECK_STR(value("web1", "a"), "1");
    CHECK_STR(value("web2", "a"), "1");
    CHECK(has("secrets", "web1", "a") && has("secrets", "web2", "a"));
    CHECK(!has("configmaps", "other", "a"));
    CHECK(dm_json_is(dm_annotation(fake_get("configmaps", "web1", "a"), "sync.dormouse.dev/source"),
                     "hub/a"));
    fake_do("PATCH", MAP("hub", "/a"), "{\"data\":{\"v\":\"2\"}}");
    CHECK_STR(value("web1", "a"), "2");
    CHECK_STR(value("web2", "a"), "2");
    CHECK_INT(dm_json_int(dm_json_member(status_of("r"), "copies"), 0), 4);
    CHECK(is_ready("r"));
    CHECK(dm_has_finalizer(fake_get("mirrorrules", "hub", "r"), "sync.dormouse.dev/copies"));
}

TEST(what_is_not_labelled_is_never_copied)
{
    start();
    fake_do("POST", SECRET("hub", ""),
            "{\"metadata\":{\"name\":\"private\"},\"data\":{\"v\":\"x\"}}");
    CHECK(!has("secrets", "web1", "private"));
}

TEST(a_copy_that_was_touched_is_put_right)
{
    start();
    fake_do("POST", MAP("hub", ""), SOURCE("b", "{\"v\":\"1\"}"));
    fake_do("PATCH", MAP("web1", "/b"), "{\"data\":{\"v\":\"mine\"}}");
    CHECK_STR(value("web1", "b"), "1");
    fake_do("DELETE", MAP("web2", "/b"), "{}");
    CHECK_STR(value("web2", "b"), "1");
}

TEST(namespaces_come_and_go)
{
    start();
    fake_do("POST", MAP("hub", ""), SOURCE("c", "{\"v\":\"1\"}"));
    make_namespace("web3", "web");
    CHECK_STR(value("web3", "c"), "1");
    fake_do("PATCH", NAMESPACE("/web3"), "{\"metadata\":{\"labels\":{\"team\":null}}}");
    CHECK(!has("configmaps", "web3", "c"));
    fake_do("PATCH", NAMESPACE("/web3"),
            "{\"metadata\":{\"labels\":{\"team\":\"web\"},\"deletionTimestamp\":\"now\","
            "\"finalizers\":[\"k\"]}}");
    CHECK(!has("configmaps", "web3", "c")); /* nothing is put into a namespace that ends */
}

TEST(a_source_that_goes_takes_its_copies_along)
{
    start();
    fake_do("POST", MAP("hub", ""), SOURCE("d", "{\"v\":\"1\"}"));
    fake_do("PATCH", MAP("hub", "/d"),
            "{\"metadata\":{\"labels\":{\"sync.dormouse.dev/mirror\":null}}}");
    CHECK(!has("configmaps", "web1", "d") && !has("configmaps", "web2", "d"));
    CHECK(has("configmaps", "hub", "d"));
}

TEST(an_object_in_the_way_is_left_alone_and_reported)
{
    start();
    fake_do("POST", MAP("web1", ""), "{\"metadata\":{\"name\":\"e\"},\"data\":{\"v\":\"mine\"}}");
    fake_do("POST", MAP("hub", ""), SOURCE("e", "{\"v\":\"1\"}"));
    CHECK_STR(value("web1", "e"), "mine");
    CHECK_STR(value("web2", "e"), "1");
    CHECK(!is_ready("r"));
    CHECK_INT(dm_json_int(dm_json_member(status_of("r"), "conflicts"), 0), 1);
    CHECK_INT(fake.last_delay_ms, 300000);
    fake_do("DELETE", MAP("hub", "/e"), "{}");
    CHECK_STR(value("web1", "e"), "mine");
    CHECK(is_ready("r"));
}

TEST(a_failed_write_is_repeated)
{
    start();
    fake.fail_next_write = 500;
    fake_do("POST", MAP("hub", ""), SOURCE("f", "{\"v\":\"1\"}"));
    CHECK_STR(value("web1", "f"), "1");
    CHECK_STR(value("web2", "f"), "1");
    CHECK(is_ready("r"));
}

TEST(a_rule_narrows_down_what_it_copies)
{
    start();
    fake_do("POST", RULE("hub", ""),
            "{\"metadata\":{\"name\":\"narrow\"},\"spec\":{\"kinds\":[\"ConfigMap\"],"
            "\"namespaces\":[\"other\"],"
            "\"selector\":{\"matchLabels\":{\"tier\":\"base\"}}}}");
    fake_do("POST", MAP("hub", ""),
            "{\"metadata\":{\"name\":\"g\",\"labels\":{\"sync.dormouse.dev/"
            "mirror\":\"true\",\"tier\":\"base\"}},\"data\":{\"v\":\"1\"}}");
    fake_do("POST", SECRET("hub", ""),
            "{\"metadata\":{\"name\":\"g\",\"labels\":{\"sync.dormouse.dev/"
            "mirror\":\"true\",\"tier\":\"base\"}}}");
    CHECK_STR(value("other", "g"), "1");
    CHECK(!has("secrets", "other", "g"));
    CHECK(!has("configmaps", "other", "a"));
    fake_do("PATCH", RULE("hub", "/narrow"), "{\"spec\":{\"namespaces\":[]}}");
    CHECK(!has("configmaps", "other", "g"));
}

TEST(nothing_is_written_when_nothing_differs)
{
    start();
    fake_do("POST", MAP("hub", ""), SOURCE("h", "{\"v\":\"1\"}"));
    unsigned before = fake.n_writes;
    fake_do("PATCH", MAP("hub", "/h"), "{\"metadata\":{\"annotations\":{\"x\":\"y\"}}}");
    fake_do("PATCH", NAMESPACE("/other"), "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    CHECK_INT(fake.n_writes, before);
}

TEST(a_rule_that_goes_takes_its_copies_along)
{
    start();
    fake_do("POST", MAP("hub", ""), SOURCE("i", "{\"v\":\"1\"}"));
    CHECK_STR(value("web1", "i"), "1");
    fake_do("DELETE", RULE("hub", "/r"), "{}");
    CHECK(!has("configmaps", "web1", "i") && !has("configmaps", "web2", "i") &&
          !has("secrets", "web1", "a"));
    CHECK_STR(value("hub", "i"), "1");
    CHECK(!has("mirrorrules", "hub", "r"));
}

TEST_MAIN
