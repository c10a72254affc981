/* SPDX-License-Identifier: Apache-2.0 */
/* kube/object_cache: informers, subscriptions and reads; the cluster is a transport played by hand.
 */
#include "client/object_cache.h"

#include "fake_transport.h"
#include "test.h"

enum { SUBS = 8 };

struct user {
    struct object_sub *sub;
    struct buf reported; /* "+a" added, "~a" updated, "-a" deleted, "!" in a snapshot, "S12" synced,
                        "EDENIED" */
    bool cancel_on_event;
    uint64_t content_before, content_now;
};

struct reader {
    struct object_read *read;
    bool done;
    int r;
    struct buf items; /* one a line */
    char token[64];
    uint64_t n_left, rv;
};

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct object_cache *cache;
    struct user u[SUBS];
    struct reader rd;
    size_t next_call; /* not looked at yet */
    unsigned progress;
    bool closed;
};

static void tell(struct user *u, const char *sign, const struct cached_object *o, bool initial)
{
    buf_printf(&u->reported, "%s%s" STR_FMT " ", initial ? "!" : "", sign,
               STR_ARG(cached_object_name(o)));
}

static void on_event(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial)
{
    struct user *u = arg;
    CHECK((now != NULL) == (type != OBJECT_DELETED));
    CHECK((before != NULL) == (type != OBJECT_ADDED));
    tell(u,
         type == OBJECT_ADDED     ? "+"
         : type == OBJECT_UPDATED ? "~"
                                  : "-",
         now ? now : before, initial);
    u->content_before = before ? cached_object_content_hash(before) : 0;
    u->content_now = now ? cached_object_content_hash(now) : 0;
    if (u->cancel_on_event)
        object_sub_cancel(take_ptr(&u->sub));
}

static void on_synced(void *arg, uint64_t rv)
{
    struct user *u = arg;
    buf_printf(&u->reported, "S%" PRIu64 " ", rv);
}

static void on_error(void *arg, int r, const struct err *err)
{
    struct user *u = arg;
    CHECK(err->code == r && err->text[0]);
    buf_printf(&u->reported, "E:%s ", err_name(r));
}

static const struct object_sub_ops ops = { .on_event = on_event,
                                           .on_synced = on_synced,
                                           .on_error = on_error };

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++) {
        (void)loop_turn(&r->loop, false);
        fake_settle(&r->fake);
    }
}

static void on_deadline(struct timer *t)
{
    TEST_FAIL("what should happen did not");
}

#define WAIT_UNTIL(r, cond)                                                                        \
    do {                                                                                           \
        struct timer deadline_ = { 0 };                                                            \
        timer_start(&(r)->loop, &deadline_, 60000, on_deadline);                                   \
        while (!(cond)) {                                                                          \
            (void)loop_turn(&(r)->loop, true);                                                     \
            fake_settle(&(r)->fake);                                                               \
        }                                                                                          \
        timer_stop(&(r)->loop, &deadline_);                                                        \
    } while (0)

/* The next request; it must be this one. */
static struct fake_call *expect(struct rig *r, const char *target)
{
    WAIT_UNTIL(r, r->fake.n > r->next_call);
    struct fake_call *c = &r->fake.call[r->next_call++];
    if (!strstr(c->target, target))
        TEST_FAIL("request for '%s', expected '%s'", c->target, target);
    return c;
}

static void on_request_progress(void *arg)
{
    struct rig *r = arg;
    r->progress++;
}

static void rig_init(struct rig *r, const struct object_cache_opts *like)
{
    struct err err = { 0 };
    *r = (struct rig){ .rd.items = BUF_INIT(1 << 20) };
    for (size_t i = 0; i < SUBS; i++)
        r->u[i].reported = BUF_INIT(1 << 20);
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT32_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, &err));
    struct object_cache_opts opts = *like;
    opts.loop = &r->loop;
    opts.transport = &r->fake.base;
    opts.hub = r->hub;
    opts.request_progress = on_request_progress;
    opts.arg = r;
    CHECK_OK(object_cache_new(&opts, &r->cache, &err));
}

static void on_closed(void *arg)
{
    struct rig *r = arg;
    r->closed = true;
}

static void rig_fini(struct rig *r)
{
    for (size_t i = 0; i < SUBS; i++)
        object_sub_cancel(r->u[i].sub);
    turn(r);
    object_cache_close(r->cache, on_closed, r);
    WAIT_UNTIL(r, r->closed);
    turn(r);
    watch_hub_close(r->hub, NULL, NULL);
    turn(r);
    for (size_t i = 0; i < SUBS; i++)
        buf_fini(&r->u[i].reported);
    buf_fini(&r->rd.items);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
}

static void subscribe(struct rig *r, size_t i, struct object_sub_opts opts)
{
    struct err err = { 0 };
    opts.group_version = STR("v1");
    opts.plural = STR("pods");
    opts.ops = &ops;
    opts.arg = &r->u[i];
    size_t reported = r->u[i].reported.n;
    if (object_cache_subscribe(r->cache, &opts, &r->u[i].sub, &err) < 0)
        TEST_FAIL("%s", err.text);
    CHECK_INT(r->u[i].reported.n, reported); /* not from inside */
}

static void check_reported(struct rig *r, size_t i, const char *want)
{
    turn(r);
    CHECK_STR(buf_str(&r->u[i].reported), want);
    buf_reset(&r->u[i].reported);
}

/* name[@namespace] rv labels: JSON of a pod; uid and owner follow from the name. */
static char *pod(const char *namespace, const char *name, int rv, const char *labels,
                 const char *node)
{
    return xasprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"%"
        "s\","
        "\"uid\":\"00000000-0000-4000-8000-0000000000%02x\",\"resourceVersion\":\"%d\","
        "\"generation\":7,\"labels\":{%s},\"annotations\":{\"note\":\"n-%s\"},"
        "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"set\","
        "\"uid\":\"11111111-0000-4000-8000-000000000000\",\"controller\":true}],"
        "\"managedFields\":[{\"manager\":\"m\",\"time\":\"%d\"}]},"
        "\"spec\":{\"nodeName\":\"%s\",\"text\":\"\\u00e4\\\"}\"},\"status\":{\"history\":[1,2],"
        "\"phase\":\"Running\"}}",
        name, namespace, name[0], rv, labels, name, rv, node);
}

static void emit(struct fake_call *c, const char *type, char *object)
{
    scoped(free_scoped) char *line = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
    fake_data(c, line);
    free(object);
}

static void end_of_list(struct rig *r, struct fake_call *c, int rv)
{
    scoped(free_scoped) char *line =
        xasprintf("{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%d\","
                  "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n",
                  rv);
    fake_data(c, line);
    fake_settle(&r->fake);
}

/* A streamed list of pods a, b, c ... in namespace "ns" with label app=name; version 1, 2, ... */
static struct fake_call *stand(struct rig *r, const char *names, int rv)
{
    struct fake_call *c = expect(r, "sendInitialEvents=true");
    fake_head(c, 200);
    for (int i = 0; names[i]; i++) {
        char name[] = { names[i], '\0' }, labels[32];
        (void)snprintf(labels, sizeof labels, "\"app\":\"%s\"", name);
        emit(c, "ADDED", pod("ns", name, i + 1, labels, i % 2 ? "odd" : "even"));
    }
    end_of_list(r, c, rv);
    struct fake_call *watch = expect(r, "allowWatchBookmarks=true");
    fake_head(watch, 200);
    turn(r);
    return watch;
}

