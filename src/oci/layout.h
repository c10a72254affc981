/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing OCI image layouts (image-spec, image-layout.md). New blobs and an index lie in a
 * temporary directory within the layout, which is a layout of its own and can be read back; then
 * all becomes visible at once, when index.json is replaced. After a crash the layout is as it was;
 * what a crash left is removed by the next one that writes there. Blocking calls; one thread at a
 * time, blobs excepted.
 */
#pragma once

#include "oci/image.h"

struct oci_layout;

/*
 * Begin to change the layout at `directory`, which is made where it is missing; a directory with
 * other files in it is refused. Locks it. Errors: -EBUSY (another process changes it), E_PARSE,
 * what the file system gives; then nothing is left behind.
 */
int oci_layout_begin(const char *directory, struct oci_layout **ret, struct err *err);
/* Without oci_layout_publish() nothing of it stays. NULL is fine. */
void oci_layout_end(struct oci_layout *l);
DEFINE_SCOPED(oci_layout, oci_layout_end)

/* The temporary directory. Borrowed. */
const char *oci_layout_staging(const struct oci_layout *l);
/* The index that the layout has; empty for a new one. Borrowed. */
const struct oci_index *oci_layout_index(const struct oci_layout *l);

/* A file for a blob whose digest is not known yet: open for writing, given. Any thread. */
int oci_layout_blob_new(struct oci_layout *l, uint64_t number, struct err *err);
/* It is complete, synced and named by its digest from now on. Any thread. */
int oci_layout_blob_done(struct oci_layout *l, uint64_t number, int fd,
                         const struct oci_digest *digest, struct err *err);
/* A document as a blob. */
int oci_layout_document(struct oci_layout *l, struct str text, struct oci_digest *ret,
                        struct err *err);

/* A manifest that the index is to name; a reference name moves from the one that has it. */
struct oci_layout_manifest {
    struct oci_digest digest;
    uint64_t size;
    struct str name; /* of org.opencontainers.image.ref.name; empty: none */
    struct oci_platform platform;
};

/* The staging directory's index: these alone. Then it can be read as "oci:STAGING:NAME". */
int oci_layout_stage(struct oci_layout *l, const struct oci_layout_manifest *manifests, size_t n,
                     struct err *err);
/* Move the staged blobs to the layout and replace its index. */
int oci_layout_publish(struct oci_layout *l, const struct oci_layout_manifest *manifests, size_t n,
                       struct err *err);
