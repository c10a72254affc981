/* SPDX-License-Identifier: Apache-2.0 */
/* fn/control/plane: sessions, endpoints, lives of sandboxes, fencing and recovery. */
#include "plane_rig.h"

/* Two large structs: not on the stack. */
static struct fake_worker w1, w2;
static struct fake_gateway g1, g2;

static void rig_lead(struct rig *r)
{
    rig_init(r);
    plane_lead(r->plane, 1);
    gateway_hello(r, &g1, "g1", 1, true);
    worker_hello(r, &w1, "w1", 1, 0, NULL, 0);
    CHECK(g1.is_whole);
    CHECK(w1.welcome);
}

static void end(struct rig *r)
{
    rig_fini(r);
    fn_stream_close(take_ptr(&w1.s));
    fn_stream_close(take_ptr(&w2.s));
    fn_stream_close(take_ptr(&g1.s));
    fn_stream_close(take_ptr(&g2.s));
}

/* One sandbox of the function, ready. */
static uint64_t one_ready(struct rig *r, uint32_t f)
{
    gateway_load(r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    worker_created(r, &w1, w1.creates[0].id, NULL, false);
    CHECK_INT(g1.n, 1);
    return w1.creates[0].id;
}

static struct plane_counts counts(struct rig *r)
{
    struct plane_counts n;
    plane_count(r->plane, &n);
    return n;
}

TEST(a_waiting_request_makes_a_sandbox_at_once_and_its_endpoint_is_told)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    CHECK_INT(g1.n_functions, 1);
    CHECK_INT(g1.latest, 1);
    uint64_t id = one_ready(&r, f);
    CHECK_INT(id >> 32, 1); /* the term is in the id */
    CHECK_INT(g1.at[0].id, id);
    CHECK_STR(str_of(g1.at[0].address), "127.0.0.1:1234");
    CHECK_INT(w1.n_functions, 1);
    CHECK_INT(w1.creates[0].function, f);
    CHECK_INT(r.created, 1);
    end(&r);
}

TEST(sandboxes_being_created_are_counted)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    for (int i = 0; i < 5; i++)
        gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    end(&r);
}

TEST(a_failed_creation_is_made_elsewhere)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    worker_hello(&r, &w2, "w2", 1, 0, NULL, 0);
    gateway_load(&r, &g1, f, 1, 0, 1);
    struct fake_worker *first = w1.n_creates ? &w1 : &w2, *second = first == &w1 ? &w2 : &w1;
    CHECK_INT(first->n_creates, 1);
    worker_created(&r, first, first->creates[0].id, "no room", false);
    CHECK_INT(second->n_creates, 0);
    skip(&r, PLANE_RETRY_FIRST_MS);
    CHECK_INT(first->n_creates, 1);
    CHECK_INT(second->n_creates, 1);
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "SandboxFailed");
    worker_created(&r, second, second->creates[0].id, NULL, false);
    CHECK(plane_view(r.plane, f, &v));
    CHECK(v.reason == NULL);
    end(&r);
}

TEST(a_permanent_failure_is_told_to_gateways_and_tried_again_when_somebody_asks_later)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    worker_created(&r, &w1, w1.creates[0].id, "no such module", true);
    CHECK_STR(str_of(g1.reason), "SandboxFailed");
    CHECK(g1.is_permanent);
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    gateway_hello(&r, &g2, "g2", 1, true);
    CHECK(g2.is_permanent); /* a new one is told too */
    gateway_load(&r, &g1, f, 1, 0, 0);
    skip(&r, PLANE_PERMANENT_MS);
    CHECK_STR(str_of(g1.reason), "");
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 2);
    end(&r);
}

TEST(loads_that_no_gateway_can_have_do_not_overflow_the_sum_of_all)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    gateway_hello(&r, &g2, "g2", 1, true);
    gateway_load(&r, &g1, f, 1, UINT32_MAX, UINT32_MAX);
    gateway_load(&r, &g2, f, 1, UINT32_MAX, 5);
    gateway_load(&r, &g1, f, 1, 1, 0);
    fn_stream_close(take_ptr(&g2.s)); /* its share is taken out of the sum */
    turn(&r);
    gateway_load(&r, &g1, f, 1, 0, 0);
    end(&r);
}

TEST(a_sandbox_that_dies_is_replaced)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    worker_hello(&r, &w2, "w2", 1, 0, NULL, 0);
    worker_gone(&r, &w2, id, "Killed"); /* not its own: nothing happens */
    CHECK_INT(g1.n, 1);
    for (int i = 0; i < PLANE_CRASH_MS / 1000; i++) {
        gateway_load(&r, &g1, f, 1, 1, 0);
        skip(&r, 1000);
        worker_breathe(&r, &w1);
    }
    worker_gone(&r, &w1, id, "Killed");
    CHECK_INT(g1.n, 0);
    CHECK_INT(w1.n_creates + w2.n_creates, 2);
    end(&r);
}

