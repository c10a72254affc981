/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pod/admission.h"

#include "agent/pod/eviction.h"
#include "agent/pod/resources.h"
#include "kube/model/quantity.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- labels of the node */

static bool has_string(const struct json *list, struct str s)
{
    json_each (v, list) {
        if (str_eq(json_str(v), s))
            return true;
    }
    return false;
}

static bool compare(struct str op, struct str value, const struct json *values)
{
    int64_t have, want;
    if (parse_i64(value, INT64_MIN, INT64_MAX, &have) < 0 ||
        parse_i64(json_str(json_first(values)), INT64_MIN, INT64_MAX, &want) < 0)
        return false;
    return str_is(op, "Gt") ? have > want : have < want;
}

/* value NULL: there is no such label. */
static bool matches(const struct json *requirement, const struct json *value)
{
    struct str op = json_get_str(requirement, "operator");
    const struct json *values = json_getc(requirement, "values");
    if (str_is(op, "Exists"))
        return value != NULL;
    if (str_is(op, "DoesNotExist"))
        return !value;
    if (str_is(op, "NotIn"))
        return !value || !has_string(values, json_str(value));
    if (!value)
        return false;
    return str_is(op, "In") ? has_string(values, json_str(value))
                            : compare(op, json_str(value), values);
}

static bool term_matches(const struct json *term, const struct json *node)
{
    const struct json *meta = json_getc(node, "metadata"), *labels = json_getc(meta, "labels");
    const struct json *expressions = json_getc(term, "matchExpressions"),
                      *fields = json_getc(term, "matchFields");
    if (!json_first(expressions) && !json_first(fields))
        return false; /* an empty term matches nothing */
    json_each (e, expressions) {
        if (!matches(e, json_get(labels, json_get_str(e, "key"))))
            return false;
    }
    json_each (f, fields) {
        if (!str_is(json_get_str(f, "key"), "metadata.name") ||
            !matches(f, json_getc(meta, "name")))
            return false;
    }
    return true;
}

