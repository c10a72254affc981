/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/server/access.h"

#include "fake_transport.h"
#include "test.h"

/* Access over a transport that the test plays. */
struct rig {
    struct loop loop;
    struct fake fake;
    struct agent_reviewer *reviewer;
    struct agent_access *access;
};

static void rig_init(struct rig *r)
{
    struct err err = { 0 };
    memset(r, 0, sizeof *r);
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    r->reviewer = agent_reviewer_new(&r->fake.base);
    r->access = agent_access_new(&r->loop, r->reviewer, STR("n1"));
}

static void rig_fini(struct rig *r)
{
    agent_access_free(r->access);
    agent_reviewer_free(r->reviewer);
    fake_fini(&r->fake);
    loop_fini(&r->loop);
}

static enum agent_verdict last;

static void on_done(struct agent_check *c, enum agent_verdict v)
{
    last = v;
}

static enum agent_verdict check(struct rig *r, struct agent_check *c, const struct tls_peer *peer,
                                const char *authorization, const char *method, const char *first)
{
    *c = (struct agent_check){ .done = on_done, .verb = agent_access_verb(str_of(method)) };
    c->n_asked = agent_access_subresources(str_of(first), c->asked);
    last = AGENT_PENDING;
    return agent_check_start(r->access, c, peer, str_of(authorization));
}

static void answer(struct rig *r, size_t i, const char *body)
{
    fake_head(&r->fake.call[i], 201);
    fake_data(&r->fake.call[i], body);
    fake_end(&r->fake.call[i], 0);
}

static const struct str masters = { "system:masters", 14 }, team = { "team", 4 };
static const struct tls_peer admin = { .common_name = { "root", 4 },
                                       .orgs = &masters,
                                       .n_orgs = 1 };
static const struct tls_peer bob = { .common_name = { "bob", 3 }, .orgs = &team, .n_orgs = 1 };

#define YES "{\"status\":{\"allowed\":true}}"
#define NO  "{\"status\":{\"allowed\":false}}"
#define JANE                                                                                       \
    "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"jane\",\"uid\":\"7\","           \
    "\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]}}}}"

TEST(the_subresources_of_paths_are_those_of_a_kubelet)
{
    static const struct {
        const char *first, *subs;
    } want[] = { { "pods", "pods proxy" },
                 { "runningpods", "pods proxy" },
                 { "healthz", "healthz proxy" },
                 { "configz", "configz proxy" },
                 { "stats", "stats" },
                 { "metrics", "metrics" },
                 { "logs", "log" },
                 { "exec", "proxy" },
                 { "containerLogs", "proxy" },
                 { "", "proxy" } };
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct str subs[AGENT_ACCESS_ASKED_MAX];
        struct buf b = BUF_INIT(100);
        size_t n = agent_access_subresources(str_of(want[i].first), subs);
        for (size_t k = 0; k < n; k++)
            (void)buf_printf(&b, "%s" STR_FMT, k ? " " : "", STR_ARG(subs[k]));
        CHECK_STR(buf_str(&b), want[i].subs);
        buf_fini(&b);
    }
    CHECK_STR(agent_access_verb(STR("POST")), "create");
    CHECK_STR(agent_access_verb(STR("BREW")), "");
}

TEST(masters_are_allowed_without_a_review)
{
    struct rig r;
    struct agent_check c;
    rig_init(&r);
    CHECK_INT(check(&r, &c, &admin, "", "GET", "exec"), AGENT_ALLOWED);
    CHECK_STR(c.who->user, "root");
    CHECK_INT(r.fake.n, 0);
    agent_check_fini(&c);
    rig_fini(&r);
}

TEST(a_decision_is_asked_for_and_kept)
{
    struct rig r;
    struct agent_check c;
    rig_init(&r);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "metrics"), AGENT_PENDING);
    CHECK_INT(r.fake.n, 1);
    CHECK_STR(str_of(r.fake.call[0].target), "/apis/authorization.k8s.io/v1/subjectaccessreviews");
    CHECK_STR(str_of(r.fake.call[0].body),
              "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
              "\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"version\":\"v1\","
              "\"resource\":\"nodes\",\"subresource\":\"metrics\",\"name\":\"n1\"},"
              "\"user\":\"bob\",\"groups\":[\"team\",\"system:authenticated\"]}}");
    answer(&r, 0, YES);
    CHECK_INT(last, AGENT_ALLOWED);
    agent_check_fini(&c);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "metrics"), AGENT_ALLOWED);
    agent_check_fini(&c);
    loop_skip(&r.loop, AGENT_ACCESS_ALLOWED_MS);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "metrics"), AGENT_PENDING);
    answer(&r, 1, NO);
    CHECK_INT(last, AGENT_FORBIDDEN);
    agent_check_fini(&c);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "metrics"), AGENT_FORBIDDEN);
    agent_check_fini(&c);
    loop_skip(&r.loop, AGENT_ACCESS_DENIED_MS);
    CHECK_INT(check(&r, &c, &bob, "", "POST", "metrics"), AGENT_PENDING);
    agent_check_fini(&c);
    fake_settle(&r.fake);
    rig_fini(&r);
}

