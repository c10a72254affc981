/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator/calls: what guests of G1 and G2 get for what they ask. The guest is
 * a fake that records deliveries; the cluster is a transport played by hand.
 */
#include "operator/host/calls.h"

#include "codec/bincode.h"
#include "fake_transport.h"
#include "operator/discovery.h"
#include "test.h"

#include <inttypes.h>
#include <limits.h>

/* ---------------------------------------------------------------- a guest that only records */

struct got {
    uint64_t id;
    bool finished, last, null;
    struct buf payload;
};

static struct {
    struct got got[64];
    size_t n;
    bool full;
    int failed; /* code of guest_fail() */
} guest;

int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err)
{
    if (guest.full)
        return -EBUSY;
    CHECK(guest.n < ARRAY_LEN(guest.got));
    struct got *x = &guest.got[guest.n++];
    *x = (struct got){ .id = d->id,
                       .finished = d->finished,
                       .last = d->last,
                       .null = d->null,
                       .payload = BUF_INIT(1 << 20) };
    CHECK_OK(buf_add_str(&x->payload, d->payload));
    return 0;
}

void guest_fail(struct guest *g, const struct err *why)
{
    guest.failed = why->code;
}

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct calls_env env;
    struct calls *calls;
    struct allow *allow;
};

static void rig_init(struct rig *r, enum guest_abi abi, struct allow *allow)
{
    struct err err = { 0 };
    *r = (struct rig){ .allow = allow };
    memset(&guest, 0, sizeof guest);
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, &err));
    r->env = (struct calls_env){ .loop = &r->loop,
                                 .transport = &r->fake.base,
                                 .hub = r->hub,
                                 .discovery = discovery_new(&r->loop, &r->fake.base) };
    r->calls = calls_new(&r->env, abi, NULL, allow);
}

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void rig_fini(struct rig *r)
{
    calls_free(r->calls);
    discovery_free(r->env.discovery);
    watch_hub_close(r->hub, NULL, NULL);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    allow_free(r->allow);
    for (size_t i = 0; i < guest.n; i++)
        buf_fini(&guest.got[i].payload);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

static void request(struct rig *r, uint64_t id, bool stream, const char *method, const char *uri,
                    const char *body)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 16);
    struct bincode_request req = { .method = str_of(method),
                                   .uri = str_of(uri),
                                   .body = str_of(body) };
    CHECK_OK(bincode_request_encode(&b, &req));
    struct guest_op op = {
        .kind = GUEST_OP_REQUEST, .id = id, .stream = stream, .payload = buf_str(&b)
    };
    calls_on_op(r->calls, &op);
}

/* The status of a delivered HttpResponseMeta. */
static unsigned meta_status(const struct got *g)
{
    struct bincode_response res = { 0 };
    struct err err = { 0 };
    CHECK_OK(bincode_response_meta_decode(buf_str(&g->payload), &res, &err));
    unsigned status = res.status;
    bincode_response_fini(&res);
    return status;
}

TEST(g2_unary_gets_head_then_body_with_a_pointer_even_when_empty)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    request(&r, 0, false, "GET", "/version", "");
    CHECK_STR(str_of(r.fake.call[0].target), "/version");
    fake_head(&r.fake.call[0], 200);
    CHECK_INT(guest.n, 0); /* until the body is whole a failure may still become a 5xx */
    fake_data(&r.fake.call[0], "ab");
    fake_data(&r.fake.call[0], "c");
    fake_end(&r.fake.call[0], 0);
    CHECK_INT(guest.n, 2);
    CHECK_INT(meta_status(&guest.got[0]), 200);
    CHECK(!guest.got[0].finished && !guest.got[0].last && !guest.got[0].null);
    CHECK_STR(buf_str(&guest.got[1].payload), "abc");
    CHECK(guest.got[1].finished && guest.got[1].last && !guest.got[1].null);
    rig_fini(&r);
}

