/* SPDX-License-Identifier: Apache-2.0 */
/* operator/v1/host_calls and events: what goes to the API for a guest, and what comes back. */
#include "operator/v1/host_calls.h"

#include "fake_transport.h"
#include "operator/v1/events.h"
#include "test.h"

struct rig {
    struct loop loop;
    struct fake fake;
    struct host_calls env;
    struct host_call *call;
    unsigned answers;
    int64_t value;
    struct buf bytes;
};

static void rig_init(struct rig *r, struct allow *allow)
{
    struct err err = { 0 };
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    buf_init(&r->bytes, 32 << 20);
    r->env = (struct host_calls){ .loop = &r->loop,
                                  .transport = &r->fake.base,
                                  .allow = allow,
                                  .namespace = "ns",
                                  .name = "op" };
}

static void rig_fini(struct rig *r)
{
    fake_settle(&r->fake);
    while (loop_turn(&r->loop, false))
        ;
    loop_fini(&r->loop);
    fake_fini(&r->fake);
    buf_fini(&r->bytes);
}

static void on_done(void *arg, int64_t value, struct str bytes)
{
    struct rig *r = arg;
    r->answers++;
    r->value = value;
    buf_reset(&r->bytes);
    (void)buf_add_str(&r->bytes, bytes);
}

static void request(struct rig *r, const char *head, const char *body)
{
    struct guest_call call = { .kind = GUEST_CALL_API_REQUEST,
                               .head = str_of(head),
                               .body = str_of(body) };
    r->call = host_call_begin(&r->env, &call, on_done, r);
}

/* An answer that is known at once comes in the next turn all the same. */
static void early(struct rig *r)
{
    unsigned before = r->answers;
    CHECK(r->call);
    while (r->answers == before)
        (void)loop_turn(&r->loop, false);
    CHECK_INT(r->answers, before + 1);
    r->call = NULL;
}

/* The three parts of an answer. */
static uint32_t answer(const struct rig *r, struct str *headers, struct str *body)
{
    struct rd rd = rd_init(r->bytes.p, r->bytes.n);
    uint32_t status = rd_le32(&rd), n = rd_le32(&rd);
    *headers = rd_str(&rd, n);
    *body = rd_str(&rd, rd_left(&rd));
    CHECK(rd_ok(&rd));
    CHECK_INT(r->value, r->bytes.n);
    return status;
}

TEST(an_answer_is_status_headers_and_body)
{
    struct rig r;
    struct str headers, body;
    rig_init(&r, NULL);
    request(&r, "POST /api/v1/namespaces/a/configmaps\ncontent-type: application/json\n", "{}");
    CHECK(r.call);
    CHECK_STR(str_of(r.fake.call[0].target), "/api/v1/namespaces/a/configmaps?fieldManager=op");
    CHECK_STR(str_of(r.fake.call[0].body), "{}");
    fake_head(&r.fake.call[0], 201);
    fake_data(&r.fake.call[0], "ab");
    fake_data(&r.fake.call[0], "c");
    CHECK_INT(r.answers, 0);
    fake_end(&r.fake.call[0], 0);
    CHECK_INT(r.answers, 1);
    CHECK_INT(answer(&r, &headers, &body), 201);
    CHECK_STR(headers, "");
    CHECK_STR(body, "abc");
    rig_fini(&r);
}

TEST(a_bad_head_is_the_guests_mistake)
{
    struct rig r;
    rig_init(&r, NULL);
    request(&r, "GET /api/v1/pods?watch=1", "");
    early(&r);
    CHECK_INT(r.value, GUEST_E_INVALID);
    CHECK_STR(buf_str(&r.bytes), "a request cannot watch: declare a watch");
    CHECK_INT(r.fake.n, 0);
    rig_fini(&r);
}

