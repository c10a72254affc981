/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the testbed needs to know of an operator host: whether it is at rest, and what is wrong with
 * its operators. Loop thread only.
 */
#pragma once

#include "node/host.h"

/* false: an operation is in progress, and its name is appended to `why`; timers do not count. */
bool host_is_at_rest(const struct host *h, struct buf *why);
/* True during the compilation of a module, which has a time limit of its own. */
bool host_is_compiling(const struct host *h);
/* Put every idle guest to sleep. */
void host_sleep(struct host *h);
/*
 * Append lines about operators that cannot work or have reported problems; false: there are none.
 */
bool host_trouble(const struct host *h, struct buf *why);
