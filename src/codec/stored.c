/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/stored.h"

#include <assert.h>
#include <libdeflate.h>

int stored_gzip(struct buf *to, struct str bytes)
{
    static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1 };
    assert(bytes.n <= STORED_MAX_BYTES);
    (void)buf_add(to, head, sizeof head); /* last byte: final block, stored */
    (void)buf_add_le16(to, (uint16_t)bytes.n);
    (void)buf_add_le16(to, (uint16_t)~bytes.n);
    (void)buf_add_str(to, bytes);
    (void)buf_add_le32(to, libdeflate_crc32(0, bytes.p, bytes.n));
    (void)buf_add_le32(to, (uint32_t)bytes.n);
    return to->failed;
}

int stored_zstd(struct buf *to, struct str bytes)
{
    /* A single segment whose size has four bytes, and no checksum. */
    static const uint8_t head[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa0 };
    assert(bytes.n <= STORED_MAX_BYTES);
    uint32_t block = 1 | (uint32_t)bytes.n << 3; /* last block, raw */
    (void)buf_add(to, head, sizeof head);
    (void)buf_add_le32(to, (uint32_t)bytes.n);
    (void)buf_add_le16(to, (uint16_t)block);
    (void)buf_add_u8(to, (uint8_t)(block >> 16));
    (void)buf_add_str(to, bytes);
    return to->failed;
}
