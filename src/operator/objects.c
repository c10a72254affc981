/* SPDX-License-Identifier: Apache-2.0 */
/* Operator objects; see objects.h. */
#include "operator/objects.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sys.h"
#include "codec/json.h"
#include "kube/quantity.h"
#include "kube/reflector.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define GROUP_VERSION "dormouse.dev/v1alpha1"

enum { OBJECT_KEY_MAX = 600 };

/* Per operator: what the status writer knows. */
struct entry {
    struct objects *s;
    char *namespace, *name, *uid;
    struct kube_call *call; /* a write under way */
    int http_status;        /* of that write */
    unsigned failures;      /* of writes, one after the other */
    struct timer pace;
    uint64_t written_ms;
    bool dirty, gone;
    bool ready;                 /* as it was written last, */
    char ready_at[RFC3339_MAX]; /* since then; "": never */
    uint64_t event_window_ms;
    unsigned events;
    char last_reason[32];
    /* A spec that could not even be applied. */
    uint64_t bad_generation;
    char *bad;
};

struct objects {
    struct objects_opts opts;
    struct operators *operators;
    struct reflector *reflector;
    char **module_dirs;
    struct map entries; /* "namespace/name" */
    size_t calls;       /* writes under way */
    bool closed;
};

static void write_status(struct entry *e);

static const char crd_json[] =
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
    "\"metadata\":{\"name\":\"operators.dormouse.dev\"},\"spec\":{\"group\":\"dormouse.dev\","
    "\"scope\":\"Namespaced\","
    "\"names\":{\"plural\":\"operators\",\"singular\":\"operator\",\"kind\":\"Operator\","
    "\"listKind\":\"OperatorList\"},"
    "\"versions\":[{\"name\":\"v1alpha1\",\"served\":true,\"storage\":true,\"subresources\":{"
    "\"status\":{}},"
    "\"additionalPrinterColumns\":["
    "{\"name\":\"Phase\",\"type\":\"string\",\"jsonPath\":\".status.phase\"},"
    "{\"name\":\"Restarts\",\"type\":\"integer\",\"jsonPath\":\".status.restarts\"},"
    "{\"name\":\"Message\",\"type\":\"string\",\"jsonPath\":\".status.message\",\"priority\":1},"
    "{\"name\":\"Age\",\"type\":\"date\",\"jsonPath\":\".metadata.creationTimestamp\"}],"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\","
    "\"description\":\"An operator that runs as a Wasm guest of this "
    "host.\",\"required\":[\"spec\"],\"properties\":{"
    "\"spec\":{\"type\":\"object\",\"required\":[\"module\"],\"properties\":{"
    "\"module\":{\"type\":\"object\",\"required\":[\"file\"],\"description\":\"Where the Wasm "
    "module comes from.\","
    "\"properties\":{\"file\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,"
    "\"description\":\"File name below one of the host's module directories.\"}}},"
    "\"abi\":{\"type\":\"string\",\"enum\":[\"auto\",\"g1\",\"g2\"],\"default\":\"auto\","
    "\"description\":\"Guest ABI; auto tells it from the module's exports.\"},"
    "\"args\":{\"type\":\"array\",\"maxItems\":64,\"items\":{\"type\":\"string\"}},"
    "\"env\":{\"type\":\"array\",\"maxItems\":128,\"items\":{\"type\":\"object\",\"required\":["
    "\"name\"],"
    "\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":1},\"value\":{\"type\":\"string\"}"
    "}}},"
    "\"paused\":{\"type\":\"boolean\",\"description\":\"Stop the operator and keep the object.\"},"
    "\"limits\":{\"type\":\"object\",\"properties\":{"
    "\"memory\":{\"x-kubernetes-int-or-string\":true,\"description\":\"Linear memory, for instance "
    "64Mi.\"},"
    "\"activationMilliseconds\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3600000,"
    "\"description\":\"One activation may compute this long.\"},"
    "\"idleMilliseconds\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"Fall asleep after this long without work.\"}}},"
    "\"allow\":{\"type\":\"array\",\"maxItems\":64,\"description\":\"What it may ask of the API; "
    "empty: everything.\","
    "\"items\":{\"type\":\"object\",\"required\":[\"verbs\",\"paths\"],\"properties\":{"
    "\"verbs\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\",\"enum\":[\"*\","
    "\"get\",\"list\",\"watch\","
    "\"create\",\"update\",\"patch\",\"delete\",\"deletecollection\"]}},"
    "\"paths\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\",\"pattern\":\"^/"
    "\"}}}}}}},"
    "\"status\":{\"type\":\"object\",\"properties\":{\"phase\":{\"type\":\"string\"},\"message\":{"
    "\"type\":\"string\"},"
    "\"observedGeneration\":{\"type\":\"integer\"},\"restarts\":{\"type\":\"integer\"},"
    "\"conditions\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-"
    "keys\":[\"type\"],"
    "\"items\":{\"type\":\"object\",\"required\":[\"type\",\"status\"],\"properties\":{\"type\":{"
    "\"type\":\"string\"},"
    "\"status\":{\"type\":\"string\"},\"reason\":{\"type\":\"string\"},\"message\":{\"type\":"
    "\"string\"},"
    "\"observedGeneration\":{\"type\":\"integer\"},"
    "\"lastTransitionTime\":{\"type\":\"string\",\"format\":\"date-time\"}}}}}}}}}}]}}";

