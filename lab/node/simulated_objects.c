/* SPDX-License-Identifier: Apache-2.0 */
/* JSON of simulated nodes; see simulated_objects.h. */
#include "lab/node/simulated_objects.h"

#include "base/mem.h"
#include "kube/model/quantity.h"

#include <inttypes.h>

/* ---- reading options ---- */

int simulated_read_pair(struct str text, struct simulated_pair *ret, struct err *err)
{
    struct simulated_pair p;
    if (!str_cut(text, '=', &p.key, &p.value) || p.key.n == 0)
        return err_set(err, E_INVALID, "'" STR_FMT "' is not KEY=VALUE", STR_ARG(text));
    *ret = p;
    return 0;
}

int simulated_read_taint(struct str text, struct simulated_taint *ret, struct err *err)
{
    static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute" };
    struct simulated_taint t;
    struct str head;
    if (str_cut(text, ':', &head, &t.effect) && head.n) {
        (void)str_cut(head, '=', &t.key, &t.value);
        for (size_t i = 0; i < ARRAY_LEN(effects); i++)
            if (str_is(t.effect, effects[i]) && t.key.n) {
                *ret = t;
                return 0;
            }
    }
    return err_set(err, E_INVALID,
                   "'" STR_FMT "' is not KEY=VALUE:EFFECT with the effect NoSchedule, "
                   "PreferNoSchedule or NoExecute",
                   STR_ARG(text));
}

static int check_quantity(const char *what, struct str text, struct err *err)
{
    struct quantity q;
    int r = quantity_parse(text, &q, err);
    return r < 0 ? err_ctx(err, r, "%s '" STR_FMT "'", what, STR_ARG(text)) : 0;
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
              (s.p[i] == '-' && i > 0 && i + 1 < s.n)))
            return false;
    return s.n > 0 && s.n <= 50;
}

static int check_files(const struct simulated_spec *spec, struct err *err)
{
    for (size_t i = 0; i < spec->n_files; i++) {
        if (!str_is(json_get_str(spec->files[i], "kind"), "Node"))
            return err_set(err, E_INVALID, "object %zu of the file is no Node", i + 1);
        if (spec->n_files > 1 &&
            json_str(json_path(spec->files[i], "metadata", "name", NULL)).n == 0)
            return err_set(err, E_INVALID, "Node %zu of the file has no name", i + 1);
    }
    return 0;
}

int simulated_check(const struct simulated_spec *spec, struct err *err)
{
    int r = check_quantity("cpu", str_of(spec->cpu), err);
    if (r >= 0)
        r = check_quantity("memory", str_of(spec->memory), err);
    if (r >= 0)
        r = check_quantity("pods", str_of(spec->pods), err);
    for (size_t i = 0; r >= 0 && i < spec->n_resources; i++)
        r = check_quantity("resource", spec->resources[i].value, err);
    if (r >= 0)
        r = check_files(spec, err);
    if (r < 0)
        return r;
    if (!is_name(str_of(spec->prefix)))
        return err_set(err, E_INVALID,
                       "prefix '%s' is not lower case letters, digits and '-', at most 50",
                       spec->prefix);
    if (spec->n == 0 || spec->n > SIMULATED_NODES_MAX)
        return err_set(err, E_LIMIT, "%zu nodes are not between 1 and %d", spec->n,
                       SIMULATED_NODES_MAX);
    return 0;
}

/* ---- nodes ---- */

static bool is_as_it_is(const struct simulated_spec *spec)
{
    return spec->n_files > 1;
}

void simulated_node_name(const struct simulated_spec *spec, size_t i, struct buf *to)
{
    if (is_as_it_is(spec))
        (void)buf_add_str(to, json_str(json_path(spec->files[i], "metadata", "name", NULL)));
    else
        (void)buf_printf(to, "%s-%zu", spec->prefix, i);
}

/* Node number i has 10.x.y.0/24 for pods and an address of its own. */
static void add_host_ip(size_t i, struct buf *to)
{
    (void)buf_printf(to, "172.16.%zu.%zu", i >> 8 & 255, i & 255);
}

static void set_default(struct arena *a, struct json *obj, const char *key, struct str value)
{
    if (!json_getc(obj, key))
        json_set_str(a, obj, key, value);
}