TEST(subscribers_share_one_list_and_one_watch)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "ab", 5);
    check_reported(&r, 0, "!+a !+b S5 ");
    CHECK(object_sub_is_synced(r.u[0].sub));
    /* A late one gets the state, then every event once. */
    subscribe(&r, 1, (struct object_sub_opts){ 0 });
    emit(w, "ADDED", pod("ns", "c", 6, "", "n")); /* before its turn: part of the snapshot */
    check_reported(&r, 0, "+c ");
    check_reported(&r, 1, "!+a !+b !+c S6 ");
    emit(w, "MODIFIED", pod("ns", "a", 7, "", "n"));
    emit(w, "DELETED", pod("ns", "b", 8, "", "n"));
    check_reported(&r, 0, "~a -b ");
    check_reported(&r, 1, "~a -b ");
    CHECK_INT(object_sub_rv(r.u[0].sub), 8);
    CHECK_INT(r.fake.n, 2);
    struct object_cache_stats s;
    object_cache_get_stats(r.cache, &s);
    CHECK_INT(s.informers, 1);
    CHECK_INT(s.objects, 2);
    rig_fini(&r);
}

TEST(events_of_a_snapshot_that_is_being_told_wait_for_it)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    fake_head(c, 200);
    for (int i = 0; i < 600; i++) { /* more than one turn tells */
        char name[16];
        (void)snprintf(name, sizeof name, "p%03d", i);
        emit(c, "ADDED", pod("ns", name, i + 1, "", "n"));
    }
    end_of_list(&r, c, 600);
    struct fake_call *w = expect(&r, "allowWatchBookmarks=true");
    fake_head(w, 200);
    while (r.u[0].reported.n == 0)
        (void)loop_turn(&r.loop, false);
    CHECK(!object_sub_is_synced(r.u[0].sub));
    emit(w, "MODIFIED", pod("ns", "p599", 601, "", "n"));
    emit(w, "MODIFIED", pod("ns", "p599", 602, "", "n"));
    emit(w, "DELETED", pod("ns", "p000", 603, "", "n"));
    emit(w, "ADDED", pod("ns", "new", 604, "", "n"));
    emit(w, "DELETED", pod("ns", "new", 605, "", "n"));
    turn(&r);
    struct str reported = buf_str(&r.u[0].reported);
    CHECK(str_has_suffix(reported, STR("!+p599 S600 ~p599 -p000 ")));
    rig_fini(&r);
}

TEST(a_list_after_a_gap_tells_only_differences)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "abc", 5);
    check_reported(&r, 0, "!+a !+b !+c S5 ");
    fake_data(w, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    fake_head(c, 200);
    emit(c, "ADDED", pod("ns", "a", 1, "\"app\":\"a\"", "even")); /* as it was */
    emit(c, "ADDED", pod("ns", "c", 9, "\"app\":\"c\"", "even"));
    emit(c, "ADDED", pod("ns", "d", 10, "", "n"));
    end_of_list(&r, c, 12);
    check_reported(&r, 0, "~c +d -b ");
    CHECK_INT(object_sub_rv(r.u[0].sub), 12);
    fake_head(expect(&r, "resourceVersion=12"), 200);
    check_reported(&r, 0, "");
    rig_fini(&r);
}

TEST(an_object_replaced_by_another_of_its_name_is_deleted_and_added)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    check_reported(&r, 0, "!+a S5 ");
    fake_data(w, "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\","
                 "\"namespace\":\"ns\",\"uid\":\"other\",\"resourceVersion\":\"6\"}}}\n");
    check_reported(&r, 0, "-a +a ");
    rig_fini(&r);
}

TEST(a_selector_is_served_by_a_wider_feed_and_what_leaves_it_is_deleted)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "abc", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .label_selector = STR("app in (a,b)") });
    subscribe(&r, 2, (struct object_sub_opts){ .namespace = STR("other") });
    subscribe(&r, 3, (struct object_sub_opts){ .namespace = STR("ns"), .name = STR("c") });
    subscribe(&r, 4, (struct object_sub_opts){ .field_selector = STR("metadata.name=b") });
    check_reported(&r, 1, "!+a !+b S5 ");
    check_reported(&r, 2, "S5 ");
    check_reported(&r, 3, "!+c S5 ");
    check_reported(&r, 4, "!+b S5 ");
    emit(w, "MODIFIED", pod("ns", "a", 6, "\"app\":\"z\"", "n")); /* leaves */
    emit(w, "MODIFIED", pod("ns", "c", 7, "\"app\":\"b\"", "n")); /* enters */
    emit(w, "MODIFIED", pod("ns", "b", 8, "\"app\":\"b\"", "n"));
    emit(w, "ADDED", pod("other", "a", 9, "", "n"));
    check_reported(&r, 1, "-a +c ~b ");
    check_reported(&r, 2, "+a ");
    check_reported(&r, 3, "~c ");
    check_reported(&r, 4, "~b ");
    emit(w, "DELETED", pod("ns", "a", 10, "\"app\":\"z\"", "n"));
    check_reported(&r, 1, "");
    CHECK_INT(r.fake.n, 2); /* nothing was asked for them */
    rig_fini(&r);
}

TEST(a_selector_alone_is_watched_as_such)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0,
              (struct object_sub_opts){ .namespace = STR("ns"),
                                        .label_selector = STR("app=a"),
                                        .field_selector = STR("spec.nodeName=n") });
    struct fake_call *c = expect(&r, "/namespaces/ns/pods?watch=true");
    CHECK(strstr(c->target, "labelSelector=app%3Da"));
    CHECK(strstr(c->target, "fieldSelector=spec.nodeName%3Dn"));
    rig_fini(&r);
}

TEST(many_namespaces_become_one_watch_and_narrow_ones_where_that_is_forbidden)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ .widen_at = 1 });
    subscribe(&r, 0, (struct object_sub_opts){ .namespace = STR("a") });
    (void)expect(&r, "/api/v1/namespaces/a/pods?");
    subscribe(&r, 1, (struct object_sub_opts){ .namespace = STR("a"), .name = STR("one") });
    subscribe(&r, 2, (struct object_sub_opts){ .namespace = STR("b"), .name = STR("one") });
    (void)expect(&r, "/api/v1/namespaces/b/pods?"); /* never wider for a name */
    subscribe(&r, 3, (struct object_sub_opts){ .namespace = STR("c") });
    subscribe(&r, 4, (struct object_sub_opts){ .namespace = STR("d") });
    struct fake_call *wide = expect(&r, "/api/v1/pods?");
    fake_head(wide, 403);
    fake_end(wide, 0);
    wide = expect(&r, "/api/v1/pods?limit");
    fake_head(wide, 403);
    fake_end(wide, 0);
    struct fake_call *c = expect(&r, "/api/v1/namespaces/");
    CHECK(strstr(c->target, "/namespaces/c/") || strstr(c->target, "/namespaces/d/"));
    c = expect(&r, "/api/v1/namespaces/");
    check_reported(&r, 3, ""); /* they have not noticed */
    check_reported(&r, 4, "");
    rig_fini(&r);
}

TEST(pausing_merges_what_happens_to_one_object)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "ab", 5);
    check_reported(&r, 0, "!+a !+b S5 ");
    object_sub_pause(r.u[0].sub);
    emit(w, "MODIFIED", pod("ns", "a", 6, "", "n"));
    emit(w, "MODIFIED", pod("ns", "a", 7, "", "n"));
    emit(w, "DELETED", pod("ns", "b", 8, "", "n"));
    emit(w, "ADDED", pod("ns", "c", 9, "", "n"));
    emit(w, "DELETED", pod("ns", "c", 10, "", "n"));
    emit(w, "ADDED", pod("ns", "d", 11, "", "n"));
    check_reported(&r, 0, "");
    object_sub_resume(r.u[0].sub);
    check_reported(&r, 0, "~a -b +d ");
    emit(w, "MODIFIED", pod("ns", "a", 12, "", "n"));
    check_reported(&r, 0, "~a ");
    rig_fini(&r);
}

