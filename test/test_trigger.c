/* SPDX-License-Identifier: Apache-2.0 */
/* Triggers: schedules in virtual time, CloudEvents by HTTP, object watches on a played API. */
#include "async_rig.h"
#include "fake_transport.h"
#include "fault_store.h"

#include "client/watch_hub.h"
#include "fn/trigger/trigger_int.h"

/* ------------------------------------------------------------------ a gateway's part */

static struct {
    void (*fn)(void *arg, struct str namespace, struct str name, const struct fn_spec *spec);
    void *arg;
    void (*members)(void *arg);
    void *members_arg;
    bool owns, alone;
    int admits;
} gw;

static void follow(void *arg,
                   void (*fn)(void *fn_arg, struct str namespace, struct str name,
                              const struct fn_spec *spec),
                   void *fn_arg)
{
    gw.fn = fn;
    gw.arg = fn_arg;
}
static bool owns(void *arg, struct str namespace, struct str name)
{
    return gw.owns;
}
static int admits(void *arg, struct str namespace, const struct headers *h)
{
    return gw.admits;
}
static bool is_alone(void *arg)
{
    return gw.alone;
}
static void on_members(void *arg, void (*fn)(void *fn_arg), void *fn_arg)
{
    gw.members = fn;
    gw.members_arg = fn_arg;
}
static const struct trigger_functions_ops gw_ops = { follow, owns, admits, is_alone, on_members };

static struct triggers *triggers;
static struct fake api;
static struct watch_hub *hub;

static void start_triggers(struct rig *g)
{
    struct trigger_opts opts = { .loop = &g->loop,
                                 .async = g->async,
                                 .functions = { &gw_ops, NULL },
                                 .transport = hub ? &api.base : NULL,
                                 .hub = hub };
    CHECK_OK(triggers_start(&opts, &triggers, NULL));
}

static void start(struct rig *g)
{
    rig_start(g);
    gw.owns = gw.alone = true;
    start_triggers(g);
}

static void stop_triggers(struct rig *g)
{
    bool done = false;
    triggers_close(triggers, rig_on_done, &done);
    while (!done) {
        if (hub)
            fake_settle(&api);
        rig_turn(g);
    }
}

static void stop(struct rig *g)
{
    rig_close_http(g);
    stop_triggers(g);
    rig_fini(g);
}

/* As after a restart, at the same time of day. */
static void restart(struct rig *g)
{
    stop_triggers(g);
    rig_reopen(g);
    start_triggers(g);
}

static void set(struct rig *g, const char *name, size_t n, const struct fn_trigger *all)
{
    struct fn_spec spec = g->spec;
    spec.triggers = (struct fn_trigger *)all;
    spec.n_triggers = n;
    gw.fn(gw.arg, STR("shop"), str_of(name), all ? &spec : NULL);
}

static struct trigger_stats stats(void)
{
    struct trigger_stats s;
    triggers_get_stats(triggers, &s);
    return s;
}

static void settle(struct rig *g)
{
    do
        rig_settle(g);
    while (loop_turn(&g->loop, false) && !loop_is_idle(&g->loop));
}

/* To the next full minute, and a little. */
static void next_minute(struct rig *g)
{
    loop_skip(&g->loop, 60000 - (uint64_t)clock_wall_ms() % 60000 + 5);
}

static const struct fn_trigger every_minute = { .kind = FN_TRIGGER_CRON,
                                                .name = STR_NULL,
                                                .path = STR_NULL };

static struct fn_trigger minutely(void)
{
    struct fn_trigger t = every_minute;
    t.name = STR("tick");
    t.path = STR("/tick");
    t.cron = STR("* * * * *");
    t.body = STR("{\"a\":1}");
    return t;
}

/* ------------------------------------------------------------------ schedules */

