/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/resize.h"

#include "agent/agent_impl.h"
#include "agent/config.h"
#include "agent/pod/resources.h"

static bool is_same(const struct pod_cgroup *a, const struct pod_cgroup *b)
{
    return a->cpu_shares == b->cpu_shares && a->cpu_quota_us == b->cpu_quota_us &&
           a->memory_bytes == b->memory_bytes;
}

/* Whether the policy of a resource that has changed is to start the container again. */
static bool needs_restart(const struct pod_container *c, const struct pod_cgroup *before,
                          const struct pod_cgroup *after)
{
    bool has_cpu =
        before->cpu_shares != after->cpu_shares || before->cpu_quota_us != after->cpu_quota_us;
    bool has_memory = before->memory_bytes != after->memory_bytes;
    for (size_t i = 0; i < c->n_resize_policy; i++) {
        const struct pod_pair *p = &c->resize_policy[i];
        if (str_is(p->value, "RestartContainer") &&
            ((has_cpu && str_is(p->name, "cpu")) || (has_memory && str_is(p->name, "memory"))))
            return true;
    }
    return false;
}

static void complain(struct agent_pod *p, const char *container, const struct err *err)
{
    agent_event(p, container, true, "ResizeError", "%s", err_text(err));
}

static void resize_pod(struct agent_pod *p)
{
    struct pod_cgroup g;
    struct err err = { 0 };
    if (!p->is_group_made || pod_cgroup_of_pod(p->spec, &g, &err) < 0)
        return;
    struct container_limits limits = agent_config_limits(&g);
    limits.pids = p->agent->pod_pids;
    if (container_pod_group_limit(p->agent->containers, p->group, &limits, &err) < 0)
        complain(p, NULL, &err);
}

static void resize_container(struct agent_pod *p, const struct pod_spec *old,
                             const struct pod_container *c)
{
    const struct pod_container *before = pod_spec_container(old, c->name);
    struct agent_container *own = agent_pod_container(p, c->name);
    struct pod_now now = agent_now(p->agent);
    struct pod_cgroup from, to;
    struct err err = { 0 };
    if (!before || !own || !own->run || !own->run->is_running || !own->run->c ||
        pod_cgroup_of_container(old, before, &from, &err) < 0 ||
        pod_cgroup_of_container(p->spec, c, &to, &err) < 0 || is_same(&from, &to))
        return;
    if (needs_restart(c, &from, &to)) {
        pod_life_restart(&p->life, agent_container_index(own), &now);
        return;
    }
    const struct container_limits limits = agent_config_limits(&to);
    if (container_limit(own->run->c, &limits, &err) < 0)
        complain(p, own->name, &err);
    else
        agent_event(p, own->name, false, "ResizeCompleted", "Container %s has its new resources",
                    own->name);
}

void agent_resize(struct agent_pod *p, const struct pod_spec *old)
{
    struct pod_cgroup from, to;
    struct err err = { 0 };
    const struct pod_container *c;
    bool has_pod = pod_cgroup_of_pod(old, &from, &err) >= 0 &&
                   pod_cgroup_of_pod(p->spec, &to, &err) >= 0 && !is_same(&from, &to);
    /* The group of the pod must never have less than its containers. */
    bool grows = has_pod && (to.memory_bytes == 0 || to.memory_bytes > from.memory_bytes ||
                             to.cpu_quota_us == 0 || to.cpu_quota_us > from.cpu_quota_us);
    if (grows)
        resize_pod(p);
    for (size_t i = 0; (c = pod_spec_at(p->spec, i)); i++)
        resize_container(p, old, c);
    if (has_pod && !grows)
        resize_pod(p);
}

static struct json *make_list(struct arena *a, const struct pod_quantity *list, size_t n)
{
    struct json *o = json_new_object(a);
    for (size_t i = 0; i < n; i++)
        json_set(a, o, list[i].name, json_new_str(a, list[i].text));
    return o;
}

void agent_resize_status(const struct agent_pod *p, struct arena *a, size_t i, struct json *status)
{
    const struct pod_resources *r = &p->life.containers[i].spec->resources;
    struct json *resources = json_new_object(a);
    if (!pod_container_runs(&p->life.containers[i]) || (!r->n_limits && !r->n_requests))
        return;
    if (r->n_requests)
        json_setc(a, status, "allocatedResources", make_list(a, r->requests, r->n_requests));
    if (r->n_limits)
        json_setc(a, resources, "limits", make_list(a, r->limits, r->n_limits));
    if (r->n_requests)
        json_setc(a, resources, "requests", make_list(a, r->requests, r->n_requests));
    json_setc(a, status, "resources", resources);
}
