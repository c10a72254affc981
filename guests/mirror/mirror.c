/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps copies of labelled ConfigMaps and Secrets in other namespaces; README.md says what for.
 *
 * One key per MirrorRule. A reconcile compares three caches (sources and copies by the hash of
 * their content, namespaces by their labels), makes a plan of writes and deletions, carries it out
 * one request after the other, and reports in the rule's status. Contents are read when they are
 * copied and never kept: no Secret is in the memory of a guest that sleeps.
 */
#include "dm/kube.h"

#include <string.h>

#define PREFIX          "sync.dormouse.dev/"
#define LABEL_SOURCE    PREFIX "mirror" /* "true": may be copied */
#define LABEL_COPY      PREFIX "copy"   /* "true": made here */
#define LABEL_RULE      PREFIX "rule"   /* uid of the rule that made it */
#define ANNOTATION_FROM PREFIX "source" /* namespace/name */
#define FINALIZER       PREFIX "copies"

#define CONFLICT_RETRY_MS 300000 /* nobody tells us when an object in the way goes */
#define REPORTED_MAX      200    /* bytes of a failure in the status */

static const struct dm_resource rules_resource = { "sync.dormouse.dev", "v1alpha1", "mirrorrules",
                                                   "MirrorRule", false };

/* One kind of object that can be copied. */
struct kind {
    const struct dm_resource *res;
    struct dm_cache *sources, *copies;
};
static struct kind kinds[] = { { .res = &dm_configmaps }, { .res = &dm_secrets } };
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct dm_cache *rules, *namespaces;
static struct dm_controller *controller;

/* ---- what is kept of each object: small JSON objects ---- */

static struct dm_json kept(const struct dm_object *o)
{
    return dm_json_parse(o->kept.p, o->kept.n);
}

static void keep_rule(struct dm_json obj, struct dm_text *out)
{
    dm_jw_open(out, '{');
    dm_jw_kraw(out, "uid", dm_json_at(obj, "metadata.uid"));
    dm_jw_kraw(out, "generation", dm_json_at(obj, "metadata.generation"));
    dm_jw_key(out, "deleting");
    dm_jw_bool(out, dm_is_deleting(obj));
    dm_jw_kraw(out, "spec", dm_json_member(obj, "spec"));
    dm_jw_close(out, '}');
}

static void keep_namespace(struct dm_json obj, struct dm_text *out)
{
    dm_jw_open(out, '{');
    dm_jw_kraw(out, "labels", dm_json_at(obj, "metadata.labels"));
    dm_jw_key(out, "deleting");
    dm_jw_bool(out, dm_is_deleting(obj));
    dm_jw_close(out, '}');
}

/* Everything that a copy takes over. */
static const char *const content[] = { "data", "binaryData", "type", "immutable" };
#define N_CONTENT (sizeof(content) / sizeof(content[0]))

static int64_t content_hash(struct dm_json obj)
{
    uint64_t h = 0;
    for (size_t i = 0; i < N_CONTENT; i++) {
        struct dm_json v = dm_json_member(obj, content[i]);
        if (dm_json_has(v))
            h = dm_hash(v.p, v.n, h + i + 1);
    }
    return (int64_t)h;
}

static void keep_source(struct dm_json obj, struct dm_text *out)
{
    dm_jw_open(out, '{');
    dm_jw_kraw(out, "labels", dm_json_at(obj, "metadata.labels"));
    dm_jw_kint(out, "hash", content_hash(obj));
    dm_jw_close(out, '}');
}

static void keep_copy(struct dm_json obj, struct dm_text *out)
{
    dm_jw_open(out, '{');
    dm_jw_kraw(out, "uid", dm_json_at(obj, "metadata.uid"));
    dm_jw_kraw(out, "rule", dm_label(obj, LABEL_RULE));
    dm_jw_kraw(out, "from", dm_annotation(obj, ANNOTATION_FROM));
    dm_jw_kint(out, "hash", content_hash(obj));
    dm_jw_close(out, '}');
}

/* ---- who has to look when something changes ---- */

static void on_namespace(void *arg, enum dm_change change, const char *ns, const char *name)
{
    for (const struct dm_object *o = NULL; (o = dm_cache_next(rules, o));)
        dm_enqueue(controller, o->ns, o->name);
}

static void on_source(void *arg, enum dm_change change, const char *ns, const char *name)
{
    for (const struct dm_object *o = NULL; (o = dm_cache_next(rules, o));)
        if (strcmp(o->ns, ns) == 0)
            dm_enqueue(controller, o->ns, o->name);
}

