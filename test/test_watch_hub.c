/* SPDX-License-Identifier: Apache-2.0 */
/* client/watch_hub: sharing, history, reconnects, against a transport played by hand. */
#include "client/watch_hub.h"

#include "fake_transport.h"
#include "test.h"

#include <limits.h>

struct listener {
    struct watch_sub *sub;
    int status;
    struct buf events; /* the resourceVersions seen, "5 6 B7 E" */
    bool ended;
    bool cancel_on_event;
};

static void on_open(void *arg, int status, struct str body)
{
    struct listener *l = arg;
    CHECK(l->status == 0);
    l->status = status;
}

static void on_event(void *arg, const struct watch_event *ev)
{
    struct listener *l = arg;
    CHECK(l->status);
    if (l->events.n)
        buf_add_char(&l->events, ' ');
    if (ev->type == WATCH_EVENT_ERROR)
        buf_add_char(&l->events, 'E');
    else
        buf_printf(&l->events, "%s%" PRIu64, ev->type == WATCH_EVENT_BOOKMARK ? "B" : "", ev->rv);
    if (l->cancel_on_event) {
        watch_sub_cancel(l->sub);
        l->sub = NULL;
    }
}

static void on_end(void *arg)
{
    struct listener *l = arg;
    CHECK(!l->ended);
    l->ended = true;
    l->sub = NULL;
}

static const struct watch_sub_ops ops = { .on_open = on_open,
                                          .on_event = on_event,
                                          .on_end = on_end };

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct listener l[8];
    bool closed;
};

static void rig_init(struct rig *r, unsigned widen_at)
{
    *r = (struct rig){ 0 };
    struct err err = { 0 };
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts opts = { .transport = &r->fake.base, .widen_at = widen_at };
    CHECK_OK(watch_hub_new(&r->loop, &opts, &r->hub, &err));
    for (size_t i = 0; i < ARRAY_LEN(r->l); i++)
        buf_init(&r->l[i].events, 65536);
}

/* Deferred work, without waiting for timers. */
static void turn(struct rig *r)
{
    for (int i = 0; i < 20; i++)
        (void)loop_turn(&r->loop, false);
}

static void on_closed(void *arg)
{
    ((struct rig *)arg)->closed = true;
}

static void rig_fini(struct rig *r)
{
    for (size_t i = 0; i < ARRAY_LEN(r->l); i++) {
        if (r->l[i].sub)
            watch_sub_cancel(r->l[i].sub);
        buf_fini(&r->l[i].events);
    }
    watch_hub_close(r->hub, on_closed, r);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    CHECK(r->closed);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

static void subscribe(struct rig *r, size_t i, const char *namespace, uint64_t rv, bool bookmarks)
{
    struct watch_key key = { .group_version = STR("amurant.io/v1"),
                             .plural = STR("testresources"),
                             .namespace = str_of(namespace) };
    struct err err = { 0 };
    CHECK_OK(watch_hub_subscribe(r->hub, &key, rv, bookmarks, &ops, &r->l[i], &r->l[i].sub, &err));
}

static void send_event(struct rig *r, size_t call, const char *type, const char *namespace,
                       uint64_t rv)
{
    char line[512];
    (void)snprintf(line, sizeof line,
                   "{\"type\":\"%s\",\"object\":{\"metadata\":{\"namespace\":\"%s\",\"name\":\"x\","
                   "\"resourceVersion\":\"%" PRIu64 "\"}}}\n",
                   type, namespace, rv);
    fake_data(&r->fake.call[call], line);
}

#define SEEN(i, text) CHECK_STR(buf_str(&r.l[i].events), text)

TEST(one_upstream_serves_all_and_a_late_joiner_gets_exactly_what_it_missed)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    CHECK_INT(r.l[0].status, 0); /* never inside the call */
    CHECK_INT(r.fake.n, 1);
    CHECK(str_has_prefix(str_of(r.fake.call[0].target),
                         STR("/apis/amurant.io/v1/testresources?watch=true")));
    CHECK(strstr(r.fake.call[0].target, "resourceVersion=10"));
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    CHECK_INT(r.l[0].status, 200);
    send_event(&r, 0, "ADDED", "a", 11);
    send_event(&r, 0, "MODIFIED", "b", 12);
    subscribe(&r, 1, "", 11, false);
    turn(&r);
    send_event(&r, 0, "MODIFIED", "a", 13);
    CHECK_INT(r.fake.n, 1);
    SEEN(0, "11 12 13");
    SEEN(1, "12 13");
    rig_fini(&r);
}