TEST(a_callback_may_cancel_its_subscription_and_the_feed_goes_after_a_grace)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ .grace_ms = 1 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    subscribe(&r, 1, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "ab", 5);
    check_reported(&r, 0, "!+a !+b S5 ");
    check_reported(&r, 1, "!+a !+b S5 ");
    r.u[0].cancel_on_event = r.u[1].cancel_on_event = true;
    emit(w, "MODIFIED", pod("ns", "a", 6, "", "n"));
    check_reported(&r, 0, "~a ");
    check_reported(&r, 1, "~a ");
    struct object_cache_stats s;
    do {
        (void)loop_turn(&r.loop, true);
        object_cache_get_stats(r.cache, &s);
    } while (s.informers);
    CHECK_INT(s.objects, 0);
    turn(&r);
    CHECK(w->ended);
    rig_fini(&r);
}

TEST(facts_tell_what_has_changed)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    const struct cached_object *o = object_sub_find(r.u[0].sub, STR("ns"), STR("a"));
    CHECK(o && !object_sub_find(r.u[0].sub, STR("ns"), STR("b")));
    char text[CACHED_UID_BYTES];
    CHECK_STR(cached_object_uid(o, text), "00000000-0000-4000-8000-000000000061");
    CHECK_INT(cached_object_rv(o), 1);
    CHECK_INT(cached_object_generation(o), 7);
    CHECK_STR(cached_object_label(o, STR("app")), "a");
    CHECK(!cached_object_label(o, STR("ap")).p && !cached_object_is_deleting(o));
    CHECK_INT(cached_object_n_owners(o), 1);
    struct object_owner owner;
    cached_object_owner(o, 0, &owner);
    CHECK_STR(owner.api_version, "apps/v1");
    CHECK_STR(owner.kind, "ReplicaSet");
    CHECK_STR(owner.name, "set");
    CHECK_STR(owner.uid, "11111111-0000-4000-8000-000000000000");
    CHECK(owner.is_controller);
    uint64_t labels = cached_object_labels_hash(o), notes = cached_object_annotations_hash(o);
    /* Only version and managedFields differ. */
    emit(w, "MODIFIED", pod("ns", "a", 6, "\"app\":\"a\"", "even"));
    check_reported(&r, 0, "!+a S5 ~a ");
    CHECK(r.u[0].content_now == r.u[0].content_before);
    emit(w, "MODIFIED", pod("ns", "a", 7, "\"app\":\"b\"", "even"));
    check_reported(&r, 0, "~a ");
    CHECK(r.u[0].content_now != r.u[0].content_before);
    o = object_sub_find(r.u[0].sub, STR("ns"), STR("a"));
    CHECK(cached_object_labels_hash(o) != labels && cached_object_annotations_hash(o) == notes);
    rig_fini(&r);
}

static bool collect(void *arg, const struct cached_object *o)
{
    buf_printf(arg, STR_FMT " ", STR_ARG(cached_object_name(o)));
    return true;
}

static void check_found(struct rig *r, size_t field, const char *value, const char *want)
{
    scoped(buf_fini_scoped) struct buf found = BUF_INIT(4096);
    object_sub_find_by(r->u[0].sub, field, str_of(value), STR(""), collect, &found);
    CHECK_STR(buf_str(&found), want);
}

TEST(indexes_find_objects_by_owner_label_and_field)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    const struct object_field fields[] = {
        { OBJECT_FIELD_OWNER_UID, STR(""), true },
        { OBJECT_FIELD_LABEL, STR("app"), true },
        { OBJECT_FIELD_PATH, STR(".spec.nodeName"), true },
        { OBJECT_FIELD_ANNOTATION, STR("note"), false },
        { OBJECT_FIELD_PATH, STR(".status.history[*]"), true },
    };
    subscribe(&r, 0, (struct object_sub_opts){ .fields = fields, .n_fields = ARRAY_LEN(fields) });
    struct fake_call *w = stand(&r, "ab", 5);
    check_found(&r, 0, "11111111-0000-4000-8000-000000000000", "b a ");
    check_found(&r, 1, "b", "b ");
    check_found(&r, 2, "even", "a ");
    check_found(&r, 2, "none", "");
    check_found(&r, 4, "2", "b a ");
    emit(w, "MODIFIED", pod("ns", "a", 6, "\"app\":\"b\"", "odd"));
    turn(&r);
    check_found(&r, 1, "a", "");
    check_found(&r, 2, "even", "");
    check_found(&r, 2, "odd", "a b ");
    struct str v[2];
    const struct cached_object *o = object_sub_find(r.u[0].sub, STR("ns"), STR("a"));
    CHECK_INT(object_sub_field(r.u[0].sub, o, 3, v, 2), 1);
    CHECK_STR(v[0], "n-a");
    CHECK_INT(object_sub_field(r.u[0].sub, o, 4, v, 1), 2);
    CHECK_STR(v[0], "1");
    emit(w, "DELETED", pod("ns", "a", 7, "", "odd"));
    turn(&r);
    check_found(&r, 2, "odd", "b ");
    rig_fini(&r);
}

TEST(a_field_declared_later_is_filled_by_another_list)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 1, (struct object_sub_opts){ 0 });
    (void)stand(&r, "ab", 5);
    check_reported(&r, 1, "!+a !+b S5 ");
    const struct object_field field = { OBJECT_FIELD_PATH, STR(".spec.nodeName"), true };
    subscribe(&r, 0, (struct object_sub_opts){ .fields = &field, .n_fields = 1 });
    check_reported(&r, 0, ""); /* it waits */
    (void)stand(&r, "ab", 6);
    check_reported(&r, 0, "!+a !+b S6 ");
    check_reported(&r, 1, "");
    check_found(&r, 0, "even", "a ");
    rig_fini(&r);
}

/* ---------------------------------------------------------------- errors */

TEST(a_server_without_streamed_lists_is_asked_for_pages)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    fake_head(c, 422);
    fake_end(c, 0);
    c = expect(&r, "/api/v1/pods?limit=500");
    fake_head(c, 200);
    fake_data(
        c, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"4\"},"
           "\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
           "\"resourceVersion\":\"2\"},\"spec\":{}}]}");
    fake_end(c, 0);
    fake_head(expect(&r, "allowWatchBookmarks=true"), 200);
    check_reported(&r, 0, "!+a S4 ");
    rig_fini(&r);
}

static void refuse(struct rig *r, int status)
{
    struct fake_call *c = expect(r, "/pods?");
    fake_head(c, status);
    fake_end(c, 0);
    if (strstr(c->target, "sendInitialEvents")) { /* the list says whether it was the stream */
        c = expect(r, "limit=500");
        fake_head(c, status);
        fake_end(c, 0);
    }
}

TEST(a_forbidden_watch_is_told_once_and_tried_again)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    refuse(&r, 403);
    check_reported(&r, 0, "E:E_DENIED ");
    refuse(&r, 403);
    check_reported(&r, 0, "");
    struct fake_call *w = stand(&r, "a", 5);
    check_reported(&r, 0, "!+a S5 ");
    /* The right goes away while the watch stands: its next connection is refused. */
    fake_end(w, 0);
    struct fake_call *c = expect(&r, "allowWatchBookmarks=true");
    fake_head(c, 403);
    fake_end(c, 0);
    refuse(&r, 403);
    check_reported(&r, 0, "E:E_DENIED ");
    CHECK(!object_sub_is_synced(r.u[0].sub));
    struct object_cache_stats s;
    object_cache_get_stats(r.cache, &s);
    CHECK_INT(s.objects, 0);
    (void)stand(&r, "b", 9);
    check_reported(&r, 0, "!+b S9 ");
    rig_fini(&r);
}

TEST(a_resource_that_vanishes_and_comes_back)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    check_reported(&r, 0, "!+a S5 ");
    fake_end(w, 0);
    struct fake_call *c = expect(&r, "allowWatchBookmarks=true");
    fake_head(c, 404);
    fake_end(c, 0);
    refuse(&r, 404);
    check_reported(&r, 0, "E:ENOENT ");
    (void)stand(&r, "a", 9);
    check_reported(&r, 0, "!+a S9 ");
    rig_fini(&r);
}

