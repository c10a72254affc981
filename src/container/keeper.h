/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper of a container: a process of a few pages (keeper_program.c) that is the parent of the
 * container's first process. It writes down how that has ended, also while this process does not
 * run, and holds the pipes with what was printed, and the terminal.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "io/loop.h"

struct container_keeper; /* the socket to it, while the runtime is at work */

/* A descriptor with the program, in memory. E_UNSUPPORTED: not for this architecture. */
int container_keeper_program_open(struct err *err);

/* status: of the runtime, as of process_exit_cb. terminal: its main end, given; -1: none. Once;
 * not if the keeper has ended first. */
typedef void (*container_keeper_cb)(void *arg, int status, int terminal);

/* ret_theirs: descriptor 0 of the keeper; given. */
int container_keeper_listen(struct loop *loop, container_keeper_cb on_runtime, void *arg,
                            struct container_keeper **ret, int *ret_theirs, struct err *err);
void container_keeper_close(struct container_keeper *k); /* NULL is fine */

/* What it has written; -ENOENT: nothing yet. */
int container_keeper_read_exit(const char *path, int *ret_status, uint64_t *ret_wall_ms);
/* The terminal that the keeper `pid` of an earlier process holds; given. */
int container_keeper_terminal(int pid, struct err *err);
