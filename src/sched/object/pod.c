/* SPDX-License-Identifier: Apache-2.0 */
/* Pods; see pod.h. */
#include "sched/object/pod.h"

#include "base/clock.h"
#include "base/slab.h"
#include "codec/bind.h"
#include "sched/object/pack.h"

/* ---- walking ---- */

static void walk_terms(struct sched_walk *k, struct sched_affinity_terms *t)
{
    sched_walk_array(k, &t->p, t->n, sizeof(*t->p));
    for (uint32_t i = 0; i < t->n; i++) {
        sched_walk_selector(k, &t->p[i].selector);
        sched_walk_selector(k, &t->p[i].namespace_selector);
        sched_walk_words(k, &t->p[i].namespaces, t->p[i].n_namespaces);
        sched_walk_word(k, t->p[i].topology_key);
    }
}

static void walk_volume(struct sched_walk *k, struct sched_volume *v)
{
    sched_walk_array(k, &v->monitors, v->n_monitors, sizeof(*v->monitors));
    for (uint32_t i = 0; i < v->n_monitors; i++)
        sched_walk_str(k, &v->monitors[i]);
    sched_walk_str(k, &v->name);
    sched_walk_str(k, &v->claim);
    sched_walk_str(k, &v->id);
    sched_walk_str(k, &v->id2);
}

static void walk_small_arrays(struct sched_walk *k, struct sched_pod *p)
{
    sched_walk_array(k, &p->tolerations, p->n_tolerations, sizeof(*p->tolerations));
    for (uint32_t i = 0; i < p->n_tolerations; i++) {
        sched_walk_word(k, p->tolerations[i].key);
        sched_walk_word(k, p->tolerations[i].value);
    }
    sched_walk_array(k, &p->ports, p->n_ports, sizeof(*p->ports));
    for (uint32_t i = 0; i < p->n_ports; i++)
        sched_walk_word(k, p->ports[i].ip);
    sched_walk_words(k, &p->images, p->n_images);
}

static void pod_walk(struct sched_walk *k, struct sched_pod *p)
{
    sched_walk_word(k, p->namespace_word);
    sched_walk_word(k, p->node_name);
    sched_walk_word(k, p->scheduler_word);
    sched_walk_word(k, p->controller_word);
    sched_walk_word(k, p->image_layers);
    sched_walk_word(k, p->pull_secrets);
    sched_walk_labels(k, &p->labels);
    sched_walk_amounts(k, &p->requests);
    sched_walk_array(k, &p->container_nonzero, p->container_nonzero ? 2 : 0, sizeof(int64_t));
    walk_small_arrays(k, p);
    sched_walk_selector(k, &p->node_selector);
    sched_walk_node_terms(k, &p->required_node);
    sched_walk_node_terms(k, &p->preferred_node);
    walk_terms(k, &p->required_affinity);
    walk_terms(k, &p->preferred_affinity);
    walk_terms(k, &p->required_anti);
    walk_terms(k, &p->preferred_anti);
    sched_walk_array(k, &p->spreads, p->n_spreads, sizeof(*p->spreads));
    for (uint32_t i = 0; i < p->n_spreads; i++) {
        sched_walk_word(k, p->spreads[i].topology_key);
        sched_walk_selector(k, &p->spreads[i].selector);
    }
    sched_walk_array(k, &p->gates, p->n_gates, sizeof(*p->gates));
    sched_walk_array(k, &p->volumes, p->n_volumes, sizeof(*p->volumes));
    for (uint32_t i = 0; i < p->n_volumes; i++)
        walk_volume(k, &p->volumes[i]);
    for (uint32_t i = 0; i < p->n_gates; i++)
        sched_walk_str(k, &p->gates[i]);
    sched_walk_str(k, &p->nominated_node);
}

/* Copies all arrays and strings, wherever they are, into one block. */
static void pod_pack(struct sched_pod *p)
{
    struct sched_walk k = { .mode = SCHED_WALK_MEASURE };
    pod_walk(&k, p);
    k = (struct sched_walk){ .mode = SCHED_WALK_COPY, .block = slab_alloc(k.bytes + 1) };
    pod_walk(&k, p);
    p->block = k.block;
}

static void pod_fini(struct intern_table *w, struct sched_object *o)
{
    struct sched_pod *p = (struct sched_pod *)o;
    pod_walk(&(struct sched_walk){ .mode = SCHED_WALK_UNREF, .words = w }, p);
    slab_free(p->block);
}

