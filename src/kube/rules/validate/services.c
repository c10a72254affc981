/* SPDX-License-Identifier: Apache-2.0 */
/* Services, Endpoints and EndpointSlices. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <inttypes.h>

WORDS(protocols, WORD("SCTP"), WORD("TCP"), WORD("UDP"));

static bool is_headless(const struct json *service)
{
    const struct json *ips = json_path(service, "spec", "clusterIPs", NULL);
    return json_is(ips, JSON_ARRAY) && ips->n == 1 && str_is(json_str(ips->first), "None");
}

static bool is_type(const struct json *service, const char *type)
{
    return str_is(json_str(json_path(service, "spec", "type", NULL)), type);
}

/* ---- ports ---- */

static void name_once(const struct spot *name, bool required, struct map *names)
{
    if (spot_text(name).n == 0) {
        if (required)
            say_required(name, "");
        return;
    }
    must_label(name, NULL);
    if (map_put(names, spot_text(name), names))
        say_duplicate_str(name, spot_text(name));
}

static void qualified_if_set(const struct spot *s, const void *unused)
{
    if (s->v)
        must_qualified_name(s, NULL);
}

static void service_ports(const struct spot *list)
{
    static const struct member_check members[] = { { "port", a_port, NULL },
                                                   { "protocol", one_of, &protocols },
                                                   { "targetPort", a_port_or_name, NULL },
                                                   { "appProtocol", qualified_if_set, NULL } };
    struct map names = { 0 };
    spot_each (port, i, list) {
        MEMBER(name, &port, "name");
        name_once(&name, spot_count(list) > 1, &names);
        CHECK_MEMBERS(&port, members);
    }
    map_fini(&names);
}

static struct str port_id(const struct spot *port, const char *number)
{
    return str_of(say_text(port, STR_FMT "/%" PRId64, STR_ARG(member_text(port, "protocol")),
                           member_number(port, number)));
}

static void ports_once(const struct spot *list, bool cluster_only)
{
    struct map used = { 0 }, node_used = { 0 };
    spot_each (port, i, list) {
        MEMBER(node, &port, "nodePort");
        if (cluster_only && spot_number(&node) != 0)
            say_forbidden(&node, "may not be used when `type` is 'ClusterIP'");
    }
    spot_each (port, i, list) {
        MEMBER(node, &port, "nodePort");
        if (spot_number(&node) != 0 && map_put(&node_used, port_id(&port, "nodePort"), &used))
            say_duplicate(&node);
    }
    spot_each (port, i, list) {
        struct spot shown = port;
        struct json *key = json_new_object(list->errs->a);
        json_set_str(list->errs->a, key, "protocol", member_text(&port, "protocol"));
        json_set_int(list->errs->a, key, "port", member_number(&port, "port"));
        shown.v = go_struct(list->errs->a, key,
                            "Name=name/\"\" Protocol=protocol/\"\" AppProtocol=appProtocol/null "
                            "Port=port/0 TargetPort=targetPort/0 NodePort=nodePort/0");
        if (map_put(&used, port_id(&port, "port"), &used))
            say_duplicate(&shown);
    }
    map_fini(&used);
    map_fini(&node_used);
}

/* ---- affinity of sessions ---- */

static void session_affinity(const struct spot *spec)
{
    WORDS(types, WORD("ClientIP"), WORD("None"));
    static const char refusal[] = "when session affinity type is ClientIP";
    MEMBER(type, spec, "sessionAffinity");
    MEMBER(config, spec, "sessionAffinityConfig");
    MEMBER(client, &config, "clientIP");
    MEMBER(timeout, &client, "timeoutSeconds");
    one_of(&type, &types);
    if (spot_is(&type, "None") && config.v)
        say_forbidden(&config, "must not be set when session affinity is None");
    if (!spot_is(&type, "ClientIP"))
        return;
    if (!config.v || !client.v || !timeout.v)
        say_required(!config.v ? &config : !client.v ? &client : &timeout, refusal);
    else if (spot_number(&timeout) <= 0 || spot_number(&timeout) > 86400)
        say_invalid(&timeout, "must be greater than 0 and less than 86400");
}

/* ---- addresses ---- */

