/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes stored JSON text of a built-in kind as protobuf, without a tree: byte for byte the output
 * of proto.h's encoder for json_parse() of the text, at about a twentieth of the cost.
 *
 * One pass over the text, by a plan of each type (proto_plan.h). The members of an object are
 * written as fields of its message in the order of the text, with the zero values of missing fields
 * in between; for the length, as many bytes are reserved as the last message of the type took. A
 * message whose members are not in the order of its fields is reordered once it is complete,
 * through a work buffer. A rare value (a union, a value of another type than the schema has) is
 * first converted to a tree, that value alone.
 */
#pragma once

#include "kube/model/proto.h"

/*
 * One transcoder serves any number of calls. Main loop only, as schemas. remembers: cache encoded
 * values between the objects of a list (proto_memory.h).
 */
struct proto_memory;
struct proto_transcoder {
    bool remembers;
    struct proto_memory *memory;
    struct buf work;
    struct arena arena; /* emptied by each call */
    char day[10];       /* "2026-01-02", the day of the last time */
    int64_t day_s;      /* when it began */
};
#define PROTO_TRANSCODER_INIT ((struct proto_transcoder){ .work = BUF_INIT(BUF_MAX_DEFAULT) })
/* Release its memory; it can be used again. */
void proto_transcoder_fini(struct proto_transcoder *t);

/*
 * Writes one object. schema: an object of a built-in type. text: JSON that json_write() wrote of a
 * normalized tree (schema_normalize()); members that the schema does not have are left out.
 * revision: written as metadata.resourceVersion; "" keeps the text's.
 *
 * Errors: E_UNSUPPORTED when the text is not such JSON, with nothing written: parse it and encode
 * the tree, which reports what is wrong. Else the failure of the buffer.
 */
struct proto_source {
    const struct schema *schema;
    struct str text, revision;
};
/* As the field `number` of an enclosing message: the items of a list are field 2. */
int proto_transcode_field(struct proto_transcoder *t, uint32_t number,
                          const struct proto_source *from, struct buf *to);
/* In its envelope. */
int proto_transcode_object(struct proto_transcoder *t, struct str api_version, struct str kind,
                           const struct proto_source *from, struct buf *to);
/* As a frame of a watch. */
int proto_transcode_event(struct proto_transcoder *t, const char *type, struct str api_version,
                          struct str kind, const struct proto_source *from, struct buf *to);
