/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the effects of a round: requests, several at a time. */
#include "kube/model/meta.h"
#include "workload/frame/frame.h"

#define FIELD_MANAGER "?fieldManager=kube-controller-manager"

enum { BODY_MAX_BYTES = 4 << 20 };

/* ---------------------------------------------------------------- results */

bool workload_effect_ok(const struct workload_effect *e)
{
    bool is_gone = e->kind == WORKLOAD_DELETE && (e->status == 404 || e->status == 409);
    return e->is_done && (is_gone || (e->status >= 200 && e->status < 300));
}

struct str workload_effect_reason(const struct workload_effect *e)
{
    return e->status >= 400 ? json_get_str(e->answer, "reason") : STR("");
}

struct str workload_effect_message(const struct workload_effect *e)
{
    struct str message = e->status >= 400 ? json_get_str(e->answer, "message") : STR("");
    return message.n ? message : str_of(err_text(&e->err));
}

bool workload_effect_namespace_ends(const struct workload_effect *e)
{
    if (e->kind != WORKLOAD_CREATE || e->status != 403)
        return false;
    json_each (cause, json_path(e->answer, "details", "causes", NULL))
        if (str_is(json_get_str(cause, "reason"), "NamespaceTerminating"))
            return true;
    return false;
}

/* ---------------------------------------------------------------- requests */

static bool is_prefixed(const struct workload_kind *kind)
{
    return strchr(kind->group_version, '/') != NULL;
}

static bool is_by_list(const struct workload_effect *e)
{
    return e->kind == WORKLOAD_GET && e->of->is_listed;
}

/* What follows the plural. */
static const char *rest_of(struct arena *a, const struct workload_effect *e)
{
    if (is_by_list(e)) /* a name needs no escape */
        return arena_printf(a, "?fieldSelector=metadata.name%%3D" STR_FMT, STR_ARG(e->name));
    if (e->kind == WORKLOAD_CREATE)
        return FIELD_MANAGER;
    return arena_printf(a, "/" STR_FMT "%s" STR_FMT "%s", STR_ARG(e->name),
                        e->subresource.n ? "/" : "", STR_ARG(e->subresource),
                        e->kind == WORKLOAD_UPDATE || e->kind == WORKLOAD_PATCH ? FIELD_MANAGER
                                                                                : "");
}

static char *target_of(struct workload_running *run, const struct workload_effect *e)
{
    struct arena *a = &run->call.arena;
    const char *space = e->of->cluster_scoped
                            ? ""
                            : arena_printf(a, "/namespaces/" STR_FMT, STR_ARG(run->call.namespace));
    return arena_printf(a, "%s/%s%s/%s%s", is_prefixed(e->of) ? "/apis" : "/api",
                        e->of->group_version, space, e->of->plural, rest_of(a, e));
}

static const struct json *body_of(struct arena *a, const struct workload_effect *e)
{
    if (e->kind != WORKLOAD_DELETE || (!e->uid.n && !e->propagation))
        return e->body;
    struct json *options = json_new_object(a);
    json_set_str(a, options, "apiVersion", STR("v1"));
    json_set_str(a, options, "kind", STR("DeleteOptions"));
    if (e->uid.n)
        json_set_str(a, json_obj(a, options, "preconditions"), "uid", e->uid);
    if (e->propagation)
        json_set_str(a, options, "propagationPolicy", str_of(e->propagation));
    return options;
}

/* As far as this process knows, what was to be deleted is there. */
static bool has_object(const struct workload_table *t, const struct workload_running *run,
                       const struct workload_effect *e)
{
    const struct workload_object *o = workload_table_find(t, run->call.namespace, e->name);
    return o && !o->is_deleting && str_eq(e->uid, str_of(o->uid));
}

static void note_result(struct workload_running *run, struct workload_effect *e)
{
    struct workload_table *t = workload_view_table(&run->runner->w->view, e->of);
    bool is_ok = workload_effect_ok(e);
    e->is_settled |= workload_effect_namespace_ends(e);
    if (e->kind == WORKLOAD_UPDATE || e->kind == WORKLOAD_PATCH)
        run->is_conflict |= e->status == 409;
    if (e->kind == WORKLOAD_UPDATE && e->status == 404) /* the object was removed meanwhile */
        run->is_conflict = e->is_settled = true;
    if (!is_ok && e->kind == WORKLOAD_CREATE)
        run->no_more_creates = true;
    if (e->kind == WORKLOAD_DELETE && e->status == 409) /* another object, or a busy store */
        run->is_conflict |= t && has_object(t, run, e);
    else if (is_ok && t && e->kind == WORKLOAD_DELETE)
        workload_table_deleted(t, run->call.namespace, e->name, e->uid);
    else if (is_ok && t && e->kind != WORKLOAD_GET && e->answer)
        workload_table_wrote(t, e->answer);
    if (e->kind == WORKLOAD_GET && e->claim)
        e->claim->body = is_ok ? e->answer : NULL;
}

static void begin_more(struct workload_running *run);

static void on_answer(void *arg, int status, struct str body, const struct json *json,
                      const struct err *err)
{
    struct workload_request *rq = arg;
    struct workload_running *run = rq->run;
    struct workload_effect *e = take_ptr(&rq->effect);
    rq->ask = NULL;
    run->n_asked--;
    e->is_done = true;
    e->status = status;
    if (is_by_list(e) && status == 200) {
        json = json_first(json_getc(json, "items"));
        e->status = json ? 200 : 404;
    }
    e->answer = json ? json_clone(&run->call.arena, json) : NULL;
    if (status == 0)
        e->err = *err;
    note_result(run, e);
    begin_more(run);
    if (run->n_asked == 0)
        workload_call_run(run); /* may free run */
}

