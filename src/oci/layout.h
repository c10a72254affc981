/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing OCI image layouts (image-spec, image-layout.md). New blobs and an index are written to a
 * temporary directory in the layout, which is itself a layout and can be read. They become visible
 * at once, when index.json is replaced. A crash leaves the layout unchanged; the next writer
 * removes the temporary files. Blocking calls; one thread at a time, except for blobs.
 */
#pragma once

#include "oci/image.h"

struct oci_layout;

/*
 * Begin to change the layout at `directory`, which is created if it is missing; a directory with
 * other files is refused. Locks it. Errors: -EBUSY (another process changes it), E_PARSE, errors of
 * the file system; then nothing is left on disk.
 */
int oci_layout_begin(const char *directory, struct oci_layout **ret, struct err *err);
/* Discards everything unless oci_layout_publish() was called. NULL is fine. */
void oci_layout_end(struct oci_layout *l);
DEFINE_SCOPED(oci_layout, oci_layout_end)

/* The temporary directory. Borrowed. */
const char *oci_layout_staging(const struct oci_layout *l);
/* The current index of the layout; empty for a new one. Borrowed. */
const struct oci_index *oci_layout_index(const struct oci_layout *l);

/* A file for a blob whose digest is not known yet: open for writing, given. Any thread. */
int oci_layout_blob_new(struct oci_layout *l, uint64_t number, struct err *err);
/* The file is complete: sync it and name it by its digest. Any thread. */
int oci_layout_blob_done(struct oci_layout *l, uint64_t number, int fd,
                         const struct oci_digest *digest, struct err *err);
/* A document as a blob. */
int oci_layout_document(struct oci_layout *l, struct str text, struct oci_digest *ret,
                        struct err *err);

/* A manifest to add to the index; a reference name is removed from the manifest that has it. */
struct oci_layout_manifest {
    struct oci_digest digest;
    uint64_t size;
    struct str name; /* of org.opencontainers.image.ref.name; empty: none */
    struct oci_platform platform;
};

/* Write the staging directory's index, with only these. It can then be read as "oci:STAGING:NAME".
 */
int oci_layout_stage(struct oci_layout *l, const struct oci_layout_manifest *manifests, size_t n,
                     struct err *err);
/* Move the staged blobs to the layout and replace its index. */
int oci_layout_publish(struct oci_layout *l, const struct oci_layout_manifest *manifests, size_t n,
                       struct err *err);
