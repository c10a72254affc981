/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a callback or a dead letter to a URL. The name is resolved here and the connection uses the
 * address that was checked, so that a name cannot resolve to one address at the check and to
 * another at the connection. Redirects are not followed; of the response only the status is used.
 */
#include "fn/async/async_int.h"

#include "io/http.h"
#include "io/tls.h"
#include "io/work_pool.h"
#include "modules/module_fetch.h"

#include <arpa/inet.h>
#include <errno.h>

enum { POST_ANSWER_MAX_BYTES = 64 << 10 };

struct url_post {
    struct async *a; /* NULL once canceled */
    struct loop *loop;
    struct fetch_url url;
    struct headers headers;
    struct buf body;
    url_post_cb cb; /* NULL: canceled */
    void *arg;
    uv_getaddrinfo_t lookup;
    bool looking_up;
    struct http_client *client;
    struct exchange *call;
    struct timer deadline;
    int status, failed;
    const char *reason;
    size_t n_answer;
};

static void url_post_free(struct url_post *p)
{
    timer_stop(p->loop, &p->deadline);
    if (p->client)
        http_client_close(p->client);
    fetch_url_fini(&p->url);
    headers_fini(&p->headers);
    buf_fini(&p->body);
    free(p);
}

static void url_post_end(struct url_post *p, int r, const char *reason, const struct err *err)
{
    url_post_cb cb = p->cb;
    p->cb = NULL;
    if (cb)
        cb(p->arg, r, p->status, reason, err);
    url_post_free(p);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct url_post *p = arg;
    p->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct url_post *p = arg;
    p->n_answer += chunk.n;
    if (p->n_answer > POST_ANSWER_MAX_BYTES && p->call)
        exchange_cancel(p->call); /* the status is known */
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct url_post *p = arg;
    p->call = NULL;
    if (p->failed)
        url_post_end(p, p->failed, p->reason, err);
    else if (p->status > 0)
        url_post_end(p, 0, "", NULL);
    else
        url_post_end(p, r < 0 ? r : -EPROTO, "CannotConnect", err);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static void on_deadline(struct timer *t)
{
    struct url_post *p = container_of(t, struct url_post, deadline);
    p->failed = -ETIMEDOUT;
    p->reason = "Timeout";
    if (p->call)
        exchange_cancel(p->call);
    else
        uv_cancel((uv_req_t *)&p->lookup);
}

static int need_tls(struct async *a, struct err *err)
{
    return a->tls ? 0 : tls_ctx_new_client(STR(""), STR(""), STR(""), false, &a->tls, err);
}

static int send_to(struct url_post *p, const struct sockaddr *to, struct err *err)
{
    char ip[INET6_ADDRSTRLEN] = "";
    int r = to->sa_family == AF_INET ? uv_ip4_name((const struct sockaddr_in *)to, ip, sizeof ip)
                                     : uv_ip6_name((const struct sockaddr_in6 *)to, ip, sizeof ip);
    if (r >= 0 && p->url.tls)
        r = need_tls(p->a, err);
    if (r < 0)
        return r;
    struct http_client_opts opts = { .host = ip,
                                     .port = p->url.port,
                                     .tls = p->url.tls ? p->a->tls : NULL,
                                     .server_name = p->url.host,
                                     .max_connections = 1 };
    r = http_client_new(p->a->loop, &opts, &p->client, err);
    if (r < 0)
        return r;
    bool is_usual = p->url.port == (p->url.tls ? 443 : 80), v6 = strchr(p->url.host, ':');
    scoped(free_scoped) char *host =
        is_usual ? xasprintf(v6 ? "[%s]" : "%s", p->url.host)
                 : xasprintf(v6 ? "[%s]:%u" : "%s:%u", p->url.host, p->url.port);
    (void)headers_set(&p->headers, STR("host"), str_of(host));
    struct http_call_opts call = { .method = STR("POST"),
                                   .target = str_of(p->url.path),
                                   .headers = &p->headers,
                                   .body = buf_str(&p->body),
                                   .head_timeout_ms = ASYNC_URL_TIMEOUT_MS,
                                   .events = &call_events,
                                   .arg = p };
    return http_call_start(p->client, &call, &p->call, err);
}

static void on_lookup(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct url_post *p = req->data;
    struct err err = { 0 };
    const struct addrinfo *to = found;
    p->looking_up = false;
    int r = status;
    const char *reason = "CannotConnect";
    if (p->failed) {
        r = p->failed;
        reason = p->reason;
    }
    if (!p->a)
        r = -ECANCELED;
    while (r >= 0 && to && !p->a->allow_private_urls && async_address_is_private(to->ai_addr))
        to = to->ai_next;
    if (r >= 0 && !to) {
        r = err_set(&err, E_DENIED, "'%s' is not a public address", p->url.host);
        reason = "AddressNotAllowed";
    }
    if (r >= 0)
        r = send_to(p, to->ai_addr, &err);
    uv_freeaddrinfo(found);
    if (r < 0)
        url_post_end(p, r, reason, &err);
}

int url_post_start(struct async *a, struct str url, const struct headers *headers, struct str body,
                   url_post_cb cb, void *arg, struct url_post **ret, struct err *err)
{
    scoped(free_scoped) char *text = str_dup(url);
    struct url_post *p = xnew(struct url_post);
    *p = (struct url_post){ .a = a, .loop = a->loop, .cb = cb, .arg = arg };
    int r = fetch_url_parse(text, NULL, &p->url, err);
    if (r < 0) {
        free(p);
        return r;
    }
    buf_init(&p->body, ASYNC_BODY_MAX);
    r = buf_add_str(&p->body, body);
    if (r >= 0)
        r = headers_copy(&p->headers, headers);
    char port[8];
    (void)snprintf(port, sizeof port, "%u", p->url.port);
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC };
    p->lookup.data = p;
    if (r >= 0)
        r = work_pool_getaddrinfo(&a->loop->uv, &p->lookup, on_lookup, p->url.host, port, &hints);
    if (r < 0) {
        url_post_free(p);
        return err_sys(err, r, "find host of a URL");
    }
    p->looking_up = true;
    timer_start(a->loop, &p->deadline, ASYNC_URL_TIMEOUT_MS, on_deadline);
    *ret = p;
    return 0;
}

void url_post_cancel(struct url_post *p)
{
    if (!p)
        return;
    p->cb = NULL;
    p->a = NULL;
    if (p->looking_up) /* on_lookup() ends it */
        (void)uv_cancel((uv_req_t *)&p->lookup);
    else /* the call is canceled, and on_end() ends it */
        http_client_close(take_ptr(&p->client));
}
