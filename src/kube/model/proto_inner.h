/* SPDX-License-Identifier: Apache-2.0 */
/* What the two encoders share: of trees (proto_encode.c) and of text (proto_transcode.c). */
#pragma once

#include "kube/model/proto.h"
#include "kube/model/proto_wire.h"

/* Messages of what Go embeds that are open, from the outside in: schema_field.proto_outer. */
struct proto_embedded {
    uint16_t outer;
    size_t n, from[2];
};
/* Close and open messages so that fields of `outer` can follow; 0 closes all. */
void proto_enter(struct proto_embedded *e, uint16_t outer, struct buf *to);

/* Nothing is written for a field of this kind that an object does not have. */
static inline bool proto_may_lack(const struct schema_field *f)
{
    return f->flags & FIELD_POINTER || f->schema->type == SCHEMA_BYTES ||
           f->schema->type == SCHEMA_MAP || f->schema->type == SCHEMA_ARRAY;
}
/* The field of a message whose object has this member, or none (NULL). */
void proto_encode_member(struct arena *a, const struct schema_field *f, const struct json *v,
                         struct buf *to);

/* The magic number and field 1 of an envelope. */
void proto_put_type(struct str api_version, struct str kind, struct buf *to);

/* A frame of a watch; its envelope is written in between. */
struct proto_frame {
    size_t start, object, raw;
};
struct proto_frame proto_begin_event(const char *type, struct buf *to);
int proto_end_event(struct proto_frame f, struct buf *to);
