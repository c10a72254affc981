/* SPDX-License-Identifier: Apache-2.0 */
/* Operator objects; see objects.h. */
#include "operator/host/objects.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/slab.h"
#include "base/sys.h"
#include "client/reflector.h"
#include "codec/json.h"
#include "operator/host/object_spec.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define GROUP_VERSION "dormouse.dev/v1alpha1"

enum { OBJECT_KEY_MAX = 600, FORBIDDEN_MAX = 800 };

enum cond {
    COND_READY,
    COND_PROGRESSING,
    COND_DEGRADED,
    COND_LIMITED,
    COND_RETURNED,
    COND_REFUSED,
    COND_FORBIDDEN,
    COND_KEPT_AWAKE,
    COND_COUNT
};
static const char *const cond_names[] = {
    [COND_READY] = "Ready",         [COND_PROGRESSING] = "Progressing",
    [COND_DEGRADED] = "Degraded",   [COND_LIMITED] = "LimitReached",
    [COND_RETURNED] = "RolledBack", [COND_REFUSED] = "UpdateRefused",
    [COND_FORBIDDEN] = "Forbidden", [COND_KEPT_AWAKE] = "KeptAwake"
};

/* A spec that could not be applied. */
struct bad_spec {
    uint64_t generation;
    bool is_file;        /* because its module file is missing */
    struct again *again; /* to read the object again when the module directories change */
    char text[];
};

struct again {
    struct objects *s;
    struct bad_spec *bad; /* NULL: the result is no longer needed */
    struct exchange *call;
    struct buf object;
};

/* Per operator: the state of the status writer. Kept small, since there are thousands. */
struct host_objects_entry {
    struct objects *s;
    char *uid;
    struct exchange *call; /* the running write */
    struct timer pace;
    uint64_t written_ms, event_window_ms;
    struct bad_spec *bad;        /* NULL: the spec was applied */
    int64_t since_s[COND_COUNT]; /* of conditions, as last written */
    uint8_t conds[COND_COUNT];   /* enum is */
    bool dirty, gone;
    uint8_t failures;     /* of consecutive writes; saturates */
    uint16_t http_status; /* of the running write */
    uint16_t name_at;
    unsigned events;
    uint32_t last_reason; /* hash of the last reason */
    char text[];          /* namespace, NUL, name, NUL; without the last NUL it is the key */
};

enum is { COND_ABSENT, COND_FALSE, COND_TRUE };

struct objects {
    struct objects_opts opts;
    struct operators *operators;
    struct reflector *reflector;
    char **module_dirs;
    struct module_dir_watch **dir_watches; /* of module_dirs; NULL: the directory is missing */
    struct map entries;                    /* "namespace\0name" */
    size_t calls;                          /* running writes */
    bool closed;
};

static void write_status(struct host_objects_entry *e);

struct str objects_crd(void)
{
    extern const struct str operator_crd_json; /* crd.json */
    return operator_crd_json;
}

/* ---------------------------------------------------------------- specs */

static int apply_object(struct objects *s, struct arena *a, const struct json *object,
                        struct err *err)
{
    struct object_spec_opts opts = { .module_dirs = s->module_dirs,
                                     .n_module_dirs = s->opts.n_module_dirs };
    struct operator_spec spec = { 0 };
    int r = object_spec_read(a, object, &opts, &spec, err);
    if (r >= 0)
        r = operators_apply(s->operators, &spec, err);
    allow_free(spec.allow);
    return r;
}

/* ---------------------------------------------------------------- entries */

static const char *namespace_of(const struct host_objects_entry *e)
{
    return e->text;
}

static const char *name_of(const struct host_objects_entry *e)
{
    return e->text + e->name_at;
}

static struct str key_of(const struct host_objects_entry *e)
{
    return str_n(e->text, e->name_at + strlen(name_of(e)));
}

static struct str entry_key(char buf[OBJECT_KEY_MAX], struct str namespace, struct str name)
{
    int n =
        snprintf(buf, OBJECT_KEY_MAX, STR_FMT "%c" STR_FMT, STR_ARG(namespace), 0, STR_ARG(name));
    return str_n(buf, MIN((size_t)n, (size_t)OBJECT_KEY_MAX - 1));
}

