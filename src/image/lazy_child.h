/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that mounts an image lazily (image/lazy_image.h) for the containers of a node, and
 * fetches the rest of it into the node store. It outlives the process that started it, as the
 * containers do: the next one finds it by its directory.
 *
 *     DIR/status                     what it has to say, replaced as a whole
 *     DIR/<manifest>/files/rootfs    the mount, read-only; the image's files below an overlay
 *     DIR/<manifest>/files/state     of the mount (image/root.h)
 *
 * It reads one line: {"store":DIR,"dir":DIR,"get":{...}}, "get" as in image/provide_child.h without
 * credentials. While its input stays open after that, it only fetches files that the start needs or
 * that were opened: the rest comes in another way meanwhile, by a plan.
 *
 *     ASKING --the start's files are here--> MOUNTED --all is in the store--> WHOLE
 *        \--> REFUSED                            \--------------------------------\--> BROKEN
 *
 * REFUSED: nothing was mounted, with the reason; the image can be pulled as a whole. BROKEN: wrong
 * data, or no process serves the files any more; containers must end. It ends in both states. In
 * WHOLE the network is not needed any more; it waits for the end of the mount.
 *
 * SIGTERM: no container will be started from the mount any more; it is unmounted, and containers
 * keep the file system. What it has begun to fetch goes on, until it gets nothing for
 * LAZY_CHILD_IDLE_MS, and after it the process ends.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    LAZY_CHILD_STATUS_MAX = 2 << 20, /* bytes of a status */
    LAZY_CHILD_IDLE_MS = 5 * 60 * 1000,
    LAZY_CHILD_LOCK_MS = 10 * 1000, /* to wait for another process that writes the store */
};

/* The first argument that makes a program the child. */
#define LAZY_CHILD_WORD "--mount-lazily"

enum lazy_child_at {
    LAZY_CHILD_ASKING,
    LAZY_CHILD_REFUSED,
    LAZY_CHILD_MOUNTED,
    LAZY_CHILD_WHOLE,
    LAZY_CHILD_BROKEN,
};

/* Texts are the arena's. */
struct lazy_child_status {
    enum lazy_child_at at;
    int pid;
    uint64_t start_ticks; /* of the process (io/process.h) */
    struct str boot;      /* base/boot.h */
    bool is_asked;        /* a registry is asked for files */
    struct str place;     /* "<manifest>/files"; "": not mounted */
    struct str config;    /* of a bundle (image/run_config.h); so is n_program */
    size_t n_program;
    /* REFUSED: -EEXIST: the store has the image. BROKEN: E_DIGEST: the registry has sent wrong
     * data. */
    int code;
    /* REFUSED, BROKEN: why. MOUNTED: what is missing, and why it does not come; "": it comes. */
    struct str why;
    uint64_t done_bytes, all_bytes; /* of its files, when `why` was written */
};

/* Errors: -ENOENT, there is none yet; E_PARSE, of reading. */
int lazy_child_status_read(const char *dir, struct arena *a, struct lazy_child_status *ret,
                           struct err *err);

/* main() of the child. Returns its exit status. */
int lazy_child_main(void);
