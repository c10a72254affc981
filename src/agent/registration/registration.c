/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's registration; see registration.h. One request at a time:
 *
 *     CREATING --exists--> READING --> ADOPTING --> ADOPTING_STATUS
 *        |                    |           |               |
 *        `--------------------`-----------`---------------`--> RESTING (registered)
 *
 *     RESTING --Lease due--> RENEWING --there is none--> CHECKING the Node --> MAKING the Lease
 *     RESTING --changed, or due--> REPORTING
 *
 * go_on() is the only place that decides what comes next.
 */
#include "agent/registration/registration.h"

#include "agent/registration/address_watch.h"
#include "agent/registration/machine.h"
#include "agent/registration/node_event.h"
#include "agent/registration/node_object.h"
#include "agent/registration/shortage.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "client/ask.h"
#include "client/kube_identity.h"
#include "client/reflector.h"
#include "guest/pressure.h"
#include "io/address.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    CALL_MAX_MS = 10000, /* then it counts as failed: the Lease must not wait for it */
    RETRY_FIRST_MS = 200,
    RETRY_MAX_MS = 7000,
    LEASE_JITTER_PERCENT = 4,
    RESUMED_MS = 5000, /* the machine was suspended for this long */
    BODY_MAX_BYTES = 1 << 20
};

enum registration_at {
    AT_REST,
    AT_CREATING,
    AT_READING,
    AT_ADOPTING,
    AT_ADOPTING_STATUS,
    AT_RENEWING,
    AT_CHECKING,
    AT_MAKING,
    AT_REPORTING
};

static const struct sm_state at_table[] = {
    [AT_REST] = { "rest", EDGE(AT_CREATING) | EDGE(AT_RENEWING) | EDGE(AT_REPORTING) },
    [AT_CREATING] = { "creating", EDGE(AT_REST) | EDGE(AT_READING) },
    [AT_READING] = { "reading", EDGE(AT_REST) | EDGE(AT_ADOPTING) | EDGE(AT_ADOPTING_STATUS) },
    [AT_ADOPTING] = { "adopting", EDGE(AT_REST) | EDGE(AT_ADOPTING_STATUS) },
    [AT_ADOPTING_STATUS] = { "adopting status", EDGE(AT_REST) },
    [AT_RENEWING] = { "renewing", EDGE(AT_REST) | EDGE(AT_CHECKING) },
    [AT_CHECKING] = { "checking", EDGE(AT_REST) | EDGE(AT_MAKING) },
    [AT_MAKING] = { "making", EDGE(AT_REST) },
    [AT_REPORTING] = { "reporting", EDGE(AT_REST) },
};

struct registration {
    struct registration_opts opts;
    struct arena arena; /* of the options and the machine */
    struct machine machine;
    char address[REGISTRATION_ADDRESSES_MAX][MACHINE_ADDRESS_CHARS];
    const char *addresses[REGISTRATION_ADDRESSES_MAX];
    size_t n_addresses;
    char *node_target, *status_target, *lease_target, *uid;
    struct sm at;
    struct client_ask *call;
    uint64_t call_ms; /* when it started */
    bool is_registered;
    bool is_gone; /* the Node was deleted: as with kubelet, a person has wanted that */
    bool wants_report, must_report;
    uint64_t reported; /* hash of the status, and of the one that is being sent */
    uint64_t sent;
    uint64_t lease_due_ms, report_due_ms, retry_ms, renewed_ms;
    uint64_t suspended_ms; /* how long the machine has slept, as last seen */
    unsigned failures;
    struct rng rng;
    uint64_t seed; /* of the hashes */
    struct node_events events;
    struct reflector *reflector; /* of the Node; NULL: before it is registered, or without hub */
    struct node_object_state states[NODE_OBJECT_CONDITIONS];
    struct shortage shortage;
    struct pressure kernel; /* wakes us when memory is short */
    struct address_watch watch;
    size_t n_pods;
    struct timer timer;
    struct defer turn;
    bool wants_look, is_stopping;
    void (*done)(void *arg);
    void *done_arg;
};

