/* SPDX-License-Identifier: Apache-2.0 */
/* An embedded cluster; see cluster.h. */
#include "node/cluster.h"

#include "agent/registration/machine.h"
#include "api/datadir.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "codec/base64.h"
#include "codec/json.h"
#include "fn/control/control.h"
#include "io/tls.h"
#include "node/listener.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>

enum { RENEW_RETRY_S = 3600, TOKEN_FILE_MAX_BYTES = 1 << 20 };

struct cluster {
    struct cluster_opts opts;
    char *host, *kubeconfig_wanted;
    struct datadir *dir;
    struct store *store;
    struct api *api;
    struct tls_ctx *tls;
    char *url, *listen, *kubeconfig;
    void (*stopped)(void *arg);
    void *stopped_arg;
};

static struct datadir_names names_of(const struct cluster *c)
{
    return (struct datadir_names){ c->host, c->opts.tls_names, c->opts.n_tls_names };
}

/* Called on requests once the certificate is close to its expiry; returns when to call again. */
static int64_t renew(void *arg)
{
    struct cluster *c = arg;
    struct err err = { 0 };
    bool replaced;
    struct datadir_names names = names_of(c);
    int r = datadir_renew(c->dir, &names, &replaced, &err);
    if (r >= 0 && replaced)
        r = tls_ctx_set_server_cert(c->tls, buf_str(&c->dir->server_cert),
                                    buf_str(&c->dir->server_key), &err);
    if (r < 0) {
        log_error("server certificate not renewed", "reason=\"%s\"", err_text(&err));
        return clock_wall_ms() / 1000 + RENEW_RETRY_S;
    }
    if (replaced)
        log_info("server certificate renewed", "");
    return c->dir->cert_renew_at_s;
}

/* As the kubeconfig of kubeadm's ConfigMap: without a user. */
static void publish_for_nodes(struct cluster *c)
{
    char address[MACHINE_ADDRESS_CHARS];
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TOKEN_FILE_MAX_BYTES);
    bool is_any = strcmp(c->host, "0.0.0.0") == 0 || strcmp(c->host, "::") == 0;
    if (is_any)
        machine_address_towards(NULL, address);
    scoped(free_scoped) char *url = datadir_url(is_any ? address : c->host, api_port(c->api));
    (void)buf_add_cstr(&text, "apiVersion: v1\n"
                              "clusters:\n"
                              "- cluster:\n"
                              "    certificate-authority-data: ");
    (void)base64_encode(&text, buf_str(&c->dir->ca_cert), BASE64_STD);
    (void)buf_printf(&text,
                     "\n    server: %s\n"
                     "  name: \"\"\n"
                     "contexts: null\n"
                     "current-context: \"\"\n"
                     "kind: Config\n"
                     "preferences: {}\n"
                     "users: null\n",
                     url);
    api_publish_cluster(c->api, buf_str(&text));
}

static int listen_and_tell(struct cluster *c, struct err *err)
{
    int r = tls_ctx_new_server(buf_str(&c->dir->server_cert), buf_str(&c->dir->server_key),
                               buf_str(&c->dir->ca_cert), &c->tls, err);
    if (r < 0)
        return r;
    r = api_listen(c->api, c->host, c->opts.port, c->tls, err);
    if (r < 0)
        return listener_failed(err, r, "the API's", "--listen");
    api_on_renewal(c->api, c->dir->cert_renew_at_s, renew, c);
    publish_for_nodes(c);
    c->url = datadir_url(c->host, api_port(c->api));
    c->listen = xasprintf(strchr(c->host, ':') ? "[%s]:%u" : "%s:%u", c->host, api_port(c->api));
    return datadir_write_kubeconfig(c->dir, c->kubeconfig_wanted, c->url, &c->kubeconfig, err);
}

static void on_published(void *arg, int r, const struct err *cause)
{
    struct cluster *c = arg;
    struct err err = { 0 };
    if (r < 0)
        log_warn("how clients are recognised is not published", "reason=\"%s\"", err_text(cause));
    r = listen_and_tell(c, &err);
    c->opts.on_ready(c->opts.arg, r, &err);
}

/* API servers that extend this one read there which CA signs client certificates. */
static int publish_client_ca(struct cluster *c, struct err *err)
{
    scoped(buf_fini_scoped) struct buf text = BUF_INIT(TOKEN_FILE_MAX_BYTES);
    (void)buf_add_cstr(&text, "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                              "\"name\":\"extension-apiserver-authentication\","
                              "\"namespace\":\"kube-system\"},\"data\":{\"client-ca-file\":");
    (void)json_write_str(&text, buf_str(&c->dir->ca_cert));
    (void)buf_add_cstr(&text, "}}");
    return api_ensure_objects(c->api, buf_str(&text), on_published, c, err);
}

