/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes VolumeBinding's decisions to the API: into each volume its claim's name, into each claim
 * without a volume the node for which one is to be provisioned. Then the controllers bind; the pod
 * waits for that, event by event, at most for bindTimeoutSeconds.
 *
 * Written as merge patches with the resource version that the decision was based on, so that
 * another client's change causes a conflict, as with upstream's updates.
 */
#include "sched/plugins/volume_binding.h"

enum { PATCH_MAX_BYTES = 16 << 10, TARGET_MAX_BYTES = 1024 };

static const struct sched_status *write_next(struct binding_state *s);

/* ---- waiting ---- */

static const struct sched_status still_waiting = { .code = SCHED_WAIT };

/* "binding volumes: TEXT" */
#define FAIL(s, ...) sched_status((s)->cycle->arena, SCHED_ERROR, "binding volumes: " __VA_ARGS__)

static const struct sched_status *check_volume_node(struct binding_state *s,
                                                    const struct sched_pv *pv,
                                                    const struct sched_node *node)
{
    bool is_migrated = sched_is_migrated(s->plugin->p.framework, pv, node);
    if (is_migrated && pv->translation_error.n > 0)
        return FAIL(s, "failed to translate pv to csi: could not translate pv: " STR_FMT,
                    STR_ARG(pv->translation_error));
    if (!sched_pv_fits_node(pv, node, is_migrated))
        return FAIL(s,
                    "pv \"" STR_FMT "\" node affinity doesn't match node \"" STR_FMT
                    "\": no matching NodeSelectorTerms",
                    STR_ARG(pv->o.name), STR_ARG(node->o.name));
    return NULL;
}

static const struct sched_status *check_static(struct binding_state *s, const struct decision *d,
                                               const struct sched_node *node)
{
    const struct sched_framework *f = s->plugin->p.framework;
    const struct sched_pv *pv = sched_find_pv(f, d->pv->o.name);
    if (!pv)
        return FAIL(s, "failed to check binding: persistentvolumes \"" STR_FMT "\" not found",
                    STR_ARG(d->pv->o.name));
    const struct sched_pvc *pvc = sched_find_pvc(f, d->pvc->o.namespace, d->pvc->o.name);
    if (!pvc)
        return FAIL(s,
                    "failed to check binding: persistentvolumeclaims \"" STR_FMT "/" STR_FMT
                    "\" not found",
                    STR_ARG(d->pvc->o.namespace), STR_ARG(d->pvc->o.name));
    if (d->written_rv > pv->o.rv)
        return &still_waiting; /* the watch has not reported our write yet */
    const struct sched_status *status = check_volume_node(s, pv, node);
    if (status)
        return status;
    if (!pv->claim.is_set || pv->claim.uid.n == 0)
        return FAIL(s, "ClaimRef got reset for pv \"" STR_FMT "\"", STR_ARG(pv->o.name));
    /* From an earlier attempt whose answer was lost. */
    if (pvc->volume_name.n > 0 && !str_eq(pvc->volume_name, pv->o.name))
        return FAIL(s, "PVC \"" STR_FMT "\" got bound to another pv \"" STR_FMT "\"",
                    STR_ARG(pvc->o.name), STR_ARG(pvc->volume_name));
    return sched_pvc_is_bound(pvc) ? NULL : &still_waiting;
}

static const struct sched_status *check_made(struct binding_state *s, const struct decision *d,
                                             const struct sched_node *node)
{
    const struct sched_framework *f = s->plugin->p.framework;
    const struct sched_pvc *pvc = sched_find_pvc(f, d->pvc->o.namespace, d->pvc->o.name);
    if (!pvc)
        return FAIL(s,
                    "failed to check provisioning pvc: persistentvolumeclaims \"" STR_FMT
                    "/" STR_FMT "\" not found",
                    STR_ARG(d->pvc->o.namespace), STR_ARG(d->pvc->o.name));
    if (d->written_rv > pvc->o.rv)
        return &still_waiting;
    if (!pvc->has_annotations)
        return FAIL(s, "selectedNode annotation reset for PVC \"" STR_FMT "\"",
                    STR_ARG(pvc->o.name));
    /* A provisioner that fails removes the annotation. */
    if (!str_eq(pvc->selected_node, intern_str(s->cycle->node)))
        return FAIL(s, "provisioning failed for PVC \"" STR_FMT "\"", STR_ARG(pvc->o.name));
    if (pvc->volume_name.n > 0) {
        const struct sched_pv *pv = sched_find_pv(f, pvc->volume_name);
        if (!pv)
            return &still_waiting;
        const struct sched_status *status = check_volume_node(s, pv, node);
        if (status)
            return status;
    }
    return sched_pvc_is_bound(pvc) ? NULL : &still_waiting;
}

