/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/evict.h"

#include "agent/agent_impl.h"
#include "agent/image_gc.h"
#include "agent/pod/eviction.h"
#include "agent/pod/resources.h"

#include <inttypes.h>
#include <stdio.h>

/* A measurement of a pod's storage. */
struct agent_measure {
    struct agent *agent;
    char *uid;
    VEC(char *) dirs;   /* of each container its logs, and its writable layer if it has a run */
    VEC(size_t) owners; /* of each of dirs: an index of names */
    VEC(char *) names;  /* of containers */
    /* p NULL: it has gone meanwhile; used: of all. */
    void (*done)(struct agent *a, struct agent_pod *p, uint64_t used, const char *problem);
};

/* What is asked of all pods when the disk is short. */
struct agent_evict {
    struct agent *agent;
    struct agent_pressure pressure;
    VEC(char *) left; /* uids of pods that are not measured yet */
    VEC(struct pod_eviction_candidate) list;
    VEC(char *) uids; /* of list */
    bool is_measuring;
};

/* ---------------------------------------------------------------- measuring one pod */

static void free_measure(struct agent_measure *m)
{
    vec_each (d, &m->dirs)
        free(*d);
    vec_each (n, &m->names)
        free(*n);
    vec_fini(&m->dirs);
    vec_fini(&m->owners);
    vec_fini(&m->names);
    free(m->uid);
    free(m);
}

static const struct volume_usage *find_usage(const struct volume_usage *list, size_t n,
                                             const char *dir)
{
    for (size_t i = 0; i < n; i++) {
        if (str_is(list[i].name, dir))
            return &list[i];
    }
    return NULL;
}

static void judge(struct agent_measure *m, struct agent_pod *p, const struct volume_usage *list,
                  size_t n)
{
    char problem[POD_EVICTION_TEXT_MAX] = "";
    VEC(struct pod_storage) volumes = { 0 }, containers = { 0 };
    uint64_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (pod_spec_volume(p->spec, list[i].name))
            vec_push(&volumes, ((struct pod_storage){ .name = list[i].name,
                                                      .used = list[i].used_bytes,
                                                      .is_ephemeral = list[i].is_ephemeral }));
        used += list[i].is_ephemeral || !pod_spec_volume(p->spec, list[i].name) ? list[i].used_bytes
                                                                                : 0;
    }
    vec_each (name, &m->names)
        vec_push(&containers, ((struct pod_storage){ .name = str_of(*name) }));
    for (size_t i = 0; i < m->dirs.n; i++) {
        const struct volume_usage *u = find_usage(list, n, m->dirs.p[i]);
        containers.p[m->owners.p[i]].used += u ? u->used_bytes : 0;
    }
    bool exceeds =
        pod_storage_exceeds(p->spec, volumes.p, volumes.n, containers.p, containers.n, problem);
    vec_fini(&volumes);
    vec_fini(&containers);
    m->done(m->agent, p, used, exceeds ? problem : NULL);
}

static void on_usage(void *arg, const struct volume_usage *list, size_t n)
{
    struct agent_measure *m = arg;
    struct agent_pod *p = map_get(&m->agent->pods, str_of(m->uid));
    m->agent->n_measures--;
    if (p && !m->agent->is_stopping)
        judge(m, p, list, n);
    else if (!m->agent->is_stopping)
        m->done(m->agent, NULL, 0, NULL);
    if (m->agent->is_stopping)
        agent_part_stopped(m->agent);
    free_measure(m);
}

static void add_container(struct agent_measure *m, const struct agent_pod *p,
                          const struct agent_container *c)
{
    size_t owner = m->names.n;
    vec_push(&m->names, xstrdup(c->name));
    vec_push(&m->dirs, xasprintf("%s/%s", p->log_dir, c->name));
    vec_push(&m->owners, owner);
    if (!c->run)
        return;
    vec_push(&m->dirs, xasprintf("%s/upper", c->run->dir));
    vec_push(&m->owners, owner);
}

static bool measure(struct agent_pod *p, void (*done)(struct agent *a, struct agent_pod *p,
                                                      uint64_t used, const char *problem))
{
    struct err err = { 0 };
    if (!p->volumes || volume_pod_at(p->volumes) != VOLUME_POD_READY)
        return false;
    struct agent_measure *m = xnew(struct agent_measure);
    *m = (struct agent_measure){ .agent = p->agent, .uid = xstrdup(p->uid), .done = done };
    list_each (node, &p->containers)
        add_container(m, p, list_entry(node, struct agent_container, node));
    if (volume_usage_start(p->volumes, (const char *const *)m->dirs.p, m->dirs.n, on_usage, m,
                           &err) < 0) {
        free_measure(m);
        return false;
    }
    p->agent->n_measures++;
    return true;
}

/* ---------------------------------------------------------------- limits of a pod */

static void evict(struct agent_pod *p, const char *message)
{
    struct pod_now now = agent_now(p->agent);
    if (pod_at(&p->life) > POD_ACTIVE)
        return;
    log_warn("a pod is evicted", "pod=%s/%s reason=\"%s\"", p->namespace, p->name, message);
    agent_event(p, NULL, true, POD_EVICTED, "%s", message);
    pod_life_evict(&p->life, POD_EVICTED, message, AGENT_EVICT_GRACE_MS, &now);
    agent_pod_look(p);
}

static void on_storage_timer(struct timer *t);

static void on_measured(struct agent *a, struct agent_pod *p, uint64_t used, const char *problem)
{
    if (p && problem)
        evict(p, problem);
    else if (p)
        agent_evict_watch(p);
}

