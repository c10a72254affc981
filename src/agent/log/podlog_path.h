/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of log files as a kubelet uses them, and what is below one name.
 *
 *     ROOT/pods/NS_POD_UID/CONTAINER/RESTART.log                      the file that grows
 *     ROOT/pods/NS_POD_UID/CONTAINER/RESTART.log.20260102-030405      the latest rotated one
 *     ROOT/pods/NS_POD_UID/CONTAINER/RESTART.log.20260102-030301.gz   earlier ones
 *     ROOT/containers/POD_NS_CONTAINER-ID.log                         a symbolic link to the first
 *
 * ROOT is /var/log. Functions that touch the disk can take long: to be called on a pool thread, or
 * where that does not matter.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

struct podlog_name {
    struct str ns, pod, uid, container;
    uint32_t restart;
};

/* Given, free(). */
char *podlog_path_pod(const char *root, const struct podlog_name *name);  /* the pod's directory */
char *podlog_path_file(const char *root, const struct podlog_name *name); /* RESTART.log */
/* id: of the container. The name is cut to what file systems allow. */
char *podlog_path_link(const char *root, const struct podlog_name *name, struct str id);

/* Make the link, in place of one of the same name. Creates ROOT/containers. */
int podlog_path_make_link(const char *root, const struct podlog_name *name, struct str id,
                          struct err *err);
/* Remove links in ROOT/containers whose file is gone. Returns how many. */
int podlog_path_sweep_links(const char *root, struct err *err);
/* Remove a log with its rotated files. Fine if there is none. */
int podlog_path_remove(const char *file, struct err *err);
/*
 * After a rotation: remove the oldest rotated files beyond `keep`, remains of an interrupted
 * compression, and, if compresses, compress all but the latest. Goes on after errors; the first one
 * is returned.
 */
int podlog_path_tidy(const char *file, unsigned keep, bool compresses, struct err *err);
/* When its latest rotated file was made, by its name, in seconds since 1970. 0: there is none. */
int64_t podlog_path_last_rotation(const char *file);