static struct host_objects_entry *find_entry(struct objects *s, struct str namespace,
                                             struct str name)
{
    char buf[OBJECT_KEY_MAX];
    return map_get(&s->entries, entry_key(buf, namespace, name));
}

static struct host_objects_entry *need_entry(struct objects *s, struct str namespace,
                                             struct str name)
{
    char buf[OBJECT_KEY_MAX];
    struct str key = entry_key(buf, namespace, name);
    struct host_objects_entry *e = map_get(&s->entries, key);
    if (e)
        return e;
    e = slab_alloc(sizeof *e + key.n + 1);
    memcpy(e->text, key.p, key.n);
    e->s = s;
    e->name_at = (uint16_t)(strlen(e->text) + 1);
    (void)map_put(&s->entries, key_of(e), e);
    return e;
}

static void free_objects(struct objects *s)
{
    for (size_t i = 0; i < s->opts.n_module_dirs; i++)
        free(s->module_dirs[i]);
    free(s->module_dirs);
    free(s->dir_watches);
    map_fini(&s->entries);
    free(s);
}

static void drop_bad(struct host_objects_entry *e)
{
    struct bad_spec *bad = take_ptr(&e->bad);
    struct again *again = bad ? bad->again : NULL;
    free(bad);
    if (!again)
        return;
    again->bad = NULL;
    exchange_cancel(again->call); /* freed at its end */
}

static void free_entry(struct host_objects_entry *e)
{
    slab_free(e->uid);
    slab_free(e);
}

/* Remove it from the map; if a write is running, on_written() frees it. */
static void drop_entry(struct host_objects_entry *e)
{
    (void)map_del(&e->s->entries, key_of(e));
    timer_stop(e->s->opts.loop, &e->pace);
    drop_bad(e);
    e->gone = true;
    if (e->call)
        exchange_cancel(e->call);
    else
        free_entry(e);
}

/* ---------------------------------------------------------------- events */

/*
 * Kubernetes Events in the same namespace; repeated Events of a source are limited (5 in 10
 * minutes). A refused Event is not retried.
 */
static void on_event_written(void *arg, int r, const struct err *err)
{
    struct objects *s = arg;
    s->calls--;
    if (s->closed && s->calls == 0)
        free_objects(s);
}

static const struct exchange_events event_events = { .on_end = on_event_written };

static bool may_tell(struct host_objects_entry *e, const char *reason)
{
    uint64_t now = loop_now_ms(e->s->opts.loop);
    uint32_t hash = (uint32_t)str_hash(str_of(reason), 0);
    if (now - e->event_window_ms > OBJECTS_EVENT_WINDOW_MS || e->last_reason != hash) {
        e->event_window_ms = now;
        e->events = 0;
    }
    e->last_reason = hash;
    return e->events++ < OBJECTS_EVENTS_MAX;
}

static void write_event(struct host_objects_entry *e, const char *type, const char *reason,
                        const char *message)
{
    struct objects *s = e->s;
    if (!may_tell(e, reason))
        return;
    struct arena a = { 0 };
    char now[RFC3339_MAX];
    rfc3339_format(clock_wall_ms() / 1000, now);
    struct json *ev = json_new_object(&a), *meta = json_obj(&a, ev, "metadata"),
                *about = json_obj(&a, ev, "involvedObject");
    struct json *source = json_obj(&a, ev, "source");
    json_set_str(&a, ev, "apiVersion", STR("v1"));
    json_set_str(&a, ev, "kind", STR("Event"));
    json_set_str(&a, meta, "namespace", str_of(namespace_of(e)));
    json_set_str(&a, meta, "name",
                 str_of(arena_printf(&a, "%.200s.%016" PRIx64, name_of(e), sys_random_u64())));
    json_set_str(&a, about, "apiVersion", STR(GROUP_VERSION));
    json_set_str(&a, about, "kind", STR("Operator"));
    json_set_str(&a, about, "namespace", str_of(namespace_of(e)));
    json_set_str(&a, about, "name", str_of(name_of(e)));
    json_set_str(&a, about, "uid", str_of(e->uid));
    json_set_str(&a, source, "component", STR("dormouse"));
    json_set_str(&a, ev, "type", str_of(type));
    json_set_str(&a, ev, "reason", str_of(reason));
    json_set_str(&a, ev, "message", str_of(message));
    json_set_str(&a, ev, "firstTimestamp", str_of(now));
    json_set_str(&a, ev, "lastTimestamp", str_of(now));
    json_set_int(&a, ev, "count", 1);
    struct buf body = BUF_INIT(16 << 10);
    (void)json_write(&body, ev);
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "application/json");
    struct kube_request req = {
        .identity = s->opts.identity,
        .method = STR("POST"),
        .target = str_of(arena_printf(&a, "/api/v1/namespaces/%s/events", namespace_of(e))),
        .headers = &h,
        .body = buf_str(&body),
    };
    struct exchange *call;
    if (transport_start(s->opts.transport, &req, &event_events, s, &call, NULL) >= 0)
        s->calls++;
    headers_fini(&h);
    buf_fini(&body);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- status */

