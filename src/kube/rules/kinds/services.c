/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and ports of Services; see services.h. */
#include "kube/rules/kinds/services.h"

#include "kube/rules/validate/validate.h"

#include <arpa/inet.h>

static struct str text(const struct json *spec, const char *name)
{
    return json_get_str(spec, name);
}

static bool is_type(const struct json *spec, const char *type)
{
    return str_is(text(spec, "type"), type);
}

static bool needs_ip(const struct json *spec)
{
    return !is_type(spec, "ExternalName");
}

static bool is_headless(const struct json *spec)
{
    return str_is(text(spec, "clusterIP"), "None") ||
           str_is(json_str(json_first(json_getc(spec, "clusterIPs"))), "None");
}

static bool needs_node_ports(const struct json *spec)
{
    return is_type(spec, "NodePort") || is_type(spec, "LoadBalancer");
}

static bool needs_health_port(const struct json *spec)
{
    return is_type(spec, "LoadBalancer") && str_is(text(spec, "externalTrafficPolicy"), "Local");
}

static bool same(const struct json *a, const struct json *b, const char *name)
{
    const struct json *x = json_getc(a, name), *y = json_getc(b, name);
    return (!x && !y) || (x && y && json_equal(x, y));
}

static void copy(struct arena *a, struct json *to, const struct json *from, const char *name)
{
    if (json_getc(from, name))
        json_setc(a, to, name, json_clone(a, json_getc(from, name)));
    else
        (void)json_del(to, str_of(name));
}

static bool has_items(const struct json *list)
{
    return json_is(list, JSON_ARRAY) && list->n > 0;
}

/* ------------------------------------------------------------------ updates */

static const struct json *same_port(const struct json *ports, const struct json *port)
{
    json_each (p, ports)
        if (json_int_or(json_getc(p, "port"), 0) == json_int_or(json_getc(port, "port"), 0) &&
            str_eq(text(p, "protocol"), text(port, "protocol")))
            return p;
    return NULL;
}

static bool uses_node_port(const struct json *ports, int64_t number)
{
    json_each (p, ports)
        if (json_int_or(json_getc(p, "nodePort"), 0) == number)
            return true;
    return false;
}

static void keep_node_ports(struct arena *a, struct json *spec, const struct json *old)
{
    json_each (p, json_getc(spec, "ports")) {
        const struct json *was = same_port(json_getc(old, "ports"), p);
        int64_t number = json_int_or(json_getc(was, "nodePort"), 0);
        if (number && json_int_or(json_getc(p, "nodePort"), 0) == 0 &&
            !uses_node_port(json_getc(spec, "ports"), number))
            json_set_int(a, p, "nodePort", number);
    }
}

static bool same_node_ports(const struct json *spec, const struct json *old)
{
    json_each (p, json_getc(spec, "ports")) {
        const struct json *number = json_getc(p, "nodePort");
        if (number && !uses_node_port(json_getc(old, "ports"), json_int_or(number, 0)))
            return false;
    }
    return true;
}

/* Remove fields that only the old type had, unless the client has just set them. */
static void drop_unused(struct json *spec, const struct json *old)
{
    static const char *const ip_fields[] = { "clusterIP", "clusterIPs", "ipFamilies",
                                             "ipFamilyPolicy" };
    if (needs_ip(old) && !needs_ip(spec) && same(spec, old, "clusterIPs"))
        for (size_t i = 0; i < ARRAY_LEN(ip_fields); i++)
            if (same(spec, old, ip_fields[i]))
                (void)json_del(spec, str_of(ip_fields[i]));
    if (needs_node_ports(old) && !needs_node_ports(spec) && same_node_ports(spec, old))
        json_each (p, json_getc(spec, "ports"))
            (void)json_del(p, STR("nodePort"));
    if (needs_health_port(old) && !needs_health_port(spec) &&
        same(spec, old, "healthCheckNodePort"))
        (void)json_del(spec, STR("healthCheckNodePort"));
    static const char *const balanced[] = { "allocateLoadBalancerNodePorts", "loadBalancerClass" };
    for (size_t i = 0; i < ARRAY_LEN(balanced); i++)
        if (is_type(old, "LoadBalancer") && !is_type(spec, "LoadBalancer") &&
            same(spec, old, balanced[i]))
            (void)json_del(spec, str_of(balanced[i]));
    bool open = needs_node_ports(spec) ||
                (is_type(spec, "ClusterIP") && has_items(json_getc(spec, "externalIPs")));
    if (!open && same(spec, old, "externalTrafficPolicy"))
        (void)json_del(spec, STR("externalTrafficPolicy"));
    if (!needs_ip(spec) && same(spec, old, "internalTrafficPolicy"))
        (void)json_del(spec, STR("internalTrafficPolicy"));
}