TEST(what_the_allow_list_lacks_is_a_status_of_kubernetes)
{
    struct rig r;
    struct str headers, body;
    struct allow *allow = NULL;
    struct str verb = STR("get"), path = STR("/api/v1/namespaces/{any}/configmaps/...");
    CHECK_OK(allow_add(&allow, &verb, 1, &path, 1, NULL));
    rig_init(&r, allow);
    request(&r, "DELETE /api/v1/namespaces/a/configmaps/b", "");
    early(&r);
    CHECK_INT(answer(&r, &headers, &body), 403);
    CHECK(str_find(headers, STR("dormouse-error: denied\n")) >= 0);
    CHECK(str_find(body, STR("\"reason\":\"Forbidden\"")) >= 0);
    CHECK_INT(r.fake.n, 0);
    request(&r, "GET /api/v1/namespaces/a/configmaps/b", "");
    CHECK(r.call);
    host_call_cancel(r.call);
    rig_fini(&r);
    allow_free(allow);
}

TEST(what_goes_wrong_on_the_way_is_an_answer)
{
    struct rig r;
    struct str headers, body;
    rig_init(&r, NULL);
    request(&r, "GET /version", "");
    fake_end(&r.fake.call[0], -ECONNREFUSED);
    CHECK_INT(answer(&r, &headers, &body), 503);
    CHECK(str_find(headers, STR("dormouse-error: unavailable\n")) >= 0);
    request(&r, "GET /version", "");
    fake_end(&r.fake.call[1], -ETIMEDOUT);
    CHECK_INT(answer(&r, &headers, &body), 504);
    CHECK(str_find(headers, STR("dormouse-error: timeout\n")) >= 0);
    r.fake.refuse = -EMFILE;
    request(&r, "GET /version", "");
    early(&r);
    CHECK_INT(answer(&r, &headers, &body), 503);
    rig_fini(&r);
}

TEST(a_request_has_an_end_whatever_the_server_does)
{
    struct rig r;
    struct str headers, body;
    rig_init(&r, NULL);
    request(&r, "GET /version\ndormouse-timeout-ms: 1", "");
    fake_head(&r.fake.call[0], 200);
    while (!r.fake.call[0].cancelled)
        (void)loop_turn(&r.loop, true);
    fake_settle(&r.fake);
    CHECK_INT(answer(&r, &headers, &body), 504);
    CHECK_INT(r.answers, 1);
    rig_fini(&r);
}

TEST(a_call_that_is_given_up_ends_without_a_word)
{
    struct rig r;
    rig_init(&r, NULL);
    request(&r, "GET /version", "");
    host_call_cancel(r.call);
    CHECK(r.fake.call[0].cancelled);
    fake_data(&r.fake.call[0], "late");
    fake_settle(&r.fake);
    CHECK_INT(r.answers, 0);
    rig_fini(&r);
}

TEST(an_answer_over_the_limit_is_too_large)
{
    struct rig r;
    rig_init(&r, NULL);
    request(&r, "GET /version", "");
    fake_head(&r.fake.call[0], 200);
    char *chunk = xalloc((1 << 20) + 1);
    memset(chunk, 'x', 1 << 20);
    for (int i = 0; i < 17 && !r.fake.call[0].cancelled; i++)
        fake_data(&r.fake.call[0], chunk);
    free(chunk);
    fake_settle(&r.fake);
    CHECK_INT(r.value, GUEST_E_TOO_LARGE);
    rig_fini(&r);
}

/* ---- events ---- */

#define EVENT(note)                                                                                \
    "{\"type\":\"Normal\",\"reason\":\"Made\",\"action\":\"Make\",\"note\":\"" note                \
    "\",\"regarding\":{\"kind\":\"ConfigMap\",\"namespace\":\"a\",\"name\":\"b\"}}"

static struct events *make_events(struct rig *r)
{
    struct events_opts opts = { .loop = &r->loop,
                                .transport = &r->fake.base,
                                .operator_name = "ns/op",
                                .default_namespace = "default" };
    return events_new(&opts);
}

static void answer_last(struct rig *r, int status)
{
    fake_head(&r->fake.call[r->fake.n - 1], status);
    fake_end(&r->fake.call[r->fake.n - 1], 0);
}

