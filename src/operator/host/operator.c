/* SPDX-License-Identifier: Apache-2.0 */
/* Runs operators: makes guests from specs; see operator.h and operator_plan.h. */
#include "operator/host/operator.h"

#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/sys.h"
#include "guest/guest_log.h"
#include "operator/host/operator_plan.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { KEY_MAX_BYTES = 600 };

/* A guest and the objects that belong to it. */
struct operator_instance {
    struct guest *guest;
    struct operator_client *client;
    struct calls *calls; /* of G1 and G2 */
    struct operator_plan *plan;
    struct module *module;
    uint64_t started_ms;
    uint64_t tried_at; /* the guest's activations at its last failure */
    unsigned failures; /* since its last success */
    uint8_t abi;       /* enum guest_abi */
    bool settled;      /* it has been awake or asleep at least once */
};

struct operator_refusal {
    const char *reason;
    char message[];
};

struct operator
{
    struct operators *os;
    struct operator_plan *spec;   /* the latest */
    struct module_source *source; /* of spec; reports its first module and later ones */
    struct module_get *get;       /* compiling */
    struct module *module;        /* compiled; takes over when no activation is running */
    struct operator_instance run; /* guest NULL: none */
    struct v1 *v1;                /* outlives guests of ABI v1; NULL: there was none */
    /* The generation that ran well before `run`, to return to. */
    struct operator_plan *good;
    struct module *good_module;
    char *returned;                   /* why it was returned to; NULL: there was no return */
    struct operator_refusal *refusal; /* of the replacement for `run`; NULL: none was refused */
    struct identity *identity;        /* of run; NULL: the host's own */
    struct identity_listener trouble;
    struct operator_limit *limit; /* the limit that was hit; NULL: none */
    struct err *kept_awake;       /* NULL: the guest can sleep */
    const char *reason;
    char *message;
    struct list change; /* on os->changes */
    struct list wait;   /* on os->waiting: the module cache accepts no more requests at once */
    struct list ready;  /* on os->ready: look at it on the next turn */
    int fd;             /* a module that waits for its turn to be compiled; -1: none */
    uint16_t name_at;
    uint8_t phase; /* enum operator_phase */
    bool restart;  /* a newer spec arrived during compilation */
    bool removed;
    bool must_return; /* it fails repeatedly */
    char text[];      /* namespace, NUL, name, NUL; without the last NUL it is the key */
};

