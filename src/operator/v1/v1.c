/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator of ABI v1; see v1.h. Reading order: the guest's start (declare, ready), activations,
 * calls that park, posted calls, results, life.
 */
#include "operator/v1/v1.h"

#include "base/clock.h"
#include "base/log.h"
#include "operator/guest_log.h"
#include "operator/v1/events.h"
#include "operator/v1/guest_metrics.h"

#include <errno.h>
#include <stdio.h>

struct v1_host {
    struct v1_host_opts opts;
    struct interests_env env;
    struct dispatch *dispatch;
    struct declarations declarations;
    struct list operators;
    size_t n_operators;
};

/* An activation whose object is being read. */
struct start {
    struct instance *in;
    uint64_t token;
    struct object_read *read;
    size_t n;
    char payload[];
};

struct instance {
    struct v1 *v;
    struct guest *guest; /* NULL: none */
    unsigned number;
    bool is_ready;
    struct declaration *declared; /* by this start of the guest; NULL: nothing yet */
    struct start *start;
    struct host_call *call; /* the guest is parked in it */
    uint64_t call_id;
    uint32_t call_incarnation;
    struct trace_clock clock;
};

/* How a controller's last activation ended; made at its first one. */
struct last {
    char *key, *message;
    uint32_t reasons, attempt;
    enum work_end end;
    bool trapped;
    uint64_t ended_ms, delay_ms, work_us, busy_us;
};

struct v1 {
    struct v1_host *host;
    struct list node;
    const char *namespace, *name;
    char *full_name;
    const struct v1_ops *ops;
    void *arg;
    struct dispatch_operator *dispatch;
    struct host_calls calls;   /* what calls need: rights and the parts below */
    struct identity *identity; /* of the last guest, also while there is none: watches go on */
    struct identity_wait identity_wait;
    struct identity_listener identity_listener;
    char *user;                      /* as whom the watches were begun */
    struct declaration *declaration; /* what is in force; NULL: none yet */
    bool has_new_guest;              /* attached, and not started since */
    bool is_watching;                /* controllers and configs stand for it */
    struct guest_metrics *metrics;
    struct events *events;
    struct last *last; /* of each controller; NULL: never ran */
    uint64_t reconciles, failures;
    char *trouble; /* why there are no watches; NULL: nothing is wrong */
    struct trace trace;
    struct instance first;
    struct instance **more; /* of declaration->instances, by number - 1; NULL: there are none */
};

static struct instance *instance_of(struct v1 *v, unsigned number)
{
    return number == 0 ? &v->first : v->more ? v->more[number - 1] : NULL;
}

/* ---------------------------------------------------------------- broken rules */

/* "CALL: RULE: what was wrong" */
__attribute__((format(printf, 4, 5))) static void broken(struct instance *in, const char *call,
                                                         const char *rule, const char *fmt, ...)
{
    struct err why = { 0 };
    va_list ap;
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(1024);
    va_start(ap, fmt);
    (void)buf_vprintf(&text, fmt, ap);
    va_end(ap);
    (void)err_set(&why, E_TRAP, "%s: %s: %s", call, rule, buf_cstr(&text));
    guest_fail(in->guest, &why);
}

/* ---------------------------------------------------------------- watches */

static void update_holds(struct v1 *v)
{
    char text[CONFIG_TEXT_MAX];
    bool ready = v->is_watching && interests_caches_settled(v->calls.interests) &&
                 !configs_missing(v->calls.configs, text);
    if (ready)
        dispatch_release(v->dispatch, DISPATCH_HOLD_SYNC);
    else
        dispatch_hold(v->dispatch, DISPATCH_HOLD_SYNC);
}

static void on_watches(void *arg)
{
    struct v1 *v = arg;
    update_holds(v);
    v->ops->on_change(v->arg);
}

static void on_config_change(void *arg, size_t index)
{
    struct v1 *v = arg;
    const struct declaration_config *c = &v->declaration->configs[index];
    switch (c->on_change) {
    case CONFIG_CHANGE_NONE:
        break;
    case CONFIG_CHANGE_ACTIVATE: {
        char name[DECLARATION_MAX_NAME_BYTES + 1];
        (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(c->name));
        dispatch_config(v->dispatch, (unsigned)index, name);
        break;
    }
    case CONFIG_CHANGE_RECONCILE:
        interests_reconcile_all(v->calls.interests, WORK_CONFIG);
        break;
    }
}

static void end_watches(struct v1 *v)
{
    v->is_watching = false;
    interests_free(take_ptr(&v->calls.interests));
    configs_free(take_ptr(&v->calls.configs));
    free(take_ptr(&v->user));
}

static void begin_watches(struct v1 *v);

static void set_trouble(struct v1 *v, const char *text)
{
    free(v->trouble);
    v->trouble = text ? xstrdup(text) : NULL;
}

static void on_identity(struct identity_wait *w, int r, const struct err *err)
{
    struct v1 *v = container_of(w, struct v1, identity_wait);
    if (r >= 0) {
        begin_watches(v);
        return;
    }
    set_trouble(v, err_text(err));
    v->ops->on_change(v->arg);
}

/* It failed, or works again. */
static void on_identity_change(struct identity_listener *l)
{
    struct v1 *v = container_of(l, struct v1, identity_listener);
    if (!v->is_watching && v->declaration)
        begin_watches(v);
}

