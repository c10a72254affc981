/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for asynchronous calls: read, put on disk, acknowledged with 202. */
#include "fn/async/async_int.h"

#include "io/http.h"

#include <errno.h>

struct async_take_taking {
    struct async *a;
    struct http_exchange *x; /* NULL: the client has left */
    char namespace[FN_NAME_MAX + 1], name[FN_NAME_MAX + 1];
    struct str method, target; /* the exchange's */
    struct headers headers;
    struct str key, callback; /* the request's */
    struct buf body;
    size_t counted; /* in async.taking_bytes */
    bool storing, prefers, refused;
};

void async_refuse(struct http_exchange *x, int status, const char *reason, const char *message,
                  unsigned retry_s)
{
    struct headers h = { 0 };
    struct buf body;
    (void)headers_addc(&h, "content-type", "application/json");
    (void)headers_addc(&h, "x-dormouse-reason", reason);
    if (retry_s) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", retry_s);
        (void)headers_addc(&h, "retry-after", number);
    }
    buf_init(&body, 4096);
    (void)buf_printf(&body, "{\"reason\":\"%s\",\"message\":", reason);
    (void)json_write_str(&body, str_of(message));
    (void)buf_add_cstr(&body, "}\n");
    http_reply(x, status, &h, buf_str(&body));
    buf_fini(&body);
    headers_fini(&h);
}

static void refuse(struct async_take_taking *t, int r, const struct err *err)
{
    const char *text = err_text(err);
    switch (r) {
    case E_INVALID:
        async_refuse(t->x, 400, "Invalid", text, 0);
        return;
    case -EMSGSIZE:
        async_refuse(t->x, 413, "BodyTooLarge", text, 0);
        return;
    case -ENOSPC:
        async_refuse(t->x, 503, "DiskFull", "the call could not be stored: the disk is full", 10);
        return;
    case -EBUSY:
        async_refuse(t->x, 503, "TooManyCalls", text, 5);
        return;
    case -ECANCELED:
        async_refuse(t->x, 503, "ShuttingDown", text, 1);
        return;
    default:
        async_refuse(t->x, 503, "StoreFailed", "the call could not be stored", 5);
    }
}

static void taking_free(struct async_take_taking *t)
{
    t->a->taking_bytes -= t->counted;
    headers_fini(&t->headers);
    buf_fini(&t->body);
    free(t);
}

static void acknowledge(struct async_take_taking *t, const char *id, bool is_repeat)
{
    struct headers h = { 0 };
    char location[64], body[96];
    (void)snprintf(location, sizeof location, "/v1/async/%s", id);
    (void)headers_addc(&h, "content-type", "application/json");
    (void)headers_addc(&h, "location", location);
    (void)headers_addc(&h, "x-dormouse-call-id", id);
    (void)headers_addc(&h, "x-call-id", id);
    if (is_repeat)
        (void)headers_addc(&h, "x-faas-call-repeated", "true");
    if (t->prefers)
        (void)headers_addc(&h, "preference-applied", "respond-async");
    int n = snprintf(body, sizeof body, "{\"id\":\"%s\",\"state\":\"accepted\"}\n", id);
    http_reply(t->x, 202, &h, str_n(body, (size_t)n));
    headers_fini(&h);
}

static void on_submitted(void *arg, int r, const char id[ASYNC_ID_TEXT], bool is_repeat,
                         const struct err *err)
{
    struct async_take_taking *t = arg;
    t->storing = false;
    if (!t->x) {
        taking_free(t);
        return;
    }
    if (r < 0)
        refuse(t, r, err);
    else
        acknowledge(t, id, is_repeat);
}

static void submit(struct async_take_taking *t)
{
    struct err err = { 0 };
    struct async_call call = { .namespace = str_of(t->namespace),
                               .name = str_of(t->name),
                               .method = t->method,
                               .target = t->target,
                               .headers = &t->headers,
                               .body = buf_str(&t->body),
                               .key = t->key,
                               .callback = t->callback };
    int r = async_submit(t->a, &call, on_submitted, t, &err);
    if (r < 0) {
        t->a->stats.refused++;
        refuse(t, r, &err);
        return;
    }
    t->storing = true;
    buf_fini(&t->body); /* the store has its copy */
    buf_init(&t->body, ASYNC_BODY_MAX);
}

