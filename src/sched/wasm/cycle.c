/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks of a guest as functions of a plugin of the framework; see plugins.h. */
#include "base/backoff.h"
#include "base/log.h"
#include "sched/wasm/payload.h"
#include "sched/wasm/plugins_impl.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Limits of a guest's texts: an error ends the attempt, a reason is kept for each node. */
enum { ERROR_MAX_BYTES = 128 << 10, REASON_MAX_BYTES = 4096 };

/* The state of an attempt, or of a fork of it. */
struct wasm_cycle_attempt {
    struct wobject *pod;
    struct str key;
    struct wplugin_fork *fork; /* of a dry run, created with its first call */
    bool is_dry_run;
    uint64_t own_ns, *spent_ns; /* time in the guest, including dry runs; spent_ns: own_ns of the
                                   attempt itself */
};

static struct wentry *entry_of(struct sched_plugin *p)
{
    return container_of(p, struct wguest, plugin)->entry;
}

/* ---- calls ---- */

static const struct sched_status *status_of(struct arena *a, const struct wplugin_result *res)
{
    enum sched_code code = (enum sched_code)wplugin_framework_code(res->code);
    if (code == SCHED_SUCCESS)
        return NULL;
    size_t max = code == SCHED_ERROR ? ERROR_MAX_BYTES : REASON_MAX_BYTES;
    struct str text = str_copy_arena(a, str_slice(res->message, 0, max));
    return sched_status_of(a, code, &text, text.n > 0);
}

static const struct sched_status *begin(struct sched_plugin *p, struct sched_cycle *cycle,
                                        struct wasm_cycle_attempt **ret)
{
    struct err err = { 0 };
    struct wasm_cycle_attempt *at = sched_cycle_state(cycle, p);
    if (!at) {
        at = arena_new(cycle->arena, struct wasm_cycle_attempt);
        if (wlister_pod(cycle->pod, &at->pod, &err) < 0)
            return sched_status(cycle->arena, SCHED_ERROR, "encoding the pod: %s", err_text(&err));
        at->key = cycle->pod->o.uid;
        at->spent_ns = &at->own_ns;
        sched_cycle_set_state(cycle, p, at);
    }
    *ret = at;
    return NULL;
}

/* Accurate to some milliseconds, and cheap enough for each of thousands of calls. */
static uint64_t coarse_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now_ms(void)
{
    return coarse_ns() / 1000000;
}

static void begin_rest(struct wentry *e, struct wrest *rest, const char *what, uint64_t took_ns)
{
    uint64_t now = now_ms(), took_ms = took_ns / 1000000;
    uint64_t first_ms = MAX(took_ms * WPLUGINS_REST_TIMES, (uint64_t)WPLUGINS_REST_MIN_MS);
    /* A plugin that worked for as long as its last rest starts again with the shortest rest. */
    bool is_again = rest->ms && now - rest->until_ms < rest->ms;
    rest->ms = backoff_next(is_again ? rest->ms : 0, first_ms, WPLUGINS_REST_MAX_MS);
    rest->until_ms = now + rest->ms;
    log_warn("a scheduler plugin takes too long, it rests",
             "plugin=%s profile=%zu what=%s took_ms=%" PRIu64 " rest_ms=%" PRIu64, e->name,
             e->profile, what, took_ms, rest->ms);
}

/* Until reenter() other threads may run the scheduler, if the profile has its own thread. */
static void leave(struct wentry *e, const struct sched_framework *f)
{
    e->is_out = f->leave && f->leave(f->arg);
}

static void reenter(struct wentry *e, const struct sched_framework *f)
{
    if (e->is_out)
        f->enter(f->arg);
    e->is_out = false;
}

