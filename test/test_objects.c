/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator/objects: Operator objects followed, their status and events written; the cluster is a
 * transport played by hand, so are guests and modules.
 */
#include "operator/host/objects.h"

#include "codec/json.h"
#include "fake_guests.h"
#include "fake_transport.h"
#include "operator/discovery.h"

#include <limits.h>

struct rig {
    struct loop loop;
    struct fake fake;
    struct watch_hub *hub;
    struct calls_env env;
    struct module_sources *sources;
    struct operators *os;
    struct objects *objects;
    char dir[64];
    size_t seen; /* requests that next_call() has handed out */
    struct arena arena;
    bool closed;
};

static void on_change(struct operator* o, void *arg)
{
    struct rig *r = arg;
    objects_on_change(r->objects, o);
}

static void turn(struct rig *r)
{
    for (int i = 0; i < 10; i++)
        (void)loop_turn(&r->loop, false);
}

static void on_deadline(struct timer *t)
{
    TEST_FAIL("no request came");
}

/* The next request that was not looked at; waits for it. */
static struct fake_call *next_call(struct rig *r)
{
    struct timer deadline = { 0 };
    timer_start(&r->loop, &deadline, 60000, on_deadline);
    while (r->fake.n == r->seen)
        (void)loop_turn(&r->loop, true);
    timer_stop(&r->loop, &deadline);
    return &r->fake.call[r->seen++];
}

static struct json *body_of(struct rig *r, const struct fake_call *c)
{
    struct json *v;
    CHECK_OK(json_parse(&r->arena, str_of(c->body), NULL, &v, NULL));
    return v;
}

static void answer(struct fake_call *c, int status)
{
    fake_head(c, status);
    fake_data(c, "{}");
    fake_end(c, 0);
}

/* items: JSON of the list's items. */
static void rig_init(struct rig *r, const char *items)
{
    struct err err = { 0 };
    *r = (struct rig){ .dir = "/tmp/dm-test-objects-XXXXXX" };
    fake_stats = (struct guest_stats){ .restarts = 3 };
    CHECK(mkdtemp(r->dir));
    scoped(free_scoped) char *module = xasprintf("%s/a.wasm", r->dir);
    FILE *f = fopen(module, "w");
    CHECK(f && fclose(f) == 0);
    CHECK_OK(loop_init(&r->loop, &err));
    fake_init(&r->fake);
    struct watch_hub_opts hub = { .transport = &r->fake.base, .widen_at = UINT_MAX };
    CHECK_OK(watch_hub_new(&r->loop, &hub, &r->hub, &err));
    r->env = (struct calls_env){ .loop = &r->loop,
                                 .transport = &r->fake.base,
                                 .hub = r->hub,
                                 .discovery = discovery_new(&r->loop, &r->fake.base) };
    struct module_sources_opts sources = {
        .loop = &r->loop, .transport = &r->fake.base, .hub = r->hub, .dir = "/tmp"
    };
    CHECK_OK(module_sources_new(&sources, &r->sources, &err));
    struct operators_opts opts = {
        .loop = &r->loop, .env = &r->env, .sources = r->sources, .on_change = on_change, .arg = r
    };
    CHECK_OK(operators_new(&opts, &r->os, &err));
    const char *dirs[] = { r->dir };
    struct objects_opts o = { .loop = &r->loop,
                              .transport = &r->fake.base,
                              .hub = r->hub,
                              .module_dirs = dirs,
                              .n_module_dirs = 1 };
    CHECK_OK(objects_start(&o, r->os, &r->objects, &err));
    struct fake_call *list = next_call(r);
    CHECK_STR(str_of(list->target), "/apis/dormouse.dev/v1alpha1/operators?limit=500");
    scoped(free_scoped) char *text =
        xasprintf("{\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[%s]}", items);
    fake_head(list, 200);
    fake_data(list, text);
    fake_end(list, 0);
    struct fake_call *watch = next_call(r);
    CHECK(strstr(watch->target, "watch"));
    fake_head(watch, 200);
    turn(r);
}

static void on_closed(void *arg)
{
    struct rig *r = arg;
    r->closed = true;
}

