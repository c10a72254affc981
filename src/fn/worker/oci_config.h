/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The config.json of a function's container, made from that of its bundle (container/spec.h). Text
 * in, text out; of the file system it needs only the path of the root.
 *
 * Taken from the bundle: program, environment, user, working directory, limit of open files, tmpfs
 * mounts. Everything else is set here.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "container/container.h"
#include "fn/worker/runtime.h"

struct oci_config_opts {
    const char *bundle; /* absolute, real path */
    size_t n_program;   /* so many of its arguments those of a function leave alone */
    const struct container_machine *machine;
    const char *host_name;
};

enum { OCI_TMP_BYTES = 64 << 20, OCI_FILES_MAX = 65536, OCI_FILES_DEFAULT = 4096 };

struct oci_config_made {
    uint32_t uid, gid;
    char *root;      /* the real path of its root file system */
    struct buf dirs; /* where mounts of the bundle lie in it, each with its NUL */
};
void oci_config_made_fini(struct oci_config_made *m);

/*
 * config: the bundle's. Appended to `to`, with holes (container/container.h); file i of the
 * container is secret i of the revision. *ret: given, oci_config_made_fini(). Errors: E_INVALID,
 * with what is wrong in the bundle.
 */
int oci_config_make(struct str config, const struct runtime_revision *r,
                    const struct oci_config_opts *opts, struct buf *to, struct oci_config_made *ret,
                    struct err *err);
