/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From stored bytes to the representation that the client asked for (negotiate.h). Pure.
 *
 * Objects are stored as JSON without metadata.resourceVersion, always beginning with
 *
 *     {"apiVersion":"...","kind":"...","metadata":{...
 *
 * so that the usual answer is made by copying bytes and splicing the revision in, without parsing.
 */
#pragma once

#include "api/request.h"
#include "kube/model/proto_transcode.h"
#include "kube/model/table.h"

/* ---- stored form ---- */

/*
 * Encode the object for the store, replacing the content of `to`: in the storage version, without
 * metadata.resourceVersion, members in the order above. Errors: the buffer's.
 */
int encode_for_storage(struct arena *a, const struct kube_resource *res, const struct json *obj,
                       struct buf *to);

/* One object as read from the store. */
struct encode_stored {
    struct str value;
    uint64_t rev; /* 0: not written, as in the answer to a dry run; shown without resourceVersion */
    bool is_current; /* written under the current schema: needs no defaulting */
    bool as_it_is; /* do not convert, even if a webhook would be needed: the object is being deleted
                    */
};
/*
 * The object in a version of its kind, with resourceVersion. Borrows from value. E_CORRUPT: the
 * bytes do not parse; E_UNSUPPORTED: a webhook would have to convert them.
 */
int encode_read_stored(struct arena *a, const struct kube_resource *res, struct encode_stored st,
                       struct json **ret, struct err *err);

/* ---- representations ---- */

/* A tree as it is. E_UNSUPPORTED: its kind has no protobuf form. */
int encode_tree(struct arena *scratch, const struct rep *rep, const struct json *v, struct buf *to);
/* One object as the whole answer. The caller resets scratch. */
int encode_object(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                  struct encode_stored st, int64_t now_s, struct buf *to, struct err *err);

/* The same in the form of the request: the object, or its scale. */
int encode_answer(struct request *rq, struct encode_stored st, struct buf *to, struct err *err);

/*
 * A list: begin, item, item, ..., end. Protobuf has a length prefix, so all items must have been
 * measured before.
 */
struct list_meta {
    uint64_t rev; /* 0: none, the items are not stored */
    struct str continue_token;
    bool has_left;
    uint64_t left;
    uint64_t items_bytes; /* of all encoded items; used by protobuf only */
};
void encode_list_begin(struct arena *scratch, const struct kube_resource *res,
                       const struct rep *rep, const struct list_meta *meta, struct buf *to);
/* t: for protobuf, kept from item to item; PROTO_TRANSCODER_INIT. */
int encode_list_item(struct arena *scratch, struct proto_transcoder *t,
                     const struct kube_resource *res, const struct rep *rep,
                     struct encode_stored st, int64_t now_s, bool first, struct buf *to,
                     struct err *err);
void encode_list_end(const struct rep *rep, bool is_empty, struct buf *to);
/* The whole list, from items that encode_list_item() wrote; meta->items_bytes is ignored. */
int encode_list(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                const struct list_meta *meta, struct str items, struct buf *to);

/*
 * One watch event, as a line or a frame. type: "ADDED", ... columns: a Table includes its column
 * definitions.
 */
int encode_event(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                 const char *type, struct encode_stored st, bool columns, int64_t now_s,
                 struct buf *to, struct err *err);
/* BOOKMARK; initial_end: with the annotation that ends a streaming list. */
void encode_bookmark(struct arena *scratch, const struct kube_resource *res, const struct rep *rep,
                     uint64_t rev, bool initial_end, bool columns, struct buf *to);
/* ERROR with a Status. */
void encode_error_event(struct arena *scratch, const struct rep *rep, const struct json *status,
                        struct buf *to);
