/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capacity books; see books.h.
 *
 * Nodes lie in one array by index. Candidates (present and schedulable) are in a dense list and
 * also in the list of their class; a node stores its positions there, so that adding, removing and
 * drawing one at random are O(1).
 */
#include "place/books.h"

#include "base/map.h"
#include "base/slab.h"
#include "base/vec.h"

#include <assert.h>
#include <errno.h>

struct node_list {
    uint32_t *p;
    size_t n, cap;
};

struct place_books {
    VEC(struct place_node) nodes;
    VEC(uint32_t) unused; /* indices */
    struct node_list candidates, classes[PLACE_CLASSES];
    uint32_t n_present;
    uint64_t generation;
    uint32_t next_epoch;
    struct map words;     /* word -> (void *)number, from 1 */
    struct map resources; /* name -> (void *)index */
};

struct place_books *place_books_new(void)
{
    return xnew(struct place_books);
}

static void node_fini(struct place_node *n)
{
    free(n->labels);
    free(n->taints);
}

void place_books_free(struct place_books *b)
{
    if (!b)
        return;
    vec_each (n, &b->nodes)
        node_fini(n);
    vec_fini(&b->nodes);
    vec_fini(&b->unused);
    vec_fini(&b->candidates);
    for (size_t i = 0; i < PLACE_CLASSES; i++)
        vec_fini(&b->classes[i]);
    map_fini(&b->words);
    map_fini(&b->resources);
    free(b);
}

static struct place_node *node_at(const struct place_books *b, uint32_t node)
{
    assert(node < b->nodes.n && b->nodes.p[node].present);
    return &b->nodes.p[node];
}

/* ---- lists of candidates ---- */

static enum place_class class_of(const struct place_node *n)
{
    if (n->sandboxes == 0)
        return PLACE_EMPTY;
    return n->used.at[PLACE_CPU_MILLI] >= n->capacity.at[PLACE_CPU_MILLI] ? PLACE_FULL : PLACE_BUSY;
}

static void candidate_join(struct place_books *b, uint32_t node)
{
    struct place_node *n = &b->nodes.p[node];
    n->candidate_at = (uint32_t)b->candidates.n;
    vec_push(&b->candidates, node);
}

static void candidate_leave(struct place_books *b, uint32_t node)
{
    uint32_t at = b->nodes.p[node].candidate_at, last = b->candidates.p[b->candidates.n - 1];
    assert(at < b->candidates.n && b->candidates.p[at] == node);
    b->candidates.p[at] = last;
    b->nodes.p[last].candidate_at = at;
    b->candidates.n--;
}

static void class_join(struct place_books *b, uint32_t node)
{
    struct place_node *n = &b->nodes.p[node];
    n->class = class_of(n);
    n->class_at = (uint32_t)b->classes[n->class].n;
    vec_push(&b->classes[n->class], node);
}

static void class_leave(struct place_books *b, uint32_t node)
{
    const struct place_node *n = &b->nodes.p[node];
    struct node_list *l = &b->classes[n->class];
    uint32_t last = l->p[l->n - 1];
    assert(n->class_at < l->n && l->p[n->class_at] == node);
    l->p[n->class_at] = last;
    b->nodes.p[last].class_at = n->class_at;
    l->n--;
}

static void class_update(struct place_books *b, uint32_t node)
{
    const struct place_node *n = &b->nodes.p[node];
    if (!n->schedulable || n->class == class_of(n))
        return;
    class_leave(b, node);
    class_join(b, node);
}

/* ---- nodes ---- */

int place_node_add(struct place_books *b, const struct place_amounts *capacity, struct err *err)
{
    uint32_t node;
    if (b->unused.n) {
        node = b->unused.p[--b->unused.n];
        assert(!b->nodes.p[node].present);
    } else if (b->nodes.n < PLACE_NODES_MAX) {
        node = (uint32_t)b->nodes.n;
        vec_push(&b->nodes, (struct place_node){ 0 });
    } else {
        return err_set(err, E_LIMIT, "there are %d nodes, which is the limit", PLACE_NODES_MAX);
    }
    b->nodes.p[node] = (struct place_node){ .capacity = *capacity,
                                            .key = node,
                                            .epoch = ++b->next_epoch,
                                            .present = true,
                                            .schedulable = true };
    candidate_join(b, node);
    class_join(b, node);
    b->n_present++;
    b->generation++;
    assert(b->n_present + b->unused.n == b->nodes.n && b->candidates.n <= b->n_present);
    return (int)node;
}