TEST(a_version_older_than_the_history_gets_one_error_and_the_end)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    for (uint64_t rv = 11; rv < 11 + WATCH_HISTORY_MAX_EVENTS + 5; rv++)
        send_event(&r, 0, "MODIFIED", "a", rv);
    subscribe(&r, 1, "", 12, false);
    subscribe(&r, 2, "", 9, false);
    subscribe(&r, 3, "", 16, false);
    turn(&r);
    SEEN(1, "E");
    SEEN(2, "E");
    CHECK(r.l[1].ended && r.l[2].ended && !r.l[3].ended);
    CHECK(str_has_prefix(buf_str(&r.l[3].events), STR("17 18")));
    rig_fini(&r);
}

TEST(namespaced_subscriptions_are_filtered_from_the_wide_watch)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "a", 10, false);
    subscribe(&r, 1, "b", 10, false);
    subscribe(&r, 2, "", 10, false);
    CHECK_INT(r.fake.n, 1);
    CHECK(!strstr(r.fake.call[0].target, "namespaces"));
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    send_event(&r, 0, "ADDED", "a", 11);
    send_event(&r, 0, "ADDED", "b", 12);
    send_event(&r, 0, "DELETED", "a", 13);
    SEEN(0, "11 13");
    SEEN(1, "12");
    SEEN(2, "11 12 13");
    rig_fini(&r);
}

TEST(a_foreign_cluster_is_watched_by_namespace_until_there_are_many)
{
    struct rig r;
    rig_init(&r, 2);
    subscribe(&r, 0, "a", 10, false);
    subscribe(&r, 1, "b", 10, false);
    subscribe(&r, 2, "c", 10, false);
    CHECK_INT(r.fake.n, 3);
    CHECK(strstr(r.fake.call[0].target, "/namespaces/a/"));
    CHECK(strstr(r.fake.call[1].target, "/namespaces/b/"));
    CHECK(!strstr(r.fake.call[2].target, "namespaces"));
    rig_fini(&r);
}

TEST(a_renewal_is_invisible_and_goes_on_from_the_last_version)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    send_event(&r, 0, "ADDED", "a", 11);
    /* A line cut in the middle by the end of the connection is not an event. */
    fake_data(&r.fake.call[0], "{\"type\":\"MODIFIED\",\"obj");
    fake_end(&r.fake.call[0], -ECONNRESET);
    while (r.fake.n < 2)
        (void)loop_turn(&r.loop, true);
    CHECK(strstr(r.fake.call[1].target, "resourceVersion=11"));
    CHECK(!r.l[0].ended);
    fake_head(&r.fake.call[1], 200);
    send_event(&r, 1, "MODIFIED", "a", 12);
    SEEN(0, "11 12");
    rig_fini(&r);
}

/* As if it had been accepted a minute ago: the loop's clock is right again in the next turn. */
static void head_long_ago(struct rig *r, struct fake_call *c)
{
    r->loop.uv.time -= 60000;
    fake_head(c, 200);
}

