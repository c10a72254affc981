/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/proxy/service_proxy.h"

#include "agent/proxy/service_owners.h"
#include "agent/proxy/service_rules.h"
#include "base/backoff.h"
#include "base/log.h"

#include <errno.h>

/*
 *     WAITING --all is known, and wanted--> RENEWING --committed--> CURRENT
 *                                              ^  |                    |
 *                                  pause is over  failed            failed
 *                                              |  v                    |
 *                                             PAUSED <-----------------+
 *
 * UNABLE: this process may not change nftables, or the kernel has none. CLOSING: from each.
 */
enum proxy_at {
    PROXY_WAITING,
    PROXY_RENEWING,
    PROXY_CURRENT,
    PROXY_PAUSED,
    PROXY_UNABLE,
    PROXY_CLOSING
};

struct proxied {
    char *key;                   /* NAMESPACE/NAME */
    struct service_facts *facts; /* NULL: there are only slices, or nothing any more */
    VEC(struct service_slice *) slices;
    service_elements is; /* in the kernel, or in the batch */
    struct list dirty;   /* of proxy->dirty */
    bool is_short;       /* another Service has an address or port that it wants */
    bool is_cut;         /* it is beyond a limit */
};

struct proxied_slice {
    struct service_slice *facts;
    struct proxied *service;
};

struct service_proxy {
    struct loop *loop;
    char *node, *zone;
    struct reflector *services, *slices;
    bool knows_services, knows_slices, is_wanted;
    struct map by_name;       /* NAMESPACE/NAME -> struct proxied */
    struct map slice_by_name; /* -> struct proxied_slice */
    struct list dirty;        /* struct proxied whose elements may not be what they should be */
    struct service_chains chains;
    struct service_owners owners;
    enum proxy_at at;
    unsigned n_failures; /* in a row */
    struct timer pause;
    struct defer turn, closed;
    struct service_proxy_stats stats;
    void (*done)(void *arg);
    void *done_arg;
    /* Of the job, while it runs. */
    struct job job;
    bool is_running;
    struct nftables_batch batch;
    int r;
    struct err err;
};

static void next_batch(struct service_proxy *p);

/* ---------------------------------------------------------------- what is known */

static void on_turn(struct defer *d)
{
    next_batch(container_of(d, struct service_proxy, turn));
}

static void begin_if_wanted(struct service_proxy *p)
{
    bool is_known = p->knows_services && p->knows_slices;
    if (p->at != PROXY_WAITING || !is_known || (!p->is_wanted && p->by_name.n <= 1))
        return;
    p->at = PROXY_RENEWING;
    defer_start(p->loop, &p->turn, on_turn);
}

static void mark_dirty(struct service_proxy *p, struct proxied *s)
{
    begin_if_wanted(p);
    if (!list_is_linked(&s->dirty))
        list_push_back(&p->dirty, &s->dirty);
    defer_start(p->loop, &p->turn, on_turn);
}

static char *key_of(struct str namespace, struct str name)
{
    return xasprintf(STR_FMT "/" STR_FMT, STR_ARG(namespace), STR_ARG(name));
}

/* NULL: too many. */
static struct proxied *get_service(struct service_proxy *p, struct str namespace, struct str name)
{
    scoped(free_scoped) char *key = key_of(namespace, name);
    struct proxied *s = map_get(&p->by_name, str_of(key));
    if (s || p->by_name.n >= SERVICE_PROXY_MAX)
        return s;
    s = xnew(struct proxied);
    s->key = take_ptr(&key);
    (void)map_put(&p->by_name, str_of(s->key), s);
    return s;
}

static void free_proxied(struct proxied *s)
{
    list_remove(&s->dirty);
    service_facts_free(s->facts);
    vec_fini(&s->slices);
    vec_fini(&s->is);
    free(s->key);
    free(s);
}

static void forget_if_empty(struct service_proxy *p, struct proxied *s)
{
    if (s->facts || s->slices.n || s->is.n || list_is_linked(&s->dirty))
        return;
    (void)map_del(&p->by_name, str_of(s->key));
    free_proxied(s);
}

