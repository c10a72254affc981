/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes, claims and storage capacities as VolumeBinding looks them up: by class and by the nodes
 * that can use them; and what has been promised to pods whose binding is under way.
 *
 * A promise (upstream: an assumed object) overrides a volume or claim until the API reports a
 * version other than the one it was based on, or until its owner withdraws it. The indexes are
 * built at first use, follow the events passed to volume_book_changed(), and are rebuilt after a
 * change without an event.
 */
#pragma once

#include "sched/object/csi_capacity.h"
#include "sched/plugins/pin_index.h"
#include "sched/plugins/volumes.h"

struct volume_book;
struct volume_book *volume_book_new(struct sched_framework *f);
void volume_book_free(struct volume_book *b); /* NULL is fine */
void volume_book_changed(struct volume_book *b, const struct sched_event *event);

/* ---- promises; only the owner that made a promise can withdraw it ---- */

/* The claim that a volume is bound to, reserved for, or promised to. */
struct sched_claim_ref volume_book_claim(const struct volume_book *b, const struct sched_pv *pv);
/* The node for which a claim's volume is provisioned, or promised to be; false: none yet. */
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

/* Volumes of a class that name no claim, by capacity, then name; NULL: none. */
const struct pin_index *volume_book_unclaimed(struct volume_book *b, const struct intern *class);
/* Volumes of the claim's class that belong to it by volume_book_claim(); in the arena. */
const struct sched_pv **volume_book_own(struct volume_book *b, struct arena *a,
                                        const struct sched_pvc *pvc, size_t *ret_n);
/* Capacities of a class, largest first; NULL: none. */
const struct pin_index *volume_book_capacities(struct volume_book *b, const struct intern *class);
