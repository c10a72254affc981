/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What connects the namespaces of pods: an interface with two implementations, native
 * (pod_native.h) and CNI plug-ins (pod_cni.h). network.h decides what happens when; a driver
 * carries out one change of one network.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/network/pod_record.h"

/* Directories of the node, which all drivers share; kept until the driver is closed. */
struct pod_network_places {
    struct loop *loop;
    const char *netns_dir, *records_dir;
};

/* One change under way, made and owned by the caller; kept until done(). */
struct pod_network_change {
    struct pod_record *rec; /* belongs to the driver until done() */
    char *netns;            /* path of the namespace */
    char *user;             /* of add(): of the user namespace that it belongs to; NULL: ours */
    /* Exactly once, on a later turn than that of the start. */
    void (*done)(struct pod_network_change *c, int r, const struct err *err);
    void *state; /* the driver's */
};

struct pod_network_driver {
    /*
     * Make the namespace, connect it, write the record before and after. rec: as pod_record_new()
     * made it; the driver fills in ips and what it needs to remove the network again. After a
     * failure the caller starts a removal.
     */
    void (*add)(void *driver, struct pod_network_change *c);
    /* Remove everything that add() made or may have made, also half of it or nothing, and the
     * record as the last. */
    void (*remove)(void *driver, struct pod_network_change *c);
    /* A record from an earlier process, or one that is freed: its addresses and ports are in use,
     * or free again. May be NULL. */
    void (*keep)(void *driver, const struct pod_record *rec);
    void (*release)(void *driver, const struct pod_record *rec);
};
