/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plane with gateways and workers that a test plays by hand over streams in the process, under
 * virtual time: what they were told is kept, what they say is what the test says.
 */
#pragma once

#include "codec/json.h"
#include "fn/control/plane.h"
#include "fn/stream_impl.h"
#include "test.h"

enum { RIG_ORDERS_MAX = 4096 };

struct fake_worker {
    struct fn_stream *s;
    bool welcome, redirected, ended;
    char refusal[256];
    uint64_t term;
    struct {
        uint64_t id;
        uint32_t function, revision;
    } creates[RIG_ORDERS_MAX];
    uint64_t deletes[RIG_ORDERS_MAX], adopts[RIG_ORDERS_MAX];
    size_t n_creates, n_deletes, n_adopts, n_functions, n_gone, n_resting;
    uint32_t resting;  /* the last one */
    char deleted[512]; /* the last one: namespace/name */
    char env[256];     /* of the last function received: NAME=VALUE;PATH:CONTENT; */
};

struct fake_endpoint {
    uint64_t id;
    uint32_t revision;
    char address[64];
    bool draining;
};

struct fake_gateway {
    struct fn_stream *s;
    bool welcome, redirected, ended, is_whole;
    uint64_t term, version;
    struct fake_endpoint at[RIG_ORDERS_MAX];
    size_t n, n_functions, n_members, n_snapshots, n_policies;
    uint32_t latest;
    char reason[64], refusal[256];
    bool is_permanent, requires_token;
};

struct rig {
    struct loop loop;
    struct plane *plane;
    struct arena arena;
    unsigned changes, resolves, deposed, created;
    uint32_t resolve_function, resolve_revision;
};

static inline void turn(struct rig *r)
{
    for (int i = 0; i < 20; i++)
        (void)loop_turn(&r->loop, false);
}

static inline void skip(struct rig *r, uint64_t ms)
{
    loop_skip(&r->loop, ms);
    turn(r);
}

/* ---- callbacks of the plane ---- */

static void rig_on_change(void *arg, uint32_t function)
{
    ((struct rig *)arg)->changes++;
}

static void rig_on_resolve(void *arg, uint32_t function, uint32_t revision)
{
    struct rig *r = arg;
    r->resolves++;
    r->resolve_function = function;
    r->resolve_revision = revision;
}

static void rig_on_deposed(void *arg)
{
    ((struct rig *)arg)->deposed++;
}

static void rig_on_created(void *arg, const struct plane_created *c)
{
    ((struct rig *)arg)->created++;
}

/* The control plane's own listener. */
enum { RIG_OWN_PORT = 7070 };

static bool rig_is_ours(void *arg, struct str host, uint16_t port)
{
    return port == RIG_OWN_PORT && str_is(host, "127.0.0.1");
}

static const struct plane_ops rig_plane_ops = { .is_ours = rig_is_ours,
                                                .on_change = rig_on_change,
                                                .on_resolve = rig_on_resolve,
                                                .on_deposed = rig_on_deposed,
                                                .on_created = rig_on_created };

static inline void rig_init_with(struct rig *r, struct plane_opts opts)
{
    *r = (struct rig){ 0 };
    CHECK_OK(loop_init(&r->loop, NULL));
    opts.loop = &r->loop;
    opts.name = "one";
    opts.lease_ms = 1500;
    opts.ops = &rig_plane_ops;
    opts.arg = r;
    r->plane = plane_new(&opts);
}

static inline void rig_init(struct rig *r)
{
    rig_init_with(r, (struct plane_opts){ 0 });
}

static inline void rig_fini(struct rig *r)
{
    plane_free(r->plane);
    turn(r);
    arena_fini(&r->arena);
    loop_fini(&r->loop);
}

/* ---- functions ---- */

struct rig_revision {
    uint32_t number;
    const char *template;
    bool is_ready;
};

/* The last revision's template is what the spec has. */
static inline uint32_t rig_function(struct rig *r, const char *name, const char *spec_text,
                                    const struct rig_revision *revisions, size_t n)
{
    struct json *json;
    struct fn_spec spec;
    struct err err = { 0 };
    struct plane_revision all[8];
    char *uid = arena_printf(&r->arena, "uid-%s", name);
    CHECK_OK(json_parse(&r->arena, str_of(spec_text), NULL, &json, &err));
    CHECK_OK(fn_spec_read(&r->arena, json, &spec, &err));
    for (size_t i = 0; i < n; i++)
        all[i] = (struct plane_revision){ revisions[i].number, str_of(revisions[i].template),
                                          revisions[i].is_ready };
    struct plane_function f = { .uid = str_of(uid),
                                .namespace = STR("ns"),
                                .name = str_of(name),
                                .generation = 1,
                                .spec = &spec,
                                .spec_json = str_of(spec_text),
                                .revisions = all,
                                .n_revisions = n };
    int number = plane_set_function(r->plane, &f, &err);
    CHECK(number > 0);
    turn(r);
    return (uint32_t)number;
}

