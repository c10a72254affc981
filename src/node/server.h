/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One server process. Its parts start in order and stop in the reverse order.
 *
 *     dormouse api            cluster
 *     dormouse up             cluster + operator host + roles of functions + controllers of
 *                             workloads + node + admin socket
 *     dormouse operator run   transport to some cluster + operator host + admin socket
 *     dormouse fn ROLE        roles of functions + admin socket, with a transport or without
 *     dormouse scheduler      transport to some cluster + scheduler + admin socket
 *     dormouse join           transport to some cluster + node + admin socket
 *
 * server_run() blocks until SIGTERM or SIGINT, or until a part fails to start.
 */
#pragma once

#include "api/node_cidrs.h"
#include "base/err.h"
#include "node/agent_node.h"
#include "node/functions.h"
#include "node/host.h"
#include "node/image_supply.h"
#include "node/scheduling.h"

enum {
    SERVER_STOP_GRACE_MS = 2000, /* for running requests and activations */
    SERVER_STOP_MAX_MS = 9000    /* then the process ends even if a part hangs */
};

/* A cluster that this machine joins as a node (agent/registration/joining.h). */
struct server_join {
    const char *server; /* NULL: it does not */
    const char *token, *ca_file, *ca_hash;
};

struct server_opts {
    const char *data_dir;
    /*
     * with_cluster: listen here and write the kubeconfig; otherwise `kubeconfig` names the cluster
     * to connect to
     */
    bool with_cluster;
    const char *host;
    uint16_t port;
    const char *kubeconfig;         /* NULL: the default path for either use */
    uint64_t event_ttl_ms;          /* with_cluster: Events are deleted after this; 0: an hour */
    struct node_cidrs node_cidrs;   /* with_cluster: see cluster.h */
    struct str commit, commit_date; /* of this program, for /version */
    bool warn_unattended;           /* with_cluster: see api/server.h */
    bool no_anonymous;              /* with_cluster: see cluster.h */
    const char *context;    /* of the kubeconfig of the cluster to connect to; NULL: its current */
    const char *token_file; /* with_cluster: see cluster.h */
    const char *const *tls_names;
    size_t n_tls_names;
    const char *sa_issuer;
    bool with_operators;
    const char *operators_dir; /* NULL: Operator objects */
    const char *const *module_dirs;
    size_t n_module_dirs;
    struct module_site module_site; /* as in host.h */
    const char *namespace;          /* only Operator objects of this namespace; NULL: all */
    /* without with_cluster: run operators only while the process holds this Lease */
    bool leader_elect;
    const char *lease_namespace, *lease_name; /* NULL: of the kubeconfig or pod; "dormouse" */
    const char *health_host;                  /* serves probes and metrics; NULL: not served */
    uint16_t health_port;
    enum host_identity identity;
    struct guest_host_opts guests;
    /* Of containers; server_run() fills in loop and data_dir. */
    struct image_supply_opts images;
    /* roles 0: none. server_run() fills in loop, data_dir, transport, images, embedded and
     * on_ready.
     */
    struct functions_opts functions;
    /*
     * server_run() fills in the same members. SIGHUP makes it read its file again, if there is one.
     */
    bool with_scheduler;
    /*
     * with_cluster: its nodes share images by the key of node/cluster_key.h, which is made if it is
     * missing, and the scheduler sends plans with it, unless they name a file.
     */
    bool shares_images;
    struct scheduling_opts scheduler;
    bool with_workloads; /* with_cluster: the controllers of workload/controllers.h */
    /* server_run() fills in loop, data_dir, transport, embedded, server and on_ready. */
    struct agent_node_opts agent;
    struct server_join join;
    bool without_cluster; /* no transport: gateways and workers can run without */
};

/*
 * 0 after an orderly shutdown; else the error of the part that failed to start. Prints the "ready "
 * line on stdout.
 */
int server_run(const struct server_opts *opts, struct err *err);
