/* SPDX-License-Identifier: Apache-2.0 */
/* A job (image/store_job.h) for the process that holds a store's lock (image/store_control.h). */
#pragma once

#include "image/store_job.h"

enum { STORE_ASK_TAKEN_MS = 15000 }; /* until the job has begun */

enum store_asked {
    STORE_ASKED_NO_ONE, /* no process takes jobs there, now; nothing was begun */
    STORE_ASKED_DONE,   /* *ret is set */
    STORE_ASKED_LOST,   /* the process ended after it had begun: some of it may be done */
};

/*
 * Blocks until the job is done. on_event, NULL: none: as in struct store_job_watch, on this thread.
 * *ret: in the arena. Returns enum store_asked, or the error of the job; E_DENIED, the socket is
 * one of another user; -ETIMEDOUT, the process did not begin; E_PARSE, it answers something else.
 */
int store_ask(const char *root, const struct store_job *job,
              void (*on_event)(void *arg, const struct json *v), void *arg, struct arena *a,
              struct json **ret, struct err *err);
