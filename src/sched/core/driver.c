/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop's side of the driver: watches, requests, the Lease; see driver.h. Read from
 * sched_driver_start() at the end upwards.
 */
#include "sched/core/driver_impl.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/sys.h"
#include "kube/leader.h"
#include "kube/reflector.h"

#include <errno.h>

#define PODS_WITHOUT_NODE "spec.nodeName="
#define PODS_NOT_DONE     "status.phase!=Succeeded,status.phase!=Failed"

bool driver_keeps_json(const struct sched_config *config, const struct wplugins *plugins)
{
    return config->n_extenders > 0 || (plugins && wplugins_count(plugins) > 0);
}

/* ---------------------------------------------------------------- requests */

static void start_calls(struct sched_driver *d);
static void continue_stop(struct sched_driver *d);

/* To the thread, or, when it has ended, to the one who still waits there: it only frees. */
static void answer(struct call *c)
{
    struct sched_driver *d = c->d;
    if (d->joined) {
        c->done(c->arg, c->r, c->status, STR(""), &c->err);
        driver_call_free(c);
        return;
    }
    struct message *m = driver_message(MESSAGE_ANSWER, STR(""));
    m->call = c;
    driver_send(d, m);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct call *c = arg;
    c->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct call *c = arg;
    (void)buf_add_str(&c->answer, chunk);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct call *c = arg;
    struct sched_driver *d = c->d;
    c->running = NULL;
    c->r = r < 0 ? r : c->answer.failed;
    if (r < 0 && err)
        c->err = *err;
    else if (c->r < 0)
        (void)err_sys(&c->err, c->r, "the API's answer");
    list_remove(&c->node);
    d->n_running--;
    answer(c);
    if (d->stopping)
        continue_stop(d);
    else
        start_calls(d);
}

static const struct kube_call_ops call_ops = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

static void start_call(struct sched_driver *d, struct call *c)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "accept", "application/json");
    if (c->n_body > 0)
        (void)headers_addc(&h, "content-type", c->patch_type ? c->patch_type : "application/json");
    struct kube_request rq = { .identity = d->opts.identity,
                               .method = str_of(c->method),
                               .target = str_of(c->target),
                               .headers = &h,
                               .body = str_n(c->body, c->n_body) };
    int r = transport_start(d->opts.transport, &rq, &call_ops, c, &c->running, &c->err);
    headers_fini(&h);
    if (r < 0) {
        c->r = r;
        answer(c);
        return;
    }
    list_push_back(&d->running, &c->node);
    d->n_running++;
}

static void on_refill(struct timer *t)
{
    start_calls(container_of(t, struct sched_driver, refill));
}

/* clientConnection.qps and burst, where they were configured. */
static bool take_token(struct sched_driver *d)
{
    const struct sched_config *c = d->opts.config;
    if (!c->limits_requests || c->qps < 0)
        return true;
    uint64_t now = clock_mono_ms();
    d->tokens += (double)(now - d->tokens_ms) * c->qps / 1000;
    d->tokens = MIN(d->tokens, (double)MAX(c->burst, (int64_t)1));
    d->tokens_ms = now;
    if (d->tokens >= 1) {
        d->tokens -= 1;
        return true;
    }
    if (!timer_is_armed(&d->refill))
        timer_start(d->loop, &d->refill, (uint64_t)((1 - d->tokens) * 1000 / c->qps) + 1,
                    on_refill);
    return false;
}

static void start_calls(struct sched_driver *d)
{
    while (d->n_running < DRIVER_CALLS_MAX && !list_is_empty(&d->waiting) && !d->joined &&
           take_token(d))
        start_call(d, list_entry(list_pop_front(&d->waiting), struct call, node));
}

/* ---------------------------------------------------------------- watches */

static void check_ready(struct sched_driver *d);