TEST(a_server_that_restarts_loses_nothing)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    check_reported(&r, 0, "!+a S5 ");
    fake_data(w, "{\"type\":\"MODI");
    fake_end(w, -ECONNRESET);
    w = expect(&r, "resourceVersion=5");
    fake_end(w, -ECONNREFUSED);
    w = expect(&r, "resourceVersion=5");
    fake_head(w, 200);
    fake_data(w, "{\"type\":\"MODIFIED\",damaged\n");
    fake_settle(&r.fake);
    w = expect(&r, "resourceVersion=5");
    fake_head(w, 200);
    emit(w, "MODIFIED", pod("ns", "a", 6, "", "n"));
    check_reported(&r, 0, "~a ");
    rig_fini(&r);
}

TEST(a_list_that_fails_is_told_and_the_end_of_the_trouble_as_well)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    fake_end(c, -ECONNREFUSED);
    check_reported(&r, 0, "E:EIO ");
    struct fake_call *w = stand(&r, "a", 5);
    check_reported(&r, 0, "!+a S5 ");
    /* Later: what was told stands. */
    fake_data(w, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
    c = expect(&r, "sendInitialEvents=true");
    fake_end(c, -ECONNREFUSED);
    check_reported(&r, 0, "E:EIO ");
    CHECK(object_sub_find(r.u[0].sub, STR("ns"), STR("a")));
    (void)stand(&r, "ab", 9);
    check_reported(&r, 0, "+b S9 ");
    rig_fini(&r);
}

TEST(too_many_objects_feeds_and_fields_are_refused)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r, &(struct object_cache_opts){ .max_objects = 2, .max_informers = 1 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct object_sub_opts other = {
        .group_version = STR("v1"), .plural = STR("secrets"), .ops = &ops, .arg = &r.u[1]
    };
    CHECK_ERR(object_cache_subscribe(r.cache, &other, &r.u[1].sub, &err), E_LIMIT);
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    fake_head(c, 200);
    emit(c, "ADDED", pod("ns", "a", 1, "", "n"));
    emit(c, "ADDED", pod("ns", "b", 2, "", "n"));
    emit(c, "ADDED", pod("ns", "c", 3, "", "n"));
    check_reported(&r, 0, "E:E_LIMIT ");
    struct object_cache_stats s;
    object_cache_get_stats(r.cache, &s);
    CHECK_INT(s.objects, 0);
    rig_fini(&r);
}

TEST(bad_declarations_are_refused_with_the_reason)
{
    struct rig r;
    struct err err = { 0 };
    rig_init(&r, &(struct object_cache_opts){ 0 });
    const struct str paths[] = { STR("status"), STR(""),       STR(".kind"), STR(".metadata"),
                                 STR(".a["),    STR(".a['b]"), STR(".a..b"), STR(".a[*]") };
    struct object_sub_opts o = { .group_version = STR("v1"), .plural = STR("pods"), .ops = &ops };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        o.strip = &paths[i];
        o.n_strip = 1;
        CHECK_ERR(object_cache_subscribe(r.cache, &o, &r.u[0].sub, &err), E_INVALID);
    }
    o.n_strip = 0;
    o.label_selector = STR("a==,");
    CHECK_ERR(object_cache_subscribe(r.cache, &o, &r.u[0].sub, &err), E_INVALID);
    o.label_selector = STR("");
    o.name = STR("x");
    o.field_selector = STR("metadata.name=y");
    CHECK_ERR(object_cache_subscribe(r.cache, &o, &r.u[0].sub, &err), E_INVALID);
    CHECK_INT(r.fake.n, 0);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- reads */

static void on_done(void *arg, int r, const struct object_result *res, const struct err *err)
{
    struct reader *rd = arg;
    CHECK(!rd->done);
    rd->done = true;
    rd->read = NULL;
    rd->r = r;
    rd->token[0] = '\0';
    for (size_t i = 0; res && i < res->n; i++) {
        (void)buf_add_str(&rd->items, res->items[i]);
        (void)buf_add_char(&rd->items, '\n');
    }
    if (res) {
        (void)snprintf(rd->token, sizeof rd->token, STR_FMT, STR_ARG(res->continue_from));
        rd->n_left = res->n_left;
        rd->rv = res->rv;
    } else {
        CHECK(err->text[0]);
    }
}

static void begin_read(struct rig *r, size_t i, bool list, struct object_query q)
{
    struct err err = { 0 };
    buf_reset(&r->rd.items);
    r->rd.done = false;
    CHECK_OK((list ? object_sub_list : object_sub_get)(r->u[i].sub, &q, on_done, &r->rd,
                                                       &r->rd.read, &err));
    CHECK(!r->rd.done);
}

static int get(struct rig *r, size_t i, struct object_query q)
{
    begin_read(r, i, false, q);
    turn(r);
    CHECK(r->rd.done);
    return r->rd.r;
}

/* Names of the items. */
static void check_list(struct rig *r, size_t i, struct object_query q, const char *want)
{
    scoped(buf_fini_scoped) struct buf names = BUF_INIT(4096);
    begin_read(r, i, true, q);
    turn(r);
    CHECK(r->rd.done);
    CHECK_OK(r->rd.r);
    struct str rest = buf_str(&r->rd.items), line;
    while (rest.n) {
        struct arena a = { 0 };
        struct json *v;
        (void)str_cut(rest, '\n', &line, &rest);
        CHECK_OK(json_parse(&a, line, NULL, &v, NULL));
        struct str name = json_get_str(v, "name");
        if (name.n == 0)
            name = json_get_str(json_getc(v, "metadata"), "name");
        buf_printf(&names, STR_FMT " ", STR_ARG(name));
        arena_fini(&a);
    }
    CHECK_STR(buf_str(&names), want);
}

/* What was sent, without managedFields, and nothing else. */
static void check_same(struct str got, char *sent, const char *const *without)
{
    struct arena a = { 0 };
    struct json *x, *y;
    CHECK_OK(json_parse(&a, str_trim(got), NULL, &x, NULL));
    CHECK_OK(json_parse(&a, str_of(sent), NULL, &y, NULL));
    (void)json_del(json_getc(y, "metadata"), STR("managedFields"));
    for (; without && *without; without++)
        (void)json_del(y, str_of(*without));
    if (!json_equal(x, y))
        TEST_FAIL("got " STR_FMT ", sent %s", STR_ARG(got), sent);
    arena_fini(&a);
    free(sent);
}

TEST(what_is_read_is_what_was_sent)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    const struct str strip[] = { STR(".status"), STR(".spec") };
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    subscribe(&r, 1, (struct object_sub_opts){ .strip = strip, .n_strip = 2 });
    subscribe(&r, 2, (struct object_sub_opts){ .metadata_only = true });
    (void)stand(&r, "ab", 5);
    struct object_query a = { .namespace = STR("ns"), .name = STR("a") };
    CHECK_OK(get(&r, 0, a));
    CHECK_INT(r.rd.rv, 5);
    check_same(buf_str(&r.rd.items), pod("ns", "a", 1, "\"app\":\"a\"", "even"), NULL);
    CHECK_OK(get(&r, 1, a)); /* stripped when it is read: the informer holds all */
    check_same(buf_str(&r.rd.items), pod("ns", "a", 1, "\"app\":\"a\"", "even"),
               (const char *const[]){ "spec", "status", NULL });
    CHECK_OK(get(&r, 2, a));
    CHECK(str_find(buf_str(&r.rd.items), STR("\"kind\":\"PartialObjectMetadata\"")) > 0);
    CHECK(str_find(buf_str(&r.rd.items), STR("\"note\":\"n-a\"")) > 0);
    CHECK(str_find(buf_str(&r.rd.items), STR("spec")) < 0);
    a.view = OBJECT_KEYS;
    CHECK_OK(get(&r, 0, a));
    CHECK_STR(buf_str(&r.rd.items),
              "{\"namespace\":\"ns\",\"name\":\"a\",\"resourceVersion\":\"1\"}\n");
    a.name = STR("zz");
    CHECK_ERR(get(&r, 0, a), -ENOENT);
    CHECK_INT(r.fake.n, 2);
    rig_fini(&r);
}

