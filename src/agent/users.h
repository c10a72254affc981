/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods with users of their own (hostUsers: false): a user namespace with AGENT_USERS_RANGE ids of
 * this machine that no other pod has.
 *
 *     DIR/users    the first id, as text: it stays until the directory goes, also over a restart
 *     DIR/user     the namespace, kept by a mount
 *
 *    /run/dormouse-roots-.../ID   root file systems of their containers, whose root may not enter
 * the data directory
 *
 * Owners of the image's files and of volumes are mapped by mounts, so that files on disk belong to
 * the same users as those of other pods.
 */
#pragma once

#include "base/err.h"
#include "io/loop.h"

struct agent;
struct agent_pod;
struct arena;

enum { AGENT_USERS_RANGE = 65536 };

bool agent_users_are_own(const struct agent_pod *p);
/* The path of the namespace, in the arena; NULL: the users of the machine. */
const char *agent_users_path(const struct agent_pod *p, struct arena *a);
/* Find ids, or those that the pod has already: p->users_base. Errors: E_LIMIT, E_UNSUPPORTED: what
 * the runtime cannot do; of the files. */
int agent_users_claim(struct agent_pod *p, struct err *err);
/* Where the root file system of a run is mounted. Given, free(). */
char *agent_users_root(const struct agent *a, const char *id);
/* Unmount and remove all that are mounted in a directory, which no agent uses. Any thread; blocks.
 */
void agent_users_unmount(const char *roots_dir);
/* Unmount the layers of runs that the agent does not know. */
void agent_users_sweep(const struct agent *a);
/* Make the namespace; fine if it is there. It goes with the pod's directory. A job; done: exactly
 * once. E_UNSUPPORTED: what the kernel or the file system of DIR cannot do. */
void agent_users_make(struct loop *loop, const char *dir, uint32_t base,
                      void (*done)(void *arg, int r, const struct err *err), void *arg);
