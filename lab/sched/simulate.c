/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes objects, advances time, collects results; and does what admission does to new pods and
 * claims.
 */
#include "lab/sched/simulate.h"

#include "kube/model/builtin.h"
#include "kube/model/meta.h"
#include "kube/model/status.h"
#include "kube/rules/object_rules.h"
#include "kube/rules/rules.h"
#include "lab/sched/internal.h"

#include <errno.h>

/* ---- creation ---- */

static int64_t wall_ms(void *arg)
{
    const struct simulation *s = arg;
    return 1700000000000 + (int64_t)s->now_ms; /* any constant instant */
}

/* ---- observing attempts ---- */

static struct simulation_object *pod_object(const struct simulation *s, const struct sched_pod *pod)
{
    return simulation_get(s, SCHED_POD, pod->o.namespace, pod->o.name);
}

static void on_refused(void *arg, const struct sched_pod *pod, const struct sched_node_info *node,
                       const struct sched_status *status)
{
    struct simulation *s = arg;
    explain_observer.refused(s->explain, pod, node, status);
}

static void on_scored(void *arg, const struct sched_pod *pod, struct str plugin,
                      const struct sched_node_info *const *nodes, size_t n, const int64_t *scores)
{
    struct simulation *s = arg;
    explain_observer.scored(s->explain, pod, plugin, nodes, n, scores);
}

static void note_scores(struct simulation *s, struct simulation_pod *row)
{
    const struct explain_score *scores;
    size_t n = explain_chosen(s->explain, &scores, &row->score);
    struct json *list = json_new_object(&s->arena);
    row->has_score = n > 0;
    row->scores = n ? list : NULL;
    for (size_t i = 0; i < n; i++)
        json_add_member(list, str_copy_arena(&s->arena, scores[i].plugin),
                        json_new_int(&s->arena, scores[i].points));
}

static void note_refusals(struct simulation *s, struct simulation_pod *row)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
    struct json *tree;
    explain_write(s->explain, &text);
    row->explain = NULL;
    if (json_parse(&s->arena, str_copy_arena(&s->arena, buf_str(&text)), NULL, &tree, NULL) == 0)
        row->explain = tree;
}

static void on_decided(void *arg, const struct sched_pod *pod, const struct intern *node,
                       const struct sched_status *status)
{
    struct simulation *s = arg;
    struct simulation_object *o = pod_object(s, pod);
    explain_observer.decided(s->explain, pod, node, status);
    if (!o)
        return;
    struct simulation_pod *row = simulation_row(s, o);
    row->attempts++;
    s->n_attempts++;
    if (node) {
        row->errors = 0;
        row->reason = STR("");
        row->explain = NULL;
        note_scores(s, row);
    } else {
        row->errors = status->code == SCHED_ERROR ? row->errors + 1 : 0;
        row->reason = str_copy_arena(&s->arena, sched_status_message(&s->arena, status));
        if (s->explains)
            note_refusals(s, row);
    }
}

static const struct sched_observer observer = { .refused = on_refused,
                                                .scored = on_scored,
                                                .decided = on_decided };

