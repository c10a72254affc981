/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root file system of one run: an overlay with the image's files below and what the container
 * writes above, and the user of its program, which may be named by the image's /etc/passwd.
 *
 *     DIR/upper, DIR/work    what was written
 *     DIR/root               the mount, unless it has another place
 *
 * Jobs on pool threads; the callback runs on the loop, never inside a call.
 */
#pragma once

#include "container/user.h"
#include "io/loop.h"

struct agent_root_fs;

struct agent_root_fs_opts { /* strings are copied */
    struct loop *loop;
    const char *image_root; /* directory of the image's files */
    const char *dir;        /* made; parents exist but for the last one */
    const char *user;       /* "", "1000", "1000:1000", "nginx" (container/user.h) */
    bool finds_user;        /* else only the mount is made */
    /* The image's files belong to users of this namespace; NULL: as in the image. users_base: its
     * root. */
    const char *user_namespace;
    uint32_t users_base;
    const char *place; /* where it is mounted, made; NULL: DIR/root */
    void (*done)(void *arg, int r, const struct container_user *user, const struct err *err);
    void *arg;
};

/* done() follows; it frees what *ret points to. Errors: none left out of done(). */
struct agent_root_fs *agent_root_fs_make(const struct agent_root_fs_opts *opts);
/* Unmount and remove `dir`, and the place (NULL: none). done may be NULL. */
void agent_root_fs_remove(struct loop *loop, const char *dir, const char *place,
                          void (*done)(void *arg), void *arg);
/* The caller is gone: no callback. What was made stays. */
void agent_root_fs_forget(struct agent_root_fs *f);
