/* SPDX-License-Identifier: Apache-2.0 */
/* A node's objects as JSON; see node_object.h. */
#include "agent/registration/node_object.h"

#include "agent/registration/shortage.h"
#include "base/clock.h"
#include "base/version.h"
#include "kube/model/builtin_tables.h"
#include "kube/model/quantity.h"

#include <assert.h>

#define HOSTNAME_LABEL "kubernetes.io/hostname"

/* ---------------------------------------------------------------- conditions */

static const struct {
    const char *type, *reason_true, *message_true, *reason_false, *message_false;
} conditions[NODE_OBJECT_CONDITIONS] = {
    [NODE_OBJECT_MEMORY_PRESSURE] = { "MemoryPressure", "KubeletHasInsufficientMemory",
                                      "kubelet has insufficient memory available",
                                      "KubeletHasSufficientMemory",
                                      "kubelet has sufficient memory available" },
    [NODE_OBJECT_DISK_PRESSURE] = { "DiskPressure", "KubeletHasDiskPressure",
                                    "kubelet has disk pressure", "KubeletHasNoDiskPressure",
                                    "kubelet has no disk pressure" },
    [NODE_OBJECT_PID_PRESSURE] = { "PIDPressure", "KubeletHasInsufficientPID",
                                   "kubelet has insufficient PID available",
                                   "KubeletHasSufficientPID",
                                   "kubelet has sufficient PID available" },
    [NODE_OBJECT_READY] = { "Ready", "KubeletReady", "kubelet is posting ready status",
                            "KubeletNotReady", "" },
};

const char *node_object_event(enum node_object_condition c, bool is_true)
{
    static const char *const reasons[NODE_OBJECT_CONDITIONS][2] = {
        [NODE_OBJECT_MEMORY_PRESSURE] = { "NodeHasSufficientMemory", "NodeHasInsufficientMemory" },
        [NODE_OBJECT_DISK_PRESSURE] = { "NodeHasNoDiskPressure", "NodeHasDiskPressure" },
        [NODE_OBJECT_PID_PRESSURE] = { "NodeHasSufficientPID", "NodeHasInsufficientPID" },
        [NODE_OBJECT_READY] = { "NodeNotReady", "NodeReady" },
    };
    return reasons[c][is_true];
}

bool node_object_set(struct node_object_state *state, bool is_true, int64_t now_s)
{
    if (state->since_s && state->is_true == is_true)
        return false;
    *state = (struct node_object_state){ is_true, MAX(now_s, (int64_t)1) };
    return true;
}

void node_object_take_states(const struct json *node, struct node_object_state *states)
{
    json_each (c, json_path(node, "status", "conditions", NULL)) {
        for (unsigned i = 0; i < NODE_OBJECT_CONDITIONS; i++) {
            int64_t us;
            struct str status = json_get_str(c, "status");
            if (!str_is(json_get_str(c, "type"), conditions[i].type) ||
                (!str_is(status, "True") && !str_is(status, "False")) ||
                rfc3339_parse(json_get_str(c, "lastTransitionTime"), &us) < 0 || us < 1000000)
                continue;
            states[i] = (struct node_object_state){ str_is(status, "True"), us / 1000000 };
        }
    }
}

bool node_object_differs(const struct json *node, const struct node_object_state *states)
{
    json_each (c, json_path(node, "status", "conditions", NULL))
        for (unsigned i = 0; i < NODE_OBJECT_CONDITIONS; i++)
            if (str_is(json_get_str(c, "type"), conditions[i].type) &&
                !str_is(json_get_str(c, "status"), states[i].is_true ? "True" : "False"))
                return true;
    return false;
}

static struct json *condition_list(struct arena *a, const struct node_object *n)
{
    struct json *list = json_new_array(a);
    for (unsigned i = 0; i < NODE_OBJECT_CONDITIONS; i++) {
        char since[RFC3339_MAX];
        const struct node_object_state *s = &n->states[i];
        struct json *c = json_new_object(a);
        const char *message = s->is_true ? conditions[i].message_true : conditions[i].message_false;
        if (i == NODE_OBJECT_READY && !s->is_true)
            message = n->not_ready ? n->not_ready : "";
        rfc3339_format(s->since_s, since);
        json_set_str(a, c, "type", str_of(conditions[i].type));
        json_set_str(a, c, "status", s->is_true ? STR("True") : STR("False"));
        json_set_str(a, c, "lastTransitionTime", str_of(since));
        json_set_str(a, c, "reason",
                     str_of(s->is_true ? conditions[i].reason_true : conditions[i].reason_false));
        json_set_str(a, c, "message", str_of(message));
        json_add(list, c);
    }
    return list;
}