static void cluster_ip_first(const struct spot *spec)
{
    MEMBER(ips, spec, "clusterIPs");
    struct str ip = member_text(spec, "clusterIP");
    if (ip.n && spot_count(&ips) == 0)
        say_required(&ips, "");
    else if (ip.n && !str_eq(json_str(ips.v->first), ip))
        say_invalid(&ips, "first value must match `clusterIP`");
    else if (ip.n == 0 && spot_count(&ips))
        say_invalid(&ips, "must be empty when `clusterIP` is not specified");
}

static void ip_families(const struct spot *list)
{
    WORDS(families, WORD("IPv4"), WORD("IPv6"));
    struct map seen = { 0 };
    spot_each (family, i, list) {
        one_of_strictly(&family, &families);
        if (map_put(&seen, spot_text(&family), &seen))
            say_duplicate_str(&family, spot_text(&family));
    }
    map_fini(&seen);
}

/* false: some are no addresses, more would only confuse. */
static bool cluster_ips(const struct spot *list)
{
    size_t before = errors_of(list->errs);
    spot_each (ip, i, list) {
        if (i != 0 || !spot_is(&ip, "None"))
            must_ip(&ip, NULL);
        else if (spot_count(list) > 1)
            say_invalid(list, "'None' must be the first and only value");
    }
    bool fine = errors_of(list->errs) == before;
    if (spot_count(list) > 2)
        say_invalid(list, "may only hold up to 2 values");
    return fine;
}

static void ips_of_families(const struct spot *ips, const struct spot *families)
{
    const struct json *family = json_first(families->v);
    spot_each (ip, i, ips) {
        struct ip parsed;
        if (!family || !ip_parse(spot_text(&ip), &parsed))
            break;
        bool is_v6 = spot_text(&ip).n && parsed.is_v6;
        if ((str_is(json_str(family), "IPv4") && is_v6) ||
            (str_is(json_str(family), "IPv6") && !is_v6))
            say_invalid_text(&ip, say_text(&ip,
                                           "expected an " STR_FMT
                                           " value as indicated by `ipFamilies[%zu]`",
                                           STR_ARG(json_str(family)), i));
        family = family->next;
    }
}

static void cluster_addresses(const struct spot *root, const struct spot *spec)
{
    WORDS(policies, WORD("PreferDualStack"), WORD("RequireDualStack"), WORD("SingleStack"));
    MEMBER(ips, spec, "clusterIPs");
    MEMBER(families, spec, "ipFamilies");
    MEMBER(policy, spec, "ipFamilyPolicy");
    if (is_type(root->v, "ExternalName"))
        return;
    cluster_ip_first(spec);
    ip_families(&families);
    one_of_or_none(&policy, &policies);
    if (!cluster_ips(&ips))
        return;
    if (spot_count(&ips) > 1 && !is_dual_stack(ips.v, NULL, false))
        say_invalid(&ips, "may specify no more than one IP for each IP family");
    if (!is_headless(root->v))
        ips_of_families(&ips, &families);
}

void validate_service_addresses(const struct json *obj, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    cluster_addresses(&root, &spec);
}

static void external_ip(const struct spot *s, const void *unused)
{
    size_t before = errors_of(s->errs);
    must_ip(s, NULL);
    if (errors_of(s->errs) == before)
        must_ordinary_ip(s, NULL);
}

/* ---- load balancers ---- */

#define SOURCE_RANGES "service.beta.kubernetes.io/load-balancer-source-ranges"
#define ONLY_FOR_LB   "may only be used when `type` is 'LoadBalancer'"

static void source_ranges(const struct spot *root, const struct spot *spec)
{
    bool is_lb = is_type(root->v, "LoadBalancer");
    const struct json *list = json_getc(spec->v, "loadBalancerSourceRanges");
    const struct json *annotation =
        json_path(root->v, "metadata", "annotations", SOURCE_RANGES, NULL);
    struct spot at = spot_named(spec, "LoadBalancerSourceRanges", list);
    MEMBER(metadata, root, "metadata");
    MEMBER(annotations_at, &metadata, "annotations");
    if (spot_count(&at)) {
        if (!is_lb)
            say_forbidden(&at, ONLY_FOR_LB);
        spot_each (range, i, &at)
            must_cidr(&range, str_trim(spot_text(&range)));
    } else if (annotation) {
        struct spot key = spot_key(&annotations_at, annotation);
        struct str rest = str_trim(json_str(annotation)), range;
        if (!is_lb)
            say_forbidden(&key, ONLY_FOR_LB);
        for (bool more = rest.n > 0; more;) {
            more = str_cut(rest, ',', &range, &rest);
            must_cidr(&key, str_trim(range));
        }
    }
}

