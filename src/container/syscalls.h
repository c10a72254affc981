/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that containers may make: two lists; syscalls.c describes what they exclude and why.
 * Any thread.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum container_syscalls {
    /* What programs of any language need, and nothing else: for what others bring. */
    CONTAINER_SYSCALLS_ALLOW_LIST,
    /* All but what reaches the kernel's state or other namespaces: for what a person starts. */
    CONTAINER_SYSCALLS_REFUSE_LIST,
    /* What container runtimes allow by default (Kubernetes: RuntimeDefault), which depends on the
     * capabilities. Programs for another architecture than that of the machine are refused, except
     * those for 32 bits on arm64. */
    CONTAINER_SYSCALLS_DEFAULT,
    CONTAINER_SYSCALLS_PROFILE, /* of the user: container/syscall_profile.h */
    CONTAINER_SYSCALLS_ALL      /* no filter */
};

/* Append linux.seccomp of a config.json, a JSON object; not for the last two. capabilities: for
 * DEFAULT, as in container_process. */
void container_syscalls_write(enum container_syscalls kind, const char *const *capabilities,
                              struct buf *to);

/*
 * CONTAINER_SYSCALLS_ALLOW_LIST compiled (takes 15 ms, which crun would otherwise need for each
 * container) and in base64, for crun's annotation run.oci.seccomp_bpf_data. Given, free().
 */
int container_syscalls_compile(char **ret, struct err *err);