/* The content of one condition; reason NULL: the condition is absent. */
struct cond_value {
    bool is;
    const char *reason, *message;
};

/* forbidden: buffer for a message. */
static void conditions_of(const struct operator_view *v, const struct v1_summary *v1,
                          char forbidden[FORBIDDEN_MAX], struct cond_value ret[COND_COUNT])
{
    const char *reason = v->reason, *message = v->message, *degraded = v->message;
    bool running = v->phase == OPERATOR_RUNNING, preparing = v->phase == OPERATOR_PREPARING;
    bool failing = (running || v->phase == OPERATOR_REFUSED) && message[0];
    bool waits = running && !failing && v->v1 && !v1->synced;
    if (running && !failing && v->trouble[0]) {
        failing = true;
        reason = "IdentityUnavailable";
        message = degraded = v->trouble;
    } else if (waits) {
        reason = v1->declared ? "WaitingForWatches" : "Starting";
        message = v1->waits;
    } else if (v->returned) {
        degraded = v->returned;
    } else if (v->refused_reason) {
        degraded = v->refused_message;
    }
    bool is_degraded = failing || v->returned || v->refused_reason;
    bool is_denied = v->denied[0];
    if (is_denied)
        (void)snprintf(forbidden, FORBIDDEN_MAX, "%s may not: %s",
                       v->user ? v->user : "the host's own user", v->denied);
    ret[COND_READY] = (struct cond_value){ running && !failing && !waits, reason, message };
    if (is_denied && ret[COND_READY].is) /* it is running, but its requests are denied */
        ret[COND_READY] = (struct cond_value){ false, "AccessDenied", forbidden };
    ret[COND_PROGRESSING] =
        (struct cond_value){ preparing || waits, preparing || waits ? reason : "Settled",
                             waits ? message : "" };
    ret[COND_DEGRADED] = (struct cond_value){ is_degraded,
                                              failing             ? reason
                                              : v->returned       ? "RolledBack"
                                              : v->refused_reason ? v->refused_reason
                                                                  : "AsExpected",
                                              is_degraded ? degraded : "" };
    ret[COND_LIMITED] =
        (struct cond_value){ true, v->limit.name ? "LimitReached" : NULL, v->limit.message };
    ret[COND_RETURNED] = (struct cond_value){ true, v->returned ? "CrashLoop" : NULL, v->returned };
    ret[COND_REFUSED] = (struct cond_value){ true, v->refused_reason, v->refused_message };
    ret[COND_FORBIDDEN] = (struct cond_value){ true, is_denied ? "AccessDenied" : NULL, forbidden };
    ret[COND_KEPT_AWAKE] = (struct cond_value){ true,
                                                !v->kept_awake                   ? NULL
                                                : v->kept_awake->code == E_LIMIT ? "SwapQuotaUsedUp"
                                                                                 : "SwapFileFailed",
                                                v->kept_awake ? err_text(v->kept_awake) : "" };
}

