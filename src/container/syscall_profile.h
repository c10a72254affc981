/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile of system calls that a user wrote (Kubernetes: seccompProfile, type Localhost): the
 * member linux.seccomp of a config.json as JSON text (OCI runtime-spec 1.0, config-linux.md). Pure.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum {
    CONTAINER_SYSCALL_PROFILE_MAX_BYTES = 1 << 20, /* of a profile */
    CONTAINER_SYSCALL_PROFILE_RULES_MAX = 1024,
    CONTAINER_SYSCALL_PROFILE_NAMES_MAX = 1024 /* of one rule */
};

/*
 * Append what the runtime gets: only members and values that are known. Unknown members are
 * ignored. Errors: E_INVALID (with the path), E_LIMIT; E_UNSUPPORTED: rules that depend on
 * capabilities or architectures (includes, excludes: of other programs), and
 * SCMP_ACT_NOTIFY, which needs a program that listens.
 */
int container_syscall_profile_write(struct str profile, struct buf *to, struct err *err);
