/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator/identity and operator/client: as whom operators ask, how often, and what they may; the
 * cluster is a transport played by hand.
 */
#include "operator/client.h"

#include "codec/json.h"
#include "fake_transport.h"
#include "operator/identity_transport.h"
#include "test.h"

struct rig {
    struct loop loop;
    struct fake fake;
    struct identities *ids;
    struct operator_client *client;
};

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_init(struct rig *r, enum identity_mode mode, uint32_t per_second, uint32_t burst)
{
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, NULL));
    fake_init(&r->fake);
    struct identities_opts opts = { .loop = &r->loop, .transport = &r->fake.base, .mode = mode };
    r->ids = identities_new(&opts);
    struct identity_spec spec = {
        .namespace = "ns", .account = "a", .create = true, .owner = "op", .owner_uid = "u-1"
    };
    struct identity *id = identity_of(r->ids, &spec);
    struct operator_client_opts client = { .loop = &r->loop,
                                           .transport = &r->fake.base,
                                           .identity = id,
                                           .per_second = per_second,
                                           .burst = burst };
    r->client = operator_client_new(&client);
    identity_unref(id);
}

static void rig_fini(struct rig *r)
{
    operator_client_free(r->client);
    identities_close(r->ids);
    fake_settle(&r->fake);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

/* One request through the client, and what became of it. */
struct asked {
    struct exchange *call;
    int status, ends, r;
    struct err err;
};

static void on_head(void *arg, int status, const struct headers *headers)
{
    ((struct asked *)arg)->status = status;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct asked *a = arg;
    a->ends++;
    a->r = r;
    if (err)
        a->err = *err;
}

static const struct exchange_events events = { .on_head = on_head, .on_end = on_end };

static void ask(struct rig *r, struct asked *a)
{
    struct kube_request req = { .method = STR("GET"), .target = STR("/api/v1/pods") };
    *a = (struct asked){ 0 };
    CHECK_OK(
        transport_start(operator_client_transport(r->client), &req, &events, a, &a->call, NULL));
}

static void answer(struct rig *r, size_t i, int status, const char *body)
{
    CHECK(i < r->fake.n);
    fake_head(&r->fake.call[i], status);
    fake_data(&r->fake.call[i], body);
    fake_end(&r->fake.call[i], 0);
    turn(r);
}

static const char account[] = "{\"metadata\":{\"name\":\"a\",\"uid\":\"sa-1\"}}";
#define TOKEN(t, s) "{\"spec\":{\"expirationSeconds\":" s "},\"status\":{\"token\":\"" t "\"}}"

TEST(a_request_waits_for_the_account_and_speaks_as_it)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    CHECK_INT(r.fake.n, 1);
    CHECK_STR(str_of(r.fake.call[0].target), "/api/v1/namespaces/ns/serviceaccounts/a");
    CHECK_STR(str_of(r.fake.call[0].user), ""); /* the host asks that */
    answer(&r, 0, 200, account);
    CHECK_INT(r.fake.n, 2);
    CHECK_STR(str_of(r.fake.call[1].target), "/api/v1/pods");
    CHECK_STR(str_of(r.fake.call[1].user), "system:serviceaccount:ns:a");
    answer(&r, 1, 200, "{}");
    CHECK_INT(a.status, 200);
    CHECK_INT(a.ends, 1);
    ask(&r, &a); /* the next one goes at once */
    CHECK_INT(r.fake.n, 3);
    answer(&r, 2, 404, "{}");
    rig_fini(&r);
}

TEST(a_missing_account_is_made_and_belongs_to_its_operator)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 404, "{}");
    CHECK_STR(str_of(r.fake.call[1].method), "POST");
    CHECK_STR(str_of(r.fake.call[1].target), "/api/v1/namespaces/ns/serviceaccounts");
    CHECK(strstr(r.fake.call[1].body, "\"kind\":\"Operator\",\"name\":\"op\",\"uid\":\"u-1\""));
    answer(&r, 1, 201, account);
    CHECK_STR(str_of(r.fake.call[2].user), "system:serviceaccount:ns:a");
    answer(&r, 2, 200, "{}");
    rig_fini(&r);
}

