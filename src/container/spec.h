/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config.json (OCI runtime specification 1.0, config.md) of a container, for functions, for
 * images that a user starts, and for pods. Pure: text out.
 *
 * All have a separate mount namespace, masked paths, no core files, and no new privileges unless
 * requested. The struct has the differences; a zeroed member is the stricter choice.
 *
 * The control group denies all devices except those that runtimes add and those of the caller.
 * Without one (`machine` NULL, or a host with no_limits) a node in the root file system can be
 * opened: the caller must remove them, or mount it with nodev in a way that the runtime cannot
 * undo.
 *
 * Not implemented: AppArmor and SELinux, ambient capabilities, huge pages.
 */
#pragma once

#include "base/buf.h"
#include "container/container.h"
#include "container/syscalls.h"
#include "container/user.h"

enum {
    CONTAINER_FILES_OPEN_DEFAULT = 4096, /* limit of open files */
    CONTAINER_SHM_BYTES = 64 << 20       /* of /dev/shm */
};

struct container_strings { /* strings may have any bytes; with NUL they are E_INVALID */
    const struct str *p;
    size_t n;
};

/* What runs. */
struct container_process {
    const struct container_user *user;
    const struct container_strings *args; /* lists, one after the other */
    size_t n_args;
    const struct container_strings *env; /* lists of NAME=VALUE; the last value of a name counts.
                                          * PATH is added where none of them has it. */
    size_t n_env;
    struct str cwd; /* absolute; empty: "/" */
    bool has_terminal;
    bool gains_privileges;           /* programs with set-user-ID keep their effect */
    const char *const *capabilities; /* "CAP_CHOWN", NULL at the end; NULL: none */
    uint64_t n_files;                /* 0: CONTAINER_FILES_OPEN_DEFAULT */
    bool keeps_limits;      /* of open files and core files: those of the process that starts it */
    uint16_t columns, rows; /* of the terminal; 0: not set */
    int oom_score_adj;      /* 0: that of the caller */
};

enum container_mount_kind {
    CONTAINER_MOUNT_TMPFS,
    CONTAINER_MOUNT_BIND, /* `source` of this machine, read-only */
    CONTAINER_MOUNT_FILE, /* a file of the container (container_opts.files), read-only */
    /* `source` of this machine with what is mounted below it. Programs can be started from it,
     * with set-user-ID, and devices opened, if the mount of the machine allows it. */
    CONTAINER_MOUNT_VOLUME
};

/* Of mounts made later: below the source on the machine, and in the container below the mount. */
enum container_propagation {
    CONTAINER_PROPAGATION_PRIVATE, /* each side sees its own only */
    CONTAINER_PROPAGATION_SLAVE,   /* the container sees those of the machine */
    CONTAINER_PROPAGATION_SHARED   /* both see all */
};

struct container_mount { /* besides /proc, /dev, /dev/shm and /sys */
    enum container_mount_kind kind;
    struct str where;  /* absolute; as `source`, without NUL */
    struct str source; /* BIND, VOLUME */
    bool is_writable;  /* VOLUME */
    bool is_mapped; /* VOLUME: owners by the user namespace; crun on a file system that can map */
    bool is_deeply_read_only;               /* VOLUME: what is mounted below it, too. Linux 5.12. */
    enum container_propagation propagation; /* VOLUME. The source must be in a shared mount for
                                             * SHARED. */
    size_t file;                            /* FILE: its index */
    uint32_t mode;                          /* TMPFS, as 01777 */
    uint64_t size_bytes;                    /* TMPFS; 0: as much as the control group allows */
};

struct container_sysctl { /* "net.ipv4.ip_forward", of the container's own namespaces only */
    struct str name, value;
};

struct container_device {
    struct str path; /* in the container */
    bool is_block;
    uint32_t major, minor, mode, uid, gid; /* mode: as 0660 */
};

/* `n` ids from `container` in the container are those from `machine` of this machine. */
struct container_id_range {
    uint32_t container, machine, n;
};
struct container_id_ranges {
    const struct container_id_range *p;
    size_t n;
};

/* For namespaces of container_spec: that of this process. */
#define CONTAINER_NAMESPACE_MACHINE ""

enum container_spec_network {
    CONTAINER_SPEC_LOOPBACK, /* its own loopback device and nothing else */
    CONTAINER_SPEC_HOLE,     /* CONTAINER_HOLE_NETWORK */
    CONTAINER_SPEC_MACHINE   /* that of the machine */
};

struct container_spec {
    struct container_process process;
    const char *root; /* an absolute path of this machine; its mount points: container/root.h */
    bool is_root_writable;
    const char *host_name;
    const struct container_mount *mounts;
    size_t n_mounts;
    bool has_terminals; /* /dev/pts and, with its own IPC namespace, /dev/mqueue too */
    /* Of the caller, which may have no group for terminals (5): their owner is the opening user. */
    bool is_in_user_namespace;
    enum container_spec_network network;
    /* Paths of namespaces to join, such as "/proc/PID/ns/ipc" of another container; NULL: new ones;
     * CONTAINER_NAMESPACE_MACHINE. Without its own PID namespace, a program may leave processes at
     * its end; the control group ends them: E_UNSUPPORTED if there is none. */
    const char *pid, *ipc, *uts; /* with `uts` host_name is not set */
    /* With ranges a new user namespace, or the one at the path `user`: the root file system,
     * volumes and namespaces to join must belong to it. */
    const char *user;
    struct container_id_ranges uids, gids;
    uint64_t shm_bytes; /* of /dev/shm; 0: CONTAINER_SHM_BYTES */
    struct str shm;     /* a directory of this machine instead; empty: none. With `user` mapped */
    bool has_cgroup;    /* its own control group at /sys/fs/cgroup, read-only unless privileged */
    bool is_unmasked;   /* no path of /proc and /sys is hidden or read-only */
    /* Also unmasked, /sys can be written, all devices can be opened. Capabilities, system calls and
     * the nodes of devices (container_devices_find()) are the caller's. */
    bool is_privileged;
    const struct container_sysctl *sysctls;
    size_t n_sysctls;
    const struct container_device *devices; /* besides null, zero, full, random, urandom, tty */
    size_t n_devices;
    enum container_syscalls syscalls;
    struct str seccomp; /* with CONTAINER_SYSCALLS_PROFILE: container/syscall_profile.h */
    /* With a control group CONTAINER_HOLE_GROUP and limits. NULL: no control group. */
    const struct container_machine *machine;
    struct container_limits limits; /* a quota of CPU throttles the start, too */
};

/*
 * Append it. Errors: those of container_spec_write_process(), of container_syscall_profile_write(),
 * -EMSGSIZE (of `to`), E_INVALID (a sysctl), E_UNSUPPORTED (`pid` without a control group).
 */
int container_spec_write(const struct container_spec *spec, struct buf *to, struct err *err);

/* Its `process`, a JSON object. Errors: those of container_spec_write_program(), -EMSGSIZE;
 * E_INVALID: it has no program. */
int container_spec_write_process(const struct container_process *p, struct buf *to,
                                 struct err *err);
/*
 * The members of `process` that an image or a bundle decides: user, args, env, cwd, without braces;
 * args may be empty here. Errors: E_INVALID (a string with NUL, a variable without a name, a
 * directory that is not absolute).
 */
int container_spec_write_program(const struct container_process *p, struct buf *to,
                                 struct err *err);

/* Replace the holes. `with`: by enum container_hole, plain text that needs no escapes. */
void container_spec_fill(struct str config, const char *const with[CONTAINER_HOLES],
                         struct buf *to);
