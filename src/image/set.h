/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of the images of a group, as words of bits: bit i is image i. All sets of a group have the
 * same number of words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IMAGE_GROUP_DEFAULT = 64, /* images planned together: one word */
    IMAGE_GROUP_MAX = 1024,
    IMAGE_SET_U64_MAX = IMAGE_GROUP_MAX / 64,
};

static inline size_t image_set_n_u64(size_t n_images)
{
    return (n_images + 63) / 64;
}
static inline bool image_set_has(const uint64_t *s, size_t i)
{
    return s[i / 64] >> (i % 64) & 1;
}
static inline void image_set_add(uint64_t *s, size_t i)
{
    s[i / 64] |= UINT64_C(1) << (i % 64);
}
static inline unsigned image_set_count(const uint64_t *s, size_t n_words)
{
    unsigned n = 0;
    for (size_t i = 0; i < n_words; i++)
        n += (unsigned)__builtin_popcountll(s[i]);
    return n;
}
static inline bool image_set_is_subset(const uint64_t *a, const uint64_t *of, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (a[i] & ~of[i])
            return false;
    return true;
}
static inline bool image_set_meets(const uint64_t *a, const uint64_t *b, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (a[i] & b[i])
            return true;
    return false;
}
static inline void image_set_subtract(uint64_t *a, const uint64_t *b, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        a[i] &= ~b[i];
}
/* Compares them as numbers. */
static inline int image_set_cmp(const uint64_t *a, const uint64_t *b, size_t n_words)
{
    for (size_t i = n_words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}
/* The next member from `from` on; n_images: there is none. */
static inline size_t image_set_next(const uint64_t *s, size_t from, size_t n_images)
{
    while (from < n_images && !image_set_has(s, from))
        from++;
    return from;
}
#define image_set_each(i, s, n_images)                                                             \
    for (size_t i = image_set_next((s), 0, (n_images)); i < (n_images);                            \
         i = image_set_next((s), i + 1, (n_images)))
