/* SPDX-License-Identifier: Apache-2.0 */
/*
 * struct buf: growing bytes with a maximum.
 *
 * Always NUL-terminated beyond n once something was added. An addition that would exceed `max`
 * fails with -EMSGSIZE. Failures are sticky (buf.failed), so a writer appends without checks and
 * calls buf_ok() once at the end.
 */
#pragma once

#include "base/str.h"

#include <stdarg.h>

struct buf {
    char *p;
    size_t n;
    size_t cap;
    size_t max;
    int failed; /* first failure: -EMSGSIZE or -ENOMEM, else 0 */
};

#define BUF_MAX_DEFAULT ((size_t)64 << 20)

void buf_init(struct buf *b, size_t max_bytes);
/* A constant initialiser for locals and fields. */
#define BUF_INIT(max_bytes) ((struct buf){ .max = (max_bytes) })
void buf_fini(struct buf *b);
void buf_fini_scoped(struct buf *b);
/* Empty the buffer and clear its failure; keep the memory. */
void buf_reset(struct buf *b);

int buf_add(struct buf *b, const void *p, size_t n);
int buf_add_str(struct buf *b, struct str s);
int buf_add_cstr(struct buf *b, const char *s);
int buf_add_char(struct buf *b, char c);
int buf_add_u8(struct buf *b, uint8_t v);
int buf_add_le16(struct buf *b, uint16_t v);
int buf_add_le32(struct buf *b, uint32_t v);
int buf_add_le64(struct buf *b, uint64_t v);
int buf_add_u64_dec(struct buf *b, uint64_t v);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Make room for n more bytes. *ret points to it, borrowed until the next call on b; the caller
 * writes there and then calls buf_advance(). */
int buf_reserve(struct buf *b, size_t n, char **ret);
void buf_advance(struct buf *b, size_t n);
/* Remove n bytes at the front. */
void buf_consume(struct buf *b, size_t n);

static inline bool buf_ok(const struct buf *b)
{
    return b->failed == 0;
}
static inline struct str buf_str(const struct buf *b)
{
    return (struct str){ b->p ? b->p : "", b->n };
}
/* NUL-terminated content; "" when empty. */
static inline const char *buf_cstr(const struct buf *b)
{
    return b->p ? b->p : "";
}
/* Move the bytes out: given (free()), NUL-terminated; *ret_n: their number; b is empty
 * afterwards. */
char *buf_take(struct buf *b, size_t *ret_n);
