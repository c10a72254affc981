/* SPDX-License-Identifier: Apache-2.0 */
/* Network namespaces for containers; see network.h. */
#include "container/network.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/sys.h"
#include "container/netlink.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    LOOPBACK = 1,
    TRIES_MAX = 65000,
    RETRY_MS = 1000,
    RULE_PRIORITY = 213, /* and the next; far before the main table's */
    SUBNET_PREFIX = 16
};

struct container_networks {
    struct loop *loop;
    uint32_t subnet; /* x.y.0.0 */
    uint32_t next;   /* last 16 bits to try */
    uint32_t keep, n_ready, n_filling, n_used;
    struct list ready, waiting;
    struct timer retry; /* after a failure */
    struct timer rest;  /* while none is in use and more than one is ready */
    bool rests;         /* no more than one is kept ready */
    struct defer turn;  /* passes ready networks to waiting callers */
    void (*done)(void *arg);
    void *arg;
};

/* ---------------------------------------------------------------- making one, on any thread */

static int open_own(struct err *err)
{
    int fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    return fd < 0 ? err_sys(err, -errno, "open our network namespace") : fd;
}

/* Any program may listen on port 80 there; it has the machine to itself. */
static void let_ports(void)
{
    int fd = open("/proc/sys/net/ipv4/ip_unprivileged_port_start", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)sys_write_all(fd, "0", 1);
    (void)close(fd);
}

/* A new namespace, and a netlink socket in it; this thread is back in its own. */
static int make_namespace(int *ret_ns, int *ret_inner, struct err *err)
{
    scoped(fd_scoped) int own = open_own(err);
    scoped(fd_scoped) int ns = -1;
    if (own < 0)
        return own;
    if (unshare(CLONE_NEWNET) < 0)
        return err_sys(err, -errno, "make a network namespace");
    ns = open_own(err);
    int inner = netlink_open(err);
    let_ports();
    if (setns(own, CLONE_NEWNET) < 0)
        abort(); /* this thread would continue in the wrong network */
    if (ns < 0 || inner < 0) {
        if (inner >= 0)
            (void)close(inner);
        return ns < 0 ? ns : inner;
    }
    *ret_ns = take_fd(&ns);
    *ret_inner = inner;
    return 0;
}

static int set_up_inside(int inner, uint32_t gateway, uint32_t address, struct err *err)
{
    uint32_t device = 0;
    int r = netlink_set_up(inner, LOOPBACK, err);
    if (r == 0)
        r = netlink_find_link(inner, "eth0", &device, err);
    if (r == 0)
        r = netlink_add_address(inner, device, address, err);
    if (r == 0)
        r = netlink_set_up(inner, device, err);
    if (r == 0)
        r = netlink_add_route(inner, device, gateway, 32, 0, 0, err);
    if (r == 0)
        r = netlink_add_route(inner, device, 0, 0, gateway, address, err);
    return r;
}

static int set_up_outside(int outer, uint32_t index, uint32_t gateway, uint32_t address,
                          struct err *err)
{
    int r = netlink_add_address(outer, index, gateway, err);
    if (r == 0)
        r = netlink_set_up(outer, index, err);
    if (r == 0)
        r = netlink_add_route(outer, index, address, 32, 0, gateway, err);
    return r;
}

/* The first free name from *next on: names say which addresses are in use, also by others. */
static int make_devices(int outer, int ns, uint32_t *next, uint32_t *ret_index, uint32_t *ret_low,
                        struct err *err)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        char name[IFNAMSIZ];
        uint32_t low = *next;
        *next = low >= 0xfffe ? 2 : low + 1;
        (void)snprintf(name, sizeof name, "dmf%x", low);
        int r = netlink_add_veth(outer, name, NULL, "eth0", ns, err);
        if (r == -EEXIST)
            continue;
        if (r < 0)
            return r;
        *ret_low = low;
        return netlink_find_link(outer, name, ret_index, err);
    }
    return err_set(err, E_LIMIT, "every address of the subnet is in use");
}

/*
 * Containers of the pool reach each other only through a program of this machine, such as the
 * gateway of functions, which checks tokens and limits; also where the machine forwards packets so
 * that containers reach other networks. Each new network adds the rules again: another process may
 * have removed them when it ended.
 */
static int keep_apart(int outer, uint32_t subnet, struct err *err)
{
    for (int kind = NETLINK_RULE_OWN; kind <= NETLINK_RULE_PROHIBIT; kind++) {
        int r = netlink_add_rule(outer, (enum netlink_rule)kind, subnet, SUBNET_PREFIX,
                                 RULE_PRIORITY + (uint32_t)kind, err);
        if (r < 0 && r != -EEXIST)
            return r;
    }
    return 0;
}

static bool has_devices(void)
{
    bool found = false;
    struct if_nameindex *all = if_nameindex();
    for (struct if_nameindex *i = all; i && i->if_index; i++)
        found = found || strncmp(i->if_name, "dmf", 3) == 0;
    if_freenameindex(all);
    return found;
}

