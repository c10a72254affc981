/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse api: the API server alone, on a data directory. */
#include "api/datadir.h"
#include "api/server.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "io/loop.h"
#include "io/tls.h"
#include "store/store.h"

#include <signal.h>
#include <stdio.h>

enum { API_GRACE_MS = 5000 };

static const char *data_dir, *listen_at = "127.0.0.1:6443", *kubeconfig;

static const struct cmd_opt opts[] = {
    { "data-dir", 0, "DIR", "where everything is kept (/var/lib/dormouse as root, else ~/.local/state/dormouse)",
      CMD_STRING, &data_dir, 0, 0 },
    { "listen", 0, "HOST:PORT", "address of the API; port 0 picks a free one (127.0.0.1:6443)", CMD_STRING, &listen_at,
      0, 0 },
    { "kubeconfig", 0, "FILE", "where to write the administrator's kubeconfig (DIR/kubeconfig)", CMD_STRING,
      &kubeconfig, 0, 0 },
    CMD_LOG_OPTS,
    { 0 },
};

static const struct cmd_opt *api_opts_table(void)
{
    return opts;
}

/* The process: what it owns, in the order in which it is made. */
struct server {
    struct loop loop;
    struct datadir *dir;
    struct store *store;
    struct tls_ctx *tls;
    struct api *api;
    uv_signal_t term, intr;
    char host[256];
    uint16_t port;
    bool stopping;
    struct err err; /* why it ends with a failure */
};

static void on_store_closed(void *arg)
{
    struct server *s = arg;
    s->store = NULL;
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->intr, NULL);
}

static void on_api_closed(void *arg)
{
    struct server *s = arg;
    s->api = NULL;
    store_close(s->store, on_store_closed, s);
}

static void stop(struct server *s)
{
    if (s->stopping)
        return;
    s->stopping = true;
    api_close(s->api, API_GRACE_MS, on_api_closed, s);
}

static void on_signal(uv_signal_t *h, int signum)
{
    log_info("stopping", "signal=%s", signum == SIGTERM ? "TERM" : "INT");
    stop(h->data);
}

static int64_t on_renew(void *arg)
{
    struct server *s = arg;
    struct err err = { 0 };
    bool replaced = false;
    int r = datadir_renew(s->dir, s->host, &replaced, &err);
    if (r >= 0 && replaced)
        r = tls_ctx_set_server_cert(s->tls, buf_str(&s->dir->server_cert), buf_str(&s->dir->server_key), &err);
    if (r < 0)
        log_error("certificate not renewed", "error=\"%s\"", err_text(&err));
    else if (replaced)
        log_info("certificate renewed", "days=%d", DATADIR_CERT_DAYS);
    return r < 0 ? clock_wall_ms() / 1000 + 3600 : s->dir->cert_renew_at_s;
}

static int announce(struct server *s, struct err *err)
{
    int r = api_listen(s->api, s->host, s->port, s->tls, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *url = datadir_url(s->host, api_port(s->api));
    scoped(free_scoped) char *path = NULL;
    r = datadir_write_kubeconfig(s->dir, kubeconfig, url, &path, err);
    if (r < 0)
        return r;
    (void)printf("ready url=%s kubeconfig=%s\n", url, path);
    (void)fflush(stdout);
    return 0;
}

static void on_ready(void *arg, int r, const struct err *err)
{
    struct server *s = arg;
    if (s->stopping)
        return;
    if (r < 0)
        s->err = *err;
    else
        r = announce(s, &s->err);
    if (r < 0)
        stop(s);
}

static int open_all(struct server *s, const char *dir, struct err *err)
{
    int r = datadir_open(dir, s->host, &s->dir, err);
    if (r < 0)
        return r;
    r = tls_ctx_new_server(buf_str(&s->dir->server_cert), buf_str(&s->dir->server_key), buf_str(&s->dir->ca_cert),
                           &s->tls, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *path = xasprintf("%s/store.db", dir);
    r = store_open(&s->loop, &(struct store_opts){ .path = path }, &s->store, err);
    if (r < 0)
        return err_ctx(err, r, "store '%s'", path);
    const struct api_opts ao = { .loop = &s->loop, .store = s->store, .admin_token = buf_str(&s->dir->token) };
    return api_new(&ao, &s->api, err);
}

static void watch_signal(struct server *s, uv_signal_t *h, int signum)
{
    (void)uv_signal_init(&s->loop.uv, h);
    h->data = s;
    (void)uv_signal_start(h, on_signal, signum);
    uv_unref((uv_handle_t *)h);
}

static int serve(struct server *s, const char *dir)
{
    struct err err = { 0 };
    int r = loop_init(&s->loop, &err);
    if (r < 0)
        return cmd_fail(CMD_FAILED, &err);
    r = open_all(s, dir, &err);
    if (r >= 0) {
        watch_signal(s, &s->term, SIGTERM);
        watch_signal(s, &s->intr, SIGINT);
        api_on_renewal(s->api, s->dir->cert_renew_at_s, on_renew, s);
        api_start(s->api, on_ready, s);
        loop_run(&s->loop);
        err = s->err;
    }
    tls_ctx_free(s->tls);
    datadir_free(s->dir);
    if (r >= 0)
        loop_fini(&s->loop);
    return err.code < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

static int run(int argc, char **argv)
{
    size_t n_words;
    int r = cmd_parse(&cmd_api, opts, argc, argv, 0, &n_words);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    struct server s = { 0 };
    struct err err = { 0 };
    if (cmd_parse_listen(listen_at, s.host, sizeof s.host, &s.port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    scoped(free_scoped) char *dir = data_dir ? xstrdup(data_dir) : cmd_default_data_dir();
    return serve(&s, dir);
}

const struct cmd cmd_api = {
    .name = "api",
    .doc = "serve the Kubernetes API alone",
    .help = "Makes or opens a data directory, writes a kubeconfig for the administrator, and serves until TERM.\n"
            "Prints one line when it is ready: 'ready url=... kubeconfig=...'.\n"
            "\n"
            "Example:\n"
            "  dormouse api --data-dir /tmp/cluster --listen 127.0.0.1:0\n"
            "  kubectl --kubeconfig /tmp/cluster/kubeconfig get namespaces\n",
    .run = run,
    .opts = api_opts_table,
};
