/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up images in registries: DiffIDs and sizes of their layers, from the manifest and the
 * configuration. No layer is read.
 *
 *     ask -> the name is fresh, its image is cached -> answer
 *         -> one flight for each name and login: manifest -> its digest is cached      -> answer
 *                                                         '-> (of an index: its own) -> config
 *
 * Images are cached by digest. The digest of a name is requested again after a minute, and so is a
 * failure. Each login makes its own requests, so that a user only sees images that the registry
 * shows to this user. Without requests there is no timer and no connection.
 *
 * Loop thread only.
 */
#pragma once

#include "base/list.h"
#include "io/loop.h"
#include "oci/credentials.h"
#include "oci/image.h"
#include "oci/reference.h"

enum {
    OCI_LOOKUP_FLIGHTS = 8,          /* at a time */
    OCI_LOOKUP_HOST_FLIGHTS = 2,     /* per registry: a silent one must not block the others */
    OCI_LOOKUP_WAITING_MAX = 1024,   /* flights that wait for their turn; more are refused */
    OCI_LOOKUP_NAMES_MAX = 4096,     /* then the least recently requested one is evicted */
    OCI_LOOKUP_KEPT_BYTES = 4 << 20, /* of images, likewise */
    OCI_LOOKUP_FRESH_MS = 60000,
    OCI_LOOKUP_LIMIT_MS = 10000, /* of a flight, from its start */
};

enum oci_lookup_reach {
    OCI_LOOKUP_DENIED,
    OCI_LOOKUP_PUBLIC, /* only at public addresses (io/address.h) */
    OCI_LOOKUP_ANYWHERE,
};

struct oci_lookup_opts {
    struct loop *loop; /* kept */
    enum oci_lookup_reach (*reach)(void *arg,
                                   const char *host); /* of a reference; NULL: anywhere */
    bool (*is_plain)(void *arg, const char *host); /* use no TLS; NULL: only for loopback hosts */
    void *arg;                                     /* of both */
    const char *no_address;      /* as in struct oci_registry_opts, of OCI_LOOKUP_PUBLIC */
    struct str ca_pem;           /* trusted in addition to the system's roots; copied */
    bool keeps_documents;        /* struct oci_lookup_image has their texts */
    uint64_t fresh_ms, limit_ms; /* 0: as above */
};

struct oci_lookup_layer {
    struct oci_digest diff_id, blob;
    uint64_t size; /* in the registry, mostly compressed */
};
struct oci_lookup_image {                  /* of this machine's platform, if there are several */
    const struct oci_lookup_layer *layers; /* bottom first */
    size_t n;
    struct oci_digest manifest, config;
    struct str manifest_text, config_text; /* empty without keeps_documents */
};

/* Owned by the caller; zeroed except for on_done; in use until that was called or the call
 * cancelled. */
struct oci_lookup_call {
    struct list node;
    /* Called once, on a later turn. r 0: image is borrowed for the call. Else: E_DENIED, -ENOENT,
     * E_PARSE, E_LIMIT, E_UNSUPPORTED (not an image, or none for this platform), -ETIMEDOUT, and
     * what errors of oci_request_cb. */
    void (*on_done)(struct oci_lookup_call *c, int r, const struct oci_lookup_image *image,
                    const struct err *err);
};

struct oci_lookup;
struct oci_lookup *oci_lookup_new(const struct oci_lookup_opts *opts);
/* login: borrowed; empty: anonymous. Errors: E_LIMIT. */
int oci_lookup_ask(struct oci_lookup *l, const struct oci_reference *ref,
                   const struct oci_login *login, struct oci_lookup_call *call, struct err *err);
/* on_done() is not called any more; the flight continues. No-op if the call is not in progress. */
void oci_lookup_cancel(struct oci_lookup_call *call);
/* Every call must have ended or been cancelled. Freed after the last flight. NULL is fine. */
void oci_lookup_close(struct oci_lookup *l);
