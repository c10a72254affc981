/* SPDX-License-Identifier: Apache-2.0 */
/* Services, Endpoints and EndpointSlices. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <inttypes.h>

/* Generated from text/services.txt. */
#include "kube/rules/services_rules.h"

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

static void name_once(const struct validate_value *name, bool required, struct map *names)
{
    if (value_text(name).n == 0) {
        if (required)
            report_required(name, "");
        return;
    }
    validate_label(name, NULL);
    if (map_put(names, value_text(name), names))
        report_duplicate_str(name, value_text(name));
}

static void qualified_if_set(const struct validate_value *s, const void *unused)
{
    if (s->v)
        validate_qualified_name(s, NULL);
}

static void service_ports(const struct validate_value *list)
{
    struct map names = { 0 };
    value_each (port, i, list) {
        MEMBER(name, &port, "name");
        name_once(&name, value_count(list) > 1, &names);
        VALIDATE_MEMBERS(&port, rules_service_ports);
    }
    map_fini(&names);
}

static struct str port_id(const struct validate_value *port, const char *number)
{
    return str_of(report_text(port, STR_FMT "/%" PRId64,
                              STR_ARG(value_member_text(port, "protocol")),
                              value_member_number(port, number)));
}

static void ports_once(const struct validate_value *list, bool cluster_only)
{
    struct map used = { 0 }, node_used = { 0 };
    value_each (port, i, list) {
        MEMBER(node, &port, "nodePort");
        if (cluster_only && value_number(&node) != 0)
            report_forbidden(&node, "may not be used when `type` is 'ClusterIP'");
    }
    value_each (port, i, list) {
        MEMBER(node, &port, "nodePort");
        if (value_number(&node) != 0 && map_put(&node_used, port_id(&port, "nodePort"), &used))
            report_duplicate(&node);
    }
    value_each (port, i, list) {
        struct validate_value shown = port;
        struct json *key = json_new_object(list->errs->a);
        json_set_str(list->errs->a, key, "protocol", value_member_text(&port, "protocol"));
        json_set_int(list->errs->a, key, "port", value_member_number(&port, "port"));
        shown.v =
            value_go_struct(list->errs->a, key,
                            "Name=name/\"\" Protocol=protocol/\"\" AppProtocol=appProtocol/null "
                            "Port=port/0 TargetPort=targetPort/0 NodePort=nodePort/0");
        if (map_put(&used, port_id(&port, "port"), &used))
            report_duplicate(&shown);
    }
    map_fini(&used);
    map_fini(&node_used);
}

/* ---- session affinity ---- */

static void session_affinity(const struct validate_value *spec)
{
    static const char refusal[] = "when session affinity type is ClientIP";
    MEMBER(type, spec, "sessionAffinity");
    MEMBER(config, spec, "sessionAffinityConfig");
    MEMBER(client, &config, "clientIP");
    MEMBER(timeout, &client, "timeoutSeconds");
    validate_enum(&type, &enum_session_affinity_types);
    if (value_is(&type, "None") && config.v)
        report_forbidden(&config, "must not be set when session affinity is None");
    if (!value_is(&type, "ClientIP"))
        return;
    if (!config.v || !client.v || !timeout.v)
        report_required(!config.v ? &config : !client.v ? &client : &timeout, refusal);
    else if (value_number(&timeout) <= 0 || value_number(&timeout) > 86400)
        report_invalid(&timeout, "must be greater than 0 and less than 86400");
}

/* ---- addresses ---- */

static void cluster_ip_first(const struct validate_value *spec)
{
    MEMBER(ips, spec, "clusterIPs");
    struct str ip = value_member_text(spec, "clusterIP");
    if (ip.n && value_count(&ips) == 0)
        report_required(&ips, "");
    else if (ip.n && !str_eq(json_str(ips.v->first), ip))
        report_invalid(&ips, "first value must match `clusterIP`");
    else if (ip.n == 0 && value_count(&ips))
        report_invalid(&ips, "must be empty when `clusterIP` is not specified");
}

static void ip_families(const struct validate_value *list)
{
    struct map seen = { 0 };
    value_each (family, i, list) {
        validate_enum_strict(&family, &enum_ip_families_families);
        if (map_put(&seen, value_text(&family), &seen))
            report_duplicate_str(&family, value_text(&family));
    }
    map_fini(&seen);
}

