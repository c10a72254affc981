/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The networks of a node's pods.
 *
 *     struct pod_networks    of the node: directories, address ranges, a bounded number of changes
 * at a time struct pod_network     of one pod: a network namespace with a path, and its addresses
 *
 * A driver (network/driver.h) connects a namespace. CNI: the plug-ins of the first network
 * configuration in config_dir, whenever there is one. Else NATIVE: a pair of virtual Ethernet
 * devices and a route per pod, made by this process, which needs nothing installed.
 *
 * A record of each network stands in state_dir, written before the first change and updated after
 * the last one. With it a process that starts again takes over the networks of running pods
 * (pod_network_adopt()) and removes those whose pods are gone (pod_networks_collect()).
 *
 *     state_dir/netns/ID      the namespace, mounted
 *     state_dir/records/ID    what was made and how to remove it (JSON, mode 0600)
 *
 * Loop thread only. Changes run on pool threads and in plug-ins' processes.
 */
#pragma once

#include "base/str.h"
#include "io/address.h"
#include "io/loop.h"

struct pod_networks;
struct pod_network;

enum {
    POD_NETWORK_ID_MAX = 128, /* bytes of an id: what plug-ins accept as a container's */
    POD_NETWORK_IPS_MAX = 8,  /* of a pod; further ones of a plug-in's result are left out */
    POD_NETWORK_IP_BYTES = 46,
    POD_NETWORK_PORTS_MAX = 256, /* host ports of a pod */
    POD_NETWORKS_BUSY = 4,       /* networks that are made or removed at a time; others wait */
    POD_NETWORKS_RETRY_MS =
        10000,                 /* between attempts to remove what is left over; longer each time */
    POD_NETWORK_CIDRS_MAX = 2, /* of a node: one for each family */
    POD_NETWORK_DNS_MAX = 32   /* entries of each list in a plug-in's answer */
};

enum pod_network_mode {
    POD_NETWORK_AUTO, /* CNI where there is a configuration, else native */
    POD_NETWORK_CNI,  /* without a configuration a start fails with E_UNSUPPORTED */
    POD_NETWORK_NATIVE
};

struct pod_networks_opts {
    struct loop *loop;
    /* Where the mounts are, on a file system that is empty after a boot, such as
     * "/run/dormouse/pods"; made if it is missing. */
    const char *state_dir;
    enum pod_network_mode mode;
    const char *config_dir;      /* NULL: /etc/cni/net.d */
    const char *const *bin_dirs; /* NULL at the end; NULL: /opt/cni/bin, /usr/lib/cni */
    uint32_t mtu;                /* of native networks; 0: the kernel's default, 1500 */
};

/*
 * A process needs no privilege for this call, but does for networks. Reads the records that are
 * there. cidrs: the first range of pods, see pod_networks_set_cidrs(); none: 10.88.0.0/16.
 */
int pod_networks_new(const struct pod_networks_opts *opts, const struct str *cidrs, size_t n_cidrs,
                     struct pod_networks **ret, struct err *err);
/*
 * cidrs: the node's podCIDRs, one IPv4 and one IPv6 at most, in the order in which a pod's
 * addresses are listed. For native networks made from now on; others keep their addresses. cluster:
 * the ranges of pods on any node, at most as many: native traffic to them, and to the node's own,
 * keeps the pod's address, soon also that of pods that run. E_INVALID.
 */
int pod_networks_set_cidrs(struct pod_networks *p, const struct str *cidrs, size_t n_cidrs,
                           const struct str *cluster, size_t n_cluster, struct err *err);
/* Of native networks that are made from now on. */
struct pod_networks_view {
    /* By which pods reach this machine; of each family at most one. None: a CNI configuration
     * decides. */
    struct address gateways[POD_NETWORK_CIDRS_MAX];
    size_t n_gateways;
    struct address_net pods[2 * POD_NETWORK_CIDRS_MAX]; /* of the node, of the cluster */
    size_t n_pods;
};
void pod_networks_view(const struct pod_networks *p, struct pod_networks_view *ret);
/* done() runs once running changes have ended. The networks stay; their objects were freed by
 * pod_network_stop() or pod_network_leave() before. */
