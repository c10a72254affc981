/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A FUSE file system (linux/fuse.h, version 7): the contents of files at "/ab/<hex>" by their
 * SHA-256, with sizes that are known from the start. An open waits until the content is present;
 * then reads do not wait. It is read-only and lists no directory: overlayfs only looks up names
 * (image/erofs.h).
 *
 * A state machine without system calls; the time is passed in. One thread.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "codec/digest.h"

enum {
    LAZY_FUSE_READ_MAX = 1 << 20, /* bytes of an answer */
    LAZY_FUSE_REQUEST_MAX = 64 << 10,
    LAZY_FUSE_WAITING_MAX = 4096,    /* opens; another one is EIO */
    LAZY_FUSE_INTERRUPTED_MS = 1000, /* how long an interrupted open still waits for the content */
    LAZY_FUSE_ASK_AGAIN_MS = 20,     /* after want() returned false */
};

struct lazy_fuse_file {
    uint8_t digest[SHA256_BYTES];
    uint64_t size; /* bytes */
};

struct lazy_fuse_ops {
    /* Send an answer to the kernel: both parts, in one write. */
    void (*reply)(void *arg, struct str head, struct str data);
    /* Fetch the content of a file; false: not now, the call is repeated later. */
    bool (*want)(void *arg, uint32_t file);
    /* Read exactly n bytes at an offset of a source. Errors: negative codes of errno. */
    int (*read)(void *arg, uint32_t source, uint64_t at, void *to, size_t n);
    void *arg;
};

struct lazy_fuse;

/* files: sorted by digest; kept, and so is `ops`. open_ms: how long an open waits before EIO. */
struct lazy_fuse *lazy_fuse_new(const struct lazy_fuse_file *files, size_t n, uint64_t open_ms,
                                const struct lazy_fuse_ops *ops);
void lazy_fuse_free(struct lazy_fuse *f);

/* A request from /dev/fuse. *ret_is_ready: the version was negotiated. Errors: E_PARSE, not a
 * request. */
int lazy_fuse_request(struct lazy_fuse *f, struct str bytes, uint64_t now_ms, bool *ret_is_ready,
                      struct err *err);

/* The content of a file is present, compared with its digest, at an offset of a source. file: an
 * index of `files`; other values are ignored, since the caller checks them. */
void lazy_fuse_have(struct lazy_fuse *f, uint32_t file, uint32_t source, uint64_t at);
/* Waiting opens of the file fail with this errno; later ones request it again. */
void lazy_fuse_fail(struct lazy_fuse *f, uint32_t file, int error);
/* No further content comes: opens of missing contents are EIO from now on. */
void lazy_fuse_orphan(struct lazy_fuse *f);
/* Answer opens that have waited too long. Returns the time in milliseconds until the next one times
 * out; UINT64_MAX: none waits. */
uint64_t lazy_fuse_sweep(struct lazy_fuse *f, uint64_t now_ms);
