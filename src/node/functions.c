/* SPDX-License-Identifier: Apache-2.0 */
/* The function roles of a process; see functions.h. Read from functions_start() at the end. */
#include "node/functions.h"

#include "base/log.h"
#include "base/sm.h"
#include "base/sys.h"
#include "codec/json.h"
#include "container/container.h"
#include "fn/async/async.h"
#include "fn/control/catalog.h"
#include "fn/control/control.h"
#include "fn/gateway/gateway.h"
#include "fn/link/link.h"
#include "fn/trigger/trigger.h"
#include "fn/worker/fake.h"
#include "fn/worker/logs.h"
#include "fn/worker/oci.h"
#include "fn/worker/simulate.h"
#include "fn/worker/wasm_runtime.h"
#include "fn/worker/worker.h"
#include "fn/worker/worker_http.h"
#include "guest/guest_log.h"
#include "io/address.h"
#include "io/http.h"
#include "io/tls.h"
#include "modules/module_source.h"
#include "node/image_supply.h"
#include "node/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

enum { TOKEN_MAX_BYTES = 4096, TOKEN_MADE_BYTES = 32, PEM_MAX_BYTES = 1 << 20 };

/*
 * STARTING --each role of this process is ready--> RUNNING --functions_stop()--> STOPPING
 *     \----------------------- functions_stop() -------------------------------/
 *
 * RUNNING means that on_ready() has run. A control plane may lose its Lease later:
 * functions_not_ready() then gives the reason, and the state stays.
 */
enum functions_state { FUNCTIONS_STARTING, FUNCTIONS_RUNNING, FUNCTIONS_STOPPING };
static const struct sm_state states[] = {
    [FUNCTIONS_STARTING] = { "starting", EDGE(FUNCTIONS_RUNNING) | EDGE(FUNCTIONS_STOPPING) },
    [FUNCTIONS_RUNNING] = { "running", EDGE(FUNCTIONS_STOPPING) },
    [FUNCTIONS_STOPPING] = { "stopping", 0 },
};

struct functions {
    struct functions_opts opts;
    struct sm sm; /* enum functions_state */
    char *name, *token;
    uint64_t incarnation;
    struct control *control;
    struct link_server *link;
    struct http_server *control_http;
    struct fn_dialer *dialer; /* to control planes of other processes */
    struct gateway *gateway;
    struct async *async;
    struct triggers *triggers;
    struct tls_ctx *tls;                     /* of the gateway */
    struct tls_ctx *server_tls, *client_tls; /* between roles */
    struct tls_ctx *public_tls;              /* to other gateways, without TLS between roles */
    struct worker *worker;
    struct worker_http *worker_http;
    struct fn_simulation *simulation;
    struct module_sources *sources;
    char *module_dirs[FUNCTIONS_DIRS_MAX + 1]; /* real paths */
    size_t n_module_dirs;
    struct catalog_modules seen; /* modules seen in these directories, for the control plane */
    struct guest_logs *logs;
    char *gateway_address, *control_address, *worker_address;
    unsigned synced; /* enum functions_role: gateway and worker that a control plane welcomed */
    void (*done)(void *arg);
    void *done_arg;
};

static bool has(const struct functions *f, enum functions_role role)
{
    return (f->opts.roles & role) != 0;
}

/* ---------------------------------------------------------------- readiness */

const char *functions_not_ready(const struct functions *f)
{
    if (f->sm.at == FUNCTIONS_STOPPING)
        return "it is being stopped";
    if (f->control && control_not_ready(f->control))
        return control_not_ready(f->control);
    if (has(f, FUNCTIONS_WORKER) && !(f->synced & FUNCTIONS_WORKER))
        return "no control plane has welcomed the worker yet";
    if (has(f, FUNCTIONS_GATEWAY) && !(f->synced & FUNCTIONS_GATEWAY))
        return "no control plane has welcomed the gateway yet";
    return NULL;
}

static void check_ready(struct functions *f)
{
    if (f->sm.at != FUNCTIONS_STARTING || functions_not_ready(f))
        return;
    sm_move(&f->sm, FUNCTIONS_RUNNING);
    f->opts.on_ready(f->opts.arg);
}