void pod_networks_close(struct pod_networks *p, void (*done)(void *arg), void *arg);
/*
 * Remove all networks that have a record or a namespace and no object: call it after the
 * pod_network_adopt() of every known pod. From then on, what could not be removed is tried again
 * after POD_NETWORKS_RETRY_MS, and longer each time; failures are logged. done: once it is over;
 * may be NULL.
 */
void pod_networks_collect(struct pod_networks *p, void (*done)(void *arg), void *arg);

enum pod_network_protocol { POD_NETWORK_TCP, POD_NETWORK_UDP, POD_NETWORK_SCTP };

struct pod_network_port {
    uint16_t host_port, container_port;
    enum pod_network_protocol protocol;
    struct str host_ip; /* "": every address of the node */
};

struct pod_network_opts {
    struct str id; /* of the sandbox: letters, digits, '-', '_', '.'; the pod's UID */
    struct str namespace, name, uid; /* of the pod */
    const struct pod_network_port *ports;
    size_t n_ports;
    /* From annotations kubernetes.io/ingress-bandwidth and egress-bandwidth, in bits a second; 0:
     * none. CNI plug-ins with that capability get them; native networks refuse them
     * (E_UNSUPPORTED). */
    uint64_t ingress_bits, egress_bits;
    const char
        *user; /* path of the user namespace that it belongs to; NULL: that of this process */
    /* Runs exactly once, on a later turn. r < 0: nothing is left of it; the object has to be freed
     * by pod_network_stop() all the same. */
    void (*on_ready)(void *arg, int r, const struct err *err);
    void *arg;
};

/*
 * Make the network of a pod. A record or namespace of the same id from before is removed first.
 * Everything in opts is copied. Errors: E_INVALID (id), E_LIMIT (ports), -EEXIST: there is an
 * object with this id. on_ready():
 *   -EADDRINUSE    another pod of this node has one of the host ports
 *   E_LIMIT        no address is free
 *   E_UNSUPPORTED  what is missing on this machine
 *   other codes    with the name, code and message of the plug-in, or what the kernel said
 */
int pod_network_start(struct pod_networks *p, const struct pod_network_opts *opts,
                      struct pod_network **ret, struct err *err);
/*
 * Take over the network of a pod that an earlier process made; ready at once. -ENOENT: there is
 * none, or it is not complete; pod_network_start() makes a new one.
 */
int pod_network_adopt(struct pod_networks *p, struct str id, struct pod_network **ret,
                      struct err *err);
/*
 * Remove the network and free the object; no process may use the namespace any more. Any time, also
 * while it starts; then on_ready() does not run. done: exactly once, on a later turn, when
 * everything is removed (r 0), or r < 0: something is left, which is tried again by and after
 * pod_networks_collect(). May be NULL.
 */
void pod_network_stop(struct pod_network *n, void (*done)(void *arg, int r, const struct err *err),
                      void *arg);
/* When the process ends: free the object and keep the network, if it is ready; else as
 * pod_network_stop(). Nothing else can be done with this id until then. */
void pod_network_leave(struct pod_network *n);

/* ---- of a network that is ready; borrowed until it is freed ---- */
const char *pod_network_netns(const struct pod_network *n); /* a path */
/* Without prefix lengths; the first is the pod's primary one. */
const char *const *pod_network_ips(const struct pod_network *n, size_t *ret_n);
/* What a plug-in answered for resolv.conf; all empty with native networks. */
struct pod_network_dns {
    const char *nameservers[POD_NETWORK_DNS_MAX], *searches[POD_NETWORK_DNS_MAX],
        *options[POD_NETWORK_DNS_MAX];
    size_t n_nameservers, n_searches, n_options;
};
const struct pod_network_dns *pod_network_dns(struct pod_network *n);
