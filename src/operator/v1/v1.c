/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator of ABI v1; see v1.h and v1_impl.h. Reading order: watches, the guest's start
 * (declare, ready), activations, parked calls, results, life.
 */
#include "operator/v1/v1_impl.h"

#include "base/log.h"
#include "base/slab.h"
#include "guest/guest_log.h"

#include <errno.h>
#include <stdio.h>

static struct v1_instance *instance_of(struct v1 *v, unsigned number)
{
    return number == 0 ? &v->first : v->more ? v->more[number - 1] : NULL;
}

/* ---------------------------------------------------------------- broken rules */

void v1_broken(struct v1_instance *in, const char *call, const char *rule, const char *fmt, ...)
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
    identity_unref(take_ptr(&v->watching_as));
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

/* The identity failed, or works again. */
static void on_identity_change(struct identity_listener *l)
{
    struct v1 *v = container_of(l, struct v1, identity_listener);
    if (!v->is_watching && v->declaration)
        begin_watches(v);
}

/* For a watch that begins later: if the identity is not ready, the timer of its kind retries. */
static int who_now(void *arg, struct identity_who *space, const struct kube_identity **ret,
                   struct err *err)
{
    struct v1 *v = arg;
    if (!v->identity)
        return 0;
    int r = identity_get(v->identity, space, &v->identity_wait, err);
    identity_wait_cancel(&v->identity_wait);
    if (r >= 0)
        *ret = &space->who;
    return r == -EAGAIN ? err_set(err, r, "the operator's identity is being fetched") : r;
}

/* The allow list belongs to the guest: without a guest, the next one's rules are unknown. */
static int may_watch(void *arg, struct str path, struct err *err)
{
    const struct v1 *v = arg;
    if (!v->first.guest)
        return err_set(err, -EAGAIN, "the next guest has not started yet");
    if (allow_check(v->calls.allow, KUBE_LIST, path) &&
        allow_check(v->calls.allow, KUBE_WATCH, path))
        return 0;
    return err_set(err, E_DENIED,
                   "list and watch of '" STR_FMT "' are not in this operator's "
                   "allow list",
                   STR_ARG(path));
}

