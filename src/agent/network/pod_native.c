/* SPDX-License-Identifier: Apache-2.0 */
/* Native networks of pods; see pod_native.h. */
#include "agent/network/pod_native.h"

#include "agent/network/pod_firewall.h"
#include "agent/network/pod_namespace.h"
#include "agent/network/pod_range.h"
#include "base/log.h"
#include "base/sys.h"
#include "container/netlink.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <unistd.h>

/* Ranges of addresses, shared with jobs, which only read it. A new one after each change. */
struct setup {
    unsigned refs;   /* loop thread only */
    uint64_t number; /* from 1 */
    struct netlink_ip pods[POD_NETWORK_CIDRS_MAX], cluster[POD_NETWORK_CIDRS_MAX];
    size_t n_pods, n_cluster;
    VEC(struct netlink_ip) all; /* pods, and addresses of other ranges that pods still have */
};

struct pod_native {
    const struct pod_network_places *places;
    uint32_t mtu;
    uint32_t next[POD_NETWORK_CIDRS_MAX];
    struct setup *setup; /* NULL before pod_native_set_cidrs() */
    uv_mutex_t lock;     /* of the machine's own part: */
    uint64_t applied;    /* the number of the setup that the machine has; 0: none */
    int firewall;        /* 0, or why there is none */
    uint64_t refreshed;  /* the number of the setup that the last refresh began with */
    struct map used;     /* addresses as text; the value is not used */
    VEC(const struct pod_record *) kept;
};

struct native_job {
    struct job job;
    struct defer early; /* a failure before the job */
    struct pod_native *n;
    struct setup *setup;
    struct pod_network_change *change;
    struct netlink_ip ips[POD_NETWORK_CIDRS_MAX], gateways[POD_NETWORK_CIDRS_MAX];
    size_t n_ips;
    int firewall; /* of the machine, as this job has found it */
    int r;
    struct err err;
};

/* ---------------------------------------------------------------- on any thread */

static void device_of(struct str id, char ret[IFNAMSIZ])
{
    uint64_t hash = str_hash(id, 0x706f64);
    (void)snprintf(ret, IFNAMSIZ, POD_NATIVE_DEVICES "%012llx",
                   (unsigned long long)(hash & UINT64_C(0xffffffffffff)));
}

static int forward(const struct setup *s, struct err *err)
{
    for (size_t i = 0; i < s->n_pods; i++) {
        const char *path = s->pods[i].family == AF_INET6 ? "/proc/sys/net/ipv6/conf/all/forwarding"
                                                         : "/proc/sys/net/ipv4/ip_forward";
        int r = pod_namespace_write_sysctl(path, "1", err);
        if (r < 0)
            return r;
    }
    return 0;
}

static int apply(struct pod_native *n, const struct setup *s, struct err *err)
{
    const struct pod_firewall_ranges ranges = { s->all.p, s->cluster, s->all.n, s->n_cluster };
    struct err why = { 0 };
    int r = forward(s, err);
    if (r < 0)
        return r;
    n->firewall = pod_firewall_prepare(&ranges, &why);
    if (n->firewall < 0)
        log_warn("pods reach no network outside the cluster that does not route to them, and "
                 "have no host ports",
                 "error=\"%s\"", err_text(&why));
    n->applied = s->number;
    return 0;
}

/* The machine's own part, once for each setup. A job that began with an earlier one must not undo a
 * later one. */
static int set_up_machine(struct pod_native *n, const struct setup *s, int *ret_firewall,
                          struct err *err)
{
    uv_mutex_lock(&n->lock);
    int r = s->number > n->applied ? apply(n, s, err) : 0;
    if (r == 0)
        *ret_firewall = n->firewall;
    uv_mutex_unlock(&n->lock);
    return r;
}

/* Of the node's end of every pair. A pod keeps it as its gateway's, so it must not change: udev
 * replaces addresses that the kernel has drawn. */
static const struct netlink_mac node_mac = { { 0x02, 'd', 'm', 'p', 0, 1 } };

static int add_device(int outer, const char *name, int ns, struct err *err)
{
    uint32_t index = 0;
    int r = netlink_add_veth(outer, name, &node_mac, "eth0", ns, err);
    if (r != -EEXIST)
        return r;
    r = netlink_find_link(outer, name, &index, err); /* of a network whose record was lost */
    if (r == 0)
        r = netlink_del_link(outer, index, err);
    return r < 0 ? r : netlink_add_veth(outer, name, &node_mac, "eth0", ns, err);
}

