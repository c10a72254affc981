/* SPDX-License-Identifier: Apache-2.0 */
/* Ingresses, their classes, and NetworkPolicies. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <arpa/inet.h>

/* Generated from text/networking.txt. */
#include "kube/rules/networking_rules.h"

/* ---- Ingresses ---- */

static void typed_reference(const struct validate_value *s)
{
    static const char *const parts[] = { "kind", "name" };
    MEMBER(group, s, "apiGroup");
    if (group.v)
        validate_subdomain(&group, NULL);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        MEMBER(part, s, parts[i]);
        validate_required_path_segment(&part, NULL);
    }
}

static void service_backend(const struct validate_value *backend,
                            const struct validate_value *service)
{
    MEMBER(name, service, "name");
    MEMBER(port, service, "port");
    MEMBER(port_name, &port, "name");
    MEMBER(number, &port, "number");
    validate_required(&name, NULL);
    if (value_text(&name).n)
        report_problems(&name, value_text(&name), meta_check_dns1035_label(value_text(&name)));
    if (value_text(&port_name).n && value_number(&number) != 0)
        report_invalid_str(backend, STR(""), "cannot set both port name & port number");
    else if (value_text(&port_name).n)
        report_problems(&port_name, value_text(&port_name),
                        names_check_port(value_text(&port_name)));
    else if (value_number(&number) != 0)
        validate_port(&number, NULL);
    else
        report_required(backend, "port name or number is required");
}

static void backend(const struct validate_value *s)
{
    MEMBER(resource, s, "resource");
    MEMBER(service, s, "service");
    if (resource.v && service.v)
        report_invalid_str(s, STR(""), "cannot set both resource and service backends");
    else if (resource.v)
        typed_reference(&resource);
    else if (service.v)
        service_backend(s, &service);
    else
        report_invalid_str(s, STR(""), "resource or service backend is required");
}

static void prefix_path(const struct validate_value *s)
{
    static const char *const inside[] = { "//", "/./", "/../", "%2f", "%2F" };
    static const char *const at_end[] = { "/..", "/." };
    struct str path = value_text(s);
    if (!str_has_prefix(path, STR("/")))
        report_invalid_text(s, "must be an absolute path");
    for (size_t i = 0; i < ARRAY_LEN(inside); i++)
        if (str_find(path, str_of(inside[i])) >= 0)
            report_invalid_text(s, report_text(s, "must not contain '%s'", inside[i]));
    for (size_t i = 0; i < ARRAY_LEN(at_end); i++)
        if (str_has_suffix(path, str_of(at_end[i])))
            report_invalid_text(s, report_text(s, "cannot end with '%s'", at_end[i]));
}

static void http_path(const struct validate_value *s)
{
    MEMBER(type, s, "pathType");
    MEMBER(path, s, "path");
    MEMBER(to, s, "backend");
    if (!type.v) {
        report_required(&type, "pathType must be specified");
        return;
    }
    if (value_is(&type, "Exact") || value_is(&type, "Prefix"))
        prefix_path(&path);
    else if (!value_is(&type, "ImplementationSpecific"))
        report_not_supported(&type, &enum_http_path_types);
    else if (value_text(&path).n && !str_has_prefix(value_text(&path), STR("/")))
        report_invalid_text(&path, "must be an absolute path");
    backend(&to);
}

static void host_name(const struct validate_value *s)
{
    struct str host = value_text(s);
    report_problems(s, host,
                    str_find_char(host, '*') >= 0 ? names_check_wildcard_domain(host)
                                                  : meta_check_dns1123_subdomain(host));
}

static void ingress_rule(const struct validate_value *s)
{
    MEMBER(host, s, "host");
    MEMBER(http, s, "http");
    MEMBER(paths, &http, "paths");
    struct validate_ip ip;
    if (value_text(&host).n) {
        if (validate_ip_parse(value_text(&host), &ip))
            report_invalid_text(&host, "must be a DNS name, not an IP address");
        host_name(&host);
    }
    if (!http.v)
        return;
    validate_required(&paths, NULL);
    value_each (path, i, &paths)
        http_path(&path);
}

static void ingress_tls(const struct validate_value *s)
{
    MEMBER(hosts, s, "hosts");
    MEMBER(secret, s, "secretName");
    value_each (host, i, &hosts)
        host_name(&host);
    validate_subdomain_if_set(&secret, NULL);
}