/* For a watch that begins later: its kind's timer tries again where the answer is not there. */
static int who_now(void *arg, const struct kube_identity **ret, struct err *err)
{
    struct v1 *v = arg;
    if (!v->identity)
        return 0;
    int r = identity_get(v->identity, ret, &v->identity_wait, err);
    identity_wait_cancel(&v->identity_wait);
    return r == -EAGAIN ? err_set(err, r, "the operator's identity is being fetched") : r;
}

static int start_watches(struct v1 *v, const struct kube_identity *who, struct err *err)
{
    struct interests_opts interests = { .env = &v->host->env,
                                        .declaration = v->declaration,
                                        .who = who_now,
                                        .dispatch = v->dispatch,
                                        .on_change = on_watches,
                                        .arg = v };
    struct configs_opts configs = { .loop = v->host->opts.loop,
                                    .cache = v->host->opts.cache,
                                    .declaration = v->declaration,
                                    .namespace = v->namespace,
                                    .identity = who,
                                    .on_change = on_config_change,
                                    .on_state = on_watches,
                                    .arg = v };
    int r = configs_start(&configs, &v->calls.configs, err);
    if (r >= 0)
        r = interests_start(&interests, &v->calls.interests, err);
    if (r < 0) {
        end_watches(v);
        return r;
    }
    v->user = who ? str_dup(who->user) : xstrdup("");
    v->is_watching = true;
    return 0;
}

/* For the declaration in force, as the operator's identity, as soon as there is one. */
static void begin_watches(struct v1 *v)
{
    const struct kube_identity *who = NULL;
    struct err err = { 0 };
    int r = 0;
    identity_wait_cancel(&v->identity_wait);
    if (v->identity) {
        v->identity_wait.run = on_identity;
        r = identity_get(v->identity, &who, &v->identity_wait, &err);
    }
    if (r == -EAGAIN)
        return; /* on_identity() */
    if (r >= 0)
        r = start_watches(v, who, &err);
    set_trouble(v, r < 0 ? err_text(&err) : NULL);
    if (r < 0)
        log_warn("operator cannot watch", "operator=%s error=\"%s\"", v->full_name, err_text(&err));
    update_holds(v);
    v->ops->on_change(v->arg);
}

/* ---------------------------------------------------------------- the start of a guest */

static void free_last(struct v1 *v)
{
    for (size_t i = 0; v->last && i < v->declaration->n_controllers; i++) {
        free(v->last[i].key);
        free(v->last[i].message);
    }
    free(take_ptr(&v->last));
}

static int tell_dispatch(struct v1 *v, const struct declaration *d, struct err *err)
{
    struct dispatch_controller_opts opts[DECLARATION_MAX_CONTROLLERS];
    char names[DECLARATION_MAX_CONTROLLERS][DECLARATION_MAX_NAME_BYTES + 1];
    for (size_t i = 0; i < d->n_controllers; i++) {
        const struct declaration_controller *c = &d->controllers[i];
        (void)snprintf(names[i], sizeof names[i], STR_FMT, STR_ARG(c->name));
        opts[i] =
            (struct dispatch_controller_opts){ .name = names[i],
                                               .concurrency = c->concurrency,
                                               .backoff_base_ms = (uint32_t)c->backoff_base_ms,
                                               .backoff_max_ms = (uint32_t)c->backoff_max_ms,
                                               .rate_per_second = c->rate_per_s,
                                               .rate_burst = c->rate_burst,
                                               .slack_percent = c->slack_percent };
    }
    return dispatch_declare(v->dispatch, opts, d->n_controllers, d->instances, err);
}

/* What an instance has declared becomes what is in force. */
static int put_in_force(struct v1 *v, struct declaration *d, struct err *err)
{
    const char *user = v->identity ? identity_user(v->identity) : "";
    if (d == v->declaration && v->is_watching && strcmp(v->user, user) == 0) {
        if (v->has_new_guest) /* it may want something else of the objects that are there */
            interests_reconcile_all(v->calls.interests, WORK_INITIAL);
        return 0;
    }
    if (v->is_watching)
        interests_queue_all(v->calls.interests);
    identity_wait_cancel(&v->identity_wait);
    end_watches(v);
    int r = tell_dispatch(v, d, err);
    if (r < 0)
        return r;
    if (d != v->declaration) {
        free_last(v);
        guest_metrics_free(take_ptr(&v->metrics));
        declaration_unref(v->declaration);
        d->refs++;
        v->declaration = d;
        v->calls.declaration = d;
        if (d->n_metrics)
            v->metrics = guest_metrics_new(d);
    }
    begin_watches(v);
    return 0;
}

static void on_declare(struct instance *in, const struct guest_call *call)
{
    struct v1 *v = in->v;
    struct declaration *d = NULL;
    struct err err = { 0 };
    int r = declaration_get(&v->host->declarations, call->head, &d, &err);
    if (r < 0) {
        (void)guest_reply(in->guest, call->id, call->incarnation,
                          r == E_LIMIT ? GUEST_E_TOO_LARGE : GUEST_E_INVALID,
                          str_of(err_text(&err)), NULL);
        return;
    }
    /* Of one generation all declare the same. */
    const struct declaration *before = in->number ? v->declaration : in->declared;
    if (before && before != d) {
        declaration_unref(d);
        broken(in, "declare", "R-same", "this is not what the %s declared",
               in->number ? "first instance has" : "guest has before");
        return;
    }
    declaration_unref(in->declared);
    in->declared = d;
    guest_set_stateless(in->guest, d->stateless);
    (void)guest_reply(in->guest, call->id, call->incarnation, 0, STR(""), NULL);
}