static void set_meta(struct arena *a, const struct simulated_spec *spec, size_t i, struct str name,
                     struct json *node)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    struct json *meta = json_obj(a, node, "metadata");
    json_set_str(a, meta, "name", name);
    static const char *const servers[] = { "uid", "resourceVersion", "creationTimestamp",
                                           "managedFields" };
    for (size_t k = 0; k < ARRAY_LEN(servers); k++)
        (void)json_del(meta, str_of(servers[k]));
    struct json *labels = json_obj(a, meta, "labels");
    json_set_str(a, labels, "kubernetes.io/hostname", name);
    json_set_str(a, labels, SIMULATED_LABEL, str_of(spec->prefix));
    set_default(a, labels, "kubernetes.io/os", STR("linux"));
    set_default(a, labels, "kubernetes.io/arch", STR("amd64"));
    if (spec->zones > 0) {
        char *zone = spec->zones <= 26 ? arena_printf(a, "zone-%c", letters[i % spec->zones])
                                       : arena_printf(a, "zone-%zu", i % spec->zones);
        set_default(a, labels, "topology.kubernetes.io/zone", str_of(zone));
        set_default(a, labels, "topology.kubernetes.io/region", str_of(spec->region));
    }
    for (size_t k = 0; k < spec->n_labels; k++)
        json_set(a, labels, spec->labels[k].key, json_new_str(a, spec->labels[k].value));
}

static void set_spec(struct arena *a, const struct simulated_spec *spec, struct json *node)
{
    struct json *taints = json_getc(json_obj(a, node, "spec"), "taints");
    if (spec->n_taints && !taints) {
        taints = json_new_array(a);
        json_setc(a, json_obj(a, node, "spec"), "taints", taints);
    }
    for (size_t k = 0; k < spec->n_taints; k++) {
        const struct simulated_taint *t = &spec->taints[k];
        struct json *taint = json_new_object(a);
        json_set_str(a, taint, "key", t->key);
        if (t->value.n)
            json_set_str(a, taint, "value", t->value);
        json_set_str(a, taint, "effect", t->effect);
        json_add(taints, taint);
    }
}

static void set_resources(struct arena *a, const struct simulated_spec *spec, struct json *status)
{
    struct json *allocatable = json_getc(status, "allocatable");
    struct json *capacity = json_obj(a, status, "capacity");
    if (allocatable)
        json_each (q, allocatable)
            if (!json_get(capacity, q->key))
                json_set(a, capacity, q->key, json_clone(a, q));
    set_default(a, capacity, "cpu", str_of(spec->cpu));
    set_default(a, capacity, "memory", str_of(spec->memory));
    set_default(a, capacity, "pods", str_of(spec->pods));
    for (size_t k = 0; k < spec->n_resources; k++)
        json_set(a, capacity, spec->resources[k].key, json_new_str(a, spec->resources[k].value));
    allocatable = json_obj(a, status, "allocatable");
    json_each (q, capacity)
        if (!json_get(allocatable, q->key))
            json_set(a, allocatable, q->key, json_clone(a, q));
}

static const struct {
    const char *type, *status, *reason, *message;
} conditions[] = {
    { "MemoryPressure", "False", "KubeletHasSufficientMemory", "the node is simulated" },
    { "DiskPressure", "False", "KubeletHasNoDiskPressure", "the node is simulated" },
    { "PIDPressure", "False", "KubeletHasSufficientPID", "the node is simulated" },
    { "Ready", "True", "KubeletReady", "the node is simulated" },
};

static void add_condition(struct arena *a, struct json *list, size_t k, const char *now)
{
    struct json *c = json_new_object(a);
    json_set_str(a, c, "type", str_of(conditions[k].type));
    json_set_str(a, c, "status", str_of(conditions[k].status));
    json_set_str(a, c, "lastHeartbeatTime", str_of(now));
    json_set_str(a, c, "lastTransitionTime", str_of(now));
    json_set_str(a, c, "reason", str_of(conditions[k].reason));
    json_set_str(a, c, "message", str_of(conditions[k].message));
    json_add(list, c);
}

static void set_status(struct arena *a, const struct simulated_spec *spec, size_t i,
                       struct str name, const char *now, struct json *node)
{
    struct json *status = json_obj(a, node, "status");
    set_resources(a, spec, status);
    struct json *list = json_new_array(a);
    for (size_t k = 0; k < ARRAY_LEN(conditions); k++)
        add_condition(a, list, k, now);
    json_setc(a, status, "conditions", list);