static void on_service(void *arg, const struct json *object)
{
    struct service_proxy *p = arg;
    const struct json *meta = json_getc(object, "metadata");
    struct proxied *s = get_service(p, json_get_str(meta, "namespace"), json_get_str(meta, "name"));
    if (!s)
        return;
    service_facts_free(s->facts);
    s->facts = service_facts_read(object);
    mark_dirty(p, s);
}

static void on_service_deleted(void *arg, struct str namespace, struct str name)
{
    struct service_proxy *p = arg;
    scoped(free_scoped) char *key = key_of(namespace, name);
    struct proxied *s = map_get(&p->by_name, str_of(key));
    if (!s)
        return;
    service_facts_free(s->facts);
    s->facts = NULL;
    mark_dirty(p, s);
}

static void on_slice_deleted(void *arg, struct str namespace, struct str name)
{
    struct service_proxy *p = arg;
    scoped(free_scoped) char *key = key_of(namespace, name);
    struct proxied_slice *slice = map_del(&p->slice_by_name, str_of(key));
    if (!slice)
        return;
    struct proxied *s = slice->service;
    for (size_t i = 0; i < s->slices.n; i++) {
        if (s->slices.p[i] == slice->facts) {
            vec_remove(&s->slices, i);
            break;
        }
    }
    service_slice_free(slice->facts);
    free(slice);
    mark_dirty(p, s);
}

static void on_slice(void *arg, const struct json *object)
{
    struct service_proxy *p = arg;
    const struct json *meta = json_getc(object, "metadata");
    struct str namespace = json_get_str(meta, "namespace"), name = json_get_str(meta, "name");
    const struct service_place place = { str_of(p->node), str_of(p->zone) };
    on_slice_deleted(p, namespace, name);
    struct service_slice *facts = service_slice_read(object, &place);
    struct proxied *s = facts->service.n && p->slice_by_name.n < SERVICE_PROXY_MAX
                            ? get_service(p, namespace, facts->service)
                            : NULL;
    if (!s) {
        service_slice_free(facts);
        return;
    }
    struct proxied_slice *slice = xnew(struct proxied_slice);
    *slice = (struct proxied_slice){ .facts = facts, .service = s };
    scoped(free_scoped) char *key = key_of(namespace, name);
    (void)map_put(&p->slice_by_name, str_of(key), slice);
    vec_push(&s->slices, facts);
    mark_dirty(p, s);
}

static void on_services_known(void *arg)
{
    struct service_proxy *p = arg;
    p->knows_services = true;
    begin_if_wanted(p);
}

static void on_slices_known(void *arg)
{
    struct service_proxy *p = arg;
    p->knows_slices = true;
    begin_if_wanted(p);
}

/* ---------------------------------------------------------------- batches */

static void commit(struct job *job)
{
    struct service_proxy *p = container_of(job, struct service_proxy, job);
    p->r = nftables_commit(&p->batch, &p->err);
}

static void on_pause(struct timer *t)
{
    struct service_proxy *p = container_of(t, struct service_proxy, pause);
    p->at = PROXY_RENEWING;
    next_batch(p);
}

static bool is_final(int r)
{
    return r == -EPERM || r == -EACCES || r == -EAFNOSUPPORT || r == -EPROTONOSUPPORT;
}

static void on_failed(struct service_proxy *p)
{
    p->stats.n_failed++;
    if (is_final(p->r)) {
        p->at = PROXY_UNABLE;
        log_warn("Services have no addresses on this machine", "error=\"%s\"", err_text(&p->err));
        return;
    }
    uint64_t wait =
        backoff_wait(SERVICE_PROXY_RETRY_MS, SERVICE_PROXY_RETRY_MAX_MS, p->n_failures++);
    log_warn("the rules of Services are out of date, trying again", "error=\"%s\" wait_ms=%llu",
             err_text(&p->err), (unsigned long long)wait);
    p->at = PROXY_PAUSED;
    timer_start(p->loop, &p->pause, wait, on_pause);
}

