/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that park: requests to the API, reads from the cache, configuration; and their errors. */
#include "v1.h"

#include <string.h>

/* ---- errors ---- */

void v1_clear_error(struct dm_request *r)
{
    dm_arena_fini(&r->errors);
    r->error = (struct dm_error){ .reason = "", .message = "" };
}

static int code_of_status(int status, struct dm_json reason)
{
    static const struct {
        short status, code;
    } rows[] = {
        { 400, DM_E_INVALID },     { 403, DM_E_FORBIDDEN }, { 404, DM_E_NOT_FOUND },
        { 408, DM_E_TIMEOUT },     { 409, DM_E_CONFLICT },  { 410, DM_E_EXPIRED },
        { 413, DM_E_TOO_LARGE },   { 422, DM_E_INVALID },   { 429, DM_E_LIMITED },
        { 503, DM_E_UNAVAILABLE }, { 504, DM_E_TIMEOUT },
    };
    if (status == 409 && dm_json_is(reason, "AlreadyExists"))
        return DM_E_EXISTS;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].status == status)
            return rows[i].code;
    return status >= 400 && status < 500 ? DM_E_REFUSED : DM_E_SERVER;
}

/* Texts of the host's own errors; section 2 of the ABI. */
static const char *name_of_code(int code)
{
    static const char *const names[] = { "invalid",   "not-found", "forbidden", "not-declared",
                                         "too-large", "limited",   "timeout",   "unavailable",
                                         "expired",   "cancelled", "not-synced" };
    unsigned i = (unsigned)(-1 - code);
    return i < sizeof(names) / sizeof(names[0]) ? names[i] : "error";
}

static int fail_by_host(struct dm_request *r, int64_t code)
{
    struct dm_str text = v1_take_result(r, v1_result_size());
    code = code < INT32_MIN ? DM_E_SERVER : code;
    r->error = (struct dm_error){ .code = (int)code,
                                  .reason = name_of_code((int)code),
                                  .message = dm_arena_copy(&r->errors, text.p, text.n) };
    return (int)code;
}

/* A header's value; names are lower case. */
static struct dm_str header_of(struct dm_str headers, const char *name)
{
    size_t n_name = strlen(name);
    while (headers.n) {
        size_t n = dm_find_char(headers, '\n');
        if (n > n_name + 1 && headers.p[n_name] == ':' && memcmp(headers.p, name, n_name) == 0) {
            const char *p = headers.p + n_name + 1, *end = headers.p + n;
            while (p < end && *p == ' ')
                p++;
            return (struct dm_str){ p, (size_t)(end - p) };
        }
        n += n < headers.n ? 1 : 0;
        headers = (struct dm_str){ headers.p + n, headers.n - n };
    }
    return (struct dm_str){ "", 0 };
}

static int fail_by_status(struct dm_request *r, int status, struct dm_str headers,
                          struct dm_str body)
{
    const char *text = dm_arena_copy(&r->errors, body.p, body.n);
    struct dm_json answer = dm_json_parse(text, body.n);
    struct dm_json reason = dm_json_member(answer, "reason"),
                   details = dm_json_member(answer, "details");
    int64_t after = dm_json_int(dm_json_member(details, "retryAfterSeconds"), 0);
    if (!after)
        (void)dm_parse_i64(header_of(headers, "retry-after"), &after);
    r->error = (struct dm_error){
        .code = code_of_status(status, reason),
        .status = status,
        .reason = dm_json_string(reason, &r->errors),
        .message = dm_json_string(dm_json_member(answer, "message"), &r->errors),
        .retry_after_s = after > 0 && after < INT32_MAX ? (unsigned)after : 0,
        .causes = dm_json_member(details, "causes"),
    };
    if (!*r->error.message) {
        struct dm_text t = { 0 };
        dm_textf(&t, "HTTP status %d", status);
        r->error.message = dm_arena_copy(&r->errors, t.p, t.n);
        dm_text_fini(&t);
    }
    return r->error.code;
}

static int fail_here(struct dm_request *r, int code, const char *message)
{
    r->error = (struct dm_error){ .code = code, .reason = name_of_code(code), .message = message };
    return code;
}

/* A result that is one JSON value. */
static int take_json(struct dm_request *r, int64_t n, struct dm_json *ret)
{
    if (n < 0)
        return fail_by_host(r, n);
    if (!ret)
        return 0;
    struct dm_str text = v1_take_result(r, (uint32_t)n);
    struct dm_json v = dm_json_parse(text.p, text.n);
    if (!v.p)
        return fail_here(r, DM_E_SERVER, "the answer is not JSON");
    *ret = v;
    return 0;
}

/* ---- requests ---- */

static uint32_t read_u32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v)); /* wasm and what we test on are little endian */
    return v;
}

