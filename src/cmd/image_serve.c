/* SPDX-License-Identifier: Apache-2.0 */
/* dormouse image serve: the images of the store as a registry that can be read. */
#include "base/buf.h"
#include "base/log.h"
#include "base/sys.h"
#include "client/http_transport.h"
#include "cmd/image_args.h"
#include "cmd/kube_client.h"
#include "cmd/manifest_words.h"
#include "image/bdm_send.h"
#include "image/server.h"
#include "image/store_control.h"
#include "io/address.h"
#include "io/fetch_url.h"
#include "io/idle_trim.h"
#include "io/tls.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    PEM_MAX_BYTES = 1 << 20,
    TOKEN_MAX_BYTES = 4096,
    GRACE_MS = 3000,
    END_MS = 8000, /* a pull that does not end by then is cut: the store survives that */
};

static struct image_store_args where;
static const char *listen_at = "127.0.0.1:5000", *tls_cert, *tls_key, *token_file, *platform;
static const char *node, *key_file, *peer_ca, *policy_word;
static enum image_cache_policy policy;
static bool allow_anonymous, allow_plain;
static const char *kubeconfig, *context, *url;
static bool is_reporting, prefetches;
static struct cmd_list upstreams, peers;
static const char *peer_names[IMAGE_SERVER_PEERS_MAX], *peer_urls[IMAGE_SERVER_PEERS_MAX];
static uint64_t probe_ms;
static uint64_t quota, scrub;
static struct oci_remote_opts registry;

static const struct cmd_opt opts[] = {
    { "listen", 0, "HOST:PORT", "address for clients (127.0.0.1:5000)", CMD_STRING, &listen_at, 0,
      0 },
    IMAGE_STORE_OPT(where.store),
    { "tls-cert", 0, "FILE", "certificate (PEM) of this server", CMD_STRING, &tls_cert, 0, 0 },
    { "tls-key", 0, "FILE", "and its key", CMD_STRING, &tls_key, 0, 0 },
    { "token-file", 0, "FILE",
      "file with the token of clients, which send it as a bearer token or as a password",
      CMD_STRING, &token_file, 0, 0 },
    { "allow-anonymous", 0, NULL, "require no token, although other machines can connect", CMD_FLAG,
      &allow_anonymous, 0, 0 },
    { "allow-plain-http", 0, NULL, "use no TLS, although other machines can connect", CMD_FLAG,
      &allow_plain, 0, 0 },
    CMD_SECTION("Images that are missing"),
    { "upstream", 0, "REGISTRY",
      "pull them from this registry, docker.io for example; repeatable (none)", CMD_LIST,
      &upstreams, 0, 0 },
    { "platform", 0, "OS/ARCH", "of images for several platforms (this machine's)", CMD_STRING,
      &platform, 0, 0 },
    IMAGE_STORE_QUOTA_OPTS(quota, policy_word),
    IMAGE_REGISTRY_OPTS(registry),
    CMD_SECTION("As a node of a cluster"),
    { "node", 0, "NAME", "carry out deployments for the node of this name, and serve other nodes",
      CMD_STRING, &node, 0, 0 },
    { "cluster-key-file", 0, "FILE", "the key that all nodes share, 32 bytes at least", CMD_STRING,
      &key_file, 0, 0 },
    { "peer-ca", 0, "FILE", "trust these certificates (PEM) for other nodes (the system's)",
      CMD_STRING, &peer_ca, 0, 0 },
    { "report", 0, NULL, "write the node's NodeImageState to a cluster's API", CMD_FLAG,
      &is_reporting, 0, 0 },
    { "kubeconfig", 0, "FILE", "of that cluster ($KUBECONFIG, the pod's service account)",
      CMD_STRING, &kubeconfig, 0, 0 },
    { "context", 0, "NAME", "of the kubeconfig (its current one)", CMD_STRING, &context, 0, 0 },
    { "url", 0, "URL",
      "the address of this server for others, written to that state (the --listen address)",
      CMD_STRING, &url, 0, 0 },
    { "peer", 0, "NAME=URL",
      "also measure the connection to this node, besides those of deployments; repeatable",
      CMD_LIST, &peers, 0, 0 },
    { "probe", 0, "DURATION",
      "interval of these measurements, 10s at least (only after activity on this node)",
      CMD_DURATION, &probe_ms, 0, 0 },
    { "prefetch", 0, NULL,
      "accept layers that are likely to be requested, while there is nothing else to do; with "
      "--quota",
      CMD_FLAG, &prefetches, 0, 0 },
    CMD_SECTION("The store"),
    { "scrub", 0, "SIZE",
      "check this many bytes of the store in a day, and report damage (0); with --upstream or "
      "--node remove damaged data",
      CMD_SIZE, &scrub, 0, 0 },
    IMAGE_STORE_WAIT_OPT(where.wait_ms),
    CMD_SECTION("This process"),
    CMD_LOG_OPTS,
    { .name = NULL },
};

