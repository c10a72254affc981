/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of gateways: load in, functions and endpoints out. All gateways are at the same version
 * of the endpoints, so an update is made once; a new one gets a snapshot first.
 */
#include "fn/control/plane_impl.h"

#include "base/log.h"
#include "codec/json.h"

#include <inttypes.h>

/* One message for gateways in the making. */
struct bulletin {
    struct plane *p;
    struct plane_gateway *only; /* NULL: for all that have been welcomed */
    struct arena arena;
    Dormouse__Fn__V1__GatewayOrder m;
    VEC(Dormouse__Fn__V1__Function *) functions;
    size_t bytes;
};

static void bulletin_init(struct bulletin *b, struct plane *p, struct plane_gateway *only)
{
    *b = (struct bulletin){ .p = p, .only = only };
    dormouse__fn__v1__gateway_order__init(&b->m);
}

static void bulletin_send(struct bulletin *b)
{
    b->m.functions = b->functions.p;
    b->m.n_functions = b->functions.n;
    for (size_t i = 0; i < PLANE_GATEWAYS_MAX; i++) {
        struct plane_gateway *g = b->p->gateways[i];
        if (g && g->peer.stream && (b->only ? g == b->only : g->is_welcome))
            fn_stream_send(g->peer.stream, &b->m.base);
    }
    vec_fini(&b->functions);
    arena_fini(&b->arena);
    bulletin_init(b, b->p, b->only);
}

/* ---------------------------------------------------------------- functions */

static ProtobufCBinaryData bytes_of(struct str s)
{
    return (ProtobufCBinaryData){ s.n, (uint8_t *)(uintptr_t)s.p };
}

/* The parts of a template that a gateway needs: none that may be secret. */
static ProtobufCBinaryData public_part(struct arena *a, const struct control_plane_revision *rev)
{
    static const char *const kept[] = { "protocol", "port",   "concurrency", "reuse",
                                        "fake",     "module", "image" };
    struct json *json, *out = json_new_object(a);
    struct buf text = BUF_INIT(FN_SPEC_MAX_BYTES);
    if (json_parse(a, str_n(rev->template, rev->template_n), NULL, &json, NULL) < 0)
        return (ProtobufCBinaryData){ 0, NULL };
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct json *v = json_getc(json, kept[i]);
        if (v)
            json_setc(a, out, kept[i], json_clone(a, v));
    }
    (void)json_write(&text, out);
    struct str copy = str_copy_arena(a, buf_str(&text));
    buf_fini(&text);
    return bytes_of(copy);
}

static void add_function(struct bulletin *b, const struct control_plane_function *f)
{
    struct arena *a = &b->arena;
    Dormouse__Fn__V1__Function *m = arena_new(a, Dormouse__Fn__V1__Function);
    dormouse__fn__v1__function__init(m);
    m->function = f->number;
    m->uid = f->uid;
    m->namespace_ = str_dup_arena(a, f->ns->name);
    m->name = f->name;
    m->generation = f->generation;
    m->created_s = f->created_s;
    m->spec = bytes_of(str_n(f->spec, f->spec_n));
    m->latest = f->latest_ready;
    m->revisions = arena_new_n(a, Dormouse__Fn__V1__Revision *, f->n_revisions);
    for (uint32_t i = 0; i < f->n_revisions; i++) {
        Dormouse__Fn__V1__Revision *r = arena_new(a, Dormouse__Fn__V1__Revision);
        dormouse__fn__v1__revision__init(r);
        r->revision = f->revisions[i]->number;
        r->spec = public_part(a, f->revisions[i]);
        m->revisions[m->n_revisions++] = r;
        b->bytes += r->spec.len + 64;
    }
    b->bytes += f->spec_n + 256;
    vec_push(&b->functions, m);
}

/* ---------------------------------------------------------------- endpoints, members, policies */

static Dormouse__Fn__V1__EndpointUpdate *new_update(struct bulletin *b, uint64_t from, uint64_t to)
{
    Dormouse__Fn__V1__EndpointUpdate *m = arena_new(&b->arena, Dormouse__Fn__V1__EndpointUpdate);
    dormouse__fn__v1__endpoint_update__init(m);
    m->from_version = from;
    m->version = to;
    b->m.endpoints = m;
    return m;
}