void service_keep_allocated(struct arena *a, struct json *svc, const struct json *old_svc)
{
    struct json *spec = json_obj(a, svc, "spec");
    const struct json *old = json_getc(old_svc, "spec");
    if (needs_ip(spec) && needs_ip(old)) {
        if (text(spec, "clusterIP").n == 0 && !has_items(json_getc(spec, "clusterIPs")))
            copy(a, spec, old, "clusterIP");
        if (!has_items(json_getc(spec, "clusterIPs")) && same(spec, old, "clusterIP"))
            copy(a, spec, old, "clusterIPs");
    }
    if (needs_node_ports(spec) && needs_node_ports(old))
        keep_node_ports(a, spec, old);
    if (needs_health_port(spec) && needs_health_port(old) &&
        !json_getc(spec, "healthCheckNodePort"))
        copy(a, spec, old, "healthCheckNodePort");
    drop_unused(spec, old);
}

void service_normalize_ips(struct arena *a, struct json *svc, const struct json *old_svc)
{
    struct json *spec = json_obj(a, svc, "spec"), *list = json_getc(spec, "clusterIPs");
    const struct json *old = json_getc(old_svc, "spec");
    struct str ip = text(spec, "clusterIP");
    if (old && !needs_ip(spec))
        return;
    bool list_kept = old && same(spec, old, "clusterIPs");
    bool ip_kept = old && same(spec, old, "clusterIP");
    if (ip.n && (!has_items(list) || (list_kept && !ip_kept))) {
        list = json_new_array(a);
        json_add(list, json_new_str(a, ip));
        json_setc(a, spec, "clusterIPs", list);
    } else if (ip.n == 0 && has_items(list) && list_kept && old && !ip_kept) {
        (void)json_del(spec, STR("clusterIPs"));
    } else if (old && ip.n == 0 && has_items(list)) {
        json_set_str(a, spec, "clusterIP", json_str(list->first));
    }
}

/* ------------------------------------------------------------------ families */

static const char *family_of(struct str ip)
{
    return str_find_char(ip, ':') >= 0 ? "IPv6" : "IPv4";
}

static struct json *families_of(struct arena *a, struct json *spec)
{
    struct json *list = json_getc(spec, "ipFamilies");
    if (!json_is(list, JSON_ARRAY)) {
        list = json_new_array(a);
        json_setc(a, spec, "ipFamilies", list);
    }
    return list;
}

static void complain(struct field_errors *errs, const char *field, const struct json *value,
                     const char *why)
{
    struct fpath spec = fpath_child(NULL, STR("spec"));
    struct fpath at = fpath_child(&spec, str_of(field));
    field_error(errs, FIELD_INVALID, &at, value, "%s", why);
}

/*
 * Only IPv4 addresses are allocated; a headless Service without selector may still be dual stack.
 */
