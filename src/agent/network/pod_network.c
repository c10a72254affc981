/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks of a node's pods; see network.h.
 *
 *                    start                      adopt
 *                      |                          |
 *     CLEAR (old) -> ADD ----------------------> READY -> REMOVE -> (freed)
 *       |             |                                     ^
 *       |             +--failed--> UNDO -> FAILED -> (freed)|
 *       +--failed--> FAILED                                 |
 *                                                leftover --+
 *
 * CLEAR, ADD, UNDO and REMOVE are changes that a driver carries out, POD_NETWORKS_BUSY at a time.
 */
#include "agent/network/network.h"

#include "agent/network/pod_cni.h"
#include "agent/network/pod_namespace.h"
#include "agent/network/pod_native.h"
#include "base/backoff.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sm.h"
#include "base/sys.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { RETRY_MAX_MS = 640000 };

#define DEFAULT_CIDR "10.88.0.0/16"

enum network_at {
    NETWORK_CLEAR,
    NETWORK_ADD,
    NETWORK_UNDO,
    NETWORK_READY,
    NETWORK_FAILED,
    NETWORK_REMOVE,
    NETWORK_OVER,
};

static const struct sm_state network_table[] = {
    [NETWORK_CLEAR] = { "clear", EDGE(NETWORK_ADD) | EDGE(NETWORK_FAILED) | EDGE(NETWORK_OVER) },
    [NETWORK_ADD] = { "add", EDGE(NETWORK_READY) | EDGE(NETWORK_UNDO) | EDGE(NETWORK_REMOVE) |
                                 EDGE(NETWORK_OVER) },
    [NETWORK_UNDO] = { "undo", EDGE(NETWORK_FAILED) | EDGE(NETWORK_OVER) },
    [NETWORK_READY] = { "ready", EDGE(NETWORK_REMOVE) | EDGE(NETWORK_OVER) },
    [NETWORK_FAILED] = { "failed", EDGE(NETWORK_OVER) },
    [NETWORK_REMOVE] = { "remove", EDGE(NETWORK_OVER) },
    [NETWORK_OVER] = { "over", 0 },
};

struct pod_networks {
    struct loop *loop;
    enum pod_network_mode mode;
    char *netns_dir, *records_dir;
    struct pod_network_places places;
    struct pod_native *native;
    struct pod_cni *cni;
    struct map networks;  /* struct pod_network, by id */
    struct map leftovers; /* struct pod_record, by id: there is no object for them */
    struct map left;      /* the same, of pod_network_leave() */
    struct timer retry;   /* of leftovers, once they have been collected */
    bool is_collected;
    uint64_t retry_ms;
    struct list waiting; /* struct pod_network, to be changed */
    unsigned n_busy;
    bool is_refreshing; /* the rules of native networks: one of n_busy */
    struct defer closing;
    void (*closed)(void *arg);
    void *closed_arg;
};

struct collection {
    size_t n_left;
    void (*done)(void *arg);
    void *arg;
    struct defer empty; /* there was nothing to remove */
};

struct pod_network {
    struct pod_networks *p;
    struct list node; /* in p->waiting */
    struct sm sm;
    bool is_busy; /* a driver changes it */
    struct pod_record *rec;
    struct pod_record *old; /* NETWORK_CLEAR: of the same id, from before */
    struct pod_network_change change;
    const char *ips[POD_NETWORK_IPS_MAX];
    struct pod_network_dns *dns; /* in the record's arena; NULL: not asked for yet */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
    int r;           /* of the start, */
    struct err *err; /* NULL: it has not failed */
    bool must_stop;
    void (*stopped)(void *arg, int r, const struct err *err);
    void *stopped_arg;
    struct defer turn; /* reports the end */
    int stop_r;
};

static void pump(struct pod_networks *p);

/* ---------------------------------------------------------------- drivers */

