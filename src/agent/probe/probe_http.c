/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests as probes: statuses from 200 to 399 are a success. Each attempt makes a connection
 * of its own. Redirects to the same host are followed; another one is a success with a warning. See
 * prober_attempt.h.
 */
#include "agent/probe/prober_attempt.h"

#include "base/buf.h"
#include "base/mem.h"
#include "io/fetch_url.h"
#include "io/http.h"
#include "io/tls.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct http_probe {
    struct prober_attempt *a;
    struct fetch_url url;
    struct http_client *client;
    struct exchange *x; /* NULL: none is under way */
    unsigned n_redirects;
    int status;
    struct buf body;
    char *location;  /* of the response, NULL: none */
    bool has_enough; /* the body reached PROBE_BODY_MAX, and the exchange was cancelled */
};

static void request(struct http_probe *h);

static void http_probe_free(struct http_probe *h)
{
    struct prober_attempt *a = h->a;
    assert(!h->x);
    if (h->client)
        http_client_close(h->client);
    fetch_url_fini(&h->url);
    buf_fini(&h->body);
    free(h->location);
    free(h);
    a->method = NULL;
    prober_attempt_unref(a);
}

static void get_failed(struct http_probe *h, const char *why)
{
    char host[FETCH_URL_HOST_MAX];
    prober_attempt_end(h->a, PROBE_FAILURE, "Get \"%s://%s%s\": %s", h->url.tls ? "https" : "http",
                       fetch_url_host(&h->url, host), h->url.path, why);
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Follow the redirect; false: it leads to another host. */
static bool follow(struct http_probe *h)
{
    struct fetch_url next = { 0 };
    struct err err = { 0 };
    if (fetch_url_parse(h->location, &h->url, &next, &err) < 0) {
        get_failed(h, err_text(&err));
        return true;
    }
    if (strcmp(next.host, h->url.host) != 0) {
        fetch_url_fini(&next);
        return false;
    }
    fetch_url_fini(&h->url);
    h->url = next;
    if (++h->n_redirects >= PROBE_REDIRECTS_MAX)
        get_failed(h, "stopped after 10 redirects");
    else
        request(h);
    return true;
}

static void judge(struct http_probe *h)
{
    struct prober_attempt *a = h->a;
    if (is_redirect(h->status) && h->location && follow(h))
        return;
    if ((h->status >= 200 && h->status < 300) || a->spec->takes_any_status)
        prober_attempt_end_str(a, PROBE_SUCCESS, buf_str(&h->body));
    else if (h->status >= 300 && h->status < 400)
        prober_attempt_end(a, PROBE_WARNING, "Probe terminated redirects, Response body: " STR_FMT,
                           STR_ARG(buf_str(&h->body)));
    else
        prober_attempt_end(a, PROBE_FAILURE, "HTTP probe failed with statuscode: %d", h->status);
}

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct http_probe *h = arg;
    struct str location = headers_get(headers, "location");
    h->status = status;
    free(h->location);
    h->location = location.n ? str_dup(location) : NULL;
}

static void on_data(void *arg, struct str chunk)
{
    struct http_probe *h = arg;
    size_t room = PROBE_BODY_MAX - h->body.n;
    (void)buf_add(&h->body, chunk.p, MIN(chunk.n, room));
    if (chunk.n >= room && !h->has_enough) {
        h->has_enough = true;
        exchange_cancel(h->x);
    }
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct http_probe *h = arg;
    struct prober_attempt *a = h->a;
    h->x = NULL;
    if (a->is_over) {
        http_probe_free(h);
        return;
    }
    if (r < 0 && !h->has_enough)
        get_failed(h, err ? err_text(err) : err_strerror(r));
    else
        judge(h); /* may start the next request */
}

static const struct exchange_events events = { .on_head = on_head,
                                               .on_data = on_data,
                                               .on_end = on_end };

/* The first request takes the headers of the probe. An empty Accept or User-Agent removes it. */
static int fill_headers(const struct prober_attempt *a, struct headers *to)
{
    const struct probe_spec *spec = a->spec;
    bool has_accept = false, has_agent = false;
    int r = 0;
    for (size_t i = 0; r == 0 && i < spec->n_headers; i++) {
        struct str name = spec->headers[i].name, value = spec->headers[i].value;
        bool is_accept = str_ieq(name, STR("accept")), is_agent = str_ieq(name, STR("user-agent"));
        has_accept = has_accept || is_accept;
        has_agent = has_agent || is_agent;
        if (value.n || !(is_accept || is_agent))
            r = headers_add(to, name, value);
    }
    if (r == 0 && !has_agent)
        r = headers_addc(to, "user-agent", a->env->user_agent);
    if (r == 0 && !has_accept)
        r = headers_addc(to, "accept", "*/*");
    return r < 0 ? r : headers_addc(to, "connection", "close");
}

static struct tls_ctx *tls_of(struct probe_env *env)
{
    if (!env->tls && tls_ctx_new_client(STR_NULL, STR_NULL, STR_NULL, true, &env->tls, NULL) < 0)
        env->tls = NULL;
    return env->tls;
}

static int call(struct http_probe *h, struct err *err)
{
    struct headers headers = { 0 };
    struct http_client_opts o = { .host = h->url.host,
                                  .port = h->url.port,
                                  .max_connections = 1,
                                  .connect_timeout_ms = (uint64_t)h->a->spec->timeout_s * 1000 };
    if (h->url.tls && !(o.tls = tls_of(h->a->env)))
        return err_set(err, E_TLS, "TLS cannot be used");
    if (h->client)
        http_client_close(h->client);
    h->client = NULL;
    int r = http_client_new(h->a->env->loop, &o, &h->client, err);
    if (r == 0)
        r = fill_headers(h->a, &headers);
    struct http_call_opts co = { .method = STR("GET"),
                                 .target = str_of(h->url.path),
                                 .headers = &headers,
                                 .events = &events,
                                 .arg = h };
    if (r == 0)
        r = http_call_start(h->client, &co, &h->x, err);
    headers_fini(&headers);
    return r;
}

static void request(struct http_probe *h)
{
    struct err err = { 0 };
    buf_reset(&h->body);
    h->has_enough = false;
    h->status = 0;
    if (call(h, &err) < 0)
        get_failed(h, err_text(&err));
}

static void set_url(struct http_probe *h)
{
    const struct probe_spec *spec = h->a->spec;
    struct str path = spec->path;
    h->url.tls = spec->is_https;
    h->url.host = str_dup(spec->host.n ? spec->host : h->a->address);
    h->url.port = spec->port;
    h->url.path = xasprintf("%s" STR_FMT, path.n && path.p[0] == '/' ? "" : "/", STR_ARG(path));
}

static void http_start(struct prober_attempt *a)
{
    struct http_probe *h = xnew(struct http_probe);
    h->a = a;
    a->method = h;
    buf_init(&h->body, PROBE_BODY_MAX);
    set_url(h);
    prober_attempt_ref(a);
    request(h);
}

static void http_stop(struct prober_attempt *a)
{
    struct http_probe *h = a->method;
    if (h->x)
        exchange_cancel(h->x); /* on_end() frees */
    else
        http_probe_free(h);
}

const struct probe_method_ops probe_http_ops = {
    .start = http_start,
    .stop = http_stop,
    .timeout_text = "context deadline exceeded (Client.Timeout exceeded while awaiting headers): "
                    "no response"
};