    scoped(buf_fini_scoped) struct buf ip = BUF_INIT(64);
    add_host_ip(i, &ip);
    struct json *addresses = json_new_array(a);
    const struct simulated_pair pairs[] = { { STR("InternalIP"), buf_str(&ip) },
                                            { STR("Hostname"), name } };
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
        struct json *address = json_new_object(a);
        json_set_str(a, address, "type", pairs[k].key);
        json_set_str(a, address, "address", pairs[k].value);
        json_add(addresses, address);
    }
    json_setc(a, status, "addresses", addresses);

    struct json *info = json_obj(a, status, "nodeInfo");
    static const char *const facts[][2] = {
        { "architecture", "amd64" },
        { "operatingSystem", "linux" },
        { "osImage", "simulated" },
        { "kernelVersion", "simulated" },
        { "kubeletVersion", "v1.36.3" },
        { "kubeProxyVersion", "" },
        { "bootID", "" },
        { "containerRuntimeVersion", "simulated://1" },
        { "machineID", "" },
        { "systemUUID", "" },
    };
    for (size_t k = 0; k < ARRAY_LEN(facts); k++)
        set_default(a, info, facts[k][0], str_of(facts[k][1]));
}

void simulated_node(const struct simulated_spec *spec, size_t i, const char *now, struct buf *to)
{
    struct arena a = { 0 };
    scoped(buf_fini_scoped) struct buf name = BUF_INIT(512);
    simulated_node_name(spec, i, &name);
    struct json *node = spec->n_files ? json_clone(&a, spec->files[is_as_it_is(spec) ? i : 0])
                                      : json_new_object(&a);
    json_set_str(&a, node, "apiVersion", STR("v1"));
    json_set_str(&a, node, "kind", STR("Node"));
    set_meta(&a, spec, i, buf_str(&name), node);
    set_spec(&a, spec, node);
    set_status(&a, spec, i, buf_str(&name), now, node);
    (void)json_write(to, node);
    arena_fini(&a);
}

void simulated_node_ready(const char *now, struct buf *to)
{
    (void)buf_add_cstr(to, "{\"status\":{\"conditions\":[");
    for (size_t k = 0; k < ARRAY_LEN(conditions); k++)
        (void)buf_printf(to,
                         "%s{\"type\":\"%s\",\"status\":\"%s\",\"lastHeartbeatTime\":\"%s\","
                         "\"reason\":\"%s\",\"message\":\"%s\"}",
                         k ? "," : "", conditions[k].type, conditions[k].status, now,
                         conditions[k].reason, conditions[k].message);
    (void)buf_add_cstr(to, "]}}");
}

void simulated_node_untaint(unsigned place, struct buf *to)
{
    (void)buf_printf(to,
                     "[{\"op\":\"test\",\"path\":\"/spec/taints/%u/key\",\"value\":"
                     "\"" SIMULATED_NOT_READY "\"},{\"op\":\"remove\","
                     "\"path\":\"/spec/taints/%u\"}]",
                     place, place);
}

/* ---- leases ---- */

void simulated_lease(struct str name, struct str uid, const char *now, struct buf *to)
{
    (void)buf_printf(to,
                     "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                     "\"name\":\"" STR_FMT "\",\"namespace\":\"" SIMULATED_LEASES
                     "\",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\","
                     "\"name\":\"" STR_FMT "\",\"uid\":\"" STR_FMT "\"}]},\"spec\":{"
                     "\"holderIdentity\":\"" STR_FMT "\",\"leaseDurationSeconds\":%d,"
                     "\"renewTime\":\"%s\"}}",
                     STR_ARG(name), STR_ARG(name), STR_ARG(uid), STR_ARG(name), SIMULATED_LEASE_S,
                     now);
}

void simulated_lease_renewal(struct str name, const char *now, struct buf *to)
{
    (void)buf_printf(to,
                     "{\"spec\":{\"holderIdentity\":\"" STR_FMT "\",\"leaseDurationSeconds\":%d,"
                     "\"renewTime\":\"%s\"}}",
                     STR_ARG(name), SIMULATED_LEASE_S, now);
}

/* ---- pods ---- */

static size_t pack(char *to, size_t at, struct str s, struct str *ret)
{
    memcpy(to + at, s.p ? s.p : "", s.n);
    to[at + s.n] = '\0';
    *ret = (struct str){ to + at, s.n };
    return at + s.n + 1;
}

static char init_kind(const struct json *container)
{
    return str_is(json_get_str(container, "restartPolicy"), "Always") ? 's' : 'i';
}

static void pack_containers(const struct json *spec, struct buf *to, size_t *ret_n)
{
    static const char *const lists[] = { "initContainers", "containers" };
    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        json_each (c, json_getc(spec, lists[k])) {
            (void)buf_add_char(to, k ? 'c' : init_kind(c));
            (void)buf_add_str(to, json_get_str(c, "name"));
            (void)buf_add_char(to, '\0');
            (void)buf_add_str(to, json_get_str(c, "image"));
            (void)buf_add_char(to, '\0');
            ++*ret_n;
        }
}