static void ingress_spec(const struct validate_value *spec)
{
    MEMBER(rules, spec, "rules");
    MEMBER(otherwise, spec, "defaultBackend");
    MEMBER(tls, spec, "tls");
    MEMBER(class, spec, "ingressClassName");
    if (value_count(&rules) == 0 && !otherwise.v)
        report_invalid_value(spec, NULL, "either `defaultBackend` or `rules` must be specified");
    if (otherwise.v)
        backend(&otherwise);
    value_each (rule, i, &rules)
        ingress_rule(&rule);
    value_each (t, i, &tls)
        ingress_tls(&t);
    if (class.v)
        validate_subdomain(&class, NULL);
}

/* Like that of a Service, with ports. */
static void ingress_status(const struct validate_value *list)
{
    value_each (ingress, i, list) {
        MEMBER(address, &ingress, "ip");
        MEMBER(host, &ingress, "hostname");
        struct validate_ip ip;
        if (value_text(&address).n)
            validate_ip(&address, NULL);
        validate_subdomain_if_set(&host, NULL);
        if (value_text(&host).n && validate_ip_parse(value_text(&host), &ip))
            report_invalid_text(&host, "must be a DNS name, not an IP address");
    }
}

#define CLASS_ANNOTATION "kubernetes.io/ingress.class"

void validate_ingress(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    MEMBER(balancer, &status, "loadBalancer");
    MEMBER(ingress, &balancer, "ingress");
    MEMBER(odd, &root, "annotations");
    const struct json *class = json_path(obj, "metadata", "annotations", CLASS_ANNOTATION, NULL);
    struct validate_value annotation = value_named(&odd, CLASS_ANNOTATION, class);
    if (old && !value_same(status.v, json_getc(old, "status"))) {
        ingress_status(&ingress);
        return;
    }
    ingress_spec(&spec);
    if (!old && class && value_has(&spec, "ingressClassName") &&
        !str_eq(json_str(class), value_member_text(&spec, "ingressClassName")))
        report_invalid_text(&annotation, "must match `ingressClassName` when both are specified");
}

/* ---- IngressClasses ---- */

static void class_parameters(const struct validate_value *s)
{
    MEMBER(scope, s, "scope");
    MEMBER(ns, s, "namespace");
    if (!s->v)
        return;
    typed_reference(s);
    if (!scope.v) {
        report_required(&scope, "");
        return;
    }
    validate_enum_strict(&scope, &enum_class_parameters_scopes);
    if (value_is(&scope, "Namespace")) {
        if (ns.v)
            validate_label(&ns, NULL);
        else
            report_required(&ns, "`parameters.scope` is set to 'Namespace'");
    }
    if (value_is(&scope, "Cluster") && ns.v)
        report_forbidden(&ns, "`parameters.scope` is set to 'Cluster'");
}

void validate_ingress_class(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    enum { CONTROLLER_MAX_BYTES = 250 };
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(controller, &spec, "controller");
    MEMBER(parameters, &spec, "parameters");
    if (old &&
        !str_eq(value_text(&controller), json_str(json_path(old, "spec", "controller", NULL))))
        report_invalid_text(&controller, "field is immutable");
    if (value_text(&controller).n > CONTROLLER_MAX_BYTES)
        report_too_long(&controller, CONTROLLER_MAX_BYTES);
    validate_domain_prefixed_path(&controller, NULL);
    class_parameters(&parameters);
}

/* ---- NetworkPolicies ---- */

static void policy_port(const struct validate_value *s, const void *unused)
{
    MEMBER(protocol, s, "protocol");
    MEMBER(port, s, "port");
    MEMBER(end, s, "endPort");
    validate_enum_if_set(&protocol, &enum_policy_port_protocols);
    if (!port.v) {
        if (end.v)
            report_invalid(&end, "may not be specified when `port` is not specified");
    } else if (json_is(port.v, JSON_STRING)) {
        if (end.v)
            report_invalid(&end, "may not be specified when `port` is non-numeric");
        validate_port_or_name(&port, NULL);
    } else {
        validate_port(&port, NULL);
        if (end.v && value_number(&end) < value_number(&port))
            report_invalid_value(&end, port.v, "must be greater than or equal to `port`");
        if (end.v)
            validate_port(&end, NULL);
    }
}

