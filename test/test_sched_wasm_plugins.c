/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wasm plugins in a scheduler: loaded from a configuration, in cycles, in dry runs of preemption,
 * as queueing hints; what fails in them, and what a reload changes. The API is played by the test.
 */
#include "sched_wasm_rig.h"

#include <sys/resource.h>

TEST(a_guest_filters_and_a_pod_is_bound_where_it_says)
{
    struct rig r;
    setup(&r, slot(&r, ""));
    CHECK_INT(wplugins_count(r.plugins), 1);
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "a", "", 0);
    CHECK_STR(decided(&r), "a=n1,");
    CHECK_INT(answer_all(&r, "POST /api/v1/namespaces/d/pods/a/binding"), 1);
    /* Assumed, not yet told by a watch: the guest sees it on the node. */
    put_pod(&r, "b", "", 0);
    CHECK(str_find(decided(&r), STR("b:0/1 nodes are available: 1 the slot is taken.")) == 0);
    teardown(&r);
}

TEST(preemption_asks_forks_of_the_guest)
{
    struct rig r;
    setup(&r, slot(&r, ""));
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "low", "n1", 0);
    put_pod(&r, "high", "", 1000);
    CHECK(str_find(decided(&r), STR("the slot is taken")) > 0);
    /* Without the lower one it fits; with that put back it would not, so that one has to go. */
    unsigned n_deleted = 0;
    for (int i = 0; i < 8 && !n_deleted; i++)
        n_deleted += answer_all(&r, "DELETE /api/v1/namespaces/d/pods/low");
    CHECK_INT(n_deleted, 1);
    sched_del(r.sched, SCHED_POD, STR("d"), STR("low"), r.now_ms);
    (void)answer_all(&r, "");
    r.now_ms += 60000;
    CHECK_STR(decided(&r), "high=n1,");
    teardown(&r);
}

TEST(preemption_asks_a_guest_that_no_node_came_to)
{
    struct rig r;
    scoped(free_scoped) char *guest =
        xasprintf("guestURL: \"file://%s/sched_filter.wasm\"", getenv("TEST_WASM_DIR"));
    setup(&r, guest);
    begin(&r);
    put_node(&r, "n1", "");
    put(&r, SCHED_POD,
        "{\"metadata\":{\"name\":\"low\",\"namespace\":\"d\",\"uid\":\"l\"},\"spec\":{"
        "\"schedulerName\":\"default-scheduler\",\"nodeName\":\"n1\",\"containers\":[{\"name\":"
        "\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}");
    /* NodeResourcesFit refuses the node before the guest is asked: it has no instance for it. */
    put(&r, SCHED_POD,
        "{\"metadata\":{\"name\":\"high\",\"namespace\":\"d\",\"uid\":\"h\"},\"spec\":{"
        "\"schedulerName\":\"default-scheduler\",\"priority\":1000,\"containers\":[{\"name\":"
        "\"c\",\"resources\":{\"requests\":{\"cpu\":\"3\"}}}]}}");
    CHECK(str_find(decided(&r), STR("1 Insufficient cpu")) > 0);
    unsigned n_deleted = 0;
    for (int i = 0; i < 8 && !n_deleted; i++)
        n_deleted += answer_all(&r, "DELETE /api/v1/namespaces/d/pods/low");
    CHECK_INT(n_deleted, 1);
    teardown(&r);
}

TEST(a_cycle_keeps_little_of_what_a_guest_says_and_asks_for)
{
    struct rig r;
    scoped(free_scoped) char *guest = xasprintf(
        "guestURL: \"file://%s/sched_filter.wasm\", guestConfig: long", getenv("TEST_WASM_DIR"));
    setup(&r, guest);
    begin(&r);
    for (int i = 1; i <= 40; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        put_node(&r, name, "");
    }
    put_pod(&r, "there", "n1", 0);
    put_pod(&r, "a", "", 0);
    struct rusage before, after;
    CHECK_INT(getrusage(RUSAGE_SELF, &before), 0);
    struct str text = decided(&r);
    CHECK_INT(getrusage(RUSAGE_SELF, &after), 0);
    CHECK(str_find(text, STR("a:0/40 nodes are available: 40 xxxxx")) == 0);
    CHECK(text.n < 10000);
    /* 16 MB said of each of 40 nodes, and as much asked for. */
    CHECK(after.ru_maxrss - before.ru_maxrss < (300 << 10));
    teardown(&r);
}