/* Equal workers, and yet every time the same: it holds the module. */
TEST(the_next_sandbox_is_made_where_the_one_before_was)
{
    struct rig r;
    rig_lead(&r);
    worker_hello(&r, &w2, "w2", 1, 0, NULL, 0);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    struct fake_worker *first = w1.n_creates ? &w1 : &w2;
    for (uint32_t i = 1; i < 12; i++) {
        uint64_t id = first->creates[i - 1].id;
        worker_created(&r, first, id, NULL, false);
        worker_gone(&r, first, id, "");
        CHECK_INT(first->n_creates, i + 1);
    }
    CHECK_INT(w1.n_creates + w2.n_creates, 12);
    end(&r);
}

TEST(one_that_dies_young_is_replaced_after_a_while)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    gateway_load(&r, &g1, f, 1, 1, 0);
    worker_gone(&r, &w1, id, "Killed");
    CHECK_INT(w1.n_creates, 1);
    skip(&r, PLANE_RETRY_FIRST_MS);
    CHECK_INT(w1.n_creates, 2);
    end(&r);
}

TEST(an_endpoint_that_refuses_connections_goes_and_another_is_made)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    gateway_load(&r, &g1, f, 1, 0, 1);
    gateway_drained(&r, &g1, id, true);
    CHECK_INT(g1.n, 0);
    CHECK_INT(w1.n_deletes, 1);
    CHECK_INT(w1.deletes[0], id);
    CHECK_INT(w1.n_creates, 2);
    end(&r);
}

TEST(idle_sandboxes_are_drained_then_deleted)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    gateway_load(&r, &g1, f, 1, 0, 0);
    for (int i = 0; i < 100 && !g1.at[0].draining; i++) {
        skip(&r, 1000);
        worker_breathe(&r, &w1);
    }
    CHECK(g1.at[0].draining);
    CHECK_INT(w1.n_deletes, 0);
    gateway_drained(&r, &g1, id, false);
    CHECK_INT(w1.n_deletes, 1);
    CHECK_INT(g1.n, 0);
    worker_gone(&r, &w1, id, "");
    CHECK_INT(counts(&r).ready + counts(&r).draining, 0);
    for (int i = 0; i < 100 && counts(&r).awake; i++) {
        skip(&r, 1000);
        worker_breathe(&r, &w1);
    }
    CHECK_INT(counts(&r).awake, 0); /* at rest: no timer */
    end(&r);
}

TEST(a_worker_whose_lease_is_over_loses_its_sandboxes_to_others)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    (void)one_ready(&r, f);
    gateway_load(&r, &g1, f, 1, 1, 0);
    worker_hello(&r, &w2, "w2", 1, 0, NULL, 0);
    for (int i = 0; i < 5; i++) { /* w1 says nothing any more, its stream stays */
        skip(&r, 400);
        worker_breathe(&r, &w2);
    }
    CHECK(w1.ended);
    CHECK_INT(counts(&r).workers, 1);
    CHECK_INT(g1.n, 0);
    CHECK_INT(w2.n_creates, 1);
    end(&r);
}

TEST(a_broken_stream_alone_costs_no_sandbox)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    fn_stream_close(take_ptr(&w1.s));
    turn(&r);
    skip(&r, 300);
    CHECK_INT(g1.n, 1);
    struct rig_existing there = { id, "uid-f", 1, true };
    worker_hello(&r, &w1, "w1", 1, 1, &there, 1);
    CHECK_INT(w1.n_adopts, 1);
    CHECK_INT(w1.n_deletes, 0);
    CHECK_INT(g1.n, 1);
    skip(&r, 1000);
    worker_breathe(&r, &w1);
    skip(&r, 1000);
    CHECK_INT(g1.n, 1);
    end(&r);
}

TEST(an_order_that_was_lost_with_the_stream_is_given_again)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    uint64_t id = w1.creates[0].id;
    fn_stream_close(take_ptr(&w1.s));
    turn(&r);
    worker_hello(&r, &w1, "w1", 1, 1, NULL, 0);
    CHECK_INT(w1.n_creates, 1);
    CHECK_INT(w1.creates[0].id, id);
    CHECK_INT(w1.n_functions, 1); /* told again: it may be another process */
    end(&r);
}

TEST(a_new_leader_adopts_what_workers_have_and_deletes_orphans)
{
    struct rig r;
    rig_init(&r);
    uint32_t f = rig_fake(&r, "f");
    plane_lead(r.plane, 7);
    gateway_hello(&r, &g1, "g1", 1, true);
    struct rig_existing there[] = { { UINT64_C(6) << 32 | 1, "uid-f", 1, true },
                                    { UINT64_C(6) << 32 | 2, "uid-f", 1, true },
                                    { UINT64_C(6) << 32 | 3, "uid-other", 1, true },
                                    { UINT64_C(6) << 32 | 4, "uid-f", 9, true } };
    worker_hello(&r, &w1, "w1", 1, 6, there, 4);
    CHECK_INT(w1.n_adopts, 2);
    CHECK_INT(w1.n_deletes, 2);
    CHECK_INT(counts(&r).orphans, 2);
    CHECK_INT(g1.n, 2);
    /* No scale-down for a stable window, however little load there is. */
    gateway_load(&r, &g1, f, 1, 1, 0);
    for (int i = 0; i < 50; i++) {
        skip(&r, 1000);
        worker_breathe(&r, &w1);
        gateway_load(&r, &g1, f, 1, 1, 0);
    }
    CHECK_INT(g1.n, 2);
    CHECK(!g1.at[0].draining && !g1.at[1].draining);
    for (int i = 0; i < 60; i++) {
        skip(&r, 1000);
        worker_breathe(&r, &w1);
        gateway_load(&r, &g1, f, 1, 1, 0);
    }
    CHECK(g1.at[0].draining || g1.at[1].draining);
    end(&r);
}

