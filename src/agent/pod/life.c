/* SPDX-License-Identifier: Apache-2.0 */
/* The life cycle of a pod; see life.h. Read from pod_life_next() at the end upwards. */
#include "agent/pod/life_read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static const struct sm_state pod_table[] = {
    [POD_PREPARING] = { "preparing",
                        EDGE(POD_ACTIVE) | EDGE(POD_ENDING) | EDGE(POD_FINISHED) /* restored */ },
    [POD_ACTIVE] = { "active", EDGE(POD_ENDING) },
    [POD_ENDING] = { "ending", EDGE(POD_TEARING_DOWN) },
    [POD_TEARING_DOWN] = { "tearing down", EDGE(POD_FINISHED) },
    [POD_FINISHED] = { "finished", EDGE(POD_DELETING) | EDGE(POD_GONE) },
    [POD_DELETING] = { "deleting", EDGE(POD_GONE) },
    [POD_GONE] = { "gone", 0 },
};

#define RUNS_TO EDGE(POD_CONTAINER_WAITING) | EDGE(POD_CONTAINER_ENDED)
static const struct sm_state container_table[] = {
    /* It may end without having run, with its pod. */
    [POD_CONTAINER_WAITING] = { "waiting", EDGE(POD_CONTAINER_PULLING) |
                                               EDGE(POD_CONTAINER_RUNNING) | /* restored */
                                               EDGE(POD_CONTAINER_ENDED) },
    [POD_CONTAINER_PULLING] = { "pulling",
                                EDGE(POD_CONTAINER_PULLED) | EDGE(POD_CONTAINER_WAITING) },
    [POD_CONTAINER_PULLED] = { "pulled",
                               EDGE(POD_CONTAINER_STARTING) | EDGE(POD_CONTAINER_WAITING) },
    [POD_CONTAINER_STARTING] = { "starting", EDGE(POD_CONTAINER_POST_START) |
                                                 EDGE(POD_CONTAINER_RUNNING) |
                                                 EDGE(POD_CONTAINER_STOPPING) | RUNS_TO },
    [POD_CONTAINER_POST_START] = { "post start", EDGE(POD_CONTAINER_RUNNING) |
                                                     EDGE(POD_CONTAINER_PRE_STOP) |
                                                     EDGE(POD_CONTAINER_STOPPING) | RUNS_TO },
    [POD_CONTAINER_RUNNING] = { "running", EDGE(POD_CONTAINER_PRE_STOP) |
                                               EDGE(POD_CONTAINER_STOPPING) | RUNS_TO },
    [POD_CONTAINER_PRE_STOP] = { "pre stop", EDGE(POD_CONTAINER_STOPPING) | RUNS_TO },
    [POD_CONTAINER_STOPPING] = { "stopping", RUNS_TO },
    /* Its spec was changed. */
    [POD_CONTAINER_ENDED] = { "ended", EDGE(POD_CONTAINER_WAITING) },
};

/* ---------------------------------------------------------------- small */

static void set_text(char **to, const char *text)
{
    free(*to);
    *to = text ? xstrdup(text) : NULL;
}

static void set_reason(char to[POD_REASON_MAX], const char *reason)
{
    (void)snprintf(to, POD_REASON_MAX, "%s", reason ? reason : "");
}

void pod_container_end_fini(struct pod_container_end *e)
{
    free(e->message);
    free(e->id);
    *e = (struct pod_container_end){ 0 };
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return MIN(a, b);
}

static uint64_t grace_of(const struct pod_life *l)
{
    int64_t s = l->spec->grace_s;
    return s <= 0 ? 0 : (uint64_t)MIN(s, INT32_MAX) * 1000;
}

/* A container of this machine may exist for it. */
static bool is_busy(const struct pod_container_life *c)
{
    enum pod_container_at at = pod_container_at(c);
    return at >= POD_CONTAINER_STARTING && at <= POD_CONTAINER_STOPPING;
}

static void move_pod(struct pod_life *l, enum pod_at to)
{
    sm_move(&l->sm, to);
    l->is_asked = false;
}

/* ---------------------------------------------------------------- stopping a container */

static void set_stopping(struct pod_container_life *c)
{
    sm_move(&c->sm, POD_CONTAINER_STOPPING);
    c->due = POD_DUE_STOP;
}

