/* SPDX-License-Identifier: Apache-2.0 */
/* client/reflector: list in pages, watch, list again; the cluster is a transport played by hand. */
#include "client/reflector.h"

#include "fake_transport.h"
#include "test.h"

#include <limits.h>

enum close_in { NOWHERE, IN_OBJECT, IN_DELETED, IN_SYNCED };

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct reflector *reflector;
    struct buf reported; /* "+a ", "-a ", "synced " */
    enum close_in close_in;
    bool relists; /* at the next object */
};

static void tell(struct rig *r, enum close_in where)
{
    if (r->close_in != where)
        return;
    r->close_in = NOWHERE;
    reflector_close(take_ptr(&r->reflector));
}

static void on_object(void *arg, const struct json *object)
{
    struct rig *r = arg;
    buf_printf(&r->reported, "+" STR_FMT " ",
               STR_ARG(json_get_str(json_getc(object, "metadata"), "name")));
    if (r->relists)
        reflector_relist(r->reflector);
    r->relists = false;
    tell(r, IN_OBJECT);
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct rig *r = arg;
    CHECK_STR(namespace, "ns");
    buf_printf(&r->reported, "-" STR_FMT " ", STR_ARG(name));
    tell(r, IN_DELETED);
}

static void on_synced(void *arg)
{
    struct rig *r = arg;
    buf_add_cstr(&r->reported, "synced ");
    tell(r, IN_SYNCED);
}

static const struct reflector_ops ops = { .on_object = on_object,
                                          .on_deleted = on_deleted,
                                          .on_synced = on_synced };

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void on_deadline(struct timer *t)
{
    TEST_FAIL("no request came");
}

/* Request number i, when it has been made. */
static struct fake_call *call(struct rig *r, size_t i)
{
    struct timer deadline = { 0 };
    timer_start(&r->loop, &deadline, 60000, on_deadline);
    while (r->fake.n <= i)
        (void)loop_turn(&r->loop, true);
    timer_stop(&r->loop, &deadline);
    return &r->fake.call[i];
}

static void rig_init(struct rig *r)
{
    struct err err = { 0 };
    *r = (struct rig){ .reported = BUF_INIT(4096) };
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, &err));
    struct reflector_opts opts = { .loop = &r->loop,
                                   .transport = &r->fake.base,
                                   .hub = r->hub,
                                   .key = { .group_version = STR("v1"),
                                            .plural = STR("maps"),
                                            .namespace = STR("ns"),
                                            .label_selector = STR("a=b,c") },
                                   .ops = &ops,
                                   .arg = r };
    CHECK_OK(reflector_start(&opts, &r->reflector, &err));
    CHECK_INT(r->fake.n, 0); /* not from inside */
}

static void rig_fini(struct rig *r)
{
    reflector_close(r->reflector);
    turn(r);
    fake_settle(&r->fake);
    watch_hub_close(r->hub, NULL, NULL);
    turn(r);
    fake_settle(&r->fake);
    turn(r);
    buf_fini(&r->reported);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

/* A page: names are single letters. token "" is the last one. */
static void page(struct fake_call *c, const char *rv, const char *names, const char *token)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(4096);
    buf_printf(&b, "{\"metadata\":{\"resourceVersion\":\"%s\",\"continue\":\"%s\"},\"items\":[", rv,
               token);
    for (const char *p = names; *p; p++)
        buf_printf(&b, "%s{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%c\"}}",
                   p == names ? "" : ",", *p);
    buf_add_cstr(&b, "]}");
    fake_head(c, 200);
    fake_data(c, buf_cstr(&b));
    fake_end(c, 0);
}

static void event(struct fake_call *c, const char *type, char name, int rv)
{
    scoped(free_scoped) char *line =
        xasprintf("{\"type\":\"%s\",\"object\":{\"metadata\":{\"namespace\":\"ns\",\"name\":\"%c\","
                  "\"resourceVersion\":\"%d\"}}}\n",
                  type, name, rv);
    fake_data(c, line);
}

