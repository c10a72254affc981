/* SPDX-License-Identifier: Apache-2.0 */
/* kube/leader: who leads, by a Lease in a cluster that is played by hand. */
#include "client/leader.h"

#include "codec/json.h"
#include "fake_transport.h"
#include "test.h"

struct rig {
    struct loop loop;
    struct fake fake;
    struct leader *leader;
    struct arena arena;
    unsigned changes, done;
    bool leads;
};

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void on_change(void *arg, bool leads)
{
    struct rig *r = arg;
    r->changes++;
    r->leads = leads;
}

static void on_done(void *arg)
{
    struct rig *r = arg;
    r->done++;
}

static void rig_init_with(struct rig *r, struct leader_opts opts)
{
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, NULL));
    fake_init(&r->fake);
    opts.loop = &r->loop;
    opts.transport = &r->fake.base;
    opts.namespace = "ns";
    opts.name = "l";
    opts.identity = "me";
    opts.on_change = on_change;
    opts.arg = r;
    r->leader = leader_start(&opts);
    turn(r);
    CHECK_INT(r->fake.n, 1);
    CHECK_STR(str_of(r->fake.call[0].method), "GET");
    CHECK_STR(str_of(r->fake.call[0].target),
              "/apis/coordination.k8s.io/v1/namespaces/ns/leases/l");
}

static void rig_init(struct rig *r)
{
    rig_init_with(r, (struct leader_opts){ 0 });
}

static void rig_fini(struct rig *r)
{
    if (r->leader)
        leader_stop(r->leader, on_done, r);
    turn(r);
    for (size_t i = 0; i < r->fake.n; i++)
        if (!r->fake.call[i].ended)
            fake_end(&r->fake.call[i], -ECANCELED);
    turn(r);
    CHECK_INT(r->done, 1);
    arena_fini(&r->arena);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

#define LEASE(holder, version, transitions)                                                        \
    "{\"metadata\":{\"name\":\"l\",\"resourceVersion\":\"" version "\"},\"spec\":{"                \
    "\"holderIdentity\":\"" holder "\",\"leaseDurationSeconds\":15,"                               \
    "\"acquireTime\":\"2026-01-01T00:00:00.000000Z\","                                             \
    "\"renewTime\":\"2026-01-01T00:00:00.000000Z\",\"leaseTransitions\":" transitions "}}"

static void answer(struct rig *r, size_t i, int status, const char *body)
{
    fake_head(&r->fake.call[i], status);
    fake_data(&r->fake.call[i], body);
    fake_end(&r->fake.call[i], 0);
    turn(r);
}

static struct json *spec_of(struct rig *r, size_t i)
{
    struct json *lease;
    CHECK_OK(json_parse(&r->arena, str_of(r->fake.call[i].body), NULL, &lease, NULL));
    return json_getc(lease, "spec");
}

TEST(a_lease_that_is_not_there_is_made_and_led_by)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 404, "{}");
    CHECK_STR(str_of(r.fake.call[1].method), "POST");
    CHECK_STR(json_get_str(spec_of(&r, 1), "holderIdentity"), "me");
    CHECK_INT(json_int_or(json_getc(spec_of(&r, 1), "leaseDurationSeconds"), 0), 15);
    CHECK(!r.leads);
    answer(&r, 1, 201, LEASE("me", "5", "0"));
    CHECK(r.leads && leader_leads(r.leader));
    CHECK_INT(r.changes, 1);
    rig_fini(&r);
}

TEST(a_lease_counts_from_when_it_was_asked_for)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 404, "{}");
    loop_skip(&r.loop, LEADER_DEADLINE_MS);
    answer(&r, 1, 201, LEASE("me", "5", "0"));
    CHECK(!r.leads); /* others may take it 5 s from now */
    rig_fini(&r);
    rig_init(&r);
    answer(&r, 0, 404, "{}");
    loop_skip(&r.loop, LEADER_DEADLINE_MS - 1000);
    answer(&r, 1, 201, LEASE("me", "5", "0"));
    CHECK(r.leads);
    loop_skip(&r.loop, 1001);
    turn(&r);
    CHECK(!r.leads);
    rig_fini(&r);
}

TEST(who_was_not_the_first_follows_whatever_the_times_say)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 404, "{}");
    answer(&r, 1, 409, "{}");
    CHECK(!r.leads);
    rig_fini(&r);
    rig_init(&r); /* its renewal looks months old, but was only seen now */
    answer(&r, 0, 200, LEASE("other", "7", "3"));
    CHECK_INT(r.fake.n, 1);
    CHECK(!r.leads);
    rig_fini(&r);
}

TEST(a_lease_that_was_let_go_is_taken_at_once)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 200, LEASE("", "7", "3"));
    CHECK_STR(str_of(r.fake.call[1].method), "PUT");
    struct json *spec = spec_of(&r, 1);
    CHECK_STR(json_get_str(spec, "holderIdentity"), "me");
    CHECK_INT(json_int_or(json_getc(spec, "leaseTransitions"), 0), 4);
    CHECK(strstr(r.fake.call[1].body, "\"resourceVersion\":\"7\""));
    answer(&r, 1, 200, LEASE("me", "8", "4"));
    CHECK(r.leads);
    rig_fini(&r);
}

