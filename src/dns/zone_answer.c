/* SPDX-License-Identifier: Apache-2.0 */
/* Answers from the index of a zone; see zone.h. */
#include "dns/zone_impl.h"

#include <arpa/inet.h>

/* One question. */
struct zone_question {
    const struct dns_zone *z;
    struct arena *a;
    struct str owner; /* the name */
    uint16_t type;
    struct dns_answer *to;
    size_t n_room, n_extra_room;
};

/* ---------------------------------------------------------------- records */

static struct dns_record *add_record(struct zone_question *q, uint16_t type)
{
    struct dns_answer *to = q->to;
    if (to->n_records == DNS_ZONE_RECORDS_MAX)
        return NULL;
    if (to->n_records == q->n_room) {
        struct dns_record *more = arena_new_n(q->a, struct dns_record, q->n_room * 2 + 4);
        if (to->n_records)
            memcpy(more, to->records, to->n_records * sizeof *more);
        to->records = more;
        q->n_room = q->n_room * 2 + 4;
    }
    struct dns_record *r = &to->records[to->n_records++];
    *r = (struct dns_record){ .owner = q->owner, .type = type, .ttl_s = DNS_ZONE_TTL_S };
    return r;
}

static uint16_t type_of(const struct address *ip)
{
    return address_is_v4(ip) ? DNS_A : DNS_AAAA;
}

static void add_address(struct zone_question *q, const struct address *ip)
{
    struct dns_record *r = q->type == type_of(ip) ? add_record(q, q->type) : NULL;
    if (r)
        r->ip = *ip;
}

static void add_target(struct zone_question *q, uint16_t type, struct str target)
{
    struct dns_record *r = target.n && q->type == type ? add_record(q, type) : NULL;
    if (r)
        r->target = target;
}

/* The address of a target, where there are few. */
static void add_extra(struct zone_question *q, struct str target, const struct address *ip)
{
    struct dns_answer *to = q->to;
    if (!to->extra)
        to->extra = arena_new_n(q->a, struct dns_record, DNS_ZONE_EXTRA_MAX);
    for (size_t i = 0; i < to->n_extra; i++) {
        if (address_equal(&to->extra[i].ip, ip) && str_eq(to->extra[i].owner, target))
            return;
    }
    if (to->n_extra < DNS_ZONE_EXTRA_MAX)
        to->extra[to->n_extra++] = (struct dns_record){
            .owner = target, .type = type_of(ip), .ttl_s = DNS_ZONE_TTL_S, .ip = *ip
        };
}

static void set_soa(const struct dns_zone *z, struct arena *a, struct dns_record *r)
{
    const struct str server[] = { STR("ns"), STR("dns") }, mailbox[] = { STR("hostmaster") };
    struct str zone = dns_name_from(&z->name, 0);
    *r = (struct dns_record){ .owner = zone,
                              .type = DNS_SOA,
                              .ttl_s = DNS_ZONE_TTL_S,
                              .target = dns_name_join(a, server, 2, zone),
                              .mailbox = dns_name_join(a, mailbox, 1, zone),
                              .serial = z->serial };
}

static int compare_records(const void *a, const void *b)
{
    const struct dns_record *x = a, *y = b;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    int order = memcmp(x->ip.bytes, y->ip.bytes, sizeof x->ip.bytes);
    return order ? order : str_cmp(x->target, y->target);
}

/* An endpoint may be in several slices; its records are in the answer once. first: from which on
 * records are of one owner and type. */
static void remove_twins(struct dns_answer *to, size_t first)
{
    struct dns_record *r = to->records + first;
    size_t n = to->n_records - first, kept = 0;
    if (n < 2)
        return;
    qsort(r, n, sizeof *r, compare_records);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || compare_records(&r[kept - 1], &r[i]) != 0)
            r[kept++] = r[i];
    }
    to->n_records = first + kept;
}

