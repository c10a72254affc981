/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Added, changed and removed objects. Bound pods belong to the cache, our pods without a node to
 * the queue; other pods without a node are ignored. Upstream: eventhandlers.go.
 */
#include "sched/core/internal.h"

enum { KEY_MAX_BYTES = 1024 };

static const enum sched_resource resources[SCHED_KIND_COUNT] = {
    [SCHED_POD] = SCHED_ON_POD,
    [SCHED_NODE] = SCHED_ON_NODE,
    [SCHED_NAMESPACE] = SCHED_RESOURCE_COUNT,
    [SCHED_SERVICE] = SCHED_RESOURCE_COUNT,
    [SCHED_REPLICATION_CONTROLLER] = SCHED_RESOURCE_COUNT,
    [SCHED_REPLICA_SET] = SCHED_RESOURCE_COUNT,
    [SCHED_STATEFUL_SET] = SCHED_RESOURCE_COUNT,
    [SCHED_PDB] = SCHED_RESOURCE_COUNT,
    [SCHED_PV] = SCHED_ON_PERSISTENT_VOLUME,
    [SCHED_PVC] = SCHED_ON_PERSISTENT_VOLUME_CLAIM,
    [SCHED_STORAGE_CLASS] = SCHED_ON_STORAGE_CLASS,
    [SCHED_CSI_NODE] = SCHED_ON_CSI_NODE,
    [SCHED_CSI_DRIVER] = SCHED_ON_CSI_DRIVER,
    [SCHED_CSI_CAPACITY] = SCHED_ON_CSI_STORAGE_CAPACITY,
    [SCHED_VOLUME_ATTACHMENT] = SCHED_ON_VOLUME_ATTACHMENT,
    [SCHED_NODE_IMAGE_STATE] = SCHED_ON_NODE_IMAGE_STATE,
};

/* ---- pods without a node ---- */

static struct str key_of(struct str namespace, struct str name, char space[KEY_MAX_BYTES])
{
    if (namespace.n + name.n + 1 > KEY_MAX_BYTES)
        return STR("");
    char *at = space;
    memcpy(at, namespace.p, namespace.n);
    at += namespace.n;
    *at++ = '/';
    memcpy(at, name.p, name.n);
    return str_n(space, namespace.n + 1 + name.n);
}

struct sched_pending *sched_pending_get(const struct sched *s, struct str namespace,
                                        struct str name)
{
    char space[KEY_MAX_BYTES];
    return map_get(&s->pending, key_of(namespace, name, space));
}

struct sched_pending *sched_pending_of(const struct sched *s, const struct sched_object *pod)
{
    return sched_pending_get(s, pod->namespace, pod->name);
}

void sched_pending_free(struct sched *s, struct sched_pending *p)
{
    sched_object_unref(s->words, (void *)p->pod);
    free(p->reason);
    free(p->message);
    free(p->nominated);
    free(p);
}

static void read_status(struct sched_pending *p, const struct json *pod)
{
    free(p->reason);
    free(p->message);
    free(p->nominated);
    p->reason = p->message = p->nominated = NULL;
    if (p->pod->nominated_node.n > 0)
        p->nominated = str_dup(p->pod->nominated_node);
    p->has_condition = p->is_false = false;
    json_each (c, json_path(pod, "status", "conditions", NULL)) {
        if (!str_is(json_get_str(c, "type"), "PodScheduled"))
            continue;
        p->has_condition = true;
        p->is_false = str_is(json_get_str(c, "status"), "False");
        p->reason = str_dup(json_get_str(c, "reason"));
        p->message = str_dup(json_get_str(c, "message"));
        return;
    }
}

/* ---- events ---- */

/*
 * Plugins from before a reload get the event too: bindings that still use them may wait for it and
 * end in it, and the last such binding frees its plugins.
 */
void sched_publish_event(struct sched *s, const struct sched_event *event,
                         const struct sched_queue_check *check)
{
    struct list *node = s->sets.next;
    while (node != &s->sets) {
        struct profile_set *set = list_entry(node, struct profile_set, node);
        set->refs++;
        for (size_t i = 0; i < set->n; i++)
            lane_event(set->envs[i].lane, &set->profiles[i], event);
        node = node->next;
        sched_profile_set_unref(set);
    }
    sched_queue_event_where(s->queue, event, check, s->now_ms);
}

void sched_publish_freed(struct sched *s, const struct sched_pod *pod,
                         const struct sched_queue_check *check)
{
    struct sched_event event = { .resource = SCHED_ON_ASSIGNED_POD,
                                 .actions = SCHED_DELETE,
                                 .before = &pod->o };
    sched_publish_event(s, &event, check);
}

