/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of every namespace: the ServiceAccount "default", and the ConfigMap kube-root-ca.crt by
 * which programs in the cluster verify this server. They are created with the namespace and
 * restored when they are deleted or changed; all namespaces are checked when the server starts.
 *
 * The list of all namespaces is read page by page. The next page is read once the namespaces of
 * the previous one have been checked:
 *
 *     none ----> reading <----> between pages        reading -> none
 */
#include "api/controllers/controllers.h"
#include "api/controllers/retry.h"
#include "api/inner.h"
#include "base/log.h"
#include "base/sm.h"

#include <assert.h>

enum {
    ACCOUNTS_PARALLEL = 16, /* namespaces that are checked at a time */
    ACCOUNTS_WAITING = 256, /* beyond, a scan of all namespaces finds the rest */
    ACCOUNTS_PAGE_ROWS = 64
};

#define NS_PREFIX   "/registry/namespaces/"
#define ACCOUNT     "default"
#define CA_MAP      "kube-root-ca.crt"
#define CA_KEY      "ca.crt"
#define DESCRIPTION "kubernetes.io/description"
#define CA_TEXT                                                                                    \
    "Authority that has signed the API server's certificate for the names that are used inside "   \
    "of "                                                                                          \
    "the cluster. Nothing else is promised to be signed by it."

enum accounts_list { LIST_NONE, LIST_READING, LIST_BETWEEN };

static const struct sm_state list_table[] = {
    [LIST_NONE] = { "none", EDGE(LIST_READING) },
    [LIST_READING] = { "reading", EDGE(LIST_BETWEEN) | EDGE(LIST_NONE) },
    [LIST_BETWEEN] = { "between pages", EDGE(LIST_READING) },
};

struct accounts {
    struct api *api;
    struct sm list;
    struct map waiting; /* names of namespaces */
    struct buf after;
    size_t n_running; /* looks */
    bool rescan;      /* read the list again */
    bool failed;      /* an operation since the last rest has failed */
    bool stopped;
    struct retry retry;
    struct defer turn;
    controller_ready_cb ready; /* NULL once it was called */
    void *ready_arg;
};

/* One of the two objects of one namespace. */
struct accounts_look {
    struct accounts *c;
    char *ns;
    bool is_map;
};

static void kick(struct accounts *c);

static bool take_flag(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

static void look_end(struct accounts_look *l, bool ok)
{
    struct accounts *c = l->c;
    if (!ok && !c->stopped) {
        log_warn("cannot make what every namespace has", "namespace=%s object=%s", l->ns,
                 l->is_map ? CA_MAP : ACCOUNT);
        c->failed = true;
    }
    free(l->ns);
    free(l);
    assert(c->n_running > 0);
    c->n_running--;
    kick(c);
    api_part_idle(c->api);
}

/* A namespace that is being deleted, or was deleted, needs no objects. */
static void on_made(void *arg, int r, struct str body)
{
    (void)body;
    look_end(arg, r == 200 || r == 201 || r == 403 || r == 404 || r == 409);
}

static bool map_is_right(const struct api *api, const struct json *map)
{
    const struct json *data = json_getc(map, "data");
    return data && data->n == 1 && str_eq(json_get_str(data, CA_KEY), buf_str(&api->ca_cert)) &&
           !json_getc(map, "binaryData");
}

/* A merge patch that removes all keys except ours. */
static struct json *map_patch(struct arena *a, const struct api *api, const struct json *map)
{
    struct json *patch = json_new_object(a), *data = json_obj(a, patch, "data");
    json_each (v, json_getc(map, "data"))
        json_set(a, data, v->key, json_new_null(a));
    json_set_str(a, data, CA_KEY, buf_str(&api->ca_cert));
    json_setc(a, patch, "binaryData", json_new_null(a));
    return patch;
}

static struct json *new_object(struct arena *a, const struct accounts_look *l)
{
    struct json *obj = json_new_object(a), *meta;
    json_set_str(a, obj, "apiVersion", STR("v1"));
    json_set_str(a, obj, "kind", l->is_map ? STR("ConfigMap") : STR("ServiceAccount"));
    meta = json_obj(a, obj, "metadata");
    json_set_str(a, meta, "name", l->is_map ? STR(CA_MAP) : STR(ACCOUNT));
    if (!l->is_map)
        return obj;
    json_set_str(a, json_obj(a, meta, "annotations"), DESCRIPTION, STR(CA_TEXT));
    json_set_str(a, json_obj(a, obj, "data"), CA_KEY, buf_str(&l->c->api->ca_cert));
    return obj;
}

static void look_write(struct accounts_look *l, struct arena *a, const struct json *body,
                       bool patch)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(API_BODY_MAX_BYTES);
    const char *path = arena_printf(a, "/api/v1/namespaces/%s/%s", l->ns,
                                    l->is_map ? "configmaps" : "serviceaccounts");
    (void)json_write(&text, body);
    const struct inner_request req = {
        .method = patch ? "PATCH" : "POST",
        .target = str_of(patch ? arena_printf(a, "%s/" CA_MAP, path) : path),
        .content_type = patch ? "application/merge-patch+json" : "application/json",
        .body = buf_str(&text)
    };
    if (inner_call(l->c->api, &req, on_made, l) < 0)
        look_end(l, false);
}

