/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime `oci`: containers of crun or runc, made from images, or from bundle directories
 * (config.json and rootfs), each in its own network namespace with one address.
 *
 * An image is requested with the first sandbox of a revision, is kept for the others, and is
 * requested again after a failure; sandboxes wait for it.
 *
 * An image or a bundle cannot change these: the root file system is read-only, no new privileges,
 * no capabilities, seccomp, masked paths, limits of CPU, memory and processes. It sets: program,
 * working directory, user, mounts that are no bind mounts of the host.
 *
 * The containers themselves, their directories, networks and ends are implemented in src/container.
 */
#pragma once

#include "container/images.h"
#include "fn/worker/runtime.h"
#include "guest/guest_log.h"

enum {
    OCI_SANDBOXES_MAX = 1000,
    OCI_CONFIG_MAX = 1 << 20 /* a bundle's config.json */
};

struct oci_opts { /* strings are copied */
    struct loop *loop;
    const char *dir;                /* data directory */
    struct guest_logs *logs;        /* kept; NULL: output is dropped */
    const char *const *bundle_dirs; /* bundles lie below one of these and nowhere else */
    size_t n_bundle_dirs;
    const struct container_images *images; /* copied; NULL: bundles alone */
    const char *program;                   /* NULL: crun, or runc where only that is installed */
    uint32_t n_networks;                   /* 0: CONTAINER_NETWORKS_DEFAULT */
    const char *subnet; /* of the containers, /16; NULL: CONTAINER_SUBNET_DEFAULT */
    bool no_limits; /* also allow machines without usable cgroups: CPU, memory and processes are not
                       limited there */
};

/*
 * Cheap: networks and everything else that containers need are made with the first function that is
 * a container; its creations fail if something is missing. Errors: E_UNSUPPORTED neither crun nor
 * runc, or not root. Freed by ops->close().
 */
int oci_runtime_new(const struct oci_opts *opts, struct runtime **ret, struct err *err);
/* Make all that now. Errors: E_UNSUPPORTED with what this machine lacks. */
int oci_runtime_set_up(struct runtime *rt, struct err *err);
