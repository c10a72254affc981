/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deliveries that wait for one guest: a FIFO per operation id, served round robin: between two
 * deliveries to one id, those of the other ids get a turn.
 */
#pragma once

#include "base/list.h"
#include "base/str.h"

struct delivery {
    struct list node;
    uint64_t id, token;
    uint32_t flags; /* of proto.h */
    uint32_t n;
    char payload[];
};

struct guest_queue {
    struct list ids; /* struct id_queue: ids with deliveries, the next one first */
    size_t n, bytes;
    uint64_t last; /* the id popped last, UINT64_MAX at first */
};

void guest_queue_init(struct guest_queue *q);
void guest_queue_fini(struct guest_queue *q);
/* token: of an activation; 0 for others. Errors: -ENOMEM. */
int guest_queue_add(struct guest_queue *q, uint64_t id, uint64_t token, uint32_t flags,
                    struct str payload);
/* The next delivery, which stays queued; NULL when empty. */
const struct delivery *guest_queue_peek(const struct guest_queue *q);
/* Remove the next delivery: given (free()); NULL when empty. */
struct delivery *guest_queue_pop(struct guest_queue *q);
/* Undo pops: `taken` holds deliveries in the order in which they were popped, and is empty
 * afterwards. */
void guest_queue_put_back(struct guest_queue *q, struct list *taken);
