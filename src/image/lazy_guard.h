/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guardian of a lazy mount: a process of its own that serves the contents of files
 * (image/lazy_fuse.h), so that opens wait while this process gets them.
 *
 *     container -> overlay -> FUSE -> guardian <- socket -> this process -> registry
 *
 * The guardian gets no content through the socket: it gets descriptors ("sources") once, and then
 * for each file where in a source its content lies. So it goes on with what was there when this
 * process ends, and answers EIO for the rest. When the guardian itself ends, the kernel ends the
 * connection: opens and reads give ENOTCONN, never zeros. It ends with the mount.
 *
 * Before the first request it has an empty root, no network, no other process in sight, no
 * capabilities, another user where dormouse runs as root, and a list of system calls without paths
 * and processes; nothing of what it reads comes from outside of this machine.
 */
#pragma once

#include "image/lazy_view.h"

enum {
    LAZY_GUARD_SOURCES_MAX = 1024,
    LAZY_GUARD_OPEN_MS = 60 * 1000, /* how long an open waits, unless stated */
    LAZY_GUARD_OPEN_MAX_MS = 24 * 3600 * 1000,
};

#define LAZY_GUARD_WORD "--guard-files"
/* What the program does that was started with this word. */
int lazy_guard_main(int argc, char **argv);

struct lazy_guard;

struct lazy_guard_opts {
    const char *target;  /* an existing directory, where the contents are mounted */
    const char *program; /* that calls lazy_guard_main(); NULL: this one */
    uint64_t open_ms;    /* at most LAZY_GUARD_OPEN_MAX_MS; 0: LAZY_GUARD_OPEN_MS */
};

/*
 * Start it and mount; nothing is there yet. *ret: given, lazy_guard_free(). Errors: of starting a
 * process, those of mount_fuse(); E_UNSUPPORTED, no /dev/fuse.
 */
int lazy_guard_start(const struct lazy_view *view, const struct lazy_guard_opts *o,
                     struct lazy_guard **ret, struct err *err);
/* The guardian ends, if it is there: unmount first, or what is open fails. NULL is fine. */
void lazy_guard_free(struct lazy_guard *g);
int lazy_guard_pid(const struct lazy_guard *g);
/* Of what confines it, bits 1 << enum confine_part (wasm/confine.h): what the kernel refused. */
uint32_t lazy_guard_missing(const struct lazy_guard *g);

/* Of these three, any thread. Errors: -EPIPE, the guardian has ended. */

/* Contents lie in a file, which is not changed but by adding to it. Returns the number of the
 * source. Errors: also E_LIMIT. */
int lazy_guard_source(struct lazy_guard *g, int fd, struct err *err);
/* A file (index of the view) is at an offset of a source; its digest was compared. */
int lazy_guard_have(struct lazy_guard *g, uint32_t file, uint32_t source, uint64_t at,
                    struct err *err);
/* The opens of it that wait now fail with an errno. */
int lazy_guard_fail(struct lazy_guard *g, uint32_t file, int error, struct err *err);

/*
 * Wait for the next file that is opened and not there. 1, or 0: lazy_guard_wake() was called;
 * -EPIPE, the guardian has ended, before such a call if there was one. One thread.
 */
int lazy_guard_next(struct lazy_guard *g, uint32_t *ret);
/* Let lazy_guard_next() return, now and from now on: the guardian knows that nothing more comes.
 * Any thread. */
void lazy_guard_wake(struct lazy_guard *g);