/* Its start has ended well. */
static void on_started(struct instance *in)
{
    struct err err = { 0 };
    if (in->is_ready)
        return;
    if (!in->declared) {
        broken(in, "dormouse_v1_setup", "R-declare", "it has ended without a declaration");
        return;
    }
    if (in->number == 0 && put_in_force(in->v, in->declared, &err) < 0) {
        guest_fail(in->guest, &err);
        return;
    }
    in->v->has_new_guest = false;
    in->is_ready = true;
    dispatch_instance_ready(in->v->dispatch, in->number);
    dispatch_release(in->v->dispatch, DISPATCH_HOLD_START);
}

static void drop_work(struct instance *in)
{
    if (in->start) {
        if (in->start->read)
            object_read_cancel(in->start->read);
        free(take_ptr(&in->start));
    }
    host_call_cancel(take_ptr(&in->call));
}

/* This incarnation is over, with what it was at. */
static void lose(struct instance *in, const struct err *why)
{
    drop_work(in);
    in->is_ready = false;
    dispatch_instance_gone(in->v->dispatch, in->number, why);
}

static void on_state(struct guest *g, enum guest_state state, const struct err *why, void *arg)
{
    struct instance *in = arg;
    switch (state) {
    case GUEST_AWAKE:
    case GUEST_ASLEEP:
        on_started(in);
        break;
    case GUEST_FAILED:
        lose(in, why);
        break;
    case GUEST_COLD: /* with a reason: its runner or its memory is lost, and it starts at once */
        if (why)
            lose(in, why);
        break;
    case GUEST_RUNNING:
        break;
    }
    if (in->number == 0)
        in->v->ops->on_state(g, state, why, in->v->arg);
    else if (state == GUEST_FAILED)
        log_warn("operator instance failed", "operator=%s instance=%u reason=\"%s\"",
                 in->v->full_name, in->number, why ? err_text(why) : "unknown");
}

static void on_limit(struct guest *g, enum guest_limit which, uint64_t figure, void *arg)
{
    struct instance *in = arg;
    in->v->ops->on_limit(g, which, figure, in->v->arg);
}

static void on_log(struct guest *g, int fd, struct str line, void *arg)
{
    struct instance *in = arg;
    in->v->ops->on_log(g, fd, line, in->v->arg);
}

/* ---------------------------------------------------------------- activations */

/* The object itself is read when the activation begins: it need not be in memory. */
static int on_object(void *arg, unsigned controller, struct work_key key, struct buf *to)
{
    struct v1 *v = arg;
    size_t watch = v->declaration->controllers[controller].first_watch;
    struct object_sub *sub =
        v->is_watching ? interests_sub(v->calls.interests, watch, key.namespace) : NULL;
    return sub && object_sub_find(sub, key.namespace, key.name) ? -E2BIG : -ENOENT;
}

static int hand_over(struct instance *in, uint64_t token, struct str payload, struct err *err)
{
    struct v1 *v = in->v;
    struct work_task task;
    unsigned controller = 0;
    if (v->declaration && dispatch_current(v->dispatch, in->number, &controller, &task)) {
        struct trace_activation a = { .instance = in->number,
                                      .controller = v->declaration->controllers[controller].name,
                                      .task = &task,
                                      .state = guest_state(in->guest),
                                      .payload_bytes = payload.n };
        trace_begin(&v->trace, &in->clock, &a);
    }
    return guest_activate(in->guest, token, payload, err);
}

static void on_object_read(void *arg, int r, const struct object_result *res,
                           const struct err *cause)
{
    scoped(free_scoped) struct start *s = arg;
    struct instance *in = s->in;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf payload =
        BUF_INIT(GUEST_V1_QUERY_MAX + DISPATCH_OBJECT_MAX_BYTES);
    in->start = NULL;
    (void)buf_add(&payload, s->payload, s->n - 1); /* without its '}' */
    if (r >= 0 && res->n && res->items[0].n <= DISPATCH_OBJECT_MAX_BYTES) {
        (void)buf_add_cstr(&payload, ",\"object\":");
        (void)buf_add_str(&payload, res->items[0]);
    } else if (r == -ENOENT) {
        (void)buf_add_cstr(&payload, ",\"object\":null");
    }
    (void)buf_add_char(&payload, '}');
    struct str whole = buf_ok(&payload) ? buf_str(&payload) : str_n(s->payload, s->n);
    if (hand_over(in, s->token, whole, &err) < 0)
        guest_fail(in->guest, &err);
}

static int on_activate(void *arg, unsigned instance, uint64_t token, struct str payload,
                       struct err *err)
{
    struct v1 *v = arg;
    struct instance *in = instance_of(v, instance);
    struct work_task task;
    unsigned controller = 0;
    struct object_sub *sub = NULL;
    if (!in || !in->guest)
        return err_set(err, -ESTALE, "the guest is gone");
    if (v->is_watching && dispatch_current(v->dispatch, instance, &controller, &task))
        sub = interests_sub(v->calls.interests, v->declaration->controllers[controller].first_watch,
                            task.key.namespace);
    if (!sub || !object_sub_find(sub, task.key.namespace, task.key.name))
        return hand_over(in, token, payload, err);
    struct object_query query = { .namespace = task.key.namespace,
                                  .name = task.key.name,
                                  .view = OBJECT_FULL };
    struct start *s = xalloc(sizeof *s + payload.n);
    s->in = in;
    s->token = token;
    s->n = payload.n;
    memcpy(s->payload, payload.p, payload.n);
    if (object_sub_get(sub, &query, on_object_read, s, &s->read, NULL) < 0) {
        free(s);
        return hand_over(in, token, payload, err); /* it may read it itself */
    }
    in->start = s;
    return 0;
}

