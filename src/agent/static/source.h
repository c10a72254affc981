/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory of static pods: every file in it, except hidden ones, is a manifest
 * (agent/static/manifest.h). inotify tells of changes; files are read in a job. A file that is bad
 * is logged; the pod of its last good content goes on.
 */
#pragma once

#include "agent/static/manifest.h"
#include "io/loop.h"

enum {
    STATIC_FILES_MAX = 512 /* further ones, in the order of their names, are ignored */
};

struct static_events {
    /* A pod to run; a changed file is one that is gone and a new one. pod: valid until return. */
    void (*added)(void *arg, const struct json *pod);
    /* Its file is gone or has changed. */
    void (*gone)(void *arg, struct str uid);
    /* After the first reading: all pods are known. Once; NULL: not wanted. */
    void (*synced)(void *arg);
};

struct static_source_options {
    struct loop *loop;
    const char *dir;                  /* copied; a directory that exists */
    const char *node;                 /* copied */
    const struct kube_resource *pods; /* kept, as is what follows */
    const struct static_events *events;
    void *arg;
};

struct static_source;
/* Errors: inotify's, -ENOENT. No event before it has returned. */
int static_source_start(const struct static_source_options *o, struct static_source **ret,
                        struct err *err);
/* No more events, not even `gone`; the memory goes later. closed: once; may be NULL. */
void static_source_close(struct static_source *s, void (*closed)(void *arg), void *arg);