static const struct cmd_opt *image_serve_opts(void)
{
    return opts;
}

struct serve {
    struct loop loop;
    struct tls_ctx *tls, *peers;
    struct oci_store *store;
    struct image_server *server;
    struct store_control *control; /* NULL: a reader */
    struct http_transport *api;
    struct buf token, key;
    struct sig_watch term, interrupt;
    struct timer end;
    struct idle_trim idle_trim;
    bool is_stopping;
};

/* ---- the end ---- */

static void on_api_closed(void *arg)
{
    struct serve *v = arg;
    timer_stop(&v->loop, &v->end);
    idle_trim_close(&v->idle_trim);
    sig_watch_close(&v->term, NULL);
    sig_watch_close(&v->interrupt, NULL);
}

static void on_closed(void *arg)
{
    struct serve *v = arg;
    if (v->api)
        http_transport_close(v->api, on_api_closed, v);
    else
        on_api_closed(v);
}

static void on_late(struct timer *t)
{
    (void)t;
    _exit(CMD_OK);
}

static void stop(struct serve *v)
{
    if (v->is_stopping)
        return;
    v->is_stopping = true;
    timer_start(&v->loop, &v->end, END_MS, on_late);
    image_server_close(v->server, GRACE_MS, on_closed, v);
}

static void on_term(struct sig_watch *w, int signum)
{
    (void)signum;
    stop(container_of(w, struct serve, term));
}

static void on_interrupt(struct sig_watch *w, int signum)
{
    (void)signum;
    stop(container_of(w, struct serve, interrupt));
}

/* ---- the beginning ---- */

static int read_secret(const char *path, struct buf *to, struct err *err)
{
    int r = sys_read_file(AT_FDCWD, path, to, err);
    while (r >= 0 && to->n && (uint8_t)to->p[to->n - 1] <= ' ')
        to->p[--to->n] = '\0';
    if (r >= 0 && (to->n == 0 || memchr(to->p, '\0', to->n)))
        return err_set(err, E_INVALID, "'%s' does not contain a token", path);
    return r;
}

static int read_key(struct serve *v, struct err *err)
{
    scoped(buf_fini_scoped) struct buf ca = BUF_INIT(PEM_MAX_BYTES);
    int r = image_bdm_key_read(key_file, &v->key, err);
    if (r < 0 || !peer_ca)
        return r;
    r = sys_read_file(AT_FDCWD, peer_ca, &ca, err);
    return r < 0 ? r : tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, &v->peers, err);
}

static int read_tls(struct serve *v, struct err *err)
{
    scoped(buf_fini_scoped) struct buf cert = BUF_INIT(PEM_MAX_BYTES);
    scoped(buf_fini_scoped) struct buf key = BUF_INIT(PEM_MAX_BYTES);
    int r = sys_read_file(AT_FDCWD, tls_cert, &cert, err);
    r = r < 0 ? r : sys_read_file(AT_FDCWD, tls_key, &key, err);
    return r < 0 ? r : tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), &v->tls, err);
}