/* ---- metadata and status ---- */

static int64_t time_ms(const struct json *v)
{
    int64_t us;
    return rfc3339_parse(json_str(v), &us) < 0 ? 0 : us / 1000;
}

/* Pods of one controller share one word that holds the four texts in a row. */
static void read_controller(struct intern_table *w, struct arena *a, const struct json *owners,
                            struct sched_pod *p)
{
    const struct json *owner = json_first(owners);
    while (owner && !json_bool(json_getc(owner, "controller")))
        owner = owner->next;
    if (!owner)
        return;
    struct str of[] = { json_get_str(owner, "apiVersion"), json_get_str(owner, "kind"),
                        json_get_str(owner, "name"), json_get_str(owner, "uid") };
    size_t n = of[0].n + of[1].n + of[2].n + of[3].n, at = 0;
    char *text = arena_alloc(a, n + 1);
    for (size_t i = 0; i < ARRAY_LEN(of); at += of[i++].n)
        if (of[i].n > 0)
            memcpy(text + at, of[i].p, of[i].n);
    p->controller_word = intern_get(w, str_n(text, n));
    const char *base = p->controller_word->text;
    p->controller = (struct sched_owner){
        .api_version = str_n(base, of[0].n),
        .kind = str_n(base + of[0].n, of[1].n),
        .name = str_n(base + of[0].n + of[1].n, of[2].n),
        .uid = str_n(base + of[0].n + of[1].n + of[2].n, of[3].n),
    };
}

struct meta {
    const struct json *labels, *annotations, *owners, *generation, *created, *deleted;
};
/*
 * In the order in which API servers write them, so that bind_pick() usually compares one name for
 * each member.
 */
static const struct bind_field meta_fields[] = {
    BIND_JSON("generation", struct meta, generation),
    BIND_JSON("creationTimestamp", struct meta, created),
    BIND_JSON("deletionTimestamp", struct meta, deleted),
    BIND_JSON("labels", struct meta, labels),
    BIND_JSON("annotations", struct meta, annotations),
    BIND_JSON("ownerReferences", struct meta, owners),
};
static const struct bind_table meta_table = BIND_TABLE(meta_fields);

static int read_meta(struct intern_table *w, struct arena *a, const struct json *json,
                     struct sched_pod *p, struct err *err)
{
    struct meta m = { 0 };
    bind_pick(&meta_table, json, &m);
    p->namespace_word = intern_get(w, p->o.namespace);
    p->generation = json_int_or(m.generation, 0);
    p->created_ms = time_ms(m.created);
    p->is_terminating = json_is(m.deleted, JSON_STRING);
    read_controller(w, a, m.owners, p);
    struct str layers = json_get_str(m.annotations, "image.dormouse.dev/layers");
    p->image_layers = layers.n > 0 ? intern_get(w, layers) : NULL;
    int r = sched_labels_read_in(w, a, m.labels, &p->labels, err);
    return r < 0 ? err_ctx(err, r, "metadata") : 0;
}

struct status {
    const struct json *phase, *nominated, *started, *conditions, *statuses, *init_statuses;
    const struct json *resources, *allocated;
};
static const struct bind_field status_fields[] = {
    BIND_JSON("phase", struct status, phase),
    BIND_JSON("conditions", struct status, conditions),
    BIND_JSON("nominatedNodeName", struct status, nominated),
    BIND_JSON("startTime", struct status, started),
    BIND_JSON("initContainerStatuses", struct status, init_statuses),
    BIND_JSON("containerStatuses", struct status, statuses),
    BIND_JSON("resources", struct status, resources),
    BIND_JSON("allocatedResources", struct status, allocated),
};
static const struct bind_table status_table = BIND_TABLE(status_fields);

static bool is_victim(const struct json *conditions)
{
    json_each (c, conditions)
        if (str_eq(json_get_str(c, "type"), STR("DisruptionTarget")))
            return str_eq(json_get_str(c, "status"), STR("True")) &&
                   str_eq(json_get_str(c, "reason"), STR("PreemptionByScheduler"));
    return false;
}

static void read_status(const struct json *json, struct sched_pod *p, struct sched_pod_json *parts)
{
    struct status s = { 0 };
    bind_pick(&status_table, json, &s);
    struct str phase = json_str(s.phase);
    p->is_done = str_eq(phase, STR("Succeeded")) || str_eq(phase, STR("Failed"));
    p->nominated_node = json_str(s.nominated);
    p->started_ms = time_ms(s.started);
    p->has_disruption_condition = is_victim(s.conditions);
    parts->conditions = s.conditions;
    parts->statuses = s.statuses;
    parts->init_statuses = s.init_statuses;
    parts->actuated = s.resources;
    parts->allocated = s.allocated;
}

