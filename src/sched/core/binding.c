/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From Permit to the node: steps that end later, so that thousands can be under way at once.
 *
 *     Permit -- Wait --> waiting -- all allow --+      refused, timed out, deleted
 *        \------------------------------------> PreBind -> Bind -> PostBind
 *                                                   \-------\--> Unreserve, forget, failure
 *
 * A step ends by sched_step_done(), which may be called anywhere between cycles; bindings that
 * plugins make ready while they are called wait on s->ready.
 */
#include "sched/core/internal.h"

#include "base/clock.h"

/* ---- endings ---- */

void binding_unreserve(struct sched_attempt *a)
{
    if (!a->host)
        return;
    assert(!a->cycle.is_dry_run);
    for (unsigned i = a->profile->n_at[SCHED_AT_RESERVE]; i-- > 0;) {
        struct sched_plugin *p = a->profile->at[SCHED_AT_RESERVE][i];
        if (p->ops->unreserve)
            p->ops->unreserve(p, &a->cycle);
    }
    sched_metrics_point(a, POINT_UNRESERVE, SCHED_SUCCESS);
}

static bool is_another(void *arg, const struct sched_pod *pod)
{
    const struct sched_pod *not_this = arg;
    return !str_eq(pod->o.uid, not_this->o.uid);
}

static void binding_failed(struct sched_attempt *a, const struct sched_status *status)
{
    struct sched *s = a->s;
    bool rejected = sched_is_rejected(status);
    assert(a->host && !a->waiting && !a->is_ready && sched_code(status) != SCHED_SUCCESS);
    binding_unreserve(a);
    const struct sched_pod *pod = sched_placed_pod(s, a->pod);
    lanes_forget(s, pod);
    if (!rejected)
        sched_publish_freed(s, pod, NULL);
    struct sched_outcome o;
    sched_outcome_of(a, status, &o);
    if (a->at != AT_PERMIT) { /* it had a node: whatever the failure was, try it again soon */
        o.message = sched_status_message(&a->arena, status);
        o.rejected_by = o.pending_by = 0;
    }
    sched_attempt_failed(a, &o);
    /* After the pod went back to the queue: otherwise this would count as an event during its
     * attempt. */
    if (rejected)
        sched_publish_freed(s, pod, &(struct sched_queue_check){ is_another, (void *)pod });
    sched_object_unref(s->words, (void *)pod);
}

static void bound(struct sched_attempt *a)
{
    struct sched *s = a->s;
    assert(a->at == AT_BIND && a->host && !a->waiting && !a->is_ready);
    s->stats.scheduled++;
    sched_metrics_bound(a);
    lanes_bound(s, a->pod);
    sched_queue_done(s->queue, a->pod->o.uid);
    if (s->opts.on_bound) {
        const struct sched_node_info *info = sched_cache_node(a->view->cache, a->host);
        s->opts.on_bound(s->opts.on_bound_arg, a->pod, intern_str(a->host),
                         info ? info->node : NULL);
    }
    struct buf note = BUF_INIT(NOTE_MAX_BYTES);
    (void)buf_add_cstr(&note, "Successfully assigned ");
    sched_pod_key(a->pod, &note);
    (void)buf_add_cstr(&note, " to ");
    (void)buf_add_str(&note, intern_str(a->host));
    recorder_add(s, a->profile, a->pod, "Normal", "Scheduled", "Binding", buf_str(&note));
    buf_fini(&note);
    for (unsigned i = 0; i < a->profile->n_at[SCHED_AT_POST_BIND]; i++) {
        struct sched_plugin *p = a->profile->at[SCHED_AT_POST_BIND][i];
        p->ops->post_bind(p, &a->cycle);
    }
    sched_metrics_point(a, SCHED_AT_POST_BIND, SCHED_SUCCESS);
    sched_attempt_end(a);
}

const char *sched_attempt_void_reason(const struct sched_attempt *a)
{
    const struct sched *s = a->s;
    if (s->is_ending)
        return "the scheduler ends";
    if (!s->leads)
        return "another scheduler leads now";
    const struct sched_pending *p = sched_pending_of(s, &a->pod->o);
    if (!p || !str_eq(p->pod->o.uid, a->pod->o.uid))
        return "pod was deleted or bound by another client";
    return NULL;
}

/* ---- steps ---- */