struct simulated_pod *simulated_pod_new(const struct json *pod)
{
    const struct json *meta = json_getc(pod, "metadata"), *spec = json_getc(pod, "spec");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name"),
               uid = json_get_str(meta, "uid"), unused;
    scoped(buf_fini_scoped) struct buf containers = BUF_INIT(BUF_MAX_DEFAULT);
    size_t n = 0;
    pack_containers(spec, &containers, &n);
    struct simulated_pod *p =
        xalloc(sizeof *p + namespace.n + name.n + uid.n + 3 + containers.n + 1);
    char *text = (char *)(p + 1);
    size_t at = pack(text, 0, namespace, &p->namespace);
    at = pack(text, at, name, &p->name);
    at = pack(text, at, uid, &p->uid);
    (void)pack(text, at, buf_str(&containers), &unused);
    p->containers = unused.p;
    p->n_containers = n;
    p->is_on_host_network = json_bool(json_getc(spec, "hostNetwork"));
    return p;
}

static void add_container(const struct simulated_pod *p, const char *packed, const char *now,
                          struct buf *to)
{
    const char *name = packed + 1, *image = name + strlen(name) + 1;
    bool is_over = packed[0] == 'i';
    (void)buf_add_cstr(to, "{\"name\":");
    (void)json_write_str(to, str_of(name));
    (void)buf_add_cstr(to, ",\"image\":");
    (void)json_write_str(to, str_of(image));
    (void)buf_add_cstr(to, ",\"imageID\":");
    (void)json_write_str(to, str_of(image));
    (void)buf_printf(to, ",\"containerID\":\"simulated://" STR_FMT "/", STR_ARG(p->uid));
    (void)buf_add_cstr(to, name);
    (void)buf_printf(to, "\",\"ready\":true,\"started\":%s,\"restartCount\":0,\"state\":",
                     is_over ? "false" : "true");
    if (is_over)
        (void)buf_printf(to,
                         "{\"terminated\":{\"exitCode\":0,\"reason\":\"Completed\","
                         "\"startedAt\":\"%s\",\"finishedAt\":\"%s\"}}}",
                         now, now);
    else
        (void)buf_printf(to, "{\"running\":{\"startedAt\":\"%s\"}}}", now);
}

static void add_containers(const struct simulated_pod *p, bool init, const char *now,
                           struct buf *to)
{
    const char *at = p->containers;
    bool first = true;
    (void)buf_printf(to, ",\"%s\":[", init ? "initContainerStatuses" : "containerStatuses");
    for (size_t i = 0; i < p->n_containers; i++) {
        if ((at[0] != 'c') == init) {
            if (!first)
                (void)buf_add_char(to, ',');
            add_container(p, at, now, to);
            first = false;
        }
        at += strlen(at) + 1;
        at += strlen(at) + 1;
    }
    (void)buf_add_char(to, ']');
}

static void add_ips(const char *key, const char *ip, struct buf *to)
{
    (void)buf_printf(to, ",\"%sIP\":\"%s\",\"%sIPs\":[{\"ip\":\"%s\"}]", key, ip, key, ip);
}

void simulated_pod_running(const struct simulated_pod *p, size_t i, unsigned ip, const char *now,
                           struct buf *to)
{
    static const char *const types[] = { "PodReadyToStartContainers", "Initialized", "Ready",
                                         "ContainersReady" };
    scoped(buf_fini_scoped) struct buf host = BUF_INIT(64), own = BUF_INIT(64);
    add_host_ip(i, &host);
    (void)buf_printf(&own, "10.%zu.%zu.%u", i >> 8 & 255, i & 255, 2 + ip % 252);
    (void)buf_add_cstr(to, "{\"metadata\":{\"uid\":");
    (void)json_write_str(to, p->uid);
    (void)buf_printf(to, "},\"status\":{\"phase\":\"Running\",\"startTime\":\"%s\"", now);
    add_ips("host", buf_cstr(&host), to);
    add_ips("pod", p->is_on_host_network ? buf_cstr(&host) : buf_cstr(&own), to);
    (void)buf_add_cstr(to, ",\"conditions\":[");
    for (size_t k = 0; k < ARRAY_LEN(types); k++)
        (void)buf_printf(to,
                         "%s{\"type\":\"%s\",\"status\":\"True\",\"lastTransitionTime\":\"%s\"}",
                         k ? "," : "", types[k], now);
    (void)buf_add_char(to, ']');
    add_containers(p, true, now, to);
    add_containers(p, false, now, to);
    (void)buf_add_cstr(to, "}}");
}