TEST(a_follower_redirects_and_a_deposed_leader_ends_all_streams)
{
    struct rig r;
    rig_init(&r);
    plane_follow(r.plane, "10.0.0.9:7070");
    worker_dial(&r, &w1);
    turn(&r);
    CHECK(w1.redirected && w1.ended);
    fn_stream_close(take_ptr(&w1.s));
    plane_lead(r.plane, 2);
    gateway_hello(&r, &g1, "g1", 1, true);
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    uint32_t f = rig_fake(&r, "f");
    (void)one_ready(&r, f);
    plane_follow(r.plane, "10.0.0.9:7070");
    turn(&r);
    CHECK(w1.ended && g1.ended);
    CHECK_INT(w1.n_deletes, 0); /* it tells nobody to do anything */
    CHECK_INT(counts(&r).ready, 0);
    end(&r);
}

TEST(between_two_leaders_streams_are_held)
{
    struct rig r;
    rig_init(&r);
    plane_follow(r.plane, "10.0.0.9:7070");
    plane_expect(r.plane);
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    gateway_hello(&r, &g1, "g1", 1, false);
    CHECK(!w1.welcome && !w1.ended && !g1.welcome && !g1.ended);
    plane_lead(r.plane, 2);
    turn(&r);
    CHECK(w1.welcome && g1.is_whole);
    plane_follow(r.plane, "");
    turn(&r);
    fn_stream_close(take_ptr(&w1.s));
    plane_expect(r.plane);
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    CHECK(!w1.ended);
    plane_follow(r.plane, "10.0.0.9:7070"); /* somebody else was quicker */
    turn(&r);
    CHECK(w1.redirected && w1.ended);
    fn_stream_close(take_ptr(&w1.s));
    plane_expect(r.plane);
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    CHECK(!w1.ended);
    skip(&r, PLANE_HOLD_MS);
    CHECK(w1.redirected && w1.ended);
    end(&r);
}

TEST(who_leads_again_in_the_same_term_gives_new_numbers)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    plane_follow(r.plane, "");
    turn(&r);
    fn_stream_close(take_ptr(&g1.s));
    fn_stream_close(take_ptr(&w1.s));
    plane_lead(r.plane, 1);
    gateway_hello(&r, &g1, "g1", 1, true);
    worker_hello(&r, &w1, "w1", 1, 1, NULL, 0);
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    CHECK(w1.creates[0].id > id);
    end(&r);
}

TEST(who_has_seen_a_higher_term_is_sent_away)
{
    struct rig r;
    rig_init(&r);
    plane_lead(r.plane, 3);
    worker_hello(&r, &w1, "w1", 1, 4, NULL, 0);
    CHECK(!w1.welcome);
    CHECK(w1.redirected);
    CHECK_INT(r.deposed, 1);
    end(&r);
}

TEST(an_older_process_of_the_same_name_is_refused)
{
    struct rig r;
    rig_lead(&r);
    worker_hello(&r, &w2, "w1", 2, 0, NULL, 0);
    CHECK(w2.welcome);
    CHECK(w1.ended); /* the second stream ends the first */
    fn_stream_close(take_ptr(&w1.s));
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    CHECK(!w1.welcome && w1.ended);
    CHECK(!w2.ended);
    end(&r);
}

TEST(a_second_gateway_gets_a_snapshot_and_a_dead_one_leaves_members_and_load)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    gateway_hello(&r, &g2, "g2", 1, false);
    CHECK_INT(g2.n_snapshots, 1);
    CHECK_INT(g2.n, 1);
    CHECK_INT(g2.at[0].id, id);
    CHECK_INT(g2.version, g1.version);
    CHECK_INT(g1.n_members, 2);
    gateway_load(&r, &g2, f, 1, 5, 0);
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.running + v.queued, 6);
    fn_stream_close(take_ptr(&g2.s));
    turn(&r);
    CHECK_INT(g1.n_members, 2); /* a broken stream may come back */
    for (int i = 0; i < 5; i++) {
        skip(&r, 400);
        worker_breathe(&r, &w1);
    }
    CHECK_INT(g1.n_members, 1);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.running + v.queued, 1);
    end(&r);
}

TEST(a_new_revision_with_initial_scale_gets_traffic_when_it_is_ready)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    (void)one_ready(&r, f);
    struct rig_revision two[] = { { 1, "{\"fake\":{}}", true },
                                  { 2, "{\"fake\":{\"createMilliseconds\":5}}", false } };
    CHECK_INT(rig_function(&r, "f",
                           "{\"fake\":{\"createMilliseconds\":5},\"scale\":{\"initial\":1}}", two,
                           2),
              f);
    CHECK_INT(g1.latest, 1);
    CHECK_INT(w1.n_creates, 2);
    CHECK_INT(w1.creates[1].revision, 2);
    worker_created(&r, &w1, w1.creates[1].id, NULL, false);
    CHECK_INT(g1.latest, 2);
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest_ready, 2);
    end(&r);
}

