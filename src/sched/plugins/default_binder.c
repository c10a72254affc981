/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DefaultBinder: POST pods/binding. The request contains the uid, so that a newer pod of the same
 * name is not bound instead. If the answer was lost or is a conflict (409), the plugin reads the
 * pod to find out whether the binding happened, before its resources are released.
 */
#include "sched/plugins/registry.h"

#include "base/backoff.h"

#include <errno.h>

enum {
    BINDING_MAX_BYTES = 8 << 10,
    POD_MAX_BYTES = 16 << 20,
    ASK_FIRST_MS = 250, /* delay until the pod is read; doubles */
    ASK_MAX_MS = 8000,
};

struct bind_call {
    struct sched_framework *framework;
    uint64_t ask_ms;
    struct sched_cycle *cycle;
    struct sched_step *step;
    const struct sched_status *failure; /* the result unless the pod is on our node */
    struct str pod;                     /* its path */
};

static bool is_bound_as_wanted(const struct bind_call *call, struct str body)
{
    struct arena a = { .max_bytes = POD_MAX_BYTES };
    struct json *pod;
    bool is =
        json_parse(&a, body, NULL, &pod, NULL) >= 0 &&
        str_eq(json_get_str(json_getc(pod, "metadata"), "uid"), call->cycle->pod->o.uid) &&
        str_eq(json_get_str(json_getc(pod, "spec"), "nodeName"), intern_str(call->cycle->node));
    arena_fini(&a);
    return is;
}

static void ask(void *arg);

/* While the outcome is unknown, the pod keeps its resources. */
static void on_pod(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct bind_call *call = arg;
    const struct sched_framework *f = call->framework;
    bool is_answered = r == -ECANCELED || (r >= 0 && status < 500 && status != 429);
    if (!is_answered) {
        call->ask_ms = backoff_next(call->ask_ms, ASK_FIRST_MS, ASK_MAX_MS);
        f->after(f->arg, call->ask_ms, ask, call);
        return;
    }
    bool is_bound = r >= 0 && status == 200 && is_bound_as_wanted(call, body);
    sched_step_done(call->step, is_bound ? NULL : call->failure);
}

static void ask(void *arg)
{
    struct bind_call *call = arg;
    struct sched_api_request rq = { .method = "GET", .target = call->pod };
    sched_api_call(call->framework->api, &rq, on_pod, call);
}

static void on_answer(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct bind_call *call = arg;
    call->failure = sched_api_status(call->cycle->arena, r, status, body, err);
    if ((r < 0 && r != -ECANCELED) || status == 409)
        ask(call);
    else
        sched_step_done(call->step, call->failure);
}

static const struct sched_status *bind_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                           struct sched_step *step)
{
    const struct sched_object *pod = &cycle->pod->o;
    char space[1024];
    struct buf body = BUF_INIT(BINDING_MAX_BYTES);
    (void)buf_add_cstr(&body,
                       "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":");
    (void)json_write_str(&body, pod->name);
    (void)buf_add_cstr(&body, ",\"namespace\":");
    (void)json_write_str(&body, pod->namespace);
    (void)buf_add_cstr(&body, ",\"uid\":");
    (void)json_write_str(&body, pod->uid);
    if (p->framework->announces_plans)
        (void)buf_add_cstr(&body, ",\"annotations\":{\"image.dormouse.dev/plan\":\"expected\"}");
    (void)buf_add_cstr(&body, "},\"target\":{\"kind\":\"Node\",\"name\":");
    (void)json_write_str(&body, intern_str(cycle->node));
    (void)buf_add_cstr(&body, "}}");
    int n =
        snprintf(space, sizeof(space), "/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT "/binding",
                 STR_ARG(pod->namespace), STR_ARG(pod->name));
    if (!buf_ok(&body) || n >= (int)sizeof(space)) {
        buf_fini(&body);
        return sched_status(cycle->arena, SCHED_ERROR, "names of the pod are too long to bind it");
    }
    struct bind_call *call = arena_new(cycle->arena, struct bind_call);
    *call = (struct bind_call){
        .framework = p->framework,
        .cycle = cycle,
        .step = step,
        .pod = str_of(arena_strndup(cycle->arena, space, (size_t)n - strlen("/binding"))),
    };
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