static void check_reported(struct rig *r, const char *want)
{
    turn(r);
    CHECK_STR(buf_str(&r->reported), want);
    buf_reset(&r->reported);
}

/* The history is gone: the watch ends, and a list follows. */
static void expire(struct fake_call *c)
{
    fake_data(c, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":"
                 "\"Expired\"}}\n");
}

/* Knows "ab", watches with request 1. */
static void start(struct rig *r)
{
    rig_init(r);
    page(call(r, 0), "5", "ab", "");
    fake_head(call(r, 1), 200);
    check_reported(r, "+a +b synced ");
}

TEST(pages_are_read_to_the_end_then_watched_from_there)
{
    struct rig r;
    rig_init(&r);
    CHECK_STR(str_of(call(&r, 0)->target),
              "/api/v1/namespaces/ns/maps?limit=500&labelSelector=a%3Db%2Cc");
    page(call(&r, 0), "5", "ab", "to/ken=");
    CHECK(str_has_suffix(str_of(call(&r, 1)->target), STR("&continue=to%2Fken%3D")));
    check_reported(&r, "+a +b ");
    page(call(&r, 1), "5", "c", "");
    CHECK(strstr(call(&r, 2)->target, "watch=true") &&
          strstr(call(&r, 2)->target, "resourceVersion=5"));
    check_reported(&r, "+c synced ");
    rig_fini(&r);
}

TEST(events_are_objects_and_names_bookmarks_are_nothing)
{
    struct rig r;
    start(&r);
    event(call(&r, 1), "ADDED", 'c', 6);
    event(call(&r, 1), "MODIFIED", 'a', 7);
    event(call(&r, 1), "BOOKMARK", 'x', 8);
    event(call(&r, 1), "DELETED", 'b', 9);
    check_reported(&r, "+c +a -b ");
    rig_fini(&r);
}

TEST(what_went_while_nobody_looked_is_deleted_at_the_end_of_the_next_list)
{
    struct rig r;
    start(&r);
    event(call(&r, 1), "ADDED", 'c', 6);
    check_reported(&r, "+c ");
    expire(call(&r, 1));
    page(call(&r, 2), "20", "bd", "more");
    check_reported(&r, "+b +d "); /* a and c may be on the next page */
    page(call(&r, 3), "20", "c", "");
    CHECK(strstr(call(&r, 4)->target, "resourceVersion=20"));
    check_reported(&r, "+c -a "); /* and synced only once */
    rig_fini(&r);
}

TEST(a_continue_token_that_expired_starts_the_list_over)
{
    struct rig r;
    rig_init(&r);
    page(call(&r, 0), "5", "ab", "token");
    fake_head(call(&r, 1), 410);
    fake_data(call(&r, 1), "{\"kind\":\"Status\",\"code\":410}");
    fake_end(call(&r, 1), 0);
    CHECK(!strstr(call(&r, 2)->target, "continue"));
    check_reported(&r, "+a +b ");
    page(call(&r, 2), "9", "b", "");
    check_reported(&r, "+b -a synced ");
    rig_fini(&r);
}

TEST(failures_and_nonsense_are_tried_again)
{
    struct rig r;
    rig_init(&r);
    fake_end(call(&r, 0), -ECONNREFUSED);
    fake_head(call(&r, 1), 200);
    fake_data(call(&r, 1), "{\"items\":[");
    fake_end(call(&r, 1), 0);
    page(call(&r, 2), "no number", "a", "");
    page(call(&r, 3), "5", "a", "");
    check_reported(&r, "+a synced ");
    rig_fini(&r);
}

TEST(a_transport_that_refuses_to_start_is_tried_again)
{
    struct rig r;
    rig_init(&r);
    r.fake.refuse = -EMFILE;
    page(call(&r, 0), "5", "a", "");
    check_reported(&r, "+a synced ");
    rig_fini(&r);
}

TEST(a_transport_that_refuses_a_further_page_starts_the_list_over)
{
    struct rig r;
    rig_init(&r);
    struct fake_call *first = call(&r, 0);
    r.fake.refuse = -EMFILE; /* the next one */
    page(first, "5", "a", "more");
    turn(&r);
    page(call(&r, 1), "6", "b", "");
    CHECK(str_find(str_of(r.fake.call[1].target), STR("continue")) < 0);
    check_reported(&r, "+a +b -a synced ");
    rig_fini(&r);
}