static void on_seen(void *arg, int r, const struct store_kv *kv, uint64_t rev,
                    const struct err *err)
{
    struct accounts_look *l = arg;
    struct arena a = { 0 };
    struct json *obj = NULL;
    (void)rev;
    (void)err;
    bool read = r >= 0 && kv && l->is_map && json_parse(&a, kv->value, NULL, &obj, NULL) >= 0;
    if (r < 0 || l->c->stopped)
        look_end(l, false);
    else if (!kv)
        look_write(l, &a, new_object(&a, l), false);
    else if (read && !meta_is_deleting(obj) && !map_is_right(l->c->api, obj))
        look_write(l, &a, map_patch(&a, l->c->api, obj), true);
    else
        look_end(l, true);
    arena_fini(&a);
}

static void look(struct accounts *c, const char *ns, bool is_map)
{
    struct arena a = { 0 };
    struct accounts_look *l = xnew(struct accounts_look);
    *l = (struct accounts_look){ .c = c, .ns = xstrdup(ns), .is_map = is_map };
    const char *key =
        arena_printf(&a, "/registry/%s/%s/%s", is_map ? "configmaps" : "serviceaccounts", ns,
                     is_map ? CA_MAP : ACCOUNT);
    c->n_running++;
    if (store_get(c->api->store, str_of(key), 0, on_seen, l, NULL) < 0)
        look_end(l, false);
    arena_fini(&a);
}

/* ------------------------------------------------------------------ all namespaces */

static void queue(struct accounts *c, struct str ns)
{
    if (c->stopped || ns.n == 0)
        return;
    if (c->waiting.n >= ACCOUNTS_WAITING)
        c->rescan = true;
    else
        (void)map_put(&c->waiting, ns, c);
    kick(c);
}

static void on_page(void *arg, int r, const struct store_page *page, const struct err *err)
{
    struct accounts *c = arg;
    (void)err;
    bool more = r >= 0 && page->more;
    sm_move(&c->list, more ? LIST_BETWEEN : LIST_NONE);
    c->failed = c->failed || r < 0;
    for (size_t i = 0; r >= 0 && i < page->n; i++)
        queue(c, str_slice(page->kv[i].key, sizeof NS_PREFIX - 1, page->kv[i].key.n));
    buf_reset(&c->after);
    if (more)
        (void)buf_add_str(&c->after, page->kv[page->n - 1].key);
    kick(c);
    api_part_idle(c->api);
}

