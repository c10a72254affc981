/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The API of a simulation: objects in memory, and the requests of a scheduler. A request is
 * answered later, between two steps of the scheduler, as over a network.
 */
#include "kube/model/builtin.h"
#include "kube/model/patch.h"
#include "lab/sched/internal.h"

#include <errno.h>
#include <stdio.h>

/* ---- objects ---- */

static char *key_of(enum sched_kind kind, struct str namespace, struct str name)
{
    return xasprintf("%s/" STR_FMT "/" STR_FMT, sched_kind_plural(kind), STR_ARG(namespace),
                     STR_ARG(name));
}

struct simulation_object *simulation_get(const struct simulation *s, enum sched_kind kind,
                                         struct str namespace, struct str name)
{
    scoped(free_scoped) char *key = key_of(kind, namespace, name);
    return map_get(&s->by_key, str_of(key));
}

static void note(struct simulation *s, const char *what, const struct err *err)
{
    if (s->n_notes++ < SIMULATION_NOTES_MAX)
        (void)buf_printf(&s->notes, "%s: %s\n", what, err_text(err));
}

static void tell(struct simulation *s, struct simulation_object *o)
{
    struct err err = { 0 };
    if (s->is_running && sched_put(s->sched, o->kind, o->json, s->now_ms, &err) < 0)
        note(s, o->key, &err);
}

void simulation_replace(struct simulation *s, struct simulation_object *o, struct arena *fresh,
                        struct json *tree)
{
    char rv[32];
    int n = snprintf(rv, sizeof rv, "%llu", (unsigned long long)++s->rv);
    json_set_str(fresh, json_obj(fresh, tree, "metadata"), "resourceVersion", str_n(rv, (size_t)n));
    arena_fini(&o->arena);
    o->arena = *fresh;
    o->json = tree;
    *fresh = (struct arena){ 0 };
    tell(s, o);
}

static struct str meta_of(const struct json *json, const char *key)
{
    return json_str(json_path(json, "metadata", key, NULL));
}

int simulation_store(struct simulation *s, enum sched_kind kind, const struct json *json,
                     struct simulation_object **ret, struct err *err)
{
    struct str namespace = sched_kind_is_namespaced(kind) ? meta_of(json, "namespace") : STR("");
    scoped(free_scoped) char *key = key_of(kind, namespace, meta_of(json, "name"));
    if (s->objects.n >= SIMULATION_OBJECTS_MAX)
        return err_set(err, E_LIMIT, "more than %d objects", SIMULATION_OBJECTS_MAX);
    if (map_has(&s->by_key, str_of(key)))
        return err_sys(err, -EEXIST, "%s", key);
    struct simulation_object *o = xnew(struct simulation_object);
    struct arena fresh = { .block_bytes = 1024 };
    o->kind = kind;
    o->key = take_ptr(&key);
    (void)map_put(&s->by_key, str_of(o->key), o);
    vec_push(&s->objects, o);
    struct json *tree = json_clone(&fresh, json);
    simulation_replace(s, o, &fresh, tree);
    *ret = o;
    return 0;
}

void simulation_delete(struct simulation *s, struct simulation_object *o)
{
    o->is_gone = true;
    (void)map_del(&s->by_key, str_of(o->key));
    if (s->is_running)
        sched_del(s->sched, o->kind, meta_of(o->json, "namespace"), meta_of(o->json, "name"),
                  s->now_ms);
}

void simulation_store_fini(struct simulation *s)
{
    vec_each (o, &s->objects) {
        arena_fini(&(*o)->arena);
        free((*o)->key);
        free(*o);
    }
    vec_fini(&s->objects);
    map_fini(&s->by_key);
    for (size_t i = s->n_answered; i < s->calls.n; i++)
        free(s->calls.p[i].method);
    vec_fini(&s->calls);
}

/* ---- requests ---- */

/* One allocation for all strings; it begins with the method. */
void simulation_api_call(struct sched_api *api, const struct sched_api_request *rq,
                         sched_api_done done, void *arg)
{
    struct simulation *s = container_of(api, struct simulation, api);
    const char *type = rq->patch_type ? rq->patch_type : "";
    size_t method_n = strlen(rq->method) + 1, type_n = strlen(type) + 1;
    char *p = xalloc(method_n + type_n + rq->target.n + 1 + rq->body.n + 1);
    struct simulation_call c = { .method = p, .done = done, .arg = arg };
    memcpy(p, rq->method, method_n);
    c.patch_type = memcpy(p + method_n, type, type_n);
    p = c.patch_type + type_n;
    c.target = rq->target.n ? memcpy(p, rq->target.p, rq->target.n) : p;
    c.body = p + rq->target.n + 1;
    if (rq->body.n)
        memcpy(c.body, rq->body.p, rq->body.n);
    c.body_n = rq->body.n;
    vec_push(&s->calls, c);
}

