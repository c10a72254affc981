/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that guests import: the modules k8s.io/api, k8s.io/scheduler and k8s.io/klog, and
 * dormouse_scheduler with what upstream's ABI lacks.
 *
 * A value is copied to a buffer of the guest (buf, limit) if it fits. The result is its length in
 * any case, so a guest may call twice; therefore a value stays the same until the hook returns.
 * Pointers and lengths are unsigned; sums use 64 bits.
 */
#include "sched/wasm/internal.h"

#include "sched/wasm/payload.h"

#define IMPORT(name) ENGINE_FUNC(name)
#define U32(i)       ENGINE_U32(i)

/* Copies the value to the buffer v[at], v[at + 1]; its length becomes the result. */
static wasm_trap_t *give(struct winstance *in, const void *row, wasmtime_val_raw_t *v, unsigned at,
                         struct str value)
{
    uint32_t limit = U32(at + 1);
    if (value.n && value.n <= limit) {
        uint8_t *to = wasi_range(&in->wasi, U32(at), value.n);
        if (!to)
            return winstance_fail(in, row, "out of memory");
        memcpy(to, value.p, value.n);
    }
    v[0].i32 = (int32_t)value.n;
    return NULL;
}

/* The bytes at pointer v[at] with length v[at + 1]. */
static wasm_trap_t *take(struct winstance *in, const void *row, const wasmtime_val_raw_t *v,
                         unsigned at, const char *what, struct str *ret)
{
    const uint8_t *p = wasi_range(&in->wasi, U32(at), U32(at + 1));
    if (!p)
        return winstance_fail(in, row, "out of memory reading %s", what);
    *ret = str_n(p, U32(at + 1));
    return NULL;
}

static wasm_trap_t *outside(struct winstance *in, const struct engine_func *row)
{
    return winstance_fail(in, row, "%s.%s is of use during a hook only", row->module, row->name);
}

/* ---- k8s.io/api ---- */

static struct str node_of(struct winstance *in, struct str name)
{
    const struct wplugin_config *c = &in->plugin->config;
    struct str node = STR_NULL;
    if (!c->handle || !c->handle->node || !c->handle->node(c->handle_arg, name, &node))
        return STR_NULL;
    return node;
}

IMPORT(api_node)
{
    struct winstance *in = winstance_of(caller);
    struct str name;
    wasm_trap_t *trap = take(in, env, v, 0, "nodeName", &name);
    return trap ? trap : give(in, env, v, 2, node_of(in, name));
}

/* Generation A: the node of the hook itself. */
IMPORT(api_node_of_hook)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, node_of(in, in->input->node)) : outside(in, env);
}

static struct str list_of_filtered(struct winstance *in)
{
    if (in->node_list.p)
        return in->node_list;
    size_t n_bytes = 16;
    for (size_t i = 0; i < in->input->n_nodes; i++)
        n_bytes += node_of(in, in->input->nodes[i]).n + 16;
    struct buf b = BUF_INIT(n_bytes);
    (void)buf_add(&b, "\x0a\x06\x0a\x00\x12\x00\x1a\x00", 8);
    for (size_t i = 0; i < in->input->n_nodes; i++) {
        struct str node = node_of(in, in->input->nodes[i]);
        (void)buf_add_char(&b, 0x12);
        uint64_t len = node.n;
        for (; len >= 0x80; len >>= 7)
            (void)buf_add_u8(&b, (uint8_t)(len | 0x80));
        (void)buf_add_u8(&b, (uint8_t)len);
        (void)buf_add_str(&b, node);
    }
    in->node_list = str_copy_arena(in->arena, buf_str(&b));
    buf_fini(&b);
    return in->node_list;
}

IMPORT(api_node_list)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    if (in->plugin->generation == GENERATION_A && in->input)
        return give(in, env, v, 0, list_of_filtered(in));
    if (!c->handle || !c->handle->node_list)
        return give(in, env, v, 0, str_n("\x0a\x06\x0a\x00\x12\x00\x1a\x00", 8));
    return give(in, env, v, 0, c->handle->node_list(c->handle_arg));
}

/* ---- k8s.io/scheduler: inputs ---- */

IMPORT(get_config)
{
    struct winstance *in = winstance_of(caller);
    return give(in, env, v, 0, in->plugin->config.guest_config);
}

IMPORT(current_pod)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, in->input->pod) : outside(in, env);
}

IMPORT(target_pod)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, in->input->target_pod) : outside(in, env);
}

IMPORT(current_node_name)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, in->input->node) : outside(in, env);
}

