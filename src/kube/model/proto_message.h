/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message whose fields are written in the order of JSON text.
 *
 * The caller writes the fields to the buffer one after the other and notes each. While their ranks
 * rise, it also writes the zero values of the missing fields in between, and the message is
 * complete after its last field. From the first field that is out of order on, it leaves zero
 * values out, and proto_message_order() writes the message again.
 */
#pragma once

#include "kube/model/proto_plan.h"

/* Position of one field's bytes, relative to the start of the message. */
struct proto_piece {
    uint32_t from, n;
    uint8_t rank;
};

struct proto_message {
    const struct proto_plan *plan;
    size_t base;          /* its first byte in the buffer */
    uint8_t length_bytes; /* reserved for its length */
    bool is_meta;         /* the object's metadata: resourceVersion belongs to it */
    bool is_mixed;        /* ranks do not rise, or the fields lie in messages of embedded structs */
    uint8_t next;         /* unless mixed: the rank after that of the last piece */
    uint8_t n;            /* pieces */
    struct proto_piece pieces[PROTO_NO_FIELD];
};

/*
 * Begin a message, with as many bytes reserved for its length as the last one took; the pieces are
 * not initialised.
 */
bool proto_message_begin(struct proto_message *m, uint32_t number, const struct proto_plan *plan,
                         struct buf *to);
/* Note a field, written from to->p + from on. false: more fields than any type has. */
static inline bool proto_message_add(struct proto_message *m, uint8_t rank, size_t from,
                                     const struct buf *to)
{
    if (m->n == PROTO_NO_FIELD || !buf_ok(to))
        return false;
    m->pieces[m->n++] =
        (struct proto_piece){ (uint32_t)(from - m->base), (uint32_t)(to->n - from), rank };
    m->next = (uint8_t)(rank + 1);
    return true;
}
/*
 * Write the message again: the pieces in the order of their ranks, the last one of each, and zero
 * values for all other fields. work: scratch.
 */
bool proto_message_order(const struct proto_message *m, struct buf *work, struct buf *to);
/* Write its length. plan: that of the message. */
bool proto_message_end(const struct proto_message *m, struct proto_plan *plan, struct buf *to);

/* Write the message's bytes for the fields of these ranks, which the object lacks. */
static inline bool proto_put_zeroes(const struct proto_plan *plan, uint8_t from, uint8_t before,
                                    struct buf *to)
{
    const char *p = plan->zeroes + plan->zero_at[from], *end = plan->zeroes + plan->zero_at[before];
    return p == end || wire_put_copy(to, p, (size_t)(end - p), end + WIRE_SPILL_BYTES);
}
