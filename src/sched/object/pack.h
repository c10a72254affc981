/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the arrays of an object come into one allocation. For the files of this directory.
 *
 * A kind is read into an arena, array by array, as its JSON goes. One function of the kind walks
 * over all that it holds, from the outside in; with it everything is measured, copied into one
 * block, counted again for a clone, and given back.
 */
#pragma once

#include "sched/object/pod.h"

struct sched_walk {
    enum {
        SCHED_WALK_MEASURE, /* bytes grows */
        SCHED_WALK_COPY,    /* arrays move to block[bytes], which grows */
        SCHED_WALK_REF,     /* one more reference to each word */
        SCHED_WALK_UNREF,
    } mode;
    struct intern_table *words;
    char *block;
    size_t bytes;
};

/* array: the address of the pointer to n elements of that size; what it points to is visited after
 * it, where it then is. */
void sched_walk_array(struct sched_walk *k, void *array, size_t n, size_t size);
void sched_walk_str(struct sched_walk *k, struct str *s);
static inline void sched_walk_word(struct sched_walk *k, struct intern *word)
{
    if (word && k->mode == SCHED_WALK_REF)
        intern_ref(word);
    else if (k->mode == SCHED_WALK_UNREF)
        intern_unref(k->words, word);
}
void sched_walk_words(struct sched_walk *k, struct intern ***words, uint32_t n);
void sched_walk_labels(struct sched_walk *k, struct sched_labels *l);
void sched_walk_requirements(struct sched_walk *k, struct sched_requirement **p, uint32_t n);
static inline void sched_walk_selector(struct sched_walk *k, struct sched_selector *s)
{
    sched_walk_requirements(k, &s->p, s->n);
}
void sched_walk_node_terms(struct sched_walk *k, struct sched_node_terms *t);
void sched_walk_amounts(struct sched_walk *k, struct sched_amounts *a);

/* Zeroed; of the arena, or xalloc() without one. NULL where n is 0. */
void *sched_array(struct arena *a, size_t n, size_t size);
#define SCHED_ARRAY(arena, type, n) ((type *)sched_array((arena), (n), sizeof(type)))

/* As the functions of match.h without `_in`, with all arrays in the arena; NULL: each xalloc(). */
int sched_labels_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                         struct sched_labels *ret, struct err *err);
int sched_selector_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                           struct sched_selector *ret, struct err *err);
int sched_selector_read_map_in(struct intern_table *w, struct arena *a, const struct json *json,
                               struct sched_selector *ret, struct err *err);
int sched_node_terms_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                             struct sched_node_terms *ret, struct err *err);
/*
 * matchLabelKeys (IN) and mismatchLabelKeys (NOT_IN): for each key that the labels have, "key in
 * (value)". Upstream's API server does it when the pod is created; a requirement that is there
 * already is not added. A selector that is `nothing` stays so.
 */
void sched_selector_merge_keys(struct intern_table *w, struct arena *a, struct sched_selector *s,
                               const struct json *keys, enum sched_selector_op op,
                               const struct sched_labels *labels);

/* JSON's text of a quantity, "" for what is none. */
struct str sched_quantity_text(const struct json *v);
/* In 1e-9, exact; E_INVALID with upstream's text. */
int sched_quantity_nano(struct str text, __int128 *ret, struct err *err);
/* Does the scheduler count it: extended, prefixed native, huge pages, attachable volumes. */
bool sched_is_scalar(struct str resource);
void sched_amounts_sort(struct sched_amounts *a);

/* The parts of a pod that have files of their own. */
struct sched_pod_json {
    const struct json *containers, *init_containers, *resources, *overhead; /* spec */
    const struct json *statuses, *init_statuses, *conditions;               /* status */
    const struct json *actuated, *allocated; /* status.resources, .allocatedResources */
    const struct json *affinity, *spreads;   /* spec */
};
int sched_pod_read_requests(struct intern_table *w, struct arena *a, const struct sched_pod_json *j,
                            struct sched_pod *p, struct err *err);
int sched_pod_read_affinity(struct intern_table *w, struct arena *a, const struct json *affinity,
                            struct sched_pod *p, struct err *err);
int sched_pod_read_spreads(struct intern_table *w, struct arena *a, const struct json *spreads,
                           struct sched_pod *p, struct err *err);
