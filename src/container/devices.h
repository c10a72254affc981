/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of the machine for privileged containers. */
#pragma once

#include "base/err.h"
#include "container/spec.h"

enum {
    CONTAINER_DEVICES_MAX = 4096, /* found; further ones are left out */
    CONTAINER_DEVICES_DEPTH = 8   /* of directories in /dev */
};

struct container_devices { /* zeroed: empty */
    struct container_device *p;
    size_t n;
};
void container_devices_fini(struct container_devices *d);

/*
 * All nodes below `dir`, such as "/dev", as paths below it with `dir` in front. Left out are
 * terminals (pts, ptmx, console), shm, mqueue and fd, which containers have themselves. A single
 * node is the only one. Blocking, any thread. Errors: those of the system calls.
 */
int container_devices_find(const char *dir, struct container_devices *ret, struct err *err);