struct str objects_crd(void)
{
    return str_n(crd_json, sizeof crd_json - 1);
}

/* ---------------------------------------------------------------- specs */

/* The file below one of the module directories; symbolic links may not lead out of them. */
static char *find_module(const struct objects *s, struct str file, struct err *err)
{
    scoped(free_scoped) char *name = str_dup(file);
    bool found_outside = false;
    for (size_t i = 0; i < s->opts.n_module_dirs; i++) {
        const char *dir = s->module_dirs[i];
        scoped(free_scoped) char *path =
            name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dir, name);
        scoped(free_scoped) char *real = realpath(path, NULL);
        if (!real)
            continue;
        size_t n = strlen(dir);
        if (strncmp(real, dir, n) == 0 && real[n] == '/')
            return take_ptr(&real);
        found_outside = true;
    }
    if (found_outside)
        (void)err_set(err, E_DENIED,
                      "module file '%s' is outside of the module directories (--modules)", name);
    else
        (void)err_set(err, -ENOENT,
                      "module file '%s' is in none of the module directories (--modules)", name);
    return NULL;
}

static int read_allow(struct arena *a, const struct json *list, struct allow **ret, struct err *err)
{
    json_each (rule, list) {
        struct json *verbs = json_getc(rule, "verbs"), *paths = json_getc(rule, "paths");
        size_t n_verbs = 0, n_paths = 0;
        struct str *v = arena_new_n(a, struct str, verbs ? verbs->n : 0);
        struct str *p = arena_new_n(a, struct str, paths ? paths->n : 0);
        json_each (item, verbs)
            v[n_verbs++] = json_str(item);
        json_each (item, paths)
            p[n_paths++] = json_str(item);
        int r = allow_add(ret, v, n_verbs, p, n_paths, err);
        if (r < 0)
            return err_ctx(err, r, "spec.allow");
    }
    return 0;
}

static int read_limits(const struct json *limits, struct operator_spec *spec, struct err *err)
{
    const struct json *memory = json_getc(limits, "memory");
    int64_t n;
    if (json_is(memory, JSON_STRING)) {
        struct quantity q;
        int r = quantity_parse(json_str(memory), &q, err);
        if (r < 0)
            return err_ctx(err, r, "spec.limits.memory");
        spec->memory_max_bytes = (uint64_t)MAX(quantity_value(q), 0);
    } else if (json_int(memory, &n) >= 0) {
        spec->memory_max_bytes = (uint64_t)MAX(n, 0);
    }
    if (memory &&
        (spec->memory_max_bytes < (64 << 10) || spec->memory_max_bytes > (uint64_t)4 << 30))
        return err_set(err, E_INVALID, "spec.limits.memory must be between 64Ki and 4Gi");
    spec->activation_ms = (uint64_t)json_int_or(json_getc(limits, "activationMilliseconds"), 0);
    spec->idle_ms = (uint64_t)json_int_or(json_getc(limits, "idleMilliseconds"), 0);
    return 0;
}

