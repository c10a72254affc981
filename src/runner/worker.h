/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a runner, of which only one runs at a time.
 *
 * The thread that has the baton reads the socket, carries out orders and runs guests; all others
 * wait. A guest that makes a call that main must answer is parked: its thread sends CALL and
 * continues to read. If the next turn is the REPLY for its own guest, which is the common case, the
 * thread returns into the guest without a thread switch. Otherwise it passes baton and message to
 * another thread: the one whose guest the message concerns, or a spare one for a new RUN.
 *
 *             CALL, then another's message           REPLY or DROP for its guest
 *     BUSY ----------------------------> PARKED ------------------------------> BUSY
 *       ^ `--- REPLY or DROP for a parked guest, while it runs none ---> SPARE
 *       `---------------------------- a RUN while a guest is parked ------'
 *
 * Two running threads would make every mmap and copy-on-write fault of hibernation several times
 * more expensive. Since one thread runs at a time, only the baton itself needs a lock.
 */
#pragma once

#include "runner/hibernate.h"
#include "runner/instance.h"

#include <pthread.h>

enum {
    WORKER_SPARES_MAX = 4, /* waiting for work; about 30 KiB each */
    WORKER_STACK_BYTES = (1 << 20) + (128 << 10)
};

/* Results of a command's turns that were not sent to main yet. */
struct runner_outcome {
    struct buf ops, logs, notes;
    struct buf data; /* functions: part of the response's body, not a note yet; outlives messages */
    uint32_t n_ops, n_logs, n_notes, logs_left_out;
    uint32_t n_lines; /* of output, among the notes */
};

struct runner_worker {
    struct runner *runner;
    struct list node; /* on runner->spares */
    pthread_cond_t turn;
    bool has_baton;        /* the next three: only under runner->lock, or with the baton */
    bool is_first;         /* the thread of main(), which does not end before the process */
    struct proto_in msg;   /* the message to handle */
    struct proto_in order; /* the RUN being carried out; its payloads are in use */
    struct proto_run run;
    struct hibernated saved;
    struct runner_outcome outcome;
    struct buf out;
    uint64_t cpu_ns;                    /* of this thread, at the last report to main */
    char message[GUEST_V1_MESSAGE_MAX]; /* of fail_message() */
    uint32_t message_n;
    struct err answer; /* error text of a call that the runner answers itself */
};

/* Serve until the socket ends (0) or an error occurs. Runs on the process's first thread. */
int worker_serve(struct runner *r, struct err *err);

/*
 * Park `in`, which this thread runs, until main has answered. 0: *ret is main's result, in->result
 * its bytes, valid until the next call. -ECANCELED: main has ended the guest, which must return at
 * once. Does not return if the process must end.
 */
int worker_call(struct instance *in, const struct proto_call *call, int64_t *ret);
/*
 * Yield to other messages, if one is waiting; in->result stays valid. Errors: as worker_call().
 */
int worker_slice(struct instance *in);
/* CPU time of this command that was not reported to main yet; marks it as reported. */
uint32_t worker_take_cpu_us(struct runner_worker *w);
/* Send main the notes of the command so far. */
void worker_send_notes(struct instance *in);
/* The same, if there are many. */
int worker_flush(struct instance *in, struct err *err);

void worker_outcome_reset(struct runner_outcome *o);