TEST(an_account_that_cannot_be_had_fails_requests_with_the_reason)
{
    struct rig r;
    struct asked a;
    struct kube_request req = { .method = STR("GET"), .target = STR("/api/v1/pods") };
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 404, "{}");
    answer(&r, 1, 403, "{\"message\":\"you may not\"}");
    CHECK_INT(a.r, E_DENIED);
    CHECK(strstr(a.err.text, "make service account 'ns/a': you may not"));
    CHECK_INT(r.fake.n, 2);
    struct exchange *call; /* not a request for each request */
    CHECK_INT(transport_start(operator_client_transport(r.client), &req, &events, &a, &call, NULL),
              E_DENIED);
    CHECK_INT(r.fake.n, 2);
    rig_fini(&r);
}

TEST(elsewhere_a_token_speaks_and_one_that_is_refused_is_fetched_anew)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_TOKEN, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    CHECK_STR(str_of(r.fake.call[1].target), "/api/v1/namespaces/ns/serviceaccounts/a/token");
    answer(&r, 1, 201, TOKEN("t-1", "3600"));
    CHECK_STR(str_of(r.fake.call[2].token), "t-1");
    answer(&r, 2, 401, "{}");
    CHECK_INT(a.status, 401);
    ask(&r, &a);
    CHECK_STR(str_of(r.fake.call[3].target), "/api/v1/namespaces/ns/serviceaccounts/a/token");
    answer(&r, 3, 201, TOKEN("t-2", "3600"));
    CHECK_STR(str_of(r.fake.call[4].token), "t-2");
    answer(&r, 4, 200, "{}");
    struct identities_stats stats;
    identities_get_stats(r.ids, &stats);
    CHECK_INT(stats.token_requests, 2);
    CHECK_INT(stats.tokens, 1);
    rig_fini(&r);
}

TEST(a_renewal_that_fails_leaves_the_token_that_is_there)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_TOKEN, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    answer(&r, 1, 201, TOKEN("t-1", "3600"));
    answer(&r, 2, 200, "{}");
    loop_skip(&r.loop, 3000000); /* 50 of 60 minutes: it is renewed */
    turn(&r);
    CHECK_STR(str_of(r.fake.call[3].target), "/api/v1/namespaces/ns/serviceaccounts/a/token");
    answer(&r, 3, 500, "{}");
    ask(&r, &a);
    CHECK_STR(str_of(r.fake.call[4].token), "t-1");
    answer(&r, 4, 200, "{}");
    CHECK_INT(a.status, 200);
    loop_skip(&r.loop, 700000); /* its life is over */
    ask(&r, &a);
    turn(&r);
    for (size_t i = 5; i < r.fake.n; i++)
        CHECK(!r.fake.call[i].token || !strstr(r.fake.call[i].token, "t-1"));
    rig_fini(&r);
}

TEST(a_deleted_account_is_made_again_for_its_next_token)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_TOKEN, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    answer(&r, 1, 404, "{}");
    CHECK_STR(str_of(r.fake.call[2].method), "GET");
    answer(&r, 2, 404, "{}");
    CHECK_STR(str_of(r.fake.call[3].method), "POST");
    answer(&r, 3, 201, account);
    answer(&r, 4, 201, TOKEN("t", "600"));
    CHECK_STR(str_of(r.fake.call[5].token), "t");
    answer(&r, 5, 200, "{}");
    CHECK_INT(a.status, 200);
    rig_fini(&r);
}

TEST(operators_of_one_account_share_its_identity)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    struct identity_spec spec = { .namespace = "ns", .account = "a" };
    struct identity *same = identity_of(r.ids, &spec);
    struct operator_client_opts opts = { .loop = &r.loop,
                                         .transport = &r.fake.base,
                                         .identity = same };
    struct operator_client *other = operator_client_new(&opts);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    answer(&r, 1, 200, "{}");
    struct kube_request req = { .method = STR("GET"), .target = STR("/api") };
    CHECK_OK(transport_start(operator_client_transport(other), &req, &events, &a, &a.call, NULL));
    CHECK_STR(str_of(r.fake.call[2].target), "/api");
    answer(&r, 2, 200, "{}");
    operator_client_free(other);
    identity_unref(same);
    rig_fini(&r);
}

