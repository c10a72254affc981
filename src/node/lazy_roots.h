/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lazy mounts of this node: a process for each (image/lazy_child.h), which outlives this one,
 * and its directory, DIR/<16 hexadecimal digits>. The processes of an earlier dormouse are found
 * again; one that no container uses LAZY_ROOTS_ADOPT_MS after the start is not used any more.
 *
 * What has ended is unmounted and removed. Loop thread only; callbacks never run inside a call.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

struct lazy_roots;
struct lazy_root;

enum {
    LAZY_ROOTS_MAX = 16,            /* processes of this node: further images are pulled whole */
    LAZY_ROOTS_OF_TENANT_MAX = 8,   /* that one namespace has started and still uses */
    LAZY_ROOTS_DISTRUSTED_MAX = 64, /* references whose registry has sent wrong files */
    LAZY_ROOTS_ADOPT_MS = 60 * 1000,
};

enum lazy_root_news {
    LAZY_ROOT_ASKED,   /* a registry is asked for its files */
    LAZY_ROOT_MISSING, /* files do not come, for now; what, and why */
    LAZY_ROOT_WHOLE,   /* the image is in the store, and complete */
    LAZY_ROOT_BROKEN,  /* its containers must end; why */
};

struct lazy_roots_opts { /* texts are kept */
    struct loop *loop;
    const char *dir;
    const char *store;
    const char *program; /* that calls lazy_child_main(); NULL: this one */
    /* why: borrowed; "" without a reason. */
    void (*on_news)(void *arg, struct lazy_root *r, enum lazy_root_news news, const char *why);
    void *arg;
};

struct lazy_roots *lazy_roots_new(const struct lazy_roots_opts *opts);
/* The processes go on. No on_started() and no on_news() any more. NULL is fine. */
void lazy_roots_close(struct lazy_roots *s);

struct lazy_root_want { /* borrowed */
    struct str reference, tenant;
    const char *get; /* JSON, as in image/provide_child.h, without credentials */
    /* r 0: it is mounted. Errors: the image is to be pulled whole; why says why; -EEXIST: the store
     * has it. `r` is freed then. */
    void (*on_started)(void *arg, int r, const char *why);
    void *arg;
};

/* Until lazy_root_go_on() it fetches only what its start needs and what is opened. Errors: E_LIMIT;
 * E_DENIED, its registry has sent wrong files before; of starting a process. */
int lazy_roots_start(struct lazy_roots *s, const struct lazy_root_want *want,
                     struct lazy_root **ret, struct err *err);
void lazy_root_go_on(struct lazy_root *r);
/* One that is mounted for that reference, and not whole; NULL: none. */
struct lazy_root *lazy_roots_find(struct lazy_roots *s, struct str reference);
/* That of an earlier process, by lazy_root_dir(); NULL: there is none. One that has ended is BROKEN
 * soon. */
struct lazy_root *lazy_roots_adopt(struct lazy_roots *s, struct str dir);
/* No container uses it or will be started from it: it is freed by this module. */
void lazy_root_drop(struct lazy_root *r);

/* "rootfs" is in it; the last but one part of the path is the manifest. Borrowed. */
const char *lazy_root_dir(const struct lazy_root *r);
/* As struct container_image has them. Borrowed. */
struct str lazy_root_config(const struct lazy_root *r);
size_t lazy_root_words(const struct lazy_root *r);