TEST(bodies_packed_before_and_after_the_dictionary_read_the_same)
{
    struct rig r;
    struct object_cache_stats s;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    fake_head(c, 200);
    size_t before = 0;
    for (int i = 0; i < 1000; i++) {
        char name[16], labels[64];
        (void)snprintf(name, sizeof name, "p%03d", i);
        (void)snprintf(labels, sizeof labels, "\"app\":\"web-%d\",\"tier\":\"front\"", i % 10);
        emit(c, "ADDED", pod("ns", name, i + 1, labels, "node-1"));
        if (i == 255) {
            object_cache_get_stats(r.cache, &s);
            before = s.body_bytes;
        }
    }
    end_of_list(&r, c, 1000);
    fake_head(expect(&r, "allowWatchBookmarks=true"), 200);
    CHECK(before > 0);
    do { /* trained on another thread, then packed anew */
        (void)loop_turn(&r.loop, false);
        object_cache_get_stats(r.cache, &s);
    } while (s.body_bytes > s.plain_bytes / 2);
    for (int i = 0; i < 1000; i += 111) {
        char name[16], labels[64];
        (void)snprintf(name, sizeof name, "p%03d", i);
        (void)snprintf(labels, sizeof labels, "\"app\":\"web-%d\",\"tier\":\"front\"", i % 10);
        CHECK_OK(get(&r, 0, (struct object_query){ .namespace = STR("ns"), .name = str_of(name) }));
        check_same(buf_str(&r.rd.items), pod("ns", name, i + 1, labels, "node-1"), NULL);
    }
    rig_fini(&r);
}

TEST(lists_go_by_selector_index_and_page)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    const struct object_field node = { OBJECT_FIELD_PATH, STR(".spec.nodeName"), true };
    subscribe(&r, 0, (struct object_sub_opts){ .fields = &node, .n_fields = 1 });
    struct fake_call *w = stand(&r, "dbca", 5);
    emit(w, "ADDED", pod("aa", "z", 9, "\"app\":\"b\"", "odd"));
    check_list(&r, 0, (struct object_query){ 0 }, "z a b c d ");
    check_list(&r, 0, (struct object_query){ .namespace = STR("ns") }, "a b c d ");
    check_list(&r, 0, (struct object_query){ .label_selector = STR("app=b") }, "z b ");
    check_list(&r, 0, (struct object_query){ .field_selector = STR("spec.nodeName=even") }, "c d ");
    check_list(&r, 0, (struct object_query){ .field_selector = STR("metadata.name=c") }, "c ");
    check_list(&r, 0, (struct object_query){ .by_field = true, .value = STR("odd") }, "z a b ");
    check_list(&r, 0, (struct object_query){ .view = OBJECT_KEYS, .limit = 2 }, "z a ");
    CHECK_INT(r.rd.n_left, 3);
    CHECK_INT(r.rd.rv, 9);
    char token[64];
    memcpy(token, r.rd.token, sizeof token);
    check_list(&r, 0, (struct object_query){ .limit = 2, .continue_from = str_of(token) }, "b c ");
    memcpy(token, r.rd.token, sizeof token);
    check_list(&r, 0, (struct object_query){ .limit = 2, .continue_from = str_of(token) }, "d ");
    CHECK_INT(r.rd.token[0], 0);
    static const char *const pages[] = { "z ", "a ", "b ", "c ", "d " };
    token[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        check_list(&r, 0, (struct object_query){ .limit = 1, .continue_from = str_of(token) },
                   pages[i]);
        CHECK_INT(r.rd.n_left, 4 - i);
        memcpy(token, r.rd.token, sizeof token);
    }
    CHECK_INT(token[0], 0);
    struct err err = { 0 };
    struct object_query bad = { .continue_from = STR("nonsense") };
    CHECK_ERR(object_sub_list(r.u[0].sub, &bad, on_done, &r.rd, &r.rd.read, &err), E_INVALID);
    CHECK_INT(r.fake.n, 2);
    rig_fini(&r);
}

TEST(a_read_before_the_first_list_says_so)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    CHECK_ERR(get(&r, 0, (struct object_query){ .namespace = STR("ns"), .name = STR("a") }),
              -EAGAIN);
    rig_fini(&r);
}

TEST(a_consistent_list_waits_for_the_version_of_the_api)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    begin_read(&r, 0, true, (struct object_query){ .consistent = true });
    struct fake_call *c = expect(&r, "/api/v1/pods?limit=1");
    fake_head(c, 200);
    fake_data(c, "{\"metadata\":{\"resourceVersion\":\"8\"},\"items\":[]}");
    fake_end(c, 0);
    turn(&r);
    CHECK_INT(r.progress, 1);
    CHECK(!r.rd.done);
    emit(w, "ADDED", pod("ns", "b", 7, "", "n"));
    turn(&r);
    CHECK(!r.rd.done);
    fake_data(w, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\"}}}\n");
    turn(&r);
    CHECK(r.rd.done && str_find(buf_str(&r.rd.items), STR("\"b\"")) > 0);
    /* A get is asked of the API itself. */
    begin_read(
        &r, 0, false,
        (struct object_query){ .namespace = STR("ns"), .name = STR("a"), .consistent = true });
    c = expect(&r, "/api/v1/namespaces/ns/pods/a");
    fake_head(c, 200);
    scoped(free_scoped) char *body = pod("ns", "a", 9, "", "new");
    fake_data(c, body);
    fake_end(c, 0);
    CHECK(r.rd.done && r.rd.rv == 9);
    CHECK(str_find(buf_str(&r.rd.items), STR("managedFields")) < 0);
    rig_fini(&r);
}

TEST(readers_hear_of_a_subscription_that_goes)
{
    struct rig r;
    struct err why = { 0 };
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    (void)stand(&r, "a", 5);
    begin_read(
        &r, 0, false,
        (struct object_query){ .namespace = STR("ns"), .name = STR("a"), .consistent = true });
    struct fake_call *c = expect(&r, "/api/v1/namespaces/ns/pods/a");
    (void)err_set(&why, -EAGAIN, "the kind is gone");
    object_sub_end_reads(r.u[0].sub, -EAGAIN, &why);
    CHECK(r.rd.done);
    CHECK_ERR(r.rd.r, -EAGAIN);
    CHECK(c->cancelled);
    begin_read(&r, 0, true, (struct object_query){ 0 }); /* one that has not begun */
    object_sub_end_reads(r.u[0].sub, -EAGAIN, &why);
    CHECK(r.rd.done);
    turn(&r);
    rig_fini(&r);
}

TEST(an_order_is_of_what_there_was_and_shared_until_something_changes)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    subscribe(&r, 1, (struct object_sub_opts){ .namespace = STR("ns") });
    struct fake_call *w = stand(&r, "cab", 5);
    struct object_order *one = object_sub_order(r.u[0].sub), *two = object_sub_order(r.u[0].sub),
                        *narrow = object_sub_order(r.u[1].sub);
    CHECK(one == two && narrow != one);
    emit(w, "DELETED", pod("ns", "b", 6, "", "even"));
    turn(&r);
    struct object_order *three = object_sub_order(r.u[0].sub);
    CHECK(three != one);
    struct object_order *const all[] = { one, narrow, three };
    static const char *const want[] = { "abc", "abc", "ac" };
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        char names[8] = "";
        for (size_t k = 0; k < object_order_n(all[i]); k++) {
            struct str namespace, name;
            object_order_get(all[i], k, &namespace, &name);
            CHECK_STR(namespace, "ns");
            names[k] = name.p[0];
        }
        CHECK_STR(str_of(names), want[i]);
    }
    object_order_free(two);
    object_order_free(three);
    object_sub_cancel(take_ptr(&r.u[0].sub)); /* they outlive who asked for them */
    object_sub_cancel(take_ptr(&r.u[1].sub));
    object_order_free(one);
    object_order_free(narrow);
    object_order_free(NULL);
    rig_fini(&r);
}

