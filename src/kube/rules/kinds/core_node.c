/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, and ComponentStatuses, whose list is always empty. */
#include "kube/rules/kinds/kinds.h"
#include "kube/rules/kinds/row.h"
#include "kube/rules/validate/validate.h"

#define ROLE_PREFIX "node-role.kubernetes.io/"
#define ROLE_LABEL  "kubernetes.io/role"

static struct str role_of(const struct json *label)
{
    if (str_has_prefix(label->key, STR(ROLE_PREFIX)))
        return str_slice(label->key, sizeof ROLE_PREFIX - 1, label->key.n);
    return str_is(label->key, ROLE_LABEL) ? json_str(label) : STR("");
}

static void row_roles(struct kind_row *r)
{
    const struct json *labels = json_path(r->obj, "metadata", "labels", NULL);
    struct buf b = BUF_INIT(4096);
    struct str last = STR("");
    for (;;) { /* sorted, without duplicates */
        struct str best = STR("");
        json_each (l, labels) {
            struct str role = role_of(l);
            if (str_cmp(role, last) > 0 && (best.n == 0 || str_cmp(role, best) < 0))
                best = role;
        }
        if (best.n == 0)
            break;
        (void)buf_printf(&b, "%s" STR_FMT, b.n ? "," : "", STR_ARG(best));
        last = best;
    }
    row_or(r, buf_str(&b), "<none>");
    buf_fini(&b);
}

static void row_node_status(struct kind_row *r)
{
    const struct json *conditions = json_path(r->obj, "status", "conditions", NULL);
    const char *ready = "Unknown";
    json_each (c, conditions)
        if (str_is(json_get_str(c, "type"), "Ready"))
            ready = str_is(json_get_str(c, "status"), "True") ? "Ready" : "NotReady";
    bool closed = json_bool(json_path(r->obj, "spec", "unschedulable", NULL));
    row_printf(r, "%s%s", ready, closed ? ",SchedulingDisabled" : "");
}

static void row_address(struct kind_row *r, const char *type)
{
    json_each (at, json_path(r->obj, "status", "addresses", NULL)) {
        if (str_is(json_get_str(at, "type"), type)) {
            row_str(r, json_get_str(at, "address"));
            return;
        }
    }
    row_str(r, STR("<none>"));
}

/* "6.1.0 (amd64)" */
static void row_kernel(struct kind_row *r, const struct json *info)
{
    struct str version = json_get_str(info, "kernelVersion"),
               machine = json_get_str(info, "architecture");
    row_printf(r, STR_FMT "%s" STR_FMT "%s", STR_ARG(version.n ? version : STR("<unknown>")),
               machine.n ? " (" : "", STR_ARG(machine), machine.n ? ")" : "");
}

static void node_cells(struct arena *a, const struct json *node, int64_t now_s, struct json *cells)
{
    struct kind_row r = { a, cells, node, now_s };
    const struct json *info = json_path(node, "status", "nodeInfo", NULL);
    row_name(&r);
    row_node_status(&r);
    row_roles(&r);
    row_age(&r);
    row_str(&r, json_get_str(info, "kubeletVersion"));
    row_address(&r, "InternalIP");
    row_address(&r, "ExternalIP");
    row_or(&r, json_get_str(info, "osImage"), "<unknown>");
    row_kernel(&r, info);
    row_or(&r, json_get_str(info, "containerRuntimeVersion"), "<unknown>");
}

static const struct kube_column node_columns[] = {
    COLUMN_NAME,
    COLUMN("Status", "string", "Whether pods can run there.", 0, NULL),
    COLUMN("Roles", "string", "What the node is for, from its labels.", 0, NULL),
    COLUMN_AGE,
    COLUMN("Version", "string", "Version of the node agent.", 0, NULL),
    COLUMN("Internal-IP", "string", "Address in the cluster.", 1, NULL),
    COLUMN("External-IP", "string", "Address outside.", 1, NULL),
    COLUMN("OS-Image", "string", "Operating system.", 1, NULL),
    COLUMN("Kernel-Version", "string", "Kernel.", 1, NULL),
    COLUMN("Container-Runtime", "string", "What runs the containers.", 1, NULL),
};

static const struct kube_subresource node_subresources[] = {
    { .name = S("proxy"),
      .verbs = KUBE_CREATE | KUBE_DELETE | KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("NodeProxyOptions") },
    { .name = S("status"),
      .verbs = KUBE_GET | KUBE_PATCH | KUBE_UPDATE,
      .version = S("v1"),
      .kind = S("Node") },
};

static void node_warn(struct arena *a, const struct json *node, const struct json *old,
                      void (*say)(void *arg, struct str text), void *arg)
{
    (void)a;
    (void)old;
    if (json_path(node, "spec", "externalID", NULL))
        say(arg, STR("spec.externalID: this field is deprecated, and is unused by Kubernetes"));
}

/* Upstream has dropped dynamic configuration; an old object keeps its value. */
static void node_prepare_create(struct arena *a, struct json *node)
{
    (void)a;
    (void)json_del(json_getc(node, "spec"), STR("configSource"));
}

static void node_prepare_update(struct arena *a, struct json *node, const struct json *old)
{
    if (!json_path(old, "spec", "configSource", NULL))
        node_prepare_create(a, node);
}

/* A kubelet registers its node with its status. */
static const struct kube_strategy node_strategy = { .prepare_create = node_prepare_create,
                                                    .prepare_update = node_prepare_update,
                                                    .warn = node_warn,
                                                    .validate = validate_node,
                                                    .keeps_status = true,
                                                    .unconditional_update = true };

static void component_cells(struct arena *a, const struct json *obj, int64_t now_s,
                            struct json *cells)
{
    struct kind_row r = { a, cells, obj, now_s };
    const struct json *healthy = NULL;
    json_each (c, json_getc(obj, "conditions"))
        if (str_is(json_get_str(c, "type"), "Healthy"))
            healthy = c;
    bool well = str_is(json_get_str(healthy, "status"), "True");
    row_name(&r);
    row_str(&r, !healthy ? STR("Unknown") : well ? STR("Healthy") : STR("Unhealthy"));
    row_str(&r, json_get_str(healthy, "message"));
    row_str(&r, json_get_str(healthy, "error"));
}

static const struct kube_column component_columns[] = {
    COLUMN_NAME,
    COLUMN("Status", "string", "Healthy or not.", 0, NULL),
    COLUMN("Message", "string", "What the component says.", 0, NULL),
    COLUMN("Error", "string", "What went wrong.", 0, NULL),
};

static const struct kube_strategy component_strategy = { 0 };

static struct kube_resource rows[] = {
    { .version = S("v1"),
      .kind = S("Node"),
      .list_kind = S("NodeList"),
      .plural = S("nodes"),
      .singular = S("node"),
      SHORT(S("no")),
      .verbs = KUBE_VERBS_ALL,
      SUBRESOURCES(node_subresources),
      .strategy = &node_strategy,
      COLUMNS(node_columns),
      .cells = node_cells,
      SELECT(S("spec.unschedulable")) },
    { .version = S("v1"),
      .kind = S("ComponentStatus"),
      .list_kind = S("ComponentStatusList"),
      .plural = S("componentstatuses"),
      .singular = S("componentstatus"),
      SHORT(S("cs")),
      .verbs = KUBE_GET | KUBE_LIST,
      .strategy = &component_strategy,
      COLUMNS(component_columns),
      .cells = component_cells,
      .deprecation = S("v1 ComponentStatus is deprecated in v1.19+") },
};

const struct kind_list kinds_core_node = { rows, ARRAY_LEN(rows) };