static void on_step_done(struct sched_step *step, const struct sched_status *status)
{
    struct sched_attempt *a = container_of(step, struct sched_attempt, step);
    assert(a->at != AT_PERMIT && a->waiting && !a->is_ready); /* a step ends once */
    if (a->lane) { /* which calls guests on its own thread only */
        a->status =
            status ? sched_status_of(&a->arena, status->code, status->reasons, status->n_reasons)
                   : NULL;
        a->is_ready = true;
        list_remove(&a->node);
        list_push_back(&a->lane->ready, &a->node);
        return;
    }
    a->status = status;
    a->waiting = false;
    binding_run(a);
}

static const struct sched_status *step_failed(struct sched_attempt *a, const char *point,
                                              const struct sched_status *s)
{
    struct str name = a->asked ? a->asked->name : STR(SCHED_EXTENDER_PLUGIN);
    if (sched_is_rejected(s))
        return sched_status_by(&a->arena, s, name);
    return sched_status(&a->arena, SCHED_ERROR, "running %s plugin \"" STR_FMT "\": " STR_FMT,
                        point, STR_ARG(name), STR_ARG(sched_status_message(&a->arena, s)));
}

/* The result of a step: SCHED_LATER, or how it ended. */
static void set_result(struct sched_attempt *a, const struct sched_status *status)
{
    assert(!a->waiting);
    a->waiting = status == SCHED_LATER;
    a->status = a->waiting ? NULL : status;
}

/* Shows other components (autoscalers) the node of a pod whose binding takes long. */
static void announce(struct sched_attempt *a)
{
    struct sched_pending *p = sched_pending_of(a->s, &a->pod->o);
    if (p && !a->is_announced)
        sched_write_nomination(a->s, p, intern_str(a->host));
    a->is_announced = true;
}

/* Starts the next PreBind plugin. Returns false if there is none. */
static bool next_pre_bind(struct sched_attempt *a)
{
    if (a->next == a->profile->n_at[SCHED_AT_PRE_BIND])
        return false;
    struct sched_plugin *p = a->profile->at[SCHED_AT_PRE_BIND][a->next++];
    a->asked = p;
    set_result(a, p->ops->pre_bind(p, &a->cycle, &a->step));
    if (a->waiting)
        announce(a);
    return true;
}

/* Starts the extender that binds this pod, or the next plugin. Returns false if there is none. */
static bool next_bind(struct sched_attempt *a)
{
    const struct sched_framework *fw = &a->profile->framework;
    if (!a->asked_extenders && fw->extenders && fw->extenders->binds &&
        fw->extenders->binds(fw->extenders_arg, a->pod)) {
        a->asked_extenders = true; /* Skip: all ignorable extenders have failed */
        a->asked = NULL;
        set_result(a, fw->extenders->bind(fw->extenders_arg, &a->cycle, &a->step));
        return true;
    }
    if (a->next >= a->profile->n_at[SCHED_AT_BIND])
        return false;
    struct sched_plugin *p = a->profile->at[SCHED_AT_BIND][a->next++];
    a->asked = p;
    set_result(a, p->ops->bind(p, &a->cycle, &a->step));
    return true;
}

SCHED_STATUS_CONST(no_plugin_binds, SCHED_ERROR, "no Bind plugin has bound the pod");

/* Runs until the attempt waits for a step, or has ended. */
void binding_run(struct sched_attempt *a)
{
    while (!a->waiting) {
        enum sched_code code = sched_code(a->status);
        const char *reason;
        assert(!a->is_ready && a->host);
        switch (a->at) {
        case AT_PERMIT:
            if (code != SCHED_SUCCESS) {
                binding_failed(a, a->status);
                return;
            }
            a->at = AT_PRE_BIND;
            a->point_ns = clock_mono_ns();
            break;
        case AT_PRE_BIND:
            if (code != SCHED_SUCCESS) {
                sched_metrics_point(a, SCHED_AT_PRE_BIND, code);
                binding_failed(a, step_failed(a, "PreBind", a->status));
                return;
            }
            reason = sched_attempt_void_reason(a);
            if (reason) {
                binding_failed(a, sched_status(&a->arena, SCHED_ERROR, "%s", reason));
                return;
            }
            if (next_pre_bind(a))
                break;
            sched_metrics_point(a, SCHED_AT_PRE_BIND, SCHED_SUCCESS);
            a->at = AT_BIND;
            a->next = 0;
            a->status = NULL;
            if (!next_bind(a)) {
                binding_failed(a, &no_plugin_binds);
                return;
            }
            break;
        case AT_BIND:
            sched_metrics_point(a, SCHED_AT_BIND, code);
            if (code == SCHED_SUCCESS) {
                bound(a);
                return;
            }
            if (code != SCHED_SKIP) {
                binding_failed(a, step_failed(a, "Bind", a->status));
                return;
            }
            reason = sched_attempt_void_reason(a);
            if (reason) {
                binding_failed(a, sched_status(&a->arena, SCHED_ERROR, "%s", reason));
                return;
            }
            if (!next_bind(a)) {
                binding_failed(a, &no_plugin_binds);
                return;
            }
            break;
        }
    }
}

