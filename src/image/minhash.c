/* SPDX-License-Identifier: Apache-2.0 */
#include "image/minhash.h"

#include <string.h>

enum { SIZE_CLASS_BYTES = 4096, SIZE_CLASSES_MAX = 20 };

/* ---- signatures ---- */

/* The finalizer of MurmurHash3: each bit of the result depends on each of x. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ (x >> 33);
}

static void add(struct image_minhash *m, uint64_t element)
{
    for (uint64_t i = 0; i < IMAGE_MINHASH_SIZE; i++) {
        uint64_t h = mix(element ^ (i * UINT64_C(0x9e3779b97f4a7c15)));
        m->least[i] = MIN(m->least[i], h);
    }
}

static unsigned weight(uint64_t size)
{
    unsigned n = 1;
    for (uint64_t s = size / SIZE_CLASS_BYTES; s && n < SIZE_CLASSES_MAX; s >>= 1)
        n++;
    return n;
}

void image_minhash_of(const struct oci_tree *tree, struct image_minhash *ret)
{
    memset(ret->least, 0xff, sizeof ret->least);
    map_each (at, &tree->nodes) {
        const struct oci_entry *e = ((const struct oci_node *)at->value)->inode->entry;
        uint64_t content;
        if (!e || e->type != TAR_FILE || e->size == 0)
            continue;
        memcpy(&content, e->digest, sizeof content);
        for (unsigned i = 0, n = weight(e->size); i < n; i++)
            add(ret, mix(content + i));
    }
}

unsigned image_minhash_overlap(const struct image_minhash *a, const struct image_minhash *b)
{
    unsigned n = 0;
    for (size_t i = 0; i < IMAGE_MINHASH_SIZE; i++)
        n += a->least[i] == b->least[i] && a->least[i] != UINT64_MAX;
    return n * 100 / IMAGE_MINHASH_SIZE;
}

/* ---- groups ---- */

struct minhash_member {
    uint32_t image, root; /* root: the first image of its group */
    const char *family;
};

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static int by_family(const void *x, const void *y)
{
    const struct minhash_member *a = x, *b = y;
    int c = (a->root > b->root) - (a->root < b->root);
    c = c ? c : strcmp(a->family, b->family);
    return c ? c : (a->image > b->image) - (a->image < b->image);
}

/* Members of one group from `from` on: where the next group begins, of at most `max` members. A
 * family is cut only where it does not fit alone. */
static size_t cut(const struct minhash_member *all, size_t from, size_t n, size_t max)
{
    size_t to = from;
    while (to < n && all[to].root == all[from].root && to - from < max)
        to++;
    if (to == n || all[to].root != all[from].root)
        return to;
    size_t whole = to;
    while (whole > from && strcmp(all[whole - 1].family, all[to].family) == 0)
        whole--;
    return whole > from ? whole : to;
}

size_t image_minhash_group(const struct image_minhash *all, const char *const *family, size_t n,
                           unsigned overlap_percent, size_t max, uint32_t *ret)
{
    scoped(free_scoped) uint32_t *parent = xnew_n(uint32_t, n);
    scoped(free_scoped) struct minhash_member *members = xnew_n(struct minhash_member, n);
    size_t n_groups = 0;
    for (uint32_t i = 0; i < n; i++) {
        parent[i] = i;
        for (uint32_t j = 0; j < i; j++)
            if (image_minhash_overlap(&all[i], &all[j]) >= overlap_percent) {
                uint32_t a = root_of(parent, i), b = root_of(parent, j);
                parent[MAX(a, b)] = MIN(a, b);
            }
    }
    for (uint32_t i = 0; i < n; i++)
        members[i] = (struct minhash_member){ i, root_of(parent, i), family[i] };
    qsort(members, n, sizeof *members, by_family);
    for (size_t from = 0, to; from < n; from = to, n_groups++) {
        to = cut(members, from, n, max);
        for (size_t i = from; i < to; i++)
            ret[members[i].image] = (uint32_t)n_groups;
    }
    return n_groups;
}