TEST(a_schedule_makes_one_call_at_its_time)
{
    struct rig g;
    start(&g);
    struct fn_trigger t = minutely();
    CHECK(!timer_is_armed(&triggers->timer)); /* nothing to wait for */
    set(&g, "pay", 1, &t);
    settle(&g);
    CHECK_INT(g.n_calls, 0);
    CHECK(timer_is_armed(&triggers->timer));
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    next_minute(&g);
    rig_until(&g, g.n_calls == 1);
    struct played_call *c = rig_held(&g);
    CHECK_STR(str_of(c->function), "shop/pay");
    CHECK_STR(str_of(c->target), "/tick");
    CHECK_STR(buf_str(&c->body), "{\"a\":1}");
    CHECK_STR(headers_get(&c->headers, "content-type"), "application/json");
    CHECK_STR(headers_get(&c->headers, "ce-type"), "dev.dormouse.cron");
    CHECK(str_has_prefix(headers_get(&c->headers, "ce-id"), STR("tick-")));
    CHECK(str_has_suffix(headers_get(&c->headers, "ce-time"), STR(":00Z")));
    played_end(&g, c, &(struct played_answer){ .status = 200 });
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    settle(&g);
    for (size_t i = 2; i < 5; i++) {
        next_minute(&g);
        rig_until(&g, g.n_calls == i);
        settle(&g);
    }
    CHECK_INT(stats().fired, 4);
    CHECK_INT(stats().missed, 0);
    set(&g, "pay", 0, NULL);
    settle(&g);
    CHECK(!timer_is_armed(&triggers->timer));
    next_minute(&g);
    settle(&g);
    CHECK_INT(g.n_calls, 4);
    stop(&g);
}

TEST(a_client_cannot_take_the_key_of_a_firing)
{
    struct rig g;
    struct answer a;
    char key[64];
    start(&g);
    struct fn_trigger t = minutely();
    set(&g, "pay", 1, &t);
    settle(&g);
    (void)snprintf(key, sizeof key, "cron/tick/%lld",
                   (long long)(clock_wall_ms() / 60000 + 1) * 60);
    rig_ask(&g, &a, "POST", "/fn/shop/pay", STR("1"), "prefer", "respond-async", "idempotency-key",
            key, NULL);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    rig_until(&g, g.n_calls == 1);
    next_minute(&g);
    rig_until(&g, stats().fired == 1);
    settle(&g);
    CHECK_INT(g.n_calls, 2);
    stop(&g);
}

TEST(what_was_missed_is_made_up_for_once)
{
    struct rig g;
    start(&g);
    struct fn_trigger t = minutely();
    set(&g, "pay", 1, &t);
    settle(&g);
    next_minute(&g);
    rig_until(&g, g.n_calls == 1);
    settle(&g);
    loop_skip(&g.loop, 10 * 60000); /* it slept */
    rig_until(&g, g.n_calls == 2);
    settle(&g);
    CHECK_INT(g.n_calls, 2);
    CHECK_INT(stats().missed, 9);

    stop_triggers(&g); /* nothing ran for a while */
    rig_close_async(&g);
    loop_skip(&g.loop, 10 * 60000);
    rig_open(&g);
    rig_run(&g);
    start_triggers(&g);
    set(&g, "pay", 1, &t);
    rig_until(&g, g.n_calls == 3);
    settle(&g);
    CHECK_INT(g.n_calls, 3);

    restart(&g); /* within the minute */
    set(&g, "pay", 1, &t);
    settle(&g);
    CHECK_INT(g.n_calls, 3);

    stop_triggers(&g); /* another gateway has fired meanwhile */
    rig_close_async(&g);
    loop_skip(&g.loop, 10 * 60000);
    rig_open(&g);
    rig_run(&g);
    gw.alone = false;
    start_triggers(&g);
    set(&g, "pay", 1, &t);
    settle(&g);
    CHECK_INT(g.n_calls, 3);

    gw.alone = true; /* a schedule that was changed counts from then on */
    stop_triggers(&g);
    loop_skip(&g.loop, 10 * 60000);
    start_triggers(&g);
    t.cron = STR("*/1 * * * *");
    set(&g, "pay", 1, &t);
    settle(&g);
    CHECK_INT(g.n_calls, 3);
    stop(&g);
}

TEST(a_schedule_fires_where_the_function_is_owned)
{
    struct rig g;
    start(&g);
    struct fn_trigger t = minutely();
    gw.owns = false;
    set(&g, "pay", 1, &t);
    settle(&g);
    CHECK(access(g.path, F_OK) != 0); /* nothing was noted */
    next_minute(&g);
    settle(&g);
    CHECK_INT(g.n_calls, 0);
    gw.owns = true;
    gw.members(gw.members_arg);
    settle(&g);
    CHECK_INT(g.n_calls, 0); /* that minute was the other's */
    next_minute(&g);
    rig_until(&g, g.n_calls == 1);
    settle(&g);
    stop(&g);
}

