/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of SPDY/3.1 sends, collected in `out`. */
#pragma once

#include "agent/stream/spdy.h"
#include "test.h"

#include <zlib.h>

struct spdy_client {
    z_stream z;
    struct buf out;
};

static inline void spdy_client_init(struct spdy_client *c)
{
    memset(c, 0, sizeof *c);
    c->out = BUF_INIT(BUF_MAX_DEFAULT);
    CHECK_INT(deflateInit(&c->z, 9), Z_OK);
    CHECK_INT(deflateSetDictionary(&c->z, (const Bytef *)spdy_headers_dictionary,
                                   SPDY_HEADERS_DICTIONARY_BYTES),
              Z_OK);
}

static inline void spdy_client_fini(struct spdy_client *c)
{
    (void)deflateEnd(&c->z);
    buf_fini(&c->out);
}

static inline void spdy_client_add32(struct buf *b, uint32_t v)
{
    for (int i = 24; i >= 0; i -= 8)
        (void)buf_add_u8(b, (uint8_t)(v >> i));
}

static inline void spdy_client_add_text(struct buf *b, struct str s)
{
    spdy_client_add32(b, (uint32_t)s.n);
    (void)buf_add_str(b, s);
}

static inline void spdy_client_add_control(struct buf *b, unsigned type, unsigned flags,
                                           struct str payload)
{
    spdy_client_add32(b, 0x80030000U | type);
    spdy_client_add32(b, flags << 24 | (uint32_t)payload.n);
    (void)buf_add_str(b, payload);
}

static inline void spdy_client_compress_block(struct spdy_client *c, struct str text,
                                              struct buf *to)
{
    char room[64 << 10];
    c->z.next_in = (Bytef *)text.p;
    c->z.avail_in = (uInt)text.n;
    do {
        c->z.next_out = (Bytef *)room;
        c->z.avail_out = sizeof room;
        CHECK(deflate(&c->z, Z_SYNC_FLUSH) >= Z_BUF_ERROR);
        (void)buf_add(to, room, sizeof room - c->z.avail_out);
    } while (c->z.avail_out == 0);
}

/* names and values alternate; NULL ends */
static inline void spdy_client_open(struct spdy_client *c, uint32_t id, unsigned flags,
                                    const char *const *pairs)
{
    struct buf text = BUF_INIT(1 << 20), payload = BUF_INIT(1 << 20);
    uint32_t n = 0;
    while (pairs[2 * n])
        n++;
    spdy_client_add32(&text, n);
    for (uint32_t i = 0; i < 2 * n; i++)
        spdy_client_add_text(&text, str_of(pairs[i]));
    spdy_client_add32(&payload, id);
    (void)buf_add(&payload, "\0\0\0\0\0\0", 6);
    spdy_client_compress_block(c, buf_str(&text), &payload);
    spdy_client_add_control(&c->out, 1, flags, buf_str(&payload));
    buf_fini(&text);
    buf_fini(&payload);
}

static inline void spdy_client_data(struct spdy_client *c, uint32_t id, struct str data,
                                    bool is_last)
{
    char head[SPDY_DATA_HEAD_BYTES];
    spdy_data_head(head, id, data.n, is_last);
    (void)buf_add(&c->out, head, sizeof head);
    (void)buf_add_str(&c->out, data);
}
