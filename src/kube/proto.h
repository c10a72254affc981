/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' protobuf form of built-in kinds: bytes to trees, by the field numbers of struct
 * schema. (The other direction comes with protobuf answers.)
 *
 *     "k8s\0"  Unknown{ 1: TypeMeta{1: apiVersion, 2: kind}, 2: raw message, 3: encoding, 4: type }
 */
#pragma once

#include "kube/schema.h"

enum { PROTO_MAX_DEPTH = 64, PROTO_MAX_NODES = 400000 };

struct proto_envelope {
    struct str api_version, kind;
    struct str raw; /* the message; all borrowed from the body */
};

/* E_PARSE when it is no such envelope or holds anything but an unencoded protobuf message. */
int proto_open(struct str body, struct proto_envelope *ret, struct err *err);
/*
 * One message of an object schema as a tree in the arena, as JSON would have had it: times as text,
 * bytes as base64, fields that the message has and the schema does not left out. Missing fields
 * stay missing; schema_normalize() gives them Go's values. Errors: E_PARSE, E_LIMIT.
 */
int proto_decode(struct arena *a, const struct schema *s, struct str raw, struct json **ret,
                 struct err *err);