TEST(no_revision_is_called_ready_before_its_initial_sandboxes_are)
{
    struct rig r;
    rig_lead(&r);
    struct rig_revision one[] = { { 1, "{\"fake\":{}}", false } };
    uint32_t f = rig_function(&r, "f", "{\"fake\":{},\"scale\":{\"initial\":1}}", one, 1);
    struct plane_view v;
    CHECK_INT(g1.latest, 1); /* requests wait for it: there is no other */
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest, 1);
    CHECK_INT(v.latest_ready, 0);
    unsigned changes = r.changes;
    CHECK_INT(w1.n_creates, 1);
    worker_created(&r, &w1, w1.creates[0].id, NULL, false);
    CHECK(r.changes > changes);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest_ready, 1);

    struct rig_revision two[] = { { 1, "{\"fake\":{}}", true },
                                  { 2, "{\"fake\":{\"createMilliseconds\":5}}", false } };
    (void)rig_function(&r, "f", "{\"fake\":{\"createMilliseconds\":5},\"scale\":{\"initial\":1}}",
                       two, 2);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest, 2);
    CHECK_INT(v.latest_ready, 1);
    end(&r);
}

static void check_compiling(struct rig *r, uint32_t f, bool is)
{
    struct plane_view v;
    CHECK(plane_view(r->plane, f, &v));
    CHECK_INT(v.is_compiling, is);
}

TEST(a_module_that_is_compiled_is_seen_until_its_sandbox_is_there)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    check_compiling(&r, f, false);
    unsigned changes = r.changes;
    worker_compiling(&r, &w1, 4711); /* of nobody */
    CHECK_INT(r.changes, changes);
    worker_compiling(&r, &w1, w1.creates[0].id);
    CHECK_INT(r.changes, changes + 1);
    check_compiling(&r, f, true);
    worker_created(&r, &w1, w1.creates[0].id, "it does not compile", false);
    CHECK(r.changes > changes + 1);
    check_compiling(&r, f, false);
    end(&r);
}

TEST(a_module_that_was_compiled_is_not_seen_any_more)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    worker_compiling(&r, &w1, w1.creates[0].id);
    check_compiling(&r, f, true);
    unsigned changes = r.changes;
    worker_created(&r, &w1, w1.creates[0].id, NULL, false);
    CHECK(r.changes > changes);
    check_compiling(&r, f, false);
    worker_compiling(&r, &w1, w1.creates[0].id); /* late */
    check_compiling(&r, f, false);
    end(&r);
}

TEST(a_revision_that_failed_is_tried_at_once_when_what_it_lacked_has_come)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    struct plane_view v;
    gateway_load(&r, &g1, f, 1, 0, 1);
    worker_created(&r, &w1, w1.creates[0].id, "no such module", true);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest_ready, 0);
    CHECK_STR(str_of(v.reason), "SandboxFailed");
    plane_try_again(r.plane, f);
    turn(&r);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest_ready, 1);
    CHECK(v.reason == NULL);
    CHECK_INT(w1.n_creates, 2); /* for the request that still waits */
    end(&r);
}

TEST(what_stops_a_revision_is_not_said_of_the_one_after_it)
{
    struct rig r;
    rig_lead(&r);
    static const char *const spec =
        "{\"fake\":{\"createMilliseconds\":5},\"scale\":{\"initial\":1}}";
    struct rig_revision two[] = { { 1, "{\"fake\":{}}", false },
                                  { 2, "{\"fake\":{\"createMilliseconds\":5}}", false } };
    uint32_t f = rig_function(&r, "f", "{\"fake\":{},\"scale\":{\"initial\":1}}", two, 1);
    struct plane_view v;
    CHECK_INT(w1.n_creates, 1);
    worker_created(&r, &w1, w1.creates[0].id, "no such image", false);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "SandboxFailed");
    (void)rig_function(&r, "f", spec, two, 2);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest, 2);
    CHECK(v.reason == NULL);
    CHECK_INT(v.latest_ready, 0);
    CHECK_INT(w1.creates[1].revision, 2);
    worker_created(&r, &w1, w1.creates[1].id, "no such image either", false);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.message), "no such image either");
    skip(&r, PLANE_RETRY_FIRST_MS);
    for (size_t i = 2; i < w1.n_creates; i++)
        if (w1.creates[i].revision == 2)
            worker_created(&r, &w1, w1.creates[i].id, NULL, false);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(v.latest_ready, 2);
    CHECK(v.reason == NULL);
    end(&r);
}