TEST(a_firing_that_cannot_be_stored_is_tried_again)
{
    struct rig g;
    start(&g);
    struct fn_trigger t = minutely();
    set(&g, "pay", 1, &t);
    settle(&g);
    store_made_faulty(&g.loop, g.async->store);
    store_fails(FAULT_WRITES, "c/");
    next_minute(&g);
    rig_until(&g, stats().failures == 1);
    settle(&g);
    store_works();
    loop_skip(&g.loop, 6000);
    rig_until(&g, g.n_calls == 1);
    settle(&g);
    CHECK_INT(stats().fired, 1);
    stop(&g);
    faulty_forget();
}

TEST(triggers_that_cannot_be_are_left_out)
{
    struct rig g;
    start(&g);
    struct fn_trigger bad[] = { minutely(), minutely(), minutely() };
    bad[0].cron = STR("every day");
    bad[1].name = STR("zone");
    bad[1].time_zone = STR("Middle/Earth");
    bad[2].name = STR("good");
    set(&g, "pay", 3, bad);
    CHECK_INT(stats().schedules, 1);
    CHECK_INT(stats().failures, 2);
    stop(&g);
}

/* ------------------------------------------------------------------ events */

static struct fn_trigger on_type(const char *name, const char *type)
{
    return (struct fn_trigger){
        .kind = FN_TRIGGER_EVENT, .name = str_of(name), .path = STR("/ev"), .type = str_of(type)
    };
}

#define EVENT(id, type)                                                                            \
    "{\"specversion\":\"1.0\",\"id\":\"" id "\",\"source\":\"/s\",\"type\":\"" type                \
    "\",\"data\":{\"n\":1}}"

static void post(struct rig *g, struct answer *a, const char *type, const char *body)
{
    rig_ask(g, a, "POST", "/v1/events/shop", str_of(body), "content-type", type, NULL);
}

TEST(events_reach_every_function_that_they_match)
{
    struct rig g;
    struct answer a;
    start(&g);
    struct fn_trigger orders = on_type("o", "order.*"), all = on_type("a", "");
    set(&g, "orders", 1, &orders);
    set(&g, "all", 1, &all);
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    post(&g, &a, "application/cloudevents+json", EVENT("1", "order.made"));
    CHECK_INT(a.status, 202);
    CHECK(str_find(buf_str(&a.body), STR("\"events\":1,\"calls\":2,\"repeated\":0")) > 0);
    answer_fini(&a);
    rig_until(&g, g.n_calls == 2);
    struct played_call *c = rig_held(&g);
    CHECK_STR(headers_get(&c->headers, "ce-type"), "order.made");
    CHECK_STR(headers_get(&c->headers, "ce-id"), "1");
    CHECK_STR(headers_get(&c->headers, "content-type"), "application/json");
    CHECK_STR(buf_str(&c->body), "{\"n\":1}");
    CHECK_STR(str_of(c->target), "/ev");
    while (rig_held(&g))
        played_end(&g, rig_held(&g), &(struct played_answer){ .status = 200 });
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });

    post(&g, &a, "application/cloudevents+json", EVENT("1", "order.made"));
    CHECK(str_find(buf_str(&a.body), STR("\"calls\":2,\"repeated\":2")) > 0);
    answer_fini(&a);
    post(&g, &a, "application/cloudevents-batch+json",
         "[" EVENT("2", "order.made") "," EVENT("3", "other") "]");
    CHECK(str_find(buf_str(&a.body), STR("\"events\":2,\"calls\":3,\"repeated\":0")) > 0);
    answer_fini(&a);
    rig_ask(&g, &a, "POST", "/v1/events/shop", STR("\0x"), "ce-specversion", "1.0", "ce-id", "4",
            "ce-source", "/s", "ce-type", "t", NULL);
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    rig_ask(&g, &a, "POST", "/v1/events/elsewhere", STR(EVENT("1", "t")), "content-type",
            "application/cloudevents+json", NULL);
    CHECK_INT(a.status, 202);
    CHECK(str_find(buf_str(&a.body), STR("\"calls\":0")) > 0);
    answer_fini(&a);
    settle(&g);
    CHECK_INT(g.n_calls, 6);
    set(&g, "all", 0, NULL);
    post(&g, &a, "application/cloudevents+json", EVENT("5", "other"));
    CHECK(str_find(buf_str(&a.body), STR("\"calls\":0")) > 0);
    answer_fini(&a);
    stop(&g);
}