static const struct netlink_ip link_gateway = { .family = AF_INET6,
                                                .prefix = 128,
                                                .bytes = { 0xfe, 0x80, [15] = 1 } };

static int set_up_ip_inside(int inner, uint32_t device, const struct native_job *j, size_t i,
                            struct err *err)
{
    const struct netlink_ip *ip = &j->ips[i];
    bool is_v6 = ip->family == AF_INET6;
    const struct netlink_ip *gateway = is_v6 ? &link_gateway : &j->gateways[i];
    struct netlink_route to_gateway = { .to = *gateway, .index = device };
    struct netlink_route by_gateway = { .to = { .family = ip->family },
                                        .gateway = gateway,
                                        .source = is_v6 ? NULL : ip,
                                        .index = device };
    int r = netlink_add_ip(inner, device, ip, err);
    if (r == 0 && !is_v6)
        r = netlink_set_route(inner, &to_gateway, err);
    return r < 0 ? r : netlink_set_route(inner, &by_gateway, err);
}

static int set_up_inside(int inner, const struct native_job *j, struct err *err)
{
    uint32_t device = 0;
    int r = netlink_find_link(inner, "eth0", &device, err);
    if (r == 0 && j->n->mtu)
        r = netlink_set_mtu(inner, device, j->n->mtu, err);
    if (r == 0)
        r = netlink_set_up(inner, device, err);
    for (size_t i = 0; r == 0 && i < j->n_ips; i++)
        r = set_up_ip_inside(inner, device, j, i, err);
    return r;
}

static int set_up_ip_outside(int outer, uint32_t device, const struct native_job *j, size_t i,
                             struct err *err)
{
    struct netlink_route to_pod = { .to = j->ips[i], .source = &j->gateways[i], .index = device };
    int r = netlink_add_ip(outer, device, &j->gateways[i], err);
    if (r == 0 && j->ips[i].family == AF_INET6)
        r = netlink_add_ip(outer, device, &link_gateway, err);
    return r < 0 ? r : netlink_set_route(outer, &to_pod, err);
}

/* Packets from the node's loopback addresses may leave over this device, for its host ports. */
static int allow_loopback(const char *name, struct err *err)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/proc/sys/net/ipv4/conf/%s/route_localnet", name);
    return pod_namespace_write_sysctl(path, "1", err);
}

static int set_up_outside(int outer, const char *name, const struct native_job *j, struct err *err)
{
    uint32_t device = 0;
    int r = netlink_find_link(outer, name, &device, err);
    if (r == 0 && j->n->mtu)
        r = netlink_set_mtu(outer, device, j->n->mtu, err);
    if (r == 0)
        r = netlink_set_up(outer, device, err);
    for (size_t i = 0; r == 0 && i < j->n_ips; i++)
        r = set_up_ip_outside(outer, device, j, i, err);
    return r;
}

static int open_ports(const struct native_job *j, const char *name, struct err *err)
{
    if (j->change->rec->n_ports == 0)
        return 0;
    if (j->firewall < 0)
        return err_set(err, E_UNSUPPORTED, "host ports need nftables, which cannot be used here");
    int r = allow_loopback(name, err);
    return r < 0 ? r : pod_firewall_open(j->change->rec, err);
}

static int connect_pod(struct native_job *j, int ns, int inner, struct err *err)
{
    char name[IFNAMSIZ];
    scoped(fd_scoped) int outer = netlink_open(err);
    if (outer < 0)
        return outer;
    device_of(j->change->rec->id, name);
    int r = add_device(outer, name, ns, err);
    if (r == 0)
        r = set_up_outside(outer, name, j, err);
    if (r == 0)
        r = set_up_inside(inner, j, err);
    return r < 0 ? r : open_ports(j, name, err);
}

static int add_now(struct native_job *j, struct err *err)
{
    struct pod_record *rec = j->change->rec;
    scoped(fd_scoped) int ns = -1, inner = -1;
    int r = pod_record_write(j->n->places->records_dir, rec, err);
    if (r == 0)
        r = set_up_machine(j->n, j->setup, &j->firewall, err);
    if (r == 0)
        r = pod_namespace_make(j->change->netns, j->change->user, &ns, &inner, err);
    if (r == 0)
        r = connect_pod(j, ns, inner, err);
    rec->is_complete = r == 0;
    return r < 0 ? r : pod_record_write(j->n->places->records_dir, rec, err);
}