/* ---------------------------------------------------------------- services */

static const struct zone_service *find_service(const struct dns_zone *z, struct str namespace,
                                               struct str name)
{
    struct zone_key key;
    const struct zone_service *s =
        dns_zone_key(namespace, name, &key) ? map_get(&z->services, str_n(key.text, key.n)) : NULL;
    return s && s->facts ? s : NULL;
}

static bool is_shown(const struct zone_service *s, const struct zone_endpoint *e)
{
    return e->is_ready || s->facts->publishes_all;
}

/* "10-1-2-3" or "fd00--7". */
static bool read_dashed(struct str label, struct address *ret)
{
    char text[ADDRESS_TEXT_BYTES];
    if (label.n >= sizeof text || str_find_char(label, '.') >= 0 || str_find_char(label, ':') >= 0)
        return false;
    for (int family = 0; family < 2; family++) {
        for (size_t i = 0; i < label.n; i++)
            text[i] = label.p[i] == '-' ? ".:"[family] : label.p[i];
        if (address_parse(str_n(text, label.n), ret))
            return true;
    }
    return false;
}

/* The label of an endpoint: its host name, else its address with dashes. */
static struct str label_of(struct arena *a, const struct zone_endpoint *e)
{
    if (e->host.n)
        return e->host;
    char *text = arena_alloc(a, ADDRESS_TEXT_BYTES);
    address_format(&e->ip, text);
    for (char *p = text; *p; p++) {
        if (*p == '.' || *p == ':')
            *p = '-';
    }
    return str_of(text);
}

/* dashed: the address that the label means; NULL: none. */
static bool is_labelled(const struct zone_endpoint *e, struct str label,
                        const struct address *dashed)
{
    return e->host.n ? str_eq(e->host, label) : dashed && address_equal(&e->ip, dashed);
}

static struct str service_name(struct zone_question *q, const struct zone_service *s,
                               const struct str *host)
{
    struct str labels[4];
    size_t n = 0;
    if (host)
        labels[n++] = *host;
    labels[n++] = s->name;
    labels[n++] = s->namespace;
    labels[n++] = STR("svc");
    return dns_name_join(q->a, labels, n, dns_name_from(&q->z->name, 0));
}

/*
 * The addresses of a headless Service, of the endpoints with this label or of all. Returns whether
 * there is such an endpoint, of either family.
 */
static bool add_endpoints(struct zone_question *q, const struct zone_service *s,
                          const struct str *label)
{
    bool is_there = false;
    size_t first = q->to->n_records;
    struct address ip;
    const struct address *dashed = label && read_dashed(*label, &ip) ? &ip : NULL;
    list_each (node, &s->slices) {
        const struct zone_slice *slice = list_entry(node, struct zone_slice, of_service);
        for (size_t i = 0; i < slice->n_endpoints; i++) {
            const struct zone_endpoint *e = &slice->endpoints[i];
            if (!is_shown(s, e) || (label && !is_labelled(e, *label, dashed)))
                continue;
            is_there = true;
            if (q->to->n_records >= DNS_ZONE_RECORDS_MAX)
                break;
            add_address(q, &e->ip);
        }
    }
    remove_twins(q->to, first);
    return is_there;
}

/* A label "_http" or "_tcp" without its first byte. false: it does not begin so. */
static bool cut_underscore(struct str label, struct str *ret)
{
    *ret = str_slice(label, 1, label.n);
    return label.n > 1 && label.p[0] == '_';
}

/* port "": any named one. */
static const struct zone_port *find_port(const struct zone_port *ports, size_t n, struct str port,
                                         enum zone_protocol protocol)
{
    for (size_t i = 0; i < n; i++) {
        if (ports[i].protocol == protocol && (!port.n || str_eq(ports[i].name, port)))
            return &ports[i];
    }
    return NULL;
}