/* Its grace ends at end_ms; POD_MIN_GRACE_MS at least. */
static void set_end(struct pod_container_life *c, uint64_t end_ms, const struct pod_now *now)
{
    c->end_ms = end_ms;
    c->kill_ms = MAX(end_ms, now->ms + POD_MIN_GRACE_MS);
}

/* end_ms: when its grace ends; a later one than before has no effect. */
static void stop_container(struct pod_container_life *c, uint64_t end_ms, const struct pod_now *now)
{
    enum pod_container_at at = pod_container_at(c);
    bool has_hook = c->spec->pre_stop.kind != POD_ACTION_NONE && end_ms > now->ms;
    switch (at) {
    case POD_CONTAINER_WAITING:
    case POD_CONTAINER_ENDED:
        break;
    case POD_CONTAINER_PULLING:
    case POD_CONTAINER_PULLED:
        sm_move(&c->sm, POD_CONTAINER_WAITING);
        break;
    case POD_CONTAINER_STARTING:
    case POD_CONTAINER_POST_START:
    case POD_CONTAINER_RUNNING:
        set_end(c, end_ms, now);
        if (!has_hook || at == POD_CONTAINER_STARTING) {
            set_stopping(c);
        } else {
            sm_move(&c->sm, POD_CONTAINER_PRE_STOP);
            c->due = POD_DUE_PRE_STOP;
        }
        break;
    case POD_CONTAINER_PRE_STOP:
    case POD_CONTAINER_STOPPING:
        if (end_ms >= c->end_ms)
            break;
        set_end(c, end_ms, now);
        if (at == POD_CONTAINER_STOPPING)
            c->due = POD_DUE_STOP;
        break;
    }
}

/* The preStop hook has ended, or its time is over. */
static void end_pre_stop(struct pod_container_life *c, const struct pod_now *now)
{
    c->kill_ms = MAX(c->kill_ms, now->ms + POD_MIN_GRACE_MS);
    set_stopping(c);
}

/* ---------------------------------------------------------------- beginning and spec */

static void init_container(struct pod_container_life *c, const struct pod_container *spec)
{
    *c = (struct pod_container_life){ .name = spec->name, .spec = spec, .kind = spec->kind };
    sm_init(&c->sm, container_table, POD_CONTAINER_WAITING);
}

static void fini_container(struct pod_container_life *c)
{
    pod_container_end_fini(&c->end);
    pod_container_end_fini(&c->last);
    free(c->message);
    free(c->id);
    free(c->image);
    free(c->image_id);
}

static size_t count(const struct pod_spec *spec)
{
    return spec->n_init + spec->n_main + spec->n_ephemeral;
}

void pod_life_init(struct pod_life *l, const struct pod_spec *spec, int64_t start_ms,
                   const struct pod_now *now)
{
    *l = (struct pod_life){ .spec = spec, .n = count(spec), .start_ms = now->unix_ms };
    if (start_ms)
        l->start_ms = start_ms;
    sm_init(&l->sm, pod_table, POD_PREPARING);
    l->containers = xnew_n(struct pod_container_life, l->n ? l->n : 1);
    for (size_t i = 0; i < l->n; i++)
        init_container(&l->containers[i], pod_spec_at(spec, i));
    pod_life_set_spec(l, spec, now);
}

void pod_life_fini(struct pod_life *l)
{
    for (size_t i = 0; i < l->n; i++)
        fini_container(&l->containers[i]);
    free(l->containers);
    free(l->message);
    *l = (struct pod_life){ 0 };
}

/* The wall clock counts once: a jump of it ends no pod. */
static void set_deadline(struct pod_life *l, const struct pod_now *now)
{
    int64_t s = l->spec->deadline_s;
    if (l->has_deadline && s == l->deadline_s)
        return;
    l->has_deadline = true;
    l->deadline_s = s;
    if (s < 0 || s > INT32_MAX) {
        l->deadline_ms = 0;
        return;
    }
    int64_t age_ms = now->unix_ms - l->start_ms;
    int64_t left = s * 1000 - MAX(age_ms, 0);
    l->deadline_ms = now->ms + (uint64_t)MAX(left, 0);
    if (l->deadline_ms == 0)
        l->deadline_ms = 1;
}

