/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a pod's /etc/resolv.conf, /etc/hosts and /etc/hostname, and its host name, as
 * kubelet makes them. Pure.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum {
    POD_FILES_NAMESERVERS_MAX = 3,
    POD_FILES_SEARCHES_MAX = 32,
    POD_FILES_SEARCH_BYTES_MAX = 2048, /* of the line without "search " */
    POD_FILES_SEARCH_MAX = 253,        /* bytes of one search domain; longer ones are left out */
    POD_FILES_OPTIONS_MAX = 64,
    POD_FILES_HOST_CONF_MAX = 1 << 20, /* of the node's resolv.conf: E_LIMIT beyond */
    POD_FILES_HOSTNAME_MAX = 63,       /* what a DNS label holds */
    POD_FILES_NODENAME_MAX = 64,       /* what uname(2) holds: of an FQDN or hostnameOverride */
    POD_FILES_TEXT_MAX = 256 << 10     /* of a text: -EMSGSIZE beyond */
};

/* ---- resolv.conf ---- */

enum pod_files_policy {
    POD_FILES_CLUSTER_FIRST,
    POD_FILES_CLUSTER_FIRST_WITH_HOST_NET,
    POD_FILES_DEFAULT,
    POD_FILES_NONE
};

struct pod_files_option {
    struct str name, value; /* value.p NULL: it has none */
};

struct pod_files_dns {
    enum pod_files_policy policy;
    bool host_network;
    struct str namespace; /* of the pod */
    /* Of the cluster; none: the node's resolv.conf counts, with a warning. */
    const struct str *cluster_nameservers;
    size_t n_cluster_nameservers;
    struct str cluster_domain; /* "cluster.local"; "": no search domains of the cluster */
    struct str host_conf;      /* text of the node's resolv.conf; "": none */
    /* dnsConfig of the pod. */
    const struct str *nameservers, *searches;
    const struct pod_files_option *options;
    size_t n_nameservers, n_searches, n_options;
};

/* What an event of the pod should say; "" where nothing was left out. */
struct pod_files_warnings {
    char missing[256];     /* reason MissingClusterDNS */
    char nameservers[512]; /* reason DNSConfigForming */
    char searches[2560];   /* reason DNSConfigForming */
};

/* Append the text. ret_warnings may be NULL. Errors: E_LIMIT, -EMSGSIZE. */
int pod_files_resolv_conf(const struct pod_files_dns *dns, struct buf *to,
                          struct pod_files_warnings *ret_warnings, struct err *err);

/* ---- host name ---- */

struct pod_files_name {
    struct str name, namespace;
    struct str hostname, subdomain; /* of the spec; "": none */
    struct str hostname_override;   /* of the spec; "": none */
    struct str cluster_domain;
    bool is_fqdn; /* setHostnameAsFQDN */
};

struct pod_files_hostname {
    char name[POD_FILES_NODENAME_MAX + 1]; /* what uname(2) says in the pod, and /etc/hostname */
    char short_name[POD_FILES_NODENAME_MAX + 1];
    char domain[512]; /* "SUBDOMAIN.NAMESPACE.svc.DOMAIN"; "": none */
};

/*
 * The name of a pod with a network of its own: `hostname`, else the pod's name cut to 63 bytes
 * without '-' or '.' at its end. E_INVALID: setHostnameAsFQDN makes it longer than 64 bytes, which
 * stops the pod from starting.
 */
int pod_files_hostname(const struct pod_files_name *p, struct pod_files_hostname *ret,
                       struct err *err);

/* ---- hosts ---- */

struct pod_files_alias {
    struct str ip;
    const struct str *names;
    size_t n_names;
};

struct pod_files_hosts {
    const struct pod_files_hostname *name;
    const char *const *ips; /* of the pod */
    size_t n_ips;
    const struct pod_files_alias *aliases;
    size_t n_aliases;
    bool host_network;
    struct str node_hosts; /* with host_network: the node's file, which aliases are added to */
};

/* Append the text. -EMSGSIZE. */
int pod_files_hosts(const struct pod_files_hosts *h, struct buf *to);
