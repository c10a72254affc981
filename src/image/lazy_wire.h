/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the kernel's FUSE protocol that image/lazy_fuse.h uses: version 7, as in
 * <linux/fuse.h> (which cannot be included: it has a field with the name of a function of <time.h>
 * that the build bans). In the byte order of the machine. A request is a struct lazy_wire_request
 * and the struct of its opcode, an answer a struct lazy_wire_answer and its struct.
 */
#pragma once

#include <stdint.h>

enum {
    LAZY_WIRE_MAJOR = 7,
    LAZY_WIRE_MINOR = 38,
    LAZY_WIRE_ROOT = 1,            /* the number of the root's inode */
    LAZY_WIRE_KEEP_CACHE = 1 << 1, /* of an open: cached pages of an earlier one are still valid */
};

enum lazy_wire_opcode {
    LAZY_WIRE_LOOKUP = 1, /* a name with its NUL */
    LAZY_WIRE_FORGET = 2,
    LAZY_WIRE_GETATTR = 3,
    LAZY_WIRE_MKDIR = 9,
    LAZY_WIRE_OPEN = 14,
    LAZY_WIRE_READ = 15,
    LAZY_WIRE_STATFS = 17,
    LAZY_WIRE_RELEASE = 18,
    LAZY_WIRE_INIT = 26,
    LAZY_WIRE_OPENDIR = 27,
    LAZY_WIRE_RELEASEDIR = 29,
    LAZY_WIRE_INTERRUPT = 36,
    LAZY_WIRE_DESTROY = 38,
    LAZY_WIRE_BATCH_FORGET = 42,
};

/* Of both sides of INIT. */
enum {
    LAZY_WIRE_ASYNC_READ = 1 << 0,
    LAZY_WIRE_POSIX_LOCKS = 1 << 1,
    LAZY_WIRE_READDIRPLUS = 1 << 13,
    LAZY_WIRE_WRITEBACK_CACHE = 1 << 16,
    LAZY_WIRE_PARALLEL_DIROPS = 1 << 18,
    LAZY_WIRE_MAX_PAGES = 1 << 22,
};

struct lazy_wire_request {
    uint32_t len, opcode;
    uint64_t unique, node;
    uint32_t uid, gid, pid;
    uint16_t extensions, padding;
};

struct lazy_wire_answer {
    uint32_t len;
    int32_t error; /* 0, or -errno */
    uint64_t unique;
};

struct lazy_wire_attr {
    uint64_t ino, size, blocks;
    uint64_t times_s[3];
    uint32_t times_ns[3];
    uint32_t mode, nlink, uid, gid, rdev, blksize, flags;
};

struct lazy_wire_entry { /* to LOOKUP */
    uint64_t node, generation;
    uint64_t entry_valid_s, attr_valid_s;
    uint32_t entry_valid_ns, attr_valid_ns;
    struct lazy_wire_attr attr;
};

struct lazy_wire_attrs { /* to GETATTR */
    uint64_t valid_s;
    uint32_t valid_ns, padding;
    struct lazy_wire_attr attr;
};

struct lazy_wire_open {
    uint32_t flags, more_flags;
};

struct lazy_wire_opened {
    uint64_t handle;
    uint32_t flags;
    int32_t backing;
};

struct lazy_wire_read {
    uint64_t handle, offset;
    uint32_t size, flags;
    uint64_t lock_owner;
    uint32_t open_flags, padding;
};

struct lazy_wire_interrupt {
    uint64_t unique;
};

struct lazy_wire_statfs {
    uint64_t blocks, free, available, files, free_files;
    uint32_t block_bytes, name_max, fragment_bytes, padding, spare[6];
};

struct lazy_wire_init {
    uint32_t major, minor, max_readahead, flags, more_flags, unused[11];
};

struct lazy_wire_inited {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_granularity_ns;
    uint16_t max_pages, map_alignment;
    uint32_t more_flags, unused[7];
};

_Static_assert(sizeof(struct lazy_wire_request) == 40, "struct fuse_in_header");
_Static_assert(sizeof(struct lazy_wire_answer) == 16, "struct fuse_out_header");
_Static_assert(sizeof(struct lazy_wire_attr) == 88, "struct fuse_attr");
_Static_assert(sizeof(struct lazy_wire_entry) == 128, "struct fuse_entry_out");
_Static_assert(sizeof(struct lazy_wire_attrs) == 104, "struct fuse_attr_out");
_Static_assert(sizeof(struct lazy_wire_opened) == 16, "struct fuse_open_out");
_Static_assert(sizeof(struct lazy_wire_read) == 40, "struct fuse_read_in");
_Static_assert(sizeof(struct lazy_wire_statfs) == 80, "struct fuse_statfs_out");
_Static_assert(sizeof(struct lazy_wire_init) == 64, "struct fuse_init_in");
_Static_assert(sizeof(struct lazy_wire_inited) == 64, "struct fuse_init_out");
