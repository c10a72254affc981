/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/endpoints/plan.h"

#include "base/map.h"
#include "kube/model/meta.h"

struct endpoints_group { /* one family and one list of ports */
    bool is_ipv6;
    struct json *ports;
    struct json **wanted; /* endpoints that are in no slice yet */
    size_t n_wanted;
    struct map by_uid; /* of the pod -> place in wanted */
};

struct endpoints_planning {
    struct arena *a;
    const struct json *service;
    struct json *owner;
    const struct workload_claims *pods;
    struct endpoints_group groups[ENDPOINTS_GROUPS_MAX];
    size_t n_groups;
    struct endpoints_slices changes;
};

/* ---------------------------------------------------------------- Services and pods */

bool endpoints_are_managed(const struct json *service)
{
    const struct json *spec = json_getc(service, "spec");
    return json_first(json_getc(spec, "selector")) &&
           !str_is(json_get_str(spec, "type"), "ExternalName");
}

static struct str label_of(const struct json *object, const char *name)
{
    return json_str(json_path(object, "metadata", "labels", name, NULL));
}

bool endpoints_slice_is_managed(const struct json *slice)
{
    return str_is(label_of(slice, ENDPOINTS_MANAGED_LABEL), ENDPOINTS_MANAGER);
}

static bool is_headless(const struct json *service)
{
    return str_is(json_str(json_path(service, "spec", "clusterIP", NULL)), "None");
}

static bool has_family(const struct json *service, bool is_ipv6)
{
    const struct json *families = json_path(service, "spec", "ipFamilies", NULL);
    json_each (family, families)
        if (str_is(json_str(family), "IPv6") == is_ipv6)
            return true;
    return !json_first(families) && !is_ipv6;
}

static bool is_finished(const struct json *pod)
{
    struct str phase = json_str(json_path(pod, "status", "phase", NULL));
    return str_is(phase, "Succeeded") || str_is(phase, "Failed");
}

static struct str ip_of(const struct json *pod, bool is_ipv6)
{
    json_each (ip, json_path(pod, "status", "podIPs", NULL)) {
        struct str text = json_get_str(ip, "ip");
        if ((memchr(text.p, ':', text.n) != NULL) == is_ipv6)
            return text;
    }
    return STR("");
}

static bool is_ready(const struct json *pod)
{
    json_each (c, json_path(pod, "status", "conditions", NULL))
        if (str_is(json_get_str(c, "type"), "Ready"))
            return str_is(json_get_str(c, "status"), "True");
    return false;
}

/* ---------------------------------------------------------------- ports */

static int64_t port_in(const struct json *containers, struct str name, struct str protocol,
                       bool must_restart)
{
    json_each (c, containers) {
        if (must_restart && !str_is(json_get_str(c, "restartPolicy"), "Always"))
            continue; /* not a sidecar */
        json_each (port, json_getc(c, "ports"))
            if (str_eq(json_get_str(port, "name"), name) &&
                str_eq(json_get_str(port, "protocol"), protocol))
                return json_int_or(json_getc(port, "containerPort"), 0);
    }
    return 0;
}

/* 0: the pod has no port of that name. */
static int64_t target_of(const struct json *port, const struct json *pod)
{
    const struct json *target = json_getc(port, "targetPort"), *spec = json_getc(pod, "spec");
    struct str protocol = json_get_str(port, "protocol");
    if (!json_is(target, JSON_STRING)) {
        int64_t number = json_int_or(target, 0);
        return number ? number : json_int_or(json_getc(port, "port"), 0);
    }
    int64_t number = port_in(json_getc(spec, "containers"), json_str(target), protocol, false);
    return number ? number
                  : port_in(json_getc(spec, "initContainers"), json_str(target), protocol, true);
}

static struct json *ports_of(struct arena *a, const struct json *service, const struct json *pod)
{
    struct json *list = json_new_array(a);
    json_each (port, json_path(service, "spec", "ports", NULL)) {
        const struct json *app = json_getc(port, "appProtocol");
        int64_t number = target_of(port, pod);
        if (!number)
            continue;
        struct json *to = json_new_object(a);
        json_set_str(a, to, "name", json_get_str(port, "name"));
        json_set_str(a, to, "protocol", json_get_str(port, "protocol"));
        json_set_int(a, to, "port", number);
        if (app)
            json_setc(a, to, "appProtocol", json_clone(a, app));
        json_add(list, to);
    }
    return list;
}

/* ---------------------------------------------------------------- endpoints */

