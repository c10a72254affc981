/* SPDX-License-Identifier: Apache-2.0 */
/* Operators: specs made into running guests; see operator.h. */
#include "operator/operator.h"

#include "base/log.h"
#include "base/map.h"
#include "base/sys.h"
#include "operator/guest_log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { KEY_MAX_BYTES = 600 };

/* What a spec asks for, kept until its guest stands. */
struct plan {
    uint64_t generation;
    char *uid, *module_path;
    int abi;
    struct guest_env *env;
    size_t n_env;
    struct str *args;
    size_t n_args;
    uint64_t memory_max_bytes, swap_max_bytes, activation_ms, idle_ms, cpu_share;
    uint64_t requests_per_second, request_burst;
    const char *account, *account_namespace; /* NULL: the host's own identity */
    bool create_account;
    struct allow *allow;
    bool paused;
    struct arena arena; /* the strings of env, args and account */
};

/* A guest and what belongs to it. */
struct instance {
    struct guest *guest;
    struct gate *gate;
    struct calls *calls; /* G1, G2 */
    struct allow *allow;
    uint64_t generation, memory_max_bytes, activation_ms, requests_per_second;
};

struct operator
{
    struct operators *os;
    char *namespace, *name, *uid;
    uint64_t generation;
    struct plan *plan; /* newer than what runs; NULL: nothing to do */
    struct module
        *module; /* of the plan, compiled; the swap waits for the old guest's activation to end */
    struct module_get *get;    /* compiling */
    struct instance run;       /* guest NULL: none */
    struct v1 *v1;             /* since a guest of ABI v1 ran first, until another ABI's does */
    struct identity *identity; /* of run; NULL: the host's own */
    struct identity_listener trouble;
    struct operator_limit limit;
    enum operator_phase phase;
    const char *reason;
    char *message;
    struct list change; /* on os->changes */
    struct list wait;   /* on os->waiting: the cache took no more at once */
    struct list ready;  /* on os->ready: the replacement may take over */
    bool removed;
    bool replan; /* a newer plan came while the module of the old one was compiling */
};