static Dormouse__Fn__V1__Endpoint *new_endpoint(struct bulletin *b, uint32_t slot)
{
    struct plane *p = b->p;
    const struct plane_sandbox *s = &p->table.at[slot];
    struct buf address = BUF_INIT(1024);
    Dormouse__Fn__V1__Endpoint *e = arena_new(&b->arena, Dormouse__Fn__V1__Endpoint);
    dormouse__fn__v1__endpoint__init(e);
    plane_sandbox_add_address(p, slot, &address);
    e->sandbox = s->id;
    e->function = s->function;
    e->revision = s->revision;
    e->address = str_dup_arena(&b->arena, buf_str(&address));
    e->worker = p->workers.p[s->worker]->peer.name;
    e->by_worker = (s->flags & SANDBOX_BY_WORKER) != 0;
    buf_fini(&address);
    return e;
}

static void add_members(struct bulletin *b)
{
    Dormouse__Fn__V1__Members *m = arena_new(&b->arena, Dormouse__Fn__V1__Members);
    dormouse__fn__v1__members__init(m);
    m->epoch = b->p->members_epoch;
    m->secret = bytes_of(str_n(b->p->secret, sizeof b->p->secret));
    m->gateways = arena_new_n(&b->arena, Dormouse__Fn__V1__Member *, PLANE_GATEWAYS_MAX);
    for (size_t i = 0; i < PLANE_GATEWAYS_MAX; i++) {
        const struct plane_gateway *g = b->p->gateways[i];
        if (!g)
            continue;
        Dormouse__Fn__V1__Member *one = arena_new(&b->arena, Dormouse__Fn__V1__Member);
        dormouse__fn__v1__member__init(one);
        one->name = g->peer.name;
        one->address = g->peer.address;
        one->is_leaving = g->is_leaving;
        m->gateways[m->n_gateways++] = one;
    }
    b->m.members = m;
}

static Dormouse__Fn__V1__Policy *new_policy(struct arena *a, const struct plane_namespace *ns)
{
    Dormouse__Fn__V1__Policy *m = arena_new(a, Dormouse__Fn__V1__Policy);
    dormouse__fn__v1__policy__init(m);
    m->namespace_ = str_dup_arena(a, ns->name);
    m->is_gone = !ns->has_policy;
    m->require_token = ns->policy.require_token;
    m->requests_per_second = ns->policy.requests_per_second;
    m->token_sha256 = arena_new_n(a, ProtobufCBinaryData, ns->policy.n_tokens + 1);
    for (size_t i = 0; i < ns->policy.n_tokens; i++)
        m->token_sha256[m->n_token_sha256++] =
            bytes_of(str_n(ns->policy.tokens[i], sizeof ns->policy.tokens[i]));
    return m;
}

static void add_policies(struct bulletin *b, bool all)
{
    b->m.policies = arena_new_n(&b->arena, Dormouse__Fn__V1__Policy *, b->p->namespaces.n + 1);
    map_each (e, &b->p->namespaces) {
        struct plane_namespace *ns = e->value;
        if (all ? ns->has_policy : ns->dirty)
            b->m.policies[b->m.n_policies++] = new_policy(&b->arena, ns);
    }
    b->m.policies_are_all = all;
}

static void add_failure(struct bulletin *b, const struct control_plane_revision *rev)
{
    const struct plane_active *a = rev->active;
    Dormouse__Fn__V1__Failure *m = arena_new(&b->arena, Dormouse__Fn__V1__Failure);
    bool over =
        !rev->reason || (rev->is_permanent && (!a || loop_now_ms(b->p->loop) >= a->retry_at_ms));
    dormouse__fn__v1__failure__init(m);
    m->function = rev->f->number;
    m->revision = rev->number;
    if (!over) {
        m->reason = rev->reason;
        m->message = rev->message;
        m->is_permanent = rev->is_permanent;
    }
    b->m.failures[b->m.n_failures++] = m;
}