/* false: some are not addresses, further errors would only confuse. */
static bool cluster_ips(const struct validate_value *list)
{
    size_t before = report_count(list->errs);
    value_each (ip, i, list) {
        if (i != 0 || !value_is(&ip, "None"))
            validate_ip(&ip, NULL);
        else if (value_count(list) > 1)
            report_invalid(list, "'None' must be the first and only value");
    }
    bool fine = report_count(list->errs) == before;
    if (value_count(list) > 2)
        report_invalid(list, "may only hold up to 2 values");
    return fine;
}

static void ips_of_families(const struct validate_value *ips, const struct validate_value *families)
{
    const struct json *family = json_first(families->v);
    value_each (ip, i, ips) {
        struct validate_ip parsed;
        if (!family || !validate_ip_parse(value_text(&ip), &parsed))
            break;
        bool is_v6 = value_text(&ip).n && parsed.is_v6;
        if ((str_is(json_str(family), "IPv4") && is_v6) ||
            (str_is(json_str(family), "IPv6") && !is_v6))
            report_invalid_text(&ip, report_text(&ip,
                                                 "expected an " STR_FMT
                                                 " value as indicated by `ipFamilies[%zu]`",
                                                 STR_ARG(json_str(family)), i));
        family = family->next;
    }
}

static void cluster_addresses(const struct validate_value *root, const struct validate_value *spec)
{
    MEMBER(ips, spec, "clusterIPs");
    MEMBER(families, spec, "ipFamilies");
    MEMBER(policy, spec, "ipFamilyPolicy");
    if (is_type(root->v, "ExternalName"))
        return;
    cluster_ip_first(spec);
    ip_families(&families);
    validate_enum_if_set(&policy, &enum_cluster_addresses_policies);
    if (!cluster_ips(&ips))
        return;
    if (value_count(&ips) > 1 && !validate_is_dual_stack(ips.v, NULL, false))
        report_invalid(&ips, "may specify no more than one IP for each IP family");
    if (!is_headless(root->v))
        ips_of_families(&ips, &families);
}

void validate_service_addresses(const struct json *obj, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    cluster_addresses(&root, &spec);
}

static void external_ip(const struct validate_value *s, const void *unused)
{
    size_t before = report_count(s->errs);
    validate_ip(s, NULL);
    if (report_count(s->errs) == before)
        validate_ordinary_ip(s, NULL);
}

/* ---- load balancers ---- */

#define SOURCE_RANGES "service.beta.kubernetes.io/load-balancer-source-ranges"
#define ONLY_FOR_LB   "may only be used when `type` is 'LoadBalancer'"

static void source_ranges(const struct validate_value *root, const struct validate_value *spec)
{
    bool is_lb = is_type(root->v, "LoadBalancer");
    const struct json *list = json_getc(spec->v, "loadBalancerSourceRanges");
    const struct json *annotation =
        json_path(root->v, "metadata", "annotations", SOURCE_RANGES, NULL);
    struct validate_value at = value_named(spec, "LoadBalancerSourceRanges", list);
    MEMBER(metadata, root, "metadata");
    MEMBER(annotations_at, &metadata, "annotations");
    if (value_count(&at)) {
        if (!is_lb)
            report_forbidden(&at, ONLY_FOR_LB);
        value_each (range, i, &at)
            validate_cidr(&range, str_trim(value_text(&range)));
    } else if (annotation) {
        struct validate_value key = value_key(&annotations_at, annotation);
        struct str rest = str_trim(json_str(annotation)), range;
        if (!is_lb)
            report_forbidden(&key, ONLY_FOR_LB);
        for (bool more = rest.n > 0; more;) {
            more = str_cut(rest, ',', &range, &rest);
            validate_cidr(&key, str_trim(range));
        }
    }
}

static void load_balancer(const struct validate_value *root, const struct validate_value *spec,
                          const struct json *old)
{
    bool is_lb = is_type(root->v, "LoadBalancer");
    MEMBER(class, spec, "loadBalancerClass");
    if (old && is_lb && is_type(old, "LoadBalancer") &&
        !value_same(class.v, json_path(old, "spec", "loadBalancerClass", NULL)))
        report_invalid(&class, "may not change once set");
    if (class.v && is_lb)
        validate_qualified_name(&class, NULL);
    else if (class.v)
        report_forbidden(&class, ONLY_FOR_LB);
}