static bool is_same_image(const struct pod_container *a, const struct pod_container *b)
{
    return str_eq(a->image, b->image);
}

/* Pauses counted for the old one. */
static void change_image(struct pod_life *l, struct pod_container_life *c,
                         const struct pod_now *now)
{
    c->was_rebuilt = is_busy(c);
    c->pull_backoff_ms = c->backoff_ms = c->retry_ms = 0;
    if (pod_container_at(c) != POD_CONTAINER_WAITING)
        stop_container(c, now->ms + grace_of(l), now);
}

/* Move the record of the container from the old list, or begin a new one. */
static void carry_container(struct pod_life *l, struct pod_container_life *to,
                            const struct pod_container *spec, const struct pod_now *now)
{
    size_t i = pod_life_find(l, spec->name);
    if (i == SIZE_MAX) {
        init_container(to, spec);
        return;
    }
    bool is_changed = !is_same_image(l->containers[i].spec, spec);
    *to = l->containers[i];
    l->containers[i] = (struct pod_container_life){ 0 };
    to->spec = spec;
    to->name = spec->name;
    if (is_changed)
        change_image(l, to, now);
}

void pod_life_set_spec(struct pod_life *l, const struct pod_spec *spec, const struct pod_now *now)
{
    size_t n = count(spec);
    struct pod_container_life *list = xnew_n(struct pod_container_life, n ? n : 1);
    l->spec = spec;
    for (size_t i = 0; i < n; i++)
        carry_container(l, &list[i], pod_spec_at(spec, i), now);
    for (size_t i = 0; i < l->n; i++)
        fini_container(&l->containers[i]);
    free(l->containers);
    l->containers = list;
    l->n = n;
    set_deadline(l, now);
}

/* ---------------------------------------------------------------- the end of a run */

static bool rule_matches(const struct json *rule, int exit_code)
{
    const struct json *codes = json_getc(rule, "exitCodes");
    bool is_in = str_is(json_get_str(codes, "operator"), "In");
    bool is_listed = false;
    if (!codes || !str_is(json_get_str(rule, "action"), "Restart"))
        return false;
    const struct json *values = json_getc(codes, "values");
    for (const struct json *v = json_first(values); v; v = v->next)
        is_listed |= json_int_or(v, -1) == exit_code;
    return is_in == is_listed;
}

static bool rules_restart(const struct pod_container *spec, int exit_code)
{
    for (const struct json *r = json_first(spec->restart_rules); r; r = r->next) {
        if (rule_matches(r, exit_code))
            return true;
    }
    return false;
}

static bool should_restart(const struct pod_life *l, const struct pod_container_life *c)
{
    if (pod_at(l) > POD_ACTIVE || c->kind == POD_CONTAINER_EPHEMERAL)
        return false;
    if (pod_container_is_sidecar(c) || c->was_rebuilt || rules_restart(c->spec, c->end.exit_code))
        return true;
    struct str policy =
        c->spec->restart_policy.n ? c->spec->restart_policy : l->spec->restart_policy;
    if (str_is(policy, "Never") || (c->kind == POD_CONTAINER_INIT && c->end.exit_code == 0))
        return false;
    return str_is(policy, "Always") || c->end.exit_code != 0;
}

static void schedule_restart(struct pod_container_life *c, const struct pod_now *now)
{
    bool is_first = c->backoff_ms == 0 || now->ms > c->backoff_at_ms + POD_BACKOFF_FORGET_MS;
    set_text(&c->message, NULL);
    if (is_first) {
        c->retry_ms = 0;
        c->backoff_ms = POD_BACKOFF_FIRST_MS;
        set_reason(c->reason, "");
    } else {
        c->retry_ms = now->ms + c->backoff_ms;
        free(c->message);
        c->message = xasprintf("back-off %" PRIu64 "s restarting failed container=" STR_FMT,
                               c->backoff_ms / 1000, STR_ARG(c->name));
        c->backoff_ms = earlier(2 * c->backoff_ms, POD_BACKOFF_MAX_MS);
        set_reason(c->reason, "CrashLoopBackOff");
    }
    c->backoff_at_ms = MAX(now->ms, c->retry_ms);
}