static bool writes(void)
{
    return upstreams.n > 0 || node;
}

/* What takes part in writing the store needs its lock; a mere mirror leaves it to others. */
static int open_store(struct serve *v, struct err *err)
{
    struct oci_store_opts o = { .is_reader = !writes(),
                                .is_service = true,
                                .has_control = writes(),
                                .lock_ms = where.wait_ms,
                                .form = OCI_STORE_BOTH,
                                .quota_bytes = quota };
    return image_store_open_with(where.store, o, policy, &v->store, err);
}

static int read_peers(void)
{
    if (peers.n > IMAGE_SERVER_PEERS_MAX)
        return cmd_failf(CMD_USAGE, "--peer: at most %d", IMAGE_SERVER_PEERS_MAX);
    for (size_t i = 0; i < peers.n; i++) {
        struct err err = { 0 };
        struct fetch_url u;
        struct str name, at;
        if (!str_cut(str_of(peers.at[i]), '=', &name, &at) || name.n == 0 ||
            name.n > IMAGE_BDM_NAME_MAX)
            return cmd_failf(CMD_USAGE, "--peer is NAME=URL, not '%s'", peers.at[i]);
        if (fetch_url_parse(at.p, NULL, &u, &err) < 0)
            return cmd_fail(CMD_USAGE, &err);
        fetch_url_fini(&u);
        peer_names[i] = str_dup(name); /* until the process ends */
        peer_urls[i] = at.p;
    }
    return 0;
}

static int check_args(const char *host)
{
    bool is_loopback = address_is_loopback_text(host);
    if (!tls_cert != !tls_key)
        return cmd_failf(CMD_USAGE, "--tls-cert and --tls-key need each other");
    if (!is_loopback && !tls_cert && !allow_plain)
        return cmd_failf(
            CMD_USAGE, "other machines need TLS: --tls-cert and --tls-key, or --allow-plain-http");
    if (!is_loopback && !token_file && !allow_anonymous)
        return cmd_failf(CMD_USAGE,
                         "other machines need a token: --token-file, or --allow-anonymous");
    if (upstreams.n > IMAGE_SERVER_UPSTREAMS_MAX)
        return cmd_failf(CMD_USAGE, "--upstream: at most %d", IMAGE_SERVER_UPSTREAMS_MAX);
    for (size_t i = 0; i < upstreams.n; i++)
        if (strlen(upstreams.at[i]) > OCI_REFERENCE_HOST_MAX || strchr(upstreams.at[i], '/'))
            return cmd_failf(CMD_USAGE, "--upstream is the host of a registry, not '%s'",
                             upstreams.at[i]);
    if ((is_reporting && !node) ||
        ((kubeconfig || context || url || peers.n || probe_ms) && !is_reporting))
        return cmd_failf(CMD_USAGE, "--report needs --node; --kubeconfig, --context, --url, --peer "
                                    "and --probe need --report");
    if (read_peers() != 0)
        return CMD_USAGE;
    if (is_reporting && !url && (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0))
        return cmd_failf(
            CMD_USAGE,
            "--report: other machines cannot reach '%s'; set --url to the address of this server",
            host);
    if (is_reporting && !manifest_is_plain(node, "-."))
        return cmd_failf(CMD_USAGE, "--node: '%s' is not the name of a node of a cluster", node);
    if (!node != !key_file)
        return cmd_failf(CMD_USAGE, "--node and --cluster-key-file need each other");
    if (prefetches && (!node || !quota))
        return cmd_failf(CMD_USAGE, "--prefetch needs --node and --quota");
    if ((quota || policy_word) && !writes())
        return cmd_failf(
            CMD_USAGE,
            "--quota and --policy need --upstream or --node: otherwise nothing is written");
    return image_store_policy(policy_word, &policy);
}

