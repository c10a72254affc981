/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One POST for each call. Error texts are those of Go's client, which users know from
 * kube-scheduler.
 */
#include "sched/extender/post.h"

#include "base/sys.h"
#include "codec/headers.h"
#include "io/tls.h"
#include "modules/module_fetch.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { PEM_MAX_BYTES = 1 << 20 };

struct extender_link {
    const struct sched_config_extender *config;
    struct loop *loop;
    struct fetch_url url;
    struct tls_ctx *tls;
    struct http_client *client;
    char *server_name;
};

/* ---- TLS ---- */

/* The text itself, or the content of the file; "" if neither is given. */
static int read_pem(struct str data, struct str file, struct buf *to, struct err *err)
{
    if (!str_is_empty(data)) {
        buf_add_str(to, data);
        return 0;
    }
    if (str_is_empty(file))
        return 0;
    scoped(free_scoped) char *path = str_dup(file);
    scoped(fd_scoped) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_sys(err, -errno, "open %s", path);
    for (;;) {
        char *room;
        int r = buf_reserve(to, 16 << 10, &room);
        if (r < 0)
            return err_set(err, r, "read %s: more than %d bytes", path, PEM_MAX_BYTES);
        ssize_t n = read(fd, room, 16 << 10);
        if (n < 0)
            return err_sys(err, -errno, "read %s", path);
        if (n == 0)
            return 0;
        buf_advance(to, (size_t)n);
    }
}