static void add_condition(struct arena *a, struct json *list, struct host_objects_entry *e,
                          enum cond which, const struct cond_value *value, uint64_t generation)
{
    char at[RFC3339_MAX];
    uint8_t is = !value->reason ? COND_ABSENT : value->is ? COND_TRUE : COND_FALSE;
    if (e->conds[which] != is)
        e->since_s[which] = clock_wall_ms() / 1000;
    e->conds[which] = is;
    if (is == COND_ABSENT)
        return;
    rfc3339_format(e->since_s[which], at);
    struct json *c = json_new_object(a);
    json_set_str(a, c, "type", str_of(cond_names[which]));
    json_set_str(a, c, "status", is == COND_TRUE ? STR("True") : STR("False"));
    json_set_str(a, c, "reason", str_of(value->reason));
    json_set_str(a, c, "message", str_of(value->message));
    json_set_int(a, c, "observedGeneration", (int64_t)generation);
    json_set_str(a, c, "lastTransitionTime", str_of(at));
    json_add(list, c);
}

/* Current values; a change of these alone does not cause a write. */
static void add_statistics(struct arena *a, struct json *status, const struct operator_view *v)
{
    struct guest_stats guest = { 0 };
    struct operator_client_stats client = { 0 };
    if (v->guest)
        guest_get_stats(v->guest, &guest);
    if (v->client)
        operator_client_get_stats(v->client, &client);
    json_set_int(a, status, "restarts", (int64_t)guest.restarts);
    struct json *s = json_obj(a, status, "statistics");
    json_set_int(a, s, "activations", (int64_t)guest.activations);
    json_set_int(a, s, "wakes", (int64_t)guest.wakes);
    json_set_int(a, s, "requests", (int64_t)client.requests);
    json_set_int(a, s, "limited", (int64_t)client.limited);
    json_set_int(a, s, "memoryBytes", (int64_t)guest.memory_bytes);
    json_set_int(a, s, "swapBytes", (int64_t)guest.swap_bytes);
}

static void on_pace(struct timer *t)
{
    struct host_objects_entry *e = container_of(t, struct host_objects_entry, pace);
    if (!e->call && !e->s->opts.standby)
        write_status(e);
}

static void on_status_head(void *arg, int status, const struct headers *headers)
{
    struct host_objects_entry *e = arg;
    e->http_status = (uint16_t)status;
}

/* Delay before the next write: longer after each failure, as the cluster then has problems. */
static uint64_t pause_ms(const struct host_objects_entry *e)
{
    uint64_t wait = OBJECTS_STATUS_MIN_INTERVAL_MS;
    for (unsigned i = 0; i < e->failures && wait < OBJECTS_STATUS_RETRY_MAX_MS; i++)
        wait *= 2;
    return MIN(wait, (uint64_t)OBJECTS_STATUS_RETRY_MAX_MS);
}

static uint8_t one_more(uint8_t failures)
{
    return failures < UINT8_MAX ? failures + 1 : failures;
}

static void on_written(void *arg, int r, const struct err *err)
{
    struct host_objects_entry *e = arg;
    struct objects *s = e->s;
    /* 401: our token was just replaced; 409: a concurrent write of another client. */
    bool again = r < 0 || e->http_status >= 500 || e->http_status == 429 || e->http_status == 401 ||
                 e->http_status == 409;
    e->call = NULL;
    s->calls--;
    if (e->gone) {
        free_entry(e);
    } else {
        if (again || e->http_status >= 400)
            log_debug("status not written", "operator=%s/%s code=%d reason=\"%s\"", namespace_of(e),
                      name_of(e), e->http_status, r < 0 && err ? err_text(err) : "");
        e->failures = again ? one_more(e->failures) : 0;
        e->dirty = e->dirty || again;
        if (e->dirty && !timer_is_armed(&e->pace))
            timer_start(s->opts.loop, &e->pace, pause_ms(e), on_pace);
    }
    if (s->closed && s->calls == 0)
        free_objects(s);
}

static const struct exchange_events status_events = { .on_head = on_status_head,
                                                      .on_end = on_written };

