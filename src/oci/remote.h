/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repository of a registry with blocking calls, for commands and worker threads. It has its own
 * loop. One thread at a time.
 */
#pragma once

#include "oci/registry.h"

#include <stdatomic.h>

enum {
    OCI_REMOTE_CHUNK_BYTES = 8 << 20,      /* of an upload, held in memory until it is accepted */
    OCI_REMOTE_CHUNK_MAX_BYTES = 64 << 20, /* a registry that demands larger ones is given up */
    OCI_REMOTE_UPLOADS = 3,                /* of one blob, if the registry loses the upload */
};

/* The header field of a manifest response that announces files by digest. */
#define OCI_FILES_HEADER "dormouse-files"

struct oci_remote;

struct oci_remote_opts {
    bool plain_http, allows_private; /* as in struct oci_registry_opts */
    const char *ca_file; /* PEM, trusted in addition to the system's roots; NULL: none */
    /* Credentials; empty: anonymous. NULL: from oci_login_find(). Borrowed.
     */
    const struct oci_login *login;
    const char *no_login, *no_address; /* as in struct oci_registry_opts */
    unsigned attempts;                 /* 0 in these three: the defaults of oci/registry.h */
    uint64_t stall_ms, backoff_ms;
    oci_registry_note note; /* NULL: none */
    /* Set by another thread: requests end with -ECANCELED soon, until oci_remote_until() sets
     * another one; also those of clones. Kept; NULL: never. */
    const atomic_bool *stop;
    /* As in struct oci_registry_opts; NULL: anywhere. */
    bool (*may_connect)(void *arg, const struct sockaddr *addr);
    void *arg; /* of both */
};

/*
 * opts may be NULL. Credentials are looked up (oci/credentials.h); no request is sent yet.
 * Errors: those of oci_login_find(), oci_registry_new(), of reading the CA.
 */
int oci_remote_open(const struct oci_reference *ref, const struct oci_remote_opts *opts,
                    struct oci_remote **ret, struct err *err);
/*
 * Only the client, for a caller with a loop of its own: given, oci_registry_close(). Errors: as
 * oci_remote_open().
 */
int oci_remote_registry(const struct oci_reference *ref, const struct oci_remote_opts *opts,
                        struct loop *loop, struct oci_registry **ret, struct err *err);
/* Another client of the same repository, for another thread. Does not touch `m`'s loop: any thread
 * may call it. Errors: as oci_remote_open(). */
int oci_remote_clone(const struct oci_remote *m, struct oci_remote **ret, struct err *err);
/*
 * From now on requests end at clock_mono_ms() until_ms with -ETIMEDOUT, and with -ECANCELED soon
 * after another thread has set *stop (kept; NULL: never). until_ms 0: no deadline.
 */
void oci_remote_until(struct oci_remote *m, uint64_t until_ms, const atomic_bool *stop);
void oci_remote_free(struct oci_remote *m);
DEFINE_SCOPED(oci_remote, oci_remote_free)
const struct oci_reference *oci_remote_reference(const struct oci_remote *m);

/* Errors of all of these: those of oci_request_cb. */

/*
 * The manifest or index of this digest, or, with NULL, the one that the reference names, appended
 * to `to`. Its digest is compared with the requested one and with that in the response. Errors:
 * also E_DIGEST.
 */
int oci_remote_manifest(struct oci_remote *m, const struct oci_digest *digest, struct buf *to,
                        struct oci_digest *ret_digest, struct err *err);
/* The current digest of a tag of the repository. 1, or 0: there is no such tag. */
int oci_remote_tag(struct oci_remote *m, const char *tag, struct oci_digest *ret, struct err *err);
/* A blob, piece by piece. Its digest is compared at the end: the data in the sink is valid only
 * after 0. Errors: also E_DIGEST. */
int oci_remote_blob(struct oci_remote *m, const struct oci_descriptor *d, oci_blob_sink sink,
                    void *arg, struct err *err);
/* The same from byte `from` on; its digest is NOT compared: the caller does that. */
int oci_remote_blob_from(struct oci_remote *m, const struct oci_descriptor *d, uint64_t from,
                         oci_blob_sink sink, void *arg, struct err *err);

/* Only bytes [from, to) of it, not compared either. Errors: also E_UNSUPPORTED, the registry has no
 * ranges. */
int oci_remote_blob_part(struct oci_remote *m, const struct oci_descriptor *d, uint64_t from,
                         uint64_t to, oci_blob_sink sink, void *arg, struct err *err);

/* Bytes [from, to) of a blob. */
struct oci_range {
    uint64_t from, to;
};
enum { OCI_RANGES_MAX = 64 }; /* of one request */
/* Bytes of the blob from `at` on. */
typedef int (*oci_ranges_sink)(void *arg, uint64_t at, struct str bytes, struct err *err);
/*
 * Several ranges in one request (RFC 9110 section 14.2), at most OCI_RANGES_MAX, in ascending order
 * and not adjacent. The data is not verified: parts may be missing, be in another order, or be
 * longer than requested, since a server may merge ranges. The request is not repeated after a
 * broken connection. Errors: E_UNSUPPORTED, the registry answers with the whole blob, or with one
 * range; E_PARSE.
 */
int oci_remote_blob_ranges(struct oci_remote *m, const struct oci_descriptor *d,
                           const struct oci_range *ranges, size_t n, oci_ranges_sink sink,
                           void *arg, struct err *err);

/* ---- files by their digests, of `dormouse image serve` ---- */

/* A manifest response has announced that the registry has the functions below. */
bool oci_remote_has_files(const struct oci_remote *m);
/* The tree manifest (oci/tree_manifest.h) of a layer, by its DiffID, appended to `to`. */
int oci_remote_tree(struct oci_remote *m, const struct oci_digest *diff_id, struct buf *to,
                    struct err *err);
/* The start list of the image with this configuration (image/start_list.h), appended to `to`. */
int oci_remote_start(struct oci_remote *m, const struct oci_digest *config, struct buf *to,
                     struct err *err);
/* The answer to a request for files (oci/file_parcel.h), appended to `to`. */
int oci_remote_parcel(struct oci_remote *m, struct str request, struct buf *to, struct err *err);

/* ---- pushing ---- */

/* Writes the whole blob to `sink`; may be called again. */
typedef int (*oci_blob_writer)(void *arg, oci_blob_sink sink, void *sink_arg, struct err *err);

enum oci_pushed { OCI_PUSHED_UPLOADED, OCI_PUSHED_EXISTED, OCI_PUSHED_MOUNTED };

/*
 * Make sure that the repository has a blob: it may have it already, or another repository of the
 * registry has it (mount_from, NULL: none), else it is uploaded. *ret: enum oci_pushed. Errors:
 * also those of the writer, E_DIGEST.
 */
int oci_remote_push_blob(struct oci_remote *m, const struct oci_descriptor *d,
                         const char *mount_from, oci_blob_writer writer, void *arg,
                         enum oci_pushed *ret, struct err *err);
/*
 * Put a manifest or index, whose blobs the repository has. name: a tag, or NULL for its digest. A
 * manifest with a subject is added to the subject's referrers if the registry does not do so
 * (distribution-spec 1.1, "Pushing Manifests with Subject").
 */
int oci_remote_push_manifest(struct oci_remote *m, const char *name, struct str media_type,
                             struct str text, struct err *err);
/*
 * The index of manifests that refer to `subject`, appended to `to`: by the referrers API, or by the
 * tag "sha256-<hex>" if the registry does not have that. Without any: an index without members.
 */
int oci_remote_referrers(struct oci_remote *m, const struct oci_digest *subject, struct buf *to,
                         struct err *err);