static const struct pod_network_driver *driver_of(const struct pod_networks *p,
                                                  const struct pod_record *rec, void **ret)
{
    *ret = rec->driver == POD_RECORD_CNI ? (void *)p->cni : (void *)p->native;
    return rec->driver == POD_RECORD_CNI ? &pod_cni_driver : &pod_native_driver;
}

static void keep_record(struct pod_networks *p, const struct pod_record *rec)
{
    void *self;
    const struct pod_network_driver *driver = driver_of(p, rec, &self);
    if (driver->keep)
        driver->keep(self, rec);
}

static void drop_record(struct pod_networks *p, struct pod_record *rec)
{
    void *self;
    const struct pod_network_driver *driver = rec ? driver_of(p, rec, &self) : NULL;
    if (driver && driver->release)
        driver->release(self, rec);
    pod_record_free(rec);
}

/* ---------------------------------------------------------------- the end of an object */

static void on_over(struct defer *d)
{
    struct pod_network *n = container_of(d, struct pod_network, turn);
    void (*stopped)(void *, int, const struct err *) = n->stopped;
    void *arg = n->stopped_arg;
    int r = n->stop_r;
    struct err err = { 0 };
    if (r < 0 && n->err)
        err = *n->err;
    free(n->change.netns);
    free(n->change.user);
    free(n->err);
    free(n);
    if (stopped)
        stopped(arg, r, &err);
}

static void on_retry(struct timer *t)
{
    pod_networks_collect(container_of(t, struct pod_networks, retry), NULL, NULL);
}

static void retry_later(struct pod_networks *p)
{
    if (!p->is_collected || p->closed || timer_is_armed(&p->retry))
        return;
    timer_start(p->loop, &p->retry, p->retry_ms, on_retry);
    p->retry_ms = backoff_next(p->retry_ms, POD_NETWORKS_RETRY_MS, RETRY_MAX_MS);
}

/* What could not be removed stays known, with its addresses and ports, until it can. */
static void leave_over(struct pod_networks *p, struct pod_record *rec, const struct err *err)
{
    retry_later(p);
    log_warn("the network of a pod is left over", "id=" STR_FMT " error=\"%s\"", STR_ARG(rec->id),
             err_text(err));
    (void)map_put(&p->leftovers, rec->id, rec);
}

static void keep_error(struct pod_network *n, const struct err *err)
{
    if (!n->err)
        n->err = xnew(struct err);
    *n->err = *err;
}

static void end_network(struct pod_network *n, int r, const struct err *err)
{
    struct pod_networks *p = n->p;
    assert(!n->is_busy && !list_is_linked(&n->node));
    sm_move(&n->sm, NETWORK_OVER);
    (void)map_del(&p->networks, str_of(strrchr(n->change.netns, '/') + 1));
    drop_record(p, n->rec);
    n->rec = NULL;
    n->stop_r = r;
    if (r < 0)
        keep_error(n, err);
    defer_start(p->loop, &n->turn, on_over);
}

/* ---------------------------------------------------------------- changes */

static void enqueue(struct pod_network *n, enum network_at at)
{
    if (n->sm.at != at)
        sm_move(&n->sm, at);
    list_push_back(&n->p->waiting, &n->node);
}

static void fail(struct pod_network *n)
{
    sm_move(&n->sm, NETWORK_FAILED);
    if (n->must_stop)
        end_network(n, 0, NULL);
    else
        n->on_ready(n->arg, n->r, n->err); /* may free n */
}

static void become_ready(struct pod_network *n)
{
    const struct pod_record *rec = n->rec;
    sm_move(&n->sm, NETWORK_READY);
    for (size_t i = 0; i < rec->n_ips; i++)
        n->ips[i] = str_dup_arena(&n->rec->arena, rec->ips[i]);
}

static void on_cleared(struct pod_network *n, int r, const struct err *err)
{
    if (r < 0) {
        leave_over(n->p, take_ptr(&n->old), err);
        n->r = r;
        keep_error(n, err);
        fail(n);
        return;
    }
    drop_record(n->p, take_ptr(&n->old));
    if (n->must_stop)
        end_network(n, 0, NULL);
    else
        enqueue(n, NETWORK_ADD);
}