static int remove_device(struct str id, struct err *err)
{
    char name[IFNAMSIZ];
    uint32_t index = 0;
    scoped(fd_scoped) int outer = netlink_open(err);
    if (outer < 0)
        return outer;
    device_of(id, name);
    if (netlink_find_link(outer, name, &index, NULL) < 0)
        return 0;
    int r = netlink_del_link(outer, index, err);
    return r == -ENODEV ? 0 : r; /* it went with its namespace meanwhile */
}

/* Where there are no nftables, none were opened. */
static bool has_firewall(struct pod_native *n)
{
    uv_mutex_lock(&n->lock);
    bool has = n->firewall == 0;
    uv_mutex_unlock(&n->lock);
    return has;
}

/* The rules need not be there for it: another owner of networks on this machine has others. */
static int shut_ports(struct native_job *j, struct err *err)
{
    if (j->change->rec->n_ports == 0 || !has_firewall(j->n))
        return 0;
    int r = pod_firewall_shut(j->change->rec, err);
    return r == -EAFNOSUPPORT || r == -EPROTONOSUPPORT ? 0 : r;
}

static int remove_now(struct native_job *j, struct err *err)
{
    struct pod_record *rec = j->change->rec;
    int r = shut_ports(j, err);
    if (r == 0)
        r = remove_device(rec->id, err);
    if (r == 0)
        r = pod_namespace_remove(j->change->netns, err);
    return r < 0 ? r : pod_record_remove(j->n->places->records_dir, rec->id, err);
}

static void work_add(struct job *job)
{
    struct native_job *j = container_of(job, struct native_job, job);
    j->r = add_now(j, &j->err);
}

static void work_remove(struct job *job)
{
    struct native_job *j = container_of(job, struct native_job, job);
    j->r = remove_now(j, &j->err);
}

/* ---------------------------------------------------------------- addresses and ports */

static struct setup *setup_new(void)
{
    struct setup *s = xnew(struct setup);
    s->refs = 1;
    return s;
}

static void setup_unref(struct setup *s)
{
    if (!s || --s->refs > 0)
        return;
    vec_fini(&s->all);
    free(s);
}

static void native_keep(void *driver, const struct pod_record *rec)
{
    struct pod_native *n = driver;
    for (size_t i = 0; i < rec->n_ips; i++)
        (void)map_put(&n->used, rec->ips[i], n);
    vec_push(&n->kept, rec);
}

static void native_release(void *driver, const struct pod_record *rec)
{
    struct pod_native *n = driver;
    for (size_t i = 0; i < rec->n_ips; i++)
        (void)map_del(&n->used, rec->ips[i]);
    for (size_t i = 0; i < n->kept.n; i++)
        if (n->kept.p[i] == rec) {
            vec_remove(&n->kept, i);
            return;
        }
}

static bool is_same_port(const struct pod_record_port *a, const struct pod_record_port *b)
{
    return a->host_port == b->host_port && a->protocol == b->protocol &&
           (a->host_ip.n == 0 || b->host_ip.n == 0 || str_eq(a->host_ip, b->host_ip));
}

static const struct pod_record *find_port(const struct pod_native *n,
                                          const struct pod_record_port *port)
{
    for (size_t k = 0; k < n->kept.n; k++)
        for (size_t i = 0; i < n->kept.p[k]->n_ports; i++)
            if (is_same_port(&n->kept.p[k]->ports[i], port))
                return n->kept.p[k];
    return NULL;
}

static int check_ports(const struct pod_native *n, const struct pod_record *rec, struct err *err)
{
    for (size_t i = 0; i < rec->n_ports; i++) {
        const struct pod_record *other = find_port(n, &rec->ports[i]);
        if (other)
            return err_set(err, -EADDRINUSE, "pod '" STR_FMT "/" STR_FMT "' has host port %u",
                           STR_ARG(other->namespace), STR_ARG(other->name),
                           rec->ports[i].host_port);
    }
    return 0;
}

/* An address of each range, written into the record. */
static int take_ips(struct pod_native *n, struct native_job *j, struct err *err)
{
    struct pod_record *rec = j->change->rec;
    const struct setup *s = n->setup;
    rec->ips = arena_new_n(&rec->arena, struct str, s->n_pods);
    rec->n_ips = 0;
    for (size_t i = 0; i < s->n_pods; i++) {
        char text[POD_RANGE_TEXT_BYTES];
        if (!pod_range_take(&s->pods[i], &n->used, &n->next[i], &j->ips[i]))
            return err_set(err, E_LIMIT, "every address of the node's range is in use");
        pod_range_format(&j->ips[i], text);
        j->gateways[i] = pod_range_at(&s->pods[i], 1);
        rec->ips[rec->n_ips++] = str_copy_arena(&rec->arena, str_of(text));
    }
    j->n_ips = s->n_pods;
    return 0;
}

