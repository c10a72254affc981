/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do two pods want the same? Equality and hashes of selectors, affinity and tolerations: words are
 * compared as pointers, lists in their order, so templates that differ only in order count as
 * different. Pure.
 */
#pragma once

#include "sched/object/node.h"

static inline uint64_t alike_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}
static inline uint64_t alike_word(uint64_t h, const struct intern *w)
{
    return alike_mix(h, w ? w->hash : 1);
}
uint64_t alike_hash_labels(uint64_t h, const struct sched_labels *l);
uint64_t alike_hash_selector(uint64_t h, const struct sched_selector *s);
uint64_t alike_hash_affinity(uint64_t h, const struct sched_affinity_terms *t);
/* spec.nodeSelector and required node affinity. */
uint64_t alike_hash_required_node(uint64_t h, const struct sched_pod *p);
uint64_t alike_hash_tolerations(uint64_t h, const struct sched_pod *p);

bool alike_selectors(const struct sched_selector *a, const struct sched_selector *b);
bool alike_affinity(const struct sched_affinity_terms *a, const struct sched_affinity_terms *b);
bool alike_required_node(const struct sched_pod *a, const struct sched_pod *b);
bool alike_tolerations(const struct sched_pod *a, const struct sched_pod *b);
bool alike_taints(const struct sched_node *a, const struct sched_node *b);

/* Is the pod in this namespace, and does it have these labels? */
bool alike_pod_labels(const struct sched_labels *labels, const struct intern *namespace,
                      const struct sched_pod *pod);

/* A copy with its own references and memory, alike_labels_fini(). */
void alike_labels_copy(struct sched_labels *to, const struct sched_labels *from);
void alike_labels_fini(struct intern_table *w, struct sched_labels *l);
/* A copy with its own references and memory, alike_selector_fini(). */
void alike_selector_copy(struct sched_selector *to, const struct sched_selector *from);
void alike_selector_fini(struct intern_table *w, struct sched_selector *s);