static void on_added(struct pod_network *n, int r, const struct err *err)
{
    if (r < 0) {
        n->r = r;
        keep_error(n, err);
        enqueue(n, NETWORK_UNDO);
    } else if (n->must_stop)
        enqueue(n, NETWORK_REMOVE);
    else {
        become_ready(n);
        n->on_ready(n->arg, 0, NULL); /* may stop n */
    }
}

static void on_undone(struct pod_network *n, int r, const struct err *err)
{
    if (r < 0)
        leave_over(n->p, take_ptr(&n->rec), err);
    fail(n);
}

static void on_removed(struct pod_network *n, int r, const struct err *err)
{
    if (r < 0)
        leave_over(n->p, take_ptr(&n->rec), err);
    end_network(n, r, err);
}

static void on_changed(struct pod_network_change *c, int r, const struct err *err)
{
    struct pod_network *n = container_of(c, struct pod_network, change);
    struct pod_networks *p = n->p;
    assert(n->is_busy && p->n_busy > 0);
    n->is_busy = false;
    p->n_busy--;
    switch ((enum network_at)n->sm.at) {
    case NETWORK_CLEAR:
        on_cleared(n, r, err);
        break;
    case NETWORK_ADD:
        on_added(n, r, err);
        break;
    case NETWORK_UNDO:
        on_undone(n, r, err);
        break;
    case NETWORK_REMOVE:
        on_removed(n, r, err);
        break;
    case NETWORK_READY:
    case NETWORK_FAILED:
    case NETWORK_OVER:
        assert(false); /* no change was under way */
    }
    pump(p);
}

static bool is_cni(const struct pod_networks *p)
{
    return p->mode == POD_NETWORK_CNI ||
           (p->mode == POD_NETWORK_AUTO && pod_cni_has_config(p->cni));
}

/* The driver for a new network: AUTO asks CNI first. E_UNSUPPORTED is left to the driver. */
static const struct pod_network_driver *choose(struct pod_networks *p, struct pod_record *rec,
                                               void **ret)
{
    rec->driver = is_cni(p) ? POD_RECORD_CNI : POD_RECORD_NATIVE;
    return driver_of(p, rec, ret);
}

static void start_change(struct pod_network *n)
{
    void *self;
    n->is_busy = true;
    n->p->n_busy++;
    n->change.done = on_changed;
    n->change.rec = n->sm.at == NETWORK_CLEAR ? n->old : n->rec;
    const struct pod_network_driver *driver = n->sm.at == NETWORK_ADD
                                                  ? choose(n->p, n->rec, &self)
                                                  : driver_of(n->p, n->change.rec, &self);
    if (n->sm.at == NETWORK_ADD)
        driver->add(self, &n->change);
    else
        driver->remove(self, &n->change);
}

static void on_closing(struct defer *d)
{
    struct pod_networks *p = container_of(d, struct pod_networks, closing);
    void (*closed)(void *) = p->closed;
    void *arg = p->closed_arg;
    map_each (e, &p->leftovers)
        drop_record(p, e->value);
    map_each (e, &p->left)
        drop_record(p, e->value);
    pod_cni_free(p->cni);
    pod_native_free(p->native);
    map_fini(&p->leftovers);
    map_fini(&p->left);
    map_fini(&p->networks);
    free(p->netns_dir);
    free(p->records_dir);
    free(p);
    closed(arg);
}

static void pump(struct pod_networks *p)
{
    while (!list_is_empty(&p->waiting) && p->n_busy < POD_NETWORKS_BUSY)
        start_change(list_entry(list_pop_front(&p->waiting), struct pod_network, node));
    if (p->closed && p->n_busy == 0 && p->networks.n == 0)
        defer_start(p->loop, &p->closing, on_closing); /* after the last end is reported */
}