static void go_on(struct registration *r);

/* ---------------------------------------------------------------- options */

int registration_read_label(struct str text, struct registration_label *ret, struct err *err)
{
    struct registration_label l;
    if (!str_cut(text, '=', &l.key, &l.value) || l.key.n == 0)
        return err_set(err, E_INVALID, "label '" STR_FMT "' is not KEY=VALUE", STR_ARG(text));
    *ret = l;
    return 0;
}

int registration_read_taint(struct str text, struct registration_taint *ret, struct err *err)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    struct registration_taint t;
    struct str head;
    if (str_cut(text, ':', &head, &t.effect)) {
        (void)str_cut(head, '=', &t.key, &t.value);
        for (size_t i = 0; i < ARRAY_LEN(effects) && t.key.n; i++) {
            if (str_is(t.effect, effects[i])) {
                *ret = t;
                return 0;
            }
        }
    }
    return err_set(err, E_INVALID,
                   "taint '" STR_FMT "' is not KEY=VALUE:EFFECT with the effect NoSchedule, "
                   "PreferNoSchedule or NoExecute",
                   STR_ARG(text));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* A DNS subdomain (RFC 1123), as names of Nodes are. */
static bool is_name(struct str s)
{
    struct str rest = s, part;
    for (bool more = true; more;) {
        more = str_cut(rest, '.', &part, &rest);
        if (part.n == 0 || !is_letter(part.p[0]) || !is_letter(part.p[part.n - 1]))
            return false;
        for (size_t i = 0; i < part.n; i++)
            if (!is_letter(part.p[i]) && part.p[i] != '-')
                return false;
    }
    return s.n <= 253;
}

static int check(const struct registration_opts *o, struct err *err)
{
    struct address address;
    if (!is_name(str_of(o->node_name)))
        return err_set(err, E_INVALID,
                       "node name '%s' is not lower case letters, digits, '-' and '.'",
                       o->node_name);
    if (o->n_labels > REGISTRATION_LABELS_MAX || o->n_taints > REGISTRATION_TAINTS_MAX)
        return err_set(err, E_INVALID, "more than %d labels or %d taints", REGISTRATION_LABELS_MAX,
                       REGISTRATION_TAINTS_MAX);
    if (o->n_addresses > REGISTRATION_ADDRESSES_MAX)
        return err_set(err, E_INVALID, "more than %d addresses", REGISTRATION_ADDRESSES_MAX);
    for (size_t i = 0; i < o->n_addresses; i++)
        if (!address_parse(o->addresses[i], &address) || o->addresses[i].n >= MACHINE_ADDRESS_CHARS)
            return err_set(err, E_INVALID, "'" STR_FMT "' is not an IP address",
                           STR_ARG(o->addresses[i]));
    return 0;
}

static const char *copy(struct arena *a, const char *s)
{
    return s ? str_dup_arena(a, str_of(s)) : NULL;
}