static void publish(struct sched *s, enum sched_resource resource, unsigned actions,
                    const struct sched_object *before, const struct sched_object *after)
{
    if (resource == SCHED_RESOURCE_COUNT || actions == 0)
        return;
    struct sched_event event = { resource, actions, before, after };
    sched_publish_event(s, &event, NULL);
}

static bool is_not_above(void *arg, const struct sched_pod *pod)
{
    const struct sched_pod *than = arg;
    return pod->priority <= than->priority;
}

/*
 * Publishes that a nomination was removed: pods of at most its priority counted the pod on that
 * node.
 */
static void publish_nomination_end(struct sched *s, const struct sched_pod *pod)
{
    sched_publish_freed(s, pod, &(struct sched_queue_check){ is_not_above, (void *)pod });
}

/* ---- pods ---- */

const struct sched_pod *sched_placed_pod(struct sched *s, const struct sched_pod *pod)
{
    const struct sched_pod *placed =
        sched_cache_get(s->view.cache, SCHED_POD, pod->o.namespace, pod->o.name);
    if (!placed || !str_eq(placed->o.uid, pod->o.uid))
        placed = pod;
    return sched_object_ref((void *)placed);
}

/* An assumed pod is terminating or deleted: frees its resources and voids its binding. */
static void assumed_pod_goes(struct sched *s, const struct sched_pod *pod)
{
    const struct sched_pod *placed = sched_placed_pod(s, pod);
    if (!binding_reject(s, pod->o.uid, STR(""), STR("removed")))
        lanes_forget(s, pod);
    sched_publish_freed(s, placed, NULL);
    sched_object_unref(s->words, (void *)placed);
}

/* Removes a pod from the pods without a node. `bound`: because it has a node now. */
static void pending_remove(struct sched *s, struct sched_pending *p, bool bound)
{
    char space[KEY_MAX_BYTES];
    const struct sched_pod *pod = p->pod;
    struct sched_pending *removed =
        map_del(&s->pending, key_of(pod->o.namespace, pod->o.name, space));
    assert(removed == p);
    sched_queue_del(s->queue, pod->o.uid);
    if (!bound && sched_cache_is_assumed(s->view.cache, pod->o.uid))
        assumed_pod_goes(s, pod);
    else if (!bound && pod->nominated_node.n > 0)
        publish_nomination_end(s, pod);
    sched_pending_free(s, p);
}

static int put_assigned(struct sched *s, struct sched_pending *p, const struct sched_pod *pod,
                        struct err *err)
{
    struct sched_object *old = NULL;
    int r = lanes_put(s, &pod->o, &old, err);
    if (p && (r >= 0 || str_eq(p->pod->o.uid, pod->o.uid)))
        pending_remove(s, p, str_eq(p->pod->o.uid, pod->o.uid));
    else if (p)
        p = NULL;
    if (r >= 0) {
        /* The replaced pod may be our own assumption: then it is new. */
        bool is_new = p || !old || !str_eq(old->uid, pod->o.uid);
        if (is_new && old && !str_eq(old->uid, pod->o.uid))
            publish(s, SCHED_ON_ASSIGNED_POD, SCHED_DELETE, old, NULL);
        if (is_new)
            publish(s, SCHED_ON_ASSIGNED_POD, SCHED_ADD, NULL, &pod->o);
        else
            publish(s, SCHED_ON_ASSIGNED_POD, sched_pod_changes(old, &pod->o), old, &pod->o);
    }
    sched_object_unref(s->words, old);
    return r;
}

static int put_first(struct sched *s, const struct sched_pod *pod, const struct json *json,
                     struct err *err)
{
    char space[KEY_MAX_BYTES];
    struct str key = key_of(pod->o.namespace, pod->o.name, space);
    if (key.n == 0)
        return err_set(err, E_LIMIT, "the pod's name is too long");
    int r = sched_queue_put(s->queue, pod, s->now_ms, err);
    if (r < 0)
        return r;
    struct sched_pending *p = xnew(struct sched_pending);
    p->pod = sched_object_ref((void *)pod);
    read_status(p, json);
    (void)map_put(&s->pending, key, p);
    return 0;
}