TEST(a_transport_error_becomes_a_response_not_a_dead_guest)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    request(&r, 7, false, "GET", "/version", "");
    fake_end(&r.fake.call[0], -ECONNREFUSED);
    CHECK_INT(guest.n, 2);
    CHECK_INT(meta_status(&guest.got[0]), 503);
    CHECK(strstr(buf_cstr(&guest.got[1].payload), "\"reason\":\"ServiceUnavailable\""));
    request(&r, 8, false, "GET", "/version", "");
    fake_head(&r.fake.call[1], 200);
    fake_data(&r.fake.call[1], "half of a bo");
    fake_end(&r.fake.call[1], -ECONNRESET);
    CHECK_INT(meta_status(&guest.got[2]), 503);
    request(&r, 9, false, "GET", "/version", "");
    fake_end(&r.fake.call[2], -ETIMEDOUT);
    CHECK_INT(meta_status(&guest.got[4]), 504);
    r.fake.refuse = -EMFILE;
    request(&r, 10, false, "GET", "/version", "");
    CHECK_INT(meta_status(&guest.got[6]), 503);
    rig_fini(&r);
}

TEST(g2_watch_is_shared_and_wakes_once_a_line)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    const char *uri = "/apis/amurant.io/v1/namespaces/a/"
                      "testresources?&watch=true&resourceVersion=5&timeoutSeconds=290";
    request(&r, 0, true, "GET", uri, "");
    request(&r, 1, true, "GET", uri, "");
    CHECK_INT(r.fake.n, 1);
    CHECK(!strstr(r.fake.call[0].target, "290")); /* renewals are ours */
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    CHECK_INT(guest.n, 2);
    fake_data(&r.fake.call[0], "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":"
                               "\"6\"}}}\n{\"type\":\"ADDED\",\"ob");
    fake_data(&r.fake.call[0], "ject\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n");
    CHECK_INT(guest.n, 6);
    CHECK_STR(buf_str(&guest.got[2].payload),
              "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"6\"}}}");
    CHECK(!guest.got[2].finished && !guest.got[2].last);
    fake_end(&r.fake.call[0], 0); /* the server's time-out: the guest does not notice */
    CHECK_INT(guest.n, 6);
    rig_fini(&r);
}

TEST(g2_watch_without_a_version_is_its_own_stream_split_at_lines)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    request(&r, 0, true, "GET", "/api/v1/configmaps?watch=true", "");
    fake_head(&r.fake.call[0], 200);
    fake_data(&r.fake.call[0], "{\"a\":1}\n{\"b\"");
    fake_data(&r.fake.call[0], ":2}\n");
    fake_end(&r.fake.call[0], -ECONNRESET);
    CHECK_INT(guest.n, 4);
    CHECK_STR(buf_str(&guest.got[1].payload), "{\"a\":1}");
    CHECK_STR(buf_str(&guest.got[2].payload), "{\"b\":2}");
    CHECK(guest.got[3].finished && guest.got[3].last && guest.got[3].null);
    rig_fini(&r);
}

TEST(g1_gets_one_blob_and_json_content_type_is_supplied)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G1, NULL);
    request(&r, 3, false, "POST", "/api/v1/namespaces/x/configmaps?", "{}");
    fake_head(&r.fake.call[0], 201);
    fake_data(&r.fake.call[0], "{\"ok\":true}");
    fake_end(&r.fake.call[0], 0);
    struct bincode_response res = { 0 };
    struct err err = { 0 };
    CHECK_INT(guest.n, 1);
    CHECK_OK(bincode_response_decode(buf_str(&guest.got[0].payload), &res, &err));
    CHECK_INT(res.status, 201);
    CHECK_STR(res.body, "{\"ok\":true}");
    CHECK(guest.got[0].last);
    bincode_response_fini(&res);
    rig_fini(&r);
}