struct chain {
    struct object_sub *sub;
    unsigned n_done;
    int last;
    bool cancels;
};

/* The first that is answered ends the others: their kind vanished, say. */
static void on_chain_done(void *arg, int r, const struct object_result *res, const struct err *err)
{
    struct chain *c = arg;
    struct err why = { 0 };
    c->last = r;
    if (c->n_done++)
        return;
    (void)err_set(&why, -EAGAIN, "the kind is gone");
    if (!c->cancels)
        object_sub_end_reads(c->sub, -EAGAIN, &why);
    object_sub_cancel(take_ptr(&c->sub));
}

TEST(reads_that_were_to_be_run_in_the_same_turn_hear_of_the_end_too)
{
    for (int cancels = 0; cancels < 2; cancels++) {
        struct rig r;
        struct object_read *reads[3];
        rig_init(&r, &(struct object_cache_opts){ 0 });
        subscribe(&r, 0, (struct object_sub_opts){ 0 });
        (void)stand(&r, "a", 5);
        struct chain chain = { .sub = take_ptr(&r.u[0].sub), .cancels = cancels };
        struct object_query q = { .namespace = STR("ns"), .name = STR("a") };
        for (size_t i = 0; i < ARRAY_LEN(reads); i++)
            CHECK_OK(object_sub_get(chain.sub, &q, on_chain_done, &chain, &reads[i], NULL));
        turn(&r);
        CHECK_INT(chain.n_done, cancels ? 1 : 3); /* after a cancel nothing is called */
        CHECK_INT(chain.last, cancels ? 0 : -EAGAIN);
        rig_fini(&r);
    }
}

TEST(subscriptions_that_differ_in_their_place_share_what_they_ask_for)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ .embedded = true });
    struct object_sub_opts opts = { .label_selector = STR("app=a") };
    opts.namespace = STR("ns");
    subscribe(&r, 0, opts);
    opts.namespace = STR("other");
    subscribe(&r, 1, opts);
    struct err err = { 0 };
    struct object_sub *sub = NULL;
    struct object_sub_opts bad = { .group_version = STR("v1"),
                                   .plural = STR("pods"),
                                   .namespace = STR("other"),
                                   .field_selector = STR("metadata.namespace=ns") };
    CHECK_ERR(object_cache_subscribe(r.cache, &bad, &sub, &err), E_INVALID);
    CHECK(strstr(err_text(&err), "contradicts"));
    struct fake_call *c = expect(&r, "labelSelector=app%3Da");
    fake_head(c, 200);
    emit(c, "ADDED", pod("ns", "a", 1, "\"app\":\"a\"", "even"));
    emit(c, "ADDED", pod("other", "b", 2, "\"app\":\"a\"", "odd"));
    end_of_list(&r, c, 3);
    fake_head(expect(&r, "allowWatchBookmarks=true"), 200);
    check_reported(&r, 0, "!+a S3 ");
    check_reported(&r, 1, "!+b S3 ");
    opts.namespace = STR("");
    opts.field_selector = STR("metadata.namespace=ns");
    subscribe(&r, 2, opts);
    check_reported(&r, 2, "!+a S3 ");
    rig_fini(&r);
}

TEST(beside_an_embedded_api_bodies_come_from_it)
{
    struct rig r;
    struct object_cache_stats s;
    rig_init(&r, &(struct object_cache_opts){ .embedded = true });
    const struct object_field node = { OBJECT_FIELD_PATH, STR(".spec.nodeName"), true };
    subscribe(&r, 0,
              (struct object_sub_opts){ .namespace = STR("ns"), .fields = &node, .n_fields = 1 });
    struct fake_call *c = expect(&r, "/api/v1/pods?watch=true"); /* all namespaces */
    fake_head(c, 200);
    emit(c, "ADDED", pod("ns", "a", 1, "", "even"));
    emit(c, "ADDED", pod("ns", "b", 2, "", "odd"));
    end_of_list(&r, c, 3);
    fake_head(expect(&r, "allowWatchBookmarks=true"), 200);
    check_reported(&r, 0, "!+a !+b S3 ");
    object_cache_get_stats(r.cache, &s);
    CHECK_INT(s.body_bytes, 0);
    begin_read(&r, 0, true, (struct object_query){ .by_field = true, .value = STR("odd") });
    c = expect(&r, "/api/v1/namespaces/ns/pods/b");
    fake_head(c, 200);
    scoped(free_scoped) char *body = pod("ns", "b", 2, "", "odd");
    fake_data(c, body);
    fake_end(c, 0);
    CHECK(r.rd.done && str_find(buf_str(&r.rd.items), STR("\"b\"")) > 0);
    begin_read(&r, 0, true, (struct object_query){ .label_selector = STR("app=a"), .limit = 7 });
    c = expect(&r, "/api/v1/namespaces/ns/pods?limit=7&labelSelector=app%3Da");
    fake_head(c, 200);
    fake_data(c,
              "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"4\","
              "\"continue\":\"x y\"},\"items\":[{\"metadata\":{\"name\":\"q\"}}]}");
    fake_end(c, 0);
    CHECK(r.rd.done);
    CHECK_STR(str_of(r.rd.token), "ax y");
    CHECK(str_find(buf_str(&r.rd.items), STR("\"kind\":\"Pod\"")) > 0);
    begin_read(&r, 0, true, (struct object_query){ .continue_from = STR("ax y") });
    c = expect(&r, "continue=x%20y");
    fake_head(c, 410);
    fake_end(c, 0);
    CHECK(r.rd.done);
    CHECK_ERR(r.rd.r, E_EXPIRED);
    rig_fini(&r);
}

TEST(beside_an_embedded_api_the_body_of_an_event_is_at_hand_for_a_moment)
{
    struct rig r;
    struct object_cache_stats s;
    rig_init(&r, &(struct object_cache_opts){ .embedded = true });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "ab", 5);
    object_cache_get_stats(r.cache, &s);
    CHECK_INT(s.body_bytes, 0); /* lists leave none */
    emit(w, "MODIFIED", pod("ns", "a", 6, "\"app\":\"z\"", "n"));
    emit(w, "MODIFIED", pod("ns", "b", 7, "", "n"));
    emit(w, "DELETED", pod("ns", "b", 8, "", "n"));
    CHECK_OK(get(&r, 0, (struct object_query){ .namespace = STR("ns"), .name = STR("a") }));
    check_same(buf_str(&r.rd.items), pod("ns", "a", 6, "\"app\":\"z\"", "n"), NULL);
    CHECK_INT(r.fake.n, 2);
    scoped(buf_fini_scoped) struct buf at_once = BUF_INIT(4096);
    CHECK_OK(object_sub_write(r.u[0].sub, STR("ns"), STR("a"), &at_once));
    CHECK(str_find(buf_str(&r.rd.items), buf_str(&at_once)) >= 0);
    CHECK_ERR(object_sub_write(r.u[0].sub, STR("ns"), STR("b"), &at_once), -ENOENT);
    CHECK(str_find(buf_str(&r.rd.items), buf_str(&at_once)) >= 0);
    for (int i = 0; i < 3000; i++) { /* far more than may stay */
        char name[16];
        (void)snprintf(name, sizeof name, "p%d", i);
        emit(w, "ADDED", pod("ns", name, 100 + i, "", "n"));
        object_cache_get_stats(r.cache, &s);
        CHECK(s.body_bytes <= 256 << 10);
    }
    CHECK_ERR(object_sub_write(r.u[0].sub, STR("ns"), STR("a"), &at_once), -EAGAIN);
    begin_read(&r, 0, false, (struct object_query){ .namespace = STR("ns"), .name = STR("a") });
    (void)expect(&r, "/api/v1/namespaces/ns/pods/a");
    rig_fini(&r);
}

