/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker of one pod: asks the life cycle for steps and carries them out. Read from turn() at
 * the end upwards.
 */
#include "agent/agent_impl.h"
#include "agent/evict.h"
#include "agent/hook.h"
#include "agent/logs.h"
#include "agent/mirror.h"
#include "agent/pause.h"
#include "agent/pod/eviction.h"
#include "agent/pod/resources.h"
#include "agent/proxy/service_proxy.h"
#include "agent/pull.h"
#include "agent/resize.h"
#include "agent/run_record.h"
#include "agent/shutdown.h"

#include "base/clock.h"

struct pod_now agent_now(const struct agent *a)
{
    return (struct pod_now){ .ms = loop_now_ms(a->loop), .unix_ms = clock_wall_ms() };
}

size_t agent_container_index(const struct agent_container *c)
{
    return pod_life_find(&c->pod->life, str_of(c->name));
}

struct agent_container *agent_pod_container(struct agent_pod *p, struct str name)
{
    list_each (node, &p->containers) {
        struct agent_container *c = list_entry(node, struct agent_container, node);
        if (str_is(name, c->name))
            return c;
    }
    return NULL;
}

/* ---------------------------------------------------------------- containers of the spec */

static void add_container(struct agent_pod *p, struct str name)
{
    struct agent_container *c = xnew(struct agent_container);
    c->pod = p;
    c->name = str_dup(name);
    list_push_back(&p->containers, &c->node);
}

static void free_container(struct agent_container *c)
{
    agent_pull_cancel(c);
    if (c->hook)
        agent_hook_cancel(c->hook);
    if (c->image)
        c->pod->agent->images.ops->put(c->pod->agent->images.arg, c->image);
    list_remove(&c->node);
    free(c->early);
    free(c->name);
    free(c);
}

/* Containers are only added to a pod: ephemeral ones. */
static void add_new_containers(struct agent_pod *p)
{
    for (size_t i = 0; i < p->life.n; i++) {
        if (!agent_pod_container(p, p->life.containers[i].name))
            add_container(p, p->life.containers[i].name);
    }
}

/* ---------------------------------------------------------------- steps */

static struct agent_container *container_at(struct agent_pod *p, size_t i)
{
    struct agent_container *c = agent_pod_container(p, p->life.containers[i].name);
    assert(c);
    return c;
}

static void stop(struct agent_pod *p, size_t i, uint64_t grace_ms)
{
    struct agent_container *c = container_at(p, i);
    if (c->hook)
        agent_hook_cancel(c->hook);
    assert(c->run);
    agent_event(p, c->name, false, "Killing", "Stopping container %s", c->name);
    agent_run_stop(c->run, grace_ms);
}

static bool has_name_of(const struct agent_pod *p, const struct agent_pod *other)
{
    return other != p && strcmp(other->name, p->name) == 0 &&
           strcmp(other->namespace, p->namespace) == 0;
}

/* Another pod of this name that has begun: the two may have the same files and ports. */
static struct agent_pod *find_before(const struct agent_pod *p)
{
    map_each (e, &p->agent->pods) {
        struct agent_pod *other = e->value;
        if (has_name_of(p, other) &&
            (pod_at(&other->life) != POD_PREPARING || other->prepare.at != AGENT_PREPARE_NONE))
            return other;
    }
    return NULL;
}

/* p has ended. One that was deleted meanwhile stays as it is. */
static void release(struct agent_pod *p)
{
    map_each (e, &p->agent->pods) {
        struct agent_pod *other = e->value;
        if (!other->is_held || !has_name_of(p, other))
            continue;
        other->is_held = false;
        if (pod_at(&other->life) == POD_PREPARING)
            agent_prepare(other);
        agent_pod_look(other);
        return;
    }
}

static void carry_out(struct agent_pod *p, const struct pod_step *s)
{
    switch (s->kind) {
    case POD_STEP_PREPARE:
        p->is_held = find_before(p) != NULL;
        if (!p->is_held)
            agent_prepare(p);
        break;
    case POD_STEP_PULL:
        agent_pull_start(container_at(p, s->i));
        break;
    case POD_STEP_START:
        agent_start_container(p, s->i);
        break;
    case POD_STEP_POST_START:
    case POD_STEP_PRE_STOP:
        agent_hook_start(container_at(p, s->i), s->kind == POD_STEP_PRE_STOP, s->grace_ms);
        break;
    case POD_STEP_STOP:
        stop(p, s->i, s->grace_ms);
        break;
    case POD_STEP_TEAR_DOWN:
        agent_tear_down(p);
        break;
    case POD_STEP_DELETE:
        agent_report_delete(p);
        break;
    }
}