static void complete_end(struct pod_container_life *c, const struct pod_now *now)
{
    struct pod_container_end *e = &c->end;
    if (!e->finished_ms)
        e->finished_ms = now->unix_ms;
    if (!e->started_ms)
        e->started_ms = c->started_ms ? c->started_ms : e->finished_ms;
    if (!e->reason[0])
        set_reason(e->reason, e->exit_code == 0 ? "Completed" : "Error");
    if (!e->id && c->id)
        e->id = xstrdup(c->id);
}

static void end_run(struct pod_life *l, struct pod_container_life *c, struct pod_container_end *end,
                    const struct pod_now *now)
{
    pod_container_end_fini(&c->end);
    c->end = *end;
    *end = (struct pod_container_end){ 0 };
    complete_end(c, now);
    c->has_ended = true;
    c->due = POD_DUE_NONE;
    c->is_started = c->is_ready = false;
    c->started_ms = 0;
    if (!should_restart(l, c)) {
        sm_move(&c->sm, POD_CONTAINER_ENDED);
        return;
    }
    sm_move(&c->sm, POD_CONTAINER_WAITING);
    if (c->was_rebuilt)
        c->retry_ms = 0;
    else
        schedule_restart(c, now);
    c->was_rebuilt = false;
}

/* ---------------------------------------------------------------- the end of the pod */

static void begin_ending(struct pod_life *l, enum pod_cause cause, uint64_t grace_ms,
                         const struct pod_now *now)
{
    if (l->cause == POD_CAUSE_NONE)
        l->cause = cause;
    if (pod_at(l) < POD_ENDING) {
        move_pod(l, POD_ENDING);
        l->end_ms = now->ms + grace_ms;
    } else {
        l->end_ms = earlier(l->end_ms, now->ms + grace_ms);
    }
}

/* Containers of this turn: first all but sidecars, then these, the last first. */
static void stop_turn(struct pod_life *l, const struct pod_now *now)
{
    bool is_waited_for = false;
    for (size_t i = l->n; i-- > 0;) {
        struct pod_container_life *c = &l->containers[i];
        if (pod_container_is_sidecar(c))
            continue;
        stop_container(c, l->end_ms, now);
        is_waited_for |= is_busy(c);
    }
    for (size_t i = l->n; i-- > 0 && !is_waited_for;) {
        struct pod_container_life *c = &l->containers[i];
        if (!pod_container_is_sidecar(c))
            continue;
        stop_container(c, l->end_ms, now);
        is_waited_for = is_busy(c);
    }
}

static bool is_any_busy(const struct pod_life *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (is_busy(&l->containers[i]))
            return true;
    }
    return false;
}

static void end_turn(struct pod_life *l, const struct pod_now *now)
{
    stop_turn(l, now);
    if (!is_any_busy(l))
        move_pod(l, POD_TEARING_DOWN);
}

/* ---------------------------------------------------------------- stages of a pod that is active
 */

static bool is_due(const struct pod_container_life *c, const struct pod_now *now)
{
    return pod_container_at(c) == POD_CONTAINER_WAITING && now->ms >= c->retry_ms;
}

static bool begin_pull(struct pod_life *l, size_t i, const struct pod_now *now,
                       struct pod_step *ret)
{
    struct pod_container_life *c = &l->containers[i];
    if (!is_due(c, now))
        return false;
    sm_move(&c->sm, POD_CONTAINER_PULLING);
    *ret = (struct pod_step){ .kind = POD_STEP_PULL, .i = i };
    return true;
}

static void replace_last(struct pod_container_life *c)
{
    if (!c->has_ended)
        return;
    pod_container_end_fini(&c->last);
    c->last = c->end;
    c->end = (struct pod_container_end){ 0 };
    c->has_last = true;
    c->has_ended = false;
    c->restarts++;
}

static bool begin_start(struct pod_life *l, size_t i, struct pod_step *ret)
{
    struct pod_container_life *c = &l->containers[i];
    if (pod_container_at(c) != POD_CONTAINER_PULLED)
        return false;
    sm_move(&c->sm, POD_CONTAINER_STARTING);
    c->has_begun = true;
    replace_last(c);
    *ret = (struct pod_step){ .kind = POD_STEP_START, .i = i };
    return true;
}

