/* SPDX-License-Identifier: Apache-2.0 */
/* One call of a controller, from the read of its object to its end; frame.h draws the states. */
#include "base/clock.h"
#include "base/log.h"
#include "kube/model/meta.h"
#include "workload/frame/frame.h"

#include <stdarg.h>
#include <stdio.h>

static const struct sm_state call_table[] = {
    [CALL_GET] = { "get", EDGE(CALL_CLAIM) | EDGE(CALL_ROUND) | EDGE(CALL_END) },
    [CALL_CLAIM] = { "claim", EDGE(CALL_BODIES) | EDGE(CALL_END) },
    [CALL_BODIES] = { "bodies", EDGE(CALL_ROUND) | EDGE(CALL_END) },
    [CALL_ROUND] = { "round", EDGE(CALL_END) },
    [CALL_END] = { "end", 0 },
};

/* ---------------------------------------------------------------- life */

void workload_call_start(struct workload_runner *r, struct work_item *item)
{
    struct workload_running *run = xnew(struct workload_running);
    struct work_task task;
    work_item_get(item, &task);
    run->runner = r;
    run->item = item;
    run->call.controller = r->c;
    run->call.namespace = str_copy_arena(&run->call.arena, task.key.namespace);
    run->call.name = str_copy_arena(&run->call.arena, task.key.name);
    run->call.now_ms = clock_wall_ms();
    sm_init(&run->sm, call_table, CALL_GET);
    list_push_back(&r->w->calls, &run->node);
    (void)workload_effect_add(run, &(struct workload_effect){ .kind = WORKLOAD_GET,
                                                              .of = r->c->kind,
                                                              .name = run->call.name });
    if (!workload_effects_start(run))
        workload_call_run(run);
}

void workload_call_drop(struct workload_running *run)
{
    workload_effects_cancel(run);
    list_remove(&run->node);
    vec_fini(&run->effects);
    vec_fini(&run->done);
    arena_fini(&run->call.arena);
    free(run);
}

static void log_failure(const struct workload_running *run, const struct workload_effect *e)
{
    char why[LOG_QUOTE_MAX];
    log_warn("a controller's request failed, retrying",
             "controller=%s object=" STR_FMT "/" STR_FMT " kind=%s status=%d reason=\"%s\"",
             run->runner->c->name, STR_ARG(run->call.namespace), STR_ARG(run->call.name),
             e->of->kind, e->status, log_quote(why, workload_effect_message(e)));
}

/* The effects that are done become those of the round before. */
static void turn_round(struct workload_running *run)
{
    struct workload_effects spare = run->done;
    run->done = run->effects;
    run->effects = spare;
    run->effects.n = 0;
}

const struct workload_effect *workload_failure(struct workload_call *call)
{
    struct workload_running *run = workload_running_of(call);
    vec_each (at, &run->done)
        if ((*at)->is_done && !workload_effect_ok(*at) && !(*at)->is_settled)
            return *at;
    return NULL;
}

bool workload_adds(const struct workload_call *call)
{
    return workload_running_of((struct workload_call *)call)->effects.n > 0;
}

struct workload_effect *workload_effect_at(struct workload_call *call, size_t i)
{
    struct workload_running *run = workload_running_of(call);
    return i < run->done.n ? run->done.p[i] : NULL;
}

/* After the controller had the chance to settle failures. */
static void judge(struct workload_running *run)
{
    const struct workload_effect *failed = workload_failure(&run->call);
    if (failed) {
        run->is_failed = true;
        log_failure(run, failed);
    }
}

static void end_call(struct workload_running *run)
{
    struct workload_runner *r = run->runner;
    struct work_item *item = run->item;
    uint64_t again_ms = run->again_ms;
    enum work_end end = run->is_failed || run->is_conflict ? WORK_FAILED
                        : again_ms                         ? WORK_AGAIN
                                                           : WORK_DONE;
    workload_call_drop(run);
    workload_call_ended(r, item, end, again_ms);
}

/* ---------------------------------------------------------------- claims */

/* The labels of many objects, which are often the same ones. */
struct claim_labels {
    const struct intern *of;
    struct json *tree;
};

static struct json *labels_of(struct workload_running *run, struct claim_labels *last,
                              const struct workload_object *o)
{
    if (o->labels != last->of || !last->of) {
        last->of = o->labels;
        last->tree = workload_object_labels(o, &run->call.arena);
    }
    return last->tree;
}

