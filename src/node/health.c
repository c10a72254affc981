/* SPDX-License-Identifier: Apache-2.0 */
/* Probes and metrics; see health.h. */
#include "node/health.h"

#include "base/mem.h"
#include "io/http.h"
#include "node/listener.h"

enum { METRICS_MAX_BYTES = 64 << 20 };

struct node_health {
    struct health_opts opts;
    struct http_server *server;
    void (*done)(void *arg);
    void *done_arg;
};

static void reply(struct http_exchange *x, int status, const char *type, struct str body)
{
    struct headers h = { 0 };
    (void)headers_addc(&h, "content-type", type);
    http_reply(x, status, &h, body);
    headers_fini(&h);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct node_health *h = arg;
    const char *text = "text/plain; charset=utf-8";
    struct str path;
    (void)str_cut(req->target, '?', &path, &(struct str){ 0 });
    if (!str_is(req->method, "GET") && !str_is(req->method, "HEAD")) {
        reply(x, 405, text, STR("only GET here\n"));
    } else if (str_is(path, "/healthz") || str_is(path, "/livez")) {
        reply(x, 200, text, STR("ok\n"));
    } else if (str_is(path, "/readyz")) {
        const char *missing = h->opts.not_ready(h->opts.arg);
        scoped(free_scoped) char *why = missing ? xasprintf("%s\n", missing) : NULL;
        reply(x, missing ? 503 : 200, text, missing ? str_of(why) : STR("ok\n"));
    } else if (str_is(path, "/metrics")) {
        scoped(buf_fini_scoped) struct buf body = BUF_INIT(METRICS_MAX_BYTES);
        h->opts.metrics(h->opts.arg, &body);
        reply(x, buf_ok(&body) ? 200 : 500, "text/plain; version=0.0.4", buf_str(&body));
    } else {
        reply(x, 404, text, STR("there are /healthz, /readyz and /metrics\n"));
    }
}

int health_start(const struct health_opts *opts, struct node_health **ret, struct err *err)
{
    struct node_health *h = xnew(struct node_health);
    h->opts = *opts;
    struct http_server_opts server = {
        .host = opts->host, .port = opts->port, .on_request = on_request, .arg = h
    };
    int r = http_server_start(opts->loop, &server, &h->server, err);
    if (r < 0) {
        free(h);
        return listener_failed(err, r, "the probes'", "--health-listen");
    }
    *ret = h;
    return 0;
}

uint16_t health_port(const struct node_health *h)
{
    return http_server_port(h->server);
}

static void on_closed(void *arg)
{
    struct node_health *h = arg;
    void (*done)(void *) = h->done;
    void *done_arg = h->done_arg;
    free(h);
    done(done_arg);
}

void health_close(struct node_health *h, void (*done)(void *arg), void *arg)
{
    h->done = done;
    h->done_arg = arg;
    http_server_close(h->server, 0, on_closed, h);
}