/* ret: the hook's result; set only if the returned status is NULL; valid until the next call. */
static const struct sched_status *call(struct sched_plugin *p, struct sched_cycle *cycle,
                                       enum wplugin_hook hook, struct wplugin_input *in,
                                       struct wplugin_result *ret)
{
    struct wentry *e = entry_of(p);
    struct wasm_cycle_attempt *at;
    const struct sched_status *failed = begin(p, cycle, &at);
    if (failed)
        return failed;
    if (*at->spent_ns > e->set->attempt_ms * UINT64_C(1000000)) {
        if (now_ms() >= e->rest.until_ms)
            begin_rest(e, &e->rest, "cycle", *at->spent_ns);
        return sched_status(cycle->arena, SCHED_ERROR,
                            "wasm: the calls for this pod took longer than %u ms",
                            e->set->attempt_ms);
    }
    if (now_ms() < e->rest.until_ms)
        return sched_status(cycle->arena, SCHED_ERROR,
                            "wasm: the plugin took too long, it is called again in %" PRIu64 " s",
                            (e->rest.until_ms - now_ms()) / 1000 + 1);
    in->key = at->key;
    in->pod = at->pod->bytes;
    if (at->is_dry_run && !at->fork)
        at->fork = wplugin_fork_new(e->guest, at->key);
    /* A scratch arena: results for thousands of nodes would accumulate in the arena of the
     * cycle. */
    arena_reset(&e->scratch);
    e->cycle = cycle;
    uint64_t began_ns = coarse_ns();
    leave(e, p->framework);
    if (at->fork)
        wplugin_fork_call(at->fork, hook, in, &e->scratch, ret);
    else
        wplugin_call(e->guest, hook, in, &e->scratch, ret);
    reenter(e, p->framework);
    uint64_t took_ns = coarse_ns() - began_ns;
    *at->spent_ns += took_ns;
    if (ret->is_late)
        begin_rest(e, &e->rest, wplugin_hook_name(hook), took_ns);
    e->cycle = NULL;
    wobject_unref(e->waiting);
    e->waiting = NULL;
    return NULL;
}

static const struct sched_status *run(struct sched_plugin *p, struct sched_cycle *cycle,
                                      enum wplugin_hook hook, struct wplugin_input *in)
{
    struct wplugin_result res;
    const struct sched_status *failed = call(p, cycle, hook, in, &res);
    return failed ? failed : status_of(cycle->arena, &res);
}

static const struct sched_status *run_on_node(struct sched_plugin *p, struct sched_cycle *cycle,
                                              enum wplugin_hook hook, const struct intern *node)
{
    struct wplugin_input in = { .node = intern_str(node) };
    return run(p, cycle, hook, &in);
}

/* ---- filters ---- */

static const struct sched_status *pre_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                             struct sched_node_set *ret)
{
    struct wplugin_input in = { 0 };
    struct wplugin_result res;
    const struct sched_status *failed = call(p, cycle, WPLUGIN_HOOK_PREFILTER, &in, &res);
    if (failed || (failed = status_of(cycle->arena, &res)))
        return failed;
    if (res.n_node_names) {
        ret->all = false;
        ret->names = arena_new_n(cycle->arena, struct str, res.n_node_names);
        struct map seen = { .borrows_keys = true };
        for (size_t i = 0; i < res.n_node_names; i++)
            if (!map_has(&seen, res.node_names[i])) {
                struct str name = str_copy_arena(cycle->arena, res.node_names[i]);
                ret->names[ret->n++] = name;
                (void)map_put(&seen, name, &seen);
            }
        map_fini(&seen);
    }
    return NULL;
}

static const struct sched_status *filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node)
{
    struct wentry *e = entry_of(p);
    e->lister.at = node->node;
    const struct sched_status *s = run_on_node(p, cycle, WPLUGIN_HOOK_FILTER, node->node->name);
    e->lister.at = NULL;
    return s;
}

