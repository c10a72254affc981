/* SPDX-License-Identifier: Apache-2.0 */
/* kube/object_cache beside a real API server, in one process: what is written is seen and read. */
#include "api_fixture.h"

#include "client/http_transport.h"
#include "client/object_cache.h"

struct rig {
    struct fixture f;
    struct http_transport *http; /* NULL: in process */
    struct watch_hub *hub;
    struct object_cache *cache;
    struct object_sub *sub;
    struct buf reported;
    int r; /* of the last read */
    bool read, closed;
    struct buf items;
    uint64_t rv;
};

static void on_event(void *arg, enum object_event type, const struct cached_object *now,
                     const struct cached_object *before, bool initial)
{
    struct rig *r = arg;
    struct str name = cached_object_name(now ? now : before);
    if (str_has_prefix(name, STR("kube-root-ca")))
        return;
    buf_printf(&r->reported, "%s%c" STR_FMT " ", initial ? "!" : "", "+~-"[type], STR_ARG(name));
}

static void on_synced(void *arg, uint64_t rv)
{
    struct rig *r = arg;
    (void)buf_add_cstr(&r->reported, "S ");
}

static void on_error(void *arg, int code, const struct err *err)
{
    struct rig *r = arg;
    buf_printf(&r->reported, "%s ", err_name(code));
}

static const struct object_sub_ops ops = { .on_event = on_event,
                                           .on_synced = on_synced,
                                           .on_error = on_error };

static void on_request_progress(void *arg)
{
    struct rig *r = arg;
    api_tell_progress(r->f.api);
}

/* Like another cluster: over HTTP, and with bodies. */
static struct transport *listen_and_connect(struct rig *r)
{
    struct err err = { 0 };
    CHECK_OK(api_listen(r->f.api, "127.0.0.1", 0, NULL, &err));
    scoped(free_scoped) char *url = xasprintf("http://127.0.0.1:%u", api_port(r->f.api));
    struct kubeconfig config = { .server = url, .token = (char[]){ "secret" } };
    CHECK_OK(http_transport_new(&r->f.loop, &config, &r->http, &err));
    return http_transport_base(r->http);
}

static void rig_init_as(struct rig *r, struct object_cache_opts opts, bool over_http)
{
    struct err err = { 0 };
    *r = (struct rig){ .reported = BUF_INIT(4096), .items = BUF_INIT(1 << 20) };
    fixture_init(&r->f);
    close_server(&r->f);
    r->f.rbac = true;
    open_server(&r->f);
    settle(&r->f);
    struct transport *t = over_http ? listen_and_connect(r) : api_transport(r->f.api);
    struct watch_hub_opts hub = { .transport = t, .identity = opts.identity };
    CHECK_OK(watch_hub_new(&r->f.loop, &hub, &r->hub, &err));
    opts.loop = &r->f.loop;
    opts.transport = t;
    opts.hub = r->hub;
    opts.request_progress = over_http ? NULL : on_request_progress;
    opts.arg = r;
    CHECK_OK(object_cache_new(&opts, &r->cache, &err));
}

static void rig_init(struct rig *r, struct object_cache_opts opts)
{
    rig_init_as(r, opts, false);
}

static void on_http_closed(void *arg)
{
    struct rig *r = arg;
    r->closed = true;
}

static void on_hub_closed(void *arg)
{
    struct rig *r = arg;
    if (r->http)
        http_transport_close(r->http, on_http_closed, r);
    else
        r->closed = true;
}

static void on_cache_closed(void *arg)
{
    struct rig *r = arg;
    watch_hub_close(r->hub, on_hub_closed, r);
}

static void rig_fini(struct rig *r)
{
    object_sub_cancel(take_ptr(&r->sub));
    object_cache_close(r->cache, on_cache_closed, r);
    while (!r->closed)
        (void)loop_turn(&r->f.loop, true);
    fixture_fini(&r->f);
    buf_fini(&r->reported);
    buf_fini(&r->items);
}

static void subscribe(struct rig *r, struct object_sub_opts opts)
{
    struct err err = { 0 };
    if (opts.plural.n == 0) {
        opts.group_version = STR("v1");
        opts.plural = STR("configmaps");
        opts.namespace = STR("default");
    }
    opts.ops = &ops;
    opts.arg = r;
    if (object_cache_subscribe(r->cache, &opts, &r->sub, &err) < 0)
        TEST_FAIL("%s", err.text);
}

static void on_deadline(struct timer *t) /* only ends the wait */
{
}

