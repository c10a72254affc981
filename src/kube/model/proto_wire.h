/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the protobuf wire format, front to back. A message first reserves one byte for its
 * length; its content is moved when it turns out to be longer than 127 bytes. Failure is sticky in
 * the buffer.
 */
#pragma once

#include "base/buf.h"

#include <assert.h>
#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

enum { VARINT_MAX_BYTES = 10, HEAD_MAX_BYTES = 2 * VARINT_MAX_BYTES };

/* Returns the end of the written bytes. */
static inline char *wire_varint(char *p, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        *p++ = (char)(v | 0x80);
    *p++ = (char)v;
    return p;
}

static inline char *wire_tag(char *p, uint32_t number, enum wire_type type)
{
    return wire_varint(p, (uint64_t)number << 3 | type);
}

static inline void wire_put_varint(struct buf *to, uint64_t v)
{
    char bytes[VARINT_MAX_BYTES];
    (void)buf_add(to, bytes, (size_t)(wire_varint(bytes, v) - bytes));
}

static inline void wire_put_number(struct buf *to, uint32_t number, int64_t v)
{
    char bytes[HEAD_MAX_BYTES], *end = wire_tag(bytes, number, WIRE_VARINT);
    end = wire_varint(end, (uint64_t)v);
    (void)buf_add(to, bytes, (size_t)(end - bytes));
}

static inline void wire_put_bytes(struct buf *to, uint32_t number, struct str s)
{
    char *room, *end;
    if (buf_reserve(to, HEAD_MAX_BYTES + s.n, &room) < 0)
        return;
    end = wire_varint(wire_tag(room, number, WIRE_BYTES), s.n);
    if (s.n)
        memcpy(end, s.p, s.n);
    buf_advance(to, (size_t)(end - room) + s.n);
}

/* The tag and length of a message of n bytes. */
static inline void wire_put_head(struct buf *to, uint32_t number, size_t n)
{
    char bytes[HEAD_MAX_BYTES], *end = wire_varint(wire_tag(bytes, number, WIRE_BYTES), n);
    (void)buf_add(to, bytes, (size_t)(end - bytes));
}

/* Begins a message; returns the start of its content, for wire_end(). */
static inline size_t wire_begin(struct buf *to, uint32_t number)
{
    char bytes[HEAD_MAX_BYTES], *end = wire_tag(bytes, number, WIRE_BYTES);
    *end++ = 0;
    (void)buf_add(to, bytes, (size_t)(end - bytes));
    return to->n;
}

static inline void wire_end(struct buf *to, size_t from)
{
    char length[VARINT_MAX_BYTES], *room;
    if (!buf_ok(to))
        return;
    assert(from > 0 && from <= to->n); /* its length is the byte before */
    size_t n = to->n - from, more = (size_t)(wire_varint(length, n) - length) - 1;
    if (more) {
        if (buf_reserve(to, more, &room) < 0)
            return;
        memmove(to->p + from + more, to->p + from, n);
        buf_advance(to, more);
    }
    memcpy(to->p + from - 1, length, more + 1);
}

/* ---- straight into the buffer ---- */

/* wire_copy() may write this many bytes past its end, so that short copies take one word. */
enum { WIRE_SPILL_BYTES = 16 };

/* Room for n bytes and the bytes that a copy of them spills; NULL: the buffer has failed. */
static inline char *wire_room(struct buf *to, size_t n)
{
    char *p;
    if (n + WIRE_SPILL_BYTES < to->cap - to->n && !to->failed)
        return to->p + to->n;
    return buf_reserve(to, n + WIRE_SPILL_BYTES, &p) < 0 ? NULL : p;
}

/* Commit the bytes of the room before `end`. */
static inline void wire_advance(struct buf *to, const char *end)
{
    to->n = (size_t)(end - to->p);
}

/* Copy to the room; bytes of `from` before `end` may be read. Returns the end of the copy. */
static inline char *wire_copy(char *to, const char *from, size_t n, const char *end)
{
    if (n <= WIRE_SPILL_BYTES && end - from >= WIRE_SPILL_BYTES)
        memcpy(to, from, WIRE_SPILL_BYTES);
    else if (n)
        memcpy(to, from, n);
    return to + n;
}

static inline bool wire_put_copy(struct buf *to, const char *from, size_t n, const char *end)
{
    char *o = wire_room(to, n);
    if (!o)
        return false;
    wire_advance(to, wire_copy(o, from, n, end));
    return true;
}

/* Encoded size of a varint. */
static inline size_t wire_size(uint64_t v)
{
    return v < 0x80 ? 1 : v < 0x4000 ? 2 : (70 - (size_t)__builtin_clzll(v)) / 7;
}