static void copy_opts(struct registration *r, const struct registration_opts *o)
{
    struct arena *a = &r->arena;
    struct registration_label *labels = arena_new_n(a, struct registration_label, o->n_labels);
    struct registration_taint *taints = arena_new_n(a, struct registration_taint, o->n_taints);
    for (size_t i = 0; i < o->n_labels; i++)
        labels[i] = (struct registration_label){ str_copy_arena(a, o->labels[i].key),
                                                 str_copy_arena(a, o->labels[i].value) };
    for (size_t i = 0; i < o->n_taints; i++)
        taints[i] = (struct registration_taint){ str_copy_arena(a, o->taints[i].key),
                                                 str_copy_arena(a, o->taints[i].value),
                                                 str_copy_arena(a, o->taints[i].effect) };
    r->opts = *o;
    r->opts.identity = kube_identity_copy(a, o->identity);
    r->opts.node_name = copy(a, o->node_name);
    r->opts.root = copy(a, o->root ? o->root : "");
    r->opts.data_dir = copy(a, o->data_dir);
    r->opts.image_dir = copy(a, o->image_dir ? o->image_dir : o->data_dir);
    r->opts.server = copy(a, o->server);
    r->opts.runtime = copy(a, o->runtime);
    r->opts.labels = labels;
    r->opts.taints = taints;
    r->opts.addresses = NULL; /* in r->address */
    if (r->opts.lease_s == 0)
        r->opts.lease_s = o->embedded ? 3 * REGISTRATION_REPORT_S : REGISTRATION_LEASE_S;
    r->n_addresses = o->n_addresses;
    for (size_t i = 0; i < o->n_addresses; i++)
        (void)snprintf(r->address[i], sizeof r->address[i], STR_FMT, STR_ARG(o->addresses[i]));
    for (size_t i = 0; i < REGISTRATION_ADDRESSES_MAX; i++)
        r->addresses[i] = r->address[i];
}

/* ---------------------------------------------------------------- what is short */

static bool is_any(const bool *of)
{
    return of[SHORTAGE_NODEFS] || of[SHORTAGE_NODEFS_INODES] || of[SHORTAGE_IMAGEFS] ||
           of[SHORTAGE_IMAGEFS_INODES];
}

struct registration_pressure registration_pressure(const struct registration *r)
{
    const struct shortage *s = &r->shortage;
    struct registration_pressure p = { .memory = s->is_set[SHORTAGE_MEMORY],
                                       .disk = is_any(s->is_set),
                                       .pid = s->is_set[SHORTAGE_PID],
                                       .memory_now = s->is_short[SHORTAGE_MEMORY],
                                       .disk_now = is_any(s->is_short),
                                       .pid_now = s->is_short[SHORTAGE_PID],
                                       .signal = "" };
    for (unsigned i = 0; i < SHORTAGE_SIGNALS && !p.signal[0]; i++) {
        if (!s->is_short[i])
            continue;
        p.signal = shortage_name(i);
        p.available = s->last.of[i].available;
        p.minimum = shortage_minimum(i, &s->last.of[i]);
    }
    return p;
}

static void record_text(struct registration *r, bool is_warning, const char *reason,
                        const char *text)
{
    if (r->opts.records_events)
        node_event_record(&r->events, is_warning, reason, text);
}

static void record(struct registration *r, const char *reason)
{
    scoped(free_scoped) char *text =
        xasprintf("Node %s status is now: %s", r->opts.node_name, reason);
    record_text(r, false, reason, text);
}

static void set_state(struct registration *r, enum node_object_condition c, bool is_true)
{
    bool is_first = r->states[c].since_s == 0;
    if (!node_object_set(&r->states[c], is_true, clock_wall_ms() / 1000))
        return;
    r->wants_report = true;
    if (!is_first || c == NODE_OBJECT_READY)
        record(r, node_object_event(c, is_true));
}

/* The limit of our control group counts as well, if there is one. */
static void limit_memory(const struct registration *r, struct shortage_value *memory)
{
    const struct pressure_group *g = &r->kernel.group;
    if (g->dir_fd < 0 || !memory->is_known)
        return;
    uint64_t left = g->limit_bytes / 100 * (100 - pressure_group_percent(g));
    memory->available = MIN(memory->available, left);
}

static void look(struct registration *r)
{
    struct shortage_values now;
    r->wants_look = false;
    shortage_read(r->opts.root, r->opts.data_dir, r->opts.image_dir, &now);
    limit_memory(r, &now.of[SHORTAGE_MEMORY]);
    bool tell = shortage_step(&r->shortage, &now, loop_now_ms(r->opts.loop));
    struct registration_pressure p = registration_pressure(r);
    set_state(r, NODE_OBJECT_MEMORY_PRESSURE, p.memory);
    set_state(r, NODE_OBJECT_DISK_PRESSURE, p.disk);
    set_state(r, NODE_OBJECT_PID_PRESSURE, p.pid);
    if (tell && p.signal[0])
        log_warn("the machine runs short", "signal=%s available=%" PRIu64 " minimum=%" PRIu64,
                 p.signal, p.available, p.minimum);
    if (tell && r->opts.on_pressure)
        r->opts.on_pressure(r->opts.arg, &p);
}

