/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which revision serves a request: by tag, by a field of the request, else by percent. Pure.
 *
 * Shares are exact over each hundred requests. Which of a hundred use which revision is randomised
 * for each hundred, so that no pattern in the clients' requests matches one of ours.
 */
#pragma once

#include "base/random.h"
#include "codec/headers.h"
#include "fn/function.h"

struct split {
    uint8_t n;              /* of this hundred */
    uint8_t offset, stride; /* the n-th goes to place (offset + n * stride) mod 100 */
};

/* latest: the revision that 0 means. headers NULL: none. Errors: -ENOENT no entry has this tag. */
int split_choose(struct split *s, struct rng *random, const struct fn_spec *spec, struct str tag,
                 const struct headers *headers, uint32_t latest, uint32_t *ret_revision);