/* ---- Permit ---- */

/* Formats a duration as Go: "1m30s", "500ms", "0s". */
static void duration_text(uint64_t ms, char out[64])
{
    uint64_t h = ms / 3600000, m = ms / 60000 % 60, s = ms / 1000 % 60, rest = ms % 1000;
    size_t n = 0;
    if (ms > 0 && ms < 1000) {
        (void)snprintf(out, 64, "%llums", (unsigned long long)ms);
        return;
    }
    if (h > 0)
        n += (size_t)snprintf(out + n, 64 - n, "%lluh", (unsigned long long)h);
    if (h > 0 || m > 0)
        n += (size_t)snprintf(out + n, 64 - n, "%llum", (unsigned long long)m);
    n += (size_t)snprintf(out + n, 64 - n, "%llu", (unsigned long long)s);
    if (rest > 0) {
        n += (size_t)snprintf(out + n, 64 - n, ".%03llu", (unsigned long long)rest);
        while (out[n - 1] == '0')
            n--;
    }
    (void)snprintf(out + n, 64 - n, "s");
}

static void on_permit_timeout(void *arg)
{
    struct sched_attempt *a = arg;
    struct sched *s = a->s;
    uint64_t next = UINT64_MAX;
    for (unsigned i = 0; i < a->n_permits; i++) {
        const struct permit_wait *w = &a->permits[i];
        if (!w->plugin)
            continue;
        if (w->due_ms <= s->now_ms) {
            char waited[64];
            duration_text(w->wait_ms, waited);
            struct str text = str_of(arena_printf(
                &a->arena, "rejected due to timeout after waiting %s at plugin " STR_FMT, waited,
                STR_ARG(w->plugin->name)));
            (void)binding_reject(s, a->pod->o.uid, w->plugin->name, text);
            return;
        }
        next = MIN(next, w->due_ms);
    }
    assert(next > s->now_ms && next != UINT64_MAX); /* one plugin still waits */
    sched_after(s, next - s->now_ms, on_permit_timeout, a);
}

static struct sched_attempt *waiting_attempt(struct sched *s, struct str uid)
{
    struct sched_attempt *a = map_get(&s->by_uid, uid);
    return a && a->at == AT_PERMIT && a->waiting && !a->is_ready ? a : NULL;
}

const struct sched_pod *binding_waiting(struct sched *s, struct str uid)
{
    const struct sched_attempt *a = waiting_attempt(s, uid);
    return a ? a->pod : NULL;
}

void binding_make_ready(struct sched_attempt *a, const struct sched_status *status)
{
    struct sched *s = a->s;
    assert(a->at == AT_PERMIT && a->waiting && !a->is_ready && s->n_waiting > 0);
    a->status = status;
    a->is_ready = true;
    s->n_waiting--;
    sched_cancel_after(s, on_permit_timeout, a);
    sched_metrics_permit(a, sched_code(status));
    list_remove(&a->node);
    list_push_back(a->lane ? &a->lane->ready : &s->ready, &a->node);
}

void binding_run_one(struct sched *s, struct list *ready)
{
    struct sched_attempt *a = list_entry(list_pop_front(ready), struct sched_attempt, node);
    assert(a->s == s && a->is_ready && a->waiting);
    list_push_back(&s->attempts, &a->node);
    a->is_ready = a->waiting = false;
    binding_run(a);
}

void binding_run_ready(struct sched *s)
{
    struct list now;
    list_move_all(&s->ready, &now);
    while (!list_is_empty(&now))
        binding_run_one(s, &now);
}

