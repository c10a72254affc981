/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the configuration of an image to the `process` section of a container's config.json (OCI
 * image-spec 1.1, config.md and conversion.md; OCI runtime-spec 1.0, config.md "Process").
 *
 * Two steps: the user, which may be a name of the image's /etc/passwd, and the section. Only
 * runtime_config_find_user() does I/O.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "oci/image.h"

enum {
    RUNTIME_CONFIG_GROUPS_MAX = 256,      /* of a user; more are E_LIMIT */
    RUNTIME_CONFIG_USERS_BYTES = 1 << 20, /* of /etc/passwd, of /etc/group; more is -EMSGSIZE */
    RUNTIME_CONFIG_FILES_DEFAULT = 4096,  /* open files */
    RUNTIME_CONFIG_BYTES_MAX = 16 << 20,  /* of the section: a sensible maximum of the buffer */
};

/* What is different from what the image says; a zeroed struct: nothing. */
struct runtime_config_opts {
    struct oci_strings args;       /* n > 0: instead of the image's command (Cmd) */
    struct oci_strings entrypoint; /* n > 0: instead of the image's; its command is not used then */
    struct oci_strings env;        /* NAME=VALUE; the last value of a name counts */
    struct str cwd;                /* absolute; empty: the image's, else "/" */
    bool has_terminal;
    bool gains_privileges;           /* programs with set-user-ID keep their effect */
    const char *const *capabilities; /* "CAP_CHOWN", NULL at the end; NULL: none */
    uint64_t n_files;                /* limit of open files; 0: RUNTIME_CONFIG_FILES_DEFAULT */
};

struct runtime_config_user {
    uint32_t uid, gid;
    size_t n_groups; /* additional ones */
    uint32_t groups[RUNTIME_CONFIG_GROUPS_MAX];
};

/*
 * user: as `User` in an image: "", NAME, UID, each also with ":GROUP" or ":GID"; empty is root.
 * passwd, group: the content of these files of the image; empty: it has none. A number that passwd
 * does not know has group 0. Without a group the user's groups of both files are taken. Pure.
 * Errors: E_INVALID (no such user or group, no number up to 2^31 - 1), E_LIMIT.
 */
int runtime_config_resolve_user(struct str user, struct str passwd, struct str group,
                                struct runtime_config_user *ret, struct err *err);

/*
 * The same with the files below the root file system `root_fd`; no link in it leads out. Blocking.
 * Errors: also those of the system calls, -EMSGSIZE. A file that does not exist is empty; one that
 * is no regular file is E_INVALID.
 */
int runtime_config_find_user(int root_fd, struct str user, struct runtime_config_user *ret,
                             struct err *err);

/*
 * Append the section, a JSON object, to `to`. run: of the image. PATH is added to an environment
 * that has none. Pure. Errors: E_INVALID (no program, a string with NUL, a variable without a
 * name, a directory that is not absolute), -EMSGSIZE (of `to`).
 */
int runtime_config_process(const struct oci_run *run, const struct runtime_config_opts *opts,
                           const struct runtime_config_user *user, struct buf *to, struct err *err);
