/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver itself: sleeping and waking, the Lease, shutdown; see driver.h. Start reading at
 * sched_driver_start(), at the end.
 */
#include "sched/driver/driver_impl.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "client/leader.h"
#include "client/reflector.h"

#include <errno.h>

#define PODS_WITHOUT_NODE "spec.nodeName="

#define ANY_END (EDGE(DRIVER_FAILED) | EDGE(DRIVER_STOPPING))
static const struct sm_state states[] = {
    [DRIVER_ASLEEP] = { "asleep",
                        EDGE(DRIVER_LOADING) | EDGE(DRIVER_STARTING) | EDGE(DRIVER_STOPPING) },
    [DRIVER_LOADING] = { "loading", EDGE(DRIVER_STARTING) | ANY_END },
    [DRIVER_STARTING] = { "starting", EDGE(DRIVER_LISTING) | ANY_END },
    [DRIVER_LISTING] = { "listing", EDGE(DRIVER_SYNCED) | EDGE(DRIVER_STOPPING) },
    [DRIVER_SYNCED] = { "synced", EDGE(DRIVER_STOPPING) },
    [DRIVER_FAILED] = { "failed", EDGE(DRIVER_STOPPING) },
    [DRIVER_STOPPING] = { "stopping", EDGE(DRIVER_DRAINING) },
    [DRIVER_DRAINING] = { "draining", EDGE(DRIVER_ENDED) },
    [DRIVER_ENDED] = { "ended", 0 },
};

void driver_assert_loop(const struct sched_driver *d)
{
    uv_thread_t self = uv_thread_self();
    assert(uv_thread_equal(&self, &d->loop_thread));
}

static void move(struct sched_driver *d, enum driver_state to)
{
    driver_assert_loop(d);
    sm_move(&d->sm, to);
}

static void report_ready(struct sched_driver *d)
{
    if (d->is_ready || driver_is_stopping(d))
        return;
    d->is_ready = true;
    if (d->opts.on_ready)
        d->opts.on_ready(d->opts.arg);
}

void driver_has_all(struct sched_driver *d)
{
    move(d, DRIVER_SYNCED);
    driver_send(d, driver_message(MESSAGE_SYNCED, STR("")));
    log_info("scheduler knows the cluster", "");
    report_ready(d);
}

/* ---------------------------------------------------------------- leading */

static void on_leads(void *arg, bool leads)
{
    struct sched_driver *d = arg;
    struct driver_message *m = driver_message(MESSAGE_LEAD, STR(""));
    m->flag = leads;
    driver_send(d, m);
    log_info(leads ? "scheduler leads" : "scheduler does not lead any more", "");
    if (d->opts.on_leads)
        d->opts.on_leads(d->opts.arg, leads);
}

static void start_leader(struct sched_driver *d)
{
    const struct sched_config *c = d->opts.config;
    if (!c->leader.on)
        return;
    struct driver_message *m =
        driver_message(MESSAGE_LEAD, STR("")); /* does not lead before on_leads() */
    driver_send(d, m);
    scoped(free_scoped) char *name = str_dup(c->leader.name);
    scoped(free_scoped) char *namespace = str_dup(c->leader.namespace);
    struct leader_opts opts = { .loop = d->loop,
                                .transport = d->opts.transport,
                                .namespace = namespace,
                                .name = name,
                                .identity = d->id,
                                .lease_ms = c->leader.lease_ms,
                                .deadline_ms = c->leader.deadline_ms,
                                .retry_ms = c->leader.retry_ms,
                                .on_change = on_leads,
                                .arg = d };
    d->leader = leader_start(&opts);
}

/* ---------------------------------------------------------------- asleep and awake */

static void fail(struct sched_driver *d, const struct err *err)
{
    move(d, DRIVER_FAILED);
    log_error("scheduler cannot start", "%s", err_text(err));
    driver_stop_feeds(d);
    if (d->opts.on_failed)
        d->opts.on_failed(d->opts.arg, err);
}

static bool is_native(struct str name)
{
    return sched_native_plugin(name) != NULL;
}

