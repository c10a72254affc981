/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returning heap memory after a peak. The C library keeps the memory that many connections,
 * sandboxes or calls needed at the same time; once most of them are closed, it is returned to the
 * system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CROWD_MIN = 256 }; /* smaller peaks leave too little memory to return */

struct crowd {     /* zero-initialised is valid */
    size_t peak;   /* since memory was last returned */
    bool is_crowd; /* the count has reached CROWD_MIN since it was last 0 */
};

/* Call after each change of the count; n is the new count. Returns memory to the system when seven
 * eighths of the peak are closed, and when the count falls to 0. */
void crowd_is(struct crowd *c, size_t n);