TEST(a_revision_that_failed_is_tried_at_once_with_another_environment)
{
    static const char *const spec =
        "{\"fake\":{},\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\","
        "\"key\":\"k\"}}}],\"scale\":{\"initial\":1}}";
    struct rig r;
    rig_lead(&r);
    struct rig_revision one = { 1, spec, false };
    uint32_t f = rig_function(&r, "f", spec, &one, 1);
    struct fn_name_value var = { STR("A"), STR("wrong") };
    struct plane_env env = { .vars = &var, .n_vars = 1 };
    struct plane_view v;
    plane_set_env(r.plane, f, 1, &env, 0, NULL);
    turn(&r);
    CHECK_INT(w1.n_creates, 1);
    worker_created(&r, &w1, w1.creates[0].id, "not with this one", false);
    plane_set_env(r.plane, f, 1, &env, 0, NULL); /* as it was */
    turn(&r);
    CHECK_INT(w1.n_creates, 1);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "SandboxFailed");
    var.value = STR("right");
    plane_set_env(r.plane, f, 1, &env, 0, NULL);
    turn(&r);
    CHECK(plane_view(r.plane, f, &v));
    CHECK(v.reason == NULL);
    CHECK_INT(w1.n_creates, 2);
    CHECK_STR(str_of(w1.env), "A=right;");
    end(&r);
}

TEST(a_container_without_a_worker_for_it_says_what_such_a_worker_needs)
{
    struct rig r;
    rig_lead(&r);
    struct rig_revision one[] = { { 1, "{\"image\":{\"bundle\":\"web\"}}", false } };
    uint32_t f =
        rig_function(&r, "f", "{\"image\":{\"bundle\":\"web\"},\"scale\":{\"initial\":1}}", one, 1);
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "Unschedulable");
    CHECK(strstr(v.message, "crun") && strstr(v.message, "--bundles"));
    end(&r);
}

TEST(a_revision_that_cannot_be_made_gives_traffic_back)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    (void)one_ready(&r, f);
    struct rig_revision two[] = { { 1, "{\"fake\":{}}", true },
                                  { 2, "{\"fake\":{\"createMilliseconds\":5}}", false } };
    (void)rig_function(&r, "f", "{\"fake\":{\"createMilliseconds\":5}}", two, 2);
    CHECK_INT(g1.latest, 2);
    gateway_load(&r, &g1, f, 2, 0, 1);
    CHECK_INT(w1.creates[1].revision, 2);
    worker_created(&r, &w1, w1.creates[1].id, "it does not compile", true);
    CHECK_INT(g1.latest, 1);
    end(&r);
}

TEST(quotas_of_a_namespace_bound_its_sandboxes)
{
    struct rig r;
    rig_lead(&r);
    struct plane_policy policy = { .sandboxes = 1, .memory = UINT64_MAX, .require_token = true };
    plane_set_policy(r.plane, STR("ns"), &policy);
    uint32_t f = rig_fake(&r, "f"), g = rig_fake(&r, "g");
    CHECK(g1.requires_token);
    uint64_t id = one_ready(&r, f);
    gateway_load(&r, &g1, g, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    struct plane_view v;
    CHECK(plane_view(r.plane, g, &v));
    CHECK_STR(str_of(v.reason), "QuotaExceeded");
    gateway_load(&r, &g1, f, 1, 0, 0);
    plane_drop_function(r.plane, f);
    turn(&r);
    CHECK_INT(w1.deletes[0], id);
    worker_gone(&r, &w1, id, "");
    CHECK_INT(w1.n_creates, 2); /* as soon as there is room */
    CHECK_INT(w1.creates[1].function, g);
    CHECK_INT(w1.n_gone, 1);
    plane_set_policy(r.plane, STR("ns"), NULL);
    turn(&r);
    CHECK(!g1.requires_token);
    end(&r);
}

TEST(a_worker_that_leaves_is_drained_and_gets_nothing_new)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    uint64_t id = one_ready(&r, f);
    gateway_load(&r, &g1, f, 1, 1, 0);
    worker_hello(&r, &w2, "w2", 1, 0, NULL, 0);
    worker_leaves(&r, &w1);
    CHECK(g1.at[0].draining);
    CHECK_INT(w1.n_deletes, 0); /* a request runs there */
    CHECK_INT(w1.n_creates, 1);
    CHECK_INT(w2.n_creates, 1);
    gateway_drained(&r, &g1, id, false);
    CHECK_INT(w1.n_deletes, 1);
    worker_gone(&r, &w1, id, "");
    CHECK_INT(w1.n_creates, 1);
    end(&r);
}

TEST(sandboxes_go_where_labels_say)
{
    static const char *const spec = "{\"fake\":{},\"nodeSelector\":{\"zone\":\"b\"}}";
    struct rig r;
    struct plane_view v;
    rig_zone = "a";
    rig_lead(&r);
    struct rig_revision one = { 1, spec, false };
    uint32_t f = rig_function(&r, "f", spec, &one, 1);
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 0);
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "Unschedulable");
    rig_zone = "b";
    worker_hello(&r, &w2, "w2", 1, 0, NULL, 0);
    rig_zone = NULL;
    CHECK_INT(w1.n_creates, 0);
    CHECK_INT(w2.n_creates, 1);
    end(&r);
}

TEST(without_a_worker_requests_wait_until_one_comes)
{
    struct rig r;
    rig_init(&r);
    plane_lead(r.plane, 1);
    gateway_hello(&r, &g1, "g1", 1, true);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "Unschedulable");
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    CHECK_INT(w1.n_creates, 1);
    end(&r);
}

