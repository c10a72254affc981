/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a guest: "METHOD\nURI\nBODY" becomes the payload of the import `request`, first byte:
 * how. Whatever the text is, nothing reaches the cluster that the operator's allow-list does not
 * name.
 */
#include "fuzz.h"

#include "codec/bincode.h"
#include "codec/url.h"
#include "operator/discovery.h"
#include "operator/host/calls.h"

#include <errno.h>
#include <limits.h>

int guest_deliver(struct guest *g, const struct guest_delivery *d, struct err *err)
{
    return 0;
}

void guest_fail(struct guest *g, const struct err *why)
{
}

/* The path is that of ConfigMaps in namespace "a", the method reads. */
static int start(struct transport *t, const struct kube_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    static struct url_target url;
    struct arena a = { 0 };
    static const char *const want[] = { "api", "v1", "namespaces", "a", "configmaps" };
    FUZZ_CHECK(str_is(req->method, "GET") || str_is(req->method, "HEAD"));
    FUZZ_CHECK(str_has_prefix(req->target, STR("/")));
    FUZZ_CHECK(url_parse(&a, req->target, &url, NULL) == 0);
    FUZZ_CHECK(url.n_segments >= ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        FUZZ_CHECK(str_is(url.segments[i], want[i]));
    for (size_t i = 0; req->headers && i < req->headers->n; i++)
        FUZZ_CHECK(!str_ieq(headers_name(req->headers, i), STR("authorization")));
    arena_fini(&a);
    return err_set(err, -ECONNREFUSED, "nobody is there");
}

static struct transport transport = { start };

struct world {
    struct loop loop;
    struct watch_hub *hub;
    struct allow *allow;
    struct calls_env env;
};

/* Made once: nothing of one input may be left for the next. */
static struct world *make_world(void)
{
    static struct world w;
    struct watch_hub_opts hub = { .transport = &transport, .widen_at = UINT_MAX };
    struct str verbs[] = { STR("get"), STR("list"), STR("watch") };
    struct str paths[] = { STR("/api/v1/namespaces/a/configmaps"),
                           STR("/api/v1/namespaces/a/configmaps/...") };
    FUZZ_CHECK(loop_init(&w.loop, NULL) >= 0 && watch_hub_new(&w.loop, &hub, &w.hub, NULL) >= 0);
    FUZZ_CHECK(allow_add(&w.allow, verbs, ARRAY_LEN(verbs), paths, ARRAY_LEN(paths), NULL) >= 0);
    w.env = (struct calls_env){ .loop = &w.loop,
                                .transport = &transport,
                                .hub = w.hub,
                                .discovery = discovery_new(&w.loop, &transport) };
    return &w;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct world *w;
    if (!w)
        w = make_world();
    if (n == 0 || n > 1 << 16)
        return 0;
    struct str rest = str_n(data + 1, n - 1);
    struct bincode_request req = { 0 };
    struct buf payload = BUF_INIT(1 << 20);
    (void)str_cut(rest, '\n', &req.method, &rest);
    (void)str_cut(rest, '\n', &req.uri, &req.body);
    (void)headers_addc(&req.headers, "authorization", "Bearer mine");
    FUZZ_CHECK(bincode_request_encode(&payload, &req) >= 0);
    struct calls *c = calls_new(&w->env, data[0] & 1 ? GUEST_ABI_G1 : GUEST_ABI_G2, NULL, w->allow);
    struct guest_op op = { .kind = GUEST_OP_REQUEST,
                           .stream = (data[0] & 2) != 0,
                           .payload = buf_str(&payload) };
    calls_on_op(c, &op);
    for (int i = 0; i < 4; i++)
        (void)loop_turn(&w->loop, false);
    calls_free(c);
    (void)loop_turn(&w->loop, false);
    struct watch_hub_stats stats;
    watch_hub_get_stats(w->hub, &stats);
    FUZZ_CHECK(stats.subscribers == 0);
    headers_fini(&req.headers);
    buf_fini(&payload);
    return 0;
}
