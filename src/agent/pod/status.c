/* SPDX-License-Identifier: Apache-2.0 */
/* PodStatus from the life cycle; see status.h. */
#include "agent/pod/status.h"

#include "base/clock.h"

static const char *const condition_names[POD_CONDITIONS] = {
    [POD_CONDITION_READY_TO_START] = "PodReadyToStartContainers",
    [POD_CONDITION_INITIALIZED] = "Initialized",
    [POD_CONDITION_READY] = "Ready",
    [POD_CONDITION_CONTAINERS_READY] = "ContainersReady",
    [POD_CONDITION_DISRUPTION_TARGET] = "DisruptionTarget",
};

static void set_cstr(struct arena *a, struct json *to, const char *key, const char *text)
{
    if (text && text[0])
        json_setc(a, to, key, json_new_cstr(a, text));
}

static void set_time(struct arena *a, struct json *to, const char *key, int64_t unix_s)
{
    char text[RFC3339_MAX];
    rfc3339_format(unix_s, text);
    json_setc(a, to, key, json_new_cstr(a, text));
}

/* ---------------------------------------------------------------- conditions */

void pod_conditions_read(const struct json *status, struct pod_conditions *ret)
{
    *ret = (struct pod_conditions){ 0 };
    json_each (c, json_getc(status, "conditions")) {
        for (unsigned i = 0; i < POD_CONDITIONS; i++) {
            int64_t us;
            if (!str_is(json_get_str(c, "type"), condition_names[i]) ||
                rfc3339_parse(json_get_str(c, "lastTransitionTime"), &us) < 0)
                continue;
            ret->at[i].is_known = true;
            ret->at[i].is_true = str_is(json_get_str(c, "status"), "True");
            ret->at[i].since_s = us / 1000000;
        }
    }
}

bool pod_conditions_are_in(const struct pod_conditions *c, const struct json *status)
{
    struct pod_conditions there;
    pod_conditions_read(status, &there);
    for (unsigned i = 0; i < POD_CONDITIONS; i++) {
        if (c->at[i].is_known && (!there.at[i].is_known || there.at[i].is_true != c->at[i].is_true))
            return false;
    }
    return true;
}

static struct json *add_condition(struct arena *a, struct json *list, enum pod_condition which,
                                  bool is_true, const struct pod_status_facts *facts,
                                  struct pod_conditions *memory)
{
    struct json *c = json_new_object(a);
    if (!memory->at[which].is_known || memory->at[which].is_true != is_true) {
        memory->at[which].is_known = true;
        memory->at[which].is_true = is_true;
        memory->at[which].since_s = facts->now_s;
    }
    json_setc(a, c, "type", json_new_cstr(a, condition_names[which]));
    json_setc(a, c, "status", json_new_cstr(a, is_true ? "True" : "False"));
    json_setc(a, c, "lastProbeTime", json_new_null(a));
    set_time(a, c, "lastTransitionTime", memory->at[which].since_s);
    json_add(list, c);
    return c;
}

/* Why a condition is false. */
struct unmet {
    const char *reason; /* NULL: it is true */
    char *message;
};

static void name_container(struct arena *a, char **names, const struct pod_container_life *c)
{
    *names = *names ? arena_printf(a, "%s " STR_FMT, *names, STR_ARG(c->name))
                    : arena_printf(a, STR_FMT, STR_ARG(c->name));
}

static bool is_init_complete(const struct pod_container_life *c)
{
    if (c->spec->is_sidecar)
        return pod_container_runs(c) && c->is_started;
    return pod_container_at(c) == POD_CONTAINER_ENDED && c->has_ended && c->end.exit_code == 0;
}

static struct unmet check_initialized(struct arena *a, const struct pod_life *l)
{
    char *names = NULL;
    if (pod_life_is_initialized(l))
        return (struct unmet){ 0 };
    for (size_t i = 0; i < l->n; i++) {
        if (l->containers[i].kind == POD_CONTAINER_INIT && !is_init_complete(&l->containers[i]))
            name_container(a, &names, &l->containers[i]);
    }
    return (struct unmet){ "ContainersNotInitialized",
                           arena_printf(a, "containers with incomplete status: [%s]",
                                        names ? names : "") };
}