TEST(environments_are_asked_for_before_a_sandbox_is_made)
{
    static const char *const spec =
        "{\"fake\":{},\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\","
        "\"key\":\"k\"}}}]}";
    struct rig r;
    rig_lead(&r);
    struct rig_revision one = { 1, spec, false };
    uint32_t f = rig_function(&r, "f", spec, &one, 1);
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 0);
    CHECK_INT(r.resolves, 1);
    struct err err = { 0 };
    (void)err_set(&err, E_INVALID, "Secret 's' is not there");
    plane_set_env(r.plane, f, 1, NULL, E_INVALID, &err);
    turn(&r);
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_STR(str_of(v.reason), "EnvironmentUnavailable");
    skip(&r, PLANE_RETRY_FIRST_MS);
    CHECK_INT(r.resolves, 2);
    struct fn_name_value var = { STR("A"), STR("secret") };
    struct plane_env env = { .vars = &var, .n_vars = 1 };
    plane_set_env(r.plane, f, 1, &env, 0, NULL);
    turn(&r);
    CHECK_INT(w1.n_creates, 1);
    CHECK_STR(str_of(w1.env), "A=secret;");
    end(&r);
}

/* A FunctionRevision that somebody has written by hand, and that traffic names. */
TEST(a_function_that_is_refused_leaves_nothing_behind)
{
    struct rig r;
    rig_lead(&r);
    struct fn_spec spec;
    struct err err = { 0 };
    struct json *json;
    CHECK_OK(json_parse(&r.arena, STR("{\"fake\":{}}"), NULL, &json, &err));
    CHECK_OK(fn_spec_read(&r.arena, json, &spec, &err));
    struct plane_revision two[] = { { 1, STR("{\"fake\":{\"createMilliseconds\":-1}}"), true },
                                    { 2, STR("{\"fake\":{}}"), true } };
    struct plane_function f = { .uid = STR("uid-f"),
                                .namespace = STR("ns"),
                                .name = STR("f"),
                                .generation = 1,
                                .spec = &spec,
                                .spec_json = STR("{\"fake\":{}}"),
                                .revisions = two,
                                .n_revisions = 2 };
    for (int i = 0; i < 3; i++)
        CHECK(plane_set_function(r.plane, &f, &err) < 0);
    struct plane_counts n;
    plane_count(r.plane, &n);
    CHECK_INT(n.functions, 0);
    uint32_t number = rig_fake(&r, "f"); /* it has been put right */
    gateway_load(&r, &g1, number, 1, 0, 1);
    CHECK_INT(w1.n_creates, 1);
    end(&r);
}

TEST(min_sandboxes_are_there_before_any_request)
{
    struct rig r;
    rig_lead(&r);
    struct rig_revision one = { 1, "{\"fake\":{}}", false };
    (void)rig_function(&r, "f", "{\"fake\":{},\"scale\":{\"min\":3}}", &one, 1);
    CHECK_INT(w1.n_creates, 3);
    end(&r);
}

TEST(a_function_that_sleeps_costs_little_and_no_timer)
{
    struct rig r;
    rig_lead(&r);
    for (int i = 0; i < 2000; i++) {
        char name[32];
        (void)snprintf(name, sizeof name, "f%d", i);
        (void)rig_fake(&r, name);
    }
    CHECK_INT(g1.n_functions, 2000);
    CHECK_INT(counts(&r).awake, 0);
    gateway_hello(&r, &g2, "g2", 1, true);
    CHECK_INT(g2.n_functions, 2000);
    CHECK(g2.is_whole);
    end(&r);
}

/* Called once; its sandbox has gone again. */
static void use_once(struct rig *r, uint32_t f)
{
    gateway_load(r, &g1, f, 1, 0, 1);
    uint64_t id = w1.creates[w1.n_creates - 1].id;
    CHECK_INT(w1.creates[w1.n_creates - 1].function, f);
    worker_created(r, &w1, id, NULL, false);
    gateway_load(r, &g1, f, 1, 0, 0);
    for (int i = 0; i < 100 && g1.n && !g1.at[0].draining; i++) {
        skip(r, 1000);
        worker_breathe(r, &w1);
    }
    gateway_drained(r, &g1, id, false);
    CHECK_INT(w1.deletes[w1.n_deletes - 1], id);
    worker_gone(r, &w1, id, "");
}

static uint32_t numbered(struct rig *r, int i)
{
    struct rig_revision one = { 1, "{\"fake\":{}}", false };
    char name[32];
    (void)snprintf(name, sizeof name, "f%d", i);
    return rig_function(r, name, "{\"fake\":{},\"scale\":{\"idleMilliseconds\":1000}}", &one, 1);
}

