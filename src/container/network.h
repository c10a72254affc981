/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of network namespaces for containers, created in advance on worker threads, so that no
 * request waits for one.
 *
 *     host:      dmf<n>   gateway/32   route to address/32
 *                  |
 *     namespace: eth0     address/32   default route by the gateway;  lo
 *
 * Containers of the pool cannot reach each other, only this machine and what it forwards to: these
 * networks are for programs that are called through a gateway. The owner of a pod creates a
 * separate network for it.
 *
 * All host ends have the same address, the first of the subnet. A namespace is only held by a
 * descriptor: when this process ends, for whatever reason, the kernel frees those without
 * containers, with their devices. After its container and all processes have ended, a namespace is
 * used again.
 *
 * Loop thread only.
 */
#pragma once

#include "base/list.h"
#include "io/loop.h"

#include <stdint.h>

struct container_networks;

struct container_network {
    struct list node;
    int ns_fd;
    uint32_t address; /* IPv4, host byte order */
    uint32_t index;   /* of the device on the host; 0: not known (taken over) */
};

struct container_network_wait { /* of a caller that waits; zeroed before first use */
    struct list node;
    /* n NULL: none can be made, see err. */
    void (*run)(struct container_network_wait *w, struct container_network *n,
                const struct err *err);
};

enum {
    CONTAINER_NETWORKS_MAX = 1024,
    CONTAINER_NETWORK_FILLS = 2,       /* made at a time */
    CONTAINER_NETWORKS_REST_MS = 60000 /* with none in use for so long, all but one go */
};

/*
 * subnet: "10.213.0.0/16" or such, always /16. Makes the first at once, to see whether it can.
 * keep: that many stand ready. Errors: E_INVALID the subnet; E_UNSUPPORTED with what is missing.
 */
int container_networks_new(struct loop *loop, const char *subnet, uint32_t keep,
                           struct container_networks **ret, struct err *err);
/* All have been given back. Waits for threads. */
void container_networks_close(struct container_networks *p, void (*done)(void *arg), void *arg);

/* NULL: none is ready; use the next one. Given back by container_network_put(). */
struct container_network *container_network_get(struct container_networks *p);
/* run() comes on a later turn. */
void container_network_wait(struct container_networks *p, struct container_network_wait *w);
void container_network_cancel(struct container_network_wait *w);
void container_network_put(struct container_networks *p, struct container_network *n);
/* Instead of container_network_put(): something may still live in it. It is not used again, and its
 * devices go with what lives there. */
void container_network_drop(struct container_networks *p, struct container_network *n);
/* That of a running container of an earlier process, by one of its processes. */
int container_network_adopt(struct container_networks *p, int pid, uint32_t address,
                            struct container_network **ret, struct err *err);