/* *ret_held: the main containers have to wait. */
static bool next_init(struct pod_life *l, const struct pod_now *now, struct pod_step *ret,
                      bool *ret_held)
{
    bool has_begun = pod_life_has_main_begun(l);
    *ret_held = false;
    for (size_t i = 0; i < l->n && l->containers[i].kind == POD_CONTAINER_INIT; i++) {
        struct pod_container_life *c = &l->containers[i];
        if (has_begun && !pod_container_is_sidecar(c))
            continue;
        if (pod_container_has_failed(c)) {
            begin_ending(l, POD_CAUSE_NONE, grace_of(l), now);
            *ret_held = true;
            return false;
        }
        if (begin_pull(l, i, now, ret) || begin_start(l, i, ret))
            return true;
        if (!has_begun && pod_container_holds_back(c)) {
            *ret_held = true;
            return false;
        }
    }
    return false;
}

static bool is_on_its_way(const struct pod_container_life *c)
{
    enum pod_container_at at = pod_container_at(c);
    return at >= POD_CONTAINER_PULLING && at <= POD_CONTAINER_POST_START;
}

static bool next_main(struct pod_life *l, const struct pod_now *now, struct pod_step *ret)
{
    size_t n_init = l->spec->n_init, n = n_init + l->spec->n_main;
    bool is_waiting = false;
    for (size_t i = n_init; i < n; i++) {
        if (begin_pull(l, i, now, ret))
            return true;
    }
    for (size_t i = n_init; i < n; i++) {
        if (!is_waiting && begin_start(l, i, ret))
            return true;
        is_waiting |= is_on_its_way(&l->containers[i]);
    }
    return false;
}

/* They wait for no other container, so that they show why init containers fail. */
static bool next_ephemeral(struct pod_life *l, const struct pod_now *now, struct pod_step *ret)
{
    for (size_t i = l->spec->n_init + l->spec->n_main; i < l->n; i++) {
        if (begin_pull(l, i, now, ret) || begin_start(l, i, ret))
            return true;
    }
    return false;
}

static bool are_main_ended(const struct pod_life *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (pod_container_is_main(&l->containers[i]) &&
            pod_container_at(&l->containers[i]) != POD_CONTAINER_ENDED)
            return false;
    }
    return l->spec->n_main > 0;
}

static bool next_active(struct pod_life *l, const struct pod_now *now, struct pod_step *ret)
{
    bool is_held = false;
    if (l->deadline_ms && now->ms >= l->deadline_ms) {
        set_reason(l->reason, "DeadlineExceeded");
        set_text(&l->message, "Pod was active on the node longer than the specified deadline");
        begin_ending(l, POD_CAUSE_DEADLINE, grace_of(l), now);
        return false;
    }
    if (are_main_ended(l)) {
        begin_ending(l, POD_CAUSE_NONE, grace_of(l), now);
        return false;
    }
    return next_ephemeral(l, now, ret) || next_init(l, now, ret, &is_held) ||
           (!is_held && next_main(l, now, ret));
}

/* ---------------------------------------------------------------- events */

void pod_life_prepared(struct pod_life *l, int r, const char *message, const struct pod_now *now)
{
    l->was_prepared |= r == 0;
    if (pod_at(l) != POD_PREPARING)
        return;
    set_text(&l->message, r < 0 ? message : NULL);
    if (r < 0) {
        l->is_asked = false;
        l->retry_ms = now->ms + POD_RETRY_MS;
    } else {
        move_pod(l, POD_ACTIVE);
    }
}

static void wait_again(struct pod_container_life *c, const char *reason, const char *message,
                       uint64_t retry_ms)
{
    sm_move(&c->sm, POD_CONTAINER_WAITING);
    set_reason(c->reason, reason);
    set_text(&c->message, message);
    c->retry_ms = retry_ms;
}

/* The first failure has its own reason, further ones say that there is a back-off. */
static void fail_pull(struct pod_container_life *c, const char *reason, const char *message,
                      const struct pod_now *now)
{
    bool is_again = c->pull_backoff_ms != 0;
    uint64_t ms = is_again ? c->pull_backoff_ms : POD_BACKOFF_FIRST_MS;
    c->pull_backoff_ms = earlier(2 * ms, POD_BACKOFF_MAX_MS);
    if (!is_again) {
        wait_again(c, reason, message, now->ms + ms);
        return;
    }
    scoped(free_scoped) char *text = xasprintf("Back-off pulling image \"" STR_FMT "\": %s: %s",
                                               STR_ARG(c->spec->image), reason, message);
    wait_again(c, "ImagePullBackOff", text, now->ms + ms);
}