/* ---------------------------------------------------------------- resources */

static void set_quantity(struct arena *a, struct json *obj, const char *name, uint64_t milli,
                         enum quantity_format format)
{
    const struct quantity q = { (__int128)milli * 1000000, format };
    json_set_str(a, obj, name, quantity_text(a, q));
}

static void set_bytes(struct arena *a, struct json *obj, const char *name, uint64_t bytes)
{
    const struct quantity q = { (__int128)MIN(bytes, (uint64_t)INT64_MAX / 2) * 1000000000,
                                QUANTITY_BINARY_SI };
    json_set_str(a, obj, name, quantity_text(a, q));
}

static uint64_t less(uint64_t from, uint64_t by)
{
    return from - MIN(from, by);
}

static const char *hugepages_name(struct arena *a, uint64_t bytes)
{
    const struct quantity q = { (__int128)bytes * 1000000000, QUANTITY_BINARY_SI };
    return arena_printf(a, "hugepages-" STR_FMT, STR_ARG(quantity_text(a, q)));
}

static void set_resources(struct arena *a, const struct node_object *n, struct json *status)
{
    struct json *all = json_obj(a, status, "capacity"), *left = json_obj(a, status, "allocatable");
    const struct registration_reserved *kept = &n->opts->reserved;
    const struct machine *m = n->machine;
    const struct shortage_value storage = { true, 0, n->storage_bytes };
    uint64_t cpu_milli = m->n_cpus * 1000, huge = 0;
    uint64_t pods = n->opts->max_pods ? n->opts->max_pods : (uint64_t)REGISTRATION_PODS_DEFAULT;
    for (size_t i = 0; i < m->n_hugepages; i++)
        huge += m->hugepages[i].total_bytes;
    set_quantity(a, all, "cpu", cpu_milli, QUANTITY_DECIMAL_SI);
    set_quantity(a, left, "cpu", less(cpu_milli, kept->cpu_milli), QUANTITY_DECIMAL_SI);
    set_bytes(a, all, "ephemeral-storage", n->storage_bytes);
    set_bytes(
        a, left, "ephemeral-storage",
        less(n->storage_bytes, kept->storage_bytes + shortage_minimum(SHORTAGE_NODEFS, &storage)));
    for (size_t i = 0; i < m->n_hugepages; i++) {
        const char *name = hugepages_name(a, m->hugepages[i].size_bytes);
        set_bytes(a, all, name, m->hugepages[i].total_bytes);
        set_bytes(a, left, name, m->hugepages[i].total_bytes);
    }
    set_bytes(a, all, "memory", m->memory_bytes);
    set_bytes(a, left, "memory",
              less(m->memory_bytes, kept->memory_bytes + SHORTAGE_MEMORY_MIN_BYTES + huge));
    set_quantity(a, all, "pods", pods * 1000, QUANTITY_DECIMAL_SI);
    set_quantity(a, left, "pods", pods * 1000, QUANTITY_DECIMAL_SI);
}

/* ---------------------------------------------------------------- the rest of the status */

static struct json *address_list(struct arena *a, const struct node_object *n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i <= n->n_addresses; i++) {
        bool is_name = i == n->n_addresses;
        struct json *one = json_new_object(a);
        json_set_str(a, one, "type", is_name ? STR("Hostname") : STR("InternalIP"));
        json_set_str(a, one, "address", str_of(is_name ? n->opts->node_name : n->addresses[i]));
        json_add(list, one);
    }
    return list;
}

const char *node_object_version(struct arena *a)
{
    /* "v0.36.3": of the k8s.io/api module that the kinds were made from. A version has one '+'. */
    char *text = arena_printf(a, "v1.%s+dormouse-%s", builtin_api_version + 3, version_text());
    for (char *c = strchr(text, '+') + 1; *c; c++)
        if (*c == '+')
            *c = '.';
    return text;
}

