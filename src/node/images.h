/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images for the containers of this process. A child (image/provide_child.h) does the work; it is
 * there only while something is asked for, so that nothing holds the store's lock otherwise and
 * commands can write the store.
 *
 * Who asks for the same with the same credentials shares one request. An image is leased in the
 * store while it is used here; what an earlier process leased ends with the boot, or when the image
 * was used here again.
 *
 * Loop thread only.
 */
#pragma once

#include "fn/worker/images.h"
#include "io/loop.h"

struct node_images;

enum {
    IMAGES_LOCK_MS = 600000,    /* for another process that writes the store */
    IMAGES_CLOSE_MS = 3000,     /* for the child at the end; then it is killed */
    IMAGES_REQUESTS_MAX = 1000, /* distinct ones at a time */
    IMAGES_TENANT_MAX = 2,      /* that the child has of one tenant; it has PROVIDE_THREADS */
};

struct images_opts { /* texts are kept */
    struct loop *loop;
    const char *store;                             /* directory */
    const char *owner;                             /* of leases: the data directory */
    const char *const *hosts, *const *plain_hosts; /* image/provide.h */
    size_t n_hosts, n_plain_hosts;
    const char *ca_file;
    const char *program; /* that calls provide_child_main(); NULL: this one */
};

struct node_images *images_new(const struct images_opts *opts);
/* What the worker gets. Borrowed; until images_close(). */
struct fn_images images_interface(struct node_images *s);
/* Nothing is used any more; done() when the child is gone. */
void images_close(struct node_images *s, void (*done)(void *arg), void *arg);
