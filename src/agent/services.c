/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/services.h"

#include "base/map.h"

enum { SERVICES_MAX = 65536, SERVICE_PORTS_MAX = 256 };

/* One allocation for each: what the environment needs of a Service. */
struct agent_service {
    struct arena arena;
    struct pod_service pub;
};

struct agent_services {
    struct map by_name; /* NAMESPACE/NAME -> struct agent_service */
    struct reflector *watch;
    bool is_synced;
    void (*on_synced)(void *arg);
    void *arg;
};

static void free_service(struct agent_service *s)
{
    if (!s)
        return;
    arena_fini(&s->arena);
    free(s);
}

static void read_ports(struct agent_service *s, const struct json *ports)
{
    size_t n = ports ? MIN(ports->n, (uint32_t)SERVICE_PORTS_MAX) : 0;
    struct pod_service_port *list = arena_new_n(&s->arena, struct pod_service_port, n + 1);
    for (const struct json *port = json_first(ports); port && s->pub.n_ports < n;
         port = port->next) {
        list[s->pub.n_ports++] = (struct pod_service_port){
            .name = str_copy_arena(&s->arena, json_get_str(port, "name")),
            .protocol = str_copy_arena(&s->arena, json_get_str(port, "protocol")),
            .port = (int32_t)json_int_or(json_getc(port, "port"), 0),
        };
    }
    s->pub.ports = list;
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct agent_services *s = arg;
    scoped(free_scoped) char *key =
        xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    free_service(map_del(&s->by_name, str_of(key)));
}

static void on_object(void *arg, const struct json *object)
{
    struct agent_services *s = arg;
    const struct json *meta = json_getc(object, "metadata"), *spec = json_getc(object, "spec");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    struct str ip = json_get_str(spec, "clusterIP");
    on_deleted(s, namespace, name);
    if (!ip.n || str_is(ip, "None") || s->by_name.n == SERVICES_MAX)
        return;
    struct agent_service *one = xnew(struct agent_service);
    one->arena.block_bytes = 256;
    one->pub.namespace = str_copy_arena(&one->arena, namespace);
    one->pub.name = str_copy_arena(&one->arena, name);
    one->pub.cluster_ip = str_copy_arena(&one->arena, ip);
    read_ports(one, json_getc(spec, "ports"));
    scoped(free_scoped) char *key =
        xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    (void)map_put(&s->by_name, str_of(key), one);
}

static void on_synced(void *arg)
{
    struct agent_services *s = arg;
    s->is_synced = true;
    s->on_synced(s->arg);
}

static const struct reflector_ops watch_ops = {
    .on_object = on_object,
    .on_deleted = on_deleted,
    .on_synced = on_synced,
};

int agent_services_new(const struct agent_services_opts *opts, struct agent_services **ret,
                       struct err *err)
{
    struct agent_services *s = xnew(struct agent_services);
    s->on_synced = opts->on_synced;
    s->arg = opts->arg;
    const struct reflector_opts watch = {
        .loop = opts->loop,
        .transport = opts->transport,
        .hub = opts->hub,
        .identity = opts->identity,
        .key = { .group_version = STR("v1"),
                 .plural = STR("services"),
                 .identity = opts->identity },
        .streams = true,
        .ops = &watch_ops,
        .arg = s,
    };
    int r = reflector_start(&watch, &s->watch, err);
    if (r < 0) {
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void agent_services_free(struct agent_services *s)
{
    reflector_close(s->watch);
    map_each (e, &s->by_name)
        free_service(e->value);
    map_fini(&s->by_name);
    free(s);
}

bool agent_services_is_synced(const struct agent_services *s)
{
    return s->is_synced;
}

static bool is_wanted(const struct pod_service *s, struct str namespace)
{
    return str_eq(s->namespace, namespace) ||
           (str_is(s->namespace, "default") && str_is(s->name, "kubernetes"));
}

size_t agent_services_list(const struct agent_services *s, struct arena *a, struct str namespace,
                           const struct pod_service **ret)
{
    struct pod_service *list = arena_new_n(a, struct pod_service, s->by_name.n + 1);
    size_t n = 0;
    map_each (e, &s->by_name) {
        const struct agent_service *one = e->value;
        if (is_wanted(&one->pub, namespace))
            list[n++] = one->pub;
    }
    *ret = list;
    return n;
}
