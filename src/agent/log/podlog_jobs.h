/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all logs of a process let pool threads do: few jobs at a time, the others wait in the order
 * in which they came. A disk that does not answer holds these threads only, and not all of the
 * pool, which resolves names and reads files for the rest of the process.
 *
 * Loop thread only.
 */
#pragma once

#include "base/list.h"
#include "io/loop.h"

enum podlog_job_kind {
    PODLOG_JOB_WRITE,
    PODLOG_JOB_TIDY, /* compress and remove files: it takes long, and keeps no write waiting */
    PODLOG_JOB_KINDS
};

enum { PODLOG_WRITES_MAX = 2, PODLOG_TIDIES_MAX = 1 }; /* at a time, of the pool's 4 threads */

struct podlog_jobs;

/* Embedded; zeroed: not started. */
struct podlog_job {
    struct job job;
    struct list node;
    struct podlog_jobs *jobs;
    enum podlog_job_kind kind;
    void (*work)(struct podlog_job *j); /* pool thread; touches only what the job owns */
    void (*done)(struct podlog_job *j); /* loop thread, exactly once; may start it again */
};

struct podlog_jobs *podlog_jobs_new(struct loop *loop);
/* j: kept until done(); kind, work and done are set. */
void podlog_jobs_start(struct podlog_jobs *jobs, struct podlog_job *j);
/*
 * Free it after the last job has ended, and then call done(); NULL: nothing is called. All writers
 * have been closed.
 */
void podlog_jobs_close(struct podlog_jobs *jobs, void (*done)(void *arg), void *arg);