/* ---- spec ---- */

struct sched_pod_spec {
    const struct json *node_name, *scheduler_name, *priority, *preemption_policy, *host_network,
        *host_users;
    const struct json *tolerations, *node_selector, *affinity, *spreads, *containers;
    const struct json *init_containers, *volumes, *gates, *claims, *resources, *overhead,
        *pull_secrets;
};
static const struct bind_field spec_fields[] = {
    BIND_JSON("volumes", struct sched_pod_spec, volumes),
    BIND_JSON("initContainers", struct sched_pod_spec, init_containers),
    BIND_JSON("containers", struct sched_pod_spec, containers),
    BIND_JSON("nodeSelector", struct sched_pod_spec, node_selector),
    BIND_JSON("nodeName", struct sched_pod_spec, node_name),
    BIND_JSON("hostNetwork", struct sched_pod_spec, host_network),
    BIND_JSON("imagePullSecrets", struct sched_pod_spec, pull_secrets),
    BIND_JSON("affinity", struct sched_pod_spec, affinity),
    BIND_JSON("schedulerName", struct sched_pod_spec, scheduler_name),
    BIND_JSON("tolerations", struct sched_pod_spec, tolerations),
    BIND_JSON("priority", struct sched_pod_spec, priority),
    BIND_JSON("preemptionPolicy", struct sched_pod_spec, preemption_policy),
    BIND_JSON("overhead", struct sched_pod_spec, overhead),
    BIND_JSON("topologySpreadConstraints", struct sched_pod_spec, spreads),
    BIND_JSON("hostUsers", struct sched_pod_spec, host_users),
    BIND_JSON("schedulingGates", struct sched_pod_spec, gates),
    BIND_JSON("resourceClaims", struct sched_pod_spec, claims),
    BIND_JSON("resources", struct sched_pod_spec, resources),
};
static const struct bind_table spec_table = BIND_TABLE(spec_fields);

static bool effect_of(struct str s, enum sched_taint_effect *ret)
{
    if (str_eq(s, STR("NoSchedule")))
        *ret = SCHED_NO_SCHEDULE;
    else if (str_eq(s, STR("PreferNoSchedule")))
        *ret = SCHED_PREFER_NO_SCHEDULE;
    else if (str_eq(s, STR("NoExecute")))
        *ret = SCHED_NO_EXECUTE;
    else
        return false;
    return true;
}

/* A toleration with an unknown operator or effect tolerates nothing and is left out. */
static void read_tolerations(struct intern_table *w, struct arena *a, const struct json *list,
                             struct sched_pod *p)
{
    static const char *const ops[] = { [SCHED_TOLERATES_EQUAL] = "Equal",
                                       [SCHED_TOLERATES_EXISTS] = "Exists",
                                       [SCHED_TOLERATES_LT] = "Lt",
                                       [SCHED_TOLERATES_GT] = "Gt" };
    p->tolerations = SCHED_ARRAY(a, struct sched_toleration, list ? list->n : 0);
    json_each (m, list) {
        struct sched_toleration t = { 0 };
        struct str key = json_get_str(m, "key"), value = json_get_str(m, "value");
        struct str op = json_get_str(m, "operator"), effect = json_get_str(m, "effect");
        size_t i = 0;
        while (op.n > 0 && i < ARRAY_LEN(ops) && !str_is(op, ops[i]))
            i++;
        t.all_effects = effect.n == 0;
        if (i == ARRAY_LEN(ops) || (!t.all_effects && !effect_of(effect, &t.effect)))
            continue;
        t.op = (unsigned)i;
        t.key = key.n > 0 ? intern_get(w, key) : NULL;
        t.value = value.n > 0 ? intern_get(w, value) : NULL;
        p->tolerations[p->n_tolerations++] = t;
    }
}

static size_t count_ports(const struct json *containers)
{
    size_t n = 0;
    json_each (c, containers) {
        const struct json *ports = json_getc(c, "ports");
        n += json_is(ports, JSON_ARRAY) ? ports->n : 0;
    }
    return n;
}

