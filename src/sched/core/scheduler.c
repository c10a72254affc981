/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler as a whole: profiles, timers, requests, and the plugins' environment. */
#include "sched/core/internal.h"

#include "base/clock.h"
#include "base/heap.h"

#include <errno.h>

/* ---- timers: a heap by time ---- */

static bool timer_before(const void *pa, const void *pb, const void *arg)
{
    const struct sched_timer *a = pa, *b = pb;
    return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->seq < b->seq;
}

static const struct heap_kind by_due = { sizeof(struct sched_timer), timer_before, NULL };

static void timer_add(struct sched *s, uint64_t ms, void (*run)(void *arg), void *arg,
                      struct sched_lane *lane)
{
    struct sched_timer t = { s->now_ms + ms, s->timer_seq++, run, arg, lane };
    heap_push(&by_due, NULL, &s->timers, t);
}

void sched_after(struct sched *s, uint64_t ms, void (*run)(void *arg), void *arg)
{
    timer_add(s, ms, run, arg, NULL);
}

void sched_cancel_after(struct sched *s, void (*run)(void *arg), void *arg)
{
    for (size_t i = s->timers.n; i-- > 0;)
        if (s->timers.p[i].run == run && s->timers.p[i].arg == arg)
            heap_remove(&by_due, NULL, &s->timers, i + 1);
}

/* Without a node no timer could change anything: pods wait for a node, and no timer runs. */
static bool can_place(const struct sched *s)
{
    size_t n_nodes;
    (void)sched_cache_nodes(s->view.cache, &n_nodes);
    return s->is_synced && s->leads && n_nodes > 0;
}

uint64_t sched_tick(struct sched *s, uint64_t now_ms)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    while (s->timers.n > 0 && s->timers.p[0].due_ms <= s->now_ms) {
        struct sched_timer t = s->timers.p[0];
        assert(t.run);
        heap_remove(&by_due, NULL, &s->timers, 1);
        if (t.lane && lane_is_behind(t.lane))
            lane_timer(t.lane, t.run, t.arg);
        else
            t.run(t.arg);
    }
    binding_run_ready(s);
    uint64_t next = can_place(s) ? sched_queue_tick(s->queue, s->now_ms) : UINT64_MAX;
    return s->timers.n > 0 ? MIN(next, s->timers.p[0].due_ms) : next;
}

/* ---- requests ---- */

void sched_api_call_end(struct api_call *call, int r, int status, struct str body,
                        const struct err *err)
{
    call->done(call->arg, r, status, body, err);
    sched_profile_set_unref(call->set);
    free(call);
}

static void on_answer(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct api_call *call = arg;
    if (!call->s) {
        free(call);
        return;
    }
    list_remove(&call->node);
    if (call->lane && lane_is_behind(call->lane))
        lane_answer(call->lane, call, r, status, body, err);
    else
        sched_api_call_end(call, r, status, body, err);
}

/* env: of the calling plugin; NULL: the core calls. */
static void start_call(struct sched *s, struct profile_env *env, const struct sched_api_request *rq,
                       sched_api_done done, void *arg)
{
    struct api_call *call = xnew(struct api_call);
    *call = (struct api_call){ .s = s, .done = done, .arg = arg };
    if (env) {
        call->set = env->set;
        call->lane = env->lane;
        env->set->refs++;
    }
    list_push_back(&s->calls, &call->node);
    if (!s->is_ending) /* else sched_free() answers it */
        sched_api_call(s->opts.api, rq, on_answer, call);
}

void sched_call(struct sched *s, const struct sched_api_request *rq, sched_api_done done, void *arg)
{
    start_call(s, NULL, rq, done, arg);
}

static void plugin_call(struct sched_api *api, const struct sched_api_request *rq,
                        sched_api_done done, void *arg)
{
    struct profile_env *env = container_of(api, struct profile_env, api);
    start_call(env->set->s, env, rq, done, arg);
}

/* Answers all open calls; later answers are ignored. */
static void cancel_calls(struct sched *s)
{
    struct err err = { 0 };
    (void)err_set(&err, -ECANCELED, "the scheduler ends");
    while (!list_is_empty(&s->calls)) {
        struct api_call *call = list_first(&s->calls, struct api_call, node);
        list_remove(&call->node);
        assert(call->s == s && s->is_ending);
        call->s = NULL;
        call->done(call->arg, -ECANCELED, 0, STR(""), &err);
        sched_profile_set_unref(call->set);
        call->set = NULL;
    }
}