static struct json *endpoint_of(struct endpoints_planning *p, const struct json *pod, struct str ip)
{
    const struct json *spec = json_getc(pod, "spec"), *service = p->service;
    struct arena *a = p->a;
    struct json *e = json_new_object(a), *addresses = json_new_array(a);
    bool serves = is_ready(pod), ends = meta_is_deleting(pod);
    bool always = json_bool(json_path(service, "spec", "publishNotReadyAddresses", NULL));
    json_add(addresses, json_new_str(a, ip));
    json_setc(a, e, "addresses", addresses);
    struct json *conditions = json_obj(a, e, "conditions");
    json_set_bool(a, conditions, "ready", always || (serves && !ends));
    json_set_bool(a, conditions, "serving", serves);
    json_set_bool(a, conditions, "terminating", ends);
    struct str host = json_get_str(spec, "hostname"), node = json_get_str(spec, "nodeName");
    if (host.n && str_eq(json_get_str(spec, "subdomain"), meta_name(service)))
        json_set_str(a, e, "hostname", host);
    if (node.n)
        json_set_str(a, e, "nodeName", node);
    struct json *ref = json_obj(a, e, "targetRef");
    json_set_str(a, ref, "kind", STR("Pod"));
    json_set_str(a, ref, "namespace", meta_namespace(pod));
    json_set_str(a, ref, "name", meta_name(pod));
    json_set_str(a, ref, "uid", meta_uid(pod));
    return e;
}

/* NULL: too many. */
static struct endpoints_group *get_group(struct endpoints_planning *p, bool is_ipv6,
                                         struct json *ports)
{
    for (size_t i = 0; i < p->n_groups; i++)
        if (p->groups[i].is_ipv6 == is_ipv6 && json_equal(p->groups[i].ports, ports))
            return &p->groups[i];
    if (p->n_groups == ENDPOINTS_GROUPS_MAX)
        return NULL;
    struct endpoints_group *g = &p->groups[p->n_groups++];
    *g = (struct endpoints_group){ .is_ipv6 = is_ipv6,
                                   .ports = ports,
                                   .wanted = arena_new_n(p->a, struct json *, p->pods->n + 1) };
    return g;
}

static void find_endpoints(struct endpoints_planning *p, bool is_ipv6)
{
    size_t n_before = p->n_groups;
    for (size_t i = 0; i < p->pods->n; i++) {
        const struct json *pod = p->pods->at[i].body;
        struct str ip = ip_of(pod, is_ipv6);
        if (!ip.n || is_finished(pod))
            continue;
        struct endpoints_group *g = get_group(p, is_ipv6, ports_of(p->a, p->service, pod));
        if (!g)
            continue;
        g->wanted[g->n_wanted] = endpoint_of(p, pod, ip);
        (void)map_put(&g->by_uid, meta_uid(pod), &g->wanted[g->n_wanted++]);
    }
    if (p->n_groups == n_before) /* a slice that says that there are none */
        (void)get_group(p, is_ipv6, json_new_array(p->a));
}

/* ---------------------------------------------------------------- slices */

static struct json *labels_of(struct endpoints_planning *p)
{
    struct arena *a = p->a;
    const struct json *own = json_path(p->service, "metadata", "labels", NULL);
    struct json *labels = own ? json_clone(a, own) : json_new_object(a);
    (void)json_del(labels, STR(ENDPOINTS_HEADLESS));
    json_set_str(a, labels, ENDPOINTS_SERVICE_LABEL, meta_name(p->service));
    json_set_str(a, labels, ENDPOINTS_MANAGED_LABEL, STR(ENDPOINTS_MANAGER));
    if (is_headless(p->service))
        json_set_str(a, labels, ENDPOINTS_HEADLESS, STR(""));
    return labels;
}

static struct json *new_slice(struct endpoints_planning *p, const struct endpoints_group *g)
{
    struct arena *a = p->a;
    struct json *slice = json_new_object(a), *meta = json_obj(a, slice, "metadata"),
                *owners = json_new_array(a);
    json_set_str(a, slice, "apiVersion", STR("discovery.k8s.io/v1"));
    json_set_str(a, slice, "kind", STR("EndpointSlice"));
    json_set_str(a, meta, "generateName",
                 str_of(arena_printf(a, STR_FMT "-", STR_ARG(meta_name(p->service)))));
    json_set_str(a, meta, "namespace", meta_namespace(p->service));
    json_add(owners, json_clone(a, p->owner));
    json_setc(a, meta, "ownerReferences", owners);
    json_set_str(a, slice, "addressType", g->is_ipv6 ? STR("IPv6") : STR("IPv4"));
    json_setc(a, slice, "ports", json_clone(a, g->ports));
    return slice;
}

static struct str uid_in(const struct json *endpoint)
{
    return json_str(json_path(endpoint, "targetRef", "uid", NULL));
}

