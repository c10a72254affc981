/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Another program in a container that runs (kubectl exec, probes), by crun exec or runc exec.
 *
 *     container_exec_start() --> on_started() --> on_output()... --> on_ended()
 *                          `----------------------------------------------'
 *
 * Also in containers that were adopted. The program is in the namespaces and the control group of
 * the container; when the container ends, it is killed, and on_removed() of the container comes
 * after on_ended() of all of them. When this process ends, it continues without input and output.
 *
 * Loop thread only. Callbacks never run inside a call; they may call any function of this header.
 */
#pragma once

#include "container/container.h"
#include "container/spec.h"

#include <sys/types.h>

struct container_exec;

enum {
    CONTAINER_EXECS_MAX = 64,      /* of a container */
    CONTAINER_EXEC_STARTS_MAX = 8, /* crun exec of a host at a time; further ones wait */
    CONTAINER_EXEC_FILES_MAX = 3   /* pipes of each: memory of the kernel, 64 KiB when full */
};

struct container_exec_end {
    /* 0: it ran. -ENOENT: there is no such program; -EACCES, -ENOEXEC: it cannot be run;
     * -ESRCH: the container has ended; -ECANCELED: container_exec_stop(), before it ran; -EIO. */
    int r;
    int status;       /* the exit status; -SIGNAL. PROCESS_UNKNOWN: not known */
    const char *text; /* why it could not be started, in the words of the runtime; else "" */
};

struct container_exec_events { /* arg: of the exec; each may be NULL */
    /* The runtime has started it. It may still fail (-ENOEXEC). */
    void (*on_started)(void *arg);
    /* What it has printed, as it is. With a terminal all is CONTAINER_STDOUT. */
    void (*on_output)(void *arg, enum container_stream stream, struct str bytes);
    /* More can be written, after container_exec_write() took less than it was given. */
    void (*on_room)(void *arg);
    /* The last call, after all output that was there when the program ended. `e` is freed then.
     * What its children print later is lost. */
    void (*on_ended)(void *arg, const struct container_exec_end *end);
};

struct container_exec_opts { /* borrowed for the call */
    /* With has_terminal, columns and rows: a terminal. `user` as in the container. */
    const struct container_process *process;
    bool has_input;                             /* else its standard input is empty */
    const struct container_exec_events *events; /* kept */
    void *arg;
};

/*
 * Errors: -ESRCH (the container does not run; it does during the grace of a stop), E_LIMIT
 * (CONTAINER_EXECS_MAX), those of container_spec_write_process() and of the system calls. Nothing
 * is called then.
 */
int container_exec_start(struct container *c, const struct container_exec_opts *opts,
                         struct container_exec **ret, struct err *err);

/*
 * To its standard input. How many of the bytes were taken; if not all, on_room() follows. 0 until
 * on_started(), then on_room() follows, too. -EPIPE: it has closed its input, or has ended, or
 * there is none.
 */
ssize_t container_exec_write(struct container_exec *e, struct str bytes);
/* The end of its input. Without effect on a terminal. */
void container_exec_end_input(struct container_exec *e);
/* No on_output() of this stream until it is over: the program waits in its write(). Not even
 * on_ended(), unless it is stopped. */
void container_exec_pause(struct container_exec *e, enum container_stream stream, bool is_paused);
/* Without effect without a terminal. */
void container_exec_resize(struct container_exec *e, uint16_t columns, uint16_t rows);
/* SIGKILL, no further output; on_ended() follows. Its children are not killed, except with a
 * terminal, whose end they are told. */
void container_exec_stop(struct container_exec *e);
