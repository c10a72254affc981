/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/mirror.h"

#include "agent/agent_impl.h"
#include "agent/static/source.h"
#include "kube/rules/rules.h"

enum {
    MIRROR_MAX_BYTES = 4 << 20,
    MIRROR_RETRY_MS = 10000,
    /* After its deletion: clients that wait for that see a time without it. kubectl waits for
     * the end of a name, not of a uid, before its newest versions. */
    MIRROR_AGAIN_MS = 1000
};

/* ---------------------------------------------------------------- requests */

static void on_ignored(void *arg, int status, struct str body, const struct json *json,
                       const struct err *err)
{
}

static void delete_mirror(struct agent *a, struct str namespace, struct str name, struct str uid)
{
    struct client_ask *ask;
    struct err err = { 0 };
    scoped(free_scoped) char *target = xasprintf("/api/v1/namespaces/" STR_FMT "/pods/" STR_FMT,
                                                 STR_ARG(namespace), STR_ARG(name));
    scoped(free_scoped) char *body =
        xasprintf("{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
                  "\"preconditions\":{\"uid\":\"" STR_FMT "\"}}",
                  STR_ARG(uid));
    const struct ask_request rq = { .method = "DELETE",
                                    .target = str_of(target),
                                    .content_type = "application/json",
                                    .body = str_of(body) };
    (void)ask_start(a->transport, a->identity, &rq, on_ignored, NULL, &ask, &err);
}

static void on_retry(struct timer *t)
{
    agent_report(container_of(t, struct agent_pod, report_timer));
}

static void on_made(void *arg, int status, struct str body, const struct json *json,
                    const struct err *err)
{
    struct agent_pod *p = arg;
    struct str uid = json_get_str(json_getc(json, "metadata"), "uid");
    p->ask = NULL;
    if (status == 201 && uid.n) {
        free(p->mirror_uid);
        p->mirror_uid = str_dup(uid);
        agent_report(p);
        return;
    }
    log_warn("a static pod has no mirror", "pod=%s/%s status=%d reason=\"" STR_FMT "\"",
             p->namespace, p->name, status,
             STR_ARG(status ? json_get_str(json, "message") : str_of(err_text(err))));
    timer_start(p->agent->loop, &p->report_timer, MIRROR_RETRY_MS, on_retry);
}

/* The mirror belongs to the Node, and goes with it. */
static void set_owner(struct arena *a, const struct agent *agent, struct json *meta)
{
    struct json *list = json_new_array(a), *ref = json_new_object(a);
    json_set_str(a, ref, "apiVersion", STR("v1"));
    json_set_str(a, ref, "kind", STR("Node"));
    json_set_str(a, ref, "name", str_of(agent->node_name));
    json_set_str(a, ref, "uid", str_of(agent->node_uid));
    json_set_bool(a, ref, "controller", true);
    json_add(list, ref);
    json_setc(a, meta, "ownerReferences", list);
}

static int make_text(const struct agent_pod *p, struct buf *to)
{
    struct arena a = { 0 };
    struct json *o = NULL;
    int r = json_parse(&a, str_of(p->static_text), NULL, &o, NULL);
    if (r >= 0) {
        struct json *meta = json_obj(&a, o, "metadata");
        (void)json_del(meta, STR("uid"));
        json_set(&a, json_obj(&a, meta, "annotations"), STR("kubernetes.io/config.mirror"),
                 json_new_str(&a, p->spec->config_hash));
        set_owner(&a, p->agent, meta);
        (void)json_del(o, STR("status"));
        r = json_write(to, o);
    }
    arena_fini(&a);
    return r;
}

void agent_mirror_make(struct agent_pod *p)
{
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(MIRROR_MAX_BYTES);
    scoped(free_scoped) char *target = xasprintf("/api/v1/namespaces/%s/pods", p->namespace);
    if (p->ask || !p->agent->node_uid[0] || make_text(p, &text) < 0)
        return;
    const struct ask_request rq = { .method = "POST",
                                    .target = str_of(target),
                                    .content_type = "application/json",
                                    .body = buf_str(&text) };
    if (ask_start(p->agent->transport, p->agent->identity, &rq, on_made, p, &p->ask, &err) < 0)
        timer_start(p->agent->loop, &p->report_timer, MIRROR_RETRY_MS, on_retry);
}

