/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of a pod's network, in memory and as a file (network.h). The file is written before
 * the network is made and again once it is complete, by a rename: it survives this process, not the
 * machine, and neither do namespaces.
 */
#pragma once

#include "agent/network/network.h"
#include "base/mem.h"
#include "codec/json.h"

enum pod_record_driver { POD_RECORD_NATIVE, POD_RECORD_CNI };

enum { POD_RECORD_BYTES_MAX = 1 << 20 };

struct pod_record_port {
    uint16_t host_port, container_port;
    enum pod_network_protocol protocol;
    struct str host_ip;
};

struct pod_record_dns {
    struct str *nameservers, *searches, *options;
    size_t n_nameservers, n_searches, n_options;
};

/* Owned by whoever made it; everything that it points to is in its arena. */
struct pod_record {
    struct arena arena;
    struct str id, namespace, name, uid;
    enum pod_record_driver driver;
    bool is_complete;
    struct str *ips; /* as text, without prefix lengths */
    size_t n_ips;
    struct pod_record_port *ports;
    size_t n_ports;
    uint64_t ingress_bits, egress_bits;
    struct pod_record_dns dns;
    /* CNI: the configuration list that was used, and the result of its last plug-in. */
    const struct json *config, *result;
};

struct pod_record *pod_record_new(const struct pod_network_opts *opts);
void pod_record_free(struct pod_record *rec);
DEFINE_SCOPED(pod_record, pod_record_free)

/* As JSON, and back. E_PARSE, E_INVALID, E_LIMIT. */
int pod_record_encode(const struct pod_record *rec, struct buf *to);
int pod_record_decode(struct str text, struct pod_record **ret, struct err *err);

/* The file `id` in dir. Any thread. */
int pod_record_write(const char *dir, const struct pod_record *rec, struct err *err);
int pod_record_read(const char *dir, const char *id, struct pod_record **ret, struct err *err);
int pod_record_remove(const char *dir, struct str id, struct err *err);

/* What plug-ins accept as the id of a container, and no path. */
bool pod_record_is_id(struct str id);
