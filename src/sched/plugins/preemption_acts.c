/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evictions. One of these runs for each preemptor:
 *
 *     start: withdraw lower nominations, evict all victims except one
 *              | all answered                         \ one failed
 *              v                                       v
 *     last: the last victim --- answered ----------> end: not held any more; after a failure the
 *                                                    preemptor returns to the queue at once
 *
 * The last victim is evicted alone, to have a definite moment when the hold ends: the event of its
 * deletion may arrive before the answer, and must then find the preemptor not held.
 *
 *     a victim: waits in Permit? -- yes --> rejected
 *                    | no
 *                    v
 *               condition (retried after 10, 50, 250 ms) -> delete -> Event
 */
#include "base/clock.h"
#include "sched/plugins/preemption.h"
#include "sched/queue/queue.h"

#include <assert.h>

enum { ACT_TRIES_MAX = 4, ACT_RETRY_MS = 10, ACT_RETRY_FACTOR = 5 };

struct preemption_acts {
    struct sched_framework *framework;
    struct str plugin;
    struct map jobs; /* by the preemptor's uid */
};

struct act {
    struct preemption_acts_eviction *job;
    const struct sched_pod *pod; /* a reference */
    unsigned tries;
    bool waits_to_retry;
};

struct preemption_acts_eviction {
    struct preemption_acts *acts; /* NULL: the plugin was freed */
    struct intern_table *words;
    struct sched_api *api;
    const struct sched_pod *preemptor; /* a reference */
    struct intern *node;
    struct act *victims, *withdrawn;
    size_t n_victims, n_withdrawn;
    size_t waits_for; /* open answers, plus 1 while requests are being started */
    bool at_last, failed, stops;
};

static void job_free(struct preemption_acts_eviction *job)
{
    for (size_t i = 0; i < job->n_victims; i++)
        sched_object_unref(job->words, (void *)job->victims[i].pod);
    for (size_t i = 0; i < job->n_withdrawn; i++)
        sched_object_unref(job->words, (void *)job->withdrawn[i].pod);
    sched_object_unref(job->words, (void *)job->preemptor);
    intern_unref(job->words, job->node);
    free(job->victims);
    free(job->withdrawn);
    free(job);
}

static void start_victim(struct act *act);

static void job_end(struct preemption_acts_eviction *job)
{
    struct preemption_acts *acts = job->acts;
    if (acts) {
        map_del(&acts->jobs, job->preemptor->o.uid);
        struct sched_framework *f = acts->framework;
        if (job->failed)
            sched_queue_activate(f->queue, job->preemptor->o.uid, f->now_ms(f->arg));
    }
    job_free(job);
}

/* One of the open answers has arrived. May free the job. */
static void job_step(struct preemption_acts_eviction *job)
{
    assert(job->waits_for > 0);
    if (--job->waits_for > 0)
        return;
    if (job->at_last || job->stops) {
        job_end(job);
        return;
    }
    job->at_last = true;
    job->waits_for = 1;
    start_victim(&job->victims[job->n_victims - 1]);
}

/* ---- requests ---- */

/* Does the pod with this name and uid not exist any more? */
static bool is_gone(int r, int status)
{
    return r == 0 && (status == 404 || status == 409);
}
static bool is_done(int r, int status)
{
    return r == 0 && status >= 200 && status < 300;
}

static void act_ended(struct act *act, bool failed)
{
    struct preemption_acts_eviction *job = act->job;
    if (failed)
        job->failed = job->stops = true;
    job_step(job);
}

static void pod_target(struct buf *to, const struct sched_pod *pod, const char *sub)
{
    buf_printf(to, "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "%s", STR_ARG(pod->o.namespace),
               STR_ARG(pod->o.name), sub);
}

static void ask(struct act *act, const char *method, const char *sub, const struct buf *body,
                sched_api_done done)
{
    struct buf target = BUF_INIT(4096);
    pod_target(&target, act->pod, sub);
    struct sched_api_request rq = { .method = method,
                                    .target = buf_str(&target),
                                    .body = buf_str(body),
                                    .patch_type =
                                        *sub ? "application/strategic-merge-patch+json" : NULL };
    sched_api_call(act->job->api, &rq, done, act);
    buf_fini(&target);
}