static void add_service(struct zone_question *q, struct str target, uint16_t port, uint16_t weight)
{
    struct dns_record *r = q->type == DNS_SRV && target.n ? add_record(q, DNS_SRV) : NULL;
    if (!r)
        return;
    r->target = target;
    r->port = port;
    r->weight = weight;
}

static bool add_endpoint_services(struct zone_question *q, const struct zone_service *s,
                                  struct str port, enum zone_protocol protocol)
{
    bool is_there = false;
    size_t first = q->to->n_records;
    list_each (node, &s->slices) {
        const struct zone_slice *slice = list_entry(node, struct zone_slice, of_service);
        const struct zone_port *p = find_port(slice->ports, slice->n_ports, port, protocol);
        for (size_t i = 0; p && i < slice->n_endpoints; i++) {
            const struct zone_endpoint *e = &slice->endpoints[i];
            if (!is_shown(s, e))
                continue;
            is_there = true;
            if (q->type != DNS_SRV || !port.n)
                continue;
            if (q->to->n_records >= DNS_ZONE_RECORDS_MAX)
                break;
            struct str label = label_of(q->a, e), target = service_name(q, s, &label);
            add_service(q, target, p->port, 1);
            add_extra(q, target, &e->ip);
        }
    }
    remove_twins(q->to, first);
    for (size_t i = first; i < q->to->n_records; i++)
        q->to->records[i].weight = (uint16_t)MAX((size_t)1, 100 / (q->to->n_records - first));
    return is_there;
}

/* "_port._protocol", or with port "" the name "_protocol" above those. */
static bool answer_port(struct zone_question *q, const struct zone_service *s, struct str port,
                        enum zone_protocol protocol)
{
    const struct zone_facts *f = s->facts;
    if (f->is_headless)
        return add_endpoint_services(q, s, port, protocol);
    const struct zone_port *p = find_port(f->ports, f->n_ports, port, protocol);
    if (!p || f->n_ips == 0)
        return false;
    if (q->type != DNS_SRV || !port.n)
        return true;
    struct str target = service_name(q, s, NULL);
    add_service(q, target, p->port, 100);
    for (size_t i = 0; i < f->n_ips; i++)
        add_extra(q, target, &f->ips[i]);
    return true;
}

/* labels: those in front of "NAME.NAMESPACE.svc.ZONE". */
static bool answer_below_service(struct zone_question *q, const struct zone_service *s,
                                 const struct str *labels, size_t n)
{
    enum zone_protocol protocol;
    struct str word, port = STR("");
    if (!cut_underscore(labels[n - 1], &word))
        return n == 1 && s->facts->is_headless && add_endpoints(q, s, &labels[0]);
    if (n > 2 || !dns_zone_protocol(word, &protocol) ||
        (n == 2 && !cut_underscore(labels[0], &port)))
        return false;
    return answer_port(q, s, port, protocol);
}

static bool answer_service(struct zone_question *q, const struct zone_service *s)
{
    const struct zone_facts *f = s->facts;
    if (f->is_headless)
        return add_endpoints(q, s, NULL);
    for (size_t i = 0; i < f->n_ips; i++)
        add_address(q, &f->ips[i]);
    return true;
}

/* ---------------------------------------------------------------- names of the zone */

/* labels: those in front of "svc.ZONE". */
static enum dns_zone_found answer_services(struct zone_question *q, const struct str *labels,
                                           size_t n)
{
    if (!q->z->has_services)
        return DNS_ZONE_NOT_KNOWN;
    if (n == 0 || (n == 1 && map_has(&q->z->namespaces, labels[0])))
        return DNS_ZONE_FOUND;
    const struct zone_service *s = n >= 2 ? find_service(q->z, labels[n - 1], labels[n - 2]) : NULL;
    if (!s)
        return DNS_ZONE_NO_NAME;
    if (s->facts->is_headless && !q->z->has_slices)
        return DNS_ZONE_NOT_KNOWN;
    bool is_there = n == 2 ? answer_service(q, s) : answer_below_service(q, s, labels, n - 2);
    return is_there ? DNS_ZONE_FOUND : DNS_ZONE_NO_NAME;
}