void place_node_remove(struct place_books *b, uint32_t node)
{
    struct place_node *n = node_at(b, node);
    if (n->schedulable)
        place_node_set_schedulable(b, node, false);
    node_fini(n);
    *n = (struct place_node){ .present = false };
    vec_push(&b->unused, node);
    assert(b->n_present > 0);
    b->n_present--;
    b->generation++;
}

void place_node_set_schedulable(struct place_books *b, uint32_t node, bool schedulable)
{
    struct place_node *n = node_at(b, node);
    if (n->schedulable == schedulable)
        return;
    n->schedulable = schedulable;
    b->generation++;
    if (schedulable) {
        candidate_join(b, node);
        class_join(b, node);
    } else {
        candidate_leave(b, node);
        class_leave(b, node);
    }
}

void place_node_set_capacity(struct place_books *b, uint32_t node,
                             const struct place_amounts *capacity)
{
    node_at(b, node)->capacity = *capacity;
    class_update(b, node);
}

void place_node_set_key(struct place_books *b, uint32_t node, uint64_t key)
{
    node_at(b, node)->key = key;
    b->generation++;
}

void place_node_set_load(struct place_books *b, uint32_t node, int64_t load_milli)
{
    node_at(b, node)->load_milli = load_milli;
}

const struct place_node *place_node(const struct place_books *b, uint32_t node)
{
    return node < b->nodes.n && b->nodes.p[node].present ? &b->nodes.p[node] : NULL;
}

uint32_t place_n_nodes(const struct place_books *b)
{
    return b->n_present;
}

uint32_t place_n_candidates(const struct place_books *b)
{
    return (uint32_t)b->candidates.n;
}

uint32_t place_candidate(const struct place_books *b, uint32_t i)
{
    assert(i < b->candidates.n);
    return b->candidates.p[i];
}

uint32_t place_n_class(const struct place_books *b, enum place_class class)
{
    return (uint32_t)b->classes[class].n;
}

uint32_t place_class_member(const struct place_books *b, enum place_class class, uint32_t i)
{
    assert(i < b->classes[class].n);
    return b->classes[class].p[i];
}

uint32_t place_end(const struct place_books *b)
{
    return (uint32_t)b->nodes.n;
}

uint64_t place_generation(const struct place_books *b)
{
    return b->generation;
}

/* ---- words, labels, taints ---- */

/* The number of a name in one of the maps; a new name gets `next`. */
static int number_of(struct map *m, struct str name, uintptr_t next, uintptr_t end)
{
    uintptr_t at = (uintptr_t)map_get(m, name);
    if (at)
        return (int)at;
    if (next >= end)
        return E_LIMIT;
    (void)map_put(m, name, (void *)next);
    return (int)next;
}

int place_resource(struct place_books *b, struct str name, struct err *err)
{
    int r = number_of(&b->resources, name, PLACE_FIRST_EXTENDED + b->resources.n, PLACE_RESOURCES);
    if (r < 0)
        return err_set(err, r,
                       "resource '" STR_FMT "' would be one more than the %d that are told "
                       "apart",
                       STR_ARG(name), PLACE_RESOURCES - PLACE_FIRST_EXTENDED);
    return r;
}

int place_word(struct place_books *b, struct str word, struct err *err)
{
    int r = number_of(&b->words, word, b->words.n + 1, PLACE_WORDS_MAX);
    if (r < 0)
        return err_set(err, r, "labels and taints have %d different words, which is the limit",
                       PLACE_WORDS_MAX);
    return r;
}

int place_find_word(const struct place_books *b, struct str word)
{
    uintptr_t at = (uintptr_t)map_get(&b->words, word);
    return at ? (int)at : -ENOENT;
}

int place_node_label(struct place_books *b, uint32_t node, struct str key, struct str value,
                     struct err *err)
{
    struct place_node *n = node_at(b, node);
    int k = place_word(b, key, err);
    int v = k < 0 ? k : place_word(b, value, err);
    if (v < 0)
        return v;
    struct place_label label = { .key = (uint32_t)k, .value = (uint32_t)v };
    for (uint16_t i = 0; i < n->n_labels; i++) {
        if (n->labels[i].key != label.key)
            continue;
        n->labels[i] = label;
        return 0;
    }
    if (n->n_labels == PLACE_LABELS_MAX)
        return err_set(err, E_LIMIT, "a node has at most %d labels", PLACE_LABELS_MAX);
    n->labels = xrealloc(n->labels, (n->n_labels + 1u) * sizeof *n->labels);
    n->labels[n->n_labels++] = label;
    return 0;
}

