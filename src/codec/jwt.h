/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON Web Tokens in compact form (RFC 7519, RFC 7515), signed with ES256 or RS256, and the keys as
 * a JWK Set (RFC 7517). Any thread; one key by one thread at a time.
 */
#pragma once

#include "base/err.h"
#include "codec/json.h"

enum {
    JWT_MAX_BYTES = 16 << 10, /* of a whole token: E_LIMIT beyond */
    JWT_MAX_DEPTH = 8,        /* of its JSON */
    JWT_SIGNATURE_MAX_BYTES = 1024
};

struct jwt_key;

/* A new P-256 key pair. */
int jwt_key_make(struct jwt_key **ret, struct err *err);
/* A PEM text: a private or public key, P-256 or RSA of 2048 bits or more. E_INVALID: any other
 * key. */
int jwt_key_read(struct str pem, struct jwt_key **ret, struct err *err);
/* PEM, PKCS #8, without encryption. E_UNSUPPORTED for a public key. */
int jwt_key_write(const struct jwt_key *k, struct buf *to, struct err *err);
void jwt_key_free(struct jwt_key *k);
DEFINE_SCOPED(jwt_key, jwt_key_free)
/* SHA-256 of the public key in base64url, as upstream names its keys; lives as long as the key. */
struct str jwt_key_id(const struct jwt_key *k);
const char *jwt_key_alg(const struct jwt_key *k); /* "ES256", "RS256" */
/* The public part as a JWK. */
struct json *jwt_key_jwk(struct arena *a, const struct jwt_key *k);

/* Append HEADER.CLAIMS.SIGNATURE. E_UNSUPPORTED for a public key. */
int jwt_sign(const struct jwt_key *k, const struct json *claims, struct buf *to, struct err *err);

struct jwt {
    struct json *header, *claims; /* objects */
    struct str signed_part;       /* borrowed from the token */
    struct str signature;         /* decoded */
};
/* Split and decode a token; nothing is verified. E_PARSE, E_LIMIT. */
int jwt_parse(struct arena *a, struct str token, struct jwt *ret, struct err *err);
/* Whether this key made the signature. false also if the header names another algorithm than the
 * key's. */
bool jwt_verify(const struct jwt_key *k, const struct jwt *t);