static int take_answer(struct dm_request *r, uint32_t n, struct dm_json *ret)
{
    struct dm_str all = v1_take_result(r, n);
    if (all.n < 8 || read_u32(all.p + 4) > all.n - 8)
        return fail_here(r, DM_E_SERVER, "the host's answer is cut");
    int status = (int)read_u32(all.p);
    struct dm_str headers = { all.p + 8, read_u32(all.p + 4) };
    struct dm_str body = { headers.p + headers.n, all.n - 8 - headers.n };
    if (status < 200 || status > 299)
        return fail_by_status(r, status, headers, body);
    if (!ret)
        return 0;
    struct dm_json v = dm_json_parse(body.p, body.n);
    if (!v.p)
        return fail_here(r, DM_E_SERVER, "the answer is not JSON");
    *ret = v;
    return 0;
}

int dm_call(struct dm_request *r, const struct dm_call *c, struct dm_json *ret)
{
    struct dm_text head = { 0 };
    v1_clear_error(r);
    dm_textf(&head, "%s %s\n%s", c->method, c->target, c->headers ? c->headers : "");
    if (c->content_type)
        dm_textf(&head, "content-type: %s\n", c->content_type);
    int64_t n = v1_api_request(head.p, (uint32_t)head.n, c->body.p,
                               c->content_type ? (uint32_t)c->body.n : 0);
    dm_text_fini(&head);
    return n < 0 ? fail_by_host(r, n) : take_answer(r, (uint32_t)n, ret);
}

#define DM_JSON_TYPE "application/json"

/* Send a body to an object, with a query or "". */
static int send_to(struct dm_request *r, const char *method, struct dm_ref ref, const char *query,
                   const char *type, struct dm_str body, struct dm_json *ret)
{
    struct dm_text target = { 0 };
    dm_kube_path(&target, ref.res, ref.ns, ref.name, ref.sub);
    dm_textf(&target, "%s", query);
    int code =
        dm_call(r,
                &(struct dm_call){
                    .method = method, .target = target.p, .content_type = type, .body = body },
                ret);
    dm_text_fini(&target);
    return code;
}

int dm_get(struct dm_request *r, struct dm_ref ref, struct dm_json *ret)
{
    return send_to(r, "GET", ref, "", NULL, (struct dm_str){ 0 }, ret);
}

int dm_create(struct dm_request *r, struct dm_ref ref, struct dm_str body, struct dm_json *ret)
{
    if (!ref.sub)
        ref.name = NULL;
    return send_to(r, "POST", ref, "", DM_JSON_TYPE, body, ret);
}

int dm_update(struct dm_request *r, struct dm_ref ref, struct dm_str body, struct dm_json *ret)
{
    return send_to(r, "PUT", ref, "", DM_JSON_TYPE, body, ret);
}

int dm_patch(struct dm_request *r, struct dm_ref ref, const char *type, struct dm_str body,
             struct dm_json *ret)
{
    return send_to(r, "PATCH", ref, "", type, body, ret);
}

int dm_apply(struct dm_request *r, struct dm_ref ref, struct dm_str body, bool force,
             struct dm_json *ret)
{
    return send_to(r, "PATCH", ref, force ? "?force=true" : "?force=false",
                   "application/apply-patch+yaml", body, ret);
}

static void put_delete_options(struct dm_text *t, const struct dm_delete *how)
{
    dm_jw_open(t, '{');
    dm_jw_kstr(t, "apiVersion", "v1");
    dm_jw_kstr(t, "kind", "DeleteOptions");
    if (how->uid || how->resource_version) {
        dm_jw_key(t, "preconditions");
        dm_jw_open(t, '{');
        if (how->uid)
            dm_jw_kstr(t, "uid", how->uid);
        if (how->resource_version)
            dm_jw_kstr(t, "resourceVersion", how->resource_version);
        dm_jw_close(t, '}');
    }
    if (how->propagation)
        dm_jw_kstr(t, "propagationPolicy", how->propagation);
    if (how->grace_s)
        dm_jw_kint(t, "gracePeriodSeconds", how->grace_s < 0 ? 0 : how->grace_s);
    if (how->dry_run)
        dm_jw_kraw(t, "dryRun", (struct dm_json){ "[\"All\"]", 7 });
    dm_jw_close(t, '}');
}

int dm_delete(struct dm_request *r, struct dm_ref ref, const struct dm_delete *how)
{
    if (!how)
        return send_to(r, "DELETE", ref, "", NULL, (struct dm_str){ 0 }, NULL);
    struct dm_text t = { 0 };
    put_delete_options(&t, how);
    int code = send_to(r, "DELETE", ref, "", DM_JSON_TYPE, dm_text_view(&t), NULL);
    dm_text_fini(&t);
    return code;
}

/* ---- lists ---- */

static void put_query(struct dm_text *t, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    dm_textf(t, "&%s=", name);
    dm_text_uri(t, dm_str(value));
}

#define LIST_PAGE 500

int dm_list(struct dm_request *r, const struct dm_list *l, struct dm_json *ret)
{
    struct dm_text target = { 0 };
    dm_kube_path(&target, l->res, l->ns, NULL, NULL);
    dm_textf(&target, "?limit=%u", l->limit ? l->limit : LIST_PAGE);
    put_query(&target, "labelSelector", l->label_selector);
    put_query(&target, "fieldSelector", l->field_selector);
    put_query(&target, "continue", l->continue_token);
    int code = dm_call(r,
                       &(struct dm_call){
                           .method = "GET",
                           .target = target.p,
                           .headers = l->metadata_only
                                          ? "accept: application/json;as=PartialObjectMetadataList;"
                                            "g=meta.k8s.io;v=v1\n"
                                          : NULL,
                       },
                       ret);
    dm_text_fini(&target);
    return code;
}