static void finish(struct service_proxy *p);

static void on_committed(struct job *job, int r)
{
    struct service_proxy *p = container_of(job, struct service_proxy, job);
    p->is_running = false;
    p->r = r < 0 ? r : p->r;
    p->stats.n_batches++;
    if (p->at == PROXY_CLOSING) {
        finish(p);
        return;
    }
    if (p->r < 0) {
        on_failed(p);
        return;
    }
    if (list_is_empty(&p->dirty))
        p->n_failures = 0;
    p->at = PROXY_CURRENT;
    next_batch(p);
}

/* Nothing of what was there counts any more. */
static void begin_anew(struct service_proxy *p)
{
    service_rules_renew(&p->batch, &p->chains);
    service_owners_fini(&p->owners);
    p->owners = (struct service_owners){ 0 };
    map_each (e, &p->by_name) {
        struct proxied *s = e->value;
        s->is.n = 0;
        if (!list_is_linked(&s->dirty))
            list_push_back(&p->dirty, &s->dirty);
    }
    p->stats.n_elements = 0;
}

static void set_elements(struct service_proxy *p, struct proxied *s, service_elements wanted)
{
    service_rules_change(&p->batch, &p->chains, &s->is, &wanted);
    p->stats.n_elements += wanted.n - s->is.n;
    vec_fini(&s->is);
    s->is.p = wanted.p;
    s->is.n = s->is.cap = wanted.n;
    if (wanted.n == 0)
        vec_fini(&s->is);
}

/* It keeps what it still has; what it lost is removed before the winner adds it. */
static void on_lost(void *arg, void *loser)
{
    struct service_proxy *p = arg;
    struct proxied *s = loser;
    service_elements kept = { 0 };
    for (size_t i = 0; i < s->is.n; i++)
        vec_push(&kept, s->is.p[i]);
    service_owners_keep(&p->owners, s, &kept);
    set_elements(p, s, kept);
    s->is_short = true;
}

/* Something has no owner any more. */
static void mark_short(struct service_proxy *p)
{
    map_each (e, &p->by_name) {
        struct proxied *s = e->value;
        if (s->is_short && !list_is_linked(&s->dirty))
            list_push_back(&p->dirty, &s->dirty);
    }
}

static void note_cut(struct proxied *s, bool is_cut)
{
    if (is_cut && !s->is_cut)
        log_warn("a Service has more addresses, ports and endpoints than can be served",
                 "service=%s elements_max=%d", s->key, SERVICE_ELEMENTS_MAX);
    s->is_cut = is_cut;
}

static void add_service(struct service_proxy *p, struct proxied *s)
{
    service_elements wanted = { 0 };
    list_remove(&s->dirty);
    note_cut(s, s->facts && !service_elements_make(s->facts,
                                                   (const struct service_slice *const *)s->slices.p,
                                                   s->slices.n, &wanted));
    service_owners_release(&p->owners, s, &s->is);
    s->is_short = service_owners_claim(&p->owners, s, &wanted, on_lost, p);
    bool frees = service_owners_are_free(&p->owners, &s->is);
    set_elements(p, s, wanted);
    if (frees)
        mark_short(p);
    forget_if_empty(p, s);
}

static void next_batch(struct service_proxy *p)
{
    bool is_new = p->at == PROXY_RENEWING;
    if (p->is_running || (!is_new && p->at != PROXY_CURRENT) ||
        (!is_new && list_is_empty(&p->dirty)))
        return;
    p->err = (struct err){ 0 };
    nftables_begin(&p->batch, SERVICE_RULES_TABLE);
    if (is_new)
        begin_anew(p);
    size_t n_before = p->batch.bytes.n;
    size_t most = is_new ? SERVICE_PROXY_RENEWAL_BYTES : SERVICE_PROXY_BATCH_BYTES;
    while (!list_is_empty(&p->dirty) && p->batch.bytes.n < most)
        add_service(p, list_first(&p->dirty, struct proxied, dirty));
    service_rules_drop_chains(&p->batch, &p->chains);
    if (!is_new && p->batch.bytes.n == n_before) { /* nothing is different */
        nftables_abort(&p->batch);
        return;
    }
    p->job = (struct job){ .work = commit, .done = on_committed };
    p->is_running = true;
    int r = job_start(p->loop, &p->job);
    if (r < 0) {
        nftables_abort(&p->batch);
        p->is_running = false;
        p->r = err_sys(&p->err, r, "thread");
        on_failed(p);
    }
}