static const struct sched_status *what_if(struct sched_plugin *p, struct sched_cycle *cycle,
                                          enum wplugin_hook hook, const struct sched_pod *other,
                                          const struct sched_node_info *node)
{
    struct err err = { 0 };
    struct wobject *target;
    if (wlister_pod(other, &target, &err) < 0)
        return sched_status(cycle->arena, SCHED_ERROR, "encoding a pod: %s", err_text(&err));
    struct wplugin_input in = { .node = intern_str(node->node->name), .target_pod = target->bytes };
    const struct sched_status *s = run(p, cycle, hook, &in);
    wobject_unref(target);
    return s;
}

static const struct sched_status *add_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_pod *other,
                                          const struct sched_node_info *node)
{
    return what_if(p, cycle, WPLUGIN_HOOK_ADDPOD, other, node);
}

static const struct sched_status *remove_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                             const struct sched_pod *other,
                                             const struct sched_node_info *node)
{
    return what_if(p, cycle, WPLUGIN_HOOK_REMOVEPOD, other, node);
}

static void *clone_state(struct sched_plugin *p, struct sched_cycle *cycle,
                         struct sched_cycle *copy)
{
    struct wasm_cycle_attempt *at = sched_cycle_state(cycle, p);
    if (!at)
        return NULL;
    struct wasm_cycle_attempt *forked = arena_new(copy->arena, struct wasm_cycle_attempt);
    *forked = (struct wasm_cycle_attempt){
        .pod = wobject_ref(at->pod), .key = at->key, .is_dry_run = true, .spent_ns = at->spent_ns
    };
    if (at->fork)
        forked->fork = wplugin_fork_copy(at->fork, at->key);
    return forked;
}

static void free_state_clone(struct sched_plugin *p, struct sched_cycle *copy)
{
    struct wasm_cycle_attempt *at = sched_cycle_state(copy, p);
    if (!at)
        return;
    if (at->fork)
        wplugin_fork_free(at->fork);
    wobject_unref(at->pod);
}

static const struct sched_status *post_filter(struct sched_plugin *p, struct sched_cycle *cycle,
                                              struct sched_post_filter *ret)
{
    struct wplugin_node_code *codes =
        arena_new_n(cycle->arena, struct wplugin_node_code, ret->n_statuses);
    for (size_t i = 0; i < ret->n_statuses; i++)
        codes[i] = (struct wplugin_node_code){ intern_str(ret->statuses[i].node->node->name),
                                               (int32_t)sched_code(ret->statuses[i].status) };
    struct wplugin_input in = { .statuses = codes, .n_statuses = ret->n_statuses };
    struct wplugin_result res;
    const struct sched_status *failed = call(p, cycle, WPLUGIN_HOOK_POSTFILTER, &in, &res);
    if (failed || (failed = status_of(cycle->arena, &res)))
        return failed;
    ret->nominated = str_copy_arena(cycle->arena, res.nominated);
    ret->overrides = res.mode == 1;
    return NULL;
}

/* ---- scores ---- */

