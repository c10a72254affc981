/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of one layer of an image: its entries with the digests of their content, and its
 * whiteouts (OCI image-spec, layer.md). Made in one pass over the uncompressed tar, which is hashed
 * as well: that hash is the DiffID of the layer.
 *
 * Memory is limited to OCI_LAYER_MEMORY_MAX. One thread at a time for a layer or reader; several
 * threads may read a complete layer.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/digest.h"
#include "codec/tar.h"

enum {
    OCI_LAYER_ENTRIES_MAX = 1 << 24,
    /* Bytes of the records of a layer: entries, whiteouts, paths, targets, extended attributes. A
     * layer of 200 KB can name millions of entries. Enough for 1.5 million typical entries. */
    OCI_LAYER_MEMORY_MAX = 256 << 20,
};
/* Bytes of the content of a layer's files, holes included; only malicious layers have more. */
#define OCI_LAYER_CONTENT_MAX ((uint64_t)1 << 40)
/* Of them the bytes of holes: a few hundred bytes of tar can make any number of them, and each one
 * is hashed. */
#define OCI_LAYER_HOLES_MAX ((uint64_t)1 << 34)

struct oci_entry {
    struct str path; /* normalised as codec/tar.h says; "" is the root */
    struct str link; /* of links */
    uint64_t size;   /* bytes, of files */
    int64_t mtime_s; /* since the epoch */
    uint64_t data_offset;
    const struct tar_xattr *xattrs; /* sorted by name */
    uint32_t n_xattrs;
    uint32_t mtime_ns;
    uint32_t uid, gid;
    uint32_t device_major, device_minor;
    uint16_t mode;
    uint8_t type; /* enum tar_type */
    bool is_sparse;
    bool records_time; /* compiled Python (.pyc) that is stale once its source's time changes */
    uint8_t digest[SHA256_BYTES]; /* of the content of a file, also of an empty one */
};

struct oci_whiteout {
    struct str path; /* the hidden path; of an opaque one the directory whose children it hides */
    bool is_opaque;
};

struct oci_layer {
    VEC(struct oci_entry) entries; /* in the order of the archive */
    VEC(struct oci_whiteout) whiteouts;
    uint8_t diff_id[SHA256_BYTES];
    uint64_t n_bytes;   /* of the tar */
    uint64_t n_dropped; /* entries and attributes that must not reach a root file system */
    struct arena text;  /* owns what the entries point to */
};

void oci_layer_free(struct oci_layer *layer);
DEFINE_SCOPED(oci_layer, oci_layer_free)

/*
 * Add an entry of a tar, without its digest. Whiteouts are recognised by their names; leftovers of
 * aufs (".wh..wh.*") and attributes that control overlayfs ("trusted.overlay.*",
 * "user.overlay.*") are dropped. *ret: the entry, borrowed until the next one is added; NULL if no
 * entry was added. Errors: E_LIMIT, E_PARSE.
 */
int oci_layer_add(struct oci_layer *layer, const struct tar_entry *e, struct oci_entry **ret,
                  struct err *err);

/*
 * Add an entry or a whiteout as made by oci_layer_add(): it is copied, and its name is NOT checked.
 * *ret: as above, never NULL. Errors: E_LIMIT.
 */
int oci_layer_add_entry(struct oci_layer *layer, const struct oci_entry *e, struct oci_entry **ret,
                        struct err *err);
int oci_layer_add_whiteout(struct oci_layer *layer, const struct oci_whiteout *w, struct err *err);

/* Attributes that are never part of a layer: they would control overlayfs. */
bool oci_layer_drops_xattr(struct str name);
/* Whether a normalised path is that of an entry: not a whiteout, not a leftover of aufs. */
bool oci_layer_is_entry_path(struct str path);

/* Whether the first bytes of a .pyc (at least OCI_LAYER_PYC_HEAD) say that it is stale once the
 * time of its source changes (PEP 552). */
enum { OCI_LAYER_PYC_HEAD = 8 };
bool oci_layer_pyc_records_time(struct str head);

struct oci_layer_reader;

struct oci_layer_reader *oci_layer_reader_new(void);
void oci_layer_reader_free(struct oci_layer_reader *r);
DEFINE_SCOPED(oci_layer_reader, oci_layer_reader_free)
/* The next bytes of the uncompressed tar. Errors: those of tar_reader_add(), E_LIMIT. After an
 * error only oci_layer_reader_free() may be called. */
int oci_layer_reader_add(struct oci_layer_reader *r, struct str bytes, struct err *err);
/* At the end of the tar. *ret: given, oci_layer_free(). Errors: E_PARSE, the tar is incomplete. */
int oci_layer_reader_end(struct oci_layer_reader *r, struct oci_layer **ret, struct err *err);
