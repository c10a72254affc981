/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ResourceQuotas: the usage in their status is counted from the contents of their namespace when a
 * quota or its status was written, and when an object was deleted or changed. The transaction that
 * creates an object counts it (admit/quota.c), so a quota cannot be exceeded and a create needs no
 * recount.
 *
 *     quiet --- object deleted ----> dirty --> read quotas -> read each kind they limit -> write
 *       ^                             ^  ^                                                   |
 *       |          timer -------------+  +---- conflict: a quota was written meanwhile ------+
 *       |            +------------------------------ the store failed -----------------------+
 *       +------------------------------------------------------------------------------------+
 *
 * Memory: one record for each namespace that has a quota, until a count finds none there.
 */
#include "kube/rules/kinds/quotas.h"
#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/encode.h"
#include "base/log.h"

#include <assert.h>

enum {
    COUNT_MAX_STEPS = 4000000, /* steps of CPU time (base/budget.h) for one object, in all quotas */
    WRITE_BYTES = 16 << 20,    /* of quotas in one transaction */
};

#define QUOTA_PREFIX "/registry/resourcequotas/"

struct quotas {
    struct api *api;
    struct map spaces; /* name -> struct quotas_space */
    struct buf after;
    size_t n_running;
    bool loading, loaded, stopped;
    bool damaged; /* some cannot be read, so their namespaces are unknown */
    struct defer turn;
    struct retry retry; /* of loading, and of counts that are still dirty */
};

struct quotas_space {
    bool dirty, running;
};

/* The count of one namespace. */
struct quotas_count {
    struct quotas *q;
    char *ns;
    struct arena arena, scratch;
    struct arena sums; /* holds the statuses */
    struct {
        struct str key;
        uint64_t rev;
        struct json *quota, *status;
    } at[QUOTA_MAX_PER_NAMESPACE];
    size_t n, n_written;
    bool left_out; /* one is damaged: creates must continue to read quotas, and fail */
    size_t next;   /* position in the registry */
    const struct kube_resource *res;
    struct buf after;
};

static void kick(struct quotas *q);
static void load(struct quotas *q);

static bool is_quota(const struct kube_resource *res)
{
    return res->group.n == 0 && str_is(res->plural, "resourcequotas");
}

static struct quotas_space *space_of(const struct quotas *q, struct str ns)
{
    return map_get(&q->spaces, ns);
}

static void set_dirty(struct quotas *q, struct quotas_space *s)
{
    if (!s || q->stopped)
        return;
    s->dirty = true;
    kick(q);
}

/* ------------------------------------------------------------------ counting */

static void on_retry(struct timer *t)
{
    struct quotas *q = container_of(t, struct quotas, retry.timer);
    if (!q->loaded && !q->loading)
        load(q);
    kick(q);
}

static void remove_space(struct quotas *q, struct str ns)
{
    free(map_del(&q->spaces, ns));
}

/* r: 0: the namespace is up to date; E_CONFLICT: it is not; else an error of the store. */
static void count_end(struct quotas_count *c, int r)
{
    struct quotas *q = c->q;
    struct str ns = str_of(c->ns);
    struct quotas_space *s = space_of(q, ns);
    bool none = r >= 0 && c->n == 0 && !c->left_out;
    assert(s && s->running && c->n_written <= c->n); /* a namespace that is counted stays */
    s->running = false;
    s->dirty = s->dirty || r < 0;
    if (none && !s->dirty)
        remove_space(q, ns);
    if (r < 0 && r != E_CONFLICT && !q->stopped)
        retry_arm(q->api->loop, &q->retry, on_retry);
    else if (r >= 0 && q->loaded)
        retry_stop(q->api->loop, &q->retry); /* the next dirty namespace follows at once */
    arena_fini(&c->arena);
    arena_fini(&c->scratch);
    arena_fini(&c->sums);
    buf_fini(&c->after);
    free(c->ns);
    free(c);
    assert(q->n_running > 0);
    q->n_running--;
    if (!timer_is_armed(&q->retry.timer))
        kick(q);
    api_part_idle(q->api);
}