/* Wait until it has been told so. */
static void check_reported(struct rig *r, const char *want_reported)
{
    struct timer deadline = { 0 };
    uint64_t end = loop_now_ms(&r->f.loop) + 20000;
    timer_start(&r->f.loop, &deadline, 60000, on_deadline);
    while (r->reported.n < strlen(want_reported) && loop_now_ms(&r->f.loop) < end)
        (void)loop_turn(&r->f.loop, true);
    timer_stop(&r->f.loop, &deadline);
    CHECK_STR(buf_str(&r->reported), want_reported);
    buf_reset(&r->reported);
}

static void on_done_read(void *arg, int code, const struct object_result *res,
                         const struct err *err)
{
    struct rig *r = arg;
    r->read = true;
    r->r = code;
    for (size_t i = 0; res && i < res->n; i++) {
        (void)buf_add_str(&r->items, res->items[i]);
        (void)buf_add_char(&r->items, '\n');
    }
    r->rv = res ? res->rv : 0;
}

static int read_it(struct rig *r, bool list, struct object_query q)
{
    struct object_read *read;
    struct err err = { 0 };
    buf_reset(&r->items);
    r->read = false;
    CHECK_OK((list ? object_sub_list : object_sub_get)(r->sub, &q, on_done_read, r, &read, &err));
    while (!r->read)
        (void)loop_turn(&r->f.loop, true);
    return r->r;
}

static bool has(const struct rig *r, const char *text)
{
    return str_find(buf_str(&r->items), str_of(text)) >= 0;
}

static void on_compacted(void *arg, int code, const struct err *err)
{
    struct fixture *f = arg;
    f->done = true;
    f->r = code;
}

static void follows_writes(bool embedded)
{
    struct rig r;
    rig_init(&r, (struct object_cache_opts){ .embedded = embedded });
    const struct object_field field = { OBJECT_FIELD_PATH, STR(".data.value"), true };
    (void)want(
        &r.f, 201, "POST", MAPS,
        "{\"metadata\":{\"name\":\"a\",\"labels\":{\"x\":\"1\"}},\"data\":{\"value\":\"v\"}}");
    subscribe(&r, (struct object_sub_opts){ .fields = &field, .n_fields = 1 });
    check_reported(&r, "!+a S ");
    (void)want(&r.f, 201, "POST", MAPS,
               "{\"metadata\":{\"name\":\"b\"},\"data\":{\"value\":\"w\"}}");
    check_reported(&r, "+b ");
    (void)want(&r.f, 200, "PUT", MAPS "/a",
               "{\"metadata\":{\"name\":\"a\"},\"data\":{\"value\":\"w\"}}");
    check_reported(&r, "~a ");
    CHECK_OK(read_it(&r, true, (struct object_query){ .by_field = true, .value = STR("w") }));
    CHECK(has(&r, "\"name\":\"a\"") && has(&r, "\"name\":\"b\"") &&
          has(&r, "\"kind\":\"ConfigMap\""));
    CHECK(!has(&r, "managedFields"));
    CHECK_OK(read_it(&r, true, (struct object_query){ .label_selector = STR("x=1") }));
    CHECK(!has(&r, "\"name\":\"a\""));
    CHECK_OK(read_it(&r, false,
                     (struct object_query){
                         .namespace = STR("default"), .name = STR("a"), .view = OBJECT_METADATA }));
    CHECK(has(&r, "PartialObjectMetadata") && !has(&r, "\"data\""));
    /* A write elsewhere moves the version; the list waits for a bookmark that says so. */
    (void)want(&r.f, 201, "POST", "/api/v1/namespaces/default/secrets",
               "{\"metadata\":{\"name\":\"s\"}}");
    uint64_t now = store_revision(r.f.store);
    CHECK_OK(read_it(&r, true, (struct object_query){ .consistent = true, .view = OBJECT_KEYS }));
    CHECK(r.rv >= now && has(&r, "\"name\":\"b\""));
    CHECK_OK(read_it(&r, false,
                     (struct object_query){
                         .namespace = STR("default"), .name = STR("b"), .consistent = true }));
    (void)want(&r.f, 200, "DELETE", MAPS "/b", NULL);
    check_reported(&r, "-b ");
    CHECK_ERR(
        read_it(&r, false, (struct object_query){ .namespace = STR("default"), .name = STR("b") }),
        -ENOENT);
    struct object_cache_stats s;
    object_cache_get_stats(r.cache, &s);
    CHECK(embedded || s.body_bytes);
    rig_fini(&r);
}

TEST(writes_are_seen_and_read_from_the_cache)
{
    follows_writes(false);
}

