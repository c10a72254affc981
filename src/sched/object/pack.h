/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How all arrays of an object get into one allocation. For the files of this directory.
 *
 * A kind is read into an arena, array by array, in the order of its JSON. One function of the kind
 * walks over everything that it holds, from the outside in; this walk measures, copies into one
 * block, takes references for a clone, and releases.
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

/*
 * array: the address of the pointer to n elements of that size. Their contents are visited after
 * it, at their new address.
 */
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

/* Zeroed memory from the arena, or from xalloc() if the arena is NULL. NULL if n is 0. */
void *sched_array(struct arena *a, size_t n, size_t size);
#define SCHED_ARRAY(arena, type, n) ((type *)sched_array((arena), (n), sizeof(type)))

/*
 * As the functions of match.h without `_in`, with all arrays in the arena; a NULL arena: each from
 * xalloc().
 */
int sched_labels_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                         struct sched_labels *ret, struct err *err);
int sched_selector_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                           struct sched_selector *ret, struct err *err);
int sched_selector_read_map_in(struct intern_table *w, struct arena *a, const struct json *json,
                               struct sched_selector *ret, struct err *err);
int sched_node_terms_read_in(struct intern_table *w, struct arena *a, const struct json *json,
                             struct sched_node_terms *ret, struct err *err);
/*
 * matchLabelKeys (IN) and mismatchLabelKeys (NOT_IN): adds "key in (value)" for each key that the
 * labels have. Upstream's API server does this when the pod is created, so a requirement that
 * exists is not added again. A selector that is `nothing` stays so.
 */
void sched_selector_merge_keys(struct intern_table *w, struct arena *a, struct sched_selector *s,
                               const struct json *keys, enum sched_selector_op op,
                               const struct sched_labels *labels);

/* The text of a JSON quantity, "" if it is not one. */
struct str sched_quantity_text(const struct json *v);
/* In units of 1e-9, exact. Errors: E_INVALID with upstream's text. */
int sched_quantity_nano(struct str text, __int128 *ret, struct err *err);
/*
 * Does the scheduler count this resource as a scalar? Extended, prefixed native, huge pages,
 * attachable volumes.
 */
bool sched_is_scalar(struct str resource);
void sched_amounts_sort(struct sched_amounts *a);

/* The parts of a pod that are read in files of their own. */
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
