/* SPDX-License-Identifier: Apache-2.0 */
/* Growing bytes; see buf.h. */
#include "base/buf.h"

#include "base/mem.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>

void buf_init(struct buf *b, size_t max_bytes)
{
    *b = BUF_INIT(max_bytes);
}

void buf_fini(struct buf *b)
{
    free(b->p);
    *b = BUF_INIT(b->max);
}

void buf_fini_scoped(struct buf *b)
{
    buf_fini(b);
}

void buf_reset(struct buf *b)
{
    b->n = 0;
    b->failed = 0;
    if (b->p)
        b->p[0] = '\0';
}

static int fail(struct buf *b, int code)
{
    if (!b->failed)
        b->failed = code;
    return b->failed;
}

/* Make room for n more bytes and the terminator. */
static int grow(struct buf *b, size_t n)
{
    assert(b->max < SIZE_MAX); /* the terminator is extra */
    assert(b->cap ? b->p && b->n < b->cap : b->n == 0);
    if (b->failed)
        return b->failed;
    if (n > b->max || b->n > b->max - n)
        return fail(b, -EMSGSIZE);
    size_t need = b->n + n + 1;
    if (need <= b->cap)
        return 0;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap += cap / 2 + 16;
    if (cap > b->max + 1)
        cap = b->max + 1;
    char *p = realloc(b->p, cap);
    if (!p)
        return fail(b, -ENOMEM);
    b->p = p;
    b->cap = cap;
    return 0;
}

/* Whether n more bytes and the terminator fit; `cap` never exceeds what `max` allows. */
static bool has_room(const struct buf *b, size_t n)
{
    return !b->failed && n < b->cap - b->n;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
    int r = has_room(b, n) ? 0 : grow(b, n);
    if (r < 0)
        return r;
    if (n)
        memcpy(b->p + b->n, p, n);
    b->n += n;
    b->p[b->n] = '\0';
    return 0;
}

int buf_add_str(struct buf *b, struct str s)
{
    return buf_add(b, s.p, s.n);
}

int buf_add_cstr(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_add_char(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

int buf_add_u8(struct buf *b, uint8_t v)
{
    return buf_add(b, &v, sizeof v);
}

int buf_add_le16(struct buf *b, uint16_t v)
{
    v = htole16(v);
    return buf_add(b, &v, sizeof v);
}

int buf_add_le32(struct buf *b, uint32_t v)
{
    v = htole32(v);
    return buf_add(b, &v, sizeof v);
}

int buf_add_le64(struct buf *b, uint64_t v)
{
    v = htole64(v);
    return buf_add(b, &v, sizeof v);
}

int buf_add_u64_dec(struct buf *b, uint64_t v)
{
    char tmp[20];
    size_t at = sizeof tmp;
    do {
        tmp[--at] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    return buf_add(b, tmp + at, sizeof tmp - at);
}

/* Format into the existing room first; if the text does not fit, make room and format again. */
int buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    size_t room = b->failed ? 0 : b->cap - b->n;
    int n = vsnprintf(room ? b->p + b->n : NULL, room, fmt, ap), r = 0;
    assert(n >= 0);
    if ((size_t)n >= room) {
        if (room)
            b->p[b->n] = '\0';
        r = grow(b, (size_t)n);
        if (r >= 0)
            (void)vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
    }
    if (r >= 0)
        b->n += (size_t)n;
    va_end(again);
    return r;
}

int buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int r = buf_vprintf(b, fmt, ap);
    va_end(ap);
    return r;
}

int buf_reserve(struct buf *b, size_t n, char **ret)
{
    int r = has_room(b, n) ? 0 : grow(b, n);
    if (r < 0)
        return r;
    *ret = b->p + b->n;
    return 0;
}

void buf_advance(struct buf *b, size_t n)
{
    assert(b->p && n < b->cap - b->n);
    b->n += n;
    b->p[b->n] = '\0';
}

void buf_consume(struct buf *b, size_t n)
{
    assert(n <= b->n);
    if (n == 0)
        return;
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
    b->p[b->n] = '\0';
}

char *buf_take(struct buf *b, size_t *ret_n)
{
    char *p = b->p ? b->p : xstrdup("");
    *ret_n = b->n;
    *b = BUF_INIT(b->max);
    return p;
}