static void ip_block(const struct validate_value *s)
{
    MEMBER(range, s, "cidr");
    MEMBER(except, s, "except");
    struct validate_cidr whole, part;
    if (value_text(&range).n == 0) {
        report_required(&range, "");
        return;
    }
    validate_cidr(&range, value_text(&range));
    if (!validate_cidr_parse(value_text(&range), &whole))
        return;
    value_each (e, i, &except) {
        validate_cidr(&e, value_text(&e));
        if (validate_cidr_parse(value_text(&e), &part) &&
            (!validate_cidr_has(&whole, &part.ip) || whole.bits >= part.bits))
            report_invalid_text(&e, "must be a strict subset of `cidr`");
    }
}

static void policy_peer(const struct validate_value *s, const void *unused)
{
    MEMBER(pods, s, "podSelector");
    MEMBER(namespaces, s, "namespaceSelector");
    MEMBER(block, s, "ipBlock");
    validate_label_selector(&pods, NULL);
    validate_label_selector(&namespaces, NULL);
    if (block.v)
        ip_block(&block);
    if (!pods.v && !namespaces.v && !block.v)
        report_required(s, "must specify a peer");
    else if (block.v && (pods.v || namespaces.v))
        report_forbidden(s, "may not specify both ipBlock and another peer");
}

static void policy_rules(const struct validate_value *spec, const char *direction,
                         const char *peers)
{
    static const struct validate_each port = { policy_port, NULL }, peer = { policy_peer, NULL };
    MEMBER(list, spec, direction);
    value_each (rule, i, &list) {
        MEMBER(rule_ports, &rule, "ports");
        MEMBER(rule_peers, &rule, peers);
        validate_each(&rule_ports, &port);
        validate_each(&rule_peers, &peer);
    }
}

void validate_network_policy(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(pods, &spec, "podSelector");
    MEMBER(types, &spec, "policyTypes");
    validate_label_selector(&pods, NULL);
    policy_rules(&spec, "ingress", "from");
    policy_rules(&spec, "egress", "to");
    if (value_count(&types) > 2) {
        report_invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    value_each (type, i, &types)
        validate_enum_strict(&type, &enum_network_policy_directions);
}

/* ---- ServiceCIDR ---- */

static void check_range(const struct validate_value *s)
{
    struct str text = value_text(s);
    size_t before = report_count(s->errs);
    struct validate_cidr c;
    char shown[INET6_ADDRSTRLEN];
    validate_cidr(s, text);
    if (report_count(s->errs) > before || !validate_cidr_parse(text, &c) ||
        !inet_ntop(c.ip.is_v6 ? AF_INET6 : AF_INET, c.ip.bytes, shown, sizeof shown))
        return;
    const char *canonical = report_text(s, "%s/%u", shown, c.bits);
    if (!str_is(text, canonical))
        report_invalid_str(s, text,
                           report_text(s, "must be in canonical form (\"%s\")", canonical));
}

/* Two ranges must be of two families; invalid ranges are reported already. */
static void check_families(const struct validate_value *list)
{
    json_each (item, list->v) {
        struct validate_cidr c;
        if (!validate_cidr_parse(json_str(item), &c))
            return;
    }
    if (value_count(list) == 2 && !validate_is_dual_stack(list->v, NULL, true))
        report_invalid(list,
                       "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 "
                       "and 2001:db8::/64");
}

/* A range in use must stay; one of the other family may be added. */
static void range_update(const struct validate_value *list, const struct json *old)
{
    size_t n_old = old ? old->n : 0, n = value_count(list);
    if (n != n_old && !(n_old == 1 && n == 2)) {
        struct validate_value shown = *list;
        if (!shown.v)
            shown.v = json_new_array(list->errs->a);
        report_invalid(&shown, "field is immutable");
        return;
    }
    const struct json *was = json_first(old);
    value_each (cidr, i, list) {
        if (!was)
            check_range(&cidr);
        else if (!str_eq(json_str(was), value_text(&cidr)))
            report_invalid(&cidr, "field is immutable");
        was = was ? was->next : NULL;
    }
    check_families(list);
}

void validate_service_cidr(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct validate_value root = value_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(cidrs, &spec, "cidrs");
    if (old) {
        range_update(&cidrs, json_path(old, "spec", "cidrs", NULL));
        return;
    }
    if (value_count(&cidrs) == 0) {
        report_required(&cidrs, "at least one CIDR required");
        return;
    }
    if (value_count(&cidrs) > 2) {
        struct validate_value shown = cidrs;
        shown.v = value_go_struct(errs->a, spec.v, "CIDRs=cidrs/null");
        report_invalid(&shown, "may only hold up to 2 values");
        return;
    }
    value_each (cidr, i, &cidrs)
        check_range(&cidr);
    check_families(&cidrs);
}
