/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian of a lazy mount: a separate process that serves the contents of files
 * (image/lazy_fuse.h); opens wait while this process fetches them.
 *
 *     container -> overlay -> FUSE -> guardian <- socket -> this process -> registry
 *
 * No content passes through the socket: the guardian gets descriptors ("sources") once, and then
 * for each file the position of its content in a source. So it continues with the present contents
 * when this process ends, and answers EIO for the rest. When the guardian itself ends, the kernel
 * ends the connection: opens and reads give ENOTCONN, never zeros. It ends with the mount.
 *
 * Before the first request it has an empty root, no network, no access to other processes, no
 * capabilities, another user if dormouse runs as root, and a list of system calls without paths and
 * processes. It reads no data from other machines.
 */
#pragma once

#include "image/lazy_view.h"

enum {
    LAZY_GUARD_SOURCES_MAX = 1024,
    LAZY_GUARD_OPEN_MS = 60 * 1000, /* how long an open waits, unless stated */
    LAZY_GUARD_OPEN_MAX_MS = 24 * 3600 * 1000,
};

#define LAZY_GUARD_WORD "--guard-files"
/* main() of the program that was started with this argument. */
int lazy_guard_main(int argc, char **argv);

struct lazy_guard;

struct lazy_guard_opts {
    const char *target;  /* an existing directory, on which the contents are mounted */
    const char *program; /* that calls lazy_guard_main(); NULL: this one */
    uint64_t open_ms;    /* at most LAZY_GUARD_OPEN_MAX_MS; 0: LAZY_GUARD_OPEN_MS */
};

/*
 * Start it and mount; no content is present yet. *ret: given, lazy_guard_free(). Errors: of
 * starting a process, those of mount_fuse(); E_UNSUPPORTED, no /dev/fuse.
 */
int lazy_guard_start(const struct lazy_view *view, const struct lazy_guard_opts *o,
                     struct lazy_guard **ret, struct err *err);
/* Ends the guardian: unmount first, or open files fail. NULL is fine. */
void lazy_guard_free(struct lazy_guard *g);
int lazy_guard_pid(const struct lazy_guard *g);
/* Bits 1 << enum confine_part (wasm/confine.h): the parts of the confinement that the kernel lacks.
 */
uint32_t lazy_guard_missing(const struct lazy_guard *g);

/* The next three functions: any thread. Errors: -EPIPE, the guardian has ended. */

/* Add a file with contents, which is only ever appended to. Returns the number of the source.
 * Errors: also E_LIMIT. */
int lazy_guard_source(struct lazy_guard *g, int fd, struct err *err);
/* A file (index of the view) is at an offset of a source; its digest was compared. */
int lazy_guard_have(struct lazy_guard *g, uint32_t file, uint32_t source, uint64_t at,
                    struct err *err);
/* The waiting opens of the file fail with an errno. */
int lazy_guard_fail(struct lazy_guard *g, uint32_t file, int error, struct err *err);

/*
 * Wait for the next opened file whose content is missing. 1, or 0: lazy_guard_wake() was called;
 * -EPIPE, the guardian has ended, before such a call if there was one. One thread.
 */
int lazy_guard_next(struct lazy_guard *g, uint32_t *ret);
/* Make lazy_guard_next() return, now and always: the guardian knows that no further content comes.
 * Any thread. */
void lazy_guard_wake(struct lazy_guard *g);
