/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned strings; see intern.h. A hash table of pointers with linear probing and backward-shift
 * deletion, as in map.c; a string holds its own text and hash.
 */
#include "base/intern.h"

#include "base/slab.h"
#include "base/sys.h"
#include "base/vec.h"

#include <assert.h>

enum { FIRST_CAP = 64 };

struct intern_table {
    struct intern **slots; /* NULL: free */
    size_t n, cap;         /* cap: a power of two; at most three quarters are in use */
    uint64_t seed;
    uint32_t end;
    VEC(uint32_t) free_ids;
};

struct intern_table *intern_table_new(void)
{
    struct intern_table *w = xnew(struct intern_table);
    w->cap = FIRST_CAP;
    w->slots = xnew_n(struct intern *, w->cap);
    w->seed = sys_random_u64();
    return w;
}

void intern_table_free(struct intern_table *w)
{
    if (!w)
        return;
    assert(w->n == 0);
    free(w->slots);
    vec_fini(&w->free_ids);
    free(w);
}

/* The slot of the text, or the free slot for it. */
static size_t probe(const struct intern_table *w, struct str text, uint64_t hash)
{
    size_t i = (size_t)hash & (w->cap - 1);
    for (;; i = (i + 1) & (w->cap - 1)) {
        const struct intern *at = w->slots[i];
        if (!at || (at->hash == hash && at->n == text.n && memcmp(at->text, text.p, text.n) == 0))
            return i;
    }
}

static void rehash(struct intern_table *w, size_t cap)
{
    struct intern **old = w->slots;
    size_t old_cap = w->cap;
    assert((cap & (cap - 1)) == 0 && cap > w->n);
    w->slots = xnew_n(struct intern *, cap);
    w->cap = cap;
    for (size_t i = 0; i < old_cap; i++)
        if (old[i])
            w->slots[probe(w, intern_str(old[i]), old[i]->hash)] = old[i];
    free(old);
}

struct intern *intern_find(const struct intern_table *w, struct str text)
{
    text.p = text.p ? text.p : "";
    return w->slots[probe(w, text, str_hash(text, w->seed))];
}

struct intern *intern_get(struct intern_table *w, struct str text)
{
    text.p = text.p ? text.p : "";
    uint64_t hash = str_hash(text, w->seed);
    size_t i = probe(w, text, hash);
    if (w->slots[i])
        return intern_ref(w->slots[i]);
    if ((w->n + 1) * 4 > w->cap * 3) {
        rehash(w, w->cap * 2);
        i = probe(w, text, hash);
    }
    assert(text.n < UINT32_MAX);
    struct intern *word = slab_alloc(sizeof(*word) + text.n + 1);
    word->refs = 1;
    word->id = w->free_ids.n > 0 ? w->free_ids.p[--w->free_ids.n] : w->end++;
    word->n = (uint32_t)text.n;
    word->hash = hash;
    memcpy(word->text, text.p, text.n);
    assert(word->id < w->end && !w->slots[i]);
    w->slots[i] = word;
    w->n++;
    assert(w->n <= w->end && w->n + w->free_ids.n == w->end);
    return word;
}

/* Move up strings after the gap that were displaced by occupied slots. */
static void close_gap(struct intern_table *w, size_t gap)
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

void intern_unref(struct intern_table *w, struct intern *word)
{
    if (!word)
        return;
    assert(word->refs > 0);
    if (--word->refs > 0)
        return;
    size_t i = probe(w, intern_str(word), word->hash);
    assert(w->slots[i] == word);
    assert(w->n > 0);
    close_gap(w, i);
    w->n--;
    vec_push(&w->free_ids, word->id);
    slab_free(word);
    if (w->cap > FIRST_CAP && w->n * 8 < w->cap)
        rehash(w, w->cap / 2);
}

uint32_t intern_end(const struct intern_table *w)
{
    return w->end;
}