static inline uint32_t rig_fake(struct rig *r, const char *name)
{
    struct rig_revision one = { 1, "{\"fake\":{}}", false };
    return rig_function(r, name, "{\"fake\":{}}", &one, 1);
}

/* ---- workers ---- */

static void worker_on_message(void *arg, const ProtobufCMessage *message)
{
    struct fake_worker *w = arg;
    const Dormouse__Fn__V1__WorkerOrder *m = (const Dormouse__Fn__V1__WorkerOrder *)message;
    w->redirected |= m->redirect != NULL;
    if (m->refusal)
        (void)snprintf(w->refusal, sizeof w->refusal, "%s", m->refusal->message);
    if (m->welcome) {
        w->welcome = true;
        w->term = m->welcome->term;
    }
    w->n_functions += m->n_functions;
    w->n_gone += m->n_functions_gone;
    w->n_resting += m->n_functions_resting;
    if (m->n_functions_resting)
        w->resting = m->functions_resting[m->n_functions_resting - 1];
    for (size_t i = 0; i < m->n_functions_deleted; i++)
        (void)snprintf(w->deleted, sizeof w->deleted, "%s/%s", m->functions_deleted[i]->namespace_,
                       m->functions_deleted[i]->name);
    for (size_t i = 0; i < m->n_functions; i++)
        for (size_t k = 0; k < m->functions[i]->n_revisions; k++) {
            const Dormouse__Fn__V1__Revision *r = m->functions[i]->revisions[k];
            size_t at = 0;
            w->env[0] = '\0';
            for (size_t e = 0; e < r->n_env; e++)
                at += (size_t)snprintf(w->env + at, sizeof w->env - at, "%s=%s;", r->env[e]->name,
                                       r->env[e]->value);
            for (size_t e = 0; e < r->n_secrets; e++)
                at += (size_t)snprintf(w->env + at, sizeof w->env - at, "%s:%.*s;",
                                       r->secrets[e]->path, (int)r->secrets[e]->content.len,
                                       (const char *)r->secrets[e]->content.data);
        }
    for (size_t i = 0; i < m->n_creates; i++) {
        w->creates[w->n_creates].id = m->creates[i]->sandbox;
        w->creates[w->n_creates].function = m->creates[i]->function;
        w->creates[w->n_creates++].revision = m->creates[i]->revision;
    }
    for (size_t i = 0; i < m->n_deletes; i++)
        w->deletes[w->n_deletes++] = m->deletes[i]->sandbox;
    for (size_t i = 0; i < m->n_adopts; i++)
        w->adopts[w->n_adopts++] = m->adopts[i]->sandbox;
}

static void worker_on_end(void *arg, int e, const struct err *err)
{
    ((struct fake_worker *)arg)->ended = true;
}

static const struct fn_stream_ops fake_worker_ops = { .on_message = worker_on_message,
                                                      .on_end = worker_on_end };

struct rig_existing {
    uint64_t id;
    const char *uid;
    uint32_t revision;
    bool is_ready;
};

/* Of workers that dial from now on, and what they say of themselves and of their sandboxes. */
static const char *rig_from = "127.0.0.1";
static const char *rig_worker_address = "127.0.0.1:7000";
static const char *rig_sandbox_address = "127.0.0.1:1234";

static inline void worker_dial(struct rig *r, struct fake_worker *w)
{
    struct fn_stream *theirs;
    fn_stream_pair(&r->loop, &dormouse__fn__v1__worker_order__descriptor,
                   &dormouse__fn__v1__worker_report__descriptor, &w->s, &theirs);
    fn_stream_set(w->s, &fake_worker_ops, w);
    (void)snprintf(theirs->from, sizeof theirs->from, "%s", rig_from);
    plane_accept_worker(r->plane, theirs, false);
}

/* Of workers that say hello from now on: zone=VALUE; NULL: none. */
static const char *rig_zone;