static void on_storage_timer(struct timer *t)
{
    struct agent_pod *p = container_of(t, struct agent_pod, storage_timer);
    if (!measure(p, on_measured))
        agent_evict_watch(p);
}

void agent_evict_watch(struct agent_pod *p)
{
    if (p->agent->is_stopping || pod_at(&p->life) > POD_ACTIVE || !p->has_storage_limit)
        timer_stop(p->agent->loop, &p->storage_timer);
    else if (!timer_is_armed(&p->storage_timer))
        timer_start(p->agent->loop, &p->storage_timer, AGENT_STORAGE_MS, on_storage_timer);
}

void agent_evict_forget(struct agent_pod *p)
{
    timer_stop(p->agent->loop, &p->storage_timer);
}

/* ---------------------------------------------------------------- the machine runs short */

static bool is_protected(const struct agent_pod *p)
{
    return p->static_text || pod_is_critical(p->spec) || pod_at(&p->life) > POD_ACTIVE;
}

static uint64_t requested_memory(const struct pod_spec *spec)
{
    struct pod_need need = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    (void)pod_need_of_pod(spec, &need, NULL);
    return (uint64_t)MAX(need.requests.memory_bytes, 0);
}

static void add_candidate(struct agent_evict *e, const struct agent_pod *p, uint64_t used,
                          uint64_t requested)
{
    vec_push(&e->list, ((struct pod_eviction_candidate){ .priority = p->spec->priority,
                                                         .is_protected = is_protected(p),
                                                         .used = used,
                                                         .requested = requested }));
    vec_push(&e->uids, xstrdup(p->uid));
}

static void clear(struct agent_evict *e)
{
    vec_each (u, &e->uids)
        free(*u);
    vec_each (u, &e->left)
        free(*u);
    vec_fini(&e->uids);
    vec_fini(&e->left);
    vec_fini(&e->list);
}

/* One that ends gives back what it used soon: no other one has to go meanwhile. */
static bool is_any_ending(const struct agent *a)
{
    map_each (e, &a->pods) {
        const struct agent_pod *p = e->value;
        if (p->life.cause == POD_CAUSE_EVICTED && pod_at(&p->life) < POD_FINISHED)
            return true;
    }
    return false;
}

static void end_one(struct agent_evict *e, enum pod_eviction_resource resource)
{
    static const char *const names[] = { [POD_EVICTION_MEMORY] = "memory",
                                         [POD_EVICTION_STORAGE] = "ephemeral-storage",
                                         [POD_EVICTION_PROCESSES] = "pids" };
    char text[POD_EVICTION_TEXT_MAX];
    size_t i = pod_eviction_choose(resource, e->list.p, e->list.n);
    struct agent_pod *p = i == SIZE_MAX ? NULL : map_get(&e->agent->pods, str_of(e->uids.p[i]));
    if (p) {
        (void)snprintf(text, sizeof text,
                       "The node was low on resource: %s. Threshold quantity: %" PRIu64
                       ", available: %" PRIu64 ". The pod was using %" PRIu64
                       ", request is %" PRIu64 ". ",
                       names[resource], e->pressure.minimum, e->pressure.available,
                       e->list.p[i].used, e->list.p[i].requested);
        evict(p, text);
    } else if (i == SIZE_MAX) {
        log_warn("the machine runs short, and no pod may be evicted", "resource=%s",
                 names[resource]);
    }
    clear(e);
}

static void measure_next(struct agent_evict *e);

static void on_pod_measured(struct agent *a, struct agent_pod *p, uint64_t used,
                            const char *problem)
{
    if (p)
        add_candidate(a->evict, p, used, pod_storage_requested(p->spec));
    measure_next(a->evict);
}

/* One after the other: it is a walk through their files. */
static void measure_next(struct agent_evict *e)
{
    while (e->left.n > 0) {
        scoped(free_scoped) char *uid = e->left.p[--e->left.n];
        struct agent_pod *p = map_get(&e->agent->pods, str_of(uid));
        if (p && measure(p, on_pod_measured))
            return;
    }
    e->is_measuring = false;
    /* Meanwhile the disk may have got room, by what a pod has removed or another's eviction. */
    if (e->pressure.disk && !is_any_ending(e->agent))
        end_one(e, POD_EVICTION_STORAGE);
    else
        clear(e);
}

static void measure_all(struct agent_evict *e)
{
    map_each (entry, &e->agent->pods)
        vec_push(&e->left, str_dup(entry->key));
    e->is_measuring = true;
    measure_next(e);
}

void agent_set_pressure(struct agent *a, const struct agent_pressure *pressure)
{
    struct agent_evict *e = a->evict;
    struct container_usage u;
    bool is_any = pressure->memory || pressure->disk || pressure->processes;
    e->pressure = *pressure;
    if (!is_any || a->is_stopping || !a->is_synced || e->is_measuring || is_any_ending(a))
        return;
    if (!pressure->memory && pressure->disk) {
        if (agent_image_gc_reclaim(a->image_gc) == AGENT_IMAGE_GC_NO_MORE)
            measure_all(e);
        return;
    }
    map_each (entry, &a->pods) {
        const struct agent_pod *p = entry->value;
        if (container_pod_group_usage(a->containers, p->group, &u) == 0)
            add_candidate(e, p, pressure->memory ? u.working_set_bytes : u.pids,
                          requested_memory(p->spec));
    }
    end_one(e, pressure->memory ? POD_EVICTION_MEMORY : POD_EVICTION_PROCESSES);
}

struct agent_evict *agent_evict_new(struct agent *a)
{
    struct agent_evict *e = xnew(struct agent_evict);
    e->agent = a;
    return e;
}

void agent_evict_free(struct agent_evict *e)
{
    if (!e)
        return;
    clear(e);
    free(e);
}