static const struct sched_status *pre_score(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n)
{
    struct str *names = arena_new_n(cycle->arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        names[i] = intern_str(nodes[i]->node->name);
    struct wplugin_input in = { .nodes = names, .n_nodes = n };
    return run(p, cycle, WPLUGIN_HOOK_PRESCORE, &in);
}

static const struct sched_status *score(struct sched_plugin *p, struct sched_cycle *cycle,
                                        const struct sched_node_info *const *nodes, size_t n,
                                        int64_t *ret)
{
    for (size_t i = 0; i < n; i++) {
        struct wplugin_input in = { .node = intern_str(nodes[i]->node->name) };
        struct wplugin_result res;
        const struct sched_status *failed = call(p, cycle, WPLUGIN_HOOK_SCORE, &in, &res);
        if (failed || (failed = status_of(cycle->arena, &res)))
            return failed;
        ret[i] = res.score;
    }
    return NULL;
}

static const struct sched_status *normalize(struct sched_plugin *p, struct sched_cycle *cycle,
                                            const struct sched_node_info *const *nodes, size_t n,
                                            int64_t *scores)
{
    struct wplugin_node_score *given = arena_new_n(cycle->arena, struct wplugin_node_score, n);
    for (size_t i = 0; i < n; i++)
        given[i] = (struct wplugin_node_score){ intern_str(nodes[i]->node->name), scores[i] };
    struct wplugin_input in = { .scores = given, .n_scores = n };
    struct wplugin_result res;
    const struct sched_status *failed = call(p, cycle, WPLUGIN_HOOK_NORMALIZESCORE, &in, &res);
    if (failed || (failed = status_of(cycle->arena, &res)))
        return failed;
    for (size_t i = 0; i < MIN(n, res.n_scores); i++)
        scores[i] = res.scores[i].score;
    return NULL;
}

/* ---- binding ---- */

static const struct sched_status *reserve(struct sched_plugin *p, struct sched_cycle *cycle,
                                          const struct sched_node_info *node)
{
    return run_on_node(p, cycle, WPLUGIN_HOOK_RESERVE, node->node->name);
}

static void unreserve(struct sched_plugin *p, struct sched_cycle *cycle)
{
    (void)run_on_node(p, cycle, WPLUGIN_HOOK_UNRESERVE, cycle->node);
}

static const struct sched_status *permit(struct sched_plugin *p, struct sched_cycle *cycle,
                                         const struct sched_node_info *node,
                                         uint64_t *ret_timeout_ms)
{
    struct wplugin_input in = { .node = intern_str(node->node->name) };
    struct wplugin_result res;
    const struct sched_status *failed = call(p, cycle, WPLUGIN_HOOK_PERMIT, &in, &res);
    if (failed)
        return failed;
    *ret_timeout_ms = res.timeout_ms;
    return status_of(cycle->arena, &res);
}

static const struct sched_status *pre_bind(struct sched_plugin *p, struct sched_cycle *cycle,
                                           struct sched_step *step)
{
    (void)step;
    return run_on_node(p, cycle, WPLUGIN_HOOK_PREBIND, cycle->node);
}

static const struct sched_status *bind_pod(struct sched_plugin *p, struct sched_cycle *cycle,
                                           struct sched_step *step)
{
    (void)step;
    return run_on_node(p, cycle, WPLUGIN_HOOK_BIND, cycle->node);
}

static void post_bind(struct sched_plugin *p, struct sched_cycle *cycle)
{
    (void)run_on_node(p, cycle, WPLUGIN_HOOK_POSTBIND, cycle->node);
}

static void end(struct sched_plugin *p, struct sched_cycle *cycle)
{
    struct wasm_cycle_attempt *at = sched_cycle_state(cycle, p);
    if (!at)
        return;
    wplugin_end(entry_of(p)->guest, at->key);
    arena_fini(&entry_of(p)->scratch);
    wobject_unref(at->pod);
    sched_cycle_set_state(cycle, p, NULL);
}

/* ---- events ---- */

static void changed(struct sched_plugin *p, const struct sched_event *event)
{
    wlister_changed(&entry_of(p)->lister, event);
}

static struct str event_json(struct arena *a, const struct sched_event *event)
{
    return str_of(
        arena_printf(a, "{\"resource\":\"%s\",\"action\":%u}", sched_resource_name(event->resource),
                     event->actions & SCHED_UPDATE ? SCHED_UPSTREAM_UPDATE : event->actions));
}

/* Guests see only nodes and pods. Given; NULL: the object is neither. */
static struct wobject *object_of(const struct sched_object *o)
{
    struct err err = { 0 };
    struct wobject *ret;
    if (!o || (o->kind != SCHED_POD && o->kind != SCHED_NODE) || wlister_object(o, &ret, &err) < 0)
        return NULL;
    return ret;
}

enum sched_hint wcycle_hint(struct sched_plugin *p, const struct sched_pod *pod,
                            const struct sched_event *event)
{
    struct wentry *e = entry_of(p);
    struct arena a = { 0 };
    struct err err = { 0 };
    struct wplugin_result res = { .code = WPLUGIN_HINT_QUEUE };
    struct wobject *shown;
    /* Other profiles wait for a hint, so its limit is short. A plugin that cannot be called now
     * queues the pod. */
    if (e->is_out || now_ms() < e->hint_rest.until_ms || wlister_pod(pod, &shown, &err) < 0)
        return SCHED_HINT_QUEUE;
    struct wobject *before = object_of(event->before), *after = object_of(event->after);
    const struct wplugin_input in = { .key = pod->o.uid,
                                      .pod = shown->bytes,
                                      .event = event_json(&a, event),
                                      .event_old = before ? before->bytes : STR(""),
                                      .event_new = after ? after->bytes : STR(""),
                                      .call_ms = WPLUGINS_HINT_MS };
    uint64_t began_ns = coarse_ns();
    wplugin_call(e->guest, WPLUGIN_HOOK_QUEUEINGHINT, &in, &a, &res);
    wplugin_end(e->guest, in.key);
    if (res.is_late)
        begin_rest(e, &e->hint_rest, "queueinghint", coarse_ns() - began_ns);
    if (res.has_failed)
        log_warn("a plugin's queueing hint failed", "plugin=%s reason=\"" STR_FMT "\"", e->name,
                 STR_ARG(res.message));
    bool skips = !res.has_failed && res.code == WPLUGIN_HINT_SKIP;
    wobject_unref(before);
    wobject_unref(after);
    wobject_unref(shown);
    arena_fini(&a);
    return skips ? SCHED_HINT_SKIP : SCHED_HINT_QUEUE;
}

/* ---- the guest's hooks ---- */

void wcycle_fill_ops(struct wentry *e)
{
    unsigned points = wplugin_points(e->guest);
    struct sched_plugin_ops *o = &e->ops;
    o->changed = changed;
    o->end = end;
    o->pre_filter = pre_filter; /* every cycle starts with it, even if the guest lacks it */
    o->clone_state = clone_state;
    o->free_state_clone = free_state_clone;
    if (wplugin_has(e->guest, WPLUGIN_HOOK_ADDPOD))
        o->add_pod = add_pod;
    if (wplugin_has(e->guest, WPLUGIN_HOOK_REMOVEPOD))
        o->remove_pod = remove_pod;
    if (points & WPLUGIN_FILTER)
        o->filter = filter;
    if (wplugin_has(e->guest, WPLUGIN_HOOK_POSTFILTER))
        o->post_filter = post_filter;
    if (points & WPLUGIN_SCORE) {
        o->score = score;
        if (wplugin_has(e->guest, WPLUGIN_HOOK_PRESCORE))
            o->pre_score = pre_score;
        if (wplugin_has(e->guest, WPLUGIN_HOOK_NORMALIZESCORE))
            o->normalize = normalize;
    }
    if (points & WPLUGIN_RESERVE) {
        o->reserve = reserve;
        o->unreserve = unreserve;
    }
    if (points & WPLUGIN_PERMIT)
        o->permit = permit;
    if (points & WPLUGIN_BIND) {
        o->bind = bind_pod;
        if (wplugin_has(e->guest, WPLUGIN_HOOK_PREBIND))
            o->pre_bind = pre_bind;
        if (wplugin_has(e->guest, WPLUGIN_HOOK_POSTBIND))
            o->post_bind = post_bind;
    }
}

/* ---- the guest's handle ---- */

/*
 * Answers are read from the scheduler, so they wait until no other thread runs it. Borrowed data
 * stays valid until the hook returns: the cache of a profile with its own thread does not change
 * meanwhile.
 */
static bool begin_question(struct wentry *e)
{
    if (e->is_out)
        e->lister.framework->enter(e->lister.framework->arg);
    return e->is_out;
}

static void end_question(struct wentry *e, bool was_out)
{
    if (was_out)
        (void)e->lister.framework->leave(e->lister.framework->arg);
}

static bool ask_node(void *arg, struct str name, struct str *ret)
{
    struct wentry *e = arg;
    bool was_out = begin_question(e);
    bool is_known = wlister_node(&e->lister, name, ret);
    end_question(e, was_out);
    return is_known;
}

static struct str ask_node_list(void *arg)
{
    struct wentry *e = arg;
    bool was_out = begin_question(e);
    struct str list = wlister_node_list(&e->lister);
    end_question(e, was_out);
    return list;
}

static bool ask_image_states(void *arg, struct str node, struct str *ret)
{
    struct wentry *e = arg;
    bool was_out = begin_question(e);
    bool is_known = e->cycle && wlister_image_states(&e->lister, node, ret);
    end_question(e, was_out);
    return is_known;
}

static bool ask_node_pods(void *arg, struct str node, struct str *ret)
{
    struct wentry *e = arg;
    bool was_out = begin_question(e);
    bool is_known = e->cycle && wlister_node_pods(&e->lister, node, ret);
    end_question(e, was_out);
    return is_known;
}

static struct str ask_node_changes(void *arg, uint64_t since)
{
    struct wentry *e = arg;
    struct str changes = str_n("\0\0\0\0\0\0\0\0\1", 9);
    bool was_out = begin_question(e);
    if (e->cycle)
        changes = wlister_node_changes(&e->lister, since);
    end_question(e, was_out);
    return changes;
}

static bool ask_waiting_pod(void *arg, struct str uid, struct str *ret)
{
    struct wentry *e = arg;
    struct sched_framework *f = e->lister.framework;
    bool was_out = begin_question(e);
    const struct sched_pod *pod = f && e->cycle ? f->waiting_pod(f, uid) : NULL;
    struct wobject *o = NULL;
    struct err err = { 0 };
    if (pod && wlister_pod(pod, &o, &err) >= 0) {
        wobject_unref(e->waiting); /* the pod may be freed while its message is read */
        e->waiting = o;
        *ret = o->bytes;
    }
    end_question(e, was_out);
    return o != NULL;
}

static bool ask_reject(void *arg, struct str uid)
{
    struct wentry *e = arg;
    struct sched_framework *f = e->lister.framework;
    bool was_out = begin_question(e);
    bool is_rejected = f && f->reject_waiting_pod(f, uid, str_of(e->name), STR(""));
    end_question(e, was_out);
    return is_rejected;
}

static void on_event(void *arg, const struct wplugin_event *event)
{
    struct wentry *e = arg;
    struct sched_framework *f = e->lister.framework;
    const struct wplugin_reference *r = &event->regarding, *other = &event->related;
    const struct sched_reference regarding = { r->kind, r->api_version, r->namespace,
                                               r->name, r->uid,         r->resource_version },
                                 related = { other->kind,      other->api_version,
                                             other->namespace, other->name,
                                             other->uid,       other->resource_version };
    bool was_out = begin_question(e);
    if (f)
        f->record_about(f, &regarding, other->kind.n ? &related : NULL, event->type, event->reason,
                        event->action, event->note);
    end_question(e, was_out);
}

static void on_log(void *arg, enum wplugin_severity severity, struct str text)
{
    struct wentry *e = arg;
    char out[LOG_QUOTE_MAX];
    while (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    log_write(severity == WPLUGIN_LOG_ERROR ? LOG_ERROR : LOG_INFO, "scheduler plugin",
              "plugin=%s line=\"%s\"", e->name, log_quote(out, text));
}

const struct wplugin_handle wcycle_handle = {
    .node = ask_node,
    .node_list = ask_node_list,
    .image_states = ask_image_states,
    .node_pods = ask_node_pods,
    .node_changes = ask_node_changes,
    .waiting_pod = ask_waiting_pod,
    .reject_waiting_pod = ask_reject,
    .event = on_event,
    .log = on_log,
};