TEST(g1_watch_finds_the_plural_by_discovery_not_by_guessing)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G1, NULL);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    struct bincode_watch w = { .api_version = STR("networking.k8s.io/v1"),
                               .group = STR("networking.k8s.io"),
                               .kind = STR("NetworkPolicy"),
                               .version = STR("v1"),
                               .ns = STR("a"),
                               .resource_version = STR("42") };
    CHECK_OK(bincode_watch_encode(&b, &w));
    struct guest_op op = { .kind = GUEST_OP_WATCH, .id = 0, .payload = buf_str(&b) };
    calls_on_op(r.calls, &op);
    CHECK_STR(str_of(r.fake.call[0].target), "/apis/networking.k8s.io/v1");
    fake_head(&r.fake.call[0], 200);
    fake_data(&r.fake.call[0],
              "{\"resources\":[{\"name\":\"networkpolicies\",\"kind\":\"NetworkPolicy\"},"
              "{\"name\":\"networkpolicies/status\",\"kind\":\"NetworkPolicy\"}]}");
    fake_end(&r.fake.call[0], 0);
    turn(&r);
    CHECK_INT(r.fake.n, 2);
    CHECK(str_has_prefix(str_of(r.fake.call[1].target),
                         STR("/apis/networking.k8s.io/v1/namespaces/a/networkpolicies?")));
    fake_head(&r.fake.call[1], 200);
    turn(&r);
    fake_data(&r.fake.call[1],
              "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"43\"}}}\n");
    CHECK_INT(guest.n, 1);
    CHECK(!guest.got[0].null && !guest.got[0].last);
    rig_fini(&r);
}

/* A G1 guest's watch; discovery is answered with one kind, Ring. */
static void watch_rings(struct rig *r, struct bincode_watch *w)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    w->api_version = w->api_version.n ? w->api_version : STR("example.org/v1");
    w->kind = STR("Ring");
    CHECK_OK(bincode_watch_encode(&b, w));
    struct guest_op op = { .kind = GUEST_OP_WATCH, .id = 4, .payload = buf_str(&b) };
    calls_on_op(r->calls, &op);
    fake_head(&r->fake.call[0], 200);
    fake_data(&r->fake.call[0], "{\"resources\":[{\"name\":\"rings\",\"kind\":\"Ring\"}]}");
    fake_end(&r->fake.call[0], 0);
    turn(r);
}

/* One ERROR event, then the end: a stream of G1 has no response. */
static void check_error_event(const char *reason)
{
    CHECK_INT(guest.n, 2);
    CHECK(str_has_prefix(buf_str(&guest.got[0].payload),
                         STR("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\"")));
    CHECK(strstr(buf_cstr(&guest.got[0].payload), reason));
    CHECK(!guest.got[0].last && !guest.got[0].null);
    CHECK(guest.got[1].last && guest.got[1].null);
}

TEST(g1_watch_from_no_version_keeps_its_selectors)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G1, NULL);
    struct bincode_watch w = { .ns = STR("a"),
                               .label_selector = STR("a=b,c"),
                               .field_selector = STR("metadata.name=x") };
    watch_rings(&r, &w);
    CHECK_STR(str_of(r.fake.call[1].target),
              "/apis/example.org/v1/namespaces/a/rings?watch=true&labelSelector=a%3Db%2Cc"
              "&fieldSelector=metadata.name%3Dx");
    fake_head(&r.fake.call[1], 200);
    fake_data(&r.fake.call[1], "{\"type\":\"ADDED\"}\n{\"type\":");
    fake_data(&r.fake.call[1], "\"DELETED\"}\n");
    CHECK_INT(guest.n, 2);
    CHECK_STR(buf_str(&guest.got[1].payload), "{\"type\":\"DELETED\"}");
    fake_end(&r.fake.call[1], 0);
    CHECK(guest.got[2].last && guest.got[2].null);
    rig_fini(&r);
}

TEST(g1_watch_that_is_refused_gets_an_error_event_and_its_end)
{
    struct rig r;
    struct bincode_watch none = { 0 };
    rig_init(&r, GUEST_ABI_G1, NULL);
    watch_rings(&r, &none);
    fake_head(&r.fake.call[1], 403);
    fake_data(&r.fake.call[1], "{\"kind\":\"Status\",\n\"reason\":");
    fake_data(&r.fake.call[1], "\"Forbidden\"}");
    fake_end(&r.fake.call[1], 0);
    check_error_event("Forbidden");
    CHECK(!strchr(buf_cstr(&guest.got[0].payload), '\n'));
    rig_fini(&r);
}

TEST(g1_watch_whose_connection_fails_gets_an_error_event_and_its_end)
{
    struct rig r;
    struct bincode_watch none = { 0 };
    rig_init(&r, GUEST_ABI_G1, NULL);
    watch_rings(&r, &none);
    fake_end(&r.fake.call[1], -ECONNREFUSED);
    check_error_event("ServiceUnavailable");
    rig_fini(&r);
}