/* ---------------------------------------------------------------- what follows from the states */

/* A pull whose container does not want it any more. */
static void cancel_pulls(struct agent_pod *p)
{
    list_each (node, &p->containers) {
        struct agent_container *c = list_entry(node, struct agent_container, node);
        size_t i = agent_container_index(c);
        if (c->early && i != SIZE_MAX && p->prepare.at == AGENT_PREPARE_WAITS)
            continue;
        if (i == SIZE_MAX || pod_container_at(&p->life.containers[i]) != POD_CONTAINER_PULLING)
            agent_pull_cancel(c);
    }
}

/* Probes run while their container does. */
static void set_probes(struct agent_pod *p)
{
    list_each (node, &p->containers) {
        struct agent_container *c = list_entry(node, struct agent_container, node);
        size_t i = agent_container_index(c);
        if (c->run && i != SIZE_MAX)
            agent_run_probe(c->run, i, false);
    }
}

static void on_timer(struct timer *t)
{
    agent_pod_look(container_of(t, struct agent_pod, timer));
}

static void arm(struct agent_pod *p)
{
    uint64_t at = pod_life_wake_ms(&p->life), now = loop_now_ms(p->agent->loop);
    if (at == UINT64_MAX)
        timer_stop(p->agent->loop, &p->timer);
    else
        timer_start(p->agent->loop, &p->timer, at > now ? at - now : 0, on_timer);
}

static void free_pod(struct agent_pod *p)
{
    assert(list_is_empty(&p->runs));
    (void)map_del(&p->agent->pods, str_of(p->uid));
    defer_cancel(&p->turn);
    timer_stop(p->agent->loop, &p->timer);
    agent_evict_forget(p);
    agent_report_cancel(p);
    list_each_safe (node, &p->containers)
        free_container(list_entry(node, struct agent_container, node));
    agent_prepare_leave(p);
    pod_life_fini(&p->life);
    arena_fini(p->arena);
    free(p->arena);
    arena_fini(&p->status_arena);
    free(p->uid);
    free(p->namespace);
    free(p->name);
    free(p->dir);
    free(p->log_dir);
    free(p->group);
    free(p->static_text);
    free(p->mirror_uid);
    free(p->sent);
    free(p->sending);
    free(p);
}

static void turn(struct defer *d)
{
    struct agent_pod *p = container_of(d, struct agent_pod, turn);
    struct agent *a = p->agent;
    struct pod_now now = agent_now(a);
    struct pod_step step;
    while (pod_life_next(&p->life, &now, &step))
        carry_out(p, &step);
    if (pod_at(&p->life) == POD_GONE) {
        agent_run_record_remove(p);
        if (p->static_text)
            agent_mirror_drop(p);
        agent_logs_remove(p);
        release(p);
        free_pod(p);
        if (a->on_pods)
            a->on_pods(a->arg, a->pods.n);
        agent_shutdown_look(a);
        return;
    }
    cancel_pulls(p);
    set_probes(p);
    agent_evict_watch(p);
    arm(p);
    agent_report(p);
    agent_shutdown_look(a);
}

void agent_pod_look(struct agent_pod *p)
{
    if (!p->is_leaving)
        defer_start(p->agent->loop, &p->turn, turn);
}

/* ---------------------------------------------------------------- beginning, spec, end */

static void keep_status(struct agent_pod *p, const struct json *object)
{
    const struct json *status = json_getc(object, "status");
    arena_reset(&p->status_arena);
    p->object_status =
        status && p->spec->n_readiness_gates > 0 ? json_clone(&p->status_arena, status) : NULL;
}

static int64_t start_of(const struct json *object)
{
    int64_t us;
    if (rfc3339_parse(json_get_str(json_getc(object, "status"), "startTime"), &us) < 0)
        return 0;
    return us / 1000;
}