/* Watches of objects need an API; schedules and events do not. */
static void start_triggers(struct functions *f)
{
    struct err err = { 0 };
    struct trigger_opts opts = { .loop = f->opts.loop,
                                 .async = f->async,
                                 .functions = trigger_over_gateway(f->gateway),
                                 .transport = f->opts.transport,
                                 .hub = f->opts.hub };
    if (triggers_start(&opts, &f->triggers, &err) < 0)
        log_error("triggers of functions do not work", "err=\"%s\"", err.text);
}

static void on_gateway_synced(void *arg)
{
    struct functions *f = arg;
    f->synced |= FUNCTIONS_GATEWAY;
    if (f->async) {
        async_start(f->async, async_over_gateway(f->gateway));
        start_triggers(f);
    }
    check_ready(f);
}

static void on_worker_synced(void *arg)
{
    struct functions *f = arg;
    f->synced |= FUNCTIONS_WORKER;
    check_ready(f);
}

/* ---------------------------------------------------------------- helpers */

/* Creates the token at the first start that needs one. */
static int make_token(const char *path, struct err *err)
{
    uint8_t secret[TOKEN_MADE_BYTES];
    char text[2 * TOKEN_MADE_BYTES + 2];
    sys_random(secret, sizeof secret);
    for (size_t i = 0; i < sizeof secret; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", secret[i]);
    text[sizeof text - 2] = '\n';
    log_info("a token for the control plane's listener is made", "path=%s", path);
    return sys_write_file_atomic(AT_FDCWD, path, str_n(text, sizeof text - 1), 0600, err);
}

/*
 * Clients of the control plane's listener can create functions and act as a worker or gateway, so
 * they need a token, even on loopback, where every user of the machine can connect. Without
 * --token-file the token is in the data directory.
 */
static int read_token(struct functions *f, struct err *err)
{
    struct buf text = BUF_INIT(TOKEN_MAX_BYTES);
    scoped(free_scoped) char *own = xasprintf("%s/fn.token", f->opts.data_dir);
    const char *path = f->opts.token_file;
    f->token = xstrdup("");
    if (!path && has(f, FUNCTIONS_CONTROL) && f->opts.control.host) {
        path = own;
        int r = access(path, F_OK) < 0 && errno == ENOENT ? make_token(path, err) : 0;
        if (r < 0)
            return r;
    }
    if (!path)
        return 0;
    int r = sys_read_file(AT_FDCWD, path, &text, err);
    if (r >= 0 && str_trim(buf_str(&text)).n < LINK_TOKEN_MIN)
        r = err_set(err, E_INVALID, "token in '%s' has fewer than %d bytes", path, LINK_TOKEN_MIN);
    if (r >= 0) {
        free(f->token);
        f->token = str_dup(str_trim(buf_str(&text)));
    }
    buf_fini(&text);
    return r;
}

/* A listener that other machines can reach requires a token of its clients. */
static int check_open(const struct functions *f, const char *what, const char *host,
                      struct err *err)
{
    if (f->opts.token_file || address_is_loopback_text(host))
        return 0;
    return err_set(err, E_INVALID, "%s on '%s' needs --token-file: it is not loopback", what, host);
}

static char *address_of(const struct functions_address *a, uint16_t port)
{
    bool v6 = strchr(a->host, ':') != NULL;
    bool all = strcmp(a->host, "0.0.0.0") == 0 || strcmp(a->host, "::") == 0;
    if (a->advertise && strrchr(a->advertise, ':') &&
        !str_has_suffix(str_of(a->advertise), STR(":0")))
        return xstrdup(a->advertise);
    if (all) {
        log_warn("others are told 127.0.0.1, which they do not reach: --advertise HOST:PORT",
                 "listen=%s:%u", a->host, port);
        return xasprintf("127.0.0.1:%u", port);
    }
    return xasprintf(v6 ? "[%s]:%u" : "%s:%u", a->host, port);
}

static int read_pem(const char *path, struct buf *to, struct err *err)
{
    buf_init(to, PEM_MAX_BYTES);
    return sys_read_file(AT_FDCWD, path, to, err);
}

/* Clients authenticate by tokens, not by certificates. */
static int new_server_tls(const char *cert_file, const char *key_file, struct tls_ctx **ret,
                          struct err *err)
{
    struct buf cert = { 0 }, key = { 0 };
    int r = read_pem(cert_file, &cert, err);
    if (r >= 0)
        r = read_pem(key_file, &key, err);
    if (r >= 0)
        r = tls_ctx_new_server(buf_str(&cert), buf_str(&key), STR(""), ret, err);
    if (r >= 0)
        tls_ctx_offer_h2(*ret);
    buf_fini(&cert);
    buf_fini(&key);
    return r;
}

static int read_role_tls(struct functions *f, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    struct buf ca = { 0 };
    if (!o->tls_ca)
        return 0;
    int r = new_server_tls(o->tls_cert, o->tls_key, &f->server_tls, err);
    if (r >= 0)
        r = read_pem(o->tls_ca, &ca, err);
    if (r >= 0)
        r = tls_ctx_new_client(buf_str(&ca), STR(""), STR(""), false, &f->client_tls, err);
    buf_fini(&ca);
    return r;
}

static char *make_dir(const struct functions *f, const char *name, struct err *err)
{
    char *path = xasprintf("%s/%s", f->opts.data_dir, name);
    if (sys_mkdir_all(path, 0700, err) >= 0)
        return path;
    free(path);
    return NULL;
}

/* ---------------------------------------------------------------- modules */

static void add_module_dir(struct functions *f, const char *dir)
{
    char *real = realpath(dir, NULL);
    f->module_dirs[f->n_module_dirs++] = real ? real : xstrdup(dir);
}

/* Open the module sources for the worker and the control plane of this process. */
static int open_sources(struct functions *f, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    if (f->sources)
        return 0;
    scoped(free_scoped) char *downloads = make_dir(f, "fn-downloads", err);
    scoped(free_scoped) char *own = make_dir(f, "functions", err);
    if (!downloads || !own)
        return err && err->code ? err->code : -EACCES;
    struct module_sources_opts sources = { .loop = o->loop,
                                           .transport = o->transport,
                                           .hub = f->opts.hub,
                                           .dir = downloads,
                                           .site = o->module_site };
    int r = module_sources_new(&sources, &f->sources, err);
    if (r < 0)
        return r;
    add_module_dir(f, own);
    for (size_t i = 0; i < o->n_module_dirs && f->n_module_dirs < FUNCTIONS_DIRS_MAX; i++)
        add_module_dir(f, o->module_dirs[i]);
    f->seen = (struct catalog_modules){ .sources = f->sources,
                                        .dirs = f->module_dirs,
                                        /* workers in other processes may have other files */
                                        .n_dirs = o->control.host ? 0 : f->n_module_dirs };
    return 0;
}

/* ---------------------------------------------------------------- control plane */

static void accept_gateway(void *arg, struct fn_stream *s)
{
    control_accept_gateway(((struct functions *)arg)->control, s, false);
}

static void accept_worker(void *arg, struct fn_stream *s)
{
    control_accept_worker(((struct functions *)arg)->control, s, false);
}

static void accept_peer(void *arg, struct fn_stream *s)
{
    control_accept_peer(((struct functions *)arg)->control, s);
}

static const struct link_accept link_accept = { .gateway = accept_gateway,
                                                .worker = accept_worker,
                                                .peer = accept_peer };

bool functions_serve(struct functions *f, struct http_exchange *x, const struct http_request *req)
{
    return f->control && control_serve(f->control, x, req);
}

static bool shows_token(const struct functions *f, const struct http_request *req)
{
    struct str shown = headers_get(req->headers, "authorization");
    return f->token[0] == '\0' || (str_has_prefix(shown, STR("Bearer ")) &&
                                   str_is_secret(str_slice(shown, 7, shown.n), f->token));
}

/* Handle streams of gateways, workers and followers, and REST requests. */
static void on_control_request(struct http_exchange *x, const struct http_request *req, void *arg)
{
    struct functions *f = arg;
    if (!f->control || f->sm.at == FUNCTIONS_STOPPING)
        http_reply(x, 503, NULL, STR("it is not ready\n"));
    else if (link_server_take(f->link, x, req))
        return;
    else if (!shows_token(f, req))
        http_reply(x, 401, NULL, STR("a token is wanted\n"));
    else if (!control_serve(f->control, x, req))
        http_reply(x, 404, NULL, STR("there is no such path\n"));
}

static int listen_control(struct functions *f, struct err *err)
{
    const struct functions_address *a = &f->opts.control;
    if (!a->host) {
        f->control_address = xstrdup("");
        return 0;
    }
    int r = check_open(f, "the control plane", a->host, err);
    if (r < 0)
        return r;
    struct http_server_opts opts = { .host = a->host,
                                     .port = a->port,
                                     .tls = f->server_tls,
                                     .http2 = true,
                                     .ping_ms = LINK_PING_MS,
                                     .user_timeout_ms = LINK_PING_MS * 2,
                                     .on_request = on_control_request,
                                     .arg = f };
    f->link = link_server_new(f->opts.loop, f->token, &link_accept, f);
    r = http_server_start(f->opts.loop, &opts, &f->control_http, err);
    if (r < 0)
        return listener_failed(err, r, "the control plane's", a->option);
    f->control_address = address_of(a, http_server_port(f->control_http));
    return 0;
}

/* Whether a socket on this machine can bind the address. */
static bool is_this_machine(struct str host)
{
    struct address at;
    if (!address_parse(host, &at))
        return str_is(host, "localhost");
    static const uint8_t mapped[12] = { [10] = 0xff, 0xff };
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } to = { .v6 = { .sin6_family = AF_INET6 } };
    bool is_v4 = memcmp(at.bytes, mapped, sizeof mapped) == 0;
    if (is_v4)
        to.v4 = (struct sockaddr_in){ .sin_family = AF_INET };
    memcpy(is_v4 ? (void *)&to.v4.sin_addr : (void *)&to.v6.sin6_addr,
           at.bytes + (is_v4 ? sizeof mapped : 0), is_v4 ? 4 : 16);
    scoped(fd_scoped) int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && bind(fd, &to.any, is_v4 ? sizeof to.v4 : sizeof to.v6) == 0;
}

