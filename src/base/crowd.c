/* SPDX-License-Identifier: Apache-2.0 */
/* Returning heap memory after a peak; see crowd.h. */
#include "base/crowd.h"

#include "base/mem.h"

#include <malloc.h>

void crowd_is(struct crowd *c, size_t n)
{
    c->peak = MAX(c->peak, n);
    c->is_crowd |= n >= CROWD_MIN;
    if (!c->is_crowd || n > c->peak / 8 || (c->peak < CROWD_MIN && n > 0))
        return;
    c->peak = n;
    c->is_crowd = n > 0;
    (void)malloc_trim(0);
}
