/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a container (OCI config.json) from its pod, its image and what the node has
 * made for it: which user, capabilities, mounts and limits it has. Pure.
 */
#pragma once

#include "agent/pod/env.h"
#include "agent/pod/resources.h"
#include "agent/volume/volume.h"
#include "container/spec.h"

struct agent_config_in { /* borrowed */
    const struct pod_spec *pod;
    const struct pod_container *container;
    const struct pod_facts *facts;
    const struct pod_environment *env;
    struct str image_config;                 /* container_image.config */
    size_t image_program;                    /* container_image.n_program */
    const struct container_user *image_user; /* found with agent_config_user() */
    const char *root;                        /* of its files */
    const char *etc;                         /* directory of hosts, hostname, resolv.conf */
    const char *termination_log;             /* a file of the node */
    const char *host_name;
    const struct volume_mount *mounts;
    size_t n_mounts;
    const struct container_machine *machine;
    uint64_t memory_bytes;                  /* of the machine */
    int oom_adj_min;                        /* that the agent may set */
    struct str seccomp;                     /* the profile of Localhost; empty: none */
    const char *ipc, *pid;                  /* paths of namespaces of the pod; NULL: its own */
    const struct container_device *devices; /* of a privileged container */
    size_t n_devices;
    const char *shm; /* a directory for /dev/shm; NULL: its own */
    /* A user namespace, whose ids 0 to n - 1 are those from users_base on; NULL: ours. */
    const char *user;
    uint32_t users_base, n_users;
};

struct agent_config_made {
    uint32_t uid, gid;
    int stop_signal; /* 0: SIGTERM */
};

/* Append it. Errors: E_INVALID with what the pod or the image has wrong, E_UNSUPPORTED. */
int agent_config_make(struct arena *a, const struct agent_config_in *in, struct buf *to,
                      struct agent_config_made *ret, struct err *err);

/* Without a limit of processes. */
struct container_limits agent_config_limits(const struct pod_cgroup *g);

/*
 * Which user to look up in the image's files: "" is the one that the image names, whose numbers are
 * in its configuration already; then *ret_finds is false. In the arena.
 */
const char *agent_config_user(struct arena *a, const struct pod_spec *pod,
                              const struct pod_container *c, bool *ret_finds);