void pod_life_pulled(struct pod_life *l, size_t i, int r, const char *reason, const char *message,
                     const char *image, const char *image_id, const struct pod_now *now)
{
    struct pod_container_life *c = &l->containers[i];
    if (pod_container_at(c) != POD_CONTAINER_PULLING)
        return;
    if (r < 0) {
        fail_pull(c, reason, message, now);
        return;
    }
    c->pull_backoff_ms = 0;
    set_text(&c->image, image);
    set_text(&c->image_id, image_id);
    sm_move(&c->sm, POD_CONTAINER_PULLED);
}

/* It runs; its hook is still to come. */
static void begin_run(struct pod_container_life *c, const char *id, const struct pod_now *now)
{
    set_text(&c->id, id);
    set_text(&c->message, NULL);
    set_reason(c->reason, "");
    c->started_ms = now->unix_ms;
    c->is_started = !c->spec->startup;
    c->is_ready = !c->spec->readiness;
}

void pod_life_started(struct pod_life *l, size_t i, int r, const char *reason, const char *message,
                      const char *id, const struct pod_now *now)
{
    struct pod_container_life *c = &l->containers[i];
    enum pod_container_at at = pod_container_at(c);
    assert(at == POD_CONTAINER_STARTING || at == POD_CONTAINER_STOPPING);
    if (r == 0) {
        begin_run(c, id, now);
        if (at == POD_CONTAINER_STOPPING)
            return;
        bool has_hook = c->spec->post_start.kind != POD_ACTION_NONE;
        sm_move(&c->sm, has_hook ? POD_CONTAINER_POST_START : POD_CONTAINER_RUNNING);
        c->due = has_hook ? POD_DUE_POST_START : POD_DUE_NONE;
        return;
    }
    if (str_has_prefix(str_of(reason), STR("CreateContainer")) && at == POD_CONTAINER_STARTING) {
        wait_again(c, reason, message, now->ms + POD_RETRY_MS);
        return;
    }
    struct pod_container_end end = { .exit_code = 128, .started_ms = now->unix_ms };
    set_reason(end.reason, reason);
    set_text(&end.message, message);
    set_text(&end.id, id);
    end_run(l, c, &end, now);
}

void pod_life_ended(struct pod_life *l, size_t i, struct pod_container_end *end,
                    const struct pod_now *now)
{
    assert(is_busy(&l->containers[i]));
    end_run(l, &l->containers[i], end, now);
}

void pod_life_hook_ended(struct pod_life *l, size_t i, int r, const struct pod_now *now)
{
    struct pod_container_life *c = &l->containers[i];
    if (pod_container_at(c) == POD_CONTAINER_PRE_STOP) {
        end_pre_stop(c, now);
    } else if (pod_container_at(c) == POD_CONTAINER_POST_START) {
        if (r < 0)
            stop_container(c, now->ms + grace_of(l), now);
        else
            sm_move(&c->sm, POD_CONTAINER_RUNNING);
    }
}

void pod_life_torn_down(struct pod_life *l)
{
    assert(pod_at(l) == POD_TEARING_DOWN);
    move_pod(l, POD_FINISHED);
}

void pod_life_gone(struct pod_life *l)
{
    l->is_gone = true;
    if (pod_at(l) == POD_DELETING)
        move_pod(l, POD_GONE);
}

static uint64_t probe_grace(const struct pod_life *l, const struct pod_probe *p)
{
    if (p && p->termination_grace_s >= 0)
        return (uint64_t)MIN(p->termination_grace_s, INT32_MAX) * 1000;
    return grace_of(l);
}

