/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node agent: runs the Pods that are bound to this node, and reports their status. Composition
 * of what its directories have: pod/ (life cycle), network/, volume/, probe/, log/.
 *
 *     agent_start() -> follows the Pods of its node -> takes over what an earlier process left
 *                   -> on_synced() -> runs them
 *     agent_stop()  -> done(); containers continue to run, and the next process takes them over
 *
 * One worker per pod (agent/worker.h) asks the life cycle for the next step, carries it out and
 * reports its end. Everything is level-triggered: an event only makes the worker look again.
 *
 * Below data_dir/agent: pods/UID/ (volumes, root file systems, files of the pod). Logs of
 * containers are below log_dir. In the run directory of the containers (container_host_run_dir()):
 * the record of each pod, for the next process.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "agent/pod/shutdown.h"
#include "client/transport.h"
#include "client/watch_hub.h"
#include "container/images.h"
#include "io/loop.h"

struct agent;

#define AGENT_LOG_DIR "/var/log/pods"
/* Of the pods of all nodes, unless the API server gives out others: traffic there keeps its
 * address. */

enum {
    AGENT_DNS_SERVERS_MAX = 3, /* as many as resolv.conf may have */
    AGENT_PODS_MAX = 1024,     /* of a node; further ones are refused (OutOfpods) */
    /* Processes and threads of a pod, or a quarter of what the machine has numbers for: a pod that
     * forks without end leaves the others theirs. (kubelet has no limit unless podPidsLimit is
     * set.)
     */
    AGENT_POD_PIDS = 4096,
    AGENT_CIDRS_MS = 10000,    /* pods wait for the node's podCIDRs so long */
    AGENT_ORPHANS_MS = 300000, /* likewise, of directories; while others are being removed: */
    AGENT_ORPHANS_SOON_MS = 1000,
    AGENT_GROUPS_MS = 1000,   /* between two tries to remove control groups of pods that are gone */
    AGENT_STORAGE_MS = 10000, /* between two measurements of a pod that has limits of storage */
    AGENT_EVICT_GRACE_MS = 1000, /* of a pod that is evicted */
    /* Beyond the grace of a group of pods at a shutdown: for what is killed, and for reports. */
    AGENT_SHUTDOWN_REST_MS = 3000,
    AGENT_RECLAIM_MS = 60000, /* a disk is short: for unused images to go, before pods have to */
    AGENT_GC_MS = 300000,     /* between two looks at the file system of the images */
    /* Of struct agent_gc, as kubelet's. */
    AGENT_GC_HIGH_PERCENT = 85,
    AGENT_GC_LOW_PERCENT = 80,
    AGENT_GC_MIN_AGE_MS = 120000,
    AGENT_STOP_MS = 3000, /* for requests that run */
    AGENT_LOG_END_MS =
        2000, /* a container's end is reported after its log is written, but not later */
    AGENT_OUTPUT_RATE = 64 << 20 /* per second of each pipe of a container, of bytes in its log */
};

/* When images that nothing uses are removed (agent/image_gc.h). */
struct agent_gc { /* zeroed: as the enum above has it */
    unsigned high_percent,
        low_percent;     /* of the file system, used; high 100: only under pressure */
    uint64_t min_age_ms; /* since their pull */
};

/* DNS of pods (agent/cluster_dns.h). Read by agent_start(). */
struct agent_dns_opts {
    /* Addresses of the cluster's DNS, "none": pods have the machine's; none given: the agent is
     * it, with the next ones. */
    const char *const *servers;
    size_t n_servers;
    const char *const *upstreams; /* ADDR or ADDR:PORT; none: those of /etc/resolv.conf */
    size_t n_upstreams;
    const char *const *stubs; /* ZONE=ADDR[,ADDR...] */
    size_t n_stubs;
};

struct agent_opts { /* strings are copied */
    struct loop *loop;
    struct transport *transport;          /* kept */
    struct watch_hub *hub;                /* kept; over that transport */
    const struct kube_identity *identity; /* kept; of the node */
    const char *node_name;
    const char *data_dir;
    struct container_images images; /* kept until done() */
    const char *image_dir;          /* on their file system; NULL: not watched */
    struct agent_gc gc;
    const char *log_dir;        /* NULL: AGENT_LOG_DIR */
    const char *manifest_dir;   /* of static pods, which exists; NULL: none */
    const char *runtime;        /* crun or runc, a name or a path; NULL: what is installed */
    const char *cni_config_dir; /* NULL: /etc/cni/net.d */
    /* Allowed besides the safe ones (pod/admission.h); kept. */
    const char *const *sysctls;
    size_t n_sysctls;
    bool no_service_proxy; /* another program makes the addresses of Services work */
    struct agent_dns_opts dns;
    /* Of this node, the first one first; copied. */
    const char *const *addresses;
    size_t n_addresses;
    /* The Pods of the node are known. Once. NULL: not wanted. */
    void (*on_synced)(void *arg);
    /* The number of pods that run has changed. NULL: not wanted. */
    void (*on_pods)(void *arg, size_t n_pods);
    /* Images were removed. NULL: not wanted. */
    void (*on_images)(void *arg);
    /* Because of the pressure what nothing uses was removed: the disk is to be looked at again,
     * and agent_set_pressure() called if it is still short. NULL: not wanted. */
    void (*on_reclaimed)(void *arg);
    /* A warning about the node, for an Event. NULL: not wanted. */
    void (*on_node_event)(void *arg, const char *reason, const char *message);
    void *arg;
};

/* Errors: E_UNSUPPORTED: containers are not possible here, with the reason. */
int agent_start(const struct agent_opts *opts, struct agent **ret, struct err *err);
void agent_stop(struct agent *a, void (*done)(void *arg), void *arg);

/* What of the machine is below its threshold now. */
struct agent_pressure {
    bool memory, disk, processes;
    uint64_t available, minimum; /* of the first of them; bytes, inodes or processes */
};
/* One pod is evicted, unless one is still ending; again as long as it lasts. Where a disk is short,
 * what nothing uses goes first. */
void agent_set_pressure(struct agent *a, const struct agent_pressure *pressure);

/*
 * The machine is about to stop: end all pods, in the order of the plan, and admit no further ones;
 * that lasts until the process ends. done() runs once: how many were ended, and how many are left
 * because they took too long. Errors: E_CONFLICT: it does so already.
 */
int agent_shut_down(struct agent *a, const struct pod_shutdown_plan *plan,
                    void (*done)(void *arg, size_t n_ended, size_t n_left), void *arg,
                    struct err *err);
/* done() does not run any more. */
void agent_shut_down_forget(struct agent *a);
bool agent_is_shutting_down(const struct agent *a);

/* The node's podCIDRs; cluster: the ranges of which they are pieces. Errors: E_INVALID. */
int agent_set_pod_cidrs(struct agent *a, const struct str *cidrs, size_t n,
                        const struct str *cluster, size_t n_cluster, struct err *err);
/* The Node object: its labels, taints and allocatable decide which pods may run here; mirrors of
 * static pods belong to it, and are made from now on. */
void agent_set_node(struct agent *a, const struct json *node);
size_t agent_pods(const struct agent *a);
/* "crun://1.8.1"; borrowed until agent_stop(). */
const char *agent_runtime(const struct agent *a);
