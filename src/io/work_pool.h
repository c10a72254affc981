/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libuv does on its pool of threads. The first request of a process makes these threads, for
 * good and with the signal mask of the one that asks; here they get one that leaves the signals of
 * the process to its other threads. Else one of them would take a signal that the others block,
 * to pass it on (container/foreground.h), and its default action would end the process. Every
 * request of the pool is made by these functions.
 */
#pragma once

#include <uv.h>

/* As uv_queue_work() and uv_getaddrinfo(). */
int work_pool_queue(uv_loop_t *loop, uv_work_t *req, uv_work_cb work, uv_after_work_cb done);
int work_pool_getaddrinfo(uv_loop_t *loop, uv_getaddrinfo_t *req, uv_getaddrinfo_cb done,
                          const char *host, const char *port, const struct addrinfo *hints);