/* NULL: everything is bound. */
static const struct sched_status *check(struct binding_state *s)
{
    const struct sched_node_info *node =
        sched_cache_node(s->plugin->p.framework->cache, s->cycle->node);
    if (!node || !node->node)
        return FAIL(s, "failed to get node \"%s\": node \"%s\" not found", s->cycle->node->text,
                    s->cycle->node->text);
    for (uint32_t i = 0; i < s->n_decisions; i++) {
        const struct decision *d = &s->decisions[i];
        const struct sched_status *status =
            d->pv ? check_static(s, d, node->node) : check_made(s, d, node->node);
        if (status)
            return status;
    }
    return NULL;
}

/* May free the state. */
static void finish(struct binding_state *s, const struct sched_status *status)
{
    list_remove(&s->link);
    struct sched_step *step = s->step;
    s->step = NULL;
    sched_step_done(step, status);
}

static void finish_all(struct list *ended)
{
    struct list *node;
    while ((node = list_pop_front(ended))) {
        struct binding_state *s = list_entry(node, struct binding_state, link);
        finish(s, s->result);
    }
}

static void on_timer(void *arg);

static void run_timer(struct volume_binding *b)
{
    struct sched_framework *f = b->p.framework;
    if (b->timer_runs || list_is_empty(&b->waits))
        return;
    uint64_t now = f->now_ms(f->arg);
    uint64_t first = list_first(&b->waits, struct binding_state, link)->deadline_ms;
    b->timer_runs = true;
    f->after(f->arg, first > now ? first - now : 0, on_timer, b);
}

static void on_timer(void *arg)
{
    struct volume_binding *b = arg;
    struct sched_framework *f = b->p.framework;
    uint64_t now = f->now_ms(f->arg);
    struct list ended;
    list_init(&ended);
    b->timer_runs = false;
    list_each_safe (node, &b->waits) {
        struct binding_state *s = list_entry(node, struct binding_state, link);
        if (s->deadline_ms > now)
            break;
        s->result = FAIL(s, "context deadline exceeded");
        list_remove(&s->link);
        list_push_back(&ended, &s->link);
    }
    run_timer(b);
    finish_all(&ended);
}

/* The first claim without its volume. */
struct str volume_binding_waits_for(struct sched_plugin *p, struct sched_cycle *cycle,
                                    struct arena *a)
{
    const struct binding_state *s = sched_cycle_state(cycle, p);
    if (!s || s->n_written < s->n_decisions)
        return STR("the API takes what was decided");
    for (uint32_t i = 0; i < s->n_decisions; i++) {
        const struct decision *d = &s->decisions[i];
        const struct sched_pvc *pvc =
            sched_find_pvc(p->framework, d->pvc->o.namespace, d->pvc->o.name);
        if (pvc && sched_pvc_is_bound(pvc))
            continue;
        struct str name = d->pvc->o.name;
        return str_of(
            d->pv ? arena_printf(a,
                                 "a controller binds PersistentVolumeClaim '" STR_FMT
                                 "' to PersistentVolume '" STR_FMT "'",
                                 STR_ARG(name), STR_ARG(d->pv->o.name))
                  : arena_printf(a,
                                 "a provisioner makes a volume for PersistentVolumeClaim '" STR_FMT
                                 "' (StorageClass '%s') on the node",
                                 STR_ARG(name), d->pvc->class->text));
    }
    return STR("news of a volume");
}

static const struct sched_status *pod_gone(struct binding_state *s)
{
    return FAIL(s, "pod does not exist any more: pod \"" STR_FMT "\" not found",
                STR_ARG(s->cycle->pod->o.name));
}