int place_node_taint(struct place_books *b, uint32_t node, struct str key, struct str value,
                     enum place_taint_effect effect, struct err *err)
{
    struct place_node *n = node_at(b, node);
    int k = place_word(b, key, err);
    int v = k < 0 ? k : place_word(b, value, err);
    if (v < 0)
        return v;
    if (n->n_taints == PLACE_TAINTS_MAX)
        return err_set(err, E_LIMIT, "a node has at most %d taints", PLACE_TAINTS_MAX);
    n->taints = xrealloc(n->taints, (n->n_taints + 1u) * sizeof *n->taints);
    n->taints[n->n_taints++] =
        (struct place_taint){ .key = (uint32_t)k, .value = (uint32_t)v, .effect = effect };
    return 0;
}

void place_node_strip(struct place_books *b, uint32_t node)
{
    struct place_node *n = node_at(b, node);
    node_fini(n);
    n->labels = NULL;
    n->taints = NULL;
    n->n_labels = n->n_taints = 0;
}

/* ---- reservations ---- */

void place_reserve(struct place_books *b, uint32_t node, const struct place_amounts *need)
{
    struct place_node *n = node_at(b, node);
    for (size_t i = 0; i < PLACE_RESOURCES; i++)
        n->used.at[i] += need->at[i];
    n->sandboxes++;
    class_update(b, node);
}

bool place_release(struct place_books *b, uint32_t node, uint32_t epoch,
                   const struct place_amounts *need)
{
    if (node >= b->nodes.n || !b->nodes.p[node].present || b->nodes.p[node].epoch != epoch)
        return false;
    struct place_node *n = &b->nodes.p[node];
    assert(n->sandboxes > 0);
    for (size_t i = 0; i < PLACE_RESOURCES; i++) {
        n->used.at[i] -= need->at[i];
        assert(n->used.at[i] >= 0);
    }
    n->sandboxes--;
    class_update(b, node);
    return true;
}

/* ---- tallies ---- */

/* The position of `node`, or where it would be inserted. */
static uint32_t tally_find(const struct place_tally *t, uint32_t node)
{
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->p[mid].node < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool tally_has(const struct place_tally *t, uint32_t at, uint32_t node)
{
    return at < t->n && t->p[at].node == node;
}

void place_tally_fini(struct place_tally *t)
{
    slab_free(t->p);
    *t = (struct place_tally){ 0 };
}

/* Starts with room for one entry: most tallies have one node and live long. */
static void tally_grow(struct place_tally *t)
{
    struct place_tally_entry *old = t->p;
    t->cap = t->cap ? t->cap * 2 : 1;
    t->p = slab_alloc(t->cap * sizeof *t->p);
    if (old)
        memcpy(t->p, old, t->n * sizeof *t->p);
    slab_free(old);
}

void place_tally_add(struct place_tally *t, uint32_t node, uint32_t n)
{
    uint32_t at = tally_find(t, node);
    t->total += n;
    if (tally_has(t, at, node)) {
        t->p[at].n += n;
        return;
    }
    if (n == 0)
        return;
    if (t->n == t->cap)
        tally_grow(t);
    memmove(t->p + at + 1, t->p + at, (t->n - at) * sizeof *t->p);
    t->p[at] = (struct place_tally_entry){ .node = node, .n = n };
    t->n++;
}

void place_tally_sub(struct place_tally *t, uint32_t node, uint32_t n)
{
    uint32_t at = tally_find(t, node);
    if (!tally_has(t, at, node))
        return;
    n = MIN(n, t->p[at].n);
    assert(t->total >= n);
    t->total -= n;
    t->p[at].n -= n;
    if (t->p[at].n > 0)
        return;
    memmove(t->p + at, t->p + at + 1, (t->n - at - 1) * sizeof *t->p);
    t->n--;
}

void place_tally_forget(struct place_tally *t, uint32_t node)
{
    place_tally_sub(t, node, UINT32_MAX);
}

uint32_t place_tally_of(const struct place_tally *t, uint32_t node)
{
    if (!t)
        return 0;
    uint32_t at = tally_find(t, node);
    return tally_has(t, at, node) ? t->p[at].n : 0;
}