TEST(requests_beyond_the_rate_wait_for_their_turn)
{
    struct rig r;
    struct asked a[5];
    rig_init(&r, IDENTITY_IN_PROCESS, 1, 2);
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        ask(&r, &a[i]);
    answer(&r, 0, 200, account);
    CHECK_INT(r.fake.n, 3); /* the account and two of them */
    exchange_cancel(a[3].call);
    turn(&r);
    CHECK_INT(a[3].ends, 1);
    CHECK_INT(a[3].r, -ECANCELED);
    for (size_t n = 4; n <= 5; n++) {
        CHECK_INT(r.fake.n, n - 1);
        loop_skip(&r.loop, 1000);
        turn(&r);
        CHECK_INT(r.fake.n, n);
    }
    for (size_t i = 1; i < r.fake.n; i++)
        answer(&r, i, 200, "{}");
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        CHECK_INT(a[i].status, i == 3 ? 0 : 200);
    struct operator_client_stats stats;
    operator_client_get_stats(r.client, &stats);
    CHECK_INT(stats.delayed, 3);
    CHECK_INT(stats.limited, 0);
    CHECK_INT(stats.requests, 4);
    rig_fini(&r);
}

TEST(requests_far_beyond_the_rate_are_answered_429)
{
    enum { PER_SECOND = 2, BURST = 2, WAIT = PER_SECOND * OPERATOR_CLIENT_DELAY_MAX_MS / 1000 };
    struct rig r;
    struct asked a[BURST + WAIT + 1];
    rig_init(&r, IDENTITY_IN_PROCESS, PER_SECOND, BURST);
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        ask(&r, &a[i]);
    turn(&r);
    CHECK_INT(a[BURST + WAIT].status, 429);
    CHECK_INT(a[BURST + WAIT].ends, 1);
    CHECK_OK(a[BURST + WAIT].r);
    CHECK_INT(a[BURST + WAIT - 1].ends, 0);
    struct operator_client_stats stats;
    operator_client_get_stats(r.client, &stats);
    CHECK_INT(stats.delayed, WAIT);
    CHECK_INT(stats.limited, 1);
    rig_fini(&r); /* those that wait end with it */
    for (size_t i = 0; i < ARRAY_LEN(a); i++)
        CHECK_INT(a[i].ends, 1);
}

TEST(what_is_forbidden_is_known_until_it_is_done_after_all)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    CHECK_STR(str_of(operator_client_denied(r.client)), "");
    answer(&r, 1, 403, "{}");
    CHECK_STR(str_of(operator_client_denied(r.client)), "GET /api/v1/pods");
    ask(&r, &a);
    answer(&r, 2, 404, "{}"); /* neither */
    CHECK_STR(str_of(operator_client_denied(r.client)), "GET /api/v1/pods");
    ask(&r, &a);
    answer(&r, 3, 200, "{}");
    CHECK_STR(str_of(operator_client_denied(r.client)), "");
    rig_fini(&r);
}

TEST(a_cancelled_request_ends_once_whether_it_waits_or_runs)
{
    struct rig r;
    struct asked a, b;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    exchange_cancel(a.call);
    turn(&r);
    CHECK_INT(a.ends, 1);
    CHECK_INT(a.r, -ECANCELED);
    answer(&r, 0, 200, account);
    CHECK_INT(r.fake.n, 1); /* nobody waits for it any more */
    ask(&r, &b);
    exchange_cancel(b.call);
    fake_settle(&r.fake);
    CHECK_INT(b.ends, 1);
    rig_fini(&r);
}

TEST(a_pause_before_a_request_is_sent_holds_once_it_is_sent)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    exchange_pause(a.call);
    answer(&r, 0, 200, account);
    CHECK_INT(r.fake.n, 2);
    CHECK(r.fake.call[1].paused);
    exchange_resume(a.call);
    CHECK(!r.fake.call[1].paused);
    answer(&r, 1, 200, "{}");
    CHECK_INT(a.status, 200);
    rig_fini(&r);
}

static void on_watch_event(void *arg, const struct watch_event *ev)
{
}

TEST(events_of_a_watch_need_no_forwarding)
{
    struct rig r;
    struct asked a;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    answer(&r, 1, 200, "{}");
    struct kube_request req = { .method = STR("GET"),
                                .target = STR("/api/v1/pods?watch=true"),
                                .on_event = on_watch_event,
                                .event_arg = &a };
    CHECK_OK(
        transport_start(operator_client_transport(r.client), &req, &events, &a, &a.call, NULL));
    CHECK(r.fake.call[2].on_event == on_watch_event && r.fake.call[2].event_arg == &a);
    answer(&r, 2, 200, "");
    rig_fini(&r);
}