struct simulate_store_path {
    bool is_known;
    enum sched_kind kind;
    struct str plural, namespace, name, sub;
};

static struct str next_word(struct str *rest)
{
    struct str word;
    (void)str_cut(*rest, '/', &word, rest);
    return word;
}

/* "/api/v1/namespaces/NS/PLURAL/NAME/SUB", "/apis/GROUP/VERSION/...". */
static struct simulate_store_path read_target(const char *target)
{
    struct simulate_store_path p = { 0 };
    struct str rest, query, version;
    (void)str_cut(str_of(target), '?', &rest, &query);
    (void)next_word(&rest); /* the empty part before the first '/' */
    bool is_core = str_is(next_word(&rest), "api");
    struct str group = is_core ? STR("") : next_word(&rest);
    version = next_word(&rest);
    p.plural = next_word(&rest);
    if (str_is(p.plural, "namespaces") && str_find_char(rest, '/') >= 0) {
        p.namespace = next_word(&rest);
        p.plural = next_word(&rest);
    }
    p.name = next_word(&rest);
    p.sub = rest;
    for (unsigned k = 0; k < SCHED_KIND_COUNT; k++) {
        struct str gv = str_of(sched_kind_group_version((enum sched_kind)k)), g, v;
        bool has_group = str_cut(gv, '/', &g, &v);
        if (!str_is(p.plural, sched_kind_plural((enum sched_kind)k)) ||
            !str_eq(group, has_group ? g : STR("")) || !str_eq(version, has_group ? v : gv))
            continue;
        p.is_known = true;
        p.kind = (enum sched_kind)k;
    }
    return p;
}

/* ---- effects ---- */

static void set_condition(struct arena *a, struct json *pod, const char *type, const char *status)
{
    struct json *list = json_getc(json_obj(a, pod, "status"), "conditions"), *at = NULL;
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, json_obj(a, pod, "status"), "conditions", list);
    }
    json_each (c, list)
        if (str_is(json_get_str(c, "type"), type))
            at = c;
    if (!at) {
        at = json_new_object(a);
        json_add(list, at);
    }
    json_set_str(a, at, "type", str_of(type));
    json_set_str(a, at, "status", str_of(status));
    (void)json_del(at, STR("reason"));
    (void)json_del(at, STR("message"));
}

static int bind_pod(struct simulation *s, struct simulation_object *pod, const struct json *body,
                    struct err *err)
{
    struct str node = json_str(json_path(body, "target", "name", NULL));
    struct arena fresh = { .block_bytes = 1024 };
    if (json_path(pod->json, "spec", "nodeName", NULL))
        return err_set(err, E_CONFLICT, "the pod has a node already");
    if (!simulation_get(s, SCHED_NODE, STR(""), node))
        return err_set(err, -ENOENT, "nodes \"" STR_FMT "\" not found", STR_ARG(node));
    struct json *tree = json_clone(&fresh, pod->json);
    json_set_str(&fresh, json_obj(&fresh, tree, "spec"), "nodeName", node);
    set_condition(&fresh, tree, "PodScheduled", "True");
    (void)json_del(json_obj(&fresh, tree, "status"), STR("nominatedNodeName"));
    simulation_replace(s, pod, &fresh, tree);
    struct simulation_pod *row = simulation_row(s, pod);
    row->node = str_copy_arena(&s->arena, node);
    row->nominated = STR("");
    return 0;
}

static int patch(struct simulation *s, struct simulation_object *o, const struct simulation_call *c,
                 const struct json *body, struct err *err)
{
    struct arena fresh = { .block_bytes = 1024 };
    struct json *tree = json_clone(&fresh, o->json), *patched = tree;
    /* The patch is copied, since its nodes become part of the tree. */
    const struct json *own = json_clone(&fresh, body);
    const struct schema *schema = builtin_schema(STR(""), STR("v1"), STR("Pod"));
    int r = strcmp(c->patch_type, "application/merge-patch+json") == 0
                ? patch_merge(&fresh, tree, own, &patched, err)
                : patch_strategic(&fresh, o->kind == SCHED_POD ? schema : NULL, tree, own, &patched,
                                  err);
    if (r < 0) {
        arena_fini(&fresh);
        return r;
    }
    simulation_replace(s, o, &fresh, patched);
    if (o->kind == SCHED_PV || o->kind == SCHED_PVC)
        simulation_volumes(s, o);
    if (o->kind == SCHED_POD && o->pod)
        s->pods.p[o->pod - 1].nominated = str_copy_arena(
            &s->arena, json_str(json_path(o->json, "status", "nominatedNodeName", NULL)));
    return 0;
}

