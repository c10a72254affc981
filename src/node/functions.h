/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function roles of this process, put together: control plane, gateway, worker. Roles in the
 * same process communicate over in-process streams; other processes dial the control planes'
 * addresses.
 *
 * Below the data directory: worker.json (this node's identity), fn-downloads/, function-logs/,
 * functions/ (a directory for modules that Functions name), async.db, oci/.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "io/loop.h"
#include "modules/module_hosts.h"
#include "place/evict.h"
#include "place/place.h"

struct functions;
struct module_cache;
struct runner_pool;
struct transport;
struct http_exchange;
struct http_request;
struct watch_hub;

enum functions_role { FUNCTIONS_CONTROL = 1, FUNCTIONS_GATEWAY = 2, FUNCTIONS_WORKER = 4 };

enum {
    FUNCTIONS_DRAIN_MS = 5000, /* time for requests to finish when the process is to end */
    FUNCTIONS_DIRS_MAX = 16,
    FUNCTIONS_LISTENERS_MAX = 2
};

struct functions_address {
    const char *host;      /* NULL: does not listen */
    const char *option;    /* the command-line option, "--listen"; for error messages */
    uint16_t port;         /* 0: any free one */
    bool or_any;           /* if the port is taken, use any other */
    const char *advertise; /* "host:port" for others; NULL: the listening address */
};

struct functions_opts { /* strings are kept */
    struct loop *loop;
    unsigned roles;
    const char *data_dir;
    struct module_cache *modules; /* kept; the process's; NULL without the worker role */
    struct runner_pool *runners;  /* as above */
    const char *name;             /* of this node; NULL: the one in worker.json */
    struct transport *transport;  /* kept; NULL: no control plane and nothing that reads objects */
    struct watch_hub *hub;        /* kept; the process's hub over that transport; NULL without it */
    bool embedded;                /* the API is in this process */

    struct functions_address control;  /* for other processes' streams, and REST */
    const char *const *control_planes; /* without the control role: addresses of control planes;
                                          with it: of the others */
    size_t n_control_planes;
    const char *namespace;                      /* only Functions of this namespace; NULL: all */
    const char *lease_namespace, *lease_name;   /* NULL: defaults */
    uint64_t lease_ms, renew_ms, peer_lease_ms; /* 0: defaults */
    enum place_policy placement;
    enum place_eviction eviction;
    bool persist_sandboxes; /* persist sandboxes before they are used; for measurements */
    const char *const *worker_networks;          /* networks whose addresses workers and gateways */
    size_t n_worker_networks;                    /* elsewhere may announce: plane_opts */
    uint16_t listeners[FUNCTIONS_LISTENERS_MAX]; /* further ports of this machine that they may not
                                                    announce; 0: none */

    struct functions_address gateway;
    const char *gateway_cert, *gateway_key; /* files; NULL: plain HTTP */
    const char *domain;
    bool private_urls; /* callbacks may connect to this machine and its private networks */

    struct functions_address worker; /* for gateways of other processes */
    uint64_t cpu_milli, memory_bytes;
    const char *const *labels; /* "key=value" */
    size_t n_labels;
    const char *const *module_dirs, *const *bundle_dirs;
    size_t n_module_dirs, n_bundle_dirs;
    struct image_supply *images;    /* kept; NULL: functions are no containers here */
    struct module_site module_site; /* allowed module URLs */
    const char *subnet;             /* of containers, /16; NULL: default */
    bool unlimited_containers; /* run containers even where the machine has no control groups */
    uint32_t simulate; /* number of workers with fake sandboxes to run instead of a real one */

    /*
     * TLS between roles and for REST: certificate and key of this process, and the CA of the peers'
     * certificates; files, all or none.
     */
    const char *tls_cert, *tls_key, *tls_ca;
    const char *token_file; /* the token between roles; NULL: loopback only; with a listener of the
                               control plane DATA_DIR/fn.token is used */
    const char *trace_dir;
    void (*on_ready)(void *arg); /* runs once, when every role works */
    void *arg;
};

/*
 * The definitions of functions (fn_crds()) exist, or are created soon. On failure *ret may be set,
 * as host_start() sets it: stop it.
 */
int functions_start(const struct functions_opts *opts, struct functions **ret, struct err *err);
/* Requests end first, then sandboxes, then the rest; done() runs last. */
void functions_stop(struct functions *f, void (*done)(void *arg), void *arg);

/* NULL: every role is ready; else text that says what is missing. */
const char *functions_not_ready(const struct functions *f);
/*
 * "host:port" at which clients reach the gateway, and other roles the control plane; "": not in
 * this process.
 */
const char *functions_gateway(const struct functions *f);
const char *functions_control(const struct functions *f);
/* Serve a REST request; false: the path is not one of ours. */
bool functions_serve(struct functions *f, struct http_exchange *x, const struct http_request *req);

/* Prometheus text; members of a JSON object, without braces. */
void functions_metrics(const struct functions *f, struct buf *to);
void functions_status(const struct functions *f, struct buf *to);
/* As JSON: gateway_functions_json(). */
void functions_table(const struct functions *f, struct buf *to);