static bool has_foreign(const struct sched_driver *d, const struct sched_config *config)
{
    struct arena a = { 0 };
    const struct wplugin_entry *entries;
    size_t n =
        d->plugin_host && config->tree ? wplugin_find(&a, config->tree, is_native, &entries) : 0;
    arena_fini(&a);
    return n > 0;
}

static void begin_thread(struct sched_driver *d)
{
    struct err err = { 0 };
    move(d, DRIVER_STARTING);
    if (driver_thread_start(d, &err) < 0)
        fail(d, &err);
}

static void on_loaded(struct wplugins *w, const struct err *err, void *arg)
{
    struct sched_driver *d = arg;
    assert(d->n_loading > 0 && !d->plugins);
    d->n_loading--;
    d->plugins = w;
    if (driver_is_stopping(d)) {
        driver_continue_stop(d);
    } else if (!w) {
        fail(d, err);
    } else {
        d->foreign = wplugins_foreign(w);
        if (d->opts.on_plugins)
            d->opts.on_plugins(d->opts.arg);
        begin_thread(d);
    }
}

static void wake_up(struct sched_driver *d)
{
    if (d->sm.at != DRIVER_ASLEEP)
        return;
    if (!d->opts.config)
        d->opts.config = d->config = d->opts.config_later(d->opts.arg);
    d->rate = (struct token_bucket){ 0 };
    reflector_close(take_ptr(&d->sleeper));
    if (!has_foreign(d, d->opts.config)) {
        begin_thread(d);
        return;
    }
    move(d, DRIVER_LOADING);
    d->n_loading++;
    wplugins_load(d->plugin_host, d->loop, d->opts.config, false, on_loaded, d);
}

/* c NULL: the defaults. */
static bool has_profile(const struct sched_config *c, struct str name)
{
    if (!c)
        return str_is(name, "default-scheduler");
    for (size_t i = 0; i < c->n_profiles; i++)
        if (str_eq(c->profiles[i].scheduler_name, name))
            return true;
    return false;
}

static bool is_ours(const struct sched_driver *d, const struct json *pod)
{
    return has_profile(d->opts.config, json_get_str(json_getc(pod, "spec"), "schedulerName"));
}

static void on_sleeper_object(void *arg, const struct json *pod)
{
    struct sched_driver *d = arg;
    if (is_ours(d, pod))
        wake_up(d);
}

static void on_sleeper_deleted(void *arg, struct str namespace, struct str name)
{
}

static void on_sleeper_synced(void *arg)
{
    report_ready(arg);
}

static const struct reflector_ops sleeper_ops = { .on_object = on_sleeper_object,
                                                  .on_deleted = on_sleeper_deleted,
                                                  .on_synced = on_sleeper_synced };

static int fall_asleep(struct sched_driver *d, struct err *err)
{
    struct reflector_opts opts = {
        .loop = d->loop,
        .transport = d->opts.transport,
        .hub = d->opts.hub,
        .identity = d->opts.identity,
        .key = { .group_version = STR("v1"),
                 .plural = STR("pods"),
                 .field_selector = STR(PODS_WITHOUT_NODE),
                 .identity = d->opts.identity },
        .ops = &sleeper_ops,
        .arg = d,
    };
    return reflector_start(&opts, &d->sleeper, err);
}

/* ---------------------------------------------------------------- messages from the thread */

/* Pods whose schedulerName was unknown were not kept: list them again. */
static void find_new_pods(struct sched_driver *d)
{
    struct reflector *pods = d->sm.at == DRIVER_ASLEEP ? d->sleeper : d->feeds[SCHED_POD].reflector;
    if (pods && !driver_is_stopping(d))
        reflector_relist(pods);
}

static void on_reloaded(struct sched_driver *d, struct reload *r)
{
    if (r->r >= 0) {
        bool is_wider = false;
        for (size_t i = 0; i < r->config->n_profiles; i++)
            is_wider |= !has_profile(d->opts.config, r->config->profiles[i].scheduler_name);
        wplugins_release(d->plugins);
        d->plugins = r->plugins;
        d->opts.config = r->config;
        if (d->sm.at == DRIVER_LISTING || d->sm.at == DRIVER_SYNCED)
            driver_start_feeds(d);
        if (r->rereads && !driver_is_stopping(d))
            driver_reread(d);
        else if (is_wider)
            find_new_pods(d);
    } else {
        wplugins_release(r->plugins);
    }
    if (r->done)
        r->done(r->arg, r->r, &r->err);
    free(r);
}

