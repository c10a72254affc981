/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An upgraded exchange without a connection, for sessions on it: what was written is collected, and
 * the test plays the peer.
 *
 *     struct fake_exchange f; fake_exchange_init(&f);   ... code under test takes &f.x ...
 *     fake_exchange_feed(&f, bytes); ...; fake_exchange_gone(&f);
 */
#pragma once

#include "base/buf.h"
#include "io/http_server_int.h"

struct fake_exchange {
    struct http_exchange x;
    struct buf sent;
    size_t full; /* http_write() reports full once more than this was sent and not taken */
    bool is_upgraded, is_paused, has_ended, was_aborted, was_full, is_gone;
};

static bool fake_exchange_write(struct http_exchange *x, struct str chunk)
{
    struct fake_exchange *f = container_of(x, struct fake_exchange, x);
    assert(f->is_upgraded && !f->has_ended);
    (void)buf_add_str(&f->sent, chunk);
    f->was_full = f->sent.n > f->full;
    return !f->was_full;
}

static size_t fake_exchange_pending(const struct http_exchange *x)
{
    return container_of(x, struct fake_exchange, x)->sent.n;
}

static void fake_exchange_end(struct http_exchange *x)
{
    struct fake_exchange *f = container_of(x, struct fake_exchange, x);
    assert(!f->has_ended);
    f->has_ended = true;
}

static void fake_exchange_abort(struct http_exchange *x)
{
    container_of(x, struct fake_exchange, x)->was_aborted = true;
}

static void fake_exchange_upgrade(struct http_exchange *x, const struct headers *headers)
{
    (void)headers;
    container_of(x, struct fake_exchange, x)->is_upgraded = true;
}

static void fake_exchange_read(struct http_exchange *x, uint64_t max_bytes)
{
    (void)x;
    (void)max_bytes;
}

static void fake_exchange_pause(struct http_exchange *x)
{
    container_of(x, struct fake_exchange, x)->is_paused = true;
}

static void fake_exchange_resume(struct http_exchange *x)
{
    container_of(x, struct fake_exchange, x)->is_paused = false;
}

static inline void fake_exchange_init(struct fake_exchange *f)
{
    static const struct exchange_kind kind = { .write = fake_exchange_write,
                                               .pending = fake_exchange_pending,
                                               .end = fake_exchange_end,
                                               .abort = fake_exchange_abort,
                                               .upgrade = fake_exchange_upgrade,
                                               .read_body = fake_exchange_read,
                                               .pause_body = fake_exchange_pause,
                                               .resume_body = fake_exchange_resume };
    *f = (struct fake_exchange){ .sent = BUF_INIT(BUF_MAX_DEFAULT), .full = SIZE_MAX };
    http_exchange_init(&f->x, &kind, NULL);
    f->x.req.upgrade = true;
}

/* Bytes of the peer. */
static inline void fake_exchange_feed(struct fake_exchange *f, struct str bytes)
{
    if (!f->is_gone && !f->was_aborted)
        f->x.ops->on_body(&f->x, bytes);
}

/* The peer has read all that was sent. */
static inline void fake_exchange_take(struct fake_exchange *f)
{
    bool was_full = f->was_full;
    buf_reset(&f->sent);
    f->was_full = false;
    if (was_full && !f->is_gone && !f->has_ended && !f->was_aborted && f->x.ops->on_writable)
        f->x.ops->on_writable(&f->x);
}

/* The connection ends. r: 0: properly. */
static inline void fake_exchange_gone(struct fake_exchange *f, int r)
{
    assert(!f->is_gone);
    if (!f->was_aborted)
        f->x.ops->on_body_end(&f->x, r);
    f->is_gone = true;
    f->x.ops->on_gone(&f->x, r);
}

static inline void fake_exchange_fini(struct fake_exchange *f)
{
    assert(f->is_gone);
    buf_fini(&f->sent);
    http_exchange_fini(&f->x);
}