static bool send_text(struct feed *f, enum message_type type, struct str text)
{
    struct sched_driver *d = f->d;
    if (type == MESSAGE_LINE) {
        uv_mutex_lock(&d->lock);
        bool full = d->inbox_bytes > DRIVER_INBOX_MAX_BYTES;
        if (full)
            d->outbox.drained = false;
        uv_mutex_unlock(&d->lock);
        if (full) { /* it is listed again when the thread has read what there is */
            f->lost = true;
            return false;
        }
    }
    struct message *m = driver_message(type, text);
    m->kind = f->kind;
    driver_send(d, m);
    return true;
}

static void on_list_begin(void *arg)
{
    (void)send_text(arg, MESSAGE_LIST_BEGIN, STR(""));
}

static void on_text(void *arg, bool is_page, struct str text)
{
    struct feed *f = arg;
    if (is_page || !f->lost)
        (void)send_text(f, is_page ? MESSAGE_PAGE : MESSAGE_LINE, text);
}

static void on_list_end(void *arg, uint64_t rv)
{
    struct feed *f = arg;
    f->lost = false;
    (void)send_text(f, MESSAGE_LIST_END, STR(""));
    f->synced = true;
    check_ready(f->d);
}

static void on_absent_timer(struct timer *t);

/* Without these nothing is placed: an API that says it has none is not ready yet. */
static bool can_be_absent(enum sched_kind kind, int status)
{
    if (kind == SCHED_POD || kind == SCHED_NODE)
        return false;
    return status == 404 || (status == 403 && kind == SCHED_NODE_IMAGE_STATE);
}

static void on_trouble(void *arg, int status, const struct err *err)
{
    struct feed *f = arg;
    struct sched_driver *d = f->d;
    if (!can_be_absent(f->kind, status))
        return;
    reflector_close(take_ptr(&f->reflector));
    f->absent = f->synced = true;
    on_list_begin(f); /* what there was of it is gone */
    (void)send_text(f, MESSAGE_LIST_END, STR(""));
    if (!timer_is_armed(&d->absent))
        timer_start(d->loop, &d->absent, DRIVER_ABSENT_MS, on_absent_timer);
    check_ready(d);
}

static const struct reflector_ops feed_ops = { .on_list_begin = on_list_begin,
                                               .on_text = on_text,
                                               .on_list_end = on_list_end,
                                               .on_trouble = on_trouble };

static int start_feed(struct sched_driver *d, enum sched_kind kind, struct err *err)
{
    struct feed *f = &d->feeds[kind];
    f->d = d;
    f->kind = kind;
    f->absent = false;
    struct reflector_opts opts = {
        .loop = d->loop,
        .transport = d->opts.transport,
        .hub = d->opts.hub,
        .identity = d->opts.identity,
        .key = { .group_version = str_of(sched_kind_group_version(kind)),
                 .plural = str_of(sched_kind_plural(kind)),
                 .field_selector = kind == SCHED_POD ? STR(PODS_NOT_DONE) : STR(""),
                 .identity = d->opts.identity },
        .ops = &feed_ops,
        .arg = f,
    };
    return reflector_start(&opts, &f->reflector, err);
}

static void on_absent_timer(struct timer *t)
{
    struct sched_driver *d = container_of(t, struct sched_driver, absent);
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        if (d->feeds[k].absent)
            (void)start_feed(d, (enum sched_kind)k, NULL);
}

/* Only for plugins that are about images that nodes have. */
static bool wants_kind(const struct sched_driver *d, enum sched_kind kind)
{
    if (kind != SCHED_NODE_IMAGE_STATE)
        return true;
    for (size_t i = 0; i < d->opts.config->n_profiles; i++) {
        const struct sched_config_set *set = &d->opts.config->profiles[i].at[SCHED_AT_SCORE];
        for (size_t j = 0; j < set->n; j++)
            if (!sched_native_plugin(set->p[j].name) ||
                str_has_prefix(set->p[j].name, STR("Break")))
                return true;
    }
    return false;
}

/* Those that are wanted and do not run. */
static void start_feeds(struct sched_driver *d)
{
    d->feeds_run = true;
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++) {
        struct err err = { 0 };
        enum sched_kind kind = (enum sched_kind)k;
        if (d->feeds[k].reflector || d->feeds[k].absent)
            continue;
        if (!wants_kind(d, kind))
            d->feeds[k].synced = true;
        else if (start_feed(d, kind, &err) < 0)
            log_error("watch cannot begin", "resource=%s: %s", sched_kind_plural(kind),
                      err_text(&err));
    }
}

