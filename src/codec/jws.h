/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Signatures by a shared secret (RFC 7515, HS256) that do not contain what they sign
 * (appendix F): "HEADER..SIGNATURE". The signatures of Kubernetes' ConfigMap cluster-info are such.
 * Pure, any thread.
 */
#pragma once

#include "base/buf.h"

enum { JWS_HEADER_MAX_BYTES = 4096, JWS_CONTENT_MAX_BYTES = 1 << 20 };

/* Append a signature of `content`. key_id: of letters and digits. E_LIMIT: the content is too
 * large. */
int jws_sign(struct str content, struct str key_id, struct str secret, struct buf *to);
/*
 * Whether `signature` signs the content with this secret, and names this key. Takes a time that
 * does not depend on how much of it is right.
 */
bool jws_verify(struct str content, struct str signature, struct str key_id, struct str secret);
