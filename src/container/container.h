/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OCI containers on this machine, by crun or runc: created, watched, ended, and recovered after the
 * process that created them was killed.
 *
 *     container_start() --> on_started(0) --> on_ended() --> on_removed()
 *                     `---> on_started(r) -----------------'
 *
 * A container is one program. The caller supplies its root file system, its config.json
 * (container/spec.h writes one) and files that only this container gets. This module creates a
 * directory, a network namespace with an address, a control group and pipes for its output, and
 * removes them: after on_removed() no process, mount, group, device or file of it is left, in all
 * cases. The root file system must exist until then.
 *
 * A pod is several containers: the caller creates its network namespace and names it for each of
 * them (container_opts.network), and further namespaces to share by paths in the config.json
 * (container_pid() has those of a container that runs). Only one container at a time has a name: a
 * restart is a new container_start(), after on_removed(), or under another name.
 *
 * container/exec.h starts further programs in a container that runs. container_write() and
 * on_output() are what a person sees who attaches to it.
 *
 * A container can have a keeper (container_opts.has_keeper): a process of a few pages that waits
 * for its program. With it, the status of the program and what it printed last are known also after
 * a crash of this process, and its terminal stays open.
 *
 * Not implemented: pausing.
 *
 *     RUN/<name>/    config.json, state.json, pid, log of crun, pipes out, err, in, files/<n>, exit
 *     RUN/crun/      crun's own state
 *
 * RUN is "/run/dormouse-<kind>-<hash of the data directory>", in memory: no data of a container is
 * written to a disk while it is created. docs/internals/container.md describes the recovery after a
 * crash.
 *
 * Loop thread only. Callbacks never run inside a call, except on_found() of
 * container_host_recover(). They may call any function of this header except
 * container_host_recover().
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "container/resources.h"
#include "io/loop.h"

#include <stdint.h>
#include <sys/types.h>

struct container;
struct container_host;
struct json;

enum {
    CONTAINER_NAME_MAX = 64,         /* with its NUL; letters, digits, '-', '_', '.' */
    CONTAINER_POD_NAME_MAX = 128,    /* with its NUL; the same letters, and '/' between names */
    CONTAINER_STARTS_MAX = 16,       /* crun processes at a time; further containers wait */
    CONTAINER_CONFIG_MAX = 4 << 20,  /* bytes of a config.json */
    CONTAINER_FILES_MAX = 4096,      /* of one container */
    CONTAINER_NOTE_MAX = 32 << 10,   /* bytes of a note */
    CONTAINER_NETWORKS_DEFAULT = 16, /* kept ready */
    CONTAINER_TEXT_MAX = 240         /* how a container ended, in words */
};
#define CONTAINER_OUTPUT_UNLIMITED UINT32_MAX

#define CONTAINER_SUBNET_DEFAULT "10.213.0.0/16"

/* ---- what the containers of one owner share ---- */

struct container_host_opts { /* strings are copied */
    struct loop *loop;
    const char *kind;     /* "fn": names the directory and the parent of all control groups */
    const char *data_dir; /* of the process; keeps two processes of a machine apart */
    const char *program;  /* a name or a path; NULL: crun, or runc where only that is installed */
    uint32_t n_networks;  /* 0: CONTAINER_NETWORKS_DEFAULT */
    const char *subnet;   /* of the containers, /16; NULL: CONTAINER_SUBNET_DEFAULT */
    bool no_limits; /* also where the machine has no control groups that can be used: CPU, memory
                     * and processes are not limited then */
    uint32_t output_rate; /* bytes per second that a container may print to each of its two pipes,
                           * and 48 for each line, after a burst of 1 MiB; more waits in its
                           * write(). At most 100 MiB; 0: 256 KiB; CONTAINER_OUTPUT_UNLIMITED. All
                           * together: 256 MiB */
};

/*
 * Cheap: networks and all else that containers need are made with the first one. Errors:
 * E_UNSUPPORTED: neither crun nor runc, or not root.
 */
int container_host_new(const struct container_host_opts *opts, struct container_host **ret,
                       struct err *err);
/* Make all that now; fine when it was made. Errors: E_UNSUPPORTED with what this machine lacks, the
 * same each time. */
int container_host_set_up(struct container_host *h, struct err *err);
/*
 * Stop all containers without grace; after the last on_removed() done() runs and the host is freed.
 * container_start() must not be called after it. An owner whose containers should outlive it calls
 * container_host_leave(), and the next process recovers them.
 */
void container_host_close(struct container_host *h, void (*done)(void *arg), void *arg);

/*
 * The process ends and its containers go on: no event from now on, except the ends of
 * container_exec, which are stopped. Those that are being started or removed are waited for; then
 * done() runs and the host is freed. Their networks are those of the caller (container_opts).
 */
void container_host_leave(struct container_host *h, void (*done)(void *arg), void *arg);

/* RUN of a process. Given, free(). */
char *container_host_run_dir(const char *kind, const char *data_dir);

/*
 * A container will be started soon, after its network and its files: until then a thread does what
 * its start would wait for. Fine without a start after it.
 */
void container_host_expect(struct container_host *h);
struct container_cgroups;
/* Borrowed; valid after container_host_set_up(). A copy (container/cgroup.h) outlives the host. */
const struct container_cgroups *container_host_cgroups(const struct container_host *h);
/*
 * Remove the control groups of hosts of the same kind with another data directory, whose RUN ends
 * with this hash, if no process is in them: then nothing of them runs. -EBUSY. Any thread; blocks.
 */
int container_host_remove_groups(const struct container_cgroups *cgroups, const char *hash);

/* What container/spec.h needs to know about this host; valid after container_host_set_up(). */
struct container_machine {
    const char *cgroup;           /* parent of all; NULL: no limits */
    bool is_cgroup2, counts_swap; /* swap: the machine can limit it */
    const char *filter;           /* container/syscalls.h; NULL: the runtime compiles the rules */
};
struct container_machine container_host_machine(const struct container_host *h);

/*
 * ---- groups of several containers (pods), below the control group of the host ----
 *
 * A group has a path, such as "burstable/pod7f3c": it limits the containers in it together, and so
 * does "burstable" all pods in it. Without control groups all functions succeed and do nothing, and
 * container_pod_group_usage() returns zeros. Groups outlive the process. The groups of two
 * processes with other data directories are separate.
 */

/*
 * Make it, with those above it, and set its limits; fine if it exists. Errors: those of
 * container_host_set_up(); E_INVALID (the name); those of container_pod_group_limit().
 */
int container_pod_group_make(struct container_host *h, const char *name,
                             const struct container_limits *limits, struct err *err);
/*
 * Change all limits. A quota of CPU must not be less than that of a group in it: raise that of a
 * pod before those of its containers, and lower it after them. Errors: -EBUSY: more memory is in
 * use; -ENOENT; those of the system calls (-EINVAL: the quota).
 */
int container_pod_group_limit(struct container_host *h, const char *name,
                              const struct container_limits *limits, struct err *err);
/* Remove it; fine if there is none. Its containers have been removed: whatever runs in it is
 * killed. -EBUSY: that has not ended yet, try again later. */
int container_pod_group_remove(struct container_host *h, const char *name);
/* name "": of all containers of the host. -ENOENT. */
int container_pod_group_usage(struct container_host *h, const char *name,
                              struct container_usage *ret);
/* The names of the groups and containers directly in it, each without the path; "": the first
 * level. Of pods that nobody removed, after a crash. */
void container_pod_group_each(struct container_host *h, const char *name,
                              void (*each)(void *arg, const char *name), void *arg);

/* ---- one container ---- */

/*
 * Parts of config.json that differ between containers are one byte each that JSON cannot contain
 * otherwise, so that many containers share one text: the name of its control group, the path of its
 * network namespace, the directory of its files. All of them are optional.
 */
enum container_hole {
    CONTAINER_HOLE_GROUP = 1,
    CONTAINER_HOLE_NETWORK,
    CONTAINER_HOLE_FILES,
    CONTAINER_HOLES
};

enum container_stream { CONTAINER_STDOUT, CONTAINER_STDERR };

struct container_end {
    int status; /* exit status; -SIGNAL; PROCESS_UNKNOWN (io/process.h): it was adopted, had
                 * no keeper, and another process waited for it */
    int64_t wall_started_ms, wall_ended_ms; /* since 1970 */
    struct container_usage usage;           /* all that its control group has counted */
    bool ran_out;     /* of memory: the kernel killed something in its group */
    const char *text; /* "the container has ended with status 3; it said: no configuration" */
};

struct container_events { /* arg: of the container; each may be NULL */
    /* r 0: the runtime has started its program. Else it could not be started, err has the reason,
     * and on_removed() follows. Not called after container_stop(). */
    void (*on_started)(void *arg, int r, const struct err *err);
    /* Its program has ended, by itself or because of container_stop(). Only after
     * on_started(0), or for one that was adopted. It has printed what it had to. */
    void (*on_ended)(void *arg, const struct container_end *end);
    /* Nothing of it is left; the last call, `c` is freed then. */
    void (*on_removed)(void *arg);
    /* A line that it has printed, without its '\n'; borrowed. Empty ones too. has_more: it is
     * longer than 16 KiB, and the next call has the next piece of it. */
    void (*on_line)(void *arg, enum container_stream stream, struct str line, bool has_more);
    /* The same as it is, before on_line(); with a terminal all is CONTAINER_STDOUT. */
    void (*on_output)(void *arg, enum container_stream stream, struct str bytes);
    /* More can be written, after container_write() took less than it was given. */
    void (*on_room)(void *arg);
};

enum container_input {
    CONTAINER_INPUT_NONE, /* empty */
    CONTAINER_INPUT_OPEN, /* it never ends (Kubernetes: stdin) */
    /* It ends by container_end_input(), and when this process ends (stdinOnce). */
    CONTAINER_INPUT_ONCE
};

struct container_opts {      /* borrowed for the call */
    const char *name;        /* unique on the host */
    struct str config;       /* config.json with holes; copied */
    uint32_t uid, gid;       /* its user, the owner of its files and pipes */
    const struct str *files; /* contents; "<hole FILES>/<index>", mode 0400 */
    size_t n_files;
    const char *pod;     /* a group of container_pod_group_make(); NULL: none */
    const char *network; /* path of a network namespace that the caller keeps; NULL: one of the
                          * host, with an address */
    struct str note;     /* a JSON object for the process that finds the container after a crash;
                          * copied; empty: none */
    int stop_signal;     /* asks its program to end; 0: SIGTERM */
    bool has_keeper;     /* where the architecture has them: E_UNSUPPORTED only with the next two */
    bool has_terminal;   /* as process.has_terminal in the config.json; implies a keeper */
    enum container_input input;            /* without a terminal; implies a keeper */
    const struct container_events *events; /* kept */
    void *arg;
};

/* Not runc. */
bool container_host_is_crun(const struct container_host *h);
/* Of crun, as container_program_crun_version(); the first call runs it. */
int container_host_crun_version(struct container_host *h);

/*
 * Errors: those of container_host_set_up(); E_INVALID (a name, the signal, the note), E_LIMIT
 * (files, the note), -EEXIST (a container of this name), of the system calls. Nothing is left then,
 * and nothing is called.
 */
int container_start(struct container_host *h, const struct container_opts *opts,
                    struct container **ret, struct err *err);
/*
 * End it: its stop_signal, and SIGKILL after grace_ms; 0: SIGKILL at once. Also before it runs:
 * then it is removed, or ended as soon as it runs. A further call can only shorten the grace, which
 * then counts from that call. Until on_removed().
 */
void container_stop(struct container *c, uint32_t grace_ms);

const char *container_name(const struct container *c);
/* IPv4 in host byte order; 0: not known yet, or the network is the caller's. */
uint32_t container_address(const struct container *c);
/* The first process, as this machine numbers it; 0: it does not run. Its namespaces are in
 * /proc/PID/ns. */
int container_pid(const struct container *c);
/* At most so many thousandths of a core from now on. */
void container_limit_cpu(struct container *c, uint64_t cpu_milli);
/*
 * Change all limits of one that runs (Kubernetes: in-place resize). A limit that is zero is
 * removed. Errors: -EBUSY: more memory is in use; -ENOENT: it has ended or does not run yet; those
 * of the system calls (-EINVAL: more CPU than its pod has).
 */
int container_limit(struct container *c, const struct container_limits *limits, struct err *err);
/* -ENOENT: it does not run yet, or has ended: see container_end. */
int container_usage(const struct container *c, struct container_usage *ret);

/*
 * To its standard input or terminal. How many of the bytes were taken; if not all, on_room()
 * follows. None before on_started(), without on_room(). -EPIPE: it has none, or has closed it.
 */
ssize_t container_write(struct container *c, struct str bytes);
/* The end of an input that ends (CONTAINER_INPUT_ONCE); else without effect. */
void container_end_input(struct container *c);
/* Of its terminal; without effect without one. */
void container_resize(struct container *c, uint16_t columns, uint16_t rows);
/* Nothing that it prints is read until it is over: it waits in its write(). What a pipe holds at
 * its end is delivered in any case. */
void container_pause_output(struct container *c, bool is_paused);
/* When its program was started, since 1970; 0: not yet. */
int64_t container_wall_started_ms(const struct container *c);

struct container_timings { /* how long each step took; all are known in on_started() */
    uint32_t files_us, network_us, start_us;
};
struct container_timings container_timings(const struct container *c);

/* ---- after a restart ---- */

struct container_left {      /* what an earlier process of the same kind and data directory left */
    const struct json *note; /* borrowed; NULL: none, or it cannot be read */
    /* It runs, and is ours now. With a keeper also if it has ended meanwhile: container_pid() is 0,
     * and on_ended() follows. Else it is being removed. */
    bool is_adopted;
};

/*
 * Look for such containers, before the first container_start(). on_found() runs for each of them,
 * inside this call; it returns the argument for further events: on_ended() and on_removed() of one
 * that is adopted, on_removed() of one that is being removed. NULL: no events, and one that was
 * adopted is ended without grace. What they printed meanwhile and the pipe could hold (64 KiB)
 * comes first. Half-made ones are removed too.
 */
void container_host_recover(struct container_host *h,
                            void *(*on_found)(void *arg, struct container *c,
                                              const struct container_left *left),
                            const struct container_events *events, void *arg);
/* Inside on_found(): other events than those of all; kept. */
void container_set_events(struct container *c, const struct container_events *events);