TEST(workers_forget_functions_that_have_rested_longest_and_hear_of_them_again)
{
    struct rig r;
    rig_lead(&r);
    uint32_t first = numbered(&r, 0), second = numbered(&r, 1);
    use_once(&r, first);
    use_once(&r, second);
    use_once(&r, first); /* that is no rest: now the second rests longest */
    for (int i = 2; i < PLANE_RESTING_MAX; i++)
        use_once(&r, numbered(&r, i));
    CHECK_INT(w1.n_resting, 0);
    CHECK_INT(w1.n_functions, PLANE_RESTING_MAX);
    use_once(&r, numbered(&r, PLANE_RESTING_MAX));
    CHECK_INT(w1.n_resting, 1);
    CHECK_INT(w1.resting, second);
    use_once(&r, second);
    CHECK_INT(w1.n_functions, PLANE_RESTING_MAX + 2); /* sent again before the create */
    CHECK_INT(w1.n_resting, 2);
    CHECK_INT(w1.resting, first);
    CHECK_INT(w1.n_gone, 0);
    plane_drop_function(r.plane, second);
    plane_drop_function(r.plane, first);
    turn(&r);
    CHECK_INT(w1.n_gone, 1); /* by number, since it knows it */
    CHECK_STR(str_of(w1.deleted), "ns/f0");
    end(&r);
}

TEST(a_worker_need_not_know_what_it_could_not_make)
{
    struct rig r;
    rig_lead(&r);
    uint32_t f = rig_fake(&r, "f");
    gateway_load(&r, &g1, f, 1, 0, 1);
    worker_created(&r, &w1, w1.creates[0].id, "no such module", true);
    CHECK_INT(w1.n_resting, 1);
    CHECK_INT(w1.resting, f);
    skip(&r, PLANE_PERMANENT_MS);
    gateway_load(&r, &g1, f, 1, 0, 1);
    CHECK_INT(w1.n_creates, 2);
    CHECK_INT(w1.n_functions, 2);
    end(&r);
}

/* ---- addresses that workers name ---- */

struct named {
    const char *from, *worker, *sandbox;
};

static void speak_as(const struct named *n)
{
    rig_from = n ? n->from : "127.0.0.1";
    rig_worker_address = n ? n->worker : "127.0.0.1:7000";
    rig_sandbox_address = n && n->sandbox ? n->sandbox : "127.0.0.1:1234";
}

static const struct plane_opts with_networks = {
    .worker_networks =
        (const char *const[]){ "192.168.7.0/24", "fd00:7::/32", "10.9.9.9", "w9.example" },
    .n_worker_networks = 4,
    .containers = "10.213.0.0/16"
};

static bool is_gateway_taken(struct named n)
{
    struct rig r;
    rig_init_with(&r, with_networks);
    plane_lead(r.plane, 1);
    rig_from = n.from;
    rig_gateway_address = n.worker;
    gateway_hello(&r, &g1, "g1", 1, false);
    rig_gateway_address = "127.0.0.1:80";
    rig_from = "127.0.0.1";
    bool taken = g1.welcome;
    CHECK(taken || (g1.ended && str_find(str_of(g1.refusal), STR("address")) >= 0));
    CHECK_INT(counts(&r).refused, !taken);
    CHECK_INT(counts(&r).gateways, taken);
    end(&r);
    return taken;
}

static bool is_worker_taken(const struct plane_opts *opts, struct named n)
{
    struct rig r;
    rig_init_with(&r, *opts);
    plane_lead(r.plane, 1);
    speak_as(&n);
    worker_hello(&r, &w1, "w1", 1, 0, NULL, 0);
    speak_as(NULL);
    bool taken = w1.welcome;
    CHECK(taken || (w1.ended && str_find(str_of(w1.refusal), STR("address")) >= 0));
    CHECK_INT(counts(&r).refused, !taken);
    CHECK_INT(counts(&r).workers, taken);
    end(&r);
    return taken;
}

TEST(a_worker_or_gateway_has_the_address_that_it_dials_from_or_one_that_is_allowed)
{
    static const struct named good[] = {
        { "10.0.0.7", "10.0.0.7:7080", NULL },      { "::ffff:10.0.0.7", "10.0.0.7:7080", NULL },
        { "fd00::7", "[fd00::7]:7080", NULL },      { "fd00::7", "[fd00:0:0::7]:7080", NULL },
        { "127.0.0.1", "127.0.0.1:7080", NULL },    { "::1", "127.0.0.1:7080", NULL },
        { "127.0.0.1", "localhost:7080", NULL },    { "10.0.0.7", "192.168.7.200:7080", NULL },
        { "10.0.0.7", "[fd00:7:1::1]:7080", NULL }, { "10.0.0.7", "10.9.9.9:7080", NULL },
        { "10.0.0.7", "w9.example:7080", NULL },    { "10.0.0.7", "", NULL }
    };
    static const struct named bad[] = { { "10.0.0.7", "10.0.0.8:7080", NULL },
                                        { "10.0.0.7", "127.0.0.1:6443", NULL },
                                        { "10.0.0.7", "localhost:6443", NULL },
                                        { "10.0.0.7", "[::1]:6443", NULL },
                                        { "10.0.0.7", "169.254.169.254:80", NULL },
                                        { "10.0.0.7", "10.213.0.5:80", NULL },
                                        { "127.0.0.1", "10.213.0.5:80", NULL },
                                        { "127.0.0.1", "127.0.0.1:7070", NULL },
                                        { "10.0.0.7", "192.168.8.1:80", NULL },
                                        { "10.0.0.7", "api.example:443", NULL },
                                        { "10.0.0.7", "w9.example.net:443", NULL },
                                        { "10.0.0.7", "unix:/run/some.sock", NULL },
                                        { "10.0.0.7", "10.0.0.7", NULL },
                                        { "10.0.0.7", "10.0.0.7:0", NULL },
                                        { "10.0.0.7", ":80", NULL },
                                        { "10.0.0.7", "10.0.0.7:80:80", NULL },
                                        { "unknown", "127.0.0.1:80", NULL },
                                        { "", "127.0.0.1:80", NULL } };
    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        if (!is_worker_taken(&with_networks, good[i]) || !is_gateway_taken(good[i]))
            TEST_FAIL("%s from %s", good[i].worker, good[i].from);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (is_worker_taken(&with_networks, bad[i]) || is_gateway_taken(bad[i]))
            TEST_FAIL("%s from %s", bad[i].worker, bad[i].from);
}

