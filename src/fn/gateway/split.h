/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which revision a request goes to: by tag, by a field of the request, else by percent. Pure.
 *
 * Shares are exact over each hundred requests, and which of a hundred go where is drawn anew, so
 * that no pattern of the clients meets one of ours.
 */
#pragma once

#include "base/random.h"
#include "codec/headers.h"
#include "fn/function.h"

struct split {
    uint8_t n;              /* of this hundred */
    uint8_t offset, stride; /* the n-th goes to place (offset + n * stride) mod 100 */
};

/*
 * latest: what revision 0 stands for. headers NULL: none.
 * Errors: -ENOENT no entry has this tag.
 */
int split_choose(struct split *s, struct rng *random, const struct fn_spec *spec, struct str tag,
                 const struct headers *headers, uint32_t latest, uint32_t *ret_revision);
