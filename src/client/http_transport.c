/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes requests over HTTP; see http_transport.h. */
#include "client/http_transport.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/sys.h"
#include "base/version.h"
#include "codec/base64.h"
#include "io/fetch_url.h"
#include "io/http.h"
#include "io/tls.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* A client with its credentials. One that was replaced stays until its last call has ended. */
struct http_transport_side {
    struct list node; /* of t->replaced */
    struct http_client *client;
    struct tls_ctx *tls;
    size_t calls;
};

struct http_transport {
    struct transport base;
    struct loop *loop;
    struct http_transport_side *own;
    struct list replaced; /* struct http_transport_side */
    /*
     * For requests with their own token: a client certificate would take precedence over it. The
     * same client as above when we have no certificate, else created by the first such request.
     */
    struct http_transport_side *bare;
    char *host, *ca_pem, *tls_server_name;
    uint16_t port;
    bool has_tls, has_cert, insecure;
    char *prefix; /* path of the server URL, "" or "/k8s/clusters/x" */
    char *token, *token_file, *basic, *impersonate;
    uint64_t token_read_ms;
    size_t calls;
    bool lost; /* logged already */
    bool closing;
    struct defer close_defer, drop_defer;
    void (*done)(void *arg);
    void *done_arg;
};

/* One request; its caller holds the exchange of the HTTP client. */
struct http_transport_call {
    struct exchange_forward forward;
    struct http_transport *t;
    struct http_transport_side *side;
    bool is_own; /* uses the transport's own credentials */
};

static void side_free(struct http_transport_side *s)
{
    if (!s)
        return;
    list_remove(&s->node);
    if (s->client)
        http_client_close(s->client);
    tls_ctx_free(s->tls);
    free(s);
}

static void finish_close(struct defer *d)
{
    struct http_transport *t = container_of(d, struct http_transport, close_defer);
    void (*done)(void *) = t->done;
    void *arg = t->done_arg;
    assert(list_is_empty(&t->replaced));
    side_free(t->own);
    side_free(t->bare);
    free(t->host);
    free(t->ca_pem);
    free(t->tls_server_name);
    free(t->prefix);
    free(t->token);
    free(t->token_file);
    free(t->basic);
    free(t->impersonate);
    free(t);
    if (done)
        done(arg);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct http_transport_call *c = container_of(arg, struct http_transport_call, forward);
    if (c->t->lost) {
        c->t->lost = false;
        log_info("cluster answers again", "status=%d", status);
    }
    if (status == 401 && c->is_own)
        c->t->token_read_ms = 0; /* the file may hold a newer token */
    exchange_forward_head(arg, status, headers);
}

/* A client is not closed from a callback of its own call. */
static void drop_replaced(struct defer *d)
{
    struct http_transport *t = container_of(d, struct http_transport, drop_defer);
    list_each_safe (node, &t->replaced) {
        struct http_transport_side *s = list_entry(node, struct http_transport_side, node);
        if (s->calls == 0)
            side_free(s);
    }
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct http_transport_call *c = container_of(arg, struct http_transport_call, forward);
    struct http_transport *t = c->t;
    if (r < 0 && r != -ECANCELED && !t->lost && !t->closing) {
        t->lost = true;
        log_warn("cluster does not answer, retrying", "server=%s:%u reason=\"%s\"", t->host,
                 t->port, err ? err_text(err) : err_strerror(r));
    }
    t->calls--;
    if (--c->side->calls == 0 && list_is_linked(&c->side->node))
        defer_start(t->loop, &t->drop_defer, drop_replaced);
    exchange_forward_end(arg, r, err);
    free(c);
    if (t->closing && t->calls == 0)
        defer_start(t->loop, &t->close_defer, finish_close);
}

static const struct exchange_events http_events = { .on_head = on_head,
                                                    .on_data = exchange_forward_data,
                                                    .on_end = on_end };

/* Service account tokens are replaced on disk before they expire. */
static void refresh_token(struct http_transport *t)
{
    uint64_t now = loop_now_ms(t->loop);
    bool is_fresh =
        t->token && t->token_read_ms && now - t->token_read_ms < HTTP_TRANSPORT_TOKEN_REFRESH_MS;
    if (!t->token_file || is_fresh)
        return;
    struct err err = { 0 };
    scoped(buf_fini_scoped) struct buf b = BUF_INIT(64 << 10);
    t->token_read_ms = MAX(now, (uint64_t)1);
    if (sys_read_file(AT_FDCWD, t->token_file, &b, &err) < 0) {
        log_warn("token file cannot be read", "reason=\"%s\"", err_text(&err));
        return;
    }
    free(t->token);
    t->token = str_dup(str_trim(buf_str(&b)));
}