/*
 * Whether the address belongs to this process or its API. Gateways send requests to the address
 * that a worker names, so it must not be one of ours.
 */
static bool is_ours(void *arg, struct str host, uint16_t port)
{
    const struct functions *f = arg;
    const uint16_t *more = f->opts.listeners;
    bool is_port = (f->control_http && port == http_server_port(f->control_http)) ||
                   (f->gateway && port == gateway_port(f->gateway)) ||
                   (f->worker_http && port == worker_http_port(f->worker_http));
    for (size_t i = 0; i < FUNCTIONS_LISTENERS_MAX; i++)
        is_port |= more[i] && port == more[i];
    return is_port && is_this_machine(host);
}

static void on_leads(void *arg, bool leads)
{
    check_ready(arg);
}

static int start_control(struct functions *f, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    int r = listen_control(f, err);
    if (r < 0)
        return r;
    struct control_opts opts = { .loop = o->loop,
                                 .transport = o->transport,
                                 .hub = f->opts.hub,
                                 .has_tls = o->tls_ca != NULL,
                                 .worker_networks = o->worker_networks,
                                 .n_worker_networks = o->n_worker_networks,
                                 .containers = o->subnet ? o->subnet : CONTAINER_SUBNET_DEFAULT,
                                 .name = f->name,
                                 .address = f->control_address,
                                 .namespace = o->namespace,
                                 .lease_namespace = o->lease_namespace,
                                 .lease_name = o->lease_name,
                                 .lease_ms = o->lease_ms,
                                 .renew_ms = o->renew_ms,
                                 .is_alone = o->embedded,
                                 .peer_lease_ms = o->peer_lease_ms,
                                 .place = { .policy = o->placement, .seed = sys_random_u64() },
                                 .eviction = o->eviction,
                                 .persists = o->persist_sandboxes,
                                 .trace_dir = o->trace_dir,
                                 .peers = f->dialer,
                                 .modules = f->sources ? &f->seen : NULL,
                                 .is_ours = is_ours,
                                 .on_leads = on_leads,
                                 .arg = f };
    return control_start(&opts, &f->control, err);
}