IMPORT(filtered_node_list)
{
    struct winstance *in = winstance_of(caller);
    if (!in->input)
        return outside(in, env);
    if (!in->node_list.p) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
        payload_add_name_list(&b, in->input->nodes, in->input->n_nodes);
        in->node_list = str_copy_arena(in->arena, buf_str(&b));
    }
    return give(in, env, v, 0, in->node_list);
}

IMPORT(node_image_states)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    struct str name, states;
    wasm_trap_t *trap = take(in, env, v, 0, "nodeName", &name);
    if (trap)
        return trap;
    if (!c->handle || !c->handle->image_states ||
        !c->handle->image_states(c->handle_arg, name, &states))
        states = STR("null");
    return give(in, env, v, 2, states);
}

IMPORT(node_to_status_map)
{
    struct winstance *in = winstance_of(caller);
    if (!in->input)
        return outside(in, env);
    if (!in->statuses.p) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
        payload_add_statuses(in->arena, &b, in->input->statuses, in->input->n_statuses);
        in->statuses = str_copy_arena(in->arena, buf_str(&b));
    }
    return give(in, env, v, 0, in->statuses);
}

IMPORT(node_score_list)
{
    struct winstance *in = winstance_of(caller);
    if (!in->input)
        return outside(in, env);
    if (!in->scores.p) {
        scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
        payload_add_scores(in->arena, &b, in->input->scores, in->input->n_scores);
        in->scores = str_copy_arena(in->arena, buf_str(&b));
    }
    return give(in, env, v, 0, in->scores);
}

/* ---- k8s.io/scheduler: results; the last one counts ---- */

static wasm_trap_t *push(struct winstance *in, const void *row, const wasmtime_val_raw_t *v,
                         const char *what, struct str *to)
{
    struct str bytes;
    if (!in->input)
        return outside(in, row);
    wasm_trap_t *trap = take(in, row, v, 0, what, &bytes);
    if (trap)
        return trap;
    if (bytes.n > WPLUGIN_RESULT_MAX_BYTES)
        return winstance_fail(in, row, "the %s is larger than %zu bytes", what,
                              WPLUGIN_RESULT_MAX_BYTES);
    /* Repeated pushes are limited too. */
    if (in->arena->total_bytes - in->arena_before_bytes > 4 * WPLUGIN_RESULT_MAX_BYTES)
        return winstance_fail(in, row, "too many results");
    *to = str_copy_arena(in->arena, bytes);
    return NULL;
}

IMPORT(result_status_reason)
{
    struct winstance *in = winstance_of(caller);
    if (!in->input)
        return outside(in, env);
    if (!wasi_range(&in->wasi, U32(0), U32(1))) {
        in->result->message = STR("BUG: out of memory reading message");
        return NULL;
    }
    return push(in, env, v, "message", &in->result->message);
}

IMPORT(result_node_names)
{
    struct winstance *in = winstance_of(caller);
    return push(in, env, v, "nodeNames", &in->pushed_names);
}

IMPORT(result_nominated_node_name)
{
    struct winstance *in = winstance_of(caller);
    if (!in->input)
        return outside(in, env);
    return push(in, env, v, "nominatedNodeName", &in->result->nominated);
}

IMPORT(result_normalized_score_list)
{
    struct winstance *in = winstance_of(caller);
    struct err err = { 0 };
    wasm_trap_t *trap = push(in, env, v, "normalized score list", &in->pushed_scores);
    if (trap || in->pushed_scores.n == 0)
        return trap;
    /* An error is reported when the guest pushes the value. */
    if (payload_read_scores(in->arena, in->pushed_scores, &in->result->scores,
                            &in->result->n_scores, &err) < 0)
        return winstance_fail(in, env, "%s", err_text(&err));
    return NULL;
}

IMPORT(result_cluster_events)
{
    struct winstance *in = winstance_of(caller);
    return push(in, env, v, "clusterEvents", &in->pushed_events);
}

/* ---- k8s.io/scheduler: the handle ---- */

IMPORT(event_recorder_eventf)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    struct wplugin_event event = { 0 };
    struct arena a = { .max_bytes = WPLUGIN_RESULT_MAX_BYTES };
    struct err err = { 0 };
    struct str json;
    wasm_trap_t *trap = take(in, env, v, 0, "eventrecorder event", &json);
    if (trap)
        return trap;
    if (payload_read_event(&a, json, &event, &err) < 0)
        trap = winstance_fail(in, env, "%s", err_text(&err));
    else if (c->handle && c->handle->event)
        c->handle->event(c->handle_arg, &event);
    arena_fini(&a);
    return trap;
}

