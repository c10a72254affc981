/* SPDX-License-Identifier: Apache-2.0 */
/* networking.k8s.io: Ingresses and their classes, NetworkPolicies, IPAddresses and ServiceCIDRs. */
#include "kube/model/meta.h"
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/services.h"
#include "kube/rules/validate/validate.h"

#define GROUP "networking.k8s.io"

enum { HOSTS_MAX_SHOWN = 3 };

/* ---- Ingress ---- */

CELL(cell_ingress_class, "<none>", "spec", "ingressClassName")

static struct json *cell_hosts(struct arena *a, const struct json *obj, int64_t now_s)
{
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(1 << 20);
    size_t n = 0;
    (void)now_s;
    json_each (rule, json_path(obj, "spec", "rules", NULL)) {
        struct str host = json_get_str(rule, "host");
        if (host.n == 0)
            continue;
        if (n > 0 && n < HOSTS_MAX_SHOWN)
            (void)buf_add_char(&b, ',');
        if (n++ < HOSTS_MAX_SHOWN)
            (void)buf_add_str(&b, host);
    }
    if (n == 0)
        return json_new_cstr(a, "*");
    if (n > HOSTS_MAX_SHOWN)
        (void)buf_printf(&b, " + %zu more...", n - HOSTS_MAX_SHOWN);
    return json_new_str(a, buf_str(&b));
}

static int cmp_str(const void *x, const void *y)
{
    return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

/* Addresses of the load balancer, in order, without duplicates. */
static struct json *cell_address(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *list = json_path(obj, "status", "loadBalancer", "ingress", NULL);
    struct json *out = json_new_array(a);
    struct str *all = arena_new_n(a, struct str, list ? list->n + 1 : 1);
    size_t n = 0;
    (void)now_s;
    json_each (point, list) {
        struct str ip = json_get_str(point, "ip");
        all[n] = ip.n ? ip : json_get_str(point, "hostname");
        n += all[n].n > 0;
    }
    qsort(all, n, sizeof *all, cmp_str);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(all[i], all[i - 1]))
            json_add(out, json_new_str(a, all[i]));
    return kind_cell_join(a, out, "");
}

static struct json *cell_ingress_ports(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *tls = json_path(obj, "spec", "tls", NULL);
    (void)now_s;
    return json_new_cstr(a, json_first(tls) ? "80, 443" : "80");
}

static const struct kube_column ingress_columns[] = {
    COLUMN_NAME,
    COLUMN("Class", "string", "Class of the controller that implements it.", 0, cell_ingress_class),
    COLUMN("Hosts", "string", "Hosts that requests are matched against.", 0, cell_hosts),
    COLUMN("Address", "string", "Where the load balancer can be reached.", 0, cell_address),
    COLUMN("Ports", "string", "Ports that are open.", 0, cell_ingress_ports),
    COLUMN_AGE,
};

static const struct kube_subresource ingress_subresources[] = { SUBRESOURCE_STATUS(GROUP,
                                                                                   "Ingress") };

static const struct kube_strategy ingress_strategy = { .validate = validate_ingress,
                                                       .prepare_create = kind_reset_status,
                                                       .has_generation = true,
                                                       .unconditional_update = true };

/* ---- IngressClass ---- */

static void class_set_defaults(struct arena *a, struct json *obj)
{
    kind_default_str(a, json_path(obj, "spec", "parameters", NULL), "scope", "Cluster");
}

CELL(cell_controller, "", "spec", "controller")

static struct json *cell_class_name(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *notes = json_path(obj, "metadata", "annotations", NULL);
    bool is_default =
        str_is(json_get_str(notes, "ingressclass.kubernetes.io/is-default-class"), "true");
    (void)now_s;
    return json_new_cstr(
        a, arena_printf(a, STR_FMT "%s", STR_ARG(meta_name(obj)), is_default ? " (default)" : ""));
}

static struct json *cell_parameters(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *p = json_path(obj, "spec", "parameters", NULL);
    struct str group = json_get_str(p, "apiGroup");
    (void)now_s;
    if (!p)
        return json_new_cstr(a, "<none>");
    return json_new_cstr(a, arena_printf(a, STR_FMT "%s" STR_FMT "/" STR_FMT,
                                         STR_ARG(json_get_str(p, "kind")),
                                         json_getc(p, "apiGroup") ? "." : "", STR_ARG(group),
                                         STR_ARG(json_get_str(p, "name"))));
}

static const struct kube_column class_columns[] = {
    { .name = S("Name"),
      .type = S("string"),
      .format = S("name"),
      .description = S("Name of the class."),
      .cell = cell_class_name },
    COLUMN("Controller", "string", "Who implements ingresses of the class.", 0, cell_controller),
    COLUMN("Parameters", "string", "Object with further settings.", 0, cell_parameters),
    COLUMN_AGE,
};

static const struct kube_strategy class_strategy = { .validate = validate_ingress_class,
                                                     .set_defaults = class_set_defaults,
                                                     .has_generation = true,
                                                     .unconditional_update = true };

/* ---- NetworkPolicy ---- */

static void default_protocols(struct arena *a, struct json *rules)
{
    json_each (rule, rules) {
        json_each (port, json_getc(rule, "ports"))
            kind_default_str(a, port, "protocol", "TCP");
    }
}

