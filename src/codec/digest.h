/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 and SHA-1 (FIPS 180-4) and hexadecimal text. Any thread; one struct sha256 by one thread
 * at a time.
 */
#pragma once

#include "base/mem.h"
#include "base/str.h"

enum {
    SHA1_BYTES = 20,
    SHA256_BYTES = 32,
    SHA256_HEX_SIZE = 65, /* text with its NUL */
};

struct sha256; /* a hash being computed */

/* Given: sha256_free(). */
struct sha256 *sha256_new(void);
void sha256_free(struct sha256 *h);
DEFINE_SCOPED(sha256, sha256_free)
void sha256_add(struct sha256 *h, const void *p, size_t n);
/* The hash of what was added; `h` starts again from empty. */
void sha256_end(struct sha256 *h, uint8_t ret[SHA256_BYTES]);

void sha256_of(struct str s, uint8_t ret[SHA256_BYTES]);
/* HMAC-SHA256 (RFC 2104). */
void sha256_hmac(struct str key, struct str text, uint8_t ret[SHA256_BYTES]);
/* For protocols that require it; must not be used where security depends on it. */
void sha1_of(struct str s, uint8_t ret[SHA1_BYTES]);

/* Lower case, NUL-terminated: 2 * n + 1 bytes. */
void hex_format(const uint8_t *p, size_t n, char *ret);
/* Exactly 2 * n digits of either case; false, *ret unspecified, for anything else. */
bool hex_parse(struct str s, uint8_t *ret, size_t n);