static int open_api(struct serve *v, struct err *err)
{
    scoped(kubeconfig_free_scoped) struct kubeconfig *config = NULL;
    int r = kube_client_config(kubeconfig, context, NULL, &config, err);
    return r < 0 ? r : http_transport_new(&v->loop, config, &v->api, err);
}

/* Without it other processes cannot write the store; the server continues. */
static void control(struct serve *v)
{
    struct err err = { 0 };
    if (writes() && store_control_start(v->store, &v->control, &err) < 0)
        log_warn("commands cannot write the store meanwhile", "error=\"%s\"", err_text(&err));
}

static int start(struct serve *v, const char *host, uint16_t port, const struct oci_platform *of,
                 struct err *err)
{
    int r = token_file ? read_secret(token_file, &v->token, err) : 0;
    r = r < 0 || !key_file ? r : read_key(v, err);
    r = r < 0 || !tls_cert ? r : read_tls(v, err);
    r = r < 0 || !is_reporting ? r : open_api(v, err);
    r = r < 0 ? r : open_store(v, err);
    if (r < 0)
        return r;
    const struct image_server_opts o = { .loop = &v->loop,
                                         .host = host,
                                         .port = port,
                                         .tls = v->tls,
                                         .store = v->store,
                                         .token = token_file ? buf_cstr(&v->token) : NULL,
                                         .upstreams = upstreams.at,
                                         .n_upstreams = upstreams.n,
                                         .registry = registry,
                                         .platform = *of,
                                         .node = node,
                                         .cluster_key = node ? buf_cstr(&v->key) : NULL,
                                         .peers = v->peers,
                                         .api = v->api ? http_transport_base(v->api) : NULL,
                                         .url = url,
                                         .peer_names = peer_names,
                                         .peer_urls = peer_urls,
                                         .n_peers = peers.n,
                                         .probe_ms = probe_ms,
                                         .prefetches = prefetches,
                                         .scrub_bytes_per_day = scrub };
    r = image_server_start(&o, &v->server, err);
    if (r < 0)
        return err_ctx(err, r, "listen on '%s'", listen_at);
    control(v);
    return 0;
}

static void on_nothing(void *arg)
{
    (void)arg;
}

static int serve(const char *host, uint16_t port, const struct oci_platform *of, struct err *err)
{
    struct serve v = { .token = BUF_INIT(TOKEN_MAX_BYTES), .key = BUF_INIT(TOKEN_MAX_BYTES) };
    sys_raise_files(); /* each client and each file that is kept open costs one */
    int r = loop_init(&v.loop, err);
    if (r < 0)
        return r;
    r = start(&v, host, port, of, err);
    if (r >= 0) {
        idle_trim_start(&v.loop, &v.idle_trim);
        (void)sig_watch_start(&v.loop, &v.term, SIGTERM, true, on_term, NULL);
        (void)sig_watch_start(&v.loop, &v.interrupt, SIGINT, true, on_interrupt, NULL);
        bool is_v6 = strchr(host, ':') != NULL;
        (void)printf("ready url=%s://%s%s%s:%u store=%s pid=%d\n", v.tls ? "https" : "http",
                     is_v6 ? "[" : "", host, is_v6 ? "]" : "",
                     (unsigned)image_server_port(v.server), oci_store_root(v.store), (int)getpid());
        (void)fflush(stdout);
    }
    if (r < 0 && v.api)
        http_transport_close(v.api, on_nothing, NULL);
    loop_run(&v.loop);
    while (loop_turn(&v.loop, false))
        ;
    loop_fini(&v.loop);
    store_control_close(v.control, true);
    if (writes())
        image_store_close(v.store);
    else
        oci_store_close(v.store);
    tls_ctx_free(v.tls);
    tls_ctx_free(v.peers);
    buf_fini(&v.token);
    buf_fini(&v.key);
    return r;
}

