/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have what of a node store was pulled with credentials: layers, and the manifests, indexes
 * and configurations of images. An image lists its
 * layers by DiffID, which proves nothing: a tenant that knows the DiffID of another one's layer
 * could list it in an image of his own, and the store has it already. So such a layer is private
 * until a pull without credentials brought its bytes, and a tenant has it after a pull of his own
 * brought them.
 *
 *     <store>/tenants/<DiffID>/             the layer is private, or the document of this digest,
 *     <store>/tenants/<DiffID>/<tenant>     and was shown to this one; a hash of the name
 *
 * What commands pull into the same store is not private. Blocking calls, several threads at once.
 */
#pragma once

#include "oci/store.h"

struct oci_image; /* oci/source.h */

/* Layers and documents that the store does not have become private, before they are pulled with
 * credentials. Errors: of the file system. */
int layer_rights_hide(struct oci_store *s, const struct oci_image *image, struct err *err);
/* tenant: "" is everybody, without credentials. */
bool layer_rights_has(struct oci_store *s, const struct oci_digest *diff_id, struct str tenant);
/* Everybody may know what is in the layer or document; an oci_layer_filter. */
bool layer_rights_is_public(struct oci_store *s, const struct oci_digest *diff_id);
/* A registry gave the bytes for the tenant's credentials, or without any. What cannot be noted is
 * shown again the next time. */
void layer_rights_give(struct oci_store *s, const struct oci_digest *diff_id, struct str tenant);
/* The same of the documents of an image. */
void layer_rights_give_documents(struct oci_store *s, const struct oci_image *image,
                                 struct str tenant);
/* Forget layers that the store has no more. Nothing is being pulled. */
void layer_rights_tidy(struct oci_store *s);