static int apply_object(struct objects *s, struct arena *a, const struct json *object,
                        struct err *err)
{
    const struct json *meta = json_getc(object, "metadata"), *body = json_getc(object, "spec");
    const struct json *env = json_getc(body, "env"), *args = json_getc(body, "args");
    struct str abi = json_get_str(body, "abi");
    struct operator_spec spec = {
        .namespace = str_dup_arena(a, json_get_str(meta, "namespace")),
        .name = str_dup_arena(a, json_get_str(meta, "name")),
        .uid = str_dup_arena(a, json_get_str(meta, "uid")),
        .generation = (uint64_t)json_int_or(json_getc(meta, "generation"), 1),
        .abi = str_is(abi, "g1")   ? OPERATOR_ABI_G1
               : str_is(abi, "g2") ? OPERATOR_ABI_G2
                                   : OPERATOR_ABI_AUTO,
        .paused = json_bool(json_getc(body, "paused")),
        .env = arena_new_n(a, struct guest_env, env ? env->n : 0),
        .args = arena_new_n(a, struct str, args ? args->n : 0),
    };
    json_each (item, env)
        spec.env[spec.n_env++] =
            (struct guest_env){ json_get_str(item, "name"), json_get_str(item, "value") };
    json_each (item, args)
        spec.args[spec.n_args++] = json_str(item);
    int r = read_limits(json_getc(body, "limits"), &spec, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *path =
        find_module(s, json_get_str(json_getc(body, "module"), "file"), err);
    if (!path)
        return err->code;
    spec.module_path = path;
    r = read_allow(a, json_getc(body, "allow"), &spec.allow, err);
    if (r >= 0)
        r = operators_apply(s->operators, &spec, err);
    allow_free(spec.allow);
    return r;
}

/* ---------------------------------------------------------------- entries */

static struct str entry_key(char buf[OBJECT_KEY_MAX], struct str namespace, struct str name)
{
    int n = snprintf(buf, OBJECT_KEY_MAX, STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    return str_n(buf, MIN((size_t)n, (size_t)OBJECT_KEY_MAX - 1));
}

static struct entry *find_entry(struct objects *s, struct str namespace, struct str name)
{
    char buf[OBJECT_KEY_MAX];
    return map_get(&s->entries, entry_key(buf, namespace, name));
}

static struct entry *need_entry(struct objects *s, struct str namespace, struct str name)
{
    char buf[OBJECT_KEY_MAX];
    struct str key = entry_key(buf, namespace, name);
    struct entry *e = map_get(&s->entries, key);
    if (e)
        return e;
    e = xnew(struct entry);
    e->s = s;
    e->namespace = str_dup(namespace);
    e->name = str_dup(name);
    (void)map_put(&s->entries, key, e);
    return e;
}

static void free_objects(struct objects *s)
{
    for (size_t i = 0; i < s->opts.n_module_dirs; i++)
        free(s->module_dirs[i]);
    free(s->module_dirs);
    map_fini(&s->entries);
    free(s);
}

static void free_entry(struct entry *e)
{
    free(e->namespace);
    free(e->name);
    free(e->uid);
    free(e->bad);
    free(e);
}

/* Off the map; with a write under way on_written() frees it. */
static void drop_entry(struct entry *e)
{
    char buf[OBJECT_KEY_MAX];
    (void)map_del(&e->s->entries, entry_key(buf, str_of(e->namespace), str_of(e->name)));
    timer_stop(e->s->opts.loop, &e->pace);
    e->gone = true;
    if (e->call) {
        transport_cancel(e->s->opts.transport, e->call);
        return;
    }
    free_entry(e);
}

/* An event that is refused is not worth another try; the bodies of answers tell nothing. */
static void ignore_head(void *arg, int status, const struct headers *headers)
{
}

static void ignore_data(void *arg, struct str chunk)
{
}

/* ---------------------------------------------------------------- events */

/* Kubernetes Events in the same namespace; a source that repeats itself is cut off (10 minutes, 5
 * events). */
static void on_event_written(void *arg, int r, const struct err *err)
{
    struct objects *s = arg;
    s->calls--;
    if (s->closed && s->calls == 0)
        free_objects(s);
}

static const struct kube_call_ops event_ops = { .on_head = ignore_head,
                                                .on_data = ignore_data,
                                                .on_end = on_event_written };

static bool may_tell(struct entry *e, const char *reason)
{
    uint64_t now = loop_now_ms(e->s->opts.loop);
    if (now - e->event_window_ms > OBJECTS_EVENT_WINDOW_MS || strcmp(e->last_reason, reason) != 0) {
        e->event_window_ms = now;
        e->events = 0;
    }
    (void)snprintf(e->last_reason, sizeof e->last_reason, "%s", reason);
    return e->events++ < OBJECTS_EVENTS_MAX;
}

static void write_event(struct entry *e, const char *type, const char *reason, const char *message)
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
    json_set_str(&a, meta, "namespace", str_of(e->namespace));
    json_set_str(&a, meta, "name",
                 str_of(arena_printf(&a, "%.200s.%016" PRIx64, e->name, sys_random_u64())));
    json_set_str(&a, about, "apiVersion", STR(GROUP_VERSION));
    json_set_str(&a, about, "kind", STR("Operator"));
    json_set_str(&a, about, "namespace", str_of(e->namespace));
    json_set_str(&a, about, "name", str_of(e->name));
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
        .target = str_of(arena_printf(&a, "/api/v1/namespaces/%s/events", e->namespace)),
        .headers = &h,
        .body = buf_str(&body),
    };
    struct kube_call *call;
    if (transport_start(s->opts.transport, &req, &event_ops, s, &call, NULL) >= 0)
        s->calls++;
    headers_fini(&h);
    buf_fini(&body);
    arena_fini(&a);
}

