/* SPDX-License-Identifier: Apache-2.0 */
/* Views of bytes and a builder for text: what libc's stdio would do, without its 30 KiB. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A view, not NUL-terminated, borrowed. */
struct dm_str {
    const char *p;
    size_t n;
};

#define DM_STR(literal) ((struct dm_str){ (literal), sizeof(literal) - 1 })

struct dm_str dm_str(const char *s); /* NULL gives an empty view */
bool dm_str_eq(struct dm_str a, struct dm_str b);
bool dm_str_is(struct dm_str a, const char *s);
size_t dm_find_char(struct dm_str s, char c); /* where it first stands; s.n when nowhere */
uint64_t dm_hash(const void *p, size_t n, uint64_t seed); /* FNV-1a, stable across versions */

#define DM_TEXT_MAX (16u << 20) /* no request or event is larger; more ends the guest */

/* Growing bytes, always NUL-terminated beyond n. A zeroed one is empty and ready for use. */
struct dm_text {
    char *p; /* NULL while nothing was written */
    size_t n, cap;
};

void dm_text_fini(struct dm_text *t);
void dm_text_put(struct dm_text *t, const void *p, size_t n);
void dm_text_str(struct dm_text *t, struct dm_str s);
void dm_text_char(struct dm_text *t, char c);
void dm_text_le(struct dm_text *t, uint64_t v, unsigned n_bytes);
void dm_text_uri(struct dm_text *t, struct dm_str s); /* percent-encoded for a query value */
struct dm_str dm_text_view(const struct dm_text *t);

/*
 * The subset of printf that operators use: %s %.*s %c %d %i %u %x with h, l, ll, z and j, and %%.
 * No widths, no floating point; an unknown conversion is copied as it stands.
 */
void dm_textf(struct dm_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void dm_vtextf(struct dm_text *t, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

/* wall_us since 1970 as RFC 3339 in UTC, with or without microseconds. */
void dm_text_time(struct dm_text *t, uint64_t wall_us, bool micros);

/* Days since 1970-01-01 to a date. */
void dm_civil_date(uint64_t days, uint32_t *year, uint32_t *month, uint32_t *day);

/* RFC 3339 with any offset, 1970 and later; false leaves *ret_wall_us alone. */
bool dm_parse_time(struct dm_str s, uint64_t *ret_wall_us);

/* Decimal, the whole of s; false leaves *ret alone. */
bool dm_parse_i64(struct dm_str s, int64_t *ret);