static void rig_fini(struct rig *r)
{
    objects_close(r->objects);
    for (size_t i = 0; i < fake_gets.n; i++)
        fake_gets.at[i].cancelled = true;
    operators_close(r->os, on_closed, r);
    fake_gets_settle();
    turn(r);
    CHECK(r->closed);
    module_sources_close(r->sources);
    discovery_free(r->env.discovery);
    watch_hub_close(r->hub, NULL, NULL);
    turn(r);
    for (size_t i = 0; i < r->fake.n; i++)
        if (!r->fake.call[i].ended)
            fake_end(&r->fake.call[i], -ECANCELED);
    turn(r);
    arena_fini(&r->arena);
    loop_fini(&r->loop);
    fake_fini(&r->fake);
    fake_guests_fini();
    scoped(free_scoped) char *module = xasprintf("%s/a.wasm", r->dir);
    CHECK(unlink(module) == 0 && rmdir(r->dir) == 0);
}

static const char good[] =
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-1\",\"generation\":2},"
    "\"spec\":{\"module\":{\"file\":\"a.wasm\"}}}";
static const char typo[] =
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-1\",\"generation\":1},"
    "\"spec\":{\"module\":{\"file\":\"b.wasm\"}}}";

/* An event of the operators' watch, which is the second request. */
static void watch_event(struct rig *r, const char *type, const char *object)
{
    scoped(free_scoped) char *line = xasprintf("{\"type\":\"%s\",\"object\":%s}\n", type, object);
    fake_data(&r->fake.call[1], line);
    turn(r);
}

/* The status that this request writes. */
static struct json *status_of(struct rig *r, const struct fake_call *c)
{
    CHECK_STR(str_of(c->method), "PATCH");
    CHECK_STR(str_of(c->target), "/apis/dormouse.dev/v1alpha1/namespaces/ns/operators/a/status");
    return json_getc(body_of(r, c), "status");
}

static struct json *condition_of(struct rig *r, const struct fake_call *c)
{
    return json_first(json_getc(status_of(r, c), "conditions"));
}

TEST(status_tells_phase_restarts_and_condition)
{
    struct rig r;
    rig_init(&r, good);
    struct fake_call *c = next_call(&r);
    CHECK_STR(json_get_str(status_of(&r, c), "phase"), "Preparing");
    answer(c, 200);
    fake_compile(&fake_gets.at[0], &fake_g2);
    c = next_call(&r);
    struct json *status = status_of(&r, c), *ready = condition_of(&r, c);
    CHECK_STR(json_get_str(status, "phase"), "Running");
    CHECK_INT(json_int_or(json_getc(status, "restarts"), -1), 3);
    CHECK_INT(json_int_or(json_getc(status, "observedGeneration"), -1), 2);
    CHECK_STR(json_get_str(ready, "status"), "True");
    CHECK_STR(json_get_str(ready, "reason"), "Running");
    answer(c, 200);
    turn(&r);
    CHECK_INT(r.fake.n, r.seen); /* nothing else */
    rig_fini(&r);
}

TEST(a_spec_that_cannot_be_applied_gets_a_status_and_an_event_that_describe_finds)
{
    struct rig r;
    rig_init(&r, typo);
    struct fake_call *c = next_call(&r), *ev = next_call(&r);
    CHECK_STR(json_get_str(condition_of(&r, c), "reason"), "SpecInvalid");
    CHECK_STR(json_get_str(condition_of(&r, c), "status"), "False");
    CHECK(str_has_prefix(json_get_str(condition_of(&r, c), "message"),
                         STR("module file 'b.wasm' is in none")));
    CHECK_STR(str_of(ev->target), "/api/v1/namespaces/ns/events");
    struct json *about = json_getc(body_of(&r, ev), "involvedObject");
    CHECK_STR(json_get_str(about, "uid"), "u-1");
    CHECK_STR(json_get_str(about, "kind"), "Operator");
    CHECK_STR(json_get_str(body_of(&r, ev), "reason"), "SpecInvalid");
    answer(c, 200);
    answer(ev, 201);
    watch_event(&r, "MODIFIED", typo); /* our own write comes back */
    CHECK_INT(r.fake.n, r.seen);
    watch_event(&r, "MODIFIED", good);
    CHECK_INT(fake_gets.n, 1);
    rig_fini(&r);
}

TEST(the_time_of_the_condition_is_that_of_its_last_change)
{
    static const char since[] =
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-1\",\"generation\":1},"
        "\"spec\":{\"module\":{\"file\":\"a.wasm\"}},\"status\":{\"conditions\":[{\"type\":"
        "\"Ready\","
        "\"status\":\"False\",\"lastTransitionTime\":\"2020-02-02T02:02:02Z\"}]}}";
    struct rig r;
    rig_init(&r, since);
    struct fake_call *c = next_call(&r); /* Preparing: not ready, as before */
    CHECK_STR(json_get_str(condition_of(&r, c), "lastTransitionTime"), "2020-02-02T02:02:02Z");
    answer(c, 200);
    fake_compile(&fake_gets.at[0], &fake_g2);
    c = next_call(&r);
    CHECK_STR(json_get_str(condition_of(&r, c), "status"), "True");
    CHECK(!str_is(json_get_str(condition_of(&r, c), "lastTransitionTime"), "2020-02-02T02:02:02Z"));
    rig_fini(&r);
}