/* ---------------------------------------------------------------- start and end */

static const struct reflector_ops service_ops = { .on_object = on_service,
                                                  .on_deleted = on_service_deleted,
                                                  .on_synced = on_services_known };
static const struct reflector_ops slice_ops = { .on_object = on_slice,
                                                .on_deleted = on_slice_deleted,
                                                .on_synced = on_slices_known };

static int follow(struct service_proxy *p, const struct service_proxy_opts *opts,
                  const char *group_version, const char *plural, const struct reflector_ops *ops,
                  struct reflector **ret, struct err *err)
{
    const struct reflector_opts watch = {
        .loop = opts->loop,
        .transport = opts->transport,
        .hub = opts->hub,
        .identity = opts->identity,
        .key = { .group_version = str_of(group_version),
                 .plural = str_of(plural),
                 .identity = opts->identity },
        .streams = true,
        .ops = ops,
        .arg = p,
    };
    return reflector_start(&watch, ret, err);
}

static void free_all(struct service_proxy *p)
{
    map_each (e, &p->slice_by_name) {
        struct proxied_slice *slice = e->value;
        service_slice_free(slice->facts);
        free(slice);
    }
    map_fini(&p->slice_by_name);
    map_each (e, &p->by_name)
        free_proxied(e->value);
    map_fini(&p->by_name);
    service_chains_fini(&p->chains);
    service_owners_fini(&p->owners);
    free(p->node);
    free(p->zone);
    free(p);
}

int service_proxy_start(const struct service_proxy_opts *opts, struct service_proxy **ret,
                        struct err *err)
{
    struct service_proxy *p = xnew(struct service_proxy);
    p->loop = opts->loop;
    p->node = xstrdup(opts->node);
    p->zone = xstrdup("");
    list_init(&p->dirty);
    int r = follow(p, opts, "v1", "services", &service_ops, &p->services, err);
    if (r >= 0)
        r = follow(p, opts, "discovery.k8s.io/v1", "endpointslices", &slice_ops, &p->slices, err);
    if (r < 0) {
        if (p->services)
            reflector_close(p->services);
        free_all(p);
        return r;
    }
    *ret = p;
    return 0;
}

void service_proxy_want(struct service_proxy *p)
{
    p->is_wanted = true;
    begin_if_wanted(p);
}

void service_proxy_set_zone(struct service_proxy *p, struct str zone)
{
    if (str_eq(zone, str_of(p->zone)))
        return;
    free(p->zone);
    p->zone = str_dup(zone);
    reflector_relist(p->slices);
}

struct service_proxy_stats service_proxy_stats(const struct service_proxy *p)
{
    struct service_proxy_stats stats = p->stats;
    stats.n_services = p->by_name.n;
    stats.n_chains = p->chains.by_name.n;
    return stats;
}

static void finish(struct service_proxy *p)
{
    void (*done)(void *arg) = p->done;
    void *arg = p->done_arg;
    free_all(p);
    done(arg);
}

static void on_closed(struct defer *d)
{
    finish(container_of(d, struct service_proxy, closed));
}

void service_proxy_close(struct service_proxy *p, void (*done)(void *arg), void *arg)
{
    p->at = PROXY_CLOSING;
    p->done = done;
    p->done_arg = arg;
    reflector_close(p->services);
    reflector_close(p->slices);
    timer_stop(p->loop, &p->pause);
    defer_cancel(&p->turn);
    if (!p->is_running)
        defer_start(p->loop, &p->closed, on_closed);
}