static void load_balancer(const struct spot *root, const struct spot *spec, const struct json *old)
{
    bool is_lb = is_type(root->v, "LoadBalancer");
    MEMBER(class, spec, "loadBalancerClass");
    if (old && is_lb && is_type(old, "LoadBalancer") &&
        !json_same(class.v, json_path(old, "spec", "loadBalancerClass", NULL)))
        say_invalid(&class, "may not change once set");
    if (class.v && is_lb)
        must_qualified_name(&class, NULL);
    else if (class.v)
        say_forbidden(&class, ONLY_FOR_LB);
}

void load_balancer_status(const struct spot *s)
{
    WORDS(modes, WORD("Proxy"), WORD("VIP"));
    MEMBER(list, s, "ingress");
    spot_each (ingress, i, &list) {
        MEMBER(ip, &ingress, "ip");
        MEMBER(mode, &ingress, "ipMode");
        MEMBER(host, &ingress, "hostname");
        struct ip parsed;
        if (spot_text(&ip).n)
            must_ip(&ip, NULL);
        if (!mode.v && spot_text(&ip).n)
            say_required(&mode, "must be specified when `ip` is set");
        else if (mode.v && spot_text(&ip).n == 0)
            say_forbidden(&mode, "may not be specified when `ip` is not set");
        else
            one_of_or_none(&mode, &modes);
        a_subdomain(&host, NULL);
        if (spot_text(&host).n && ip_parse(spot_text(&host), &parsed))
            say_invalid_text(&host, "must be a DNS name, not an IP address");
    }
}

/* ---- traffic ---- */

static bool needs_health_check(const struct json *service)
{
    return is_type(service, "LoadBalancer") &&
           str_is(json_str(json_path(service, "spec", "externalTrafficPolicy", NULL)), "Local");
}

static bool is_reached_from_outside(const struct json *service)
{
    const struct json *ips = json_path(service, "spec", "externalIPs", NULL);
    return is_type(service, "LoadBalancer") || is_type(service, "NodePort") ||
           (is_type(service, "ClusterIP") && json_is(ips, JSON_ARRAY) && ips->n);
}

static void traffic(const struct spot *root, const struct spot *spec)
{
    WORDS(policies, WORD("Cluster"), WORD("Local"));
    WORDS(distributions, WORD("PreferClose"), WORD("PreferSameZone"), WORD("PreferSameNode"));
    MEMBER(external, spec, "externalTrafficPolicy");
    MEMBER(health, spec, "healthCheckNodePort");
    MEMBER(internal, spec, "internalTrafficPolicy");
    MEMBER(distribution, spec, "trafficDistribution");
    if (is_reached_from_outside(root->v))
        one_of(&external, &policies);
    else if (spot_text(&external).n)
        say_invalid_text(&external, "may only be set for externally-accessible services");
    if (!needs_health_check(root->v)) {
        if (spot_number(&health) != 0)
            say_invalid(&health, "may only be set when `type` is 'LoadBalancer' and "
                                 "`externalTrafficPolicy` is 'Local'");
    } else if (spot_number(&health) == 0) {
        say_required(&health, "");
    } else {
        a_port(&health, NULL);
    }
    if (!internal.v && (is_type(root->v, "NodePort") || is_type(root->v, "LoadBalancer") ||
                        is_type(root->v, "ClusterIP")))
        say_required(&internal, "");
    one_of_or_none(&internal, &policies);
    one_of_or_none(&distribution, &distributions);
}

/* ---- types ---- */

static void headless_only_inside(const struct spot *spec, const char *type)
{
    MEMBER(ips, spec, "clusterIPs");
    struct spot first = spot_item(&ips, json_first(ips.v), 0);
    say_invalid_text(&first, say_text(spec, "may not be set to 'None' for %s services", type));
}

static void external_name(const struct spot *spec)
{
    static const char *const others[] = { "clusterIPs", "ipFamilies", "ipFamilyPolicy" };
    MEMBER(name, spec, "externalName");
    struct str host = spot_text(&name);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        MEMBER(m, spec, others[i]);
        if (m.v && (m.v->type != JSON_ARRAY || m.v->n))
            say_forbidden(&m, "may not be set for ExternalName services");
    }
    if (str_has_suffix(host, STR(".")))
        host = str_slice(host, 0, host.n - 1);
    if (host.n)
        say_problems(&name, host, meta_check_dns1123_subdomain(host));
    else
        say_required(&name, "");
}

