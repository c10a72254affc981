/* SPDX-License-Identifier: Apache-2.0 */
/* The server as a whole: it is made, started and closed here. Requests: request.c, reply.c. */
#include "api/core.h"

#include "api/admission.h"
#include "api/part.h"
#include "base/clock.h"
#include "io/http.h"
#include "kube/rules/rules.h"

#include <assert.h>

/*
 * Upstream has fixed routes below the groups of built-in kinds; other paths are looked up at run
 * time.
 */
bool api_is_builtin_group(const struct kube_registry *reg, struct str group)
{
    kube_registry_each(r, reg)
    {
        if (!(*r)->crd && str_eq((*r)->group, group))
            return true;
    }
    return false;
}

void api_renew_certificate(struct api *api)
{
    if (api->renew_at_s && clock_wall_ms() / 1000 >= api->renew_at_s)
        api->renew_at_s = api->renew(api->renew_arg);
}

struct api *api_core_new(const struct api_opts *opts, const struct api_needs *needs)
{
    struct api *api = xnew(struct api);
    api->needs = needs;
    api->transport.start = api_local_start;
    api->loop = opts->loop;
    api->store = opts->store;
    api->authorize = opts->authorize;
    api->authorize_arg = opts->authorize_arg;
    api->with_rbac = opts->rbac;
    api->ca_cert = BUF_INIT(1 << 20);
    (void)buf_add_str(&api->ca_cert, opts->ca_cert);
    api->ca_key = BUF_INIT(1 << 20);
    (void)buf_add_str(&api->ca_key, opts->ca_key);
    api->commit = str_dup(opts->commit);
    api->commit_date = str_dup(opts->commit_date);
    api->unattended.is_on = opts->warn_unattended;
    api->watch_min_ms = opts->watch_min_ms ? opts->watch_min_ms : API_WATCH_MIN_MS;
    list_init(&api->requests);
    list_init(&api->unsent);
    list_init(&api->large);
    flows_init(&api->flows, api->loop, request_on_flow_run, request_on_flow_refuse);
    lines_init(&api->lines, api->loop);
    documents_init(&api->documents, api);
    kube_registry_init(&api->reg);
    rules_register(&api->reg);
    api->chain = xnew(struct admission_chain);
    return api;
}

struct transport *api_transport(struct api *api)
{
    return &api->transport;
}

void api_on_renewal(struct api *api, int64_t at_s, int64_t (*renew)(void *arg), void *arg)
{
    api->renew_at_s = at_s;
    api->renew = renew;
    api->renew_arg = arg;
}

static void on_parts_ready(void *arg, int r, const struct err *err)
{
    struct api *api = arg;
    api->ready = r >= 0;
    api->on_ready(api->on_ready_arg, r, err);
}

void api_start(struct api *api, void (*on_ready)(void *arg, int r, const struct err *err),
               void *arg)
{
    api->on_ready = on_ready;
    api->on_ready_arg = arg;
    api_start_parts(api, on_parts_ready, api);
}

void api_core_free(struct api *api)
{
    assert(list_is_empty(&api->requests));
    assert(list_is_empty(&api->unsent) && list_is_empty(&api->large));
    assert(!list_is_linked(&api->parts_turn.node) && !api->in_part_start);
    assert(api->n_inflight == 0 && api->body_bytes == 0 && api->unsent_bytes == 0);
    api_free_parts(api);
    timer_stop(api->loop, &api->bookmark_timer);
    timer_stop(api->loop, &api->reauthorize_timer);
    map_fini(&api->revoked);
    map_fini(&api->hubs);
    kube_registry_fini(&api->reg);
    metrics_fini(&api->metrics);
    buf_fini(&api->ca_cert);
    buf_fini(&api->ca_key);
    flows_fini(&api->flows);
    lines_fini(&api->lines);
    namespace_table_fini(&api->namespace_table);
    documents_fini(&api->documents);
    unattended_fini(&api->unattended);
    free(api->commit);
    free(api->commit_date);
    defer_cancel(&api->large_turn);
    free(api->chain);
    free(api);
}

static void close_turn(struct defer *d)
{
    struct api *api = container_of(d, struct api, close_defer);
    void (*done)(void *arg) = api->on_closed;
    void *arg = api->on_closed_arg;
    api_core_free(api);
    done(arg);
}

/* The server ends when the listener is closed and the last request has ended. */
static void close_step(struct api *api)
{
    if (api->http_closed && list_is_empty(&api->requests) && !api_parts_busy(api))
        defer_start(api->loop, &api->close_defer, close_turn);
}

void api_part_idle(struct api *api)
{
    if (api->closing)
        close_step(api);
}

static void on_http_closed(void *arg)
{
    struct api *api = arg;
    api->http = NULL;
    api->http_closed = true;
    close_step(api);
}

void api_close(struct api *api, uint64_t grace_ms, void (*done)(void *arg), void *arg)
{
    assert(!api->closing);
    api->closing = true;
    api->on_closed = done;
    api->on_closed_arg = arg;
    api_stop_parts(api);
    watch_close_all(api);
    if (api->http) {
        http_server_close(api->http, grace_ms, on_http_closed, api);
    } else {
        api->http_closed = true;
        close_step(api);
    }
}
