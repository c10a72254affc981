/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images for the containers of this process. Where the process shares its images (image_node.h), it
 * has the store open and does the work on threads. Otherwise a child process
 * (image/provide_child.h) does it, which only runs while there are requests, so that at other times
 * the store is unlocked and commands can write it.
 *
 * Requests for the same image with the same credentials are merged, and answered from memory while
 * the image is leased and no name in the store has changed (not those of the policy Always). An
 * image is leased in the store while it is used here, and keep_ms longer; leases of an earlier
 * process end with the boot, or when the image has been used again here.
 *
 * Loop thread only.
 */
#pragma once

#include "container/images.h"
#include "io/loop.h"

struct json;

struct node_images;
struct image_node;
struct provide_site;

enum {
    IMAGES_LOCK_MS = 600000,    /* to wait for another process that writes the store */
    IMAGES_CLOSE_MS = 3000,     /* for the child to end; then it is killed */
    IMAGES_REQUESTS_MAX = 1000, /* distinct requests at a time */
    IMAGES_TENANT_MAX = 2,      /* requests of one tenant in the child, which has PROVIDE_THREADS */
};

struct images_opts { /* texts are kept */
    struct loop *loop;
    const char *store;               /* directory */
    const char *owner;               /* owner of leases: the data directory */
    const struct provide_site *site; /* registries; kept */
    const char
        *lazy_dir;       /* of lazy mounts (node/lazy_roots.h); NULL: all images are pulled whole */
    uint32_t keep_ms;    /* an image that is not used any more stays leased for at most that */
    const char *program; /* a program that calls provide_child_main(); NULL: this one */
    void (*on_pulled)(void *arg); /* another image is in the store; NULL: not of interest */
    void *arg;
};

struct node_images *images_new(const struct images_opts *opts);
/* Plans of images come to this node, which does the work from now on while it has the store. Once;
 * closed after these images. */
void images_set_node(struct node_images *s, struct image_node *node);
/* The interface for owners of containers. Borrowed until images_close(). */
struct container_images images_interface(struct node_images *s);

struct images_job { /* given by the caller; zeroed before first use */
    /* Once, never within images_do(). result: borrowed; NULL with an error. */
    void (*on_done)(struct images_job *j, int r, const struct json *result, const struct err *err);
    void *data; /* of this module; NULL: not under way */
};
/* job: as in image/store_job.h; copied. */
void images_do(struct node_images *s, const char *job, struct images_job *j);
/* on_done() does not run any more; the job goes on. */
void images_cancel_job(struct images_job *j);

/* No job may be under way. No image may be in use; done() runs when the child has ended. */
void images_close(struct node_images *s, void (*done)(void *arg), void *arg);
