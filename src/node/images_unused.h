/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which images the node's store has, for the status of its Node, and removing those that nothing
 * uses, for the agent (container/images.h): jobs of node/images.h.
 *
 * Loop thread only. Callbacks never run inside a call.
 */
#pragma once

#include "agent/registration/registration.h"
#include "container/images.h"
#include "io/loop.h"

struct node_images;

enum {
    IMAGES_LIST_SOON_MS = 1000,   /* after a change here */
    IMAGES_LIST_LOOK_MS = 300000, /* between two looks at the names, which commands change too */
};

/* As container_images_ops has them; arg: struct node_images. */
void images_prune(void *arg, uint64_t bytes, uint64_t min_age_ms, struct container_images_prune *c);
void images_prune_cancel(void *arg, struct container_images_prune *c);

struct images_list;
/* images, store: kept. on_change: the list is another one now. */
struct images_list *images_list_new(struct loop *loop, struct node_images *images,
                                    const char *store, void (*on_change)(void *arg), void *arg);
void images_list_free(struct images_list *l);
/* Images have come or gone: look soon. */
void images_list_look(struct images_list *l);
/* The largest first; borrowed until the next callback. Returns how many. */
size_t images_list_get(const struct images_list *l, const struct registration_image **ret);
