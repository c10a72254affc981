/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored JSON text of a built-in kind to protobuf, without a tree: byte for byte what proto.h's
 * encoder writes for json_parse() of the text, at about a twentieth of the cost.
 *
 * One pass over the text, by a plan of each type (proto_plan.h). The members of an object are
 * written as fields of its message in the order of the text, the zero values of those that are
 * missing in between, behind a length of as many bytes as that of the last message of the type
 * took. A message whose members turn out to be in another order than its fields is put in order
 * once it is complete, through a work buffer. A rare value (a union, a value of another type than
 * the schema has) is converted to a tree first, that value alone.
 */
#pragma once

#include "kube/model/proto.h"

/*
 * One serves any number of calls. Main loop only, as schemas. remembers: keep what values became,
 * for the objects of a list (proto_memory.h).
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
 * One object. schema: an object of a built-in type. text: JSON that json_write() wrote of a
 * normalized tree (schema_normalize()); members that the schema does not have are left out.
 * revision: what to write as metadata.resourceVersion; "" leaves it as it is.
 *
 * Errors: E_UNSUPPORTED where the text is not such JSON, with nothing written: parse it and encode
 * the tree, which says what is wrong with it. Else the failure of the buffer.
 */
struct proto_source {
    const struct schema *schema;
    struct str text, revision;
};
/* As the field `number` of a bigger message: the items of a list are 2. */
int proto_transcode_field(struct proto_transcoder *t, uint32_t number,
                          const struct proto_source *from, struct buf *to);
/* In its envelope. */
int proto_transcode_object(struct proto_transcoder *t, struct str api_version, struct str kind,
                           const struct proto_source *from, struct buf *to);
/* As a frame of a watch. */
int proto_transcode_event(struct proto_transcoder *t, const char *type, struct str api_version,
                          struct str kind, const struct proto_source *from, struct buf *to);