static void scan(struct accounts *c)
{
    const struct store_range range = { .prefix = STR(NS_PREFIX),
                                       .after = buf_str(&c->after),
                                       .limit = ACCOUNTS_PAGE_ROWS,
                                       .keys_only = true,
                                       .skip_damaged = true };
    sm_move(&c->list, LIST_READING);
    if (store_range(c->api->store, &range, on_page, c, NULL) >= 0)
        return;
    sm_move(&c->list, LIST_NONE);
    buf_reset(&c->after);
    c->failed = true;
    kick(c);
}

static void on_retry(struct timer *t)
{
    struct accounts *c = container_of(t, struct accounts, retry.timer);
    c->rescan = true;
    kick(c);
}

static void tell_ready(struct accounts *c, int r)
{
    controller_ready_cb ready = c->ready;
    c->ready = NULL;
    if (ready)
        ready(c->ready_arg, r, NULL);
}

static void rest(struct accounts *c)
{
    assert(c->list.at == LIST_NONE && c->waiting.n == 0 && c->n_running == 0);
    map_fini(&c->waiting);
    if (!take_flag(&c->failed))
        retry_settle(&c->retry);
    else
        retry_arm(c->api->loop, &c->retry, on_retry);
    tell_ready(c, 0);
}

static void on_turn(struct defer *d)
{
    struct accounts *c = container_of(d, struct accounts, turn);
    if (c->stopped) {
        tell_ready(c, -ECANCELED);
        api_part_idle(c->api);
        return;
    }
    while (c->waiting.n > 0 && c->n_running < ACCOUNTS_PARALLEL) {
        struct map_entry *e = map_next(&c->waiting, NULL);
        scoped(free_scoped) char *ns = str_dup(e->key);
        (void)map_del(&c->waiting, str_of(ns));
        look(c, ns, false);
        if (c->api->ca_cert.n)
            look(c, ns, true);
    }
    if (c->list.at == LIST_READING || c->waiting.n > 0 || c->n_running > 0)
        return;
    if (c->list.at == LIST_BETWEEN || take_flag(&c->rescan))
        scan(c);
    else
        rest(c);
}

static void kick(struct accounts *c)
{
    defer_start(c->api->loop, &c->turn, on_turn);
}

/* ------------------------------------------------------------------ lifecycle */

void accounts_written(struct accounts *c, const struct written *w)
{
    if (!c || c->stopped || w->res->group.n)
        return;
    struct str ns = meta_namespace(w->obj ? w->obj : w->old);
    bool made = str_is(w->res->plural, "namespaces") && w->obj && !w->old;
    bool account = str_is(w->res->plural, "serviceaccounts") && str_is(w->name, ACCOUNT) && !w->obj;
    bool map = str_is(w->res->plural, "configmaps") && str_is(w->name, CA_MAP) &&
               (!w->obj || !map_is_right(c->api, w->obj));
    if (made || account || map)
        queue(c, made ? w->name : ns);
}

struct accounts *accounts_start(struct api *api, controller_ready_cb ready, void *arg)
{
    struct accounts *c = xnew(struct accounts);
    *c = (struct accounts){ .api = api,
                            .after = BUF_INIT(STORE_KEY_MAX_BYTES),
                            .rescan = true,
                            .ready = ready,
                            .ready_arg = arg };
    sm_init(&c->list, list_table, LIST_NONE);
    kick(c);
    return c;
}

void accounts_stop(struct accounts *c)
{
    if (!c)
        return;
    c->stopped = true;
    timer_stop(c->api->loop, &c->retry.timer);
    map_fini(&c->waiting);
    kick(c);
}

bool accounts_is_busy(const struct accounts *c)
{
    return c && (c->list.at == LIST_READING || c->n_running > 0 || c->waiting.n > 0 || c->ready ||
                 (!c->stopped && (c->rescan || c->list.at == LIST_BETWEEN)));
}

void accounts_free(struct accounts *c)
{
    if (!c)
        return;
    assert(!accounts_is_busy(c));
    defer_cancel(&c->turn);
    buf_fini(&c->after);
    free(c);
}
