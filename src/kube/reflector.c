/* SPDX-License-Identifier: Apache-2.0 */
/*
 * List, watch, list again; see reflector.h. The names that a list brought, and those known before
 * it, are compared at its end: what is missing was deleted meanwhile.
 */
#include "kube/reflector.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sys.h"
#include "codec/url.h"

#include <inttypes.h>
#include <stdio.h>

struct reflector {
    struct reflector_opts opts;
    struct arena strings; /* the key's */
    struct kube_call *call;
    struct buf page;
    int status; /* of the list or the watch */
    char *continue_token;
    uint64_t rv;      /* of the list */
    uint64_t round;   /* counts lists; what has an older mark at the end of one is gone */
    struct map known; /* "namespace/name" -> round, as pointer */
    struct watch_sub *sub;
    struct timer retry;
    struct defer begin;
    unsigned failures;
    bool synced, said, closed;
    bool busy; /* inside on_end(): closing leaves the memory to it */
};

static void start_list(struct reflector *r);

static void free_reflector(struct reflector *r)
{
    map_fini(&r->known);
    buf_fini(&r->page);
    arena_fini(&r->strings);
    free(r->continue_token);
    free(r);
}

static void on_retry(struct timer *t)
{
    start_list(container_of(t, struct reflector, retry));
}

static void retry(struct reflector *r, const char *why)
{
    uint64_t wait = REFLECTOR_RETRY_FIRST_MS;
    for (unsigned i = 0; i < r->failures && wait < REFLECTOR_RETRY_MAX_MS; i++)
        wait *= 2;
    wait = MIN(wait, (uint64_t)REFLECTOR_RETRY_MAX_MS);
    r->failures++;
    if (r->failures == 3 && !r->said) {
        r->said = true;
        log_warn("list or watch fails, retrying", "resource=" STR_FMT " reason=\"%s\"",
                 STR_ARG(r->opts.key.plural), why);
    }
    timer_start(r->opts.loop, &r->retry, wait / 2 + sys_random_u64() % (wait / 2 + 1), on_retry);
}

static struct str object_key(struct arena *a, const struct json *meta)
{
    return str_of(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(json_get_str(meta, "namespace")),
                               STR_ARG(json_get_str(meta, "name"))));
}

static void take_object(struct reflector *r, struct arena *a, const struct json *object)
{
    const struct json *meta = json_getc(object, "metadata");
    (void)map_put(&r->known, object_key(a, meta), (void *)(uintptr_t)r->round);
    r->opts.ops->on_object(r->opts.arg, object);
}

static void drop_object(struct reflector *r, struct str key)
{
    struct str namespace, name;
    (void)str_cut(key, '/', &namespace, &name);
    r->opts.ops->on_deleted(r->opts.arg, namespace, name);
}

/* ---------------------------------------------------------------- watch */

/*
 * Only now it works: who may list and not watch would otherwise list again and again without a
 * pause.
 */
static void on_open(void *arg, int status, struct str body)
{
    struct reflector *r = arg;
    r->status = status;
    if (status != 200)
        return; /* on_watch_end() follows */
    if (r->said)
        log_info("list and watch work again", "resource=" STR_FMT, STR_ARG(r->opts.key.plural));
    r->failures = 0;
    r->said = false;
}

static void on_event(void *arg, const struct watch_event *ev)
{
    struct reflector *r = arg;
    if (ev->is_error || ev->is_bookmark)
        return; /* on_watch_end() follows an error */
    struct arena a = { 0 };
    struct json *event;
    if (json_parse(&a, ev->line, NULL, &event, NULL) >= 0) {
        const struct json *object = json_getc(event, "object");
        if (str_is(json_get_str(event, "type"), "DELETED")) {
            struct str key = object_key(&a, json_getc(object, "metadata"));
            (void)map_del(&r->known, key);
            drop_object(r, key);
        } else {
            take_object(r, &a, object);
        }
    }
    arena_fini(&a);
}

static void on_watch_end(void *arg)
{
    struct reflector *r = arg;
    char why[64];
    r->sub = NULL;
    (void)snprintf(why, sizeof why, "watch ended, status %d", r->status);
    retry(r, why);
}

static const struct watch_sub_ops watch_ops = { .on_open = on_open,
                                                .on_event = on_event,
                                                .on_end = on_watch_end };

static void start_watch(struct reflector *r)
{
    struct err err = { 0 };
    if (watch_hub_subscribe(r->opts.hub, &r->opts.key, r->rv, false, &watch_ops, r, &r->sub, &err) <
        0)
        retry(r, err_text(&err));
}

/* ---------------------------------------------------------------- list */

/* The last page is in: what this round did not see was deleted. */
static void finish_list(struct reflector *r)
{
    struct arena a = { 0 };
    size_t n = 0;
    struct str *gone = arena_new_n(&a, struct str, r->known.n);
    map_each (e, &r->known)
        if ((uintptr_t)e->value != r->round)
            gone[n++] = str_copy_arena(&a, e->key);
    for (size_t i = 0; i < n && !r->closed; i++) {
        (void)map_del(&r->known, gone[i]);
        drop_object(r, gone[i]);
    }
    arena_fini(&a);
    if (r->closed)
        return;
    start_watch(r);
    if (!r->synced) {
        r->synced = true;
        r->opts.ops->on_synced(r->opts.arg);
    }
}

