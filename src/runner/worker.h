/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a runner, of which only one is ever busy.
 *
 * Whoever has the baton reads the socket, carries out orders, and runs guests; all others wait. A
 * guest that makes a call which main has to answer is parked: its thread sends CALL and goes on
 * reading. If the next turn is the REPLY for its own guest, which is the common case, it returns
 * into the guest, and no thread was switched. Otherwise it hands baton and message to another
 * thread: to the one whose guest the message concerns, or to a spare one for a new RUN.
 *
 *             CALL, then another's message           REPLY or DROP for its guest
 *     BUSY ----------------------------> PARKED ------------------------------> BUSY
 *       ^ `--- REPLY or DROP for a parked guest, while it runs none ---> SPARE
 *       `---------------------------- a RUN while somebody is parked -----'
 *
 * Two busy threads would make every mmap and copy-on-write fault of hibernation several times
 * dearer. Since one thread runs at a time, nothing but the baton itself needs a lock.
 */
#pragma once

#include "runner/hibernate.h"
#include "runner/instance.h"

#include <pthread.h>

enum {
    WORKER_SPARES_MAX = 4, /* waiting for work; about 30 KiB each */
    WORKER_STACK_BYTES = (1 << 20) + (128 << 10)
};

/* What the turns of a command have produced since main was told. */
struct runner_outcome {
    struct buf ops, logs, notes;
    struct buf data; /* functions: of the answer's body, not a note yet; outlasts messages */
    uint32_t n_ops, n_logs, n_notes, logs_left_out;
    uint32_t n_lines; /* of output, among the notes */
};

struct runner_worker {
    struct runner *runner;
    struct list node; /* on runner->spares */
    pthread_cond_t turn;
    bool has_baton;        /* the next three: only under runner->lock, or with the baton */
    bool is_first;         /* the thread of main(), which does not end before the process */
    struct proto_in msg;   /* the message to look at */
    struct proto_in order; /* the RUN being carried out, whose payloads are in use */
    struct proto_run run;
    struct hibernated saved;
    struct runner_outcome outcome;
    struct buf out;
    uint64_t cpu_ns;                    /* of this thread, when main was told last */
    char message[GUEST_V1_MESSAGE_MAX]; /* of fail_message() */
    uint32_t message_n;
    struct err answer; /* of a call that the runner answers itself */
};

/* Serve until the socket ends: 0; or until something is wrong. Runs on the process's first thread.
 */
int worker_serve(struct runner *r, struct err *err);

/*
 * Park `in`, which this thread runs, until main has answered.
 * 0: *ret is what main gave, in->result the bytes, until the next call. -ECANCELED: main ended the
 * guest meanwhile, which has to return at once. Does not return if the process has to end.
 */
int worker_call(struct instance *in, const struct proto_call *call, int64_t *ret);
/*
 * Let others have their turns, if somebody waits for one; in->result stays. Errors as
 * worker_call().
 */
int worker_slice(struct instance *in);
/* CPU time of this command that main has not been told of. */
uint32_t worker_take_cpu_us(struct runner_worker *w);
/* Tell main what the command has done so far. */
void worker_send_notes(struct instance *in);
/* The same, when that is much. */
int worker_flush(struct instance *in, struct err *err);

void worker_outcome_reset(struct runner_outcome *o);