/* ------------------------------------------------------------------ the exchange */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct async_take_taking *t = http_exchange_data(x);
    if (t->refused)
        return;
    if (t->a->taking_bytes + chunk.n > ASYNC_TAKING_MAX_BYTES) {
        t->refused = true;
        t->a->stats.refused++;
        async_refuse(x, 503, "TooManyCalls", "too many calls are being accepted", 1);
        return;
    }
    t->counted += chunk.n;
    t->a->taking_bytes += chunk.n;
    (void)buf_add_str(&t->body, chunk);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct async_take_taking *t = http_exchange_data(x);
    if (t->refused)
        return;
    if (r == -EMSGSIZE || (r >= 0 && !buf_ok(&t->body))) {
        t->a->stats.refused++;
        async_refuse(x, 413, "BodyTooLarge", "the body is larger than the function allows", 0);
    } else if (r >= 0) {
        submit(t);
    }
}

static void on_gone(struct http_exchange *x, int r)
{
    struct async_take_taking *t = http_exchange_data(x);
    t->x = NULL;
    if (!t->storing)
        taking_free(t);
}

static const struct http_exchange_ops take_ops = { .on_body = on_body,
                                                   .on_body_end = on_body_end,
                                                   .on_gone = on_gone };

/* "/fn/NAMESPACE/NAME" is the function's address and not part of what it sees. */
static struct str inner_target(struct str target, struct str namespace, struct str name)
{
    struct str of_namespace, of_name, tail;
    if (async_openfaas_parse(target, &of_namespace, &of_name, &tail))
        return tail.n && tail.p[0] == '/' ? tail : STR("/");
    struct str parts[] = { STR("/fn/"), namespace, STR("/"), name }, rest = target;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!str_has_prefix(rest, parts[i]))
            return target;
        rest = str_slice(rest, parts[i].n, rest.n);
    }
    if (rest.n == 0)
        return STR("/");
    return rest.p[0] == '/' ? rest : target;
}

/* Host TAG.NAME.NAMESPACE...: the call has no host, so the tag is put into its field. */
static void keep_tag(struct headers *to, struct str host, struct str namespace, struct str name)
{
    struct str tag, rest, of_name, of_namespace;
    char lower[FN_NAME_MAX];
    if (!str_cut(host, '.', &tag, &rest) || !str_cut(rest, '.', &of_name, &rest) ||
        tag.n > sizeof lower || !str_ieq(of_name, name))
        return;
    (void)str_cut(rest, ':', &rest, &of_namespace);
    (void)str_cut(rest, '.', &of_namespace, &rest);
    if (!str_ieq(of_namespace, namespace))
        return;
    for (size_t i = 0; i < tag.n; i++)
        lower[i] = tag.p[i] >= 'A' && tag.p[i] <= 'Z' ? (char)(tag.p[i] | 0x20) : tag.p[i];
    (void)headers_set(to, STR("x-dormouse-tag"), str_n(lower, tag.n));
}

static bool take(struct async *a, struct http_exchange *x, const struct http_request *req,
                 struct str namespace, struct str name, struct str target,
                 const struct fn_spec *spec)
{
    uint64_t max = MIN(spec->body_max, (uint64_t)ASYNC_BODY_MAX);
    if (namespace.n > FN_NAME_MAX || name.n > FN_NAME_MAX)
        return false;
    struct async_take_taking *t = xnew(struct async_take_taking);
    *t = (struct async_take_taking){ .a = a, .x = x, .method = req->method, .target = target };
    memcpy(t->namespace, namespace.p, namespace.n);
    memcpy(t->name, name.p, name.n);
    buf_init(&t->body, max);
    t->key = headers_get(req->headers, "idempotency-key");
    t->callback = headers_get(req->headers, "x-callback-url");
    t->prefers = headers_has_token(req->headers, "prefer", "respond-async");
    http_exchange_set(x, &take_ops, t);
    struct err err = { 0 };
    int r = async_fields_keep(req->headers, &t->headers, &err);
    keep_tag(&t->headers, headers_get(req->headers, "host"), namespace, name);
    if (r >= 0 && req->has_body && req->content_length != UINT64_MAX && req->content_length > max)
        r = err_set(&err, -EMSGSIZE, "body of %llu bytes, at most %llu",
                    (unsigned long long)req->content_length, (unsigned long long)max);
    if (r < 0) {
        a->stats.refused++;
        refuse(t, r, &err);
    } else if (req->has_body) {
        http_read_body(x, max);
    } else {
        submit(t);
    }
    return true;
}

bool async_take(void *arg, struct http_exchange *x, const struct http_request *req,
                struct str namespace, struct str name, const struct fn_spec *spec)
{
    struct async *a = arg;
    struct str prefix = STR("/async-function/");
    return (async_is_asked(req->headers) || str_has_prefix(req->target, prefix)) &&
           take(a, x, req, namespace, name, inner_target(req->target, namespace, name), spec);
}
