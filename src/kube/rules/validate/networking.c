/* SPDX-License-Identifier: Apache-2.0 */
/* Ingresses, their classes, and NetworkPolicies. */
#include "kube/rules/validate/check.h"
#include "kube/rules/validate/validate.h"

#include <arpa/inet.h>

/* ---- Ingresses ---- */

static void typed_reference(const struct spot *s)
{
    static const char *const parts[] = { "kind", "name" };
    MEMBER(group, s, "apiGroup");
    if (group.v)
        must_subdomain(&group, NULL);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        MEMBER(part, s, parts[i]);
        need_path_segment(&part, NULL);
    }
}

static void service_backend(const struct spot *backend, const struct spot *service)
{
    MEMBER(name, service, "name");
    MEMBER(port, service, "port");
    MEMBER(port_name, &port, "name");
    MEMBER(number, &port, "number");
    need(&name, NULL);
    if (spot_text(&name).n)
        say_problems(&name, spot_text(&name), meta_check_dns1035_label(spot_text(&name)));
    if (spot_text(&port_name).n && spot_number(&number) != 0)
        say_invalid_str(backend, STR(""), "cannot set both port name & port number");
    else if (spot_text(&port_name).n)
        say_problems(&port_name, spot_text(&port_name), check_port_name(spot_text(&port_name)));
    else if (spot_number(&number) != 0)
        a_port(&number, NULL);
    else
        say_required(backend, "port name or number is required");
}

static void backend(const struct spot *s)
{
    MEMBER(resource, s, "resource");
    MEMBER(service, s, "service");
    if (resource.v && service.v)
        say_invalid_str(s, STR(""), "cannot set both resource and service backends");
    else if (resource.v)
        typed_reference(&resource);
    else if (service.v)
        service_backend(s, &service);
    else
        say_invalid_str(s, STR(""), "resource or service backend is required");
}

static void prefix_path(const struct spot *s)
{
    static const char *const inside[] = { "//", "/./", "/../", "%2f", "%2F" };
    static const char *const at_end[] = { "/..", "/." };
    struct str path = spot_text(s);
    if (!str_has_prefix(path, STR("/")))
        say_invalid_text(s, "must be an absolute path");
    for (size_t i = 0; i < ARRAY_LEN(inside); i++)
        if (str_find(path, str_of(inside[i])) >= 0)
            say_invalid_text(s, say_text(s, "must not contain '%s'", inside[i]));
    for (size_t i = 0; i < ARRAY_LEN(at_end); i++)
        if (str_has_suffix(path, str_of(at_end[i])))
            say_invalid_text(s, say_text(s, "cannot end with '%s'", at_end[i]));
}

static void http_path(const struct spot *s)
{
    WORDS(types, WORD("Exact"), WORD("ImplementationSpecific"), WORD("Prefix"));
    MEMBER(type, s, "pathType");
    MEMBER(path, s, "path");
    MEMBER(to, s, "backend");
    if (!type.v) {
        say_required(&type, "pathType must be specified");
        return;
    }
    if (spot_is(&type, "Exact") || spot_is(&type, "Prefix"))
        prefix_path(&path);
    else if (!spot_is(&type, "ImplementationSpecific"))
        say_unsupported(&type, &types);
    else if (spot_text(&path).n && !str_has_prefix(spot_text(&path), STR("/")))
        say_invalid_text(&path, "must be an absolute path");
    backend(&to);
}

static void host_name(const struct spot *s)
{
    struct str host = spot_text(s);
    say_problems(s, host,
                 str_find_char(host, '*') >= 0 ? check_wildcard_domain(host)
                                               : meta_check_dns1123_subdomain(host));
}

static void ingress_rule(const struct spot *s)
{
    MEMBER(host, s, "host");
    MEMBER(http, s, "http");
    MEMBER(paths, &http, "paths");
    struct ip ip;
    if (spot_text(&host).n) {
        if (ip_parse(spot_text(&host), &ip))
            say_invalid_text(&host, "must be a DNS name, not an IP address");
        host_name(&host);
    }
    if (!http.v)
        return;
    need(&paths, NULL);
    spot_each (path, i, &paths)
        http_path(&path);
}

static void ingress_tls(const struct spot *s)
{
    MEMBER(hosts, s, "hosts");
    MEMBER(secret, s, "secretName");
    spot_each (host, i, &hosts)
        host_name(&host);
    a_subdomain(&secret, NULL);
}