TEST(a_cluster_that_vanishes_after_a_long_stream_is_not_asked_again_and_again)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    head_long_ago(&r, &r.fake.call[0]);
    turn(&r);
    fake_end(&r.fake.call[0], -ECONNRESET);
    for (size_t n = 1; n < 4; n++) {
        while (r.fake.n == n)
            (void)loop_turn(&r.loop, true);
        fake_end(&r.fake.call[n], -ECONNREFUSED);
    }
    /* Three refusals in a row: the next attempt is at least half of 400 ms away. */
    for (int i = 0; i < 20; i++)
        (void)loop_turn(&r.loop, false);
    CHECK_INT(r.fake.n, 4);
    rig_fini(&r);
}

TEST(an_event_over_the_limit_breaks_the_stream_even_if_nothing_follows_it)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    size_t n = WATCH_LINE_MAX_BYTES;
    scoped(free_scoped) char *big = xalloc(n + 1);
    memset(big, ' ', n);
    big[n] = '\0';
    fake_data(&r.fake.call[0], big);
    CHECK(!r.fake.call[0].cancelled);
    fake_data(&r.fake.call[0], "{}\n");
    CHECK(r.fake.call[0].cancelled);
    rig_fini(&r);
}

TEST(subscriptions_that_ended_do_not_count_towards_the_wide_watch)
{
    struct rig r;
    rig_init(&r, 2);
    for (int i = 0; i < 5; i++) {
        subscribe(&r, 0, "a", 10, false);
        CHECK(strstr(r.fake.call[r.fake.n - 1].target, "/namespaces/a/"));
        watch_sub_cancel(r.l[0].sub);
        r.l[0].sub = NULL;
        turn(&r);
        fake_settle(&r.fake);
    }
    rig_fini(&r);
}

TEST(an_event_split_over_chunks_and_two_in_one_chunk_are_two_events)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 1, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    fake_data(&r.fake.call[0], "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVe");
    fake_data(&r.fake.call[0], "rsion\":\"2\"}}}\n{\"type\":\"ADDED\",\"object\":{\"metadata\":{"
                               "\"resourceVersion\":\"3\"}}}\n{\"ty");
    SEEN(0, "2 3");
    rig_fini(&r);
}

TEST(a_410_reaches_all_subscribers_and_a_new_subscription_starts_afresh)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    subscribe(&r, 1, "a", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    fake_data(&r.fake.call[0],
              "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    fake_settle(&r.fake);
    turn(&r);
    SEEN(0, "E");
    SEEN(1, "E");
    CHECK(r.l[0].ended && r.l[1].ended);
    subscribe(&r, 2, "", 20, false);
    CHECK_INT(r.fake.n, 2);
    CHECK(strstr(r.fake.call[1].target, "resourceVersion=20"));
    rig_fini(&r);
}

TEST(a_refusal_reaches_the_subscriber_with_its_status)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    fake_head(&r.fake.call[0], 403);
    fake_data(&r.fake.call[0], "{\"kind\":\"Status\",\"code\":403}");
    fake_end(&r.fake.call[0], 0);
    turn(&r);
    CHECK_INT(r.l[0].status, 403);
    CHECK(r.l[0].ended);
    rig_fini(&r);
}

TEST(a_forbidden_wide_watch_falls_back_to_those_of_the_namespaces)
{
    struct rig r;
    rig_init(&r, 2);
    subscribe(&r, 0, "a", 10, false);
    subscribe(&r, 1, "b", 10, false);
    subscribe(&r, 2, "c", 10, false);
    CHECK(!strstr(r.fake.call[2].target, "namespaces"));
    fake_head(&r.fake.call[2], 403);
    fake_data(&r.fake.call[2], "{\"kind\":\"Status\",\"code\":403}");
    fake_end(&r.fake.call[2], 0);
    turn(&r);
    CHECK_INT(r.l[2].status, 200); /* the refusal is not its affair: it starts again */
    SEEN(2, "E");
    CHECK(r.l[2].ended);
    r.l[2] = (struct listener){ .events = r.l[2].events };
    subscribe(&r, 2, "c", 12, false);
    CHECK(strstr(r.fake.call[3].target, "/namespaces/c/"));
    rig_fini(&r);
}

