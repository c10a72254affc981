/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files packed together, by the digests of their contents, and compressed against older versions
 * that the receiver has ("bases"): the request of a node to a node that has the layers, and the
 * answer. Little-endian:
 *
 *     request  8 "DMFILERQ", u32 version (1), u32 layers, u32 bases, u32 files; 32 bytes each: the
 *              DiffIDs of the layers that have all of them, the digests of bases and of files
 *     answer   8 "DMFILEAN", u32 version (1), u32 bases, u32 files; u8 each: 1, it is present;
 *              u64 bytes of all present files; then these files, one after the other, as one
 *              zstd frame. Its prefix (ZSTD_CCtx_refPrefix, as with `zstd --patch-from`) is the
 *              present bases, one after the other
 *
 * Pure. Any thread.
 */
#pragma once

#include "base/buf.h"
#include "oci/image.h"

enum {
    OCI_PARCEL_VERSION = 1,
    OCI_PARCEL_LAYERS_MAX = 256,
    OCI_PARCEL_FILES_MAX = 16384,     /* and bases */
    OCI_PARCEL_BYTES_MAX = 128 << 20, /* of all files, and of all bases; both ends hold them */
    /* Of a request. */
    OCI_PARCEL_REQUEST_MAX = 24 + SHA256_BYTES * (OCI_PARCEL_LAYERS_MAX + 2 * OCI_PARCEL_FILES_MAX),
    /* Of an answer: the maximum that zstd makes of incompressible data. */
    OCI_PARCEL_ANSWER_MAX =
        OCI_PARCEL_BYTES_MAX + OCI_PARCEL_BYTES_MAX / 128 + (64 << 10) + 2 * OCI_PARCEL_FILES_MAX,
};

struct oci_parcel_request {
    const struct oci_digest *layers, *bases, *files;
    size_t n_layers, n_bases, n_files;
};

/* Errors: E_LIMIT, more than a request may have; those of `to`. */
int oci_parcel_request_write(const struct oci_parcel_request *q, struct buf *to, struct err *err);
/* The digests live in the arena. Errors: E_PARSE, E_VERSION, E_LIMIT. */
int oci_parcel_request_read(struct arena *a, struct str bytes, struct oci_parcel_request *ret,
                            struct err *err);

struct oci_parcel {
    const uint8_t *has_base, *has_file; /* 1: it is present; as many as were requested */
    size_t n_bases, n_files;
    uint64_t n_bytes;  /* of the present files */
    struct str packed; /* of an answer that is read */
};

/*
 * The answer: `files` are the bytes of the present ones, `bases` likewise. p: all except `packed`.
 * Errors: -ENOMEM, those of `to`.
 */
int oci_parcel_write(const struct oci_parcel *p, struct str bases, struct str files, struct buf *to,
                     struct err *err);
/* Borrowed from `bytes`. Errors: E_PARSE, E_VERSION, E_LIMIT. */
int oci_parcel_read(struct str bytes, struct oci_parcel *ret, struct err *err);
/* The p->n_bytes bytes of the files to `ret`. Errors: E_PARSE, -ENOMEM. */
int oci_parcel_unpack(const struct oci_parcel *p, struct str bases, char *ret, struct err *err);