static void on_copy(void *arg, enum dm_change change, const char *ns, const char *name)
{
    const struct kind *kind = arg;
    const struct dm_object *copy = dm_cache_get(kind->copies, ns, name);
    struct dm_str rule = dm_json_plain(dm_json_member(kept(copy), "rule"));
    for (const struct dm_object *o = NULL; (o = dm_cache_next(rules, o));)
        if (dm_json_is_str(dm_json_member(kept(o), "uid"), rule))
            dm_enqueue(controller, o->ns, o->name);
}

/* ---- the plan ---- */

enum action_what { ACTION_WRITE, ACTION_DELETE };

struct action {
    struct action *next;
    enum action_what what;
    const struct kind *kind;
    const char *ns, *name; /* of the copy; its source has the same name */
    const char *uid;       /* ACTION_DELETE: this very object */
};

/* The state of one reconcile, in the work's arena; `source` is on the heap and goes with drop(). */
struct plan {
    struct dm_json rule; /* what is kept of it, copied */
    const char *uid;
    bool deleting;
    struct action *actions, **end;
    struct dm_text source;           /* the object being copied */
    const struct action *source_for; /* the action that it was read for */
    unsigned n_sources, n_namespaces, n_copies, n_conflicts, n_failures;
    char first_failure[REPORTED_MAX];
};

static void plan_add(struct dm_work *w, enum action_what what, const struct kind *kind,
                     const char *ns, const char *name, const char *uid)
{
    struct plan *plan = w->state;
    struct action *a = dm_arena_alloc(&w->arena, sizeof(*a));
    *a = (struct action){
        .what = what,
        .kind = kind,
        .ns = dm_arena_copy(&w->arena, ns, strlen(ns)),
        .name = dm_arena_copy(&w->arena, name, strlen(name)),
        .uid = uid,
    };
    *plan->end = a;
    plan->end = &a->next;
}

static bool lists(struct dm_json array, const char *s)
{
    for (struct dm_json_iter it = dm_json_iter(array); dm_json_next(&it);)
        if (dm_json_is(it.value, s))
            return true;
    return false;
}

static bool is_target(const struct dm_work *w, const struct plan *plan, const struct dm_object *ns)
{
    struct dm_json spec = dm_json_member(plan->rule, "spec");
    struct dm_json have = kept(ns);
    if (strcmp(ns->name, w->ns) == 0 || dm_json_true(dm_json_member(have, "deleting")))
        return false;
    return lists(dm_json_member(spec, "namespaces"), ns->name) ||
           dm_selects(dm_json_member(spec, "namespaceSelector"), dm_json_member(have, "labels"));
}

static bool is_source(const struct dm_work *w, const struct plan *plan, const struct kind *kind,
                      const struct dm_object *o)
{
    struct dm_json spec = dm_json_member(plan->rule, "spec");
    struct dm_json wanted = dm_json_member(spec, "kinds"),
                   selector = dm_json_member(spec, "selector");
    if (plan->deleting || strcmp(o->ns, w->ns) != 0)
        return false;
    if (dm_json_has(wanted) && !lists(wanted, kind->res->kind))
        return false;
    return !dm_json_has(selector) || dm_selects(selector, dm_json_member(kept(o), "labels"));
}

static bool is_up_to_date(const struct plan *plan, const struct dm_object *source,
                          const struct dm_object *copy)
{
    return copy && dm_json_is(dm_json_member(kept(copy), "rule"), plan->uid) &&
           dm_json_int(dm_json_member(kept(copy), "hash"), 0) ==
               dm_json_int(dm_json_member(kept(source), "hash"), 1);
}

static void plan_writes(struct dm_work *w, const struct kind *kind)
{
    struct plan *plan = w->state;
    for (const struct dm_object *o = NULL; (o = dm_cache_next(kind->sources, o));) {
        if (!is_source(w, plan, kind, o))
            continue;
        plan->n_sources++;
        for (const struct dm_object *ns = NULL; (ns = dm_cache_next(namespaces, ns));) {
            if (!is_target(w, plan, ns))
                continue;
            if (is_up_to_date(plan, o, dm_cache_get(kind->copies, ns->name, o->name)))
                plan->n_copies++;
            else
                plan_add(w, ACTION_WRITE, kind, ns->name, o->name, NULL);
        }
    }
}