/* ---------------------------------------------------------------- updates */

static void send_functions(struct bulletin *b)
{
    struct plane *p = b->p;
    for (size_t i = 0; i < p->changed.n; i++) {
        struct control_plane_function *f = plane_function(p, p->changed.p[i]);
        if (!f || !f->dirty)
            continue;
        f->dirty = false;
        if (f->dropped)
            continue;
        if (b->bytes > PLANE_PART_BYTES)
            bulletin_send(b);
        add_function(b, f);
    }
    b->m.functions_gone = p->gone.p;
    b->m.n_functions_gone = p->gone.n;
    if (b->functions.n || p->gone.n)
        bulletin_send(b);
}

static void send_endpoints(struct bulletin *b)
{
    struct plane *p = b->p;
    size_t at = 0;
    while (at < p->adds.n || p->drains.n || p->removes.n) {
        Dormouse__Fn__V1__EndpointUpdate *m = new_update(b, p->version, p->version + 1);
        m->adds = arena_new_n(&b->arena, Dormouse__Fn__V1__Endpoint *, PLANE_ENDPOINTS_MAX);
        for (; at < p->adds.n && m->n_adds < PLANE_ENDPOINTS_MAX; at++) {
            uint32_t slot = table_find(&p->table, p->adds.p[at]);
            if (slot != TABLE_NONE && p->table.at[slot].state == SANDBOX_READY)
                m->adds[m->n_adds++] = new_endpoint(b, slot);
        }
        m->drains = p->drains.p;
        m->n_drains = p->drains.n;
        m->removes = p->removes.p;
        m->n_removes = p->removes.n;
        p->version++;
        bulletin_send(b);
        p->drains.n = p->removes.n = 0;
    }
}

static void send_rest(struct bulletin *b)
{
    struct plane *p = b->p;
    b->m.failures = arena_new_n(&b->arena, Dormouse__Fn__V1__Failure *, p->failures.n + 1);
    for (size_t i = 0; i < p->failures.n; i++) {
        const struct control_plane_revision *rev =
            plane_revision_of(p, p->failures.p[i].function, p->failures.p[i].revision);
        if (rev)
            add_failure(b, rev);
    }
    if (p->members_changed)
        add_members(b);
    if (b->m.n_failures || p->members_changed)
        bulletin_send(b);
}

/* Before functions: a new function is never open because its policy has not arrived yet. */
static void send_policies(struct bulletin *b)
{
    if (!b->p->policies_changed)
        return;
    add_policies(b, false);
    bulletin_send(b);
}

void plane_flush_gateways(struct plane *p)
{
    struct bulletin b;
    bulletin_init(&b, p, NULL);
    send_policies(&b);
    send_functions(&b);
    send_endpoints(&b);
    send_rest(&b);
    vec_fini(&b.functions);
    arena_fini(&b.arena);
    map_each (e, &p->namespaces)
        if (p->policies_changed)
            ((struct plane_namespace *)e->value)->dirty = false;
    p->members_changed = p->policies_changed = false;
    vec_fini(&p->adds);
    vec_fini(&p->drains);
    vec_fini(&p->removes);
    vec_fini(&p->changed);
    vec_fini(&p->gone);
    vec_fini(&p->failures);
}

/* ---------------------------------------------------------------- the snapshot of a welcome */

static void part(struct bulletin *b)
{
    b->m.more = true;
    bulletin_send(b);
}

static void snapshot_functions(struct bulletin *b)
{
    struct plane *p = b->p;
    for (size_t i = 1; i < p->functions.n; i++) {
        struct control_plane_function *f = p->functions.p[i];
        if (!f || f->dropped)
            continue;
        if (b->bytes > PLANE_PART_BYTES)
            part(b);
        add_function(b, f);
    }
    part(b);
}