/* labels: those in front of "pod.ZONE". */
static enum dns_zone_found answer_pods(struct zone_question *q, const struct str *labels, size_t n)
{
    struct address ip;
    if (n <= 1)
        return DNS_ZONE_FOUND;
    if (n > 2 || !read_dashed(labels[0], &ip))
        return DNS_ZONE_NO_NAME;
    add_address(q, &ip);
    return DNS_ZONE_FOUND;
}

static void answer_version(struct zone_question *q)
{
    add_target(q, DNS_TXT, STR(DNS_ZONE_VERSION));
}

static void answer_zone(struct zone_question *q)
{
    struct dns_record soa;
    set_soa(q->z, q->a, &soa);
    if (q->type == DNS_SOA)
        *add_record(q, DNS_SOA) = soa;
    add_target(q, DNS_NS, soa.target);
    for (size_t i = 0; q->type == DNS_NS && i < q->z->n_servers; i++)
        add_extra(q, soa.target, &q->z->servers[i]);
}

static enum dns_zone_found answer_server(struct zone_question *q)
{
    for (size_t i = 0; i < q->z->n_servers; i++)
        add_address(q, &q->z->servers[i]);
    return DNS_ZONE_FOUND;
}

enum { ZONE_DEPTH_MAX = 5 }; /* labels in front of the zone */

static enum dns_zone_found answer_in_zone(struct zone_question *q, const struct dns_name *name)
{
    struct str labels[ZONE_DEPTH_MAX], last;
    size_t n = (size_t)name->n_labels - q->z->name.n_labels;
    if (n > ZONE_DEPTH_MAX)
        return DNS_ZONE_NO_NAME;
    if (n == 0) {
        answer_zone(q);
        return DNS_ZONE_FOUND;
    }
    for (size_t i = 0; i < n; i++)
        labels[i] = dns_name_label(name, i);
    last = labels[n - 1];
    if (str_is(last, "svc"))
        return answer_services(q, labels, n - 1);
    if (str_is(last, "pod"))
        return answer_pods(q, labels, n - 1);
    if (str_is(last, "dns") && n <= 2 && (n == 1 || str_is(labels[0], "ns")))
        return n == 1 ? DNS_ZONE_FOUND : answer_server(q);
    if (!str_is(last, "dns-version") || n != 1)
        return DNS_ZONE_NO_NAME;
    answer_version(q);
    return DNS_ZONE_FOUND;
}

/* ---------------------------------------------------------------- aliases */

/* The target of an ExternalName; "": the name is none. */
static struct str find_alias(const struct zone_question *q, const struct dns_name *name)
{
    size_t n = (size_t)name->n_labels - q->z->name.n_labels;
    if (n != 3 || !q->z->has_services || !str_is(dns_name_label(name, 2), "svc"))
        return STR("");
    const struct zone_service *s =
        find_service(q->z, dns_name_label(name, 1), dns_name_label(name, 0));
    return s && s->facts->is_external ? s->facts->external : STR("");
}

/* Follow aliases: `name` becomes the last target, and q->owner as well. Returns whether that is in
 * the zone. */
static bool follow_aliases(struct zone_question *q, struct dns_name *name)
{
    for (int i = 0; i < DNS_ZONE_ALIASES_MAX; i++) {
        struct str target = find_alias(q, name);
        if (!target.n)
            return true;
        struct dns_record *r = add_record(q, DNS_CNAME);
        r->target = q->owner = str_copy_arena(q->a, target);
        if (q->type == DNS_CNAME || !dns_name_read(target, name))
            return false;
        if (!dns_name_is_in(name, &q->z->name)) {
            q->to->follow = q->owner;
            return false;
        }
    }
    return false;
}