static void wait_for_binding(struct binding_state *s)
{
    struct volume_binding *b = s->plugin;
    const struct sched_status *status = s->pod_is_gone ? pod_gone(s) : check(s);
    if (status != &still_waiting) {
        finish(s, status);
        return;
    }
    list_remove(&s->link);
    s->deadline_ms = b->p.framework->now_ms(b->p.framework->arg) + b->timeout_ms;
    list_push_back(&b->waits, &s->link);
    run_timer(b);
}

static bool is_claim(const struct sched_object *claim, struct str namespace, struct str name)
{
    return str_eq(claim->name, name) && str_eq(claim->namespace, namespace);
}

/* A provisioned volume has an unknown name; it names its claim. */
static bool concerns_volume(const struct decision *d, const struct sched_pv *pv)
{
    if (d->pv)
        return str_eq(d->pv->o.name, pv->o.name);
    return !pv->claim.is_set || is_claim(&d->pvc->o, pv->claim.namespace, pv->claim.name);
}

static bool concerns(const struct binding_state *s, const struct sched_event *event)
{
    const struct sched_object *o = event->after ? event->after : event->before;
    if (o->kind == SCHED_NODE || o->kind == SCHED_CSI_NODE)
        return str_eq(o->name, intern_str(s->cycle->node));
    for (uint32_t i = 0; i < s->n_decisions; i++) {
        const struct decision *d = &s->decisions[i];
        if (o->kind == SCHED_PV
                ? concerns_volume(d, sched_pv_of(o))
                : o->kind == SCHED_PVC && is_claim(&d->pvc->o, o->namespace, o->name))
            return true;
    }
    return false;
}

static bool is_pod_gone(const struct binding_state *s, const struct sched_event *event)
{
    const struct sched_object *gone = event->after ? NULL : event->before;
    return gone && gone->kind == SCHED_POD && str_eq(gone->uid, s->cycle->pod->o.uid);
}

void volume_binding_wake(struct volume_binding *b, const struct sched_event *event)
{
    if (!event->before && !event->after)
        return;
    list_each (node, &b->writing) {
        struct binding_state *s = list_entry(node, struct binding_state, link);
        s->pod_is_gone = s->pod_is_gone || is_pod_gone(s, event);
    }
    struct list ended;
    list_init(&ended);
    list_each_safe (node, &b->waits) {
        struct binding_state *s = list_entry(node, struct binding_state, link);
        s->result = is_pod_gone(s, event) ? pod_gone(s)
                    : concerns(s, event)  ? check(s)
                                          : &still_waiting;
        if (s->result == &still_waiting)
            continue;
        list_remove(&s->link);
        list_push_back(&ended, &s->link);
    }
    finish_all(&ended);
}

void volume_binding_stop(struct volume_binding *b)
{
    struct sched_framework *f = b->p.framework;
    if (b->timer_runs)
        f->cancel_after(f->arg, on_timer, b);
    b->timer_runs = false;
}

/* ---- writing ---- */

static void add_rv(struct buf *body, uint64_t rv)
{
    if (rv > 0)
        (void)buf_printf(body, "\"resourceVersion\":\"%llu\"", (unsigned long long)rv);
}

static void add_claim_ref(struct buf *body, const struct sched_pvc *pvc)
{
    (void)buf_add_cstr(body, "{\"kind\":\"PersistentVolumeClaim\",\"apiVersion\":\"v1\","
                             "\"namespace\":");
    (void)json_write_str(body, pvc->o.namespace);
    (void)buf_add_cstr(body, ",\"name\":");
    (void)json_write_str(body, pvc->o.name);
    (void)buf_add_cstr(body, ",\"uid\":");
    (void)json_write_str(body, pvc->o.uid);
    if (pvc->o.rv > 0)
        (void)buf_add_char(body, ',');
    add_rv(body, pvc->o.rv);
    (void)buf_add_char(body, '}');
}

/*
 * Assigns the volume to the claim. A volume that a user has reserved for the claim does not get the
 * annotation that allows the controller to release it.
 */