/* ---- the plugins' environment ---- */

static uint64_t now_ms(void *arg)
{
    const struct profile_env *env = arg;
    return env->set->s->now_ms;
}

static int64_t wall_ms(void *arg)
{
    const struct profile_env *env = arg;
    const struct sched_opts *o = &env->set->s->opts;
    return o->wall_ms ? o->wall_ms(o->arg) : clock_wall_ms();
}

static void after(void *arg, uint64_t ms, void (*run)(void *run_arg), void *run_arg)
{
    const struct profile_env *env = arg;
    timer_add(env->set->s, ms, run, run_arg, env->lane);
}

static void cancel_after(void *arg, void (*run)(void *run_arg), void *run_arg)
{
    const struct profile_env *env = arg;
    sched_cancel_after(env->set->s, run, run_arg);
    if (env->lane)
        lane_cancel_timer(env->lane, run, run_arg);
}

static uint64_t draw(void *arg)
{
    const struct profile_env *env = arg;
    return rng_next(&env->set->s->rng);
}

static struct sched *sched_of(struct sched_framework *f)
{
    const struct profile_env *env = f->arg;
    return env->set->s;
}

static void on_plugin_event(struct sched_framework *f, const struct sched_event *event)
{
    struct sched *s = sched_of(f);
    sched_queue_event(s->queue, event, s->now_ms);
}

static void record(struct sched_framework *f, const struct sched_pod *pod, const char *type,
                   const char *reason, const char *action, struct str note)
{
    recorder_add(sched_of(f), f->profile, pod, type, reason, action, note);
}

static void record_about(struct sched_framework *f, const struct sched_reference *regarding,
                         const struct sched_reference *related, struct str type, struct str reason,
                         struct str action, struct str note)
{
    recorder_add_about(sched_of(f), f->profile, regarding, related, type, reason, action, note);
}

static const struct sched_pod *waiting_pod(struct sched_framework *f, struct str uid)
{
    return binding_waiting(sched_of(f), uid);
}

static bool reject_waiting_pod(struct sched_framework *f, struct str uid, struct str plugin,
                               struct str message)
{
    return binding_reject(sched_of(f), uid, plugin, message);
}

static bool allow_waiting_pod(struct sched_framework *f, struct str uid, struct str plugin)
{
    return binding_allow(sched_of(f), uid, plugin);
}

/* ---- profiles ---- */

void sched_profile_set_unref(struct profile_set *set)
{
    assert(!set || set->refs > 0);
    if (!set || --set->refs > 0)
        return;
    list_remove(&set->node);
    for (size_t i = 0; i < set->n; i++)
        sched_profile_fini(&set->profiles[i]);
    for (size_t i = 0; i < set->n_envs; i++)
        lane_free(set->envs[i].lane);
    free(set->envs);
    free(set->profiles);
    free(set->metrics);
    free(set);
}

/* All profiles must sort the queue alike. */
static int check_queue_sort(const struct profile_set *set, const struct sched_config *config,
                            size_t i, struct err *err)
{
    for (size_t j = 0; j < i; j++)
        if (str_eq(set->profiles[i].scheduler_name, set->profiles[j].scheduler_name))
            return err_set(err, E_INVALID, "duplicate profile with scheduler name \"" STR_FMT "\"",
                           STR_ARG(set->profiles[i].scheduler_name));
    struct str first = set->profiles[0].at[SCHED_AT_QUEUE_SORT][0]->name;
    struct str its = set->profiles[i].at[SCHED_AT_QUEUE_SORT][0]->name;
    if (!str_eq(first, its))
        return err_set(err, E_INVALID,
                       "different queue sort plugins for profile \"" STR_FMT "\": \"" STR_FMT
                       "\", first: \"" STR_FMT "\"",
                       STR_ARG(set->profiles[i].scheduler_name), STR_ARG(its), STR_ARG(first));
    const struct json *args[2] = { NULL, NULL };
    for (unsigned k = 0; k < 2; k++) {
        const struct sched_config_profile *p = &config->profiles[k == 0 ? 0 : i];
        for (size_t j = 0; j < p->n_args; j++)
            if (str_eq(p->args[j].name, its))
                args[k] = p->args[j].args;
    }
    if (!args[0] != !args[1] || (args[0] && !json_equal(args[0], args[1])))
        return err_set(err, E_INVALID,
                       "different queue sort plugin args for profile \"" STR_FMT "\"",
                       STR_ARG(set->profiles[i].scheduler_name));
    return 0;
}

