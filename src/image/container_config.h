/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config.json (OCI runtime specification 1.0) of a container that a person starts from an
 * image: `dormouse image run`. Pure: text out.
 *
 * What it may do is little, whatever the image says: own namespaces, no new privileges, the
 * capabilities that start scripts of usual images need to prepare files and change the user, no
 * system calls that concern the kernel or other namespaces, and no network unless it was asked for.
 */
#pragma once

#include "image/runtime_config.h"

struct container_config_opts {
    struct runtime_config_opts process; /* capabilities: not used */
    const char *root;                   /* its mounted root file system */
    const char *host_name;
    bool is_read_only; /* the root; /tmp and /run are in memory then */
    bool has_network;  /* that of the machine; else none but its own loopback */
};

/* Append it to `to`. Errors: those of runtime_config_process(). */
int container_config_make(const struct oci_run *run, const struct container_config_opts *opts,
                          const struct runtime_config_user *user, struct buf *to, struct err *err);
