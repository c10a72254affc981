/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network namespaces with a name: mounted on a file, so that they outlive this process. Any thread;
 * blocks, but only on the kernel.
 */
#pragma once

#include "base/err.h"

/*
 * Make a namespace at `path`, whose directory exists, with its loopback device up. Programs in it
 * may listen on every port and send pings. user: the path of the user namespace that it belongs to;
 * NULL: that of this process. *ret_inner: a netlink socket in it, given; *ret_ns: a
 * descriptor of it, given. Both may be NULL. -EEXIST: the file exists; E_UNSUPPORTED: this process
 * may not make namespaces.
 */
int pod_namespace_make(const char *path, const char *user, int *ret_ns, int *ret_inner,
                       struct err *err);
/* Remove mount and file; fine if there is none. The kernel frees the namespace and its devices once
 * no process is in it. */
int pod_namespace_remove(const char *path, struct err *err);
/* A namespace is mounted at `path`. */
bool pod_namespace_exists(const char *path);
/* Write a line into a file of /proc/sys in the namespace of the calling thread. */
int pod_namespace_write_sysctl(const char *path, const char *text, struct err *err);