static struct json *claim_patch(struct workload_running *run, const struct workload_object *o,
                                struct json *ref)
{
    struct arena *a = &run->call.arena;
    struct json *patch = json_new_object(a), *meta = json_obj(a, patch, "metadata"),
                *refs = json_new_array(a);
    json_set_str(a, meta, "uid", workload_object_uid(o));
    json_add(refs, ref);
    json_setc(a, meta, "ownerReferences", refs);
    return patch;
}

static void adopt(struct workload_running *run, const struct workload_object *o)
{
    (void)workload_patch(&run->call, o->table->kind,
                         str_copy_arena(&run->call.arena, workload_object_name(o)),
                         claim_patch(run, o, workload_owner_reference(&run->call)));
}

static void release(struct workload_running *run, const struct workload_object *o)
{
    struct arena *a = &run->call.arena;
    struct json *ref = json_new_object(a);
    json_set_str(a, ref, "$patch", STR("delete"));
    json_set_str(a, ref, "uid", run->call.uid);
    (void)workload_patch(&run->call, o->table->kind, str_copy_arena(a, workload_object_name(o)),
                         claim_patch(run, o, ref));
}

static void fill_claim(struct workload_running *run, struct claim_labels *last,
                       const struct workload_object *o, struct workload_claim *ret)
{
    struct arena *a = &run->call.arena;
    size_t n = o->table->kind->facts_bytes;
    void *facts = n ? arena_alloc(a, n) : NULL;
    if (n)
        memcpy(facts, o->facts, n);
    *ret = (struct workload_claim){ .name = str_copy_arena(a, workload_object_name(o)),
                                    .uid = str_copy_arena(a, workload_object_uid(o)),
                                    .rv = o->rv,
                                    .is_deleting = o->is_deleting,
                                    .labels = labels_of(run, last, o),
                                    .detail = workload_object_detail(o, a),
                                    .facts = facts };
}

/* selector: NULL: all. */
static struct workload_claims collect(struct workload_running *run, const struct workload_table *t,
                                      struct str uid, const struct selector *selector)
{
    struct claim_labels last = { 0 };
    struct workload_claims claims = { 0 };
    struct workload_group *g = t ? workload_table_owned(t, run->call.namespace, uid) : NULL;
    if (!g)
        return claims;
    claims.at = arena_new_n(&run->call.arena, struct workload_claim, g->n);
    list_each (node, &g->members) {
        const struct workload_object *o = list_entry(node, struct workload_object, in_group);
        if (!selector || selector_matches_labels(selector, labels_of(run, &last, o)))
            fill_claim(run, &last, o, &claims.at[claims.n++]);
    }
    return claims;
}

/* Walks the whole table. */
static struct workload_claims collect_selected(struct workload_running *run,
                                               const struct workload_table *t)
{
    struct claim_labels last = { 0 };
    VEC(const struct workload_object *) found = { 0 };
    map_each (e, &t->objects) {
        const struct workload_object *o = e->value;
        if (str_eq(workload_object_namespace(o), run->call.namespace) &&
            selector_matches_labels(&run->selector, labels_of(run, &last, o)))
            vec_push(&found, o);
    }
    struct workload_claims claims = {
        .at = arena_new_n(&run->call.arena, struct workload_claim, found.n + 1), .n = found.n
    };
    for (size_t i = 0; i < found.n; i++)
        fill_claim(run, &last, found.p[i], &claims.at[i]);
    vec_fini(&found);
    return claims;
}

struct workload_claims workload_owned_by(struct workload_call *call,
                                         const struct workload_kind *kind, struct str uid)
{
    struct workload_running *run = workload_running_of(call);
    return collect(run, workload_view_table(&run->runner->w->view, kind), uid, NULL);
}

struct workload_claims workload_all(struct workload_call *call, const struct workload_kind *kind)
{
    struct workload_running *run = workload_running_of(call);
    const struct workload_table *t = workload_view_table(&run->runner->w->view, kind);
    struct workload_claims all = { .at = arena_new_n(&call->arena, struct workload_claim,
                                                     t->objects.n + 1) };
    struct claim_labels last = { 0 };
    map_each (e, &t->objects)
        fill_claim(run, &last, e->value, &all.at[all.n++]);
    return all;
}

/* Whether the group is of an earlier object of the call's kind and name. */
static bool is_left_over(const struct workload_call *call, const struct workload_group *g)
{
    const struct workload_object *one = list_first(&g->members, struct workload_object, in_group);
    return g->uid && strcmp(g->kind, call->controller->kind->kind) == 0 &&
           str_is(call->name, g->name) && !str_is(call->uid, g->uid) &&
           str_eq(workload_object_namespace(one), call->namespace);
}