static struct played_answer answers_with_an_event(const struct played_call *c)
{
    static char id[64];
    static const char *const fields[] = { "ce-specversion", "1.0",  "ce-source", "/f",
                                          "ce-type",        "made", NULL };
    struct played_answer a = { .status = 200, .body = STR("made"), .fields = fields, .id = id };
    (void)snprintf(id, sizeof id, "%s", c->id);
    return a;
}

TEST(events_that_functions_answer_with_are_delivered_too)
{
    struct rig g;
    struct answer a;
    start(&g);
    struct fn_trigger orders = on_type("o", "order.*"), made = on_type("m", "made");
    set(&g, "orders", 1, &orders);
    g.decide = answers_with_an_event;
    post(&g, &a, "application/cloudevents+json", EVENT("1", "order.made"));
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    settle(&g);
    CHECK_INT(g.n_calls, 1); /* nobody wants it */
    CHECK_INT(stats().events, 2);
    set(&g, "loop", 1, &made); /* and one that answers itself is stopped */
    post(&g, &a, "application/cloudevents+json", EVENT("2", "order.made"));
    answer_fini(&a);
    settle(&g);
    CHECK_INT(g.n_calls, 2 + ASYNC_EVENT_HOPS_MAX);
    CHECK_INT(rig_stats(&g).pending, 0);
    stop(&g);
}

TEST(what_is_no_event_is_refused)
{
    struct rig g;
    struct answer a;
    start(&g);
    struct fn_trigger all = on_type("a", "");
    set(&g, "all", 1, &all);
    post(&g, &a, "application/cloudevents+json", "{\"specversion\":\"1.0\"}");
    CHECK_INT(a.status, 400);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "InvalidEvent");
    answer_fini(&a);
    post(&g, &a, "text/plain", "hello");
    CHECK_INT(a.status, 400);
    answer_fini(&a);
    rig_ask(&g, &a, "GET", "/v1/events/shop", STR(""), NULL);
    CHECK_INT(a.status, 405);
    answer_fini(&a);
    rig_ask(&g, &a, "POST", "/v1/events/", STR("x"), NULL);
    CHECK_INT(a.status, 404);
    answer_fini(&a);
    gw.admits = 401;
    post(&g, &a, "application/cloudevents+json", EVENT("1", "t"));
    CHECK_INT(a.status, 401);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "TokenRequired");
    answer_fini(&a);
    gw.admits = 0;
    struct buf large;
    buf_init(&large, 8 << 20);
    while (large.n <= TRIGGER_EVENTS_MAX_BYTES)
        CHECK_OK(buf_add(&large, "            ", 12));
    rig_ask(&g, &a, "POST", "/v1/events/shop", buf_str(&large), "content-type",
            "application/cloudevents+json", NULL);
    CHECK_INT(a.status, 413);
    answer_fini(&a);
    buf_fini(&large);
    CHECK_INT(g.n_calls, 0);
    stop(&g);
}

TEST(events_are_not_taken_on_a_full_disk)
{
    struct rig g;
    struct answer a;
    start(&g);
    struct fn_trigger all = on_type("a", "");
    set(&g, "all", 1, &all);
    post(&g, &a, "application/cloudevents+json", EVENT("1", "t"));
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    settle(&g);
    store_made_faulty(&g.loop, g.async->store);
    store_fails(FAULT_WRITES, "c/");
    post(&g, &a, "application/cloudevents-batch+json", "[" EVENT("2", "t") "," EVENT("3", "t") "]");
    CHECK_INT(a.status, 503);
    CHECK_STR(headers_get(&a.headers, "x-dormouse-reason"), "DiskFull");
    answer_fini(&a);
    store_works();
    post(&g, &a, "application/cloudevents-batch+json", "[" EVENT("2", "t") "," EVENT("3", "t") "]");
    CHECK_INT(a.status, 202);
    answer_fini(&a);
    settle(&g);
    CHECK_INT(g.n_calls, 3);
    stop(&g);
    faulty_forget();
}

/* ------------------------------------------------------------------ watches */