static bool is_affine(const struct json *spec, const struct json *node)
{
    const struct json *labels = json_path(node, "metadata", "labels", NULL);
    const struct json *required = json_path(spec, "affinity", "nodeAffinity",
                                            "requiredDuringSchedulingIgnoredDuringExecution", NULL);
    json_each (s, json_getc(spec, "nodeSelector")) {
        const struct json *have = json_get(labels, s->key);
        if (!have || !str_eq(json_str(have), json_str(s)))
            return false;
    }
    if (!required)
        return true;
    json_each (term, json_getc(required, "nodeSelectorTerms")) {
        if (term_matches(term, node))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------- taints */

static bool tolerates(const struct json *t, const struct json *taint)
{
    struct str effect = json_get_str(t, "effect"), key = json_get_str(t, "key");
    bool is_exists = str_is(json_get_str(t, "operator"), "Exists");
    if (effect.n && !str_is(effect, "NoExecute"))
        return false;
    if (key.n ? !str_eq(key, json_get_str(taint, "key")) : !is_exists)
        return false;
    return is_exists || str_eq(json_get_str(t, "value"), json_get_str(taint, "value"));
}

static bool is_tolerated(const struct json *spec, const struct json *taint)
{
    json_each (t, json_getc(spec, "tolerations")) {
        if (tolerates(t, taint))
            return true;
    }
    return false;
}

static bool tolerates_all(const struct json *spec, const struct json *node)
{
    json_each (taint, json_path(node, "spec", "taints", NULL)) {
        if (str_is(json_get_str(taint, "effect"), "NoExecute") && !is_tolerated(spec, taint))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- resources */

static struct pod_need need_of(const struct pod_spec *p)
{
    struct pod_need need = { POD_AMOUNTS_NONE, POD_AMOUNTS_NONE };
    (void)pod_need_of_pod(p, &need, NULL);
    return need;
}

void pod_admission_add(struct pod_admission_used *to, const struct pod_spec *p)
{
    struct pod_amounts r = need_of(p).requests;
    to->cpu_milli += MAX(r.cpu_milli, 0);
    to->memory_bytes += MAX(r.memory_bytes, 0);
    to->ephemeral_bytes += MAX(r.ephemeral_bytes, 0);
    to->pods++;
}

/* INT64_MAX: the node does not say. */
static int64_t allocatable(const struct json *node, const char *name, bool is_milli)
{
    struct quantity q;
    struct str text = json_get_str(json_path(node, "status", "allocatable", NULL), name);
    if (!text.n || quantity_parse(text, &q, NULL) < 0)
        return INT64_MAX;
    return is_milli ? quantity_milli(q) : quantity_value(q);
}

static bool fits(const char *name, int64_t requested, int64_t used, int64_t capacity,
                 struct pod_refusal *ret)
{
    if (requested <= 0 || used <= capacity - requested)
        return true;
    (void)snprintf(ret->reason, sizeof ret->reason, "OutOf%s", name);
    (void)snprintf(ret->message, sizeof ret->message,
                   "Node didn't have enough resource: %s, requested: %lld, used: %lld, capacity: "
                   "%lld",
                   name, (long long)requested, (long long)used, (long long)capacity);
    return false;
}

static bool has_room(const struct pod_spec *spec, const struct json *node,
                     const struct pod_admission_used *used, size_t max_pods,
                     struct pod_refusal *ret)
{
    struct pod_amounts r = need_of(spec).requests;
    int64_t pods = MIN(allocatable(node, "pods", false), (int64_t)max_pods);
    return fits("pods", 1, (int64_t)used->pods, pods, ret) &&
           fits("cpu", r.cpu_milli, used->cpu_milli, allocatable(node, "cpu", true), ret) &&
           fits("memory", r.memory_bytes, used->memory_bytes, allocatable(node, "memory", false),
                ret) &&
           fits("ephemeral-storage", r.ephemeral_bytes, used->ephemeral_bytes,
                allocatable(node, "ephemeral-storage", false), ret);
}

static bool refuse(const char *reason, struct pod_refusal *ret)
{
    (void)snprintf(ret->reason, sizeof ret->reason, "%s", reason);
    (void)snprintf(ret->message, sizeof ret->message, "Predicate %s failed", reason);
    return false;
}

bool pod_admission_check(const struct json *pod, const struct pod_spec *spec,
                         const struct json *node, const struct pod_admission_used *used,
                         size_t max_pods, struct pod_refusal *ret)
{
    const struct json *s = json_getc(pod, "spec");
    if (!is_affine(s, node))
        return refuse("NodeAffinity", ret);
    if (!tolerates_all(s, node))
        return refuse("TaintToleration", ret);
    return pod_is_critical(spec) || has_room(spec, node, used, max_pods, ret);
}

/* Kubernetes' safe ones: they belong to a namespace of the pod, and others do not feel them. */
static const char *const safe_sysctls[] = {
    "kernel.shm_rmid_forced",           "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports", "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",        "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",     "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",      "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",          "net.ipv4.tcp_wmem",
};

/* "net.core.*" allows all that begin so. */
static bool is_listed(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(list[i]);
        bool is_prefix = length > 0 && list[i][length - 1] == '*';
        if (is_prefix ? strncmp(name, list[i], length - 1) == 0 : strcmp(name, list[i]) == 0)
            return true;
    }
    return false;
}

/* One of the machine's own namespace would change the machine. */
static bool is_of_pod(const struct pod_spec *spec, const char *name)
{
    if (strncmp(name, "net.", 4) == 0)
        return !spec->host_network;
    return !spec->host_ipc;
}

bool pod_admission_sysctls(const struct pod_spec *spec, const char *const *allowed,
                           size_t n_allowed, struct pod_refusal *ret)
{
    char name[POD_ADMISSION_TEXT_MAX / 2];
    for (size_t i = 0; i < spec->security.n_sysctls; i++) {
        struct str text = spec->security.sysctls[i].name;
        (void)snprintf(name, sizeof name, STR_FMT, STR_ARG(text));
        for (char *c = name; *c; c++) /* "net/ipv4/tcp_rmem" is the same one */
            *c = *c == '/' ? '.' : *c;
        if (text.n < sizeof name && is_of_pod(spec, name) &&
            (is_listed(name, safe_sysctls, ARRAY_LEN(safe_sysctls)) ||
             is_listed(name, allowed, n_allowed)))
            continue;
        (void)snprintf(ret->reason, sizeof ret->reason, "SysctlForbidden");
        (void)snprintf(ret->message, sizeof ret->message,
                       "forbidden sysctl: \"%s\" not allowlisted", name);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- AppArmor */

static bool names_profile(const struct json *of)
{
    struct str type =
        json_get_str(json_path(of, "securityContext", "appArmorProfile", NULL), "type");
    return type.n && !str_is(type, "Unconfined");
}

/* Annotations of this prefix say the same in older objects. */
static bool has_profile(const struct json *pod)
{
    static const char *const lists[] = { "initContainers", "containers", "ephemeralContainers" };
    const struct json *spec = json_getc(pod, "spec");
    if (names_profile(spec))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        json_each (c, json_getc(spec, lists[i])) {
            if (names_profile(c))
                return true;
        }
    }
    json_each (a, json_path(pod, "metadata", "annotations", NULL)) {
        if (str_has_prefix(a->key, STR("container.apparmor.security.beta.kubernetes.io/")) &&
            !str_is(json_str(a), "unconfined"))
            return true;
    }
    return false;
}

bool pod_admission_profiles(const struct json *pod, struct pod_refusal *ret)
{
    if (!has_profile(pod))
        return true;
    (void)snprintf(ret->reason, sizeof ret->reason, "AppArmor");
    (void)snprintf(ret->message, sizeof ret->message,
                   "Cannot enforce AppArmor: this node applies no profiles");
    return false;
}