/* Beside the first one, when there is work for it. */
static int on_instance_start(void *arg, unsigned number, struct err *err)
{
    struct v1 *v = arg;
    struct instance *in = xnew(struct instance);
    in->v = v;
    in->number = number;
    int r = v->first.guest
                ? guest_new_instance(v->first.guest, number, v1_guest_ops(), in, &in->guest, err)
                : err_set(err, -ESTALE, "the guest is gone");
    if (r >= 0)
        r = guest_start(in->guest, err);
    if (r < 0) {
        guest_free(in->guest);
        free(in);
        return r;
    }
    if (!v->more)
        v->more = xnew_n(struct instance *, v->declaration->instances);
    assert(!v->more[number - 1]);
    v->more[number - 1] = in;
    return 0;
}

static void end_more(struct v1 *v, unsigned number)
{
    struct instance *in = take_ptr(&v->more[number - 1]);
    drop_work(in);
    declaration_unref(in->declared);
    guest_free(in->guest);
    free(in);
}

static void on_instance_end(void *arg, unsigned number)
{
    struct v1 *v = arg;
    if (instance_of(v, number))
        end_more(v, number);
}

static void on_activated(struct guest *g, uint64_t token, uint32_t incarnation, int64_t result,
                         struct str message, void *arg)
{
    struct instance *in = arg;
    dispatch_activated(in->v->dispatch, in->number, token, result, message);
    /* Its timers are ours: it sleeps meanwhile, and is awake in time if its wakes take long. */
    uint64_t due_ms = dispatch_next_due_ms(in->v->dispatch);
    guest_expect(g, due_ms == WORK_NEVER ? 0 : due_ms);
}

static bool on_refill(void *arg, unsigned controller, bool anew, size_t room)
{
    struct v1 *v = arg;
    return v->is_watching && interests_refill(v->calls.interests, controller, anew, room);
}

/* ---------------------------------------------------------------- calls that park */

static void on_call_done(void *arg, int64_t value, struct str bytes)
{
    struct instance *in = arg;
    trace_call_end(&in->v->trace, &in->clock, in->call ? host_call_what(in->call) : "", value,
                   bytes.n);
    in->call = NULL;
    dispatch_parked(in->v->dispatch, in->number, false);
    struct err err = { 0 };
    int r = guest_reply(in->guest, in->call_id, in->call_incarnation, value, bytes, &err);
    if (r == -EMSGSIZE)
        (void)guest_reply(in->guest, in->call_id, in->call_incarnation, GUEST_E_TOO_LARGE,
                          STR("the answer is larger than 16 MiB"), NULL);
}

static void on_call(struct guest *g, const struct guest_call *call, void *arg)
{
    struct instance *in = arg;
    if (call->kind == GUEST_CALL_DECLARE) {
        on_declare(in, call);
        return;
    }
    if (in->call) {
        broken(in, "runner", "R-outside", "a call while another one waits");
        return;
    }
    in->call_id = call->id;
    in->call_incarnation = call->incarnation;
    if (!in->v->is_watching) {
        (void)guest_reply(g, call->id, call->incarnation, GUEST_E_NOT_SYNCED,
                          STR("the watches are not there yet"), NULL);
        return;
    }
    dispatch_parked(in->v->dispatch, in->number, true);
    trace_call_begin(&in->v->trace, &in->clock);
    in->call = host_call_begin(&in->v->calls, call, on_call_done, in);
}

/* ---------------------------------------------------------------- posted calls */

static int read_enqueue(const struct v1 *v, const struct json *o, unsigned *ret_controller,
                        enum work_priority *ret_priority, int64_t *ret_after_ms, struct err *err)
{
    static const char *const members[] = { "controller", "namespace", "name", "afterMs",
                                           "priority" };
    static const char *const priorities[] = { "low", "normal", "high" };
    static const enum work_priority values[] = { WORK_LOW, WORK_NORMAL, WORK_HIGH };
    if (!json_is(o, JSON_OBJECT))
        return err_set(err, E_INVALID, "it must be an object");
    json_each (m, o) {
        bool known = false;
        for (size_t i = 0; i < ARRAY_LEN(members); i++)
            known |= str_is(m->key, members[i]);
        if (!known || (!str_is(m->key, "afterMs") && !json_is(m, JSON_STRING)))
            return err_set(err, E_INVALID, "member '%.*s' is not known, or no string",
                           (int)MIN(m->key.n, (size_t)64), m->key.p);
    }
    struct str name = json_get_str(o, "controller");
    const struct declaration_controller *c = declaration_controller(v->declaration, name);
    if (!c)
        return err_set(err, E_INVALID, "no controller '%.*s' is declared",
                       (int)MIN(name.n, (size_t)64), name.p);
    *ret_controller = (unsigned)(c - v->declaration->controllers);
    *ret_after_ms = 0;
    const struct json *after = json_getc(o, "afterMs");
    if (after && (!json_is(after, JSON_NUMBER) || json_int(after, ret_after_ms) < 0 ||
                  *ret_after_ms < 0 || *ret_after_ms > INT64_C(1) << GUEST_V1_REQUEUE_MS_BITS))
        return err_set(err, E_INVALID, "'afterMs' must be from 0 to 2^40");
    *ret_priority = WORK_NORMAL;
    const struct json *priority = json_getc(o, "priority");
    for (size_t i = 0; priority; i++) {
        if (i == ARRAY_LEN(priorities))
            return err_set(err, E_INVALID, "'priority' must be 'low', 'normal' or 'high'");
        if (str_is(json_str(priority), priorities[i])) {
            *ret_priority = values[i];
            break;
        }
    }
    return 0;
}