TEST(only_requests_in_the_name_of_an_account_pass_a_client)
{
    struct rig r;
    struct asked a = { 0 }, b = { 0 };
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    struct identity_transport *t = identity_transport_new(&r.loop, &r.fake.base, r.ids);
    struct kube_identity other = { .user = STR("alice") };
    struct kube_identity ours = { .user = str_of(operator_client_user(r.client)) };
    struct kube_request req = { .identity = &other, .method = STR("GET"), .target = STR("/api") };
    CHECK_OK(transport_start(identity_transport_base(t), &req, &events, &a, &a.call, NULL));
    CHECK(a.call == &r.fake.call[0].x);
    CHECK_STR(str_of(r.fake.call[0].user), "alice");
    answer(&r, 0, 200, "{}");
    CHECK_INT(a.ends, 1);
    req.identity = &ours;
    CHECK_OK(transport_start(identity_transport_base(t), &req, &events, &b, &b.call, NULL));
    answer(&r, 1, 200, account);
    CHECK_STR(str_of(r.fake.call[2].user), "system:serviceaccount:ns:a");
    identity_transport_close(t); /* the request goes on */
    answer(&r, 2, 200, "{}");
    CHECK_INT(b.status, 200);
    CHECK_INT(b.ends, 1);
    rig_fini(&r);
}

TEST(requests_end_after_their_client)
{
    struct rig r;
    struct asked a, b;
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    ask(&r, &a);
    answer(&r, 0, 200, account);
    ask(&r, &b);
    operator_client_free(take_ptr(&r.client));
    fake_settle(&r.fake);
    CHECK_INT(a.ends, 1);
    CHECK_INT(b.ends, 1);
    CHECK_INT(b.r, -ECANCELED);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- may it? */

struct verdict {
    int n, r;
    bool allowed;
};

static void on_verdict(void *arg, int r, bool allowed, const struct err *err)
{
    *(struct verdict *)arg =
        (struct verdict){ .n = ((struct verdict *)arg)->n + 1, .r = r, .allowed = allowed };
}

static const struct access_query pods = { .verb = KUBE_WATCH,
                                          .group_version = { "v1", 2 },
                                          .resource = { "pods", 4 },
                                          .namespace = { "x", 1 } };

TEST(a_right_is_asked_for_as_the_operator_and_remembered)
{
    struct rig r;
    struct verdict v = { 0 };
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    CHECK_INT(operator_client_known(r.client, &pods), -EAGAIN);
    (void)operator_client_ask(r.client, &pods, on_verdict, &v);
    answer(&r, 0, 200, account);
    CHECK_STR(str_of(r.fake.call[1].target),
              "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    CHECK_STR(str_of(r.fake.call[1].user), "system:serviceaccount:ns:a");
    CHECK(strstr(r.fake.call[1].body, "\"verb\":\"watch\",\"group\":\"\",\"version\":\"v1\","
                                      "\"resource\":\"pods\",\"subresource\":\"\","
                                      "\"namespace\":\"x\""));
    answer(&r, 1, 201, "{\"status\":{\"allowed\":true}}");
    CHECK_INT(v.n, 1);
    CHECK(v.r == 0 && v.allowed);
    CHECK_STR(str_of(operator_client_denied(r.client)), "");
    CHECK_INT(operator_client_known(r.client, &pods), 1);
    (void)operator_client_ask(r.client, &pods, on_verdict, &v);
    turn(&r);
    CHECK_INT(v.n, 2);
    CHECK_INT(r.fake.n, 2);
    rig_fini(&r);
}

TEST(what_cannot_be_asked_is_not_allowed)
{
    struct rig r;
    struct verdict v = { 0 };
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    (void)operator_client_ask(r.client, &pods, on_verdict, &v);
    answer(&r, 0, 200, account);
    answer(&r, 1, 500, "{}");
    CHECK(v.n == 1 && v.r < 0 && !v.allowed);
    struct operator_client_query *q = operator_client_ask(r.client, &pods, on_verdict, &v);
    operator_client_ask_cancel(q);
    fake_settle(&r.fake);
    turn(&r);
    CHECK_INT(v.n, 1);
    rig_fini(&r);
}

TEST(the_hosts_own_identity_is_not_asked)
{
    struct rig r;
    struct verdict v = { 0 };
    rig_init(&r, IDENTITY_IN_PROCESS, 0, 0);
    operator_client_free(r.client);
    struct operator_client_opts opts = { .loop = &r.loop, .transport = &r.fake.base };
    r.client = operator_client_new(&opts);
    (void)operator_client_ask(r.client, &pods, on_verdict, &v);
    turn(&r);
    CHECK(v.n == 1 && v.r == 0 && v.allowed);
    CHECK_INT(r.fake.n, 0);
    rig_fini(&r);
}

TEST_MAIN