/* What a page took is released with it; `token`, which outlives it, is the caller's. */
typedef int (*page_fn)(struct dm_request *r, const void *query, const char *token,
                       struct dm_json *ret);

static int each_of_page(struct dm_request *r, page_fn get, const void *query, struct dm_text *token,
                        dm_each_fn fn, void *arg)
{
    struct dm_json page;
    int code = get(r, query, token->n ? token->p : NULL, &page);
    if (code < 0)
        return code;
    for (struct dm_json_iter it = dm_json_iter(dm_json_member(page, "items")); dm_json_next(&it);) {
        code = fn(r, it.value, arg);
        if (code != 0)
            return code;
    }
    struct dm_json next = dm_json_at(page, "metadata.continue");
    token->n = 0;
    dm_json_decode(next.p ? next : dm_json_member(page, "continue"), token);
    return 0;
}

static int each(struct dm_request *r, page_fn get, const void *query, const char *from,
                dm_each_fn fn, void *arg)
{
    struct dm_text token = { 0 };
    struct dm_arena arena = r->arena;
    struct dm_held *held = r->held;
    int code;
    dm_textf(&token, "%s", from ? from : "");
    do {
        r->arena = (struct dm_arena){ 0 };
        r->held = NULL;
        code = each_of_page(r, get, query, &token, fn, arg);
        v1_release(r);
    } while (code == 0 && token.n);
    r->arena = arena;
    r->held = held;
    dm_text_fini(&token);
    return code;
}

static int list_page(struct dm_request *r, const void *query, const char *token,
                     struct dm_json *ret)
{
    struct dm_list l = *(const struct dm_list *)query;
    l.continue_token = token;
    return dm_list(r, &l, ret);
}

int dm_list_each(struct dm_request *r, const struct dm_list *l, dm_each_fn fn, void *arg)
{
    return each(r, list_page, l, l->continue_token, fn, arg);
}

/* ---- the cache, configuration ---- */

static void put_member(struct dm_text *t, const char *key, const char *value)
{
    if (value && *value)
        dm_jw_kstr(t, key, value);
}

static void put_consistent(struct dm_text *t, bool consistent)
{
    if (!consistent)
        return;
    dm_jw_key(t, "consistent");
    dm_jw_bool(t, true);
}

static int cache_get(struct dm_request *r, const char *watch, const char *ns, const char *name,
                     bool consistent, struct dm_json *ret)
{
    struct dm_text t = { 0 };
    v1_clear_error(r);
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "watch", watch);
    put_member(&t, "namespace", ns);
    dm_jw_kstr(&t, "name", name);
    put_consistent(&t, consistent);
    dm_jw_close(&t, '}');
    int64_t n = v1_cache_get(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
    return take_json(r, n, ret);
}

int dm_cache_get(struct dm_request *r, const char *watch, const char *ns, const char *name,
                 struct dm_json *ret)
{
    return cache_get(r, watch, ns, name, false, ret);
}

int dm_cache_get_consistent(struct dm_request *r, const char *watch, const char *ns,
                            const char *name, struct dm_json *ret)
{
    return cache_get(r, watch, ns, name, true, ret);
}

int dm_cache_list(struct dm_request *r, const struct dm_query *q, struct dm_json *ret)
{
    struct dm_text t = { 0 };
    v1_clear_error(r);
    dm_jw_open(&t, '{');
    dm_jw_kstr(&t, "watch", q->watch);
    put_member(&t, "namespace", q->ns);
    put_member(&t, "labelSelector", q->label_selector);
    put_member(&t, "index", q->index);
    if (q->index)
        dm_jw_kstr(&t, "value", q->value ? q->value : "");
    put_member(&t, "view", q->view);
    if (q->limit)
        dm_jw_kint(&t, "limit", q->limit);
    put_member(&t, "continue", q->continue_token);
    put_consistent(&t, q->consistent);
    dm_jw_close(&t, '}');
    int64_t n = v1_cache_list(t.p, (uint32_t)t.n);
    dm_text_fini(&t);
    return take_json(r, n, ret);
}

static int cache_page(struct dm_request *r, const void *query, const char *token,
                      struct dm_json *ret)
{
    struct dm_query q = *(const struct dm_query *)query;
    q.continue_token = token;
    return dm_cache_list(r, &q, ret);
}

int dm_cache_each(struct dm_request *r, const struct dm_query *q, dm_each_fn fn, void *arg)
{
    return each(r, cache_page, q, q->continue_token, fn, arg);
}

int dm_config(struct dm_request *r, const char *name, struct dm_json *ret)
{
    v1_clear_error(r);
    return take_json(r, v1_config_get(name, (uint32_t)strlen(name)), ret);
}
