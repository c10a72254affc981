/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String views and bounded readers.
 *
 * struct str is a view: borrowed, not NUL-terminated, may hold any bytes. Text scanners take a
 * cursor (a struct str that shrinks from the left) and advance on success only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;

struct str {
    const char *p;
    size_t n;
};

#define STR(lit)   ((struct str){ "" lit, sizeof(lit) - 1 })
#define STR_NULL   ((struct str){ NULL, 0 })
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).n, (s).p ? (s).p : ""

static inline struct str str_of(const char *cstr)
{
    return (struct str){ cstr, cstr ? strlen(cstr) : 0 };
}
static inline struct str str_n(const void *p, size_t n)
{
    return (struct str){ (const char *)p, n };
}
static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}
static inline bool str_is(struct str a, const char *cstr)
{
    return str_eq(a, str_of(cstr));
}
/* As str_is(), in a time that does not depend on how many bytes of `shown` are correct. */
bool str_is_secret(struct str shown, const char *secret);
static inline bool str_is_empty(struct str a)
{
    return a.n == 0;
}
bool str_ieq(struct str a, struct str b); /* ASCII case-insensitive */
int str_cmp(struct str a, struct str b);  /* bytewise */
bool str_has_prefix(struct str s, struct str prefix);
bool str_has_suffix(struct str s, struct str suffix);
/* Position of the first `c` or `needle`, -1: not found. */
ptrdiff_t str_find_char(struct str s, char c);
ptrdiff_t str_find(struct str s, struct str needle);
/* [from, to) clipped to s. */
struct str str_slice(struct str s, size_t from, size_t to);
struct str str_trim(struct str s); /* ASCII space, tab, CR, LF */
/*
 * Cut s at the first `sep`: *head before it, *tail after it. false: s has no `sep`; then *head is s
 * and *tail is empty.
 */
bool str_cut(struct str s, char sep, struct str *head, struct str *tail);
/* NUL-terminated copies. */
char *str_dup(struct str s);                        /* given, free() */
char *str_dup_arena(struct arena *a, struct str s); /* owned by the arena */
struct str str_copy_arena(struct arena *a, struct str s);
struct str str_lower_arena(struct arena *a, struct str s); /* ASCII letters in lower case */
/* true if s is well-formed UTF-8 (RFC 3629). */
bool str_is_utf8(struct str s);
uint64_t str_hash(struct str s, uint64_t seed); /* not cryptographic, seeded */

/*
 * Whole-string number parsers: decimal digits only (a leading '-' for parse_i64), no blanks, no
 * '+'. Return 0, or -EINVAL (not a number), -ERANGE (outside [min, max]).
 */
int parse_u64(struct str s, uint64_t min, uint64_t max, uint64_t *ret);
int parse_i64(struct str s, int64_t min, int64_t max, int64_t *ret);

/* Bounded reader with sticky failure: after a short read every getter gives 0 or "". */
struct rd {
    const uint8_t *p;
    size_t n;
    bool failed;
};
static inline struct rd rd_init(const void *p, size_t n)
{
    return (struct rd){ (const uint8_t *)p, n, false };
}
static inline bool rd_ok(const struct rd *r)
{
    return !r->failed;
}
static inline size_t rd_left(const struct rd *r)
{
    return r->failed ? 0 : r->n;
}
uint8_t rd_u8(struct rd *r);
uint16_t rd_le16(struct rd *r);
uint32_t rd_le32(struct rd *r);
uint64_t rd_le64(struct rd *r);
uint32_t rd_be32(struct rd *r);
struct str rd_str(struct rd *r, uint64_t n); /* borrowed from the input */
