/* SPDX-License-Identifier: Apache-2.0 */
#include "io/work_pool.h"

#include <signal.h>

/* Block all signals except those that a thread causes itself, such as a guest's traps. */
static void block_signals(sigset_t *ret_before)
{
    static const int own[] = { SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
    sigset_t all;
    (void)sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        (void)sigdelset(&all, own[i]);
    (void)pthread_sigmask(SIG_BLOCK, &all, ret_before);
}

int work_pool_queue(uv_loop_t *loop, uv_work_t *req, uv_work_cb work, uv_after_work_cb done)
{
    sigset_t before;
    block_signals(&before);
    int r = uv_queue_work(loop, req, work, done);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

int work_pool_getaddrinfo(uv_loop_t *loop, uv_getaddrinfo_t *req, uv_getaddrinfo_cb done,
                          const char *host, const char *port, const struct addrinfo *hints)
{
    sigset_t before;
    block_signals(&before);
    int r = uv_getaddrinfo(loop, req, done, host, port, hints);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}
