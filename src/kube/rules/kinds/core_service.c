/* SPDX-License-Identifier: Apache-2.0 */
/* Services and Endpoints. */
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/kinds/services.h"
#include "kube/rules/validate/validate.h"

enum { CELL_TEXT_MAX = 16 * 1024, ENDPOINTS_SHOWN = 3 };

static void add_piece(struct buf *b, const char *separator)
{
    if (b->n)
        (void)buf_add_cstr(b, separator);
}

static void add_strings(struct buf *b, const struct json *list)
{
    json_each (v, list) {
        add_piece(b, ",");
        (void)buf_add_str(b, json_str(v));
    }
}

static struct str ingress_address(const struct json *ingress)
{
    struct str ip = json_get_str(ingress, "ip");
    return ip.n ? ip : json_get_str(ingress, "hostname");
}

/* Addresses of the load balancer, sorted, without duplicates. */
static void add_ingress(struct buf *b, const struct json *svc)
{
    const struct json *list = json_path(svc, "status", "loadBalancer", "ingress", NULL);
    struct str last = STR("");
    for (;;) {
        struct str best = STR("");
        json_each (in, list) {
            struct str at = ingress_address(in);
            if (at.n && str_cmp(at, last) > 0 && (best.n == 0 || str_cmp(at, best) < 0))
                best = at;
        }
        if (best.n == 0)
            return;
        add_piece(b, ",");
        (void)buf_add_str(b, best);
        last = best;
    }
}

static void row_external(struct kind_row *r)
{
    const struct json *spec = json_getc(r->obj, "spec");
    struct str type = json_get_str(spec, "type");
    struct buf b = BUF_INIT(CELL_TEXT_MAX);
    bool balanced = str_is(type, "LoadBalancer");
    if (str_is(type, "ExternalName")) {
        row_str(r, json_get_str(spec, "externalName"));
        return;
    }
    if (balanced)
        add_ingress(&b, r->obj);
    add_strings(&b, json_getc(spec, "externalIPs"));
    row_or(r, buf_str(&b), balanced ? "<pending>" : "<none>");
    buf_fini(&b);
}

static void row_ports(struct kind_row *r)
{
    struct buf b = BUF_INIT(CELL_TEXT_MAX);
    json_each (p, json_path(r->obj, "spec", "ports", NULL)) {
        struct str protocol = json_get_str(p, "protocol");
        int64_t node_port = row_num(p, "nodePort");
        add_piece(&b, ",");
        (void)buf_printf(&b, "%lld", (long long)row_num(p, "port"));
        if (node_port > 0)
            (void)buf_printf(&b, ":%lld", (long long)node_port);
        (void)buf_printf(&b, "/" STR_FMT, STR_ARG(protocol));
    }
    row_or(r, buf_str(&b), "<none>");
    buf_fini(&b);
}

static void service_cells(struct arena *a, const struct json *svc, int64_t now_s,
                          struct json *cells)
{
    struct kind_row r = { a, cells, svc, now_s };
    const struct json *spec = json_getc(svc, "spec");
    const struct json *ips = json_getc(spec, "clusterIPs");
    row_name(&r);
    row_str(&r, json_get_str(spec, "type"));
    row_or(&r, json_str(json_first(ips)), "<none>");
    row_external(&r);
    row_ports(&r);
    row_age(&r);
    row_labels(&r, json_getc(spec, "selector"));
}

static const struct kube_column service_columns[] = {
    COLUMN_NAME,
    COLUMN("Type", "string", "How the service is reached.", 0, NULL),
    COLUMN("Cluster-IP", "string", "Its address in the cluster, or None.", 0, NULL),
    COLUMN("External-IP", "string", "Its addresses outside.", 0, NULL),
    COLUMN("Port(s)", "string", "Its ports, with the nodes' behind a colon.", 0, NULL),
    COLUMN_AGE,
    COLUMN("Selector", "string", "Labels of the pods that serve it.", 1, NULL),
};

static void service_prepare_create(struct arena *a, struct json *svc)
{
    service_normalize_ips(a, svc, NULL);
}

static void service_prepare_update(struct arena *a, struct json *svc, const struct json *old)
{
    service_keep_allocated(a, svc, old);
    service_normalize_ips(a, svc, old);
}