static int run(int argc, char **argv)
{
    size_t n;
    char host[256];
    uint16_t port;
    struct err err = { 0 };
    struct oci_platform of = oci_platform_here();
    int r = cmd_parse(&cmd_image_serve, opts, argc, argv, 0, &n);
    if (r)
        return r - 1;
    r = cmd_setup_log();
    if (r)
        return r;
    if (cmd_parse_listen(listen_at, host, sizeof host, &port, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if (platform && oci_platform_parse(str_of(platform), &of, &err) < 0)
        return cmd_fail(CMD_USAGE, &err);
    if ((r = check_args(host)) != 0)
        return r;
    return serve(host, port, &of, &err) < 0 ? cmd_fail(CMD_FAILED, &err) : CMD_OK;
}

const struct cmd cmd_image_serve = {
    .name = "image serve",
    .doc = "serve the images of the store as a registry that others pull from",
    .help =
        "Unmodified clients pull by the names of 'dormouse image ls': an image\n"
        "docker.io/library/redis:7 is library/redis:7 here, also docker.io/library/redis:7, and\n"
        "the name that containerd requests with ?ns=docker.io. An image whose compressed layers\n"
        "are kept ('image pull --form both') has the digests of its registry. For an image that\n"
        "is only kept as tars (the default of 'image pull') the tag stands for a manifest with\n"
        "those tars. Clients cannot push. 'dormouse image pull' from this server reads only the\n"
        "files that it lacks of layers that are kept as tars, compressed against its older\n"
        "versions.\n"
        "\n"
        "With --upstream the server pulls images that it lacks and keeps them, also the\n"
        "compressed layers of images that are stored as tars: clients get the digests of the\n"
        "registry. With --upstream and with --node it holds the lock of the store as long as it\n"
        "runs, and does for other commands what 'image pull', 'gc', 'rm', 'tag', 'pin', 'unpin',\n"
        "'check --remove', 'mount', 'umount' and 'run' need. Only 'mount --sink layers' fails,\n"
        "and --sink dirs makes a copy.\n"
        "\n"
        "  dormouse image serve\n"
        "  skopeo copy --src-tls-verify=false docker://127.0.0.1:5000/library/redis:7 oci:redis\n"
        "  dormouse image serve --upstream docker.io --upstream ghcr.io --quota 20Gi\n"
        "  dormouse image serve --listen 0.0.0.0:5000 --tls-cert c.pem --tls-key k.pem "
        "--token-file token\n"
        "\n"
        "With --node and --cluster-key-file it is the image service of a node: 'dormouse image\n"
        "plan --send' makes it fetch the layers of an image from other nodes and from registries.\n"
        "\n"
        "  dormouse image serve --node n1 --cluster-key-file key --listen 10.0.0.1:5000 ...\n"
        "\n"
        "With --report it writes the NodeImageState n1: its layers, its cache and disk, and the\n"
        "rates of its transfers. 'dormouse image plan --image' and the scheduler's BREAK plugins\n"
        "read it. A change is written within seconds; every 20 s only the times are written. The\n"
        "server needs the right to get, patch and create the NodeImageState with its own name.\n"
        "\n"
        "'dormouse image optimize --news n1=URL' reports replaced images to the server: it evicts\n"
        "their dead layers first, and compares tags at once.\n"
        "\n"
        "With --prefetch it accepts layers that 'dormouse scheduler --plan-prefetch' sends ahead,\n"
        "because pods often request them: up to a tenth of the quota, at a quarter of the link's\n"
        "rate, while the server has nothing else to do.\n"
        "\n"
        "  dormouse image serve --node n1 --cluster-key-file key --report --quota 20Gi --prefetch "
        "...\n"
        "\n"
        "containerd: /etc/containerd/certs.d/docker.io/hosts.toml with\n"
        "[host.\"http://127.0.0.1:5000\"]\n"
        "and capabilities = [\"pull\", \"resolve\"].\n",
    .run = run,
    .opts = image_serve_opts,
};
