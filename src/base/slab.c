/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slabs of equal slots; see slab.h.
 *
 *     region: | slab | slab | free | slab | ... one reservation; slabs are taken from its low end
 *     slab: | header | slot | slot | ... | of one class: a multiple of 16 bytes
 *
 * A class has a list of its slabs with room. Free slots of a slab are chained through their first
 * two bytes; slots beyond `fresh` were never used, and their pages may never have been touched. A
 * slab without records is returned to the system, unless it is the only one with room in its class.
 */
#include "base/slab.h"

#include "base/list.h"
#include "base/sanitizer.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

enum {
    STEP = 16,
    N_CLASSES = SLAB_MAX_BYTES / STEP,
    N_SLABS = SLAB_REGION_BYTES / SLAB_BYTES,
    WORD_BITS = 64
};

struct slab {
    struct list node; /* on its class's list while it has room */
    uint16_t size;    /* of a slot */
    uint16_t n_used;  /* slots */
    uint16_t free_at; /* offset of the first free slot; 0: none */
    uint16_t fresh;   /* offset from which slots were never used */
};

enum { FIRST_SLOT = (sizeof(struct slab) + STEP - 1) / STEP * STEP };

static struct {
    pthread_mutex_t lock;
    char *region; /* NULL: not reserved yet, or refused */
    bool is_tried;
    struct list roomy[N_CLASSES];
    uint64_t used[N_SLABS / WORD_BITS]; /* a bit for each slab */
    size_t first_word;                  /* the words before it have no free slab */
    struct slab_stats stats;
} all = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void reserve(void)
{
    all.is_tried = true;
    for (size_t i = 0; i < N_CLASSES; i++)
        list_init(&all.roomy[i]);
    void *p = mmap(NULL, SLAB_REGION_BYTES, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return;
    (void)madvise(p, SLAB_REGION_BYTES, MADV_NOHUGEPAGE); /* unused pages must not be resident */
    __atomic_store_n(&all.region, p, __ATOMIC_RELAXED);
}

/* Needs no lock: a caller with a record got it after the region was reserved. */
static bool is_ours(const void *p)
{
    const char *at = p, *region = __atomic_load_n(&all.region, __ATOMIC_RELAXED);
    return region && at >= region && at < region + SLAB_REGION_BYTES;
}

static struct slab *slab_of(void *p)
{
    return (struct slab *)(all.region +
                           ((size_t)((char *)p - all.region) & ~(size_t)(SLAB_BYTES - 1)));
}

static bool is_full(const struct slab *slab)
{
    return slab->free_at == 0 && slab->fresh + slab->size > SLAB_BYTES;
}

/* The lowest free slab; NULL: none. */
static struct slab *take_slab(size_t size)
{
    size_t word = all.first_word;
    while (word < ARRAY_LEN(all.used) && all.used[word] == UINT64_MAX)
        word++;
    all.first_word = word;
    if (word == ARRAY_LEN(all.used))
        return NULL;
    size_t bit = (size_t)__builtin_ctzll(~all.used[word]);
    all.used[word] |= UINT64_C(1) << bit;
    all.stats.slabs++;
    struct slab *slab = (struct slab *)(all.region + (word * WORD_BITS + bit) * SLAB_BYTES);
    *slab = (struct slab){ .size = (uint16_t)size, .fresh = FIRST_SLOT };
    return slab;
}

static void give_slab(struct slab *slab)
{
    size_t i = (size_t)((char *)slab - all.region) / SLAB_BYTES;
    assert(slab->n_used == 0 && all.used[i / WORD_BITS] & UINT64_C(1) << i % WORD_BITS);
    list_remove(&slab->node);
    (void)madvise(slab, SLAB_BYTES, MADV_DONTNEED);
    all.used[i / WORD_BITS] &= ~(UINT64_C(1) << i % WORD_BITS);
    all.first_word = MIN(all.first_word, i / WORD_BITS);
    all.stats.slabs--;
}

static void *take_slot(struct slab *slab)
{
    uint16_t at = slab->free_at;
    if (at) {
        memcpy(&slab->free_at, (char *)slab + at, sizeof slab->free_at);
    } else {
        at = slab->fresh;
        slab->fresh = (uint16_t)(slab->fresh + slab->size);
    }
    slab->n_used++;
    assert(at >= FIRST_SLOT && at + slab->size <= SLAB_BYTES);
    return (char *)slab + at;
}

/* NULL: the region has no slab left. */
static void *alloc_here(size_t size)
{
    struct list *roomy = &all.roomy[size / STEP - 1];
    if (list_is_empty(roomy)) {
        struct slab *made = take_slab(size);
        if (!made)
            return NULL;
        list_push_back(roomy, &made->node);
    }
    struct slab *slab = list_first(roomy, struct slab, node);
    void *p = take_slot(slab);
    if (is_full(slab))
        list_remove(&slab->node);
    all.stats.records++;
    all.stats.bytes += size;
    return p;
}

void *slab_alloc(size_t size)
{
    size_t rounded = (MAX(size, (size_t)1) + STEP - 1) / STEP * STEP;
    void *p = NULL;
    if (HAS_SANITIZER || size > SLAB_MAX_BYTES) /* lets a sanitizer check each record */
        return xalloc(size);
    pthread_mutex_lock(&all.lock);
    if (!all.is_tried)
        reserve();
    if (all.region)
        p = alloc_here(rounded);
    pthread_mutex_unlock(&all.lock);
    if (!p)
        return xalloc(size);
    memset(p, 0, rounded);
    return p;
}

static void free_here(void *p)
{
    struct slab *slab = slab_of(p);
    struct list *roomy = &all.roomy[slab->size / STEP - 1];
    bool was_full = is_full(slab);
    assert(slab->n_used > 0 && all.stats.records > 0 && all.stats.bytes >= slab->size);
    assert(was_full != list_is_linked(&slab->node));
    all.stats.records--;
    all.stats.bytes -= slab->size;
    memcpy(p, &slab->free_at, sizeof slab->free_at);
    slab->free_at = (uint16_t)((char *)p - (char *)slab);
    if (was_full)
        list_push_back(roomy, &slab->node);
    bool is_only_one = roomy->next == roomy->prev;
    if (--slab->n_used == 0 && !is_only_one)
        give_slab(slab);
}

void slab_free(void *p)
{
    if (!p)
        return;
    if (!is_ours(p)) {
        free(p);
        return;
    }
    pthread_mutex_lock(&all.lock);
    free_here(p);
    pthread_mutex_unlock(&all.lock);
}

char *slab_strndup(const char *s, size_t n)
{
    char *p = slab_alloc(n + 1);
    if (n)
        memcpy(p, s, n);
    return p;
}

void slab_get_stats(struct slab_stats *ret)
{
    pthread_mutex_lock(&all.lock);
    *ret = all.stats;
    pthread_mutex_unlock(&all.lock);
}