/* ---------------------------------------------------------------- worker */

static int start_wasm(struct functions *f, struct runtime **ret, struct err *err)
{
    int r = open_sources(f, err);
    if (r < 0)
        return r;
    struct wasm_runtime_opts opts = { .loop = f->opts.loop,
                                      .modules = f->opts.modules,
                                      .runners = f->opts.runners,
                                      .sources = f->sources,
                                      .logs = f->logs,
                                      .module_dirs = (const char *const *)f->module_dirs,
                                      .n_module_dirs = f->n_module_dirs };
    return wasm_runtime_new(&opts, ret, err);
}

static int listen_worker(struct functions *f, struct err *err)
{
    const struct functions_address *a = &f->opts.worker;
    if (!a->host) {
        f->worker_address = xstrdup("");
        return 0;
    }
    struct worker_http_opts opts = { .loop = f->opts.loop,
                                     .host = a->host,
                                     .port = a->port,
                                     .tls = f->server_tls,
                                     .token = f->token[0] ? f->token : NULL };
    int r = worker_http_start(&opts, &f->worker_http, err);
    if (r < 0)
        return listener_failed(err, r, "the worker's", a->option);
    f->worker_address = address_of(a, worker_http_port(f->worker_http));
    return 0;
}

static struct fn_dialer *worker_dialer(struct functions *f)
{
    return f->control ? control_worker_dialer(f->control) : f->dialer;
}

