/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches one layer into the node store from peers and registries, as image/transfer.h decides. The
 * part at the front is passed to the import as it is received; later parts wait in an unnamed file.
 * The layer is visible only after the digest of the blob and the DiffID were compared.
 *
 * Blocking, with its own loop: for threads.
 */
#pragma once

#include "image/inbox.h"
#include "image/transfer.h"
#include "io/tls.h"
#include "oci/remote.h"
#include "oci/store.h"

#include <stdatomic.h>

struct image_fetch_source {
    bool is_registry;
    const char *url;        /* of a peer: "http://10.0.0.2:7443" */
    const char *token;      /* of a peer */
    const char *repository; /* of a registry */
};

struct image_fetch {
    struct oci_store *store;
    struct oci_digest blob, diff_id;
    uint64_t size, max_tar_bytes; /* of the blob; of the tar, 0: as oci_import_opts */
    const struct image_transfer_piece *pieces;
    size_t n_pieces;
    const struct image_fetch_source *sources;
    size_t n_sources;
    /* What inflates and parses, as in struct oci_import_opts: peers are not trusted. */
    const struct layer_reading_ops *reading;
    const char *deploy, *node;     /* for the tokens of the peers */
    struct image_inbox *inbox;     /* receives pushes of peers; NULL: all peers are asked */
    const char *registry;          /* host */
    struct oci_remote_opts remote; /* how it is reached */
    struct tls_ctx *tls;           /* for peers by https; NULL: the roots of the system */
    uint64_t deadline_ms;          /* clock_mono_ms() */
    uint64_t bytes_per_second;     /* maximum mean rate; 0: no limit */
    const atomic_bool *stop;       /* set to end it early; NULL: never */
    /* A source has sent wrong bytes. NULL: none. Called on this thread. */
    void (*on_bad_source)(void *arg, uint32_t source);
    void *arg;
};

struct image_fetch_result {
    bool was_present;                    /* the store had it */
    uint64_t peer_bytes, registry_bytes; /* received, including wrong ones */
    uint64_t pushed_bytes;               /* of peer_bytes: pushed */
    uint64_t import_bytes, import_us;    /* passed to the store, and the time that it took */
};

/*
 * Errors: -ETIMEDOUT, the deadline; -ECANCELED; -EHOSTUNREACH, no source is left; E_DIGEST, the
 * last source sent wrong bytes; those of oci_import_new() and oci_import_add().
 */
int image_fetch_layer(const struct image_fetch *f, struct image_fetch_result *ret, struct err *err);