static void policy_set_defaults(struct arena *a, struct json *obj)
{
    struct json *spec = json_getc(obj, "spec");
    default_protocols(a, json_getc(spec, "ingress"));
    default_protocols(a, json_getc(spec, "egress"));
    if (!spec || json_first(json_getc(spec, "policyTypes")))
        return;
    struct json *types = json_new_array(a);
    json_add(types, json_new_cstr(a, "Ingress"));
    if (json_first(json_getc(spec, "egress")))
        json_add(types, json_new_cstr(a, "Egress"));
    json_setc(a, spec, "policyTypes", types);
}

static struct json *cell_pod_selector(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_selector(a, json_path(obj, "spec", "podSelector", NULL));
}

static const struct kube_column policy_columns[] = {
    COLUMN_NAME,
    COLUMN("Pod-Selector", "string", "Pods that the policy is for.", 0, cell_pod_selector),
    COLUMN_AGE,
};

static const struct kube_strategy policy_strategy = { .validate = validate_network_policy,
                                                      .set_defaults = policy_set_defaults,
                                                      .has_generation = true,
                                                      .unconditional_update = true };

/* ---- IPAddress, ServiceCIDR ---- */

static struct json *cell_parent(struct arena *a, const struct json *obj, int64_t now_s)
{
    const struct json *ref = json_path(obj, "spec", "parentRef", NULL);
    struct str group = json_get_str(ref, "group"), ns = json_get_str(ref, "namespace");
    (void)now_s;
    if (!ref)
        return json_new_cstr(a, "<none>");
    const char *type = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(json_get_str(ref, "resource")),
                                    group.n ? "." : "", STR_ARG(group));
    return json_new_cstr(a, arena_printf(a, STR_FMT "/" STR_FMT "%s" STR_FMT,
                                         STR_ARG(str_lower_arena(a, str_of(type))), STR_ARG(ns),
                                         ns.n ? "/" : "", STR_ARG(json_get_str(ref, "name"))));
}

static struct json *cell_cidrs(struct arena *a, const struct json *obj, int64_t now_s)
{
    (void)now_s;
    return kind_cell_join(a, json_path(obj, "spec", "cidrs", NULL), "");
}

static const struct kube_column address_columns[] = {
    COLUMN_NAME,
    COLUMN("ParentRef", "string", "The object that has the address.", 0, cell_parent),
};

static const struct kube_column cidr_columns[] = {
    COLUMN_NAME,
    COLUMN("CIDRs", "string", "Ranges that addresses of Services are taken from.", 0, cell_cidrs),
    COLUMN_AGE,
};

static const struct kube_subresource cidr_subresources[] = { SUBRESOURCE_STATUS(GROUP,
                                                                                "ServiceCIDR") };

static const struct kube_strategy address_strategy = { .name_rule = KUBE_NAME_PATH_SEGMENT,
                                                       .unconditional_update = true };

/* The range that addresses are allocated from is ready at once; other ranges are only stored. */
static void cidr_prepare_create(struct arena *a, struct json *obj)
{
    kind_reset_status(a, obj);
    if (!str_is(meta_name(obj), "kubernetes") ||
        !str_is(json_str(json_first(json_path(obj, "spec", "cidrs", NULL))), SERVICES_CIDR))
        return;
    struct json *conditions = json_new_array(a), *ready = json_new_object(a);
    json_set_str(a, ready, "type", STR("Ready"));
    json_set_str(a, ready, "status", STR("True"));
    json_set_str(a, ready, "lastTransitionTime",
                 json_str(json_path(obj, "metadata", "creationTimestamp", NULL)));
    json_set_str(a, ready, "reason", STR(""));
    json_set_str(a, ready, "message", STR("Kubernetes default Service CIDR is ready"));
    json_add(conditions, ready);
    json_setc(a, json_obj(a, obj, "status"), "conditions", conditions);
}

static const struct kube_strategy cidr_strategy = { .prepare_create = cidr_prepare_create,
                                                    .unconditional_update = true,
                                                    .validate = validate_service_cidr,
                                                    .fixed_meta_in_status = true };

static struct kube_resource rows[] = {
    { NAMES(GROUP, "v1", "Ingress", "ingresses", "ingress"), SHORT(S("ing")), .namespaced = true,
      .verbs = KUBE_VERBS_ALL, SUBRESOURCES(ingress_subresources), .strategy = &ingress_strategy,
      COLUMNS(ingress_columns) },
    { NAMES(GROUP, "v1", "IngressClass", "ingressclasses", "ingressclass"), .verbs = KUBE_VERBS_ALL,
      .strategy = &class_strategy, COLUMNS(class_columns) },
    { NAMES(GROUP, "v1", "IPAddress", "ipaddresses", "ipaddress"), SHORT(S("ip")),
      .verbs = KUBE_VERBS_ALL, .strategy = &address_strategy, COLUMNS(address_columns) },
    { NAMES(GROUP, "v1", "NetworkPolicy", "networkpolicies", "networkpolicy"), SHORT(S("netpol")),
      .namespaced = true, .verbs = KUBE_VERBS_ALL, .strategy = &policy_strategy,
      COLUMNS(policy_columns) },
    { NAMES(GROUP, "v1", "ServiceCIDR", "servicecidrs", "servicecidr"), .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(cidr_subresources), .strategy = &cidr_strategy, COLUMNS(cidr_columns) },
};

const struct kind_list kinds_networking = { rows, ARRAY_LEN(rows) };