static void write_status(struct host_objects_entry *e)
{
    struct objects *s = e->s;
    struct operator* o = operators_find(s->operators, namespace_of(e), name_of(e));
    struct operator_view v = { .phase = OPERATOR_REFUSED,
                               .reason = "SpecInvalid",
                               .generation = e->bad ? e->bad->generation : 0,
                               .uid = "",
                               .trouble = "",
                               .denied = "" };
    if (o)
        operator_view(o, &v);
    if (e->bad) {
        v.phase = OPERATOR_REFUSED;
        v.reason = "SpecInvalid";
        v.message = e->bad->text;
        v.generation = e->bad->generation;
    } else if (!o) {
        return;
    }
    struct arena a = { 0 };
    struct cond_value conds[COND_COUNT];
    struct v1_summary v1 = { 0 };
    if (v.v1)
        v1_get_summary(v.v1, &v1);
    char forbidden[FORBIDDEN_MAX] = "";
    conditions_of(&v, &v1, forbidden, conds);
    bool forbidden_is_new = conds[COND_FORBIDDEN].reason && e->conds[COND_FORBIDDEN] != COND_TRUE;
    bool limit_is_new = conds[COND_LIMITED].reason && e->conds[COND_LIMITED] != COND_TRUE;
    struct json *patch = json_new_object(&a), *status = json_obj(&a, patch, "status");
    struct json *conditions = json_new_array(&a);
    json_set_str(&a, status, "phase", str_of(operator_phase_name(v.phase)));
    json_set_str(&a, status, "message", str_of(conds[COND_READY].message));
    json_set_int(&a, status, "observedGeneration", (int64_t)v.generation);
    if (v.user)
        json_set_str(&a, status, "serviceAccount", str_of(v.user));
    if (v.module) {
        struct json *module = json_obj(&a, status, "module");
        json_set_str(&a, module, "sha256", str_of(v.module->hash));
        json_set_int(&a, module, "generation", (int64_t)v.running_generation);
    }
    add_statistics(&a, status, &v);
    for (unsigned i = 0; i < COND_COUNT; i++)
        add_condition(&a, conditions, e, i, &conds[i], v.generation);
    json_setc(&a, status, "conditions", conditions);
    struct buf body = BUF_INIT(16 << 10);
    (void)json_write(&body, patch);
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", "application/merge-patch+json");
    struct kube_request req = {
        .identity = s->opts.identity,
        .method = STR("PATCH"),
        .target =
            str_of(arena_printf(&a, "/apis/" GROUP_VERSION "/namespaces/%s/operators/%s/status",
                                namespace_of(e), name_of(e))),
        .headers = &h,
        .body = buf_str(&body),
    };
    bool first_try = e->failures == 0;
    e->dirty = false;
    e->http_status = 0;
    e->written_ms = loop_now_ms(s->opts.loop);
    if (transport_start(s->opts.transport, &req, &status_events, e, &e->call, NULL) >= 0) {
        s->calls++;
    } else {
        e->failures = one_more(e->failures);
        timer_start(s->opts.loop, &e->pace, pause_ms(e), on_pace);
    }
    headers_fini(&h);
    buf_fini(&body);
    arena_fini(&a);
    if (first_try && conds[COND_DEGRADED].is)
        write_event(e, "Warning", conds[COND_DEGRADED].reason, conds[COND_DEGRADED].message);
    else if (first_try && limit_is_new)
        write_event(e, "Warning", "LimitReached", conds[COND_LIMITED].message);
    else if (first_try && forbidden_is_new)
        write_event(e, "Warning", "Forbidden", conds[COND_FORBIDDEN].message);
}

static void mark(struct host_objects_entry *e)
{
    if (e->s->opts.standby)
        return;
    uint64_t now = loop_now_ms(e->s->opts.loop), since = now - e->written_ms;
    e->dirty = true;
    if (e->call || timer_is_armed(&e->pace))
        return;
    uint64_t wait = e->written_ms == 0 || since >= OBJECTS_STATUS_MIN_INTERVAL_MS
                        ? 0
                        : OBJECTS_STATUS_MIN_INTERVAL_MS - since;
    timer_start(e->s->opts.loop, &e->pace, wait, on_pace);
}

void objects_set_standby(struct objects *s, bool standby)
{
    s->opts.standby = standby;
    map_each (e, &s->entries)
        mark(e->value);
}

void objects_on_change(struct objects *s, struct operator* o)
{
    struct operator_view v;
    operator_view(o, &v);
    struct host_objects_entry *e = find_entry(s, str_of(v.namespace), str_of(v.name));
    if (e)
        mark(e);
}

