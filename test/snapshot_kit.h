/* SPDX-License-Identifier: Apache-2.0 */
/* A store with three layers, and a directory for a snapshotter, for tests of it. */
#pragma once

#include "base/sys.h"
#include "base/tree_remove.h"
#include "image/snapshot_state.h"
#include "oci/store.h"
#include "tar_kit.h"

#include <fcntl.h>
#include <stdio.h>

enum { TEXT_MAX = 1 << 20, LAYERS = 3, PATH_SIZE = 128 };

struct world {
    char dir[64], store[PATH_SIZE], root[PATH_SIZE];
    struct oci_digest ids[LAYERS], chain[LAYERS];
    char chain_text[LAYERS][OCI_DIGEST_TEXT_SIZE];
};

static inline void import(struct oci_store *s, struct str tar, const struct oci_digest *id)
{
    struct oci_import *im;
    const struct oci_import_opts opts = {
        .diff_id = *id, .blob = *id, .blob_size = tar.n, .has_no_blob = true
    };
    CHECK_OK(oci_import_new(s, &opts, &im, NULL));
    CHECK_OK(oci_import_add(im, tar, NULL));
    CHECK_OK(oci_import_commit(im, NULL));
    oci_import_free(im);
}

static inline void add_dir(struct tar_kit *k, const char *name)
{
    char block[TAR_BLOCK_BYTES];
    kit_header(block, name, '5', 0);
    kit_octal(block + 108, 8, 0);
    kit_octal(block + 116, 8, 0);
    kit_add_block(k, block);
}

/* The third layer has a file in a directory for which it has no entry. */
static inline void make_layer(struct tar_kit *k, int i)
{
    static const char *const names[] = { "etc/one", "etc/two", "etc/three" };
    if (i < 2)
        add_dir(k, "etc/");
    kit_file(k, names[i], "content");
    if (i == 1)
        kit_file(k, "etc/.wh.one", "");
    kit_end(k);
}

static inline void world_init(struct world *w)
{
    struct oci_store *s;
    *w = (struct world){ .dir = "/tmp/test-snapshotter-XXXXXX" };
    CHECK(mkdtemp(w->dir));
    (void)snprintf(w->store, sizeof w->store, "%s/store", w->dir);
    (void)snprintf(w->root, sizeof w->root, "%s/root", w->dir);
    const struct oci_store_opts opts = { .root = w->store };
    CHECK_OK(oci_store_open(&opts, &s, NULL));
    for (int i = 0; i < LAYERS; i++) {
        struct tar_kit k = { BUF_INIT(TEXT_MAX) };
        make_layer(&k, i);
        sha256_of(buf_str(&k.out), w->ids[i].bytes);
        import(s, buf_str(&k.out), &w->ids[i]);
        buf_fini(&k.out);
        snapshot_chain_id(i ? &w->chain[i - 1] : NULL, &w->ids[i], &w->chain[i]);
        oci_digest_format(&w->chain[i], w->chain_text[i]);
    }
    oci_store_close(s);
}

static inline void world_fini(struct world *w)
{
    CHECK_OK(tree_remove(AT_FDCWD, w->dir, NULL));
}
