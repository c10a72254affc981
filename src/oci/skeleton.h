/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer's tar without the content of its files, so that the tar can be made again, byte for byte,
 * from files that are kept by the digests of their content. Little-endian:
 *
 *     header   8 "DMSKELET", u32 version (1), u32 parts, u64 bytes of the tar,
 *              u64 bytes of the contents (each distinct one once)
 *     parts    48 bytes each, in the order of the tar: u64 offset of the content in the tar,
 *              u64 its bytes (at least 1), 32 its SHA-256
 *     frame    the other bytes of the tar (headers, padding, what is sparse), packed by zstd
 *     u64      base/sum.h of all that precedes it
 *
 * The checksum finds damage; a reader trusts nothing else. Pure; any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/layer.h"

enum {
    OCI_SKELETON_VERSION = 1,
    OCI_SKELETON_HEADER_BYTES = 32,
    OCI_SKELETON_PART_BYTES = 8 + 8 + SHA256_BYTES,
    OCI_SKELETON_MAX = 1 << 30, /* bytes of one; a layer of 1.5 million files takes some 150 MB */
};

/* A view of the bytes of one, which have to outlive it. */
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

/* Whether the content of the entry is a part: it is a file that is not sparse, nor empty. */
bool oci_skeleton_has(const struct oci_entry *e);

/* Up to n bytes at an offset of the tar, fewer only at its end; a negative code ends the writing.
 */
typedef ssize_t (*oci_skeleton_tar)(void *arg, void *p, size_t n, uint64_t offset);

/*
 * Append that of a layer, whose entries lie in the tar in their order. A file that is sparse is no
 * part: its pieces stay in the frame. Errors: those of `tar` and of `to`; E_PARSE (the entries do
 * not lie so), -ENOMEM.
 */
int oci_skeleton_write(const struct oci_layer *layer, oci_skeleton_tar tar, void *arg,
                       struct buf *to, struct err *err);
/* Append its frame alone, packed at `level` of zstd. Errors: likewise. */
int oci_skeleton_pack(const struct oci_layer *layer, oci_skeleton_tar tar, void *arg, int level,
                      struct buf *to, struct err *err);
/*
 * The skeleton whose frame is apart from its parts, which are those of the layer: they are appended
 * to `parts`. *ret: a view of both. Errors: E_PARSE, the entries do not lie as they have to.
 */
int oci_skeleton_of(const struct oci_layer *layer, struct str frame, struct buf *parts,
                    struct oci_skeleton *ret, struct err *err);
/*
 * The skeleton of these parts, OCI_SKELETON_PART_BYTES each, with the other bytes of the tar as
 * they are. *ret: a view of both, without content_bytes. Errors: E_PARSE, the parts do not follow
 * each other, or the bytes are not as many as the tar has.
 */
int oci_skeleton_of_parts(struct str parts, uint64_t tar_bytes, struct str others,
                          struct oci_skeleton *ret, struct err *err);
/* How many bytes the frame has to have when it is unpacked. */
uint64_t oci_skeleton_frame_bytes(const struct oci_skeleton *k);
/* Errors: E_CORRUPT; E_VERSION, a newer program wrote it. */
int oci_skeleton_read(struct str bytes, struct oci_skeleton *ret, struct err *err);
/* i < n_parts */
struct oci_skeleton_part oci_skeleton_part(const struct oci_skeleton *k, size_t i);
/* The first two numbers of the header, from its first bytes alone. Errors: E_CORRUPT, E_VERSION. */
int oci_skeleton_read_header(struct str bytes, uint64_t *ret_tar_bytes, uint64_t *ret_content_bytes,
                             struct err *err);

typedef int (*oci_skeleton_sink)(void *arg, struct str bytes, struct err *err);
/* Give the bytes of the frame. The sink bounds them. Errors: E_CORRUPT, of the sink. */
int oci_skeleton_unpack(const struct oci_skeleton *k, oci_skeleton_sink sink, void *arg,
                        struct err *err);
/*
 * Make the tar again. content: gives the content of a part to the sink, piece by piece; the sink
 * refuses more or less than the part has. Errors: E_CORRUPT, of `content`, of `sink`.
 */
typedef int (*oci_skeleton_content)(void *arg, const struct oci_skeleton_part *part,
                                    oci_skeleton_sink sink, void *sink_arg, struct err *err);
int oci_skeleton_make_tar(const struct oci_skeleton *k, oci_skeleton_content content,
                          void *content_arg, oci_skeleton_sink sink, void *sink_arg,
                          struct err *err);

/* What the checksum of these bytes, without it, has to be; for tests that forge one. */
uint64_t oci_skeleton_sum(struct str bytes);
