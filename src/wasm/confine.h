/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drops the rights of dormouse-runner and dormouse-compile before they read foreign code: files,
 * networks, other processes, identity and capabilities. (System calls are filtered elsewhere.) By
 * then the processes have opened all descriptors that they need.
 */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
    /* User and group of these processes when dormouse runs as root. No other program uses this id,
     * and it fits in the 16 bits that containers usually map. */
    CONFINE_ID = 60999,
    CONFINE_OOM_SCORE = 500 /* when memory is short, the kernel kills such a process first */
};

/* The parts of the confinement: name, and its word in logs and metrics. */
#define CONFINE_PARTS(X)                                                                           \
    X(CONFINE_USER, "user")           /* another user and group than main's */                     \
    X(CONFINE_PROCESSES, "processes") /* a PID namespace without other processes */                \
    X(CONFINE_NETWORK, "network")                                                                  \
    X(CONFINE_IPC, "ipc")                                                                          \
    X(CONFINE_MEMORY, "memory") /* the cgroup of memory_group.h */                                 \
    X(CONFINE_FILES, "files")   /* an empty root */

enum confine_part {
#define CONFINE_ENUM(name, word) name,
    CONFINE_PARTS(CONFINE_ENUM)
#undef CONFINE_ENUM
        CONFINE_PART_COUNT
};

struct confine_report {
    uint32_t in_force; /* bit 1 << part */
    int refused;       /* code of the first part that the kernel refused; 0: none */
};

const char *confine_word(enum confine_part part);

/*
 * Make the kernel kill this process first when the machine runs out of memory. Call it before
 * confine_enter(), while /proc can be opened. Failures are ignored.
 */
void confine_oom(void);
/*
 * Take over the standard input of this process, which is the file of a cgroup (memory_group.h), and
 * replace it by /dev/null. Returns a descriptor (given) for confine_join_memory(); -1: there is no
 * cgroup. Call it before confine_enter(), which reports the result.
 */
int confine_take_memory(void);
/* Move this process into the cgroup, which takes the kernel up to 20 ms, and close the descriptor.
 * -1 is fine. */
void confine_join_memory(int procs_fd);
/*
 * Drop these rights permanently; the process must have one thread. A process without privileges
 * creates its namespaces (mount: an empty root; network; IPC) in a user namespace; where the kernel
 * refuses a namespace, the process keeps its own. Clears PR_SET_PDEATHSIG.
 * Errors: those of the system calls that drop identity and capabilities.
 */
int confine_enter(struct confine_report *ret, struct err *err);

/* A process to start; it inherits nothing else. */
struct confine_child {
    const char *path;
    char *const *argv, *const *envp;
    const int *fds; /* fds[i] becomes its descriptor i; -1: /dev/null. Others are closed at exec. */
    size_t n_fds;
    bool shares_namespaces; /* create no namespaces, as if the kernel refused them */
};
/*
 * Start it as the first process of a new PID namespace, with all signals at their defaults. That
 * process reaps nothing. SIGKILL and SIGSTOP from outside act on it as on any other process; it
 * ignores all other signals for which it has no handler. Without root the namespace belongs to a
 * user namespace in which only this user and group exist. If the kernel refuses, the child shares
 * the namespaces of this process. Any thread; blocks until the child's exec. Returns the process id
 * of the child. Errors: those of starting it.
 */
int confine_spawn(const struct confine_child *child, struct err *err);

/*
 * kill() that also works if main runs as root without CAP_KILL: then a helper process with the user
 * of `pid` sends the signal. Blocks until the signal was sent.
 */
int confine_signal(int pid, int signal);