TEST(g1_watch_that_is_not_allowed_gets_an_error_event_and_is_never_sent)
{
    struct rig r;
    struct allow *allow = NULL;
    struct str verbs[] = { STR("watch") },
               paths[] = { STR("/apis/example.org/v1/namespaces/a/rings") };
    CHECK_OK(allow_add(&allow, verbs, 1, paths, 1, NULL));
    rig_init(&r, GUEST_ABI_G1, allow);
    struct bincode_watch w = { .ns = STR("b"), .resource_version = STR("5") };
    watch_rings(&r, &w);
    CHECK_INT(r.fake.n, 1);
    check_error_event("Forbidden");
    rig_fini(&r);
}

TEST(g1_watch_cannot_smuggle_a_path_into_its_namespace)
{
    static const char *const namespaces[] = { "a/secrets?x=", "a/pods/b", "../x", "a%2Fb" };
    for (size_t i = 0; i < ARRAY_LEN(namespaces); i++) {
        struct rig r;
        rig_init(&r, GUEST_ABI_G1, NULL);
        struct bincode_watch w = { .ns = str_of(namespaces[i]), .resource_version = STR("5") };
        watch_rings(&r, &w);
        CHECK_INT(r.fake.n, 1);
        check_error_event("BadRequest");
        rig_fini(&r);
    }
}

static void watch_kind(struct rig *r, uint64_t id, const char *api_version)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    struct bincode_watch w = { .api_version = str_of(api_version), .kind = STR("Ring") };
    CHECK_OK(bincode_watch_encode(&b, &w));
    struct guest_op op = { .kind = GUEST_OP_WATCH, .id = id, .payload = buf_str(&b) };
    calls_on_op(r->calls, &op);
}

/* Discovery is asked before there is a resource for the allow-list to judge. */
TEST(g1_watch_cannot_smuggle_a_path_into_its_api_version)
{
    static const char *const versions[] = { "v1/namespaces/a/services/b/proxy/go",
                                            "../api",
                                            "v1/pods?watch=true",
                                            "",
                                            "/",
                                            "example.org/",
                                            "v1%2Fpods",
                                            "a/b/c",
                                            "V1",
                                            "v1 " };
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct rig r;
        rig_init(&r, GUEST_ABI_G1, NULL);
        watch_kind(&r, 0, versions[i]);
        turn(&r);
        CHECK_INT(r.fake.n, 0);
        check_error_event("NotFound");
        rig_fini(&r);
    }
}

TEST(groups_that_do_not_exist_take_no_room_in_discovery)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G1, NULL);
    for (uint64_t i = 0; i <= DISCOVERY_MAX_GROUPS; i++) {
        scoped(free_scoped) char *group = xasprintf("gone%" PRIu64 ".example/v1", i);
        watch_kind(&r, i, group);
        CHECK_INT(r.fake.n, 1); /* asked, not refused for want of room */
        fake_head(&r.fake.call[0], 404);
        fake_end(&r.fake.call[0], 0);
        turn(&r);
        check_error_event("NotFound");
        fake_fini(&r.fake); /* forget what was recorded */
        r.fake.n = 0;
        for (size_t k = 0; k < guest.n; k++)
            buf_fini(&guest.got[k].payload);
        guest.n = 0;
    }
    rig_fini(&r);
}

TEST(g1_watch_of_an_unknown_kind_gets_an_error_event)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G1, NULL);
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    struct bincode_watch w = { .api_version = STR("gone.example/v1"), .kind = STR("Gone") };
    CHECK_OK(bincode_watch_encode(&b, &w));
    struct guest_op op = { .kind = GUEST_OP_WATCH, .id = 0, .payload = buf_str(&b) };
    calls_on_op(r.calls, &op);
    fake_head(&r.fake.call[0], 404);
    fake_end(&r.fake.call[0], 0);
    turn(&r);
    check_error_event("NotFound");
    rig_fini(&r);
}

