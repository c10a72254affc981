/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the owner of containers gets images from: the requests that a function worker or the node
 * agent makes to the process's store of images.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdint.h>

enum container_pull { CONTAINER_PULL_IF_NOT_PRESENT, CONTAINER_PULL_ALWAYS, CONTAINER_PULL_NEVER };

struct container_image_want { /* borrowed for the call */
    struct str reference;
    struct str
        tenant; /* the owner of the credentials: the namespace, and with credentials its uid */
    const struct str *auths; /* files of credentials; none: anonymous */
    size_t n_auths;
    enum container_pull policy;
    bool is_planned; /* a plan of the scheduler may bring it (image.dormouse.dev/plan) */
    bool is_mounted; /* an overlay is put over the root file system: it is read-only and, where the
                      * kernel can, mounted instead of unpacked */
    bool is_lazy; /* may be mounted before its files are here, if its registry gives single files;
                   * not with credentials */
    bool is_listed_only; /* from no registry that the machine's options do not name */
};

/* An image that is ready to run. Counted: it and its files are kept until the last put(). */
struct container_image {
    const char *dir;   /* real path; the root file system is "rootfs" in it */
    struct str config; /* of a bundle, without a root */
    size_t
        n_program; /* number of its arguments that are the program, which others do not replace */
    bool is_lazy;  /* it was mounted before its files were here: container_image_news follow */
};

/* Of an image that is_lazy. */
enum container_image_news {
    CONTAINER_IMAGE_MISSING, /* files do not come for now; opens of them wait, then fail (EIO) */
    CONTAINER_IMAGE_WHOLE,   /* all is here: the network is not needed any more */
    CONTAINER_IMAGE_BROKEN,  /* wrong, or without the process that serves it: containers must end */
};
/* why: borrowed; "" without a reason. */
typedef void (*container_image_news_cb)(void *arg, struct container_image *image,
                                        enum container_image_news news, const char *why);

struct container_image_call { /* given by the caller; zeroed before first use */
    /* A download will begin. */
    void (*on_pulling)(struct container_image_call *c);
    /* r 0: image: given, put(). E_INVALID: no use to try again. */
    void (*on_done)(struct container_image_call *c, int r, struct container_image *image,
                    const struct err *err);
    void *data; /* of the node; NULL: not under way */
};

struct container_images_prune { /* given by the caller; zeroed before first use */
    /* r 0: so many images were removed, and bytes of their layers. */
    void (*on_done)(struct container_images_prune *c, int r, uint64_t n_images, uint64_t n_bytes,
                    const struct err *err);
    void *data; /* of the node; NULL: not under way */
};

struct container_images_ops {
    /* on_done() follows, unless it is cancelled. Errors: of starting a process. */
    int (*get)(void *arg, const struct container_image_want *want, struct container_image_call *c,
               struct err *err);
    void (*cancel)(void *arg, struct container_image_call *c);
    /*
     * The image of an earlier process's container, found by its `dir`: given, put(). NULL: there is
     * none.
     */
    struct container_image *(*adopt)(void *arg, struct str dir);
    void (*ref)(void *arg, struct container_image *image);
    void (*put)(void *arg, struct container_image *image);
    /* As put(), by a process that ends while a container goes on: the next one finds the image. */
    void (*leave)(void *arg, struct container_image *image);
    /*
     * Remove images that nothing uses, the one that was used longest ago first, until `bytes` have
     * gone; those that were pulled less than min_age_ms ago stay. on_done() follows, unless it is
     * cancelled.
     */
    void (*prune)(void *arg, uint64_t bytes, uint64_t min_age_ms, struct container_images_prune *c);
    void (*prune_cancel)(void *arg, struct container_images_prune *c);
    /* One follower of all lazy images that are in use; cb NULL: none any more. */
    void (*follow)(void *arg, container_image_news_cb cb, void *cb_arg);
};

struct container_images {
    const struct container_images_ops *ops;
    void *arg;
};