static void stop_feeds(struct sched_driver *d)
{
    reflector_close(take_ptr(&d->sleeper));
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        reflector_close(take_ptr(&d->feeds[k].reflector));
    timer_stop(d->loop, &d->absent);
}

static void tell_ready(struct sched_driver *d)
{
    if (d->is_ready || d->stopping)
        return;
    d->is_ready = true;
    if (d->opts.on_ready)
        d->opts.on_ready(d->opts.arg);
}

static void check_ready(struct sched_driver *d)
{
    if (!d->feeds_run || d->has_all)
        return;
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        if (!d->feeds[k].synced)
            return;
    d->has_all = true;
    driver_send(d, driver_message(MESSAGE_SYNCED, STR("")));
    log_info("scheduler knows the cluster", "");
    tell_ready(d);
}

/* ---------------------------------------------------------------- who places */

static void on_leads(void *arg, bool leads)
{
    struct sched_driver *d = arg;
    struct message *m = driver_message(MESSAGE_LEAD, STR(""));
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
    struct message *m = driver_message(MESSAGE_LEAD, STR("")); /* not before it is told so */
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
    d->failed = true;
    log_error("scheduler cannot start", "%s", err_text(err));
    stop_feeds(d);
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
    if (driver_thread_start(d, &err) < 0)
        fail(d, &err);
}

static void on_loaded(struct wplugins *w, const struct err *err, void *arg)
{
    struct sched_driver *d = arg;
    d->loading = false;
    d->plugins = w;
    if (d->stopping) {
        continue_stop(d);
    } else if (!w) {
        fail(d, err);
    } else {
        d->foreign = wplugins_foreign(w);
        begin_thread(d);
    }
}

static void wake_up(struct sched_driver *d)
{
    if (d->awake || d->stopping || d->failed)
        return;
    d->awake = true;
    if (!d->opts.config)
        d->opts.config = d->config = d->opts.config_later(d->opts.arg);
    d->tokens = (double)d->opts.config->burst;
    d->tokens_ms = clock_mono_ms();
    reflector_close(take_ptr(&d->sleeper));
    if (!has_foreign(d, d->opts.config)) {
        begin_thread(d);
        return;
    }
    d->loading = true;
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
    tell_ready(arg);
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

/* ---------------------------------------------------------------- what the thread says */

/* Pods of a name that was nobody's were not kept: they are listed again. */
static void find_new_pods(struct sched_driver *d)
{
    struct reflector *pods = d->awake ? d->feeds[SCHED_POD].reflector : d->sleeper;
    if (pods && !d->stopping)
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
        if (d->feeds_run && !d->stopping)
            start_feeds(d);
        if (is_wider)
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
    if (d->stopping)
        return;
    if (r < 0) {
        fail(d, err);
        return;
    }
    start_leader(d);
    start_feeds(d);
}

static void relist_lost(struct sched_driver *d)
{
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++)
        if (d->feeds[k].lost && d->feeds[k].reflector)
            reflector_relist(d->feeds[k].reflector);
}

void driver_on_post(struct post *p)
{
    struct sched_driver *d = container_of(p, struct sched_driver, post);
    struct list calls, questions;
    uv_mutex_lock(&d->lock);
    d->posted = false;
    struct outbox out = d->outbox;
    list_move_all(&d->outbox.calls, &calls);
    list_move_all(&d->outbox.questions, &questions);
    d->outbox.reload = NULL;
    d->outbox.started = d->outbox.has_ended = false;
    uv_mutex_unlock(&d->lock);
    if (out.started)
        on_started(d, out.start_r, &out.start_err);
    for (struct list *node = list_pop_front(&calls); node; node = list_pop_front(&calls))
        list_push_back(&d->waiting, node);
    start_calls(d);
    for (struct list *node = list_pop_front(&questions); node; node = list_pop_front(&questions)) {
        struct question *q = list_entry(node, struct question, node);
        q->done(q->arg, q->r, buf_str(&q->text), &q->err);
        driver_question_free(q);
    }
    if (out.reload)
        on_reloaded(d, out.reload);
    if (out.drained && !d->stopping)
        relist_lost(d);
    if (out.has_ended) {
        driver_thread_join(d);
        d->joined = true;
    }
    continue_stop(d);
}