static int on_enqueue(struct v1 *v, struct str text, struct err *err)
{
    struct arena a = { .max_bytes = 256 << 10 };
    struct json_parse_opts opts = { .max_depth = 4 };
    struct json *o;
    unsigned controller = 0;
    enum work_priority priority = WORK_NORMAL;
    int64_t after_ms = 0;
    int r = json_parse(&a, text, &opts, &o, err);
    if (r >= 0)
        r = read_enqueue(v, o, &controller, &priority, &after_ms, err);
    if (r >= 0) {
        struct work_key key = { json_get_str(o, "namespace"), json_get_str(o, "name") };
        r = dispatch_add_after(v->dispatch, controller, key, WORK_ENQUEUE, priority,
                               (uint64_t)after_ms, err);
        if (r == E_LIMIT)
            r = 0; /* the queue's business: it will list anew */
    }
    arena_fini(&a);
    return r;
}

static int on_event(struct v1 *v, struct str text, struct err *err)
{
    if (!v->events) {
        struct events_opts opts = { .loop = v->host->opts.loop,
                                    .transport = v->calls.transport,
                                    .operator_name = v->full_name,
                                    .default_namespace = "default" };
        v->events = events_new(&opts);
    }
    return events_report(v->events, text, err);
}

/* Letters, digits and '_' of a key of a guest's, so that the line can be taken apart. */
static void add_pair(struct buf *to, struct str key, struct str value)
{
    char text[LOG_QUOTE_MAX];
    (void)buf_add_char(to, ' ');
    for (size_t i = 0; i < key.n && i < 64; i++) {
        char c = key.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        (void)buf_add_char(to, plain || c == '_' || c == '-' || c == '.' ? c : '_');
    }
    (void)buf_printf(to, "=\"%s\"", log_quote(text, value));
}

static int add_pairs(struct buf *to, struct str json, struct err *err)
{
    struct arena a = { .max_bytes = 256 << 10 };
    struct json_parse_opts opts = { .max_depth = 16 };
    struct json *o;
    int r = json_parse(&a, json, &opts, &o, err);
    if (r >= 0 && !json_is(o, JSON_OBJECT))
        r = err_set(err, E_INVALID, "key-values must be an object");
    json_each (m, r >= 0 ? o : NULL) {
        struct buf value = BUF_INIT(GUEST_V1_LOG_MAX * 2);
        if (!json_is(m, JSON_STRING))
            (void)json_write(&value, m);
        add_pair(to, m->key, json_is(m, JSON_STRING) ? json_str(m) : buf_str(&value));
        buf_fini(&value);
    }
    arena_fini(&a);
    return r;
}

/* Key-values that were cut at their limit are no JSON any more: then they stand there as text. */
static int on_log_line(struct instance *in, const struct guest_post *p, struct err *err)
{
    static const enum log_level levels[] = { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
    struct v1 *v = in->v;
    char text[LOG_QUOTE_MAX];
    scoped(buf_fini_scoped) struct buf pairs = BUF_INIT(32 << 10);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(1024), id = BUF_INIT(32);
    struct guest_log_line line = { .level = levels[MIN(p->number, 3u)],
                                   .message = p->head,
                                   .fields = p->body };
    struct work_task task;
    unsigned controller;
    (void)buf_printf(&pairs, "operator=%s", v->full_name);
    if (v->declaration && dispatch_current(v->dispatch, in->number, &controller, &task)) {
        (void)buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(task.key.namespace),
                         STR_ARG(task.key.name));
        (void)buf_printf(&id, "%llx", (unsigned long long)p->token);
        line.controller = v->declaration->controllers[controller].name;
        line.key = buf_str(&key);
        line.reconcile = buf_str(&id);
        (void)buf_printf(&pairs, " controller=" STR_FMT " key=%s reconcile=%s",
                         STR_ARG(line.controller), buf_cstr(&key), buf_cstr(&id));
    }
    (void)buf_printf(&pairs, " line=\"%s\"", log_quote(text, p->head));
    if (p->body.n && add_pairs(&pairs, p->body, err) < 0) {
        if (p->head.n + p->body.n < GUEST_V1_LOG_MAX)
            return err->code;
        add_pair(&pairs, STR("cut"), p->body);
    }
    guest_log_add(v->host->opts.logs, v->namespace, v->name, &line);
    /* The guest's debug lines were asked for by its operator's level, whatever the host's is. */
    log_write(p->number == 0 ? LOG_INFO : levels[MIN(p->number, 3u)], "guest", "%s%s",
              p->number == 0 ? "level=debug " : "", buf_cstr(&pairs));
    return 0;
}

static int on_metric(struct v1 *v, const struct guest_post *p, struct err *err)
{
    if (!v->metrics)
        return err_set(err, E_INVALID, "no metrics are declared");
    int r = guest_metrics_observe(v->metrics, p->number, p->head, p->value, err);
    return r == E_LIMIT ? 0 : r; /* it is counted */
}