static void start_api(struct rig *g)
{
    fake_init(&api);
    struct watch_hub_opts opts = { .transport = &api.base };
    CHECK_OK(watch_hub_new(&g->loop, &opts, &hub, NULL));
}

static void stop_api(struct rig *g)
{
    bool done = false;
    watch_hub_close(hub, rig_on_done, &done);
    while (!done) {
        fake_settle(&api);
        rig_turn(g);
    }
    hub = NULL;
    fake_fini(&api);
}

static struct fn_trigger on_pods(void)
{
    return (struct fn_trigger){ .kind = FN_TRIGGER_WATCH,
                                .name = STR("pods"),
                                .path = STR("/pod"),
                                .api_version = STR("v1"),
                                .kind_name = STR("Pod"),
                                .label_selector = STR("app=x"),
                                .on_added = true,
                                .on_modified = true,
                                .on_deleted = true };
}

/* The next request of the watch is this one, and is answered so. */
static struct {
    size_t n;
} asked;

static void expect(struct rig *g, const char *target)
{
    rig_until(g, api.n > asked.n);
    if (!strstr(api.call[asked.n].target, target))
        TEST_FAIL("%s, not %s", api.call[asked.n].target, target);
}

static void answer(struct rig *g, int status, const char *body)
{
    struct fake_call *c = &api.call[asked.n++];
    fake_head(c, status);
    fake_data(c, body);
    fake_end(c, 0);
    settle(g);
}

#define RESOURCES                                                                                  \
    "{\"resources\":[{\"name\":\"pods/status\",\"kind\":\"Pod\",\"namespaced\":true},"             \
    "{\"name\":\"pods\",\"kind\":\"Pod\",\"namespaced\":true}]}"
#define POD(name, rv, made)                                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                       \
    "\",\"namespace\":\"shop\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" rv                   \
    "\",\"creationTimestamp\":\"" made "\"}}"
#define OLD "2020-01-01T00:00:00Z"

TEST(changes_of_objects_become_calls_and_go_on_after_a_restart)
{
    struct rig g;
    rig_start(&g);
    gw.owns = gw.alone = true;
    start_api(&g);
    asked.n = 0;
    start_triggers(&g);
    struct fn_trigger t = on_pods();
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "/api/v1/namespaces/shop/pods?limit=1&labelSelector=app%3Dx");
    answer(&g, 200, "{\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[]}");
    expect(&g, "watch=");
    CHECK(strstr(api.call[asked.n].target, "resourceVersion=100"));
    rig_answers(&g, 1, &(struct played_answer){ .hold = true });
    struct fake_call *w = &api.call[asked.n++];
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    rig_until(&g, g.n_calls == 1);
    struct played_call *c = rig_held(&g);
    CHECK_STR(str_of(c->target), "/pod");
    CHECK_STR(headers_get(&c->headers, "ce-type"), "dev.dormouse.object.added");
    CHECK_STR(headers_get(&c->headers, "ce-source"), "/api/v1/namespaces/shop/pods");
    CHECK_STR(headers_get(&c->headers, "ce-subject"), "a");
    CHECK_STR(buf_str(&c->body), POD("a", "101", OLD));
    played_end(&g, c, &(struct played_answer){ .status = 200 });
    rig_answers(&g, 1, &(struct played_answer){ .status = 200 });
    fake_data(w, "{\"type\":\"MODIFIED\",\"object\":" POD("a", "102", OLD) "}\n");
    fake_data(w, "{\"type\":\"DELETED\",\"object\":" POD("a", "103", OLD) "}\n");
    rig_until(&g, stats().changes == 3);
    settle(&g);

    stop_triggers(&g); /* and start: it goes on where it was */
    rig_reopen(&g);
    start_triggers(&g);
    asked.n = api.n;
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "watch=");
    CHECK(strstr(api.call[asked.n].target, "resourceVersion=103"));
    w = &api.call[asked.n++];
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("b", "104", OLD) "}\n");
    rig_until(&g, g.n_calls == 4);
    settle(&g);

    /* History is gone: a list says what has changed since. */
    fake_data(w, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    fake_end(w, 0);
    settle(&g);
    expect(&g, "/api/v1/namespaces/shop/pods?limit=500");
    answer(&g, 200,
           "{\"metadata\":{\"resourceVersion\":\"200\",\"continue\":\"c1\"},\"items\":[" POD(
               "b", "104", OLD) "," POD("c", "150", OLD) "]}");
    expect(&g, "continue=c1");
    answer(&g, 200,
           "{\"metadata\":{\"resourceVersion\":\"200\"},\"items\":[" POD(
               "d", "160", "2999-01-01T00:00:00Z") "]"
                                                   "}");
    expect(&g, "watch=");
    CHECK(strstr(api.call[asked.n].target, "resourceVersion=200"));
    settle(&g);
    CHECK_INT(g.n_calls, 6); /* c and d, not b again */
    CHECK_INT(stats().changes, 3);

    rig_close_http(&g);
    stop_triggers(&g);
    stop_api(&g);
    rig_fini(&g);
}