#define TOPOLOGY_HINTS "service.kubernetes.io/topology-aware-hints"
#define TOPOLOGY_MODE  "service.kubernetes.io/topology-mode"

static void topology_annotations(const struct spot *root)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(map, &metadata, "annotations");
    const struct json *hints = json_getc(map.v, TOPOLOGY_HINTS);
    const struct json *mode = json_getc(map.v, TOPOLOGY_MODE);
    if (!hints || !mode || json_equal(hints, mode))
        return;
    struct spot at = spot_key(&map, mode);
    say_invalid_text(&at, "must match annotations[" TOPOLOGY_HINTS "] when both are specified");
}

static void whole_service(const struct spot *root)
{
    WORDS(types, WORD("ClusterIP"), WORD("ExternalName"), WORD("LoadBalancer"), WORD("NodePort"));
    static const struct each externals = { external_ip, NULL };
    static const struct member_check outside[] = { { "externalIPs", each, &externals },
                                                   { "type", one_of, &types } };
    MEMBER(spec, root, "spec");
    MEMBER(ports, &spec, "ports");
    MEMBER(selector, &spec, "selector");
    MEMBER(allocate, &spec, "allocateLoadBalancerNodePorts");
    struct spot odd = spot_named(root, "allocateLoadBalancerNodePorts", NULL);
    bool headless = is_headless(root->v), is_lb = is_type(root->v, "LoadBalancer");
    topology_annotations(root);
    if (spot_count(&ports) == 0 && !headless && !is_type(root->v, "ExternalName"))
        say_required(&ports, "");
    if (headless && (is_lb || is_type(root->v, "NodePort")))
        headless_only_inside(&spec, is_lb ? "LoadBalancer" : "NodePort");
    if (is_type(root->v, "ExternalName"))
        external_name(&spec);
    service_ports(&ports);
    labels(&selector, NULL);
    session_affinity(&spec);
    cluster_addresses(root, &spec);
    CHECK_MEMBERS(&spec, outside);
    ports_once(&ports, is_type(root->v, "ClusterIP"));
    source_ranges(root, &spec);
    if (allocate.v && !is_lb)
        say_forbidden(&allocate, ONLY_FOR_LB);
    if (!allocate.v && is_lb)
        say_required(&odd, "");
    load_balancer(root, &spec, NULL);
    traffic(root, &spec);
}

/* ---- updates ---- */

static size_t count_of(const struct json *list)
{
    return json_is(list, JSON_ARRAY) ? list->n : 0;
}

static void released_second(const struct spot *spec, const char *what)
{
    MEMBER(policy, spec, "ipFamilyPolicy");
    if (!spot_is(&policy, "SingleStack"))
        say_invalid(&policy, say_text(spec,
                                      "must be set to 'SingleStack' when releasing the "
                                      "secondary %s",
                                      what));
}

static void at_index(const struct spot *list, size_t index, const struct json *shown,
                     const char *detail)
{
    struct spot at = spot_item(list, NULL, index);
    say_invalid_value(&at, shown, detail);
}

#define NOT_AGAIN "may not change once set"

/* The first address stays; a second one may come and go. */
static void cluster_ips_update(const struct spot *spec, const struct json *old)
{
    MEMBER(now, spec, "clusterIPs");
    const struct json *before = json_path(old, "spec", "clusterIPs", NULL);
    size_t n = spot_count(&now), n_before = count_of(before), i = 0;
    const struct json *first = json_first(now.v), *first_before = json_first(before);
    if (n == n_before) {
        const struct json *ip = first;
        json_each (o, before) {
            if (!str_eq(json_str(o), json_str(ip)))
                at_index(&now, i, now.v, NOT_AGAIN);
            ip = ip->next;
            i++;
        }
        return;
    }
    if (n == 0)
        at_index(&now, 0, now.v, "primary clusterIP can not be unset");
    if (first && first_before && !str_eq(json_str(first), json_str(first_before)))
        at_index(&now, 0, now.v, NOT_AGAIN);
    if (n_before > n && n == 1)
        released_second(spec, "clusterIP");
}