static void on_post(struct guest *g, const struct guest_post *p, void *arg)
{
    static const char *const names[] = { [GUEST_POST_LOG] = "log",
                                         [GUEST_POST_ENQUEUE] = "enqueue",
                                         [GUEST_POST_EVENT] = "event",
                                         [GUEST_POST_METRIC] = "metric" };
    struct instance *in = arg;
    struct err err = { 0 };
    int r = 0;
    trace_post(&in->v->trace, &in->clock, names[p->kind], p->head);
    switch (p->kind) {
    case GUEST_POST_LOG:
        r = on_log_line(in, p, &err);
        break;
    case GUEST_POST_ENQUEUE:
        r = in->v->declaration ? on_enqueue(in->v, p->head, &err) : 0;
        break;
    case GUEST_POST_EVENT:
        r = on_event(in->v, p->head, &err);
        break;
    case GUEST_POST_METRIC:
        r = on_metric(in->v, p, &err);
        break;
    }
    if (r < 0)
        broken(in, names[p->kind], "R-posted", "%s", err_text(&err));
}

/* ---------------------------------------------------------------- results */

static void tell_failure(const struct v1 *v, const struct dispatch_result *result)
{
    char text[LOG_QUOTE_MAX];
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(1024), line = BUF_INIT(8 << 10);
    const char *permanent = result->end == WORK_REFUSED ? " permanent=true" : "";
    (void)buf_printf(&key, STR_FMT "/" STR_FMT, STR_ARG(result->task.key.namespace),
                     STR_ARG(result->task.key.name));
    log_warn("reconcile failed",
             "operator=%s controller=%s key=%s attempt=%u retry_ms=%llu%s error=\"%s\"",
             v->full_name, result->controller ? result->controller : "", buf_cstr(&key),
             result->task.attempt, (unsigned long long)result->delay_ms, permanent,
             log_quote(text, result->message));
    (void)buf_printf(&line, "reconcile failed: " STR_FMT, STR_ARG(result->message));
    guest_log_add(v->host->opts.logs, v->namespace, v->name,
                  &(struct guest_log_line){
                      .level = LOG_WARN,
                      .message = buf_str(&line),
                      .controller = str_of(result->controller ? result->controller : ""),
                      .key = buf_str(&key) });
}

static void on_result(void *arg, const struct dispatch_result *result)
{
    struct v1 *v = arg;
    bool failed = result->end == WORK_FAILED || result->end == WORK_REFUSED;
    trace_end(&v->trace, &instance_of(v, result->instance)->clock, result);
    if (result->end == WORK_BACK)
        return;
    v->reconciles++;
    v->failures += failed;
    if (failed)
        tell_failure(v, result);
    if (!result->controller || !v->declaration)
        return;
    const struct declaration_controller *c =
        declaration_controller(v->declaration, str_of(result->controller));
    if (!c)
        return;
    if (!v->last)
        v->last = xnew_n(struct last, v->declaration->n_controllers);
    struct last *last = &v->last[c - v->declaration->controllers];
    free(last->key);
    free(last->message);
    *last =
        (struct last){ .key = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(result->task.key.namespace),
                                        STR_ARG(result->task.key.name)),
                       .message = result->message.n ? str_dup(result->message) : NULL,
                       .reasons = result->task.reasons,
                       .attempt = result->task.attempt,
                       .end = result->end,
                       .trapped = result->trapped,
                       .ended_ms = loop_now_ms(v->host->opts.loop),
                       .delay_ms = result->delay_ms,
                       .work_us = result->work_us,
                       .busy_us = result->busy_us };
}

/* ---------------------------------------------------------------- life */

const struct guest_ops *v1_guest_ops(void)
{
    static const struct guest_ops ops = { .on_state = on_state,
                                          .on_log = on_log,
                                          .on_limit = on_limit,
                                          .on_call = on_call,
                                          .on_post = on_post,
                                          .on_activated = on_activated };
    return &ops;
}

void *v1_guest_arg(struct v1 *v)
{
    return &v->first;
}

static uint64_t on_cpu_us(void *arg, unsigned instance)
{
    const struct instance *in = instance_of(arg, instance);
    return in && in->guest ? guest_cpu_us(in->guest) : 0;
}

struct v1 *v1_new(const struct v1_opts *opts)
{
    static const struct dispatch_ops ops = { .object = on_object,
                                             .activate = on_activate,
                                             .instance_start = on_instance_start,
                                             .instance_end = on_instance_end,
                                             .refill = on_refill,
                                             .cpu_us = on_cpu_us,
                                             .on_result = on_result };
    struct v1 *v = xnew(struct v1);
    v->host = opts->host;
    v->namespace = opts->namespace;
    v->name = opts->name;
    v->full_name = xasprintf("%s/%s", opts->namespace, opts->name);
    v->ops = opts->ops;
    v->arg = opts->arg;
    v->calls.loop = opts->host->opts.loop;
    v->calls.namespace = opts->namespace;
    v->calls.name = opts->name;
    v->first.v = v;
    trace_init(&v->trace);
    v->dispatch = dispatch_operator_new(opts->host->dispatch, v->full_name, &ops, v);
    dispatch_hold(v->dispatch, DISPATCH_HOLD_SYNC);
    list_push_back(&opts->host->operators, &v->node);
    opts->host->n_operators++;
    return v;
}

void v1_free(struct v1 *v)
{
    if (!v)
        return;
    assert(!v->first.guest);
    trace_fini(&v->trace);
    end_watches(v);
    dispatch_operator_free(v->dispatch);
    free_last(v);
    guest_metrics_free(v->metrics);
    declaration_unref(v->declaration);
    list_remove(&v->node);
    v->host->n_operators--;
    identity_unref(v->identity);
    free(v->trouble);
    free(v->full_name);
    free(v);
}

