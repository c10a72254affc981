/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of containers share: host.c what containers need of the machine, container.c the
 * life of one, files.c its directory, crun.c the program that makes it, adopt.c what an earlier
 * process left.
 */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "base/sm.h"
#include "container/cgroup.h"
#include "container/console.h"
#include "container/container.h"
#include "container/keeper.h"
#include "container/network.h"
#include "container/output.h"
#include "container/raw.h"
#include "io/process.h"

struct container_host {
    struct loop *loop;
    char *run;     /* RUN */
    char *parent;  /* of all control groups */
    char *program; /* crun's path */
    char *copy;    /* its sealed copy in memory, "/proc/self/fd/N"; runc: as program */
    int copy_fd;
    bool is_runc, no_limits;
    int version; /* container_host_crun_version(); 0: not known yet */
    uint32_t output_rate;
    struct container_output_reader reader; /* of all outputs */
    char *subnet;
    uint32_t n_networks;
    enum { CONTAINER_HOST_NEW, CONTAINER_HOST_SET_UP, CONTAINER_HOST_BROKEN } at;
    struct err broken;
    char *filter; /* seccomp program, base64 */
    struct container_cgroups cgroups;
    bool hides_cgroup2; /* crun refuses to work where it is mounted beside version 1 */
    int keeper_fd;      /* its program; -1: none yet */
    int null_fd;
    int empty_fd; /* of a pipe without a writer: as null_fd, where its owner is changed */
    struct container_networks *networks;
    struct map containers; /* name -> struct container */
    struct list queue;     /* containers that wait for one of CONTAINER_STARTS_MAX */
    uint32_t n_starting;
    struct list exec_queue; /* programs that wait for one of CONTAINER_EXEC_STARTS_MAX */
    uint32_t n_exec_starting;
    struct timer reap; /* for children of crun that have not ended yet; pauses get longer */
    uint32_t reap_ms;
    uint32_t n_exec_left; /* which look for what crun has left; nothing is started then */
    struct job expecting; /* container_host_expect(); one at a time */
    bool is_expecting;
    bool is_leaving;         /* container_host_leave(): containers that run are released */
    void (*done)(void *arg); /* also of that */
    void *done_arg;
    struct defer closing;
};

enum container_at {
    CONTAINER_NETWORK,
    CONTAINER_QUEUED,
    CONTAINER_STARTING,
    CONTAINER_RUNNING,
    CONTAINER_ENDING,
    CONTAINER_CLEANING
};

struct container {
    struct container_host *h;
    char name[CONTAINER_NAME_MAX];
    char group[CONTAINER_CGROUP_NAME_MAX];
    char *dir;
    struct sm sm;
    struct list queued; /* in host.queue */
    const struct container_events *events;
    void *arg;
    uint32_t uid, gid;
    char *config; /* until it is written */
    size_t config_n;
    char *note, *own_network; /* NULL: none */

    struct container_network *network;
    struct container_network_wait wait;
    struct process *crun, *init;
    struct process *keeper;               /* parent of init */
    struct container_keeper *wait_keeper; /* until the runtime has ended */
    bool has_keeper, has_terminal;
    bool is_collecting; /* init has ended, the keeper is asked how */
    enum container_input input;
    struct container_console console; /* until the runtime has ended */
    struct container_feed *feed;      /* its input */
    int terminal;                     /* -1: none */
    int end_status;
    unsigned collect_tries;
    int64_t wall_started_ms, wall_ended_ms;
    int pid;
    int crun_pid; /* of crun run, whose child is still to be waited for; 0: it was */
    struct container_output *out, *err_out;
    struct timer grace, late; /* to SIGKILL: of the container, of crun; late: pauses, too */
    size_t n_left;            /* processes of a crun that was killed, which are ending */
    unsigned group_tries, delete_tries, left_looks;
    struct defer turn; /* the next step without a callback inside a call */

    struct list execs; /* further programs in it */
    unsigned n_execs, n_execs_made;
    bool waits; /* finish() for them, and for the keeper */

    uint64_t at_ns; /* when the current step began */
    struct container_timings took;

    bool is_stopped;  /* container_stop() */
    bool is_reported; /* on_started() has been called */
    bool was_made;    /* crun has been run: it may have a record of the container */
    bool has_users;   /* a user namespace, whose root becomes the owner of standard input */
    bool was_cut;     /* crun run was killed: it may have left processes */
    int stop_signal;
    uint32_t grace_ms;
};

/* ---- host.c ---- */

/* Letters, digits, '-', '_', '.', and no '.' first. */
bool container_host_is_word(struct str s);
/* Words with '/' between them, below CONTAINER_POD_NAME_MAX. */
bool container_host_is_group(struct str s);
/* The control group `name`, below h->parent: other processes have the same names. "" stays "". */
void container_host_group(const struct container_host *h, const char *name,
                          char to[CONTAINER_CGROUP_NAME_MAX]);
/* The control group of keepers, so that what ends a service does not end them: another name than
 * those of groups of containers. */
void container_host_keepers(const struct container_host *h, char to[CONTAINER_CGROUP_NAME_MAX]);
/* The last container was removed. */
void container_host_check_closed(struct container_host *h);

/* ---- container.c ---- */

/* In state NETWORK, and in the table of the host. pod: NULL: none. */
struct container *container_new(struct container_host *h, const char *name, const char *pod);
struct container_known {          /* of one that runs already */
    int pid, keeper;              /* keeper 0: none */
    uint64_t ticks, keeper_ticks; /* of process_facts() */
    int64_t wall_started_ms;
    bool has_terminal;
    enum container_input input;
};
/* Its end and what it prints are ours from now on. -ESRCH: it has ended, and is not known how. */
int container_adopt(struct container *c, const struct container_known *known, struct err *err);
/* Its events are over. One that runs goes on and is freed, also later when a step of it has ended;
 * one that does not run yet is removed. */