struct operators {
    struct operators_opts opts;
    struct map map; /* "namespace\0name" */
    struct list changes, waiting, ready;
    struct defer work;
    size_t n_getting;  /* module_get() calls whose callback has not run */
    struct timer disk; /* armed after a module's code found no space on the disk */
    bool standby;      /* no guest may run */
    bool closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void begin(struct operator* o);
static void on_work(struct defer *d);

static const char *namespace_of(const struct operator* o)
{
    return o->text;
}

static const char *name_of(const struct operator* o)
{
    return o->text + o->name_at;
}

/* ---------------------------------------------------------------- changes */

static void schedule(struct operators *os)
{
    defer_start(os->opts.loop, &os->work, on_work);
}

static void notify(struct operator* o)
{
    if (!list_is_linked(&o->change))
        list_push_back(&o->os->changes, &o->change);
    schedule(o->os);
}

static void look_again(struct operator* o)
{
    if (!list_is_linked(&o->ready))
        list_push_back(&o->os->ready, &o->ready);
    schedule(o->os);
}

static void changed(struct operator* o, enum operator_phase phase, const char *reason,
                    const char *message)
{
    o->phase = (uint8_t)phase;
    o->reason = reason;
    free(o->message);
    o->message = message && message[0] ? xstrdup(message) : NULL;
    notify(o);
}

static void drop_fd(struct operator* o)
{
    if (o->fd >= 0)
        (void)close(o->fd);
    o->fd = -1;
}

static void forget_refusal(struct operator* o)
{
    if (!o->refusal)
        return;
    free(take_ptr(&o->refusal));
    notify(o);
}

/*
 * The running generation continues; the replacement is dropped until the spec or the module
 * changes.
 */
static void refuse(struct operator* o, const char *reason, const struct err *err)
{
    log_warn("operator refused", "operator=%s/%s reason=%s message=\"%s\"", namespace_of(o),
             name_of(o), reason, err_text(err));
    module_unref(take_ptr(&o->module));
    drop_fd(o);
    if (o->v1)
        dispatch_release(v1_dispatch(o->v1), DISPATCH_HOLD_REPLACE);
    forget_refusal(o);
    if (!o->run.guest) {
        changed(o, OPERATOR_REFUSED, reason, err_text(err));
        return;
    }
    size_t n = strlen(err_text(err)) + 1;
    o->refusal = xalloc(sizeof *o->refusal + n);
    o->refusal->reason = reason;
    memcpy(o->refusal->message, err_text(err), n);
    notify(o);
}

/* ---------------------------------------------------------------- guests */

static void forget_good(struct operator* o)
{
    operator_plan_unref(take_ptr(&o->good));
    module_unref(take_ptr(&o->good_module));
}

static void end_instance(struct operator* o)
{
    struct operator_instance *run = &o->run;
    if (!run->guest)
        return;
    assert(run->client && run->plan && run->module);
    assert(run->abi == GUEST_ABI_V1 ? o->v1 && !run->calls : run->calls != NULL);
    identity_unlisten(&o->trouble);
    if (run->abi == GUEST_ABI_V1)
        v1_detach(o->v1);
    calls_free(run->calls);
    operator_client_free(run->client);
    identity_unref(take_ptr(&o->identity));
    guest_free(run->guest);
    free(take_ptr(&o->kept_awake));
    operator_plan_unref(run->plan);
    module_unref(run->module);
    *run = (struct operator_instance){ 0 };
}

/* ---------------------------------------------------------------- limits */

/*
 * Count a limit that was hit: status shows it, and an Event is written if the previous one was
 * another limit.
 */
__attribute__((format(printf, 3, 4))) static void limit_hit(struct operator* o, const char *name,
                                                            const char *fmt, ...)
{
    va_list ap;
    bool first = !o->limit || strcmp(o->limit->name, name) != 0;
    if (!o->limit)
        o->limit = xnew(struct operator_limit);
    if (first)
        *o->limit = (struct operator_limit){ .name = name };
    va_start(ap, fmt);
    (void)vsnprintf(o->limit->message, sizeof o->limit->message, fmt, ap);
    va_end(ap);
    uint64_t now = loop_now_ms(o->os->opts.loop);
    bool again = first || now - o->limit->at_ms > OPERATOR_LIMIT_REST_MS;
    o->limit->count++;
    o->limit->at_ms = now;
    if (again)
        notify(o);
}

static void on_limited(void *arg)
{
    struct operator* o = arg;
    limit_hit(o, "requestsPerSecond", "requests wait or are refused beyond %u a second",
              o->run.plan->requests_per_second);
}

static void on_denied(void *arg)
{
    notify(arg);
}

/* Whether the guest failed because of one of its own limits. */
static void blame_limit(struct operator* o, const struct err *why)
{
    const struct operator_plan *p = o->run.plan;
    uint64_t max = p->memory_max_bytes ? p->memory_max_bytes : GUEST_MEMORY_MAX_DEFAULT;
    if (why && strstr(err_text(why), "KiB of memory in use"))
        limit_hit(o, "memory", "it failed with nearly all of its %" PRIu64 " KiB of memory in use",
                  max >> 10);
    else if (why && strstr(err_text(why), "KiB of memory were refused"))
        limit_hit(o, "memory",
                  "it failed after it had asked for more than its %" PRIu64 " KiB of memory",
                  max >> 10);
    else if (why && strstr(err_text(why), "longer than an activation may"))
        limit_hit(o, "activationMilliseconds",
                  "an activation computed for more than %" PRIu64 " ms",
                  p->activation_ms ? p->activation_ms : (uint64_t)GUEST_ACTIVATION_MS_DEFAULT);
}

static void on_trouble(struct identity_listener *l)
{
    notify(container_of(l, struct operator, trouble));
}

/* ---------------------------------------------------------------- guests' callbacks */

static void on_op(struct guest *g, const struct guest_op *op, void *arg)
{
    struct operator* o = arg;
    calls_on_op(o->run.calls, op);
}

static void on_room(struct guest *g, void *arg)
{
    struct operator* o = arg;
    calls_on_room(o->run.calls);
}

static bool is_reason(const struct operator* o, const char *reason)
{
    return strcmp(o->reason, reason) == 0;
}

/*
 * Three failures in a row, soon after it replaced a generation that ran well: return to that one.
 */
static void count_failure(struct operator* o)
{
    struct operator_instance *run = &o->run;
    struct guest_stats stats;
    guest_get_stats(run->guest, &stats);
    run->failures++;
    run->tried_at = stats.activations;
    bool is_new = loop_now_ms(o->os->opts.loop) - run->started_ms < OPERATOR_PROBATION_MS;
    if (run->failures >= OPERATOR_CRASHES_MAX && is_new && o->good && !o->returned) {
        o->must_return = true;
        look_again(o);
    }
}

/*
 * A start alone is not a success: an activation after the start is. A generation that has run well
 * for long is not returned from.
 */
static void count_success(struct operator* o)
{
    struct operator_instance *run = &o->run;
    struct guest_stats stats;
    run->settled = true;
    if (run->failures == 0 && !o->good)
        return;
    guest_get_stats(run->guest, &stats);
    if (stats.activations >= run->tried_at + 2)
        run->failures = 0;
    if (loop_now_ms(o->os->opts.loop) - run->started_ms >= OPERATOR_PROBATION_MS)
        forget_good(o);
}

/* No activation is running, so its guest can be replaced. */
static bool is_idle(const struct operator* o)
{
    struct dispatch_view view;
    if (!o->run.guest)
        return true;
    if (o->run.abi != GUEST_ABI_V1)
        return guest_state(o->run.guest) != GUEST_RUNNING;
    dispatch_get_view(v1_dispatch(o->v1), &view);
    return view.active == 0;
}

static void on_state(struct guest *g, enum guest_state state, const struct err *why, void *arg)
{
    struct operator* o = arg;
    if (o->run.calls && (state == GUEST_FAILED || state == GUEST_COLD))
        calls_reset(o->run.calls);
    if (state == GUEST_FAILED) {
        blame_limit(o, why);
        count_failure(o);
        log_warn("operator failed", "operator=%s/%s reason=\"%s\"", namespace_of(o), name_of(o),
                 why ? err_text(why) : "unknown");
        guest_log_add(
            o->os->opts.logs, namespace_of(o), name_of(o),
            &(struct guest_log_line){
                .level = LOG_ERROR, .message = str_of(why ? err_text(why) : "the guest failed") });
        changed(o, OPERATOR_RUNNING, "GuestFailed", why ? err_text(why) : "unknown");
        if (o->run.module && o->run.module->is_lost && !o->get && !o->removed)
            begin(o); /* compile the module again for the guest's next attempt */
    } else if (state == GUEST_AWAKE || state == GUEST_ASLEEP) {
        count_success(o);
        if (is_reason(o, "GuestFailed")) /* it completed an activation */
            changed(o, OPERATOR_RUNNING, "Running", NULL);
    }
    if (o->module && state != GUEST_RUNNING)
        look_again(o);
}

static void on_log(struct guest *g, int fd, struct str line, void *arg)
{
    struct operator* o = arg;
    char text[LOG_QUOTE_MAX];
    log_info("guest", "operator=%s/%s line=\"%s\"", namespace_of(o), name_of(o),
             log_quote(text, line));
    guest_log_add(o->os->opts.logs, namespace_of(o), name_of(o),
                  &(struct guest_log_line){ .level = LOG_INFO, .message = line });
}

static void on_limit(struct guest *g, enum guest_limit which, uint64_t figure, void *arg)
{
    struct operator* o = arg;
    switch (which) {
    case GUEST_LIMIT_SWAP:
        limit_hit(o, "swap",
                  "it stays awake: %" PRIu64 " KiB of its memory do not fit into %" PRIu64
                  " KiB of swap",
                  figure >> 10, o->run.plan->swap_max_bytes >> 10);
        return;
    case GUEST_LIMIT_LOG:
        limit_hit(o, "logLinesPerSecond",
                  "%" PRIu64 " lines of log were left out beyond %u a second", figure,
                  o->run.plan->log_lines_per_second);
        return;
    }
}

static void on_kept_awake(struct guest *g, const struct err *why, void *arg)
{
    struct operator* o = arg;
    free(take_ptr(&o->kept_awake));
    if (why) {
        o->kept_awake = xnew(struct err);
        *o->kept_awake = *why;
    }
    notify(o);
}

static void on_v1_change(void *arg)
{
    notify(arg);
}

static const struct guest_ops guest_ops = {
    .on_op = on_op,
    .on_room = on_room,
    .on_state = on_state,
    .on_log = on_log,
    .on_limit = on_limit,
    .on_kept_awake = on_kept_awake,
};
static const struct v1_ops v1_ops = {
    .on_state = on_state,
    .on_log = on_log,
    .on_limit = on_limit,
    .on_kept_awake = on_kept_awake,
    .on_change = on_v1_change,
};

/* By the module's exports: each ABI has its own wake-up functions. */
static int detect_abi(const struct module_info *info, int wanted, enum guest_abi *ret,
                      struct err *err)
{
    bool g2 =
        module_info_has_func(info, "wakeup", "Iiii:") && module_info_has_func(info, "_start", ":");
    bool g1 = module_info_has_func(info, "wakeup_future", "Iii:") &&
              module_info_has_func(info, "wakeup_stream", "Iii:") &&
              module_info_has_func(info, "run", ":");
    bool v1 = module_info_export(info, "dormouse_v1_activate"); /* guest_new() checks its type */
    if (v1 && (wanted == OPERATOR_ABI_AUTO || wanted == OPERATOR_ABI_V1)) {
        *ret = GUEST_ABI_V1;
        return 0;
    }
    bool allocate = module_info_has_func(info, "allocate", "i:i");
    if ((g1 || g2) && !allocate)
        return err_set(err, E_UNSUPPORTED, "the module does not export 'allocate (i32) -> i32'");
    if (!module_info_export(info, "memory") && (g1 || g2))
        return err_set(err, E_UNSUPPORTED, "the module does not export its memory as 'memory'");
    if (wanted == OPERATOR_ABI_G1 ? g1 : wanted == OPERATOR_ABI_G2 ? g2 : g1 != g2) {
        *ret = wanted == OPERATOR_ABI_G1 || (wanted == OPERATOR_ABI_AUTO && g1) ? GUEST_ABI_G1
                                                                                : GUEST_ABI_G2;
        return 0;
    }
    if (g1 && g2)
        return err_set(
            err, E_UNSUPPORTED,
            "the module exports the functions of both ABIs g1 and g2; name one in 'abi'");
    if (g1 || g2)
        return err_set(err, E_UNSUPPORTED,
                       "the module is of ABI %s, not of the one that was asked for",
                       g1 ? "g1" : "g2");
    const struct module_extern *request = module_info_import(info, "http-proxy-abi", "request");
    if (request && str_is(request->sig, "iii:I"))
        return err_set(err, E_UNSUPPORTED,
                       "the module is of the synchronous ABI of 2020, which is not supported");
    if (module_info_has_func(info, "_start", ":"))
        return err_set(err, E_UNSUPPORTED,
                       "the module is a plain WASI command: it exports none of the wake-up "
                       "functions of an operator");
    return err_set(err, E_UNSUPPORTED,
                   "the module exports none of the wake-up functions of an operator");
}

/* ---------------------------------------------------------------- taking over */

static struct identity *plan_identity(struct operator* o, const struct operator_plan *p)
{
    const char *namespace = operator_plan_text(p, PLAN_ACCOUNT_NAMESPACE);
    struct identity_spec spec = { .namespace = namespace ? namespace : namespace_of(o),
                                  .account = operator_plan_text(p, PLAN_ACCOUNT),
                                  .create = p->create_account,
                                  .owner = name_of(o),
                                  .owner_uid = operator_plan_text(p, PLAN_UID) };
    return spec.account ? identity_of(o->os->opts.identities, &spec) : NULL;
}

static int make_guest(struct operator* o, const struct operator_plan *p, struct module *m,
                      enum guest_abi abi, struct guest **ret, struct err *err)
{
    struct arena lists = { 0 };
    struct guest_spec spec = { .namespace = namespace_of(o),
                               .name = name_of(o),
                               .uid = operator_plan_text(p, PLAN_UID),
                               .generation = p->generation,
                               .abi = abi,
                               .module = m,
                               .env = operator_plan_env(p, &lists),
                               .n_env = p->n_env,
                               .args = operator_plan_args(p, &lists),
                               .n_args = p->n_args,
                               .memory_max_bytes = p->memory_max_bytes,
                               .activation_ms = p->activation_ms,
                               .idle_ms = p->idle_ms,
                               .swap_max_bytes = p->swap_max_bytes,
                               .log_lines_per_s = p->log_lines_per_second,
                               .log_debug = p->log_debug };
    bool v1 = abi == GUEST_ABI_V1;
    if (v1 && !o->v1) {
        struct v1_opts opts = { .host = o->os->opts.v1,
                                .namespace = namespace_of(o),
                                .name = name_of(o),
                                .ops = &v1_ops,
                                .arg = o };
        o->v1 = v1_new(&opts);
    }
    int r = guest_new(o->os->opts.guests, &spec, v1 ? v1_guest_ops() : &guest_ops,
                      v1 ? v1_guest_arg(o->v1) : o, ret, err);
    arena_fini(&lists);
    return r;
}

/* Attach the guest to the API, with the operator's identity. */
static void attach(struct operator* o, struct operator_instance *run)
{
    const struct operator_plan *p = run->plan;
    struct identity *identity = plan_identity(o, p);
    struct operator_client_opts client = { .loop = o->os->opts.loop,
                                           .transport = o->os->opts.env->transport,
                                           .identity = identity,
                                           .per_second = p->requests_per_second,
                                           .burst = p->request_burst,
                                           .on_limited = on_limited,
                                           .on_denied = on_denied,
                                           .arg = o };
    assert(!run->client && !o->identity);
    run->client = operator_client_new(&client);
    o->identity = identity;
    if (run->abi == GUEST_ABI_V1) {
        struct v1_rights rights = { .transport = operator_client_transport(run->client),
                                    .identity = identity,
                                    .allow = p->allow,
                                    .weight = p->cpu_share };
        v1_attach(o->v1, run->guest, &rights);
    } else {
        run->calls = calls_new(o->os->opts.env, run->abi, run->client, p->allow);
        calls_set_guest(run->calls, run->guest);
    }
    if (identity) {
        o->trouble.run = on_trouble;
        identity_listen(identity, &o->trouble);
        identity_prepare(identity);
    }
}

/* Keep the running generation to return to, if it has run well. */
static void keep_good(struct operator* o)
{
    struct operator_instance *run = &o->run;
    if (!run->guest || !run->settled || run->failures)
        return;
    forget_good(o);
    o->good = operator_plan_ref(run->plan);
    o->good_module = module_ref(run->module);
}

/* The old guest is freed after the new one is made, so that a refusal changes nothing. */
static int start_instance(struct operator* o, struct operator_plan *p, struct module *m,
                          const char **reason, struct err *err)
{
    struct operator_instance run = { .started_ms = loop_now_ms(o->os->opts.loop) };
    *reason = "ModuleUnsupported";
    enum guest_abi abi;
    int r = detect_abi(m->info, p->abi, &abi, err);
    if (r < 0)
        return r;
    run.abi = (uint8_t)abi;
    *reason = "GuestRefused";
    if (run.abi == GUEST_ABI_V1 && !o->os->opts.v1)
        return err_set(err, E_UNSUPPORTED, "this host runs no guests of ABI v1");
    r = make_guest(o, p, m, abi, &run.guest, err);
    if (r < 0)
        return r;
    run.plan = operator_plan_ref(p);
    run.module = module_ref(m);
    end_instance(o);
    if (run.abi != GUEST_ABI_V1)
        v1_free(take_ptr(&o->v1));
    o->run = run;
    attach(o, &o->run);
    if (o->v1) {
        dispatch_release(v1_dispatch(o->v1), DISPATCH_HOLD_REPLACE);
        dispatch_release(v1_dispatch(o->v1), DISPATCH_HOLD_PAUSED);
        dispatch_release(v1_dispatch(o->v1), DISPATCH_HOLD_LEADER);
    }
    r = guest_start(run.guest, err);
    if (r < 0) {
        end_instance(o);
        return r;
    }
    log_info("operator started", "operator=%s/%s generation=%" PRIu64 " abi=%s", namespace_of(o),
             name_of(o), p->generation, abi_name(run.abi));
    return 0;
}

/* The spec's module is compiled and no activation is running: the new generation takes over. */
static void take_over(struct operator* o)
{
    struct err err = { 0 };
    const char *reason;
    assert(o->module && !o->removed && !o->os->standby);
    scoped(module_unref_scoped) struct module *m = take_ptr(&o->module);
    keep_good(o);
    if (start_instance(o, o->spec, m, &reason, &err) < 0) {
        refuse(o, reason, &err); /* the old generation continues, if there is one */
        return;
    }
    o->must_return = false;
    free(take_ptr(&o->returned));
    forget_refusal(o);
    changed(o, OPERATOR_RUNNING, "Running", NULL);
}

static void on_drained(void *arg)
{
    look_again(arg);
}

static void take_over_when_idle(struct operator* o)
{
    if (o->os->standby) {
        changed(o, OPERATOR_PREPARING, "Standby", "another host leads");
    } else if (is_idle(o)) {
        take_over(o);
    } else if (o->run.abi == GUEST_ABI_V1) { /* other ABIs are looked at again in on_state() */
        dispatch_hold(v1_dispatch(o->v1), DISPATCH_HOLD_REPLACE);
        dispatch_on_drained(v1_dispatch(o->v1), on_drained, o);
    }
}

static void return_to_good(struct operator* o)
{
    struct err err = { 0 };
    const char *reason;
    scoped(operator_plan_unref_scoped) struct operator_plan *p = take_ptr(&o->good);
    scoped(module_unref_scoped) struct module *m = take_ptr(&o->good_module);
    scoped(free_scoped) char *why =
        xasprintf("generation %" PRIu64 " with module %.12s failed %u times in a row (%s); "
                  "generation %" PRIu64 " with module %.12s runs again",
                  o->run.plan->generation, o->run.module->hash, o->run.failures,
                  o->message ? o->message : "no reason was given", p->generation, m->hash);
    o->must_return = false;
    log_warn("operator returned to what ran before", "operator=%s/%s reason=\"%s\"",
             namespace_of(o), name_of(o), why);
    if (start_instance(o, p, m, &reason, &err) < 0) {
        refuse(o, reason, &err);
        return;
    }
    o->returned = take_ptr(&why);
    changed(o, OPERATOR_RUNNING, "Running", NULL);
}

/* ---------------------------------------------------------------- modules */

static void free_operator(struct operator* o)
{
    assert(o->removed && !o->get);
    list_remove(&o->change);
    list_remove(&o->wait);
    list_remove(&o->ready);
    end_instance(o);
    v1_free(o->v1);
    forget_good(o);
    module_source_close(o->source);
    drop_fd(o);
    operator_plan_unref(o->spec);
    module_unref(o->module);
    free(o->limit);
    free(o->kept_awake);
    free(o->refusal);
    free(o->returned);
    free(o->message);
    slab_free(o);
}

static void get_module(struct operator* o);

/*
 * Whether this module is already running, as after a touch of the file or a change of other entries
 * of the ConfigMap.
 */
static bool is_running(const struct operator* o, const struct module *m)
{
    return o->run.guest && o->run.plan == o->spec && strcmp(o->run.module->hash, m->hash) == 0;
}

static bool is_other_digest(const struct operator_plan *p, const struct module *m)
{
    const char *wanted = operator_plan_text(p, PLAN_SHA256);
    return wanted && strcmp(wanted, m->hash) != 0;
}

static const char disk_full[] = "DiskFull";

static bool waits_for_disk(const struct operator* o)
{
    const char *reason = o->refusal                     ? o->refusal->reason
                         : o->phase == OPERATOR_REFUSED ? o->reason
                                                        : "";
    return strcmp(reason, disk_full) == 0;
}

static void on_disk(struct timer *timer)
{
    struct operators *os = container_of(timer, struct operators, disk);
    map_each (e, &os->map) {
        struct operator* o = e->value;
        if (waits_for_disk(o) && !o->get && !list_is_linked(&o->wait))
            begin(o);
    }
}

/* A lack of disk space for its code does not mean that the module is bad. */
static void refuse_module(struct operator* o, int r, const struct err *err)
{
    bool is_full = r == -ENOSPC || r == -EDQUOT;
    refuse(o, is_full ? disk_full : r == -ENOENT ? "CompilerMissing" : "ModuleInvalid", err);
    if (is_full && !timer_is_armed(&o->os->disk))
        timer_start(o->os->opts.loop, &o->os->disk, OPERATOR_DISK_MS, on_disk);
}

static void on_module(struct module *m, int r, const struct err *cause, void *arg)
{
    struct operator* o = arg;
    struct operators *os = o->os;
    struct err err = cause ? *cause : (struct err){ 0 };
    assert(os->n_getting > 0);
    o->get = NULL;
    os->n_getting--;
    schedule(os); /* a waiting operator can compile now, or closing can end */
    if (o->removed) {
        module_unref(m);
        free_operator(o);
    } else if (o->restart) {
        o->restart = false;
        module_unref(m);
        begin(o);
    } else if (o->fd >= 0) {
        module_unref(m);
        get_module(o);
    } else if (r < 0) {
        refuse_module(o, r, &err);
    } else if (is_other_digest(o->spec, m)) {
        (void)err_set(&err, E_DIGEST, "the module has the digest %s, not %s", m->hash,
                      operator_plan_text(o->spec, PLAN_SHA256));
        module_unref(m);
        refuse(o, "ModuleDigestWrong", &err);
    } else if (is_running(o, m)) {
        module_unref(m);
        forget_refusal(o);
    } else {
        module_unref(o->module);
        o->module = m;
        take_over_when_idle(o);
    }
}

static void get_module(struct operator* o)
{
    struct err err = { 0 };
    bool is_file = o->spec->from == MODULE_FROM_FILE;
    assert(!o->get && !o->removed && !list_is_linked(&o->wait));
    if (o->fd < 0)
        o->fd = module_source_again(o->source, &err);
    struct module_want want = { .tenant = str_of(namespace_of(o)) };
    int r = o->fd < 0 ? o->fd
                      : module_get(o->os->opts.modules, o->fd, &want, on_module, o, &o->get, &err);
    if (r == E_LIMIT || (r == -EMFILE && o->os->n_getting)) { /* until one of them has ended */
        if (is_file)
            drop_fd(o); /* thousands may be waiting */
        list_push_back(&o->os->waiting, &o->wait);
        return;
    }
    drop_fd(o);
    if (r >= 0)
        o->os->n_getting++;
    else
        refuse(o, r == -ENOENT ? "ModuleNotFound" : "ModuleInvalid", &err);
}

/*
 * A version of the module: the one that begin() has opened, one that had to be fetched first, or a
 * later one.
 */
static void on_source_module(void *arg, int fd)
{
    struct operator* o = arg;
    drop_fd(o);
    o->fd = fd;
    if (!o->get && !list_is_linked(&o->wait))
        get_module(o);
}

static void on_source_trouble(void *arg, const char *reason, const struct err *err)
{
    struct operator* o = arg;
    refuse(o, reason, err);
}

static const struct module_source_ops source_ops = { .on_module = on_source_module,
                                                     .on_trouble = on_source_trouble };

static void pause_operator(struct operator* o)
{
    if (o->v1)
        dispatch_hold(v1_dispatch(o->v1), DISPATCH_HOLD_PAUSED);
    end_instance(o);
    forget_refusal(o);
    changed(o, OPERATOR_PAUSED, "Paused", NULL);
}

/* Begin to apply the current spec. */
static void begin(struct operator* o)
{
    struct err err = { 0 };
    assert(!o->get && !o->removed);
    list_remove(&o->wait); /* it waited with the module of an earlier start */
    module_unref(take_ptr(&o->module));
    module_source_close(take_ptr(&o->source));
    drop_fd(o);
    if (o->spec->paused) {
        pause_operator(o);
        return;
    }
    if (!o->run.guest)
        changed(o, OPERATOR_PREPARING, "Compiling", NULL);
    struct module_origin origin = operator_plan_origin(o->spec);
    int fd = module_source_open(o->os->opts.sources, &origin, &source_ops, o, &o->source, &err);
    if (fd >= 0)
        on_source_module(o, fd);
    else if (fd == -EMFILE && o->os->n_getting)
        list_push_back(&o->os->waiting, &o->wait);
    else if (fd != -EAGAIN)
        refuse(o, "ModuleNotFound", &err);
    else if (!o->run.guest)
        changed(o, OPERATOR_PREPARING, "Fetching", NULL);
}

static void finish_close(struct operators *os)
{
    void (*closed)(void *) = os->closed;
    void *arg = os->closed_arg;
    assert(os->map.n == 0 && !timer_is_armed(&os->disk));
    assert(list_is_empty(&os->changes) && list_is_empty(&os->waiting) && list_is_empty(&os->ready));
    map_fini(&os->map);
    free(os);
    if (closed)
        closed(arg);
}

static void on_work(struct defer *d)
{
    struct operators *os = container_of(d, struct operators, work);
    struct list round;
    list_move_all(&os->waiting, &round);
    struct list *node;
    while ((node = list_pop_front(&round)))
        get_module(list_entry(node, struct operator, wait));
    list_move_all(&os->changes, &round);
    while ((node = list_pop_front(&round))) {
        struct operator* o = list_entry(node, struct operator, change);
        if (os->opts.on_change && !os->closing)
            os->opts.on_change(o, os->opts.arg);
    }
    list_move_all(&os->ready, &round);
    while ((node = list_pop_front(&round))) {
        struct operator* o = list_entry(node, struct operator, ready);
        if (o->module)
            take_over_when_idle(o);
        else if (o->must_return && o->good && !os->standby)
            return_to_good(o);
    }
    if (os->closing && os->n_getting == 0)
        finish_close(os);
}

/* ---------------------------------------------------------------- public */

int operator_spec_check(const struct operator_spec *spec, struct err *err)
{
    size_t bytes = 0;
    if (strlen(spec->namespace) + strlen(spec->name) + 2 > KEY_MAX_BYTES)
        return err_set(err, E_LIMIT, "operator name is longer than %d bytes", KEY_MAX_BYTES - 2);
    if (spec->n_env > OPERATOR_ENV_MAX)
        return err_set(err, E_LIMIT, "more than %d environment variables", OPERATOR_ENV_MAX);
    if (spec->n_args > OPERATOR_ARGS_MAX)
        return err_set(err, E_LIMIT, "more than %d arguments", OPERATOR_ARGS_MAX);
    for (size_t i = 0; i < spec->n_env; i++) {
        bytes += spec->env[i].name.n + spec->env[i].value.n;
        if (spec->env[i].name.n == 0 || str_find_char(spec->env[i].name, '=') >= 0)
            return err_set(err, E_INVALID, "'" STR_FMT "' is no name of an environment variable",
                           STR_ARG(spec->env[i].name));
    }
    for (size_t i = 0; i < spec->n_args; i++)
        bytes += spec->args[i].n;
    if (bytes > OPERATOR_ENV_MAX_BYTES)
        return err_set(err, E_LIMIT, "environment and arguments are larger than %d bytes",
                       OPERATOR_ENV_MAX_BYTES);
    return 0;
}

static struct str make_key(char buf[KEY_MAX_BYTES], const char *namespace, const char *name)
{
    int n = snprintf(buf, KEY_MAX_BYTES, "%s%c%s", namespace, 0, name);
    return str_n(buf, MIN((size_t)n, (size_t)KEY_MAX_BYTES - 1));
}

int operators_new(const struct operators_opts *opts, struct operators **ret, struct err *err)
{
    struct operators *os = xnew(struct operators);
    os->opts = *opts;
    os->standby = opts->standby;
    list_init(&os->changes);
    list_init(&os->waiting);
    list_init(&os->ready);
    os->map.borrows_keys = true;
    *ret = os;
    return 0;
}

static void remove_operator(struct operator* o)
{
    o->removed = true;
    list_remove(&o->wait);
    list_remove(&o->change);
    list_remove(&o->ready);
    end_instance(o);
    v1_free(take_ptr(&o->v1));
    module_source_close(take_ptr(&o->source));
    drop_fd(o);
    if (o->get)
        module_get_cancel(o->get); /* on_module() frees it */
    else
        free_operator(o);
}

void operators_close(struct operators *os, void (*done)(void *arg), void *arg)
{
    os->closing = true;
    os->closed = done;
    os->closed_arg = arg;
    timer_stop(os->opts.loop, &os->disk);
    map_each (e, &os->map)
        remove_operator(e->value);
    map_fini(&os->map);
    schedule(os);
}

/* End its guest at once; what is needed to start it again is kept. */
static void stand_by(struct operator* o)
{
    if (o->v1)
        dispatch_hold(v1_dispatch(o->v1), DISPATCH_HOLD_LEADER);
    if (!o->run.guest)
        return;
    if (!o->module && o->run.plan == o->spec)
        o->module = module_ref(o->run.module);
    end_instance(o);
    forget_refusal(o);
    changed(o, OPERATOR_PREPARING, "Standby", "another host leads");
}

void operators_set_standby(struct operators *os, bool standby)
{
    if (os->standby == standby)
        return;
    os->standby = standby;
    map_each (e, &os->map) {
        struct operator* o = e->value;
        if (standby)
            stand_by(o);
        else if (o->module)
            look_again(o);
        else if (!o->get && !o->run.guest && !o->spec->paused && o->phase != OPERATOR_REFUSED)
            begin(o); /* after a return, when the newest module is not at hand */
        else
            notify(o);
    }
}

void operators_hold(struct operators *os)
{
    map_each (e, &os->map) {
        struct operator* o = e->value;
        if (o->v1)
            dispatch_hold(v1_dispatch(o->v1), DISPATCH_HOLD_STOP);
    }
}

int operators_apply(struct operators *os, struct operator_spec *spec, struct err *err)
{
    char buf[KEY_MAX_BYTES];
    int r = operator_spec_check(spec, err);
    if (r < 0)
        return err_ctx(err, r, "operator '%s/%s'", spec->namespace, spec->name);
    struct str key = make_key(buf, spec->namespace, spec->name);
    struct operator* o = map_get(&os->map, key);
    if (!o && os->map.n == OPERATORS_MAX)
        return err_set(err, E_LIMIT, "more than %d operators", OPERATORS_MAX);
    if (!o) {
        o = slab_alloc(sizeof *o + key.n + 1);
        memcpy(o->text, key.p, key.n);
        o->name_at = (uint16_t)(strlen(o->text) + 1);
        o->os = os;
        o->reason = "Pending";
        o->fd = -1;
        (void)map_put(&os->map, str_n(o->text, key.n), o);
    }
    operator_plan_unref(o->spec);
    o->spec = operator_plan_new(spec);
    free(take_ptr(&o->limit));
    o->must_return = false;
    free(take_ptr(&o->returned));
    forget_refusal(o);
    if (o->get) {
        o->restart = true;
        module_get_cancel(o->get); /* its callback applies the new spec */
    } else {
        begin(o);
    }
    return 0;
}

void operators_remove(struct operators *os, const char *namespace, const char *name)
{
    char buf[KEY_MAX_BYTES];
    struct operator* o = map_del(&os->map, make_key(buf, namespace, name));
    if (!o)
        return;
    log_info("operator removed", "operator=%s/%s", namespace, name);
    guest_log_remove(os->opts.logs, namespace, name);
    remove_operator(o);
}

struct operator* operators_find(const struct operators *os, const char *namespace, const char *name)
{
    char buf[KEY_MAX_BYTES];
    return map_get(&os->map, make_key(buf, namespace, name));
}

size_t operators_count(const struct operators *os)
{
    return os->map.n;
}

void operators_each(struct operators *os, void (*fn)(struct operator* o, void *arg), void *arg)
{
    map_each (e, &os->map)
        fn(e->value, arg);
}

void operator_view(const struct operator* o, struct operator_view *ret)
{
    const struct operator_instance *run = &o->run;
    *ret = (struct operator_view){ .namespace = namespace_of(o),
                                   .name = name_of(o),
                                   .uid = operator_plan_text(o->spec, PLAN_UID),
                                   .generation = o->spec->generation,
                                   .running_generation = run->guest ? run->plan->generation : 0,
                                   .phase = o->phase,
                                   .reason = o->reason,
                                   .message = o->message ? o->message : "",
                                   .user = o->identity ? identity_user(o->identity) : NULL,
                                   .trouble = identity_trouble(o->identity),
                                   .denied = run->client ? operator_client_denied(run->client) : "",
                                   .limit = o->limit ? *o->limit : (struct operator_limit){ 0 },
                                   .kept_awake = o->kept_awake,
                                   .returned = o->returned,
                                   .refused_reason = o->refusal ? o->refusal->reason : NULL,
                                   .refused_message = o->refusal ? o->refusal->message : NULL,
                                   .module = run->guest ? run->module : NULL,
                                   .guest = run->guest,
                                   .calls = run->calls,
                                   .client = run->client,
                                   .v1 = o->v1 };
}

struct v1_trace *operator_trace(struct operator* o)
{
    return o->v1 ? v1_trace(o->v1) : NULL;
}

const char *operator_phase_name(enum operator_phase phase)
{
    static const char *const names[] = { "Preparing", "Running", "Paused", "Refused" };
    return names[phase];
}
