/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes' protobuf form of built-in kinds: bytes to trees (proto.c) and trees to bytes
 * (proto_encode.c), by the field numbers of struct schema.
 *
 *     "k8s\0"  Unknown{ 1: TypeMeta{1: apiVersion, 2: kind}, 2: raw message, 3: encoding, 4: type }
 *
 * A frame of a watch is its length (4 bytes, big endian) and
 *
 *     WatchEvent{ 1: type, 2: RawExtension{ 1: an object in its envelope } }
 */
#pragma once

#include "kube/model/schema.h"

enum { PROTO_MAX_DEPTH = 256, PROTO_MAX_NODES = 400000 };

struct proto_envelope {
    struct str api_version, kind;
    struct str raw; /* the message; all borrowed from the body */
};

/* E_PARSE when it is not such an envelope or does not hold an unencoded protobuf message. */
int proto_open(struct str body, struct proto_envelope *ret, struct err *err);
/*
 * Decodes one message of an object schema into a tree in the arena, in the form of its JSON: times
 * as text, bytes as base64; fields that the schema does not have are left out. Missing fields stay
 * missing; schema_normalize() gives them Go's values. Errors: E_PARSE, E_LIMIT.
 */
int proto_decode(struct arena *a, const struct schema *s, struct str raw, struct json **ret,
                 struct err *err);

/*
 * Encoding. `v` is normalized (schema_normalize()) or NULL, the zero value; missing scalars are
 * written as zeroes unless Go has a pointer for them, maps sorted by key, as upstream's generated
 * code does. Only schemas of built-in types. `a` is scratch. The bytes are appended; the result is
 * the buffer's failure.
 */

/* The message of an object. */
int proto_encode(struct arena *a, const struct schema *s, const struct json *v, struct buf *to);
/* Writes a value as the field `number` of an enclosing message: the items of a list are field 2. */
int proto_encode_field(struct arena *a, uint32_t number, const struct schema *s,
                       const struct json *v, struct buf *to);
/* The object in its envelope; apiVersion and kind are taken from it. */
int proto_encode_object(struct arena *a, const struct schema *s, const struct json *v,
                        struct buf *to);
/* The object as a frame of a watch. */
int proto_encode_event(struct arena *a, const char *type, const struct schema *s,
                       const struct json *v, struct buf *to);
/* An envelope whose raw message, of raw_n bytes, the caller writes next. */
void proto_begin_envelope(struct str api_version, struct str kind, uint64_t raw_n, struct buf *to);
int proto_end_envelope(struct buf *to);