TEST(a_held_body_is_written_at_once_with_what_the_subscription_strips_left_out)
{
    struct rig r;
    const struct str strip[] = { STR(".spec") };
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    (void)stand(&r, "a", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .strip = strip, .n_strip = 1 });
    turn(&r);
    scoped(buf_fini_scoped) struct buf to = BUF_INIT(4096), small = BUF_INIT(16);
    CHECK_OK(object_sub_write(r.u[0].sub, STR("ns"), STR("a"), &to));
    CHECK_OK(get(&r, 0, (struct object_query){ .namespace = STR("ns"), .name = STR("a") }));
    CHECK(str_find(buf_str(&r.rd.items), buf_str(&to)) >= 0);
    CHECK_ERR(object_sub_write(r.u[0].sub, STR("ns"), STR("a"), &small), -EMSGSIZE);
    CHECK_INT(small.n, 0);
    CHECK_ERR(object_sub_write(r.u[1].sub, STR("ns"), STR("a"), &to), -EAGAIN);
    rig_fini(&r);
}

TEST(a_read_that_is_cancelled_says_nothing)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ .embedded = true });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    (void)stand(&r, "a", 5);
    struct object_query a = { .namespace = STR("ns"), .name = STR("a") };
    begin_read(&r, 0, false, a);
    object_read_cancel(r.rd.read);
    begin_read(&r, 0, false, a);
    (void)expect(&r, "/pods/a");
    object_read_cancel(r.rd.read);
    begin_read(&r, 0, false, a);
    (void)expect(&r, "/pods/a");
    object_sub_cancel(take_ptr(&r.u[0].sub));
    turn(&r);
    CHECK(!r.rd.done);
    rig_fini(&r);
}

/* ---------------------------------------------------------------- identities */

static const struct str groups[] = { { "system:authenticated", 20 } };
static const struct kube_identity alice = { .user = { "alice", 5 },
                                            .groups = groups,
                                            .n_groups = 1 };

static void on_pass(struct timer *t)
{
}

static void review(struct rig *r, const char *verb, bool allowed)
{
    struct fake_call *c = expect(r, "/v1/subjectaccessreviews");
    CHECK(strstr(c->body, verb) && strstr(c->body, "\"resource\":\"pods\""));
    CHECK(strstr(c->body, "\"user\":\"alice\"") && strstr(c->body, "\"system:authenticated\""));
    fake_head(c, 201);
    fake_data(c, allowed ? "{\"status\":{\"allowed\":true}}"
                         : "{\"status\":{\"allowed\":false,\"reason\":\"no role\"}}");
    fake_end(c, 0);
}

TEST(an_identity_is_asked_for_once_and_served_from_the_same_feed)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .identity = &alice });
    subscribe(&r, 2,
              (struct object_sub_opts){ .identity = &alice, .label_selector = STR("app=a") });
    review(&r, "\"list\"", true);
    check_reported(&r, 1, "");
    review(&r, "\"watch\"", true);
    check_reported(&r, 1, "!+a S5 ");
    check_reported(&r, 2, "!+a S5 ");
    emit(w, "MODIFIED", pod("ns", "a", 6, "", "n"));
    check_reported(&r, 1, "~a ");
    CHECK_INT(r.fake.n, 4);
    rig_fini(&r);
}

TEST(an_identity_without_the_right_sees_nothing)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .identity = &alice });
    begin_read(&r, 1, false, (struct object_query){ .namespace = STR("ns"), .name = STR("a") });
    review(&r, "\"list\"", true);
    review(&r, "\"watch\"", false);
    check_reported(&r, 1, "E:E_DENIED ");
    CHECK(r.rd.done);
    CHECK_ERR(r.rd.r, E_DENIED);
    emit(w, "MODIFIED", pod("ns", "a", 6, "", "n"));
    CHECK_ERR(get(&r, 1, (struct object_query){ .namespace = STR("ns"), .name = STR("a") }),
              E_DENIED);
    check_reported(&r, 1, "");
    rig_fini(&r);
}

/* The back-off would outlast the test. */
TEST(a_right_that_is_granted_is_noticed_when_the_cache_is_told)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ .denied_ms = 3600000 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    (void)stand(&r, "a", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .identity = &alice });
    review(&r, "\"list\"", false);
    check_reported(&r, 1, "E:E_DENIED ");
    object_cache_ask_again(r.cache);
    object_cache_ask_again(r.cache); /* a burst is one question */
    review(&r, "\"list\"", false);
    check_reported(&r, 1, ""); /* known */
    object_cache_ask_again(r.cache);
    review(&r, "\"list\"", true);
    review(&r, "\"watch\"", true);
    check_reported(&r, 1, "!+a S5 ");
    object_cache_ask_again(r.cache); /* no subscription is denied */
    CHECK(loop_is_idle(&r.loop));
    rig_fini(&r);
}

TEST(a_right_that_is_taken_away_ends_the_events_before_the_next_one)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ .verdict_ms = 400, .denied_ms = 20 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    struct fake_call *w = stand(&r, "a", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .identity = &alice });
    review(&r, "\"list\"", true);
    review(&r, "\"watch\"", true);
    check_reported(&r, 1, "!+a S5 ");
    uint64_t then = loop_now_ms(&r.loop);
    struct timer pass = { 0 };
    timer_start(&r.loop, &pass, 410, on_pass);
    while (timer_is_armed(&pass))
        (void)loop_turn(&r.loop, true);
    CHECK(loop_now_ms(&r.loop) > then);
    CHECK_INT(r.fake.n, 4); /* nothing happens, nothing is asked */
    emit(w, "MODIFIED", pod("ns", "a", 6, "", "n"));
    check_reported(&r, 1, ""); /* held until the answer */
    review(&r, "\"list\"", false);
    check_reported(&r, 1, "E:E_DENIED ");
    emit(w, "MODIFIED", pod("ns", "a", 7, "", "n"));
    check_reported(&r, 1, "");
    review(&r, "\"list\"", true); /* asked again, with back-off */
    review(&r, "\"watch\"", true);
    check_reported(&r, 1, "!+a S7 ");
    rig_fini(&r);
}

TEST(a_server_without_reviews_is_asked_for_a_list)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    (void)stand(&r, "a", 5);
    subscribe(&r, 1, (struct object_sub_opts){ .identity = &alice, .namespace = STR("ns") });
    struct fake_call *c = expect(&r, "/v1/subjectaccessreviews");
    fake_head(c, 403);
    fake_end(c, 0);
    c = expect(&r, "/selfsubjectaccessreviews");
    CHECK(!strstr(c->body, "alice"));
    fake_head(c, 404);
    fake_end(c, 0);
    c = expect(&r, "/api/v1/namespaces/ns/pods?limit=1");
    fake_head(c, 403);
    fake_end(c, 0);
    check_reported(&r, 1, "E:E_DENIED ");
    rig_fini(&r);
}

TEST(what_only_the_identity_may_watch_is_watched_in_its_name)
{
    struct rig r;
    rig_init(&r, &(struct object_cache_opts){ 0 });
    subscribe(&r, 0, (struct object_sub_opts){ 0 });
    subscribe(&r, 1, (struct object_sub_opts){ .identity = &alice });
    refuse(&r, 403); /* the cache itself */
    check_reported(&r, 0, "E:E_DENIED ");
    check_reported(&r, 1, "");
    struct fake_call *c = expect(&r, "sendInitialEvents=true");
    CHECK_STR(str_of(c->user), "alice");
    fake_head(c, 200);
    emit(c, "ADDED", pod("ns", "a", 1, "", "n"));
    end_of_list(&r, c, 5);
    c = expect(&r, "allowWatchBookmarks=true");
    CHECK_STR(str_of(c->user), "alice");
    fake_head(c, 200);
    review(&r, "\"list\"", true);
    review(&r, "\"watch\"", true);
    check_reported(&r, 1, "!+a S5 ");
    subscribe(&r, 2, (struct object_sub_opts){ .identity = &alice });
    check_reported(&r, 2, "!+a S5 "); /* it knows where to look */
    check_reported(&r, 0, "");
    rig_fini(&r);
}

/* ---------------------------------------------------------------- a naive twin */

