/* SPDX-License-Identifier: Apache-2.0 */
/* Leader election by a Lease; see leader.h. One call at a time. */
#include "client/leader.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "codec/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum leader_at { AT_REST, AT_LOOKING, AT_MAKING, AT_WRITING, AT_RELEASING };

/* The Lease as last seen. */
struct leader_seen {
    char *holder, *version, *since, *renewed; /* acquireTime, renewTime, as text of the Lease */
    int64_t transitions, duration_s;
    uint64_t at_ms; /* when we last saw it change */
};

struct leader {
    struct leader_opts opts;
    char *target, *collection;
    char *namespace, *name, *identity;
    char *gone; /* a holder that is known to have ended */
    enum leader_at at;
    bool leads;
    struct leader_seen seen;
    struct exchange *call;
    int status;
    struct buf in;
    struct timer tick, deadline;
    uint64_t sent_ms; /* start of the current call; our lease counts from here, other processes may
                         see it before the answer */
    bool stopping, stopped;
    void (*done)(void *arg);
    void *done_arg;
};

static void begin(struct leader *l, enum leader_at at);

/* ---------------------------------------------------------------- leading or not */

static void set_leads(struct leader *l, bool leads)
{
    if (l->leads == leads)
        return;
    l->leads = leads;
    if (leads)
        log_info("leading", "lease=%s/%s identity=%s", l->namespace, l->name, l->identity);
    else
        log_warn("not leading any more", "lease=%s/%s holder=%s", l->namespace, l->name,
                 l->seen.holder ? l->seen.holder : "");
    if (!l->stopping)
        l->opts.on_change(l->opts.arg, leads);
}

static void on_deadline(struct timer *t)
{
    set_leads(container_of(t, struct leader, deadline), false);
}

static bool is_mine(const struct leader *l)
{
    return l->seen.holder && strcmp(l->seen.holder, l->identity) == 0;
}

/* The Lease may be taken. */
static bool is_free(const struct leader *l)
{
    uint64_t age = loop_now_ms(l->opts.loop) - l->seen.at_ms;
    uint64_t life = (uint64_t)MIN(MAX(l->seen.duration_s, 1), (int64_t)3600) * 1000;
    bool has_ended = l->gone && l->seen.holder && strcmp(l->gone, l->seen.holder) == 0;
    return !l->seen.holder || l->seen.holder[0] == '\0' || is_mine(l) ||
           (age > life && l->seen.duration_s < LEADER_ENDLESS_S) || has_ended || l->opts.alone;
}

/* The holder may have ended without releasing the Lease; only a person can know that, so warn. */
static void tell_endless(const struct leader *l)
{
    if (l->seen.duration_s >= LEADER_ENDLESS_S)
        log_warn(
            "the lease does not age; it is let go of when its holder's API server starts again",
            "lease=%s/%s holder=%s", l->namespace, l->name, l->seen.holder);
}

/* ---------------------------------------------------------------- reading */

static bool replace(char **at, struct str s)
{
    if (*at && str_eq(str_of(*at), s))
        return false;
    free(*at);
    *at = str_dup(s);
    return true;
}

static void read_lease(struct leader *l, const struct json *lease)
{
    const struct json *spec = json_getc(lease, "spec");
    struct leader_seen *s = &l->seen;
    bool is_another = replace(&s->holder, json_get_str(spec, "holderIdentity"));
    bool differs = is_another;
    differs |= replace(&s->renewed, json_get_str(spec, "renewTime"));
    differs |= replace(&s->version, json_get_str(json_getc(lease, "metadata"), "resourceVersion"));
    (void)replace(&s->since, json_get_str(spec, "acquireTime"));
    s->transitions = json_int_or(json_getc(spec, "leaseTransitions"), 0);
    s->duration_s =
        json_int_or(json_getc(spec, "leaseDurationSeconds"), (int64_t)(l->opts.lease_ms / 1000));
    if (differs || s->at_ms == 0)
        s->at_ms = loop_now_ms(l->opts.loop);
    if (is_another && !is_free(l))
        tell_endless(l);
    if (is_another && l->opts.on_holder && !l->stopping)
        l->opts.on_holder(l->opts.arg, s->holder);
}

/* ---------------------------------------------------------------- writing */