static void on_started(struct sched_driver *d, int r, const struct err *err)
{
    if (driver_is_stopping(d))
        return;
    if (r < 0) {
        fail(d, err);
        return;
    }
    move(d, DRIVER_LISTING);
    start_leader(d);
    driver_start_feeds(d);
}

void driver_on_post(struct post *p)
{
    struct sched_driver *d = container_of(p, struct sched_driver, post);
    struct list calls, questions, bound;
    driver_assert_loop(d);
    uv_mutex_lock(&d->lock);
    assert(d->posted);
    d->posted = false;
    struct outbox out = d->outbox;
    list_move_all(&d->outbox.calls, &calls);
    list_move_all(&d->outbox.questions, &questions);
    list_move_all(&d->outbox.bound, &bound);
    d->outbox.n_bound = 0;
    d->outbox.reload = NULL;
    d->outbox.started = d->outbox.has_ended = false;
    uv_mutex_unlock(&d->lock);
    if (out.started)
        on_started(d, out.start_r, &out.start_err);
    for (struct list *node = list_pop_front(&calls); node; node = list_pop_front(&calls)) {
        struct driver_call *c = list_entry(node, struct driver_call, node);
        if (c->is_image)
            driver_ask_image(d, c);
        else
            list_push_back(&d->waiting, node);
    }
    driver_start_calls(d);
    for (struct list *node = list_pop_front(&questions); node; node = list_pop_front(&questions)) {
        struct driver_question *q = list_entry(node, struct driver_question, node);
        q->done(q->arg, q->r, buf_str(&q->text), &q->err);
        driver_question_free(q);
    }
    for (struct list *node = list_pop_front(&bound); node; node = list_pop_front(&bound)) {
        struct bound_pod *b = list_entry(node, struct bound_pod, node);
        if (!driver_is_stopping(d))
            d->opts.on_bound(d->opts.arg, &b->b);
        free(b);
    }
    if (out.reload)
        on_reloaded(d, out.reload);
    if (out.drained && !driver_is_stopping(d))
        driver_relist_lost(d);
    if (out.has_ended) {
        assert(d->has_thread && d->sm.at >= DRIVER_FAILED);
        driver_thread_join(d);
    }
    driver_continue_stop(d);
}

/* ---------------------------------------------------------------- stopping */

static void free_driver(struct sched_driver *d)
{
    void (*stopped)(void *) = d->stopped;
    void *arg = d->stopped_arg;
    wplugin_host_free(d->plugin_host);
    driver_inbox_fini(&d->inbox);
    uv_mutex_destroy(&d->lock);
    turn_fini(&d->turn);
    uv_cond_destroy(&d->wake);
    buf_fini(&d->metrics);
    free(d->id);
    free(d);
    if (stopped)
        stopped(arg);
}

/* Posted after the posts of the release of the plugins. */
static void on_final(struct post *p)
{
    struct sched_driver *d = container_of(p, struct sched_driver, final);
    assert(d->sm.at == DRIVER_ENDED && !d->s && !d->posted && !d->plugins);
    assert(list_is_empty(&d->waiting) && list_is_empty(&d->running) && list_is_empty(&d->asking));
    assert(list_is_empty(&d->inbox.waiting) && list_is_empty(&d->ended));
    free_driver(d);
}

/* Frees the messages that the thread has not read. */
static void drop_inbox(struct sched_driver *d)
{
    struct err err = { 0 };
    assert(!d->has_thread);
    (void)err_set(&err, -ECANCELED, "the scheduler ends");
    for (struct list *node = list_pop_front(&d->inbox.waiting); node;
         node = list_pop_front(&d->inbox.waiting)) {
        struct driver_message *m = list_entry(node, struct driver_message, node);
        if (m->type == MESSAGE_ANSWER) {
            driver_answer(m->call);
        } else if (m->type == MESSAGE_EXPLAIN) {
            m->question->done(m->question->arg, -ECANCELED, STR(""), &err);
            driver_question_free(m->question);
        } else if (m->type == MESSAGE_RELOAD) {
            m->reload->r = -ECANCELED;
            m->reload->err = err;
            on_reloaded(d, m->reload);
        }
        free(m);
    }
}

