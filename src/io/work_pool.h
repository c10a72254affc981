/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to libuv's thread pool. The first request of a process creates the threads, permanently
 * and with the signal mask of the calling thread. These functions make sure that pool threads block
 * the signals of the process. Otherwise a pool thread could receive a signal that other threads
 * block in order to forward it (container/foreground.h), and its default action would end the
 * process. All requests to the pool must use these functions.
 */
#pragma once

#include <uv.h>

/* As uv_queue_work() and uv_getaddrinfo(). */
int work_pool_queue(uv_loop_t *loop, uv_work_t *req, uv_work_cb work, uv_after_work_cb done);
int work_pool_getaddrinfo(uv_loop_t *loop, uv_getaddrinfo_t *req, uv_getaddrinfo_cb done,
                          const char *host, const char *port, const struct addrinfo *hints);