/* Returns 0 at the end of the list, 1 when another page follows, or a negative code. */
static int read_page(struct reflector *r)
{
    struct arena a = { .max_bytes = (size_t)REFLECTOR_PAGE_MAX_BYTES * 16 };
    struct json *list;
    int code = json_parse(&a, buf_str(&r->page), NULL, &list, NULL);
    const struct json *meta = code < 0 ? NULL : json_getc(list, "metadata");
    uint64_t rv = 0;
    if (code >= 0 && parse_u64(json_get_str(meta, "resourceVersion"), 1, UINT64_MAX, &rv) < 0)
        code = E_PARSE;
    if (code >= 0) {
        r->rv = rv;
        json_each (item, json_getc(list, "items")) {
            take_object(r, &a, item);
            if (r->closed)
                break;
        }
        free(r->continue_token);
        struct str token = json_get_str(meta, "continue");
        r->continue_token = token.n ? str_dup(token) : NULL;
        code = r->continue_token ? 1 : 0;
    }
    arena_fini(&a);
    return code;
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct reflector *r = arg;
    r->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct reflector *r = arg;
    (void)buf_add_str(&r->page, chunk);
}

static void end_page(struct reflector *r, int code, const struct err *err)
{
    if (code >= 0 && r->status == 200 && buf_ok(&r->page))
        code = read_page(r);
    else if (code >= 0)
        code = E_UNSUPPORTED;
    if (r->closed)
        return;
    buf_fini(&r->page);
    if (code == 1) {
        start_list(r);
    } else if (code == 0) {
        finish_list(r);
    } else {
        free(take_ptr(&r->continue_token)); /* also a continue token that has expired (410) */
        char why[64];
        (void)snprintf(why, sizeof why, "status %d, %s", r->status, err_strerror(code));
        retry(r, err && err->text[0] ? err->text : why);
    }
}

static void on_end(void *arg, int code, const struct err *err)
{
    struct reflector *r = arg;
    r->call = NULL;
    if (r->closed) {
        free_reflector(r);
        return;
    }
    r->busy = true;
    end_page(r, code, err);
    r->busy = false;
    if (r->closed)
        free_reflector(r);
}

static const struct kube_call_ops list_ops = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

static void start_list(struct reflector *r)
{
    const struct watch_key *k = &r->opts.key;
    scoped(buf_fini_scoped) struct buf target = BUF_INIT(64 << 10);
    bool core = str_find_char(k->group_version, '/') < 0;
    buf_printf(&target, "/%s/" STR_FMT "/", core ? "api" : "apis", STR_ARG(k->group_version));
    if (k->namespace.n)
        buf_printf(&target, "namespaces/" STR_FMT "/", STR_ARG(k->namespace));
    buf_printf(&target, STR_FMT "?limit=%d", STR_ARG(k->plural), REFLECTOR_PAGE);
    const struct url_pair pairs[] = { { STR("labelSelector"), k->label_selector },
                                      { STR("fieldSelector"), k->field_selector },
                                      { STR("continue"), str_of(r->continue_token) } };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        if (pairs[i].value.n == 0)
            continue;
        buf_printf(&target, "&" STR_FMT "=", STR_ARG(pairs[i].name));
        (void)url_encode(&target, pairs[i].value);
    }
    if (!r->continue_token)
        r->round++;
    r->status = 0;
    struct headers h = { 0 };
    (void)headers_addc(&h, "accept", "application/json");
    struct kube_request req = { .identity = r->opts.identity,
                                .method = STR("GET"),
                                .target = buf_str(&target),
                                .headers = &h };
    struct err err = { 0 };
    int code = transport_start(r->opts.transport, &req, &list_ops, r, &r->call, &err);
    headers_fini(&h);
    if (code < 0)
        retry(r, err_text(&err));
}

static void on_begin(struct defer *d)
{
    start_list(container_of(d, struct reflector, begin));
}

int reflector_start(const struct reflector_opts *opts, struct reflector **ret, struct err *err)
{
    struct reflector *r = xnew(struct reflector);
    r->opts = *opts;
    struct watch_key *k = &r->opts.key;
    struct str *copied[] = { &k->group_version, &k->plural, &k->namespace, &k->label_selector,
                             &k->field_selector };
    for (size_t i = 0; i < ARRAY_LEN(copied); i++)
        *copied[i] = str_copy_arena(&r->strings, *copied[i]);
    buf_init(&r->page, REFLECTOR_PAGE_MAX_BYTES);
    defer_start(opts->loop, &r->begin, on_begin);
    *ret = r;
    return 0;
}

void reflector_close(struct reflector *r)
{
    if (!r)
        return;
    r->closed = true;
    timer_stop(r->opts.loop, &r->retry);
    defer_cancel(&r->begin);
    if (r->sub)
        watch_sub_cancel(take_ptr(&r->sub));
    if (r->call)
        transport_cancel(r->opts.transport, r->call);
    else if (!r->busy)
        free_reflector(r);
}