TEST(a_resource_that_vanishes_ends_the_stream_with_an_error_event)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    fake_end(&r.fake.call[0], 0);
    while (r.fake.n < 2)
        (void)loop_turn(&r.loop, true);
    fake_head(&r.fake.call[1], 404);
    fake_data(&r.fake.call[1], "{\"kind\":\"Status\",\"code\":404}");
    fake_end(&r.fake.call[1], 0);
    turn(&r);
    SEEN(0, "E");
    CHECK(r.l[0].ended);
    rig_fini(&r);
}

TEST(bookmarks_go_only_to_those_that_asked)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "a", 10, true);
    subscribe(&r, 1, "a", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    fake_data(&r.fake.call[0],
              "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"15\"}}}\n");
    SEEN(0, "B15");
    SEEN(1, "");
    rig_fini(&r);
}

TEST(a_paused_subscriber_catches_up_or_expires)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    subscribe(&r, 1, "", 10, false);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    watch_sub_pause(r.l[0].sub);
    watch_sub_pause(r.l[1].sub);
    send_event(&r, 0, "ADDED", "a", 11);
    send_event(&r, 0, "ADDED", "a", 12);
    SEEN(0, "");
    watch_sub_resume(r.l[0].sub);
    turn(&r);
    SEEN(0, "11 12");
    for (uint64_t rv = 13; rv < 13 + WATCH_HISTORY_MAX_EVENTS; rv++)
        send_event(&r, 0, "MODIFIED", "a", rv);
    watch_sub_resume(r.l[1].sub);
    turn(&r);
    SEEN(1, "E");
    CHECK(r.l[1].ended && !r.l[0].ended);
    rig_fini(&r);
}

TEST(cancelling_inside_a_callback_is_fine_and_the_last_one_ends_the_upstream)
{
    struct rig r;
    rig_init(&r, 0);
    subscribe(&r, 0, "", 10, false);
    r.l[0].cancel_on_event = true;
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    send_event(&r, 0, "ADDED", "a", 11);
    turn(&r);
    SEEN(0, "11");
    CHECK(!r.l[0].ended && r.fake.call[0].cancelled);
    rig_fini(&r);
}

TEST(more_upstreams_than_the_limit_are_refused_until_one_ends)
{
    struct rig r = { 0 };
    struct err err = { 0 };
    rig_init(&r, 0);
    struct watch_hub_opts opts = { .transport = &r.fake.base, .max_upstreams = 2 };
    watch_hub_close(r.hub, NULL, NULL);
    turn(&r);
    CHECK_OK(watch_hub_new(&r.loop, &opts, &r.hub, &err));
    struct watch_key key = { .group_version = STR("v1"), .plural = STR("configmaps") };
    CHECK_OK(watch_hub_subscribe(r.hub, &key, 1, false, &ops, &r.l[0], &r.l[0].sub, &err));
    key.label_selector = STR("a=b");
    CHECK_OK(watch_hub_subscribe(r.hub, &key, 1, false, &ops, &r.l[1], &r.l[1].sub, &err));
    CHECK_OK(watch_hub_subscribe(r.hub, &key, 1, false, &ops, &r.l[2], &r.l[2].sub, &err));
    key.label_selector = STR("a=c");
    CHECK_ERR(watch_hub_subscribe(r.hub, &key, 1, false, &ops, &r.l[3], &r.l[3].sub, &err),
              E_LIMIT);
    watch_sub_cancel(r.l[0].sub);
    r.l[0].sub = NULL;
    turn(&r);
    fake_settle(&r.fake);
    CHECK_OK(watch_hub_subscribe(r.hub, &key, 1, false, &ops, &r.l[3], &r.l[3].sub, &err));
    rig_fini(&r);
}