TEST(who_leads_lets_go_on_the_way_out)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 404, "{}");
    answer(&r, 1, 201, LEASE("me", "5", "0"));
    leader_stop(take_ptr(&r.leader), on_done, &r);
    turn(&r);
    CHECK_INT(r.fake.n, 3);
    CHECK_STR(str_of(r.fake.call[2].method), "PUT");
    CHECK_STR(json_get_str(spec_of(&r, 2), "holderIdentity"), "");
    CHECK_INT(r.done, 0);
    answer(&r, 2, 200, LEASE("", "6", "0"));
    CHECK_INT(r.done, 1);
    CHECK_INT(r.changes, 1);
    rig_fini(&r);
}

TEST(who_follows_leaves_the_lease_alone)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 200, LEASE("other", "7", "3"));
    leader_stop(take_ptr(&r.leader), on_done, &r);
    turn(&r);
    CHECK_INT(r.fake.n, 1);
    CHECK_INT(r.done, 1);
    rig_fini(&r);
}

TEST(garbage_is_no_lease)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 200, "nonsense");
    CHECK_INT(r.fake.n, 1);
    CHECK(!r.leads);
    rig_fini(&r);
}

TEST(the_lease_of_a_holder_that_has_ended_is_taken_at_once)
{
    struct rig r;
    rig_init_with(&r,
                  (struct leader_opts){ .lease_ms = 1000, .deadline_ms = 750, .retry_ms = 250 });
    answer(&r, 0, 200, LEASE("other", "7", "3"));
    CHECK_STR(str_of(leader_holder(r.leader)), "other");
    leader_holder_gone(r.leader, "other");
    turn(&r);
    CHECK_INT(r.fake.n, 2);
    answer(&r, 1, 200, LEASE("other", "7", "3"));
    CHECK_STR(str_of(r.fake.call[2].method), "PUT");
    CHECK_INT(json_int_or(json_getc(spec_of(&r, 2), "leaseTransitions"), 0), 4);
    CHECK_INT(json_int_or(json_getc(spec_of(&r, 2), "leaseDurationSeconds"), 0), 1);
    answer(&r, 2, 200, LEASE("me", "8", "4"));
    CHECK(r.leads);
    CHECK_INT(leader_term(r.leader), 5);
    rig_fini(&r);
}

TEST(somebody_who_was_quicker_after_an_end_is_followed)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 200, LEASE("other", "7", "3"));
    leader_holder_gone(r.leader, "other");
    turn(&r);
    answer(&r, 1, 200, LEASE("third", "8", "4"));
    CHECK_INT(r.fake.n, 2);
    CHECK(!r.leads);
    rig_fini(&r);
}

TEST(one_that_is_alone_takes_any_lease_and_arms_no_timer)
{
    struct rig r;
    rig_init_with(&r, (struct leader_opts){ .alone = true });
    answer(&r, 0, 200, LEASE("me before", "7", "3"));
    CHECK_INT(json_int_or(json_getc(spec_of(&r, 1), "leaseDurationSeconds"), 0), LEADER_ENDLESS_S);
    CHECK(str_find(str_of(r.fake.call[1].body), STR("\"" LEADER_LABEL "\":\"true\"")) >= 0);
    answer(&r, 1, 200, LEASE("me", "8", "4"));
    CHECK(r.leads);
    CHECK(loop_next_timer_ms(&r.loop) == UINT64_MAX);
    leader_look(r.leader); /* it still answers to those that ask */
    turn(&r);
    answer(&r, 2, 200, LEASE("me", "8", "4"));
    answer(&r, 3, 200, LEASE("me", "9", "4"));
    CHECK(r.leads);
    CHECK(loop_next_timer_ms(&r.loop) == UINT64_MAX);
    rig_fini(&r);
}

TEST(a_lease_without_end_is_taken_only_when_its_holder_is_known_to_be_gone)
{
    struct rig r;
    rig_init(&r);
    answer(&r, 0, 200,
           "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"other\","
           "\"leaseDurationSeconds\":2147483647,\"leaseTransitions\":3}}");
    loop_skip(&r.loop, UINT64_C(40) * 24 * 3600 * 1000);
    turn(&r);
    CHECK_INT(r.fake.n, 2);
    CHECK_STR(str_of(r.fake.call[1].method), "GET");
    answer(&r, 1, 200,
           "{\"metadata\":{\"resourceVersion\":\"7\"},\"spec\":{\"holderIdentity\":\"other\","
           "\"leaseDurationSeconds\":2147483647,\"leaseTransitions\":3}}");
    CHECK_INT(r.fake.n, 2);
    leader_holder_gone(r.leader, "other");
    turn(&r);
    answer(&r, 2, 200, LEASE("other", "7", "3"));
    CHECK_STR(str_of(r.fake.call[3].method), "PUT");
    rig_fini(&r);
}

TEST_MAIN