/* ---------------------------------------------------------------- requests */

static void on_timer(struct timer *t);
static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err);

static void arm(struct registration *r, uint64_t at_ms)
{
    uint64_t now = loop_now_ms(r->opts.loop);
    timer_start(r->opts.loop, &r->timer, at_ms > now ? at_ms - now : 0, on_timer);
}

static void fail(struct registration *r, const char *why)
{
    uint64_t wait = backoff_wait(RETRY_FIRST_MS, RETRY_MAX_MS, r->failures);
    if (r->at.at == AT_REPORTING)
        r->wants_report = true; /* what it had to say is still to be said */
    if (r->failures++ == 0)
        log_warn(r->is_registered ? "the node cannot report, trying again"
                                  : "the node cannot register, trying again",
                 "node=%s step=\"%s\" reason=\"%s\"", r->opts.node_name, sm_name(&r->at), why);
    r->retry_ms = loop_now_ms(r->opts.loop) + backoff_upper_half(&r->rng, wait);
    sm_move(&r->at, AT_REST);
}

static void succeed(struct registration *r)
{
    if (r->failures)
        log_info("the node reports again", "node=%s failures=%u", r->opts.node_name, r->failures);
    r->failures = 0;
    r->retry_ms = 0;
}

static void begin(struct registration *r, enum registration_at at, const char *method,
                  const char *target, const char *type, const struct json *body)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BODY_MAX_BYTES);
    sm_move(&r->at, at);
    if (body)
        (void)json_write(&text, body);
    const struct ask_request rq = { .method = method,
                                    .target = str_of(target),
                                    .content_type = body ? type : NULL,
                                    .body = buf_str(&text) };
    assert(!r->call && buf_ok(&text));
    r->call_ms = loop_now_ms(r->opts.loop);
    if (ask_start(r->opts.transport, r->opts.identity, &rq, on_answer, r, &r->call, &err) < 0) {
        fail(r, err_text(&err));
        arm(r, r->retry_ms);
        return;
    }
    arm(r, r->call_ms + CALL_MAX_MS);
}

#define JSON_TYPE "application/json"
#define MERGE     "application/merge-patch+json"
#define STRATEGIC "application/strategic-merge-patch+json"

/* ---------------------------------------------------------------- the Node */

static void update_addresses(struct registration *r)
{
    if (r->opts.n_addresses)
        return;
    char before[MACHINE_ADDRESS_CHARS];
    bool is_first = r->n_addresses == 0;
    memcpy(before, r->address[0], sizeof before);
    machine_address_towards(r->opts.server, r->address[0]);
    r->n_addresses = 1;
    if (!is_first && strcmp(before, r->address[0]) != 0 && r->opts.on_address)
        r->opts.on_address(r->opts.arg);
}

static void describe(struct registration *r, struct arena *a, struct node_object *ret)
{
    const struct registration_opts *o = &r->opts;
    const struct shortage_value *disk = &r->shortage.last.of[SHORTAGE_NODEFS];
    update_addresses(r);
    *ret = (struct node_object){ .opts = o,
                                 .machine = &r->machine,
                                 .addresses = r->addresses,
                                 .n_addresses = r->n_addresses,
                                 .storage_bytes = disk->capacity,
                                 .states = r->states };
    ret->not_ready = o->not_ready ? o->not_ready(o->arg) : NULL;
    set_state(r, NODE_OBJECT_READY, !ret->not_ready);
    if (o->images)
        ret->n_images = o->images(o->arg, a, &ret->images);
}