static void on_leader_stopped(void *arg)
{
    struct sched_driver *d = arg;
    assert(d->leader_ends);
    d->leader_ends = false;
    driver_continue_stop(d);
}

/*
 * After the thread: ends the remaining requests, then the Lease, then plugins that are being
 * loaded.
 */
void driver_continue_stop(struct sched_driver *d)
{
    bool begins = d->sm.at == DRIVER_STOPPING && !d->has_thread;
    if (begins)
        move(d, DRIVER_DRAINING);
    if (d->sm.at != DRIVER_DRAINING)
        return;
    drop_inbox(d);
    if (begins) {
        driver_cancel_calls(d);
        driver_cancel_images(d);
    }
    if (d->leader) {
        d->leader_ends = true;
        leader_stop(take_ptr(&d->leader), on_leader_stopped, d);
    }
    if (d->n_running > 0 || d->n_asking > 0 || d->leader_ends || d->n_loading > 0 || d->posted)
        return;
    move(d, DRIVER_ENDED);
    defer_cancel(&d->deferred_stop);
    oci_lookup_close(take_ptr(&d->lookup));
    assert(!timer_is_armed(&d->refill) && !timer_is_armed(&d->absent));
    wplugins_release(take_ptr(&d->plugins));
    d->final.run = on_final;
    loop_post(d->loop, &d->final);
}

static void on_deferred_stop(struct defer *defer)
{
    driver_continue_stop(container_of(defer, struct sched_driver, deferred_stop));
}

void sched_driver_stop(struct sched_driver *d, void (*done)(void *arg), void *arg)
{
    move(d, DRIVER_STOPPING);
    d->stopped = done;
    d->stopped_arg = arg;
    driver_stop_feeds(d);
    timer_stop(d->loop, &d->refill);
    if (d->n_loading > 0) { /* a plugin may be starting */
        wplugin_host_interrupt(d->plugin_host);
        wplugin_host_end_loads(d->plugin_host);
    }
    if (d->has_thread) {
        driver_send(d, driver_message(MESSAGE_STOP, STR("")));
        return; /* the thread reports its end */
    }
    defer_start(d->loop, &d->deferred_stop, on_deferred_stop);
}

/* ---------------------------------------------------------------- queries */

void sched_driver_explain(struct sched_driver *d, struct str namespace, struct str name,
                          void (*done)(void *arg, int r, struct str text, const struct err *err),
                          void *arg)
{
    struct driver_question *q = xnew(struct driver_question);
    q->d = d;
    q->namespace = str_dup(namespace);
    q->name = str_dup(name);
    q->done = done;
    q->arg = arg;
    buf_init(&q->text, BUF_MAX_DEFAULT);
    if (d->sm.at >= DRIVER_LOADING && d->sm.at <= DRIVER_SYNCED) {
        struct driver_message *m = driver_message(MESSAGE_EXPLAIN, STR(""));
        m->question = q;
        driver_send(d, m);
        return;
    }
    q->r = err_set(&q->err, -EAGAIN, "the scheduler is asleep: no pod waits for a node");
    uv_mutex_lock(&d->lock);
    list_push_back(&d->outbox.questions, &q->node);
    driver_unlock_and_post(d);
}

void sched_driver_metrics(struct sched_driver *d, struct buf *out)
{
    if (d->sm.at == DRIVER_ASLEEP)
        return;
    if (turn_try(&d->turn)) {
        if (d->s)
            sched_metrics(d->s, out);
        turn_give(&d->turn);
        return;
    }
    uv_mutex_lock(&d->lock);
    d->wants_metrics = true;
    (void)buf_add_str(out, buf_str(&d->metrics));
    uv_mutex_unlock(&d->lock);
}

bool sched_driver_is_awake(const struct sched_driver *d)
{
    return d->sm.at != DRIVER_ASLEEP;
}

