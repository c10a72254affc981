/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node's part of a cluster: its Node object with the status of the machine, its Lease in
 * kube-node-lease, and whether the machine runs short of memory, disk or processes.
 *
 *     registration_start() -> creates the Node, or takes over the one of this name
 *                          -> on_registered() -> renews the Lease and reports the status
 *     registration_stop()  -> done()
 *
 * One timer is armed: for whichever is due first of the Lease, the report of an unchanged status,
 * a look at the disk while pods run, and a retry. A change (registration_changed(), a condition) is
 * reported at once. docs/internals/registration.md says how rarely the timer runs.
 *
 * Loop thread only; callbacks never run inside a function of this header, except those that
 * registration_opts marks as called for a report.
 */
#pragma once

#include "client/transport.h"
#include "client/watch_hub.h"
#include "codec/json.h"
#include "io/loop.h"

enum {
    REGISTRATION_PODS_DEFAULT = 110,
    REGISTRATION_LABELS_MAX = 256,
    REGISTRATION_TAINTS_MAX = 64,
    REGISTRATION_ADDRESSES_MAX = 2, /* --node-ip: one for each family */
    REGISTRATION_IMAGES_MAX = 50,   /* in the status, the largest; as kubelet */
    REGISTRATION_IMAGE_NAMES_MAX = 5,
    REGISTRATION_LEASE_S = 40,  /* leaseDurationSeconds; renewed every quarter of it */
    REGISTRATION_REPORT_S = 300 /* a status that did not change is reported this often */
};

struct registration;

struct registration_label {
    struct str key, value;
};
struct registration_taint {
    struct str key, value, effect; /* "NoSchedule", "PreferNoSchedule", "NoExecute" */
};
/* "KEY=VALUE"; "KEY=VALUE:EFFECT" or "KEY:EFFECT". Views of the text. E_INVALID. */
int registration_read_label(struct str text, struct registration_label *ret, struct err *err);
int registration_read_taint(struct str text, struct registration_taint *ret, struct err *err);

/* An image of the node's store, for the status. */
struct registration_image {
    const struct str *names; /* "docker.io/library/nginx:1.27", "...@sha256:..." */
    size_t n_names;
    uint64_t size_bytes;
};

/* What is short; several at once are possible. */
struct registration_pressure {
    bool memory, disk, pid;
    /*
     * Right now below the threshold: the caller has to evict. The members above stay set for five
     * minutes longer, so that the condition does not change all the time.
     */
    bool memory_now, disk_now, pid_now;
    const char *signal;          /* of the first that is short, "memory.available"; "": none */
    uint64_t available, minimum; /* of that signal; bytes, inodes or processes */
};

struct registration_reserved { /* not for pods: allocatable is what is left of capacity */
    uint64_t cpu_milli, memory_bytes, storage_bytes;
};

struct registration_opts {
    struct loop *loop;
    struct transport *transport;          /* kept */
    const struct kube_identity *identity; /* copied; NULL: the transport's own */
    /* Over the transport; kept. The Node is followed: on_node() runs for each change of it, and
     * what others write into its conditions is set right at once. NULL: it is not. */
    struct watch_hub *hub;
    const char *node_name; /* all strings are copied */
    const char *root;      /* where /proc, /sys and /etc are; NULL: "" */
    const char *data_dir;  /* on nodefs: volumes, logs and what containers write */
    const char *image_dir; /* on imagefs: the node store; NULL: data_dir */
    const char *server;    /* "https://10.0.0.1:6443": the machine's address is the one from which
                              it reaches this host; NULL: the one of the default route */
    const struct str *addresses; /* --node-ip: these instead */
    size_t n_addresses;
    const struct registration_label *labels;
    size_t n_labels;
    const struct registration_taint *taints; /* of a Node that is created */
    size_t n_taints;
    const char *runtime;   /* "crun://1.8.1", containerRuntimeVersion; NULL: "dormouse://" */
    uint16_t kubelet_port; /* status.daemonEndpoints; 0: there is none */
    uint32_t max_pods;     /* 0: REGISTRATION_PODS_DEFAULT */
    struct registration_reserved reserved;
    /* leaseDurationSeconds; 0: REGISTRATION_LEASE_S, or with `embedded` three reports long. */
    uint32_t lease_s;
    /* The API server is part of this process, so that the node cannot end without it: the Lease is
     * renewed with the reports of the status alone. */
    bool embedded;
    bool records_events; /* Events about the Node, as kubelet's: Starting, NodeReady, Rebooted */

    /* Called for a report. NULL where there is nothing to say. */
    /* Why the node is not ready, for a person; NULL: it is ready. Borrowed until it returns. */
    const char *(*not_ready)(void *arg);
    /* Images, the largest first, in the arena; at most REGISTRATION_IMAGES_MAX are used. */
    size_t (*images)(void *arg, struct arena *a, const struct registration_image **ret);

    /* The Node exists and is ours; the Lease and the first status follow. Once. NULL: none. */
    void (*on_registered)(void *arg);
    /* The Node as the server has it now, after each answer that brings it, and with `hub` after
     * each change: labels, podCIDRs, taints. May repeat a known state. Borrowed. NULL: not wanted.
     */
    void (*on_node)(void *arg, const struct json *node);
    /* What is short has changed, or is still below its threshold at the next look. NULL: none. */
    void (*on_pressure)(void *arg, const struct registration_pressure *p);
    /* registration_addresses() has changed. NULL: not of interest. */
    void (*on_address)(void *arg);
    void *arg;
};

/* Errors: E_INVALID: the name, a label, a taint or an address. */
int registration_start(const struct registration_opts *opts, struct registration **ret,
                       struct err *err);
/*
 * Ends; requests that run are cancelled. The Node stays, its Lease is not released: it expires.
 * done() runs from the loop, after which nothing calls back. NULL: done() alone.
 */
void registration_stop(struct registration *r, void (*done)(void *arg), void *arg);

/* Something that a report holds has changed: images, readiness. Reported soon, once for several
 * calls. */
void registration_changed(struct registration *r);
/* An Event about the Node, of the type Warning; with records_events. */
void registration_warn(struct registration *r, const char *reason, const char *message);
/* nodeInfo.containerRuntimeVersion: from now on; copied. Reported soon. */
void registration_set_runtime(struct registration *r, const char *runtime);
/* status.daemonEndpoints: from now on. Reported soon. */
void registration_set_kubelet_port(struct registration *r, uint16_t port);
/*
 * So many pods run now. With pods the disk is watched as often as it could fill up; a call is also
 * the moment to look at it.
 */
void registration_set_pods(struct registration *r, size_t n_pods);
/* Look at memory, disk and processes now, and report changes: after an eviction, or when a write
 * failed for lack of space. */
void registration_look(struct registration *r);

bool registration_is_registered(const struct registration *r);
struct registration_pressure registration_pressure(const struct registration *r);
/* The machine's addresses as they are reported, the first one first; n: how many. */
const char *const *registration_addresses(const struct registration *r, size_t *n);