bool pod_life_probed(struct pod_life *l, size_t i, enum pod_probe_kind kind, bool success,
                     const struct pod_now *now)
{
    struct pod_container_life *c = &l->containers[i];
    bool is_ending = pod_container_at(c) == POD_CONTAINER_PRE_STOP ||
                     pod_container_at(c) == POD_CONTAINER_STOPPING;
    if (pod_container_at(c) != POD_CONTAINER_RUNNING && !(is_ending && kind == POD_PROBE_READINESS))
        return false;
    bool *flag = kind == POD_PROBE_READINESS ? &c->is_ready : &c->is_started;
    if (kind != POD_PROBE_READINESS && !success) {
        const struct pod_probe *p =
            kind == POD_PROBE_STARTUP ? c->spec->startup : c->spec->liveness;
        stop_container(c, now->ms + probe_grace(l, p), now);
        return true;
    }
    if (kind == POD_PROBE_LIVENESS || *flag == success)
        return false;
    *flag = success;
    return true;
}

void pod_life_delete(struct pod_life *l, uint64_t grace_ms, bool is_gone, const struct pod_now *now)
{
    l->is_deleted = true;
    l->is_gone |= is_gone;
    if (pod_at(l) <= POD_ENDING)
        begin_ending(l, POD_CAUSE_DELETED, grace_ms, now);
    else if (pod_at(l) == POD_DELETING && is_gone)
        move_pod(l, POD_GONE);
}

void pod_life_evict(struct pod_life *l, const char *reason, const char *message, uint64_t grace_ms,
                    const struct pod_now *now)
{
    if (pod_at(l) > POD_ACTIVE)
        return;
    set_reason(l->reason, reason);
    set_text(&l->message, message);
    begin_ending(l, POD_CAUSE_EVICTED, grace_ms, now);
}

void pod_life_refuse(struct pod_life *l, const char *reason, const char *message,
                     const struct pod_now *now)
{
    assert(pod_at(l) == POD_PREPARING && !l->is_asked);
    set_reason(l->reason, reason);
    free(l->message);
    l->message = xasprintf("Pod was rejected: %s", message);
    begin_ending(l, POD_CAUSE_REFUSED, 0, now);
}

void pod_life_restart(struct pod_life *l, size_t i, const struct pod_now *now)
{
    stop_container(&l->containers[i], now->ms + grace_of(l), now);
}

void pod_life_poke(struct pod_life *l)
{
    l->retry_ms = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct pod_container_life *c = &l->containers[i];
        if (str_has_prefix(str_of(c->reason), STR("CreateContainer")))
            c->retry_ms = 0;
    }
}

/* ---------------------------------------------------------------- after a restart of the agent */

void pod_life_restore_prepared(struct pod_life *l)
{
    assert(pod_at(l) == POD_PREPARING && !l->is_asked);
    l->was_prepared = true;
    move_pod(l, POD_ACTIVE);
}

void pod_life_restore_finished(struct pod_life *l)
{
    move_pod(l, POD_FINISHED);
}

void pod_life_restore_running(struct pod_life *l, size_t i, uint32_t restarts, int64_t started_ms,
                              const char *id, const char *image, const char *image_id)
{
    struct pod_container_life *c = &l->containers[i];
    sm_move(&c->sm, POD_CONTAINER_RUNNING);
    begin_run(c, id, &(struct pod_now){ .unix_ms = started_ms });
    set_text(&c->image, image);
    set_text(&c->image_id, image_id);
    c->restarts = restarts;
    c->has_begun = true;
}

void pod_life_restore_probed(struct pod_life *l, size_t i, bool is_started, bool is_ready)
{
    struct pod_container_life *c = &l->containers[i];
    c->is_started |= is_started;
    c->is_ready |= is_ready;
}

void pod_life_restore_ended(struct pod_life *l, size_t i, uint32_t restarts,
                            struct pod_container_end *end, const struct pod_now *now)
{
    struct pod_container_life *c = &l->containers[i];
    assert(pod_container_at(c) == POD_CONTAINER_WAITING);
    c->restarts = restarts;
    c->has_begun = true;
    c->end = *end;
    *end = (struct pod_container_end){ 0 };
    c->has_ended = true;
    complete_end(c, now);
    if (!should_restart(l, c))
        sm_move(&c->sm, POD_CONTAINER_ENDED);
}