TEST(changes_that_cannot_be_stored_are_told_later)
{
    struct rig g;
    rig_start(&g);
    gw.owns = gw.alone = true;
    start_api(&g);
    asked.n = 0;
    start_triggers(&g);
    struct fn_trigger t = on_pods();
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "limit=1");
    answer(&g, 200, "{\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[]}");
    expect(&g, "watch=");
    store_made_faulty(&g.loop, g.async->store);
    store_fails(FAULT_WRITES, "c/");
    struct fake_call *w = &api.call[asked.n++];
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    rig_until(&g, stats().failures == 1);
    store_works();
    fake_settle(&api);
    settle(&g);
    loop_skip(&g.loop, 2000);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "watch=");
    CHECK(strstr(api.call[asked.n].target, "resourceVersion=100"));
    w = &api.call[asked.n++];
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    rig_until(&g, g.n_calls == 1);
    settle(&g);
    rig_close_http(&g);
    stop_triggers(&g);
    stop_api(&g);
    rig_fini(&g);
    faulty_forget();
}

static struct fake_call *answer_until_watch(struct rig *g)
{
    expect(g, "/api/v1");
    answer(g, 200, RESOURCES);
    expect(g, "watch=");
    struct fake_call *w = &api.call[asked.n++];
    fake_head(w, 200);
    return w;
}

static void lose_history(struct rig *g, struct fake_call *w)
{
    fake_data(w, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    fake_end(w, 0);
    settle(g);
}

TEST(a_change_that_fails_to_be_stored_during_a_list_is_not_lost)
{
    struct rig g;
    rig_start(&g);
    gw.owns = gw.alone = true;
    start_api(&g);
    asked.n = 0;
    start_triggers(&g);
    struct fn_trigger t = on_pods();
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "limit=1");
    answer(&g, 200, "{\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[]}");
    expect(&g, "watch=");
    store_made_faulty(&g.loop, g.async->store);
    store_fails(FAULT_WRITES, "c/");
    faulty.n_late = 100;
    struct fake_call *w = &api.call[asked.n++];
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    rig_until(&g, faulty.n_struck == 1);
    fake_data(w, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    fake_end(w, 0);
    expect(&g, "pods?limit=500"); /* the call of a is still on its way to the disk */
    struct fake_call *list = &api.call[asked.n++];
    rig_until(&g, stats().failures == 1);
    CHECK(list->cancelled);
    store_works();
    fake_settle(&api);
    settle(&g);
    loop_skip(&g.loop, 2000);
    w = answer_until_watch(&g);
    CHECK(strstr(api.call[asked.n - 1].target, "resourceVersion=100"));
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    rig_until(&g, g.n_calls == 1);
    settle(&g);
    rig_close_http(&g);
    stop_triggers(&g);
    stop_api(&g);
    rig_fini(&g);
    faulty_forget();
}

/* A later change is stored, with a note of its version; the first one fails after that, while the
 * watch waits for another reason. */
TEST(a_change_that_fails_while_the_watch_waits_is_told_again)
{
    struct rig g;
    rig_start(&g);
    gw.owns = gw.alone = true;
    start_api(&g);
    asked.n = 0;
    start_triggers(&g);
    struct fn_trigger t = on_pods();
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "limit=1");
    answer(&g, 200, "{\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[]}");
    expect(&g, "watch=");
    store_made_faulty(&g.loop, g.async->store);
    store_fails(FAULT_WRITES, "c/");
    faulty.holds = true;
    struct fake_call *w = &api.call[asked.n++];
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    rig_until(&g, faulty.n_struck == 1);
    store_works();
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("b", "102", OLD) "}\n");
    rig_until(&g, stats().changes == 1);
    fake_data(w, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    fake_end(w, 0);
    expect(&g, "pods?limit=500");
    w = &api.call[asked.n++];
    fake_head(w, 500);
    fake_end(w, 0);
    rig_until(&g, stats().failures == 1);
    faulty.holds = false;
    settle(&g);
    loop_skip(&g.loop, 2000);
    w = answer_until_watch(&g);
    CHECK(strstr(api.call[asked.n - 1].target, "resourceVersion=100"));
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("a", "101", OLD) "}\n");
    fake_data(w, "{\"type\":\"ADDED\",\"object\":" POD("b", "102", OLD) "}\n");
    rig_until(&g, g.n_calls == 2);
    settle(&g);
    CHECK_INT(g.n_calls, 2); /* b is known by its key */
    rig_close_http(&g);
    stop_triggers(&g);
    stop_api(&g);
    rig_fini(&g);
    faulty_forget();
}

