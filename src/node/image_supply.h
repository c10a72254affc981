/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The images of this process's containers: one store, one set of registries, and one node_images
 * (node/images.h) for functions and pods. A node that shares its images puts the image server of
 * the node (node/image_node.h) beside it, once it is registered.
 *
 * Loop thread only.
 */
#pragma once

#include "agent/registration/registration.h"
#include "container/images.h"
#include "node/image_node.h"

struct image_supply;

enum { IMAGE_SUPPLY_KEEP_MS = 10000 }; /* that an image stays leased after its last use */

struct image_supply_opts { /* strings are kept */
    struct loop *loop;
    const char *data_dir;
    const char *store;        /* directory; NULL: $DORMOUSE_IMAGE_STORE, or images in data_dir */
    const char *const *hosts; /* registries (modules/module_hosts.h); none: any at public addresses,
                               * or none for is_listed_only (container/images.h) */
    size_t n_hosts;
    const char *const *plain_hosts; /* registries that are spoken to without TLS */
    size_t n_plain_hosts;
    const char *ca_file; /* trusted for registries besides the system's roots; NULL: none */
};

/* Makes the directory. Errors: E_INVALID, a registry that cannot be read; those of mkdir(2). */
int image_supply_new(const struct image_supply_opts *opts, struct image_supply **ret,
                     struct err *err);
/* No image may be in use. */
void image_supply_close(struct image_supply *s, void (*done)(void *arg), void *arg);
/* Borrowed until image_supply_close(). */
struct container_images image_supply_interface(struct image_supply *s);
/* The directory of the store. Borrowed likewise. */
const char *image_supply_dir(const struct image_supply *s);
/* Keep the list of the store's images; on_list: it has changed. At most one follows. */
void image_supply_follow(struct image_supply *s, void (*on_list)(void *arg), void *arg);
void image_supply_unfollow(struct image_supply *s);
/* The largest first; borrowed until the next callback. Returns how many; 0 where nobody follows. */
size_t image_supply_list(const struct image_supply *s, const struct registration_image **ret);
/* Images of the store were removed. */
void image_supply_changed(struct image_supply *s);
/*
 * Share the images with other nodes from now on. Once; before the first request for an image of a
 * pod. `loop`, `store` and `site` of opts are set here.
 */
void image_supply_share(struct image_supply *s, const struct image_node_opts *opts);
/* The node's serving certificate, for other nodes; nothing happens where images are not shared. */
void image_supply_set_cert(struct image_supply *s, struct str cert_pem, struct str key_pem);
