/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images in local files and in registries, with the names that skopeo uses:
 *
 *     oci:DIR[:NAME]                an OCI image layout (image-spec, image-layout.md)
 *     oci-archive:FILE[:NAME]       a tar of such a directory
 *     docker-archive:FILE[:NAME]    what `docker save` writes, and `podman save` by default
 *     docker://REFERENCE            in a registry (oci/reference.h)
 *     store:ROOT:NAME               in the node store of that directory (oci/store.h)
 *
 * NAME selects one of several images: the reference name in the layout, or the tag in the archive.
 * It may be omitted if there is one image. Blobs are verified while they are read. Blocking calls,
 * for commands and worker threads. One thread at a time may use a source, except that any number of
 * threads may read blobs after oci_source_image() has returned.
 */
#pragma once

#include "oci/image.h"
#include "oci/layer_gather.h"
#include "oci/remote.h"

struct oci_source;

/*
 * registry: how registries are reached; NULL: the defaults. The struct is borrowed, what it points
 * to is kept. Errors: E_PARSE (not a reference of these forms, or no image at that path), -ENOENT,
 * and the errors of reading and of the registry.
 */
int oci_source_open_with(struct str reference, const struct oci_remote_opts *registry,
                         struct oci_source **ret, struct err *err);
int oci_source_open(struct str reference, struct oci_source **ret, struct err *err);
/* The registry from which it reads; NULL: it reads files. Borrowed. */
struct oci_remote *oci_source_remote(struct oci_source *s);
/* A connection to that registry for the calling thread, after oci_source_image(). Errors:
 * E_UNSUPPORTED, it reads files; those of oci_remote_clone(). */
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
 * The image that the reference names, of this platform if there are several. Documents are owned by
 * the source. Errors: -ENOENT (no such name or platform; the text lists the names), E_PARSE,
 * E_DIGEST, E_LIMIT.
 */
int oci_source_image(struct oci_source *s, const struct oci_platform *platform,
                     struct oci_image *ret, struct err *err);

/*
 * The manifest or index that the reference names: its digest, size and text. Documents are owned by
 * the source. Errors: as of oci_source_image(); E_UNSUPPORTED for docker-archive, which has neither
 * of them.
 */
int oci_source_root(struct oci_source *s, struct oci_descriptor *ret, struct str *ret_text,
                    struct err *err);
/* A manifest or index that an index of this source lists. */
int oci_source_document(struct oci_source *s, const struct oci_descriptor *d, struct str *ret,
                        struct err *err);

/* Read a blob piece by piece. The digest and the size are compared at the end: the data in the sink
 * is valid only after this returned 0. Any number of threads. Errors: E_DIGEST, -ENOENT, what the
 * sink returned. */
int oci_source_blob(struct oci_source *s, const struct oci_descriptor *d, oci_blob_sink sink,
                    void *arg, struct err *err);

/* Read a blob from byte `from` on, in registries only; the digest is NOT compared unless from is 0.
 * Errors: also E_UNSUPPORTED, the source reads files. */
int oci_source_blob_from(struct oci_source *s, const struct oci_descriptor *d, uint64_t from,
                         oci_blob_sink sink, void *arg, struct err *err);

/* Set what inflates and parses the layers from now on (oci/layer_parse.h); the default is
 * layer_parse_here. arg: kept. */
void oci_source_read_by(struct oci_source *s, const struct layer_reading_ops *how, void *arg);
/* Layer `i` of an image of this source, from 0 at the bottom; its DiffID is the one in the
 * configuration. *ret: given, oci_layer_free(). Errors: also E_DIGEST, E_PARSE, E_LIMIT. */
int oci_source_layer(struct oci_source *s, const struct oci_image *image, size_t i,
                     struct oci_layer **ret, struct err *err);

/* Whether descriptors of layers hold DiffIDs, as with docker-archive. */
bool oci_source_names_layers_by_diff_id(const struct oci_source *s);

/* As oci_source_layer(), and pass the content of its files to the sink (layer_gather_content(),
 * perhaps on another thread); NULL: not wanted. The data in the sink is valid only after this
 * returned 0. */
int oci_source_layer_content(struct oci_source *s, const struct oci_image *image, size_t i,
                             oci_content_sink sink, void *arg, struct oci_layer **ret,
                             struct err *err);