static void volume_patch(struct buf *body, const struct decision *d)
{
    const struct sched_claim_ref *ref = &d->pv->claim;
    bool is_whole = ref->is_set && str_eq(ref->uid, d->pvc->o.uid);
    bool annotates = !ref->is_set && !d->pv->is_bound_by_controller;
    (void)buf_add_cstr(body, "{\"metadata\":{");
    add_rv(body, d->pv->o.rv);
    if (annotates && d->pv->o.rv > 0)
        (void)buf_add_char(body, ',');
    if (annotates)
        (void)buf_add_cstr(body,
                           "\"annotations\":{\"pv.kubernetes.io/bound-by-controller\":\"yes\"}");
    (void)buf_add_char(body, '}');
    if (!is_whole) {
        (void)buf_add_cstr(body, ",\"spec\":{\"claimRef\":");
        add_claim_ref(body, d->pvc);
        (void)buf_add_char(body, '}');
    }
    (void)buf_add_char(body, '}');
}

static void claim_patch(struct buf *body, const struct decision *d, struct str node)
{
    (void)buf_add_cstr(body, "{\"metadata\":{");
    add_rv(body, d->pvc->o.rv);
    if (d->pvc->o.rv > 0)
        (void)buf_add_char(body, ',');
    (void)buf_add_cstr(body, "\"annotations\":{\"volume.kubernetes.io/selected-node\":");
    (void)json_write_str(body, node);
    (void)buf_add_cstr(body, "}}}");
}

static uint64_t answered_rv(struct str body)
{
    struct arena a = { 0 };
    struct json *json;
    uint64_t rv = 0;
    if (json_parse(&a, body, NULL, &json, NULL) >= 0)
        (void)parse_u64(json_str(json_path(json, "metadata", "resourceVersion", NULL)), 0,
                        UINT64_MAX, &rv);
    arena_fini(&a);
    return rv;
}

static void on_answer(void *arg, int r, int status, struct str body, const struct err *err)
{
    struct binding_state *s = arg;
    const struct sched_status *failed = sched_api_status(s->cycle->arena, r, status, body, err);
    if (!failed) {
        struct decision *d = &s->decisions[s->n_written++];
        d->is_written = true;
        d->written_rv = answered_rv(body);
        if (s->n_written == s->n_decisions) {
            wait_for_binding(s);
            return;
        }
        failed = write_next(s);
    }
    if (failed) {
        volume_binding_take_back(s);
        finish(s, failed);
    }
}

/* NULL: an answer will follow. */
static const struct sched_status *write_next(struct binding_state *s)
{
    struct sched_framework *f = s->plugin->p.framework;
    const struct decision *d = &s->decisions[s->n_written];
    struct buf body = BUF_INIT(PATCH_MAX_BYTES), target = BUF_INIT(TARGET_MAX_BYTES);
    if (d->pv) {
        (void)buf_printf(&target, "/api/v1/persistentvolumes/" STR_FMT, STR_ARG(d->pv->o.name));
        volume_patch(&body, d);
    } else {
        (void)buf_printf(&target, "/api/v1/namespaces/" STR_FMT "/persistentvolumeclaims/" STR_FMT,
                         STR_ARG(d->pvc->o.namespace), STR_ARG(d->pvc->o.name));
        claim_patch(&body, d, intern_str(s->cycle->node));
    }
    struct sched_api_request rq = {
        .method = "PATCH",
        .target = buf_str(&target),
        .body = buf_str(&body),
        .patch_type = "application/merge-patch+json",
    };
    bool fits = buf_ok(&body) && buf_ok(&target);
    if (fits)
        sched_api_call(f->api, &rq, on_answer, s);
    buf_fini(&body);
    buf_fini(&target);
    return fits ? NULL
                : sched_status(s->cycle->arena, SCHED_ERROR,
                               "names of volume and claim are too long to bind them");
}

const struct sched_status *volume_binding_write(struct sched_plugin *p, struct sched_cycle *cycle,
                                                struct sched_step *step)
{
    struct binding_state *s = sched_cycle_state(cycle, p);
    if (!s || s->n_decisions == 0)
        return NULL;
    s->step = step;
    s->cycle = cycle;
    const struct sched_status *failed = write_next(s);
    if (failed)
        return failed;
    list_push_back(&s->plugin->writing, &s->link);
    return SCHED_LATER;
}