void agent_pod_check_deletion(struct agent_pod *p)
{
    struct pod_now now = agent_now(p->agent);
    if (!p->spec->deletion.n)
        return;
    int64_t s = p->spec->deletion_grace_s >= 0 ? p->spec->deletion_grace_s : p->spec->grace_s;
    pod_life_delete(&p->life, (uint64_t)MIN(MAX(s, 0), INT32_MAX) * 1000, false, &now);
}

struct agent_pod *agent_pod_new(struct agent *a, struct pod_spec *spec, struct arena *arena,
                                const struct json *object)
{
    struct agent_pod *p = xnew(struct agent_pod);
    struct pod_now now = agent_now(a);
    *p = (struct agent_pod){ .agent = a,
                             .spec = spec,
                             .arena = arena,
                             .uid = str_dup(spec->uid),
                             .namespace = str_dup(spec->namespace),
                             .name = str_dup(spec->name) };
    sm_init(&p->prepare, agent_prepare_table, AGENT_PREPARE_NONE);
    list_init(&p->containers);
    list_init(&p->runs);
    list_init(&p->image_volumes);
    p->dir = xasprintf("%s/%s", a->pods_dir, p->uid);
    p->has_storage_limit = pod_storage_is_limited(spec);
    struct arena path = { 0 };
    p->group = str_dup(pod_cgroup_path(&path, spec));
    arena_fini(&path);
    p->log_dir = xasprintf("%s/%s_%s_%s", a->log_dir, p->namespace, p->name, p->uid);
    pod_conditions_read(json_getc(object, "status"), &p->conditions);
    pod_life_init(&p->life, spec, start_of(object), &now);
    add_new_containers(p);
    keep_status(p, object);
    (void)map_put(&a->pods, str_of(p->uid), p);
    if (a->proxy)
        service_proxy_want(a->proxy);
    return p;
}

void agent_pod_set_spec(struct agent_pod *p, struct pod_spec *spec, struct arena *arena,
                        const struct json *object)
{
    struct pod_now now = agent_now(p->agent);
    struct arena *old = p->arena;
    const struct pod_spec *old_spec = p->spec;
    p->spec = spec;
    p->arena = arena;
    p->has_storage_limit = pod_storage_is_limited(spec);
    pod_life_set_spec(&p->life, spec, &now);
    agent_prepare_update(p); /* volumes have kept the old one */
    agent_resize(p, old_spec);
    arena_fini(old);
    free(old);
    add_new_containers(p);
    keep_status(p, object);
    agent_report_seen(p, json_getc(object, "status"));
    agent_pod_check_deletion(p);
    agent_pod_look(p);
}

/* The object is gone from the API, or its file from the disk. */
void agent_pod_gone(struct agent_pod *p, uint64_t grace_ms)
{
    struct pod_now now = agent_now(p->agent);
    pod_life_delete(&p->life, grace_ms, true, &now);
    agent_pod_look(p);
}

static bool is_pending(const struct agent_pod *p)
{
    return p->n_leaving > 0 || p->ipc_at == AGENT_IPC_MAKING || p->users_at == AGENT_USERS_MAKING ||
           !list_is_empty(&p->runs);
}

void agent_pod_left(struct agent_pod *p)
{
    struct agent *a = p->agent;
    assert(p->is_leaving);
    if (is_pending(p))
        return;
    free_pod(p);
    agent_part_stopped(a);
}

/* What runs stays; what is being removed is waited for. */
void agent_pod_leave(struct agent_pod *p)
{
    list_each_safe (node, &p->runs) {
        struct agent_run *r = list_entry(node, struct agent_run, node);
        agent_run_end_now(r); /* so that it is in the record */
        if (!r->is_removing)
            agent_run_free(r);
    }
    agent_pause_leave(p);
    if (timer_is_armed(&p->group_timer)) {
        timer_stop(p->agent->loop, &p->group_timer);
        p->n_leaving--; /* the next process removes it */
    }
    if (!is_pending(p)) {
        free_pod(p);
        return;
    }
    list_each (node, &p->containers)
        agent_pull_cancel(list_entry(node, struct agent_container, node));
    p->is_leaving = true;
    p->agent->n_stopping++;
    defer_cancel(&p->turn);
    timer_stop(p->agent->loop, &p->timer);
    agent_evict_forget(p);
    agent_report_cancel(p);
    (void)map_del(&p->agent->pods, str_of(p->uid));
}