TEST(one_of_two_subresources_is_enough)
{
    struct rig r;
    struct agent_check c;
    rig_init(&r);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "pods"), AGENT_PENDING);
    answer(&r, 0, NO);
    CHECK_INT(last, AGENT_PENDING);
    CHECK_INT(r.fake.n, 2);
    CHECK(str_find(str_of(r.fake.call[1].body), STR("\"subresource\":\"proxy\"")) > 0);
    answer(&r, 1, YES);
    CHECK_INT(last, AGENT_ALLOWED);
    agent_check_fini(&c);
    rig_fini(&r);
}

TEST(a_token_is_reviewed_once)
{
    struct rig r;
    struct agent_check c;
    rig_init(&r);
    CHECK_INT(check(&r, &c, NULL, "Bearer t1", "GET", "stats"), AGENT_PENDING);
    CHECK(str_find(str_of(r.fake.call[0].body), STR("\"token\":\"t1\"")) > 0);
    answer(&r, 0, JANE);
    CHECK_STR(str_of(r.fake.call[1].body),
              "{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\","
              "\"spec\":{\"resourceAttributes\":{\"verb\":\"get\",\"version\":\"v1\","
              "\"resource\":\"nodes\",\"subresource\":\"stats\",\"name\":\"n1\"},\"user\":\"jane\","
              "\"uid\":\"7\",\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]}}}");
    answer(&r, 1, YES);
    CHECK_INT(last, AGENT_ALLOWED);
    agent_check_fini(&c);
    CHECK_INT(check(&r, &c, NULL, "bearer  t1", "GET", "stats"), AGENT_ALLOWED);
    CHECK_STR(c.who->user, "jane");
    agent_check_fini(&c);
    loop_skip(&r.loop, AGENT_ACCESS_TOKEN_MS);
    CHECK_INT(check(&r, &c, NULL, "Bearer t1", "GET", "stats"), AGENT_PENDING);
    answer(&r, 2, "{\"status\":{\"authenticated\":false}}");
    CHECK_INT(last, AGENT_UNAUTHORIZED);
    agent_check_fini(&c);
    CHECK_INT(check(&r, &c, NULL, "Bearer t1", "GET", "stats"), AGENT_UNAUTHORIZED);
    agent_check_fini(&c);
    agent_access_forget(r.access);
    CHECK_INT(check(&r, &c, NULL, "Bearer t1", "GET", "stats"), AGENT_PENDING);
    agent_check_fini(&c);
    fake_settle(&r.fake);
    rig_fini(&r);
}

TEST(without_credentials_nobody_is_asked)
{
    static const char *const fields[] = { "", "Bearer", "Bearer ", "Basic eA==", "t1" };
    struct rig r;
    struct agent_check c;
    struct tls_peer expired = bob, nameless = bob;
    rig_init(&r);
    expired.why = "certificate has expired";
    nameless.common_name = STR("");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        CHECK_INT(check(&r, &c, i % 2 ? &expired : &nameless, fields[i], "GET", "pods"),
                  AGENT_UNAUTHORIZED);
        agent_check_fini(&c);
    }
    CHECK_INT(r.fake.n, 0);
    rig_fini(&r);
}

TEST(an_api_server_that_does_not_answer_allows_nothing_and_is_asked_again)
{
    struct rig r;
    struct agent_check c;
    rig_init(&r);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "metrics"), AGENT_PENDING);
    fake_end(&r.fake.call[0], -ECONNREFUSED);
    CHECK_INT(last, AGENT_UNKNOWN);
    agent_check_fini(&c);
    CHECK_INT(check(&r, &c, &bob, "", "GET", "metrics"), AGENT_PENDING);
    fake_head(&r.fake.call[1], 403);
    fake_data(&r.fake.call[1], "{\"message\":\"no\"}");
    fake_end(&r.fake.call[1], 0);
    CHECK_INT(last, AGENT_UNKNOWN);
    agent_check_fini(&c);
    CHECK_INT(check(&r, &c, NULL, "Bearer t", "GET", "metrics"), AGENT_PENDING);
    fake_end(&r.fake.call[2], -ECONNREFUSED);
    CHECK_INT(last, AGENT_UNAUTHORIZED);
    agent_check_fini(&c);
    CHECK_INT(agent_access_cached(r.access), 0);
    rig_fini(&r);
}

TEST(reviews_and_answers_are_bounded)
{
    struct rig r;
    struct agent_check c, many[AGENT_ACCESS_REVIEWS_MAX];
    char name[32];
    rig_init(&r);
    for (size_t i = 0; i < ARRAY_LEN(many); i++) {
        (void)snprintf(name, sizeof name, "Bearer %zu", i);
        CHECK_INT(check(&r, &many[i], NULL, name, "GET", "pods"), AGENT_PENDING);
    }
    CHECK_INT(check(&r, &c, NULL, "Bearer more", "GET", "pods"), AGENT_BUSY);
    agent_check_fini(&c);
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        agent_check_fini(&many[i]);
    fake_settle(&r.fake);
    for (size_t i = 0; i < AGENT_ACCESS_CACHED_MAX + 100; i++) {
        fake_fini(&r.fake); /* which holds a few calls only */
        fake_init(&r.fake);
        (void)snprintf(name, sizeof name, "Bearer %zu", i);
        CHECK_INT(check(&r, &c, NULL, name, "GET", "pods"), AGENT_PENDING);
        answer(&r, r.fake.n - 1, "{\"status\":{\"authenticated\":false}}");
        agent_check_fini(&c);
    }
    CHECK_INT(agent_access_cached(r.access), AGENT_ACCESS_CACHED_MAX);
    rig_fini(&r);
}

TEST_MAIN