TEST(equal_events_become_a_series)
{
    struct rig r;
    rig_init(&r, NULL);
    struct events *ev = make_events(&r);
    CHECK_OK(events_report(ev, STR(EVENT("n")), NULL));
    CHECK_STR(str_of(r.fake.call[0].target), "/apis/events.k8s.io/v1/namespaces/a/events");
    CHECK(strstr(r.fake.call[0].body, "\"reportingController\":\"ns/op\""));
    answer_last(&r, 201);
    CHECK_OK(events_report(ev, STR(EVENT("n")), NULL));
    CHECK_INT(r.fake.n, 2);
    CHECK_STR(str_of(r.fake.call[1].method), "PATCH");
    CHECK(strstr(r.fake.call[1].body, "\"count\":2"));
    answer_last(&r, 200);
    for (int i = 0; i < 100; i++) /* counted, and written later */
        CHECK_OK(events_report(ev, STR(EVENT("n")), NULL));
    CHECK_INT(r.fake.n, 2);
    CHECK_OK(events_report(ev, STR(EVENT("other")), NULL));
    CHECK_INT(r.fake.n, 3);
    answer_last(&r, 201);
    events_free(ev);
    rig_fini(&r);
}

TEST(an_event_that_is_gone_is_made_anew)
{
    struct rig r;
    rig_init(&r, NULL);
    struct events *ev = make_events(&r);
    CHECK_OK(events_report(ev, STR(EVENT("n")), NULL));
    answer_last(&r, 201);
    CHECK_OK(events_report(ev, STR(EVENT("n")), NULL));
    answer_last(&r, 404);
    CHECK_OK(events_report(ev, STR(EVENT("n")), NULL));
    CHECK_STR(str_of(r.fake.call[2].method), "POST");
    events_free(ev);
    answer_last(&r, 201);
    rig_fini(&r);
}

TEST(a_flood_of_events_is_bounded)
{
    struct rig r;
    struct events_stats stats;
    rig_init(&r, NULL);
    struct events *ev = make_events(&r);
    for (int i = 0; i < 60; i++) {
        char text[512];
        (void)snprintf(text, sizeof text, EVENT("%d"), i);
        size_t before = r.fake.n;
        CHECK_OK(events_report(ev, str_of(text), NULL));
        if (r.fake.n > before)
            answer_last(&r, 201);
    }
    events_get_stats(ev, &stats);
    CHECK_INT(stats.written, EVENTS_BURST);
    CHECK_INT(stats.left_out, 60 - EVENTS_BURST);
    CHECK(stats.series <= EVENTS_KEPT);
    events_free(ev);
    rig_fini(&r);
}

TEST(an_event_must_say_what_it_is_about)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "[]", "must be an object" },
        { "{\"type\":\"Info\"}", "'type' must be" },
        { "{\"typ\":\"Normal\"}", "has no member 'typ'" },
        { "{\"type\":\"Normal\",\"reason\":\"not camel\"}", "'reason' must be CamelCase" },
        { "{\"type\":\"Normal\",\"reason\":\"A\",\"action\":\"\"}", "'action' must be CamelCase" },
        { "{\"type\":\"Normal\",\"reason\":\"A\",\"action\":\"B\"}", "'regarding' must be" },
        { "{\"type\":\"Normal\",\"reason\":\"A\",\"action\":\"B\",\"regarding\":{\"kind\":\"X\"}}",
          "'regarding' needs 'kind' and 'name'" },
        { "{\"type\":\"Normal\",\"reason\":\"A\",\"action\":\"B\",\"regarding\":{\"kind\":\"X\","
          "\"name\":\"n\",\"namespace\":\"../x\"}}",
          "no name of a namespace" },
    };
    struct rig r;
    rig_init(&r, NULL);
    struct events *ev = make_events(&r);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = { 0 };
        CHECK(events_report(ev, str_of(cases[i].text), &err) < 0);
        if (!strstr(err_text(&err), cases[i].want))
            TEST_FAIL("said '%s', expected '%s'", err_text(&err), cases[i].want);
    }
    CHECK_INT(r.fake.n, 0);
    events_free(ev);
    rig_fini(&r);
}

TEST_MAIN
