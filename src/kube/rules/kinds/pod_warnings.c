/* SPDX-License-Identifier: Apache-2.0 */
/* Warnings about Pods: allowed but probably wrong settings, in upstream's words and order. */
#include "base/buf.h"
#include "kube/model/field.h"
#include "kube/model/quantity.h"
#include "kube/rules/kinds/pods.h"

enum { LOOK_AT_MAX = 256 }; /* entries compared with each other; otherwise unlimited */

struct warner {
    struct arena *a;
    const struct json *spec;
    struct fpath at; /* "spec" */
    void (*say)(void *arg, struct str text);
    void *arg;
};

__attribute__((format(printf, 3, 4))) static void warn(const struct warner *w,
                                                       const struct fpath *at, const char *fmt, ...)
{
    struct buf b = BUF_INIT(4096);
    va_list ap;
    if (at)
        (void)buf_printf(&b, STR_FMT ": ", STR_ARG(fpath_text(w->a, at)));
    va_start(ap, fmt);
    (void)buf_vprintf(&b, fmt, ap);
    va_end(ap);
    w->say(w->arg, str_copy_arena(w->a, buf_str(&b)));
    buf_fini(&b);
}

static const char *quoted(const struct warner *w, struct str s)
{
    struct buf b = BUF_INIT(4096);
    field_go_quote(&b, s);
    const char *text = str_dup_arena(w->a, buf_str(&b));
    buf_fini(&b);
    return text;
}

/* ---- selectors that select nothing ---- */

static void check_spread(const struct warner *w)
{
    struct fpath list = fpath_child(&w->at, STR("topologySpreadConstraints"));
    size_t i = 0;
    json_each (t, json_getc(w->spec, "topologySpreadConstraints")) {
        struct fpath item = fpath_index(&list, i++), at = fpath_child(&item, STR("labelSelector"));
        if (!json_is(json_getc(t, "labelSelector"), JSON_OBJECT))
            warn(w, &at, "a null labelSelector results in matching no pod");
    }
}

static void check_affinity(const struct warner *w, const char *kind)
{
    static const char *const names[] = { "requiredDuringSchedulingIgnoredDuringExecution",
                                         "preferredDuringSchedulingIgnoredDuringExecution" };
    const struct json *affinity = json_path(w->spec, "affinity", kind, NULL);
    struct fpath up = fpath_child(&w->at, STR("affinity")), mid = fpath_child(&up, str_of(kind));
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        struct fpath list = fpath_child(&mid, str_of(names[k]));
        size_t i = 0;
        json_each (t, json_getc(affinity, names[k])) {
            struct fpath item = fpath_index(&list, i++),
                         term = fpath_child(&item, STR("podAffinityTerm")),
                         at = fpath_child(k ? &term : &item, STR("labelSelector"));
            const struct json *of = k ? json_getc(t, "podAffinityTerm") : t;
            if (!json_is(json_getc(of, "labelSelector"), JSON_OBJECT))
                warn(w, &at, "a null labelSelector results in matching no pod");
        }
    }
}

/* ---- volumes ---- */

static void check_volumes(const struct warner *w)
{
    static const char *const old[][2] = {
        { "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+" },
        { "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+" },
        { "scaleIO", "deprecated in v1.16, non-functional in v1.22+" },
        { "flocker", "deprecated in v1.22, non-functional in v1.25+" },
        { "storageos", "deprecated in v1.22, non-functional in v1.25+" },
        { "quobyte", "deprecated in v1.22, non-functional in v1.25+" },
        { "glusterfs", "deprecated in v1.25, non-functional in v1.26+" },
        { "cephfs", "deprecated in v1.28, non-functional in v1.31+" },
        { "rbd", "deprecated in v1.28, non-functional in v1.31+" }
    };
    const struct json *volumes = json_getc(w->spec, "volumes");
    struct fpath list = fpath_child(&w->at, STR("volumes"));
    size_t i = 0;
    json_each (v, volumes) {
        struct fpath item = fpath_index(&list, i++);
        for (size_t k = 0; k < ARRAY_LEN(old); k++) {
            bool storageos = str_is(str_of(old[k][0]), "storageos"); /* path of the internal type */
            struct fpath at = fpath_child(&item, storageos ? STR("storageOS") : str_of(old[k][0]));
            if (json_is(json_getc(v, old[k][0]), JSON_OBJECT))
                warn(w, &at, "%s", old[k][1]);
        }
    }
    json_each (v, volumes)
        json_each (s, json_path(v, "projected", "sources", NULL))
            if (!json_first(s))
                warn(w, NULL, "volume %s (Projected) has no sources provided",
                     quoted(w, json_get_str(v, "name")));
}