static int profile_set_new(struct sched *s, const struct sched_config *config,
                           struct profile_set **ret, struct err *err)
{
    if (config->n_profiles == 0)
        return err_set(err, E_INVALID, "at least one profile is required");
    struct profile_set *set = xnew(struct profile_set);
    *set = (struct profile_set){ .s = s, .refs = 1 };
    list_push_back(&s->sets, &set->node);
    set->profiles = xnew_n(struct sched_profile, config->n_profiles);
    set->metrics = xnew_n(struct profile_metrics *, config->n_profiles);
    set->envs = xnew_n(struct profile_env, config->n_profiles);
    int r = 0;
    for (size_t i = 0; i < config->n_profiles && r >= 0; i++) {
        struct sched_profile *p = &set->profiles[i];
        struct profile_env *env = &set->envs[i];
        *env = (struct profile_env){ .api.call = plugin_call, .set = set };
        env->lane = lane_new(set, config, i);
        set->n_envs = i + 1;
        p->is_apart = env->lane != NULL;
        p->framework = (struct sched_framework){
            .words = s->words,
            .cache = env->lane ? env->lane->cache : s->view.cache,
            .live = s->view.cache,
            .nominator = sched_queue_nominator(s->queue),
            .queue = s->queue,
            .api = &env->api,
            .now_ms = now_ms,
            .wall_ms = wall_ms,
            .after = after,
            .cancel_after = cancel_after,
            .random = draw,
            .arg = env,
            .event = on_plugin_event,
            .record = record,
            .record_about = record_about,
            .waiting_pod = waiting_pod,
            .reject_waiting_pod = reject_waiting_pod,
            .allow_waiting_pod = allow_waiting_pod,
            .images = s->opts.finds_layers ? &known_images_ops : NULL,
            .images_arg = s,
            .announces_plans = s->opts.announces_plans,
            .extenders = config->n_extenders > 0 ? s->opts.extenders : NULL,
            .extenders_arg = s->opts.extenders_arg,
        };
        if (env->lane) {
            p->framework.leave = lane_leave;
            p->framework.enter = lane_enter;
            p->framework.is_behind = lane_env_is_behind;
        }
        r = sched_profile_init(p, &config->profiles[i], i, s->opts.foreign, err);
        if (r < 0)
            break;
        set->n = i + 1;
        if (env->lane)
            lane_begin(env->lane);
        set->metrics[i] = sched_metrics_of(s, p->scheduler_name);
        r = check_queue_sort(set, config, i, err);
    }
    if (r < 0) {
        sched_profile_set_unref(set);
        return err_ctx(err, r, "initializing profiles");
    }
    *ret = set;
    return 0;
}

const struct sched_profile *sched_profile_of(const struct sched *s, struct str scheduler_name)
{
    const struct profile_set *set = s->set;
    for (size_t i = 0; i < set->n; i++)
        if (str_eq(set->profiles[i].scheduler_name, scheduler_name))
            return &set->profiles[i];
    return NULL;
}

static const struct sched_profile *profile_for_queue(void *arg, struct str scheduler_name)
{
    return sched_profile_of(arg, scheduler_name);
}

static struct sched_queue *queue_new(struct sched *s, const struct sched_config *config)
{
    struct sched_queue_opts opts = {
        .words = s->words,
        .profile = profile_for_queue,
        .arg = s,
        .backoff_first_ms = config->backoff_first_ms,
        .backoff_max_ms = config->backoff_max_ms,
    };
    return sched_queue_new(&opts);
}

/* ---- creation ---- */