static int read_port(struct intern_table *w, const struct json *m, bool host_network,
                     struct sched_pod *p, struct err *err)
{
    int64_t port = json_int_or(json_getc(m, "hostPort"), 0);
    struct str ip = json_get_str(m, "hostIP"), protocol = json_get_str(m, "protocol");
    if (port == 0 && host_network)
        port = json_int_or(json_getc(m, "containerPort"), 0);
    if (port == 0)
        return 0;
    if (port < 0 || port > UINT16_MAX)
        return err_set(err, E_INVALID, "hostPort: must be between 1 and 65535, inclusive");
    struct sched_port *to = &p->ports[p->n_ports];
    to->port = (uint16_t)port;
    if (protocol.n == 0 || str_eq(protocol, STR("TCP")))
        to->protocol = SCHED_TCP;
    else if (str_eq(protocol, STR("UDP")))
        to->protocol = SCHED_UDP;
    else if (str_eq(protocol, STR("SCTP")))
        to->protocol = SCHED_SCTP;
    else
        return err_set(err, E_INVALID, "protocol: Unsupported value");
    to->ip = intern_get(w, ip.n > 0 ? ip : STR("0.0.0.0"));
    p->n_ports++;
    return 0;
}

static int read_ports(struct intern_table *w, struct arena *a, const struct sched_pod_spec *s,
                      struct sched_pod *p, struct err *err)
{
    const struct json *lists[] = { s->init_containers, s->containers };
    p->ports = SCHED_ARRAY(a, struct sched_port, count_ports(lists[0]) + count_ports(lists[1]));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_each (c, lists[i]) {
            /* An init container has ended before the pod runs, unless it is a sidecar. */
            if (i == 0 && !str_eq(json_get_str(c, "restartPolicy"), STR("Always")))
                continue;
            json_each (m, json_getc(c, "ports")) {
                int r = read_port(w, m, json_bool(s->host_network), p, err);
                if (r < 0)
                    return r;
            }
        }
    return 0;
}

/* The name as in a node's list: ":latest" is added if it has neither tag nor digest. */
static struct intern *normalized_image(struct intern_table *w, struct arena *a, struct str image)
{
    ptrdiff_t colon = -1, slash = -1;
    for (size_t i = 0; i < image.n; i++)
        if (image.p[i] == ':')
            colon = (ptrdiff_t)i;
        else if (image.p[i] == '/')
            slash = (ptrdiff_t)i;
    if (colon > slash)
        return intern_get(w, image);
    return intern_get(w, str_of(arena_printf(a, STR_FMT ":latest", STR_ARG(image))));
}

static void read_images(struct intern_table *w, struct arena *a, const struct sched_pod_spec *s,
                        struct sched_pod *p)
{
    const struct json *lists[] = { s->init_containers, s->containers };
    size_t n = s->volumes ? s->volumes->n : 0;
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        n += json_is(lists[i], JSON_ARRAY) ? lists[i]->n : 0;
    p->images = SCHED_ARRAY(a, struct intern *, n);
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        json_each (c, lists[i])
            p->images[p->n_images++] = normalized_image(w, a, json_get_str(c, "image"));
    p->n_containers = p->n_images;
    json_each (v, s->volumes) {
        const struct json *image = json_getc(v, "image");
        if (json_is(image, JSON_OBJECT))
            p->images[p->n_images++] = normalized_image(w, a, json_get_str(image, "reference"));
    }
}

/* member, kind, the member that identifies the volume */
static const struct {
    const char *name, *id;
    enum sched_volume_source source;
} volume_sources[] = {
    { "persistentVolumeClaim", NULL, SCHED_VOLUME_CLAIM },
    { "ephemeral", NULL, SCHED_VOLUME_EPHEMERAL },
    { "gcePersistentDisk", "pdName", SCHED_VOLUME_GCE_DISK },
    { "awsElasticBlockStore", "volumeID", SCHED_VOLUME_AWS_DISK },
    { "azureDisk", "diskURI", SCHED_VOLUME_AZURE_DISK },
    { "cinder", "volumeID", SCHED_VOLUME_CINDER },
    { "portworxVolume", "volumeID", SCHED_VOLUME_PORTWORX },
    { "iscsi", "iqn", SCHED_VOLUME_ISCSI },
    { "rbd", "pool", SCHED_VOLUME_RBD },
};