struct workload_claims workload_left_over(struct workload_call *call,
                                          const struct workload_kind *kind)
{
    struct workload_running *run = workload_running_of(call);
    const struct workload_table *t = workload_view_table(&run->runner->w->view, kind);
    struct workload_claims all = { 0 };
    map_each (e, &t->groups) {
        const struct workload_group *g = e->value;
        if (!is_left_over(call, g))
            continue;
        struct workload_claims more = collect(run, t, str_of(g->uid), NULL);
        struct workload_claim *at =
            arena_new_n(&call->arena, struct workload_claim, all.n + more.n + 1);
        for (size_t i = 0; i < all.n + more.n; i++)
            at[i] = i < all.n ? all.at[i] : more.at[i - all.n];
        all = (struct workload_claims){ at, all.n + more.n };
    }
    return all;
}

/* ---------------------------------------------------------------- the way of a call */

static const struct workload_watch *watch_at(const struct workload_running *run, size_t i)
{
    const struct workload_watch *watch = &run->call.controller->watches[i];
    return i < WORKLOAD_WATCHES_MAX && watch->kind ? watch : NULL;
}

/*
 * As upstream's ControllerRefManager. The object was read when the call began, so it is certain
 * that it is not being deleted and has this uid.
 */
static void add_adoptions(struct workload_running *run, const struct workload_table *t)
{
    struct claim_labels last = { 0 };
    struct workload_group *owned = workload_table_owned(t, run->call.namespace, run->call.uid);
    struct workload_group *orphans = workload_table_orphans(t, run->call.namespace);
    if (owned)
        list_each (node, &owned->members) {
            const struct workload_object *o = list_entry(node, struct workload_object, in_group);
            if (!selector_matches_labels(&run->selector, labels_of(run, &last, o)))
                release(run, o);
        }
    if (orphans)
        list_each (node, &orphans->members) {
            const struct workload_object *o = list_entry(node, struct workload_object, in_group);
            if (!o->is_deleting &&
                selector_matches_labels(&run->selector, labels_of(run, &last, o)))
                adopt(run, o);
        }
}

/* Read what was found, and begin to adopt and release. */
static enum workload_call_at take_object(struct workload_running *run)
{
    struct workload_call *call = &run->call;
    const struct workload_effect *e = workload_effect_at(call, 0);
    if (!workload_effect_ok(e) || !e->answer) {
        run->is_failed = e->status != 404;
        if (run->is_failed)
            log_failure(run, e);
        return run->is_failed || !call->controller->gone ? CALL_END : CALL_ROUND;
    }
    call->object = e->answer;
    call->uid = meta_uid(call->object);
    run->selector =
        workload_selector_of(&call->arena, call->controller->kind->selector, call->object);
    bool selects = call->controller->kind->selector != WORKLOAD_NO_SELECTOR;
    for (size_t i = 0; selects && watch_at(run, i) && !meta_is_deleting(call->object); i++)
        if (watch_at(run, i)->how == WORKLOAD_OWNED)
            add_adoptions(run, workload_view_table(&run->runner->w->view, watch_at(run, i)->kind));
    return CALL_CLAIM;
}

/* What is gone needs no owner, and 422 says that its uid has changed. */
static enum workload_call_at take_claims(struct workload_running *run)
{
    struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(&run->call, i)); i++)
        e->is_settled = e->status == 404 || e->status == 422;
    bool selects = run->call.controller->kind->selector != WORKLOAD_NO_SELECTOR;
    judge(run);
    if (run->is_failed)
        return CALL_END;
    for (size_t i = 0; watch_at(run, i); i++) {
        const struct workload_watch *watch = watch_at(run, i);
        struct workload_claims *claims = &run->call.claims[i];
        const struct workload_table *t = workload_view_table(&run->runner->w->view, watch->kind);
        if (watch->how == WORKLOAD_OWNED)
            *claims = collect(run, t, run->call.uid, selects ? &run->selector : NULL);
        else if (watch->how == WORKLOAD_SELECTED)
            *claims = collect_selected(run, t);
        for (size_t j = 0; watch->reads_bodies && j < claims->n; j++)
            (void)workload_effect_add(run, &(struct workload_effect){ .kind = WORKLOAD_GET,
                                                                      .of = watch->kind,
                                                                      .name = claims->at[j].name,
                                                                      .claim = &claims->at[j] });
    }
    return CALL_BODIES;
}