/* Copies of this rule whose source or target is no longer one. */
static void plan_deletions(struct dm_work *w, const struct kind *kind)
{
    struct plan *plan = w->state;
    for (const struct dm_object *o = NULL; (o = dm_cache_next(kind->copies, o));) {
        struct dm_json have = kept(o);
        if (!dm_json_is(dm_json_member(have, "rule"), plan->uid))
            continue;
        const struct dm_object *source = dm_cache_get(kind->sources, w->ns, o->name);
        const struct dm_object *ns = dm_cache_get(namespaces, "", o->ns);
        if (!source || !ns || !is_source(w, plan, kind, source) || !is_target(w, plan, ns))
            plan_add(w, ACTION_DELETE, kind, o->ns, o->name,
                     dm_json_string(dm_json_member(have, "uid"), &w->arena));
    }
}

static void plan_make(struct dm_work *w)
{
    struct plan *plan = w->state;
    for (const struct dm_object *ns = NULL; (ns = dm_cache_next(namespaces, ns));)
        plan->n_namespaces += is_target(w, plan, ns) ? 1 : 0;
    for (size_t i = 0; i < N_KINDS; i++) {
        plan_writes(w, &kinds[i]);
        plan_deletions(w, &kinds[i]);
    }
}

static void drop(struct plan *plan)
{
    dm_text_fini(&plan->source);
}

/* ---- carrying it out ---- */

static void next_action(struct dm_work *w);
static void report(struct dm_work *w);

static struct action *current(struct dm_work *w)
{
    return ((struct plan *)w->state)->actions;
}

static void action_over(struct dm_work *w)
{
    struct plan *plan = w->state;
    plan->actions = plan->actions->next;
    next_action(w);
}

static void note_failure(struct dm_work *w, const char *what, int status, struct dm_str message)
{
    struct plan *plan = w->state;
    const struct action *a = current(w);
    struct dm_text t = { 0 };
    if (plan->n_failures++ + plan->n_conflicts == 0) {
        dm_textf(&t, "%s %s '%s' in namespace '%s': status %d: %.*s", what, a->kind->res->kind,
                 a->name, a->ns, status, (int)message.n, message.p);
        size_t n = t.n < REPORTED_MAX ? t.n : REPORTED_MAX - 1;
        memcpy(plan->first_failure, t.p, n);
        plan->first_failure[n] = 0;
        dm_text_fini(&t);
    }
}

static void note_reply(struct dm_work *w, const char *what, const struct dm_reply *r)
{
    note_failure(w, what, r->status, dm_json_plain(dm_json_member(r->body, "message")));
}

static void on_deleted(struct dm_work *w, const struct dm_reply *r)
{
    if (!dm_ok(r) && r->status != 404 && r->status != 409) /* 409: not the object we meant */
        note_reply(w, "delete", r);
    action_over(w);
}

static bool is_ours(const struct plan *plan, struct dm_json obj)
{
    return dm_json_is(dm_label(obj, LABEL_COPY), "true") &&
           dm_json_is(dm_label(obj, LABEL_RULE), plan->uid);
}

static void put_copy(struct dm_work *w, struct dm_json source, struct dm_json old,
                     struct dm_text *out)
{
    const struct plan *plan = w->state;
    const struct action *a = current(w);
    struct dm_text from = { 0 };
    dm_textf(&from, "%s/%s", w->ns, a->name);
    dm_jw_open(out, '{');
    dm_jw_type(out, a->kind->res);
    dm_jw_key(out, "metadata");
    dm_jw_open(out, '{');
    dm_jw_kstr(out, "name", a->name);
    dm_jw_kstr(out, "namespace", a->ns);
    if (dm_json_has(old)) /* fails with 409 if somebody was faster */
        dm_jw_kraw(out, "resourceVersion", dm_json_at(old, "metadata.resourceVersion"));
    dm_jw_key(out, "labels");
    dm_jw_open(out, '{');
    dm_jw_kstr(out, LABEL_COPY, "true");
    dm_jw_kstr(out, LABEL_RULE, plan->uid);
    dm_jw_close(out, '}');
    dm_jw_key(out, "annotations");
    dm_jw_open(out, '{');
    dm_jw_kstr(out, ANNOTATION_FROM, from.p);
    dm_jw_close(out, '}');
    dm_jw_close(out, '}');
    for (size_t i = 0; i < N_CONTENT; i++) {
        struct dm_json v = dm_json_member(source, content[i]);
        if (dm_json_has(v))
            dm_jw_kraw(out, content[i], v);
    }
    dm_jw_close(out, '}');
    dm_text_fini(&from);
}