/* ---------------------------------------------------------------- networks */

static struct pod_network *network_new(struct pod_networks *p, struct str id,
                                       struct pod_record *rec, enum network_at at)
{
    struct pod_network *n = xnew(struct pod_network);
    n->p = p;
    n->rec = rec;
    n->change.netns = xasprintf("%s/" STR_FMT, p->netns_dir, STR_ARG(id));
    sm_init(&n->sm, network_table, at);
    (void)map_put(&p->networks, id, n);
    return n;
}

static int check_opts(const struct pod_networks *p, const struct pod_network_opts *o,
                      struct err *err)
{
    if (!pod_record_is_id(o->id))
        return err_set(err, E_INVALID, "'" STR_FMT "' cannot name a network", STR_ARG(o->id));
    if (o->n_ports > POD_NETWORK_PORTS_MAX)
        return err_set(err, E_LIMIT, "a pod has at most %d host ports", POD_NETWORK_PORTS_MAX);
    if (map_has(&p->networks, o->id))
        return err_set(err, -EEXIST, "there is a network '" STR_FMT "'", STR_ARG(o->id));
    return 0;
}

int pod_network_start(struct pod_networks *p, const struct pod_network_opts *o,
                      struct pod_network **ret, struct err *err)
{
    assert(o->on_ready && !p->closed && !map_has(&p->left, o->id));
    int r = check_opts(p, o, err);
    if (r < 0)
        return r;
    struct pod_record *old = map_del(&p->leftovers, o->id);
    struct pod_network *n =
        network_new(p, o->id, pod_record_new(o), old ? NETWORK_CLEAR : NETWORK_ADD);
    n->old = old;
    n->change.user = o->user ? xstrdup(o->user) : NULL;
    n->on_ready = o->on_ready;
    n->arg = o->arg;
    enqueue(n, n->sm.at);
    pump(p);
    *ret = n;
    return 0;
}

int pod_network_adopt(struct pod_networks *p, struct str id, struct pod_network **ret,
                      struct err *err)
{
    struct pod_record *rec = map_get(&p->leftovers, id);
    char *netns = xasprintf("%s/" STR_FMT, p->netns_dir, STR_ARG(id));
    bool is_there = rec && rec->is_complete && pod_namespace_exists(netns);
    free(netns);
    if (!is_there)
        return err_set(err, -ENOENT, "there is no network '" STR_FMT "'", STR_ARG(id));
    (void)map_del(&p->leftovers, id);
    struct pod_network *n = network_new(p, rec->id, rec, NETWORK_ADD);
    become_ready(n);
    *ret = n;
    return 0;
}

void pod_network_stop(struct pod_network *n, void (*done)(void *arg, int r, const struct err *err),
                      void *arg)
{
    assert(!n->must_stop);
    n->must_stop = true;
    n->stopped = done;
    n->stopped_arg = arg;
    if (n->sm.at == NETWORK_READY) {
        enqueue(n, NETWORK_REMOVE);
        pump(n->p);
    } else if (n->sm.at == NETWORK_FAILED)
        end_network(n, 0, NULL);
    else if (n->sm.at == NETWORK_ADD && !n->is_busy) { /* nothing was made yet */
        list_remove(&n->node);
        end_network(n, 0, NULL);
    }
}

void pod_network_leave(struct pod_network *n)
{
    struct pod_networks *p = n->p;
    if (n->sm.at != NETWORK_READY) {
        pod_network_stop(n, NULL, NULL);
        return;
    }
    struct pod_record *rec = take_ptr(&n->rec);
    (void)map_put(&p->left, rec->id, rec);
    end_network(n, 0, NULL);
    pump(p);
}

const char *pod_network_netns(const struct pod_network *n)
{
    assert(n->sm.at == NETWORK_READY);
    return n->change.netns;
}