static int put_pending(struct sched *s, struct sched_pending *p, const struct sched_pod *pod,
                       const struct json *json, struct err *err)
{
    if (p->pod->o.rv == pod->o.rv && pod->o.rv > 0 && !sched_pod_is_fuller(pod, p->pod))
        return 0;
    const struct sched_pod *old = p->pod;
    p->pod = sched_object_ref((void *)pod);
    read_status(p, json);
    int r = 0;
    if (sched_cache_is_assumed(s->view.cache, pod->o.uid)) {
        if (pod->is_terminating && !old->is_terminating)
            assumed_pod_goes(s, pod);
    } else {
        r = sched_queue_put(s->queue, pod, s->now_ms, err);
        if (old->nominated_node.n > 0 && !str_eq(old->nominated_node, pod->nominated_node))
            publish_nomination_end(s, old);
    }
    sched_object_unref(s->words, (void *)old);
    return r;
}

static void del_pod(struct sched *s, struct str namespace, struct str name)
{
    struct sched_pending *p = sched_pending_get(s, namespace, name);
    if (p)
        pending_remove(s, p, false);
    struct sched_object *old = NULL;
    lanes_del(s, SCHED_POD, namespace, name, &old);
    if (old && !p)
        publish(s, SCHED_ON_ASSIGNED_POD, SCHED_DELETE, old, NULL);
    sched_object_unref(s->words, old);
}

static int put_pod(struct sched *s, const struct sched_pod *pod, const struct json *json,
                   struct err *err)
{
    struct sched_pending *p = sched_pending_of(s, &pod->o);
    if (pod->is_done) {
        del_pod(s, pod->o.namespace, pod->o.name);
        return 0;
    }
    if (p && !str_eq(p->pod->o.uid, pod->o.uid)) { /* another pod of that name */
        pending_remove(s, p, false);
        p = NULL;
    }
    if (pod->node_name)
        return put_assigned(s, p, pod, err);
    const struct sched_pod *bound =
        p ? NULL : sched_cache_get(s->view.cache, SCHED_POD, pod->o.namespace, pod->o.name);
    if (bound && str_eq(bound->o.uid, pod->o.uid))
        return 0; /* a bound pod cannot lose its node: an outdated message */
    if (bound)
        del_pod(s, pod->o.namespace, pod->o.name);
    if (!sched_profile_of(s, pod->scheduler_name)) {
        if (p)
            pending_remove(s, p, false);
        return 0;
    }
    return p ? put_pending(s, p, pod, json, err) : put_first(s, pod, json, err);
}

/* ---- all kinds ---- */

static int put_other(struct sched *s, const struct sched_object *o, struct err *err)
{
    struct sched_object *old = NULL;
    int r = lanes_put(s, o, &old, err);
    if (r < 0)
        return r;
    unsigned actions = SCHED_ADD;
    if (old)
        actions = o->kind == SCHED_NODE ? sched_node_changes(old, o) : SCHED_UPDATE;
    publish(s, resources[o->kind], actions, old, o);
    sched_object_unref(s->words, old);
    return 0;
}

int sched_put(struct sched *s, enum sched_kind kind, const struct json *json, uint64_t now_ms,
              struct err *err)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    struct sched_object *o;
    bool keeps_json = s->opts.keeps_json && (kind == SCHED_POD || kind == SCHED_NODE);
    int r = sched_object_read(s->words, kind, json, keeps_json, &o, err);
    if (r < 0)
        return r;
    const struct sched_foreign *foreign = s->opts.foreign;
    if (foreign && foreign->encode && kind == SCHED_POD)
        ((struct sched_pod *)o)->encoded = foreign->encode(kind, json);
    else if (foreign && foreign->encode && kind == SCHED_NODE)
        ((struct sched_node *)o)->encoded = foreign->encode(kind, json);
    r = kind == SCHED_POD ? put_pod(s, sched_pod_of(o), json, err) : put_other(s, o, err);
    sched_object_unref(s->words, o);
    return r;
}

void sched_del(struct sched *s, enum sched_kind kind, struct str namespace, struct str name,
               uint64_t now_ms)
{
    s->now_ms = MAX(s->now_ms, now_ms);
    if (kind == SCHED_POD) {
        del_pod(s, namespace, name);
        return;
    }
    struct sched_object *old = NULL;
    lanes_del(s, kind, namespace, name, &old);
    if (old)
        publish(s, resources[kind], SCHED_DELETE, old, NULL);
    sched_object_unref(s->words, old);
}

void sched_each_name(const struct sched *s, enum sched_kind kind,
                     void (*each)(void *arg, struct str namespace, struct str name), void *arg)
{
    map_each (e, sched_cache_all(s->view.cache, kind)) {
        const struct sched_object *o = e->value;
        each(arg, o->namespace, o->name);
    }
    if (kind != SCHED_POD)
        return;
    map_each (e, &s->pending) {
        const struct sched_pending *p = e->value;
        each(arg, p->pod->o.namespace, p->pod->o.name);
    }
}