static void set_info(struct arena *a, const struct node_object *n, struct json *status)
{
    struct json *info = json_obj(a, status, "nodeInfo");
    const struct machine *m = n->machine;
    const char *runtime = n->opts->runtime;
    json_set_str(a, info, "machineID", m->machine_id);
    json_set_str(a, info, "systemUUID", m->system_uuid);
    json_set_str(a, info, "bootID", m->boot_id);
    json_set_str(a, info, "kernelVersion", m->kernel);
    json_set_str(a, info, "osImage", m->os_image);
    json_set_str(a, info, "containerRuntimeVersion",
                 str_of(runtime ? runtime : arena_printf(a, "dormouse://%s", version_text())));
    json_set_str(a, info, "kubeletVersion", str_of(node_object_version(a)));
    json_set_str(a, info, "kubeProxyVersion", STR(""));
    json_set_str(a, info, "operatingSystem", STR("linux"));
    json_set_str(a, info, "architecture", str_of(machine_arch()));
    if (m->swap_bytes && m->swap_bytes <= INT64_MAX)
        json_set_int(a, json_obj(a, info, "swap"), "capacity", (int64_t)m->swap_bytes);
}

static struct json *image_list(struct arena *a, const struct node_object *n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < MIN(n->n_images, (size_t)REGISTRATION_IMAGES_MAX); i++) {
        const struct registration_image *image = &n->images[i];
        struct json *one = json_new_object(a), *names = json_new_array(a);
        for (size_t k = 0; k < MIN(image->n_names, (size_t)REGISTRATION_IMAGE_NAMES_MAX); k++)
            json_add(names, json_new_str(a, image->names[k]));
        json_setc(a, one, "names", names);
        json_set_int(a, one, "sizeBytes", (int64_t)MIN(image->size_bytes, (uint64_t)INT64_MAX));
        json_add(list, one);
    }
    return list;
}

struct json *node_object_status(struct arena *a, const struct node_object *n)
{
    struct json *status = json_new_object(a);
    set_resources(a, n, status);
    json_setc(a, status, "conditions", condition_list(a, n));
    json_setc(a, status, "addresses", address_list(a, n));
    if (n->opts->kubelet_port)
        json_set_int(a, json_obj(a, json_obj(a, status, "daemonEndpoints"), "kubeletEndpoint"),
                     "Port", n->opts->kubelet_port);
    set_info(a, n, status);
    json_setc(a, status, "images", image_list(a, n));
    return status;
}

static void add_heartbeats(struct arena *a, struct json *status, int64_t now_s)
{
    char now[RFC3339_MAX];
    rfc3339_format(now_s, now);
    json_each (c, json_getc(status, "conditions"))
        json_set_str(a, c, "lastHeartbeatTime", str_of(now));
}

struct json *node_object_patch(struct arena *a, struct json *status, int64_t now_s)
{
    struct json *patch = json_new_object(a), *addresses = json_getc(status, "addresses");
    struct json *replace = json_new_object(a);
    add_heartbeats(a, status, now_s);
    /* Addresses are merged by their type, so that two InternalIPs become one without this. */
    json_set_str(a, replace, "$patch", STR("replace"));
    assert(json_is(addresses, JSON_ARRAY));
    json_insert_before(addresses, json_first(addresses), replace);
    json_setc(a, patch, "status", status);
    return patch;
}

/* ---------------------------------------------------------------- the Node */

/* Labels that describe the machine; `to` gets them. */
static void set_machine_labels(struct arena *a, const struct node_object *n, struct json *to)
{
    static const char *const prefixes[] = { "", "beta." };
    json_set_str(a, to, HOSTNAME_LABEL, str_of(n->opts->node_name));
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        json_set_str(a, to, arena_printf(a, "%skubernetes.io/os", prefixes[i]), STR("linux"));
        json_set_str(a, to, arena_printf(a, "%skubernetes.io/arch", prefixes[i]),
                     str_of(machine_arch()));
    }
}

static struct json *taint_list(struct arena *a, const struct node_object *n)
{
    struct json *list = json_new_array(a);
    for (size_t i = 0; i < n->opts->n_taints; i++) {
        const struct registration_taint *t = &n->opts->taints[i];
        struct json *one = json_new_object(a);
        json_set_str(a, one, "key", t->key);
        if (t->value.n)
            json_set_str(a, one, "value", t->value);
        json_set_str(a, one, "effect", t->effect);
        json_add(list, one);
    }
    return list;
}