static int plan(struct pod_native *n, struct native_job *j, struct err *err)
{
    struct pod_record *rec = j->change->rec;
    if (rec->ingress_bits || rec->egress_bits)
        return err_set(err, E_UNSUPPORTED,
                       "limits of a pod's bandwidth need a CNI plug-in with that capability");
    int r = check_ports(n, rec, err);
    if (r == 0)
        r = take_ips(n, j, err);
    if (r < 0)
        rec->n_ips = 0;
    return r;
}

/* ---------------------------------------------------------------- changes */

static void finish(struct native_job *j, int r)
{
    struct pod_network_change *c = j->change;
    struct err err = j->err;
    setup_unref(j->setup);
    free(j);
    c->done(c, r, &err);
}

static void on_worked(struct job *job, int r)
{
    struct native_job *j = container_of(job, struct native_job, job);
    finish(j, r < 0 ? r : j->r);
}

static void on_early(struct defer *d)
{
    struct native_job *j = container_of(d, struct native_job, early);
    finish(j, j->r);
}

static struct native_job *job_of(struct pod_native *n, struct pod_network_change *c,
                                 void (*work)(struct job *))
{
    struct native_job *j = xnew(struct native_job);
    j->n = n;
    j->change = c;
    j->setup = n->setup;
    n->setup->refs++;
    j->job = (struct job){ .work = work, .done = on_worked };
    return j;
}

/* Once the job has started, the job belongs to its thread. */
static void run_job(struct native_job *j)
{
    struct loop *loop = j->n->places->loop;
    int r = j->r < 0 ? j->r : job_start(loop, &j->job);
    if (r >= 0)
        return;
    j->r = r;
    defer_start(loop, &j->early, on_early);
}

static void native_add(void *driver, struct pod_network_change *c)
{
    struct pod_native *n = driver;
    struct native_job *j = job_of(n, c, work_add);
    c->rec->driver = POD_RECORD_NATIVE;
    j->r = plan(n, j, &j->err);
    native_keep(n, c->rec);
    run_job(j);
}

static void native_remove(void *driver, struct pod_network_change *c)
{
    run_job(job_of(driver, c, work_remove));
}

const struct pod_network_driver pod_native_driver = {
    .add = native_add,
    .remove = native_remove,
    .keep = native_keep,
    .release = native_release,
};

/* ---------------------------------------------------------------- the driver */

struct pod_native *pod_native_new(const struct pod_network_places *places, uint32_t mtu)
{
    struct pod_native *n = xnew(struct pod_native);
    n->places = places;
    n->mtu = mtu;
    if (uv_mutex_init(&n->lock) < 0)
        abort();
    for (size_t i = 0; i < POD_NETWORK_CIDRS_MAX; i++)
        n->next[i] = (uint32_t)(sys_random_u64() % 250);
    return n;
}

void pod_native_free(struct pod_native *n)
{
    if (!n)
        return;
    assert(!n->setup || n->setup->refs == 1);
    setup_unref(n->setup);
    uv_mutex_destroy(&n->lock);
    map_fini(&n->used);
    vec_fini(&n->kept);
    free(n);
}

static int read_range(const struct setup *s, struct str cidr, struct netlink_ip *ret,
                      struct err *err)
{
    if (!pod_range_parse(cidr, ret) || pod_range_count(ret) < 4)
        return err_set(err, E_INVALID, "'" STR_FMT "' is no range of pod addresses", STR_ARG(cidr));
    if (s->n_pods && s->pods[0].family == ret->family)
        return err_set(err, E_INVALID, "'" STR_FMT "': there is a range of this family already",
                       STR_ARG(cidr));
    return 0;
}

static int read_ranges(struct setup *s, const struct str *cidrs, size_t n_cidrs,
                       const struct str *cluster, size_t n_cluster, struct err *err)
{
    if (n_cidrs == 0 || n_cidrs > POD_NETWORK_CIDRS_MAX || n_cluster > POD_NETWORK_CIDRS_MAX)
        return err_set(err, E_INVALID, "a node has one or two ranges of pod addresses");
    for (; s->n_pods < n_cidrs; s->n_pods++) {
        int r = read_range(s, cidrs[s->n_pods], &s->pods[s->n_pods], err);
        if (r < 0)
            return r;
    }
    for (; s->n_cluster < n_cluster; s->n_cluster++)
        if (!pod_range_parse(cluster[s->n_cluster], &s->cluster[s->n_cluster]))
            return err_set(err, E_INVALID, "'" STR_FMT "' is no network of the cluster",
                           STR_ARG(cluster[s->n_cluster]));
    return 0;
}

