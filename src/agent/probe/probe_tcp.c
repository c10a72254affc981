/* SPDX-License-Identifier: Apache-2.0 */
/* A TCP connection as a probe: it can be made. See prober_attempt.h. */
#include "agent/probe/prober_attempt.h"

#include "base/mem.h"
#include "io/work_pool.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { HOST_MAX = 256 };

struct tcp_probe {
    struct prober_attempt *a;
    uv_tcp_t tcp;
    uv_connect_t connect;
    uv_getaddrinfo_t lookup;
    bool is_open;
    char host[HOST_MAX], port[8];
};

static void on_closed(uv_handle_t *h)
{
    struct tcp_probe *t = h->data;
    struct prober_attempt *a = t->a;
    free(t);
    prober_attempt_unref(a);
}

static void fail(struct tcp_probe *t, int r)
{
    prober_attempt_end(t->a, PROBE_FAILURE, "dial tcp %s%s%s:%s: %s",
                       strchr(t->host, ':') ? "[" : "", t->host, strchr(t->host, ':') ? "]" : "",
                       t->port, err_strerror(r));
}

static void on_connected(uv_connect_t *req, int status)
{
    struct tcp_probe *t = container_of(req, struct tcp_probe, connect);
    if (status < 0)
        fail(t, status);
    else
        prober_attempt_end_str(t->a, PROBE_SUCCESS, STR(""));
}

static void connect_to(struct tcp_probe *t, const struct sockaddr *addr)
{
    int r = uv_tcp_connect(&t->connect, &t->tcp, addr, on_connected);
    if (r < 0)
        fail(t, r);
}

/* The close waited for the look-up: both hold a reference. */
static void on_lookup(uv_getaddrinfo_t *req, int status, struct addrinfo *found)
{
    struct tcp_probe *t = container_of(req, struct tcp_probe, lookup);
    struct prober_attempt *a = t->a;
    if (a->is_over) {
        uv_close((uv_handle_t *)&t->tcp, on_closed);
    } else if (status < 0) {
        t->lookup.data = NULL;
        prober_attempt_end(a, PROBE_FAILURE, "dial tcp: lookup %s: %s", t->host,
                           uv_strerror(status));
    } else {
        t->lookup.data = NULL;
        connect_to(t, found->ai_addr);
    }
    uv_freeaddrinfo(found);
}

static void tcp_start(struct prober_attempt *a)
{
    struct str host = a->spec->host.n ? a->spec->host : a->address;
    struct tcp_probe *t = xnew(struct tcp_probe);
    struct sockaddr_storage addr;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    t->a = a;
    t->tcp.data = t;
    a->method = t;
    (void)snprintf(t->host, sizeof t->host, STR_FMT, STR_ARG(host));
    (void)snprintf(t->port, sizeof t->port, "%u", a->spec->port);
    prober_attempt_ref(a);
    int r = uv_tcp_init(&a->env->loop->uv, &t->tcp);
    if (r < 0)
        abort(); /* it only fails for flags that are not known */
    if (uv_ip4_addr(t->host, a->spec->port, (struct sockaddr_in *)&addr) == 0 ||
        uv_ip6_addr(t->host, a->spec->port, (struct sockaddr_in6 *)&addr) == 0) {
        connect_to(t, (struct sockaddr *)&addr);
        return;
    }
    t->lookup.data = t;
    r = work_pool_getaddrinfo(&a->env->loop->uv, &t->lookup, on_lookup, t->host, t->port, &hints);
    if (r < 0) {
        t->lookup.data = NULL;
        fail(t, r);
    }
}

static void tcp_stop(struct prober_attempt *a)
{
    struct tcp_probe *t = a->method;
    if (t->lookup.data) /* on_lookup() closes */
        (void)uv_cancel((uv_req_t *)&t->lookup);
    else if (!uv_is_closing((uv_handle_t *)&t->tcp))
        uv_close((uv_handle_t *)&t->tcp, on_closed);
}

const struct probe_method_ops probe_tcp_ops = {
    .start = tcp_start, .stop = tcp_stop, .timeout_text = "dial tcp: i/o timeout: not connected"
};
