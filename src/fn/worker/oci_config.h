/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config.json (OCI runtime specification 1.0) under which a function's container runs, made
 * from that of its bundle. Pure: text in, text out.
 *
 * Taken from the bundle: program, environment, user, working directory, limit of open files, tmpfs
 * mounts. Everything else is ours.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "fn/worker/runtime.h"

/*
 * What is different for each sandbox of a revision stands in the text as one byte that JSON cannot
 * contain otherwise.
 */
enum oci_hole { OCI_HOLE_GROUP = 1, OCI_HOLE_NETWORK, OCI_HOLE_SECRETS };

struct oci_config_opts {
    const char *bundle;           /* absolute, real path */
    size_t n_program;             /* so many of its arguments those of a function leave alone */
    const char *cgroup;           /* parent, "/dormouse-fn"; NULL: no limits */
    bool is_cgroup2, counts_swap; /* swap: the machine can limit it */
    const char *filter; /* container_seccomp_make(); NULL: the runtime compiles the rules */
    const char *host_name;
};

struct oci_user {
    uint32_t uid, gid;
};

enum { OCI_TMP_BYTES = 64 << 20, OCI_FILES_MAX = 65536, OCI_FILES_DEFAULT = 4096 };

struct oci_config_made {
    struct oci_user user;
    char *root;      /* the real path of its root file system */
    struct buf dirs; /* where mounts of the bundle lie in it, each with its NUL */
};
void oci_config_made_fini(struct oci_config_made *m);

/*
 * config: the bundle's. Appended to `to`, with holes. *ret: given, oci_config_made_fini(). Errors:
 * E_INVALID, with what is wrong in the bundle.
 */
int oci_config_make(struct str config, const struct runtime_revision *r,
                    const struct oci_config_opts *opts, struct buf *to, struct oci_config_made *ret,
                    struct err *err);
/* `with`: indexed by enum oci_hole; plain text that needs no escapes. */
void oci_config_fill(struct str config, const char *const with[OCI_HOLE_SECRETS + 1],
                     struct buf *to);