static uint64_t hash_of(const struct registration *r, const struct json *status)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BODY_MAX_BYTES);
    (void)json_write(&text, status);
    return str_hash(buf_str(&text), r->seed);
}

static void create(struct registration *r)
{
    struct arena a = { 0 };
    struct node_object n;
    describe(r, &a, &n);
    struct json *status = node_object_status(&a, &n);
    r->sent = hash_of(r, status);
    begin(r, AT_CREATING, "POST", NODE_OBJECT_NODES, JSON_TYPE,
          node_object_new(&a, &n, clock_wall_ms() / 1000));
    arena_fini(&a);
}

static void take_node(struct registration *r, const struct json *node)
{
    struct str uid = json_str(json_path(node, "metadata", "uid", NULL));
    if (uid.n && !str_is(uid, r->uid)) {
        free(r->uid);
        r->uid = str_dup(uid);
    }
    if (r->opts.on_node)
        r->opts.on_node(r->opts.arg, node);
}

static void on_turn(struct defer *d);
static void become_gone(struct registration *r);

/* Another writer's word about our conditions, such as a controller's that missed the Lease. */
static void on_object(void *arg, const struct json *node)
{
    struct registration *r = arg;
    if (r->is_gone || node_object_differs(node, r->states)) {
        r->must_report = r->wants_report = true;
        r->report_due_ms = 0;
        defer_start(r->opts.loop, &r->turn, on_turn);
    }
    take_node(r, node);
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    become_gone(arg);
}

static void follow(struct registration *r)
{
    static const struct reflector_ops ops = { .on_object = on_object, .on_deleted = on_deleted };
    struct err err = { 0 };
    char selector[300];
    (void)snprintf(selector, sizeof selector, "metadata.name=%s", r->opts.node_name);
    const struct reflector_opts opts = { .loop = r->opts.loop,
                                         .transport = r->opts.transport,
                                         .hub = r->opts.hub,
                                         .identity = r->opts.identity,
                                         .key = { .group_version = STR("v1"),
                                                  .plural = STR("nodes"),
                                                  .field_selector = str_of(selector),
                                                  .identity = r->opts.identity },
                                         .ops = &ops,
                                         .arg = r };
    if (r->opts.hub && !r->reflector && reflector_start(&opts, &r->reflector, &err) < 0)
        log_warn("the Node is not followed", "reason=\"%s\"", err_text(&err));
}

static void become_registered(struct registration *r, bool is_reported)
{
    uint64_t now = loop_now_ms(r->opts.loop);
    log_info("the node is registered", "node=%s address=%s", r->opts.node_name, r->address[0]);
    succeed(r);
    sm_move(&r->at, AT_REST);
    r->is_registered = true;
    record_text(r, false, "Starting", "Starting dormouse.");
    r->lease_due_ms = now;
    r->must_report = !is_reported;
    r->wants_report = true;
    r->report_due_ms = now + REGISTRATION_REPORT_S * 1000;
    if (is_reported)
        r->reported = r->sent;
    if (r->opts.on_registered)
        r->opts.on_registered(r->opts.arg);
    if (!r->is_stopping)
        follow(r);
}

static bool adopt_status(struct registration *r, struct arena *a, const struct json *node)
{
    const struct json *patch = node_object_adopt_status(a, node);
    if (patch)
        begin(r, AT_ADOPTING_STATUS, "PATCH", r->status_target, STRATEGIC, patch);
    return patch != NULL;
}

static void notice_reboot(struct registration *r, const struct json *node)
{
    struct str before = json_str(json_path(node, "status", "nodeInfo", "bootID", NULL));
    if (before.n == 0 || str_eq(before, r->machine.boot_id))
        return;
    scoped(free_scoped) char *text = xasprintf("Node %s has been rebooted, boot id: " STR_FMT,
                                               r->opts.node_name, STR_ARG(r->machine.boot_id));
    record_text(r, true, "Rebooted", text);
}