static bool is_same(const struct setup *a, const struct setup *b)
{
    return a->n_pods == b->n_pods && a->n_cluster == b->n_cluster &&
           memcmp(a->pods, b->pods, sizeof a->pods) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0;
}

static bool is_in_pods(const struct setup *s, const struct netlink_ip *ip)
{
    for (size_t i = 0; i < s->n_pods; i++)
        if (pod_range_has(&s->pods[i], ip))
            return true;
    return false;
}

/* Pods keep the addresses that they have. */
static void list_all(const struct pod_native *n, struct setup *s)
{
    for (size_t i = 0; i < s->n_pods; i++)
        vec_push(&s->all, s->pods[i]);
    for (size_t k = 0; k < n->kept.n; k++) {
        const struct pod_record *rec = n->kept.p[k];
        for (size_t i = 0; i < rec->n_ips; i++) {
            struct netlink_ip ip;
            if (pod_range_parse_ip(rec->ips[i], &ip) && !is_in_pods(s, &ip))
                vec_push(&s->all, ip);
        }
    }
}

int pod_native_set_cidrs(struct pod_native *n, const struct str *cidrs, size_t n_cidrs,
                         const struct str *cluster, size_t n_cluster, struct err *err)
{
    struct setup *s = setup_new();
    int r = read_ranges(s, cidrs, n_cidrs, cluster, n_cluster, err);
    bool is_new = r == 0 && !(n->setup && is_same(n->setup, s));
    if (is_new) {
        s->number = n->setup ? n->setup->number + 1 : 1;
        list_all(n, s);
    }
    setup_unref(is_new ? n->setup : s);
    if (is_new)
        n->setup = s;
    return r;
}

static struct address address_of(const struct netlink_ip *ip)
{
    struct address a = { .bytes = { [10] = 0xff, 0xff } };
    if (ip->family == AF_INET6)
        memcpy(a.bytes, ip->bytes, sizeof a.bytes);
    else
        memcpy(a.bytes + 12, ip->bytes, 4);
    return a;
}

static void add_range(const struct netlink_ip *range, struct pod_networks_view *to)
{
    to->pods[to->n_pods++] =
        (struct address_net){ .base = address_of(range),
                              .bits = range->prefix + (range->family == AF_INET6 ? 0U : 96U) };
}

void pod_native_view(const struct pod_native *n, struct pod_networks_view *ret)
{
    const struct setup *s = n->setup;
    for (size_t i = 0; i < s->n_pods; i++) {
        struct netlink_ip gateway = pod_range_at(&s->pods[i], 1);
        ret->gateways[ret->n_gateways++] = address_of(&gateway);
        add_range(&s->pods[i], ret);
    }
    for (size_t i = 0; i < s->n_cluster; i++)
        add_range(&s->cluster[i], ret);
}

/* ---------------------------------------------------------------- rules of pods that run */

struct native_refresh {
    struct job job;
    struct pod_native *n;
    struct setup *setup;
    void (*done)(void *arg);
    void *arg;
};

static void work_refresh(struct job *job)
{
    struct native_refresh *f = container_of(job, struct native_refresh, job);
    struct err err = { 0 };
    int firewall;
    if (set_up_machine(f->n, f->setup, &firewall, &err) < 0)
        log_warn("the rules of pods are as before until another pod starts", "error=\"%s\"",
                 err_text(&err));
}

static void on_refreshed(struct job *job, int r)
{
    struct native_refresh *f = container_of(job, struct native_refresh, job);
    void (*done)(void *) = f->done;
    void *arg = f->arg;
    setup_unref(f->setup);
    free(f);
    done(arg);
}

bool pod_native_is_stale(const struct pod_native *n)
{
    return n->setup && n->kept.n > 0 && n->setup->number > n->refreshed;
}

int pod_native_refresh(struct pod_native *n, void (*done)(void *arg), void *arg)
{
    struct native_refresh *f = xnew(struct native_refresh);
    *f = (struct native_refresh){ .job = { .work = work_refresh, .done = on_refreshed },
                                  .n = n,
                                  .setup = n->setup,
                                  .done = done,
                                  .arg = arg };
    int r = job_start(n->places->loop, &f->job);
    if (r < 0) {
        free(f);
        return r;
    }
    n->setup->refs++;
    n->refreshed = n->setup->number;
    return 0;
}