/* Only without containers: the next process takes them over, or another process owns them. */
static void drop_rules(uint32_t subnet)
{
    scoped(fd_scoped) int outer = has_devices() ? -1 : netlink_open(NULL);
    if (outer < 0)
        return;
    for (int kind = NETLINK_RULE_OWN; kind <= NETLINK_RULE_PROHIBIT; kind++)
        (void)netlink_del_rule(outer, (enum netlink_rule)kind, subnet, SUBNET_PREFIX,
                               RULE_PRIORITY + (uint32_t)kind, NULL);
}

static int make_network(uint32_t subnet, uint32_t *next, struct container_network *ret,
                        struct err *err)
{
    scoped(fd_scoped) int outer = netlink_open(err);
    scoped(fd_scoped) int inner = -1;
    scoped(fd_scoped) int ns = -1;
    uint32_t index = 0, low = 0, gateway = subnet + 1;
    if (outer < 0)
        return outer;
    int r = keep_apart(outer, subnet, err);
    if (r == -EOPNOTSUPP) /* a kernel without rules; logged with the first network */
        r = 0;
    if (r == 0)
        r = make_namespace(&ns, &inner, err);
    if (r == 0)
        r = make_devices(outer, ns, next, &index, &low, err);
    if (r < 0)
        return r;
    r = set_up_inside(inner, gateway, subnet + low, err);
    if (r == 0)
        r = set_up_outside(outer, index, gateway, subnet + low, err);
    if (r < 0) {
        (void)netlink_del_link(outer, index, NULL);
        return r;
    }
    *ret = (struct container_network){ .ns_fd = take_fd(&ns),
                                       .address = subnet + low,
                                       .index = index };
    return 0;
}

/* ---------------------------------------------------------------- filling */

struct fill {
    struct job job;
    struct container_networks *p;
    uint32_t subnet, next;
    struct container_network made;
    int r;
    struct err err;
};

static void fill_up(struct container_networks *p);
static void on_turn(struct defer *d);

static void free_network(struct container_network *n)
{
    (void)close(n->ns_fd); /* the devices go with the namespace */
    free(n);
}

static void on_closed(struct defer *d)
{
    struct container_networks *p = container_of(d, struct container_networks, turn);
    void (*done)(void *) = p->done;
    void *arg = p->arg;
    drop_rules(p->subnet);
    free(p);
    done(arg);
}

static void finish_close(struct container_networks *p)
{
    if (p->n_filling == 0)
        defer_start(p->loop, &p->turn, on_closed);
}

static void add_ready(struct container_networks *p, struct container_network *n)
{
    /* The one that has rested longest is next: an address that was just in use may still be asked
     * by a gateway that has not heard of the end. */
    list_push_back(&p->ready, &n->node);
    p->n_ready++;
    if (!list_is_empty(&p->waiting))
        defer_start(p->loop, &p->turn, on_turn);
}

static void fail_waiting(struct container_networks *p, const struct err *err)
{
    struct list all;
    list_move_all(&p->waiting, &all);
    while (!list_is_empty(&all)) {
        struct container_network_wait *w =
            list_entry(list_pop_front(&all), struct container_network_wait, node);
        w->run(w, NULL, err);
    }
}

static void on_retry(struct timer *t)
{
    fill_up(container_of(t, struct container_networks, retry));
}

static void work(struct job *j)
{
    struct fill *f = container_of(j, struct fill, job);
    f->r = make_network(f->subnet, &f->next, &f->made, &f->err);
}

static void on_filled(struct job *j, int r)
{
    struct fill *f = container_of(j, struct fill, job);
    struct container_networks *p = f->p;
    assert(p->n_filling > 0);
    p->n_filling--;
    if (r == 0 && f->r == 0) {
        struct container_network *n = xnew(struct container_network);
        *n = f->made;
        if (p->done)
            free_network(n);
        else
            add_ready(p, n);
    } else if (!p->done) {
        log_warn("no network for containers", "error=\"%s\"", err_text(&f->err));
        fail_waiting(p, &f->err);
        timer_start(p->loop, &p->retry, RETRY_MS, on_retry);
    }
    free(f);
    if (p->done)
        finish_close(p);
    else if (!timer_is_armed(&p->retry))
        fill_up(p);
}

static uint32_t n_waiting(const struct container_networks *p)
{
    uint32_t n = 0;
    list_each (node, &p->waiting)
        n++;
    return n;
}

/* Threads race for names only in make_devices(), where the loser takes the next. */
static void fill_up(struct container_networks *p)
{
    uint32_t want = (p->rests ? MIN(p->keep, 1u) : p->keep) + n_waiting(p);
    while (p->n_ready + p->n_filling < want && p->n_filling < CONTAINER_NETWORK_FILLS) {
        struct fill *f = xnew(struct fill);
        f->p = p;
        f->subnet = p->subnet;
        f->next = p->next;
        p->next = p->next >= 0xfffe ? 2 : p->next + 1;
        f->job = (struct job){ .work = work, .done = on_filled };
        if (job_start(p->loop, &f->job) < 0) {
            free(f);
            return;
        }
        p->n_filling++;
    }
}

/* ---------------------------------------------------------------- the pool */