TEST(a_list_after_a_gap_tells_all_of_it_however_often_it_fails)
{
    static const char first_form[] =
        "{\"metadata\":{\"resourceVersion\":\"200\",\"continue\":\"c1\"},\"items\":[" POD(
            "a", "150", "%s") "," POD("b", "151", "%s") "]}";
    static const char last_form[] = "{\"metadata\":{\"resourceVersion\":\"200\"},\"items\":[" POD(
        "c", "160", "%s") "," POD("d", "161", OLD) "]}";
    char made[RFC3339_MAX], first[1024], last[1024];
    struct rig g;
    rig_start(&g);
    gw.owns = gw.alone = true;
    start_api(&g);
    asked.n = 0;
    start_triggers(&g);
    struct fn_trigger t = on_pods();
    t.on_modified = false; /* what is new must not be taken for changed */
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "limit=1");
    answer(&g, 200, "{\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[]}");
    expect(&g, "watch=");
    struct fake_call *w = &api.call[asked.n++];
    fake_head(w, 200);
    lose_history(&g, w);
    rfc3339_format(clock_wall_ms() / 1000, made);
    (void)snprintf(first, sizeof first, first_form, made, made);
    (void)snprintf(last, sizeof last, last_form, made);
    store_made_faulty(&g.loop, g.async->store);
    store_fails(FAULT_WRITES, "c/");
    expect(&g, "limit=500");
    answer(&g, 200, first);
    rig_until(&g, stats().failures == 1);
    store_works();
    loop_skip(&g.loop, 2000);
    lose_history(&g, answer_until_watch(&g));
    expect(&g, "limit=500");
    CHECK(!strstr(api.call[asked.n].target, "continue="));
    answer(&g, 200, first);
    expect(&g, "continue=c1");
    answer(&g, 200, last);
    expect(&g, "watch=");
    CHECK(strstr(api.call[asked.n].target, "resourceVersion=200"));
    settle(&g);
    CHECK_INT(g.n_calls, 3); /* a, b and c */
    rig_close_http(&g);
    stop_triggers(&g);
    stop_api(&g);
    rig_fini(&g);
    faulty_forget();
}

TEST(other_namespaces_need_rights_of_the_functions_own)
{
    struct rig g;
    rig_start(&g);
    gw.owns = gw.alone = true;
    start_api(&g);
    asked.n = 0;
    start_triggers(&g);
    struct fn_trigger t = on_pods();
    t.namespace = STR("*");
    set(&g, "pay", 1, &t);
    expect(&g, "/api/v1");
    answer(&g, 200, RESOURCES);
    expect(&g, "/api/v1/pods?limit=1");
    CHECK_STR(str_of(api.call[asked.n].user), "system:serviceaccount:shop:default");
    answer(&g, 403, "{}");
    CHECK_INT(stats().failures, 1);
    size_t n = api.n;
    settle(&g);
    CHECK_INT(api.n, n); /* not at once */
    gw.owns = false;
    gw.members(gw.members_arg);
    loop_skip(&g.loop, 120000);
    settle(&g);
    CHECK_INT(api.n, n);
    rig_close_http(&g);
    stop_triggers(&g);
    stop_api(&g);
    rig_fini(&g);
}

TEST_MAIN
