/* SPDX-License-Identifier: Apache-2.0 */
/* Packs arrays into one allocation; see pack.h. */
#include "sched/object/pack.h"

void *sched_array(struct arena *a, size_t n, size_t size)
{
    if (n == 0)
        return NULL;
    return a ? arena_alloc_n(a, size, n) : xalloc_n(size, n);
}

static void *place(struct sched_walk *k, const void *p, size_t n, size_t align)
{
    void *at = NULL;
    k->bytes = (k->bytes + align - 1) & ~(align - 1);
    if (k->mode == SCHED_WALK_COPY)
        at = memcpy(k->block + k->bytes, p, n);
    k->bytes += n;
    return at;
}

void sched_walk_array(struct sched_walk *k, void *array, size_t n, size_t size)
{
    if (n == 0 || k->mode > SCHED_WALK_COPY)
        return;
    void *p;
    memcpy(&p, array, sizeof p);
    p = place(k, p, n * size, _Alignof(void *));
    if (p)
        memcpy(array, &p, sizeof p);
}

void sched_walk_str(struct sched_walk *k, struct str *s)
{
    if (s->n == 0 || k->mode > SCHED_WALK_COPY)
        return;
    const char *p = place(k, s->p, s->n, 1);
    if (p)
        s->p = p;
}

void sched_walk_words(struct sched_walk *k, struct intern ***words, uint32_t n)
{
    sched_walk_array(k, words, n, sizeof(**words));
    for (uint32_t i = 0; i < n; i++)
        sched_walk_word(k, (*words)[i]);
}

void sched_walk_labels(struct sched_walk *k, struct sched_labels *l)
{
    sched_walk_array(k, &l->p, l->n, sizeof(*l->p));
    for (uint32_t i = 0; i < l->n; i++) {
        sched_walk_word(k, l->p[i].key);
        sched_walk_word(k, l->p[i].value);
    }
}

void sched_walk_requirements(struct sched_walk *k, struct sched_requirement **p, uint32_t n)
{
    sched_walk_array(k, p, n, sizeof(**p));
    for (uint32_t i = 0; i < n; i++) {
        sched_walk_word(k, (*p)[i].key);
        sched_walk_words(k, &(*p)[i].values, (*p)[i].n_values);
    }
}

void sched_walk_node_terms(struct sched_walk *k, struct sched_node_terms *t)
{
    sched_walk_array(k, &t->p, t->n, sizeof(*t->p));
    for (uint32_t i = 0; i < t->n; i++) {
        sched_walk_selector(k, &t->p[i].labels);
        sched_walk_requirements(k, &t->p[i].fields, t->p[i].n_fields);
    }
}

void sched_walk_amounts(struct sched_walk *k, struct sched_amounts *a)
{
    sched_walk_array(k, &a->scalars, a->n_scalars, sizeof(*a->scalars));
    for (uint32_t i = 0; i < a->n_scalars; i++)
        sched_walk_word(k, a->scalars[i].name);
}
