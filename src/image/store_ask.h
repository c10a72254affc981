/* SPDX-License-Identifier: Apache-2.0 */
/* A job (image/store_job.h) for the process that holds a store's lock (image/store_control.h). */
#pragma once

#include "image/store_job.h"

enum { STORE_ASK_TAKEN_MS = 15000 }; /* until a job has begun, unless stated otherwise */

enum store_asked {
    STORE_ASKED_NO_PROCESS, /* no process accepts jobs there now */
    STORE_ASKED_ENDED,      /* the process ended before it began the job */
    STORE_ASKED_LATE,       /* it has not begun the job within taken_ms, and will not */
    STORE_ASKED_LOST,       /* it ended after it had begun: some of the job may be done */
    STORE_ASKED_DONE,       /* *ret is set */
};

/*
 * Blocks until the job is done. taken_ms: wait so long until it has begun. on_event, NULL: none: as
 * in struct store_job_watch, on this thread. *ret: in the arena. Returns enum store_asked, or the
 * error of the job; E_DENIED, the socket is one of another user; E_PARSE, the process answers
 * something else.
 */
int store_ask(const char *root, const struct store_job *job, uint64_t taken_ms,
              void (*on_event)(void *arg, const struct json *v), void *arg, struct arena *a,
              struct json **ret, struct err *err);
/* The same, until *stop is set: then it returns -ECANCELED soon, and the process is notified that
 * the client no longer waits. */
int store_ask_until(const char *root, const struct store_job *job, uint64_t taken_ms,
                    const atomic_bool *stop, struct arena *a, struct json **ret, struct err *err);

/* Repeated attempts to run a job in this process, or in the one that has the store's lock. */
struct store_ask_attempts {
    /* Open the store within lock_ms and run the job, or ask the process that has it open. Returns
     * enum store_asked, or an error, which ends the attempts. */
    int (*attempt)(void *arg, uint64_t lock_ms, struct err *err);
    /* For how long to try, asked after each attempt. */
    uint64_t (*limit_ms)(void *arg);
    void *arg; /* of both */
};
/*
 * Until an attempt has done the job, failed or returned STORE_ASKED_LATE, or the limit is over. The
 * limit begins again when the process that was asked has ended, a few times. Returns the last
 * outcome, or the error.
 */
int store_ask_repeat(const struct store_ask_attempts *t, struct err *err);