const char *const *pod_network_ips(const struct pod_network *n, size_t *ret_n)
{
    assert(n->sm.at == NETWORK_READY);
    *ret_n = n->rec->n_ips;
    return n->ips;
}

static size_t copy_texts(struct arena *a, const struct str *from, size_t n, const char **to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = str_dup_arena(a, from[i]);
    return n;
}

static struct pod_network_dns *make_dns(struct arena *a, const struct pod_record_dns *d)
{
    struct pod_network_dns *to = arena_new(a, struct pod_network_dns);
    to->n_nameservers = copy_texts(a, d->nameservers, d->n_nameservers, to->nameservers);
    to->n_searches = copy_texts(a, d->searches, d->n_searches, to->searches);
    to->n_options = copy_texts(a, d->options, d->n_options, to->options);
    return to;
}

const struct pod_network_dns *pod_network_dns(struct pod_network *n)
{
    assert(n->sm.at == NETWORK_READY);
    if (!n->dns)
        n->dns = make_dns(&n->rec->arena, &n->rec->dns);
    return n->dns;
}

/* ---------------------------------------------------------------- leftovers */

static void on_collected(void *arg, int r, const struct err *err)
{
    struct collection *c = arg;
    assert(c->n_left > 0);
    if (--c->n_left > 0)
        return;
    if (c->done)
        c->done(c->arg);
    free(c);
}

static void on_nothing(struct defer *d)
{
    struct collection *c = container_of(d, struct collection, empty);
    c->n_left = 1;
    on_collected(c, 0, NULL);
}

static void remove_leftover(struct pod_networks *p, struct pod_record *rec, struct collection *c)
{
    struct pod_network *n = network_new(p, rec->id, rec, NETWORK_REMOVE);
    n->must_stop = true;
    n->stopped = on_collected;
    n->stopped_arg = c;
    c->n_left++;
    enqueue(n, NETWORK_REMOVE);
}

static struct pod_record *bare_record(struct str id)
{
    return pod_record_new(&(struct pod_network_opts){ .id = id });
}

/* Namespaces whose record cannot be read, or was lost. */
static void find_bare_namespaces(struct pod_networks *p)
{
    DIR *dir = opendir(p->netns_dir);
    for (struct dirent *e; dir && (e = readdir(dir));) { // NOLINT(concurrency-mt-unsafe)
        struct str id = str_of(e->d_name);
        if (!pod_record_is_id(id) || map_has(&p->networks, id) || map_has(&p->leftovers, id) ||
            map_has(&p->left, id))
            continue;
        struct pod_record *rec = bare_record(id);
        (void)map_put(&p->leftovers, rec->id, rec);
    }
    if (dir)
        (void)closedir(dir);
}

void pod_networks_collect(struct pod_networks *p, void (*done)(void *arg), void *arg)
{
    struct collection *c = xnew(struct collection);
    VEC(struct pod_record *) all = { 0 };
    c->done = done;
    c->arg = arg;
    timer_stop(p->loop, &p->retry);
    if (!p->is_collected || p->leftovers.n == 0)
        p->retry_ms = POD_NETWORKS_RETRY_MS;
    p->is_collected = true;
    find_bare_namespaces(p);
    map_each (e, &p->leftovers)
        vec_push(&all, e->value);
    map_fini(&p->leftovers);
    vec_each (rec, &all)
        remove_leftover(p, *rec, c);
    if (all.n == 0)
        defer_start(p->loop, &c->empty, on_nothing);
    vec_fini(&all);
    pump(p);
}

static void load_record(struct pod_networks *p, const char *name)
{
    struct pod_record *rec = NULL;
    struct err err = { 0 };
    if (!pod_record_is_id(str_of(name)))
        return; /* "." and what was being written */
    if (pod_record_read(p->records_dir, name, &rec, &err) < 0) {
        log_warn("the record of a pod's network is unreadable, removing the network",
                 "id=%s error=\"%s\"", name, err_text(&err));
        rec = bare_record(str_of(name));
    }
    keep_record(p, rec);
    (void)map_put(&p->leftovers, rec->id, rec);
}