void validate_load_balancer_status(const struct validate_value *s)
{
    MEMBER(list, s, "ingress");
    value_each (ingress, i, &list) {
        MEMBER(ip, &ingress, "ip");
        MEMBER(mode, &ingress, "ipMode");
        MEMBER(host, &ingress, "hostname");
        struct validate_ip parsed;
        if (value_text(&ip).n)
            validate_ip(&ip, NULL);
        if (!mode.v && value_text(&ip).n)
            report_required(&mode, "must be specified when `ip` is set");
        else if (mode.v && value_text(&ip).n == 0)
            report_forbidden(&mode, "may not be specified when `ip` is not set");
        else
            validate_enum_if_set(&mode, &enum_load_balancer_status_modes);
        validate_subdomain_if_set(&host, NULL);
        if (value_text(&host).n && validate_ip_parse(value_text(&host), &parsed))
            report_invalid_text(&host, "must be a DNS name, not an IP address");
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

static void traffic(const struct validate_value *root, const struct validate_value *spec)
{
    MEMBER(external, spec, "externalTrafficPolicy");
    MEMBER(health, spec, "healthCheckNodePort");
    MEMBER(internal, spec, "internalTrafficPolicy");
    MEMBER(distribution, spec, "trafficDistribution");
    if (is_reached_from_outside(root->v))
        validate_enum(&external, &enum_traffic_policies);
    else if (value_text(&external).n)
        report_invalid_text(&external, "may only be set for externally-accessible services");
    if (!needs_health_check(root->v)) {
        if (value_number(&health) != 0)
            report_invalid(&health, "may only be set when `type` is 'LoadBalancer' and "
                                    "`externalTrafficPolicy` is 'Local'");
    } else if (value_number(&health) == 0) {
        report_required(&health, "");
    } else {
        validate_port(&health, NULL);
    }
    if (!internal.v && (is_type(root->v, "NodePort") || is_type(root->v, "LoadBalancer") ||
                        is_type(root->v, "ClusterIP")))
        report_required(&internal, "");
    validate_enum_if_set(&internal, &enum_traffic_policies);
    validate_enum_if_set(&distribution, &enum_traffic_distributions);
}

/* ---- types ---- */

static void headless_only_inside(const struct validate_value *spec, const char *type)
{
    MEMBER(ips, spec, "clusterIPs");
    struct validate_value first = value_item(&ips, json_first(ips.v), 0);
    report_invalid_text(&first,
                        report_text(spec, "may not be set to 'None' for %s services", type));
}

static void external_name(const struct validate_value *spec)
{
    static const char *const others[] = { "clusterIPs", "ipFamilies", "ipFamilyPolicy" };
    MEMBER(name, spec, "externalName");
    struct str host = value_text(&name);
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        MEMBER(m, spec, others[i]);
        if (m.v && (m.v->type != JSON_ARRAY || m.v->n))
            report_forbidden(&m, "may not be set for ExternalName services");
    }
    if (str_has_suffix(host, STR(".")))
        host = str_slice(host, 0, host.n - 1);
    if (host.n)
        report_problems(&name, host, meta_check_dns1123_subdomain(host));
    else
        report_required(&name, "");
}

#define TOPOLOGY_HINTS "service.kubernetes.io/topology-aware-hints"
#define TOPOLOGY_MODE  "service.kubernetes.io/topology-mode"

static void topology_annotations(const struct validate_value *root)
{
    MEMBER(metadata, root, "metadata");
    MEMBER(map, &metadata, "annotations");
    const struct json *hints = json_getc(map.v, TOPOLOGY_HINTS);
    const struct json *mode = json_getc(map.v, TOPOLOGY_MODE);
    if (!hints || !mode || json_equal(hints, mode))
        return;
    struct validate_value at = value_key(&map, mode);
    report_invalid_text(&at, "must match annotations[" TOPOLOGY_HINTS "] when both are specified");
}

static void whole_service(const struct validate_value *root)
{
    MEMBER(spec, root, "spec");
    MEMBER(ports, &spec, "ports");
    MEMBER(selector, &spec, "selector");
    MEMBER(allocate, &spec, "allocateLoadBalancerNodePorts");
    struct validate_value odd = value_named(root, "allocateLoadBalancerNodePorts", NULL);
    bool headless = is_headless(root->v), is_lb = is_type(root->v, "LoadBalancer");
    topology_annotations(root);
    if (value_count(&ports) == 0 && !headless && !is_type(root->v, "ExternalName"))
        report_required(&ports, "");
    if (headless && (is_lb || is_type(root->v, "NodePort")))
        headless_only_inside(&spec, is_lb ? "LoadBalancer" : "NodePort");
    if (is_type(root->v, "ExternalName"))
        external_name(&spec);
    service_ports(&ports);
    validate_labels(&selector, NULL);
    session_affinity(&spec);
    cluster_addresses(root, &spec);
    VALIDATE_MEMBERS(&spec, rules_whole_service_outside);
    ports_once(&ports, is_type(root->v, "ClusterIP"));
    source_ranges(root, &spec);
    if (allocate.v && !is_lb)
        report_forbidden(&allocate, ONLY_FOR_LB);
    if (!allocate.v && is_lb)
        report_required(&odd, "");
    load_balancer(root, &spec, NULL);
    traffic(root, &spec);
}

/* ---- updates ---- */

static size_t count_of(const struct json *list)
{
    return json_is(list, JSON_ARRAY) ? list->n : 0;
}

static void released_second(const struct validate_value *spec, const char *what)
{
    MEMBER(policy, spec, "ipFamilyPolicy");
    if (!value_is(&policy, "SingleStack"))
        report_invalid(&policy, report_text(spec,
                                            "must be set to 'SingleStack' when releasing the "
                                            "secondary %s",
                                            what));
}

static void at_index(const struct validate_value *list, size_t index, const struct json *shown,
                     const char *detail)
{
    struct validate_value at = value_item(list, NULL, index);
    report_invalid_value(&at, shown, detail);
}

#define NOT_AGAIN "may not change once set"

/* The first address must stay; a second one may be added and removed. */
static void cluster_ips_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(now, spec, "clusterIPs");
    const struct json *before = json_path(old, "spec", "clusterIPs", NULL);
    size_t n = value_count(&now), n_before = count_of(before), i = 0;
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

static void ip_families_update(const struct validate_value *spec, const struct json *old)
{
    MEMBER(now, spec, "ipFamilies");
    const struct json *before = json_path(old, "spec", "ipFamilies", NULL);
    const struct json *ips = json_getc(spec->v, "clusterIPs");
    size_t n = value_count(&now), n_before = count_of(before);
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

static void service_update(const struct validate_value *root, const struct json *old)
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
        value_number(&health) !=
            json_int_or(json_path(old, "spec", "healthCheckNodePort", NULL), 0))
        report_forbidden(&health, "field is immutable");
}