struct operators {
    struct operators_opts opts;
    struct map map; /* "namespace/name" */
    struct list changes, waiting, ready;
    struct defer work;
    size_t n_getting; /* module_get() calls whose callback has not come */
    bool closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

static void begin(struct operator* o);
static void on_work(struct defer *d);

/* ---------------------------------------------------------------- plans */

static void free_plan(struct plan *p)
{
    if (!p)
        return;
    allow_free(p->allow);
    free(p->uid);
    free(p->module_path);
    arena_fini(&p->arena);
    free(p);
}

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

static struct plan *make_plan(struct operator_spec *spec)
{
    struct plan *p = xnew(struct plan);
    p->generation = spec->generation;
    p->uid = xstrdup(spec->uid ? spec->uid : "");
    p->module_path = xstrdup(spec->module_path);
    p->abi = (int)spec->abi;
    p->memory_max_bytes = spec->memory_max_bytes;
    p->activation_ms = spec->activation_ms;
    p->idle_ms = spec->idle_ms;
    p->swap_max_bytes = spec->swap_max_bytes;
    p->cpu_share = spec->cpu_share;
    p->requests_per_second = spec->requests_per_second;
    p->request_burst = spec->request_burst ? spec->request_burst : 2 * spec->requests_per_second;
    p->create_account = spec->create_account;
    if (spec->account)
        p->account = arena_printf(&p->arena, "%s", spec->account);
    p->account_namespace = arena_printf(
        &p->arena, "%s", spec->account_namespace ? spec->account_namespace : spec->namespace);
    p->paused = spec->paused;
    p->allow = take_ptr(&spec->allow);
    p->n_env = spec->n_env;
    p->env = arena_new_n(&p->arena, struct guest_env, spec->n_env);
    for (size_t i = 0; i < spec->n_env; i++)
        p->env[i] = (struct guest_env){ str_copy_arena(&p->arena, spec->env[i].name),
                                        str_copy_arena(&p->arena, spec->env[i].value) };
    p->n_args = spec->n_args;
    p->args = arena_new_n(&p->arena, struct str, spec->n_args);
    for (size_t i = 0; i < spec->n_args; i++)
        p->args[i] = str_copy_arena(&p->arena, spec->args[i]);
    return p;
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

static void changed(struct operator* o, enum operator_phase phase, const char *reason,
                    const char *message)
{
    o->phase = phase;
    o->reason = reason;
    free(o->message);
    o->message = message && message[0] ? xstrdup(message) : NULL;
    notify(o);
}

static void refuse(struct operator* o, const char *reason, const struct err *err)
{
    log_warn("operator refused", "operator=%s/%s reason=%s message=\"%s\"", o->namespace, o->name,
             reason, err_text(err));
    free_plan(take_ptr(&o->plan));
    module_unref(take_ptr(&o->module));
    changed(o, OPERATOR_REFUSED, reason, err_text(err));
}

/* ---------------------------------------------------------------- guests */

static void end_instance(struct operator* o)
{
    struct instance *run = &o->run;
    if (!run->guest)
        return;
    identity_unlisten(&o->trouble);
    if (run->calls)
        calls_free(run->calls);
    else
        v1_detach(o->v1);
    gate_free(run->gate);
    identity_unref(take_ptr(&o->identity));
    guest_free(run->guest);
    allow_free(run->allow);
    *run = (struct instance){ 0 };
}

/* ---------------------------------------------------------------- limits */

/* One more time; the status tells it, and an Event when it is another limit than the last. */
__attribute__((format(printf, 3, 4))) static void limit_hit(struct operator* o, const char *name,
                                                            const char *fmt, ...)
{
    va_list ap;
    bool first = !o->limit.name || strcmp(o->limit.name, name) != 0;
    if (first)
        o->limit = (struct operator_limit){ .name = name };
    va_start(ap, fmt);
    (void)vsnprintf(o->limit.message, sizeof o->limit.message, fmt, ap);
    va_end(ap);
    uint64_t now = loop_now_ms(o->os->opts.loop);
    bool again = first || now - o->limit.at_ms > OPERATOR_LIMIT_REST_MS;
    o->limit.count++;
    o->limit.at_ms = now;
    if (again)
        notify(o);
}

static void on_limited(void *arg)
{
    struct operator* o = arg;
    limit_hit(o, "requestsPerSecond", "requests are refused beyond %" PRIu64 " a second",
              o->run.requests_per_second);
}

/* Was it a limit of its own that the guest failed by? */
static void blame_limit(struct operator* o, const struct err *why)
{
    enum { NEARLY = 1 << 20 }; /* what allocators ask for at once */
    struct guest_stats stats;
    uint64_t max = o->run.memory_max_bytes ? o->run.memory_max_bytes : GUEST_MEMORY_MAX_DEFAULT;
    guest_get_stats(o->run.guest, &stats);
    if (why && strstr(err_text(why), "longer than an activation may"))
        limit_hit(
            o, "activationMilliseconds", "an activation computed for more than %" PRIu64 " ms",
            o->run.activation_ms ? o->run.activation_ms : (uint64_t)GUEST_ACTIVATION_MS_DEFAULT);
    else if (stats.memory_bytes + NEARLY > max)
        limit_hit(o, "memory", "it failed with %" PRIu64 " of %" PRIu64 " KiB of memory in use",
                  stats.memory_bytes >> 10, max >> 10);
}

static void on_trouble(struct identity_listener *l)
{
    notify(container_of(l, struct operator, trouble));
}

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
 * While a replacement is refused, that is what the status tells: the old generation goes on with
 * its failures and recoveries, of which only the number of restarts shows.
 */
static void on_state(struct guest *g, enum guest_state state, const struct err *why, void *arg)
{
    struct operator* o = arg;
    if (o->run.calls && (state == GUEST_FAILED || state == GUEST_COLD))
        calls_reset(o->run.calls);
    if (state == GUEST_FAILED) {
        blame_limit(o, why);
        log_warn("operator failed", "operator=%s/%s reason=\"%s\"", o->namespace, o->name,
                 why ? err_text(why) : "unknown");
        guest_log_add(
            o->os->opts.logs, o->namespace, o->name,
            &(struct guest_log_line){
                .level = LOG_ERROR, .message = str_of(why ? err_text(why) : "the guest failed") });
        if (o->phase == OPERATOR_REFUSED)
            notify(o);
        else
            changed(o, OPERATOR_RUNNING, "GuestFailed", why ? err_text(why) : "unknown");
    } else if ((state == GUEST_AWAKE || state == GUEST_ASLEEP) && is_reason(o, "GuestFailed")) {
        changed(o, OPERATOR_RUNNING, "Running", NULL); /* it survived an activation */
    }
    if (o->module && state != GUEST_RUNNING && !list_is_linked(&o->ready)) {
        list_push_back(&o->os->ready, &o->ready);
        schedule(o->os);
    }
}

static void on_log(struct guest *g, int fd, struct str line, void *arg)
{
    struct operator* o = arg;
    char text[LOG_QUOTE_MAX];
    log_info("guest", "operator=%s/%s line=\"%s\"", o->namespace, o->name, log_quote(text, line));
    guest_log_add(o->os->opts.logs, o->namespace, o->name,
                  &(struct guest_log_line){ .level = LOG_INFO, .message = line });
}

static const struct guest_ops guest_ops = {
    .on_op = on_op, .on_room = on_room, .on_state = on_state, .on_log = on_log
};

static void on_v1_change(void *arg)
{
    notify(arg);
}

static const struct v1_ops v1_ops = { .on_state = on_state,
                                      .on_log = on_log,
                                      .on_change = on_v1_change };

/* By what the module exports; each ABI has its own wake-up functions. */
static int detect_abi(const struct module_info *info, int wanted, enum guest_abi *ret,
                      struct err *err)
{
    if (module_info_export(info, "dormouse_v1_activate") &&
        (wanted == OPERATOR_ABI_AUTO || wanted == OPERATOR_ABI_V1)) {
        *ret = GUEST_ABI_V1;
        return 0;
    }
    bool g2 =
        module_info_has_func(info, "wakeup", "Iiii:") && module_info_has_func(info, "_start", ":");
    bool g1 = module_info_has_func(info, "wakeup_future", "Iii:") &&
              module_info_has_func(info, "wakeup_stream", "Iii:") &&
              module_info_has_func(info, "run", ":");
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

static struct identity *plan_identity(struct operator* o, const struct plan *p)
{
    struct identity_spec spec = { .namespace = p->account_namespace,
                                  .account = p->account,
                                  .create = p->create_account,
                                  .owner = o->name,
                                  .owner_uid = p->uid };
    return p->account ? identity_of(o->os->opts.identities, &spec) : NULL;
}

/* What outlives guests of ABI v1. */
static struct v1 *make_v1(struct operator* o)
{
    struct v1_opts opts = {
        .host = o->os->opts.v1, .namespace = o->namespace, .name = o->name, .ops = &v1_ops, .arg = o
    };
    return v1_new(&opts);
}

/* The service half of a new guest; that of the last one has ended. */
static void attach(struct operator* o, enum guest_abi abi, struct instance *run,
                   struct identity *identity, uint64_t cpu_share)
{
    struct v1_rights rights = { .transport = gate_transport(run->gate),
                                .identity = identity,
                                .allow = run->allow,
                                .weight = (unsigned)cpu_share };
    if (abi == GUEST_ABI_V1) {
        v1_attach(o->v1, run->guest, &rights);
        return;
    }
    v1_free(take_ptr(&o->v1));
    run->calls = calls_new(o->os->opts.env, abi, run->gate, run->allow);
    calls_set_guest(run->calls, run->guest);
}

/* The plan's module is compiled and nothing runs an activation: the new generation takes over. */
static void take_over(struct operator* o)
{
    struct plan *p = o->plan;
    struct err err = { 0 };
    enum guest_abi abi = GUEST_ABI_G2;
    if (detect_abi(o->module->info, p->abi, &abi, &err) < 0) {
        refuse(o, "ModuleUnsupported", &err);
        return;
    }
    bool is_v1 = abi == GUEST_ABI_V1;
    if (is_v1 && !o->v1)
        o->v1 = make_v1(o);
    struct instance run = { .generation = p->generation,
                            .memory_max_bytes = p->memory_max_bytes,
                            .activation_ms = p->activation_ms,
                            .requests_per_second = p->requests_per_second,
                            .allow = take_ptr(&p->allow) };
    struct guest_spec spec = { .namespace = o->namespace,
                               .name = o->name,
                               .uid = p->uid,
                               .generation = p->generation,
                               .abi = abi,
                               .module = o->module,
                               .env = p->env,
                               .n_env = p->n_env,
                               .args = p->args,
                               .n_args = p->n_args,
                               .memory_max_bytes = p->memory_max_bytes,
                               .activation_ms = p->activation_ms,
                               .idle_ms = p->idle_ms };
    if (guest_new(o->os->opts.guests, &spec, is_v1 ? v1_guest_ops() : &guest_ops,
                  is_v1 ? v1_guest_arg(o->v1) : o, &run.guest, &err) < 0) {
        allow_free(run.allow);
        refuse(o, "GuestRefused", &err); /* the old generation goes on */
        return;
    }
    struct identity *identity = plan_identity(o, p);
    struct gate_opts gate = { .loop = o->os->opts.loop,
                              .transport = o->os->opts.env->transport,
                              .identity = identity,
                              .per_second = (uint32_t)p->requests_per_second,
                              .burst = (uint32_t)p->request_burst,
                              .on_limited = on_limited,
                              .arg = o };
    run.gate = gate_new(&gate);
    end_instance(o);
    attach(o, abi, &run, identity, p->cpu_share);
    o->run = run;
    o->identity = identity;
    if (identity) {
        o->trouble.run = on_trouble;
        identity_listen(identity, &o->trouble);
        identity_prepare(identity);
    }
    if (guest_start(run.guest, &err) < 0) {
        end_instance(o);
        refuse(o, "GuestRefused", &err);
        return;
    }
    module_unref(take_ptr(&o->module));
    free_plan(take_ptr(&o->plan));
    log_info("operator started", "operator=%s/%s generation=%llu abi=%s", o->namespace, o->name,
             (unsigned long long)run.generation, abi_name(abi));
    changed(o, OPERATOR_RUNNING, "Running", NULL);
}

/* ---------------------------------------------------------------- modules */

static void free_operator(struct operator* o)
{
    list_remove(&o->change);
    list_remove(&o->wait);
    list_remove(&o->ready);
    end_instance(o);
    v1_free(o->v1);
    free_plan(o->plan);
    module_unref(o->module);
    free(o->message);
    free(o->namespace);
    free(o->name);
    free(o->uid);
    free(o);
}

static void on_module(struct module *m, int r, const struct err *err, void *arg)
{
    struct operator* o = arg;
    struct operators *os = o->os;
    o->get = NULL;
    os->n_getting--;
    schedule(os); /* room for one that waits, or the end of closing */
    if (o->removed) {
        module_unref(m);
        free_operator(o);
        return;
    }
    if (o->replan) {
        o->replan = false;
        module_unref(m);
        begin(o);
        return;
    }
    if (r < 0) {
        refuse(o, r == -ENOENT ? "CompilerMissing" : "ModuleInvalid", err);
        return;
    }
    o->module = m;
    if (!o->run.guest || guest_state(o->run.guest) != GUEST_RUNNING)
        take_over(o);
}

/* Fetch the plan's module. */
static void begin(struct operator* o)
{
    struct err err = { 0 };
    module_unref(take_ptr(&o->module));
    if (o->plan->paused) {
        end_instance(o);
        free_plan(take_ptr(&o->plan));
        changed(o, OPERATOR_PAUSED, "Paused", NULL);
        return;
    }
    if (!o->run.guest)
        changed(o, OPERATOR_PREPARING, "Compiling", NULL);
    scoped(fd_scoped) int fd = sys_openat(AT_FDCWD, o->plan->module_path, O_RDONLY, 0);
    if (fd < 0) {
        int code = take_fd(&fd);
        (void)err_sys(&err, code, "open module '%s'", o->plan->module_path);
        refuse(o, "ModuleNotFound", &err);
        return;
    }
    int r = module_get(o->os->opts.modules, fd, 0, on_module, o, &o->get, &err);
    if (r >= 0)
        o->os->n_getting++;
    else if (r == E_LIMIT || (r == -EMFILE && o->os->n_getting)) /* until one of them ends */
        list_push_back(&o->os->waiting, &o->wait);
    else
        refuse(o, "ModuleInvalid", &err);
}

static void finish_close(struct operators *os)
{
    void (*closed)(void *) = os->closed;
    void *arg = os->closed_arg;
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
        begin(list_entry(node, struct operator, wait));
    list_move_all(&os->changes, &round);
    while ((node = list_pop_front(&round))) {
        struct operator* o = list_entry(node, struct operator, change);
        if (os->opts.on_change && !os->closing)
            os->opts.on_change(o, os->opts.arg);
    }
    list_move_all(&os->ready, &round);
    while ((node = list_pop_front(&round))) {
        struct operator* o = list_entry(node, struct operator, ready);
        if (o->module && (!o->run.guest || guest_state(o->run.guest) != GUEST_RUNNING))
            take_over(o);
    }
    if (os->closing && os->n_getting == 0)
        finish_close(os);
}

/* ---------------------------------------------------------------- public */

static struct str make_key(char buf[KEY_MAX_BYTES], const char *namespace, const char *name)
{
    int n = snprintf(buf, KEY_MAX_BYTES, "%s/%s", namespace, name);
    return str_n(buf, MIN((size_t)n, (size_t)KEY_MAX_BYTES - 1));
}

int operators_new(const struct operators_opts *opts, struct operators **ret, struct err *err)
{
    struct operators *os = xnew(struct operators);
    os->opts = *opts;
    list_init(&os->changes);
    list_init(&os->waiting);
    list_init(&os->ready);
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
    if (o->get)
        module_get_cancel(o->get); /* on_module() frees */
    else
        free_operator(o);
}

void operators_close(struct operators *os, void (*done)(void *arg), void *arg)
{
    os->closing = true;
    os->closed = done;
    os->closed_arg = arg;
    map_each (e, &os->map)
        remove_operator(e->value);
    map_fini(&os->map);
    schedule(os);
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
        o = xnew(struct operator);
        o->os = os;
        o->namespace = xstrdup(spec->namespace);
        o->name = xstrdup(spec->name);
        o->reason = "Pending";
        (void)map_put(&os->map, key, o);
    }
    free(o->uid);
    o->uid = xstrdup(spec->uid ? spec->uid : "");
    o->generation = spec->generation;
    free_plan(o->plan);
    o->plan = make_plan(spec);
    if (o->get) {
        o->replan = true;
        module_get_cancel(o->get); /* its callback begins the new plan */
    } else if (!list_is_linked(&o->wait)) {
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
    *ret = (struct operator_view){ .namespace = o->namespace,
                                   .name = o->name,
                                   .uid = o->uid,
                                   .generation = o->generation,
                                   .running_generation = o->run.guest ? o->run.generation : 0,
                                   .phase = o->phase,
                                   .reason = o->reason,
                                   .message = o->message ? o->message : "",
                                   .user = o->identity ? identity_user(o->identity) : NULL,
                                   .trouble = identity_trouble(o->identity),
                                   .limit = o->limit,
                                   .guest = o->run.guest,
                                   .calls = o->run.calls,
                                   .v1 = o->v1,
                                   .gate = o->run.gate };
}

struct trace *operator_trace(struct operator* o)
{
    return o->v1 ? v1_trace(o->v1) : NULL;
}

const char *operator_phase_name(enum operator_phase phase)
{
    static const char *const names[] = { "Preparing", "Running", "Paused", "Refused" };
    return names[phase];
}