/* If the buffer is outside of the memory, nothing is written. */
static void put_found(struct winstance *in, uint32_t at, bool found)
{
    uint8_t *to = wasi_range(&in->wasi, at, 8);
    if (!to)
        return;
    memset(to, 0, 8);
    to[0] = found;
}

IMPORT(reject_waiting_pod)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    struct str uid;
    wasm_trap_t *trap = take(in, env, v, 0, "rejectWaitingPod", &uid);
    if (trap)
        return trap;
    bool found = c->handle && c->handle->reject_waiting_pod &&
                 c->handle->reject_waiting_pod(c->handle_arg, uid);
    put_found(in, U32(2), found);
    return NULL;
}

IMPORT(get_waiting_pod)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    struct str uid, pod;
    wasm_trap_t *trap = take(in, env, v, 0, "getWaitingPod", &uid);
    if (trap)
        return trap;
    if (!c->handle || !c->handle->waiting_pod ||
        !c->handle->waiting_pod(c->handle_arg, uid, &pod)) {
        put_found(in, U32(2), false);
        return NULL;
    }
    uint8_t *to = pod.n <= U32(3) ? wasi_range(&in->wasi, U32(2), pod.n) : NULL;
    if (to)
        memcpy(to, pod.p, pod.n);
    return NULL;
}

/* ---- dormouse_scheduler ---- */

IMPORT(node_pods)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    struct str name, pods;
    wasm_trap_t *trap = take(in, env, v, 0, "nodeName", &name);
    if (trap)
        return trap;
    if (!c->handle || !c->handle->node_pods || !c->handle->node_pods(c->handle_arg, name, &pods))
        pods = STR_NULL;
    return give(in, env, v, 2, pods);
}

/* Copies the field of `bytes` with the path v[at..at + 3] to v[at + 4], v[at + 5]. */
static wasm_trap_t *give_field(struct winstance *in, const void *row, wasmtime_val_raw_t *v,
                               unsigned at, struct str bytes)
{
    struct str path, key, value;
    uint64_t number;
    wasm_trap_t *trap = take(in, row, v, at, "path", &path);
    if (!trap)
        trap = take(in, row, v, at + 2, "key", &key);
    if (trap)
        return trap;
    if (payload_field_find(bytes, path, key, &number, &value))
        return give(in, row, v, at + 4, value);
    v[0].i32 = -1;
    return NULL;
}

IMPORT(node_field)
{
    struct winstance *in = winstance_of(caller);
    struct str name;
    wasm_trap_t *trap = take(in, env, v, 0, "nodeName", &name);
    if (!trap && name.n == 0 && in->input)
        name = in->input->node;
    return trap ? trap : give_field(in, env, v, 2, node_of(in, name));
}

IMPORT(pod_field)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give_field(in, env, v, 0, in->input->pod) : outside(in, env);
}

IMPORT(node_changes)
{
    struct winstance *in = winstance_of(caller);
    const struct wplugin_config *c = &in->plugin->config;
    static const char nothing[9] = { 0, 0, 0, 0, 0, 0, 0, 0, 1 };
    uint64_t since = (uint64_t)v[0].i64;
    return give(in, env, v, 1,
                c->handle && c->handle->node_changes ? c->handle->node_changes(c->handle_arg, since)
                                                     : str_n(nothing, sizeof nothing));
}

IMPORT(event)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, in->input->event) : outside(in, env);
}

IMPORT(event_old)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, in->input->event_old) : outside(in, env);
}

IMPORT(event_new)
{
    struct winstance *in = winstance_of(caller);
    return in->input ? give(in, env, v, 0, in->input->event_new) : outside(in, env);
}

/* ---- k8s.io/klog ---- */

IMPORT(klog_severity)
{
    v[0].i32 = winstance_of(caller)->plugin->config.log_severity;
    return NULL;
}

static bool is_logged(const struct winstance *in, int32_t severity)
{
    const struct wplugin_config *c = &in->plugin->config;
    return (severity == WPLUGIN_INFO || severity == WPLUGIN_LOG_ERROR) &&
           severity >= c->log_severity && c->handle && c->handle->log;
}

static void log_text(struct winstance *in, int32_t severity, struct str text)
{
    const struct wplugin_config *c = &in->plugin->config;
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(BUF_MAX_DEFAULT);
    (void)buf_add_str(&b, text);
    if (!str_has_suffix(text, STR("\n")))
        (void)buf_add_char(&b, '\n');
    c->handle->log(c->handle_arg, (enum wplugin_severity)severity, buf_str(&b));
}