/* ---------------------------------------------------------------- status */

static struct json *ready_condition(struct arena *a, struct entry *e, const struct operator_view *v,
                                    bool ready)
{
    if (!e->ready_at[0] || e->ready != ready)
        rfc3339_format(clock_wall_ms() / 1000, e->ready_at);
    e->ready = ready;
    struct json *c = json_new_object(a);
    json_set_str(a, c, "type", STR("Ready"));
    json_set_str(a, c, "status", ready ? STR("True") : STR("False"));
    json_set_str(a, c, "reason", str_of(v->reason));
    json_set_str(a, c, "message", str_of(v->message));
    json_set_int(a, c, "observedGeneration", (int64_t)v->generation);
    json_set_str(a, c, "lastTransitionTime", str_of(e->ready_at));
    return c;
}

static void on_pace(struct timer *t)
{
    struct entry *e = container_of(t, struct entry, pace);
    if (!e->call)
        write_status(e);
}

static void on_status_head(void *arg, int status, const struct headers *headers)
{
    struct entry *e = arg;
    e->http_status = status;
}

/* To the next write: longer after each that failed, since then it is the cluster that has troubles.
 */
static uint64_t pause_ms(const struct entry *e)
{
    uint64_t wait = OBJECTS_STATUS_MIN_INTERVAL_MS;
    for (unsigned i = 0; i < e->failures && wait < OBJECTS_STATUS_RETRY_MAX_MS; i++)
        wait *= 2;
    return MIN(wait, (uint64_t)OBJECTS_STATUS_RETRY_MAX_MS);
}

static void on_written(void *arg, int r, const struct err *err)
{
    struct entry *e = arg;
    struct objects *s = e->s;
    bool again = r < 0 || e->http_status >= 500 || e->http_status == 429;
    e->call = NULL;
    s->calls--;
    if (e->gone) {
        free_entry(e);
    } else {
        if (again || e->http_status >= 400)
            log_debug("status not written", "operator=%s/%s code=%d reason=\"%s\"", e->namespace,
                      e->name, e->http_status, r < 0 && err ? err_text(err) : "");
        e->failures = again ? e->failures + 1 : 0;
        e->dirty = e->dirty || again;
        if (e->dirty && !timer_is_armed(&e->pace))
            timer_start(s->opts.loop, &e->pace, pause_ms(e), on_pace);
    }
    if (s->closed && s->calls == 0)
        free_objects(s);
}

static const struct kube_call_ops status_ops = { .on_head = on_status_head,
                                                 .on_data = ignore_data,
                                                 .on_end = on_written };

static void write_status(struct entry *e)
{
    struct objects *s = e->s;
    struct operator* o = operators_find(s->operators, e->namespace, e->name);
    struct operator_view v = { .phase = OPERATOR_REFUSED,
                               .reason = "SpecInvalid",
                               .generation = e->bad_generation,
                               .uid = "" };
    struct guest_stats stats = { 0 };
    if (o)
        operator_view(o, &v);
    if (e->bad) {
        v.phase = OPERATOR_REFUSED;
        v.reason = "SpecInvalid";
        v.message = e->bad;
        v.generation = e->bad_generation;
    } else if (!o) {
        return;
    }
    if (v.guest)
        guest_get_stats(v.guest, &stats);
    struct arena a = { 0 };
    bool ready = v.phase == OPERATOR_RUNNING && v.message[0] == '\0';
    struct json *patch = json_new_object(&a), *status = json_obj(&a, patch, "status");
    struct json *conditions = json_new_array(&a);
    json_set_str(&a, status, "phase", str_of(operator_phase_name(v.phase)));
    json_set_str(&a, status, "message", str_of(v.message));
    json_set_int(&a, status, "observedGeneration", (int64_t)v.generation);
    json_set_int(&a, status, "restarts", (int64_t)stats.restarts);
    json_add(conditions, ready_condition(&a, e, &v, ready));
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
                                e->namespace, e->name)),
        .headers = &h,
        .body = buf_str(&body),
    };
    bool first_try = e->failures == 0;
    e->dirty = false;
    e->http_status = 0;
    e->written_ms = loop_now_ms(s->opts.loop);
    if (transport_start(s->opts.transport, &req, &status_ops, e, &e->call, NULL) >= 0) {
        s->calls++;
    } else {
        e->failures++;
        timer_start(s->opts.loop, &e->pace, pause_ms(e), on_pace);
    }
    headers_fini(&h);
    buf_fini(&body);
    arena_fini(&a);
    if (first_try && !ready && v.message[0])
        write_event(e, "Warning", v.reason, v.message);
}