static void service_status(const struct validate_value *root)
{
    MEMBER(status, root, "status");
    MEMBER(balancer, &status, "loadBalancer");
    MEMBER(ingress, &balancer, "ingress");
    if (!is_type(root->v, "LoadBalancer") && value_count(&ingress))
        report_forbidden(&ingress, "may only be used when `spec.type` is 'LoadBalancer'");
    else
        validate_load_balancer_status(&balancer);
}

void validate_service(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    if (old && !value_same(json_getc(obj, "status"), json_getc(old, "status")) &&
        value_same(json_getc(obj, "spec"), json_getc(old, "spec"))) {
        service_status(&root);
        return;
    }
    if (old)
        service_update(&root, old);
    whole_service(&root);
}

/* ---- Endpoints ---- */

static void endpoint_address(const struct validate_value *s, const void *unused)
{
    VALIDATE_MEMBERS(s, rules_endpoint_address);
}

static void endpoint_port(const struct validate_value *s, bool needs_name)
{
    MEMBER(name, s, "name");
    if (needs_name)
        validate_required(&name, NULL);
    VALIDATE_MEMBERS(s, rules_endpoint_port);
}

static void endpoint_subset(const struct validate_value *s, const void *unused)
{
    MEMBER(ready, s, "addresses");
    MEMBER(not_ready, s, "notReadyAddresses");
    MEMBER(ports, s, "ports");
    if (value_count(&ready) == 0 && value_count(&not_ready) == 0)
        report_required(s, "must specify `addresses` or `notReadyAddresses`");
    VALIDATE_MEMBERS(s, rules_endpoint_subset_lists);
    value_each (port, i, &ports)
        endpoint_port(&port, value_count(&ports) > 1);
}