TEST(who_may_list_but_not_watch_waits_longer_each_time)
{
    struct rig r;
    rig_init(&r);
    for (size_t i = 0; i < 3; i++) {
        page(call(&r, 2 * i), "5", "a", "");
        fake_head(call(&r, 2 * i + 1), 403);
        fake_end(call(&r, 2 * i + 1), 0);
        turn(&r);
    }
    CHECK_INT(r.fake.n, 6);
    CHECK_INT(r.loop.timers.n, 1);
    CHECK(loop_next_timer_ms(&r.loop) - loop_now_ms(&r.loop) > REFLECTOR_RETRY_FIRST_MS);
    rig_fini(&r);
}

TEST(a_list_that_a_callback_asks_for_follows_the_running_one)
{
    struct rig r;
    rig_init(&r);
    r.relists = true;
    page(call(&r, 0), "5", "ab", "more"); /* asked at "a" */
    check_reported(&r, "+a +b ");
    CHECK(strstr(call(&r, 1)->target, "continue"));
    page(call(&r, 1), "5", "c", "");
    check_reported(&r, "+c synced ");
    CHECK(!strstr(call(&r, 2)->target, "watch=true") && !strstr(call(&r, 2)->target, "continue"));
    page(call(&r, 2), "7", "ab", "");
    check_reported(&r, "+a +b -c ");
    fake_head(call(&r, 3), 200);
    CHECK(strstr(call(&r, 3)->target, "watch=true"));
    r.relists = true;
    event(call(&r, 3), "ADDED", 'd', 8); /* asked in the watch: it ends */
    check_reported(&r, "+d ");
    page(call(&r, 4), "9", "abd", "");
    check_reported(&r, "+a +b +d ");
    CHECK(strstr(call(&r, 5)->target, "resourceVersion=9"));
    CHECK_INT(r.fake.n, 6);
    rig_fini(&r);
}

TEST(closed_inside_any_callback_nothing_follows)
{
    struct rig r;
    rig_init(&r);
    r.close_in = IN_OBJECT;
    page(call(&r, 0), "5", "ab", "");
    check_reported(&r, "+a ");
    CHECK_INT(r.fake.n, 1);
    rig_fini(&r);

    rig_init(&r);
    r.close_in = IN_SYNCED;
    page(call(&r, 0), "5", "ab", "");
    check_reported(&r, "+a +b synced ");
    rig_fini(&r);

    start(&r);
    expire(call(&r, 1));
    (void)call(&r, 2);
    r.close_in = IN_DELETED; /* of two */
    page(call(&r, 2), "9", "", "");
    turn(&r);
    CHECK_INT(r.reported.n, 3);
    CHECK_INT(r.fake.n, 3);
    rig_fini(&r);

    start(&r);
    r.close_in = IN_OBJECT; /* of the watch */
    event(call(&r, 1), "ADDED", 'c', 6);
    event(call(&r, 1), "ADDED", 'd', 7);
    check_reported(&r, "+c ");
    rig_fini(&r);

    start(&r);
    r.close_in = IN_DELETED;
    event(call(&r, 1), "DELETED", 'a', 6);
    check_reported(&r, "-a ");
    rig_fini(&r);
}

TEST(closed_before_it_began_or_in_the_middle_of_a_page)
{
    struct rig r;
    rig_init(&r);
    reflector_close(take_ptr(&r.reflector));
    turn(&r);
    CHECK_INT(r.fake.n, 0);
    rig_fini(&r);

    rig_init(&r);
    fake_head(call(&r, 0), 200);
    reflector_close(take_ptr(&r.reflector));
    CHECK(r.fake.call[0].cancelled);
    fake_data(&r.fake.call[0], "late"); /* what was on its way */
    fake_end(&r.fake.call[0], -ECANCELED);
    check_reported(&r, "");
    rig_fini(&r);
}

TEST_MAIN
