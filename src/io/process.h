/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes by pidfd (pidfd_open(2)): started by us, in another mount namespace if need be, or only
 * watched. No process id is ever signalled that may meanwhile name another process.
 *
 * Loop thread only.
 */
#pragma once

#include "io/loop.h"

struct process;

enum { PROCESS_UNKNOWN = -1000 }; /* it was not ours to wait for */

/* status: what it exited with, -SIGNAL, or PROCESS_UNKNOWN. The last call; `p` is gone then. */
typedef void (*process_exit_cb)(struct process *p, int status, void *arg);

struct process_opts {
    const char *const *argv; /* argv[0] is a path; NULL at the end */
    const char *const *env;
    int mount_ns;         /* -1: ours */
    int in, out, err_out; /* descriptors 0, 1, 2; borrowed */
    bool has_session;     /* of its own, which its children have too: see process_reap_stray() */
    process_exit_cb on_exit;
    void *arg;
};

/*
 * Signals are as in a fresh program; no other descriptor is passed on. It is killed with us.
 */
int process_spawn(struct loop *loop, const struct process_opts *opts, struct process **ret,
                  struct err *err);
/*
 * Of any process. start_ticks: of process_facts(), 0: whichever has the id now. will_be_ours: it is
 * our child, or becomes it as its parent ends, so that its end can be waited for; otherwise the
 * status is PROCESS_UNKNOWN. -ESRCH: there is none, or another one has its id by now.
 */
int process_watch(struct loop *loop, int pid, uint64_t start_ticks, bool will_be_ours,
                  process_exit_cb on_exit, void *arg, struct process **ret, struct err *err);
int process_pid(const struct process *p);
void process_signal(struct process *p, int signum);
/*
 * SIGKILL for one that is not watched, if is_it(arg, pid) says so. false: it is not that one.
 */
bool process_kill_if(int pid, bool (*is_it)(void *arg, int pid), void *arg);

enum { PROCESS_NAME_SIZE = 16 };

struct process_facts {
    char state; /* 'Z': it has ended, and its parent has not waited for it */
    int parent, session;
    uint64_t start_ticks; /* since boot: with the id this names a process for ever */
    char name[PROCESS_NAME_SIZE];
    bool has_memory; /* false: it is ending, or has ended; no program can make this up */
};
/* By its name: it runs this program, or calls itself "PROGRAM:...". */
bool process_is_program(const struct process_facts *facts, const char *program);
/* It calls itself "PROGRAM:...". */
bool process_is_helper(const struct process_facts *facts, const char *program);
/* -ESRCH. */
int process_facts(int pid, struct process_facts *ret);
/*
 * A program that detaches itself (crun run --detach) leaves a child of its own to us, a subreaper:
 * it has a session, which is neither ours nor its own. Wait for it if it has ended. false: it is no
 * such one.
 * program: NULL, or the file name of a program, of which one with a session of its own is meant
 * too: a child that was to leave such a one, and was cut off.
 */
bool process_reap_stray(int pid, const char *program);
/* Of those with a session of their own only one that calls itself "PROGRAM:..." is meant. */
bool process_reap_helper(int pid, const char *program);
/* All such among our children, one by one (proc(5), .../children): where its id is not known. */
bool process_reap_any_stray(void);
