/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the two encoders: of trees (proto_encode.c) and of text (proto_transcode.c). */
#pragma once

#include "kube/model/proto.h"
#include "kube/model/proto_wire.h"

/* The open messages of Go's embedded structs, outermost first: schema_field.proto_outer. */
struct proto_embedded {
    uint16_t outer;
    size_t n, from[2];
};
/* Close and open messages so that fields of `outer` can follow; 0 closes all. */
void proto_enter(struct proto_embedded *e, uint16_t outer, struct buf *to);

/* A field of this kind is not written when the object does not have it. */
static inline bool proto_may_lack(const struct schema_field *f)
{
    return f->flags & FIELD_POINTER || f->schema->type == SCHEMA_BYTES ||
           f->schema->type == SCHEMA_MAP || f->schema->type == SCHEMA_ARRAY;
}
/*
 * Writes the field of a message for a member of its object; v NULL: the object has no such member.
 */
void proto_encode_member(struct arena *a, const struct schema_field *f, const struct json *v,
                         struct buf *to);

/* The magic number and field 1 of an envelope. */
void proto_put_type(struct str api_version, struct str kind, struct buf *to);

/* A frame of a watch; the caller writes its envelope in between. */
struct proto_frame {
    size_t start, object, raw;
};
struct proto_frame proto_begin_event(const char *type, struct buf *to);
int proto_end_event(struct proto_frame f, struct buf *to);
