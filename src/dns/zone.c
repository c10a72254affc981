/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index of a cluster's names; see zone.h.
 *
 *     services    NAMESPACE/NAME -> zone_service, made by the Service or by its first slice
 *     slices      NAMESPACE/NAME -> zone_slice, which is in its service's list
 *     cluster_ips, endpoint_ips   the 16 bytes of an address -> for questions about addresses
 *     namespaces  those that have Services
 */
#include "dns/zone_impl.h"

#include "base/log.h"

static const struct str protocols[] = {
    [ZONE_TCP] = { "tcp", 3 }, [ZONE_UDP] = { "udp", 3 }, [ZONE_SCTP] = { "sctp", 4 }
};

bool dns_zone_protocol(struct str text, enum zone_protocol *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(protocols); i++) {
        if (str_ieq(text, protocols[i])) {
            *ret = (enum zone_protocol)i;
            return true;
        }
    }
    return false;
}

static struct str ip_key(const struct address *ip)
{
    return str_n(ip->bytes, sizeof ip->bytes);
}

/* ---------------------------------------------------------------- services by name */

bool dns_zone_key(struct str namespace, struct str name, struct zone_key *ret)
{
    size_t n = namespace.n + 1 + name.n;
    if (namespace.n == 0 || name.n == 0 || n > sizeof ret->text)
        return false;
    memcpy(ret->text, namespace.p, namespace.n);
    ret->text[namespace.n] = '/';
    memcpy(ret->text + namespace.n + 1, name.p, name.n);
    ret->n = n;
    return true;
}

static struct zone_service *service_at(struct dns_zone *z, const struct zone_key *key)
{
    struct zone_service *s = map_get(&z->services, str_n(key->text, key->n));
    if (s)
        return s;
    s = xnew(struct zone_service);
    list_init(&s->slices);
    (void)map_put(&z->services, str_n(key->text, key->n), s);
    s->key = map_find(&z->services, str_n(key->text, key->n))->key;
    (void)str_cut(s->key, '/', &s->namespace, &s->name);
    return s;
}

static void leave_out(struct dns_zone *z)
{
    if (!z->leaves_out)
        log_warn("the cluster has more Services or endpoints than its DNS holds; the rest is left "
                 "out",
                 "services=%zu slices=%zu endpoints=%zu", z->services.n, z->slices.n,
                 z->n_endpoints);
    z->leaves_out = true;
}

static void drop_service_if_unused(struct dns_zone *z, struct zone_service *s)
{
    if (s->facts || !list_is_empty(&s->slices))
        return;
    (void)map_del(&z->services, s->key);
    free(s);
}

/* ---------------------------------------------------------------- namespaces */

static void count_namespace(struct dns_zone *z, struct str namespace, bool is_more)
{
    size_t *n = map_get(&z->namespaces, namespace);
    if (!n) {
        n = xnew(size_t);
        (void)map_put(&z->namespaces, namespace, n);
    }
    *n = is_more ? *n + 1 : *n - 1;
    if (*n == 0)
        free(map_del(&z->namespaces, namespace));
}

/* ---------------------------------------------------------------- what an object says */

static struct zone_port *read_ports(struct arena *a, const struct json *from, size_t *ret_n)
{
    size_t max = from ? MIN(from->n, (uint32_t)DNS_ZONE_PORTS_MAX) : 0, n = 0;
    struct zone_port *ports = arena_new_n(a, struct zone_port, max + 1);
    json_each (port, from) {
        struct str protocol = json_get_str(port, "protocol"), name = json_get_str(port, "name");
        int64_t number = json_int_or(json_getc(port, "port"), 0);
        enum zone_protocol p = ZONE_TCP;
        if (n == max)
            break;
        /* Only names can be asked for. */
        if (name.n == 0 || name.n >= DNS_LABEL_MAX || number < 1 || number > UINT16_MAX ||
            (protocol.n && !dns_zone_protocol(protocol, &p)))
            continue;
        ports[n++] = (struct zone_port){ .name = str_lower_arena(a, name),
                                         .protocol = p,
                                         .port = (uint16_t)number };
    }
    *ret_n = n;
    return ports;
}

static void add_cluster_ip(struct zone_facts *f, struct str text)
{
    struct address ip;
    if (str_is(text, "None"))
        f->is_headless = true;
    else if (f->n_ips < ARRAY_LEN(f->ips) && address_parse(text, &ip) &&
             !(f->n_ips == 1 && address_equal(&f->ips[0], &ip)))
        f->ips[f->n_ips++] = ip;
}