/* DM_KEEP means that the object is right already, or somebody else's. */
static enum dm_verdict copy_over(struct dm_work *w, struct dm_json old, struct dm_text *out)
{
    struct plan *plan = w->state;
    struct dm_json source = dm_json_parse(plan->source.p, plan->source.n);
    if (dm_json_has(old) && (!is_ours(plan, old) || content_hash(old) == content_hash(source)))
        return DM_KEEP;
    put_copy(w, source, old, out);
    return DM_WRITE;
}

static void on_copied(struct dm_work *w, const struct dm_reply *r)
{
    struct plan *plan = w->state;
    if (r->unchanged && !is_ours(plan, r->body)) {
        note_failure(w, "write", 409, DM_STR("an object of this name exists and is not a copy"));
        plan->n_failures--;
        plan->n_conflicts++;
    } else if (dm_ok(r)) {
        plan->n_copies++;
    } else {
        note_reply(w, "write", r);
    }
    action_over(w);
}

static void write_copy(struct dm_work *w)
{
    const struct action *a = current(w);
    dm_upsert(w, a->kind->res, a->ns, a->name, NULL, copy_over, on_copied);
}

static void on_source_read(struct dm_work *w, const struct dm_reply *r)
{
    struct plan *plan = w->state;
    if (!dm_ok(r)) {
        if (r->status != 404) /* gone since: its event is on the way */
            note_reply(w, "read", r);
        action_over(w);
        return;
    }
    plan->source.n = 0;
    dm_text_put(&plan->source, r->body.p, r->body.n);
    plan->source_for = current(w);
    write_copy(w);
}

static bool has_source(const struct plan *plan, const struct action *a)
{
    const struct action *had = plan->source_for;
    return had && had->kind == a->kind && strcmp(had->name, a->name) == 0;
}

static void next_action(struct dm_work *w)
{
    struct plan *plan = w->state;
    const struct action *a = plan->actions;
    if (!a) {
        drop(plan);
        report(w);
    } else if (a->what == ACTION_DELETE) {
        dm_delete(w, a->kind->res, a->ns, a->name, a->uid, on_deleted);
    } else if (has_source(plan, a)) {
        write_copy(w); /* into the next namespace */
    } else {
        dm_get(w, a->kind->res, w->ns, a->name, on_source_read);
    }
}

/* ---- status ---- */

static void finish(struct dm_work *w)
{
    const struct plan *plan = w->state;
    if (plan->n_failures)
        dm_fail(w, "%s", plan->first_failure);
    else if (plan->n_conflicts)
        dm_again_after(w, CONFLICT_RETRY_MS);
    else
        dm_done(w);
}

static void on_reported(struct dm_work *w, const struct dm_reply *r)
{
    if (!dm_ok(r) && r->status != 404)
        dm_fail_reply(w, r);
    else
        finish(w);
}

static bool put_status(const struct plan *plan, struct dm_json rule,
                       const struct dm_condition *ready, struct dm_text *out)
{
    struct dm_json old = dm_json_member(rule, "status");
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {
        { "observedGeneration", ready->generation }, { "sources", plan->n_sources },
        { "namespaces", plan->n_namespaces },        { "copies", plan->n_copies },
        { "conflicts", plan->n_conflicts },
    };
    bool differs = false;
    dm_jw_open(out, '{');
    dm_jw_key(out, "status");
    dm_jw_open(out, '{');
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        dm_jw_kint(out, counts[i].key, counts[i].value);
        differs |= dm_json_int(dm_json_member(old, counts[i].key), -1) != counts[i].value;
    }
    dm_jw_key(out, "conditions");
    differs |= dm_jw_condition(out, dm_json_member(old, "conditions"), ready);
    dm_jw_close(out, '}');
    dm_jw_close(out, '}');
    return differs;
}

static void on_rule_read(struct dm_work *w, const struct dm_reply *r)
{
    const struct plan *plan = w->state;
    if (!dm_ok(r)) {
        on_reported(w, r);
        return;
    }
    bool ready = !plan->n_failures && !plan->n_conflicts;
    struct dm_condition c = {
        .type = "Ready",
        .status = ready ? "True" : "False",
        .reason = ready              ? "InStep"
                  : plan->n_failures ? "RequestFailed"
                                     : "NameConflict",
        .message = ready ? "every copy is in step" : plan->first_failure,
        .generation = dm_json_int(dm_json_member(plan->rule, "generation"), 0),
    };
    struct dm_text t = { 0 };
    if (put_status(plan, r->body, &c, &t)) {
        dm_event(controller, &rules_resource, r->body, !ready, c.reason,
                 "%s; %u copies of %u objects in %u namespaces", c.message, plan->n_copies,
                 plan->n_sources, plan->n_namespaces);
        dm_patch(w, &rules_resource, w->ns, w->name, "status", DM_MERGE_PATCH, dm_text_view(&t),
                 on_reported);
    } else {
        finish(w);
    }
    dm_text_fini(&t);
}

