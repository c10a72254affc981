/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control socket of a node store: other processes have their jobs (image/store_job.h) done by
 * the one that holds the store's lock, which alone knows its holds, the room that is left, and the
 * lists of its cache.
 *
 *     <store>/control    a Unix stream socket, mode 0600, of that process
 *
 *     -> a job, one line of JSON
 *     <- {"taken":true}                      the job has begun
 *     <- {"event":{...}}                     any number, as struct store_job_watch has them
 *     <- {"result":{...}} or {"error":{"code":N,"text":T}}, and the end
 *
 * The socket appears with its final name once it can be connected to, and that name is removed
 * before the lock is released. What a killed process leaves refuses connections, and the next one
 * that takes jobs replaces it. A connection that ends without "taken" has changed nothing: the
 * client looks for the lock again, and a job whose "taken" can no longer be sent is not done. A
 * client that goes away later cancels its pull, or the keeping of its image; names and gc are done
 * at once and to their end. Only root and the user of the process are heard.
 *
 * Each job has a thread of its own.
 */
#pragma once

#include "oci/store.h"

enum {
    STORE_CONTROL_JOBS_MAX = 16,      /* at once; further clients wait in the kernel */
    STORE_CONTROL_LINE_MAX = 4 << 20, /* bytes, either way */
    STORE_CONTROL_READ_MS = 10000,    /* until the job is here */
    STORE_CONTROL_SEND_MS = 10000,    /* that a client reads nothing: then it is gone */
};
#define STORE_CONTROL_NAME "control"

struct store_control;

/*
 * Take jobs from now on. The store was opened with has_control; kept until store_control_close().
 * Errors: of the socket, of starting a thread.
 */
int store_control_start(struct oci_store *s, struct store_control **ret, struct err *err);
/*
 * Take no more, and wait for the end of those that have begun. Checks, which may take hours, end
 * with -ECANCELED; is_canceling: pulls and the keeping of images do so as well. What ends so is not
 * answered: the client goes on itself. Blocks. NULL is fine.
 */
void store_control_close(struct store_control *c, bool is_canceling);
