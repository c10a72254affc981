/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rights that dormouse-runner and dormouse-compile drop before they read foreign code, apart
 * from system calls: files, networks, other processes, identity and capabilities. They have opened
 * all descriptors that they need by then.
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

/* What can be in force; name and its word in logs and metrics. */
#define CONFINE_PARTS(X)                                                                           \
    X(CONFINE_USER, "user")           /* another identity than main's */                           \
    X(CONFINE_PROCESSES, "processes") /* no other process has a number in its namespace */         \
    X(CONFINE_NETWORK, "network")                                                                  \
    X(CONFINE_IPC, "ipc")                                                                          \
    X(CONFINE_MEMORY, "memory") /* the group of memory_group.h */                                  \
    X(CONFINE_FILES, "files")   /* its root is empty */

enum confine_part {
#define CONFINE_ENUM(name, word) name,
    CONFINE_PARTS(CONFINE_ENUM)
#undef CONFINE_ENUM
        CONFINE_PART_COUNT
};

struct confine_report {
    uint32_t in_force; /* bit 1 << part */
    int refused;       /* what the kernel answered to the first part that is missing; 0: none is */
};

const char *confine_word(enum confine_part part);

/*
 * Make the kernel kill this process first when the machine runs out of memory. To be called before
 * confine_enter(), while /proc can be opened. Failure is ignored.
 */
void confine_oom(void);
/*
 * The control group whose file is the standard input of this process (memory_group.h); /dev/null
 * takes its place. A descriptor (given) for confine_join_memory(), -1: there is no group. To be
 * called before confine_enter(), which reports that.
 */
int confine_take_memory(void);
/* Move this process there, which takes the kernel up to 20 ms, and close the descriptor. -1 is
 * fine.
 */
void confine_join_memory(int procs_fd);
/*
 * Drop these rights permanently; the process must have one thread. A process without privileges
 * makes its namespaces (mount: an empty root; network; IPC) in a user namespace; a namespace that
 * the kernel refuses is left as it is. Clears PR_SET_PDEATHSIG.
 * Errors: of the system calls that drop identity and capabilities.
 */
int confine_enter(struct confine_report *ret, struct err *err);

/* A process to start: what it gets is given here alone. */
struct confine_child {
    const char *path;
    char *const *argv, *const *envp;
    const int *fds; /* fds[i] becomes its descriptor i; -1: /dev/null. Others close at its exec. */
    size_t n_fds;
    bool shares_namespaces; /* no namespaces of its own, as where the kernel refuses them */
};
/*
 * Start it as the first process of a PID namespace of its own, with all signals at their defaults.
 * That process reaps nothing. SIGKILL and SIGSTOP from outside act on it as on any other; all other
 * signals are ignored where it has no handler for them. Without root the namespace belongs to a
 * user namespace in which only this user and group exist. Where the kernel refuses, the child
 * shares the namespaces of this process. Any thread; blocks until the child's exec. Returns its
 * process id, a child of this process. Errors: of starting it.
 */
int confine_spawn(const struct confine_child *child, struct err *err);

/*
 * kill(), also where main runs as root without CAP_KILL: a process with the user of `pid` sends the
 * signal then. Blocks until it has.
 */
int confine_signal(int pid, int signal);