TEST(hints_of_a_guest_decide_when_a_pod_is_tried_again)
{
    struct rig r;
    setup(&r, slot(&r, ""));
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "first", "n1", 2000);
    put_pod(&r, "second", "", 0);
    CHECK(str_find(decided(&r), STR("second:")) == 0);
    r.now_ms += 60000;
    put_node(&r, "n1", "\"more\":\"labels\""); /* an event that the guest does not care for */
    (void)answer_all(&r, "");
    CHECK_STR(decided(&r), "");
    sched_del(r.sched, SCHED_POD, STR("d"), STR("first"), r.now_ms);
    r.now_ms += 60000;
    CHECK_STR(decided(&r), "second=n1,");
    teardown(&r);
}

TEST(a_guest_that_traps_fails_the_attempt_and_nothing_else)
{
    struct rig r;
    setup(&r, slot(&r, ", guestConfig: trap"));
    begin(&r);
    put_node(&r, "n1", "");
    put_pod(&r, "a", "", 0);
    struct str text = decided(&r);
    CHECK(str_find(text, STR("wasm: filter error: wasm error: unreachable")) > 0);
    CHECK(str_find(text, STR("wasm stack trace:")) > 0);
    r.now_ms += 60000;
    (void)answer_all(&r, "");
    CHECK(str_find(decided(&r), STR("unreachable")) > 0); /* tried again, in a new instance */
    struct wplugins *broken = r.plugins;
    load(&r, slot(&r, ""));
    struct err err = { 0 };
    CHECK_OK(sched_reload(r.sched, &r.config, wplugins_foreign(r.plugins), true, &err));
    wplugins_release(broken);
    r.now_ms += 600000;
    CHECK_STR(decided(&r), "a=n1,");
    teardown(&r);
}

TEST(a_guest_has_so_much_time_for_a_pod)
{
    struct rig r;
    setup(&r, slot(&r, ", guestConfig: spin!"));
    wplugins_limit_attempts(r.plugins, 1);
    begin(&r);
    put_node(&r, "n1", "");
    put_node(&r, "n2", ""); /* the one that is looked at second comes too late */
    put_pod(&r, "a", "", 0);
    CHECK(str_find(decided(&r), STR("wasm: the calls for this pod took longer than 1 ms")) > 0);
    r.now_ms += 60000;
    (void)answer_all(&r, "");
    /* The plugin rests: it is not called for a while, and the attempt takes no time. */
    CHECK(str_find(decided(&r), STR("wasm: the plugin took too long, it is called again in")) > 0);
    r.now_ms += 60000;
    (void)answer_all(&r, "");
    wplugins_limit_attempts(r.plugins, 60000); /* each attempt has its own */
    CHECK(str_find(decided(&r), STR("a=n")) == 0);
    teardown(&r);
}

TEST(what_cannot_be_loaded_says_why_in_upstreams_words)
{
    struct rig r;
    setup(&r, "guestURL: \"file:///does/not/exist.wasm\"");
    CHECK(!r.plugins);
    CHECK(strstr(err_text(&r.load_err), "initializing plugin \"guest\": "));
    CHECK(strstr(err_text(&r.load_err), "no such file or directory"));
    load(&r, "guestURL: 3");
    CHECK(!r.plugins);
    CHECK(strstr(err_text(&r.load_err), "failed to decode into guest PluginConfig: "));
    teardown(&r);
}

TEST_MAIN