static struct unmet check_ready(struct arena *a, const struct pod_life *l)
{
    char *names = NULL;
    if (str_is(str_of(pod_life_phase(l)), "Succeeded"))
        return (struct unmet){ "PodCompleted", NULL };
    if (str_is(str_of(pod_life_phase(l)), "Failed"))
        return (struct unmet){ "PodFailed", NULL };
    for (size_t i = 0; i < l->n; i++) {
        const struct pod_container_life *c = &l->containers[i];
        bool counts = c->kind == POD_CONTAINER_MAIN || c->spec->is_sidecar;
        if (counts && !pod_container_is_ready(c))
            name_container(a, &names, c);
    }
    if (!names)
        return (struct unmet){ 0 };
    return (struct unmet){ "ContainersNotReady",
                           arena_printf(a, "containers with unready status: [%s]", names) };
}

static bool is_gate_true(const struct json *status, struct str type)
{
    json_each (c, json_getc(status, "conditions")) {
        if (str_eq(json_get_str(c, "type"), type))
            return str_is(json_get_str(c, "status"), "True");
    }
    return false;
}

static struct unmet check_gates(struct arena *a, const struct pod_life *l,
                                const struct pod_status_facts *facts)
{
    for (size_t i = 0; i < l->spec->n_readiness_gates; i++) {
        struct str gate = l->spec->readiness_gates[i];
        if (!is_gate_true(facts->object_status, gate))
            return (struct unmet){ "ReadinessGatesNotReady",
                                   arena_printf(a,
                                                "the status of pod readiness gate \"" STR_FMT
                                                "\" is not \"True\", but False",
                                                STR_ARG(gate)) };
    }
    return (struct unmet){ 0 };
}

static void add_checked(struct arena *a, struct json *list, enum pod_condition which,
                        struct unmet unmet, const struct pod_status_facts *facts,
                        struct pod_conditions *memory)
{
    struct json *c = add_condition(a, list, which, !unmet.reason, facts, memory);
    set_cstr(a, c, "reason", unmet.reason);
    set_cstr(a, c, "message", unmet.message);
}

static struct json *make_conditions(struct arena *a, const struct pod_life *l,
                                    const struct pod_status_facts *facts,
                                    struct pod_conditions *memory)
{
    struct json *list = json_new_array(a);
    struct unmet initialized = check_initialized(a, l), containers = check_ready(a, l);
    struct unmet ready = containers.reason ? containers : check_gates(a, l, facts);
    if (str_is(str_of(pod_life_phase(l)), "Succeeded"))
        initialized.reason = NULL;
    (void)add_condition(a, list, POD_CONDITION_READY_TO_START, facts->has_network, facts, memory);
    add_checked(a, list, POD_CONDITION_INITIALIZED, initialized, facts, memory);
    add_checked(a, list, POD_CONDITION_READY, ready, facts, memory);
    add_checked(a, list, POD_CONDITION_CONTAINERS_READY, containers, facts, memory);
    if (l->cause == POD_CAUSE_EVICTED) {
        struct json *c =
            add_condition(a, list, POD_CONDITION_DISRUPTION_TARGET, true, facts, memory);
        set_cstr(a, c, "reason", "TerminationByKubelet");
        set_cstr(a, c, "message", l->message);
    }
    return list;
}

/* ---------------------------------------------------------------- containers */

static struct json *make_terminated(struct arena *a, const struct pod_container_end *e)
{
    struct json *t = json_new_object(a);
    json_set_int(a, t, "exitCode", e->exit_code);
    if (e->signal)
        json_set_int(a, t, "signal", e->signal);
    set_cstr(a, t, "reason", e->reason);
    set_cstr(a, t, "message", e->message);
    set_time(a, t, "startedAt", e->started_ms / 1000);
    set_time(a, t, "finishedAt", e->finished_ms / 1000);
    set_cstr(a, t, "containerID", e->id);
    return t;
}

static struct json *wrap(struct arena *a, const char *key, struct json *v)
{
    struct json *o = json_new_object(a);
    if (v)
        json_setc(a, o, key, v);
    return o;
}

static struct json *make_waiting(struct arena *a, const struct pod_life *l,
                                 const struct pod_container_life *c)
{
    struct json *w = json_new_object(a);
    const char *reason = c->reason;
    bool has_init = l->spec->n_init > 0 && c->kind == POD_CONTAINER_MAIN;
    if (!reason[0])
        reason = has_init && !pod_life_is_initialized(l) ? "PodInitializing" : "ContainerCreating";
    set_cstr(a, w, "reason", reason);
    set_cstr(a, w, "message", c->message);
    return w;
}

