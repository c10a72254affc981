/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a node store: the process that holds the store's lock runs the jobs
 * (image/store_job.h) of other processes, since only it knows its holds, the free space, and the
 * lists of its cache.
 *
 *     <store>/control    a Unix stream socket, mode 0600, of that process
 *
 *     -> a job, one line of JSON
 *     <- {"taken":true}                      the job has begun
 *     <- {"event":{...}}                     any number, as struct store_job_watch has them
 *     <- {"result":{...}} or {"error":{"code":N,"text":T}}, and the end
 *
 * The socket gets its final name once it accepts connections, and that name is removed before the
 * lock is released. The socket of a killed process refuses connections, and the next process that
 * accepts jobs replaces it. A connection that ends without "taken" has changed nothing: the client
 * tries to take the lock again, and a job whose "taken" can no longer be sent is not run. If a
 * client disconnects later, its pull or "keep" job is cancelled; names and gc always run to their
 * end. Only root and the user of the process are accepted.
 *
 * Each job has its own thread.
 */
#pragma once

#include "oci/store.h"

enum {
    STORE_CONTROL_JOBS_MAX = 16,      /* at once; further clients wait in the kernel */
    STORE_CONTROL_LINE_MAX = 4 << 20, /* bytes, either way */
    STORE_CONTROL_READ_MS = 10000,    /* until the job is here */
    STORE_CONTROL_SEND_MS = 10000,    /* without a read of the client: then it is dropped */
};
#define STORE_CONTROL_NAME "control"

struct store_control;

/*
 * Take jobs from now on. The store was opened with has_control; kept until store_control_close().
 * Errors: of the socket, of starting a thread.
 */
int store_control_start(struct oci_store *s, struct store_control **ret, struct err *err);
/*
 * Accept no more jobs, and wait for those that have begun. Checks, which may take hours, end with
 * -ECANCELED; is_canceling: pulls and "keep" jobs do so as well. Jobs that end in this way are not
 * answered: the client runs them itself. Blocks. NULL is fine.
 */
void store_control_close(struct store_control *c, bool is_canceling);
