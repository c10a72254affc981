/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory after a crowd. The heap keeps what many connections, sandboxes or calls had needed at
 * once; when they have gone it goes back to the system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CROWD_MIN = 256 }; /* fewer leave nothing worth the look */

struct crowd {     /* zero-initialised is valid */
    size_t peak;   /* since memory was last given back */
    bool is_crowd; /* there was one since there was nobody */
};

/* After each coming and going: there are n now. Gives memory back when seven eighths of a crowd
 * have gone, and when the last of it has. */
void crowd_is(struct crowd *c, size_t n);