static void ip_families_update(const struct spot *spec, const struct json *old)
{
    MEMBER(now, spec, "ipFamilies");
    const struct json *before = json_path(old, "spec", "ipFamilies", NULL);
    const struct json *ips = json_getc(spec->v, "clusterIPs");
    size_t n = spot_count(&now), n_before = count_of(before);
    const struct json *first = json_first(now.v), *first_before = json_first(before);
    if (n == n_before) {
        const struct json *family = first;
        json_each (o, before) {
            if (!str_eq(json_str(o), json_str(family)))
                at_index(&now, 0, now.v, NOT_AGAIN);
            family = family->next;
        }
        return;
    }
    if (n_before > n && count_of(ips) == 0)
        at_index(&now, 0, now.v, "primary ipFamily can not be unset");
    if (first && first_before && !str_eq(json_str(first), json_str(first_before)))
        at_index(&now, 0, ips, NOT_AGAIN);
    if (n_before > n && n == 1)
        released_second(spec, "ipFamily");
}

static void service_update(const struct spot *root, const struct json *old)
{
    MEMBER(spec, root, "spec");
    MEMBER(health, &spec, "healthCheckNodePort");
    bool named = is_type(root->v, "ExternalName") || is_type(old, "ExternalName");
    bool headless = is_headless(root->v), was_headless = is_headless(old);
    if (!named && !(headless && was_headless))
        cluster_ips_update(&spec, old);
    if (!named && !headless && !was_headless)
        ip_families_update(&spec, old);
    load_balancer(root, &spec, old);
    if (needs_health_check(root->v) && needs_health_check(old) &&
        spot_number(&health) != json_int_or(json_path(old, "spec", "healthCheckNodePort", NULL), 0))
        say_forbidden(&health, "field is immutable");
}

static void service_status(const struct spot *root)
{
    MEMBER(status, root, "status");
    MEMBER(balancer, &status, "loadBalancer");
    MEMBER(ingress, &balancer, "ingress");
    if (!is_type(root->v, "LoadBalancer") && spot_count(&ingress))
        say_forbidden(&ingress, "may only be used when `spec.type` is 'LoadBalancer'");
    else
        load_balancer_status(&balancer);
}

void validate_service(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    if (old && !json_same(json_getc(obj, "status"), json_getc(old, "status")) &&
        json_same(json_getc(obj, "spec"), json_getc(old, "spec"))) {
        service_status(&root);
        return;
    }
    if (old)
        service_update(&root, old);
    whole_service(&root);
}

/* ---- Endpoints ---- */

static void endpoint_address(const struct spot *s, const void *unused)
{
    static const struct member_check members[] = { { "ip", must_ip, NULL },
                                                   { "hostname", a_label, NULL },
                                                   { "nodeName", a_subdomain, NULL },
                                                   { "ip", must_ordinary_ip, NULL } };
    CHECK_MEMBERS(s, members);
}

static void endpoint_port(const struct spot *s, bool needs_name)
{
    static const struct member_check members[] = { { "name", a_label, NULL },
                                                   { "port", a_port, NULL },
                                                   { "protocol", one_of, &protocols },
                                                   { "appProtocol", qualified_if_set, NULL } };
    MEMBER(name, s, "name");
    if (needs_name)
        need(&name, NULL);
    CHECK_MEMBERS(s, members);
}

static void endpoint_subset(const struct spot *s, const void *unused)
{
    static const struct each address = { endpoint_address, NULL };
    static const struct member_check lists[] = { { "addresses", each, &address },
                                                 { "notReadyAddresses", each, &address } };
    MEMBER(ready, s, "addresses");
    MEMBER(not_ready, s, "notReadyAddresses");
    MEMBER(ports, s, "ports");
    if (spot_count(&ready) == 0 && spot_count(&not_ready) == 0)
        say_required(s, "must specify `addresses` or `notReadyAddresses`");
    CHECK_MEMBERS(s, lists);
    spot_each (port, i, &ports)
        endpoint_port(&port, spot_count(&ports) > 1);
}

void validate_endpoints(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const struct each subset = { endpoint_subset, NULL };
    struct spot root = spot_root(obj, errs);
    MEMBER(subsets, &root, "subsets");
    each(&subsets, &subset);
}

/* ---- EndpointSlices ---- */