static int start_simulation(struct functions *f, struct err *err)
{
    struct fn_simulation_opts opts = { .loop = f->opts.loop,
                                       .dialer = worker_dialer(f),
                                       .n_workers = f->opts.simulate,
                                       .prefix = f->name,
                                       .incarnation = f->incarnation,
                                       .address = f->worker_address,
                                       .cpu_milli = f->opts.cpu_milli,
                                       .memory_bytes = f->opts.memory_bytes,
                                       .seed = 1,
                                       .on_synced = on_worker_synced,
                                       .arg = f };
    int r = simulate_start(&opts, &f->simulation, err);
    if (r >= 0 && f->worker_http)
        worker_http_serve(f->worker_http, simulate_invoker(f->simulation));
    return r;
}

static size_t read_labels(const struct functions_opts *o, struct arena *a, struct worker_label *to)
{
    for (size_t i = 0; i < o->n_labels; i++) {
        struct str key, value;
        (void)str_cut(str_of(o->labels[i]), '=', &key, &value);
        to[i] = (struct worker_label){ str_dup_arena(a, key), str_dup_arena(a, value) };
    }
    return o->n_labels;
}

static int start_oci(struct functions *f, struct runtime **ret, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    const struct container_images images = image_supply_interface(o->images);
    struct oci_opts opts = { .loop = o->loop,
                             .dir = o->data_dir,
                             .logs = f->logs,
                             .bundle_dirs = o->bundle_dirs,
                             .n_bundle_dirs = o->n_bundle_dirs,
                             .images = &images,
                             .subnet = o->subnet,
                             .no_limits = o->unlimited_containers };
    return oci_runtime_new(&opts, ret, err);
}

/*
 * Gateways of other processes must use our listener, since containers' addresses only exist on this
 * machine.
 */
static bool is_proxy(const struct functions_opts *o)
{
    const char *host = o->worker.host;
    return host && strcmp(host, "localhost") != 0 && strncmp(host, "127.", 4) != 0 &&
           strcmp(host, "::1") != 0;
}

static int start_worker(struct functions *f, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    struct arena a = { 0 };
    struct err why = { 0 };
    int r = listen_worker(f, err);
    if (r < 0)
        return r;
    if (o->simulate)
        return start_simulation(f, err);
    struct worker_opts opts = { .loop = o->loop,
                                .name = f->name,
                                .incarnation = f->incarnation,
                                .dialer = worker_dialer(f),
                                .address = f->worker_address,
                                .cpu_milli = o->cpu_milli,
                                .memory_bytes = o->memory_bytes,
                                .is_proxy = is_proxy(o),
                                .on_synced = on_worker_synced,
                                .arg = f };
    struct worker_label *labels = arena_new_n(&a, struct worker_label, o->n_labels + 1);
    scoped(free_scoped) char *logs_dir = xasprintf("%s/" FN_LOGS_DIR, o->data_dir);
    opts.labels = labels;
    opts.n_labels = read_labels(o, &a, labels);
    f->logs = opts.logs = guest_logs_new(logs_dir);
    opts.runtimes[opts.n_runtimes++] = fake_runtime_new(o->loop, 0, 1);
    if (start_wasm(f, &opts.runtimes[opts.n_runtimes], &why) >= 0)
        opts.n_runtimes++;
    else
        log_warn("functions that are modules cannot run here", "reason=\"%s\"", err_text(&why));
    if (o->images && start_oci(f, &opts.runtimes[opts.n_runtimes], &why) >= 0)
        opts.n_runtimes++;
    else if (o->images)
        log_warn("functions that are containers cannot run here", "reason=\"%s\"", err_text(&why));
    r = worker_start(&opts, &f->worker, err);
    arena_fini(&a);
    if (r >= 0 && f->worker_http)
        worker_http_serve(f->worker_http, worker_invoker(f->worker));
    return r;
}