static int make_tls(struct extender_link *link, struct err *err)
{
    const struct sched_config_extender *c = link->config;
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(PEM_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf cert = BUF_INIT(PEM_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(PEM_MAX_BYTES);
    int r = read_pem(c->ca_data, c->ca_file, &ca, err);
    if (r >= 0)
        r = read_pem(c->cert_data, c->cert_file, &cert, err);
    if (r >= 0)
        r = read_pem(c->key_data, c->key_file, &key, err);
    if (r < 0)
        return r;
    /* enableHTTPS without a CA disables verification of the server, as upstream. */
    bool insecure = c->insecure || (c->enable_https && ca.n == 0);
    if (insecure && ca.n > 0)
        return err_set(err, E_INVALID,
                       "specifying a root certificates file with the insecure flag is not allowed");
    return tls_ctx_new_client(buf_str(&ca), buf_str(&cert), buf_str(&key), insecure, &link->tls,
                              err);
}

/* ---- links ---- */

void extender_link_free(struct extender_link *link)
{
    if (!link)
        return;
    if (link->client)
        http_client_close(link->client);
    tls_ctx_free(link->tls);
    fetch_url_fini(&link->url);
    free(link->server_name);
    free(link);
}

static int link_init(struct extender_link *link, struct err *err)
{
    const struct sched_config_extender *c = link->config;
    scoped(free_scoped) char *prefix = str_dup(c->url_prefix);
    for (size_t n = strlen(prefix); n > 0 && prefix[n - 1] == '/'; n--)
        prefix[n - 1] = '\0';
    int r = fetch_url_parse(prefix, NULL, &link->url, err);
    if (r < 0)
        return r;
    if (link->url.tls) {
        r = make_tls(link, err);
        if (r < 0)
            return r;
    }
    if (!str_is_empty(c->server_name))
        link->server_name = str_dup(c->server_name);
    struct http_client_opts opts = { .host = link->url.host,
                                     .port = link->url.port,
                                     .tls = link->tls,
                                     .server_name = link->server_name };
    return http_client_new(link->loop, &opts, &link->client, err);
}

int extender_link_new(struct loop *loop, const struct sched_config_extender *config,
                      struct extender_link **ret, struct err *err)
{
    struct extender_link *link = xnew(struct extender_link);
    link->config = config;
    link->loop = loop;
    int r = link_init(link, err);
    if (r < 0) {
        extender_link_free(link);
        return err_ctx(err, r, "extender \"" STR_FMT "\"", STR_ARG(config->url_prefix));
    }
    *ret = link;
    return 0;
}

/* ---- posts ---- */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct extender_post *p = arg;
    p->has_head = true;
    p->status = status;
}

static void on_data(void *arg, struct str chunk)
{
    struct extender_post *p = arg;
    if (p->status != 200 || p->is_too_large)
        return;
    if (buf_add_str(&p->answer, chunk) == 0)
        return;
    p->is_too_large = true;
    exchange_cancel(p->call);
}

static void explain(struct extender_post *p, int r, const char *what)
{
    const struct sched_config_extender *c = p->link->config;
    struct str prefix = c->url_prefix;
    while (prefix.n > 0 && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    p->r = err_set(&p->err, r, "Post \"" STR_FMT "/" STR_FMT "\": %s", STR_ARG(prefix),
                   STR_ARG(p->verb), what);
}

static void explain_lost(struct extender_post *p, int r, const struct err *err)
{
    const struct fetch_url *url = &p->link->url;
    if (p->is_late && !p->has_head) {
        explain(p, -ETIMEDOUT,
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
    } else if (p->is_late) {
        p->r = err_set(&p->err, -ETIMEDOUT,
                       "context deadline exceeded (Client.Timeout or context cancellation while "
                       "reading body)");
    } else if (r == -ECONNREFUSED) {
        scoped(free_scoped) char *what =
            xasprintf("dial tcp %s:%u: connect: connection refused", url->host, url->port);
        explain(p, r, what);
    } else {
        explain(p, r, err_text(err));
    }
}

static void explain_status(struct extender_post *p)
{
    struct str prefix = p->link->config->url_prefix;
    while (prefix.n > 0 && prefix.p[prefix.n - 1] == '/')
        prefix.n--;
    p->r = err_set(&p->err, -EPROTO,
                   "failed " STR_FMT " with extender at URL " STR_FMT "/" STR_FMT ", code %d",
                   STR_ARG(p->verb), STR_ARG(prefix), STR_ARG(p->verb), p->status);
}

static int post_begin(struct extender_post *p, struct err *err);

/* Start again? The server may close a kept connection just when it is reused. */
static bool begins_again(struct extender_post *p, int r)
{
    if (!p->repeats || p->has_head || p->is_late || r != -ECONNRESET)
        return false;
    p->repeats = false;
    return post_begin(p, NULL) >= 0;
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct extender_post *p = arg;
    if (begins_again(p, r))
        return;
    p->ended = true;
    timer_stop(p->link->loop, &p->timer);
    if (p->is_too_large)
        explain(p, E_LIMIT, "the answer is larger than 64 MiB");
    else if (r < 0)
        explain_lost(p, r, err);
    else if (p->status != 200)
        explain_status(p);
    else
        p->r = 0;
}

static void on_late(struct timer *t)
{
    struct extender_post *p = container_of(t, struct extender_post, timer);
    p->is_late = true;
    exchange_cancel(p->call);
}

static const struct exchange_events call_events = { .on_head = on_head,
                                                    .on_data = on_data,
                                                    .on_end = on_end };

static int post_begin(struct extender_post *p, struct err *err)
{
    struct extender_link *link = p->link;
    const char *path = strcmp(link->url.path, "/") == 0 ? "" : link->url.path;
    scoped(free_scoped) char *target = xasprintf("%s/" STR_FMT, path, STR_ARG(p->verb));
    struct headers headers = { 0 };
    (void)headers_addc(&headers, "content-type", "application/json");
    struct http_call_opts opts = { .method = STR("POST"),
                                   .target = str_of(target),
                                   .headers = &headers,
                                   .body = buf_str(&p->body),
                                   .events = &call_events,
                                   .arg = p };
    int r = http_call_start(link->client, &opts, &p->call, err);
    headers_fini(&headers);
    return r;
}

static void post_start(struct extender_post *p)
{
    const struct sched_config_extender *c = p->link->config;
    p->answer = BUF_INIT(EXTENDER_ANSWER_MAX_BYTES);
    if (!buf_ok(&p->body)) {
        p->ended = true;
        explain(p, E_LIMIT, "the request is too large");
        return;
    }
    p->r = post_begin(p, &p->err);
    p->ended = p->r < 0;
    if (!p->ended)
        timer_start(p->link->loop, &p->timer, c->timeout_ms ? c->timeout_ms : EXTENDER_TIMEOUT_MS,
                    on_late);
}

void extender_post_all(struct loop *loop, struct extender_post *posts, size_t n)
{
    /* The loop has not run since the last call: update its time, and let it notice connections
     * closed by peers. */
    (void)loop_turn(loop, false);
    for (size_t i = 0; i < n; i++)
        post_start(&posts[i]);
    for (size_t i = 0; i < n; i++)
        while (!posts[i].ended)
            (void)loop_turn(loop, true);
}