static void read_external(struct zone_facts *f, const struct json *spec)
{
    struct dns_name name;
    if (!str_is(json_get_str(spec, "type"), "ExternalName"))
        return;
    f->is_external = true;
    f->is_headless = false;
    f->n_ips = 0;
    if (dns_name_parse(json_get_str(spec, "externalName"), &name))
        f->external = str_copy_arena(&f->arena, dns_name_from(&name, 0));
}

static struct zone_facts *read_service(const struct json *object)
{
    const struct json *spec = json_getc(object, "spec");
    struct zone_facts *f = xnew(struct zone_facts);
    f->arena.block_bytes = 256;
    f->publishes_all = json_bool(json_getc(spec, "publishNotReadyAddresses"));
    add_cluster_ip(f, json_get_str(spec, "clusterIP"));
    json_each (ip, json_getc(spec, "clusterIPs"))
        add_cluster_ip(f, json_str(ip));
    read_external(f, spec);
    f->ports = read_ports(&f->arena, json_getc(spec, "ports"), &f->n_ports);
    return f;
}

static void drop_facts(struct dns_zone *z, struct zone_service *s)
{
    struct zone_facts *f = take_ptr(&s->facts);
    if (!f)
        return;
    for (size_t i = 0; i < f->n_ips; i++) {
        if (map_get(&z->cluster_ips, ip_key(&f->ips[i])) == s)
            (void)map_del(&z->cluster_ips, ip_key(&f->ips[i]));
    }
    count_namespace(z, s->namespace, false);
    arena_fini(&f->arena);
    free(f);
}

void dns_zone_put_service(struct dns_zone *z, const struct json *object)
{
    const struct json *meta = json_getc(object, "metadata");
    struct zone_key key;
    if (!dns_zone_key(json_get_str(meta, "namespace"), json_get_str(meta, "name"), &key))
        return;
    if (z->services.n >= DNS_ZONE_SERVICES_MAX && !map_has(&z->services, str_n(key.text, key.n))) {
        leave_out(z);
        return;
    }
    struct zone_service *s = service_at(z, &key);
    drop_facts(z, s);
    struct zone_facts *f = s->facts = read_service(object);
    count_namespace(z, s->namespace, true);
    for (size_t i = 0; i < f->n_ips; i++)
        (void)map_put(&z->cluster_ips, ip_key(&f->ips[i]), s);
    z->serial++;
}

void dns_zone_delete_service(struct dns_zone *z, struct str namespace, struct str name)
{
    struct zone_key key;
    struct zone_service *s =
        dns_zone_key(namespace, name, &key) ? map_get(&z->services, str_n(key.text, key.n)) : NULL;
    if (!s)
        return;
    drop_facts(z, s);
    drop_service_if_unused(z, s);
    z->serial++;
}

/* ---------------------------------------------------------------- slices */

static void index_endpoint(struct dns_zone *z, struct zone_endpoint *e)
{
    struct zone_endpoint *other = map_get(&z->endpoint_ips, ip_key(&e->ip));
    if (other) {
        list_insert_between(&e->same_ip, &other->same_ip, other->same_ip.next);
        return;
    }
    list_init(&e->same_ip);
    (void)map_put(&z->endpoint_ips, ip_key(&e->ip), e);
}

static void forget_endpoint(struct dns_zone *z, struct zone_endpoint *e)
{
    if (list_is_empty(&e->same_ip))
        (void)map_del(&z->endpoint_ips, ip_key(&e->ip));
    else if (map_get(&z->endpoint_ips, ip_key(&e->ip)) == e)
        (void)map_put(&z->endpoint_ips, ip_key(&e->ip),
                      list_first(&e->same_ip, struct zone_endpoint, same_ip));
    list_remove(&e->same_ip);
}

static void drop_slice(struct dns_zone *z, struct zone_slice *s)
{
    struct zone_service *service = s->service;
    for (size_t i = 0; i < s->n_endpoints; i++)
        forget_endpoint(z, &s->endpoints[i]);
    z->n_endpoints -= s->n_endpoints;
    list_remove(&s->of_service);
    arena_fini(&s->arena);
    free(s);
    drop_service_if_unused(z, service);
}