bool objects_describe_refused(struct objects *s, struct str namespace, struct str name,
                              struct buf *to)
{
    const struct host_objects_entry *e = find_entry(s, namespace, name);
    if (!e || !e->bad)
        return false;
    (void)buf_add_cstr(to, "{\"namespace\":");
    (void)json_write_str(to, namespace);
    (void)buf_add_cstr(to, ",\"name\":");
    (void)json_write_str(to, name);
    (void)buf_printf(to,
                     ",\"generation\":%" PRIu64 ",\"runningGeneration\":0,\"phase\":\"%s\","
                     "\"reason\":\"SpecInvalid\",\"message\":",
                     e->bad->generation, operator_phase_name(OPERATOR_REFUSED));
    (void)json_write_str(to, str_of(e->bad->text));
    (void)buf_add_char(to, '}');
    return true;
}

/* ---------------------------------------------------------------- following */

/* Read its identity and the times of its conditions, which an earlier process may have written. */
static void know_object(struct host_objects_entry *e, const struct json *object)
{
    struct str uid = json_get_str(json_getc(object, "metadata"), "uid");
    if (e->uid && str_eq(str_of(e->uid), uid))
        return;
    if (e->uid) { /* another object of the same name: discard the state of the previous one */
        operators_remove(e->s->operators, namespace_of(e), name_of(e));
        memset(e->conds, 0, sizeof e->conds);
        drop_bad(e);
    }
    slab_free(e->uid);
    e->uid = slab_strndup(uid.p, uid.n);
    json_each (c, json_path(object, "status", "conditions", NULL)) {
        int64_t since_us;
        for (unsigned i = 0; i < COND_COUNT; i++) {
            if (!str_is(json_get_str(c, "type"), cond_names[i]) ||
                rfc3339_parse(json_get_str(c, "lastTransitionTime"), &since_us) < 0)
                continue;
            e->conds[i] = str_is(json_get_str(c, "status"), "True") ? COND_TRUE : COND_FALSE;
            e->since_s[i] = since_us / 1000000;
        }
    }
}

static void on_object(void *arg, const struct json *object)
{
    struct objects *s = arg;
    const struct json *meta = json_getc(object, "metadata");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    uint64_t generation = (uint64_t)json_int_or(json_getc(meta, "generation"), 1);
    struct host_objects_entry *e = need_entry(s, namespace, name);
    know_object(e, object);
    struct operator* o = operators_find(s->operators, namespace_of(e), name_of(e));
    struct operator_view v = { 0 };
    if (o)
        operator_view(o, &v);
    bool same = o && v.generation == generation && str_eq(str_of(v.uid), json_get_str(meta, "uid"));
    if (e->bad ? e->bad->generation == generation : same)
        return; /* the change was our own status write, or metadata */
    struct arena a = { 0 };
    struct err err = { 0 };
    drop_bad(e);
    if (apply_object(s, &a, object, &err) < 0) {
        log_warn("operator refused", "operator=%s/%s reason=\"%s\"", namespace_of(e), name_of(e),
                 err_text(&err));
        size_t n = strlen(err_text(&err));
        e->bad = xalloc(sizeof *e->bad + n + 1);
        memcpy(e->bad->text, err_text(&err), n);
        e->bad->is_file = err.code == -ENOENT;
        e->bad->generation = generation;
        mark(e);
    }
    arena_fini(&a);
}

/* ---------------------------------------------------------------- missing module files */

static void on_again_data(void *arg, struct str chunk)
{
    struct again *again = arg;
    (void)buf_add_str(&again->object, chunk); /* an overlong response fails to parse */
}

static void on_again_end(void *arg, int r, const struct err *err)
{
    struct again *again = arg;
    struct objects *s = again->s;
    struct arena a = { .max_bytes = (size_t)OBJECTS_OBJECT_MAX_BYTES * 8 };
    struct json *object;
    s->calls--;
    if (again->bad)
        again->bad->again = NULL;
    if (r >= 0 && again->bad && json_parse(&a, buf_str(&again->object), NULL, &object, NULL) >= 0 &&
        json_is(json_getc(object, "spec"), JSON_OBJECT)) {
        again->bad->generation = 0; /* for any generation */
        on_object(s, object);
    }
    buf_fini(&again->object);
    free(again);
    arena_fini(&a);
    if (s->closed && s->calls == 0)
        free_objects(s);
}