static void read_rbd(struct arena *a, const struct json *rbd, struct sched_volume *v)
{
    const struct json *monitors = json_getc(rbd, "monitors");
    v->id = v->id.n > 0 ? v->id : STR("rbd");
    v->id2 = json_get_str(rbd, "image");
    v->monitors = SCHED_ARRAY(a, struct str, json_is(monitors, JSON_ARRAY) ? monitors->n : 0);
    json_each (m, monitors)
        v->monitors[v->n_monitors++] = json_str(m);
}

static void read_volumes(struct arena *a, const struct json *list, struct sched_pod *p)
{
    p->volumes = SCHED_ARRAY(a, struct sched_volume, json_is(list, JSON_ARRAY) ? list->n : 0);
    json_each (m, list) {
        struct str name = json_get_str(m, "name");
        const struct json *source = NULL;
        size_t i = 0;
        for (; i < ARRAY_LEN(volume_sources) && !source; i++)
            source = json_getc(m, volume_sources[i].name);
        if (!json_is(source, JSON_OBJECT))
            continue;
        struct sched_volume *v = &p->volumes[p->n_volumes++];
        *v = (struct sched_volume){ .source = volume_sources[--i].source, .name = name };
        v->read_only = json_bool(json_getc(source, "readOnly"));
        if (volume_sources[i].id)
            v->id = json_get_str(source, volume_sources[i].id);
        if (v->source == SCHED_VOLUME_CLAIM)
            v->claim = json_get_str(source, "claimName");
        else if (v->source == SCHED_VOLUME_EPHEMERAL)
            v->claim =
                str_of(arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(p->o.name), STR_ARG(name)));
        else if (v->source == SCHED_VOLUME_AZURE_DISK)
            v->id2 = json_get_str(source, "kind");
        else if (v->source == SCHED_VOLUME_RBD)
            read_rbd(a, source, v);
    }
}

static void read_gates(struct arena *a, const struct json *list, struct sched_pod *p)
{
    p->gates = SCHED_ARRAY(a, struct str, json_is(list, JSON_ARRAY) ? list->n : 0);
    json_each (m, list)
        p->gates[p->n_gates++] = json_get_str(m, "name");
}

/* Interned, since pods of one service account have the same secrets. */
static struct intern *read_pull_secrets(struct intern_table *w, struct arena *a,
                                        const struct json *list)
{
    enum { SECRETS_MAX = 8, SECRET_NAME_MAX = 253 };
    char *text = arena_alloc(a, SECRETS_MAX * (SECRET_NAME_MAX + 1));
    size_t n = 0, count = 0;
    json_each (m, json_is(list, JSON_ARRAY) ? list : NULL) {
        struct str name = json_get_str(m, "name");
        if (count == SECRETS_MAX)
            break;
        if (name.n == 0 || name.n > SECRET_NAME_MAX || str_find_char(name, '\n') >= 0)
            continue;
        count++;
        memcpy(text + n, name.p, name.n);
        n += name.n;
        text[n++] = '\n';
    }
    return n ? intern_get(w, str_n(text, n)) : NULL;
}

static bool restarts_all(const struct json *containers)
{
    json_each (c, containers)
        json_each (rule, json_getc(c, "restartPolicyRules"))
            if (str_is(json_get_str(rule, "action"), "RestartAllContainers"))
                return true;
    return false;
}

static uint8_t features_of(const struct sched_pod_spec *s)
{
    uint8_t needs = 0;
    if (restarts_all(s->containers) || restarts_all(s->init_containers))
        needs |= 1 << SCHED_FEATURE_RESTART_ALL_CONTAINERS;
    if (json_bool(s->host_network) && json_is(s->host_users, JSON_FALSE))
        needs |= 1 << SCHED_FEATURE_USER_NAMESPACES_HOST_NETWORK;
    return needs;
}

static int read_scalars(struct intern_table *w, const struct sched_pod_spec *s, struct sched_pod *p,
                        struct err *err)
{
    struct str node = json_str(s->node_name), scheduler = json_str(s->scheduler_name);
    int64_t priority = json_int_or(s->priority, 0);
    if (priority < INT32_MIN || priority > INT32_MAX)
        return err_set(err, E_INVALID, "spec.priority: out of range");
    p->priority = (int32_t)priority;
    p->node_name = node.n > 0 ? intern_get(w, node) : NULL;
    p->scheduler_word = intern_get(w, scheduler.n > 0 ? scheduler : STR("default-scheduler"));
    p->scheduler_name = intern_str(p->scheduler_word);
    p->never_preempts = str_eq(json_str(s->preemption_policy), STR("Never"));
    p->has_claims = json_first(s->claims) != NULL;
    p->needs_features = features_of(s);
    return 0;
}