static void ingress_spec(const struct spot *spec)
{
    MEMBER(rules, spec, "rules");
    MEMBER(otherwise, spec, "defaultBackend");
    MEMBER(tls, spec, "tls");
    MEMBER(class, spec, "ingressClassName");
    if (spot_count(&rules) == 0 && !otherwise.v)
        say_invalid_value(spec, NULL, "either `defaultBackend` or `rules` must be specified");
    if (otherwise.v)
        backend(&otherwise);
    spot_each (rule, i, &rules)
        ingress_rule(&rule);
    spot_each (t, i, &tls)
        ingress_tls(&t);
    if (class.v)
        must_subdomain(&class, NULL);
}

/* Like those of Services, but ports belong to it. */
static void ingress_status(const struct spot *list)
{
    spot_each (ingress, i, list) {
        MEMBER(address, &ingress, "ip");
        MEMBER(host, &ingress, "hostname");
        struct ip ip;
        if (spot_text(&address).n)
            must_ip(&address, NULL);
        a_subdomain(&host, NULL);
        if (spot_text(&host).n && ip_parse(spot_text(&host), &ip))
            say_invalid_text(&host, "must be a DNS name, not an IP address");
    }
}

#define CLASS_ANNOTATION "kubernetes.io/ingress.class"

void validate_ingress(const struct json *obj, const struct json *old, struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(status, &root, "status");
    MEMBER(balancer, &status, "loadBalancer");
    MEMBER(ingress, &balancer, "ingress");
    MEMBER(odd, &root, "annotations");
    const struct json *class = json_path(obj, "metadata", "annotations", CLASS_ANNOTATION, NULL);
    struct spot annotation = spot_named(&odd, CLASS_ANNOTATION, class);
    if (old && !json_same(status.v, json_getc(old, "status"))) {
        ingress_status(&ingress);
        return;
    }
    ingress_spec(&spec);
    if (!old && class && member_set(&spec, "ingressClassName") &&
        !str_eq(json_str(class), member_text(&spec, "ingressClassName")))
        say_invalid_text(&annotation, "must match `ingressClassName` when both are specified");
}

/* ---- IngressClasses ---- */

static void class_parameters(const struct spot *s)
{
    WORDS(scopes, WORD("Cluster"), WORD("Namespace"));
    MEMBER(scope, s, "scope");
    MEMBER(ns, s, "namespace");
    if (!s->v)
        return;
    typed_reference(s);
    if (!scope.v) {
        say_required(&scope, "");
        return;
    }
    one_of_strictly(&scope, &scopes);
    if (spot_is(&scope, "Namespace")) {
        if (ns.v)
            must_label(&ns, NULL);
        else
            say_required(&ns, "`parameters.scope` is set to 'Namespace'");
    }
    if (spot_is(&scope, "Cluster") && ns.v)
        say_forbidden(&ns, "`parameters.scope` is set to 'Cluster'");
}

void validate_ingress_class(const struct json *obj, const struct json *old,
                            struct field_errors *errs)
{
    enum { CONTROLLER_MAX_BYTES = 250 };
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(controller, &spec, "controller");
    MEMBER(parameters, &spec, "parameters");
    if (old &&
        !str_eq(spot_text(&controller), json_str(json_path(old, "spec", "controller", NULL))))
        say_invalid_text(&controller, "field is immutable");
    if (spot_text(&controller).n > CONTROLLER_MAX_BYTES)
        say_too_long(&controller, CONTROLLER_MAX_BYTES);
    a_domain_prefixed_path(&controller, NULL);
    class_parameters(&parameters);
}

/* ---- NetworkPolicies ---- */

static void policy_port(const struct spot *s, const void *unused)
{
    WORDS(protocols, WORD("TCP"), WORD("UDP"), WORD("SCTP"));
    MEMBER(protocol, s, "protocol");
    MEMBER(port, s, "port");
    MEMBER(end, s, "endPort");
    one_of_or_none(&protocol, &protocols);
    if (!port.v) {
        if (end.v)
            say_invalid(&end, "may not be specified when `port` is not specified");
    } else if (json_is(port.v, JSON_STRING)) {
        if (end.v)
            say_invalid(&end, "may not be specified when `port` is non-numeric");
        a_port_or_name(&port, NULL);
    } else {
        a_port(&port, NULL);
        if (end.v && spot_number(&end) < spot_number(&port))
            say_invalid_value(&end, port.v, "must be greater than or equal to `port`");
        if (end.v)
            a_port(&end, NULL);
    }
}