/* Of an endpoint the first address counts, as the API says. */
static void read_endpoint(struct zone_slice *s, const struct json *from)
{
    struct zone_endpoint *e = &s->endpoints[s->n_endpoints];
    const struct json *ready = json_path(from, "conditions", "ready", NULL);
    struct str host = json_get_str(from, "hostname");
    if (!address_parse(json_str(json_first(json_getc(from, "addresses"))), &e->ip))
        return;
    e->slice = s;
    e->is_ready = !json_is_bool(ready) || json_bool(ready);
    if (host.n <= DNS_LABEL_MAX)
        e->host = str_lower_arena(&s->arena, host);
    s->n_endpoints++;
}

static void read_slice(struct dns_zone *z, struct zone_slice *s, const struct json *object)
{
    const struct json *from = json_getc(object, "endpoints");
    size_t n = from ? MIN(from->n, (uint32_t)DNS_ZONE_SLICE_ENDPOINTS_MAX) : 0;
    if (n > DNS_ZONE_ENDPOINTS_MAX - z->n_endpoints) {
        n = DNS_ZONE_ENDPOINTS_MAX - z->n_endpoints;
        leave_out(z);
    }
    s->arena.block_bytes = 256;
    s->ports = read_ports(&s->arena, json_getc(object, "ports"), &s->n_ports);
    s->endpoints = arena_new_n(&s->arena, struct zone_endpoint, n + 1);
    for (const struct json *e = json_first(from); e && n > 0; e = e->next, n--)
        read_endpoint(s, e);
    for (size_t i = 0; i < s->n_endpoints; i++)
        index_endpoint(z, &s->endpoints[i]);
    z->n_endpoints += s->n_endpoints;
}

void dns_zone_delete_slice(struct dns_zone *z, struct str namespace, struct str name)
{
    struct zone_key key;
    struct zone_slice *s =
        dns_zone_key(namespace, name, &key) ? map_del(&z->slices, str_n(key.text, key.n)) : NULL;
    if (!s)
        return;
    drop_slice(z, s);
    z->serial++;
}

void dns_zone_put_slice(struct dns_zone *z, const struct json *object)
{
    const struct json *meta = json_getc(object, "metadata");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    struct str service = json_get_str(json_getc(meta, "labels"), "kubernetes.io/service-name");
    struct zone_key key, service_key;
    dns_zone_delete_slice(z, namespace, name);
    if (!dns_zone_key(namespace, name, &key) || !dns_zone_key(namespace, service, &service_key) ||
        str_is(json_get_str(object, "addressType"), "FQDN"))
        return;
    if (z->slices.n >= DNS_ZONE_SLICES_MAX) {
        leave_out(z);
        return;
    }
    struct zone_slice *s = xnew(struct zone_slice);
    s->service = service_at(z, &service_key);
    list_push_back(&s->service->slices, &s->of_service);
    read_slice(z, s, object);
    (void)map_put(&z->slices, str_n(key.text, key.n), s);
    z->serial++;
}

/* ---------------------------------------------------------------- the zone */

int dns_zone_new(struct str domain, struct dns_zone **ret, struct err *err)
{
    struct dns_zone *z = xnew(struct dns_zone);
    /* Names below have at most five labels in front. */
    if (!dns_name_parse(domain, &z->name) || z->name.n_labels == 0 || z->name.n > 128) {
        free(z);
        return err_set(err, E_INVALID, "'" STR_FMT "' is not a domain", STR_ARG(domain));
    }
    *ret = z;
    return 0;
}

void dns_zone_free(struct dns_zone *z)
{
    if (!z)
        return;
    for (struct map_entry *e; (e = map_next(&z->slices, NULL));)
        drop_slice(z, map_del(&z->slices, e->key));
    for (struct map_entry *e; (e = map_next(&z->services, NULL));) {
        struct zone_service *s = e->value;
        drop_facts(z, s);
        drop_service_if_unused(z, s);
    }
    map_fini(&z->services);
    map_fini(&z->slices);
    map_fini(&z->cluster_ips);
    map_fini(&z->endpoint_ips);
    map_fini(&z->namespaces);
    free(z);
}

const struct dns_name *dns_zone_name(const struct dns_zone *z)
{
    return &z->name;
}

void dns_zone_set_servers(struct dns_zone *z, const struct address *ips, size_t n)
{
    z->n_servers = MIN(n, (size_t)DNS_ZONE_SERVERS_MAX);
    for (size_t i = 0; i < z->n_servers; i++)
        z->servers[i] = ips[i];
}

void dns_zone_services_synced(struct dns_zone *z)
{
    z->has_services = true;
}

void dns_zone_slices_synced(struct dns_zone *z)
{
    z->has_slices = true;
}