TEST(a_full_guest_queue_holds_the_source_and_keeps_order)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    request(&r, 0, true, "GET", "/logs", "");
    fake_head(&r.fake.call[0], 200);
    guest.full = true;
    fake_data(&r.fake.call[0], "one");
    CHECK(r.fake.call[0].paused);
    fake_data(&r.fake.call[0], "two"); /* what was already on the way */
    guest.full = false;
    calls_on_room(r.calls);
    CHECK(!r.fake.call[0].paused);
    fake_data(&r.fake.call[0], "three");
    CHECK_INT(guest.n, 4);
    CHECK_STR(buf_str(&guest.got[1].payload), "one");
    CHECK_STR(buf_str(&guest.got[2].payload), "two");
    CHECK_STR(buf_str(&guest.got[3].payload), "three");
    fake_end(&r.fake.call[0], 0);
    rig_fini(&r);
}

TEST(more_requests_than_the_limit_wait_in_order)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    for (uint64_t i = 0; i < CALLS_REQUESTS_MAX + 2; i++) {
        char uri[32];
        (void)snprintf(uri, sizeof uri, "/r%d", (int)i);
        request(&r, i, false, "GET", uri, "");
    }
    CHECK_INT(r.fake.n, CALLS_REQUESTS_MAX);
    fake_head(&r.fake.call[0], 200);
    fake_end(&r.fake.call[0], 0);
    CHECK_INT(r.fake.n, CALLS_REQUESTS_MAX + 1);
    CHECK_STR(str_of(r.fake.call[CALLS_REQUESTS_MAX].target), "/r16");
    rig_fini(&r);
}

TEST(what_the_allow_list_lacks_is_forbidden_and_never_sent)
{
    struct rig r;
    struct allow *allow = NULL;
    struct err err = { 0 };
    struct str verbs[] = { STR("get"), STR("list") },
               paths[] = { STR("/api/v1/namespaces/{any}/configmaps/...") };
    CHECK_OK(allow_add(&allow, verbs, 2, paths, 1, &err));
    rig_init(&r, GUEST_ABI_G2, allow);
    request(&r, 0, false, "GET", "/api/v1/namespaces/x/configmaps/a", "");
    CHECK_INT(r.fake.n, 1);
    request(&r, 1, false, "DELETE", "/api/v1/namespaces/x/configmaps/a", "");
    request(&r, 2, false, "GET", "/api/v1/namespaces/x/secrets/a", "");
    request(&r, 3, false, "GET", "/api/v1/namespaces/x/configmaps/%2e%2e/secrets", "");
    CHECK_INT(r.fake.n, 1);
    CHECK_INT(meta_status(&guest.got[0]), 403);
    CHECK_INT(meta_status(&guest.got[2]), 403);
    CHECK_INT(meta_status(&guest.got[4]), 400);
    rig_fini(&r);
}

TEST(a_malformed_payload_fails_that_guest)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    struct guest_op op = { .kind = GUEST_OP_REQUEST,
                           .id = 0,
                           .payload = STR("\xff\xff\xff\xff\xff\xff\xff\xff") };
    calls_on_op(r.calls, &op);
    CHECK_INT(guest.failed, E_TRAP);
    CHECK_INT(r.fake.n, 0);
    rig_fini(&r);
}

TEST(a_delay_wakes_once_with_no_value)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    struct guest_op op = { .kind = GUEST_OP_DELAY, .id = 5, .delay_ms = 1 };
    calls_on_op(r.calls, &op);
    while (guest.n == 0)
        (void)loop_turn(&r.loop, true);
    CHECK(guest.got[0].id == 5 && guest.got[0].finished && guest.got[0].last && guest.got[0].null);
    rig_fini(&r);
}

TEST(a_reset_drops_everything_and_late_answers_reach_nobody)
{
    struct rig r;
    rig_init(&r, GUEST_ABI_G2, NULL);
    request(&r, 0, false, "GET", "/version", "");
    request(&r, 1, true, "GET", "/api/v1/configmaps?watch=true&resourceVersion=5", "");
    struct guest_op op = { .kind = GUEST_OP_DELAY, .id = 2, .delay_ms = 100000 };
    calls_on_op(r.calls, &op);
    calls_reset(r.calls);
    CHECK(r.fake.call[0].cancelled);
    fake_head(&r.fake.call[0], 200);
    fake_end(&r.fake.call[0], 0);
    turn(&r);
    CHECK_INT(guest.n, 0);
    struct calls_stats s;
    calls_get_stats(r.calls, &s);
    CHECK_INT(s.requests + s.queued + s.streams + s.watches + s.timers, 0);
    rig_fini(&r);
}

TEST_MAIN
