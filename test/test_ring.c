/* SPDX-License-Identifier: Apache-2.0 */
/* The ring operator against an API in memory. */
#include "fake_kube.h"
#include "ring.h"

const char *dm_host_env(const char *name)
{
    return strcmp(name, "DM_LOG") == 0 ? "error" : NULL;
}

int dm_main(void)
{
    ring_start("r0", "r1");
    ring_start("r1", "r2");
    ring_start("r2", "r0");
    return 0;
}

#define RESOURCES(ns) "/apis/amurant.io/v1/namespaces/" ns "/testresources"

static void start(void)
{
    static bool started;
    if (!started)
        CHECK_INT(dm_start(), 0);
    started = true;
    fake_settle();
}

static int64_t nonce(const char *ns, const char *name)
{
    return dm_json_int(dm_json_at(fake_get("testresources", ns, name), "spec.nonce"), -1);
}

TEST(an_object_goes_around)
{
    start();
    fake_do("POST", RESOURCES("r0"), "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"nonce\":1}}");
    CHECK_INT(nonce("r1", "a"), 1);
    CHECK_INT(nonce("r2", "a"), 1);
    CHECK(dm_json_is(dm_json_at(fake_get("testresources", "r2", "a"), "spec.updated_at"),
                     "2023-11-14T22:13:20.123456Z"));
}

TEST(a_round_costs_two_requests_a_hop_and_one_to_end)
{
    start();
    fake_do("POST", RESOURCES("r0"), "{\"metadata\":{\"name\":\"b\"},\"spec\":{\"nonce\":1}}");
    unsigned before = fake.n_requests;
    fake_do("PATCH", RESOURCES("r0") "/b", "{\"spec\":{\"nonce\":7,\"extra\":[1]}}");
    CHECK_INT(nonce("r2", "b"), 7);
    CHECK_INT(fake.n_requests - before, 5);
    before = fake.n_requests;
    fake_do("PATCH", RESOURCES("r0") "/b", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    CHECK_INT(fake.n_requests, before); /* no nonce, no hop */
}

TEST(what_the_ring_does_not_know_stays)
{
    start();
    fake_do("POST", RESOURCES("r1"),
            "{\"metadata\":{\"name\":\"c\",\"labels\":{\"k\":\"v\"},\"managedFields\":[{}]},"
            "\"spec\":{\"nonce\":1,\"other\":{\"deep\":[1,2]}}}");
    fake_do("PATCH", RESOURCES("r0") "/c", "{\"spec\":{\"nonce\":5}}");
    struct dm_json c = fake_get("testresources", "r1", "c");
    CHECK_INT(nonce("r1", "c"), 5);
    CHECK(dm_json_is(dm_label(c, "k"), "v"));
    CHECK_INT((long)dm_json_at(c, "spec.other.deep").n, 5);
    CHECK(!dm_json_at(c, "metadata.managedFields").p);
}

TEST(an_older_nonce_does_not_win)
{
    start();
    fake_do("POST", RESOURCES("r0"), "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"nonce\":9}}");
    fake_do("PATCH", RESOURCES("r0") "/d", "{\"spec\":{\"nonce\":3}}");
    CHECK_INT(nonce("r1", "d"), 9);
}

TEST(a_failed_hop_is_repeated_after_a_second)
{
    start();
    fake.fail_next_write = 503;
    fake_do("POST", RESOURCES("r0"), "{\"metadata\":{\"name\":\"e\"},\"spec\":{\"nonce\":1}}");
    CHECK_INT(fake.last_delay_ms, 1000);
    CHECK_INT(nonce("r2", "e"), 1);
}

TEST(deletions_do_not_travel)
{
    start();
    fake_do("POST", RESOURCES("r0"), "{\"metadata\":{\"name\":\"f\"},\"spec\":{\"nonce\":1}}");
    fake_do("DELETE", RESOURCES("r1") "/f", "{}");
    CHECK_INT(nonce("r1", "f"), -1);
    CHECK_INT(nonce("r2", "f"), 1);
    fake_do("PATCH", RESOURCES("r0") "/f", "{\"spec\":{\"nonce\":2}}");
    CHECK_INT(nonce("r2", "f"), 2);
}

TEST_MAIN