static void write_counts(struct quotas_count *c);

static void on_counted(void *arg, const struct store_txn_result *res, const struct err *err)
{
    struct quotas_count *c = arg;
    if (res->r < 0 && res->r != E_CONFLICT && !c->q->stopped)
        log_warn("cannot write what a quota counts", "namespace=%s error=\"%s\"", c->ns,
                 err_text(err));
    if (res->r < 0) {
        count_end(c, res->r);
        return;
    }
    watch_note_write(c->q->api);
    write_counts(c);
}

/*
 * Write the changed statuses, in several transactions if they are large: each quota is consistent
 * by itself.
 */
static void write_counts(struct quotas_count *c)
{
    struct quotas *q = c->q;
    struct arena *a = &c->scratch;
    const struct kube_resource *res =
        kube_registry_find(&q->api->reg, STR(""), STR("v1"), STR("resourcequotas"));
    struct store_op ops[QUOTA_MAX_PER_NAMESPACE];
    size_t n = 0, n_bytes = 0;
    arena_reset(a);
    for (; c->n_written < c->n && n_bytes < WRITE_BYTES && !q->stopped; c->n_written++) {
        size_t i = c->n_written;
        const struct json *was = json_getc(c->at[i].quota, "status");
        struct buf b = BUF_INIT(STORE_VALUE_MAX_BYTES);
        if (was && json_equal(was, c->at[i].status))
            continue;
        json_setc(a, c->at[i].quota, "status", c->at[i].status);
        if (encode_for_storage(a, res, c->at[i].quota, &b) >= 0)
            ops[n++] = (struct store_op){ .kind = STORE_PUT,
                                          .key = c->at[i].key,
                                          .value = str_copy_arena(a, buf_str(&b)),
                                          .cmp = STORE_MOD_REV,
                                          .cmp_rev = c->at[i].rev };
        n_bytes += b.n;
        buf_fini(&b);
    }
    int r = n == 0 ? 0 : store_txn(q->api->store, ops, n, on_counted, c, NULL);
    if (n == 0 || r < 0)
        count_end(c, r);
}

static void count_next(struct quotas_count *c);

static void count_object(struct quotas_count *c, const struct store_kv *kv)
{
    struct json *obj;
    struct budget budget = { .max_steps = COUNT_MAX_STEPS };
    arena_reset(&c->scratch);
    if (json_parse(&c->scratch, kv->value, NULL, &obj, NULL) < 0)
        return;
    c->scratch.budget = &budget;
    for (size_t k = 0; k < c->n; k++)
        quota_status_add(&c->sums, &c->scratch, c->at[k].status, c->at[k].quota, c->res, obj);
    c->scratch.budget = NULL;
    if (budget_is_over(&budget))
        log_warn("an object uses so many resources that quotas do not count all of them",
                 "key=" STR_FMT, STR_ARG(kv->key));
}

/* Each object has made new sums: keep only the last ones. */
static void keep_sums(struct quotas_count *c)
{
    struct arena sums = { 0 };
    for (size_t k = 0; k < c->n; k++)
        c->at[k].status = json_clone(&sums, c->at[k].status);
    arena_fini(&c->sums);
    c->sums = sums;
}

static void on_objects(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct quotas_count *c = arg;
    (void)err;
    if (r < 0 || c->q->stopped) {
        count_end(c, r);
        return;
    }
    for (size_t i = 0; i < page->n; i++)
        count_object(c, &page->kv[i]);
    keep_sums(c);
    buf_reset(&c->after);
    if (page->more)
        (void)buf_add_str(&c->after, page->kv[page->n - 1].key);
    else
        c->res = NULL;
    count_next(c);
}

static bool is_limited(const struct quotas_count *c, const struct kube_resource *res)
{
    if (!res->namespaced || res->storage != res)
        return false;
    for (size_t i = 0; i < c->n; i++)
        if (quota_is_about(c->at[i].quota, res))
            return true;
    return false;
}