enum {
    SLICE_MAX_ENDPOINTS = 1000,
    SLICE_MAX_ADDRESSES = 100,
    SLICE_MAX_PORTS = 20000,
    SLICE_MAX_TOPOLOGY = 16,
    SLICE_MAX_HINTS = 8
};

static void slice_address(const struct spot *s, const struct spot *list, const struct str *kind)
{
    struct ip ip;
    if (str_is(*kind, "FQDN")) {
        must_subdomain(s, NULL);
        if (spot_text(s).n && str_find_char(spot_text(s), '.') < 0)
            say_invalid_text(s, "should be a domain with at least two segments separated by dots");
        return;
    }
    bool v6 = str_is(*kind, "IPv6");
    size_t before = errors_of(s->errs);
    must_ip(s, NULL);
    if (errors_of(s->errs) != before || !ip_parse(spot_text(s), &ip))
        return;
    if (ip.is_v6 != v6)
        say_invalid_str(list, spot_text(s),
                        v6 ? "must be an IPv6 address" : "must be an IPv4 address");
    must_ordinary_ip(s, NULL);
}

static void slice_hints(const struct spot *s, const char *member)
{
    struct map names = { 0 };
    MEMBER(list, s, member);
    if (spot_count(&list) > SLICE_MAX_HINTS) {
        say_too_many(&list, SLICE_MAX_HINTS);
        return;
    }
    spot_each (hint, i, &list) {
        MEMBER(name, &hint, "name");
        if (map_put(&names, spot_text(&name), &names))
            say_duplicate_str(&name, spot_text(&name));
        say_problems(&name, spot_text(&name), meta_check_label_value(spot_text(&name)));
    }
    map_fini(&names);
}

static void slice_endpoint(const struct spot *s, const void *type)
{
    WORDS(types, WORD("FQDN"), WORD("IPv4"), WORD("IPv6"));
    MEMBER(list, s, "addresses");
    MEMBER(node, s, "nodeName");
    MEMBER(topology, s, "deprecatedTopology");
    MEMBER(host, s, "hostname");
    MEMBER(hints, s, "hints");
    if (spot_count(&list) == 0)
        say_required(&list, "must contain at least 1 address");
    else if (spot_count(&list) > SLICE_MAX_ADDRESSES)
        say_too_many(&list, SLICE_MAX_ADDRESSES);
    if (words_has(&types, *(const struct str *)type))
        spot_each (address, i, &list)
            slice_address(&address, &list, type);
    if (node.v)
        must_subdomain(&node, NULL);
    if (spot_count(&topology) > SLICE_MAX_TOPOLOGY)
        say_too_many(&topology, SLICE_MAX_TOPOLOGY);
    labels(&topology, NULL);
    if (host.v)
        must_label(&host, NULL);
    slice_hints(&hints, "forZones");
    slice_hints(&hints, "forNodes");
}

static void slice_ports(const struct spot *list)
{
    struct map names = { 0 };
    if (spot_count(list) > SLICE_MAX_PORTS) {
        say_too_many(list, SLICE_MAX_PORTS);
        return;
    }
    spot_each (port, i, list) {
        MEMBER(name, &port, "name");
        MEMBER(protocol, &port, "protocol");
        MEMBER(app, &port, "appProtocol");
        a_label(&name, NULL);
        if (map_put(&names, spot_text(&name), &names))
            say_duplicate_str(&name, spot_text(&name));
        one_of(&protocol, &protocols);
        qualified_if_set(&app, NULL);
    }
    map_fini(&names);
}

void validate_endpoint_slice(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    WORDS(types, WORD("FQDN"), WORD("IPv4"), WORD("IPv6"));
    struct spot root = spot_root(obj, errs);
    MEMBER(type, &root, "addressType");
    MEMBER(list, &root, "endpoints");
    MEMBER(ports, &root, "ports");
    struct str kind = spot_text(&type);
    struct each endpoint = { slice_endpoint, &kind };
    one_of(&type, &types);
    if (spot_count(&list) > SLICE_MAX_ENDPOINTS)
        say_too_many(&list, SLICE_MAX_ENDPOINTS);
    else
        each(&list, &endpoint);
    slice_ports(&ports);
    if (old && !str_eq(kind, json_get_str(old, "addressType")))
        say_invalid_text(&type, "field is immutable");
}
