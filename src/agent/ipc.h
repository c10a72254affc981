/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What containers of one pod share to communicate (Kubernetes: containers of a pod share IPC): a
 * namespace that is kept by a mount, and /dev/shm. Only for pods with several containers; one alone
 * has its own.
 *
 *     DIR/ipc    the namespace
 *     DIR/shm    a tmpfs
 *
 * A job on a pool thread; the callback runs on the loop.
 */
#pragma once

#include "base/err.h"
#include "io/loop.h"

enum { AGENT_SHM_BYTES = 64 << 20 };

/* has_users: the namespace belongs to the user namespace at DIR/user. Fine if they are there
 * already. done: exactly once. */
void agent_ipc_make(struct loop *loop, const char *dir, bool has_users,
                    void (*done)(void *arg, int r, const struct err *err), void *arg);