/* ---------------------------------------------------------------- stopping */

static void free_driver(struct sched_driver *d)
{
    void (*stopped)(void *) = d->stopped;
    void *arg = d->stopped_arg;
    wplugin_host_free(d->plugin_host);
    uv_mutex_destroy(&d->lock);
    uv_mutex_destroy(&d->state_lock);
    uv_cond_destroy(&d->wake);
    buf_fini(&d->metrics);
    free(d->id);
    free(d);
    if (stopped)
        stopped(arg);
}

/* Behind what the release of the plugins has posted. */
static void on_final(struct post *p)
{
    free_driver(container_of(p, struct sched_driver, final));
}

/* What the thread has not read any more. */
static void drop_inbox(struct sched_driver *d)
{
    struct err err = { 0 };
    (void)err_set(&err, -ECANCELED, "the scheduler ends");
    for (struct list *node = list_pop_front(&d->inbox); node; node = list_pop_front(&d->inbox)) {
        struct message *m = list_entry(node, struct message, node);
        if (m->type == MESSAGE_ANSWER) {
            answer(m->call);
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

static void cancel_calls(struct sched_driver *d)
{
    for (struct list *node = list_pop_front(&d->waiting); node;
         node = list_pop_front(&d->waiting)) {
        struct call *c = list_entry(node, struct call, node);
        c->r = -ECANCELED;
        answer(c);
    }
    list_each_safe (node, &d->running) {
        struct call *c = list_entry(node, struct call, node);
        transport_cancel(d->opts.transport, c->running);
    }
}

static void on_leader_stopped(void *arg)
{
    struct sched_driver *d = arg;
    d->leader_stopped = true;
    continue_stop(d);
}

/* The thread, then requests that are left, then the Lease, then plugins that are being loaded. */
static void continue_stop(struct sched_driver *d)
{
    if (!d->stopping || !d->joined || d->ending)
        return;
    drop_inbox(d);
    if (!d->cancelled) {
        d->cancelled = true;
        cancel_calls(d);
    }
    if (d->leader)
        leader_stop(take_ptr(&d->leader), on_leader_stopped, d);
    if (d->n_running > 0 || !d->leader_stopped || d->loading || d->posted)
        return;
    d->ending = true;
    wplugins_release(take_ptr(&d->plugins));
    d->final.run = on_final;
    loop_post(d->loop, &d->final);
}

static void on_deferred_stop(struct defer *defer)
{
    continue_stop(container_of(defer, struct sched_driver, deferred_stop));
}

void sched_driver_stop(struct sched_driver *d, void (*done)(void *arg), void *arg)
{
    d->stopped = done;
    d->stopped_arg = arg;
    d->stopping = true;
    d->leader_stopped = d->leader == NULL;
    stop_feeds(d);
    timer_stop(d->loop, &d->refill);
    if (d->has_thread) {
        driver_send(d, driver_message(MESSAGE_STOP, STR("")));
        return; /* it says when it has ended */
    }
    d->joined = true;
    defer_start(d->loop, &d->deferred_stop, on_deferred_stop);
}

/* ---------------------------------------------------------------- asking */

void sched_driver_explain(struct sched_driver *d, struct str namespace, struct str name,
                          void (*done)(void *arg, int r, struct str text, const struct err *err),
                          void *arg)
{
    struct question *q = xnew(struct question);
    q->d = d;
    q->namespace = str_dup(namespace);
    q->name = str_dup(name);
    q->done = done;
    q->arg = arg;
    buf_init(&q->text, BUF_MAX_DEFAULT);
    if (d->awake && !d->failed && !d->stopping) {
        struct message *m = driver_message(MESSAGE_EXPLAIN, STR(""));
        m->question = q;
        driver_send(d, m);
        return;
    }
    q->r = err_set(&q->err, -EAGAIN, "the scheduler is asleep: no pod waits for a node");
    uv_mutex_lock(&d->lock);
    list_push_back(&d->outbox.questions, &q->node);
    if (!d->posted) {
        d->posted = true;
        d->post.run = driver_on_post;
        loop_post(d->loop, &d->post);
    }
    uv_mutex_unlock(&d->lock);
}

void sched_driver_metrics(struct sched_driver *d, struct buf *out)
{
    if (!d->awake)
        return;
    if (uv_mutex_trylock(&d->state_lock) == 0) {
        if (d->s)
            sched_metrics(d->s, out);
        uv_mutex_unlock(&d->state_lock);
        return;
    }
    uv_mutex_lock(&d->lock);
    d->wants_metrics = true;
    (void)buf_add_str(out, buf_str(&d->metrics));
    uv_mutex_unlock(&d->lock);
}

bool sched_driver_is_awake(const struct sched_driver *d)
{
    return d->awake;
}

void sched_driver_stats(struct sched_driver *d, struct sched_stats *ret)
{
    uv_mutex_lock(&d->lock);
    *ret = d->stats;
    uv_mutex_unlock(&d->lock);
}

/* ---------------------------------------------------------------- plugins */

/* Are these profiles that can be? Without a cluster, and without plugins from outside. */
static int check_config(const struct sched_config *config, struct err *err)
{
    struct sched_api nobody = { NULL };
    struct sched_opts opts = { .config = config, .api = &nobody };
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
    d->loading = false;
    r->plugins = w;
    if (!w || !d->has_thread || d->stopping) {
        r->r = w ? -ECANCELED : err->code;
        if (!w)
            r->err = *err;
        on_reloaded(d, r);
        continue_stop(d);
        return;
    }
    struct message *m = driver_message(MESSAGE_RELOAD, STR(""));
    m->reload = r;
    driver_send(d, m);
}

void sched_driver_reload(struct sched_driver *d, const struct sched_config *config,
                         void (*done)(void *arg, int r, const struct err *err), void *arg)
{
    struct reload *r = xnew(struct reload);
    *r = (struct reload){ .d = d, .config = config, .done = done, .arg = arg };
    if (has_foreign(d, config) && d->awake) {
        d->loading = true;
        wplugins_load(d->plugin_host, d->loop, config, false, on_reload_loaded, r);
        return;
    }
    if (d->has_thread) {
        struct message *m = driver_message(MESSAGE_RELOAD, STR(""));
        m->reload = r;
        driver_send(d, m);
        return;
    }
    /* Asleep: it begins with the new one. */
    r->r = has_foreign(d, config) ? 0 : check_config(config, &r->err);
    if (r->r >= 0)
        d->config = config;
    uv_mutex_lock(&d->lock);
    d->outbox.reload = r;
    if (!d->posted) {
        d->posted = true;
        d->post.run = driver_on_post;
        loop_post(d->loop, &d->post);
    }
    uv_mutex_unlock(&d->lock);
}

/* ---------------------------------------------------------------- starting */

int sched_driver_start(const struct sched_driver_opts *opts, struct sched_driver **ret,
                       struct err *err)
{
    struct sched_driver *d = xnew(struct sched_driver);
    d->opts = *opts;
    d->loop = opts->loop;
    d->config = opts->config;
    d->id = xstrdup(opts->id ? opts->id : "dormouse");
    if (!d->opts.seed)
        d->opts.seed = sys_random_u64();
    list_init(&d->waiting);
    list_init(&d->running);
    list_init(&d->inbox);
    list_init(&d->outbox.calls);
    list_init(&d->outbox.questions);
    d->outbox.drained = true;
    if (uv_mutex_init(&d->lock) < 0 || uv_mutex_init(&d->state_lock) < 0 ||
        uv_cond_init(&d->wake) < 0)
        abort();
    if (opts->modules)
        d->plugin_host = wplugin_host_new(opts->loop, opts->modules);
    /* Plugins from outside are made at once: what is wrong with them is wrong at the start. */
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
