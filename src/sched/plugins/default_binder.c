/* SPDX-License-Identifier: Apache-2.0 */
/* DefaultBinder: POST pods/binding. The uid goes along, so that a pod of the same name that came
 * meanwhile is not bound in its place. */
#include "sched/plugins/registry.h"

enum { BINDING_MAX_BYTES = 8 << 10 };

struct bind_call {
    struct sched_cycle *cycle;
    struct sched_step *step;
};

static void on_answer(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct bind_call *call = arg;
    sched_step_done(call->step, sched_api_status(call->cycle->arena, r, status, body, err));
}

static const struct sched_status *bind_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                           struct sched_step *step)
{
    const struct sched_object *pod = &cycle->pod->o;
    char space[1024];
    struct buf body = BUF_INIT(BINDING_MAX_BYTES);
    (void)buf_add_cstr(&body, "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":");
    (void)json_write_str(&body, pod->name);
    (void)buf_add_cstr(&body, ",\"namespace\":");
    (void)json_write_str(&body, pod->namespace);
    (void)buf_add_cstr(&body, ",\"uid\":");
    (void)json_write_str(&body, pod->uid);
    (void)buf_add_cstr(&body, "},\"target\":{\"kind\":\"Node\",\"name\":");
    (void)json_write_str(&body, word_str(cycle->node));
    (void)buf_add_cstr(&body, "}}");
    int n = snprintf(space, sizeof(space),
                     "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "/binding",
                     STR_ARG(pod->namespace), STR_ARG(pod->name));
    if (!buf_ok(&body) || n >= (int)sizeof(space)) {
        buf_fini(&body);
        return sched_status(cycle->arena, SCHED_ERROR, "names of the pod are too long to bind it");
    }
    struct bind_call *call = arena_new(cycle->arena, struct bind_call);
    *call = (struct bind_call){ .cycle = cycle, .step = step };
    struct sched_api_request rq = {
        .method = "POST",
        .target = str_n(space, (size_t)n),
        .body = buf_str(&body),
    };
    sched_api_call(p->framework->api, &rq, on_answer, call);
    buf_fini(&body);
    return SCHED_LATER;
}

const struct sched_plugin_ops sched_default_binder_ops = {
    .name = "DefaultBinder",
    .bind = bind_pod,
};