static void settle_families(struct arena *a, struct json *svc, const struct json *old,
                            struct field_errors *errs)
{
    struct json *spec = json_getc(svc, "spec");
    const struct json *selector = json_getc(spec, "selector");
    bool free = is_headless(spec) && (!selector || selector->n == 0);
    const struct json *was = json_getc(old, "ipFamilyPolicy");
    if (!json_getc(spec, "ipFamilyPolicy") && was)
        json_setc(a, spec, "ipFamilyPolicy", json_clone(a, was));
    else if (!json_getc(spec, "ipFamilyPolicy"))
        json_set_str(a, spec, "ipFamilyPolicy",
                     free ? STR("RequireDualStack") : STR("SingleStack"));
    validate_service_addresses(svc, errs);
    if (errs->n)
        return;
    const struct json *policy = json_getc(spec, "ipFamilyPolicy");
    struct json *families = families_of(a, spec);
    if (families->n == 0 && has_items(json_getc(spec, "clusterIPs")) && !is_headless(spec))
        json_each (ip, json_getc(spec, "clusterIPs"))
            json_add(families, json_new_cstr(a, family_of(json_str(ip))));
    if (families->n == 0)
        json_add(families, json_new_cstr(a, "IPv4"));
    if (free) {
        bool v4 = str_is(json_str(families->first), "IPv4");
        if (families->n < 2 && !str_is(json_str(policy), "SingleStack"))
            json_add(families, json_new_cstr(a, v4 ? "IPv6" : "IPv4"));
        return;
    }
    if (str_is(json_str(policy), "RequireDualStack"))
        complain(errs, "ipFamilyPolicy", policy,
                 "this cluster is not configured for dual-stack services");
    size_t i = 0;
    json_each (f, families) {
        if (!str_is(json_str(f), "IPv4"))
            complain(errs, arena_printf(a, "ipFamilies[%zu]", i), f,
                     "not configured on this cluster");
        i++;
    }
}

/* ------------------------------------------------------------------ addresses and ports */

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static bool in_range(struct str ip)
{
    char copy_of[64];
    struct in_addr addr;
    if (ip.n >= sizeof copy_of)
        return false;
    memcpy(copy_of, ip.p, ip.n);
    copy_of[ip.n] = 0;
    return inet_pton(AF_INET, copy_of, &addr) == 1 &&
           (ntohl(addr.s_addr) & ~(uint32_t)(SERVICE_NET_SIZE - 1)) == SERVICE_NET;
}

static void allocate_ip(struct arena *a, struct json *spec, uint64_t *random,
                        struct field_errors *errs)
{
    const struct json *list = json_getc(spec, "clusterIPs");
    if (has_items(list)) {
        struct str ip = json_str(list->first);
        if (!in_range(ip))
            complain(errs, "clusterIPs", list,
                     arena_printf(a,
                                  "failed to allocate IP " STR_FMT
                                  ": the provided network does not match the current range",
                                  STR_ARG(ip)));
        return;
    }
    uint32_t n = SERVICE_NET_FIXED +
                 (uint32_t)(next_random(random) % (SERVICE_NET_SIZE - SERVICE_NET_FIXED - 1));
    uint32_t at = (uint32_t)SERVICE_NET + n;
    struct str ip =
        str_of(arena_printf(a, "%u.%u.%u.%u", at >> 24, at >> 16 & 255, at >> 8 & 255, at & 255));
    struct json *ips = json_new_array(a);
    json_add(ips, json_new_str(a, ip));
    json_set_str(a, spec, "clusterIP", ip);
    json_setc(a, spec, "clusterIPs", ips);
}

static int64_t random_port(const struct json *ports, uint64_t *random)
{
    enum {
        DYNAMIC_MIN = SERVICE_PORT_MIN + SERVICE_PORT_FIXED,
        N = SERVICE_PORT_MAX - DYNAMIC_MIN + 1
    };
    int64_t port;
    do
        port = DYNAMIC_MIN + (int64_t)(next_random(random) % N);
    while (uses_node_port(ports, port));
    return port;
}

static const char *why_no_port(struct arena *a, int64_t port)
{
    if (port >= SERVICE_PORT_MIN && port <= SERVICE_PORT_MAX)
        return NULL;
    return arena_printf(
        a, "provided port is not in the valid range. The range of valid ports is %d-%d",
        SERVICE_PORT_MIN, SERVICE_PORT_MAX);
}