/* Take from what is wanted the endpoint of the same pod; NULL: it is not wanted any more. */
static struct json *take(struct endpoints_group *g, const struct json *endpoint)
{
    struct json **at = map_get(&g->by_uid, uid_in(endpoint));
    return at ? take_ptr(at) : NULL;
}

static bool is_of(const struct json *slice, const struct endpoints_group *g)
{
    const struct json *ports = json_getc(slice, "ports");
    return str_is(json_get_str(slice, "addressType"), "IPv6") == g->is_ipv6 &&
           (json_first(ports) || json_first(g->ports) ? json_equal(ports, g->ports) : true);
}

struct endpoints_filling {
    struct json *is, *endpoints;
};

static void fill(struct endpoints_group *g, struct endpoints_filling *f, size_t *next)
{
    for (; *next < g->n_wanted && f->endpoints->n < ENDPOINTS_PER_SLICE; ++*next)
        if (g->wanted[*next])
            json_add(f->endpoints, g->wanted[*next]);
}

static bool has_more(const struct endpoints_group *g, size_t *next)
{
    while (*next < g->n_wanted && !g->wanted[*next])
        ++*next;
    return *next < g->n_wanted;
}

static void add_change(struct endpoints_planning *p, struct json *is, struct json *wanted)
{
    if (is && wanted && json_equal(is, wanted))
        return;
    p->changes.at[p->changes.n++] = (struct endpoints_slice){ is, wanted };
}

/* spare: an empty slice stays if the group has no other. */
static void finish_slice(struct endpoints_planning *p, const struct endpoints_group *g,
                         const struct endpoints_filling *f, bool *spare)
{
    if (f->is && !json_first(f->endpoints) && !*spare) {
        add_change(p, f->is, NULL);
        return;
    }
    struct json *wanted = f->is ? json_clone(p->a, f->is) : new_slice(p, g);
    if (!json_first(f->endpoints))
        *spare = false;
    json_setc(p->a, wanted, "endpoints", f->endpoints);
    json_setc(p->a, json_obj(p->a, wanted, "metadata"), "labels", labels_of(p));
    add_change(p, f->is, wanted);
}

static void plan_group(struct endpoints_planning *p, struct endpoints_group *g,
                       struct json *const *slices, size_t n_slices)
{
    struct endpoints_filling *fillings =
        arena_new_n(p->a, struct endpoints_filling, n_slices + p->pods->n + 1);
    size_t n = 0, next = 0;
    bool spare = g->n_wanted == 0;
    for (size_t i = 0; i < n_slices; i++) {
        if (!endpoints_slice_is_managed(slices[i]) || !is_of(slices[i], g))
            continue;
        struct endpoints_filling f = { slices[i], json_new_array(p->a) };
        json_each (endpoint, json_getc(slices[i], "endpoints")) {
            struct json *kept = take(g, endpoint);
            if (kept)
                json_add(f.endpoints, kept);
        }
        fillings[n++] = f;
    }
    for (size_t i = 0; i < n; i++)
        fill(g, &fillings[i], &next);
    while (has_more(g, &next) || (n == 0 && spare)) {
        fillings[n] = (struct endpoints_filling){ NULL, json_new_array(p->a) };
        fill(g, &fillings[n++], &next);
    }
    for (size_t i = 0; i < n; i++)
        finish_slice(p, g, &fillings[i], &spare);
}

/* Of a family or list of ports that no pod has any more. */
static void remove_others(struct endpoints_planning *p, struct json *const *slices, size_t n_slices)
{
    for (size_t i = 0; i < n_slices; i++) {
        bool is_known = !endpoints_slice_is_managed(slices[i]);
        for (size_t j = 0; j < p->n_groups && !is_known; j++)
            is_known = is_of(slices[i], &p->groups[j]);
        if (!is_known)
            add_change(p, slices[i], NULL);
    }
}

struct endpoints_slices endpoints_plan(struct arena *a, const struct json *service,
                                       const struct workload_claims *pods,
                                       struct json *const *slices, size_t n_slices,
                                       struct json *owner)
{
    struct endpoints_planning *p = arena_new(a, struct endpoints_planning);
    p->a = a;
    p->service = service;
    p->owner = owner;
    p->pods = pods;
    p->changes.at = arena_new_n(a, struct endpoints_slice, n_slices + 2 * pods->n + 4);
    for (unsigned is_ipv6 = 0; is_ipv6 < 2; is_ipv6++)
        if (has_family(service, is_ipv6))
            find_endpoints(p, is_ipv6);
    for (size_t i = 0; i < p->n_groups; i++) {
        plan_group(p, &p->groups[i], slices, n_slices);
        map_fini(&p->groups[i].by_uid);
    }
    remove_others(p, slices, n_slices);
    return p->changes;
}