void validate_endpoints(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    static const struct validate_each subset = { endpoint_subset, NULL };
    struct validate_value root = value_root(obj, errs);
    MEMBER(subsets, &root, "subsets");
    validate_each(&subsets, &subset);
}

/* ---- EndpointSlices ---- */

enum {
    SLICE_MAX_ENDPOINTS = 1000,
    SLICE_MAX_ADDRESSES = 100,
    SLICE_MAX_PORTS = 20000,
    SLICE_MAX_TOPOLOGY = 16,
    SLICE_MAX_HINTS = 8
};

static void slice_address(const struct validate_value *s, const struct validate_value *list,
                          const struct str *kind)
{
    struct validate_ip ip;
    if (str_is(*kind, "FQDN")) {
        validate_subdomain(s, NULL);
        if (value_text(s).n && str_find_char(value_text(s), '.') < 0)
            report_invalid_text(s,
                                "should be a domain with at least two segments separated by dots");
        return;
    }
    bool v6 = str_is(*kind, "IPv6");
    size_t before = report_count(s->errs);
    validate_ip(s, NULL);
    if (report_count(s->errs) != before || !validate_ip_parse(value_text(s), &ip))
        return;
    if (ip.is_v6 != v6)
        report_invalid_str(list, value_text(s),
                           v6 ? "must be an IPv6 address" : "must be an IPv4 address");
    validate_ordinary_ip(s, NULL);
}

static void slice_hints(const struct validate_value *s, const char *member)
{
    struct map names = { 0 };
    MEMBER(list, s, member);
    if (value_count(&list) > SLICE_MAX_HINTS) {
        report_too_many(&list, SLICE_MAX_HINTS);
        return;
    }
    value_each (hint, i, &list) {
        MEMBER(name, &hint, "name");
        if (map_put(&names, value_text(&name), &names))
            report_duplicate_str(&name, value_text(&name));
        report_problems(&name, value_text(&name), meta_check_label_value(value_text(&name)));
    }
    map_fini(&names);
}

static void slice_endpoint(const struct validate_value *s, const void *type)
{
    MEMBER(list, s, "addresses");
    MEMBER(node, s, "nodeName");
    MEMBER(topology, s, "deprecatedTopology");
    MEMBER(host, s, "hostname");
    MEMBER(hints, s, "hints");
    if (value_count(&list) == 0)
        report_required(&list, "must contain at least 1 address");
    else if (value_count(&list) > SLICE_MAX_ADDRESSES)
        report_too_many(&list, SLICE_MAX_ADDRESSES);
    if (validate_enum_has(&enum_slice_endpoint_types, *(const struct str *)type))
        value_each (address, i, &list)
            slice_address(&address, &list, type);
    if (node.v)
        validate_subdomain(&node, NULL);
    if (value_count(&topology) > SLICE_MAX_TOPOLOGY)
        report_too_many(&topology, SLICE_MAX_TOPOLOGY);
    validate_labels(&topology, NULL);
    if (host.v)
        validate_label(&host, NULL);
    slice_hints(&hints, "forZones");
    slice_hints(&hints, "forNodes");
}

static void slice_ports(const struct validate_value *list)
{
    struct map names = { 0 };
    if (value_count(list) > SLICE_MAX_PORTS) {
        report_too_many(list, SLICE_MAX_PORTS);
        return;
    }
    value_each (port, i, list) {
        MEMBER(name, &port, "name");
        MEMBER(protocol, &port, "protocol");
        MEMBER(app, &port, "appProtocol");
        validate_label_if_set(&name, NULL);
        if (map_put(&names, value_text(&name), &names))
            report_duplicate_str(&name, value_text(&name));
        validate_enum(&protocol, &enum_protocols);
        qualified_if_set(&app, NULL);
    }
    map_fini(&names);
}

void validate_endpoint_slice(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(type, &root, "addressType");
    MEMBER(list, &root, "endpoints");
    MEMBER(ports, &root, "ports");
    struct str kind = value_text(&type);
    struct validate_each endpoint = { slice_endpoint, &kind };
    validate_enum(&type, &enum_endpoint_slice_types);
    if (value_count(&list) > SLICE_MAX_ENDPOINTS)
        report_too_many(&list, SLICE_MAX_ENDPOINTS);
    else
        validate_each(&list, &endpoint);
    slice_ports(&ports);
    if (old && !str_eq(kind, json_get_str(old, "addressType")))
        report_invalid_text(&type, "field is immutable");
}