static void snapshot_endpoints(struct bulletin *b)
{
    struct plane *p = b->p;
    Dormouse__Fn__V1__EndpointUpdate *m = NULL;
    for (uint32_t slot = 0; slot < p->table.n || !m; slot++) {
        bool is_first = !m;
        if (is_first || m->n_adds == PLANE_ENDPOINTS_MAX) {
            if (m)
                part(b);
            m = new_update(b, is_first ? 0 : p->version, p->version);
            m->is_all = is_first;
            m->adds = arena_new_n(&b->arena, Dormouse__Fn__V1__Endpoint *, PLANE_ENDPOINTS_MAX);
        }
        if (slot < p->table.n && p->table.at[slot].id && p->table.at[slot].state == SANDBOX_READY)
            m->adds[m->n_adds++] = new_endpoint(b, slot);
    }
}

static size_t count_failures(const struct plane *p, struct bulletin *to)
{
    size_t n = 0;
    for (size_t i = 1; i < p->functions.n; i++)
        for (uint32_t k = 0; p->functions.p[i] && k < p->functions.p[i]->n_revisions; k++) {
            const struct control_plane_revision *rev = p->functions.p[i]->revisions[k];
            n += rev->is_permanent;
            if (to && rev->is_permanent)
                add_failure(to, rev);
        }
    return n;
}

static void send_snapshot(struct plane_gateway *g)
{
    struct plane *p = g->peer.p;
    struct bulletin b;
    Dormouse__Fn__V1__Welcome welcome = DORMOUSE__FN__V1__WELCOME__INIT;
    bulletin_init(&b, p, g);
    welcome.term = p->term;
    welcome.leader = (char *)(uintptr_t)p->opts.name;
    welcome.lease_ms = g->peer.is_local ? 0 : (uint32_t)p->lease_ms;
    b.m.welcome = &welcome;
    b.m.functions_are_all = true;
    add_members(&b);
    add_policies(&b, true);
    snapshot_functions(&b);
    snapshot_endpoints(&b);
    b.m.failures = arena_new_n(&b.arena, Dormouse__Fn__V1__Failure *, count_failures(p, NULL) + 1);
    (void)count_failures(p, &b);
    bulletin_send(&b); /* without `more`: the last */
}

/* ---------------------------------------------------------------- reports */

/* A sandbox that refused a connection: no gateway shall try it, and it is not worth keeping. */
static void take_broken(struct plane_gateway *g, uint64_t id)
{
    struct plane *p = g->peer.p;
    uint32_t slot = table_find(&p->table, id);
    if (slot == TABLE_NONE || p->table.at[slot].state != SANDBOX_READY)
        return;
    const struct plane_sandbox *s = &p->table.at[slot];
    struct control_plane_revision *rev = plane_revision_of(p, s->function, s->revision);
    log_warn("sandbox refuses connections", "function=" STR_FMT "/%s worker=%s gateway=%s",
             STR_ARG(rev->f->ns->name), rev->f->name, p->workers.p[s->worker]->peer.name,
             g->peer.name);
    p->died++;
    plane_sandbox_delete(p, slot);
    plane_revision_recount(rev);
}

static void send_members(struct plane *p)
{
    p->members_epoch++;
    p->members_changed = true;
    plane_send_later(p);
}

static void on_gateway_message(void *arg, const ProtobufCMessage *message)
{
    struct plane_gateway *g = arg;
    struct plane *p = g->peer.p;
    const Dormouse__Fn__V1__GatewayReport *m = (const Dormouse__Fn__V1__GatewayReport *)message;
    assert(p->leads && g->is_welcome && g->peer.stream);
    plane_peer_heard(&g->peer);
    g->endpoints_version = MAX(g->endpoints_version, m->endpoints_version);
    if (g->is_leaving != m->is_leaving) {
        g->is_leaving = m->is_leaving;
        send_members(p);
    }
    if (m->loads_are_all)
        plane_drop_shares(p, g);
    for (size_t i = 0; i < m->n_loads; i++) {
        struct control_plane_revision *rev =
            plane_revision_of(p, m->loads[i]->function, m->loads[i]->revision);
        if (rev && !rev->f->dropped)
            plane_revision_load(rev, g, m->loads[i]);
    }
    for (size_t i = 0; i < m->n_broken; i++)
        take_broken(g, m->broken[i]);
    for (size_t i = 0; i < m->n_drained; i++)
        plane_sandbox_drained(p, m->drained[i], g);
}

