/* SPDX-License-Identifier: Apache-2.0 */
/* See proto_message.h. */
#include "kube/model/proto_message.h"

#include "kube/model/proto_inner.h"

bool proto_message_begin(struct proto_message *m, uint32_t number, const struct proto_plan *plan,
                         struct buf *to)
{
    char *o = wire_room(to, HEAD_MAX_BYTES);
    if (!o)
        return false;
    wire_advance(to, wire_tag(o, number, WIRE_BYTES) + plan->length_bytes);
    m->plan = plan;
    m->base = to->n;
    m->length_bytes = plan->length_bytes;
    m->is_meta = false;
    m->is_mixed = plan->has_embedded;
    m->next = m->n = 0;
    return true;
}

/* The pieces by rank. */
struct by_rank {
    uint64_t is_there[(PROTO_NO_FIELD + 64) / 64];
    uint8_t piece[PROTO_NO_FIELD]; /* index of the piece, where is_there */
};

static void index_pieces(const struct proto_message *m, struct by_rank *ret)
{
    memset(ret->is_there, 0, sizeof ret->is_there);
    for (uint8_t i = 0; i < m->n; i++) {
        uint8_t rank = m->pieces[i].rank;
        ret->is_there[rank / 64] |= 1ull << rank % 64;
        ret->piece[rank] = i;
    }
}

/* The first rank from `from` on that has a piece, or `before`. */
static uint8_t next_piece(const struct by_rank *r, uint8_t from, uint8_t before)
{
    while (from < before) {
        uint64_t left = r->is_there[from / 64] >> from % 64;
        if (left)
            return (uint8_t)MIN(from + __builtin_ctzll(left), (int)before);
        from = (uint8_t)MIN((from | 63) + 1, (int)before);
    }
    return before;
}

/* Copies the fields of these ranks, which lie in one message, from `to` to the work buffer. */
static bool put_run(const struct proto_message *m, const struct by_rank *r, uint8_t from,
                    uint8_t before, const struct buf *to, struct buf *work)
{
    for (;;) {
        uint8_t rank = next_piece(r, from, before);
        if (!proto_put_zeroes(m->plan, from, rank, work))
            return false;
        if (rank == before)
            return true;
        const struct proto_piece *p = &m->pieces[r->piece[rank]];
        if (!wire_put_copy(work, to->p + m->base + p->from, p->n, to->p + to->cap))
            return false;
        from = (uint8_t)(rank + 1);
    }
}

bool proto_message_order(const struct proto_message *m, struct buf *work, struct buf *to)
{
    const struct proto_plan *plan = m->plan;
    struct proto_embedded e = { 0 };
    struct by_rank r;
    if (to->n - m->base > UINT32_MAX)
        return false;
    index_pieces(m, &r);
    buf_reset(work);
    for (uint8_t rank = 0; rank < plan->n_ranks; rank = plan->run_end[rank]) {
        proto_enter(&e, plan->fields[plan->field_of_rank[rank]].field->proto_outer, work);
        if (!put_run(m, &r, rank, plan->run_end[rank], to, work))
            return false;
    }
    proto_enter(&e, 0, work);
    to->n = m->base;
    return buf_ok(work) && wire_put_copy(to, work->p, work->n, work->p + work->cap);
}

bool proto_message_end(const struct proto_message *m, struct proto_plan *plan, struct buf *to)
{
    size_t n = to->n - m->base, had = m->length_bytes, has = wire_size(n);
    if (!wire_room(to, has))
        return false;
    char *content = to->p + m->base;
    if (has != had)
        memmove(content - had + has, content, n);
    (void)wire_varint(content - had, n);
    to->n += has - had;
    plan->length_bytes = (uint8_t)has;
    return true;
}