static int load_records(struct pod_networks *p, struct err *err)
{
    DIR *dir = opendir(p->records_dir);
    if (!dir)
        return err_sys(err, -errno, "read '%s'", p->records_dir);
    for (struct dirent *e; (e = readdir(dir));) // NOLINT(concurrency-mt-unsafe)
        load_record(p, e->d_name);
    (void)closedir(dir);
    return 0;
}

/* ---------------------------------------------------------------- the node */

static int make_dirs(const struct pod_networks *p, struct err *err)
{
    int r = sys_mkdir_all(p->netns_dir, 0711, err);
    return r < 0 ? r : sys_mkdir_all(p->records_dir, 0700, err);
}

static void make_drivers(struct pod_networks *p, const struct pod_networks_opts *o)
{
    p->native = pod_native_new(&p->places, o->mtu);
    p->cni = pod_cni_new(&p->places, o->config_dir, o->bin_dirs);
}

int pod_networks_new(const struct pod_networks_opts *o, const struct str *cidrs, size_t n_cidrs,
                     struct pod_networks **ret, struct err *err)
{
    struct pod_networks *p = xnew(struct pod_networks);
    const struct str first = STR(DEFAULT_CIDR);
    p->loop = o->loop;
    p->mode = o->mode;
    p->retry_ms = POD_NETWORKS_RETRY_MS;
    p->netns_dir = xasprintf("%s/netns", o->state_dir);
    p->records_dir = xasprintf("%s/records", o->state_dir);
    p->places = (struct pod_network_places){ .loop = o->loop,
                                             .netns_dir = p->netns_dir,
                                             .records_dir = p->records_dir };
    list_init(&p->waiting);
    make_drivers(p, o);
    int r = make_dirs(p, err);
    if (r == 0)
        r = n_cidrs ? pod_networks_set_cidrs(p, cidrs, n_cidrs, NULL, 0, err)
                    : pod_native_set_cidrs(p->native, &first, 1, NULL, 0, err);
    if (r == 0)
        r = load_records(p, err);
    if (r < 0) {
        pod_cni_free(p->cni);
        pod_native_free(p->native);
        free(p->netns_dir);
        free(p->records_dir);
        free(p);
        return r;
    }
    *ret = p;
    return 0;
}

static void refresh(struct pod_networks *p);

static void on_refreshed(void *arg)
{
    struct pod_networks *p = arg;
    assert(p->is_refreshing && p->n_busy > 0);
    p->is_refreshing = false;
    p->n_busy--;
    refresh(p);
    pump(p);
}

/* One at a time: the ranges may change again meanwhile. */
static void refresh(struct pod_networks *p)
{
    if (p->is_refreshing || p->closed || !pod_native_is_stale(p->native))
        return;
    p->is_refreshing = pod_native_refresh(p->native, on_refreshed, p) == 0;
    p->n_busy += p->is_refreshing;
}

int pod_networks_set_cidrs(struct pod_networks *p, const struct str *cidrs, size_t n_cidrs,
                           const struct str *cluster, size_t n_cluster, struct err *err)
{
    int r = pod_native_set_cidrs(p->native, cidrs, n_cidrs, cluster, n_cluster, err);
    if (r < 0)
        return r;
    pod_cni_set_cidrs(p->cni, cidrs, n_cidrs);
    refresh(p);
    return 0;
}

void pod_networks_view(const struct pod_networks *p, struct pod_networks_view *ret)
{
    *ret = (struct pod_networks_view){ 0 };
    if (!is_cni(p))
        pod_native_view(p->native, ret);
}

void pod_networks_close(struct pod_networks *p, void (*done)(void *arg), void *arg)
{
    assert(done && !p->closed);
    p->closed = done;
    p->closed_arg = arg;
    timer_stop(p->loop, &p->retry);
    pump(p);
}