void container_leave(struct container *c);
/* One of the programs in it, or its keeper, is gone. */
void container_changed(struct container *c);
/* It runs already, or did. End it without grace, and remove what is left of it. */
void container_drop(struct container *c);

/* ---- files.c ---- */

/* Its directory with its files; -EEXIST. On error nothing is left. */
int container_files_make(struct container *c, const struct container_opts *o, struct err *err);
/* The pod of one that an earlier process made, which may not have come to write state.json. NULL:
 * none. Given. */
char *container_files_pod(const struct container_host *h, const char *name);
/* It has its network. */
int container_files_write_config(struct container *c, struct err *err);
void container_files_remove(const struct container *c);
/*
 * A named pipe: the container holds both ends of it, so that it can continue to print while no
 * process reads. Its read end, and with ret_write, of a new one, the end for the container.
 */
int container_files_pipe(const struct container *c, const char *name, int *ret_read, int *ret_write,
                         struct err *err);
/* The write end of the named pipe "in", for use without blocking. */
int container_files_input(const struct container *c, bool is_new, struct err *err);
/* What crun has written as the id of a process. -ESRCH. */
int container_files_read_pid(const char *path);

/* ---- streams.c ---- */

/* Before it is started: pipes with the ends for the container, given, or with a terminal the socket
 * c->console. */
int container_streams_open(struct container *c, int *ret_out, int *ret_err_out, struct err *err);
/* It has been started. fd: its terminal, taken; -1: none. */
void container_streams_terminal(struct container *c, int fd);
/* Of one that was adopted; what is missing is only logged. */
void container_streams_adopt(struct container *c, int keeper);
void container_streams_drain(struct container *c);
void container_streams_close(struct container *c);
/* Without reading what is left: it is for the next process. */
void container_streams_release(struct container *c);

/* ---- crun.c ---- */

enum { CONTAINER_CRUN_MAX_MS = 30000 }; /* one run of it; then it is killed */

struct container_crun_opts {
    const char *const *words; /* after the general options; NULL at the end */
    const char *log;
    int in, out, err_out; /* above 2; borrowed */
    process_exit_cb on_exit;
    void *arg;
};
int container_crun_start(struct container_host *h, const struct container_crun_opts *opts,
                         struct process **ret, struct err *err);
/* Its arguments, for `argv` of CONTAINER_CRUN_WORDS_MAX, NULL at the end. root: given, which they
 * contain. */
void container_crun_argv(const struct container_host *h, const char *const *words, const char *log,
                         const char **argv, char **root);
enum { CONTAINER_CRUN_WORDS_MAX = 24 };
/* For a container: c->crun, with c->late to end it. */
int container_crun_spawn(struct container *c, const char *const *words, int in, int out,
                         int err_out, process_exit_cb on_exit, struct err *err);
/* Why crun has not started the container: its log, else its last words, else its status. */
void container_crun_error_text(const struct container *c, int status,
                               char text[CONTAINER_TEXT_MAX]);
/* For c->late: it does not come to an end. */
void container_crun_on_late(struct timer *t);
/* The last line of its log, without its kind and time. */
struct str container_crun_last_line(struct str log);
/* Of a program that it could not start, by that line: -ENOENT, -EACCES, -ENOEXEC, -EIO. */
int container_crun_error_code(struct str line);
/*
 * crun run --detach forks twice: the container is made by a grandchild of its, which ends after it
 * and is left to us, as the subreaper. Wait for it, if it has ended.
 */
void container_crun_reap(struct container *c);
/* The same of a crun with this process id. false: none has ended yet. */
bool container_crun_reap_child(const struct container_host *h, int crun_pid);
/*
 * After crun was killed: end the processes that it had detached and those of a container that was
 * half made. Looks once at all processes. on_exit() runs for each of the c->n_left that are ending.
 */
enum container_crun_left {
    CONTAINER_CRUN_LEFT_NONE,
    CONTAINER_CRUN_LEFT_ENDING,
    CONTAINER_CRUN_LEFT_UNCERTAIN /* one that ended meanwhile may have forked: look again */
};
enum container_crun_left container_crun_end_left(struct container *c, process_exit_cb on_exit);
/*
 * Look for such children again for two seconds: after a crun exec that has failed. The first
 * process of a container that ends waits in the kernel until they were waited for.
 */
void container_crun_reap_later(struct container_host *h);
/*
 * After a crun exec was killed: end all processes whose standard files are this pipe, and our
 * children in the PID namespace of the container that are unknown. No crun is starting anything.
 * Looks once. on_exit() runs for each of those that are ending, by which *n_left grows. Whether
 * none was found.
 */
bool container_crun_end_holders(struct container *c, int pipe, process_exit_cb on_exit, void *arg,
                                size_t *n_left);
/* crun knows the container. */
bool container_crun_has_record(const struct container *c);
/* The keeper of an earlier process, whose id is not known. */
void container_crun_kill_keeper(const struct container *c);
/* Every crun of an earlier process, except first processes of containers that have not come to
 * start their program: is_first(arg, pid). */
void container_crun_kill_all(const struct container_host *h, bool (*is_first)(void *arg, int pid),
                             void *arg);

/* ---- exec.c ---- */

/* One of them, or the runtime for one of them, is this process. */
bool container_execs_have(const struct container *c, int pid);
/* The container has ended: end all programs in it, ... */
void container_execs_kill(struct container *c);
/* ... and no longer wait until what they have printed is delivered. */
void container_execs_stop(struct container *c);

/* ---- adopt.c ---- */

/* So that a process that comes after us knows what this is. */
void container_write_state(const struct container *c);
