/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words; see words.h. A table with linear probing and backward-shift deletion, as map.c has, of
 * pointers alone: a word holds its own text and hash.
 */
#include "base/words.h"

#include "base/record.h"
#include "base/sys.h"
#include "base/vec.h"

#include <assert.h>

enum { WORDS_FIRST_CAP = 64 };

struct words {
    struct word **slots; /* NULL: free */
    size_t n, cap;       /* cap: a power of two; at most three quarters are in use */
    uint64_t seed;
    uint32_t end;
    VEC(uint32_t) free_ids;
};

struct words *words_new(void)
{
    struct words *w = xnew(struct words);
    w->cap = WORDS_FIRST_CAP;
    w->slots = xnew_n(struct word *, w->cap);
    w->seed = sys_random_u64();
    return w;
}

void words_free(struct words *w)
{
    if (!w)
        return;
    assert(w->n == 0);
    free(w->slots);
    vec_fini(&w->free_ids);
    free(w);
}

/* Where the text is, or the free slot where it would go. */
static size_t probe(const struct words *w, struct str text, uint64_t hash)
{
    size_t i = (size_t)hash & (w->cap - 1);
    for (;; i = (i + 1) & (w->cap - 1)) {
        const struct word *at = w->slots[i];
        if (!at || (at->hash == hash && at->n == text.n && memcmp(at->text, text.p, text.n) == 0))
            return i;
    }
}

static void rehash(struct words *w, size_t cap)
{
    struct word **old = w->slots;
    size_t old_cap = w->cap;
    w->slots = xnew_n(struct word *, cap);
    w->cap = cap;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i])
            w->slots[probe(w, word_str(old[i]), old[i]->hash)] = old[i];
    free(old);
}

struct word *words_find(const struct words *w, struct str text)
{
    text.p = text.p ? text.p : "";
    return w->slots[probe(w, text, str_hash(text, w->seed))];
}

struct word *words_get(struct words *w, struct str text)
{
    text.p = text.p ? text.p : "";
    uint64_t hash = str_hash(text, w->seed);
    size_t i = probe(w, text, hash);
    if (w->slots[i])
        return word_ref(w->slots[i]);
    if ((w->n + 1) * 4 > w->cap * 3) {
        rehash(w, w->cap * 2);
        i = probe(w, text, hash);
    }
    assert(text.n < UINT32_MAX);
    struct word *word = record_alloc(sizeof(*word) + text.n + 1);
    word->refs = 1;
    word->id = w->free_ids.n > 0 ? w->free_ids.p[--w->free_ids.n] : w->end++;
    word->n = (uint32_t)text.n;
    word->hash = hash;
    memcpy(word->text, text.p, text.n);
    w->slots[i] = word;
    w->n++;
    return word;
}

/* Words behind the gap that could not go to their place, because it was taken, move up. */
static void close_gap(struct words *w, size_t gap)
{
    size_t mask = w->cap - 1;
    for (size_t i = (gap + 1) & mask; w->slots[i]; i = (i + 1) & mask) {
        size_t ideal = (size_t)w->slots[i]->hash & mask;
        if (((i - ideal) & mask) < ((i - gap) & mask))
            continue;
        w->slots[gap] = w->slots[i];
        gap = i;
    }
    w->slots[gap] = NULL;
}

void word_unref(struct words *w, struct word *word)
{
    if (!word)
        return;
    assert(word->refs > 0);
    if (--word->refs > 0)
        return;
    size_t i = probe(w, word_str(word), word->hash);
    assert(w->slots[i] == word);
    close_gap(w, i);
    w->n--;
    vec_push(&w->free_ids, word->id);
    record_free(word);
    if (w->cap > WORDS_FIRST_CAP && w->n * 8 < w->cap)
        rehash(w, w->cap / 2);
}

uint32_t words_end(const struct words *w)
{
    return w->end;
}
