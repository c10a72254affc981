/* SPDX-License-Identifier: Apache-2.0 */
/* Base64 (RFC 4648 sections 4 and 5). Any thread. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum base64_form {
    BASE64_STD,    /* '+' and '/', padded */
    BASE64_URL,    /* '-' and '_', not padded, as in JSON Web Tokens */
    BASE64_LENIENT /* decoding only: as STD, but line breaks and unused bits are ignored, as Go does
                      when it reads a []byte from JSON (data of Secrets) */
};

/* Append; failure is sticky in the buffer. */
int base64_encode(struct buf *to, struct str bytes, enum base64_form form);
/*
 * Append the decoded bytes. -EINVAL, nothing appended: a foreign character, wrong padding or
 * length, or (except LENIENT) unused bits that are not zero, so that equal bytes have one text
 * only. Else the failure of the buffer.
 */
int base64_decode(struct buf *to, struct str text, enum base64_form form);
