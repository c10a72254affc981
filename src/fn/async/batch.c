/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions over rows of calls; see async_int.h, and record.h for the rows. */
#include "fn/async/async_int.h"

#include <assert.h>

void batch_fini(struct async_batch *b)
{
    arena_fini(&b->arena);
}

static struct store_op *next_op(struct async_batch *b, const struct async_key *k)
{
    assert(b->n < ARRAY_LEN(b->ops)); /* record.h's limits: at most 3 bodies of 17 pieces */
    struct store_op *op = &b->ops[b->n++];
    *op = (struct store_op){ .key = str_copy_arena(&b->arena, async_key_str(k)) };
    return op;
}

void batch_put(struct async_batch *b, const struct async_key *k, struct str value)
{
    struct store_op *op = next_op(b, k);
    op->kind = STORE_PUT;
    op->value = value;
}

void batch_put_absent(struct async_batch *b, const struct async_key *k, struct str value)
{
    batch_put(b, k, value);
    b->ops[b->n - 1].cmp = STORE_ABSENT;
}

void batch_put_rev(struct async_batch *b, const struct async_key *k, struct str value, uint64_t rev)
{
    batch_put(b, k, value);
    b->ops[b->n - 1].cmp = STORE_MOD_REV;
    b->ops[b->n - 1].cmp_rev = rev;
}

void batch_delete(struct async_batch *b, const struct async_key *k)
{
    next_op(b, k)->kind = STORE_DELETE;
}

void batch_body(struct async_batch *b, char what, const struct async_id *id, struct str body,
                struct async_record *r)
{
    r->body_bytes = body.n;
    r->body = body.n <= ASYNC_INLINE_MAX ? body : STR("");
    r->n_pieces = 0;
    if (body.n <= ASYNC_INLINE_MAX)
        return;
    for (size_t at = 0; at < body.n; at += ASYNC_PIECE_BYTES) {
        struct async_key k;
        async_key_piece(&k, what, id, r->n_pieces++);
        batch_put(b, &k, str_slice(body, at, at + ASYNC_PIECE_BYTES));
    }
}

void batch_delete_pieces(struct async_batch *b, char what, const struct async_id *id, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct async_key k;
        async_key_piece(&k, what, id, i);
        batch_delete(b, &k);
    }
}

struct str batch_record(struct async_batch *b, const struct async_record *r)
{
    struct buf value;
    buf_init(&value, STORE_VALUE_MAX_BYTES);
    async_record_write(&value, r);
    assert(buf_ok(&value)); /* fields, body, URL and names are bounded */
    struct str s = str_copy_arena(&b->arena, buf_str(&value));
    buf_fini(&value);
    return s;
}

void batch_call(struct async_batch *b, uint32_t owner, const struct async_id *id,
                struct async_record *r, struct str body, uint64_t wall_now_ms)
{
    r->state = ASYNC_PENDING;
    r->wall_created_ms = r->wall_due_ms = wall_now_ms;
    batch_body(b, 'b', id, body, r);
    struct async_key k;
    async_key_call(&k, id);
    batch_put(b, &k, batch_record(b, r));
    assert(b->n_added < ARRAY_LEN(b->added));
    async_lane_of(b->added[b->n_added].lane, owner, r);
    b->added[b->n_added].due = (struct due){ wall_now_ms, *id };
    async_key_due(&k, str_of(b->added[b->n_added].lane), wall_now_ms, id);
    batch_put(b, &k, STR(""));
    b->n_added++;
}

uint64_t batch_result(struct async_batch *b, const struct async_id *id,
                      const struct async_record *was, uint64_t rev, struct str lane,
                      enum async_state state, uint16_t status, struct str reason, struct str fields,
                      struct str body, uint64_t ttl_ms, uint64_t wall_now_ms)
{
    struct async_record r = *was;
    struct async_key k;
    r.state = state;
    r.status = status;
    r.reason = reason;
    r.fields = fields;
    r.wall_finished_ms = wall_now_ms;
    r.wall_expires_ms = wall_now_ms + ttl_ms;
    batch_body(b, 'a', id, body, &r);
    async_key_call(&k, id);
    batch_put_rev(b, &k, batch_record(b, &r), rev);
    async_key_due(&k, lane, was->wall_due_ms, id);
    batch_delete(b, &k);
    batch_delete_pieces(b, 'b', id, was->n_pieces);

    struct async_leftover left = { .n_pieces = r.n_pieces };
    struct async_key by_key;
    if (was->key.n) {
        async_key_by_key(&by_key, str_is(was->callback, ASYNC_TO_EVENTS), was->namespace, was->name,
                         was->key);
        left.by_key = async_key_str(&by_key);
    }
    struct buf value;
    buf_init(&value, ASYNC_STORE_KEY_MAX * 2);
    async_leftover_write(&value, &left);
    async_key_expires(&k, r.wall_expires_ms, id);
    batch_put(b, &k, str_copy_arena(&b->arena, buf_str(&value)));
    buf_fini(&value);
    return r.wall_expires_ms;
}