int simulation_new(const struct simulation_opts *opts, struct simulation **ret, struct err *err)
{
    struct simulation *s = xnew(struct simulation);
    struct sched_opts o = {
        .config = opts->config,
        .api = &s->api,
        .foreign = opts->foreign,
        .extenders = opts->extenders,
        .extenders_arg = opts->extenders_arg,
        .seed = opts->seed,
        .keeps_json = opts->keeps_json,
        .wall_ms = wall_ms,
        .arg = s,
        .observer = &observer,
        .observer_arg = s,
    };
    s->api.call = simulation_api_call;
    s->config = opts->config;
    s->explains = opts->explains;
    s->explain = explain_new();
    buf_init(&s->notes, BUF_MAX_DEFAULT);
    kube_registry_init(&s->registry);
    rules_register(&s->registry);
    int r = sched_new(&o, &s->sched, err);
    if (r < 0) {
        simulation_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void simulation_free(struct simulation *s)
{
    if (!s)
        return;
    sched_free(s->sched);
    simulation_store_fini(s);
    explain_free(s->explain);
    vec_fini(&s->pods);
    vec_fini(&s->priority_classes);
    buf_fini(&s->notes);
    kube_registry_fini(&s->registry);
    arena_fini(&s->arena);
    free(s);
}

struct simulation_pod *simulation_row(struct simulation *s, struct simulation_object *pod)
{
    if (!pod->pod) {
        const struct json *meta = json_getc(pod->json, "metadata");
        vec_push(&s->pods,
                 ((struct simulation_pod){
                     .namespace = str_copy_arena(&s->arena, json_get_str(meta, "namespace")),
                     .name = str_copy_arena(&s->arena, json_get_str(meta, "name")) }));
        pod->pod = s->pods.n;
    }
    return &s->pods.p[pod->pod - 1];
}

/* ---- objects ---- */

static void note(struct simulation *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(struct simulation *s, const char *fmt, ...)
{
    va_list ap;
    if (s->n_notes++ >= SIMULATION_NOTES_MAX)
        return;
    va_start(ap, fmt);
    (void)buf_vprintf(&s->notes, fmt, ap);
    va_end(ap);
    (void)buf_add_char(&s->notes, '\n');
}

/* The scheduler's kind of a plural; SCHED_KIND_COUNT: none. */
static enum sched_kind kind_of(struct str api_version, struct str plural)
{
    unsigned k = 0;
    while (k < SCHED_KIND_COUNT &&
           (!str_is(plural, sched_kind_plural((enum sched_kind)k)) ||
            !str_is(api_version, sched_kind_group_version((enum sched_kind)k))))
        k++;
    return (enum sched_kind)k;
}

struct simulate_what {
    struct str api_version, kind, namespace, name;
};

static struct simulate_what what_is(const struct json *o)
{
    const struct json *meta = json_getc(o, "metadata");
    return (struct simulate_what){ json_get_str(o, "apiVersion"), json_get_str(o, "kind"),
                                   json_get_str(meta, "namespace"), json_get_str(meta, "name") };
}

/* Prefixes the error with "Pod default/x: ". */
static int fail(struct err *err, int r, const struct simulate_what *w)
{
    return err_ctx(err, r, STR_FMT " " STR_FMT "%s" STR_FMT, STR_ARG(w->kind),
                   STR_ARG(w->namespace), w->namespace.n ? "/" : "", STR_ARG(w->name));
}

static const struct kube_resource *resource_of(const struct simulation *s,
                                               const struct simulate_what *w)
{
    struct str group, version;
    if (!str_cut(w->api_version, '/', &group, &version)) {
        version = w->api_version;
        group = STR("");
    }
    return kube_registry_find_kind(&s->registry, group, version, w->kind);
}

static bool says_default(const struct json *o, const char *annotation)
{
    const struct json *notes = json_path(o, "metadata", "annotations", NULL);
    return str_is(json_get_str(notes, annotation), "true");
}

/* Sets the default class of a claim without a class. */
static void set_class(struct simulation *s, struct arena *a, struct json *claim)
{
    if (json_path(claim, "spec", "storageClassName", NULL))
        return;
    vec_each (o, &s->objects)
        if ((*o)->kind == SCHED_STORAGE_CLASS &&
            says_default((*o)->json, "storageclass.kubernetes.io/is-default-class"))
            json_set_str(a, json_obj(a, claim, "spec"), "storageClassName",
                         json_str(json_path((*o)->json, "metadata", "name", NULL)));
}

static const struct json *find_class(const struct simulation *s, struct str name)
{
    for (size_t i = 0; i < s->priority_classes.n; i++) {
        const struct json *c = s->priority_classes.p[i];
        bool is_it = name.n ? str_eq(json_str(json_path(c, "metadata", "name", NULL)), name)
                            : json_bool(json_getc(c, "globalDefault"));
        if (is_it)
            return c;
    }
    return NULL;
}

/* Sets spec.priority and preemptionPolicy, as admission does. */
static int set_priority(struct simulation *s, struct arena *a, struct json *pod, struct err *err)
{
    struct json *spec = json_obj(a, pod, "spec");
    struct str name = json_get_str(spec, "priorityClassName");
    const struct json *class = find_class(s, name);
    int64_t value = json_int_or(json_getc(class, "value"), 0);
    struct str policy = json_get_str(class, "preemptionPolicy");
    if (!class && str_is(name, "system-cluster-critical"))
        value = 2000000000;
    else if (!class && str_is(name, "system-node-critical"))
        value = 2000001000;
    else if (!class && name.n)
        return err_set(err, E_INVALID, "no PriorityClass with name " STR_FMT " was found",
                       STR_ARG(name));
    if (class || name.n || !json_getc(spec, "priority"))
        json_set_int(a, spec, "priority", value);
    if (policy.n && !json_getc(spec, "preemptionPolicy"))
        json_set_str(a, spec, "preemptionPolicy", policy);
    return 0;
}

/* Adds a namespace that is not in the files; like every namespace it has its name as a label. */
static int ensure_namespace(struct simulation *s, struct str name, struct err *err)
{
    struct arena a = { 0 };
    struct simulation_object *made;
    if (!name.n || simulation_get(s, SCHED_NAMESPACE, STR(""), name))
        return 0;
    struct json *o = json_new_object(&a), *meta = json_obj(&a, o, "metadata");
    json_set_str(&a, meta, "name", name);
    json_set_str(&a, json_obj(&a, meta, "labels"), "kubernetes.io/metadata.name", name);
    int r = simulation_store(s, SCHED_NAMESPACE, o, &made, err);
    arena_fini(&a);
    return r;
}

/*
 * Sets the defaults of the kind and the fields that every object has; NULL resource: a custom one.
 */
static int complete(struct simulation *s, struct arena *a, const struct kube_resource *res,
                    enum sched_kind kind, struct json *o, struct err *err)
{
    struct json *status = NULL, *meta = json_obj(a, o, "metadata");
    struct object_warnings *w = arena_new(a, struct object_warnings);
    w->a = a;
    if (res && object_decode_tree(a, res, o, FIELD_VALIDATION_WARN, w, &status) < 0)
        return err_set(err, E_INVALID, STR_FMT, STR_ARG(status_message(status)));
    struct simulate_what is = what_is(o);
    for (size_t i = 0; i < w->n; i++)
        note(s, STR_FMT " " STR_FMT ": " STR_FMT, STR_ARG(is.kind), STR_ARG(is.name),
             STR_ARG(w->text[i]));
    meta = json_obj(a, o, "metadata");
    bool is_namespaced =
        res ? res->namespaced : kind < SCHED_KIND_COUNT && sched_kind_is_namespaced(kind);
    if (is_namespaced && !is.namespace.n)
        json_set_str(a, meta, "namespace", STR("default"));
    if (!json_get_str(meta, "uid").n)
        json_set_str(a, meta, "uid", str_of(arena_printf(a, "simulated-%zu", s->objects.n)));
    if (!is.name.n && json_get_str(meta, "generateName").n)
        json_set_str(
            a, meta, "name",
            str_of(arena_printf(a, STR_FMT "%zu", STR_ARG(json_get_str(meta, "generateName")),
                                s->objects.n)));
    if (!json_get_str(meta, "name").n)
        return err_set(err, E_INVALID, "it has no name");
    return is_namespaced ? ensure_namespace(s, json_get_str(meta, "namespace"), err) : 0;
}

static int add_one(struct simulation *s, const struct json *object, struct err *err)
{
    struct arena a = { 0 };
    struct simulate_what w = what_is(object);
    const struct kube_resource *res = resource_of(s, &w);
    bool is_class = res && str_is(res->kind, "PriorityClass");
    bool is_image_state = str_is(w.kind, "NodeImageState");
    enum sched_kind kind =
        kind_of(w.api_version, res              ? res->plural
                               : is_image_state ? str_of(sched_kind_plural(SCHED_NODE_IMAGE_STATE))
                                                : STR(""));
    if (!w.kind.n || !w.api_version.n)
        return err_set(err, E_INVALID, "an object without %s", w.kind.n ? "apiVersion" : "kind");
    bool is_new_workload =
        simulation_is_workload(object) && !json_path(object, "metadata", "uid", NULL);
    if (kind == SCHED_KIND_COUNT && !is_class && !is_new_workload) {
        note(s, STR_FMT " " STR_FMT ": left out, no plugin looks at this kind", STR_ARG(w.kind),
             STR_ARG(w.name));
        return 0;
    }
    struct json *o = json_clone(is_class ? &s->arena : &a, object);
    struct simulation_object *made;
    int r = complete(s, is_class ? &s->arena : &a, res, kind, o, err);
    if (r == 0 && is_class)
        vec_push(&s->priority_classes, o);
    else if (r == 0 && kind < SCHED_KIND_COUNT)
        r = simulation_store(s, kind, o, &made, err);
    if (r == 0 && is_new_workload)
        r = simulation_expand(s, o, err);
    if (r < 0)
        r = fail(err, r, &w);
    arena_fini(&a);
    return r;
}

int simulation_add(struct simulation *s, const struct json *object, struct err *err)
{
    struct simulate_what w = what_is(object);
    const struct json *items = json_getc(object, "items");
    if (!str_has_suffix(w.kind, STR("List")) || !json_is(items, JSON_ARRAY))
        return object->type == JSON_OBJECT ? add_one(s, object, err)
                                           : err_set(err, E_INVALID, "something that is no object");
    struct arena a = { 0 };
    int r = 0;
    json_each (item, items) { /* the items of a PodList may lack a kind */
        struct json *o = json_clone(&a, item);
        if (o->type == JSON_OBJECT && !json_getc(o, "kind")) {
            json_set_str(&a, o, "kind", str_slice(w.kind, 0, w.kind.n - strlen("List")));
            json_set_str(&a, o, "apiVersion", w.api_version);
        }
        r = r < 0 ? r : simulation_add(s, o, err);
        arena_reset(&a);
    }
    arena_fini(&a);
    return r;
}

/* ---- running ---- */

/* Sets the phase of an unclaimed volume to Available, as its controller does. */
static void set_phase(struct arena *a, struct json *volume)
{
    struct json *status = json_obj(a, volume, "status");
    struct str phase = json_get_str(status, "phase");
    if (!json_path(volume, "spec", "claimRef", NULL) && (!phase.n || str_is(phase, "Pending")))
        json_set_str(a, status, "phase", STR("Available"));
}

/* The part of admission that needs the other objects of the files. */
static int admit(struct simulation *s, struct err *err)
{
    for (size_t i = 0; i < s->objects.n; i++) {
        struct simulation_object *o = s->objects.p[i];
        struct arena fresh = { .block_bytes = 1024 };
        int r = 0;
        if (o->kind != SCHED_POD && o->kind != SCHED_PVC && o->kind != SCHED_PV)
            continue;
        struct json *tree = json_clone(&fresh, o->json);
        if (o->kind == SCHED_POD)
            r = set_priority(s, &fresh, tree, err);
        else if (o->kind == SCHED_PVC)
            set_class(s, &fresh, tree);
        else
            set_phase(&fresh, tree);
        if (r < 0) {
            struct simulate_what w = what_is(o->json);
            r = fail(err, r, &w);
            arena_fini(&fresh);
            return r;
        }
        simulation_replace(s, o, &fresh, tree);
    }
    return 0;
}

static bool has_profile(const struct sched_config *config, struct str name)
{
    for (size_t i = 0; i < config->n_profiles; i++)
        if (str_eq(config->profiles[i].scheduler_name, name))
            return true;
    return false;
}

/* Notes an object that the API server would have refused. */
static void refuse(struct simulation *s, struct simulation_object *o, const struct err *err)
{
    note(s, "%s: %s", o->key, err_text(err));
    if (o->pod)
        s->pods.p[o->pod - 1].reason = str_of(arena_printf(&s->arena, "%s", err_text(err)));
}

/*
 * Sends all objects to the scheduler, pods last and in order, so that the first of a file is the
 * first in the queue.
 */
static void tell_all(struct simulation *s)
{
    size_t n = s->objects.n; /* volumes provisioned meanwhile are sent by simulation_replace() */
    s->is_running = true;
    for (int pods = 0; pods <= 1; pods++)
        for (size_t i = 0; i < n; i++) {
            struct simulation_object *o = s->objects.p[i];
            struct err err = { 0 };
            if ((o->kind == SCHED_POD) != pods)
                continue;
            s->now_ms += (uint64_t)pods;
            if (o->kind == SCHED_POD && !json_path(o->json, "spec", "nodeName", NULL)) {
                struct str by = json_str(json_path(o->json, "spec", "schedulerName", NULL));
                struct simulation_pod *row = simulation_row(s, o);
                if (!has_profile(s->config, by))
                    row->reason = str_of(arena_printf(
                        &s->arena, "no profile has its schedulerName '" STR_FMT "'", STR_ARG(by)));
            }
            if (sched_put(s->sched, o->kind, o->json, s->now_ms, &err) < 0)
                refuse(s, o, &err);
            else if (o->kind == SCHED_PVC)
                simulation_volumes(s, o);
        }
}

/*
 * Counts pods given up because their attempts keep ending in errors (an extender is unreachable, a
 * plugin traps).
 */
static size_t n_given_up(const struct simulation *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->pods.n; i++)
        n += s->pods.p[i].errors >= SIMULATION_ERRORS_MAX;
    return n;
}

/* True if nothing is under way that an event or a few seconds would advance. */
static bool is_at_rest(const struct simulation *s)
{
    struct sched_stats stats;
    sched_stats(s->sched, &stats);
    return stats.queue.active + stats.queue.in_flight + stats.binding + stats.waiting == 0 &&
           stats.queue.backoff <= n_given_up(s);
}

static int run(struct simulation *s, struct err *err)
{
    uint64_t most = (s->objects.n + 1) * SIMULATION_ATTEMPTS_PER_POD;
    for (;;) {
        if (simulation_answer(s) || sched_step(s->sched, s->now_ms))
            continue;
        uint64_t due = sched_tick(s->sched, s->now_ms);
        if (s->calls.n > s->n_answered)
            continue;
        if (is_at_rest(s) || due == UINT64_MAX)
            return 0;
        if (s->n_attempts > most || due > SIMULATION_VIRTUAL_MS_MAX)
            return err_set(err, E_LIMIT,
                           "it does not come to rest: %llu attempts within %llu s of virtual time",
                           (unsigned long long)s->n_attempts,
                           (unsigned long long)(s->now_ms / 1000));
        s->now_ms = MAX(s->now_ms + 1, due);
    }
}

/* Sets the reasons of pods that were never tried. */
static void give_reasons(struct simulation *s)
{
    for (size_t i = 0; i < s->objects.n; i++) {
        const struct simulation_object *o = s->objects.p[i];
        struct simulation_pod *row = o->pod ? &s->pods.p[o->pod - 1] : NULL;
        const struct json *gates = json_path(o->json, "spec", "schedulingGates", NULL);
        if (!row || row->node.n || row->reason.n)
            continue;
        if (json_path(o->json, "metadata", "deletionTimestamp", NULL))
            row->reason = STR("it is being deleted");
        else if (json_first(gates))
            row->reason =
                str_of(arena_printf(&s->arena, "it waits for its scheduling gate '" STR_FMT "'",
                                    STR_ARG(json_get_str(json_first(gates), "name"))));
        else
            row->reason = STR("a plugin keeps it out of the queue");
    }
}

int simulation_run(struct simulation *s, struct err *err)
{
    int r = admit(s, err);
    if (r < 0)
        return r;
    tell_all(s);
    sched_synced(s->sched);
    r = run(s, err);
    if (r == 0)
        give_reasons(s);
    return r;
}

size_t simulation_pods(const struct simulation *s, const struct simulation_pod **ret)
{
    *ret = s->pods.p;
    return s->pods.n;
}

struct str simulation_notes(const struct simulation *s)
{
    return buf_str(&s->notes);
}