/* Read the next page, of this kind or of the next kind that a quota limits. */
static void count_next(struct quotas_count *c)
{
    const struct kube_registry *reg = &c->q->api->reg;
    while (!c->res && c->next < reg->n) {
        const struct kube_resource *res = reg->all[c->next++];
        if (is_limited(c, res))
            c->res = res;
    }
    if (!c->res) {
        write_counts(c);
        return;
    }
    const struct store_range range = { .prefix = key_prefix_ns(&c->arena, c->res, str_of(c->ns)),
                                       .after = buf_str(&c->after),
                                       .skip_damaged = true };
    int r = store_range(c->q->api->store, &range, on_objects, c, NULL);
    if (r < 0)
        count_end(c, r);
}

static void read_quotas(struct quotas_count *c);

static void on_quotas(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct quotas_count *c = arg;
    struct arena *a = &c->arena;
    (void)err;
    if (r < 0 || c->q->stopped) {
        count_end(c, r);
        return;
    }
    c->left_out = c->left_out || page->left_out > 0;
    for (size_t i = 0; i < page->n && c->n < QUOTA_MAX_PER_NAMESPACE; i++) {
        struct json *quota;
        if (json_parse(a, str_copy_arena(a, page->kv[i].value), NULL, &quota, NULL) < 0)
            continue;
        c->at[c->n].key = str_copy_arena(a, page->kv[i].key);
        c->at[c->n].rev = page->kv[i].mod_rev;
        c->at[c->n].quota = quota;
        c->at[c->n++].status = quota_status_new(&c->sums, quota);
    }
    bool more = page->more && c->n < QUOTA_MAX_PER_NAMESPACE;
    buf_reset(&c->after);
    if (more)
        (void)buf_add_str(&c->after, page->kv[page->n - 1].key);
    if (more)
        read_quotas(c);
    else
        count_next(c);
}

static void read_quotas(struct quotas_count *c)
{
    const struct store_range range = { .prefix = str_of(
                                           arena_printf(&c->arena, QUOTA_PREFIX "%s/", c->ns)),
                                       .after = buf_str(&c->after),
                                       .skip_damaged = true };
    int r = store_range(c->q->api->store, &range, on_quotas, c, NULL);
    if (r < 0)
        count_end(c, r);
}

static void count_begin(struct quotas *q, struct str ns, struct quotas_space *s)
{
    struct quotas_count *c = xnew(struct quotas_count);
    *c = (struct quotas_count){ .q = q, .ns = str_dup(ns), .after = BUF_INIT(STORE_KEY_MAX_BYTES) };
    s->dirty = false;
    s->running = true;
    q->n_running++;
    read_quotas(c);
}

/* ------------------------------------------------------------------ all namespaces */

static void add_space(struct quotas *q, struct str ns)
{
    if (!space_of(q, ns))
        (void)map_put(&q->spaces, ns, xnew(struct quotas_space));
    set_dirty(q, space_of(q, ns));
}

static void on_loaded(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct quotas *q = arg;
    (void)err;
    q->loading = false;
    q->damaged = q->damaged || (r >= 0 && page->left_out);
    for (size_t i = 0; r >= 0 && !q->stopped && i < page->n; i++) {
        struct str ns, name, rest = str_slice(page->kv[i].key, sizeof QUOTA_PREFIX - 1, SIZE_MAX);
        (void)str_cut(rest, '/', &ns, &name);
        add_space(q, ns);
    }
    bool more = r >= 0 && page->more && !q->stopped;
    buf_reset(&q->after);
    if (more) {
        (void)buf_add_str(&q->after, page->kv[page->n - 1].key);
        load(q);
    }
    q->loaded = r >= 0 && !more; /* else each create reads the quotas, as with damaged ones */
    if (r < 0 && !q->stopped)
        retry_arm(q->api->loop, &q->retry, on_retry);
    api_part_idle(q->api);
}