/* ---------------------------------------------------------------- addresses */

static int nibble_of(struct str label)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = label.n == 1 && label.p[0] ? strchr(digits, label.p[0]) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool read_reverse6(const struct dns_name *name, struct address *ret)
{
    *ret = (struct address){ 0 };
    for (size_t i = 0; i < 32; i++) {
        int nibble = nibble_of(dns_name_label(name, 31 - i));
        if (nibble < 0)
            return false;
        ret->bytes[i / 2] |= (uint8_t)(i % 2 ? nibble : nibble << 4);
    }
    return true;
}

static bool read_reverse4(const struct dns_name *name, struct address *ret)
{
    *ret = (struct address){ .bytes = { [10] = 0xff, 0xff } };
    for (size_t i = 0; i < 4; i++) {
        struct str label = dns_name_label(name, i);
        uint64_t v;
        if (parse_u64(label, 0, 255, &v) < 0 || (label.n > 1 && label.p[0] == '0'))
            return false;
        ret->bytes[15 - i] = (uint8_t)v;
    }
    return true;
}

static bool read_reverse(const struct dns_name *name, struct address *ret)
{
    size_t n = name->n_labels;
    if (n < 2 || !str_is(dns_name_label(name, n - 1), "arpa"))
        return false;
    struct str family = dns_name_label(name, n - 2);
    if (str_is(family, "in-addr"))
        return n == 6 && read_reverse4(name, ret);
    return str_is(family, "ip6") && n == 34 && read_reverse6(name, ret);
}

static void add_endpoint_names(struct zone_question *q, const struct zone_endpoint *first)
{
    const struct zone_endpoint *e = first;
    size_t looked = 0;
    do {
        const struct zone_service *s = e->slice->service;
        if (s->facts && s->facts->is_headless && is_shown(s, e)) {
            struct str label = label_of(q->a, e);
            add_target(q, DNS_PTR, service_name(q, s, &label));
        }
        e = list_entry(e->same_ip.next, struct zone_endpoint, same_ip);
    } while (e != first && ++looked < DNS_ZONE_RECORDS_MAX);
    remove_twins(q->to, 0); /* nothing stands in front of them */
}

/* Another server may know the other addresses. */
static enum dns_zone_found answer_reverse(struct zone_question *q, const struct address *ip)
{
    struct str key = str_n(ip->bytes, sizeof ip->bytes);
    const struct zone_service *s = map_get(&q->z->cluster_ips, key);
    const struct zone_endpoint *e = map_get(&q->z->endpoint_ips, key);
    if (s)
        add_target(q, DNS_PTR, service_name(q, s, NULL));
    else if (e)
        add_endpoint_names(q, e);
    return q->to->n_records ? DNS_ZONE_FOUND : DNS_ZONE_ELSEWHERE;
}

/* ---------------------------------------------------------------- a question */

void dns_zone_answer(const struct dns_zone *z, const struct dns_name *name, uint16_t type,
                     struct arena *a, struct dns_answer *ret)
{
    struct dns_name at = *name;
    struct address ip;
    *ret = (struct dns_answer){ 0 };
    struct zone_question q = {
        .z = z, .a = a, .owner = dns_name_from(name, 0), .type = type, .to = ret
    };
    if (!dns_name_is_in(name, &z->name)) {
        ret->found = !read_reverse(name, &ip) ? DNS_ZONE_ELSEWHERE
                     : !z->has_services       ? DNS_ZONE_NOT_KNOWN
                                              : answer_reverse(&q, &ip);
        return;
    }
    if (!follow_aliases(&q, &at)) {
        ret->found = DNS_ZONE_FOUND;
        return;
    }
    size_t n_aliases = ret->n_records;
    ret->found = answer_in_zone(&q, &at);
    ret->has_soa = ret->n_records == n_aliases;
    if (ret->has_soa)
        set_soa(z, a, &ret->soa);
}