static inline void worker_hello(struct rig *r, struct fake_worker *w, const char *name,
                                uint64_t incarnation, uint64_t highest_term,
                                const struct rig_existing *existing, size_t n)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    Dormouse__Fn__V1__WorkerHello hello = DORMOUSE__FN__V1__WORKER_HELLO__INIT;
    Dormouse__Fn__V1__Existing all[64], *at[64];
    Dormouse__Fn__V1__WorkerHello__LabelsEntry
        zone = DORMOUSE__FN__V1__WORKER_HELLO__LABELS_ENTRY__INIT,
        *labels = &zone;
    char *runtimes[] = { (char *)"fake" };
    *w = (struct fake_worker){ 0 };
    worker_dial(r, w);
    hello.name = (char *)(uintptr_t)name;
    hello.incarnation = incarnation;
    hello.address = (char *)(uintptr_t)rig_worker_address;
    hello.cpu_milli = 1000000;
    hello.memory_bytes = UINT64_C(1) << 40;
    hello.highest_term = highest_term;
    hello.runtimes = runtimes;
    hello.n_runtimes = 1;
    zone.key = (char *)"zone";
    zone.value = (char *)(uintptr_t)(rig_zone ? rig_zone : "");
    hello.labels = &labels;
    hello.n_labels = rig_zone != NULL;
    for (size_t i = 0; i < n; i++) {
        dormouse__fn__v1__existing__init(&all[i]);
        all[i].sandbox = existing[i].id;
        all[i].function_uid = (char *)(uintptr_t)existing[i].uid;
        all[i].revision = existing[i].revision;
        all[i].is_ready = existing[i].is_ready;
        all[i].address = (char *)(uintptr_t)rig_sandbox_address;
        at[i] = &all[i];
    }
    hello.sandboxes = at;
    hello.n_sandboxes = n;
    m.hello = &hello;
    fn_stream_send(w->s, &m.base);
    turn(r);
}

/* error NULL: ready. */
static inline void worker_created(struct rig *r, struct fake_worker *w, uint64_t id,
                                  const char *error, bool is_permanent)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    Dormouse__Fn__V1__Created c = DORMOUSE__FN__V1__CREATED__INIT, *at = &c;
    c.sandbox = id;
    c.error = (char *)(uintptr_t)(error ? error : "");
    c.address = (char *)(uintptr_t)rig_sandbox_address;
    c.is_permanent = is_permanent;
    m.created = &at;
    m.n_created = 1;
    fn_stream_send(w->s, &m.base);
    turn(r);
}

static inline void worker_compiling(struct rig *r, struct fake_worker *w, uint64_t id)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    m.compiling = &id;
    m.n_compiling = 1;
    fn_stream_send(w->s, &m.base);
    turn(r);
}

static inline void worker_gone(struct rig *r, struct fake_worker *w, uint64_t id,
                               const char *reason)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    Dormouse__Fn__V1__Gone g = DORMOUSE__FN__V1__GONE__INIT, *at = &g;
    g.sandbox = id;
    g.reason = (char *)(uintptr_t)reason;
    m.gone = &at;
    m.n_gone = 1;
    fn_stream_send(w->s, &m.base);
    turn(r);
}

static inline void worker_leaves(struct rig *r, struct fake_worker *w)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    m.leaving = true;
    fn_stream_send(w->s, &m.base);
    turn(r);
}

static inline void worker_breathe(struct rig *r, struct fake_worker *w)
{
    Dormouse__Fn__V1__WorkerReport m = DORMOUSE__FN__V1__WORKER_REPORT__INIT;
    fn_stream_send(w->s, &m.base);
    turn(r);
}

/* ---- gateways ---- */

/* What gateways that dial from now on say of themselves. */
static const char *rig_gateway_address = "127.0.0.1:80";

static void gateway_add(struct fake_gateway *g, const Dormouse__Fn__V1__Endpoint *e)
{
    struct fake_endpoint *to = &g->at[g->n++];
    *to = (struct fake_endpoint){ .id = e->sandbox, .revision = e->revision };
    (void)snprintf(to->address, sizeof to->address, "%s", e->address);
}

static void gateway_remove(struct fake_gateway *g, uint64_t id)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->at[i].id == id) {
            g->at[i] = g->at[--g->n];
            return;
        }
}