static void on_finalizer_removed(struct dm_work *w, const struct dm_reply *r)
{
    if (dm_ok(r) || r->status == 404)
        dm_done(w);
    else
        dm_fail_reply(w, r);
}

static void on_deleting_read(struct dm_work *w, const struct dm_reply *r)
{
    const struct plan *plan = w->state;
    if (plan->n_failures)
        dm_fail(w, "%s", plan->first_failure);
    else if (dm_ok(r) && dm_has_finalizer(r->body, FINALIZER))
        dm_set_finalizer(w, &rules_resource, r->body, FINALIZER, false, on_finalizer_removed);
    else
        on_finalizer_removed(w, r);
}

/* `r` brings the rule as it is now. */
static void report_on(struct dm_work *w, const struct dm_reply *r)
{
    const struct plan *plan = w->state;
    if (plan->deleting)
        on_deleting_read(w, r);
    else
        on_rule_read(w, r);
}

static void report(struct dm_work *w)
{
    dm_get(w, &rules_resource, w->ns, w->name, report_on);
}

/* ---- reconcile ---- */

static void on_finalizer_added(struct dm_work *w, const struct dm_reply *r)
{
    const struct plan *plan = w->state;
    if (dm_ok(r)) {
        plan_make(w);
        if (plan->actions)
            next_action(w);
        else
            report_on(w, r);
    } else if (r->status == 404) {
        dm_done(w);
    } else {
        dm_fail_reply(w, r);
    }
}

/* Nothing is copied before the finalizer stands. */
static void on_rule(struct dm_work *w, const struct dm_reply *r)
{
    if (dm_ok(r) && !dm_is_deleting(r->body) && !dm_has_finalizer(r->body, FINALIZER))
        dm_set_finalizer(w, &rules_resource, r->body, FINALIZER, true, on_finalizer_added);
    else
        on_finalizer_added(w, r);
}

static void reconcile(struct dm_work *w)
{
    const struct dm_object *rule = dm_cache_get(rules, w->ns, w->name);
    if (!rule) {
        dm_done(w); /* the finalizer has seen to its copies */
        return;
    }
    struct plan *plan = dm_arena_alloc(&w->arena, sizeof(*plan));
    *plan = (struct plan){ 0 };
    plan->end = &plan->actions;
    plan->rule = dm_json_parse(dm_arena_copy(&w->arena, rule->kept.p, rule->kept.n), rule->kept.n);
    plan->uid = dm_json_string(dm_json_member(plan->rule, "uid"), &w->arena);
    plan->deleting = dm_json_true(dm_json_member(plan->rule, "deleting"));
    w->state = plan;
    dm_get(w, &rules_resource, w->ns, w->name, on_rule);
}

int dm_main(void)
{
    controller = dm_control(&(struct dm_control){ .name = "mirror", .reconcile = reconcile });
    rules = dm_cache_start(&(struct dm_watch){ .res = &rules_resource,
                                               .keep = keep_rule,
                                               .changed = dm_enqueue_changed,
                                               .arg = controller });
    namespaces = dm_cache_start(&(struct dm_watch){
        .res = &dm_namespaces, .keep = keep_namespace, .changed = on_namespace });
    dm_control_needs(controller, rules);
    dm_control_needs(controller, namespaces);
    for (size_t i = 0; i < N_KINDS; i++) {
        struct kind *k = &kinds[i];
        k->sources = dm_cache_start(&(struct dm_watch){ .res = k->res,
                                                        .label_selector = LABEL_SOURCE "=true",
                                                        .keep = keep_source,
                                                        .changed = on_source });
        k->copies = dm_cache_start(&(struct dm_watch){ .res = k->res,
                                                       .label_selector = LABEL_COPY "=true",
                                                       .keep = keep_copy,
                                                       .changed = on_copy,
                                                       .arg = k });
        dm_control_needs(controller, k->sources);
        dm_control_needs(controller, k->copies);
    }
    dm_log(DM_INFO, "mirror operator starts");
    return 0;
}