void v1_attach(struct v1 *v, struct guest *g, const struct v1_rights *rights)
{
    assert(!v->first.guest);
    v->first.guest = g;
    v->has_new_guest = true;
    v->calls.transport = rights->transport;
    v->calls.allow = rights->allow;
    identity_unref(v->identity);
    v->identity = rights->identity ? identity_ref(rights->identity) : NULL;
    dispatch_set_weight(v->dispatch, rights->weight ? rights->weight : DISPATCH_WEIGHT_DEFAULT);
    if (v->identity) {
        v->identity_listener.run = on_identity_change;
        identity_listen(v->identity, &v->identity_listener);
    }
}

void v1_detach(struct v1 *v)
{
    struct instance *in = &v->first;
    if (!in->guest)
        return;
    drop_work(in);
    dispatch_hold(v->dispatch, DISPATCH_HOLD_START);
    for (unsigned i = 1; v->more && i < v->declaration->instances; i++)
        if (v->more[i - 1]) {
            dispatch_instance_gone(v->dispatch, i, NULL);
            end_more(v, i);
        }
    free(take_ptr(&v->more));
    dispatch_instance_gone(v->dispatch, in->number, NULL);
    declaration_unref(take_ptr(&in->declared));
    in->is_ready = false;
    in->guest = NULL;
    identity_wait_cancel(&v->identity_wait);
    identity_unlisten(&v->identity_listener);
    events_free(take_ptr(&v->events));
    v->calls.transport = NULL;
    v->calls.allow = NULL;
}

struct dispatch_operator *v1_dispatch(struct v1 *v)
{
    return v->dispatch;
}

/* ---------------------------------------------------------------- looking at it */

/* The first thing that is missing. */
static void say_what_waits(const struct v1 *v, char text[V1_SUMMARY_MAX])
{
    char config[CONFIG_TEXT_MAX];
    text[0] = 0;
    if (!v->declaration) {
        (void)snprintf(text, V1_SUMMARY_MAX, "the guest has not declared yet");
        return;
    }
    if (!v->is_watching) {
        (void)snprintf(text, V1_SUMMARY_MAX, "%s",
                       v->trouble ? v->trouble : "its identity is being fetched");
        return;
    }
    const char *missing = configs_missing(v->calls.configs, config);
    if (missing) {
        (void)snprintf(text, V1_SUMMARY_MAX, "%s", missing);
        return;
    }
    for (size_t i = 0; i < v->declaration->n_watches; i++) {
        const struct declaration_watch *w = &v->declaration->watches[i];
        struct watch_view view;
        interests_watch_view(v->calls.interests, i, &view);
        if (view.state == WATCH_SYNCED)
            continue;
        (void)snprintf(text, V1_SUMMARY_MAX,
                       "watch '" STR_FMT "' of " STR_FMT " " STR_FMT ": %s%s%s", STR_ARG(w->id),
                       STR_ARG(w->api_version), STR_ARG(w->kind), watch_state_name(view.state),
                       view.why[0] ? ": " : "", view.why);
        return;
    }
}

void v1_get_summary(const struct v1 *v, struct v1_summary *ret)
{
    *ret = (struct v1_summary){ .declared = v->declaration != NULL,
                                .reconciles = v->reconciles,
                                .failures = v->failures };
    say_what_waits(v, ret->waits);
    if (!v->declaration)
        return;
    ret->n_controllers = v->declaration->n_controllers;
    ret->n_watches = v->declaration->n_watches;
    for (size_t i = 0; v->is_watching && i < ret->n_watches; i++) {
        struct watch_view view;
        interests_watch_view(v->calls.interests, i, &view);
        ret->n_synced += view.state == WATCH_SYNCED;
    }
    char text[CONFIG_TEXT_MAX];
    ret->synced = v->is_watching && interests_synced(v->calls.interests) &&
                  !configs_missing(v->calls.configs, text);
}

static void write_watches(const struct v1 *v, struct buf *to)
{
    static const char *const roles[] = { "for", "owns", "watches", "caches" };
    for (size_t i = 0; i < v->declaration->n_watches; i++) {
        const struct declaration_watch *w = &v->declaration->watches[i];
        struct watch_view view = { .state = WATCH_FINDING, .why = "" };
        if (v->is_watching)
            interests_watch_view(v->calls.interests, i, &view);
        (void)buf_printf(to, "%s{\"id\":", i ? "," : "");
        (void)json_write_str(to, w->id);
        (void)buf_add_cstr(to, ",\"apiVersion\":");
        (void)json_write_str(to, w->api_version);
        (void)buf_add_cstr(to, ",\"kind\":");
        (void)json_write_str(to, w->kind);
        (void)buf_printf(to, ",\"role\":\"%s\",\"state\":\"%s\"", roles[w->role],
                         watch_state_name(view.state));
        if (w->role != WATCH_CACHE) {
            (void)buf_add_cstr(to, ",\"controller\":");
            (void)json_write_str(to, v->declaration->controllers[w->controller].name);
        }
        if (view.why[0]) {
            (void)buf_add_cstr(to, ",\"message\":");
            (void)json_write_str(to, str_of(view.why));
        }
        (void)buf_add_char(to, '}');
    }
}