static void mark(struct entry *e)
{
    uint64_t now = loop_now_ms(e->s->opts.loop), since = now - e->written_ms;
    e->dirty = true;
    if (e->call || timer_is_armed(&e->pace))
        return;
    uint64_t wait = e->written_ms == 0 || since >= OBJECTS_STATUS_MIN_INTERVAL_MS
                        ? 0
                        : OBJECTS_STATUS_MIN_INTERVAL_MS - since;
    timer_start(e->s->opts.loop, &e->pace, wait, on_pace);
}

void objects_on_change(struct objects *s, struct operator* o)
{
    struct operator_view v;
    operator_view(o, &v);
    struct entry *e = find_entry(s, str_of(v.namespace), str_of(v.name));
    if (e)
        mark(e);
}

/* ---------------------------------------------------------------- following */

/* Its identity, and since when it has been as it is: an earlier process may have written that. */
static void know_object(struct entry *e, const struct json *object)
{
    struct str uid = json_get_str(json_getc(object, "metadata"), "uid");
    if (e->uid && str_eq(str_of(e->uid), uid))
        return;
    if (e->uid) { /* another object of this name: nothing of the one before goes on under it */
        operators_remove(e->s->operators, e->namespace, e->name);
        e->ready_at[0] = '\0';
        free(take_ptr(&e->bad));
    }
    free(e->uid);
    e->uid = str_dup(uid);
    json_each (c, json_path(object, "status", "conditions", NULL)) {
        struct str since = json_get_str(c, "lastTransitionTime");
        if (!str_is(json_get_str(c, "type"), "Ready") || since.n == 0 ||
            since.n >= sizeof e->ready_at)
            continue;
        e->ready = str_is(json_get_str(c, "status"), "True");
        (void)snprintf(e->ready_at, sizeof e->ready_at, STR_FMT, STR_ARG(since));
    }
}

static void on_object(void *arg, const struct json *object)
{
    struct objects *s = arg;
    const struct json *meta = json_getc(object, "metadata");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    uint64_t generation = (uint64_t)json_int_or(json_getc(meta, "generation"), 1);
    struct entry *e = need_entry(s, namespace, name);
    know_object(e, object);
    struct operator* o = operators_find(s->operators, e->namespace, e->name);
    struct operator_view v = { 0 };
    if (o)
        operator_view(o, &v);
    bool same = o && v.generation == generation && str_eq(str_of(v.uid), json_get_str(meta, "uid"));
    if (e->bad ? e->bad_generation == generation : same)
        return; /* our own status, or metadata */
    struct arena a = { 0 };
    struct err err = { 0 };
    free(take_ptr(&e->bad));
    if (apply_object(s, &a, object, &err) < 0) {
        log_warn("operator refused", "operator=%s/%s reason=\"%s\"", e->namespace, e->name,
                 err_text(&err));
        e->bad = xstrdup(err_text(&err));
        e->bad_generation = generation;
        mark(e);
    }
    arena_fini(&a);
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct objects *s = arg;
    struct entry *e = find_entry(s, namespace, name);
    if (!e)
        return;
    operators_remove(s->operators, e->namespace, e->name);
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
                                              .plural = STR("operators") },
                                     .ops = &reflector_ops,
                                     .arg = s };
    int r = reflector_start(&follow, &s->reflector, err);
    if (r < 0) {
        free_objects(s);
        return r;
    }
    *ret = s;
    return 0;
}

void objects_close(struct objects *s)
{
    if (!s)
        return;
    s->closed = true;
    reflector_close(s->reflector);
    while (s->entries.n)
        drop_entry(map_next(&s->entries, NULL)->value);
    if (s->calls == 0)
        free_objects(s);
}
