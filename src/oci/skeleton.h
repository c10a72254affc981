/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tar of a layer without the content of its files. The tar can be rebuilt from it, byte for
 * byte, with the contents of the files, which are stored by digest. Little-endian:
 *
 *     header   8 "DMSKELET", u32 version (1), u32 parts, u64 bytes of the tar,
 *              u64 bytes of the contents (each distinct one once)
 *     parts    48 bytes each, in the order of the tar: u64 offset of the content in the tar,
 *              u64 its bytes (at least 1), 32 its SHA-256
 *     frame    the other bytes of the tar (headers, padding, what is sparse), packed by zstd
 *     u64      base/sum.h of all that precedes it
 *
 * The checksum detects damage; a reader must validate everything else. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/layer.h"

enum {
    OCI_SKELETON_VERSION = 1,
    OCI_SKELETON_HEADER_BYTES = 32,
    OCI_SKELETON_PART_BYTES = 8 + 8 + SHA256_BYTES,
    OCI_SKELETON_MAX = 1 << 30, /* bytes; a layer of 1.5 million files takes about 150 MB */
};

/* A view of a skeleton's bytes, which must outlive it. */
struct oci_skeleton {
    uint64_t tar_bytes, content_bytes;
    size_t n_parts;
    struct str parts, frame;
    bool is_unpacked; /* the frame */
};

struct oci_skeleton_part {
    uint64_t offset, size;
    const uint8_t *digest; /* SHA256_BYTES */
};

/* Whether the content of the entry is a part: the entry is a file, not sparse and not empty. */
bool oci_skeleton_has(const struct oci_entry *e);

/* Read up to n bytes at an offset of the tar, fewer only at its end; a negative code ends the
 * write. */
typedef ssize_t (*oci_skeleton_tar)(void *arg, void *p, size_t n, uint64_t offset);

/*
 * Append the skeleton of a layer, whose entries are in the order of the tar. A sparse file is not a
 * part: its bytes stay in the frame. Errors: those of `tar` and of `to`; E_PARSE (the entries are
 * not in order), -ENOMEM.
 */
int oci_skeleton_write(const struct oci_layer *layer, oci_skeleton_tar tar, void *arg,
                       struct buf *to, struct err *err);
/* Append only the frame, packed at zstd level `level`. Errors: as above. */
int oci_skeleton_pack(const struct oci_layer *layer, oci_skeleton_tar tar, void *arg, int level,
                      struct buf *to, struct err *err);
/*
 * A skeleton whose frame is stored separately from its parts. The parts of the layer are appended
 * to `parts`. *ret: a view of both. Errors: E_PARSE, the entries are not in order.
 */
int oci_skeleton_of(const struct oci_layer *layer, struct str frame, struct buf *parts,
                    struct oci_skeleton *ret, struct err *err);
/*
 * A skeleton of these parts, OCI_SKELETON_PART_BYTES each, and of the other bytes of the tar, not
 * packed. *ret: a view of both, without content_bytes. Errors: E_PARSE, the parts overlap or are
 * not in order, or the number of other bytes does not match the size of the tar.
 */
int oci_skeleton_of_parts(struct str parts, uint64_t tar_bytes, struct str others,
                          struct oci_skeleton *ret, struct err *err);
/* The size that the frame must have when it is unpacked. */
uint64_t oci_skeleton_frame_bytes(const struct oci_skeleton *k);
/* Errors: E_CORRUPT; E_VERSION, a newer program wrote it. */
int oci_skeleton_read(struct str bytes, struct oci_skeleton *ret, struct err *err);
/* i < n_parts */
struct oci_skeleton_part oci_skeleton_part(const struct oci_skeleton *k, size_t i);
/* The first two numbers of the header, from its first bytes alone. Errors: E_CORRUPT, E_VERSION. */
int oci_skeleton_read_header(struct str bytes, uint64_t *ret_tar_bytes, uint64_t *ret_content_bytes,
                             struct err *err);

typedef int (*oci_skeleton_sink)(void *arg, struct str bytes, struct err *err);
/* Pass the bytes of the frame to the sink, which limits them. Errors: E_CORRUPT, of the sink. */
int oci_skeleton_unpack(const struct oci_skeleton *k, oci_skeleton_sink sink, void *arg,
                        struct err *err);
/*
 * Rebuild the tar. content: passes the content of a part to the sink, piece by piece; the sink
 * rejects a content that is longer or shorter than the part. Errors: E_CORRUPT, of `content`, of
 * `sink`.
 */
typedef int (*oci_skeleton_content)(void *arg, const struct oci_skeleton_part *part,
                                    oci_skeleton_sink sink, void *sink_arg, struct err *err);
int oci_skeleton_make_tar(const struct oci_skeleton *k, oci_skeleton_content content,
                          void *content_arg, oci_skeleton_sink sink, void *sink_arg,
                          struct err *err);

/* The checksum that these bytes (without the checksum) must have; for tests that forge one. */
uint64_t oci_skeleton_sum(struct str bytes);
