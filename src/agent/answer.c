/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/answer.h"

#include "agent/agent_impl.h"

#include <errno.h>
#include <unistd.h>

struct agent_pod *agent_answer_find(struct agent *a, const struct agent_ref *ref)
{
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        if (str_is(ref->ns, p->namespace) && str_is(ref->pod, p->name) &&
            (!ref->uid.n || str_is(ref->uid, p->uid)))
            return p;
    }
    return NULL;
}

static enum agent_found find(void *arg, const struct agent_ref *ref, struct str *ret_uid)
{
    struct agent_pod *p = agent_answer_find(arg, ref);
    if (!p)
        return AGENT_NO_POD;
    *ret_uid = str_of(p->uid);
    return !ref->container.n || agent_pod_container(p, ref->container) ? AGENT_FOUND
                                                                       : AGENT_NO_CONTAINER;
}

/* ---------------------------------------------------------------- logs */

/* The run whose log is asked for: the current one, or the last; before it with previous. */
static int find_run(const struct pod_container_life *c, bool previous, uint32_t *ret,
                    const struct agent_pod *p, struct err *err)
{
    bool has_run = pod_container_runs(c) || c->has_ended;
    bool had_earlier = has_run ? c->restarts > 0 : c->has_last;
    *ret = c->restarts;
    if (previous && !had_earlier)
        return err_set(err, E_INVALID,
                       "previous terminated container \"" STR_FMT "\" in pod \"%s\" not found",
                       STR_ARG(c->name), p->name);
    if (!previous && !has_run && !c->has_last)
        return err_set(err, E_INVALID,
                       "container \"" STR_FMT "\" in pod \"%s\" is waiting to start: %s",
                       STR_ARG(c->name), p->name, c->reason[0] ? c->reason : "ContainerCreating");
    if ((previous || !has_run) && c->restarts > 0)
        --*ret;
    return 0;
}

static int find_log(void *arg, const struct agent_ref *ref, bool previous, struct agent_log *ret,
                    struct err *err)
{
    struct agent_pod *p = agent_answer_find(arg, ref);
    size_t i = p ? pod_life_find(&p->life, ref->container) : SIZE_MAX;
    uint32_t run;
    if (i == SIZE_MAX)
        return err_set(err, -ENOENT, "there is no such container");
    int r = find_run(&p->life.containers[i], previous, &run, p, err);
    if (r < 0)
        return r;
    *ret = (struct agent_log){ .path = xasprintf("%s/" STR_FMT "/%u.log", p->log_dir,
                                                 STR_ARG(ref->container), run) };
    list_each (node, &p->runs) {
        struct agent_run *one = list_entry(node, struct agent_run, node);
        if (str_is(ref->container, one->container_name) && one->restarts == run)
            ret->writer = one->log;
    }
    return 0;
}

/* ---------------------------------------------------------------- lists */

static struct json *make_pod(struct arena *a, struct agent_pod *p)
{
    struct json *o = json_new_object(a), *meta, *spec, *list;
    meta = json_obj(a, o, "metadata");
    json_set_str(a, meta, "name", str_of(p->name));
    json_set_str(a, meta, "namespace", str_of(p->namespace));
    json_set_str(a, meta, "uid", str_of(p->uid));
    struct json *labels = json_obj(a, meta, "labels");
    for (size_t i = 0; i < p->spec->n_labels; i++)
        json_set(a, labels, p->spec->labels[i].name, json_new_str(a, p->spec->labels[i].value));
    struct json *annotations = json_obj(a, meta, "annotations");
    for (size_t i = 0; i < p->spec->n_annotations; i++)
        json_set(a, annotations, p->spec->annotations[i].name,
                 json_new_str(a, p->spec->annotations[i].value));
    spec = json_obj(a, o, "spec");
    json_set_str(a, spec, "nodeName", str_of(p->agent->node_name));
    list = json_new_array(a);
    for (size_t i = 0; i < p->spec->n_main; i++) {
        struct json *c = json_new_object(a);
        json_set_str(a, c, "name", p->spec->main[i].name);
        json_set_str(a, c, "image", p->spec->main[i].image);
        json_add(list, c);
    }
    json_setc(a, spec, "containers", list);
    json_setc(a, o, "status", agent_report_status(p, a));
    return o;
}

static void list_pods(void *arg, bool running, struct buf *to)
{
    struct agent *agent = arg;
    struct arena a = { 0 };
    struct json *o = json_new_object(&a), *items = json_new_array(&a);
    json_set_str(&a, o, "kind", STR("PodList"));
    json_set_str(&a, o, "apiVersion", STR("v1"));
    (void)json_obj(&a, o, "metadata");
    map_each (e, &agent->pods) {
        struct agent_pod *p = e->value;
        if (!running || pod_at(&p->life) < POD_FINISHED)
            json_add(items, make_pod(&a, p));
    }
    json_setc(&a, o, "items", items);
    (void)json_write(to, o);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- metrics */

static void metrics(void *arg, struct buf *to)
{
    struct agent *a = arg;
    size_t n_containers = 0;
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        for (size_t i = 0; i < p->life.n; i++)
            n_containers += pod_container_runs(&p->life.containers[i]);
    }
    (void)buf_printf(to,
                     "# TYPE kubelet_running_pods gauge\nkubelet_running_pods %zu\n"
                     "# TYPE kubelet_running_containers gauge\n"
                     "kubelet_running_containers{container_state=\"running\"} %zu\n"
                     "# TYPE kubelet_node_name gauge\nkubelet_node_name{node=\"%s\"} 1\n",
                     a->pods.n, n_containers, a->node_name);
}

const struct agent_server_ops agent_answer_ops = {
    .find = find,
    .log = find_log,
    .command = agent_answer_command,
    .forward = agent_answer_forward,
    .pods = list_pods,
    .stats = agent_answer_stats,
    .metrics = metrics,
};