static void write_lease(const struct leader *l, bool release, struct buf *to)
{
    struct arena a = { 0 };
    struct json *lease = json_new_object(&a), *meta = json_obj(&a, lease, "metadata"),
                *spec = json_obj(&a, lease, "spec");
    char now[RFC3339_MAX];
    bool is_new = !is_mine(l);
    rfc3339_format_us(clock_wall_us(), now);
    json_set_str(&a, lease, "apiVersion", STR("coordination.k8s.io/v1"));
    json_set_str(&a, lease, "kind", STR("Lease"));
    json_set_str(&a, meta, "name", str_of(l->name));
    json_set_str(&a, meta, "namespace", str_of(l->namespace));
    if (l->opts.alone && !release)
        json_set_str(&a, json_obj(&a, meta, "labels"), LEADER_LABEL, STR("true"));
    if (l->at != AT_MAKING)
        json_set_str(&a, meta, "resourceVersion", str_of(l->seen.version));
    json_set_str(&a, spec, "holderIdentity", str_of(release ? "" : l->identity));
    json_set_int(&a, spec, "leaseDurationSeconds",
                 release ? 1 : (int64_t)MAX(l->opts.lease_ms / 1000, (uint64_t)1));
    json_set_str(&a, spec, "acquireTime",
                 is_new || !l->seen.since || !l->seen.since[0] ? str_of(now)
                                                               : str_of(l->seen.since));
    json_set_str(&a, spec, "renewTime", str_of(now));
    json_set_int(&a, spec, "leaseTransitions",
                 l->seen.transitions + (is_new && l->at != AT_MAKING));
    (void)json_write(to, lease);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- stopping */

static void free_leader(struct leader *l)
{
    timer_stop(l->opts.loop, &l->tick);
    timer_stop(l->opts.loop, &l->deadline);
    free(l->target);
    free(l->collection);
    free(l->namespace);
    free(l->name);
    free(l->identity);
    free(l->gone);
    free(l->seen.holder);
    free(l->seen.version);
    free(l->seen.since);
    free(l->seen.renewed);
    buf_fini(&l->in);
    free(l);
}

/* Once; when a call is running, on_end() frees. */
static void finish_stop(struct leader *l)
{
    void (*done)(void *) = take_ptr(&l->done);
    void *arg = l->done_arg;
    l->stopped = true;
    timer_stop(l->opts.loop, &l->tick);
    timer_stop(l->opts.loop, &l->deadline);
    if (l->call)
        exchange_cancel(l->call);
    else
        free_leader(l);
    if (done)
        done(arg);
}

static void on_stop_turn(struct timer *t)
{
    struct leader *l = container_of(t, struct leader, tick);
    if (l->call || l->at == AT_RELEASING || !is_mine(l) || !l->leads)
        finish_stop(l); /* time limit for a call that does not end */
    else
        begin(l, AT_RELEASING);
}

/* ---------------------------------------------------------------- calls */

static void on_tick(struct timer *t)
{
    struct leader *l = container_of(t, struct leader, tick);
    if (!l->call)
        begin(l, l->leads && is_mine(l) ? AT_WRITING : AT_LOOKING);
}

static void rest(struct leader *l)
{
    l->at = AT_REST;
    if (!l->opts.alone || !l->leads)
        timer_start(l->opts.loop, &l->tick, l->opts.retry_ms, on_tick);
}

static void on_lease(struct leader *l, const struct json *lease)
{
    bool good = l->status >= 200 && l->status < 300;
    switch (l->at) {
    case AT_LOOKING:
        if (l->status == 404) {
            begin(l, AT_MAKING);
            return;
        }
        if (good)
            read_lease(l, lease);
        if (l->leads && good && !is_mine(l))
            set_leads(l, false);
        if (good && is_free(l))
            begin(l, AT_WRITING);
        else
            rest(l);
        return;
    case AT_MAKING:
    case AT_WRITING:
        if (good) {
            uint64_t took = loop_now_ms(l->opts.loop) - l->sent_ms;
            read_lease(l, lease);
            if (l->opts.alone) {
                set_leads(l, true);
            } else if (took < l->opts.deadline_ms) {
                timer_start(l->opts.loop, &l->deadline, l->opts.deadline_ms - took, on_deadline);
                set_leads(l, true);
            }
            rest(l);
        } else if (l->status == 409 && l->leads) {
            begin(l, AT_LOOKING); /* read whether the Lease is still ours */
        } else {
            rest(l);
        }
        return;
    case AT_RELEASING:
    case AT_REST:
        return;
    }
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct leader *l = arg;
    l->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct leader *l = arg;
    (void)buf_add_str(&l->in, chunk); /* an answer that is too large fails to parse */
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct leader *l = arg;
    struct arena a = { .max_bytes = (size_t)LEADER_LEASE_MAX_BYTES * 8 };
    struct json *lease = NULL;
    struct buf in = l->in;
    l->in = (struct buf){ 0 };
    l->call = NULL;
    if (l->stopped) {
        free_leader(l);
    } else if (l->stopping) {
        timer_start(l->opts.loop, &l->tick, 0, on_stop_turn);
    } else {
        if (r < 0)
            l->status = 0;
        else if (l->status < 300 && json_parse(&a, buf_str(&in), NULL, &lease, NULL) < 0)
            l->status = 0;
        if (l->status == 403 || l->status == 0)
            log_debug("lease", "lease=%s/%s status=%d reason=\"%s\"", l->namespace, l->name,
                      l->status, r < 0 && err ? err_text(err) : "");
        on_lease(l, lease);
    }
    arena_fini(&a);
    buf_fini(&in);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void begin(struct leader *l, enum leader_at at)
{
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(16 << 10);
    struct headers h = { 0 };
    l->at = at;
    if (at != AT_LOOKING) {
        write_lease(l, at == AT_RELEASING, &body);
        (void)headers_addc(&h, "content-type", "application/json");
    }
    (void)headers_addc(&h, "accept", "application/json");
    struct kube_request req = {
        .method = at == AT_LOOKING  ? STR("GET")
                  : at == AT_MAKING ? STR("POST")
                                    : STR("PUT"),
        .target = str_of(at == AT_MAKING ? l->collection : l->target),
        .headers = &h,
        .body = buf_str(&body),
        .timeout_ms = l->opts.deadline_ms / 2,
    };
    buf_init(&l->in, LEADER_LEASE_MAX_BYTES);
    l->status = 0;
    l->sent_ms = loop_now_ms(l->opts.loop);
    if (transport_start(l->opts.transport, &req, &call_events, l, &l->call, NULL) < 0) {
        if (l->stopping)
            timer_start(l->opts.loop, &l->tick, 0, on_stop_turn);
        else
            rest(l);
    } else if (l->stopping) {
        timer_start(l->opts.loop, &l->tick, LEADER_RELEASE_MS, on_stop_turn);
    }
    headers_fini(&h);
}

/* ---------------------------------------------------------------- public */

struct leader *leader_start(const struct leader_opts *opts)
{
    struct leader *l = xnew(struct leader);
    l->opts = *opts;
    l->opts.lease_ms = opts->alone      ? (uint64_t)LEADER_ENDLESS_S * 1000
                       : opts->lease_ms ? opts->lease_ms
                                        : (uint64_t)LEADER_LEASE_MS;
    l->opts.deadline_ms = opts->deadline_ms ? opts->deadline_ms : (uint64_t)LEADER_DEADLINE_MS;
    l->opts.retry_ms = opts->retry_ms ? opts->retry_ms : (uint64_t)LEADER_RETRY_MS;
    l->namespace = xstrdup(opts->namespace);
    l->name = xstrdup(opts->name);
    l->identity = xstrdup(opts->identity);
    l->collection = xasprintf("/apis/coordination.k8s.io/v1/namespaces/%s/leases", opts->namespace);
    l->target = xasprintf("%s/%s", l->collection, opts->name);
    timer_start(opts->loop, &l->tick, 0, on_tick);
    return l;
}

bool leader_leads(const struct leader *l)
{
    return l->leads;
}

uint64_t leader_term(const struct leader *l)
{
    return (uint64_t)MAX(l->seen.transitions, (int64_t)0) + 1;
}

const char *leader_holder(const struct leader *l)
{
    return l->seen.holder ? l->seen.holder : "";
}

void leader_look(struct leader *l)
{
    if (!l->call && !l->stopping)
        begin(l, AT_LOOKING);
}

void leader_holder_gone(struct leader *l, const char *identity)
{
    free(l->gone);
    l->gone = xstrdup(identity);
    leader_look(l);
}

void leader_stop(struct leader *l, void (*done)(void *arg), void *arg)
{
    l->stopping = true;
    l->done = done;
    l->done_arg = arg;
    timer_stop(l->opts.loop, &l->deadline);
    timer_start(l->opts.loop, &l->tick, l->call ? LEADER_RELEASE_MS : 0, on_stop_turn);
}