static void gateway_endpoints(struct fake_gateway *g, const Dormouse__Fn__V1__EndpointUpdate *u)
{
    if (u->is_all) {
        g->n = 0;
        g->n_snapshots++;
    } else {
        CHECK_INT(u->from_version, g->version); /* no update is missed, none comes twice */
    }
    g->version = u->version;
    for (size_t i = 0; i < u->n_adds; i++)
        gateway_add(g, u->adds[i]);
    for (size_t i = 0; i < u->n_drains; i++)
        for (size_t k = 0; k < g->n; k++)
            g->at[k].draining |= g->at[k].id == u->drains[i];
    for (size_t i = 0; i < u->n_removes; i++)
        gateway_remove(g, u->removes[i]);
}

static void gateway_on_message(void *arg, const ProtobufCMessage *message)
{
    struct fake_gateway *g = arg;
    const Dormouse__Fn__V1__GatewayOrder *m = (const Dormouse__Fn__V1__GatewayOrder *)message;
    g->redirected |= m->redirect != NULL;
    if (m->refusal)
        (void)snprintf(g->refusal, sizeof g->refusal, "%s", m->refusal->message);
    if (m->welcome) {
        g->welcome = true;
        g->term = m->welcome->term;
        g->n_functions = 0;
    }
    g->is_whole |= g->welcome && !m->more;
    g->n_functions += m->n_functions;
    g->n_functions -= m->n_functions_gone;
    for (size_t i = 0; i < m->n_functions; i++)
        g->latest = m->functions[i]->latest;
    if (m->endpoints)
        gateway_endpoints(g, m->endpoints);
    if (m->members)
        g->n_members = m->members->n_gateways;
    for (size_t i = 0; i < m->n_policies; i++)
        g->requires_token = m->policies[i]->require_token && !m->policies[i]->is_gone;
    g->n_policies += m->n_policies;
    for (size_t i = 0; i < m->n_failures; i++) {
        (void)snprintf(g->reason, sizeof g->reason, "%s", m->failures[i]->reason);
        g->is_permanent = m->failures[i]->is_permanent;
    }
}

static void gateway_on_end(void *arg, int e, const struct err *err)
{
    ((struct fake_gateway *)arg)->ended = true;
}

static const struct fn_stream_ops fake_gateway_ops = { .on_message = gateway_on_message,
                                                       .on_end = gateway_on_end };

static inline void gateway_hello(struct rig *r, struct fake_gateway *g, const char *name,
                                 uint64_t incarnation, bool is_local)
{
    Dormouse__Fn__V1__GatewayReport m = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__GatewayHello hello = DORMOUSE__FN__V1__GATEWAY_HELLO__INIT;
    struct fn_stream *theirs;
    *g = (struct fake_gateway){ 0 };
    fn_stream_pair(&r->loop, &dormouse__fn__v1__gateway_order__descriptor,
                   &dormouse__fn__v1__gateway_report__descriptor, &g->s, &theirs);
    fn_stream_set(g->s, &fake_gateway_ops, g);
    (void)snprintf(theirs->from, sizeof theirs->from, "%s", is_local ? "" : rig_from);
    plane_accept_gateway(r->plane, theirs, is_local);
    hello.name = (char *)(uintptr_t)name;
    hello.incarnation = incarnation;
    hello.address = (char *)(uintptr_t)rig_gateway_address;
    m.hello = &hello;
    fn_stream_send(g->s, &m.base);
    turn(r);
}

static inline void gateway_load(struct rig *r, struct fake_gateway *g, uint32_t function,
                                uint32_t revision, uint32_t running, uint32_t queued)
{
    Dormouse__Fn__V1__GatewayReport m = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    Dormouse__Fn__V1__FunctionLoad l = DORMOUSE__FN__V1__FUNCTION_LOAD__INIT, *at = &l;
    l.function = function;
    l.revision = revision;
    l.running = running;
    l.queued = queued;
    l.arrived = running + queued;
    m.loads = &at;
    m.n_loads = 1;
    fn_stream_send(g->s, &m.base);
    turn(r);
}

static inline void gateway_drained(struct rig *r, struct fake_gateway *g, uint64_t id, bool broken)
{
    Dormouse__Fn__V1__GatewayReport m = DORMOUSE__FN__V1__GATEWAY_REPORT__INIT;
    if (broken) {
        m.broken = &id;
        m.n_broken = 1;
    } else {
        m.drained = &id;
        m.n_drained = 1;
    }
    fn_stream_send(g->s, &m.base);
    turn(r);
}
