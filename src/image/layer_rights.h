/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access to the content of a node store that was pulled with credentials: layers, and the
 * manifests, indexes and configurations of images. An image lists its layers by DiffID, which
 * proves nothing: a tenant that knows the DiffID of another tenant's layer could list it in an
 * image of its own, and the store has it already. So such a layer is private until a pull without
 * credentials has fetched its bytes, and a tenant has access to it after its own pull has fetched
 * them.
 *
 *     <store>/tenants/<DiffID>/             the layer, or document with this digest, is private,
 *     <store>/tenants/<DiffID>/<tenant>     and this tenant has access; a hash of the name
 *
 * Layers that commands pull into the same store are not private. Blocking, several threads at once.
 */
#pragma once

#include "oci/store.h"

struct oci_image; /* oci/source.h */

/* Make layers and documents that the store does not have private, before they are pulled with
 * credentials. Errors: of the file system. */
int layer_rights_hide(struct oci_store *s, const struct oci_image *image, struct err *err);
/* tenant: "" is access without credentials. */
bool layer_rights_has(struct oci_store *s, const struct oci_digest *diff_id, struct str tenant);
/* Whether the layer or document is public; an oci_layer_filter. */
bool layer_rights_is_public(struct oci_store *s, const struct oci_digest *diff_id);
/* A registry supplied the bytes with the tenant's credentials, or without any. If this cannot be
 * recorded, they are shown again the next time. */
void layer_rights_give(struct oci_store *s, const struct oci_digest *diff_id, struct str tenant);
/* The same of the documents of an image. */
void layer_rights_give_documents(struct oci_store *s, const struct oci_image *image,
                                 struct str tenant);
/* Remove records of layers that the store no longer has. No pull may be running. */
void layer_rights_tidy(struct oci_store *s);