static void on_lease_released(void *arg)
{
    struct cluster *c = arg;
    struct err err = { 0 };
    int r = publish_client_ca(c, &err);
    if (r < 0)
        c->opts.on_ready(c->opts.arg, r, &err);
}

/*
 * The data directory is locked by us: a process that was leader while it served from it has ended.
 */
static void on_api_ready(void *arg, int r, const struct err *cause)
{
    struct cluster *c = arg;
    struct err err = { 0 };
    if (r >= 0) {
        r = api_release_left_lease(c->api, CONTROL_LEASE_NAMESPACE, CONTROL_LEASE_NAME,
                                   on_lease_released, c, &err);
        cause = &err;
    }
    if (r < 0)
        c->opts.on_ready(c->opts.arg, r, cause);
}

static void free_cluster(struct cluster *c)
{
    tls_ctx_free(c->tls);
    datadir_free(c->dir);
    free(c->host);
    free(c->kubeconfig_wanted);
    free(c->url);
    free(c->listen);
    free(c->kubeconfig);
    free(c);
}

static int open_parts(struct cluster *c, struct err *err)
{
    struct datadir_names names = names_of(c);
    int r = datadir_open(c->opts.data_dir, &names, &c->dir, err);
    if (r < 0)
        return r;
    scoped(free_scoped) char *path = xasprintf("%s/store.db", c->dir->path);
    struct store_opts store = { .path = path };
    r = store_open(c->opts.loop, &store, &c->store, err);
    if (r < 0) {
        datadir_undo(c->dir, r);
        return err_ctx(err, r, "store '%s'", path);
    }
    datadir_upgraded(c->dir);
    return 0;
}

static int read_token_file(const char *path, struct buf *to, struct err *err)
{
    int r = path ? sys_read_file(AT_FDCWD, path, to, err) : 0;
    return r < 0 ? err_ctx(err, r, "token file '%s'", path) : 0;
}

int cluster_start(const struct cluster_opts *opts, struct cluster **ret, struct err *err)
{
    struct cluster *c = xnew(struct cluster);
    c->opts = *opts;
    c->host = xstrdup(opts->host);
    if (opts->kubeconfig)
        c->kubeconfig_wanted = xstrdup(opts->kubeconfig);
    scoped(buf_fini_scoped) struct buf tokens = BUF_INIT(TOKEN_FILE_MAX_BYTES);
    int r = read_token_file(opts->token_file, &tokens, err);
    if (r >= 0)
        r = open_parts(c, err);
    if (r < 0) {
        free_cluster(c);
        return r;
    }
    struct api_opts api = { .loop = opts->loop,
                            .store = c->store,
                            .rbac = true,
                            .anonymous = !opts->no_anonymous,
                            .ca_cert = buf_str(&c->dir->ca_cert),
                            .ca_key = buf_str(&c->dir->ca_key),
                            .event_ttl_ms = opts->event_ttl_ms,
                            .node_cidrs = opts->node_cidrs,
                            .commit = opts->commit,
                            .commit_date = opts->commit_date,
                            .warn_unattended = opts->warn_unattended,
                            .admin_token = buf_str(&c->dir->token),
                            .token_file = buf_str(&tokens),
                            .sa_key = buf_str(&c->dir->sa_key),
                            .sa_issuer = str_of(opts->sa_issuer) };
    r = api_new(&api, &c->api, err);
    if (r < 0) {
        cluster_stop(c, 0, NULL, NULL);
        return r;
    }
    api_start(c->api, on_api_ready, c);
    *ret = c;
    return 0;
}

static void on_store_closed(void *arg)
{
    struct cluster *c = arg;
    void (*stopped)(void *) = c->stopped;
    void *stopped_arg = c->stopped_arg;
    free_cluster(c);
    if (stopped)
        stopped(stopped_arg);
}

static void on_api_closed(void *arg)
{
    struct cluster *c = arg;
    store_close(c->store, on_store_closed, c);
}

void cluster_stop(struct cluster *c, uint64_t grace_ms, void (*done)(void *arg), void *arg)
{
    c->stopped = done;
    c->stopped_arg = arg;
    if (c->api)
        api_close(c->api, grace_ms, on_api_closed, c);
    else
        on_api_closed(c);
}

struct api *cluster_api(struct cluster *c)
{
    return c->api;
}

const char *cluster_url(const struct cluster *c)
{
    return c->url;
}

const char *cluster_listen(const struct cluster *c)
{
    return c->listen;
}

const char *cluster_kubeconfig(const struct cluster *c)
{
    return c->kubeconfig;
}