static const struct exchange_events again_events = { .on_data = on_again_data,
                                                     .on_end = on_again_end };

/* Objects are not kept in memory: those whose file was missing are read again. */
static void on_module_dir(void *arg)
{
    struct objects *s = arg;
    map_each (entry, &s->entries) {
        struct host_objects_entry *e = entry->value;
        if (!e->bad || !e->bad->is_file || e->bad->again)
            continue;
        scoped(free_scoped) char *target = xasprintf(
            "/apis/" GROUP_VERSION "/namespaces/%s/operators/%s", namespace_of(e), name_of(e));
        struct kube_request req = { .identity = s->opts.identity,
                                    .method = STR("GET"),
                                    .target = str_of(target) };
        struct again *again = xnew(struct again);
        *again = (struct again){ .s = s, .bad = e->bad };
        buf_init(&again->object, OBJECTS_OBJECT_MAX_BYTES);
        if (transport_start(s->opts.transport, &req, &again_events, again, &again->call, NULL) <
            0) {
            free(again);
            continue;
        }
        e->bad->again = again;
        s->calls++;
    }
}

static void watch_module_dirs(struct objects *s)
{
    struct err err = { 0 };
    s->dir_watches = xnew_n(struct module_dir_watch *, s->opts.n_module_dirs);
    for (size_t i = 0; s->opts.sources && i < s->opts.n_module_dirs; i++)
        if (module_dir_watch_start(s->opts.sources, s->module_dirs[i], on_module_dir, s,
                                   &s->dir_watches[i], &err) < 0)
            log_warn("new modules will not be noticed", "reason=\"%s\"", err_text(&err));
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct objects *s = arg;
    struct host_objects_entry *e = find_entry(s, namespace, name);
    if (!e)
        return;
    operators_remove(s->operators, namespace_of(e), name_of(e));
    drop_entry(e);
}

static void on_synced(void *arg)
{
    struct objects *s = arg;
    if (s->opts.on_synced)
        s->opts.on_synced(s->opts.arg);
}

static const struct reflector_ops reflector_ops = { .on_object = on_object,
                                                    .on_deleted = on_deleted,
                                                    .on_synced = on_synced };

int objects_start(const struct objects_opts *opts, struct operators *operators,
                  struct objects **ret, struct err *err)
{
    struct objects *s = xnew(struct objects);
    s->opts = *opts;
    s->entries.borrows_keys = true;
    s->operators = operators;
    s->module_dirs = xnew_n(char *, opts->n_module_dirs);
    for (size_t i = 0; i < opts->n_module_dirs; i++) {
        s->module_dirs[i] = realpath(opts->module_dirs[i], NULL);
        if (!s->module_dirs[i]) {
            int r = err_sys(err, -errno, "module directory '%s'", opts->module_dirs[i]);
            free_objects(s);
            return r;
        }
    }
    struct reflector_opts follow = { .loop = opts->loop,
                                     .transport = opts->transport,
                                     .hub = opts->hub,
                                     .identity = opts->identity,
                                     .key = { .group_version = STR(GROUP_VERSION),
                                              .plural = STR("operators"),
                                              .namespace = str_of(opts->namespace) },
                                     .ops = &reflector_ops,
                                     .arg = s };
    int r = reflector_start(&follow, &s->reflector, err);
    if (r < 0) {
        free_objects(s);
        return r;
    }
    watch_module_dirs(s);
    *ret = s;
    return 0;
}

void objects_close(struct objects *s)
{
    if (!s)
        return;
    s->closed = true;
    reflector_close(s->reflector);
    for (size_t i = 0; i < s->opts.n_module_dirs; i++)
        module_dir_watch_stop(s->dir_watches[i]);
    while (s->entries.n)
        drop_entry(map_next(&s->entries, NULL)->value);
    if (s->calls == 0)
        free_objects(s);
}
