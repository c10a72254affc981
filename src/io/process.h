/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes by pidfd (pidfd_open(2)): started by this module, optionally in another mount
 * namespace, or only watched. It never signals a process id that may have been reused by another
 * process.
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"

struct process;

enum { PROCESS_UNKNOWN = -1000 }; /* it was not a child of this process */

/* status: the exit status, -SIGNAL, or PROCESS_UNKNOWN. The last callback; `p` is invalid once it
 * has returned. */
typedef void (*process_exit_cb)(struct process *p, int status, void *arg);

struct process_opts {
    const char *const *argv; /* argv[0] is a path; NULL at the end */
    const char *const *env;
    /* In a mount namespace of its own, made at this moment, in which an empty file system covers
     * `covered`, a directory of the mount `covered_in`. NULL: in that of this process. */
    const char *covered, *covered_in;
    int in, out, err_out; /* descriptors 0, 1, 2; borrowed */
    bool has_session; /* start a session, which its children inherit: see process_reap_stray() */
    process_exit_cb on_exit;
    void *arg;
};

/*
 * Signals have their defaults; no other descriptor is passed on. The kernel kills it when this
 * process ends.
 */
int process_spawn(struct loop *loop, const struct process_opts *opts, struct process **ret,
                  struct err *err);
/*
 * Watch any process. start_ticks: from process_facts(); 0: the process that has the id now.
 * will_be_ours: it is a child of this process, or becomes one when its parent ends, so that its
 * status can be waited for; otherwise the status is PROCESS_UNKNOWN. -ESRCH: no such process, or
 * another one has the id by now.
 */
int process_watch(struct loop *loop, int pid, uint64_t start_ticks, bool will_be_ours,
                  process_exit_cb on_exit, void *arg, struct process **ret, struct err *err);
/* It is not watched any more: on_exit() does not run, and it is nobody's child to wait for here. */
void process_release(struct process *p);
int process_pid(const struct process *p);
void process_signal(struct process *p, int signum);
/*
 * Send SIGKILL to a process that is not watched, if is_it(arg, pid) confirms it. false: it is
 * another one.
 */
bool process_kill_if(int pid, bool (*is_it)(void *arg, int pid), void *arg);

enum { PROCESS_NAME_SIZE = 16 };

struct process_facts {
    char state; /* 'Z': ended, its parent has not waited for it */
    int parent, session;
    uint64_t start_ticks; /* since boot: together with the id unique until the next boot */
    char name[PROCESS_NAME_SIZE];
    bool has_memory; /* false: it is ending or has ended; a program cannot fake this */
};
/* By its name: it runs this program, or has set its name to "PROGRAM:...". */
bool process_is_program(const struct process_facts *facts, const char *program);
/* It has set its name to "PROGRAM:...". */
bool process_is_helper(const struct process_facts *facts, const char *program);
/* -ESRCH. */
int process_facts(int pid, struct process_facts *ret);
/*
 * A program that detaches (crun run --detach) leaves a child to this process, a subreaper; the
 * child's session is neither ours nor its own. Wait for such a child if it has ended. false: it is
 * not such a child. program: NULL, or a file name: then a child that runs this program in a session
 * of its own counts as well, one that was killed before it could leave its child.
 */
bool process_reap_stray(int pid, const char *program);
/* The same, but of the children with a session of their own only one that has set its name to
 * "PROGRAM:..." counts. */
bool process_reap_helper(int pid, const char *program);
/* Reap any such child of this process (proc(5), .../children), when its id is not known. */
bool process_reap_any_stray(void);
