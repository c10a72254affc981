/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that containers may make: two lists, of which seccomp.c says what they leave out and
 * why. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum container_seccomp {
    /* What programs of any language need, and nothing else: for what others bring. */
    CONTAINER_SECCOMP_ALLOW_LIST,
    /* All but what reaches the kernel's state or other namespaces: for what a person starts. */
    CONTAINER_SECCOMP_REFUSE_LIST
};

/* Append linux.seccomp of a config.json, a JSON object. */
void container_seccomp_write(enum container_seccomp kind, struct buf *to);

/*
 * CONTAINER_SECCOMP_ALLOW_LIST compiled (takes 15 ms, which crun would otherwise need for each
 * container) and in base64, for crun's annotation run.oci.seccomp_bpf_data. Given, free().
 */
int container_seccomp_make(char **ret, struct err *err);
