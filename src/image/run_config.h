/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run configuration of an image (OCI image-spec, config.md) as the config.json of a bundle (OCI
 * runtime-spec, config.md): arguments from Entrypoint and Cmd, environment, working directory, the
 * user from the files of the root file system, and a tmpfs for each volume that is empty there. All
 * other settings are left to the reader, also whether there is a program: the caller may have
 * another one (container/spec.h writes the final section). Blocking calls, any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    RUN_CONFIG_MAX = 1 << 20,    /* bytes of the result */
    RUN_CONFIG_VOLUMES_MAX = 16, /* others are left out */
};

/*
 * config: the image's configuration. root_fd: its root file system; its files are read below it
 * alone, whatever links they are. *ret_n_program: how many of the arguments are the Entrypoint,
 * which arguments of a caller do not replace. Errors: those of oci_config_parse(),
 * container_user_find() and container_spec_write_program(); E_LIMIT.
 */
int run_config_make(struct str config, int root_fd, struct buf *to, size_t *ret_n_program,
                    struct err *err);
