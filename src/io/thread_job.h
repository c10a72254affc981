/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job with a thread of its own, for work that may block for minutes. Work that is short belongs
 * in a struct job (io/loop.h), whose threads are shared.
 */
#pragma once

#include "io/loop.h"

struct thread_job {
    void (*work)(struct thread_job *j); /* on the thread */
    void (*done)(struct thread_job *j); /* loop thread, exactly once; it may free j */
    /* The rest is private. */
    struct loop *loop;
    struct post end;
};

/*
 * The caller has set work and done; j is kept until done(), and loop_run() does not return before.
 * Posts that the thread makes run before done(). An error means that neither will be called.
 */
int thread_job_start(struct loop *loop, struct thread_job *j, struct err *err);