/* ---- duplicate entries ---- */

static void check_twice(const struct warner *w, const char *name, const char *member)
{
    const struct json *list = json_getc(w->spec, name);
    struct fpath up = fpath_child(&w->at, str_of(name));
    size_t i = 0;
    json_each (x, list) {
        struct fpath item = fpath_index(&up, i), at = fpath_child(&item, str_of(member));
        if (i++ == LOOK_AT_MAX)
            return;
        json_each (before, list) {
            if (before == x)
                break;
            if (!str_eq(json_get_str(before, member), json_get_str(x, member)))
                continue;
            warn(w, &at, "duplicate %s %s", member, quoted(w, json_get_str(x, member)));
            break;
        }
    }
}

static void check_empty_secrets(const struct warner *w)
{
    struct fpath up = fpath_child(&w->at, STR("imagePullSecrets"));
    size_t i = 0;
    json_each (x, json_getc(w->spec, "imagePullSecrets")) {
        struct fpath item = fpath_index(&up, i++), at = fpath_child(&item, STR("name"));
        if (json_get_str(x, "name").n == 0)
            warn(w, &at, "invalid empty name \"\"");
    }
}

/* ---- containers ---- */

static void check_bytes(const struct warner *w, const struct json *list, const char *name,
                        const struct fpath *up)
{
    const struct json *v = json_getc(list, name);
    struct fpath at = fpath_key(up, str_of(name));
    struct quantity q;
    if (v && quantity_parse(json_str(v), &q, NULL) >= 0 && quantity_milli(q) % 1000 != 0)
        warn(w, &at, "fractional byte value %s is invalid, must be an integer",
             quoted(w, quantity_text(w->a, q)));
}

/* The later value overrides the earlier one, without referring to it as in "$(X):more". */
static bool hides(const struct warner *w, const struct json *env)
{
    struct str value = json_get_str(env, "value"),
               ref =
                   str_of(arena_printf(w->a, "$(" STR_FMT ")", STR_ARG(json_get_str(env, "name"))));
    return json_is(json_getc(env, "valueFrom"), JSON_OBJECT) || str_eq(value, ref) ||
           str_find(value, ref) < 0;
}

static void check_env(const struct warner *w, const struct json *container, const struct fpath *up)
{
    const struct json *list = json_getc(container, "env");
    struct fpath list_at = fpath_child(up, STR("env"));
    size_t i = 0;
    json_each (x, list) {
        struct fpath at = fpath_index(&list_at, i);
        if (i++ == LOOK_AT_MAX)
            return;
        json_each (before, list) {
            if (before == x)
                break;
            if (!str_eq(json_get_str(before, "name"), json_get_str(x, "name")))
                continue;
            if (hides(w, x))
                warn(w, &at,
                     "hides previous definition of %s, which may be dropped when using apply",
                     quoted(w, json_get_str(x, "name")));
            break;
        }
    }
}

static void check_container(const struct warner *w, const struct json *c, const struct fpath *at)
{
    static const char *const names[] = { "memory", "ephemeral-storage" };
    static const char *const lists[] = { "limits", "requests" };
    struct fpath up = fpath_child(at, STR("resources"));
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
            struct fpath list = fpath_child(&up, str_of(lists[k]));
            check_bytes(w, json_path(c, "resources", lists[k], NULL), names[i], &list);
        }
    check_env(w, c, at);
}

typedef void (*container_fn)(const struct warner *w, const struct json *c, const struct fpath *at);

/* Init containers first, as upstream visits them. */
static void each_container(const struct warner *w, container_fn fn)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        struct fpath list = fpath_child(&w->at, str_of(lists[k]));
        size_t i = 0;
        json_each (c, json_getc(w->spec, lists[k])) {
            struct fpath at = fpath_index(&list, i++);
            fn(w, c, &at);
        }
    }
}

/* ---- ports ---- */

struct port {
    const struct json *json;
    const char *at;
};

