/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roles of functions that this process has, put together: control plane, gateway, worker. Roles
 * of one process speak over streams in it; others dial the control planes' addresses.
 *
 * Below the data directory: worker.json (this node's identity), fn-downloads/, function-logs/,
 * functions/ (a place for modules that Functions name), async.db, oci/.
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
    FUNCTIONS_DRAIN_MS = 5000, /* of requests, when the process is told to end */
    FUNCTIONS_DIRS_MAX = 16,
    FUNCTIONS_LISTENERS_MAX = 2
};

struct functions_address {
    const char *host;      /* NULL: does not listen */
    const char *option;    /* of the command line, "--listen"; for messages */
    uint16_t port;         /* 0: any free one */
    bool or_any;           /* if the port is taken, any other */
    const char *advertise; /* "host:port" as others reach it; NULL: as it listens */
};

struct functions_opts { /* strings are kept */
    struct loop *loop;
    unsigned roles;
    const char *data_dir;
    struct module_cache *modules; /* kept; of the process; NULL without the worker role */
    struct runner_pool *runners;  /* the same */
    const char *name;             /* of this node; NULL: as worker.json keeps it */
    struct transport *transport;  /* kept; NULL: neither control plane nor what reads objects */
    struct watch_hub *hub;        /* kept; the process's, over that transport; NULL with it */
    bool embedded;                /* the API is in this process */

    struct functions_address control;  /* streams of other processes, and REST */
    const char *const *control_planes; /* without the control role: where it is; with it: others */
    size_t n_control_planes;
    const char *namespace;                      /* Functions of it alone; NULL: all */
    const char *lease_namespace, *lease_name;   /* NULL: defaults */
    uint64_t lease_ms, renew_ms, peer_lease_ms; /* 0: defaults */
    enum place_policy placement;
    enum place_eviction eviction;
    bool persist_sandboxes;             /* before they are used; to measure */
    const char *const *worker_networks; /* what workers and gateways elsewhere may have as */
    size_t n_worker_networks;           /* addresses: plane_opts */
    uint16_t listeners[FUNCTIONS_LISTENERS_MAX]; /* more ports of this machine that they may not
                                                    name; 0: none */

    struct functions_address gateway;
    const char *gateway_cert, *gateway_key; /* files; NULL: plain */
    const char *domain;
    bool private_urls; /* callbacks may go to addresses of this machine and its networks */

    struct functions_address worker; /* for gateways of other processes */
    uint64_t cpu_milli, memory_bytes;
    const char *const *labels; /* "key=value" */
    size_t n_labels;
    const char *const *module_dirs, *const *bundle_dirs;
    size_t n_module_dirs, n_bundle_dirs;
    const char *image_store; /* directory; NULL: $DORMOUSE_IMAGE_STORE, or images in data_dir */
    const char *const *image_hosts; /* registries of images (image/provide.h); none: no images, */
    size_t n_image_hosts;           /* but for files below bundle_dirs */
    struct module_site module_site; /* what URLs of modules may name; its plain hosts and its CA
                                       are those of images too */
    const char *subnet;             /* of containers, /16; NULL: default */
    bool unlimited_containers;      /* also where the machine has no control groups */
    uint32_t simulate;              /* so many workers with fake sandboxes, instead of a real one */

    /* Between roles, REST too: certificate and key of this process, and whose certificates are
     * good; files, all or none. */
    const char *tls_cert, *tls_key, *tls_ca;
    const char *token_file; /* the token between roles; NULL: loopback only, and with a listener
                             * of the control plane DATA_DIR/fn.token */
    const char *trace_dir;
    void (*on_ready)(void *arg); /* every role works; once */
    void *arg;
};

/*
 * The definitions of functions (fn_crds()) exist, or are created soon. On failure *ret may be set,
 * as host_start() sets it: stop it.
 */
int functions_start(const struct functions_opts *opts, struct functions **ret, struct err *err);
/* Requests end first, then sandboxes, then the rest; done() last. */
void functions_stop(struct functions *f, void (*done)(void *arg), void *arg);

/* NULL: every role is ready; else what is missing. */
const char *functions_not_ready(const struct functions *f);
/* "host:port" as clients reach the gateway, other roles the control plane; "": it is not here. */
const char *functions_gateway(const struct functions *f);
const char *functions_control(const struct functions *f);
/* REST; false: none of its paths. */
bool functions_serve(struct functions *f, struct http_exchange *x, const struct http_request *req);

/* Prometheus text; members of a JSON object, without braces. */
void functions_metrics(const struct functions *f, struct buf *to);
void functions_status(const struct functions *f, struct buf *to);
/* JSON: gateway_functions_json(). */
void functions_table(const struct functions *f, struct buf *to);