static void service_warn(struct arena *a, const struct json *svc, const struct json *old,
                         void (*say)(void *arg, struct str text), void *arg)
{
    const struct json *spec = json_getc(svc, "spec");
    (void)a;
    (void)old;
    if (json_get_str(spec, "externalName").n && !str_is(json_get_str(spec, "type"), "ExternalName"))
        say(arg, STR("spec.externalName is ignored when spec.type is not \"ExternalName\""));
}

static const struct kube_subresource service_subresources[] = {
    { .name = S("proxy"),
      .verbs = KUBE_CREATE | KUBE_DELETE | KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("ServiceProxyOptions") },
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("Service") },
};

/* ------------------------------------------------------------------ Endpoints */

static void add_endpoints(struct buf *b, const struct json *subset, const struct json *port,
                          int64_t *n)
{
    json_each (at, json_getc(subset, "addresses")) {
        struct str ip = json_get_str(at, "ip");
        bool v6 = str_find_char(ip, ':') >= 0;
        if ((*n)++ >= ENDPOINTS_SHOWN)
            continue;
        add_piece(b, ",");
        if (port)
            (void)buf_printf(b, "%s" STR_FMT "%s:%lld", v6 ? "[" : "", STR_ARG(ip), v6 ? "]" : "",
                             (long long)row_num(port, "port"));
        else
            (void)buf_add_str(b, ip);
    }
}

static void endpoints_cells(struct arena *a, const struct json *obj, int64_t now_s,
                            struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    struct buf b = BUF_INIT(CELL_TEXT_MAX);
    const struct json *subsets = json_getc(obj, "subsets");
    int64_t n = 0;
    json_each (subset, subsets) {
        const struct json *ports = json_getc(subset, "ports");
        if (row_count(ports) == 0)
            add_endpoints(&b, subset, NULL, &n);
        json_each (port, ports)
            add_endpoints(&b, subset, port, &n);
    }
    if (n > ENDPOINTS_SHOWN)
        (void)buf_printf(&b, " + %lld more...", (long long)n - ENDPOINTS_SHOWN);
    row_name(&r);
    if (row_count(subsets))
        row_str(&r, buf_str(&b));
    else
        row_str(&r, STR("<none>"));
    row_age(&r);
    buf_fini(&b);
}

static const struct kube_column endpoints_columns[] = {
    COLUMN_NAME,
    COLUMN("Endpoints", "string", "Addresses that serve it.", 0, NULL),
    COLUMN_AGE,
};

/* ------------------------------------------------------------------ rows */

static const struct kube_strategy service_strategy = { .warn = service_warn,
                                                       .prepare_create = service_prepare_create,
                                                       .prepare_update = service_prepare_update,
                                                       .validate = validate_service,
                                                       .name_rule = KUBE_NAME_LABEL,
                                                       .returns_deleted = true,
                                                       .create_on_update = true,
                                                       .unconditional_update = true };
static const struct kube_strategy endpoints_strategy = { .validate = validate_endpoints,
                                                         .create_on_update = true,
                                                         .unconditional_update = true };

static struct kube_resource rows[] = {
    { .version = S("v1"),
      .kind = S("Service"),
      .list_kind = S("ServiceList"),
      .plural = S("services"),
      .singular = S("service"),
      SHORT(S("svc")),
      CATEGORY(S("all")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(service_subresources),
      .strategy = &service_strategy,
      COLUMNS(service_columns),
      .cells = service_cells,
      SELECT(S("spec.clusterIP"), S("spec.type")) },
    { .version = S("v1"),
      .kind = S("Endpoints"),
      .list_kind = S("EndpointsList"),
      .plural = S("endpoints"),
      .singular = S("endpoints"),
      SHORT(S("ep")),
      .namespaced = true,
      .verbs = KUBE_VERBS_ALL,
      .strategy = &endpoints_strategy,
      COLUMNS(endpoints_columns),
      .cells = endpoints_cells,
      .deprecation = S("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 "
                       "EndpointSlice") },
};

const struct kind_list kinds_core_service = { rows, ARRAY_LEN(rows) };