TEST(writes_are_seen_and_read_from_the_store)
{
    follows_writes(true);
}

TEST(a_server_that_restarts_is_followed_without_loss)
{
    struct rig r;
    struct err err = { 0 };
    rig_init_as(&r, (struct object_cache_opts){ 0 }, true);
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"b\"}}");
    subscribe(&r, (struct object_sub_opts){ 0 });
    check_reported(&r, "!+a !+b S ");
    uint16_t port = api_port(r.f.api);
    close_server(&r.f);
    open_server(&r.f);
    (void)want(&r.f, 200, "DELETE", MAPS "/a", NULL); /* while nobody can watch */
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    CHECK_OK(api_listen(r.f.api, "127.0.0.1", port, NULL, &err));
    check_reported(&r, "-a +c ");
    /* The same when what happened meanwhile has been forgotten. */
    close_server(&r.f);
    open_server(&r.f);
    (void)want(&r.f, 200, "DELETE", MAPS "/b", NULL);
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"d\"}}");
    CHECK_OK(store_compact(r.f.store, store_revision(r.f.store), on_compacted, &r.f, &err));
    r.f.done = false;
    wait_done(&r.f);
    CHECK_OK(api_listen(r.f.api, "127.0.0.1", port, NULL, &err));
    check_reported(&r, "+d -b ");
    CHECK_OK(
        read_it(&r, false, (struct object_query){ .namespace = STR("default"), .name = STR("d") }));
    rig_fini(&r);
}

static const struct kube_identity nobody = { .user = { "nobody", 6 } };

static void roles_decide(bool over_http, const struct kube_identity *own)
{
    static const struct str groups[] = { { "system:serviceaccounts", 22 },
                                         { "system:authenticated", 20 } };
    static const struct kube_identity account = {
        .user = { "system:serviceaccount:default:op", 32 }, .groups = groups, .n_groups = 2
    };
    static const char roles[] = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
    static const char bindings[] =
        "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings";
    struct rig r;
    rig_init_as(&r,
                (struct object_cache_opts){
                    .embedded = !over_http, .identity = own, .verdict_ms = 50, .denied_ms = 50 },
                over_http);
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    subscribe(&r, (struct object_sub_opts){ .identity = &account });
    check_reported(&r, "E_DENIED ");
    CHECK_ERR(
        read_it(&r, false, (struct object_query){ .namespace = STR("default"), .name = STR("a") }),
        E_DENIED);
    (void)want(&r.f, 201, "POST", roles,
               "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"apiGroups\":[\"\"],\"resources\":"
               "[\"configmaps\"],\"verbs\":[\"get\",\"list\",\"watch\"]}]}");
    (void)want(
        &r.f, 201, "POST", bindings,
        "{\"metadata\":{\"name\":\"r\"},\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\","
        "\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":"
        "\"op\",\"namespace\":\"default\"}]}");
    check_reported(&r, "!+a S ");
    CHECK_OK(
        read_it(&r, false, (struct object_query){ .namespace = STR("default"), .name = STR("a") }));
    char path[256];
    (void)snprintf(path, sizeof path, "%s/r", bindings);
    (void)want(&r.f, 200, "DELETE", path, NULL);
    uint64_t until = loop_now_ms(&r.f.loop) + 60;
    while (loop_now_ms(&r.f.loop) < until) /* the old answer counts a little longer */
        (void)loop_turn(&r.f.loop, false);
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"secretive\"}}");
    check_reported(&r, "E_DENIED ");
    rig_fini(&r);
}

TEST(roles_decide_what_an_identity_is_told)
{
    roles_decide(false, NULL);
}

TEST(roles_of_another_cluster_decide_as_well)
{
    roles_decide(true, NULL);
}

TEST(a_cache_without_rights_serves_who_has_them)
{
    roles_decide(false, &nobody);
    roles_decide(true, &nobody);
}

static const char definition[] =
    "{\"metadata\":{\"name\":\"things.example.dev\"},\"spec\":{\"group\":\"example.dev\",\"scope\":"
    "\"Namespaced\",\"names\":{\"plural\":\"things\",\"singular\":\"thing\",\"kind\":\"Thing\"},"
    "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{"
    "\"openAPIV3Schema\":"
    "{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}]}}";

