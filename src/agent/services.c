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
    struct agent_services_opts opts;
    struct reflector *watch; /* NULL: not followed yet */
    struct dns_zone *zone;   /* NULL: none */
    bool is_synced;
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

static void drop_service(struct agent_services *s, struct str namespace, struct str name)
{
    scoped(free_scoped) char *key =
        xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
    free_service(map_del(&s->by_name, str_of(key)));
}

static void on_deleted(void *arg, struct str namespace, struct str name)
{
    struct agent_services *s = arg;
    drop_service(s, namespace, name);
    if (s->zone)
        dns_zone_delete_service(s->zone, namespace, name);
}

static void on_object(void *arg, const struct json *object)
{
    struct agent_services *s = arg;
    const struct json *meta = json_getc(object, "metadata"), *spec = json_getc(object, "spec");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    struct str ip = json_get_str(spec, "clusterIP");
    drop_service(s, namespace, name);
    if (s->zone)
        dns_zone_put_service(s->zone, object);
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
    if (s->zone)
        dns_zone_services_synced(s->zone);
    s->opts.on_synced(s->opts.arg);
}

static const struct reflector_ops watch_ops = {
    .on_object = on_object,
    .on_deleted = on_deleted,
    .on_synced = on_synced,
};

struct agent_services *agent_services_new(const struct agent_services_opts *opts)
{
    struct agent_services *s = xnew(struct agent_services);
    s->opts = *opts;
    return s;
}

int agent_services_follow(struct agent_services *s, struct dns_zone *zone, struct err *err)
{
    const struct agent_services_opts *o = &s->opts;
    const struct reflector_opts watch = {
        .loop = o->loop,
        .transport = o->transport,
        .hub = o->hub,
        .identity = o->identity,
        .key = { .group_version = STR("v1"), .plural = STR("services"), .identity = o->identity },
        .streams = true,
        .ops = &watch_ops,
        .arg = s,
    };
    if (s->watch)
        return 0;
    s->zone = zone;
    return reflector_start(&watch, &s->watch, err);
}

void agent_services_free(struct agent_services *s)
{
    if (s->watch)
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
