/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node, its pods and containers use, as plain numbers, and the texts in which a kubelet
 * reports it: /stats/summary (stats.k8s.io/v1alpha1), /metrics/resource and /metrics/cadvisor.
 * Pure.
 */
#pragma once

#include "base/buf.h"

/* A number that is not known is AGENT_STATS_UNKNOWN: it is left out of all texts. */
#define AGENT_STATS_UNKNOWN UINT64_MAX

struct agent_stats_cpu {
    int64_t wall_us; /* when it was measured; 0: never, and nothing of it is reported */
    uint64_t usage_ns, nano_cores; /* since the start; over the last seconds */
    uint64_t user_ns, system_ns;
    uint64_t periods, throttled_periods, throttled_ns; /* by a limit */
    uint64_t limit_quota_us, limit_period_us, shares;
};
struct agent_stats_memory {
    int64_t wall_us;
    uint64_t usage, working_set, rss, cache, swap, mapped_file, available; /* bytes */
    uint64_t page_faults, major_page_faults, failures, max_usage, limit;
};
struct agent_stats_interface {
    const char *name;
    uint64_t rx_bytes, rx_errors, rx_packets, rx_dropped;
    uint64_t tx_bytes, tx_errors, tx_packets, tx_dropped;
};
struct agent_stats_network {
    int64_t wall_us;
    const struct agent_stats_interface *p; /* the first one is the default */
    size_t n;
};
struct agent_stats_fs {
    int64_t wall_us;
    uint64_t available, capacity, used; /* bytes */
    uint64_t inodes_free, inodes, inodes_used;
};

struct agent_stats_volume {
    struct str name, claim; /* claim: "" or the name of the PersistentVolumeClaim */
    struct agent_stats_fs fs;
};

struct agent_stats_container {
    struct str name, id, image;
    int64_t start_us; /* wall clock */
    struct agent_stats_cpu cpu;
    struct agent_stats_memory memory;
    struct agent_stats_fs rootfs, logs;
    uint64_t processes, threads, restarts, oom_kills;
};

struct agent_stats_pod {
    struct str ns, name, uid;
    int64_t start_us;
    struct agent_stats_cpu cpu;
    struct agent_stats_memory memory;
    struct agent_stats_network network;
    struct agent_stats_fs ephemeral;
    uint64_t processes;
    const struct agent_stats_volume *volumes;
    size_t n_volumes;
    const struct agent_stats_container *containers;
    size_t n_containers;
};

struct agent_stats {
    struct str node;
    int64_t start_us; /* of the node */
    struct agent_stats_cpu cpu;
    struct agent_stats_memory memory;
    struct agent_stats_network network;
    struct agent_stats_fs fs, image_fs;
    uint64_t max_pid, processes;  /* of the system */
    uint64_t cores, memory_bytes; /* of the machine */
    const struct agent_stats_pod *pods;
    size_t n_pods;
};

/* All numbers unknown: the start of a struct that is filled in. */
void agent_stats_init_volume(struct agent_stats_volume *v);
void agent_stats_init_interface(struct agent_stats_interface *i);
void agent_stats_init_container(struct agent_stats_container *c);
void agent_stats_init_pod(struct agent_stats_pod *p);
void agent_stats_init(struct agent_stats *s);

/* Append; failure is sticky in the buffer. */
void agent_stats_summary(struct buf *to, const struct agent_stats *s, bool only_cpu_and_memory);
void agent_stats_resource(struct buf *to, const struct agent_stats *s);
/* The same if the numbers could not be had. */
void agent_stats_resource_failed(struct buf *to);
void agent_stats_cadvisor(struct buf *to, const struct agent_stats *s);