static int64_t number(const struct json *port, const char *name)
{
    return json_int_or(json_getc(port, name), 0);
}

static void compare_ports(const struct warner *w, const struct port *x, const struct port *y)
{
    struct str x_ip = json_get_str(x->json, "hostIP"), y_ip = json_get_str(y->json, "hostIP");
    int64_t x_host = number(x->json, "hostPort"), y_host = number(y->json, "hostPort");
    if (number(x->json, "containerPort") != number(y->json, "containerPort") ||
        !str_eq(json_get_str(x->json, "protocol"), json_get_str(y->json, "protocol")))
        return;
    if (str_eq(x_ip, y_ip) && x_host == y_host)
        warn(w, NULL, "%s: duplicate port definition with %s", x->at, y->at);
    else if (x_host == 0 || y_host == 0)
        warn(w, NULL, "%s: overlapping port definition with %s", x->at, y->at);
    else if (x_host == y_host && (x_ip.n == 0) != (y_ip.n == 0))
        warn(w, NULL, "%s: dangerously ambiguous port definition with %s", x->at, y->at);
}

struct ports {
    const struct warner *w;
    struct port all[LOOK_AT_MAX];
    size_t n;
};

static void gather_ports(struct ports *p)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    const struct warner *w = p->w;
    for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
        struct fpath list = fpath_child(&w->at, str_of(lists[k]));
        size_t i = 0;
        json_each (c, json_getc(w->spec, lists[k])) {
            struct fpath item = fpath_index(&list, i++), ports = fpath_child(&item, STR("ports"));
            size_t j = 0;
            json_each (port, json_getc(c, "ports")) {
                struct fpath at = fpath_index(&ports, j++);
                if (p->n < LOOK_AT_MAX)
                    p->all[p->n++] =
                        (struct port){ port, str_dup_arena(w->a, fpath_text(w->a, &at)) };
            }
        }
    }
}

static void check_ports(const struct warner *w)
{
    struct ports *p = arena_new(w->a, struct ports);
    p->w = w;
    gather_ports(p);
    for (size_t i = 0; i < p->n; i++) {
        const struct json *port = p->all[i].json;
        struct str ip = json_get_str(port, "hostIP");
        if (ip.n && number(port, "hostPort") == 0)
            warn(w, NULL,
                 "%s: hostIP set without hostPort: {Name:" STR_FMT " HostPort:0 ContainerPort:%lld "
                 "Protocol:" STR_FMT " HostIP:" STR_FMT "}",
                 p->all[i].at, STR_ARG(json_get_str(port, "name")),
                 (long long)number(port, "containerPort"), STR_ARG(json_get_str(port, "protocol")),
                 STR_ARG(ip));
        for (size_t k = 0; k < i; k++)
            compare_ports(w, &p->all[i], &p->all[k]);
    }
    for (size_t i = 0; i < p->n; i++) {
        struct str name = json_get_str(p->all[i].json, "name");
        for (size_t k = 0; name.n && k < i; k++) {
            if (!str_eq(json_get_str(p->all[k].json, "name"), name))
                continue;
            warn(w, NULL,
                 "%s: duplicate port name %s with %s, services and probes that select ports by "
                 "name will use %s",
                 p->all[i].at, quoted(w, name), p->all[k].at, p->all[k].at);
            break;
        }
    }
}

void pod_warnings(struct arena *a, const struct json *pod, void (*say)(void *arg, struct str text),
                  void *arg)
{
    const struct json *spec = json_getc(pod, "spec");
    const struct warner w = {
        .a = a, .spec = spec, .at = fpath_child(NULL, STR("spec")), .say = say, .arg = arg
    };
    struct fpath overhead = fpath_child(&w.at, STR("overhead"));
    check_spread(&w);
    check_volumes(&w);
    check_twice(&w, "hostAliases", "ip");
    check_twice(&w, "imagePullSecrets", "name");
    check_empty_secrets(&w);
    check_bytes(&w, json_getc(spec, "overhead"), "memory", &overhead);
    check_bytes(&w, json_getc(spec, "overhead"), "ephemeral-storage", &overhead);
    each_container(&w, check_container);
    check_ports(&w);
    check_affinity(&w, "podAffinity");
    check_affinity(&w, "podAntiAffinity");
}
