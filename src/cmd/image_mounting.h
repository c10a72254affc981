/* SPDX-License-Identifier: Apache-2.0 */
/* Mounting an image that a command names, from wherever it is: `image mount` and `image run`. */
#pragma once

#include "cmd/image_args.h"
#include "image/root.h"

/* Which users exist for this process. */
enum image_mounting_users {
    IMAGE_MOUNTING_USERS_ALL,
    IMAGE_MOUNTING_USERS_SOME, /* those of its user namespace */
    IMAGE_MOUNTING_USERS_ONE,
};

enum image_mounting_users image_mounting_users(void);

struct image_mounting {
    /* Set by the caller; borrowed until image_mounting_fini(). */
    const struct image_args *args; /* checked, with the directory of the store */
    const char *reference;
    const char *target, *state; /* as in image/root.h */
    enum root_sink sink;
    uint64_t max_bytes; /* of a layer */
    uint64_t wait_ms;   /* for another process that writes the store */
    bool is_rootless, is_writable, has_suid, is_not_durable;
    bool wants_original; /* no refactored form of what is pulled */
    bool is_alone; /* mounts of other processes are not seen here: no layer is mounted for them */
    /* Set by image_mounting_mount(). */
    enum root_sink used;
    bool is_stored;           /* from the tars of the store */
    struct oci_config config; /* of the image */
    /* Its own. */
    struct root_opts with;
    struct image_opened opened;
    struct arena documents;
    bool is_over;
};

/* The directory of the store: the one given, that of the environment, or in the data directory
 * (NULL: the default one). Given, free(). */
char *image_mounting_store(const char *given, const char *data_dir);
/* Errors: those of image_open(), oci_pull(), root_mount(), with the reference. */
int image_mounting_mount(struct image_mounting *m, struct err *err);
/* It stays mounted. */
void image_mounting_fini(struct image_mounting *m);
static inline void image_mounting_fini_scoped(struct image_mounting *m)
{
    image_mounting_fini(m);
}