/* ---------------------------------------------------------------- gateway */

/*
 * TLS towards other gateways: like our own, since all gateways have the same kind of certificate.
 */
static struct tls_ctx *peer_tls(const struct functions *f)
{
    return !f->tls ? NULL : f->client_tls ? f->client_tls : f->public_tls;
}

static int open_async(struct functions *f, struct err *err)
{
    scoped(free_scoped) char *path = xasprintf("%s/async.db", f->opts.data_dir);
    struct async_opts opts = { .loop = f->opts.loop,
                               .name = f->name,
                               .path = path,
                               .peer_tls = peer_tls(f),
                               .allow_private_urls = f->opts.private_urls };
    return async_open(&opts, &f->async, err);
}

static int start_gateway(struct functions *f, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    int r = o->gateway_cert ? new_server_tls(o->gateway_cert, o->gateway_key, &f->tls, err) : 0;
    if (r >= 0 && f->tls && !f->client_tls)
        r = tls_ctx_new_client(STR(""), STR(""), STR(""), false, &f->public_tls, err);
    if (r >= 0)
        r = open_async(f, err);
    if (r < 0)
        return r;
    struct gateway_opts opts = { .loop = o->loop,
                                 .name = f->name,
                                 .incarnation = f->incarnation,
                                 .host = o->gateway.host,
                                 .port = o->gateway.port,
                                 .tls = f->tls,
                                 .advertise = o->gateway.advertise,
                                 .dialer =
                                     f->control ? control_gateway_dialer(f->control) : f->dialer,
                                 .local = f->worker ? worker_invoker(f->worker) : NULL,
                                 .local_worker = f->worker ? f->name : NULL,
                                 .worker_tls = f->client_tls,
                                 .gateway_tls = peer_tls(f),
                                 .worker_token = f->token[0] ? f->token : NULL,
                                 .domain = o->domain,
                                 .trace_dir = o->trace_dir,
                                 .async = async_hooks(f->async),
                                 .on_synced = on_gateway_synced,
                                 .arg = f };
    r = gateway_start(&opts, &f->gateway, err);
    if (r == -EADDRINUSE && o->gateway.or_any) {
        log_warn("the gateway's port is taken, listening elsewhere", "port=%u", o->gateway.port);
        opts.port = 0;
        r = gateway_start(&opts, &f->gateway, err);
    }
    if (r < 0)
        return listener_failed(err, r, "the gateway's", o->gateway.option);
    f->gateway_address = address_of(&o->gateway, gateway_port(f->gateway));
    scoped(free_scoped) char *url =
        xasprintf("%s://%s", f->tls ? "https" : "http", f->gateway_address);
    if (f->control)
        control_set_url(f->control, url);
    return 0;
}

/* ---------------------------------------------------------------- stopping, step by step */

static void free_functions(struct functions *f)
{
    void (*done)(void *) = f->done;
    void *arg = f->done_arg;
    link_dialer_free(f->dialer);
    link_server_free(f->link);
    tls_ctx_free(f->tls);
    tls_ctx_free(f->server_tls);
    tls_ctx_free(f->client_tls);
    tls_ctx_free(f->public_tls);
    if (f->logs)
        guest_logs_free(f->logs);
    for (size_t i = 0; i < f->n_module_dirs; i++)
        free(f->module_dirs[i]);
    free(f->name);
    free(f->token);
    free(f->gateway_address);
    free(f->control_address);
    free(f->worker_address);
    free(f);
    if (done)
        done(arg);
}

static void stop_sources(void *arg)
{
    struct functions *f = arg;
    module_sources_close(take_ptr(&f->sources));
    free_functions(f);
}

static void stop_control_http(void *arg)
{
    struct functions *f = arg;
    f->control = NULL;
    if (f->control_http)
        http_server_close(take_ptr(&f->control_http), 0, stop_sources, f);
    else
        stop_sources(f);
}

static void stop_control(void *arg)
{
    struct functions *f = arg;
    if (f->control)
        control_stop(f->control, stop_control_http, f);
    else
        stop_control_http(f);
}

