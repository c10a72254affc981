/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images in files of this machine and in registries, named as skopeo names them:
 *
 *     oci:DIR[:NAME]                an OCI image layout (image-spec, image-layout.md)
 *     oci-archive:FILE[:NAME]       a tar of such a directory
 *     docker-archive:FILE[:NAME]    what `docker save` writes, and `podman save` by default
 *     docker://REFERENCE            in a registry (oci/reference.h)
 *     store:ROOT:NAME               in the node store of that directory (oci/store.h)
 *
 * NAME chooses among several images: the reference name in the layout, or the tag in the archive;
 * one image needs none. Blobs are verified while they are read. Blocking calls, for commands and
 * worker threads; one source for one thread at a time, except that any number may read blobs once
 * oci_source_image() has returned.
 */
#pragma once

#include "oci/image.h"
#include "oci/layer_gather.h"
#include "oci/remote.h"

struct oci_source;

/*
 * registry: how registries are reached; NULL: as the defaults say; borrowed, what it points at is
 * kept. Errors: E_PARSE (no reference of these forms, or no image there), -ENOENT and what reading
 * or the registry gives.
 */
int oci_source_open_with(struct str reference, const struct oci_remote_opts *registry,
                         struct oci_source **ret, struct err *err);
int oci_source_open(struct str reference, struct oci_source **ret, struct err *err);
/* The registry that it reads from; NULL: files. Borrowed. */
struct oci_remote *oci_source_remote(struct oci_source *s);
/* The same for the thread that asks, after oci_source_image(). Errors: E_UNSUPPORTED, files; those
 * of oci_remote_clone(). */
int oci_source_remote_of_thread(struct oci_source *s, struct oci_remote **ret, struct err *err);
void oci_source_free(struct oci_source *s);
DEFINE_SCOPED(oci_source, oci_source_free)

struct oci_image {
    struct oci_digest digest; /* of the manifest; for docker-archive of the configuration */
    struct str manifest_type; /* the media type of the manifest; empty: not stated */
    struct oci_manifest manifest;
    struct oci_config config;
    struct str manifest_text; /* empty for docker-archive, which has none */
    struct str config_text;
    struct oci_digest index; /* from which the manifest was chosen; */
    struct str index_text;   /* empty: none */
};

/*
 * The image that the reference names, for this platform where there are several. Documents live in
 * the source. Errors: -ENOENT (no such name or platform; the text lists the names), E_PARSE,
 * E_DIGEST, E_LIMIT.
 */
int oci_source_image(struct oci_source *s, const struct oci_platform *platform,
                     struct oci_image *ret, struct err *err);

/*
 * What the reference names, a manifest or an index as it stands: its digest, size and text.
 * Documents live in the source. Errors: as of oci_source_image(); E_UNSUPPORTED for docker-archive,
 * which has neither.
 */
int oci_source_root(struct oci_source *s, struct oci_descriptor *ret, struct str *ret_text,
                    struct err *err);
/* A manifest or index that an index of this source lists. */
int oci_source_document(struct oci_source *s, const struct oci_descriptor *d, struct str *ret,
                        struct err *err);

/* Read a blob piece by piece. The digest and the size are compared at the end: what the sink got
 * counts only after 0. Several threads may do so. Errors: E_DIGEST, -ENOENT, what the sink
 * returned. */
int oci_source_blob(struct oci_source *s, const struct oci_descriptor *d, oci_blob_sink sink,
                    void *arg, struct err *err);

/* The same from byte `from` on, for registries; the digest is NOT compared unless from is 0.
 * Errors: also E_UNSUPPORTED, files. */
int oci_source_blob_from(struct oci_source *s, const struct oci_descriptor *d, uint64_t from,
                         oci_blob_sink sink, void *arg, struct err *err);

/* What inflates and parses its layers from now on (oci/layer_parse.h): layer_parse_here unless this
 * is called. arg: kept. */
void oci_source_read_by(struct oci_source *s, const struct layer_reading_ops *how, void *arg);
/* Layer `i` of an image of this source, from 0 at the bottom; its DiffID is the one that the
 * configuration says. *ret: given, oci_layer_free(). Errors: also E_DIGEST, E_PARSE, E_LIMIT. */
int oci_source_layer(struct oci_source *s, const struct oci_image *image, size_t i,
                     struct oci_layer **ret, struct err *err);

/* Whether descriptors of layers hold DiffIDs, as with docker-archive. */
bool oci_source_names_layers_by_diff_id(const struct oci_source *s);

/* The same, and the content of its files (layer_gather_content(), by another thread perhaps); NULL:
 * not wanted. What the sink got counts only after 0. */
int oci_source_layer_content(struct oci_source *s, const struct oci_image *image, size_t i,
                             oci_content_sink sink, void *arg, struct oci_layer **ret,
                             struct err *err);