TEST(a_status_that_the_cluster_could_not_take_is_written_again_without_another_event)
{
    struct rig r;
    rig_init(&r, typo);
    struct fake_call *c = next_call(&r), *ev = next_call(&r);
    answer(c, 503);
    answer(ev, 201);
    c = next_call(&r);
    CHECK_STR(json_get_str(condition_of(&r, c), "reason"), "SpecInvalid");
    answer(c, 200);
    turn(&r);
    CHECK_INT(r.fake.n, r.seen);
    rig_fini(&r);
}

TEST(a_status_that_met_an_old_token_is_written_again)
{
    struct rig r;
    rig_init(&r, typo);
    struct fake_call *c = next_call(&r), *ev = next_call(&r);
    answer(ev, 201);
    answer(c, 401);
    c = next_call(&r);
    CHECK_STR(json_get_str(condition_of(&r, c), "reason"), "SpecInvalid");
    answer(c, 200);
    turn(&r);
    CHECK_INT(r.fake.n, r.seen);
    rig_fini(&r);
}

TEST(a_status_that_the_cluster_refuses_is_not_written_again)
{
    struct rig r;
    rig_init(&r, good);
    struct fake_call *c = next_call(&r);
    answer(c, 404);
    watch_event(&r, "MODIFIED", good);
    CHECK_INT(r.fake.n, r.seen);
    rig_fini(&r);
}

TEST(a_deleted_object_ends_its_operator_also_while_its_status_is_written)
{
    struct rig r;
    rig_init(&r, good);
    struct fake_call *c = next_call(&r);
    watch_event(&r, "DELETED", good);
    CHECK(c->cancelled);
    CHECK_INT(operators_count(r.os), 0);
    watch_event(&r, "ADDED", good);
    CHECK_INT(operators_count(r.os), 1);
    answer(c, 200); /* the write of the one that is gone */
    fake_gets_settle();
    rig_fini(&r);
}

TEST(another_object_of_the_same_name_starts_anew)
{
    static const char other[] =
        "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\",\"uid\":\"u-2\",\"generation\":1},"
        "\"spec\":{\"module\":{\"file\":\"a.wasm\"}}}";
    struct rig r;
    rig_init(&r, typo);
    answer(next_call(&r), 200);
    answer(next_call(&r), 201);
    watch_event(&r, "MODIFIED", other); /* the deletion in between was not seen */
    CHECK_INT(fake_gets.n, 1);
    rig_fini(&r);
}

/* As after a list that took the place of a watch that had expired: nobody says DELETED. */
TEST(the_guest_of_an_object_that_was_replaced_ends_even_if_the_new_one_cannot_run)
{
    struct rig r;
    rig_init(&r, good);
    fake_compile(&fake_gets.at[0], &fake_g2);
    turn(&r);
    CHECK(fake_guests.at[0]->started && !fake_guests.at[0]->freed);
    fake_data(
        &r.fake.call[1],
        "{\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"namespace\":\"ns\",\"name\":\"a\","
        "\"uid\":\"u-2\",\"generation\":1,\"resourceVersion\":\"7\"},"
        "\"spec\":{\"module\":{\"file\":\"none.wasm\"}}}}\n");
    turn(&r);
    CHECK(fake_guests.at[0]->freed);
    CHECK(!operators_find(r.os, "ns", "a"));
    rig_fini(&r);
}

TEST(closed_in_the_middle_of_writes)
{
    struct rig r;
    rig_init(&r, typo);
    (void)next_call(&r);
    (void)next_call(&r);
    rig_fini(&r);
}

TEST(the_definition_is_json)
{
    struct arena a = { 0 };
    struct json *list;
    CHECK_OK(json_parse(&a, objects_crd(), NULL, &list, NULL));
    const struct json *crd = json_first(json_getc(list, "items"));
    CHECK_STR(json_get_str(json_getc(crd, "metadata"), "name"), "operators.dormouse.dev");
    arena_fini(&a);
}

TEST_MAIN