static int parse_subnet(const char *text, uint32_t *ret, struct err *err)
{
    struct str address, prefix;
    char plain[INET_ADDRSTRLEN];
    struct in_addr in;
    (void)str_cut(str_of(text), '/', &address, &prefix);
    (void)snprintf(plain, sizeof plain, STR_FMT, STR_ARG(address));
    if (!str_is(prefix, "16") || inet_pton(AF_INET, plain, &in) != 1 || (ntohl(in.s_addr) & 0xffff))
        return err_set(err, E_INVALID, "'%s' is no subnet of containers, as 10.213.0.0/16 is",
                       text);
    *ret = ntohl(in.s_addr);
    return 0;
}

static void on_rest(struct timer *t)
{
    struct container_networks *p = container_of(t, struct container_networks, rest);
    p->rests = true;
    while (p->n_ready > 1) {
        free_network(list_entry(list_pop_front(&p->ready), struct container_network, node));
        assert(p->n_ready > 0);
        p->n_ready--;
    }
}

static void count_use(struct container_networks *p, int n)
{
    p->n_used += n;
    if (p->n_used) {
        timer_stop(p->loop, &p->rest);
        p->rests = false;
    } else if (!p->rests)
        timer_start(p->loop, &p->rest, CONTAINER_NETWORKS_REST_MS, on_rest);
}

static void check_apart(uint32_t subnet)
{
    struct err err = { 0 };
    scoped(fd_scoped) int outer = netlink_open(&err);
    if (outer < 0 || keep_apart(outer, subnet, &err) < 0)
        log_warn("containers are not kept from each other where this machine forwards packets",
                 "error=\"%s\"", err_text(&err));
}

int container_networks_new(struct loop *loop, const char *subnet, uint32_t keep,
                           struct container_networks **ret, struct err *err)
{
    uint32_t base = 0, next = 2 + (uint32_t)(sys_random_u64() % 0xf000);
    struct container_network first = { .ns_fd = -1 };
    int r = parse_subnet(subnet, &base, err);
    if (r < 0)
        return r;
    r = make_network(base, &next, &first, err);
    if (r < 0)
        return err_ctx(err, E_UNSUPPORTED, "networks of containers");
    check_apart(base);
    struct container_networks *p = xnew(struct container_networks);
    p->loop = loop;
    p->subnet = base;
    p->next = next;
    p->keep = MIN(keep, (uint32_t)CONTAINER_NETWORKS_MAX);
    list_init(&p->ready);
    list_init(&p->waiting);
    struct container_network *n = xnew(struct container_network);
    *n = first;
    add_ready(p, n);
    fill_up(p);
    count_use(p, 0);
    *ret = p;
    return 0;
}

void container_networks_close(struct container_networks *p, void (*done)(void *arg), void *arg)
{
    assert(list_is_empty(&p->waiting));
    timer_stop(p->loop, &p->retry);
    timer_stop(p->loop, &p->rest);
    defer_cancel(&p->turn);
    while (!list_is_empty(&p->ready))
        free_network(list_entry(list_pop_front(&p->ready), struct container_network, node));
    p->done = done;
    p->arg = arg;
    finish_close(p);
}

struct container_network *container_network_get(struct container_networks *p)
{
    if (list_is_empty(&p->ready) || !list_is_empty(&p->waiting))
        return NULL;
    struct container_network *n =
        list_entry(list_pop_front(&p->ready), struct container_network, node);
    assert(p->n_ready > 0);
    p->n_ready--;
    count_use(p, 1);
    fill_up(p);
    return n;
}

static void on_turn(struct defer *d)
{
    struct container_networks *p = container_of(d, struct container_networks, turn);
    while (!list_is_empty(&p->ready) && !list_is_empty(&p->waiting)) {
        struct container_network *n =
            list_entry(list_pop_front(&p->ready), struct container_network, node);
        struct container_network_wait *w =
            list_entry(list_pop_front(&p->waiting), struct container_network_wait, node);
        assert(p->n_ready > 0);
        p->n_ready--;
        count_use(p, 1);
        w->run(w, n, NULL);
    }
    fill_up(p);
}

void container_network_wait(struct container_networks *p, struct container_network_wait *w)
{
    list_push_back(&p->waiting, &w->node);
    p->rests = false;
    if (!list_is_empty(&p->ready))
        defer_start(p->loop, &p->turn, on_turn);
    fill_up(p);
}

void container_network_cancel(struct container_network_wait *w)
{
    list_remove(&w->node);
}

void container_network_put(struct container_networks *p, struct container_network *n)
{
    count_use(p, -1);
    if (p->n_ready >= p->keep * 2)
        free_network(n);
    else
        add_ready(p, n);
}

void container_network_drop(struct container_networks *p, struct container_network *n)
{
    count_use(p, -1);
    free_network(n);
}

int container_network_adopt(struct container_networks *p, int pid, uint32_t address,
                            struct container_network **ret, struct err *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "network of process %d", pid);
    struct container_network *n = xnew(struct container_network);
    n->ns_fd = fd;
    n->address = address;
    count_use(p, 1);
    *ret = n;
    return 0;
}