static int start_watches(struct v1 *v, const struct kube_identity *who, struct err *err)
{
    struct interests_opts interests = { .env = &v->host->env,
                                        .declaration = v->declaration,
                                        .who = who_now,
                                        .may = may_watch,
                                        .dispatch = v->dispatch,
                                        .on_change = on_watches,
                                        .arg = v };
    struct configs_opts configs = { .loop = v->host->opts.loop,
                                    .cache = v->host->opts.cache,
                                    .declaration = v->declaration,
                                    .namespace = v->calls.namespace,
                                    .identity = who,
                                    .allow = v->calls.allow,
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
    v->watching_as = v->identity ? identity_ref(v->identity) : NULL;
    v->is_watching = true;
    v->is_bounded = v->calls.allow != NULL;
    return 0;
}

/*
 * Start the watches of the declaration in force, under the operator's identity, once it is ready.
 */
static void begin_watches(struct v1 *v)
{
    struct identity_who who;
    struct err err = { 0 };
    int r = 0;
    identity_wait_cancel(&v->identity_wait);
    if (v->identity) {
        v->identity_wait.run = on_identity;
        r = identity_get(v->identity, &who, &v->identity_wait, &err);
    }
    if (r == -EAGAIN)
        return; /* on_identity() continues */
    if (r >= 0)
        r = start_watches(v, v->identity ? &who.who : NULL, &err);
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

static int declare_controllers(struct v1 *v, const struct declaration *d, struct err *err)
{
    struct dispatch_controller_opts opts[DECLARATION_MAX_CONTROLLERS];
    for (size_t i = 0; i < d->n_controllers; i++) {
        const struct declaration_controller *c = &d->controllers[i];
        opts[i] =
            (struct dispatch_controller_opts){ .name = c->name.p, /* ends with a NUL: of an arena */
                                               .concurrency = c->concurrency,
                                               .backoff_base_ms = (uint32_t)c->backoff_base_ms,
                                               .backoff_max_ms = (uint32_t)c->backoff_max_ms,
                                               .rate_per_second = c->rate_per_s,
                                               .rate_burst = c->rate_burst,
                                               .slack_percent = c->slack_percent,
                                               .debounce_ms = c->debounce_ms };
    }
    return dispatch_declare(v->dispatch, opts, d->n_controllers, d->instances, err);
}

/* Put the declaration of an instance in force. */
static int put_in_force(struct v1 *v, struct declaration *d, struct err *err)
{
    bool other_bounds = v->has_new_guest && (v->is_bounded || v->calls.allow);
    if (d == v->declaration && v->is_watching && v->watching_as == v->identity && !other_bounds) {
        if (v->has_new_guest) /* it may treat the existing objects differently */
            interests_reconcile_all(v->calls.interests, WORK_INITIAL);
        return 0;
    }
    if (v->is_watching)
        interests_queue_all(v->calls.interests);
    identity_wait_cancel(&v->identity_wait);
    end_watches(v);
    int r = declare_controllers(v, d, err);
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

static void on_declare(struct v1_instance *in, const struct guest_call *call)
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
    /* All instances of one generation must declare the same. */
    const struct declaration *before = in->number ? v->declaration : in->declared;
    if (before && before != d) {
        declaration_unref(d);
        v1_broken(in, "declare", "R-same", "this is not what the %s declared",
                  in->number ? "first instance has" : "guest has before");
        return;
    }
    declaration_unref(in->declared);
    in->declared = d;
    guest_set_stateless(in->guest, d->stateless);
    (void)guest_reply(in->guest, call->id, call->incarnation, 0, STR(""), NULL);
}

/* The guest has started successfully. */
static void on_started(struct v1_instance *in)
{
    struct err err = { 0 };
    if (in->is_ready)
        return;
    if (!in->declared) {
        v1_broken(in, "dormouse_v1_setup", "R-declare", "it has ended without a declaration");
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

static void drop_work(struct v1_instance *in)
{
    if (in->start) {
        if (in->start->read)
            object_read_cancel(in->start->read);
        free(take_ptr(&in->start));
    }
    host_call_cancel(take_ptr(&in->call));
    trace_clock_fini(&in->clock);
}

/* This incarnation has ended; its activation and call are lost. */
static void lose(struct v1_instance *in, const struct err *why)
{
    drop_work(in);
    in->is_ready = false;
    dispatch_instance_gone(in->v->dispatch, in->number, why);
}

static void on_state(struct guest *g, enum guest_state state, const struct err *why, void *arg)
{
    struct v1_instance *in = arg;
    switch (state) {
    case GUEST_AWAKE:
    case GUEST_ASLEEP:
        on_started(in);
        break;
    case GUEST_FAILED:
        lose(in, why);
        break;
    case GUEST_COLD: /* with a reason: its runner or its memory was lost, and it restarts at once */
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
    struct v1_instance *in = arg;
    in->v->ops->on_limit(g, which, figure, in->v->arg);
}

static void on_kept_awake(struct guest *g, const struct err *why, void *arg)
{
    struct v1_instance *in = arg;
    if (in->number == 0 && in->v->ops->on_kept_awake)
        in->v->ops->on_kept_awake(g, why, in->v->arg);
}

static void on_log(struct guest *g, int fd, struct str line, void *arg)
{
    struct v1_instance *in = arg;
    in->v->ops->on_log(g, fd, line, in->v->arg);
}

/* ---------------------------------------------------------------- activations */

/* The subscription with the primaries of a controller's keys; NULL: none. */
static struct object_sub *primaries(struct v1 *v, unsigned controller, struct str namespace)
{
    size_t watch = v->declaration->controllers[controller].first_watch;
    return v->is_watching ? interests_sub(v->calls.interests, watch, namespace) : NULL;
}

/*
 * If the cache holds the object's body, it is part of the payload. Beside the embedded API the
 * cache only holds the bodies of recent events: others are read from the store, which on_activate()
 * begins.
 */
static int on_object(void *arg, unsigned controller, struct work_key key, struct buf *to)
{
    struct object_sub *sub = primaries(arg, controller, key.namespace);
    return sub ? object_sub_write(sub, key.namespace, key.name, to) : -ENOENT;
}

static int activate_guest(struct v1_instance *in, uint64_t token, struct str payload,
                          struct err *err)
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
    scoped(free_scoped) struct v1_start *s = arg;
    struct v1_instance *in = s->in;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf payload =
        BUF_INIT(GUEST_V1_QUERY_MAX + DISPATCH_OBJECT_MAX_BYTES);
    struct str whole = str_n(s->payload, s->n); /* after other errors the guest reads it itself */
    in->start = NULL;
    if (r >= 0 || r == -ENOENT)
        dispatch_add_object(whole, r >= 0 && res->n ? res->items[0] : STR(""), &payload);
    if (payload.n && buf_ok(&payload))
        whole = buf_str(&payload);
    if (activate_guest(in, s->token, whole, &err) < 0)
        guest_fail(in->guest, &err);
}

static int on_activate(void *arg, unsigned instance, uint64_t token, struct str payload,
                       bool lacks_object, struct err *err)
{
    struct v1 *v = arg;
    struct v1_instance *in = instance_of(v, instance);
    struct work_task task;
    unsigned controller = 0;
    struct object_sub *sub = NULL;
    assert(!in || !in->start); /* one activation at a time */
    if (!in || !in->guest)
        return err_set(err, -ESTALE, "the guest is gone");
    if (lacks_object && dispatch_current(v->dispatch, instance, &controller, &task))
        sub = primaries(v, controller, task.key.namespace);
    if (!sub)
        return activate_guest(in, token, payload, err);
    struct object_query query = { .namespace = task.key.namespace,
                                  .name = task.key.name,
                                  .view = OBJECT_FULL };
    struct v1_start *s = xalloc(sizeof *s + payload.n);
    s->in = in;
    s->token = token;
    s->n = payload.n;
    memcpy(s->payload, payload.p, payload.n);
    if (object_sub_get(sub, &query, on_object_read, s, &s->read, NULL) < 0) {
        free(s);
        return activate_guest(in, token, payload, err); /* the guest can read it itself */
    }
    in->start = s;
    return 0;
}

/* In addition to the first instance, when there is work for it. */
static int on_instance_start(void *arg, unsigned number, struct err *err)
{
    struct v1 *v = arg;
    struct v1_instance *in = xnew(struct v1_instance);
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
        v->more = xnew_n(struct v1_instance *, v->declaration->instances);
    assert(!v->more[number - 1]);
    v->more[number - 1] = in;
    return 0;
}

static void end_more(struct v1 *v, unsigned number)
{
    struct v1_instance *in = take_ptr(&v->more[number - 1]);
    assert(in && in->number == number);
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
    struct v1_instance *in = arg;
    dispatch_activated(in->v->dispatch, in->number, token, result, message);
    /* The host has its timers: it sleeps meanwhile, and is woken in time if its wakes take long. */
    uint64_t due_ms = dispatch_next_due_ms(in->v->dispatch);
    guest_expect(g, due_ms == WORK_NEVER ? 0 : due_ms);
}

static bool on_refill(void *arg, unsigned controller, bool is_new, size_t room)
{
    struct v1 *v = arg;
    return v->is_watching && interests_refill(v->calls.interests, controller, is_new, room);
}

/* ---------------------------------------------------------------- parked calls */

static void on_call_done(void *arg, int64_t value, struct str bytes)
{
    struct v1_instance *in = arg;
    trace_call_end(&in->v->trace, &in->clock, value, bytes.n);
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
    struct v1_instance *in = arg;
    if (call->kind == GUEST_CALL_DECLARE) {
        on_declare(in, call);
        return;
    }
    if (in->call) {
        v1_broken(in, "runner", "R-outside", "a call while another one waits");
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
    trace_call_begin(&in->v->trace, &in->clock, call);
    in->call = host_call_begin(&in->v->calls, call, on_call_done, in);
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
    guest_log_add(v->host->opts.logs, v->calls.namespace, v->calls.name,
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
        v->last = xnew_n(struct v1_last, v->declaration->n_controllers);
    struct v1_last *last = &v->last[c - v->declaration->controllers];
    free(last->key);
    free(last->message);
    *last =
        (struct v1_last){ .key = xasprintf(STR_FMT "/" STR_FMT, STR_ARG(result->task.key.namespace),
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
                                          .on_kept_awake = on_kept_awake,
                                          .on_call = on_call,
                                          .on_post = v1_on_post,
                                          .on_activated = on_activated };
    return &ops;
}

void *v1_guest_arg(struct v1 *v)
{
    return &v->first;
}

static uint64_t on_cpu_us(void *arg, unsigned instance)
{
    const struct v1_instance *in = instance_of(arg, instance);
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
    size_t n = strlen(opts->namespace) + 1 + strlen(opts->name) + 1;
    struct v1 *v = slab_alloc(sizeof *v + n);
    (void)snprintf(v->full_name, n, "%s/%s", opts->namespace, opts->name);
    v->host = opts->host;
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
    slab_free(v);
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
    struct v1_instance *in = &v->first;
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