enum { MODEL_NAMES = 12, MODEL_SUBS = 5, MODEL_STEPS = 3000 };

struct model_object {
    bool there;
    int rv, app, node, uid; /* label app=0..2, node 0..2 */
};

/* A subscriber that believes what it is told, and complains when that makes no sense. */
struct model_user {
    struct model *m;
    struct object_sub *sub;
    int namespace, app; /* -1: all */
    bool synced, paused;
    struct model_object seen[2][MODEL_NAMES];
};

struct model {
    struct rig r;
    int rv;
    struct model_object truth[2][MODEL_NAMES];
    struct model_user user[MODEL_SUBS];
    struct fake_call *watch;
};

static char *model_json(const struct model *m, int ns, int name, const struct model_object *o)
{
    return xasprintf(
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p%d\",\"namespace\":\"n%d\",\"uid\":\"u%d\","
        "\"resourceVersion\":\"%d\",\"labels\":{\"app\":\"%d\"}},\"spec\":{\"node\":\"%d\"}}",
        name, ns, o->uid, o->rv, o->app, o->node);
}

static struct model_object *model_place(struct model_user *u, const struct cached_object *o)
{
    struct str name = cached_object_name(o);
    uint64_t i = 0;
    CHECK_OK(parse_u64(str_slice(name, 1, name.n), 0, MODEL_NAMES - 1, &i));
    return &u->seen[cached_object_namespace(o).p[1] - '0'][i];
}

static void model_event(void *arg, enum object_event type, const struct cached_object *now,
                        const struct cached_object *before, bool initial)
{
    struct model_user *u = arg;
    struct model_object *o = model_place(u, now ? now : before);
    CHECK(initial == !u->synced);
    CHECK(o->there == (type != OBJECT_ADDED));
    if (before)
        CHECK_INT(cached_object_rv(before), o->rv);
    o->there = type != OBJECT_DELETED;
    if (now) {
        CHECK(!before || cached_object_rv(now) != (uint64_t)o->rv);
        o->rv = (int)cached_object_rv(now);
        o->app = cached_object_label(now, STR("app")).p[0] - '0';
        CHECK(u->app < 0 || o->app == u->app);
    }
}

static void model_synced(void *arg, uint64_t rv)
{
    struct model_user *u = arg;
    u->synced = true;
}

static void model_error(void *arg, int r, const struct err *err)
{
    struct model_user *u = arg;
    CHECK_ERR(r, E_DENIED);
    memset(u->seen, 0, sizeof u->seen);
    u->synced = false;
}

static const struct object_sub_ops model_ops = { .on_event = model_event,
                                                 .on_synced = model_synced,
                                                 .on_error = model_error };

static void model_join(struct model *m, struct model_user *u)
{
    struct err err = { 0 };
    char namespace[8] = "", selector[16] = "";
    *u = (struct model_user){ .m = m,
                              .namespace = (int)test_random_below(3) - 1,
                              .app = (int)test_random_below(4) - 1 };
    if (u == m->user) /* one that wants everything, which the others are served from */
        u->namespace = u->app = -1;
    if (u->namespace >= 0)
        (void)snprintf(namespace, sizeof namespace, "n%d", u->namespace);
    if (u->app >= 0)
        (void)snprintf(selector, sizeof selector, "app=%d", u->app);
    const struct object_field node = { OBJECT_FIELD_PATH, STR(".spec.node"), true };
    struct object_sub_opts opts = { .group_version = STR("v1"),
                                    .plural = STR("pods"),
                                    .namespace = str_of(namespace),
                                    .label_selector = str_of(selector),
                                    .fields = &node,
                                    .n_fields = 1,
                                    .ops = &model_ops,
                                    .arg = u };
    CHECK_OK(object_cache_subscribe(m->r.cache, &opts, &u->sub, &err));
}

/* Changes an object; the event, or what a list will show. */
static void model_change(struct model *m, bool tell_it)
{
    int ns = (int)test_random_below(2), name = (int)test_random_below(MODEL_NAMES);
    struct model_object *o = &m->truth[ns][name];
    const char *type = o->there ? "MODIFIED" : "ADDED";
    o->rv = ++m->rv;
    if (o->there && test_random_below(3) == 0) {
        type = "DELETED";
        o->there = false;
    } else {
        if (!o->there || (!tell_it && test_random_below(4) == 0))
            o->uid = m->rv; /* a new one, or one replaced while nobody watched */
        o->there = true;
        o->app = (int)test_random_below(3);
        o->node = (int)test_random_below(3);
    }
    if (tell_it)
        emit(m->watch, type, model_json(m, ns, name, o));
}

static void model_list(struct model *m)
{
    struct fake_call *c = expect(&m->r, "sendInitialEvents=true");
    fake_head(c, 200);
    for (int ns = 0; ns < 2; ns++)
        for (int i = 0; i < MODEL_NAMES; i++)
            if (m->truth[ns][i].there)
                emit(c, "ADDED", model_json(m, ns, i, &m->truth[ns][i]));
    end_of_list(&m->r, c, ++m->rv);
    m->watch = expect(&m->r, "allowWatchBookmarks=true");
    fake_head(m->watch, 200);
}

static bool model_count(void *arg, const struct cached_object *o)
{
    (*(int *)arg)++;
    return true;
}

static void model_check(struct model *m)
{
    for (size_t i = 0; i < MODEL_SUBS; i++) {
        struct model_user *u = &m->user[i];
        if (!u->sub || u->paused)
            continue;
        CHECK(u->synced);
        int by_node[3] = { 0 };
        for (int ns = 0; ns < 2; ns++)
            for (int k = 0; k < MODEL_NAMES; k++) {
                const struct model_object *o = &m->truth[ns][k], *seen = &u->seen[ns][k];
                bool wanted = o->there && (u->namespace < 0 || u->namespace == ns) &&
                              (u->app < 0 || u->app == o->app);
                CHECK_INT(seen->there, wanted);
                CHECK(!wanted || seen->rv == o->rv);
                by_node[o->node] += wanted;
            }
        for (int n = 0; n < 3; n++) {
            char value[] = { (char)('0' + n), '\0' };
            int count = 0;
            object_sub_find_by(u->sub, 0, str_of(value), STR(""), model_count, &count);
            CHECK_INT(count, by_node[n]);
        }
    }
}

TEST(whatever_happens_subscribers_know_what_there_is)
{
    static struct model m;
    m = (struct model){ .rv = 1 };
    rig_init(&m.r, &(struct object_cache_opts){ 0 });
    model_join(&m, &m.user[0]);
    model_list(&m);
    for (int step = 0; step < MODEL_STEPS && m.r.fake.n < FAKE_CALLS_MAX - 8; step++) {
        struct model_user *u = &m.user[1 + test_random_below(MODEL_SUBS - 1)];
        switch (test_random_below(40)) {
        case 0 ... 2:
            if (u->sub)
                object_sub_cancel(take_ptr(&u->sub));
            else
                model_join(&m, u);
            break;
        case 3 ... 5:
            if (!u->sub)
                break;
            u->paused = !u->paused;
            (u->paused ? object_sub_pause : object_sub_resume)(u->sub);
            break;
        case 6 ... 9:
            turn(&m.r);
            model_check(&m);
            break;
        case 10:
            if (test_random_below(10)) /* each takes a fifth of a second */
                break;
            fake_data(m.watch, "{\"type\":\"ERROR\",\"object\":{\"code\":410}}\n");
            for (int i = 0; i < 6; i++)
                model_change(&m, false);
            model_list(&m);
            break;
        default:
            model_change(&m, true);
            break;
        }
    }
    for (size_t i = 0; i < MODEL_SUBS; i++)
        if (m.user[i].sub) {
            m.user[i].paused = false;
            object_sub_resume(m.user[i].sub);
        }
    turn(&m.r);
    model_check(&m);
    for (size_t i = 0; i < MODEL_SUBS; i++)
        object_sub_cancel(m.user[i].sub);
    rig_fini(&m.r);
}

TEST_MAIN
