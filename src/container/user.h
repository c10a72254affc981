/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user of a container, which may be a name of the /etc/passwd in its root file system (OCI
 * image-spec 1.1, config.md and conversion.md).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

enum {
    CONTAINER_USER_GROUPS_MAX = 256,    /* of a user; more are E_LIMIT */
    CONTAINER_USER_FILE_BYTES = 1 << 20 /* of /etc/passwd, of /etc/group; more is -EMSGSIZE */
};

struct container_user {
    uint32_t uid, gid;
    size_t n_groups; /* additional ones */
    uint32_t groups[CONTAINER_USER_GROUPS_MAX];
};

/*
 * user: as `User` in an image: "", NAME, UID, each also with ":GROUP" or ":GID"; empty is root.
 * passwd, group: the content of these files of the image; empty: it has none. A number that passwd
 * does not know has group 0. Without a group the user's groups of both files are taken. Pure.
 * Errors: E_INVALID (no such user or group, no number up to 2^31 - 1), E_LIMIT.
 */
int container_user_resolve(struct str user, struct str passwd, struct str group,
                           struct container_user *ret, struct err *err);

/*
 * The same with the files below the root file system `root_fd`; no link in it leads out. Blocking.
 * Errors: also those of the system calls, -EMSGSIZE. A file that does not exist is empty; one that
 * is no regular file is E_INVALID.
 */
int container_user_find(int root_fd, struct str user, struct container_user *ret, struct err *err);