static void stop_worker(void *arg)
{
    struct functions *f = arg;
    if (f->worker)
        /* Without gateways in other processes no request can be outstanding. */
        worker_stop(take_ptr(&f->worker),
                    has(f, FUNCTIONS_CONTROL) && !f->control_http ? 0 : FUNCTIONS_DRAIN_MS / 2,
                    stop_control, f);
    else if (f->simulation)
        simulate_stop(take_ptr(&f->simulation), stop_control, f);
    else
        stop_control(f);
}

static void stop_worker_http(void *arg)
{
    struct functions *f = arg;
    if (f->worker_http)
        worker_http_close(take_ptr(&f->worker_http), FUNCTIONS_DRAIN_MS / 2, stop_worker, f);
    else
        stop_worker(f);
}

static void close_async(void *arg)
{
    struct functions *f = arg;
    if (f->async)
        async_close(take_ptr(&f->async), stop_worker_http, f);
    else
        stop_worker_http(f);
}

static void stop_async(void *arg)
{
    struct functions *f = arg;
    f->gateway = NULL;
    if (f->triggers)
        triggers_close(take_ptr(&f->triggers), close_async, f);
    else
        close_async(f);
}

void functions_stop(struct functions *f, void (*done)(void *arg), void *arg)
{
    sm_move(&f->sm, FUNCTIONS_STOPPING);
    f->done = done;
    f->done_arg = arg;
    if (f->async)
        async_drain(f->async);
    if (f->gateway)
        gateway_stop(f->gateway, FUNCTIONS_DRAIN_MS, stop_async, f);
    else
        stop_async(f);
}

/* ---------------------------------------------------------------- status and metrics */

const char *functions_gateway(const struct functions *f)
{
    return f->gateway_address ? f->gateway_address : "";
}

const char *functions_control(const struct functions *f)
{
    return f->control_address ? f->control_address : "";
}

void functions_metrics(const struct functions *f, struct buf *to)
{
    if (f->control)
        control_metrics(f->control, to);
    if (f->gateway)
        gateway_metrics(f->gateway, to);
    if (f->worker)
        worker_metrics(f->worker, to);
    if (f->async)
        async_metrics(f->async, to);
    if (f->triggers)
        triggers_metrics(f->triggers, to);
}

void functions_table(const struct functions *f, struct buf *to)
{
    if (f->gateway)
        gateway_functions_json(f->gateway, to);
    else
        buf_add_cstr(to, "[]");
}

void functions_status(const struct functions *f, struct buf *to)
{
    struct buf text = BUF_INIT(16 << 20);
    if (f->control)
        control_json(f->control, &text);
    buf_printf(to, "\"gateway\":\"%s\",\"controlPlane\":\"%s\",\"node\":\"%s\",\"functions\":%s",
               functions_gateway(f), functions_control(f), f->name, text.n ? text.p : "{}");
    buf_fini(&text);
}

/* ---------------------------------------------------------------- starting */

static int start_roles(struct functions *f, struct err *err)
{
    const struct functions_opts *o = &f->opts;
    struct link_dialer_opts dialer = { .loop = o->loop,
                                       .addresses = o->control_planes,
                                       .n_addresses = o->n_control_planes,
                                       .tls = f->client_tls,
                                       .token = f->token };
    int r = link_dialer_new(&dialer, &f->dialer, err);
    if (r >= 0 && has(f, FUNCTIONS_WORKER) && !o->simulate)
        (void)open_sources(f, NULL); /* start_wasm() reports the error */
    if (r >= 0 && has(f, FUNCTIONS_CONTROL))
        r = start_control(f, err);
    if (r >= 0 && has(f, FUNCTIONS_WORKER))
        r = start_worker(f, err);
    if (r >= 0 && has(f, FUNCTIONS_GATEWAY))
        r = start_gateway(f, err);
    return r;
}

int functions_start(const struct functions_opts *opts, struct functions **ret, struct err *err)
{
    struct functions *f = xnew(struct functions);
    f->opts = *opts;
    sm_init(&f->sm, states, FUNCTIONS_STARTING);
    int r = read_token(f, err);
    if (r >= 0)
        r = read_role_tls(f, err);
    if (r >= 0)
        r = worker_identity(opts->data_dir, opts->name ? opts->name : "", &f->name, &f->incarnation,
                            err);
    if (r >= 0)
        r = start_roles(f, err);
    *ret = f;
    return r;
}
