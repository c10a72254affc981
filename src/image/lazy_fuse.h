/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system for the kernel (FUSE, linux/fuse.h, version 7): the contents of files at
 * "/ab/<hex>" by their SHA-256, with their sizes known from the start. Opening one waits until the
 * content is there; what was opened can be read without waiting. It is only read, and lists no
 * directory: overlayfs finds what it looks for (image/erofs.h).
 *
 * A machine of states without system calls; time is given. One thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/digest.h"

enum {
    LAZY_FUSE_READ_MAX = 1 << 20, /* bytes of an answer */
    LAZY_FUSE_REQUEST_MAX = 64 << 10,
    LAZY_FUSE_WAITING_MAX = 4096,    /* opens; another one is EIO */
    LAZY_FUSE_INTERRUPTED_MS = 1000, /* so long a signal waits for the content */
    LAZY_FUSE_ASK_AGAIN_MS = 20,
};

struct lazy_fuse_file {
    uint8_t digest[SHA256_BYTES];
    uint64_t size; /* bytes */
};

struct lazy_fuse_ops {
    /* An answer to the kernel: both parts, in one write. */
    void (*reply)(void *arg, struct str head, struct str data);
    /* Get the content of a file; false: not now, it is asked again. */
    bool (*want)(void *arg, uint32_t file);
    /* n bytes at an offset of a source, all of them. Errors: negative codes of errno. */
    int (*read)(void *arg, uint32_t source, uint64_t at, void *to, size_t n);
    void *arg;
};

struct lazy_fuse;

/* files: sorted by digest; kept, and so is `ops`. open_ms: how long an open waits, then it is EIO.
 */
struct lazy_fuse *lazy_fuse_new(const struct lazy_fuse_file *files, size_t n, uint64_t open_ms,
                                const struct lazy_fuse_ops *ops);
void lazy_fuse_free(struct lazy_fuse *f);

/* A request as /dev/fuse gives it. *ret_is_ready: the kernel and we have agreed. Errors: E_PARSE,
 * it is none. */
int lazy_fuse_request(struct lazy_fuse *f, struct str bytes, uint64_t now_ms, bool *ret_is_ready,
                      struct err *err);

/* file: an index of `files`; others are ignored, since the caller checks them. The content is
 * there, compared with its digest, at an offset of a source. */
void lazy_fuse_have(struct lazy_fuse *f, uint32_t file, uint32_t source, uint64_t at);
/* Opens of it that wait get this errno; later ones ask again. */
void lazy_fuse_fail(struct lazy_fuse *f, uint32_t file, int error);
/* Nothing more comes: opens of what is not there are EIO from now on. */
void lazy_fuse_orphan(struct lazy_fuse *f);
/* Answer opens that have waited too long. Returns in how many milliseconds the next one has;
 * UINT64_MAX: none waits. */
uint64_t lazy_fuse_sweep(struct lazy_fuse *f, uint64_t now_ms);
