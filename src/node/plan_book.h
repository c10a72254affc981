/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plans that were sent for pods, so that a person can ask later where a pod's layers came from.
 * The newest PLAN_BOOK_MAX are kept. Pure. One thread.
 */
#pragma once

#include "base/buf.h"

enum { PLAN_BOOK_MAX = 512 };

struct plan_book;
struct plan_book *plan_book_new(void);
void plan_book_free(struct plan_book *b);

/* A plan of the pod, as JSON; copied. */
void plan_book_add(struct plan_book *b, struct str namespace, struct str pod, struct str plan);
/* A JSON array of the pod's plans, the oldest first. Failure is sticky in the buffer. */
void plan_book_write(const struct plan_book *b, struct str namespace, struct str pod,
                     struct buf *to);