void pod_life_restore_lost(struct pod_life *l, size_t i, uint32_t restarts,
                           struct pod_container_end *end, const struct pod_now *now)
{
    struct pod_container_life *c = &l->containers[i];
    pod_life_restore_ended(l, i, restarts, end, now);
    c->has_begun = false;
    /* What it has prepared may be lost. The API lets a status leave "terminated" only where the
     * pod's policy is Always. */
    if (c->kind == POD_CONTAINER_INIT && pod_container_at(c) == POD_CONTAINER_ENDED &&
        c->end.exit_code == 0 && str_is(l->spec->restart_policy, "Always"))
        sm_move(&c->sm, POD_CONTAINER_WAITING);
}

/* ---------------------------------------------------------------- next */

static uint64_t grace_until(uint64_t at_ms, const struct pod_now *now)
{
    return at_ms > now->ms ? at_ms - now->ms : 0;
}

/* A step of one container that an event has made due. */
static bool next_due(struct pod_life *l, const struct pod_now *now, struct pod_step *ret)
{
    for (size_t i = 0; i < l->n; i++) {
        struct pod_container_life *c = &l->containers[i];
        if (now->ms >= c->retry_ms)
            c->retry_ms = 0; /* it may still wait for other containers, without a timer */
        if (pod_container_at(c) == POD_CONTAINER_PRE_STOP && c->due == POD_DUE_NONE &&
            now->ms >= c->kill_ms)
            end_pre_stop(c, now);
        enum pod_due due = c->due;
        if (due == POD_DUE_NONE)
            continue;
        c->due = POD_DUE_NONE;
        *ret = (struct pod_step){ .kind = due == POD_DUE_POST_START ? POD_STEP_POST_START
                                          : due == POD_DUE_PRE_STOP ? POD_STEP_PRE_STOP
                                                                    : POD_STEP_STOP,
                                  .i = i,
                                  .grace_ms = grace_until(c->kill_ms, now) };
        return true;
    }
    return false;
}

static bool ask_once(struct pod_life *l, enum pod_step_kind kind, struct pod_step *ret)
{
    if (l->is_asked)
        return false;
    l->is_asked = true;
    *ret = (struct pod_step){ .kind = kind };
    return true;
}

static bool next_of_pod(struct pod_life *l, const struct pod_now *now, struct pod_step *ret)
{
    switch (pod_at(l)) {
    case POD_PREPARING:
        return now->ms >= l->retry_ms && ask_once(l, POD_STEP_PREPARE, ret);
    case POD_ACTIVE:
        return next_active(l, now, ret);
    case POD_ENDING:
        end_turn(l, now);
        return false;
    case POD_TEARING_DOWN:
        return ask_once(l, POD_STEP_TEAR_DOWN, ret);
    case POD_FINISHED:
        if (l->is_deleted)
            move_pod(l, l->is_gone ? POD_GONE : POD_DELETING);
        return false;
    case POD_DELETING:
        return ask_once(l, POD_STEP_DELETE, ret);
    case POD_GONE:
        return false;
    }
    return false;
}

bool pod_life_next(struct pod_life *l, const struct pod_now *now, struct pod_step *ret)
{
    for (;;) {
        unsigned at = l->sm.at;
        if (next_due(l, now, ret) || next_of_pod(l, now, ret))
            return true;
        /* What has just moved may have made another step due. */
        if (l->sm.at == at && !next_due(l, now, ret))
            return false;
        if (l->sm.at == at)
            return true;
    }
}

static uint64_t wake_of(const struct pod_life *l, const struct pod_container_life *c)
{
    if (pod_container_at(c) == POD_CONTAINER_PRE_STOP)
        return c->kill_ms;
    if (pod_container_at(c) == POD_CONTAINER_WAITING && c->retry_ms && pod_at(l) == POD_ACTIVE)
        return c->retry_ms;
    return UINT64_MAX;
}

uint64_t pod_life_wake_ms(const struct pod_life *l)
{
    uint64_t ms = UINT64_MAX;
    if (pod_at(l) == POD_PREPARING && !l->is_asked)
        ms = l->retry_ms;
    if (pod_at(l) == POD_ACTIVE && l->deadline_ms)
        ms = earlier(ms, l->deadline_ms);
    for (size_t i = 0; i < l->n; i++)
        ms = earlier(ms, wake_of(l, &l->containers[i]));
    return ms;
}