TEST(a_definition_that_vanishes_takes_its_objects_and_brings_new_ones)
{
    static const char crds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    static const char things[] = "/apis/example.dev/v1/namespaces/default/things";
    struct rig r;
    rig_init(&r, (struct object_cache_opts){ .embedded = true });
    subscribe(&r, (struct object_sub_opts){ .group_version = STR("example.dev/v1"),
                                            .plural = STR("things") });
    check_reported(&r, "ENOENT ");
    (void)want(&r.f, 201, "POST", crds, definition);
    settle(&r.f);
    (void)want(
        &r.f, 201, "POST", things,
        "{\"apiVersion\":\"example.dev/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"a\"}}");
    check_reported(&r, "!+a S ");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/things.example.dev", crds);
    (void)want(&r.f, 200, "DELETE", path, NULL);
    check_reported(&r, "-a ENOENT ");
    rig_fini(&r);
}

/* ---------------------------------------------------------------- the head beside the bytes */

struct heads {
    struct buf seen; /* "+a " */
    unsigned lines;  /* events that came as bytes alone */
    bool ended;
};

static void on_any_head(void *arg, int status, const struct headers *headers)
{
    CHECK_INT(status, 200);
}

static void on_bytes(void *arg, struct str chunk)
{
    ((struct heads *)arg)->lines++;
}

static void on_watch_event(void *arg, const struct watch_event *ev)
{
    struct heads *h = arg;
    struct arena a = { 0 };
    struct watch_event scanned;
    CHECK_OK(watch_event_scan(&a, ev->line, &scanned, NULL));
    CHECK_INT(ev->type, scanned.type);
    CHECK(str_eq(ev->namespace, scanned.namespace) && str_eq(ev->name, scanned.name));
    CHECK_INT(ev->rv, scanned.rv);
    CHECK(ev->ends_initial == scanned.ends_initial);
    CHECK(ev->object.p == scanned.object.p && ev->object.n == scanned.object.n);
    buf_printf(&h->seen, "%c" STR_FMT " ", "+*-B!"[ev->type], STR_ARG(ev->name));
    arena_fini(&a);
}

static void on_heads_end(void *arg, int code, const struct err *err)
{
    ((struct heads *)arg)->ended = true;
}

static void check_heads(const char *target, const char *accept, const char *wanted)
{
    static const struct exchange_events heads_events = { .on_head = on_any_head,
                                                         .on_data = on_bytes,
                                                         .on_end = on_heads_end };
    struct rig r;
    struct heads h = { .seen = BUF_INIT(4096) };
    rig_init(&r, (struct object_cache_opts){ .embedded = true });
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"a\"}}");
    struct transport *t = api_transport(r.f.api);
    struct headers headers = { 0 };
    (void)headers_addc(&headers, "accept", accept);
    struct kube_request req = { .method = STR("GET"),
                                .target = str_of(target),
                                .headers = &headers,
                                .on_event = on_watch_event,
                                .event_arg = &h };
    struct exchange *call;
    CHECK_OK(transport_start(t, &req, &heads_events, &h, &call, NULL));
    headers_fini(&headers);
    while (!h.seen.n || h.seen.p[h.seen.n - 2] != 'B') /* the bookmark after what was there */
        (void)loop_turn(&r.f.loop, true);
    (void)want(&r.f, 201, "POST", MAPS, "{\"metadata\":{\"name\":\"b\"}}");
    (void)want(&r.f, 200, "PUT", MAPS "/b",
               "{\"metadata\":{\"name\":\"b\"},\"data\":{\"object\":\"\\\"object\\\":\"}}");
    (void)want(&r.f, 200, "DELETE", MAPS "/b", "");
    settle(&r.f);
    (void)want(&r.f, 201, "POST", "/api/v1/namespaces/default/secrets",
               "{\"metadata\":{\"name\":\"s\"}}");
    settle(&r.f);
    api_tell_progress(r.f.api);
    while (h.seen.n < strlen(wanted))
        (void)loop_turn(&r.f.loop, true);
    CHECK_STR(buf_str(&h.seen), wanted);
    CHECK_INT(h.lines, 0);
    exchange_cancel(call);
    while (!h.ended)
        (void)loop_turn(&r.f.loop, true);
    buf_fini(&h.seen);
    rig_fini(&r);
}

#define ALL_MAPS                                                                                   \
    "/api/v1/configmaps?watch=1&allowWatchBookmarks=true&fieldSelector=metadata.name!%3Dx"

TEST(in_process_the_head_of_each_event_comes_beside_its_bytes)
{
    check_heads(ALL_MAPS "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                "application/json", "+a B +b *b -b B ");
    check_heads("/api/v1/namespaces/default/configmaps?watch=1&allowWatchBookmarks=true"
                "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                WATCH_METADATA_ACCEPT, "+a B +b *b -b B ");
}

TEST_MAIN