static void write_last(const struct v1 *v, const struct last *last, struct buf *to)
{
    const char *comma = "";
    (void)buf_add_cstr(to, ",\"last\":{\"key\":");
    (void)json_write_str(to, str_of(last->key));
    (void)buf_add_cstr(to, ",\"reasons\":[");
    for (unsigned i = 0; i < WORK_REASON_COUNT; i++)
        if (last->reasons & 1u << i) {
            (void)buf_printf(to, "%s\"%s\"", comma, work_reason_name((enum work_reason)i));
            comma = ",";
        }
    (void)buf_printf(to,
                     "],\"attempt\":%u,\"result\":\"%s\",\"trapped\":%s,\"delayMs\":%llu,"
                     "\"durationUs\":%llu,\"busyUs\":%llu,\"agoMs\":%llu",
                     last->attempt, work_end_name(last->end), last->trapped ? "true" : "false",
                     (unsigned long long)last->delay_ms, (unsigned long long)last->work_us,
                     (unsigned long long)last->busy_us,
                     (unsigned long long)(loop_now_ms(v->host->opts.loop) - last->ended_ms));
    if (last->message) {
        (void)buf_add_cstr(to, ",\"message\":");
        (void)json_write_str(to, str_of(last->message));
    }
    (void)buf_add_char(to, '}');
}

static void write_controllers(const struct v1 *v, struct buf *to)
{
    uint64_t now_us = clock_mono_ns() / 1000;
    for (size_t i = 0; i < v->declaration->n_controllers; i++) {
        const struct work_queue *q = dispatch_queue(v->dispatch, (unsigned)i);
        uint64_t due_us = work_queue_next_due_us(q);
        (void)buf_printf(to, "%s{\"name\":", i ? "," : "");
        (void)json_write_str(to, v->declaration->controllers[i].name);
        (void)buf_printf(to, ",\"ready\":%zu,\"waiting\":%zu,\"running\":%zu", work_queue_depth(q),
                         work_queue_waiting(q), work_queue_running(q));
        if (due_us != WORK_NEVER)
            (void)buf_printf(to, ",\"nextInMs\":%llu",
                             (unsigned long long)(due_us > now_us ? (due_us - now_us) / 1000 : 0));
        if (v->last && v->last[i].key)
            write_last(v, &v->last[i], to);
        (void)buf_add_char(to, '}');
    }
}

bool v1_is_busy(const struct v1 *v)
{
    struct dispatch_view view;
    dispatch_get_view(v->dispatch, &view);
    return view.active || (view.ready && view.holds == 0);
}

struct trace *v1_trace(struct v1 *v)
{
    return &v->trace;
}

/* What instances wait for. */
static void write_calls(const struct v1 *v, struct buf *to)
{
    const char *comma = "";
    scoped(buf_fini_scoped) struct buf all = BUF_INIT(16 << 10);
    for (unsigned i = 0; i == 0 || (v->more && i < v->declaration->instances); i++) {
        const struct instance *in = i == 0 ? &v->first : v->more[i - 1];
        if (!in || !in->call)
            continue;
        (void)buf_printf(&all, "%s%s", comma, host_call_what(in->call));
        comma = ", ";
    }
    if (!all.n)
        return;
    (void)buf_add_cstr(to, ",\"call\":");
    (void)json_write_str(to, buf_str(&all));
}

void v1_describe(const struct v1 *v, struct buf *to)
{
    struct v1_summary summary;
    v1_get_summary(v, &summary);
    (void)buf_printf(to,
                     "{\"declared\":%s,\"synced\":%s,\"reconciles\":%llu,\"failures\":%llu,"
                     "\"tracers\":%zu",
                     summary.declared ? "true" : "false", summary.synced ? "true" : "false",
                     (unsigned long long)summary.reconciles, (unsigned long long)summary.failures,
                     trace_listeners(&v->trace));
    if (summary.waits[0]) {
        (void)buf_add_cstr(to, ",\"waitsFor\":");
        (void)json_write_str(to, str_of(summary.waits));
    }
    write_calls(v, to);
    if (v->declaration) {
        (void)buf_add_cstr(to, ",\"name\":");
        (void)json_write_str(to, v->declaration->name);
        (void)buf_add_cstr(to, ",\"version\":");
        (void)json_write_str(to, v->declaration->version);
        (void)buf_add_cstr(to, ",\"watches\":[");
        write_watches(v, to);
        (void)buf_add_cstr(to, "],\"controllers\":[");
        write_controllers(v, to);
        (void)buf_add_char(to, ']');
    }
    (void)buf_add_char(to, '}');
}

/* ---------------------------------------------------------------- the host */

struct v1_host *v1_host_new(const struct v1_host_opts *opts)
{
    struct v1_host *h = xnew(struct v1_host);
    struct dispatch_opts dispatch = { .runners = opts->runners };
    h->opts = *opts;
    list_init(&h->operators);
    declarations_init(&h->declarations);
    h->dispatch = dispatch_new(opts->loop, &dispatch);
    h->env = (struct interests_env){ .loop = opts->loop,
                                     .cache = opts->cache,
                                     .kinds = kinds_new(opts->loop, opts->discovery, opts->cache) };
    return h;
}

void v1_host_free(struct v1_host *h)
{
    if (!h)
        return;
    assert(h->n_operators == 0);
    dispatch_free(h->dispatch);
    kinds_free(h->env.kinds);
    declarations_fini(&h->declarations);
    free(h);
}

void v1_host_metrics(struct v1_host *h, struct buf *to)
{
    struct guest_metrics_source *sources =
        xnew_n(struct guest_metrics_source, h->n_operators ? h->n_operators : 1);
    size_t n = 0;
    list_each (node, &h->operators) {
        const struct v1 *v = list_entry(node, struct v1, node);
        if (v->metrics)
            sources[n++] = (struct guest_metrics_source){ v->metrics, v->full_name };
    }
    dispatch_metrics(h->dispatch, to);
    guest_metrics_write(sources, n, to);
    free(sources);
}