static void on_gateway_end(void *arg, int r, const struct err *err)
{
    struct plane_gateway *g = arg;
    log_info("gateway's stream has ended", "gateway=%s reason=\"%s\"", g->peer.name,
             r < 0 && err ? err_text(err) : "");
    g->is_welcome = false;
    if (g->is_leaving)
        plane_gateway_lost(g); /* it has reported so */
    else
        plane_peer_broke(&g->peer);
}

static const struct fn_stream_ops gateway_ops = { .on_message = on_gateway_message,
                                                  .on_end = on_gateway_end };

/* ---------------------------------------------------------------- connect and disconnect */

static void free_gateway(struct plane_gateway *g)
{
    struct plane *p = g->peer.p;
    assert(p->gateways[g->bit] == g && p->n_gateways > 0);
    fn_stream_close(g->peer.stream);
    p->gateways[g->bit] = NULL;
    p->n_gateways--;
    free(g->peer.name);
    free(g->peer.address);
    free(g);
}

void plane_gateway_lost(struct plane_gateway *g)
{
    struct plane *p = g->peer.p;
    if (g->is_leaving)
        log_info("gateway has left", "gateway=%s", g->peer.name);
    else
        log_warn("gateway lost", "gateway=%s", g->peer.name);
    plane_forget_drains(p, g);
    plane_drop_shares(p, g);
    free_gateway(g);
    send_members(p);
}

void plane_end_gateways(struct plane *p)
{
    for (size_t i = 0; i < PLANE_GATEWAYS_MAX; i++)
        if (p->gateways[i])
            free_gateway(p->gateways[i]);
}

static struct plane_gateway *need_gateway(struct plane *p, const char *name)
{
    uint32_t free_bit = PLANE_GATEWAYS_MAX;
    for (uint32_t i = 0; i < PLANE_GATEWAYS_MAX; i++) {
        if (p->gateways[i] && strcmp(p->gateways[i]->peer.name, name) == 0)
            return p->gateways[i];
        if (!p->gateways[i] && free_bit == PLANE_GATEWAYS_MAX)
            free_bit = i;
    }
    if (free_bit == PLANE_GATEWAYS_MAX)
        return NULL;
    struct plane_gateway *g = xnew(struct plane_gateway);
    g->peer.p = p;
    g->peer.name = xstrdup(name);
    g->peer.address = xstrdup("");
    g->bit = free_bit;
    p->gateways[free_bit] = g;
    p->n_gateways++;
    return g;
}

void plane_gateway_hello(struct plane_caller *caller, const Dormouse__Fn__V1__GatewayReport *m)
{
    struct plane *p = caller->p;
    const Dormouse__Fn__V1__GatewayHello *hello = m->hello;
    assert(p->leads && hello && !caller->is_worker);
    if (plane_caller_is_late(caller, hello->highest_term))
        return;
    struct err err = { 0 };
    struct plane_gateway *g = NULL;
    int r = plane_check_caller(caller, hello->address, &err);
    if (r >= 0 && !(g = need_gateway(p, hello->name)))
        r = err_set(&err, E_LIMIT, "there are %d gateways", PLANE_GATEWAYS_MAX);
    uint64_t before = g ? g->peer.incarnation : 0;
    if (r >= 0)
        r = plane_peer_connect(&g->peer, caller, hello->incarnation, &err);
    if (r < 0) {
        plane_caller_refuse(caller, hello->name, hello->incarnation, &err);
        return;
    }
    fn_stream_set(g->peer.stream, &gateway_ops, g);
    if (before && before != hello->incarnation)
        plane_forget_drains(p, g); /* the requests of the process before are no more */
    g->is_welcome = false;
    g->is_leaving = m->is_leaving;
    free(g->peer.address);
    g->peer.address = xstrdup(hello->address);
    log_info("gateway", "gateway=%s address=%s", g->peer.name, g->peer.address);
    plane_flush_gateways(p); /* so that the snapshot matches the version */
    g->is_welcome = true;
    send_snapshot(g);
    send_members(p);
    if (!g->peer.is_local)
        plane_watch_leases(p);
}