static void adopt(struct registration *r, const struct json *node)
{
    struct arena a = { 0 };
    struct node_object n;
    log_info("the node was registered before", "node=%s", r->opts.node_name);
    notice_reboot(r, node);
    node_object_take_states(node, r->states);
    describe(r, &a, &n);
    const struct json *patch = node_object_adopt(&a, &n, node);
    if (patch)
        begin(r, AT_ADOPTING, "PATCH", r->node_target, STRATEGIC, patch);
    else if (!adopt_status(r, &a, node))
        become_registered(r, false);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- the report */

/* Whether a request was started. */
static bool report(struct registration *r)
{
    struct arena a = { 0 };
    struct node_object n;
    describe(r, &a, &n);
    struct json *status = node_object_status(&a, &n);
    bool is_due = loop_now_ms(r->opts.loop) + r->opts.lease_s * 1000 / 8 >= r->report_due_ms;
    r->sent = hash_of(r, status);
    r->wants_report = false;
    bool send = is_due || r->must_report || r->sent != r->reported;
    if (send)
        begin(r, AT_REPORTING, "PATCH", r->status_target, STRATEGIC,
              node_object_patch(&a, status, clock_wall_ms() / 1000));
    arena_fini(&a);
    return send;
}

static void on_reported(struct registration *r, const struct json *node)
{
    if (r->is_gone)
        log_info("the node is there again", "node=%s", r->opts.node_name);
    r->is_gone = false;
    r->must_report = false;
    r->reported = r->sent;
    r->report_due_ms = loop_now_ms(r->opts.loop) + REGISTRATION_REPORT_S * 1000;
    take_node(r, node);
}

/* ---------------------------------------------------------------- the Lease */

static void renew(struct registration *r)
{
    struct arena a = { 0 };
    begin(r, AT_RENEWING, "PATCH", r->lease_target, MERGE,
          node_object_renewal(&a, r->opts.node_name, r->opts.lease_s, clock_wall_us()));
    arena_fini(&a);
}

static void make_lease(struct registration *r)
{
    struct arena a = { 0 };
    begin(
        r, AT_MAKING, "POST", NODE_OBJECT_LEASES, JSON_TYPE,
        node_object_lease(&a, r->opts.node_name, str_of(r->uid), r->opts.lease_s, clock_wall_us()));
    arena_fini(&a);
}

static void on_renewed(struct registration *r)
{
    uint64_t now = loop_now_ms(r->opts.loop), every = (uint64_t)r->opts.lease_s * 1000 / 4;
    if (r->opts.embedded && every > REGISTRATION_REPORT_S * 1000)
        every = REGISTRATION_REPORT_S * 1000;
    /* A controller may have set the conditions to Unknown meanwhile. */
    if (r->renewed_ms && now - r->renewed_ms > (uint64_t)r->opts.lease_s * 1000)
        r->must_report = r->wants_report = true;
    r->renewed_ms = now;
    r->lease_due_ms =
        now + backoff_jitter(&r->rng, every, every + every * LEASE_JITTER_PERCENT / 100);
}

static void become_gone(struct registration *r)
{
    if (!r->is_gone)
        log_error("the Node was deleted; it registers again when this process starts again",
                  "node=%s", r->opts.node_name);
    r->is_gone = true;
    r->report_due_ms = loop_now_ms(r->opts.loop) + REGISTRATION_REPORT_S * 1000;
}

/* ---------------------------------------------------------------- answers */

static void on_good(struct registration *r, const struct json *json)
{
    switch ((enum registration_at)r->at.at) {
    case AT_CREATING:
        take_node(r, json);
        become_registered(r, json_first(json_path(json, "status", "conditions", NULL)) != NULL);
        return;
    case AT_READING:
        take_node(r, json);
        adopt(r, json);
        return;
    case AT_ADOPTING: {
        struct arena a = { 0 };
        take_node(r, json);
        if (!adopt_status(r, &a, json))
            become_registered(r, false);
        arena_fini(&a);
        return;
    }
    case AT_ADOPTING_STATUS:
        take_node(r, json);
        become_registered(r, false);
        return;
    case AT_CHECKING:
        take_node(r, json);
        make_lease(r);
        return;
    case AT_RENEWING:
    case AT_MAKING:
        on_renewed(r);
        break;
    case AT_REPORTING:
        on_reported(r, json);
        break;
    case AT_REST:
        assert(false);
    }
    succeed(r);
    sm_move(&r->at, AT_REST);
}

/* A refusal that has a meaning of its own. */
static bool on_refusal(struct registration *r, int status)
{
    switch ((enum registration_at)r->at.at) {
    case AT_CREATING:
        if (status != 409)
            return false;
        begin(r, AT_READING, "GET", r->node_target, NULL, NULL);
        return true;
    case AT_RENEWING:
        if (status != 404)
            return false;
        begin(r, AT_CHECKING, "GET", r->node_target, NULL, NULL);
        return true;
    case AT_CHECKING:
    case AT_REPORTING:
        if (status != 404)
            return false;
        become_gone(r);
        sm_move(&r->at, AT_REST);
        return true;
    case AT_READING:
    case AT_ADOPTING:
    case AT_ADOPTING_STATUS:
    case AT_MAKING:
    case AT_REST:
        return false;
    }
    return false;
}

static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct registration *r = arg;
    struct str message = json_get_str(json, "message");
    r->call = NULL;
    if (status >= 200 && status < 300 && json) {
        on_good(r, json);
    } else if (!on_refusal(r, status)) {
        scoped(free_scoped) char *why =
            status == 0 ? xstrdup(err_text(err))
                        : xasprintf("%d " STR_FMT, status, STR_ARG(str_slice(message, 0, 512)));
        fail(r, why);
    }
    go_on(r);
}