void sched_driver_stats(struct sched_driver *d, struct sched_stats *ret)
{
    uv_mutex_lock(&d->lock);
    *ret = d->stats;
    uv_mutex_unlock(&d->lock);
}

/* ---------------------------------------------------------------- plugins */

/* Can these profiles be created? Checks without a cluster and without foreign plugins. */
static int check_config(const struct sched_config *config, struct err *err)
{
    struct sched_api no_api = { NULL };
    struct sched_opts opts = { .config = config, .api = &no_api };
    struct sched *s;
    int r = sched_new(&opts, &s, err);
    if (r >= 0)
        sched_free(s);
    return r;
}

static void on_reload_loaded(struct wplugins *w, const struct err *err, void *arg)
{
    struct reload *r = arg;
    struct sched_driver *d = r->d;
    assert(d->n_loading > 0);
    d->n_loading--;
    r->plugins = w;
    if (!w || !d->has_thread || driver_is_stopping(d)) {
        r->r = w ? -ECANCELED : err->code;
        if (!w)
            r->err = *err;
        on_reloaded(d, r);
        driver_continue_stop(d);
        return;
    }
    struct driver_message *m = driver_message(MESSAGE_RELOAD, STR(""));
    m->reload = r;
    driver_send(d, m);
}

void sched_driver_reload(struct sched_driver *d, const struct sched_config *config,
                         void (*done)(void *arg, int r, const struct err *err), void *arg)
{
    struct reload *r = xnew(struct reload);
    *r = (struct reload){ .d = d, .config = config, .done = done, .arg = arg };
    if (has_foreign(d, config) && d->sm.at != DRIVER_ASLEEP) {
        d->n_loading++;
        wplugins_load(d->plugin_host, d->loop, config, false, on_reload_loaded, r);
        return;
    }
    if (d->has_thread) {
        struct driver_message *m = driver_message(MESSAGE_RELOAD, STR(""));
        m->reload = r;
        driver_send(d, m);
        return;
    }
    /* Asleep: it will start with the new one. */
    r->r = has_foreign(d, config) ? 0 : check_config(config, &r->err);
    if (r->r >= 0)
        d->config = config;
    uv_mutex_lock(&d->lock);
    d->outbox.reload = r;
    driver_unlock_and_post(d);
}

const struct wplugins *sched_driver_plugins(const struct sched_driver *d)
{
    return d->plugins;
}

/* ---------------------------------------------------------------- starting */

int sched_driver_start(const struct sched_driver_opts *opts, struct sched_driver **ret,
                       struct err *err)
{
    struct sched_driver *d = xnew(struct sched_driver);
    d->opts = *opts;
    d->loop = opts->loop;
    d->config = opts->config;
    d->loop_thread = uv_thread_self();
    sm_init(&d->sm, states, DRIVER_ASLEEP);
    d->id = xstrdup(opts->id ? opts->id : "dormouse");
    if (!d->opts.seed)
        d->opts.seed = sys_random_u64();
    if (!d->opts.inbox_max_bytes)
        d->opts.inbox_max_bytes = DRIVER_INBOX_MAX_BYTES;
    list_init(&d->waiting);
    list_init(&d->running);
    list_init(&d->asking);
    driver_inbox_init(&d->inbox, &d->lock);
    list_init(&d->outbox.calls);
    list_init(&d->outbox.questions);
    list_init(&d->outbox.bound);
    d->outbox.drained = true;
    if (uv_mutex_init(&d->lock) < 0 || uv_cond_init(&d->wake) < 0)
        abort();
    turn_init(&d->turn);
    list_init(&d->ended);
    if (opts->modules)
        d->plugin_host = wplugin_host_new(opts->loop, opts->modules, opts->references);
    /* Foreign plugins are loaded at once, so that their errors appear at the start. */
    assert(opts->config || (opts->config_later && !opts->eager));
    bool foreign = opts->config && has_foreign(d, opts->config);
    int r = foreign || !opts->config ? 0 : check_config(opts->config, err);
    if (r >= 0 && !foreign && !opts->eager)
        r = fall_asleep(d, err);
    if (r < 0) {
        free_driver(d);
        return r;
    }
    if (foreign || opts->eager)
        wake_up(d);
    *ret = d;
    return 0;
}
