/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http-proxy: a reverse proxy and nothing else, to measure what a request costs that comes in on
 * one side and goes out on the other: bodies stream both ways, trailers and interim responses pass,
 * upgrades become tunnels. Everything on one loop.
 *
 * usage: http-proxy [--h2] PORT | PATH
 * of the server behind it, at 127.0.0.1 or on a Unix socket; --h2: by HTTP/2.
 * "ready port=N" on stdout; at SIGTERM one line of JSON: requests, and CPU of this process for
 * each.
 */
#include "base/mem.h"
#include "io/http.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

static struct loop loop;
static struct http_client *upstream;
static uint64_t requests;

/* One request: an exchange in front, a call behind; freed when both have gone. */
struct passage {
    struct http_exchange *x; /* NULL once gone */
    struct exchange *call;   /* NULL once ended */
    bool answered;           /* a head went to the front */
    bool tunnel;
};

static void passage_release(struct passage *p)
{
    if (!p->x && !p->call)
        free(p);
}

/* ------------------------------------------------------------------ front to back */

static void on_body(struct http_exchange *x, struct str chunk)
{
    struct passage *p = http_exchange_data(x);
    if (p->call && !exchange_write(p->call, chunk))
        http_pause_body(x);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct passage *p = http_exchange_data(x);
    if (p->call && r == 0)
        exchange_end_body(p->call, http_request_trailers(x));
}

static void on_room_in_front(struct http_exchange *x)
{
    struct passage *p = http_exchange_data(x);
    if (p->call)
        exchange_resume(p->call);
}

static void on_gone(struct http_exchange *x, int r)
{
    struct passage *p = http_exchange_data(x);
    p->x = NULL;
    if (p->call)
        exchange_cancel(p->call);
    passage_release(p);
}

/* ------------------------------------------------------------------ back to front */

static void on_head(void *arg, int status, const struct headers *headers)
{
    struct passage *p = arg;
    if (!p->x)
        return;
    p->answered = true;
    p->tunnel = status == 101;
    uint64_t n = HTTP_CHUNKED;
    struct str length = headers_get(headers, "content-length");
    if (length.p)
        (void)parse_u64(length, 0, UINT64_MAX - 1, &n);
    if (!p->tunnel) {
        http_respond(p->x, status, headers, n);
        return;
    }
    http_upgrade(p->x, headers);
    http_read_body(p->x, UINT64_MAX);
}

static void on_interim(void *arg, int status, const struct headers *headers)
{
    struct passage *p = arg;
    if (p->x && status > 101)
        http_inform(p->x, status, headers);
}

static void on_data(void *arg, struct str chunk)
{
    struct passage *p = arg;
    if (p->x && !http_write(p->x, chunk))
        exchange_pause(p->call);
}

static void on_trailers(void *arg, const struct headers *trailers)
{
    struct passage *p = arg;
    if (p->x)
        http_trailers(p->x, trailers);
}

static void on_room_behind(void *arg)
{
    struct passage *p = arg;
    if (p->x)
        http_resume_body(p->x);
}

static void on_end(void *arg, int r, const struct err *err)
{
    struct passage *p = arg;
    requests++;
    p->call = NULL;
    if (p->x && r == 0)
        http_end(p->x);
    else if (p->x && p->answered)
        http_abort(p->x);
    else if (p->x)
        http_reply(p->x, 502, NULL, str_of(err_text(err)));
    passage_release(p);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops front = { .on_body = on_body,
                                                    .on_body_end = on_body_end,
                                                    .on_writable = on_room_in_front,
                                                    .on_gone = on_gone };
    static const struct exchange_events back = { .on_head = on_head,
                                                 .on_data = on_data,
                                                 .on_end = on_end,
                                                 .on_trailers = on_trailers,
                                                 .on_writable = on_room_behind };
    struct err err = { 0 };
    struct passage *p = xnew(struct passage);
    p->x = x;
    http_exchange_set(x, &front, p);
    const struct http_call_opts opts = {
        .method = req->method,
        .target = req->target,
        .headers = req->headers,
        .streams = req->has_body,
        .body_n = req->content_length,
        .upgrade = req->upgrade,
        .events = &back,
        .on_interim = on_interim,
        .arg = p,
    };
    if (http_call_start(upstream, &opts, &p->call, &err) < 0) {
        http_reply(x, 502, NULL, str_of(err_text(&err)));
        return;
    }
    if (req->has_body)
        http_read_body(x, UINT64_MAX);
}

/* ------------------------------------------------------------------ the program */

static void on_term(struct sig_watch *w, int signum)
{
    loop_stop(&loop);
}

static double us(struct timeval t)
{
    return (double)t.tv_sec * 1e6 + (double)t.tv_usec;
}

static void print_cost(void)
{
    struct rusage u;
    double n = requests ? (double)requests : 1;
    (void)getrusage(RUSAGE_SELF, &u);
    (void)printf("{\"requests\": %llu, \"cpu_us_per_request\": %.2f, \"of_it_user\": %.2f}\n",
                 (unsigned long long)requests, (us(u.ru_utime) + us(u.ru_stime)) / n,
                 us(u.ru_utime) / n);
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    bool http2 = argc > 2 && strcmp(argv[1], "--h2") == 0;
    uint64_t port = 0;
    const char *to = argv[argc - 1];
    if (argc != 2 + http2 || (*to != '/' && parse_u64(str_of(to), 1, UINT16_MAX, &port) < 0)) {
        (void)fputs("usage: http-proxy [--h2] PORT | PATH\n", stderr);
        return 2;
    }
    const struct http_client_opts copts = { .host = "127.0.0.1",
                                            .port = (uint16_t)port,
                                            .unix_path = port ? NULL : to,
                                            .max_connections = 4096,
                                            .http2 = http2 };
    const struct http_server_opts sopts = { .on_request = on_request, .http2 = true };
    struct http_server *server;
    struct sig_watch term;
    if (loop_init(&loop, &err) < 0 || http_client_new(&loop, &copts, &upstream, &err) < 0 ||
        http_server_start(&loop, &sopts, &server, &err) < 0 ||
        sig_watch_start(&loop, &term, SIGTERM, true, on_term, &err) < 0) {
        (void)fprintf(stderr, "http-proxy: %s\n", err_text(&err));
        return 1;
    }
    (void)printf("ready port=%u\n", http_server_port(server));
    (void)fflush(stdout);
    loop_run(&loop);
    print_cost();
    return 0;
}