TEST(with_tls_a_worker_may_have_a_name_because_gateways_check_its_certificate)
{
    struct named n = { "10.0.0.7", "w1.example:7080", NULL };
    struct plane_opts opts = { .has_tls = true };
    CHECK(is_worker_taken(&opts, n));
    struct named ours = { "127.0.0.1", "127.0.0.1:7070", NULL };
    CHECK(!is_worker_taken(&opts, ours)); /* whose certificate is good */
    opts.has_tls = false;
    CHECK(!is_worker_taken(&opts, n));
}

/* ret: what the gateway was told, or "". The worker is ordered to delete what it made otherwise. */
static struct fake_endpoint endpoint_of(struct named n, bool is_recovered)
{
    struct rig r;
    rig_init_with(&r, with_networks);
    plane_lead(r.plane, 7);
    gateway_hello(&r, &g1, "g1", 1, true);
    uint32_t f = rig_fake(&r, "f");
    struct rig_existing there = { UINT64_C(6) << 32 | 1, "uid-f", 1, true };
    speak_as(&n);
    worker_hello(&r, &w1, "w1", 1, 6, &there, is_recovered);
    CHECK(w1.welcome);
    if (!is_recovered) {
        gateway_load(&r, &g1, f, 1, 0, 1);
        CHECK_INT(w1.n_creates, 1);
        worker_created(&r, &w1, w1.creates[0].id, NULL, false);
    }
    struct plane_view v;
    CHECK(plane_view(r.plane, f, &v));
    CHECK_INT(g1.n, w1.n_deletes == 0);
    CHECK_INT(counts(&r).refused, w1.n_deletes);
    if (!is_recovered && w1.n_deletes) {
        CHECK_STR(str_of(v.reason), "AddressDenied");
        CHECK(str_find(str_of(v.message), str_of(n.sandbox)) > 0);
        CHECK_INT(w1.deletes[0], w1.creates[0].id);
    }
    plane_check(r.plane);
    struct fake_endpoint got = g1.n ? g1.at[0] : (struct fake_endpoint){ 0 };
    speak_as(NULL);
    end(&r);
    return got;
}

TEST(sandboxes_have_addresses_of_their_worker_alone)
{
    static const struct named good[] = { { "10.0.0.7", "10.0.0.7:7080", "10.0.0.7:9999" },
                                         { "10.0.0.7", "", "10.0.0.7:9999" },
                                         { "10.0.0.7", "10.0.0.7:7080", "192.168.7.3:80" },
                                         { "127.0.0.1", "127.0.0.1:7080", "127.0.0.1:9999" },
                                         { "127.0.0.1", "127.0.0.1:7080", "10.213.4.5:80" } };
    static const struct named bad[] = { { "10.0.0.7", "10.0.0.7:7080", "10.0.0.8:9999" },
                                        { "10.0.0.7", "10.0.0.7:7080", "10.213.4.5:80" },
                                        { "10.0.0.7", "10.0.0.7:7080", "127.0.0.1:6443" },
                                        { "10.0.0.7", "10.0.0.7:7080", "169.254.169.254:80" },
                                        { "10.0.0.7", "10.0.0.7:7080", "metadata.example:80" },
                                        { "10.0.0.7", "10.0.0.7:7080", "unix:/run/some.sock" },
                                        { "10.0.0.7", "10.0.0.7:7080", "10.0.0.7:" },
                                        { "127.0.0.1", "127.0.0.1:7080", "10.214.4.5:80" },
                                        { "127.0.0.1", "127.0.0.1:7080", "127.0.0.1:7070" },
                                        { "127.0.0.1", "127.0.0.1:7080", "unix:/run/some.sock" } };
    for (int is_recovered = 0; is_recovered < 2; is_recovered++) {
        for (size_t i = 0; i < ARRAY_LEN(good); i++) {
            struct fake_endpoint e = endpoint_of(good[i], is_recovered);
            CHECK_STR(str_of(e.address), good[i].sandbox);
        }
        for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
            struct fake_endpoint e = endpoint_of(bad[i], is_recovered);
            CHECK_STR(str_of(e.address), "");
        }
    }
}

TEST_MAIN
