/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config.json of a container that a user starts from an image: `dormouse image run`
 * (container/spec.h). Pure: text out.
 *
 * Its rights are limited, whatever the image requests: own namespaces, no new privileges, the
 * capabilities that start scripts of common images need to prepare files and change the user, no
 * system calls that concern the kernel or other namespaces, and no network unless it was requested.
 */
#pragma once

#include "container/spec.h"
#include "oci/image.h"

enum { RUN_SPEC_MAX = 16 << 20 }; /* bytes: a sensible maximum of the buffer */

/* Differences from the image's configuration; a zeroed struct: none. */
struct run_spec_opts {
    struct container_strings args; /* n > 0: instead of the image's command (Cmd) */
    struct container_strings
        entrypoint;                    /* n > 0: instead of the image's; its command is not used */
    struct container_strings env;      /* NAME=VALUE; the last value of a name counts */
    struct str cwd;                    /* absolute; empty: the image's, else "/" */
    bool has_terminal;
    const char *root; /* its mounted root file system */
    const char *host_name;
    bool is_read_only;         /* the root; /tmp and /run are in memory then */
    bool has_network;          /* that of the machine; else none but its own loopback */
    bool is_in_user_namespace; /* container/spec.h */
};

/* Append it to `to`. Errors: those of container_spec_write(). */
int run_spec_make(const struct oci_run *run, const struct run_spec_opts *opts,
                  const struct container_user *user, struct buf *to, struct err *err);
