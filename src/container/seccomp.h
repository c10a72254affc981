/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that containers may make; seccomp.c says which and why. Any thread.
 */
#pragma once

#include "base/err.h"

/* NULL at the end. */
extern const char *const container_seccomp_allowed[];
enum {
    CONTAINER_CLONE_NAMESPACES = 0x7e020000, /* flags that clone() must not have */
    CONTAINER_SOCKET_VSOCK = 40              /* the family that socket() must not be asked for */
};
/*
 * The same rules as config.json has, compiled (takes 15 ms, which crun would otherwise need for
 * each container) and in base64, for crun's annotation run.oci.seccomp_bpf_data. Given, free().
 */
int container_seccomp_make(char **ret, struct err *err);