/* ---------------------------------------------------------------- what is next */

static uint64_t next_ms(const struct registration *r)
{
    uint64_t now = loop_now_ms(r->opts.loop);
    uint64_t due = r->is_gone ? r->report_due_ms : MIN(r->lease_due_ms, r->report_due_ms);
    return MIN(due, shortage_next_ms(&r->shortage, r->n_pods > 0, now));
}

static void go_on(struct registration *r)
{
    uint64_t now = loop_now_ms(r->opts.loop);
    if (r->call || r->is_stopping)
        return;
    if (r->wants_look)
        look(r);
    if (r->is_stopping) /* by on_pressure() */
        return;
    if (now < r->retry_ms)
        arm(r, r->retry_ms);
    else if (!r->is_registered)
        create(r);
    else if (!r->is_gone && now >= r->lease_due_ms)
        renew(r);
    else if (!((r->wants_report && !r->is_gone) ||
               now + r->opts.lease_s * 1000 / 8 >= r->report_due_ms) ||
             !report(r))
        arm(r, next_ms(r));
}

/* The monotonic clock stands still while the machine is suspended; its Lease ages all the same. */
static void notice_suspension(struct registration *r)
{
    struct timespec boot, mono;
    if (clock_gettime(CLOCK_BOOTTIME, &boot) < 0 || clock_gettime(CLOCK_MONOTONIC, &mono) < 0)
        return;
    uint64_t slept = (uint64_t)(boot.tv_sec - mono.tv_sec) * 1000 +
                     (uint64_t)((boot.tv_nsec - mono.tv_nsec) / 1000000);
    if (slept > r->suspended_ms + RESUMED_MS) {
        r->lease_due_ms = 0;
        r->must_report = r->wants_report = true;
    }
    r->suspended_ms = slept;
}

static void on_timer(struct timer *t)
{
    struct registration *r = container_of(t, struct registration, timer);
    if (r->call) { /* no answer in time */
        ask_cancel(take_ptr(&r->call));
        fail(r, "no answer");
    }
    notice_suspension(r);
    r->wants_look = true;
    go_on(r);
}