int sched_new(const struct sched_opts *opts, struct sched **ret, struct err *err)
{
    struct sched *s = xnew(struct sched);
    s->opts = *opts;
    s->rng.state = opts->seed;
    s->leads = true;
    list_init(&s->attempts);
    list_init(&s->ready);
    list_init(&s->spare);
    list_init(&s->calls);
    list_init(&s->patches);
    list_init(&s->sets);
    list_init(&s->recorder.by_age);
    list_init(&s->recorder.queue);
    known_images_init(&s->images);
    s->by_uid.borrows_keys = true;
    if (gethostname(s->host, sizeof(s->host) - 1) < 0)
        s->host[0] = '\0';
    s->words = intern_table_new();
    s->view.cache = sched_cache_new(s->words);
    s->queue = queue_new(s, opts->config);
    int r = profile_set_new(s, opts->config, &s->set, err);
    if (r < 0) {
        sched_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void sched_view_fini(struct sched_view *v)
{
    sched_cache_free(v->cache);
    free(v->scratch.feasible);
    free(v->scratch.scores);
    free(v->scratch.sums);
    free(v->scratch.weighted);
    free(v->scratch.statuses);
}

static void free_attempts(struct sched *s)
{
    list_each (node, &s->sets) {
        struct profile_set *set = list_entry(node, struct profile_set, node);
        for (size_t i = 0; i < set->n_envs; i++)
            while (set->envs[i].lane && !list_is_empty(&set->envs[i].lane->ready))
                list_push_back(&s->ready, list_pop_front(&set->envs[i].lane->ready));
    }
    struct list *lists[] = { &s->attempts, &s->ready };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        while (!list_is_empty(lists[i])) {
            struct sched_attempt *a = list_first(lists[i], struct sched_attempt, node);
            binding_unreserve(a);
            sched_attempt_end(a);
        }
    }
    while (!list_is_empty(&s->spare)) {
        struct sched_attempt *a = list_first(&s->spare, struct sched_attempt, node);
        list_remove(&a->node);
        arena_fini(&a->arena);
        free(a);
    }
}

void sched_free(struct sched *s)
{
    if (!s)
        return;
    s->is_ending = true;
    cancel_calls(s);
    free_attempts(s);
    assert(s->n_attempts == 0 && s->by_uid.n == 0);
    cancel_calls(s); /* calls that plugins made at the end */
    recorder_fini(s);
    sched_patches_fini(s);
    sched_profile_set_unref(s->set);
    assert(list_is_empty(&s->sets)); /* no attempt and no call holds one */
    sched_queue_free(s->queue);
    known_images_fini(s);
    map_each (e, &s->pending)
        sched_pending_free(s, e->value);
    map_fini(&s->pending);
    map_fini(&s->by_uid);
    sched_view_fini(&s->view);
    intern_table_free(s->words);
    sched_metrics_fini(s);
    vec_fini(&s->timers);
    free(s);
}

void sched_synced(struct sched *s)
{
    s->is_synced = true;
}

void sched_unsynced(struct sched *s)
{
    s->is_synced = false;
}

bool sched_keeps_json(const struct sched *s)
{
    return s->opts.keeps_json;
}

void sched_lead(struct sched *s, bool leads)
{
    if (s->leads == leads)
        return;
    s->leads = leads;
    if (!leads)
        binding_void_all(s);
}

int sched_reload(struct sched *s, const struct sched_config *config,
                 const struct sched_foreign *foreign, bool keeps_json, struct err *err)
{
    struct profile_set *set;
    const struct sched_foreign *before = s->opts.foreign;
    s->opts.foreign = foreign;
    int r = profile_set_new(s, config, &set, err);
    if (r < 0) {
        s->opts.foreign = before;
        return r;
    }
    s->opts.keeps_json = keeps_json;
    /* The queue refers to plugins by position: notify it while the old ones exist. */
    struct profile_set *old = s->set;
    s->opts.config = config;
    s->set = set;
    sched_queue_set_backoff(s->queue, config->backoff_first_ms, config->backoff_max_ms);
    sched_queue_reload(s->queue, s->now_ms);
    sched_profile_set_unref(old);
    return 0;
}

void sched_stats(const struct sched *s, struct sched_stats *ret)
{
    *ret = s->stats;
    sched_cache_count(s->view.cache, &ret->nodes, &ret->pods);
    ret->assumed = sched_cache_n_assumed(s->view.cache);
    ret->binding = s->n_attempts;
    ret->waiting = s->n_waiting;
    sched_queue_count(s->queue, &ret->queue);
}
