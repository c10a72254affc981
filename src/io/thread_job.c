/* SPDX-License-Identifier: Apache-2.0 */
#include "io/thread_job.h"

#include <openssl/crypto.h>
#include <pthread.h>

static void on_end(struct post *p)
{
    struct thread_job *j = container_of(p, struct thread_job, end);
    loop_release(j->loop);
    j->done(j);
}

static void *run(void *arg)
{
    struct thread_job *j = arg;
    j->work(j);
    /* Not left to the end of the thread, which may come while the process exits: OpenSSL frees its
     * memory of threads only until it cleans up itself. */
    OPENSSL_thread_stop();
    loop_post(j->loop, &j->end);
    return NULL;
}

int thread_job_start(struct loop *loop, struct thread_job *j, struct err *err)
{
    pthread_t thread;
    pthread_attr_t attr;
    j->loop = loop;
    j->end.run = on_end;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int r = pthread_create(&thread, &attr, run, j);
    (void)pthread_attr_destroy(&attr);
    if (r)
        return err_sys(err, -r, "thread");
    loop_hold(loop);
    return 0;
}
