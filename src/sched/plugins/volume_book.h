/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes, claims and storage capacities as VolumeBinding looks for them: by class and by the nodes
 * that they are for; and what has been promised to pods whose binding is under way.
 *
 * A promise (upstream: an assumed object) changes what is seen of a volume or claim until the API
 * tells a version other than the one it was made of, or whoever made it takes it back. The indexes
 * are made when first asked for, follow the events that are told to volume_book_changed(), and are
 * made anew after a change that was not told.
 */
#pragma once

#include "sched/object/csi_capacity.h"
#include "sched/plugins/pin_index.h"
#include "sched/plugins/volumes.h"

struct volume_book;
struct volume_book *volume_book_new(struct sched_framework *f);
void volume_book_free(struct volume_book *b); /* NULL is fine */
void volume_book_changed(struct volume_book *b, const struct sched_event *event);

/* ---- promises; owner: only who made one takes it back ---- */

/* The claim that a volume is bound, set aside, or promised to. */
struct sched_claim_ref volume_book_claim(const struct volume_book *b, const struct sched_pv *pv);
/* The node for which a claim's volume is made, or promised to be; false: none yet. */
bool volume_book_selected_node(const struct volume_book *b, const struct sched_pvc *pvc,
                               struct str *ret);
void volume_book_promise_volume(struct volume_book *b, const struct sched_pv *pv,
                                const struct sched_pvc *pvc, const void *owner);
void volume_book_promise_claim(struct volume_book *b, const struct sched_pvc *pvc, struct str node,
                               const void *owner);
void volume_book_take_back_volume(struct volume_book *b, const struct sched_pv *pv,
                                  const void *owner);
void volume_book_take_back_claim(struct volume_book *b, const struct sched_pvc *pvc,
                                 const void *owner);
size_t volume_book_n_promises(const struct volume_book *b);

/* ---- indexes; borrowed until objects change ---- */

/* Volumes of a class that no claim is named in, by capacity, then name; NULL: none. */
const struct pin_index *volume_book_unclaimed(struct volume_book *b, const struct intern *class);
/* Volumes of the claim's class that are its own by volume_book_claim(); in the arena. */
const struct sched_pv **volume_book_own(struct volume_book *b, struct arena *a,
                                        const struct sched_pvc *pvc, size_t *ret_n);
/* Capacities of a class, the largest first; NULL: none. */
const struct pin_index *volume_book_capacities(struct volume_book *b, const struct intern *class);
