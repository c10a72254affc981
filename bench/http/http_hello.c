/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http-hello: the trivial server that http-load is pointed at to measure io/ alone. Answers every
 * request with its body, or with "hello" (or --bytes N) when it has none.
 *
 * usage: http-hello [--tls CA_FILE] [--bytes N] [--unix PATH]
 * CA_FILE is written; "ready port=N" on stdout
 */
#include "base/buf.h"
#include "base/mem.h"
#include "base/sys.h"
#include "io/http.h"
#include "io/tls.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

static struct loop loop;
static struct buf answer = { .max = 64 << 20 };

static void on_body(struct http_exchange *x, struct str chunk)
{
    (void)buf_add_str(http_exchange_data(x), chunk);
}

static void on_body_end(struct http_exchange *x, int r)
{
    struct buf *b = http_exchange_data(x);
    if (r == 0)
        http_reply(x, 200, NULL, b->n ? buf_str(b) : buf_str(&answer));
}

static void on_gone(struct http_exchange *x, int r)
{
    struct buf *b = http_exchange_data(x);
    buf_fini(b);
    free(b);
}

static void on_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    static const struct http_exchange_ops ops = { on_body, on_body_end, NULL, on_gone };
    if (!req->has_body) {
        http_reply(x, 200, NULL, buf_str(&answer));
        return;
    }
    struct buf *b = xnew(struct buf);
    buf_init(b, 64 << 20);
    http_exchange_set(x, &ops, b);
    http_read_body(x, 64 << 20);
}

static struct tls_ctx *make_tls(const char *ca_file, struct err *err)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    struct buf ca = BUF_INIT(1 << 16), ca_key = ca, cert = ca, key = ca;
    struct tls_ctx *tls = NULL;
    if (x509_make_ca("bench", &ca, &ca_key, err) < 0 ||
        x509_make_server(buf_str(&ca), buf_str(&ca_key), "bench", names, 2, 1, &cert, &key, err) <
            0 ||
        sys_write_file_atomic(AT_FDCWD, ca_file, buf_str(&ca), 0644, err) < 0 ||
        tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), &tls, err) < 0)
        return NULL;
    buf_fini(&ca);
    buf_fini(&ca_key);
    buf_fini(&cert);
    buf_fini(&key);
    return tls;
}

static void on_term(struct sig_watch *w, int signum)
{
    loop_stop(&loop);
}

static int fail(const struct err *err)
{
    (void)fprintf(stderr, "http-hello: %s\n", err_text(err));
    return 1;
}

int main(int argc, char **argv)
{
    struct err err = { 0 };
    struct http_server_opts opts = { .host = "127.0.0.1", .on_request = on_request, .http2 = true };
    uint64_t bytes = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--tls") == 0 && !(opts.tls = make_tls(argv[i + 1], &err)))
            return fail(&err);
        if (strcmp(argv[i], "--unix") == 0)
            opts.unix_path = argv[i + 1];
        if (strcmp(argv[i], "--bytes") == 0 &&
            parse_u64(str_of(argv[i + 1]), 1, 64 << 20, &bytes) < 0)
            return 2;
    }
    char *p;
    if (!bytes)
        (void)buf_add_cstr(&answer, "hello");
    else if (buf_reserve(&answer, bytes, &p) == 0) {
        memset(p, 'x', bytes);
        buf_advance(&answer, bytes);
    }
    struct http_server *server;
    struct sig_watch term;
    if (loop_init(&loop, &err) < 0 || http_server_start(&loop, &opts, &server, &err) < 0 ||
        sig_watch_start(&loop, &term, SIGTERM, true, on_term, &err) < 0)
        return fail(&err);
    (void)printf("ready port=%u\n", http_server_port(server));
    (void)fflush(stdout);
    loop_run(&loop);
    return 0;
}