static struct json *make_state(struct arena *a, const struct pod_life *l,
                               const struct pod_container_life *c)
{
    if (pod_container_runs(c)) {
        struct json *r = json_new_object(a);
        set_time(a, r, "startedAt", c->started_ms / 1000);
        return wrap(a, "running", r);
    }
    if (c->has_ended && (!c->reason[0] || pod_container_at(c) == POD_CONTAINER_ENDED))
        return wrap(a, "terminated", make_terminated(a, &c->end));
    return wrap(a, "waiting", make_waiting(a, l, c));
}

/* The run before the state: the last that has ended, unless the state shows it. */
static struct json *make_last_state(struct arena *a, const struct pod_container_life *c,
                                    const struct json *state)
{
    const struct pod_container_end *e = NULL;
    if (c->has_ended && !json_getc(state, "terminated"))
        e = &c->end;
    else if (c->has_last)
        e = &c->last;
    return wrap(a, "terminated", e ? make_terminated(a, e) : NULL);
}

static struct json *make_container(struct arena *a, const struct pod_life *l, size_t i,
                                   const struct pod_status_facts *facts)
{
    const struct pod_container_life *c = &l->containers[i];
    struct json *s = json_new_object(a), *state = make_state(a, l, c);
    bool is_plain_init = c->kind == POD_CONTAINER_INIT && !c->spec->is_sidecar;
    const char *id = c->id ? c->id : c->has_ended ? c->end.id : NULL;
    json_set_str(a, s, "name", c->name);
    json_setc(a, s, "state", state);
    json_setc(a, s, "lastState", make_last_state(a, c, state));
    json_set_bool(a, s, "ready", is_plain_init ? is_init_complete(c) : pod_container_is_ready(c));
    json_set_int(a, s, "restartCount", c->restarts);
    json_setc(a, s, "image",
              c->image ? json_new_cstr(a, c->image) : json_new_str(a, c->spec->image));
    json_setc(a, s, "imageID", json_new_cstr(a, c->image_id ? c->image_id : ""));
    set_cstr(a, s, "containerID", id);
    json_set_bool(a, s, "started",
                  pod_container_runs(c) && c->is_started &&
                      pod_container_at(c) != POD_CONTAINER_POST_START);
    if (facts->extend)
        facts->extend(facts->arg, a, i, s);
    return s;
}

static void add_containers(struct arena *a, struct json *status, const char *key,
                           enum pod_container_kind kind, const struct pod_life *l,
                           const struct pod_status_facts *facts)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < l->n; i++) {
        if (l->containers[i].kind == kind)
            json_add(list, make_container(a, l, i, facts));
    }
    if (list->n > 0)
        json_setc(a, status, key, list);
}

/* ---------------------------------------------------------------- the status */

static void add_ips(struct arena *a, struct json *status, const char *first, const char *all,
                    const struct str *ips, size_t n)
{
    struct json *list = json_new_array(a);
    if (n == 0)
        return;
    json_set_str(a, status, first, ips[0]);
    for (size_t i = 0; i < n; i++) {
        struct json *one = json_new_object(a);
        json_set_str(a, one, "ip", ips[i]);
        json_add(list, one);
    }
    json_setc(a, status, all, list);
}

struct json *pod_status_make(struct arena *a, const struct pod_life *l,
                             const struct pod_status_facts *facts, struct pod_conditions *memory)
{
    struct json *s = json_new_object(a);
    if (l->spec->generation > 0)
        json_set_int(a, s, "observedGeneration", l->spec->generation);
    json_setc(a, s, "phase", json_new_cstr(a, pod_life_phase(l)));
    json_setc(a, s, "conditions", make_conditions(a, l, facts, memory));
    set_cstr(a, s, "reason", l->reason);
    if (l->reason[0])
        set_cstr(a, s, "message", l->message);
    add_ips(a, s, "hostIP", "hostIPs", facts->host_ips, facts->n_host_ips);
    add_ips(a, s, "podIP", "podIPs", facts->pod_ips, facts->n_pod_ips);
    set_time(a, s, "startTime", l->start_ms / 1000);
    add_containers(a, s, "initContainerStatuses", POD_CONTAINER_INIT, l, facts);
    add_containers(a, s, "containerStatuses", POD_CONTAINER_MAIN, l, facts);
    add_containers(a, s, "ephemeralContainerStatuses", POD_CONTAINER_EPHEMERAL, l, facts);
    set_cstr(a, s, "qosClass", facts->qos);
    return s;
}
