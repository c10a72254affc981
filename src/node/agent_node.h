/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This machine as a node of a cluster: its registration, and the parts of the agent that the
 * registration reports about.
 *
 *     dormouse up             over the in-process transport, as the user system:node:NAME
 *     dormouse join URL       over HTTP with the certificate of that user
 */
#pragma once

#include "agent/registration/registration.h"
#include "base/buf.h"
#include "client/http_transport.h"
#include "node/pods.h"

struct agent_node;

enum { AGENT_NODE_IMAGE_PORT = 7443 };

enum agent_node_wanted {
    AGENT_NODE_NO, /* what a process that says nothing gets */
    AGENT_NODE_YES,
    AGENT_NODE_AUTO /* where the machine can run containers */
};

struct agent_node_opts { /* strings are kept */
    struct loop *loop;
    const char *data_dir;
    struct transport *transport; /* kept */
    struct watch_hub *hub;       /* kept; over that transport */
    struct image_supply *images; /* kept */
    /*
     * Images are shared with other nodes (node/pods.h): the file of the cluster's key; NULL: the
     * cluster's own (node/cluster_key.h), if it has one.
     */
    const char *cluster_key_file;
    bool shares_no_images; /* in any case */
    const char *image_host;
    uint16_t image_port;
    bool image_listens_elsewhere; /* as listens_elsewhere */
    uint64_t image_quota_bytes, image_probe_ms;
    struct agent_gc gc;       /* of images */
    const char *log_dir;      /* NULL: AGENT_LOG_DIR */
    const char *manifest_dir; /* of static pods; NULL: none */
    const char *listen_host;  /* of the agent's HTTP interface, as in node/pods.h */
    uint16_t listen_port;
    bool listens_elsewhere;
    const char *client_ca; /* PEM: the cluster's CA */
    bool embedded;         /* the API server is in this process, and knows no certificate */
    enum agent_node_wanted wanted;
    const char *node_name; /* NULL: the host's name */
    const char *server;    /* URL of the API server; NULL: this machine */
    const char *const *labels, *const *taints, *const *addresses; /* of the command line */
    size_t n_labels, n_taints, n_addresses;
    uint32_t max_pods;          /* 0: the default */
    const char *const *sysctls; /* of pods, allowed besides the safe ones */
    size_t n_sysctls;
    bool no_service_proxy; /* another program makes the addresses of Services work */
    struct agent_dns_opts dns;
    struct registration_reserved reserved;
    /*
     * Credentials that are renewed: the transport above as it was made, and the file that holds
     * them (agent/registration/joining.h). NULL: none, with `embedded`.
     */
    struct http_transport *remote;
    const struct kubeconfig *config; /* borrowed for the start */
    const char *credentials;
    uint32_t cert_s; /* lifetime of certificates that are asked for; 0: the cluster's choice */
    void (*on_ready)(void *arg); /* the node is registered; once */
    void *arg;
};

/* Whether the options ask for a node here; AGENT_NODE_AUTO: and the machine can be one. */
bool agent_node_is_wanted(const struct agent_node_opts *opts);
/* Name of this node: as given, or the host's name in lower case. Given, free(). */
char *agent_node_name(const char *given);
/* The file of the credentials in a data directory. Given, free(). */
char *agent_node_credentials(const char *data_dir);
/* Errors: E_INVALID: a name, a label, a taint or an address. */
int agent_node_start(const struct agent_node_opts *opts, struct agent_node **ret, struct err *err);
/* Containers of pods go on. */
void agent_node_stop(struct agent_node *n, void (*done)(void *arg), void *arg);
/* The machine is about to stop: as pods_shut_down(), and the Node is not ready any more. */
int agent_node_shut_down(struct agent_node *n, const struct pod_shutdown_plan *plan,
                         void (*done)(void *arg, size_t n_ended, size_t n_left), void *arg,
                         struct err *err);
void agent_node_shut_down_forget(struct agent_node *n);
/* NULL: ready; else what is missing. */
const char *agent_node_not_ready(const struct agent_node *n);
const char *agent_node_name_of(const struct agent_node *n);
/* Members of a JSON object: "node". */
void agent_node_status(const struct agent_node *n, struct buf *to);