struct json *node_object_new(struct arena *a, const struct node_object *n, int64_t now_s)
{
    struct json *node = json_new_object(a), *meta = json_obj(a, node, "metadata");
    struct json *labels = json_obj(a, meta, "labels"), *status = node_object_status(a, n);
    json_set_str(a, node, "apiVersion", STR("v1"));
    json_set_str(a, node, "kind", STR("Node"));
    json_set_str(a, meta, "name", str_of(n->opts->node_name));
    set_machine_labels(a, n, labels);
    for (size_t i = 0; i < n->opts->n_labels; i++)
        json_set(a, labels, n->opts->labels[i].key, json_new_str(a, n->opts->labels[i].value));
    if (n->opts->n_taints)
        json_setc(a, json_obj(a, node, "spec"), "taints", taint_list(a, n));
    add_heartbeats(a, status, now_s);
    json_setc(a, node, "status", status);
    return node;
}

struct json *node_object_adopt(struct arena *a, const struct node_object *n,
                               const struct json *node)
{
    struct json *wanted = json_new_object(a), *patch = json_new_object(a);
    struct json *labels = json_obj(a, json_obj(a, patch, "metadata"), "labels");
    const struct json *have = json_path(node, "metadata", "labels", NULL);
    set_machine_labels(a, n, wanted);
    for (size_t i = 0; i < n->opts->n_labels; i++) /* the user's word about the machine counts */
        if (json_get(wanted, n->opts->labels[i].key))
            json_set(a, wanted, n->opts->labels[i].key, json_new_str(a, n->opts->labels[i].value));
    json_each (label, wanted)
        if (!str_eq(json_str(json_get(have, label->key)), json_str(label)))
            json_set(a, labels, label->key, json_new_str(a, json_str(label)));
    return labels->n ? patch : NULL;
}

/* "vendor.example/gpu": a domain that is not Kubernetes' own. */
static bool is_extended(struct str name)
{
    struct str domain, rest;
    return str_cut(name, '/', &domain, &rest) && !str_is(domain, "kubernetes.io") &&
           !str_has_suffix(domain, STR(".kubernetes.io")) &&
           !str_has_prefix(name, STR("requests."));
}

static bool zero_extended(struct arena *a, const struct json *node, const char *list,
                          struct json *status)
{
    bool is_any = false;
    json_each (v, json_path(node, "status", list, NULL)) {
        if (!is_extended(v->key) || str_is(json_str(v), "0"))
            continue;
        json_set(a, json_obj(a, status, list), v->key, json_new_cstr(a, "0"));
        is_any = true;
    }
    return is_any;
}

struct json *node_object_adopt_status(struct arena *a, const struct json *node)
{
    struct json *patch = json_new_object(a), *status = json_obj(a, patch, "status");
    bool is_any = zero_extended(a, node, "capacity", status);
    is_any |= zero_extended(a, node, "allocatable", status);
    return is_any ? patch : NULL;
}

/* ---------------------------------------------------------------- the Lease */

struct json *node_object_renewal(struct arena *a, const char *name, uint32_t lease_s,
                                 int64_t now_us)
{
    char now[RFC3339_MAX];
    struct json *lease = json_new_object(a), *spec = json_obj(a, lease, "spec");
    rfc3339_format_us(now_us, now);
    json_set_str(a, spec, "holderIdentity", str_of(name));
    json_set_int(a, spec, "leaseDurationSeconds", lease_s);
    json_set_str(a, spec, "renewTime", str_of(now));
    return lease;
}

struct json *node_object_lease(struct arena *a, const char *name, struct str uid, uint32_t lease_s,
                               int64_t now_us)
{
    struct json *lease = node_object_renewal(a, name, lease_s, now_us);
    struct json *meta = json_obj(a, lease, "metadata"), *owners = json_new_array(a);
    struct json *owner = json_new_object(a);
    json_set_str(a, lease, "apiVersion", STR("coordination.k8s.io/v1"));
    json_set_str(a, lease, "kind", STR("Lease"));
    json_set_str(a, meta, "name", str_of(name));
    json_set_str(a, meta, "namespace", STR("kube-node-lease"));
    json_set_str(a, owner, "apiVersion", STR("v1"));
    json_set_str(a, owner, "kind", STR("Node"));
    json_set_str(a, owner, "name", str_of(name));
    json_set_str(a, owner, "uid", uid);
    json_add(owners, owner);
    json_setc(a, meta, "ownerReferences", owners);
    return lease;
}