/* Claims that were removed meanwhile are none; nor are others of the same name. */
static void drop_bodiless(struct workload_claims *claims)
{
    size_t n = 0;
    for (size_t i = 0; i < claims->n; i++)
        if (claims->at[i].body && str_eq(meta_uid(claims->at[i].body), claims->at[i].uid))
            claims->at[n++] = claims->at[i];
    claims->n = n;
}

static enum workload_call_at take_bodies(struct workload_running *run)
{
    struct workload_effect *e;
    for (size_t i = 0; (e = workload_effect_at(&run->call, i)); i++)
        e->is_settled = e->status == 404;
    judge(run);
    for (size_t i = 0; watch_at(run, i); i++)
        if (watch_at(run, i)->reads_bodies)
            drop_bodiless(&run->call.claims[i]);
    return run->is_failed ? CALL_END : CALL_ROUND;
}

/* Whether another round follows. */
static bool run_round(struct workload_running *run)
{
    const struct workload_controller *c = run->call.controller;
    (run->call.object ? c->reconcile : c->gone)(&run->call);
    judge(run);
    run->call.round++;
    return run->effects.n > 0;
}

void workload_call_run(struct workload_running *run)
{
    enum workload_call_at to = CALL_END;
    for (;;) {
        if (run->is_conflict && run->sm.at != CALL_END)
            sm_move(&run->sm, CALL_END);
        turn_round(run);
        switch ((enum workload_call_at)run->sm.at) {
        case CALL_GET:
            to = take_object(run);
            break;
        case CALL_CLAIM:
            to = take_claims(run);
            break;
        case CALL_BODIES:
            to = take_bodies(run);
            break;
        case CALL_ROUND:
            to = run_round(run) ? CALL_ROUND : CALL_END;
            break;
        case CALL_END:
            end_call(run);
            return;
        }
        if (to != (enum workload_call_at)run->sm.at)
            sm_move(&run->sm, to);
        if (workload_effects_start(run))
            return;
    }
}

/* ---------------------------------------------------------------- for controllers */

void workload_again_after(struct workload_call *call, uint64_t ms)
{
    struct workload_running *run = workload_running_of(call);
    ms = MAX(ms, (uint64_t)1);
    run->again_ms = run->again_ms ? MIN(run->again_ms, ms) : ms;
}

void workload_fail(struct workload_call *call)
{
    workload_running_of(call)->is_failed = true;
}

void workload_event(struct workload_call *call, bool is_warning, const char *reason,
                    const char *fmt, ...)
{
    const struct workload_kind *kind = call->controller->kind;
    const struct event_about about = { .api_version = str_of(kind->group_version),
                                       .kind = str_of(kind->kind),
                                       .namespace = call->namespace,
                                       .name = call->name,
                                       .uid = call->uid,
                                       .resource_version = meta_resource_version(call->object) };
    char note[EVENT_RECORDER_NOTE_MAX_BYTES];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    event_recorder_write(workload_running_of(call)->runner->events, &about, is_warning, reason,
                         note);
}

struct json *workload_owner_reference(struct workload_call *call)
{
    const struct workload_kind *kind = call->controller->kind;
    struct arena *a = &call->arena;
    struct json *ref = json_new_object(a);
    json_set_str(a, ref, "apiVersion", str_of(kind->group_version));
    json_set_str(a, ref, "kind", str_of(kind->kind));
    json_set_str(a, ref, "name", call->name);
    json_set_str(a, ref, "uid", call->uid);
    json_set_bool(a, ref, "controller", true);
    json_set_bool(a, ref, "blockOwnerDeletion", true);
    return ref;
}

struct json *workload_pod_from_template(struct workload_call *call, const struct json *template)
{
    static const char *const parts[] = { "labels", "annotations", "finalizers" };
    struct arena *a = &call->arena;
    struct json *pod = json_new_object(a), *meta, *refs = json_new_array(a);
    const struct json *from = json_getc(template, "metadata"), *spec = json_getc(template, "spec");
    json_set_str(a, pod, "apiVersion", STR("v1"));
    json_set_str(a, pod, "kind", STR("Pod"));
    meta = json_obj(a, pod, "metadata");
    json_set_str(a, meta, "generateName",
                 str_of(arena_printf(a, STR_FMT "-", STR_ARG(call->name))));
    json_set_str(a, meta, "namespace", call->namespace);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (json_getc(from, parts[i]))
            json_setc(a, meta, parts[i], json_copy(a, json_getc(from, parts[i])));
    json_add(refs, workload_owner_reference(call));
    json_setc(a, meta, "ownerReferences", refs);
    if (spec)
        json_setc(a, pod, "spec", json_copy(a, spec));
    return pod;
}