/* Every subscriber sees the versions above its own, in order, each once, whatever breaks meanwhile.
 */
TEST(a_watch_whose_subscribers_need_no_history_keeps_none)
{
    static const struct watch_sub_ops following = {
        .on_open = on_open, .on_event = on_event, .on_end = on_end, .needs_no_history = true
    };
    struct rig r;
    struct err err = { 0 };
    struct watch_hub_stats s;
    rig_init(&r, 0);
    struct watch_key key = { .group_version = STR("amurant.io/v1"),
                             .plural = STR("testresources") };
    CHECK_OK(watch_hub_subscribe(r.hub, &key, 1, false, &following, &r.l[0], &r.l[0].sub, &err));
    turn(&r);
    fake_head(&r.fake.call[0], 200);
    turn(&r);
    send_event(&r, 0, "ADDED", "a", 5);
    watch_hub_get_stats(r.hub, &s);
    CHECK_INT(s.history_events, 0);
    subscribe(&r, 1, "", 5, false); /* from now on there is one */
    turn(&r);
    send_event(&r, 0, "ADDED", "a", 6);
    watch_hub_get_stats(r.hub, &s);
    CHECK_INT(s.history_events, 1);
    subscribe(&r, 2, "", 4, false); /* what went before is gone: 410 */
    turn(&r);
    CHECK_STR(buf_str(&r.l[0].events), "5 6");
    CHECK_STR(buf_str(&r.l[1].events), "6");
    CHECK_STR(buf_str(&r.l[2].events), "E");
    rig_fini(&r);
}

TEST(random_joins_breaks_and_pauses_lose_and_repeat_nothing)
{
    struct rig r;
    rig_init(&r, 0);
    uint64_t rv = 100, from[ARRAY_LEN(r.l)] = { 0 };
    const struct fake_call *headed = NULL; /* its head was sent, which happens once */
    subscribe(&r, 0, "", rv, false);
    from[0] = rv;
    for (int step = 0; step < 300; step++) {
        struct fake_call *c = &r.fake.call[r.fake.n - 1];
        if (r.fake.n > 200)
            break;
        switch (test_random_below(6)) {
        case 0:
            if (!c->ended && strstr(c->target, "watch=true") && r.l[0].status == 200) {
                fake_end(c, -ECONNRESET);
                size_t n = r.fake.n;
                while (r.fake.n == n)
                    (void)loop_turn(&r.loop, true);
            }
            break;
        case 1: {
            size_t i = test_random_below(ARRAY_LEN(r.l));
            if (!from[i]) {
                from[i] = rv - test_random_below(MIN(rv - 100 + 1, (uint64_t)50));
                subscribe(&r, i, "", from[i], false);
            }
            break;
        }
        case 2: {
            size_t i = test_random_below(ARRAY_LEN(r.l));
            if (from[i] && test_random_below(2))
                watch_sub_pause(r.l[i].sub);
            else if (from[i])
                watch_sub_resume(r.l[i].sub);
            break;
        }
        default:
            if (r.l[0].status == 0 || !c->ended) {
                if (headed != c && (r.l[0].status == 0 || test_random_below(2))) {
                    fake_head(c, 200);
                    headed = c;
                }
                turn(&r);
                send_event(&r, r.fake.n - 1, "MODIFIED", "a", ++rv);
            }
        }
        turn(&r);
    }
    for (size_t i = 0; i < ARRAY_LEN(r.l); i++) {
        if (!from[i])
            continue;
        watch_sub_resume(r.l[i].sub);
        turn(&r);
        scoped(buf_fini_scoped) struct buf want = BUF_INIT(65536);
        for (uint64_t v = from[i] + 1; v <= rv; v++)
            buf_printf(&want, "%s%" PRIu64, want.n ? " " : "", v);
        SEEN(i, buf_cstr(&want));
    }
    rig_fini(&r);
}

TEST_MAIN