static void on_turn(struct defer *d)
{
    go_on(container_of(d, struct registration, turn));
}

static void on_kernel(void *arg)
{
    struct registration *r = arg;
    r->wants_look = true;
    defer_start(r->opts.loop, &r->turn, on_turn);
}

/* ---------------------------------------------------------------- public */

void registration_changed(struct registration *r)
{
    r->wants_report = true;
    if (!r->is_stopping)
        defer_start(r->opts.loop, &r->turn, on_turn);
}

void registration_look(struct registration *r)
{
    r->wants_look = true;
    if (!r->is_stopping)
        defer_start(r->opts.loop, &r->turn, on_turn);
}

void registration_warn(struct registration *r, const char *reason, const char *message)
{
    if (!r->is_stopping)
        record_text(r, true, reason, message);
}

void registration_set_runtime(struct registration *r, const char *runtime)
{
    r->opts.runtime = copy(&r->arena, runtime);
    registration_changed(r);
}

void registration_set_kubelet_port(struct registration *r, uint16_t port)
{
    r->opts.kubelet_port = port;
    registration_changed(r);
}

void registration_set_pods(struct registration *r, size_t n_pods)
{
    r->n_pods = n_pods;
    registration_look(r);
}

bool registration_is_registered(const struct registration *r)
{
    return r->is_registered && !r->is_gone;
}

const char *const *registration_addresses(const struct registration *r, size_t *n)
{
    *n = r->n_addresses;
    return r->addresses;
}

/* Addresses of the command line stay. */
static void on_network(void *arg)
{
    struct registration *r = arg;
    char now[MACHINE_ADDRESS_CHARS];
    machine_address_towards(r->opts.server, now);
    if (r->opts.n_addresses == 0 && strcmp(now, r->address[0]) != 0)
        registration_changed(r);
}

int registration_start(const struct registration_opts *opts, struct registration **ret,
                       struct err *err)
{
    int e = check(opts, err);
    if (e < 0)
        return e;
    struct registration *r = xnew(struct registration);
    copy_opts(r, opts);
    sm_init(&r->at, at_table, AT_REST);
    machine_read(&r->arena, r->opts.root, &r->machine);
    update_addresses(r);
    r->rng.state = sys_random_u64();
    r->seed = sys_random_u64();
    r->uid = xstrdup("");
    r->node_target = xasprintf(NODE_OBJECT_NODES "/%s", opts->node_name);
    r->status_target = xasprintf("%s/status", r->node_target);
    r->lease_target = xasprintf(NODE_OBJECT_LEASES "/%s", opts->node_name);
    node_events_init(&r->events, opts->transport, r->opts.identity, r->opts.node_name);
    notice_suspension(r);
    pressure_start(&r->kernel, opts->loop, on_kernel, r);
    address_watch_start(&r->watch, opts->loop, on_network, r);
    r->wants_look = true;
    defer_start(opts->loop, &r->turn, on_turn);
    *ret = r;
    return 0;
}

static void on_watch_closed(void *arg)
{
    struct registration *r = arg;
    void (*done)(void *) = r->done;
    void *done_arg = r->done_arg;
    free(r->node_target);
    free(r->status_target);
    free(r->lease_target);
    free(r->uid);
    arena_fini(&r->arena);
    free(r);
    done(done_arg);
}

static void on_closed(void *arg)
{
    struct registration *r = arg;
    address_watch_close(&r->watch, on_watch_closed);
}

void registration_stop(struct registration *r, void (*done)(void *arg), void *arg)
{
    assert(!r->is_stopping);
    r->is_stopping = true;
    r->done = done;
    r->done_arg = arg;
    ask_cancel(take_ptr(&r->call));
    node_events_fini(&r->events);
    if (r->reflector)
        reflector_close(take_ptr(&r->reflector));
    timer_stop(r->opts.loop, &r->timer);
    defer_cancel(&r->turn);
    pressure_close(&r->kernel, on_closed);
}