static void evict(struct simulation *s, struct simulation_object *pod)
{
    struct simulation_pod *row = simulation_row(s, pod);
    row->node = STR("");
    row->reason = STR("evicted");
    row->has_score = false;
    row->scores = NULL;
    simulation_delete(s, pod);
}

static struct simulation_object *pod_of_uid(const struct simulation *s, struct str uid)
{
    for (size_t i = 0; i < s->objects.n; i++) {
        struct simulation_object *o = s->objects.p[i];
        if (o->kind == SCHED_POD && str_eq(meta_of(o->json, "uid"), uid))
            return o;
    }
    return NULL;
}

/* Only an Event names the preemptor of an evicted pod: "Preempted by pod UID on node NAME". */
static void read_event(struct simulation *s, const struct json *event)
{
    static const char head[] = "Preempted by pod ";
    const struct json *regarding = json_getc(event, "regarding");
    struct str note = json_get_str(event, "note"), uid, rest;
    if (!str_is(json_get_str(event, "reason"), "Preempted") || !str_has_prefix(note, str_of(head)))
        return;
    (void)str_cut(str_slice(note, strlen(head), note.n), ' ', &uid, &rest);
    const struct simulation_object *by = pod_of_uid(s, uid);
    struct simulation_object *victim = pod_of_uid(s, json_get_str(regarding, "uid"));
    if (!by || !victim)
        return;
    struct simulation_pod *row = simulation_row(s, victim);
    row->evicted_for =
        str_of(arena_printf(&s->arena, STR_FMT "/" STR_FMT, STR_ARG(meta_of(by->json, "namespace")),
                            STR_ARG(meta_of(by->json, "name"))));
    row->reason =
        str_of(arena_printf(&s->arena, "preempted by " STR_FMT, STR_ARG(row->evicted_for)));
}

/* Carries out a request. Returns 0 or an error; *ret_status is the status of the answer. */
static int carry_out(struct simulation *s, const struct simulation_call *c, struct buf *answer,
                     int *ret_status, struct err *err)
{
    struct simulate_store_path path = read_target(c->target);
    struct arena a = { 0 };
    struct json *body = NULL;
    int r = c->body_n ? json_parse(&a, str_n(c->body, c->body_n), NULL, &body, err) : 0;
    bool posts = strcmp(c->method, "POST") == 0;
    struct simulation_object *o =
        path.is_known ? simulation_get(s, path.kind, path.namespace, path.name) : NULL;
    *ret_status = posts ? 201 : 200;
    if (r < 0) {
        (void)err_ctx(err, r, "%s", c->target);
    } else if (str_is(path.plural, "events")) {
        read_event(s, body);
    } else if (!o) {
        r = err_set(err, -ENOENT, STR_FMT " \"" STR_FMT "\" not found", STR_ARG(path.plural),
                    STR_ARG(path.name));
    } else if (posts && path.kind == SCHED_POD && str_is(path.sub, "binding")) {
        r = bind_pod(s, o, body, err);
    } else if (strcmp(c->method, "PATCH") == 0) {
        r = patch(s, o, c, body, err);
    } else if (strcmp(c->method, "DELETE") == 0 && path.kind == SCHED_POD) {
        evict(s, o);
    } else if (strcmp(c->method, "GET") != 0) {
        r = err_set(err, E_UNSUPPORTED, "%s %s is not simulated", c->method, c->target);
    }
    if (r >= 0 && o && !o->is_gone)
        (void)json_write(answer, o->json);
    else if (r >= 0 && !answer->n)
        (void)buf_add_cstr(answer, "{}");
    arena_fini(&a);
    return r;
}

static void write_status(struct buf *to, int code, const char *reason, const char *message)
{
    (void)buf_printf(
        to,
        "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":%d,"
        "\"reason\":\"%s\",\"message\":",
        code, reason);
    (void)json_write_str(to, str_of(message));
    (void)buf_add_char(to, '}');
}

static void answer_one(struct simulation *s, const struct simulation_call *c)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf body = BUF_INIT(BUF_MAX_DEFAULT);
    int status = 200, r = carry_out(s, c, &body, &status, &err);
    if (r < 0) {
        status = r == -ENOENT ? 404 : r == E_CONFLICT ? 409 : 422;
        buf_reset(&body);
        write_status(&body, status,
                     status == 404   ? "NotFound"
                     : status == 409 ? "Conflict"
                                     : "Invalid",
                     err_text(&err));
    }
    c->done(c->arg, 0, status, buf_str(&body), NULL);
}

bool simulation_answer(struct simulation *s)
{
    if (s->n_answered == s->calls.n) {
        s->n_answered = s->calls.n = 0;
        return false;
    }
    struct simulation_call c = s->calls.p[s->n_answered++]; /* more calls may be added meanwhile */
    answer_one(s, &c);
    free(c.method);
    return true;
}
