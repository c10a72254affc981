/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods of this node: the agent (agent/agent.h) with the images of this process.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/agent.h"
#include "agent/registration/registration.h"
#include "codec/json.h"

struct pods;
struct image_supply;

enum { PODS_LISTEN_PORT = 10250 };

struct pods_opts { /* strings are kept */
    struct loop *loop;
    const char *data_dir, *node_name;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept */
    const struct kube_identity *identity; /* kept; NULL: the transport's own */
    const char *const *addresses;         /* of the node; copied */
    size_t n_addresses;
    struct image_supply *images; /* kept */
    /*
     * For pods_share_images() (node/image_node.h): the CA of nodes, and where the image server
     * listens.
     */
    struct str cluster_ca;
    const char *image_host;
    uint16_t image_port;
    bool image_listens_elsewhere; /* at any free port if that one is taken */
    uint64_t image_quota_bytes, image_probe_ms;
    struct agent_gc gc;
    const char *const *sysctls; /* allowed besides the safe ones */
    size_t n_sysctls;
    bool no_service_proxy;
    struct agent_dns_opts dns;
    const char *log_dir;      /* NULL: AGENT_LOG_DIR */
    const char *manifest_dir; /* of static pods; NULL: none */
    /* Where the agent's HTTP interface listens; host NULL: 0.0.0.0; port 0: any free one. */
    const char *listen_host;
    uint16_t listen_port;
    bool listens_elsewhere; /* at any free port if that one is taken */
    const char *client_ca;  /* PEM: of the API server's certificate; NULL: tokens only */
    /* The interface listens. Once. */
    void (*on_listening)(void *arg, uint16_t port);
    void (*on_synced)(void *arg);
    void (*on_pods)(void *arg, size_t n_pods);
    void (*on_images)(void *arg);  /* image_supply_list() gives another list */
    void (*on_removed)(void *arg); /* the agent has removed images */
    /* As in agent/agent.h. */
    void (*on_reclaimed)(void *arg);
    void (*on_node_event)(void *arg, const char *reason, const char *message);
    void *arg;
};

/* NULL: this machine can run pods; else why not. Given, free(). */
char *pods_problem(void);
/* Errors: those of agent_start(). */
int pods_start(const struct pods_opts *opts, struct pods **ret, struct err *err);
void pods_stop(struct pods *p, void (*done)(void *arg), void *arg);
/* Images are shared with the nodes that have this key. Once. */
void pods_share_images(struct pods *p, struct str cluster_key);
/* The certificate of the HTTP interface, which begins with it. */
void pods_set_cert(struct pods *p, struct str cert_pem, struct str key_pem);
/* "crun://1.8.1"; "": pods cannot run. Borrowed until pods_stop(). */
const char *pods_runtime(const struct pods *p);
/* The Node object has changed: its podCIDRs count from now on. */
void pods_set_node(struct pods *p, const struct json *node);
/* As agent_shut_down() and the next ones. Errors: also E_UNSUPPORTED: no pods run here. */
int pods_shut_down(struct pods *p, const struct pod_shutdown_plan *plan,
                   void (*done)(void *arg, size_t n_ended, size_t n_left), void *arg,
                   struct err *err);
void pods_shut_down_forget(struct pods *p);
bool pods_are_shutting_down(const struct pods *p);
/* What the machine is short of: pods are evicted. */
void pods_set_pressure(struct pods *p, const struct agent_pressure *pressure);