static int add_credentials(struct http_transport *t, const struct kube_identity *identity,
                           struct headers *h)
{
    int r = 0;
    if (identity && identity->token.n) {
        scoped(free_scoped) char *value = xasprintf("Bearer " STR_FMT, STR_ARG(identity->token));
        r = headers_set(h, STR("authorization"), str_of(value));
        return r < 0 ? r : headers_set(h, STR("user-agent"), str_of(version_product()));
    }
    refresh_token(t);
    if (t->token || t->basic) {
        scoped(free_scoped) char *value =
            t->token ? xasprintf("Bearer %s", t->token) : xasprintf("Basic %s", t->basic);
        r = headers_set(h, STR("authorization"), str_of(value));
    }
    if (r >= 0 && identity && identity->user.n) {
        r = headers_set(h, STR("impersonate-user"), identity->user);
        for (size_t i = 0; r >= 0 && i < identity->n_groups; i++)
            r = headers_add(h, STR("impersonate-group"), identity->groups[i]);
    } else if (r >= 0 && t->impersonate) {
        r = headers_set(h, STR("impersonate-user"), str_of(t->impersonate));
    }
    if (r >= 0)
        r = headers_set(h, STR("user-agent"), str_of(version_product()));
    return r;
}

static int new_side(struct http_transport *t, struct str ca_pem, struct str cert_pem,
                    struct str key_pem, struct http_transport_side **ret, struct err *err)
{
    struct http_transport_side *s = xnew(struct http_transport_side);
    int r =
        t->has_tls ? tls_ctx_new_client(ca_pem, cert_pem, key_pem, t->insecure, &s->tls, err) : 0;
    struct http_client_opts opts = { .host = t->host,
                                     .port = t->port,
                                     .tls = s->tls,
                                     .server_name = t->tls_server_name,
                                     .max_connections = HTTP_TRANSPORT_CONNECTIONS,
                                     .http2 = s->tls != NULL,
                                     .user_timeout_ms = HTTP_TRANSPORT_USER_TIMEOUT_MS };
    if (r >= 0)
        r = http_client_new(t->loop, &opts, &s->client, err);
    if (r < 0) {
        side_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

/* The bare side is created on demand: most processes use no identity but their own. */
static int choose_side(struct http_transport *t, const struct kube_identity *identity,
                       struct http_transport_side **ret, struct err *err)
{
    bool bare = t->has_cert && identity && identity->token.n;
    int r = bare && !t->bare ? new_side(t, str_of(t->ca_pem), STR(""), STR(""), &t->bare, err) : 0;
    if (r >= 0)
        *ret = bare ? t->bare : t->own;
    return r;
}

static int start(struct transport *base, const struct kube_request *req,
                 const struct exchange_events *events, void *arg, struct exchange **ret,
                 struct err *err)
{
    struct http_transport *t = container_of(base, struct http_transport, base);
    if (t->closing)
        return err_set(err, -ECANCELED, "the connection to the cluster is being closed");
    struct headers h = { 0 };
    struct http_transport_side *side;
    int r = choose_side(t, req->identity, &side, err);
    if (r < 0)
        return r;
    if (req->headers)
        r = headers_copy(&h, req->headers);
    if (r >= 0)
        r = add_credentials(t, req->identity, &h);
    if (r < 0) {
        headers_fini(&h);
        return err_sys(err, r, "request headers");
    }
    scoped(free_scoped) char *target = xasprintf("%s" STR_FMT, t->prefix, STR_ARG(req->target));
    struct http_transport_call *c = xnew(struct http_transport_call);
    c->t = t;
    c->side = side;
    c->is_own = !req->identity || !req->identity->token.n;
    exchange_forward_init(&c->forward, NULL, events, arg);
    struct http_call_opts opts = { .method = req->method,
                                   .target = str_of(target),
                                   .headers = &h,
                                   .body = req->body,
                                   .head_timeout_ms = req->timeout_ms ? req->timeout_ms : 30000,
                                   .events = &http_events,
                                   .arg = &c->forward };
    r = http_call_start(side->client, &opts, &c->forward.under, err);
    headers_fini(&h);
    if (r < 0) {
        free(c);
        return r;
    }
    t->calls++;
    side->calls++;
    *ret = c->forward.under;
    return 0;
}

struct server_url {
    bool tls;
    char host[256];
    uint16_t port;
    struct str path;
};

static int parse_url(const char *text, struct server_url *ret, struct err *err)
{
    struct str s = str_of(text), authority, host, port;
    ret->tls = str_has_prefix(s, STR("https://"));
    if (!ret->tls && !str_has_prefix(s, STR("http://")))
        return err_set(err, E_INVALID, "server '%s' is neither http:// nor https://",
                       fetch_url_shown(text));
    s = str_slice(s, ret->tls ? 8 : 7, s.n);
    bool has_path = str_cut(s, '/', &authority, &ret->path);
    ret->path = has_path ? str_slice(s, authority.n, s.n) : STR("");
    while (ret->path.n && ret->path.p[ret->path.n - 1] == '/')
        ret->path.n--;
    uint64_t n = ret->tls ? 443 : 80;
    if (authority.n && authority.p[0] == '[') {
        (void)str_cut(str_slice(authority, 1, authority.n), ']', &host, &port);
        if (port.n && port.p[0] == ':')
            port = str_slice(port, 1, port.n);
    } else {
        (void)str_cut(authority, ':', &host, &port);
    }
    if (host.n == 0 || host.n >= sizeof ret->host || strchr(text, '@') ||
        (port.n && parse_u64(port, 1, 65535, &n) < 0))
        return err_set(err, E_INVALID, "server '%s' has no valid host and port",
                       fetch_url_shown(text));
    memcpy(ret->host, host.p, host.n);
    ret->host[host.n] = '\0';
    ret->port = (uint16_t)n;
    return 0;
}

int http_transport_new(struct loop *loop, const struct kubeconfig *config,
                       struct http_transport **ret, struct err *err)
{
    struct server_url url;
    int r = parse_url(config->server, &url, err);
    if (r < 0)
        return r;
    struct http_transport *t = xnew(struct http_transport);
    t->base.start = start;
    t->loop = loop;
    t->prefix = str_dup(url.path);
    t->host = xstrdup(url.host);
    t->port = url.port;
    t->has_tls = url.tls;
    t->has_cert = url.tls && config->client_cert_pem;
    t->insecure = config->insecure;
    if (t->has_cert && config->ca_pem)
        t->ca_pem = xstrdup(config->ca_pem);
    if (config->tls_server_name)
        t->tls_server_name = xstrdup(config->tls_server_name);
    if (config->token)
        t->token = xstrdup(config->token);
    else if (config->token_file)
        t->token_file = xstrdup(config->token_file);
    if (config->username && config->password) {
        scoped(free_scoped) char *pair = xasprintf("%s:%s", config->username, config->password);
        struct buf b = BUF_INIT(64 << 10);
        size_t n;
        (void)base64_encode(&b, str_of(pair), BASE64_STD);
        t->basic = buf_take(&b, &n);
    }
    if (config->impersonate_user)
        t->impersonate = xstrdup(config->impersonate_user);
    list_init(&t->replaced);
    r = new_side(t, str_of(config->ca_pem), str_of(config->client_cert_pem),
                 str_of(config->client_key_pem), &t->own, err);
    if (r < 0) {
        finish_close(&t->close_defer);
        return err_ctx(err, r, "cluster '%s'", config->server);
    }
    *ret = t;
    return 0;
}

struct transport *http_transport_base(struct http_transport *t)
{
    return &t->base;
}

int http_transport_set_cert(struct http_transport *t, struct str cert_pem, struct str key_pem,
                            struct err *err)
{
    struct http_transport_side *side, *old = t->own;
    assert(t->has_cert && !t->closing);
    int r = new_side(t, str_of(t->ca_pem), cert_pem, key_pem, &side, err);
    if (r < 0)
        return r;
    t->own = side;
    list_push_back(&t->replaced, &old->node);
    defer_start(t->loop, &t->drop_defer, drop_replaced);
    return 0;
}

/* Ends the calls of the side; those that end in turn may have been the last. */
static void side_close(struct http_transport_side *s)
{
    if (s && s->client)
        http_client_close(take_ptr(&s->client));
}

void http_transport_close(struct http_transport *t, void (*done)(void *arg), void *arg)
{
    t->closing = true;
    t->done = done;
    t->done_arg = arg;
    side_close(t->own);
    side_close(t->bare);
    list_each_safe (node, &t->replaced)
        side_close(list_entry(node, struct http_transport_side, node));
    if (t->calls == 0)
        defer_start(t->loop, &t->close_defer, finish_close);
}
