/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a worker gets images from: the requests that it makes to the node, which has the store of
 * images.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "fn/function.h"

struct fn_image_want { /* borrowed for the call */
    struct str reference;
    struct str
        tenant; /* the owner of the credentials: the namespace, and with credentials its uid */
    const struct str *auths; /* files of credentials; none: anonymous */
    size_t n_auths;
    enum fn_pull policy;
};

/* An image that is ready to run. Counted: it and its files are kept until the last put(). */
struct fn_image {
    const char *dir;   /* real path; the root file system is "rootfs" in it */
    struct str config; /* of a bundle, without a root */
    size_t
        n_program; /* number of its arguments that are the program, which others do not replace */
};

struct fn_image_call { /* given by the caller; zeroed before first use */
    /* A download will begin. */
    void (*on_pulling)(struct fn_image_call *c);
    /* r 0: image: given, put(). E_INVALID: no use to try again. */
    void (*on_done)(struct fn_image_call *c, int r, struct fn_image *image, const struct err *err);
    void *data; /* of the node; NULL: not under way */
};

struct fn_images_ops {
    /* on_done() follows, unless it is cancelled. Errors: of starting a process. */
    int (*get)(void *arg, const struct fn_image_want *want, struct fn_image_call *c,
               struct err *err);
    void (*cancel)(void *arg, struct fn_image_call *c);
    /*
     * The image of an earlier process's container, found by its `dir`: given, put(). NULL: there is
     * none.
     */
    struct fn_image *(*adopt)(void *arg, struct str dir);
    void (*ref)(void *arg, struct fn_image *image);
    void (*put)(void *arg, struct fn_image *image);
};

struct fn_images {
    const struct fn_images_ops *ops;
    void *arg;
};