void agent_mirror_make_all(struct agent *a)
{
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        if (p->static_text)
            agent_report(p);
    }
}

void agent_mirror_lost(struct agent_pod *p)
{
    free(take_ptr(&p->mirror_uid));
    free(take_ptr(&p->sent));
    timer_start(p->agent->loop, &p->report_timer, MIRROR_AGAIN_MS, on_retry);
}

void agent_mirror_drop(struct agent_pod *p)
{
    if (p->mirror_uid)
        delete_mirror(p->agent, str_of(p->namespace), str_of(p->name), str_of(p->mirror_uid));
}

/* ---------------------------------------------------------------- mirrors of the API */

static struct agent_pod *find(struct agent *a, struct str namespace, struct str name)
{
    map_each (e, &a->pods) {
        struct agent_pod *p = e->value;
        if (p->static_text && !p->is_held && str_is(namespace, p->namespace) &&
            str_is(name, p->name))
            return p;
    }
    return NULL;
}

void agent_mirror_seen(struct agent *a, const struct pod_spec *mirror)
{
    struct agent_pod *p = find(a, mirror->namespace, mirror->name);
    struct str hash = pod_pair_value(mirror->annotations, mirror->n_annotations,
                                     STR("kubernetes.io/config.mirror"));
    if (!p && a->static_source && !a->are_static_known)
        return; /* its file may still be read */
    if (!p || !str_eq(hash, p->spec->config_hash) || mirror->deletion.n) {
        delete_mirror(a, mirror->namespace, mirror->name, mirror->uid);
        return;
    }
    if (p->mirror_uid && str_is(mirror->uid, p->mirror_uid))
        return;
    free(p->mirror_uid);
    p->mirror_uid = str_dup(mirror->uid);
    free(take_ptr(&p->sent)); /* to another object */
    agent_report(p);
}

void agent_mirror_deleted(struct agent *a, struct str namespace, struct str name)
{
    struct agent_pod *p = find(a, namespace, name);
    if (p && p->mirror_uid)
        agent_mirror_lost(p);
}

/* ---------------------------------------------------------------- files */

static void on_added(void *arg, const struct json *object)
{
    agent_add_static(arg, object);
}

static void on_gone(void *arg, struct str uid)
{
    struct agent *a = arg;
    struct agent_pod *p = map_get(&a->pods, uid);
    if (p)
        agent_pod_gone(p, (uint64_t)MIN(MAX(p->spec->grace_s, 0), INT32_MAX) * 1000);
}

/* Mirrors without a file are deleted now: the list of Pods is read again. */
static void on_synced(void *arg)
{
    struct agent *a = arg;
    a->are_static_known = true;
    if (a->watch)
        reflector_relist(a->watch);
    agent_check_synced(a);
}

static const struct static_events events = { .added = on_added,
                                             .gone = on_gone,
                                             .synced = on_synced };

int agent_mirror_start(struct agent *a, const char *dir, struct err *err)
{
    a->rules = xnew(struct kube_registry);
    kube_registry_init(a->rules);
    rules_register(a->rules);
    const struct static_source_options opts = {
        .loop = a->loop,
        .dir = dir,
        .node = a->node_name,
        .pods = kube_registry_find(a->rules, STR(""), STR("v1"), STR("pods")),
        .events = &events,
        .arg = a,
    };
    return static_source_start(&opts, &a->static_source, err);
}

static void on_closed(void *arg)
{
    struct agent *a = arg;
    kube_registry_fini(a->rules);
    free(take_ptr(&a->rules));
    agent_part_stopped(a);
}

void agent_mirror_stop(struct agent *a)
{
    a->n_stopping++;
    static_source_close(take_ptr(&a->static_source), on_closed, a);
}
