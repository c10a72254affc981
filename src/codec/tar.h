/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of tar streams, as layers of container images hold them: bytes in, entries and their
 * content out. Dialects: v7, ustar and pax (POSIX.1-2017, pax, "ustar Interchange Format" and "pax
 * Interchange Format"), GNU (long names, base-256 numbers, old sparse files) and the sparse formats
 * 0.0, 0.1 and 1.0 of GNU tar in pax headers. Where dialects disagree it reads as Go's archive/tar,
 * which containerd and Docker use.
 *
 * Paths come out normalised: no "./", no leading or trailing "/", no empty or "." component. The
 * root directory has the path "". The reader refuses a component ".." and a NUL byte, in paths and
 * in targets of hard links; the target of a symbolic link is not changed.
 *
 * TAR_EXTENDED_MAX and TAR_XATTRS_MAX bound the memory for any stream. Pure: no I/O. One reader for
 * one thread at a time.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum {
    TAR_BLOCK_BYTES = 512,
    TAR_PATH_MAX = 4096,           /* bytes of a path or a link's target */
    TAR_NAME_MAX = 255,            /* bytes of a component of a path */
    TAR_EXTENDED_MAX = 1 << 20,    /* bytes of the pax headers and long names of an entry */
    TAR_XATTRS_MAX = 64 << 10,     /* names and values of an entry's extended attributes */
    TAR_XATTR_COUNT_MAX = 1024,    /* extended attributes of an entry */
    TAR_SPARSE_PIECES_MAX = 65536, /* pieces of data of a sparse file */
};

enum tar_type {
    TAR_FILE,
    TAR_DIR,
    TAR_SYMLINK,
    TAR_HARDLINK,
    TAR_CHAR_DEVICE,
    TAR_BLOCK_DEVICE,
    TAR_FIFO,
};

struct tar_xattr {
    struct str name, value;
};

struct tar_entry {
    enum tar_type type;
    struct str path;
    struct str link; /* target: symbolic as written, hard link normalised; else "" */
    uint32_t mode;   /* 12 bits: set-user-ID, set-group-ID, sticky, rwx three times */
    uint32_t uid, gid;
    int64_t mtime_s; /* seconds since the epoch */
    uint32_t mtime_ns;
    uint64_t size; /* bytes of content, holes included; 0 unless TAR_FILE */
    uint32_t device_major, device_minor;
    const struct tar_xattr *xattrs; /* sorted by name, no name twice */
    size_t n_xattrs;
    uint64_t data_offset; /* where the content begins in the stream */
    bool is_sparse;       /* the stream does not hold the file's bytes in sequence */
};

/*
 * Each returns 0, or a negative code that ends the reading and that tar_reader_add() returns. All
 * arguments are borrowed for the call.
 */
struct tar_ops {
    int (*entry)(void *arg, const struct tar_entry *e, struct err *err);
    /* The next bytes of the last entry's content, or n_bytes zeros of a hole in it. */
    int (*data)(void *arg, struct str bytes, struct err *err);
    int (*hole)(void *arg, uint64_t n_bytes, struct err *err);
};

struct tar_reader;

/* `ops` and `arg` are kept until tar_reader_free(). */
struct tar_reader *tar_reader_new(const struct tar_ops *ops, void *arg);
void tar_reader_free(struct tar_reader *r);
DEFINE_SCOPED(tar_reader, tar_reader_free)

/*
 * The next bytes of the stream. Bytes after the end of the archive are ignored. Errors: E_PARSE,
 * E_LIMIT, E_UNSUPPORTED (an entry type other than those above) with the path in the text, and what
 * an op returned. After an error only tar_reader_free().
 */
int tar_reader_add(struct tar_reader *r, struct str bytes, struct err *err);

/*
 * The stream has ended. E_PARSE: it ended within an entry. The two blocks of zeros and the padding
 * of the last file may be missing.
 */
int tar_reader_end(struct tar_reader *r, struct err *err);

/*
 * Normalise `path` as the reader does, in `room` of TAR_PATH_MAX bytes; *ret is borrowed from
 * `room`. Errors: E_PARSE: "..", NUL, too long.
 */
int tar_normalize(struct str path, char *room, struct str *ret, struct err *err);

/*
 * Resolve the target of a symbolic link in the directory `dir`, followed by `rest`: a normalised
 * path in `room` of TAR_PATH_MAX bytes. ".." at the root stays there, a leading "/" starts there.
 * E_PARSE: too long.
 */
int tar_join_link(struct str dir, struct str target, struct str rest, char *room, struct str *ret);
