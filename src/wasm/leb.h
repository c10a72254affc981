/* SPDX-License-Identifier: Apache-2.0 */
/* Readers for the basic elements of the WebAssembly binary format (core specification 2.0, sections
 * 5.1 and 5.2). */
#pragma once

#include "base/str.h"

/* An unsigned LEB128 number of at most `bits` bits. */
static inline uint64_t rd_leb(struct rd *r, unsigned bits)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < bits; shift += 7) {
        uint8_t byte = rd_u8(r);
        uint64_t part = byte & 0x7f;
        if (bits - shift < 7 && part >> (bits - shift))
            break;
        value |= part << shift;
        if (!(byte & 0x80))
            return value;
    }
    r->failed = true;
    return 0;
}

static inline uint32_t rd_u32(struct rd *r)
{
    return (uint32_t)rd_leb(r, 32);
}

/* A signed LEB128 number of at most `bits` bits; the unused bits of its last byte are not checked.
 */
static inline int64_t rd_sleb(struct rd *r, unsigned bits)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < bits;) {
        uint8_t byte = rd_u8(r);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80)
            continue;
        if (shift < 64 && (byte & 0x40))
            value |= ~(uint64_t)0 << shift;
        return (int64_t)value;
    }
    r->failed = true;
    return 0;
}

/* A length and that many bytes. */
static inline struct str rd_name(struct rd *r)
{
    return rd_str(r, rd_u32(r));
}

/* A vector's length. Each item takes at least `item_bytes`, so a length beyond the input fails. */
static inline uint32_t rd_count(struct rd *r, size_t item_bytes)
{
    uint32_t n = rd_u32(r);
    if (n > rd_left(r) / item_bytes)
        r->failed = true;
    return rd_ok(r) ? n : 0;
}