static int read_spec(struct intern_table *w, struct arena *a, const struct sched_pod_spec *s,
                     struct sched_pod *p, struct err *err)
{
    const struct json *lists[] = { s->tolerations,     s->spreads, s->containers,
                                   s->init_containers, s->volumes, s->gates };
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (lists[i] && lists[i]->type != JSON_ARRAY && lists[i]->type != JSON_NULL)
            return err_set(err, E_INVALID, "spec." STR_FMT ": not an array",
                           STR_ARG(lists[i]->key));
    int r = read_scalars(w, s, p, err);
    if (r >= 0)
        r = read_ports(w, a, s, p, err);
    if (r >= 0)
        r = sched_selector_read_map_in(w, a, s->node_selector, &p->node_selector, err);
    if (r < 0)
        return r;
    read_tolerations(w, a, s->tolerations, p);
    read_images(w, a, s, p);
    read_volumes(a, s->volumes, p);
    read_gates(a, s->gates, p);
    p->pull_secrets = s->pull_secrets ? read_pull_secrets(w, a, s->pull_secrets) : NULL;
    return 0;
}

static int read_parts(struct intern_table *w, struct arena *a, const struct json *json,
                      struct sched_pod *p, struct err *err)
{
    struct sched_pod_spec s = { 0 };
    struct sched_pod_json parts = { 0 };
    bind_pick(&spec_table, json_getc(json, "spec"), &s);
    parts.containers = s.containers;
    parts.init_containers = s.init_containers;
    parts.resources = s.resources;
    parts.overhead = s.overhead;
    read_status(json_getc(json, "status"), p, &parts);
    int r = read_meta(w, a, json_getc(json, "metadata"), p, err);
    if (r >= 0)
        r = read_spec(w, a, &s, p, err);
    if (r >= 0)
        r = sched_pod_read_requests(w, a, &parts, p, err);
    if (r >= 0)
        r = sched_pod_read_affinity(w, a, s.affinity, p, err);
    if (r >= 0)
        r = sched_pod_read_spreads(w, a, s.spreads, p, err);
    return r;
}

static int pod_read(struct intern_table *w, struct sched_object *o, const struct json *json,
                    struct err *err)
{
    struct sched_pod *p = (struct sched_pod *)o;
    struct arena a = { 0 };
    int r = read_parts(w, &a, json, p, err);
    if (r >= 0 && a.total_bytes > SCHED_OBJECT_MAX_BYTES)
        r = err_set(err, E_INVALID, "larger than %zu bytes", SCHED_OBJECT_MAX_BYTES);
    pod_pack(p); /* also after an error, so that the pod can be freed like any other */
    arena_fini(&a);
    return r;
}

const struct sched_kind_ops sched_pod_ops = {
    .size = sizeof(struct sched_pod),
    .read = pod_read,
    .fini = pod_fini,
};

void sched_pod_key(const struct sched_pod *p, struct buf *out)
{
    (void)buf_add_str(out, sched_object_key(&p->o));
}

static struct str moved(struct str s, const char *from, const char *to)
{
    return str_n(to + (s.p - from), s.n);
}

bool sched_pod_is_fuller(const struct sched_pod *pod, const struct sched_pod *than)
{
    return (pod->json.n && !than->json.n) || (pod->encoded && !than->encoded);
}

struct sched_pod *sched_pod_clone(struct intern_table *w, const struct sched_pod *p,
                                  struct intern *node)
{
    struct sched_pod *c = slab_new(struct sched_pod);
    *c = *p;
    c->o.refs = 1;
    c->encoded =
        p->encoded ? p->encoded->clone(p->encoded, node ? intern_str(node) : STR("")) : NULL;
    size_t key = sched_object_key(&p->o).n, end = (size_t)(p->o.uid.p + p->o.uid.n - p->o.text);
    c->o.text = slab_strndup(p->o.text, MAX(key, end));
    c->o.namespace = moved(p->o.namespace, p->o.text, c->o.text);
    c->o.name = moved(p->o.name, p->o.text, c->o.text);
    c->o.uid = moved(p->o.uid, p->o.text, c->o.text);
    if (p->json.n > 0)
        c->json.p = xstrndup(p->json.p, p->json.n);
    c->node_name = node ? node : p->node_name;
    pod_pack(c);
    pod_walk(&(struct sched_walk){ .mode = SCHED_WALK_REF, .words = w }, c);
    return c;
}