static struct sched_reference reference(const struct sched_pod *pod)
{
    return (struct sched_reference){ .kind = STR("Pod"),
                                     .api_version = STR("v1"),
                                     .namespace = pod->o.namespace,
                                     .name = pod->o.name,
                                     .uid = pod->o.uid };
}

static void record_victim(const struct act *act, const char *suffix)
{
    const struct preemption_acts_eviction *job = act->job;
    if (!job->acts)
        return;
    struct sched_framework *f = job->acts->framework;
    struct buf note = BUF_INIT(4096);
    buf_printf(&note, "Preempted by pod " STR_FMT " on node " STR_FMT "%s",
               STR_ARG(job->preemptor->o.uid), STR_ARG(intern_str(job->node)), suffix);
    struct sched_reference victim = reference(act->pod), preemptor = reference(job->preemptor);
    f->record_about(f, &victim, &preemptor, STR("Normal"), STR("Preempted"), STR("Preempting"),
                    buf_str(&note));
    buf_fini(&note);
}

static void on_deleted(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct act *act = arg;
    if (is_done(r, status))
        record_victim(act, "");
    act_ended(act, !is_done(r, status) && !is_gone(r, status));
}

static void delete_victim(struct act *act)
{
    struct buf body = BUF_INIT(4096);
    buf_add_cstr(&body,
                 "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":");
    json_write_str(&body, act->pod->o.uid);
    buf_add_cstr(&body, "}}");
    ask(act, "DELETE", "", &body, on_deleted);
    buf_fini(&body);
}

static void patch_victim(void *arg);

static void on_patched(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct act *act = arg;
    struct preemption_acts_eviction *job = act->job;
    if (is_done(r, status)) {
        delete_victim(act);
        return;
    }
    bool again = r == 0 ? status == 500 || status == 503 : r == -ECONNREFUSED;
    if (!again || act->tries == ACT_TRIES_MAX || !job->acts) {
        act_ended(act, !is_gone(r, status));
        return;
    }
    uint64_t ms = ACT_RETRY_MS;
    for (unsigned i = 1; i < act->tries; i++)
        ms *= ACT_RETRY_FACTOR;
    struct sched_framework *f = job->acts->framework;
    act->waits_to_retry = true;
    f->after(f->arg, ms, patch_victim, act);
}

/* The condition tells watchers of the pod why it is deleted. */
static void patch_victim(void *arg)
{
    struct act *act = arg;
    const struct sched_pod *pod = act->pod, *preemptor = act->job->preemptor;
    act->waits_to_retry = false;
    act->tries++;
    struct sched_framework *f = act->job->acts->framework;
    char now[RFC3339_MAX];
    rfc3339_format(f->wall_ms(f->arg) / 1000, now);
    struct buf body = BUF_INIT(16384), message = BUF_INIT(4096);
    buf_printf(&message, STR_FMT ": preempting to accommodate a higher priority pod",
               STR_ARG(preemptor->scheduler_name));
    buf_add_cstr(&body, "{\"metadata\":{\"uid\":");
    json_write_str(&body, pod->o.uid);
    buf_printf(&body,
               "},\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
               "\"reason\":\"PreemptionByScheduler\",\"lastTransitionTime\":\"%s\",\"message\":",
               now);
    json_write_str(&body, buf_str(&message));
    if (pod->generation > 0)
        buf_printf(&body, ",\"observedGeneration\":%lld", (long long)pod->generation);
    buf_add_cstr(&body, "}]}}");
    ask(act, "PATCH", "/status", &body, on_patched);
    buf_fini(&body);
    buf_fini(&message);
}

static void start_victim(struct act *act)
{
    struct preemption_acts *acts = act->job->acts;
    struct str uid = act->pod->o.uid;
    if (acts) {
        struct sched_framework *f = acts->framework;
        if (f->waiting_pod && f->waiting_pod(f, uid) &&
            f->reject_waiting_pod(f, uid, acts->plugin, STR("preempted"))) {
            record_victim(act, " (in kube-scheduler memory).");
            act_ended(act, false);
            return;
        }
    }
    if (act->pod->has_disruption_condition || !acts)
        delete_victim(act);
    else
        patch_victim(act);
}

/* ---- nominations ---- */

static void on_withdrawn(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct act *act = arg;
    struct preemption_acts_eviction *job = act->job;
    if (!is_done(r, status) && !is_gone(r, status))
        job->failed = true; /* not critical: evictions continue */
    job_step(job);
}

/*
 * Withdraws the nominations of lower priority to this node, so that these pods soon look for
 * another node.
 */
static void withdraw_nominations(struct preemption_acts_eviction *job)
{
    struct sched_framework *f = job->acts->framework;
    size_t n;
    const struct sched_pod *const *all = sched_nominator_pods(f->nominator, job->node, &n);
    job->withdrawn = xnew_n(struct act, MAX(n, (size_t)1));
    for (size_t i = 0; i < n; i++)
        if (all[i]->priority < job->preemptor->priority)
            job->withdrawn[job->n_withdrawn++] = (struct act){
                .job = job,
                .pod = sched_object_ref((void *)all[i]),
            };
    for (size_t i = 0; i < job->n_withdrawn; i++) {
        struct act *act = &job->withdrawn[i];
        sched_queue_nominate(f->queue, act->pod, STR_NULL);
        if (str_is_empty(act->pod->nominated_node))
            continue;
        struct buf body = BUF_INIT(4096);
        buf_add_cstr(&body, "{\"metadata\":{\"uid\":");
        json_write_str(&body, act->pod->o.uid);
        buf_add_cstr(&body, "},\"status\":{\"nominatedNodeName\":null}}");
        job->waits_for++;
        ask(act, "PATCH", "/status", &body, on_withdrawn);
        buf_fini(&body);
    }
}

/* ---- interface ---- */

struct preemption_acts *preemption_acts_new(struct sched_framework *framework, struct str plugin)
{
    struct preemption_acts *acts = xnew(struct preemption_acts);
    acts->framework = framework;
    acts->plugin = plugin;
    return acts;
}

/* The plugin is being freed. Open answers still arrive; retries that are not due yet do not run. */
static void job_orphan(struct preemption_acts_eviction *job)
{
    struct sched_framework *f = job->acts->framework;
    job->acts = NULL;
    job->waits_for++; /* keeps the job until the last line */
    for (size_t i = 0; i < job->n_victims; i++) {
        struct act *act = &job->victims[i];
        if (!act->waits_to_retry)
            continue;
        f->cancel_after(f->arg, patch_victim, act);
        act->waits_to_retry = false;
        act_ended(act, true);
    }
    job_step(job);
}

void preemption_acts_free(struct preemption_acts *acts)
{
    if (!acts)
        return;
    map_each (e, &acts->jobs)
        job_orphan(e->value);
    map_fini(&acts->jobs);
    free(acts);
}

void preemption_acts_start(struct preemption_acts *acts, const struct sched_pod *preemptor,
                           const struct sched_candidate *place)
{
    size_t n = 0;
    for (uint32_t i = 0; i < place->n_victims; i++)
        n += !place->victims[i]->is_terminating;
    if (n == 0 || map_has(&acts->jobs, preemptor->o.uid))
        return;
    struct sched_framework *f = acts->framework;
    struct preemption_acts_eviction *job = xnew(struct preemption_acts_eviction);
    *job = (struct preemption_acts_eviction){ .acts = acts,
                                              .words = f->words,
                                              .api = f->api,
                                              .preemptor = sched_object_ref((void *)preemptor),
                                              .node = intern_ref(place->node->node->name),
                                              .victims = xnew_n(struct act, n),
                                              .waits_for = 1 };
    for (uint32_t i = 0; i < place->n_victims; i++)
        if (!place->victims[i]->is_terminating)
            job->victims[job->n_victims++] = (struct act){
                .job = job,
                .pod = sched_object_ref((void *)place->victims[i]),
            };
    map_put(&acts->jobs, preemptor->o.uid, job);
    withdraw_nominations(job);
    for (size_t i = 0; i + 1 < job->n_victims; i++) {
        job->waits_for++;
        start_victim(&job->victims[i]);
    }
    job_step(job);
}

bool preemption_acts_hold(const struct preemption_acts *acts, const struct sched_pod *preemptor)
{
    const struct preemption_acts_eviction *job = map_get(&acts->jobs, preemptor->o.uid);
    if (!job || !job->at_last)
        return job != NULL;
    const struct sched_pod *last = job->victims[job->n_victims - 1].pod;
    const struct sched_framework *f = acts->framework;
    const struct sched_pod *now =
        sched_cache_get(f->live ? f->live : f->cache, SCHED_POD, last->o.namespace, last->o.name);
    return now && str_eq(now->o.uid, last->o.uid) && !now->is_terminating;
}