bool binding_reject(struct sched *s, struct str uid, struct str plugin, struct str message)
{
    struct sched_attempt *a = waiting_attempt(s, uid);
    if (!a)
        return false;
    const struct sched_status *status =
        sched_status_by(&a->arena, sched_status_of(&a->arena, SCHED_UNSCHEDULABLE, &message, 1),
                        str_copy_arena(&a->arena, plugin));
    binding_make_ready(a, status);
    return true;
}

bool binding_allow(struct sched *s, struct str uid, struct str plugin)
{
    struct sched_attempt *a = waiting_attempt(s, uid);
    if (!a)
        return false;
    bool waits = false;
    for (unsigned i = 0; i < a->n_permits; i++) {
        struct permit_wait *w = &a->permits[i];
        if (w->plugin && str_eq(w->plugin->name, plugin))
            w->plugin = NULL;
        waits |= w->plugin != NULL;
    }
    if (!waits)
        binding_make_ready(a, NULL);
    return true;
}

void binding_void_all(struct sched *s)
{
    VEC(struct sched_attempt *) waiting = { 0 };
    list_each (node, &s->attempts) {
        struct sched_attempt *a = list_entry(node, struct sched_attempt, node);
        if (a->at == AT_PERMIT && a->waiting && !a->is_ready)
            vec_push(&waiting, a);
    }
    for (size_t i = 0; i < waiting.n; i++) {
        struct sched_attempt *a = waiting.p[i];
        binding_make_ready(
            a, sched_status(&a->arena, SCHED_ERROR, "%s", sched_attempt_void_reason(a)));
    }
    vec_fini(&waiting);
    binding_run_ready(s);
}

static void add_wait(struct sched_attempt *a, const struct sched_plugin *p, uint64_t wait_ms)
{
    if (!a->permits)
        a->permits = arena_new_n(&a->arena, struct permit_wait, a->profile->n_at[SCHED_AT_PERMIT]);
    wait_ms = MIN(wait_ms, (uint64_t)PERMIT_MAX_MS);
    assert(a->n_permits < a->profile->n_at[SCHED_AT_PERMIT]);
    a->permits[a->n_permits++] = (struct permit_wait){ a->s->now_ms + wait_ms, wait_ms, p };
}

/* NULL: success; a->n_permits plugins want to wait. */
static const struct sched_status *run_permit(struct sched_attempt *a)
{
    const struct sched_node_info *node = sched_cache_node(a->view->cache, a->host);
    for (unsigned i = 0; i < a->profile->n_at[SCHED_AT_PERMIT]; i++) {
        struct sched_plugin *p = a->profile->at[SCHED_AT_PERMIT][i];
        uint64_t wait_ms = 0;
        const struct sched_status *s = p->ops->permit(p, &a->cycle, node, &wait_ms);
        enum sched_code code = sched_code(s);
        if (code == SCHED_WAIT)
            add_wait(a, p, wait_ms);
        else if (sched_is_rejected(s))
            return sched_status_by(&a->arena, s, p->name);
        else if (code != SCHED_SUCCESS)
            return sched_status(&a->arena, SCHED_ERROR,
                                "running Permit plugin \"" STR_FMT "\": " STR_FMT, STR_ARG(p->name),
                                STR_ARG(sched_status_message(&a->arena, s)));
    }
    return NULL;
}

void binding_start(struct sched_attempt *a)
{
    struct sched *s = a->s;
    assert(a->host && !a->waiting && !a->is_ready && a->n_permits == 0);
    a->step.done = on_step_done;
    const struct sched_status *status = run_permit(a);
    sched_metrics_point(a, SCHED_AT_PERMIT,
                        !status && a->n_permits > 0 ? SCHED_WAIT : sched_code(status));
    if (status) {
        struct sched_outcome o;
        binding_unreserve(a);
        lanes_forget(s, a->pod);
        sched_outcome_of(a, status, &o);
        sched_attempt_failed(a, &o);
        return;
    }
    a->at = AT_PERMIT;
    a->permit_began_ns = clock_mono_ns();
    if (a->n_permits > 0) {
        uint64_t due = UINT64_MAX;
        for (unsigned i = 0; i < a->n_permits; i++)
            due = MIN(due, a->permits[i].due_ms);
        a->waiting = true;
        s->n_waiting++;
        sched_after(s, due - s->now_ms, on_permit_timeout, a);
        announce(a);
    }
    binding_run(a);
}