static void allocate_ports(struct arena *a, struct json *spec, uint64_t *random,
                           struct field_errors *errs)
{
    struct json *ports = json_getc(spec, "ports");
    const struct json *wanted = json_getc(spec, "allocateLoadBalancerNodePorts");
    bool automatic = !is_type(spec, "LoadBalancer") || !wanted || json_bool(wanted);
    size_t i = 0;
    json_each (p, ports) {
        int64_t number = json_int_or(json_getc(p, "nodePort"), 0);
        const char *why = number ? why_no_port(a, number) : NULL;
        if (why)
            complain(errs, arena_printf(a, "ports[%zu].nodePort", i), json_getc(p, "nodePort"),
                     why);
        i++;
        if (number || !automatic)
            continue;
        /* one node port serves the same port of two protocols */
        json_each (other, ports)
            if (json_int_or(json_getc(other, "port"), 0) == json_int_or(json_getc(p, "port"), 0) &&
                !str_eq(text(other, "protocol"), text(p, "protocol")) &&
                json_getc(other, "nodePort"))
                number = json_int_or(json_getc(other, "nodePort"), 0);
        json_set_int(a, p, "nodePort", number ? number : random_port(ports, random));
    }
}

void service_allocate(struct arena *a, struct json *svc, const struct json *old, uint64_t random,
                      struct field_errors *errs)
{
    struct json *spec = json_obj(a, svc, "spec");
    if (!needs_ip(spec))
        return;
    settle_families(a, svc, json_getc(old, "spec"), errs);
    if (errs->n)
        return;
    if (!is_headless(spec))
        allocate_ip(a, spec, &random, errs);
    if (needs_node_ports(spec))
        allocate_ports(a, spec, &random, errs);
    if (needs_health_port(spec) && json_int_or(json_getc(spec, "healthCheckNodePort"), 0) == 0)
        json_set_int(a, spec, "healthCheckNodePort",
                     random_port(json_getc(spec, "ports"), &random));
}

/* ------------------------------------------------------------------ claims */

static size_t add_claim(struct service_claim *list, size_t n, struct service_claim c)
{
    for (size_t i = 0; i < n; i++)
        if (str_eq(list[i].key, c.key))
            return n;
    if (n < SERVICE_MAX_CLAIMS)
        list[n++] = c;
    return n;
}

static size_t add_port(struct arena *a, struct service_claim *list, size_t n, int64_t port,
                       size_t index)
{
    if (port == 0)
        return n;
    return add_claim(
        list, n,
        (struct service_claim){ .key = str_of(arena_printf(a, "ports/%lld", (long long)port)),
                                .port = port,
                                .index = index });
}

size_t service_claims(struct arena *a, const struct json *svc, struct service_claim *ret)
{
    const struct json *spec = json_getc(svc, "spec");
    size_t n = 0, i = 0;
    if (!spec || !needs_ip(spec))
        return 0;
    json_each (ip, json_getc(spec, "clusterIPs"))
        if (in_range(json_str(ip)))
            n = add_claim(ret, n,
                          (struct service_claim){
                              .key = str_of(arena_printf(a, "ips/" STR_FMT, STR_ARG(json_str(ip)))),
                              .ip = json_str(ip) });
    if (needs_node_ports(spec))
        json_each (p, json_getc(spec, "ports"))
            n = add_port(a, ret, n, json_int_or(json_getc(p, "nodePort"), 0), i++);
    return add_port(a, ret, n, json_int_or(json_getc(spec, "healthCheckNodePort"), 0), SIZE_MAX);
}

void service_claim_taken(const struct service_claim *c, const struct json *svc,
                         struct field_errors *errs)
{
    const struct json *spec = json_getc(svc, "spec");
    struct arena *a = errs->a;
    if (c->ip.n)
        complain(errs, "clusterIPs", json_getc(spec, "clusterIPs"),
                 arena_printf(a,
                              "failed to allocate IP " STR_FMT ": provided IP is already allocated",
                              STR_ARG(c->ip)));
    else
        complain(errs,
                 c->index == SIZE_MAX ? "healthCheckNodePort"
                                      : arena_printf(a, "ports[%zu].nodePort", c->index),
                 json_new_int(a, c->port), "provided port is already allocated");
}
