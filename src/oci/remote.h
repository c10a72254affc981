/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A repository of a registry with blocking calls: what commands and worker threads use. It has a
 * loop of its own. One thread at a time.
 */
#pragma once

#include "oci/registry.h"

struct oci_remote;

struct oci_remote_opts {
    bool plain_http;
    const char *ca_file; /* PEM, trusted besides the system's roots; NULL: none */
    unsigned attempts;   /* 0 in these three: what oci/registry.h says */
    uint64_t stall_ms, backoff_ms;
    oci_registry_note note; /* NULL: none */
    void *arg;
};

/*
 * opts may be NULL. Credentials are looked up (oci/credentials.h); the registry is not asked yet.
 * Errors: those of oci_login_find(), oci_registry_new(), of reading the CA.
 */
int oci_remote_open(const struct oci_reference *ref, const struct oci_remote_opts *opts,
                    struct oci_remote **ret, struct err *err);
void oci_remote_free(struct oci_remote *m);
DEFINE_SCOPED(oci_remote, oci_remote_free)
const struct oci_reference *oci_remote_reference(const struct oci_remote *m);

/* Errors of all of these: those of oci_request_cb. */

/*
 * The manifest or index of this digest, or, with NULL, the one that the reference names, appended
 * to `to`. Its digest is compared with the one asked for and with what the registry says. Errors:
 * also E_DIGEST.
 */
int oci_remote_manifest(struct oci_remote *m, const struct oci_digest *digest, struct buf *to,
                        struct oci_digest *ret_digest, struct err *err);
/*
 * A blob from byte `from` on, piece by piece. From 0 its digest is compared at the end: what the
 * sink got counts only after 0. From further on the caller compares. Errors: also E_DIGEST.
 */
int oci_remote_blob(struct oci_remote *m, const struct oci_descriptor *d, uint64_t from,
                    oci_blob_sink sink, void *arg, struct err *err);