static void load(struct quotas *q)
{
    const struct store_range range = { .prefix = STR(QUOTA_PREFIX),
                                       .after = buf_str(&q->after),
                                       .keys_only = true,
                                       .skip_damaged = true };
    q->loading = store_range(q->api->store, &range, on_loaded, q, NULL) >= 0;
    if (!q->loading && !q->stopped)
        retry_arm(q->api->loop, &q->retry, on_retry);
}

static void on_turn(struct defer *d)
{
    struct quotas *q = container_of(d, struct quotas, turn);
    map_each (e, &q->spaces) {
        struct quotas_space *s = e->value;
        if (s->dirty && !s->running && q->n_running == 0 && !q->stopped) {
            count_begin(q, e->key, s);
            break;
        }
    }
    api_part_idle(q->api);
}

static void kick(struct quotas *q)
{
    if (!q->stopped)
        defer_start(q->api->loop, &q->turn, on_turn);
}

bool quotas_in(const struct quotas *q, struct str ns)
{
    return q && (!q->loaded || q->damaged || space_of(q, ns));
}

/* ------------------------------------------------------------------ lifecycle */

static bool uses_same(const struct kube_resource *res, const struct json *x, const struct json *y)
{
    struct arena a = { 0 };
    struct quota_use *ux = arena_new_n(&a, struct quota_use, QUOTA_MAX_USES);
    struct quota_use *uy = arena_new_n(&a, struct quota_use, QUOTA_MAX_USES);
    size_t nx = quota_uses(&a, res, x, NULL, ux), ny = quota_uses(&a, res, y, NULL, uy);
    bool same = nx == ny && nx < QUOTA_MAX_USES;
    for (size_t i = 0; same && i < nx; i++)
        same = str_eq(ux[i].name, uy[i].name) && quantity_cmp(ux[i].amount, uy[i].amount) == 0;
    arena_fini(&a);
    return same;
}

static bool is_same(const struct json *x, const struct json *y)
{
    return x == y || (x && y && json_equal(x, y));
}

/* A quota was written, not by this controller: its spec or its status may have changed. */
static void quota_written(struct quotas *q, struct str ns, const struct written *w)
{
    if (!w->obj || !w->old || !is_same(json_getc(w->obj, "spec"), json_getc(w->old, "spec")) ||
        !is_same(json_getc(w->obj, "status"), json_getc(w->old, "status")))
        add_space(q, ns);
}

void quotas_written(struct quotas *q, const struct written *w)
{
    if (!q || q->stopped || !w->res->namespaced)
        return;
    struct str ns = meta_namespace(w->obj ? w->obj : w->old);
    if (is_quota(w->res)) {
        quota_written(q, ns, w);
        if (w->obj && w->old)
            return;
    }
    struct quotas_space *s = space_of(q, ns);
    if (!s || (w->obj && !w->old && w->counted))
        return;
    if (w->obj && w->old && uses_same(w->res, w->old, w->obj) &&
        quota_same_scopes(w->res, w->old, w->obj))
        return;
    set_dirty(q, s);
}

struct quotas *quotas_start(struct api *api)
{
    struct quotas *q = xnew(struct quotas);
    *q = (struct quotas){ .api = api, .after = BUF_INIT(STORE_KEY_MAX_BYTES) };
    load(q);
    return q;
}

void quotas_stop(struct quotas *q)
{
    if (!q)
        return;
    q->stopped = true;
    timer_stop(q->api->loop, &q->retry.timer);
}

bool quotas_is_busy(const struct quotas *q)
{
    return q && (q->loading || q->n_running > 0 || (!q->stopped && list_is_linked(&q->turn.node)));
}

void quotas_free(struct quotas *q)
{
    if (!q)
        return;
    assert(!quotas_is_busy(q));
    defer_cancel(&q->turn);
    map_each (e, &q->spaces)
        free(e->value);
    map_fini(&q->spaces);
    buf_fini(&q->after);
    free(q);
}