static void ip_block(const struct spot *s)
{
    MEMBER(range, s, "cidr");
    MEMBER(except, s, "except");
    struct cidr whole, part;
    if (spot_text(&range).n == 0) {
        say_required(&range, "");
        return;
    }
    must_cidr(&range, spot_text(&range));
    if (!cidr_parse(spot_text(&range), &whole))
        return;
    spot_each (e, i, &except) {
        must_cidr(&e, spot_text(&e));
        if (cidr_parse(spot_text(&e), &part) &&
            (!cidr_has(&whole, &part.ip) || whole.bits >= part.bits))
            say_invalid_text(&e, "must be a strict subset of `cidr`");
    }
}

static void policy_peer(const struct spot *s, const void *unused)
{
    MEMBER(pods, s, "podSelector");
    MEMBER(namespaces, s, "namespaceSelector");
    MEMBER(block, s, "ipBlock");
    label_selector(&pods, NULL);
    label_selector(&namespaces, NULL);
    if (block.v)
        ip_block(&block);
    if (!pods.v && !namespaces.v && !block.v)
        say_required(s, "must specify a peer");
    else if (block.v && (pods.v || namespaces.v))
        say_forbidden(s, "may not specify both ipBlock and another peer");
}

static void policy_rules(const struct spot *spec, const char *direction, const char *peers)
{
    static const struct each port = { policy_port, NULL }, peer = { policy_peer, NULL };
    MEMBER(list, spec, direction);
    spot_each (rule, i, &list) {
        MEMBER(rule_ports, &rule, "ports");
        MEMBER(rule_peers, &rule, peers);
        each(&rule_ports, &port);
        each(&rule_peers, &peer);
    }
}

void validate_network_policy(const struct json *obj, const struct json *old,
                             struct field_errors *errs)
{
    WORDS(directions, WORD("Ingress"), WORD("Egress"));
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(pods, &spec, "podSelector");
    MEMBER(types, &spec, "policyTypes");
    label_selector(&pods, NULL);
    policy_rules(&spec, "ingress", "from");
    policy_rules(&spec, "egress", "to");
    if (spot_count(&types) > 2) {
        say_invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    spot_each (type, i, &types)
        one_of_strictly(&type, &directions);
}

/* ---- ServiceCIDR ---- */

static void check_range(const struct spot *s)
{
    struct str text = spot_text(s);
    size_t before = errors_of(s->errs);
    struct cidr c;
    char shown[INET6_ADDRSTRLEN];
    must_cidr(s, text);
    if (errors_of(s->errs) > before || !cidr_parse(text, &c) ||
        !inet_ntop(c.ip.is_v6 ? AF_INET6 : AF_INET, c.ip.bytes, shown, sizeof shown))
        return;
    const char *canonical = say_text(s, "%s/%u", shown, c.bits);
    if (!str_is(text, canonical))
        say_invalid_str(s, text, say_text(s, "must be in canonical form (\"%s\")", canonical));
}

/* Two ranges are of two families; what is no range has been told. */
static void check_families(const struct spot *list)
{
    json_each (item, list->v) {
        struct cidr c;
        if (!cidr_parse(json_str(item), &c))
            return;
    }
    if (spot_count(list) == 2 && !is_dual_stack(list->v, NULL, true))
        say_invalid(list, "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 "
                          "and 2001:db8::/64");
}

/* A range that is in use stays; one of the other family may be added. */
static void range_update(const struct spot *list, const struct json *old)
{
    size_t n_old = old ? old->n : 0, n = spot_count(list);
    if (n != n_old && !(n_old == 1 && n == 2)) {
        struct spot shown = *list;
        if (!shown.v)
            shown.v = json_new_array(list->errs->a);
        say_invalid(&shown, "field is immutable");
        return;
    }
    const struct json *was = json_first(old);
    spot_each (cidr, i, list) {
        if (!was)
            check_range(&cidr);
        else if (!str_eq(json_str(was), spot_text(&cidr)))
            say_invalid(&cidr, "field is immutable");
        was = was ? was->next : NULL;
    }
    check_families(list);
}

void validate_service_cidr(const struct json *obj, const struct json *old,
                           struct field_errors *errs)
{
    struct spot root = spot_root(obj, errs);
    MEMBER(spec, &root, "spec");
    MEMBER(cidrs, &spec, "cidrs");
    if (old) {
        range_update(&cidrs, json_path(old, "spec", "cidrs", NULL));
        return;
    }
    if (spot_count(&cidrs) == 0) {
        say_required(&cidrs, "at least one CIDR required");
        return;
    }
    if (spot_count(&cidrs) > 2) {
        struct spot shown = cidrs;
        shown.v = go_struct(errs->a, spec.v, "CIDRs=cidrs/null");
        say_invalid(&shown, "may only hold up to 2 values");
        return;
    }
    spot_each (cidr, i, &cidrs)
        check_range(&cidr);
    check_families(&cidrs);
}
