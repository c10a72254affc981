/* SPDX-License-Identifier: Apache-2.0 */
/* The process and its services, for server.c and server_pages.c only. */
#pragma once

#include "io/idle_trim.h"
#include "io/loop.h"
#include "node/admin.h"
#include "node/cluster.h"
#include "node/cluster_key.h"
#include "node/health.h"
#include "node/server.h"

struct server {
    struct server_opts opts;
    struct loop loop;
    int lock_fd; /* the data directory, locked */
    bool made_dir;
    struct cluster *cluster;
    struct joining *joining;
    char *credentials; /* the file of a node that joins */
    struct kubeconfig *config;
    struct http_transport *remote;
    struct watch_hub *hub;        /* of all services; NULL: no service needs an API */
    uint16_t api_port;            /* of the remote API; 0: unknown */
    struct module_cache *modules; /* NULL: no service has guests; same for the next member */
    struct runner_pool *runners;
    struct host *host;
    struct image_supply *images; /* NULL: no service has containers */
    struct functions *functions;
    struct scheduling *scheduling;
    struct workload *workload;
    struct agent_node *agent;
    struct admin *admin;
    struct node_health *health;
    struct leader *leader;
    char *lease_namespace;
    struct sig_watch term, interrupt, hangup;
    struct timer deadline, status_line;
    struct idle_trim idle_trim;
    struct defer stop;
    bool stopping, ready;
    size_t n_rows;              /* of services, that are still to be stopped */
    struct cluster_key *asking; /* for the key of nodes that share images */
    char *image_key, *node_ca;
    size_t n_kinds; /* definitions that the cluster was given */
    uint64_t started_ms;
    char last_line[160];
    int r;
    struct err err;
};

/*
 * A service of the process: one row of server_services. Rows start in their order and stop in the
 * reverse order; a service runs while its pointer in struct server is set. Columns may be NULL.
 */
struct service {
    size_t slot; /* offsetof() the pointer */
    /* Does nothing, and returns 0, where the options do not ask for the service. */
    int (*start)(struct server *s, struct transport *transport, struct err *err);
    void (*stop)(struct server *s); /* calls stop_next() when the service has stopped */
    /* The rest is called only while the service runs. */
    const char *(*not_ready)(const struct server *s);  /* what is missing; NULL: ready */
    void (*metrics)(struct server *s, struct buf *to); /* Prometheus text */
    void (*status)(struct server *s, struct buf *to);  /* members of a JSON object */
    void (*ready_words)(struct server *s);             /* its part of the line "ready" */
    bool (*says_ready)(const struct server *s);        /* calls say_ready() itself, later */
};

enum { N_SERVICES = 14 };
extern const struct service server_services[N_SERVICES];

static inline void *const *server_slot(const struct server *s, const struct service *row)
{
    return (void *const *)((const char *)s + row->slot);
}

/* What the admin socket shows; arg: the struct server. */
extern const struct admin_page server_pages[];
/* The metrics of all services that run. */
void server_metrics(struct server *s, struct buf *to);