IMPORT(klog_log)
{
    struct winstance *in = winstance_of(caller);
    const uint8_t *p = wasi_range(&in->wasi, U32(1), U32(2));
    if (p && is_logged(in, v[0].i32))
        log_text(in, v[0].i32, str_n(p, U32(2)));
    return NULL;
}

IMPORT(klog_logs)
{
    struct winstance *in = winstance_of(caller);
    const uint8_t *p = wasi_range(&in->wasi, U32(1), U32(2));
    const uint8_t *kvs = wasi_range(&in->wasi, U32(3), U32(4));
    const struct str *parts;
    if (!p || !kvs || !is_logged(in, v[0].i32))
        return NULL;
    if (U32(4) == 0) {
        log_text(in, v[0].i32, str_n(p, U32(2)));
        return NULL;
    }
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf line = BUF_INIT(BUF_MAX_DEFAULT);
    size_t n_parts = payload_names(&a, str_n(kvs, U32(4)), true, &parts);
    payload_add_quoted(&line, str_n(p, U32(2)));
    for (size_t i = 0; i < n_parts; i += 2)
        payload_add_pair(&line, parts[i], i + 1 < n_parts ? parts[i + 1] : STR("(MISSING)"));
    arena_fini(&a);
    log_text(in, v[0].i32, buf_str(&line));
    return NULL;
}

/* ---- */

#define API       "k8s.io/api"
#define SCHEDULER "k8s.io/scheduler"
#define KLOG      "k8s.io/klog"
#define OURS      "dormouse_scheduler"

const struct import_row wplugin_imports[] = {
    { { API, "node", "iiii:i", api_node }, GENERATION_B },
    { { API, "node", "ii:i", api_node_of_hook }, GENERATION_A },
    { { API, "nodeList", "ii:i", api_node_list }, -1 },
    { { API, "pod", "ii:i", current_pod }, GENERATION_A },
    { { API, "podInfo", "ii:i", target_pod }, GENERATION_A },
    { { API, "nodeName", "ii:i", current_node_name }, GENERATION_A },
    { { SCHEDULER, "get_config", "ii:i", get_config }, -1 },
    { { SCHEDULER, "currentPod", "ii:i", current_pod }, -1 },
    { { SCHEDULER, "targetPod", "ii:i", target_pod }, -1 },
    { { SCHEDULER, "currentNodeName", "ii:i", current_node_name }, -1 },
    { { SCHEDULER, "filteredNodeList", "ii:i", filtered_node_list }, GENERATION_B },
    { { SCHEDULER, "nodeImageStates", "iiii:i", node_image_states }, -1 },
    { { SCHEDULER, "nodeToStatusMap", "ii:i", node_to_status_map }, -1 },
    { { SCHEDULER, "nodeScoreList", "ii:i", node_score_list }, -1 },
    { { SCHEDULER, "result.status_reason", "ii:", result_status_reason }, -1 },
    { { SCHEDULER, "result.node_names", "ii:", result_node_names }, -1 },
    { { SCHEDULER, "result.nominated_node_name", "ii:", result_nominated_node_name }, -1 },
    { { SCHEDULER, "result.normalized_score_list", "ii:", result_normalized_score_list }, -1 },
    { { SCHEDULER, "result.cluster_events", "ii:", result_cluster_events }, -1 },
    { { SCHEDULER, "handle.eventrecorder.eventf", "ii:", event_recorder_eventf }, -1 },
    { { SCHEDULER, "handle.reject_waiting_pod", "iiii:", reject_waiting_pod }, -1 },
    { { SCHEDULER, "handle.get_waiting_pod", "iiii:", get_waiting_pod }, -1 },
    { { OURS, "nodePods", "iiii:i", node_pods }, -1 },
    { { OURS, "nodeField", "iiiiiiii:i", node_field }, -1 },
    { { OURS, "podField", "iiiiii:i", pod_field }, -1 },
    { { OURS, "nodeChanges", "Iii:i", node_changes }, -1 },
    { { OURS, "event", "ii:i", event }, -1 },
    { { OURS, "eventOld", "ii:i", event_old }, -1 },
    { { OURS, "eventNew", "ii:i", event_new }, -1 },
    { { KLOG, "severity", ":i", klog_severity }, -1 },
    { { KLOG, "log", "iii:", klog_log }, -1 },
    { { KLOG, "logs", "iiiii:", klog_logs }, -1 },
};
const size_t wplugin_n_imports = ARRAY_LEN(wplugin_imports);