static struct workload_request *free_request(struct workload_running *run)
{
    for (struct workload_request *rq = run->requests; rq < run->requests + ARRAY_LEN(run->requests);
         rq++)
        if (!rq->effect)
            return rq;
    assert(false);
    return NULL;
}

static void begin(struct workload_running *run, struct workload_effect *e)
{
    static const struct {
        const char *method, *content_type;
    } how[] = { [WORKLOAD_GET] = { "GET", NULL },
                [WORKLOAD_CREATE] = { "POST", "application/json" },
                [WORKLOAD_UPDATE] = { "PUT", "application/json" },
                [WORKLOAD_PATCH] = { "PATCH", "application/strategic-merge-patch+json" },
                [WORKLOAD_DELETE] = { "DELETE", "application/json" } };
    struct arena *a = &run->call.arena;
    struct workload_request *slot = free_request(run);
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BODY_MAX_BYTES);
    const struct json *body = body_of(a, e);
    int r = body ? json_write(&text, body) : 0;
    const struct ask_request rq = { .method = how[e->kind].method,
                                    .target = str_of(target_of(run, e)),
                                    .content_type = body ? how[e->kind].content_type : NULL,
                                    .body = buf_str(&text) };
    *slot = (struct workload_request){ .run = run, .effect = e };
    r = r < 0 ? err_set(&e->err, r, "the object is too large")
              : ask_start(run->runner->w->transport, &run->runner->identity, &rq, on_answer, slot,
                          &slot->ask, &e->err);
    if (r >= 0) {
        run->n_asked++;
        return;
    }
    slot->effect = NULL;
    e->is_done = true;
    note_result(run, e);
}

/* Whether the next effect may begin; a batch of creates begins when the one before has ended. */
static bool may_begin(struct workload_running *run, const struct workload_effect *e)
{
    if (run->n_asked == WORKLOAD_EFFECTS_AT_ONCE)
        return false;
    if (e->kind != WORKLOAD_CREATE || run->n_batch_left > 0)
        return true;
    if (run->n_asked > 0)
        return false;
    run->create_batch = MAX(2 * run->create_batch, (size_t)1);
    run->n_batch_left = run->create_batch;
    return true;
}

static void begin_more(struct workload_running *run)
{
    for (; run->next < run->effects.n; run->next++) {
        struct workload_effect *e = run->effects.p[run->next];
        if (e->kind == WORKLOAD_CREATE && run->no_more_creates)
            continue;
        if (!may_begin(run, e))
            return;
        run->n_batch_left -= e->kind == WORKLOAD_CREATE;
        begin(run, e);
    }
}

bool workload_effects_start(struct workload_running *run)
{
    run->next = run->create_batch = run->n_batch_left = 0;
    run->no_more_creates = false;
    begin_more(run);
    return run->n_asked > 0;
}

void workload_effects_cancel(struct workload_running *run)
{
    for (size_t i = 0; i < ARRAY_LEN(run->requests); i++)
        if (run->requests[i].effect)
            ask_cancel(run->requests[i].ask);
}

/* ---------------------------------------------------------------- adding */

struct workload_effect *workload_effect_add(struct workload_running *run,
                                            const struct workload_effect *effect)
{
    struct workload_effect *e = arena_new(&run->call.arena, struct workload_effect);
    *e = *effect;
    vec_push(&run->effects, e);
    return e;
}

struct workload_effect *workload_create(struct workload_call *call,
                                        const struct workload_kind *kind, const struct json *body)
{
    return workload_effect_add(
        workload_running_of(call),
        &(struct workload_effect){
            .kind = WORKLOAD_CREATE, .of = kind, .name = meta_name(body), .body = body });
}

struct workload_effect *workload_get(struct workload_call *call, const struct workload_kind *kind,
                                     struct str name)
{
    return workload_effect_add(
        workload_running_of(call),
        &(struct workload_effect){ .kind = WORKLOAD_GET, .of = kind, .name = name });
}

struct workload_effect *workload_update(struct workload_call *call,
                                        const struct workload_kind *kind, struct str subresource,
                                        const struct json *object)
{
    return workload_effect_add(workload_running_of(call),
                               &(struct workload_effect){ .kind = WORKLOAD_UPDATE,
                                                          .of = kind,
                                                          .name = meta_name(object),
                                                          .subresource = subresource,
                                                          .body = object });
}

struct workload_effect *workload_patch(struct workload_call *call, const struct workload_kind *kind,
                                       struct str name, const struct json *patch)
{
    return workload_effect_add(
        workload_running_of(call),
        &(struct workload_effect){
            .kind = WORKLOAD_PATCH, .of = kind, .name = name, .body = patch });
}

struct workload_effect *workload_delete(struct workload_call *call,
                                        const struct workload_kind *kind,
                                        const struct workload_claim *claim)
{
    return workload_effect_add(
        workload_running_of(call),
        &(struct workload_effect){
            .kind = WORKLOAD_DELETE, .of = kind, .name = claim->name, .uid = claim->uid });
}
